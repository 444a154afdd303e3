/* Suite "elastic": figures 8 to 11 kernel by kernel. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "elastic_int.h"
#include <math.h>
#include <stdio.h>

/* What a bar is, of a kernel's sums. */
typedef double (*bar_fn)(const struct ww_matrix *b, size_t kernel, enum ww_elastic_machine m);

/* Figure 8 normalises to the baseline's stalls. */
static double stall(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m, enum ww_counter cause) {
    return 100 * (double)ww_elastic_sum(b, k, m)->counter[cause] /
           ww_elastic_stalls(ww_elastic_sum(b, k, WW_ELASTIC_BASE));
}

static double scheduling(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return stall(b, k, m, WW_C_PIPE_STALL_SCHED);
}

static double conflicts(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return stall(b, k, m, WW_C_PIPE_STALL_CONFLICT);
}

static double others(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return stall(b, k, m, WW_C_PIPE_STALL_OTHER);
}

static double gain(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return ww_elastic_gain(ww_elastic_sum(b, k, WW_ELASTIC_BASE), ww_elastic_sum(b, k, m));
}

/* Cycles of SMs with a CTA, which the unequal ends of the last CTAs of a small grid do not touch. */
static double active(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return 100 * ((double)ww_elastic_sum(b, k, WW_ELASTIC_BASE)->counter[WW_C_SM_ACTIVE_CYCLES] /
                      (double)ww_elastic_sum(b, k, m)->counter[WW_C_SM_ACTIVE_CYCLES] -
                  1);
}

/* By our own counts: what conflicts cost in addition to the cycles of fetching. */
static double theory(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    const uint64_t *n = ww_elastic_sum(b, k, m)->counter;
    return 100 * (double)n[WW_C_SHARED_CONFLICTS] / (double)n[WW_C_PIPE_FETCH_CYCLES];
}

static double hand(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return (double)ww_elastic_sum(b, ww_elastic_padded(k), WW_ELASTIC_BASE)->cycles /
           (double)ww_elastic_sum(b, k, m)->cycles;
}

static double mispredicted(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    const uint64_t *n = ww_elastic_sum(b, k, m)->counter;
    return 100 * (double)n[WW_C_BANK_MISPREDICTED] / (double)n[WW_C_BANK_PREDICTED];
}

static const struct {
    const char *figure, *bar, *what, *unit;
    size_t first, end; /* kernels */
    enum ww_elastic_machine machine;
    bar_fn value;
} bars[] = {
    {"fig8", "sched-base", "scheduling fails, of the baseline's stalls", "%", 0, 8, WW_ELASTIC_BASE,
     scheduling},
    {"fig8", "conflict-base", "bank conflicts, of the baseline's stalls", "%", 0, 8, WW_ELASTIC_BASE,
     conflicts},
    {"fig8", "other-base", "other stalls, of the baseline's", "%", 0, 8, WW_ELASTIC_BASE, others},
    {"fig8", "sched", "scheduling fails when enhanced, of the baseline's stalls", "%", 0, 8, WW_ELASTIC_FULL,
     scheduling},
    {"fig8", "conflict", "bank conflicts when enhanced, of the baseline's stalls", "%", 0, 8, WW_ELASTIC_FULL,
     conflicts},
    {"fig8", "other", "other stalls when enhanced, of the baseline's", "%", 0, 8, WW_ELASTIC_FULL, others},
    {"fig9", "split", "gain of split memory stages", "%", 0, 8, WW_ELASTIC_SPLIT, gain},
    {"fig9", "pure", "gain of the elastic pipeline alone", "%", 0, 8, WW_ELASTIC_PURE, gain},
    {"fig9", "full", "gain with aware scheduling", "%", 0, 8, WW_ELASTIC_FULL, gain},
    {"fig9", "anyway", "gain with the variant of section 5.2", "%", 0, 8, WW_ELASTIC_ANYWAY, gain},
    {"fig9", "theory", "theoretic gain, by our counts", "%", 0, 8, WW_ELASTIC_BASE, theory},
    {"fig9", "active", "gain with aware scheduling, in cycles of active cores", "%", 0, 8, WW_ELASTIC_FULL,
     active},
    {"fig9", "mispredicted", "shared accesses predicted wrongly", "%", 0, 8, WW_ELASTIC_FULL, mispredicted},
    {"fig10", "hand", "unpadded and enhanced over padded on the baseline", "x", 3, 8, WW_ELASTIC_FULL, hand},
    {"fig11", "clean", "gain when enhanced", "%", 8, 13, WW_ELASTIC_FULL, gain},
    {"fig11", "active", "gain when enhanced, in cycles of active cores", "%", 8, 13, WW_ELASTIC_FULL, active},
};

enum ww_code ww_elastic_bars(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        for (size_t k = bars[i].first; k < bars[i].end; k++) {
            char id[64], what[128];
            snprintf(id, sizeof id, "ela-%s-%s-%s", bars[i].figure, ww_elastic_kernel[k].row, bars[i].bar);
            snprintf(what, sizeof what, "elastic-16, %s: %s", ww_elastic_kernel[k].row, bars[i].what);
            struct ww_validate_row row = {.id = id,
                                          .what = what,
                                          .ours = bars[i].value(b, k, bars[i].machine),
                                          .paper = NAN,
                                          .unit = bars[i].unit,
                                          .why = ""};
            WW_TRY(ww_validate_add(v, &row, error));
        }
    return WW_OK;
}
