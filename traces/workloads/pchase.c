/* pchase: a chase of one thread through an array in which each element holds the index of the next one. */
#include "host.h"

struct settings {
    uint32_t size, n, stride, warm, count, path;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "element", 0, 268435456, 0, "elements of 4 bytes; 0: 1024, 8192, 4194304 (shared: 1024)")      \
    U32(stride, "stride", "element", 1, 268435456, 8, "from one access to the next")                           \
    U32(warm, "warm", "access", 0, 10000000, 0, "accesses before those that are kept; 0: once through")        \
    U32(count, "count", "access", 1, 8192, 2048, "accesses whose index is kept in shared memory")              \
    ENUM(path, "path", "global|readonly|shared", 0, "global", "how the array is read")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};
enum { GLOBAL, READONLY, SHARED };

static enum ww_code compare(struct ww_host *h, const struct settings *s, const uint32_t *a, uint64_t d_index,
                            uint32_t warm) {
    uint32_t *got, *want, kept = s->path == SHARED ? 1 : s->count, j = 0;
    WW_TRY(ww_host_array(h, &got, kept, sizeof *got));
    WW_TRY(ww_host_array(h, &want, kept, sizeof *want));
    WW_TRY(ww_host_read(h, got, d_index, kept, sizeof *got));
    for (uint32_t i = 0; i < warm; i++) j = a[j];
    for (uint32_t i = 0; i < s->count; i++) {
        j = a[j];
        want[s->path == SHARED ? 0 : i] = j;
    }
    return ww_host_same_u32(h, "index", got, want, kept);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"pchase_global", "pchase_readonly", "pchase_shared"};
    const struct settings *s = settings;
    bool shared = s->path == SHARED;
    uint32_t n = ww_host_size(s->n, s->size, 1024, shared ? 1024 : 8192, shared ? 1024 : 4194304), *a;
    uint32_t warm = shared ? 0 : s->warm ? s->warm : ww_host_ceil(n, s->stride);
    uint64_t d_a, d_index;
    if (shared && n > 12288)
        return ww_fail(h->error, WW_USAGE, h->name, "n=%u: shared memory has room for 12288 elements", n);
    WW_TRY(ww_host_array(h, &a, n, sizeof *a));
    for (uint32_t i = 0; i < n; i++) a[i] = (uint32_t)(((uint64_t)i + s->stride) % n);
    WW_TRY(ww_host_upload(h, &d_a, a, n, sizeof *a));
    /* Random before, so that what the kernel does not write is seen. */
    uint32_t *before;
    WW_TRY(ww_host_array(h, &before, s->count, sizeof *before));
    for (uint32_t i = 0; i < s->count; i++) before[i] = (uint32_t)ww_rng_next(&h->rng);
    WW_TRY(ww_host_upload(h, &d_index, before, s->count, sizeof *before));
    struct ww_host_shape shape = ww_host_line(1, 1);
    shape.shared = (shared ? n : s->count) * (uint32_t)sizeof *a;
    const uint32_t third = shared ? n : warm;
    const struct ww_arg args[] = {WW_ARG(d_a), WW_ARG(d_index), WW_ARG(third), WW_ARG(s->count)};
    WW_TRY(ww_host_launch(h, kernel[s->path], &shape, WW_ARGS(args)));
    return compare(h, s, a, d_index, warm);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run_module("pchase", "micro", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_pchase = {
    .name = "pchase",
    .help = "fine-grained pointer chase of one thread: latency of global, read-only or shared memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "micro",
    .run = run,
};
