/* engine_internal.h: the engine's parts, for its own files and for tests. */
#ifndef WW_CORE_ENGINE_INTERNAL_H
#define WW_CORE_ENGINE_INTERNAL_H

#include "../../result/result.h"
#include "engine.h"
#include "governor_run.h"
#include "../sm/sm.h"

#define WW_CODE_WORDS 64
/* If the next step is further away than this, the SM is not checked for running ahead. */
#define WW_AHEAD_NEAR 32

struct ww_engine {
    struct ww_engine_options options;
    struct ww_gpu_spec gpu;
    const struct ww_sched_ops *ops;
    const void *settings;
    struct ww_lsu_plan lsu_plan;
    struct ww_smem_plan smem_plan;
    struct ww_dma_plan dma_plan;
    const struct ww_fetch_ops *fetch_ops;
    const void *fetch_settings;
    struct ww_fetch_plan fetch_plan;
    uint8_t *fetch_state; /* of the prefetchers, one SM after the other; persists over launches */
    size_t fetch_stride;  /* bytes of one */
    uint64_t launches;
    bool queued; /* the next launch is queued behind another one */
    const uint8_t *roles;
    const struct ww_pipe_ops *pipe_ops;
    struct ww_pipe_plan pipe_plan;
    struct ww_governor *governor; /* NULL: none */
    struct ww_queue *queue;
    struct ww_memsys *memory;
    struct ww_outbox *outbox; /* of the SMs; see sm.h */
    struct ww_sm *sm; /* all of them; one that the launch has not initialised is zero but for a few fields */
    uint32_t threads; /* that step them */
    struct ww_team *team;   /* threads other than the caller's; NULL: none */
    struct ww_shard *shard; /* by group of SMs, kept between launches; NULL: there are none yet */
    uint32_t shards;        /* of these; a launch that one thread replays has other groups */
    struct ww_arena arena;  /* of the launch */
    struct ww_core core;
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t end_ps;                  /* of the last launch */
    struct ww_marks marks;            /* of the next launch */
    struct ww_concurrent *concurrent; /* launches that run concurrently; NULL: there is one */
    uint32_t groups;                  /* of such launches that were replayed */
    uint64_t code[WW_CODE_WORDS]; /* bit per hash of a kernel's name: launched before, its code is in the L2 */
    bool broken;                  /* a launch failed: replies to it may still be outstanding */
};

/* Replays a launch whose CTAs come from `source`; otherwise as ww_engine_launch. */
enum ww_code ww_engine_replay(struct ww_engine *engine, const struct ww_launch *launch,
                              struct ww_cta_source *source, struct ww_arena *arena,
                              struct ww_launch_result *out, struct ww_error *error);
/* The error of a launch that cannot end: names what it waits for. WW_INPUT if that is a barrier of the trace,
 * else WW_INTERNAL. */
enum ww_code ww_engine_stuck(const struct ww_core *core, struct ww_error *error);
/* Adds up the launch's counts. `cycles`: of the launch. Errors: WW_NOMEM. */
enum ww_code ww_engine_result(struct ww_engine *engine, const struct ww_launch *launch, uint64_t cycles,
                              struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error);

/* Counters of each instruction of a launch, whose first one is `first` of the table. Errors: WW_NOMEM. */
enum ww_code ww_engine_rows(const struct ww_core *core, const struct ww_launch *launch, uint32_t first,
                            struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error);

/* ---- copies.c ---- */
/* Copies and fills before the launch write to the L2, unless it is flushed. */
void ww_engine_copies(struct ww_engine *engine, const struct ww_launch *launch);
/* The host has waited for them: the launch is queued behind no other. */
bool ww_engine_waited(const struct ww_engine *engine, const struct ww_launch *launch);

/* ---- dispatch.c ---- */
/* Places CTAs in `cycle`; true if more could be placed in the next one. */
bool ww_dispatch(struct ww_core *core, uint64_t cycle);
/* Collects the CTAs that have left SMs of the group: their traces are released, and others may take their
 * place.
 */
void ww_dispatch_collect(struct ww_core *core, uint32_t group);
/* Places the launch's next CTA, there is one, on the SM, which has room. False: the launch has failed. */
bool ww_dispatch_next(struct ww_sm *sm, uint64_t cycle);

/* ---- engine_tick.c ---- */
/* The tick event: every SM that has something to do in a cycle does it, in the order of SM numbers. */
void ww_core_tick(void *core, struct ww_event *event, uint64_t now_ps);
/* The cycle after the last one in which anything has something to do, as far as it is known; WW_NEVER: none. */
uint64_t ww_core_next_cycle(const struct ww_core *core);
/* What a tick does in that cycle, whose time is ps. */
void ww_core_one_tick(struct ww_core *core, uint64_t cycle, uint64_t ps);
/* The end of an epoch: cuts a segment there. */
void ww_core_epoch_end(void *core, struct ww_event *event, uint64_t now_ps);
void ww_core_reply(void *core, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps);
/* In windows: passes on messages to SMs from the next one on, which comes at that time, up to time `end`, as
 * ww_memsys_tell has it; they take effect in the same cycle. */
void ww_core_tell(struct ww_core *core, uint64_t now_ps, uint64_t end);
void ww_core_unblocked(void *core, uint16_t sm, uint64_t now_ps);
/* The write that a warp of the SM waited for has been performed at that time. */
void ww_core_released(struct ww_core *core, uint32_t sm, uint32_t warp, uint64_t now_ps);
/* Makes sure that the SM steps in `cycle`, or earlier. */
void ww_core_wake(struct ww_core *core, uint32_t sm, uint64_t cycle);
/* The SM receives in `cycle` the messages of the memory system. Returns the cycle in which it has to step
 * because of them: a warp can issue or wakes, or the LSU continues. */
uint64_t ww_core_receive(struct ww_sm *sm, uint64_t cycle);
/* Puts a reply into the SM's outbox; false: out of memory, the launch fails. */
bool ww_core_post(struct ww_core *core, struct ww_outbox *box, const struct ww_mem_reply *reply);
/* The SM's miss queue has room for one more from `cycle` on. */
void ww_core_made_room(struct ww_sm *sm, uint64_t cycle);
/* Reports progress periodically. */
void ww_core_report(struct ww_core *core);
/* Counts are of the epoch of `cycle` from now on. */
void ww_epochs_reach(struct ww_core *core, uint64_t cycle);
/* True if the held unit may now get what it waits for; otherwise a step for it alone has no effect. */
static inline bool ww_lsu_goes_on(struct ww_lsu *l) {
    if (!l->held || !l->retry) return false;
    return l->retry = l->waits == WW_LSU_ANY;
}
/* Brings up to date what is known of a group whose cycles up to this one are over. */
void ww_core_summarise(struct ww_core *core, uint32_t group, uint64_t cycle);
/* The SMs of a group that step or receive messages in `cycle` do so; core is the group's. */
void ww_core_step_group(struct ww_core *core, uint32_t group, uint64_t cycle);
/* Whether any SM of the group does. */
static inline bool ww_core_due(const struct ww_core *core, uint32_t group, uint64_t cycle) {
    const struct ww_group_summary *summary = &core->summary[group];
    return summary->next <= cycle || core->posted[cycle & 1][group] || summary->units;
}

#endif
