// printf in kernels, mixed with the host's.
#include "check.h"

__global__ void hello(const char *what, float x) {
    if (threadIdx.x % 16 == 3) printf("thread %d of block %u: %s %5.2f %c %lld %%\n", threadIdx.x, blockIdx.x, "x", x, 'c', 1LL << 40);
    if (threadIdx.x == 0 && what) printf("%p\n", what);
}

int main() {
    printf("before\n");
    hello<<<2, 32>>>(nullptr, 1.5f);
    CHECK(cudaDeviceSynchronize());
    printf("after\n");
    return pass();
}
