/* No pipeline of this kind: warps issue to units with ports and latencies, as the GPU describes them. */
#include "pipe.h"

static void none_plan(const void *settings, struct ww_pipe_plan *plan) {
    (void)settings;
    *plan = (struct ww_pipe_plan){0};
}

const struct ww_pipe_ops ww_pipe_none = {
    .info = {.kind = WW_KIND_PIPE,
             .name = "none",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "units with latencies, and a separate load/store unit",
             .paper = ""},
    .plan = none_plan,
};
