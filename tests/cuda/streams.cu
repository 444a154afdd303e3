// Streams, asynchronous copies, events, callbacks, stream-ordered allocation.
#include "check.h"

__global__ void increment(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
}
static void CUDART_CB note(cudaStream_t, cudaError_t status, void *data) {
    if (status == cudaSuccess) ++*(int *)data;
}
static void CUDART_CB host(void *data) {
    *(int *)data += 10;
}

int main() {
    const int parts = 4, n = 1024;
    int *h, *d, called = 0, least, greatest;
    cudaStream_t s[parts];
    cudaEvent_t begin, end, quiet;
    CHECK(cudaMallocHost(&h, parts * n * sizeof *h));
    CHECK(cudaMalloc(&d, parts * n * sizeof *d));
    for (int i = 0; i < parts * n; i++) h[i] = i;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    for (int k = 0; k < parts; k++)
        CHECK(k == 0 ? cudaStreamCreate(&s[k]) : k == 1 ? cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking)
                                                        : cudaStreamCreateWithPriority(&s[k], 0, greatest));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming));
    float ms;
    EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(begin, s[0]));
    for (int k = 0; k < parts; k++) {
        CHECK(cudaMemcpyAsync(d + k * n, h + k * n, n * 4, cudaMemcpyHostToDevice, s[k]));
        increment<<<n / 128, 128, 0, s[k]>>>(d + k * n, n, k + 1);
        CHECK(cudaMemcpyAsync(h + k * n, d + k * n, n * 4, cudaMemcpyDeviceToHost, s[k]));
        CHECK(cudaStreamAddCallback(s[k], note, &called, 0));
    }
    CHECK(cudaLaunchHostFunc(s[2], host, &called));
    CHECK(cudaEventRecord(quiet, s[1]));
    CHECK(cudaStreamWaitEvent(s[2], quiet, 0));
    CHECK(cudaEventRecord(end, s[0]));
    for (int k = 0; k < parts; k++) CHECK(cudaStreamSynchronize(s[k]));
    CHECK(cudaStreamQuery(s[0]));
    CHECK(cudaEventQuery(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms > 0 && called == parts + 10);
    for (int i = 0; i < parts * n; i++) EXPECT(h[i] == i + i / n + 1);
    int *a;
    CHECK(cudaMallocAsync(&a, 400, s[0]));
    CHECK(cudaMemsetAsync(a, 0, 400, s[0]));
    increment<<<1, 128, 0, s[0]>>>(a, 100, 9);
    CHECK(cudaMemcpyAsync(h, a, 400, cudaMemcpyDeviceToHost, s[0]));
    CHECK(cudaFreeAsync(a, s[0]));
    CHECK(cudaStreamSynchronize(s[0]));
    EXPECT(h[99] == 9);
    for (int k = 0; k < parts; k++) CHECK(cudaStreamDestroy(s[k]));
    EXPECT(cudaStreamSynchronize(s[0]) == cudaErrorInvalidResourceHandle);
    // What is not there says so and does no harm.
    cudaIpcMemHandle_t handle;
    EXPECT(cudaIpcGetMemHandle(&handle, h) == cudaErrorNotSupported);
    EXPECT(cudaIpcGetMemHandle(&handle, h) == cudaErrorNotSupported);
    EXPECT(cudaGetLastError() == cudaErrorNotSupported);
    return pass();
}
