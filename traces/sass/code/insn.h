/* A decoded machine instruction of sm_70 and later. Plain data of fixed size, made for execution: an executor
 * reads operands and modifiers from here and never from the raw bits. sass_decode.h fills it, sass_print.h
 * writes it as text.
 *
 * Operands lie in named slots, the same for every form of an opcode:
 *
 *   D  D2     destination registers (general or uniform); D2 is a texture's second destination
 *   PD PD2    destination predicates
 *   A B C     sources, as the encoding names them: A at bits 24, B at 32 or the constant or immediate, C at 64
 *   PS..PS3   source predicates, in the order in which the text prints them
 *   E         what remains: a branch target, an immediate offset, a scoreboard, ...
 *
 * What the text prints as first, second, third source is A, B, C in every form (an addend that is an immediate
 * is C, wherever its bits are). A memory address is A; the data of a store or an atomic is B, the value that a
 * compare-and-swap stores is C.
 *
 * sass_opcode.def lists the slots of each opcode. A slot that an opcode has is always filled in, also where the
 * text omits it (a PT or a zero register), so that execution needs no cases. A slot it lacks has kind
 * SASS_K_NONE. */
#ifndef WW_SASS_INSN_H
#define WW_SASS_INSN_H

#include <stdbool.h>
#include <stdint.h>

#define SASS_INSN_BYTES 16u
#define SASS_RZ 255u /* the general register that reads as zero */
#define SASS_URZ                                                                                               \
    63u /* the uniform register that reads as zero: 63 also where the encoding says 255 (sm_100 on) */
#define SASS_PT 7u /* the predicate that is always true; also of uniform predicates */

enum ww_sass_op {
    SASS_INVALID,
#define OP(id, name, class, space, unit, latency) SASS_##id,
#include "op.def"
#undef OP
    SASS_OP_COUNT
};

/* The encoding's form, bits 9 to 11: which of B and C is a register, immediate, constant or uniform register.
 */
enum ww_sass_kind {
    SASS_K_NONE,
    SASS_K_REG,   /* reg: R0 to R254, RZ */
    SASS_K_UREG,  /* reg: UR0 to UR62, URZ */
    SASS_K_PRED,  /* reg: P0 to P6, PT; flag NOT */
    SASS_K_UPRED, /* reg: UP0 to UP6, UPT; flag NOT */
    SASS_K_IMM,   /* imm: 32 bits, zero extended unless the opcode's field is signed. FP64 operations: the upper
                   * word of the double. Packed halves: two 16-bit values, lower first */
    SASS_K_CONST, /* c[bank][imm]; LDC: c[bank][reg + imm], reg is SASS_RZ without an index */
    SASS_K_CBIND, /* cx[ureg][imm]: the bank's descriptor is in uniform registers ureg, ureg + 1; reg as above
                   */
    SASS_K_SREG,  /* reg: number of the special register (enum ww_sass_sreg) */
    SASS_K_BAR,   /* reg: convergence barrier B0 to B15 */
    SASS_K_SB,    /* reg: scoreboard SB0 to SB5 */
    SASS_K_SBSET, /* imm: a set of scoreboards, one bit each (DEPBAR's list) */
    SASS_K_LABEL, /* imm: byte offset of the target from the start of the code, may be negative in hostile code
                   */
    SASS_K_MEM,   /* [reg + ureg + imm], see the flags; reg is SASS_RZ and ureg SASS_URZ where absent */
    SASS_K_GDESC, /* gdesc[ureg]: matrix descriptors of a warpgroup operation in uniform registers ureg to ureg
                     + 3 */
    SASS_K_TDESC, /* idesc or tdesc, as above */
    SASS_K_BREG,  /* named special of BMOV: MACTIVE, ATEXIT_PC..., reg: number */
};

enum {
    SASS_F_NEG =
        1, /* two's complement or sign flip, as the opcode's type is; with X of an addition: complement */
    SASS_F_ABS = 2,
    SASS_F_NOT = 4,    /* complement of a register, ! of a predicate */
    SASS_F_REUSE = 8,  /* the operand cache keeps it */
    SASS_F_A64 = 16,   /* MEM: the register (pair) holds 64 bits; without it 32 bits */
    SASS_F_U32 = 32,   /* MEM: the general register is a 32-bit offset to the uniform base (".U32") */
    SASS_F_UA64 = 64,  /* MEM: the uniform register (pair) holds 64 bits */
    SASS_F_DESC = 128, /* MEM: desc[desc] names a descriptor: uniform registers desc, desc + 1 (imposes nothing
                        * on the address) */
};

/* Which half of a packed pair an operand of HADD2 and the like delivers. */
enum ww_sass_half { SASS_H1_H0, SASS_H_F32, SASS_H0_H0, SASS_H1_H1 };

struct ww_sass_operand {
    uint8_t kind;  /* enum ww_sass_kind */
    uint8_t flags; /* SASS_F_* */
    uint8_t reg;
    uint8_t ureg;
    uint8_t bank; /* CONST: the bank */
    uint8_t
        half; /* enum ww_sass_half; of HMMA, I2F.B1 and others: number of the half or byte that is selected */
    uint8_t scale; /* MEM: log2 of what the general register is multiplied with (".X4": 2) */
    uint8_t count; /* REG, UREG: consecutive registers read or written; 0 where it is RZ, URZ. MEM: desc when
                      DESC */
    int64_t imm;
};

enum ww_sass_slot {
    SASS_D,
    SASS_D2,
    SASS_PD,
    SASS_PD2,
    SASS_A,
    SASS_B,
    SASS_C,
    SASS_PS,
    SASS_PS2,
    SASS_PS3,
    SASS_E,
    SASS_SLOTS
};

/* Modifiers: mod[SASS_M_x]. One kind has one meaning over all opcodes; 0 where an opcode lacks it. */
enum ww_sass_mod {
#define MOD(id, help) SASS_M_##id,
#include "sass_modifier.def"
#undef MOD
    SASS_MODS
};

enum ww_sass_cmp { /* CMP: the last eight also hold when an operand is not a number */
                   SASS_CMP_F,
                   SASS_CMP_LT,
                   SASS_CMP_EQ,
                   SASS_CMP_LE,
                   SASS_CMP_GT,
                   SASS_CMP_NE,
                   SASS_CMP_GE,
                   SASS_CMP_NUM,
                   SASS_CMP_NAN,
                   SASS_CMP_LTU,
                   SASS_CMP_EQU,
                   SASS_CMP_LEU,
                   SASS_CMP_GTU,
                   SASS_CMP_NEU,
                   SASS_CMP_GEU,
                   SASS_CMP_T,
                   SASS_CMP_MIN, /* of DSETP: PD is A < B, PD2 tells which operand the minimum takes; see the
                                    executor */
                   SASS_CMP_MAX
};
enum ww_sass_bool { SASS_AND, SASS_OR, SASS_XOR };
enum ww_sass_rnd { SASS_RN, SASS_RM, SASS_RP, SASS_ROUND_Z, SASS_RNA, SASS_RND_RS };
enum ww_sass_type { /* TYPE, DTYPE, STYPE, CTYPE */
                    SASS_T_NONE,
                    SASS_T_U8,
                    SASS_T_S8,
                    SASS_T_U16,
                    SASS_T_S16,
                    SASS_T_U32,
                    SASS_T_S32,
                    SASS_T_U64,
                    SASS_T_S64,
                    SASS_T_B32,
                    SASS_T_B64,
                    SASS_T_B128,
                    SASS_T_U128,
                    SASS_T_F16,
                    SASS_T_BF16,
                    SASS_T_TF32,
                    SASS_T_F32,
                    SASS_T_F64,
                    SASS_T_F16X2,
                    SASS_T_BF16X2,
                    SASS_T_F32X2,
                    SASS_T_F16X4,
                    SASS_T_F16X8,
                    SASS_T_BF16X4,
                    SASS_T_BF16X8,
                    SASS_T_F32X4,
                    SASS_T_F32_FTZ,
                    SASS_T_F32X2_FTZ,
                    SASS_T_F32X4_FTZ,
                    SASS_T_E4M3,
                    SASS_T_E5M2,
                    SASS_T_E6M9,
                    SASS_T_E8M7,
                    SASS_T_E8M10,
                    SASS_T_U4,
                    SASS_T_S4,
                    SASS_T_U2,
                    SASS_T_B1,
                    SASS_T_B256,
                    SASS_T_E2M3,
                    SASS_T_E3M2,
                    SASS_T_E2M1,
                    SASS_T_E8M0,
};
enum ww_sass_mufu {
    SASS_MUFU_COS,
    SASS_MUFU_SIN,
    SASS_MUFU_EX2,
    SASS_MUFU_LG2,
    SASS_MUFU_RCP,
    SASS_MUFU_RSQ,
    SASS_MUFU_RCP64H,
    SASS_MUFU_RSQ64H,
    SASS_MUFU_SQRT,
    SASS_MUFU_TANH
};
enum ww_sass_order { SASS_WEAK, SASS_CONSTANT, SASS_STRONG, SASS_MMIO, SASS_SC };
enum ww_sass_scope {
    SASS_SCOPE_NONE,
    SASS_SCOPE_CTA,
    SASS_SCOPE_SM,
    SASS_SCOPE_GPU,
    SASS_SCOPE_SYS,
    SASS_SCOPE_VC,
    SASS_SCOPE_ALL
};
enum ww_sass_evict {
    SASS_EV_NORMAL,
    SASS_EV_FIRST,
    SASS_EV_LAST,
    SASS_EV_LAST_USE,
    SASS_EV_UNCHANGED,
    SASS_EV_NO_ALLOC
};
enum ww_sass_atom {
    SASS_ATOM_ADD,
    SASS_ATOM_MIN,
    SASS_ATOM_MAX,
    SASS_ATOM_INC,
    SASS_ATOM_DEC,
    SASS_ATOM_AND,
    SASS_ATOM_OR,
    SASS_ATOM_XOR,
    SASS_ATOM_EXCH,
    SASS_ATOM_SAFEADD,
    SASS_ATOM_CAS,
    SASS_ATOM_CAST_SPIN,
    SASS_ATOM_POPC_INC,
    SASS_ATOM_ARRIVE,
    SASS_ATOM_CAST
};
enum ww_sass_shfl { SASS_SHFL_IDX, SASS_SHFL_UP, SASS_SHFL_DOWN, SASS_SHFL_BFLY };
enum ww_sass_vote { SASS_VOTE_ALL, SASS_VOTE_ANY, SASS_VOTE_EQ };
enum ww_sass_prmt {
    SASS_PRMT_IDX,
    SASS_PRMT_F4E,
    SASS_PRMT_B4E,
    SASS_PRMT_RC8,
    SASS_PRMT_ECL,
    SASS_PRMT_ECR,
    SASS_PRMT_RC16
};
enum ww_sass_bar { SASS_BAR_SYNC, SASS_BAR_ARV, SASS_BAR_RED, SASS_BAR_SCAN, SASS_BAR_SYNCALL };
enum ww_sass_barred { SASS_BAR_POPC, SASS_BAR_AND, SASS_BAR_OR };
enum ww_sass_redux {
    SASS_REDUX_AND,
    SASS_REDUX_OR,
    SASS_REDUX_XOR,
    SASS_REDUX_SUM,
    SASS_REDUX_MIN,
    SASS_REDUX_MAX
};
enum ww_sass_dim { /* DIM of textures and surfaces */
                   SASS_DIM_1D,
                   SASS_DIM_2D,
                   SASS_DIM_3D,
                   SASS_DIM_CUBE,
                   SASS_DIM_A1D,
                   SASS_DIM_A2D,
                   SASS_DIM_ACUBE,
                   SASS_DIM_BUFFER
};
enum ww_sass_lod {
    SASS_LOD_AUTO,
    SASS_LOD_ZERO,
    SASS_LOD_BIAS,
    SASS_LOD_LEVEL,
    SASS_LOD_CLAMP,
    SASS_LOD_BIAS_CLAMP
};
enum ww_sass_clamp { SASS_CLAMP_IGN, SASS_CLAMP_NEAR, SASS_CLAMP_TRAP }; /* CLAMP of surfaces */
enum ww_sass_shape { /* SHAPE: M, N and K of a matrix operation */
                     SASS_MMA_884,
                     SASS_MMA_1684,
                     SASS_MMA_1688,
                     SASS_MMA_16816,
                     SASS_MMA_16832,
                     SASS_MMA_16864,
                     SASS_MMA_8816,
                     SASS_MMA_8832,
                     SASS_MMA_88128,
                     SASS_MMA_168128,
                     SASS_MMA_168256,
                     SASS_MMA_64XN,
};

/* Control fields, bits 105 to 125. */
struct ww_sass_ctl {
    uint8_t stall;  /* cycles until the warp's next issue */
    uint8_t yield;  /* 1: the bit that lets the scheduler stay with the warp is clear */
    uint8_t wr_bar; /* scoreboard that counts until the result is written; 7: none */
    uint8_t rd_bar; /* scoreboard that counts until the sources are read; 7: none */
    uint8_t wait;   /* scoreboards to wait for before issue, one bit each */
    uint8_t reuse;  /* the raw four bits; operands have SASS_F_REUSE where the encoding means reuse */
};

struct ww_sass_insn {
    uint64_t raw[2]; /* low word first */
    uint32_t offset; /* from the start of the code */
    uint16_t op;     /* enum ww_sass_op */
    uint16_t row;    /* line of sass_opcode.def, for printing */
    uint8_t form;    /* bits 9 to 11 */
    uint8_t guard;   /* predicate register, SASS_PT when unconditional */
    bool guard_not;
    bool guard_uniform; /* a uniform predicate */
    struct ww_sass_ctl ctl;
    uint8_t mod[SASS_MODS];
    struct ww_sass_operand opd[SASS_SLOTS];
};

#endif
