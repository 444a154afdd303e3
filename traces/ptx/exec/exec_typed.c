/* exec_typed.c: operations that integers and floating-point numbers have alike: what runs, by the type. */
#include "exec.h"

typedef ex_fn picker(const struct ex_inst *i);

static ex_fn none(const struct ex_inst *i) {
    (void)i;
    return NULL;
}

static ex_fn by_type(const struct ex_inst *i, picker *integer, picker *real, picker *half) {
    switch (i->type) {
    case PTX_T_F32:
    case PTX_T_F64:
        return real(i);
    case PTX_T_F16:
    case PTX_T_F16X2:
    case PTX_T_BF16:
    case PTX_T_BF16X2:
        return half(i);
    default:
        return integer(i);
    }
}

EX_PICK(add, by_type(i, ww_ex_int_add, ww_ex_float_add, ww_ex_half_arithmetic))
EX_PICK(sub, by_type(i, ww_ex_int_add, ww_ex_float_sub, ww_ex_half_arithmetic))
EX_PICK(mul, by_type(i, ww_ex_int_mul, ww_ex_float_mul, ww_ex_half_arithmetic))
EX_PICK(mad, by_type(i, ww_ex_int_mad, ww_ex_float_fma, none))
EX_PICK(fma, by_type(i, none, ww_ex_float_fma, ww_ex_half_arithmetic))
EX_PICK(div, by_type(i, ww_ex_int_div, ww_ex_float_div, none))
EX_PICK(min, by_type(i, ww_ex_int_min_max, ww_ex_float_min_max, ww_ex_half_arithmetic))
EX_PICK(max, by_type(i, ww_ex_int_min_max, ww_ex_float_min_max, ww_ex_half_arithmetic))
EX_PICK(neg, by_type(i, ww_ex_int_neg, ww_ex_float_sign, ww_ex_half_sign))
EX_PICK(abs, by_type(i, ww_ex_int_abs, ww_ex_float_sign, ww_ex_half_sign))
EX_PICK(ex2, by_type(i, none, ww_ex_float_sfu, ww_ex_half_arithmetic))
EX_PICK(tanh, by_type(i, none, ww_ex_float_sfu, ww_ex_half_arithmetic))
