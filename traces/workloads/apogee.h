/* apogee.h: what the workloads of APOGEE's evaluation share (docs/reference/workloads.md): one CTA of `warps`
 * warps on each SM, whose threads stay and walk over the CTA's part of the elements. */
#ifndef WW_TRACES_WORKLOADS_APOGEE_H
#define WW_TRACES_WORKLOADS_APOGEE_H

#include "host.h"

/* The parameters of each of them: `warps` is the logarithm. */
#define WW_APOGEE_PARAMS(U32, ENUM)                                                                            \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(warps, "warps", "1|2|4|8|16|32", 2, "4", "warps of a CTA")                                            \
    U32(ctas, "ctas", "CTA", 1, 256, 1, "CTAs: one for each SM")

/* The launch: `ctas` CTAs of 2^log_warps warps. */
struct ww_host_shape ww_apogee_shape(uint32_t ctas, uint32_t log_warps);
/* Elements of a CTA when n are dealt out: a multiple of 32. */
uint32_t ww_apogee_each(uint32_t n, uint32_t ctas);
/* n random floats that are whole numbers below `limit` in *out. Errors: WW_NOMEM. */
enum ww_code ww_apogee_whole(struct ww_host *h, float **out, size_t n, uint32_t limit);

#endif
