/* Reads reports/targets.csv, which the build puts into the library. */
#include "../../../api/validate.h"
#include "validate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char ww_targets_csv[];
extern const size_t ww_targets_csv_size;

enum { FIELDS = 9 };
static const char *const heading[FIELDS] = {"id",     "paper", "where", "machine", "workload",
                                            "metric", "value", "unit",  "note"};

struct reader {
    const char *p, *end, *name;
    unsigned line;
    struct ww_arena *arena;
    struct ww_error *error;
};

static enum ww_code refuse(const struct reader *r, const char *text) {
    char where[320];
    snprintf(where, sizeof where, "%.200s:%u", r->name, r->line);
    return ww_fail(r->error, WW_INPUT, where, "%s", text);
}

/* A field in quotes, in which two quotes stand for one. */
static enum ww_code quoted(struct reader *r, char *out, size_t *n) {
    for (r->p++; r->p < r->end; r->p++) {
        if (*r->p == '"') {
            if (++r->p == r->end || *r->p != '"') return WW_OK;
        }
        if (*r->p == '\n') break;
        out[(*n)++] = *r->p;
    }
    return refuse(r, "a quote is not closed on its line");
}

static enum ww_code read_field(struct reader *r, const char **field) {
    const char *stop = r->p;
    while (stop < r->end && *stop != '\n') stop++;
    char *out = ww_arena_alloc(r->arena, (size_t)(stop - r->p) + 1);
    size_t n = 0;
    if (!out) return ww_fail_nomem(r->error, r->name);
    if (r->p < r->end && *r->p == '"')
        WW_TRY(quoted(r, out, &n));
    else
        for (; r->p < r->end && *r->p != ',' && *r->p != '\n' && *r->p != '\r'; r->p++) out[n++] = *r->p;
    *field = out;
    return WW_OK;
}

static enum ww_code read_line(struct reader *r, const char *field[FIELDS]) {
    for (int i = 0; i < FIELDS; i++) {
        WW_TRY(read_field(r, &field[i]));
        if (i + 1 < FIELDS && (r->p == r->end || *r->p++ != ','))
            return refuse(r, "expected 9 fields divided by commas");
    }
    if (r->p < r->end && *r->p == '\r') r->p++;
    if (r->p < r->end && *r->p++ != '\n') return refuse(r, "more than 9 fields");
    return WW_OK;
}

static double number_or_nan(const char *text) {
    char *end;
    double v = strtod(text, &end);
    return end == text || *end || !isfinite(v) ? NAN : v;
}

static enum ww_code check_heading(struct reader *r) {
    const char *field[FIELDS];
    WW_TRY(read_line(r, field));
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(field[i], heading[i]) != 0)
            return refuse(r, "expected the heading id,paper,where,machine,workload,metric,value,unit,note");
    r->line++;
    return WW_OK;
}

static const struct ww_target *find(const struct ww_target *target, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(target[i].id, id) == 0) return &target[i];
    return NULL;
}

enum ww_code ww_targets_parse(const char *text, size_t size, const char *where, struct ww_arena *arena,
                              const struct ww_target **target, size_t *count, struct ww_error *error) {
    struct reader r = {text, text + size, where, 1, arena, error};
    size_t lines = 1, n = 0;
    for (const char *p = text; p < r.end; p++) lines += *p == '\n';
    struct ww_target *list = ww_arena_array(arena, lines, sizeof *list);
    if (!list) return ww_fail_nomem(error, where);
    WW_TRY(check_heading(&r));
    for (; r.p < r.end; r.line++) {
        const char *f[FIELDS];
        WW_TRY(read_line(&r, f));
        if (!*f[0] || find(list, n, f[0])) return refuse(&r, "the id is empty, or another line has it too");
        list[n++] =
            (struct ww_target){f[0], f[1], f[2], f[3], f[4], f[5], f[6], number_or_nan(f[6]), f[7], f[8]};
    }
    *target = list;
    *count = n;
    return WW_OK;
}

enum ww_code ww_targets_read(struct ww_arena *arena, const struct ww_target **target, size_t *count,
                             struct ww_error *error) {
    enum ww_code code = ww_targets_parse(ww_targets_csv, ww_targets_csv_size, "reports/targets.csv", arena,
                                         target, count, error);
    if (code == WW_INPUT && error) error->code = WW_INTERNAL; /* not the user's input */
    return code == WW_INPUT ? WW_INTERNAL : code;
}

const struct ww_target *ww_target_find(const struct ww_validation *v, const char *id) {
    return find(v->target, v->target_count, id);
}
