/* gemm_tcgen05: C = A B^T in tensor memory, for sm_100a. A is m x k, B n x k, both by rows: halves or bytes of floats
 * (e4m3), with sums in single precision and a C of halves. A CTA has 128 x COLUMNS of C. One thread fetches slices of 128
 * bytes of k by tensor maps into stages, another asks for the products, and four warps take the sums from tensor memory. */
#include "ww_blackwell.h"

#define ROWS 128
#define SLICE 128 /* bytes of a row in a stage */
#define STAGES 4
#define THREADS 192

template <int COLUMNS>
static __device__ __forceinline__ void produce(const void *a, const void *b, unsigned base, unsigned full, unsigned empty,
                                               unsigned steps, unsigned slice) {
    const unsigned stage_bytes = (ROWS + COLUMNS) * SLICE;
    for (unsigned s = 0; s < steps; s++) {
        unsigned at = s % STAGES, to = base + at * stage_bytes;
        if (s >= STAGES) ww_barrier_wait(empty + 8 * at, (s / STAGES + 1) % 2);
        ww_barrier_expect(full + 8 * at, stage_bytes);
        ww_box(to, a, s * slice, blockIdx.y * ROWS, full + 8 * at);
        ww_box(to + ROWS * SLICE, b, s * slice, blockIdx.x * COLUMNS, full + 8 * at);
    }
}

/* A stage may be filled again when the products of it are done, and `done` is told when all are. */
template <int COLUMNS, bool FP8>
static __device__ __forceinline__ void multiply(unsigned sums, unsigned base, unsigned full, unsigned empty, unsigned done,
                                                unsigned steps) {
    const unsigned stage_bytes = (ROWS + COLUMNS) * SLICE, shape = ww_tensor_shape(ROWS, COLUMNS);
    for (unsigned s = 0; s < steps; s++) {
        unsigned at = s % STAGES, a = base + at * stage_bytes, b = a + ROWS * SLICE;
        ww_barrier_wait(full + 8 * at, s / STAGES % 2);
        ww_tensor_after();
#pragma unroll
        for (unsigned i = 0; i < SLICE / 32; i++) {
            unsigned long ma = ww_tensor_matrix(a + 32 * i), mb = ww_tensor_matrix(b + 32 * i);
            if (FP8)
                ww_tensor_fp8(sums, ma, mb, shape, s + i > 0);
            else
                ww_tensor_half(sums, ma, mb, shape, s + i > 0);
        }
        ww_tensor_commit(empty + 8 * at);
    }
    ww_tensor_commit(done);
}

/* A thread has a row: 32 columns at a time. */
template <int COLUMNS>
static __device__ __forceinline__ void write(unsigned short *c, unsigned n, unsigned sums, unsigned done) {
    unsigned warp = threadIdx.x / 32;
    uint4 *row = (uint4 *)(c + (unsigned long)(blockIdx.y * ROWS + threadIdx.x) * n + blockIdx.x * COLUMNS);
    ww_barrier_wait(done, 0);
    ww_tensor_after();
#pragma unroll 1
    for (unsigned x = 0; x < COLUMNS; x += 32) {
        float v[32];
        ww_tensor_load(v, sums + (32 * warp << 16) + x);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint4 u;
            u.x = ww_pack_half(v[8 * i], v[8 * i + 1]), u.y = ww_pack_half(v[8 * i + 2], v[8 * i + 3]);
            u.z = ww_pack_half(v[8 * i + 4], v[8 * i + 5]), u.w = ww_pack_half(v[8 * i + 6], v[8 * i + 7]);
            row[x / 8 + i] = u;
        }
    }
    ww_tensor_before();
}

/* steps: slices of k; slice: its elements. */
template <int COLUMNS, bool FP8>
static __device__ __forceinline__ void product(const void *a, const void *b, unsigned short *c, unsigned n, unsigned steps) {
#ifdef WW_BLACKWELL
    extern __shared__ __attribute__((aligned(1024))) char memory[];
    __shared__ unsigned long full[STAGES], empty[STAGES], done;
    __shared__ unsigned place;
    unsigned base = (ww_shared(memory) + 1023) / 1024 * 1024, f = ww_shared(full), e = ww_shared(empty), d = ww_shared(&done);
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            ww_barrier_make(f + 8 * s, 1);
            ww_barrier_make(e + 8 * s, 1);
        }
        ww_barrier_make(d, 1);
    }
    ww_barrier_made();
    if (warp == 5) ww_tensor_take<COLUMNS>(ww_shared(&place));
    __syncthreads();
    ww_tensor_after();
    unsigned sums = *(volatile unsigned *)&place;
    if (warp == 4) {
        if (threadIdx.x % 32 == 0) produce<COLUMNS>(a, b, base, f, e, steps, FP8 ? SLICE : SLICE / 2);
    } else if (warp == 5) {
        if (threadIdx.x % 32 == 0) multiply<COLUMNS, FP8>(sums, base, f, e, d, steps);
    } else {
        write<COLUMNS>(c, n, sums, d);
    }
    __syncthreads();
    if (warp == 5) ww_tensor_give<COLUMNS>(sums);
#endif
}

#define KERNEL(name, columns, fp8)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                      \
        name(const void *a, const void *b, unsigned short *c, unsigned n, unsigned steps) {                    \
        product<columns, fp8>(a, b, c, n, steps);                                                              \
    }
KERNEL(gemm_tcgen05_half_128, 128, false)
KERNEL(gemm_tcgen05_half_256, 256, false)
KERNEL(gemm_tcgen05_fp8_128, 128, true)
KERNEL(gemm_tcgen05_fp8_256, 256, true)
