/* profile_count.h: counts of instructions and accesses. Part of the profiler's pass over a whole launch. */
#ifndef WW_FAST_PROFILE_COUNT_H
#define WW_FAST_PROFILE_COUNT_H

#include "profile_hot.h"
#include "profile_walk.h"

struct ww_seen; /* a set of numbers */
struct ww_seen *ww_seen_new(void);
void ww_seen_free(struct ww_seen *s);

struct ww_profile_counter {
    struct ww_kernel_profile *to;
    const struct ww_launch *launch;
    struct ww_seen *constants, *pages; /* pages: the caller's, kept over launches */
    struct ww_hot *hot;
    uint8_t *executed;  /* by instruction */
    uint64_t *lanes;    /* by instruction: active ones */
    uint32_t last_mask; /* of the instruction before */
    const struct ww_inst *last;
    double ctas, square; /* of instructions of CTAs */
};
/* Errors: WW_NOMEM. */
enum ww_code ww_profile_count_begin(struct ww_profile_counter *c, const struct ww_launch *launch,
                                    struct ww_seen *pages, struct ww_kernel_profile *to,
                                    struct ww_error *error);
void ww_profile_count_step(struct ww_profile_counter *c, const struct ww_walk *walk, const struct ww_inst *inst,
                           uint32_t mask, const struct ww_access *access);
void ww_profile_count_access(struct ww_profile_counter *c, enum ww_walk_kind kind,
                             const struct ww_walk_line *line, unsigned n);
void ww_profile_count_cta(struct ww_profile_counter *c, uint64_t instructions);
/* Fills in what follows from all; frees the scratch memory. */
void ww_profile_count_end(struct ww_profile_counter *c);

#endif
