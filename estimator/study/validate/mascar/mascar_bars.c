/* A row for each kernel and bar of the figures of suite "mascar". The dissertation's text states none of them,
 * so they inform. Bars of compute-intensive kernels are of figures 4.1, 4.9 and 4.13 only. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "mascar_int.h"
#include <math.h>
#include <stdio.h>

/* What a bar is, of a kernel's sums. */
typedef double (*bar_fn)(const struct ww_matrix *b, size_t kernel, enum ww_mascar_machine m);

static double speedup(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return (double)ww_mascar_sum(b, k, WW_MASCAR_LRR)->cycles / (double)ww_mascar_sum(b, k, m)->cycles;
}

static double percent(const struct ww_matrix_sum *s, enum ww_counter c) {
    return 100 * ww_mascar_share(s, c);
}

/* Two schedulers issue one instruction a cycle each. */
static double peak(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return percent(ww_mascar_sum(b, k, m), WW_C_INST_ISSUED) / 2;
}

static double stall(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return percent(ww_mascar_sum(b, k, m), WW_C_LSU_STALL_CYCLES);
}

static double behind(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return percent(ww_mascar_sum(b, k, m), WW_C_LSU_HIT_BEHIND_STALL);
}

static double priority(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return percent(ww_mascar_sum(b, k, m), WW_C_MP_CYCLES);
}

static double hit_rate(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    const uint64_t *c = ww_mascar_sum(b, k, m)->counter;
    return c[WW_C_L1_SECTOR_READ] ? 100 * (double)c[WW_C_L1_SECTOR_HIT] / (double)c[WW_C_L1_SECTOR_READ] : 0;
}

/* A counter for each event of another one; 0 if there is none. */
static double per(const struct ww_matrix_sum *s, enum ww_counter of, enum ww_counter to, double scale) {
    return s->counter[to] ? scale * (double)s->counter[of] / (double)s->counter[to] : 0;
}

static double put_aside(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return per(ww_mascar_sum(b, k, m), WW_C_REEXEC_PUSH, WW_C_L1_ACCESS, 100);
}

static double attempts(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return per(ww_mascar_sum(b, k, m), WW_C_REEXEC_TRY, WW_C_REEXEC_PUSH, 1);
}

static double under_miss(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return per(ww_mascar_sum(b, k, m), WW_C_L1_HIT_UNDER_MISS, WW_C_L1_ACCESS, 100);
}

static double total(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return ww_mascar_sum(b, k, m)->total_j / ww_mascar_sum(b, k, WW_MASCAR_LRR)->total_j;
}

static double part(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m, int first, int last) {
    const struct ww_matrix_sum *s = ww_mascar_sum(b, k, m);
    double sum = 0;
    for (int c = first; c <= last; c++)
        sum += s->dynamic_j[c] + (first >= WW_P_DRAM_ACTIVATE ? s->static_j[c] : 0);
    return sum / ww_mascar_sum(b, k, WW_MASCAR_LRR)->total_j;
}

static double dram(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return part(b, k, m, WW_P_DRAM_ACTIVATE, WW_P_DRAM_BACKGROUND);
}

static double cache(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return part(b, k, m, WW_P_L1, WW_P_L1);
}

static double leakage(const struct ww_matrix *b, size_t k, enum ww_mascar_machine m) {
    return ww_mascar_leakage(ww_mascar_sum(b, k, m)) / ww_mascar_sum(b, k, WW_MASCAR_LRR)->total_j;
}

#define CACHE (1u << WW_MASCAR_CACHE)
#define MEMORY (CACHE | 1u << WW_MASCAR_MEMORY)
#define COMPUTE (1u << WW_MASCAR_COMPUTE)
#define ROWS (1u << WW_MASCAR_SENSITIVITY)

static const struct {
    const char *figure, *bar, *what, *unit;
    unsigned classes;
    enum ww_mascar_machine machine;
    bar_fn value;
} bars[] = {
    {"41", "ipc", "share of the peak IPC", "%", MEMORY | COMPUTE, WW_MASCAR_LRR, peak},
    {"41", "stall", "cycles with the load/store unit stalled", "%", MEMORY | COMPUTE | ROWS, WW_MASCAR_LRR,
     stall},
    {"43", "queues", "speed-up of 10,240 MSHRs and queue entries", "x", MEMORY, WW_MASCAR_QUEUES, speedup},
    {"43", "assoc", "speed-up of fully associative caches", "x", MEMORY, WW_MASCAR_ASSOC, speedup},
    {"43", "dram", "speed-up of 20 % faster DRAM", "x", MEMORY, WW_MASCAR_DRAM, speedup},
    {"43", "l1", "speed-up of the doubled L1", "x", MEMORY, WW_MASCAR_L1, speedup},
    {"43", "all", "speed-up of queues, associativity and DRAM", "x", MEMORY, WW_MASCAR_ALL, speedup},
    {"44", "behind", "cycles without issue, data in the L1 behind the stalled unit", "%", MEMORY, WW_MASCAR_LRR,
     behind},
    {"47", "push", "L1 accesses put aside, Mascar", "%", MEMORY, WW_MASCAR_MASCAR, put_aside},
    {"47", "tries", "attempts for each that was put aside", "", MEMORY, WW_MASCAR_MASCAR, attempts},
    {"47", "under", "L1 accesses that hit past a refused one, Mascar", "%", MEMORY, WW_MASCAR_MASCAR,
     under_miss},
    {"47", "under-lrr", "the same, re-execution alone", "%", MEMORY, WW_MASCAR_REEXECUTION, under_miss},
    {"48", "gto", "speed-up of GTO", "x", MEMORY | ROWS, WW_MASCAR_GTO, speedup},
    {"48", "owl", "speed-up of OWL", "x", MEMORY, WW_MASCAR_OWL, speedup},
    {"48", "ccws", "speed-up of CCWS", "x", MEMORY | ROWS, WW_MASCAR_CCWS, speedup},
    {"48", "sched", "speed-up of Mascar's scheduling alone", "x", MEMORY, WW_MASCAR_SCHEDULING, speedup},
    {"48", "reexec", "speed-up of re-execution alone", "x", MEMORY | ROWS, WW_MASCAR_REEXECUTION, speedup},
    {"48", "mascar", "speed-up of Mascar", "x", MEMORY | ROWS, WW_MASCAR_MASCAR, speedup},
    {"48", "clears6", "speed-up of Mascar, flag set at 7/8 and clear below 6/8", "x", CACHE, WW_MASCAR_CLEARS_6,
     speedup},
    {"48", "clears4", "the same, clear below 4/8", "x", CACHE, WW_MASCAR_CLEARS_4, speedup},
    {"48", "clears2", "the same, clear below 2/8", "x", CACHE, WW_MASCAR_CLEARS_2, speedup},
    {"48", "sets6", "the same, set at 6/8 and clear below", "x", CACHE, WW_MASCAR_SETS_6, speedup},
    {"49", "gto", "speed-up of GTO", "x", COMPUTE, WW_MASCAR_GTO, speedup},
    {"49", "owl", "speed-up of OWL", "x", COMPUTE, WW_MASCAR_OWL, speedup},
    {"49", "ccws", "speed-up of CCWS", "x", COMPUTE, WW_MASCAR_CCWS, speedup},
    {"49", "mascar", "speed-up of Mascar", "x", COMPUTE, WW_MASCAR_MASCAR, speedup},
    {"410", "mascar", "cycles with the load/store unit stalled, Mascar", "%", MEMORY, WW_MASCAR_MASCAR, stall},
    {"411", "mp", "cycles in MP mode, Mascar", "%", MEMORY, WW_MASCAR_MASCAR, priority},
    {"412", "base", "L1 hit rate, round-robin", "%", CACHE | ROWS, WW_MASCAR_LRR, hit_rate},
    {"412", "ccws", "L1 hit rate, CCWS", "%", CACHE | ROWS, WW_MASCAR_CCWS, hit_rate},
    {"412", "mascar", "L1 hit rate, Mascar", "%", CACHE | ROWS, WW_MASCAR_MASCAR, hit_rate},
    {"413", "total", "energy under Mascar", "x", MEMORY | COMPUTE, WW_MASCAR_MASCAR, total},
    {"413", "dram-base", "energy: DRAM", "x", MEMORY | COMPUTE, WW_MASCAR_LRR, dram},
    {"413", "dram", "energy under Mascar: DRAM", "x", MEMORY | COMPUTE, WW_MASCAR_MASCAR, dram},
    {"413", "l1-base", "energy: L1", "x", MEMORY | COMPUTE, WW_MASCAR_LRR, cache},
    {"413", "l1", "energy under Mascar: L1", "x", MEMORY | COMPUTE, WW_MASCAR_MASCAR, cache},
    {"413", "leakage-base", "energy: leakage", "x", MEMORY | COMPUTE, WW_MASCAR_LRR, leakage},
    {"413", "leakage", "energy under Mascar: leakage", "x", MEMORY | COMPUTE, WW_MASCAR_MASCAR, leakage},
};

enum ww_code ww_mascar_bars(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        for (size_t k = 0; k < b->kernels; k++) {
            char id[64], what[128];
            if (!((bars[i].classes >> ww_mascar_kernel[k].class) & 1)) continue;
            if (bars[i].machine >= WW_MASCAR_CLEARS_6 && !ww_mascar_has_flags(ww_mascar_kernel[k].row))
                continue;
            snprintf(id, sizeof id, "mas-fig%s-%s-%s", bars[i].figure, ww_mascar_kernel[k].row, bars[i].bar);
            snprintf(what, sizeof what, "gtx480-mascar, %s: %s", ww_mascar_kernel[k].row, bars[i].what);
            struct ww_validate_row row = {.id = id,
                                          .what = what,
                                          .ours = bars[i].value(b, k, bars[i].machine),
                                          .paper = NAN,
                                          .unit = bars[i].unit,
                                          .why = ""};
            WW_TRY(ww_validate_add(v, &row, error));
        }
    return WW_OK;
}
