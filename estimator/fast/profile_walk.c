/* A warp's stream as accesses to lines: what the profiler's passes share. */
#include "profile_walk.h"

enum ww_walk_kind ww_walk_kind(const struct ww_inst *inst) {
    bool memory =
        inst->space == WW_SPACE_GLOBAL || inst->space == WW_SPACE_LOCAL || inst->space == WW_SPACE_TEX;
    if (!memory || !(inst->flags & WW_INST_ACCESS)) return WW_WALK_NONE;
    switch (inst->op) {
    case WW_OP_STORE:
        return WW_WALK_STORE;
    case WW_OP_ATOMIC:
    case WW_OP_REDUCE:
        return WW_WALK_ATOMIC;
    case WW_OP_TEXTURE:
        return inst->dst_count ? WW_WALK_CACHED : WW_WALK_STORE;
    case WW_OP_LOAD:
    case WW_OP_ASYNC_COPY:
        break;
    default:
        return WW_WALK_NONE;
    }
    if (inst->flags & WW_INST_BYPASS_L1) return WW_WALK_BYPASS;
    bool cached = inst->space != WW_SPACE_GLOBAL || (inst->flags & WW_INST_READ_ONLY);
    return cached ? WW_WALK_CACHED : WW_WALK_LOAD;
}

uint64_t ww_walk_address(const struct ww_warp_stream *w, const struct ww_access *a, uint32_t lane,
                         uint32_t rank) {
    return a->list == WW_AFFINE ? a->base + (uint64_t)((int64_t)a->stride * lane) : ww_listed(a, w->pool, rank);
}

static uint32_t sector_bits(uint64_t from, uint64_t to) {
    uint32_t a = (uint32_t)(from >> 5) & 3, b = (uint32_t)(to >> 5) & 3;
    return ((2u << b) - 1) & ~((1u << a) - 1);
}

static void add_part(struct ww_walk_line *out, unsigned *n, uint64_t line, uint32_t sectors) {
    for (unsigned i = *n; i-- > 0;)
        if (out[i].line == line) {
            out[i].sectors |= sectors;
            return;
        }
    if (*n < WW_WALK_LINES) out[(*n)++] = (struct ww_walk_line){line, sectors};
}

static void add_bytes(struct ww_walk_line *out, unsigned *n, uint64_t from, uint32_t bytes) {
    uint64_t to = from + (bytes ? bytes - 1 : 0);
    if (from >> 7 == to >> 7) {
        add_part(out, n, from >> 7, sector_bits(from, to));
        return;
    }
    add_part(out, n, from >> 7, sector_bits(from, 127));
    add_part(out, n, to >> 7, sector_bits(0, to));
}

/* A word of all lanes' frames is one line. */
static void add_local(struct ww_walk_line *out, unsigned *n, uint32_t id, uint32_t lane, uint64_t offset,
                      uint32_t bytes) {
    for (uint64_t word = offset >> 2; word <= (offset + (bytes ? bytes - 1 : 0)) >> 2; word++)
        add_part(out, n, WW_WALK_LOCAL | (uint64_t)id << 24 | (word & 0xffffff), 1u << (lane / 8));
}

/* Lanes side by side, as a range; false: they are not. */
static bool add_range(const struct ww_access *a, uint32_t mask, uint32_t width, struct ww_walk_line *out,
                      unsigned *n) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
    uint32_t run = mask >> first;
    if (a->list != WW_AFFINE || a->stride < 0 || (uint32_t)a->stride > width || (run & (run + 1))) return false;
    uint64_t from = a->base + (uint64_t)a->stride * first;
    uint64_t to = a->base + (uint64_t)a->stride * last + (width ? width - 1 : 0);
    for (uint64_t line = from >> 7; line <= to >> 7 && *n < WW_WALK_LINES; line++)
        out[(*n)++] =
            (struct ww_walk_line){line, sector_bits(line == from >> 7 ? from : 0, line == to >> 7 ? to : 127)};
    return true;
}

unsigned ww_walk_lines(const struct ww_walk *w, const struct ww_inst *inst, const struct ww_access *a,
                       uint32_t mask, struct ww_walk_line out[WW_WALK_LINES]) {
    unsigned n = 0;
    bool local = inst->space == WW_SPACE_LOCAL;
    const struct ww_access place = ww_access_place(inst, a);
    a = &place;
    if (!mask || (!local && add_range(a, mask, inst->width, out, &n))) return n;
    uint32_t rank = 0;
    for (uint32_t m = mask; m; m &= m - 1, rank++) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = ww_walk_address(w->stream, a, lane, rank);
        if (local)
            add_local(out, &n, w->id, lane, address, inst->width);
        else
            add_bytes(out, &n, address, inst->width);
    }
    return n;
}

/* Words of a part of the warp by bank: distinct ones count. */
struct banks {
    uint64_t word[64];
    uint32_t lanes[64], count, most, updates;
    uint8_t of_bank[32];
};

static void add_word(struct banks *b, uint64_t word) {
    uint32_t i = b->count;
    while (i > 0 && b->word[i - 1] != word) i--;
    if (i == 0) {
        if (b->count == 64) return;
        b->word[b->count] = word;
        b->lanes[b->count++] = 1;
        if (++b->of_bank[word & 31] > b->most) b->most = b->of_bank[word & 31];
        i = b->count;
    } else {
        b->lanes[i - 1]++;
    }
    if (b->lanes[i - 1] > b->updates) b->updates = b->lanes[i - 1];
}

/* One word a lane, lanes at a fixed distance in words: how many share a bank. */
static bool affine_passes(const struct ww_inst *inst, const struct ww_access *a, uint32_t *passes) {
    if (a->list != WW_AFFINE || inst->width != 4 || (a->stride & 3)) return false;
    uint32_t words = (uint32_t)(a->stride < 0 ? -(int64_t)a->stride : a->stride) / 4;
    if (words != 0 && words != 1 && !(words & 1)) return false;
    *passes = 1; /* one word for all, or an odd distance, which meets every bank once */
    return true;
}

uint32_t ww_walk_passes(const struct ww_warp_stream *w, const struct ww_inst *inst, const struct ww_access *a,
                        uint32_t mask, uint32_t *updates) {
    uint32_t words = inst->width > 4 ? inst->width / 4u : 1, part = 32 / words, sum = 0;
    if (!updates && affine_passes(inst, a, &sum)) return sum;
    if (updates) *updates = 1;
    uint32_t rank = 0;
    for (uint32_t first = 0; first < 32; first += part) {
        struct banks b = {.count = 0};
        uint32_t lanes = mask & (part == 32 ? UINT32_MAX : ((1u << part) - 1) << first);
        for (uint32_t m = lanes; m; m &= m - 1, rank++) {
            uint64_t address = ww_walk_address(w, a, (uint32_t)__builtin_ctz(m), rank);
            for (uint32_t k = 0; k < words; k++) add_word(&b, address / 4 + k);
        }
        sum += b.most;
        if (updates && b.updates > *updates) *updates = b.updates;
    }
    return sum ? sum : 1;
}
