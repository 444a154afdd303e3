/* One operating point and one number of CTAs for a whole run: boost, throttle, or a limit on threads. */
#include "../../result/result.h"
#include "governor.h"

struct settings {
    double sm, memory;
    uint32_t ctas;
};

static const struct ww_param params[] = {
    WW_PARAM_F64(settings, sm, "sm", "", 0.25, 4, 1, "clock of the SMs, relative to the GPU's"),
    WW_PARAM_F64(settings, memory, "memory", "", 0.25, 4, 1,
                 "clock of interconnect, L2, memory controllers and DRAM, relative to the GPU's"),
    WW_PARAM_U32(settings, ctas, "ctas", "CTA", 0, 64, 0, "CTAs of an SM, at most (0: as many as fit)"),
};

static void static_plan(const void *settings, struct ww_governor_plan *plan) {
    (void)settings;
    *plan = (struct ww_governor_plan){.epoch = 0};
}

static void static_start(void *state, void *sm_state, const void *settings,
                         const struct ww_governor_launch *launch, struct ww_governor_decision *decision) {
    const struct settings *s = settings;
    (void)state;
    (void)sm_state;
    decision->clock[WW_DOMAIN_SM] = s->sm;
    decision->clock[WW_DOMAIN_L2] = decision->clock[WW_DOMAIN_DRAM] = s->memory;
    for (uint32_t i = 0; i < launch->sms; i++)
        decision->limit[i] = s->ctas && s->ctas < launch->most ? s->ctas : launch->most;
}

const struct ww_governor_ops ww_governor_static = {
    .info = {.kind = WW_KIND_GOVERNOR,
             .name = "static",
             .help = "one operating point and one number of CTAs for the whole run",
             .paper =
                 "Sethia, Mahlke: Equalizer: Dynamic Tuning of GPU Resources, MICRO 2014 (its static points)",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = static_plan,
    .start = static_start,
};
