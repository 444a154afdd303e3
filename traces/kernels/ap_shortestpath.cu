/* ap_shortestpath: one step of a dynamic program: the cost of each choice is its own and that of the cheapest of the
 * three choices below it in the step before. */
#include "ap_device.h"

extern "C" __global__ void ap_shortestpath(const int *cost, const int *before, int *after, unsigned n,
                                           unsigned each) {
    AP_FOR(i, n, each) {
        int best = before[i];
        if (i > 0) {
            int left = before[i - 1];
            best = left < best ? left : best;
        }
        if (i < n - 1) {
            int right = before[i + 1];
            best = right < best ? right : best;
        }
        after[i] = best + cost[i];
    }
}
