// Newer instructions: redux, cp.async, mbarrier, wmma, mma, ldmatrix.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <vector>
using namespace nvcuda;

template <typename In, typename Acc, int M, int N, int K, typename LA, typename LB>
__global__ void tile(const In *a, const In *b, Acc *c, bool row) {
    wmma::fragment<wmma::matrix_a, M, N, K, In, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Acc> fc;
    wmma::fill_fragment(fc, (Acc)1);
    wmma::load_matrix_sync(fa, a, std::is_same<LA, wmma::row_major>::value ? K : M);
    wmma::load_matrix_sync(fb, b, std::is_same<LB, wmma::row_major>::value ? N : K);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] * (Acc)2;
    if (row) wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
    else wmma::store_matrix_sync(c, fc, M, wmma::mem_col_major);
}

template <typename In, typename Acc, int M, int N, int K, typename LA, typename LB> void try_tile(bool row) {
    std::vector<In> a(M * K), b(K * N);
    std::vector<Acc> c(M * N);
    auto va = [](int r, int k) { return (float)((r * 3 + k * 5) % 7); };
    auto vb = [](int k, int n) { return (float)((k + n * 2) % 5); };
    bool ra = std::is_same<LA, wmma::row_major>::value, rb = std::is_same<LB, wmma::row_major>::value;
    for (int r = 0; r < M; r++)
        for (int k = 0; k < K; k++) a[ra ? r * K + k : k * M + r] = (In)va(r, k);
    for (int k = 0; k < K; k++)
        for (int n = 0; n < N; n++) b[rb ? k * N + n : n * K + k] = (In)vb(k, n);
    In *da, *db;
    Acc *dc;
    CHECK(cudaMalloc(&da, a.size() * sizeof(In)));
    CHECK(cudaMalloc(&db, b.size() * sizeof(In)));
    CHECK(cudaMalloc(&dc, c.size() * sizeof(Acc)));
    CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(In), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(In), cudaMemcpyHostToDevice));
    tile<In, Acc, M, N, K, LA, LB><<<1, 32>>>(da, db, dc, row);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(Acc), cudaMemcpyDeviceToHost));
    for (int r = 0; r < M; r++)
        for (int n = 0; n < N; n++) {
            float sum = 1;
            for (int k = 0; k < K; k++) sum += va(r, k) * vb(k, n);
            EXPECT((float)c[row ? r * N + n : n * M + r] == 2 * sum);
        }
}

// One m16n8k16 of f16 with ldmatrix: A row-major, B as rows of its transpose.
__global__ void mma_f16(const half *a, const half *b, float *c) {
    __shared__ alignas(16) half sa[16][16], sb[8][16];
    int l = threadIdx.x;
    for (int i = l; i < 256; i += 32) sa[i / 16][i % 16] = a[i];
    for (int i = l; i < 128; i += 32) sb[i / 16][i % 16] = b[i];
    __syncthreads();
    unsigned ra[4], rb[2], pa = (unsigned)__cvta_generic_to_shared(&sa[l % 16][8 * (l / 16)]);
    unsigned pb = (unsigned)__cvta_generic_to_shared(&sb[l % 8][8 * (l / 8 % 2)]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++) c[(l / 4 + (i >= 2) * 8) * 8 + l % 4 * 2 + i % 2] = d[i];
}

// m16n8k32 of s8, registers filled from the layouts of the PTX ISA.
__global__ void mma_s8(const signed char *a, const signed char *b, int *c) {
    int l = threadIdx.x, d[4] = {0, 0, 0, 0};
    unsigned ra[4], rb[2];
    for (int r = 0; r < 4; r++) ra[r] = *(const unsigned *)&a[(l / 4 + r % 2 * 8) * 32 + l % 4 * 4 + r / 2 * 16];
    for (int r = 0; r < 2; r++) rb[r] = *(const unsigned *)&b[l / 4 * 32 + l % 4 * 4 + r * 16];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++) c[(l / 4 + (i >= 2) * 8) * 8 + l % 4 * 2 + i % 2] = d[i];
}

__global__ void reduce(const int *p, int *sum, int *most, unsigned *bits) {
    int v = p[blockIdx.x * blockDim.x + threadIdx.x];
    int s = __reduce_add_sync(~0u, v), m = __reduce_max_sync(~0u, v);
    unsigned o = __reduce_or_sync(~0u, (unsigned)v);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sum, s);
        atomicMax(most, m);
        atomicOr(bits, o);
    }
}

__global__ void votes(int *out, unsigned members) {
    int p = threadIdx.x < 10;
    out[threadIdx.x] = __any_sync(members, p) + 2 * __all_sync(members, p) + 4 * (__ballot_sync(members, p) == 0x3ff);
}

__global__ void staged(const float4 *in, float *out, int n) {
    __shared__ float4 buffer[2][64];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(float4));
    __pipeline_commit();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) __pipeline_memcpy_async(&buffer[(k + 1) & 1][t], &in[(k + 1) * 64 + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = buffer[k & 1][63 - t];
        sum += v.x + v.y + v.z + v.w;
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void barrier(int *out) {
    __shared__ alignas(8) unsigned long long b;
    __shared__ int seen;
    unsigned at = (unsigned)__cvta_generic_to_shared(&b), done = 0;
    if (threadIdx.x == 0) {
        seen = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x));
    }
    __syncthreads();
    atomicAdd(&seen, 1);
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(at), "l"(state) : "memory");
    out[threadIdx.x] = seen;
}

int main() {
    using R = wmma::row_major;
    using C = wmma::col_major;
    try_tile<half, float, 16, 16, 16, R, C>(true);
    try_tile<half, float, 16, 16, 16, C, R>(false);
    try_tile<half, half, 32, 8, 16, R, R>(true);
    try_tile<half, float, 8, 32, 16, C, C>(false);
    try_tile<__nv_bfloat16, float, 16, 16, 16, R, R>(true);
    try_tile<signed char, int, 16, 16, 16, R, C>(true);
    try_tile<unsigned char, int, 8, 32, 16, R, C>(false);
    try_tile<double, double, 8, 8, 4, R, C>(true);
    half *a, *b;
    signed char *sa, *sb;
    float *c;
    int *ic;
    CHECK(cudaMallocManaged(&a, 512));
    CHECK(cudaMallocManaged(&b, 256));
    CHECK(cudaMallocManaged(&sa, 512));
    CHECK(cudaMallocManaged(&sb, 256));
    CHECK(cudaMallocManaged(&c, 512));
    CHECK(cudaMallocManaged(&ic, 512));
    for (int i = 0; i < 512; i++) {
        if (i < 256) a[i] = (float)(i * 7 % 11);
        if (i < 128) b[i] = (float)(i * 5 % 9);
        sa[i] = (signed char)(i * 13 % 23 - 11);
        if (i < 256) sb[i] = (signed char)(i * 3 % 17 - 8);
    }
    mma_f16<<<1, 32>>>(a, b, c);
    mma_s8<<<1, 32>>>(sa, sb, ic);
    CHECK(cudaDeviceSynchronize());
    for (int r = 0; r < 16; r++)
        for (int n = 0; n < 8; n++) {
            float sum = 0;
            int isum = 0;
            for (int k = 0; k < 16; k++) sum += (float)a[r * 16 + k] * (float)b[n * 16 + k];
            for (int k = 0; k < 32; k++) isum += sa[r * 32 + k] * sb[n * 32 + k];
            EXPECT(c[r * 8 + n] == sum && ic[r * 8 + n] == isum);
        }
    int *p, *result, sum = 0, most = 0, bits = 0;
    CHECK(cudaMallocManaged(&p, 128 * 4));
    CHECK(cudaMallocManaged(&result, 128 * 4));
    for (int i = 0; i < 128; i++) sum += p[i] = i * 37 % 101, most = std::max(most, p[i]), bits |= p[i];
    reduce<<<2, 64>>>(p, result, result + 1, (unsigned *)result + 2);
    CHECK(cudaDeviceSynchronize());
    EXPECT(result[0] == sum && result[1] == most && result[2] == bits);
    votes<<<1, 32>>>(result, ~0u);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 32; t++) EXPECT(result[t] == 5);
    float4 *in;
    float *out;
    CHECK(cudaMallocManaged(&in, 5 * 64 * sizeof *in));
    CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
    for (int i = 0; i < 5 * 64; i++) in[i] = make_float4(i, 1, 2, 3);
    staged<<<1, 64>>>(in, out, 5);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 64; t++) EXPECT(out[t] == 5 * 6 + 5 * (63 - t) + 64 * 10);
    barrier<<<1, 96>>>(result);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 96; t++) EXPECT(result[t] == 96);
    return pass();
}
