/* sm.h: the state of the streaming multiprocessors during a launch.
 *
 *   dispatch -> warps -> schedulers -> issue --> unit ports (result after a fixed latency)
 *                 ^                      |-----> constant cache (the same)
 *                 |                      '-----> LSU queue -> coalescer -> L1 -> miss queue -> memory system
 *                 '---- scoreboard <----- fill, hit, shared-memory pass ---------------------------'
 *
 * State machine of a resident warp (a warp is in one state in every cycle; set with ww_warp_set_state):
 *
 *   NO_INST --> WAIT_x --> EXCESS_x --issue--> (ISSUED for one cycle) --> NO_INST | WAIT_x | EXCESS_x
 *                                     '--> BARRIER | MEMBAR | SYNC | PAUSED --> the next instruction's states
 *                                     '--> DONE (no instruction is left) --> gone with its CTA
 *
 * An SM acts only in cycles at which something can happen; what lies between is counted in bulk. All cycles
 * are counted from the launch's start. Memory is allocated when an SM gets its first CTA, from the engine's
 * arena; only the pools of outstanding operations grow. */
#ifndef WW_CORE_SM_H
#define WW_CORE_SM_H

#include "../../result/result.h"
#include "../../base/bits.h"
#include "../../base/likely.h"
#include "../../mech/lsu/lsu.h"
#include "../../mech/pipe/pipe.h"
#include "../../mech/sched/sched.h"
#include "cluster.h"
#include "copy.h"
#include "depend.h"
#include "dma.h"
#include "../time/epoch.h"
#include "../time/launch_time.h"
#include "fetch.h"
#include "l1.h"
#include "l1_tag.h"
#include "mbar.h"
#include "segments.h"
#include "shapes.h"
#include "probe.h"
#include "sm_wheel.h"
#include "supply.h"
#include "smem.h"
#include "shared_table.h"
#include "tma.h"
#include "../memory/tlb_array.h"

/* Where CTAs come from: a trace, or a test. */
struct ww_cta_source {
    void *context;
    enum ww_code (*load)(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error);
    void (*release)(void *context, struct ww_cta_trace *cta);
    uint64_t (*next)(void *context, uint64_t cta); /* first that there is, from this one on, or UINT64_MAX */
};

/* CTAs at whose dispatch segments end, in rising order; see engine.h. */
struct ww_marks {
    const uint64_t *cta;
    uint64_t *cycle;
    size_t count;
};

#define WW_BARRIERS 16
#define WW_SCHEDULERS_MOST 8 /* of an SM */
#define WW_NONE UINT32_MAX

/* A scoreboard entry: cycle at which the register is ready, and the state of who waits for it. */
#define WW_SB(cycle, state) (((cycle) << 4) | (state))
#define WW_SB_CYCLE(entry) ((entry) >> 4)
#define WW_SB_STATE(entry) ((uint32_t)((entry)&15))

struct ww_governor;
struct ww_concurrent;
struct ww_waits;
struct ww_collect;
struct ww_rf;
struct ww_const_operands;
struct ww_booked;

/* In the order of use, by lines of the host's caches: what a wake-up and every issue use, what an issue and the
 * load/store unit use, the rest. */
struct ww_warp {
    _Alignas(WW_HOST_LINE) const struct ww_step *step; /* head */
    const struct ww_dinst *head;                       /* decoded, when it has been looked at */
    struct ww_inst_count *counts;                      /* of the instruction that cycles are counted for */
    uint64_t since;                                    /* cycles before it are counted */
    uint64_t front; /* the head can be looked at from this cycle on; before it the state is front_state */
    uint64_t
        operands_at; /* while it waits for them: the cycle of its wake-up at which all are there, if known */
    uint8_t state, front_state, sched, slot, cta, group, buffered;
    uint8_t unseen;               /* bit per dependence counter to which the issue in the cycle before added */
    bool resident, pending, done; /* pending: a reply wakes it, not a cycle */
    bool paused;                  /* with its CTA */
    bool fenced, barred, starved; /* starved: its CTA waits for shared memory */
    uint8_t number;               /* place in the SM's array */

    uint64_t *board;                /* scoreboard, by dense register */
    const struct ww_step *end;      /* past its last step */
    const struct ww_access *access; /* of the next access */
    const uint64_t *pool;
    uint64_t memory_at;     /* latest completion cycle of the memory operations that have their replies */
    uint64_t shared_at;     /* cycle at which its shared accesses that have started are performed */
    uint32_t last_mask;     /* of the step before the head */
    uint32_t memory_count;  /* operations without all replies, for fences */
    uint32_t inflight;      /* of these, those that keep its slot: queued, or with a result to come */
    uint16_t shared_queued; /* shared accesses that have not started, for barriers */
    uint16_t arriving;      /* bit per barrier at which it arrives when its shared accesses have started */

    uint64_t next_line;  /* supply.c: arrival of the line after `line`, 0: its buffer is not there yet */
    uint32_t line;       /* supply.c: of the head */
    uint32_t generation; /* of the slot, to recognise late acknowledgements */
    uint64_t icache_key; /* line that it fetched from last; UINT64_MAX where schedulers have caches or the SM
                          * has a fetch port */
    struct ww_depend *depend;       /* where control fields are obeyed */
    uint64_t results_at;            /* booked.h: latest reply to its operations with results */
    const struct ww_step *admitted; /* const_operand.c: it has waited for the constant of this one */
    uint32_t async_count;
    bool awaits, released; /* it waits for a write before its load (waits.h); has waited for it */
    bool missed;           /* supply.c: the L0 lacked the line that next_line is of */
};

/* What others have taken of what a scheduler's tensor core needs, as of its last instruction of a warpgroup
 * (tensor.h). */
struct ww_contention {
    uint64_t at, port, reads, writes; /* cycle of its issue; port_used, registers read and written then */
    uint32_t share, ii, sums;         /* of that instruction */
};

/* What an issue uses lies in few lines of the host's caches. */
struct ww_sched {
    _Alignas(WW_HOST_LINE) uint64_t next_issue; /* the issue interval and bank conflicts are over */
    uint64_t
        *try_at; /* its SM's; nothing can issue before, unless a warp becomes ready or the LSU makes room */
    uint64_t counted;       /* slots of cycles before it are counted */
    struct ww_warp *warp;   /* of slot 0; the next ones are as many warps apart as there are schedulers: */
    uint32_t stride;        /* so many bytes */
    uint64_t ready;         /* slots that are ready for any group */
    struct ww_warp *last;   /* that issued last, NULL: it has ended */
    uint32_t groups;        /* bit per group with a ready slot */
    uint32_t causes;        /* bit per enum ww_slot that a warp gives, but for those that are ready */
    uint32_t blocked_slot;  /* cause of a slot that is lost to operands that are in the way ... */
    uint64_t blocked_until; /* ... of what is ready, before this cycle ... */
    uint64_t blocked_from;  /* ... and from this one on */
    uint64_t unit_free[WW_G_COUNT];  /* by group: cycle from which it takes an instruction of this scheduler */
    uint64_t unit_ready[WW_G_COUNT]; /* slots whose head belongs to it and has its operands */
    uint8_t cause_count[WW_SLOT_COUNT];
    uint8_t
        parts;    /* eighths of a cycle by which the tensor core's last instructions were longer than counted */
    uint64_t own; /* bit per warp of the SM that is the scheduler's */
    uint64_t slot[WW_SLOT_COUNT];
    struct ww_sched_view view; /* for the mechanism; cycle and ready sets are filled in when it picks */
    uint64_t age[64];
    uint64_t before[64]; /* by slot: those that issue first if more are ready, where that is the age's order */
    uint32_t cta[64];
    uint64_t busy[WW_G_COUNT]; /* by group with a queue: cycle from which the unit starts another instruction */
    struct ww_contention matrix;
    void *state;          /* the mechanism's */
    struct ww_sm *copies; /* its SM, if roles are known, else NULL */
};

struct ww_barrier {
    uint64_t at;                 /* cycle from which it may open */
    uint64_t waiting;            /* warps of the SM */
    uint32_t arrived, expected;  /* warps; expected 0: all of the CTA that have not ended */
    const struct ww_dinst *smem; /* it allocates or frees when all have arrived, or NULL */
};

struct ww_cta {
    struct ww_cta_trace trace;
    uint64_t started;
    uint32_t first_warp, warps, live, exited; /* live: warps that hold the slot */
    bool resident, paused, allocated;         /* allocated: it holds the public part of its shared memory */
    bool others_paused;  /* when it completed: CTAs of its SM that a governor may let go on */
    uint64_t completed;  /* cycle at which it left the SM */
    uint64_t asked;      /* cycle at which it asked for that */
    struct ww_copy copy; /* if roles are known */
    uint64_t used_since; /* of a barrier that allocates, WW_NEVER: none since the last release */
    struct ww_barrier barrier[WW_BARRIERS];
};

/* Shared memory that CTAs allocate while they run; see shared_alloc.c. */
struct ww_shared_alloc {
    struct ww_shared_table table;
    uint32_t *waiting, count; /* slots of CTAs, in the order of their requests */
};

struct ww_lsu_entry {
    const struct ww_access *access;
    const uint64_t *pool;
    uint64_t from; /* its operands are there */
    uint32_t inst, mask;
    uint16_t warp;
    uint16_t quick; /* 1 + place in shared_cost, if it needs no more than that; else 0 */
};

/* A line request that was refused, with all that it takes to try it again. */
struct ww_parked {
    struct ww_line_request request;
    uint32_t op, inst, warp;
};

/* The re-execution queue; see reexec.c. */
struct ww_reexec {
    struct ww_parked *ring;
    uint32_t head, count, capacity; /* capacity 0: there is none */
    uint32_t refused;               /* in a row, since something changed last */
    uint8_t of[64];                 /* by warp: requests */
    uint64_t warps;                 /* bit per warp with any */
};

/* What a refused line request waits for, as far as it is known: until that has come, a retry would be refused.
 */
enum ww_lsu_wait {
    WW_LSU_ANY,   /* it is not known, or it has come */
    WW_LSU_QUEUE, /* room in the miss queue */
    WW_LSU_ENTRY, /* an MSHR of its cache */
    WW_LSU_SET    /* a line of its set that is not reserved */
};

#define WW_LSU_SUB_QUEUE 16u

/* A scheduler's places on the way to the load/store unit; see lsu_queue.h. */
struct ww_lsu_sub {
    uint64_t free;                    /* cycle from which it generates addresses of another instruction */
    uint64_t leave[WW_LSU_SUB_QUEUE]; /* by the last bits of an instruction's number: cycle from which its place
                                       * is free, WW_NEVER if not known yet */
    struct ww_sched *sched;
    uint32_t cycles, stages; /* as lsu.sub_cycles, lsu.sub_stages */
    uint8_t places;
    uint8_t in, out; /* last bits of the numbers of those to be taken, left next */
};

/* What a shuffle, a load and a store in shared memory take of the unit without conflicts. */
#define WW_SHARED_COSTS 3u
struct ww_shared_cost {
    uint32_t passes, pass, taken; /* pass: cycles of one; taken: of the unit */
};

struct ww_lsu {
    bool active, held, retry; /* in the middle of an instruction; refused; may try again */
    bool stalled, from_queue; /* with a re-execution queue: an instruction is blocked; a parked one is tried */
    bool banked;              /* several of a load's lines in a cycle (wavefront.h), request i in pass[i] */
    bool passes, passing;     /* such loads may pass in one go (lsu_pass.c); this one does */
    bool absent;              /* the line of the request that was refused is not in its cache */
    uint8_t quick;            /* mask of ww_dinst.quick: 0 if more is needed */
    bool skips_retries;       /* nothing else (a mechanism, bulk transfers) depends on or takes part in tries */
    uint8_t waits;            /* enum ww_lsu_wait */
    uint32_t wait_set;
    uint32_t op, next_request;
    uint32_t hit_lines; /* of the load that is looked up, with tag banks */
    const struct ww_cache *wait_cache;
    struct ww_lsu_entry *ring;
    struct ww_lsu_sub *sub;                    /* by scheduler, or NULL */
    uint32_t head, count, capacity, ring_mask; /* the ring has more than capacity: a power of two */
    uint64_t held_since, free;
    uint64_t busy; /* free without what the first instruction waits for */
    uint64_t start;
    struct ww_reexec reexec;
    struct ww_coalescer coalescer;
    uint8_t pass[WW_REQUEST_MAX];
    struct ww_coalescer *watch; /* scratch of lsu_watch.c; NULL: it does not watch */
    bool behind;                /* data in the L1 wait behind the held unit, from behind_since on */
    uint64_t behind_since;
};

/* Outstanding misses of the constant cache where they are limited; see const.c. */
struct ww_const_fill {
    uint64_t key, ready; /* line, and cycle at which it is there; the entry is free from then on */
};
struct ww_const_fills {
    struct ww_const_fill *entry; /* in the order of ready */
    uint32_t count;              /* entries that there are; 0: any number */
    uint64_t saturated_until;    /* cycle at which fewer than 7/8 are in use again; 0: fewer are */
};

/* What an answer of the memory system, a look-up and a step look at comes first, so that it lies in few lines
 * of the host's caches, which do not hold all SMs. */
struct ww_sm {
    struct ww_core *core;
    uint64_t now; /* cycle stepped last, or the one before an event from outside */
    uint32_t id;
    uint32_t outstanding;      /* requests to the memory system whose last reply has not come */
    struct ww_dma_engine *dma; /* NULL: the launch has no bulk transfers */
    struct ww_tma *tma;        /* NULL: no bulk copies, or no engine for them */
    struct ww_fetcher *fetch;  /* NULL: no prefetcher */
    struct ww_booked *booked;  /* booked.h; NULL: requests are under way until their replies come */
    uint32_t page_shift;       /* log2 of a page's bytes; 0: hits need no translation */
    bool saturated;            /* from saturated_at on */
    bool became_ready;         /* a warp became ready since the last step */
    bool answered;             /* a reply may have told a warp when to wake up, since this was looked at */
    bool issuing;              /* schedulers of this cycle are at work: CTAs end after them */
    bool plain;                /* instructions with a lane issue in it (issue_plain.h) */
    bool extras;               /* a barrel pipeline, bulk transfers, a prefetcher or a watch of its LSU */
    bool ahead;                /* its step of cycle `now` is done but for what others see */
    bool gathers;              /* it has a collector or a register file of its own */
    bool gates;                /* bulk transfers or constants can keep a picked instruction from its issue */
    struct ww_miss_queue misses;
    struct ww_lsu lsu;
    struct ww_cache l1;
    uint64_t issue_at; /* no scheduler can issue before: the earliest try_at */
    uint64_t try_at[WW_SCHEDULERS_MOST];
    uint64_t saturated_at; /* cycles before it are counted by mode */
    struct ww_warp *warp;
    struct ww_sched *sched;
    struct ww_cta *cta;
    uint64_t *board;            /* all scoreboards */
    struct ww_depend *depend;   /* by warp, where control fields are obeyed, or NULL */
    uint64_t (*port)[8];        /* [WW_UNIT_COUNT][instance]: free from; of units that schedulers share */
    struct ww_mbar *mbar;       /* NULL: the launch has no mbarriers */
    struct ww_barrel *barrel;   /* barrel.h, or NULL */
    struct ww_collect *collect; /* collect.h, or NULL */
    struct ww_wheel wheel;
    struct ww_tags constant, constant15, icache;
    struct ww_const_fills const_fills;
    struct ww_cache tex; /* if the GPU has one */
    struct ww_cluster_cta
        *cluster;    /* by CTA slot; NULL: the launch has no clusters, or they are not modelled */
    uint64_t copied; /* ww_copy_stall: cycles before it are counted */
    struct ww_sched_sm shared;
    struct ww_shared_alloc shared_alloc;
    struct ww_rf *rf;                   /* regs.h, by scheduler, or NULL */
    struct ww_const_operands *operands; /* const_operand.h, or NULL */
    uint64_t *icache_ready;
    struct ww_turns fetches;        /* with front.fetch_port */
    struct ww_supply supply;        /* with caches of the schedulers */
    uint64_t full_until, full_from; /* issue_plain.c: no CTA ends before full_until, as found in full_from */
    uint32_t resident_ctas, resident_warps;
    uint32_t paused_ctas, cta_room; /* of those that are resident; resident ones up to which it takes more */
    uint64_t active_since, active_cycles;
    uint64_t ahead_next;       /* what ww_issue returned in it */
    uint32_t draining;         /* warps that have ended and still hold their slot */
    uint64_t ended;            /* CTAs that do */
    uint64_t completed;        /* CTAs that have left, which the launch has not collected yet */
    struct ww_tlb_array pages; /* whose translation the SM got lately, if hits of the L1 need one */
};

/* The last time at which something came to the SMs from outside, with the core's cycle and the origin of its
 * clock then, and the cycle in which that takes effect. */
struct ww_outside {
    uint64_t ps, core_cycle, origin_ps, cycle;
};

/* Messages of the memory system to an SM, which receives them in its next cycle. */
struct ww_outbox {
    struct ww_mem_reply *reply; /* grown as need be */
    uint32_t count, capacity;
    bool unblocked;
    uint64_t released; /* bit per warp: what it awaited has been written */
};

/* SMs that one thread steps. */
struct ww_sm_group {
    _Alignas(WW_HOST_LINE) struct ww_wheel wheel; /* of SMs */
    struct ww_wheel offers; /* SMs ahead of the others: when the first request of their miss queues came */
    uint64_t sending;       /* SMs whose miss queue is offered at the end of this cycle for the first time */
    uint64_t completed;     /* SMs that CTAs have left in this cycle */
};

/* What is to be known of a group between cycles. */
struct ww_group_summary {
    _Alignas(WW_HOST_LINE) uint64_t next; /* cycle of its next step, WW_NEVER if none is planned */
    uint64_t sending;                     /* SMs whose miss queue is offered at the end of every cycle */
    uint64_t units;                       /* SMs whose unit has work in the next cycle, or that which begins */
    uint64_t completed;                   /* SMs that CTAs have left */
    uint32_t due;                         /* about how many SMs step in `next` */
};

/* What SMs are made with: when the first CTA comes to them, as a rule. Launches are often smaller than the GPU.
 */
struct ww_sm_plan {
    struct ww_arena *arena;
    const void *settings; /* of the schedulers */
    uint64_t seed;        /* of SM 0; the next ones have the next ones */
    uint32_t l1_ways;
};

/* What all SMs of a launch share. */
struct ww_core {
    const struct ww_gpu_spec *gpu;
    const struct ww_sched_ops *ops;
    struct ww_lsu_plan lsu_plan;
    struct ww_shared_plan shared_alloc;
    struct ww_dma_plan dma_plan;
    const struct ww_fetch_ops *fetch_ops;
    const void *fetch_settings;
    struct ww_fetch_plan fetch_plan;
    uint64_t sequence; /* launches of the run before this one */
    const struct ww_pipe_ops *pipe_ops;
    struct ww_pipe_plan pipe_plan; /* stages 0: SMs have no barrel pipeline */
    uint16_t pipe_register;        /* not ready while an instruction of the warp is in it */
    struct ww_code_table code;
    const struct ww_launch *launch;
    struct ww_epochs epochs;
    struct ww_segments segments;
    struct ww_event cut;          /* at the ends of epochs, if segments are kept */
    double mhz[WW_DOMAIN_COUNT];  /* clocks in force */
    struct ww_governor *governor; /* or NULL */
    uint64_t governor_at;         /* cycle in which it does something, WW_NEVER if never */
    uint64_t *counter;
    struct ww_pool pool;
    struct ww_memsys *memory;
    struct ww_probe *probe;            /* or NULL */
    struct ww_cta_log *ctas;           /* or NULL */
    struct ww_transfer_log *transfers; /* or NULL */
    const uint8_t *roles;              /* by instruction, which belong to copies (copy.h); or NULL */
    bool observed;                     /* it has a probe or roles */
    bool runs_ahead;                   /* SMs that nothing can reach go on by themselves for some cycles */
    struct ww_queue *queue;
    struct ww_clock clock;
    struct ww_event tick;
    uint64_t tick_cycle;  /* for which the tick is queued, or WW_NEVER */
    uint64_t now, now_ps; /* of the current tick */
    uint64_t start_ps;    /* of the launch */
    struct ww_launch_time launch_time;
    struct ww_sm_group *group;        /* of 2^group_shift SMs, at most 64 */
    struct ww_group_summary *summary; /* of each group */
    uint64_t *posted[2];              /* by group: SMs that are told something in the next even, odd cycle */
    struct ww_outbox *outbox;         /* by SM, what: of even cycles, of odd ones */
    uint64_t *next;                   /* by SM: cycle of its next step */
    struct ww_spans *spans;           /* launch/spans.h; NULL: SMs go cycle by cycle */
    bool books;                       /* with them: SMs book their requests (booked.h) */
    uint64_t span_end;                /* with spans: that of the current one */
    uint32_t groups, group_shift;
    struct ww_core *main;   /* the launch's: this one, but in a shard */
    struct ww_shard *shard; /* by group, if several threads step SMs; else NULL */
    struct ww_team *team;   /* these threads */
    uint64_t
        *quiet; /* by SM, while threads step: times before which it gets no message from memory; else NULL */
    uint64_t *told_ps; /* the same of SMs that memory is apart from (`told`); else NULL */
    uint64_t *told;
    uint64_t window; /* cycles for which memory can be apart from the SMs (launch/windows.h); 0: it cannot */
    uint64_t alone_until;  /* in a window: its end, up to which SMs may go alone (launch/alone.h); else 0 */
    uint32_t alone_misses; /* requests in its miss queue with which an SM does not */
    struct ww_sm *sm;
    struct ww_sm_plan sm_plan;
    bool ticking;
    uint64_t issued, inflight, age;
    uint64_t resident_warp_cycles, last_end; /* last_end: cycle at which the last CTA ended */
    struct ww_outside outside;
    uint64_t replies;       /* of the memory system to SMs */
    uint64_t last_reply_ps; /* time of the last message of the memory system to an SM */
    uint64_t progressed;    /* instructions at the last progress report */
    uint32_t unreported;    /* cycles since then */
    ww_progress_fn progress;
    void *progress_context;
    /* derived once a launch */
    struct ww_cache_shape l1_shape, tex_shape, fetch_shape;
    uint8_t chunks_of[256];             /* by pieces of a line: those of the L2 sectors that hold them */
    uint32_t request_shift[3];          /* by enum ww_lsu_cache: log2 of the bytes that a line request covers */
    uint32_t lsu_cycles, queue_high[2]; /* queue_high: as mshr_high */
    uint32_t tag_banks;                 /* of the L1's tags; 0: a line is looked up a cycle */
    struct ww_smem_banks banks;
    struct ww_shapes shapes;
    struct ww_shared_cost shared_cost[WW_SHARED_COSTS];
    uint32_t shared_ready; /* from an instruction's cycle in the unit to its results, less its latency */
    uint32_t local_words, icache_shift, const_shift, const15_shift;
    uint32_t instances[WW_UNIT_COUNT]; /* 0: as many as schedulers, one for each */
    uint32_t imul_group2;              /* port that integer multiplies also need, 0: none */
    struct ww_supply_plan supply;
    /* CTAs */
    struct ww_cta_source *source;
    uint64_t cta_count, next_cta, ended_ctas, launched_ctas;
    uint32_t cluster_size; /* CTAs; 1: the launch has no clusters, or they are not modelled */
    uint64_t next_cluster; /* clusters have ids from 1 on */
    uint32_t ctas_per_sm, warps_per_cta, turn;
    double dispatch_free; /* where less than a CTA is dispatched a cycle: from here on the next may be */
    uint64_t dispatch_at; /* cycle at which a CTA may be placed, WW_NEVER if not before one ends */
    struct ww_marks marks;
    struct ww_concurrent *concurrent; /* launches that run concurrently; NULL: there is one */
    struct ww_waits *waits;           /* waits.h; NULL: no step waits for a write */
    struct ww_error *error;
    enum ww_code code_failed; /* set by whoever meets an error inside an event */
};

static inline const struct ww_dinst *ww_head(const struct ww_core *core, const struct ww_warp *w) {
    return &core->code.inst[w->step->inst];
}

/* Counts a warp's cycles in its state up to `cycle`. */
static inline void ww_warp_count(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    if (cycle <= w->since) return;
    ww_epochs_count(&sm->core->epochs, w->counts, w->state, w->since, cycle);
    w->since = cycle;
}

/* The warp of a slot becomes ready for a group; is ready for it no longer. */
static inline void ww_ready_add(struct ww_sched *s, uint32_t slot, uint32_t group) {
    uint64_t bit = 1ull << slot;
    s->unit_ready[group] |= bit;
    s->ready |= bit;
    s->groups |= 1u << group;
}
static inline void ww_ready_remove(struct ww_sched *s, uint32_t slot, uint32_t group) {
    uint64_t others = ~(1ull << slot);
    s->ready &= others;
    if (!(s->unit_ready[group] &= others)) s->groups &= ~(1u << group);
}

/* Sets from when on a group that is no unit takes an instruction, of any scheduler of the SM. */
static inline void ww_group_free(struct ww_sm *sm, uint32_t group, uint64_t cycle) {
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++) sm->sched[k].unit_free[group] = cycle;
}

/* A scheduler may issue in `cycle`, or before. */
static inline void ww_sched_try(struct ww_sm *sm, struct ww_sched *s, uint64_t cycle) {
    if (*s->try_at > cycle) *s->try_at = cycle;
    if (sm->issue_at > cycle) sm->issue_at = cycle;
}

/* Bit per cause of a slot that the scheduler's warps give. Those that are ready stand in its groups. */
static inline uint32_t ww_sched_causes(const struct ww_sched *s) {
    uint32_t memory = (s->groups & WW_G_MEMORY) != 0, others = (s->groups & ~WW_G_MEMORY) != 0;
    return s->causes | memory << WW_SLOT_EXCESS_MEM | others << WW_SLOT_EXCESS_ALU;
}

/* Counts the slots of a scheduler up to `cycle`. */
static inline void ww_issue_count(struct ww_sched *s, uint64_t cycle) {
    if (cycle <= s->counted) return;
    uint32_t cause = (uint32_t)__builtin_ctz(ww_sched_causes(s) | 1u << WW_SLOT_EMPTY);
    if (s->copies) ww_copy_stall(s->copies, cycle);
    s->slot[cause] += cycle - s->counted;
    if (s->blocked_until > s->counted && cause == WW_SLOT_EXCESS_ALU) {
        uint64_t from = s->blocked_from > s->counted ? s->blocked_from : s->counted;
        uint64_t to = s->blocked_until < cycle ? s->blocked_until : cycle;
        if (to > from) {
            s->slot[cause] -= to - from;
            s->slot[s->blocked_slot] += to - from;
        }
    }
    s->counted = cycle;
}

/* ---- warp.c ---- (see also warp_head.h) */
/* The same as ww_head_look, for those that do it rarely. Of a paused warp nothing is looked at. */
void ww_warp_head(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);
/* The warp waits for a reply, and a result has come; served is the state of those who waited for it. */
void ww_warp_look_again(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint32_t served);
/* A result that the warp may wait for has come. */
static inline void ww_warp_arrival(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint32_t served) {
    if (w->pending) ww_warp_look_again(sm, w, cycle, served);
}
/* All memory operations that its fence waits for have their replies. */
void ww_warp_release_fence(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);
/* A memory operation has its last reply: fences and ended warps may wait for it. */
static inline void ww_warp_memory_done(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint64_t ready) {
    if (ready > w->memory_at) w->memory_at = ready;
    w->memory_count--;
    if (w->fenced && w->memory_count == 0) ww_warp_release_fence(sm, w, cycle);
}
/* No instruction is left, from `cycle` on. */
void ww_warp_finish(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);
/* A warp comes to, or leaves, its scheduler. */
void ww_warp_arrive(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint64_t first_fetch);
void ww_warp_leave(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);

/* ---- issue.c ---- */
/* Lets each scheduler issue, in a cycle that issue_at has reached; returns the next at which one may. */
uint64_t ww_issue(struct ww_sm *sm, uint64_t cycle);
/* The warp of the scheduler issues its head, and what else goes with it in the cycle. */
void ww_issue_warp(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t cycle);
/* What a memory instruction does at its issue. */
void ww_issue_memory(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t mask,
                     uint32_t inst, uint64_t cycle);

/* ---- barrier.c ---- */
void ww_barrier_arrive(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                       const struct ww_access *access, uint64_t cycle);
/* The warp's shared accesses have all started: it arrives where it has been waiting for that. */
void ww_barrier_shared_done(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);
/* A warp of the CTA has ended: barriers of all may be complete. */
void ww_barrier_exit(struct ww_sm *sm, struct ww_cta *cta, uint64_t cycle);

/* The CTA that waited at barrier 0 for shared memory has got it. */
void ww_barrier_grant(struct ww_sm *sm, uint32_t cta, uint64_t cycle);

/* ---- shared_alloc.c ---- */
bool ww_shared_init(struct ww_sm *sm, struct ww_arena *arena);
/* Takes the private part of a CTA that comes to this slot; false: a public part lies there. */
bool ww_shared_place(struct ww_sm *sm, uint32_t cta);
/* All warps of the CTA stand at d, which allocates or frees; false: the CTA waits. */
bool ww_shared_barrier(struct ww_sm *sm, uint32_t cta, const struct ww_dinst *d, uint64_t cycle);
/* The CTA ends. */
void ww_shared_end(struct ww_sm *sm, uint32_t cta, uint64_t cycle);

/* ---- lsu.c, l1_reply.c; see also l1.h ---- */
/* Derives what shared memory costs, and which of the decoded instructions need no more. */
void ww_lsu_prepare(struct ww_core *core);
/* The same of the unit of an SM that is made but for it. */
void ww_lsu_begin(struct ww_sm *sm);
/* Cycle after `cycle` at which the unit has something to do. */
static inline uint64_t ww_lsu_next(const struct ww_lsu *l, uint64_t cycle) {
    if ((l->count == 0 && l->reexec.count == 0) || (l->held && !l->retry)) return WW_NEVER;
    return l->free > cycle ? l->free : cycle + 1;
}
/* Offers one line request of an instruction to its cache; false: refused, nothing has changed. *cycles: how
 * long the unit is taken. */
bool ww_lsu_offer(struct ww_sm *sm, const struct ww_dinst *d, uint32_t warp, uint32_t op,
                  const struct ww_line_request *r, uint64_t cycle, uint32_t *cycles);
/* An ended warp has no instruction left in the unit. */
void ww_lsu_drained(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);
/* The warp's instruction has left the unit (or, if it has a result, its data have come). */
static inline void ww_lsu_release(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    if (--w->inflight == 0 && w->done) ww_lsu_drained(sm, w, cycle);
}

/* An operation of the pool, which grows; WW_NONE: out of memory, and the launch fails. */
static inline uint32_t ww_pool_op(struct ww_core *core) {
    struct ww_pool *p = &core->pool;
    if (p->op_free == WW_NONE && !ww_pool_more_ops(core)) return WW_NONE;
    uint32_t op = p->op_free;
    p->op_free = p->op[op].next_free;
    return op;
}

/* ---- reexec.c ---- */
bool ww_reexec_init(struct ww_sm *sm, struct ww_arena *arena, uint32_t entries);
/* Decides whether the unit works on its queue of refused requests in `cycle`, and does it then. */
bool ww_reexec_turn(struct ww_sm *sm, uint64_t cycle);
/* Puts a refused request aside; there is room. */
void ww_reexec_park(struct ww_sm *sm, const struct ww_parked *p);
/* ---- lsu_watch.c ---- */
/* At the end of a step in `cycle`; issued: in it a scheduler did. */
void ww_lsu_watch(struct ww_sm *sm, uint64_t cycle, bool issued);
/* Whether requests of instructions that the warp has issued wait for the L1; sm is a struct ww_sm. */
bool ww_lsu_unsent(const void *sm, uint32_t warp);
/* The same's view of a warp whose head goes to the load/store unit: does it load through the L1? */
bool ww_lsu_head_loads(const void *sm, uint32_t warp);

/* One of the operation's parts is complete at `ready` (>= cycle), served by `level`. */
void ww_memory_op_part(struct ww_core *core, uint32_t op, uint64_t cycle, uint64_t ready, uint32_t level);
/* The same of a part whose level the operation knows: most leave others to wait for. */
static inline void ww_l1_part(struct ww_core *core, uint32_t op, uint64_t cycle, uint64_t ready) {
    struct ww_memory_op *o = &core->pool.op[op];
    if (o->remaining == 1) {
        ww_memory_op_part(core, op, cycle, ready, WW_LEVEL_L1);
        return;
    }
    o->remaining--;
    if (ready > o->ready) o->ready = ready;
}
static inline bool ww_l1_saturated(const struct ww_sm *sm) {
    const struct ww_core *core = sm->core;
    bool on = sm->saturated;
    return sm->misses.count >= core->queue_high[on] || sm->l1.used >= core->l1_shape.mshr_high[on] ||
           (sm->tex.shape && sm->tex.used >= core->tex_shape.mshr_high[on]) || sm->const_fills.saturated_until;
}

/* The host loads the MSHR that a reply names, and then its line and the first request that waits for it. */
WW_AHEAD ww_l1_prefetch_entry(const struct ww_sm *sm, const struct ww_mem_reply *reply) {
    if ((reply->tag & WW_TAG_KIND) == WW_TAG_MSHR) __builtin_prefetch(&sm->l1.entry[reply->tag], 1);
}
WW_AHEAD ww_l1_prefetch_line(const struct ww_sm *sm, const struct ww_mem_reply *reply) {
    if ((reply->tag & WW_TAG_KIND) != WW_TAG_MSHR) return;
    const struct ww_mshr *e = &sm->l1.entry[reply->tag];
    __builtin_prefetch(&sm->l1.tags.line[e->line], 1);
    if (e->target != WW_NONE) __builtin_prefetch(&sm->core->pool.target[e->target], 1);
}

/* ---- const.c ---- */
bool ww_const_init(struct ww_sm *sm, struct ww_arena *arena);
/* In a step in `cycle`: fewer outstanding misses may be left than saturate memory. */
void ww_const_step(struct ww_sm *sm, uint64_t cycle);
/* Cycle at which a constant load issued at `cycle` has its value; takes the port. */
uint64_t ww_const_load(struct ww_sm *sm, const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                       uint64_t cycle);

/* ---- sm.c ---- */
/* Prepares the SM for events at `cycle`, which come from outside of its steps. */
static inline void ww_sm_advance(struct ww_sm *sm, uint64_t cycle) {
    if (sm->now + 1 < cycle) sm->now = cycle - 1;
}
/* Makes an SM that has a core and an id, and is zero but for what counts from the launch's start. */
enum ww_code ww_sm_init(struct ww_sm *sm, struct ww_error *error);
static inline bool ww_sm_made(const struct ww_sm *sm) {
    return sm->warp;
}
/* The saturation flag changes at `cycle`, or the SM gets its first CTA or is about to lose its last. */
void ww_sm_count_mode(struct ww_sm *sm, uint64_t cycle);
/* One cycle of the SM; returns the cycle of its next step (WW_NEVER: something outside wakes it). */
uint64_t ww_sm_step(struct ww_sm *sm, uint64_t cycle);
/* Whether the SM's unit may work by itself in a cycle in which nothing else has anything to do. */
static inline bool ww_sm_unit_alone(const struct ww_sm *sm) {
    return sm->lsu.skips_retries && !sm->const_fills.saturated_until;
}
/* The same as ww_sm_step; *unit: the unit goes on in the next cycle, perhaps alone, which is not counted as a
 * step. */
uint64_t ww_sm_step_apart(struct ww_sm *sm, uint64_t cycle, bool *unit);
/* What follows from a unit's turn. */
enum ww_unit_turn {
    WW_UNIT_HELD, /* it is held, and nothing else has changed */
    WW_UNIT_GOES, /* it goes on in the next cycle, and nothing else has changed */
    WW_UNIT_ENDS  /* ww_sm_rest is to follow */
};
/* The unit, which is held or has lines left to look up, works alone in `cycle`. */
enum ww_unit_turn ww_lsu_turn(struct ww_sm *sm, uint64_t cycle);
/* The rest of a step in `cycle`; returns the cycle of the next one. */
uint64_t ww_sm_rest(struct ww_sm *sm, uint64_t cycle);
/* The steps of `next` and later cycles before `end`, of an SM that is alone, as long as nothing that happens in
 * them can be seen from outside: nothing tells the SM anything before `end`. Returns the cycle of its next
 * step. A step that can be seen is left (ahead) to be completed in its own cycle, which is returned then. */
uint64_t ww_sm_run_ahead(struct ww_sm *sm, uint64_t next, uint64_t end);
/* Completes the step that it left; returns the cycle of the next one. */
uint64_t ww_sm_complete(struct ww_sm *sm, uint64_t cycle);
/* The step of `next` of an SM that goes alone (launch/alone.h), and those before `end` as long as nothing
 * outside of it can have to do with them. Its requests wait until the others have come so far; if a CTA has
 * ended and `more` are to come, the step is left as by ww_sm_run_ahead. Returns the cycle of the next step. */
uint64_t ww_sm_steps_alone(struct ww_sm *sm, uint64_t next, uint64_t end, bool more);
/* Whether no other part can observe the SM's next step, so that it may run ahead of the other SMs. */
static inline bool ww_sm_alone(const struct ww_sm *sm) {
    const struct ww_core *core = sm->core;
    bool room = sm->resident_ctas < sm->cta_room || core->shared_alloc.on;
    return core->runs_ahead && sm->resident_ctas && !sm->misses.count && !sm->draining && !sm->dma &&
           !sm->tma && !sm->fetch && !(room && core->main->next_cta < core->cta_count);
}
/* Counts everything up to the launch's end. */
void ww_sm_close(struct ww_sm *sm, uint64_t end);

/* Offers the first request of the miss queue, which has one, at time ps, before `cycle`. False: refused. */
static inline bool ww_l1_send(struct ww_sm *sm, uint64_t ps, uint64_t cycle) {
    struct ww_miss_queue *q = &sm->misses;
    struct ww_lsu *l = &sm->lsu;
    if (!ww_memsys_send(sm->core->memory, &q->ring[q->head], ps)) {
        q->refused = true;
        return false;
    }
    q->head = q->head + 1 == q->room ? 0 : q->head + 1;
    q->count--;
    __builtin_prefetch(&q->ring[q->head]);
    if (cycle <= sm->now) return true; /* the SM is ahead, and did not depend on it */
    l->retry = true;
    l->waits = l->waits == WW_LSU_QUEUE ? WW_LSU_ANY : l->waits;
    if (sm->fetch) sm->fetch->blocked = false;
    return true;
}

/* The SM's miss queue holds something that may be sent: it is offered at the end of every cycle from now on. */
static inline void ww_core_sends(struct ww_core *core, uint32_t sm) {
    uint32_t group = sm >> core->group_shift;
    core->group[group].sending |= 1ull << (sm - (group << core->group_shift));
}
/* The same from the end of a cycle on that the others have not come to. */
static inline void ww_core_offers(struct ww_core *core, uint32_t sm, uint64_t cycle) {
    uint32_t group = sm >> core->group_shift;
    ww_wheel_set(&core->group[group].offers, cycle, sm - (group << core->group_shift));
    if (cycle < core->summary[group].next) core->summary[group].next = cycle;
}
/* Records an error that stops the launch. */
static inline void ww_core_fail(struct ww_core *core, enum ww_code code) {
    if (core->code_failed == WW_OK) core->code_failed = code;
}

/* ---- cta.c ---- */
/* A warp of the CTA that has ended releases its slot: with the last one the CTA leaves the SM, while schedulers
 * are at work only after them. */
void ww_cta_warp_gone(struct ww_sm *sm, uint32_t cta, uint64_t cycle);
/* CTAs that ended while schedulers were at work leave the SM. The launch collects them (dispatch.c) before
 * another CTA comes to their slots. */
void ww_cta_leave_all(struct ww_sm *sm, uint64_t cycle);

#endif
