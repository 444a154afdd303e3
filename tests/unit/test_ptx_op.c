/* test_ptx_op.c: the table of PTX operations: rows that can be read, and what is asked of them. */
#include "../../traces/ptx/front/op.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void every_mnemonic_is_listed_once(void **state) {
    (void)state;
    for (unsigned a = 0; a < PTX_OP_COUNT; a++)
        for (unsigned b = 0; b < a; b++) assert_string_not_equal(ww_ptx_ops[a].name, ww_ptx_ops[b].name);
}

static void signatures_and_places_are_made_of_letters_that_mean_something(void **state) {
    (void)state;
    for (unsigned k = 0; k < PTX_OP_COUNT; k++) {
        const struct ptx_op_row *row = &ww_ptx_ops[k];
        if (strspn(row->signature, "deDpqVsvPalLTn/?") != strlen(row->signature)) fail_msg("%s", row->name);
        if (strspn(row->places, "01wucpabgiltv/") != strlen(row->places)) fail_msg("%s", row->name);
        if (*row->signature && !strchr(row->signature, '/')) fail_msg("%s: no destinations", row->name);
        if (*row->places && !strchr(row->places, '/')) fail_msg("%s: no destinations", row->name);
    }
}

static void ranges_of_words_are_ranges(void **state) {
    (void)state;
    for (unsigned k = 0; k < PTX_OP_COUNT; k++) {
        const uint8_t *w = ww_ptx_ops[k].words;
        assert_true(w[0] <= w[1] && w[2] <= w[3]);
        assert_true(w[1] < PTX_SUB_COUNT && w[3] < PTX_SUB_COUNT);
    }
}

static bool takes(enum ptx_op op, enum ptx_sub sub) {
    const struct ptx_inst i = {.op = (uint8_t)op};
    return ww_ptx_op_takes(&i, (uint8_t)sub);
}

static void an_operation_takes_the_words_of_its_ranges_and_no_other(void **state) {
    (void)state;
    assert_true(takes(PTX_ATOM, PTX_SUB_CAS));
    assert_false(takes(PTX_RED, PTX_SUB_CAS));
    assert_true(takes(PTX_RED, PTX_SUB_DEC) && takes(PTX_RED, PTX_SUB_AND));
    assert_true(takes(PTX_BAR, PTX_SUB_WARP_SYNC));
    assert_false(takes(PTX_BARRIER, PTX_SUB_WARP_SYNC));
    assert_true(takes(PTX_PRMT, PTX_SUB_NONE) && takes(PTX_PRMT, PTX_SUB_RC16));
    assert_false(takes(PTX_SHFL, PTX_SUB_NONE));
    assert_true(takes(PTX_ADD, PTX_SUB_NONE));
    assert_false(takes(PTX_ADD, PTX_SUB_ADD));
}

static void the_last_letter_of_places_goes_for_all_that_follow(void **state) {
    (void)state;
    const struct ptx_inst bfe = {.op = PTX_BFE, .dst_count = 1, .opnd_count = 4};
    const char want[] = "00uu";
    for (uint32_t n = 0; n < 4; n++) assert_int_equal(ww_ptx_op_place(&bfe, n), want[n]);
    const struct ptx_inst add = {.op = PTX_ADD, .dst_count = 1, .opnd_count = 3};
    for (uint32_t n = 0; n < 3; n++) assert_int_equal(ww_ptx_op_place(&add, n), '0');
}

static void a_second_destination_moves_no_source_from_its_place(void **state) {
    (void)state;
    struct ptx_inst match = {.op = PTX_MATCH, .dst_count = 1, .opnd_count = 3};
    assert_int_equal(ww_ptx_op_place(&match, 1), '0');
    assert_int_equal(ww_ptx_op_place(&match, 2), 'u');
    match.dst_count = 2;
    assert_int_equal(ww_ptx_op_place(&match, 2), '0');
    assert_int_equal(ww_ptx_op_place(&match, 3), 'u');
}

static void carries_and_clocks_are_not_pure(void **state) {
    (void)state;
    struct ptx_operand opnd[2] = {{.kind = PTX_O_REG}, {.kind = PTX_O_SREG, .sreg = PTX_SR_TID}};
    struct ptx_inst i = {.op = PTX_ADD, .opnd = opnd, .dst_count = 1, .opnd_count = 2};
    assert_true(ww_ptx_is_pure(&i));
    i.mods = PTX_M_CC;
    assert_false(ww_ptx_is_pure(&i));
    i = (struct ptx_inst){.op = PTX_MOV, .opnd = opnd, .dst_count = 1, .opnd_count = 2};
    assert_true(ww_ptx_is_pure(&i));
    opnd[1].sreg = PTX_SR_CLOCK64;
    assert_false(ww_ptx_is_pure(&i));
    i.op = PTX_ATOM;
    assert_false(ww_ptx_is_pure(&i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mnemonic_is_listed_once),
        cmocka_unit_test(signatures_and_places_are_made_of_letters_that_mean_something),
        cmocka_unit_test(ranges_of_words_are_ranges),
        cmocka_unit_test(an_operation_takes_the_words_of_its_ranges_and_no_other),
        cmocka_unit_test(the_last_letter_of_places_goes_for_all_that_follow),
        cmocka_unit_test(a_second_destination_moves_no_source_from_its_place),
        cmocka_unit_test(carries_and_clocks_are_not_pure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
