/* The data caches of an SM: the L1 and, where the GPU has one, a texture cache beside it. */
#include "../../result/result.h"
#include "sm.h"

#include "l1_tag.h"

/* Memory is saturated and the scheduler lets no request of this warp go to the L2. */
static bool not_owner(struct ww_sm *sm, uint32_t warp) {
    const struct ww_sched_ops *ops = sm->core->ops;
    if (!ops->may_miss || !ww_l1_saturated(sm)) return false;
    if (ops->may_miss(&sm->shared, warp, sm->lsu.from_queue)) return false;
    sm->core->counter[WW_C_OWNER_REFUSED]++;
    return true;
}

static bool queue_full(const struct ww_sm *sm) {
    return sm->misses.count >= sm->core->gpu->l1_miss_queue;
}

void ww_l1_queue(struct ww_sm *sm, const struct ww_mem_request *request) {
    struct ww_miss_queue *l = &sm->misses;
    uint32_t at = l->head + l->count++, capacity = sm->core->gpu->l1_miss_queue;
    sm->core->inflight++;
    sm->asked++;
    if (at >= capacity) at -= capacity;
    l->ring[at] = *request;
}

bool ww_l1_send(struct ww_sm *sm, uint64_t ps) {
    struct ww_miss_queue *l = &sm->misses;
    if (!ww_memsys_send(sm->core->memory, &l->ring[l->head], ps)) {
        l->refused = true;
        return false;
    }
    if (++l->head == sm->core->gpu->l1_miss_queue) l->head = 0;
    l->count--;
    sm->lsu.retry = true;
    if (sm->lsu.waits == WW_LSU_QUEUE) sm->lsu.waits = WW_LSU_ANY;
    if (sm->fetch) sm->fetch->blocked = false;
    return true;
}

/* A request of the line at `address`; the memory system's sectors are the caller's. */
static struct ww_mem_request request_of(const struct ww_sm *sm, const struct ww_line_request *r,
                                        uint64_t address, uint32_t sectors, enum ww_mem_kind kind, uint32_t tag,
                                        uint32_t inst) {
    return (struct ww_mem_request){.address = address,
                                   .sectors = sectors,
                                   .tag = tag,
                                   .sm = (uint16_t)sm->id,
                                   .kind = (uint8_t)kind,
                                   .needs_reply = 1,
                                   .bytes = kind == WW_MEM_READ ? 0 : r->bytes,
                                   .atomic_ops = kind == WW_MEM_ATOMIC ? r->updates : 0,
                                   .inst = inst};
}

/* The same, of all of the request line: a store, or what no cache holds. */
static struct ww_mem_request whole_request(const struct ww_sm *sm, const struct ww_line_request *r,
                                           uint32_t pieces, enum ww_mem_kind kind, uint32_t tag,
                                           uint32_t inst) {
    uint64_t address = r->key << sm->core->request_shift[WW_CACHE_NONE];
    struct ww_mem_request q = request_of(sm, r, address, pieces, kind, tag, inst);
    q.fine = 1;
    return q;
}

/* Asks the memory system for sectors of a cache's line. A cache with shorter lines than requests have names
 * the pieces of the request line. */
static void ask(struct ww_sm *sm, const struct ww_cache *c, const struct ww_line_request *r, uint32_t sectors,
                uint32_t entry, uint32_t inst) {
    const struct ww_cache_shape *s = c->shape;
    uint64_t first = r->key & ~(uint64_t)s->offset_mask;
    if (s->fine) sectors <<= (r->key & s->offset_mask) << (s->line_shift - 5);
    struct ww_mem_request q =
        request_of(sm, r, first << s->line_shift, sectors, WW_MEM_READ, s->tag | entry, inst);
    q.fine = s->fine;
    ww_l1_queue(sm, &q);
}

/* Takes the data port for so many pieces; returns the cycle at which the last of them has passed it. */
static uint64_t take_port(struct ww_cache *c, uint32_t pieces, uint64_t cycle) {
    uint64_t from = c->port_free > cycle ? c->port_free : cycle;
    c->port_free = from + c->shape->data_cycles[pieces];
    return c->port_free - 1;
}

/* Counters are of 32-byte pieces. */
static void count_load(struct ww_sm *sm, const struct ww_cache_shape *s, uint32_t inst, uint32_t hit,
                       uint32_t merged, uint32_t miss) {
    uint64_t *n = sm->core->counter;
    uint64_t h = (uint64_t)ww_bits8(hit) << s->sector_shift, g = (uint64_t)ww_bits8(merged) << s->sector_shift,
             m = (uint64_t)ww_bits8(miss) << s->sector_shift;
    n[s->access]++;
    n[s->read] += h + g + m;
    n[s->hit] += h;
    n[s->merged] += g;
    n[s->miss] += m;
    uint64_t *of = sm->core->epochs.inst[inst].counter;
    of[WW_I_SECTORS] += h + g + m;
    of[WW_I_L1_MISS] += m;
    of[WW_I_L1_MERGED] += g;
}

/* A miss of the warp takes the line. */
static void tell_scheduler(struct ww_sm *sm, uint64_t key, uint32_t line, uint32_t warp, uint64_t cycle) {
    const struct ww_sched_ops *ops = sm->core->ops;
    uint64_t old = sm->l1.tags.line[line].key;
    if (old != UINT64_MAX) ops->evicted(&sm->shared, sm->l1.brought[line], old);
    sm->l1.brought[line] = (uint8_t)warp;
    ops->missed(&sm->shared, warp, key, cycle);
}

/* The line for a miss: the one that holds the key, or a victim made empty. WW_NO_LINE: all are reserved. */
static uint32_t allocate(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t line, uint32_t warp,
                         uint64_t cycle) {
    if (line != WW_NO_LINE) return line;
    line = ww_tags_victim(&c->tags, key);
    if (line == WW_NO_LINE) return line;
    if (c->brought) tell_scheduler(sm, key, line, warp, cycle);
    if (c->fetched) ww_fetch_lose(sm, c, line);
    if (ww_tags_replace(&c->tags, line, key)) sm->core->counter[c->shape->evicted]++;
    c->tags.line[line].valid = 0;
    return line;
}

static uint32_t open_entry(struct ww_cache *c, uint32_t line) {
    uint32_t m = c->free_entry;
    c->free_entry = c->entry[m].next_free;
    c->used++;
    c->entry[m] = (struct ww_mshr){.line = line, .target = WW_NONE, .next_free = WW_NONE};
    c->tags.line[line].mshr = m;
    if (c->token) c->token[m] = WW_FETCH_NO_TOKEN;
    c->tags.line[line].pins = 1;
    return m;
}

/* Notes what the refused request waits for. */
static bool refuse(struct ww_sm *sm, const struct ww_cache *c, enum ww_lsu_wait waits) {
    if (!sm->lsu.knows) return false;
    sm->lsu.waits = (uint8_t)waits;
    sm->lsu.wait_cache = c;
    return false;
}

/* True if an MSHR with room is there for the line, and a place in the miss queue if one is needed. */
static bool can_miss(struct ww_sm *sm, const struct ww_cache *c, uint32_t line, uint32_t miss) {
    if (miss && queue_full(sm)) return refuse(sm, c, WW_LSU_QUEUE);
    if (line == WW_NO_LINE || !c->tags.line[line].pending)
        return c->free_entry != WW_NONE || refuse(sm, c, WW_LSU_ENTRY);
    return c->entry[c->tags.line[line].mshr].count < c->shape->mshr_merge;
}

/* By the addresses of the load that the unit works on (A. Sethia's dissertation, figure 5.8). Lists hold what
 * no base and stride describe, and what was parked is counted as such. */
static void count_pattern(struct ww_sm *sm, uint64_t pieces) {
    const struct ww_lsu *l = &sm->lsu;
    const struct ww_lsu_entry *e = &l->ring[l->head];
    if (l->from_queue || !e->access || e->access->list != WW_AFFINE || !(e->mask & (e->mask - 1))) return;
    sm->core->counter[e->access->stride ? WW_C_L1_MISS_STRIDED : WW_C_L1_MISS_INVARIANT] += pieces;
}

/* All lines of the key's set are reserved. A random victim is drawn anew at each try. */
static bool refuse_set(struct ww_sm *sm, const struct ww_cache *c, uint64_t key) {
    if (c->tags.replace == WW_REPLACE_RANDOM) return false;
    sm->lsu.wait_set = ww_tags_set(&c->tags, key);
    return refuse(sm, c, WW_LSU_SET);
}

static bool load_miss(struct ww_sm *sm, struct ww_cache *c, uint32_t op, const struct ww_line_request *r,
                      uint32_t line, uint32_t hit, uint32_t merged, uint32_t miss, uint64_t cycle) {
    struct ww_core *core = sm->core;
    uint32_t warp = core->pool.op[op].warp;
    if (!can_miss(sm, c, line, miss)) return false;
    if (miss && not_owner(sm, warp)) return false;
    line = allocate(sm, c, r->key, line, warp, cycle);
    if (line == WW_NO_LINE) return refuse_set(sm, c, r->key);
    uint32_t m = c->tags.line[line].pending ? c->tags.line[line].mshr : open_entry(c, line);
    uint32_t t = ww_pool_target(core), inst = core->pool.op[op].inst;
    if (t == WW_NONE) return false;
    core->pool.target[t] = (struct ww_target){op, merged | miss, c->entry[m].target};
    c->entry[m].target = t;
    c->entry[m].count++;
    c->tags.line[line].pending |= miss;
    core->pool.op[op].remaining++;
    count_load(sm, c->shape, inst, hit, merged, miss);
    if (!miss) return true;
    if (c == &sm->l1) count_pattern(sm, (uint64_t)ww_bits8(miss) << c->shape->sector_shift);
    ask(sm, c, r, miss, m, inst);
    return true;
}

bool ww_l1_prefetch(struct ww_sm *sm, struct ww_cache *c, const struct ww_line_request *r, uint32_t warp,
                    uint32_t inst, uint64_t cycle) {
    uint32_t line = ww_tags_find(&c->tags, r->key), sectors = c->shape->sectors_of[r->pieces];
    if (line != WW_NO_LINE) sectors &= ~(c->tags.line[line].valid | c->tags.line[line].pending);
    bool open = line != WW_NO_LINE && c->tags.line[line].pending;
    if (queue_full(sm) || (!open && c->free_entry == WW_NONE)) return false;
    line = allocate(sm, c, r->key, line, warp, cycle);
    if (line == WW_NO_LINE) return false;
    uint32_t m = open ? c->tags.line[line].mshr : open_entry(c, line);
    c->tags.line[line].pending |= sectors;
    sm->core->counter[WW_C_PREFETCH_SECTOR] += (uint64_t)ww_bits8(sectors) << c->shape->sector_shift;
    ask(sm, c, r, sectors, m, inst);
    return true;
}

/* A hit on a page that the SM has no translation of: a request for it goes to the TLB, beside the L2, and the
 * data are read when it is back (Mei and Chu, TPDS 2017, section 5.2: P2 of the GTX560Ti). */
static bool translate_hit(struct ww_sm *sm, uint32_t op, const struct ww_line_request *r) {
    struct ww_core *core = sm->core;
    const struct ww_cache_shape *s = &core->l1_shape;
    uint64_t first = r->key & ~(uint64_t)s->offset_mask;
    uint32_t pieces = (uint32_t)core->pieces_of[r->pieces] << ((r->key - first) << (s->line_shift - 5));
    if (queue_full(sm)) return false;
    uint32_t t = ww_pool_target(core);
    if (t == WW_NONE) return false;
    core->pool.target[t] = (struct ww_target){op, pieces, WW_NONE};
    core->pool.op[op].remaining++;
    struct ww_mem_request q = request_of(sm, r, first << s->line_shift, pieces, WW_MEM_TRANSLATION,
                                         WW_TAG_TARGET | t, core->pool.op[op].inst);
    q.bytes = 0;
    q.fine = 1;
    ww_l1_queue(sm, &q);
    return true;
}

/* True if a hit in the cache needs no translation, or the SM has that of the page. */
static bool translated(struct ww_sm *sm, const struct ww_cache *c, uint64_t key) {
    if (!sm->page_shift || c != &sm->l1) return true;
    return ww_tlb_array_find(&sm->pages, key << c->shape->line_shift >> sm->page_shift);
}

bool ww_l1_load(struct ww_sm *sm, struct ww_cache *c, uint32_t op, const struct ww_line_request *r,
                uint64_t cycle, uint32_t *cycles) {
    const struct ww_cache_shape *s = c->shape;
    uint32_t line = ww_tags_find(&c->tags, r->key), hit = 0, merged = 0, sectors = s->sectors_of[r->pieces];
    if (line != WW_NO_LINE) {
        hit = sectors & c->tags.line[line].valid;
        merged = sectors & c->tags.line[line].pending;
    }
    uint32_t miss = sectors & ~(hit | merged);
    if (merged | miss) {
        if (!load_miss(sm, c, op, r, line, hit, merged, miss, cycle)) return false;
    } else {
        bool known = translated(sm, c, r->key);
        if (!known && !translate_hit(sm, op, r)) return false;
        count_load(sm, s, sm->core->pool.op[op].inst, hit, 0, 0);
        if (!known) hit = 0; /* its data are read later */
    }
    if (c->fetched) ww_fetch_note(sm, c, r->key, line, merged, miss);
    if (line != WW_NO_LINE) ww_tags_touch(&c->tags, line);
    if (hit) {
        uint32_t pieces = ww_bits8(hit) << s->sector_shift, asked = ww_bits8(r->pieces);
        if (asked < pieces) pieces = asked;
        uint64_t ready = take_port(c, pieces, cycle) - 1 + s->latency;
        struct ww_memory_op *o = &sm->core->pool.op[op];
        if (ready > o->ready) o->ready = ready;
        if (c != &sm->tex) *cycles = s->data_cycles[pieces]; /* the texture path has a queue of its own */
    }
    return true;
}

/* What a store or an atomic does to a line that the L1 holds; pieces: of this line, stored and what the L2
 * makes of them. Gives the stored sectors that were there. */
static uint32_t write_line(struct ww_sm *sm, uint64_t key, uint32_t pieces, uint32_t stored, bool evict) {
    struct ww_cache *l = &sm->l1;
    uint32_t line = ww_tags_find(&l->tags, key), sectors = l->shape->sectors_of[pieces];
    sm->core->counter[WW_C_L1_ACCESS]++;
    if (evict && sm->fetch) ww_fetch_store(sm, key);
    if (line == WW_NO_LINE) return 0;
    uint32_t hits = sectors & ~l->tags.line[line].valid ? 0 : ww_bits8(stored);
    if (!evict) {
        if (sm->core->gpu->l1_write == WW_L1_UPDATE) ww_tags_touch(&l->tags, line);
    } else if (l->tags.line[line].pending) {
        l->tags.line[line].valid &= ~sectors;
    } else {
        if (l->fetched) ww_fetch_lose(sm, l, line);
        l->tags.line[line].valid = 0;
        ww_tags_drop(&l->tags, line);
    }
    return hits;
}

/* The same for all lines of a request. */
static uint32_t write_lines(struct ww_sm *sm, const struct ww_line_request *r, bool evict) {
    const struct ww_cache_shape *s = &sm->core->l1_shape;
    uint32_t stored = sm->core->pieces_of[r->pieces], hits = 0;
    if (!s->fine) return write_line(sm, r->key, r->pieces, stored, evict);
    uint32_t line_pieces = 1u << (s->line_shift - 5), in_line = (1u << line_pieces) - 1;
    for (uint32_t k = 0, at = 0; k <= s->offset_mask; k++, at += line_pieces)
        if (r->pieces >> at & in_line)
            hits += write_line(sm, r->key * (s->offset_mask + 1) + k, r->pieces >> at & in_line,
                               stored >> at & in_line, evict);
    return hits;
}

static uint32_t acknowledgement(struct ww_sm *sm, uint32_t warp) {
    struct ww_warp *w = &sm->warp[warp];
    w->memory_count++;
    return WW_TAG_ACK | warp | (w->generation & WW_TAG_GENERATION) << 6;
}

bool ww_l1_store(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                 const struct ww_line_request *r) {
    struct ww_core *core = sm->core;
    uint32_t pieces = core->pieces_of[r->pieces], sectors = ww_bits8(pieces);
    uint32_t inst = (uint32_t)(d - core->code.inst);
    if (queue_full(sm) || not_owner(sm, (uint32_t)(w - sm->warp))) return false;
    uint32_t hits = 0;
    if (core->gpu->l1_enabled) hits = write_lines(sm, r, !d->local && core->gpu->l1_write == WW_L1_EVICT);
    core->counter[WW_C_L1_SECTOR_WRITE] += sectors;
    core->counter[WW_C_L1_WRITE_HIT] += hits;
    core->counter[WW_C_L1_WRITE_MISS] += sectors - hits;
    core->epochs.inst[inst].counter[WW_I_SECTORS] += sectors;
    struct ww_mem_request q =
        whole_request(sm, r, pieces, WW_MEM_WRITE, acknowledgement(sm, (uint32_t)(w - sm->warp)), inst);
    ww_l1_queue(sm, &q);
    return true;
}

bool ww_l1_direct(struct ww_sm *sm, uint32_t warp, uint32_t op, const struct ww_dinst *d,
                  const struct ww_line_request *r) {
    struct ww_core *core = sm->core;
    uint32_t pieces = core->pieces_of[r->pieces], sectors = ww_bits8(pieces);
    bool atomic = d->path == WW_L_ATOMIC;
    uint32_t inst = (uint32_t)(d - core->code.inst), tag;
    if (queue_full(sm) || not_owner(sm, warp)) return false;
    if (op == WW_NONE) {
        tag = acknowledgement(sm, warp);
    } else {
        uint32_t t = ww_pool_target(core);
        if (t == WW_NONE) return false;
        core->pool.target[t] = (struct ww_target){op, pieces, WW_NONE};
        core->pool.op[op].remaining++;
        tag = WW_TAG_TARGET | t;
    }
    if (atomic && core->gpu->l1_enabled) {
        write_lines(sm, r, true);
    } else if (!atomic) {
        core->counter[WW_C_L1_SECTOR_READ] += sectors;
        core->counter[WW_C_L1_SECTOR_MISS] += sectors;
        core->epochs.inst[inst].counter[WW_I_L1_MISS] += sectors;
    }
    core->epochs.inst[inst].counter[WW_I_SECTORS] += sectors;
    struct ww_mem_request q = whole_request(sm, r, pieces, atomic ? WW_MEM_ATOMIC : WW_MEM_READ, tag, inst);
    ww_l1_queue(sm, &q);
    return true;
}
