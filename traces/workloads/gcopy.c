/* gcopy: one global array to another, several words of a thread at a time. */
#include "host.h"

struct settings {
    uint32_t size, n, ctas, block, ilp;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "word", 0, 268435456, 0,                                                                       \
        "words of 4 bytes, rounded up to whole steps of all threads; 0: 8192, 1048576, 8388608")               \
    U32(ctas, "ctas", "CTA", 1, 65535, 64, "CTAs")                                                             \
    U32(block, "block", "thread", 1, 1024, 128, "threads of a CTA")                                            \
    ENUM(ilp, "ilp", "1|2|4|8", 1, "2", "words that a thread copies at a time")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"gcopy_1", "gcopy_2", "gcopy_4", "gcopy_8"};
    const struct settings *s = settings;
    uint64_t step = (uint64_t)s->ctas * s->block << s->ilp, d_from, d_to;
    uint64_t all = ((uint64_t)ww_host_size(s->n, s->size, 8192, 1048576, 8388608) + step - 1) / step * step;
    uint32_t *from, *got, n = (uint32_t)all;
    if (all > UINT32_MAX / 2)
        return ww_fail(h->error, WW_USAGE, h->name, "%llu words", (unsigned long long)all);
    WW_TRY(ww_host_array(h, &from, n, sizeof *from));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    for (uint32_t i = 0; i < n; i++) from[i] = (uint32_t)ww_rng_next(&h->rng);
    WW_TRY(ww_host_upload(h, &d_from, from, n, sizeof *from));
    WW_TRY(ww_host_buffer(h, &d_to, n, sizeof *from));
    struct ww_host_shape shape = ww_host_line(s->ctas, s->block);
    const struct ww_arg args[] = {WW_ARG(d_from), WW_ARG(d_to), WW_ARG(n)};
    WW_TRY(ww_host_launch(h, kernel[s->ilp], &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, got, d_to, n, sizeof *got));
    return ww_host_same_u32(h, "to", got, from, n);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run_module("gcopy", "micro", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_gcopy = {
    .name = "gcopy",
    .help = "copy of a global array over CTAs, their size and words at a time: DRAM throughput",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "micro",
    .run = run,
};
