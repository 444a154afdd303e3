/* ww_cuda.h: the names of CUDA that kernels written for nvcc use most, over ww_device.h. With clang it takes
 * the place of CUDA's headers, which nvcc includes by itself:
 *
 *     clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -I traces/kernels \
 *         -include ww_cuda.h -O2 -S kernel.cu -o kernel.ptx
 *
 * Functions of double precision, textures and the rarer intrinsics are missing: a kernel that uses them needs
 * nvcc, or clang with an installed CUDA. */
#ifndef WW_CUDA_H
#define WW_CUDA_H

#include "ww_device.h"

#ifndef __NVCC__

typedef __SIZE_TYPE__ size_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;

#define INFINITY (__builtin_inff())

WW_BUILTIN float fmaxf(float a, float b) {
    return ww_fmaxf(a, b);
}
WW_BUILTIN float fminf(float a, float b) {
    return ww_fminf(a, b);
}
WW_BUILTIN float fabsf(float v) {
    return ww_fabsf(v);
}
WW_BUILTIN float fmaf(float a, float b, float c) {
    return ww_fma(a, b, c);
}
WW_BUILTIN float sqrtf(float v) {
    return ww_sqrtf(v);
}
WW_BUILTIN float rsqrtf(float v) {
    return ww_rsqrtf(v);
}
WW_BUILTIN float floorf(float v) {
    return ww_floorf(v);
}
WW_BUILTIN float ceilf(float v) {
    return ww_ceilf(v);
}
WW_BUILTIN float exp2f(float v) {
    return ww_exp2f(v);
}
WW_BUILTIN float expf(float v) {
    return ww_expf(v);
}
WW_BUILTIN float logf(float v) {
    return ww_logf(v);
}
WW_BUILTIN float powf(float a, float b) {
    return ww_powf(a, b);
}
WW_BUILTIN float sinf(float v) {
    return ww_sinf(v);
}
WW_BUILTIN float cosf(float v) {
    return ww_cosf(v);
}
WW_BUILTIN float tanhf(float v) {
    return ww_tanhf(v);
}
/* One multiplication and the unit's own exp2, as CUDA documents it. */
WW_BUILTIN float __expf(float v) {
    return ww_exp2f(v * 1.4426950408889634f);
}
WW_BUILTIN int min(int a, int b) {
    return a < b ? a : b;
}
WW_BUILTIN int max(int a, int b) {
    return a > b ? a : b;
}

#endif
#endif
