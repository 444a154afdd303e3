/* Cache-conscious wavefront scheduling.
 *
 * Each warp has a small victim tag array of the lines that it brought into the L1 and that were replaced. A
 * miss that finds its line there has lost locality; the warp's score is raised to
 *
 *   (hits in victim tag arrays / instructions issued) x throttle x cutoff,   cutoff = resident warps x base
 *
 * where hits and instructions are those of the warps that are resident, and falls by one a cycle back to the
 * base score. Warps sorted by score, the highest first, may load until the sum of their scores reaches the
 * cutoff: warps whose locality was lost keep the L1 to themselves. Others issue everything but loads from
 * global and local memory. Which of those that may issue does is greedy then oldest. All schedulers of an SM
 * share scores and arrays.
 *
 * Where the paper leaves things open this follows its authors' simulator (ccws-2012), which the Mascar paper
 * compares with, too: the warp whose score reaches the cutoff may still load, a score has no limit but the
 * formula above, and an array replaces its entries in the order in which they came.
 */
#include "sched.h"

#define WARPS 64
#define ENTRIES 64 /* of a warp's victim tag array, at most */

struct settings {
    uint32_t base, throttle, entries, ways;
};

struct victim_tags {
    uint64_t line[ENTRIES]; /* + 1; 0: none. [set][way], the newest first */
    uint64_t hits, issued;  /* of the warp in the slot */
};

struct ccws_sm { /* shared by the schedulers of an SM */
    struct victim_tags victim[WARPS];
    uint64_t raised[WARPS]; /* score above the base, at the cycle of raised_at */
    uint64_t raised_at[WARPS];
    uint64_t hits, issued; /* of all resident warps */
    uint64_t settled;      /* cycle from which no score is above the base */
    uint64_t allowed[8];   /* by scheduler: slots that may access memory, in cycle allowed_at */
    uint64_t allowed_at;   /* cycle + 1, 0: never */
    struct settings settings;
};

struct ccws {
    struct ww_sched_sm *sm;
    uint32_t index;
    int last; /* slot + 1, 0: none */
    struct settings settings;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, base, "base", "point", 1, 10000, 100, "base score of a warp"),
    WW_PARAM_U32(settings, throttle, "throttle", "", 1, 1024, 8, "K_throttle: weight of lost locality"),
    WW_PARAM_U32(settings, entries, "entries", "entry", 1, ENTRIES, 16, "victim tag array of a warp"),
    WW_PARAM_U32(settings, ways, "ways", "way", 1, ENTRIES, 8,
                 "its associativity, at most entries; entries beyond whole sets are not used"),
};

static void ccws_init(void *state, const void *settings, uint32_t slots) {
    struct ccws *c = state;
    (void)slots;
    c->settings = *(const struct settings *)settings;
    if (c->settings.ways > c->settings.entries) c->settings.ways = c->settings.entries;
}

static void ccws_join(void *state, struct ww_sched_sm *sm, uint32_t scheduler) {
    struct ccws *c = state;
    struct ccws_sm *shared = sm->shared;
    c->sm = sm;
    c->index = scheduler;
    shared->settings = c->settings;
}

static uint64_t cutoff_of(const struct ww_sched_sm *sm) {
    const struct ccws_sm *shared = sm->shared;
    uint64_t warps = 0;
    for (uint32_t k = 0; k < sm->schedulers; k++)
        warps += (uint64_t)__builtin_popcountll(sm->view[k]->resident);
    return warps * shared->settings.base;
}

/* The set of a line in a victim tag array. */
static uint64_t *set_of(struct ccws_sm *shared, uint32_t warp, uint64_t line) {
    uint32_t sets = shared->settings.entries / shared->settings.ways;
    return &shared->victim[warp].line[line % sets * shared->settings.ways];
}

static bool is_there(const uint64_t *set, uint32_t ways, uint64_t line) {
    for (uint32_t i = 0; i < ways; i++)
        if (set[i] == line + 1) return true;
    return false;
}

static void ccws_evicted(struct ww_sched_sm *sm, uint32_t warp, uint64_t line) {
    struct ccws_sm *shared = sm->shared;
    uint64_t *set = set_of(shared, warp, line);
    uint32_t ways = shared->settings.ways;
    if (is_there(set, ways, line)) return;
    for (uint32_t i = ways - 1; i > 0; i--) set[i] = set[i - 1];
    set[0] = line + 1;
}

static void raise_score(struct ww_sched_sm *sm, uint32_t warp, uint64_t cycle) {
    struct ccws_sm *shared = sm->shared;
    uint64_t base = shared->settings.base, issued = shared->issued ? shared->issued : 1;
    uint64_t score = shared->hits * shared->settings.throttle * cutoff_of(sm) / issued;
    if (score <= base) return;
    shared->raised[warp] = score - base;
    shared->raised_at[warp] = cycle;
    if (cycle + score - base > shared->settled) shared->settled = cycle + score - base;
    shared->allowed_at = 0;
}

static void ccws_missed(struct ww_sched_sm *sm, uint32_t warp, uint64_t line, uint64_t cycle) {
    struct ccws_sm *shared = sm->shared;
    if (!is_there(set_of(shared, warp, line), shared->settings.ways, line)) return;
    shared->hits++;
    shared->victim[warp].hits++;
    raise_score(sm, warp, cycle);
}

static uint64_t raised_now(const struct ccws_sm *shared, uint32_t warp, uint64_t cycle) {
    uint64_t gone = cycle > shared->raised_at[warp] ? cycle - shared->raised_at[warp] : 0;
    return shared->raised[warp] > gone ? shared->raised[warp] - gone : 0;
}

struct ranked {
    uint64_t score, age;
    uint32_t warp;
};

/* Resident warps, the highest score first, of equal ones the oldest. */
static uint32_t rank(const struct ww_sched_sm *sm, uint64_t cycle, struct ranked list[WARPS]) {
    const struct ccws_sm *shared = sm->shared;
    uint32_t count = 0;
    for (uint32_t k = 0; k < sm->schedulers; k++)
        for (uint64_t m = sm->view[k]->resident; m; m &= m - 1) {
            uint32_t slot = (uint32_t)__builtin_ctzll(m), warp = slot * sm->schedulers + k, i = count++;
            uint64_t score = shared->settings.base + raised_now(shared, warp, cycle),
                     age = sm->view[k]->age[slot];
            for (; i > 0; i--) {
                if (list[i - 1].score > score || (list[i - 1].score == score && list[i - 1].age < age)) break;
                list[i] = list[i - 1];
            }
            list[i] = (struct ranked){score, age, warp};
        }
    return count;
}

static void find_allowed(struct ww_sched_sm *sm, uint64_t cycle) {
    struct ccws_sm *shared = sm->shared;
    struct ranked list[WARPS];
    uint32_t count = rank(sm, cycle, list);
    uint64_t cutoff = count * (uint64_t)shared->settings.base, sum = 0;
    for (uint32_t k = 0; k < sm->schedulers; k++) shared->allowed[k] = 0;
    for (uint32_t i = 0; i < count; i++) {
        shared->allowed[list[i].warp % sm->schedulers] |= 1ull << (list[i].warp / sm->schedulers);
        sum += list[i].score;
        if (sum >= cutoff) break;
    }
    shared->allowed_at = cycle + 1;
}

/* Of the warps that may not load, those whose head is a load. */
static uint64_t held_back(const struct ccws *c, uint64_t set) {
    uint64_t held = 0;
    for (uint64_t m = set & ~((const struct ccws_sm *)c->sm->shared)->allowed[c->index]; m; m &= m - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(m);
        if (c->sm->loads(c->sm->sm, slot * c->sm->schedulers + c->index)) held |= 1ull << slot;
    }
    return held;
}

static int ccws_pick(void *state, const struct ww_sched_view *view) {
    struct ccws *c = state;
    struct ccws_sm *shared = c->sm->shared;
    uint64_t ready = view->ready;
    if (view->cycle < shared->settled && view->ready_lsu) {
        if (shared->allowed_at != view->cycle + 1) find_allowed(c->sm, view->cycle);
        ready &= ~held_back(c, view->ready_lsu);
    }
    if (!ready) return -1;
    if (c->last && (ready >> (c->last - 1)) & 1) return c->last - 1;
    return ww_sched_oldest(ready, view->age);
}

static void ccws_issued(void *state, uint32_t slot, bool memory, uint64_t cycle) {
    struct ccws *c = state;
    struct ccws_sm *shared = c->sm->shared;
    (void)memory;
    (void)cycle;
    c->last = (int)slot + 1;
    shared->issued++;
    shared->victim[slot * c->sm->schedulers + c->index].issued++;
}

/* The next warp in the slot begins with the base score and no victims. */
static void ccws_finished(void *state, uint32_t slot) {
    struct ccws *c = state;
    struct ccws_sm *shared = c->sm->shared;
    uint32_t warp = slot * c->sm->schedulers + c->index;
    if (c->last == (int)slot + 1) c->last = 0;
    shared->hits -= shared->victim[warp].hits;
    shared->issued -= shared->victim[warp].issued;
    shared->raised[warp] = 0;
    shared->victim[warp] = (struct victim_tags){.hits = 0};
    shared->allowed_at = 0;
}

const struct ww_sched_ops ww_sched_ccws = {
    .info = {.kind = WW_KIND_SCHED,
             .name = "ccws",
             .analytic = WW_ANALYTIC_ALIKE,
             .help = "cache-conscious: warps that lose locality keep others from memory",
             .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO 2012",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .state_size = sizeof(struct ccws),
    .init = ccws_init,
    .pick = ccws_pick,
    .issued = ccws_issued,
    .finished = ccws_finished,
    .shared_size = sizeof(struct ccws_sm),
    .join = ccws_join,
    .missed = ccws_missed,
    .evicted = ccws_evicted,
};
