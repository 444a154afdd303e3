/* exec_round.c: exact rounding to short float formats, and the host's rounding direction. */
#include "exec.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

struct format {
    int digits; /* of the significand, with the hidden one */
    int emin;   /* exponent of the smallest normal number */
    int emax;   /* exponent of the largest finite number */
};
static const struct format F16 = {11, -14, 15}, BF16 = {8, -126, 127};

/* |v| / unit rounded to a whole number. */
static double round_units(double units, bool negative, int round) {
    double whole = floor(units), rest = units - whole;
    if (rest == 0) return whole;
    switch (round) {
    case PTX_R_RZ:
        return whole;
    case PTX_R_RM:
        return negative ? whole + 1 : whole;
    case PTX_R_RP:
        return negative ? whole : whole + 1;
    case PTX_R_RNA:
        return rest >= 0.5 ? whole + 1 : whole;
    default:
        if (rest != 0.5) return rest > 0.5 ? whole + 1 : whole;
        return fmod(whole, 2) == 0 ? whole : whole + 1;
    }
}

/* Rounds v to the format; overflow gives infinity or the largest number as the direction says. */
static double round_to(double v, const struct format *f, int round) {
    if (v == 0 || !isfinite(v)) return v;
    bool negative = signbit(v) != 0;
    int e;
    frexp(v, &e);
    e -= 1;
    if (e < f->emin) e = f->emin;
    double unit = ldexp(1, e - f->digits + 1);
    double r = round_units(fabs(v) / unit, negative, round) * unit;
    double largest = ldexp(2 - ldexp(1, 1 - f->digits), f->emax);
    if (r > largest) {
        bool stay = round == PTX_R_RZ || (round == PTX_R_RM && !negative) || (round == PTX_R_RP && negative);
        r = stay ? largest : INFINITY;
    }
    return negative ? -r : r;
}

/* Bits of a value that the format can represent. */
static uint32_t pack(double v, const struct format *f, int exponent_bits) {
    uint32_t sign = signbit(v) ? 1u << (exponent_bits + f->digits - 1) : 0;
    uint32_t ones = (1u << exponent_bits) - 1;
    if (isinf(v)) return sign | ones << (f->digits - 1);
    v = fabs(v);
    if (v == 0) return sign;
    int e;
    frexp(v, &e);
    e -= 1;
    if (e < f->emin) return sign | (uint32_t)ldexp(v, f->digits - 1 - f->emin);
    uint32_t significand = (uint32_t)ldexp(v, f->digits - 1 - e);
    uint32_t hidden = 1u << (f->digits - 1);
    return sign | (uint32_t)(e - f->emin + 1) << (f->digits - 1) | (significand - hidden);
}

uint16_t ww_ex_double_to_f16(double v, int round, bool saturate_finite) {
    if (isnan(v)) return 0x7fff;
    double r = round_to(v, &F16, round);
    if (saturate_finite && isinf(r)) r = copysign(65504, r);
    return (uint16_t)pack(r, &F16, 5);
}

uint16_t ww_ex_double_to_bf16(double v, int round) {
    if (isnan(v)) return 0x7fff;
    return (uint16_t)pack(round_to(v, &BF16, round), &BF16, 8);
}

double ww_ex_f16_to_double(uint16_t h) {
    uint32_t e = (h >> 10) & 31u, m = h & 1023u;
    double v = e == 31 ? (m ? (double)NAN : (double)INFINITY)
               : e     ? ldexp((double)(m + 1024), (int)e - 25)
                       : ldexp((double)m, -24);
    return h & 0x8000u ? -v : v;
}

double ww_ex_bf16_to_double(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

uint32_t ww_ex_float_to_tf32(float v, int round) {
    static const struct format TF32 = {11, -126, 127};
    uint32_t bits;
    if (isnan(v)) return 0x7fffffffu;
    float r = (float)round_to((double)v, &TF32, round);
    memcpy(&bits, &r, sizeof bits);
    return bits;
}

/* e4m3 has no infinity and its largest number is 448; e5m2 is half precision cut short. */
uint8_t ww_ex_double_to_f8(double v, bool e5m2, bool saturate_finite) {
    static const struct format E4M3 = {4, -6, 8}, E5M2 = {3, -14, 15};
    if (isnan(v)) return 0x7f;
    double largest = e5m2 ? 57344 : 448;
    if (saturate_finite && fabs(v) > largest) v = copysign(largest, v);
    double r = round_to(v, e5m2 ? &E5M2 : &E4M3, PTX_R_RN);
    if (fabs(r) > largest) r = copysign(largest, r);
    return (uint8_t)(e5m2 ? pack(r, &E5M2, 5) : pack(r, &E4M3, 4));
}

double ww_ex_f8_to_double(uint8_t v, bool e5m2) {
    if (e5m2) return ww_ex_f16_to_double((uint16_t)(v << 8));
    uint32_t e = (v >> 3) & 15u, m = v & 7u;
    double r = e == 15 && m == 7 ? (double)NAN : e ? ldexp((double)(m + 8), (int)e - 10) : ldexp((double)m, -9);
    return v & 0x80u ? -r : r;
}

double ww_ex_fma_odd(double a, double b, double c) {
    double p = a * b, s = p + c;
    if (!isfinite(s)) return s;
    double t = s - p, e = (p - (s - t)) + (c - t); /* two-sum: s + e is exact; p is exact for short formats */
    uint64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if (e == 0 || bits & 1u) return s;
    bits = (e > 0) == (s > 0) ? bits + 1 : bits - 1;
    memcpy(&s, &bits, sizeof bits);
    return s;
}

int ww_ex_set_round(int round) {
    int old = fegetround();
    switch (round) {
    case PTX_R_RZ:
    case PTX_R_RZI:
        fesetround(FE_TOWARDZERO);
        break;
    case PTX_R_RM:
    case PTX_R_RMI:
        fesetround(FE_DOWNWARD);
        break;
    case PTX_R_RP:
    case PTX_R_RPI:
        fesetround(FE_UPWARD);
        break;
    default:
        fesetround(FE_TONEAREST);
        break;
    }
    return old;
}

void ww_ex_restore_round(int old) {
    fesetround(old);
}
