/* In order: a request that the L1 refuses holds the unit, and all that follow, until it is accepted. */
#include "lsu.h"

struct settings {
    bool watch;
};

static const struct ww_param params[] = {
    WW_PARAM_BOOL(settings, watch, "watch", 0,
                  "count cycles in which a warp's data lie in the L1 behind the held unit (slow)"),
};

static void in_order_plan(const void *settings, struct ww_lsu_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_lsu_plan){.entries = 0, .watch = s->watch};
}

const struct ww_lsu_ops ww_lsu_in_order = {
    .info = {.kind = WW_KIND_LSU,
             .name = "in_order",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "a refused request holds the unit",
             .paper = "Bakhoda et al.: Analyzing CUDA Workloads Using a Detailed GPU Simulator, ISPASS 2009",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = in_order_plan,
};
