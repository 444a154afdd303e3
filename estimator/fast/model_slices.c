/* model_slices.c: the load of each L2 slice. */
#include "../core/memory/addrmap.h"
#include "model_part.h"

/* Updates of the slice that gets most. Pieces that are not known by address are spread over all slices. */
static double most_updates(const struct ww_kernel_profile *p, const struct ww_gpu_spec *gpu) {
    struct ww_addrmap map;
    uint32_t slice[WW_HOT_PIECES];
    double of_slice[WW_HOT_PIECES] = {0}, most = 0, known = 0;
    ww_addrmap_init(&map, gpu);
    for (unsigned i = 0; i < WW_HOT_PIECES && p->hot_updates[i]; i++) {
        unsigned first = 0;
        slice[i] = ww_addrmap_slice(&map, p->hot_piece[i] << 8).slice;
        while (slice[first] != slice[i]) first++;
        of_slice[first] += (double)p->hot_updates[i];
        known += (double)p->hot_updates[i];
        if (of_slice[first] > most) most = of_slice[first];
    }
    return most + ((double)p->atomic_updates - known) / gpu->l2_slices;
}

double ww_model_slices(const struct ww_kernel_profile *p, const struct ww_gpu_spec *gpu,
                       const struct ww_model_traffic *traffic) {
    double sectors = traffic->l2_reads + traffic->l2_writes - (double)p->atomic_sectors;
    double cycles = sectors * 32 / gpu->l2_bytes_per_cycle / gpu->l2_slices;
    return p->atomic_updates ? cycles + most_updates(p, gpu) * gpu->l2_atomic_cycles : cycles;
}
