// Device properties, attributes, limits, error names, versions.
#include "check.h"
#include <cstring>

int main(int argc, char **argv) {
    int n = 0, v = 0;
    CHECK(cudaGetDeviceCount(&n));
    EXPECT(n == 1);
    CHECK(cudaSetDevice(0));
    EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetDevice(&v));
    cudaDeviceProp p;
    memset(&p, 0x55, sizeof p);
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(strstr(p.name, argc > 1 ? argv[1] : "v100"));
    EXPECT(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.totalGlobalMem > (1u << 30));
    EXPECT(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 2147483647);
    EXPECT(p.unifiedAddressing == 1 && p.concurrentKernels == 1 && p.managedMemory == 1 && p.ECCEnabled == 0);
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(v == p.multiProcessorCount && v > 0);
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(v == p.major);
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT((size_t)v == p.sharedMemPerBlockOptin);
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrClockRate, 0));
    EXPECT(v > 100000);
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrMaxBlocksPerMultiprocessor, 0));
    EXPECT(v == p.maxBlocksPerMultiProcessor && p.l2CacheSize > 0 && p.memoryBusWidth > 0);
    EXPECT(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0) == cudaErrorInvalidValue);
    printf("%s: %d SMs, capability %d.%d\n", p.name, p.multiProcessorCount, p.major, p.minor);
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    EXPECT(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    CHECK(cudaRuntimeGetVersion(&v));
    EXPECT(v / 1000 == CUDART_VERSION / 1000);
    CHECK(cudaDriverGetVersion(&n));
    EXPECT(n >= v);
    size_t free_bytes, total, after, bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(total == p.totalGlobalMem && free_bytes <= total);
    void *q;
    CHECK(cudaMalloc(&q, 1 << 20));
    CHECK(cudaMemGetInfo(&after, &total));
    EXPECT(after + (1 << 20) <= free_bytes);
    EXPECT(cudaMalloc(&q, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    EXPECT(bytes == 32 << 20);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    char id[32];
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    return pass();
}
