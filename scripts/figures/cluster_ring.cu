// cluster_ring CLUSTER CTAS ROUNDS: one launch of CTAs of 1,024 threads in clusters, each of which reads 16 KiB a round of the shared
// memory of the next CTA of its cluster. A CTA takes 200 KiB, so that an SM has one. sm_90.
#include <cooperative_groups.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 1024
#define BYTES (200 * 1024)

__global__ void ring(int *out, int rounds) {
    extern __shared__ int own[];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    for (unsigned i = threadIdx.x; i < 8 * THREADS; i += THREADS) own[i] = i;
    cluster.sync();
    volatile int *next = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks()) + threadIdx.x;
    int a = 0, b = 0, c = 0, d = 0;
    for (int r = 0; r < rounds; r++) {
        volatile int *at = next + (r & 1) * 4 * THREADS;
        a += at[0];
        b += at[THREADS];
        c += at[2 * THREADS];
        d += at[3 * THREADS];
    }
    cluster.sync();
    out[blockIdx.x * THREADS + threadIdx.x] = a + b + c + d;
}

int main(int count, char **word) {
    if (count != 4) return 2;
    int ctas = atoi(word[2]), rounds = atoi(word[3]), *out = NULL;
    if (cudaMalloc((void **)&out, sizeof *out * ctas * THREADS) != cudaSuccess) return 1;
    cudaFuncSetAttribute((const void *)ring, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    cudaLaunchAttribute size;
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = atoi(word[1]);
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    cudaLaunchConfig_t shape = {};
    shape.gridDim = ctas;
    shape.blockDim = THREADS;
    shape.dynamicSmemBytes = BYTES;
    shape.attrs = &size;
    shape.numAttrs = 1;
    cudaError_t code = cudaLaunchKernelEx(&shape, ring, out, rounds);
    if (code == cudaSuccess) code = cudaDeviceSynchronize();
    if (code != cudaSuccess) fprintf(stderr, "cluster_ring: %s\n", cudaGetErrorString(code));
    return code != cudaSuccess;
}
