/* Which command a DRAM channel issues next, on hosts with AVX2; for the numbers of banks and groups that most
 * GPUs have. */
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#elif defined(__x86_64__)
#pragma GCC target("avx2")
#endif
#include "dram_scheduler.h"

#ifdef WW_DRAM_AVX2
int32_t ww_dram_schedule_avx2(struct ww_dram_channel *c, int32_t cycle) {
    return schedule(c, usual, cycle);
}
#endif
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
