/* traces/FORMAT.md shows a tiny file byte by byte: it must be what the writer makes. Run from the top of the
 * source tree, or with WW_SOURCE set to it. `test_wwt_format --print` prints the block. */
#include "../../estimator/warpwatt.h"
#include "wwt_fixture.h"
#include "../../traces/wwt/reader.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;

/* The trace that FORMAT.md describes: one CTA of 40 threads; each warp executes three instructions, the
 * second one a load of 4 bytes per lane. */
static const char *write_tiny(void) {
    static const char *const strings[] = {"", "S2R", "LDG", "EXIT"};
    static const struct ww_inst inst[] = {
        {.pc = 0, .op = WW_OP_SYSREG, .dst_count = 1, .dst = {{2, 1}}, .mnemonic = 1},
        {.pc = 16,
         .op = WW_OP_LOAD,
         .space = WW_SPACE_GLOBAL,
         .width = 4,
         .dst_count = 1,
         .src_count = 1,
         .flags = WW_INST_ACCESS,
         .dst = {{4, 1}},
         .src = {{2, 2}},
         .mnemonic = 2},
        {.pc = 32, .op = WW_OP_EXIT, .mnemonic = 3},
    };
    static const struct ww_step full[] = {{0, UINT32_MAX}, {1, UINT32_MAX}, {2, UINT32_MAX}};
    static const struct ww_step part[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}};
    static const struct ww_access first = {0x1000, 4, WW_AFFINE}, second = {0, 0, 0};
    static const uint64_t list[] = {0x1080, 0x1084, 0x1088, 0x108c, 0x2080, 0x2084, 0x2088, 0x208c};
    const struct ww_warp_stream warp[] = {{full, &first, NULL, 3, 1}, {part, &second, list, 3, 1}};
    struct ww_cta_trace cta = {.warp_count = 2, .warp = warp};
    struct ww_made_launch l = {
        .launch = {.kernel = "k",
                   .arch = "sm_70",
                   .grid = {1, 1, 1},
                   .block = {40, 1, 1},
                   .registers_per_thread = 16,
                   .inst = inst,
                   .inst_count = 3,
                   .string = strings,
                   .string_count = 4},
        .cta = &cta,
        .cta_count = 1,
    };
    const char *path = ww_made_path(&arena, "tiny.wwt");
    return ww_made_write(path, &l, 1, 0, &error) == WW_OK ? path : NULL;
}

/* As `od -A x -t x1` prints it, indented as a Markdown block. */
static void dump(struct ww_buf *b, const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        ww_buf_printf(b, "    %04zx ", i);
        for (size_t k = i; k < i + 16 && k < n; k++) ww_buf_printf(b, " %02x", p[k]);
        ww_buf_byte(b, '\n');
    }
}

static void make_dump(struct ww_buf *b) {
    size_t n;
    const char *path = write_tiny();
    assert_non_null(path);
    const unsigned char *file = ww_made_read(&arena, path, &n);
    dump(b, file, n);
}

static const char *format_md(void) {
    const char *top = getenv("WW_SOURCE");
    size_t n;
    return (const char *)ww_made_read(&arena, ww_arena_printf(&arena, "%s/traces/FORMAT.md", top ? top : "."),
                                      &n);
}

static void format_md_shows_the_bytes_of_the_tiny_file(void **state) {
    (void)state;
    struct ww_buf b = {0};
    make_dump(&b);
    if (!strstr(format_md(), b.p)) fail_msg("traces/FORMAT.md does not show this file:\n%s", b.p);
    ww_buf_free(&b);
}

static void check_tiny(struct ww_trace *t) {
    struct ww_cta_trace cta;
    uint64_t address[32];
    assert_int_equal(ww_trace_load_cta(t, 0, 0, &cta, &error), WW_OK);
    assert_int_equal(ww_made_addresses(0xff, &cta.warp[1].access[0], cta.warp[1].pool, address), 8);
    assert_int_equal(address[4], 0x2080);
    assert_int_equal(cta.warp[0].access[0].base, 0x1000);
    assert_int_equal(cta.warp[1].step[2].mask, 0xff);
    ww_trace_release_cta(t, &cta);
}

static void the_tiny_file_means_what_format_md_says(void **state) {
    (void)state;
    struct ww_trace *t;
    assert_int_equal(ww_trace_open(write_tiny(), &t, &error), WW_OK);
    check_tiny(t);
    ww_trace_close(t);
}

/* The same trace as version 1 had it. */
static void the_tiny_file_of_version_1_means_the_same(void **state) {
    (void)state;
    // clang-format off
    static const unsigned char file[] = {
        0x89, 0x57, 0x57, 0x54, 0x0d, 0x0a, 0x1a, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x54, 0xc2, 0x7c, 0xcc,
        0x43, 0x54, 0x41, 0x53, 0x30, 0x00, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0x5b, 0x1b, 0x0d, 0xe4,
        0x00, 0x01, 0x00, 0x01, 0x02, 0x02, 0x02, 0x02, 0x02, 0x00, 0x04, 0x02, 0x02, 0x02, 0x01, 0x00,
        0x01, 0x07, 0x01, 0x00, 0x03, 0x03, 0x00, 0x00, 0x02, 0x02, 0x20, 0x29, 0xff, 0x00, 0x00, 0x00,
        0x00, 0x01, 0x1c, 0x2e, 0x80, 0x40, 0x10, 0x08, 0x02, 0x02, 0x02, 0xfa, 0x02, 0x02, 0x02, 0x0f,
        0x49, 0x4e, 0x44, 0x58, 0x75, 0x00, 0x00, 0x00, 0x75, 0x00, 0x00, 0x00, 0x68, 0xd3, 0xa6, 0x1f,
        0x11, 0x77, 0x6f, 0x72, 0x6b, 0x6c, 0x6f, 0x61, 0x64, 0x20, 0x6d, 0x61, 0x64, 0x65, 0x5f, 0x75,
        0x70, 0x04, 0x6e, 0x3d, 0x31, 0x00, 0x01, 0x02, 0x6b, 0x06, 0x73, 0x6d, 0x5f, 0x37, 0x30, 0x04,
        0x01, 0x04, 0x53, 0x32, 0x52, 0x04, 0x4c, 0x44, 0x47, 0x05, 0x45, 0x58, 0x49, 0x54, 0x03, 0x00,
        0x11, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x02, 0x01, 0x01, 0x00, 0x00, 0x20, 0x12, 0x01,
        0x04, 0x01, 0x01, 0x00, 0x00, 0x01, 0x04, 0x01, 0x02, 0x02, 0x02, 0x00, 0x00, 0x20, 0x0c, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x01, 0x00, 0x01, 0x01, 0x01, 0x28, 0x01,
        0x01, 0x10, 0x00, 0x00, 0x00, 0x02, 0x18, 0x02, 0x18, 0x02, 0x18, 0x01, 0x30, 0x30, 0x5b, 0x1b,
        0x0d, 0xe4, 0x01, 0x00, 0x01, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf5, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0xd2, 0x06, 0x8f, 0xa4, 0x35, 0x5f, 0x55, 0x91, 0x8e, 0x7c, 0xcc,
        0xae, 0x54, 0x57, 0x57, 0x0a,
    };
    // clang-format on
    struct ww_trace *t;
    assert_int_equal(ww_trace_open_memory(file, sizeof file, "tiny", &t, &error), WW_OK);
    check_tiny(t);
    ww_trace_close(t);
}

/* FORMAT.md's numbers of columns, tokens and limits. */
static void format_md_names_the_limits(void **state) {
    (void)state;
    const char *text = format_md();
    char line[80];
    snprintf(line, sizeof line, "at most %u bytes before compression", WW_WWT_RAW_MAX);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof line, "the %u columns", (unsigned)WW_WWT_COLUMNS);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof line, "The version is %u.", WW_WWT_VERSION_LAST);
    assert_non_null(strstr(text, line));
}

static void format_md_numbers_the_classes_as_the_enum_does(void **state) {
    (void)state;
    const char *text = format_md();
    for (unsigned i = 0; i < WW_OP_COUNT; i++) {
        char entry[64];
        snprintf(entry, sizeof entry, "%2u %s", i, ww_op_name((enum ww_op)i));
        if (!strstr(text, entry)) fail_msg("traces/FORMAT.md has no class \"%s\"", entry);
    }
}

static int tear_down(void **state) {
    (void)state;
    ww_arena_free(&arena);
    ww_made_clean();
    return 0;
}

int main(int argc, char **argv) {
    ww_arena_init(&arena, 0);
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        struct ww_buf b = {0};
        make_dump(&b);
        printf("%s", b.p);
        ww_buf_free(&b);
        return tear_down(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_md_shows_the_bytes_of_the_tiny_file),
        cmocka_unit_test(the_tiny_file_means_what_format_md_says),
        cmocka_unit_test(the_tiny_file_of_version_1_means_the_same),
        cmocka_unit_test(format_md_names_the_limits),
        cmocka_unit_test(format_md_numbers_the_classes_as_the_enum_does),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
