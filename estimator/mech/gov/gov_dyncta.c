/* DynCTA (O. Kayiran, A. Jog, M. T. Kandemir, C. R. Das: Neither More Nor Less: Optimizing Thread-level
 * Parallelism for GPGPUs, PACT 2013).
 *
 * Each SM begins with half of the CTAs that fit. At the end of a window it looks at two counts of cycles
 * without issue: C_idle, in which no warp has anything to do, and C_mem, in which warps wait for memory.
 *
 *   C_idle >= t_idle   one CTA more: the SM lacks work
 *   C_mem <= t_mem_l   one CTA more: memory is not contended
 *   C_mem >= t_mem_h   one CTA less
 *
 * The window of 2,048 cycles and the thresholds 16, 128 and 384 were taken from memory of the paper, and not
 * checked against it. That warps which wait for their data count in C_mem and not in C_idle follows from
 * Sethia's dissertation (sections 3.5.2 and 3.6): idle and waiting stalls are told apart, and where more warps
 * come to wait for memory (spmv, figure 3.11b) DynCTA does not give CTAs back. */
#include "governor.h"

struct settings {
    uint32_t window, idle, low, high;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, window, "window", "SM cycle", 64, 1048576, 2048, "from one decision to the next"),
    WW_PARAM_U32(settings, idle, "idle", "SM cycle", 0, 1048576, 16,
                 "t_idle: idle cycles of a window from which an SM gets a CTA more"),
    WW_PARAM_U32(settings, low, "low", "SM cycle", 0, 1048576, 128,
                 "t_mem_l: memory stall cycles up to which it gets one more"),
    WW_PARAM_U32(settings, high, "high", "SM cycle", 0, 1048576, 384,
                 "t_mem_h: memory stall cycles from which it gets one less"),
};

static void dyncta_plan(const void *settings, struct ww_governor_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_governor_plan){.epoch = s->window, .sample = s->window};
}

static void dyncta_start(void *state, void *sm_state, const void *settings,
                         const struct ww_governor_launch *launch, struct ww_governor_decision *decision) {
    (void)state;
    (void)sm_state;
    (void)settings;
    if (launch->same_kernel) return;
    for (uint32_t i = 0; i < launch->sms; i++) decision->limit[i] = launch->most > 1 ? launch->most / 2 : 1;
}

static void dyncta_decide(void *state, void *sm_state, const void *settings,
                          const struct ww_governor_epoch *epoch, struct ww_governor_decision *decision) {
    const struct settings *s = settings;
    (void)state;
    (void)sm_state;
    for (uint32_t i = 0; i < epoch->sms; i++) {
        const struct ww_governor_sm *sm = &epoch->sm[i];
        uint32_t *n = &decision->limit[i];
        if (sm->idle_cycles >= s->idle || sm->memory_cycles <= s->low) {
            if (*n < epoch->most) ++*n;
        } else if (sm->memory_cycles >= s->high && *n > 1) {
            --*n;
        }
    }
}

const struct ww_governor_ops ww_governor_dyncta = {
    .info = {.kind = WW_KIND_GOVERNOR,
             .name = "dyncta",
             .help = "number of CTAs by cycles that are idle or wait for memory",
             .paper = "Kayiran, Jog, Kandemir, Das: Neither More Nor Less, PACT 2013",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = dyncta_plan,
    .adapts = true,
    .start = dyncta_start,
    .decide = dyncta_decide,
};
