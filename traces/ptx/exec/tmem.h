/* tmem.h: tensor memory of a CTA (sm_100): 128 lanes of 512 columns of 32 bits. An address has the lane in bits
 * 16 on, the column below.
 *
 * tcgen05.mma multiplies 64 or 128 rows of A by up to 256 columns of B; sums lie in tensor memory, a row a
 * lane, a column of B a column. Of 64 rows, 16 each lie in lanes 0, 32, 64, 96 on. Sums of 16 bits lie in the
 * lower half of their column. The instruction descriptor has these fields (PTX ISA 8.6, 9.7.16.4.2):
 *
 *     3 saturates   4-5 sums: 0 f16, 1 f32, 2 s32   7-9 type of A   10-12 type of B   13, 14 signs of A and B
 *     15, 16 A, B transposed   17-22 columns / 8   24-28 rows / 16
 *
 * Kinds with scale factors have at 4-5 and 29-30 the bytes at which those of B and A begin, and at 23 their
 * type. Factor j of a row is byte begin + j of a column: of rows 0 to 31 in lanes 0 to 31 of the first column,
 * of rows 32 to 63 in those of the next one.
 *
 * A pair of CTAs multiplies 128 or 256 rows, of which the CTA of even rank has the first half. Each has half of
 * B's columns in its shared memory. Of 128 rows a CTA's 64 have the first half of the sums in lanes 0 on, the
 * second in lanes 64 on.
 *
 * Descriptors of shared memory are those of wgmma but for the swizzle, bits 61-63: 0 none, 2 128, 4 64, 6 32
 * bytes. */
#ifndef WW_TRACES_PTX_TMEM_H
#define WW_TRACES_PTX_TMEM_H

#include "gmma.h"

#define TMEM_LANES 128u
#define TMEM_COLUMNS 512u

#define TMEM_SHAPES 96u /* 64, 128 or 256 rows by 8, 16, ... 256 columns */

/* A CTA, or a pair of CTAs, whose rows the one after the other has, as it has half of B's columns. */
struct tmem_cta {
    uint32_t *memory; /* tensor memory */
    uint32_t from;    /* added to the addresses of its shared memory */
};

struct tmem_mma {
    struct gmma g;            /* but for the descriptors; its columns are those of a CTA's B */
    uint32_t rows, ctas;      /* of each CTA: 64 or 128; 1 or 2 */
    uint32_t n;               /* columns of all CTAs */
    uint8_t scales;           /* factors of a row for each 32 bytes of it: 0 (none), 1, 2, 4 */
    uint8_t scale_a, scale_b; /* bytes of a column at which they begin */
    bool powers;              /* they are powers of two (ue8m0), else ue4m3 */
    uint8_t shrink;           /* sums that are there are divided by 2 to this power */
    uint32_t off[8];          /* lanes that are not written, of each CTA four words */
    uint32_t to, a_at;        /* sums; A, if in_registers */
    uint32_t scale_a_at, scale_b_at;
};

static inline uint32_t tmem_shape(const struct tmem_mma *m) {
    uint32_t rows = m->rows * m->ctas;
    return TMEM_SHAPES / 3 * (rows == 256 ? 2 : rows / 128) + m->n / 8 - 1;
}
static inline uint32_t tmem_shape_rows(uint32_t shape) {
    return 64u << shape / (TMEM_SHAPES / 3);
}
static inline uint32_t tmem_shape_columns(uint32_t shape) {
    return 8 * (shape % (TMEM_SHAPES / 3)) + 8;
}
/* Columns that factors of so many rows take. */
static inline uint32_t tmem_scale_columns(uint32_t rows) {
    return (rows + 31) / 32;
}

/* NULL, or what is wrong with the descriptor of an instruction of that kind (type of PTX: f16, tf32, e4m3, s8,
 * mxf8f6f4, ...). scales: PTX_SCALE_* or 1, of kinds with factors; ctas: 1 or 2. */
const char *ww_tmem_describe(uint32_t descriptor, uint8_t kind, uint8_t scales, uint32_t ctas,
                             struct tmem_mma *out);
/* The descriptor of shared memory as wgmma has it; false: a field has no such value. */
bool ww_tmem_operand(uint64_t descriptor, uint64_t *out);
/* Multiplies. NULL, or what is wrong; "" : a read has failed. */
const char *ww_tmem_multiply(const struct tmem_mma *m, const struct tmem_cta cta[], gmma_read read,
                             void *context);

/* tcgen05.cp of a shape (PTX_SHAPE_128X256B ...): rows of 16 or 32 bytes, which lie in shared memory as those
 * of B, go to lanes, some of them to two or four. Results as above. */
const char *ww_tmem_copy(uint8_t shape, uint64_t descriptor, const struct tmem_cta *cta, uint32_t to,
                         gmma_read read, void *context);
/* Columns that it writes. */
uint32_t ww_tmem_copy_columns(uint8_t shape);

#endif
