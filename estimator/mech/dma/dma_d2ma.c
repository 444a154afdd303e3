/* D2MA: a separate engine, next to the load/store unit, moves tiles from global to shared memory. As published
 * the first warp that reaches a transfer starts it, although others may still read the tile that it overwrites
 * (write after read, which figure 8 leaves open); such loads are counted. start=last waits for all warps of the
 * CTA. */
#include "dma.h"

struct settings {
    uint32_t start;
};

static const struct ww_param params[] = {
    WW_PARAM_ENUM(settings, start, "start", "first|last", 0,
                  "which warp of its CTA starts a transfer by reaching it"),
};

static void d2ma_plan(const void *settings, struct ww_dma_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_dma_plan){.start_last = s->start == 1};
}

const struct ww_dma_ops ww_dma_d2ma = {
    .info =
        {.kind = WW_KIND_DMA,
         .name = "d2ma",
         .analytic = WW_ANALYTIC_MODELLED,
         .help = "bulk transfers by an engine with dynamic synchronisation",
         .paper =
             "Jamshidi, Samadi, Mahlke: D2MA: Accelerating Coarse-Grained Data Transfer for GPUs, PACT 2014",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct settings)},
    .plan = d2ma_plan,
};
