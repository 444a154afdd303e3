/* mma.h: matrix shapes of wmma, mma and ldmatrix; ptx_inst.geom indexes ptx_shapes (names.c). */
#ifndef WW_TRACES_PTX_MMA_H
#define WW_TRACES_PTX_MMA_H

#include <stdint.h>

struct ptx_shape {
    const char *name;
    uint8_t m, n, k; /* k 0: ldmatrix, stmatrix, movmatrix */
};

/* [0] is "no shape". */
#define PTX_SHAPE_COUNT 14
extern const struct ptx_shape ptx_shapes[PTX_SHAPE_COUNT];

#endif
