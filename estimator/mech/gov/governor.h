/* governor.h: kind "governor", which decides how many CTAs run on each SM and at which operating points the
 * clock domains work. One instance for the GPU; its state persists over all launches of a run.
 *
 *   core --start of a launch--> start() --\
 *   core --end of an epoch----> decide() --+--> decision: CTA limit of each SM, clock of each domain
 *
 * Core carries out the decision: it pauses and unpauses CTAs, requests new ones only if the limit has room
 * and no CTA is paused, and changes clocks `transition` SM cycles later, until which the domain keeps its
 * clock. A clock is relative to the GPU's; the voltage follows it (power/point.c). */
#ifndef WW_MECH_GOVERNOR_H
#define WW_MECH_GOVERNOR_H

#include "../../result/result.h"
#include "../mech.h"

/* What one SM did in an epoch. The four sampled counters are those of Equalizer (Sethia and Mahlke, MICRO
 * 2014): numbers of warps of CTAs that are not paused, summed over the epoch's samples. */
struct ww_governor_sm {
    uint64_t active;  /* have an instruction */
    uint64_t waiting; /* of these, its operands are not there */
    uint64_t x_alu;   /* it is ready for the arithmetic pipelines and was not issued in the cycle */
    uint64_t x_mem;   /* it is ready for the load/store unit, which took no instruction in the cycle */
    uint64_t issued;  /* warp instructions in the epoch */
    /* Issue slots lost, divided by the number of schedulers: in SM cycles. */
    uint64_t idle_cycles;   /* no warp had anything to do: none resident, all ended or without instruction */
    uint64_t memory_cycles; /* no warp was ready, one or more waited for memory or for the load/store unit */
    uint32_t limit;         /* CTAs that may run */
    uint32_t running;       /* CTAs that are resident and not paused, at the end of the epoch */
    uint32_t paused;
};

struct ww_governor_epoch {
    uint64_t cycle; /* of the launch: the last one of the epoch */
    uint32_t samples;
    uint32_t sms;
    uint32_t most;  /* CTAs that fit an SM */
    uint32_t w_cta; /* warps of a CTA */
    bool more;      /* CTAs are left that have not been dispatched */
    const struct ww_governor_sm *sm;
};

struct ww_governor_launch {
    uint32_t sms, most, w_cta;
    bool same_kernel; /* as the launch before, with the same CTAs */
};

/* Holds what is in force when core calls; the governor changes what it wants otherwise. */
struct ww_governor_decision {
    uint32_t *limit;               /* by SM: CTAs that may run, 1 to most; core takes the nearest of these */
    double clock[WW_DOMAIN_COUNT]; /* relative to the GPU's, 0.25 to 4; core takes the nearest of these */
};

struct ww_governor_plan {
    uint32_t epoch;      /* SM cycles from one decision to the next; 0: there are none */
    uint32_t sample;     /* SM cycles from one sample to the next */
    uint32_t transition; /* SM cycles from a decision to the change of a clock */
};

struct ww_governor_ops {
    struct ww_mech_info info;
    /* The plan that the settings (what info.params describe) mean. NULL: this governor does nothing at all. */
    void (*plan)(const void *settings, struct ww_governor_plan *plan);
    /* It changes limits or clocks while a launch runs, by decide(): parts of the launch are not alike, so that
     * it cannot be sampled in parts. */
    bool adapts;
    size_t state_size; /* of a block that core zeroes once and keeps over the launches of a run */
    size_t sm_size;    /* of what follows it for each SM */
    /* A launch begins; clocks take effect at once. */
    void (*start)(void *state, void *sm_state, const void *settings, const struct ww_governor_launch *launch,
                  struct ww_governor_decision *decision);
    /* An epoch has ended (NULL unless it adapts). */
    void (*decide)(void *state, void *sm_state, const void *settings, const struct ww_governor_epoch *epoch,
                   struct ww_governor_decision *decision);
};

#endif
