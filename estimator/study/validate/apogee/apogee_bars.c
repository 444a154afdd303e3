/* Figures 5.1, 5.2, 5.8 and 5.10 to 5.16 of suite "apogee" by kernel or by configuration; their plots are not
 * in the text, so these rows inform. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "apogee_int.h"
#include <math.h>
#include <stdio.h>

typedef double (*bar_fn)(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m);

static double percent(double factor) {
    return 100 * (factor - 1);
}

static double speedup(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return ww_ap_speedup(s, k, WW_AP_SIMT_32, m);
}
static double accuracy(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return ww_ap_accuracy(&s->of[m][k]);
}
static double of_sent(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m, enum ww_counter c) {
    const uint64_t *n = s->of[m][k].counter;
    return n[WW_C_PREFETCH_SENT] ? 100 * (double)n[c] / (double)n[WW_C_PREFETCH_SENT] : NAN;
}
static double late(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return of_sent(s, k, m, WW_C_PREFETCH_LATE);
}
static double early(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return of_sent(s, k, m, WW_C_PREFETCH_EARLY);
}
static double misses(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return percent(ww_ap_miss_rate(&s->of[m][k]) / ww_ap_miss_rate(&s->of[WW_AP_SIMT_32][k]));
}
static double miss_rate(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return ww_ap_miss_rate(&s->of[m][k]);
}
/* NAN where SIMT_32 hardly stalls. */
static double stalls(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    const struct ww_ap_sum *base = &s->of[WW_AP_SIMT_32][k];
    if (ww_ap_stalls(base) < 0.01 * (double)base->cycles) return NAN;
    return ww_ap_stalls(&s->of[m][k]) / ww_ap_stalls(base);
}
static double stalled(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return 100 * ww_ap_stalls(&s->of[m][k]) / (double)s->of[m][k].cycles;
}
/* Over the same warps without a prefetcher. */
static double extra(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return percent(ww_ap_sectors(&s->of[m][k]) / ww_ap_sectors(&s->of[WW_AP_SIMT_4][k]));
}
static double latency(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return ww_ap_latency(&s->of[m][k]);
}
/* Figure 5.8, of the sectors that miss. */
static double share(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m, uint64_t part) {
    const uint64_t *n = s->of[m][k].counter;
    uint64_t all = n[WW_C_L1_SECTOR_MISS] + n[WW_C_TEX_SECTOR_MISS];
    return all ? 100 * (double)part / (double)all : NAN;
}
static double fixed_offset(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return share(s, k, m, s->of[m][k].counter[WW_C_L1_MISS_STRIDED]);
}
static double invariant(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return ww_ap_invariant(&s->of[m][k]);
}
static double texture(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine m) {
    return share(s, k, m, s->of[m][k].counter[WW_C_TEX_SECTOR_MISS]);
}

static const struct bar {
    const char *id, *what, *unit;
    bar_fn value;
    enum ww_ap_machine machine;
} bars[] = {
    {"fig5.8-foa", "misses of loads with a fixed offset", "%", fixed_offset, WW_AP_SIMT_32},
    {"fig5.8-tia", "misses of thread-invariant loads", "%", invariant, WW_AP_SIMT_32},
    {"fig5.8-texture", "misses of textures", "%", texture, WW_AP_SIMT_32},
    {"fig5.10-stride_4", "stride_4 over SIMT_32", "x", speedup, WW_AP_STRIDE_4},
    {"fig5.10-mta_4", "MTA_4 over SIMT_32", "x", speedup, WW_AP_MTA_4},
    {"fig5.10-simt_4", "SIMT_4 over SIMT_32", "x", speedup, WW_AP_SIMT_4},
    {"fig5.10-apogee_4", "Apogee_4 over SIMT_32", "x", speedup, WW_AP_APOGEE_4},
    {"fig5.11-mta_32", "MTA_32 over SIMT_32", "x", speedup, WW_AP_MTA_32},
    {"fig5.13", "accuracy of Apogee_4", "%", accuracy, WW_AP_APOGEE_4},
    {"fig5.13-late", "prefetches of Apogee_4 that are late", "%", late, WW_AP_APOGEE_4},
    {"fig5.13-early", "prefetches of Apogee_4 that are early", "%", early, WW_AP_APOGEE_4},
    {"fig5.13-mta_4", "accuracy of MTA_4", "%", accuracy, WW_AP_MTA_4},
    {"fig5.14-mta_4", "D-cache miss rate, MTA_4 against SIMT_32", "%", misses, WW_AP_MTA_4},
    {"fig5.14-mta_32", "D-cache miss rate, MTA_32 against SIMT_32", "%", misses, WW_AP_MTA_32},
    {"fig5.14-apogee_4", "D-cache miss rate, Apogee_4 against SIMT_32", "%", misses, WW_AP_APOGEE_4},
    {"fig5.14-rate", "D-cache miss rate of SIMT_32", "%", miss_rate, WW_AP_SIMT_32},
    {"fig5.15-mta_4", "stall cycles, MTA_4 over SIMT_32", "x", stalls, WW_AP_MTA_4},
    {"fig5.15-mta_32", "stall cycles, MTA_32 over SIMT_32", "x", stalls, WW_AP_MTA_32},
    {"fig5.15-apogee_4", "stall cycles, Apogee_4 over SIMT_32", "x", stalls, WW_AP_APOGEE_4},
    {"fig5.15-share", "cycles of SIMT_32 that are stalls", "%", stalled, WW_AP_SIMT_32},
    {"fig5.16", "sectors from memory, Apogee_4 against SIMT_4", "%", extra, WW_AP_APOGEE_4},
    {"latency", "mean load latency of Apogee_4", "cycle", latency, WW_AP_APOGEE_4},
    {"latency-simt_32", "mean load latency of SIMT_32", "cycle", latency, WW_AP_SIMT_32},
};

static enum ww_code inform(struct ww_validation *v, const char *id, const char *what, double ours,
                           const char *unit, struct ww_error *error) {
    const struct ww_validate_row row = {
        .id = id, .what = what, .ours = ours, .paper = NAN, .unit = unit, .uncounted = true, .why = ""};
    return ww_validate_add(v, &row, error);
}

static enum ww_code add_kernels(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    char id[64], what[128];
    for (size_t b = 0; b < sizeof bars / sizeof *bars; b++)
        for (size_t k = 0; k < WW_AP_KERNELS; k++) {
            snprintf(id, sizeof id, "apo-%s-%s", bars[b].id, ww_ap_kernel[k].label);
            snprintf(what, sizeof what, "%s: %s", ww_ap_kernel[k].label, bars[b].what);
            WW_TRY(inform(v, id, what, bars[b].value(s, k, bars[b].machine), bars[b].unit, error));
        }
    return WW_OK;
}

/* ---- figures 5.1, 5.2 and 5.12: by configuration, over SIMT_1 ---- */

static double mean_watts(const struct ww_ap_sums *s, enum ww_ap_machine m) {
    double sum = 0;
    for (size_t k = 0; k < WW_AP_KERNELS; k++)
        sum += log(ww_ap_watts(&s->of[m][k]) / ww_ap_watts(&s->of[WW_AP_SIMT_1][k]));
    return exp(sum / WW_AP_KERNELS);
}

static double mean_rate(const struct ww_ap_sums *s, enum ww_ap_machine m) {
    double sum = 0;
    for (size_t k = 0; k < WW_AP_KERNELS; k++)
        sum += ww_ap_register_rate(&s->of[m][k]) / ww_ap_register_rate(&s->of[WW_AP_SIMT_1][k]);
    return sum / WW_AP_KERNELS;
}

static enum ww_code add_machine(struct ww_validation *v, const struct ww_ap_sums *s, enum ww_ap_machine m,
                                struct ww_error *error) {
    const char *name = ww_ap_machine_name[m];
    char id[64], what[128];
    snprintf(id, sizeof id, "apo-fig5.12-speed-%s", name);
    snprintf(what, sizeof what, "%s over SIMT_1: performance", name);
    WW_TRY(inform(v, id, what, ww_ap_mean_speedup(s, WW_AP_SIMT_1, m, 0, WW_AP_KERNELS), "x", error));
    snprintf(id, sizeof id, "apo-fig5.12-power-%s", name);
    snprintf(what, sizeof what, "%s over SIMT_1: power", name);
    WW_TRY(inform(v, id, what, mean_watts(s, m), "x", error));
    if (m > WW_AP_SIMT_32) return WW_OK;
    snprintf(id, sizeof id, "apo-fig5.2-rate-%s", name);
    snprintf(what, sizeof what, "%s over SIMT_1: register accesses in a cycle", name);
    WW_TRY(inform(v, id, what, mean_rate(s, m), "x", error));
    snprintf(id, sizeof id, "apo-fig5.2-each-%s", name);
    snprintf(what, sizeof what, "%s over SIMT_1: accesses of a register in a cycle", name);
    return inform(v, id, what, mean_rate(s, m) / (double)(1u << m), "x", error);
}

enum ww_code ww_ap_bars(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    for (enum ww_ap_machine m = 0; m < WW_AP_MACHINES; m++) WW_TRY(add_machine(v, s, m, error));
    return add_kernels(v, s, error);
}
