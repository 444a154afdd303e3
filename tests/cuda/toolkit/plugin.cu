// plugin.cu: a program (-DHOST) that opens a library with kernels; each has a CUDA runtime of its own.
#include <cstdio>
#include <dlfcn.h>

#ifdef HOST
__global__ void in_host(int *p) {
    *p = 20;
}

int main() {
    int *p, v = 0;
    if (cudaMalloc(&p, sizeof *p) != cudaSuccess) return 1;
    in_host<<<1, 1>>>(p);
    void *library = dlopen("./plugin.so", RTLD_NOW);
    void (*add)(int *) = library ? (void (*)(int *))dlsym(library, "add_in_plugin") : NULL;
    if (!add) return 2;
    add(p);
    if (cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost) != cudaSuccess || v != 22) return 3;
    puts("PASS");
    return 0;
}
#else
__global__ void in_plugin(int *p) {
    *p += 2;
}

extern "C" void add_in_plugin(int *p) {
    in_plugin<<<1, 1>>>(p);
}
#endif
