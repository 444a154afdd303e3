/* tma.h: the engine of bulk copies of an SM (Hopper's tensor memory accelerator).
 *
 *   issue --> queue --latency--> requests of lines, one copy after another --> miss queue --> memory system
 *               |                        |                                                        |
 *               |      a store's data are read from shared memory: its group may end              |
 *               '<-- job <-- shared memory is written: the mbarrier's bytes are complete <-- data'
 *
 * A trace has a copy as steps of the same instruction one behind the other, each with up to 32 addresses of 16
 * bytes. The first one asks for all of it; the others take an issue slot each, and nothing else. The engine
 * does not look into the L1. */
#ifndef WW_CORE_TMA_H
#define WW_CORE_TMA_H

#include "coalesce.h"
#include "pipe.h"
#include "sm_wheel.h"

#define WW_TMA_JOBS 256u /* copies of an SM under way; a few more where several warps ask at a time */
#define WW_TMA_GROUPS 8u /* of a warp's stores that are told apart; later ones are joined */

struct ww_sm;
struct ww_warp;
struct ww_arena;
struct ww_mem_reply;

/* A copy, from its issue until its data are in shared memory or have been read from there. */
struct ww_tma_job {
    const struct ww_step *step; /* of its `steps` steps, the next one to be worked on */
    const struct ww_access *access;
    const uint64_t *pool;
    uint64_t asked; /* cycle of its issue */
    uint64_t from;  /* the engine may begin */
    uint64_t ready; /* data that have come are in shared memory */
    const struct ww_access *own,
        *far; /* steps at mbarriers of the CTA and of others that it completes, or NULL */
    uint32_t far_mask, bytes;
    uint32_t steps, inst, warp, outstanding, next_free;
    uint8_t bulk; /* enum ww_bulk */
    bool generated;
};

/* Of a warp: groups of its stores. */
struct ww_tma_warp {
    uint32_t left;         /* steps of the current copy that make no further requests */
    uint32_t last;         /* job + 1 of its last copy to shared memory, until it is there */
    uint32_t stores, read; /* issued, and of these read from shared memory */
    uint32_t group[WW_TMA_GROUPS];
    uint8_t counter[WW_TMA_GROUPS], groups;
};

struct ww_tma {
    struct ww_tma_job *job;
    struct ww_tma_warp *warp;
    uint16_t *ring;             /* jobs that wait for the engine */
    uint32_t head, count, room; /* room: of the ring */
    uint32_t free_job, jobs;    /* jobs: that there are now */
    uint32_t request;           /* of the current step, the next one */
    uint32_t work;              /* bytes asked for in a cycle that is not over */
    bool open;                  /* in the middle of a step */
    uint64_t next;              /* cycle of the engine's next work, WW_NEVER: none, or the miss queue is full */
    struct ww_coalescer coalescer;
};

/* What the instruction is, if it is a bulk copy and the GPU has an engine; of others nothing changes. */
void ww_tma_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                   struct ww_dinst *d);
/* Makes the engine, if the launch needs it. False: no memory. */
bool ww_tma_init(struct ww_sm *sm, struct ww_arena *arena);
/* A CTA comes to the slot. */
void ww_tma_cta(struct ww_sm *sm, uint32_t cta);
/* A step of a bulk copy, or the end of a group, issues. True: it is the first of a copy. */
bool ww_tma_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle);
/* The warp's step at an mbarrier completes the bytes of its last copy, which takes it along. False: there is
 * none, or it has such a step. */
bool ww_tma_attach(struct ww_sm *sm, const struct ww_warp *w, const struct ww_access *access, uint32_t mask);
/* The engine's work in `cycle`. */
void ww_tma_step(struct ww_sm *sm, uint64_t cycle);
/* Data have come for a job. */
void ww_tma_reply(struct ww_sm *sm, uint32_t job, const struct ww_mem_reply *reply, uint64_t cycle);
static inline uint64_t ww_tma_next(const struct ww_tma *t, uint64_t cycle) {
    return t->next > cycle ? t->next : cycle + 1;
}
/* The miss queue has room. True: the engine has waited for it. */
static inline bool ww_tma_retry(struct ww_tma *t, uint64_t cycle) {
    if (!t->count || t->next != WW_NEVER) return false;
    t->next = cycle;
    return true;
}

#endif
