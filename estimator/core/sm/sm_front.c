/* The instruction cache of an SM and its fetches. */
#include "../../result/result.h"
#include "sm_front.h"

/* Asks for a line that the instruction cache does not hold, in `cycle`; returns its place. */
static uint32_t ask(struct ww_sm *sm, uint64_t key, uint64_t cycle) {
    uint32_t line = ww_tags_victim(&sm->icache, key);
    ww_tags_replace(&sm->icache, line, key);
    sm->icache_ready[line] = cycle + sm->core->gpu->icache_miss_cycles;
    return line;
}

/* Cycle at which the line of pc is in the instruction cache, for a fetch in `cycle`. The lines after it are
 * asked for at the same time. */
static uint64_t fetch(struct ww_sm *sm, struct ww_warp *w, uint32_t pc, uint64_t cycle) {
    struct ww_core *core = sm->core;
    uint64_t key = pc >> core->icache_shift;
    core->counter[WW_C_FETCH]++;
    if (!core->gpu->icache_kb || key == w->icache_key) return cycle;
    w->icache_key = key;
    uint32_t line = ww_tags_find(&sm->icache, key);
    if (line == WW_NO_LINE) {
        core->counter[WW_C_FETCH_MISS]++;
        line = ask(sm, key, cycle);
    } else {
        ww_tags_touch(&sm->icache, line);
    }
    uint64_t ready = sm->icache_ready[line] > cycle ? sm->icache_ready[line] : cycle;
    for (uint32_t i = 1; i <= core->gpu->icache_prefetch_lines; i++)
        if (ww_tags_find(&sm->icache, key + i) == WW_NO_LINE) ask(sm, key + i, cycle);
    return ready;
}

/* Decoding takes a cycle, the issue is in the one behind it. */
#define DECODE 2

/* Cycle at which the warp's head is there, of an SM that fetches for one warp a cycle, whose buffer is empty.
 * `cycle` is the first one after the issue. Where the warp goes elsewhere, what its buffer holds is thrown away
 * when it would issue; an empty buffer has asked for what follows in the code before that is known. */
static uint64_t fill_by_port(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    uint64_t now = sm->now + 1, turn = cycle;
    if (w->buffered) { /* else its CTA starts */
        bool follows = w->step[-1].inst + 1 == w->step->inst;
        if (follows || w->buffered == 1) turn = ww_turn_take(&sm->fetches, now, cycle - 1);
        if (!follows) turn = ww_turn_take(&sm->fetches, now, w->buffered == 1 ? turn + DECODE : cycle);
    } else {
        turn = ww_turn_take(&sm->fetches, now, cycle);
    }
    w->buffered = (uint8_t)sm->core->gpu->front_ibuffer;
    w->icache_key = UINT64_MAX;
    uint64_t there = fetch(sm, w, ww_head(sm->core, w)->pc, turn);
    w->icache_key = UINT64_MAX; /* every fetch needs the port */
    if (there > turn) there = ww_turn_take(&sm->fetches, now, there);
    return there + DECODE;
}

uint64_t ww_front_fill(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    if (sm->core->supply.on) return ww_supply_fill(sm, w, cycle);
    if (sm->core->gpu->front_fetch_port) return fill_by_port(sm, w, cycle);
    w->buffered = (uint8_t)sm->core->gpu->front_ibuffer;
    return fetch(sm, w, ww_head(sm->core, w)->pc, cycle);
}
