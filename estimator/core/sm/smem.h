/* smem.h: how many passes a shared-memory access takes, and what its conflicts cost.
 *
 * A word's bank is (address / map bytes) mod banks. Lanes of one pass may read different banks, or the same row
 * of a bank, whose width may be more than the map's (Kepler's 4-byte mode: words i and i + 32 of an aligned 64
 * share a row). 64- and 128-bit accesses go by half and quarter warps on banks of 4 bytes.
 *
 * Compute capability 1.x: each half-warp goes by itself, and a step serves one word that is broadcast to all
 * lanes that want it, and one lane of every other bank. The manual leaves open which word that is; here it is
 * the one that most lanes want.
 *
 * Compute capability 7.0 to 7.5: what a load returns of a pass is packed for two lanes of one address, if that
 * holds of all pairs of lanes that differ in bit 0 of their number, or of all that differ in bit 1. Such a load
 * of 64 or 128 bits goes by whole or half warps (NVIDIA developer forum, topic 77228, answer of a member of its
 * staff).
 *
 * Sources: NVIDIA, CUDA C Programming Guide, shared memory of compute capabilities 1.x to 7.x; X. Mei, X. Chu,
 * "Dissecting GPU Memory Hierarchy through Microbenchmarking", section 6 (modes, latency by degree). */
#ifndef WW_CORE_SMEM_H
#define WW_CORE_SMEM_H

#include "../../../traces/trace.h"
#include "../../config/gpu.h"

#define WW_SMEM_DEGREES 32 /* of 4-byte accesses of a warp */

struct ww_smem_banks {
    uint32_t banks, bank_shift; /* log2 of a bank's width in bytes */
    uint32_t map_shift;         /* log2 of consecutive bytes in one bank */
    uint32_t row_shift;         /* log2 of the bytes of a row over all banks */
    uint32_t place_mask;        /* bits of an access's base that its passes depend on */
    uint32_t half_warp;
    bool pair_loads;
    uint32_t close; /* words of a list whose span and a lane's width add up to this at most share no bank */
    uint32_t latency[WW_SMEM_DEGREES]; /* cycles that so many extra passes add to the latency */
    uint32_t slope;                    /* and each beyond */
};

/* Passes of an access. Those without conflicts are one for each part that is asked for at a time. */
struct ww_smem_passes {
    uint32_t parts, conflicts; /* passes = parts + conflicts; parts is 1 or more */
};

void ww_smem_init(struct ww_smem_banks *s, const struct ww_gpu_spec *gpu);
/* A list whose addresses are known to lie so close together that no two words of it share a bank. */
static inline bool ww_smem_close(const struct ww_smem_banks *s, const struct ww_access *a, uint32_t width) {
    return a->list != WW_AFFINE && a->stride > 0 && (uint32_t)a->stride + width <= s->close;
}
/* A whole warp is asked for at a time. */
static inline bool ww_smem_one_part(const struct ww_smem_banks *s, uint32_t width) {
    return width <= 1u << s->bank_shift && !s->half_warp;
}
/* And lanes that lie side by side share no bank, wherever they begin: one word more where words are cut. */
static inline bool ww_smem_side_by_side(const struct ww_smem_banks *s, uint32_t width) {
    uint32_t word = 1u << s->bank_shift, cut = width == word ? 0 : word;
    return ww_smem_one_part(s, width) && s->map_shift == s->bank_shift && width * 32 + cut <= word * s->banks;
}
/* Lanes whose words lie close together, or that all access one word, or words side by side: a pass without
 * conflicts, found out soon. */
static inline bool ww_smem_one_pass(const struct ww_smem_banks *s, const struct ww_access *a, uint32_t width) {
    if (!ww_smem_one_part(s, width)) return false;
    if (a->list != WW_AFFINE) return ww_smem_close(s, a, width);
    if (a->base & (width - 1)) return false;
    return a->stride == 0 || (a->stride == (int32_t)width && ww_smem_side_by_side(s, width));
}
/* mask is not 0. load: of a load from shared memory. */
struct ww_smem_passes ww_smem_passes(const struct ww_smem_banks *s, const struct ww_access *access,
                                     const uint64_t *pool, uint32_t mask, uint32_t width, bool load);
/* The same for a pipeline that serves `lanes` lanes at a time (at least 4): degree[i] is the passes of part i,
 * 0 where none of its lanes is in the mask, which may be 0. Returns how many parts have lanes. */
uint32_t ww_smem_degrees(const struct ww_smem_banks *s, const struct ww_access *access, const uint64_t *pool,
                         uint32_t mask, uint32_t width, uint32_t lanes, uint8_t degree[static 8]);
/* SM cycles that conflicts add to the latency of an access. */
static inline uint32_t ww_smem_latency(const struct ww_smem_banks *s, uint32_t conflicts) {
    if (conflicts < WW_SMEM_DEGREES) return s->latency[conflicts];
    return s->latency[WW_SMEM_DEGREES - 1] + (conflicts - WW_SMEM_DEGREES + 1) * s->slope;
}
/* The most lanes that give one address: updates of an atomic that follow one another. */
uint32_t ww_smem_same_address(const struct ww_access *access, const uint64_t *pool, uint32_t mask);

#endif
