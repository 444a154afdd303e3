/* apogee_int.h: what the parts of suite "apogee" share. */
#ifndef WW_VALIDATE_APOGEE_INT_H
#define WW_VALIDATE_APOGEE_INT_H

#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../rows/matrix.h"

enum { WW_AP_SCENES = 7, WW_AP_KERNELS = 12, WW_AP_SIZES = 6 }; /* sizes: 1, 2, 4 ... 32 warps */

/* Configurations of section 5.5; those of SIMT are in the order of their warps. */
enum ww_ap_machine {
    WW_AP_SIMT_1,
    WW_AP_SIMT_2,
    WW_AP_SIMT_4,
    WW_AP_SIMT_8,
    WW_AP_SIMT_16,
    WW_AP_SIMT_32,
    WW_AP_STRIDE_4,
    WW_AP_MTA_4,
    WW_AP_MTA_8,
    WW_AP_MTA_32,
    WW_AP_APOGEE_4,
    WW_AP_MACHINES
};
extern const char *const ww_ap_machine_name[WW_AP_MACHINES];

/* A benchmark of table 5.2. */
struct ww_ap_kernel {
    const char *label, *workload, *scene; /* scene: parameter of the workload, or NULL */
};
/* The scenes first, both groups in the order of table 5.2. */
extern const struct ww_ap_kernel ww_ap_kernel[WW_AP_KERNELS];

/* All launches of a benchmark on one machine, added up. */
struct ww_ap_sum {
    uint64_t cycles, warp_instructions, time_ps;
    uint64_t counter[WW_COUNTER_COUNT];
    double joules;
};
struct ww_ap_sums {
    struct ww_ap_sum of[WW_AP_MACHINES][WW_AP_KERNELS];
};

/* A figure of one benchmark; NAN where it has none. */
typedef double (*ww_ap_figure_fn)(const struct ww_ap_sums *s, size_t kernel);
/* The mean of a figure over those of kernels first .. end - 1 that have one. */
double ww_ap_mean(const struct ww_ap_sums *s, ww_ap_figure_fn figure, size_t first, size_t end);

/* Of a machine over another: cycles of `base` over those of m; performance for a watt likewise. */
double ww_ap_speedup(const struct ww_ap_sums *s, size_t kernel, enum ww_ap_machine base, enum ww_ap_machine m);
double ww_ap_efficiency(const struct ww_ap_sums *s, size_t kernel, enum ww_ap_machine base,
                        enum ww_ap_machine m);
/* Their geometric means over kernels first .. end - 1. */
double ww_ap_mean_speedup(const struct ww_ap_sums *s, enum ww_ap_machine base, enum ww_ap_machine m,
                          size_t first, size_t end);
double ww_ap_mean_efficiency(const struct ww_ap_sums *s, enum ww_ap_machine base, enum ww_ap_machine m);

double ww_ap_watts(const struct ww_ap_sum *s);
/* In percent: of prefetches sent, those whose line a load asked for in the end. */
double ww_ap_accuracy(const struct ww_ap_sum *s);
/* In percent of the sectors that loads ask for: those that were not there. */
double ww_ap_miss_rate(const struct ww_ap_sum *s);
/* SM cycles, a load on the mean. */
double ww_ap_latency(const struct ww_ap_sum *s);
/* Sectors that the D-cache asks memory for, by loads and prefetches. */
double ww_ap_sectors(const struct ww_ap_sum *s);
/* Cycles in which nothing is issued: an instruction takes four. */
double ww_ap_stalls(const struct ww_ap_sum *s);
/* Register accesses in a cycle. */
double ww_ap_register_rate(const struct ww_ap_sum *s);
/* In percent of the sectors that loads and textures miss: those of loads of one address for all lanes. */
double ww_ap_invariant(const struct ww_ap_sum *s);

/* ---- apogee_rows.c: rows of the targets ---- */
enum ww_code ww_ap_rows(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error);
/* ---- apogee_bars.c: by kernel, the figures whose plots the text does not have ---- */
enum ww_code ww_ap_bars(struct ww_validation *v, const struct ww_ap_sums *s, struct ww_error *error);

#endif
