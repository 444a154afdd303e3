/* What reports compute from a result's raw numbers. */
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "figures.h"
#include "text.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#define SECTOR 32.0 /* bytes that a sector counter counts, at every level */

/* Item of a dotted key, which may stand flat ("a.b") or nested. */
static const cJSON *gpu_item(const cJSON *root, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    char part[64];
    for (const cJSON *at = root; !item && at && *key;) {
        size_t n = strcspn(key, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, key);
        at = cJSON_GetObjectItemCaseSensitive(at, part);
        key += n + (key[n] == '.');
        if (!*key) item = at;
    }
    return item;
}

static double gpu_number(const cJSON *root, const char *key, double absent) {
    const cJSON *item = gpu_item(root, key);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 ? item->valuedouble : absent;
}

/* Lane operations of tensor cores that an SM makes in a cycle, at the rate of fp16. */
static double tensor_lanes(const cJSON *root) {
    static const struct {
        const char *name;
        double fp16; /* multiply-adds of a unit in a cycle */
    } unit[] = {
#define UNIT(id, name, fp16, tf32, fp64, fp8, int8, int4, b1, fp4, latency, source) {name, fp16},
#define ROW(id, shape, cycles, latency, source)
#include "../estimator/config/tensor.def"
#undef UNIT
#undef ROW
    };
    const char *name = cJSON_GetStringValue(gpu_item(root, "pipe.tensor.unit"));
    double count = gpu_number(root, "pipe.tensor.count", -1);
    for (size_t i = 0; name && i < sizeof unit / sizeof *unit; i++)
        if (strcmp(unit[i].name, name) == 0)
            return count > 0 ? count * unit[i].fp16 / 8 * gpu_number(root, "pipe.tensor.speed", 1) : -1;
    return count > 0 ? count * gpu_number(root, "pipe.tensor.lanes", 1) : -1;
}

static void read_lanes(const cJSON *root, struct ww_gpu_facts *facts) {
    static const char *const pipe[WW_LANES_TENSOR] = {"int", "imul", "fp32", "fp16", "fp64", "sfu"};
    char lanes[32], count[32];
    for (int i = 0; i < WW_LANES_TENSOR; i++) {
        snprintf(lanes, sizeof lanes, "pipe.%s.lanes", pipe[i]);
        snprintf(count, sizeof count, "pipe.%s.count", pipe[i]);
        double n = gpu_number(root, lanes, -1), of = gpu_number(root, count, -1);
        facts->lanes[i] = n > 0 && of > 0 ? n * of : -1;
    }
    facts->lanes[WW_LANES_TENSOR] = tensor_lanes(root);
    facts->int_in_fp32 = cJSON_IsTrue(gpu_item(root, "pipe.int.shares_fp32"));
}

void ww_gpu_facts(const char *gpu_json, struct ww_gpu_facts *facts) {
    cJSON *root = cJSON_Parse(gpu_json ? gpu_json : "");
    facts->sm_count = gpu_number(root, "sm.count", -1);
    facts->max_warps = gpu_number(root, "sm.max_warps", -1);
    facts->schedulers = gpu_number(root, "sm.schedulers", -1);
    facts->clock_mhz = gpu_number(root, "clock.sm_mhz", -1);
    facts->board_w = gpu_number(root, "board.tdp_w", -1);
    facts->overhead_us = gpu_number(root, "launch.overhead_us", -1);
    facts->counts_launch = gpu_number(root, "launch.front_cycles", -1) >= 0;
    facts->issue_width = gpu_number(root, "sm.issue_width", -1);
    facts->issue_interval = gpu_number(root, "front.issue_interval", -1);
    facts->l1_bytes = gpu_number(root, "l1.bytes_per_cycle", -1);
    facts->l2_slices = gpu_number(root, "l2.slices", -1);
    facts->l2_bytes = gpu_number(root, "l2.bytes_per_cycle", -1);
    facts->l2_mhz = gpu_number(root, "clock.l2_mhz", -1);
    facts->dram_channels = gpu_number(root, "dram.channels", -1);
    double bits = gpu_number(root, "dram.bus_bits", -1), rate = gpu_number(root, "dram.data_rate", -1);
    facts->dram_bytes = bits > 0 && rate > 0 ? bits / 8 * rate : -1;
    facts->dram_mhz = gpu_number(root, "clock.dram_mhz", -1);
    read_lanes(root, facts);
    cJSON_Delete(root);
}

uint64_t ww_launch_latency_ps(const struct ww_launch_result *l, const struct ww_gpu_facts *facts) {
    if (facts->counts_launch) return l->counter[WW_C_LAUNCH_LATENCY_PS];
    return facts->overhead_us > 0 ? (uint64_t)(facts->overhead_us * 1e6) : 0;
}

struct ww_place ww_place_next(struct ww_placing *at, const struct ww_launch_result *l,
                              const struct ww_gpu_facts *facts) {
    struct ww_place place = {at->now,
                             at->now + ww_launch_latency_ps(l, facts) - l->counter[WW_C_LAUNCH_HIDDEN_PS]};
    if (l->concurrent && l->concurrent != at->concurrent) {
        at->group = place.start;
        at->group_ctas = place.ctas;
    }
    at->concurrent = l->concurrent;
    if (l->concurrent) place = (struct ww_place){at->group + l->start_ps, at->group_ctas};
    if (place.start + l->time_ps > at->now) at->now = place.start + l->time_ps;
    return place;
}

static uint64_t times(uint64_t v, double by) {
    double x = (double)v * by;
    return by == 1 ? v : x < 9e18 ? (uint64_t)llround(x) : UINT64_MAX;
}

static void add_array(uint64_t *to, const uint64_t *from, size_t count, double weight) {
    for (size_t i = 0; i < count; i++) to[i] += times(from[i], weight);
}

static void scale_counts(uint64_t *v, size_t count, double by) {
    for (size_t i = 0; i < count; i++) v[i] = times(v[i], by);
}

/* Launches of its stratum that one that a sample replayed whole stands for; 1 in other runs. */
double ww_launch_weight(const struct ww_result *r, uint32_t launch) {
    const struct ww_sampling *s = &r->sampling;
    const struct ww_sample_row *found = NULL;
    size_t same = 0;
    for (size_t i = 0; i < s->row_count && !found; i++)
        if (s->row[i].launch == launch && s->row[i].kind == 0) found = &s->row[i];
    for (size_t i = 0; i < s->row_count && found; i++) same += s->row[i].stratum == found->stratum;
    return found ? (double)found->population / (double)same : 1;
}

static bool counts_cycles(enum ww_counter c) {
    const char *unit = ww_counter_unit(c), *last = strrchr(unit, ' ');
    return strcmp(last ? last + 1 : unit, "cycle") == 0;
}

/* Makes the sums of the launches that a sample replayed whole those of the whole run. */
static void scale_to_run(const struct ww_result *r, struct ww_launch_result *sum) {
    double joules = 0, cycles = ww_ratio((double)r->cycles, (double)sum->cycles),
           work = ww_ratio((double)r->warp_instructions, (double)sum->warp_instructions);
    if (cycles < 0 || work < 0) return;
    scale_counts(sum->warp_cycles, WW_STATE_COUNT, cycles);
    scale_counts(sum->slot, WW_SLOT_COUNT, cycles);
    sum->resident_warp_cycles = ww_sum_u64(sum->warp_cycles, WW_STATE_COUNT);
    for (int c = 0; c < WW_COUNTER_COUNT; c++)
        scale_counts(&sum->counter[c], 1, counts_cycles((enum ww_counter)c) ? cycles : work);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) joules += sum->energy.dynamic_j[c] + sum->energy.static_j[c];
    for (int c = 0; c < WW_COMPONENT_COUNT && joules > 0; c++) {
        sum->energy.dynamic_j[c] *= r->energy_j / joules;
        sum->energy.static_j[c] *= r->energy_j / joules;
    }
}

bool ww_is_estimate(const struct ww_result *result) {
    return result->sampling.row_count > 0;
}

bool ww_counter_known(const struct ww_result *result, const struct ww_launch_result *launch,
                      enum ww_counter c) {
    if (strcmp(result->mode, "fast") != 0) return true;
    if (c == WW_C_MEM_SATURATED_CYCLES)
        return launch->counter[WW_C_EP_CYCLES] > 0 || launch->counter[WW_C_MP_CYCLES] > 0;
    return c != WW_C_L2_STALL_CYCLES;
}

double ww_share_whole(const struct ww_result *result) {
    double part = 0;
    for (size_t i = 0; i < result->launch_count; i++) part += (double)result->launch[i].warp_instructions;
    return ww_ratio(part, (double)result->warp_instructions);
}

void ww_say_scaled(const struct ww_result *result, char out[240]) {
    char share[32];
    if (result->launch_count == 0)
        snprintf(out, 240,
                 "no launch was replayed whole: how time and energy divide by cause, state, memory level and "
                 "component is not known");
    else
        snprintf(out, 240,
                 "figures by cause, state, memory level and component are those of the %zu launch%s replayed "
                 "whole (%s of the instructions), weighted by stratum and scaled to the run",
                 result->launch_count, result->launch_count == 1 ? "" : "es",
                 ww_percent(ww_share_whole(result), share));
}

void ww_sum_launches(const struct ww_result *result, struct ww_launch_result *sum) {
    *sum = (struct ww_launch_result){.kernel = "", .occupancy_limiter = ""};
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct ww_launch_result *l = &result->launch[i];
        double weight = ww_launch_weight(result, l->index);
        sum->cycles += times(l->cycles, weight);
        sum->warp_instructions += times(l->warp_instructions, weight);
        sum->resident_warp_cycles += times(l->resident_warp_cycles, weight);
        add_array(sum->counter, l->counter, WW_COUNTER_COUNT, weight);
        add_array(sum->warp_cycles, l->warp_cycles, WW_STATE_COUNT, weight);
        add_array(sum->slot, l->slot, WW_SLOT_COUNT, weight);
        for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
            sum->energy.dynamic_j[c] += l->energy.dynamic_j[c] * weight;
            sum->energy.static_j[c] += l->energy.static_j[c] * weight;
        }
    }
    if (ww_is_estimate(result)) scale_to_run(result, sum);
    sum->cycles = result->cycles;
    sum->time_ps = result->time_ps;
    sum->warp_instructions = result->warp_instructions;
    sum->thread_instructions = result->thread_instructions;
    sum->energy.known = result->energy_known;
    sum->energy.total_j = result->energy_j;
}

double ww_ratio(double a, double b) {
    return b > 0 ? a / b : -1;
}

static void finish_level(struct ww_level *l, double lookups, double seconds) {
    l->hit_rate = ww_ratio((double)l->hit, lookups);
    l->bytes_read = (double)l->read * SECTOR;
    l->bytes_written = (double)l->written * SECTOR;
    l->read_gb_s = seconds > 0 ? l->bytes_read / seconds * 1e-9 : -1;
    l->write_gb_s = seconds > 0 ? l->bytes_written / seconds * 1e-9 : -1;
}

void ww_levels(const struct ww_launch_result *launch, struct ww_level level[WW_LEVELS]) {
    const uint64_t *c = launch->counter;
    double seconds = (double)launch->time_ps / 1e12;
    level[0] = (struct ww_level){.name = "l1",
                                 .read = c[WW_C_L1_SECTOR_READ],
                                 .written = c[WW_C_L1_SECTOR_WRITE],
                                 .hit = c[WW_C_L1_SECTOR_HIT],
                                 .merged = c[WW_C_L1_SECTOR_MERGED],
                                 .missed = c[WW_C_L1_SECTOR_MISS],
                                 .busy = -1};
    level[1] = (struct ww_level){.name = "l2",
                                 .read = c[WW_C_L2_SECTOR_READ],
                                 .written = c[WW_C_L2_SECTOR_WRITE],
                                 .hit = c[WW_C_L2_SECTOR_HIT],
                                 .merged = c[WW_C_L2_SECTOR_MERGED],
                                 .missed = c[WW_C_L2_SECTOR_MISS],
                                 .busy = -1};
    level[2] = (struct ww_level){.name = "dram",
                                 .read = c[WW_C_DRAM_SECTOR_READ],
                                 .written = c[WW_C_DRAM_SECTOR_WRITE],
                                 .hit = c[WW_C_DRAM_ROW_HIT],
                                 .merged_rate = -1};
    double bursts = (double)c[WW_C_DRAM_BURST_READ] + (double)c[WW_C_DRAM_BURST_WRITE];
    level[2].busy = ww_ratio((double)c[WW_C_DRAM_BUSY_CYCLES], (double)c[WW_C_DRAM_CYCLES]);
    level[2].missed = bursts > (double)level[2].hit ? (uint64_t)bursts - level[2].hit : 0;
    for (int i = 0; i < 2; i++) level[i].merged_rate = ww_ratio((double)level[i].merged, (double)level[i].read);
    finish_level(&level[0], (double)level[0].read, seconds);
    finish_level(&level[1], (double)level[1].read, seconds);
    finish_level(&level[2], bursts, seconds);
}

double ww_ipc(const struct ww_launch_result *launch) {
    return ww_ratio((double)launch->warp_instructions, (double)launch->cycles);
}

double ww_watts(double joules, bool known, uint64_t time_ps) {
    return known ? ww_ratio(joules, (double)time_ps / 1e12) : -1;
}

double ww_launch_watts(const struct ww_launch_result *launch) {
    return ww_watts(launch->energy.total_j, launch->energy.known, launch->time_ps);
}

bool ww_above_board(double watts, double board_w) {
    return board_w > 0 && watts > board_w;
}

double ww_occupancy_reached(const struct ww_launch_result *launch, const struct ww_gpu_facts *facts) {
    if (facts->sm_count < 0 || facts->max_warps < 0) return -1;
    return ww_ratio((double)launch->resident_warp_cycles,
                    facts->sm_count * facts->max_warps * (double)launch->cycles);
}

uint64_t ww_sum_u64(const uint64_t *v, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += v[i];
    return sum;
}

static bool is_stall(int state) {
    return state != WW_S_ISSUED && state != WW_S_DONE;
}

int ww_top_stall(const uint64_t warp_cycles[WW_STATE_COUNT]) {
    int top = -1;
    for (int s = 0; s < WW_STATE_COUNT; s++)
        if (is_stall(s) && warp_cycles[s] > (top < 0 ? 0 : warp_cycles[top])) top = s;
    return top;
}

uint64_t ww_stall_cycles(const uint64_t warp_cycles[WW_STATE_COUNT]) {
    uint64_t sum = 0;
    for (int s = 0; s < WW_STATE_COUNT; s++)
        if (is_stall(s)) sum += warp_cycles[s];
    return sum;
}

/* What is worth a warning: half as many again as would do, and so large a part of all sectors. */
#define WASTE_FACTOR 1.5
#define WASTE_PART 0.05

bool ww_wastes_sectors(const uint64_t counter[WW_INST_COUNTER_COUNT], uint64_t requests, uint64_t all,
                       char out[WW_SECTORS_TEXT]) {
    double sectors = (double)counter[WW_I_SECTORS], ideal = (double)counter[WW_I_IDEAL_SECTORS];
    char share[32];
    if (!requests || sectors < WASTE_FACTOR * ideal || sectors - ideal < WASTE_PART * (double)all) return false;
    snprintf(out, WW_SECTORS_TEXT,
             "%.1f sectors a request where %.1f would do; the others are %s of all sectors",
             sectors / (double)requests, ideal / (double)requests,
             ww_percent((sectors - ideal) / (double)all, share));
    return true;
}
