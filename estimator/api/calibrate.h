/* calibrate.h: fitting power tables, timing and the analytical model to measurements. Part of warpwatt.h. */
#ifndef WW_API_CALIBRATE_H
#define WW_API_CALIBRATE_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ww_calibrate_options {
    const char *gpu;              /* as of ww_gpu_load */
    const char *const *overrides; /* "key=value" */
    size_t override_count;
    const char *power_table;      /* NULL: by the GPU's name */
    const char *measured, *check; /* CSV files trace,power_w[,sigma_w]; check (NULL: none) is not fitted to */
    const char *const *fit;       /* groups "component+component+static.component", one factor each */
    size_t fit_count;
    const char *out; /* the table with its new values; NULL: none */
    bool json;       /* print JSON (reports/schema/calibrate.json) */
};
/* Fits one factor, not negative, to each group of a power table's components, so that replays of the traces
 * have the measured average power (least squares, weighted with 1 / sigma^2). Prints factors with standard
 * errors, each point before and after the fit, the error of leave-one-out cross-validation and that on the
 * points of `check`. Errors: those of ww_gpu_load and ww_run, WW_INPUT (a file is not as described), WW_USAGE
 * (groups), WW_IO. */
WW_API enum ww_code ww_calibrate_power(const struct ww_calibrate_options *options, FILE *out,
                                       struct ww_error *error);
struct ww_calibrate_timing_options {
    const char *gpu;              /* as of ww_gpu_load */
    const char *measured, *check; /* as of ww_measured_load; check (NULL: none) is not fitted to */
    const char *const *fit;       /* parameters "key" or "key=low:high" */
    size_t fit_count;
    const char *traces; /* folder that recordings are kept in; NULL: a temporary one */
    const char *out;    /* GPU file with the fitted parameters, inherits from `gpu`; NULL: none */
    bool json;          /* print JSON (reports/schema/calibrate.json) */
    ww_progress_fn progress;
    void *context;
};
/* Fits parameters of a GPU, within bounds, to the cycles and times of a measurement (least squares of relative
 * errors). Prints parameters with standard errors, each point before and after the fit, the error of
 * leave-one-out cross-validation and that on the points of `check`. Errors: those of ww_gpu_load,
 * ww_measured_load and ww_run, WW_USAGE (parameters), WW_INPUT (parameters that the points cannot distinguish,
 * no times), WW_FAIL (progress stopped it), WW_IO. */
WW_API enum ww_code ww_calibrate_timing(const struct ww_calibrate_timing_options *options, FILE *out,
                                        struct ww_error *error);
/* Fits the laws of a scaling table (NULL: the project's) to its points and prints them as JSON. Errors:
 * WW_INPUT, WW_IO. */
WW_API enum ww_code ww_calibrate_structures(const char *table, FILE *out, struct ww_error *error);

struct ww_calibrate_analytic_options {
    const char
        *measured;   /* CSV application,trace,gpu,set,cycles,energy_j: full replays; set: "key=value;..." */
    const char *out; /* the fit as the model reads it (estimator/fast/model_fit.def); NULL: none */
    bool json;       /* print JSON (reports/schema/calibrate.json) */
    ww_progress_fn progress;
    void *context;
};
/* Fits the analytical model's constants to full replays, and estimates each application with constants fitted
 * to the others. Prints the constants, the errors and the coverage of the intervals. Errors: WW_INPUT (the
 * table), those of ww_gpu_load and of reading traces, WW_FAIL (progress stopped it), WW_IO. */
WW_API enum ww_code ww_calibrate_analytic(const struct ww_calibrate_analytic_options *options, FILE *out,
                                          struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
