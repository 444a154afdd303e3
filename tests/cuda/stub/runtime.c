/* runtime.c: stands for a CUDA runtime that is linked into a program. It has the functions that host.c calls,
 * and those by which versions are told apart (-DVERSION=11, 12 or 13). None of them may be reached. */
#include <stdio.h>
#include <stdlib.h>

static long not_replaced(const char *name) {
    fprintf(stderr, "the program's own %s was called\n", name);
    _Exit(99);
}

#define F(name)                                                                                                \
    long name(void) {                                                                                          \
        return not_replaced(#name);                                                                            \
    }
/* clang-format off */
F(__cudaRegisterFatBinary) F(__cudaRegisterFatBinaryEnd) F(__cudaUnregisterFatBinary) F(__cudaRegisterFunction)
F(__cudaRegisterVar) F(__cudaPushCallConfiguration) F(__cudaPopCallConfiguration) F(cudaLaunchKernel) F(cudaMalloc)
F(cudaMemcpy) F(cudaMemcpyToSymbol) F(cudaMemcpyFromSymbol) F(cudaDeviceSynchronize) F(cudaGetLastError)
F(cudaGetDeviceProperties) F(cudaRuntimeGetVersion) F(cudaDeviceSetLimit) F(cudaMallocManaged) F(cudaMallocHost)
F(cudaIpcGetMemHandle)
#if VERSION < 13
F(cudaThreadSynchronize)
#endif
#if VERSION == 12
F(cudaGetDeviceProperties_v2)
#endif
