/* bytehist: a histogram by private byte counters. Counts are compared exactly. */
#include "host.h"

struct settings {
    uint32_t size, ctas, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(ctas, "ctas", "CTA", 0, 4096, 0, "CTAs, an even number; 0: 4, 240, 960")                               \
    ENUM(variant, "variant", "plain|peeled|co_vtb|co_hw", 0, "plain",                                          \
         "as published; 16 values ahead of the counters; four bins' counters shared by two; or allocated")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { THREADS = 64, BINS = 128, SHARED_BYTES = 8224 };

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"bytehist_count", "bytehist_peeled", "bytehist_co_vtb",
                                         "bytehist_co_hw"};
    const struct settings *s = settings;
    uint32_t ctas = ww_host_size(s->ctas, s->size, 4, 240, 960), joined = s->variant == 2 ? 2 : 1;
    size_t share = (size_t)THREADS * BINS, n = share * ctas;
    uint32_t *data, *got, *want;
    uint64_t d_data, d_out;
    if (ctas % 2) return ww_fail(h->error, WW_USAGE, h->name, "ctas=%u: expected an even number", ctas);
    WW_TRY(ww_host_array(h, &data, n, sizeof *data));
    WW_TRY(ww_host_array(h, &want, (size_t)ctas * BINS, sizeof *want));
    WW_TRY(ww_host_array(h, &got, (size_t)ctas * BINS, sizeof *got));
    for (size_t i = 0; i < n; i++) {
        data[i] = (uint32_t)ww_rng_below(&h->rng, BINS);
        want[i / share * BINS + data[i]]++;
    }
    WW_TRY(ww_host_upload(h, &d_data, data, n, sizeof *data));
    WW_TRY(ww_host_buffer(h, &d_out, (size_t)ctas * BINS, sizeof *got));
    const struct ww_arg args[] = {WW_ARG(d_data), WW_ARG(d_out)};
    struct ww_host_shape shape = ww_host_line(ctas / joined, THREADS * joined);
    shape.shared = SHARED_BYTES - BINS * THREADS; /* parameters, which lay in shared memory */
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, got, d_out, (size_t)ctas * BINS, sizeof *got));
    return ww_host_same_u32(h, "out", got, want, (size_t)ctas * BINS);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("bytehist", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_bytehist = {
    .name = "bytehist",
    .help = "histogram by private byte counters in shared memory: nearly all time is spent there",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "bytehist",
    .run = run,
};
