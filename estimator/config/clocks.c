/* Clocks as a profiler fixes them: base, boost or a number of MHz. */
#include "../base/locale.h"
#include "gpu.h"
#include <stdlib.h>
#include <string.h>

#define LEAST_MHZ 10
#define MOST_MHZ 10000

static enum ww_code number(const char *text, double *mhz, struct ww_error *error) {
    char *end;
    *mhz = strtod(text, &end);
    if (end != text && !*end && *mhz >= LEAST_MHZ && *mhz <= MOST_MHZ) return WW_OK;
    return ww_fail(error, WW_USAGE, "--clock-control",
                   "\"%.40s\": expected base, boost or %d to %d MHz, for run also limit", text, LEAST_MHZ,
                   MOST_MHZ);
}

enum ww_code ww_gpu_clock_control(const struct ww_gpu *gpu, const char *control, double *sm_mhz, double *l2_mhz,
                                  struct ww_error *error) {
    WW_PLAIN_LOCALE;
    const struct ww_gpu_spec *g = &gpu->spec;
    if (strcmp(control, "base") == 0) {
        *sm_mhz = g->clock_base_mhz;
        if (!(*sm_mhz > 0))
            return ww_fail(error, WW_USAGE, "--clock-control",
                           "%s has no base clock (clock.base_mhz); expected MHz", ww_gpu_name(gpu));
    } else if (strcmp(control, "boost") == 0) {
        *sm_mhz = g->clock_boost_mhz > 0 ? g->clock_boost_mhz : g->clock_sm_mhz;
    } else {
        WW_TRY(number(control, sm_mhz, error));
    }
    *l2_mhz = g->clock_l2_mhz * *sm_mhz / g->clock_sm_mhz;
    if (*l2_mhz > MOST_MHZ) *l2_mhz = MOST_MHZ;
    if (*l2_mhz < LEAST_MHZ) *l2_mhz = LEAST_MHZ;
    return WW_OK;
}

double ww_gpu_power_limit(const struct ww_gpu *gpu) {
    return gpu->spec.board_tdp_w;
}
