/* clusters.h: CTAs of a cluster begin together, on SMs of one GPC. */
#ifndef WW_CORE_CLUSTERS_H
#define WW_CORE_CLUSTERS_H

#include "../sm/sm.h"

/* CTAs of the launch's clusters; 1 without, and where the GPU does not place them together. Errors: WW_INPUT
 * (no GPC has room for one). */
enum ww_code ww_clusters_plan(struct ww_core *core, const struct ww_launch *launch, struct ww_error *error);
/* Places clusters in `cycle`; true if more could be placed in the next one. */
bool ww_clusters_dispatch(struct ww_core *core, uint64_t cycle);

#endif
