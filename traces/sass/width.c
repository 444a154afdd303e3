/* How many registers operands take: from the opcode and its types. */
#include "table.h"

void ww_sass_widths(struct ww_sass_insn *in) {
    for (unsigned i = 0; i < SASS_SLOTS; i++) {
        struct ww_sass_operand *p = &in->opd[i];
        if (p->kind == SASS_K_REG) p->count = p->reg == SASS_RZ ? 0 : 1;
        if (p->kind == SASS_K_UREG) p->count = p->reg == SASS_URZ ? 0 : 1;
    }
}
