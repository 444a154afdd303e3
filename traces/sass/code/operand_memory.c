/* Reads the addresses of memory operands. */
#include "sass_table.h"

int64_t ww_sass_sign_extend(uint64_t v, unsigned bits) {
    uint64_t top = UINT64_C(1) << (bits - 1);
    return (int64_t)(v ^ top) - (int64_t)top;
}

/* Global and generic addresses with a uniform register: it is a base, or the address of a descriptor (sm_80
 * on), or without meaning. One bit tells the width of the general register. */
static void global_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, bool wide, uint8_t ur,
                        struct ww_sass_operand *o) {
    const bool apart = d->flags & SASS_MEM_70; /* atomics have these two bits elsewhere */
    const bool moved =
        b->arch >= 100 && d->flags & SASS_MEM_71; /* there the register's number takes eight bits */
    bool reg64 = ww_sass_take(b, apart ? (moved ? 76 : 70) : 90, 1), desc = false, base = true;
    if (b->arch >= 80) {
        const unsigned lone = moved ? (apart ? 76 : 81) : d->flags & SASS_MEM_71 ? 71 : 76;
        base = !ww_sass_take(b, lone, 1);
        desc = !base && (b->arch >= 90 || ww_sass_take(b, 101, 1));
    }
    if (reg64) o->flags |= SASS_F_A64;
    if (base) {
        o->ureg = ur, o->bank = 1;
        if (wide) o->flags |= SASS_F_UA64;
        if (!reg64 && ((wide && b->arch >= 90) || o->reg != SASS_RZ)) o->flags |= SASS_F_U32;
    }
    if (desc) {
        o->flags |= SASS_F_DESC;
        o->count = ur;
    }
}

/* LDGSTS writes to shared memory at [register 16 + uniform register 64 + offset]. */
/* LDGSTS reads from global memory at a register pair. The uniform register at 64 is form 7's base or
 * descriptor; in form 6 the first address has it, and a descriptor is in the next one. */
void ww_sass_async_read(struct ww_sass_bits *b, struct ww_sass_operand *o) {
    o->kind = SASS_K_MEM;
    o->reg = (uint8_t)ww_sass_take(b, 24, 8);
    o->ureg = SASS_URZ;
    o->imm = ww_sass_sign_extend(ww_sass_take(b, 32, 12), 12);
    uint8_t ur = ww_sass_ureg(b, ww_sass_take(b, 64, b->arch >= 100 ? 8 : 6));
    if (!ww_sass_take(b, 91, 1)) b->bad = "uniform register";
    if (ww_sass_take(b, 70, 1)) o->flags |= SASS_F_A64;
    bool base = !ww_sass_take(b, 76, 1);
    if (base && b->form == 7) {
        o->ureg = ur, o->bank = ur != SASS_URZ;
        o->flags |= SASS_F_UA64;
        if (!(o->flags & SASS_F_A64) && o->reg != SASS_RZ) o->flags |= SASS_F_U32;
    } else if (!base && (b->arch >= 90 || ww_sass_take(b, 101, 1))) {
        o->flags |= SASS_F_DESC;
        o->count = b->form == 7 ? ur : (uint8_t)(ur + 1);
    }
}

void ww_sass_shared_read(struct ww_sass_bits *b, struct ww_sass_operand *o) {
    o->kind = SASS_K_MEM;
    o->reg = (uint8_t)ww_sass_take(b, 16, 8);
    o->bank = b->form == 6;
    o->ureg = b->form == 6 ? ww_sass_ureg(b, ww_sass_take(b, 64, b->arch >= 100 ? 8 : 6)) : SASS_URZ;
    o->imm = ww_sass_sign_extend(ww_sass_take(b, 44, 20), 20);
}

void ww_sass_memory_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, struct ww_sass_operand *o) {
    o->kind = SASS_K_MEM;
    o->reg = (uint8_t)ww_sass_take(b, 24, 8);
    o->ureg = SASS_URZ;
    /* From sm_100 on bit 63 is always set in atomics with a descriptor: it is none of the offset's. */
    unsigned bits = b->arch >= 100 && d->flags & SASS_MEM_70 && d->flags & (SASS_MEM_71 | SASS_MEM_90)
                        ? d->arg - 1u
                        : d->arg;
    if (d->arg) o->imm = ww_sass_sign_extend(ww_sass_take(b, d->lo, bits), bits);
    if (bits != d->arg && !ww_sass_take(b, 63, 1)) b->bad = "address";
    bool wide = d->flags & SASS_MEM_E && ww_sass_take(b, 72, 1);
    if (d->flags & SASS_MEM_SCALE && b->arch >= 75) o->scale = (uint8_t)ww_sass_take(b, 78, 2);
    if (!(d->flags & (SASS_MEM_UR | SASS_MEM_UR64))) {
        if (wide) o->flags |= SASS_F_A64;
        return;
    }
    uint8_t ur = ww_sass_ureg(b, ww_sass_take(b, d->flags & SASS_MEM_UR ? 32 : 64, b->arch >= 100 ? 8 : 6));
    if (!ww_sass_take(b, 91, 1)) b->bad = "uniform register";
    if (d->flags & SASS_MEM_90 &&
        d->flags & SASS_MEM_70) { /* atomics of floats of sm_100: always by descriptor */
        if (!ww_sass_take(b, 90, 1)) b->bad = "address";
        o->flags |= SASS_F_A64 | SASS_F_DESC;
        o->count = ur;
        return;
    }
    if (d->flags & SASS_MEM_90) {
        if (ww_sass_take(b, d->flags & SASS_MEM_71 ? 72 : 90, 1))
            o->flags |= SASS_F_A64;
        else
            o->flags |= SASS_F_U32, o->bank = 1, o->ureg = ur;
        return;
    }
    if (d->flags & SASS_MEM_E)
        global_read(b, d, wide, ur, o);
    else
        o->ureg = ur, o->bank = 1;
}

void ww_sass_constant_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                           struct ww_sass_operand *o) {
    o->kind = SASS_K_CONST;
    o->reg = SASS_RZ;
    o->imm = d->get == SASS_G_UCONST17 ? (int64_t)ww_sass_take(b, 37, 17)
                                       : ww_sass_sign_extend(ww_sass_take(b, 38, 16), 16);
    if (d->get == SASS_G_UCONST && ww_sass_take(b, 91, 1)) {
        o->kind = SASS_K_CBIND;
        o->ureg = ww_sass_ureg(b, ww_sass_take(b, 24, 8));
        return;
    }
    o->bank = (uint8_t)ww_sass_take(b, 54, 5);
    if (d->get == SASS_G_UCONST) return;
    o->reg = (uint8_t)ww_sass_take(b, 24, row->uniform && b->arch < 100 ? 6 : 8);
    if (!row->uniform) return;
    o->ureg = 1; /* reg is a uniform register */
    if (o->reg == SASS_URZ && b->arch < 100) o->reg = SASS_RZ;
}
