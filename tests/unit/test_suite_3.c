/* Kernels of language models: each workload verifies at its small size for old and new targets, past every
 * edge, and the values that do not fit together are refused. */
#include "../../estimator/warpwatt.h"
#include "../../traces/workloads/half.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { VALUES = 4 };

struct choice {
    const char *name, *values[VALUES], *says; /* says: in the error's text, where it is refused */
};

static enum ww_code record(const struct choice *c, const char *arch, uint64_t seed,
                           struct ww_record_stats *stats, struct ww_error *error) {
    const struct ww_record_options options = {.arch = arch, .seed = seed};
    const char *values[VALUES + 1] = {"size=small"};
    size_t count = 1;
    for (size_t i = 0; i < VALUES && c->values[i]; i++) values[count++] = c->values[i];
    memset(error, 0, sizeof *error);
    memset(stats, 0, sizeof *stats);
    return ww_record_workload(c->name, values, count, &options, stats, error);
}

static void verify(const struct choice *c, const char *arch, uint64_t seed, uint64_t limit) {
    struct ww_error error;
    struct ww_record_stats stats;
    enum ww_code code = record(c, arch, seed, &stats, &error);
    if (code != WW_OK) print_error("%s: %s: %s\n", c->name, error.where, error.text);
    assert_int_equal(code, WW_OK);
    assert_true(stats.verified);
    assert_true(stats.thread_instructions > 1000 && stats.thread_instructions < limit);
}

static void verify_small(void **state) {
    static const char *const machines[] = {"sm_20", "sm_70"};
    for (size_t i = 0; i < 2; i++) verify(*state, machines[i], 3 + i, 1000000);
}

static void verify_small_on_ampere(void **state) {
    static const char *const machines[] = {"sm_80", "sm_90", NULL};
    for (size_t i = 0; i < 3; i++) verify(*state, machines[i], 3 + i, 1000000);
}

/* Those that need it say so, and the architecture is chosen for them. */
static void needs_ampere(void **state) {
    const struct choice *c = *state;
    struct ww_error error;
    struct ww_record_stats stats;
    assert_int_equal(record(c, "sm_75", 0, &stats, &error), WW_USAGE);
    assert_string_equal(error.where, c->name);
    assert_non_null(strstr(error.text, "expected sm_80 or newer"));
    assert_string_equal(ww_workload_find(c->name)->arch, "sm_80");
}

static void verify_small_on_hopper(void **state) {
    verify(*state, "sm_90", 3, 1000000);
    verify(*state, NULL, 4, 1000000);
}

static void needs_hopper(void **state) {
    static const char *const others[] = {"sm_80", "sm_100"};
    const struct choice *c = *state;
    struct ww_error error;
    struct ww_record_stats stats;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(record(c, others[i], 0, &stats, &error), WW_USAGE);
        assert_non_null(strstr(error.text, "expected sm_90, whose"));
    }
}

static void verify_small_on_blackwell(void **state) {
    verify(*state, "sm_100", 3, 1000000);
    verify(*state, NULL, 4, 1000000);
}

static void needs_blackwell(void **state) {
    const struct choice *c = *state;
    struct ww_error error;
    struct ww_record_stats stats;
    assert_int_equal(record(c, "sm_90", 0, &stats, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "expected sm_100, whose"));
}

static void verify_partial(void **state) {
    verify(*state, NULL, 1, 30000000);
}

static void refuse(void **state) {
    const struct choice *c = *state;
    struct ww_error error;
    struct ww_record_stats stats;
    assert_int_equal(record(c, NULL, 0, &stats, &error), WW_USAGE);
    assert_string_equal(error.where, c->name);
    assert_non_null(strstr(error.text, c->says));
    assert_int_equal(stats.thread_instructions, 0);
}

/* ---- numbers of half precision ---- */

static void every_half_survives_the_way_to_double_and_back(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++)
        if ((bits & 0x7fff) <= 0x7c00) assert_int_equal(ww_half(ww_half_value((uint16_t)bits)), bits);
    assert_int_equal(ww_half(NAN) & 0x7c00, 0x7c00);
    assert_true(isnan(ww_half_value(0x7e00)));
}

static void halves_round_to_nearest_ties_to_even(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        double low = ww_half_value((uint16_t)bits), high = ww_half_value((uint16_t)(bits + 1)),
               middle = (low + high) / 2;
        assert_int_equal(ww_half(middle), bits + (bits & 1));
        assert_int_equal(ww_half(nextafter(middle, high)), bits + 1);
        assert_int_equal(ww_half(-nextafter(middle, low)), 0x8000 + bits);
    }
    assert_int_equal(ww_half(65519.99), 0x7bff);
    assert_int_equal(ww_half(65520), 0x7c00);
}

static void a_half_is_wrong_beyond_its_tolerance_only(void **state) {
    (void)state;
    struct ww_error error = {0};
    struct ww_host h = {.name = "test", .error = &error};
    const double want[2] = {1, 1 + 0x1p-11}, scale[2] = {1, 1};
    uint16_t got[2] = {0x3c00, 0x3c00};
    assert_int_equal(ww_host_near_f16(&h, "out", got, want, scale, 2, 0), WW_OK);
    got[1] = 0x3c02;
    assert_int_equal(ww_host_near_f16(&h, "out", got, want, scale, 2, 0), WW_MISMATCH);
    assert_non_null(strstr(error.text, "out[1] is 1.00195, expected 1.00049 within 0.000489"));
    got[1] = 0x7e00;
    assert_int_equal(ww_host_near_f16(&h, "out", got, want, scale, 2, 1e9), WW_MISMATCH);
    assert_int_equal(ww_host_same_u16(&h, "out", got, got, 2), WW_OK);
    assert_int_equal(ww_host_same_u16(&h, "out", got, got + 1, 1), WW_MISMATCH);
}

/* As HMMA.884 in steps the 2048 products would be 16384 instructions. */
static void lowered_ptx_has_the_matrix_instructions_of_its_architecture(void **state) {
    (void)state;
    char path[] = "/tmp/warpwatt-test-XXXXXX.wwt";
    const char *small = "size=small";
    struct ww_error error;
    struct ww_record_stats stats;
    const struct ww_record_options options = {.arch = "sm_80", .out_path = path};
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ww_record_workload("gemm_mma", &small, 1, &options, &stats, &error), WW_OK);
    unlink(path);
    assert_true(stats.warp_instructions > 2048 + 512 && stats.warp_instructions < 12000);
}

/* All from rmsnorm on, lowered, on h100 or what they need. */
static void each_replays_and_obeys_the_laws(void **state) {
    (void)state;
    char path[] = "/tmp/warpwatt-test-XXXXXX.wwt";
    const char *small = "size=small";
    struct ww_error error = {0};
    struct ww_gpu *gpu[2] = {NULL, NULL};
    bool found = false;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ww_gpu_load("h100", NULL, 0, &gpu[0], &error), WW_OK);
    assert_int_equal(ww_gpu_load("b200", NULL, 0, &gpu[1], &error), WW_OK);
    for (size_t i = 0; i < ww_workload_count(); i++) {
        const char *name = ww_workload_at(i)->name;
        const char *arch = ww_workload_at(i)->arch;
        bool blackwell = arch && strcmp(arch, "sm_100a") == 0;
        const struct ww_record_options options = {.arch = blackwell ? "sm_100" : "sm_90", .out_path = path};
        const struct ww_run_options run = {.gpu = gpu[blackwell], .trace_path = path};
        struct ww_record_stats stats;
        struct ww_result *r = NULL;
        found = found || strcmp(name, "rmsnorm") == 0;
        if (!found) continue;
        enum ww_code code = ww_record_workload(name, &small, 1, &options, &stats, &error);
        if (code == WW_OK) code = ww_run(&run, &r, &error);
        if (code == WW_OK) code = ww_result_check(r, &error);
        if (code != WW_OK) fail_msg("%s: %s: %s", name, error.where, error.text);
        assert_int_equal(r->warp_instructions, stats.warp_instructions);
        ww_result_free(r);
    }
    assert_true(found);
    unlink(path);
    ww_gpu_free(gpu[0]);
    ww_gpu_free(gpu[1]);
}

#define CASE(test_name, function, ...)                                                                         \
    {                                                                                                          \
        test_name, function, NULL, NULL, &(struct choice) {                                                    \
            __VA_ARGS__                                                                                        \
        }                                                                                                      \
    }
#define AMPERE(name, ...)                                                                                      \
    CASE(name, verify_small_on_ampere, __VA_ARGS__, NULL),                                                     \
        CASE(name "_on_sm_80_or_newer", needs_ampere, __VA_ARGS__, NULL)
#define HOPPER(name, ...)                                                                                      \
    CASE(name, verify_small_on_hopper, __VA_ARGS__, NULL),                                                     \
        CASE(name "_on_sm_90_alone", needs_hopper, __VA_ARGS__, NULL)
#define BLACKWELL(name, ...)                                                                                   \
    CASE(name, verify_small_on_blackwell, __VA_ARGS__, NULL),                                                  \
        CASE(name "_on_sm_100_alone", needs_blackwell, __VA_ARGS__, NULL)
#define SMALL(name, ...) CASE(name, verify_small, __VA_ARGS__, NULL)
#define PARTIAL(name, ...) CASE(name, verify_partial, __VA_ARGS__, NULL)
#define REFUSE(name, ...) CASE(name, refuse, __VA_ARGS__)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_the_way_to_double_and_back),
        cmocka_unit_test(halves_round_to_nearest_ties_to_even),
        cmocka_unit_test(a_half_is_wrong_beyond_its_tolerance_only),
        cmocka_unit_test(lowered_ptx_has_the_matrix_instructions_of_its_architecture),
        cmocka_unit_test(each_replays_and_obeys_the_laws),
        SMALL("rmsnorm_verifies", "rmsnorm", {NULL}),
        SMALL("rmsnorm_without_a_residual_verifies", "rmsnorm", {"variant=plain"}),
        SMALL("softmax_verifies", "softmax", {NULL}),
        SMALL("softmax_of_three_passes_verifies", "softmax", {"variant=three_pass"}),
        SMALL("rope_verifies", "rope", {NULL}),
        SMALL("rope_of_neighbours_verifies", "rope", {"variant=pairs"}),
        SMALL("topk_verifies", "topk", {NULL}),
        SMALL("topk_of_short_rows_verifies", "topk", {"variant=warp"}),
        SMALL("gemv_int4_verifies", "gemv_int4", {NULL}),
        SMALL("moe_verifies", "moe", {NULL}),
        SMALL("paged_attention_verifies", "paged_attention", {NULL}),
        SMALL("paged_attention_of_64_elements_verifies", "paged_attention", {"dim=64"}),
        AMPERE("gemm_mma_verifies", "gemm_mma", {NULL}),
        AMPERE("gemm_mma_of_bytes_verifies", "gemm_mma", {"type=int8"}),
        AMPERE("flash_mma_verifies", "flash_mma", {NULL}),
        AMPERE("flash_mma_of_64_elements_verifies", "flash_mma", {"dim=64"}),
        HOPPER("gemm_wgmma_verifies", "gemm_wgmma", {NULL}),
        HOPPER("gemm_wgmma_of_bytes_verifies", "gemm_wgmma", {"type=fp8"}),
        HOPPER("flash_wgmma_verifies", "flash_wgmma", {NULL}),
        HOPPER("clusters_of_two_share_b", "gemm_wgmma", {"cluster=2", "m=256"}),
        PARTIAL("clusters_of_four_share_b", "gemm_wgmma", {"cluster=4", "m=512", "k=1024", "type=fp8"}),
        PARTIAL("clusters_share_a_wide_b", "gemm_wgmma", {"cluster=2", "m=512", "k=512", "tile=256"}),
        REFUSE("partial_clusters_are_refused", "gemm_wgmma", {"cluster=4", "m=256"}, "a multiple of 512"),
        BLACKWELL("gemm_tcgen05_verifies", "gemm_tcgen05", {NULL}),
        BLACKWELL("gemm_tcgen05_of_bytes_verifies", "gemm_tcgen05", {"type=fp8"}),
        PARTIAL("large_tiles_multiply_in_tensor_memory", "gemm_tcgen05", {"tile=256", "n=512", "m=256"}),
        PARTIAL("stages_are_filled_again_for_tensor_memory", "gemm_tcgen05", {"k=1024", "type=fp8"}),
        PARTIAL("large_tiles_of_warpgroups_multiply", "gemm_wgmma", {"tile=256", "n=512", "m=256"}),
        PARTIAL("stages_are_filled_again", "gemm_wgmma", {"k=1024", "type=fp8", "tile=256"}),
        PARTIAL("a_stage_is_multiplied", "gemm_wgmma", {"k=64"}),
        PARTIAL("warpgroups_attend_to_what_is_before_them", "flash_wgmma",
                {"mask=causal", "count=384", "heads=2"}),
        PARTIAL("warpgroups_attend_to_all_blocks", "flash_wgmma", {"count=640"}),
        REFUSE("bytes_of_partial_slices_are_refused", "gemm_wgmma", {"type=fp8", "k=64"}, "multiples of 128"),
        PARTIAL("large_tiles_multiply_rectangles", "gemm_mma", {"tile=256", "n=512", "m=256"}),
        PARTIAL("large_tiles_multiply_bytes", "gemm_mma", {"tile=256", "n=256", "type=int8"}),
        PARTIAL("one_stage_is_multiplied", "gemm_mma", {"k=64"}),
        PARTIAL("two_stages_of_bytes_are_multiplied", "gemm_mma", {"k=256", "type=int8"}),
        PARTIAL("queries_attend_to_what_is_before_them", "flash_mma", {"mask=causal", "count=256"}),
        PARTIAL("queries_of_64_elements_attend_to_what_is_before_them", "flash_mma",
                {"mask=causal", "count=384", "dim=64"}),
        PARTIAL("heads_attend_to_their_own", "flash_mma", {"heads=3"}),
        REFUSE("a_product_of_partial_tiles_is_refused", "gemm_mma", {"m=64"}, "multiples of 128"),
        REFUSE("a_product_of_partial_large_tiles_is_refused", "gemm_mma", {"tile=256"}, "multiple of 256"),
        REFUSE("a_partial_block_of_queries_is_refused", "flash_mma", {"count=100"}, "multiple of 128"),
        PARTIAL("rows_of_8_elements_are_normalised", "rmsnorm", {"width=8", "rows=300"}),
        PARTIAL("the_widest_rows_are_normalised", "rmsnorm", {"width=8192", "rows=2"}),
        PARTIAL("rows_of_less_than_a_warp_have_a_softmax", "softmax", {"width=24", "rows=100", "block=1024"}),
        PARTIAL("rows_of_many_vectors_a_thread_have_a_softmax", "softmax",
                {"width=8192", "rows=2", "block=32"}),
        PARTIAL("heads_of_16_elements_turn", "rope", {"dim=16", "heads=3", "block=100"}),
        PARTIAL("positions_wrap", "rope", {"positions=7", "heads=1"}),
        PARTIAL("all_of_a_row_is_its_top", "topk", {"width=1024", "k=1024"}),
        PARTIAL("the_largest_alone_is_found", "topk", {"k=1", "block=1024"}),
        PARTIAL("a_short_row_is_sorted_by_a_warp", "topk", {"variant=warp", "width=50", "k=50"}),
        PARTIAL("the_widest_row_of_a_warp_verifies", "topk", {"variant=warp", "width=256", "k=7"}),
        PARTIAL("a_pair_of_rows_is_multiplied", "gemv_int4", {"rows=2", "depth=3072"}),
        PARTIAL("tokens_go_to_every_expert", "moe", {"experts=5", "each=5", "tokens=9"}),
        PARTIAL("256_experts_are_placed", "moe", {"experts=256", "each=16", "tokens=300"}),
        PARTIAL("one_expert_takes_all", "moe", {"experts=1", "each=1"}),
        PARTIAL("splits_without_tokens_count_nothing", "paged_attention", {"splits=8", "tokens=20"}),
        PARTIAL("one_token_is_its_own_value", "paged_attention", {"splits=1", "tokens=1", "heads=3"}),
        REFUSE("a_width_that_is_no_vector_is_not_normalised", "rmsnorm", {"width=12"}, "multiple of 8"),
        REFUSE("a_partial_warp_has_no_softmax", "softmax", {"block=33"}, "multiple of 32"),
        REFUSE("a_dimension_of_partial_vectors_does_not_turn", "rope", {"dim=24"}, "multiple of 16"),
        REFUSE("more_than_a_row_has_is_refused", "topk", {"width=40", "k=41"}, "k up to the width"),
        REFUSE("a_row_too_wide_for_a_warp_is_refused", "topk", {"variant=warp", "width=257"}, "up to 256"),
        REFUSE("a_depth_of_partial_warps_is_refused", "gemv_int4", {"depth=1000"}, "multiple of 1024"),
        REFUSE("more_experts_of_a_token_than_there_are_are_refused", "moe", {"experts=2", "each=3"},
               "no more experts"),
        REFUSE("too_large_a_cache_is_refused", "paged_attention", {"tokens=131072", "heads=128"}, "2^27"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
