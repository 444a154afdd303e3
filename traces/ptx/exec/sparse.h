/* sparse.h: metadata of matrices with structured sparsity, as mma.sp and wgmma.sp have it for the 16 rows of a
 * warp.
 *
 * Metadata of halves and bytes: two bits for each stored element, its place in a group of four; of 4-bit
 * numbers the same for pairs of elements. Of single precision: four bits, 0100 or 1110: the first or second of
 * two. Of elements of 16 and 32 bits a lane's word covers its group's row with the lower 16 bits and the row 8
 * below with the upper ones, and lanes follow each other in k. Of shorter ones an even lane has 32 bits of the
 * group's row, the odd lane above it those of the row 8 below. */
#ifndef WW_TRACES_PTX_SPARSE_H
#define WW_TRACES_PTX_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits `at` and on of a row's metadata, by lane; `first` of each four lanes holds the beginning. */
static inline uint32_t ww_sparse_metadata(const uint32_t *meta, uint32_t first, bool is_short, uint32_t row,
                                          uint32_t at, uint32_t bits) {
    uint32_t lane = 4 * (row % 8) + first + (is_short ? 2 * (at / 32) + row / 8 : at / 16);
    uint32_t shift = is_short ? at % 32 : row / 8 * 16 + at % 16;
    return meta[lane & 31u] >> shift & ((1u << bits) - 1);
}

#endif
