/* How many registers the operands of an instruction take: from the opcode, its types and its shape. */
#include "sass_table.h"

static void set(struct ww_sass_insn *in, enum ww_sass_slot slot, unsigned count) {
    struct ww_sass_operand *p = &in->opd[slot];
    if ((p->kind == SASS_K_REG && p->reg != SASS_RZ) || (p->kind == SASS_K_UREG && p->reg != SASS_URZ))
        p->count = (uint8_t)count;
}

static unsigned type_registers(unsigned type) {
    switch (type) {
    case SASS_T_U64:
    case SASS_T_S64:
    case SASS_T_B64:
    case SASS_T_F64:
    case SASS_T_F32X2:
    case SASS_T_F32X2_FTZ:
    case SASS_T_F16X4:
    case SASS_T_BF16X4:
        return 2;
    case SASS_T_B128:
    case SASS_T_U128:
    case SASS_T_F32X4:
    case SASS_T_F32X4_FTZ:
    case SASS_T_F16X8:
    case SASS_T_BF16X8:
        return 4;
    case SASS_T_B256:
        return 8;
    default:
        return 1;
    }
}

static unsigned type_bits(unsigned type) {
    switch (type) {
    case SASS_T_B1:
        return 1;
    case SASS_T_U4:
    case SASS_T_S4:
        return 4;
    case SASS_T_U8:
    case SASS_T_S8:
    case SASS_T_E4M3:
    case SASS_T_E5M2:
        return 8;
    case SASS_T_F64:
        return 64;
    case SASS_T_TF32:
    case SASS_T_F32:
    case SASS_T_S32:
        return 32;
    default:
        return 16;
    }
}

static unsigned components(unsigned mask) {
    unsigned n = 0;
    for (; mask; mask &= mask - 1) n++;
    return n;
}

/* A warp's 32 lanes hold a matrix of `elements` in registers of 32 bits; at least one register each. */
static unsigned matrix_registers(unsigned elements, unsigned bits, unsigned lanes) {
    unsigned n = elements * bits / (32 * lanes);
    return n ? n : 1;
}

static void matrix(struct ww_sass_insn *in, unsigned a, unsigned b, unsigned result) {
    static const struct {
        uint8_t m, n;
        uint16_t k;
    } shapes[] = {
        [SASS_MMA_884] = {8, 8, 4},       [SASS_MMA_1684] = {16, 8, 4},     [SASS_MMA_1688] = {16, 8, 8},
        [SASS_MMA_16816] = {16, 8, 16},   [SASS_MMA_16832] = {16, 8, 32},   [SASS_MMA_16864] = {16, 8, 64},
        [SASS_MMA_8816] = {8, 8, 16},     [SASS_MMA_8832] = {8, 8, 32},     [SASS_MMA_88128] = {8, 8, 128},
        [SASS_MMA_168128] = {16, 8, 128}, [SASS_MMA_168256] = {16, 8, 256}, [SASS_MMA_64XN] = {64, 0, 0},
    };
    const unsigned shape = in->mod[SASS_M_SHAPE];
    const unsigned m = shapes[shape].m, n = shapes[shape].n, k = shapes[shape].k;
    set(in, SASS_A, matrix_registers(m * k, a, 32) / (in->mod[SASS_M_SPARSE] && m * k * a > 1024 ? 2 : 1));
    set(in, SASS_B, matrix_registers(n * k, b, 32));
    set(in, SASS_C, matrix_registers(m * n, result, 32));
    set(in, SASS_D, matrix_registers(m * n, result, 32));
}

/* Volta's HMMA.884 works in steps: pairs of registers, whatever the types. */
static void hmma(struct ww_sass_insn *in) {
    if (in->mod[SASS_M_SHAPE] == SASS_MMA_884) {
        set(in, SASS_A, 2), set(in, SASS_B, 2), set(in, SASS_C, 2), set(in, SASS_D, 2);
        return;
    }
    unsigned bits = type_bits(in->mod[SASS_M_STYPE]);
    matrix(in, bits, bits, type_bits(in->mod[SASS_M_DTYPE]));
}

/* A warpgroup's 128 lanes hold 64 rows of N columns; A, when in registers, is 64 rows of 256 bits. */
static void warpgroup_matrix(struct ww_sass_insn *in) {
    unsigned bits = in->op == SASS_IGMMA || in->op == SASS_BGMMA ? 32 : type_bits(in->mod[SASS_M_DTYPE]);
    unsigned n = matrix_registers(64u * 8u * in->mod[SASS_M_N8], bits, 128);
    set(in, SASS_A, 4), set(in, SASS_C, n), set(in, SASS_D, n);
}

static void all_pairs(struct ww_sass_insn *in) {
    set(in, SASS_D, 2), set(in, SASS_A, 2), set(in, SASS_B, 2), set(in, SASS_C, 2);
}

static void texture(struct ww_sass_insn *in) {
    unsigned n = in->opd[SASS_E].kind == SASS_K_IMM ? components((unsigned)in->opd[SASS_E].imm & 15u) : 4;
    if (in->mod[SASS_M_EXTRA2]) n = (n + 1) / 2;
    set(in, SASS_D, n > 2 ? 2 : n);
    set(in, SASS_D2, n > 2 ? n - 2 : 0);
}

/* Each of the following knows the opcodes of one kind, and says whether this is one of them. */

static bool arithmetic(struct ww_sass_insn *in) {
    switch ((enum ww_sass_op)in->op) {
    case SASS_DADD:
    case SASS_DMUL:
    case SASS_DFMA:
    case SASS_DSETP:
    case SASS_DMNMX:
        all_pairs(in);
        return true;
    case SASS_IMAD_WIDE:
    case SASS_UIMAD_WIDE:
        set(in, SASS_D, 2), set(in, SASS_C, 2);
        return true;
    case SASS_IMAD_HI:
    case SASS_UIMAD_HI:
        set(in, SASS_C, 2);
        return true;
    case SASS_UIADD3:
        if (in->mod[SASS_M_WIDTH64]) all_pairs(in);
        return true;
    case SASS_CS2R:
        set(in, SASS_D, in->mod[SASS_M_WIDTH64] ? 2 : 1);
        return true;
    case SASS_MATCH:
        set(in, SASS_A, in->mod[SASS_M_WIDTH64] ? 2 : 1);
        return true;
    default:
        return false;
    }
}

static bool conversion(struct ww_sass_insn *in) {
    const unsigned to = type_registers(in->mod[SASS_M_DTYPE]), from = type_registers(in->mod[SASS_M_STYPE]);
    switch ((enum ww_sass_op)in->op) {
    case SASS_F2F:
    case SASS_F2I:
    case SASS_I2F:
        set(in, SASS_D, to), set(in, SASS_B, from);
        return true;
    case SASS_FRND:
        set(in, SASS_D, from), set(in, SASS_B, from);
        return true;
    default:
        return false;
    }
}

static bool memory(struct ww_sass_insn *in) {
    const unsigned n = type_registers(in->mod[SASS_M_TYPE]);
    switch ((enum ww_sass_op)in->op) {
    case SASS_LD:
    case SASS_LDG:
    case SASS_LDS:
    case SASS_LDL:
    case SASS_LDC:
    case SASS_ULDC:
        set(in, SASS_D, n);
        return true;
    case SASS_ST:
    case SASS_STG:
    case SASS_STS:
    case SASS_STL:
    case SASS_STAS:
    case SASS_RED:
    case SASS_REDG:
    case SASS_REDAS:
    case SASS_SURED:
        set(in, SASS_B, n);
        return true;
    case SASS_ATOM:
    case SASS_ATOMG:
    case SASS_ATOMS:
        set(in, SASS_D, n), set(in, SASS_B, n), set(in, SASS_C, n);
        return true;
    case SASS_LDSM:
        set(in, SASS_D, in->mod[SASS_M_NUM]);
        return true;
    case SASS_STSM:
        set(in, SASS_B, in->mod[SASS_M_NUM]);
        return true;
    case SASS_SYNCS:
        set(in, SASS_D, 2);
        if (in->mod[SASS_M_VARIANT] == 3) set(in, SASS_B, 2);
        return true;
    default:
        return false;
    }
}

static bool texture_or_surface(struct ww_sass_insn *in) {
    const unsigned n =
        in->mod[SASS_M_FORMATTED] ? components(in->mod[SASS_M_MASK]) : type_registers(in->mod[SASS_M_TYPE]);
    switch ((enum ww_sass_op)in->op) {
    case SASS_TEX:
    case SASS_TLD:
    case SASS_TLD4:
    case SASS_TXD:
    case SASS_TXQ:
        texture(in);
        return true;
    case SASS_SULD:
        set(in, SASS_D, n);
        return true;
    case SASS_SUST:
        set(in, SASS_B, n);
        return true;
    default:
        return false;
    }
}

static bool matrices(struct ww_sass_insn *in) {
    switch ((enum ww_sass_op)in->op) {
    case SASS_HMMA:
        hmma(in);
        return true;
    case SASS_DMMA:
        matrix(in, 64, 64, 64);
        return true;
    case SASS_BMMA:
        matrix(in, 1, 1, 32);
        return true;
    case SASS_IMMA:
        matrix(in, type_bits(in->mod[SASS_M_STYPE]), type_bits(in->mod[SASS_M_BTYPE]), 32);
        return true;
    case SASS_QMMA:
        matrix(in, 8, 8, type_bits(in->mod[SASS_M_DTYPE]));
        return true;
    case SASS_HGMMA:
    case SASS_QGMMA:
    case SASS_IGMMA:
    case SASS_BGMMA:
        warpgroup_matrix(in);
        return true;
    default:
        return false;
    }
}

/* Addresses of code. */
static bool control_flow(struct ww_sass_insn *in) {
    switch ((enum ww_sass_op)in->op) {
    case SASS_LEPC:
        set(in, SASS_D, 2);
        return true;
    case SASS_CALL:
    case SASS_RET:
    case SASS_BRX:
    case SASS_BRXU:
        set(in, SASS_A, 2);
        return true;
    default:
        return false;
    }
}

void ww_sass_widths(struct ww_sass_insn *in) {
    for (unsigned i = 0; i < SASS_SLOTS; i++) set(in, (enum ww_sass_slot)i, 1);
    if (arithmetic(in) || conversion(in) || memory(in)) return;
    if (texture_or_surface(in) || matrices(in)) return;
    control_flow(in);
}
