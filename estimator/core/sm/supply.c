/* Instruction supply: L0 caches with stream buffers, and the L1.5 that they share. */
#include "../../result/result.h"
#include "sm.h"

#include <string.h>

#define NO_KEY UINT32_MAX
#define MET_MOST (1u << 16) /* lines of code for which is noted which ones an SM has had */
#define LISTED_MOST 1024u   /* and for which an L0 notes where they are */

static uint64_t cycle_of(uint64_t arrival) {
    return arrival >> WW_FROM_BITS;
}

static uint32_t from_of(uint64_t arrival) {
    return (uint32_t)(arrival & ((1u << WW_FROM_BITS) - 1));
}

/* ---- the L1.5 ---- */

static bool meets_first(struct ww_sm *sm, uint32_t key) {
    uint64_t *met = sm->supply.met;
    uint32_t i = key - sm->core->supply.first;
    if (!met || met[i >> 6] >> (i & 63) & 1) return false;
    met[i >> 6] |= 1ull << (i & 63);
    return true;
}

/* Asks the L1.5 for a line of the code in `cycle`; returns its arrival at the L0. */
static uint64_t ask(struct ww_sm *sm, uint32_t key, uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint64_t *n = sm->core->counter, there = cycle;
    uint32_t line = ww_tags_find(&sm->icache, key), from = WW_FROM_L15;
    n[WW_C_FETCH_L15]++;
    if (line == WW_NO_LINE) {
        line = ww_tags_victim(&sm->icache, key);
        ww_tags_replace(&sm->icache, line, key);
        sm->icache_ready[line] = cycle;
        if (!sm->core->supply.kept) {
            n[WW_C_FETCH_MISS]++;
            sm->icache_ready[line] += g->icache_miss_cycles;
            if (sm->core->supply.cold && meets_first(sm, key)) sm->icache_ready[line] += sm->core->supply.cold;
        }
    } else {
        ww_tags_touch(&sm->icache, line);
    }
    if (sm->icache_ready[line] > there) {
        there = sm->icache_ready[line];
        from = WW_FROM_L2;
    }
    return WW_ARRIVAL(there + g->icache_l0_miss_cycles, from);
}

/* ---- an L0 and its stream buffer ---- */

/* The place of a line of the code in the L0, or WW_NO_LINE. */
static inline uint32_t find(const struct ww_supply_plan *p, const struct ww_l0 *l0, uint32_t key) {
    if (p->listed) return l0->where[key - p->first] - 1u;
    uint32_t first = key % p->sets * p->ways;
    for (uint32_t i = 0; i < p->ways; i++)
        if (l0->line[first + i].key == key) return first + i;
    return WW_NO_LINE;
}

/* In place of the line of its set that was used least recently; an empty one was never. */
static void put(const struct ww_supply_plan *p, struct ww_l0 *l0, uint32_t key, uint64_t arrival) {
    struct ww_l0_line *victim = &l0->line[key % p->sets * p->ways];
    for (struct ww_l0_line *line = victim + 1, *end = victim + p->ways; line < end; line++)
        if (line->used < victim->used) victim = line;
    if (p->listed && victim->key != NO_KEY) l0->where[victim->key - p->first] = 0;
    if (p->listed) l0->where[key - p->first] = (uint16_t)(victim - l0->line + 1);
    *victim = (struct ww_l0_line){key, ++l0->uses, arrival};
}

static uint32_t place(const struct ww_supply_plan *p, const struct ww_l0 *l0, uint32_t i) {
    uint32_t at = l0->head + i;
    return at >= p->depth ? at - p->depth : at;
}

static void fill_stream(struct ww_sm *sm, struct ww_l0 *l0, uint64_t cycle) {
    const struct ww_supply_plan *p = &sm->core->supply;
    for (; l0->count < p->depth && l0->first + l0->count <= p->last; l0->count++) {
        l0->stream[place(p, l0, l0->count)] = ask(sm, l0->first + l0->count, cycle);
        sm->core->counter[WW_C_FETCH_AHEAD]++;
    }
}

/* Arrival of a line that the L0 lacks. (Apart, so that a hit saves no registers for it.) */
__attribute__((noinline)) static uint64_t miss(struct ww_sm *sm, struct ww_l0 *l0, uint32_t key,
                                               uint64_t cycle) {
    const struct ww_supply_plan *p = &sm->core->supply;
    uint32_t i = key - l0->first;
    uint64_t arrival;
    sm->core->counter[WW_C_FETCH_L0_MISS]++;
    if (i < l0->count) {
        sm->core->counter[WW_C_FETCH_STREAM]++;
        arrival = l0->stream[place(p, l0, i)];
        l0->head = place(p, l0, i + 1);
        l0->count -= i + 1;
        if (cycle_of(arrival) > cycle) cycle = cycle_of(arrival); /* its place is taken until it is there */
    } else {
        arrival = ask(sm, key, cycle);
        l0->head = l0->count = 0;
    }
    l0->first = key + 1;
    fill_stream(sm, l0, cycle);
    put(p, l0, key, arrival);
    return arrival;
}

/* missed: the L0 lacked it. */
static inline uint64_t look_up(struct ww_sm *sm, struct ww_l0 *l0, uint32_t key, uint64_t cycle, bool *missed) {
    const struct ww_supply_plan *p = &sm->core->supply;
    uint32_t line = find(p, l0, key);
    uint64_t arrival;
    *missed = line == WW_NO_LINE;
    if (line != WW_NO_LINE) {
        if (!p->fits) l0->line[line].used = ++l0->uses;
        arrival = l0->line[line].arrival;
    } else {
        arrival = miss(sm, l0, key, cycle);
    }
    return cycle_of(arrival) > cycle ? arrival : WW_ARRIVAL(cycle, WW_FROM_L0);
}

/* ---- a warp's buffer ---- */

/* The warp's buffer comes to the line after its own. */
static inline void go_on(struct ww_sm *sm, struct ww_l0 *l0, struct ww_warp *w, uint64_t cycle) {
    if (w->line < sm->core->supply.last)
        w->next_line = look_up(sm, l0, w->line + 1, cycle, &w->missed);
    else
        w->next_line = WW_ARRIVAL(cycle, WW_FROM_L0);
}

/* The head's line was not in the L0: the warp resumes so many cycles later than on a hit. */
static uint64_t enter(const struct ww_core *core, const struct ww_warp *w, uint64_t arrival, uint64_t cycle) {
    uint64_t from = cycle + core->supply.entry;
    if (!w->buffered) return arrival; /* it starts */
    const struct ww_dinst *before = &core->code.inst[w->step[-1].inst];
    if (before->stall > before->next_fetch) from += before->stall - before->next_fetch;
    return cycle_of(arrival) < from ? WW_ARRIVAL(from, WW_FROM_L15) : arrival;
}

/* The warp has gone elsewhere, or comes to another line; returns when that is there. (Apart, as a miss is.) */
static __attribute__((noinline)) uint64_t enter_line(struct ww_sm *sm, struct ww_l0 *l0, struct ww_warp *w,
                                                     bool follows, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    const struct ww_dinst *d = ww_head(core, w);
    uint32_t left = d->left;
    uint64_t arrival;
    if (follows && d->line == w->line + 1 && w->next_line)
        arrival = w->next_line;
    else
        arrival = look_up(sm, l0, d->line, cycle = ww_turn_take(&l0->turns, sm->now + 1, cycle), &w->missed);
    if (w->missed && core->supply.entry) arrival = enter(core, w, arrival, cycle);
    w->missed = false;
    w->line = d->line;
    w->next_line = 0;
    if (left <= core->supply.ahead)
        go_on(sm, l0, w, cycle + left);
    else
        left -= core->supply.ahead;
    w->buffered = (uint8_t)left;
    core->counter[WW_C_FETCH] += (left + 1) / 2; /* two instructions at a time */
    if (cycle_of(arrival) <= cycle) return cycle;
    if (w->front_state == WW_S_NO_INST)
        w->front_state = from_of(arrival) == WW_FROM_L2 ? WW_S_NO_INST_L15 : WW_S_NO_INST_L0;
    return cycle_of(arrival);
}

uint64_t ww_supply_fill(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    const struct ww_dinst *d = ww_head(core, w);
    struct ww_l0 *l0 = &sm->supply.l0[w->sched];
    bool follows = w->buffered && w->step[-1].inst + 1 == w->step->inst;
    if (!follows || d->line != w->line) return enter_line(sm, l0, w, follows, cycle);
    if (!w->next_line) go_on(sm, l0, w, cycle);
    w->buffered = (uint8_t)d->left;
    core->counter[WW_C_FETCH] += (d->left + 1) / 2;
    return cycle;
}

static bool has(const struct ww_sm *sm, const struct ww_l0 *l0, uint32_t key) {
    const struct ww_supply_plan *p = &sm->core->supply;
    return key > p->last || find(p, l0, key) != WW_NO_LINE;
}

bool ww_supply_local(const struct ww_sm *sm, const struct ww_warp *w, uint32_t inst) {
    const struct ww_core *core = sm->core;
    const struct ww_l0 *l0 = &sm->supply.l0[w->sched];
    const struct ww_dinst *next = &core->code.inst[inst + 1];
    uint32_t key = next->line;
    if (key == w->line) return w->next_line || has(sm, l0, key + 1);
    if (key != w->line + 1 || !w->next_line) return false;
    return next->left > core->supply.ahead || has(sm, l0, key + 1);
}

/* ---- a launch ---- */

void ww_supply_plan(struct ww_core *core, bool cold) {
    const struct ww_gpu_spec *g = core->gpu;
    struct ww_supply_plan *p = &core->supply;
    uint32_t first = UINT32_MAX, last = 0;
    if (!g->icache_kb || !g->icache_l0_kb) return;
    for (uint32_t i = 0; i < core->code.inst_count; i++) {
        struct ww_dinst *d = &core->code.inst[i];
        uint32_t key = d->pc >> core->icache_shift;
        d->line = key;
        d->left = (((1u << core->icache_shift) - 1) & ~d->pc) / WW_INST_BYTES + 1;
        if (key < first) first = key;
        if (key > last) last = key;
    }
    uint32_t lines = g->icache_l0_kb * 1024 / g->icache_line;
    *p = (struct ww_supply_plan){.on = true,
                                 .sets = lines / g->icache_l0_ways,
                                 .ways = g->icache_l0_ways,
                                 .depth = g->icache_stream_lines,
                                 .ahead = g->front_ibuffer - 1,
                                 .entry = g->icache_stream_cycles,
                                 .first = first,
                                 .last = last};
    if (!core->code.inst_count) return;
    if (cold && last - first < MET_MOST) p->cold = g->icache_dram_cycles;
    p->kept = !cold && last - first < g->icache_kb * 1024 / g->icache_line;
    p->fits = last - first < p->sets * p->ways;
    p->listed = last - first < LISTED_MOST;
    p->plain = p->fits && p->listed;
}

void ww_supply_forget(struct ww_sm *sm) {
    const struct ww_supply_plan *p = &sm->core->supply;
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++) {
        struct ww_l0 *l0 = &sm->supply.l0[k];
        for (uint32_t i = 0; i < p->sets * p->ways; i++) l0->line[i] = (struct ww_l0_line){.key = NO_KEY};
        if (p->listed) memset(l0->where, 0, (p->last - p->first + 1) * sizeof *l0->where);
        l0->count = l0->head = l0->uses = 0;
        l0->turns = (struct ww_turns){0};
    }
}

bool ww_supply_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_supply_plan *p = &sm->core->supply;
    uint32_t schedulers = sm->core->gpu->sm_schedulers;
    if (!p->on) return true;
    sm->supply.l0 = ww_arena_array(arena, schedulers, sizeof *sm->supply.l0);
    if (!sm->supply.l0) return false;
    for (uint32_t k = 0; k < schedulers; k++) {
        struct ww_l0 *l0 = &sm->supply.l0[k];
        l0->line = ww_arena_raw(arena, (size_t)p->sets * p->ways, sizeof *l0->line);
        l0->stream = ww_arena_array(arena, p->depth + 1, sizeof *l0->stream);
        if (p->listed) l0->where = ww_arena_array(arena, p->last - p->first + 1, sizeof *l0->where);
        if (!l0->line || !l0->stream || (p->listed && !l0->where)) return false;
    }
    if (p->cold) {
        sm->supply.met = ww_arena_array(arena, (p->last - p->first) / 64 + 1, sizeof *sm->supply.met);
        if (!sm->supply.met) return false;
    }
    ww_supply_forget(sm);
    return true;
}
