/* sm_fixture.h: small launches made by hand, and a small GPU to replay them on. */
#ifndef TESTS_SM_FIXTURE_H
#define TESTS_SM_FIXTURE_H

#include "../../estimator/warpwatt.h"
#include "../../estimator/core/launch/engine_internal.h"

#define PROGRAM_INSTS 512
#define ALL UINT32_MAX

/* Instructions and, for each warp of each variant of a CTA, what it executes. CTA i is variant i mod
 * variants. */
struct program {
    struct ww_launch launch;
    struct ww_inst inst[PROGRAM_INSTS];
    uint32_t variants;
    struct ww_warp_stream *stream; /* [variants][warps_per_cta] */
    struct ww_step *step;
    struct ww_access *access;
    uint64_t *pool;
    uint32_t most, pool_used;
    struct ww_probe *probe; /* or NULL */
    uint32_t threads;       /* 0: one */
    bool restless;          /* every SM steps in every cycle, whether anything can happen or not */
    bool in_step;           /* no SM is ahead of the others */
    bool fast;              /* fast replay */
    bool code_known;        /* a launch before has run the code */
    const uint8_t *roles;   /* of instructions in copies (core/sm/copy.h), or NULL */
};

/* One SM of two schedulers, latencies that are easy to tell apart; see sm_fixture.c. */
struct ww_gpu_spec fixture_gpu(void);

/* A launch of `ctas` CTAs of `threads` threads; at most `steps` steps in a warp. */
void program_init(struct program *p, uint32_t ctas, uint32_t threads, uint32_t variants, uint32_t steps);
void program_free(struct program *p);
/* Adds an instruction, registers < 0 are none; returns its index. */
uint32_t program_inst(struct program *p, enum ww_op op, int dst, int src1, int src2);
uint32_t program_memory(struct program *p, enum ww_op op, enum ww_space space, uint32_t width, int dst,
                        int src);
/* Appends a step to a warp (variant * warps_per_cta + warp), or to all of them. */
void program_step(struct program *p, uint32_t warp, uint32_t inst, uint32_t mask);
void program_all(struct program *p, uint32_t inst);
/* The same with an access. */
void program_access(struct program *p, uint32_t warp, uint32_t inst, uint32_t mask, uint64_t base,
                    int32_t stride);
void program_list(struct program *p, uint32_t warp, uint32_t inst, uint32_t mask, const uint64_t *address);

/* What a replay gave; arena holds the result. */
struct replay {
    struct ww_arena arena;
    struct ww_launch_result r;
    enum ww_code code;
    struct ww_error error;
};
struct replay program_run_mech(struct program *p, const struct ww_gpu_spec *gpu, const char *const *mech,
                               size_t count, uint32_t epoch_cycles);
/* The same with one scheduler's defaults. */
struct replay program_run_with(struct program *p, const struct ww_gpu_spec *gpu, const char *sched,
                               uint32_t epoch_cycles);
/* With greedy-then-oldest, epochs of 4,096 cycles; fails the test unless the replay ends well. All the laws of
 * conservation are checked on every result. */
struct replay program_run(struct program *p, const struct ww_gpu_spec *gpu);
void replay_free(struct replay *r);
/* Fails the test if a law does not hold. */
void check_laws(const struct program *p, const struct ww_gpu_spec *gpu, const struct ww_launch_result *r);
/* Warp-cycles that warps spent in a state with this instruction at their head. */
uint64_t stall(const struct replay *r, uint32_t inst, enum ww_warp_state state);

#endif
