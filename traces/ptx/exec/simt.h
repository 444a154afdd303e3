/* simt.h: warps, their divergent paths, CTAs and the grid, private to the executor.
 *
 * A warp is a set of splits: groups of lanes that are at the same instruction of the same activation. A
 * branch that parts a split opens a join at the immediate post-dominator; a split that reaches its join
 * waits there until all lanes that the join expects have come (or exited), then they go on as one.
 *
 *     split: pc, lanes, frame, join --> join: pc, frame, lanes expected, lanes arrived, outer --> join ...
 *
 * Splits of a warp, warps of a CTA and CTAs of the window take turns, so every runnable lane makes progress.
 * Lanes that wait at a join for lanes that only spin are let go on alone (as on Volta and later).
 */
#ifndef WW_TRACES_PTX_SIMT_H
#define WW_TRACES_PTX_SIMT_H

#include "../../cta_pick.h"
#include "../../dma.h"
#include "../../mbarrier.h"
#include "bulk_copy.h"
#include "exec.h"
#include "record.h"
#include "spin.h"

#define EX_DEFAULT_LIMIT 100000000000u /* thread instructions of a launch */
#define SIMT_BARRIERS 16u
#define SIMT_MAX_WARPS 32u            /* 1024 threads */
#define SIMT_STACK_LIMIT 1024u        /* activations per thread */
#define SIMT_LOCAL_LIMIT (512u << 10) /* bytes of local memory per thread */
/* Space of variables that are passed in calls: in the frame's parameter storage, one per lane. */
#define EX_S_CALL (PTX_S_TEX + 1)

enum split_state { SPLIT_RUN, SPLIT_BARRIER, SPLIT_WSYNC, SPLIT_WOP, SPLIT_CLUSTER };

struct ex_frame {
    struct ex_frame *up;
    const struct ex_func *func;
    uint32_t return_pc;         /* in up->func */
    const struct ex_inst *call; /* where return values go */
    uint32_t lanes, depth;
    uint32_t local_base;         /* of this activation's frame in the thread's local memory */
    unsigned char *regs, *param; /* param: [lane][func->param_bytes] */
};

struct ex_split {
    uint32_t pc, mask, act; /* act: lanes of a blocked warp-wide instruction or barrier whose guard holds */
    int32_t join;           /* -1: none */
    uint8_t state, barrier;
    struct ex_frame *frame;
    struct spin_watch watch;
    uint64_t spin_hash;
    uint32_t spin_pc, spin_turns, waits; /* waits: tries of a wait at an mbarrier in a row */
    uint64_t back_edges;
};

struct ex_join {
    uint32_t pc, expect, arrived;
    int32_t outer; /* join that goes on behind; in the free list: next free */
    struct ex_frame *frame;
};

struct access_group {
    uint8_t space; /* enum ptx_space after resolution of generic addresses */
    uint32_t mask;
};

struct ex_warp {
    unsigned char *base[2]; /* registers of the current activation, constants of the kernel */
    struct ex_cta *cta;
    struct ex_run *run;
    struct ex_frame *frame;
    uint32_t index, exist, live, cc; /* masks of lanes */
    uint32_t cluster_arrived,
        cluster_passed; /* lanes: in this phase of the cluster's barrier; that need not wait */
    struct ex_split split[EX_LANES];
    uint32_t split_count, current;
    struct ex_join *join;
    int32_t join_capacity, join_free;
    unsigned char *local; /* [lane][local_capacity] */
    uint32_t local_capacity;
    /* addresses of the last memory instruction, resolved to their space */
    uint64_t addr[EX_LANES], addr2[EX_LANES];
    struct access_group group[4];
    uint32_t group_count;
    uint64_t value;                /* barrier, sleep: what to record */
    struct ww_mbarrier_steps mbar; /* mbarrier, bulk copy: what to record */
    bool released;                 /* by a barrier, since its last turn */
    bool unmet;                    /* a wait at an mbarrier or for a warpgroup has failed */
    const unsigned char *unmet_at; /* the mbarrier of the last wait, if it has failed */
    uint64_t matrix_groups;        /* of wgmma that it has committed */
    uint64_t dma[WW_DMA_WORDS];    /* bulk transfer: what to record */
    struct record_stream stream;
};

struct ex_barrier {
    uint32_t expected;                /* threads, 0: all */
    uint32_t arrived[SIMT_MAX_WARPS]; /* lanes by warp */
    uint32_t before;                  /* threads of warps that have arrived and do so once more */
    uint32_t popc, all, any;          /* bar.red */
    bool used;
};

/* CTAs that run together and see one another's shared memory; a launch without clusters has clusters of one. */
struct ex_cluster {
    struct ex_run *run;
    struct ex_cta *cta[WW_CLUSTER_MOST];
    uint32_t count;
};

struct ex_cta {
    struct ex_run *run;
    struct ex_cluster *cluster;
    uint32_t rank; /* in the cluster */
    uint64_t index;
    uint32_t ctaid[3];
    uint32_t warp_count, live_warps;
    struct ex_warp *warp;
    struct ex_barrier barrier[SIMT_BARRIERS + WW_DMA_BUFFERS];   /* the last ones are those of transfers */
    struct ww_dma dma[WW_DMA_BUFFERS], transfer[WW_DMA_BUFFERS]; /* as configured; that warps ask for */
    unsigned char *shared;
    uint32_t *tmem;     /* tensor memory (tmem.h), from the heap; NULL: nothing has been allocated */
    uint16_t tmem_held; /* of it, a bit for each 32 columns */
    bool tmem_over;     /* the CTA has given up its right to allocate more */
    uint32_t spin_rounds;
    struct ww_mbarrier_log mbarriers;
    uint64_t state_bytes;
};

struct tex_object;
struct ex_run {
    struct mem *mem;
    const struct ex_kernel *kernel;
    uint32_t grid[3], block[3], block_threads, warps_per_cta;
    uint32_t cluster[3]; /* CTAs of a cluster; 0: 1 */
    uint32_t shared_bytes, dynamic_shared;
    const unsigned char *param; /* kernel parameters */
    const unsigned char *constant_bank;
    uint32_t constant_bank_bytes;
    uint64_t stream_limit; /* bytes recorded for CTAs that have not finished */
    uint64_t limit, thread_instructions, warp_instructions, clock;
    uint64_t grid_id;
    const struct tex_object *texture; /* tex.h: objects by handle - 1 */
    uint64_t texture_count;
    uint64_t workspace;             /* address of a cooperative grid's workspace; 0: not cooperative */
    FILE *out;                      /* kernels' printf; NULL: dropped */
    struct recorder *recorder;      /* NULL: nothing is recorded */
    const struct ww_cta_pick *pick; /* the CTAs that are run; NULL: all */
    ww_progress_fn progress;
    void *progress_context;
    uint64_t cta_count, stream_bytes, state_bytes, frame_bytes;
    struct bulk_touched touched; /* by the last bulk copy, to be recorded */
    bool failed;
    enum ww_code code;
    struct ww_error *error;
    /* where the current instruction is, for errors */
    const struct ex_func *at_func;
    const struct ex_inst *at;
};

/* Runs the grid to its end. */
enum ww_code ww_ex_run_grid(struct ex_run *run, struct ww_error *error);

/* simt.c */
bool ww_simt_warp_init(struct ex_warp *w, struct ex_cta *cta, uint32_t index);
void ww_simt_warp_free(struct ex_warp *w);
/* Parts split `s`: lanes of `mask` go to `pc`, the rest to `rest_pc`; join at `reconv` (-1: none). */
bool ww_simt_diverge(struct ex_warp *w, uint32_t s, uint32_t mask, uint32_t pc, uint32_t rest_pc,
                     int32_t reconv);
int32_t ww_simt_join_new(struct ex_warp *w, uint32_t pc, struct ex_frame *frame, uint32_t expect,
                         int32_t outer);
/* The split has reached its join: waits there. The split's index is invalid afterwards. */
void ww_simt_arrive(struct ex_warp *w, uint32_t s);
/* Ends lanes of split `s`; the split goes if it has none left. */
void ww_simt_exit(struct ex_warp *w, uint32_t s, uint32_t mask);
/* Lets the lanes that wait at the split's joins go on. True if there were any. */
bool ww_simt_release_waiting(struct ex_warp *w, uint32_t s);
/* True if split s stands at its join's instruction. */
static inline bool simt_at_join(const struct ex_warp *w, const struct ex_split *s) {
    return s->join >= 0 && w->join[s->join].pc == s->pc && w->join[s->join].frame == s->frame;
}
void ww_simt_use_frame(struct ex_warp *w, struct ex_frame *frame);

/* exec_call.c */
struct ex_frame *ww_ex_frame_new(struct ex_warp *w, const struct ex_func *func, struct ex_frame *up,
                                 uint32_t lanes);
void ww_ex_frame_leave(struct ex_warp *w, struct ex_frame *frame, uint32_t lanes, bool whole_chain);
/* Calls for the lanes of split s; moves pc. */
void ww_ex_call(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t mask);
void ww_ex_return(struct ex_warp *w, uint32_t s, uint32_t mask);
/* vprintf, malloc, free, __assertfail: false if `name` is none of them. */
/* An argument of a call, of one lane; 0 if there is no such one. */
uint64_t ww_ex_argument(struct ex_warp *w, const struct ex_inst *i, uint32_t n, unsigned lane);
bool ww_ex_is_builtin(const char *name);
void ww_ex_builtin(struct ex_warp *w, const struct ex_inst *i, uint32_t mask);
/* exec_dma.c */
bool ww_ex_is_dma(const char *name);       /* an intrinsic of bulk transfers */
bool ww_ex_is_dma_start(const char *name); /* the one that starts them */
void ww_ex_dma_configure(struct ex_warp *w, const struct ex_inst *i, uint32_t mask);
/* Checks what the lanes ask for and keeps it, for the copy and to be recorded. False: the run has failed. */
bool ww_ex_dma_execute(struct ex_warp *w, const struct ex_inst *i, uint32_t mask, uint32_t *buffer);
/* Copies the buffer's tile. */
void ww_simt_dma_copy(struct ex_cta *cta, uint32_t buffer);
/* exec_print.c */
void ww_ex_vprintf(struct ex_warp *w, uint32_t lane, uint64_t format, uint64_t args);

/* simt_cluster.c */
/* barrier.cluster of split s; moves it on or lets it wait. */
void ww_simt_cluster(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t mask);
/* Threads have arrived or exited: the barrier of the cluster may complete. */
void ww_simt_cluster_check(struct ex_cluster *c);
/* Threads of the cluster that have arrived in this phase, and that have not exited. */
void ww_simt_cluster_count(const struct ex_cluster *c, uint32_t *arrived, uint32_t *live);
/* exec_bulk.c: executes a bulk copy. */
void ww_ex_bulk(struct ex_warp *w, const struct ex_inst *i, uint32_t mask);
/* Matrix instructions of the warp so far are done: one arrival. */
bool ww_ex_mbarrier_commit(struct ex_warp *w, unsigned lane, uint64_t bar);
/* A bulk copy or st.async has completed bytes of the mbarrier at `bar`. */
bool ww_ex_mbarrier_complete(struct ex_warp *w, unsigned lane, uint64_t bar, uint32_t bytes);
/* What the mbarrier lacks at which the warp waits, for errors; false: it waits at none. */
bool ww_ex_mbarrier_say(const struct ex_warp *w, char *text, size_t size);
/* The CTA of the cluster whose shared memory holds p, and where. */
struct ex_cta *ww_ex_owner(const struct ex_warp *w, const unsigned char *p, uint32_t *offset);
/* Bytes of the shared memory of the cluster at `address` (exec.h), NULL if there are none, or if their CTA has
 * exited. */
unsigned char *ww_ex_shared(struct ex_warp *w, uint64_t address, uint32_t bytes);
/* Fails the run: why ww_ex_shared() gave NULL to `what`. */
void ww_ex_fail_shared(struct ex_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, const char *what);

/* simt_bar.c */
/* Arrives at a CTA barrier; the split waits unless it completes. */
void ww_simt_barrier(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t mask);
/* Arrives at a transfer, all threads of the CTA are waited for. */
void ww_simt_barrier_dma(struct ex_warp *w, uint32_t s, uint32_t mask, uint32_t buffer);
/* Threads have exited: barriers that waited for them may complete. */
void ww_simt_barrier_check(struct ex_cta *cta);
/* Fails with who waits where. */
void ww_simt_barrier_stuck(struct ex_cta *cta);

/* simt_run.c */
/* Runs one turn of a warp; returns the number of warp instructions done. */
uint32_t ww_simt_run_warp(struct ex_warp *w, uint32_t budget, bool *spinning);

/* exec_mem.c: bytes at a generic address of one lane, NULL (and failed) if it is bad. */
unsigned char *ww_ex_generic(struct ex_warp *w, uint32_t lane, uint64_t address, uint32_t bytes);
/* An address operand: the base register (EX_NO_SLOT: none), what is added, the space, bytes per lane. */
struct ex_address {
    uint32_t slot, bytes;
    uint8_t width, space;
    bool is_store;
    int64_t offset;
};
/* Computes and checks the addresses of the lanes in `mask`: addr[l] within its space, host[l] where the
 * bytes are; fills w->group. False if one is bad (the run has failed). */
bool ww_ex_addresses(struct ex_warp *w, const struct ex_inst *i, const struct ex_address *a, uint32_t mask,
                     uint64_t *addr, unsigned char **host);

/* Fails the run: kernel, CTA, thread, PTX line and source line go in front. `lane` 32: no thread. */
__attribute__((format(printf, 4, 5))) void ww_ex_fail(struct ex_warp *w, uint32_t lane, enum ww_code code,
                                                      const char *fmt, ...);

/* ---- operands ---- */
static inline const void *ex_src(const struct ex_warp *w, uint32_t slot) {
    return w->base[slot >> 31] + (slot & ~EX_CONST);
}
static inline void *ex_dst(struct ex_warp *w, uint32_t slot) {
    return w->base[0] + slot;
}
static inline uint32_t ex_pred(const struct ex_warp *w, const struct ex_inst *i, uint32_t slot, unsigned n) {
    uint32_t v;
    __builtin_memcpy(&v, ex_src(w, slot), sizeof v);
    return (i->neg >> n) & 1u ? ~v : v;
}
static inline void ex_set_pred(struct ex_warp *w, uint32_t slot, uint32_t value, uint32_t mask) {
    uint32_t *p = ex_dst(w, slot);
    *p = (*p & ~mask) | (value & mask);
}
/* Value of an operand of lane l whose lanes are `width` bytes wide. */
static inline uint64_t ex_lane(const struct ex_warp *w, uint32_t slot, uint8_t width, unsigned l) {
    return width == 8 ? ((const uint64_t *)ex_src(w, slot))[l] : ((const uint32_t *)ex_src(w, slot))[l];
}
static inline void ex_set_lane(struct ex_warp *w, uint32_t slot, uint8_t width, unsigned l, uint64_t v) {
    if (width == 8)
        ((uint64_t *)ex_dst(w, slot))[l] = v;
    else
        ((uint32_t *)ex_dst(w, slot))[l] = (uint32_t)v;
}

#if defined(__clang__)
#define EX_VECTOR
#else
#define EX_VECTOR _Pragma("GCC ivdep")
#endif
/* Runs the statements for each lane l of `mask`; registers are equal or disjoint, so lanes are independent. */
#define EX_EACH(mask, ...)                                                                                     \
    do {                                                                                                       \
        if ((mask) == EX_ALL) {                                                                                \
            EX_VECTOR for (unsigned l = 0; l < EX_LANES; l++) {                                                \
                __VA_ARGS__                                                                                    \
            }                                                                                                  \
        } else {                                                                                               \
            for (uint32_t m_ = (mask); m_; m_ &= m_ - 1) {                                                     \
                unsigned l = (unsigned)__builtin_ctz(m_);                                                      \
                __VA_ARGS__                                                                                    \
            }                                                                                                  \
        }                                                                                                      \
    } while (0)
#define EX_ARGS struct ex_warp *w, const struct ex_inst *i, uint32_t mask

#endif
