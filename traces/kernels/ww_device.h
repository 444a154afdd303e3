/* ww_device.h: what a kernel needs, for clang without CUDA's headers and for nvcc alike.
 *
 *     clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -O2 -S kernel.cu
 *     nvcc -ptx -arch=sm_75 kernel.cu
 *
 * clang knows the language but has neither CUDA's names nor its math library: the first part of this file
 * declares the names over clang's own builtins. Under nvcc that part is left out. The second part, device
 * math with the prefix ww_, is the same code for both compilers: both then emit the same instructions, and a
 * kernel's result does not depend on a math library. Kernels are extern "C", so that their names in PTX are
 * those in the source. */
#ifndef WW_DEVICE_H
#define WW_DEVICE_H

#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* nodebug: inlined, they take the source line of the kernel that uses them. */
#define WW_BUILTIN static __device__ __forceinline__ __attribute__((nodebug))

struct uint3 {
    unsigned int x, y, z;
};

/* Unused components are never read: the optimiser removes their special-register reads. */
WW_BUILTIN uint3 ww_thread_idx() {
    return {(unsigned)__nvvm_read_ptx_sreg_tid_x(), (unsigned)__nvvm_read_ptx_sreg_tid_y(),
            (unsigned)__nvvm_read_ptx_sreg_tid_z()};
}
WW_BUILTIN uint3 ww_block_idx() {
    return {(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_ctaid_y(),
            (unsigned)__nvvm_read_ptx_sreg_ctaid_z()};
}
WW_BUILTIN uint3 ww_block_dim() {
    return {(unsigned)__nvvm_read_ptx_sreg_ntid_x(), (unsigned)__nvvm_read_ptx_sreg_ntid_y(),
            (unsigned)__nvvm_read_ptx_sreg_ntid_z()};
}
WW_BUILTIN uint3 ww_grid_dim() {
    return {(unsigned)__nvvm_read_ptx_sreg_nctaid_x(), (unsigned)__nvvm_read_ptx_sreg_nctaid_y(),
            (unsigned)__nvvm_read_ptx_sreg_nctaid_z()};
}
#define threadIdx (ww_thread_idx())
#define blockIdx (ww_block_idx())
#define blockDim (ww_block_dim())
#define gridDim (ww_grid_dim())
#define warpSize 32

typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef unsigned int uint2 __attribute__((ext_vector_type(2)));
typedef unsigned int uint4 __attribute__((ext_vector_type(4)));

WW_BUILTIN float2 make_float2(float x, float y) {
    return (float2){x, y};
}
WW_BUILTIN float4 make_float4(float x, float y, float z, float w) {
    return (float4){x, y, z, w};
}
WW_BUILTIN uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return (uint4){x, y, z, w};
}

/* __syncthreads() is a builtin of clang's under its own name. */
WW_BUILTIN void __syncwarp(unsigned mask = 0xffffffffu) {
    __nvvm_bar_warp_sync(mask);
}
WW_BUILTIN void __threadfence() {
    __nvvm_membar_gl();
}
WW_BUILTIN void __threadfence_block() {
    __nvvm_membar_cta();
}

WW_BUILTIN int atomicAdd(int *p, int v) {
    return __nvvm_atom_add_gen_i(p, v);
}
WW_BUILTIN unsigned atomicAdd(unsigned *p, unsigned v) {
    return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v);
}
WW_BUILTIN unsigned long long atomicMin(unsigned long long *p, unsigned long long v) {
    return __nvvm_atom_min_gen_ull(p, v);
}
WW_BUILTIN unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) {
    return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v);
}
WW_BUILTIN float atomicAdd(float *p, float v) {
    return __nvvm_atom_add_gen_f(p, v);
}
WW_BUILTIN int atomicMin(int *p, int v) {
    return __nvvm_atom_min_gen_i(p, v);
}
WW_BUILTIN int atomicMax(int *p, int v) {
    return __nvvm_atom_max_gen_i(p, v);
}
WW_BUILTIN unsigned atomicMin(unsigned *p, unsigned v) {
    return __nvvm_atom_min_gen_ui(p, v);
}
WW_BUILTIN unsigned atomicMax(unsigned *p, unsigned v) {
    return __nvvm_atom_max_gen_ui(p, v);
}
WW_BUILTIN unsigned atomicExch(unsigned *p, unsigned v) {
    return (unsigned)__nvvm_atom_xchg_gen_i((int *)p, (int)v);
}
WW_BUILTIN unsigned atomicCAS(unsigned *p, unsigned compare, unsigned v) {
    return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)compare, (int)v);
}
WW_BUILTIN int atomicCAS(int *p, int compare, int v) {
    return __nvvm_atom_cas_gen_i(p, compare, v);
}

/* The last argument of the builtins holds the clamp lane and the segment mask: 32-lane segments here. */
WW_BUILTIN float __shfl_down_sync(unsigned mask, float v, unsigned delta) {
    return __nvvm_shfl_sync_down_f32(mask, v, delta, 0x1f);
}
WW_BUILTIN int __shfl_down_sync(unsigned mask, int v, unsigned delta) {
    return __nvvm_shfl_sync_down_i32(mask, v, delta, 0x1f);
}
WW_BUILTIN float __shfl_xor_sync(unsigned mask, float v, unsigned lanes) {
    return __nvvm_shfl_sync_bfly_f32(mask, v, lanes, 0x1f);
}
WW_BUILTIN int __shfl_xor_sync(unsigned mask, int v, unsigned lanes) {
    return __nvvm_shfl_sync_bfly_i32(mask, v, lanes, 0x1f);
}
WW_BUILTIN float __shfl_sync(unsigned mask, float v, unsigned lane) {
    return __nvvm_shfl_sync_idx_f32(mask, v, lane, 0x1f);
}
WW_BUILTIN int __shfl_sync(unsigned mask, int v, unsigned lane) {
    return __nvvm_shfl_sync_idx_i32(mask, v, lane, 0x1f);
}
WW_BUILTIN unsigned __ballot_sync(unsigned mask, int predicate) {
    return __nvvm_vote_ballot_sync(mask, predicate != 0);
}
WW_BUILTIN int __any_sync(unsigned mask, int predicate) {
    return __nvvm_vote_any_sync(mask, predicate != 0);
}
WW_BUILTIN int __all_sync(unsigned mask, int predicate) {
    return __nvvm_vote_all_sync(mask, predicate != 0);
}
WW_BUILTIN int __popc(unsigned v) {
    return __builtin_popcount(v);
}
WW_BUILTIN int __clz(int v) {
    return v == 0 ? 32 : __builtin_clz((unsigned)v);
}

#else
#define WW_BUILTIN static __device__ __forceinline__
#endif /* !__NVCC__ */

/* ---- shared memory that is allocated while a CTA runs (docs/studies/multiplexing.md), both compilers ----
 *
 * A barrier of all threads that also allocates, or gives back, the last `bytes` bytes (a constant) of the CTA's
 * shared memory. The recorder understands it; on hardware it is a barrier. */
#define ww_smem_alloc(bytes)                                                                                   \
    asm volatile(".pragma \"warpwatt smem_alloc %0\";\n\tbar.sync 0;" ::"n"(bytes) : "memory")
#define ww_smem_free(bytes)                                                                                    \
    asm volatile(".pragma \"warpwatt smem_free %0\";\n\tbar.sync 0;" ::"n"(bytes) : "memory")

/* ---- device math, both compilers ----
 *
 * Each function states its error against the exact result, in units in the last place (ulp) of a float,
 * over the stated arguments. They rest on the PTX instructions ex2.approx and lg2.approx (2 ulp on the
 * machine) and on argument reduction in the manner of Cody and Waite, "Software Manual for the Elementary
 * Functions" (1980): a multiple of the constant is subtracted in parts of which the leading ones are exact.
 * Polynomials are the Taylor series on the reduced interval, cut where the next term is below half an ulp.
 */

WW_BUILTIN float ww_fma(float a, float b, float c) {
    float r;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
    return r;
}
/* The value of the bits, and the bits of the value. */
WW_BUILTIN float ww_int_as_float(int v) {
    float r;
    asm("mov.b32 %0, %1;" : "=f"(r) : "r"(v));
    return r;
}
WW_BUILTIN int ww_float_as_int(float v) {
    int r;
    asm("mov.b32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}
/* Absolute value, smaller, larger: exact. The non-NaN argument wins. */
WW_BUILTIN float ww_fabsf(float v) {
    float r;
    asm("abs.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_fminf(float a, float b) {
    float r;
    asm("min.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
WW_BUILTIN float ww_fmaxf(float a, float b) {
    float r;
    asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
/* Rounded to a whole number: down, up, toward zero, to nearest (ties to even). Exact. */
WW_BUILTIN float ww_floorf(float v) {
    float r;
    asm("cvt.rmi.f32.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_ceilf(float v) {
    float r;
    asm("cvt.rpi.f32.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_truncf(float v) {
    float r;
    asm("cvt.rzi.f32.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_rintf(float v) {
    float r;
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
/* Square root: correctly rounded. */
WW_BUILTIN float ww_sqrtf(float v) {
    float r;
    asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
/* Reciprocal square root (2 ulp), reciprocal (1 ulp), 2^v (2 ulp), log2 v (2 ulp or 2^-22 absolute near 1):
 * one instruction each. */
WW_BUILTIN float ww_rsqrtf(float v) {
    float r;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_fast_rcpf(float v) {
    float r;
    asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_exp2f(float v) {
    float r;
    asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_log2f(float v) {
    float r;
    asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
/* Element n of a texture of unsigned words in linear memory, as tex1Dfetch<unsigned>(texture, n). */
WW_BUILTIN unsigned ww_tex1d(unsigned long long texture, unsigned n) {
    unsigned v, g, b, a;
    asm("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=r"(v), "=r"(g), "=r"(b), "=r"(a)
        : "l"(texture), "r"(n));
    return v;
}
/* Texel n, of four words, as tex1Dfetch<uint4>(texture, n). */
struct ww_words4 {
    unsigned x, y, z, w;
};
WW_BUILTIN ww_words4 ww_tex1d_words4(unsigned long long texture, unsigned n) {
    ww_words4 v;
    asm("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(texture), "r"(n));
    return v;
}

/* Sine and cosine by the special-function unit: absolute error 2^-20.9 for |v| <= pi. */
WW_BUILTIN float ww_fast_sinf(float v) {
    float r;
    asm("sin.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_fast_cosf(float v) {
    float r;
    asm("cos.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}

/* e^v: 3 ulp for -87 <= v <= 88; infinity above 88.8, 0 below -104. v = n ln 2 + f, |f| <= ln 2 / 2, and
 * e^v = 2^n 2^(f log2 e). ln 2 is taken away in two parts; n ln2_high is exact for |n| < 256. */
WW_BUILTIN float ww_expf(float v) {
    const float log2_e = 1.44269504f, ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
    float x = ww_fminf(ww_fmaxf(v, -105.0f), 89.0f);
    float n = ww_rintf(x * log2_e);
    float f = ww_fma(-n, ln2_high, x);
    f = ww_fma(-n, ln2_low, f);
    float scaled = ww_exp2f(f * log2_e);
    /* 2^n in two factors, since n may lie outside the exponents of normal numbers */
    float half = ww_truncf(n * 0.5f);
    float r = scaled * ww_int_as_float(((int)half + 127) << 23);
    r = r * ww_int_as_float(((int)(n - half) + 127) << 23);
    return v != v ? v : r;
}

/* ln v: 3 ulp for normal v > 0. v = 2^n m with m in [2/3, 4/3); s = (m - 1) / (m + 1);
 * ln m = 2 (s + s^3/3 + s^5/5 + ...), |s| <= 1/5: terms to s^9 leave less than 2^-27 of s. */
WW_BUILTIN float ww_logf(float v) {
    const float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
    int bits = ww_float_as_int(v);
    if (bits <= 0 || bits >= 0x7f800000) return bits == 0x7f800000 || v != v ? v : ww_log2f(v);
    int n = (bits - 0x3f2aaaab) >> 23;
    float m = ww_int_as_float(bits - (n << 23));
    float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    float p =
        ww_fma(z, ww_fma(z, ww_fma(z, ww_fma(z, 0.18181818f, 0.22222222f), 0.28571429f), 0.4f), 0.66666667f);
    float e = (float)n;
    float low = ww_fma(s * z, p, e * ln2_low);
    return ww_fma(e, ln2_high, ww_fma(2.0f, s, low));
}

/* a^b for a > 0 as 2^(b log2 a): relative error about 2^-22 (1 + |b log2 a|). */
WW_BUILTIN float ww_powf(float a, float b) {
    return ww_exp2f(b * ww_log2f(a));
}

/* v - k pi/2 into [-pi/4, pi/4], k returned in *quadrant; pi/2 in three parts, good for |v| <= 50000. */
WW_BUILTIN float ww_reduce_half_pi(float v, int *quadrant) {
    float k = ww_rintf(v * 0.636619772f);
    *quadrant = (int)k;
    float r = ww_fma(-k, 1.57079601f, v);
    r = ww_fma(-k, 3.13916473e-7f, r);
    return ww_fma(-k, 5.39030253e-15f, r);
}
WW_BUILTIN float ww_sin_core(float r) {
    float z = r * r;
    float p = ww_fma(z, ww_fma(z, ww_fma(z, 2.75573192e-6f, -1.98412698e-4f), 8.33333333e-3f), -0.166666667f);
    return ww_fma(r * z, p, r);
}
WW_BUILTIN float ww_cos_core(float r) {
    float z = r * r;
    float p = ww_fma(z, ww_fma(z, ww_fma(z, 2.48015873e-5f, -1.38888889e-3f), 4.16666667e-2f), -0.5f);
    return ww_fma(z, p, 1.0f);
}
/* Sine and cosine: 2 ulp or 2^-24 absolute for |v| <= 50000; beyond that the reduction loses its bits. */
WW_BUILTIN float ww_sinf(float v) {
    int k;
    float r = ww_reduce_half_pi(v, &k);
    float y = (k & 1) ? ww_cos_core(r) : ww_sin_core(r);
    return (k & 2) ? -y : y;
}
WW_BUILTIN float ww_cosf(float v) {
    int k;
    float r = ww_reduce_half_pi(v, &k);
    float y = (k & 1) ? ww_sin_core(r) : ww_cos_core(r);
    return ((k + 1) & 2) ? -y : y;
}

/* tanh v = 1 - 2 / (e^2|v| + 1) with v's sign; near 0, where that cancels, its series. 8 ulp. */
WW_BUILTIN float ww_tanhf(float v) {
    float a = ww_fabsf(v), y;
    if (a < 0.25f) {
        float z = a * a;
        float p = ww_fma(
            z, ww_fma(z, ww_fma(z, ww_fma(z, -8.86323553e-3f, 2.18694885e-2f), -5.39682540e-2f), 0.133333333f),
            -0.333333333f);
        y = ww_fma(a * z, p, a);
    } else {
        y = 1.0f - 2.0f / (ww_expf(2.0f * a) + 1.0f);
    }
    return v < 0.0f ? -y : y;
}

#ifdef __NVCC__
/* clang's vector types add and subtract by themselves. */
static __device__ __forceinline__ float2 operator+(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}
static __device__ __forceinline__ float2 operator-(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}
#endif

/* e^v for |v| < 700: 2 ulp. v = n ln 2 + f, |f| <= ln 2 / 2; Taylor's series to f^13 leaves less than 2^-57. */
WW_BUILTIN double ww_exp(double v) {
    double n;
    asm("cvt.rni.f64.f64 %0, %1;" : "=d"(n) : "d"(v * 1.4426950408889634));
    double f = v - n * 6.93147180369123816490e-01; /* the leading 33 bits of ln 2: the product is exact */
    f -= n * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * f + 1.0 / 479001600.0;
    p = p * f + 1.0 / 39916800.0;
    p = p * f + 1.0 / 3628800.0;
    p = p * f + 1.0 / 362880.0;
    p = p * f + 1.0 / 40320.0;
    p = p * f + 1.0 / 5040.0;
    p = p * f + 1.0 / 720.0;
    p = p * f + 1.0 / 120.0;
    p = p * f + 1.0 / 24.0;
    p = p * f + 1.0 / 6.0;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    long long bits;
    asm("mov.b64 %0, %1;" : "=l"(bits) : "d"(p));
    bits += (long long)(int)n << 52;
    asm("mov.b64 %0, %1;" : "=d"(p) : "l"(bits));
    return p;
}

#endif
