/* floorplan.h: how the way between an SM and a slice of the L2 differs from the mean way.
 *
 *   GPCs         0    2    4     sm.gpcs, two in a column
 *   partitions  0  2  4  6       of the memory, xbar.columns columns of two, the L2's slices divided evenly
 *               1  3  5  7
 *   GPCs         1    3    5
 *
 * A round trip takes xbar.column_cycles for each column of partitions between the GPC and the slice's
 * partition, and up to xbar.place_cycles by the places of the SM in its GPC and of the slice in its partition,
 * half of them each. That latency grows with the distance, by the SM's place and the slice's place whichever
 * the other one is, and the V100's plan: Z. Jin et al., Uncovering Real GPU NoC Characteristics, MICRO 2024,
 * section III and figures 3 to 6.
 */
#ifndef WW_CORE_FLOORPLAN_H
#define WW_CORE_FLOORPLAN_H

#include "../../base/arena.h"
#include "../../config/gpu.h"
#include <stdbool.h>
#include <stdint.h>

/* L2 cycles from a request's arrival at its slice to the tags, as if all ways in front of it were equally long:
 * l2.latency and what the way of the two differs from the mean way, whole cycles, at least 0; by
 * sm * l2.slices + slice. *latency is NULL, and all take l2.latency, without xbar.columns. The table is the
 * arena's. False: out of memory. */
bool ww_floorplan_latencies(const struct ww_gpu_spec *gpu, struct ww_arena *arena, const uint16_t **latency);

#endif
