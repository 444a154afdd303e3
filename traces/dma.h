/* dma.h: a bulk transfer from global to shared memory, as D2MA's buffer management table describes it.
 *
 * A transfer moves a tile: `rows` rows of `columns` elements; the elements of a row lie `stride` elements apart
 * if there is one row (1D), side by side if there are several, whose starts then lie `stride` apart (2D).
 * In shared memory the tile is dense, in one of these ways:
 *
 *     PLAIN   element k at shared + k * size
 *     SPREAD  one element is left free behind each `halo_rows` ones:
 *             element k at shared + (k + k / halo_rows) * size
 *     HALO    rows + 2 halo_rows rows of columns + 2 halo_columns elements
 *
 * In a HALO tile, what lies outside of the data's border on the sides that `region` names is the constant; all
 * else comes from around the tile.
 *
 * Regions are numbered clockwise from the top left corner; the paper draws its nine without numbers in the
 * text:
 *
 *     1 2 3
 *     8 9 4        9: inside, no side is constant
 *     7 6 5
 *
 * The table entry's 173 bits (section 4.1 of D. A. Jamshidi, M. Samadi, S. Mahlke, D2MA, PACT 2014): global
 * base 64, shared base 16, elements 16 (of a 2D tile rows and columns less one, 8 bits each: our reading),
 * element size 2, stride 16, dimensionality 1, mode 2, halo rows 16, halo columns 16, region 8, constant 16. */
#ifndef WW_TRACES_DMA_H
#define WW_TRACES_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WW_DMA_BUFFERS 4      /* of a CTA */
#define WW_DMA_ENTRY_BITS 173 /* of a buffer */
#define WW_DMA_WORDS 3        /* of a recorded transfer */

enum ww_dma_mode { WW_DMA_PLAIN, WW_DMA_SPREAD, WW_DMA_HALO };

struct ww_dma {
    uint64_t global; /* address of the tile's first element, without the halo */
    uint32_t shared; /* byte offset in the CTA's allocation */
    uint32_t rows, columns, stride;
    uint32_t size; /* bytes of an element: 1, 2, 4, 8 */
    uint32_t halo_rows, halo_columns;
    uint32_t constant; /* 16 bits, zero-extended to the element */
    uint8_t mode, region, buffer;
    bool two;
};

/* Elements of one row of the tile, as they lie in shared memory: constants, then elements from memory, then
 * constants. */
struct ww_dma_row {
    uint64_t global; /* of its first element from memory */
    uint32_t first;  /* number of the row's first element in shared memory, counted densely */
    uint32_t left, count, right;
};

/* NULL, or what of the transfer the table cannot hold. */
const char *ww_dma_check(const struct ww_dma *d);
/* The words that a trace holds, and back; a word list that no transfer packs to gives false. */
void ww_dma_pack(const struct ww_dma *d, uint64_t word[WW_DMA_WORDS]);
bool ww_dma_unpack(const uint64_t *word, struct ww_dma *d);

/* Rows in shared memory, those of the halo included. */
uint32_t ww_dma_rows(const struct ww_dma *d);
struct ww_dma_row ww_dma_row(const struct ww_dma *d, uint32_t row);
/* Distance of a row's neighbouring elements in global memory, bytes. */
static inline uint64_t ww_dma_pitch(const struct ww_dma *d) {
    return (uint64_t)d->size * (d->two ? 1 : d->stride);
}
/* Byte offset of element k in shared memory. */
static inline uint32_t ww_dma_place(const struct ww_dma *d, uint32_t k) {
    return d->shared + (d->mode == WW_DMA_SPREAD ? k + k / d->halo_rows : k) * d->size;
}
/* Bytes from the first element's place to the last one's end. */
uint32_t ww_dma_bytes(const struct ww_dma *d);

#endif
