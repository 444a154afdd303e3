/* alu_minmax.c: minimum and maximum of integers, with addition, of three, of packed halves. PS true: minimum.
 */
#include "alu.h"

/* Signed numbers are compared with their top bit flipped. */
ALU_INLINE void minmax(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t least = sx_ps(w, i, 0), top = i->type == SASS_T_S32 ? 0x80000000u : 0, na = alu_neg(i, 0),
             nb = alu_neg(i, 1);
    ALU_ROW(i->d, uint32_t x = ((a[l] ^ na) - na) ^ top; uint32_t y = ((b[l] ^ nb) - nb) ^ top;
            uint32_t low = x < y ? x : y; uint32_t high = x < y ? y : x;
            out = (least & alu_bit[l] ? low : high) ^ top;);
}
ALU_PAIR(minmax)

/* Halves n of the sources, sign- or zero-extended. */
static int32_t extend(uint32_t v, unsigned n, uint8_t type) {
    return type == SASS_T_S16 ? (int16_t)(v >> 16 * n) : (uint16_t)(v >> 16 * n);
}

static int64_t value(uint32_t v, bool negative, uint8_t type) {
    if (negative) v = 0u - v;
    return type == SASS_T_S32 ? (int64_t)(int32_t)v : (int64_t)v;
}

static uint32_t one(const struct sx_inst *i, const uint32_t v[3], bool least, bool packed, unsigned half) {
    uint8_t t = i->type;
    int64_t x, y, z;
    x = packed ? extend(v[0], half, t) : value(v[0], i->neg & 1u, t);
    y = packed ? extend(v[1], half, t) : value(v[1], i->neg & 2u, t);
    z = packed ? extend(v[2], half, t) : value(v[2], i->neg & 4u, t);
    if (i->sub == 1) { /* addition first, in the type's width */
        uint32_t sum = (uint32_t)x + (uint32_t)y;
        x = packed ? extend(sum, 0, t) : value(sum, false, t);
        y = z;
    }
    int64_t r = (x < y) == least ? x : y;
    if (i->sub == 2) r = (r < z) == least ? r : z;
    if (i->mods && r < 0) r = 0;
    return (uint32_t)r;
}

/* sub 0: of two; 1: of a sum and the third; 2: of three. */
static void minmax_any(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t least = sx_ps(w, i, 0);
    bool packed = i->type == SASS_T_S16 || i->type == SASS_T_U16;
    ALU_ROW(i->d, const uint32_t v[3] = {a[l], b[l], c[l]}; bool low = (least & alu_bit[l]) != 0;
            out = packed ? (one(i, v, low, true, 0) & 0xffffu) | one(i, v, low, true, 1) << 16
                         : one(i, v, low, false, 0););
}

static uint8_t type_of(const struct ww_sass_insn *in) {
    bool is_signed = in->mod[SASS_M_SIGNED] != 0;
    if (in->mod[SASS_M_PACKED]) return is_signed ? SASS_T_S16 : SASS_T_U16;
    return is_signed ? SASS_T_S32 : SASS_T_U32;
}

bool ww_sx_alu_minmax(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_IMNMX:
    case SASS_UIMNMX:
    case SASS_VIMNMX:
    case SASS_UVIMNMX:
        i->sub = 0;
        break;
    case SASS_VIADDMNMX:
        i->sub = 1;
        break;
    case SASS_VIMNMX3:
        i->sub = 2;
        break;
    default:
        return false;
    }
    alu_operands(b, in, i, 1, 1, 1, 1);
    alu_predicates(b, in, i);
    i->type = type_of(in);
    i->mods = in->mod[SASS_M_RELU];
    bool words = i->type == SASS_T_U32 || i->type == SASS_T_S32;
    i->fn = words && !i->sub && !i->mods ? ALU_FN(minmax) : minmax_any;
    return true;
}
