/* Stride prefetching with an entry for each load of each warp: what a warp loads next is where it would load if
 * it went on with the stride of its last two steps, each warp for itself. The stride is that of the first
 * active lane. */
#include "fetch_stride.h"

static void load_by_key(void *state, const void *settings, const struct ww_fetch_load *load,
                        struct ww_fetch_requests *requests) {
    ww_stride_load(state, settings, (uint64_t)load->pc << 6 | load->warp | 1ull << 40, load, requests);
}

const struct ww_fetch_ops ww_fetch_stride_warp = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "stride_warp",
             .help = "the stride between two executions of a load by the same warp",
             .paper =
                 "Chen, Baer: Effective Hardware-Based Data Prefetching for High-Performance Processors, IEEE "
                 "Transactions on Computers 1995",
             .params = ww_stride_params,
             .param_count = WW_STRIDE_PARAMS,
             .settings_size = sizeof(struct ww_stride_settings)},
    .plan = ww_stride_plan,
    .state_size = sizeof(struct ww_stride_table),
    .begin = ww_stride_begin,
    .load = load_by_key,
};
