/* rt_stream.c: streams, which run everything at call time, and events, which carry modelled time. */
#include "core_graph.h"

RT_EXPORT int cudaStreamCreateWithPriority(struct rt_stream **out, unsigned flags, int priority) {
    RT_ENTER;
    return ww_rt_set(ww_rt_stream_new(out, flags, priority));
}

RT_EXPORT int cudaStreamCreateWithFlags(struct rt_stream **out, unsigned flags) {
    return cudaStreamCreateWithPriority(out, flags, 0);
}

RT_EXPORT int cudaStreamCreate(struct rt_stream **out) {
    return cudaStreamCreateWithPriority(out, 0, 0);
}

RT_EXPORT int cudaStreamDestroy(struct rt_stream *stream) {
    RT_LOCK;
    return ww_rt_set(ww_rt_stream_free(stream));
}

static int check_stream(const void *stream) {
    RT_ENTER;
    return ww_rt_set(ww_rt_known_stream(stream) ? 0 : RT_ERROR_INVALID_RESOURCE_HANDLE);
}

RT_EXPORT int cudaStreamSynchronize(void *stream) {
    RT_ENTER;
    return ww_rt_set(ww_rt_stream_synchronize(stream));
}
RT_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize)
RT_ALIAS(cudaStreamQuery, cudaStreamSynchronize)
RT_ALIAS(cudaStreamQuery_ptsz, cudaStreamSynchronize)

RT_EXPORT int cudaStreamWaitEvent(void *stream, struct rt_event *event, unsigned flags) {
    (void)flags;
    RT_ENTER;
    return ww_rt_set(ww_rt_stream_wait(stream, event));
}
RT_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent)

RT_EXPORT int cudaStreamGetFlags(const struct rt_stream *stream, unsigned *flags) {
    RT_ENTER;
    if (!ww_rt_known_stream(stream) || !flags) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *flags = (uintptr_t)stream <= 2 ? 0 : stream->flags;
    return 0;
}
RT_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags)

RT_EXPORT int cudaStreamGetPriority(const struct rt_stream *stream, int *priority) {
    RT_ENTER;
    if (!ww_rt_known_stream(stream) || !priority) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *priority = (uintptr_t)stream <= 2 ? 0 : stream->priority;
    return 0;
}
RT_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority)

RT_EXPORT int cudaStreamGetId(const struct rt_stream *stream, unsigned long long *id) {
    RT_ENTER;
    if (!ww_rt_known_stream(stream) || !id) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *id = (uintptr_t)stream <= 2 ? (uintptr_t)stream : stream->id;
    return 0;
}
RT_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId)

RT_EXPORT int cudaStreamGetDevice(const void *stream, int *device) {
    RT_ENTER;
    if (!ww_rt_known_stream(stream) || !device) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *device = 0;
    return 0;
}
RT_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice)

RT_EXPORT int cudaStreamIsCapturing(void *stream, int *status) {
    RT_ENTER;
    if (!ww_rt_known_stream(stream) || !status) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *status = ww_rt_capture_status(stream, NULL, NULL);
    return 0;
}
RT_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing)

/* True if the host function became a node. */
static bool captured(void *stream, void (*fn)(void *data), void *data, int *code) {
    const struct rt_op op = {RT_OP_HOST, {.host = {fn, data}}};
    RT_LOCK;
    return stream && ww_rt_captured(stream, &op, code);
}

/* Host functions run at once, without the lock, since they may call the runtime. */
RT_EXPORT int cudaLaunchHostFunc(void *stream, void (*fn)(void *data), void *data) {
    int code = check_stream(stream);
    if (code || !fn) return code ? code : ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (captured(stream, fn, data, &code)) return ww_rt_set(code);
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

RT_EXPORT int cudaEventCreateWithFlags(struct rt_event **out, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(ww_rt_event_new(out, flags));
}

RT_EXPORT int cudaEventCreate(struct rt_event **out) {
    return cudaEventCreateWithFlags(out, 0);
}

RT_EXPORT int cudaEventDestroy(struct rt_event *event) {
    RT_LOCK;
    return ww_rt_set(ww_rt_event_free(event));
}

RT_EXPORT int cudaEventRecord(struct rt_event *event, void *stream) {
    RT_ENTER;
    return ww_rt_set(ww_rt_event_record(event, stream));
}
RT_ALIAS(cudaEventRecord_ptsz, cudaEventRecord)

RT_EXPORT int cudaEventRecordWithFlags(struct rt_event *event, void *stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
RT_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags)

RT_EXPORT int cudaEventSynchronize(struct rt_event *event) {
    RT_ENTER;
    if (!ww_rt_known_event(event)) return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
    ww_rt_order_host_waits_event(event);
    return 0;
}
RT_ALIAS(cudaEventQuery, cudaEventSynchronize)

RT_EXPORT int cudaEventElapsedTime(float *ms, const struct rt_event *start, const struct rt_event *stop) {
    RT_ENTER;
    return ww_rt_set(ww_rt_event_elapsed(ms, start, stop));
}
RT_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
