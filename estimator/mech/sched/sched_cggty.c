/* Compiler-guided greedy then youngest: goes on with the warp that issued last for as long as its control
 * fields and units let it, then takes the youngest. */
#include "sched.h"

struct cggty {
    int last; /* slot + 1, 0: none */
};

static void cggty_init(void *state, const void *settings, uint32_t slots) {
    struct cggty *g = state;
    (void)settings;
    (void)slots;
    g->last = 0;
}

static int cggty_pick(void *state, const struct ww_sched_view *view) {
    const struct cggty *g = state;
    return ww_sched_greedy_pick(WW_SCHED_THEN_YOUNGEST, g->last, view->ready, view->age);
}

static void cggty_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct cggty *g = state;
    (void)memory;
    (void)cycle;
    g->last = (int)slot + 1;
}

/* A new warp in the slot is not the one that was greedy. */
static void cggty_finished(void *state, uint32_t slot) {
    struct cggty *g = state;
    if (g->last == (int)slot + 1) g->last = 0;
}

const struct ww_sched_ops ww_sched_cggty = {
    .info = {.kind = WW_KIND_SCHED,
             .name = "cggty",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "compiler-guided greedy then youngest; default of GPUs from Volta on (core.sched)",
             .paper =
                 "Huerta et al.: Dissecting and Modeling the Architecture of Modern GPU Cores, MICRO 2025"},
    .greedy = WW_SCHED_THEN_YOUNGEST,
    .state_size = sizeof(struct cggty),
    .init = cggty_init,
    .pick = cggty_pick,
    .issued = cggty_issued,
    .finished = cggty_finished,
};
