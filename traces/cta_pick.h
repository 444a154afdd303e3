/* cta_pick.h: some of a grid's CTAs, which alone are run and recorded.
 *
 * A recording of them holds CTAs 0, 1, 2, ...: the picked ones in their order, each with the addresses that its
 * own place in the whole grid gives. Others never run, so that a CTA may not wait for one of them. */
#ifndef WW_TRACES_CTA_PICK_H
#define WW_TRACES_CTA_PICK_H

#include "../estimator/base/err.h"

struct ww_cta_pick {
    const uint64_t *cta; /* linear numbers in the grid, ascending */
    uint64_t count;
    /* 0, or the steps of a warp after which it is executed no further, to the next branch. A CTA in which
     * nothing is left but such warps, and others that wait for them, is ended: each warp's recording gets a
     * last step, an EXIT of the lanes that it has left. */
    uint64_t steps;
};

/* How many steps a warp that has recorded so many may take in a turn of `turn`; 0: it is cut here. */
static inline uint32_t ww_cta_pick_turn(const struct ww_cta_pick *pick, uint64_t recorded, uint32_t turn) {
    if (!pick || !pick->steps) return turn;
    uint64_t left = recorded < pick->steps ? pick->steps - recorded : 0;
    return left < turn ? (uint32_t)left : turn;
}

/* The place in the grid of CTA `index` of those that are run. */
static inline void ww_cta_place(const struct ww_cta_pick *pick, uint64_t index, const uint32_t grid[3],
                                uint32_t ctaid[3]) {
    uint64_t cta = pick ? pick->cta[index] : index;
    ctaid[0] = (uint32_t)(cta % grid[0]);
    ctaid[1] = (uint32_t)(cta / grid[0] % grid[1]);
    ctaid[2] = (uint32_t)(cta / grid[0] / grid[1]);
}

/* The grid of a recording: the whole one, or as many CTAs as are picked, in a row. */
static inline void ww_cta_pick_grid(const struct ww_cta_pick *pick, const uint32_t grid[3], uint32_t out[3]) {
    for (int n = 0; n < 3; n++) out[n] = !pick ? grid[n] : n ? 1 : (uint32_t)pick->count;
}

/* Errors: WW_USAGE (none, out of order, outside of the grid). */
static inline enum ww_code ww_cta_pick_check(const struct ww_cta_pick *pick, uint64_t ctas, const char *kernel,
                                             struct ww_error *error) {
    bool good = pick->count > 0 && pick->count <= INT32_MAX;
    for (uint64_t i = 0; good && i < pick->count; i++)
        good = pick->cta[i] < ctas && (i == 0 || pick->cta[i] > pick->cta[i - 1]);
    return good ? WW_OK
                : ww_fail(error, WW_USAGE, kernel, "the picked CTAs: expected ascending numbers below %llu",
                          (unsigned long long)ctas);
}

#endif
