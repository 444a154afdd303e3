/* event.h: the engine's one clock and its event queue.
 *
 * Time is integer picoseconds. Events fire in order of (time, order of scheduling), so that results do not
 * depend on the queue's shape; one event, the SMs' edge, may be the last of its time. An event is a small
 * record embedded in, or indexed by, its owner: nothing is allocated in the loop.
 */
#ifndef WW_CORE_EVENT_H
#define WW_CORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ww_event;
typedef void (*ww_event_fn)(void *owner, struct ww_event *event, uint64_t now_ps);

/* Embedded in its owner. The owner sets fn, owner and last once; link fields are the queue's. */
struct ww_event {
    ww_event_fn fn;
    void *owner;
    uint64_t time; /* valid while queued */
    uint64_t order;
    struct ww_event *next;
    uint32_t bucket;
    bool queued;
    bool last; /* it fires after all others of its time; one event of a queue may be so */
};

/* The event fires at `time` or before: to schedule it then would change nothing. */
static inline bool ww_event_is_by(const struct ww_event *e, uint64_t time) {
    return e->queued && e->time <= time;
}

struct ww_queue;
/* bucket_ps: granularity of the calendar, about the shortest clock period. NULL: out of memory. */
struct ww_queue *ww_queue_new(uint64_t bucket_ps);
void ww_queue_free(struct ww_queue *q);
/* Schedules e at `time` >= now; e must not be queued. */
void ww_queue_add(struct ww_queue *q, struct ww_event *e, uint64_t time);
/* From now on ww_queue_earlier takes no time before `time`, but that one instead. */
void ww_queue_floor(struct ww_queue *q, uint64_t time);
/* If e is queued at a later time, or not at all, schedules it at `time`. */
void ww_queue_earlier(struct ww_queue *q, struct ww_event *e, uint64_t time);
/* From now on the order of scheduling can be told from the time of it, so that events can be scheduled late; to
 * be called before the first one is. */
void ww_queue_keyed(struct ww_queue *q);
/* Until ww_queue_on_time, events are scheduled as if it were `ps` (which does not fall) and all events of that
 * time had fired. */
void ww_queue_late(struct ww_queue *q, uint64_t ps);
void ww_queue_on_time(struct ww_queue *q);
/* Takes the place in the order of scheduling that the next event would have; 0 if the queue is not keyed. */
uint64_t ww_queue_place(struct ww_queue *q);
/* As ww_queue_earlier; late, as if it had been scheduled no earlier than at the place. */
void ww_queue_earlier_since(struct ww_queue *q, struct ww_event *e, uint64_t time, uint64_t place);
/* Whether late events can be told from others at time ps. */
bool ww_queue_takes_late(const struct ww_queue *q, uint64_t ps);
void ww_queue_cancel(struct ww_queue *q, struct ww_event *e);
/* Fires the next event; false if none is left. */
bool ww_queue_step(struct ww_queue *q);
/* The same if its time is not after `time`. */
bool ww_queue_step_by(struct ww_queue *q, uint64_t time);
/* All of these, as long as one of the two counts is not 0. */
void ww_queue_run_by(struct ww_queue *q, uint64_t time, const uint64_t *live, const uint32_t *under_way);
uint64_t ww_queue_now(const struct ww_queue *q);
/* Time of the next event, UINT64_MAX if none. */
uint64_t ww_queue_next(const struct ww_queue *q);

/* A clock domain: edges at start_ps + k * period, the period in 1/2^16 ps so that no frequency drifts by
 * more than 1e-7 (2e-8 below 2 GHz). A frequency change takes effect at the time of the call. */
struct ww_clock {
    uint64_t period_fp; /* ps << 16 */
    double per_ps;      /* cycles */
    uint64_t origin_ps;
    uint64_t origin_cycle;
};
void ww_clock_init(struct ww_clock *c, double mhz);
void ww_clock_set(struct ww_clock *c, double mhz, uint64_t now_ps);
/* Time of the edge of `cycle`; the first edge at or after a time; cycles are counted from launch start. */
static inline uint64_t ww_clock_time(const struct ww_clock *c, uint64_t cycle) {
    return c->origin_ps + (((cycle - c->origin_cycle) * c->period_fp) >> 16);
}
uint64_t ww_clock_cycle_far(const struct ww_clock *c, uint64_t ps); /* as ww_clock_cycle; it divides */
/* Smallest cycle with time >= ps: the nearest one to it, or the next. */
static inline uint64_t ww_clock_cycle(const struct ww_clock *c, uint64_t ps) {
    uint64_t elapsed = ps - c->origin_ps;
    if (ps <= c->origin_ps) return c->origin_cycle;
    if (elapsed >> 46) return ww_clock_cycle_far(c, ps);
    uint64_t k = (uint64_t)(int64_t)((double)(int64_t)elapsed * c->per_ps + 0.5);
    return c->origin_cycle + k + ((k * c->period_fp >> 16) < elapsed);
}

/* The cycle of a time that many ask for one after another; all zero at first. */
struct ww_clock_note {
    uint64_t ps, cycle, origin_ps, period_fp;
};
/* As ww_clock_cycle. */
static inline uint64_t ww_clock_noted_cycle(struct ww_clock_note *n, const struct ww_clock *c, uint64_t ps) {
    if (n->ps != ps || n->origin_ps != c->origin_ps || n->period_fp != c->period_fp)
        *n = (struct ww_clock_note){ps, ww_clock_cycle(c, ps), c->origin_ps, c->period_fp};
    return n->cycle;
}

#endif
