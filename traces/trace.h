/* trace.h: a trace in memory, and the container's reader and writer.
 *
 * A trace is a list of kernel launches. A launch has a static instruction table and, per CTA and warp, the
 * stream of what the warp executed:
 *
 *     step:    inst, inst, inst, ...        one per dynamic warp instruction, with the active mask
 *     access:        a,        a, ...       one per step whose instruction has WW_INST_ACCESS, in order
 *
 * Invariants (checked by the reader, which never hands out a stream that breaks one): inst < inst_count;
 * access_count equals the number of steps with WW_INST_ACCESS; an access list has popcount(mask)
 * entries; a mask has no bit of a lane that the CTA does not have; a mask may be 0 (issued, no lane active).
 * Steps and accesses are shared between warps where identical; they are read-only.
 */
#ifndef WW_TRACES_TRACE_H
#define WW_TRACES_TRACE_H

#include "../estimator/api/trace.h"
#include "../estimator/result/result.h"
#include "../estimator/base/arena.h"
#include "../estimator/base/err.h"

enum ww_pipe {
    WW_PIPE_NONE,
    WW_PIPE_INT,
    WW_PIPE_IMUL,
    WW_PIPE_FP32,
    WW_PIPE_FP16,
    WW_PIPE_FP64,
    WW_PIPE_SFU,
    WW_PIPE_TENSOR,
    WW_PIPE_BRANCH,
    WW_PIPE_MEM,
    WW_PIPE_COUNT
};

enum ww_op {
#define X(id, name, pipe, help) WW_OP_##id,
#include "opclass.def"
#undef X
    WW_OP_COUNT
};

enum ww_arith {
#define X(id, help) WW_ARITH_##id,
#include "arith.def"
#undef X
    WW_ARITH_COUNT
};

enum ww_space {
    WW_SPACE_NONE,
    WW_SPACE_GLOBAL,
    WW_SPACE_SHARED,
    WW_SPACE_LOCAL,
    WW_SPACE_CONST,
    WW_SPACE_TEX,
    WW_SPACE_COUNT
};

/* Register numbers of a warp. R255 of the machine (zero) and true predicates are not recorded. */
#define WW_REG_PRED 256    /* + 0..7: predicates */
#define WW_REG_UNIFORM 272 /* + 0..63: uniform registers */
#define WW_REG_UPRED 336   /* + 0..7: uniform predicates */
#define WW_REG_COUNT 352
#define WW_INST_DST_MAX 2
#define WW_INST_SRC_MAX 6

struct ww_operand {
    uint16_t reg; /* first register */
    uint16_t n;   /* consecutive registers (64-bit: 2, 128-bit: 4) */
};

/* Flags of a static instruction. */
#define WW_INST_ACCESS 1u       /* each step has an access: addresses, or base as a value (see op) */
#define WW_INST_BYPASS_L1 2u    /* cached in the L2 only (ld.cg, volatile, relaxed) */
#define WW_INST_READ_ONLY 4u    /* may use the read-only (texture) cache */
#define WW_INST_STREAM 8u       /* marked streaming or evict-first */
#define WW_INST_BRANCH_COND 16u /* conditional branch */
#define WW_INST_BAR_ARRIVE 32u  /* barrier: arrives, does not wait */
#define WW_INST_BACK_EDGE 64u   /* branch whose target is at or before it */
#define WW_INST_SMEM_ALLOC 128u /* barrier of the whole CTA that also allocates `bytes` of shared memory */
#define WW_INST_SMEM_FREE 256u  /* the same that gives them back */
#define WW_INST_CONTROL 512u    /* the compiler's own control fields are known (control, src_slot) */
#define WW_INST_CONST 1024u     /* a source is a constant at a fixed place (constant) */
#define WW_INST_GROUP_END                                                                                      \
    2048u /* it ends a group of the matrix instructions of a warpgroup (its own one, too) */
#define WW_INST_GROUP_WAIT 4096u /* it waits until at most barrier_threads such groups are under way */
#define WW_INST_WAIT 8192u /* a global load that waits for a write of another warp; see struct ww_access */

/* What the compiler wrote into a machine instruction for the scheduler. */
struct ww_control {
    uint8_t stall;         /* cycles until the warp's next issue */
    uint8_t yield;         /* 1: the scheduler should turn to another warp */
    uint8_t write_barrier; /* scoreboard that counts until results are written; 7: none */
    uint8_t read_barrier;  /* scoreboard that counts until sources are read; 7: none */
    uint8_t wait;          /* scoreboards to wait for before issue, one bit each */
    uint8_t reuse;         /* the four bits as they are; src_slot says what they mean */
};
#define WW_CONTROL_NO_BARRIER 7u
/* Place of a source in the instruction, which decides about its port of the operand cache. */
#define WW_SLOT_A 1u
#define WW_SLOT_B 2u
#define WW_SLOT_C 3u
#define WW_SLOT_PLACE 7u /* mask of the place; 0: another one */
#define WW_SLOT_REUSE 8u /* flag: the operand cache keeps it */

/* What barrier_threads of DEPBAR holds: the level up to which its scoreboard may count, and a set of others
 * that must be 0. */
#define WW_DEPBAR_LEVEL(threads) ((threads)&63u)
#define WW_DEPBAR_SET(threads) ((threads) >> 6 & 63u)

/* One static machine instruction. */
struct ww_inst {
    uint32_t pc;
    uint8_t op;    /* enum ww_op */
    uint8_t space; /* enum ww_space, of memory operations */
    uint8_t width; /* bytes accessed per lane: 1, 2, 4, 8, 16 */
    uint8_t dst_count, src_count;
    uint8_t barrier;          /* barrier number of WW_OP_BARRIER; of DEPBAR the scoreboard, or 7 */
    uint16_t barrier_threads; /* threads that take part; 0: all of the CTA; of DEPBAR see WW_DEPBAR_LEVEL */
    uint32_t flags;
    struct ww_operand dst[WW_INST_DST_MAX], src[WW_INST_SRC_MAX]; /* guard predicates are sources */
    uint32_t mnemonic;                                            /* index in strings */
    uint32_t file;                                                /* index in strings; 0: none */
    uint32_t line;                                                /* 0: unknown */
    uint32_t bytes; /* of shared memory, of a barrier that allocates or frees; the launch's last ones */
    struct ww_control control;         /* with WW_INST_CONTROL */
    uint8_t src_slot[WW_INST_SRC_MAX]; /* the same: WW_SLOT_... of each source */
    uint32_t constant;                 /* with WW_INST_CONST: bank << 24 | offset in bytes */
};

struct ww_step {
    uint32_t inst; /* index in the launch's instruction table */
    uint32_t mask; /* active lanes AND predicate */
};

/* Of a shared address: above it 0, or 1 + the rank in the cluster of another CTA whose shared memory it is. */
#define WW_SHARED_RANK_SHIFT 24u
#define WW_CLUSTER_CTAS 16u /* of a cluster at most */

/* Addresses of one step. list == WW_AFFINE: lane l's address is base + stride * l. Otherwise it names a list in
 * the pool, of the active lanes in lane order (ww_listed, ww_list_addresses): from pool[list] on addresses, or,
 * with WW_LIST_32 or WW_LIST_16 in `list`, as signed numbers of that many bits what is added to base, which is
 * then the first one's address. Such a list may serve any number of accesses. stride is at least the distance
 * from the lowest to the highest address, or 0 if that is not known. Shared addresses are byte offsets in the
 * CTA's allocation (see WW_SHARED_RANK_SHIFT); local ones byte offsets in the thread's frame; constant ones
 * byte offsets in the bank; global ones are virtual. For WW_OP_BARRIER and WW_OP_SLEEP with WW_INST_ACCESS base
 * holds a value: the barrier number in bits 0-7 and its threads in bits 8-23; nanoseconds to sleep. For
 * WW_OP_DMA the first entries of the list are the words of a struct ww_dma (dma.h), further ones 0. With
 * WW_INST_WAIT the access is affine, all lanes have the address base, and stride is no distance but the number
 * of steps of the launch that have written the aligned word of 4 bytes at base before the load is performed. */
#define WW_AFFINE UINT32_MAX
#define WW_LIST_32 ((uint32_t)1 << 30)
#define WW_LIST_16 ((uint32_t)2 << 30)
#define WW_LIST_PLACE (WW_LIST_32 - 1) /* mask of the place in the pool */
struct ww_access {
    uint64_t base;
    int32_t stride;
    uint32_t list;
};

/* log2 of the bytes that a list has for each lane. */
static inline uint32_t ww_list_shift(uint32_t list) {
    return 3 - (list >> 30);
}

/* Address number n of a list. */
static inline uint64_t ww_listed(const struct ww_access *a, const uint64_t *pool, uint32_t n) {
    const void *list = pool + (a->list & WW_LIST_PLACE);
    if (a->list & WW_LIST_16) return a->base + (uint64_t)(int64_t)((const int16_t *)list)[n];
    if (a->list & WW_LIST_32) return a->base + (uint64_t)(int64_t)((const int32_t *)list)[n];
    return ((const uint64_t *)list)[n];
}

static inline void ww_list_from_32(uint64_t *restrict to, const int32_t *restrict from, uint64_t base,
                                   uint32_t n) {
    for (uint32_t i = 0; i < n; i++) to[i] = base + (uint64_t)(int64_t)from[i];
}

static inline void ww_list_from_16(uint64_t *restrict to, const int16_t *restrict from, uint64_t base,
                                   uint32_t n) {
    for (uint32_t i = 0; i < n; i++) to[i] = base + (uint64_t)(int64_t)from[i];
}

/* The n addresses of a list: those in the pool, or in `room`. */
static inline const uint64_t *ww_list_addresses(const struct ww_access *a, const uint64_t *pool, uint32_t n,
                                                uint64_t room[static 32]) {
    const void *list = pool + (a->list & WW_LIST_PLACE);
    if (!(a->list & ~WW_LIST_PLACE)) return list;
    /* The compiler makes vectors of a loop with a fixed count. */
    if (a->list & WW_LIST_16)
        n == 32 ? ww_list_from_16(room, list, a->base, 32) : ww_list_from_16(room, list, a->base, n);
    else
        n == 32 ? ww_list_from_32(room, list, a->base, 32) : ww_list_from_32(room, list, a->base, n);
    return room;
}

/* The access without the count of a wait: what its addresses are. */
static inline struct ww_access ww_access_place(const struct ww_inst *inst, const struct ww_access *a) {
    struct ww_access place = *a;
    if ((inst->flags & WW_INST_WAIT) && a->list == WW_AFFINE) place.stride = 0;
    return place;
}

struct ww_warp_stream {
    const struct ww_step *step;
    const struct ww_access *access;
    const uint64_t *pool; /* that has its lists */
    uint32_t step_count, access_count;
};

/* One CTA, decoded. Valid until released. */
struct ww_cta_trace {
    uint64_t index; /* linear CTA number: x + grid.x * (y + grid.y * z) */
    uint32_t warp_count;
    const struct ww_warp_stream *warp;
    void *group; /* private to the reader */
};

/* One launch, without its streams. */
/* Memory of the device that was written between launches: `rows` rows of `bytes`, `pitch` from one to the next.
 */
enum ww_trace_copy_kind { WW_TRACE_COPY_HOST, WW_TRACE_COPY_DEVICE, WW_TRACE_COPY_FILL, WW_TRACE_COPY_KINDS };
struct ww_trace_copy {
    uint64_t address, bytes, pitch; /* pitch means something for several rows only */
    uint32_t rows;
    uint8_t kind; /* enum ww_trace_copy_kind */
};

/* When a launch may begin: after the launch before it of the same stream, and after those that it waits for.
 * All zero in a program of one stream. */
struct ww_trace_order {
    uint32_t stream;      /* 0: the default one; others by number, also branches of graphs */
    int32_t priority;     /* of the stream: lower goes first */
    const uint32_t *wait; /* numbers of earlier launches */
    uint32_t wait_count;
};

struct ww_launch {
    const char *kernel;
    const char *arch; /* "sm_70": what the machine instructions are of */
    const char
        *code; /* where they come from: "ptxas 12.4.131 -arch sm_70"; NULL: not told, our lowering or a tool */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs of a cluster; all 0: none */
    uint32_t registers_per_thread;
    uint32_t shared_static, shared_dynamic; /* bytes */
    uint32_t local_bytes;                   /* per thread */
    uint64_t cta_count;                     /* grid x * y * z */
    uint32_t warps_per_cta;
    uint64_t warp_instructions, thread_instructions; /* filled by the writer */
    const struct ww_inst *inst;
    uint32_t inst_count;
    const char *const *string; /* string[0] is "" */
    uint32_t string_count;
    const struct ww_trace_copy *copy; /* copies and fills since the launch before, in their order */
    uint32_t copy_count;
    struct ww_trace_order order;
    const uint64_t *wait_word; /* words / 4 that its steps with WW_INST_WAIT wait for, in rising order */
    uint32_t wait_words;
};

/* Provenance of a file; strings may be NULL. */
struct ww_trace_meta {
    const char *program;   /* what was recorded, for example "workload saxpy" or a path */
    const char *arguments; /* its parameters */
    const char *tool;      /* "warpwatt 0.1.0", "nvbit 1.5" */
};

/* ---- reader ---- (open and close: ww_trace_open, ww_trace_close) */

const struct ww_trace_meta *ww_trace_get_meta(const struct ww_trace *trace);
/* What was recorded, its arguments, and in brackets where machine code comes from: the name that runs and
 * sweeps keep of a trace. Lives in the arena; NULL: no memory. */
const char *ww_trace_program(struct ww_trace *trace, struct ww_arena *arena);
/* Content hash of the whole file as 16 hex digits; lives as long as the trace. */
const char *ww_trace_hash(const struct ww_trace *trace);
/* The launch; lives as long as the trace. Errors: WW_USAGE (index), WW_INPUT (damaged). */
enum ww_code ww_trace_launch(struct ww_trace *trace, size_t index, const struct ww_launch **launch,
                             struct ww_error *error);
/* Decodes the group that holds the CTA, unless it is already decoded, and fills *out. Each call needs one
 * ww_trace_release_cta. A decoded group stays in memory while any of its CTAs is held, and a few more are
 * kept. Errors: WW_USAGE (no such CTA, or a slice that leaves it out), WW_INPUT with the file's offset. */
enum ww_code ww_trace_load_cta(struct ww_trace *trace, size_t launch, uint64_t cta, struct ww_cta_trace *out,
                               struct ww_error *error);
void ww_trace_release_cta(struct ww_trace *trace, struct ww_cta_trace *cta);
/* Bytes of the file, and bytes that launch's CTA groups take in it. */
uint64_t ww_trace_bytes(const struct ww_trace *trace);
/* True if the file holds this CTA (slices may leave CTAs out). */
bool ww_trace_has_cta(const struct ww_trace *trace, size_t launch, uint64_t cta);
/* The first CTA at or after `cta` that the file holds, UINT64_MAX if there is none. */
uint64_t ww_trace_next_cta(const struct ww_trace *trace, size_t launch, uint64_t cta);

/* Figures of a launch's streams from the index; lives as long as the trace. */
struct ww_trace_content {
    const uint64_t *inst_warps; /* executions of each static instruction by warps */
    uint64_t ctas;              /* that the file holds */
};
/* Errors: WW_USAGE (index). */
enum ww_code ww_trace_get_content(const struct ww_trace *trace, size_t launch, struct ww_trace_content *out,
                                  struct ww_error *error);

/* ---- writer ---- */

struct ww_trace_writer;
/* Starts a file (written as PATH.tmp-* in the same folder, renamed by finish). level: zstd, 0 for the default.
 */
enum ww_code ww_trace_writer_new(const char *path, const struct ww_trace_meta *meta, int level,
                                 struct ww_trace_writer **writer, struct ww_error *error);
/* Starts a launch; the description is copied. */
enum ww_code ww_trace_writer_launch(struct ww_trace_writer *w, const struct ww_launch *launch,
                                    struct ww_error *error);
/* Adds one CTA of the current launch, in any order, each at most once; the streams are copied.
 * Errors: WW_USAGE (out of range, twice), WW_INTERNAL (a stream breaks an invariant). */
enum ww_code ww_trace_writer_cta(struct ww_trace_writer *w, const struct ww_cta_trace *cta,
                                 struct ww_error *error);
/* Ends the current launch; CTAs never added are recorded as absent. */
enum ww_code ww_trace_writer_end_launch(struct ww_trace_writer *w, struct ww_error *error);
/* Writes index and trailer, renames into place; *bytes (may be NULL) is the file's size. Frees w. */
enum ww_code ww_trace_writer_finish(struct ww_trace_writer *w, uint64_t *bytes, struct ww_error *error);
/* True if the process has closed the file's descriptor. */
bool ww_trace_writer_lost(const struct ww_trace_writer *w);
/* Gives up: removes the temporary file. Frees w (NULL is fine). */
void ww_trace_writer_abort(struct ww_trace_writer *w);
/* Removes the temporary file, and frees nothing: for a process that ends in the middle of another call (NULL is
 * fine). */
void ww_trace_writer_abandon(const struct ww_trace_writer *w);

/* Name, pipe of a class. */
const char *ww_op_name(enum ww_op op);
enum ww_pipe ww_op_pipe(enum ww_op op);
const char *ww_space_name(enum ww_space space);
/* What a lane computes in an instruction of the launch; WW_ARITH_COUNT: nothing that arith.def tells apart. */
enum ww_arith ww_arith_of(const struct ww_launch *launch, const struct ww_inst *inst);

#endif
