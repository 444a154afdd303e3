/* test_sass_decode.c: decoding and printing machine code; what is not known is refused. */
#include "../../traces/sass/code/sass_decode.h"
#include "../../traces/sass/code/sass_print.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct word {
    unsigned arch, offset;
    uint64_t high, low;
    const char *text;
};
static const struct word words[] = {
#define W(arch, offset, high, low, text) {arch, offset, high, low, text},
#include "sass_words.def"
#undef W
};
#define COUNT (sizeof words / sizeof words[0])

static struct ww_sass_insn decode(unsigned arch, uint64_t high, uint64_t low, uint32_t offset) {
    struct ww_sass_insn in;
    struct ww_error error;
    uint64_t raw[2] = {low, high};
    if (ww_sass_decode(arch, raw, offset, "test", &in, &error) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
    return in;
}

/* The first word of the list whose text holds this. */
static struct ww_sass_insn find(const char *text) {
    for (size_t i = 0; i < COUNT; i++)
        if (strstr(words[i].text, text))
            return decode(words[i].arch, words[i].high, words[i].low, words[i].offset);
    fail_msg("no word \"%s\"", text);
    return (struct ww_sass_insn){0};
}

static void every_form_prints_as_the_vendor_prints_it(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        char text[512];
        struct ww_sass_insn in = decode(words[i].arch, words[i].high, words[i].low, words[i].offset);
        size_t n = ww_sass_print(&in, text, sizeof text);
        while (n && text[n - 1] == ' ') text[--n] = '\0'; /* after INF */
        assert_string_equal(text, words[i].text);
    }
}

static void text_is_cut_at_the_buffers_end(void **state) {
    (void)state;
    struct ww_sass_insn in = find("FFMA R");
    char whole[256], cut[8] = "xxxxxxx";
    size_t n = ww_sass_print(&in, whole, sizeof whole);
    assert_int_equal(n, strlen(whole));
    assert_int_equal(ww_sass_print(&in, cut, sizeof cut), n);
    assert_memory_equal(cut, whole, 7);
    assert_int_equal(cut[7], 0);
    assert_int_equal(ww_sass_print(&in, NULL, 0), n);
}

/* IADD3.X R29, P5, R11.reuse, R36, RZ, P5, !PT */
static void slots_hold_operands_by_role(void **state) {
    (void)state;
    struct ww_sass_insn in = decode(86, 0x040fe20002fbe4ff, 0x000000240b1d7210, 0x10);
    assert_int_equal(in.op, SASS_IADD3);
    assert_int_equal(in.mod[SASS_M_X], 1);
    assert_int_equal(in.opd[SASS_D].reg, 29);
    assert_int_equal(in.opd[SASS_PD].reg, 5);
    assert_int_equal(in.opd[SASS_PD2].reg, SASS_PT);
    assert_int_equal(in.opd[SASS_A].flags, SASS_F_REUSE);
    assert_int_equal(in.opd[SASS_B].reg, 36);
    assert_int_equal(in.opd[SASS_C].reg, SASS_RZ);
    assert_int_equal(in.opd[SASS_PS].reg, 5);
    assert_int_equal(in.opd[SASS_PS2].flags, SASS_F_NOT);
    assert_int_equal(in.opd[SASS_E].kind, SASS_K_NONE);
}

/* FFMA R9, R7, R2, UR4 and FFMA R7, -R3, R20, 1: the uniform register and the immediate are the addend. */
static void an_addend_is_c_wherever_its_bits_are(void **state) {
    (void)state;
    struct ww_sass_insn in = decode(80, 0x000fe20008000002, 0x0000000407097e23, 0);
    assert_int_equal(in.opd[SASS_B].kind, SASS_K_REG);
    assert_int_equal(in.opd[SASS_B].reg, 2);
    assert_int_equal(in.opd[SASS_C].kind, SASS_K_UREG);
    assert_int_equal(in.opd[SASS_C].reg, 4);
    in = decode(80, 0x000fe20000000114, 0x3f80000003077423, 0);
    assert_int_equal(in.opd[SASS_B].reg, 20);
    assert_int_equal(in.opd[SASS_C].imm, 0x3f800000);
    assert_int_equal(in.opd[SASS_A].flags, SASS_F_NEG);
}

static void control_fields_are_read(void **state) {
    (void)state;
    /* stall 13, the yield bit clear, no barriers but waiting for scoreboards 0 and 2 */
    uint64_t control = UINT64_C(13) << 41 | UINT64_C(7) << 46 | UINT64_C(3) << 49 | UINT64_C(5) << 52;
    struct ww_sass_insn in = decode(80, control, 0x0000000000007918, 0);
    assert_int_equal(in.ctl.stall, 13);
    assert_int_equal(in.ctl.yield, 1);
    assert_int_equal(in.ctl.wr_bar, 7);
    assert_int_equal(in.ctl.rd_bar, 3);
    assert_int_equal(in.ctl.wait, 5);
}

static void a_branch_names_its_target_by_offset(void **state) {
    (void)state;
    struct ww_sass_insn in = decode(80, 0x000fc0000383ffff, 0xfffffff000007947, 0x120);
    assert_int_equal(in.op, SASS_BRA);
    assert_int_equal(in.opd[SASS_E].kind, SASS_K_LABEL);
    assert_int_equal(in.opd[SASS_E].imm, 0x120);
    in = decode(90, 0x000fea0003c00000, 0x0000002000907944, 0x4d0); /* sm_90: the lowest bits lie apart */
    assert_int_equal(in.opd[SASS_E].imm, 0x2720);
}

static void an_address_tells_registers_and_width(void **state) {
    (void)state;
    struct ww_sass_insn in = decode(90, 0x000ea6000c1e1900, 0x0000100404097981, 0); /* desc[UR4][R4.64+0x10] */
    assert_int_equal(in.opd[SASS_A].kind, SASS_K_MEM);
    assert_int_equal(in.opd[SASS_A].reg, 4);
    assert_int_equal(in.opd[SASS_A].ureg, SASS_URZ);
    assert_int_equal(in.opd[SASS_A].flags, SASS_F_A64 | SASS_F_DESC);
    assert_int_equal(in.opd[SASS_A].count, 4);
    assert_int_equal(in.opd[SASS_A].imm, 0x10);
    in = decode(75, 0x0000a6000c1ee900, 0x000000040a0b7981, 0); /* [R10.64+UR4] */
    assert_int_equal(in.opd[SASS_A].flags, SASS_F_A64 | SASS_F_UA64);
    assert_int_equal(in.opd[SASS_A].ureg, 4);
    assert_int_equal(in.mod[SASS_M_SCOPE], SASS_SCOPE_SYS);
}

static void widths(const char *text, unsigned d, unsigned a, unsigned b, unsigned c) {
    struct ww_sass_insn in = find(text);
    assert_int_equal(in.opd[SASS_D].count, d);
    if (in.opd[SASS_A].kind == SASS_K_REG) assert_int_equal(in.opd[SASS_A].count, a);
    if (in.opd[SASS_B].kind == SASS_K_REG) assert_int_equal(in.opd[SASS_B].count, b);
    if (in.opd[SASS_C].kind == SASS_K_REG && in.opd[SASS_C].reg != SASS_RZ)
        assert_int_equal(in.opd[SASS_C].count, c);
}

static void operands_know_how_many_registers_they_take(void **state) {
    (void)state;
    widths("FFMA R", 1, 1, 1, 1);
    widths("DFMA R", 2, 2, 2, 2);
    widths("IMAD.WIDE", 2, 1, 1, 2);
    widths("HMMA.16816.F16", 2, 4, 2, 2);
    widths("DMMA.16x8x16", 8, 16, 8, 8);
}

static void refused(unsigned arch, uint64_t high, uint64_t low, const char *part) {
    struct ww_sass_insn in;
    struct ww_error error;
    uint64_t raw[2] = {low, high};
    assert_int_equal(ww_sass_decode(arch, raw, 0x30, "kernel", &in, &error), WW_UNSUPPORTED);
    assert_string_equal(error.where, "kernel+0x30");
    if (!strstr(error.text, part)) fail_msg("\"%s\" lacks \"%s\"", error.text, part);
    assert_int_equal(in.op, SASS_INVALID);
}

static void what_is_not_known_is_refused_with_its_bits(void **state) {
    (void)state;
    refused(80, 0, 0x1ff, "000000000000000000000000000001ff is not known");
}

static void unknown_values_and_bits_name_the_place(void **state) {
    (void)state;
    refused(80, 0x000fe20000003000, 0x0000000400047308, "bit 74 of MUFU"); /* function 12 */
    refused(80, 0x000fe20000000000, 0x0000000407077801, "is not known");
    refused(80, 0x000fe20000000000 | UINT64_C(1) << 36, 0x0000001605127221, "bit 100 of FADD");
    refused(75, 0x000fc80007800907, 0x0000000608077446, "is not known"); /* sm_90's alone */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_prints_as_the_vendor_prints_it),
        cmocka_unit_test(text_is_cut_at_the_buffers_end),
        cmocka_unit_test(slots_hold_operands_by_role),
        cmocka_unit_test(an_addend_is_c_wherever_its_bits_are),
        cmocka_unit_test(control_fields_are_read),
        cmocka_unit_test(a_branch_names_its_target_by_offset),
        cmocka_unit_test(an_address_tells_registers_and_width),
        cmocka_unit_test(operands_know_how_many_registers_they_take),
        cmocka_unit_test(what_is_not_known_is_refused_with_its_bits),
        cmocka_unit_test(unknown_values_and_bits_name_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
