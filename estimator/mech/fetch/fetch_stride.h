/* fetch_stride.h: a reference prediction table, which stride prefetchers and MTA share: for each key the last
 * address, the stride and whether the stride was met twice in a row (T.-F. Chen, J.-L. Baer, Effective
 * Hardware-Based Data Prefetching for High-Performance Processors, IEEE Transactions on Computers 1995). */
#ifndef WW_MECH_FETCH_STRIDE_H
#define WW_MECH_FETCH_STRIDE_H

#include "fetch.h"
#include <stdbool.h>
#include <stdint.h>

#define WW_STRIDE_MOST 256 /* entries that a table can have */

struct ww_stride_entry {
    uint64_t key;  /* 0: empty */
    uint64_t last; /* address */
    int64_t stride;
    uint64_t used; /* when; the entry that was not used for longest is replaced */
    bool known, trained;
};

struct ww_stride_table {
    struct ww_stride_entry entry[WW_STRIDE_MOST];
    uint64_t clock;
};

/* An access to `address` under a key (not 0), in a table of `entries`. The entry, for as long as the table is
 * not changed; it is trained if its stride is that of the last two differences, and not 0. */
struct ww_stride_entry *ww_stride_access(struct ww_stride_table *t, uint32_t entries, uint64_t key,
                                         uint64_t address);

/* ---- what the prefetchers by strides have in common: they differ in the key of a load's entry ---- */

struct ww_stride_settings {
    uint32_t entries, distance, queue, latency;
    bool send;
};

#define WW_STRIDE_PARAMS 5
extern const struct ww_param ww_stride_params[WW_STRIDE_PARAMS];

void ww_stride_plan(const void *settings, struct ww_fetch_plan *plan);
/* Tables live over launches: nothing to do. */
void ww_stride_begin(void *state, const void *settings, const struct ww_fetch_launch *launch);
/* A load, whose entry has `key` (not 0): requests the addresses `distance` strides ahead if the entry is
 * trained. The stride is that of the first active lane. `state` is a struct ww_stride_table. */
void ww_stride_load(void *state, const void *settings, uint64_t key, const struct ww_fetch_load *load,
                    struct ww_fetch_requests *requests);

#endif
