// deadlock.cu: a thread of each CTA polls a flag that nobody sets; the others wait for it at a barrier.
#include <cstdio>

__global__ void wait_for_ever(volatile int *flag, int *out) {
    if (threadIdx.x == 0)
        while (*flag == 0) {
        }
    __syncthreads();
    out[blockIdx.x] = 1;
}

int main() {
    int *p;
    if (cudaMalloc(&p, 64) != cudaSuccess || cudaMemset(p, 0, 64) != cudaSuccess) return 1;
    wait_for_ever<<<4, 64>>>(p, p + 1);
    if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) return 2;
    puts("PASS");
    return 0;
}
