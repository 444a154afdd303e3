/* Suite "apogee": chapter V of A. Sethia, Dynamic Hardware Resource Management for Efficient Throughput
 * Processing (dissertation, University of Michigan, 2015). Five general kernels and seven scenes, each recorded
 * for 1 to 32 warps, on apogee-sm with a register file to match, without a prefetcher and with stride, MTA and
 * APOGEE. docs/studies/apogee.md says what is modelled and why rows lie outside. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "apogee_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct ww_ap_kernel ww_ap_kernel[WW_AP_KERNELS] = {
    {"HS", "ap_scene", "hand_shaded"},
    {"WT", "ap_scene", "wolf_textured"},
    {"WF", "ap_scene", "wolf_wireframe"},
    {"IT", "ap_scene", "insect_textured"},
    {"ST", "ap_scene", "squid_textured"},
    {"ES", "ap_scene", "engine_shaded"},
    {"RS", "ap_scene", "room_solid"},
    {"FFT", "ap_fft", NULL},
    {"FT", "ap_filter", NULL},
    {"HP", "ap_hotspot", NULL},
    {"MS", "ap_mergesort", NULL},
    {"SP", "ap_shortestpath", NULL},
};

const char *const ww_ap_machine_name[WW_AP_MACHINES] = {"SIMT_1",  "SIMT_2",  "SIMT_4",   "SIMT_8",
                                                        "SIMT_16", "SIMT_32", "stride_4", "MTA_4",
                                                        "MTA_8",   "MTA_32",  "Apogee_4"};

#define GPU "apogee-sm"
static const struct ww_matrix_machine machines[WW_AP_MACHINES] = {
    [WW_AP_SIMT_1] = {GPU, {"sched=lrr"}},
    [WW_AP_SIMT_2] = {GPU, {"sched=lrr"}},
    [WW_AP_SIMT_4] = {GPU, {"sched=lrr"}},
    [WW_AP_SIMT_8] = {GPU, {"sched=lrr"}},
    [WW_AP_SIMT_16] = {GPU, {"sched=lrr"}},
    [WW_AP_SIMT_32] = {GPU, {"sched=lrr"}},
    [WW_AP_STRIDE_4] = {GPU, {"sched=lrr", "fetch=stride_warp"}},
    [WW_AP_MTA_4] = {GPU, {"sched=lrr", "fetch=mta"}},
    [WW_AP_MTA_8] = {GPU, {"sched=lrr", "fetch=mta"}},
    [WW_AP_MTA_32] = {GPU, {"sched=lrr", "fetch=mta"}},
    [WW_AP_APOGEE_4] = {GPU, {"sched=lrr", "fetch=apogee"}},
};

/* 512 registers for each warp, 16 a thread (table 5.4: 16 k for 32 warps, 2 k for 4). */
#define WARPS_1                                                                                                \
    { "sm.max_warps=1", "sm.max_threads=32", "sm.registers=512" }
#define WARPS_2                                                                                                \
    { "sm.max_warps=2", "sm.max_threads=64", "sm.registers=1024" }
#define WARPS_4                                                                                                \
    { "sm.max_warps=4", "sm.max_threads=128", "sm.registers=2048" }
#define WARPS_8                                                                                                \
    { "sm.max_warps=8", "sm.max_threads=256", "sm.registers=4096" }
#define WARPS_16                                                                                               \
    { "sm.max_warps=16", "sm.max_threads=512", "sm.registers=8192" }
#define WARPS_32                                                                                               \
    { "sm.max_warps=32", "sm.max_threads=1024", "sm.registers=16384" }
enum { REGISTERS = 16 };
static const char *const sets[WW_AP_MACHINES][WW_MATRIX_OVERRIDES] = {
    WARPS_1, WARPS_2, WARPS_4, WARPS_8, WARPS_16, WARPS_32, WARPS_4, WARPS_4, WARPS_8, WARPS_32, WARPS_4};

static size_t size_of(size_t machine) {
    static const uint8_t size[WW_AP_MACHINES] = {0, 1, 2, 3, 4, 5, 2, 2, 3, 5, 2};
    return size[machine];
}

/* Workloads are kernels by numbers of warps. */
static bool wanted(size_t workload, size_t machine) {
    return workload % WW_AP_SIZES == size_of(machine);
}

static enum ww_code seen(void *context, size_t workload, size_t machine, const struct ww_result *result,
                         struct ww_error *error) {
    struct ww_ap_sums *s = context;
    struct ww_ap_sum *sum = &s->of[machine][workload / WW_AP_SIZES];
    (void)error;
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct ww_launch_result *l = &result->launch[i];
        sum->cycles += l->cycles;
        sum->warp_instructions += l->warp_instructions;
        sum->time_ps += l->time_ps;
        sum->joules += l->energy.total_j;
        for (int c = 0; c < WW_COUNTER_COUNT; c++) sum->counter[c] += l->counter[c];
    }
    return WW_OK;
}

/* ---- figures ---- */

static double ratio(double a, double b) {
    return b > 0 ? a / b : NAN;
}

double ww_ap_speedup(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine base, enum ww_ap_machine m) {
    return ratio((double)s->of[base][k].cycles, (double)s->of[m][k].cycles);
}

double ww_ap_watts(const struct ww_ap_sum *s) {
    return ratio(s->joules, (double)s->time_ps * 1e-12);
}

double ww_ap_efficiency(const struct ww_ap_sums *s, size_t k, enum ww_ap_machine base, enum ww_ap_machine m) {
    return ww_ap_speedup(s, k, base, m) * ratio(ww_ap_watts(&s->of[base][k]), ww_ap_watts(&s->of[m][k]));
}

double ww_ap_mean_speedup(const struct ww_ap_sums *s, enum ww_ap_machine base, enum ww_ap_machine m,
                          size_t first, size_t end) {
    double sum = 0;
    for (size_t k = first; k < end; k++) sum += log(ww_ap_speedup(s, k, base, m));
    return exp(sum / (double)(end - first));
}

double ww_ap_mean_efficiency(const struct ww_ap_sums *s, enum ww_ap_machine base, enum ww_ap_machine m) {
    double sum = 0;
    for (size_t k = 0; k < WW_AP_KERNELS; k++) sum += log(ww_ap_efficiency(s, k, base, m));
    return exp(sum / WW_AP_KERNELS);
}

double ww_ap_mean(const struct ww_ap_sums *s, ww_ap_figure_fn figure, size_t first, size_t end) {
    double sum = 0, n = 0;
    for (size_t k = first; k < end; k++) {
        double value = figure(s, k);
        if (!isnan(value)) {
            sum += value;
            n++;
        }
    }
    return ratio(sum, n);
}

double ww_ap_accuracy(const struct ww_ap_sum *s) {
    const uint64_t *n = s->counter;
    return 100 *
           ratio((double)(n[WW_C_PREFETCH_SENT] - n[WW_C_PREFETCH_USELESS]), (double)n[WW_C_PREFETCH_SENT]);
}

double ww_ap_miss_rate(const struct ww_ap_sum *s) {
    const uint64_t *n = s->counter;
    return 100 *
           ratio((double)(n[WW_C_L1_SECTOR_MISS] + n[WW_C_L1_SECTOR_MERGED]), (double)n[WW_C_L1_SECTOR_READ]);
}

double ww_ap_latency(const struct ww_ap_sum *s) {
    return ratio((double)s->counter[WW_C_LOAD_CYCLES], (double)s->counter[WW_C_LOAD_ANSWERED]);
}

double ww_ap_sectors(const struct ww_ap_sum *s) {
    return (double)(s->counter[WW_C_L1_SECTOR_MISS] + s->counter[WW_C_PREFETCH_SECTOR]);
}

double ww_ap_stalls(const struct ww_ap_sum *s) {
    double issuing = 4 * (double)s->warp_instructions, cycles = (double)s->cycles;
    return cycles > issuing ? cycles - issuing : 0;
}

double ww_ap_register_rate(const struct ww_ap_sum *s) {
    return ratio((double)(s->counter[WW_C_REG_READ] + s->counter[WW_C_REG_WRITE]), (double)s->cycles);
}

double ww_ap_invariant(const struct ww_ap_sum *s) {
    const uint64_t *n = s->counter;
    return 100 *
           ratio((double)n[WW_C_L1_MISS_INVARIANT], (double)(n[WW_C_L1_SECTOR_MISS] + n[WW_C_TEX_SECTOR_MISS]));
}

/* ---- the suite ---- */

static enum ww_code name_workloads(struct ww_arena *arena, bool small, struct ww_matrix_workload *w,
                                   struct ww_error *error) {
    for (size_t i = 0; i < WW_AP_KERNELS * WW_AP_SIZES; i++) {
        const struct ww_ap_kernel *k = &ww_ap_kernel[i / WW_AP_SIZES];
        char *text = ww_arena_alloc(arena, 64);
        size_t n = 0;
        if (!text) return ww_fail_nomem(error, "a suite's workloads");
        int used = snprintf(text, 16, "warps=%u", 1u << i % WW_AP_SIZES) + 1;
        w[i] = (struct ww_matrix_workload){.name = k->workload, .registers = REGISTERS};
        w[i].parameter[n++] = text;
        if (small) w[i].parameter[n++] = "size=small";
        if (!k->scene) continue;
        snprintf(text + used, 64 - (size_t)used, "scene=%s", k->scene);
        w[i].parameter[n++] = text + used;
    }
    return WW_OK;
}

enum ww_code ww_validate_suite_apogee(struct ww_validation *v, const struct ww_validate_options *options,
                                      struct ww_error *error) {
    struct ww_ap_sums *sums = ww_arena_alloc(&v->arena, sizeof *sums);
    struct ww_matrix_workload *w = ww_arena_array(&v->arena, WW_AP_KERNELS * WW_AP_SIZES, sizeof *w);
    if (!sums || !w) return ww_fail_nomem(error, "measurements");
    WW_TRY(name_workloads(&v->arena, options && options->small, w, error));
    struct ww_matrix m = {.workload = w,
                          .workloads = WW_AP_KERNELS * WW_AP_SIZES,
                          .machine = machines,
                          .machines = WW_AP_MACHINES,
                          .set = sets,
                          .wanted = wanted,
                          .seen = seen,
                          .context = sums};
    WW_TRY(ww_matrix_run(&m, &v->arena, options, error));
    WW_TRY(ww_ap_rows(v, sums, error));
    return ww_ap_bars(v, sums, error);
}
