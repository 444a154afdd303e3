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

/* The warp waits for the data of a copy's load, or at a barrier for other warps' stores. */
static bool waits(const struct ww_sm *sm, const struct ww_warp *w) {
    if (w->done) return true;
    if (w->state == WW_S_BARRIER) return sm->cta[w->cta].copy.last_store != 0;
    if (w->state < WW_S_WAIT_L1 || w->state > WW_S_WAIT_TLB) return false;
    return sm->core->roles[w->step->inst] == WW_ROLE_STORE;
}

void ww_copy_stall(struct ww_sm *sm, const struct ww_sched *s, uint64_t cycles) {
    uint32_t any = 0;
    for (uint64_t m = s->view.resident; m; m &= m - 1) {
        const struct ww_warp *w = &s->warp[(uint32_t)__builtin_ctzll(m) * sm->core->gpu->sm_schedulers];
        if (!waits(sm, w)) return;
        any += !w->done;
    }
    if (any) sm->core->counter[WW_C_TRANSFER_STALL_SLOTS] += cycles;
}
