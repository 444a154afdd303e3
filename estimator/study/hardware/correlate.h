/* correlate.h: what the files of a correlation share. */
#ifndef WW_MEASURED_CORRELATE_H
#define WW_MEASURED_CORRELATE_H

#include "../../api/gpu.h"
#include "../../api/hardware.h"
#include "../../result/result.h"
#include "../../result/measured.h"
#include "../../base/tempfile.h"
#include "hardware.h"

/* A row: a launch, or all launches of one kernel in a workload. */
struct ww_correlation_row {
    const char *workload, *parameters, *kernel;
    uint32_t launch;   /* WW_ALL_LAUNCHES: of several */
    uint64_t launches; /* how many */
    enum ww_metric metric;
    double measured, low, high, estimate;
    bool verified;
};

struct ww_correlation {
    const char *measured_gpu, *measured_source, *gpu;
    bool quick;
    struct ww_correlation_row *row; /* in the measurement's order */
    size_t row_count;
    size_t unverified;                              /* rows that no figure counts */
    struct ww_agreement agreement[WW_METRIC_COUNT]; /* of the rows of each metric */
    struct ww_arena arena;
};

/* (estimate - measured) / measured */
double ww_correlation_error(const struct ww_correlation_row *row);

/* The estimate for a point. WW_INPUT: the estimate has no such launch, or its kernel has another name;
 * WW_UNSUPPORTED: no energy is known. */
enum ww_code ww_estimate_of(const struct ww_result *result, const struct ww_measured_point *p, double *out,
                            struct ww_error *error);
/* The folder for recordings: `traces`, or, if that is NULL, a temporary one. WW_IO. */
enum ww_code ww_estimate_folder(const char *traces, struct ww_temp *folder, struct ww_error *error);
/* Frees it, and removes a temporary one with all that is in it. */
void ww_estimate_folder_done(const char *traces, struct ww_temp *folder);
/* Replays (or finds in the database) what the point is of; free with ww_result_free. `dir`: where traces are.
 */
enum ww_code ww_estimate_run(const struct ww_correlate_options *o, const struct ww_gpu *gpu, const char *dir,
                             const struct ww_measured_point *p, struct ww_result **out, struct ww_error *error);

#endif
