#include "smem.h"

#include "../base/bits.h"
#include "coalesce.h"
#include <stdbool.h>
#include <string.h>

void ww_smem_init(struct ww_smem_banks *s, const struct ww_gpu_spec *gpu) {
    s->banks = gpu->shared_banks;
    s->bank_shift = (uint32_t)__builtin_ctz(gpu->shared_bank_bytes);
    s->half_warp = gpu->shared_half_warp;
}

/* Words that one phase has met, each once, and how many of them each bank has. */
struct phase {
    uint64_t word[128]; /* hash table; word + 1, 0: empty */
    uint8_t in_bank[64];
    uint32_t most;
};

static void meet(struct phase *p, uint64_t word, uint32_t bank) {
    uint32_t i = (uint32_t)((word * 0x9e3779b97f4a7c15u) >> 57);
    for (; p->word[i]; i = (i + 1) & 127)
        if (p->word[i] == word + 1) return;
    p->word[i] = word + 1;
    if (++p->in_bank[bank] > p->most) p->most = p->in_bank[bank];
}

/* Distinct words of the bank that has most of them. */
static uint32_t fullest_bank(const struct ww_smem_banks *s, const uint64_t *address, uint32_t count,
                             uint32_t width) {
    struct phase p;
    memset(&p, 0, sizeof p);
    for (uint32_t k = 0; k < count; k++)
        for (uint64_t w = address[k] >> s->bank_shift; w <= (address[k] + width - 1) >> s->bank_shift; w++)
            meet(&p, w, (uint32_t)w & (s->banks - 1));
    return p.most;
}

/* Bits in which the addresses of a whole warp differ from the first. */
static uint64_t differences(const uint64_t address[static 32]) {
    uint64_t bits = 0, first = address[0];
    for (uint32_t k = 0; k < 32; k += 4)
        bits |= (address[k] ^ first) | (address[k + 1] ^ first) | (address[k + 2] ^ first) |
                (address[k + 3] ^ first);
    return bits;
}

/* True if no bank is asked for two different words: the usual case, found out without a table of words.
 * `address`: of the lanes of a phase. */
static bool free_of_conflicts(const struct ww_smem_banks *s, const uint64_t *address, uint32_t count,
                              uint32_t width) {
    uint64_t word[64], seen = 0, before = UINT64_MAX, low = address[0], high = address[0];
    if (count == 32) { /* aligned, in one row of the banks: words in different banks, or the same */
        uint64_t bits = differences(address);
        if (bits >> s->bank_shift < s->banks && !((address[0] | bits) & (width - 1))) return true;
    }
    for (uint32_t k = 1; k < count; k++) {
        if (address[k] < low) low = address[k];
        if (address[k] > high) high = address[k];
    }
    /* As many words in a row as there are banks lie in different ones. */
    if (((high + width - 1) >> s->bank_shift) - (low >> s->bank_shift) < s->banks) return true;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t w = address[k] >> s->bank_shift, last = (address[k] + width - 1) >> s->bank_shift;
        if (w == before && last == before) continue;
        before = last;
        for (; w <= last; w++) {
            uint32_t bank = (uint32_t)w & (s->banks - 1);
            if (!((seen >> bank) & 1))
                word[bank] = w;
            else if (word[bank] != w)
                return false;
            seen |= 1ull << bank;
        }
    }
    return true;
}

/* `address`: of the active lanes, in order. */
static uint32_t count_passes(const struct ww_smem_banks *s, const uint64_t *address, uint32_t mask,
                             uint32_t width, uint32_t lanes) {
    uint32_t rank = 0, passes = 0;
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t part = mask & (uint32_t)(((1ull << lanes) - 1) << first);
        uint32_t count = ww_bits(part);
        if (!part) continue;
        if (free_of_conflicts(s, address + rank, count, width))
            passes++;
        else
            passes += fullest_bank(s, address + rank, count, width);
        rank += count;
    }
    return passes;
}

/* Passes of a full warp whose lanes' words lie `step` (> 0) apart: lanes share a bank where their distance is
 * a multiple of banks / gcd(step, banks); banks is a power of two. */
static uint32_t strided_passes(const struct ww_smem_banks *s, uint64_t step) {
    uint64_t gcd = step & (0 - step);
    uint32_t period = gcd >= s->banks ? 1 : s->banks / (uint32_t)gcd;
    return period >= 32 ? 1 : 32 / period;
}

uint32_t ww_smem_passes(const struct ww_smem_banks *s, const struct ww_access *a, const uint64_t *pool,
                        uint32_t mask, uint32_t width) {
    uint32_t word = 1u << s->bank_shift, phases = width > word ? width >> s->bank_shift : 1;
    if (s->half_warp && phases < 2) phases = 2;
    uint32_t lanes = phases >= 32 ? 1 : 32 / phases;
    if (a->list == WW_AFFINE && lanes == 32 && !(a->base & (width - 1))) {
        uint64_t step = a->stride < 0 ? (uint64_t)(-(int64_t)a->stride) : (uint64_t)a->stride;
        if (step == 0) return 1;
        /* Side by side and in no more words than there are banks (one more where words are cut). */
        uint64_t cut = width == word ? 0 : word;
        if (step == width && step * 32 + cut <= (uint64_t)word * s->banks) return 1;
        if (mask == UINT32_MAX && step >= word && !(step & (word - 1)) && width <= word)
            return strided_passes(s, step >> s->bank_shift);
    }
    if (a->list != WW_AFFINE) return count_passes(s, pool + a->list, mask, width, lanes);
    uint64_t address[32];
    uint32_t count = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        address[count++] = ww_lane_address(a, NULL, (uint32_t)__builtin_ctz(m), 0);
    return count_passes(s, address, mask, width, lanes);
}

uint32_t ww_smem_same_address(const struct ww_access *a, const uint64_t *pool, uint32_t mask) {
    if (a->list == WW_AFFINE) return a->stride == 0 ? ww_bits(mask) : 1;
    uint32_t n = ww_bits(mask), most = 1;
    uint64_t key[64] = {0};
    uint8_t count[64] = {0};
    for (uint32_t k = 0; k < n; k++) {
        uint64_t address = pool[a->list + k];
        uint32_t i = (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 58);
        while (count[i] && key[i] != address) i = (i + 1) & 63;
        key[i] = address;
        if (++count[i] > most) most = count[i];
    }
    return most;
}
