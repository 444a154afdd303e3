/* The load/store unit: its queue, coalesced requests, shared-memory passes. */
#include "../../result/result.h"
#include "barrel.h"
#include "booked.h"
#include "collect.h"
#include "l1_request.h"
#include "lsu_queue.h"
#include "lsu_requests.h"
#include "waits.h"
#include "wavefront.h"

void ww_lsu_drained(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    sm->draining--;
    ww_cta_warp_gone(sm, w->cta, cycle);
}

static void count_copied(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                         uint64_t entry) {
    if (d->async && --w->async_count == 0) w->board[sm->core->code.async_register] = entry;
    if (sm->mbar) ww_mbar_copied(sm, w, d, cycle);
}

void ww_lsu_write_results(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                          uint64_t ready, uint32_t state) {
    if (sm->collect && d->result_count) ready = ww_collect_load(sm, d, ready);
    uint64_t entry = WW_SB(ready, (uint64_t)state);
    for (uint32_t i = 0; i < d->result_count; i++) w->board[ww_results(d)[i]] = entry;
    if (d->async || d->sends) count_copied(sm, w, d, cycle, entry);
    if (d->counts) {
        if (d->async) ww_depend_copied(sm, w, entry);
        ww_depend_written(sm, w, d, entry);
    }
    ww_warp_arrival(sm, w, cycle, state);
}

void ww_lsu_prepare(struct ww_core *core) {
    const struct ww_gpu_spec *g = core->gpu;
    uint32_t load = g->shared_pass_cycles, store = g->shared_store_cycles ? g->shared_store_cycles : load;
    const uint32_t pass[WW_SHARED_COSTS] = {0, load, store};
    for (uint32_t i = 0; i < WW_SHARED_COSTS; i++) {
        uint32_t taken = pass[i] ? pass[i] : 1;
        core->shared_cost[i] = (struct ww_shared_cost){i != WW_L_SHUFFLE, pass[i],
                                                       taken > core->lsu_cycles ? taken : core->lsu_cycles};
    }
    core->shared_ready = g->shared_latency + g->lsu_latency - 1;
    for (uint32_t i = 0; i < core->code.inst_count; i++) {
        struct ww_dinst *d = &core->code.inst[i];
        bool quick = d->path <= WW_L_SHARED && !d->async && !d->sends && !d->counts;
        d->quick = (uint8_t)(quick && ww_smem_one_part(&core->banks, d->width) ? 1 + d->path + d->stores : 0);
        d->side = ww_smem_side_by_side(&core->banks, d->width);
    }
}

void ww_lsu_begin(struct ww_sm *sm) {
    sm->lsu.quick = sm->collect || sm->cluster || sm->lsu.reexec.capacity ? 0 : UINT8_MAX;
}

/* The most usual of them: one pass, and nothing but registers to be told. */
static inline void do_quick(struct ww_sm *sm, const struct ww_lsu_entry *e, uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_lsu *l = &sm->lsu;
    const struct ww_dinst *d = &core->code.inst[e->inst];
    const struct ww_shared_cost *cost = &core->shared_cost[e->quick - 1];
    struct ww_warp *w = &sm->warp[e->warp];
    uint64_t ready = cycle + core->shared_ready + d->latency, entry = WW_SB(ready, (uint64_t)d->state);
    uint64_t free = cycle + cost->taken;
    core->counter[WW_C_SHARED_PASSES] += cost->passes;
    sm->l1.port_used += cost->pass;
    l->free = free;
    if (w->shared_at < free) w->shared_at = free;
    ww_lsu_pop(sm, w, cycle);
    if (--w->shared_queued == 0 && w->arriving) ww_barrier_shared_done(sm, w, cycle);
    const uint16_t *end = d->check + d->check_count, *r = end - d->result_count;
    if (r < end) { /* most have one */
        w->board[*r] = entry;
        while (++r < end) w->board[*r] = entry;
    }
    ww_warp_arrival(sm, w, cycle, d->state);
    ww_warp_memory_done(sm, w, cycle, ready);
    ww_lsu_release(sm, w, cycle);
}

/* Shuffles and shared memory: the whole instruction in one go; later ones wait for its passes. */
static void do_shared(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                      uint64_t cycle) {
    struct ww_core *core = sm->core;
    const struct ww_gpu_spec *gpu = core->gpu;
    uint64_t taken = 1, extra = 0;
    if (d->path != WW_L_SHUFFLE) {
        struct ww_smem_passes p = {1, 0};
        if (e->access && !ww_smem_one_pass(&core->banks, e->access, d->width)) {
            p = ww_shapes_passes(&core->shapes, &core->banks, e->access, e->pool, e->mask, d->width,
                                 d->path == WW_L_SHARED && !d->stores);
            core->counter[WW_C_SHARED_WIDE] += p.parts - 1;
            core->counter[WW_C_SHARED_CONFLICTS] += p.conflicts;
            core->epochs.inst[e->inst].counter[WW_I_SHARED_CONFLICTS] += p.conflicts;
        }
        core->counter[WW_C_SHARED_PASSES] += p.parts + p.conflicts;
        uint64_t pass =
            d->stores && gpu->shared_store_cycles ? gpu->shared_store_cycles : gpu->shared_pass_cycles;
        taken = (p.parts + p.conflicts) * pass;
        sm->l1.port_used += taken;
        extra = (p.parts - 1) * pass + ww_smem_latency(&core->banks, p.conflicts);
    }
    if (d->path == WW_L_SHARED_ATOMIC && e->access) {
        uint64_t updates =
            (uint64_t)ww_smem_same_address(e->access, e->pool, e->mask) * gpu->shared_atomic_cycles;
        taken += updates;
        extra += updates;
    }
    uint64_t generation = core->lsu_cycles;
    sm->lsu.free = cycle + (taken > generation ? taken : generation);
    struct ww_warp *w = &sm->warp[e->warp];
    uint64_t ready = cycle - 1 + gpu->shared_latency + gpu->lsu_latency + d->latency + extra;
    if (w->shared_at < sm->lsu.free) w->shared_at = sm->lsu.free;
    ww_lsu_pop(sm, w, cycle);
    if (d->counts) ww_depend_read(sm, w, d, cycle, cycle);
    if (--w->shared_queued == 0 && w->arriving) ww_barrier_shared_done(sm, w, cycle);
    if (sm->collect || d->async || d->sends || d->counts) {
        ww_lsu_write_results(sm, w, d, cycle, ready, d->state);
    } else {
        uint64_t entry = WW_SB(ready, (uint64_t)d->state);
        for (uint32_t i = 0; i < d->result_count; i++) w->board[ww_results(d)[i]] = entry;
        ww_warp_arrival(sm, w, cycle, d->state);
    }
    ww_warp_memory_done(sm, w, cycle, ready);
    ww_lsu_release(sm, w, cycle);
}

/* Shared memory of other CTAs of the cluster; the operation waits for all that is sent. False: none of it is.
 */
static bool do_peers(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_warp *w = &sm->warp[e->warp];
    uint32_t ranks = ww_cluster_ranks(e->access, e->pool, e->mask), op;
    if (!ranks) return false;
    sm->lsu.free = cycle + 1;
    if ((op = ww_pool_op(sm->core)) == WW_NONE) return true;
    struct ww_memory_op *o = &sm->core->pool.op[op];
    *o = (struct ww_memory_op){.sm = sm, .inst = e->inst, .warp = e->warp, .remaining = 1, .start = cycle};
    if (!ww_cluster_send(sm, e, op, ranks)) { /* again in the next cycle */
        sm->core->pool.op[op].next_free = sm->core->pool.op_free;
        sm->core->pool.op_free = op;
        return true;
    }
    sm->core->counter[WW_C_SHARED_PASSES]++;
    if (w->shared_at < sm->lsu.free) w->shared_at = sm->lsu.free;
    ww_lsu_pop(sm, w, cycle);
    if (d->counts) ww_depend_read(sm, w, d, cycle, cycle);
    if (--w->shared_queued == 0 && w->arriving) ww_barrier_shared_done(sm, w, cycle);
    ww_memory_op_part(sm->core, op, cycle, cycle, WW_LEVEL_L1);
    return true;
}

bool ww_lsu_head_loads(const void *of, uint32_t warp) {
    const struct ww_sm *sm = of;
    const struct ww_dinst *d = sm->warp[warp].head;
    return d->path == WW_L_LOAD && d->cache == WW_CACHE_L1;
}

static inline __attribute__((always_inline)) void start_requests(struct ww_sm *sm, const struct ww_lsu_entry *e,
                                                                 const struct ww_dinst *d, uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_lsu *l = &sm->lsu;
    struct ww_coalescer *c = &l->coalescer;
    c->count = 0;
    ww_coalesce_lines(c, core->request_shift[d->cache]);
    const struct ww_access *access = e->access;
    struct ww_access place;
    if (core->waits && access) {
        place = ww_access_place(&core->launch->inst[e->inst], access);
        access = &place;
    }
    if (e->access && d->local) {
        uint64_t frame = ((uint64_t)sm->id * core->gpu->sm_max_warps + e->warp) * core->local_words * 128;
        struct ww_local_frame where = {(1ull << 60) + frame, core->local_words};
        ww_coalesce_local(c, e->access, e->pool, e->mask, d->width, &where);
    } else if (e->access) {
        if (!ww_coalesce_line(c, access, e->mask, d->width))
            ww_shapes_coalesce(&core->shapes, c, access, e->pool, e->mask, d->width, d->path == WW_L_LOAD);
        if (d->path == WW_L_ATOMIC) ww_coalesce_updates(c, e->access, e->pool, e->mask);
    }
    if (core->waits) ww_waits_note(sm, e, d);
    l->banked = core->tag_banks && d->path == WW_L_LOAD && d->cache == WW_CACHE_L1;
    l->pass[0] = 0;
    if (l->banked && l->passes) ww_lsu_prefetch_requests(sm);
    if (l->banked && c->count > 1) ww_wavefront_order(c, core->tag_banks, l->pass);
    l->hit_lines = 0;
    l->active = true;
    l->passing = l->absent = false;
    l->start = cycle;
    l->next_request = 0;
    l->op = WW_NONE;
    if (!ww_lsu_has_reply(d) || sm->booked) return;
    l->op = ww_pool_op(core);
    if (l->op == WW_NONE) return;
    core->pool.op[l->op] = (struct ww_memory_op){
        .sm = sm, .inst = e->inst, .warp = e->warp, .remaining = 1, .start = cycle, .level = WW_LEVEL_L1};
    l->passing = l->banked && l->passes && c->count;
}

void ww_lsu_start_requests(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                           uint64_t cycle) {
    start_requests(sm, e, d, cycle);
}

bool ww_lsu_offer(struct ww_sm *sm, const struct ww_dinst *d, uint32_t warp, uint32_t op,
                  const struct ww_line_request *r, uint64_t cycle, uint32_t *cycles) {
    *cycles = 1;
    switch (d->path) {
    case WW_L_STORE:
        return ww_l1_store(sm, &sm->warp[warp], d, r);
    case WW_L_ATOMIC:
        return ww_l1_direct(sm, warp, op, d, r);
    default:
        if (d->cache == WW_CACHE_NONE) return ww_l1_direct(sm, warp, op, d, r);
        if (d->cache == WW_CACHE_TEX) return ww_l1_load(sm, &sm->tex, op, r, cycle, cycles);
        return ww_l1_load(sm, sm->fetch ? ww_fetch_where(sm, r->key) : &sm->l1, op, r, cycle, cycles);
    }
}

static void count_held(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    uint64_t cycles = cycle - l->held_since;
    l->held = false;
    sm->core->counter[WW_C_LSU_STALL_CYCLES] += cycles;
    if (d->cache != WW_CACHE_NONE) sm->core->counter[WW_C_L1_RESERVATION_FAIL] += cycles;
}

uint32_t ww_lsu_waves(const struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d) {
    uint32_t requests = sm->lsu.coalescer.count, waves = ww_wavefront_data(sm->core, e, d, requests);
    return (waves * sm->lsu.hit_lines + requests - 1) / requests;
}

/* The data of what hit, one wavefront after another. */
static void read_wavefronts(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d) {
    struct ww_lsu *l = &sm->lsu;
    uint32_t waves = ww_lsu_waves(sm, e, d);
    uint64_t ready = ww_cache_port(&sm->l1, l->start, waves) - 2 + sm->core->l1_shape.latency;
    struct ww_memory_op *o = &sm->core->pool.op[l->op];
    if (ready > o->ready) o->ready = ready;
    if (l->free < l->start + waves) l->free = l->start + waves;
}

void ww_lsu_finish_silent(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                          uint64_t ready) {
    if (d->counts) {
        ww_depend_written(sm, w, d, WW_SB(cycle, (uint64_t)d->state));
        ww_warp_arrival(sm, w, cycle, d->state);
    }
    ww_warp_memory_done(sm, w, cycle, ready);
    ww_lsu_release(sm, w, cycle);
}

void ww_lsu_finish_requests(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_lsu_entry *e = &sm->lsu.ring[sm->lsu.head];
    const struct ww_dinst *d = &sm->core->code.inst[e->inst];
    struct ww_warp *w = &sm->warp[e->warp];
    uint32_t op = sm->lsu.op;
    uint64_t generated = sm->lsu.start + sm->core->lsu_cycles;
    if (sm->lsu.free < generated) sm->lsu.free = generated;
    if (sm->lsu.banked && sm->lsu.hit_lines && op != WW_NONE) read_wavefronts(sm, e, d);
    if (sm->fetch && d->path == WW_L_LOAD && d->cache == WW_CACHE_L1) ww_fetch_load(sm, e, d, cycle);
    ww_lsu_pop(sm, w, sm->lsu.start);
    if (d->counts) ww_depend_read(sm, w, d, sm->lsu.start, cycle);
    if (op != WW_NONE) {
        ww_l1_part(sm->core, op, cycle, cycle - 1 + sm->core->l1_shape.latency);
        return;
    }
    ww_lsu_finish_silent(sm, w, d, cycle, cycle);
}

/* Parts of an operation that are not complete. */
static uint32_t remaining_parts(const struct ww_sm *sm, uint32_t op) {
    return op == WW_NONE ? 0 : sm->core->pool.op[op].remaining;
}

/* Offers the next request. False: it is refused, and holds the unit. */
static bool offer_next(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle,
                       uint32_t *cycles) {
    struct ww_lsu *l = &sm->lsu;
    uint32_t before = l->reexec.count ? remaining_parts(sm, l->op) : 0;
    const struct ww_line_request *r = &l->coalescer.request[l->next_request];
    if (!ww_lsu_offer(sm, d, e->warp, l->op, r, cycle, cycles)) {
        if (!l->reexec.capacity) {
            if (!l->held) l->held_since = cycle;
            l->held = true;
            return false;
        }
        ww_reexec_park(sm, &(struct ww_parked){*r, l->op, e->inst, e->warp});
    } else if (l->reexec.count && before == remaining_parts(sm, l->op) && l->op != WW_NONE) {
        sm->core->counter[WW_C_L1_HIT_UNDER_MISS]++; /* an operation that has nothing more to wait for */
    }
    if (l->held) count_held(sm, d, cycle);
    l->next_request++;
    return true;
}

static __attribute__((noinline)) void do_requests(struct ww_sm *sm, const struct ww_lsu_entry *e,
                                                  const struct ww_dinst *d, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    uint32_t cycles = 1;
    if (!l->active) start_requests(sm, e, d, cycle);
    if (l->passing) {
        ww_lsu_pass(sm, cycle);
        return;
    }
    l->retry = false;
    l->waits = WW_LSU_ANY;
    bool more = l->next_request < l->coalescer.count;
    while (more) {
        if (!offer_next(sm, e, d, cycle, &cycles)) return;
        more = ww_lsu_same_pass(l);
    }
    l->free = cycle + cycles;
    if (l->next_request >= l->coalescer.count)
        ww_lsu_finish_requests(sm, cycle);
    else if (d->path == WW_L_LOAD && d->cache == WW_CACHE_L1)
        ww_tags_prefetch(&sm->l1.tags, l->coalescer.request[l->next_request].key);
}

static __attribute__((noinline)) void do_any_shared(struct ww_sm *sm, const struct ww_lsu_entry *e,
                                                    const struct ww_dinst *d, uint64_t cycle) {
    bool peers = sm->cluster && d->path != WW_L_SHUFFLE && e->access;
    if (!peers || !do_peers(sm, e, d, cycle)) do_shared(sm, e, d, cycle);
}

/* What is not quick. */
static __attribute__((noinline)) void do_any(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_lsu *l = &sm->lsu;
    if (l->reexec.capacity && ww_reexec_turn(sm, cycle)) return;
    const struct ww_lsu_entry *e = &l->ring[l->head]; /* until something else issues */
    const struct ww_dinst *d = &sm->core->code.inst[e->inst];
    if (d->path <= WW_L_SHARED_ATOMIC)
        do_any_shared(sm, e, d, cycle);
    else if (sm->booked)
        ww_booked_step(sm, e, d, cycle);
    else
        do_requests(sm, e, d, cycle);
}

void ww_lsu_step(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_lsu_entry *e = &sm->lsu.ring[sm->lsu.head];
    if (e->quick)
        do_quick(sm, e, cycle);
    else if (sm->lsu.passing)
        ww_lsu_pass(sm, cycle);
    else
        do_any(sm, cycle);
}

/* Operations with a result: one part more is complete. */
void ww_memory_op_part(struct ww_core *core, uint32_t op, uint64_t cycle, uint64_t ready, uint32_t level) {
    struct ww_memory_op *o = &core->pool.op[op];
    if (ready > o->ready) o->ready = ready;
    if (level > o->level) o->level = (uint8_t)level;
    if (--o->remaining) return;
    struct ww_sm *sm = o->sm;
    struct ww_warp *w = &sm->warp[o->warp];
    const struct ww_dinst *d = &core->code.inst[o->inst];
    sm->answered = true;
    uint64_t at = o->ready + d->latency + (d->texture ? core->gpu->tex_latency : 0);
    uint32_t state = WW_S_WAIT_L1 + o->level;
    if (d->path == WW_L_LOAD && !d->texture) {
        core->counter[WW_C_LOAD_ANSWERED]++;
        core->counter[WW_C_LOAD_CYCLES] += at - o->start;
    }
    o->next_free = core->pool.op_free;
    core->pool.op_free = op;
    if (sm->barrel)
        ww_barrel_data(sm, w, o->inst, at, state);
    else
        ww_lsu_write_results(sm, w, d, cycle, at, state);
    ww_warp_memory_done(sm, w, cycle, at);
    ww_lsu_release(sm, w, cycle);
}
