/* curves.h: latency and bandwidth as curves: over the size of what is read, and over the threads of an SM.
 *
 * The benchmarks have the shapes of RRZE-HPC/gpu-benches, so that its published results of boards can be
 * compared with them: gpu-latency (a thread chases a random cycle through 128-byte lines), gpu-cache (a CTA on
 * each SM reads the same array again and again), gpu-l2-cache (many CTAs read parts of an array that all
 * together read many times) and gpu-stream (each thread of a large grid takes one double, with one or two CTAs
 * an SM). A point needs nothing of what was measured before on the meter, but for the L2's contents, which each
 * benchmark replaces by its own first. */
#ifndef WW_DISSECT_CURVES_H
#define WW_DISSECT_CURVES_H

#include "meter.h"

/* Mean cycles of a load in a random cycle through `bytes` (rounded down to lines of 128 bytes, at least two),
 * after a pass that is not timed. */
enum ww_code ww_curve_latency(struct ww_meter *m, uint64_t bytes, double *cycles, struct ww_error *error);
/* GB/s of all SMs, each of which reads the same `bytes` (rounded down to whole KiB, at least one). */
enum ww_code ww_curve_cache(struct ww_meter *m, uint64_t bytes, double *gbps, struct ww_error *error);
/* GB/s of all SMs that read parts of `bytes` in turn, in rows of as many loads a thread: two, as published
 * since April 2024 (a thread multiplies them), or one (before: it adds up). */
enum { WW_CURVE_PAIRS = 2, WW_CURVE_SINGLE = 1 };
enum ww_code ww_curve_l2(struct ww_meter *m, uint64_t bytes, uint32_t row_loads, double *gbps,
                         struct ww_error *error);
/* What a stream reads and writes: arrays of which each begins `bytes` behind the one before. */
struct ww_curve_arrays {
    uint32_t loads, stores;
    uint64_t bytes;
};
extern const struct ww_curve_arrays ww_curve_read, ww_curve_triad; /* as published since December 2024 */
extern const struct ww_curve_arrays ww_curve_early_read, ww_curve_early_triad; /* before: two arrays read */
/* GB/s of streams, what is read and written together. */
enum ww_code ww_curve_stream(struct ww_meter *m, uint32_t ctas_per_sm, uint32_t cta_size,
                             const struct ww_curve_arrays *arrays, double *gbps, struct ww_error *error);

/* Finds the plateaus of a curve whose sizes rise, and the knees between them. A plateau is two or more
 * neighbouring points, the last at 1.2 times the size of the first or more, of which each differs from the one
 * before by less than `step` (a part of it), and the lowest from the highest by less than three times that; of
 * what lies lower than a plateau before it, nothing is one. Its level is the median. A knee is the size at
 * which the curve, straight between points over the logarithm of the size, is half of the way from one level to
 * the next. Returns the number of plateaus (at most WW_DISSECT_PLATEAUS); plateau k > 0 holds the knee before
 * it. */
size_t ww_plateaus(const struct ww_dissect_xy *point, size_t count, double step,
                   struct ww_dissect_plateau out[WW_DISSECT_PLATEAUS]);

#endif
