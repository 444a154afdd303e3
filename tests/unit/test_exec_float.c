/* test_exec_float.c: floating point, half precision and conversions against values computed in C. */
#include "exec_test.h"
#include <fenv.h>
#include <math.h>

#define N 128u

static uint64_t A[N], B[N], C[N], OUT[N];

static uint32_t fbits(float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}
static float flt(uint64_t bits) {
    uint32_t b = (uint32_t)bits;
    float f;
    memcpy(&f, &b, 4);
    return f;
}
static uint64_t dbits(double f) {
    uint64_t b;
    memcpy(&b, &f, 8);
    return b;
}
static double dbl(uint64_t b) {
    double f;
    memcpy(&f, &b, 8);
    return f;
}
static uint32_t canon(float f) {
    return isnan(f) ? 0x7fffffffu : fbits(f);
}

static double special(unsigned n) {
    static const double v[] = {0.0,        -0.0,  1.0,          -1.0,         0.1,
                               -0.3,       1.5,   2.5,          -2.5,         3.4e38,
                               -3.4e38,    1e-39, -1e-45,       65504.0,      65520.0,
                               1e10,       -1e10, 2147483648.0, 4294967295.5, 1.8446744073709552e19,
                               0.49999997, 0.5,   100.25};
    unsigned count = sizeof v / sizeof *v;
    n %= count + 3;
    return n < count ? v[n] : n == count ? (double)INFINITY : n == count + 1 ? (double)-INFINITY : (double)NAN;
}

static void inputs_f32(void) {
    for (unsigned i = 0; i < N; i++) {
        A[i] = canon((float)special(i));
        B[i] = canon((float)special(i * 7 + 5));
        C[i] = canon((float)special(i * 11 + 3));
    }
}
static void inputs_f64(void) {
    for (unsigned i = 0; i < N; i++) {
        A[i] = dbits(special(i));
        B[i] = dbits(special(i * 7 + 5));
        C[i] = dbits(special(i * 11 + 3));
    }
}

#define RUN32(text)                                                                                            \
    do {                                                                                                       \
        inputs_f32();                                                                                          \
        exec_elements(                                                                                         \
            PTX_ELEMENT(".reg .f32 %d<2>, %x<4>; .reg .b16 %h<4>; .reg .f64 %g;",                              \
                        "ld.global.f32 %x1,[%rd1]; ld.global.f32 %x2,[%rd2]; ld.global.f32 %x3,[%rd3];" text   \
                        " st.global.f32 [%rd0],%d0;"),                                                         \
            OUT, A, B, C, N);                                                                                  \
    } while (0)
#define RUN64(text)                                                                                            \
    do {                                                                                                       \
        inputs_f64();                                                                                          \
        exec_elements(                                                                                         \
            PTX_ELEMENT(".reg .f64 %d<2>, %x<4>; .reg .b32 %w<4>;",                                            \
                        "ld.global.f64 %x1,[%rd1]; ld.global.f64 %x2,[%rd2]; ld.global.f64 %x3,[%rd3];" text   \
                        " st.global.f64 [%rd0],%d0;"),                                                         \
            OUT, A, B, C, N);                                                                                  \
    } while (0)
#define EXPECT_BITS(want)                                                                                      \
    for (unsigned i = 0; i < N; i++) {                                                                         \
        volatile float x = flt(A[i]), y = flt(B[i]), z = flt(C[i]);                                            \
        (void)x, (void)y, (void)z;                                                                             \
        uint32_t w = (uint32_t)(want);                                                                         \
        if ((uint32_t)OUT[i] != w)                                                                             \
            fail_msg("element %u: x=%g y=%g z=%g: %08x (%g), expected %08x (%g)", i, (double)x, (double)y,     \
                     (double)z, (uint32_t)OUT[i], (double)flt(OUT[i]), w, (double)flt(w));                     \
    }
#define EXPECT_F64(want)                                                                                       \
    for (unsigned i = 0; i < N; i++) {                                                                         \
        volatile double x = dbl(A[i]), y = dbl(B[i]), z = dbl(C[i]);                                           \
        (void)x, (void)y, (void)z;                                                                             \
        double w = (want), got = dbl(OUT[i]);                                                                  \
        if (isnan(w) ? !isnan(got) : OUT[i] != dbits(w))                                                       \
            fail_msg("element %u: x=%g y=%g z=%g: %.17g, expected %.17g", i, x, y, z, got, w);                 \
    }

static void single_precision_rounds_in_four_directions(void **state) {
    (void)state;
    static const struct {
        const char *suffix;
        int mode;
    } modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    for (int m = 0; m < 4; m++) {
        char text[] =
            PTX_ELEMENT(".reg .f32 %d<5>, %x<4>;",
                        "ld.global.f32 %x1,[%rd1]; ld.global.f32 %x2,[%rd2]; ld.global.f32 %x3,[%rd3];"
                        "add.R?.f32 %d0,%x1,%x2; mul.R?.f32 %d1,%x1,%x2; fma.R?.f32 %d2,%x1,%x2,%x3;"
                        "div.R?.f32 %d3,%x1,%x2; sqrt.R?.f32 %d4,%x1;"
                        "st.global.f32 [%rd0],%d0; st.global.f32 [%rd1],%d1; st.global.f32 [%rd2],%d2;"
                        "st.global.f32 [%rd3],%d3; st.global.f32 [%rd3+4],%d4;");
        inputs_f32();
        for (char *p; (p = strstr(text, "R?"));) memcpy(p, modes[m].suffix, 2);
        struct exec_test t;
        exec_open(&t, text);
        uint64_t args[4], got[4][N];
        const uint64_t *in[4] = {OUT, A, B, C};
        for (int k = 0; k < 4; k++) args[k] = exec_alloc(&t, in[k], 8 * N);
        exec_must(&t, exec_launch(&t, "k", 1, N, 0, args, 4));
        for (int k = 0; k < 4; k++) ww_device_read(t.device, got[k], args[k], 8 * N, NULL);
        exec_close(&t);
        for (unsigned i = 0; i < N; i++) {
            volatile float x = flt(A[i]), y = flt(B[i]), z = flt(C[i]), sum, product, fused, quotient, root;
            fesetround(modes[m].mode);
            sum = x + y;
            product = x * y;
            fused = fmaf(x, y, z);
            quotient = x / y;
            root = sqrtf(x);
            fesetround(FE_TONEAREST);
            assert_int_equal((uint32_t)got[0][i], canon(sum));
            assert_int_equal((uint32_t)got[1][i], canon(product));
            assert_int_equal((uint32_t)got[2][i], canon(fused));
            assert_int_equal((uint32_t)got[3][i], canon(quotient));
            assert_int_equal((uint32_t)(got[3][i] >> 32), canon(root));
        }
    }
}

static void double_precision_matches_the_host(void **state) {
    (void)state;
    RUN64("add.f64 %d0,%x1,%x2;");
    EXPECT_F64(x + y);
    RUN64("fma.rn.f64 %d0,%x1,%x2,%x3;");
    EXPECT_F64(fma(x, y, z));
    RUN64("div.rn.f64 %d0,%x1,%x2;");
    EXPECT_F64(x / y);
    RUN64("sqrt.rn.f64 %d0,%x1;");
    EXPECT_F64(sqrt(x));
    RUN64("rcp.rn.f64 %d0,%x1; neg.f64 %d0,%d0; abs.f64 %d0,%d0;");
    EXPECT_F64(fabs(1 / x));
}

static float flush(float f) {
    return fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f;
}

static void ftz_flushes_inputs_and_results(void **state) {
    (void)state;
    RUN32("add.ftz.f32 %d0,%x1,%x2;");
    EXPECT_BITS(canon(flush(flush(x) + flush(y))));
    RUN32("mul.ftz.f32 %d0,%x1,%x2;");
    EXPECT_BITS(canon(flush(flush(x) * flush(y))));
    RUN32("add.f32 %d0,%x1,%x2;");
    EXPECT_BITS(canon(x + y));
}

static void sat_clamps_to_the_unit_interval(void **state) {
    (void)state;
    RUN32("add.sat.f32 %d0,%x1,%x2;");
    EXPECT_BITS(x + y > 0 ? (x + y > 1 ? fbits(1) : fbits(x + y)) : 0);
}

static void nan_results_are_canonical(void **state) {
    (void)state;
    RUN32("sub.f32 %d0,%x1,%x1; mov.b32 %r1,0xffc00001; mov.b32 %d1,%r1; add.f32 %d0,%d0,%d1;");
    EXPECT_BITS(0x7fffffff);
}

static void min_and_max_prefer_numbers_and_order_zeros(void **state) {
    (void)state;
    RUN32("min.f32 %d0,%x1,%x2;");
    EXPECT_BITS(isnan(x)   ? canon(y)
                : isnan(y) ? fbits(x)
                : x == y   ? fbits(x) | fbits(y)
                           : fbits(x < y ? x : y));
    RUN32("max.NaN.f32 %d0,%x1,%x2;");
    EXPECT_BITS(isnan(x) || isnan(y) ? 0x7fffffffu : x == y ? fbits(x) & fbits(y) : fbits(x > y ? x : y));
    RUN64("max.f64 %d0,%x1,%x2;");
    EXPECT_F64(isnan(x) ? y : isnan(y) ? x : x > y ? x : x < y ? y : signbit(x) ? y : x);
}

static void sign_operations_change_only_the_sign(void **state) {
    (void)state;
    RUN32("neg.f32 %d0,%x1;");
    EXPECT_BITS(fbits(x) ^ 0x80000000u);
    RUN32("abs.f32 %d0,%x1;");
    EXPECT_BITS(fbits(x) & 0x7fffffffu);
    RUN32("copysign.f32 %d0,%x1,%x2;");
    EXPECT_BITS((fbits(x) & 0x80000000u) | (fbits(y) & 0x7fffffffu));
}

static bool close_to(double got, double want, double ulps) {
    if (isnan(want)) return isnan(got);
    if (got == want) return true;
    return fabs(got - want) <= ulps * fabs(want) * 0x1p-23 + 1e-37;
}

static void approximate_functions_are_close(void **state) {
    (void)state;
    static const struct {
        const char *op;
        double (*fn)(double);
    } f[] = {{"sin.approx.f32", sin},  {"cos.approx.f32", cos},   {"ex2.approx.f32", exp2},
             {"lg2.approx.f32", log2}, {"sqrt.approx.f32", sqrt}, {"tanh.approx.f32", tanh}};
    for (size_t k = 0; k < sizeof f / sizeof *f; k++) {
        char text[] =
            PTX_ELEMENT(".reg .f32 %d<2>, %x<4>;", "ld.global.f32 %x1,[%rd1];@st.global.f32 [%rd0],%d0;");
        char *at = strchr(text, '@'), whole[2000];
        *at = 0;
        snprintf(whole, sizeof whole, "%s%s %%d0,%%x1; %s", text, f[k].op, at + 1);
        inputs_f32();
        exec_elements(whole, OUT, A, B, C, N);
        for (unsigned i = 0; i < N; i++) {
            double want = (double)(float)f[k].fn((double)flt(A[i]));
            if (!close_to((double)flt(OUT[i]), want, 1))
                fail_msg("%s(%g) = %g, expected %g", f[k].op, (double)flt(A[i]), (double)flt(OUT[i]), want);
        }
    }
    RUN32("rcp.approx.f32 %d0,%x1; rsqrt.approx.f32 %d1,%x1; mul.f32 %d1,%d1,%d1; selp.f32 %d0,%d0,%d1,1;");
    for (unsigned i = 0; i < N; i++)
        assert_true(close_to((double)flt(OUT[i]), (double)(float)(1 / (double)flt(A[i])), 1));
    RUN32("div.full.f32 %d0,%x1,%x2;");
    EXPECT_BITS(canon(x / y));
}

static void testp_names_the_kind_of_a_number(void **state) {
    (void)state;
    RUN32("testp.finite.f32 %p1,%x1; selp.f32 %d0,0f3F800000,0f00000000,%p1; testp.subnormal.f32 %p2,%x1;"
          "@%p2 mov.f32 %d0,0f40000000; testp.notanumber.f32 %p3,%x1; @%p3 mov.f32 %d0,0f40400000;");
    EXPECT_BITS(isnan(x) ? fbits(3) : fpclassify(x) == FP_SUBNORMAL ? fbits(2) : isfinite(x) ? fbits(1) : 0);
}

static void float_comparisons_treat_nan_as_told(void **state) {
    (void)state;
    RUN32("setp.lt.f32 %p1,%x1,%x2; selp.f32 %d0,0f3F800000,0f00000000,%p1;");
    EXPECT_BITS(x < y ? fbits(1) : 0);
    RUN32("setp.ltu.f32 %p1,%x1,%x2; selp.f32 %d0,0f3F800000,0f00000000,%p1;");
    EXPECT_BITS(!(x >= y) ? fbits(1) : 0);
    RUN32("setp.ne.f32 %p1,%x1,%x2; selp.f32 %d0,0f3F800000,0f00000000,%p1;");
    EXPECT_BITS(x < y || x > y ? fbits(1) : 0);
    RUN32("setp.neu.f32 %p1,%x1,%x2; selp.f32 %d0,0f3F800000,0f00000000,%p1;");
    EXPECT_BITS(x != y ? fbits(1) : 0);
    RUN32("setp.nan.f32 %p1,%x1,%x2; selp.f32 %d0,0f3F800000,0f00000000,%p1;");
    EXPECT_BITS(isnan(x) || isnan(y) ? fbits(1) : 0);
    RUN32("set.ge.f32.f32 %d0,%x1,%x2;");
    EXPECT_BITS(x >= y ? fbits(1) : 0);
}

static int32_t to_s32(double v) {
    return isnan(v) ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? INT32_MIN : (int32_t)v;
}

static void floats_convert_to_integers_with_rounding_and_clamping(void **state) {
    (void)state;
    RUN32("cvt.rzi.s32.f32 %r1,%x1; mov.b32 %d0,%r1;");
    EXPECT_BITS(to_s32(trunc((double)x)));
    RUN32("cvt.rni.s32.f32 %r1,%x1; mov.b32 %d0,%r1;");
    EXPECT_BITS(to_s32(nearbyint((double)x)));
    RUN32("cvt.rmi.s32.f32 %r1,%x1; mov.b32 %d0,%r1;");
    EXPECT_BITS(to_s32(floor((double)x)));
    RUN32("cvt.rpi.u32.f32 %r1,%x1; mov.b32 %d0,%r1;");
    EXPECT_BITS(isnan(x) || ceil((double)x) <= 0  ? 0
                : ceil((double)x) >= 4294967295.0 ? UINT32_MAX
                                                  : (uint32_t)ceil((double)x));
    RUN32("cvt.rzi.u8.f32 %r1,%x1; mov.b32 %d0,%r1;");
    EXPECT_BITS(isnan(x) || x <= 0 ? 0 : x >= 255 ? 255 : (uint32_t)x);
    RUN64("{.reg .b64 %t; cvt.rzi.s64.f64 %t,%x1; mov.b64 %d0,%t;}");
    for (unsigned i = 0; i < N; i++) {
        double x = dbl(A[i]);
        int64_t want = isnan(x)                      ? INT64_MIN
                       : x >= 9.2233720368547758e18  ? INT64_MAX
                       : x <= -9.2233720368547758e18 ? INT64_MIN
                                                     : (int64_t)x;
        assert_int_equal((int64_t)OUT[i], want);
    }
}

static void integers_convert_to_floats_in_one_rounding(void **state) {
    (void)state;
    for (unsigned i = 0; i < N; i++) A[i] = B[i] = C[i] = (uint64_t)1 << (i % 64) | (i * 0x123456789u) | 1;
    uint64_t in[N];
    memcpy(in, A, sizeof in);
    exec_elements(PTX_ELEMENT(".reg .f32 %f<4>; .reg .f64 %g<4>; .reg .b64 %v;",
                              "ld.global.u64 %v,[%rd1]; cvt.rn.f32.u64 %f1,%v; cvt.rz.f32.s64 %f2,%v;"
                              "st.global.f32 [%rd0],%f1; st.global.f32 [%rd0+4],%f2;"),
                  OUT, A, B, C, N);
    for (unsigned i = 0; i < N; i++) {
        volatile uint64_t v = in[i];
        volatile float nearest = (float)v, toward;
        fesetround(FE_TOWARDZERO);
        toward = (float)(int64_t)v;
        fesetround(FE_TONEAREST);
        assert_int_equal((uint32_t)OUT[i], fbits(nearest));
        assert_int_equal((uint32_t)(OUT[i] >> 32), fbits(toward));
    }
}

static void integers_convert_with_extension_and_saturation(void **state) {
    (void)state;
    for (unsigned i = 0; i < N; i++)
        A[i] = B[i] = C[i] = i * 0x9e3779b97f4a7c15u ^ (i & 1 ? 0xffffffff00000000u : 0);
    exec_elements(
        PTX_ELEMENT(
            ".reg .b16 %h<4>;",
            "ld.global.u32 %r1,[%rd1]; cvt.s32.s8 %r2,%r1; cvt.sat.s8.s32 %r3,%r1; cvt.sat.u16.s32 %h1,%r1;"
            "st.global.u32 [%rd0],%r2; st.global.u32 [%rd1],%r3; st.global.u16 [%rd0+4],%h1;"
            "ld.global.u32 %r4,[%rd1]; sub.u32 %r3,%r3,%r4; st.global.u16 [%rd0+6],%r3;"),
        OUT, A, B, C, N);
    for (unsigned i = 0; i < N; i++) {
        int32_t v = (int32_t)A[i];
        assert_int_equal((int32_t)OUT[i], (int8_t)v);
        assert_int_equal((uint16_t)(OUT[i] >> 32), v < 0 ? 0 : v > 65535 ? 65535 : v);
    }
}

static void float_formats_convert_with_rounding(void **state) {
    (void)state;
    RUN32("cvt.f64.f32 %g,%x1; mul.f64 %g,%g,0d3FD5555555555555; cvt.rp.f32.f64 %d0,%g;");
    for (unsigned i = 0; i < N; i++) {
        volatile double v = (double)flt(A[i]) * 0.33333333333333331;
        fesetround(FE_UPWARD);
        volatile float want = (float)v;
        fesetround(FE_TONEAREST);
        assert_int_equal((uint32_t)OUT[i], canon(want));
    }
    RUN32("cvt.rni.f32.f32 %d0,%x1;");
    EXPECT_BITS(canon(nearbyintf(x)));
}

static double unhalf(uint16_t b) {
    int e = (b >> 10) & 31, m = b & 1023;
    double v = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
    return b & 0x8000 ? -v : v;
}
/* The half nearest to v, found by search. */
static uint16_t half(double v) {
    if (isnan(v)) return 0x7fff;
    uint16_t sign = signbit(v) ? 0x8000 : 0, lo = 0, hi = 0x7c00;
    double a = fabs(v);
    if (a >= 65520) return sign | 0x7c00;
    while (hi - lo > 1) {
        uint16_t mid = (uint16_t)((lo + hi) / 2);
        if (unhalf(mid) <= a)
            lo = mid;
        else
            hi = mid;
    }
    double below = a - unhalf(lo), above = (hi == 0x7c00 ? 65536 : unhalf(hi)) - a;
    uint16_t best = below < above || (below == above && !(lo & 1)) ? lo : hi;
    return sign | best;
}

static void half_precision_rounds_to_nearest_even(void **state) {
    (void)state;
    RUN32("cvt.rn.f16.f32 %h1,%x1; cvt.rn.f16.f32 %h2,%x2; fma.rn.f16 %h3,%h1,%h2,%h1; mov.b32 %r1,{%h3,%h1}; "
          "mov.b32 %d0,%r1;");
    for (unsigned i = 0; i < N; i++) {
        uint16_t a = half((double)flt(A[i])), b = half((double)flt(B[i])),
                 want = half(fma(unhalf(a), unhalf(b), unhalf(a)));
        assert_int_equal((uint32_t)OUT[i], want | (uint32_t)a << 16);
    }
    RUN32(
        "cvt.rn.f16x2.f32 %r1,%x1,%x2; cvt.rn.f16x2.f32 %r2,%x2,%x1; add.f16x2 %r3,%r1,%r2; mov.b32 %d0,%r3;");
    for (unsigned i = 0; i < N; i++) {
        uint16_t a = half((double)flt(A[i])), b = half((double)flt(B[i])), want = half(unhalf(a) + unhalf(b));
        assert_int_equal((uint32_t)OUT[i], want | (uint32_t)want << 16);
    }
    RUN32("cvt.rn.f16.f32 %h1,%x1; cvt.f32.f16 %d0,%h1;");
    EXPECT_BITS(canon((float)unhalf(half((double)x))));
    RUN32("cvt.rz.f16.f32 %h1,%x1; cvt.f32.f16 %d0,%h1;");
    for (unsigned i = 0; i < N; i++) {
        float x = flt(A[i]), got = flt(OUT[i]);
        assert_true(isnan(x) ? isnan(got) : fabsf(got) <= fabsf(x));
        if (isfinite(x)) assert_true(isfinite(got));
    }
}

static void bf16_keeps_the_upper_half_rounded(void **state) {
    (void)state;
    RUN32("cvt.rn.bf16.f32 %h1,%x1; mov.b32 %r1,{%h1,%h1}; and.b32 %r1,%r1,0xffff0000; mov.b32 %d0,%r1;");
    EXPECT_BITS(isnan(x) ? 0x7fff0000u : (fbits(x) + 0x7fffu + ((fbits(x) >> 16) & 1)) & 0xffff0000u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_precision_rounds_in_four_directions),
        cmocka_unit_test(double_precision_matches_the_host),
        cmocka_unit_test(ftz_flushes_inputs_and_results),
        cmocka_unit_test(sat_clamps_to_the_unit_interval),
        cmocka_unit_test(nan_results_are_canonical),
        cmocka_unit_test(min_and_max_prefer_numbers_and_order_zeros),
        cmocka_unit_test(sign_operations_change_only_the_sign),
        cmocka_unit_test(approximate_functions_are_close),
        cmocka_unit_test(testp_names_the_kind_of_a_number),
        cmocka_unit_test(float_comparisons_treat_nan_as_told),
        cmocka_unit_test(floats_convert_to_integers_with_rounding_and_clamping),
        cmocka_unit_test(integers_convert_to_floats_in_one_rounding),
        cmocka_unit_test(integers_convert_with_extension_and_saturation),
        cmocka_unit_test(float_formats_convert_with_rounding),
        cmocka_unit_test(half_precision_rounds_to_nearest_even),
        cmocka_unit_test(bf16_keeps_the_upper_half_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
