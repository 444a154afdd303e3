/* The text report: launches, warp states, issue slots, memory levels, energy. Parts that are all zero are
 * left out; shares are of the run's whole. */
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/base/locale.h"
#include "../estimator/base/err.h"
#include "bands.h"
#include "figures.h"
#include "text.h"
#include <stdlib.h>

#define LAUNCH_ROWS 40 /* longest launches shown; the rest is one row */

static void add_row(struct ww_grid *g, const char *const *cells) {
    for (unsigned i = 0; i < g->columns; i++) ww_grid_add(g, cells[i]);
}

/* ---- launches ---- */

static void shape_text(const uint32_t v[3], char out[48]) {
    int n = snprintf(out, 48, "%u", v[0]);
    if (v[1] > 1 || v[2] > 1) n += snprintf(out + n, 48 - (size_t)n, "x%u", v[1]);
    if (v[2] > 1) snprintf(out + n, 48 - (size_t)n, "x%u", v[2]);
}

static void add_launch(struct ww_grid *g, const struct ww_result *r, const struct ww_launch_result *l,
                       const struct ww_gpu_facts *facts) {
    char kernel[WW_NAME_SHORT], index[16], grid[48], block[48], ctas[16], t[7][32];
    snprintf(index, sizeof index, "%u", l->index);
    snprintf(ctas, sizeof ctas, "%u", l->ctas_per_sm);
    shape_text(l->grid, grid);
    shape_text(l->block, block);
    int top = ww_top_stall(l->warp_cycles);
    add_row(g, (const char *[]){index, ww_kernel_name(r, l->kernel, kernel), grid, block, ctas,
                                l->occupancy_limiter, ww_percent(ww_occupancy_reached(l, facts), t[0]),
                                ww_grouped(l->cycles, t[1]), ww_si((double)l->time_ps / 1e12, "s", t[2]),
                                ww_plain(ww_ipc(l), 4, t[3]),
                                ww_si(ww_watts(l->energy.total_j, l->energy.known, l->time_ps), "W", t[4]),
                                ww_si(l->energy.known ? l->energy.total_j : -1, "J", t[5]),
                                top < 0 ? "-" : ww_state_name((enum ww_warp_state)top)});
}

static int by_cycles(const void *a, const void *b) {
    const struct ww_launch_result *x = *(const struct ww_launch_result *const *)a;
    const struct ww_launch_result *y = *(const struct ww_launch_result *const *)b;
    if (x->cycles != y->cycles) return x->cycles < y->cycles ? 1 : -1;
    return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b) {
    const struct ww_launch_result *x = *(const struct ww_launch_result *const *)a;
    const struct ww_launch_result *y = *(const struct ww_launch_result *const *)b;
    return x < y ? -1 : x > y;
}

static enum ww_code print_launches(const struct ww_result *r, const struct ww_gpu_facts *facts, FILE *out,
                                   struct ww_error *error) {
    static const char *const head[] = {"launch",     "kernel",    "grid",     "block", "CTAs/SM",
                                       "limited by", "occupancy", "cycles",   "time",  "IPC",
                                       "power",      "energy",    "top stall"};
    const struct ww_launch_result **order = calloc(r->launch_count + 1, sizeof *order);
    if (!order) return ww_fail_nomem(error, "a report");
    for (size_t i = 0; i < r->launch_count; i++) order[i] = &r->launch[i];
    size_t shown = r->launch_count;
    if (shown > LAUNCH_ROWS) {
        qsort(order, shown, sizeof *order, by_cycles);
        shown = LAUNCH_ROWS;
        qsort(order, shown, sizeof *order, by_place);
    }
    struct ww_grid g = {.columns = 13, .left = 1u << 1 | 1u << 5 | 1u << 12};
    add_row(&g, head);
    for (size_t i = 0; i < shown; i++) add_launch(&g, r, order[i], facts);
    free(order);
    fputs("\nLaunches", out);
    if (shown < r->launch_count) fprintf(out, " (the %zu longest of %zu)", shown, r->launch_count);
    fputs("\n", out);
    return ww_grid_print(&g, out, error);
}

/* Launches that ran concurrently: when, since the start of their group. */
static enum ww_code print_concurrent(const struct ww_result *r, FILE *out, struct ww_error *error) {
    struct ww_grid g = {.columns = 7, .left = 1u << 1};
    size_t shown = 0, all = 0;
    add_row(&g, (const char *[]){"launch", "kernel", "group", "stream", "from", "to", "of it shared"});
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        char kernel[WW_NAME_SHORT], n[3][16], t[3][32];
        all += l->concurrent > 0;
        if (!l->concurrent || shown == LAUNCH_ROWS) continue;
        shown++;
        snprintf(n[0], sizeof n[0], "%u", l->index);
        snprintf(n[1], sizeof n[1], "%u", l->concurrent);
        snprintf(n[2], sizeof n[2], "%u", l->stream);
        add_row(&g, (const char *[]){n[0], ww_kernel_name(r, l->kernel, kernel), n[1], n[2],
                                     ww_si((double)l->start_ps / 1e12, "s", t[0]),
                                     ww_si((double)(l->start_ps + l->time_ps) / 1e12, "s", t[1]),
                                     ww_percent(ww_ratio((double)l->shared_ps, (double)l->time_ps), t[2])});
    }
    if (shown) fputs("\nLaunches side by side, since their group's start", out);
    if (shown < all) fprintf(out, " (the first %zu of %zu)", shown, all);
    if (shown) return fputs("\n", out), ww_grid_print(&g, out, error);
    ww_grid_free(&g);
    return WW_OK;
}

/* Copies, since the start of the program's first operation. */
static enum ww_code print_copies(const struct ww_result *r, FILE *out, struct ww_error *error) {
    struct ww_grid g = {.columns = 8, .left = 1u << 1};
    size_t shown = r->copy_count < LAUNCH_ROWS ? r->copy_count : LAUNCH_ROWS;
    if (!shown) return WW_OK;
    add_row(&g, (const char *[]){"copy", "way", "stream", "before launch", "bytes", "from", "to", "rate"});
    for (size_t i = 0; i < shown; i++) {
        const struct ww_copy_span *c = &r->copy[i];
        char n[3][16], way[40], t[4][32];
        double seconds = (double)(c->end_ps - c->start_ps) * 1e-12;
        snprintf(n[0], sizeof n[0], "%zu", i);
        snprintf(n[1], sizeof n[1], "%u", c->stream);
        snprintf(n[2], sizeof n[2], "%u", c->launch);
        snprintf(way, sizeof way, "%s%s", ww_copy_way_name(c->way), c->pageable ? ", not pinned" : "");
        add_row(&g, (const char *[]){n[0], way, n[1], n[2], ww_grouped(c->bytes, t[0]),
                                     ww_si((double)c->start_ps * 1e-12, "s", t[1]),
                                     ww_si((double)c->end_ps * 1e-12, "s", t[2]),
                                     ww_si(ww_ratio((double)c->bytes, seconds), "B/s", t[3])});
    }
    fputs("\nCopies, since the program's first operation", out);
    if (shown < r->copy_count) fprintf(out, " (the first %zu of %zu)", shown, r->copy_count);
    fputs("\n", out);
    return ww_grid_print(&g, out, error);
}

/* ---- lists of shares ---- */

/* Indices of `count` values, the largest first. */
static void rank(const double *value, int *order, int count) {
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && value[order[at - 1]] < value[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

static enum ww_code print_states(const struct ww_launch_result *sum, FILE *out, struct ww_error *error) {
    double value[WW_STATE_COUNT];
    int order[WW_STATE_COUNT];
    for (int i = 0; i < WW_STATE_COUNT; i++) value[i] = (double)sum->warp_cycles[i];
    rank(value, order, WW_STATE_COUNT);
    struct ww_grid g = {.columns = 6, .left = 1u | 1u << 4 | 1u << 5};
    add_row(&g, (const char *[]){"state", "warp-cycles", "share", "per instr.", "Nsight's name", "meaning"});
    for (int k = 0; k < WW_STATE_COUNT && value[order[k]] > 0; k++) {
        enum ww_warp_state s = (enum ww_warp_state)order[k];
        char t[3][32];
        add_row(&g, (const char *[]){ww_state_name(s), ww_si(value[s], "", t[0]),
                                     ww_percent(value[s] / (double)sum->resident_warp_cycles, t[1]),
                                     ww_plain(ww_ratio(value[s], (double)sum->warp_instructions), 4, t[2]),
                                     ww_state_nsight(s), ww_state_help(s)});
    }
    fputs("\nWarp states: where resident warps spent their cycles\n", out);
    return ww_grid_print(&g, out, error);
}

static enum ww_code print_slots(const struct ww_launch_result *sum, FILE *out, struct ww_error *error) {
    double value[WW_SLOT_COUNT], total = (double)ww_sum_u64(sum->slot, WW_SLOT_COUNT);
    int order[WW_SLOT_COUNT];
    for (int i = 0; i < WW_SLOT_COUNT; i++) value[i] = (double)sum->slot[i];
    rank(value, order, WW_SLOT_COUNT);
    struct ww_grid g = {.columns = 5, .left = 1u | 1u << 4};
    add_row(&g, (const char *[]){"cause", "slots", "share", "CPI", "meaning"});
    for (int k = 0; k < WW_SLOT_COUNT && value[order[k]] > 0; k++) {
        enum ww_slot s = (enum ww_slot)order[k];
        char t[3][32];
        add_row(&g,
                (const char *[]){ww_slot_name(s), ww_si(value[s], "", t[0]), ww_percent(value[s] / total, t[1]),
                                 ww_plain(ww_ratio(value[s], (double)sum->warp_instructions), 4, t[2]),
                                 ww_slot_help(s)});
    }
    fputs("\nIssue slots: what each scheduler did with each cycle\n", out);
    return ww_grid_print(&g, out, error);
}

/* ---- memory ---- */

/* How the path from the SMs to memory was held up, and what Mascar and re-execution did about it. */
static void print_path(const struct ww_result *r, const struct ww_launch_result *sum, FILE *out) {
    char t[4][32];
    const uint64_t *c = sum->counter;
    double active = (double)c[WW_C_SM_ACTIVE_CYCLES];
    bool known = ww_counter_known(r, sum, WW_C_MEM_SATURATED_CYCLES);
    if (active > 0 && (c[WW_C_LSU_STALL_CYCLES] || (known && c[WW_C_MEM_SATURATED_CYCLES])))
        fprintf(out, "  load/store unit: stalled %s of the SMs' active cycles; memory saturated %s\n",
                ww_percent((double)c[WW_C_LSU_STALL_CYCLES] / active, t[0]),
                ww_percent(known ? (double)c[WW_C_MEM_SATURATED_CYCLES] / active : -1, t[1]));
    if (active > 0 && c[WW_C_MP_CYCLES])
        fprintf(
            out,
            "  one warp owned memory (MP mode) %s of these cycles: %s owners, %s attempts of others refused\n",
            ww_percent((double)c[WW_C_MP_CYCLES] / active, t[0]),
            ww_si((double)c[WW_C_OWNER_CHANGES], "", t[1]), ww_si((double)c[WW_C_OWNER_REFUSED], "", t[2]));
    if (c[WW_C_REEXEC_PUSH])
        fprintf(out, "  re-execution queue: %s requests put aside, %s attempts; %s hits passed them\n",
                ww_si((double)c[WW_C_REEXEC_PUSH], "", t[0]), ww_si((double)c[WW_C_REEXEC_TRY], "", t[1]),
                ww_si((double)c[WW_C_L1_HIT_UNDER_MISS], "", t[2]));
}

static enum ww_code print_memory(const struct ww_result *r, const struct ww_launch_result *sum, FILE *out,
                                 struct ww_error *error) {
    struct ww_level level[WW_LEVELS];
    ww_levels(sum, level);
    struct ww_grid g = {.columns = 8, .left = 1u};
    add_row(&g, (const char *[]){"level", "read", "written", "hits", "merged", "read rate", "write rate",
                                 "bus busy"});
    for (int i = 0; i < WW_LEVELS; i++) {
        const struct ww_level *l = &level[i];
        char t[7][32];
        add_row(&g,
                (const char *[]){i == 2 ? "dram (hits: open rows)" : l->name, ww_si(l->bytes_read, "B", t[0]),
                                 ww_si(l->bytes_written, "B", t[1]), ww_percent(l->hit_rate, t[2]),
                                 ww_percent(l->merged_rate, t[3]), ww_si(l->read_gb_s * 1e9, "B/s", t[4]),
                                 ww_si(l->write_gb_s * 1e9, "B/s", t[5]), ww_percent(l->busy, t[6])});
    }
    const uint64_t *c = sum->counter;
    char t[3][32];
    fputs("\nMemory\n", out);
    WW_TRY(ww_grid_print(&g, out, error));
    if (c[WW_C_SHARED_PASSES])
        fprintf(out, "  shared memory: %s passes, of which %s for bank conflicts (%s)\n",
                ww_si((double)c[WW_C_SHARED_PASSES], "", t[0]),
                ww_si((double)c[WW_C_SHARED_CONFLICTS], "", t[1]),
                ww_percent((double)c[WW_C_SHARED_CONFLICTS] / (double)c[WW_C_SHARED_PASSES], t[2]));
    print_path(r, sum, out);
    return WW_OK;
}

/* ---- energy ---- */

static void add_component(struct ww_grid *g, enum ww_component c, const struct ww_energy *e, uint64_t time_ps) {
    char t[5][32];
    double joules = e->dynamic_j[c] + e->static_j[c];
    add_row(g, (const char *[]){ww_component_name(c), ww_si(e->dynamic_j[c], "J", t[0]),
                                ww_si(e->static_j[c], "J", t[1]), ww_si(joules, "J", t[2]),
                                ww_si(ww_watts(joules, true, time_ps), "W", t[3]),
                                ww_percent(ww_ratio(joules, e->total_j), t[4]), ww_component_help(c)});
}

static void print_board(const struct ww_launch_result *sum, double board, FILE *out) {
    double watts = ww_watts(sum->energy.total_j, sum->energy.known, sum->time_ps);
    char t[2][32];
    if (ww_above_board(watts, board))
        fprintf(out, "warning: %s are above the %s of the board (board.tdp_w), which would lower its clocks\n",
                ww_si(watts, "W", t[0]), ww_si(board, "W", t[1]));
}

static enum ww_code print_energy(const struct ww_launch_result *sum, FILE *out, struct ww_error *error) {
    const struct ww_energy *e = &sum->energy;
    double value[WW_COMPONENT_COUNT], dynamic = 0, leaked = 0;
    int order[WW_COMPONENT_COUNT];
    char t[4][32];
    fputs("\nEnergy\n", out);
    if (!e->known) {
        fputs("  - (no power table)\n", out);
        return WW_OK;
    }
    for (int i = 0; i < WW_COMPONENT_COUNT; i++) {
        value[i] = e->dynamic_j[i] + e->static_j[i];
        dynamic += e->dynamic_j[i];
        leaked += e->static_j[i];
    }
    rank(value, order, WW_COMPONENT_COUNT);
    struct ww_grid g = {.columns = 7, .left = 1u | 1u << 6};
    add_row(&g, (const char *[]){"component", "dynamic", "static", "energy", "power", "share", "meaning"});
    for (int k = 0; k < WW_COMPONENT_COUNT && value[order[k]] > 0; k++)
        add_component(&g, (enum ww_component)order[k], e, sum->time_ps);
    add_row(&g, (const char *[]){"total", ww_si(dynamic, "J", t[0]), ww_si(leaked, "J", t[1]),
                                 ww_si(e->total_j, "J", t[2]),
                                 ww_si(ww_watts(e->total_j, true, sum->time_ps), "W", t[3]), "100.0 %", ""});
    return ww_grid_print(&g, out, error);
}

static void print_configuration(const struct ww_result *r, FILE *out) {
    char program[200], value[100], key[100], scaled[240];
    ww_clean_text(r->program, program, sizeof program);
    fprintf(out, "  program       %s\n  mechanisms   ", program);
    for (size_t i = 0; i < r->mechanism_count; i++) {
        ww_clean_text(r->mechanism[i].key, key, sizeof key);
        ww_clean_text(r->mechanism[i].value, value, sizeof value);
        fprintf(out, " %s=%s", key, value);
    }
    fputs(r->mechanism_count ? "\n" : " -\n", out);
    if (!ww_is_estimate(r)) return;
    ww_say_scaled(r, scaled);
    fprintf(out, "  sampled       %s\n", scaled);
}

/* How far estimates of this GPU have been from hardware. */
static enum ww_code print_bands(const char *gpu, FILE *out, struct ww_error *error) {
    struct ww_band band[WW_BANDS];
    size_t n = ww_bands_of(gpu, band);
    if (!n) {
        fputs("\nError against hardware: not known: estimates of this GPU were not compared with a board\n",
              out);
        return WW_OK;
    }
    struct ww_grid g = {.columns = 6, .left = 1u};
    add_row(&g, (const char *[]){"of", "programs", "points", "mean error", "bias", "9 of 10 points within"});
    for (size_t i = 0; i < n; i++) {
        char t[5][32];
        snprintf(t[1], sizeof t[1], "%+.1f %%", 100 * band[i].bias);
        snprintf(t[3], sizeof t[3], "%u", band[i].programs);
        snprintf(t[4], sizeof t[4], "%u", band[i].launches);
        add_row(&g, (const char *[]){ww_band_name(&band[i]), t[3], t[4], ww_percent(band[i].error, t[0]), t[1],
                                     ww_percent(band[i].p90, t[2])});
    }
    fprintf(out, "\nError against hardware: launches by size in cycles, and microbenchmarks, as of %s\n",
            band[0].date);
    WW_TRY(ww_grid_print(&g, out, error));
    fputs("  " WW_BANDS_LEGEND "\n", out);
    return WW_OK;
}

enum ww_code ww_report_text(const struct ww_result *result, int64_t run_id, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_gpu_facts facts;
    struct ww_launch_result sum;
    ww_gpu_facts(result->gpu_json, &facts);
    ww_sum_launches(result, &sum);
    WW_TRY(ww_report_summary(result, run_id, false, out, error));
    print_configuration(result, out);
    WW_TRY(print_launches(result, &facts, out, error));
    WW_TRY(print_concurrent(result, out, error));
    WW_TRY(print_copies(result, out, error));
    WW_TRY(print_states(&sum, out, error));
    WW_TRY(print_slots(&sum, out, error));
    WW_TRY(print_memory(result, &sum, out, error));
    WW_TRY(print_energy(&sum, out, error));
    print_board(&sum, facts.board_w, out);
    WW_TRY(print_bands(result->gpu, out, error));
    return ww_out_check(out, error);
}
