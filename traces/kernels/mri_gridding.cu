/* mri_gridding: samples at any place are spread over a grid with a Kaiser-Bessel window of radius CUTOFF. They
 * are first sorted by bins of SIDE x SIDE x SIDE grid points; then each grid point gathers the samples around
 * it. A sample is FIELDS floats: x, y, z in grid units, density weight, real and imaginary part. */
#include "ww_device.h"

#define FIELDS 6
#define CUTOFF 2
#define SIDE 2
#define TILE_X 8
#define TILE_Y 4
#define TILE_Z 2
#define THREADS (TILE_X * TILE_Y * TILE_Z)

/* The bin of each sample, and how many came before it. size: grid points on a side, a multiple of TILE_X. */
extern "C" __global__ void mri_gridding_bin(const float *__restrict__ sample, unsigned *__restrict__ bin,
                                            unsigned *__restrict__ rank, unsigned *count, unsigned samples,
                                            unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples) return;
    const float *s = sample + i * FIELDS;
    unsigned bins = size / SIDE;
    unsigned x = (unsigned)(int)s[0] / SIDE, y = (unsigned)(int)s[1] / SIDE, z = (unsigned)(int)s[2] / SIDE;
    unsigned b = (z * bins + y) * bins + x;
    bin[i] = b;
    rank[i] = atomicAdd(&count[b], 1u);
}

/* Samples in the order of their bins: (x, y, z, 0) and (real, imaginary) times the weight. */
extern "C" __global__ void mri_gridding_reorder(const float *__restrict__ sample,
                                                const unsigned *__restrict__ bin,
                                                const unsigned *__restrict__ rank,
                                                const unsigned *__restrict__ start, float4 *__restrict__ place,
                                                float2 *__restrict__ value, unsigned samples) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples) return;
    const float *s = sample + i * FIELDS;
    unsigned to = start[bin[i]] + rank[i];
    place[to] = make_float4(s[0], s[1], s[2], 0.0f);
    value[to] = make_float2(s[3] * s[4], s[3] * s[5]);
}

/* I0(beta sqrt(1 - r^2)) as its power series in t = beta^2 (1 - r^2) / 4: sum of t^k / k!^2, beta = 8. The
 * terms are positive; for t <= 16 those behind k = 14 are below a unit of roundoff of the sum. */
WW_BUILTIN float kaiser_bessel(float t) {
    float v = 1.0f;
#pragma unroll
    for (int k = 14; k > 0; k--) v = 1.0f + v * (t * (1.0f / (float)(k * k)));
    return v;
}

/* A CTA takes TILE_X x TILE_Y x TILE_Z grid points, one a thread, and the bins around them: rows of bins along
 * x lie together. */
extern "C" __global__ void mri_gridding_gather(const float4 *__restrict__ place,
                                               const float2 *__restrict__ value,
                                               const unsigned *__restrict__ start, float2 *__restrict__ grid,
                                               int size) {
    __shared__ float4 near_place[THREADS];
    __shared__ float2 near_value[THREADS];
    int t = (int)((threadIdx.z * TILE_Y + threadIdx.y) * TILE_X + threadIdx.x), bins = size / SIDE;
    int left = (int)blockIdx.x * TILE_X, top = (int)blockIdx.y * TILE_Y, front = (int)blockIdx.z * TILE_Z;
    float x = (float)(left + (int)threadIdx.x), y = (float)(top + (int)threadIdx.y);
    float z = (float)(front + (int)threadIdx.z);
    int x0 = left < CUTOFF ? 0 : (left - CUTOFF) / SIDE, x1 = (left + TILE_X - 1 + CUTOFF) / SIDE;
    int y0 = top < CUTOFF ? 0 : (top - CUTOFF) / SIDE, y1 = (top + TILE_Y - 1 + CUTOFF) / SIDE;
    int z0 = front < CUTOFF ? 0 : (front - CUTOFF) / SIDE, z1 = (front + TILE_Z - 1 + CUTOFF) / SIDE;
    x1 = x1 < bins ? x1 : bins - 1;
    y1 = y1 < bins ? y1 : bins - 1;
    z1 = z1 < bins ? z1 : bins - 1;
    float real = 0.0f, imaginary = 0.0f;
#pragma unroll 1
    for (int bz = z0; bz <= z1; bz++)
#pragma unroll 1
        for (int by = y0; by <= y1; by++) {
            const unsigned *row = start + (bz * bins + by) * bins;
            int end = (int)row[x1 + 1];
#pragma unroll 1
            for (int first = (int)row[x0]; first < end; first += THREADS) {
                int n = end - first < THREADS ? end - first : THREADS;
                __syncthreads();
                if (t < n) {
                    near_place[t] = place[first + t];
                    near_value[t] = value[first + t];
                }
                __syncthreads();
#pragma unroll 1
                for (int s = 0; s < n; s++) {
                    float4 p = near_place[s];
                    float dx = p.x - x, dy = p.y - y, dz = p.z - z;
                    float distance = dx * dx + dy * dy + dz * dz;
                    if (distance < (float)(CUTOFF * CUTOFF)) {
                        float weight = kaiser_bessel(16.0f - 4.0f * distance);
                        real += weight * near_value[s].x;
                        imaginary += weight * near_value[s].y;
                    }
                }
            }
        }
    grid[((front + (int)threadIdx.z) * size + top + (int)threadIdx.y) * size + left + (int)threadIdx.x] =
        make_float2(real, imaginary);
}
