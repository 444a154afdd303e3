/* lavaMD: forces between particles in boxes, each box against itself and its neighbours, in double precision.
 * A CTA takes a box: its particles stay in shared memory, those of one neighbour after the other come there. */
#include "ww_device.h"

#define MOST 128 /* threads of a CTA, particles of a box at most; as the host has it */

struct vec4 {
    double v, x, y, z; /* of a position, v is half its square; of a force, the potential */
};

/* e^v for |v| < 700: 2 ulp. v = n ln 2 + f, |f| <= ln 2 / 2; Taylor's series to f^13 leaves less than 2^-57. */
static __device__ __forceinline__ double exponential(double v) {
    double n;
    asm("cvt.rni.f64.f64 %0, %1;" : "=d"(n) : "d"(v * 1.4426950408889634));
    double f = v - n * 6.93147180369123816490e-01; /* the leading 33 bits of ln 2: the product is exact */
    f -= n * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * f + 1.0 / 479001600.0;
    p = p * f + 1.0 / 39916800.0;
    p = p * f + 1.0 / 3628800.0;
    p = p * f + 1.0 / 362880.0;
    p = p * f + 1.0 / 40320.0;
    p = p * f + 1.0 / 5040.0;
    p = p * f + 1.0 / 720.0;
    p = p * f + 1.0 / 120.0;
    p = p * f + 1.0 / 24.0;
    p = p * f + 1.0 / 6.0;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    long long bits;
    asm("mov.b64 %0, %1;" : "=l"(bits) : "d"(p));
    bits += (long long)(int)n << 52;
    asm("mov.b64 %0, %1;" : "=d"(p) : "l"(bits));
    return p;
}

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
            double e = q[j] * exponential(-u2), e2 = 2.0 * e;
            sum.v += e;
            sum.x += e2 * (a.x - b.x);
            sum.y += e2 * (a.y - b.y);
            sum.z += e2 * (a.z - b.z);
        }
    }
    if (i < particles) force[at] = sum;
}
