/* From a warp's addresses to requests of one line each, with the 32-byte chunks that they touch. */
#include "coalesce.h"

#include <string.h>

void ww_coalesce_init(struct ww_coalescer *c, uint32_t line_bytes) {
    memset(c, 0, sizeof *c);
    c->line_bytes = line_bytes;
    c->line_shift = (uint32_t)__builtin_ctz(line_bytes);
}

/* Empties the hash tables. */
static void forget(struct ww_coalescer *c) {
    if (++c->stamp == 0) {
        memset(c->seen_stamp, 0, sizeof c->seen_stamp);
        memset(c->address_stamp, 0, sizeof c->address_stamp);
        c->stamp = 1;
    }
}

static void begin(struct ww_coalescer *c) {
    c->count = c->hashed = 0;
    c->above = 0;
    forget(c);
}

static inline struct ww_line_request *append(struct ww_coalescer *c, uint64_t key) {
    struct ww_line_request *r = &c->request[c->count++];
    *r = (struct ww_line_request){.key = key};
    if (key >= c->above) c->above = key + 1;
    return r;
}

static uint32_t place_of(uint64_t key) {
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 56);
}

/* The request for a line that is below another one's, by hash table. */
static struct ww_line_request *find(struct ww_coalescer *c, uint64_t key) {
    for (; c->hashed < c->count; c->hashed++) {
        uint32_t i = place_of(c->request[c->hashed].key);
        while (c->seen_stamp[i] == c->stamp) i = (i + 1) & 255;
        c->seen_stamp[i] = c->stamp;
        c->seen_request[i] = (uint8_t)c->hashed;
    }
    for (uint32_t i = place_of(key); c->seen_stamp[i] == c->stamp; i = (i + 1) & 255)
        if (c->request[c->seen_request[i]].key == key) return &c->request[c->seen_request[i]];
    return append(c, key);
}

/* The request for a line. */
static inline struct ww_line_request *request_for(struct ww_coalescer *c, uint64_t key) {
    if (key >= c->above) return append(c, key);
    if (c->request[c->count - 1].key == key) return &c->request[c->count - 1];
    return find(c, key);
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

/* Such an access of one address, or of lanes side by side: most lie in one line. */
static void coalesce_range(struct ww_coalescer *c, const struct ww_access *a, uint32_t mask, uint32_t width) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
    uint64_t low = a->base, length = width, in_line;
    if (a->stride) {
        int64_t stride = a->stride;
        length += (uint64_t)(stride < 0 ? -stride : stride) * (last - first);
        low += (uint64_t)(stride * (stride > 0 ? first : last));
    }
    in_line = low & (c->line_bytes - 1);
    if (in_line + length <= c->line_bytes) {
        c->count = 1;
        c->request[0] = (struct ww_line_request){
            low >> c->line_shift, chunk_bits(in_line, in_line + length - 1), (uint16_t)length, 0};
        return;
    }
    begin(c);
    add_range(c, low, length);
}

/* True if no lane's bytes lie in more than one chunk. The loop has no branch, so that it becomes one over
 * vectors. */
static bool in_chunks(const uint64_t *address, uint32_t count, uint32_t width) {
    uint64_t bits = 0;
    if (width > 32) return false;
    for (uint32_t i = 0; i < count; i++) bits |= (address[i] & 31) + width - 1;
    return !(bits & 32);
}

/* Adds bytes of lanes of one line. apart: they are the first of it, and each one's lie behind those before. */
static inline void add_run(struct ww_line_request *r, const uint64_t *address, uint32_t count, uint32_t chunks,
                           uint32_t width, bool apart, uint64_t in_line) {
    if (apart && !r->chunks) {
        r->chunks = chunks;
        r->bytes = (uint16_t)(count * width);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        r->chunks |= 1u << ((address[i] & in_line) >> 5);
        add_bytes(r, width);
    }
}

/* Lanes whose bytes lie in one chunk each: those of one line that follow one another are done in one go. */
static void add_lanes(struct ww_coalescer *c, const uint64_t *address, uint32_t count, uint32_t width) {
    const uint32_t shift = c->line_shift;
    const uint64_t in_line = c->line_bytes - 1;
    for (uint32_t i = 0, first = 0; i < count; first = i) {
        uint64_t key = address[i] >> shift;
        uint32_t chunks = 1u << ((address[i] & in_line) >> 5);
        bool apart = true;
        while (++i < count && address[i] >> shift == key) {
            apart &= address[i] - address[i - 1] - width <= in_line;
            chunks |= 1u << ((address[i] & in_line) >> 5);
        }
        add_run(request_for(c, key), address + first, i - first, chunks, width, apart, in_line);
    }
}

void ww_coalesce(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                 uint32_t width) {
    if (access->list == WW_AFFINE && ww_coalesce_is_range(access, mask, width)) {
        coalesce_range(c, access, mask, width);
        return;
    }
    begin(c);
    uint64_t room[32];
    const uint64_t *address = ww_lane_addresses(access, pool, mask, room);
    uint32_t count = ww_bits(mask);
    if (in_chunks(address, count, width)) {
        add_lanes(c, address, count, width);
        return;
    }
    for (uint32_t i = 0; i < count; i++) add_span(c, address[i], width);
}

/* ---- reads ---- */

/* Requests of a read by line: a hash table of so many places that lines of 32 lanes seldom want the same one.
 */
struct lines {
    uint8_t request[256]; /* number + 1, 0: free */
};

/* The number of the line's request, most often a new one. */
static inline uint32_t read_line(struct ww_line_request *request, uint32_t *count, struct lines *l,
                                 uint64_t key) {
    uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 56);
    for (; l->request[i]; i = (i + 1) & 255)
        if (request[l->request[i] - 1u].key == key) return l->request[i] - 1u;
    request[*count] = (struct ww_line_request){.key = key};
    l->request[i] = (uint8_t)(*count + 1);
    return (*count)++;
}

/* False: a lane's bytes lie in more than one chunk. `form`: of the list, WW_AFFINE: of addresses. */
static inline __attribute__((always_inline)) bool read_lanes(struct ww_coalescer *c, uint64_t base,
                                                             const void *list, uint32_t form, uint32_t count,
                                                             uint32_t width) {
    const uint32_t shift = c->line_shift;
    const uint64_t in_line = c->line_bytes - 1;
    uint64_t cut = 0, last = UINT64_MAX;
    struct lines lines = {.request = {0}};
    struct ww_line_request *request = c->request;
    uint32_t requests = 0, r = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = form == WW_LIST_16   ? base + (uint64_t)(int64_t)((const int16_t *)list)[i]
                           : form == WW_LIST_32 ? base + (uint64_t)(int64_t)((const int32_t *)list)[i]
                                                : ((const uint64_t *)list)[i];
        uint64_t key = address >> shift;
        if (key != last) r = read_line(request, &requests, &lines, key);
        last = key;
        request[r].chunks |= 1u << ((address & in_line) >> 5);
        cut |= (address & 31) + width - 1;
    }
    c->count = requests;
    return !(cut & 32);
}

static bool read_list(struct ww_coalescer *c, const struct ww_access *a, const uint64_t *pool, uint32_t count,
                      uint32_t width) {
    const void *list = pool + (a->list & WW_LIST_PLACE);
    if (a->list & WW_LIST_16) return read_lanes(c, a->base, list, WW_LIST_16, count, width);
    if (a->list & WW_LIST_32) return read_lanes(c, a->base, list, WW_LIST_32, count, width);
    return read_lanes(c, 0, list, WW_AFFINE, count, width);
}

void ww_coalesce_read(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                      uint32_t mask, uint32_t width) {
    uint64_t room[32];
    bool affine = access->list == WW_AFFINE, done = false;
    if (width <= 32 && !affine)
        done = read_list(c, access, pool, ww_bits(mask), width);
    else if (width <= 32 && !ww_coalesce_is_range(access, mask, width))
        done = read_lanes(c, 0, ww_lane_addresses(access, pool, mask, room), WW_AFFINE, ww_bits(mask), width);
    if (!done) ww_coalesce(c, access, pool, mask, width);
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
    forget(c);
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
