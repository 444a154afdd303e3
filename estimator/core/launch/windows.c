/* The memory system one window of cycles ahead of the SMs. */
#include "windows.h"
#include "alone.h"

#include "engine_internal.h"
#include "shard.h"

#define LEAST 4  /* cycles before something ends windows, for which these begin */
#define MOST 128 /* cycles of a window: wheels reach further */

/* What the memory system's thread does. */
struct ahead {
    struct ww_memsys *memory;
    uint64_t ps;
    bool went; /* so far */
};

static void go_ahead(void *context) {
    struct ahead *a = context;
    a->went = ww_memsys_advance(a->memory, a->ps);
}

static void start_ahead(struct ww_core *core, struct ahead *ahead) {
    if (core->team)
        ww_team_start(core->team, go_ahead, ahead);
    else
        go_ahead(ahead);
}

/* What ties the two together in other ways than requests and replies, or looks at both in the middle of a
 * launch. */
static bool tied(const struct ww_core *core) {
    return !core->runs_ahead || core->cluster_size > 1 || core->governor || core->concurrent || core->waits ||
           core->spans || core->marks.count;
}

static bool reads_strongly(const struct ww_core *core) {
    for (uint32_t i = 0; i < core->code.inst_count; i++) {
        const struct ww_dinst *d = &core->code.inst[i];
        if (d->path == WW_L_LOAD && d->cache == WW_CACHE_NONE && !d->async) return true;
    }
    return false;
}

/* Requests of the window that begins at a cycle, which are offered at the time of the cycle before or later, do
 * not matter within two windows. */
uint64_t ww_windows_length(const struct ww_core *core) {
    if (tied(core)) return 0;
    uint64_t lead = ww_memsys_lead(core->memory, reads_strongly(core));
    uint64_t cycles = lead ? ((lead - 1) << 16) / (2 * core->clock.period_fp) : 0;
    return cycles < MOST ? cycles : MOST;
}

/* The first cycle that no window reaches: the end of an epoch looks at both sides. */
static uint64_t limit_of(const struct ww_core *core) {
    if (!core->cut.queued) return WW_NEVER;
    return ww_clock_cycle(&core->clock, core->cut.time);
}

/* SMs go through the cycles before `end` that can go alone. */
static void run_alone(struct ww_core *core, uint64_t cycle, uint64_t end) {
    core->alone_until = end;
    if (core->team) {
        ww_team_alone(core, cycle);
    } else {
        ww_epochs_reach(core, cycle);
        for (uint32_t g = 0; g < core->groups; g++) ww_alone_group(core, g, cycle);
    }
    for (uint32_t g = 0; g < core->groups; g++)
        if (core->summary[g].completed) ww_dispatch_collect(core, g);
}

/* Messages that take effect in the same cycle as the next one, which comes at time ps. */
static void tell(struct ww_core *core, uint64_t ps) {
    uint64_t end = ww_clock_time(&core->clock, ww_clock_cycle(&core->clock, ps));
    do {
        ww_core_tell(core, ps, end);
        ps = ww_memsys_told(core->memory);
    } while (ps <= end);
}

/* SMs go through the cycles from `cycle` to `end`, alone or as in ww_core_tick, with messages in place of
 * events. Returns the next cycle in which they have something to do. */
static uint64_t run_sms(struct ww_core *core, uint64_t cycle, uint64_t end, bool *active) {
    uint64_t last_ps = ww_clock_time(&core->clock, end - 1), issued = core->issued;
    run_alone(core, cycle, end);
    *active = core->issued != issued;
    while (core->code_failed == WW_OK) {
        uint64_t told = ww_memsys_told(core->memory);
        cycle = ww_core_next_cycle(core);
        uint64_t ps = cycle < end ? ww_clock_time(&core->clock, cycle) : last_ps;
        if (told <= ps) {
            tell(core, told);
            *active = true;
            continue;
        }
        if (cycle >= end) return cycle;
        *active = true;
        ww_memsys_tick(core->memory, ps);
        ww_core_one_tick(core, cycle, ps);
    }
    return WW_NEVER;
}

static bool done(const struct ww_core *core) {
    return core->code_failed != WW_OK ||
           (core->next_cta >= core->cta_count && core->ended_ctas == core->launched_ctas && !core->inflight);
}

/* The host loads what SMs will use with their first replies of a window. */
WW_AHEAD expect_replies(const struct ww_core *core) {
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        struct ww_mem_coming c = ww_memsys_coming(core->memory, (uint16_t)i);
        if (c.reply) ww_l1_prefetch_entry(&core->sm[i], c.reply);
        if (c.next) ww_l1_prefetch_entry(&core->sm[i], c.next);
        if (c.third) ww_l1_prefetch_entry(&core->sm[i], c.third);
    }
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        struct ww_mem_coming c = ww_memsys_coming(core->memory, (uint16_t)i);
        if (c.reply) ww_l1_prefetch_line(&core->sm[i], c.reply);
        if (c.next) ww_l1_prefetch_line(&core->sm[i], c.next);
    }
}

/* End of the window that begins with `cycle`: it lies in one epoch. */
static uint64_t window_end(const struct ww_core *core, uint64_t cycle, uint64_t limit) {
    uint64_t end = cycle + core->window, epoch = (cycle / core->epochs.length + 1) * core->epochs.length;
    if (epoch < end) end = epoch;
    return end < limit ? end : limit;
}

/* Windows from `cycle` on, whose time is ps, until something ends them. Returns the SMs' next cycle. */
static uint64_t run_windows(struct ww_core *core, uint64_t cycle, uint64_t limit) {
    struct ww_memsys *memory = core->memory;
    struct ahead ahead = {.memory = memory};
    uint64_t begin = cycle, end = window_end(core, cycle, limit), next = cycle;
    ahead.ps = ww_clock_time(&core->clock, end - 1);
    go_ahead(&ahead);
    bool goes_on = ww_memsys_exchange(memory, core->told_ps, ahead.ps + 1) && ahead.went, active;
    while (ahead.went && core->code_failed == WW_OK) {
        uint64_t further = window_end(core, end, limit);
        goes_on = goes_on && further > end;
        ahead.ps = ww_clock_time(&core->clock, further - 1);
        if (goes_on) start_ahead(core, &ahead);
        expect_replies(core);
        next = run_sms(core, begin, end, &active);
        if (goes_on && core->team) ww_team_finish(core->team);
        if (core->code_failed != WW_OK) break;
        bool room = ww_memsys_exchange(memory, core->told_ps, ahead.ps + 1);
        if (!goes_on) break;
        ww_core_report(core);
        begin = end;
        end = further;
        goes_on = room && active && !done(core);
    }
    return next;
}

uint64_t ww_windows_run(struct ww_core *core, uint64_t cycle, uint64_t ps) {
    if (done(core)) return cycle;
    uint64_t limit = limit_of(core);
    if (limit < cycle + LEAST) return cycle;
    if (!ww_memsys_part(core->memory, ps)) return cycle;
    core->told_ps = core->told;
    uint64_t next = run_windows(core, cycle, limit);
    core->told_ps = NULL;
    core->alone_until = 0;
    if (!ww_memsys_join(core->memory, core->now_ps))
        ww_core_fail(core, ww_fail_nomem(core->error, "messages between SMs and memory"));
    return next;
}
