/* cluster.h: CTAs of a cluster as their SMs see them: accesses to one another's shared memory, and the
 * cluster's barrier. Messages between SMs use the network of the GPC (memory/peer.h).
 *
 *   arrival of a warp --> all of the CTA's --message--> ... --message--> warps that wait go on
 *
 * A warp whose bit is in `arrived` is in a phase that is not over. */
#ifndef WW_CORE_CLUSTER_H
#define WW_CORE_CLUSTER_H

#include "../memory/peer.h"
#include "pipe.h"

struct ww_sm;
struct ww_warp;
struct ww_arena;
struct ww_lsu_entry;

/* A CTA's state in its cluster. */
struct ww_cluster_cta {
    uint64_t id;            /* of the cluster, from 1 on; 0: it has none */
    uint64_t arrived, gone; /* warps of the CTA */
    uint64_t waiting;       /* warps of the SM */
    uint32_t key, rank, count;
    bool sent; /* the CTA's arrival is under way, or waits for others' */
    uint16_t sm[WW_CLUSTER_CTAS];
};

/* CTAs of the launch's clusters, 1 if it has none. */
static inline uint32_t ww_cluster_size(const struct ww_launch *launch) {
    return launch->cluster[0] ? launch->cluster[0] * launch->cluster[1] * launch->cluster[2] : 1;
}
/* The number of the CTA with that rank in the cluster `number`. */
uint64_t ww_cluster_member(const struct ww_launch *launch, uint64_t number, uint32_t rank);

/* Whether the instruction is at the barrier of the cluster; where clusters are not modelled it is one of the
 * CTA.
 */
void ww_cluster_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                       struct ww_dinst *d);
/* Makes the table, if the launch has clusters. False: no memory. */
bool ww_cluster_init(struct ww_sm *sm, struct ww_arena *arena);
/* A warp arrives, or waits: true if it continues. */
bool ww_cluster_arrive(struct ww_sm *sm, struct ww_warp *w);
bool ww_cluster_wait(struct ww_sm *sm, struct ww_warp *w);
/* A warp of the CTA has ended. */
void ww_cluster_exit(struct ww_sm *sm, const struct ww_warp *w);
/* The barrier of the cluster `id` opens for the CTA. */
void ww_cluster_open(struct ww_sm *sm, uint32_t cta, uint64_t id, uint64_t cycle);

/* Bits of the ranks whose shared memory the lanes access, 0: only the CTA's own. */
uint32_t ww_cluster_ranks(const struct ww_access *access, const uint64_t *pool, uint32_t mask);
/* Sends for the data of the lanes that access others' shared memory, or sends them there. `op`: what waits for
 * replies, WW_NONE: nothing. False: there is no room for so many requests. */
bool ww_cluster_send(struct ww_sm *sm, const struct ww_lsu_entry *e, uint32_t op, uint32_t ranks);
/* The data of an operation have come, or its stores are there. */
void ww_cluster_reply(struct ww_sm *sm, uint32_t op, uint64_t cycle);

#endif
