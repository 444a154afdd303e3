/* What fast replay cannot follow of a GPU's memory: its calendars and pools (fast_calendar.h) reach so far, and
 * what they do not reach would be free of cost. */
#include "fast_calendar.h"
#include "memsys.h"
#include <stdio.h>

/* Of what pools reach: a read that waits takes several times as long as one that nothing delays. */
#define MOST_CYCLES ((WW_PLACES_WINDOWS << WW_PLACES_SHIFT) / 8)

/* L2 cycles that the longest way to the DRAM and back takes on an idle machine. */
static double way_cycles(const struct ww_gpu_spec *g) {
    double cycles = 2.0 * g->xbar_latency + g->l2_latency;
    if (g->xbar_columns) cycles += (double)g->xbar_columns * g->xbar_column_cycles + g->xbar_place_cycles;
    if (g->l2_partitions > 1) cycles += g->l2_far_latency;
    return cycles;
}

/* DRAM cycles of a read of a bank without an open row. */
static double dram_cycles(const struct ww_gpu_spec *g) {
    double burst = (double)g->dram_burst / g->dram_data_rate;
    return (double)g->dram_trcd + g->dram_tcl + burst + g->dram_latency;
}

/* Pools of SMs count in their cycles, those of slices in the L2's. */
static enum ww_code check_read(const struct ww_gpu_spec *g, double mhz, const char *unit,
                               struct ww_error *error) {
    double way = way_cycles(g) * mhz / g->clock_l2_mhz, dram = dram_cycles(g) * mhz / g->clock_dram_mhz;
    if (way + dram <= MOST_CYCLES) return WW_OK;
    const char *parameters = dram > way ? "dram.latency, dram.trcd, dram.tcl and dram.burst at clock.dram_mhz"
                                        : "xbar.latency and l2.latency at clock.l2_mhz";
    return ww_fail(error, WW_UNSUPPORTED, "--mode fast",
                   "a read of DRAM takes %.0f %s cycles on an idle machine, %.0f of them by %s; expected at "
                   "most %u, or --mode full",
                   way + dram, unit, dram > way ? dram : way, parameters, MOST_CYCLES);
}

/* Of the DRAM's calendars, in its cycles. */
static const uint32_t reach = WW_CALENDAR_WINDOWS << (WW_CALENDAR_SHIFT - 1);

bool ww_memsys_fast_reaches(const struct ww_gpu_spec *g, char *why, size_t size) {
    uint32_t burst = g->dram_burst / g->dram_data_rate, gap = burst > g->dram_tccd ? burst : g->dram_tccd;
    if (4 * (uint64_t)g->dram_queue * gap <= reach) return true;
    snprintf(
        why, size,
        "fast replay may be far off, and outside of its interval, where queues of dram.queue = %u bursts are "
        "full: it reaches %u",
        g->dram_queue, reach / 4 / gap);
    return false;
}

static enum ww_code check_refresh(const struct ww_gpu_spec *g, struct ww_error *error) {
    if (!g->dram_trefi) return WW_OK;
    if (g->dram_refresh == 0 && g->dram_trfc >= reach) /* of all banks: it takes the bus */
        return ww_fail(error, WW_UNSUPPORTED, "--mode fast",
                       "dram.trfc = %u DRAM cycles; expected less than %u, or --mode full", g->dram_trfc,
                       reach);
    if (2 * (uint64_t)g->dram_trfc > g->dram_trefi)
        return ww_fail(error, WW_UNSUPPORTED, "--mode fast",
                       "refreshes of dram.trfc = %u take more than half of dram.trefi = %u; expected half at "
                       "most, or --mode full",
                       g->dram_trfc, g->dram_trefi);
    return WW_OK;
}

enum ww_code ww_memsys_check_fast(const struct ww_gpu_spec *g, struct ww_error *error) {
    uint32_t sectors = g->l2_line / g->l2_sector;
    WW_TRY(check_read(g, g->clock_sm_mhz, "SM", error));
    WW_TRY(check_read(g, g->clock_l2_mhz, "L2", error));
    if (g->l2_mshrs < sectors)
        return ww_fail(error, WW_UNSUPPORTED, "--mode fast",
                       "l2.mshrs = %u are fewer than the %u sectors of a line (l2.line, l2.sector); expected "
                       "%u or more, or --mode full",
                       g->l2_mshrs, sectors, sectors);
    return check_refresh(g, error);
}
