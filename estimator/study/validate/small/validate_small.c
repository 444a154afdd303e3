/* Suite "small": microseconds a launch of small kernels that follow one another, in streams and in graphs,
 * against what RRZE-HPC/gpu-benches (gpu-small-kernels) measured: each thread scales a double of one array into
 * another, and the next launch scales it back.
 *
 * Launches in streams differ from those in graphs by launch.stream_us alone, so that one replay serves both. */
#include "../../../base/locale.h"
#include "../../../config/gpu.h"
#include "../../dissect/meter.h"
#include "../rows/validate.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 0.10
#define APART ((uint64_t)1 << 36)
enum { WARM = 2, TIMED = 2 };

struct row {
    char gpu[16], mode[8];
    uint32_t cta_size, elements;
};

/* "small-l40-graph-128-4096" */
static bool read_id(const struct ww_target *t, struct row *r) {
    size_t n = strlen(t->machine);
    if (strncmp(t->id, "small-", 6) != 0 || strncmp(t->id + 6, t->machine, n) != 0 || n >= sizeof r->gpu)
        return false;
    memcpy(r->gpu, t->machine, n + 1);
    return sscanf(t->id + 6 + n, "-%7[a-z]-%u-%u", r->mode, &r->cta_size, &r->elements) == 3;
}

/* Whether the two rows need the same replay. */
static bool alike(const struct row *a, const struct row *b) {
    return a->cta_size == b->cta_size && a->elements == b->elements && strcmp(a->gpu, b->gpu) == 0;
}

/* Microseconds a launch in a stream. */
static enum ww_code measure(struct ww_meter *m, const struct row *r, double *us, struct ww_error *error) {
    const uint64_t array[] = {APART, 2 * APART};
    uint64_t ps = 0;
    ww_bench_launches(m->bench);
    WW_TRY(ww_bench_reset(m->bench, error));
    for (uint32_t i = 0; i < WARM + TIMED; i++) {
        struct ww_micro_scale what = {r->elements / r->cta_size + 1, r->cta_size, array[i % 2],
                                      array[1 - i % 2]};
        struct ww_micro *micro;
        struct ww_bench_result result;
        WW_TRY(ww_micro_scale(&what, &micro, error));
        enum ww_code code = ww_bench_run(m->bench, micro, 0, &result, error);
        ww_micro_free(micro);
        if (code != WW_OK) return code;
        if (i >= WARM) ps += result.time_ps;
    }
    *us = (double)ps / TIMED / 1e6;
    return WW_OK;
}

static enum ww_code measure_on(const struct row *r, double *stream, double *graph, struct ww_error *error) {
    const struct ww_dissect_options o = {.gpu = r->gpu};
    struct ww_dissect out = {0};
    struct ww_meter m;
    ww_arena_init(&out.arena, 0);
    enum ww_code code = ww_meter_open(&m, &o, &out, NULL, error);
    if (code == WW_OK) code = measure(&m, r, stream, error);
    if (code == WW_OK) *graph = *stream - m.gpu->spec.launch_stream_us;
    ww_meter_close(&m);
    ww_arena_free(&out.arena);
    return code;
}

enum ww_code ww_validate_suite_small(struct ww_validation *v, const struct ww_validate_options *options,
                                     struct ww_error *error) {
    struct row row, before = {.gpu = ""};
    double stream = NAN, graph = NAN;
    uint64_t all = 0;
    for (size_t i = 0; i < v->target_count; i++) all += read_id(&v->target[i], &row);
    for (size_t i = 0; i < v->target_count; i++) {
        if (!read_id(&v->target[i], &row)) continue;
        if (!alike(&row, &before)) WW_TRY(measure_on(&row, &stream, &graph, error));
        before = row;
        WW_TRY(ww_validate_add_number(v, v->target[i].id, strcmp(row.mode, "graph") == 0 ? graph : stream,
                                      WW_VALIDATE_RELATIVE, TOLERANCE, NULL, error));
        WW_TRY(ww_validate_step(options, v->count, all, error));
    }
    return WW_OK;
}
