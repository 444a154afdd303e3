/* warm.h: functional warming, for replays that begin in the middle of a program (Wunderlich et al., SMARTS,
 * ISCA 2003): caches behind the SMs see the accesses of what is left out, in program order, without time.
 *
 * Nothing may be in flight. Counters do not change, so that the laws of what is replayed then hold. */
#ifndef WW_CORE_WARM_H
#define WW_CORE_WARM_H

#include "memsys.h"

struct ww_l2;
struct ww_tlb;
struct ww_slice_place;

/* What the request (fine: sectors of 32 bytes) leaves in the L2 and the TLBs. */
void ww_memsys_warm(struct ww_memsys *m, const struct ww_mem_request *request);
/* The same for what a copy engine does: it passes no TLB of the SMs. */
void ww_memsys_fill(struct ww_memsys *m, const struct ww_mem_request *request);
void ww_l2_warm(struct ww_l2 *l2, const struct ww_mem_request *request, struct ww_slice_place home);
void ww_tlb_warm(struct ww_tlb *t, uint64_t address);

#endif
