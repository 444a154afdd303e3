/* profile_rows.h: how many DRAM rows a stream of misses opens.
 *
 * A DRAM scheduler sees a window of requests and serves those of one row together. Of each window of misses in
 * order, the distinct stretches of 128 KiB are counted (a row of every channel and bank group's share lies in
 * one, whatever the mapping) and the distinct blocks of 256 bytes, which no mapping here splits over channels.
 * Stores reach DRAM when the L2 evicts their lines, long after: their window is larger.
 */
#ifndef WW_FAST_PROFILE_ROWS_H
#define WW_FAST_PROFILE_ROWS_H

#include <stdint.h>

#define WW_ROWS_STORE_WINDOW 16384 /* sectors of stores, no less than those of loads */

struct ww_rows {
    uint64_t chunk[2 * WW_ROWS_STORE_WINDOW], stretch[2 * WW_ROWS_STORE_WINDOW]; /* hash sets, entry + 1 */
    uint32_t window, shift, held, chunks, stretches;                             /* shift: lines to pieces */
    double sectors, all_chunks, all_stretches;
};
/* window: sectors, a power of two, WW_ROWS_STORE_WINDOW at most. Blocks have 128 bytes << shift. */
void ww_rows_begin(struct ww_rows *rows, uint32_t window, uint32_t shift);
/* A miss of some sectors of a line. */
void ww_rows_add(struct ww_rows *rows, uint64_t line, uint32_t sectors);
/* Ends the last window. */
void ww_rows_end(struct ww_rows *rows);

#endif
