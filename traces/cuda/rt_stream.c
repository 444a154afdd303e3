/* rt_stream.c: streams, which run everything at call time, and events, which carry modelled time. */
#include "rt.h"
#include <stdlib.h>

struct rt_stream {
    uint64_t id;
    unsigned flags;
    int priority;
    struct rt_stream *next;
};
static struct rt_stream *streams;

struct rt_event {
    double at_us;
    bool recorded, timed;
    struct rt_event *next;
};
static struct rt_event *events;

/* The default streams have small numbers for handles. */
static bool known_stream(const void *stream) {
    if ((uintptr_t)stream <= 2) return true;
    for (const struct rt_stream *s = streams; s; s = s->next)
        if (s == stream) return true;
    return false;
}

static bool known_event(const struct rt_event *event) {
    for (const struct rt_event *e = events; e; e = e->next)
        if (e == event) return true;
    return false;
}

RT_EXPORT int cudaStreamCreateWithPriority(struct rt_stream **out, unsigned flags, int priority) {
    RT_ENTER;
    if (!out) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    struct rt_stream *s = calloc(1, sizeof *s);
    if (!s) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    *s = (struct rt_stream){.id = ++ww_rt.next_id, .flags = flags, .priority = priority, .next = streams};
    streams = s;
    *out = s;
    return 0;
}

RT_EXPORT int cudaStreamCreateWithFlags(struct rt_stream **out, unsigned flags) {
    return cudaStreamCreateWithPriority(out, flags, 0);
}

RT_EXPORT int cudaStreamCreate(struct rt_stream **out) {
    return cudaStreamCreateWithPriority(out, 0, 0);
}

RT_EXPORT int cudaStreamDestroy(struct rt_stream *stream) {
    RT_LOCK;
    for (struct rt_stream **at = &streams; *at; at = &(*at)->next) {
        if (*at != stream) continue;
        *at = stream->next;
        free(stream);
        return 0;
    }
    return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
}

static int check_stream(const void *stream) {
    RT_ENTER;
    return ww_rt_set(known_stream(stream) ? 0 : RT_ERROR_INVALID_RESOURCE_HANDLE);
}

RT_EXPORT int cudaStreamSynchronize(void *stream) {
    return check_stream(stream);
}
RT_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize)
RT_ALIAS(cudaStreamQuery, cudaStreamSynchronize)
RT_ALIAS(cudaStreamQuery_ptsz, cudaStreamSynchronize)

RT_EXPORT int cudaStreamWaitEvent(void *stream, struct rt_event *event, unsigned flags) {
    (void)flags;
    RT_ENTER;
    return ww_rt_set(known_stream(stream) && known_event(event) ? 0 : RT_ERROR_INVALID_RESOURCE_HANDLE);
}
RT_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent)

RT_EXPORT int cudaStreamGetFlags(const struct rt_stream *stream, unsigned *flags) {
    RT_ENTER;
    if (!known_stream(stream) || !flags) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *flags = (uintptr_t)stream <= 2 ? 0 : stream->flags;
    return 0;
}
RT_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags)

RT_EXPORT int cudaStreamGetPriority(const struct rt_stream *stream, int *priority) {
    RT_ENTER;
    if (!known_stream(stream) || !priority) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *priority = (uintptr_t)stream <= 2 ? 0 : stream->priority;
    return 0;
}
RT_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority)

RT_EXPORT int cudaStreamGetId(const struct rt_stream *stream, unsigned long long *id) {
    RT_ENTER;
    if (!known_stream(stream) || !id) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *id = (uintptr_t)stream <= 2 ? (uintptr_t)stream : stream->id;
    return 0;
}
RT_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId)

RT_EXPORT int cudaStreamGetDevice(const void *stream, int *device) {
    RT_ENTER;
    if (!known_stream(stream) || !device) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *device = 0;
    return 0;
}
RT_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice)

/* Never: captures are not supported. */
RT_EXPORT int cudaStreamIsCapturing(void *stream, int *status) {
    RT_ENTER;
    if (!known_stream(stream) || !status) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *status = 0;
    return 0;
}
RT_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing)

/* Host functions run at once, without the lock, since they may call the runtime. */
RT_EXPORT int cudaLaunchHostFunc(void *stream, void (*fn)(void *data), void *data) {
    int code = check_stream(stream);
    if (code || !fn) return code ? code : ww_rt_set(RT_ERROR_INVALID_VALUE);
    fn(data);
    return 0;
}
RT_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc)

RT_EXPORT int cudaStreamAddCallback(void *stream, void (*fn)(void *stream, int status, void *data), void *data,
                                    unsigned flags) {
    int code = check_stream(stream);
    if (code || !fn || flags) return code ? code : ww_rt_set(RT_ERROR_INVALID_VALUE);
    fn(stream, 0, data);
    return 0;
}
RT_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback)

/* ---- events ---- */

#define EVENT_DISABLE_TIMING 2u
RT_EXPORT int cudaEventCreateWithFlags(struct rt_event **out, unsigned flags) {
    RT_ENTER;
    if (!out) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    struct rt_event *e = calloc(1, sizeof *e);
    if (!e) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    *e = (struct rt_event){.timed = !(flags & EVENT_DISABLE_TIMING), .next = events};
    events = e;
    *out = e;
    return 0;
}

RT_EXPORT int cudaEventCreate(struct rt_event **out) {
    return cudaEventCreateWithFlags(out, 0);
}

RT_EXPORT int cudaEventDestroy(struct rt_event *event) {
    RT_LOCK;
    for (struct rt_event **at = &events; *at; at = &(*at)->next) {
        if (*at != event) continue;
        *at = event->next;
        free(event);
        return 0;
    }
    return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
}

RT_EXPORT int cudaEventRecord(struct rt_event *event, void *stream) {
    RT_ENTER;
    if (!known_event(event) || !known_stream(stream)) return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
    ww_rt.now_us += 0.5; /* what a record itself takes: no interval is 0 */
    event->at_us = ww_rt.now_us;
    event->recorded = true;
    return 0;
}
RT_ALIAS(cudaEventRecord_ptsz, cudaEventRecord)

RT_EXPORT int cudaEventRecordWithFlags(struct rt_event *event, void *stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
RT_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags)

RT_EXPORT int cudaEventSynchronize(struct rt_event *event) {
    RT_ENTER;
    return ww_rt_set(known_event(event) ? 0 : RT_ERROR_INVALID_RESOURCE_HANDLE);
}
RT_ALIAS(cudaEventQuery, cudaEventSynchronize)

RT_EXPORT int cudaEventElapsedTime(float *ms, const struct rt_event *start, const struct rt_event *stop) {
    RT_ENTER;
    if (!ms) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (!known_event(start) || !known_event(stop) || !start->timed || !stop->timed || !start->recorded ||
        !stop->recorded)
        return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
    *ms = (float)((stop->at_us - start->at_us) * 1e-3);
    return 0;
}
RT_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
