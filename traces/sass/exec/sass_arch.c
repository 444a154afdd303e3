/* sass_arch.c: what differs between architectures in a launch's constant bank 0 and shared memory.
 *
 * Each figure was read off machine code that ptxas (12.4 for sm_70, 13.0 for the others) made of a small
 * kernel: one that reads blockDim and gridDim, one that passes the address of a local or shared array to a
 * function (windows of generic addresses), one with a local array (stack), one that loads through a pointer
 * (descriptor), any kernel with parameters, and one with a shared array, whose address is put together from
 * constants. */
#include "grid.h"

#define UPTO_89(number, desc)                                                                                  \
    {                                                                                                          \
        .arch = number, .block = 0x0, .grid = 0xc, .shared_window = 0x18, .local_window = 0x20, .stack = 0x28, \
        .dynamic_shared = 0x2c, .grid_id = 0x30, .envreg = 0x88, .sm_count = 0x10c, .shared_reserved = 0x114,  \
        .descriptor = desc, .params = 0x160                                                                    \
    }

static const struct sx_arch archs[] = {
    UPTO_89(70, 0),
    UPTO_89(80, 0x118),
    {.arch = 90,
     .block = 0x0,
     .grid = 0xc,
     .shared_window = 0x18,
     .local_window = 0x20,
     .stack = 0x28,
     .dynamic_shared = 0x2c,
     .grid_id = 0x30,
     .envreg = 0x40,
     .sm_count = 0x10c,
     .shared_reserved = 0x114,
     .descriptor = 0x208,
     .params = 0x210,
     .cluster = 0x140,
     .param_address = 0x198,
     .shared_base = 0x400},
    {.arch = 100,
     .block = 0x360,
     .grid = 0x370,
     .local_window = 0x2f8,
     .stack = 0x37c,
     .dynamic_shared = 0x2ac,
     .grid_id = 0x140,
     .envreg = 0x250,
     .sm_count = 0x2d0,
     .shared_reserved = 0x16c,
     .descriptor = 0x358,
     .params = 0x380,
     .shared_base = 0x400},
};

const struct sx_arch *ww_sx_arch_of(uint32_t arch) {
    const struct sx_arch *best = NULL;
    for (size_t n = 0; n < sizeof archs / sizeof *archs; n++)
        if (archs[n].arch <= arch) best = &archs[n];
    return best;
}
