/* Programs in spaces: expressions, constraints, launches, slices of a GPU and the CTAs that they replay. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/config/gpu.h"
#include "../../estimator/study/sweep/alike.h"
#include "../../estimator/study/sweep/expression.h"
#include "../../estimator/study/sweep/program.h"
#include "../../estimator/study/sweep/slice.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_error error;

static bool names(const void *context, const char *name, int64_t *value) {
    (void)context;
    *value = strcmp(name, "x") == 0 ? 7 : 32;
    return strcmp(name, "x") == 0 || strcmp(name, "TILE_X") == 0;
}

static void gives(const char *text, int64_t expected) {
    int64_t v;
    if (ww_expression(text, names, NULL, "here", &v, &error) != WW_OK) fail_msg("%s: %s", text, error.text);
    if (v != expected) fail_msg("%s: %lld", text, (long long)v);
}

static void fails(const char *text, const char *says) {
    int64_t v;
    assert_int_equal(ww_expression(text, names, NULL, "here", &v, &error), WW_INPUT);
    if (!strstr(error.text, says)) fail_msg("%s: \"%s\"", text, error.text);
}

static void expressions_are_those_of_c(void **state) {
    (void)state;
    gives("2 + 3 * 4 - 6 / 4", 13);
    gives("-7 / 2", -3);
    gives("-7 // 2", -4);
    gives("-7 % 3", -1);
    gives("(4096 + TILE_X - 1) / TILE_X", 128);
    gives("ceil_div(100, TILE_X)", 4);
    gives("min(x, 3, 9) + max(x, 3)", 10);
    gives("x < 8 && TILE_X == 32 ? 0x10 : 2", 16);
    gives("x > 8 or not TILE_X != 32", 1);
    gives("!x + 1", 1);
    gives("1 < 2 < 3", 1);
}

static void what_is_not_taken_cannot_fail(void **state) {
    (void)state;
    gives("0 && 1 / 0", 0);
    gives("1 || 1 / 0", 1);
    gives("x ? 1 : 9223372036854775807 + 1", 1);
    fails("1 && 1 / 0", "division by 0");
    fails("0 && nobody", "no parameter has this name");
}

static void expressions_are_refused_with_their_column(void **state) {
    (void)state;
    fails("x +", "it ends too early");
    fails("x y", "column 3");
    fails("9223372036854775807 + 1", "beyond 64 bits");
    fails("9223372036854775808", "beyond 64 bits");
    fails("-9223372036854775807 - 2", "beyond 64 bits");
    fails("x $ 2", "expected nothing more");
    fails("1.5", "not a whole number");
    fails("min(1, 2", "expected , or )");
    fails("ceil_div(1)", "two values");
    char deep[400];
    memset(deep, '(', 300);
    deep[300] = 0;
    fails(deep, "nested too deeply");
    memset(deep, '!', 300);
    fails(deep, "nested too deeply");
}

/* ---- spaces ---- */

#define LAUNCH                                                                                                 \
    "\"launch\": {\"kernel\": \"k_{A}\", \"grid\": [\"64 / A\", 2], \"block\": \"A\", \"args\": [{\"u32\": "   \
    "\"A * 2\"}, {\"buffer\": \"b\", \"offset\": \"A\"}], \"buffers\": {\"b\": {\"bytes\": \"A * 64\"}}}"

static enum ww_code parse(const char *program, struct ww_sweep_space *s) {
    char text[4000];
    snprintf(text, sizeof text, "{\"gpu\": \"v100\", \"program\": {%s}}", program);
    return ww_sweep_space_parse(text, strlen(text), "s.json", s, &error);
}

static void refused(const char *program, const char *place, const char *says) {
    struct ww_sweep_space s;
    assert_int_equal(parse(program, &s), WW_INPUT);
    if (!strstr(error.where, place) || !strstr(error.text, says)) fail_msg("%s: %s", error.where, error.text);
    ww_sweep_space_free(&s);
}

static void bad_programs_are_refused(void **state) {
    (void)state;
    refused("\"parameters\": {\"A\": [1]}, " LAUNCH, "$.program", "either \"source\" or \"command\"");
    refused("\"source\": \"a.c\", \"parameters\": {\"A\": [1]}, " LAUNCH, "$.program.source", ".cu or .ptx");
    refused("\"source\": \"a.cu\", \"parameters\": {\"2A\": [1]}, " LAUNCH, "2A", "not the name of a macro");
    refused("\"source\": \"a.cu\", \"parameters\": {\"A b\": [1]}, " LAUNCH, "A b", "not the name of a macro");
    refused("\"source\": \"a.ptx\", \"as\": \"define\", \"parameters\": {\"A\": [1]}, " LAUNCH, "A",
            "has macros");
    refused("\"source\": \"a.cu\", \"parameters\": {\"A\": [1]}, \"constraints\": [\"A < B\"], " LAUNCH,
            "constraints[0]", "no parameter has this name");
    refused("\"source\": \"a.cu\", \"parameters\": {\"A\": [1]}", "$.program.launch", "launch description");
    refused("\"source\": \"a.cu\", \"parameters\": {\"A\": [\"x\\ny\"]}, " LAUNCH, "A", "control character");
    refused("\"source\": \"a.cu\", \"parameters\": {\"A\": [1]}, \"timeout_s\": 0, " LAUNCH, "timeout_s",
            "seconds");
}

static size_t grid_of(const char *parameters, const char *constraints, enum ww_code expected) {
    struct ww_sweep_space s;
    struct ww_sweep_plan plan = {0};
    char program[2000];
    snprintf(program, sizeof program,
             "\"source\": \"a.cu\", \"parameters\": {%s}, \"constraints\": [%s], " LAUNCH, parameters,
             constraints);
    if (parse(program, &s) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    assert_int_equal(ww_sweep_pick(&s, WW_SWEEP_GRID, 0, 0, &plan, &error), expected);
    ww_sweep_space_free(&s);
    return plan.count;
}

#define THOUSAND "{\"from\": 1, \"to\": 1000, \"step\": 1}"

static void constraints_thin_a_grid_before_it_is_counted(void **state) {
    (void)state;
    assert_int_equal(grid_of("\"A\": [1, 2, 4], \"B\": [1, 2]", "\"A >= B\"", WW_OK), 5);
    assert_int_equal(grid_of("\"A\": [0, 2], \"B\": [1, 2]", "\"A && B % A == 0\"", WW_OK), 1);
    assert_int_equal(grid_of("\"A\": " THOUSAND ", \"B\": " THOUSAND ", \"C\": " THOUSAND,
                             "\"A == 7\", \"B == A\", \"C <= 3\"", WW_OK),
                     3);
    grid_of("\"A\": " THOUSAND ", \"B\": " THOUSAND ", \"C\": " THOUSAND, "\"A > 0\"", WW_INPUT);
    assert_non_null(strstr(error.text, "--strategy random"));
    grid_of("\"A\": " THOUSAND ", \"B\": " THOUSAND ", \"C\": " THOUSAND,
            "\"A + B + C + A + B + C + A + B + C + A + B + C + A + B + C + A + B + C < 0 - 1\"", WW_INPUT);
    assert_non_null(strstr(error.text, "take too long to test"));
    grid_of("\"A\": [1, 2], \"B\": [1, 2]", "\"A < B\", \"A > B\"", WW_INPUT);
    assert_non_null(strstr(error.text, "no variant holds them all"));
}

static void a_launch_is_computed_for_its_variant(void **state) {
    (void)state;
    struct ww_sweep_space s;
    struct ww_buf out = {0};
    if (parse("\"source\": \"a.cu\", \"parameters\": {\"A\": [8, 16]}, " LAUNCH, &s) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
    const struct ww_sweep_level *level = &s.param[0].level[1];
    struct ww_variant_at at = {&s, &level, 1};
    assert_int_equal(ww_variant_launch(&at, &out, &error), WW_OK);
    assert_string_equal(out.p,
                        "{\"kernel\":\"k_16\",\"grid\":[4,2],\"block\":16,\"args\":[{\"u32\":32},{\"buffer\":"
                        "\"b\",\"offset\":16}],\"buffers\":{\"b\":{\"bytes\":1024}}}");
    uint32_t grid[3];
    assert_int_equal(ww_alike_grid(out.p, out.n, grid), 8);
    ww_buf_clear(&out);
    assert_int_equal(ww_variant_text(&at, "x{A}.ptx", "s.json", &out, &error), WW_OK);
    assert_string_equal(out.p, "x16.ptx");
    assert_int_equal(ww_variant_text(&at, "x{B}", "s.json", &out, &error), WW_INPUT);
    ww_buf_free(&out);
    ww_sweep_space_free(&s);
}

/* ---- slices ---- */

static void a_slice_has_its_share_of_the_memory(void **state) {
    static const char *const gpus[] = {"v100",    "a100", "h100",    "h200",  "rtx2080ti", "t4",     "a40",
                                       "rtx3090", "l40",  "rtx4090", "gh200", "b200",      "rtx5090"};
    (void)state;
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        struct ww_gpu *whole, *part;
        struct ww_arena arena;
        struct ww_slice s;
        ww_arena_init(&arena, 0);
        assert_int_equal(ww_gpu_load(gpus[i], NULL, 0, &whole, &error), WW_OK);
        assert_int_equal(ww_slice_of(&whole->spec, &arena, &s, &error), WW_OK);
        assert_in_range(s.sms, 3, 12);
        if (s.memory < 0.96 || s.memory > 1.04) fail_msg("%s: %g", gpus[i], s.memory);
        if (ww_gpu_load(gpus[i], s.set, s.sets, &part, &error) != WW_OK)
            fail_msg("%s: %s", error.where, error.text);
        assert_int_equal(part->spec.sm_count, s.sms);
        assert_int_equal(part->spec.l2_size_kb / part->spec.l2_slices,
                         whole->spec.l2_size_kb / whole->spec.l2_slices);
        ww_gpu_free(part);
        ww_gpu_free(whole);
        ww_arena_free(&arena);
    }
}

static void a_small_gpu_is_left_whole(void **state) {
    struct ww_gpu *gpu;
    struct ww_arena arena;
    struct ww_slice s;
    (void)state;
    ww_arena_init(&arena, 0);
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    assert_int_equal(ww_slice_of(&gpu->spec, &arena, &s, &error), WW_OK);
    assert_int_equal(s.sms, 0);
    ww_gpu_free(gpu);
    ww_arena_free(&arena);
}

static void whole_waves_are_left_out_of_a_long_share(void **state) {
    uint64_t replayed, left;
    (void)state;
    ww_slice_share(1000, 0.1, 40, 4, &replayed, &left);
    assert_int_equal(replayed, 100);
    assert_int_equal(left, 0);
    ww_slice_share(10050, 0.1, 40, 4, &replayed, &left); /* 1,005: 25 waves and 5 CTAs */
    assert_int_equal(left, 22 * 40);
    assert_int_equal(replayed, 1005 - 22 * 40);
    ww_slice_share(216, 1.0 / 108, 8, 4, &replayed, &left); /* two CTAs for each SM, exactly */
    assert_int_equal(replayed, 2);
}

static void near(double a, double b) {
    if (!(a > b - 0.5 && a < b + 0.5)) fail_msg("%g is not %g", a, b);
}

static void waves_take_what_all_of_them_take_on_the_mean(void **state) {
    enum { SLOTS = 4, WAVES = 10 };
    struct ww_cta_span cta[WAVES * SLOTS] = {0};
    (void)state;
    near(ww_slice_wave_cycles(cta, SLOTS, SLOTS), 0);
    for (uint64_t i = 0; i < WAVES * SLOTS; i++) cta[i].first_cycle = 500 + 1000 * (i / SLOTS);
    near(ww_slice_wave_cycles(cta, WAVES * SLOTS, SLOTS), 1000);
    near(ww_slice_wave_cycles(cta, 2 * SLOTS, SLOTS), 1000);
    near(ww_slice_wave_cycles(cta, 4 * SLOTS, SLOTS), 1000);
    /* the last wave is early: a ninth of the nine waves, weighted by its place */
    for (uint64_t i = (WAVES - 1) * SLOTS; i < WAVES * SLOTS; i++) cta[i].first_cycle -= 300;
    near(ww_slice_wave_cycles(cta, WAVES * SLOTS, SLOTS), 980);
}

/* The CTAs of a slice of a sixteenth that holds 4 at a time. */
static uint64_t *block_of(const uint32_t grid[3], uint64_t ctas) {
    const struct ww_slice slice = {.part = 1.0 / 16};
    uint64_t *cta;
    if (ww_slice_block(grid, &slice, 4, ctas, &cta, &error) != WW_OK) fail_msg("%s", error.text);
    return cta;
}

static void a_slice_replays_its_share_of_the_columns(void **state) {
    const uint32_t grid[3] = {80, 100, 1}; /* 5 columns, of which 14 rows */
    (void)state;
    uint64_t *cta = block_of(grid, 70);
    for (uint64_t i = 0; i < 70; i++) assert_int_equal(cta[i], (43 + i / 5) * 80 + 37 + i % 5);
    free(cta);
}

static void a_slice_of_a_narrow_grid_is_no_higher_than_wide(void **state) {
    const uint32_t grid[3] = {3, 100, 1};
    (void)state;
    uint64_t *cta = block_of(grid, 20); /* two columns of ten rows: 4 CTAs at a time are 2 x 2 */
    for (uint64_t i = 0; i < 20; i++) assert_int_equal(cta[i], (45 + i / 2) * 3 + i % 2);
    free(cta);
}

static void a_slice_of_a_row_has_ctas_that_follow_one_another(void **state) {
    const uint32_t grid[3] = {1000, 1, 1};
    (void)state;
    uint64_t *cta = block_of(grid, 62);
    for (uint64_t i = 0; i < 62; i++) assert_int_equal(cta[i], 468 + i);
    free(cta);
}

static void a_slice_of_all_has_all(void **state) {
    const uint32_t grid[3] = {5, 3, 2};
    (void)state;
    uint64_t *cta = block_of(grid, 30);
    for (uint64_t i = 0; i < 30; i++) assert_int_equal(cta[i], i);
    free(cta);
}

static void probes_are_the_corners_and_others(void **state) {
    const uint32_t large[3] = {64, 64, 1}, small[3] = {5, 2, 1};
    uint64_t probe[WW_ALIKE_PROBES];
    (void)state;
    uint64_t n = ww_alike_probes(large, probe);
    assert_in_range(n, 30, WW_ALIKE_PROBES);
    assert_int_equal(probe[0], 0);
    assert_int_equal(probe[n - 1], 4095);
    for (uint64_t i = 1; i < n; i++) assert_true(probe[i] > probe[i - 1]);
    assert_int_equal(ww_alike_probes(small, probe), 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_those_of_c),
        cmocka_unit_test(what_is_not_taken_cannot_fail),
        cmocka_unit_test(expressions_are_refused_with_their_column),
        cmocka_unit_test(bad_programs_are_refused),
        cmocka_unit_test(constraints_thin_a_grid_before_it_is_counted),
        cmocka_unit_test(a_launch_is_computed_for_its_variant),
        cmocka_unit_test(a_slice_has_its_share_of_the_memory),
        cmocka_unit_test(a_small_gpu_is_left_whole),
        cmocka_unit_test(whole_waves_are_left_out_of_a_long_share),
        cmocka_unit_test(waves_take_what_all_of_them_take_on_the_mean),
        cmocka_unit_test(a_slice_replays_its_share_of_the_columns),
        cmocka_unit_test(a_slice_of_a_narrow_grid_is_no_higher_than_wide),
        cmocka_unit_test(a_slice_of_a_row_has_ctas_that_follow_one_another),
        cmocka_unit_test(a_slice_of_all_has_all),
        cmocka_unit_test(probes_are_the_corners_and_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
