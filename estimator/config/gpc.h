/* gpc.h: which SMs make up a GPC, and how many clusters of CTAs a GPU holds.
 *
 * SMs come in pairs (TPCs), the pairs of a GPC have consecutive numbers, and GPCs differ by a pair at most: of
 * 132 SMs in 8 GPCs two GPCs have 18 and six have 16. */
#ifndef WW_CONFIG_GPC_H
#define WW_CONFIG_GPC_H

#include "gpu.h"

#define WW_TPC_SMS 2u

/* Number of the GPC's first SM; of GPC sm.gpcs: the number of SMs. */
static inline uint32_t ww_gpc_first(const struct ww_gpu_spec *g, uint32_t gpc) {
    uint32_t pairs = (g->sm_count + WW_TPC_SMS - 1) / WW_TPC_SMS;
    uint32_t first = (uint32_t)((uint64_t)pairs * gpc / g->sm_gpcs) * WW_TPC_SMS;
    return first < g->sm_count ? first : g->sm_count;
}
static inline uint32_t ww_gpc_of(const struct ww_gpu_spec *g, uint32_t sm) {
    uint32_t gpc = 0;
    while (gpc + 1 < g->sm_gpcs && ww_gpc_first(g, gpc + 1) <= sm) gpc++;
    return gpc;
}
/* Clusters of `size` CTAs that are resident at most, where an SM holds `ctas` of the CTAs. */
static inline uint32_t ww_gpc_clusters(const struct ww_gpu_spec *g, uint32_t ctas, uint32_t size) {
    uint32_t n = 0;
    if (!g->sm_gpcs) return g->sm_count * ctas / size;
    for (uint32_t i = 0; i < g->sm_gpcs; i++) n += (ww_gpc_first(g, i + 1) - ww_gpc_first(g, i)) * ctas / size;
    return n;
}

#endif
