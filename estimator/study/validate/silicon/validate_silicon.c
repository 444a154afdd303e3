/* Suite "silicon": public programs and microbenchmarks, recorded without a GPU and replayed, compared with
 * measurements of real GPUs and with Accel-Sim's estimates of the same launches (docs/studies/silicon.md). A
 * suite of measurements is a GPU's table: lines of reports/silicon.csv with one name in their first column. */
#include "silicon_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAUNCH_TOLERANCE 0.10

static const struct ww_silicon_suite suites[] = {
    {"gv100", "gv100", "Quadro GV100", true, "flush", NULL},
    {"v100-micro", "gv100", "V100", false, "flush-once", NULL},
    {"a100-micro", "a100", "A100", false, "flush-once", "765"},
    {"h100-micro", "h100_nvl", "H100", false, "flush-sm", "1080"},
    {"h100-apps", "h100_nvl", "H100", false, "flush-sm", "1080"},
};
enum { SUITES = sizeof suites / sizeof *suites };

struct maker {
    struct ww_validation *v;
    const struct ww_silicon_suite *suite;
    const struct ww_silicon_row *row;
    size_t count;
};

static enum ww_code add(struct maker *m, const char *id, const char *what, double ours, double paper,
                        const char *unit, enum ww_validate_test test, double tolerance, const char *uncounted,
                        struct ww_error *error) {
    struct ww_validate_row row = {.id = id,
                                  .what = what,
                                  .ours = ours,
                                  .paper = paper,
                                  .unit = unit,
                                  .test = test,
                                  .tolerance = tolerance,
                                  .uncounted = uncounted != NULL,
                                  .why = uncounted};
    if (!id || !what) return ww_fail_nomem(error, m->v->suite);
    return ww_validate_add(m->v, &row, error);
}

#define PRINT(...) ww_arena_printf(&m->v->arena, __VA_ARGS__)

/* ---- launches and programs ---- */

/* Cycles of a launch, and Accel-Sim's estimate of it. */
static enum ww_code add_launch(struct maker *m, const struct ww_silicon_row *r, struct ww_error *error) {
    const char *launch = r->launch < 0 ? "all" : PRINT("%ld", r->launch);
    const char *other = r->accelsim_cycles > 0 ? PRINT("; Accel-Sim %.0f, %+.1f %%", r->accelsim_cycles,
                                                       100 * (r->accelsim_cycles / r->hw.cycles - 1))
                                               : "";
    if (!launch || !other) return ww_fail_nomem(error, m->v->suite);
    return add(m, PRINT("sil-%s-%s-%s", m->suite->name, r->program, launch),
               PRINT("%s, %s %s%s%.60s%s", m->suite->board, r->program, launch, *r->kernel ? " " : "",
                     r->kernel, other),
               r->ours.cycles, r->hw.cycles, "cycle", WW_VALIDATE_RELATIVE, LAUNCH_TOLERANCE, NULL, error);
}

/* Means over a program's launches: ours, measured. NAN where a row has none. */
static void means(const struct ww_silicon_row *r, size_t n, size_t offset, bool sum, double out[2]) {
    size_t found = 0;
    out[0] = out[1] = 0;
    for (size_t i = 0; i < n; i++) {
        double ours = *(const double *)(const void *)((const char *)&r[i].ours + offset);
        double hw = *(const double *)(const void *)((const char *)&r[i].hw + offset);
        if (!r[i].kernel || isnan(ours) || isnan(hw)) continue;
        out[0] += ours;
        out[1] += hw;
        found++;
    }
    for (int i = 0; i < 2; i++) out[i] = !found ? NAN : sum ? out[i] : out[i] / (double)found;
}

static enum ww_code add_program(struct maker *m, const struct ww_silicon_row *r, size_t n,
                                struct ww_error *error) {
    static const struct {
        const char *id, *what, *unit;
        size_t offset;
        bool sum;
    } figure[] = {
        {"instructions", "warp instructions", "warp instruction",
         offsetof(struct ww_silicon_figures, warp_instructions), true},
        {"l1", "L1 hit rate", "%", offsetof(struct ww_silicon_figures, l1_hit_percent), false},
        {"l2", "L2 hit rate", "%", offsetof(struct ww_silicon_figures, l2_hit_percent), false},
        {"dram-read", "bytes read from DRAM", "byte", offsetof(struct ww_silicon_figures, dram_read_bytes),
         true},
        {"dram-write", "bytes written to DRAM", "byte", offsetof(struct ww_silicon_figures, dram_write_bytes),
         true},
    };
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        double value[2];
        means(r, n, figure[i].offset, figure[i].sum, value);
        if (isnan(value[0])) continue;
        WW_TRY(add(m, PRINT("sil-%s-%s-%s", m->suite->name, r->program, figure[i].id),
                   PRINT("%s, %s: %s", m->suite->board, r->program, figure[i].what), value[0], value[1],
                   figure[i].unit, WW_VALIDATE_RELATIVE, LAUNCH_TOLERANCE, "", error));
    }
    return WW_OK;
}

/* ---- the suite's errors, compared with Accel-Sim's over the same launches ---- */

static enum ww_code add_error(struct maker *m, const char *id, const char *what, double ours, double theirs,
                              bool part, bool less_is_better, struct ww_error *error) {
    double scale = part ? 100 : 1;
    if (isnan(ours)) return WW_OK;
    return add(m, PRINT("sil-%s-%s", m->suite->name, id),
               PRINT("%s: %s (compared with Accel-Sim's)", m->suite->name, what), scale * ours, scale * theirs,
               part ? "%" : "", less_is_better ? WW_VALIDATE_AT_MOST : WW_VALIDATE_AT_LEAST, 0, NULL, error);
}

static enum ww_code add_classes(struct maker *m, const struct ww_silicon_error *ours,
                                const struct ww_silicon_error *theirs, struct ww_error *error) {
    static const char *const id[] = {"error-small", "error-middle", "error-large"};
    static const char *const what[] = {"below 10,000 cycles", "10,000 to 100,000 cycles",
                                       "100,000 cycles and more"};
    for (int c = 0; c < 3; c++)
        WW_TRY(add_error(m, id[c],
                         PRINT("error by launch, %s (%zu launches)", what[c], ours->class_launches[c]),
                         ours->class_error[c], theirs->class_error[c], true, true, error));
    return WW_OK;
}

static enum ww_code add_errors(struct maker *m, struct ww_error *error) {
    struct ww_silicon_error a, b;
    WW_TRY(ww_silicon_errors(m->row, m->count, WW_SILICON_OURS, &a, error));
    WW_TRY(ww_silicon_errors(m->row, m->count, WW_SILICON_ACCELSIM, &b, error));
    if (!a.launches) return WW_OK;
    WW_TRY(add_error(m, "error-program", "error by program", a.by_program, b.by_program, true, true, error));
    WW_TRY(add_error(m, "error-launch", "error by launch", a.by_launch, b.by_launch, true, true, error));
    if (m->suite->flushed) {
        WW_TRY(add_error(m, "error-program-rest", "error by program without 3DConvolution, lud, nw",
                         a.by_program_rest, b.by_program_rest, true, true, error));
        WW_TRY(add_error(m, "error-launch-rest", "error by launch without 3DConvolution, lud, nw",
                         a.by_launch_rest, b.by_launch_rest, true, true, error));
    }
    WW_TRY(add(m, PRINT("sil-%s-bias", m->suite->name),
               PRINT("%s: bias by program (compared with Accel-Sim's)", m->suite->name),
               100 * a.bias_by_program, 100 * b.bias_by_program, "%", WW_VALIDATE_ABSOLUTE, 0, "", error));
    WW_TRY(
        add_error(m, "rank", "rank correlation", a.rank_correlation, b.rank_correlation, false, false, error));
    WW_TRY(add_error(m, "log", "correlation of logarithms", a.log_correlation, b.log_correlation, false, false,
                     error));
    WW_TRY(add_classes(m, &a, &b, error));
    for (int l1 = 1; l1 >= 0; l1--) {
        double points = ww_silicon_points(m->row, m->count, l1);
        if (!isnan(points))
            WW_TRY(add(m, PRINT("sil-%s-%s-points", m->suite->name, l1 ? "l1" : "l2"),
                       PRINT("%s: %s hit rate, distance by program", m->suite->name, l1 ? "L1" : "L2"), points,
                       NAN, "point", WW_VALIDATE_AT_MOST, 0, NULL, error));
    }
    return WW_OK;
}

/* ---- the suite ---- */

static enum ww_code add_suite(struct maker *m, const char *folder, const struct ww_validate_options *options,
                              struct ww_silicon_row *row, struct ww_error *error) {
    WW_TRY(ww_silicon_replay(row, m->count, m->suite, folder, &m->v->arena, options, error));
    for (size_t i = 0, n; i < m->count; i += n) {
        for (n = 1; i + n < m->count && strcmp(row[i].program, row[i + n].program) == 0;) n++;
        size_t replayed = 0;
        for (size_t k = i; k < i + n; k++) {
            if (!row[k].kernel) continue;
            WW_TRY(add_launch(m, &row[k], error));
            replayed++;
        }
        if (replayed)
            WW_TRY(add_program(m, &row[i], n, error));
        else
            WW_TRY(add(m, PRINT("sil-%s-%s", m->suite->name, row[i].program),
                       PRINT("%s, %s", m->suite->board, row[i].program), NAN, NAN, "cycle",
                       WW_VALIDATE_RELATIVE, LAUNCH_TOLERANCE, "no trace", error));
    }
    return add_errors(m, error);
}

enum ww_code ww_validate_suite_silicon(struct ww_validation *v, const struct ww_validate_options *options,
                                       struct ww_error *error) {
    struct ww_silicon_row *row;
    size_t count;
    WW_TRY(ww_silicon_read(&v->arena, &row, &count, error));
    for (size_t s = 0; s < SUITES; s++) {
        size_t from = 0, n = 0;
        while (from < count && strcmp(row[from].suite, suites[s].name) != 0) from++;
        while (from + n < count && strcmp(row[from + n].suite, suites[s].name) == 0) n++;
        struct maker m = {v, &suites[s], row + from, n};
        if (options && options->traces)
            WW_TRY(add_suite(&m, options->traces, options, row + from, error));
        else
            WW_TRY(add(&m, ww_arena_printf(&v->arena, "sil-%s", suites[s].name), suites[s].board, NAN, NAN, "",
                       WW_VALIDATE_RELATIVE, 0,
                       "needs recorded programs: --traces DIR (docs/studies/silicon.md)", error));
    }
    return WW_OK;
}
