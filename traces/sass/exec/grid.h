/* grid.h: a kernel ready to run, its launch, CTAs and the grid, private to the executor.
 *
 * Code: the kernel's text section and behind it every text section of the cubin that is no kernel, in the
 * file's order (what calls may reach). Instruction k of that list is inst[k], insn[k] and entry k of the
 * recorder's table. A code address (WW_CUBIN_CODE + ...) is found through the segments.
 *
 * Windows of the generic address space lie above any address of a host or of global memory. Their low 32 bits
 * are 0, so that an address within a window is that window's offset.
 */
#ifndef WW_TRACES_SASS_GRID_H
#define WW_TRACES_SASS_GRID_H

#include "../../cta_pick.h"
#include "../../ptx/exec/bulk_copy.h"
#include "sass_exec.h"

#define SX_DEFAULT_LIMIT 100000000000u /* thread instructions of a launch */
#define SX_SHARED_WINDOW 0x0001000100000000u
#define SX_LOCAL_WINDOW 0x0001000200000000u
#define SX_CONST_WINDOW 0x0001000300000000u /* constant bank 0, where kernel parameters lie */
#define SX_WINDOW_BYTES 0x01000000u
#define SX_RANK_SHIFT 24u /* of a shared address: the CTA's rank in its cluster above */
#define SX_OFFSET_MASK ((1u << SX_RANK_SHIFT) - 1)
#define SX_CLUSTER_WINDOW ((uint64_t)WW_CLUSTER_MOST << SX_RANK_SHIFT)
#define SX_STACK_EXTRA                                                                                         \
    (64u << 10)                     /* bytes of stack beyond what the kernel says, where functions are called  \
                                     */
#define SX_LOCAL_LIMIT (512u << 10) /* bytes of local memory of a thread */
#define SX_SMS 80u                  /* multiprocessors that kernels see */
#define SX_CODE_LIMIT (1u << 20)    /* instructions */

/* Places in constant bank 0 that the driver fills, and others that differ by architecture (sass_arch.c). */
struct sx_arch {
    uint32_t arch;        /* compute capability x 10: the first that has this layout */
    uint16_t block, grid; /* dimensions, 3 words each */
    uint16_t dynamic_shared, grid_id, envreg, sm_count; /* bytes; 64 bits; 4 words; multiprocessors */
    uint16_t shared_reserved;             /* bytes of the shared memory's size that are the system's */
    uint16_t shared_window, local_window; /* of generic addresses, 64 bits; 0: none */
    uint16_t stack;                       /* initial stack pointer */
    uint16_t descriptor;                  /* of memory accesses, 64 bits; 0: none */
    uint16_t params;
    uint16_t cluster, param_address; /* cluster sizes and counts; the parameters' generic address; 0: none */
    uint32_t shared_base;            /* bytes of shared memory that the system reserves in front */
};
/* The layout of an architecture; NULL if it is not known. */
const struct sx_arch *ww_sx_arch_of(uint32_t arch);

/* A row or two that hold an immediate (bank -1) or c[bank][offset]. */
struct sx_constant {
    int32_t bank;
    uint32_t offset, rows, at; /* at: offset of its first row */
    uint64_t value;
    uint32_t next; /* the builder's */
};
struct sx_segment {
    uint64_t address; /* of its first instruction */
    uint32_t first, count;
};
struct sx_kernel {
    struct ww_arena arena;
    const struct ww_cubin *cubin;
    const struct ww_cubin_kernel *entry;
    const struct sx_arch *arch;
    struct ww_sass_insn *insn;
    struct sx_inst *inst;
    uint32_t count;
    struct sx_segment *segment;
    uint32_t segment_count;
    struct sx_constant *constant;
    uint32_t constant_count, constant_rows; /* rows without zero and ones */
    uint32_t uniform_at, barrier_at, return_at, register_at, predicate_at,
        file_bytes;                         /* offsets in a warp's file */
    uint32_t registers, uniforms, barriers; /* rows of each */
    bool calls;                             /* calls functions: its stack may be deeper than it says */
};

/* Decodes a kernel of a cubin that has been placed and must outlive it. Errors: WW_UNSUPPORTED (an instruction
 * that is not known, with kernel, offset and bits), WW_INPUT, WW_NOMEM. */
enum ww_code ww_sx_kernel_new(const struct ww_cubin *cubin, const struct ww_cubin_kernel *entry,
                              struct sx_kernel **out, struct ww_error *error);
void ww_sx_kernel_free(struct sx_kernel *k);
/* Index of the instruction at a code address, SX_NOWHERE if there is none. */
uint32_t ww_sx_find(const struct sx_kernel *k, uint64_t address);
/* For those who pick instructions: keeps the first problem; the kernel that is being built. */
void ww_sx_problem(struct sx_builder *b, enum ww_code code, const char *text);
struct sx_kernel *ww_sx_building(struct sx_builder *b);
void ww_sx_pick_nop(struct sx_inst *i);
/* Code address of instruction `index`. */
uint64_t ww_sx_address(const struct sx_kernel *k, uint32_t index);

struct sx_barrier {
    uint32_t expected;              /* threads, 0: all */
    uint32_t arrived[SX_MAX_WARPS]; /* lanes by warp */
    uint32_t before;                /* threads of warps that have arrived and do so once more */
    uint32_t popc, all, any;        /* BAR.RED */
    bool is_and;                    /* BAR.RED.AND */
    bool used;
};

/* CTAs that run together and see one another's shared memory; without clusters each has its own. */
struct sx_cluster {
    struct sx_run *run;
    struct sx_cta *cta[WW_CLUSTER_MOST];
    uint32_t count;
};

struct sx_cta {
    struct sx_run *run;
    struct sx_cluster *cluster;
    uint32_t rank;
    struct sx_cta *spare; /* next of those whose memory waits to be used again */
    uint64_t index;       /* in the trace: of those that are run */
    uint32_t ctaid[3];
    uint32_t warp_count, live_warps;
    struct sx_warp *warp;
    struct sx_barrier barrier[SX_BARRIERS];
    struct ww_mbarrier_log mbarriers;
    unsigned char *shared;
    uint64_t state_bytes;
};

struct tex_object;
/* A launch. The caller fills in the first part. */
struct sx_run {
    struct mem *mem;
    const struct sx_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs of a cluster; 0: without */
    uint32_t dynamic_shared;
    const unsigned char *param; /* kernel->entry->param_bytes bytes */
    uint64_t limit;             /* of thread instructions; 0: the default */
    uint64_t stream_limit;      /* bytes recorded for CTAs that have not finished */
    uint64_t grid_id;
    const struct tex_object *texture; /* tex.h: objects by handle - 1 */
    uint64_t texture_count;
    uint64_t workspace;             /* address of a cooperative grid's workspace; 0: not cooperative */
    FILE *out;                      /* kernels' printf; NULL: dropped */
    struct recorder *recorder;      /* NULL: nothing is recorded */
    const struct ww_cta_pick *pick; /* the CTAs that are run; NULL: all */
    ww_progress_fn progress;
    void *progress_context;
    /* results */
    uint64_t thread_instructions, warp_instructions;
    /* the executor's own */
    unsigned char *constants; /* rows */
    unsigned char *bank[WW_CUBIN_BANKS];
    uint32_t bank_bytes[WW_CUBIN_BANKS];
    uint32_t block_threads, warps_per_cta, shared_bytes, local_top, local_base;
    uint64_t clock, cta_count, stream_bytes, state_bytes;
    struct sx_cta *spare;
    uint32_t shared_mask;        /* bits of a shared address that are its offset */
    struct bulk_touched touched; /* by the last bulk copy, to be recorded */
    bool failed;
    enum ww_code code;
    struct ww_error *error;
    const struct sx_inst *at; /* the current instruction, for errors */
};

/* Runs the grid to its end. Errors: WW_EXEC, WW_USAGE, WW_UNSUPPORTED, WW_NOMEM, WW_FAIL (stopped). */
enum ww_code ww_sx_run_grid(struct sx_run *run, struct ww_error *error);

/* sass_constant.c: banks and constant rows of a launch. */
enum ww_code ww_sx_constants_new(struct sx_run *run, struct ww_error *error);
void ww_sx_constants_free(struct sx_run *run);

/* sass_group.c */
void ww_sx_warp_clear(struct sx_warp *w);
bool ww_sx_warp_init(struct sx_warp *w, struct sx_cta *cta, uint32_t index);
void ww_sx_warp_free(struct sx_warp *w);
/* Lanes of `mask` of group g go to `pc`; the rest stay in g. */
void ww_sx_part(struct sx_warp *w, uint32_t g, uint32_t mask, uint32_t pc);
/* Lanes of `lanes` that wait in `state` at the barrier of that number go on behind their instruction. */
void ww_sx_let_go(struct sx_warp *w, uint8_t state, uint32_t number, uint32_t lanes);
/* Removes lanes from the copies of a convergence barrier that equal theirs, so that the other lanes do not wait
 * for them. */
void ww_sx_leave_barrier(struct sx_warp *w, uint32_t barrier, uint32_t lanes);
/* Ends lanes of group g; the group goes if it has none left. */
void ww_sx_exit(struct sx_warp *w, uint32_t g, uint32_t mask);
/* Lets groups go on that have all the lanes that they wait for. */
void ww_sx_settle(struct sx_warp *w);
/* Lets the first groups that wait within the warp go on though others have not come. True if there were any. */
bool ww_sx_release_waiting(struct sx_warp *w);

/* sass_run.c: runs one turn of a warp; returns the number of warp instructions done. */
uint32_t ww_sx_run_warp(struct sx_warp *w, uint32_t budget, bool *spinning);
/* sass_flow.c: executes a control instruction of group g; moves its pc. True if the group runs on. */
bool ww_sx_flow(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act);

/* sass_bar.c */
/* Group g, whose lanes are `mask`, arrives. True if it goes on (then it may have moved). */
bool ww_sx_barrier(struct sx_warp *w, uint32_t g, uint32_t number, uint32_t count, bool waits,
                   uint32_t predicate, uint32_t mask);
void ww_sx_barrier_check(struct sx_cta *cta);
void ww_sx_barrier_stuck(struct sx_cta *cta);

/* sass_extern.c: a call of the function with that name, which the driver supplies. */
void ww_sx_extern(struct sx_warp *w, const char *name, uint32_t mask);

/* sass_record.c */
void ww_sx_add_step(struct sx_warp *w, uint32_t inst, uint32_t mask);
static inline void sx_add_step(struct sx_warp *w, uint32_t inst, uint32_t mask) {
    struct record_stream *s = &w->stream;
    if (s->step_count < s->step_capacity)
        s->step[s->step_count++] = (struct ww_step){inst, mask};
    else
        ww_sx_add_step(w, inst, mask);
}
void ww_sx_record(struct sx_warp *w, const struct sx_inst *i, uint32_t mask, uint32_t taken);
enum ww_code ww_sx_record_cta(struct sx_cta *cta, struct ww_error *error);

/* sass_address.c: bytes at a generic address of one lane, NULL (and failed) if it is bad. */
unsigned char *ww_sx_generic(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes);
/* Bytes of global memory, NULL (and failed) if they are not there. */
unsigned char *ww_sx_global(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, bool is_store);

/* Registers by number, for calls of the driver's functions. */
static inline uint32_t *sx_register(struct sx_warp *w, uint32_t n);

static inline uint32_t *sx_register(struct sx_warp *w, uint32_t n) {
    const struct sx_kernel *k = w->run->kernel;
    return (uint32_t *)(void *)(w->base[0] + (n < k->registers ? k->register_at + n * SX_ROW : SX_SINK));
}

#endif
