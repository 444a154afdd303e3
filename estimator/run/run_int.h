/* run_int.h: what the modes of a run share (run.c; run_sampled.c, run_analytic.c). */
#ifndef WW_RUN_INT_H
#define WW_RUN_INT_H

#include "../api/trace.h"
#include "../api/run.h"
#include "../result/packed.h"
#include "../result/result.h"
#include "../base/hash.h"
#include "../base/list.h"
#include "../core/launch/ctalog.h"
#include "../core/launch/engine.h"
#include "../../power/power.h"

/* What replaying a launch costs the host, in instructions that cost as much (run_cost.c). */
enum { WW_RUN_CURVE = 32 };
struct ww_run_cost {
    double cost, resident; /* resident: part of the launch's CTAs that run side by side; 0: there is no curve */
    double steps[WW_RUN_CURVE]; /* of a CTA: part of its instructions at so many parts of its time, */
    double spent[WW_RUN_CURVE]; /* and of its cost */
};

/* Everything that one run holds open. */
struct run {
    const struct ww_run_options *options;
    struct ww_trace *trace;
    const struct ww_power *power; /* NULL: energy is not known */
    struct ww_power *own_power;   /* unless it is lent */
    struct ww_engine *engine;     /* of mode full; others have engines of their own */
    struct ww_arena *arena;       /* the result's */
    struct ww_cta_log ctas;       /* mode full with a timeline */
    struct ww_arena pc_arena;     /* mode full with packed rows: a launch's, until they are packed */
    struct ww_pc_packer packer;
    struct ww_result *result;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_list launches;
    double target_error, confidence; /* as asked for, or the defaults */
    bool flush;                      /* caches, before each launch */
    bool one_pass;                   /* with flush: a launch runs once, and its code may be new */
    bool flush_sm;                   /* the instruction caches, before each launch; the L2 is kept */
    /* for progress, in warp instructions: of the launches before this one, of this one, of all */
    uint64_t before, current, total;
    struct ww_run_cost *cost;        /* of each launch (run_cost.c) */
    struct ww_run_cost current_cost; /* of what is replayed: a launch, or several side by side; of a sample,
                                        `cost` is that of an instruction */
    double spent_cost, all_cost;     /* of those before this one, of all; all_cost 0: not known yet */
};

/* ww_run with a power table that is open already, which is only read and may serve several threads; it must be
 * that which the options name. NULL: the run opens its own. */
enum ww_code ww_run_with_power(const struct ww_run_options *options, const struct ww_power *power,
                               struct ww_result **result, struct ww_error *error);

/* Opens all that a run needs and describes it in a new result. Errors: those of ww_run. */
enum ww_code ww_run_open(const struct ww_run_options *options, struct run *r, struct ww_error *error);
/* Closes it; the result too, or it is the caller's. */
void ww_run_close(struct run *r, bool result);
/* What makes the run differ from one on its GPU without options, into the result (run_differ.c). Errors:
 * WW_NOMEM. */
enum ww_code ww_run_describe_overrides(struct run *r, struct ww_error *error);
/* The engine that the options ask for. */
struct ww_engine_options ww_run_engine_options(const struct run *r);
/* Adds a launch to the result's totals. */
void ww_run_add_up(struct ww_result *result, const struct ww_launch_result *launch);

/* That counters per instruction add up to those of the launch. Errors: WW_INTERNAL. */
enum ww_code ww_launch_check_pcs(const struct ww_launch_result *l, struct ww_error *error);
/* The conservation laws of one replayed launch, or part of one. Errors: WW_INTERNAL. */
enum ww_code ww_launch_check(const struct ww_launch_result *l, uint64_t sms, uint64_t schedulers,
                             struct ww_error *error);

/* WW_FAIL if the caller asks to stop. Asked before each launch, since a launch may have no instructions. */
enum ww_code ww_run_goes_on(const struct run *r, uint64_t launch, struct ww_error *error);

/* A replay's progress as the run's: the engine's ww_progress_fn, context is the run. */
bool ww_run_progress(void *context, double ended, uint64_t issued, const char *unit);
/* Fills r->cost and r->all_cost for so many launches, of so many warp instructions together. Errors: those of
 * ww_trace_load_cta. */
enum ww_code ww_run_costs(struct run *r, uint64_t launches, uint64_t instructions, struct ww_error *error);
/* How far a launch is, of 1, as a part of its cost: `issued` of its instructions, `ended` of its CTAs. */
double ww_run_part_of_launch(const struct ww_run_cost *cost, double issued, double ended);

/* What a run keeps for its timeline, if it was asked to (run_timeline.c). Errors: WW_NOMEM. */
enum ww_code ww_run_timeline_open(struct run *r, struct ww_cta_log *log, struct ww_error *error);
void ww_run_timeline_close(struct ww_cta_log *log);
/* Of the launch that was replayed last. */
enum ww_code ww_run_timeline_keep(struct run *r, struct ww_cta_log *log, struct ww_launch_result *l,
                                  struct ww_error *error);

/* How many of launches first .. last, from the first one on, can run concurrently or behind those of them
 * that do: up to one that waits for all before it. Errors: WW_INPUT. */
enum ww_code ww_run_group(struct ww_trace *trace, size_t first, size_t last, size_t *count,
                          struct ww_error *error);
/* Warns if launches could run side by side, which the mode leaves out of account. Errors: WW_INPUT. */
enum ww_code ww_run_tell_serial(struct run *r, struct ww_error *error);
/* Warns of launches that draw more than the board is built for. Errors: WW_NOMEM. */
enum ww_code ww_run_tell_board(struct run *r, struct ww_error *error);
/* As ww_run_timeline_keep, of launches that ran concurrently: times of CTAs are since the group's start.
 */
enum ww_code ww_run_timeline_concurrent(struct run *r, struct ww_cta_log *log, struct ww_launch_result *l,
                                        size_t count, struct ww_error *error);

/* When copies and launches run, if copies take time, into the result; nothing where the trace does not tell, or
 * only some launches were replayed (run_copies.c). Errors: WW_NOMEM. */
enum ww_code ww_run_copies(struct run *r, struct ww_error *error);

/* The modes. Each fills in the result's launches, totals and intervals; the rest of it is there or follows.
 * Errors: those of ww_run. */
enum ww_code ww_run_full(struct run *r, struct ww_error *error);
enum ww_code ww_run_fast(struct run *r, struct ww_error *error);
/* Replays all instructions of the launches; fast: with reservations in place of queues (core/memory/fast.h). */
enum ww_code ww_run_replay(struct run *r, bool fast, struct ww_error *error);
enum ww_code ww_run_sampled(struct run *r, struct ww_error *error);
enum ww_code ww_run_analytic(struct run *r, struct ww_error *error);
/* Whether the analytical model can take the trace. Errors: WW_UNSUPPORTED (it has bulk transfers), WW_INPUT. */
enum ww_code ww_run_analytic_check(struct ww_trace *trace, struct ww_error *error);

#endif
