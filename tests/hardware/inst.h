/* inst.h: instruction classes as chains of one instruction, for latencies, throughputs and power.
 *
 * A class has a state of a few registers and step(), which issues `steps` instructions of PTX, each dependent
 * on the one before. They are written so that neither compiler stage can join or drop any: the sum of two
 * additions in a row would become one of three operands, so integer additions alternate between two registers,
 * both of which live on.
 */
#ifndef KIT_INST_H
#define KIT_INST_H

#include "kit.h"

/* Bits as if by chance. */
static __device__ __forceinline__ unsigned inst_bits(unsigned h) {
    h = (h ^ h >> 16) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return h ^ h >> 16;
}

/* Of a float, from bits: [1, 2) for x, (-1, -0.5] for y; of two halves, the same. */
#define INST_F32(exponent_, bits_) __uint_as_float((exponent_) | ((bits_) >> 9))
#define INST_F16(exponent_, bits_) ((exponent_) | ((bits_)&0x03ff03ffu))

/* x_, y_, z_: the values at the start, from the bits h, g and x, y. Power depends on the values: they stay
 * finite and other than zero over some 100,000 steps, and differ from thread to thread. */
#define INST_CLASS(name_, text_, type_, steps_, x_, y_, z_, body_)                                             \
    struct name_ {                                                                                             \
        typedef type_ T;                                                                                       \
        static const char *name() {                                                                            \
            return text_;                                                                                      \
        }                                                                                                      \
        static const int steps = steps_;                                                                       \
        T x, y, z;                                                                                             \
        __device__ __forceinline__ void start(unsigned seed) {                                                 \
            unsigned h = inst_bits(2 * (seed * 4096 + threadIdx.x)), g = inst_bits(h + 1);                     \
            x = (T)(x_);                                                                                       \
            y = (T)(y_);                                                                                       \
            z = (T)(z_);                                                                                       \
            (void)g;                                                                                           \
        }                                                                                                      \
        __device__ __forceinline__ void step() {                                                               \
            body_;                                                                                             \
        }                                                                                                      \
        __device__ __forceinline__ bool odd() const {                                                          \
            return x == (T)12345 && y == (T)54321;                                                             \
        }                                                                                                      \
    };

#define INST_X32 INST_F32(0x3f800000u, h)
#define INST_Y32 INST_F32(0xbf000000u, g)

INST_CLASS(op_iadd, "iadd", unsigned, 2, h, g, 0,
           asm volatile("add.u32 %0, %0, %1;\n\tadd.u32 %1, %1, %0;"
                        : "+r"(x), "+r"(y)))
INST_CLASS(op_imul, "imul", unsigned, 1, h | 1, g | 1, 0,
           asm volatile("mul.lo.u32 %0, %0, %1;"
                        : "+r"(x)
                        : "r"(y)))
/* x -> x y + y of full period */
INST_CLASS(op_imad, "imad", unsigned, 1, h, (g & ~3u) | 1, 0,
           asm volatile("mad.lo.u32 %0, %0, %1, %1;"
                        : "+r"(x)
                        : "r"(y)))
/* x -> x - 1 or thereabouts, from above 2^31 */
INST_CLASS(op_imulhi, "imulhi", unsigned, 1, h | 0x80000000u, g | 0xffffe000u, 0,
           asm volatile("mul.hi.u32 %0, %0, %1;"
                        : "+r"(x)
                        : "r"(y)))
INST_CLASS(op_shift, "shift", unsigned, 1, h, g | 1, 0,
           asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;"
                        : "+r"(x)
                        : "r"(y)))
INST_CLASS(op_popc, "popc", unsigned, 1, h, 0, 0, asm volatile("popc.b32 %0, %0;" : "+r"(x)))
INST_CLASS(op_fadd, "fadd", float, 1, INST_X32, INST_Y32, 0,
           asm volatile("add.f32 %0, %0, %1;"
                        : "+f"(x)
                        : "f"(y)))
/* by y and by 1 / y, or the product would run out of range */
INST_CLASS(op_fmul, "fmul", float, 2, INST_X32, INST_Y32, 1 / y,
           asm volatile("mul.f32 %0, %0, %1;\n\tmul.f32 %0, %0, %2;"
                        : "+f"(x)
                        : "f"(y), "f"(z)))
INST_CLASS(op_ffma, "ffma", float, 1, INST_X32, INST_Y32, 0,
           asm volatile("fma.rn.f32 %0, %0, %1, %1;"
                        : "+f"(x)
                        : "f"(y)))
INST_CLASS(op_hfma2, "hfma2", unsigned, 1, INST_F16(0x3c003c00u, h), INST_F16(0xb800b800u, g), 0,
           asm volatile("fma.rn.f16x2 %0, %0, %1, %1;"
                        : "+r"(x)
                        : "r"(y)))
INST_CLASS(op_dadd, "dadd", double, 1, INST_X32 / 3.0, INST_Y32 / 3.0, 0,
           asm volatile("add.f64 %0, %0, %1;"
                        : "+d"(x)
                        : "d"(y)))
INST_CLASS(op_dfma, "dfma", double, 1, INST_X32 / 3.0, INST_Y32 / 1.5, 0,
           asm volatile("fma.rn.f64 %0, %0, %1, %1;"
                        : "+d"(x)
                        : "d"(y)))
INST_CLASS(op_ex2, "ex2", float, 1, INST_X32, 0, 0, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)))
INST_CLASS(op_rcp, "rcp", float, 1, INST_X32, 0, 0, asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(x)))
INST_CLASS(op_rsqrt, "rsqrt", float, 1, INST_X32, 0, 0, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)))
INST_CLASS(op_lg2, "lg2", float, 1, INST_X32, 0, 0, asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x)))
INST_CLASS(op_cvt, "cvt", float, 2, h >> 9, 0, 0,
           asm volatile("{.reg .s32 i;\n\tcvt.rni.s32.f32 i, %0;\n\tcvt.rn.f32.s32 %0, i;}"
                        : "+f"(x)))
INST_CLASS(op_shfl, "shfl", unsigned, 1, h, 0, 0,
           asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;"
                        : "+r"(x)))

/* One warp-wide matrix product: 16 x 8 x 16 from sm_80, 16 x 8 x 8 before; fp16 in, fp32 accumulated. */
struct op_mma {
    static const char *name() {
        return "mma";
    }
    static const int steps = 1;
    float c[4];
    unsigned a, b;
    __device__ __forceinline__ void start(unsigned seed) {
        unsigned h = inst_bits(2 * (seed * 4096 + threadIdx.x)), g = inst_bits(h + 1);
        for (int i = 0; i < 4; i++) c[i] = INST_F32(0x3f800000u, h * (2 * i + 1));
        a = INST_F16(0x38003800u, h) | (h & 0x80000000u); /* +-[0.5, 1) and [0.5, 1) */
        b = INST_F16(0x38003800u, g) | (g & 0x80000000u);
    }
    __device__ __forceinline__ void step() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
                     "{%5, %5}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a), "r"(b));
#elif defined(__CUDA_ARCH__)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, {%5}, {%0, "
                     "%1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a), "r"(b));
#endif
    }
    __device__ __forceinline__ bool odd() const {
        return c[0] == 12345.0f && c[3] == 54321.0f;
    }
};

/* clang-format off */
#define INST_CLASSES(X) \
    X(op_iadd) X(op_imul) X(op_imad) X(op_imulhi) X(op_shift) X(op_popc) X(op_fadd) X(op_fmul) X(op_ffma) \
    X(op_hfma2) X(op_dadd) X(op_dfma) X(op_ex2) X(op_rcp) X(op_rsqrt) X(op_lg2) X(op_cvt) X(op_shfl) X(op_mma)
/* clang-format on */

/* `rounds` times CHAINS independent chains, each of UNROLL steps. time (may be NULL): cycles of each warp's
 * start and end, [warp of the grid][2]. */
template <class C, int CHAINS, int UNROLL>
static __global__ void inst_chains(unsigned seed, int rounds, u64 *time, unsigned *sink) {
    C c[CHAINS];
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) c[i].start(seed + i);
    u64 from = 0;
#pragma unroll 1
    for (int r = -1; r < rounds; r++) { /* the first round brings the instructions */
        if (r == 0) {
            __syncthreads();
            from = kit_clock();
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++) c[i].step();
    }
    bool odd = false;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) odd |= c[i].odd();
    if (odd) *sink = 1; /* needs every chain's end before the clock is read */
    u64 to = kit_clock();
    if (time && threadIdx.x % 32 == 0) {
        time[2 * warp] = from;
        time[2 * warp + 1] = to;
    }
}

#endif
