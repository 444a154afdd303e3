/* tmem.c: matrix instructions whose sums lie in tensor memory. */
#include "tmem.h"
#include "../front/ir.h"
#include "../front/mma.h"
#include <string.h>

/* ---- descriptors ---- */

static uint32_t field(uint32_t v, unsigned at, unsigned bits) {
    return v >> at & ((1u << bits) - 1);
}

/* Type of A or B: its number by kind. */
static bool type_of(uint8_t kind, uint32_t number, uint8_t *out) {
    static const struct {
        uint8_t kind, number, type;
    } all[] = {{PTX_T_F16, 0, GMMA_F16},   {PTX_T_F16, 1, GMMA_BF16},  {PTX_T_TF32, 2, GMMA_TF32},
               {PTX_T_E4M3, 0, GMMA_E4M3}, {PTX_T_E4M3, 1, GMMA_E5M2}, {PTX_T_S8, 0, GMMA_U8},
               {PTX_T_S8, 1, GMMA_S8}};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        if (all[n].kind == kind && all[n].number == number) {
            *out = all[n].type;
            return true;
        }
    return false;
}

const char *ww_tmem_describe(uint32_t d, uint8_t kind, struct tmem_mma *out) {
    static const uint8_t sums[] = {GMMA_SUM_F16, GMMA_SUM_F32, GMMA_SUM_S32};
    struct gmma *g = &out->g;
    uint32_t sum = field(d, 4, 2);
    memset(out, 0, sizeof *out);
    out->rows = 16 * field(d, 24, 5);
    g->n = (uint16_t)(8 * field(d, 17, 6));
    g->saturate = field(d, 3, 1);
    g->neg_a = field(d, 13, 1);
    g->neg_b = field(d, 14, 1);
    g->trans_a = field(d, 15, 1);
    g->trans_b = field(d, 16, 1);
    if (field(d, 2, 1)) return "sparse matrices are not supported";
    if (!type_of(kind, field(d, 7, 3), &g->type_a) || !type_of(kind, field(d, 10, 3), &g->type_b))
        return "a type of A or B is not supported";
    if (sum > 2 || (kind == PTX_T_S8) != (sum == 2) || (kind == PTX_T_TF32 && sum != 1) ||
        (g->type_a == GMMA_BF16 && sum != 1))
        return "the sums have a type that this kind does not";
    g->sum = sums[sum];
    if (out->rows != 64 && out->rows != 128) return "a CTA's matrix has 64 or 128 rows";
    uint32_t step = out->rows == 64 ? 8 : 16;
    if (g->n < step || g->n > GMMA_COLS || g->n % step) return "this number of columns is not supported";
    if ((g->trans_a || g->trans_b) && kind != PTX_T_F16) return "only 16-bit types are transposed here";
    if (kind == PTX_T_S8 && (g->neg_a || g->neg_b)) return "integers have no sign to change";
    return NULL;
}

bool ww_tmem_operand(uint64_t d, uint64_t *out) {
    static const uint8_t swizzle[] = {0, 255, 1, 255, 2, 255, 3, 255};
    uint8_t s = swizzle[d >> 61];
    *out = (d & 0x3fffffffffffffffu & ~((uint64_t)1 << 61)) | (uint64_t)s << 62;
    return s != 255;
}

/* ---- sums, a slab of 16 rows at a time ---- */

static uint32_t lane_of(const struct tmem_mma *m, uint32_t row) {
    return m->rows == 64 ? row % 16 + 32 * (row / 16) : row;
}

/* Moves the sums of a slab between tensor memory and registers as a warp of wgmma has them. */
static void move_slab(const struct tmem_mma *m, uint32_t *memory, uint32_t to, uint32_t slab, bool load,
                      uint32_t sums[GMMA_SUMS][32]) {
    bool half = m->g.sum == GMMA_SUM_F16;
    for (uint32_t row = 0; row < GMMA_ROWS; row++)
        for (uint32_t col = 0; col < m->g.n; col++) {
            uint32_t lane = lane_of(m, 16 * slab + row) + (to >> 16), l = row % 8 * 4 + col % 8 / 2;
            uint32_t j = col / 8, h = row / 8, e = col % 2;
            uint32_t *word = &memory[lane * TMEM_COLUMNS + (to & 0xffff) + col];
            uint32_t *reg = &sums[half ? 2 * j + h : 4 * j + 2 * h + e][l];
            if (!load)
                *word = half ? *reg >> 16 * e & 0xffff : *reg;
            else if (!half)
                *reg = *word;
            else
                *reg = (*reg & 0xffffu << 16 * (1 - e)) | (*word & 0xffff) << 16 * e;
        }
}

/* A from tensor memory: 32 bytes of a row are eight columns of its lane. */
static void take_rows(const struct tmem_mma *m, const uint32_t *memory, uint32_t from, uint32_t slab,
                      uint32_t a[4][32]) {
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t row = l / 4 + 8 * (r & 1), column = l % 4 + 4 * (r >> 1);
            a[r][l] =
                memory[(lane_of(m, 16 * slab + row) + (from >> 16)) * TMEM_COLUMNS + (from & 0xffff) + column];
        }
}

const char *ww_tmem_multiply(const struct tmem_mma *m, uint32_t *memory, uint32_t to, uint32_t a_at,
                             gmma_read read, void *context) {
    static _Thread_local uint32_t sums[8][GMMA_SUMS][32];
    struct gmma g = m->g;
    uint32_t a[4][32];
    if (to >> 16 || (to & 0xffff) + g.n > TMEM_COLUMNS) return "its sums do not fit into tensor memory";
    if (g.in_registers && (a_at >> 16 || (a_at & 0xffff) + 8 > TMEM_COLUMNS))
        return "its A does not lie in tensor memory";
    for (uint32_t slab = 0; slab < m->rows / 16; slab++) {
        g.warp = slab;
        if (g.keeps) move_slab(m, memory, to, slab, true, sums[slab]);
        if (g.in_registers) take_rows(m, memory, a_at, slab, a);
        if (!ww_gmma(&g, read, context, a, sums[slab])) return "";
    }
    for (uint32_t slab = 0; slab < m->rows / 16; slab++) move_slab(m, memory, to, slab, false, sums[slab]);
    return NULL;
}

/* ---- copies ---- */

/* Rows of each shape, how many lanes have a row, how far apart these are, and how far apart rows of one warp's
 * are from those of the next. */
static const struct copy {
    uint8_t rows, columns, copies, apart, per, step;
} copies[] = {{128, 8, 1, 0, 128, 0}, {4, 8, 1, 0, 1, 32},    {128, 4, 1, 0, 128, 0},
              {64, 4, 2, 64, 64, 0},  {64, 4, 2, 32, 32, 64}, {32, 4, 4, 32, 32, 0}};

uint32_t ww_tmem_copy_columns(uint8_t shape) {
    return copies[shape - PTX_SHAPE_128X256B].columns;
}

const char *ww_tmem_copy(uint8_t shape, uint64_t descriptor, uint32_t *memory, uint32_t to, gmma_read read,
                         void *context) {
    const struct copy *c = &copies[shape - PTX_SHAPE_128X256B];
    static _Thread_local unsigned char rows[TMEM_LANES][GMMA_DEEP_BYTES];
    uint32_t column = to & 0xffff, last = (c->rows - 1u) % c->per + (c->rows - 1u) / c->per * c->step;
    if ((to >> 16) + last + (c->copies - 1u) * c->apart >= TMEM_LANES || column + c->columns > TMEM_COLUMNS ||
        column % 4)
        return "its rows do not lie in tensor memory";
    if (!ww_gmma_rows(descriptor, c->rows, 4u * c->columns, read, context, rows)) return "";
    for (uint32_t r = 0; r < c->rows; r++)
        for (uint32_t n = 0; n < c->copies; n++) {
            uint32_t lane = (to >> 16) + r % c->per + r / c->per * c->step + n * c->apart;
            memcpy(&memory[lane * TMEM_COLUMNS + column], rows[r], 4u * c->columns);
        }
    return NULL;
}
