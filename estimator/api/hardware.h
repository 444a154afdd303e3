/* hardware.h: measurements of real GPUs, and their comparison with estimates. Part of warpwatt.h. */
#ifndef WW_API_HARDWARE_H
#define WW_API_HARDWARE_H

#include "../base/error.h"
#include "../result/measured.h"
#include "database.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads what build/hardware-kit wrote (reports/schema/hardware.json), what Nsight Compute's `ncu --csv`
 * printed, or a CSV of measured figures if the name ends in ".csv" (docs/reference/hardware.md). Free with
 * ww_measured_free. Errors: WW_INPUT with the place, WW_IO, WW_NOMEM. */
WW_API enum ww_code ww_measured_load(const char *path, struct ww_measured **out, struct ww_error *error);
/* Assigns all measured points to the launches of one trace, whatever name the file gives them. Errors:
 * WW_NOMEM. */
WW_API enum ww_code ww_measured_of_trace(struct ww_measured *measured, const char *trace,
                                         struct ww_error *error);
/* Stores it in one transaction; *id is its number. *stored: false if the database has a measurement of the
 * same content; *id is then the number of that one. Errors: WW_DB, WW_IO. */
WW_API enum ww_code ww_db_store_measured(struct ww_db *db, const struct ww_measured *measured, int64_t *id,
                                         bool *stored, struct ww_error *error);
/* Reads a stored measurement; id 0: the last. Errors: WW_DB (there is none). */
WW_API enum ww_code ww_db_load_measured(struct ww_db *db, int64_t id, struct ww_measured **out,
                                        struct ww_error *error);
/* The latest run of a workload (its trace's file name without folders and .wwt) on a GPU. Errors: WW_DB (none).
 */
WW_API enum ww_code ww_db_find_run(struct ww_db *db, const char *workload, const char *gpu, int64_t *id,
                                   struct ww_error *error);

struct ww_correlate_options {
    const struct ww_measured *measured;
    const char *gpu; /* model to estimate with, as of ww_gpu_load */
    const char *const *overrides;
    size_t override_count;
    const char *const *mechanisms; /* as of ww_run */
    size_t mechanism_count;
    const char *power_table;
    const char *cache_control,
        *clock_control;           /* as of ww_run and ww_gpu_clock_control; NULL: keep, the model's */
    const char *const *workloads; /* only these; none: all */
    size_t workload_count;
    const char *metric; /* only this; NULL: all */
    bool launches;      /* a row for each launch, not for each kernel of a workload */
    const char *traces; /* folder that recordings are kept in; NULL: a temporary one */
    /* NULL: record and replay; else gives the estimate of a point's workload, freed with ww_result_free */
    enum ww_code (*find)(void *context, const struct ww_measured_point *point, struct ww_result **result,
                         struct ww_error *error);
    void *find_context;
    ww_progress_fn progress;
    void *context;
};
struct ww_correlation; /* rows, and statistics of their errors */
/* Compares estimates with measurements. Errors: those of recording and replay, WW_USAGE (none of the requested
 * points was measured), WW_INPUT (launches differ), WW_UNSUPPORTED (power without a power table). */
WW_API enum ww_code ww_correlate(const struct ww_correlate_options *options, struct ww_correlation **out,
                                 struct ww_error *error);
WW_API void ww_correlation_free(struct ww_correlation *correlation);
/* A table, CSV, or JSON (reports/schema/correlate.json). */
WW_API enum ww_code ww_correlation_print(const struct ww_correlation *correlation, enum ww_format format,
                                         FILE *out, struct ww_error *error);
/* Prints a scatter plot of the counted rows of each metric, in text. */
WW_API void ww_correlation_scatter(const struct ww_correlation *correlation, FILE *out);
/* Data files and a gnuplot script in the folder `dir`, which is created, and SVG and PNG files if gnuplot is
 * installed. Errors: WW_IO. */
WW_API enum ww_code ww_correlation_plots(const struct ww_correlation *correlation, const char *dir,
                                         struct ww_error *error);
/* Writes a GPU file to `path` that inherits from `base` and takes latencies, rates and clocks from the
 * microbenchmarks, each with its source, and prints the parameters to `list`. Errors: WW_INPUT (nothing to
 * derive from, a value out of bounds), WW_IO, those of replays. */
WW_API enum ww_code ww_measured_derive(const struct ww_measured *measured, const char *base, const char *path,
                                       FILE *list, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
