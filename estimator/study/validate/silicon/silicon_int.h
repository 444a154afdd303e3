/* silicon_int.h: the suite that replays recorded programs and compares them with measurements of real GPUs.
 *
 * Rows of a suite of measurements (reports/silicon.csv) -> launches replayed -> errors by kernel, program,
 * suite. */
#ifndef WW_VALIDATE_SILICON_INT_H
#define WW_VALIDATE_SILICON_INT_H

#include "../rows/validate.h"

/* Figures of a launch or of a program's launches added up; NAN where there is none. */
struct ww_silicon_figures {
    double cycles, warp_instructions, l1_hit_percent, l2_hit_percent, dram_read_bytes, dram_write_bytes;
};

/* A line of reports/silicon.csv, with what was replayed for it. Texts live in an arena. */
struct ww_silicon_row {
    const char *suite, *program;
    long launch; /* from 0; -1: all launches of the program added up */
    struct ww_silicon_figures hw;
    double accelsim_cycles;
    unsigned line;
    const char *kernel; /* of the replayed trace; NULL: not replayed */
    struct ww_silicon_figures ours;
};

/* Reads text with the heading of reports/silicon.csv. Errors: WW_INPUT with line (fields missing, no number, a
 * row twice), WW_NOMEM. */
enum ww_code ww_silicon_parse(const char *text, size_t size, const char *where, struct ww_arena *arena,
                              struct ww_silicon_row **row, size_t *count, struct ww_error *error);
/* Those that the library carries. Errors: WW_INTERNAL, WW_NOMEM. */
enum ww_code ww_silicon_read(struct ww_arena *arena, struct ww_silicon_row **row, size_t *count,
                             struct ww_error *error);

enum ww_silicon_who { WW_SILICON_OURS, WW_SILICON_ACCELSIM };

/* How far estimates lie from measurements. A kernel's error is the mean over its launches, a program's the mean
 * over its kernels; parts of the measured cycles. NAN where there is no launch. */
struct ww_silicon_error {
    size_t launches;
    double by_launch, by_program, by_launch_rest, by_program_rest; /* rest: without the repetitive programs */
    double bias_by_launch, bias_by_program;
    double rank_correlation, log_correlation;
    double class_error[3]; /* by launch, of the classes below */
    size_t class_launches[3];
};
#define WW_SILICON_SMALL 1e4 /* cycles: classes are below this, below the next, and the rest */
#define WW_SILICON_LARGE 1e5

/* Over the rows of one suite that were replayed. Errors: WW_NOMEM. */
enum ww_code ww_silicon_errors(const struct ww_silicon_row *row, size_t count, enum ww_silicon_who who,
                               struct ww_silicon_error *out, struct ww_error *error);
/* Mean over programs of the distance in points of a hit rate: of the L1, else the L2. NAN if none is known. */
double ww_silicon_points(const struct ww_silicon_row *row, size_t count, bool l1);

/* A suite of measurements: which GPU's model is compared with it, and how it was measured. */
struct ww_silicon_suite {
    const char *name, *gpu, *board;
    bool flushed;       /* each launch stands alone and starts with empty caches */
    const char *caches; /* before each launch, as ww_run_options.cache_control has it */
    const char *clock;  /* at which it was measured, as ww_gpu_clock_control takes it; NULL: the model's */
};

/* Replays the rows of one suite from the traces below `folder` and fills in kernel and ours. A program without
 * a trace stays as it is. Errors: those of ww_run, WW_FAIL (stopped), WW_NOMEM. */
enum ww_code ww_silicon_replay(struct ww_silicon_row *row, size_t count, const struct ww_silicon_suite *suite,
                               const char *folder, struct ww_arena *arena,
                               const struct ww_validate_options *options, struct ww_error *error);

#endif
