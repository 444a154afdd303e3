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
 * Descriptors of shared memory are those of wgmma but for the swizzle, bits 61-63: 0 none, 2 128, 4 64, 6 32
 * bytes. */
#ifndef WW_TRACES_PTX_TMEM_H
#define WW_TRACES_PTX_TMEM_H

#include "gmma.h"

#define TMEM_LANES 128u
#define TMEM_COLUMNS 512u

#define TMEM_SHAPES 64u /* 64 or 128 rows by 8, 16, ... 256 columns */

struct tmem_mma {
    struct gmma g; /* but for the descriptors */
    uint32_t rows; /* 64 or 128 */
};

static inline uint32_t tmem_shape(const struct tmem_mma *m) {
    return (m->rows == 128 ? TMEM_SHAPES / 2 : 0) + m->g.n / 8u - 1;
}

/* NULL, or what is wrong with the descriptor of an instruction of that kind (type of PTX: f16, tf32, e4m3, s8).
 */
const char *ww_tmem_describe(uint32_t descriptor, uint8_t kind, struct tmem_mma *out);
/* The descriptor of shared memory as wgmma has it; false: a field has no such value. */
bool ww_tmem_operand(uint64_t descriptor, uint64_t *out);
/* Sums at `to` of the tensor memory. a_at: where A lies there, if in_registers; else it is ignored. NULL, or
 * what is wrong; "" : a read has failed. */
const char *ww_tmem_multiply(const struct tmem_mma *m, uint32_t *memory, uint32_t to, uint32_t a_at,
                             gmma_read read, void *context);

/* tcgen05.cp of a shape (PTX_SHAPE_128X256B ...): rows of 16 or 32 bytes, which lie in shared memory as those
 * of B, go to lanes, some of them to two or four. Results as above. */
const char *ww_tmem_copy(uint8_t shape, uint64_t descriptor, uint32_t *memory, uint32_t to, gmma_read read,
                         void *context);
/* Columns that it writes. */
uint32_t ww_tmem_copy_columns(uint8_t shape);

#endif
