/* ctalog.h: a log of when and where the first CTAs of a run were executed.
 *
 * When off (a NULL pointer in the core) it costs a comparison when a CTA is dispatched and one when it ends.
 * The log does not affect the simulation. */
#ifndef WW_CORE_CTALOG_H
#define WW_CORE_CTALOG_H

#include "../../result/result.h"

struct ww_cta_log {
    struct ww_cta_span *row; /* of `most` */
    size_t count, most;
    uint32_t *open; /* by SM and slot: the running CTA's row + 1, 0: not noted */
    uint32_t slots; /* of an SM */
};

/* CTA `cta` is dispatched to a slot of an SM; ps is the time since the launch's first cycle. */
static inline void ww_cta_log_begin(struct ww_cta_log *log, uint64_t cta, uint32_t sm, uint32_t slot,
                                    uint64_t cycle, uint64_t ps) {
    uint32_t *open = &log->open[(size_t)sm * log->slots + slot];
    *open = 0;
    if (log->count == log->most) return;
    log->row[log->count++] = (struct ww_cta_span){.cta = cta,
                                                  .sm = sm,
                                                  .slot = slot,
                                                  .first_cycle = cycle,
                                                  .end_cycle = cycle,
                                                  .start_ps = ps,
                                                  .end_ps = ps};
    *open = (uint32_t)log->count;
}

/* The CTA of that slot has ended. */
static inline void ww_cta_log_end(struct ww_cta_log *log, uint32_t sm, uint32_t slot, uint64_t cycle,
                                  uint64_t ps) {
    uint32_t open = log->open[(size_t)sm * log->slots + slot];
    if (!open) return;
    log->row[open - 1].end_cycle = cycle;
    log->row[open - 1].end_ps = ps;
}

#endif
