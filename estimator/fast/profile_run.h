/* profile_run.h: an order of the memory accesses of CTAs that run at the same time.
 *
 * `slots` CTAs are resident; when one ends the next takes its place. Warps of all take turns, each up to its
 * next access to global or local memory. Barriers are ignored, since turns keep warps about equally far.
 */
#ifndef WW_FAST_PROFILE_RUN_H
#define WW_FAST_PROFILE_RUN_H

#include "../api/trace.h"
#include "profile_walk.h"

/* Loads that a warp has not waited for yet. */
struct ww_episode {
    uint64_t pending[(WW_REG_COUNT + 63) / 64];
    double far[2]; /* largest distance among them; see struct ww_local_reuse */
    bool open, async;
};

struct ww_profile_run {
    struct ww_trace *trace;
    size_t launch;
    uint64_t first, stride, most; /* CTAs first, first + stride, ...: `most` of them at most */
    uint32_t slots;
    uint64_t steps; /* stops after so many, 0: never */
    void *context;
    /* An access of n lines; sets far of a load (largest distance, once if plain loads are cached and once if
     * they are not). */
    void (*access)(void *context, enum ww_walk_kind kind, const struct ww_walk_line *line, unsigned n,
                   double far[2]);
    void (*episode)(void *context, const double far[2]); /* a warp waits for loads */
    /* Called for each instruction (NULL: not called), and for each CTA that has ended, with its number of
     * instructions. */
    void (*step)(void *context, const struct ww_walk *walk, const struct ww_inst *inst, uint32_t mask,
                 const struct ww_access *access, bool last);
    void (*cta)(void *context, uint64_t cta, uint64_t instructions);
    bool (*go_on)(void *context,
                  uint64_t steps); /* called periodically; NULL: never stop; false: stop with WW_FAIL */
    uint64_t done, done_ctas;      /* instructions and CTAs that ran */
};
/* Errors: those of ww_trace_load_cta, WW_NOMEM, WW_FAIL. */
enum ww_code ww_profile_run(struct ww_profile_run *run, struct ww_error *error);

#endif
