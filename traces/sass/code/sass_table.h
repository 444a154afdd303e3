/* sass_table.h: rows of sass_opcode.def as the decoder and the printer read them. Private to traces/sass.
 *
 * A row is one form of an instruction: the bits that select it, its modifiers in the order of the text, its
 * operands in the order of the text. A modifier is a run of bits (or two: `lo2` holds the upper part), a kind
 * of insn.h, and either a map of values or, for one bit, a text. */
#ifndef WW_SASS_TABLE_H
#define WW_SASS_TABLE_H

#include "sass_decode.h"

/* One value of a modifier: what it means and its text. A NULL text: the value is not known. */
struct ww_sass_ent {
    uint8_t value, value2;
    const char *text;
};

enum ww_sass_field_type {
    SASS_FT_END,
    SASS_FT_SET,   /* one bit; the text stands when it is 1 */
    SASS_FT_CLEAR, /* one bit; the text stands when it is 0 */
    SASS_FT_MAP,   /* raw value indexes `map` */
    SASS_FT_RAW,   /* the value is the number; no text */
    SASS_FT_TEXT,  /* no bits; always the text; mod gets `lo` */
    SASS_FT_NEED,  /* bits that must have the value lo2; no text */
    SASS_FT_ANY,   /* bits without meaning to the machine's visible state */
};

struct ww_sass_field {
    uint8_t type, mod, mod2, lo, len, lo2, len2, count;
    const struct ww_sass_ent *map;
    const char *text;
};

/* How an operand lies in the bits. */
enum ww_sass_get {
    SASS_G_END,
    SASS_G_REG,    /* register at lo */
    SASS_G_UREG,   /* uniform register at lo */
    SASS_G_PRED,   /* predicate at lo; arg: bit of "not", 0: none */
    SASS_G_WPRED,  /* a predicate of the warp, in a uniform row */
    SASS_G_UMEM,   /* address in a uniform register at lo, with 24 bits at 40 when arg is set */
    SASS_G_GDESC,  /* matrix descriptors in uniform registers */
    SASS_G_UDESC,  /* cache policy in uniform registers */
    SASS_G_UREG6,  /* uniform register in 6 bits */
    SASS_G_UNPRED, /* uniform predicate stored inverted */
    SASS_G_UPRED,  /* uniform predicate */
    SASS_G_NPRED,  /* predicate stored inverted (0 is PT) */
    SASS_G_A,      /* register at 24 with the modifiers of `flags` */
    SASS_G_L32,    /* what the form says at bits 32 to 63 */
    SASS_G_L32C,   /* the same, its reuse bit is the third source's */
    SASS_G_L64,    /* register at 64 */
    SASS_G_B,      /* of three sources: B, and C, by the form */
    SASS_G_C,
    SASS_G_D2,       /* of two sources, the second: at 64 in form 1, else at 32 (DADD) */
    SASS_G_IMM,      /* arg bits at lo, unsigned */
    SASS_G_SIMM,     /* arg bits at lo, signed */
    SASS_G_SIMM4,    /* as SIMM, in units of four */
    SASS_G_SIMM4_2,  /* the same, with eight lower bits at 16 */
    SASS_G_SREG,     /* special register, 8 bits at lo */
    SASS_G_BAR,      /* convergence barrier, 4 bits at lo */
    SASS_G_SB,       /* scoreboard, 3 bits at lo */
    SASS_G_SBSET,    /* set of scoreboards, arg bits at lo */
    SASS_G_BREG,     /* special of BMOV, arg bits at lo */
    SASS_G_LABEL,    /* relative target: arg bits at lo, words of 4 bytes */
    SASS_G_LABEL2,   /* the same, with eight lower bits at 16 */
    SASS_G_ABS,      /* absolute target: arg bits at lo */
    SASS_G_ABS2,     /* the same, with eight lower bits at 16 */
    SASS_G_UCONST17, /* c[bank 54][UR 24 + offset 37] */
    SASS_G_IMM64,    /* 64 bits at lo */
    SASS_G_CONST,    /* c[bank 54][Ra 24 + offset 38] of LDC */
    SASS_G_UCONST,   /* c[bank 54][offset 38], or cx[UR 24][offset 40] when bit 91 is set */
    SASS_G_ASYNC,    /* the second address of LDGSTS */
    SASS_G_SHARED,   /* the first address of LDGSTS: [register 16 + uniform 64 + 20 bits at 44] */
    SASS_G_MEM,      /* [Ra 24 + arg bits at lo]; flags say the rest, SASS_MEM_* */
    SASS_G_LITERAL   /* text only */
};

enum {
    SASS_X_NONE,
    SASS_X_FLOAT,
    SASS_X_NEG,
    SASS_X_NEGX,
    SASS_X_HALF,
    SASS_X_NOT,
    SASS_X_NOTX,
    SASS_X_PART,  /* float, with a half of 16 bits of the register */
    SASS_X_PARTI, /* no sign; half or byte of the register, by STYPE */
    SASS_X_SIGN,  /* the sign bit (PLOP3) */
    SASS_X_24,
    SASS_X_H1,
    SASS_X_NEGX32,  /* as NEGX, at 32 alone */
    SASS_X_MATRIXI, /* .ROW or .COL */
    SASS_X_MMAH,    /* as HALF without a choice of halves */
    SASS_X_MATRIX   /* sign; .ROW or .COL */
};

enum ww_sass_show {
    SASS_SHOW,
    SASS_HIDE_RELU, /* printed only with modifier RELU */
    SASS_HIDE_T,    /* not printed when PT */
    SASS_HIDE_X,    /* printed only with modifier X */
    SASS_HIDE_NT,   /* not printed when !PT */
    SASS_HIDE_Z,    /* not printed when zero or RZ */
    SASS_HIDE,      /* never printed */
    SASS_HIDE_F,    /* not printed when 15 */
    SASS_HIDE_HI,   /* printed only with modifier HI and without EXTRA */
    SASS_HIDE_1,    /* not printed when 1 */
    SASS_HIDE_FF,
};

enum { SASS_NO_COMMA = 0x80, SASS_BYTE = 1 }; /* flags of REG: a blank follows in the text */

/* Text of an immediate. */
enum ww_sass_text {
    SASS_TX_HEX,
    SASS_TX_SIGNED,
    SASS_TX_FLOAT,
    SASS_TX_DOUBLE,
    SASS_TX_HALVES,
    SASS_TX_BF16S,
    SASS_TX_DEC,
    SASS_TX_WIDE
};

enum {                         /* flags of SASS_G_MEM */
       SASS_MEM_E = 1,         /* bit 72: 64-bit address */
       SASS_MEM_UR = 2,        /* a uniform register at 32 */
       SASS_MEM_UR64 = 4,      /* at 64 */
       SASS_MEM_SCALE = 8,     /* bits 78, 79: what Ra is multiplied with */
       SASS_MEM_NOSUFFIX = 16, /* 64-bit registers are printed without ".64" */
       SASS_MEM_70 = 32,       /* bit 70, not 90: the register is 64 bits wide */
       SASS_MEM_90 = 128,      /* as 72, but bit 90 */
       SASS_MEM_72 = 64 | 128, /* bit 72: the register is 64 bits wide and the uniform one not named */
       SASS_MEM_71 = 64,       /* bit 71, not 76: no uniform base */
};

struct ww_sass_opd {
    uint8_t get, slot, lo, arg, flags, show, text;
    const char *literal;
};

struct ww_sass_row {
    uint16_t op;
    uint16_t bits; /* bits 0 to 8 */
    uint8_t forms; /* set of values of bits 9 to 11 */
    uint8_t arch_min, arch_max;
    bool uniform; /* a register of this row at 16, 24, 32, 64 is uniform; so is the guard */
    const struct ww_sass_field *fields;
    const struct ww_sass_opd *opds;
};

const struct ww_sass_row *ww_sass_row(unsigned number);
unsigned ww_sass_row_count(void);

/* Reading bits of one instruction; what has been read is noted, so that what is left over can be found. */
struct ww_sass_bits {
    uint64_t raw[2], used[2];
    unsigned arch, form;
    const char *bad; /* set when an operand cannot be read */
};

uint64_t ww_sass_take(struct ww_sass_bits *b, unsigned lo, unsigned len);
uint64_t ww_sass_peek(const uint64_t raw[2], unsigned lo, unsigned len);
void ww_sass_operand_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                          struct ww_sass_insn *insn);
/* Parts of the above, in operand_memory.c and operand.c. */
int64_t ww_sass_sign_extend(uint64_t v, unsigned bits);
uint8_t ww_sass_ureg(const struct ww_sass_bits *b, uint64_t v);
void ww_sass_memory_read(struct ww_sass_bits *b, const struct ww_sass_opd *d, struct ww_sass_operand *o);
void ww_sass_shared_read(struct ww_sass_bits *b, struct ww_sass_operand *o);
void ww_sass_async_read(struct ww_sass_bits *b, struct ww_sass_operand *o);
void ww_sass_constant_read(struct ww_sass_bits *b, const struct ww_sass_row *row, const struct ww_sass_opd *d,
                           struct ww_sass_operand *o);
/* Sets the number of registers of each operand. */
void ww_sass_widths(struct ww_sass_insn *insn);

#endif
