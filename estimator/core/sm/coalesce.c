/* From a warp's addresses to requests of one line each, with the 32-byte chunks that they touch. */
#include "coalesce.h"

#include <string.h>

void ww_coalesce_init(struct ww_coalescer *c, uint32_t line_bytes) {
    memset(c, 0, sizeof *c);
    c->line_bytes = line_bytes;
    c->line_shift = (uint32_t)__builtin_ctz(line_bytes);
}

static void begin(struct ww_coalescer *c) {
    c->count = 0;
    if (++c->stamp == 0) {
        memset(c->seen_stamp, 0, sizeof c->seen_stamp);
        memset(c->address_stamp, 0, sizeof c->address_stamp);
        c->stamp = 1;
    }
}

static struct ww_line_request *append(struct ww_coalescer *c, uint64_t key) {
    struct ww_line_request *r = &c->request[c->count++];
    *r = (struct ww_line_request){.key = key};
    return r;
}

/* The request for a line, by hash table. */
static struct ww_line_request *request_for(struct ww_coalescer *c, uint64_t key) {
    if (c->count && c->request[c->count - 1].key == key) return &c->request[c->count - 1];
    uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 56);
    for (; c->seen_stamp[i] == c->stamp; i = (i + 1) & 255)
        if (c->request[c->seen_request[i]].key == key) return &c->request[c->seen_request[i]];
    c->seen_stamp[i] = c->stamp;
    c->seen_request[i] = (uint8_t)c->count;
    return append(c, key);
}

/* Pieces from offset `from` to offset `to` (both included) of a line. */
static uint32_t chunk_bits(uint64_t from, uint64_t to) {
    uint32_t a = (uint32_t)(from >> 5), b = (uint32_t)(to >> 5);
    return (uint32_t)((2ull << b) - (1ull << a));
}

static void add_bytes(struct ww_line_request *r, uint64_t bytes) {
    uint64_t sum = r->bytes + bytes;
    if (sum > 32) { /* it has one chunk at least */
        uint64_t most = (uint64_t)ww_bits8(r->chunks) << 5;
        if (sum > most) sum = most;
    }
    r->bytes = (uint16_t)sum;
}

/* Bytes of one line. */
static void add_part(struct ww_coalescer *c, uint64_t address, uint32_t bytes) {
    uint64_t offset = address & (c->line_bytes - 1);
    struct ww_line_request *r = request_for(c, address >> c->line_shift);
    r->chunks |= chunk_bits(offset, offset + bytes - 1);
    add_bytes(r, bytes);
}

static void add_span(struct ww_coalescer *c, uint64_t address, uint32_t bytes) {
    uint32_t room = c->line_bytes - (uint32_t)(address & (c->line_bytes - 1));
    for (; bytes > room; room = c->line_bytes) {
        add_part(c, address, room);
        address += room;
        bytes -= room;
    }
    add_part(c, address, bytes);
}

/* Marks every chunk of [from, from + length). */
static void add_range(struct ww_coalescer *c, uint64_t from, uint64_t length) {
    uint64_t in_line = c->line_bytes - 1;
    while (length) {
        uint64_t room = c->line_bytes - (from & in_line), part = length < room ? length : room;
        struct ww_line_request *r = append(c, from >> c->line_shift);
        r->chunks = chunk_bits(from & in_line, (from + part - 1) & in_line);
        r->bytes = (uint16_t)part;
        from += part;
        length -= part;
    }
}

static bool one_run(uint32_t mask) {
    uint32_t m = mask >> __builtin_ctz(mask);
    return (m & (m + 1)) == 0;
}

/* True if it was done as a range: one address, or a run of lanes side by side. */
static bool coalesce_affine(struct ww_coalescer *c, const struct ww_access *a, uint32_t mask, uint32_t width) {
    if (a->stride == 0) {
        add_range(c, a->base, width);
        return true;
    }
    uint64_t step = a->stride < 0 ? (uint64_t)(-(int64_t)a->stride) : (uint64_t)a->stride;
    if (step > width || !one_run(mask)) return false;
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
    uint64_t low = ww_lane_address(a, NULL, a->stride > 0 ? first : last, 0);
    add_range(c, low, step * (last - first) + width);
    return true;
}

void ww_coalesce(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                 uint32_t width) {
    begin(c);
    if (access->list == WW_AFFINE && coalesce_affine(c, access, mask, width)) return;
    uint64_t room[32];
    const uint64_t *of = ww_lane_addresses(access, pool, mask, room);
    uint32_t last = c->line_bytes - width;
    struct ww_line_request *r = &c->request[0];
    for (uint32_t i = 0, n = ww_bits(mask); i < n; i++) {
        uint64_t address = of[i];
        uint64_t key = address >> c->line_shift, offset = address & (c->line_bytes - 1);
        if (width > c->line_bytes || offset > last) {
            add_span(c, address, width);
            r = &c->request[c->count - 1];
            continue;
        }
        if (!c->count || r->key != key) r = request_for(c, key);
        r->chunks |= chunk_bits(offset, offset + width - 1);
        add_bytes(r, width);
    }
}

void ww_coalesce_local(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                       uint32_t mask, uint32_t width, const struct ww_local_frame *frame) {
    begin(c);
    uint32_t rank = 0;
    for (uint32_t m = mask; m; m &= m - 1, rank++) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t offset = ww_lane_address(access, pool, lane, rank);
        for (uint64_t word = offset >> 2; word <= (offset + width - 1) >> 2; word++) {
            uint64_t w = word < frame->words ? word : word % frame->words;
            add_span(c, frame->base + w * 128 + lane * 4, 4);
        }
    }
}

/* Lanes of this access that have named the address so far, this one too. */
static uint32_t count_address(struct ww_coalescer *c, uint64_t address) {
    uint32_t i = (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 57);
    for (; c->address_stamp[i] == c->stamp; i = (i + 1) & 127)
        if (c->address[i] == address) return ++c->address_lanes[i];
    c->address_stamp[i] = c->stamp;
    c->address[i] = address;
    return c->address_lanes[i] = 1;
}

static struct ww_line_request *request_of(struct ww_coalescer *c, uint64_t key) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->request[i].key == key) return &c->request[i];
    return NULL;
}

void ww_coalesce_updates(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                         uint32_t mask) {
    uint64_t chunk[32]; /* chunks met, and the lanes of each one's most accessed word */
    uint64_t room[32];
    const uint64_t *of = ww_lane_addresses(access, pool, mask, room);
    uint32_t longest[32], chunks = 0;
    for (uint32_t i = 0, n = ww_bits(mask); i < n; i++) {
        uint64_t address = of[i];
        uint32_t lanes = count_address(c, address), p = 0;
        while (p < chunks && chunk[p] != address >> 5) p++;
        if (p == chunks) {
            chunk[chunks] = address >> 5;
            longest[chunks++] = 0;
        }
        if (lanes <= longest[p]) continue;
        longest[p] = lanes;
        struct ww_line_request *r = request_of(c, address >> c->line_shift);
        if (r) r->updates++;
    }
}
