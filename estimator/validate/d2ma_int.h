/* d2ma_int.h: what the parts of suite "d2ma" share. */
#ifndef WW_VALIDATE_D2MA_INT_H
#define WW_VALIDATE_D2MA_INT_H

#include "validate.h"

struct ww_transfer_log;

#define WW_D2MA_KERNELS 13 /* of table 2 */

/* A kernel of table 2, or SAXPY, in its plain and D2MA versions. */
struct ww_d2ma_kernel {
    const char *label, *workload, *name; /* as in the paper; the workload and its parameter "kernel" */
    const char *plain, *dma;             /* names of the kernels */
};
/* Those of table 2 in its order, then SAXPY. */
extern const struct ww_d2ma_kernel ww_d2ma_kernel[WW_D2MA_KERNELS + 1];

/* All launches of one kernel, added up. */
struct ww_d2ma_sum {
    uint64_t cycles, warp_instructions;
    uint64_t counter[WW_COUNTER_COUNT], slot[WW_SLOT_COUNT];
};

struct ww_d2ma_replay {
    const char *gpu, *mechanism;               /* mechanism: NULL for the defaults */
    const char *set;                           /* "key=value" of the GPU, or NULL */
    const char *kernel;                        /* whose launches count; others are replayed, too */
    struct ww_transfer_log *log;               /* NULL: nobody asks */
    const struct ww_validate_options *options; /* whose progress may stop the replay; NULL: nothing does */
    size_t done, all;                          /* what it is told, in kernels */
};

/* Records a workload for sm_20 into a file of its own. variant: "plain", "dma", "cudadma"; ctas: parameter n, 0
 * for the default. */
enum ww_code ww_d2ma_record(const struct ww_d2ma_kernel *k, const char *variant, unsigned ctas,
                            const char *path, struct ww_error *error);
/* Replays a trace; the copies that warps make are found in it and their time is counted. */
enum ww_code ww_d2ma_replay(const char *path, const struct ww_d2ma_replay *how, struct ww_d2ma_sum *sum,
                            struct ww_error *error);

/* Figure 12: two CTAs of SAXPY on one SM: when their transfers and their computation were under way. */
enum ww_code ww_d2ma_timeline(struct ww_validation *v, const char *path, struct ww_error *error);
/* Bits of the engine, and table 3. */
enum ww_code ww_d2ma_hardware(struct ww_validation *v, struct ww_error *error);
/* A row without a target: `paper` NAN; it informs only. */
enum ww_code ww_d2ma_inform(struct ww_validation *v, const char *id, const char *what, double ours,
                            const char *unit, struct ww_error *error);

#endif
