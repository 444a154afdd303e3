/* Reads operands of an instruction from its bits. */
#include "sass_table.h"

uint8_t ww_sass_ureg(const struct ww_sass_bits *b, uint64_t v) {
    return (uint8_t)(v == 255 && b->arch >= 100 ? SASS_URZ : v);
}

/* The operand cache's bits stand for the source's place among the three sources, wherever its register's bits
 * are. */
static void reuse_read(const struct ww_sass_bits *b, const struct ww_sass_opd *d, struct ww_sass_insn *in) {
    struct ww_sass_operand *o = &in->opd[d->slot];
    unsigned bit = d->slot == SASS_A ? 122 : d->slot == SASS_B ? 123 : 124;
    if (d->get == SASS_G_D2 || d->get == SASS_G_L32C) bit = 124;
    if (o->kind == SASS_K_REG && ww_sass_peek(b->raw, bit, 1)) o->flags |= SASS_F_REUSE;
}

static void reg_read(struct ww_sass_bits *b, const struct ww_sass_row *row, unsigned lo, bool uniform,
                     struct ww_sass_operand *o) {
    o->kind = uniform || row->uniform ? SASS_K_UREG : SASS_K_REG;
    o->reg = (uint8_t)ww_sass_take(b, lo, 8);
    if (o->kind == SASS_K_UREG) {
        o->reg = ww_sass_ureg(b, o->reg);
        if (o->reg > SASS_URZ && b->arch < 100) b->bad = "uniform register";
    }
}

/* Sign, absolute value and half of a source that lies at `lo`. */
static void source_flags(struct ww_sass_bits *b, unsigned lo, unsigned set, struct ww_sass_operand *o) {
    static const struct {
        uint8_t lo, neg, abs, half_neg, half_abs, half;
    } places[] = {{24, 72, 73, 72, 73, 74}, {32, 63, 62, 63, 62, 60}, {64, 75, 74, 84, 83, 81}};
    const unsigned i = lo == 24 ? 0 : lo == 32 ? 1 : 2;
    switch (set) {
    case SASS_X_FLOAT:
        if (ww_sass_take(b, places[i].neg, 1)) o->flags |= SASS_F_NEG;
        if (ww_sass_take(b, places[i].abs, 1)) o->flags |= SASS_F_ABS;
        break;
    case SASS_X_NEGX32: /* the bit of a source at 64 means something else */
        if (i == 1 && ww_sass_take(b, 63, 1)) o->flags |= SASS_F_NEG;
        break;
    case SASS_X_NEG:
    case SASS_X_NEGX:
        if (ww_sass_take(b, places[i].neg, 1)) o->flags |= SASS_F_NEG;
        break;
    case SASS_X_NOT:
        if (ww_sass_take(b, places[i].neg, 1)) o->flags |= SASS_F_NOT;
        break;
    case SASS_X_HALF:
        if (ww_sass_take(b, places[i].half_neg, 1)) o->flags |= SASS_F_NEG;
        if (ww_sass_take(b, places[i].half_abs, 1)) o->flags |= SASS_F_ABS;
        o->half = (uint8_t)ww_sass_take(b, places[i].half, 2);
        break;
    case SASS_X_PART:
        if (ww_sass_take(b, places[i].neg, 1)) o->flags |= SASS_F_NEG;
        if (ww_sass_take(b, places[i].abs, 1)) o->flags |= SASS_F_ABS;
        o->half = (uint8_t)ww_sass_take(b, places[i].half, 2);
        break;
    case SASS_X_PARTI:
        o->half = (uint8_t)ww_sass_take(b, places[i].half, 2);
        break;
    case SASS_X_MMAH:
        if (ww_sass_take(b, places[i].half_neg, 1)) o->flags |= SASS_F_NEG;
        if (ww_sass_take(b, places[i].half_abs, 1)) o->flags |= SASS_F_ABS;
        break;
    case SASS_X_MATRIX:
        if (ww_sass_take(b, places[i].neg, 1)) o->flags |= SASS_F_NEG;
        break;
    default:
        break;
    }
}

static void const_read(struct ww_sass_bits *b, struct ww_sass_operand *o) {
    o->kind = SASS_K_CONST;
    o->reg = SASS_RZ;
    o->imm = ww_sass_sign_extend(ww_sass_take(b, 40, 14), 14) * 4;
    o->bank = (uint8_t)ww_sass_take(b, 54, 5);
    if (b->arch < 75 || !ww_sass_take(b, 91, 1)) return;
    o->kind = SASS_K_CBIND;
    o->bank = 0;
    o->ureg = ww_sass_ureg(b, ww_sass_take(b, 32, 6));
}

/* Bits 32 to 63: register, immediate, constant or uniform register, as the form says. */
static void low_read(struct ww_sass_bits *b, const struct ww_sass_row *row, unsigned set,
                     struct ww_sass_operand *o) {
    switch (b->form) {
    case 2:
    case 4:
        o->kind = SASS_K_IMM;
        o->imm = (int64_t)ww_sass_take(b, 32, 32);
        return;
    case 3:
    case 5:
        const_read(b, o);
        break;
    case 6:
    case 7:
        reg_read(b, row, 32, true, o);
        if (!ww_sass_take(b, 91, 1)) b->bad = "uniform register";
        break;
    default:
        reg_read(b, row, 32, false, o);
        break;
    }
    source_flags(b, 32, set, o);
}

static void high_read(struct ww_sass_bits *b, const struct ww_sass_row *row, unsigned set,
                      struct ww_sass_operand *o) {
    reg_read(b, row, 64, false, o);
    source_flags(b, 64, set, o);
}

static void pred_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, bool uniform,
                      struct ww_sass_operand *o) {
    o->kind = uniform ? SASS_K_UPRED : SASS_K_PRED;
    o->reg = (uint8_t)ww_sass_take(b, d->lo, 3);
    if (d->get == SASS_G_NPRED || d->get == SASS_G_UNPRED) o->reg ^= 7;
    if (d->arg && ww_sass_take(b, d->arg, 1)) o->flags |= SASS_F_NOT;
}

static void label_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, const struct ww_sass_insn *in,
                       struct ww_sass_operand *o) {
    o->kind = SASS_K_LABEL;
    uint64_t v = ww_sass_take(b, d->lo, d->arg);
    bool apart = d->get == SASS_G_LABEL2 || d->get == SASS_G_ABS2; /* the lowest eight bits lie apart */
    if (apart) v = v << 8 | ww_sass_take(b, 16, 8);
    if (d->get == SASS_G_ABS || d->get == SASS_G_ABS2)
        o->imm = (int64_t)v * 4;
    else
        o->imm = (int64_t)in->offset + 16 + ww_sass_sign_extend(v, d->arg + (apart ? 8u : 0u)) * 4;
}

static void source_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                        struct ww_sass_operand *o) {
    bool swapped = b->form == 2 || b->form == 3 || b->form == 7;
    switch ((enum ww_sass_get)d->get) {
    case SASS_G_A:
        reg_read(b, row, 24, false, o);
        source_flags(b, 24, d->flags, o);
        break;
    case SASS_G_L32:
    case SASS_G_L32C:
        low_read(b, row, d->flags, o);
        break;
    case SASS_G_L64:
        high_read(b, row, d->flags, o);
        break;
    case SASS_G_B:
        if (swapped)
            high_read(b, row, d->flags, o);
        else
            low_read(b, row, d->flags, o);
        break;
    case SASS_G_C:
        if (swapped)
            low_read(b, row, d->flags, o);
        else
            high_read(b, row, d->flags, o);
        break;
    default: /* SASS_G_D2 */
        if (b->form == 1)
            high_read(b, row, d->flags, o);
        else
            low_read(b, row, d->flags, o);
        break;
    }
}

/* How many values of a type a register holds. */
static unsigned type_parts(unsigned type) {
    switch (type) {
    case SASS_T_U8:
    case SASS_T_S8:
        return 4;
    case SASS_T_U16:
    case SASS_T_S16:
    case SASS_T_F16:
    case SASS_T_BF16:
        return 2;
    default:
        return 1;
    }
}

/* Registers, predicates and barrier registers that have a field of their own. False: none of these. */
static bool register_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                          struct ww_sass_insn *in) {
    struct ww_sass_operand *o = &in->opd[d->slot];
    switch ((enum ww_sass_get)d->get) {
    case SASS_G_REG:
        reg_read(b, row, d->lo, false, o);
        if (d->slot == SASS_E && ww_sass_take(b, 50, 1)) o->flags |= SASS_F_REUSE;
        if (d->flags == SASS_BYTE) reuse_read(b, d, in);
        return true;
    case SASS_G_UREG:
        reg_read(b, row, d->lo, true, o);
        return true;
    case SASS_G_UREG6:
        o->kind = SASS_K_UREG;
        o->reg = (uint8_t)ww_sass_take(b, d->lo, 6);
        if (d->arg && ww_sass_take(b, d->arg, 1)) o->flags |= SASS_F_NOT;
        return true;
    case SASS_G_PRED:
    case SASS_G_NPRED:
        pred_read(b, d, row->uniform, o);
        return true;
    case SASS_G_WPRED:
        pred_read(b, d, false, o);
        return true;
    case SASS_G_UNPRED:
    case SASS_G_UPRED:
        pred_read(b, d, true, o);
        return true;
    default:
        return false;
    }
}

static void field_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, enum ww_sass_kind kind,
                       unsigned bits, struct ww_sass_operand *o) {
    o->kind = (uint8_t)kind;
    o->reg = (uint8_t)ww_sass_take(b, d->lo, bits);
}

/* Numbers of special registers, barriers and scoreboards. */
static bool number_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, struct ww_sass_operand *o) {
    switch ((enum ww_sass_get)d->get) {
    case SASS_G_SREG:
        field_read(b, d, SASS_K_SREG, 8, o);
        return true;
    case SASS_G_BAR:
        field_read(b, d, SASS_K_BAR, 4, o);
        return true;
    case SASS_G_SB:
        field_read(b, d, SASS_K_SB, 3, o);
        return true;
    case SASS_G_BREG:
        field_read(b, d, SASS_K_BREG, d->arg, o);
        return true;
    case SASS_G_SBSET:
        o->kind = SASS_K_SBSET;
        o->imm = (int64_t)ww_sass_take(b, d->lo, d->arg);
        return true;
    default:
        return false;
    }
}

static bool immediate_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, const struct ww_sass_insn *in,
                           struct ww_sass_operand *o) {
    switch ((enum ww_sass_get)d->get) {
    case SASS_G_IMM:
        o->imm = (int64_t)ww_sass_take(b, d->lo, d->arg);
        break;
    case SASS_G_IMM64:
        o->imm = (int64_t)ww_sass_take(b, d->lo, 64);
        break;
    case SASS_G_SIMM:
        o->imm = ww_sass_sign_extend(ww_sass_take(b, d->lo, d->arg), d->arg);
        break;
    case SASS_G_SIMM4:
        o->imm = ww_sass_sign_extend(ww_sass_take(b, d->lo, d->arg), d->arg) * 4;
        break;
    case SASS_G_SIMM4_2:
        o->imm =
            ww_sass_sign_extend(ww_sass_take(b, d->lo, d->arg) << 8 | ww_sass_take(b, 16, 8), d->arg + 8u) * 4;
        break;
    case SASS_G_LABEL:
    case SASS_G_LABEL2:
    case SASS_G_ABS:
    case SASS_G_ABS2:
        label_read(b, d, in, o);
        return true;
    default:
        return false;
    }
    o->kind = SASS_K_IMM;
    return true;
}

/* A place that a uniform register alone names. */
static void uniform_memory_read(struct ww_sass_bits *b, const struct ww_sass_opd *d,
                                struct ww_sass_operand *o) {
    o->kind = SASS_K_MEM;
    o->reg = SASS_RZ;
    o->bank = 1;
    o->ureg = ww_sass_ureg(b, ww_sass_take(b, d->lo, b->arch >= 100 ? 8 : 6));
    o->flags |= SASS_F_UA64;
    if (d->arg) o->imm = ww_sass_sign_extend(ww_sass_take(b, 40, 24), 24);
}

/* Places in memory, and descriptors of them. */
static bool place_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                       struct ww_sass_operand *o) {
    switch ((enum ww_sass_get)d->get) {
    case SASS_G_UMEM:
        uniform_memory_read(b, d, o);
        return true;
    case SASS_G_UDESC:
        o->kind = SASS_K_TDESC;
        o->ureg = ww_sass_ureg(b, ww_sass_take(b, d->lo, 8));
        return true;
    case SASS_G_GDESC:
        o->kind = SASS_K_GDESC;
        o->ureg = ww_sass_ureg(b, ww_sass_take(b, d->lo, 8));
        return true;
    case SASS_G_UCONST17:
    case SASS_G_CONST:
    case SASS_G_UCONST:
        ww_sass_constant_read(b, row, d, o);
        return true;
    case SASS_G_ASYNC:
        ww_sass_async_read(b, o);
        return true;
    case SASS_G_SHARED:
        ww_sass_shared_read(b, o);
        return true;
    case SASS_G_MEM:
        ww_sass_memory_read(b, d, o);
        return true;
    default:
        return false;
    }
}

void ww_sass_operand_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                          struct ww_sass_insn *in) {
    struct ww_sass_operand *o = &in->opd[d->slot];
    if (d->get == SASS_G_END || d->get == SASS_G_LITERAL) return;
    if (register_read(b, row, d, in) || number_read(b, d, o)) return;
    if (immediate_read(b, d, in, o) || place_read(b, row, d, o)) return;
    source_read(b, row, d, o);
    reuse_read(b, d, in);
    if ((d->flags == SASS_X_PART || d->flags == SASS_X_PARTI) && o->half >= type_parts(in->mod[SASS_M_STYPE]))
        b->bad = "part of a register";
}
