/* How far the analytical model may be off, and whether a point is of the kind that it was tried on. */
#include "model_error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WW_MODEL_NONE ((double)NAN)

/* One application on one GPU: log(full / model) of cycles and of energy; NAN where energy is not known. */
struct residual {
    const char *application, *gpu;
    double cycles, energy;
};
static const struct residual residuals[] = {
#define CONSTANT(name, value)
#define RESIDUAL(application, gpu, cycles, energy) {application, gpu, cycles, energy},
#define SPAN(id, least, most)
#include "model_fit.def"
#undef CONSTANT
#undef RESIDUAL
#undef SPAN
};
enum { RESIDUALS = sizeof residuals / sizeof *residuals };

static const double seen[WW_MODEL_FEATURES][2] = {
#define CONSTANT(name, value)
#define RESIDUAL(application, gpu, cycles, energy)
#define SPAN(id, least, most) [WW_MODEL_F_##id] = {least, most},
#include "model_fit.def"
#undef CONSTANT
#undef RESIDUAL
#undef SPAN
};

const char *ww_model_feature_name(enum ww_model_feature feature) {
    static const char *const name[] = {
#define X(id, name, help) name,
#include "model_feature.def"
#undef X
    };
    return feature < WW_MODEL_FEATURES ? name[feature] : NULL;
}

void ww_model_features(const struct ww_kernel_profile *p, const struct ww_gpu_spec *g,
                       const struct ww_model_result *r, double f[WW_MODEL_FEATURES]) {
    double loads = (double)(p->global_loads + p->local + p->texture), ctas = (double)p->ctas;
    double lines = (double)(p->load_lines[0] + p->load_lines[1] + p->bypass_lines);
    f[WW_MODEL_F_CTAS] = log2(ctas / g->sm_count);
    f[WW_MODEL_F_WARPS] = r->resident_warps;
    f[WW_MODEL_F_PATH] = log2(1 + r->cta_path);
    f[WW_MODEL_F_LINES] = loads > 0 ? lines / loads : 0;
    f[WW_MODEL_F_SMS] = g->sm_count;
    f[WW_MODEL_F_ISSUE] = g->sm_schedulers;
    f[WW_MODEL_F_L1] = log2(g->l1_size_kb);
    f[WW_MODEL_F_L2] = log2(g->l2_size_kb);
    double bytes = (double)g->dram_channels * g->dram_bus_bits / 8 * g->dram_data_rate * g->clock_dram_mhz;
    f[WW_MODEL_F_BYTES] = bytes / (g->clock_sm_mhz * g->sm_count);
}

void ww_model_span_add(struct ww_model_span *span, const struct ww_kernel_profile *profile,
                       const struct ww_gpu_spec *gpu, const struct ww_model_result *result) {
    double f[WW_MODEL_FEATURES];
    ww_model_features(profile, gpu, result, f);
    for (int i = 0; i < WW_MODEL_FEATURES; i++) {
        if (span->count == 0 || f[i] < span->least[i]) span->least[i] = f[i];
        if (span->count == 0 || f[i] > span->most[i]) span->most[i] = f[i];
    }
    span->count++;
}

bool ww_model_span_outside(const struct ww_model_span *span, char *why, size_t size) {
    for (int i = 0; span->count && i < WW_MODEL_FEATURES; i++) {
        double room = 0.1 * (seen[i][1] - seen[i][0]) + 1e-9;
        bool below = span->least[i]<seen[i][0] - room, above = span->most[i]> seen[i][1] + room;
        if (!below && !above) continue;
        snprintf(why, size, "outside of what the analytical model was compared on: %s %.3g, there %.3g to %.3g",
                 ww_model_feature_name((enum ww_model_feature)i), below ? span->least[i] : span->most[i],
                 seen[i][0], seen[i][1]);
        return true;
    }
    return false;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ww_model_conformal_least(double confidence) {
    return ceil(2 / (1 - confidence) - 1 - 1e-9);
}

enum ww_code ww_model_conformal_check(const char *what, size_t n, double confidence, struct ww_error *error) {
    if (ww_model_conformal_least(confidence) <= (double)n) return WW_OK;
    double most = floor(1000 * (1 - 2 / ((double)n + 1))) / 10;
    return ww_fail(error, WW_USAGE, "--confidence",
                   "%g%%: the interval of %s is formed of %zu cases: expected 50%% to %g%%", 100 * confidence,
                   what, n, most);
}

enum ww_code ww_model_error_check(double confidence, struct ww_error *error) {
    return ww_model_conformal_check("the analytical model", RESIDUALS, confidence, error);
}

void ww_model_conformal(double *value, size_t n, double confidence, double *low, double *high) {
    *low = *high = 0;
    if (n == 0) return;
    qsort(value, n, sizeof *value, ascending);
    double first = floor((double)(n + 1) * (1 - confidence) / 2 + 1e-9),
           last = ceil((double)(n + 1) * (1 + confidence) / 2 - 1e-9);
    *low = value[first >= 1 ? (size_t)first - 1 : 0];
    *high = value[last <= (double)n ? (size_t)last - 1 : n - 1];
}

void ww_model_error_of(const struct ww_model_span *span, double confidence, struct ww_model_error *out) {
    double cycles[RESIDUALS], energy[RESIDUALS], low, high;
    size_t n = 0, m = 0;
    (void)span;
    for (size_t i = 0; i < RESIDUALS; i++) {
        cycles[n++] = residuals[i].cycles;
        if (isfinite(residuals[i].energy)) energy[m++] = residuals[i].energy;
    }
    ww_model_conformal(cycles, n, confidence, &low, &high);
    out->cycles_low = exp(low);
    out->cycles_high = exp(high);
    ww_model_conformal(energy, m, confidence, &low, &high);
    out->energy_low = exp(low);
    out->energy_high = exp(high);
}
