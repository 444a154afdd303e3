/* Figures of suite "d2ma" by kernel, and their averages. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "d2ma_int.h"
#include <math.h>
#include <stdio.h>

enum { KERNELS = WW_D2MA_KERNELS, ALL = WW_D2MA_ALL };

static double ratio(uint64_t a, uint64_t b) {
    return b ? (double)a / (double)b : NAN;
}

static double change(double before, double after) {
    return 100 * (after - before) / before;
}

static double unlimited(const struct ww_d2ma_sums *s, size_t i) {
    return 100 * (ratio(s->plain[i].cycles, s->inf[i].cycles) - 1);
}
static double speedup(const struct ww_d2ma_sums *s, size_t i) {
    return ratio(s->plain[i].cycles, s->dma[i].cycles);
}
static double speedup_last(const struct ww_d2ma_sums *s, size_t i) {
    return ratio(s->plain[i].cycles, s->last[i].cycles);
}
static double speedup_transformed(const struct ww_d2ma_sums *s, size_t i) {
    return ratio(s->plain[i].cycles, s->transformed[i].cycles);
}

/* The simulator counts an instruction once for each active thread (gpu_sim_insn). */
static double instructions(const struct ww_d2ma_sums *s, size_t i) {
    return change((double)s->plain[i].thread_instructions, (double)s->dma[i].thread_instructions);
}
static double instructions_transformed(const struct ww_d2ma_sums *s, size_t i) {
    return change((double)s->plain[i].thread_instructions, (double)s->transformed[i].thread_instructions);
}
static double instructions_warps(const struct ww_d2ma_sums *s, size_t i) {
    return change((double)s->plain[i].warp_instructions, (double)s->dma[i].warp_instructions);
}

static double writers(const struct ww_d2ma_sums *s, size_t i) {
    return (double)s->writers[i].changed;
}
static double loads(const struct ww_d2ma_sums *s, size_t i) {
    return (double)s->writers[i].loads;
}

/* Mean cycles of a transfer; which: one of the counters transfer*_cycles. */
static double transfer(const struct ww_d2ma_sum *s, enum ww_counter which) {
    return ratio(s->counter[which], s->counter[WW_C_TRANSFER]);
}
static double shorter(const struct ww_d2ma_sums *s, size_t i, enum ww_counter which) {
    return change(transfer(&s->plain[i], which), transfer(&s->dma[i], which));
}
/* Two readings of figure 11's parts. In the first one address generation ends where memory begins, at the first
 * request, and a transfer begins when the unit takes it: the published parts add up to the published whole only
 * so. What warps of a plain copy wait for each other stays in. */
static double before_unit(const struct ww_d2ma_sum *s) {
    return transfer(s, WW_C_TRANSFER_UNIT_CYCLES);
}
static double whole(const struct ww_d2ma_sums *s, size_t i) {
    const struct ww_d2ma_sum *d = &s->dma[i];
    return change(transfer(&s->plain[i], WW_C_TRANSFER_CYCLES),
                  transfer(d, WW_C_TRANSFER_CYCLES) - before_unit(d));
}
static double until_first(const struct ww_d2ma_sum *s) {
    return transfer(s, WW_C_TRANSFER_CYCLES) - transfer(s, WW_C_TRANSFER_MEM_CYCLES);
}
static double agen(const struct ww_d2ma_sums *s, size_t i) {
    return change(until_first(&s->plain[i]), until_first(&s->dma[i]) - before_unit(&s->dma[i]));
}
static double mem(const struct ww_d2ma_sums *s, size_t i) {
    return shorter(s, i, WW_C_TRANSFER_MEM_CYCLES);
}

/* In the second one they overlap: address generation lasts from the first instruction to the last request,
 * whatever lies between. */
static double whole_waiting(const struct ww_d2ma_sums *s, size_t i) {
    return shorter(s, i, WW_C_TRANSFER_CYCLES);
}
static double agen_to_last(const struct ww_d2ma_sums *s, size_t i) {
    return shorter(s, i, WW_C_TRANSFER_AGEN_CYCLES);
}
/* The same without the engine's waiting for its unit, MSHRs and the port. A plain copy's waiting stays in, so
 * this flatters the engine and is not compared with the paper. */
static double agen_alone(const struct ww_d2ma_sums *s, size_t i) {
    const struct ww_d2ma_sum *d = &s->dma[i];
    return change(transfer(&s->plain[i], WW_C_TRANSFER_AGEN_CYCLES),
                  transfer(d, WW_C_TRANSFER_AGEN_CYCLES) - transfer(d, WW_C_TRANSFER_WAIT_CYCLES));
}
static double first(const struct ww_d2ma_sums *s, size_t i) {
    return change(until_first(&s->plain[i]), until_first(&s->dma[i]));
}
static double stalled(const struct ww_d2ma_sum *s) {
    return 100 * ratio(s->counter[WW_C_TRANSFER_STALL_CYCLES], s->counter[WW_C_SM_ACTIVE_CYCLES]);
}
static double stall_plain(const struct ww_d2ma_sums *s, size_t i) {
    return stalled(&s->plain[i]);
}
static double stall_dma(const struct ww_d2ma_sums *s, size_t i) {
    return stalled(&s->dma[i]);
}

/* Of requests, reads and writes, as the paper's simulator counts: reads are lines of four sectors there. */
static double l2_miss(const struct ww_d2ma_sums *s, size_t i) {
    const uint64_t *n = s->plain[i].counter;
    double reads = (double)n[WW_C_L2_SECTOR_READ] / 4, all = (double)n[WW_C_XBAR_REQUEST];
    double hits = ratio(n[WW_C_L2_WRITE_HIT], n[WW_C_L2_SECTOR_WRITE]);
    return 100 * ((double)n[WW_C_L2_SECTOR_MISS] / 4 + (all - reads) * (1 - hits)) / all;
}

static double hazards(const struct ww_d2ma_sums *s, size_t i) {
    return (double)s->dma[i].counter[WW_C_DMA_HAZARD];
}

static const struct {
    const char *id, *what, *unit;
    double (*value)(const struct ww_d2ma_sums *s, size_t i);
} figures[WW_D2MA_FIGURES] = {
    [WW_D2MA_UNLIMITED] = {"fig1", "unlimited MSHRs and buffers, plain kernel: gain", "%", unlimited},
    [WW_D2MA_SPEEDUP] = {"fig9", "speedup", "x", speedup},
    [WW_D2MA_SPEEDUP_LAST] = {"fig9-last", "speedup with dma.start=last", "x", speedup_last},
    [WW_D2MA_SPEEDUP_TRANSFORMED] = {"fig9-transformed", "speedup of the transformed plain kernel", "x",
                                     speedup_transformed},
    [WW_D2MA_INSTRUCTIONS] = {"fig10", "dynamic instructions of threads", "%", instructions},
    [WW_D2MA_INSTRUCTIONS_TRANSFORMED] = {"fig10-transformed", "dynamic instructions of threads, transformed",
                                          "%", instructions_transformed},
    [WW_D2MA_INSTRUCTIONS_WARPS] = {"fig10-warps", "dynamic instructions of warps", "%", instructions_warps},
    [WW_D2MA_WRITERS] = {"writers", "words loaded from shared memory with another last writer, transformed",
                         "word", writers},
    [WW_D2MA_LOADS] = {"loads", "words loaded from shared memory that were compared", "word", loads},
    [WW_D2MA_WHOLE] = {"fig11", "tile transfer time, from when the unit takes it", "%", whole},
    [WW_D2MA_AGEN] = {"fig11-agen", "address generation cycles, to the first request", "%", agen},
    [WW_D2MA_MEM] = {"fig11-mem", "memory transaction cycles", "%", mem},
    [WW_D2MA_WHOLE_WAITING] = {"fig11-overlap", "tile transfer time, what comes before the unit included", "%",
                               whole_waiting},
    [WW_D2MA_AGEN_TO_LAST] = {"fig11-overlap-agen", "address generation cycles, to the last request", "%",
                              agen_to_last},
    [WW_D2MA_FIRST] = {"fig11-first", "cycles until the first request, what comes before the unit included",
                       "%", first},
    [WW_D2MA_AGEN_ALONE] = {"fig11-alone",
                            "address generation cycles to the last request, the engine's waiting left out", "%",
                            agen_alone},
    [WW_D2MA_STALL_PLAIN] = {"stall-base", "cycles with all warps waiting for tiles, plain", "%", stall_plain},
    [WW_D2MA_STALL_DMA] = {"stall-dma", "the same, D2MA", "%", stall_dma},
    [WW_D2MA_L2_MISS] = {"l2miss", "L2 miss rate of requests, plain", "%", l2_miss},
    [WW_D2MA_HAZARDS] = {"hazards", "loads of tiles that had been replaced (start=first)", "", hazards},
};

double ww_d2ma_value(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure, size_t i) {
    return figures[figure].value(s, i);
}

double ww_d2ma_mean(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure, size_t first_kernel, size_t end) {
    double sum = 0;
    for (size_t i = first_kernel; i < end; i++) sum += figures[figure].value(s, i);
    return sum / (double)(end - first_kernel);
}

double ww_d2ma_largest(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure) {
    double best = ww_d2ma_value(s, figure, 0);
    for (size_t i = 1; i < KERNELS; i++) best = fmax(best, ww_d2ma_value(s, figure, i));
    return best;
}

double ww_d2ma_smallest(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure, size_t first_kernel,
                        size_t end) {
    double best = ww_d2ma_value(s, figure, first_kernel);
    for (size_t i = first_kernel + 1; i < end; i++) best = fmin(best, ww_d2ma_value(s, figure, i));
    return best;
}

double ww_d2ma_geomean(const struct ww_d2ma_sums *s) {
    double sum = 0;
    for (size_t i = 0; i < KERNELS; i++) sum += log(speedup(s, i));
    return exp(sum / KERNELS);
}

/* More issue slots are lost to memory than are used. */
static bool is_memory_bound(const struct ww_d2ma_sum *s) {
    uint64_t memory = s->slot[WW_SLOT_WAIT_MEM] + s->slot[WW_SLOT_EXCESS_MEM] + s->slot[WW_SLOT_BARRIER];
    return memory > s->slot[WW_SLOT_ISSUED];
}

double ww_d2ma_unlimited_mean(const struct ww_d2ma_sums *s) {
    double sum = 0, n = 0;
    for (size_t i = 0; i < ALL; i++)
        if (is_memory_bound(&s->plain[i])) {
            sum += unlimited(s, i);
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

enum ww_code ww_d2ma_kernels(struct ww_validation *v, const struct ww_d2ma_sums *s, struct ww_error *error) {
    char id[64], what[128];
    for (size_t c = 0; c < WW_D2MA_FIGURES; c++)
        for (size_t i = 0; i < ALL; i++) {
            snprintf(id, sizeof id, "d2ma-%s-%s", figures[c].id, ww_d2ma_kernel[i].label);
            snprintf(what, sizeof what, "%s: %s", ww_d2ma_kernel[i].label, figures[c].what);
            WW_TRY(ww_d2ma_inform(v, id, what, figures[c].value(s, i), figures[c].unit, error));
        }
    return WW_OK;
}
