/* How near a launch comes to what its GPU can do. */
#include "light.h"
#include <math.h>

static const char *const names[WW_LIMIT_COUNT] = {
    "issue slots", "integer lanes",          "integer-multiply lanes", "fp32 lanes",   "fp16 lanes",
    "fp64 lanes",  "special-function lanes", "tensor lanes",           "L1 bandwidth", "L2 bandwidth",
    "DRAM bus",
};
static const char *const brief[WW_LIMIT_COUNT] = {"issue", "int",    "imul", "fp32", "fp16", "fp64",
                                                  "sfu",   "tensor", "L1",   "L2",   "DRAM"};

const char *ww_limit_name(enum ww_limit limit) {
    return names[limit];
}

const char *ww_limit_brief(enum ww_limit limit) {
    return brief[limit];
}

static double product(double a, double b, double c) {
    return a > 0 && b > 0 && c > 0 ? a * b * c : -1;
}

void ww_peaks(const struct ww_gpu_facts *f, struct ww_peaks *peaks) {
    peaks->issue =
        product(f->sm_count, f->schedulers * f->issue_width / fmax(f->issue_interval, 1), f->clock_mhz * 1e6);
    for (int i = 0; i < WW_LANES_COUNT; i++)
        peaks->lanes[i] = product(f->sm_count, f->lanes[i], f->clock_mhz * 1e6);
    peaks->bytes[0] = product(f->sm_count, f->l1_bytes, f->clock_mhz * 1e6);
    peaks->bytes[1] = product(f->l2_slices, f->l2_bytes, f->l2_mhz * 1e6);
    peaks->bytes[2] = product(f->dram_channels, f->dram_bytes, f->dram_mhz * 1e6);
}

/* Bytes a second over what a level can move. */
static double share_moved(const struct ww_level *level, double bytes_per_second) {
    return bytes_per_second > 0 && level->read_gb_s >= 0
               ? (level->read_gb_s + fmax(level->write_gb_s, 0)) * 1e9 / bytes_per_second
               : -1;
}

static double lanes_used(const uint64_t *c, const struct ww_gpu_facts *f, enum ww_lanes pipe) {
    static const enum ww_counter counter[WW_LANES_COUNT] = {WW_C_LANE_INT,   WW_C_LANE_IMUL, WW_C_LANE_FP32,
                                                            WW_C_LANE_FP16,  WW_C_LANE_FP64, WW_C_LANE_SFU,
                                                            WW_C_LANE_TENSOR};
    double used = (double)c[counter[pipe]];
    return pipe == WW_LANES_FP32 && f->int_in_fp32 ? used + (double)c[WW_C_LANE_INT] : used;
}

enum ww_limit ww_light(const struct ww_launch_result *l, const struct ww_gpu_facts *f,
                       double part[WW_LIMIT_COUNT]) {
    struct ww_level level[WW_LEVELS];
    struct ww_peaks peaks;
    int top = 0;
    ww_levels(l, level);
    ww_peaks(f, &peaks);
    part[WW_LIMIT_ISSUE] =
        ww_ratio((double)l->slot[WW_SLOT_ISSUED], (double)ww_sum_u64(l->slot, WW_SLOT_COUNT));
    for (int i = 0; i < WW_LANES_COUNT; i++)
        part[WW_LIMIT_LANES + i] = f->lanes[i] > 0 && f->sm_count > 0
                                       ? ww_ratio(lanes_used(l->counter, f, (enum ww_lanes)i),
                                                  f->lanes[i] * f->sm_count * (double)l->cycles)
                                       : -1;
    part[WW_LIMIT_L1] = share_moved(&level[0], peaks.bytes[0]);
    part[WW_LIMIT_L2] = share_moved(&level[1], peaks.bytes[1]);
    part[WW_LIMIT_DRAM] = level[2].busy;
    for (int i = 1; i < WW_LIMIT_COUNT; i++)
        if (part[i] > part[top]) top = i;
    return (enum ww_limit)top;
}

/* ---- operations ---- */

const char *ww_op_type_name(enum ww_op_type type) {
    static const char *const name[WW_OPS_TYPES] = {"fp32", "fp16", "fp64", "tensor"};
    return name[type];
}

/* Operations of a lane: a fused multiply-add is two. */
static double twice_fma(const uint64_t *c, enum ww_counter add, enum ww_counter mul, enum ww_counter fma) {
    return (double)c[add] + (double)c[mul] + 2 * (double)c[fma];
}

void ww_operations(const struct ww_launch_result *l, double of[WW_OPS_TYPES]) {
    const uint64_t *c = l->counter;
    of[WW_OPS_FP32] = twice_fma(c, WW_C_LANE_FP32_ADD, WW_C_LANE_FP32_MUL, WW_C_LANE_FP32_FMA);
    of[WW_OPS_FP16] = 2 * twice_fma(c, WW_C_LANE_FP16_ADD, WW_C_LANE_FP16_MUL, WW_C_LANE_FP16_FMA);
    of[WW_OPS_FP64] = twice_fma(c, WW_C_LANE_FP64_ADD, WW_C_LANE_FP64_MUL, WW_C_LANE_FP64_FMA);
    of[WW_OPS_TENSOR] = 2 * (double)c[WW_C_TENSOR_FMA];
}

double ww_operations_peak(const struct ww_peaks *p, enum ww_op_type type) {
    static const enum ww_lanes lanes[WW_OPS_TYPES] = {WW_LANES_FP32, WW_LANES_FP16, WW_LANES_FP64,
                                                      WW_LANES_TENSOR};
    static const double each[WW_OPS_TYPES] = {2, 4, 2, 16};
    return p->lanes[lanes[type]] > 0 ? p->lanes[lanes[type]] * each[type] : -1;
}

void ww_flows(const struct ww_launch_result *l, struct ww_flow flow[WW_LEVELS]) {
    const uint64_t *c = l->counter;
    flow[0] = (struct ww_flow){c[WW_C_L1_SECTOR_READ] + c[WW_C_TEX_SECTOR_READ], c[WW_C_L1_SECTOR_WRITE]};
    flow[1] = (struct ww_flow){c[WW_C_XBAR_SECTOR_READ], c[WW_C_XBAR_SECTOR_WRITE]};
    flow[2] = (struct ww_flow){c[WW_C_DRAM_SECTOR_READ], c[WW_C_DRAM_SECTOR_WRITE]};
}
