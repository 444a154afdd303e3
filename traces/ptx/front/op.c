/* op.c: the table of operations, and what is asked of it. */
#include "op.h"
#include <string.h>

#define WORDS2(a, b, c, d)                                                                                     \
    { PTX_SUB_##a, PTX_SUB_##b, PTX_SUB_##c, PTX_SUB_##d }
#define WORDS(a, b) WORDS2(a, b, a, b)
#define NO_WORD WORDS(NONE, NONE)

const struct ptx_op_row ww_ptx_ops[PTX_OP_COUNT] = {
#define X(id, mnemonic, operands, least, place, word, flag, decode, pick, lower)                               \
    [PTX_##id] = {.name = mnemonic,                                                                            \
                  .signature = operands,                                                                       \
                  .places = place,                                                                             \
                  .flags = flag,                                                                               \
                  .types = least,                                                                              \
                  .words = word},
#include "ptx_op.def"
#undef X
};

const char *ww_ptx_op_name(enum ptx_op op) {
    return (unsigned)op < PTX_OP_COUNT ? ww_ptx_ops[op].name : "?";
}

bool ww_ptx_op_takes(const struct ptx_inst *i, uint8_t sub) {
    const uint8_t *w = ww_ptx_ops[i->op].words;
    return (sub >= w[0] && sub <= w[1]) || (sub >= w[2] && sub <= w[3]);
}

char ww_ptx_op_place(const struct ptx_inst *i, uint32_t n) {
    const char *at = ww_ptx_ops[i->op].places;
    if (!*at) return '0';
    const char *slash = strchr(at, '/'), *end = slash;
    if (n >= i->dst_count) {
        n -= i->dst_count;
        at = slash + 1;
        end = at + strlen(at);
    }
    return at == end ? '0' : at + n < end ? at[n] : end[-1];
}

/* Reads of the clocks stand in mov only, as all special registers do. */
static bool reads_clock(const struct ptx_inst *i) {
    return i->opnd[1].kind == PTX_O_SREG && i->opnd[1].sreg >= PTX_SR_CLOCK &&
           i->opnd[1].sreg <= PTX_SR_GLOBALTIMER_HI;
}

bool ww_ptx_is_pure(const struct ptx_inst *i) {
    if (i->op == PTX_MOV) return !reads_clock(i);
    return ptx_op_is(i, OP_PURE) && !(i->mods & PTX_M_CC);
}
