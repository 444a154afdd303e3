/* backprop: one training step between the input layer and 16 hidden units, as Rodinia's benchmark of that name
 * (S. Che et al., "Rodinia: A Benchmark Suite for Heterogeneous Computing", IISWC 2009): the forward pass
 * gives partial sums of 16 inputs, the host adds them, applies the sigmoid, takes the error of an output unit
 * back to the hidden ones, and the second kernel adjusts the weights with momentum.
 * Tolerances: forward: a product and four sums, factor 5; adjustment: three products and two sums, factor 5. */
#include "host.h"
#include <math.h>

#define UNITS 16
static const float rate = 0.3f, momentum = 0.3f;

struct settings {
    uint32_t size, inputs, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(inputs, "inputs", "unit", 0, 1048560, 0, "input units, a multiple of 16; 0: 112, 16384, 65536")        \
    ENUM(variant, "variant", "distinct|aliased", 0, "distinct",                                                \
         "weights are adjusted by a kernel whose arrays are known to be distinct, or may be the same")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t inputs;
    size_t weights, partials;
    float *input, *weight, *change, *partial, delta[UNITS + 1];
    uint64_t d_input, d_weight, d_change, d_partial, d_delta;
};

static enum ww_code make(struct ww_host *h, struct problem *p) {
    p->weights = ((size_t)p->inputs + 1) * (UNITS + 1);
    p->partials = p->inputs;
    WW_TRY(ww_host_random(h, &p->input, (size_t)p->inputs + 1, 0, 1));
    p->input[0] = 1;
    WW_TRY(ww_host_random(h, &p->weight, p->weights, -0.5, 0.5));
    WW_TRY(ww_host_random(h, &p->change, p->weights, -0.1, 0.1));
    WW_TRY(ww_host_array(h, &p->partial, p->partials, sizeof *p->partial));
    WW_TRY(ww_host_upload(h, &p->d_input, p->input, (size_t)p->inputs + 1, sizeof *p->input));
    WW_TRY(ww_host_upload(h, &p->d_weight, p->weight, p->weights, sizeof *p->weight));
    WW_TRY(ww_host_upload(h, &p->d_change, p->change, p->weights, sizeof *p->change));
    WW_TRY(ww_host_buffer(h, &p->d_delta, UNITS + 1, sizeof *p->delta));
    return ww_host_buffer(h, &p->d_partial, p->partials, sizeof *p->partial);
}

static enum ww_code forward(struct ww_host *h, struct problem *p, const struct ww_host_shape *shape) {
    double *want, *scale;
    const struct ww_arg args[] = {WW_ARG(p->d_input), WW_ARG(p->d_weight), WW_ARG(p->d_partial)};
    WW_TRY(ww_host_launch(h, "backprop_layerforward", shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, p->partial, p->d_partial, p->partials, sizeof *p->partial));
    WW_TRY(ww_host_array(h, &want, p->partials, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, p->partials, sizeof *scale));
    for (size_t i = 1; i <= p->inputs; i++)
        for (size_t u = 0; u < UNITS; u++) {
            double term = (double)p->input[i] * (double)p->weight[i * (UNITS + 1) + u + 1];
            size_t at = (i - 1) / UNITS * UNITS + u;
            want[at] += term;
            scale[at] += fabs(term);
        }
    return ww_host_near_f32(h, "partial", p->partial, want, scale, p->partials, 5);
}

/* Hidden units from the partial sums, and the error of one output unit with target 0.1 taken back to them.
 * The output's weights are those of the input layer's bias row: any will do. */
static void back(struct problem *p) {
    double hidden[UNITS + 1], out = 0;
    for (size_t u = 1; u <= UNITS; u++) {
        double sum = (double)p->weight[u];
        for (size_t b = 0; b < p->partials; b += UNITS) sum += (double)p->partial[b + u - 1];
        hidden[u] = 1 / (1 + exp(-sum));
        out += hidden[u] * (double)p->weight[u];
    }
    out = 1 / (1 + exp(-out));
    double error = out * (1 - out) * (0.1 - out);
    p->delta[0] = 0;
    for (size_t u = 1; u <= UNITS; u++)
        p->delta[u] = (float)(hidden[u] * (1 - hidden[u]) * error * (double)p->weight[u]);
}

/* Column 0 (the weights of no unit) stays as it is. */
static enum ww_code check_adjusted(struct ww_host *h, const struct problem *p) {
    float *got;
    double *want[2], *scale;
    WW_TRY(ww_host_array(h, &got, p->weights, sizeof *got));
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_array(h, &want[i], p->weights, sizeof(double)));
    WW_TRY(ww_host_array(h, &scale, p->weights, sizeof *scale));
    for (size_t at = 0; at < p->weights; at++) {
        size_t u = at % (UNITS + 1), i = at / (UNITS + 1);
        double w = (double)p->weight[at], last = (double)p->change[at];
        double a = (double)rate * (double)p->delta[u] * (double)p->input[i], b = (double)momentum * last;
        want[0][at] = u ? w + (a + b) : w;
        want[1][at] = u ? a + b : last;
        scale[at] = fabs(w) + fabs(a) + fabs(b);
    }
    WW_TRY(ww_host_read(h, got, p->d_weight, p->weights, sizeof *got));
    WW_TRY(ww_host_near_f32(h, "weight", got, want[0], scale, p->weights, 5));
    WW_TRY(ww_host_read(h, got, p->d_change, p->weights, sizeof *got));
    for (size_t at = 0; at < p->weights; at++) scale[at] -= fabs((double)p->weight[at]);
    for (size_t at = 0; at < p->weights; at += UNITS + 1) scale[at] = 0;
    return ww_host_near_f32(h, "change", got, want[1], scale, p->weights, 5);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.inputs = ww_host_size(s->inputs, s->size, 112, 16384, 65536)};
    if (p.inputs % UNITS)
        return ww_fail(h->error, WW_USAGE, h->name, "inputs=%u: expected a multiple of %d", p.inputs, UNITS);
    const struct ww_host_shape shape = {.grid = {1, p.inputs / UNITS, 1}, .block = {UNITS, UNITS, 1}};
    WW_TRY(make(h, &p));
    WW_TRY(forward(h, &p, &shape));
    back(&p);
    WW_TRY(ww_device_write(h->device, p.d_delta, p.delta, sizeof p.delta, h->error));
    const struct ww_arg args[] = {WW_ARG(p.d_delta),  WW_ARG(p.d_input), WW_ARG(p.d_weight),
                                  WW_ARG(p.d_change), WW_ARG(rate),      WW_ARG(momentum)};
    WW_TRY(ww_host_launch(h, s->variant ? "backprop_adjust_aliased" : "backprop_adjust_weights", &shape,
                          WW_ARGS(args)));
    return check_adjusted(h, &p);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("backprop", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_backprop = {
    .name = "backprop",
    .help = "training of a neural network: forward sums in shared memory, then weights with momentum",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "backprop",
    .run = run,
};
