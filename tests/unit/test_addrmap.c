#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/base/rng.h"
#include "estimator/core/memory/addrmap.h"
#include "memsys_fixture.h"
#include <stdlib.h>
#include <string.h>

static void division_by_reciprocal_is_exact(void **state) {
    (void)state;
    struct ww_rng rng;
    ww_rng_seed(&rng, 7);
    for (uint32_t v = 1; v <= 1024; v++) {
        struct ww_divider d;
        ww_divider_init(&d, v);
        for (int i = 0; i < 200; i++) {
            uint64_t n = ww_rng_next(&rng) >> 5 >> ww_rng_below(&rng, 58);
            assert_int_equal(ww_divide(&d, n), n / v);
            assert_int_equal(ww_divide(&d, n / v * v), n / v);
            if (n / v) assert_int_equal(ww_divide(&d, n / v * v - 1), n / v - 1);
        }
    }
}

static void spec_of(struct ww_gpu_spec *s, uint32_t slices, uint32_t channels, uint32_t hash) {
    small_spec(s);
    s->l2_slices = slices;
    s->dram_channels = channels;
    s->l2_slice_hash = hash;
}

static const uint32_t shapes[][2] = {{12, 6}, {12, 12}, {16, 8}, {64, 32}, {48, 24}, {96, 32}, {1, 1}, {5, 5}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void every_group_of_chunks_gives_each_slice_one(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (uint32_t hash = 0; hash < 2; hash++) {
            struct ww_gpu_spec spec;
            struct ww_addrmap map;
            spec_of(&spec, shapes[i][0], shapes[i][1], hash);
            ww_addrmap_init(&map, &spec);
            for (uint64_t group = 0; group < 300; group++) {
                bool seen[128] = {false};
                for (uint64_t r = 0; r < spec.l2_slices; r++) {
                    uint64_t address = (group * spec.l2_slices + r) * spec.l2_interleave + 37;
                    struct ww_slice_place p = ww_addrmap_slice(&map, address);
                    assert_true(p.slice < spec.l2_slices && !seen[p.slice]);
                    seen[p.slice] = true;
                    assert_int_equal(p.local, group * spec.l2_interleave + 37);
                }
            }
        }
}

/* Counts, per bank and row of channel 0, the 256-byte blocks that map there. */
static void rows_are_filled_exactly(void **state) {
    (void)state;
    enum { ROWS = 64 };
    struct ww_gpu_spec spec;
    struct ww_addrmap map;
    spec_of(&spec, 12, 6, 1);
    ww_addrmap_init(&map, &spec);
    uint32_t count[8][ROWS] = {{0}};
    uint64_t blocks = (uint64_t)spec.dram_banks * ROWS * spec.dram_row_bytes / 256;
    for (uint64_t b = 0; b < blocks; b++) {
        /* Slices 0 and 1 are of channel 0; chunks of theirs alternate. */
        struct ww_dram_place p = ww_addrmap_dram(&map, (uint32_t)(b & 1), (b >> 1) * 256);
        assert_true(p.bank < spec.dram_banks && p.row < ROWS);
        count[p.bank][p.row]++;
    }
    for (uint32_t bank = 0; bank < spec.dram_banks; bank++)
        for (uint32_t row = 0; row < ROWS; row++) assert_int_equal(count[bank][row], spec.dram_row_bytes / 256);
}

static void all_of_a_line_lies_in_one_row(void **state) {
    (void)state;
    struct ww_gpu_spec spec;
    struct ww_addrmap map;
    spec_of(&spec, 12, 12, 1);
    ww_addrmap_init(&map, &spec);
    for (uint64_t line = 0; line < 5000; line++) {
        struct ww_dram_place a = ww_addrmap_dram(&map, 5, line * 128),
                             b = ww_addrmap_dram(&map, 5, line * 128 + 96);
        assert_true(a.bank == b.bank && a.row == b.row);
    }
}

/* The largest share of one slice among 4096 accesses of a stride. */
static uint32_t busiest(const struct ww_gpu_spec *spec, uint64_t stride) {
    struct ww_addrmap map;
    uint32_t count[128] = {0}, most = 0;
    ww_addrmap_init(&map, spec);
    for (uint64_t i = 0; i < 4096; i++) {
        uint32_t s = ww_addrmap_slice(&map, i * stride).slice;
        if (++count[s] > most) most = count[s];
    }
    return most;
}

static void the_xor_hash_spreads_power_of_two_strides(void **state) {
    (void)state;
    struct ww_gpu_spec plain, hashed;
    spec_of(&plain, 64, 32, 0);
    spec_of(&hashed, 64, 32, 1);
    assert_int_equal(busiest(&plain, 64 * 256), 4096); /* the trouble that the hash is for */
    for (uint64_t stride = 256; stride <= 1 << 20; stride *= 2)
        assert_true(busiest(&hashed, stride) <= 2 * 4096 / 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_by_reciprocal_is_exact),
        cmocka_unit_test(every_group_of_chunks_gives_each_slice_one),
        cmocka_unit_test(rows_are_filled_exactly),
        cmocka_unit_test(all_of_a_line_lies_in_one_row),
        cmocka_unit_test(the_xor_hash_spreads_power_of_two_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
