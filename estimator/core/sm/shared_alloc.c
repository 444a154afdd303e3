/* Allocation while CTAs run: barriers of a CTA that allocate or free, and CTAs that wait for it. */
#include "../../result/result.h"
#include "sm.h"

bool ww_shared_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_shared_alloc *m = &sm->shared_alloc;
    if (!sm->core->shared_alloc.on) return true;
    m->table.count = 2 * g->sm_max_ctas;
    m->table.capacity = g->sm_shared_kb * 1024;
    m->table.entry = ww_arena_array(arena, m->table.count, sizeof *m->table.entry);
    m->waiting = ww_arena_array(arena, g->sm_max_ctas, sizeof *m->waiting);
    return m->table.entry && m->waiting;
}

bool ww_shared_place(struct ww_sm *sm, uint32_t cta) {
    uint32_t size = sm->core->shared_alloc.private_bytes;
    return size == 0 || ww_shared_take(&sm->shared_alloc.table, cta, cta * size, size, false);
}

static enum ww_code misuse(struct ww_sm *sm, const struct ww_cta *cta, uint32_t pc, const char *what) {
    return ww_fail(sm->core->error, WW_INPUT, "", "CTA %llu: pc 0x%x %s", (unsigned long long)cta->trace.index,
                   pc, what);
}

/* Gives the public part to the CTA of this slot, if one is free. */
static bool give(struct ww_sm *sm, uint32_t slot) {
    uint32_t start;
    if (!ww_shared_take_top(&sm->shared_alloc.table, slot, sm->core->shared_alloc.public_bytes, &start))
        return false;
    sm->cta[slot].allocated = true;
    sm->core->counter[WW_C_SMEM_ALLOC]++;
    return true;
}

/* Room has come: CTAs that wait get it in the order of their requests. */
static void serve(struct ww_sm *sm, uint64_t cycle) {
    struct ww_shared_alloc *m = &sm->shared_alloc;
    uint32_t served = 0;
    while (served < m->count && give(sm, m->waiting[served])) served++;
    for (uint32_t i = 0; i < served; i++) {
        uint32_t slot = m->waiting[i];
        sm->core->counter[WW_C_SMEM_WAIT_CYCLES] += cycle - sm->cta[slot].asked;
        ww_barrier_grant(sm, slot, cycle);
    }
    m->count -= served;
    for (uint32_t i = 0; i < m->count; i++) m->waiting[i] = m->waiting[i + served];
    /* A CTA whose private part was in the way of a public one can be placed now. */
    if (sm->core->next_cta < sm->core->cta_count && cycle + 1 < sm->core->dispatch_at)
        sm->core->dispatch_at = cycle + 1;
}

bool ww_shared_barrier(struct ww_sm *sm, uint32_t slot, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_cta *cta = &sm->cta[slot];
    struct ww_core *core = sm->core;
    if (d->smem == WW_SHARED_FREE) {
        if (!cta->allocated) {
            ww_core_fail(core, misuse(sm, cta, d->pc, "frees shared memory that the CTA has not allocated"));
            return true;
        }
        ww_shared_drop(&sm->shared_alloc.table, slot, true);
        cta->allocated = false;
        core->counter[WW_C_SMEM_FREE]++;
        serve(sm, cycle);
        return true;
    }
    if (cta->allocated) {
        ww_core_fail(core, misuse(sm, cta, d->pc, "allocates shared memory while the CTA holds some"));
        return true;
    }
    if (sm->shared_alloc.count == 0 && give(sm, slot)) return true;
    core->counter[WW_C_SMEM_STALL]++;
    cta->asked = cycle;
    sm->shared_alloc.waiting[sm->shared_alloc.count++] = slot;
    return false;
}

void ww_shared_end(struct ww_sm *sm, uint32_t slot, uint64_t cycle) {
    const struct ww_cta *cta = &sm->cta[slot];
    if (!sm->core->shared_alloc.on) return;
    if (cta->allocated) {
        ww_core_fail(sm->core, ww_fail(sm->core->error, WW_INPUT, "",
                                       "CTA %llu ended without freeing the shared memory that it allocated",
                                       (unsigned long long)cta->trace.index));
        return;
    }
    if (sm->core->shared_alloc.private_bytes) {
        ww_shared_drop(&sm->shared_alloc.table, slot, false);
        serve(sm, cycle - 1);
    }
}
