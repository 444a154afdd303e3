// A failing assert: the launch's error is sticky, and the program sees it.
#include "check.h"
#include <cassert>

__global__ void picky(int limit) {
    assert((int)threadIdx.x < limit);
}

int main() {
    picky<<<1, 32>>>(32);
    CHECK(cudaDeviceSynchronize());
    picky<<<1, 33>>>(32);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    void *p;
    EXPECT(cudaMalloc(&p, 4) == cudaErrorAssert);
    return pass();
}
