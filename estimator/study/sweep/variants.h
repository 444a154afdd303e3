/* variants.h: what the variants of a job share: the architecture, the reference's outputs, figures of builds.
 */
#ifndef WW_SWEEP_VARIANTS_H
#define WW_SWEEP_VARIANTS_H

#include "../../../traces/ptx/record/launch.h"
#include "variant.h"

struct ww_output {
    char *data;
    size_t bytes;
};
struct ww_variants {
    const char *arch;
    pthread_mutex_t lock;
    bool ready;               /* the reference has been computed, or there is none */
    struct ww_output *output; /* by buffer of program->compare */
    uint64_t builds;
    double build_s, record_s;
};

/* Outputs under comparison. */
struct ww_compare {
    struct sweep_job *job;
    bool part;                /* of the CTAs: what they did not write is not compared */
    bool keep;                /* the reference itself: its outputs are kept */
    struct ww_output *before; /* by buffer */
};
enum ww_code ww_variant_look(void *context, bool ran, const struct ww_launch_view *buffer,
                             struct ww_error *error);
void ww_variant_look_end(struct ww_compare *compare);

/* Computes the reference variant's outputs, once. Errors: those of building and running it. */
enum ww_code ww_variants_reference(struct sweep_job *job, struct ww_error *error);
/* Adds a variant's times. */
void ww_variants_count(struct sweep_job *job, const struct ww_variant *variant);
/* Whether the job goes on; for builds. */
bool ww_variants_go_on(void *job);

#endif
