/* matrix.h: replays of the workload suite under several machines, added up by kernel: what suites of papers
 * that compare mechanisms share. */
#ifndef WW_VALIDATE_MATRIX_H
#define WW_VALIDATE_MATRIX_H

#include "../../../api/trace.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "validate.h"

#define WW_MATRIX_PARAMETERS 8
#define WW_MATRIX_MECHANISMS 4
#define WW_MATRIX_OVERRIDES 4

struct ww_matrix_workload {
    const char *name;
    const char *parameter[WW_MATRIX_PARAMETERS]; /* of the recording, "key=value"; ends with NULL */
    uint32_t registers;                          /* of a thread, for the occupancy; 0: as compiled */
    const char *launches;                        /* that are replayed; NULL: all */
};

/* A GPU with mechanisms. */
struct ww_matrix_machine {
    const char *gpu;
    const char *mechanism[WW_MATRIX_MECHANISMS]; /* ends with NULL */
};

/* One kernel's launches on one machine, added up. */
struct ww_matrix_sum {
    uint64_t cycles, warp_instructions;
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t time_ps;
    uint64_t warp_cycles[WW_STATE_COUNT];
    uint32_t ctas_per_sm; /* of the last launch */
    double dynamic_j[WW_COMPONENT_COUNT], static_j[WW_COMPONENT_COUNT], total_j;
};

/* What is measured: every workload on every machine for which `wanted` (NULL: all) says so; of kernels, those
 * listed. sum: [machine][kernel], all 0 where it was not measured. */
struct ww_matrix {
    const struct ww_matrix_workload *workload;
    size_t workloads;
    const struct ww_matrix_machine *machine;
    size_t machines;
    /* By machine: GPU parameters "key=value" that it overrides, ending with NULL; NULL: none has any. */
    const char *const (*set)[WW_MATRIX_OVERRIDES];
    const struct ww_transform_options
        *transform; /* by workload, of the recorded trace (kind NULL: none), or NULL */
    const char *const *kernel;
    size_t kernels;
    bool (*wanted)(size_t workload, size_t machine);
    bool per_pc; /* results have counters of each instruction */
    /* Called with each result when all are there, in the order of workloads and then machines; NULL: not
     * called. The result is freed after the call. */
    enum ww_code (*seen)(void *context, size_t workload, size_t machine, const struct ww_result *result,
                         struct ww_error *error);
    void *context;
    struct ww_matrix_sum *sum;
};

/* Records each workload (for sm_20) into a temporary file, replays it, and fills in the sums, whose memory is
 * the arena's. Errors: those of recording and replaying, WW_IO (no temporary file), WW_NOMEM. */
enum ww_code ww_matrix_run(struct ww_matrix *matrix, struct ww_arena *arena,
                           const struct ww_validate_options *options, struct ww_error *error);

#endif
