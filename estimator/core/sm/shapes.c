/* What is found out about the addresses of a warp, kept for accesses that lie alike. */
#include "shapes.h"

#include <string.h>

/* What an entry holds. */
enum use { LINES, LINES_OF_READ, PASSES, PASSES_OF_LOAD };

/* Lanes are less than this away from the first one. */
#define NEAR ((uint64_t)1 << 22)
#define MOST_STRIDE 65536

/* True if the access is of a kind that is kept. */
static inline bool is_kept(const struct ww_access *a, uint32_t mask) {
    if (a->list == WW_AFFINE) return a->stride > -MOST_STRIDE && a->stride < MOST_STRIDE;
    return (a->list & WW_LIST_16) && mask == UINT32_MAX;
}

/* `low`: of the base, what decides; less than 4096. */
static inline uint64_t key_of(const struct ww_access *a, uint32_t mask, uint32_t width, enum use use,
                              uint32_t line_shift, uint64_t low) {
    uint64_t how =
        width | (uint64_t)use << 5 | (uint64_t)line_shift << 7 | (uint64_t)(a->list == WW_AFFINE) << 11;
    return mask | (low | how << 12) << 32;
}

static inline bool same_list(const uint64_t *a, const uint64_t *b) {
    uint64_t other = 0;
    for (uint32_t i = 0; i < 8; i++) other |= a[i] ^ b[i];
    return !other;
}

/* The entry for the access; *known: it is the access's, else it has become so, and is to be filled. */
static inline struct ww_shape *find(struct ww_shapes *s, const struct ww_access *a, const uint64_t *pool,
                                    uint64_t key, bool *known) {
    const uint64_t stride = (uint64_t)(int64_t)a->stride, mix = 0x9e3779b97f4a7c15u;
    bool affine = a->list == WW_AFFINE;
    const uint64_t *list = affine ? &stride : pool + (a->list & WW_LIST_PLACE);
    uint64_t hash = affine ? stride : list[0] ^ list[3] << 1 ^ list[7] << 2;
    struct ww_shape *e = &s->shape[(((hash * mix) ^ key) * mix) >> 58];
    *known = e->key == key && (affine ? e->list[0] == stride : same_list(e->list, list));
    if (*known) return e;
    e->key = key;
    memcpy(e->list, list, affine ? sizeof *list : sizeof e->list);
    return e;
}

/* Keeps the lines of the coalescer, if they are not too many. */
static void keep_lines(struct ww_shape *e, const struct ww_coalescer *c, uint64_t first) {
    e->count = c->count;
    if (c->count > WW_SHAPE_LINES) e->key = 0;
    for (uint32_t i = 0; i < c->count && e->key; i++) {
        const struct ww_line_request *r = &c->request[i];
        e->line[i] = (struct ww_shape_line){(int32_t)(r->key - first), r->bytes, (uint8_t)r->chunks};
    }
}

static inline void coalesce(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                            uint32_t mask, uint32_t width, bool read) {
    (read ? ww_coalesce_read : ww_coalesce)(c, access, pool, mask, width);
}

/* The addresses pass the end of the address space, or may do so. */
static inline bool wraps(const struct ww_access *access) {
    return access->base - NEAR >= UINT64_MAX - 2 * NEAR;
}

void ww_shapes_coalesce(struct ww_shapes *s, struct ww_coalescer *c, const struct ww_access *access,
                        const uint64_t *pool, uint32_t mask, uint32_t width, bool read) {
    bool range = access->list == WW_AFFINE && ww_coalesce_is_range(access, mask, width);
    if (range) {
        ww_coalesce(c, access, pool, mask, width);
        return;
    }
    if (wraps(access) || !is_kept(access, mask)) {
        coalesce(c, access, pool, mask, width, read);
        return;
    }
    uint64_t first = access->base >> c->line_shift, low = access->base & (c->line_bytes - 1);
    enum use use = read ? LINES_OF_READ : LINES;
    bool known;
    struct ww_shape *e = find(s, access, pool, key_of(access, mask, width, use, c->line_shift, low), &known);
    if (!known) {
        coalesce(c, access, pool, mask, width, read);
        keep_lines(e, c, first);
        return;
    }
    c->count = e->count;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct ww_shape_line *l = &e->line[i];
        c->request[i] = (struct ww_line_request){first + (uint64_t)(int64_t)l->line, l->chunks, l->bytes, 0};
    }
}

/* Some addresses of an access that may be kept lie below 0, at the end of the address space. */
static inline bool passes_zero(const struct ww_access *access, const uint64_t *pool) {
    int64_t least = 0;
    if (access->base > INT64_MAX) return true;
    if (access->list == WW_AFFINE) {
        if (access->stride < 0) least = 31 * (int64_t)access->stride;
    } else if (access->base <= INT16_MAX) {
        const int16_t *list = (const int16_t *)(const void *)(pool + (access->list & WW_LIST_PLACE));
        int16_t low = 0;
        for (uint32_t i = 0; i < 32; i++) low = list[i] < low ? list[i] : low;
        least = low;
    }
    return (int64_t)access->base + least < 0;
}

struct ww_smem_passes ww_shapes_passes(struct ww_shapes *s, const struct ww_smem_banks *banks,
                                       const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                                       uint32_t width, bool load) {
    uint64_t low = access->base & banks->place_mask;
    if (!is_kept(access, mask) || passes_zero(access, pool))
        return ww_smem_passes(banks, access, pool, mask, width, load);
    bool known;
    enum use use = load ? PASSES_OF_LOAD : PASSES;
    struct ww_shape *e = find(s, access, pool, key_of(access, mask, width, use, 0, low), &known);
    if (!known) e->passes = ww_smem_passes(banks, access, pool, mask, width, load);
    return e->passes;
}
