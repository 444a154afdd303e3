/* Constants that are operands of instructions, and the schedulers' caches for them. */
#include "const_operand.h"
#include "../../result/result.h"
#include "warp_head.h"

bool ww_const_operand_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    if (!sm->core->code.constant) return true;
    struct ww_const_operands *o = ww_arena_array(arena, 1, sizeof *o);
    if (!o) return false;
    uint32_t lines = g->const_fixed_kb * 1024 / g->const_line;
    o->ways = g->const_fixed_ways;
    o->sets = lines / o->ways;
    o->line = ww_arena_array(arena, (size_t)lines * g->sm_schedulers, sizeof *o->line);
    if (g->const_l15_kb)
        o->ready15 =
            ww_arena_array(arena, (size_t)sm->constant15.sets * sm->constant15.ways, sizeof *o->ready15);
    sm->operands = o;
    return o->line && (o->ready15 || !g->const_l15_kb);
}

/* Cycle at which a line that the scheduler's cache lacks is there. Its key in the L1.5 has the bank in it. */
static uint64_t fill(struct ww_sm *sm, uint32_t key, uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint64_t *ready15 = sm->operands->ready15, there = cycle;
    if (ready15) {
        uint64_t key15 = (uint64_t)(key - 1) << sm->core->const_shift >> sm->core->const15_shift | 1ull << 40;
        uint32_t line = ww_tags_find(&sm->constant15, key15);
        if (line == WW_NO_LINE) {
            sm->core->counter[WW_C_CONST_L15_MISS]++;
            line = ww_tags_victim(&sm->constant15, key15);
            ww_tags_replace(&sm->constant15, line, key15);
            ready15[line] = cycle + g->const_l15_miss_cycles;
        } else {
            ww_tags_touch(&sm->constant15, line);
        }
        if (ready15[line] > there) there = ready15[line];
    }
    return there + g->const_fixed_miss_cycles;
}

/* Cycle at which the line is in the scheduler's cache. */
static uint64_t look_up(struct ww_sm *sm, uint32_t scheduler, uint32_t key, uint64_t cycle) {
    struct ww_const_operands *o = sm->operands;
    struct ww_const_line *set = &o->line[(size_t)(scheduler * o->sets + key % o->sets) * o->ways],
                         *victim = set;
    for (uint32_t i = 0; i < o->ways; i++) {
        if (set[i].key == key) {
            set[i].used = ++o->uses;
            return set[i].ready;
        }
        if (set[i].used < victim->used) victim = &set[i];
    }
    sm->core->counter[WW_C_CONST_OPERAND_MISS]++;
    *victim = (struct ww_const_line){key, ++o->uses, fill(sm, key, cycle)};
    return victim->ready;
}

/* The slot is lost, and so are those of the next cycles in which the scheduler waits, too. */
static void put_to_sleep(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint32_t group,
                         uint64_t cycle, uint64_t ready) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint64_t hold = ready - cycle < g->const_fixed_hold_cycles ? ready - cycle : g->const_fixed_hold_cycles;
    ww_issue_count(s, cycle);
    s->slot[WW_SLOT_CONST_MISS]++;
    s->counted = cycle + 1;
    s->next_issue = cycle + (hold > g->front_issue_interval ? hold : g->front_issue_interval);
    s->blocked_slot = WW_SLOT_CONST_MISS;
    s->blocked_from = cycle + 1;
    s->blocked_until = s->next_issue;
    ww_ready_remove(s, w->slot, group);
    w->front = ready;
    w->front_state = WW_S_CONST_MISS;
    ww_warp_set_state(sm, w, WW_S_CONST_MISS, cycle);
    ww_wake_at(sm, w, ready);
}

bool ww_const_operand_admits(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d,
                             uint64_t cycle) {
    uint32_t key = sm->core->code.constant[d - sm->core->code.inst];
    if (w->admitted == w->step) return true;
    sm->core->counter[WW_C_CONST_OPERAND]++;
    uint64_t ready = look_up(sm, (uint32_t)(s - sm->sched), key, cycle);
    if (ready <= cycle) return true;
    w->admitted = w->step; /* when it wakes it has its constant, whatever has become of the line */
    put_to_sleep(sm, s, w, d->group, cycle, ready);
    return false;
}
