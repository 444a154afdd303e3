/* Occupancy: which limit binds, and how allocations are rounded. */
#include "../../estimator/core/sm/occupancy.h"
#include "../../estimator/core/launch/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Sizes of compute capability 7.0. */
static struct ww_gpu_spec volta(void) {
    struct ww_gpu_spec g;
    memset(&g, 0, sizeof g);
    g.sm_max_warps = 64;
    g.sm_max_ctas = 32;
    g.sm_max_threads = 2048;
    g.sm_registers = 65536;
    g.sm_register_unit = 256;
    g.sm_warp_unit = 4;
    g.sm_max_registers_per_thread = 255;
    g.sm_shared_kb = g.sm_shared_per_cta_kb = 96;
    g.sm_shared_unit = 256;
    return g;
}

static struct ww_launch block_of(uint32_t threads, uint32_t registers, uint32_t shared) {
    return (struct ww_launch){
        .kernel = "k", .block = {threads, 1, 1}, .registers_per_thread = registers, .shared_static = shared};
}

static void expect(const struct ww_gpu_spec *g, struct ww_launch l, uint32_t ctas, const char *limiter) {
    uint32_t got = 0;
    const char *name = NULL;
    struct ww_error error;
    assert_int_equal(ww_occupancy(g, &l, &got, &name, &error), WW_OK);
    assert_int_equal(got, ctas);
    assert_string_equal(name, limiter);
}

static void threads_limit_large_blocks(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    expect(&g, block_of(1024, 16, 0), 2, "threads");
    expect(&g, block_of(768, 16, 0), 2, "threads");
    expect(&g, block_of(33, 16, 0), 32, "threads"); /* two warps each */
}

static void the_number_of_ctas_limits_small_blocks(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    expect(&g, block_of(32, 16, 0), 32, "ctas");
}

static void registers_are_given_to_warps_in_units(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    /* 33 registers: 1,056 a warp, 1,280 in units of 256: 51 warps, 48 in fours: 6 CTAs of 8 */
    expect(&g, block_of(256, 33, 0), 6, "registers");
    expect(&g, block_of(256, 32, 0), 8, "threads");
    expect(&g, block_of(256, 255, 0), 1, "registers");
}

/* Figures of NVIDIA's cuda_occupancy.h for compute capability 7.0. */
static void ctas_need_not_fill_the_sub_partitions_evenly(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    expect(&g, block_of(64, 32, 0), 32, "threads");
    expect(&g, block_of(192, 40, 0), 8, "registers");
    expect(&g, block_of(96, 63, 0), 10, "registers");
    expect(&g, block_of(160, 37, 0), 9, "registers");
}

static void registers_beyond_the_instruction_set_count_as_its_most(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    expect(&g, block_of(64, 255, 0), 4, "registers");
    expect(&g, block_of(64, 300, 0), 4, "registers");
}

static void one_cta_must_fit_with_its_warps_rounded_up(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    uint32_t ctas = 0;
    const char *limiter = NULL;
    struct ww_error error;
    struct ww_launch l = block_of(288, 255, 0); /* 9 warps, 12 in fours: 12 x 8,192 registers */
    assert_int_equal(ww_occupancy(&g, &l, &ctas, &limiter, &error), WW_UNSUPPORTED);
    assert_string_equal(limiter, "registers");
}

static void registers_may_be_given_to_a_whole_cta(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    g.sm_registers = 16384;
    g.sm_register_unit = 512;
    g.sm_register_granularity = 1;
    g.sm_warp_unit = 2;
    /* 96 threads: 3 warps, 4 in pairs: 4 x 32 x 20 = 2,560 registers, 6 times in 16,384 */
    expect(&g, block_of(96, 20, 0), 6, "registers");
}

static void shared_memory_is_rounded_and_pays_for_the_system(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    expect(&g, block_of(64, 16, 12 * 1024), 8, "shared");
    expect(&g, block_of(64, 16, 12 * 1024 + 1), 7, "shared");
    g.sm_shared_reserved = 1024;
    expect(&g, block_of(64, 16, 12 * 1024), 7, "shared");
}

static void unsupported(struct ww_launch l, const char *word) {
    struct ww_gpu_spec g = volta();
    uint32_t ctas;
    const char *limiter;
    struct ww_error error;
    assert_int_equal(ww_occupancy(&g, &l, &ctas, &limiter, &error), WW_UNSUPPORTED);
    assert_non_null(strstr(error.text, word));
}

static void a_cta_that_fits_no_sm_is_refused_with_the_limit(void **state) {
    (void)state;
    unsupported(block_of(4096, 16, 0), "threads");
    unsupported(block_of(1024, 128, 0), "registers");
    unsupported(block_of(64, 16, 97 * 1024), "shared");
}

static void a_block_without_threads_is_an_input_error(void **state) {
    (void)state;
    struct ww_gpu_spec g = volta();
    struct ww_launch l = block_of(0, 16, 0);
    uint32_t ctas;
    const char *limiter;
    assert_int_equal(ww_occupancy(&g, &l, &ctas, &limiter, NULL), WW_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_limit_large_blocks),
        cmocka_unit_test(the_number_of_ctas_limits_small_blocks),
        cmocka_unit_test(registers_are_given_to_warps_in_units),
        cmocka_unit_test(ctas_need_not_fill_the_sub_partitions_evenly),
        cmocka_unit_test(registers_beyond_the_instruction_set_count_as_its_most),
        cmocka_unit_test(one_cta_must_fit_with_its_warps_rounded_up),
        cmocka_unit_test(registers_may_be_given_to_a_whole_cta),
        cmocka_unit_test(shared_memory_is_rounded_and_pays_for_the_system),
        cmocka_unit_test(a_cta_that_fits_no_sm_is_refused_with_the_limit),
        cmocka_unit_test(a_block_without_threads_is_an_input_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
