/* The program section of a space: reading it, its constraints, and a variant's launch. */
#include "program.h"
#include "../../base/hash.h"
#include "../../../traces/record/record_text.h"
#include "expression.h"
#include "space.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_FIRST 70 /* the first architecture whose machine code is run */

#define FILE_MOST ((size_t)64 << 20)

static const char *const pass_name[WW_PASS_COUNT] = {"define", "header", "environment", "launch"};

/* ---- reading ---- */

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static enum ww_code read_pass(const struct space_reader *r, const cJSON *node, const char *path,
                              const struct ww_program *p, uint8_t *out) {
    *out = p->command ? WW_PASS_ENVIRONMENT : ends_in(p->source, ".ptx") ? WW_PASS_LAUNCH : WW_PASS_DEFINE;
    if (!node) return WW_OK;
    for (uint8_t i = 0; cJSON_IsString(node) && i < WW_PASS_COUNT; i++) {
        if (strcmp(node->valuestring, pass_name[i]) != 0) continue;
        bool compiled = p->source && !ends_in(p->source, ".ptx");
        if ((i == WW_PASS_DEFINE || i == WW_PASS_HEADER) && !compiled)
            return ww_space_fail(r, path, "\"%s\": only a .cu source has macros", pass_name[i]);
        if (i == WW_PASS_ENVIRONMENT && !p->command)
            return ww_space_fail(r, path, "\"environment\" is for a command");
        *out = i;
        return WW_OK;
    }
    return ww_space_fail(r, path, "expected \"define\", \"header\", \"environment\" or \"launch\"");
}

static enum ww_code read_param(struct space_reader *r, const cJSON *c, const cJSON *usual,
                               struct ww_sweep_param *p) {
    static const char *const keys[] = {"values", "as", NULL};
    const cJSON *values = c, *pass = usual;
    char path[180];
    snprintf(path, sizeof path, "$.program.parameters[\"%.100s\"]", c->string);
    if (!ww_expression_is_name(c->string))
        return ww_space_fail(r, path,
                             "is not the name of a macro: expected a letter or _, then letters, digits, _");
    if (!(p->key = ww_space_copy(r, c->string))) return ww_space_nomem(r);
    p->target = WW_SWEEP_PROGRAM;
    p->whole = true;
    if (cJSON_IsObject(c) && cJSON_GetObjectItemCaseSensitive(c, "values")) {
        WW_TRY(ww_space_keys(r, c, path, keys));
        values = cJSON_GetObjectItemCaseSensitive(c, "values");
        if (cJSON_GetObjectItemCaseSensitive(c, "as")) pass = cJSON_GetObjectItemCaseSensitive(c, "as");
    }
    WW_TRY(read_pass(r, pass, path, r->space->program, &p->pass));
    WW_TRY(ww_space_read_levels(r, values, path, p));
    for (size_t i = 0; i < p->count; i++) {
        const struct ww_sweep_level *l = &p->level[i];
        for (const char *s = l->text; *s; s++)
            if ((unsigned char)*s < ' ') return ww_space_fail(r, path, "level %zu has a control character", i);
    }
    return WW_OK;
}

static enum ww_code read_params(struct space_reader *r, const cJSON *node, const cJSON *usual) {
    struct ww_sweep_space *s = r->space;
    size_t n = cJSON_IsObject(node) ? (size_t)cJSON_GetArraySize(node) : 0;
    if (n < 1 || n > WW_SWEEP_PARAMS)
        return ww_space_fail(r, "$.program.parameters", "expected an object with 1 to %d parameters",
                             WW_SWEEP_PARAMS);
    s->param = ww_arena_array(&s->arena, WW_SWEEP_PARAMS, sizeof *s->param);
    if (!s->param) return ww_space_nomem(r);
    for (const cJSON *c = node->child; c; c = c->next) {
        for (size_t i = 0; i < s->param_count; i++)
            if (strcmp(s->param[i].key, c->string) == 0)
                return ww_space_fail(r, "$.program.parameters", "\"%.60s\" is given twice", c->string);
        WW_TRY(read_param(r, c, usual, &s->param[s->param_count]));
        s->param_count++;
    }
    return WW_OK;
}

/* Which parameters an expression names. */
struct naming {
    const struct ww_sweep_space *space;
    size_t last;
};
static bool note_name(const void *context, const char *name, int64_t *value) {
    struct naming *n = *(struct naming *const *)context;
    *value = 1;
    for (size_t i = 0; i < n->space->param_count; i++) {
        const struct ww_sweep_param *p = &n->space->param[i];
        if (p->target != WW_SWEEP_PROGRAM || strcmp(p->key, name) != 0) continue;
        if (i > n->last) n->last = i;
        return p->level[0].number;
    }
    return false;
}

/* With 1 for each parameter some arithmetic may fail that does not fail at any point: only names and syntax
 * count, which errors of arithmetic come after. */
static enum ww_code read_constraints(struct space_reader *r, const cJSON *node) {
    struct ww_program *p = r->space->program;
    if (!node) return WW_OK;
    WW_TRY(ww_space_strings(r, node, "$.program.constraints", WW_PROGRAM_WORDS, &p->constraint,
                            &p->constraint_count));
    p->last = ww_arena_array(&r->space->arena, p->constraint_count + 1, sizeof *p->last);
    if (!p->last) return ww_space_nomem(r);
    for (size_t i = 0; i < p->constraint_count; i++) {
        struct naming n = {r->space, 0}, *at = &n;
        struct ww_error inner;
        int64_t v;
        char path[60];
        snprintf(path, sizeof path, "$.program.constraints[%zu]", i);
        enum ww_code code = ww_expression(p->constraint[i], note_name, &at, "", &v, &inner);
        bool arithmetic =
            code != WW_OK && (strstr(inner.text, "division by 0") || strstr(inner.text, "beyond 64"));
        if (code != WW_OK && !arithmetic) return ww_space_fail(r, path, "%.400s", inner.text);
        p->last[i] = arithmetic ? r->space->param_count - 1 : n.last;
    }
    return WW_OK;
}

static bool is_parameter(const struct ww_sweep_space *s, const char *name) {
    for (size_t i = 0; i < s->param_count; i++)
        if (strcmp(s->param[i].key, name) == 0) return true;
    return false;
}

static enum ww_code read_compare(struct space_reader *r, const cJSON *node) {
    static const char *const keys[] = {"with", "buffers", "tolerance", "relative", NULL};
    struct ww_sweep_space *s = r->space;
    const char *path = "$.program.compare";
    struct ww_program_compare *c = ww_arena_alloc(&s->arena, sizeof *c);
    struct ww_sweep_level *level = ww_arena_array(&s->arena, s->param_count, sizeof *level);
    if (!c || !level) return ww_space_nomem(r);
    *c = (struct ww_program_compare){.params = s->param_count, .level = level};
    WW_TRY(ww_space_keys(r, node, path, keys));
    const cJSON *with = cJSON_GetObjectItemCaseSensitive(node, "with");
    for (size_t i = 0; i < s->param_count; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(with, s->param[i].key);
        if (!v)
            return ww_space_fail(r, "$.program.compare.with",
                                 "has no value of \"%.60s\": expected one of each of the program's parameters",
                                 s->param[i].key);
        WW_TRY(ww_space_read_level(r, v, "$.program.compare.with", &level[i]));
    }
    for (const cJSON *v = with ? with->child : NULL; v; v = v->next)
        if (!is_parameter(s, v->string))
            return ww_space_fail(r, "$.program.compare.with", "\"%.60s\" is not a parameter of the program",
                                 v->string);
    WW_TRY(ww_space_strings(r, cJSON_GetObjectItemCaseSensitive(node, "buffers"), "$.program.compare.buffers",
                            WW_PROGRAM_WORDS, &c->buffer, &c->buffers));
    const struct {
        const char *key;
        double *to;
    } number[] = {{"tolerance", &c->tolerance}, {"relative", &c->relative}};
    for (size_t i = 0; i < 2; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(node, number[i].key);
        if (v && !(cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 1e300))
            return ww_space_fail(r, path, "\"%s\": expected a number from 0", number[i].key);
        if (v) *number[i].to = v->valuedouble;
    }
    s->program->compare = c;
    return WW_OK;
}

static enum ww_code read_source(struct space_reader *r, const cJSON *node) {
    struct ww_program *p = r->space->program;
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(node, "source");
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(node, "command");
    if (!source == !command) return ww_space_fail(r, "$.program", "expected either \"source\" or \"command\"");
    if (source) {
        WW_TRY(ww_space_string(r, source, "$.program.source", &p->source));
        if (!ends_in(p->source, ".cu") && !ends_in(p->source, ".ptx"))
            return ww_space_fail(r, "$.program.source", "expected a file whose name ends in .cu or .ptx");
    } else {
        WW_TRY(ww_space_strings(r, command, "$.program.command", WW_PROGRAM_WORDS, &p->command,
                                &p->command_count));
        if (p->command_count == 0) return ww_space_fail(r, "$.program.command", "expected a program's name");
    }
    const char *path = source ? p->source : p->command[0], *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t n = strcspn(name, "{.");
    while (n > 1 && (name[n - 1] == '_' || name[n - 1] == '-')) n--;
    p->name = n ? ww_arena_strndup(&r->space->arena, name, n) : name;
    return p->name ? WW_OK : ww_space_nomem(r);
}

static enum ww_code read_rest(struct space_reader *r, const cJSON *node) {
    struct ww_program *p = r->space->program;
    const cJSON *v;
    if ((v = cJSON_GetObjectItemCaseSensitive(node, "files")))
        WW_TRY(ww_space_strings(r, v, "$.program.files", WW_PROGRAM_WORDS, &p->file, &p->file_count));
    if ((v = cJSON_GetObjectItemCaseSensitive(node, "options")))
        WW_TRY(ww_space_strings(r, v, "$.program.options", WW_PROGRAM_WORDS, &p->option, &p->option_count));
    if (p->option_count && (!p->source || ends_in(p->source, ".ptx")))
        return ww_space_fail(r, "$.program.options", "are nvcc's: only a .cu source takes them");
    if ((v = cJSON_GetObjectItemCaseSensitive(node, "ptxas_options")))
        WW_TRY(ww_space_string(r, v, "$.program.ptxas_options", &p->ptxas_options));
    if ((v = cJSON_GetObjectItemCaseSensitive(node, "max_registers")))
        WW_TRY(ww_space_string(r, v, "$.program.max_registers", &p->max_registers));
    p->code = WW_RECORD_AUTO;
    if ((v = cJSON_GetObjectItemCaseSensitive(node, "code")))
        WW_TRY(ww_record_code_parse(cJSON_IsString(v) ? v->valuestring : "", "$.program.code", &p->code,
                                    r->error));
    else if (getenv("WARPWATT_CODE") && *getenv("WARPWATT_CODE"))
        WW_TRY(ww_record_code_parse(getenv("WARPWATT_CODE"), "WARPWATT_CODE", &p->code, r->error));
    v = cJSON_GetObjectItemCaseSensitive(node, "ctas");
    p->all_ctas = cJSON_IsString(v) && strcmp(v->valuestring, "all") == 0;
    if (v && !p->all_ctas && !(cJSON_IsString(v) && strcmp(v->valuestring, "representative") == 0))
        return ww_space_fail(r, "$.program.ctas", "expected \"representative\" or \"all\"");
    v = cJSON_GetObjectItemCaseSensitive(node, "timeout_s");
    if (v && !(cJSON_IsNumber(v) && v->valuedouble >= 1 && v->valuedouble <= 86400))
        return ww_space_fail(r, "$.program.timeout_s", "expected 1 to 86400 seconds");
    p->timeout_s = v ? (unsigned)v->valuedouble : WW_PROGRAM_TIMEOUT_S;
    v = cJSON_GetObjectItemCaseSensitive(node, "launch");
    if (!cJSON_IsObject(v)) return ww_space_fail(r, "$.program.launch", "expected a launch description");
    p->launch = cJSON_Duplicate(v, true);
    return p->launch ? WW_OK : ww_space_nomem(r);
}

enum ww_code ww_program_read(struct space_reader *r, const cJSON *node) {
    static const char *const keys[] = {
        "source",        "command",       "files", "parameters", "as",      "constraints", "options",  "launch",
        "ptxas_options", "max_registers", "code",  "ctas",       "compare", "timeout_s",   "variants", NULL};
    WW_TRY(ww_space_keys(r, node, "$.program", keys));
    r->space->program = ww_arena_alloc(&r->space->arena, sizeof *r->space->program);
    if (!r->space->program) return ww_space_nomem(r);
    *r->space->program = (struct ww_program){0};
    WW_TRY(read_source(r, node));
    WW_TRY(read_params(r, cJSON_GetObjectItemCaseSensitive(node, "parameters"),
                       cJSON_GetObjectItemCaseSensitive(node, "as")));
    WW_TRY(read_constraints(r, cJSON_GetObjectItemCaseSensitive(node, "constraints")));
    r->space->program->params = r->space->param_count;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(node, "variants");
    if (rows) WW_TRY(ww_program_read_rows(r, rows));
    WW_TRY(read_rest(r, node));
    const cJSON *compare = cJSON_GetObjectItemCaseSensitive(node, "compare");
    return compare ? read_compare(r, compare) : WW_OK;
}

void ww_program_free(struct ww_program *program) {
    if (program) cJSON_Delete(program->launch);
}

/* ---- what variants have in common ---- */

/* A file's content; a name with {NAME} is read when the variant is built. */
static enum ww_code add_file(const char *path, struct ww_buf *b, struct ww_error *error) {
    struct ww_buf text;
    ww_buf_printf(b, "file %s\n", path);
    if (strchr(path, '{')) return WW_OK;
    WW_TRY(ww_read_file(path, FILE_MOST, &text, error));
    ww_buf_printf(b, "%016" PRIx64 "%016" PRIx64 "\n", ww_hash_bytes(text.p, text.n, 0),
                  ww_hash_bytes(text.p, text.n, 1));
    ww_buf_free(&text);
    return WW_OK;
}

static enum ww_code common(const struct ww_sweep_space *space, struct ww_buf *b, struct ww_error *error) {
    const struct ww_program *p = space->program;
    if (p->source) WW_TRY(add_file(p->source, b, error));
    if (p->table) WW_TRY(add_file(p->table, b, error));
    for (size_t i = 0; i < p->file_count; i++) WW_TRY(add_file(p->file[i], b, error));
    for (size_t i = 0; i < p->command_count; i++) ww_buf_printf(b, "word %s\n", p->command[i]);
    for (size_t i = 0; i < p->option_count; i++) ww_buf_printf(b, "option %s\n", p->option[i]);
    ww_buf_printf(b, "toolkit %s\nptxas %s\nregisters %s\ncode %d ctas %d\n", p->toolkit,
                  p->ptxas_options ? p->ptxas_options : "", p->max_registers ? p->max_registers : "",
                  (int)p->code, p->all_ctas);
    for (size_t i = 0; i < space->param_count; i++)
        if (space->param[i].target == WW_SWEEP_PROGRAM)
            ww_buf_printf(b, "%s %d\n", space->param[i].key, space->param[i].pass);
    char *launch = cJSON_PrintUnformatted(p->launch);
    if (!launch) return ww_fail_nomem(error, "a program");
    ww_buf_printf(b, "launch %s\n", launch);
    cJSON_free(launch);
    return b->failed ? ww_fail_nomem(error, "a program") : WW_OK;
}

/* One kind of code for all variants: times of lowered PTX are not compared with those of machine code. */
static enum ww_code settle_code(struct ww_sweep_space *space, const char *arch, const char *compiler,
                                const char *assembler, struct ww_error *error) {
    struct ww_program *p = space->program;
    bool machine = strtol(arch + 3, NULL, 10) >= MACHINE_FIRST;
    p->lowered = p->code == WW_RECORD_AUTO && machine && !*assembler;
    if (p->code == WW_RECORD_AUTO) p->code = *assembler ? WW_RECORD_SASS : WW_RECORD_PTX;
    const char *comma = *compiler ? ", " : "";
    if (p->code == WW_RECORD_SASS)
        p->made_by =
            ww_arena_printf(&space->arena, "machine code of %s, %s%s%s", arch, assembler, comma, compiler);
    else
        p->made_by = ww_arena_printf(&space->arena, "PTX, lowered for %s%s%s", arch, comma, compiler);
    return p->made_by ? WW_OK : ww_fail_nomem(error, "a program");
}

enum ww_code ww_program_open(struct ww_sweep_space *space, const char *arch, struct ww_error *error) {
    struct ww_program *p = space->program;
    struct ww_buf b = {0};
    const char *assembler = "", *compiler = "";
    if (p->code != WW_RECORD_PTX) WW_TRY(ww_record_assembler(arch, &space->arena, &assembler, error));
    if (p->source && !ends_in(p->source, ".ptx")) WW_TRY(ww_program_compiler(&space->arena, &compiler, error));
    p->toolkit = ww_arena_printf(&space->arena, "%s; %s", compiler, assembler);
    if (!p->toolkit) return ww_fail_nomem(error, "a program");
    WW_TRY(settle_code(space, arch, compiler, assembler, error));
    enum ww_code code = common(space, &b, error);
    if (code == WW_OK)
        snprintf(p->hash, sizeof p->hash, "%016" PRIx64 "%016" PRIx64, ww_hash_bytes(b.p, b.n, 0),
                 ww_hash_bytes(b.p, b.n, 1));
    ww_buf_free(&b);
    return code;
}

/* ---- a variant ---- */

static bool whole(const struct ww_sweep_level *l, int64_t *value) {
    *value = (int64_t)l->value;
    return l->number && l->value > -9e18 && l->value < 9e18 && (double)*value == l->value;
}

struct at_levels {
    const struct ww_sweep_space *space;
    const uint16_t *level;
};
static bool look_up_levels(const void *context, const char *name, int64_t *value) {
    const struct at_levels *at = context;
    for (size_t i = 0; i < at->space->param_count; i++) {
        const struct ww_sweep_param *p = &at->space->param[i];
        if (p->target == WW_SWEEP_PROGRAM && strcmp(p->key, name) == 0)
            return whole(&p->level[at->level[i]], value);
    }
    return false;
}

enum ww_code ww_program_holds(const struct ww_sweep_space *space, const uint16_t *level, size_t upto,
                              bool *holds, struct ww_error *error) {
    const struct ww_program *p = space->program;
    struct at_levels at = {space, level};
    *holds = true;
    for (size_t i = 0; p && i < p->constraint_count && *holds; i++) {
        int64_t v;
        char where[400];
        if (p->last[i] != upto) continue;
        snprintf(where, sizeof where, "%.240s: $.program.constraints[%zu]", space->file, i);
        WW_TRY(ww_expression(p->constraint[i], look_up_levels, &at, where, &v, error));
        *holds = v != 0;
    }
    if (*holds && p && p->table && upto + 1 == p->params) *holds = ww_program_has_row(space, level);
    return WW_OK;
}

static const struct ww_sweep_level *level_of(const struct ww_variant_at *at, const char *name, size_t n) {
    for (size_t i = 0; i < at->params; i++)
        if (strncmp(at->space->param[i].key, name, n) == 0 && !at->space->param[i].key[n]) return at->level[i];
    return NULL;
}

bool ww_variant_lookup(const void *context, const char *name, int64_t *value) {
    const struct ww_sweep_level *l = level_of(context, name, strlen(name));
    return l && whole(l, value);
}

enum ww_code ww_variant_text(const struct ww_variant_at *at, const char *text, const char *where,
                             struct ww_buf *out, struct ww_error *error) {
    for (const char *p = text; *p; p++) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end) {
            ww_buf_byte(out, (unsigned char)*p);
            continue;
        }
        const struct ww_sweep_level *l = level_of(at, p + 1, (size_t)(end - p - 1));
        if (!l)
            return ww_fail(error, WW_INPUT, where, "{%.*s}: no parameter of the program has this name",
                           (int)(end - p - 1 < 100 ? end - p - 1 : 100), p + 1);
        ww_buf_puts(out, l->text);
        p = end;
    }
    return out->failed ? ww_fail_nomem(error, "a variant") : WW_OK;
}

/* A text becomes the number that it says. */
static enum ww_code compute(const struct ww_variant_at *at, cJSON *node, const char *path,
                            struct ww_error *error) {
    char where[400];
    int64_t v;
    if (!cJSON_IsString(node)) return WW_OK;
    snprintf(where, sizeof where, "%.200s: %.180s", at->space->file, path);
    WW_TRY(ww_expression(node->valuestring, ww_variant_lookup, at, where, &v, error));
    cJSON_free(node->valuestring);
    node->valuestring = NULL;
    node->type = cJSON_Number;
    cJSON_SetNumberHelper(node, (double)v);
    return WW_OK;
}

static enum ww_code compute_all(const struct ww_variant_at *at, cJSON *node, const char *path,
                                struct ww_error *error) {
    if (!cJSON_IsArray(node)) return node ? compute(at, node, path, error) : WW_OK;
    for (cJSON *c = node->child; c; c = c->next) WW_TRY(compute(at, c, path, error));
    return WW_OK;
}

static enum ww_code compute_call(const struct ww_variant_at *at, cJSON *call, const char *path,
                                 struct ww_error *error) {
    static const char *const keys[] = {"grid", "block", "shared", "repeat"};
    char place[160];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(place, sizeof place, "%.100s.%s", path, keys[i]);
        WW_TRY(compute_all(at, cJSON_GetObjectItemCaseSensitive(call, keys[i]), place, error));
    }
    cJSON *kernel = cJSON_GetObjectItemCaseSensitive(call, "kernel"), *args, *a;
    if (cJSON_IsString(kernel) && strchr(kernel->valuestring, '{')) {
        struct ww_buf name = {0};
        enum ww_code code = ww_variant_text(at, kernel->valuestring, path, &name, error);
        if (code == WW_OK && !cJSON_SetValuestring(kernel, name.p)) code = ww_fail_nomem(error, "a variant");
        ww_buf_free(&name);
        WW_TRY(code);
    }
    args = cJSON_GetObjectItemCaseSensitive(call, "args");
    size_t n = 0;
    cJSON_ArrayForEach(a, args) {
        snprintf(place, sizeof place, "%.100s.args[%zu]", path, n++);
        cJSON *first = cJSON_IsObject(a) ? a->child : NULL;
        bool text = first && (strcmp(first->string, "buffer") == 0 || strcmp(first->string, "bytes") == 0);
        if (first && !text) WW_TRY(compute(at, first, place, error));
        if (text) WW_TRY(compute_all(at, cJSON_GetObjectItemCaseSensitive(a, "offset"), place, error));
    }
    return WW_OK;
}

static enum ww_code compute_launch(const struct ww_variant_at *at, cJSON *launch, struct ww_error *error) {
    cJSON *list = cJSON_GetObjectItemCaseSensitive(launch, "launches"), *c;
    char path[160];
    if (!list) WW_TRY(compute_call(at, launch, "$.program.launch", error));
    size_t n = 0;
    cJSON_ArrayForEach(c, list) {
        snprintf(path, sizeof path, "$.program.launch.launches[%zu]", n++);
        WW_TRY(compute_call(at, c, path, error));
    }
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(launch, "buffers")) {
        snprintf(path, sizeof path, "$.program.launch.buffers.%.100s", c->string);
        WW_TRY(compute_all(at, cJSON_GetObjectItemCaseSensitive(c, "count"), path, error));
        WW_TRY(compute_all(at, cJSON_GetObjectItemCaseSensitive(c, "bytes"), path, error));
    }
    return WW_OK;
}

enum ww_code ww_variant_launch(const struct ww_variant_at *at, struct ww_buf *out, struct ww_error *error) {
    cJSON *launch = cJSON_Duplicate(at->space->program->launch, true);
    if (!launch) return ww_fail_nomem(error, "a launch description");
    enum ww_code code = compute_launch(at, launch, error);
    char *text = code == WW_OK ? cJSON_PrintUnformatted(launch) : NULL;
    cJSON_Delete(launch);
    if (code != WW_OK) return code;
    if (text) ww_buf_puts(out, text);
    cJSON_free(text);
    return text && !out->failed ? WW_OK : ww_fail_nomem(error, "a launch description");
}
