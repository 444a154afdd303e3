// Constant memory and device variables by symbol.
#include "check.h"

__constant__ float coefficient[8];
__constant__ struct { int base, step; } walk = {100, 7};
__device__ int counter = 5;
__device__ double table[16];
static __device__ unsigned hidden;

__global__ void use(float *out) {
    int i = threadIdx.x;
    out[i] = coefficient[i & 7] * (walk.base + walk.step * i);
    table[i & 15] = 0.5 * i;
    atomicAdd(&counter, 1);
    if (i == 3) hidden = 77;
}

int main() {
    float h[8], *out, got[64];
    for (int i = 0; i < 8; i++) h[i] = i + 0.25f;
    CHECK(cudaMemcpyToSymbol(coefficient, h, sizeof h));
    float last = 99;
    CHECK(cudaMemcpyToSymbol(coefficient, &last, sizeof last, 7 * sizeof(float)));
    EXPECT(cudaMemcpyToSymbol(coefficient, h, sizeof h, 4) == cudaErrorInvalidValue);
    CHECK(cudaMalloc(&out, sizeof got));
    use<<<1, 64>>>(out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(got[i] == ((i & 7) == 7 ? 99 : (i & 7) + 0.25f) * (100 + 7 * i));
    int n;
    CHECK(cudaMemcpyFromSymbol(&n, counter, sizeof n));
    EXPECT(n == 69);
    unsigned u;
    CHECK(cudaMemcpyFromSymbol(&u, hidden, sizeof u));
    EXPECT(u == 77);
    double t;
    CHECK(cudaMemcpyFromSymbol(&t, table, sizeof t, 5 * sizeof t, cudaMemcpyDeviceToHost));
    EXPECT(t == 0.5 * 53);
    void *address;
    size_t size;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&size, table));
    EXPECT(size == sizeof(double) * 16);
    CHECK(cudaMemset(address, 0, size));
    CHECK(cudaMemcpyFromSymbol(&t, table, sizeof t, 8));
    EXPECT(t == 0);
    CHECK(cudaGetSymbolAddress(&address, coefficient));
    CHECK(cudaMemcpy(&last, (char *)address + 4, 4, cudaMemcpyDeviceToHost));
    EXPECT(last == 1.25f);
    EXPECT(cudaMemcpyToSymbol(&n, &n, 4) == cudaErrorInvalidSymbol);
    return pass();
}
