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
