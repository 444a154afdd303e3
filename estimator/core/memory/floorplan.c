/* Ways between SMs and slices by their places on the chip. */
#include "floorplan.h"
#include "../../config/gpc.h"
#include <math.h>

#define ROWS 2u /* of GPCs, and of partitions: above and below the middle of the chip */

/* Where column `i` of `columns` is, in columns of partitions from the left: they are spread over the chip's
 * width. */
static double column(uint32_t i, uint32_t columns, uint32_t width) {
    return columns > 1 ? (double)i * (width - 1) / (columns - 1) : (width - 1) / 2.0;
}

/* From 0 for the first of n to 1 for the last. */
static double place(uint32_t i, uint32_t n) {
    return n > 1 ? (double)i / (n - 1) : 0.5;
}

/* Round trip, L2 cycles; only differences count. */
static double way(const struct ww_gpu_spec *g, uint32_t sm, uint32_t slice) {
    uint32_t gpc = ww_gpc_of(g, sm), first = ww_gpc_first(g, gpc), sms = ww_gpc_first(g, gpc + 1) - first;
    uint32_t partition = (uint32_t)((uint64_t)slice * ROWS * g->xbar_columns / g->l2_slices);
    uint32_t slices = g->l2_slices / (ROWS * g->xbar_columns);
    double apart = fabs(column(gpc / ROWS, (g->sm_gpcs + ROWS - 1) / ROWS, g->xbar_columns) -
                        column(partition / ROWS, g->xbar_columns, g->xbar_columns));
    /* The first SM of many, which runs what has one CTA, is in the middle: with one CTA the V100's mean was
     * measured as well. */
    double places = place((sm - first + sms / 2) % sms, sms) + place(slice - partition * slices, slices);
    return g->xbar_column_cycles * apart + g->xbar_place_cycles * places / 2;
}

bool ww_floorplan_latencies(const struct ww_gpu_spec *gpu, struct ww_arena *arena, const uint16_t **latency) {
    *latency = NULL;
    if (!gpu->xbar_columns) return true;
    size_t slices = gpu->l2_slices, pairs = gpu->sm_count * slices;
    uint16_t *table = ww_arena_array(arena, pairs, sizeof *table);
    if (!table) return false;
    double sum = 0;
    for (uint32_t sm = 0; sm < gpu->sm_count; sm++)
        for (uint32_t slice = 0; slice < slices; slice++) sum += way(gpu, sm, slice);
    double base = gpu->l2_latency - sum / (double)pairs;
    for (uint32_t sm = 0; sm < gpu->sm_count; sm++)
        for (uint32_t slice = 0; slice < slices; slice++) {
            double cycles = base + way(gpu, sm, slice);
            table[sm * slices + slice] = (uint16_t)(cycles > 0 ? cycles + 0.5 : 0);
        }
    *latency = table;
    return true;
}
