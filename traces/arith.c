/* What a lane computes, from an instruction's class and mnemonic. */
#include "trace.h"
#include <string.h>

static bool starts(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

/* Of a precision whose three kinds follow one another, its sum first. FFMA, HMUL2, DADD: the second letter on.
 */
static enum ww_arith of_float(const char *name, enum ww_arith sum) {
    const char *rest = name + (*name != 0);
    if (starts(rest, "FMA") || starts(rest, "MAD")) return sum + 2;
    return starts(rest, "MUL") ? sum + 1 : sum;
}

static enum ww_arith of_function(const char *name) {
    if (starts(name, "MUFU.EX2") || strcmp(name, "MUFU.RCP") == 0) return WW_ARITH_SFU_EXP;
    if (strcmp(name, "MUFU.RSQ") == 0) return WW_ARITH_SFU_RSQ;
    return starts(name, "MUFU.LG2") ? WW_ARITH_SFU_LOG : WW_ARITH_SFU_SIN;
}

/* F2F, F2I, I2F, F2FP, F2IP, I2FP. */
static enum ww_arith of_conversion(const char *name) {
    return starts(name, "F2") || starts(name, "I2F") ? WW_ARITH_CVT_FP : WW_ARITH_CVT_INT;
}

enum ww_arith ww_arith_of(const struct ww_launch *launch, const struct ww_inst *in) {
    const char *name = in->mnemonic < launch->string_count ? launch->string[in->mnemonic] : "";
    enum ww_op op = (enum ww_op)in->op;
    if (op == WW_OP_SHUFFLE) return WW_ARITH_SHUFFLE;
    if (starts(name, "UF") || starts(name, "UI2")) name++; /* of the uniform datapath */
    switch (ww_op_pipe(op)) {
    case WW_PIPE_FP32:
        return of_float(name, WW_ARITH_FP32_ADD);
    case WW_PIPE_FP16:
        return of_float(name, WW_ARITH_FP16_ADD);
    case WW_PIPE_FP64:
        return of_float(name, WW_ARITH_FP64_ADD);
    case WW_PIPE_SFU:
        return op == WW_OP_CVT ? of_conversion(name) : of_function(name);
    default:
        return WW_ARITH_COUNT;
    }
}
