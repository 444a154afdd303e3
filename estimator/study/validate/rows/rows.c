/* Sets of rows: our figure, the published one, and the result of the comparison. */
#include "validate.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ww_code ww_validation_init(struct ww_validation *v, const char *suite, struct ww_error *error) {
    *v = (struct ww_validation){.suite = suite};
    ww_arena_init(&v->arena, 0);
    return ww_targets_read(&v->arena, &v->target, &v->target_count, error);
}

void ww_validation_clear(struct ww_validation *v) {
    free(v->row);
    ww_arena_free(&v->arena);
    *v = (struct ww_validation){0};
}

static bool holds(const struct ww_validate_row *row) {
    if (row->ours_text || row->paper_text)
        return row->ours_text && row->paper_text && strcmp(row->ours_text, row->paper_text) == 0;
    double over = row->ours - row->paper; /* NAN compares false everywhere below */
    switch (row->test) {
    case WW_VALIDATE_RELATIVE:
        return fabs(over) <= row->tolerance * fabs(row->paper);
    case WW_VALIDATE_ABSOLUTE:
        return fabs(over) <= row->tolerance;
    case WW_VALIDATE_AT_LEAST:
        return over >= -row->tolerance;
    case WW_VALIDATE_AT_MOST:
        return over <= row->tolerance;
    case WW_VALIDATE_TEST_COUNT:
        break;
    }
    return false;
}

/* Computes what follows from the rest of the row. */
static void judge(struct ww_validate_row *row) {
    bool text = row->ours_text || row->paper_text;
    if (text) row->ours = row->paper = NAN;
    if (!isfinite(row->ours)) row->ours = NAN;
    row->deviation = row->paper == 0 ? NAN : (row->ours - row->paper) / row->paper;
    row->within = holds(row);
    row->counted = !row->uncounted && (text ? row->paper_text != NULL : !isnan(row->paper));
}

static bool copy(struct ww_arena *arena, const char **text) {
    return !*text || (*text = ww_arena_strdup(arena, *text)) != NULL;
}

static bool make_room(struct ww_validation *v) {
    if (v->count < v->capacity) return true;
    size_t capacity = v->capacity ? 2 * v->capacity : 64;
    struct ww_validate_row *row = realloc(v->row, capacity * sizeof *row);
    if (!row) return false;
    v->row = row;
    v->capacity = capacity;
    return true;
}

enum ww_code ww_validate_add(struct ww_validation *v, const struct ww_validate_row *row,
                             struct ww_error *error) {
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->row[i].id, row->id) == 0)
            return ww_fail(error, WW_INTERNAL, v->suite, "two rows are called %s", row->id);
    struct ww_validate_row r = *row;
    if (!r.unit) r.unit = "";
    if (!r.why) r.why = "";
    if (!make_room(v) || !copy(&v->arena, &r.id) || !copy(&v->arena, &r.what) || !copy(&v->arena, &r.unit) ||
        !copy(&v->arena, &r.why) || !copy(&v->arena, &r.ours_text) || !copy(&v->arena, &r.paper_text))
        return ww_fail_nomem(error, v->suite);
    judge(&r);
    v->row[v->count++] = r;
    return WW_OK;
}

/* A row of a target, all but what is ours. */
static enum ww_code from_target(struct ww_validation *v, const char *id, const char *why,
                                struct ww_validate_row *row, struct ww_error *error) {
    const struct ww_target *t = ww_target_find(v, id);
    if (!t) return ww_fail(error, WW_INTERNAL, v->suite, "reports/targets.csv has no line %s", id);
    const char *what = ww_arena_printf(&v->arena, "%s, %s: %s", t->machine, t->workload, t->metric);
    if (!what) return ww_fail_nomem(error, v->suite);
    *row = (struct ww_validate_row){
        .id = id, .what = what, .ours = NAN, .paper = t->value, .unit = t->unit, .why = why};
    return WW_OK;
}

enum ww_code ww_validate_add_number(struct ww_validation *v, const char *id, double ours,
                                    enum ww_validate_test test, double tolerance, const char *why,
                                    struct ww_error *error) {
    struct ww_validate_row row;
    WW_TRY(from_target(v, id, why, &row, error));
    row.ours = ours;
    row.test = test;
    row.tolerance = tolerance;
    return ww_validate_add(v, &row, error);
}

enum ww_code ww_validate_add_text(struct ww_validation *v, const char *id, const char *ours, const char *why,
                                  struct ww_error *error) {
    struct ww_validate_row row;
    WW_TRY(from_target(v, id, why, &row, error));
    const char *text = ww_target_find(v, id)->text;
    row.ours_text = ours;
    row.paper_text = *text ? text : NULL;
    if (strcmp(row.unit, "struct") == 0) row.unit = "";
    return ww_validate_add(v, &row, error);
}

enum ww_code ww_validate_step(const struct ww_validate_options *options, uint64_t done, uint64_t all,
                              struct ww_error *error) {
    double part = all ? (double)done / (double)all : -1;
    char of[48] = "measurements";
    if (all) snprintf(of, sizeof of, "of %" PRIu64 " measurements", all);
    if (!options || !options->progress || options->progress(options->context, part, done, of)) return WW_OK;
    return ww_fail(error, WW_FAIL, "validate", "stopped");
}
