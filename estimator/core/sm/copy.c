/* How long the warps of a CTA take to copy a tile from global to shared memory by themselves. */
#include "../../result/result.h"
#include "copy.h"

#include "sm.h"

void ww_copy_issue(struct ww_sm *sm, const struct ww_warp *w, uint32_t role, uint64_t cycle) {
    struct ww_copy *c = &sm->cta[w->cta].copy;
    if (!c->asked) c->asked = cycle + 1;
    if (role == WW_ROLE_LOAD) {
        if (!c->first_load) c->first_load = cycle + 1;
        c->last_load = cycle + 1;
    }
    if (role == WW_ROLE_STORE && c->first_load) c->last_store = cycle + 1;
}

static void note(struct ww_sm *sm, uint32_t cta, const struct ww_copy *c) {
    struct ww_transfer_log *log = sm->core->transfers;
    if (!log) return;
    if (log->count < log->capacity)
        log->row[log->count] = (struct ww_transfer){.sm = sm->id,
                                                    .cta = sm->cta[cta].trace.index,
                                                    .asked = c->asked - 1,
                                                    .first = c->first_load - 1,
                                                    .last = c->last_load - 1,
                                                    .done = c->last_store};
    log->count++;
}

void ww_copy_barrier(struct ww_sm *sm, uint32_t cta, uint64_t cycle) {
    struct ww_copy *c = &sm->cta[cta].copy;
    uint64_t *n = sm->core->counter;
    if (!c->last_store) return;
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++) ww_issue_count(&sm->sched[k], cycle);
    n[WW_C_TRANSFER]++;
    n[WW_C_TRANSFER_AGEN_CYCLES] += c->last_load + 1 - c->asked;
    n[WW_C_TRANSFER_MEM_CYCLES] += c->last_store + 1 - c->first_load;
    n[WW_C_TRANSFER_CYCLES] += c->last_store + 1 - c->asked;
    note(sm, cta, c);
    *c = (struct ww_copy){0};
}

/* What an SM whose warps all do is stalled by: transfers. */
static bool waits(const struct ww_sm *sm, const struct ww_warp *w) {
    if (w->done || w->state == WW_S_DMA_WAIT) return true;
    if (w->state == WW_S_BARRIER) return sm->cta[w->cta].copy.last_store != 0;
    uint32_t role = w->step < w->end ? sm->core->roles[w->step->inst] : WW_ROLE_NONE;
    if (w->state == WW_S_EXCESS_MEM) return role == WW_ROLE_LOAD || role == WW_ROLE_STORE;
    return w->state >= WW_S_WAIT_L1 && w->state <= WW_S_WAIT_TLB && role == WW_ROLE_STORE;
}

void ww_copy_stall(struct ww_sm *sm, uint64_t cycle) {
    uint32_t schedulers = sm->core->gpu->sm_schedulers, any = 0;
    uint64_t from = sm->copied;
    if (cycle <= from) return;
    sm->copied = cycle;
    for (uint32_t k = 0; k < schedulers; k++) {
        const struct ww_sched *s = &sm->sched[k];
        for (uint64_t m = s->view.resident; m; m &= m - 1) {
            const struct ww_warp *w = &s->warp[(uint32_t)__builtin_ctzll(m) * schedulers];
            if (!waits(sm, w)) return;
            any += !w->done;
        }
    }
    if (any) sm->core->counter[WW_C_TRANSFER_STALL_CYCLES] += cycle - from;
}
