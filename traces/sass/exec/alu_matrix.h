/* alu_matrix.h: matrix instructions as words of packed elements, private to alu_matrix*.c.
 *
 * A word of A or B is a register of one lane: elements of one row of A (one column of B) that follow each other
 * in k. Lane l is number l mod 4 ("quarter") of group l / 4. */
#ifndef WW_TRACES_SASS_ALU_MATRIX_H
#define WW_TRACES_SASS_ALU_MATRIX_H

#include "alu_half.h"

#define MAT_ROWS 16u
#define MAT_COLS 8u
#define MAT_WORDS 16u /* words along k: at most 16 x 32 bits (dense), of sparse B as well */
#define MAT_K 128u    /* elements along k, as numbers */

/* Shape and types, as the function reads them: fields of sx_inst under other names. */
struct mat {
    uint32_t rows, words_a, words_b; /* words along k of a row of A, of a column of B */
    uint8_t type_a, type_b, type_c, type_d;
};

uint32_t ww_sx_mat_bits(uint8_t type);
struct mat ww_sx_mat_shape(const struct sx_inst *i);
/* The words of A by row, of B by column. */
void ww_sx_mat_words(struct sx_warp *w, const struct sx_inst *i, const struct mat *m,
                     uint32_t a[MAT_ROWS][MAT_WORDS], uint32_t b[MAT_COLS][MAT_WORDS]);
/* Element n of a row of words. */
double ww_sx_mat_number(uint8_t type, const uint32_t *words, uint32_t n);
/* Rearranges the words of a sparse A as those of a dense one. */
void ww_sx_mat_expand(struct sx_warp *w, const struct sx_inst *i, struct mat *m,
                      uint32_t a[MAT_ROWS][MAT_WORDS]);
/* HMMA.884: alu_matrix884.c. */
void ww_sx_mat_884(SX_ARGS);

#endif
