/* sass_exec.h: functional execution of machine code, private to the executor.
 *
 * A kernel is decoded once (sass_build.c) into sx_inst, one for each machine instruction and at the same index,
 * whose operands are slots: byte offsets of rows of 32 lanes (uint32_t[32]), either in the warp's file or among
 * the kernel's constants (SX_CONST):
 *
 *     file of a warp:   [sink | uniform registers | convergence barriers | Rpc | general registers |
 * predicates] constants:        [zero | ones | immediates and c[bank][offset] of the instructions, every lane
 * equal]
 *
 * A value of 64 or 128 bits is 2 or 4 consecutive rows, the lower word first. RZ reads SX_WIDE rows of zero and
 * writes SX_WIDE rows that are never read (sink). A uniform register is a row whose lanes are all equal, so
 * that vector instructions read it as any other row; uniform instructions are executed for all 32 lanes. A
 * predicate is one word, a bit per lane; a uniform predicate is 0 or UINT32_MAX; PT reads as ones and is
 * written into the sink.
 *
 * A warp is a set of groups of lanes that are at the same instruction. Nothing here is shared between devices.
 */
#ifndef WW_TRACES_SASS_EXEC_H
#define WW_TRACES_SASS_EXEC_H

#include "../../../estimator/base/bits.h"
#include "../../mbarrier.h"
#include "../../ptx/exec/mem.h"
#include "../../ptx/exec/record.h"
#include "../../ptx/exec/spin.h"
#include "../cubin/cubin.h"
#include "../code/insn.h"
#include <stdio.h>
#include <string.h>

#define SX_LANES 32u
#define SX_ALL UINT32_MAX
#define SX_CONST 0x80000000u
#define SX_ROW 128u /* bytes of a row */
#define SX_WIDE 8u  /* rows of zero, and of the sink */
#define SX_ZERO SX_CONST
#define SX_ONES (SX_CONST | SX_WIDE * SX_ROW)
#define SX_SINK 0u
#define SX_CLUSTER_BARRIER 16u /* behind those of the CTA */
#define SX_BARRIERS 17u
#define SX_CONVERGENCE 16u /* convergence barriers of a warp */
#define SX_MAX_WARPS 32u   /* of a CTA */
#define SX_MAX_REGISTERS 255u

struct sx_warp;
struct sx_inst;
struct sx_builder;
struct sx_address;
struct sx_texture;
struct sx_bulk;

/* Executes an instruction for the lanes in `mask` (not 0). Fails through ww_sx_fail(). */
typedef void (*sx_fn)(struct sx_warp *w, const struct sx_inst *i, uint32_t mask);

enum sx_kind {
    SX_DATA,    /* only registers and predicates, lane by lane or among the lanes of the mask */
    SX_UNIFORM, /* the uniform datapath: fn is called with SX_ALL if any lane is active */
    SX_MEM,     /* may fail, leaves addresses to record */
    SX_FLOW,    /* changes the group: sass_flow.c */
};

struct sx_inst {
    sx_fn fn;
    uint8_t kind; /* enum sx_kind */
    uint8_t guard_neg;
    uint8_t neg,
        abs;      /* bit n: source n (a, b, c) is negated (of logic: complemented); its magnitude is taken */
    uint8_t pneg; /* bit n: source predicate n is complemented */
    uint8_t sub, cmp, boolop, round, type, type2, type3, shape, bytes;
    uint32_t guard; /* predicate slot */
    uint32_t mods;
    uint32_t d, d2, a, b, c; /* slots; destinations are never constants */
    uint32_t pd[2], ps[3];   /* predicate slots */
    int64_t imm;
    uint32_t target; /* branches: index of an instruction, SX_NOWHERE if outside of the code */
    const struct sx_address *address, *address2; /* memory */
    const struct sx_texture *texture;
    const struct sx_bulk *bulk;
    const struct ww_sass_insn *src;
};
#define SX_NOWHERE UINT32_MAX

/* ---- building (sass_build.c) ---- */

/* Slots of an instruction's operands. `rows`: how many rows fn reads or writes (up to SX_WIDE where the operand
 * may be RZ). A problem is kept in the builder, a harmless slot is returned. */
/* REG, UREG, CONST and IMM. An IMM of two rows is a double whose upper word it is. */
uint32_t ww_sx_src(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, uint32_t rows);
uint32_t ww_sx_dst(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, uint32_t rows);
/* Uniform registers by number. */
uint32_t ww_sx_uniform(struct sx_builder *b, uint32_t reg, uint32_t rows);
/* Predicates, general or uniform; ww_sx_pred_src sets bit `n` of i->pneg where the operand is complemented. A
 * slot that the instruction lacks reads as true, and is written into the sink. */
uint32_t ww_sx_pred_src(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, unsigned n,
                        struct sx_inst *i);
uint32_t ww_sx_pred_dst(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot);
/* A constant of 1 or 2 rows. */
uint32_t ww_sx_value(struct sx_builder *b, uint64_t value, uint32_t rows);
/* Compute capability x 10. */
uint32_t ww_sx_arch(const struct sx_builder *b);

/* One for each family: sets fn and the fields that it needs (kind is SX_DATA, guard is set already); false if
 * the instruction or its form is not theirs. */
bool ww_sx_pick_alu(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i); /* arithmetic */
bool ww_sx_pick_memory(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_bulk(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_async(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_atomic(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_warp(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_flow(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_special(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
/* WARPGROUP.DEPBAR; false: another WARPGROUP. */
bool ww_sx_pick_group_wait(const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_pick_texture(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);

/* ---- operands at execution ---- */

#define SX_NO_BARRIER 255u
enum sx_state {
    SX_RUN,
    SX_AT_BSYNC, /* waits for the lanes of its convergence barrier */
    SX_AT_WARPSYNC,
    SX_AT_BAR, /* waits at a barrier of the CTA */
};
/* Lanes at one place. */
struct sx_group {
    uint32_t pc, mask;
    uint8_t state, barrier; /* of the CTA, or of convergence */
    uint32_t members;       /* of a WARPSYNC */
    uint64_t spin_hash, back_edges;
    struct spin_watch watch;
    uint32_t spin_turns, waits; /* waits: tries of a wait at an mbarrier in a row */
};

struct sx_access_group {
    uint8_t space; /* enum ww_space after resolution of generic addresses */
    uint32_t mask;
};

/* What BAR.RED made of the predicates. */
struct sx_reduced {
    uint32_t popc, all, any;
    bool is_and; /* which of the last two is asked for */
};

struct sx_cta;
struct sx_run;
struct sx_warp {
    unsigned char *base[2]; /* file, constants */
    struct sx_cta *cta;
    struct sx_run *run;
    uint32_t index, exist, live;              /* masks of lanes */
    uint32_t cluster_arrived, cluster_passed; /* lanes: in this phase of the cluster's barrier; need not wait */
    uint32_t active;                          /* lanes that execute the current instruction */
    uint32_t group_count, current;
    unsigned char *local; /* [lane][local_bytes], the upper end of each lane's stack */
    uint32_t local_bytes;
    bool affine; /* lane l's address is affine_base + l * affine_stride, and addr is not set */
    int32_t affine_stride;
    uint64_t affine_base;
    struct sx_access_group access[4];
    uint32_t access_count;
    uint64_t value;                /* barrier, sleep: what to record */
    struct ww_mbarrier_steps mbar; /* mbarrier, bulk copy: what to record */
    bool released;                 /* by a barrier, since its last turn */
    bool unmet;                    /* a wait at an mbarrier or for a warpgroup has failed */
    const unsigned char *unmet_at; /* the mbarrier of the last wait, if it has failed */
    uint64_t matrix_groups;        /* of a warpgroup's matrix instructions that it has ended */
    struct sx_reduced reduced;     /* of the warp's last barrier, for B2R */
    struct record_stream stream;
    /* What comes from here on is not cleared for a new warp. */
    struct sx_group group[SX_LANES];
    uint64_t addr[SX_LANES]; /* of the last memory instruction, resolved to their space */
};

static inline const void *sx_src(const struct sx_warp *w, uint32_t slot) {
    return w->base[slot >> 31] + (slot & ~SX_CONST);
}
static inline void *sx_dst(struct sx_warp *w, uint32_t slot) {
    return w->base[0] + slot;
}
static inline uint32_t sx_pred(const struct sx_warp *w, uint32_t slot) {
    uint32_t v;
    memcpy(&v, sx_src(w, slot), sizeof v);
    return v;
}
/* Source predicate n as a mask of lanes. */
static inline uint32_t sx_ps(const struct sx_warp *w, const struct sx_inst *i, unsigned n) {
    uint32_t v = sx_pred(w, i->ps[n]);
    return (i->pneg >> n) & 1u ? ~v : v;
}
static inline void sx_set_pred(struct sx_warp *w, uint32_t slot, uint32_t value, uint32_t mask) {
    uint32_t *p = sx_dst(w, slot);
    *p = (*p & ~mask) | (value & mask);
}
/* Number of lanes. */
static inline uint32_t sx_count(uint32_t mask) {
    return mask == SX_ALL ? SX_LANES : ww_bits(mask);
}
/* A value of two rows, of lane l. */
static inline uint64_t sx_get64(const uint32_t *rows, unsigned l) {
    return rows[l] | (uint64_t)rows[l + SX_LANES] << 32;
}
static inline void sx_set64(uint32_t *rows, unsigned l, uint64_t v) {
    rows[l] = (uint32_t)v;
    rows[l + SX_LANES] = (uint32_t)(v >> 32);
}

/* Functions that exist twice, for the plain host and for one with AVX2 and fused multiply-add. */
#if defined(__x86_64__) && defined(__GNUC__)
#define SX_HOST __attribute__((target("avx2,fma")))
#define SX_HAVE_HOST (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define SX_HOST
#define SX_HAVE_HOST 0
#endif
#define SX_INLINE static inline __attribute__((always_inline))
/* Functions NAME_plain and NAME_host of the inline function NAME, and the pair of them. */
#define SX_PAIR(name)                                                                                          \
    static void name##_plain(SX_ARGS) {                                                                        \
        name(w, i, mask);                                                                                      \
    }                                                                                                          \
    SX_HOST static void name##_host(SX_ARGS) {                                                                 \
        name(w, i, mask);                                                                                      \
    }                                                                                                          \
    static const sx_fn name##_fn[2] = {name##_plain, name##_host};
#define SX_FN(name) (name##_fn[SX_HAVE_HOST ? 1 : 0])

/* Bit of each lane: what masks of lanes are made and tested with, a row at a time. */
static const uint32_t sx_bit[SX_LANES] = {1u,       1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,
                                          1u << 7,  1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13,
                                          1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20,
                                          1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27,
                                          1u << 28, 1u << 29, 1u << 30, 1u << 31};

#if defined(__clang__)
#define SX_VECTOR
#else
#define SX_VECTOR _Pragma("GCC ivdep")
#endif
/* Runs the statements for each lane l of `mask`; rows are equal or disjoint, so lanes are independent. */
#define SX_EACH(mask, ...)                                                                                     \
    do {                                                                                                       \
        if ((mask) == SX_ALL) {                                                                                \
            SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) {                                                \
                __VA_ARGS__                                                                                    \
            }                                                                                                  \
        } else {                                                                                               \
            for (uint32_t m_ = (mask); m_; m_ &= m_ - 1) {                                                     \
                unsigned l = (unsigned)__builtin_ctz(m_);                                                      \
                __VA_ARGS__                                                                                    \
            }                                                                                                  \
        }                                                                                                      \
    } while (0)
#define SX_ARGS struct sx_warp *w, const struct sx_inst *i, uint32_t mask

/* Fails the run: kernel, CTA, thread, offset of the instruction and source line go in front. `lane` 32: no
 * thread.
 */
__attribute__((format(printf, 4, 5))) void ww_sx_fail(struct sx_warp *w, uint32_t lane, enum ww_code code,
                                                      const char *fmt, ...);

#endif
