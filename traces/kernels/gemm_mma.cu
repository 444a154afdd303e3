/* gemm_mma: C = A B^T by mma.sync, for sm_80. A is m x k, B n x k, both by rows: halves with sums and results in single
 * and half precision, or signed bytes with integers. A CTA has 128 x COLUMNS of C, a warp 64 x 64. Slices of 128 bytes of
 * k come by cp.async into three stages; the fragments of the next 32 bytes are loaded while these are multiplied. Piece p
 * (16 bytes) of row r lies at p ^ r % 8, so that ldmatrix meets no conflicts. */
#include "ww_mma.h"

#define ROWS 128
#define SLICE 128 /* bytes of a row in a stage */
#define STAGES 3

struct operands {
    unsigned a[4][4], b[4][4];
};

/* A warp's 64 rows of A and of B, 32 bytes deep. */
static __device__ __forceinline__ void load(operands &o, unsigned a, unsigned b) {
#pragma unroll
    for (int y = 0; y < 4; y++) ww_load_matrices(o.a[y], a + y * 16 * SLICE);
#pragma unroll
    for (int x = 0; x < 4; x++) ww_load_matrices(o.b[x], b + x * 16 * SLICE);
}

template <typename SUM> static __device__ __forceinline__ void multiply(SUM (&sum)[4][8][4], const operands &o) {
#pragma unroll
    for (int y = 0; y < 4; y++)
#pragma unroll
        for (int x = 0; x < 8; x++) ww_multiply(sum[y][x], o.a[y], o.b[x / 2][x % 2 * 2], o.b[x / 2][x % 2 * 2 + 1]);
}

/* N rows of a slice; a thread's pieces lie THREADS / 8 rows apart. */
template <int N, int THREADS>
static __device__ __forceinline__ void fetch(unsigned to, const char *from, unsigned pitch) {
#pragma unroll
    for (unsigned j = 0; j < N * 8 / THREADS; j++)
        ww_copy_async(to + j * THREADS * 16, from + (unsigned long)(j * (THREADS / 8)) * pitch);
}

/* Of two groups of 8 columns side by side a thread has 2 of each; neighbours exchange, so that four threads write 32
 * bytes of halves. */
static __device__ __forceinline__ void store(unsigned short *c, const float *left, const float *right) {
    unsigned l = ww_pack_half(left[0], left[1]), r = ww_pack_half(right[0], right[1]), odd = threadIdx.x % 2;
    unsigned got = (unsigned)__shfl_xor_sync(0xffffffffu, (int)(odd ? l : r), 1);
    uint2 pair;
    pair.x = odd ? got : l, pair.y = odd ? r : got;
    *(uint2 *)&c[odd * 8 + threadIdx.x % 4 / 2 * 4] = pair;
}
static __device__ __forceinline__ void store(int *c, const int *left, const int *right) {
    int2 l, r;
    l.x = left[0], l.y = left[1], r.x = right[0], r.y = right[1];
    *(int2 *)&c[threadIdx.x % 4 * 2] = l;
    *(int2 *)&c[8 + threadIdx.x % 4 * 2] = r;
}

/* pitch: bytes of a row of A and B, a multiple of SLICE. */
template <int COLUMNS, typename SUM, typename RESULT>
static __device__ __forceinline__ void product(const char *a, const char *b, RESULT *c, unsigned n, unsigned pitch) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    extern __shared__ __attribute__((aligned(1024))) char memory[];
    const unsigned stage_bytes = (ROWS + COLUMNS) * SLICE;
    unsigned base = ww_shared(memory), t = threadIdx.x, warp = t / 32, lane = t % 32;
    unsigned row = warp % 2 * 64, column = warp / 2 * 64, steps = pitch / SLICE;
    unsigned put = t / 8 * SLICE + ((t % 8) ^ (t / 8 % 8)) * 16, at_a[4], at_b[4], now = 0;
    SUM sum[4][8][4];
    operands o[2];
#pragma unroll
    for (int i = 0; i < 4 * 8 * 4; i++) sum[i / 32][i / 4 % 8][i % 4] = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        at_a[i] = base + (row + lane % 16) * SLICE + ((2 * i + lane / 16) ^ lane % 8) * 16;
        at_b[i] = base + (ROWS + column + lane % 8 + lane / 16 * 8) * SLICE + ((2 * i + lane / 8 % 2) ^ lane % 8) * 16;
    }
    a += (unsigned long)(blockIdx.y * ROWS + t / 8) * pitch + t % 8 * 16;
    b += (unsigned long)(blockIdx.x * COLUMNS + t / 8) * pitch + t % 8 * 16;
#pragma unroll
    for (unsigned s = 0; s < STAGES; s++) {
        if (s < steps) {
            fetch<ROWS, COLUMNS>(base + s * stage_bytes + put, a + s * SLICE, pitch);
            fetch<COLUMNS, COLUMNS>(base + s * stage_bytes + ROWS * SLICE + put, b + s * SLICE, pitch);
        }
        ww_copy_commit();
    }
    ww_copy_wait<STAGES - 1>();
    __syncthreads();
    load(o[0], at_a[0], at_b[0]);
    for (unsigned s = 0; s < steps; s++) {
        unsigned next = now == (STAGES - 1) * stage_bytes ? 0 : now + stage_bytes;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i == 3) {
                ww_copy_wait<STAGES - 2>();
                __syncthreads();
                if (s + STAGES < steps) {
                    fetch<ROWS, COLUMNS>(base + now + put, a + (s + STAGES) * SLICE, pitch);
                    fetch<COLUMNS, COLUMNS>(base + now + ROWS * SLICE + put, b + (s + STAGES) * SLICE, pitch);
                }
                ww_copy_commit();
            }
            unsigned from = i == 3 ? next : now;
            load(o[(i + 1) % 2], from + at_a[(i + 1) % 4], from + at_b[(i + 1) % 4]);
            multiply(sum, o[i % 2]);
        }
        now = next;
    }
    c += (unsigned long)(blockIdx.y * ROWS + row + lane / 4) * n + blockIdx.x * COLUMNS + column;
#pragma unroll
    for (int y = 0; y < 4; y++)
#pragma unroll
        for (int x = 0; x < 8; x += 2)
#pragma unroll
            for (int h = 0; h < 2; h++)
                store(&c[(unsigned long)(16 * y + 8 * h) * n + 8 * x], &sum[y][x][2 * h], &sum[y][x + 1][2 * h]);
#endif
}

#define KERNEL(name, columns, sum, result)                                                                     \
    extern "C" __global__ void __launch_bounds__(columns)                                                      \
        name(const char *a, const char *b, result *c, unsigned n, unsigned pitch) {                            \
        product<columns, sum, result>(a, b, c, n, pitch);                                                      \
    }
KERNEL(gemm_mma_half_128, 128, float, unsigned short)
KERNEL(gemm_mma_half_256, 256, float, unsigned short)
KERNEL(gemm_mma_int8_128, 128, int, int)
KERNEL(gemm_mma_int8_256, 256, int, int)
