/* A calendar of short buckets with a bitmap over them, and one list for what lies beyond it.
 *
 * Buckets are much shorter than a clock period, so that a bucket holds, as a rule, the events of one clock
 * edge and an event is appended to its list without a walk. The ring covers [base, base + BUCKETS) bucket
 * numbers; base is the bucket of the event fired last, so every bucket of the ring has one meaning. A bucket is
 * one pointer, to the last event of a circular list: the ring takes few lines of the host's caches.
 */
#include "event.h"
#include "../../base/ahead.h"
#include <assert.h>
#include <stdlib.h>

enum { BUCKETS = 1024, WORDS = BUCKETS / 64 };
enum { HOST_LINE = 64, LINES_AHEAD = 8 };
#define FAR_BUCKET UINT32_MAX
/* A place in a keyed order: the time of scheduling, whether that was late, a number. */
#define NUMBER_BITS 17
#define LATE ((uint64_t)1 << NUMBER_BITS)
#define TIME_END ((uint64_t)1 << (63 - NUMBER_BITS)) /* ps: 70 s; later events are scheduled in time only */

struct ww_queue {
    struct ww_event *ring[BUCKETS]; /* the last event of each bucket, whose `next` is the first; NULL: empty */
    uint64_t used[WORDS];           /* bit per bucket that holds an event */
    uint64_t words;                 /* bit per word of `used` that is not 0 */
    struct ww_event *far;           /* beyond the ring, in no order */
    uint64_t far_first;             /* lowest bucket number in `far`, UINT64_MAX if empty */
    uint64_t base;                  /* bucket number of `now` */
    uint64_t now;
    uint64_t floor;
    uint64_t order;  /* next place in the order of scheduling, */
    uint64_t late;   /* and of what is scheduled late */
    uint64_t *place; /* the one of these that counts now */
    bool keyed;
    unsigned shift; /* log2 of the bucket length in ps */
};

static bool before(const struct ww_event *a, const struct ww_event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

struct ww_queue *ww_queue_new(uint64_t bucket_ps) {
    struct ww_queue *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    while (q->shift < 24 && (uint64_t)4 << (q->shift + 1) <= bucket_ps) q->shift++;
    q->far_first = UINT64_MAX;
    q->place = &q->order;
    return q;
}

void ww_queue_free(struct ww_queue *q) {
    free(q);
}

/* Behind those of the list that come before it; its last one does not. */
static __attribute__((noinline)) void insert_sorted(struct ww_event *last, struct ww_event *e) {
    struct ww_event *previous = last;
    while (before(previous->next, e)) previous = previous->next;
    e->next = previous->next;
    previous->next = e;
}

static __attribute__((noinline)) void first_of_bucket(struct ww_queue *q, struct ww_event *e, uint32_t index) {
    e->next = q->ring[index] = e;
    q->used[index / 64] |= (uint64_t)1 << (index % 64);
    q->words |= (uint64_t)1 << (index / 64);
}

static inline void ring_add(struct ww_queue *q, struct ww_event *e) {
    uint32_t index = (uint32_t)(e->time >> q->shift) % BUCKETS;
    struct ww_event *last = q->ring[index];
    e->bucket = index;
    if (!last) {
        first_of_bucket(q, e, index);
    } else if (before(last, e)) {
        e->next = last->next;
        last->next = q->ring[index] = e;
    } else {
        insert_sorted(last, e);
    }
}

static __attribute__((noinline)) void far_add(struct ww_queue *q, struct ww_event *e) {
    uint64_t number = e->time >> q->shift;
    e->bucket = FAR_BUCKET;
    e->next = q->far;
    q->far = e;
    if (number < q->far_first) q->far_first = number;
}

/* Of a keyed queue: places rise with the time of scheduling; within a time they are numbers. */
static inline void order_by_time(struct ww_queue *q) {
    uint64_t ps = q->now > q->floor ? q->now : q->floor, place = ps << (NUMBER_BITS + 1);
    if (q->keyed && ps < TIME_END && place > q->order) q->order = place;
}

static inline uint64_t next_place(struct ww_queue *q) {
    return (*q->place)++;
}

static inline void add_at(struct ww_queue *q, struct ww_event *e, uint64_t time, uint64_t place) {
    assert(time >= q->now);
    e->time = time;
    e->order = place;
    e->queued = true;
    if ((time >> q->shift) - q->base < BUCKETS)
        ring_add(q, e);
    else
        far_add(q, e);
}

static inline void add(struct ww_queue *q, struct ww_event *e, uint64_t time) {
    add_at(q, e, time, e->last ? UINT64_MAX : next_place(q));
}

void ww_queue_add(struct ww_queue *q, struct ww_event *e, uint64_t time) {
    assert(!e->queued);
    add(q, e, time);
}

void ww_queue_floor(struct ww_queue *q, uint64_t time) {
    q->floor = time;
    order_by_time(q);
}

static void clear_bucket(struct ww_queue *q, uint32_t index) {
    q->ring[index] = NULL;
    q->used[index / 64] &= ~((uint64_t)1 << (index % 64));
    if (!q->used[index / 64]) q->words &= ~((uint64_t)1 << (index / 64));
}

static void far_remove(struct ww_queue *q, struct ww_event *e) {
    struct ww_event **link = &q->far;
    while (*link != e) link = &(*link)->next;
    *link = e->next;
    q->far_first = UINT64_MAX;
    for (struct ww_event *f = q->far; f; f = f->next)
        if (f->time >> q->shift < q->far_first) q->far_first = f->time >> q->shift;
}

void ww_queue_cancel(struct ww_queue *q, struct ww_event *e) {
    if (!e->queued) return;
    e->queued = false;
    if (e->bucket == FAR_BUCKET) {
        far_remove(q, e);
        return;
    }
    struct ww_event *last = q->ring[e->bucket], *previous = last;
    while (previous->next != e) previous = previous->next;
    if (previous == e) {
        clear_bucket(q, e->bucket);
        return;
    }
    previous->next = e->next;
    if (last == e) q->ring[e->bucket] = previous;
}

static __attribute__((noinline)) void move_to(struct ww_queue *q, struct ww_event *e, uint64_t time) {
    ww_queue_cancel(q, e);
    add(q, e, time);
}

void ww_queue_earlier(struct ww_queue *q, struct ww_event *e, uint64_t time) {
    if (time < q->floor) time = q->floor;
    if (!e->queued)
        add(q, e, time);
    else if (e->time > time)
        move_to(q, e, time);
}

void ww_queue_keyed(struct ww_queue *q) {
    q->keyed = true;
    order_by_time(q);
}

void ww_queue_late(struct ww_queue *q, uint64_t ps) {
    uint64_t place = ps << (NUMBER_BITS + 1) | LATE;
    if (place > q->late) q->late = place;
    q->place = &q->late;
}

void ww_queue_on_time(struct ww_queue *q) {
    q->place = &q->order;
}

uint64_t ww_queue_place(struct ww_queue *q) {
    return q->keyed ? next_place(q) : 0;
}

void ww_queue_earlier_since(struct ww_queue *q, struct ww_event *e, uint64_t time, uint64_t place) {
    if (q->place != &q->late) {
        ww_queue_earlier(q, e, time);
        return;
    }
    if (q->late > place) place = q->late;
    q->late++;
    if (e->queued && (e->time < time || (e->time == time && e->order <= place))) return;
    ww_queue_cancel(q, e);
    add_at(q, e, time, place);
}

bool ww_queue_takes_late(const struct ww_queue *q, uint64_t ps) {
    return q->keyed && ps < TIME_END / 2;
}

/* First used bucket of a word behind that of `from`, the ring's end being followed by its start; BUCKETS if
 * none.
 */
static __attribute__((noinline)) uint32_t scan(const struct ww_queue *q, uint32_t from) {
    uint64_t behind = q->words & UINT64_MAX << (from / 64) << 1, words = behind ? behind : q->words;
    if (!words) return BUCKETS;
    uint32_t word = (uint32_t)__builtin_ctzll(words);
    return word * 64 + (uint32_t)__builtin_ctzll(q->used[word]);
}

/* Ring index of the earliest bucket in use, BUCKETS if the ring is empty. */
static inline uint32_t first_bucket(const struct ww_queue *q) {
    uint32_t from = (uint32_t)q->base % BUCKETS;
    uint64_t bits = q->used[from / 64] >> (from % 64);
    if (bits) return from + (uint32_t)__builtin_ctzll(bits);
    return scan(q, from);
}

/* Moves the ring's start to the first far event and takes in every far event that it then covers. */
static void take_far(struct ww_queue *q) {
    struct ww_event *list = q->far;
    q->base = q->far_first;
    q->far = NULL;
    q->far_first = UINT64_MAX;
    while (list) {
        struct ww_event *e = list;
        list = e->next;
        if ((e->time >> q->shift) - q->base < BUCKETS)
            ring_add(q, e);
        else
            far_add(q, e);
    }
}

/* The host loads an event that fires soon and what its owner has behind it. */
WW_AHEAD prefetch_owner(const struct ww_event *e) {
    for (int line = 0; line < LINES_AHEAD; line++) __builtin_prefetch((const char *)e + line * HOST_LINE, 1);
}

/* Bucket of the next event, which the ring holds then; BUCKETS: there is none. */
static inline uint32_t next_bucket(struct ww_queue *q) {
    uint32_t index = first_bucket(q);
    if (!q->far || (index != BUCKETS && q->far_first > q->ring[index]->next->time >> q->shift)) return index;
    take_far(q);
    return first_bucket(q);
}

/* Takes the first event out of the bucket. */
static inline struct ww_event *take_first(struct ww_queue *q, uint32_t index) {
    struct ww_event *last = q->ring[index], *e = last->next;
    last->next = e->next;
    if (e == last)
        clear_bucket(q, index);
    else
        prefetch_owner(last->next);
    e->queued = false;
    return e;
}

/* Fires the first event of the bucket. */
static inline void fire(struct ww_queue *q, uint32_t index) {
    struct ww_event *e = take_first(q, index);
    if (e->time != q->now) {
        q->now = e->time;
        q->base = e->time >> q->shift;
        order_by_time(q);
    }
    e->fn(e->owner, e, e->time);
}

bool ww_queue_step(struct ww_queue *q) {
    uint32_t index = next_bucket(q);
    if (index == BUCKETS) return false;
    fire(q, index);
    return true;
}

static inline bool step_by(struct ww_queue *q, uint64_t time) {
    uint32_t index = first_bucket(q);
    if (q->far && (index == BUCKETS || q->far_first <= q->ring[index]->next->time >> q->shift)) {
        if (ww_queue_next(q) > time) return false; /* the ring does not move for it */
        index = next_bucket(q);
    }
    if (index == BUCKETS || q->ring[index]->next->time > time) return false;
    fire(q, index);
    return true;
}

bool ww_queue_step_by(struct ww_queue *q, uint64_t time) {
    return step_by(q, time);
}

/* Fires the other events of this time. False: the counts have become 0. */
static inline bool fire_others(struct ww_queue *q, const uint64_t *live, const uint32_t *under_way) {
    const uint32_t index = (uint32_t)q->base % BUCKETS;
    const uint64_t now = q->now;
    while (*live || *under_way) {
        if (!q->ring[index] || q->ring[index]->next->time != now) return true;
        struct ww_event *e = take_first(q, index);
        e->fn(e->owner, e, now);
    }
    return false;
}

void ww_queue_run_by(struct ww_queue *q, uint64_t time, const uint64_t *live, const uint32_t *under_way) {
    if (!*live && !*under_way) return;
    while (step_by(q, time))
        if (!fire_others(q, live, under_way)) return;
}

uint64_t ww_queue_now(const struct ww_queue *q) {
    return q->now;
}

uint64_t ww_queue_next(const struct ww_queue *q) {
    uint32_t index = first_bucket(q);
    uint64_t next = index == BUCKETS ? UINT64_MAX : q->ring[index]->next->time;
    for (const struct ww_event *e = q->far; e; e = e->next)
        if (e->time < next) next = e->time;
    return next;
}

static uint64_t period_of(double mhz) {
    double period = 1e6 / mhz * 65536.0;
    return period < 1 ? 1 : (uint64_t)(period + 0.5);
}

void ww_clock_init(struct ww_clock *c, double mhz) {
    c->period_fp = period_of(mhz);
    c->per_ps = 65536.0 / (double)c->period_fp;
    c->origin_ps = 0;
    c->origin_cycle = 0;
}

void ww_clock_set(struct ww_clock *c, double mhz, uint64_t now_ps) {
    uint64_t cycle = ww_clock_cycle(c, now_ps), period = period_of(mhz);
    uint64_t left_ps = ww_clock_time(c, cycle) - now_ps;
    /* The part of the running cycle that is left takes the new period's time. */
    double scaled = (double)left_ps * (double)period / (double)c->period_fp;
    c->origin_ps = now_ps + (uint64_t)(scaled + 0.5);
    c->origin_cycle = cycle;
    c->period_fp = period;
    c->per_ps = 65536.0 / (double)period;
}

uint64_t ww_clock_cycle_far(const struct ww_clock *c, uint64_t ps) {
    if (ps <= c->origin_ps) return c->origin_cycle;
    uint64_t elapsed = ps - c->origin_ps;
    /* floor(k * period / 2^16) >= elapsed  <=>  k >= elapsed * 2^16 / period */
    if (elapsed <= UINT64_MAX >> 17)
        return c->origin_cycle + ((elapsed << 16) + c->period_fp - 1) / c->period_fp;
    uint64_t whole = elapsed / c->period_fp, rest = elapsed % c->period_fp; /* of 2^16 periods */
    return c->origin_cycle + (whole << 16) + ((rest << 16) + c->period_fp - 1) / c->period_fp;
}
