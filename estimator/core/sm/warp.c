/* State of a warp: its head instruction, its start and its end. */
#include "../../result/result.h"
#include "booked.h"
#include "warp_head.h"

const uint8_t ww_slot_cause[WW_STATE_COUNT] = {
    [WW_S_ISSUED] = WW_SLOT_ISSUED,          [WW_S_WAIT_ALU] = WW_SLOT_WAIT_ALU,
    [WW_S_WAIT_SFU] = WW_SLOT_WAIT_ALU,      [WW_S_WAIT_SHARED] = WW_SLOT_WAIT_SHARED,
    [WW_S_WAIT_CONST] = WW_SLOT_WAIT_SHARED, [WW_S_WAIT_L1] = WW_SLOT_WAIT_MEM,
    [WW_S_WAIT_L2] = WW_SLOT_WAIT_MEM,       [WW_S_WAIT_DRAM] = WW_SLOT_WAIT_MEM,
    [WW_S_WAIT_TLB] = WW_SLOT_WAIT_MEM,      [WW_S_EXCESS_ALU] = WW_SLOT_EXCESS_ALU,
    [WW_S_EXCESS_MEM] = WW_SLOT_EXCESS_MEM,  [WW_S_BARRIER] = WW_SLOT_BARRIER,
    [WW_S_MEMBAR] = WW_SLOT_BARRIER,         [WW_S_SYNC] = WW_SLOT_SYNC,
    [WW_S_NO_INST] = WW_SLOT_NO_INST,        [WW_S_CONST_MISS] = WW_SLOT_CONST_MISS,
    [WW_S_NO_INST_L0] = WW_SLOT_NO_INST,     [WW_S_NO_INST_L15] = WW_SLOT_NO_INST,
    [WW_S_SMEM_WAIT] = WW_SLOT_SMEM_WAIT,    [WW_S_WAIT_STALL] = WW_SLOT_WAIT_STALL,
    [WW_S_WAIT_READ] = WW_SLOT_WAIT_READ,    [WW_S_DMA_WAIT] = WW_SLOT_DMA_WAIT,
    [WW_S_PAUSED] = WW_SLOT_PAUSED,          [WW_S_DONE] = WW_SLOT_DRAIN,
};

void ww_warp_head(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    if (!w->paused) ww_head_look(sm, w, cycle);
}

/* What ww_head_look would do, since the head has been looked at. */
void ww_warp_look_again(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint32_t served) {
    uint64_t entry = ww_head_entry(w, w->head), at = WW_SB_CYCLE(entry);
    uint32_t cause = ww_slot_cause[w->state];
    if (at == WW_NEVER && ww_slot_cause[WW_SB_STATE(entry)] == cause) return;
    if (ww_slot_cause[served] == cause) w->state = (uint8_t)served;
    ww_warp_count(sm, w, cycle);
    w->pending = false;
    if (!w->paused) ww_head_wait(sm, w, entry, cycle);
}

void ww_warp_release_fence(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    w->fenced = false;
    w->front = w->memory_at > cycle ? w->memory_at : cycle;
    w->front_state = WW_S_MEMBAR;
    ww_warp_head(sm, w, cycle);
}

void ww_warp_finish(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_cta *cta = &sm->cta[w->cta];
    w->done = true;
    w->fenced = false;
    ww_warp_set_state(sm, w, WW_S_DONE, cycle);
    cta->exited++;
    ww_barrier_exit(sm, cta, cycle - 1);
    if (sm->dma) ww_dma_exit(sm, w->cta, cycle);
    if (sm->cluster) ww_cluster_exit(sm, w);
    if (w->inflight == 0 && sm->booked && !ww_booked_gone(sm, w, cycle)) w->inflight++;
    if (w->inflight == 0)
        ww_cta_warp_gone(sm, w->cta, cycle);
    else
        sm->draining++;
}

void ww_warp_arrive(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint64_t first_fetch) {
    struct ww_core *core = sm->core;
    struct ww_sched *s = &sm->sched[w->sched];
    uint64_t bit = 1ull << w->slot;
    ww_issue_count(s, cycle);
    ww_cause_add(s, ww_slot_cause[WW_S_NO_INST]);
    s->view.resident |= bit;
    s->age[w->slot] = core->age++;
    ww_sched_put_in_order(s->before, s->view.resident, w->slot, core->ops->greedy);
    s->cta[w->slot] = w->cta;
    if (core->ops->arrived) core->ops->arrived(s->state, w->slot, s->age[w->slot]);
    w->state = w->front_state = WW_S_NO_INST;
    w->since = cycle;
    w->front = first_fetch;
    w->resident = true;
    sm->resident_warps++;
}

void ww_warp_leave(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[w->sched];
    ww_warp_count(sm, w, cycle);
    ww_issue_count(s, cycle);
    ww_cause_remove(s, ww_slot_cause[w->state]);
    s->view.resident &= ~(1ull << w->slot);
    s->view.waiting_long &= ~(1ull << w->slot);
    if (s->last == w) s->last = NULL;
    if (sm->core->ops->finished) sm->core->ops->finished(s->state, w->slot);
    w->resident = false;
    w->generation++;
    sm->resident_warps--;
}
