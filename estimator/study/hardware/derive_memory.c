/* Memory latencies, by the same chases on the model; bandwidths of L1 and L2. */
#include "../../api/dissect.h"
#include "../../result/measured.h"
#include "../../base/rng.h"
#include "../dissect/meter.h"
#include "derive.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 128u

/* ---- what was measured ---- */

/* The median of the medians of the chases on `path` over sizes in [from, to], into *f, which then is that. */
static bool plateau(const struct ww_derivation *d, const char *path, double from, double to,
                    struct ww_measured_figure *f) {
    const struct ww_measured *m = d->measured;
    double v[128], bytes, best = INFINITY;
    size_t n = 0;
    char word[16];
    for (size_t i = 0; i < m->figure_count && n < 128; i++) {
        const struct ww_measured_figure *x = &m->figure[i];
        if (strcmp(x->part, "micro") != 0 || strcmp(x->method, "chase") != 0) continue;
        if (!ww_measured_word(x->parameters, "path", word, sizeof word) || strcmp(word, path) != 0) continue;
        if (ww_measured_number(x->parameters, "bytes", &bytes) && bytes >= from && bytes <= to)
            v[n++] = x->median;
    }
    if (n == 0) return false;
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && v[j - 1] > v[j]; j--) {
            double t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
    double middle = v[(n - 1) / 2];
    for (size_t i = 0; i < m->figure_count; i++) { /* the figure whose median that is */
        const struct ww_measured_figure *x = &m->figure[i];
        if (strcmp(x->method, "chase") != 0 || !ww_measured_word(x->parameters, "path", word, sizeof word))
            continue;
        if (strcmp(word, path) != 0 || !ww_measured_number(x->parameters, "bytes", &bytes)) continue;
        if (bytes < from || bytes > to || fabs(x->median - middle) >= best) continue;
        best = fabs(x->median - middle);
        *f = *x;
    }
    return true;
}

/* ---- the same on the model ---- */

/* The mean of the last `counted` of `n` loads. */
static enum ww_code model_chase(const struct ww_derivation *d, enum ww_micro_path path, const uint64_t *address,
                                size_t n, size_t counted, double *cycles) {
    struct ww_dissect_options o = {.gpu = d->base, .overrides = d->override, .override_count = d->count};
    struct ww_dissect *out = calloc(1, sizeof *out);
    uint32_t *latency = calloc(n, sizeof *latency);
    struct ww_meter meter = {0};
    enum ww_code code = out && latency ? WW_OK : ww_fail_nomem(d->error, "a chase");
    if (code == WW_OK) code = ww_meter_open(&meter, &o, out, NULL, d->error);
    meter.path = path;
    if (code == WW_OK) code = ww_meter_chase(&meter, address, n, latency, d->error);
    double sum = 0;
    for (size_t i = n - counted; code == WW_OK && i < n; i++) sum += latency[i];
    if (code == WW_OK) *cycles = sum / (double)counted;
    ww_meter_close(&meter);
    free(latency);
    free(out);
    return code;
}

/* Two passes over `lines` lines side by side, of which the second counts. */
static enum ww_code model_hit(const struct ww_derivation *d, enum ww_micro_path path, size_t lines,
                              double *cycles) {
    uint64_t address[1024];
    for (size_t i = 0; i < 2 * lines; i++) address[i] = i % lines * LINE;
    return model_chase(d, path, address, 2 * lines, lines, cycles);
}

/* Lines by chance in `bytes`, none twice in a row; nothing is cached. */
static enum ww_code model_miss(const struct ww_derivation *d, double bytes, double *cycles) {
    enum { N = 1024 };
    uint64_t address[N], lines = (uint64_t)bytes / LINE;
    struct ww_rng rng;
    ww_rng_seed(&rng, 1);
    for (size_t i = 0; i < N; i++) address[i] = ww_rng_next(&rng) % lines * LINE;
    return model_chase(d, WW_MICRO_L2, address, N, N - 16, cycles);
}

/* ---- latencies ---- */

/* Adds what the measurement has more than the model to `key`, whose clock runs at `scale` cycles to an SM
 * cycle. */
static enum ww_code shift(struct ww_derivation *d, const char *key, double model, double scale,
                          const struct ww_measured_figure *f, double least) {
    double value;
    char note[160];
    WW_TRY(ww_derive_param(d, key, &value));
    double derived = value + (f->median - model) * scale;
    snprintf(note, sizeof note, "the model's chase takes %.1f SM cycles with %.10g here", model, value);
    if (derived < least) {
        snprintf(note, sizeof note, "less is not possible: the rest of the path takes more than was measured");
        derived = least;
    }
    return ww_derive_set(d, key, derived, false, f, note);
}

static enum ww_code clock_ratio(const struct ww_derivation *d, const char *clock, double *scale) {
    double sm, other;
    WW_TRY(ww_derive_param(d, "clock.sm_mhz", &sm));
    WW_TRY(ww_derive_param(d, clock, &other));
    *scale = other / sm;
    return WW_OK;
}

/* The L2's part of the path; the rest is taken from the crossbar, which is passed twice. */
static enum ww_code l2_latency(struct ww_derivation *d, const struct ww_measured_figure *f) {
    double model, scale, l2, xbar;
    WW_TRY(model_hit(d, WW_MICRO_L2, 512, &model));
    WW_TRY(clock_ratio(d, "clock.l2_mhz", &scale));
    WW_TRY(ww_derive_param(d, "l2.latency", &l2));
    WW_TRY(ww_derive_param(d, "xbar.latency", &xbar));
    double more = l2 + (f->median - model) * scale;
    if (more < 1 && xbar + more / 2 >= 1) {
        WW_TRY(ww_derive_set(d, "xbar.latency", xbar + (more - 1) / 2, false, f,
                             "the L2 hit takes less than the model's crossbar and slice"));
        WW_TRY(model_hit(d, WW_MICRO_L2, 512, &model));
    }
    return shift(d, "l2.latency", model, scale, f, 0);
}

/* The chases that measure each level. */
struct levels {
    struct ww_measured_figure l1, l2, dram;
    bool has_l1, has_l2, has_dram;
};

/* Each level must take longer than the one before it: else the sizes are not what they are taken for, and no
 * latency of a part could be told from them. */
static enum ww_code check_rises(const struct ww_derivation *d, const struct levels *v) {
    const struct ww_measured_figure *f[] = {v->has_l1 ? &v->l1 : NULL, v->has_l2 ? &v->l2 : NULL,
                                            v->has_dram ? &v->dram : NULL};
    static const char *const name[] = {"the L1", "the L2", "DRAM"};
    double last = 0;
    int below = -1;
    for (int i = 0; i < 3; i++) {
        if (f[i] && f[i]->median <= last)
            return ww_fail(d->error, WW_INPUT, d->measured->source,
                           "the figures contradict each other: a load from %s takes %g cycles (chase %.60s), "
                           "which is not more than %g%s%s",
                           name[i], f[i]->median, f[i]->parameters, last, below < 0 ? "" : " from ",
                           below < 0 ? "" : name[below]);
        if (f[i]) {
            last = f[i]->median;
            below = i;
        }
    }
    return WW_OK;
}

static enum ww_code global_latencies(struct ww_derivation *d) {
    struct levels v = {0};
    double model, scale, cached;
    double l2 = (double)d->measured->l2_bytes;
    WW_TRY(ww_derive_param(d, "l1.global_loads", &cached));
    v.has_l1 = cached != 0 && plateau(d, "ca", 2048, 16384, &v.l1);
    v.has_l2 = l2 > 0 && plateau(d, "cg", 128 << 10, fmin(l2 / 4, 8 << 20), &v.l2);
    v.has_dram = l2 > 0 && plateau(d, "cg", 3 * l2, 4 * l2, &v.dram);
    WW_TRY(check_rises(d, &v));
    if (v.has_l1) {
        WW_TRY(model_hit(d, WW_MICRO_GLOBAL, 32, &model));
        WW_TRY(shift(d, "l1.latency", model, 1, &v.l1, 1));
    }
    if (v.has_l2) WW_TRY(l2_latency(d, &v.l2));
    if (v.has_dram) {
        WW_TRY(model_miss(d, 4 * l2, &model));
        WW_TRY(clock_ratio(d, "clock.dram_mhz", &scale));
        WW_TRY(shift(d, "dram.latency", model, scale, &v.dram, 0));
    }
    return WW_OK;
}

/* ---- shared memory ---- */

static enum ww_code conflicts(struct ww_derivation *d) {
    static const char *const key[] = {"shared.conflict_cycles_2", "shared.conflict_cycles_4",
                                      "shared.conflict_cycles_8", "shared.conflict_cycles_16",
                                      "shared.conflict_cycles_32"};
    const struct ww_measured_figure *f[6];
    char parameters[64];
    double now, last = 0;
    for (int i = 0; i < 6; i++) {
        snprintf(parameters, sizeof parameters, "lanes=32 stride=%d", 1 << i);
        f[i] = ww_measured_find(d->measured, "micro", "shared_latency", parameters);
        double adds = f[i] && i ? round(f[i]->median - f[0]->median) : 1;
        if (!f[i] || (i && adds <= last)) return WW_OK; /* they must rise */
        last = i ? adds : 0;
    }
    for (int i = 1; i < 6; i++)
        WW_TRY(ww_derive_put(d, key[i - 1], f[i]->median - f[0]->median, false, f[i],
                             "less the latency at stride 1"));
    return ww_derive_param(d, key[0], &now);
}

static enum ww_code shared(struct ww_derivation *d) {
    const struct ww_measured_figure *f =
        ww_measured_find(d->measured, "micro", "shared_latency", "lanes=1 stride=1");
    double model;
    if (f && !(f->median > 0))
        return ww_fail(d->error, WW_INPUT, d->measured->source, "a load of shared memory takes %g cycles",
                       f->median);
    if (f) {
        WW_TRY(model_hit(d, WW_MICRO_SHARED, 32, &model));
        WW_TRY(shift(d, "shared.latency", model, 1, f, 1));
    }
    return conflicts(d);
}

/* ---- bandwidths ---- */

/* The greatest median of read_bandwidth with these words. */
static const struct ww_measured_figure *best_read(const struct ww_derivation *d, const char *path,
                                                  const char *own) {
    const struct ww_measured_figure *best = NULL;
    char a[16], b[16];
    for (size_t i = 0; i < d->measured->figure_count; i++) {
        const struct ww_measured_figure *f = &d->measured->figure[i];
        if (strcmp(f->part, "micro") != 0 || strcmp(f->method, "read_bandwidth") != 0) continue;
        if (!ww_measured_word(f->parameters, "path", a, sizeof a) || strcmp(a, path) != 0) continue;
        if (!ww_measured_word(f->parameters, "own", b, sizeof b) || strcmp(b, own) != 0) continue;
        if (!best || f->median > best->median) best = f;
    }
    return best;
}

static enum ww_code bandwidths(struct ww_derivation *d) {
    const struct ww_measured_figure *f = best_read(d, "ca", "1");
    if (f && strcmp(f->unit, "byte/cycle") == 0 && f->median >= 4) {
        double p = exp2(round(log2(f->median)));
        bool near = fabs(f->median - p) <= 0.15 * p;
        WW_TRY(ww_derive_set(d, "l1.bytes_per_cycle", near ? p : f->median, false, f,
                             near ? "the near power of two" : ""));
    }
    f = best_read(d, "cg", "0");
    if (!f || strcmp(f->unit, "byte/s") != 0) return WW_OK;
    double slices, mhz;
    WW_TRY(ww_derive_param(d, "l2.slices", &slices));
    WW_TRY(ww_derive_param(d, "clock.l2_mhz", &mhz));
    double bytes = f->median / (slices * mhz * 1e6);
    if (bytes < 8) return WW_OK;
    return ww_derive_set(d, "l2.bytes_per_cycle", bytes, false, f, "over the slices, at the model's L2 clock");
}

enum ww_code ww_derive_memory(struct ww_derivation *d) {
    WW_TRY(global_latencies(d));
    WW_TRY(shared(d));
    return bandwidths(d);
}
