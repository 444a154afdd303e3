/* core_order.c: which launches have to wait for which. Work is done when it is asked for, but the trace keeps
 * what a GPU would have had to wait for: the launch before in the stream, events, the default stream, what the
 * host waited for.
 *
 * A clock says of each stream up to which of its launches everything is done. Each stream, each event and the
 * host have one; an operation's clock is that of its stream and the host's together. The default streams of
 * threads count as the default stream. */
#include "core_graph.h"
#include <stdlib.h>
#include <string.h>

static struct rt_clock host, legacy; /* what the host waited for; the default stream's */
static uint32_t lanes;               /* numbers of streams that were given */

static bool put(struct rt_clock *c, uint32_t lane, uint32_t launch) {
    size_t at = 0;
    while (at < c->count && c->entry[at].lane < lane) at++;
    if (at < c->count && c->entry[at].lane == lane) {
        if (c->entry[at].launch < launch) c->entry[at].launch = launch;
        return true;
    }
    struct rt_clock_entry *more = realloc(c->entry, (c->count + 1) * sizeof *more);
    if (!more) return false;
    c->entry = more;
    memmove(more + at + 1, more + at, (c->count - at) * sizeof *more);
    more[at] = (struct rt_clock_entry){lane, launch};
    c->count++;
    return true;
}

/* Without memory the recording cannot be finished. */
static void merge(struct rt_clock *to, const struct rt_clock *more) {
    for (size_t n = 0; n < more->count; n++)
        if (!put(to, more->entry[n].lane, more->entry[n].launch)) ww_rt.damaged = true;
}

void ww_rt_clock_merge(struct rt_clock *to, const struct rt_clock *more) {
    if (to != more) merge(to, more);
}

void ww_rt_clock_free(struct rt_clock *c) {
    free(c->entry);
    *c = (struct rt_clock){0};
}

static uint32_t known_until(const struct rt_clock *c, uint32_t lane) {
    for (size_t n = 0; n < c->count; n++)
        if (c->entry[n].lane == lane) return c->entry[n].launch;
    return 0;
}

/* ---- streams ---- */

#define NON_BLOCKING 1u

static struct rt_stream *made(const void *stream) {
    return (uintptr_t)stream > 2 ? (struct rt_stream *)(uintptr_t)stream : NULL;
}

uint32_t ww_rt_new_lane(void) {
    return ++lanes;
}

/* The clock of the stream's next operation, kept as the stream's. */
static struct rt_clock *next_clock(const void *stream) {
    struct rt_stream *s = made(stream);
    struct rt_clock *c = s ? &s->clock : &legacy;
    merge(c, &host);
    if (s && !(s->flags & NON_BLOCKING)) merge(c, &legacy);
    for (struct rt_stream *other = s ? NULL : ww_rt_streams(); other; other = other->next)
        if (!(other->flags & NON_BLOCKING)) merge(c, &other->clock);
    return c;
}

struct rt_clock *ww_rt_order_clock(const void *stream) {
    return next_clock(stream);
}

void ww_rt_order_host_waits(const void *stream) {
    merge(&host, next_clock(stream));
}

void ww_rt_order_host_waits_event(const struct rt_event *event) {
    merge(&host, &event->clock);
}

void ww_rt_order_host_waits_all(void) {
    merge(&host, &legacy);
    for (const struct rt_stream *s = ww_rt_streams(); s; s = s->next) merge(&host, &s->clock);
}

/* ---- nodes of graphs ---- */

/* What the node that runs stands in: NULL, and then it is the stream that counts. */
static struct rt_clock *node_clock;
static uint32_t node_lane;
static int node_priority;

void ww_rt_order_node(struct rt_clock *clock, uint32_t lane, int priority) {
    node_clock = clock;
    node_lane = lane;
    node_priority = priority;
}

/* ---- launches and copies ---- */

/* What each lane's last launch knew: it need not be waited for again. */
static struct rt_clock *lane_known;
static uint32_t lane_room;

static struct rt_clock *known_of(uint32_t lane) {
    if (lane >= lane_room) {
        uint32_t room = lane + 64;
        struct rt_clock *more = realloc(lane_known, room * sizeof *more);
        if (!more) return NULL;
        memset(more + lane_room, 0, (room - lane_room) * sizeof *more);
        lane_known = more;
        lane_room = room;
    }
    return &lane_known[lane];
}

/* True if another launch of the clock, the last of its lane, has waited for this one. */
static bool implied(const struct rt_clock *c, const struct rt_clock_entry *e) {
    for (size_t n = 0; n < c->count; n++) {
        const struct rt_clock_entry *by = &c->entry[n];
        if (by == e || by->lane >= lane_room) continue;
        const struct rt_clock *knew = &lane_known[by->lane];
        if (known_until(knew, by->lane) == by->launch && known_until(knew, e->lane) >= e->launch) return true;
    }
    return false;
}

#define WAITS_MAX 4096u

static int note(uint32_t lane, int priority, const struct rt_clock *c, const struct rt_clock *known) {
    static uint32_t wait[WAITS_MAX];
    struct ww_error error = {0};
    struct ww_trace_order o = {.stream = lane, .priority = priority, .wait = wait};
    for (size_t n = 0; n < c->count && o.wait_count < WAITS_MAX; n++) {
        const struct rt_clock_entry *e = &c->entry[n];
        if (e->lane != lane && e->launch > known_until(known, e->lane) && !implied(c, e))
            wait[o.wait_count++] = e->launch - 1;
    }
    if (ww_device_note_order(ww_rt.device, &o, &error) == WW_OK) return 0;
    return ww_rt_say_error(&error, RT_ERROR_MEMORY_ALLOCATION);
}

int ww_rt_order_launch(const void *stream) {
    const struct rt_stream *s = made(stream);
    struct rt_clock *c = node_clock ? node_clock : next_clock(stream);
    uint32_t lane = node_clock ? node_lane : s ? s->lane : 0;
    struct rt_clock *known = known_of(lane);
    if (!known || ww_rt.recorded >= UINT32_MAX) return RT_ERROR_MEMORY_ALLOCATION;
    int code = note(lane, node_clock ? node_priority : s ? s->priority : 0, c, known);
    if (!put(c, lane, (uint32_t)ww_rt.recorded + 1)) return RT_ERROR_MEMORY_ALLOCATION;
    merge(known, c);
    return code;
}

void ww_rt_order_copy(void) {
    const void *stream = ww_rt_current();
    if (node_clock || made(stream)) return; /* nothing else waits for it but what follows there */
    ww_rt_order_host_waits(stream);
}
