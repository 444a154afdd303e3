/* cluster.c: CTAs of a cluster as their SMs see them. */
#include "cluster.h"
#include "../../result/result.h"
#include "l1_tag.h"
#include "sm.h"
#include <string.h>

_Static_assert(WW_PEER_MEMBERS >= WW_CLUSTER_CTAS, "a cluster is larger than the network's");

uint64_t ww_cluster_member(const struct ww_launch *l, uint64_t number, uint32_t rank) {
    const uint32_t *c = l->cluster;
    uint64_t across = l->grid[0] / c[0], down = l->grid[1] / c[1];
    uint64_t x = number % across * c[0] + rank % c[0], y = number / across % down * c[1] + rank / c[0] % c[1];
    uint64_t z = number / across / down * c[2] + rank / c[0] / c[1];
    return x + l->grid[0] * (y + l->grid[1] * z);
}

void ww_cluster_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                       struct ww_dinst *d) {
    const char *name = in->mnemonic < launch->string_count ? launch->string[in->mnemonic] : "";
    if (!gpu->sm_gpcs || ww_cluster_size(launch) < 2 || d->action != WW_A_BARRIER) return;
    if (strcmp(name, "UCGABAR_ARV") == 0) d->cluster = WW_CLUSTER_ARRIVE;
    if (strcmp(name, "UCGABAR_WAIT") == 0) d->cluster = WW_CLUSTER_WAIT;
}

bool ww_cluster_init(struct ww_sm *sm, struct ww_arena *arena) {
    if (sm->core->main->cluster_size < 2) return true;
    sm->cluster = ww_arena_array(arena, sm->core->gpu->sm_max_ctas, sizeof *sm->cluster);
    return sm->cluster != NULL;
}

/* ---- the barrier ---- */

static void tell(struct ww_sm *sm, const struct ww_cluster_cta *c, uint8_t kind) {
    struct ww_mem_request q = {.address = c->key,
                               .sectors = 1,
                               .tag = WW_TAG_TEX | WW_TAG_CLUSTER,
                               .sm = (uint16_t)sm->id,
                               .kind = kind,
                               .needs_reply = 1,
                               .bytes = (uint16_t)c->rank};
    ww_l1_queue(sm, &q);
}

/* All warps of the CTA have arrived, those that have ended aside. */
static void tell_if_complete(struct ww_sm *sm, uint32_t cta) {
    struct ww_cluster_cta *c = &sm->cluster[cta];
    uint32_t warps = sm->cta[cta].warps;
    uint64_t all = warps < 64 ? (1ull << warps) - 1 : UINT64_MAX;
    if (c->sent || !c->arrived || (c->arrived | c->gone) != all) return;
    c->sent = true;
    tell(sm, c, WW_MEM_CLUSTER);
}

static uint64_t bit_of(const struct ww_sm *sm, const struct ww_warp *w) {
    return 1ull << ((uint32_t)(w - sm->warp) - sm->cta[w->cta].first_warp);
}

bool ww_cluster_arrive(struct ww_sm *sm, struct ww_warp *w) {
    if (!sm->cluster[w->cta].id) return true;
    sm->cluster[w->cta].arrived |= bit_of(sm, w);
    sm->core->counter[WW_C_BARRIER_WAITS]++;
    tell_if_complete(sm, w->cta);
    return true;
}

bool ww_cluster_wait(struct ww_sm *sm, struct ww_warp *w) {
    struct ww_cluster_cta *c = &sm->cluster[w->cta];
    if (!(c->arrived & bit_of(sm, w))) return true;
    c->waiting |= 1ull << (w - sm->warp);
    w->barred = true;
    return false;
}

void ww_cluster_exit(struct ww_sm *sm, const struct ww_warp *w) {
    struct ww_cluster_cta *c = &sm->cluster[w->cta];
    if (!c->id) return;
    c->gone |= bit_of(sm, w);
    tell_if_complete(sm, w->cta);
    if (sm->cta[w->cta].exited == sm->cta[w->cta].warps) tell(sm, c, WW_MEM_LEAVE);
}

void ww_cluster_open(struct ww_sm *sm, uint32_t cta, uint64_t id, uint64_t cycle) {
    struct ww_cluster_cta *c = &sm->cluster[cta];
    if (!id || c->id != id) return; /* the CTA has ended */
    uint64_t waiting = c->waiting;
    c->arrived = c->waiting = 0;
    c->sent = false;
    for (; waiting; waiting &= waiting - 1) {
        struct ww_warp *w = &sm->warp[__builtin_ctzll(waiting)];
        uint64_t at = cycle + sm->core->gpu->pipe_branch_latency;
        w->barred = false;
        if (w->done) continue;
        if (w->front < at) w->front = at;
        w->front_state = WW_S_BARRIER;
        ww_warp_head(sm, w, cycle);
    }
}

/* ---- shared memory of others ---- */

static uint32_t rank_bit(uint64_t address) {
    uint64_t rank = address >> WW_SHARED_RANK_SHIFT;
    return rank && rank <= WW_CLUSTER_CTAS ? 1u << (rank - 1) : 0;
}

uint32_t ww_cluster_ranks(const struct ww_access *access, const uint64_t *pool, uint32_t mask) {
    uint32_t ranks = 0, n = 0;
    for (uint32_t m = mask; m; m &= m - 1, n++)
        ranks |= rank_bit(ww_lane_address(access, pool, (uint32_t)__builtin_ctz(m), n));
    return ranks;
}

/* Data of the lanes that access one CTA: segments of 32 bytes (NVIDIA's guide to Hopper). */
static uint32_t bytes_of(const struct ww_lsu_entry *e, uint32_t rank) {
    uint64_t segment[32];
    uint32_t segments = 0, n = 0;
    for (uint32_t m = e->mask; m; m &= m - 1, n++) {
        uint64_t at = ww_lane_address(e->access, e->pool, (uint32_t)__builtin_ctz(m), n);
        if (rank_bit(at) != 1u << rank) continue;
        uint32_t i = 0;
        while (i < segments && segment[i] != at / 32) i++;
        if (i == segments) segment[segments++] = at / 32;
    }
    return 32 * segments;
}

bool ww_cluster_send(struct ww_sm *sm, const struct ww_lsu_entry *e, uint32_t op, uint32_t ranks) {
    struct ww_core *core = sm->core;
    const struct ww_warp *w = &sm->warp[e->warp];
    const struct ww_cluster_cta *c = &sm->cluster[w->cta];
    uint8_t kind = core->launch->inst[e->inst].op;
    uint32_t others = (uint32_t)__builtin_popcount(ranks);
    if (sm->misses.count && sm->misses.count + others > core->gpu->l1_miss_queue) return false;
    for (; ranks; ranks &= ranks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(ranks), bytes = bytes_of(e, rank);
        if (rank >= c->count) continue; /* the trace has no such CTA */
        bool reads = kind == WW_OP_LOAD || kind == WW_OP_ATOMIC, writes = kind != WW_OP_LOAD;
        struct ww_mem_request q = {.address = c->sm[rank],
                                   .sectors = 1,
                                   .tag = WW_TAG_TARGET | WW_TAG_PEER | op,
                                   .sm = (uint16_t)sm->id,
                                   .kind = WW_MEM_PEER,
                                   .needs_reply = 1,
                                   .strong = core->code.inst[e->inst].sends,
                                   .bytes = (uint16_t)(writes ? bytes : 0),
                                   .atomic_ops = (uint16_t)(reads ? bytes : 0),
                                   .inst = e->inst};
        core->pool.op[op].remaining++;
        core->counter[WW_C_PEER_REQUEST]++;
        core->counter[WW_C_PEER_BYTES] += bytes;
        ww_l1_queue(sm, &q);
    }
    return true;
}

void ww_cluster_reply(struct ww_sm *sm, uint32_t op, uint64_t cycle) {
    ww_memory_op_part(sm->core, op, cycle, cycle - 1 + sm->core->gpu->shared_latency, WW_LEVEL_L1);
}
