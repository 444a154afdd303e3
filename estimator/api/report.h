/* report.h: reports of stored runs and sweeps. Part of warpwatt.h. */
#ifndef WW_API_REPORT_H
#define WW_API_REPORT_H

#include "../base/error.h"
#include "../result/explored.h"
#include "../result/result.h"
#include "sweep.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The summary of a run: text, or one object (reports/schema/run.json). run_id < 0: it was not stored. */
WW_API enum ww_code ww_report_summary(const struct ww_result *result, int64_t run_id, bool json, FILE *out,
                                      struct ww_error *error);
/* The whole result as JSON (reports/schema/report.json). */
WW_API enum ww_code ww_report_json(const struct ww_result *result, int64_t run_id, FILE *out,
                                   struct ww_error *error);
/* Chrome trace events, one object (docs/reference/report.md): a slice for each launch; counter tracks of warps
 * by state, instructions a cycle, watts by component and CTAs for each epoch, and of the clocks. Perfetto opens
 * it. Errors: WW_IO. */
WW_API enum ww_code ww_report_timeline(const struct ww_result *result, int64_t run_id, FILE *out,
                                       struct ww_error *error);
struct ww_trace;
struct ww_trace_source;
/* The contents of a report: runs, a sweep, or both. Other runs are compared with the first. */
struct ww_report_set {
    const struct ww_result *const *run;
    const int64_t *run_id;
    size_t run_count;
    const struct ww_explored *sweep; /* NULL: none */
    const char *sources; /* HTML: folder of the programs' source files, shown next to the counters; or NULL */
    const struct ww_sweep_ranking
        *ranking; /* of the sweep, compared with measured times, which its points have; or NULL */
    struct ww_trace *const
        *trace; /* HTML: the runs' traces, for source texts; an element NULL: not available; or NULL */
    /* HTML: ww_trace_find_source, or a function like it; NULL without `trace` */
    bool (*find_source)(const struct ww_trace *trace, const char *file, struct ww_trace_source *source);
};
/* One HTML page that needs no other file (docs/reference/report.md): tables, and plots as SVG.
 * Errors: WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_report_html(const struct ww_report_set *set, FILE *out, struct ww_error *error);
/* CSV (RFC 4180): a row for each launch of the runs, with all counters; or, of a sweep, one for each point.
 * Texts that a spreadsheet would read as formulas get an apostrophe in front. Errors: WW_IO. */
WW_API enum ww_code ww_report_csv(const struct ww_report_set *set, FILE *out, struct ww_error *error);
/* Markdown tables: the runs side by side, slots, warp states, memory, energy of each; a sweep's front and
 * effects. Errors: WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_report_markdown(const struct ww_report_set *set, FILE *out, struct ww_error *error);
/* Text report: launches, warp states, issue slots, memory levels, energy. */
WW_API enum ww_code ww_report_text(const struct ww_result *result, int64_t run_id, FILE *out,
                                   struct ww_error *error);
/* Text report of a sweep: the front, effects. Errors: WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_report_sweep(const struct ww_explored *sweep, FILE *out, struct ww_error *error);
/* Source lines ranked by stall cycles, at most `most` rows. */
WW_API enum ww_code ww_report_source(const struct ww_result *result, size_t most, bool json, FILE *out,
                                     struct ww_error *error);
/* Speed-up, energy, and where cycles and joules went, of b against a. */
WW_API enum ww_code ww_report_compare(const struct ww_result *a, int64_t a_id, const struct ww_result *b,
                                      int64_t b_id, bool json, FILE *out, struct ww_error *error);

/* A kernel's name as reports show it: demangled, and without parameters and namespaces unless `whole`.
 * Truncated to `size` bytes. A name that is not mangled is not changed. Returns `out`. */
WW_API const char *ww_kernel_shown(const char *kernel, bool whole, char *out, size_t size);

/* Launches with measured and estimated cycles, from tables as scripts/silicon.py --csv prints them
 * (docs/studies/silicon.md). Errors: WW_INPUT with file and line, WW_IO, WW_NOMEM. */
struct ww_points;
WW_API enum ww_code ww_points_read(const char *const *path, size_t count, struct ww_points **points,
                                   struct ww_error *error);
WW_API void ww_points_free(struct ww_points *points);
/* One HTML page that needs no other file: estimated over measured cycles, programs, launches. Errors: WW_NOMEM,
 * WW_IO. */
WW_API enum ww_code ww_points_html(const struct ww_points *points, FILE *out, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
