/* floorplan.h: how the way between an SM and a slice of the L2 differs from the mean way.
 *
 *   GPCs         0    2    4     sm.gpcs, two in a column
 *   partitions  0  2  4  6       of the memory, xbar.columns columns of two, the L2's slices divided evenly
 *               1  3  5  7
 *   GPCs         1    3    5
 *
 * A round trip takes xbar.column_cycles for each column of partitions between the GPC and the slice's
 * partition, and up to xbar.place_cycles by the places of the SM in its GPC and of the slice in its partition,
 * half of them each. The plan is the V100's. An SM's place adds the same to its ways to all slices, and a
 * slice's place to those from all SMs. Source: Z. Jin et al., Uncovering Real GPU NoC Characteristics, MICRO
 * 2024, section III and figures 3 to 6.
 */
#ifndef WW_CORE_FLOORPLAN_H
#define WW_CORE_FLOORPLAN_H

#include "../../base/arena.h"
#include "../../config/gpu.h"
#include <stdbool.h>
#include <stdint.h>

/* A table by sm * l2.slices + slice, which the arena owns: l2.latency plus what the way of the two takes more
 * than the mean way, or less; whole L2 cycles, at least 0. The crossbar takes xbar.latency whatever the way is.
 * *latency is NULL if xbar.columns is 0: all take l2.latency. False: out of memory. */
bool ww_floorplan_latencies(const struct ww_gpu_spec *gpu, struct ww_arena *arena, const uint16_t **latency);

#endif
