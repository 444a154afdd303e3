/* The trace container: damaged and hostile files give an error with a place, never a wrong answer. */
#include "../../estimator/warpwatt.h"
#include "wwt_fixture.h"
#include "../../estimator/base/hash.h"
#include "../../traces/wwt/reader.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;
static struct ww_made_launch launch;
static unsigned char *file; /* a small sound trace */
static size_t file_size;
static char file_hash[17];

static int set_up(void **state) {
    (void)state;
    struct ww_made_shape shape = {{3, 1, 1}, {40, 1, 1}, 8, 12, 2, false};
    struct ww_trace *t;
    ww_arena_init(&arena, 0);
    ww_made_launch(&arena, 5, &shape, &launch);
    const char *path = ww_made_path(&arena, "small.wwt");
    if (ww_made_write(path, &launch, 1, 0, &error) != WW_OK) return -1;
    file = ww_made_read(&arena, path, &file_size);
    if (ww_trace_open_memory(file, file_size, "x", &t, &error) != WW_OK) return -1;
    memcpy(file_hash, ww_trace_hash(t), sizeof file_hash);
    ww_trace_close(t);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_arena_free(&arena);
    ww_made_clean();
    return 0;
}

/* Opens and reads all; WW_OK only if everything is as it was written. */
static enum ww_code read_all(const unsigned char *p, size_t n) {
    struct ww_trace *t;
    WW_TRY(ww_trace_open_memory(p, n, "damaged.wwt", &t, &error));
    enum ww_code code = ww_trace_verify(t, NULL, NULL, &error);
    for (size_t i = 0; i < launch.cta_count && code == WW_OK; i++) {
        struct ww_cta_trace cta;
        code = ww_trace_load_cta(t, 0, i, &cta, &error);
        if (code == WW_OK && ww_made_compare(&launch.launch, &cta, &launch.cta[i]))
            fail_msg("damage was read as content");
        ww_trace_release_cta(t, &cta);
    }
    ww_trace_close(t);
    return code;
}

static void the_sound_file_is_read(void **state) {
    (void)state;
    assert_int_equal(read_all(file, file_size), WW_OK);
}

static void every_truncation_is_an_error_with_a_place(void **state) {
    (void)state;
    for (size_t n = 0; n < file_size; n++) {
        unsigned char *copy = malloc(n + 1); /* exact size, for the address sanitizer */
        memcpy(copy, file, n);
        assert_int_equal(read_all(copy, n), WW_INPUT);
        assert_non_null(strstr(error.where, "damaged.wwt: offset "));
        free(copy);
    }
}

static void every_flipped_bit_is_an_error(void **state) {
    (void)state;
    unsigned char *copy = malloc(file_size);
    for (size_t bit = 0; bit < file_size * 8; bit++) {
        memcpy(copy, file, file_size);
        copy[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        enum ww_code code = read_all(copy, file_size);
        if (code == WW_OK) fail_msg("bit %zu of byte %zu makes no difference", bit % 8, bit / 8);
    }
    free(copy);
}

static void every_byte_added_at_the_end_is_an_error(void **state) {
    (void)state;
    unsigned char *copy = calloc(1, file_size + 40);
    memcpy(copy, file, file_size);
    for (size_t n = 1; n <= 40; n++) assert_int_equal(read_all(copy, file_size + n), WW_INPUT);
    free(copy);
}

static void other_files_are_refused_by_name(void **state) {
    (void)state;
    struct ww_trace *t;
    const char *path = ww_made_path(&arena, "text.wwt");
    ww_made_put(path, "-kernel name = saxpy\n-grid dim = (1,1,1)\n", 41);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_INPUT);
    assert_null(t);
    assert_non_null(strstr(error.where, "text.wwt"));
    assert_non_null(strstr(error.text, "not a .wwt trace"));
}

static void a_missing_file_and_a_directory_are_errors(void **state) {
    (void)state;
    struct ww_trace *t;
    assert_int_equal(ww_trace_open(ww_made_path(&arena, "none.wwt"), &t, &error), WW_IO);
    assert_int_equal(ww_trace_open("/", &t, &error), WW_INPUT);
}

static void a_later_version_is_unsupported(void **state) {
    (void)state;
    unsigned char *copy = ww_arena_alloc(&arena, file_size);
    memcpy(copy, file, file_size);
    copy[8] = WW_WWT_VERSION_LAST + 1;
    ww_wwt_put32(copy + 12, ww_crc32(0, copy, 12));
    assert_int_equal(read_all(copy, file_size), WW_UNSUPPORTED);
}

/* Puts checksums, sizes and hash of a file right again, chunk by chunk, so that what is inside is met. */
static void seal(unsigned char *p, size_t n, const unsigned char *index_raw, size_t index_n) {
    unsigned char *t = p + n - WW_WWT_TRAILER_BYTES;
    uint64_t index = ww_wwt_get64(t);
    unsigned char *h = p + index;
    ww_wwt_put32(h + 12, ww_crc32(ww_crc32(0, h, 12), h + 16, ww_wwt_get32(h + 4)));
    ww_wwt_put64(t + 8, n);
    ww_wwt_put64(t + 16, ww_hash_bytes(index_raw, index_n, WW_WWT_VERSION_LAST));
    ww_wwt_put32(t + 24, ww_crc32(0, t, 24));
}

/* The file with its index stored uncompressed and changed by one byte; WW_OK if it is still read. */
static enum ww_code with_index_byte(const unsigned char *raw, size_t raw_n, size_t at, unsigned char value) {
    uint64_t index = ww_wwt_get64(file + file_size - WW_WWT_TRAILER_BYTES);
    size_t n = (size_t)index + WW_WWT_CHUNK_BYTES + raw_n + WW_WWT_TRAILER_BYTES;
    unsigned char *p = malloc(n);
    memcpy(p, file, (size_t)index + 4);
    ww_wwt_put32(p + index + 4, (uint32_t)raw_n);
    ww_wwt_put32(p + index + 8, (uint32_t)raw_n);
    memcpy(p + index + 16, raw, raw_n);
    p[index + 16 + at] = value;
    memcpy(p + n - WW_WWT_TRAILER_BYTES, file + file_size - WW_WWT_TRAILER_BYTES, WW_WWT_TRAILER_BYTES);
    seal(p, n, p + index + 16, raw_n);
    struct ww_trace *t;
    enum ww_code code = ww_trace_open_memory(p, n, "hostile.wwt", &t, &error);
    if (code == WW_OK) {
        assert_string_not_equal(ww_trace_hash(t), raw[at] == value ? "" : file_hash);
        code = ww_trace_verify(t, NULL, NULL, &error);
        ww_trace_close(t);
    }
    free(p);
    return code;
}

static void a_hostile_index_with_right_checksums_is_survived(void **state) {
    (void)state;
    struct ww_trace *t;
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    assert_int_equal(ww_trace_open_memory(file, file_size, "x", &t, &error), WW_OK);
    size_t n = t->raw.n, refused = 0;
    unsigned char *raw = ww_arena_alloc(&arena, n);
    memcpy(raw, t->raw.p, n);
    ww_trace_close(t);
    assert_int_equal(with_index_byte(raw, n, 0, raw[0]), WW_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof values; k++) refused += with_index_byte(raw, n, i, values[k]) != WW_OK;
    assert_true(refused > n); /* many of the changes are harmless: names, lines, registers */
}

/* Decodes a group's data as it is, past all checksums. */
static enum ww_code decode_raw(struct ww_trace *t, const unsigned char *raw, size_t n) {
    struct ww_wwt_decoded *d = NULL;
    const char *why = "";
    size_t at = 0;
    enum ww_code code = ww_wwt_decode(&t->index.launch[0], 0, &t->index.launch[0].group[0], t->version, raw, n,
                                      NULL, &d, &why, &at);
    if (code == WW_INPUT) assert_true(why[0] && at <= n);
    ww_wwt_decoded_free(d);
    return code;
}

static void hostile_group_data_is_survived(void **state) {
    (void)state;
    struct ww_trace *t;
    assert_int_equal(ww_trace_open_memory(file, file_size, "x", &t, &error), WW_OK);
    assert_int_equal(ww_wwt_load_group(t, 0, &t->index.launch[0].group[0], &error), WW_OK);
    size_t n = t->raw.n, refused = 0;
    unsigned char *raw = malloc(n);
    memcpy(raw, t->raw.p, n);
    assert_int_equal(decode_raw(t, raw, n), WW_OK);
    for (size_t i = 0; i < n; i++)
        for (unsigned v = 0; v < 256; v++) {
            unsigned char old = raw[i];
            raw[i] = (unsigned char)v;
            refused += decode_raw(t, raw, n) != WW_OK;
            raw[i] = old;
        }
    assert_true(refused > n);
    free(raw);
    ww_trace_close(t);
}

static void group_data_cut_anywhere_is_refused(void **state) {
    (void)state;
    struct ww_trace *t;
    assert_int_equal(ww_trace_open_memory(file, file_size, "x", &t, &error), WW_OK);
    assert_int_equal(ww_wwt_load_group(t, 0, &t->index.launch[0].group[0], &error), WW_OK);
    size_t n = t->raw.n;
    for (size_t k = 0; k < n; k++) {
        unsigned char *raw = malloc(k + 1);
        memcpy(raw, t->raw.p, k);
        assert_int_equal(decode_raw(t, raw, k), WW_INPUT);
        free(raw);
    }
    ww_trace_close(t);
}

static void a_chunk_that_claims_too_much_is_refused_before_it_is_read(void **state) {
    (void)state;
    uint64_t index = ww_wwt_get64(file + file_size - WW_WWT_TRAILER_BYTES);
    unsigned char *copy = ww_arena_alloc(&arena, file_size);
    memcpy(copy, file, file_size);
    ww_wwt_put32(copy + index + 8, WW_WWT_RAW_MAX + 1);
    seal(copy, file_size, copy, 0);
    assert_int_equal(read_all(copy, file_size), WW_INPUT);
    assert_non_null(strstr(error.text, "out of bounds"));
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(the_sound_file_is_read),
        T(every_truncation_is_an_error_with_a_place),
        T(every_flipped_bit_is_an_error),
        T(every_byte_added_at_the_end_is_an_error),
        T(other_files_are_refused_by_name),
        T(a_missing_file_and_a_directory_are_errors),
        T(a_later_version_is_unsupported),
        T(a_hostile_index_with_right_checksums_is_survived),
        T(hostile_group_data_is_survived),
        T(group_data_cut_anywhere_is_refused),
        T(a_chunk_that_claims_too_much_is_refused_before_it_is_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
