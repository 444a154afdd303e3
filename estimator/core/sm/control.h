/* control.h: the compiler's control fields of a launch's code, decoded for the replay. */
#ifndef WW_CORE_CONTROL_H
#define WW_CORE_CONTROL_H

#include "pipe.h"

/* Whether control fields decide the launch's dependences: core.dependences says so, all have
 * them, and the code is of the GPU's own architecture. */
bool ww_control_applies(const struct ww_gpu_spec *gpu, const struct ww_launch *launch);
/* Fills in what control fields say of an instruction, and the scoreboard entries that it waits for. */
void ww_control_decode(const struct ww_gpu_spec *gpu, const struct ww_inst *in, struct ww_code_table *code,
                       struct ww_dinst *d);

#endif
