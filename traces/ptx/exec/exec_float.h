/* exec_float.h: float lanes: flush to zero, saturation, canonical NaN. */
#ifndef WW_TRACES_PTX_EXEC_FLOAT_H
#define WW_TRACES_PTX_EXEC_FLOAT_H

#include "simt.h"
#include <math.h>
#include <string.h>

static inline float ex_f32(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint32_t ex_f32_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static inline double ex_f64(uint64_t bits) {
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint64_t ex_f64_bits(double f) {
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
/* .ftz: a subnormal becomes a zero of its sign. */
static inline uint32_t ex_flush(uint32_t bits, bool ftz) {
    return ftz && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}
/* The bits of a single precision result: any NaN is 0x7fffffff; .ftz; .sat clamps to [0, 1], NaN to 0. */
static inline uint32_t ex_result(float v, bool ftz, bool sat) {
    uint32_t bits = ex_f32_bits(v);
    bits = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : ex_flush(bits, ftz);
    if (sat) bits = !(v > 0.0f) ? 0 : v > 1.0f ? 0x3f800000u : bits;
    return bits;
}
/* Half precision source of lane l: type F16, BF16 (or their packed forms: half h). */
static inline double ex_half(uint8_t type, uint32_t bits, unsigned h) {
    uint16_t v = (uint16_t)(bits >> (16 * h));
    return type == PTX_T_BF16 || type == PTX_T_BF16X2 ? ww_ex_bf16_to_double(v) : ww_ex_f16_to_double(v);
}

#endif
