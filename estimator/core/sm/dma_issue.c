/* dma_issue.c: the controllers of bulk transfers: which instruction starts one, and who waits for it. */
#include "../../base/bits.h"
#include "../../result/result.h"
#include "dma.h"
#include "sm.h"

enum ww_code ww_dma_init(struct ww_sm *sm, struct ww_arena *arena, struct ww_error *error) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    if (!sm->core->code.uses_dma) return WW_OK;
    if (!g->dma_engines)
        return ww_fail(error, WW_UNSUPPORTED, "",
                       "the trace has bulk transfers and %s no engine for them "
                       "(dma.engines is 0); --set dma.engines=1 gives it one, the GPU gtx480-d2ma has one",
                       g->name);
    struct ww_dma_engine *e = ww_arena_array(arena, 1, sizeof *e);
    if (!e) return ww_fail_nomem(error, "engine of bulk transfers");
    e->capacity = g->sm_max_ctas * WW_DMA_BUFFERS;
    e->controller = ww_arena_array(arena, g->sm_max_ctas, sizeof *e->controller);
    e->ring = ww_arena_array(arena, e->capacity, sizeof *e->ring);
    if (!e->controller || !e->ring) return ww_fail_nomem(error, "engine of bulk transfers");
    e->next = e->complete = WW_NEVER;
    sm->dma = e;
    return WW_OK;
}

void ww_dma_cta(struct ww_sm *sm, uint32_t cta) {
    sm->dma->controller[cta] = (struct ww_dma_controller){.waiting = 0};
}

static uint32_t warp_of(const struct ww_sm *sm, const struct ww_warp *w) {
    return (uint32_t)(w - sm->warp) - sm->cta[w->cta].first_warp;
}

/* Whether a lane's address lies in a buffer's tile (figure 7). */
static bool touches(const struct ww_warp *w, const struct ww_dinst *d, const struct ww_dma_buffer *b) {
    uint32_t rank = 0;
    for (uint32_t m = w->step->mask; m; m &= m - 1, rank++) {
        uint64_t at = ww_lane_address(w->access, w->pool, (uint32_t)__builtin_ctz(m), rank);
        if (at < b->end && at + d->width > b->begin) return true;
    }
    return false;
}

/* A load of a tile in flight waits, as does one of a tile that the warp itself has asked for. */
static bool admits_access(const struct ww_sm *sm, const struct ww_warp *w, const struct ww_dinst *d) {
    const struct ww_dma_controller *c = &sm->dma->controller[w->cta];
    uint32_t warp = warp_of(sm, w), hazards = 0;
    if (!d->result_count && d->path == WW_L_SHARED) return true; /* stores are not looked at */
    for (uint32_t watched = c->watched, k; watched; watched &= watched - 1) {
        k = (uint32_t)__builtin_ctz(watched);
        const struct ww_dma_buffer *b = &c->buffer[k];
        bool mine = b->armed && c->count[k][warp] > b->started;
        bool late = c->count[k][warp] < b->started; /* it reads a tile that has been replaced */
        if (!(b->in_flight || mine || late) || !touches(w, d, b)) continue;
        if (b->in_flight || mine) return false;
        hazards++;
    }
    sm->core->counter[WW_C_DMA_HAZARD] += hazards != 0;
    return true;
}

/* The transfer that the warp's next instruction starts; false: it makes no sense. */
static bool unpack(const struct ww_warp *w, struct ww_dma *t) {
    uint64_t room[32] = {0};
    return ww_dma_unpack(ww_list_addresses(w->access, w->pool, ww_bits(w->step->mask), room), t);
}

bool ww_dma_admits(struct ww_sm *sm, const struct ww_warp *w, const struct ww_dinst *d) {
    const struct ww_dma_controller *c = &sm->dma->controller[w->cta];
    if (d->action != WW_A_DMA) return !d->access || !c->watched || !w->step->mask || admits_access(sm, w, d);
    struct ww_dma t;
    if (!d->access || !w->step->mask || w->access->list == WW_AFFINE) return true;
    if (!unpack(w, &t)) return true; /* the issue says what is wrong */
    const struct ww_dma_buffer *b = &c->buffer[t.buffer];
    uint32_t count = c->count[t.buffer][warp_of(sm, w)];
    bool next = count == b->started && !b->armed;
    if (next) return !b->in_flight;
    return count <= b->started; /* not behind the one that is armed */
}

void ww_dma_wait(struct ww_sm *sm, const struct ww_warp *w) {
    sm->dma->controller[w->cta].waiting |= 1ull << (w - sm->warp);
    sm->core->counter[WW_C_DMA_SQUASH]++;
}

static void start(struct ww_sm *sm, uint32_t cta, uint32_t buffer, uint64_t cycle) {
    struct ww_dma_engine *e = sm->dma;
    struct ww_dma_controller *c = &e->controller[cta];
    struct ww_dma_buffer *b = &c->buffer[buffer];
    uint32_t at = e->head + e->count++;
    if (at >= e->capacity) at -= e->capacity;
    e->ring[at] = (uint16_t)(cta * WW_DMA_BUFFERS + buffer);
    b->armed = false;
    b->in_flight = true;
    b->generated = false;
    b->started++;
    b->outstanding = 0;
    b->started_at = cycle + 1; /* when the unit may look at it */
    b->generating = 0;
    b->first_at = WW_NEVER;
    b->last_at = b->done_at = 0;
    sm->cta[cta].live++; /* the CTA stays until its tiles have come */
    if (e->next > cycle + 1 && e->count == 1) e->next = cycle + 1;
}

bool ww_dma_all_at(const struct ww_sm *sm, uint32_t cta, uint32_t buffer, uint32_t starts) {
    const struct ww_cta *c = &sm->cta[cta];
    for (uint32_t w = 0; w < c->warps; w++)
        if (!sm->warp[c->first_warp + w].done && sm->dma->controller[cta].count[buffer][w] < starts)
            return false;
    return true;
}

/* The first warp brings a transfer. */
static void open_transfer(struct ww_sm *sm, const struct ww_warp *w, const struct ww_dma *d, uint32_t inst) {
    struct ww_dma_controller *c = &sm->dma->controller[w->cta];
    struct ww_dma_buffer *b = &c->buffer[d->buffer];
    b->d = *d;
    b->begin = d->shared;
    b->end = d->shared + ww_dma_bytes(d);
    b->armed = true;
    b->inst = inst;
    b->asked_at = c->asked[warp_of(sm, w)] - 1;
    c->watched |= (uint8_t)(1u << d->buffer);
}

static void fail(struct ww_sm *sm, const struct ww_warp *w, const struct ww_dinst *d, const char *why) {
    struct ww_core *core = sm->core;
    ww_core_fail(core, ww_fail(core->error, WW_INPUT, "", "CTA %llu: pc 0x%x: bulk transfer %s",
                               (unsigned long long)sm->cta[w->cta].trace.index, d->pc, why));
}

void ww_dma_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t mask,
                  uint64_t cycle) {
    struct ww_dma_controller *c = &sm->dma->controller[w->cta];
    struct ww_dma t;
    if (!mask) return;
    uint64_t *asked = &c->asked[warp_of(sm, w)];
    if (!*asked) *asked = cycle + 1;
    sm->core->counter[WW_C_DMA_INST]++;
    if (!d->access) return;
    if (w->access->list == WW_AFFINE || !unpack(w, &t)) {
        fail(sm, w, d, "that the table of an engine cannot hold");
        return;
    }
    struct ww_dma_buffer *b = &c->buffer[t.buffer];
    uint32_t *count = &c->count[t.buffer][warp_of(sm, w)];
    bool late = *count < b->started;
    if (!late && !b->armed) open_transfer(sm, w, &t, (uint32_t)(d - sm->core->code.inst));
    *asked = 0;
    ++*count;
    if (b->armed && (!sm->core->dma_plan.start_last || ww_dma_all_at(sm, w->cta, t.buffer, b->started + 1)))
        start(sm, w->cta, t.buffer, cycle);
    if (!b->armed && !b->in_flight && ww_dma_all_at(sm, w->cta, t.buffer, b->started))
        c->watched &= (uint8_t) ~(1u << t.buffer);
}

void ww_dma_exit(struct ww_sm *sm, uint32_t cta, uint64_t cycle) {
    struct ww_dma_controller *c = &sm->dma->controller[cta];
    for (uint32_t k = 0; k < WW_DMA_BUFFERS; k++)
        if (c->buffer[k].armed && ww_dma_all_at(sm, cta, k, c->buffer[k].started + 1)) start(sm, cta, k, cycle);
}
