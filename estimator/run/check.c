/* check.c: the conservation laws that every result obeys.
 *
 * Works on results that were read back from a database too, so it uses only the result. */
#include "../api/run.h"
#include "../result/result.h"
#include "../result/names.h"
#include "../base/locale.h"
#include "../config/json.h"
#include "run_int.h"
#include <math.h>
#include <string.h>

#define TERMS 7

/* left terms add up to right terms, in every launch. Terms end at -1. */
struct law {
    const char *text;
    int left[TERMS], right[TERMS];
};
#define C(id) WW_C_##id
#define END (-1)

static const struct law laws[] = {
    {"lookups of load sectors in the L1 = hits + merges + misses",
     {C(L1_SECTOR_READ), END},
     {C(L1_SECTOR_HIT), C(L1_SECTOR_MERGED), C(L1_SECTOR_MISS), END}},
    {"lookups of sectors in the texture cache = hits + merges + misses",
     {C(TEX_SECTOR_READ), END},
     {C(TEX_SECTOR_HIT), C(TEX_SECTOR_MERGED), C(TEX_SECTOR_MISS), END}},
    {"read sectors that enter the crossbar = L1 and texture-cache misses + atomics + bulk transfers + "
     "prefetches",
     {C(XBAR_SECTOR_READ), END},
     {C(L1_SECTOR_MISS), C(TEX_SECTOR_MISS), C(L2_ATOMIC), C(DMA_SECTOR), C(PREFETCH_SECTOR), END}},
    {"lines that the prefetcher asked for = merged + present + dropped + sent",
     {C(PREFETCH_ASKED), END},
     {C(PREFETCH_MERGED), C(PREFETCH_PRESENT), C(PREFETCH_DROPPED), C(PREFETCH_SENT), END}},
    {"prefetches sent = timely + late + early + useless",
     {C(PREFETCH_SENT), END},
     {C(PREFETCH_TIMELY), C(PREFETCH_LATE), C(PREFETCH_EARLY), C(PREFETCH_USELESS), END}},
    {"lines asked of the L1.5 instruction cache + found in stream buffers = L0 misses + lines fetched ahead",
     {C(FETCH_L15), C(FETCH_STREAM), END},
     {C(FETCH_L0_MISS), C(FETCH_AHEAD), END}},
    {"store sectors of the L1 = hits + misses",
     {C(L1_SECTOR_WRITE), END},
     {C(L1_WRITE_HIT), C(L1_WRITE_MISS), END}},
    {"write sectors of the L2 = hits + misses",
     {C(L2_SECTOR_WRITE), END},
     {C(L2_WRITE_HIT), C(L2_WRITE_MISS), END}},
    {"lane operations in single precision = adds + multiplies + fused ones",
     {C(LANE_FP32), END},
     {C(LANE_FP32_ADD), C(LANE_FP32_MUL), C(LANE_FP32_FMA), END}},
    {"lane operations in half precision = adds + multiplies + fused ones",
     {C(LANE_FP16), END},
     {C(LANE_FP16_ADD), C(LANE_FP16_MUL), C(LANE_FP16_FMA), END}},
    {"lane operations in double precision = adds + multiplies + fused ones",
     {C(LANE_FP64), END},
     {C(LANE_FP64_ADD), C(LANE_FP64_MUL), C(LANE_FP64_FMA), END}},
    {"lane operations of the special-function unit = functions + conversions",
     {C(LANE_SFU), END},
     {C(LANE_SFU_EXP), C(LANE_SFU_RSQ), C(LANE_SFU_LOG), C(LANE_SFU_SIN), C(LANE_CVT_FP), C(LANE_CVT_INT),
      END}},
    {"written sectors that enter the crossbar = those that leave the SMs",
     {C(XBAR_SECTOR_WRITE), END},
     {C(L1_SECTOR_WRITE), END}},
    {"requests looked up in the L1 TLB = hits + misses",
     {C(TLB_L1_ACCESS), END},
     {C(TLB_L1_HIT), C(TLB_L1_MISS), END}},
    {"misses of the L1 TLB = those that join another + pages looked up in the L2 TLB",
     {C(TLB_L1_MISS), END},
     {C(TLB_MERGED), C(TLB_L2_ACCESS), END}},
    {"pages looked up in the L2 TLB = hits + misses",
     {C(TLB_L2_ACCESS), END},
     {C(TLB_L2_HIT), C(TLB_L2_MISS), END}},
    {"page walks = misses of the L2 TLB", {C(TLB_WALK), END}, {C(TLB_L2_MISS), END}},
    {"read sectors that reach the L2 = those that entered the crossbar + those of page walks",
     {C(L2_SECTOR_READ), END},
     {C(XBAR_SECTOR_READ), C(TLB_WALK_SECTOR), END}},
    {"written sectors that reach the L2 = those that entered the crossbar",
     {C(L2_SECTOR_WRITE), END},
     {C(XBAR_SECTOR_WRITE), END}},
    {"read sectors of the L2 = hits + merges + misses",
     {C(L2_SECTOR_READ), END},
     {C(L2_SECTOR_HIT), C(L2_SECTOR_MERGED), C(L2_SECTOR_MISS), END}},
    {"sectors read from DRAM = L2 misses + prefetches + those fetched for stores",
     {C(DRAM_SECTOR_READ), END},
     {C(L2_SECTOR_MISS), C(L2_PREFETCH), C(L2_WRITE_FETCH), END}},
    {"sectors written to DRAM = L2 write-backs + stores that were sent on",
     {C(DRAM_SECTOR_WRITE), END},
     {C(L2_WRITEBACK), C(L2_WRITE_THROUGH), END}},
    {"waits for writes = those performed before + ended by the write + given up",
     {C(SYNC_WAIT), END},
     {C(SYNC_OVER), C(SYNC_ENDED), C(SYNC_GIVEN_UP), END}},
    {"data of bulk copies sent to other CTAs = received", {C(COPY_SENT), END}, {C(COPY_RECEIVED), END}},
    {"events at mbarriers sent to other CTAs = received", {C(EVENT_SENT), END}, {C(EVENT_RECEIVED), END}},
    {"waits at mbarriers = those whose phase was over + ended by an event",
     {C(MBAR_WAIT), END},
     {C(MBAR_OVER), C(MBAR_ENDED), END}},
    {"allocations of shared memory = those given back", {C(SMEM_ALLOC), END}, {C(SMEM_FREE), END}},
    {"warps woken by bulk transfers = issues that these squashed", {C(DMA_WAKE), END}, {C(DMA_SQUASH), END}},
    {"shared-memory passes = instructions + wide + conflicts",
     {C(SHARED_PASSES), END},
     {C(MEM_INST_SHARED), C(SHARED_WIDE), C(SHARED_CONFLICTS), END}},
};

static uint64_t sum_terms(const struct ww_launch_result *l, const int *term) {
    uint64_t sum = 0;
    for (int i = 0; i < TERMS && term[i] != END; i++) sum += l->counter[term[i]];
    return sum;
}

static enum ww_code equal(const char *where, const char *text, uint64_t left, uint64_t right,
                          struct ww_error *error) {
    if (left == right) return WW_OK;
    return ww_fail(error, WW_INTERNAL, where, "%s: %llu != %llu", text, (unsigned long long)left,
                   (unsigned long long)right);
}

static enum ww_code check_counters(const struct ww_launch_result *l, const char *where,
                                   struct ww_error *error) {
    const uint64_t *c = l->counter;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        WW_TRY(equal(where, laws[i].text, sum_terms(l, laws[i].left), sum_terms(l, laws[i].right), error));
    WW_TRY(equal(where, "instructions issued = instructions of the trace", c[C(INST_ISSUED)],
                 l->warp_instructions, error));
    WW_TRY(equal(where, "thread instructions issued = those of the trace", c[C(THREAD_INST)],
                 l->thread_instructions, error));
    WW_TRY(equal(where, "warp-cycles in state issued + dual issues = instructions",
                 l->warp_cycles[WW_S_ISSUED] + c[C(DUAL_ISSUED)], c[C(INST_ISSUED)], error));
    return equal(where, "slots issued + dual issues = instructions",
                 l->slot[WW_SLOT_ISSUED] + c[C(DUAL_ISSUED)], c[C(INST_ISSUED)], error);
}

static enum ww_code check_time(const struct ww_launch_result *l, uint64_t sms, uint64_t schedulers,
                               const char *where, struct ww_error *error) {
    uint64_t states = 0, slots = 0;
    for (int s = 0; s < WW_STATE_COUNT; s++) states += l->warp_cycles[s];
    for (int s = 0; s < WW_SLOT_COUNT; s++) slots += l->slot[s];
    WW_TRY(
        equal(where, "warp-cycles by state = resident warps x cycles", states, l->resident_warp_cycles, error));
    WW_TRY(equal(where, "issue slots by cause = SMs x schedulers x cycles", slots, sms * schedulers * l->cycles,
                 error));
    WW_TRY(equal(where, "slots of the launch itself = SMs x schedulers x its cycles", l->slot[WW_SLOT_LAUNCH],
                 sms * schedulers * (l->counter[C(LAUNCH_FRONT_CYCLES)] + l->counter[C(LAUNCH_END_CYCLES)]),
                 error));
    uint64_t pipe = l->counter[C(PIPE_FETCH_CYCLES)] + l->counter[C(PIPE_STALL_SCHED)] +
                    l->counter[C(PIPE_STALL_CONFLICT)] + l->counter[C(PIPE_STALL_OTHER)];
    if (pipe)
        WW_TRY(equal(where, "cycles of the barrel pipeline, fetching and stalled = active SM cycles", pipe,
                     l->counter[C(SM_ACTIVE_CYCLES)], error));
    return equal(where, "active + idle SM cycles = SMs x cycles",
                 l->counter[C(SM_ACTIVE_CYCLES)] + l->counter[C(SM_IDLE_CYCLES)], sms * l->cycles, error);
}

static enum ww_code check_epochs(const struct ww_launch_result *l, const char *where, struct ww_error *error) {
    uint64_t states[WW_STATE_COUNT] = {0}, instructions = 0, cycles = 0;
    if (l->epoch_count == 0) return WW_OK;
    for (size_t e = 0; e < l->epoch_count; e++) {
        for (int s = 0; s < WW_STATE_COUNT; s++) states[s] += l->epoch[e].warp_cycles[s];
        instructions += l->epoch[e].warp_instructions;
        cycles += l->epoch[e].cycles;
    }
    for (int s = 0; s < WW_STATE_COUNT; s++)
        WW_TRY(equal(where, "warp-cycles of the epochs = those of the launch", states[s], l->warp_cycles[s],
                     error));
    WW_TRY(equal(where, "cycles of the epochs = those of the launch", cycles, l->cycles, error));
    return equal(where, "instructions of the epochs = those of the launch", instructions, l->warp_instructions,
                 error);
}

/* Times and energy of the epochs; a run of an older version has neither. */
static enum ww_code check_epoch_power(const struct ww_launch_result *l, const char *where,
                                      struct ww_error *error) {
    uint64_t time_ps = 0;
    for (size_t e = 0; e < l->epoch_count; e++) time_ps += l->epoch[e].time_ps;
    if (time_ps) WW_TRY(equal(where, "time of the epochs = that of the launch", time_ps, l->time_ps, error));
    for (int c = 0; l->epoch_energy && c < WW_COMPONENT_COUNT; c++) {
        double sum = 0, all = l->energy.dynamic_j[c] + l->energy.static_j[c];
        for (size_t e = 0; e < l->epoch_count; e++)
            sum += l->epoch_energy[e].dynamic_j[c] + l->epoch_energy[e].static_j[c];
        if (!(fabs(sum - all) <= 1e-9 * (fabs(sum) + fabs(all))))
            return ww_fail(error, WW_INTERNAL, where,
                           "energy of %s in the epochs = that of the launch: %.17g J != %.17g J",
                           ww_component_name((enum ww_component)c), sum, all);
    }
    return WW_OK;
}

/* What counters of instructions add up to over a launch. */
static const int inst_sums[WW_INST_COUNTER_COUNT][TERMS] = {
#define SUM(...)                                                                                               \
    { __VA_ARGS__, END }
#define NO_SUM                                                                                                 \
    { END }
#define X(id, name, step, shown, heading, sum, help) [WW_I_##id] = sum,
#include "../result/inst_counter.def"
#undef X
#undef NO_SUM
#undef SUM
};

static enum ww_code check_inst_counter(const struct ww_launch_result *l, enum ww_inst_counter i,
                                       const char *where, struct ww_error *error) {
    uint64_t sum = 0;
    char text[80];
    if (l->pc_unknown >> i & 1 || ww_inst_counter_has_merges(l, i) || inst_sums[i][0] == END) return WW_OK;
    for (size_t p = 0; p < l->pc_count; p++) sum += l->pc[p].counter[i];
    snprintf(text, sizeof text, "%s by PC = those of the launch", ww_inst_counter_name(i));
    return equal(where, text, sum, sum_terms(l, inst_sums[i]), error);
}

/* A finished warp has no head instruction, so its cycles belong to no PC. */
static enum ww_code check_pcs(const struct ww_launch_result *l, const char *where, struct ww_error *error) {
    uint64_t states[WW_STATE_COUNT] = {0};
    if (l->pc_count == 0) return WW_OK;
    for (size_t p = 0; p < l->pc_count; p++)
        for (int s = 0; s < WW_STATE_COUNT; s++) states[s] += l->pc[p].stall[s];
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++)
        WW_TRY(check_inst_counter(l, (enum ww_inst_counter)i, where, error));
    for (size_t p = 0; p < l->pc_count; p++)
        if (l->pc[p].counter[WW_I_IDEAL_SECTORS] > l->pc[p].counter[WW_I_SECTORS])
            return ww_fail(error, WW_INTERNAL, where,
                           "ideal_sectors by PC <= sectors by PC: not of instruction %u", l->pc[p].inst);
    for (int s = 0; s < WW_STATE_COUNT; s++)
        if (s != WW_S_DONE)
            WW_TRY(equal(where, "warp-cycles by PC = warp-cycles", states[s], l->warp_cycles[s], error));
    return WW_OK;
}

static enum ww_code check_energy(const struct ww_energy *e, const char *where, struct ww_error *error) {
    double sum = 0;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        double part = e->dynamic_j[c] + e->static_j[c];
        if (!isfinite(part) || part < 0)
            return ww_fail(error, WW_INTERNAL, where, "energy of %s is %g J; expected a finite value >= 0",
                           ww_component_name((enum ww_component)c), part);
        sum += part;
    }
    if (fabs(sum - e->total_j) > 1e-9 * (sum + e->total_j))
        return ww_fail(error, WW_INTERNAL, where, "energy by component = total: %.17g J != %.17g J", sum,
                       e->total_j);
    return WW_OK;
}

enum ww_code ww_launch_check_pcs(const struct ww_launch_result *l, struct ww_error *error) {
    char where[64];
    snprintf(where, sizeof where, "launch %u", l->index);
    return check_pcs(l, where, error);
}

enum ww_code ww_launch_check(const struct ww_launch_result *l, uint64_t sms, uint64_t schedulers,
                             struct ww_error *error) {
    char where[64];
    snprintf(where, sizeof where, "launch %u", l->index);
    WW_TRY(check_counters(l, where, error));
    WW_TRY(check_time(l, sms, schedulers, where, error));
    WW_TRY(check_epochs(l, where, error));
    WW_TRY(check_pcs(l, where, error));
    if (l->energy.known) WW_TRY(check_energy(&l->energy, where, error));
    return check_epoch_power(l, where, error);
}

/* SMs and schedulers of the GPU that the result was computed on. */
static enum ww_code read_shape(const struct ww_result *result, uint64_t *sms, uint64_t *schedulers,
                               struct ww_error *error) {
    cJSON *root = NULL;
    WW_TRY(ww_json_parse(result->gpu_json, strlen(result->gpu_json), "stored GPU", &root, error));
    const cJSON *sm = cJSON_GetObjectItemCaseSensitive(root, "sm.count");
    const cJSON *scheduler = cJSON_GetObjectItemCaseSensitive(root, "sm.schedulers");
    bool there = cJSON_IsNumber(sm) && cJSON_IsNumber(scheduler);
    if (there) {
        *sms = (uint64_t)sm->valuedouble;
        *schedulers = (uint64_t)scheduler->valuedouble;
    }
    cJSON_Delete(root);
    return there ? WW_OK : ww_fail(error, WW_INPUT, "stored GPU", "sm.count or sm.schedulers is missing");
}

enum ww_code ww_result_check(const struct ww_result *result, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    uint64_t sms = 0, schedulers = 0, cycles = 0, time_ps = 0, warps = 0, threads = 0;
    double joules = 0;
    WW_TRY(read_shape(result, &sms, &schedulers, error));
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct ww_launch_result *l = &result->launch[i];
        WW_TRY(ww_launch_check(l, sms, schedulers, error));
        cycles += l->cycles - l->shared_cycles;
        time_ps += l->time_ps - l->shared_ps;
        warps += l->warp_instructions;
        threads += l->thread_instructions;
        joules += l->energy.total_j;
    }
    if (result->sampling.row_count) return WW_OK; /* an estimate is no sum of the launches that were replayed */
    WW_TRY(equal("run", "cycles = sum over launches, less what is counted with others", result->cycles, cycles,
                 error));
    WW_TRY(equal("run", "time = sum over launches, less what is counted with others", result->time_ps, time_ps,
                 error));
    WW_TRY(equal("run", "warp instructions = sum over launches", result->warp_instructions, warps, error));
    WW_TRY(
        equal("run", "thread instructions = sum over launches", result->thread_instructions, threads, error));
    if (result->energy_known && fabs(joules - result->energy_j) > 1e-9 * (joules + result->energy_j))
        return ww_fail(error, WW_INTERNAL, "run", "energy = sum over launches: %.17g J != %.17g J",
                       result->energy_j, joules);
    return WW_OK;
}
