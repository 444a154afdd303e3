// bulk_copy linear|tensor copy|reduce CTAS STORES: one launch of CTAs of 1,024 threads, each of which stores 4 KiB of its shared
// memory STORES times by bulk copies, or by reductions (max), and waits after each one until the data have been read. linear: a
// CTA's bytes are in a row; tensor: a box of 32 x 32 integers of a tensor of 1024 x 1024, whose CTAS are 1,024. sm_90. Form of
// tma_bulk and tma_tensor of accel-sim/gpu-app-collection. Ends with an error if a result is wrong.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 1024
#define BOX 32

static __device__ void end_group() {
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
}

template <bool reduce> __global__ void linear(int *data, int stores) {
    __shared__ alignas(128) int own[BOX * BOX];
    own[threadIdx.x] = 1 + threadIdx.x + blockIdx.x * blockDim.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned from = (unsigned)__cvta_generic_to_shared(own);
    int *to = data + (size_t)blockIdx.x * BOX * BOX;
    for (int i = 0; i < stores; i++)
        if (threadIdx.x == 0) {
            if (reduce)
                asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 4096;" ::"l"(to), "r"(from)
                             : "memory");
            else
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(to), "r"(from) : "memory");
            end_group();
        }
}

template <bool reduce> __global__ void tensor(const __grid_constant__ CUtensorMap map, int stores) {
    __shared__ alignas(128) int own[BOX][BOX];
    int x = BOX * blockIdx.x, y = BOX * blockIdx.y;
    own[threadIdx.y][threadIdx.x] = 1 + x + threadIdx.x + (y + threadIdx.y) * SIDE;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned from = (unsigned)__cvta_generic_to_shared(own);
    for (int i = 0; i < stores; i++)
        if (threadIdx.x == 0 && threadIdx.y == 0) {
            if (reduce)
                asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                             "r"(x), "r"(y), "r"(from)
                             : "memory");
            else
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
                             "r"(y), "r"(from)
                             : "memory");
            end_group();
        }
}

int main(int count, char **word) {
    if (count != 5) return 2;
    bool boxes = !strcmp(word[1], "tensor"), reduce = !strcmp(word[2], "reduce");
    int ctas = boxes ? SIDE / BOX * (SIDE / BOX) : atoi(word[3]), stores = atoi(word[4]), *data = NULL, wrong = 0;
    size_t elements = (size_t)ctas * BOX * BOX;
    if (cudaMalloc((void **)&data, elements * sizeof *data) != cudaSuccess) return 1;
    cudaMemset(data, 0, elements * sizeof *data);
    if (boxes) {
        CUtensorMap map;
        cuuint64_t size[2] = {SIDE, SIDE}, stride[1] = {SIDE * sizeof *data};
        cuuint32_t box[2] = {BOX, BOX}, step[2] = {1, 1};
        if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, size, stride, box, step,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
            return 1;
        (reduce ? tensor<true> : tensor<false>)<<<dim3(SIDE / BOX, SIDE / BOX), dim3(BOX, BOX)>>>(map, stores);
    } else
        (reduce ? linear<true> : linear<false>)<<<ctas, BOX * BOX>>>(data, stores);
    cudaError_t code = cudaDeviceSynchronize();
    int *host = (int *)malloc(elements * sizeof *host);
    if (code != cudaSuccess || !host) return 1;
    cudaMemcpy(host, data, elements * sizeof *host, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < elements; i++) wrong += host[i] != (int)i + 1;
    if (wrong) fprintf(stderr, "bulk_copy: %d results are wrong\n", wrong);
    return wrong != 0;
}
