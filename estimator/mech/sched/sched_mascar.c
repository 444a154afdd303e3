/* Mascar: memory-aware warp scheduling.
 *
 * While memory is not saturated (equal priority, EP) warps with a memory instruction come before the others,
 * greedy-then-oldest in each group. While it is (memory access priority, MP) the others come first, and one
 * warp, the owner, alone may miss in the L1:
 *
 *   no owner --first to access memory--> owner --waits for its own load, all requests sent--> no owner
 *
 * The owner also goes when it waits at a barrier or fence or ends. What other warps have issued before may hit
 * in the L1; what misses of theirs is refused there (may_miss). Of the warps that are memory-ready when MP
 * begins those may still issue that stand before the owner in its scheduler's queue of memory-ready warps,
 * since the owner could not pass them there; the queue is ordered by age, so these are the older ones
 * (others=ahead). All schedulers of an SM share the owner. Without an owner a request from the re-execution
 * queue makes its warp the owner if no warp is ready to access memory. The mode follows the memory saturation
 * flag of core.
 */
#include "sched.h"

struct settings {
    uint32_t others, sets, clears;
};

enum { OTHERS_AHEAD, OTHERS_NONE, OTHERS_READY, OTHERS_ALL };

static const struct ww_param params[] = {
    WW_PARAM_ENUM(settings, others, "others", "ahead|none|ready|all", OTHERS_AHEAD,
                  "warps that may issue to memory in MP mode, other than the owner: ready: those that were "
                  "when it began; "
                  "ahead: of these, the older ones of the owner's scheduler"),
    WW_PARAM_U32(settings, sets, "sets", "eighth", 1, 8, 7,
                 "of the MSHRs or of the miss queue's places that are taken when the saturation flag is set"),
    WW_PARAM_U32(settings, clears, "clears", "eighth", 1, 8, 7,
                 "it is clear again when fewer eighths of each are taken; at most those that set it"),
};

static void mascar_saturation(const void *settings, uint32_t *sets, uint32_t *clears) {
    const struct settings *s = settings;
    *sets = s->sets;
    *clears = s->clears < s->sets ? s->clears : s->sets;
}

struct mascar_sm {  /* shared by the schedulers of an SM */
    uint32_t owner; /* warp + 1, 0: none: the Warp Readiness Checker's register */
};

struct mascar {
    struct ww_sched_sm *sm;
    uint32_t index;    /* of this scheduler */
    uint64_t admitted; /* slots that may issue to memory though they do not own it */
    int last;          /* slot + 1 of the last issue, 0: none */
    uint32_t others;
    bool saturated; /* mode of the last pick */
};

static void mascar_init(void *state, const void *settings, uint32_t slots) {
    struct mascar *m = state;
    m->others = ((const struct settings *)settings)->others;
    (void)slots;
    m->last = 0;
}

static void mascar_join(void *state, struct ww_sched_sm *sm, uint32_t scheduler) {
    struct mascar *m = state;
    m->sm = sm;
    m->index = scheduler;
}

/* The owner + 1, or 0. It is one until its next instruction waits for what it has asked for, and all of that
 * has been accepted: until then its requests have the priority that makes it the owner. */
static uint32_t owner_of(const struct ww_sched_sm *sm) {
    struct mascar_sm *shared = sm->shared;
    if (!shared->owner) return 0;
    uint32_t warp = shared->owner - 1, slot = warp / sm->schedulers;
    const struct ww_sched_view *view = sm->view[warp % sm->schedulers];
    if (((view->waiting_long >> slot) & 1) && !sm->unsent(sm->sm, warp)) shared->owner = 0;
    return shared->owner;
}

static void own(struct ww_sched_sm *sm, uint32_t warp) {
    struct mascar_sm *shared = sm->shared;
    shared->owner = warp + 1;
    sm->owner_changes++;
}

/* A warp can access memory: a warp whose unit is full does not make the queue's requests wait. */
static bool is_memory_ready(const struct ww_sched_sm *sm) {
    for (uint32_t k = 0; k < sm->schedulers; k++)
        if (*sm->lsu_free[k] != UINT64_MAX && *sm->lsu_ready[k] & ~sm->view[k]->parked) return true;
    return false;
}

static bool mascar_may_miss(struct ww_sched_sm *sm, uint32_t warp, bool parked) {
    uint32_t owner = owner_of(sm);
    if (owner) return owner == warp + 1;
    if (parked && is_memory_ready(sm)) return false;
    own(sm, warp);
    return true;
}

static int greedy_then_oldest(const struct mascar *m, uint64_t set, const struct ww_sched_view *view) {
    if (m->last && (set >> (m->last - 1)) & 1) return m->last - 1;
    return ww_sched_oldest(set, view->age);
}

/* Warps of the set that stand before the owner in its scheduler's queue of memory-ready warps: the older ones.
 */
static uint64_t ahead_of(const struct mascar *m, uint32_t owner, uint64_t set,
                         const struct ww_sched_view *view) {
    uint32_t n = m->sm->schedulers, slot = (owner - 1) / n;
    uint64_t ahead = 0;
    if ((owner - 1) % n != m->index) return 0; /* the owner is in no queue of this scheduler */
    for (uint64_t rest = set; rest; rest &= rest - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(rest);
        if (view->age[other] < view->age[slot]) ahead |= 1ull << other;
    }
    return ahead;
}

/* MP mode, and no warp is ready that does not need memory. */
static int pick_memory(const struct mascar *m, const struct ww_sched_view *view) {
    uint32_t owner = owner_of(m->sm), n = m->sm->schedulers;
    uint64_t set = view->ready_lsu;
    if (!owner) {
        int slot = ww_sched_oldest(set, view->age);
        own(m->sm, (uint32_t)slot * n + m->index);
        return slot;
    }
    uint32_t slot = (owner - 1) / n;
    if ((owner - 1) % n == m->index && (set >> slot) & 1) return (int)slot;
    if (m->others != OTHERS_ALL) set &= m->admitted;
    if (m->others == OTHERS_AHEAD) set = ahead_of(m, owner, set, view);
    return set ? ww_sched_oldest(set, view->age) : -1;
}

static int mascar_pick(void *state, const struct ww_sched_view *view) {
    struct mascar *m = state;
    bool begins = view->memory_saturated && !m->saturated;
    m->saturated = view->memory_saturated;
    if (!view->memory_saturated) {
        uint64_t memory = view->ready_mem;
        return greedy_then_oldest(m, memory ? memory : view->ready, view);
    }
    if (begins && (m->others == OTHERS_READY || m->others == OTHERS_AHEAD))
        m->admitted = *m->sm->lsu_ready[m->index];
    uint64_t others = view->ready & ~view->ready_lsu;
    if (others) return ww_sched_oldest(others, view->age);
    return pick_memory(m, view);
}

static void mascar_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct mascar *m = state;
    (void)cycle;
    m->last = (int)slot + 1;
    if (memory) m->admitted &= ~(1ull << slot);
}

/* The next warp in the slot is neither the greedy one nor the owner. */
static void mascar_finished(void *state, uint32_t slot) {
    struct mascar *m = state;
    struct mascar_sm *shared = m->sm->shared;
    if (m->last == (int)slot + 1) m->last = 0;
    if (shared->owner == slot * m->sm->schedulers + m->index + 1) shared->owner = 0;
    m->admitted &= ~(1ull << slot);
}

const struct ww_sched_ops ww_sched_mascar = {
    .info =
        {.kind = WW_KIND_SCHED,
         .name = "mascar",
         .analytic = WW_ANALYTIC_ALIKE,
         .help = "memory-aware: one warp at a time may miss while memory is saturated",
         .paper =
             "Sethia, Jamshidi, Mahlke: Mascar: Speeding up GPU Warps by Reducing Memory Pitstops, HPCA 2015",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct settings),
         .with = "lsu=reexecute"},
    .by_saturation = true,
    .saturation = mascar_saturation,
    .state_size = sizeof(struct mascar),
    .init = mascar_init,
    .pick = mascar_pick,
    .issued = mascar_issued,
    .finished = mascar_finished,
    .shared_size = sizeof(struct mascar_sm),
    .join = mascar_join,
    .may_miss = mascar_may_miss,
};
