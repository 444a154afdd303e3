/* exec.h: functional execution of PTX, private to the executor.
 *
 * A kernel is decoded once (exec_decode.c) into ex_inst, one for each PTX instruction and at the same index,
 * whose operands are byte offsets of 32-lane arrays:
 *
 *     frame of a function activation:   [predicate masks, 4 bytes each | register | register | ...]
 *     register of up to 32 bits: uint32_t[32]; 64 bits: uint64_t[32]; 128 bits: uint64_t[2][32]
 *     constants of the kernel:          the same layout, every lane equal (offsets with EX_CONST)
 *
 * Of values of 8 and 16 bits only the low bits of their 32-bit lane count; readers ignore the rest. A warp
 * (simt.h) runs ex_inst.fn over the lanes of a mask. Nothing here is shared between devices. */
#ifndef WW_TRACES_PTX_EXEC_H
#define WW_TRACES_PTX_EXEC_H

#include "../front/ir.h"
#include "mem.h"
#include <stdio.h>

#define EX_LANES 32u
#define EX_ALL UINT32_MAX
#define EX_CONST 0x80000000u
#define EX_NO_SLOT UINT32_MAX

/* Windows of the generic address space; everything else is global. */
#define EX_SHARED_WINDOW 0x01000000u
#define EX_LOCAL_WINDOW 0x02000000u
#define EX_CONST_WINDOW 0x03000000u
#define EX_PARAM_WINDOW 0x04000000u
#define EX_WINDOW_BYTES 0x01000000u
/* Shared memory of the CTAs of a cluster: that of rank r at (r + 1) << EX_CLUSTER_SHIFT, the CTA's own also at
 * 0. */
#define EX_CLUSTER_SHIFT 18u
#define EX_FUNC_BASE 0x08000000u /* "addresses" of functions, 16 bytes apart */
#define EX_FUNC_STEP 16u

__extension__ typedef unsigned __int128 ex_u128;
__extension__ typedef __int128 ex_s128;

struct ex_warp;
struct ex_inst;
struct ex_func;

/* Executes an instruction for the lanes in `mask` (not 0). Fails through ww_ex_fail(). */
typedef void (*ex_fn)(struct ex_warp *w, const struct ex_inst *i, uint32_t mask);

enum ex_kind {
    EX_DATA, /* only registers */
    EX_MEM,  /* may fail, leaves addresses to record */
    EX_BRA,
    EX_BRX,
    EX_CALL,
    EX_RET,
    EX_EXIT,
    EX_TRAP,
    EX_BAR,   /* CTA barrier */
    EX_WSYNC, /* bar.warp.sync */
    EX_WOP,   /* warp-wide with a member mask: waits for its members */
    EX_SLEEP,
    EX_DMA /* an intrinsic of bulk transfers (exec_dma.c) */
};

/* A vector element or a call argument. */
struct ex_elem {
    uint32_t slot;
    uint8_t width; /* lane width of the slot: 4, 8, 16 */
    bool is_param; /* call: slot is an offset in the caller's parameter storage */
};

struct ex_bulk;
struct ex_inst {
    ex_fn fn;
    uint8_t kind, op, sub, round, cmp, boolop, space, vec;
    uint8_t type, type2, type3;
    uint8_t guard_neg;
    uint8_t neg;            /* bit n: source predicate n (a, b, c, e) is complemented */
    uint8_t dw, aw, bw, cw; /* lane width of d, a, b, c */
    uint8_t bytes;          /* memory: of one element */
    bool has_access;        /* some machine instruction records addresses */
    bool is_back_edge;
    uint32_t guard; /* predicate slot, EX_NO_SLOT: none */
    uint32_t mods;
    uint32_t d, d2, a, b, c, e; /* slots */
    uint32_t members;           /* EX_WOP, EX_WSYNC: slot of the mask of lanes to wait for, EX_NO_SLOT: none */
    uint32_t target;
    int32_t reconv;
    int64_t imm;                                /* memory: added to the address; other: see the function */
    struct ex_elem *elem;                       /* vector elements; call: rets then args */
    const uint32_t *list;                       /* brx.idx targets */
    uint32_t elem_count, list_count, ret_count; /* call: elem[0 .. ret_count) are results, then arguments */
    const struct ptx_func *callee;              /* direct call; NULL: the address in a */
    const struct ex_bulk *bulk;                 /* cp.async.bulk, st.async, red.async: exec_bulk.c */
    uint32_t *hint;                             /* memory: index of the last allocation met */
    uint32_t record_first, record_count;        /* in the recorder's instruction table */
    const struct ptx_inst *src;
};

struct ex_func {
    const struct ptx_func *src;
    struct ex_inst *inst;
    uint32_t count;
    uint32_t *slot; /* by register number */
    uint8_t *width; /* lane width by register; 0: predicate */
    uint32_t frame_bytes, scratch;
    uint32_t param_bytes; /* per lane: parameters and results of a device function, variables for its calls */
    uint32_t local_bytes;
    uint32_t index; /* in the kernel's list */
};

struct ex_kernel {
    struct ww_arena arena;
    const struct ptx_module *module;
    struct ex_func **func; /* by index in module->func; NULL: not reachable */
    struct ex_func *entry;
    unsigned char *constant; /* from the heap, 64-byte aligned offsets */
    uint32_t constant_bytes, constant_capacity;
    uint32_t func_count;
    uint32_t dynamic_at;    /* shared memory: offset of the dynamic part */
    const uint64_t *global; /* address by symbol id */
    uint32_t global_count;
};

/* Decodes a kernel and what it may call. global[id] is the address of global variable id.
 * Errors: WW_UNSUPPORTED, WW_INPUT (operand and type do not fit), WW_NOMEM. */
enum ww_code ww_ex_kernel_new(const struct ptx_module *module, const struct ptx_func *entry,
                              const uint64_t *global, uint32_t global_count, struct ex_kernel **out,
                              struct ww_error *error);
void ww_ex_kernel_free(struct ex_kernel *k);

/* What runs for an operation and its types: columns pick of ptx_op.def. NULL: this form is not supported. */
#define X(id, mnemonic, signature, types, places, words, flags, decode, pick, lower)                           \
    ex_fn ww_ex_pick_##pick(struct ex_inst *i);
#include "../front/ptx_op.def"
#undef X
#define EX_PICK(pick, fn)                                                                                      \
    ex_fn ww_ex_pick_##pick(struct ex_inst *i) {                                                               \
        (void)i;                                                                                               \
        return fn;                                                                                             \
    }
/* The same for the operations that several kinds of types have (exec_typed.c), by kind: integers, f32 and f64,
 * f16 and bf16 with their packed forms. */
ex_fn ww_ex_int_abs(const struct ex_inst *i);
ex_fn ww_ex_int_add(const struct ex_inst *i);
ex_fn ww_ex_int_div(const struct ex_inst *i);
ex_fn ww_ex_int_mad(const struct ex_inst *i);
ex_fn ww_ex_int_min_max(const struct ex_inst *i);
ex_fn ww_ex_int_mul(const struct ex_inst *i);
ex_fn ww_ex_int_neg(const struct ex_inst *i);
ex_fn ww_ex_float_add(const struct ex_inst *i);
ex_fn ww_ex_float_div(const struct ex_inst *i);
ex_fn ww_ex_float_fma(const struct ex_inst *i);
ex_fn ww_ex_float_min_max(const struct ex_inst *i);
ex_fn ww_ex_float_mul(const struct ex_inst *i);
ex_fn ww_ex_float_sfu(const struct ex_inst *i);
ex_fn ww_ex_float_sign(const struct ex_inst *i);
ex_fn ww_ex_float_sub(const struct ex_inst *i);
ex_fn ww_ex_half_arithmetic(const struct ex_inst *i);
ex_fn ww_ex_half_sign(const struct ex_inst *i);
/* Reads special register type2 component imm into d. */
void ww_ex_read_sreg(struct ex_warp *w, const struct ex_inst *i, uint32_t mask);

/* Float formats below 32 bits and exact rounding (exec_round.c). `round`: enum ptx_round RN RZ RM RP RNA. */
double ww_ex_f16_to_double(uint16_t h);
double ww_ex_bf16_to_double(uint16_t h);
uint16_t ww_ex_double_to_f16(double v, int round, bool saturate_finite);
uint16_t ww_ex_double_to_bf16(double v, int round);
uint32_t ww_ex_float_to_tf32(float v, int round);
uint8_t ww_ex_double_to_f8(double v, bool e5m2, bool saturate_finite);
double ww_ex_f8_to_double(uint8_t v, bool e5m2);
/* a*b + c in double with the last bit sticky (round to odd): rounding it again to a shorter format is exact. */
double ww_ex_fma_odd(double a, double b, double c);
/* Sets the host's rounding direction; returns the old one for ww_ex_restore_round. */
int ww_ex_set_round(int round);
void ww_ex_restore_round(int old);

#endif
