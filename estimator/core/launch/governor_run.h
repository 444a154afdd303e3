/* governor_run.h: carries out what a governor decides (mech/gov/governor.h).
 *
 * - Samples and decisions are made at the end of a cycle, when all SMs have stepped it, so that each warp's
 * state is that of the cycle, also when time was skipped.
 * - The youngest CTA is paused first, the oldest unpaused first. Warps of a paused CTA are in state PAUSED and
 * do not issue; their requests go on. A CTA that ends makes room for a paused one; only where none is paused
 * and the limit has room, the SM asks for a new one.
 * - A clock changes at the edge of its cycle: what is under way keeps its time, all later edges have the new
 *   period. Epochs and phases go on over launches. */
#ifndef WW_CORE_GOVERNOR_RUN_H
#define WW_CORE_GOVERNOR_RUN_H

#include "../../result/result.h"
#include "../../mech/gov/governor.h"
#include "../sm/sm.h"

struct ww_governor_slots { /* issue slots of an SM */
    uint64_t issued, idle, memory;
};

struct ww_governor {
    const struct ww_governor_ops *ops;
    const void *settings;
    struct ww_governor_plan plan;
    struct ww_governor_epoch epoch;
    struct ww_governor_sm *sm;            /* by SM, of the running epoch */
    struct ww_governor_slots *begin;      /* by SM: at the epoch's, or the launch's, begin */
    struct ww_governor_decision decision; /* limits in force, clocks wanted */
    double clock[WW_DOMAIN_COUNT];        /* in force, relative to the GPU's */
    double nominal_mhz[WW_DOMAIN_COUNT];
    uint64_t sample_at, decide_at, change_at; /* cycles of the launch, WW_NEVER: none */
    uint64_t sample_left, decide_left;        /* from one launch to the next */
    bool adjust;                              /* limits, or CTAs that ended, ask for a look at all SMs */
    bool begun;                               /* there was a launch */
    char kernel[256];                         /* its kernel's name */
    void *state, *sm_state;
    struct ww_vf_point *point; /* of the launch */
    size_t point_count, point_capacity;
};

/* NULL in *governor: the governor does nothing. Errors: WW_NOMEM. */
enum ww_code ww_governor_new(const struct ww_governor_ops *ops, const void *settings,
                             const struct ww_gpu_spec *gpu, struct ww_governor **governor,
                             struct ww_error *error);
/* The memory system is a new one, at its nominal clocks. */
void ww_governor_memory_reset(struct ww_governor *governor);
void ww_governor_free(struct ww_governor *g);
/* A launch begins; its SMs are prepared. Sets clocks and limits. */
void ww_governor_begin(struct ww_core *core, const struct ww_launch *launch);
/* The launch ended at `cycle`. */
void ww_governor_end(struct ww_core *core, uint64_t cycle);
/* At the edge of cycle core->governor_at, before the SMs step: clocks change, CTAs are paused and unpaused. */
void ww_governor_before(struct ww_core *core, uint64_t cycle);
/* After they have: samples and decisions. Sets core->governor_at to the next cycle. */
void ww_governor_after(struct ww_core *core, uint64_t cycle);
/* A CTA has left the SM, where others are paused, at `cycle`. */
void ww_governor_cta_ended(struct ww_core *core, uint64_t cycle);
/* CTAs that may run and CTAs that are paused, over all SMs. */
void ww_governor_count(const struct ww_core *core, uint32_t *limit, uint32_t *paused);

#endif
