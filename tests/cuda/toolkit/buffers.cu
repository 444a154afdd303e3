// Buffers that are copied to the device, worked on and copied back: by one stream, or ("2") by two that take turns.
#include <cstdio>
#include <cstdlib>

__global__ void work(float *p, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float x = p[at];
    for (int i = 0; i < n; i++) x = x * 0.5f + 1.0f;
    p[at] = x;
}

int main(int argc, char **argv) {
    const int buffers = 8, ctas = 216, threads = 128, n = ctas * threads, streams = argc > 1 ? atoi(argv[1]) : 1;
    float *h, *d[2];
    cudaStream_t s[2];
    int bad = 0;
    bad |= cudaMallocHost(&h, buffers * n * sizeof *h);
    for (int k = 0; k < 2; k++) bad |= cudaMalloc(&d[k], n * sizeof *d[k]) | cudaStreamCreate(&s[k]);
    for (int i = 0; i < buffers * n; i++) h[i] = 2;
    for (int i = 0; i < buffers; i++) {
        int k = i % streams;
        bad |= cudaMemcpyAsync(d[k], h + i * n, n * sizeof *h, cudaMemcpyHostToDevice, s[k]);
        work<<<ctas, threads, 0, s[k]>>>(d[k], 700);
        bad |= cudaMemcpyAsync(h + i * n, d[k], n * sizeof *h, cudaMemcpyDeviceToHost, s[k]);
    }
    bad |= cudaDeviceSynchronize();
    for (int i = 0; i < buffers * n; i++) bad |= h[i] != 2;
    puts(bad ? "failed" : "PASS");
    return bad != 0;
}
