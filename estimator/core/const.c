#include "sm.h"

/* Cycles for one line of the constant cache: 0 on a hit. The line is there for who comes after; that a
 * miss is still outstanding is not modelled. */
static uint32_t look_up(struct ww_sm *sm, uint64_t key) {
    sm->core->counter[WW_C_CONST_ACCESS]++;
    uint32_t line = ww_tags_find(&sm->constant, key);
    if (line != WW_NO_LINE) {
        ww_tags_touch(&sm->constant, line);
        return 0;
    }
    sm->core->counter[WW_C_CONST_MISS]++;
    ww_tags_replace(&sm->constant, ww_tags_victim(&sm->constant, key), key);
    return sm->core->gpu->const_miss_cycles;
}

/* Distinct addresses are served one after the other; one address is broadcast to all lanes. */
static uint32_t serve(struct ww_sm *sm, const struct ww_access *a, const uint64_t *pool, uint32_t mask,
                      uint32_t *miss_cycles) {
    uint64_t met[32];
    uint32_t count = 0, rank = 0;
    for (uint32_t m = mask; m; m &= m - 1, rank++) {
        uint64_t address = ww_lane_address(a, pool, (uint32_t)__builtin_ctz(m), rank);
        uint32_t i = 0;
        while (i < count && met[i] != address) i++;
        if (i < count) continue;
        met[count++] = address;
        *miss_cycles += look_up(sm, address >> sm->core->const_shift);
        if (a->list == WW_AFFINE && a->stride == 0) break;
    }
    return count;
}

uint64_t ww_const_load(struct ww_sm *sm, const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                       uint64_t cycle) {
    uint32_t miss_cycles = 0, passes = 1;
    if (access)
        passes = serve(sm, access, pool, mask, &miss_cycles);
    else
        sm->core->counter[WW_C_CONST_ACCESS]++;
    ww_group_free(sm, WW_G_CONST, cycle + passes);
    return cycle + sm->core->gpu->const_latency + (passes - 1) + miss_cycles;
}
