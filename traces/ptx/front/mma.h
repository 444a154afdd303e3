/* mma.h: matrix shapes of wmma, mma and ldmatrix, geometries of textures; ptx_inst.geom indexes ww_ptx_shapes
 * (names.c). */
#ifndef WW_TRACES_PTX_MMA_H
#define WW_TRACES_PTX_MMA_H

#include <stdint.h>

struct ptx_shape {
    const char *name;
    uint8_t m, n, k; /* k 0: ldmatrix, stmatrix, movmatrix; textures: m dimensions, n 1 if layered */
};

/* [0] is "no shape". */
#define PTX_SHAPE_1D 14 /* and what follows: geometries of textures and surfaces */
#define PTX_SHAPE_COUNT 19
extern const struct ptx_shape ww_ptx_shapes[PTX_SHAPE_COUNT];

#endif
