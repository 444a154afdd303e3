/* Banks of shared memory: Kepler's two modes, half-warps of compute capability 1.x, latency by degree. */
#include "../../estimator/core/sm/smem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct ww_smem_banks banks_of(uint32_t banks, uint32_t width, uint32_t map, uint32_t half) {
    struct ww_gpu_spec g;
    struct ww_smem_banks s;
    memset(&g, 0, sizeof g);
    g.shared_banks = banks;
    g.shared_bank_bytes = width;
    g.shared_map_bytes = map;
    g.shared_half_warp = half;
    g.shared_conflict_cycles = 1;
    ww_smem_init(&s, &g);
    return s;
}

/* Conflict degree of a warp whose lanes read words `stride` apart. */
static uint32_t degree(const struct ww_smem_banks *s, int32_t stride) {
    struct ww_access a = {0, 4 * stride, WW_AFFINE};
    struct ww_smem_passes p = ww_smem_passes(s, &a, NULL, UINT32_MAX, 4, false);
    assert_int_equal(p.parts, 1);
    return p.conflicts + 1;
}

static void kepler_has_no_conflict_at_a_stride_of_2_in_either_mode(void **state) {
    (void)state;
    struct ww_smem_banks four = banks_of(32, 8, 4, 0), eight = banks_of(32, 8, 8, 0);
    assert_int_equal(degree(&four, 2), 1);
    assert_int_equal(degree(&eight, 2), 1);
}

static void kepler_has_2_ways_at_a_stride_of_4_in_both_modes(void **state) {
    (void)state;
    struct ww_smem_banks four = banks_of(32, 8, 4, 0), eight = banks_of(32, 8, 8, 0);
    assert_int_equal(degree(&four, 4), 2);
    assert_int_equal(degree(&eight, 4), 2);
}

static void kepler_has_2_ways_at_a_stride_of_6_in_the_4_byte_mode_alone(void **state) {
    (void)state;
    struct ww_smem_banks four = banks_of(32, 8, 4, 0), eight = banks_of(32, 8, 8, 0);
    assert_int_equal(degree(&four, 6), 2);
    assert_int_equal(degree(&eight, 6), 1);
}

static void banks_of_4_bytes_conflict_by_the_common_divisor(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(32, 4, 0, 0);
    for (int32_t stride = 1; stride <= 64; stride++)
        assert_int_equal(degree(&s, stride), stride & -stride & 31 ? stride & -stride : 32);
}

static void words_that_are_32_apart_share_a_row_only_in_an_aligned_64_of_the_4_byte_mode(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(32, 8, 4, 0);
    uint64_t inside[2] = {4 * 5, 4 * 37}, across[2] = {4 * 37, 4 * 69};
    struct ww_access a = {0, 0, 0};
    assert_int_equal(ww_smem_passes(&s, &a, inside, 3, 4, false).conflicts, 0);
    assert_int_equal(ww_smem_passes(&s, &a, across, 3, 4, false).conflicts, 1);
}

static void a_warp_reads_256_aligned_bytes_of_8_byte_banks_in_one_pass(void **state) {
    (void)state;
    struct ww_access a = {512, 8, WW_AFFINE};
    for (uint32_t map = 4; map <= 8; map += 4) {
        struct ww_smem_banks s = banks_of(32, 8, map, 0);
        struct ww_smem_passes p = ww_smem_passes(&s, &a, NULL, UINT32_MAX, 8, false);
        assert_int_equal(p.parts, 1);
        assert_int_equal(p.conflicts, 0);
    }
}

static void half_warps_do_not_conflict_with_each_other(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(16, 4, 0, 1);
    struct ww_access a = {0, 4, WW_AFFINE};
    struct ww_smem_passes p = ww_smem_passes(&s, &a, NULL, UINT32_MAX, 4, false);
    assert_int_equal(p.parts, 2);
    assert_int_equal(p.conflicts, 0);
    p = ww_smem_passes(&s, &a, NULL, 0xffff, 4, false);
    assert_int_equal(p.parts, 1);
}

static void a_half_warp_takes_a_step_for_each_lane_of_a_bank(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(16, 4, 0, 1);
    for (int32_t n = 2; n <= 16; n *= 2) {
        struct ww_access a = {0, 4 * n, WW_AFFINE};
        struct ww_smem_passes p = ww_smem_passes(&s, &a, NULL, UINT32_MAX, 4, false);
        assert_int_equal(p.conflicts, 2 * (n - 1));
    }
}

static void one_word_for_all_lanes_is_broadcast_in_a_step(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(16, 4, 0, 1);
    struct ww_access a = {64, 0, 0};
    uint64_t pool[32];
    for (int i = 0; i < 32; i++) pool[i] = 64;
    assert_int_equal(ww_smem_passes(&s, &a, pool, UINT32_MAX, 4, false).conflicts, 0);
}

static void a_step_broadcasts_one_word_only(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(16, 4, 0, 1);
    struct ww_access a = {0, 0, 0};
    uint64_t pool[16];
    for (int i = 0; i < 16; i++) pool[i] = (uint64_t)i; /* bytes: four words, four lanes each */
    /* lanes served: 4 + 1 + 1 + 1, then 3 + 1 + 1, 2 + 1, 1 */
    assert_int_equal(ww_smem_passes(&s, &a, pool, 0xffff, 1, false).conflicts, 3);
    for (int i = 0; i < 16; i++) pool[i] = i < 8 ? 0 : 4; /* two words of eight lanes in two banks */
    assert_int_equal(ww_smem_passes(&s, &a, pool, 0xffff, 4, false).conflicts, 1);
}

static void doubles_of_a_half_warp_conflict_in_two_ways(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(16, 4, 0, 1);
    struct ww_access a = {0, 8, WW_AFFINE};
    struct ww_smem_passes p = ww_smem_passes(&s, &a, NULL, UINT32_MAX, 8, false);
    assert_int_equal(p.parts + p.conflicts, 4);
}

static void latency_is_straight_between_the_measured_degrees(void **state) {
    (void)state;
    struct ww_gpu_spec g;
    struct ww_smem_banks s;
    memset(&g, 0, sizeof g);
    g.shared_banks = 32;
    g.shared_bank_bytes = 4;
    g.shared_conflict_cycles = 14;
    g.shared_conflict_cycles_2 = 35;
    g.shared_conflict_cycles_4 = 49;
    g.shared_conflict_cycles_8 = 111;
    g.shared_conflict_cycles_16 = 210;
    g.shared_conflict_cycles_32 = 437;
    ww_smem_init(&s, &g);
    assert_int_equal(ww_smem_latency(&s, 0), 0);
    assert_int_equal(ww_smem_latency(&s, 1), 35);
    assert_int_equal(ww_smem_latency(&s, 2), 42);
    assert_int_equal(ww_smem_latency(&s, 3), 49);
    assert_int_equal(ww_smem_latency(&s, 5), 80);
    assert_int_equal(ww_smem_latency(&s, 31), 437);
    assert_int_equal(ww_smem_latency(&s, 33), 437 + 2 * 14);
}

static void each_part_of_a_narrow_pipeline_conflicts_by_itself(void **state) {
    (void)state;
    struct ww_smem_banks s = banks_of(8, 4, 0, 0);
    struct ww_access a = {0, 16, WW_AFFINE};
    const uint64_t list[9] = {0, 32, 64, 4, 4, 4, 8, 12, 100};
    struct ww_access b = {0, 0, 0};
    uint8_t d[8];
    assert_int_equal(ww_smem_degrees(&s, &a, NULL, UINT32_MAX, 4, 8, d), 4);
    for (int i = 0; i < 4; i++) assert_int_equal(d[i], 4); /* words 4 apart, 8 banks: two are used */
    assert_int_equal(ww_smem_degrees(&s, &a, NULL, 0xff0001ff, 4, 8, d), 3);
    assert_int_equal(d[1], 1);
    assert_int_equal(d[2], 0);
    assert_int_equal(ww_smem_degrees(&s, &b, list, 0x000001ff, 4, 8, d), 2);
    assert_int_equal(d[0], 3); /* words 0, 8 and 16; word 1 is broadcast */
    assert_int_equal(d[1], 1);
    assert_int_equal(ww_smem_degrees(&s, &a, NULL, UINT32_MAX, 4, 4, d), 8);
    assert_int_equal(d[7], 2);
    assert_int_equal(ww_smem_degrees(&s, &a, NULL, 0, 4, 8, d), 0);
}

static void what_is_found_to_be_one_pass_soon_is_one(void **state) {
    (void)state;
    const struct ww_smem_banks banks[] = {banks_of(32, 4, 0, 0), banks_of(32, 8, 4, 0), banks_of(32, 8, 8, 0),
                                          banks_of(16, 4, 0, 0), banks_of(16, 4, 0, 1)};
    uint32_t found = 0;
    for (size_t k = 0; k < sizeof banks / sizeof *banks; k++)
        for (uint32_t width = 1; width <= 16; width *= 2)
            for (int32_t stride = -20; stride <= 20; stride++)
                for (uint64_t base = 1024; base < 1024 + 20; base++) {
                    struct ww_access a = {base, stride, WW_AFFINE};
                    if (!ww_smem_one_pass(&banks[k], &a, width)) continue;
                    struct ww_smem_passes p = ww_smem_passes(&banks[k], &a, NULL, UINT32_MAX, width, false);
                    assert_int_equal(p.parts, 1);
                    assert_int_equal(p.conflicts, 0);
                    found++;
                }
    assert_true(found > 100);
}

/* Passes of a warp's load or store of `width` bytes whose lane l has address group(l) * apart. */
static uint32_t passes_of_groups(bool packs, uint32_t mask, uint32_t width, uint32_t bits, uint64_t apart,
                                 bool load) {
    struct ww_smem_banks s = banks_of(32, 4, 0, 0);
    struct ww_access a = {.list = 0};
    uint64_t pool[32];
    uint32_t n = 0;
    s.pair_loads = packs;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t group = 0, at = 0;
        for (uint32_t b = 0; b < 5; b++)
            if (bits >> b & 1) group |= (l >> b & 1) << at++;
        if (mask >> l & 1) pool[n++] = group * apart;
    }
    struct ww_smem_passes p = ww_smem_passes(&s, &a, pool, mask, width, load);
    return p.parts + p.conflicts;
}

static void wide_loads_of_pairs_take_half_the_passes_on_volta(void **state) {
    (void)state;
    /* all lanes one address; lanes n, n ^ 1; lanes n, n ^ 2 */
    for (uint32_t bits = 0; bits < 3; bits++) {
        static const uint32_t of_number[] = {0, 0x1e, 0x1d};
        assert_int_equal(passes_of_groups(false, UINT32_MAX, 16, of_number[bits], 16, true), 4);
        assert_int_equal(passes_of_groups(true, UINT32_MAX, 16, of_number[bits], 16, true), 2);
        assert_int_equal(passes_of_groups(true, UINT32_MAX, 8, of_number[bits], 8, true), 1);
    }
}

static void other_wide_accesses_take_all_their_passes_on_volta(void **state) {
    (void)state;
    assert_int_equal(passes_of_groups(true, UINT32_MAX, 16, 0x1f, 16, true), 4); /* each its own */
    assert_int_equal(passes_of_groups(true, UINT32_MAX, 16, 0x1b, 16, true), 4); /* lanes n, n ^ 4 */
    assert_int_equal(passes_of_groups(true, UINT32_MAX, 16, 0, 16, false), 4);   /* a store */
    assert_int_equal(passes_of_groups(true, UINT32_MAX, 4, 0, 4, true), 1);
    assert_int_equal(passes_of_groups(true, UINT32_MAX, 16, 0x1e, 128, true), 16); /* conflicts stay */
}

static void lanes_that_are_not_active_do_not_part_a_pair(void **state) {
    (void)state;
    assert_int_equal(passes_of_groups(true, 0x55555555, 16, 0x1e, 16, true), 2);
    assert_int_equal(passes_of_groups(false, 0x55555555, 16, 0x1e, 16, true), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_loads_of_pairs_take_half_the_passes_on_volta),
        cmocka_unit_test(other_wide_accesses_take_all_their_passes_on_volta),
        cmocka_unit_test(lanes_that_are_not_active_do_not_part_a_pair),
        cmocka_unit_test(kepler_has_no_conflict_at_a_stride_of_2_in_either_mode),
        cmocka_unit_test(kepler_has_2_ways_at_a_stride_of_4_in_both_modes),
        cmocka_unit_test(kepler_has_2_ways_at_a_stride_of_6_in_the_4_byte_mode_alone),
        cmocka_unit_test(banks_of_4_bytes_conflict_by_the_common_divisor),
        cmocka_unit_test(words_that_are_32_apart_share_a_row_only_in_an_aligned_64_of_the_4_byte_mode),
        cmocka_unit_test(a_warp_reads_256_aligned_bytes_of_8_byte_banks_in_one_pass),
        cmocka_unit_test(half_warps_do_not_conflict_with_each_other),
        cmocka_unit_test(a_half_warp_takes_a_step_for_each_lane_of_a_bank),
        cmocka_unit_test(one_word_for_all_lanes_is_broadcast_in_a_step),
        cmocka_unit_test(a_step_broadcasts_one_word_only),
        cmocka_unit_test(doubles_of_a_half_warp_conflict_in_two_ways),
        cmocka_unit_test(each_part_of_a_narrow_pipeline_conflicts_by_itself),
        cmocka_unit_test(latency_is_straight_between_the_measured_degrees),
        cmocka_unit_test(what_is_found_to_be_one_pass_soon_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
