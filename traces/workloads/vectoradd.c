/* vectoradd: c = a + b. Tolerance: one rounding, factor 1 on |a| + |b|. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, n, block, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "element", 0, 268435456, 0, "elements, a multiple of 4 for vec4; 0: 2000, 1000000, 8000000")   \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    ENUM(variant, "variant", "scalar|vec4", 0, "scalar", "words that a thread loads at a time: 1 or 4")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code check(struct ww_host *h, const float *a, const float *b, uint64_t dc, uint32_t n) {
    float *c;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &c, n, sizeof *c));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_read(h, c, dc, n, sizeof *c));
    for (uint32_t i = 0; i < n; i++) {
        want[i] = (double)a[i] + (double)b[i];
        scale[i] = fabs((double)a[i]) + fabs((double)b[i]);
    }
    return ww_host_near_f32(h, "c", c, want, scale, n, 1);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->n, s->size, 2000, 1000000, 8000000), lanes = s->variant ? 4 : 1;
    if (n % lanes) return ww_fail(h->error, WW_USAGE, h->name, "n=%u: variant=vec4 needs a multiple of 4", n);
    uint32_t items = n / lanes;
    float *a, *b;
    uint64_t da, db, dc;
    WW_TRY(ww_host_random(h, &a, n, -1, 1));
    WW_TRY(ww_host_random(h, &b, n, -1, 1));
    WW_TRY(ww_host_upload(h, &da, a, n, sizeof *a));
    WW_TRY(ww_host_upload(h, &db, b, n, sizeof *b));
    WW_TRY(ww_host_buffer(h, &dc, n, sizeof(float)));
    const struct ww_arg args[] = {WW_ARG(da), WW_ARG(db), WW_ARG(dc), WW_ARG(items)};
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(items, s->block), s->block);
    WW_TRY(ww_host_launch(h, s->variant ? "vectoradd_vec4" : "vectoradd_scalar", &shape, WW_ARGS(args)));
    return check(h, a, b, dc, n);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("vectoradd", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_vectoradd = {
    .name = "vectoradd",
    .help = "c = a + b, one element per thread: streaming, bound by memory bandwidth",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "vectoradd",
    .run = run,
};
