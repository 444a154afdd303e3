/* lavaMD: forces between particles in boxes, each box against itself and its neighbours, in double precision.
 * A CTA takes a box: its particles stay in shared memory, those of one neighbour after the other come there. */
#include "ww_device.h"

#define MOST 128 /* threads of a CTA, particles of a box at most; as the host has it */

struct vec4 {
    double v, x, y, z; /* of a position, v is half its square; of a force, the potential */
};

/* neighbour: 28 words for each box: how many there are, and which, itself first. A thread has one particle;
 * those that have none help loading. */
extern "C" __global__ void lavaMD_forces(const vec4 *__restrict__ position, const double *__restrict__ charge,
                                         const int *__restrict__ neighbour, vec4 *__restrict__ force,
                                         unsigned particles, double a2) {
    __shared__ vec4 home[MOST], other[MOST];
    __shared__ double q[MOST];
    unsigned i = threadIdx.x, at = blockIdx.x * particles + i;
    const int *list = neighbour + blockIdx.x * 28;
    if (i < particles) home[i] = position[at];
    vec4 sum = {0, 0, 0, 0};
    int count = list[0];
#pragma unroll 1
    for (int k = 1; k <= count; k++) {
        unsigned from = (unsigned)list[k] * particles + i;
        __syncthreads();
        if (i < particles) {
            other[i] = position[from];
            q[i] = charge[from];
        }
        __syncthreads();
        if (i >= particles) continue;
        vec4 a = home[i];
#pragma unroll 1
        for (unsigned j = 0; j < particles; j++) {
            vec4 b = other[j];
            double u2 = a2 * (a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z));
            double e = q[j] * ww_exp(-u2), e2 = 2.0 * e;
            sum.v += e;
            sum.x += e2 * (a.x - b.x);
            sum.y += e2 * (a.y - b.y);
            sum.z += e2 * (a.z - b.z);
        }
    }
    if (i < particles) force[at] = sum;
}
