/* lower.h: private to the lowering: PTX of one function to machine instructions of one architecture.
 *
 *   analyse   live instructions, needed halves of 64-bit values, aliases, deferred producers, divergence
 *   emit      virtual machine instructions, each bound to the PTX instruction that it stands for
 *   allocate  registers (regalloc.c), spilling where the limit asks for it
 *
 * Virtual registers are groups of 1, 2 or 4 words that must lie in consecutive, aligned registers.
 * All memory comes from an arena of the lowering's own; out of memory is noted in `failed`, checked once.
 */
#ifndef WW_TRACES_PTX_LOWER_H
#define WW_TRACES_PTX_LOWER_H

#include "../../../estimator/base/arena.h"
#include "../front/cfg.h"
#include "../front/op.h"

enum lower_arch { FERMI = 20, MAXWELL = 52, VOLTA = 70 };

struct lower_reg {
    int32_t group; /* -1: none */
    uint8_t off, n;
};

enum lower_kind { L_NONE, L_REG, L_CONST, L_ZERO };

/* A source: a register, a constant (immediate or constant bank: takes the one constant slot), or zero. */
struct lower_src {
    uint8_t kind;
    struct lower_reg reg;
    bool is_imm;
    int64_t imm; /* is_imm: the value; else a key of the bank entry */
};

#define LOWER_SRC_MAX WW_INST_SRC_MAX
struct lower_inst {
    uint8_t op, space, width, dst_count, src_count, barrier;
    uint16_t barrier_threads;
    uint32_t flags, bytes;
    const char *name;
    struct lower_reg dst[WW_INST_DST_MAX], src[LOWER_SRC_MAX];
    uint8_t access_part;
    uint32_t access_offset;
    uint32_t ptx; /* instruction that it belongs to */
};

struct lower_group {
    uint8_t n;
    bool pred;
    bool spilled;
    int32_t phys; /* first register; predicates 0 .. 6 */
    uint32_t spill_offset;
};

/* How a register is used, as a set. */
#define USE_ADDR_WIDE 1u   /* base of a global or generic address */
#define USE_ADDR_NARROW 2u /* base of a shared, local or constant address */
#define USE_ADD 4u         /* integer add */
#define USE_FADD 8u        /* floating add that may be contracted */
#define USE_LOGIC 16u
#define USE_PRED_LOGIC 32u
#define USE_FLOAT 64u /* floating operand that takes a sign modifier */
#define USE_DATA 128u /* must be in registers as a whole: stored, exchanged, atomics */
#define USE_OTHER 256u

struct lower_value {
    uint32_t def;  /* the only defining instruction, or UINT32_MAX */
    uint32_t defs; /* how many */
    uint32_t uses, kinds, last_use;
    uint32_t use_first, use_last; /* blocks, in layout order */
    int32_t root;                 /* register that this one is another name of */
    int64_t address;              /* is_address: root + address is the value */
    uint8_t space;                /* of what it points to, if known */
    bool live, high, divergent, deferred, is_address, needs_reg, in_reg;
    bool is_const, is_imm;
    int64_t imm;
    struct lower_reg reg; /* where it is; group -1: not yet */
};

struct lower_cached {
    int64_t imm;
    bool is_imm;
    uint32_t block;
    int32_t group;
};
#define LOWER_CACHE 32

struct lower {
    struct ww_arena *arena;
    const struct ptx_module *module;
    struct ptx_func *func;
    enum lower_arch arch;
    uint32_t sm; /* as a number; of a newer machine where its matrix instructions are meant */
    uint32_t max_registers;
    struct ptx_cfg cfg;
    struct lower_value *value;      /* by PTX register */
    bool *live;                     /* by instruction */
    uint32_t *def_first, *def_list; /* definitions of each register */
    bool *reachable;                /* by block */
    int32_t *block_guard;           /* by block: predicate register of an if-converted branch, -1 */
    uint8_t *sync_before, *sync_at; /* by instruction: opens, closes a reconvergence region */
    uint8_t *folded_branch;         /* by instruction: if-converted (lower_flow.c) */
    struct lower_inst *inst;
    uint32_t inst_count, inst_cap;
    struct lower_group *group;
    uint32_t group_count, group_cap;
    struct lower_cached cache[LOWER_CACHE];
    uint32_t cache_count;
    int32_t sreg_group[PTX_SR_COUNT * 3];
    uint32_t sreg_block[PTX_SR_COUNT * 3];
    uint32_t cur; /* PTX instruction being lowered */
    uint32_t spill_bytes;
    uint32_t words_used; /* registers that the allocation took */
    uint32_t call_words; /* most registers live across a call */
    bool failed;
};

/* A source register of an instruction with the operand that it stands in; guard: operand UINT32_MAX. */
struct lower_use {
    int32_t reg;
    uint32_t opnd;
};
#define LOWER_USES_MAX 800
uint32_t ww_lower_uses(const struct ptx_inst *inst, struct lower_use *use);
/* Destination registers. */
uint32_t ww_lower_defs(const struct ptx_inst *inst, int32_t *reg, uint32_t max);
bool ww_lower_is_float(uint8_t type);
bool ww_lower_has_effect(const struct ptx_inst *inst);
/* log2 of an immediate operand that is a power of two; -1 if it is none. */
int ww_lower_log2(const struct ptx_operand *o);

/* lower_analyse.c */
bool ww_lower_analyse(struct lower *l);
/* lower_value.c */
bool ww_lower_values(struct lower *l);
/* lower_flow.c: divergence, if-conversion, reconvergence. */
bool ww_lower_flow(struct lower *l);
/* lower_dma.c: an intrinsic of bulk transfers becomes one instruction that reads its arguments. False: the call
 * is none. */
bool ww_lower_transfer(struct lower *l, const struct ptx_inst *call);
/* True if what is stored is an argument of such a call. */
bool ww_lower_is_transfer_argument(const struct lower *l, const struct ptx_inst *store);

static inline const char *lower_by_arch(const struct lower *l, const char *fermi, const char *maxwell,
                                        const char *volta) {
    return l->arch == VOLTA ? volta : l->arch == MAXWELL ? maxwell : fermi;
}

/* Emission (lower_emit.c). */
struct lower_reg ww_lower_group_new(struct lower *l, uint8_t n, bool pred);
struct lower_src ww_lower_source(struct lower *l, const struct ptx_operand *o);
struct lower_src ww_lower_word(const struct lower_src *s, unsigned k);
struct lower_reg ww_lower_part(struct lower_reg r, unsigned k);
struct lower_src ww_lower_of(struct lower_reg r);
/* The source in a register: constants are moved to one. n words. */
struct lower_src ww_lower_in_reg(struct lower *l, struct lower_src s, uint8_t n);
/* Where the instruction's k-th destination goes; group -1: nowhere. */
struct lower_reg ww_lower_dest(struct lower *l, const struct ptx_operand *o);
/* Destination and sources, of which an instruction of a few words takes at most 4. */
struct lower_operands {
    struct lower_reg dst;
    struct lower_src s[4];
    unsigned n;
};
struct lower_operands ww_lower_read(struct lower *l, const struct ptx_inst *i);
/* Appends an instruction; a second constant operand is moved to a register before it. */
/* Makes an instruction of class barrier one at an mbarrier (traces/mbarrier.h). */
void ww_lower_mbarrier(struct lower_inst *m, bool waits);
struct lower_inst *ww_lower_put(struct lower *l, enum ww_op op, const char *name, struct lower_reg dst,
                                const struct lower_src *src, unsigned count);
/* Integer instructions, one for each word of the destination; later words wait for earlier ones if `carry`. */
void ww_lower_by_word(struct lower *l, const char *low, const char *high, bool carry, struct lower_reg dst,
                      const struct lower_src *s, unsigned count);
/* The producer folded into its consumer, or NULL. */
const struct ptx_inst *ww_lower_deferred(const struct lower *l, const struct ptx_operand *o);
/* Columns lower of ptx_op.def: emit what stands for the instruction. */
#define X(id, mnemonic, signature, types, places, words, flags, decode, pick, code)                            \
    void ww_lower_op_##code(struct lower *l, const struct ptx_inst *i);
#include "../front/ptx_op.def"
#undef X
/* The same for the operation's further types. */
void ww_lower_float_add(struct lower *l, const struct ptx_inst *i);
void ww_lower_float_min_max(struct lower *l, const struct ptx_inst *i);
void ww_lower_float_mul(struct lower *l, const struct ptx_inst *i);
void ww_lower_float_sign(struct lower *l, const struct ptx_inst *i);
void ww_lower_predicate_logic(struct lower *l, const struct ptx_inst *i);
/* Emits nothing for what is folded. */
void ww_lower_one(struct lower *l, const struct ptx_inst *i);

/* Fixed sequences (lower_expand.c): each step depends on the one before; the last writes dst. */
enum lower_sequence {
#define SEQUENCE(id, ...) SEQ_##id,
#include "lower_expand.def"
#undef SEQUENCE
    SEQ_COUNT
};
void ww_lower_expand(struct lower *l, enum lower_sequence id, struct lower_reg dst, const struct lower_src *src,
                     unsigned count);

/* liveness.c, regalloc.c */
struct lower_interval {
    uint32_t first, last; /* positions: 2 x instruction, + 1 for its results */
    uint32_t uses;
};
bool ww_lower_intervals(struct lower *l, struct lower_interval *interval);
bool ww_lower_allocate(struct lower *l);

#endif
