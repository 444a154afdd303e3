/* The threads of an engine. A cycle's groups of SMs stand in one word of bits; the thread that clears a bit
 * steps that group. A thread takes those of its own part first, so that an SM's state stays in one processor's
 * cache. Or one of the threads has a job, while the first one steps SMs. */
#include "../../base/locale.h"
#include "engine_internal.h"
#include "shard.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE 128
#define SPINS 4000    /* looks before a thread lets others run: tens of microseconds, several cycles */
#define PATIENCE 2000 /* times that it does so before it sleeps: a millisecond or two, several windows */
#define YIELDS 20000  /* looks before the first thread lets others run: a millisecond or so */
/* The first thread has waited that long: other programs use the processors. It then works by itself for a
 * number of windows or steps, which doubles each time up to a limit, and becomes the least one after as many
 * without a wait. */
#define REST_LEAST 64
#define REST_MOST 4096
/* Work is counted in sixteenths of what issuing a warp instruction takes. */
#define STEP_WORK 24    /* of an SM that steps, in addition to what it issues */
#define ENOUGH_WORK 480 /* least work for which other threads are used: some microseconds */
#define SOON 16         /* cycles: an SM that is due so soon may step at once, if nothing can reach it before */
#define PACE_AHEAD 64   /* SMs that issue less in a step do not run ahead far */
#define PACE_MOST (1u << 16)
/* Whether other threads help is found out by the clock. Stretches of cycles with them and without them are
 * timed; the slower kind is tried again at intervals, which double each time that it is still slower. */
#define STRETCH 256    /* cycles */
#define SETTLING 64    /* of these, the first, in which SMs move to other caches, are not timed */
#define TRIAL_LEAST 16 /* stretches between two trials */
#define TRIAL_MOST 1024
#define REPLY_UNITS 4 /* work of a reply of the memory system, where issuing a warp instruction is one */

/* What a thread's groups have changed; the first thread takes it over after each cycle. */
struct tally {
    _Alignas(LINE) uint64_t inflight, issued;
    bool failed;
};

/* What a unit of work takes with the other threads (1) and without them (0). Only the time of a replay depends
 * on it, never its results. */
struct trial {
    double ns_each[2]; /* 0: not measured yet */
    double begun_ns;
    uint64_t begun_units;
    uint32_t cycle;    /* of the stretch */
    uint32_t stretch;  /* since the last trial */
    uint32_t interval; /* stretches from one trial to the next */
    bool together, faster;
    bool noted; /* the kind that was timed last */
    bool warm;  /* the first stretch, in which much is touched for the first time, is over */
};

struct worker {
    struct ww_team *team;
    pthread_t thread;
    uint32_t index;
};

struct ww_team {
    _Alignas(LINE) _Atomic uint64_t open; /* groups that no thread has taken */
    _Alignas(LINE) _Atomic uint64_t done; /* that have stepped */
    _Alignas(LINE) struct ww_core *core;  /* written while `open` and all threads are at rest */
    uint64_t cycle;
    bool alone; /* groups go through a window by themselves, not through the cycle */
    uint32_t threads, started;
    uint64_t part[WW_THREADS_MAX]; /* by thread: its groups */
    uint32_t pace;                 /* warp instructions that an SM issues in a step, about: in 1/16 */
    struct trial trial;            /* of stepping groups together */
    uint32_t rest, next_rest; /* windows and steps for which the first thread works by itself; the next time */
    uint32_t prompt;          /* waits for other threads since then that were short */
    uint64_t *quiet;
    void (*job)(void *context); /* of one thread, while others step SMs */
    void *context;
    _Alignas(LINE) _Atomic uint32_t job_state; /* enum job_state */
    _Alignas(LINE) _Atomic uint32_t sleeping;
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t posted;
    struct worker worker[WW_THREADS_MAX];
    struct tally tally[WW_THREADS_MAX];
};

enum job_state { NO_JOB, JOB_WAITS, JOB_RUNS, JOB_DONE };

static inline void pause_cpu(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* Steps a group and notes what has changed. */
static void step(struct ww_team *t, uint32_t thread, uint32_t group) {
    struct ww_shard *s = &t->core->shard[group];
    struct tally *n = &t->tally[thread];
    if (t->alone)
        ww_shard_alone(s, group, t->cycle);
    else
        ww_shard_step(s, group, t->cycle);
    n->inflight += s->core.inflight - s->seen_inflight;
    n->issued += s->core.issued - s->seen_issued;
    s->seen_inflight = s->core.inflight;
    s->seen_issued = s->core.issued;
    n->failed |= s->core.code_failed != WW_OK;
}

/* The groups of a thread's own part. */
static uint64_t part_of(uint32_t groups, uint32_t threads, uint32_t thread) {
    uint32_t from = groups * thread / threads, to = groups * (thread + 1) / threads;
    uint64_t below = to < 64 ? (1ull << to) - 1 : UINT64_MAX;
    return below & ~((1ull << from) - 1);
}

/* Steps groups as long as there are any that no thread has taken. */
static void take(struct ww_team *t, uint32_t thread) {
    uint64_t open;
    while ((open = atomic_load_explicit(&t->open, memory_order_acquire)) != 0) {
        uint64_t own = open & t->part[thread], from = own ? own : open, bit = from & -from;
        if (!(atomic_fetch_and_explicit(&t->open, ~bit, memory_order_acq_rel) & bit)) continue;
        step(t, thread, (uint32_t)__builtin_ctzll(bit));
        atomic_fetch_or_explicit(&t->done, bit, memory_order_release);
    }
}

/* Does the job, if it waits. */
static bool take_job(struct ww_team *t) {
    uint32_t waits = JOB_WAITS;
    if (atomic_load_explicit(&t->job_state, memory_order_relaxed) != JOB_WAITS) return false;
    if (!atomic_compare_exchange_strong(&t->job_state, &waits, JOB_RUNS)) return false;
    t->job(t->context);
    atomic_store_explicit(&t->job_state, JOB_DONE, memory_order_release);
    return true;
}

static inline bool has_work(struct ww_team *t) {
    return atomic_load(&t->open) || atomic_load(&t->job_state) == JOB_WAITS;
}

/* Waits for groups to be taken, or a job; false: the team ends. */
static bool wait_for_work(struct ww_team *t) {
    for (int i = 0; i < SPINS + PATIENCE; i++) {
        if (has_work(t)) return true;
        if (i < SPINS)
            pause_cpu();
        else
            sched_yield();
    }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleeping, 1);
    while (!has_work(t) && !atomic_load(&t->stop)) pthread_cond_wait(&t->posted, &t->lock);
    atomic_fetch_sub(&t->sleeping, 1);
    pthread_mutex_unlock(&t->lock);
    return !atomic_load(&t->stop);
}

static void *work(void *context) {
    WW_PLAIN_LOCALE;
    const struct worker *w = context;
    while (wait_for_work(w->team))
        if (!take_job(w->team)) take(w->team, w->index);
    return NULL;
}

static void wake(struct ww_team *t) {
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->posted);
    pthread_mutex_unlock(&t->lock);
}

enum ww_code ww_team_new(uint32_t threads, uint32_t sms, struct ww_team **team, struct ww_error *error) {
    struct ww_team *t = aligned_alloc(LINE, (sizeof *t + LINE - 1) / LINE * LINE);
    if (!t) return ww_fail_nomem(error, "threads");
    *t = (struct ww_team){.threads = threads,
                          .trial = {.together = true},
                          .next_rest = REST_LEAST,
                          .quiet = calloc(sms, sizeof *t->quiet)};
    if (!t->quiet) {
        free(t);
        return ww_fail_nomem(error, "threads");
    }
    uint32_t groups = ((sms - 1) >> ww_shard_shift(sms, threads)) + 1;
    for (uint32_t i = 0; i < threads; i++) t->part[i] = part_of(groups, threads, i);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->posted, NULL);
    *team = t;
    for (uint32_t i = 1; i < threads; i++, t->started++) {
        t->worker[i] = (struct worker){.team = t, .index = i};
        int why = pthread_create(&t->worker[i].thread, NULL, work, &t->worker[i]);
        if (why)
            return ww_fail(error, WW_IO, "", "cannot start thread %u of %u: %s", i + 1, threads, strerror(why));
    }
    return WW_OK;
}

void ww_team_free(struct ww_team *t) {
    if (!t) return;
    atomic_store(&t->stop, true);
    wake(t);
    for (uint32_t i = 1; i <= t->started; i++) pthread_join(t->worker[i].thread, NULL);
    pthread_cond_destroy(&t->posted);
    pthread_mutex_destroy(&t->lock);
    free(t->quiet);
    free(t);
}

/* The errors of a cycle: the code of the first SM's, the text of the last one's, as with one thread. */
static void take_errors(struct ww_core *core) {
    for (uint32_t g = 0; g < core->groups; g++) {
        struct ww_shard *s = &core->shard[g];
        if (s->core.code_failed == WW_OK) continue;
        *core->error = s->error;
        ww_core_fail(core, s->core.code_failed);
    }
}

static void take_tallies(struct ww_core *core, struct ww_team *t, uint32_t threads) {
    bool failed = false;
    for (uint32_t i = 0; i < threads; i++) {
        struct tally *n = &t->tally[i];
        core->inflight += n->inflight;
        core->issued += n->issued;
        failed |= n->failed;
        n->inflight = n->issued = 0;
        n->failed = false;
    }
    if (failed) take_errors(core);
}

/* Lets events of the memory system pass that come before the next edge ends, while others step SMs. The end of
 * an epoch, which looks at SMs, and what comes after the memory system has nothing more to do are left to the
 * queue. */
static void pass_events(struct ww_core *core, const struct ww_team *t) {
    uint64_t end = ww_clock_time(&core->clock, t->cycle + 1);
    if (core->cut.queued && core->cut.time <= end) end = core->cut.time - 1;
    while (!ww_memsys_idle(core->memory) && ww_queue_next(core->queue) <= end) ww_queue_step(core->queue);
}

static void open_groups(struct ww_team *t, uint64_t due) {
    atomic_store_explicit(&t->done, 0, memory_order_relaxed);
    atomic_store(&t->open, due);
    if (atomic_load(&t->sleeping)) wake(t);
}

/* The first thread has waited for others, too long or not. */
static void note_wait(struct ww_team *t, bool late) {
    if (!late) {
        if (++t->prompt >= REST_MOST) t->next_rest = REST_LEAST;
        return;
    }
    t->prompt = 0;
    t->rest = t->next_rest;
    if (t->next_rest < REST_MOST) t->next_rest *= 2;
}

/* Takes part in what is left of them, and waits for the others. */
static void close_groups(struct ww_team *t, uint64_t due) {
    int i = 1;
    take(t, 0);
    for (; atomic_load_explicit(&t->done, memory_order_acquire) != due; i++) {
        pause_cpu();
        if (i >= YIELDS) sched_yield();
    }
    note_wait(t, i >= YIELDS);
}

static void step_together(struct ww_core *core, struct ww_team *t, uint64_t due) {
    ww_memsys_quiet_all(core->memory, ww_clock_time(&core->clock, t->cycle), t->quiet);
    core->quiet = t->quiet;
    open_groups(t, due);
    pass_events(core, t);
    close_groups(t, due);
    core->quiet = NULL;
}

/* Steps of SMs that run ahead issue hundreds of instructions, others one: the mean of the last ones decides
 * whether other threads are woken for the next. */
static void keep_pace(struct ww_team *t, uint32_t sms, uint64_t issued) {
    uint64_t each = 16 * issued / sms;
    if (each > PACE_MOST) each = PACE_MOST;
    t->pace += (uint32_t)each / 4 - t->pace / 4;
}

static double host_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static uint64_t units_done(const struct ww_core *core) {
    return core->issued + REPLY_UNITS * core->replies;
}

static void note_stretch(struct trial *t, uint64_t units) {
    if (units <= t->begun_units) return; /* another launch has begun */
    double each = (host_ns() - t->begun_ns) / (double)(units - t->begun_units),
           *mean = &t->ns_each[t->together];
    bool again = t->noted == t->together && *mean > 0;
    if (t->warm) *mean = again ? 0.75 * *mean + 0.25 * each : each;
    t->noted = t->together;
    t->warm = true;
}

/* The kind that is faster, and at intervals the other one. */
static bool next_together(struct trial *t) {
    if (t->ns_each[t->together] <= 0) return t->together;
    if (t->ns_each[!t->together] <= 0) return !t->together;
    bool faster = t->ns_each[1] < t->ns_each[0];
    if (faster != t->faster || !t->interval) {
        t->faster = faster;
        t->interval = TRIAL_LEAST;
        t->stretch = 0;
    }
    if (++t->stretch < t->interval) return faster;
    t->stretch = 0;
    if (t->interval < TRIAL_MOST) t->interval *= 2;
    return !faster;
}

/* Counts a cycle to its stretch; true: other threads help in it. */
static bool helps(struct trial *t, const struct ww_core *core) {
    if (t->cycle >= STRETCH) {
        note_stretch(t, units_done(core));
        t->together = next_together(t);
        t->cycle = 0;
    }
    if (t->cycle++ == SETTLING) {
        t->begun_ns = host_ns();
        t->begun_units = units_done(core);
    }
    return t->together;
}

void ww_team_start(struct ww_team *t, void (*job)(void *context), void *context) {
    t->job = job;
    t->context = context;
    if (t->rest) {
        job(context);
        atomic_store_explicit(&t->job_state, JOB_DONE, memory_order_relaxed);
        return;
    }
    atomic_store(&t->job_state, JOB_WAITS);
    if (atomic_load(&t->sleeping)) wake(t);
}

void ww_team_finish(struct ww_team *t) {
    int i = 1;
    take_job(t);
    for (; atomic_load_explicit(&t->job_state, memory_order_acquire) != JOB_DONE; i++) {
        pause_cpu();
        if (i >= YIELDS) sched_yield();
    }
    note_wait(t, i >= YIELDS);
    atomic_store_explicit(&t->job_state, NO_JOB, memory_order_relaxed);
}

/* Threads other than the first may step groups. */
static bool has_helper(const struct ww_core *core) {
    return core->groups > 1;
}

/* The first thread works by itself this time. */
static bool takes_all(struct ww_team *t) {
    if (!t->rest) return false;
    t->rest--;
    return true;
}

/* Groups step on this thread. */
static void step_each(struct ww_team *t, uint64_t groups) {
    for (; groups; groups &= groups - 1) step(t, 0, (uint32_t)__builtin_ctzll(groups));
}

/* Groups step on all threads that are at rest. */
static void step_groups(struct ww_team *t, uint64_t groups) {
    if (takes_all(t)) {
        step_each(t, groups);
        return;
    }
    open_groups(t, groups);
    close_groups(t, groups);
}

/* All groups that are due, on this thread. */
static void step_alone(struct ww_core *core, struct ww_team *t) {
    for (uint32_t g = 0; g < core->groups; g++)
        if (ww_core_due(core, g, t->cycle)) step(t, 0, g);
    take_tallies(core, t, 1);
}

/* SMs of the group that have something to do in the team's cycle, about. */
static uint32_t due_sms(const struct ww_core *core, const struct ww_team *t, uint32_t group) {
    const struct ww_group_summary *summary = &core->summary[group];
    uint32_t posted = (uint32_t)__builtin_popcountll(core->posted[t->cycle & 1][group] | summary->units);
    return posted + (summary->next <= t->cycle ? summary->due : 0);
}

/* A cycle in a window: what an SM does after it, alone, is most of the work. */
static void step_in_window(struct ww_core *core, struct ww_team *t) {
    uint64_t due = 0, issued = core->issued;
    uint32_t sms = 0;
    for (uint32_t g = 0; g < core->groups; g++) {
        if (!ww_core_due(core, g, t->cycle)) continue;
        due |= 1ull << g;
        sms += due_sms(core, t, g);
    }
    if (due & (due - 1) && sms * (STEP_WORK + t->pace) >= ENOUGH_WORK)
        step_groups(t, due);
    else
        step_each(t, due);
    take_tallies(core, t, t->threads);
    if (sms) keep_pace(t, sms, core->issued - issued);
}

void ww_team_alone(struct ww_core *core, uint64_t cycle) {
    struct ww_team *t = core->team;
    uint64_t all = core->groups < 64 ? (1ull << core->groups) - 1 : UINT64_MAX;
    t->core = core;
    t->cycle = cycle;
    t->alone = true;
    step_groups(t, all);
    t->alone = false;
    take_tallies(core, t, t->threads);
}

void ww_team_step(struct ww_core *core, uint64_t cycle) {
    struct ww_team *t = core->team;
    t->core = core;
    t->cycle = cycle;
    if (!has_helper(core)) {
        step_alone(core, t);
        return;
    }
    if (core->told_ps) {
        step_in_window(core, t);
        return;
    }
    uint64_t due = 0;
    uint32_t sms = 0, others = 0;
    uint64_t near = 0, soon = core->runs_ahead && t->pace >= PACE_AHEAD ? cycle + SOON : cycle;
    for (uint32_t g = 0; g < core->groups; g++) {
        const struct ww_group_summary *summary = &core->summary[g];
        uint64_t posted = core->posted[cycle & 1][g] | summary->units;
        if (summary->next > soon && !posted) continue;
        near |= 1ull << g;
        if (summary->next <= cycle || posted) due |= 1ull << g;
        sms += (summary->next <= cycle ? summary->due : 0) + (uint32_t)__builtin_popcountll(posted);
        others += summary->next > cycle && summary->next <= soon ? summary->due : 0;
    }
    uint64_t issued = core->issued;
    bool enough = sms * (STEP_WORK + t->pace) + others * t->pace >= ENOUGH_WORK && (near & (near - 1));
    if (enough && !takes_all(t) && helps(&t->trial, core))
        step_together(core, t, near);
    else
        step_each(t, due);
    take_tallies(core, t, t->threads);
    if (sms) keep_pace(t, sms, core->issued - issued);
}
