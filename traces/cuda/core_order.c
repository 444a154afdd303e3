/* core_order.c: which launches have to wait for which. Work is done when it is asked for, but the trace keeps
 * what a GPU would have had to wait for: the launch before in the stream, events, the default stream, what the
 * host waited for.
 *
 * A clock says of each stream up to which of its launches everything is done. Each stream, each event and the
 * host have one; an operation's clock is that of its stream and the host's together. The default streams of
 * threads count as the default stream.
 *
 * Launches wait for launches, as if copies took no time. In a second order launches and copies wait for
 * launches and copies. A clock has both orders. */
#include "core_graph.h"
#include <stdlib.h>
#include <string.h>

static struct rt_clock host, legacy; /* what the host waited for; the default stream's */
static uint32_t lanes;               /* numbers of streams that were given */
static uint64_t operations, copies;  /* that were recorded; operations: launches and copies */

static bool put(struct rt_clock *c, const struct rt_clock_entry *e) {
    size_t at = 0;
    while (at < c->count && c->entry[at].lane < e->lane) at++;
    if (at < c->count && c->entry[at].lane == e->lane) {
        struct rt_clock_entry *there = &c->entry[at];
        if (there->launch < e->launch) there->launch = e->launch;
        if (there->operation < e->operation) {
            there->operation = e->operation;
            there->numbered = e->numbered;
        }
        return true;
    }
    struct rt_clock_entry *more = realloc(c->entry, (c->count + 1) * sizeof *more);
    if (!more) return false;
    c->entry = more;
    memmove(more + at + 1, more + at, (c->count - at) * sizeof *more);
    more[at] = *e;
    c->count++;
    return true;
}

/* Without memory the recording cannot be finished. */
static void merge(struct rt_clock *to, const struct rt_clock *more) {
    for (size_t n = 0; n < more->count; n++)
        if (!put(to, &more->entry[n])) ww_rt.damaged = true;
}

void ww_rt_clock_merge(struct rt_clock *to, const struct rt_clock *more) {
    if (to != more) merge(to, more);
}

void ww_rt_clock_free(struct rt_clock *c) {
    free(c->entry);
    *c = (struct rt_clock){0};
}

/* Which of the two orders. */
enum order { OF_LAUNCHES, OF_OPERATIONS };

static uint64_t until(const struct rt_clock_entry *e, enum order order) {
    return order == OF_LAUNCHES ? e->launch : e->operation;
}

static uint64_t known_until(const struct rt_clock *c, uint32_t lane, enum order order) {
    for (size_t n = 0; n < c->count; n++)
        if (c->entry[n].lane == lane) return until(&c->entry[n], order);
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

/* The clock of each lane's last launch, and of its last launch or copy: what they waited for need not be waited
 * for again. */
struct lane {
    struct rt_clock known[2]; /* by order */
};
static struct lane *lane_known;
static uint32_t lane_room;

static struct rt_clock *known_of(uint32_t lane, enum order order) {
    if (lane >= lane_room) {
        uint32_t room = lane + 64;
        struct lane *more = realloc(lane_known, room * sizeof *more);
        if (!more) return NULL;
        memset(more + lane_room, 0, (room - lane_room) * sizeof *more);
        lane_known = more;
        lane_room = room;
    }
    return &lane_known[lane].known[order];
}

/* True if another one of the clock, the last of its lane, has waited for this one. */
static bool implied(const struct rt_clock *c, const struct rt_clock_entry *e, enum order order) {
    for (size_t n = 0; n < c->count; n++) {
        const struct rt_clock_entry *by = &c->entry[n];
        if (by == e || by->lane >= lane_room || !until(by, order)) continue;
        const struct rt_clock *knew = &lane_known[by->lane].known[order];
        if (known_until(knew, by->lane, order) == until(by, order) &&
            known_until(knew, e->lane, order) >= until(e, order))
            return true;
    }
    return false;
}

/* Whether what the clock has of another lane has to be waited for. */
static bool is_waited_for(const struct rt_clock *c, const struct rt_clock_entry *e, uint32_t lane,
                          const struct rt_clock *known, enum order order) {
    return e->lane != lane && until(e, order) > known_until(known, e->lane, order) && !implied(c, e, order);
}

#define WAITS_MAX 4096u

static int note(uint32_t lane, int priority, const struct rt_clock *c, const struct rt_clock *known) {
    static uint32_t wait[WAITS_MAX];
    struct ww_error error = {0};
    struct ww_trace_order o = {.stream = lane, .priority = priority, .wait = wait};
    for (size_t n = 0; n < c->count && o.wait_count < WAITS_MAX; n++) {
        const struct rt_clock_entry *e = &c->entry[n];
        if (is_waited_for(c, e, lane, known, OF_LAUNCHES)) wait[o.wait_count++] = e->launch - 1;
    }
    if (ww_device_note_order(ww_rt.device, &o, &error) == WW_OK) return 0;
    return ww_rt_say_error(&error, RT_ERROR_MEMORY_ALLOCATION);
}

/* ---- launches and copies among launches and copies ---- */

/* The operations that one of this lane waits for. */
static uint32_t waited_for(const struct rt_clock *c, uint32_t lane, const struct rt_clock *known,
                           uint64_t wait[WAITS_MAX]) {
    uint32_t count = 0;
    for (size_t n = 0; n < c->count && count < WAITS_MAX; n++)
        if (is_waited_for(c, &c->entry[n], lane, known, OF_OPERATIONS)) wait[count++] = c->entry[n].numbered;
    return count;
}

static uint64_t wait_of[WAITS_MAX];

/* Those launches that it waits for are in the order of launches. */
static int note_copies(uint32_t lane, const struct rt_clock *c, const struct rt_clock *known) {
    static uint32_t copy[WAITS_MAX];
    struct ww_error error = {0};
    struct ww_copy_waits waits = {.copy = copy};
    uint32_t count = waited_for(c, lane, known, wait_of);
    for (uint32_t n = 0; n < count; n++)
        if (WW_OPERATION_IS_COPY(wait_of[n])) copy[waits.count++] = (uint32_t)(wait_of[n] / 2);
    if (ww_device_note_copy_waits(ww_rt.device, &waits, &error) == WW_OK) return 0;
    return ww_rt_say_error(&error, RT_ERROR_MEMORY_ALLOCATION);
}

static uint32_t lane_of(const void *stream) {
    const struct rt_stream *s = made(stream);
    return node_clock ? node_lane : s ? s->lane : 0;
}

int ww_rt_order_launch(const void *stream) {
    const struct rt_stream *s = made(stream);
    struct rt_clock *c = node_clock ? node_clock : next_clock(stream);
    uint32_t lane = lane_of(stream);
    if (!known_of(lane, OF_LAUNCHES) || ww_rt.recorded >= UINT32_MAX) return RT_ERROR_MEMORY_ALLOCATION;
    struct rt_clock *known = lane_known[lane].known;
    int code = note(lane, node_clock ? node_priority : s ? s->priority : 0, c, &known[OF_LAUNCHES]);
    if (!code) code = note_copies(lane, c, &known[OF_OPERATIONS]);
    const struct rt_clock_entry own = {lane, (uint32_t)ww_rt.recorded + 1, ++operations,
                                       WW_OPERATION_OF_LAUNCH(ww_rt.recorded)};
    if (!put(c, &own)) return RT_ERROR_MEMORY_ALLOCATION;
    merge(&known[OF_LAUNCHES], c);
    merge(&known[OF_OPERATIONS], c);
    return code;
}

/* Without memory the recording cannot be finished. */
static void note_copy(const struct ww_host_copy *copy, const void *stream) {
    struct ww_error error = {0};
    struct rt_clock *c = node_clock ? node_clock : next_clock(stream);
    uint32_t lane = lane_of(stream);
    struct rt_clock *known = known_of(lane, OF_OPERATIONS);
    struct ww_host_copy own = *copy;
    if (!known) {
        ww_rt.damaged = true;
        return;
    }
    own.stream = lane;
    own.wait = wait_of;
    own.wait_count = waited_for(c, lane, known, wait_of);
    if (ww_device_note_host_copy(ww_rt.device, &own, &error) != WW_OK) {
        ww_rt_say_error(&error, 0);
        ww_rt.damaged = true;
    }
    const struct rt_clock_entry entry = {lane, 0, ++operations, WW_OPERATION_OF_COPY(copies++)};
    if (!put(c, &entry)) ww_rt.damaged = true;
    merge(known, c);
}

void ww_rt_order_copy(const struct ww_host_copy *copy) {
    const void *stream = ww_rt_current();
    if (copy && ww_rt.options.out && !ww_rt.options.no_record && ww_rt_recording()) note_copy(copy, stream);
    if (node_clock) return; /* nothing else waits for it but what follows there */
    bool asked = copy && copy->pageable && copy->way == WW_COPY_FROM_DEVICE;
    if (!made(stream) || asked) ww_rt_order_host_waits(stream);
}
