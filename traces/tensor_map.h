/* tensor_map.h: tensor maps: what a tensor in global memory looks like and which box of it a bulk copy moves.
 *
 * The machine's layout of the 128 bytes is not published. This is our own, written by the host functions of the
 * recording runtime (cuTensorMapEncodeTiled and the like) and read by the executors alone. A map has a mark and
 * a hash of its bytes, so that a map made or changed by other code fails to decode.
 *
 * A box is moved row by row: a row is what lies along dimension 0, of box[0] elements (im2col: of `channels`
 * elements of one pixel). Rows lie densely in shared memory, in the order of dimensions 1, 2, ... (im2col: of
 * pixels); swizzling then exchanges the 16-byte pieces within 256, 512 or 1024 bytes of shared memory. */
#ifndef WW_TRACES_TENSOR_MAP_H
#define WW_TRACES_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define WW_TENSOR_MAP_BYTES 128u
#define WW_TENSOR_DIMS 5u
#define WW_TENSOR_BOX_BYTES (228u << 10) /* a box lies in shared memory */

/* Values of the driver's enumerations (cuda.h). */
enum ww_tensor_type {
    WW_TENSOR_U8,
    WW_TENSOR_U16,
    WW_TENSOR_U32,
    WW_TENSOR_S32,
    WW_TENSOR_U64,
    WW_TENSOR_S64,
    WW_TENSOR_F16,
    WW_TENSOR_F32,
    WW_TENSOR_F64,
    WW_TENSOR_BF16,
    WW_TENSOR_F32_FTZ,
    WW_TENSOR_TF32,
    WW_TENSOR_TF32_FTZ,
    WW_TENSOR_TYPES
};
enum ww_tensor_swizzle { WW_SWIZZLE_NONE, WW_SWIZZLE_32, WW_SWIZZLE_64, WW_SWIZZLE_128 };

struct ww_tensor_map {
    uint64_t global;
    uint8_t type, rank, swizzle, interleave, promotion;
    bool im2col, fill_nan; /* elements outside: NaN rather than zero */
    uint64_t dim[WW_TENSOR_DIMS];
    uint64_t stride[WW_TENSOR_DIMS]; /* bytes; [0] is an element's */
    uint32_t box[WW_TENSOR_DIMS];    /* tiled: elements of the tensor that the box spans */
    uint32_t step[WW_TENSOR_DIMS];   /* every how many-th element is taken; of dimension 0 each */
    int32_t lower[3], upper[3];      /* im2col: corners of the box of pixels, of dimensions 1 to rank - 2 */
    uint32_t channels, pixels;       /* im2col: elements of a row, rows */
};

/* Where a copy begins: coordinates; im2col: offsets that are added to each pixel's. */
struct ww_tensor_at {
    int32_t coordinate[WW_TENSOR_DIMS];
    uint16_t offset[3];
};

/* A row: `count` elements from `global` on lie in the tensor and become elements `first` ... of the row. */
struct ww_tensor_row {
    uint64_t global;
    uint32_t first, count;
};

uint32_t ww_tensor_element(uint8_t type); /* bytes */
/* NULL, or what is wrong with it. */
const char *ww_tensor_map_check(const struct ww_tensor_map *m);
/* Packs a map that is right. */
void ww_tensor_map_encode(const struct ww_tensor_map *m, unsigned char out[WW_TENSOR_MAP_BYTES]);
/* NULL, or why these bytes are no tensor map. */
const char *ww_tensor_map_decode(const unsigned char in[WW_TENSOR_MAP_BYTES], struct ww_tensor_map *m);

/* Of a box: elements of a row, rows, bytes in shared memory. */
uint32_t ww_tensor_row_elements(const struct ww_tensor_map *m);
uint32_t ww_tensor_rows(const struct ww_tensor_map *m);
uint32_t ww_tensor_box_bytes(const struct ww_tensor_map *m);
/* NULL, or why a box cannot begin there. */
const char *ww_tensor_at_check(const struct ww_tensor_map *m, const struct ww_tensor_at *at);
struct ww_tensor_row ww_tensor_row(const struct ww_tensor_map *m, const struct ww_tensor_at *at, uint32_t row);
/* Where a byte of shared memory is under a swizzle: an address within the CTA, so also that of what lies there.
 */
static inline uint32_t ww_tensor_swizzled(uint8_t swizzle, uint32_t address) {
    uint32_t mask = (1u << swizzle) - 1; /* of 16-byte pieces: 0, 1, 3, 7 */
    return address ^ (address >> 7 & mask) << 4;
}

#endif
