/* nvrtc.c: a program that compiles its kernel with NVRTC, to PTX or to machine code, and launches it with
 * cuLaunchKernelEx, as launchers of just-in-time compilers do.
 *
 * usage: nvrtc ARCHITECTURE: compute_80 (PTX), sm_80 (machine code) */
#include "../expect.h"
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "extern \"C\" __global__ void twice(float *p, int n) {\n"
                             "    __shared__ float s[128];\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    s[threadIdx.x] = i < n ? p[i] : 0;\n"
                             "    __syncthreads();\n"
                             "    if (i < n) p[i] = 2 * s[threadIdx.x];\n"
                             "}\n";

static char *compile(const char *architecture) {
    char option[64];
    const char *options[] = {option};
    nvrtcProgram program;
    size_t n;
    snprintf(option, sizeof option, "-arch=%s", architecture);
    EXPECT(nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL) == 0);
    EXPECT(nvrtcCompileProgram(program, 1, options) == 0);
    int machine = strncmp(architecture, "sm_", 3) == 0;
    EXPECT((machine ? nvrtcGetCUBINSize(program, &n) : nvrtcGetPTXSize(program, &n)) == 0);
    char *image = malloc(n);
    EXPECT(image && (machine ? nvrtcGetCUBIN(program, image) : nvrtcGetPTX(program, image)) == 0);
    EXPECT(nvrtcDestroyProgram(&program) == 0);
    return image;
}

enum { N = 1000 };

int main(int argc, char **argv) {
    static float host[N];
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    int n = N;
    char *image = compile(argc > 1 ? argv[1] : "compute_80");
    EXPECT(cuInit(0) == 0 && cuDeviceGet(&device, 0) == 0);
    EXPECT(cuDevicePrimaryCtxRetain(&context, device) == 0 && cuCtxSetCurrent(context) == 0);
    EXPECT(cuModuleLoadData(&module, image) == 0);
    free(image);
    EXPECT(cuModuleGetFunction(&function, module, "twice") == 0);
    EXPECT(cuMemAlloc(&p, sizeof host) == 0);
    for (int i = 0; i < N; i++) host[i] = (float)i;
    EXPECT(cuMemcpyHtoD(p, host, sizeof host) == 0);
    void *arguments[] = {&p, &n};
    CUlaunchConfig config = {
        .gridDimX = 8, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1};
    EXPECT(cuLaunchKernelEx(&config, function, arguments, NULL) == 0);
    EXPECT(cuCtxSynchronize() == 0 && cuMemcpyDtoH(host, p, sizeof host) == 0);
    for (int i = 0; i < N; i++) EXPECT(host[i] == (float)(2 * i));
    puts("PASS");
    return 0;
}
