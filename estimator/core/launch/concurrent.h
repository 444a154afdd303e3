/* concurrent.h: launches that run concurrently.
 *
 *   waits for others --their ends, and what a queued launch takes--> ready --a place among the resident
 * grids--> CTAs are placed --the last one has ended, its writes are acknowledged--> ended
 *
 * CTAs are placed in the order of priorities, then of readiness: as long as a launch has CTAs left, those of
 * the launches behind it wait, also where they would fit (leftover policy: T. Amert, N. Otterness, M. Yang, J.
 * Anderson, F. D. Smith, GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed, RTSS 2017). Launches share
 * an SM's registers, shared memory, warps, threads and places of CTAs.
 *
 * The SMs see one launch, whose instruction table is the concatenation of all launches' tables. So counters by
 * instruction are also counters by launch, and the code that steps an SM does not distinguish launches. */
#ifndef WW_CORE_CONCURRENT_H
#define WW_CORE_CONCURRENT_H

#include "engine_internal.h"

/* Most launches of a group; a further launch waits for all before it. */
#define WW_CONCURRENT_MOST 256
/* Most instructions of a group, likewise. */
#define WW_CONCURRENT_INSTS (1u << 17)

/* Position of the launch's number in an entry of the log of CTAs. */
#define WW_LOG_SHIFT 54

enum ww_concurrent_state {
    WW_CONCURRENT_WAITS,
    WW_CONCURRENT_READY,
    WW_CONCURRENT_RUNS,
    WW_CONCURRENT_DRAINS,
    WW_CONCURRENT_ENDED
};

struct ww_concurrent_grid {
    const struct ww_launch *launch;
    size_t index;        /* in the trace */
    uint32_t first_inst; /* in the table of all */
    uint32_t ctas_per_sm;
    const char *limiter;
    uint32_t shared;         /* bytes that a CTA takes */
    uint32_t cta_registers;  /* registers that a CTA takes, where they are given to CTAs */
    uint32_t warp_registers; /* the same of a warp */
    uint32_t threads;        /* of a CTA */
    enum ww_concurrent_state state;
    uint32_t waits; /* launches of the group that it waits for and that have not ended */
    struct ww_launch_time time;
    uint64_t begin, ready; /* cycles: the last of those has ended; its first CTA may be placed */
    uint64_t next_cta, launched, ended;
    uint64_t last_end, end; /* cycles: of the last CTA; of the launch */
    uint64_t cta_cycles, warp_cycles, active_cycles;
    uint32_t *resident;     /* CTAs by SM */
    uint64_t *active_since; /* by SM */
    uint64_t *before;       /* bit per launch of the group: it waits for that one */
};

/* What CTAs have taken of an SM. */
struct ww_taken {
    uint64_t warps; /* bit per slot */
    uint32_t registers[8], shared, threads;
};

struct ww_concurrent {
    struct ww_engine *engine;
    struct ww_trace *trace;
    struct ww_arena *arena; /* of the results */
    struct ww_concurrent_grid *grid;
    uint32_t count, number; /* number: of the group in the run, from 1 */
    struct ww_launch all;   /* what the SMs see */
    struct ww_taken *taken; /* by SM */
    uint32_t *owner;        /* by SM and place of a CTA: its launch */
    uint32_t loading;       /* whose CTA is loaded */
    uint32_t partitions;    /* of an SM's registers */
    struct ww_cta_source source;
};

/* ---- concurrent_code.c ---- */
/* Makes the launch that the SMs see and the source of its CTAs; grids have their launches. Errors: WW_NOMEM. */
enum ww_code ww_concurrent_merge(struct ww_concurrent *b, struct ww_arena *arena, struct ww_error *error);

/* ---- concurrent.c: called by dispatch.c and engine.c ---- */
/* As ww_dispatch. */
bool ww_concurrent_dispatch(struct ww_core *core, uint64_t cycle);
void ww_concurrent_cta_end(struct ww_core *core, const struct ww_sm *sm, uint32_t cta, uint64_t cycle);
/* The last launch's end; memory was idle from cycle `drained` on. */
uint64_t ww_concurrent_end(struct ww_core *core, uint64_t drained);

/* ---- concurrent_result.c ---- */
/* Divides the group's counters among its launches. Errors: WW_NOMEM. */
enum ww_code ww_concurrent_results(struct ww_concurrent *b, struct ww_arena *arena,
                                   struct ww_launch_result *out, struct ww_error *error);

/* ---- engine.c ---- */
/* Replays the group; otherwise as ww_engine_replay. */
enum ww_code ww_engine_group(struct ww_engine *engine, struct ww_concurrent *b, struct ww_error *error);

/* ---- dispatch.c ---- */
/* Initialises the SM at its first CTA of a launch. False: the core has failed. */
bool ww_dispatch_make(struct ww_sm *sm);
bool ww_dispatch_place(struct ww_sm *sm, uint32_t slot, uint32_t first_warp, uint32_t warps, uint64_t index,
                       uint64_t cycle);
/* A CTA whose number is not below the next mark is dispatched in `cycle`. */
void ww_dispatch_marks(struct ww_core *core, uint64_t cta, uint64_t cycle);
uint32_t ww_dispatch_most(const struct ww_core *core, uint64_t cycle);
void ww_dispatch_counted(struct ww_core *core, uint64_t cycle);

#endif
