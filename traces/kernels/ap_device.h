/* ap_device.h: persistent threads, for the kernels of APOGEE's evaluation.
 *
 * A CTA owns `each` consecutive elements and its threads walk over them a CTA's width at a time, so that a
 * load's next execution by the same warp lies a fixed offset away: what a fixed-offset prefetcher predicts.
 * With one CTA this is the plain grid-stride loop. Arrays are deliberately not __restrict__: loads then go
 * through the data cache, not the read-only path, and values that all threads share are loaded again in each
 * iteration, since a store in the loop could have changed them. */
#ifndef AP_DEVICE_H
#define AP_DEVICE_H

#include "ww_device.h"

/* for (unsigned i ...) over the elements of this thread among n. */
#define AP_FOR(i, n, each)                                                                                     \
    for (unsigned i = blockIdx.x * (each) + threadIdx.x, ap_end = ap_part_end(n, each); i < ap_end;            \
         i += blockDim.x)

WW_BUILTIN unsigned ap_part_end(unsigned n, unsigned each) {
    unsigned end = (blockIdx.x + 1) * each;
    return end < n ? end : n;
}

#endif
