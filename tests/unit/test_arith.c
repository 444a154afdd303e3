/* What a lane computes, by class and mnemonic: imported SASS and lowered PTX name instructions alike. */
#include "../../traces/trace.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static enum ww_arith of(enum ww_op op, const char *name) {
    const char *const strings[] = {"", name};
    struct ww_launch launch = {.string = strings, .string_count = 2};
    struct ww_inst in = {.op = (uint8_t)op, .mnemonic = 1};
    return ww_arith_of(&launch, &in);
}

static void adds_multiplies_and_fused_ones_are_told_apart(void **state) {
    (void)state;
    assert_int_equal(of(WW_OP_FP32, "FADD"), WW_ARITH_FP32_ADD);
    assert_int_equal(of(WW_OP_FP32, "FMUL32I"), WW_ARITH_FP32_MUL);
    assert_int_equal(of(WW_OP_FP32, "FFMA.FTZ"), WW_ARITH_FP32_FMA);
    assert_int_equal(of(WW_OP_FP16, "HADD2"), WW_ARITH_FP16_ADD);
    assert_int_equal(of(WW_OP_FP16, "HMUL2"), WW_ARITH_FP16_MUL);
    assert_int_equal(of(WW_OP_FP16, "HFMA2.MMA"), WW_ARITH_FP16_FMA);
    assert_int_equal(of(WW_OP_FP64, "DADD"), WW_ARITH_FP64_ADD);
    assert_int_equal(of(WW_OP_FP64, "DMUL"), WW_ARITH_FP64_MUL);
    assert_int_equal(of(WW_OP_FP64, "DFMA"), WW_ARITH_FP64_FMA);
}

static void what_neither_multiplies_nor_fuses_counts_as_an_add(void **state) {
    (void)state;
    assert_int_equal(of(WW_OP_FP32, "FSETP.GT.AND"), WW_ARITH_FP32_ADD);
    assert_int_equal(of(WW_OP_FP32, "FMNMX"), WW_ARITH_FP32_ADD);
    assert_int_equal(of(WW_OP_FP64, "DSETP"), WW_ARITH_FP64_ADD);
    assert_int_equal(of(WW_OP_FP32, ""), WW_ARITH_FP32_ADD);
}

static void the_uniform_datapath_computes_the_same(void **state) {
    (void)state;
    assert_int_equal(of(WW_OP_FP32, "UFFMA"), WW_ARITH_FP32_FMA);
    assert_int_equal(of(WW_OP_FP32, "UFMUL"), WW_ARITH_FP32_MUL);
    assert_int_equal(of(WW_OP_CVT, "UI2F"), WW_ARITH_CVT_FP);
    assert_int_equal(of(WW_OP_CVT, "UFLO"), WW_ARITH_CVT_INT);
}

static void functions_are_told_apart_by_their_suffix(void **state) {
    (void)state;
    assert_int_equal(of(WW_OP_SFU, "MUFU.EX2"), WW_ARITH_SFU_EXP);
    assert_int_equal(of(WW_OP_SFU, "MUFU.RCP"), WW_ARITH_SFU_EXP);
    assert_int_equal(of(WW_OP_SFU, "MUFU.RSQ"), WW_ARITH_SFU_RSQ);
    assert_int_equal(of(WW_OP_SFU, "MUFU.LG2"), WW_ARITH_SFU_LOG);
    assert_int_equal(of(WW_OP_SFU, "MUFU.COS"), WW_ARITH_SFU_SIN);
    assert_int_equal(of(WW_OP_SFU, "MUFU.RCP64H"), WW_ARITH_SFU_SIN);
}

static void conversions_of_integers_are_apart_from_those_of_floats(void **state) {
    (void)state;
    assert_int_equal(of(WW_OP_CVT, "F2I.TRUNC.NTZ"), WW_ARITH_CVT_FP);
    assert_int_equal(of(WW_OP_CVT, "I2F"), WW_ARITH_CVT_FP);
    assert_int_equal(of(WW_OP_CVT, "I2FP.F32.S32"), WW_ARITH_CVT_FP);
    assert_int_equal(of(WW_OP_CVT, "F2F.F64.F32"), WW_ARITH_CVT_FP);
    assert_int_equal(of(WW_OP_CVT, "I2I"), WW_ARITH_CVT_INT);
    assert_int_equal(of(WW_OP_CVT, "FRND"), WW_ARITH_CVT_INT);
    assert_int_equal(of(WW_OP_CVT, "POPC"), WW_ARITH_CVT_INT);
    assert_int_equal(of(WW_OP_CVT, "FLO.U32"), WW_ARITH_CVT_INT);
}

static void other_classes_are_not_told_apart(void **state) {
    (void)state;
    assert_int_equal(of(WW_OP_SHUFFLE, "SHFL.DOWN"), WW_ARITH_SHUFFLE);
    assert_int_equal(of(WW_OP_INT, "IADD3"), WW_ARITH_COUNT);
    assert_int_equal(of(WW_OP_LOAD, "LDG.E"), WW_ARITH_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_multiplies_and_fused_ones_are_told_apart),
        cmocka_unit_test(what_neither_multiplies_nor_fuses_counts_as_an_add),
        cmocka_unit_test(the_uniform_datapath_computes_the_same),
        cmocka_unit_test(functions_are_told_apart_by_their_suffix),
        cmocka_unit_test(conversions_of_integers_are_apart_from_those_of_floats),
        cmocka_unit_test(other_classes_are_not_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
