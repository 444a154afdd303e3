/* How many passes a shared-memory access takes, and what its conflicts cost. */
#include "smem.h"

#include "../../base/bits.h"
#include "coalesce.h"
#include <stdbool.h>
#include <string.h>

#define WIDEST 16u /* bytes that a lane accesses */

/* Cycles by extra passes: through the measured degrees 2, 4, 8, 16, 32, straight between them. */
static void fill_latency(struct ww_smem_banks *s, const struct ww_gpu_spec *g) {
    const uint32_t measured[] = {0,
                                 g->shared_conflict_cycles_2,
                                 g->shared_conflict_cycles_4,
                                 g->shared_conflict_cycles_8,
                                 g->shared_conflict_cycles_16,
                                 g->shared_conflict_cycles_32};
    s->slope = g->shared_conflict_cycles;
    for (uint32_t n = 0; n < WW_SMEM_DEGREES; n++) s->latency[n] = n * s->slope;
    if (!g->shared_conflict_cycles_2) return;
    for (uint32_t k = 0; k < 5; k++) {
        uint32_t low = 1u << k, from = measured[k], rise = measured[k + 1] - from;
        for (uint32_t i = 1; i <= low; i++) s->latency[low + i - 1] = from + (rise * i + low / 2) / low;
    }
    s->slope = (measured[5] - measured[4]) / 16;
}

void ww_smem_init(struct ww_smem_banks *s, const struct ww_gpu_spec *gpu) {
    *s = (struct ww_smem_banks){
        .banks = gpu->shared_banks, .half_warp = gpu->shared_half_warp, .pair_loads = gpu->shared_pair_loads};
    s->bank_shift = (uint32_t)__builtin_ctz(gpu->shared_bank_bytes);
    s->map_shift = gpu->shared_map_bytes ? (uint32_t)__builtin_ctz(gpu->shared_map_bytes) : s->bank_shift;
    s->close = s->banks > 1 ? (s->banks - 1) << s->map_shift : 0;
    s->row_shift = s->bank_shift + (uint32_t)__builtin_ctz(s->banks);
    /* Where it lies in a row, and how it is aligned to its width, which may be more than a row. */
    s->place_mask = ((1u << s->row_shift) - 1) | (WIDEST - 1);
    fill_latency(s, gpu);
}

static uint32_t bank_of(const struct ww_smem_banks *s, uint64_t address) {
    return (uint32_t)(address >> s->map_shift) & (s->banks - 1);
}

/* Bits in which addresses differ from the first. The loop has no branch, so that it becomes one over vectors.
 */
static inline uint64_t differences(const uint64_t *address, uint32_t count) {
    uint64_t bits = 0, first = address[0];
    for (uint32_t k = 1; k < count; k++) bits |= address[k] ^ first;
    return bits;
}

#define WORDS_MOST 160u /* of a part: five of each lane where they are cut */
#define BANKS_MOST 64u

/* Rows of banks that one part has met, each once: in a hash table that is never full. */
struct met {
    uint64_t row[WORDS_MOST + 1]; /* with its bank */
    uint8_t place[256];           /* number of the row, 0: free */
    uint8_t in_bank[BANKS_MOST];
    uint32_t count;
};

static inline void meet(struct met *p, uint64_t row, uint32_t bank) {
    uint64_t key = row * BANKS_MOST + bank;
    uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 56);
    for (; p->place[i]; i = (i + 1) & 255)
        if (p->row[p->place[i]] == key) return;
    p->row[++p->count] = key;
    p->place[i] = (uint8_t)p->count;
    p->in_bank[bank]++;
}

/* A loop without branches over bytes, as above. */
static inline uint32_t most_of(const uint8_t in_bank[static BANKS_MOST]) {
    uint8_t most = 0;
    for (uint32_t i = 0; i < BANKS_MOST; i++) most = in_bank[i] > most ? in_bank[i] : most;
    return most;
}

/* Distinct rows of the bank that has most of them. `address`: of the lanes of a part. */
static uint32_t fullest_bank(const struct ww_smem_banks *s, const uint64_t *address, uint32_t count,
                             uint32_t width) {
    struct met p;
    uint64_t bits = differences(address, count);
    uint32_t map = s->map_shift, to_row = s->row_shift - map, mask = s->banks - 1;
    bool aligned = !((address[0] | bits) & (width - 1));
    bool fits = width <= 1u << s->row_shift;                  /* one lane's bytes, in a row */
    if (aligned && fits && !(bits >> s->row_shift)) return 1; /* each word lies in its place of one row */
    memset(p.place, 0, sizeof p.place);
    memset(p.in_bank, 0, sizeof p.in_bank);
    p.count = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t w = address[k] >> map;
        meet(&p, w >> to_row, (uint32_t)w & mask);
    }
    for (uint32_t k = 0; k < count && !(aligned && width <= 1u << map);
         k++) { /* the rest of those that are cut */
        uint64_t w = address[k] >> map, last = (address[k] + width - 1) >> map;
        while (++w <= last) meet(&p, w >> to_row, (uint32_t)w & mask);
    }
    return most_of(p.in_bank);
}

/* Steps of a half-warp of compute capability 1.x: each serves the word that most lanes access, and the first
 * lane of every other bank. */
static uint32_t half_warp_steps(const struct ww_smem_banks *s, const uint64_t *address, uint32_t count,
                                uint32_t width) {
    uint64_t word[64];
    uint32_t items = 0, steps = 0;
    for (uint32_t k = 0; k < count; k++)
        for (uint64_t w = address[k] >> 2; w <= (address[k] + width - 1) >> 2 && items < 64; w++)
            word[items++] = w;
    for (uint64_t left = items == 64 ? UINT64_MAX : (1ull << items) - 1; left; steps++) {
        uint64_t best = 0, banks = 0, served = 0;
        for (uint64_t m = left; m; m &= m - 1) {
            uint64_t same = 0;
            for (uint64_t n = m; n; n &= n - 1)
                if (word[__builtin_ctzll(n)] == word[__builtin_ctzll(m)]) same |= n & (0 - n);
            if (__builtin_popcountll(same) > __builtin_popcountll(best)) best = same;
        }
        banks = 1ull << bank_of(s, word[__builtin_ctzll(best)] << 2);
        served = best;
        for (uint64_t m = left & ~best; m; m &= m - 1) {
            uint64_t bank = 1ull << bank_of(s, word[__builtin_ctzll(m)] << 2);
            if (!(banks & bank)) served |= m & (0 - m);
            banks |= bank;
        }
        left &= ~served;
    }
    return steps;
}

static void count_half(const struct ww_smem_banks *s, const uint64_t *address, uint32_t count, uint32_t width,
                       struct ww_smem_passes *p) {
    uint32_t steps = half_warp_steps(s, address, count, width), least = width > 4 ? width / 4 : 1;
    p->parts += steps < least ? steps : least;
    p->conflicts += steps < least ? 0 : steps - least;
}

/* `address`: of the active lanes, in order. */
static struct ww_smem_passes count_passes(const struct ww_smem_banks *s, const uint64_t *address, uint32_t mask,
                                          uint32_t width, uint32_t lanes) {
    struct ww_smem_passes p = {0, 0};
    uint32_t rank = 0;
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t part = mask & (uint32_t)(((1ull << lanes) - 1) << first);
        uint32_t count = ww_bits(part);
        if (!part) continue;
        if (s->half_warp) {
            count_half(s, address + rank, count, width, &p);
        } else {
            p.parts++;
            p.conflicts += fullest_bank(s, address + rank, count, width) - 1;
        }
        rank += count;
    }
    return p;
}

/* Conflicts of a full warp whose lanes' words lie `step` (> 0) apart: lanes share a bank where their distance
 * is a multiple of banks / gcd(step, banks); banks is a power of two. */
static uint32_t strided_conflicts(const struct ww_smem_banks *s, uint64_t step) {
    uint64_t gcd = step & (0 - step);
    uint32_t period = gcd >= s->banks ? 1 : s->banks / (uint32_t)gcd;
    return period >= 32 ? 0 : 32 / period - 1;
}

/* Affine accesses of a whole warp on banks without modes that need no list of addresses. */
static bool affine_passes(const struct ww_smem_banks *s, const struct ww_access *a, uint32_t mask,
                          uint32_t width, struct ww_smem_passes *p) {
    uint32_t word = 1u << s->bank_shift;
    uint64_t step = a->stride < 0 ? (uint64_t)(-(int64_t)a->stride) : (uint64_t)a->stride;
    *p = (struct ww_smem_passes){1, 0};
    if (step == 0) return true;
    if (s->map_shift != s->bank_shift) return false;
    /* Side by side and in no more words than there are banks (one more where words are cut). */
    uint64_t cut = width == word ? 0 : word;
    if (step == width && step * 32 + cut <= (uint64_t)word * s->banks) return true;
    if (mask != UINT32_MAX || step < word || (step & (word - 1)) || width > word) return false;
    p->conflicts = strided_conflicts(s, step >> s->bank_shift);
    return true;
}

/* True if active lanes whose numbers differ in the one bit of `apart` have one address, whatever pair they are.
 * `address`: of the active lanes, in order. */
static bool paired(const uint64_t *address, uint32_t mask, uint32_t apart) {
    uint64_t of_lane[32];
    uint32_t low = mask & (mask >> apart) & (apart == 1 ? 0x55555555u : 0x33333333u), n = 0;
    for (uint32_t m = mask; m; m &= m - 1) of_lane[__builtin_ctz(m)] = address[n++];
    for (; low; low &= low - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(low);
        if (of_lane[lane] != of_lane[lane + apart]) return false;
    }
    return true;
}

/* Lanes that a load of more than a bank's width is served at a time. */
static uint32_t lanes_of_load(const struct ww_smem_banks *s, const uint64_t *address, uint32_t mask,
                              uint32_t lanes) {
    bool packed = s->pair_loads && lanes < 32 && (paired(address, mask, 1) || paired(address, mask, 2));
    return packed ? lanes * 2 : lanes;
}

struct ww_smem_passes ww_smem_passes(const struct ww_smem_banks *s, const struct ww_access *a,
                                     const uint64_t *pool, uint32_t mask, uint32_t width, bool load) {
    struct ww_smem_passes p;
    uint32_t word = 1u << s->bank_shift, parts = width > word ? width >> s->bank_shift : 1;
    if (s->half_warp) parts = 2;
    uint32_t lanes = parts >= 32 ? 1 : 32 / parts;
    if (a->list == WW_AFFINE && lanes == 32 && !(a->base & (width - 1)) && affine_passes(s, a, mask, width, &p))
        return p;
    if (lanes == 32 && ww_smem_close(s, a, width)) return (struct ww_smem_passes){1, 0};
    uint64_t room[32];
    const uint64_t *address = ww_lane_addresses(a, pool, mask, room);
    return count_passes(s, address, mask, width, load ? lanes_of_load(s, address, mask, lanes) : lanes);
}

uint32_t ww_smem_degrees(const struct ww_smem_banks *s, const struct ww_access *a, const uint64_t *pool,
                         uint32_t mask, uint32_t width, uint32_t lanes, uint8_t degree[static 8]) {
    uint64_t room[32];
    const uint64_t *address = ww_lane_addresses(a, pool, mask, room);
    uint32_t parts = 0;
    for (uint32_t first = 0, i = 0; first < 32; first += lanes, i++) {
        uint32_t part = mask & (uint32_t)(((1ull << lanes) - 1) << first), count = ww_bits(part);
        degree[i] = 0;
        if (!part) continue;
        degree[i] = (uint8_t)fullest_bank(s, address, count, width);
        address += count;
        parts++;
    }
    return parts;
}

uint32_t ww_smem_same_address(const struct ww_access *a, const uint64_t *pool, uint32_t mask) {
    if (a->list == WW_AFFINE) return a->stride == 0 ? ww_bits(mask) : 1;
    uint32_t n = ww_bits(mask), most = 1;
    uint64_t key[64] = {0}, room[32];
    const uint64_t *of = ww_list_addresses(a, pool, n, room);
    uint8_t count[64] = {0};
    for (uint32_t k = 0; k < n; k++) {
        uint64_t address = of[k];
        uint32_t i = (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 58);
        while (count[i] && key[i] != address) i = (i + 1) & 63;
        key[i] = address;
        if (++count[i] > most) most = count[i];
    }
    return most;
}
