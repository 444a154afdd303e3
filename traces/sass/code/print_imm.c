/* Writes immediates: integers, and floating-point numbers of three widths. */
#include "print_internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Large numbers have an exponent always; a zero keeps its sign. */
static void put_finite(struct ww_sass_out *o, double v) {
    if (v == 0 && signbit(v))
        ww_sass_put(o, "-0.0 ");
    else
        ww_sass_put(o, fabs(v) >= 1e9 ? "%.20e" : "%.20g", v);
}

static void put_number(struct ww_sass_out *o, double v, bool quiet) {
    if (isnan(v))
        ww_sass_put(o, "%s%sNAN ", signbit(v) ? "-" : "+", quiet ? "Q" : "S");
    else if (isinf(v))
        ww_sass_put(o, "%sINF ", v < 0 ? "-" : "+");
    else
        put_finite(o, v);
}

static void put_float(struct ww_sass_out *o, uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    put_number(o, (double)f, true);
}

/* The upper word of a double; the lower one is zero. */
static void put_double(struct ww_sass_out *o, uint32_t bits) {
    uint64_t wide = (uint64_t)bits << 32;
    double v;
    memcpy(&v, &wide, sizeof v);
    put_number(o, v, bits >> 19 & 1);
}

static void put_half(struct ww_sass_out *o, unsigned bits) {
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double v = exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31) v = fraction ? (double)NAN : (double)INFINITY;
    put_number(o, bits >> 15 ? -v : v, true);
}

void ww_sass_put_imm(struct ww_sass_out *o, int64_t v, enum ww_sass_text text) {
    switch (text) {
    case SASS_TX_SIGNED:
        if (v >= 0 && v <= UINT32_MAX) v = (int32_t)(uint32_t)v;
        ww_sass_put(o, "%s0x%" PRIx64, v < 0 ? "-" : "", v < 0 ? -(uint64_t)v : (uint64_t)v);
        return;
    case SASS_TX_WIDE:
        ww_sass_put(o, "%s0x%" PRIx64, v < 0 ? "-" : "", v < 0 ? -(uint64_t)v : (uint64_t)v);
        return;
    case SASS_TX_FLOAT:
        put_float(o, (uint32_t)v);
        return;
    case SASS_TX_DOUBLE:
        put_double(o, (uint32_t)v);
        return;
    case SASS_TX_HALVES:
        put_half(o, (unsigned)(v >> 16 & 0xffff));
        ww_sass_put(o, ", ");
        put_half(o, (unsigned)(v & 0xffff));
        return;
    case SASS_TX_BF16S:
        put_float(o, (uint32_t)(v & 0xffff0000));
        ww_sass_put(o, ", ");
        put_float(o, (uint32_t)(v << 16));
        return;
    default:
        ww_sass_put(o, "0x%" PRIx64, (uint64_t)v);
        return;
    }
}
