/* Profiles: reuse distances against counting them, coalescing and conflicts of known accesses. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/rng.h"
#include "../../traces/profile/profile.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-profile-XXXXXX.wwt";

/* Distances by moving lines to the front of a list. */
static void count_by_list(const uint64_t *line, size_t n, double bucket[WW_REUSE_BUCKETS], double *cold) {
    uint64_t *list = malloc(n * sizeof *list);
    size_t held = 0;
    assert_non_null(list);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < held && list[at] != line[i]) at++;
        if (at == held) {
            *cold += 1;
            held++;
        } else {
            unsigned k = 0;
            while (at >> k) k++;
            bucket[k] += 1;
        }
        memmove(list + 1, list, at * sizeof *list);
        list[0] = line[i];
    }
    free(list);
}

static void distances_are_exact_while_all_lines_are_tracked(void **state) {
    (void)state;
    enum { N = 20000 };
    static uint64_t line[N];
    double bucket[WW_REUSE_BUCKETS] = {0}, cold = 0;
    struct ww_rng rng;
    struct ww_reuse *r = ww_reuse_new();
    ww_rng_seed(&rng, 1);
    for (int i = 0; i < N; i++) line[i] = ww_rng_below(&rng, 1 + ww_rng_below(&rng, 3000));
    count_by_list(line, N, bucket, &cold);
    for (int i = 0; i < N; i++) ww_reuse_access(r, line[i]);
    for (unsigned k = 0; k < WW_REUSE_BUCKETS; k++) assert_true(ww_reuse_count(r, k) == bucket[k]);
    assert_true(ww_reuse_lines(r) == cold);
    assert_true(ww_reuse_rate(r) == 1);
    ww_reuse_free(r);
}

static void sampled_distances_and_footprint_are_close(void **state) {
    (void)state;
    enum { LINES = 400000 };
    struct ww_reuse *r = ww_reuse_new();
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < LINES; i++) ww_reuse_access(r, i);
    assert_true(ww_reuse_rate(r) < 0.2);
    assert_true(fabs(ww_reuse_lines(r) / LINES - 1) < 0.03);
    /* every second access has distance LINES - 1, between 2^18 and 2^19 */
    assert_true(fabs(ww_reuse_count(r, 19) / LINES - 1) < 0.03);
    ww_reuse_free(r);
}

static void clearing_forgets(void **state) {
    (void)state;
    struct ww_reuse *r = ww_reuse_new();
    for (uint64_t i = 0; i < 100000; i++) ww_reuse_access(r, i);
    ww_reuse_clear(r);
    ww_reuse_access(r, 7);
    assert_true(ww_reuse_lines(r) == 1 && ww_reuse_rate(r) == 1);
    ww_reuse_free(r);
}

/* ---- one CTA of one warp, one access of each instruction ---- */

static struct ww_profile profile_of(struct ww_inst inst, struct ww_access access, uint32_t mask,
                                    const char *mnemonic) {
    struct ww_trace_writer *writer;
    struct ww_trace *trace;
    struct ww_error error;
    struct ww_profile p;
    const char *string[] = {"", mnemonic};
    struct ww_launch l = {.kernel = "k",
                          .arch = "sm_70",
                          .grid = {1, 1, 1},
                          .block = {32, 1, 1},
                          .cta_count = 1,
                          .warps_per_cta = 1,
                          .inst = &inst,
                          .inst_count = 1,
                          .string = string,
                          .string_count = 2};
    struct ww_step step = {0, mask};
    bool has = inst.flags & WW_INST_ACCESS;
    struct ww_warp_stream stream = {&step, &access, NULL, 1, has ? 1 : 0};
    struct ww_cta_trace cta = {.index = 0, .warp_count = 1, .warp = &stream};
    struct ww_trace_meta meta = {NULL, NULL, NULL};
    inst.mnemonic = 1;
    assert_int_equal(ww_trace_writer_new(path, &meta, 0, &writer, &error), WW_OK);
    assert_int_equal(ww_trace_writer_launch(writer, &l, &error), WW_OK);
    assert_int_equal(ww_trace_writer_cta(writer, &cta, &error), WW_OK);
    assert_int_equal(ww_trace_writer_end_launch(writer, &error), WW_OK);
    assert_int_equal(ww_trace_writer_finish(writer, NULL, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    struct ww_reuse *reuse = ww_reuse_new();
    assert_int_equal(ww_profile_launch(trace, 0, reuse, NULL, NULL, &p, &error), WW_OK);
    ww_reuse_free(reuse);
    ww_trace_close(trace);
    return p;
}

static struct ww_inst memory(enum ww_op op, enum ww_space space, uint8_t width) {
    return (struct ww_inst){
        .op = (uint8_t)op, .space = (uint8_t)space, .width = width, .flags = WW_INST_ACCESS};
}

static void a_coalesced_load_has_four_sectors_of_one_line(void **state) {
    (void)state;
    struct ww_profile p = profile_of(memory(WW_OP_LOAD, WW_SPACE_GLOBAL, 4),
                                     (struct ww_access){4096, 4, WW_AFFINE}, UINT32_MAX, "LDG");
    assert_int_equal(p.sectors, 4);
    assert_int_equal(p.lines, 1);
    assert_int_equal(p.global_bytes, 128);
    assert_true(p.footprint == 128);
}

static void a_strided_load_has_a_sector_for_each_lane(void **state) {
    (void)state;
    struct ww_profile p = profile_of(memory(WW_OP_LOAD, WW_SPACE_GLOBAL, 4),
                                     (struct ww_access){4096, 128, WW_AFFINE}, 0xffff, "LDG");
    assert_int_equal(p.sectors, 16);
    assert_int_equal(p.lines, 16);
    assert_int_equal(p.lanes[16], 1);
}

static void loads_are_told_apart_by_their_lanes(void **state) {
    (void)state;
    const struct ww_inst load = memory(WW_OP_LOAD, WW_SPACE_GLOBAL, 4),
                         store = memory(WW_OP_STORE, WW_SPACE_GLOBAL, 4);
    const struct ww_access apart = {4096, 24, WW_AFFINE}, same = {4096, 0, WW_AFFINE};
    struct ww_profile p = profile_of(load, apart, 0xf00ff00f, "LDG");
    assert_true(p.loads_fixed == 1 && p.loads_invariant + p.loads_texture + p.loads_other == 0);
    p = profile_of(load, same, 0xf00ff00f, "LDG");
    assert_true(p.loads_invariant == 1 && p.loads_fixed + p.loads_texture + p.loads_other == 0);
    p = profile_of(load, same, 0x100, "LDG");
    assert_true(p.loads_other == 1 && p.loads_fixed + p.loads_texture + p.loads_invariant == 0);
    p = profile_of(memory(WW_OP_TEXTURE, WW_SPACE_TEX, 16), same, UINT32_MAX, "TEX");
    assert_true(p.loads_texture == 1 && p.loads_fixed + p.loads_invariant + p.loads_other == 0);
    p = profile_of(store, apart, UINT32_MAX, "STG");
    assert_true(p.loads_fixed + p.loads_invariant + p.loads_texture + p.loads_other == 0);
}

static void bytes_that_lanes_share_count_once(void **state) {
    (void)state;
    struct ww_profile p = profile_of(memory(WW_OP_REDUCE, WW_SPACE_GLOBAL, 4),
                                     (struct ww_access){4096, 0, WW_AFFINE}, UINT32_MAX, "RED");
    assert_int_equal(p.atomics, 1);
    assert_int_equal(p.global_bytes, 128);
    assert_int_equal(p.distinct_bytes, 4);
    assert_int_equal(p.sectors, 1);
    /* 8 bytes each at a distance of 4: lanes overlap by half, and 8 lanes fill 36 bytes */
    p = profile_of(memory(WW_OP_LOAD, WW_SPACE_GLOBAL, 8), (struct ww_access){4096, 4, WW_AFFINE}, 0xff, "LDG");
    assert_int_equal(p.distinct_bytes, 36);
    assert_int_equal(p.sectors, 2);
}

static void a_value_across_two_sectors_counts_both(void **state) {
    (void)state;
    struct ww_profile p = profile_of(memory(WW_OP_STORE, WW_SPACE_GLOBAL, 8),
                                     (struct ww_access){4096 + 124, 0, WW_AFFINE}, 1, "STG");
    assert_int_equal(p.sectors, 2);
    assert_int_equal(p.lines, 2);
    assert_int_equal(p.global_stores, 1);
}

static void conflicts_of_a_shared_access_take_passes(void **state) {
    (void)state;
    struct ww_inst load = memory(WW_OP_LOAD, WW_SPACE_SHARED, 4),
                   wide = memory(WW_OP_LOAD, WW_SPACE_SHARED, 16);
    assert_int_equal(profile_of(load, (struct ww_access){0, 4, WW_AFFINE}, UINT32_MAX, "LDS").shared_passes, 1);
    assert_int_equal(profile_of(load, (struct ww_access){0, 8, WW_AFFINE}, UINT32_MAX, "LDS").shared_passes, 2);
    assert_int_equal(profile_of(load, (struct ww_access){0, 128, WW_AFFINE}, UINT32_MAX, "LDS").shared_passes,
                     32);
    assert_int_equal(profile_of(load, (struct ww_access){0, 0, WW_AFFINE}, UINT32_MAX, "LDS").shared_passes, 1);
    assert_int_equal(profile_of(wide, (struct ww_access){0, 16, WW_AFFINE}, UINT32_MAX, "LDS").shared_passes,
                     4);
}

static void a_fused_multiply_add_is_two_operations(void **state) {
    (void)state;
    struct ww_access none = {0, 0, 0};
    struct ww_inst fp32 = {.op = WW_OP_FP32}, fp16 = {.op = WW_OP_FP16}, integer = {.op = WW_OP_INT};
    assert_int_equal(profile_of(fp32, none, UINT32_MAX, "FFMA").flops, 64);
    assert_int_equal(profile_of(fp32, none, 0xff, "FADD").flops, 8);
    assert_int_equal(profile_of(fp16, none, UINT32_MAX, "HFMA2").flops, 128);
    assert_int_equal(profile_of(integer, none, UINT32_MAX, "IADD3").flops, 0);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemps(path, 4);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_exact_while_all_lines_are_tracked),
        cmocka_unit_test(sampled_distances_and_footprint_are_close),
        cmocka_unit_test(clearing_forgets),
        cmocka_unit_test(a_coalesced_load_has_four_sectors_of_one_line),
        cmocka_unit_test(a_strided_load_has_a_sector_for_each_lane),
        cmocka_unit_test(loads_are_told_apart_by_their_lanes),
        cmocka_unit_test(bytes_that_lanes_share_count_once),
        cmocka_unit_test(a_value_across_two_sectors_counts_both),
        cmocka_unit_test(conflicts_of_a_shared_access_take_passes),
        cmocka_unit_test(a_fused_multiply_add_is_two_operations),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
