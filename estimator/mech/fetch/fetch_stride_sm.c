/* Stride prefetching with an entry for each load of the SM, as a processor of one thread has it. Warps take
 * turns, so that the differences look random although each warp has its stride (Sethia's dissertation,
 * section 5.2.2 and figure 5.3a). The stride is that of the first active lane. */
#include "fetch_stride.h"

static void load_by_key(void *state, const void *settings, const struct ww_fetch_load *load,
                        struct ww_fetch_requests *requests) {
    ww_stride_load(state, settings, (uint64_t)load->pc | 1ull << 40, load, requests);
}

const struct ww_fetch_ops ww_fetch_stride_sm = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "stride_sm",
             .help = "the stride between two executions of a load, whichever warps did them",
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
