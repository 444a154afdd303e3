/* test_ptx_lower.c: the lowering: what is folded, what is split, flags, registers, spills. */
#include "../../estimator/base/buf.h"
#include "../../traces/ptx/front/ir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n"
#define KERNEL(body)                                                                                           \
    HEAD ".entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<99>;\n" \
         ".reg .f32 %f<99>;\n.reg .b64 %rd<99>;\n.reg .f64 %fd<9>;\n" body "\nret;\n}\n"

struct lowered {
    struct ptx_module *m;
    struct ptx_func *f;
};

static struct lowered lower_with(const char *text, uint32_t arch, uint32_t registers) {
    struct ww_error e = {0};
    struct lowered l = {0};
    if (ww_ptx_module_parse(text, strlen(text), "t.ptx", &l.m, &e) != WW_OK)
        fail_msg("%s: %s", e.where, e.text);
    assert_int_equal(ww_ptx_module_prepare(l.m, &e), WW_OK);
    l.f = ww_ptx_module_func(l.m, "k");
    struct ptx_lower_options o = {.arch = arch, .max_registers = registers};
    assert_int_equal(ww_ptx_lower(l.m, l.f, &o, &e), WW_OK);
    return l;
}

static struct lowered lower(const char *text, uint32_t arch) {
    return lower_with(text, arch, 0);
}

/* Machine instructions whose mnemonic begins with `prefix`. */
static unsigned count(const struct lowered *l, const char *prefix) {
    unsigned n = 0;
    for (uint32_t k = 0; k < l->f->machine_count; k++)
        n += strncmp(l->f->machine[k].mnemonic, prefix, strlen(prefix)) == 0;
    return n;
}

static const struct ptx_machine *find(const struct lowered *l, const char *prefix) {
    for (uint32_t k = 0; k < l->f->machine_count; k++)
        if (strncmp(l->f->machine[k].mnemonic, prefix, strlen(prefix)) == 0) return &l->f->machine[k];
    fail_msg("no %s", prefix);
    return NULL;
}

static void expect_counts(const char *text, uint32_t arch, const char *prefix, unsigned want) {
    struct lowered l = lower(text, arch);
    unsigned got = count(&l, prefix);
    if (got != want) fail_msg("sm_%u: %u x %s, expected %u", arch, got, prefix, want);
    ww_ptx_module_free(l.m);
}

#define STORE_R1 "ld.param.u64 %rd90, [p];\nst.global.u32 [%rd90], %r1;\n"
#define TID "mov.u32 %r9, %tid.x;\n"

static void parameters_and_addresses_cost_nothing(void **state) {
    (void)state;
    struct lowered l = lower(KERNEL("ld.param.u32 %r2, [n];\n" TID "add.s32 %r1, %r9, %r2;\n" STORE_R1), 70);
    assert_int_equal(count(&l, "LDC"), 0);
    assert_int_equal(count(&l, "IADD3"), 1);
    assert_int_equal(l.f->inst[0].lower_count, 2); /* the prologue stands here; the load itself is folded */
    ww_ptx_module_free(l.m);
}

static void dead_code_is_dropped(void **state) {
    (void)state;
    expect_counts(KERNEL(TID "add.s32 %r1, %r9, 1;\nmul.lo.s32 %r2, %r1, %r1;\n"), 70, "I", 0);
}

static void indexing_is_one_wide_multiply_add_on_sm_70(void **state) {
    (void)state;
    const char *text =
        KERNEL("ld.param.u64 %rd1, [p];\n" TID "mul.wide.u32 %rd2, %r9, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
               "ld.global.u32 %r1, [%rd3];\nst.global.u32 [%rd3+4], %r1;");
    expect_counts(text, 70, "IMAD.WIDE", 1);
    expect_counts(text, 70, "IADD3", 0);
    expect_counts(text, 52, "IADD", 1); /* ISCADD.CC, IADD.X */
    expect_counts(text, 52, "ISCADD", 1);
    expect_counts(text, 20, "IMAD", 2);
}

static void wide_addition_is_two_words(void **state) {
    (void)state;
    const char *text =
        KERNEL("ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd2, %rd2;\n"
               "st.global.u64 [%rd1], %rd3;");
    expect_counts(text, 70, "IADD3", 2);
    expect_counts(text, 52, "IADD", 2);
}

static void high_words_that_nothing_reads_are_not_computed(void **state) {
    (void)state;
    const char *text =
        KERNEL("ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd2, %rd2;\n"
               "cvt.u32.u64 %r1, %rd3;\nst.global.u32 [%rd1], %r1;");
    expect_counts(text, 70, "IADD3", 1);
}

static void product_and_sum_contract(void **state) {
    (void)state;
    expect_counts(KERNEL("ld.param.u64 %rd1, [p];\nld.global.f32 %f1, [%rd1];\nmul.f32 %f2, %f1, %f1;\n"
                         "add.f32 %f3, %f2, %f1;\nst.global.f32 [%rd1], %f3;"),
                  70, "FFMA", 1);
    expect_counts(KERNEL("ld.param.u64 %rd1, [p];\nld.global.f32 %f1, [%rd1];\nmul.rn.f32 %f2, %f1, %f1;\n"
                         "add.rn.f32 %f3, %f2, %f1;\nst.global.f32 [%rd1], %f3;"),
                  70, "FFMA", 0);
}

static void two_logic_operations_are_one_lop3(void **state) {
    (void)state;
    const char *text = KERNEL(TID "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %laneid;\nand.b32 %r4, %r9, %r2;\n"
                                  "xor.b32 %r1, %r4, %r3;\n" STORE_R1);
    expect_counts(text, 70, "LOP3", 1);
    expect_counts(text, 20, "LOP", 2);
}

static void multiplication_by_a_power_of_two_is_a_shift(void **state) {
    (void)state;
    const char *text = KERNEL(TID "mul.lo.s32 %r1, %r9, 8;\n" STORE_R1);
    expect_counts(text, 70, "IMAD.SHL", 1);
    expect_counts(text, 52, "SHL", 1);
    expect_counts(text, 52, "XMAD", 0);
}

static void maxwell_multiplies_in_three_steps(void **state) {
    (void)state;
    const char *text = KERNEL(TID "mul.lo.s32 %r1, %r9, %r9;\n" STORE_R1);
    expect_counts(text, 52, "XMAD", 3);
    expect_counts(text, 70, "IMAD", 2); /* and a move of the address */
}

static void special_registers_are_read_once(void **state) {
    (void)state;
    expect_counts(KERNEL(TID "mov.u32 %r2, %tid.x;\nadd.s32 %r1, %r9, %r2;\n" STORE_R1), 70, "S2R", 1);
}

static void short_if_is_predicated(void **state) {
    (void)state;
    struct lowered l = lower(KERNEL("ld.param.u64 %rd1, [p];\n" TID "setp.gt.u32 %p1, %r9, 3;\n@%p1 bra L;\n"
                                    "st.shared.u32 [0], %r9;\nL: st.shared.u32 [4], %r9;"),
                             70);
    assert_int_equal(count(&l, "BRA"), 0);
    assert_int_equal(count(&l, "BSSY"), 0);
    const struct ptx_machine *m = find(&l, "STS");
    bool guarded = false;
    for (unsigned k = 0; k < m->inst.src_count; k++) guarded |= m->inst.src[k].reg >= WW_REG_PRED;
    assert_true(guarded);
    ww_ptx_module_free(l.m);
}

#define LONG_BODY                                                                                              \
    "add.s32 %r2, %r2, 1;\nst.shared.u32 [0], %r2;\nadd.s32 %r2, %r2, 1;\nst.shared.u32 [0], %r2;\n"           \
    "add.s32 %r2, %r2, 1;\nst.shared.u32 [0], %r2;\nadd.s32 %r2, %r2, 1;\nst.shared.u32 [0], %r2;\n"

static void divergent_branch_opens_and_closes_a_region(void **state) {
    (void)state;
    const char *text = KERNEL("mov.u32 %r2, 0;\n" TID "setp.gt.u32 %p1, %r9, 3;\n@%p1 bra L;\n" LONG_BODY
                              "L: st.shared.u32 [4], %r2;");
    expect_counts(text, 70, "BSSY", 1);
    expect_counts(text, 70, "BSYNC", 1);
    expect_counts(text, 52, "SSY", 1);
    expect_counts(text, 52, "SYNC", 1);
}

static void uniform_branch_needs_no_region(void **state) {
    (void)state;
    const char *text =
        KERNEL("mov.u32 %r2, 0;\nmov.u32 %r9, %ctaid.x;\nsetp.gt.u32 %p1, %r9, 3;\n@%p1 bra L;\n" LONG_BODY
               "L: st.shared.u32 [4], %r2;");
    expect_counts(text, 70, "BSSY", 0);
    expect_counts(text, 70, "BRA", 1);
}

static void region_of_a_loop_opens_before_it(void **state) {
    (void)state;
    struct lowered l =
        lower(KERNEL("mov.u32 %r2, 0;\n" TID "LOOP: add.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r9;\n"
                     "@%p1 bra LOOP;\nst.shared.u32 [4], %r2;"),
              70);
    assert_true(find(&l, "BSSY")->inst.pc < find(&l, "ISETP")->inst.pc);
    assert_int_equal(count(&l, "BSSY"), 1);
    const struct ptx_machine *bra = find(&l, "BRA");
    assert_true(bra->inst.flags & WW_INST_BACK_EDGE);
    assert_true(bra->inst.flags & WW_INST_BRANCH_COND);
    assert_true(find(&l, "BSYNC")->inst.pc > bra->inst.pc);
    ww_ptx_module_free(l.m);
}

static void access_flags_follow_the_cache_operators(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t flag;
    } row[] = {
        {KERNEL("ld.param.u64 %rd1, [p];\nld.global.cg.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;"),
         WW_INST_BYPASS_L1},
        {KERNEL("ld.param.u64 %rd1, [p];\nld.volatile.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;"),
         WW_INST_BYPASS_L1},
        {KERNEL("ld.param.u64 %rd1, [p];\nld.global.nc.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;"),
         WW_INST_READ_ONLY},
        {KERNEL("ld.param.u64 %rd1, [p];\nld.global.cs.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;"),
         WW_INST_STREAM},
        {KERNEL("ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;"), 0},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct lowered l = lower(row[k].text, 70);
        assert_int_equal(find(&l, "LDG")->inst.flags, WW_INST_ACCESS | row[k].flag);
        ww_ptx_module_free(l.m);
    }
}

static void vector_loads_fill_aligned_quads(void **state) {
    (void)state;
    struct lowered l = lower(KERNEL("ld.param.u64 %rd1, [p];\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
                                    "st.global.v4.f32 [%rd1+16], {%f4, %f3, %f2, %f1};"),
                             70);
    const struct ww_inst *m = &find(&l, "LDG")->inst;
    assert_int_equal(m->width, 16);
    assert_int_equal(m->dst[0].n, 4);
    assert_int_equal(m->dst[0].reg % 4, 0);
    assert_int_equal(find(&l, "STG")->inst.width, 16);
    ww_ptx_module_free(l.m);
}

static void wide_values_are_in_even_pairs(void **state) {
    (void)state;
    struct lowered l =
        lower(KERNEL("ld.param.u64 %rd1, [p];\nld.global.f64 %fd1, [%rd1];\nadd.f64 %fd2, %fd1, %fd1;\n"
                     "st.global.f64 [%rd1], %fd2;"),
              70);
    const struct ww_inst *m = &find(&l, "DADD")->inst;
    assert_int_equal(m->dst[0].n, 2);
    assert_int_equal(m->dst[0].reg % 2, 0);
    ww_ptx_module_free(l.m);
}

/* `count` values that are live at once. */
static char *pressure(unsigned values) {
    struct ww_buf b = {0};
    ww_buf_puts(&b, HEAD
                ".entry k(.param .u64 p)\n{\n.reg .b32 %r<300>;\n.reg .b64 %rd1;\nld.param.u64 %rd1, [p];\n");
    for (unsigned k = 0; k < values; k++)
        ww_buf_printf(&b, "ld.volatile.global.u32 %%r%u, [%%rd1+%u];\n", k, 4 * k);
    for (unsigned k = 0; k < values; k++)
        ww_buf_printf(&b, "st.global.u32 [%%rd1+%u], %%r%u;\n", 4 * k, values - 1 - k);
    ww_buf_puts(&b, "ret;\n}\n");
    return b.p;
}

static void registers_follow_the_pressure(void **state) {
    (void)state;
    char *text = pressure(40);
    struct lowered l = lower(text, 70);
    assert_in_range(l.f->machine_registers, 42, 46); /* 40 values, the address pair, R1, two of the driver's */
    assert_int_equal(l.f->spill_bytes, 0);
    ww_ptx_module_free(l.m);
    free(text);
}

static void too_few_registers_spill(void **state) {
    (void)state;
    char *text = pressure(40);
    struct lowered l = lower_with(text, 70, 24);
    assert_true(l.f->machine_registers <= 26);
    assert_true(l.f->spill_bytes >= 4 * 16);
    assert_true(count(&l, "STL") >= 16);
    const struct ptx_machine *m = find(&l, "LDL");
    assert_int_equal(m->inst.space, WW_SPACE_LOCAL);
    assert_true(m->inst.flags & WW_INST_ACCESS);
    assert_int_equal(m->access_part, PTX_ACCESS_NONE);
    assert_true(m->access_offset < l.f->spill_bytes);
    ww_ptx_module_free(l.m);
    free(text);
}

/* Every register read must have been written before on some path; here on the straight line. */
static void straight_line_reads_only_what_was_written(void **state) {
    (void)state;
    char *text = pressure(40);
    struct lowered l = lower_with(text, 70, 24);
    bool written[WW_REG_COUNT] = {false};
    for (uint32_t k = 0; k < l.f->machine_count; k++) {
        const struct ww_inst *m = &l.f->machine[k].inst;
        for (unsigned s = 0; s < m->src_count; s++)
            for (unsigned r = 0; r < m->src[s].n; r++) assert_true(written[m->src[s].reg + r]);
        for (unsigned d = 0; d < m->dst_count; d++)
            for (unsigned r = 0; r < m->dst[d].n; r++) written[m->dst[d].reg + r] = true;
    }
    ww_ptx_module_free(l.m);
    free(text);
}

static void pcs_count_up_in_steps_of_the_architecture(void **state) {
    (void)state;
    static const uint32_t arch[] = {20, 52, 70}, step[] = {8, 8, 16};
    for (int a = 0; a < 3; a++) {
        struct lowered l = lower(KERNEL(TID "mov.u32 %r1, %r9;\n" STORE_R1), arch[a]);
        for (uint32_t k = 0; k < l.f->machine_count; k++)
            assert_int_equal(l.f->machine[k].inst.pc, k * step[a]);
        ww_ptx_module_free(l.m);
    }
}

static void callees_are_lowered_behind_the_kernel(void **state) {
    (void)state;
    struct lowered l =
        lower(HEAD ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a];\n"
                   "add.s32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }\n"
                   ".entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd1; .param .b32 x; .param .b32 y;\n"
                   "st.param.b32 [x], 5; call (y), f, (x); ld.param.b32 %r1, [y]; ld.param.u64 %rd1, [p];\n"
                   "st.global.u32 [%rd1], %r1; ret; }\n",
              70);
    const struct ptx_func *f = ww_ptx_module_func(l.m, "f");
    assert_true(f->machine_count > 0);
    assert_true(f->machine[0].inst.pc > l.f->machine[l.f->machine_count - 1].inst.pc);
    assert_int_equal(count(&l, "CALL"), 1);
    ww_ptx_module_free(l.m);
}

static void lowering_again_gives_the_other_architecture(void **state) {
    (void)state;
    struct lowered l = lower(KERNEL(TID "mul.lo.s32 %r1, %r9, %r9;\n" STORE_R1), 70);
    struct ptx_lower_options o = {.arch = 52};
    assert_int_equal(ww_ptx_lower(l.m, l.f, &o, NULL), WW_OK);
    assert_int_equal(count(&l, "XMAD"), 3);
    ww_ptx_module_free(l.m);
}

static void barrier_number_is_part_of_the_instruction(void **state) {
    (void)state;
    struct lowered l = lower(KERNEL("bar.sync 3, 64;"), 70);
    const struct ww_inst *m = &find(&l, "BAR.SYNC")->inst;
    assert_int_equal(m->barrier, 3);
    assert_int_equal(m->barrier_threads, 64);
    assert_int_equal(m->flags & WW_INST_ACCESS, 0);
    ww_ptx_module_free(l.m);
    l = lower(KERNEL(TID "bar.arrive %r9, 64;"), 70);
    assert_int_equal(find(&l, "BAR.ARV")->inst.flags, WW_INST_ACCESS | WW_INST_BAR_ARRIVE);
    ww_ptx_module_free(l.m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_and_addresses_cost_nothing),
        cmocka_unit_test(dead_code_is_dropped),
        cmocka_unit_test(indexing_is_one_wide_multiply_add_on_sm_70),
        cmocka_unit_test(wide_addition_is_two_words),
        cmocka_unit_test(high_words_that_nothing_reads_are_not_computed),
        cmocka_unit_test(product_and_sum_contract),
        cmocka_unit_test(two_logic_operations_are_one_lop3),
        cmocka_unit_test(multiplication_by_a_power_of_two_is_a_shift),
        cmocka_unit_test(maxwell_multiplies_in_three_steps),
        cmocka_unit_test(special_registers_are_read_once),
        cmocka_unit_test(short_if_is_predicated),
        cmocka_unit_test(divergent_branch_opens_and_closes_a_region),
        cmocka_unit_test(uniform_branch_needs_no_region),
        cmocka_unit_test(region_of_a_loop_opens_before_it),
        cmocka_unit_test(access_flags_follow_the_cache_operators),
        cmocka_unit_test(vector_loads_fill_aligned_quads),
        cmocka_unit_test(wide_values_are_in_even_pairs),
        cmocka_unit_test(registers_follow_the_pressure),
        cmocka_unit_test(too_few_registers_spill),
        cmocka_unit_test(straight_line_reads_only_what_was_written),
        cmocka_unit_test(pcs_count_up_in_steps_of_the_architecture),
        cmocka_unit_test(callees_are_lowered_behind_the_kernel),
        cmocka_unit_test(lowering_again_gives_the_other_architecture),
        cmocka_unit_test(barrier_number_is_part_of_the_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
