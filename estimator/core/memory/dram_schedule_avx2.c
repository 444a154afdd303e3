/* Which command a DRAM channel issues next, on hosts with AVX2. */
#include "dram_channel.h"

#ifdef WW_DRAM_AVX2
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include "dram_scheduler.h"

static void any_event_avx2(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_dram_channel *c = owner;
    (void)event;
    pass(c, shape_of(c->dram), now_ps);
}

static void doubled_event_avx2(void *owner, struct ww_event *event, uint64_t now_ps) {
    (void)event;
    pass(owner, doubled, now_ps);
}

static void usual_event_avx2(void *owner, struct ww_event *event, uint64_t now_ps) {
    (void)event;
    pass(owner, usual, now_ps);
}

ww_event_fn ww_dram_choose_avx2(const struct ww_dram *d) {
    if (has_shape(d, usual)) return usual_event_avx2;
    return has_shape(d, doubled) ? doubled_event_avx2 : any_event_avx2;
}
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
