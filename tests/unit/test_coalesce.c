/* Coalescing and bank conflicts, against slow counts of the same. */
#include "../../estimator/base/bits.h"
#include "../../estimator/base/rng.h"
#include "../../estimator/core/sm/coalesce.h"
#include "../../estimator/core/sm/shapes.h"
#include "../../estimator/core/sm/smem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct ww_coalescer unit; /* large */

/* Every byte of every active lane, one by one. */
struct slow {
    uint64_t key[2048];
    uint32_t sectors[2048], count;
};

static void slow_byte(struct slow *s, uint64_t address) {
    uint32_t i = 0;
    while (i < s->count && s->key[i] != address >> 7) i++;
    if (i == s->count) {
        s->key[s->count] = address >> 7;
        s->sectors[s->count++] = 0;
    }
    s->sectors[i] |= 1u << ((address & 127) >> 5);
}

static void compare(const struct ww_access *a, const uint64_t *pool, uint32_t mask, uint32_t width) {
    struct slow slow = {.count = 0};
    uint32_t rank = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!((mask >> lane) & 1)) continue;
        uint64_t address = ww_lane_address(a, pool, lane, rank++);
        for (uint32_t b = 0; b < width; b++) slow_byte(&slow, address + b);
    }
    ww_coalesce(&unit, a, pool, mask, width);
    assert_int_equal(unit.count, slow.count);
    for (uint32_t i = 0; i < slow.count; i++) {
        uint32_t k = 0;
        while (k < unit.count && unit.request[k].key != slow.key[i]) k++;
        assert_true(k < unit.count);
        assert_int_equal(unit.request[k].chunks, slow.sectors[i]);
        assert_true(unit.request[k].bytes >= 1);
        assert_true(unit.request[k].bytes <= 32 * __builtin_popcount(slow.sectors[i]));
    }
    static struct ww_coalescer reads;
    ww_coalesce_init(&reads, unit.line_bytes);
    ww_coalesce_read(&reads, a, pool, mask, width);
    assert_int_equal(reads.count, unit.count);
    for (uint32_t i = 0; i < unit.count; i++) {
        assert_true(reads.request[i].key == unit.request[i].key);
        assert_int_equal(reads.request[i].chunks, unit.request[i].chunks);
    }
}

static uint32_t random_mask(struct ww_rng *r) {
    switch (ww_rng_below(r, 4)) {
    case 0:
        return UINT32_MAX;
    case 1:
        return (uint32_t)(((1ull << (1 + ww_rng_below(r, 31))) - 1) << ww_rng_below(r, 8)) | 1;
    case 2:
        return 1u << ww_rng_below(r, 32);
    default:
        return (uint32_t)ww_rng_next(r) | 1;
    }
}

static void affine_accesses_give_the_requests_of_their_lanes(void **state) {
    (void)state;
    struct ww_rng r;
    ww_rng_seed(&r, 1);
    ww_coalesce_init(&unit, 128);
    for (int i = 0; i < 20000; i++) {
        uint32_t width = 1u << ww_rng_below(&r, 5);
        int32_t stride = (int32_t)ww_rng_below(&r, 300) - 150;
        if (ww_rng_below(&r, 2)) stride = (int32_t)(width * ww_rng_below(&r, 4));
        struct ww_access a = {0x100000 + ww_rng_below(&r, 4096), stride, WW_AFFINE};
        compare(&a, NULL, random_mask(&r), width);
    }
}

static void listed_addresses_give_the_requests_of_their_lanes(void **state) {
    (void)state;
    struct ww_rng r;
    uint64_t pool[40];
    ww_rng_seed(&r, 2);
    ww_coalesce_init(&unit, 128);
    for (int i = 0; i < 20000; i++) {
        uint32_t range = 1u << (4 + ww_rng_below(&r, 16));
        for (int k = 0; k < 40; k++) pool[k] = 0x100000 + ww_rng_below(&r, range);
        struct ww_access a = {0, 0, ww_rng_below(&r, 8)};
        compare(&a, pool, random_mask(&r), 1u << ww_rng_below(&r, 5));
    }
}

static void requests_come_in_the_order_of_lanes(void **state) {
    (void)state;
    uint64_t pool[4] = {0x1000, 0x800, 0x1010, 0x4000};
    struct ww_access a = {0, 0, 0};
    ww_coalesce_init(&unit, 128);
    ww_coalesce(&unit, &a, pool, 0xf, 4);
    assert_int_equal(unit.count, 3);
    assert_int_equal(unit.request[0].key, 0x1000 >> 7);
    assert_int_equal(unit.request[1].key, 0x800 >> 7);
    assert_int_equal(unit.request[2].key, 0x4000 >> 7);
}

/* 32 addresses, and as many offsets of them from the first. */
static void lists_of_offsets_are_what_their_addresses_are(void **state) {
    (void)state;
    struct ww_rng r;
    ww_rng_seed(&r, 3);
    ww_coalesce_init(&unit, 128);
    for (unsigned n = 0; n < 1000; n++) {
        uint64_t pool[48], made[32];
        uint32_t mask = random_mask(&r), width = 1u << ww_rng_below(&r, 5), bits = n % 2 ? 15 : 22;
        int16_t *narrow = (int16_t *)(void *)(pool + 32);
        int32_t *wide = (int32_t *)(void *)(pool + 32);
        for (unsigned i = 0; i < 32; i++) {
            pool[i] = i ? pool[0] + ww_rng_below(&r, 1u << bits) - (1u << (bits - 1)) : 1ull << 40;
            if (n % 2)
                narrow[i] = (int16_t)(pool[i] - pool[0]);
            else
                wide[i] = (int32_t)(pool[i] - pool[0]);
        }
        struct ww_access a = {pool[0], 0, 32 | (n % 2 ? WW_LIST_16 : WW_LIST_32)}, full = {0, 0, 0};
        const uint64_t *is = ww_lane_addresses(&a, pool, mask, made);
        for (uint32_t i = 0; i < (uint32_t)__builtin_popcount(mask); i++) {
            assert_int_equal(is[i], pool[i]);
            assert_int_equal(ww_listed(&a, pool, i), pool[i]);
        }
        compare(&a, pool, mask, width);
        ww_coalesce(&unit, &full, pool, mask, width);
        ww_coalesce_updates(&unit, &full, pool, mask);
        struct ww_coalescer expected = unit;
        ww_coalesce(&unit, &a, pool, mask, width);
        ww_coalesce_updates(&unit, &a, pool, mask);
        assert_memory_equal(unit.request, expected.request, unit.count * sizeof *unit.request);
    }
}

static void a_store_carries_its_bytes(void **state) {
    (void)state;
    struct ww_access whole = {0x1000, 4, WW_AFFINE}, one = {0x1000, 0, WW_AFFINE};
    ww_coalesce_init(&unit, 128);
    ww_coalesce(&unit, &whole, NULL, UINT32_MAX, 4);
    assert_int_equal(unit.request[0].bytes, 128);
    ww_coalesce(&unit, &one, NULL, UINT32_MAX, 8);
    assert_int_equal(unit.request[0].bytes, 8);
    ww_coalesce(&unit, &whole, NULL, 0x0000000f, 4);
    assert_int_equal(unit.request[0].bytes, 16);
}

static void updates_of_one_word_follow_one_another(void **state) {
    (void)state;
    uint64_t pool[4] = {0x1000, 0x1004, 0x1000, 0x2000};
    struct ww_access a = {0, 0, 0};
    ww_coalesce_init(&unit, 128);
    ww_coalesce(&unit, &a, pool, 0xf, 4);
    ww_coalesce_updates(&unit, &a, pool, 0xf);
    assert_int_equal(unit.request[0].updates, 2); /* two lanes want 0x1000; 0x1004 goes along */
    assert_int_equal(unit.request[1].updates, 1);
}

static void chunks_of_a_line_are_updated_one_after_the_other(void **state) {
    (void)state;
    struct ww_access whole = {0x1000, 4, WW_AFFINE}, one = {0x1000, 0, WW_AFFINE};
    ww_coalesce_init(&unit, 128);
    ww_coalesce(&unit, &whole, NULL, UINT32_MAX, 4);
    ww_coalesce_updates(&unit, &whole, NULL, UINT32_MAX);
    assert_int_equal(unit.request[0].updates, 4);
    ww_coalesce(&unit, &one, NULL, UINT32_MAX, 4);
    ww_coalesce_updates(&unit, &one, NULL, UINT32_MAX);
    assert_int_equal(unit.request[0].updates, 32);
}

static void local_words_of_neighbouring_lanes_are_neighbours(void **state) {
    (void)state;
    struct ww_local_frame frame = {1ull << 40, 16};
    struct ww_access a = {8, 0, WW_AFFINE};
    ww_coalesce_init(&unit, 128);
    ww_coalesce_local(&unit, &a, NULL, UINT32_MAX, 4, &frame);
    assert_int_equal(unit.count, 1);
    assert_int_equal(unit.request[0].key, ((1ull << 40) + 2 * 128) >> 7);
    assert_int_equal(unit.request[0].chunks, 15);
    ww_coalesce_local(&unit, &a, NULL, 0x000000ff, 16, &frame);
    assert_int_equal(unit.count, 4);
    assert_int_equal(unit.request[3].chunks, 1);
}

/* Passes by the definition: distinct words in the fullest bank of each phase. */
static uint32_t slow_passes(const struct ww_access *a, const uint64_t *pool, uint32_t mask, uint32_t width,
                            uint32_t banks) {
    uint32_t lanes = width <= 4 ? 32 : 128 / width, passes = 0;
    uint64_t address[32];
    uint32_t rank = 0;
    for (uint32_t l = 0; l < 32; l++)
        if ((mask >> l) & 1) address[l] = ww_lane_address(a, pool, l, rank++);
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t most = 0;
        for (uint32_t bank = 0; bank < banks; bank++) {
            uint64_t met[64];
            uint32_t count = 0;
            for (uint32_t l = first; l < first + lanes; l++) {
                if (!((mask >> l) & 1)) continue;
                for (uint64_t w = address[l] >> 2; w <= (address[l] + width - 1) >> 2; w++) {
                    uint32_t k = 0;
                    if (w % banks != bank) continue;
                    while (k < count && met[k] != w) k++;
                    if (k == count) met[count++] = w;
                }
            }
            if (count > most) most = count;
        }
        passes += most;
    }
    return passes;
}

/* What an access says of a list. */
static int32_t span(const uint64_t *address, uint32_t count) {
    uint64_t low = address[0], high = address[0];
    for (uint32_t i = 1; i < count; i++) {
        if (address[i] < low) low = address[i];
        if (address[i] > high) high = address[i];
    }
    return (int32_t)(high - low);
}

static void passes_are_the_distinct_words_of_the_fullest_bank(void **state) {
    (void)state;
    struct ww_rng r;
    struct ww_gpu_spec g;
    struct ww_smem_banks banks;
    uint64_t pool[32];
    ww_rng_seed(&r, 3);
    memset(&g, 0, sizeof g);
    g.shared_bank_bytes = 4;
    for (int i = 0; i < 20000; i++) {
        uint32_t width = 1u << ww_rng_below(&r, 5), mask = random_mask(&r);
        struct ww_access a = {ww_rng_below(&r, 1024) * width, (int32_t)(width * ww_rng_below(&r, 70)),
                              WW_AFFINE};
        if (ww_rng_below(&r, 2)) a.stride = -a.stride;
        a.base += 1u << 20;
        if (ww_rng_below(&r, 3) == 0) {
            uint32_t lanes = ww_bits(mask), words = ww_rng_below(&r, 2) ? 512 : 2 + ww_rng_below(&r, 32);
            a.list = 0;
            for (int k = 0; k < 32; k++) pool[k] = ww_rng_below(&r, words) * width;
            a.stride = ww_rng_below(&r, 2) ? span(pool, lanes) : 0;
        }
        g.shared_banks = ww_rng_below(&r, 4) ? 16u << ww_rng_below(&r, 2) : 1u << ww_rng_below(&r, 7);
        ww_smem_init(&banks, &g);
        struct ww_smem_passes got = ww_smem_passes(&banks, &a, pool, mask, width, false);
        assert_int_equal(got.parts + got.conflicts, slow_passes(&a, pool, mask, width, g.shared_banks));
    }
}

/* A few patterns, at many places. */
static struct ww_access random_copy(struct ww_rng *r, const struct ww_access *pattern, uint32_t width) {
    struct ww_access a = pattern[ww_rng_below(r, 8)];
    a.base = ((uint64_t)1 << 30) + (uint64_t)ww_rng_below(r, 4096) * width;
    if (ww_rng_below(r, 4) == 0) a.base += ww_rng_below(r, 16); /* not aligned */
    if (ww_rng_below(r, 16) == 0) a.base = ww_rng_below(r, 2) ? width : UINT64_MAX - 4096 * width; /* wraps */
    return a;
}

static void check_what_is_kept(const struct ww_gpu_spec *g) {
    static struct ww_shapes shapes;
    static struct ww_coalescer kept;
    struct ww_rng r;
    struct ww_smem_banks banks;
    uint64_t pool[8 * 8];
    struct ww_access pattern[8];
    memset(&shapes, 0, sizeof shapes);
    ww_rng_seed(&r, 7);
    ww_smem_init(&banks, g);
    ww_coalesce_init(&unit, 128);
    ww_coalesce_init(&kept, 128);
    for (uint32_t i = 0; i < 8; i++) {
        int16_t *list = (int16_t *)&pool[8 * i];
        for (uint32_t k = 0; k < 32; k++)
            list[k] = (int16_t)(k ? ((int32_t)ww_rng_below(&r, i % 2 ? 64 : 2000) - 30) * 16 : 0);
        pattern[i] = (struct ww_access){0, 0, 8 * i | WW_LIST_16};
        if (i >= 5) pattern[i] = (struct ww_access){0, i == 5 ? -48 : i == 6 ? 144 : 0, WW_AFFINE};
    }
    for (int i = 0; i < 20000; i++) {
        uint32_t width = 1u << ww_rng_below(&r, 5), mask = ww_rng_below(&r, 4) ? UINT32_MAX : random_mask(&r);
        struct ww_access a = random_copy(&r, pattern, width);
        bool load = ww_rng_below(&r, 2);
        ww_coalesce(&unit, &a, pool, mask, width);
        ww_shapes_coalesce(&shapes, &kept, &a, pool, mask, width, load);
        assert_int_equal(kept.count, unit.count);
        for (uint32_t k = 0; k < unit.count; k++) {
            assert_true(kept.request[k].key == unit.request[k].key);
            assert_int_equal(kept.request[k].chunks, unit.request[k].chunks);
            if (!load) assert_int_equal(kept.request[k].bytes, unit.request[k].bytes);
        }
        struct ww_smem_passes want = ww_smem_passes(&banks, &a, pool, mask, width, load),
                              got = ww_shapes_passes(&shapes, &banks, &a, pool, mask, width, load);
        assert_int_equal(got.parts, want.parts);
        assert_int_equal(got.conflicts, want.conflicts);
    }
}

/* Rows of banks may be narrower than what a lane accesses. */
static void what_is_kept_of_patterns_is_as_if_found_out_anew(void **state) {
    (void)state;
    for (uint32_t width = 4; width <= 16; width *= 4)
        for (uint32_t banks = 1; banks <= 64; banks *= 2) {
            struct ww_gpu_spec g = {
                .shared_bank_bytes = width, .shared_banks = banks, .shared_pair_loads = true};
            check_what_is_kept(&g);
        }
    struct ww_gpu_spec modes = {.shared_bank_bytes = 8, .shared_banks = 1, .shared_map_bytes = 4},
                       halves = {.shared_bank_bytes = 4, .shared_banks = 2, .shared_half_warp = true};
    check_what_is_kept(&modes);
    check_what_is_kept(&halves);
}

static void a_lane_that_needs_more_than_a_row_of_banks_takes_a_pass_for_each(void **state) {
    (void)state;
    for (uint32_t banks = 1; banks <= 8; banks *= 2) {
        struct ww_gpu_spec g = {.shared_bank_bytes = 4, .shared_banks = banks};
        struct ww_smem_banks b;
        struct ww_access same = {64, 0, WW_AFFINE};
        ww_smem_init(&b, &g);
        struct ww_smem_passes p = ww_smem_passes(&b, &same, NULL, UINT32_MAX, 16, false);
        assert_int_equal(p.parts, 4);
        assert_int_equal(p.parts + p.conflicts, banks < 4 ? 16 / banks : 4);
    }
}

static void lanes_of_one_address_are_counted(void **state) {
    (void)state;
    uint64_t pool[6] = {8, 16, 8, 8, 16, 24};
    struct ww_access list = {0, 0, 0}, same = {64, 0, WW_AFFINE}, apart = {64, 4, WW_AFFINE};
    assert_int_equal(ww_smem_same_address(&list, pool, 0x3f), 3);
    assert_int_equal(ww_smem_same_address(&same, NULL, 0xff), 8);
    assert_int_equal(ww_smem_same_address(&apart, NULL, 0xff), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_accesses_give_the_requests_of_their_lanes),
        cmocka_unit_test(listed_addresses_give_the_requests_of_their_lanes),
        cmocka_unit_test(requests_come_in_the_order_of_lanes),
        cmocka_unit_test(lists_of_offsets_are_what_their_addresses_are),
        cmocka_unit_test(a_store_carries_its_bytes),
        cmocka_unit_test(updates_of_one_word_follow_one_another),
        cmocka_unit_test(chunks_of_a_line_are_updated_one_after_the_other),
        cmocka_unit_test(local_words_of_neighbouring_lanes_are_neighbours),
        cmocka_unit_test(passes_are_the_distinct_words_of_the_fullest_bank),
        cmocka_unit_test(what_is_kept_of_patterns_is_as_if_found_out_anew),
        cmocka_unit_test(a_lane_that_needs_more_than_a_row_of_banks_takes_a_pass_for_each),
        cmocka_unit_test(lanes_of_one_address_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
