/* What the workloads of APOGEE's evaluation share. */
#include "apogee.h"

struct ww_host_shape ww_apogee_shape(uint32_t ctas, uint32_t log_warps) {
    return ww_host_line(ctas, 32u << log_warps);
}

uint32_t ww_apogee_each(uint32_t n, uint32_t ctas) {
    return ww_host_ceil(ww_host_ceil(n, ctas), 32) * 32;
}

enum ww_code ww_apogee_whole(struct ww_host *h, float **out, size_t n, uint32_t limit) {
    WW_TRY(ww_host_array(h, out, n, sizeof **out));
    for (size_t i = 0; i < n; i++) (*out)[i] = (float)ww_rng_below(&h->rng, limit);
    return WW_OK;
}
