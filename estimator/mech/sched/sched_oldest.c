/* Oldest first: of the ready warps, always the one that was dispatched first. */
#include "sched.h"

static void oldest_init(void *state, const void *settings, uint32_t slots) {
    (void)state;
    (void)settings;
    (void)slots;
}

static int oldest_pick(void *state, const struct ww_sched_view *view) {
    (void)state;
    return ww_sched_oldest(view->ready, view->age);
}

const struct ww_sched_ops ww_sched_oldest_first = {
    .info =
        {.kind = WW_KIND_SCHED,
         .name = "oldest",
         .analytic = WW_ANALYTIC_ALIKE,
         .help = "oldest ready warp first, without greed",
         .paper =
             "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO 2012 (GTO's second step)"},
    .state_size = 1,
    .init = oldest_init,
    .pick = oldest_pick,
};
