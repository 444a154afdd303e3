/* Levels of ranges. */
#include "../../base/jsonw.h"
#include "sweep.h"
#include <math.h>
#include <stdlib.h>

/* A multiple that rounding has put slightly above the end still belongs to the range. */
#define SLACK 1e-9

enum ww_code ww_sweep_number(double v, struct ww_arena *arena, struct ww_sweep_level *level,
                             struct ww_error *error) {
    char text[32];
    ww_double_text(v, text);
    *level = (struct ww_sweep_level){ww_arena_strdup(arena, text), true, v};
    return level->text ? WW_OK : ww_fail_nomem(error, "levels of a sweep");
}

/* The level of place k without the noise of binary fractions: 0.3, not 0.30000000000000004. */
static double level_at(const struct ww_sweep_range *r, size_t k, bool whole) {
    double v = 0, at = (double)k;
    switch (r->kind) {
    case WW_SWEEP_STEPS:
        v = r->from + (r->to - r->from) * at / (r->by - 1);
        break;
    case WW_SWEEP_STEP:
        v = r->from + at * r->by;
        break;
    case WW_SWEEP_FACTOR:
        v = r->from * pow(r->by, at);
        break;
    }
    char text[40];
    snprintf(text, sizeof text, "%.12g", v);
    v = strtod(text, NULL);
    return whole ? round(v) : v;
}

/* How many levels there are before equal ones are taken out. */
static double level_count(const struct ww_sweep_range *r) {
    if (r->kind == WW_SWEEP_STEPS) return r->by;
    double ratio = r->kind == WW_SWEEP_STEP ? (r->to - r->from) / r->by : log(r->to / r->from) / log(r->by);
    return floor(ratio * (1 + SLACK) + SLACK) + 1;
}

static enum ww_code check(const struct ww_sweep_range *r, const char *where, struct ww_error *error) {
    if (!(r->from < r->to))
        return ww_fail(error, WW_INPUT, where, "\"from\" is %g, \"to\" %g: expected from < to", r->from, r->to);
    if (r->kind == WW_SWEEP_FACTOR && !(r->from > 0))
        return ww_fail(error, WW_INPUT, where,
                       "\"from\" is %g: expected more than 0 where levels are multiplied", r->from);
    if (r->kind == WW_SWEEP_STEPS && (r->by < 2 || r->by != floor(r->by)))
        return ww_fail(error, WW_INPUT, where, "\"steps\" is %g: expected a whole number of at least 2", r->by);
    if (r->kind == WW_SWEEP_STEP && !(r->by > 0))
        return ww_fail(error, WW_INPUT, where, "\"step\" is %g: expected more than 0", r->by);
    if (r->kind == WW_SWEEP_FACTOR && !(r->by > 1))
        return ww_fail(error, WW_INPUT, where, "\"factor\" is %g: expected more than 1", r->by);
    double n = level_count(r);
    if (!(n <= WW_SWEEP_LEVELS))
        return ww_fail(error, WW_INPUT, where, "%.0f levels: expected at most %d", n, WW_SWEEP_LEVELS);
    return WW_OK;
}

enum ww_code ww_sweep_range_levels(const struct ww_sweep_range *range, bool whole, struct ww_arena *arena,
                                   struct ww_sweep_level **level, size_t *count, const char *where,
                                   struct ww_error *error) {
    *count = 0;
    WW_TRY(check(range, where, error));
    size_t n = (size_t)level_count(range);
    *level = ww_arena_array(arena, n, sizeof **level);
    if (!*level) return ww_fail_nomem(error, "levels of a sweep");
    for (size_t k = 0; k < n; k++) {
        double v = level_at(range, k, whole);
        if (*count && (*level)[*count - 1].value == v) continue; /* two that round to one number */
        WW_TRY(ww_sweep_number(v, arena, &(*level)[(*count)++], error));
    }
    return WW_OK;
}
