/* Suite "strides": SM cycles of a warp's load from the L1 by the distance of its lanes, in elements and as rows
 * of a pitch, against what RRZE-HPC/gpu-benches (gpu-strides) measured of an A100.
 *
 * One CTA of 1024 threads reads the same few KB again and again, so that all but the first loads hit. Cycles
 * are those of the middle half of the loads; a board's run is so long that start and end do not matter. */
#include "../../dissect/meter.h"
#include "../rows/validate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 0.10
enum { THREADS = 1024, REPEATS = 24, LOADS = 8, PITCH = 4098, MOST = 16 };

static int by_cycle(const void *a, const void *b) {
    const struct ww_bench_sample *x = a, *y = b;
    return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

/* "str-a100-float-stride-5", "str-a100-double-block-16". */
static bool read_id(const struct ww_target *t, struct ww_micro_lanes *l) {
    char type[8], kind[8];
    unsigned argument;
    size_t n = strlen(t->machine);
    if (strncmp(t->id, "str-", 4) != 0 || strncmp(t->id + 4, t->machine, n) != 0) return false;
    if (sscanf(t->id + 4 + n, "-%7[a-z]-%7[a-z]-%u", type, kind, &argument) != 3) return false;
    bool stride = strcmp(kind, "stride") == 0;
    *l = (struct ww_micro_lanes){.cta_size = THREADS,
                                 .width = strcmp(type, "double") == 0 ? 8 : 4,
                                 .first = stride ? 0 : PITCH,
                                 .columns = stride ? THREADS : argument,
                                 .column = stride ? argument : 1,
                                 .row = stride ? 0 : PITCH,
                                 .repeats = REPEATS};
    return argument > 0 || stride;
}

static enum ww_code measure(struct ww_meter *m, const struct ww_micro_lanes *l, double *cycles,
                            struct ww_error *error) {
    enum { SAMPLES = THREADS / 32 * LOADS * REPEATS };
    struct ww_bench_result r;
    struct ww_bench_sample *s = calloc(SAMPLES, sizeof *s);
    struct ww_micro *micro = NULL;
    enum ww_code code = s ? ww_bench_reset(m->bench, error) : ww_fail_nomem(error, "issue times");
    if (code == WW_OK) code = ww_micro_lanes_read(l, &micro, error);
    if (code == WW_OK) code = ww_bench_run(m->bench, micro, SAMPLES, &r, error);
    if (code == WW_OK && r.sample_count != SAMPLES)
        code = ww_fail(error, WW_INTERNAL, "strides", "%zu issues", r.sample_count);
    if (code == WW_OK) {
        memcpy(s, r.sample, SAMPLES * sizeof *s);
        qsort(s, SAMPLES, sizeof *s, by_cycle);
        size_t from = SAMPLES / 4, to = SAMPLES - 1 - SAMPLES / 4;
        *cycles = (double)(s[to].cycle - s[from].cycle) / (double)(to - from);
    }
    ww_micro_free(micro);
    free(s);
    return code;
}

/* All rows of a GPU, one after another on a meter of it. */
static enum ww_code rows_of(struct ww_validation *v, const char *gpu, const struct ww_validate_options *options,
                            uint64_t all, struct ww_error *error) {
    const struct ww_dissect_options o = {.gpu = gpu};
    struct ww_dissect out = {0};
    struct ww_meter m;
    struct ww_micro_lanes l;
    ww_arena_init(&out.arena, 0);
    enum ww_code code = ww_meter_open(&m, &o, &out, NULL, error);
    for (size_t i = 0; i < v->target_count && code == WW_OK; i++) {
        double cycles = NAN;
        if (strcmp(v->target[i].machine, gpu) != 0 || !read_id(&v->target[i], &l)) continue;
        code = measure(&m, &l, &cycles, error);
        if (code == WW_OK)
            code = ww_validate_add_number(v, v->target[i].id, cycles, WW_VALIDATE_RELATIVE, TOLERANCE, NULL,
                                          error);
        if (code == WW_OK) code = ww_validate_step(options, v->count, all, error);
    }
    ww_meter_close(&m);
    ww_arena_free(&out.arena);
    return code;
}

enum ww_code ww_validate_suite_strides(struct ww_validation *v, const struct ww_validate_options *options,
                                       struct ww_error *error) {
    const char *done[MOST];
    size_t count = 0;
    uint64_t all = 0;
    struct ww_micro_lanes l;
    for (size_t i = 0; i < v->target_count; i++) all += read_id(&v->target[i], &l);
    for (size_t i = 0; i < v->target_count; i++) {
        const char *gpu = v->target[i].machine;
        bool known = !read_id(&v->target[i], &l);
        for (size_t k = 0; k < count; k++) known |= strcmp(done[k], gpu) == 0;
        if (known || count == MOST) continue;
        done[count++] = gpu;
        WW_TRY(rows_of(v, gpu, options, all, error));
    }
    return WW_OK;
}
