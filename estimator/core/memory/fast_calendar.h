/* fast_calendar.h: reservations of a resource, for fast replay (fast.h).
 *
 * A calendar is the bandwidth of a port, a bus or a rate: how much of each window of time is taken.
 * Reservations are made in any order of time: a later call can still reserve free bandwidth at an earlier time,
 * which a single "free from" would not allow. Places of a pool (MSHRs, entries of a queue) are counted by the
 * window in which they become free.
 *
 * Both remember so many windows, up to the latest that was asked for; what is asked of a time before them is
 * granted at once. Zeroed memory is an empty calendar, and with a limit an empty pool. */
#ifndef WW_CORE_FAST_CALENDAR_H
#define WW_CORE_FAST_CALENDAR_H

#include <stdint.h>
#include <string.h>

#define WW_CALENDAR_WINDOWS 1024u
#define WW_CALENDAR_SHIFT 3 /* log2 of a window's cycles */
#define WW_CALENDAR_UNIT 8  /* log2 of the units of a cycle */
#define WW_CALENDAR_FULL (1u << (WW_CALENDAR_SHIFT + WW_CALENDAR_UNIT))

struct ww_calendar {
    uint64_t first;                     /* window that is remembered */
    uint64_t full_from, full_to;        /* windows in a row that are known to be full */
    uint16_t used[WW_CALENDAR_WINDOWS]; /* units; the ring's windows from `first` on */
};

/* Lets the calendar reach window n, which is in the future of all of its windows. */
static __attribute__((noinline)) void ww_calendar_reach(struct ww_calendar *c, uint64_t n) {
    const uint64_t half = WW_CALENDAR_WINDOWS / 2;
    uint64_t first = (n & ~(half - 1)) - half; /* halves of the ring at a time */
    if (first >= c->first + 2 * half)
        memset(c->used, 0, sizeof c->used);
    else if (first > c->first)
        memset(&c->used[c->first & half], 0, half * sizeof *c->used);
    c->first = first;
}

/* Window n, which is not before those that are remembered. */
static inline uint16_t *ww_calendar_at(struct ww_calendar *c, uint64_t n) {
    if (n >= c->first + WW_CALENDAR_WINDOWS) ww_calendar_reach(c, n);
    return &c->used[n & (WW_CALENDAR_WINDOWS - 1)];
}

/* The first window from n on that is not known to be full. */
static inline uint64_t ww_calendar_skip(const struct ww_calendar *c, uint64_t n) {
    return n >= c->full_from && n < c->full_to ? c->full_to : n;
}

/* The first window from n on, which is remembered, that is not full. */
static inline uint64_t ww_calendar_window(struct ww_calendar *c, uint64_t n) {
    while (*ww_calendar_at(c, n) >= WW_CALENDAR_FULL) {
        if (n != c->full_to) c->full_from = n;
        c->full_to = ++n;
    }
    return n;
}

/* The cycle, `cycle` or later, at which something is free; nothing is taken. */
static inline uint64_t ww_calendar_free(struct ww_calendar *c, uint64_t cycle) {
    uint64_t n = ww_calendar_skip(c, cycle >> WW_CALENDAR_SHIFT);
    if (n < c->first) return cycle;
    n = ww_calendar_window(c, n);
    uint64_t begin = (n << WW_CALENDAR_SHIFT) + (*ww_calendar_at(c, n) >> WW_CALENDAR_UNIT);
    return begin > cycle ? begin : cycle;
}

/* As ww_calendar_take, where the window of `cycle` is not remembered or has not room for all of it. */
static __attribute__((noinline)) uint64_t ww_calendar_take_later(struct ww_calendar *c, uint64_t cycle,
                                                                 uint32_t units) {
    uint64_t n = ww_calendar_skip(c, cycle >> WW_CALENDAR_SHIFT);
    if (n < c->first) return cycle;
    n = ww_calendar_window(c, n);
    uint16_t *used = &c->used[n & (WW_CALENDAR_WINDOWS - 1)];
    uint64_t begin = (n << WW_CALENDAR_SHIFT) + (*used >> WW_CALENDAR_UNIT);
    while (*used + units > WW_CALENDAR_FULL) {
        units -= WW_CALENDAR_FULL - *used;
        *used = WW_CALENDAR_FULL;
        do used = ww_calendar_at(c, ++n);
        while (*used >= WW_CALENDAR_FULL);
    }
    *used = (uint16_t)(*used + units);
    return begin > cycle ? begin : cycle;
}

/* Takes `units` from `cycle` on, as soon as there are any; returns the cycle at which they begin. */
static inline uint64_t ww_calendar_take(struct ww_calendar *c, uint64_t cycle, uint32_t units) {
    uint64_t n = cycle >> WW_CALENDAR_SHIFT;
    uint16_t *window = &c->used[n & (WW_CALENDAR_WINDOWS - 1)];
    uint32_t used = *window;
    if (n - c->first >= WW_CALENDAR_WINDOWS || used + units > WW_CALENDAR_FULL)
        return ww_calendar_take_later(c, cycle, units);
    *window = (uint16_t)(used + units);
    uint64_t begin = (n << WW_CALENDAR_SHIFT) + (used >> WW_CALENDAR_UNIT);
    return begin > cycle ? begin : cycle;
}

/* Takes what is free between two cycles. */
static inline void ww_calendar_hold(struct ww_calendar *c, uint64_t from, uint64_t until) {
    uint64_t n = from >> WW_CALENDAR_SHIFT, last = until >> WW_CALENDAR_SHIFT;
    if (n < c->first) n = c->first;
    if (last < n) return;
    if (last > n + WW_CALENDAR_WINDOWS / 4) last = n + WW_CALENDAR_WINDOWS / 4;
    for (; n < last; n++) *ww_calendar_at(c, n) = WW_CALENDAR_FULL;
    uint32_t part = (uint32_t)(until & ((1u << WW_CALENDAR_SHIFT) - 1)) << WW_CALENDAR_UNIT;
    uint16_t *used = ww_calendar_at(c, last);
    if (*used < part) *used = (uint16_t)part;
}

#define WW_PLACES_WINDOWS 1024u
#define WW_PLACES_SHIFT 4 /* log2 of a window's cycles */

struct ww_places {
    uint64_t now;                      /* window: what becomes free by then has done so */
    uint64_t seen;                     /* the latest that was asked about: `now` follows when need be */
    uint64_t full_from, full_to;       /* cycles between which all have been taken */
    uint32_t used, limit;              /* used: in window `now`, at least what is used later */
    uint16_t leave[WW_PLACES_WINDOWS]; /* ring, behind `now` */
};

/* Places become free that do so up to window n. */
static inline void ww_places_pass(struct ww_places *p, uint64_t n) {
    while (p->now < n && p->used) {
        uint16_t *leave = &p->leave[++p->now & (WW_PLACES_WINDOWS - 1)];
        p->used -= *leave;
        *leave = 0;
    }
    if (p->now < n) p->now = n;
}

/* As ww_places_free, where so many may not be free from `begin` on. */
static __attribute__((noinline)) uint64_t ww_places_wait(struct ww_places *p, uint32_t count, uint64_t cycle,
                                                         uint64_t begin) {
    ww_places_pass(p, p->seen);
    if (!p->used || p->used + count <= p->limit) return begin;
    while (p->used && p->used + count > p->limit) ww_places_pass(p, p->now + 1);
    p->seen = p->now;
    if (begin != p->full_to) p->full_from = cycle;
    p->full_to = p->now << WW_PLACES_SHIFT;
    return p->full_to > cycle ? p->full_to : cycle;
}

/* The first cycle from `cycle` on at which `count` places are free, or all. */
static inline uint64_t ww_places_free(struct ww_places *p, uint32_t count, uint64_t cycle) {
    uint64_t begin = cycle, seen = p->seen;
    if (cycle < p->full_to && cycle >= p->full_from) begin = p->full_to;
    p->seen = begin >> WW_PLACES_SHIFT > seen ? begin >> WW_PLACES_SHIFT : seen;
    return p->used + count <= p->limit ? begin : ww_places_wait(p, count, cycle, begin);
}

/* Places that are taken at a cycle, or later. */
static inline uint32_t ww_places_used(struct ww_places *p, uint64_t cycle) {
    if (cycle >> WW_PLACES_SHIFT > p->seen) p->seen = cycle >> WW_PLACES_SHIFT;
    ww_places_pass(p, p->seen);
    return p->used;
}

/* Takes places until a cycle. */
static inline void ww_places_take(struct ww_places *p, uint32_t count, uint64_t until) {
    uint64_t n = (until + (1u << (WW_PLACES_SHIFT - 1))) >> WW_PLACES_SHIFT;
    if (n <= p->seen) return;
    if (n >= p->now + WW_PLACES_WINDOWS) {
        ww_places_pass(p, p->seen);
        if (n >= p->now + WW_PLACES_WINDOWS) n = p->now + WW_PLACES_WINDOWS - 1;
    }
    uint16_t *leave = &p->leave[n & (WW_PLACES_WINDOWS - 1)];
    *leave = (uint16_t)(*leave + count);
    p->used += count;
}

#endif
