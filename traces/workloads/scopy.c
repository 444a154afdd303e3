/* scopy: one region of shared memory to another, between barriers. */
#include "host.h"

struct settings {
    uint32_t size, ctas, block, repeats, ilp;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(ctas, "ctas", "CTA", 0, 65535, 0, "CTAs; 0: 2, 80, 160")                                               \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    U32(repeats, "repeats", "copy", 1, 100000, 4, "copies, each between barriers")                             \
    ENUM(ilp, "ilp", "1|2|4|6|8", 2, "4", "words that a thread copies at a time")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"scopy_1", "scopy_2", "scopy_4", "scopy_6", "scopy_8"};
    static const uint32_t words[] = {1, 2, 4, 6, 8};
    const struct settings *s = settings;
    uint32_t ctas = ww_host_size(s->ctas, s->size, 2, 80, 160), a_cta = s->block * words[s->ilp];
    uint32_t n = ctas * a_cta, *from, *got;
    uint64_t d_from, d_to;
    WW_TRY(ww_host_array(h, &from, n, sizeof *from));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    for (uint32_t i = 0; i < n; i++) from[i] = (uint32_t)ww_rng_next(&h->rng);
    WW_TRY(ww_host_upload(h, &d_from, from, n, sizeof *from));
    WW_TRY(ww_host_buffer(h, &d_to, n, sizeof *from));
    struct ww_host_shape shape = ww_host_line(ctas, s->block);
    shape.shared = 2 * a_cta * (uint32_t)sizeof *from;
    const struct ww_arg args[] = {WW_ARG(d_from), WW_ARG(d_to), WW_ARG(s->repeats)};
    WW_TRY(ww_host_launch(h, kernel[s->ilp], &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, got, d_to, n, sizeof *got));
    return ww_host_same_u32(h, "to", got, from, n);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run_module("scopy", "micro", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_scopy = {
    .name = "scopy",
    .help = "copy between regions of shared memory over CTAs, their size and words at a time",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "micro",
    .run = run,
};
