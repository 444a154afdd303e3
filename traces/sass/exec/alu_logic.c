/* alu_logic.c: logic of three operands by truth table, of predicates too; byte permutation; predicates as bits.
 *
 * Bit 4a + 2b + c of a truth table is the result for the bits a, b, c. */
#include "alu.h"
#include "grid.h"

/* Any table: one selection by c for each pair of its entries, then by b, then by a. */
ALU_INLINE uint32_t look_up(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t f[4], e[8];
    for (unsigned n = 0; n < 8; n++) e[n] = 0u - (table >> n & 1u);
    for (unsigned n = 0; n < 4; n++) f[n] = e[2 * n] ^ (c & (e[2 * n] ^ e[2 * n + 1]));
    uint32_t low = f[0] ^ (b & (f[0] ^ f[1])), high = f[2] ^ (b & (f[2] ^ f[3]));
    return low ^ (a & (low ^ high));
}

ALU_INLINE void lop3(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t table = (uint32_t)i->imm;
    ALU_ROW(i->d, out = look_up(table, a[l], b[l], c[l]););
}
ALU_PAIR(lop3)

#define LOGIC(name, EXPR)                                                                                      \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);                       \
        (void)a, (void)c;                                                                                      \
        ALU_ROW(i->d, out = EXPR;);                                                                            \
    }                                                                                                          \
    ALU_PAIR(name)
LOGIC(lop_and, a[l] & b[l])
LOGIC(lop_or, a[l] | b[l])
LOGIC(lop_xor, a[l] ^ b[l])
LOGIC(lop_and_not, a[l] & ~b[l])
LOGIC(lop_not_b, ~b[l])
LOGIC(lop_and_or, (a[l] & b[l]) | c[l])
LOGIC(lop_or_and, (a[l] | b[l]) & c[l])
LOGIC(lop_xor3, a[l] ^ b[l] ^ c[l])
LOGIC(lop_and3, a[l] & b[l] & c[l])
LOGIC(lop_or3, a[l] | b[l] | c[l])
LOGIC(lop_select, (a[l] & b[l]) | (~a[l] & c[l]))

/* With a predicate: whether the result is not 0, combined with PS. */
static void lop3_test(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t table = (uint32_t)i->imm, all[SX_LANES], set;
    if (table == 0xc0)
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) all[l] = a[l] & b[l];
    else
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) all[l] = look_up(table, a[l], b[l], c[l]);
    ALU_MASK(set, out = all[l] != 0;);
    uint32_t *d = sx_dst(w, i->d), other = sx_ps(w, i, 0);
    alu_blend(d, all, mask);
    sx_set_pred(w, i->pd[0], i->sub ? set & other : set | other, mask);
}

/* The table for sources of which some are complemented. */
static uint32_t complemented(uint32_t table, uint8_t neg) {
    uint32_t t = 0, flip = (neg & 1u) << 2 | (neg & 2u) | (neg >> 2 & 1u);
    for (uint32_t n = 0; n < 8; n++) t |= (table >> (n ^ flip) & 1u) << n;
    return t;
}

static sx_fn lop3_function(uint32_t table) {
    switch (table) {
    case 0xc0:
        return ALU_FN(lop_and);
    case 0xfc:
        return ALU_FN(lop_or);
    case 0x3c:
        return ALU_FN(lop_xor);
    case 0x30:
        return ALU_FN(lop_and_not);
    case 0x33:
        return ALU_FN(lop_not_b);
    case 0xea:
        return ALU_FN(lop_and_or);
    case 0xa8:
        return ALU_FN(lop_or_and);
    case 0x96:
        return ALU_FN(lop_xor3);
    case 0x80:
        return ALU_FN(lop_and3);
    case 0xfe:
        return ALU_FN(lop_or3);
    case 0xca:
        return ALU_FN(lop_select);
    default:
        return ALU_FN(lop3);
    }
}

static bool pick_lop3(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    alu_predicates(b, in, i);
    i->imm = complemented(in->mod[SASS_M_LUT], i->neg);
    i->sub = in->mod[SASS_M_PAND];
    i->fn = i->pd[0] != SX_SINK ? lop3_test : lop3_function((uint32_t)i->imm);
    return true;
}

/* ---- predicates ---- */

/* Source n of PLOP3: a predicate, or the signs of a register. */
static uint32_t plop_source(const struct sx_warp *w, const struct sx_inst *i, unsigned n) {
    if (!(i->mods >> n & 1u)) return sx_ps(w, i, n);
    const uint32_t *row = sx_src(w, n == 0 ? i->a : n == 1 ? i->b : i->c);
    uint32_t signs;
    ALU_MASK(signs, out = row[l] >> 31;);
    return i->neg >> n & 1u ? ~signs : signs;
}

static void plop3(SX_ARGS) {
    uint32_t a = plop_source(w, i, 0), b = plop_source(w, i, 1), c = plop_source(w, i, 2);
    uint32_t first = look_up(i->sub, a, b, c), second = look_up(i->cmp, a, b, c);
    sx_set_pred(w, i->pd[0], first, mask);
    sx_set_pred(w, i->pd[1], second, mask);
}

static bool pick_plop3(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    static const enum ww_sass_slot reg[] = {SASS_A, SASS_B, SASS_C};
    alu_predicates(b, in, i);
    for (unsigned n = 0; n < 3; n++)
        if (in->opd[reg[n]].kind != SASS_K_NONE) {
            alu_source(b, in, i, reg[n], n, 1);
            i->mods |= 1u << n;
        }
    i->sub = in->mod[SASS_M_LUT];
    i->cmp = in->mod[SASS_M_LUT2];
    i->fn = plop3;
    return true;
}

/* (PS op PS2) op2 PS3, and the same with the first in the complement. */
static void psetp(SX_ARGS) {
    uint32_t a = sx_ps(w, i, 0), b = sx_ps(w, i, 1), c = sx_ps(w, i, 2), r = alu_combine(i->sub, a, b);
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, r, c), mask);
    sx_set_pred(w, i->pd[1], alu_combine(i->boolop, ~r, c), mask);
}

/* Predicates 0 to 6 as bits of a register and back; i->imm: which ones; i->shape: lowest bit. */
static void predicates_to_register(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *p = sx_src(w, i->ps[0]);
    uint32_t which = (uint32_t)i->imm;
    ALU_ROW(i->d, uint32_t bits = 0; for (unsigned n = 0; n < 7; n++) bits |= (p[n] >> l & 1u) << n;
            out = (a[l] & ~(which << i->shape)) | (bits & which) << i->shape;);
}
static void register_to_predicates(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    for (unsigned n = 0; n < 7; n++) {
        uint32_t set;
        if (!((uint32_t)i->imm >> n & 1u)) continue;
        ALU_MASK(set, out = a[l] >> (n + i->shape) & 1u;);
        sx_set_pred(w, i->ps[0] + 4 * n, set, mask);
    }
}

/* The selecting mask is an immediate; EXTRA is the number of the byte. */
static bool pick_bits(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i, bool to_register,
                      bool uniform) {
    const struct ww_sass_operand *o = &in->opd[SASS_B];
    if (o->kind != SASS_K_IMM) return false;
    i->imm = o->imm & 0x7f;
    i->a = ww_sx_src(b, in, SASS_A, 1);
    i->d = to_register ? ww_sx_dst(b, in, SASS_D, 1) : SX_SINK;
    i->ps[0] = ww_sx_building(b)->predicate_at + (uniform ? 32 : 0);
    i->shape = (uint8_t)(8 * (in->mod[SASS_M_EXTRA] & 3));
    i->fn = to_register ? predicates_to_register : register_to_predicates;
    return true;
}

/* ---- bytes ---- */

/* Selectors of the named modes, by the low two bits of B. */
static uint32_t selector(uint8_t mode, uint32_t v) {
    static const uint16_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
    static const uint16_t rc8[] = {0x0000, 0x1111, 0x2222, 0x3333}, ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
    static const uint16_t ecr[] = {0x0000, 0x1110, 0x2210, 0x3210}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
    const uint16_t *const tables[] = {NULL, f4e, b4e, rc8, ecl, ecr, rc16};
    return mode && mode < sizeof tables / sizeof *tables ? tables[mode][v & 3u] : v;
}

/* Byte n of the result: one of the eight of the pair, or its sign. */
ALU_INLINE uint32_t byte(uint32_t low, uint32_t high, uint32_t select, unsigned n) {
    uint32_t s = select >> 4 * n & 15u, from = s & 4u ? high : low, v = from >> 8 * (s & 3u) & 0xffu;
    uint32_t sign = (0u - (v >> 7)) & 0xffu;
    return (s & 8u ? sign : v) << 8 * n;
}

ALU_INLINE void prmt(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint8_t mode = i->sub;
    ALU_ROW(i->d, uint32_t s = selector(mode, b[l]); out = byte(a[l], c[l], s, 0) | byte(a[l], c[l], s, 1) |
                                                           byte(a[l], c[l], s, 2) | byte(a[l], c[l], s, 3););
}
ALU_PAIR(prmt)

/* With a selector that is known. */
ALU_INLINE void prmt_const(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *c = sx_src(w, i->c);
    uint32_t s = (uint32_t)i->imm;
    ALU_ROW(i->d, out = byte(a[l], c[l], s, 0) | byte(a[l], c[l], s, 1) | byte(a[l], c[l], s, 2) |
                        byte(a[l], c[l], s, 3););
}
ALU_PAIR(prmt_const)

static bool pick_prmt(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->sub = in->mod[SASS_M_PRMT];
    bool known = in->opd[SASS_B].kind == SASS_K_IMM;
    if (known) i->imm = selector(i->sub, (uint32_t)in->opd[SASS_B].imm);
    i->fn = known ? ALU_FN(prmt_const) : ALU_FN(prmt);
    return !i->neg;
}

bool ww_sx_alu_logic(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_LOP3:
    case SASS_ULOP3:
        return pick_lop3(b, in, i);
    case SASS_PLOP3:
    case SASS_UPLOP3:
        return pick_plop3(b, in, i);
    case SASS_PSETP:
        alu_predicates(b, in, i);
        i->sub = in->mod[SASS_M_BOOL];
        i->boolop = in->mod[SASS_M_EXTRA];
        i->fn = psetp;
        return true;
    case SASS_P2R:
        return pick_bits(b, in, i, true, false);
    case SASS_R2P:
        return pick_bits(b, in, i, false, false);
    case SASS_UP2UR:
        return pick_bits(b, in, i, true, true);
    case SASS_UR2UP:
        return pick_bits(b, in, i, false, true);
    case SASS_PRMT:
    case SASS_UPRMT:
        return pick_prmt(b, in, i);
    default:
        return false;
    }
}
