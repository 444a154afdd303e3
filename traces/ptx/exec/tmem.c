/* tmem.c: matrix instructions whose sums lie in tensor memory. */
#include "tmem.h"
#include "../front/ir.h"
#include "../front/mma.h"
#include "exec.h"
#include <math.h>
#include <string.h>

/* ---- descriptors ---- */

static uint32_t field(uint32_t v, unsigned at, unsigned bits) {
    return v >> at & ((1u << bits) - 1);
}

/* Type of A or B: its number by kind. */
static bool type_of(uint8_t kind, uint32_t number, uint8_t *out) {
    static const struct {
        uint8_t kind, number, type;
    } all[] = {{PTX_T_F16, 0, GMMA_F16},   {PTX_T_F16, 1, GMMA_BF16},       {PTX_T_TF32, 2, GMMA_TF32},
               {PTX_T_E4M3, 0, GMMA_E4M3}, {PTX_T_E4M3, 1, GMMA_E5M2},      {PTX_T_S8, 0, GMMA_U8},
               {PTX_T_S8, 1, GMMA_S8},     {PTX_T_E4M3, 3, GMMA_E2M3},      {PTX_T_E4M3, 4, GMMA_E3M2},
               {PTX_T_E4M3, 5, GMMA_E2M1}, {PTX_T_MXF4, 1, GMMA_E2M1_DENSE}};
    if (kind == PTX_T_MXF8F6F4) kind = PTX_T_E4M3;
    if (kind == PTX_T_MXF4NVF4) kind = PTX_T_MXF4;
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        if (all[n].kind == kind && all[n].number == number) {
            *out = all[n].type;
            return true;
        }
    return false;
}

static const char *check_sums(const struct gmma *g, uint8_t kind, uint32_t sum) {
    bool good = sum <= 2 && (kind == PTX_T_S8) == (sum == 2) && (kind != PTX_T_TF32 || sum == 1) &&
                (g->type_a != GMMA_BF16 || sum == 1);
    if (!good) return "the sums have a type that this kind does not";
    if (kind == PTX_T_S8 && (g->neg_a || g->neg_b)) return "integers have no sign to change";
    return NULL;
}

/* How many factors a row has, and which bytes they are. */
static const char *describe_scales(uint32_t d, uint8_t kind, uint8_t scales, struct tmem_mma *out) {
    bool four_bits = kind != PTX_T_MXF8F6F4;
    uint8_t by_default = kind == PTX_T_MXF8F6F4 ? 1 : kind == PTX_T_MXF4 ? 2 : 0;
    out->scales = scales == PTX_SCALE_1X        ? 1
                  : scales == PTX_SCALE_2X      ? 2
                  : scales == PTX_SCALE_4X      ? 4
                  : scales == PTX_SCALE_BLOCK16 ? 4
                  : scales == PTX_SCALE_BLOCK32 ? (four_bits ? 2 : 1)
                                                : by_default;
    bool good = kind == PTX_T_MXF4NVF4 ? out->scales == 2 || out->scales == 4 : out->scales == by_default;
    if (!good) return "this kind does not have so many scale factors";
    out->scale_b = (uint8_t)field(d, 4, 2);
    out->scale_a = (uint8_t)field(d, 29, 2);
    out->powers = field(d, 23, 1);
    out->g.block = (four_bits ? 64u : 32u) / out->scales;
    if (!out->powers && out->scales != 4) return "scale factors of ue4m3 are for 16 elements each";
    if (out->scale_a % out->scales || out->scale_b % out->scales)
        return "scale factors go over the end of a word";
    if (field(d, 31, 1)) return "this k is not supported";
    return NULL;
}

static const char *check_shape(const struct tmem_mma *m) {
    uint32_t step = m->scales ? 8 * m->ctas : m->rows == 64 && m->ctas == 1 ? 8 : 16;
    if (m->rows != 64 && m->rows != 128)
        return m->ctas == 1 ? "a CTA's matrix has 64 or 128 rows" : "a pair's matrix has 128 or 256 rows";
    if (m->scales && m->rows != 128) return "with scale factors a CTA's matrix has 128 rows";
    if (m->n < step || m->n > GMMA_COLS || m->n % step) return "this number of columns is not supported";
    return NULL;
}

const char *ww_tmem_describe(uint32_t d, uint8_t kind, uint8_t scales, uint32_t ctas, struct tmem_mma *out) {
    static const uint8_t sums[] = {GMMA_SUM_F16, GMMA_SUM_F32, GMMA_SUM_S32};
    struct gmma *g = &out->g;
    bool scaled = kind >= PTX_T_MXF8F6F4;
    uint32_t sum = scaled ? 1 : field(d, 4, 2);
    const char *why = NULL;
    memset(out, 0, sizeof *out);
    out->ctas = ctas;
    out->rows = 16 * field(d, 24, 5) / ctas;
    out->n = 8 * field(d, 17, 6);
    g->n = (uint16_t)(out->n / ctas);
    g->saturate = !scaled && field(d, 3, 1);
    g->neg_a = field(d, 13, 1);
    g->neg_b = field(d, 14, 1);
    g->trans_a = field(d, 15, 1);
    g->trans_b = field(d, 16, 1);
    if (field(d, 2, 1)) return "sparse matrices are not supported";
    if (!type_of(kind, field(d, 7, 3), &g->type_a) || !type_of(kind, field(d, 10, 3), &g->type_b))
        return "a type of A or B is not supported";
    if (scaled) why = describe_scales(d, kind, scales, out);
    if (!why) why = check_sums(g, kind, sum);
    if (!why) why = check_shape(out);
    if (!why && (g->trans_a || g->trans_b) && kind != PTX_T_F16) why = "only 16-bit types are transposed here";
    if (!why) g->sum = sums[sum];
    return why;
}

bool ww_tmem_operand(uint64_t d, uint64_t *out) {
    static const uint8_t swizzle[] = {0, 255, 1, 255, 2, 255, 3, 255};
    uint8_t s = swizzle[d >> 61];
    *out = (d & 0x3fffffffffffffffu & ~((uint64_t)1 << 61)) | (uint64_t)s << 62;
    return s != 255;
}

/* ---- sums, a slab of 16 rows at a time ---- */

/* Of the CTA's rows, of half h of the columns. */
static uint32_t lane_of(const struct tmem_mma *m, uint32_t row, uint32_t h) {
    if (m->rows == 128) return row;
    return m->ctas == 2 ? row + 64 * h : row % 16 + 32 * (row / 16);
}

static uint32_t column_of(const struct tmem_mma *m, uint32_t h) {
    return (m->to & 0xffff) + (m->rows == 128 ? h * m->g.n : 0);
}

static uint32_t shrunk(const struct tmem_mma *m, uint32_t word) {
    float f;
    if (!m->shrink) return word;
    if (m->g.sum == GMMA_SUM_F16)
        return ww_ex_double_to_f16(ldexp(ww_ex_f16_to_double((uint16_t)word), -m->shrink), PTX_R_RN, false);
    memcpy(&f, &word, 4);
    f = ldexpf(f, -m->shrink);
    memcpy(&word, &f, 4);
    return word;
}

/* Where the sum of a row and column is among the registers of a warp of wgmma. */
static uint32_t *place(const struct tmem_mma *m, uint32_t sums[GMMA_SUMS][32], uint32_t row, uint32_t col) {
    uint32_t l = row % 8 * 4 + col % 8 / 2, j = col / 8, h = row / 8;
    return &sums[m->g.sum == GMMA_SUM_F16 ? 2 * j + h : 4 * j + 2 * h + col % 2][l];
}

static void load_slab(const struct tmem_mma *m, const uint32_t *memory, uint32_t slab, uint32_t h,
                      uint32_t sums[GMMA_SUMS][32]) {
    for (uint32_t row = 0; row < GMMA_ROWS; row++)
        for (uint32_t col = 0; col < m->g.n; col++) {
            uint32_t *reg = place(m, sums, row, col), e = col % 2;
            uint32_t word =
                shrunk(m, memory[lane_of(m, 16 * slab + row, h) * TMEM_COLUMNS + column_of(m, h) + col]);
            if (m->g.sum == GMMA_SUM_F16)
                *reg = (*reg & 0xffffu << 16 * (1 - e)) | (word & 0xffff) << 16 * e;
            else
                *reg = word;
        }
}

static void store_slab(const struct tmem_mma *m, uint32_t *memory, const uint32_t *off, uint32_t slab,
                       uint32_t h, uint32_t sums[GMMA_SUMS][32]) {
    for (uint32_t row = 0; row < GMMA_ROWS; row++) {
        uint32_t lane = lane_of(m, 16 * slab + row, h);
        if (off[lane / 32] >> lane % 32 & 1u) continue;
        for (uint32_t col = 0; col < m->g.n; col++) {
            uint32_t v = *place(m, sums, row, col);
            if (m->g.sum == GMMA_SUM_F16) v = v >> 16 * (col % 2) & 0xffff;
            memory[lane * TMEM_COLUMNS + column_of(m, h) + col] = v;
        }
    }
}

/* A from tensor memory: 32 bytes of a row are eight columns of its lane. */
static void take_rows(const struct tmem_mma *m, const uint32_t *memory, uint32_t slab, uint32_t a[4][32]) {
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t row = l / 4 + 8 * (r & 1), column = l % 4 + 4 * (r >> 1);
            a[r][l] = memory[lane_of(m, 16 * slab + row, 0) * TMEM_COLUMNS + (m->a_at & 0xffff) + column];
        }
}

/* ---- scale factors ---- */

static double factor(const struct tmem_mma *m, const uint32_t *memory, uint32_t at, uint32_t row,
                     uint32_t byte) {
    uint32_t v = memory[row % 32 * TMEM_COLUMNS + at + row / 32] >> 8 * byte & 255;
    if (!m->powers) return ww_ex_f8_to_double(v & 127, false);
    return v == 255 ? (double)NAN : ldexp(1, (int)v - 127);
}

struct scales {
    double a[4][GMMA_ROWS], b[4][GMMA_COLS];
};

static void take_scales_a(const struct tmem_mma *m, const uint32_t *memory, uint32_t slab, struct scales *s) {
    for (uint32_t j = 0; j < m->scales; j++)
        for (uint32_t row = 0; row < GMMA_ROWS; row++)
            s->a[j][row] = factor(m, memory, m->scale_a_at, 16 * slab + row, m->scale_a + j);
}

static void take_scales_b(const struct tmem_mma *m, const uint32_t *memory, uint32_t h, struct scales *s) {
    for (uint32_t j = 0; j < m->scales; j++)
        for (uint32_t col = 0; col < m->g.n; col++)
            s->b[j][col] = factor(m, memory, m->scale_b_at, h * m->g.n + col, m->scale_b + j);
}

/* ---- products ---- */

static const char *check_places(const struct tmem_mma *m) {
    uint32_t columns = m->rows == 128 || m->ctas == 1 ? m->n : m->g.n;
    if (m->to >> 16 || m->to + columns > TMEM_COLUMNS) return "its sums do not fit into tensor memory";
    if (m->g.in_registers && (m->a_at >> 16 || m->a_at + 8 > TMEM_COLUMNS))
        return "its A does not lie in tensor memory";
    if (m->g.in_registers && m->ctas == 2 && m->rows == 64)
        return "A of a pair's 128 rows lies in shared memory here";
    if (m->g.in_registers && m->g.type_a >= GMMA_E2M3 && m->g.type_a <= GMMA_E2M1)
        return "A of 4 or 6 bits lies in shared memory here";
    if (!m->scales) return NULL;
    bool good = m->scale_a_at + tmem_scale_columns(m->rows) <= TMEM_COLUMNS &&
                m->scale_b_at + tmem_scale_columns(m->n) <= TMEM_COLUMNS;
    return good ? NULL : "its scale factors do not lie in tensor memory";
}

/* Half h of the columns, of the CTA's rows. */
static bool multiply_half(const struct tmem_mma *m, const struct tmem_cta *cta, const uint32_t *off, uint32_t h,
                          const struct gmma *of, gmma_read read, void *context) {
    static _Thread_local uint32_t sums[8][GMMA_SUMS][32];
    static _Thread_local struct scales scales;
    struct gmma g = *of;
    uint32_t a[4][32];
    if (m->scales) {
        take_scales_b(m, cta->memory, h, &scales);
        g.scale_a = (const double(*)[GMMA_ROWS])scales.a;
        g.scale_b = (const double(*)[GMMA_COLS])scales.b;
    }
    for (uint32_t slab = 0; slab < m->rows / 16; slab++) {
        g.warp = slab;
        if (m->scales) take_scales_a(m, cta->memory, slab, &scales);
        if (g.keeps) load_slab(m, cta->memory, slab, h, sums[slab]);
        if (g.in_registers) take_rows(m, cta->memory, slab, a);
        if (!ww_gmma(&g, read, context, a, sums[slab])) return false;
    }
    for (uint32_t slab = 0; slab < m->rows / 16; slab++) store_slab(m, cta->memory, off, slab, h, sums[slab]);
    return true;
}

const char *ww_tmem_multiply(const struct tmem_mma *m, const struct tmem_cta cta[], gmma_read read,
                             void *context) {
    const char *why = check_places(m);
    for (uint32_t p = 0; !why && p < m->ctas; p++)
        for (uint32_t h = 0; !why && h < m->ctas; h++) {
            struct gmma g = m->g;
            g.from_a = cta[p].from;
            g.from_b = cta[h].from;
            if (!multiply_half(m, &cta[p], m->off + 4 * p, h, &g, read, context)) why = "";
        }
    return why;
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

const char *ww_tmem_copy(uint8_t shape, uint64_t descriptor, const struct tmem_cta *cta, uint32_t to,
                         gmma_read read, void *context) {
    const struct copy *c = &copies[shape - PTX_SHAPE_128X256B];
    static _Thread_local unsigned char rows[TMEM_LANES][GMMA_DEEP_BYTES];
    uint32_t column = to & 0xffff, last = (c->rows - 1u) % c->per + (c->rows - 1u) / c->per * c->step;
    if ((to >> 16) + last + (c->copies - 1u) * c->apart >= TMEM_LANES || column + c->columns > TMEM_COLUMNS ||
        column % 4)
        return "its rows do not lie in tensor memory";
    if (!ww_gmma_rows(descriptor, cta->from, c->rows, 4u * c->columns, read, context, rows)) return "";
    for (uint32_t r = 0; r < c->rows; r++)
        for (uint32_t n = 0; n < c->copies; n++) {
            uint32_t lane = (to >> 16) + r % c->per + r / c->per * c->step + n * c->apart;
            memcpy(&cta->memory[lane * TMEM_COLUMNS + column], rows[r], 4u * c->columns);
        }
    return NULL;
}
