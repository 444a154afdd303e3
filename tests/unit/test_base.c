/* Errors, arena, buffers, cursor, heap, hashes, random numbers, names. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/arena.h"
#include "../../estimator/base/buf.h"
#include "../../estimator/base/err.h"
#include "../../estimator/base/hash.h"
#include "../../estimator/base/heap.h"
#include "../../estimator/base/nearest.h"
#include "../../estimator/base/rng.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void arena_blocks_are_zeroed_and_aligned(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 0);
    for (size_t n = 1; n < 5000; n = n * 3 + 1) {
        unsigned char *p = ww_arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xaa, n);
    }
    ww_arena_free(&a);
    assert_int_equal(a.used, 0);
}

static void arena_blocks_do_not_overlap(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 0);
    unsigned char *p[300];
    for (int i = 0; i < 300; i++) memset(p[i] = ww_arena_alloc(&a, 1000), i & 255, 1000);
    for (int i = 0; i < 300; i++)
        for (int k = 0; k < 1000; k++) assert_int_equal(p[i][k], i & 255);
    ww_arena_free(&a);
}

static void arena_refuses_what_is_over_its_limit(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 1 << 20);
    assert_null(ww_arena_alloc(&a, 2 << 20));
    assert_non_null(ww_arena_alloc(&a, 1 << 10));
    size_t taken = 0;
    while (ww_arena_alloc(&a, 4096)) taken += 4096;
    assert_in_range(taken, 1 << 18, 1 << 20);
    assert_true(a.used <= a.limit);
    ww_arena_free(&a);
}

static void arena_lines_begin_at_a_line_and_are_zeroed(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 0);
    for (size_t n = 1; n < 300; n += 7) {
        unsigned char *p = ww_arena_lines(&a, n, 3);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % WW_HOST_LINE, 0);
        for (size_t i = 0; i < 3 * n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xff, 3 * n);
    }
    assert_null(ww_arena_lines(&a, SIZE_MAX / 2, 3));
    assert_null(ww_arena_lines(&a, SIZE_MAX, 1));
    ww_arena_free(&a);
}

static void arena_array_checks_for_overflow(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 0);
    assert_null(ww_arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(ww_arena_array(&a, SIZE_MAX, 1));
    ww_arena_free(&a);
}

static void arena_reset_keeps_the_largest_chunk_for_reuse(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 0);
    ww_arena_alloc(&a, 100);
    ww_arena_alloc(&a, 3 << 20);
    ww_arena_alloc(&a, 100);
    ww_arena_reset(&a);
    size_t kept = a.used;
    assert_true(kept >= 3 << 20);
    unsigned char *p = ww_arena_alloc(&a, 3 << 20);
    assert_int_equal(a.used, kept);
    assert_int_equal(p[0] | p[(3 << 20) - 1], 0);
    ww_arena_free(&a);
}

static void arena_printf_returns_the_whole_text(void **state) {
    (void)state;
    struct ww_arena a;
    ww_arena_init(&a, 0);
    assert_string_equal(ww_arena_printf(&a, "%s-%d", "x", 42), "x-42");
    assert_string_equal(ww_arena_strndup(&a, "abcdef", 3), "abc");
    ww_arena_free(&a);
}

static void varints_read_back(void **state) {
    (void)state;
    static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, 1ull << 63, UINT64_MAX};
    struct ww_buf b = {0};
    for (size_t i = 0; i < 8; i++) ww_buf_varint(&b, values[i]);
    for (size_t i = 0; i < 8; i++) ww_buf_svarint(&b, (int64_t)values[i]);
    struct ww_cursor c = {(unsigned char *)b.p, (unsigned char *)b.p + b.n, false};
    for (size_t i = 0; i < 8; i++) assert_true(ww_cursor_varint(&c) == values[i]);
    for (size_t i = 0; i < 8; i++) assert_true(ww_cursor_svarint(&c) == (int64_t)values[i]);
    assert_false(c.failed);
    assert_ptr_equal(c.p, c.end);
    ww_buf_free(&b);
}

static void small_varints_take_one_byte(void **state) {
    (void)state;
    struct ww_buf b = {0};
    ww_buf_varint(&b, 127);
    ww_buf_svarint(&b, -64);
    assert_int_equal(b.n, 2);
    ww_buf_varint(&b, 128);
    assert_int_equal(b.n, 4);
    ww_buf_free(&b);
}

static void cursor_fails_at_the_end_and_stays_failed(void **state) {
    (void)state;
    static const unsigned char bytes[] = {0x80, 0x80, 1, 2, 3};
    struct ww_cursor c = {bytes, bytes + 2, false};
    assert_int_equal(ww_cursor_varint(&c), 0);
    assert_true(c.failed);
    c = (struct ww_cursor){bytes + 2, bytes + 5, false};
    assert_int_equal(ww_cursor_u32(&c), 0);
    assert_true(c.failed);
    c = (struct ww_cursor){bytes, bytes + 5, false};
    assert_null(ww_cursor_bytes(&c, 6));
    assert_true(c.failed);
}

static void cursor_refuses_a_varint_that_has_no_end(void **state) {
    (void)state;
    unsigned char bytes[32];
    memset(bytes, 0xff, sizeof bytes);
    struct ww_cursor c = {bytes, bytes + sizeof bytes, false};
    ww_cursor_varint(&c);
    assert_true(c.failed);
}

static void buffer_keeps_a_nul_behind_its_bytes(void **state) {
    (void)state;
    struct ww_buf b = {0};
    for (int i = 0; i < 1000; i++) {
        ww_buf_printf(&b, "%d,", i);
        assert_int_equal(b.p[b.n], 0);
    }
    assert_int_equal(strlen(b.p), b.n);
    ww_buf_clear(&b);
    assert_string_equal(b.p, "");
    ww_buf_free(&b);
}

static void buffer_writes_little_endian(void **state) {
    (void)state;
    struct ww_buf b = {0};
    ww_buf_u32(&b, 0x01020304);
    ww_buf_u64(&b, 0x1122334455667788);
    assert_memory_equal(b.p, "\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11", 12);
    ww_buf_free(&b);
}

static void heap_gives_keys_in_order_and_ties_in_order_of_insertion(void **state) {
    (void)state;
    struct ww_heap_item items[500];
    struct ww_heap h = {.item = items, .capacity = 500};
    struct ww_rng r;
    ww_rng_seed(&r, 7);
    for (uint64_t i = 0; i < 500; i++) assert_true(ww_heap_push(&h, ww_rng_below(&r, 20), i));
    assert_false(ww_heap_push(&h, 0, 0));
    struct ww_heap_item last = ww_heap_pop(&h);
    while (h.count) {
        struct ww_heap_item next = ww_heap_pop(&h);
        assert_true(next.key > last.key || (next.key == last.key && next.value > last.value));
        last = next;
    }
}

static void crc32_is_the_standard_one(void **state) {
    (void)state;
    assert_int_equal(ww_crc32(0, "123456789", 9), 0xcbf43926); /* the check value of CRC-32/ISO-HDLC */
    assert_int_equal(ww_crc32(ww_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static void hash_depends_on_every_byte_and_the_seed(void **state) {
    (void)state;
    char text[40];
    memset(text, 'a', sizeof text);
    uint64_t h = ww_hash_bytes(text, sizeof text, 0);
    assert_true(h == ww_hash_bytes(text, sizeof text, 0));
    assert_true(h != ww_hash_bytes(text, sizeof text, 1));
    assert_true(h != ww_hash_bytes(text, sizeof text - 1, 0));
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] ^= 1;
        assert_true(h != ww_hash_bytes(text, sizeof text, 0));
        text[i] ^= 1;
    }
}

static void random_numbers_are_fixed_by_the_seed(void **state) {
    (void)state;
    struct ww_rng a, b, c;
    ww_rng_seed(&a, 1);
    ww_rng_seed(&b, 1);
    ww_rng_seed(&c, 2);
    assert_true(ww_rng_next(&a) == ww_rng_next(&b));
    assert_true(ww_rng_next(&a) != ww_rng_next(&c));
    uint32_t seen = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t v = ww_rng_below(&a, 10);
        assert_true(v < 10);
        seen |= 1u << v;
        double u = ww_rng_unit(&a);
        assert_true(u >= 0 && u < 1);
    }
    assert_int_equal(seen, 1023);
}

static void edit_distance_counts_edits_and_swaps(void **state) {
    (void)state;
    assert_int_equal(ww_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(ww_edit_distance("size", "isze"), 1);
    assert_int_equal(ww_edit_distance("", "abc"), 3);
    assert_int_equal(ww_edit_distance("same", "same"), 0);
}

static void nearest_word_is_offered_only_if_it_is_near(void **state) {
    (void)state;
    struct ww_nearest n;
    ww_nearest_init(&n, "gtx48");
    ww_nearest_offer(&n, "v100");
    ww_nearest_offer(&n, "gtx480");
    ww_nearest_offer(&n, "gtx980");
    assert_string_equal(ww_nearest_get(&n), "gtx480");
    ww_nearest_init(&n, "bicycle");
    ww_nearest_offer(&n, "v100");
    assert_null(ww_nearest_get(&n));
    ww_nearest_init(&n, "V100"); /* capital letters are no edits */
    ww_nearest_offer(&n, "a100");
    ww_nearest_offer(&n, "v100");
    assert_string_equal(ww_nearest_get(&n), "v100");
}

static void errors_carry_place_and_text(void **state) {
    (void)state;
    struct ww_error e;
    assert_int_equal(ww_fail(&e, WW_INPUT, "f.json", "met %d", 3), WW_INPUT);
    assert_int_equal(e.code, WW_INPUT);
    assert_string_equal(e.where, "f.json");
    assert_string_equal(e.text, "met 3");
    assert_int_equal(ww_error_within(&e, "outer"), WW_INPUT);
    assert_string_equal(e.where, "outer: f.json");
    assert_int_equal(ww_fail(NULL, WW_IO, NULL, "x"), WW_IO);
}

static void overlong_error_texts_are_cut_and_ended(void **state) {
    (void)state;
    struct ww_error e;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    ww_fail(&e, WW_INPUT, text, "%s", text);
    assert_int_equal(strlen(e.where), sizeof e.where - 1);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    ww_error_within(&e, text);
    assert_int_equal(strlen(e.where), sizeof e.where - 1);
}

static void every_code_has_a_name_a_help_and_its_own_exit_code(void **state) {
    (void)state;
    for (int a = 0; a < WW_CODE_COUNT; a++) {
        assert_true(strlen(ww_code_name((enum ww_code)a)) > 1 && strlen(ww_code_help((enum ww_code)a)) > 5);
        for (int b = 0; b < a; b++)
            assert_int_not_equal(ww_code_exit((enum ww_code)a), ww_code_exit((enum ww_code)b));
    }
    assert_int_equal(ww_code_exit(WW_OK), 0);
}

static void names_of_counters_states_slots_and_components_are_distinct(void **state) {
    (void)state;
    for (int a = 0; a < WW_COUNTER_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(ww_counter_name((enum ww_counter)a), ww_counter_name((enum ww_counter)b));
    for (int a = 0; a < WW_STATE_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(ww_state_name((enum ww_warp_state)a), ww_state_name((enum ww_warp_state)b));
    for (int a = 0; a < WW_SLOT_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(ww_slot_name((enum ww_slot)a), ww_slot_name((enum ww_slot)b));
    for (int a = 0; a < WW_COMPONENT_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(ww_component_name((enum ww_component)a),
                                    ww_component_name((enum ww_component)b));
}

static void names_out_of_range_are_null(void **state) {
    (void)state;
    assert_null(ww_counter_name(WW_COUNTER_COUNT));
    assert_null(ww_state_nsight(WW_STATE_COUNT));
    assert_null(ww_slot_help(WW_SLOT_COUNT));
    assert_null(ww_component_help(WW_COMPONENT_COUNT));
}

static void numbers_for_people_have_three_digits(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } rows[] = {{0, "0"},       {0.0024134, "0.00241"}, {1.255, "1.25"},  {78.75, "78.8"},
                {999.4, "999"}, {999.6, "1000"},        {4810.2, "4810"}, {1e6, "1000000"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[32];
        ww_three_digits(rows[i].v, text);
        assert_string_equal(text, rows[i].text);
    }
    assert_string_equal(ww_plural(1, "es"), "");
    assert_string_equal(ww_plural(0, "es"), "es");
}

static void what_could_steer_a_terminal_is_not_written(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ww_put_text(out, "a\033[31m\tb\r\n\x7f\xc2\x9b \xc3\xa9");
    fclose(out);
    assert_string_equal(text, "a?[31m\tb???? \xc3\xa9");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_for_people_have_three_digits),
        cmocka_unit_test(arena_blocks_are_zeroed_and_aligned),
        cmocka_unit_test(arena_blocks_do_not_overlap),
        cmocka_unit_test(arena_refuses_what_is_over_its_limit),
        cmocka_unit_test(arena_lines_begin_at_a_line_and_are_zeroed),
        cmocka_unit_test(arena_array_checks_for_overflow),
        cmocka_unit_test(arena_reset_keeps_the_largest_chunk_for_reuse),
        cmocka_unit_test(arena_printf_returns_the_whole_text),
        cmocka_unit_test(varints_read_back),
        cmocka_unit_test(small_varints_take_one_byte),
        cmocka_unit_test(cursor_fails_at_the_end_and_stays_failed),
        cmocka_unit_test(cursor_refuses_a_varint_that_has_no_end),
        cmocka_unit_test(buffer_keeps_a_nul_behind_its_bytes),
        cmocka_unit_test(buffer_writes_little_endian),
        cmocka_unit_test(heap_gives_keys_in_order_and_ties_in_order_of_insertion),
        cmocka_unit_test(crc32_is_the_standard_one),
        cmocka_unit_test(hash_depends_on_every_byte_and_the_seed),
        cmocka_unit_test(random_numbers_are_fixed_by_the_seed),
        cmocka_unit_test(edit_distance_counts_edits_and_swaps),
        cmocka_unit_test(nearest_word_is_offered_only_if_it_is_near),
        cmocka_unit_test(errors_carry_place_and_text),
        cmocka_unit_test(overlong_error_texts_are_cut_and_ended),
        cmocka_unit_test(every_code_has_a_name_a_help_and_its_own_exit_code),
        cmocka_unit_test(names_of_counters_states_slots_and_components_are_distinct),
        cmocka_unit_test(names_out_of_range_are_null),
        cmocka_unit_test(what_could_steer_a_terminal_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
