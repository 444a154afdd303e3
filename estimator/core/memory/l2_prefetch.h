/* l2_prefetch.h: sequential prefetch from DRAM into the L2, over all slices.
 *
 *   first miss, at A               fetches 256 bytes behind it (if such fetches paid lately)
 *   use of a prefetched sector     fetches as far ahead as the sequence has come, up to l2.prefetch_ahead
 *   miss of the sequence           the same: the sequence is real
 *   A + l2.prefetch_kb             the sequence ends; the next access behind it misses and starts another
 *
 * X. Mei, X. Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking, TPDS 2017, section 4.6: a chase
 * of uniform stride sees DRAM's latency at its first access only, and arrays of up to two thirds of the L2
 * show no cold misses; hence the length. How far ahead of the uses the hardware fetches is not known, nor how
 * it holds back; here
 * - a prefetch is issued only while its DRAM channel has at most l2.prefetch_queue reads waiting, half of the
 *   slice's MSHRs are free and replacing a line needs no write-back: a prefetch that cannot issue now is
 *   retried at the next use or miss, or left to a demand miss;
 * - credit falls by one for each sector fetched and rises by two for each one used; without credit a
 *   sequence must have advanced 512 bytes by misses before it is prefetched (feedback as by S. Srinath et al.,
 *   Feedback Directed Prefetching, HPCA 2007). Fetched behind the end of an array: at most its length and 256
 *   bytes, and at most l2.prefetch_ahead, in whole lines.
 *
 * Sequences are of addresses as the L2 sees them, over all slices. Prefetched sectors count in l2_prefetch; a
 * request that finds one counts as hit or merged. */
#ifndef WW_CORE_L2_PREFETCH_H
#define WW_CORE_L2_PREFETCH_H

#include "l2_part.h"

/* Of full replay. */
extern const struct ww_l2_prefetch_ops ww_l2_prefetch_queued;

/* Sectors of the part are asked of DRAM on demand at `cycle`. */
void ww_l2_prefetch_miss(struct ww_l2_slice *s, const struct ww_l2_packet *p, const struct ww_l2_part *part,
                         uint8_t sectors, uint64_t cycle);
/* A request uses `sectors` of the part, which is in the slice; returns those that a prefetch has fetched. */
void ww_l2_prefetch_used(struct ww_l2_slice *s, const struct ww_l2_packet *p, const struct ww_l2_part *part,
                         uint64_t cycle);

#endif
