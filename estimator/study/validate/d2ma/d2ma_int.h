/* d2ma_int.h: what the parts of suite "d2ma" share. */
#ifndef WW_VALIDATE_D2MA_INT_H
#define WW_VALIDATE_D2MA_INT_H

#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../../traces/transform/writers.h"
#include "../rows/validate.h"

struct ww_transfer_log;

#define WW_D2MA_KERNELS 13 /* of table 2 */
#define WW_D2MA_ALL 14     /* and SAXPY */

/* A kernel of table 2, or SAXPY, in its plain and D2MA versions. */
struct ww_d2ma_kernel {
    const char *label, *workload, *name; /* as in the paper; the workload and its parameter "kernel" */
    const char *plain, *dma;             /* names of the kernels */
};
/* Those of table 2 in its order, then SAXPY. */
extern const struct ww_d2ma_kernel ww_d2ma_kernel[WW_D2MA_KERNELS + 1];

/* All launches of one kernel, added up. */
struct ww_d2ma_sum {
    uint64_t cycles, warp_instructions, thread_instructions;
    uint64_t counter[WW_COUNTER_COUNT], slot[WW_SLOT_COUNT];
};

/* What was measured, by kernel: plain, with bulk transfers started by the first and by the last warp,
 * transformed from plain, plain without limits (figure 1), CudaDMA; and the last writers of the transformed
 * one's loads. */
struct ww_d2ma_sums {
    struct ww_d2ma_sum plain[WW_D2MA_ALL], dma[WW_D2MA_ALL], last[WW_D2MA_ALL], transformed[WW_D2MA_ALL],
        inf[WW_D2MA_ALL], cudadma[WW_D2MA_ALL];
    struct ww_writers writers[WW_D2MA_ALL];
};

/* Figures by kernel (d2ma_bars.c). */
enum ww_d2ma_figure {
    WW_D2MA_UNLIMITED,
    WW_D2MA_SPEEDUP,
    WW_D2MA_SPEEDUP_LAST,
    WW_D2MA_SPEEDUP_TRANSFORMED,
    WW_D2MA_INSTRUCTIONS,
    WW_D2MA_INSTRUCTIONS_TRANSFORMED,
    WW_D2MA_INSTRUCTIONS_WARPS,
    WW_D2MA_WRITERS,
    WW_D2MA_LOADS,
    WW_D2MA_WHOLE,
    WW_D2MA_AGEN,
    WW_D2MA_MEM,
    WW_D2MA_WHOLE_WAITING,
    WW_D2MA_AGEN_TO_LAST,
    WW_D2MA_FIRST,
    WW_D2MA_AGEN_ALONE,
    WW_D2MA_STALL_PLAIN,
    WW_D2MA_STALL_DMA,
    WW_D2MA_L2_MISS,
    WW_D2MA_HAZARDS,
    WW_D2MA_FIGURES
};

struct ww_d2ma_replay {
    const char *gpu, *mechanism;               /* mechanism: NULL for the defaults */
    const char *set;                           /* "key=value" of the GPU, or NULL */
    const char *kernel;                        /* whose launches count; others are replayed, too */
    struct ww_transfer_log *log;               /* NULL: not called */
    const struct ww_validate_options *options; /* whose progress may stop the replay; NULL: nothing does */
    size_t done, all;                          /* what it is told, in kernels */
};

/* Records a workload for sm_20 into a file of its own. variant: "plain", "dma", "cudadma"; ctas: parameter n, 0
 * for the default. */
enum ww_code ww_d2ma_record(const struct ww_d2ma_kernel *k, const char *variant, unsigned ctas,
                            const char *path, struct ww_error *error);
/* Transforms the plain trace (trace transform d2ma) into `changed`, and says how many loads of shared memory
 * have another last writer there. */
enum ww_code ww_d2ma_transform(const char *plain, const char *changed, struct ww_writers *found,
                               struct ww_error *error);
/* Replays a trace; the copies that warps make are found in it and their time is counted. */
enum ww_code ww_d2ma_replay(const char *path, const struct ww_d2ma_replay *how, struct ww_d2ma_sum *sum,
                            struct ww_error *error);

/* A figure of kernel i; its mean over kernels first .. end - 1; its largest over table 2; its
 * smallest over kernels first .. end - 1. */
double ww_d2ma_value(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure, size_t i);
double ww_d2ma_mean(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure, size_t first, size_t end);
double ww_d2ma_largest(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure);
double ww_d2ma_smallest(const struct ww_d2ma_sums *s, enum ww_d2ma_figure figure, size_t first, size_t end);
/* Geometric mean of the speed-ups of table 2; mean gain of figure 1 over kernels bound by memory. */
double ww_d2ma_geomean(const struct ww_d2ma_sums *s);
double ww_d2ma_unlimited_mean(const struct ww_d2ma_sums *s);
/* Rows of all figures by kernel, whose plots are not in the paper's text. */
enum ww_code ww_d2ma_kernels(struct ww_validation *v, const struct ww_d2ma_sums *s, struct ww_error *error);

/* Figure 12: two CTAs of SAXPY on one SM: when their transfers and their computation were under way. */
enum ww_code ww_d2ma_timeline(struct ww_validation *v, const char *path, struct ww_error *error);
/* Bits of the engine, and table 3. */
enum ww_code ww_d2ma_hardware(struct ww_validation *v, struct ww_error *error);
/* A row without a target: `paper` NAN; it informs only. */
enum ww_code ww_d2ma_inform(struct ww_validation *v, const char *id, const char *what, double ours,
                            const char *unit, struct ww_error *error);

#endif
