/* profile_rows.h: how many DRAM rows a stream of misses opens.
 *
 * A DRAM scheduler sees a window of requests and serves those of one row together. Of each WW_ROWS_WINDOW
 * misses in order, the distinct stretches of 128 KiB are counted (a row of every channel and bank group's share
 * lies in one, whatever the mapping) and the distinct pieces of 256 bytes, which no mapping here splits over
 * channels.
 */
#ifndef WW_FAST_PROFILE_ROWS_H
#define WW_FAST_PROFILE_ROWS_H

#include <stdint.h>

#define WW_ROWS_WINDOW 2048

struct ww_rows {
    uint64_t chunk[2 * WW_ROWS_WINDOW], stretch[2 * WW_ROWS_WINDOW]; /* hash sets, entry + 1 */
    uint32_t held, chunks, stretches;
    double sectors, all_chunks, all_stretches;
};
void ww_rows_begin(struct ww_rows *rows);
/* A miss of some sectors of a line. */
void ww_rows_add(struct ww_rows *rows, uint64_t line, uint32_t sectors);
/* Ends the last window. */
void ww_rows_end(struct ww_rows *rows);

#endif
