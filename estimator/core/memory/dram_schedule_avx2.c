/* Which command a DRAM channel issues next, on hosts with AVX2; for the numbers of banks and groups that most
 * GPUs have. */
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#elif defined(__x86_64__)
#pragma GCC target("avx2")
#endif
#include "dram_scheduler.h"

#ifdef WW_DRAM_AVX2
void ww_dram_event_avx2(void *owner, struct ww_event *event, uint64_t now_ps) {
    (void)event;
    pass(owner, usual, now_ps);
}
#endif
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
