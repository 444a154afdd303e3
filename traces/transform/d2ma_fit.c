/* d2ma_fit.c: the transfers that fill shared memory as copies did. */
#include "d2ma.h"

/* ---- one tile with constants around it ---- */

struct frame {
    uint32_t rows, columns, top, bottom, left, right; /* all; of constants */
};

static bool row_is_constant(const uint64_t *from, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (from[k] != WW_D2_CONSTANT) return false;
    return true;
}

/* Constants must be whole rows and columns, all else rows a fixed distance apart. */
static bool is_frame(const uint64_t *from, struct frame *f, uint64_t *stride) {
    uint32_t rows = f->rows, columns = f->columns;
    while (f->top < rows && row_is_constant(from + (size_t)f->top * columns, columns)) f->top++;
    if (f->top == rows) return false;
    while (row_is_constant(from + (size_t)(rows - 1 - f->bottom) * columns, columns)) f->bottom++;
    const uint64_t *first = from + (size_t)f->top * columns;
    while (first[f->left] == WW_D2_CONSTANT) f->left++;
    while (first[columns - 1 - f->right] == WW_D2_CONSTANT) f->right++;
    uint64_t base = first[f->left];
    *stride = f->top + f->bottom + 1 < rows ? first[columns + f->left] - base : 4u * (uint64_t)columns;
    for (uint32_t r = f->top; r < rows - f->bottom; r++)
        for (uint32_t c = 0; c < columns; c++) {
            bool constant = c < f->left || c >= columns - f->right;
            uint64_t want = base + (r - f->top) * *stride + 4u * (uint64_t)(c - f->left);
            if (from[(size_t)r * columns + c] != (constant ? WW_D2_CONSTANT : want)) return false;
        }
    return f->left + f->right + 1 < columns && *stride % 4 == 0;
}

static uint32_t most(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* The region of a tile whose sides in these directions are constant; 0: there is none. */
static uint8_t region_of(const struct frame *f) {
    static const uint8_t region[3][3] = {{1, 2, 3}, {8, 9, 4}, {7, 6, 5}};
    if ((f->top && f->bottom) || (f->left && f->right)) return 0;
    return region[f->top ? 0 : f->bottom ? 2 : 1][f->left ? 0 : f->right ? 2 : 1];
}

static const char *fit_frame(const uint64_t *from, uint32_t shared, uint32_t n, uint32_t *halo_rows,
                             uint32_t *halo_columns, struct ww_dma *d) {
    uint64_t stride = 0;
    struct frame f = {.columns = 2};
    for (; f.columns < n; f.columns++) {
        f = (struct frame){.rows = n / f.columns, .columns = f.columns};
        if (n % f.columns == 0 && is_frame(from, &f, &stride)) break;
    }
    if (f.columns >= n) return "constants among what is copied are not a halo";
    uint32_t rows = *halo_rows = most(*halo_rows, most(f.top, f.bottom));
    uint32_t columns = *halo_columns = most(*halo_columns, most(f.left, f.right));
    uint8_t region = region_of(&f);
    bool even = (!f.top || f.top == rows) && (!f.bottom || f.bottom == rows) &&
                (!f.left || f.left == columns) && (!f.right || f.right == columns);
    if (!region || !even || f.rows <= 2 * rows || f.columns <= 2 * columns)
        return "the halo's constants lie on no side that a region names";
    uint64_t inner =
        from[(size_t)f.top * f.columns + f.left] + (rows - f.top) * stride + 4u * (columns - f.left);
    *d = (struct ww_dma){.global = inner,
                         .shared = 4 * shared,
                         .rows = f.rows - 2 * rows,
                         .columns = f.columns - 2 * columns,
                         .stride = (uint32_t)(stride / 4),
                         .size = 4,
                         .halo_rows = rows,
                         .halo_columns = columns,
                         .mode = WW_DMA_HALO,
                         .region = region,
                         .two = true};
    return ww_dma_check(d);
}

/* ---- tiles without ---- */

/* Words from k on whose addresses go up by `step`, side by side in shared memory. */
static uint32_t run(const struct ww_d2_words *w, uint32_t k, uint64_t step) {
    uint32_t n = 1;
    while (k + n < w->count && w->from[k + n] > WW_D2_CONSTANT && w->from[k + n] - w->from[k + n - 1] == step)
        n++;
    return n;
}

/* Rows of a tile whose first has `columns` words at k; a row begins `pitch` words behind the last. */
static uint32_t rows_of(const struct ww_d2_words *w, uint32_t k, uint32_t columns, uint32_t pitch,
                        uint64_t *stride) {
    uint32_t rows = 1;
    for (uint32_t at = k + pitch; at + columns <= w->count && w->from[at] > WW_D2_CONSTANT;
         at += pitch, rows++) {
        uint64_t step = w->from[at] - w->from[at - pitch];
        if (run(w, at, 4) < columns || (rows > 1 && step != *stride) || step % 4 || step / 4 > UINT16_MAX)
            break;
        if (pitch > columns && w->from[at - 1] != WW_D2_NONE) break;
        *stride = step;
    }
    return rows;
}

/* One tile from word k on; returns how many words it spans. */
static uint32_t fit_tile(const struct ww_d2_words *w, uint32_t k, struct ww_dma *d) {
    uint32_t columns = run(w, k, 4);
    uint64_t stride = 0,
             step = k + 1 < w->count && w->from[k + 1] > WW_D2_CONSTANT ? w->from[k + 1] - w->from[k] : 0;
    *d = (struct ww_dma){
        .global = w->from[k], .shared = 4 * k, .rows = 1, .columns = columns, .stride = 1, .size = 4};
    if (columns == 1 && step && step % 4 == 0 && step / 4 <= UINT16_MAX) {
        d->columns = run(w, k, step);
        d->stride = (uint32_t)(step / 4);
        return d->columns;
    }
    for (uint32_t gap = 0; gap < 2; gap++) {
        uint32_t pitch = columns + gap, rows = rows_of(w, k, columns, pitch, &stride);
        if (rows < 2 || columns > 256 || rows > 256) continue;
        d->rows = rows;
        d->two = true;
        d->stride = (uint32_t)(stride / 4);
        d->mode = gap ? WW_DMA_SPREAD : WW_DMA_PLAIN;
        d->halo_rows = gap ? columns : 0;
        return rows * pitch - gap;
    }
    return columns;
}

const char *ww_d2_fit(const struct ww_d2_words *w, uint32_t *halo_rows, uint32_t *halo_columns,
                      struct ww_dma tile[WW_DMA_BUFFERS], uint32_t *tiles) {
    uint32_t first = 0, last = w->count;
    bool constants = false, dense = true;
    *tiles = 0;
    while (first < last && w->from[first] == WW_D2_NONE) first++;
    while (last > first && w->from[last - 1] == WW_D2_NONE) last--;
    for (uint32_t k = first; k < last; k++) {
        constants = constants || w->from[k] == WW_D2_CONSTANT;
        dense = dense && w->from[k] != WW_D2_NONE;
    }
    if (constants || (*halo_rows + *halo_columns && first < last)) {
        *tiles = 1;
        return dense ? fit_frame(w->from + first, first, last - first, halo_rows, halo_columns, &tile[0])
                     : "constants among what is copied are not a halo";
    }
    for (uint32_t k = first; k < last;) {
        if (*tiles == WW_DMA_BUFFERS) return "what is copied between two barriers is more than four tiles";
        struct ww_dma *d = &tile[*tiles];
        k += fit_tile(w, k, d);
        d->buffer = (uint8_t)(*tiles)++;
        const char *why = ww_dma_check(d);
        if (why) return why;
        while (k < last && w->from[k] == WW_D2_NONE) k++;
    }
    return NULL;
}
