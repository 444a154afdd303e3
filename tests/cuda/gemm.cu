// C = A B^T in half precision with sums in single precision, three generations of tensor cores: gemm 70 (wmma),
// gemm 80 (mma.m16n8k16, ldmatrix, cp.async in stages) and gemm 90 (wgmma, tensor maps, mbarriers, a warp that
// only fetches). A is m x k, B n x k, both by rows: gemm GENERATION M N K, multiples of 128, 256 and 64.
// Compared with plain C: inputs are small whole numbers, so sums are exact; of large products every 16th row.
#include "check.h"
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

constexpr int BM = 128, BK = 64; // of C and of A in a CTA, and depth of a stage
#define ASM asm volatile
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER 1
#endif

// ---- wmma: 128 x 128 a CTA, 8 warps of 64 x 32; the next slice waits in registers ----

constexpr int DEPTH70 = 32, PITCH70 = DEPTH70 + 8;

__device__ static void fetch70(uint4 (&to)[2], const half *from, int k) {
    for (int i = 0; i < 2; i++) {
        int piece = threadIdx.x + 256 * i;
        to[i] = *(const uint4 *)&from[(size_t)(piece / 4) * k + piece % 4 * 8];
    }
}

__device__ static void keep70(half (&to)[128][PITCH70], const uint4 (&from)[2]) {
    for (int i = 0; i < 2; i++) {
        int piece = threadIdx.x + 256 * i;
        *(uint4 *)&to[piece / 4][piece % 4 * 8] = from[i];
    }
}

__global__ void __launch_bounds__(256) gemm70(const half *a, const half *b, float *c, int n, int k) {
    using namespace nvcuda::wmma;
    __shared__ half as[2][128][PITCH70], bs[2][128][PITCH70];
    fragment<accumulator, 16, 16, 16, float> sum[4][2];
    int warp = threadIdx.x / 32, row = warp / 4 * 64, col = warp % 4 * 32;
    uint4 next_a[2], next_b[2];
    a += (size_t)blockIdx.y * 128 * k, b += (size_t)blockIdx.x * 128 * k;
    for (auto &r : sum)
        for (auto &f : r) fill_fragment(f, 0.0f);
    fetch70(next_a, a, k), fetch70(next_b, b, k);
    keep70(as[0], next_a), keep70(bs[0], next_b);
    __syncthreads();
    for (int at = 0; at < k; at += DEPTH70) {
        int now = at / DEPTH70 % 2;
        bool more = at + DEPTH70 < k;
        if (more) fetch70(next_a, a + at + DEPTH70, k), fetch70(next_b, b + at + DEPTH70, k);
#pragma unroll
        for (int i = 0; i < DEPTH70; i += 16) {
            fragment<matrix_a, 16, 16, 16, half, row_major> fa[4];
            fragment<matrix_b, 16, 16, 16, half, col_major> fb[2];
            for (int y = 0; y < 4; y++) load_matrix_sync(fa[y], &as[now][row + 16 * y][i], PITCH70);
            for (int x = 0; x < 2; x++) load_matrix_sync(fb[x], &bs[now][col + 16 * x][i], PITCH70);
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 2; x++) mma_sync(sum[y][x], fa[y], fb[x], sum[y][x]);
        }
        if (more) keep70(as[!now], next_a), keep70(bs[!now], next_b);
        __syncthreads();
    }
    c += ((size_t)blockIdx.y * 128 + row) * n + blockIdx.x * 128 + col;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 2; x++)
            store_matrix_sync(&c[(size_t)16 * y * n + 16 * x], sum[y][x], n, mem_row_major);
}

// ---- mma and cp.async: 128 x BN a CTA, warps of 64 x 64, rows of 128 bytes whose pieces are exchanged ----

#if __CUDA_ARCH__ >= 800
__device__ static uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// A thread's pieces of 16 bytes of a stage: rows THREADS / 8 apart, which is a multiple of 8.
template <int ROWS, int THREADS> __device__ static void fetch80(uint32_t to, const half *from, unsigned k) {
#pragma unroll
    for (unsigned j = 0; j < ROWS * 8 / THREADS; j++)
        ASM("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + j * THREADS * 16),
            "l"(from + j * (THREADS / 8) * k));
}

__device__ static void load_matrices(uint32_t (&r)[4], uint32_t at) {
    ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(at));
}

__device__ static void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    ASM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
        "%1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Of two groups of 8 columns side by side a thread has 2 of each; neighbours exchange, so that 4 threads write
// 32 bytes.
__device__ static void store(half *c, const float *left, const float *right) {
    half2 l = __floats2half2_rn(left[0], left[1]), r = __floats2half2_rn(right[0], right[1]);
    bool odd = threadIdx.x % 2;
    half2 got = __shfl_xor_sync(~0u, odd ? l : r, 1), pair[2] = {odd ? got : l, odd ? r : got};
    *(uint2 *)&c[odd * 8 + threadIdx.x % 4 / 2 * 4] = *(const uint2 *)pair;
}

struct operands {
    uint32_t a[4][4], b[4][4];
};

// A warp's 64 rows of A and of B, 16 deep.
__device__ static void load(operands &o, uint32_t a, uint32_t b) {
    for (int y = 0; y < 4; y++) load_matrices(o.a[y], a + y * 16 * 128);
    for (int x = 0; x < 4; x++) load_matrices(o.b[x], b + x * 16 * 128);
}

__device__ static void multiply(float (&sum)[4][8][4], const operands &o) {
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            multiply(sum[y][x], o.a[y], o.b[x / 2][x % 2 * 2], o.b[x / 2][x % 2 * 2 + 1]);
}
#endif

constexpr int STAGES80 = 3;
template <int BN>
__global__ void __launch_bounds__(BN) gemm80(const half *a, const half *b, half *c, int n, int k) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(1024) char memory[];
    constexpr uint32_t stage_bytes = (BM + BN) * 128;
    uint32_t base = shared_address(memory);
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp % 2 * 64, col = warp / 2 * 64;
    int steps = k / BK;
    float sum[4][8][4] = {};
    // Piece p of row r lies at p ^ r % 8; all rows of a thread are the same but for multiples of 8.
    unsigned t = threadIdx.x, put = t / 8 * 128 + (t % 8 ^ t / 8 % 8) * 16, at_a[4], at_b[4];
    for (unsigned i = 0; i < 4; i++) {
        at_a[i] = base + (row + lane % 16) * 128 + ((2 * i + lane / 16) ^ lane % 8) * 16;
        at_b[i] = base + (BM + col + lane % 8 + lane / 16 * 8) * 128 + ((2 * i + lane / 8 % 2) ^ lane % 8) * 16;
    }
    a += ((size_t)blockIdx.y * BM + t / 8) * k + t % 8 * 8,
        b += ((size_t)blockIdx.x * BN + t / 8) * k + t % 8 * 8;
    auto fetch = [&](int step, uint32_t stage) {
        if (step < steps) {
            fetch80<BM, BN>(base + stage + put, a + step * BK, k);
            fetch80<BN, BN>(base + stage + BM * 128 + put, b + step * BK, k);
        }
        ASM("cp.async.commit_group;");
    };
    operands o[2];
    for (int s = 0; s < STAGES80; s++) fetch(s, s * stage_bytes);
    ASM("cp.async.wait_group %0;" ::"n"(STAGES80 - 1) : "memory");
    __syncthreads();
    load(o[0], at_a[0], at_b[0]);
    uint32_t now = 0;
    for (int s = 0; s < steps; s++) {
        uint32_t next = now + stage_bytes == STAGES80 * stage_bytes ? 0 : now + stage_bytes;
#pragma unroll
        for (int i = 0; i < BK / 16; i++) { // the next 16 are loaded before these are multiplied
            bool last = i == BK / 16 - 1;
            if (last) {
                ASM("cp.async.wait_group %0;" ::"n"(STAGES80 - 2) : "memory");
                __syncthreads();
                fetch(s + STAGES80, now);
            }
            int to = (i + 1) % (BK / 16);
            load(o[(i + 1) % 2], (last ? next : now) + at_a[to], (last ? next : now) + at_b[to]);
            multiply(sum, o[i % 2]);
        }
        now = next;
    }
    c += ((size_t)blockIdx.y * BM + row + lane / 4) * n + blockIdx.x * BN + col;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x += 2)
            for (int h = 0; h < 2; h++)
                store(&c[(size_t)(16 * y + 8 * h) * n + 8 * x], &sum[y][x][2 * h], &sum[y][x + 1][2 * h]);
#endif
}

// ---- wgmma and tensor maps: 128 x BN a CTA, two warpgroups of 64 rows and a warp that fetches ----

#if HOPPER
__device__ static void wait_for(uint32_t barrier, uint32_t parity) {
    ASM("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN; }" ::"r"(
            barrier),
        "r"(parity)
        : "memory");
}

__device__ static void fetch90(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier) {
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
}

// Rows of 128 bytes, swizzled by 128; groups of 8 rows follow one another.
__device__ static uint64_t matrix_at(uint32_t address) {
    return 1ull << 62 | 64ull << 32 | 1ull << 16 | address >> 4;
}

__device__ static void multiply90(float (&d)[64], uint64_t a, uint64_t b, int fresh) {
    ASM("{ .reg .pred p; setp.eq.s32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, %64, %65, p, 1, 1, 0, 0; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
          "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
          "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
          "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
          "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
          "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(fresh));
}
#endif

constexpr int STAGES90 = 4;
template <int BN>
__global__ void __launch_bounds__(288)
    gemm90(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, half *c, int n,
           int k) {
#if HOPPER
    extern __shared__ __align__(1024) char memory[];
    __shared__ uint64_t full[STAGES90], empty[STAGES90];
    constexpr uint32_t stage_bytes = (BM + BN) * 128;
    uint32_t base = (shared_address(memory) + 1023) / 1024 * 1024, f = shared_address(full),
             e = shared_address(empty);
    int steps = k / BK;
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES90; s++) {
            ASM("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(f + 8 * s));
            ASM("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(e + 8 * s));
        }
    ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    if (threadIdx.x / 32 == 8) {
        for (int s = 0; s < steps && threadIdx.x % 32 == 0; s++) {
            uint32_t at = s % STAGES90, to = base + at * stage_bytes;
            if (s >= STAGES90) wait_for(e + 8 * at, (s / STAGES90 + 1) % 2);
            ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(f + 8 * at), "r"(stage_bytes)
                : "memory");
            fetch90(to, &map_a, s * BK, blockIdx.y * BM, f + 8 * at);
            fetch90(to + BM * 128, &map_b, s * BK, blockIdx.x * BN, f + 8 * at);
        }
        return;
    }
    float sum[BN / 128][64];
    int group = threadIdx.x / 128, thread = threadIdx.x % 128;
    for (int s = 0; s < steps; s++) {
        uint32_t at = s % STAGES90, as = base + at * stage_bytes + group * 64 * 128,
                 bs = base + at * stage_bytes + BM * 128;
        wait_for(f + 8 * at, s / STAGES90 % 2);
        ASM("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
#pragma unroll
            for (int x = 0; x < BN / 128; x++)
                multiply90(sum[x], matrix_at(as + 32 * i), matrix_at(bs + 32 * i + x * 128 * 128),
                           s == 0 && i == 0);
        ASM("wgmma.commit_group.sync.aligned;" ::: "memory");
        ASM("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (s > 0 && thread == 0)
            ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(e + 8 * ((s - 1) % STAGES90)) : "memory");
    }
    ASM("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    c += ((size_t)blockIdx.y * BM + group * 64 + thread / 32 * 16 + thread % 32 / 4) * n + blockIdx.x * BN;
#pragma unroll
    for (int x = 0; x < BN / 8; x += 2)
#pragma unroll
        for (int h = 0; h < 2; h++)
            store(&c[(size_t)8 * h * n + 8 * x], &sum[x / 16][x % 16 * 4 + 2 * h],
                  &sum[x / 16][x % 16 * 4 + 4 + 2 * h]);
#endif
}

// ---- host ----

struct problem {
    int m, n, k;
    half *a, *b;
    float *c; // of gemm70; the others write halves there
};

static CUtensorMap map_of(half *p, int rows, int k, cuuint32_t box_rows) {
    CUtensorMap map;
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                           &found));
    EXPECT(found == cudaDriverEntryPointSuccess && function);
    cuuint64_t dim[] = {(cuuint64_t)k, (cuuint64_t)rows}, stride[] = {k * sizeof *p};
    cuuint32_t box[] = {BK, box_rows}, step[] = {1, 1};
    EXPECT(((decltype(&cuTensorMapEncodeTiled))function)(
               &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dim, stride, box, step,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}

template <int BN> static void launch80(const problem &p) {
    constexpr int bytes = STAGES80 * (BM + BN) * 128;
    CHECK(cudaFuncSetAttribute(gemm80<BN>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    gemm80<BN><<<dim3(p.n / BN, p.m / BM), BN, bytes>>>(p.a, p.b, (half *)p.c, p.n, p.k);
}

template <int BN> static void launch90(const problem &p) {
    constexpr int bytes = STAGES90 * (BM + BN) * 128 + 1024;
    CHECK(cudaFuncSetAttribute(gemm90<BN>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    gemm90<BN><<<dim3(p.n / BN, p.m / BM), 288, bytes>>>(map_of(p.a, p.m, p.k, BM), map_of(p.b, p.n, p.k, BN),
                                                         (half *)p.c, p.n, p.k);
}

// Large tiles where they give each SM of the largest GPU one.
static void launch(int generation, const problem &p) {
    bool large = p.m / BM * (p.n / 256) >= 108;
    if (generation == 70)
        gemm70<<<dim3(p.n / 128, p.m / 128), 256>>>(p.a, p.b, p.c, p.n, p.k);
    else if (generation == 80)
        large ? launch80<256>(p) : launch80<128>(p);
    else
        large ? launch90<256>(p) : launch90<128>(p);
    CHECK(cudaGetLastError());
}

static half *upload(std::vector<int16_t> &v, size_t count, uint32_t seed) {
    std::vector<half> h(count);
    half *p;
    v.resize(count);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        v[i] = (int16_t)((int)(seed >> 16) % 5 - 2);
        h[i] = __float2half((float)v[i]);
    }
    CHECK(cudaMalloc(&p, count * sizeof *p));
    CHECK(cudaMemcpy(p, h.data(), count * sizeof *p, cudaMemcpyHostToDevice));
    return p;
}

static void check_rows(int generation, const problem &p, const std::vector<int16_t> &a,
                       const std::vector<int16_t> &b) {
    std::vector<float> c((size_t)p.m * p.n);
    const half *halves = (const half *)c.data();
    int every = (double)p.m * p.n * p.k > 3e8 ? 16 : 1;
    CHECK(cudaMemcpy(c.data(), p.c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = every - 1; y < p.m; y += every)
        for (int x = 0; x < p.n; x++) {
            int sum = 0;
            for (int i = 0; i < p.k; i++) sum += a[(size_t)y * p.k + i] * b[(size_t)x * p.k + i];
            size_t at = (size_t)y * p.n + x;
            EXPECT((generation == 70 ? c[at] : __half2float(halves[at])) == (float)sum);
        }
}

int main(int argc, char **argv) {
    int only = argc > 1 ? atoi(argv[1]) : 0;
    cudaDeviceProp gpu;
    problem p = {argc > 2 ? atoi(argv[2]) : 256,
                 argc > 3 ? atoi(argv[3]) : 256,
                 argc > 4 ? atoi(argv[4]) : 320,
                 0,
                 0,
                 0};
    std::vector<int16_t> a, b;
    EXPECT(p.m > 0 && p.n > 0 && p.k > 0 && p.m % 128 == 0 && p.n % 256 == 0 && p.k % 64 == 0);
    p.a = upload(a, (size_t)p.m * p.k, 1), p.b = upload(b, (size_t)p.n * p.k, 2);
    CHECK(cudaMalloc(&p.c, (size_t)p.m * p.n * sizeof(float)));
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    for (int generation = 70; generation <= 10 * gpu.major; generation += 10) {
        if (only && only != generation) continue;
        CHECK(cudaMemset(p.c, 0xff, (size_t)p.m * p.n * sizeof(float)));
        launch(generation, p);
        check_rows(generation, p, a, b);
    }
    return pass();
}
