/* gpu.h: GPUs by name or file, and their parameters. Part of warpwatt.h. */
#ifndef WW_API_GPU_H
#define WW_API_GPU_H

#include "../base/error.h"
#include "../result/result.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ww_gpu; /* a GPU's resolved parameters, immutable */

/* Loads a GPU. `name` is a name found in the model directories ($WARPWATT_MODELS, the source tree's
 * models/, the installed share directory), or a path that ends in ".json". Overrides are `count`
 * strings "dotted.key=value" applied last, in order, under the same bounds.
 * Errors: WW_INPUT (unknown or missing key, bound violated, bad inheritance), WW_IO. */
WW_API enum ww_code ww_gpu_load(const char *name, const char *const *overrides, size_t count,
                                struct ww_gpu **gpu, struct ww_error *error);
WW_API void ww_gpu_free(struct ww_gpu *gpu);
WW_API const char *ww_gpu_name(const struct ww_gpu *gpu);
/* The power table of the nearest GPU that this one inherits from; NULL if there is none. */
WW_API const char *ww_gpu_ancestor_table(const struct ww_gpu *gpu);
/* SM and L2 clock of the GPU under a profiler's control: "base", "boost" or a number of MHz for the SMs. The
 * L2's clock keeps its ratio to the SMs'. Errors: WW_USAGE (another text; the model has no such clock). */
WW_API enum ww_code ww_gpu_clock_control(const struct ww_gpu *gpu, const char *control, double *sm_mhz,
                                         double *l2_mhz, struct ww_error *error);
/* Watts above which the board lowers its clocks (board.tdp_w); 0: not stated. */
WW_API double ww_gpu_power_limit(const struct ww_gpu *gpu);
/* Canonical JSON of all parameters, sorted by key: equal strings mean equal GPUs. */
WW_API const char *ww_gpu_json(const struct ww_gpu *gpu);
/* Parameters whose overrides differ from the model, in the order of `gpu show`; they live as long as the
 * GPU. */
WW_API const struct ww_override *ww_gpu_overrides(const struct ww_gpu *gpu, size_t *count);
/* Number of parameters, and each one's key, value in text, unit, help and source ("" if defaulted). */
WW_API size_t ww_gpu_param_count(void);
struct ww_param_view {
    const char *key, *unit, *help;
    char bounds[128]; /* "1..1024", "a|b|c", "true|false" */
    char value[128];
    char source[512];
};
WW_API enum ww_code ww_gpu_param(const struct ww_gpu *gpu, size_t i, struct ww_param_view *view,
                                 struct ww_error *error);
/* Names of all GPUs in the model directories, sorted; free with ww_names_free. */
struct ww_names {
    char **name;
    size_t count;
};
WW_API enum ww_code ww_gpu_names(struct ww_names *names, struct ww_error *error);
WW_API void ww_names_free(struct ww_names *names);

#ifdef __cplusplus
}
#endif

#endif
