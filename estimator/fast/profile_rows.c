#include "profile_rows.h"
#include "../base/hash.h"
#include <string.h>

void ww_rows_begin(struct ww_rows *rows) {
    memset(rows, 0, sizeof *rows);
}

void ww_rows_end(struct ww_rows *rows) {
    rows->sectors += rows->held;
    rows->all_chunks += rows->chunks;
    rows->all_stretches += rows->stretches;
    rows->held = rows->chunks = rows->stretches = 0;
    memset(rows->chunk, 0, sizeof rows->chunk);
    memset(rows->stretch, 0, sizeof rows->stretch);
}

/* True if it was not there. */
static uint32_t enter(uint64_t *set, uint64_t v) {
    uint32_t i = (uint32_t)ww_hash_mix(v) & (2 * WW_ROWS_WINDOW - 1);
    for (; set[i]; i = (i + 1) & (2 * WW_ROWS_WINDOW - 1))
        if (set[i] == v + 1) return 0;
    set[i] = v + 1;
    return 1;
}

void ww_rows_add(struct ww_rows *rows, uint64_t line, uint32_t sectors) {
    rows->chunks += enter(rows->chunk, line >> 1);
    rows->stretches += enter(rows->stretch, line >> 10);
    rows->held += (uint32_t)__builtin_popcount(sectors);
    if (rows->held >= WW_ROWS_WINDOW) ww_rows_end(rows);
}
