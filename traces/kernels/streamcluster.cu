/* streamcluster: what opening one more centre would gain, for each point. Coordinates lie by dimension:
 * coordinate d of point i is coord[d * points + i]. */
#include "ww_device.h"

extern __shared__ float centre[]; /* of the candidate: dims */

/* A point that is nearer to the candidate than its cost now would change over: moves[i] = 1 and change[i] is
 * what it saves (negative). Otherwise, if its own centre closed, it would have to pay more: lower[i * centres +
 * row of its centre] = what more. */
extern "C" __global__ void streamcluster_pgain(const float *__restrict__ coord,
                                               const float *__restrict__ weight, const float *__restrict__ cost,
                                               const unsigned *__restrict__ assigned,
                                               const unsigned *__restrict__ row, float *__restrict__ lower,
                                               float *__restrict__ change, unsigned *__restrict__ moves,
                                               unsigned points, unsigned dims, unsigned centres,
                                               unsigned candidate) {
    for (unsigned d = threadIdx.x; d < dims; d += blockDim.x) centre[d] = coord[d * points + candidate];
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points) return;
    const float *p = coord + i;
    float distance = 0.0f;
#pragma unroll 2
    for (unsigned d = 0; d < dims; d++, p += points) {
        float delta = *p - centre[d];
        distance += delta * delta;
    }
    float saved = distance * weight[i] - cost[i];
    if (saved < 0.0f) {
        moves[i] = 1;
        change[i] = saved;
    } else {
        lower[i * centres + row[assigned[i]]] = saved;
    }
}
