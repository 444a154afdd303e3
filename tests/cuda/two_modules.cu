// Kernels of two translation units, templates, structs and many kinds of parameters, function pointers.
#include "check.h"

int launch_other(int *p); // two_modules_other.cu

struct odd {
    char a;
    short b;
    double c;
    float3 d;
};

template <typename T, int N> __global__ void fill(T *p, T base) {
    p[threadIdx.x] = base + (T)(N * threadIdx.x);
}
template <typename Op> __global__ void apply(int *p, Op op) {
    p[threadIdx.x] = op(p[threadIdx.x]);
}
struct plus {
    int by;
    __device__ int operator()(int x) const { return x + by; }
};
__device__ int square(int x) { return x * x; }
__device__ int negate(int x) { return -x; }
__device__ int (*const operation[2])(int) = {square, negate};

__global__ void many(char a, odd o, short b, const int *p, bool flag, double c, unsigned long long d, float *out) {
    out[0] = a + b + p[2] + c + (float)d + (flag ? o.c : 0) + o.d.z + o.a + o.b;
}
__global__ void through(int *p, int which) {
    p[threadIdx.x] = operation[which](p[threadIdx.x]);
}
namespace inner {
__global__ void none() {}
}

int main() {
    int *p, h[32];
    double *d, hd[32];
    float *f, hf;
    CHECK(cudaMalloc(&p, sizeof h));
    CHECK(cudaMalloc(&d, sizeof hd));
    CHECK(cudaMalloc(&f, 4));
    fill<int, 3><<<1, 32>>>(p, 5);
    fill<double, 2><<<1, 32>>>(d, 0.5);
    apply<<<1, 32>>>(p, plus{7});
    CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hd, d, sizeof hd, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == 12 + 3 * i && hd[i] == 0.5 + 2 * i);
    odd o = {1, 2, 3.5, make_float3(4, 5, 6)};
    many<<<1, 1>>>(10, o, 20, p, true, 0.25, 1000, f);
    CHECK(cudaMemcpy(&hf, f, 4, cudaMemcpyDeviceToHost));
    EXPECT(hf == 10 + 20 + 18 + 0.25f + 1000 + 3.5f + 6 + 1 + 2);
    through<<<1, 32>>>(p, 0);
    through<<<1, 32>>>(p, 1);
    inner::none<<<2, 3>>>();
    CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == -(12 + 3 * i) * (12 + 3 * i));
    EXPECT(launch_other(p) == 31 * 32 / 2);
    void (*kernel)(int *, int) = through;
    kernel<<<1, 32>>>(p, 1);
    CHECK(cudaDeviceSynchronize());
    return pass();
}
