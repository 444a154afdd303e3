/* Help texts, made of the commands' rows. */
#include "cmd.h"
#include <string.h>

static const char about[] = "Estimates how fast a GPU kernel runs and how much power it draws, on a GPU\n"
                            "that may not exist yet, from a warp-level trace. No GPU is needed.\n";

static void print_rows(const char *group, FILE *out) {
    size_t n = group ? strlen(group) : 0;
    for (size_t i = 0; i < ww_cmd_row_count; i++) {
        const char *name = ww_cmd_rows[i].name;
        if (group && (strncmp(name, group, n) != 0 || name[n] != ' ')) continue;
        fprintf(out, "  %-20s %s\n", name, ww_cmd_rows[i].help);
    }
}

void ww_cmd_print_overview(FILE *out) {
    fprintf(out, "usage: warpwatt COMMAND [ARGUMENTS] [OPTIONS]\n\n%s\ncommands:\n", about);
    print_rows(NULL, out);
    fputs("\nwarpwatt help COMMAND, or --help behind a command, tells its options. Every command takes\n"
          "--progress bar, json or none: how long work tells on stderr how far it is.\n\nexit codes:\n",
          out);
    for (int c = 0; c < WW_CODE_COUNT; c++)
        fprintf(out, "  %3d  %s\n", ww_code_exit((enum ww_code)c), ww_code_help((enum ww_code)c));
    fputs("  130  interrupted by Ctrl-C or SIGTERM\n", out);
}

void ww_cmd_print_group(const char *group, FILE *out) {
    fprintf(out, "usage: warpwatt %s COMMAND [ARGUMENTS] [OPTIONS]\n\ncommands:\n", group);
    print_rows(group, out);
}

/* "-o, --out FILE" into text; returns its length. */
static int option_name(const struct cmd_option *o, char *text, size_t size) {
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return snprintf(text, size, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

static void print_options(const struct cmd *cmd, FILE *out) {
    char text[96];
    fputs("\noptions:\n", out);
    for (const struct cmd_option *o = cmd->options; o && o->name; o++) {
        option_name(o, text, sizeof text);
        fprintf(out, "  %-30s %s%s%s\n", text, o->help, o->flags & CMD_REPEAT ? " (may be repeated)" : "",
                o->flags & CMD_REQUIRED ? " (required)" : "");
    }
    fprintf(out, "  %-30s %s\n", "-h, --help", "this text");
}

void ww_cmd_print_help(const struct cmd_row *row, FILE *out) {
    const struct cmd *cmd = row->cmd;
    fprintf(out, "usage: warpwatt %s%s%s [OPTIONS]\n\n%s\n", row->name, *cmd->arguments ? " " : "",
            cmd->arguments, row->help);
    if (*cmd->about) fprintf(out, "\n%s", cmd->about);
    print_options(cmd, out);
    if (*cmd->examples) fprintf(out, "\nexamples:\n");
    for (const char *p = cmd->examples; *p;) {
        size_t n = strcspn(p, "\n");
        fprintf(out, "  %.*s\n", (int)n, p);
        p += n + (p[n] != 0);
    }
}

/* ---- the help and version commands ---- */

static const struct cmd_option help_options[] = {
    {"format", 0, "FORMAT", "instead print a document: man, markdown, bash or zsh", 0}, {0}};

static enum ww_code help_document(const char *format, struct ww_error *error) {
    if (strcmp(format, "man") == 0)
        ww_cmd_print_man(stdout);
    else if (strcmp(format, "markdown") == 0)
        ww_cmd_print_markdown(stdout);
    else if (strcmp(format, "bash") == 0)
        ww_cmd_print_bash(stdout);
    else if (strcmp(format, "zsh") == 0)
        ww_cmd_print_zsh(stdout);
    else
        return ww_fail(error, WW_USAGE, "warpwatt help: option --format",
                       "\"%.80s\": expected man, markdown, bash or zsh", format);
    return WW_OK;
}

static bool is_group(const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i < ww_cmd_row_count; i++)
        if (strncmp(ww_cmd_rows[i].name, word, n) == 0 && ww_cmd_rows[i].name[n] == ' ') return true;
    return false;
}

static enum ww_code help_run(const struct cmd_line *line, struct ww_error *error) {
    const char *format = ww_cmd_get(line, "format");
    if (format) return help_document(format, error);
    if (line->argument_count == 0) {
        ww_cmd_print_overview(stdout);
        return WW_OK;
    }
    if (line->argument_count == 1 && is_group(line->argument[0])) {
        ww_cmd_print_group(line->argument[0], stdout);
        return WW_OK;
    }
    char program[] = "warpwatt", first[64], rest[64] = "";
    snprintf(first, sizeof first, "%s", line->argument[0]);
    if (line->argument_count > 1) snprintf(rest, sizeof rest, "%s", line->argument[1]);
    char *argv[] = {program, first, rest, NULL};
    const struct cmd_row *row;
    int words;
    WW_TRY(ww_cmd_find(1 + (int)line->argument_count, argv, &row, &words, error));
    ww_cmd_print_help(row, stdout);
    return WW_OK;
}

const struct cmd ww_cmd_help = {
    .arguments = "[COMMAND...]",
    .max_arguments = 2,
    .about = "",
    .examples = "warpwatt help trace record\nwarpwatt help --format bash > warpwatt.bash\n",
    .options = help_options,
    .run = help_run,
};

static const struct cmd_option version_options[] = {{"json", 0, NULL, "print JSON", 0}, {0}};

static enum ww_code version_run(const struct cmd_line *line, struct ww_error *error) {
    if (!ww_cmd_has(line, "json")) {
        printf("warpwatt %s\n", ww_version());
        return WW_OK;
    }
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "version", ww_version());
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

const struct cmd ww_cmd_version = {.arguments = "",
                                   .about = "",
                                   .examples = "warpwatt version\n",
                                   .options = version_options,
                                   .run = version_run};
