/* Which command a DRAM channel issues next, on any host. */
#include "dram_scheduler.h"

static int32_t schedule_any(struct ww_dram_channel *c, int32_t cycle) {
    return schedule(c, (struct shape){c->dram->blocks, c->dram->lanes}, cycle);
}

static int32_t schedule_usual(struct ww_dram_channel *c, int32_t cycle) {
    return schedule(c, usual, cycle);
}

ww_dram_scheduler ww_dram_choose_scheduler(const struct ww_dram *d) {
    if (d->blocks != usual.blocks || d->lanes != usual.lanes) return schedule_any;
#ifdef WW_DRAM_AVX2
    if (__builtin_cpu_supports("avx2")) return ww_dram_schedule_avx2;
#endif
    return schedule_usual;
}
