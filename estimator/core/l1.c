#include "sm.h"

#include "l1_tag.h"

bool ww_l1_init(struct ww_sm *sm, struct ww_arena *arena, uint32_t ways, uint64_t seed) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_l1 *l = &sm->l1;
    uint32_t lines = g->l1_size_kb * 1024 / g->l1_line, sets = lines / g->l1_ways;
    if (sets == 0) sets = 1;
    if (ways > lines) ways = lines;
    l->valid = ww_arena_array(arena, (size_t)sets * ways, sizeof *l->valid);
    l->pending = ww_arena_array(arena, (size_t)sets * ways, sizeof *l->pending);
    l->mshr = ww_arena_array(arena, (size_t)sets * ways, sizeof *l->mshr);
    l->entry = ww_arena_array(arena, g->l1_mshrs, sizeof *l->entry);
    l->queue = ww_arena_array(arena, g->l1_miss_queue, sizeof *l->queue);
    if (!l->valid || !l->pending || !l->mshr || !l->entry || !l->queue) return false;
    for (uint32_t i = 0; i < g->l1_mshrs; i++) l->entry[i].next_free = i + 1 < g->l1_mshrs ? i + 1 : WW_NONE;
    return ww_tags_init(&l->tags, arena, sets, ways, g->l1_replace, g->l1_hash, seed);
}

static bool queue_full(const struct ww_sm *sm) {
    return sm->l1.count >= sm->core->gpu->l1_miss_queue;
}

/* Sends at once if nothing is before it, else puts the request into the miss queue, which has room. */
static void send(struct ww_sm *sm, const struct ww_mem_request *request, uint64_t cycle) {
    struct ww_l1 *l = &sm->l1;
    struct ww_core *core = sm->core;
    core->inflight++;
    if (l->count == 0 && !l->refused && l->sent_at != cycle + 1) {
        if (ww_memsys_send(core->memory, request, core->now_ps)) {
            l->sent_at = cycle + 1;
            return;
        }
        l->refused = true;
    }
    uint32_t at = l->head + l->count++;
    if (at >= core->gpu->l1_miss_queue) at -= core->gpu->l1_miss_queue;
    l->queue[at] = *request;
}

void ww_l1_drain(struct ww_sm *sm, uint64_t cycle) {
    struct ww_l1 *l = &sm->l1;
    if (l->refused || l->sent_at == cycle + 1) return;
    if (!ww_memsys_send(sm->core->memory, &l->queue[l->head], sm->core->now_ps)) {
        l->refused = true;
        return;
    }
    l->sent_at = cycle + 1;
    if (++l->head == sm->core->gpu->l1_miss_queue) l->head = 0;
    l->count--;
    sm->lsu.retry = true;
}

static struct ww_mem_request request_of(const struct ww_sm *sm, const struct ww_line_request *r,
                                        uint32_t sectors, enum ww_mem_kind kind, uint32_t tag) {
    return (struct ww_mem_request){.address = r->key << sm->lsu.coalescer.line_shift,
                                   .sectors = sectors,
                                   .tag = tag,
                                   .sm = (uint16_t)sm->id,
                                   .kind = (uint8_t)kind,
                                   .needs_reply = 1,
                                   .bytes = kind == WW_MEM_READ ? 0 : r->bytes,
                                   .atomic_ops = kind == WW_MEM_ATOMIC ? r->updates : 0};
}

/* Takes the data port for so many pieces; returns the cycle at which the last of them has passed it. */
static uint64_t take_port(struct ww_sm *sm, uint32_t pieces, uint64_t cycle) {
    struct ww_l1 *l = &sm->l1;
    uint64_t from = l->port_free > cycle ? l->port_free : cycle;
    l->port_free = from + sm->core->l1_data_cycles[pieces];
    return l->port_free - 1;
}

static void count_load(struct ww_sm *sm, uint32_t inst, uint32_t hit, uint32_t merged, uint32_t miss) {
    uint64_t *n = sm->core->counter;
    uint64_t h = ww_sectors(sm->core, hit), g = ww_sectors(sm->core, merged), m = ww_sectors(sm->core, miss);
    n[WW_C_L1_ACCESS]++;
    n[WW_C_L1_SECTOR_READ] += h + g + m;
    n[WW_C_L1_SECTOR_HIT] += h;
    n[WW_C_L1_SECTOR_MERGED] += g;
    n[WW_C_L1_SECTOR_MISS] += m;
    sm->core->epochs.inst[inst].sectors += h + g + m;
    sm->core->epochs.inst[inst].l1_miss += g + m;
}

/* The line for a miss: the one that holds the key, or a victim made empty. WW_NO_LINE: all are reserved. */
static uint32_t allocate(struct ww_sm *sm, uint64_t key, uint32_t line) {
    if (line != WW_NO_LINE) return line;
    line = ww_tags_victim(&sm->l1.tags, key);
    if (line == WW_NO_LINE) return line;
    if (ww_tags_replace(&sm->l1.tags, line, key)) sm->core->counter[WW_C_L1_EVICTION]++;
    sm->l1.valid[line] = 0;
    return line;
}

static uint32_t open_entry(struct ww_l1 *l, uint32_t line) {
    uint32_t m = l->free_entry;
    l->free_entry = l->entry[m].next_free;
    l->used++;
    l->entry[m] = (struct ww_mshr){.line = line, .target = WW_NONE, .next_free = WW_NONE};
    l->mshr[line] = m;
    l->tags.pins[line] = 1;
    return m;
}

/* True if an MSHR with room is there for the line, and a place in the miss queue if one is needed. */
static bool can_miss(const struct ww_sm *sm, uint32_t line, uint32_t miss) {
    const struct ww_l1 *l = &sm->l1;
    if (miss && queue_full(sm)) return false;
    if (line == WW_NO_LINE || !l->pending[line]) return l->free_entry != WW_NONE;
    return l->entry[l->mshr[line]].count < sm->core->gpu->l1_mshr_merge;
}

static bool load_miss(struct ww_sm *sm, uint32_t op, const struct ww_line_request *r, uint32_t line,
                      uint32_t hit, uint32_t merged, uint32_t miss, uint64_t cycle) {
    struct ww_l1 *l = &sm->l1;
    struct ww_core *core = sm->core;
    if (!can_miss(sm, line, miss)) return false;
    line = allocate(sm, r->key, line);
    if (line == WW_NO_LINE) return false;
    uint32_t m = l->pending[line] ? l->mshr[line] : open_entry(l, line);
    uint32_t t = ww_pool_target(core), inst = core->pool.op[op].inst;
    if (t == WW_NONE) return false;
    core->pool.target[t] = (struct ww_target){op, merged | miss, l->entry[m].target, inst};
    l->entry[m].target = t;
    l->entry[m].count++;
    l->pending[line] |= miss;
    core->pool.op[op].remaining++;
    count_load(sm, inst, hit, merged, miss);
    if (!miss) return true;
    l->entry[m].inst = inst;
    struct ww_mem_request q = request_of(sm, r, miss, WW_MEM_READ, WW_TAG_MSHR | m);
    send(sm, &q, cycle);
    return true;
}

bool ww_l1_load(struct ww_sm *sm, uint32_t op, const struct ww_line_request *r, uint64_t cycle,
                uint32_t *cycles) {
    struct ww_l1 *l = &sm->l1;
    uint32_t line = ww_tags_find(&l->tags, r->key), hit = 0, merged = 0,
             sectors = sm->core->sectors_of[r->pieces];
    if (line != WW_NO_LINE) {
        hit = sectors & l->valid[line];
        merged = sectors & l->pending[line];
    }
    uint32_t miss = sectors & ~(hit | merged);
    if (merged | miss) {
        if (!load_miss(sm, op, r, line, hit, merged, miss, cycle)) return false;
    } else {
        count_load(sm, sm->core->pool.op[op].inst, hit, 0, 0);
    }
    if (line != WW_NO_LINE) ww_tags_touch(&l->tags, line);
    if (hit) {
        uint32_t pieces = ww_sectors(sm->core, hit), asked = ww_bits8(r->pieces);
        if (asked < pieces) pieces = asked;
        uint64_t ready = take_port(sm, pieces, cycle) - 1 + sm->core->l1_latency;
        struct ww_memory_op *o = &sm->core->pool.op[op];
        if (ready > o->ready) o->ready = ready;
        *cycles = sm->core->l1_data_cycles[pieces];
    }
    return true;
}

/* What a store does to a line that the L1 holds. */
static void write_line(struct ww_sm *sm, const struct ww_line_request *r, bool evict) {
    struct ww_l1 *l = &sm->l1;
    uint32_t line = ww_tags_find(&l->tags, r->key);
    uint32_t sectors = sm->core->sectors_of[r->pieces];
    sm->core->counter[WW_C_L1_ACCESS]++;
    if (line == WW_NO_LINE) return;
    if (!(sectors & ~l->valid[line]))
        sm->core->counter[WW_C_L1_WRITE_HIT] += ww_bits8(sm->core->pieces_of[r->pieces]);
    if (!evict) {
        if (sm->core->gpu->l1_write == WW_L1_UPDATE) ww_tags_touch(&l->tags, line);
    } else if (l->pending[line]) {
        l->valid[line] &= ~sectors;
    } else {
        l->valid[line] = 0;
        ww_tags_drop(&l->tags, line);
    }
}

static uint32_t acknowledgement(struct ww_sm *sm, uint32_t warp) {
    struct ww_warp *w = &sm->warp[warp];
    w->memory_count++;
    return WW_TAG_ACK | warp | (w->generation & WW_TAG_GENERATION) << 6;
}

bool ww_l1_store(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, const struct ww_line_request *r,
                 uint64_t cycle) {
    struct ww_core *core = sm->core;
    uint32_t pieces = core->pieces_of[r->pieces], sectors = ww_bits8(pieces);
    if (queue_full(sm)) return false;
    if (core->gpu->l1_enabled) write_line(sm, r, !d->local && core->gpu->l1_write == WW_L1_EVICT);
    core->counter[WW_C_L1_SECTOR_WRITE] += sectors;
    core->epochs.inst[d - core->code.inst].sectors += sectors;
    struct ww_mem_request q =
        request_of(sm, r, pieces, WW_MEM_WRITE, acknowledgement(sm, (uint32_t)(w - sm->warp)));
    q.fine = 1;
    send(sm, &q, cycle);
    return true;
}

bool ww_l1_direct(struct ww_sm *sm, uint32_t warp, uint32_t op, const struct ww_dinst *d,
                  const struct ww_line_request *r, uint64_t cycle) {
    struct ww_core *core = sm->core;
    uint32_t pieces = core->pieces_of[r->pieces], sectors = ww_bits8(pieces);
    bool atomic = d->path == WW_L_ATOMIC;
    uint32_t inst = (uint32_t)(d - core->code.inst), tag;
    if (queue_full(sm)) return false;
    if (op == WW_NONE) {
        tag = acknowledgement(sm, warp);
    } else {
        uint32_t t = ww_pool_target(core);
        if (t == WW_NONE) return false;
        core->pool.target[t] = (struct ww_target){op, pieces, WW_NONE, inst};
        core->pool.op[op].remaining++;
        tag = WW_TAG_TARGET | t;
    }
    if (atomic && core->gpu->l1_enabled) {
        write_line(sm, r, true);
    } else if (!atomic) {
        core->counter[WW_C_L1_SECTOR_READ] += sectors;
        core->counter[WW_C_L1_SECTOR_MISS] += sectors;
    }
    core->epochs.inst[inst].sectors += sectors;
    core->epochs.inst[inst].l1_miss += sectors;
    struct ww_mem_request q = request_of(sm, r, pieces, atomic ? WW_MEM_ATOMIC : WW_MEM_READ, tag);
    q.fine = 1;
    send(sm, &q, cycle);
    return true;
}
