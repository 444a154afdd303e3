/* Section 6: shared memory. Latency, what conflicts cost (table VIII, figures 17 and 19), and the copy between
 * two regions over CTAs of an SM, their size and the words a thread copies at a time (table VII, figures 15 and
 * 16). */
#include "../../api/dissect.h"
#include "meter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 64     /* of a strided load, as the paper's */
#define COPY_REPEATS 3 /* the last one is timed: instructions are cached then */
#define MOST_POINTS 256u
#define LARGEST_STRIDE_BYTES (31 * WW_DISSECT_STRIDES * 4 + 4) /* a GPU with less is not looked at */

static enum ww_code average(struct ww_meter *m, const struct ww_micro *micro, double *cycles,
                            struct ww_error *error) {
    struct ww_bench_result r;
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(ww_bench_run(m->bench, micro, REPEATS + 1, &r, error));
    *cycles = (double)(r.sample[REPEATS].cycle - r.sample[0].cycle) / REPEATS;
    return WW_OK;
}

static enum ww_code strided(struct ww_meter *m, uint32_t stride, double *cycles, struct ww_error *error) {
    struct ww_micro *micro;
    WW_TRY(ww_micro_smem_stride(stride, 4, REPEATS, &micro, error));
    enum ww_code code = average(m, micro, cycles, error);
    ww_micro_free(micro);
    return code;
}

static enum ww_code find_strides(struct ww_meter *m, bool mode8, struct ww_error *error) {
    struct ww_dissect_shared *s = &m->out->shared;
    for (uint32_t k = 0; k < WW_DISSECT_STRIDES; k++) {
        double cycles;
        WW_TRY(strided(m, k + 1, &cycles, error));
        s->stride[k].stride = k + 1;
        *(mode8 ? &s->stride[k].cycles8 : &s->stride[k].cycles) = cycles;
    }
    return WW_OK;
}

/* The first power of two that conflicts is a 2-way conflict; where banks are 8 bytes wide that is stride 4. */
static void find_conflicts(struct ww_dissect_shared *s, bool mode8) {
    uint32_t two = 2;
    for (int i = 0; i < 5; i++) s->conflict[i] = NAN;
#define CYCLES(stride_) (mode8 ? s->stride[(stride_)-1].cycles8 : s->stride[(stride_)-1].cycles)
    while (two < WW_DISSECT_STRIDES && CYCLES(two) <= CYCLES(1)) two *= 2;
    for (uint32_t i = 0; i < 5 && two << i <= WW_DISSECT_STRIDES; i++) s->conflict[i] = CYCLES(two << i);
#undef CYCLES
}

/* Cycles from the first reading of the clock in the last repetition to the last one, on the first SM. */
static uint64_t elapsed(const struct ww_micro *micro, const struct ww_bench_result *r, uint32_t repeats) {
    uint64_t first = UINT64_MAX, last = 0;
    uint32_t readings[64] = {0};
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct ww_bench_sample *s = &r->sample[i];
        if (s->sm != 0 || s->warp > 63) continue;
        if (ww_micro_launch(micro)->inst[s->inst].op != WW_OP_SYSREG) continue;
        uint32_t reading = readings[s->warp]++;
        if (reading == 2 * (repeats - 1) && s->cycle < first) first = s->cycle;
        if (reading == 2 * repeats - 1 && s->cycle > last) last = s->cycle;
    }
    return last > first ? last - first : 0;
}

static enum ww_code copy_cycles(struct ww_meter *m, const struct ww_dissect_point *p, uint32_t ilp,
                                uint64_t *cycles, struct ww_error *error) {
    struct ww_micro *micro;
    struct ww_bench_result r;
    uint32_t ctas = p->ctas * m->board.sms;
    size_t samples = (size_t)ctas * ((p->cta_size + 31) / 32) * COPY_REPEATS * (2 * ilp + 4);
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(ww_micro_scopy(ctas, p->cta_size, ilp, COPY_REPEATS, &micro, error));
    enum ww_code code = ww_bench_run(m->bench, micro, samples, &r, error);
    if (code == WW_OK) *cycles = elapsed(micro, &r, COPY_REPEATS);
    ww_micro_free(micro);
    return code;
}

static bool possible(const struct ww_bench_board *b, const struct ww_dissect_point *p) {
    uint64_t threads = (uint64_t)p->ctas * p->cta_size, bytes = (uint64_t)p->cta_size * p->ilp * 8;
    return threads <= b->max_threads && p->ctas <= b->max_ctas && bytes <= b->shared_per_cta &&
           bytes * p->ctas <= b->shared_bytes && p->cta_size <= b->max_cta_threads;
}

static enum ww_code copy_point(struct ww_meter *m, struct ww_dissect_point *p, struct ww_error *error) {
    uint64_t cycles;
    struct ww_dissect_shared *s = &m->out->shared;
    WW_TRY(ww_meter_step(m, "shared copies", error));
    WW_TRY(copy_cycles(m, p, p->ilp, &cycles, error));
    if (!cycles) return ww_fail(error, WW_INTERNAL, "scopy", "a copy took no time");
    double bytes = 8.0 * p->ctas * p->cta_size * p->ilp, a_cycle = bytes / (double)cycles;
    p->gbps = a_cycle * m->board.sm_mhz / 1000;
    s->point[s->point_count++] = *p;
    if (p->gbps > s->best.gbps) {
        s->best = *p;
        s->cycle_bytes = a_cycle;
    }
    return WW_OK;
}

static enum ww_code copies(struct ww_meter *m, struct ww_error *error) {
    static const uint32_t ilp[] = {1, 2, 4, 6, 8};
    struct ww_dissect_shared *s = &m->out->shared;
    s->point = ww_arena_array(&m->out->arena, MOST_POINTS, sizeof *s->point);
    if (!s->point) return ww_fail_nomem(error, "shared copies");
    /* The paper measures a barrier and a reading alone, too, but divides by the whole latency. */
    const struct ww_dissect_point alone = {.ctas = 1, .cta_size = 32};
    WW_TRY(copy_cycles(m, &alone, 0, &s->barrier_cycles, error));
    for (uint32_t size = 32; size <= 1024; size *= 2)
        for (uint32_t ctas = 1; ctas <= 6; ctas++)
            for (size_t i = 0; i < sizeof ilp / sizeof ilp[0]; i++) {
                struct ww_dissect_point p = {ctas, size, ilp[i], 0};
                if (possible(&m->board, &p) && s->point_count < MOST_POINTS) WW_TRY(copy_point(m, &p, error));
            }
    return WW_OK;
}

static enum ww_code latency(struct ww_meter *m, struct ww_error *error) {
    m->path = WW_MICRO_SHARED;
    return ww_meter_hit(m, &m->out->shared.latency, error);
}

static enum ww_code strides_in_mode(const struct ww_dissect_options *o, struct ww_dissect *out,
                                    const char *override, bool mode8, struct ww_error *error) {
    struct ww_meter m;
    enum ww_code code = ww_meter_open(&m, o, out, override, error);
    if (code == WW_OK) code = find_strides(&m, mode8, error);
    ww_meter_close(&m);
    return code;
}

/* Kepler's banks are 8 bytes wide and have two modes, which a program chooses (cudaDeviceSetSharedMemConfig).
 */
static enum ww_code strides(struct ww_meter *m, struct ww_error *error) {
    struct ww_dissect_shared *s = &m->out->shared;
    s->stride = ww_arena_array(&m->out->arena, WW_DISSECT_STRIDES, sizeof *s->stride);
    if (!s->stride) return ww_fail_nomem(error, "strides");
    for (size_t i = 0; i < WW_DISSECT_STRIDES; i++) s->stride[i].cycles8 = NAN;
    s->modes = strncmp(m->board.arch, "sm_3", 4) == 0;
    if (s->modes) {
        enum ww_code code = strides_in_mode(m->options, m->out, "shared.map_bytes=8", true, error);
        if (code != WW_OK && code != WW_INPUT) return code;
        s->modes = code == WW_OK;
    }
    if (s->modes) WW_TRY(strides_in_mode(m->options, m->out, "shared.map_bytes=4", false, error));
    if (!s->modes) WW_TRY(find_strides(m, false, error));
    find_conflicts(s, false);
    return WW_OK;
}

enum ww_code ww_dissect_shared(const struct ww_dissect_options *options, struct ww_dissect *out,
                               struct ww_error *error) {
    struct ww_meter m;
    enum ww_code code = ww_meter_open(&m, options, out, NULL, error);
    bool enough = code == WW_OK && m.board.shared_per_cta >= LARGEST_STRIDE_BYTES;
    if (enough) code = latency(&m, error);
    if (enough && code == WW_OK) code = strides(&m, error);
    if (enough && code == WW_OK) code = copies(&m, error);
    ww_meter_close(&m);
    out->shared.measured = enough && code == WW_OK;
    return code;
}
