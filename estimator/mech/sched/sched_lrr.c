/* Loose round robin: the next ready warp in order of slots behind the one that issued last; warps that cannot
 * issue are passed over. */
#include "sched.h"

struct lrr {
    uint32_t next; /* slot that has the first claim */
};

static void lrr_init(void *state, const void *settings, uint32_t slots) {
    struct lrr *r = state;
    (void)settings;
    (void)slots;
    r->next = 0;
}

static int lrr_pick(void *state, const struct ww_sched_view *view) {
    const struct lrr *r = state;
    uint64_t behind = r->next < 64 ? view->ready >> r->next << r->next : 0;
    return __builtin_ctzll(behind ? behind : view->ready);
}

static void lrr_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct lrr *r = state;
    (void)memory;
    (void)cycle;
    r->next = slot + 1;
}

const struct ww_sched_ops ww_sched_lrr = {
    .info = {.kind = WW_KIND_SCHED,
             .name = "lrr",
             .analytic = WW_ANALYTIC_ALIKE,
             .help = "loose round robin",
             .paper = "Bakhoda et al.: Analyzing CUDA Workloads Using a Detailed GPU Simulator, ISPASS 2009"},
    .state_size = sizeof(struct lrr),
    .init = lrr_init,
    .pick = lrr_pick,
    .issued = lrr_issued,
};
