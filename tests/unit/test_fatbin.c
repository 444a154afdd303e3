/* test_fatbin.c: reading fat binaries, whole and damaged. */
#include "../../traces/sass/cubin/fatbin.h"
#include "cubin_fixture.h"
#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <cmocka.h>

#define HEADER 16u
#define IMAGE 64u

struct maker {
    unsigned char data[65536];
    size_t n;
};

static void put(unsigned char *p, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static void begin(struct maker *m) {
    memset(m, 0, sizeof *m);
    put(m->data, FATBIN_MAGIC, 4);
    put(m->data + 4, 1, 2);
    put(m->data + 6, HEADER, 2);
    m->n = HEADER;
}

/* Adds an image; text_bytes 0: not compressed. */
static void add(struct maker *m, uint32_t kind, uint32_t arch, uint64_t flags, const void *payload,
                size_t bytes, size_t text_bytes) {
    unsigned char *h = m->data + m->n;
    size_t padded = (bytes + 7) / 8 * 8;
    put(h, kind, 2);
    put(h + 2, 0x101, 2);
    put(h + 4, IMAGE, 4);
    put(h + 8, padded, 8);
    put(h + 16, text_bytes ? bytes : 0, 4);
    put(h + 28, arch, 4);
    put(h + 40, flags, 8);
    put(h + 56, text_bytes, 8);
    memcpy(h + IMAGE, payload, bytes);
    m->n += IMAGE + padded;
    put(m->data + 8, m->n - HEADER, 8);
}

static const char TEXT[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n// text that repeats, text that repeats\n";

static void add_compressed(struct maker *m, uint32_t arch, bool zstd) {
    char packed[512];
    size_t n = zstd ? ZSTD_compress(packed, sizeof packed, TEXT, sizeof TEXT, 3)
                    : (size_t)LZ4_compress_default(TEXT, packed, sizeof TEXT, sizeof packed);
    add(m, FATBIN_PTX, arch, zstd ? 0x8011 : 0x2011, packed, n, sizeof TEXT);
}

static enum ww_code choose(const struct maker *m, uint32_t arch, struct fatbin_summary *s, struct ww_error *e) {
    return ww_fatbin_choose(m->data, m->n, "test", arch, s, e);
}

static void assert_text(const struct fatbin_image *image) {
    char *text;
    size_t n;
    assert_int_equal(ww_fatbin_text(image, "test", &text, &n, NULL), WW_OK);
    assert_int_equal(n, sizeof TEXT - 1);
    assert_string_equal(text, TEXT);
    free(text);
}

static void plain_lz4_and_zstd_give_the_same_text(void **state) {
    (void)state;
    for (int form = 0; form < 3; form++) {
        struct maker m;
        struct fatbin_summary s;
        begin(&m);
        if (form == 0)
            add(&m, FATBIN_PTX, 70, 0x11, TEXT, sizeof TEXT, 0);
        else
            add_compressed(&m, 70, form == 2);
        assert_int_equal(ww_fatbin_size(m.data, m.n), m.n);
        assert_int_equal(choose(&m, 70, &s, NULL), WW_OK);
        assert_true(s.found);
        assert_text(&s.ptx);
    }
}

static void the_highest_ptx_up_to_the_device_is_chosen(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    begin(&m);
    add_compressed(&m, 80, true);
    add_compressed(&m, 60, true);
    add_compressed(&m, 90, false);
    add_compressed(&m, 75, false);
    const uint32_t device[] = {86, 80, 75, 70, 100, 50}, wanted[] = {80, 80, 75, 60, 90, 60};
    for (int n = 0; n < 6; n++) {
        assert_int_equal(choose(&m, device[n], &s, NULL), WW_OK);
        assert_int_equal(s.ptx.arch, wanted[n]);
        assert_int_equal(s.ptx_count, 4);
    }
}

/* As nvcc 13 writes for -arch=sm_90a: compute_90 first, then compute_90a. */
static void of_one_capability_the_ptx_for_that_architecture_alone_is_chosen(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    for (int swapped = 0; swapped < 2; swapped++) {
        begin(&m);
        add(&m, FATBIN_PTX, 90, swapped ? FATBIN_SPECIFIC : 0, TEXT, sizeof TEXT, 0);
        add(&m, FATBIN_PTX, 90, swapped ? 0 : FATBIN_SPECIFIC, TEXT, sizeof TEXT, 0);
        for (uint32_t arch = 70; arch <= 100; arch += 10) {
            assert_int_equal(choose(&m, arch, &s, NULL), WW_OK);
            assert_int_equal(s.ptx.flags & FATBIN_SPECIFIC, arch == 90 ? FATBIN_SPECIFIC : 0);
        }
    }
}

static void ptx_for_another_architecture_alone_comes_after_older_ptx(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    begin(&m);
    add(&m, FATBIN_PTX, 90, FATBIN_SPECIFIC, TEXT, sizeof TEXT, 0);
    add(&m, FATBIN_PTX, 80, 0, TEXT, sizeof TEXT, 0);
    add(&m, FATBIN_PTX, 100, FATBIN_FAMILY, TEXT, sizeof TEXT, 0);
    const uint32_t device[] = {86, 90, 100, 103, 120}, wanted[] = {80, 90, 100, 100, 80};
    for (int n = 0; n < 5; n++) {
        assert_int_equal(choose(&m, device[n], &s, NULL), WW_OK);
        assert_int_equal(s.ptx.arch, wanted[n]);
    }
}

static void machine_code_alone_is_counted_and_not_chosen(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    begin(&m);
    add(&m, FATBIN_ELF, 86, 0x11, "\177ELF", 4, 0);
    assert_int_equal(choose(&m, 86, &s, NULL), WW_OK);
    assert_false(s.found);
    assert_int_equal(s.elf_count, 1);
    assert_int_equal(s.elf_arch, 86);
}

static struct cubin_made made;

/* Adds machine code of that architecture; with a suffix: code that runs there alone. */
static void add_machine(struct maker *m, uint32_t arch, bool specific, bool zstd) {
    char packed[CUBIN_MADE_MAX];
    cubin_make(&made, arch, 7);
    if (specific) cubin_put(made.data + 49, 0x0d, 1);
    if (!zstd) {
        add(m, FATBIN_ELF, arch, 0x11, made.data, made.n, 0);
        return;
    }
    size_t n = ZSTD_compress(packed, sizeof packed, made.data, made.n, 3);
    add(m, FATBIN_ELF, arch, 0x8011, packed, n, made.n);
}

static uint32_t machine_for(const struct maker *m, uint32_t arch) {
    struct fatbin_machine got;
    assert_int_equal(ww_fatbin_machine(m->data, m->n, "test", arch, &got, NULL), WW_OK);
    free(got.bytes);
    return got.found ? got.arch : 0;
}

static void machine_code_runs_on_later_ones_of_its_major_number(void **state) {
    (void)state;
    struct maker m;
    begin(&m);
    add_machine(&m, 86, false, true);
    add_machine(&m, 80, false, false);
    add_machine(&m, 75, false, true);
    assert_int_equal(machine_for(&m, 80), 80);
    assert_int_equal(machine_for(&m, 86), 86);
    assert_int_equal(machine_for(&m, 89), 86);
    assert_int_equal(machine_for(&m, 75), 75);
    assert_int_equal(machine_for(&m, 70), 0);
    assert_int_equal(machine_for(&m, 90), 0);
}

static void code_for_one_architecture_alone_runs_nowhere_else(void **state) {
    (void)state;
    struct maker m;
    begin(&m);
    add_machine(&m, 80, false, false);
    add_machine(&m, 86, true, true);
    assert_int_equal(machine_for(&m, 86), 86);
    assert_int_equal(machine_for(&m, 89), 80);
}

static void machine_code_comes_out_as_it_went_in(void **state) {
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        struct maker m;
        struct fatbin_machine got;
        begin(&m);
        add_machine(&m, 75, false, zstd == 1);
        assert_int_equal(ww_fatbin_machine(m.data, m.n, "test", 75, &got, NULL), WW_OK);
        assert_true(got.n >= made.n); /* padded where it is not compressed */
        assert_memory_equal(got.bytes, made.data, made.n);
        free(got.bytes);
    }
}

static void an_empty_fat_binary_holds_nothing(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    begin(&m);
    assert_int_equal(choose(&m, 70, &s, NULL), WW_OK);
    assert_int_equal(s.elf_count + s.ptx_count, 0);
}

/* A fat binary of two images with the bytes at `at` replaced must be refused with this text. */
static void assert_refused(size_t at, uint64_t v, unsigned bytes, const char *text) {
    struct maker m;
    struct fatbin_summary s;
    struct ww_error e;
    begin(&m);
    add(&m, FATBIN_ELF, 70, 0x11, "12345678", 8, 0);
    add_compressed(&m, 70, true);
    put(m.data + at, v, bytes);
    assert_int_equal(choose(&m, 70, &s, &e), WW_INPUT);
    assert_non_null(strstr(e.text, text));
    assert_non_null(strstr(e.where, "test: byte "));
}

static void damaged_headers_are_refused_with_their_offset(void **state) {
    (void)state;
    size_t second = HEADER + IMAGE + 8;
    assert_refused(0, 0x12345678, 4, "magic");
    assert_refused(6, 3, 2, "size");
    assert_refused(8, 1 << 20, 8, "a size within the data");
    assert_refused(8, UINT64_MAX, 8, "a size within the data");
    assert_refused(8, 100, 8, "image header");
    assert_refused(HEADER + 4, 8, 4, "a header size");
    assert_refused(HEADER + 4, 1 << 30, 4, "a header size");
    assert_refused(HEADER + 8, UINT64_MAX - 4, 8, "a payload within the data");
    assert_refused(second + 8, 4096, 8, "a payload within the data");
    assert_refused(second + 16, 4096, 4, "a compressed size");
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    begin(&m);
    add_compressed(&m, 70, true);
    for (size_t n = 0; n < m.n; n++)
        assert_int_equal(ww_fatbin_choose(m.data, n, "test", 70, &s, NULL), WW_INPUT);
}

static void damaged_compressed_text_is_refused(void **state) {
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        struct maker m;
        struct fatbin_summary s;
        char *text;
        size_t n;
        begin(&m);
        add_compressed(&m, 70, zstd);
        put(m.data + HEADER + 56, sizeof TEXT + 9, 8);
        assert_int_equal(choose(&m, 70, &s, NULL), WW_OK);
        assert_int_equal(ww_fatbin_text(&s.ptx, "test", &text, &n, NULL), WW_INPUT);
        put(m.data + HEADER + 56, sizeof TEXT - 1, 8);
        assert_int_equal(choose(&m, 70, &s, NULL), WW_OK);
        assert_int_equal(ww_fatbin_text(&s.ptx, "test", &text, &n, NULL), WW_INPUT);
    }
}

static void a_huge_text_takes_no_memory(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    char *text;
    size_t n;
    begin(&m);
    add_compressed(&m, 70, true);
    put(m.data + HEADER + 56, (uint64_t)1 << 60, 8);
    assert_int_equal(choose(&m, 70, &s, NULL), WW_OK);
    assert_int_equal(ww_fatbin_text(&s.ptx, "test", &text, &n, NULL), WW_NOMEM);
}

static void unknown_compression_is_named(void **state) {
    (void)state;
    struct maker m;
    struct fatbin_summary s;
    struct ww_error e;
    char *text;
    size_t n;
    begin(&m);
    add(&m, FATBIN_PTX, 70, 0x1011, TEXT, sizeof TEXT, 500);
    assert_int_equal(choose(&m, 70, &s, NULL), WW_OK);
    assert_int_equal(ww_fatbin_text(&s.ptx, "test", &text, &n, &e), WW_UNSUPPORTED);
    assert_non_null(strstr(e.text, "0x1011"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lz4_and_zstd_give_the_same_text),
        cmocka_unit_test(the_highest_ptx_up_to_the_device_is_chosen),
        cmocka_unit_test(of_one_capability_the_ptx_for_that_architecture_alone_is_chosen),
        cmocka_unit_test(ptx_for_another_architecture_alone_comes_after_older_ptx),
        cmocka_unit_test(machine_code_alone_is_counted_and_not_chosen),
        cmocka_unit_test(machine_code_runs_on_later_ones_of_its_major_number),
        cmocka_unit_test(code_for_one_architecture_alone_runs_nowhere_else),
        cmocka_unit_test(machine_code_comes_out_as_it_went_in),
        cmocka_unit_test(an_empty_fat_binary_holds_nothing),
        cmocka_unit_test(damaged_headers_are_refused_with_their_offset),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(damaged_compressed_text_is_refused),
        cmocka_unit_test(a_huge_text_takes_no_memory),
        cmocka_unit_test(unknown_compression_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
