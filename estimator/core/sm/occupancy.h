/* occupancy.h: what a CTA takes of an SM. ww_occupancy itself is in engine.h. */
#ifndef WW_CORE_OCCUPANCY_H
#define WW_CORE_OCCUPANCY_H

#include "../../../traces/trace.h"
#include "../../config/gpu.h"

/* Bytes of shared memory that one CTA occupies, with what the system adds, in whole allocation units. */
uint32_t ww_occupancy_shared(const struct ww_gpu_spec *gpu, const struct ww_launch *launch);

#endif
