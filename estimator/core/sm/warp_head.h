/* warp_head.h: the states of a warp and the first look at its next instruction; inline, since every
 * instruction passes here once or twice. */
#ifndef WW_CORE_WARP_HEAD_H
#define WW_CORE_WARP_HEAD_H

#include "../../result/result.h"
#include "booked.h"
#include "sm.h"

/* The slot cause (enum ww_slot) that a warp in a state gives its scheduler. */
extern const uint8_t ww_slot_cause[WW_STATE_COUNT];

/* A warp that is ready is a cause by its group: see ww_sched_causes. */
static inline bool ww_cause_counts(uint32_t cause) {
    return cause != WW_SLOT_EXCESS_MEM && cause != WW_SLOT_EXCESS_ALU;
}

static inline void ww_cause_add(struct ww_sched *s, uint32_t cause) {
    if (ww_cause_counts(cause) && s->cause_count[cause]++ == 0) s->causes |= 1u << cause;
}

/* Slot causes that are none of the short ones: see ww_sched_view.waiting_long. */
#define WW_LONG_CAUSES                                                                                         \
    (1u << WW_SLOT_WAIT_MEM | 1u << WW_SLOT_BARRIER | 1u << WW_SLOT_SYNC | 1u << WW_SLOT_SMEM_WAIT |           \
     1u << WW_SLOT_DMA_WAIT | 1u << WW_SLOT_PAUSED | 1u << WW_SLOT_DRAIN)

static inline void ww_cause_remove(struct ww_sched *s, uint32_t cause) {
    if (ww_cause_counts(cause) && --s->cause_count[cause] == 0) s->causes &= ~(1u << cause);
}

/* Moves to another state at `cycle`; the time before is counted. */
static inline void ww_warp_set_state(struct ww_sm *sm, struct ww_warp *w, uint32_t state, uint64_t cycle) {
    ww_warp_count(sm, w, cycle);
    uint32_t old = ww_slot_cause[w->state], new = ww_slot_cause[state];
    struct ww_sched *s = &sm->sched[w->sched];
    if (old != new) ww_issue_count(s, cycle); /* by the states before */
    w->state = (uint8_t)state;
    if (old == new) return;
    ww_cause_remove(s, old);
    ww_cause_add(s, new);
    if ((WW_LONG_CAUSES >> old ^ WW_LONG_CAUSES >> new) & 1) s->view.waiting_long ^= 1ull << w->slot;
}

static inline uint64_t ww_later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The scoreboard entry that decides when an instruction's operands are there. */
static inline uint64_t ww_head_entry(const struct ww_warp *w, const struct ww_dinst *d) {
    const uint16_t *r = d->check;
    const uint64_t *board = w->board;
    if (!d->check_count) return 0;
    uint64_t latest = ww_later(ww_later(board[r[0]], board[r[1]]), ww_later(board[r[2]], board[r[3]]));
    if (WW_UNLIKELY(d->check_count > WW_LOOK))
        for (uint32_t i = WW_LOOK; i < d->check_count; i++) latest = ww_later(latest, board[r[i]]);
    return latest;
}

/* Wakes the warp in `cycle`, or as late as the wheel reaches. */
static inline void ww_wake_at(struct ww_sm *sm, const struct ww_warp *w, uint64_t cycle) {
    uint64_t most = sm->now + WW_WHEEL_SPAN;
    if (WW_LIKELY(cycle <= most))
        most = cycle;
    else if (sm->booked && ww_booked_wake(sm->booked, w->number, cycle))
        return;
    ww_wheel_set(&sm->wheel, most, w->number);
}

/* The warp's head has its operands. A scheduler that issues greedily does nothing before its unit is free. */
static inline void ww_make_ready(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[w->sched];
    const struct ww_dinst *d = w->head;
    uint32_t group = d->group, old = ww_slot_cause[w->state];
    uint64_t at = cycle;
    ww_warp_count(sm, w, cycle);
    if (old != ww_slot_cause[d->excess]) {
        ww_issue_count(s, cycle); /* by the states before */
        ww_cause_remove(s, old);
        s->view.waiting_long &= ~(1ull << w->slot);
    }
    w->state = d->excess;
    w->group = (uint8_t)group;
    ww_ready_add(s, w->slot, group);
    if (sm->plain) at = ww_later(ww_later(s->unit_free[group], s->next_issue), cycle);
    ww_sched_try(sm, s, at);
    sm->became_ready = true;
}

/* The head's operands are there at the time of the board's entry: the warp is ready, or waits for them. */
static inline void ww_head_wait(struct ww_sm *sm, struct ww_warp *w, uint64_t entry, uint64_t cycle) {
    uint64_t at = WW_SB_CYCLE(entry);
    if (at <= cycle) {
        ww_make_ready(sm, w, cycle);
        return;
    }
    ww_warp_set_state(sm, w, WW_SB_STATE(entry), cycle);
    w->operands_at = at;
    if (at == WW_NEVER)
        w->pending = true;
    else
        ww_wake_at(sm, w, at);
}

/* Looks at the head at `cycle`: the warp becomes ready, or waits for its wake-up cycle, or for a reply. */
static inline void ww_head_look(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    uint32_t inst = w->step->inst;
    ww_warp_count(sm, w, cycle);
    if (w->front > cycle) {
        if ((w->front_state >= WW_S_NO_INST && w->front_state <= WW_S_NO_INST_L15) ||
            w->front_state == WW_S_WAIT_STALL)
            w->counts = &sm->core->epochs.inst[inst];
        ww_warp_set_state(sm, w, w->front_state, cycle);
        ww_wake_at(sm, w, w->front);
        return;
    }
    w->head = &sm->core->code.inst[inst];
    w->counts = &sm->core->epochs.inst[inst];
    uint64_t entry = w->unseen ? ww_depend_unseen(w, w->head, w->unseen) : ww_head_entry(w, w->head);
    w->unseen = 0;
    ww_head_wait(sm, w, entry, cycle);
}

/* A wake-up at `cycle`. Nothing writes a register that the head needs once all of them have a time. */
static inline void ww_head_wake(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    if (w->operands_at == cycle)
        ww_make_ready(sm, w, cycle);
    else
        ww_head_look(sm, w, cycle);
}

#endif
