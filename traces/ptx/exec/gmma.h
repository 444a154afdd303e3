/* gmma.h: the matrix instructions of a warpgroup (wgmma, HGMMA), as PTX and machine code execute them: a warp's
 * 16 of the 64 rows. B lies in shared memory, A there or in registers.
 *
 * Both are rows of 32 bytes along k, whatever the type: row r of A, column r of B. A descriptor says where they
 * lie:
 *
 *     bits 0-13   address / 16         16-29  leading offset / 16     32-45  stride offset / 16
 *     bits 49-51  place in the swizzle's pattern at which it begins   62-63  swizzle: 0 none, 1 128, 2 64, 3 32
 * bytes
 *
 * Rows that follow one another in k lie in groups of eight adjacent rows (none: 16 bytes of each, the other
 * half a leading offset further; 32 to 128 bytes: whole rows of so many bytes), groups a stride offset apart.
 * Those that are transposed (of 16 bits alone) lie along their other index: eight of k in a group, groups of k
 * and of rows apart by the two offsets. A swizzle exchanges chunks of 16 bytes: bits 4-6 of the address with
 * bits 7-9 added without carry.
 *
 * With a sparse A half of the elements of a row are stored, in 32 bytes, and rows of B have 64 bytes. Metadata
 * (sparse.h) says where the elements belong. B's 64 bytes lie side by side, or as four pieces of 16 bytes a
 * leading offset apart.
 *
 * Products are exact, sums are made in double precision in the order of k and rounded once. */
#ifndef WW_TRACES_PTX_GMMA_H
#define WW_TRACES_PTX_GMMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMMA_ROWS 16u  /* of a warp */
#define GMMA_COLS 256u /* most of B */
#define GMMA_ROW_BYTES 32u
#define GMMA_DEEP_BYTES 64u /* of B, with a sparse A */
#define GMMA_SUMS 128u      /* most registers of a lane's sums */

/* The last four are of tensor memory alone: sixteen floats of 6 or 4 bits in the lower bytes of 16, and 32 of 4
 * bits. */
enum gmma_type {
    GMMA_F16,
    GMMA_BF16,
    GMMA_TF32,
    GMMA_E4M3,
    GMMA_E5M2,
    GMMA_S8,
    GMMA_U8,
    GMMA_B1,
    GMMA_E2M3,
    GMMA_E3M2,
    GMMA_E2M1,
    GMMA_E2M1_DENSE
};
enum gmma_sum { GMMA_SUM_F32, GMMA_SUM_F16, GMMA_SUM_S32 };

struct gmma {
    uint8_t type_a, type_b; /* enum gmma_type */
    uint8_t sum;            /* enum gmma_sum */
    uint16_t n;             /* columns of B: a multiple of 8 */
    bool neg_a, neg_b, trans_a, trans_b, saturate;
    bool exclusive;    /* b1: exclusive or, else and */
    bool in_registers; /* A */
    bool keeps;        /* adds to the sums that are there */
    bool sparse;       /* A; types of 8 to 32 bits */
    uint8_t selector;  /* lanes that hold metadata: the first pair or the second, of 16 and 32 bits */
    uint32_t meta[32]; /* by lane, if sparse */
    uint32_t warp;     /* of the warpgroup: 0 to 3 */
    uint64_t desc_a, desc_b;
    uint32_t from_a, from_b; /* added to the addresses that are read: a CTA other than the own */
    /* Factors of A by block of k and row, of B by block and column; NULL: none. */
    const double (*scale_a)[GMMA_ROWS], (*scale_b)[GMMA_COLS];
    uint32_t block; /* elements of k that have one factor */
};

/* 16 bytes of shared memory, or NULL: the caller has failed. */
typedef const unsigned char *(*gmma_read)(void *context, uint32_t address);

/* NULL, or why the instruction cannot be: descriptors are looked at. */
static inline const char *gmma_refuses(const struct gmma *g) {
    bool narrow = g->desc_b >> 62 == 3 && !g->trans_b;
    return g->sparse && narrow ? "rows of a B of a sparse A have 64 bytes, which a swizzle of 32 does not hold"
                               : NULL;
}

/* Registers of a lane's sums. */
static inline uint32_t gmma_registers(const struct gmma *g) {
    return g->sum == GMMA_SUM_F16 ? g->n / 4u : g->n / 2u;
}

/* `count` rows of `bytes` bytes (16 to 64) of a matrix that lies as B does; false: a read failed. `from` is
 * added to the addresses. */
bool ww_gmma_rows(uint64_t descriptor, uint32_t from, uint32_t count, uint32_t bytes, gmma_read read,
                  void *context, unsigned char out[][GMMA_DEEP_BYTES]);
/* a: registers of A by [register][lane], if in_registers. sums: by [register][lane], read if `keeps`, written.
 * False: a read failed, and nothing is written. */
bool ww_gmma(const struct gmma *g, gmma_read read, void *context, uint32_t a[4][32],
             uint32_t sums[GMMA_SUMS][32]);

#endif
