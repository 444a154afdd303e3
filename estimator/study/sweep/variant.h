/* variant.h: a variant of the program, built, recorded, and replayed on a machine.
 *
 * Where a launch's CTAs are alike, as many of them are recorded and replayed as a slice of the GPU (slice.h)
 * takes; otherwise all of them, on the whole GPU. CTAs are alike if those at the grid's corners and others that
 * are drawn execute the same instructions under the same masks, nearly all of them; what the others differ by
 * in the number of their instructions is corrected, and is the interval of the sample. */
#ifndef WW_SWEEP_VARIANT_H
#define WW_SWEEP_VARIANT_H

#include "job.h"
#include "program.h"

/* What variants of a job share. */
struct ww_variants;
enum ww_code ww_variants_open(struct sweep_job *job, struct ww_error *error);
void ww_variants_close(struct sweep_job *job);

/* What is known of a variant in addition to its time. */
struct ww_variant {
    struct ww_db_sweep_variant row;
    double build_s, record_s;
};
/* Builds, records and replays the variant of a point on its machine. A variant that does not build, launch or
 * compute what its reference does gets machine->reason. `mode`: as of runs. `variant` may be NULL. Errors:
 * those that are no reason (WW_IO, WW_NOMEM, WW_FAIL, WW_DB). */
enum ww_code ww_variant_replay(struct sweep_job *job, struct ww_sweep_machine *machine, const char *mode,
                               struct ww_db_sweep_result *out, struct ww_variant *variant,
                               struct ww_error *error);
/* Executes all CTAs of the variant of a point, and compares their outputs. One that differs gets
 * machine->reason. Errors: as of ww_variant_replay. */
enum ww_code ww_variant_verify(struct sweep_job *job, struct ww_sweep_machine *machine, struct ww_error *error);

#endif
