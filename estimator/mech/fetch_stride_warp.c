/* Stride prefetching with an entry for each load of each warp: what a warp loads next is where it would load if
 * it went on with the stride of its last two steps, each warp for itself. The stride is that of the first
 * active lane. */
#include "fetch.h"
#include "fetch_stride.h"

struct settings {
    uint32_t entries, distance, queue, latency;
    bool send;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, entries, "entries", "entry", 1, WW_STRIDE_MOST, 64, "of the table"),
    WW_PARAM_U32(settings, distance, "distance", "stride", 1, 64, 1, "how far ahead it prefetches"),
    WW_PARAM_U32(settings, queue, "queue", "line", 1, 4096, 64, "lines that wait to be prefetched"),
    WW_PARAM_U32(settings, latency, "latency", "SM cycle", 0, 1000, 10, "from a load to its prefetches"),
    WW_PARAM_BOOL(settings, send, "send", 1, "ask memory; false: learn and ask for nothing"),
};

static void stride_plan(const void *settings, struct ww_fetch_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_fetch_plan){.queue = s->queue, .latency = s->latency};
}

static void stride_begin(void *state, const void *settings, const struct ww_fetch_launch *launch) {
    (void)state;
    (void)settings;
    (void)launch;
}

static void stride_load(void *state, const void *settings, const struct ww_fetch_load *load,
                        struct ww_fetch_asks *asks) {
    const struct settings *s = settings;
    uint64_t key = (uint64_t)load->pc << 6 | load->warp | 1ull << 40;
    const struct ww_stride_entry *e = ww_stride_access(state, s->entries, key, load->address[0]);
    if (!e->trained || !s->send) return;
    asks->ask[asks->count++] = (struct ww_fetch_ask){
        .base = (uint64_t)(e->stride * (int64_t)s->distance), .token = WW_FETCH_NO_TOKEN, .shifted = true};
}

const struct ww_fetch_ops ww_fetch_stride_warp = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "stride_warp",
             .help = "the stride between two executions of a load by the same warp",
             .paper =
                 "Chen, Baer: Effective Hardware-Based Data Prefetching for High-Performance Processors, IEEE "
                 "Transactions on Computers 1995",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = stride_plan,
    .state_size = sizeof(struct ww_stride_table),
    .begin = stride_begin,
    .load = stride_load,
};
