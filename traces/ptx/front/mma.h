/* mma.h: matrix shapes of wmma, mma and ldmatrix, geometries of textures; ptx_inst.geom indexes ww_ptx_shapes
 * (names.c). */
#ifndef WW_TRACES_PTX_MMA_H
#define WW_TRACES_PTX_MMA_H

#include <stdint.h>

struct ptx_shape {
    const char *name;
    uint8_t m, n,
        k; /* k 0: ldmatrix, stmatrix, movmatrix; textures: m dimensions, n 1 if layered; of wgmma m */
};

/* [0] is "no shape". */
#define PTX_SHAPE_1D 14 /* and what follows: geometries of textures and surfaces */
#define PTX_SHAPE_K8                                                                                           \
    19 /* and what follows: m64nNk8, k16, k32, k256, k64 of wgmma; N / 8 is ptx_inst.cp_bytes */
#define PTX_SHAPE_K16 20
#define PTX_SHAPE_K32 21
#define PTX_SHAPE_K256 22
#define PTX_SHAPE_K64 23
#define PTX_SHAPE_32X32B 24 /* and what follows: of tensor memory */
#define PTX_SHAPE_16X128B 25
#define PTX_SHAPE_16X256B 26
#define PTX_SHAPE_128X256B 27 /* and what follows: of tcgen05.cp */
#define PTX_SHAPE_4X256B 28
#define PTX_SHAPE_128X128B 29
#define PTX_SHAPE_64X128B 30    /* .warpx2::02_13 */
#define PTX_SHAPE_64X128B_01 31 /* .warpx2::01_23 */
#define PTX_SHAPE_32X128B 32
#define PTX_SHAPE_16X64B 33
#define PTX_SHAPE_16X32BX2 34
#define PTX_SHAPE_COUNT 35
/* Of tcgen05.mma with scale factors: how many a row has for each k of the instruction, or for how many elements
 * one is; in the place of a vector's width. */
#define PTX_SCALE_1X 65
#define PTX_SCALE_2X 66
#define PTX_SCALE_4X 68
#define PTX_SCALE_BLOCK16 80
#define PTX_SCALE_BLOCK32 96
extern const struct ptx_shape ww_ptx_shapes[PTX_SHAPE_COUNT];

#endif
