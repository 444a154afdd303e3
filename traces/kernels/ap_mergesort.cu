/* ap_mergesort: one pass of a merge sort: pairs of sorted runs of `width` become runs of twice that. An element's place
 * is its place in its run plus its rank in the other run, found by bisection. */
#include "ap_device.h"

/* Elements of the run at `run` that come before `key`: below it, or, if the run is the left one, up to it. */
static __device__ __forceinline__ unsigned rank_of(const unsigned *run, unsigned length, unsigned key, bool left) {
    unsigned low = 0;
    while (length > 0) {
        unsigned half = length / 2, v = run[low + half];
        bool before = left ? v <= key : v < key;
        if (before) low += half + 1;
        length = before ? length - half - 1 : half;
    }
    return low;
}

extern "C" __global__ void ap_mergesort(const unsigned *in, unsigned *out, unsigned n, unsigned width,
                                        unsigned each) {
    AP_FOR(i, n, each) {
        unsigned key = in[i], place = i & (width - 1), run = i - place, other = run ^ width;
        unsigned length = other >= n ? 0 : n - other < width ? n - other : width;
        unsigned first = run < other ? run : other;
        out[first + place + rank_of(in + other, length, key, other < run)] = key;
    }
}
