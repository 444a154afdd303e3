/* occupancy.h: what a CTA takes of an SM. */
#ifndef WW_CORE_OCCUPANCY_H
#define WW_CORE_OCCUPANCY_H

#include "../../../traces/trace.h"
#include "../../base/err.h"
#include "../../config/gpu.h"

/* Bytes of shared memory that one CTA occupies, with what the system adds, in whole allocation units. */
uint32_t ww_occupancy_shared(const struct ww_gpu_spec *gpu, const struct ww_launch *launch);
/* CTAs per SM that the limits allow, and which limit binds ("threads", "ctas", "registers", "shared"). */
enum ww_code ww_occupancy(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, uint32_t *ctas,
                          const char **limiter, struct ww_error *error);

/* Bytes of an L1 array from which shared memory is carved that are left for data while CTAs have `used` bytes.
 */
uint64_t ww_occupancy_l1(const struct ww_gpu_spec *gpu, uint64_t used);

#endif
