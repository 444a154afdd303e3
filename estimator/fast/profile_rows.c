/* How many DRAM rows a stream of misses opens. */
#include "profile_rows.h"
#include "../base/hash.h"
#include <string.h>

void ww_rows_begin(struct ww_rows *rows, uint32_t window, uint32_t shift) {
    memset(rows, 0, sizeof *rows);
    rows->shift = shift;
    rows->window = window;
}

void ww_rows_end(struct ww_rows *rows) {
    rows->sectors += rows->held;
    rows->all_chunks += rows->chunks;
    rows->all_stretches += rows->stretches;
    rows->held = rows->chunks = rows->stretches = 0;
    memset(rows->chunk, 0, 2 * rows->window * sizeof *rows->chunk);
    memset(rows->stretch, 0, 2 * rows->window * sizeof *rows->stretch);
}

/* True if it was not there. */
static uint32_t enter(uint64_t *set, uint32_t last, uint64_t v) {
    uint32_t i = (uint32_t)ww_hash_mix(v) & last;
    for (; set[i]; i = (i + 1) & last)
        if (set[i] == v + 1) return 0;
    set[i] = v + 1;
    return 1;
}

void ww_rows_add(struct ww_rows *rows, uint64_t line, uint32_t sectors) {
    rows->chunks += enter(rows->chunk, 2 * rows->window - 1, line >> rows->shift);
    rows->stretches += enter(rows->stretch, 2 * rows->window - 1, line >> 10);
    rows->held += (uint32_t)__builtin_popcount(sectors);
    if (rows->held >= rows->window) ww_rows_end(rows);
}
