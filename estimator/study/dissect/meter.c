/* A GPU that chases are run on: the black box of infer.h, and what the parts of a dissection share. */
#include "../../api/gpu.h"
#include "../../api/dissect.h"
#include "meter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL_SAMPLES 2048u /* latencies kept of each size */
#define LEVEL_SIZES 40u

/* The progress of one launch is not that of the whole. */
static bool launch_goes_on(void *context, double part, uint64_t done, const char *unit) {
    const struct ww_dissect_options *o = context;
    (void)part;
    return !o->progress || o->progress(o->context, -1, done, unit);
}

enum ww_code ww_meter_open(struct ww_meter *m, const struct ww_dissect_options *o, struct ww_dissect *out,
                           const char *override, struct ww_error *error) {
    size_t n = o->override_count + (override != NULL);
    const char **all = calloc(n + 1, sizeof *all);
    *m = (struct ww_meter){.options = o, .out = out};
    if (!all) return ww_fail_nomem(error, "overrides");
    for (size_t i = 0; i < o->override_count; i++) all[i] = o->overrides[i];
    if (override) all[n - 1] = override;
    enum ww_code code = ww_gpu_load(o->gpu, all, n, &m->gpu, error);
    free(all);
    if (code == WW_OK) code = ww_bench_new(m->gpu, o->seed, &m->bench, error);
    if (code != WW_OK) return code;
    ww_bench_watch(m->bench, launch_goes_on, (void *)(uintptr_t)o);
    ww_bench_board(m->bench, &m->board);
    return code;
}

void ww_meter_close(struct ww_meter *m) {
    ww_bench_free(m->bench);
    ww_gpu_free(m->gpu);
    m->bench = NULL;
    m->gpu = NULL;
}

uint64_t ww_meter_l2_bytes(const struct ww_meter *m) {
    uint64_t bytes = m->board.l2_bytes, most = 64 * WW_MB;
    return bytes < WW_MB ? WW_MB : bytes > most ? most : bytes;
}

enum ww_code ww_meter_step(struct ww_meter *m, const char *what, struct ww_error *error) {
    const struct ww_dissect_options *o = m->options;
    if (!o->progress || o->progress(o->context, -1, m->out->accesses, what)) return WW_OK;
    return ww_fail(error, WW_FAIL, what, "stopped");
}

static enum ww_code chase(void *context, const uint64_t *address, size_t count, uint32_t *latency,
                          struct ww_error *error) {
    return ww_meter_chase(context, address, count, latency, error);
}

struct ww_box ww_meter_box(struct ww_meter *m) {
    return (struct ww_box){m, chase};
}

enum ww_code ww_meter_chase(struct ww_meter *m, const uint64_t *address, size_t count, uint32_t *latency,
                            struct ww_error *error) {
    const struct ww_micro_chase what = {m->path, address, count,
                                        m->path == WW_MICRO_SHARED ? m->board.shared_per_cta : 0};
    struct ww_micro *micro;
    struct ww_bench_result r;
    m->out->accesses += count;
    WW_TRY(ww_meter_step(m, "accesses", error));
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(ww_micro_chase(&what, &micro, error));
    enum ww_code code = ww_bench_run(m->bench, micro, count + 1, &r, error);
    ww_micro_free(micro);
    if (code != WW_OK) return code;
    if (r.sample_count != count + 1)
        return ww_fail(error, WW_INTERNAL, "chase", "%zu issues of %zu", r.sample_count, count + 1);
    for (size_t i = 0; i < count; i++) latency[i] = (uint32_t)(r.sample[i + 1].cycle - r.sample[i].cycle);
    return WW_OK;
}

static enum ww_code one_level(struct ww_meter *m, const struct ww_infer_plan *p, uint64_t bytes, uint32_t *kept,
                              size_t *count, struct ww_error *error) {
    size_t n = (size_t)(bytes / p->unit), all = 3 * n;
    uint64_t *address = calloc(all ? all : 1, sizeof *address);
    uint32_t *latency = calloc(all ? all : 1, sizeof *latency);
    enum ww_code code = WW_OK;
    if (!address || !latency) code = ww_fail_nomem(error, "a chase");
    for (size_t i = 0; code == WW_OK && i < all; i++)
        address[i] = p->base + i % n * p->unit + (p->stagger ? i % n * p->stagger % p->unit : 0);
    if (code == WW_OK && all) code = ww_meter_chase(m, address, all, latency, error);
    size_t step = 2 * n / LEVEL_SAMPLES + 1;
    for (size_t i = n; code == WW_OK && i < all; i += step) kept[(*count)++] = latency[i];
    free(address);
    free(latency);
    return code;
}

enum ww_code ww_meter_levels(struct ww_meter *m, const struct ww_infer_plan *plan,
                             struct ww_cluster cluster[WW_CLUSTERS], size_t *count, struct ww_error *error) {
    uint32_t *kept = calloc(LEVEL_SIZES * (LEVEL_SAMPLES + 1), sizeof *kept);
    size_t n = 0, sizes = 0;
    enum ww_code code = kept ? WW_OK : ww_fail_nomem(error, "latencies");
    for (uint64_t bytes = plan->smallest; code == WW_OK && bytes <= plan->largest && sizes < LEVEL_SIZES;
         bytes *= 2, sizes++)
        code = one_level(m, plan, bytes, kept, &n, error);
    if (code == WW_OK) *count = ww_cluster(kept, n, 3, cluster);
    free(kept);
    return code;
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

double ww_median(uint32_t *value, size_t count) {
    if (!count) return NAN;
    qsort(value, count, sizeof *value, by_value);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2.0;
}

enum ww_code ww_meter_hit(struct ww_meter *m, double *cycles, struct ww_error *error) {
    uint64_t address[12] = {0};
    uint32_t latency[12];
    WW_TRY(ww_meter_chase(m, address, 12, latency, error));
    *cycles = ww_median(latency + 4, 8);
    return WW_OK;
}
