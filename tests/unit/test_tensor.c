/* Matrix instructions: what mnemonics say, and times by shape, type and generation. */
#include "../../estimator/api/gpu.h"
#include "../../estimator/config/tensor.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct ww_error error;

static struct ww_matrix of(const char *name) {
    struct ww_matrix x;
    if (!ww_matrix_of(name, &x)) fail_msg("%s is not known", name);
    return x;
}

static void multiply_adds_are_those_of_a_warp(void **state) {
    (void)state;
    assert_int_equal(of("HMMA.16816.F32").fma, 16 * 8 * 16);
    assert_int_equal(of("HMMA.884.F32.F32.STEP2").fma, 256);
    assert_int_equal(of("HMMA.884.F16.F16.STEP1").fma, 512);
    assert_int_equal(of("HMMA.884").fma, 256);
    assert_int_equal(of("IMMA.8816.S8.S8").fma, 1024);
    assert_int_equal(of("BMMA.168256.XOR.POPC").fma, 32768);
    assert_int_equal(of("DMMA.16x8x4").fma, 512);
    assert_int_equal(of("HGMMA.64x128x16.F32.BF16").fma, 64 * 128 * 16 / 4);
    assert_int_equal(of("HMMA.SP.16832.F32").fma, 16 * 8 * 32 / 2);
}

static void types_are_those_of_a_and_b(void **state) {
    (void)state;
    assert_int_equal(of("HMMA.1688.F32.TF32").type, WW_MATRIX_TF32);
    assert_int_equal(of("HMMA.16816.F32.BF16").type, WW_MATRIX_FP16);
    assert_int_equal(of("IMMA.16864.S4.S4").type, WW_MATRIX_INT4);
    assert_int_equal(of("QGMMA.64x64x32.F16.E4M3.E5M2").type, WW_MATRIX_FP8);
    assert_true(of("HMMA.16816.F32").fp32);
    assert_false(of("HMMA.16816.F16").fp32);
    assert_false(of("IMMA.16832.S8.S8").fp32);
    assert_true(of("IGMMA.64x8x32.S8.S8").async);
}

static void sums_of_a_warpgroup_take_registers_by_their_type(void **state) {
    (void)state;
    assert_int_equal(of("HGMMA.64x64x16.F32").registers, 32);
    assert_int_equal(of("HGMMA.64x64x16.F16").registers, 16);
    assert_int_equal(of("IGMMA.64x64x32.S8.S8").registers, 32);
}

static void other_words_are_none(void **state) {
    (void)state;
    static const char *const all[] = {"",          "HFMA2.MMA",     "HMMA",        "HMMA.999",
                                      "HGMMA.64x", "HGMMA.64x0x16", "HGMMA.64x8x", "HGMMA.99999x8x16",
                                      "FFMA.884"};
    struct ww_matrix x;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (ww_matrix_of(all[i], &x)) fail_msg("\"%s\" is known", all[i]);
}

static struct ww_tensor_time on(const char *model, const char *set, const char *name) {
    struct ww_gpu *gpu;
    struct ww_tensor_time t = {0};
    assert_int_equal(ww_gpu_load(model, &set, set ? 1 : 0, &gpu, &error), WW_OK);
    assert_true(ww_tensor_time(&gpu->spec, name, false, &t));
    ww_gpu_free(gpu);
    return t;
}

static void a_type_takes_the_time_of_its_rate(void **state) {
    (void)state;
    assert_int_equal(on("v100", NULL, "HMMA.884.F32.F32.STEP0").eighths, 16);
    assert_int_equal(on("a100", NULL, "HMMA.16816.F32").eighths, 64);
    assert_int_equal(on("a100", NULL, "DMMA.884").eighths, 128);
    assert_int_equal(on("a100", "pipe.tensor.speed=2", "HMMA.16816.F32").eighths, 32);
}

static void sums_of_fp32_are_slower_where_the_board_says_so(void **state) {
    (void)state;
    assert_int_equal(on("l40", NULL, "HMMA.16816.F32").eighths, 2 * on("l40", NULL, "HMMA.16816.F16").eighths);
    assert_int_equal(on("l40", NULL, "IMMA.16832.S8.S8").eighths, 128);
}

static void the_longest_row_counts(void **state) {
    (void)state;
    assert_int_equal(on("a100", NULL, "HMMA.1688.F32").eighths, 32);
    assert_int_equal(on("a100", NULL, "HMMA.1688.F32.TF32").eighths, 64);
}

/* Operands of 64 x 16 and n x 16 halves at 128 bytes a cycle, or 512 multiply-adds a cycle and scheduler. */
static void a_warpgroup_waits_for_operands_or_multiplies(void **state) {
    (void)state;
    assert_int_equal(on("h100", NULL, "HGMMA.64x8x16.F32").eighths, 8 * 18);
    assert_int_equal(on("h100", NULL, "HGMMA.64x64x16.F32").eighths, 8 * 32);
    assert_int_equal(on("h100", NULL, "HGMMA.64x256x16.F32").eighths, 8 * 128);
    assert_int_equal(on("h100", NULL, "QGMMA.64x256x32.F32.E4M3.E4M3").eighths, 8 * 128);
    assert_int_equal(on("h100", NULL, "HGMMA.64x256x16.F32").latency, 177);
    /* Of a sparse A half is there and half is multiplied; B is twice as deep: 18 KiB, and half as many cycles a
     * product. */
    assert_int_equal(on("h100", NULL, "HGMMA.SP.64x256x32.F32").eighths, 8 * 144);
    assert_int_equal(on("h100", NULL, "QGMMA.SP.64x64x64.F32.E4M3.E4M3").eighths, 8 * 48);
    assert_true(on("h100", NULL, "HGMMA.64x64x16.F32").read == 32);
}

/* Each CTA of a pair multiplies its half of the rows; four bits are twice as fast as eight. */
static void a_pair_takes_the_time_of_a_half(void **state) {
    (void)state;
    struct ww_gpu_spec g = {
        .pipe_tensor_unit = WW_TENSOR_GB100, .pipe_tensor_speed = 1, .pipe_tensor_async_bytes = 1024};
    struct ww_tensor_time one, pair, four;
    assert_true(ww_tensor_time(&g, "UTCHMMA.128x256x16.F32", false, &one));
    assert_true(ww_tensor_time(&g, "UTCHMMA.2CTA.256x256x16.F32", false, &pair));
    assert_true(ww_tensor_time(&g, "UTCOMMA.128x256x64.F32.E2M1", false, &four));
    assert_int_equal(one.eighths, pair.eighths);
    assert_int_equal(four.eighths, one.eighths);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_takes_the_time_of_a_half),
        cmocka_unit_test(multiply_adds_are_those_of_a_warp),
        cmocka_unit_test(types_are_those_of_a_and_b),
        cmocka_unit_test(sums_of_a_warpgroup_take_registers_by_their_type),
        cmocka_unit_test(other_words_are_none),
        cmocka_unit_test(a_type_takes_the_time_of_its_rate),
        cmocka_unit_test(sums_of_fp32_are_slower_where_the_board_says_so),
        cmocka_unit_test(the_longest_row_counts),
        cmocka_unit_test(a_warpgroup_waits_for_operands_or_multiplies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
