/* test_ptx_parse.c: the PTX parser: what text becomes which operands, and what bad text gets. */
#include "../../estimator/base/buf.h"
#include "../../traces/ptx/front/ir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static enum ww_code parse(const char *text, struct ptx_module **m, struct ww_error *e) {
    memset(e, 0, sizeof *e);
    return ww_ptx_module_parse(text, strlen(text), "t.ptx", m, e);
}

static struct ptx_module *good(const char *text) {
    struct ww_error e;
    struct ptx_module *m = NULL;
    if (parse(text, &m, &e) != WW_OK) print_error("%s: %s\n", e.where, e.text);
    assert_non_null(m);
    return m;
}

static void bad(const char *text, enum ww_code code, const char *where, const char *says) {
    struct ww_error e;
    struct ptx_module *m = NULL;
    assert_int_equal(parse(text, &m, &e), code);
    assert_null(m);
    assert_string_equal(e.where, where);
    if (!strstr(e.text, says)) fail_msg("'%s' does not say '%s'", e.text, says);
}

/* A kernel around statements; .reg ranges of every kind. */
#define KERNEL_HEAD                                                                                            \
    HEAD ".visible .entry k(.param .u64 p, .param .align 8 .b8 q[24])\n{\n.reg .pred %p<9>;\n.reg .b16 "       \
         "%h<9>;\n"                                                                                            \
         ".reg .b32 %r<99>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.reg .f64 %fd<9>;\n"
#define KERNEL(body) KERNEL_HEAD body "\nret;\n}\n"
#define FIRST_LINE 12 /* of the body */

static void line_of(char *out, size_t n, int column) {
    snprintf(out, n, "t.ptx:%d:%d", FIRST_LINE, column);
}

static void instruction_survives_printing(void **state) {
    (void)state;
    static const char *const text[] = {
        "add.s32 %r1, %r2, 5;",
        "mad.lo.s32 %r1, %r2, %r3, %r4;",
        "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;",
        "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];",
        "st.shared.u32 [%r1], -7;",
        "shl.b64 %rd1, %rd2, %r1;",
        "cvt.rzi.s32.f32 %r1, %f1;",
        "mov.u32 %r1, %tid.y;",
        "selp.b32 %r1, %r2, 0, %p1;",
        "atom.add.global.u32 %r1, [%rd1], 1;",
        "shfl.up.sync.b32 %r1|%p1, %r2, 1, 0, -1;",
        "bar.sync 0;",
        "vote.ballot.sync.b32 %r1, %p1, -1;",
        "fma.rn.f32 %f1, %f2, %f3, %f1;",
        "membar.gl;",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        char body[2048];
        struct ww_buf out = {0};
        snprintf(body, sizeof body, "%s%s\nret;\n}\n", KERNEL_HEAD, text[k]);
        struct ptx_module *m = good(body);
        ww_ptx_print_inst(m->func[0], &m->func[0]->inst[0], &out);
        assert_string_equal(out.p, text[k]);
        ww_buf_free(&out);
        ww_ptx_module_free(m);
    }
}

static void float_literals_keep_their_bits(void **state) {
    (void)state;
    struct ptx_module *m =
        good(KERNEL("mov.f32 %f1, 0f3FC00000;\nmov.f64 %fd1, 0d3FF8000000000000;\n"
                    "mov.f64 %fd2, 0f3FC00000;\nmov.f32 %f2, 1.5;\nmov.b32 %r1, 0fFFC00001;"));
    const struct ptx_inst *i = m->func[0]->inst;
    assert_int_equal(i[0].opnd[1].imm, 0x3fc00000);
    assert_int_equal(i[1].opnd[1].imm, 0x3ff8000000000000);
    assert_int_equal(i[2].opnd[1].imm, 0x3ff8000000000000);
    assert_int_equal(i[3].opnd[1].imm, 0x3fc00000);
    assert_int_equal((uint32_t)i[4].opnd[1].imm, 0xffc00001);
    ww_ptx_module_free(m);
}

static void constant_expressions_are_computed(void **state) {
    (void)state;
    struct ptx_module *m = good(KERNEL("mov.u32 %r1, 4+3*2;\nmov.u32 %r2, (1<<4)|0x3;\nmov.u32 %r3, 017;\n"
                                       "mov.u32 %r4, 0b101;\nmov.u32 %r5, 0xFFFFFFFF;\nmov.u32 %r6, -8/2;"));
    static const int64_t want[] = {10, 19, 15, 5, -1, -4};
    for (int k = 0; k < 6; k++) assert_int_equal(m->func[0]->inst[k].opnd[1].imm, want[k]);
    ww_ptx_module_free(m);
}

static void a_matched_constant_keeps_its_64_bits_where_a_predicate_is_wanted_too(void **state) {
    (void)state;
    struct ptx_module *m = good(KERNEL("match.all.sync.b64 %r1|%p1, 0x1122334455667788, -1;"));
    assert_int_equal(m->func[0]->inst[0].opnd[2].imm, 0x1122334455667788);
    ww_ptx_module_free(m);
}

static void vector_registers_have_components(void **state) {
    (void)state;
    struct ptx_module *m = good(KERNEL(".reg .v4 .f32 v;\nld.global.v4.f32 v, [%rd1];\nmov.f32 %f1, v.z;"));
    const struct ptx_inst *i = m->func[0]->inst;
    assert_int_equal(i[0].opnd[0].vec_count, 4);
    assert_int_equal(i[1].opnd[1].reg, i[0].opnd[0].vec[2].reg);
    ww_ptx_module_free(m);
}

static void inner_scope_hides_names(void **state) {
    (void)state;
    struct ptx_module *m = good(KERNEL("mov.u32 %r1, 1;\n{\n.reg .u32 %r<2>;\nmov.u32 %r1, 2;\nbra L;\nL:\n}\n"
                                       "{\nbra L;\nL: mov.u32 %r1, 3;\n}"));
    const struct ptx_inst *i = m->func[0]->inst;
    assert_int_not_equal(i[0].opnd[0].reg, i[1].opnd[0].reg);
    assert_int_equal(i[0].opnd[0].reg, i[4].opnd[0].reg);
    assert_int_equal(i[2].opnd[0].imm, 3);
    assert_int_equal(i[3].opnd[0].imm, 4);
    ww_ptx_module_free(m);
}

static void parameters_lie_at_their_alignment(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .f32 d)\n"
                  "{ ret; }\n");
    const struct ptx_func *f = m->func[0];
    static const uint64_t want[] = {0, 8, 16, 36};
    for (int k = 0; k < 4; k++) assert_int_equal(f->param[k]->offset, want[k]);
    assert_int_equal(f->param_bytes, 40);
    ww_ptx_module_free(m);
}

static void initialisers_fill_bytes_and_addresses(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".global .align 4 .u32 x[2][2] = {{1}, {2, 3}};\n.global .align 8 .u64 y[2] = "
                  "{generic(x)+4, x};\n.global .b8 s[] = \"hi\";\n.const .f32 c = 1.5;\n");
    static const unsigned char x[16] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
    assert_memory_equal(m->symbol[0]->init, x, 16);
    assert_int_equal(m->symbol[1]->reloc_count, 2);
    assert_true(m->symbol[1]->reloc[0].generic);
    assert_int_equal(m->symbol[1]->reloc[0].add, 4);
    assert_ptr_equal(m->symbol[1]->reloc[1].sym, m->symbol[0]);
    assert_int_equal(m->symbol[2]->size, 3);
    assert_memory_equal(m->symbol[2]->init, "hi", 3);
    assert_int_equal(m->symbol[3]->init[3], 0x3f);
    ww_ptx_module_free(m);
}

static void shared_variables_of_different_kernels_overlap(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".shared .align 4 .b8 a[100];\n.shared .align 4 .b8 b[40];\n.shared .align 4 .b8 c[8];\n"
                  ".entry k1() { .reg .b32 %r<3>; mov.u32 %r1, a; ld.shared.u32 %r2, [c]; ret; }\n"
                  ".entry k2() { .reg .b32 %r<3>; mov.u32 %r1, b; ret; }\n");
    assert_int_equal(m->symbol[0]->offset, 0);
    assert_int_equal(m->symbol[1]->offset, 0);
    assert_int_equal(m->symbol[2]->offset, 100);
    assert_int_equal(m->func[0]->shared_bytes, 108);
    assert_int_equal(m->func[1]->shared_bytes, 40);
    ww_ptx_module_free(m);
}

static void shared_variables_of_callees_count(void **state) {
    (void)state;
    struct ptx_module *m = good(HEAD ".func f() { .shared .b8 s[64]; .reg .b32 %r; mov.u32 %r, s; ret; }\n"
                                     ".entry k() { call f; ret; }\n");
    assert_int_equal(m->func[1]->shared_bytes, 64);
    ww_ptx_module_free(m);
}

static void calls_have_results_and_arguments(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".func (.param .b32 r) f(.param .b32 a, .param .b64 b);\n"
                  ".entry k() { .reg .b32 %r<3>;\n{ .param .b32 x; .param .b64 y; .param .b32 z;\n"
                  "st.param.b32 [x], 1; call.uni (z), f, (x, y); ld.param.b32 %r1, [z]; }\nret; }\n"
                  ".func (.param .b32 r) f(.param .b32 a, .param .b64 b) { ret; }\n");
    const struct ptx_inst *i = &m->func[1]->inst[1];
    assert_int_equal(i->call_ret, 1);
    assert_int_equal(i->call_args, 2);
    assert_ptr_equal(i->callee->func, m->func[0]);
    assert_int_equal(i->opnd[2].sym->offset, 8);
    assert_false(m->func[0]->is_extern);
    ww_ptx_module_free(m);
}

static void special_registers_move_before_arithmetic(void **state) {
    (void)state;
    struct ptx_module *m = good(KERNEL("add.u32 %r1, %tid.x, %r2;"));
    assert_int_equal(m->func[0]->inst[0].op, PTX_MOV);
    assert_int_equal(m->func[0]->inst[1].op, PTX_ADD);
    assert_int_equal(m->func[0]->inst[1].opnd[1].kind, PTX_O_REG);
    ww_ptx_module_free(m);
}

static void source_lines_follow_loc(void **state) {
    (void)state;
    struct ptx_module *m =
        good(KERNEL(".loc 1 42 3\nadd.s32 %r1, %r1, 1;\n.loc 1 43 0, function_name $L__info+4, inlined_at 1 "
                    "42 1\nadd.s32 %r1, %r1, 1;") ".file 1 \"a.cu\", 123, 456\n.section .debug_str\n{\n"
                                                  "$L__info:\n.b8 1\n}\n");
    assert_int_equal(m->func[0]->inst[0].line, 42);
    assert_int_equal(m->func[0]->inst[1].line, 43);
    assert_string_equal(m->file[m->func[0]->inst[1].file], "a.cu");
    ww_ptx_module_free(m);
}

static void huge_register_ranges_cost_nothing(void **state) {
    (void)state;
    struct ptx_module *m = good(KERNEL(".reg .b32 %x<4000000000>;\nmov.u32 %x3999999999, 1;"));
    assert_true(m->func[0]->reg_count < 5);
    ww_ptx_module_free(m);
}

static void errors_name_line_and_column(void **state) {
    (void)state;
    char where[64];
    line_of(where, sizeof where, 14);
    bad(KERNEL("add.s32 %r1, %r200, 1;"), WW_INPUT, where, "'%r200' is not declared");
    line_of(where, sizeof where, 5);
    bad(KERNEL("bra NOWHERE;"), WW_INPUT, where, "expected a label");
    bad(".version 7.0\n.target sm_70\n.global .u32 x\n.global .u32 y;\n", WW_INPUT, "t.ptx:4:1",
        "expected ';'");
}

static void unsupported_instructions_are_quoted(void **state) {
    (void)state;
    char where[64];
    line_of(where, sizeof where, 1);
    bad(KERNEL("vadd.s32.s32.s32 %r1, %r1, %r1;"), WW_UNSUPPORTED, where, "vadd.s32.s32.s32 %r1, %r1, %r1");
    line_of(where, sizeof where, 4);
    bad(KERNEL("add.frob.s32 %r1, %r1, 1;"), WW_UNSUPPORTED, where, "'.frob'");
}

static void a_cluster_has_a_cta_in_each_dimension(void **state) {
    (void)state;
    bad(HEAD ".entry k() .reqnctapercluster 0,1,1 { ret; }\n", WW_INPUT, "t.ptx:4:12",
        "expected at least 1 CTA");
    bad(HEAD ".entry k() .reqnctapercluster 2,0 { ret; }\n", WW_INPUT, "t.ptx:4:12",
        "2,0,1: expected at least 1");
    bad(HEAD ".entry k() .reqnctapercluster 2,1,0 { ret; }\n", WW_INPUT, "t.ptx:4:12",
        "2,1,0: expected at least 1");
}

static void operands_that_do_not_fit_are_refused(void **state) {
    (void)state;
    char where[64];
    line_of(where, sizeof where, 1);
    static const char *const text[] = {
        KERNEL("add.s32 %r1, %p1, 1;"),
        KERNEL("add.s32 %r1, %r1;"),
        KERNEL("ld.global.v2.u32 {%r1}, [%rd1];"),
        KERNEL("selp.b32 %r1, %r1, %r2, %r3;"),
        KERNEL("add.s32 %r1, %r1, [%rd1];"),
        KERNEL("mul.s32 %r1, %r1, %r1;"),
        KERNEL("st.const.u32 [%rd1], 1;"),
        KERNEL("ld.param.u32 %r1, [%rd1], 2, 3;"),
        KERNEL("setp.s32 %p1, %r1, %r2;"),
        KERNEL("shfl.sync.b32 %r1, %r2, 1, 31, -1;"),
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct ww_error e;
        struct ptx_module *m = NULL;
        assert_int_equal(parse(text[k], &m, &e), WW_UNSUPPORTED);
        assert_string_equal(e.where, where);
    }
}

static void argument_counts_are_checked(void **state) {
    (void)state;
    bad(HEAD ".func f(.param .b32 a) { ret; }\n.entry k() {\ncall f;\nret; }\n", WW_INPUT, "t.ptx:6",
        "expected 1 arguments");
}

static void truncation_anywhere_is_an_error_or_whole(void **state) {
    (void)state;
    const char *text = KERNEL("@%p1 add.s32 %r1, %r2, 0x10;\n// c\n/* d */ mov.f32 %f1, 0f00000000;");
    size_t n = strlen(text);
    for (size_t k = 0; k < n - 2; k++) {
        struct ww_error e = {0};
        struct ptx_module *m = NULL;
        char *copy = malloc(k + 1); /* exact, so that a sanitizer sees a read behind the end */
        assert_non_null(copy);
        memcpy(copy, text, k);
        enum ww_code code = ww_ptx_module_parse(copy, k, "t.ptx", &m, &e);
        free(copy);
        if (code == WW_OK)
            assert_true(m->func_count == 0); /* cut before the kernel */
        else
            assert_true(e.text[0] != 0);
        ww_ptx_module_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_survives_printing),
        cmocka_unit_test(float_literals_keep_their_bits),
        cmocka_unit_test(constant_expressions_are_computed),
        cmocka_unit_test(a_matched_constant_keeps_its_64_bits_where_a_predicate_is_wanted_too),
        cmocka_unit_test(vector_registers_have_components),
        cmocka_unit_test(inner_scope_hides_names),
        cmocka_unit_test(parameters_lie_at_their_alignment),
        cmocka_unit_test(initialisers_fill_bytes_and_addresses),
        cmocka_unit_test(shared_variables_of_different_kernels_overlap),
        cmocka_unit_test(shared_variables_of_callees_count),
        cmocka_unit_test(calls_have_results_and_arguments),
        cmocka_unit_test(special_registers_move_before_arithmetic),
        cmocka_unit_test(source_lines_follow_loc),
        cmocka_unit_test(huge_register_ranges_cost_nothing),
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(unsupported_instructions_are_quoted),
        cmocka_unit_test(a_cluster_has_a_cta_in_each_dimension),
        cmocka_unit_test(operands_that_do_not_fit_are_refused),
        cmocka_unit_test(argument_counts_are_checked),
        cmocka_unit_test(truncation_anywhere_is_an_error_or_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
