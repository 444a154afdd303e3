/* trial.h: a variant under way: what its recordings and replays share. */
#ifndef WW_SWEEP_TRIAL_H
#define WW_SWEEP_TRIAL_H

#include "../../../traces/cta_pick.h"
#include "../../api/record.h"
#include "../../result/result.h"
#include "alike.h"
#include "slice.h"
#include "variant.h"
#include "variants.h"

#define WW_TRIAL_PATH 4200   /* bytes of a trace's name */
#define WW_SLICE_ERROR 0.08  /* relative; docs/studies/tuning.md */
#define WW_PROBE_STEPS 16384 /* of a warp: CTAs that are looked at are executed no further */

struct trial {
    struct sweep_job *job;
    struct ww_sweep_machine *m;
    struct ww_variant_at at;
    const struct ww_program *program;
    const char *arch, *mode;
    uint32_t max_registers;
    struct ww_buf ptx, launch;
    struct ww_variant *v;
    struct ww_error *error;
};

/* Records these CTAs, or all, unless it was done before; *path: WW_TRIAL_PATH bytes. Outputs are compared if
 * `compare`, and the space says with what. */
enum ww_code ww_trial_record(struct trial *t, const struct ww_cta_pick *pick, bool compare, char *path);
/* Executes these CTAs to their end and records nothing. Outputs are compared if the space says with what. */
enum ww_code ww_trial_count(struct trial *t, const struct ww_cta_pick *pick, struct ww_record_stats *stats);
/* Replays a trace. spans: CTAs whose spans are wanted; 0: of a launch that is replayed whole. */
enum ww_code ww_trial_run(struct trial *t, const struct ww_gpu *gpu, uint64_t spans, const char *path,
                          struct ww_result **result);
/* The machine with the slice's settings. */
enum ww_code ww_trial_slice_gpu(struct trial *t, const struct ww_slice *slice, struct ww_gpu **gpu);
/* trial_share.c: the slice's setting for lines that CTAs outside of it have read, which the analytical model
 * does not look at: found in CTAs that are executed for so many steps of a warp. `ctas`: that an SM holds. */
enum ww_code ww_trial_set_sharing(struct trial *t, const struct ww_alike *alike, struct ww_slice *slice,
                                  uint64_t ctas, uint64_t steps);
/* What a replay says of the variant but its time. */
void ww_trial_describe(const struct ww_result *result, struct ww_db_sweep_variant *row);
/* The result of so many cycles, of which a replay had `r`; at least what dispatching all CTAs takes. */
void ww_trial_result(struct trial *t, const struct ww_alike *alike, const struct ww_result *r, double cycles,
                     struct ww_db_sweep_result *out);

/* trial_cut.c: CTAs that are too long to be replayed to their end. `ctas`: that an SM holds; `probes`: the
 * trace of those that were looked at. */
enum ww_code ww_trial_cut(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                          uint64_t ctas, const char *probes, struct ww_db_sweep_result *out);
/* The mean warp instructions of CTAs, some of which are executed to their end. */
enum ww_code ww_trial_lengths(struct trial *t, struct ww_alike *alike);

#endif
