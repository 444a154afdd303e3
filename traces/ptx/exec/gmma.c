/* gmma.c: the matrix instructions of a warpgroup: operands by descriptor, products and sums of a warp. */
#include "gmma.h"
#include "exec.h"
#include "sparse.h"
#include <math.h>
#include <string.h>

/* ---- operands ---- */

struct operand {
    uint32_t start, leading, stride, swizzle, base, from;
    bool transposed;
    gmma_read read;
    void *context;
};

static struct operand operand_of(uint64_t desc, bool transposed, gmma_read read, void *context) {
    static const uint8_t bytes[] = {0, 128, 64, 32};
    return (struct operand){.start = (uint32_t)(desc & 0x3fffu) << 4,
                            .leading = (uint32_t)(desc >> 16 & 0x3fffu) << 4,
                            .stride = (uint32_t)(desc >> 32 & 0x3fffu) << 4,
                            .base = (uint32_t)(desc >> 49 & 7u),
                            .swizzle = bytes[desc >> 62],
                            .transposed = transposed,
                            .read = read,
                            .context = context};
}

/* Where the 16 bytes at an offset from the start lie. */
static const unsigned char *chunk(const struct operand *o, uint32_t offset) {
    uint32_t at = o->start + offset;
    if (o->swizzle) at ^= (((at >> 7) - o->base) & (o->swizzle / 16 - 1)) << 4;
    return o->read(o->context, (at & ~15u) + o->from);
}

/* Rows of so many bytes along k, in groups of eight adjacent rows. */
static bool read_rows(const struct operand *o, uint32_t first, uint32_t count, uint32_t bytes,
                      unsigned char out[][GMMA_DEEP_BYTES]) {
    uint32_t pitch = o->swizzle ? o->swizzle : 16, half = o->swizzle ? 16 : o->leading;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t h = 0; h < bytes / 16; h++) {
            uint32_t row = first + r;
            const unsigned char *from = chunk(o, row / 8 * o->stride + row % 8 * pitch + h * half);
            if (!from) return false;
            memcpy(out[r] + 16 * h, from, 16);
        }
    return true;
}

/* The same of a matrix that lies along its other index: 8 numbers of 16 bits for each k. */
static bool read_transposed(const struct operand *o, uint32_t first, uint32_t count, uint32_t bytes,
                            unsigned char out[][GMMA_DEEP_BYTES]) {
    uint32_t wide = o->swizzle ? o->swizzle / 2 : 8, pitch = o->swizzle ? o->swizzle : 16;
    uint32_t next = o->swizzle ? o->leading : o->stride, deeper = o->swizzle ? o->stride : o->leading;
    for (uint32_t r = 0; r < count; r += 8)
        for (uint32_t k = 0; k < bytes / 2; k++) {
            uint32_t row = first + r;
            const unsigned char *from =
                chunk(o, row / wide * next + row % wide * 2 + k / 8 * deeper + k % 8 * pitch);
            if (!from) return false;
            for (uint32_t i = 0; i < 8; i++) memcpy(out[r + i] + 2 * k, from + 2 * i, 2);
        }
    return true;
}

static bool read_operand(const struct operand *o, uint32_t first, uint32_t count, uint32_t bytes,
                         unsigned char out[][GMMA_DEEP_BYTES]) {
    return o->transposed ? read_transposed(o, first, count, bytes, out)
                         : read_rows(o, first, count, bytes, out);
}

/* Register r of a lane is 4 bytes of row l / 4, or of the eighth below it. */
static void from_registers(uint32_t a[4][32], unsigned char out[GMMA_ROWS][GMMA_DEEP_BYTES]) {
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t l = 0; l < 32; l++)
            memcpy(out[l / 4 + 8 * (r & 1)] + 4 * (l % 4) + 16 * (r >> 1), &a[r][l], 4);
}

/* ---- numbers ---- */

static uint32_t elements(uint8_t type) {
    static const uint8_t n[] = {16, 16, 8, 32, 32, 32, 32, 0, 32, 32, 32, 64};
    return n[type];
}

/* A float of few bits without infinities: sign, exponent, mantissa. */
static double small_float(uint32_t v, unsigned exponent, unsigned mantissa, int bias) {
    uint32_t e = v >> mantissa & ((1u << exponent) - 1), m = v & ((1u << mantissa) - 1);
    uint32_t whole = e ? m | 1u << mantissa : m;
    double r = ldexp((double)whole, (int)(e ? e : 1) - bias - (int)mantissa);
    return v >> (exponent + mantissa) & 1u ? -r : r;
}

/* Element k of a row whose 16 bytes have sixteen elements, or 32. */
static uint32_t few_bits(const unsigned char *row, uint32_t k, uint32_t bits, uint32_t each) {
    uint32_t at = k % each * bits, v;
    const unsigned char *p = row + 16 * (k / each) + at / 8;
    v = p[0] | (at % 8 + bits > 8 ? (uint32_t)p[1] << 8 : 0);
    return v >> at % 8 & ((1u << bits) - 1);
}

static double number(const unsigned char *row, uint32_t k, uint8_t type) {
    uint16_t half;
    uint32_t word;
    float f;
    switch (type) {
    case GMMA_F16:
    case GMMA_BF16:
        memcpy(&half, row + 2 * k, 2);
        return type == GMMA_F16 ? ww_ex_f16_to_double(half) : ww_ex_bf16_to_double(half);
    case GMMA_TF32:
        memcpy(&word, row + 4 * k, 4);
        word &= 0xffffe000u;
        memcpy(&f, &word, 4);
        return (double)f;
    case GMMA_S8:
        return (int8_t)row[k];
    case GMMA_U8:
        return row[k];
    case GMMA_E2M3:
        return small_float(few_bits(row, k, 6, 16), 2, 3, 1);
    case GMMA_E3M2:
        return small_float(few_bits(row, k, 6, 16), 3, 2, 3);
    case GMMA_E2M1:
    case GMMA_E2M1_DENSE:
        return small_float(few_bits(row, k, 4, type == GMMA_E2M1 ? 16 : 32), 2, 1, 1);
    default:
        return ww_ex_f8_to_double(row[k], type == GMMA_E5M2);
    }
}

/* Stored elements go to the places that metadata names, the others are zeros. */
static void expand(const struct gmma *g, unsigned char rows[GMMA_ROWS][GMMA_DEEP_BYTES]) {
    uint32_t size = GMMA_ROW_BYTES / elements(g->type_a), count = elements(g->type_a);
    uint32_t of = size == 4 ? 1 : 2, each = size == 4 ? 4 : 2, first = size == 1 ? 0 : 2u * g->selector;
    for (uint32_t row = 0; row < GMMA_ROWS; row++) {
        unsigned char dense[GMMA_DEEP_BYTES] = {0};
        for (uint32_t n = 0; n < count; n++) {
            uint32_t at = ww_sparse_metadata(g->meta, first, size == 1, row, n * each, each);
            if (size == 4) at >>= 3; /* 1110 or 0100 */
            memcpy(dense + (n / of * (2 * of) + at) * size, rows[row] + n * size, size);
        }
        memcpy(rows[row], dense, sizeof dense);
    }
}

/* By k, then by row. */
static void to_numbers(unsigned char rows[][GMMA_DEEP_BYTES], uint32_t count, uint32_t n, uint8_t type,
                       bool neg, double out[GMMA_DEEP_BYTES][GMMA_COLS]) {
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = 0; k < n; k++) out[k][r] = neg ? -number(rows[r], k, type) : number(rows[r], k, type);
}

/* ---- sums: two numbers side by side, rows 8 apart, for every 8 columns ---- */

static double load_sum(const struct gmma *g, uint32_t sums[GMMA_SUMS][32], uint32_t l, uint32_t j, uint32_t h,
                       uint32_t e) {
    float f;
    if (g->sum == GMMA_SUM_F16) return ww_ex_f16_to_double((uint16_t)(sums[2 * j + h][l] >> 16 * e));
    uint32_t v = sums[4 * j + 2 * h + e][l];
    if (g->sum == GMMA_SUM_S32) return (int32_t)v;
    memcpy(&f, &v, 4);
    return (double)f;
}

static void store_sum(const struct gmma *g, uint32_t sums[GMMA_SUMS][32], uint32_t l, uint32_t j, uint32_t h,
                      const double v[2]) {
    if (g->sum == GMMA_SUM_F16) {
        sums[2 * j + h][l] = ww_ex_double_to_f16(v[0], PTX_R_RN, false) |
                             (uint32_t)ww_ex_double_to_f16(v[1], PTX_R_RN, false) << 16;
        return;
    }
    for (uint32_t e = 0; e < 2; e++) {
        double x = v[e];
        float f = (float)x;
        uint32_t *to = &sums[4 * j + 2 * h + e][l];
        if (g->sum == GMMA_SUM_F32) {
            memcpy(to, &f, 4);
            continue;
        }
        if (g->saturate) x = x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
        *to = (uint32_t)(int64_t)x;
    }
}

static double bits(const struct gmma *g, const unsigned char *a, const unsigned char *b) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < GMMA_ROW_BYTES; i++)
        n += (uint32_t)__builtin_popcount(g->exclusive ? a[i] ^ b[i] : a[i] & b[i]);
    return n;
}

struct space {
    unsigned char a[GMMA_ROWS][GMMA_DEEP_BYTES], b[GMMA_COLS][GMMA_DEEP_BYTES];
    double x[GMMA_DEEP_BYTES][GMMA_COLS], y[GMMA_DEEP_BYTES][GMMA_COLS], sum[GMMA_ROWS][GMMA_COLS];
};

#if defined(__x86_64__) && defined(__GNUC__)
#define HOST __attribute__((target("avx2,fma")))
#define HAVE_HOST (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define HOST
#define HAVE_HOST 0
#endif

/* sum += A B, k after k. A product of two such numbers is exact, so that it does not matter whether it is
 * fused. */
static inline __attribute__((always_inline)) void accumulate(struct space *s, uint32_t depth,
                                                             uint32_t columns) {
    for (uint32_t row = 0; row < GMMA_ROWS; row++)
        for (uint32_t k = 0; k < depth; k++) {
            double a = s->x[k][row], *sum = s->sum[row];
            const double *b = s->y[k];
            for (uint32_t col = 0; col < columns; col++) sum[col] += a * b[col];
        }
}
static void accumulate_plain(struct space *s, uint32_t depth, uint32_t columns) {
    accumulate(s, depth, columns);
}
HOST static void accumulate_host(struct space *s, uint32_t depth, uint32_t columns) {
    accumulate(s, depth, columns);
}

static void scale(const struct gmma *g, uint32_t depth, struct space *s) {
    for (uint32_t k = 0; k < depth; k++) {
        for (uint32_t row = 0; row < GMMA_ROWS; row++) s->x[k][row] *= g->scale_a[k / g->block][row];
        for (uint32_t col = 0; col < g->n; col++) s->y[k][col] *= g->scale_b[k / g->block][col];
    }
}

static void add_bits(const struct gmma *g, struct space *s) {
    for (uint32_t row = 0; row < GMMA_ROWS; row++)
        for (uint32_t col = 0; col < g->n; col++) s->sum[row][col] += bits(g, s->a[row], s->b[col]);
}

static void move_sums(const struct gmma *g, struct space *s, uint32_t sums[GMMA_SUMS][32], bool load) {
    for (uint32_t l = 0; l < 32; l++)
        for (uint32_t j = 0; j < g->n / 8u; j++)
            for (uint32_t h = 0; h < 2; h++) {
                double *pair = &s->sum[l / 4 + 8 * h][8 * j + 2 * (l % 4)];
                if (!load) store_sum(g, sums, l, j, h, pair);
                for (uint32_t e = 0; load && e < 2; e++) pair[e] = load_sum(g, sums, l, j, h, e);
            }
}

bool ww_gmma_rows(uint64_t descriptor, uint32_t from, uint32_t count, uint32_t bytes, gmma_read read,
                  void *context, unsigned char out[][GMMA_DEEP_BYTES]) {
    struct operand o = operand_of(descriptor, false, read, context);
    o.from = from;
    return read_rows(&o, 0, count, bytes, out);
}

bool ww_gmma(const struct gmma *g, gmma_read read, void *context, uint32_t a[4][32],
             uint32_t sums[GMMA_SUMS][32]) {
    static _Thread_local struct space s;
    struct operand of_a = operand_of(g->desc_a, g->trans_a, read, context);
    struct operand of_b = operand_of(g->desc_b, g->trans_b, read, context);
    of_a.from = g->from_a, of_b.from = g->from_b;
    uint32_t deep = g->sparse ? GMMA_DEEP_BYTES : GMMA_ROW_BYTES, n = elements(g->type_a) * (g->sparse ? 2 : 1);
    if (g->in_registers)
        from_registers(a, s.a);
    else if (!read_operand(&of_a, GMMA_ROWS * g->warp, GMMA_ROWS, GMMA_ROW_BYTES, s.a))
        return false;
    if (!read_operand(&of_b, 0, g->n, deep, s.b)) return false;
    if (g->sparse) expand(g, s.a);
    if (g->keeps)
        move_sums(g, &s, sums, true);
    else
        memset(s.sum, 0, sizeof s.sum);
    if (g->type_a == GMMA_B1) {
        add_bits(g, &s);
    } else {
        to_numbers(s.a, GMMA_ROWS, n, g->type_a, g->neg_a, s.x);
        to_numbers(s.b, g->n, n, g->type_b, g->neg_b, s.y);
        if (g->scale_a) scale(g, n, &s);
        (HAVE_HOST ? accumulate_host : accumulate_plain)(&s, n, g->n);
    }
    move_sums(g, &s, sums, false);
    return true;
}
