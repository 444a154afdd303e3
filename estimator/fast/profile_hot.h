/* profile_hot.h: the blocks of memory that a launch's atomics update most.
 *
 * Updates of a word follow one another in the L2 slice that holds it, so a launch with few counters waits for
 * the slices that they lie in and not for the mean slice. Which these are depends on each GPU's mapping; the
 * profile keeps the addresses. Blocks have 256 bytes, which lie in one slice on every GPU here.
 */
#ifndef WW_FAST_PROFILE_HOT_H
#define WW_FAST_PROFILE_HOT_H

#include "profile.h"

struct ww_hot; /* updates by piece */
/* NULL: out of memory. */
struct ww_hot *ww_hot_new(void);
void ww_hot_free(struct ww_hot *h);
/* Counts one update of a block (address / 256). Blocks beyond a table of some thousands are counted together.
 */
void ww_hot_add(struct ww_hot *h, uint64_t piece);
/* Writes those that were updated most, most first. */
void ww_hot_most(const struct ww_hot *h, struct ww_kernel_profile *to);

#endif
