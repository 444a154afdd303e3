// cta_start KERNEL WAVES CTAS_PER_SM [THREADS]: one launch of CTAs of 32 threads, or THREADS, each of which touches a double per thread and
// array, WAVES CTAs for each place. Shared memory limits an SM to CTAS_PER_SM of them. KERNEL: 0 a store, 1 a load,
// 2 a load and a store, 3 two loads and a store, 4 three loads and a store. The arrays are not set, so that the L2 has
// none of their lines.
#include <stdio.h>
#include <stdlib.h>

#define KERNEL(name) __global__ void name(double *a, const double *b, const double *c, const double *d, size_t n)
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
KERNEL(store) {
    if (AT < n) a[AT] = 1;
}
KERNEL(load) {
    if (AT < n && b[AT] == 1.2) a[AT] = 1; // never: new memory is zero
}
KERNEL(load_store) {
    if (AT < n) a[AT] = b[AT];
}
KERNEL(two_loads) {
    if (AT < n) a[AT] = b[AT] + c[AT];
}
KERNEL(three_loads) {
    if (AT < n) a[AT] = b[AT] + c[AT] * d[AT];
}

int main(int count, char **word) {
    void (*const kernel[])(double *, const double *, const double *, const double *, size_t) = {store, load, load_store, two_loads,
                                                                                               three_loads};
    if (count != 4 && count != 5) return 2;
    int k = atoi(word[1]), waves = atoi(word[2]), places = atoi(word[3]), sms = 0, shared = 0;
    int threads = count == 5 ? atoi(word[4]) : 32;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    double *array[4];
    size_t bytes = sizeof(double) * threads * sms * places * waves;
    for (int i = 0; i < 4; i++)
        if (cudaMalloc((void **)&array[i], bytes) != cudaSuccess) return 1;
    int own = (shared - 1024 * places) / places / 1024 * 1024;
    cudaError_t code = cudaFuncSetAttribute((const void *)kernel[k], cudaFuncAttributeMaxDynamicSharedMemorySize, own);
    if (code == cudaSuccess) {
        kernel[k]<<<sms * places * waves, threads, own>>>(array[0], array[1], array[2], array[3], bytes / sizeof(double));
        code = cudaDeviceSynchronize();
    }
    if (code != cudaSuccess) fprintf(stderr, "cta_start: %s\n", cudaGetErrorString(code));
    return code != cudaSuccess;
}
