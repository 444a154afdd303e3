/* alu_matrix_sparse.c: A with structured sparsity: of each group of elements half are stored, and metadata says
 * which (traces/ptx/exec/sparse.h). The selector names the lane, or the pair of lanes, of each four that holds
 * the metadata. */
#include "alu_matrix.h"
#include "../../ptx/exec/sparse.h"

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
        uint32_t index =
            ww_sparse_metadata(meta, lanes == 4 ? 0 : selector * lanes, bits <= 8, row, n * each, each);
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
