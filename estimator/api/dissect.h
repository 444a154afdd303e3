/* dissect.h: microbenchmarks that measure a GPU's model as they would measure the GPU. Part of warpwatt.h. */
#ifndef WW_API_DISSECT_H
#define WW_API_DISSECT_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ww_dissect_part {
    WW_DISSECT_CACHES = 1,
    WW_DISSECT_TLB = 2,
    WW_DISSECT_LATENCY = 4,
    WW_DISSECT_SHARED = 8,
    WW_DISSECT_GLOBAL = 16,
    WW_DISSECT_CURVES = 32,
    WW_DISSECT_ALL = 63
};
struct ww_dissect_options {
    const char *gpu;              /* as of ww_gpu_load */
    const char *const *overrides; /* "key=value" */
    size_t override_count;
    unsigned parts; /* of enum ww_dissect_part */
    uint64_t seed;
    bool few; /* only those configurations of the global copy that reach the highest bandwidth */
    ww_progress_fn progress;
    void *context;
};
/* Runs microbenchmarks on a GPU's model and prints the caches, TLBs, latencies and throughput that follow from
 * them (docs/reference/dissect.md; JSON: reports/schema/dissect.json). `plots` (NULL: none): a folder
 * for the data and gnuplot scripts of figures. Errors: those of ww_gpu_load and of replays, WW_FAIL (progress
 * stopped it), WW_IO. */
WW_API enum ww_code ww_dissect_report(const struct ww_dissect_options *options, bool json, const char *plots,
                                      FILE *out, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
