#include "sm.h"

/* True on a hit. The line is there for who comes after; that a miss is still outstanding is not modelled. */
static bool hits(struct ww_tags *tags, uint64_t key) {
    uint32_t line = ww_tags_find(tags, key);
    if (line != WW_NO_LINE) {
        ww_tags_touch(tags, line);
        return true;
    }
    ww_tags_replace(tags, ww_tags_victim(tags, key), key);
    return false;
}

/* Cycles beyond a hit of the first level, for one address. */
static uint32_t look_up(struct ww_sm *sm, uint64_t address) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint64_t *n = sm->core->counter;
    n[WW_C_CONST_ACCESS]++;
    if (hits(&sm->constant, address >> sm->core->const_shift)) return 0;
    n[WW_C_CONST_MISS]++;
    if (!g->const_l15_kb || hits(&sm->constant15, address >> sm->core->const15_shift))
        return g->const_miss_cycles;
    n[WW_C_CONST_L15_MISS]++;
    return g->const_miss_cycles + g->const_l15_miss_cycles;
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
        *miss_cycles += look_up(sm, address);
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
