/* A cycle of the SMs: replies, steps, requests, the next cycle. */
#include "alone.h"
#include "engine_internal.h"
#include "governor_run.h"
#include "shard.h"
#include "windows.h"
#include "../sm/waits.h"

#include <assert.h>
#include <stdlib.h>

void ww_core_wake(struct ww_core *core, uint32_t sm, uint64_t cycle) {
    uint32_t group = sm >> core->group_shift, bit = sm - (group << core->group_shift);
    struct ww_wheel *wheel = &core->group[group].wheel;
    struct ww_group_summary *summary = &core->summary[group];
    uint64_t most = core->main->now + WW_WHEEL_SPAN, old = core->next[sm];
    if (cycle >= old) return;
    if (core->spans) {
        core->next[sm] = cycle;
        return;
    }
    if (old != WW_NEVER) ww_wheel_clear(wheel, old < most ? old : most, bit);
    core->next[sm] = cycle;
    if (cycle > most) cycle = most;
    ww_wheel_set(wheel, cycle, bit);
    if (cycle < summary->next) {
        summary->next = cycle;
        summary->due = 0;
    }
    summary->due += cycle == summary->next;
}

/* Whether anything can still happen other than a governor's actions and the ends of epochs. */
static bool alive(const struct ww_core *core) {
    return core->tick.queued || core->inflight || !ww_memsys_idle(core->memory);
}

/* The governor's next cycle, unless nothing else will ever happen: then the launch is stuck, which must show.
 */
static __attribute__((noinline)) uint64_t governor_cycle(const struct ww_core *core, uint64_t next) {
    bool adjusts =
        core->governor->adjust; /* CTAs may be unpaused; a sample alone does not keep the launch running */
    return next != WW_NEVER || adjusts || alive(core) ? core->governor_at : WW_NEVER;
}

static inline uint64_t next_cycle(const struct ww_core *core) {
    uint64_t next = core->dispatch_at > core->now ? core->dispatch_at : core->now + 1, sooner = 0;
    if (core->dispatch_at == WW_NEVER) next = WW_NEVER;
    for (uint32_t g = 0; g < core->groups; g++) {
        const struct ww_group_summary *summary = &core->summary[g];
        if (summary->next < next) next = summary->next;
        sooner |= summary->sending | summary->units | core->posted[(core->now + 1) & 1][g];
    }
    if (sooner) return core->now + 1;
    return core->governor_at < next ? governor_cycle(core, next) : next;
}

/* What else than warps and the LSU has something to do, in `cycle` or after it; or `at`, if that is earlier. */
static __attribute__((noinline)) uint64_t extras_next(const struct ww_sm *sm, uint64_t cycle, uint64_t at) {
    if (sm->dma && ww_dma_next(sm->dma, cycle - 1) < at) at = ww_dma_next(sm->dma, cycle - 1);
    if (sm->tma && ww_tma_next(sm->tma, cycle - 1) < at) at = ww_tma_next(sm->tma, cycle - 1);
    if (sm->fetch && ww_fetch_next(sm->fetch, cycle - 1) < at) at = ww_fetch_next(sm->fetch, cycle - 1);
    return at;
}

/* Whether one of these may use the room of a miss queue in `cycle`. */
static __attribute__((noinline)) bool extras_go_on(struct ww_sm *sm, uint64_t cycle) {
    bool goes_on = sm->dma && ww_dma_next(sm->dma, cycle - 1) <= cycle;
    if (sm->tma && ww_tma_retry(sm->tma, cycle)) goes_on = true;
    return goes_on || (sm->fetch && ww_fetch_next(sm->fetch, cycle - 1) <= cycle);
}

void ww_core_made_room(struct ww_sm *sm, uint64_t cycle) {
    bool goes_on = ww_lsu_goes_on(&sm->lsu);
    if (sm->saturated && !ww_l1_saturated(sm)) ww_sm_count_mode(sm, cycle);
    if (sm->extras && extras_go_on(sm, cycle)) goes_on = true;
    if (goes_on) ww_core_wake(sm->core, sm->id, cycle);
}

/* A request of the SM's miss queue has gone before `cycle`; `bit`: the SM in its group. */
static inline void left(struct ww_sm *sm, struct ww_group_summary *summary, uint64_t bit, uint64_t cycle) {
    if (cycle <= sm->now) return;
    if (!ww_sm_unit_alone(sm)) {
        if (sm->lsu.held || sm->saturated || sm->extras) ww_core_made_room(sm, cycle);
        return;
    }
    if (sm->saturated && !ww_l1_saturated(sm)) ww_sm_count_mode(sm, cycle);
    summary->units |= ww_lsu_goes_on(&sm->lsu) ? bit : 0;
}

/* The end of the cycle before `cycle`: miss queues are offered, in the order of the SMs. */
static void send_group(struct ww_core *core, uint32_t group, uint64_t cycle) {
    struct ww_group_summary *summary = &core->summary[group];
    struct ww_sm *first = &core->sm[group << core->group_shift];
    uint64_t ps = core->now_ps, done = 0;
    for (uint64_t sending = summary->sending; sending; sending &= sending - 1) {
        struct ww_sm *sm = first + __builtin_ctzll(sending);
        uint64_t bit = sending & -sending;
        if (!ww_l1_send(sm, ps, cycle)) {
            done |= bit;
            continue;
        }
        left(sm, summary, bit, cycle);
        uint64_t came = sm->misses.count ? sm->misses.came[sm->misses.head] : WW_NEVER;
        if (came <= cycle) continue;
        if (came != WW_NEVER) ww_core_offers(core, sm->id, came); /* the SM is ahead */
        done |= bit;
    }
    summary->sending &= ~done;
}

/* Takes what lies in the SM's outbox. */
static __attribute__((noinline)) void empty_box(struct ww_sm *sm, struct ww_outbox *box, uint64_t cycle) {
    if (box->unblocked) {
        sm->misses.refused = false;
        if (sm->misses.count) ww_core_sends(sm->core, sm->id);
        ww_dma_retry(sm->dma, cycle);
    }
    for (uint32_t i = 0; i < box->count; i++) ww_l1_reply(sm, &box->reply[i], cycle);
    if (box->released) ww_waits_release(sm, box->released, cycle);
    sm->answered |= box->released != 0;
    box->count = 0;
    box->unblocked = false;
    box->released = 0;
}

/* The SM receives its messages. Returns the cycle in which it has to step because of them, WW_NEVER if that has
 * not changed; but for its held unit, which may go on in this cycle (*goes_on). */
static inline uint64_t receive(struct ww_sm *sm, uint64_t cycle, uint64_t ps, bool *goes_on) {
    struct ww_outbox *box = &sm->core->outbox[2 * sm->id + (cycle & 1)];
    bool is_ahead = sm->now + 1 > cycle; /* it has taken its replies */
    assert(!is_ahead || !(box->count || box->released));
    if (!is_ahead) ww_sm_advance(sm, cycle);
    bool replied = box->count != 0;
    if (box->count || box->unblocked || box->released) empty_box(sm, box, cycle);
    if (is_ahead) return WW_NEVER;
    if (sm->core->main->told_ps) replied |= ww_alone_receive(sm, cycle, ps);
    if (replied && sm->saturated && !ww_l1_saturated(sm)) ww_sm_count_mode(sm, cycle);
    *goes_on = ww_lsu_goes_on(&sm->lsu);
    if (sm->became_ready) return cycle;
    if (!sm->answered && !sm->extras) return WW_NEVER;
    sm->answered = false;
    uint64_t at = ww_wheel_next(&sm->wheel, cycle - 1);
    return sm->extras ? extras_next(sm, cycle, at) : at;
}

uint64_t ww_core_receive(struct ww_sm *sm, uint64_t cycle) {
    bool goes_on = false;
    uint64_t at = receive(sm, cycle, ww_clock_time(&sm->core->clock, cycle), &goes_on);
    return goes_on ? cycle : at;
}

/* The cycle before which the SM may run ahead of the others: until then it receives no message from memory. */
static uint64_t ahead_until(const struct ww_core *core, const struct ww_sm *sm, uint64_t cycle) {
    uint64_t end = core->epochs.end;
    if (!sm->outstanding) return end;
    const uint64_t *noted = core->main->quiet ? core->main->quiet : core->main->told_ps;
    uint64_t ps = ww_clock_time(&core->clock, cycle),
             quiet = noted ? noted[sm->id] : ww_memsys_quiet(core->memory, (uint16_t)sm->id, ps);
    uint64_t at = quiet > ps ? cycle + ((quiet - ps - 1) << 16) / core->clock.period_fp : cycle;
    return at < end ? at : end;
}

/* The SM, which has stepped in `cycle`, goes on by itself as far as it can, from its next step in `next` on. */
static inline uint64_t run_on(struct ww_core *core, struct ww_sm *sm, uint64_t next, uint64_t cycle) {
    if (core->main->alone_until) return ww_alone_run(sm, next);
    uint64_t end = ahead_until(core, sm, cycle);
    return next < end ? ww_sm_run_ahead(sm, next, end) : next;
}

/* Whether it may do so. */
static inline bool may_run_on(const struct ww_core *core, const struct ww_sm *sm, uint64_t next,
                              uint64_t cycle) {
    if (core->main->alone_until) return !ww_alone_held(sm) && ww_alone_has_room(sm);
    return next < cycle + WW_AHEAD_NEAR && ww_sm_alone(sm);
}

/* Steps an SM of the group, if it is due. Returns `bit` if its unit goes on in the next cycle, else 0. */
static inline uint64_t step_sm(struct ww_core *core, struct ww_wheel *wheel, uint32_t id, uint64_t bit,
                               uint64_t cycle) {
    uint64_t next = core->next[id], most = cycle + WW_WHEEL_SPAN;
    bool unit = false;
    if (next <= cycle) {
        struct ww_sm *sm = &core->sm[id];
        next = sm->ahead ? ww_sm_complete(sm, cycle) : ww_sm_step_apart(sm, cycle, &unit);
        if (may_run_on(core, sm, unit ? cycle + 1 : next, cycle)) {
            next = run_on(core, sm, unit ? cycle + 1 : next, cycle);
            unit = false;
        }
    }
    core->next[id] = next;
    if (next != WW_NEVER) ww_wheel_set(wheel, next < most ? next : most, (uint32_t)__builtin_ctzll(bit));
    return unit ? bit : 0;
}

/* SMs of the group receive their messages; their next steps may then be earlier. Returns those whose held unit
 * goes on. */
static inline uint64_t receive_all(struct ww_core *core, struct ww_wheel *wheel, uint32_t first,
                                   uint64_t posted, uint64_t cycle) {
    uint64_t units = 0, ps = ww_clock_time(&core->clock, cycle);
    for (; posted; posted &= posted - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(posted), id = first + bit;
        struct ww_sm *sm = &core->sm[id];
        bool goes_on = false;
        uint64_t at = receive(sm, cycle, ps, &goes_on), old = core->next[id];
        if (goes_on && !ww_sm_unit_alone(sm)) at = cycle;
        units |= (uint64_t)goes_on << bit;
        if (at >= old) continue;
        if (old < cycle + WW_WHEEL_SPAN) ww_wheel_clear(wheel, old, bit);
        core->next[id] = at;
        ww_wheel_set(wheel, at, bit);
    }
    return units;
}

/* The SM's next step is in `next`, not in `old`. */
static inline void set_next(struct ww_core *core, struct ww_wheel *wheel, uint32_t id, uint32_t bit,
                            uint64_t old, uint64_t next, uint64_t cycle) {
    const uint64_t most = cycle + WW_WHEEL_SPAN;
    if (old != WW_NEVER) ww_wheel_clear(wheel, old < most ? old : most, bit);
    core->next[id] = next;
    if (next != WW_NEVER) ww_wheel_set(wheel, next < most ? next : most, bit);
}

/* Units of SMs work, unless a step of the SM is due, in which they do. Returns those that go on in the next
 * cycle. */
static inline uint64_t work(struct ww_core *core, struct ww_sm_group *group, uint32_t first, uint64_t units,
                            uint64_t cycle) {
    uint64_t go_on = 0;
    for (; units; units &= units - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(units), id = first + bit;
        struct ww_sm *sm = &core->sm[id];
        uint64_t old = core->next[id];
        if (old <= cycle) continue;
        enum ww_unit_turn turn = ww_lsu_turn(sm, cycle);
        if (turn == WW_UNIT_ENDS) {
            set_next(core, &group->wheel, id, bit, old, ww_sm_rest(sm, cycle), cycle);
            continue;
        }
        go_on |= (uint64_t)(turn == WW_UNIT_GOES) << bit;
        group->sending |= (uint64_t)(sm->misses.count && !sm->misses.refused) << bit;
    }
    return go_on;
}

/* SMs of the group whose next step is not due yet make it, and what follows, if nothing can reach them before:
 * the more SMs a thread steps at a time, the less it waits for others. */
static void run_others_ahead(struct ww_core *core, struct ww_wheel *wheel, uint32_t first, uint64_t units,
                             uint64_t cycle) {
    uint32_t count = core->gpu->sm_count - first;
    if (count > 1u << core->group_shift) count = 1u << core->group_shift;
    for (uint32_t bit = 0; bit < count; bit++) {
        uint64_t next = core->next[first + bit], most = cycle + WW_WHEEL_SPAN;
        struct ww_sm *sm = &core->sm[first + bit];
        if (next >= cycle + WW_AHEAD_NEAR || sm->ahead || units >> bit & 1 || !ww_sm_alone(sm)) continue;
        uint64_t end = ahead_until(core, sm, cycle);
        if (next >= end) continue;
        ww_wheel_clear(wheel, next, bit);
        core->next[first + bit] = next = ww_sm_run_ahead(sm, next, end);
        if (next != WW_NEVER) ww_wheel_set(wheel, next < most ? next : most, bit);
    }
}

/* Prefetches into the host's caches what the replies to the SMs of the group refer to: first their MSHRs,
 * unless this thread did so when the replies came, then lines and requests. */
WW_AHEAD prefetch_replies(const struct ww_core *core, uint64_t posted, uint32_t first, uint64_t cycle) {
    for (uint64_t left = core->team ? posted : 0; left; left &= left - 1) {
        const struct ww_sm *sm = &core->sm[first + (uint32_t)__builtin_ctzll(left)];
        const struct ww_outbox *box = &core->outbox[2 * sm->id + (cycle & 1)];
        for (uint32_t i = 0; i < box->count; i++) ww_l1_prefetch_entry(sm, &box->reply[i]);
    }
    for (uint64_t left = posted; left; left &= left - 1) {
        const struct ww_sm *sm = &core->sm[first + (uint32_t)__builtin_ctzll(left)];
        const struct ww_outbox *box = &core->outbox[2 * sm->id + (cycle & 1)];
        for (uint32_t i = 0; i < box->count; i++) ww_l1_prefetch_line(sm, &box->reply[i]);
    }
}

static inline void summarise(struct ww_core *core, uint32_t index, uint64_t cycle) {
    struct ww_sm_group *group = &core->group[index];
    struct ww_group_summary *summary = &core->summary[index];
    summary->sending |= group->sending;
    summary->completed |= group->completed;
    group->sending = group->completed = 0;
    summary->next = ww_wheel_next(&group->wheel, cycle);
    if (core->team) summary->due = (uint32_t)__builtin_popcountll(group->wheel.slot[summary->next & 255]);
    if (core->window) {
        uint64_t offer = ww_wheel_next(&group->offers, cycle);
        if (offer < summary->next) summary->next = offer;
    }
}

void ww_core_summarise(struct ww_core *core, uint32_t group, uint64_t cycle) {
    summarise(core, group, cycle);
}

void ww_core_step_group(struct ww_core *core, uint32_t index, uint64_t cycle) {
    struct ww_sm_group *group = &core->group[index];
    uint32_t first = index << core->group_shift;
    uint64_t posted = core->posted[cycle & 1][index], units = core->summary[index].units, go_on = 0;
    if (posted && !core->main->told_ps) prefetch_replies(core, posted, first, cycle);
    if (posted) units |= receive_all(core, &group->wheel, first, posted, cycle);
    if (units) go_on = work(core, group, first, units, cycle);
    for (uint64_t due = ww_wheel_take(&group->wheel, cycle); due; due &= due - 1)
        go_on |= step_sm(core, &group->wheel, first + (uint32_t)__builtin_ctzll(due), due & -due, cycle);
    core->summary[index].units = go_on;
    if (core->main->quiet && core->runs_ahead) run_others_ahead(core, &group->wheel, first, go_on, cycle);
    if (core->window) group->sending |= ww_wheel_take(&group->offers, cycle);
    summarise(core, index, cycle);
}

void ww_epochs_reach(struct ww_core *core, uint64_t cycle) {
    if (cycle >= core->epochs.end) ww_epochs_advance(&core->epochs, cycle);
    if (core->epochs.failed) ww_core_fail(core, ww_fail_nomem(core->error, "epochs"));
}

static void one_cycle(struct ww_core *core, uint64_t cycle) {
    core->now = cycle;
    if (core->dispatch_at <= cycle) {
        core->dispatch_at = WW_NEVER;
        if (ww_dispatch(core, cycle)) core->dispatch_at = cycle + 1;
    }
    if (core->team) {
        ww_team_step(core, cycle);
    } else {
        ww_epochs_reach(core, cycle);
        for (uint32_t g = 0; g < core->groups; g++)
            if (ww_core_due(core, g, cycle)) ww_core_step_group(core, g, cycle);
    }
    for (uint32_t g = 0; g < core->groups; g++) {
        core->posted[cycle & 1][g] = 0;
        if (core->summary[g].completed) ww_dispatch_collect(core, g);
    }
}

void ww_core_report(struct ww_core *core) {
    if (!core->progress || (core->issued - core->progressed < 1u << 14 && ++core->unreported < 1u << 14))
        return;
    core->progressed = core->issued;
    core->unreported = 0;
    double part = core->cta_count ? (double)core->ended_ctas / (double)core->cta_count : 1;
    if (!core->progress(core->progress_context, part, core->issued, "warp instructions"))
        ww_core_fail(core, ww_fail(core->error, WW_FAIL, "", "stopped as asked, after %llu warp instructions",
                                   (unsigned long long)core->issued));
}

uint64_t ww_core_next_cycle(const struct ww_core *core) {
    return next_cycle(core);
}

static inline void one_tick(struct ww_core *core, uint64_t cycle, uint64_t ps) {
    for (uint32_t g = 0; g < core->groups; g++)
        if (core->summary[g].sending) send_group(core, g, cycle);
    core->now_ps = ps;
    bool governor_acts = cycle >= core->governor_at;
    if (governor_acts) ww_governor_before(core, cycle);
    one_cycle(core, cycle);
    if (governor_acts) ww_governor_after(core, cycle);
    ww_core_report(core);
}

void ww_core_one_tick(struct ww_core *core, uint64_t cycle, uint64_t ps) {
    one_tick(core, cycle, ps);
}

/* Cycles follow one another here, without the queue, as long as no other event lies between them. Events of the
 * very time of a cycle come before it, unless the requests that are sent at its beginning lead to them. */
void ww_core_tick(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t cycle = next_cycle(core);
    core->ticking = true;
    while (cycle != WW_NEVER && core->code_failed == WW_OK) {
        uint64_t ps = ww_clock_time(&core->clock, cycle);
        if (ps > now_ps && ps >= ww_queue_next(core->queue)) break;
        uint64_t next = core->window ? ww_windows_run(core, cycle, ps) : cycle;
        if (next == cycle) {
            ww_queue_floor(core->queue, ps);
            one_tick(core, cycle, ps);
            next = next_cycle(core);
        }
        cycle = next;
    }
    core->ticking = false;
    core->tick_cycle = cycle;
    if (cycle != WW_NEVER && core->code_failed == WW_OK)
        ww_queue_add(core->queue, event, ww_clock_time(&core->clock, cycle));
}

void ww_core_epoch_end(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t length = core->epochs.length, cycle = (core->segments.cycle / length + 1) * length;
    ww_segments_cut(core, cycle, now_ps);
    if (alive(core)) ww_queue_add(core->queue, event, ww_clock_time(&core->clock, cycle + length));
}

/* The cycle in which something from outside takes effect: the next edge, one at this very time if it is still
 * to come. */
static uint64_t find_outside_cycle(const struct ww_core *core, uint64_t now_ps) {
    uint64_t time = ww_clock_time(&core->clock, core->now), cycle = core->now;
    if (time < now_ps) {
        if (ww_clock_time(&core->clock, cycle + 1) >= now_ps)
            cycle++;
        else
            cycle = ww_clock_cycle(&core->clock, now_ps);
    }
    return cycle <= core->now ? core->now + 1 : cycle;
}

/* The same; what comes at the same time as the last takes effect with it, if neither a cycle nor a change of
 * the clock lies between them. */
static inline uint64_t outside_cycle(struct ww_core *core, uint64_t now_ps) {
    struct ww_outside *last = &core->outside;
    if (last->ps != now_ps || last->core_cycle != core->now || last->origin_ps != core->clock.origin_ps)
        *last = (struct ww_outside){.ps = now_ps,
                                    .core_cycle = core->now,
                                    .origin_ps = core->clock.origin_ps,
                                    .cycle = find_outside_cycle(core, now_ps)};
    if (core->now < last->cycle - 1) last->core_cycle = core->now = last->cycle - 1;
    return last->cycle;
}

/* A message of the memory system waits here for the SM's next cycle. */
static struct ww_outbox *outbox_to(struct ww_core *core, uint32_t sm, uint64_t now_ps) {
    uint64_t cycle = outside_cycle(core, now_ps);
    core->last_reply_ps = now_ps;
    uint32_t group = sm >> core->group_shift;
    core->posted[cycle & 1][group] |= 1ull << (sm - (group << core->group_shift));
    if (!core->ticking && cycle < core->tick_cycle) {
        core->tick_cycle = cycle;
        ww_queue_earlier(core->queue, &core->tick, ww_clock_time(&core->clock, cycle));
    }
    return &core->outbox[2 * sm + (cycle & 1)];
}

static bool grow(struct ww_core *core, struct ww_outbox *box) {
    uint32_t capacity = box->capacity ? 2 * box->capacity : 8;
    struct ww_mem_reply *grown = realloc(box->reply, capacity * sizeof *grown);
    if (!grown) {
        ww_core_fail(core, ww_fail_nomem(core->error, "replies of the memory system"));
        return false;
    }
    box->reply = grown;
    box->capacity = capacity;
    return true;
}

bool ww_core_post(struct ww_core *core, struct ww_outbox *box, const struct ww_mem_reply *reply) {
    if (box->count == box->capacity && !grow(core, box)) return false;
    box->reply[box->count++] = *reply;
    return true;
}

void ww_core_reply(void *owner, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct ww_core *core = owner;
    struct ww_outbox *box = outbox_to(core, sm, now_ps);
    core->replies++;
    ww_core_post(core, box, reply);
    ww_l1_prefetch_entry(&core->sm[sm], reply);
}

void ww_core_tell(struct ww_core *core, uint64_t now_ps, uint64_t end) {
    uint64_t cycle = find_outside_cycle(core, now_ps);
    struct ww_memsys_told told = ww_memsys_tell(core->memory, end, core->group_shift, core->posted[cycle & 1]);
    if (!told.count) return;
    core->replies += told.count;
    core->last_reply_ps = told.ps;
    if (told.to_take) outside_cycle(core, now_ps);
}

void ww_core_unblocked(void *owner, uint16_t sm, uint64_t now_ps) {
    outbox_to(owner, sm, now_ps)->unblocked = true;
}

void ww_core_released(struct ww_core *core, uint32_t sm, uint32_t warp, uint64_t now_ps) {
    outbox_to(core, (uint16_t)sm, now_ps)->released |= 1ull << warp;
}
