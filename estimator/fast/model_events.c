/* model_events.c: the counters that power tables multiply, from the profile, the traffic and the cycles. */
#include "../result/result.h"
#include "model_part.h"

static const enum ww_counter of_arith[WW_ARITH_COUNT] = {
#define X(id, help) [WW_ARITH_##id] = WW_C_LANE_##id,
#include "../../traces/arith.def"
#undef X
};

static void of_instructions(const struct ww_kernel_profile *p, double *e) {
    e[WW_C_INST_ISSUED] = (double)p->warp_instructions;
    e[WW_C_THREAD_INST] = (double)p->thread_instructions;
    e[WW_C_FETCH] = (double)p->warp_instructions / 2;
    e[WW_C_BRANCH] = (double)p->branches;
    e[WW_C_BARRIER_WAITS] = (double)p->barriers;
    e[WW_C_CTA_LAUNCHED] = (double)p->ctas;
    e[WW_C_REG_READ] = (double)p->register_reads;
    e[WW_C_REG_WRITE] = (double)p->register_writes;
    e[WW_C_LANE_INT] = (double)p->lane[WW_PIPE_INT];
    e[WW_C_LANE_IMUL] = (double)p->lane[WW_PIPE_IMUL];
    e[WW_C_LANE_FP32] = (double)p->lane[WW_PIPE_FP32];
    e[WW_C_LANE_FP16] = (double)p->lane[WW_PIPE_FP16];
    e[WW_C_LANE_FP64] = (double)p->lane[WW_PIPE_FP64];
    e[WW_C_LANE_SFU] = (double)p->lane[WW_PIPE_SFU];
    for (int i = 0; i < WW_ARITH_COUNT; i++) e[of_arith[i]] = (double)p->arith[i];
    e[WW_C_LANE_TENSOR] = (double)p->lane[WW_PIPE_TENSOR];
    e[WW_C_LANE_MEM] = (double)p->lane[WW_PIPE_MEM];
    e[WW_C_MEM_INST_GLOBAL_LD] = (double)p->global_loads;
    e[WW_C_MEM_INST_GLOBAL_ST] = (double)p->global_stores;
    e[WW_C_MEM_INST_LOCAL] = (double)p->local;
    e[WW_C_MEM_INST_SHARED] = (double)p->shared;
    e[WW_C_MEM_INST_CONST] = (double)p->constants;
    e[WW_C_MEM_INST_ATOMIC] = (double)p->atomics;
    e[WW_C_MEM_INST_TEX] = (double)p->texture;
    e[WW_C_SHARED_PASSES] = (double)(p->shared_passes + p->shared_store_passes);
    e[WW_C_SHARED_CONFLICTS] = e[WW_C_SHARED_PASSES] - (double)p->shared;
    if (e[WW_C_SHARED_CONFLICTS] < 0) e[WW_C_SHARED_CONFLICTS] = 0;
    e[WW_C_CONST_ACCESS] = (double)p->constants;
    e[WW_C_CONST_MISS] = (double)p->constant_lines;
}

static void of_memory(const struct ww_kernel_profile *p, const struct ww_gpu_spec *gpu,
                      const struct ww_model_traffic *t, double rows, double *e) {
    e[WW_C_L1_ACCESS] = t->l1_lines + (double)(p->store_lines + p->atomic_lines);
    e[WW_C_L1_SECTOR_READ] = t->l1_reads + t->past_sectors;
    e[WW_C_L1_SECTOR_HIT] = t->l1_hits;
    e[WW_C_L1_SECTOR_MISS] = t->l1_misses + t->past_sectors;
    e[WW_C_L1_SECTOR_WRITE] = e[WW_C_L1_WRITE_MISS] = (double)p->store_sectors;
    e[WW_C_XBAR_REQUEST] = t->packets_up;
    e[WW_C_XBAR_REPLY] = t->packets_down;
    e[WW_C_XBAR_REQUEST_FLIT] = t->flits_up;
    e[WW_C_XBAR_REPLY_FLIT] = t->flits_down;
    e[WW_C_XBAR_SECTOR_READ] = t->l2_reads;
    e[WW_C_XBAR_SECTOR_WRITE] = t->l2_writes;
    e[WW_C_L2_SECTOR_READ] = t->l2_reads;
    e[WW_C_L2_SECTOR_HIT] = t->l2_hits;
    e[WW_C_L2_SECTOR_MISS] = t->dram_reads;
    e[WW_C_L2_SECTOR_WRITE] = t->l2_writes;
    e[WW_C_L2_WRITE_MISS] = t->l2_write_misses;
    e[WW_C_L2_WRITE_HIT] = t->l2_writes - t->l2_write_misses;
    e[WW_C_L2_ATOMIC] = (double)p->atomic_sectors;
    e[WW_C_L2_WRITEBACK] = t->dram_writes;
    e[WW_C_DRAM_SECTOR_READ] = t->dram_reads;
    e[WW_C_DRAM_SECTOR_WRITE] = t->dram_writes;
    double burst = 32.0 / (gpu->dram_bus_bits / 8.0 * gpu->dram_burst);
    e[WW_C_DRAM_BURST_READ] = t->dram_reads * burst;
    e[WW_C_DRAM_BURST_WRITE] = t->dram_writes * burst;
    e[WW_C_DRAM_ACTIVATE] = e[WW_C_DRAM_PRECHARGE] = rows;
    double bursts = e[WW_C_DRAM_BURST_READ] + e[WW_C_DRAM_BURST_WRITE];
    e[WW_C_DRAM_ROW_HIT] = bursts > rows ? bursts - rows : 0;
    e[WW_C_DRAM_BUSY_CYCLES] = bursts * gpu->dram_burst / gpu->dram_data_rate;
}

static void of_time(const struct ww_kernel_profile *p, const struct ww_gpu_spec *gpu,
                    struct ww_model_result *out) {
    double *e = out->events, sms = gpu->sm_count;
    double busy = p->ctas < gpu->sm_count ? (double)p->ctas : sms;
    double with_ctas = out->cycles - (double)gpu->launch_front_cycles - gpu->launch_end_cycles;
    e[WW_C_SM_ACTIVE_CYCLES] = busy * with_ctas;
    e[WW_C_SM_IDLE_CYCLES] = sms * out->cycles - e[WW_C_SM_ACTIVE_CYCLES];
    double dram_cycles = out->cycles * gpu->clock_dram_mhz / gpu->clock_sm_mhz;
    e[WW_C_DRAM_CYCLES] = dram_cycles * gpu->dram_channels;
    double used = out->cycles > 0 ? out->term[WW_MODEL_DRAM] / out->cycles : 0;
    e[WW_C_DRAM_ACTIVE_CYCLES] = e[WW_C_DRAM_CYCLES] * (used < 1 ? used : 1);
    double each = gpu->dram_refresh ? gpu->dram_banks : 1;
    if (gpu->dram_trefi) e[WW_C_DRAM_REFRESH] = e[WW_C_DRAM_CYCLES] / gpu->dram_trefi * each;
}

void ww_model_events(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                     const struct ww_model_traffic *traffic, double rows, struct ww_model_result *out) {
    for (int i = 0; i < WW_COUNTER_COUNT; i++) out->events[i] = 0;
    of_instructions(kernel->of, out->events);
    of_memory(kernel->of, gpu, traffic, rows, out->events);
    of_time(kernel->of, gpu, out);
}
