/* Two-level: slots are divided into fetch groups of fixed size. One group has the first claim, and its warps
 * take turns. When all of them wait long, the claim passes to the next group. While the group with the claim
 * only waits for something short, the groups behind it fill the cycle, in their order of priority. */
#include "sched.h"

struct settings {
    uint32_t group;
};

struct two_level {
    uint32_t size, slots;
    uint32_t first; /* first slot of the group with the claim */
    uint32_t next;  /* slot behind the one that issued last */
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, group, "group", "warps", 1, 64, 8, "warps of a fetch group, on one scheduler"),
};

static void two_level_init(void *state, const void *settings, uint32_t slots) {
    struct two_level *t = state;
    const struct settings *s = settings;
    t->size = s->group;
    t->slots = slots;
    t->first = t->next = 0;
}

static inline uint64_t group_at(const struct two_level *t, uint32_t first) {
    return (t->size < 64 ? (1ull << t->size) - 1 : UINT64_MAX) << first;
}

static inline uint32_t group_behind(const struct two_level *t, uint32_t first) {
    return first + t->size < t->slots ? first + t->size : 0;
}

static int two_level_pick(void *state, const struct ww_sched_view *view) {
    struct two_level *t = state;
    /* A ready warp does not wait long, so that both searches end at its group at the latest. */
    uint64_t live = (view->resident & ~view->waiting_long) | view->ready;
    for (uint32_t left = t->slots; left && !(live & group_at(t, t->first)); left--)
        t->first = group_behind(t, t->first);
    uint32_t first = t->first;
    for (uint32_t left = t->slots; left && !(view->ready & group_at(t, first)); left--)
        first = group_behind(t, first);
    uint64_t set = view->ready & group_at(t, first);
    return set ? ww_sched_from(set, t->next) : -1;
}

static void two_level_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct two_level *t = state;
    (void)memory;
    (void)cycle;
    t->next = slot + 1;
}

const struct ww_sched_ops ww_sched_two_level = {
    .info = {.kind = WW_KIND_SCHED,
             .name = "two_level",
             .analytic = WW_ANALYTIC_ALIKE,
             .help = "two-level: fetch groups in order of priority, round robin within a group",
             .paper = "Narasiman et al.: Improving GPU Performance via Large Warps and Two-Level Warp "
                      "Scheduling, MICRO 2011",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .state_size = sizeof(struct two_level),
    .init = two_level_init,
    .pick = two_level_pick,
    .issued = two_level_issued,
};
