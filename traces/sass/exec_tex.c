/* exec_tex.c: texture fetches and surface accesses. */
#include "grid.h"

bool ww_sx_pick_texture(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    (void)b;
    (void)in;
    (void)i;
    return false;
}
