/* Rows of suite "apogee" that stand for a target, and the ranking. */
#include "../../../api/validate.h"
#include "../../../mech/fetch/fetch_apogee.h"
#include "apogee_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALL = WW_AP_KERNELS };

static double percent(double factor) {
    return 100 * (factor - 1);
}

static double over(const struct ww_ap_sums *s, enum ww_ap_machine m, enum ww_ap_machine base) {
    return percent(ww_ap_mean_speedup(s, base, m, 0, ALL));
}

/* ---- figures of a kernel that are averaged ---- */

static double accuracy(const struct ww_ap_sums *s, size_t k) {
    return ww_ap_accuracy(&s->of[WW_AP_APOGEE_4][k]);
}
static double latency(const struct ww_ap_sums *s, size_t k) {
    return ww_ap_latency(&s->of[WW_AP_APOGEE_4][k]);
}
static double extra(const struct ww_ap_sums *s, size_t k) {
    return percent(ww_ap_sectors(&s->of[WW_AP_APOGEE_4][k]) / ww_ap_sectors(&s->of[WW_AP_SIMT_4][k]));
}
static double register_rate(const struct ww_ap_sums *s, size_t k) {
    return ww_ap_register_rate(&s->of[WW_AP_SIMT_32][k]) / ww_ap_register_rate(&s->of[WW_AP_SIMT_1][k]);
}
static double power(const struct ww_ap_sums *s, size_t k) {
    return percent(ww_ap_watts(&s->of[WW_AP_SIMT_32][k]) / ww_ap_watts(&s->of[WW_AP_SIMT_1][k]));
}
static double fewer_cycles(const struct ww_ap_sums *s, size_t k) {
    return percent(1 / ww_ap_speedup(s, k, WW_AP_SIMT_1, WW_AP_SIMT_32));
}
static double invariant(const struct ww_ap_sums *s, size_t k) {
    return ww_ap_invariant(&s->of[WW_AP_SIMT_32][k]);
}
static double fewer_misses(const struct ww_ap_sums *s, size_t k) {
    return percent(ww_ap_miss_rate(&s->of[WW_AP_APOGEE_4][k]) / ww_ap_miss_rate(&s->of[WW_AP_SIMT_32][k]));
}

/* The mean of the eight kernels with the largest reductions, which is what the publication states. */
static double misses_of_8(const struct ww_ap_sums *s) {
    double change[ALL], sum = 0;
    for (size_t k = 0; k < ALL; k++) change[k] = fewer_misses(s, k);
    for (size_t n = 0; n < 8; n++) {
        size_t best = n;
        for (size_t k = n + 1; k < ALL; k++)
            if (change[k] < change[best]) best = k;
        double value = change[best];
        change[best] = change[n];
        sum += value;
    }
    return sum / 8;
}

/* Of MTA's configurations the fastest. */
static enum ww_ap_machine best_mta(const struct ww_ap_sums *s) {
    enum ww_ap_machine best = WW_AP_MTA_4;
    for (enum ww_ap_machine m = WW_AP_MTA_8; m <= WW_AP_MTA_32; m++)
        if (ww_ap_mean_speedup(s, best, m, 0, ALL) > 1) best = m;
    return best;
}

/* ---- rows ---- */

static const char *const why_issue =
    "32 warps fill nearly all issue slots of 8 lanes here: docs/studies/apogee.md";
static const char *const why_power =
    "dynamic power follows the instructions in a second: docs/studies/apogee.md";
static const char *const why_speed = "the published figure has 19 % of speed in it: docs/studies/apogee.md";
static const char *const why_ends = "loops of a draw are short, and prefetches go beyond their ends";

struct row {
    const char *id;
    double ours;
    enum ww_validate_test test;
    double tolerance;
    const char *why;
};

static enum ww_code add(struct ww_validation *v, const struct row *row, size_t count, struct ww_error *error) {
    for (size_t i = 0; i < count; i++)
        WW_TRY(ww_validate_add_number(v, row[i].id, row[i].ours, row[i].test, row[i].tolerance, row[i].why,
                                      error));
    return WW_OK;
}

static enum ww_code add_speed(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    const double third = 1.0 / 3;
    enum ww_ap_machine mta = best_mta(s);
    const struct row row[] = {
        {"apo-p", over(s, WW_AP_APOGEE_4, WW_AP_SIMT_32), WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-mta4", over(s, WW_AP_MTA_4, WW_AP_SIMT_32), WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-stride4", over(s, WW_AP_STRIDE_4, WW_AP_SIMT_32), WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-mta32", over(s, WW_AP_MTA_32, WW_AP_SIMT_32), WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-p-graphics", percent(ww_ap_mean_speedup(s, WW_AP_SIMT_32, WW_AP_APOGEE_4, 0, WW_AP_SCENES)),
         WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-over-mta32", over(s, WW_AP_APOGEE_4, WW_AP_MTA_32), WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-mta8", over(s, WW_AP_MTA_8, WW_AP_SIMT_8), WW_VALIDATE_RELATIVE, third, why_issue},
        {"apo-ppw", percent(ww_ap_mean_efficiency(s, WW_AP_SIMT_32, WW_AP_APOGEE_4)), WW_VALIDATE_RELATIVE,
         third, why_speed},
        {"apo-ppw-mta", percent(ww_ap_mean_efficiency(s, mta, WW_AP_APOGEE_4)), WW_VALIDATE_RELATIVE, third,
         why_speed},
    };
    return add(v, row, sizeof row / sizeof *row, error);
}

static enum ww_code add_prefetches(struct ww_validation *v, const struct ww_ap_sums *s,
                                   struct ww_error *error) {
    const struct row row[] = {
        {"apo-acc", ww_ap_mean(s, accuracy, 0, ALL), WW_VALIDATE_ABSOLUTE, 10, ""},
        {"apo-lat", ww_ap_mean(s, latency, 0, ALL), WW_VALIDATE_RELATIVE, 1.0 / 3, ""},
        {"apo-miss", misses_of_8(s), WW_VALIDATE_ABSOLUTE, 10, ""},
        {"apo-bw", ww_ap_mean(s, extra, 0, ALL), WW_VALIDATE_AT_MOST, 2.8, why_ends},
        {"apo-tia", ww_ap_mean(s, invariant, 0, WW_AP_SCENES), WW_VALIDATE_ABSOLUTE, 10, ""},
    };
    return add(v, row, sizeof row / sizeof *row, error);
}

static enum ww_code add_warps(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    double rate = ww_ap_mean(s, register_rate, 0, ALL);
    const struct row row[] = {
        {"apo-warps-rf", rate, WW_VALIDATE_RELATIVE, 1.0 / 3, why_issue},
        {"apo-warps-reg", rate / 32, WW_VALIDATE_RELATIVE, 1.0 / 3, why_issue},
        {"apo-warps-power", ww_ap_mean(s, power, 0, ALL), WW_VALIDATE_RELATIVE, 1.0 / 3, why_power},
        {"apo-warps-cycles", ww_ap_mean(s, fewer_cycles, 0, ALL), WW_VALIDATE_RELATIVE, 1.0 / 3, why_issue},
    };
    return add(v, row, sizeof row / sizeof *row, error);
}

/* From the slowest to the fastest on the mean. */
static enum ww_code add_ranking(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    enum ww_ap_machine order[] = {WW_AP_STRIDE_4, WW_AP_MTA_4, WW_AP_SIMT_32, WW_AP_MTA_32, WW_AP_APOGEE_4};
    enum { N = sizeof order / sizeof *order };
    char ours[128] = "";
    for (size_t i = 1; i < N; i++)
        for (size_t j = i; j > 0 && ww_ap_mean_speedup(s, order[j - 1], order[j], 0, ALL) < 1; j--) {
            enum ww_ap_machine m = order[j];
            order[j] = order[j - 1];
            order[j - 1] = m;
        }
    for (size_t i = 0; i < N; i++) {
        if (i) strcat(ours, " < ");
        strcat(ours, ww_ap_machine_name[order[i]]);
    }
    const struct ww_validate_row row = {.id = "apo-ranking",
                                        .what = "mean speed over 12 kernels, slowest first",
                                        .ours = NAN,
                                        .paper = NAN,
                                        .ours_text = ours,
                                        .paper_text = "stride_4 < MTA_4 < SIMT_32 < MTA_32 < Apogee_4",
                                        .unit = "",
                                        .why = why_issue};
    return ww_validate_add(v, &row, error);
}

static enum ww_code add_scenes(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    double n = 0;
    for (size_t k = 0; k < WW_AP_SCENES; k++) n += ww_ap_speedup(s, k, WW_AP_SIMT_32, WW_AP_APOGEE_4) >= 0.95;
    const struct ww_validate_row scenes = {.id = "apo-scenes",
                                           .what =
                                               "scenes in which Apogee_4 is within 5 % of SIMT_32, or better",
                                           .ours = n,
                                           .paper = 6,
                                           .unit = "scene",
                                           .test = WW_VALIDATE_AT_LEAST,
                                           .why = ""};
    const struct ww_validate_row bits = {.id = "apo-table",
                                         .what = "prefetch table: 64 entries of table 5.3b's 76 bits",
                                         .ours = ww_apogee_bits(64, 4),
                                         .paper = 64 * 76,
                                         .unit = "bit",
                                         .test = WW_VALIDATE_ABSOLUTE,
                                         .why = ""};
    WW_TRY(ww_validate_add(v, &scenes, error));
    return ww_validate_add(v, &bits, error);
}

enum ww_code ww_ap_rows(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error) {
    WW_TRY(add_speed(v, s, error));
    WW_TRY(add_prefetches(v, s, error));
    WW_TRY(add_warps(v, s, error));
    WW_TRY(add_ranking(v, s, error));
    return add_scenes(v, s, error);
}
