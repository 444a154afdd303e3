/* gemm_wgmma: C = A B^T by wgmma, for sm_90a. A is m x k, B n x k, both by rows: halves or bytes of floats (e4m3), with sums
 * in single precision and a C of halves. A CTA has 128 x COLUMNS of C: two warpgroups have 64 rows each, and one warp
 * fetches slices of 128 bytes of k by tensor maps into four stages. Barriers say that a stage is full, or empty.
 * Where CTAs of a cluster, one above the other, share B, each fetches a part of it for all of them. */
#include "ww_hopper.h"

#define ROWS 128
#define SLICE 128 /* bytes of a row in a stage */
#define STAGES 4
#define THREADS 288

/* The warp that fetches: one of its threads. */
template <int COLUMNS, bool SHARED>
static __device__ __forceinline__ void produce(const void *a, const void *b, unsigned base, unsigned full, unsigned empty,
                                               unsigned steps, unsigned slice) {
    const unsigned stage_bytes = (ROWS + COLUMNS) * SLICE;
    for (unsigned s = 0; s < steps; s++) {
        unsigned at = s % STAGES, to = base + at * stage_bytes;
        if (s >= STAGES) ww_barrier_wait(empty + 8 * at, (s / STAGES + 1) % 2);
        ww_barrier_expect(full + 8 * at, stage_bytes);
        ww_box(to, a, s * slice, blockIdx.y * ROWS, full + 8 * at);
        if (SHARED) {
            unsigned part = COLUMNS / ww_cluster_size() * ww_cluster_rank();
            ww_box_for(to + (ROWS + part) * SLICE, b, s * slice, blockIdx.x * COLUMNS + part, full + 8 * at,
                       (unsigned short)((1u << ww_cluster_size()) - 1));
        } else {
            ww_box(to + ROWS * SLICE, b, s * slice, blockIdx.x * COLUMNS, full + 8 * at);
        }
    }
}

/* Of two groups of 8 columns side by side a thread has 2 of each; neighbours exchange, so that four threads write 32
 * bytes. */
static __device__ __forceinline__ void store(unsigned short *c, const float *left, const float *right) {
    unsigned l = ww_pack_half(left[0], left[1]), r = ww_pack_half(right[0], right[1]), odd = threadIdx.x % 2;
    unsigned got = (unsigned)__shfl_xor_sync(0xffffffffu, (int)(odd ? l : r), 1);
    uint2 pair;
    pair.x = odd ? got : l, pair.y = odd ? r : got;
    *(uint2 *)&c[odd * 8 + threadIdx.x % 4 / 2 * 4] = pair;
}

/* The warpgroup has multiplied what is in a stage: all CTAs that write to it are told. */
template <bool SHARED> static __device__ __forceinline__ void release(unsigned empty, unsigned thread) {
    if (SHARED) {
        if (thread < ww_cluster_size()) ww_barrier_arrive_at(empty, thread);
    } else if (thread == 0) {
        ww_barrier_arrive(empty);
    }
}

template <int COLUMNS, bool FP8, bool SHARED>
static __device__ __forceinline__ void consume(unsigned short *c, unsigned n, unsigned base, unsigned full, unsigned empty,
                                               unsigned steps) {
    const unsigned stage_bytes = (ROWS + COLUMNS) * SLICE;
    unsigned group = threadIdx.x / 128, thread = threadIdx.x % 128;
    float sum[COLUMNS / 128][64];
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++) sum[i / 64][i % 64] = 0;
    for (unsigned s = 0; s < steps; s++) {
        unsigned at = s % STAGES, a = base + at * stage_bytes + group * 64 * SLICE, b = base + at * stage_bytes + ROWS * SLICE;
        ww_barrier_wait(full + 8 * at, s / STAGES % 2);
        ww_group_begin();
#pragma unroll
        for (int i = 0; i < SLICE / 32; i++)
#pragma unroll
            for (int x = 0; x < COLUMNS / 128; x++) {
                unsigned long ma = ww_matrix(a + 32 * i), mb = ww_matrix(b + 32 * i + x * 128 * SLICE);
                if (FP8)
                    ww_group_fp8(sum[x], ma, mb, 0);
                else
                    ww_group_half(sum[x], ma, mb, 0);
            }
        ww_group_end();
        ww_group_wait<1>();
        if (s > 0) release<SHARED>(empty + 8 * ((s - 1) % STAGES), thread);
    }
    ww_group_wait<0>();
    c += (unsigned long)(blockIdx.y * ROWS + group * 64 + thread / 32 * 16 + thread % 32 / 4) * n + blockIdx.x * COLUMNS;
#pragma unroll
    for (int x = 0; x < COLUMNS / 8; x += 2)
#pragma unroll
        for (int h = 0; h < 2; h++)
            store(&c[(unsigned long)8 * h * n + 8 * x], &sum[x / 16][x % 16 * 4 + 2 * h],
                  &sum[x / 16][x % 16 * 4 + 4 + 2 * h]);
}

/* steps: slices of k; slice: its elements. */
template <int COLUMNS, bool FP8, bool SHARED>
static __device__ __forceinline__ void product(const void *a, const void *b, unsigned short *c, unsigned n, unsigned steps) {
#ifdef WW_HOPPER
    extern __shared__ __attribute__((aligned(1024))) char memory[];
    __shared__ unsigned long full[STAGES], empty[STAGES];
    unsigned base = (ww_shared(memory) + 1023) / 1024 * 1024, f = ww_shared(full), e = ww_shared(empty);
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) {
            ww_barrier_make(f + 8 * s, 1);
            ww_barrier_make(e + 8 * s, SHARED ? 2 * ww_cluster_size() : 2);
        }
    ww_barrier_made();
    if (SHARED)
        ww_cluster_meet();
    else
        __syncthreads();
    if (threadIdx.x / 32 == 8) {
        if (threadIdx.x % 32 == 0) produce<COLUMNS, SHARED>(a, b, base, f, e, steps, FP8 ? SLICE : SLICE / 2);
    } else {
        consume<COLUMNS, FP8, SHARED>(c, n, base, f, e, steps);
    }
    if (SHARED) ww_cluster_meet(); /* others may still tell this one */
#endif
}

#define KERNEL(name, columns, fp8, shared)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                      \
        name(const void *a, const void *b, unsigned short *c, unsigned n, unsigned steps) {                    \
        product<columns, fp8, shared>(a, b, c, n, steps);                                                      \
    }
KERNEL(gemm_wgmma_half_128, 128, false, false)
KERNEL(gemm_wgmma_half_256, 256, false, false)
KERNEL(gemm_wgmma_fp8_128, 128, true, false)
KERNEL(gemm_wgmma_fp8_256, 256, true, false)
KERNEL(gemm_wgmma_shared_half_128, 128, false, true)
KERNEL(gemm_wgmma_shared_half_256, 256, false, true)
KERNEL(gemm_wgmma_shared_fp8_128, 128, true, true)
KERNEL(gemm_wgmma_shared_fp8_256, 256, true, true)
