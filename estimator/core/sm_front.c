#include "sm.h"

/* Cycle at which the line of pc is in the instruction cache, for a fetch in `cycle`. */
static uint64_t fetch(struct ww_sm *sm, struct ww_warp *w, uint32_t pc, uint64_t cycle) {
    struct ww_core *core = sm->core;
    uint64_t key = pc >> core->icache_shift;
    core->counter[WW_C_FETCH]++;
    if (!core->gpu->icache_kb || key == w->icache_key) return cycle;
    w->icache_key = key;
    uint32_t line = ww_tags_find(&sm->icache, key);
    if (line == WW_NO_LINE) {
        core->counter[WW_C_FETCH_MISS]++;
        line = ww_tags_victim(&sm->icache, key);
        ww_tags_replace(&sm->icache, line, key);
        sm->icache_ready[line] = cycle + core->gpu->icache_miss_cycles;
    } else {
        ww_tags_touch(&sm->icache, line);
    }
    return sm->icache_ready[line] > cycle ? sm->icache_ready[line] : cycle;
}

uint64_t ww_front_fill(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    w->buffered = (uint8_t)sm->core->gpu->front_ibuffer;
    return fetch(sm, w, ww_head(sm->core, w)->pc, cycle);
}
