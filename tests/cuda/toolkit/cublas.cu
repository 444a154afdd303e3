// cublas.cu: products of matrices by cuBLAS, compared with plain ones. All values are small integers.
#include <cmath>
#include <cstdio>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <vector>

enum { N = 96 };

static float value_a(int n) {
    return (float)(n % 7 - 3);
}
static float value_b(int n) {
    return (float)(n % 5 - 2);
}

static bool multiply(cublasHandle_t h, const float *a, const float *b, float *c) {
    float one = 1, zero = 0;
    return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N) == CUBLAS_STATUS_SUCCESS;
}
static bool multiply(cublasHandle_t h, const __half *a, const __half *b, __half *c) {
    __half one = __float2half(1), zero = __float2half(0);
    return cublasHgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N) == CUBLAS_STATUS_SUCCESS;
}

template <typename T> static bool check(cublasHandle_t h) {
    std::vector<T> a(N * N), b(N * N), c(N * N);
    T *p;
    for (int n = 0; n < N * N; n++) a[n] = (T)value_a(n), b[n] = (T)value_b(n);
    size_t bytes = N * N * sizeof(T);
    if (cudaMalloc(&p, 3 * bytes) != cudaSuccess) return false;
    cudaMemcpy(p, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(p + N * N, b.data(), bytes, cudaMemcpyHostToDevice);
    if (!multiply(h, p, p + N * N, p + 2 * N * N)) return false;
    if (cudaMemcpy(c.data(), p + 2 * N * N, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++) sum += value_a(i + k * N) * value_b(k + j * N);
            if (sum != (float)c[i + j * N]) return false;
        }
    return true;
}

int main() {
    cublasHandle_t h;
    if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return 1;
    if (!check<float>(h)) return 2;
    if (!check<__half>(h)) return 3;
    puts("PASS");
    return 0;
}
