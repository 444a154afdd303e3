/* profile_stack.h: reuse distances of lines and of their sectors.
 *
 * The distance of an access is the number of distinct lines used since the last use of its line. A cache that
 * keeps lines by LRU and fills single sectors has a sector if its line has stayed since the sector was used,
 * which is if the largest of the line's distances since then is below the cache's number of lines; that largest
 * one is the sector's distance. So one pass gives the hits of every capacity.
 * At most WW_STACK_LINES lines are tracked; beyond that those whose hash is small enough (SHARDS: Waldspurger
 * et al., FAST 2015), and distances and counts are scaled up.
 */
#ifndef WW_FAST_PROFILE_STACK_H
#define WW_FAST_PROFILE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WW_STACK_LINES 32768u
#define WW_STACK_NEVER 1e30 /* distance of a first use */

struct ww_stack;
/* NULL: out of memory. */
struct ww_stack *ww_stack_new(void);
void ww_stack_free(struct ww_stack *s);
void ww_stack_clear(struct ww_stack *s);

/* Distances of one access to a line, in lines. */
struct ww_stack_use {
    double line;      /* of the line */
    double sector[4]; /* of the sectors asked for; others are not set */
    double weight;    /* lines that this one stands for */
};
/* Uses sectors of a line. A store's sectors have the distance since they were stored to last; loads and stores
 * alike make the line the most recent one, and sectors valid. False: the line is not tracked. */
bool ww_stack_use(struct ww_stack *s, uint64_t line, uint32_t sectors, bool store, struct ww_stack_use *out);

#endif
