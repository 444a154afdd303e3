/* The math of traces/kernels/ww_device.h, run as PTX (tests/kernels/device_math.ptx) against the C library in
 * double precision. The bounds are those that the header states. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/rng.h"
#include "../../traces/ptx/record/device_new.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { N = 4096, FUNCTIONS = 16 };
enum { EXP, LOG, SIN, COS, TANH, SQRT, RSQRT, POW, FAST_SIN, FAST_COS, FLOOR, CEIL, TRUNC, RINT, MINMAX, RCP };

struct results {
    float x[N];
    float y[FUNCTIONS][N];
};

static enum ww_code launch(struct ww_device *d, struct results *r, struct ww_error *error) {
    char path[512];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/../kernels/device_math.ptx", slash ? (int)(slash - __FILE__) : 1,
             slash ? __FILE__ : ".");
    struct ww_module *module;
    uint64_t x, y;
    uint32_t n = N;
    WW_TRY(ww_device_module(d, path, &module, error));
    WW_TRY(ww_device_alloc(d, sizeof r->x, &x, error));
    WW_TRY(ww_device_alloc(d, sizeof r->y, &y, error));
    WW_TRY(ww_device_write(d, x, r->x, sizeof r->x, error));
    const struct ww_arg args[] = {{&x, sizeof x}, {&y, sizeof y}, {&n, sizeof n}};
    const uint32_t grid[3] = {N / 128, 1, 1}, block[3] = {128, 1, 1};
    WW_TRY(ww_device_launch(d, module, "device_math", grid, block, 0, args, 3, error));
    return ww_device_read(d, r->y, y, sizeof r->y, error);
}

/* All functions of N numbers in [low, high). */
static const struct results *compute(double low, double high) {
    static struct results r; /* of the last call */
    struct ww_record_options options = {0};
    struct ww_device *d;
    struct ww_error error = {0};
    struct ww_rng rng;
    ww_rng_seed(&rng, 3);
    for (int i = 0; i < N; i++) r.x[i] = (float)(low + (high - low) * ww_rng_unit(&rng));
    assert_int_equal(ww_device_new(&options, NULL, &d, &error), WW_OK);
    enum ww_code code = launch(d, &r, &error);
    if (code != WW_OK) print_error("%s: %s\n", error.where, error.text);
    assert_int_equal(code, WW_OK);
    ww_device_free_all(d);
    return &r;
}

/* One unit in the last place of a float near v. */
static double ulp(double v) {
    int e;
    (void)frexp(v, &e);
    return ldexp(1, (e < -125 ? -125 : e) - 24);
}

/* Checks function f against `exact` of x (or of |x|) within `ulps` or `absolute`, whichever is wider. */
static void within(const struct results *r, int f, double (*exact)(double), bool of_absolute, double ulps,
                   double absolute) {
    for (int i = 0; i < N; i++) {
        double x = (double)r->x[i], want = exact(of_absolute ? fabs(x) : x);
        double difference = fabs((double)r->y[f][i] - want), allowed = fmax(ulps * ulp(want), absolute);
        if (!(difference <= allowed))
            print_error("x %.9g: %.9g, expected %.12g within %.3g\n", x, (double)r->y[f][i], want, allowed);
        assert_true(difference <= allowed);
    }
}

static double power(double x) {
    return pow(x, 1.5);
}
static double reciprocal_root(double x) {
    return 1 / sqrt(x);
}
static double reciprocal(double x) {
    return 1 / x;
}
static double at_least_minus_or_one(double x) {
    return fmin(x, fmax(1, -x));
}

static void exponential_is_within_3_ulp(void **state) {
    (void)state;
    within(compute(-87, 88), EXP, exp, false, 3, 0);
    within(compute(-1, 1), EXP, exp, false, 3, 0);
}

static void exponential_saturates(void **state) {
    (void)state;
    const struct results *r = compute(90, 200);
    for (int i = 0; i < N; i++) assert_true(isinf(r->y[EXP][i]));
    r = compute(-300, -105);
    for (int i = 0; i < N; i++) assert_true(r->y[EXP][i] == 0);
}

static void logarithm_is_within_3_ulp(void **state) {
    (void)state;
    within(compute(0.4, 3), LOG, log, true, 3, 0);
    within(compute(1e-30, 1e30), LOG, log, true, 3, 0);
}

static void sine_and_cosine_are_within_2_ulp(void **state) {
    (void)state;
    static const double limit[] = {3.2, 50000};
    for (int i = 0; i < 2; i++) {
        const struct results *r = compute(-limit[i], limit[i]);
        within(r, SIN, sin, false, 2, 0x1p-24);
        within(r, COS, cos, false, 2, 0x1p-24);
    }
}

static void hyperbolic_tangent_is_within_8_ulp(void **state) {
    (void)state;
    within(compute(-0.3, 0.3), TANH, tanh, false, 8, 0);
    within(compute(-10, 10), TANH, tanh, false, 8, 0);
}

static void square_root_is_correctly_rounded(void **state) {
    (void)state;
    const struct results *r = compute(0, 1e6);
    within(r, SQRT, sqrt, true, 0.5, 0);
    within(r, RSQRT, reciprocal_root, true, 2, 0);
    within(r, RCP, reciprocal, false, 1, 0);
}

static void power_keeps_22_bits_times_its_exponent(void **state) {
    (void)state;
    const struct results *r = compute(0.1, 1000);
    for (int i = 0; i < N; i++) {
        double want = power((double)r->x[i]);
        assert_true(fabs((double)r->y[POW][i] - want) <= 0x1p-22 * (1 + fabs(log2(want))) * want);
    }
}

static void fast_sine_and_cosine_are_within_their_absolute_error(void **state) {
    (void)state;
    const struct results *r = compute(-3.14, 3.14);
    within(r, FAST_SIN, sin, false, 0, exp2(-20.9));
    within(r, FAST_COS, cos, false, 0, exp2(-20.9));
}

static void roundings_and_minimum_are_exact(void **state) {
    (void)state;
    const struct results *r = compute(-20, 20);
    within(r, FLOOR, floor, false, 0, 0);
    within(r, CEIL, ceil, false, 0, 0);
    within(r, TRUNC, trunc, false, 0, 0);
    within(r, RINT, rint, false, 0, 0);
    within(r, MINMAX, at_least_minus_or_one, false, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_is_within_3_ulp),
        cmocka_unit_test(exponential_saturates),
        cmocka_unit_test(logarithm_is_within_3_ulp),
        cmocka_unit_test(sine_and_cosine_are_within_2_ulp),
        cmocka_unit_test(hyperbolic_tangent_is_within_8_ulp),
        cmocka_unit_test(square_root_is_correctly_rounded),
        cmocka_unit_test(power_keeps_22_bits_times_its_exponent),
        cmocka_unit_test(fast_sine_and_cosine_are_within_their_absolute_error),
        cmocka_unit_test(roundings_and_minimum_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
