/* fast_calendar.h: reservations of a resource, for fast replay (fast.h).
 *
 * A calendar is the bandwidth of a port, a bus or a rate: how much of each window of time is taken.
 * Reservations are made in any order of time: a later call can still reserve free bandwidth at an earlier time,
 * which a single "free from" would not allow. Pools count the places that are taken in each window. */
#ifndef WW_CORE_FAST_CALENDAR_H
#define WW_CORE_FAST_CALENDAR_H

#include <stdint.h>

#define WW_CALENDAR_WINDOWS 512u /* that are remembered: beyond them, the oldest are overwritten */
#define WW_CALENDAR_SHIFT 3      /* log2 of a window's cycles */
#define WW_CALENDAR_UNIT 8       /* log2 of the units of a cycle */
#define WW_CALENDAR_FULL (1u << (WW_CALENDAR_SHIFT + WW_CALENDAR_UNIT))

struct ww_window {
    uint32_t number;
    uint32_t used; /* units, or places */
};

struct ww_calendar {
    uint64_t full_from, full_to; /* windows in a row that are known to be full */
    struct ww_window window[WW_CALENDAR_WINDOWS];
};

/* A window's place in a ring of so many, which is its own after that. */
static inline struct ww_window *ww_window_of(struct ww_window *ring, uint32_t windows, uint64_t number) {
    struct ww_window *w = &ring[number & (windows - 1)];
    if (w->number != (uint32_t)number) *w = (struct ww_window){.number = (uint32_t)number};
    return w;
}

/* The first window that is not full, from that of `cycle` on. */
static inline uint64_t ww_calendar_window(struct ww_calendar *c, uint64_t cycle) {
    uint64_t n = cycle >> WW_CALENDAR_SHIFT;
    if (n >= c->full_from && n < c->full_to) n = c->full_to;
    while (ww_window_of(c->window, WW_CALENDAR_WINDOWS, n)->used >= WW_CALENDAR_FULL) {
        if (n != c->full_to) c->full_from = n;
        c->full_to = ++n;
    }
    return n;
}

/* The cycle, `cycle` or later, at which something is free; nothing is taken. */
static inline uint64_t ww_calendar_free(struct ww_calendar *c, uint64_t cycle) {
    uint64_t n = ww_calendar_window(c, cycle), begin = n << WW_CALENDAR_SHIFT;
    begin += c->window[n & (WW_CALENDAR_WINDOWS - 1)].used >> WW_CALENDAR_UNIT;
    return begin > cycle ? begin : cycle;
}

/* Takes `units` from `cycle` on, as soon as there are any; returns the cycle at which they begin. */
static inline uint64_t ww_calendar_take(struct ww_calendar *c, uint64_t cycle, uint32_t units) {
    uint64_t n = ww_calendar_window(c, cycle);
    struct ww_window *w = &c->window[n & (WW_CALENDAR_WINDOWS - 1)];
    uint64_t begin = (n << WW_CALENDAR_SHIFT) + (w->used >> WW_CALENDAR_UNIT);
    for (uint32_t room; units > (room = WW_CALENDAR_FULL - w->used); units -= room) {
        w->used = WW_CALENDAR_FULL;
        do w = ww_window_of(c->window, WW_CALENDAR_WINDOWS, ++n);
        while (w->used >= WW_CALENDAR_FULL);
    }
    w->used += units;
    return begin > cycle ? begin : cycle;
}

/* Takes what is free between two cycles. */
static inline void ww_calendar_hold(struct ww_calendar *c, uint64_t from, uint64_t until) {
    uint64_t n = from >> WW_CALENDAR_SHIFT, last = until >> WW_CALENDAR_SHIFT;
    if (last > n + WW_CALENDAR_WINDOWS / 2) last = n + WW_CALENDAR_WINDOWS / 2;
    for (; n < last; n++) ww_window_of(c->window, WW_CALENDAR_WINDOWS, n)->used = WW_CALENDAR_FULL;
    struct ww_window *w = ww_window_of(c->window, WW_CALENDAR_WINDOWS, last);
    uint32_t part = (uint32_t)(until & ((1u << WW_CALENDAR_SHIFT) - 1)) << WW_CALENDAR_UNIT;
    if (w->used < part) w->used = part;
}

#define WW_PLACES_WINDOWS 256u
#define WW_PLACES_SHIFT 6 /* log2 of a window's cycles */

struct ww_places {
    struct ww_window window[WW_PLACES_WINDOWS];
    uint32_t limit;
};

/* The first cycle from `cycle` on at which `count` places are free, or all. */
static inline uint64_t ww_places_free(struct ww_places *p, uint32_t count, uint64_t cycle) {
    uint64_t n = cycle >> WW_PLACES_SHIFT;
    for (uint32_t taken;
         (taken = ww_window_of(p->window, WW_PLACES_WINDOWS, n)->used) && taken + count > p->limit;)
        n++;
    uint64_t begin = n << WW_PLACES_SHIFT;
    return begin > cycle ? begin : cycle;
}

/* Places that are taken at a cycle. */
static inline uint32_t ww_places_used(struct ww_places *p, uint64_t cycle) {
    return ww_window_of(p->window, WW_PLACES_WINDOWS, cycle >> WW_PLACES_SHIFT)->used;
}

/* Takes places from one cycle to another. */
static inline void ww_places_take(struct ww_places *p, uint32_t count, uint64_t from, uint64_t until) {
    const uint64_t half = 1u << (WW_PLACES_SHIFT - 1);
    uint64_t n = (from + half) >> WW_PLACES_SHIFT, end = (until + half) >> WW_PLACES_SHIFT;
    if (end > n + WW_PLACES_WINDOWS / 2) end = n + WW_PLACES_WINDOWS / 2;
    for (; n < end; n++) ww_window_of(p->window, WW_PLACES_WINDOWS, n)->used += count;
}

#endif
