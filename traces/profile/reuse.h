/* reuse.h: reuse distances of a stream of lines, in bounded memory.
 *
 * The reuse distance of an access is the number of distinct lines touched since the last access to its
 * line. Exact while at most WW_REUSE_LINES lines are tracked; beyond that lines are sampled by a hash of
 * their address with a rate that falls as the footprint grows (SHARDS with a fixed size: Waldspurger et al.,
 * "Efficient MRC Construction with SHARDS", FAST 2015), and distances and counts are scaled up.
 */
#ifndef WW_TRACES_REUSE_H
#define WW_TRACES_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WW_REUSE_LINES 32768u
#define WW_REUSE_BUCKETS 40

struct ww_reuse;
/* NULL: out of memory. */
struct ww_reuse *ww_reuse_new(void);
void ww_reuse_free(struct ww_reuse *r);
void ww_reuse_clear(struct ww_reuse *r);
/* One access to line number `line`. */
void ww_reuse_access(struct ww_reuse *r, uint64_t line);
/* Estimated accesses whose distance d is in bucket k: k = 0: d = 0; k > 0: 2^(k-1) <= d < 2^k. */
double ww_reuse_count(const struct ww_reuse *r, unsigned bucket);
/* Estimated first accesses, which is the number of distinct lines. */
double ww_reuse_lines(const struct ww_reuse *r);
/* Share of the lines that is tracked, 1 while all are. */
double ww_reuse_rate(const struct ww_reuse *r);

#endif
