// Ways to launch, attributes of kernels, occupancy, launch errors, dynamic shared memory.
#include "check.h"
#include <algorithm>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __launch_bounds__(256) scaled(float *p, float by, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? p[i] : 0;
    __syncthreads();
    if (i < n) p[i] = by * s[threadIdx.x];
}
__global__ void large(int *out) {
    extern __shared__ int big[];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) big[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = big[16383] + big[1];
}
__global__ void grid_wide(int *count, int *seen) {
    if (threadIdx.x == 0) atomicAdd(count, 1);
    cg::this_grid().sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *(volatile int *)count;
}
__global__ void tiles(int *out) {
    cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<16> t = cg::tiled_partition<16>(b);
    int v = b.thread_rank();
    for (int k = t.size() / 2; k > 0; k /= 2) v += t.shfl_down(v, k);
    if (t.thread_rank() == 0) out[b.thread_rank() / 16] = v;
}
#if CUDART_VERSION >= 12010 /* parameters of up to 32,764 bytes, in the upper half of a constant bank */
struct table { int word[8000]; };
__global__ void many_parameters(const __grid_constant__ table t, int *out) {
    int sum = t.word[7999] + t.word[7000] + t.word[1];
    out[threadIdx.x] = sum + t.word[7900 + threadIdx.x];
}
#endif

int main() {
    float *p, h[300], by = 3;
    int n = 300, *q, got[64], blocks = -1, size, least;
    CHECK(cudaMalloc(&p, sizeof h));
    CHECK(cudaMalloc(&q, sizeof got));
    for (int i = 0; i < n; i++) h[i] = i;
    CHECK(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
    void *arguments[] = {&p, &by, &n};
    CHECK(cudaLaunchKernel((void *)scaled, dim3(3), dim3(128), arguments, 128 * 4, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = 2;
    config.blockDim = 256;
    config.dynamicSmemBytes = 1024;
    CHECK(cudaLaunchKernelEx(&config, scaled, p, 2.0f, n));
    CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(h[i] == 6 * i);
    // Errors of launches are not sticky.
    scaled<<<1, 2000>>>(p, 1, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    scaled<<<0, 32>>>(p, 1, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    scaled<<<1, 512>>>(p, 1, n);
    EXPECT(cudaGetLastError() != cudaSuccess);
    scaled<<<1, 32, 1 << 20>>>(p, 1, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    large<<<2, 128, 65536>>>(q);
    CHECK(cudaMemcpy(got, q, 8, cudaMemcpyDeviceToHost));
    EXPECT(got[0] == 16384 && got[1] == 16384);
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, scaled));
    EXPECT(a.maxThreadsPerBlock == 256 && a.numRegs > 0 && a.sharedSizeBytes == 0);
    const int compiled[] = {__CUDA_ARCH_LIST__}; /* CUB looks for its kernels by this, whatever the GPU is */
    EXPECT(a.ptxVersion == compiled[0] / 10);
    CHECK(cudaFuncSetCacheConfig(scaled, cudaFuncCachePreferShared));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scaled, 256, 1024));
    EXPECT(blocks >= 1 && blocks <= 32);
    int few = -1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, scaled, 256, 40000));
    EXPECT(few >= 1 && few < blocks);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &size, scaled, 0, 0));
    EXPECT(size > 0 && size <= 256 && least > 0);
    CHECK(cudaMemset(q, 0, sizeof got));
    int *count = q, *seen = q + 1;
    void *both[] = {&count, &seen};
    CHECK(cudaLaunchCooperativeKernel((void *)grid_wide, dim3(8), dim3(64), both, 0, 0));
    CHECK(cudaMemcpy(got, q, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 9; i++) EXPECT(got[i] == 8);
    tiles<<<1, 64>>>(q);
    CHECK(cudaMemcpy(got, q, 16, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) EXPECT(got[i] == 16 * 16 * i + 120);
#if CUDART_VERSION >= 12010
    static table t;
    for (int i = 0; i < 8000; i++) t.word[i] = i;
    many_parameters<<<1, 64>>>(t, q);
    CHECK(cudaMemcpy(got, q, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(got[i] == 7999 + 7000 + 1 + 7900 + i);
#endif
    return pass();
}
