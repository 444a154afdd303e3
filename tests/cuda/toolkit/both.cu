/* both.cu: a program that uses the runtime's and the driver's interface on the same memory, context and
 * kernels. */
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

#define EXPECT(condition)                                                                                      \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                           \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

__global__ void add(int *p, int value) {
    p[threadIdx.x] += value;
}

int main() {
    int *p, host[32], value = 5;
    CUdeviceptr q;
    CUcontext context;
    cudaFunction_t function;
    cudaStream_t stream;
    void *entry;
    cudaDriverEntryPointQueryResult found;
    EXPECT(cudaMalloc(&p, sizeof host) == cudaSuccess);
    EXPECT(cuInit(0) == CUDA_SUCCESS && cuCtxGetCurrent(&context) == CUDA_SUCCESS && context);
    EXPECT(cuMemAlloc(&q, sizeof host) == CUDA_SUCCESS && q > (CUdeviceptr)p);
    EXPECT(cuMemsetD32((CUdeviceptr)p, 1, 32) == CUDA_SUCCESS);
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
    add<<<1, 32, 0, stream>>>(p, 2);
    EXPECT(cudaGetFuncBySymbol(&function, (const void *)add) == cudaSuccess);
    void *arguments[] = {&p, &value};
    EXPECT(cuLaunchKernel((CUfunction)function, 1, 1, 1, 32, 1, 1, 0, (CUstream)stream, arguments, nullptr) ==
           CUDA_SUCCESS);
    EXPECT(cuStreamSynchronize((CUstream)stream) == CUDA_SUCCESS);
    EXPECT(cudaMemcpy((void *)q, p, sizeof host, cudaMemcpyDeviceToDevice) == cudaSuccess);
    EXPECT(cuMemcpyDtoH(host, q, sizeof host) == CUDA_SUCCESS);
    for (int n = 0; n < 32; n++) EXPECT(host[n] == 8);
    EXPECT(cuMemFree((CUdeviceptr)p) == CUDA_SUCCESS && cudaFree((void *)q) == cudaSuccess);
    EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &found) ==
           cudaSuccess);
    EXPECT(found == cudaDriverEntryPointSuccess && entry == (void *)cuMemAlloc);
    puts("PASS");
    return 0;
}
