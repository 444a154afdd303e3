/* Writes operands of instructions. */
#include "sass_print.h"
#include "print_internal.h"
#include <inttypes.h>
#include <string.h>

static const char *const sregs[256] = {
#define SR(number, name) [number] = name,
#include "sass_sreg.def"
#undef SR
};

const char *ww_sass_sreg_name(unsigned number) {
    return number < 256 ? sregs[number] : NULL;
}

static void put_register(struct ww_sass_out *o, const char *file, unsigned reg, unsigned zero) {
    if (reg == zero)
        ww_sass_put(o, "%sZ", file);
    else
        ww_sass_put(o, "%s%u", file, reg);
}

static void put_pred(struct ww_sass_out *o, const struct ww_sass_operand *p) {
    ww_sass_put(o, "%s%s", p->flags & SASS_F_NOT ? "!" : "", p->kind == SASS_K_UPRED ? "UP" : "P");
    if (p->reg == SASS_PT)
        ww_sass_put(o, "T");
    else
        ww_sass_put(o, "%u", p->reg);
}

static void put_const(struct ww_sass_out *o, const struct ww_sass_operand *p, bool space, bool indexed) {
    if (p->kind == SASS_K_CBIND) {
        ww_sass_put(o, "cx[");
        put_register(o, "UR", p->ureg, SASS_URZ);
        ww_sass_put(o, "]");
    } else
        ww_sass_put(o, "c[0x%x]", p->bank);
    ww_sass_put(o, "%s[", space ? " " : "");
    if (p->reg != SASS_RZ) {
        ww_sass_put(o, "%s%u", p->ureg == 1 && p->kind == SASS_K_CONST ? "UR" : "R", p->reg);
        if (!p->imm) {
            ww_sass_put(o, "]");
            return;
        }
        ww_sass_put(o, "+");
    }
    if (indexed && !p->imm) {
        ww_sass_put(o, "RZ]");
        return;
    }
    ww_sass_put(o, "%s0x%" PRIx64 "]", p->imm < 0 ? "-" : "",
                p->imm < 0 ? -(uint64_t)p->imm : (uint64_t)p->imm);
}

static const char *half_text(const struct ww_sass_insn *in, const struct ww_sass_opd *d,
                             const struct ww_sass_operand *p) {
    static const char *const halves[] = {"", ".F32", ".H0_H0", ".H1_H1"};
    static const char *const bytes[] = {"", ".B1", ".B2", ".B3"};
    static const char *const parts[] = {"", ".H1", ".?", ".?"};
    bool byte = in->mod[SASS_M_STYPE] == SASS_T_U8 || in->mod[SASS_M_STYPE] == SASS_T_S8;
    switch (d->get) {
    case SASS_G_A:
    case SASS_G_L32:
    case SASS_G_L32C:
    case SASS_G_L64:
    case SASS_G_B:
    case SASS_G_C:
    case SASS_G_D2:
        break;
    default:
        return "";
    }
    switch (d->flags) {
    case SASS_X_HALF:
        return d->slot == SASS_B && in->mod[SASS_M_NEGHI] && !p->half ? ".H0_NH1" : halves[p->half & 3];
    case SASS_X_PART:
        return parts[p->half & 3];
    case SASS_X_PARTI:
        return byte ? bytes[p->half & 3] : parts[p->half & 3];
    case SASS_X_MATRIXI:
    case SASS_X_MATRIX:
        return in->mod[d->slot == SASS_A ? SASS_M_LAYOUT : SASS_M_LAYOUT_B] ? ".COL" : ".ROW";
    case SASS_X_SIGN:
        return ".SIGN";
    case SASS_X_24:
        return ".24";
    case SASS_X_H1:
        return ".H1";
    default:
        return "";
    }
}

static void put_source(struct ww_sass_out *o, const struct ww_sass_insn *in, const struct ww_sass_opd *d,
                       const struct ww_sass_operand *p) {
    bool half = d->flags == SASS_X_HALF,
         inside = p->kind != SASS_K_REG || d->flags == SASS_X_PART || d->flags == SASS_X_PARTI;
    const char *minus =
        p->flags & SASS_F_NOT || ((d->flags == SASS_X_NEGX || d->flags == SASS_X_NEGX32) && in->mod[SASS_M_X])
            ? "~"
            : "-";
    if (p->flags & (SASS_F_NEG | SASS_F_NOT)) ww_sass_put(o, "%s", minus);
    if (p->flags & SASS_F_ABS) ww_sass_put(o, "|");
    if (p->kind == SASS_K_REG)
        put_register(o, "R", p->reg, SASS_RZ);
    else if (p->kind == SASS_K_UREG)
        put_register(o, "UR", p->reg, SASS_URZ);
    else
        put_const(o, p, half, d->get == SASS_G_CONST);
    if (inside) ww_sass_put(o, "%s", half_text(in, d, p));
    if (p->flags & SASS_F_ABS) ww_sass_put(o, "|");
    if (p->flags & SASS_F_REUSE) ww_sass_put(o, ".reuse");
    if (d->get == SASS_G_REG && d->flags == SASS_BYTE && in->mod[SASS_M_EXTRA])
        ww_sass_put(o, ".B%u", in->mod[SASS_M_EXTRA]);
    if (!inside) ww_sass_put(o, "%s", half_text(in, d, p));
}

static void put_memory(struct ww_sass_out *o, const struct ww_sass_insn *in, const struct ww_sass_opd *d,
                       const struct ww_sass_operand *p) {
    static const char *const scales[] = {"", ".X4", ".X8", ".X16"};
    bool uniform = p->bank,
         base = p->reg != SASS_RZ || p->scale || p->flags & SASS_F_U32 || (!uniform && !p->imm);
    (void)in;
    if (p->flags & SASS_F_DESC) {
        ww_sass_put(o, "desc[");
        put_register(o, "UR", p->count, SASS_URZ);
        ww_sass_put(o, "]");
    }
    ww_sass_put(o, "[");
    const char *plus = "";
    if (base) {
        put_register(o, "R", p->reg, SASS_RZ);
        if (!(d->flags & SASS_MEM_NOSUFFIX))
            ww_sass_put(o, "%s", p->flags & SASS_F_A64 ? ".64" : p->flags & SASS_F_U32 ? ".U32" : "");
        ww_sass_put(o, "%s", scales[p->scale & 3]);
        plus = "+";
    }
    if (uniform) {
        ww_sass_put(o, "%s", plus);
        put_register(o, "UR", p->ureg, SASS_URZ);
        plus = "+";
    }
    if (p->imm || !*plus)
        ww_sass_put(o, "%s%s0x%" PRIx64, plus, p->imm < 0 ? "-" : "",
                    p->imm < 0 ? -(uint64_t)p->imm : (uint64_t)p->imm);
    ww_sass_put(o, "]");
}

static void put_breg(struct ww_sass_out *o, unsigned reg) {
    static const char *const names[64] = {
#define BREG(number, name) [number] = name,
#include "sass_sreg.def"
#undef BREG
    };
    if (reg < 16)
        ww_sass_put(o, "B%u", reg);
    else
        ww_sass_put(o, "%s", names[reg & 63] ? names[reg & 63] : "???");
}

static void put_descriptor(struct ww_sass_out *o, const struct ww_sass_insn *in,
                           const struct ww_sass_operand *p) {
    bool both = in->opd[SASS_A].kind == SASS_K_GDESC;
    ww_sass_put(o, "gdesc[");
    put_register(o, "UR", p->ureg, SASS_URZ);
    ww_sass_put(o, "]%s%s%s%s", both && in->mod[SASS_M_NEG_A] ? ".negA" : "",
                in->mod[SASS_M_NEG_B] ? ".negB" : "", both && in->mod[SASS_M_LAYOUT] ? ".tnspA" : "",
                in->mod[SASS_M_LAYOUT_B] ? ".tnspB" : "");
}

static void put_set(struct ww_sass_out *o, int64_t set) {
    const char *between = "{";
    for (int i = 5; i >= 0; i--)
        if (set >> i & 1) {
            ww_sass_put(o, "%s%d", between, i);
            between = ",";
        }
    ww_sass_put(o, "}");
}

static void put_fields(struct ww_sass_out *o, const struct ww_sass_insn *in, const char *name) {
    static const char *const dims[] = {"1D",       "2D",       "3D",         "CUBE",
                                       "ARRAY_1D", "ARRAY_2D", "ARRAY_CUBE", "1D_BUFFER"};
    if (!strcmp(name, "#DIM"))
        ww_sass_put(o, "%s", dims[in->mod[SASS_M_DIM] & 7]);
    else if (!strcmp(name, "#QUERY"))
        ww_sass_put(
            o, "TEX_HEADER_%s",
            (const char *[]){"DIMENSION", "TEXTURE_TYPE", "SAMPLER_POS", "?"}[in->mod[SASS_M_QUERY] & 3]);
    else if (!strcmp(name, "#SELECT"))
        ww_sass_put(o, "0x%x", in->mod[SASS_M_SELECT]);
    else if (!strcmp(name, "#LUT"))
        ww_sass_put(o, "0x%x", in->mod[SASS_M_LUT]);
    else if (!strcmp(name, "#LUT2"))
        ww_sass_put(o, "0x%x", in->mod[SASS_M_LUT2]);
    else if (!strcmp(name, "#SHIFT"))
        ww_sass_put(o, "0x%x", in->mod[SASS_M_SHIFT]);
    else if (!strcmp(name, "#ZP")) /* FSWZADD: two bits a lane of eight */
        for (int i = 3; i >= 0; i--)
            ww_sass_put(o, "%s", (const char *[]){"PP", "PN", "NP", "ZP"}[in->mod[SASS_M_LUT] >> 2 * i & 3]);
    else
        ww_sass_put(o, "%s", name);
}

void ww_sass_put_operand(struct ww_sass_out *o, const struct ww_sass_insn *in, const struct ww_sass_opd *d) {
    const struct ww_sass_operand *p = &in->opd[d->slot];
    if (d->get == SASS_G_LITERAL) {
        put_fields(o, in, d->literal);
        return;
    }
    switch ((enum ww_sass_kind)p->kind) {
    case SASS_K_REG:
    case SASS_K_UREG:
    case SASS_K_CONST:
    case SASS_K_CBIND:
        put_source(o, in, d, p);
        return;
    case SASS_K_PRED:
    case SASS_K_UPRED:
        put_pred(o, p);
        return;
    case SASS_K_IMM:
        if (in->op == SASS_MUFU &&
            (in->mod[SASS_M_MUFU] == SASS_MUFU_RCP64H || in->mod[SASS_M_MUFU] == SASS_MUFU_RSQ64H))
            ww_sass_put_imm(o, p->imm, SASS_TX_DOUBLE);
        else
            ww_sass_put_imm(o, p->imm, (enum ww_sass_text)d->text);
        return;
    case SASS_K_LABEL:
        ww_sass_put_imm(o, p->imm, SASS_TX_WIDE);
        return;
    case SASS_K_SREG:
        if (sregs[p->reg])
            ww_sass_put(o, "%s", sregs[p->reg]);
        else
            ww_sass_put(o, "SR%u", p->reg);
        return;
    case SASS_K_BAR:
        ww_sass_put(o, "B%u", p->reg);
        return;
    case SASS_K_SB:
        ww_sass_put(o, "SB%u", p->reg);
        return;
    case SASS_K_SBSET:
        put_set(o, p->imm);
        return;
    case SASS_K_BREG:
        put_breg(o, p->reg);
        return;
    case SASS_K_MEM:
        put_memory(o, in, d, p);
        return;
    case SASS_K_TDESC:
        ww_sass_put(o, "desc[UR%u]", p->ureg);
        return;
    case SASS_K_GDESC:
        put_descriptor(o, in, p);
        return;
    default:
        ww_sass_put(o, "?");
        return;
    }
}
