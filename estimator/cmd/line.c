/* The command line: finding the command, parsing its options by its rows. */
#include "../base/nearest.h"
#include "../base/text.h"
#include "cmd.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define X(ident, name, help) extern const struct cmd ww_cmd_##ident;
#include "cmd.def"
#undef X

const struct cmd_row ww_cmd_rows[] = {
#define X(ident, name, help) {name, help, &ww_cmd_##ident},
#include "cmd.def"
#undef X
};
const size_t ww_cmd_row_count = sizeof ww_cmd_rows / sizeof ww_cmd_rows[0];

static enum ww_code fail_name(const char *where, const char *what, const char *word, const char *near,
                              struct ww_error *error) {
    return ww_fail(error, WW_USAGE, where, "unknown %s \"%.80s\"%s%s%s", what, word,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* The second word of a command's name, NULL if it has one word. */
static const char *second(const struct cmd_row *row) {
    const char *space = strchr(row->name, ' ');
    return space ? space + 1 : NULL;
}

static bool in_group(const struct cmd_row *row, const char *group) {
    size_t n = strlen(group);
    return strncmp(row->name, group, n) == 0 && row->name[n] == ' ';
}

static enum ww_code find_sub(const char *group, const char *word, const struct cmd_row **row,
                             struct ww_error *error) {
    struct ww_nearest near;
    struct ww_buf list = {0};
    char where[64];
    ww_nearest_init(&near, word ? word : "");
    for (size_t i = 0; i < ww_cmd_row_count; i++) {
        if (!in_group(&ww_cmd_rows[i], group)) continue;
        const char *name = second(&ww_cmd_rows[i]);
        if (word && strcmp(word, name) == 0) {
            *row = &ww_cmd_rows[i];
            ww_buf_free(&list);
            return WW_OK;
        }
        ww_nearest_offer(&near, name);
        ww_buf_printf(&list, "%s%s", list.n ? ", " : "", name);
    }
    snprintf(where, sizeof where, "warpwatt %.40s", group);
    enum ww_code code = word ? fail_name(where, "command", word, ww_nearest_get(&near), error)
                             : ww_fail(error, WW_USAGE, where, "expected one of %s", list.p ? list.p : "");
    ww_buf_free(&list);
    return code;
}

enum ww_code ww_cmd_find(int argc, char **argv, const struct cmd_row **row, int *words,
                         struct ww_error *error) {
    if (argc < 2) return ww_fail(error, WW_USAGE, "", "expected a command; see warpwatt help");
    struct ww_nearest near;
    ww_nearest_init(&near, argv[1]);
    for (size_t i = 0; i < ww_cmd_row_count; i++) {
        *row = &ww_cmd_rows[i];
        if (strcmp(argv[1], ww_cmd_rows[i].name) == 0) {
            *words = 1;
            return WW_OK;
        }
        if (in_group(&ww_cmd_rows[i], argv[1])) {
            *words = 2;
            return find_sub(argv[1], argc > 2 ? argv[2] : NULL, row, error);
        }
        ww_nearest_offer(&near, ww_cmd_rows[i].name);
    }
    static const char *const groups[] = {"gpu", "mech", "trace"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) ww_nearest_offer(&near, groups[i]);
    return fail_name("warpwatt", "command", argv[1], ww_nearest_get(&near), error);
}

/* ---- options ---- */

struct parser {
    struct cmd_line *line;
    int argc, at;
    char **argv;
    char where[64];
    struct ww_error *error;
};

static const struct cmd_option *find_long(const struct cmd *cmd, const char *name, size_t n) {
    for (const struct cmd_option *o = cmd->options; o && o->name; o++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
    return NULL;
}

static const struct cmd_option *find_short(const struct cmd *cmd, char letter) {
    for (const struct cmd_option *o = cmd->options; o && o->name; o++)
        if (o->letter && o->letter == letter) return o;
    return NULL;
}

static enum ww_code fail_option(const struct parser *p, const char *name, size_t n) {
    char word[80], hint[96];
    struct ww_nearest near;
    snprintf(word, sizeof word, "%.*s", (int)(n < 70 ? n : 70), name);
    ww_nearest_init(&near, word);
    for (const struct cmd_option *o = p->line->row->cmd->options; o && o->name; o++)
        ww_nearest_offer(&near, o->name);
    ww_nearest_offer(&near, "help");
    ww_nearest_offer(&near, "progress");
    const char *best = ww_nearest_get(&near);
    if (best) snprintf(hint, sizeof hint, "--%s", best);
    return fail_name(p->where, "option", p->argv[p->at], best ? hint : NULL, p->error);
}

static enum ww_code fail_option_use(const struct parser *p, const struct cmd_option *o, const char *what) {
    return ww_fail(p->error, WW_USAGE, p->where, "option --%s %s", o->name, what);
}

/* Adds one option; `value` NULL: the next word is the value if one is needed. */
static enum ww_code take_option(struct parser *p, const struct cmd_option *o, const char *value) {
    struct cmd_line *line = p->line;
    if (!o->arg && value) return fail_option_use(p, o, "takes no value");
    if (o->arg && !value) {
        if (p->at + 1 >= p->argc) return fail_option_use(p, o, "needs a value");
        value = p->argv[++p->at];
    }
    if (!(o->flags & CMD_REPEAT))
        for (size_t i = 0; i < line->given_count; i++)
            if (line->given[i].option == o) return fail_option_use(p, o, "is given twice");
    line->given[line->given_count++] = (struct cmd_given){o, value ? value : ""};
    return WW_OK;
}

/* --progress MODE or --progress=MODE, of every command. */
static enum ww_code take_progress(struct parser *p, const char *rest) {
    if (*rest == '=') return ww_cmd_progress_mode(rest + 1, p->error);
    if (p->at + 1 >= p->argc) return ww_fail(p->error, WW_USAGE, p->where, "option --progress needs a value");
    return ww_cmd_progress_mode(p->argv[++p->at], p->error);
}

static enum ww_code parse_word(struct parser *p) {
    const struct cmd *cmd = p->line->row->cmd;
    const char *word = p->argv[p->at];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        p->line->help = true;
        return WW_OK;
    }
    if (word[0] != '-' || word[1] == 0) {
        p->line->argument[p->line->argument_count++] = word;
        return WW_OK;
    }
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        const struct cmd_option *o = find_long(cmd, word + 2, n);
        if (!o && n == 8 && strncmp(word + 2, "progress", n) == 0) return take_progress(p, word + 2 + n);
        return o ? take_option(p, o, word[2 + n] ? word + 3 + n : NULL) : fail_option(p, word + 2, n);
    }
    const struct cmd_option *o = find_short(cmd, word[1]);
    return o ? take_option(p, o, word[2] ? word + 2 : NULL) : fail_option(p, word + 1, strlen(word + 1));
}

static enum ww_code check_complete(const struct parser *p) {
    const struct cmd_line *line = p->line;
    const struct cmd *cmd = line->row->cmd;
    for (const struct cmd_option *o = cmd->options; o && o->name; o++)
        if ((o->flags & CMD_REQUIRED) && !ww_cmd_has(line, o->name))
            return ww_fail(p->error, WW_USAGE, p->where, "option --%s %s is missing; it is required", o->name,
                           o->arg ? o->arg : "");
    if (line->argument_count < cmd->min_arguments)
        return ww_fail(p->error, WW_USAGE, p->where, "met %zu argument%s, expected %s", line->argument_count,
                       ww_plural(line->argument_count, "s"), cmd->arguments);
    if (line->argument_count > cmd->max_arguments && cmd->max_arguments > 2)
        return ww_fail(p->error, WW_USAGE, p->where, "met %zu arguments, expected %s, at most %u",
                       line->argument_count, cmd->arguments, cmd->max_arguments);
    if (line->argument_count > cmd->max_arguments)
        return ww_fail(p->error, WW_USAGE, p->where, "unexpected argument \"%.80s\"; expected %s",
                       line->argument[cmd->max_arguments], *cmd->arguments ? cmd->arguments : "options only");
    return WW_OK;
}

enum ww_code ww_cmd_parse(const struct cmd_row *row, int argc, char **argv, struct cmd_line *line,
                          struct ww_error *error) {
    size_t n = argc > 0 ? (size_t)argc + 1 : 1;
    *line = (struct cmd_line){.row = row};
    line->argument = calloc(n, sizeof *line->argument);
    line->given = calloc(n, sizeof *line->given);
    if (!line->argument || !line->given) return ww_fail_nomem(error, "the command line");
    struct parser p = {.line = line, .argc = argc, .argv = argv, .error = error};
    snprintf(p.where, sizeof p.where, "warpwatt %s", row->name);
    for (; p.at < argc; p.at++) {
        if (strcmp(argv[p.at], "--") == 0) {
            while (++p.at < argc) line->argument[line->argument_count++] = argv[p.at];
            break;
        }
        WW_TRY(parse_word(&p));
    }
    return line->help ? WW_OK : check_complete(&p);
}

void ww_cmd_line_free(struct cmd_line *line) {
    free(line->argument);
    free(line->given);
}

/* ---- asking ---- */

const char *ww_cmd_get(const struct cmd_line *line, const char *name) {
    assert(find_long(line->row->cmd, name, strlen(name))); /* a command asks for its own options only */
    const char *value = NULL;
    for (size_t i = 0; i < line->given_count; i++)
        if (strcmp(line->given[i].option->name, name) == 0) value = line->given[i].value;
    return value;
}

bool ww_cmd_has(const struct cmd_line *line, const char *name) {
    return ww_cmd_get(line, name) != NULL;
}

enum ww_code ww_cmd_all(const struct cmd_line *line, const char *name, const char ***values, size_t *count,
                        struct ww_error *error) {
    *count = 0;
    *values = calloc(line->given_count + 1, sizeof **values);
    if (!*values) return ww_fail_nomem(error, "the command line");
    for (size_t i = 0; i < line->given_count; i++)
        if (strcmp(line->given[i].option->name, name) == 0) (*values)[(*count)++] = line->given[i].value;
    return WW_OK;
}

enum ww_code ww_cmd_parse_u64(const char *text, const char *where, uint64_t min, uint64_t max, uint64_t *out,
                              struct ww_error *error) {
    char *end = NULL;
    errno = 0;
    unsigned long long v = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || v < min || v > max)
        return ww_fail(error, WW_USAGE, where, "\"%.80s\": expected a whole number in %llu..%llu", text,
                       (unsigned long long)min, (unsigned long long)max);
    *out = v;
    return WW_OK;
}

enum ww_code ww_cmd_u64(const struct cmd_line *line, const char *name, uint64_t min, uint64_t max,
                        uint64_t *out, struct ww_error *error) {
    const char *text = ww_cmd_get(line, name);
    if (!text) return WW_OK;
    char where[96];
    snprintf(where, sizeof where, "warpwatt %s: option --%s", line->row->name, name);
    return ww_cmd_parse_u64(text, where, min, max, out, error);
}

enum ww_code ww_cmd_part(const struct cmd_line *line, const char *name, double *part, struct ww_error *error) {
    const char *text = ww_cmd_get(line, name);
    char *end = NULL;
    if (!text) return WW_OK;
    double value = strtod(text, &end);
    bool percent = end != text && strcmp(end, "%") == 0;
    if (end == text || (*end && !percent) || !(value > 0 && value <= 100))
        return ww_fail(error, WW_USAGE, line->row->name, "--%s: \"%.40s\"; expected a percentage such as 3%%",
                       name, text);
    *part = percent || value >= 1 ? value / 100 : value;
    return WW_OK;
}
