/* alone.h: SMs that go through a window of cycles by themselves.
 *
 *   window:   each SM alone, on any thread | cycle by cycle: requests leave miss queues, CTAs come,
 *                                          | and SMs that could not go on step
 *
 * With memory a window ahead (windows.h) all replies of the window are known. What an SM does in it then
 * depends on others in two ways: where a CTA ends another one may come, and a request in its miss queue may
 * be refused by its slice, which is decided in the order of cycles and SMs. The latter matters to the SM only
 * when the queue is near full: up to there the SM goes on, and each request notes the cycle in which it came.
 * It is offered in its own cycle. Results are those of SMs that all step cycle by cycle; and an SM's state
 * stays in one processor's caches for many cycles. */
#ifndef WW_CORE_ALONE_H
#define WW_CORE_ALONE_H

#include "../sm/sm.h"

/* Derives once a launch up to how many requests in its miss queue an SM goes on. */
void ww_alone_plan(struct ww_core *core);
/* Its LSU is held up until a request leaves the miss queue, or may be. */
static inline bool ww_alone_held(const struct ww_sm *sm) {
    return sm->lsu.held && sm->lsu.waits < WW_LSU_ENTRY;
}
/* Its miss queue has so few requests that whether they are refused does not matter to the SM. */
static inline bool ww_alone_has_room(const struct ww_sm *sm) {
    return !sm->misses.count || sm->misses.count < sm->core->main->alone_misses;
}
/* In windows: the SM takes the replies that come to it by `cycle`, whose time is ps. False: there are none. */
static inline bool ww_alone_receive(struct ww_sm *sm, uint64_t cycle, uint64_t ps) {
    const struct ww_core *core = sm->core;
    uint64_t *quiet = &core->main->told_ps[sm->id];
    if (*quiet > ps) return false;
    do {
        struct ww_mem_coming c = ww_memsys_take_reply(core->memory, (uint16_t)sm->id, quiet);
        if (c.third) ww_l1_prefetch_entry(sm, c.third);
        if (c.next) ww_l1_prefetch_line(sm, c.next);
        ww_l1_reply(sm, c.reply, cycle);
    } while (*quiet <= ps);
    return true;
}
/* The SM, whose next step is in `next`, goes on by itself in the window, as far as it can. Returns the cycle of
 * the next step, in which it steps with the others. */
uint64_t ww_alone_go_on(struct ww_sm *sm, uint64_t next);
/* The same; most SMs of a kernel that waits for memory cannot. */
static inline uint64_t ww_alone_run(struct ww_sm *sm, uint64_t next) {
    bool full = sm->misses.count && sm->misses.count >= sm->core->main->alone_misses;
    if (sm->ahead || (sm->outstanding && (full || ww_alone_held(sm)))) return next;
    return ww_alone_go_on(sm, next);
}
/* All SMs of the group do so, before `cycle` is stepped; core is the group's. */
void ww_alone_group(struct ww_core *core, uint32_t group, uint64_t cycle);

#endif
