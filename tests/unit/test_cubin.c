/* test_cubin.c: reading machine code: what is in a cubin, and what damaged ones lead to. */
#include "../../traces/sass/cubin/cubin.h"
#include "cubin_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GLOBALS 0x123456789000u

static struct cubin_made made;

static struct ww_cubin *read_made(void) {
    struct ww_cubin *c;
    struct ww_error error = {0};
    if (ww_cubin_read(made.data, made.n, "made", &c, &error) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
    return c;
}

static void assert_refused(enum ww_code code, const char *text) {
    struct ww_cubin *c;
    struct ww_error error = {0};
    assert_int_equal(ww_cubin_read(made.data, made.n, "made", &c, &error), code);
    if (!strstr(error.text, text)) fail_msg("'%s' lacks '%s'", error.text, text);
    assert_non_null(strstr(error.where, "made: byte "));
}

static uint64_t get64(const unsigned char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void a_kernel_has_its_attributes(void **state) {
    (void)state;
    for (unsigned abi = 7; abi <= 8; abi++) {
        cubin_make(&made, 75, abi);
        struct ww_cubin *c = read_made();
        const struct ww_cubin_kernel *k = ww_cubin_kernel(c, "k");
        assert_int_equal(c->arch, 75);
        assert_non_null(k);
        assert_true(k->entry);
        assert_int_equal(k->code_bytes, 48);
        assert_int_equal(k->registers, 8);
        assert_int_equal(k->shared_bytes, 16);
        assert_int_equal(k->local_bytes, 24);
        assert_int_equal(k->max_threads[0], 128);
        assert_int_equal(k->param_offset, 0x160);
        assert_int_equal(k->param_count, 2);
        assert_int_equal(k->params[1].offset, 8);
        assert_int_equal(k->params[1].size, 4);
        assert_int_equal(k->exit_count, 1);
        assert_int_equal(k->branch_count, 1);
        assert_int_equal(k->targets[k->branches[0].first + 1], 32);
        assert_int_equal(ww_cubin_kernel(c, "other")->registers, 9); /* the upper byte of sh_info */
        assert_null(ww_cubin_kernel(c, "third"));
        ww_cubin_free(c);
    }
}

static void source_lines_are_found_by_offset(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    struct ww_cubin *c = read_made();
    const struct ww_cubin_kernel *k = ww_cubin_kernel(c, "k");
    const char *file;
    uint32_t line;
    assert_true(ww_cubin_line(c, k, 0, &file, &line));
    assert_int_equal(line, 7);
    assert_string_equal(file, "k.cu");
    assert_true(ww_cubin_line(c, k, 32, &file, &line));
    assert_int_equal(line, 9);
    assert_false(ww_cubin_line(c, k, 48, &file, &line)); /* behind the sequence's end */
    assert_false(ww_cubin_line(c, ww_cubin_kernel(c, "other"), 0, &file, &line));
    ww_cubin_free(c);
}

static void relocations_put_addresses_in(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    struct ww_cubin *c = read_made();
    const struct ww_cubin_kernel *k = ww_cubin_kernel(c, "k");
    assert_int_equal(ww_cubin_place(c, GLOBALS, NULL), WW_OK);
    uint64_t v = GLOBALS + ww_cubin_variable(c, "v")->offset,
             zero = GLOBALS + ww_cubin_variable(c, "zero")->offset;
    const unsigned char *code = c->code.data + k->code;
    assert_int_equal(get64(code) >> 32, v & 0xffffffff);
    assert_int_equal(get64(code + 16) >> 32, v >> 32);
    assert_int_equal(get64(c->globals.data), zero + 4);
    assert_int_equal(get64(k->bank[4].data), v);
    assert_string_equal(ww_cubin_extern(c, get64(k->bank[4].data + 8)), "vprintf");
    assert_null(ww_cubin_extern(c, get64(k->bank[4].data + 8) + 16));
    ww_cubin_free(c);
}

static void variables_lie_in_global_or_constant_memory(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    struct ww_cubin *c = read_made();
    const struct ww_cubin_variable *v = ww_cubin_variable(c, "c"), *zero = ww_cubin_variable(c, "zero");
    assert_true(v->constant);
    assert_int_equal(get64(ww_cubin_kernel(c, "other")->bank[3].data) >> 8 * v->offset, 0x11223344);
    assert_false(zero->constant);
    assert_int_equal(zero->offset % 16, 0);
    assert_true(zero->offset >= c->globals.size); /* not initialised: behind what is */
    assert_int_equal(c->globals_bytes, zero->offset + 32);
    ww_cubin_free(c);
}

static void what_cannot_be_run_is_named(void **state) {
    (void)state;
    cubin_make(&made, 61, 7);
    assert_refused(WW_UNSUPPORTED, "machine code for sm_61: expected sm_70 or newer");
    cubin_make(&made, 75, 8);
    cubin_put(made.data + 16, 1, 2);
    assert_refused(WW_UNSUPPORTED, "a relocatable cubin that needs vprintf");
    cubin_make(&made, 75, 8);
    made.data[0] = 'x';
    assert_refused(WW_INPUT, "expected the ELF header of a cubin");
}

static void offsets_outside_of_the_file_are_errors(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    cubin_put(made.data + 40, made.n - 32, 8);
    assert_refused(WW_INPUT, "section headers at");
    cubin_make(&made, 75, 8);
    cubin_put(cubin_section(&made, MADE_TEXT_K) + 24, made.n, 8);
    assert_refused(WW_INPUT, "expected it within");
    cubin_make(&made, 75, 8);
    cubin_put(cubin_section(&made, MADE_TEXT_OTHER) + 32, 40, 8);
    assert_refused(WW_INPUT, "expected a multiple of 16");
    cubin_make(&made, 75, 8);
    cubin_put(cubin_section(&made, MADE_ZERO) + 32, UINT64_MAX, 8);
    assert_refused(WW_INPUT, "section .nv.global of 18446744073709551615 bytes");
    cubin_make(&made, 75, 8);
    cubin_put(cubin_section(&made, MADE_TEXT_K) + 48, 96, 8);
    assert_refused(WW_INPUT, "alignment 96");
}

static void damaged_attributes_are_errors(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    cubin_put(made.data + made.kernel_info + 2, 0xffff, 2);
    assert_refused(WW_INPUT, "attribute 0x17 of a kernel: expected its bytes within the section");
    cubin_make(&made, 75, 8);
    cubin_put(made.data + made.kernel_info + 8, 4096, 2);
    assert_refused(WW_INPUT, "a parameter's number below 4096");
    cubin_make(&made, 75, 8);
    cubin_put(made.data + made.kernel_info + 10, 60000, 2);
    assert_refused(WW_INPUT, "parameter 1: expected it within 12 bytes");
}

static void unknown_relocations_are_not_passed_over(void **state) {
    (void)state;
    struct ww_error error;
    cubin_make(&made, 75, 8);
    cubin_put(made.data + made.relocations + 8, 0x7f, 4);
    struct ww_cubin *c = read_made();
    assert_int_equal(ww_cubin_place(c, GLOBALS, &error), WW_UNSUPPORTED);
    assert_non_null(strstr(error.text, "relocation of type 0x7f"));
    ww_cubin_free(c);
    cubin_make(&made, 75, 8);
    cubin_put(made.data + made.relocations, 40, 8);
    c = read_made();
    assert_int_equal(ww_cubin_place(c, GLOBALS, &error), WW_INPUT);
    assert_non_null(strstr(error.text, "R_CUDA_ABS32_LO_32 at 40: expected it within 48 bytes"));
    ww_cubin_free(c);
}

static void every_truncation_is_an_error(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    size_t whole = made.n;
    for (size_t n = 0; n < whole; n++) {
        struct ww_cubin *c;
        unsigned char *copy = malloc(n ? n : 1); /* so that a read behind its end is seen */
        memcpy(copy, made.data, n);
        assert_int_equal(ww_cubin_read(copy, n, "made", &c, NULL), WW_INPUT);
        free(copy);
    }
}

/* Any byte may have any value: an error or a cubin, and nothing read outside. */
static void flipped_bytes_do_no_harm(void **state) {
    (void)state;
    cubin_make(&made, 75, 8);
    for (size_t n = 0; n < made.n; n++) {
        unsigned char old = made.data[n];
        for (unsigned k = 0; k < 3; k++) {
            struct ww_cubin *c;
            made.data[n] = (unsigned char)(k == 0 ? ~old : k == 1 ? 0xff : old ^ 0x80);
            if (ww_cubin_read(made.data, made.n, "made", &c, NULL) == WW_OK) {
                ww_cubin_place(c, GLOBALS, NULL);
                ww_cubin_free(c);
            }
        }
        made.data[n] = old;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_has_its_attributes),
        cmocka_unit_test(source_lines_are_found_by_offset),
        cmocka_unit_test(relocations_put_addresses_in),
        cmocka_unit_test(variables_lie_in_global_or_constant_memory),
        cmocka_unit_test(what_cannot_be_run_is_named),
        cmocka_unit_test(offsets_outside_of_the_file_are_errors),
        cmocka_unit_test(damaged_attributes_are_errors),
        cmocka_unit_test(unknown_relocations_are_not_passed_over),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(flipped_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
