/* pathfinder: cheapest ways from the first row of a grid to each cell of later rows, where a step goes one row
 * on and at most one column aside. A launch takes `steps` rows: a CTA of BLOCK threads keeps its columns' costs
 * in shared memory, reads `steps` columns more on either side than it writes, and so needs nothing of its
 * neighbours in between. */
#include "ww_device.h"

#define BLOCK 256
#define FAR 0x7fffffff

extern "C" __global__ void pathfinder_steps(const int *__restrict__ wall, const int *__restrict__ from,
                                            int *__restrict__ to, int cols, int first, int steps) {
    __shared__ int cost[BLOCK + 2], next[BLOCK]; /* cost: with a border cell on either side */
    int t = (int)threadIdx.x, col = (int)blockIdx.x * (BLOCK - 2 * steps) + t - steps;
    bool inside = col >= 0 && col < cols;
    cost[t + 1] = inside ? from[col] : FAR;
    if (t == 0) cost[0] = cost[BLOCK + 1] = FAR;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        bool active = inside && t > i && t < BLOCK - 1 - i;
        if (active) {
            int left = cost[t], up = cost[t + 1], right = cost[t + 2];
            int best = left < up ? left : up;
            best = right < best ? right : best;
            next[t] = best + wall[(first + i) * cols + col];
        }
        __syncthreads();
        if (active) cost[t + 1] = next[t];
        __syncthreads();
    }
    if (inside && t >= steps && t < BLOCK - steps) to[col] = cost[t + 1];
}
