/* A bulk transfer from global to shared memory, as D2MA's buffer management table describes it. */
#include "dma.h"

#include <string.h>

const char *ww_dma_check(const struct ww_dma *d) {
    if (d->size != 1 && d->size != 2 && d->size != 4 && d->size != 8)
        return "an element has 1, 2, 4 or 8 bytes";
    if (d->global % d->size || d->shared % d->size) return "the addresses are multiples of an element's size";
    if (d->shared > UINT16_MAX) return "the shared address has 16 bits";
    if (d->two && (d->rows < 1 || d->rows > 256 || d->columns < 1 || d->columns > 256))
        return "a 2D tile has 1 to 256 rows and columns";
    if (!d->two && (d->rows != 1 || d->columns < 1 || d->columns > UINT16_MAX))
        return "a 1D tile has 1 to 65535 elements";
    if (d->stride < 1 || d->stride > UINT16_MAX) return "the stride is 1 to 65535 elements";
    if (d->halo_rows > UINT16_MAX || d->halo_columns > UINT16_MAX || d->constant > UINT16_MAX)
        return "halo rows, halo columns and the constant have 16 bits";
    if (d->mode > WW_DMA_HALO) return "there are three modes";
    if (d->mode == WW_DMA_SPREAD && d->halo_rows == 0) return "an element is left free behind 1 or more";
    if (d->mode == WW_DMA_HALO && (!d->two || d->region < 1 || d->region > 9))
        return "a halo goes around a 2D tile in one of the regions 1 to 9";
    return NULL;
}

static uint64_t log2_of(uint32_t size) {
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

void ww_dma_pack(const struct ww_dma *d, uint64_t word[WW_DMA_WORDS]) {
    uint64_t elements = d->two ? (uint64_t)(d->rows - 1) << 8 | (d->columns - 1) : d->columns;
    word[0] = d->global;
    word[1] = d->shared | elements << 16 | (uint64_t)d->stride << 32 | (uint64_t)d->halo_rows << 48;
    word[2] = d->halo_columns | (uint64_t)d->constant << 16 | (uint64_t)d->region << 32 |
              log2_of(d->size) << 40 | (uint64_t)d->two << 42 | (uint64_t)d->mode << 43 |
              (uint64_t)d->buffer << 45;
}

bool ww_dma_unpack(const uint64_t *word, struct ww_dma *d) {
    uint32_t elements = (uint32_t)(word[1] >> 16) & UINT16_MAX;
    bool two = (word[2] >> 42) & 1;
    *d = (struct ww_dma){.global = word[0],
                         .shared = (uint32_t)word[1] & UINT16_MAX,
                         .rows = two ? (elements >> 8) + 1 : 1,
                         .columns = two ? (elements & 255) + 1 : elements,
                         .stride = (uint32_t)(word[1] >> 32) & UINT16_MAX,
                         .size = 1u << ((word[2] >> 40) & 3),
                         .halo_rows = (uint32_t)(word[1] >> 48),
                         .halo_columns = (uint32_t)word[2] & UINT16_MAX,
                         .constant = (uint32_t)(word[2] >> 16) & UINT16_MAX,
                         .mode = (uint8_t)((word[2] >> 43) & 3),
                         .region = (uint8_t)(word[2] >> 32),
                         .buffer = (uint8_t)((word[2] >> 45) & 3),
                         .two = two};
    return word[2] >> 47 == 0 && ww_dma_check(d) == NULL;
}

uint32_t ww_dma_rows(const struct ww_dma *d) {
    return d->mode == WW_DMA_HALO ? d->rows + 2 * d->halo_rows : d->rows;
}

/* Sides of the data's border that a region touches. */
enum { TOP = 1, RIGHT = 2, BOTTOM = 4, LEFT = 8 };
static const uint8_t sides[10] = {
    0, TOP | LEFT, TOP, TOP | RIGHT, RIGHT, BOTTOM | RIGHT, BOTTOM, BOTTOM | LEFT, LEFT, 0};

struct ww_dma_row ww_dma_row(const struct ww_dma *d, uint32_t row) {
    struct ww_dma_row r = {.global = d->global + (uint64_t)row * d->stride * d->size,
                           .first = row * d->columns,
                           .count = d->columns};
    if (d->mode != WW_DMA_HALO) return r;
    uint32_t side = sides[d->region], h = d->halo_columns, all = d->columns + 2 * h;
    r.first = row * all;
    if ((row < d->halo_rows && (side & TOP)) || (row >= d->halo_rows + d->rows && (side & BOTTOM))) {
        r.left = all;
        r.count = 0;
        return r;
    }
    r.left = side & LEFT ? h : 0;
    r.right = side & RIGHT ? h : 0;
    r.count = all - r.left - r.right;
    r.global = d->global - (uint64_t)d->halo_rows * d->stride * d->size + (uint64_t)row * d->stride * d->size -
               (uint64_t)(h - r.left) * d->size;
    return r;
}

uint32_t ww_dma_bytes(const struct ww_dma *d) {
    struct ww_dma_row last = ww_dma_row(d, ww_dma_rows(d) - 1);
    return ww_dma_place(d, last.first + last.left + last.count + last.right - 1) + d->size - d->shared;
}
