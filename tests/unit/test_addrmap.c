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

/* ---- parities of a V100 ---- */

static void spec_of_v100(struct ww_gpu_spec *s) {
    spec_of(s, 64, 32, 2);
    s->dram_banks = 16;
    s->dram_bank_groups = 4;
    s->dram_row_bytes = 2048;
}

/* Everywhere, with 64 KiB that begin at a multiple of it. */
static void the_v100s_parities_give_each_channel_a_row_of_64_kib(void **state) {
    (void)state;
    struct ww_gpu_spec spec;
    struct ww_addrmap map;
    struct ww_rng rng;
    spec_of_v100(&spec);
    ww_addrmap_init(&map, &spec);
    ww_rng_seed(&rng, 3);
    for (int i = 0; i < 300; i++) {
        uint64_t base = ww_rng_next(&rng) >> 24 << 16;
        uint32_t lines[64] = {0};
        struct ww_dram_place place[32];
        for (uint64_t offset = 0; offset < 65536; offset += 128) {
            struct ww_slice_place p = ww_addrmap_slice(&map, base + offset + 5);
            struct ww_dram_place d = ww_addrmap_dram(&map, p.slice, p.local);
            assert_true(p.slice < 64 && d.bank < 16 && (p.local & 127) == 5);
            if (!lines[p.slice & ~1u]++) place[p.slice / 2] = d;
            if (p.slice & 1) lines[p.slice]++, lines[p.slice - 1]--;
            assert_true(d.bank == place[p.slice / 2].bank && d.row == place[p.slice / 2].row);
        }
        for (uint32_t s = 0; s < 64; s++) assert_int_equal(lines[s], 8);
    }
}

/* Two lines of a slice never have the same place: 4 MiB and what lies 4 GiB and more behind it. */
static void the_v100s_parities_keep_lines_apart(void **state) {
    (void)state;
    enum { LINES = 32768 };
    struct ww_gpu_spec spec;
    struct ww_addrmap map;
    spec_of_v100(&spec);
    ww_addrmap_init(&map, &spec);
    for (uint64_t far = 0; far < 3; far++) {
        static bool seen[64][LINES / 64];
        memset(seen, 0, sizeof seen);
        uint64_t first = far << 40;
        for (uint64_t line = 0; line < LINES; line++) {
            struct ww_slice_place p = ww_addrmap_slice(&map, first + line * 128);
            uint64_t at = (p.local - (first >> 6)) >> 7;
            assert_true(at < LINES / 64 && !seen[p.slice][at]);
            seen[p.slice][at] = true;
        }
    }
}

/* Found of the board: bits 10 and 13 each change the channel, bit 14 does not, nor do bits below 10. */
static void a_kib_of_a_v100_lies_in_one_channel(void **state) {
    (void)state;
    struct ww_gpu_spec spec;
    struct ww_addrmap map;
    spec_of_v100(&spec);
    ww_addrmap_init(&map, &spec);
    const uint64_t at = 0x123456000;
    uint32_t channel = ww_addrmap_slice(&map, at).slice / 2;
    for (uint32_t bit = 5; bit < 34; bit++) {
        bool same = ww_addrmap_slice(&map, at ^ (uint64_t)1 << bit).slice / 2 == channel;
        assert_int_equal(same, bit < 10 || bit == 14);
    }
    assert_int_equal(ww_addrmap_slice(&map, at ^ 0x2400).slice / 2 ^ channel, 2 | 8); /* bits 10 and 13 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_by_reciprocal_is_exact),
        cmocka_unit_test(every_group_of_chunks_gives_each_slice_one),
        cmocka_unit_test(rows_are_filled_exactly),
        cmocka_unit_test(all_of_a_line_lies_in_one_row),
        cmocka_unit_test(the_xor_hash_spreads_power_of_two_strides),
        cmocka_unit_test(the_v100s_parities_give_each_channel_a_row_of_64_kib),
        cmocka_unit_test(the_v100s_parities_keep_lines_apart),
        cmocka_unit_test(a_kib_of_a_v100_lies_in_one_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
