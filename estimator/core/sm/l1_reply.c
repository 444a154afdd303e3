/* Replies that come back to the L1: fills, waiting targets, loads that are complete. */
#include "sm.h"

#include "l1_tag.h"
#include <stdlib.h>

/* Doubles a pool; the new elements form its free list. The list threads through `next_free` and `next`. */
bool ww_pool_more_ops(struct ww_core *core) {
    struct ww_pool *p = &core->pool;
    uint32_t n = p->op_capacity ? 2 * p->op_capacity : 256;
    struct ww_memory_op *grown = n < 1u << 27 ? realloc(p->op, n * sizeof *grown) : NULL;
    if (!grown) {
        ww_core_fail(core, ww_fail_nomem(core->error, "outstanding memory operations"));
        return false;
    }
    for (uint32_t i = n; i-- > p->op_capacity; p->op_free = i) grown[i].next_free = p->op_free;
    p->op = grown;
    p->op_capacity = n;
    return true;
}

bool ww_pool_more_targets(struct ww_core *core) {
    struct ww_pool *p = &core->pool;
    uint32_t n = p->target_capacity ? 2 * p->target_capacity : 256;
    struct ww_target *grown = n < 1u << 27 ? realloc(p->target, n * sizeof *grown) : NULL;
    if (!grown) {
        ww_core_fail(core, ww_fail_nomem(core->error, "outstanding memory requests"));
        return false;
    }
    for (uint32_t i = n; i-- > p->target_capacity; p->target_free = i) grown[i].next = p->target_free;
    p->target = grown;
    p->target_capacity = n;
    return true;
}

void ww_pool_free(struct ww_pool *pool) {
    free(pool->op);
    free(pool->target);
    *pool = (struct ww_pool){.op_free = WW_NONE, .target_free = WW_NONE};
}

/* What a load that the reply serves has waited for. */
static uint8_t level_of(const struct ww_mem_reply *reply) {
    return reply->walked || reply->kind == WW_MEM_TRANSLATION ? WW_LEVEL_TLB : reply->level;
}

/* Takes the data port for a fill; returns the cycle at which its data are for use. */
static uint64_t fill_ready(struct ww_cache *c, uint32_t chunks, uint64_t cycle) {
    return ww_cache_port(c, cycle, c->shape->data_cycles[chunks]) - 1 + c->shape->latency;
}

static void close_entry(struct ww_sm *sm, struct ww_cache *l, uint32_t m) {
    const struct ww_lsu *lsu = &sm->lsu;
    uint32_t line = l->entry[m].line;
    l->tags.line[line].pins = 0;
    if (lsu->waits >= WW_LSU_ENTRY && lsu->wait_cache == l &&
        (lsu->waits == WW_LSU_ENTRY || ww_tags_set_of_line(&l->tags, line) == lsu->wait_set))
        sm->lsu.waits = WW_LSU_ANY;
    l->entry[m].next_free = l->free_entry;
    l->free_entry = m;
    l->used--;
}

/* First chunk of the line in its request line, where replies name chunks of that. */
static uint32_t place_of(const struct ww_cache *c, uint32_t line) {
    return (uint32_t)(c->tags.line[line].key & c->shape->offset_mask) << (c->shape->line_shift - 5);
}

/* Takes the targets out of the MSHR's list that wait for sectors of `bits`, and for nothing else; returns the
 * first of them, in the order of their requests (the list has the last one first). */
static inline uint32_t take_complete(struct ww_core *core, struct ww_mshr *e, uint32_t bits, uint8_t level) {
    uint32_t first = WW_NONE;
    for (uint32_t *link = &e->target, t = *link; t != WW_NONE; t = *link) {
        struct ww_target *target = &core->pool.target[t];
        struct ww_memory_op *o = &core->pool.op[target->op];
        if ((target->need & bits) && level > o->level) o->level = level;
        target->need &= ~bits;
        if (target->need) {
            link = &target->next;
            continue;
        }
        *link = target->next;
        e->count--;
        target->next = first;
        first = t;
    }
    return first;
}

/* Completes the parts of the targets. */
static void finish_parts(struct ww_core *core, uint32_t first, uint64_t cycle, uint64_t ready) {
    while (first != WW_NONE) {
        uint32_t t = first, op = core->pool.target[t].op;
        first = core->pool.target[t].next;
        ww_pool_target_free(&core->pool, t);
        ww_l1_part(core, op, cycle, ready);
    }
}

/* Sectors have come for a line: loads that wait for nothing else are completed. */
static void fill(struct ww_sm *sm, struct ww_cache *l, uint32_t m, const struct ww_mem_reply *reply,
                 uint64_t cycle) {
    struct ww_mshr *e = &l->entry[m];
    struct ww_tag_line *line = &l->tags.line[e->line];
    uint32_t sectors = reply->sectors >> place_of(l, e->line), bits = sectors & line->pending;
    uint32_t chunks = ww_bits8(reply->sectors) << l->shape->sector_shift;
    uint64_t ready = fill_ready(l, chunks, cycle);
    line->pending &= ~bits;
    line->valid |= bits;
    uint32_t first = take_complete(sm->core, e, bits, level_of(reply));
    if (line->pending == 0) {
        if (l->token) ww_fetch_filled(sm, l, m);
        close_entry(sm, l, m);
    }
    finish_parts(sm->core, first, cycle, ready);
}

/* The same of the L1's sectors if they are the last ones that their line waits for, and one load does: most
 * are. False: it is not so, and nothing has changed. */
static inline bool fill_last(struct ww_sm *sm, uint32_t m, const struct ww_mem_reply *reply, uint64_t cycle) {
    struct ww_cache *l = &sm->l1;
    const struct ww_mshr *e = &l->entry[m];
    struct ww_tag_line *line = &l->tags.line[e->line];
    uint32_t sectors = l->shape->fine ? reply->sectors >> place_of(l, e->line) : reply->sectors;
    uint32_t bits = line->pending, t = e->target;
    if (e->count != 1 || (bits & ~sectors)) return false;
    struct ww_pool *p = &sm->core->pool;
    uint32_t op = p->target[t].op;
    uint8_t level = level_of(reply);
    uint64_t ready = fill_ready(l, ww_bits8(reply->sectors) << l->shape->sector_shift, cycle);
    line->valid |= bits;
    line->pending = 0;
    if (level > p->op[op].level && (p->target[t].need & bits)) p->op[op].level = level;
    close_entry(sm, l, m);
    ww_pool_target_free(p, t);
    ww_l1_part(sm->core, op, cycle, ready);
    return true;
}

static void finish_target(struct ww_sm *sm, uint32_t t, const struct ww_mem_reply *reply, uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_target target = core->pool.target[t];
    uint64_t ready = fill_ready(&sm->l1, ww_bits8(reply->sectors), cycle);
    struct ww_memory_op *o = &core->pool.op[target.op];
    if (level_of(reply) > o->level) o->level = level_of(reply);
    if (ready > o->ready) o->ready = ready;
    if (!reply->last) return;
    ww_pool_target_free(&core->pool, t);
    ww_memory_op_part(core, target.op, cycle, ready, WW_LEVEL_L1);
}

static void acknowledge(struct ww_sm *sm, uint32_t tag, uint64_t cycle) {
    struct ww_warp *w = &sm->warp[tag & 63];
    sm->answered |= w->fenced;
    if (w->resident && (w->generation & WW_TAG_GENERATION) == ((tag >> 6) & WW_TAG_GENERATION))
        ww_warp_memory_done(sm, w, cycle, cycle);
}

/* A reply also brings the SM its page's translation. */
static void learn_page(struct ww_sm *sm, uint64_t address) {
    uint64_t page = address >> sm->page_shift;
    if (!ww_tlb_array_find(&sm->pages, page)) ww_tlb_array_fill(&sm->pages, page);
}

/* Any reply. */
static __attribute__((noinline)) void take_any(struct ww_sm *sm, const struct ww_mem_reply *reply,
                                               uint64_t cycle) {
    uint32_t kind = reply->tag & WW_TAG_KIND, value = reply->tag & ~WW_TAG_KIND;
    sm->answered = true;
    if (sm->page_shift && reply->kind < WW_MEM_PEER && !(kind == WW_TAG_TEX && (value & WW_TAG_CLUSTER)))
        learn_page(sm, reply->address);
    if (kind == WW_TAG_MSHR)
        fill(sm, &sm->l1, value, reply, cycle);
    else if (kind == WW_TAG_TEX && (value & WW_TAG_FETCH))
        fill(sm, &sm->fetch->own, value & ~WW_TAG_FETCH, reply, cycle);
    else if (kind == WW_TAG_TEX && (value & WW_TAG_CLUSTER) && (value & WW_TAG_EVENT))
        ww_mbar_told(sm, reply, cycle);
    else if (kind == WW_TAG_TEX && (value & WW_TAG_CLUSTER))
        ww_cluster_open(sm, value & ~WW_TAG_CLUSTER, reply->address, cycle);
    else if (kind == WW_TAG_TEX)
        fill(sm, &sm->tex, value, reply, cycle);
    else if (kind == WW_TAG_TARGET && (value & WW_TAG_DMA))
        ww_dma_reply(sm, value & ~WW_TAG_DMA, reply, cycle);
    else if (kind == WW_TAG_TARGET && (value & WW_TAG_TMA))
        ww_tma_reply(sm, value & ~WW_TAG_TMA, reply, cycle);
    else if (kind == WW_TAG_TARGET && (value & WW_TAG_PEER))
        ww_cluster_reply(sm, value & ~WW_TAG_PEER, cycle);
    else if (kind == WW_TAG_TARGET)
        finish_target(sm, value, reply, cycle);
    else if (reply->last)
        acknowledge(sm, value, cycle);
    ww_dma_retry(sm->dma, cycle);
    if (sm->fetch) sm->fetch->blocked = false;
}

void ww_l1_reply(struct ww_sm *sm, const struct ww_mem_reply *reply, uint64_t cycle) {
    uint32_t kind = reply->tag & WW_TAG_KIND, value = reply->tag & ~WW_TAG_KIND;
    bool alone = sm->lsu.skips_retries && !sm->page_shift; /* nothing else takes part in it */
    if (reply->last) {
        sm->core->inflight--;
        sm->outstanding--;
    }
    sm->lsu.retry = true;
    if (kind == WW_TAG_MSHR && alone && fill_last(sm, value, reply, cycle)) return;
    if (kind == WW_TAG_ACK && alone && reply->last)
        acknowledge(sm, value, cycle);
    else
        take_any(sm, reply, cycle);
}
