/* Requests that pass the L1: stores, atomics, and loads that it does not cache.
 *
 * With l1.write=through_allocate (Volta and later) a store takes the tag of its line and fetches nothing; a
 * sector that it fills can be read afterwards, others are fetched when they are read. */
#include "../../result/result.h"
#include "booked.h"
#include "l1_request.h"

/* Writes a request of all of the request line: a store, or what no cache holds. */
static inline void write_request(struct ww_mem_request *q, const struct ww_sm *sm,
                                 const struct ww_line_request *r, uint32_t chunks, enum ww_mem_kind kind,
                                 uint32_t tag, uint32_t inst) {
    ww_l1_write_request(q, sm, r, r->key << sm->core->request_shift[WW_CACHE_NONE], chunks, kind, tag, inst);
    q->fine = 1;
}

/* What a request writes, and what becomes of the lines that it finds. */
struct writing {
    const struct ww_line_request *request;
    uint32_t warp;
    enum ww_l1_write effect;
};

/* A store that takes the line's tag if the L1 does not hold it and has a line that is not reserved. It counts
 * as a hit if it finds the tag, whatever sectors are valid: stores look up no more. */
static uint32_t write_allocate(struct ww_sm *sm, const struct writing *w, uint64_t key, uint32_t line,
                               uint32_t sectors, uint32_t stored) {
    struct ww_cache *l = &sm->l1;
    bool found = line != WW_NO_LINE;
    if (found)
        ww_tags_touch(&l->tags, line);
    else
        line = ww_l1_take_line(sm, l, key, w->warp);
    bool whole = w->request->bytes >= 32 * ww_bits8(w->request->chunks);
    if (whole && line != WW_NO_LINE) l->tags.line[line].valid |= sectors & ~l->tags.line[line].pending;
    return found ? ww_bits8(stored) : 0;
}

static void evict(struct ww_sm *sm, uint32_t line, uint32_t sectors) {
    struct ww_cache *l = &sm->l1;
    if (l->tags.line[line].pending) {
        l->tags.line[line].valid &= ~sectors;
        return;
    }
    if (l->fetched) ww_fetch_lose(sm, l, line);
    l->tags.line[line].valid = 0;
    ww_tags_drop(&l->tags, line);
}

/* What a store or an atomic does to a line; chunks: of this line, stored and what the L2 makes of them. Gives
 * the stored sectors that hit. */
static inline uint32_t write_line(struct ww_sm *sm, const struct writing *w, uint64_t key, uint32_t chunks,
                                  uint32_t stored) {
    struct ww_cache *l = &sm->l1;
    uint32_t line = ww_tags_find(&l->tags, key), sectors = l->shape->sectors_of[chunks];
    if (sm->booked && line != WW_NO_LINE) ww_booked_settle(&l->tags.line[line], sm->booked->at);
    sm->core->counter[WW_C_L1_ACCESS]++;
    if (w->effect == WW_L1_EVICT && sm->fetch) ww_fetch_store(sm, key);
    if (w->effect == WW_L1_ALLOCATE) return write_allocate(sm, w, key, line, sectors, stored);
    if (line == WW_NO_LINE) return 0;
    uint32_t hits = sectors & ~l->tags.line[line].valid ? 0 : ww_bits8(stored);
    if (w->effect == WW_L1_EVICT)
        evict(sm, line, sectors);
    else if (w->effect == WW_L1_UPDATE)
        ww_tags_touch(&l->tags, line);
    return hits;
}

/* The same for all lines of a request. */
static uint32_t write_lines(struct ww_sm *sm, const struct ww_line_request *r, uint32_t warp,
                            enum ww_l1_write effect) {
    const struct ww_cache_shape *s = &sm->core->l1_shape;
    const struct writing w = {r, warp, effect};
    uint32_t stored = sm->core->chunks_of[r->chunks], hits = 0;
    if (!s->fine) return write_line(sm, &w, r->key, r->chunks, stored);
    uint32_t line_chunks = 1u << (s->line_shift - 5), in_line = (1u << line_chunks) - 1;
    for (uint32_t k = 0, at = 0; k <= s->offset_mask; k++, at += line_chunks)
        if (r->chunks >> at & in_line)
            hits += write_line(sm, &w, r->key * (s->offset_mask + 1) + k, r->chunks >> at & in_line,
                               stored >> at & in_line);
    return hits;
}

/* A thread's own data are never evicted by its stores. */
static enum ww_l1_write effect_of(const struct ww_core *core, const struct ww_dinst *d) {
    enum ww_l1_write effect = (enum ww_l1_write)core->gpu->l1_write;
    return d->local && effect == WW_L1_EVICT ? WW_L1_KEEP : effect;
}

static uint32_t acknowledgement(struct ww_sm *sm, uint32_t warp) {
    struct ww_warp *w = &sm->warp[warp];
    w->memory_count++;
    return WW_TAG_ACK | warp | (w->generation & WW_TAG_GENERATION) << 6;
}

/* Does to the L1 what a store does, and counts it. Returns its 32-byte chunks. */
static inline uint32_t store(struct ww_sm *sm, uint32_t warp, const struct ww_dinst *d,
                             const struct ww_line_request *r) {
    struct ww_core *core = sm->core;
    uint32_t chunks = core->chunks_of[r->chunks], sectors = ww_bits8(chunks), hits = 0;
    if (core->gpu->l1_enabled) hits = write_lines(sm, r, warp, effect_of(core, d));
    core->counter[WW_C_L1_SECTOR_WRITE] += sectors;
    core->counter[WW_C_L1_WRITE_HIT] += hits;
    core->counter[WW_C_L1_WRITE_MISS] += sectors - hits;
    core->epochs.inst[d - core->code.inst].counter[WW_I_SECTORS] += sectors;
    return chunks;
}

void ww_l1_store_request(struct ww_mem_request *q, struct ww_sm *sm, uint32_t warp, const struct ww_dinst *d,
                         const struct ww_line_request *r, uint32_t tag) {
    uint32_t chunks = store(sm, warp, d, r);
    write_request(q, sm, r, chunks, WW_MEM_WRITE, tag, (uint32_t)(d - sm->core->code.inst));
}

bool ww_l1_store(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                 const struct ww_line_request *r) {
    uint32_t warp = (uint32_t)(w - sm->warp);
    if (ww_l1_queue_full(sm) || ww_l1_not_owner(sm, warp)) return false;
    uint32_t tag = acknowledgement(sm, warp), chunks = store(sm, warp, d, r);
    write_request(ww_l1_next(sm), sm, r, chunks, WW_MEM_WRITE, tag, (uint32_t)(d - sm->core->code.inst));
    return true;
}

void ww_l1_direct_request(struct ww_mem_request *q, struct ww_sm *sm, uint32_t warp, const struct ww_dinst *d,
                          const struct ww_line_request *r, uint32_t tag) {
    struct ww_core *core = sm->core;
    uint32_t chunks = core->chunks_of[r->chunks], sectors = ww_bits8(chunks);
    bool atomic = d->path == WW_L_ATOMIC;
    uint32_t inst = (uint32_t)(d - core->code.inst);
    if (atomic && core->gpu->l1_enabled) {
        write_lines(sm, r, warp, WW_L1_EVICT);
    } else if (!atomic) {
        core->counter[WW_C_L1_SECTOR_READ] += sectors;
        core->counter[WW_C_L1_SECTOR_MISS] += sectors;
        core->epochs.inst[inst].counter[WW_I_L1_MISS] += sectors;
    }
    core->epochs.inst[inst].counter[WW_I_SECTORS] += sectors;
    write_request(q, sm, r, chunks, atomic ? WW_MEM_ATOMIC : WW_MEM_READ, tag, inst);
    q->strong = !atomic && !d->async;
}

bool ww_l1_direct(struct ww_sm *sm, uint32_t warp, uint32_t op, const struct ww_dinst *d,
                  const struct ww_line_request *r) {
    struct ww_core *core = sm->core;
    uint32_t tag;
    if (ww_l1_queue_full(sm) || ww_l1_not_owner(sm, warp)) return false;
    if (op == WW_NONE) {
        tag = acknowledgement(sm, warp);
    } else {
        uint32_t t = ww_pool_target(core);
        if (t == WW_NONE) return false;
        core->pool.target[t] = (struct ww_target){op, core->chunks_of[r->chunks], WW_NONE};
        core->pool.op[op].remaining++;
        tag = WW_TAG_TARGET | t;
    }
    struct ww_mem_request q;
    ww_l1_direct_request(&q, sm, warp, d, r, tag);
    ww_l1_queue(sm, &q);
    return true;
}
