/* Greedy then oldest: issues from the warp that issued last for as long as it can, then from the oldest. */
#include "sched.h"

struct gto {
    int last; /* slot + 1, 0: none */
};

static void gto_init(void *state, const void *settings, uint32_t slots) {
    struct gto *g = state;
    (void)settings;
    (void)slots;
    g->last = 0;
}

static int gto_pick(void *state, const struct ww_sched_view *view) {
    const struct gto *g = state;
    return ww_sched_greedy_pick(WW_SCHED_THEN_OLDEST, g->last, view->ready, view->age);
}

static void gto_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct gto *g = state;
    (void)memory;
    (void)cycle;
    g->last = (int)slot + 1;
}

/* A new warp in the slot is not the one that was greedy. */
static void gto_finished(void *state, uint32_t slot) {
    struct gto *g = state;
    if (g->last == (int)slot + 1) g->last = 0;
}

const struct ww_sched_ops ww_sched_gto = {
    .info = {.kind = WW_KIND_SCHED,
             .name = "gto",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "greedy then oldest",
             .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO 2012"},
    .greedy = WW_SCHED_THEN_OLDEST,
    .state_size = sizeof(struct gto),
    .init = gto_init,
    .pick = gto_pick,
    .issued = gto_issued,
    .finished = gto_finished,
};
