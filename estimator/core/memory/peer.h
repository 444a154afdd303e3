/* peer.h: the network between the SMs of a GPC, and the barriers of clusters.
 *
 *   SM --data--> its port --> trunk of the GPC --> other SM --data of loads--> its port --> trunk --> SM
 *   SM --arrival of a CTA--> barrier of the cluster --all are there--> SMs of all its CTAs
 *
 * A port passes cluster.bytes of data a cycle, the trunk cluster.gpc_bytes between SMs of different pairs
 * (TPCs). The way there and back takes cluster.latency cycles, half of it each way; cycles are of the L2's
 * clock. An SM whose port is busy for long is refused, and called when it may try again. */
#ifndef WW_CORE_PEER_H
#define WW_CORE_PEER_H

#include "../../base/arena.h"
#include "memsys.h"

#define WW_PEER_MEMBERS 16u /* CTAs of a cluster at most */

/* A request of kind WW_MEM_PEER has in `address` the other SM, in `bytes` the data that it brings there, in
 * `atomic_ops` those that come back. With `strong` the reply comes when the data are at the other SM, without
 * the way back. */
struct ww_peer_member {
    uint16_t sm;
    uint8_t slot; /* of the CTA */
};

/* The message to an SM when a barrier of the cluster opens for its CTA in `slot`: tag | slot; address: the
 * cluster's id, 0: the barrier has not opened. */
struct ww_peer_cluster {
    uint64_t id;
    uint32_t count, arrived, gone; /* CTAs; bits by rank */
    struct ww_peer_member member[WW_PEER_MEMBERS];
};

struct ww_peer;
/* NULL: out of memory. */
struct ww_peer *ww_peer_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue, const struct ww_clock *clock,
                            const struct ww_memsys_client *client, uint64_t *live, struct ww_arena *arena);
void ww_peer_free(struct ww_peer *p);
/* A cluster begins, of which a CTA has not left; returns its key, which it has until all its CTAs have left. */
uint32_t ww_peer_begin(struct ww_peer *p, const struct ww_peer_cluster *cluster);
/* As ww_memsys_send, of kinds from WW_MEM_PEER on. Of the other two `address` is the cluster's key, `bytes` the
 * CTA's rank. */
bool ww_peer_send(struct ww_peer *p, const struct ww_mem_request *request, uint64_t now_ps);
/* The reply goes from the SM to that of a CTA of a cluster, whose id its `sectors` become, and whose slot is
 * added to its tag. `travels`: behind the SM's data, and it takes the way there; else it is told what is there
 * at that time. False: the CTA has left; nothing is sent. */
bool ww_peer_event(struct ww_peer *p, uint32_t key, uint32_t rank, uint32_t from, struct ww_mem_reply reply,
                   bool travels, uint64_t now_ps);
/* The reply goes from the SM to that of a CTA of a cluster, whose id its `sectors` become, and whose slot is
 * added to its tag. `travels`: behind the SM's data, and it takes the way there; else it is told what is there
 * at that time. False: the CTA has left; nothing is sent. */
bool ww_peer_event(struct ww_peer *p, uint32_t key, uint32_t rank, uint32_t from, struct ww_mem_reply reply,
                   bool travels, uint64_t now_ps);

#endif
