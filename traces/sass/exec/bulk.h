/* bulk.h: bulk copies and clusters, private to the executor of machine code. */
#ifndef WW_TRACES_SASS_BULK_H
#define WW_TRACES_SASS_BULK_H

#include "grid.h"

/* Bytes of the shared memory of the cluster at `address`, whose bits 24 on are the CTA's rank; NULL if there
 * are none, or if their CTA has exited. */
unsigned char *ww_sx_shared(struct sx_warp *w, uint64_t address, uint32_t bytes);
/* Fails the run: why ww_sx_shared() gave NULL to `what`. */
void ww_sx_fail_shared(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, const char *what);
/* sass_address.c: an address of the shared memory of the cluster as traces have it. */
uint64_t ww_sx_recorded_shared(const struct sx_warp *w, uint64_t address);
/* sass_async.c: bytes have come that the mbarrier at `bar` of the cluster's shared memory counts. */
void ww_sx_mbarrier_complete(struct sx_warp *w, uint32_t bar, uint32_t bytes);
/* What the mbarrier lacks at which the warp waits, for errors; false: it waits at none. */
bool ww_sx_mbarrier_say(const struct sx_warp *w, char *text, size_t size);
/* Executes a bulk copy. */
void ww_sx_bulk(SX_ARGS);
/* sass_cluster.c: lanes of group g arrive at the cluster's barrier, or wait there. True if the group goes on.
 */
bool ww_sx_cluster_barrier(struct sx_warp *w, uint32_t g, bool waits, uint32_t mask);
/* Lanes have exited: the barrier may complete. */
void ww_sx_cluster_check(struct sx_cluster *c);
/* Threads of the cluster that have arrived in this phase, and that have not exited. */
void ww_sx_cluster_count(const struct sx_cluster *c, uint32_t *arrived, uint32_t *live);

#endif
