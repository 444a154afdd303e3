/* tlb_fixture.h: pointer chases of the patterns P1 to P6 of Mei and Chu, IEEE TPDS 2017, section 5.2, on a
 * model. */
#ifndef WW_TESTS_TLB_FIXTURE_H
#define WW_TESTS_TLB_FIXTURE_H

#include "../../estimator/warpwatt.h"
#include "estimator/run/micro_bench.h"
#include "estimator/config/gpu.h"
#include "traces/micro/micro.h"

#define MIB (1ull << 20)
#define CHASE_BASE (1ull << 33) /* a multiple of every region and index that the TLBs know */

/* Latencies of `count` dependent loads, in order, one after the other on a GPU that is empty; counters of the
 * launch in *counter unless that is NULL. */
void chase(const struct ww_gpu *gpu, enum ww_micro_path path, const uint64_t *address, size_t count,
           uint32_t *latency, uint64_t *counter);
/* The mean of a pattern (1 to 6) in SM cycles: data in the L1 or (path WW_MICRO_L2) in the L2 where it hits. */
double pattern(const struct ww_gpu *gpu, enum ww_micro_path path, int number);

#endif
