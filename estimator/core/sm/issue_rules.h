/* issue_rules.h: what both ways of issuing (issue.c, issue_plain.c) do to a scheduler and to a warp. */
#ifndef WW_CORE_ISSUE_RULES_H
#define WW_CORE_ISSUE_RULES_H

#include "../../result/result.h"
#include "sm.h"

/* An integer multiplication may need the port of another unit, too. */
static inline void ww_issue_set_free(const struct ww_core *core, struct ww_sched *s, uint32_t group,
                                     uint64_t cycle) {
    s->unit_free[group] = cycle;
    if (group == core->imul_group2 && s->unit_free[WW_G_IMUL] < cycle) s->unit_free[WW_G_IMUL] = cycle;
}

/* The next issue is not before the end of the stall count. */
static inline void ww_issue_obey_stall(struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    if (w->front < cycle + d->stall) {
        w->front = cycle + d->stall;
        w->front_state = WW_S_WAIT_STALL;
    }
    if (d->unseen)
        w->unseen =
            (uint8_t)((1u << d->write_counter | 1u << d->read_counter) & ((1u << WW_DEPEND_COUNTERS) - 1));
}

/* A branch behind which fewer of the lanes are active is divergent. after: lanes of the next instruction, 0:
 * none. */
static inline void ww_issue_count_branch(struct ww_core *core, uint32_t mask, uint32_t last, uint32_t after) {
    uint32_t before = mask | last;
    if (after && ww_bits(after) < ww_bits(before) && !(after & ~before)) core->counter[WW_C_BRANCH_DIVERGENT]++;
}

/* The first cycle from `from` on in which one of the ready warps finds its unit free. */
static inline uint64_t ww_issue_next_try(const struct ww_sched *s, uint64_t from) {
    uint64_t next = WW_NEVER;
    uint32_t groups = s->groups;
    if (s->next_issue > from) return groups ? s->next_issue : WW_NEVER; /* it waits anyway */
    for (; groups; groups &= groups - 1) {
        uint64_t at = s->unit_free[(uint32_t)__builtin_ctz(groups)];
        next = at < next ? at : next;
    }
    return next > from ? next : from;
}

#endif
