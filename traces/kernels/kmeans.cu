/* kmeans: one iteration of Lloyd's algorithm in two kernels: each point takes the nearest centroid, then
 * points are summed by cluster. Feature f of point i is point[f * n + i] in the layout "soa", where a warp
 * reads neighbouring words, and point[i * features + f] in "aos", where it reads `features` words apart.
 * Features are whole numbers, so that the sums are exact in any order. */
#include "ww_device.h"

extern __shared__ float centroid[]; /* of assign: clusters x features */

template <bool AOS>
static __device__ __forceinline__ void assign(const float *__restrict__ point,
                                              const float *__restrict__ centroids,
                                              unsigned *__restrict__ label, unsigned n, unsigned features,
                                              unsigned clusters) {
    for (unsigned e = threadIdx.x; e < clusters * features; e += blockDim.x) centroid[e] = centroids[e];
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *first = AOS ? point + i * features : point + i;
    unsigned long long step = AOS ? 1 : n; /* 64 bits: no index is widened in the loop */
    float best = 3.4e38f;
    unsigned nearest = 0;
#pragma unroll 1
    for (unsigned c = 0; c < clusters; c++) {
        float distance = 0.0f;
        const float *p = first, *q = centroid + c * features;
#pragma unroll 4
        for (unsigned f = 0; f < features; f++, p += step) {
            float d = *p - q[f];
            distance += d * d;
        }
        if (distance < best) {
            best = distance;
            nearest = c;
        }
    }
    label[i] = nearest;
}

extern "C" __global__ void kmeans_assign_soa(const float *__restrict__ point,
                                             const float *__restrict__ centroids, unsigned *__restrict__ label,
                                             unsigned n, unsigned features, unsigned clusters) {
    assign<false>(point, centroids, label, n, features, clusters);
}
extern "C" __global__ void kmeans_assign_aos(const float *__restrict__ point,
                                             const float *__restrict__ centroids, unsigned *__restrict__ label,
                                             unsigned n, unsigned features, unsigned clusters) {
    assign<true>(point, centroids, label, n, features, clusters);
}

/* The pair of kernels of Rodinia's benchmark: the points, which come as `features` words each, are laid out by
 * feature, and each thread then reads its features one after the other. */
extern "C" __global__ void kmeans_invert(const float *__restrict__ point, float *__restrict__ inverted,
                                         unsigned n, unsigned features) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *from = point + i * features;
    float *to = inverted + i;
#pragma unroll 1
    for (unsigned f = 0; f < features; f++, to += n) *to = from[f];
}

/* A feature is loaded once for TILE clusters, whose distances are in registers. The centroids lie in shared
 * memory as TILE words for each feature, tile after tile; those of no cluster are not looked at in the end. */
#define TILE 24
extern "C" __global__ void kmeans_point(const float *__restrict__ point, const float *__restrict__ centroids,
                                        unsigned *__restrict__ label, unsigned n, unsigned features,
                                        unsigned clusters) {
    unsigned tiles = (clusters + TILE - 1) / TILE;
    for (unsigned e = threadIdx.x; e < tiles * features * TILE; e += blockDim.x) {
        unsigned c = e / (features * TILE) * TILE + e % TILE, f = e / TILE % features;
        centroid[e] = c < clusters ? centroids[c * features + f] : 0.0f;
    }
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.4e38f;
    unsigned nearest = 0;
#pragma unroll 1
    for (unsigned first = 0; first < clusters; first += TILE) {
        const float *p = point + i, *q = centroid + first * features;
        float distance[TILE] = {0};
#pragma unroll 1
        for (unsigned f = 0; f < features; f++, p += n, q += TILE) {
            float v = *p;
#pragma unroll
            for (unsigned c = 0; c < TILE; c++) distance[c] += (v - q[c]) * (v - q[c]);
        }
#pragma unroll
        for (unsigned c = 0; c < TILE; c++)
            if (first + c < clusters && distance[c] < best) {
                best = distance[c];
                nearest = first + c;
            }
    }
    label[i] = nearest;
}

extern __shared__ unsigned sums[]; /* of update: clusters x features sums, then clusters counts */

/* total and count (clusters x features, clusters) gather what the CTAs have summed in shared memory. */
template <bool AOS>
static __device__ __forceinline__ void update(const float *__restrict__ point,
                                              const unsigned *__restrict__ label, unsigned *total, unsigned n,
                                              unsigned features, unsigned clusters) {
    unsigned cells = clusters * (features + 1);
    for (unsigned e = threadIdx.x; e < cells; e += blockDim.x) sums[e] = 0;
    __syncthreads();
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned c = label[i];
#pragma unroll 1
        for (unsigned f = 0; f < features; f++)
            atomicAdd(&sums[c * features + f], (unsigned)point[AOS ? i * features + f : f * n + i]);
        atomicAdd(&sums[clusters * features + c], 1u);
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < cells; e += blockDim.x)
        if (sums[e]) atomicAdd(&total[e], sums[e]);
}

extern "C" __global__ void kmeans_update_soa(const float *__restrict__ point,
                                             const unsigned *__restrict__ label, unsigned *total, unsigned n,
                                             unsigned features, unsigned clusters) {
    update<false>(point, label, total, n, features, clusters);
}
extern "C" __global__ void kmeans_update_aos(const float *__restrict__ point,
                                             const unsigned *__restrict__ label, unsigned *total, unsigned n,
                                             unsigned features, unsigned clusters) {
    update<true>(point, label, total, n, features, clusters);
}
