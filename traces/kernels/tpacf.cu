/* tpacf: histograms of angular separations between points on a sphere, given as unit vectors. Set 0 is the
 * data, sets 1 .. `sets` are random: CTA 0 counts the pairs within the data, CTAs 1 .. sets those between the
 * data and a random set, the rest those within a random set. Set s lies at point[3 * n * s], its x first, then
 * y, then z. */
#include "ww_device.h"

#define BLOCK 256
#define BINS 21    /* 20 bounds */
#define COPIES 128 /* histograms of a CTA: 16 for each warp */

/* The number of bounds (descending) above v. */
WW_BUILTIN unsigned find_bin(const float *bound, float v) {
    unsigned low = 0, high = BINS - 1;
#pragma unroll 1
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (v >= bound[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

extern "C" __global__ void tpacf_histogram(const float *__restrict__ point, const float *__restrict__ bounds,
                                           unsigned *__restrict__ count, unsigned n, unsigned sets) {
    __shared__ float x[BLOCK], y[BLOCK], z[BLOCK], bound[BINS - 1];
    __shared__ unsigned histogram[BINS][COPIES];
    unsigned t = threadIdx.x, copy = t / 32 * 16 + t % 16, cta = blockIdx.x;
    bool within = cta == 0 || cta > sets;
    const float *a = point + 3 * n * (cta > sets ? cta - sets : 0);
    const float *b = point + 3 * n * (cta > sets ? cta - sets : cta);
    for (unsigned i = t; i < BINS * COPIES; i += BLOCK) histogram[i / COPIES][i % COPIES] = 0;
    if (t < BINS - 1) bound[t] = bounds[t];
#pragma unroll 1
    for (unsigned first = 0; first < n; first += BLOCK) {
        unsigned i = first + t;
        bool valid = i < n;
        float ax = valid ? a[i] : 0.0f, ay = valid ? a[n + i] : 0.0f, az = valid ? a[2 * n + i] : 0.0f;
#pragma unroll 1
        for (unsigned other = within ? first : 0; other < n; other += BLOCK) {
            unsigned j = other + t, size = n - other < BLOCK ? n - other : BLOCK;
            __syncthreads();
            if (j < n) {
                x[t] = b[j];
                y[t] = b[n + j];
                z[t] = b[2 * n + j];
            }
            __syncthreads();
#pragma unroll 1
            for (unsigned k = 0; k < size; k++)
                if (valid && (!within || other + k > i))
                    atomicAdd(&histogram[find_bin(bound, ax * x[k] + ay * y[k] + az * z[k])][copy], 1u);
        }
    }
    __syncthreads();
    if (t >= BINS) return;
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned c = 0; c < COPIES; c++) sum += histogram[t][(c + t) % COPIES];
    count[cta * BINS + t] = sum;
}
