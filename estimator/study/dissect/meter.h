/* meter.h: a GPU that chases are run on: the black box of infer.h, and what the parts of a dissection share. */
#ifndef WW_DISSECT_METER_H
#define WW_DISSECT_METER_H

#include "../../api/gpu.h"
#include "../../api/dissect.h"
#include "../../../traces/micro/micro.h"
#include "../../run/micro_bench.h"
#include "dissect.h"

#define WW_KB ((uint64_t)1024)
#define WW_MB (1024 * WW_KB)

struct ww_meter {
    const struct ww_dissect_options *options;
    struct ww_dissect *out;
    struct ww_gpu *gpu;
    struct ww_bench *bench;
    struct ww_bench_board board;
    enum ww_micro_path path; /* of chases */
    double part;             /* done of the whole */
};

/* Opens the GPU of the options, with one override more unless it is NULL. Free with ww_meter_close, also after
 * an error. *known (may be NULL: then it is an error) says whether the GPU has such a parameter. */
enum ww_code ww_meter_open(struct ww_meter *m, const struct ww_dissect_options *options, struct ww_dissect *out,
                           const char *override, struct ww_error *error);
void ww_meter_close(struct ww_meter *m);
/* Size of the L2 by the data sheet, of which benchmarks take multiples: at least 1 MB, and at most 64 MB,
 * since no benchmark here gains from a larger one. */
uint64_t ww_meter_l2_bytes(const struct ww_meter *m);
/* Reports progress; `part` is the share of the whole that is done. Errors: WW_FAIL (asked to stop). */
enum ww_code ww_meter_step(struct ww_meter *m, const char *what, struct ww_error *error);

/* A box of this meter and its path. */
struct ww_box ww_meter_box(struct ww_meter *m);
/* A chase from empty caches. */
enum ww_code ww_meter_chase(struct ww_meter *m, const uint64_t *address, size_t count, uint32_t *latency,
                            struct ww_error *error);
/* Clusters of the latencies in the second and third pass over arrays of smallest, 2 smallest, ... largest
 * bytes, element k at k * unit + (k * stagger) mod unit. */
enum ww_code ww_meter_levels(struct ww_meter *m, const struct ww_infer_plan *plan,
                             struct ww_cluster cluster[WW_CLUSTERS], size_t *count, struct ww_error *error);
/* The median of a few loads of one line after the first. */
enum ww_code ww_meter_hit(struct ww_meter *m, double *cycles, struct ww_error *error);
double ww_median(uint32_t *value, size_t count);

/* The parts. Each fills its place of the result. */
enum ww_code ww_dissect_caches(const struct ww_dissect_options *options, struct ww_dissect *out,
                               struct ww_error *error);
enum ww_code ww_dissect_tlbs(struct ww_meter *m, struct ww_error *error);
enum ww_code ww_dissect_l2(struct ww_meter *m, struct ww_error *error);
enum ww_code ww_dissect_latency(const struct ww_dissect_options *options, struct ww_dissect *out,
                                struct ww_error *error);
enum ww_code ww_dissect_shared(const struct ww_dissect_options *options, struct ww_dissect *out,
                               struct ww_error *error);
enum ww_code ww_dissect_global(struct ww_meter *m, struct ww_error *error);
enum ww_code ww_dissect_classic(struct ww_meter *m, struct ww_error *error);
enum ww_code ww_dissect_curves(struct ww_meter *m, struct ww_error *error);

#endif
