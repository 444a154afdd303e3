/* OWL, as far as a warp scheduler can be it: CTA-aware two-level scheduling with the locality rule.
 *
 * Warps are grouped by whole CTAs, the oldest first, each group of at least `group` warps. The first group has
 * priority whenever one of its warps is ready, until its CTAs have ended: few CTAs at a time fill the L1. The
 * other groups hide its stalls; among them priority goes on when all warps of a group wait long. Warps of a
 * group take turns.
 *
 * Two of the paper's four schemes lie outside of this interface and are left out: priority for different CTAs
 * on different SMs (bank-level parallelism: a scheduler is not told its SM), and prefetching from open DRAM
 * rows into the L2 (done by the memory controller). */
#include "sched.h"

struct settings {
    uint32_t group;
    bool locality;
};

struct owl {
    uint64_t group[64]; /* slots of each group; with locality, group 0 has priority until it is empty */
    uint32_t groups;
    uint32_t active; /* group with the next claim */
    uint32_t next;   /* slot behind the one that issued last */
    uint32_t least;  /* warps that a group has at least, if there are so many */
    bool locality, changed;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, group, "group", "warps", 1, 64, 8,
                 "whole CTAs form a group until it has as many warps, on one scheduler"),
    WW_PARAM_BOOL(settings, locality, "locality", 1,
                  "the first group comes first until its CTAs end; false: two-level alone"),
};

static void owl_init(void *state, const void *settings, uint32_t slots) {
    struct owl *o = state;
    const struct settings *s = settings;
    (void)slots;
    o->least = s->group;
    o->locality = s->locality;
    o->changed = true;
}

/* The slots of the CTA that the oldest of some warps belongs to. */
static uint64_t oldest_cta(uint64_t left, const struct ww_sched_view *view) {
    uint32_t cta = view->cta[ww_sched_oldest(left, view->age)];
    uint64_t set = 0;
    for (uint64_t m = left; m; m &= m - 1)
        if (view->cta[__builtin_ctzll(m)] == cta) set |= m & -m;
    return set;
}

/* Forms the groups anew after warps came or the first group ended. A first group that goes on is kept, so that
 * CTAs which come later do not join it. */
static void regroup(struct owl *o, const struct ww_sched_view *view) {
    uint64_t left = view->resident | view->ready;
    o->groups = 0;
    if (o->locality && (o->group[0] & left)) {
        o->group[0] &= left;
        left &= ~o->group[0];
        o->groups = 1;
    }
    while (left) {
        uint64_t set = 0;
        while (left && (uint32_t)__builtin_popcountll(set) < o->least) {
            uint64_t cta = oldest_cta(left, view);
            set |= cta;
            left &= ~cta;
        }
        o->group[o->groups++] = set;
    }
    o->active = 0;
    o->changed = false;
}

static inline uint32_t group_behind(const struct owl *o, uint32_t group) {
    return group + 1 < o->groups ? group + 1 : 0;
}

static int owl_pick(void *state, const struct ww_sched_view *view) {
    struct owl *o = state;
    if (o->changed) regroup(o, view);
    uint64_t set = o->locality ? view->ready & o->group[0] : 0;
    if (set) return ww_sched_from(set, o->next);
    /* A ready warp does not wait long, so that both searches end at its group at the latest. */
    uint64_t live = (view->resident & ~view->waiting_long) | view->ready;
    for (uint32_t left = o->groups; left && !(live & o->group[o->active]); left--)
        o->active = group_behind(o, o->active);
    uint32_t group = o->active;
    for (uint32_t left = o->groups; left && !(view->ready & o->group[group]); left--)
        group = group_behind(o, group);
    set = view->ready & o->group[group];
    return set ? ww_sched_from(set, o->next) : -1;
}

static void owl_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct owl *o = state;
    (void)memory;
    (void)cycle;
    o->next = slot + 1;
}

static void owl_arrived(void *state, uint32_t slot, uint64_t age) {
    struct owl *o = state;
    (void)slot;
    (void)age;
    o->changed = true;
}

/* The next warp in the slot is not one of this group. */
static void owl_finished(void *state, uint32_t slot) {
    struct owl *o = state;
    for (uint32_t g = 0; g < o->groups; g++) o->group[g] &= ~(1ull << slot);
    if (!o->group[0]) o->changed = true;
}

const struct ww_sched_ops ww_sched_owl = {
    .info = {.kind = WW_KIND_SCHED,
             .name = "owl",
             .analytic = WW_ANALYTIC_ALIKE,
             .help =
                 "OWL's CTA-aware two-level and locality schemes; its DRAM bank order and prefetch left out",
             .paper = "Jog et al.: OWL: Cooperative Thread Array Aware Scheduling Techniques, ASPLOS 2013",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .state_size = sizeof(struct owl),
    .init = owl_init,
    .pick = owl_pick,
    .issued = owl_issued,
    .arrived = owl_arrived,
    .finished = owl_finished,
};
