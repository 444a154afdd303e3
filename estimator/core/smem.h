/* smem.h: how many passes a shared-memory access takes.
 *
 * Lanes of one pass may read different banks, or the same word of a bank (broadcast). 64- and 128-bit
 * accesses go by half and quarter warps (on banks of 4 bytes), as NVIDIA documents for compute capability
 * 2.x and later. */
#ifndef WW_CORE_SMEM_H
#define WW_CORE_SMEM_H

#include "../../traces/trace.h"
#include "../config/gpu.h"

struct ww_smem_banks {
    uint32_t banks, bank_shift; /* log2 of bytes of a bank's word */
    uint32_t half_warp;
};

void ww_smem_init(struct ww_smem_banks *s, const struct ww_gpu_spec *gpu);
/* Passes of an access (1 or more). mask is not 0. */
uint32_t ww_smem_passes(const struct ww_smem_banks *s, const struct ww_access *access, const uint64_t *pool,
                        uint32_t mask, uint32_t width);
/* The most lanes that give one address: updates of an atomic that follow one another. */
uint32_t ww_smem_same_address(const struct ww_access *access, const uint64_t *pool, uint32_t mask);

#endif
