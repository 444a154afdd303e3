/* No prefetcher. */
#include "fetch.h"

static void none_plan(const void *settings, struct ww_fetch_plan *plan) {
    (void)settings;
    *plan = (struct ww_fetch_plan){.queue = 0};
}

const struct ww_fetch_ops ww_fetch_none = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "none",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "no prefetcher",
             .paper = ""},
    .plan = none_plan,
};
