/* ww_half.h: numbers of half precision as 16 bits, two of them in a word, and vectors of 16 bytes, for clang
 * without CUDA's headers and for nvcc alike. */
#ifndef WW_HALF_H
#define WW_HALF_H

#include "ww_device.h"

WW_BUILTIN float ww_half_to_float(unsigned short bits) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits));
    return r;
}
/* Rounded to nearest, ties to even. */
WW_BUILTIN unsigned short ww_float_to_half(float v) {
    unsigned short r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v));
    return r;
}
WW_BUILTIN float ww_half_low(unsigned pair) {
    return ww_half_to_float((unsigned short)pair);
}
WW_BUILTIN float ww_half_high(unsigned pair) {
    return ww_half_to_float((unsigned short)(pair >> 16));
}
WW_BUILTIN unsigned ww_half_pair(float low, float high) {
    return (unsigned)ww_float_to_half(low) | (unsigned)ww_float_to_half(high) << 16;
}
/* a b + c and a - b of both halves. */
WW_BUILTIN unsigned ww_half2_fma(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
WW_BUILTIN unsigned ww_half2_sub(unsigned a, unsigned b) {
    unsigned r;
    asm("sub.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

/* Four words from and to an address that is a multiple of 16. */
WW_BUILTIN void ww_load_words(unsigned (&w)[4], const void *p) {
    const uint4 v = *(const uint4 *)p;
    w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
}
WW_BUILTIN void ww_store_words(void *p, const unsigned (&w)[4]) {
    *(uint4 *)p = make_uint4(w[0], w[1], w[2], w[3]);
}
/* Eight halves as floats, and back. */
WW_BUILTIN void ww_unpack(float (&f)[8], const unsigned (&w)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) f[2 * i] = ww_half_low(w[i]), f[2 * i + 1] = ww_half_high(w[i]);
}
WW_BUILTIN void ww_pack(unsigned (&w)[4], const float (&f)[8]) {
#pragma unroll
    for (int i = 0; i < 4; i++) w[i] = ww_half_pair(f[2 * i], f[2 * i + 1]);
}

/* 2^v (2 ulp), 0 where that is below the smallest normal number: without the scaling that smaller ones need. */
WW_BUILTIN float ww_exp2f_fast(float v) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}

/* Sum and maximum over the warp's lanes, in every lane. */
WW_BUILTIN float ww_warp_sum(float v) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
    return v;
}
WW_BUILTIN float ww_warp_max(float v) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v = ww_fmaxf(v, __shfl_xor_sync(0xffffffffu, v, lanes));
    return v;
}

#endif
