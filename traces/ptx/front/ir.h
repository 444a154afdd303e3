/* ir.h: a PTX module after parsing: what the executor runs and the lowering reads.
 *
 * Everything is owned by the module's arena and immutable once ww_ptx_module_parse() and
 * ww_ptx_module_prepare() have returned. Instructions of a function are one flat array; labels are indices in
 * it. Registers are numbered per function, 0 .. reg_count-1, whatever their type.
 *
 *   text --parse--> module --prepare--> CFG, immediate post-dominators, liveness --lower--> machine code
 *
 * Operands. opnd[] holds the destinations (dst_count of them), then the sources, in the order written:
 *   ld      dst (REG, or VEC for .v2 .v4), ADDR            st, red   ADDR, value (REG, IMM, SYM, VEC)
 *   atom    dst (REG or NONE), ADDR, b [, c]                bra       LABEL
 *   setp    p [, q], a, b [, c if boolop]                   brx       index, LIST (func->list[imm])
 *   shfl, match, elect, lop3: d [, p], ...                   selp      d, a, b, predicate c
 *   vote    d or p, predicate [, mask]                      bar, barrier: .sync a [, b]; .arrive a, b;
 *   mov     a side may be VEC (pack, unpack)                  .red d, a [, b], predicate (always the last)
 *   cp.async dst ADDR, src ADDR, size [, src-size]            .warp.sync mask
 *   cp.async.bulk: addresses, sizes, masks as written; [map, {coordinates}] is one VEC, the map's address first
 *   call    rets, target REG if indirect, args: REG, IMM or SYM (a .param variable); a prototype is dropped;
 *           a direct call has as many rets and args as the callee has (their sizes may differ)
 * A destination may be NONE ("_"), as may an element of a destination VEC. The parser guarantees: the
 * number and kinds of the operands are those above; a register is a predicate if and only if the place
 * takes one; the element count of a VEC fits .v2/.v4 (or the packed type of mov); a LABEL and every label
 * list entry is < inst_count; the last instruction of a body cannot fall through (a ret is added). SREG
 * operands stand in mov only (the parser moves others to a register first); SYM operands may stand
 * wherever IMM may. Integer immediates are sign-extended from the width of the place they stand in.
 *
 * Places of variables (ptx_symbol.offset). Kernel parameters: in the parameter block. Parameters and return
 * values of a device function, and .param variables declared in a body: in the function's parameter frame
 * of param_bytes bytes (one per activation). .local: in the frame of local_bytes. .const: in the bank,
 * module-wide. .shared: in the CTA's block; module-wide variables overlap where no kernel uses both;
 * ptx_func.shared_bytes of a kernel counts all that it can reach. An extern array (size 0) begins at
 * shared_bytes rounded up to 16.
 */
#ifndef WW_TRACES_PTX_IR_H
#define WW_TRACES_PTX_IR_H

#include "../../trace.h"

enum ptx_op {
#define X(id, ...) PTX_##id,
#include "ptx_op.def"
#undef X
    PTX_OP_COUNT
};

enum ptx_type {
    PTX_T_NONE,
    PTX_T_PRED,
    PTX_T_B8,
    PTX_T_B16,
    PTX_T_B32,
    PTX_T_B64,
    PTX_T_B128,
    PTX_T_U8,
    PTX_T_U16,
    PTX_T_U32,
    PTX_T_U64,
    PTX_T_S8,
    PTX_T_S16,
    PTX_T_S32,
    PTX_T_S64,
    PTX_T_F16,
    PTX_T_F16X2,
    PTX_T_BF16,
    PTX_T_BF16X2,
    PTX_T_TF32,
    PTX_T_F32,
    PTX_T_F64,
    PTX_T_E4M3,
    PTX_T_E5M2,
    PTX_T_U4,
    PTX_T_S4,
    PTX_T_B1, /* mma */
    PTX_T_U16X2,
    PTX_T_S16X2,
    PTX_T_TEXREF,
    PTX_T_SAMPLERREF,
    PTX_T_SURFREF,
    PTX_T_MXF8F6F4, /* and what follows: kinds of tcgen05.mma with scale factors */
    PTX_T_MXF4,
    PTX_T_MXF4NVF4,
    PTX_T_COUNT
};

enum ptx_space {
    PTX_S_GENERIC,
    PTX_S_REG,
    PTX_S_SREG,
    PTX_S_CONST,
    PTX_S_GLOBAL,
    PTX_S_LOCAL,
    PTX_S_PARAM,
    PTX_S_SHARED,
    PTX_S_TEX,
};

enum ptx_operand_kind {
    PTX_O_NONE, /* also the sink "_" */
    PTX_O_REG,
    PTX_O_IMM,   /* bits in imm: integers sign-extended, floats as their bit pattern in the inst's type */
    PTX_O_SREG,  /* special register: sreg, component in imm for %tid.x (0), .y (1), .z (2) */
    PTX_O_SYM,   /* address of a variable or function: sym + imm */
    PTX_O_ADDR,  /* [reg + imm], [sym + imm] or [imm]: reg < 0 or sym NULL where absent */
    PTX_O_LABEL, /* target: index of the instruction in imm */
    PTX_O_VEC,   /* {a, b, ...}: vec[0 .. vec_count) */
    PTX_O_LIST,  /* label list of brx.idx, prototype of call: index in the function's tables in imm */
};

enum ptx_sreg {
    PTX_SR_TID,
    PTX_SR_NTID,
    PTX_SR_CTAID,
    PTX_SR_NCTAID,
    PTX_SR_LANEID,
    PTX_SR_WARPID,
    PTX_SR_NWARPID,
    PTX_SR_SMID,
    PTX_SR_NSMID,
    PTX_SR_GRIDID,
    PTX_SR_CLOCK,
    PTX_SR_CLOCK64,
    PTX_SR_CLOCK_HI,
    PTX_SR_GLOBALTIMER,
    PTX_SR_GLOBALTIMER_LO,
    PTX_SR_GLOBALTIMER_HI,
    PTX_SR_LANEMASK_EQ,
    PTX_SR_LANEMASK_LE,
    PTX_SR_LANEMASK_LT,
    PTX_SR_LANEMASK_GE,
    PTX_SR_LANEMASK_GT,
    PTX_SR_DYNAMIC_SMEM_SIZE,
    PTX_SR_TOTAL_SMEM_SIZE,
    PTX_SR_WARPSZ,
    PTX_SR_PM,
    PTX_SR_ENVREG,
    PTX_SR_CLUSTERID,
    PTX_SR_NCLUSTERID,
    PTX_SR_CLUSTER_CTAID,
    PTX_SR_CLUSTER_NCTAID,
    PTX_SR_CLUSTER_CTARANK,
    PTX_SR_CLUSTER_NCTARANK,
    PTX_SR_IS_EXPLICIT_CLUSTER,
    PTX_SR_COUNT
};

struct ptx_symbol;

struct ptx_operand {
    uint8_t kind; /* enum ptx_operand_kind */
    uint8_t sreg; /* enum ptx_sreg */
    uint8_t neg;  /* "-a" (neg) or "!p" (complement) */
    uint8_t vec_count;
    int32_t reg; /* PTX_O_REG; base of PTX_O_ADDR, -1 if none */
    int64_t imm;
    const struct ptx_symbol *sym;
    struct ptx_operand *vec;
};

/* Modifiers, one value per kind; which apply depends on the instruction. */
enum ptx_round {
    PTX_R_NONE,
    PTX_R_RN,
    PTX_R_RZ,
    PTX_R_RM,
    PTX_R_RP,
    PTX_R_RNA,
    PTX_R_RNI,
    PTX_R_RZI,
    PTX_R_RMI,
    PTX_R_RPI
};
enum ptx_cmp {
    PTX_C_NONE,
    PTX_C_EQ,
    PTX_C_NE,
    PTX_C_LT,
    PTX_C_LE,
    PTX_C_GT,
    PTX_C_GE,
    PTX_C_LO,
    PTX_C_LS,
    PTX_C_HI,
    PTX_C_HS,
    PTX_C_EQU,
    PTX_C_NEU,
    PTX_C_LTU,
    PTX_C_LEU,
    PTX_C_GTU,
    PTX_C_GEU,
    PTX_C_NUM,
    PTX_C_NAN
};
enum ptx_bool { PTX_B_NONE, PTX_B_AND, PTX_B_OR, PTX_B_XOR };
/* Second word of an instruction that selects its operation: atom.add, shfl.up, vote.all, bar.sync, ... */
enum ptx_sub {
    PTX_SUB_NONE,
    PTX_SUB_ADD,
    PTX_SUB_MIN,
    PTX_SUB_MAX,
    PTX_SUB_INC,
    PTX_SUB_DEC,
    PTX_SUB_CAS,
    PTX_SUB_EXCH,
    PTX_SUB_AND,
    PTX_SUB_OR,
    PTX_SUB_XOR,
    PTX_SUB_UP,
    PTX_SUB_DOWN,
    PTX_SUB_BFLY,
    PTX_SUB_IDX,
    PTX_SUB_ALL,
    PTX_SUB_ANY,
    PTX_SUB_UNI,
    PTX_SUB_BALLOT,
    PTX_SUB_SYNC,
    PTX_SUB_ARRIVE,
    PTX_SUB_WARP_SYNC,
    PTX_SUB_RED,
    PTX_SUB_WAIT,
    PTX_SUB_RED_POPC,
    PTX_SUB_RED_AND,
    PTX_SUB_RED_OR,
    PTX_SUB_CLUSTER_ARRIVE,
    PTX_SUB_CLUSTER_WAIT,
    PTX_SUB_L,
    PTX_SUB_R, /* shf direction */
    PTX_SUB_F4E,
    PTX_SUB_B4E,
    PTX_SUB_RC8,
    PTX_SUB_ECL,
    PTX_SUB_ECR,
    PTX_SUB_RC16, /* prmt mode */
    PTX_SUB_FINITE,
    PTX_SUB_INFINITE,
    PTX_SUB_NUMBER,
    PTX_SUB_NOTANUMBER,
    PTX_SUB_NORMAL,
    PTX_SUB_SUBNORMAL,
    PTX_SUB_CP_ASYNC,
    PTX_SUB_CP_COMMIT,
    PTX_SUB_CP_WAIT_GROUP,
    PTX_SUB_CP_WAIT_ALL,
    PTX_SUB_CP_MBARRIER_ARRIVE,
    PTX_SUB_CP_BULK,
    PTX_SUB_MB_INIT,
    PTX_SUB_MB_INVAL,
    PTX_SUB_MB_ARRIVE,
    PTX_SUB_MB_ARRIVE_DROP,
    PTX_SUB_MB_TEST_WAIT,
    PTX_SUB_MB_TRY_WAIT,
    PTX_SUB_MB_PENDING_COUNT,
    PTX_SUB_MB_EXPECT_TX,
    PTX_SUB_MB_COMPLETE_TX,
    PTX_SUB_WMMA_LOAD_A,
    PTX_SUB_WMMA_LOAD_B,
    PTX_SUB_WMMA_LOAD_C,
    PTX_SUB_WMMA_STORE_D,
    PTX_SUB_WMMA_MMA,
    PTX_SUB_MEMBAR_CTA,
    PTX_SUB_MEMBAR_GL,
    PTX_SUB_MEMBAR_SYS,
    PTX_SUB_WGMMA_FENCE,
    PTX_SUB_WGMMA_MMA,
    PTX_SUB_TC_ALLOC,
    PTX_SUB_TC_DEALLOC,
    PTX_SUB_TC_RELINQUISH,
    PTX_SUB_TC_LD,
    PTX_SUB_TC_ST,
    PTX_SUB_TC_MMA,
    PTX_SUB_TC_COMMIT,
    PTX_SUB_TC_CP,
    PTX_SUB_TC_WAIT,
    PTX_SUB_TC_FENCE,
    PTX_SUB_COUNT
};

/* Flag modifiers. */
#define PTX_M_WIDE 1u
#define PTX_M_HI 2u
#define PTX_M_LO 4u
#define PTX_M_CC 8u /* writes the carry */
#define PTX_M_SAT 16u
#define PTX_M_FTZ 32u
#define PTX_M_APPROX 64u
#define PTX_M_FULL 128u
#define PTX_M_UNI 256u
#define PTX_M_VOLATILE 512u /* also .relaxed, .acquire, .release and mmio: not cached in the L1 */
#define PTX_M_NC 1024u
#define PTX_M_CG 2048u /* also .cv, .wt: bypasses the L1 */
#define PTX_M_CS 4096u /* streaming, evict-first, last use, no-allocate */
#define PTX_M_TO 8192u /* cvta.to */
#define PTX_M_SHIFTAMT 16384u
#define PTX_M_CLAMP 32768u
#define PTX_M_WRAP 65536u
#define PTX_M_SYNC 131072u /* .sync with a member mask operand */
#define PTX_M_NOINC 262144u
#define PTX_M_ALIGNED 524288u
#define PTX_M_RELU 1048576u
#define PTX_M_NAN 2097152u /* min/max.NaN */
#define PTX_M_XORSIGN 4194304u
#define PTX_M_ROW_A 8388608u /* wmma/mma: a (b, c/d) is row-major; clear: column-major */
#define PTX_M_ROW_B 16777216u
#define PTX_M_ROW_C 33554432u
#define PTX_M_NOCOMPLETE 67108864u
#define PTX_M_TRANS 134217728u
#define PTX_M_PARITY 268435456u     /* mbarrier .parity */
#define PTX_M_SPARSE 2147483648u    /* wgmma: A has metadata */
#define PTX_M_ZERO 1073741824u      /* surfaces: nothing is done outside */
#define PTX_M_CACHE_HINT 536870912u /* the last source operand is an L2 cache policy */

/* Asynchronous and bulk forms of cp, st, red, mbarrier, fence (ptx_inst.bulk). */
#define PTX_BULK 1u          /* cp.async.bulk */
#define PTX_BULK_TENSOR 2u   /* .tensor */
#define PTX_BULK_REDUCE 4u   /* cp.reduce */
#define PTX_BULK_PREFETCH 8u /* .prefetch */
#define PTX_BULK_IM2COL 16u  /* .im2col, and with NO_OFFS .im2col_no_offs */
#define PTX_BULK_NO_OFFS 32u
#define PTX_BULK_MULTICAST 64u
#define PTX_BULK_GROUP 128u   /* .commit_group, .wait_group */
#define PTX_BULK_TX 256u      /* completes bytes of an mbarrier */
#define PTX_BULK_ASYNC 512u   /* st.async, red.async */
#define PTX_BULK_EXPECT 1024u /* mbarrier.arrive.expect_tx */
#define PTX_BULK_MAP 2048u    /* fence.proxy.tensormap, prefetch.tensormap */

struct ptx_inst {
    uint8_t op;                                   /* enum ptx_op */
    uint8_t sub;                                  /* enum ptx_sub */
    uint8_t round, cmp, boolop, space, dst_space; /* dst_space: cp, cvta, isspacep destination */
    uint8_t vec;                                  /* 1, 2, 4: .v2 .v4 */
    uint8_t type[4];   /* enum ptx_type in the order written: [0] destination or only type */
    uint8_t dst_count; /* of opnd[]: destinations come first: setp has 2 with "p|q" */
    uint8_t opnd_count;
    uint8_t guard_neg;
    uint8_t cp_bytes; /* cp.async: 4, 8, 16; wgmma: columns / 8; tcgen05.ld, .st: 2 with .pack or .unpack */
    uint8_t redop;    /* cp.reduce.async.bulk: enum ptx_sub */
    uint8_t rank;     /* dimensions of a tensor copy; tcgen05: CTAs, 0 and 1 are one */
    uint16_t bulk;    /* PTX_BULK_* */
    uint8_t geom;     /* prmt, wmma/mma shape: index into ww_ptx_shapes, see mma.h */
    uint32_t mods;    /* PTX_M_* */
    int32_t guard;    /* predicate register, -1: none */
    struct ptx_operand *opnd;
    uint32_t text_line; /* line in the PTX text, for errors */
    uint32_t line;      /* .loc: source line, 0: unknown */
    uint32_t file;      /* .loc: index in module->file */
    uint32_t block;     /* basic block: filled by prepare */
    int32_t reconv;     /* branches: index of the instruction of the immediate post-dominator, -1: exit */
    uint32_t lower_first, lower_count; /* machine instructions in ptx_func.machine: filled by lower */
    /* call */
    const struct ptx_symbol *callee; /* direct call; NULL: indirect through opnd */
    int32_t smem;                /* bar.sync: bytes of shared memory that it allocates; less than 0: frees. See
                                    docs/studies/multiplexing.md */
    uint8_t call_ret, call_args; /* opnd layout of PTX_CALL: rets first, then target if indirect, then args */
};

enum ptx_symbol_kind { PTX_SYM_VAR, PTX_SYM_FUNC };

/* A variable of any address space, module-wide or local to a function. */
struct ptx_symbol {
    enum ptx_symbol_kind kind;
    const char *name;
    uint8_t space; /* enum ptx_space */
    uint8_t type;  /* element */
    uint32_t align;
    uint64_t size;   /* bytes; 0: extern shared array sized at launch */
    uint64_t offset; /* in its space: shared, local frame, const bank, param block; global: assigned at load */
    bool is_extern;
    bool is_param;             /* a parameter or result of a function's header */
    const unsigned char *init; /* size bytes, or NULL for zero */
    /* initialisers that are addresses: at byte `at`, the address of `sym` + add */
    struct ptx_reloc {
        uint64_t at;
        const struct ptx_symbol *sym;
        int64_t add;
        bool generic;
    } * reloc;
    size_t reloc_count;
    struct ptx_func *func; /* PTX_SYM_FUNC */
    uint32_t id;           /* running number in the module */
};

struct ptx_reg {
    const char *name;
    uint8_t type;
};

struct ptx_label_list {
    const uint32_t *target;
    uint32_t count;
};

/* A machine instruction of the lowering with what the recorder needs in addition to the static part. */
#define PTX_ACCESS_NONE 0xff
struct ptx_machine {
    struct ww_inst inst; /* pc, class, registers, flags; line and file set; mnemonic an index in strings */
    uint8_t
        access_part;        /* 0: takes the PTX instruction's addresses + access_offset; 1: its second ones;
                             * PTX_ACCESS_NONE: with WW_INST_ACCESS a spill, at access_offset in each lane's frame */
    uint32_t access_offset; /* bytes: where one PTX access became several */
    const char *mnemonic;   /* of this architecture */
    bool only_if_taken;     /* recorded only for lanes whose branch is taken (guard true) */
};

struct ptx_func {
    const char *name;
    bool is_entry, is_extern; /* is_extern: no body */
    uint32_t index;           /* in module->func */
    struct ptx_inst *inst;
    uint32_t inst_count;
    struct ptx_reg *reg;
    uint32_t reg_count;
    struct ptx_symbol **param; /* in order; offset in the parameter block */
    uint32_t param_count;
    uint64_t param_bytes;    /* kernel: parameter block; device function: whole parameter frame */
    struct ptx_symbol **ret; /* return parameters of a device function */
    uint32_t ret_count;
    struct ptx_symbol **local; /* variables declared in it (.local, .shared, .param for calls) */
    uint32_t local_count;
    uint64_t local_bytes;       /* frame */
    uint64_t frame_param_bytes; /* kernel: frame of the .param variables declared in its body */
    uint64_t shared_bytes;      /* static shared memory of a kernel, with what its callees use */
    struct ptx_label_list *list;
    uint32_t list_count;
    uint32_t reqntid[3], maxntid[3]; /* 0: not given */
    uint32_t cluster[3];             /* .reqnctapercluster; 0: not given */
    uint32_t maxnreg, minnctapersm;
    /* filled by ww_ptx_lower */
    struct ptx_machine *machine;
    uint32_t machine_count;
    uint32_t machine_registers; /* per thread, this function with its callees */
    uint32_t spill_bytes;       /* local bytes that spills add */
};

struct ptx_module {
    struct ww_arena arena;
    const char *name; /* file name for errors */
    uint32_t version; /* 10 x major + minor */
    uint32_t target;  /* sm_NN */
    uint32_t address_bits;
    struct ptx_symbol **symbol; /* module scope, in order */
    size_t symbol_count;
    struct ptx_func **func; /* with bodies or declared */
    size_t func_count;
    const char **file; /* .file table; [0] is "" */
    size_t file_count;
    uint64_t const_bytes; /* constant bank in use */
};

/* Parses PTX text (need not end in NUL). On success *module is the caller's (ww_ptx_module_free).
 * Errors: WW_INPUT with "name:line: column", WW_UNSUPPORTED names line and instruction, WW_NOMEM (limit 1 GiB).
 */
enum ww_code ww_ptx_module_parse(const char *text, size_t n, const char *name, struct ptx_module **module,
                                 struct ww_error *error);
void ww_ptx_module_free(struct ptx_module *module);
/* Basic blocks, immediate post-dominators (reconv) for each function with a body. */
enum ww_code ww_ptx_module_prepare(struct ptx_module *module, struct ww_error *error);
struct ptx_func *ww_ptx_module_func(const struct ptx_module *module, const char *name); /* NULL: none */

/* Machine architecture of the lowering. */
struct ptx_lower_options {
    uint32_t arch;          /* 20, 52, 70: sm_NN; others map to the nearest below */
    uint32_t machine;       /* whose matrix instructions there are, such as 80; 0: those of arch */
    uint32_t max_registers; /* per thread; 0: the architecture's */
};
/* Turns a kernel and the functions that it may call into machine instructions (docs/model/lowering.md): fills
 * machine*, lower_first, lower_count, machine_registers of each. Machine code is laid out function by
 * function; pc = 16 x index (8 for sm_52, sm_20) plus the function's base. */
enum ww_code ww_ptx_lower(struct ptx_module *module, struct ptx_func *kernel,
                          const struct ptx_lower_options *options, struct ww_error *error);

const char *ww_ptx_op_name(enum ptx_op op);
const char *ww_ptx_type_name(enum ptx_type type);
uint32_t ww_ptx_type_bytes(enum ptx_type type); /* 0 for pred */
/* Appends the instruction as PTX text, for errors and dumps. */
struct ww_buf;
void ww_ptx_print_inst(const struct ptx_func *func, const struct ptx_inst *inst, struct ww_buf *out);

#endif
