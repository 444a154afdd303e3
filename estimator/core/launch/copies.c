/* What copies and fills before a launch leave in the L2.
 *
 * Copies from the host arrive at the rate of its link, a small part of DRAM's, and the host waits for them:
 * their lines are there, and written back. Copies on the device and fills go at DRAM's rate; their lines are
 * dirty. */
#include "../memory/warm.h"
#include "engine_internal.h"

/* Bytes of a copy's end, in sizes of the L2, beyond which nothing of it stays there. */
#define STAYS 2

static void write_range(struct ww_engine *e, uint64_t from, uint64_t to, bool dirty) {
    uint64_t line = ww_gpu_request_line(&e->gpu), at = from / line * line;
    for (; at < to; at += line) {
        uint32_t pieces = (uint32_t)(line / 32), mask = 0;
        for (uint32_t k = 0; k < pieces; k++) /* whole sectors: the others' bytes come from DRAM */
            if (at + 32 * k < to && at + 32 * (k + 1) > from) mask |= 1u << k;
        struct ww_mem_request r = {.address = at,
                                   .sectors = mask,
                                   .kind = dirty ? WW_MEM_WRITE : WW_MEM_READ,
                                   .bytes = (uint16_t)(32 * (uint32_t)__builtin_popcount(mask)),
                                   .fine = 1};
        if (mask) ww_memsys_fill(e->memory, &r);
        if (at > UINT64_MAX - line) break;
    }
}

/* Bytes of a row as the L2 holds it, at least. */
static uint64_t row_bytes(const struct ww_engine *e, const struct ww_trace_copy *c) {
    uint64_t line = ww_gpu_request_line(&e->gpu);
    return c->bytes > line ? c->bytes : line;
}

/* The last rows of a copy, `most` bytes of them. */
static void write_copy(struct ww_engine *e, const struct ww_trace_copy *c, uint64_t most) {
    uint64_t rows = most / row_bytes(e, c) + 1;
    for (uint64_t row = c->rows > rows ? c->rows - rows : 0; row < c->rows; row++) {
        uint64_t from = c->address + row * c->pitch, to = from + c->bytes;
        write_range(e, to - from > most ? to - most : from, to, c->kind != WW_TRACE_COPY_HOST);
    }
}

void ww_engine_copies(struct ww_engine *engine, const struct ww_launch *launch) {
    uint64_t most = STAYS * (uint64_t)engine->gpu.l2_size_kb * 1024, after = 0;
    uint32_t first = launch->copy_count;
    if (engine->options.flush) return;
    for (; first && after < most; first--) {
        const struct ww_trace_copy *c = &launch->copy[first - 1];
        uint64_t row = row_bytes(engine, c), room = most - after;
        after += c->rows > room / row ? room : row * c->rows;
    }
    for (; first < launch->copy_count; first++) write_copy(engine, &launch->copy[first], most);
}

bool ww_engine_waited(const struct ww_engine *engine, const struct ww_launch *launch) {
    return !engine->options.flush && launch->copy_count;
}
