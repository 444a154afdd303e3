/* op.h: properties of each operation, from its row in ptx_op.def, for the parser and the lowering. What
 * executes and what lowers it are columns of the same row, which exec_decode.c and lower.c make their tables
 * of. */
#ifndef WW_TRACES_PTX_OP_H
#define WW_TRACES_PTX_OP_H

#include "ir.h"

/* Flags of an operation. */
#define OP_PURE (1u << 0)  /* does nothing but compute its destinations from its sources, unless it has .cc */
#define OP_PRED (1u << 1)  /* may have the type .pred */
#define OP_VEC (1u << 2)   /* may have .v2 .v4 (.x2 .x4) */
#define OP_SHAPE (1u << 3) /* takes a shape such as .m16n8k16, and layouts */
#define OP_COMPARES (1u << 4) /* takes a comparison, and .and .or .xor with a predicate */
#define OP_WIDE (1u << 5)     /* of integers: .lo, .hi or .wide */
#define OP_HALF (1u << 6)     /* .lo or .hi */
/* State spaces, of operations that do not take all of them. */
#define OP_SPACE_NAMED (1u << 7)   /* any but generic */
#define OP_SPACE_WRITTEN (1u << 8) /* any but .const */
#define OP_SPACE_ATOMIC (1u << 9)  /* generic, .global, .shared */
#define OP_SPACE_SHARED (1u << 10) /* generic, .shared */
/* Control flow and lanes. */
#define OP_ENDS (1u << 11)     /* ends a basic block */
#define OP_BRANCHED (1u << 12) /* ptxas branches around it rather than make it conditional */
#define OP_VARIES (1u << 13)   /* its result may differ between lanes where its sources do not */
#define OP_UNIFORM (1u << 14)  /* its result is one for all lanes, whatever its sources are */
/* What the lowering makes of its sources and of its time. */
#define OP_DATA (1u << 15) /* registers that it reads must hold the value as a whole */
#define OP_LOW (1u << 16)  /* of integers: low words of the result depend on low words of the sources only */
#define OP_LONG (1u << 17) /* cycles about as of one special-function instruction */
#define OP_SLOW (1u << 18) /* cycles about as of a sequence of them */

struct ptx_op_row {
    const char *name;      /* mnemonic */
    const char *signature; /* operands; ptx_op.def has the letters of this and of places */
    const char *places;
    uint32_t flags;   /* OP_... */
    uint8_t types;    /* modifiers that are types, at least */
    uint8_t words[4]; /* enum ptx_sub: first and last of two ranges */
};

extern const struct ptx_op_row ww_ptx_ops[PTX_OP_COUNT];

static inline bool ptx_op_is(const struct ptx_inst *i, uint32_t flags) {
    return (ww_ptx_ops[i->op].flags & flags) != 0;
}

/* Whether a second word may select this for the operation. */
bool ww_ptx_op_takes(const struct ptx_inst *inst, uint8_t sub);
/* Letter of places for operand n. */
char ww_ptx_op_place(const struct ptx_inst *inst, uint32_t n);
/* True if the instruction does nothing but compute its destinations from its register operands: it may be
 * moved and left out. Memory accesses, carries and the clocks are not. */
bool ww_ptx_is_pure(const struct ptx_inst *inst);

#endif
