/* model.h: cycles and events of a launch on any GPU, from the trace's profile alone, in microseconds.
 *
 * A launch is limited by several things at once, each of which alone would take so many SM cycles (enum
 * ww_model_term): the critical paths of CTAs that follow one another on an SM, the issue slots, each kind of
 * unit, the load/store unit, MSHRs, and the widths of crossbar, L2 and DRAM. Where one is far longer than the
 * others, that is the launch's time; where several are about as long they cannot all be in use at any time, and
 * the launch takes longer than each: cycles = (sum of term^p)^(1/p). The p is one of the few constants that
 * were fitted, over the whole suite (model_constants.def, model_fit.def); nothing is fitted to a kernel.
 * Structure after the interval models named in profile.h: their "multi-warp" step is here the queue-less limit
 * of a closed network of these terms.
 *
 * The model is folded once from a profile. An evaluation reads no trace, allocates nothing, and takes time
 * proportional to the number of launches (those that are alike are folded into one).
 */
#ifndef WW_FAST_MODEL_H
#define WW_FAST_MODEL_H

#include "../result/result.h"
#include "../config/gpu.h"
#include "profile.h"

/* Limits of a launch's time. X(id, name, help) */
enum ww_model_term {
#define X(id, name, help) WW_MODEL_##id,
#include "model_term.def"
#undef X
    WW_MODEL_TERMS
};
const char *ww_model_term_name(enum ww_model_term term);

/* Constants fitted over the suite. */
struct ww_model_constants {
#define X(field, start, least, most, help) double field;
#include "model_constants.def"
#undef X
};
extern const struct ww_model_constants ww_model_default;
extern const struct ww_model_constants ww_model_start; /* where fits begin */
/* The constants as a row: name, bounds and place of each, for the code that fits them. */
struct ww_model_constant {
    const char *name, *help;
    double least, most;
    size_t offset;
};
extern const struct ww_model_constant ww_model_constant[];
extern const size_t ww_model_constant_count;

/* Hit probabilities by capacity: share of the accesses whose distance is at least a bin's start. */
struct ww_miss_curve {
    float at[WW_REUSE_BINS + 1];
};
struct ww_model_kernel {
    const struct ww_kernel_profile *of;
    double times; /* launches that are folded into this one */
    struct ww_miss_curve sector[WW_LOCAL_LEVELS][2], line[WW_LOCAL_LEVELS][2], episode[WW_LOCAL_LEVELS][2];
    struct ww_miss_curve far_sector[WW_GLOBAL_LEVELS], far_line[WW_GLOBAL_LEVELS], far_store[WW_GLOBAL_LEVELS],
        far_episode[WW_GLOBAL_LEVELS];
};
struct ww_model {
    struct ww_model_kernel *kernel;
    size_t count;
};

/* Folds a profile, which must live as long as the model. `launches`: by launch of the profile whether it
 * counts, NULL: all do. Launches of one kernel and shape whose profiles are alike are folded into one. Errors:
 * WW_NOMEM. */
enum ww_code ww_model_new(const struct ww_model_profile *profile, const bool *launches, struct ww_model *model,
                          struct ww_error *error);
void ww_model_free(struct ww_model *model);
/* Folds one launch. */
void ww_model_fold(const struct ww_kernel_profile *profile, struct ww_model_kernel *kernel);

/* What warps wait for, as parts of the cycles in which they do not issue; what is left is contention. */
struct ww_model_waits {
    double memory, shared, alu, barrier, front;
    double l2_part, dram_part; /* of the waits for memory */
    bool bound_by_memory;      /* the term that is longest is of the load/store path or behind it */
};

/* The result of an evaluation. */
struct ww_model_result {
    double cycles, term[WW_MODEL_TERMS]; /* SM cycles */
    struct ww_model_waits waits;
    double resident_warps; /* of an SM that has CTAs */
    double cta_path;       /* SM cycles of a CTA's critical path */
    uint32_t ctas_per_sm;
    const char *limiter;
    double events[WW_COUNTER_COUNT]; /* what the power tables need; others are 0 */
};
/* One launch on one GPU. Errors: WW_UNSUPPORTED (a CTA fits no SM). */
enum ww_code ww_model_launch(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                             const struct ww_model_constants *constants, struct ww_model_result *out,
                             struct ww_error *error);

#endif
