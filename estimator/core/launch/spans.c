/* Fast replay runs one SM after another through each span of cycles. */
#include "spans.h"
#include "../memory/fast_calendar.h"
#include "../sm/booked.h"
#include "engine_internal.h"

#define SPAN 64 /* cycles that an SM runs before the next SM does */

struct ww_spans {
    uint64_t *due;  /* by SM: cycle of whatever comes next; WW_NEVER: nothing, or the SM is not made yet */
    uint64_t *turn; /* by SM: cycle in which the dispatcher has a CTA for it; WW_NEVER: none is promised */
    uint64_t *ask;  /* by SM: cycle from which it waits for such a promise; WW_NEVER: it does not */
    uint64_t first; /* the least of `due` */
    uint64_t asks, promised; /* SMs that wait; CTAs that are promised and not placed yet */
    struct ww_calendar dispatch;
    uint32_t cta_units; /* of the dispatcher's time, for a CTA */
    bool filling;       /* CTAs still go to SMs that have had none */
};

static inline uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

bool ww_spans_fit(const struct ww_core *core) {
    return !core->team && !core->concurrent && !core->governor && !core->waits && core->cluster_size <= 1 &&
           !core->probe && !core->ctas && !core->transfers && !core->shared_alloc.on && core->runs_ahead;
}

/* The first cycle that begins at time ps or later, after `cycle`. */
static uint64_t cycle_after(const struct ww_core *core, uint64_t ps, uint64_t cycle) {
    uint64_t at = ww_clock_cycle(&core->clock, ps);
    return at > cycle ? at : cycle + 1;
}

/* The cycle in which the SM receives its next memory reply. WW_NEVER: none is under way. */
static uint64_t next_reply_cycle(const struct ww_core *core, const struct ww_sm *sm) {
    uint64_t ps = ww_memsys_next(core->memory, (uint16_t)sm->id);
    return ps == UINT64_MAX ? WW_NEVER : cycle_after(core, ps, sm->now);
}

/* The first cycle in which the SM may send a miss to the crossbar. WW_NEVER: it has none. */
static uint64_t next_send_cycle(const struct ww_core *core, const struct ww_sm *sm) {
    if (!sm->misses.count) return WW_NEVER;
    if (!sm->misses.refused) return sm->now + 1;
    return cycle_after(core, ww_memsys_again(core->memory, (uint16_t)sm->id), sm->now);
}

static bool has_room(const struct ww_core *core, const struct ww_sm *sm) {
    return sm->resident_ctas < sm->cta_room && core->next_cta < core->cta_count;
}

/* The SM has room for a CTA of which it is not known yet whether and when it comes: it stops here, until all
 * SMs have been stepped up to where they ask for one, or to the end of the span. */
static bool asks(struct ww_core *core, const struct ww_sm *sm) {
    struct ww_spans *s = core->spans;
    if (s->turn[sm->id] != WW_NEVER || s->filling || !has_room(core, sm)) return false;
    if (core->cta_count - core->next_cta <= s->promised) return false;
    s->ask[sm->id] = sm->now + 1;
    s->asks++;
    return true;
}

/* The cycle in which the SM gets a CTA that it was promised. WW_NEVER: it was promised none. */
static inline uint64_t takes_cta(const struct ww_core *core, const struct ww_sm *sm) {
    uint64_t turn = core->spans->turn[sm->id];
    return turn == WW_NEVER || turn > sm->now ? turn : sm->now + 1;
}

static void take_cta(struct ww_core *core, struct ww_sm *sm, uint64_t cycle) {
    core->spans->turn[sm->id] = WW_NEVER;
    core->spans->promised--;
    if (has_room(core, sm)) ww_dispatch_next(sm, cycle);
}

/* Promises CTAs to SMs that ask, as the dispatcher does: cycle by cycle, to the next SM in turn that has room.
 */
static void promise_ctas(struct ww_core *core) {
    struct ww_spans *s = core->spans;
    const uint32_t count = core->gpu->sm_count;
    for (; s->asks && core->cta_count - core->next_cta > s->promised; s->asks--, s->promised++) {
        uint64_t first = WW_NEVER;
        for (uint32_t i = 0; i < count; i++) first = s->ask[i] < first ? s->ask[i] : first;
        uint64_t cycle = ww_calendar_take(&s->dispatch, first, s->cta_units);
        uint32_t sm = core->turn;
        while (s->ask[sm] > cycle) sm = sm + 1 == count ? 0 : sm + 1;
        core->turn = sm + 1 == count ? 0 : sm + 1;
        s->turn[sm] = cycle;
        s->due[sm] = least(s->due[sm], cycle);
        s->ask[sm] = WW_NEVER;
    }
    if (!s->asks) return;
    for (uint32_t i = 0; i < count; i++) s->ask[i] = WW_NEVER; /* there are no more CTAs */
    s->asks = 0;
}

static void receive_replies(struct ww_core *core, struct ww_sm *sm, uint64_t cycle) {
    struct ww_outbox *box = &core->outbox[2 * sm->id + (cycle & 1)];
    struct ww_mem_reply reply;
    uint64_t ps = ww_clock_time(&core->clock, cycle);
    if (ps > core->last_reply_ps) core->last_reply_ps = ps;
    while (ww_memsys_fetch(core->memory, (uint16_t)sm->id, ps, &reply))
        if (!ww_core_post(core, box, &reply)) return;
    uint64_t at = ww_core_receive(sm, cycle);
    if (at < core->next[sm->id]) core->next[sm->id] = at;
}

static void send_misses(struct ww_core *core, struct ww_sm *sm, uint64_t cycle) {
    sm->misses.refused = false;
    if (ww_l1_send(sm, ww_clock_time(&core->clock, cycle - 1), cycle)) ww_core_made_room(sm, cycle);
}

static void step(struct ww_core *core, struct ww_sm *sm, uint64_t cycle) {
    uint64_t next = sm->ahead ? ww_sm_complete(sm, cycle) : ww_sm_step(sm, cycle);
    core->next[sm->id] = next;
    if (next >= cycle + WW_AHEAD_NEAR || !ww_sm_alone(sm)) return;
    uint64_t reply = next_reply_cycle(core, sm), end = reply < core->epochs.end ? reply : core->epochs.end;
    if (next < end) core->next[sm->id] = ww_sm_run_ahead(sm, next, end);
}

/* The same for an SM that books its requests: it has nothing under way. */
static uint64_t run_booked(struct ww_core *core, struct ww_sm *sm, uint64_t end) {
    while (core->code_failed == WW_OK && !asks(core, sm)) {
        uint64_t first = sm->booked->far_first, next_step = core->next[sm->id];
        if (first < end) {
            core->next[sm->id] = next_step = least(next_step, first);
            ww_sm_advance(sm, next_step);
            ww_booked_wake_before(sm, end);
        }
        uint64_t placed = takes_cta(core, sm), cycle = least(next_step, placed);
        if (cycle >= end) return least(cycle, sm->booked->far_first);
        if (placed <= cycle) take_cta(core, sm, cycle);
        uint64_t next = core->next[sm->id];
        if (next <= cycle) next = sm->ahead ? ww_sm_complete(sm, cycle) : ww_sm_step(sm, cycle);
        if (next < end && ww_sm_alone(sm)) next = ww_sm_run_ahead(sm, next, core->epochs.end);
        core->next[sm->id] = next;
        if (sm->now < cycle || sm->now == UINT64_MAX) sm->now = cycle;
        if (sm->completed) ww_dispatch_collect(core, sm->id >> core->group_shift);
    }
    return sm->now + 1;
}

/* Steps the SM until its next event is at or after `end`; returns the cycle of that event. */
static uint64_t run_sm(struct ww_core *core, struct ww_sm *sm, uint64_t end) {
    while (core->code_failed == WW_OK && !asks(core, sm)) {
        uint64_t reply = next_reply_cycle(core, sm), sent = next_send_cycle(core, sm),
                 placed = takes_cta(core, sm);
        uint64_t cycle = least(least(core->next[sm->id], reply), least(sent, placed));
        if (cycle >= end) return cycle;
        if (sent <= cycle) send_misses(core, sm, cycle);
        if (placed <= cycle) take_cta(core, sm, cycle);
        if (reply <= cycle) receive_replies(core, sm, cycle);
        if (core->next[sm->id] <= cycle) step(core, sm, cycle);
        if (sm->now < cycle || sm->now == UINT64_MAX) sm->now = cycle;
        if (sm->completed) ww_dispatch_collect(core, sm->id >> core->group_shift);
    }
    return sm->now + 1;
}

/* At first CTAs go to all SMs in turn, cycle by cycle; later an SM takes one where another one has ended. */
static void fill(struct ww_core *core, uint64_t cycle) {
    struct ww_spans *s = core->spans;
    core->dispatch_at = cycle + 1;
    s->filling = ww_dispatch(core, cycle);
    for (uint32_t i = 0; i < core->gpu->sm_count; i++)
        if (ww_sm_made(&core->sm[i])) s->due[i] = least(s->due[i], core->next[i]);
}

/* Runs each SM up to `end`, or to where it asks for a CTA. */
static void run_each(struct ww_core *core, uint64_t end) {
    struct ww_spans *s = core->spans;
    const uint32_t count = core->gpu->sm_count;
    uint64_t first = WW_NEVER;
    if (s->asks) promise_ctas(core);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t due = s->due[i];
        if (due < end && core->code_failed == WW_OK) {
            struct ww_sm *sm = &core->sm[i];
            s->due[i] = due = sm->booked ? run_booked(core, sm, end) : run_sm(core, sm, end);
            if (sm->booked) ww_booked_count(sm->booked);
        }
        first = least(first, due);
    }
    s->first = first;
}

/* The earliest cycle in which an SM, or the first filling of the SMs, has something to do. */
static uint64_t first_of_all(const struct ww_core *core) {
    const struct ww_spans *s = core->spans;
    return s->filling ? least(s->first, core->dispatch_at) : s->first;
}

/* Runs all SMs through the span that begins with `cycle`: up to the queue's next event, and at least a cycle.
 */
static void run_all_sms(struct ww_core *core, uint64_t cycle) {
    struct ww_spans *s = core->spans;
    uint64_t end = least(cycle / SPAN * SPAN + SPAN, core->epochs.end), event = ww_queue_next(core->queue);
    if (event != UINT64_MAX) end = least(end, ww_clock_cycle(&core->clock, event));
    if (s->filling && core->dispatch_at <= cycle) fill(core, cycle);
    if (s->filling || end <= cycle) end = cycle + 1;
    core->now = cycle;
    core->span_end = end;
    do run_each(core, end);
    while (s->asks && core->code_failed == WW_OK);
}

static void spans_tick(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t cycle = first_of_all(core);
    (void)now_ps;
    core->ticking = true;
    while (cycle != WW_NEVER && core->code_failed == WW_OK) {
        uint64_t ps = ww_clock_time(&core->clock, cycle);
        if (ps >= ww_queue_next(core->queue)) break;
        ww_queue_floor(core->queue, ps);
        if (cycle >= core->epochs.end) ww_epochs_advance(&core->epochs, cycle);
        if (core->epochs.failed) ww_core_fail(core, ww_fail_nomem(core->error, "epochs"));
        run_all_sms(core, cycle);
        ww_core_report(core);
        cycle = first_of_all(core);
    }
    core->ticking = false;
    core->tick_cycle = cycle;
    if (cycle == WW_NEVER) ww_memsys_drain(core->memory);
    if (cycle != WW_NEVER && core->code_failed == WW_OK)
        ww_queue_add(core->queue, event, ww_clock_time(&core->clock, cycle));
}

enum ww_code ww_spans_begin(struct ww_core *core, struct ww_arena *arena, struct ww_error *error) {
    uint32_t sms = core->gpu->sm_count;
    double rate = core->gpu->launch_ctas_per_cycle;
    struct ww_spans *s = ww_arena_array(arena, 1, sizeof *s);
    if (s) {
        s->due = ww_arena_array(arena, sms, sizeof *s->due);
        s->turn = ww_arena_array(arena, sms, sizeof *s->turn);
        s->ask = ww_arena_array(arena, sms, sizeof *s->ask);
    }
    if (!s || !s->due || !s->turn || !s->ask) return ww_fail_nomem(error, "the SMs");
    for (uint32_t i = 0; i < sms; i++) s->due[i] = s->turn[i] = s->ask[i] = WW_NEVER;
    s->first = WW_NEVER;
    s->filling = core->next_cta < core->cta_count;
    s->cta_units = (uint32_t)((1u << WW_CALENDAR_UNIT) / rate + 0.5);
    core->spans = s;
    core->books = ww_booked_fits(core);
    core->tick.fn = spans_tick;
    return WW_OK;
}
