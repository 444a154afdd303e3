/* exec_arch.c: what differs between architectures in a launch's constant bank 0 and shared memory.
 *
 * Each figure was read off machine code that ptxas (12.4 for sm_70, 13.0 for the others) made of a small
 * kernel: one that reads blockDim and gridDim, one that passes the address of a local or shared array to a
 * function (windows of generic addresses), one with a local array (stack), one that loads through a pointer
 * (descriptor), any kernel with parameters, and one with a shared array, whose address is put together from
 * constants. */
#include "grid.h"

static const struct sx_arch archs[] = {
    /* arch, block, grid, shared, local, stack, descriptor, params, reserved shared memory */
    {70, 0x0, 0xc, 0x18, 0x20, 0x28, 0, 0x160, 0},
    {75, 0x0, 0xc, 0x18, 0x20, 0x28, 0, 0x160, 0},
    {80, 0x0, 0xc, 0x18, 0x20, 0x28, 0x118, 0x160, 0},
    {90, 0x0, 0xc, 0x18, 0x20, 0x28, 0x208, 0x210, 0x400},
};

const struct sx_arch *ww_sx_arch_of(uint32_t arch) {
    const struct sx_arch *best = NULL;
    if (arch >= 100) return NULL;
    for (size_t n = 0; n < sizeof archs / sizeof *archs; n++)
        if (archs[n].arch <= arch) best = &archs[n];
    return best;
}
