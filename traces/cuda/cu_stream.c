/* cu_stream.c: the driver's interface: streams and events. */
#include "core_graph.h"
#include "cu.h"

RT_EXPORT int cuStreamCreateWithPriority(struct rt_stream **out, unsigned flags, int priority) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_stream_new(out, flags, priority));
}

RT_EXPORT int cuStreamCreate(struct rt_stream **out, unsigned flags) {
    return cuStreamCreateWithPriority(out, flags, 0);
}

RT_EXPORT int cuStreamDestroy_v2(struct rt_stream *stream) {
    CU_ENTER;
    return ww_cu_code(ww_rt_stream_free(stream));
}

static int check_stream(const void *stream) {
    CU_CONTEXT;
    return ww_rt_known_stream(stream) ? 0 : CU_INVALID_HANDLE;
}

RT_EXPORT int cuStreamSynchronize(void *stream) {
    CU_CONTEXT;
    fflush(stdout); /* output of kernels */
    return ww_cu_code(ww_rt_stream_synchronize(stream));
}
RT_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize)

RT_ALIAS(cuStreamQuery, cuStreamSynchronize)
RT_ALIAS(cuStreamQuery_ptsz, cuStreamSynchronize)

RT_EXPORT int cuStreamWaitEvent(void *stream, struct rt_event *event, unsigned flags) {
    (void)flags;
    CU_CONTEXT;
    return ww_cu_code(ww_rt_stream_wait(stream, event));
}
RT_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent)

#define DEFAULT_STREAM(s) ((uintptr_t)(s) <= 2)

RT_EXPORT int cuStreamGetFlags(const struct rt_stream *stream, unsigned *flags) {
    CU_CONTEXT;
    if (!flags || !ww_rt_known_stream(stream)) return RT_ERROR_INVALID_VALUE;
    *flags = DEFAULT_STREAM(stream) ? 0 : stream->flags;
    return 0;
}
RT_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags)

RT_EXPORT int cuStreamGetPriority(const struct rt_stream *stream, int *priority) {
    CU_CONTEXT;
    if (!priority || !ww_rt_known_stream(stream)) return RT_ERROR_INVALID_VALUE;
    *priority = DEFAULT_STREAM(stream) ? 0 : stream->priority;
    return 0;
}
RT_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority)

RT_EXPORT int cuStreamGetId(const struct rt_stream *stream, unsigned long long *id) {
    CU_CONTEXT;
    if (!id || !ww_rt_known_stream(stream)) return RT_ERROR_INVALID_VALUE;
    *id = DEFAULT_STREAM(stream) ? (uintptr_t)stream : stream->id;
    return 0;
}
RT_ALIAS(cuStreamGetId_ptsz, cuStreamGetId)

RT_EXPORT int cuStreamGetCtx(const void *stream, void **context) {
    int cuCtxGetCurrent(struct cu_context * *context);
    int code = check_stream(stream);
    return code ? code : cuCtxGetCurrent((struct cu_context **)context);
}
RT_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx)

RT_EXPORT int cuStreamGetDevice(const void *stream, int *device) {
    if (!device) return RT_ERROR_INVALID_VALUE;
    *device = 0;
    return check_stream(stream);
}
RT_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice)

RT_EXPORT int cuStreamIsCapturing(const void *stream, int *status) {
    CU_CONTEXT;
    if (!status || !ww_rt_known_stream(stream)) return RT_ERROR_INVALID_VALUE;
    *status = ww_rt_capture_status(stream, NULL, NULL);
    return 0;
}
RT_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing)

/* The nodes that the next one would depend on are only given for a stream that is not captured: there are none.
 * */
static int capture_info(const void *stream, int *status, unsigned long long *id, struct rt_graph **graph,
                        const void **before, size_t *count) {
    CU_CONTEXT;
    if (!status || !ww_rt_known_stream(stream)) return RT_ERROR_INVALID_VALUE;
    *status = ww_rt_capture_status(stream, id, graph);
    if (*status && (before || count)) return ww_rt_missing("cuStreamGetCaptureInfo with dependencies");
    if (before) *before = NULL;
    if (count) *count = 0;
    return 0;
}

RT_EXPORT int cuStreamGetCaptureInfo(const void *stream, int *status, unsigned long long *id) {
    return capture_info(stream, status, id, NULL, NULL, NULL);
}
RT_ALIAS(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo)

RT_EXPORT int cuStreamGetCaptureInfo_v2(const void *stream, int *status, unsigned long long *id,
                                        struct rt_graph **graph, const void **before, size_t *count) {
    return capture_info(stream, status, id, graph, before, count);
}
RT_ALIAS(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2)

RT_EXPORT int cuStreamGetCaptureInfo_v3(const void *stream, int *status, unsigned long long *id,
                                        struct rt_graph **graph, const void **before, const void **edges,
                                        size_t *count) {
    if (edges) *edges = NULL;
    return capture_info(stream, status, id, graph, before, count);
}
RT_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3)

/* True if the host function became a node. */
static bool captured(void *stream, void (*fn)(void *data), void *data, int *code) {
    const struct rt_op op = {RT_OP_HOST, {.host = {fn, data}}};
    RT_LOCK;
    return stream && ww_rt_captured(stream, &op, code);
}

/* Host functions run at once, without the lock, since they may call the driver. */
RT_EXPORT int cuLaunchHostFunc(void *stream, void (*fn)(void *data), void *data) {
    int code = check_stream(stream);
    if (code || !fn) return code ? code : RT_ERROR_INVALID_VALUE;
    if (captured(stream, fn, data, &code)) return ww_cu_code(code);
    fn(data);
    return 0;
}
RT_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc)

RT_EXPORT int cuStreamAddCallback(void *stream, void (*fn)(void *stream, int status, void *data), void *data,
                                  unsigned flags) {
    int code = check_stream(stream);
    if (code || !fn || flags) return code ? code : RT_ERROR_INVALID_VALUE;
    fn(stream, 0, data);
    return 0;
}
RT_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback)

RT_EXPORT int cuStreamAttachMemAsync(void *stream, cu_pointer p, size_t bytes, unsigned flags) {
    (void)bytes, (void)flags;
    int code = check_stream(stream);
    if (code) return code;
    RT_LOCK;
    return ww_rt_shared_find((void *)(uintptr_t)p) ? 0 : RT_ERROR_INVALID_VALUE;
}
RT_ALIAS(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync)

/* ---- events ---- */

RT_EXPORT int cuEventCreate(struct rt_event **out, unsigned flags) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_event_new(out, flags));
}

RT_EXPORT int cuEventDestroy_v2(struct rt_event *event) {
    CU_ENTER;
    return ww_cu_code(ww_rt_event_free(event));
}

RT_EXPORT int cuEventRecord(struct rt_event *event, void *stream) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_event_record(event, stream));
}
RT_ALIAS(cuEventRecord_ptsz, cuEventRecord)

RT_EXPORT int cuEventRecordWithFlags(struct rt_event *event, void *stream, unsigned flags) {
    (void)flags;
    return cuEventRecord(event, stream);
}
RT_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags)

RT_EXPORT int cuEventSynchronize(const struct rt_event *event) {
    CU_CONTEXT;
    if (!ww_rt_known_event(event)) return CU_INVALID_HANDLE;
    ww_rt_order_host_waits_event(event);
    return 0;
}
RT_ALIAS(cuEventQuery, cuEventSynchronize)

RT_EXPORT int cuEventElapsedTime_v2(float *ms, const struct rt_event *start, const struct rt_event *stop) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_event_elapsed(ms, start, stop));
}
RT_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2)
