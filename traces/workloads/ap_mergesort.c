/* ap_mergesort: a merge sort of whole numbers, a launch for each width of runs. Compared exactly. */
#include "apogee.h"
#include <stdlib.h>
#include <string.h>

struct settings {
    uint32_t size, warps, ctas, n;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_APOGEE_PARAMS(U32, ENUM)                                                                                \
    U32(n, "n", "number", 0, 4194304, 0, "numbers; 0: 500, 32768, 131072")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static int compare(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->n, s->size, 500, 32768, 131072), each = ww_apogee_each(n, s->ctas);
    uint32_t *key, *got;
    uint64_t d_in, d_out;
    WW_TRY(ww_host_array(h, &key, n, sizeof *key));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    for (uint32_t i = 0; i < n; i++) key[i] = ww_rng_below(&h->rng, n); /* some are equal */
    WW_TRY(ww_host_upload(h, &d_in, key, n, sizeof *key));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *key));
    struct ww_host_shape shape = ww_apogee_shape(s->ctas, s->warps);
    for (uint32_t width = 1; width < n; width *= 2) {
        const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(n), WW_ARG(width), WW_ARG(each)};
        WW_TRY(ww_host_launch(h, "ap_mergesort", &shape, WW_ARGS(args)));
        uint64_t was = d_in;
        d_in = d_out;
        d_out = was;
    }
    WW_TRY(ww_host_read(h, got, d_in, n, sizeof *got));
    qsort(key, n, sizeof *key, compare);
    return ww_host_same_u32(h, "sorted", got, key, n);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("ap_mergesort", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_ap_mergesort = {
    .name = "ap_mergesort",
    .help = "merge sort by ranks, persistent threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "ap_mergesort",
    .run = run,
};
