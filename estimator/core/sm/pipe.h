/* pipe.h: a launch's instructions, decoded once for one GPU: what an issue takes and when its result is
 * there. Registers are renumbered densely, so that a warp's scoreboard holds only those that the launch uses.
 */
#ifndef WW_CORE_PIPE_H
#define WW_CORE_PIPE_H

#include "../../../traces/mbarrier.h"
#include "../../../traces/trace.h"
#include "../../config/gpu.h"
#include "../../result/result.h"

/* What a head instruction needs to be free in order to issue. */
enum ww_group {
    WW_G_FREE, /* nothing but the issue slot: branches, barriers, no-operations */
    WW_G_INT,
    WW_G_IMUL,
    WW_G_FP32,
    WW_G_FP16,
    WW_G_FP64,
    WW_G_SFU,
    WW_G_TENSOR,
    WW_G_UNIFORM, /* the uniform datapath, where pipe.uniform.cycles says that there is one */
    WW_G_LSU,     /* room in the load/store queue */
    WW_G_SHARED,  /* the same, for shared memory and shuffles */
    WW_G_CONST,   /* the constant cache's port */
    WW_G_FENCE,   /* a memory instruction that needs nothing */
    WW_G_TMA,     /* room in the queue of bulk copies */
    WW_G_COUNT
};
#define WW_G_MEMORY                                                                                            \
    ((1u << WW_G_LSU) | (1u << WW_G_SHARED) | (1u << WW_G_CONST) | (1u << WW_G_FENCE) | (1u << WW_G_TMA))
#define WW_UNIT_COUNT WW_G_LSU /* groups 1.. are units with a port of their own; 0 stands for none */

/* What happens after the issue. */
enum ww_action {
    WW_A_NONE,
    WW_A_BRANCH,
    WW_A_EXIT,
    WW_A_BARRIER,
    WW_A_FENCE,
    WW_A_SLEEP,
    WW_A_CONST,
    WW_A_LSU,
    WW_A_DMA,
    WW_A_TMA,
    WW_A_MATRIX /* of a warpgroup, or the end of a group of such */
};

/* What the load/store unit does with the instruction. */
enum ww_lsu_path { WW_L_SHUFFLE, WW_L_SHARED, WW_L_SHARED_ATOMIC, WW_L_LOAD, WW_L_STORE, WW_L_ATOMIC };

/* Bulk copies, of an SM with an engine for them (tma.h). */
enum ww_bulk {
    WW_BULK_NONE,
    WW_BULK_LOAD,
    WW_BULK_STORE,
    WW_BULK_REDUCE,
    WW_BULK_PEER, /* from shared memory to that of a CTA of the cluster */
    WW_BULK_FLUSH /* ends a group of stores and reductions */
};

/* At the barrier of a cluster (cluster.h). */
enum ww_cluster_step { WW_CLUSTER_NONE, WW_CLUSTER_ARRIVE, WW_CLUSTER_WAIT };

/* Where a load looks for its data before it goes to the L2. */
enum ww_lsu_cache { WW_CACHE_NONE, WW_CACHE_L1, WW_CACHE_TEX };

#define WW_FEW 8 /* registers stored in the instruction itself, which fits a line of the host's caches */

#define WW_DEPEND_COUNTERS 6 /* of a warp, see depend.h */
#define WW_NO_COUNTER 7
#define WW_DEPEND_LEVELS 32 /* different levels that DEPBAR.LE waits for in a launch */

/* A level of a counter that is waited for. */
struct ww_depend_level {
    uint8_t counter, level;
};

struct ww_dinst {
    uint8_t group;        /* enum ww_group: the unit whose port it takes */
    uint8_t group2;       /* a second port that it takes, 0: none */
    uint8_t action;       /* enum ww_action */
    uint8_t path;         /* enum ww_lsu_path */
    uint8_t cache;        /* enum ww_lsu_cache, of a load */
    uint8_t state;        /* enum ww_warp_state of those who wait for its result */
    uint8_t check_count;  /* registers it must find ready */
    uint8_t result_count; /* of these, the last ones are its results */
    uint8_t conflict;     /* extra cycles for register-bank conflicts */
    uint8_t width;
    uint16_t ii, ii2; /* cycles it holds the ports */
    uint8_t part;     /* eighths of a cycle more than ii; if queued */
    uint16_t room;    /* with a queue: cycles of its unit that may wait there */
    uint16_t latency; /* issue to dependent issue, where it is fixed */
    uint16_t share;   /* of the cycles of a warpgroup's matrix instruction, in 256ths, those in which it reads
                         shared memory */
    uint16_t sums;    /* registers of a lane's sums that such an instruction writes */
    uint8_t space;
    bool access;
    bool local : 1, texture : 1, async : 1, reply : 1; /* reply: an atomic with a result */
    bool sends : 1;                                    /* a store of which mbarriers are told (mbar.h) */
    bool conditional : 1, arrive : 1;
    bool constant : 1; /* an operand of it is one that has a line (const_operand.h) */
    bool runs : 1;     /* it may issue before its cycle (issue_plain.h) */
    bool leads : 1;    /* others may do so behind it */
    bool counts : 1;   /* it adds to a dependence counter, or is a copy that one may wait for */
    bool unseen : 1;   /* and the warp may issue in the next cycle, when that is not seen yet */
    bool stores : 1;
    bool queued : 1;                  /* it waits in its unit's queue, not at issue */
    bool matrix : 1, ends_matrix : 1; /* one of a warpgroup; it ends a group of them */
    bool waits : 1;                   /* for another warp's write, before its issue (waits.h) */
    bool ends_group : 1;              /* its counter waits for the asynchronous copies before it */
    uint8_t quick; /* in shared memory or a shuffle, and nothing but registers depends on it: 1 + the place of
                    * what it costs (lsu.c); else 0 */
    bool side;     /* lanes side by side take one pass of the banks then */
    uint8_t lane;  /* enum ww_lane, of issue_plain.h */
    uint8_t interval; /* there: cycles to the scheduler's next issue */
    uint8_t excess;   /* enum ww_warp_state of a warp that is ready for it */
    uint16_t result;  /* issue_plain.h: dense number of its first result, or of a register that nothing reads */
    uint8_t stall;    /* cycles to the warp's next issue; 0: control fields are not obeyed */
    uint8_t write_counter, read_counter; /* with those: below WW_DEPEND_COUNTERS, or WW_NO_COUNTER */
    uint8_t read_after;                  /* cycles from the issue until its sources are read */
    uint8_t smem;                        /* enum ww_shared_act, of a barrier */
    uint8_t barrier;
    uint8_t bulk;           /* enum ww_bulk */
    uint8_t cluster;        /* enum ww_cluster_step */
    uint16_t next_fetch;    /* cycles from its issue to the fetch of what follows it */
    uint16_t barrier_warps; /* 0: all of the CTA */
    uint8_t reads, writes;  /* how many of the banks of its operands, and of its results; with register banks
                             * (regs.h) sources listed, and whether it reads any register */
    uint32_t pc;
    uint32_t line;         /* with caches of schedulers (supply.h): of the code ... */
    uint32_t left;         /* ... and instructions from this one to its end */
    uint32_t bank;         /* with operand collectors or banks: place of these in the list */
    const uint16_t *check; /* dense numbers of the registers it checks, its results last */
    uint16_t few[WW_FEW];  /* where check points to if they are not more */
};

#define WW_LOOK 4u /* registers that a head checks at once; shorter lists go on with their last one */
static inline void ww_pipe_fill(uint16_t *list, uint32_t count) {
    for (uint32_t i = count; count && i < WW_LOOK; i++) list[i] = list[count - 1];
}

/* Dense numbers of its results. */
static inline const uint16_t *ww_results(const struct ww_dinst *d) {
    return d->check + d->check_count - d->result_count;
}

/* Whether it is at an mbarrier; its step has an access. */
static inline bool ww_pipe_is_mbarrier(const struct ww_dinst *d) {
    return d->action == WW_A_BARRIER && d->access && d->barrier == WW_MBARRIER;
}

struct ww_code_table {
    struct ww_dinst *inst;
    uint16_t *reg;      /* lists of dense numbers that are longer */
    uint8_t *bank;      /* all lists of banks, or of registers (regs.h); or NULL */
    bool banked;        /* these are of registers */
    bool contended;     /* matrix instructions of warpgroups wait for what others take (tensor.h) */
    uint32_t *constant; /* by instruction: line of its constant operand + 1, 0: none; or NULL */
    uint32_t inst_count, registers;
    bool uses_tex, uses_const; /* a load goes to the texture cache, to the constant cache */
    bool uses_dma;             /* it has bulk transfers */
    bool uses_mbarriers;
    bool uses_tma; /* it has bulk copies, and the GPU an engine for them */
    bool uses_waits;
    bool control; /* control fields are obeyed: no registers are looked up, but counters (depend.h) */
    struct ww_depend_level level[WW_DEPEND_LEVELS];
    uint32_t levels, level_room; /* room: the highest + 1 */
    uint16_t async_register;     /* stands for "no asynchronous copy is outstanding" */
    uint16_t matrix_register;    /* the first of matrix_room + 1, see tensor.h; 0: no matrix instruction of a
                                  * warpgroup */
    uint16_t matrix_room;
};

/* Decodes; memory from the arena. Errors: WW_NOMEM, WW_INPUT (an operand out of range). */
enum ww_code ww_pipe_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch,
                            struct ww_arena *arena, struct ww_code_table *out, struct ww_error *error);
/* Fixed latencies by what reads a result (latency.c); for decoded code whose registers decide. */
void ww_pipe_pair_latencies(const struct ww_gpu_spec *gpu, const struct ww_launch *launch,
                            struct ww_code_table *code);
/* Whether an instruction is one of the uniform datapath: its results are uniform registers or predicates. */
static inline bool ww_pipe_uniform(const struct ww_inst *in) {
    return in->dst_count && in->dst[0].reg >= WW_REG_UNIFORM && in->op < WW_OP_LOAD;
}
/* Instances of a unit, 0 for groups that are none. */
uint32_t ww_pipe_instances(const struct ww_gpu_spec *gpu, enum ww_group unit);
/* The pipe of an operation class. */
enum ww_pipe ww_pipe_of(enum ww_op op);

#endif
