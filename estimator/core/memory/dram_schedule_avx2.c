/* Which command a DRAM channel issues next, on hosts with AVX2; for the numbers of banks and groups that most
 * GPUs have. */
#include "dram_channel.h"

#ifdef WW_DRAM_AVX2
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include "dram_scheduler.h"

void ww_dram_event_avx2(void *owner, struct ww_event *event, uint64_t now_ps) {
    (void)event;
    pass(owner, usual, now_ps);
}
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
