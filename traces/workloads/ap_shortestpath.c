/* ap_shortestpath: the cheapest path through steps of many choices, by a dynamic program. Whole numbers: exact.
 */
#include "apogee.h"

struct settings {
    uint32_t size, warps, ctas, choices, steps;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_APOGEE_PARAMS(U32, ENUM)                                                                                \
    U32(choices, "choices", "choice", 0, 4194304, 0, "choices of a step; 0: 4001, 150000, 300000")             \
    U32(steps, "steps", "step", 0, 1000, 0, "steps; 0: 4, 6, 12")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static uint32_t least(const uint32_t *cost, size_t i, size_t n) {
    uint32_t best = cost[i];
    if (i > 0 && cost[i - 1] < best) best = cost[i - 1];
    if (i + 1 < n && cost[i + 1] < best) best = cost[i + 1];
    return best;
}

static enum ww_code check(struct ww_host *h, const uint32_t *cost, uint64_t d_out, uint32_t n, uint32_t steps) {
    uint32_t *got, *want, *then;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &then, n, sizeof *then));
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    for (size_t i = 0; i < n; i++) want[i] = cost[i];
    for (size_t s = 1; s < steps; s++) {
        uint32_t *was = want;
        want = then;
        then = was;
        for (size_t i = 0; i < n; i++) want[i] = cost[s * n + i] + least(then, i, n);
    }
    return ww_host_same_u32(h, "cost", got, want, n);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->choices, s->size, 4001, 150000, 300000);
    uint32_t steps = ww_host_size(s->steps, s->size, 4, 6, 12), each = ww_apogee_each(n, s->ctas);
    if (steps < 2) return ww_fail(h->error, WW_USAGE, h->name, "steps=%u: expected 2 or more", steps);
    uint32_t *cost;
    uint64_t d_cost, d_a, d_b;
    WW_TRY(ww_host_array(h, &cost, (size_t)n * steps, sizeof *cost));
    for (size_t i = 0; i < (size_t)n * steps; i++) cost[i] = ww_rng_below(&h->rng, 1000);
    WW_TRY(ww_host_upload(h, &d_cost, cost, (size_t)n * steps, sizeof *cost));
    WW_TRY(ww_host_upload(h, &d_a, cost, n, sizeof *cost));
    WW_TRY(ww_host_buffer(h, &d_b, n, sizeof *cost));
    struct ww_host_shape shape = ww_apogee_shape(s->ctas, s->warps);
    for (uint32_t step = 1; step < steps; step++) {
        uint64_t d_row = d_cost + (uint64_t)step * n * sizeof *cost, was = d_a;
        const struct ww_arg args[] = {WW_ARG(d_row), WW_ARG(d_a), WW_ARG(d_b), WW_ARG(n), WW_ARG(each)};
        WW_TRY(ww_host_launch(h, "ap_shortestpath", &shape, WW_ARGS(args)));
        d_a = d_b;
        d_b = was;
    }
    return check(h, cost, d_a, n, steps);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("ap_shortestpath", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_ap_shortestpath = {
    .name = "ap_shortestpath",
    .help = "cheapest path by a dynamic program, persistent threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "ap_shortestpath",
    .run = run,
};
