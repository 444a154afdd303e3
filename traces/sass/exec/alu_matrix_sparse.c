/* alu_matrix_sparse.c: A with structured sparsity: of each group of elements half are stored, and metadata says
 * which.
 *
 * Metadata of halves and bytes: two bits for each stored element, its place in a group of four; of 4-bit
 * numbers the same for pairs of elements. Of single precision: four bits, 0100 or 1110: the first or second of
 * two. Of elements of 16 and 32 bits a lane's word covers its group's row with the lower 16 bits and the row 8
 * below with the upper ones, and lanes follow each other in k. Of shorter ones an even lane has 32 bits of the
 * group's row, the odd lane above it those of the row 8 below. The selector names the lane, or the pair of
 * lanes, of each four that holds the metadata. */
#include "alu_matrix.h"

/* Bits `at` and on of a row's metadata; `lanes` of each four hold it. */
static uint32_t metadata(const uint32_t *meta, uint32_t first, bool is_short, uint32_t row, uint32_t at,
                         uint32_t bits) {
    uint32_t lane = 4 * (row % 8) + first + (is_short ? 2 * (at / 32) + row / 8 : at / 16);
    uint32_t shift = is_short ? at % 32 : row / 8 * 16 + at % 16;
    return meta[lane & 31u] >> shift & ((1u << bits) - 1);
}

static void set_element(uint32_t *words, uint32_t n, uint32_t bits, uint32_t v) {
    uint32_t at = n * bits;
    words[at / 32] |= v << at % 32;
}
static uint32_t get_element(const uint32_t *words, uint32_t n, uint32_t bits) {
    uint32_t at = n * bits, v = words[at / 32] >> at % 32;
    return bits == 32 ? v : v & ((1u << bits) - 1);
}

static void expand_row(const uint32_t *meta, uint32_t selector, uint32_t row, const struct mat *m,
                       uint32_t *words) {
    uint32_t bits = ww_sx_mat_bits(m->type_a), dense[MAT_WORDS] = {0};
    uint32_t unit = bits == 4 ? 8 : bits; /* what an index chooses */
    uint32_t count = m->words_a * 32 / unit, per = bits == 32 ? 1 : 2, each = bits == 32 ? 4 : 2;
    uint32_t lanes = count * each / 16; /* that hold metadata of this row and the one 8 below: 1, 2 or 4 */
    for (uint32_t n = 0; n < count; n++) {
        uint32_t index = metadata(meta, lanes == 4 ? 0 : selector * lanes, bits <= 8, row, n * each, each);
        if (bits == 32) index = index >> 3; /* 1110 or 0100 */
        set_element(dense, n / per * (2 * per) + index % (2 * per), unit, get_element(words, n, unit));
    }
    memcpy(words, dense, m->words_b * sizeof *words);
}

void ww_sx_mat_expand(struct sx_warp *w, const struct sx_inst *i, struct mat *m,
                      uint32_t a[MAT_ROWS][MAT_WORDS]) {
    const uint32_t *meta = sx_src(w, i->d2);
    for (uint32_t row = 0; row < m->rows; row++) expand_row(meta, (uint32_t)i->imm, row, m, a[row]);
}
