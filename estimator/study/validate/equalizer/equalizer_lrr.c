/* Suite "equalizer" under round-robin. Chapter III names no scheduler but the simulator's configuration, which
 * has GTO; chapter IV calls round-robin "our baseline" of the same simulator. Rows are compared with the
 * published figures and not counted. */
#include "../../../api/validate.h"
#include "equalizer_int.h"
#include <math.h>
#include <string.h>

static double over_lrr(const struct ww_matrix *b, size_t k, size_t machine) {
    const struct ww_matrix_sum *base = ww_eq_sum(b, k, WW_EQ_LRR), *s = ww_eq_sum(b, k, machine);
    return s->time_ps ? (double)base->time_ps / (double)s->time_ps : NAN;
}

static double mean_of_class(const struct ww_matrix *b, size_t machine) {
    double sum = 0, n = 0;
    for (size_t k = 0; k < b->kernels; k++) {
        if (ww_eq_kernel[k].class != WW_EQ_CACHE) continue;
        sum += log(over_lrr(b, k, machine));
        n++;
    }
    return 100 * (exp(sum / n) - 1);
}

/* of: the target that it is compared with; NULL: none. */
static enum ww_code add(struct ww_validation *v, const char *id, const char *what, const char *of, double ours,
                        const char *unit, struct ww_error *error) {
    const struct ww_target *t = of ? ww_target_find(v, of) : NULL;
    const struct ww_validate_row row = {.id = id,
                                        .what = what,
                                        .ours = ours,
                                        .paper = t ? t->value : NAN,
                                        .unit = unit,
                                        .test = WW_VALIDATE_RELATIVE,
                                        .tolerance = 1.0 / 3,
                                        .uncounted = true,
                                        .why = t ? "under round-robin, which the chapter does not name" : ""};
    return ww_validate_add(v, &row, error);
}

static enum ww_code add_kernel(struct ww_validation *v, const struct ww_matrix *b, size_t k,
                               struct ww_error *error) {
    static const struct {
        const char *id, *what;
        size_t machine;
    } bar[] = {{"p", "performance mode", WW_EQ_LRR_PERFORMANCE},
               {"dyncta", "DynCTA", WW_EQ_LRR_DYNCTA},
               {"ccws", "CCWS", WW_EQ_CCWS},
               {"gto", "GTO", WW_EQ_BASE}};
    char id[64], what[128];
    for (size_t i = 0; i < sizeof bar / sizeof bar[0]; i++) {
        snprintf(id, sizeof id, "eq-lrr-%s-%s", ww_eq_kernel[k].row, bar[i].id);
        snprintf(what, sizeof what, "gtx480-eq, %s: speed-up of %s over round-robin", ww_eq_kernel[k].row,
                 bar[i].what);
        WW_TRY(add(v, id, what, NULL, over_lrr(b, k, bar[i].machine), "x", error));
    }
    return WW_OK;
}

enum ww_code ww_eq_lrr(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    size_t kmn = 0;
    for (size_t k = 0; k < b->kernels; k++)
        if (strcmp(ww_eq_kernel[k].row, "kmn") == 0) kmn = k;
    WW_TRY(add(v, "eq-lrr-p-cache", "round-robin, cache-sensitive kernels: performance mode", "eq-p-cache",
               mean_of_class(b, WW_EQ_LRR_PERFORMANCE), "%", error));
    WW_TRY(add(v, "eq-lrr-ccws", "CCWS over round-robin, cache-sensitive kernels, mean", "eq-ccws",
               mean_of_class(b, WW_EQ_CCWS), "%", error));
    WW_TRY(add(v, "eq-lrr-dyncta", "round-robin, cache-sensitive kernels: DynCTA, mean", "eq-dyncta",
               mean_of_class(b, WW_EQ_LRR_DYNCTA), "%", error));
    WW_TRY(add(v, "eq-lrr-p-kmn", "round-robin, kmn: performance mode", "eq-p-kmn",
               100 * (over_lrr(b, kmn, WW_EQ_LRR_PERFORMANCE) - 1), "%", error));
    for (size_t k = 0; k < b->kernels; k++)
        if (ww_eq_kernel[k].class == WW_EQ_CACHE) WW_TRY(add_kernel(v, b, k, error));
    return WW_OK;
}
