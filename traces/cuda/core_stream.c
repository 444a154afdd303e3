/* core_stream.c: streams, which run everything at call time, and events, which carry modelled time. */
#include "core_graph.h"
#include <stdlib.h>

static struct rt_stream *streams;

static struct rt_event *events;

bool ww_rt_known_stream(const void *stream) {
    if ((uintptr_t)stream <= 2) return true;
    for (const struct rt_stream *s = streams; s; s = s->next)
        if (s == stream) return true;
    return false;
}

bool ww_rt_known_event(const struct rt_event *event) {
    for (const struct rt_event *e = events; e; e = e->next)
        if (e == event) return true;
    return false;
}

int ww_rt_stream_new(struct rt_stream **out, unsigned flags, int priority) {
    if (!out) return RT_ERROR_INVALID_VALUE;
    struct rt_stream *s = calloc(1, sizeof *s);
    if (!s) return RT_ERROR_MEMORY_ALLOCATION;
    *s = (struct rt_stream){
        .lane = ww_rt_new_lane(), .id = ++ww_rt.next_id, .flags = flags, .priority = priority, .next = streams};
    streams = s;
    *out = s;
    return 0;
}

int ww_rt_stream_free(struct rt_stream *stream) {
    for (struct rt_stream **at = &streams; *at; at = &(*at)->next) {
        if (*at != stream) continue;
        if (stream->capture) return RT_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        *at = stream->next;
        ww_rt_clock_free(&stream->clock);
        free(stream->tail.node);
        free(stream);
        return 0;
    }
    return RT_ERROR_INVALID_RESOURCE_HANDLE;
}

#define EVENT_DISABLE_TIMING 2u
int ww_rt_event_new(struct rt_event **out, unsigned flags) {
    if (!out) return RT_ERROR_INVALID_VALUE;
    struct rt_event *e = calloc(1, sizeof *e);
    if (!e) return RT_ERROR_MEMORY_ALLOCATION;
    *e = (struct rt_event){.timed = !(flags & EVENT_DISABLE_TIMING), .next = events};
    events = e;
    *out = e;
    return 0;
}

int ww_rt_event_free(struct rt_event *event) {
    for (struct rt_event **at = &events; *at; at = &(*at)->next) {
        if (*at != event) continue;
        *at = event->next;
        ww_rt_clock_free(&event->clock);
        free(event->tail.node);
        free(event);
        return 0;
    }
    return RT_ERROR_INVALID_RESOURCE_HANDLE;
}

int ww_rt_event_record(struct rt_event *event, void *stream) {
    if (!ww_rt_known_event(event) || !ww_rt_known_stream(stream)) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    int code;
    if (ww_rt_capture_event(event, stream, &code)) return code;
    ww_rt.now_us += 0.5; /* what a record itself takes: no interval is 0 */
    event->at_us = ww_rt.now_us;
    ww_rt_clock_free(&event->clock);
    ww_rt_clock_merge(&event->clock, ww_rt_order_clock(stream));
    event->recorded = true;
    return 0;
}

int ww_rt_stream_wait(void *stream, struct rt_event *event) {
    if (!ww_rt_known_stream(stream) || !ww_rt_known_event(event)) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    int code = ww_rt_capture_wait(stream, event);
    if (!code && !ww_rt_capturing(stream)) ww_rt_clock_merge(ww_rt_order_clock(stream), &event->clock);
    return code;
}

int ww_rt_stream_synchronize(void *stream) {
    if (!ww_rt_known_stream(stream)) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    int code = ww_rt_capture_break(stream);
    if (!code) ww_rt_order_host_waits(stream);
    return code;
}

struct rt_stream *ww_rt_streams(void) {
    return streams;
}

struct rt_event *ww_rt_events(void) {
    return events;
}

int ww_rt_event_elapsed(float *ms, const struct rt_event *start, const struct rt_event *stop) {
    if (!ms) return RT_ERROR_INVALID_VALUE;
    if (!ww_rt_known_event(start) || !ww_rt_known_event(stop) || !start->timed || !stop->timed ||
        !start->recorded || !stop->recorded)
        return RT_ERROR_INVALID_RESOURCE_HANDLE;
    *ms = (float)((stop->at_us - start->at_us) * 1e-3);
    return 0;
}
