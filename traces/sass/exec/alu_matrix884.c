/* alu_matrix884.c: HMMA.884, Volta's: four products of 8 x 4 by 4 x 8 in a warp, each by eight lanes.
 *
 * Lanes q, q + 1, q + 2, q + 3 and 16 above them (q: 0, 4, 8, 12) share a product. Their registers hold what
 * the PTX ISA gives for mma.m8n8k4. An instruction with a step computes a part of the columns: of a single
 * precision D two elements of each lane (four steps), of a half precision D four (two steps). */
#include "alu_matrix.h"

/* Lane number n (0 to 7) of product `part`. */
static uint32_t lane_of(uint32_t part, uint32_t n) {
    return 4 * part + (n & 3u) + (n & 4u ? 16 : 0);
}

static double element(const uint32_t *rows, uint32_t lane, uint32_t n) {
    return (double)alu_from_f16(rows[n / 2 * SX_LANES + lane] >> 16 * (n % 2) & 0xffffu);
}

/* A[row][k] and B[k][col]: by the row (column) of its lane, or spread over four lanes. */
static double a_element(const uint32_t *a, uint32_t part, uint32_t row, uint32_t k, bool column) {
    if (!column) return element(a, lane_of(part, row), k);
    return element(a, lane_of(part, (row & 4u) | k), row & 3u);
}
static double b_element(const uint32_t *b, uint32_t part, uint32_t k, uint32_t col, bool row_major) {
    if (!row_major) return element(b, lane_of(part, col), k);
    return element(b, lane_of(part, (col & 4u) | k), col & 3u);
}

/* Row and column of element e (0, 1) of a lane's pair in single precision. */
static void place32(uint32_t n, uint32_t step, uint32_t e, uint32_t *row, uint32_t *col) {
    uint32_t at = 2 * step + e;
    *row = (n & 1u) + (at & 2u) + (n & 4u);
    *col = (at & 4u) + (n & 2u) + (at & 1u);
}

struct product {
    double a[8][4], b[4][8];
};

static void gather(struct sx_warp *w, const struct sx_inst *i, uint32_t part, struct product *p) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    for (uint32_t row = 0; row < 8; row++)
        for (uint32_t k = 0; k < 4; k++) {
            p->a[row][k] = a_element(a, part, row, k, (i->mods & 1u) != 0);
            p->b[k][row] = b_element(b, part, k, row, (i->mods & 2u) != 0);
        }
}

static double dot(const struct product *p, uint32_t row, uint32_t col, double sum) {
    for (uint32_t k = 0; k < 4; k++) sum += p->a[row][k] * p->b[k][col];
    return sum;
}

/* C[row][col] in half precision: by the row of its lane; a pair of registers holds four columns. */
static double c16(const uint32_t *c, uint32_t part, uint32_t row, uint32_t col) {
    return element(c, lane_of(part, row), col & 3u);
}

static void single(const struct sx_inst *i, const struct product *p, uint32_t part, const uint32_t *c,
                   uint32_t *d) {
    for (uint32_t n = 0; n < 8; n++)
        for (uint32_t e = 0; e < 2; e++) {
            uint32_t row, col, l = lane_of(part, n);
            place32(n, (uint32_t)i->imm, e, &row, &col);
            double sum = i->cmp == SASS_T_F16 ? c16(c, part, row, col) : (double)ex_f32(c[e * SX_LANES + l]);
            d[e * SX_LANES + l] = ex_result((float)dot(p, row, col, sum), false, false);
        }
}

static void half(const struct sx_inst *i, const struct product *p, uint32_t part, const uint32_t *c,
                 uint32_t *d) {
    for (uint32_t row = 0; row < 8; row++)
        for (uint32_t e = 0; e < 4; e += 2) {
            uint32_t l = lane_of(part, row), col = 4 * (uint32_t)i->imm + e;
            uint16_t low = ww_ex_double_to_f16(dot(p, row, col, c16(c, part, row, e)), PTX_R_RN, false);
            uint16_t high =
                ww_ex_double_to_f16(dot(p, row, col + 1, c16(c, part, row, e + 1)), PTX_R_RN, false);
            d[e / 2 * SX_LANES + l] = low | (uint32_t)high << 16;
        }
}

void ww_sx_mat_884(SX_ARGS) {
    uint32_t result[2 * SX_LANES];
    if (mask != SX_ALL) {
        ww_sx_fail(w, SX_LANES, WW_EXEC, "a matrix instruction needs all 32 lanes, active are 0x%08x", mask);
        return;
    }
    for (uint32_t part = 0; part < 4; part++) {
        struct product p;
        gather(w, i, part, &p);
        if (i->type3 == SASS_T_F16)
            half(i, &p, part, sx_src(w, i->c), result);
        else
            single(i, &p, part, sx_src(w, i->c), result);
    }
    memcpy(sx_dst(w, i->d), result, sizeof result);
}
