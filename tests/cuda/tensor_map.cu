// A tensor map that the driver's function makes, a launch in clusters of 4 x 2 CTAs, and tiles that neighbours read.
#include "check.h"
#include <cstdint>
#include <cuda.h>
#include <vector>

static const int width = 256, height = 64, side = 32;

__device__ static uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Each CTA fetches its tile, and writes out that of the next CTA of its cluster.
__global__ void __launch_bounds__(128) next_tile(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ alignas(128) float tile[side][side];
    __shared__ uint64_t barrier;
    uint32_t b = shared_address(&barrier), t = shared_address(tile), rank, ranks, next;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(b));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(t),
                     "l"(&map), "r"(blockIdx.x * side), "r"(blockIdx.y * side), "r"(b)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra AGAIN; }" ::"r"(b)
                 : "memory");
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(next) : "r"(t), "r"((rank + 1) % ranks));
    for (int i = threadIdx.x; i < side * side; i += 128) {
        float v;
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(next + 4 * i));
        out[(blockIdx.y * gridDim.x + blockIdx.x) * side * side + i] = v;
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static CUtensorMap encoded(encode_fn encode, float *p, cuuint32_t box, CUresult want) {
    CUtensorMap map;
    cuuint64_t dim[] = {width, height}, stride[] = {width * sizeof *p};
    cuuint32_t boxes[] = {box, side}, step[] = {1, 1};
    CUresult got = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dim, stride, boxes, step,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    EXPECT(got == want);
    return map;
}

int main() {
    std::vector<float> in(width * height), got(width * height);
    float *from, *to;
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    for (int i = 0; i < width * height; i++) in[i] = (float)i;
    CHECK(cudaMalloc(&from, in.size() * sizeof(float)));
    CHECK(cudaMalloc(&to, in.size() * sizeof(float)));
    CHECK(cudaMemcpy(from, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess && function);
    encoded((encode_fn)function, from, 257, CUDA_ERROR_INVALID_VALUE);
    CUtensorMap map = encoded((encode_fn)function, from, side, CUDA_SUCCESS);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = 2;
    attribute[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(width / side, height / side);
    launch.blockDim = dim3(128);
    launch.attrs = attribute;
    launch.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&launch, next_tile, map, to));
    CHECK(cudaMemcpy(got.data(), to, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 8; x++)
            for (int i = 0; i < side * side; i++) {
                int next = (x % 4 + 4 * y + 1) % 8, nx = x / 4 * 4 + next % 4, ny = next / 4;
                EXPECT(got[(y * 8 + x) * side * side + i] ==
                       in[(ny * side + i / side) * width + nx * side + i % side]);
            }
    return pass();
}
