/* core_capture.c: captures of streams: operations become nodes of a graph. */
#include "core_graph.h"
#include <stdlib.h>
#include <string.h>

struct rt_capture {
    struct rt_graph *graph;
    const struct rt_stream *origin;
    uint64_t id;
    bool broken;
    struct rt_capture *next;
};

static _Thread_local void *on; /* the stream of this thread's operation */

int ww_rt_on(void *stream) {
    on = stream;
    return 0;
}

void ww_rt_off(const int *unused) {
    (void)unused;
    on = NULL;
}

void *ww_rt_current(void) {
    return on;
}

/* Only streams that the program made can be captured. */
static struct rt_stream *made(const void *stream) {
    return (uintptr_t)stream > 2 && ww_rt_known_stream(stream) ? (struct rt_stream *)(uintptr_t)stream : NULL;
}

static struct rt_capture *capture_of(const void *stream) {
    const struct rt_stream *s = made(stream);
    return s ? s->capture : NULL;
}

bool ww_rt_capturing(const void *stream) {
    return capture_of(stream) != NULL;
}

/* ---- the last nodes of a stream or an event ---- */

static int tail_add(struct rt_tail *to, const struct rt_tail *more) {
    struct rt_node **all = realloc(to->node, (to->count + more->count + 1) * sizeof(struct rt_node *));
    if (!all) return RT_ERROR_MEMORY_ALLOCATION;
    to->node = all;
    for (size_t n = 0; n < more->count; n++) {
        bool there = false;
        for (size_t i = 0; i < to->count; i++) there = there || all[i] == more->node[n];
        if (!there) all[to->count++] = more->node[n];
    }
    return 0;
}

static void tail_clear(struct rt_tail *t) {
    free(t->node);
    *t = (struct rt_tail){0};
}

/* ---- operations ---- */

static int add(struct rt_stream *s, const struct rt_op *op) {
    struct rt_node *node;
    if (s->capture->broken) return RT_ERROR_STREAM_CAPTURE_INVALIDATED;
    int code = ww_rt_graph_add(s->capture->graph, s->tail.node, s->tail.count, op, &node);
    if (!code) {
        s->tail.count = 0;
        code = tail_add(&s->tail, &(struct rt_tail){&node, 1});
    }
    s->capture->broken = code != 0;
    return code;
}

bool ww_rt_captured(void *stream, const struct rt_op *op, int *code) {
    struct rt_stream *s = made(stream ? stream : on);
    if (!s || !s->capture) return false;
    *code = add(s, op);
    return true;
}

/* An event that is recorded in a capture stands for the stream's last nodes. */
bool ww_rt_capture_event(struct rt_event *event, void *stream, int *code) {
    struct rt_stream *s = made(stream);
    tail_clear(&event->tail);
    event->capture = s ? s->capture : NULL;
    *code = event->capture ? tail_add(&event->tail, &s->tail) : 0;
    return event->capture != NULL;
}

/* A stream that waits for such an event takes part in the capture. */
int ww_rt_capture_wait(void *stream, const struct rt_event *event) {
    struct rt_stream *s = made(stream);
    if (!event->capture) return s && s->capture ? RT_ERROR_STREAM_CAPTURE_ISOLATION : 0;
    if (!s) return RT_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (s->capture && s->capture != event->capture) return RT_ERROR_STREAM_CAPTURE_MERGE;
    s->capture = event->capture;
    return tail_add(&s->tail, &event->tail);
}

/* ---- beginning and end ---- */

static struct rt_capture *captures;

int ww_rt_capture_begin(void *stream) {
    struct rt_stream *s = made(stream);
    if (!ww_rt_known_stream(stream)) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (!s || s->capture) return s ? RT_ERROR_INVALID_VALUE : RT_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    struct rt_capture *c = calloc(1, sizeof *c);
    if (!c) return RT_ERROR_MEMORY_ALLOCATION;
    int code = ww_rt_graph_new(&c->graph);
    if (code) {
        free(c);
        return code;
    }
    c->origin = s;
    c->id = ++ww_rt.next_id;
    c->next = captures;
    captures = c;
    s->capture = c;
    return 0;
}

/* True if each node that nothing waits for is one that the origin would wait for. */
static bool joined(struct rt_graph *graph, const struct rt_tail *tail) {
    size_t count = 0, waited = 0;
    if (ww_rt_graph_nodes(graph, NULL, &count, false)) return false;
    struct rt_node **all = calloc(count + 1, sizeof *all);
    if (!all || ww_rt_graph_nodes(graph, all, &count, false)) count = 0;
    for (size_t n = 0; n < count; n++) all[n]->done = false;
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < all[n]->before_count; i++) all[n]->before[i]->done = true;
    for (size_t i = 0; i < tail->count; i++) tail->node[i]->done = true;
    for (size_t n = 0; n < count; n++) waited += all[n]->done;
    free(all);
    return waited == count;
}

static void forget(struct rt_capture *c) {
    for (struct rt_capture **at = &captures; *at; at = &(*at)->next) {
        if (*at != c) continue;
        *at = c->next;
        break;
    }
    for (struct rt_stream *s = ww_rt_streams(); s; s = s->next) {
        if (s->capture != c) continue;
        s->capture = NULL;
        tail_clear(&s->tail);
    }
    for (struct rt_event *e = ww_rt_events(); e; e = e->next) {
        if (e->capture != c) continue;
        e->capture = NULL;
        tail_clear(&e->tail);
    }
    free(c);
}

int ww_rt_capture_end(void *stream, struct rt_graph **graph) {
    struct rt_capture *c = capture_of(stream);
    struct rt_stream *s = made(stream);
    if (!graph) return RT_ERROR_INVALID_VALUE;
    *graph = NULL;
    if (!c) return RT_ERROR_INVALID_VALUE;
    if (c->origin != s) return RT_ERROR_STREAM_CAPTURE_UNMATCHED;
    int code = c->broken                     ? RT_ERROR_STREAM_CAPTURE_INVALIDATED
               : !joined(c->graph, &s->tail) ? RT_ERROR_STREAM_CAPTURE_UNJOINED
                                             : 0;
    struct rt_graph *made_graph = c->graph;
    forget(c);
    if (code)
        ww_rt_graph_free(made_graph);
    else
        *graph = made_graph;
    return code;
}

int ww_rt_capture_status(const void *stream, unsigned long long *id, struct rt_graph **graph) {
    const struct rt_capture *c = capture_of(stream);
    if (!c) return 0;
    if (id) *id = c->id;
    if (graph) *graph = c->graph;
    return c->broken ? 2 : 1;
}

int ww_rt_capture_break(void *stream) {
    struct rt_capture *c = capture_of(stream);
    if (!c) return 0;
    c->broken = true;
    return RT_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
