/* alu_matrix.c: HMMA, IMMA, DMMA, BMMA, QMMA with the fragments of PTX's mma, and MOVM.
 *
 * Products are exact; sums are made in double precision (integers: exactly) in the order of k and rounded once
 * to the type of D. How a tensor core rounds its partial sums is not published. */
#include "alu_matrix.h"

uint32_t ww_sx_mat_bits(uint8_t type) {
    switch (type) {
    case SASS_T_B1:
        return 1;
    case SASS_T_U4:
    case SASS_T_S4:
        return 4;
    case SASS_T_U8:
    case SASS_T_S8:
    case SASS_T_E4M3:
    case SASS_T_E5M2:
        return 8;
    case SASS_T_F16:
    case SASS_T_BF16:
        return 16;
    case SASS_T_F64:
        return 64;
    default:
        return 32;
    }
}

/* Rows and k of enum ww_sass_shape. */
static const struct {
    uint8_t rows;
    uint16_t k;
} shapes[] = {
    [SASS_MMA_884] = {8, 4},       [SASS_MMA_1684] = {16, 4},     [SASS_MMA_1688] = {16, 8},
    [SASS_MMA_16816] = {16, 16},   [SASS_MMA_16832] = {16, 32},   [SASS_MMA_16864] = {16, 64},
    [SASS_MMA_8816] = {8, 16},     [SASS_MMA_8832] = {8, 32},     [SASS_MMA_88128] = {8, 128},
    [SASS_MMA_168128] = {16, 128}, [SASS_MMA_168256] = {16, 256},
};

struct mat ww_sx_mat_shape(const struct sx_inst *i) {
    uint32_t words = shapes[i->shape].k * ww_sx_mat_bits(i->type) / 32;
    return (struct mat){
        shapes[i->shape].rows, i->sub ? words / 2 : words, words, i->type, i->type2, i->cmp, i->type3};
}

void ww_sx_mat_words(struct sx_warp *w, const struct sx_inst *i, const struct mat *m,
                     uint32_t a[MAT_ROWS][MAT_WORDS], uint32_t b[MAT_COLS][MAT_WORDS]) {
    const uint32_t *ra = sx_src(w, i->a), *rb = sx_src(w, i->b);
    uint32_t deep = m->rows == 16 ? 2 : 1;
    for (uint32_t r = 0; r < m->words_a * deep / 4; r++)
        for (uint32_t l = 0; l < SX_LANES; l++)
            a[l / 4 + (deep == 2 && r & 1u ? 8 : 0)][l % 4 + 4 * (r / deep)] = ra[r * SX_LANES + l];
    for (uint32_t r = 0; r < m->words_b / 4; r++)
        for (uint32_t l = 0; l < SX_LANES; l++) b[l / 4][l % 4 + 4 * r] = rb[r * SX_LANES + l];
}

double ww_sx_mat_number(uint8_t type, const uint32_t *words, uint32_t n) {
    uint32_t bits = ww_sx_mat_bits(type), at = n * bits, v = words[at / 32] >> at % 32;
    switch (type) {
    case SASS_T_F16:
        return (double)alu_from_f16(v & 0xffffu);
    case SASS_T_BF16:
        return (double)alu_from_bf16(v & 0xffffu);
    case SASS_T_TF32:
        return (double)ex_f32(v & 0xffffe000u);
    case SASS_T_E4M3:
    case SASS_T_E5M2:
        return ww_ex_f8_to_double((uint8_t)v, type == SASS_T_E5M2);
    case SASS_T_S8:
        return (int8_t)v;
    case SASS_T_U8:
        return (uint8_t)v;
    case SASS_T_S4:
        return (int)(v & 7u) - (int)(v & 8u);
    case SASS_T_U4:
        return v & 15u;
    default:
        return (double)ex_f32(v);
    }
}

/* ---- C and D: two numbers a register pair of a lane, rows 8 apart ---- */

static double load_c(const struct mat *m, const uint32_t *c, uint32_t l, uint32_t n) {
    if (m->type_c == SASS_T_F16) return (double)alu_from_f16(c[n / 2 * SX_LANES + l] >> 16 * (n % 2) & 0xffffu);
    uint32_t v = c[n * SX_LANES + l];
    return m->type_c == SASS_T_S32 ? (double)(int32_t)v : (double)ex_f32(v);
}

/* A double as a float with the last bit sticky. */
static float to_odd(double v) {
    float f = (float)v;
    uint32_t bits = ex_f32_bits(f);
    if ((double)f == v || v != v || bits & 1u || (bits & 0x7f800000u) == 0x7f800000u) return f;
    return ex_f32((fabs((double)f) < fabs(v)) ? bits + 1 : bits - 1);
}

static uint32_t store_d(const struct mat *m, double v, bool saturate) {
    if (m->type_d == SASS_T_F32) return ex_result((float)v, false, false);
    if (m->type_d == SASS_T_F16) return alu_to_f16(to_odd(v));
    if (saturate) v = v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
    return (uint32_t)(int64_t)v;
}

static void put(struct sx_warp *w, const struct sx_inst *i, const struct mat *m,
                double sum[MAT_ROWS][MAT_COLS]) {
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t l = 0; l < SX_LANES; l++)
        for (uint32_t n = 0; n < m->rows / 4; n += 2) {
            const double *pair = &sum[l / 4 + 4 * n][2 * (l % 4)];
            uint32_t low = store_d(m, pair[0], i->mods & 1u), high = store_d(m, pair[1], i->mods & 1u);
            if (m->type_d == SASS_T_F16) {
                d[n / 2 * SX_LANES + l] = low | high << 16;
            } else {
                d[n * SX_LANES + l] = low;
                d[(n + 1) * SX_LANES + l] = high;
            }
        }
}

static void get(struct sx_warp *w, const struct sx_inst *i, const struct mat *m,
                double sum[MAT_ROWS][MAT_COLS]) {
    const uint32_t *c = sx_src(w, i->c);
    for (uint32_t l = 0; l < SX_LANES; l++)
        for (uint32_t n = 0; n < m->rows / 4; n++)
            sum[l / 4 + 8 * (n / 2)][2 * (l % 4) + n % 2] = load_c(m, c, l, n);
}

static bool whole_warp(struct sx_warp *w, uint32_t mask) {
    if (mask == SX_ALL) return true;
    ww_sx_fail(w, SX_LANES, WW_EXEC, "a matrix instruction needs all 32 lanes, active are 0x%08x", mask);
    return false;
}

/* sum += A B, k after k. */
ALU_INLINE void accumulate(double sum[MAT_ROWS][MAT_COLS], double a[MAT_ROWS][MAT_K], double b[MAT_K][MAT_COLS],
                           uint32_t rows, uint32_t depth) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t k = 0; k < depth; k++)
            SX_VECTOR for (uint32_t col = 0; col < MAT_COLS; col++) sum[row][col] += a[row][k] * b[k][col];
}

ALU_INLINE void multiply(SX_ARGS) {
    uint32_t wa[MAT_ROWS][MAT_WORDS], wb[MAT_COLS][MAT_WORDS];
    double a[MAT_ROWS][MAT_K], b[MAT_K][MAT_COLS], sum[MAT_ROWS][MAT_COLS];
    struct mat m = ww_sx_mat_shape(i);
    if (!whole_warp(w, mask)) return;
    ww_sx_mat_words(w, i, &m, wa, wb);
    if (i->sub) ww_sx_mat_expand(w, i, &m, wa);
    uint32_t depth = m.words_b * 32 / ww_sx_mat_bits(m.type_b);
    get(w, i, &m, sum);
    for (uint32_t row = 0; row < m.rows; row++)
        for (uint32_t k = 0; k < depth; k++) a[row][k] = ww_sx_mat_number(m.type_a, wa[row], k);
    for (uint32_t col = 0; col < MAT_COLS; col++)
        for (uint32_t k = 0; k < depth; k++) b[k][col] = ww_sx_mat_number(m.type_b, wb[col], k);
    accumulate(sum, a, b, m.rows, depth);
    put(w, i, &m, sum);
}
ALU_PAIR(multiply)

/* Of bits: how many are set in the AND or the XOR of a row with a column. */
static void multiply_bits(SX_ARGS) {
    uint32_t a[MAT_ROWS][MAT_WORDS], b[MAT_COLS][MAT_WORDS];
    double sum[MAT_ROWS][MAT_COLS];
    struct mat m = ww_sx_mat_shape(i);
    if (!whole_warp(w, mask)) return;
    ww_sx_mat_words(w, i, &m, a, b);
    get(w, i, &m, sum);
    for (uint32_t row = 0; row < m.rows; row++)
        for (uint32_t col = 0; col < MAT_COLS; col++)
            for (uint32_t k = 0; k < m.words_b; k++) {
                uint32_t x = a[row][k], y = b[col][k];
                sum[row][col] += __builtin_popcount(i->boolop ? x & y : x ^ y);
            }
    put(w, i, &m, sum);
}

/* Of doubles: elements are register pairs, placed as words of 32 bits would be. */
static void multiply_doubles(SX_ARGS) {
    double a[MAT_ROWS][MAT_K], b[MAT_K][MAT_COLS], sum[MAT_ROWS][MAT_COLS];
    uint32_t rows = shapes[i->shape].rows, depth = shapes[i->shape].k, deep = rows / 8;
    const uint32_t *ra = sx_src(w, i->a), *rb = sx_src(w, i->b), *rc = sx_src(w, i->c);
    uint32_t *rd = sx_dst(w, i->d);
    if (!whole_warp(w, mask)) return;
    for (uint32_t l = 0; l < SX_LANES; l++) {
        for (uint32_t r = 0; r < depth / 4 * deep; r++)
            a[l / 4 + 8 * (r % deep)][l % 4 + 4 * (r / deep)] = ex_f64(sx_get64(ra + 2 * r * SX_LANES, l));
        for (uint32_t r = 0; r < depth / 4; r++)
            b[l % 4 + 4 * r][l / 4] = ex_f64(sx_get64(rb + 2 * r * SX_LANES, l));
        for (uint32_t n = 0; n < rows / 4; n++)
            sum[l / 4 + 8 * (n / 2)][2 * (l % 4) + n % 2] = ex_f64(sx_get64(rc + 2 * n * SX_LANES, l));
    }
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t k = 0; k < depth; k++)
            for (uint32_t col = 0; col < MAT_COLS; col++)
                sum[row][col] = __builtin_fma(a[row][k], b[k][col], sum[row][col]);
    for (uint32_t l = 0; l < SX_LANES; l++)
        for (uint32_t n = 0; n < rows / 4; n++)
            sx_set64(rd + 2 * n * SX_LANES, l, ex_f64_bits(sum[l / 4 + 8 * (n / 2)][2 * (l % 4) + n % 2]));
}

/* The transpose of a matrix of 8 x 8 halves: lane l holds elements 2 (l mod 4) and the next of row l / 4. */
static void transpose(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d), out[SX_LANES];
    if (!whole_warp(w, mask)) return;
    for (uint32_t l = 0; l < SX_LANES; l++) {
        uint32_t row = l / 4, col = 2 * (l % 4), shift = 16 * (row % 2);
        uint32_t low = a[col * 4 + row / 2] >> shift & 0xffffu,
                 high = a[(col + 1) * 4 + row / 2] >> shift & 0xffffu;
        out[l] = low | high << 16;
    }
    memcpy(d, out, sizeof out);
}

/* ---- building ---- */

static uint8_t type_or(uint8_t type, uint8_t other) {
    return type == SASS_T_NONE ? other : type;
}

/* Rows of C and D in registers. */
static uint32_t rows_of(uint32_t rows, uint8_t type) {
    return rows / 4 * ww_sx_mat_bits(type) / 32;
}

static bool known(const struct sx_inst *i) {
    uint32_t bits = ww_sx_mat_bits(i->type),
             words = i->shape < sizeof shapes / sizeof *shapes ? shapes[i->shape].k * bits / 32 : 0;
    bool same = ww_sx_mat_bits(i->type2) == bits;
    uint32_t per = i->type == SASS_T_F64 ? words / 2 : words;
    return same && per >= 4 && per <= MAT_WORDS && per % 4 == 0 &&
           shapes[i->shape].k <= (i->type == SASS_T_B1 ? 256 : MAT_K);
}

static sx_fn function(unsigned op) {
    return op == SASS_DMMA ? multiply_doubles : op == SASS_BMMA ? multiply_bits : ALU_FN(multiply);
}

static void set_types(const struct ww_sass_insn *in, struct sx_inst *i) {
    uint8_t ab = SASS_T_F16, cd = SASS_T_F32;
    if (in->op == SASS_IMMA || in->op == SASS_BMMA)
        cd = SASS_T_S32, ab = in->op == SASS_IMMA ? SASS_T_S8 : SASS_T_B1;
    if (in->op == SASS_DMMA) ab = cd = SASS_T_F64;
    i->type = type_or(in->mod[SASS_M_STYPE], ab);
    i->type2 = type_or(in->mod[SASS_M_BTYPE], i->type);
    i->type3 = type_or(in->mod[SASS_M_DTYPE], cd);
    i->cmp = type_or(in->mod[SASS_M_CTYPE], i->type3);
}

bool ww_sx_alu_matrix(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_MOVM:
        alu_operands(b, in, i, 1, 1, 1, 1);
        i->fn = transpose;
        return in->mod[SASS_M_TRANSPOSE] != 0;
    case SASS_HMMA:
    case SASS_IMMA:
    case SASS_DMMA:
    case SASS_BMMA:
    case SASS_QMMA:
        break;
    default:
        return false;
    }
    set_types(in, i);
    i->shape = in->mod[SASS_M_SHAPE];
    i->sub = in->mod[SASS_M_SPARSE] ? 1 : 0;
    i->mods = in->mod[SASS_M_SAT];
    i->boolop = in->mod[SASS_M_MMAOP];
    if (in->op == SASS_HMMA && i->shape == SASS_MMA_884) {
        alu_operands(b, in, i, 2, 2, 2, 2);
        i->imm = in->mod[SASS_M_STEP] & 3;
        i->mods = (in->mod[SASS_M_LAYOUT] ? 1u : 0u) | (in->mod[SASS_M_LAYOUT_B] ? 0u : 2u);
        i->fn = ww_sx_mat_884;
        return i->type == SASS_T_F16;
    }
    if (!known(i)) return false;
    uint32_t rows = shapes[i->shape].rows, words = shapes[i->shape].k * ww_sx_mat_bits(i->type) / 32;
    alu_operands(b, in, i, rows_of(rows, i->type3), words * (rows / 8) / (i->sub ? 8 : 4), words / 4,
                 rows_of(rows, i->cmp));
    if (i->sub) {
        i->d2 = ww_sx_src(b, in, SASS_E, 1);
        i->imm = in->mod[SASS_M_SELECT];
    }
    i->fn = function(in->op);
    return true;
}
