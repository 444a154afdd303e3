/* Which command a DRAM channel issues next, on any host. */
#include "dram_scheduler.h"

static void any_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_dram_channel *c = owner;
    (void)event;
    pass(c, shape_of(c->dram), now_ps);
}

static void usual_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    (void)event;
    pass(owner, usual, now_ps);
}

ww_event_fn ww_dram_choose_event(const struct ww_dram *d) {
#ifdef WW_DRAM_AVX2
    if (__builtin_cpu_supports("avx2")) return ww_dram_choose_avx2(d);
#endif
    return has_shape(d, usual) ? usual_event : any_event;
}
