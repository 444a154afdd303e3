/* What a memory system would take, by the parameters that set it; the sizes are those of l2.c, xbar.c and
 * dram.c, where the arrays are made. */
#include "dram_channel.h"
#include "l2.h"
#include "memsys.h"
#include "tlb.h"

struct part {
    const char *parameters;
    double bytes;
};

static double power_of_two(double n) {
    double p = 1;
    while (p < n) p *= 2;
    return p;
}

static double waiters(const struct ww_gpu_spec *g) {
    double joined = (double)g->l2_mshrs * g->l2_mshr_merge;
    return joined < WW_L2_WAITERS_MAX ? joined : WW_L2_WAITERS_MAX;
}

enum ww_code ww_memsys_check(const struct ww_gpu_spec *g, struct ww_error *error) {
    double slices = g->l2_slices, packets = (double)g->xbar_request_queue + g->xbar_latency + g->l2_latency;
    double misses =
        power_of_two(g->l2_mshrs) * sizeof(struct ww_l2_fill) + g->l2_mshrs * sizeof(struct ww_l2_miss);
    double joined = g->l2_coalesce > 1 ? g->l2_coalesce - 1 : 0,
           far = g->l2_partitions > 1 ? g->l2_mshrs + packets : 0;
    double lines = (double)g->l2_size_kb * 1024 / g->l2_line;
    const struct part parts[] = {
        {"l2.slices x (xbar.request_queue + xbar.latency + l2.latency)",
         slices * (power_of_two(packets) + power_of_two(far)) * sizeof(struct ww_l2_packet)},
        {"l2.slices x (xbar.request_queue + xbar.latency + l2.latency) x l2.coalesce",
         slices * power_of_two(packets) * joined * sizeof(struct ww_l2_joined)},
        {"l2.slices x (xbar.reply_queue + xbar.latency)",
         slices * ((double)g->xbar_reply_queue + g->xbar_latency) * sizeof(struct ww_xbar_reply)},
        {"l2.slices x l2.mshrs", slices * misses},
        {"l2.slices x l2.mshrs x l2.mshr_merge",
         slices * waiters(g) * (sizeof(struct ww_l2_waiter) + sizeof(struct ww_l2_txn))},
        {"l2.slices x (xbar.request_queue + xbar.latency + l2.latency)", ww_tlb_bytes(g, slices * packets)},
        {"l2.size_kb / l2.line", lines * (sizeof(struct ww_l2_line) + 1)},
        {"dram.channels x dram.queue", 2.0 * g->dram_channels * g->dram_queue * sizeof(struct ww_dram_entry)},
    };
    const struct part *most = parts;
    double total = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        total += parts[i].bytes;
        if (parts[i].bytes > most->bytes) most = &parts[i];
    }
    if (total <= (double)WW_MEMSYS_LIMIT) return WW_OK;
    return ww_fail(error, WW_UNSUPPORTED, "the memory system",
                   "%s takes %.1f GiB of a total of %.1f GiB; expected at most %.0f GiB, lower one of these",
                   most->parameters, most->bytes / (1 << 30), total / (1 << 30),
                   (double)WW_MEMSYS_LIMIT / (1 << 30));
}
