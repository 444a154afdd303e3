/* reexec.c: the re-execution queue of the load/store unit (Sethia et al., Mascar, HPCA 2015, section on cache
 * access re-execution).
 *
 *   LSU --refused--> tail ... head --tried again--> L1
 *                     ^----refused again----'
 *
 * An entry is one line request with its address. The unit tries the head when it has nothing new to do, or
 * nothing that it may do: the queue is full, or its instruction's warp has another one in the queue. Once all
 * entries have been refused since the last change at the L1, the unit sleeps until the next change, for nothing
 * else can be accepted; attempts are counted up to there. */
#include "../../result/result.h"
#include "sm.h"

bool ww_reexec_init(struct ww_sm *sm, struct ww_arena *arena, uint32_t entries) {
    struct ww_reexec *q = &sm->lsu.reexec;
    q->capacity = entries;
    if (!entries) return true;
    q->ring = ww_arena_array(arena, entries, sizeof *q->ring);
    return q->ring != NULL;
}

static struct ww_parked *at(struct ww_reexec *q, uint32_t i) {
    uint32_t k = q->head + i;
    return &q->ring[k >= q->capacity ? k - q->capacity : k];
}

/* The warp's memory instructions are held back while it has requests in the queue. */
static void set_parked(struct ww_sm *sm, uint32_t warp, bool parked) {
    struct ww_sched *s = &sm->sched[sm->warp[warp].sched];
    uint64_t bit = 1ull << sm->warp[warp].slot;
    sm->lsu.reexec.warps = (sm->lsu.reexec.warps & ~(1ull << warp)) | (uint64_t)parked << warp;
    s->view.parked = parked ? s->view.parked | bit : s->view.parked & ~bit;
    if (!parked && (s->unit_ready[WW_G_LSU] & bit)) ww_sched_try(sm, s, 0);
}

void ww_reexec_park(struct ww_sm *sm, const struct ww_parked *p) {
    struct ww_reexec *q = &sm->lsu.reexec;
    struct ww_core *core = sm->core;
    *at(q, q->count) = *p;
    q->count++;
    if (q->of[p->warp]++ == 0) set_parked(sm, p->warp, true);
    q->refused = q->count; /* nothing has changed since it was refused, nor for the others */
    core->inflight++;
    core->counter[WW_C_REEXEC_PUSH]++;
    if (p->op != WW_NONE) {
        core->pool.op[p->op].remaining++;
    } else {
        sm->warp[p->warp].memory_count++;
        sm->warp[p->warp].inflight++;
    }
}

/* The head has been accepted. */
static void leave(struct ww_sm *sm, uint64_t cycle) {
    struct ww_reexec *q = &sm->lsu.reexec;
    struct ww_parked p = *at(q, 0);
    struct ww_warp *w = &sm->warp[p.warp];
    if (++q->head == q->capacity) q->head = 0;
    q->count--;
    q->refused = 0;
    if (--q->of[p.warp] == 0) set_parked(sm, p.warp, false);
    sm->core->inflight--;
    if (p.op != WW_NONE) {
        ww_memory_op_part(sm->core, p.op, cycle, cycle - 1 + sm->core->l1_shape.latency, WW_LEVEL_L1);
        return;
    }
    ww_warp_memory_done(sm, w, cycle, cycle);
    ww_lsu_release(sm, w, cycle);
}

static void to_tail(struct ww_reexec *q) {
    struct ww_parked p = *at(q, 0);
    *at(q, q->count) = p; /* if the queue is full, its own place */
    if (++q->head == q->capacity) q->head = 0;
    q->refused++;
}

/* The unit has an instruction that it may not work on. */
static bool is_blocked(const struct ww_sm *sm) {
    const struct ww_lsu *l = &sm->lsu;
    if (l->count == 0) return false;
    if (l->reexec.count == l->reexec.capacity) return true;
    const struct ww_lsu_entry *e = &l->ring[l->head];
    if (l->active || sm->core->code.inst[e->inst].path <= WW_L_SHARED_ATOMIC) return false;
    return (l->reexec.warps >> e->warp) & 1;
}

/* Stall cycles are those in which an instruction is blocked and nothing is accepted. */
static void count_stall(struct ww_sm *sm, bool stalled, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    if (l->stalled) sm->core->counter[WW_C_LSU_STALL_CYCLES] += cycle - l->held_since;
    l->stalled = stalled;
    l->held_since = cycle;
}

bool ww_reexec_turn(struct ww_sm *sm, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    struct ww_reexec *q = &l->reexec;
    uint32_t cycles = 1;
    bool blocked = is_blocked(sm);
    if (l->retry) q->refused = 0;
    l->retry = l->held = false;
    if (l->count && !blocked) {
        count_stall(sm, false, cycle);
        return false;
    }
    if (q->refused >= q->count) {
        l->held = true;
        count_stall(sm, blocked, cycle);
        return true;
    }
    sm->core->counter[WW_C_REEXEC_TRY]++;
    l->from_queue = true;
    const struct ww_parked *p = at(q, 0);
    bool accepted =
        ww_lsu_offer(sm, &sm->core->code.inst[p->inst], p->warp, p->op, &p->request, cycle, &cycles);
    l->from_queue = false;
    count_stall(sm, blocked && !accepted, cycle);
    if (accepted)
        leave(sm, cycle);
    else
        to_tail(q);
    l->free = cycle + cycles;
    return true;
}

bool ww_lsu_unsent(const void *of, uint32_t warp) {
    const struct ww_sm *sm = of;
    const struct ww_lsu *l = &sm->lsu;
    if ((l->reexec.warps >> warp) & 1) return true;
    for (uint32_t i = 0, k = l->head; i < l->count; i++) {
        const struct ww_lsu_entry *e = &l->ring[k];
        if (e->warp == warp && sm->core->code.inst[e->inst].path > WW_L_SHARED_ATOMIC) return true;
        k = (k + 1) & l->ring_mask;
    }
    return false;
}
