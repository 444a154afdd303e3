/* alu.c: arithmetic instructions: asks one family after the other. */
#include "alu.h"
#include "../code/sass_decode.h"

typedef bool (*family)(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);

static bool is_integer(uint16_t op) {
    return op == SASS_MOV || op == SASS_UMOV || op == SASS_SEL || op == SASS_USEL || op == SASS_IADD ||
           op == SASS_UIADD3 || op == SASS_IMNMX || op == SASS_ISETP || op == SASS_UISETP;
}

bool ww_sx_pick_alu(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    static const family families[] = {
        ww_sx_alu_integer, ww_sx_alu_multiply, ww_sx_alu_minmax, ww_sx_alu_logic,
        ww_sx_alu_shift,   ww_sx_alu_compare,  ww_sx_alu_f32,    ww_sx_alu_f32_compare,
        ww_sx_alu_f64,     ww_sx_alu_mufu,     ww_sx_alu_half,   ww_sx_alu_half_compare,
        ww_sx_alu_convert, ww_sx_alu_pack,     ww_sx_alu_matrix, ww_sx_alu_matrix_group,
    };
    const struct ww_sass_opinfo *info = ww_sass_opinfo(in->op);
    if (info && info->unit == SASS_UNIT_UDP) i->kind = SX_UNIFORM;
    bool wide = in->mod[SASS_M_WIDTH64] && is_integer(in->op); /* only the first family knows these */
    if (wide) return ww_sx_alu_wide(b, in, i);
    for (size_t n = 0; n < sizeof families / sizeof *families; n++)
        if (families[n](b, in, i)) return true;
    return false;
}
