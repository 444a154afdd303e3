/* rt_device.c: the one device, its attributes and limits; errors' names and texts. */
#include "core.h"
#include <string.h>

RT_EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    RT_ENTER;
    if (device != 0) return ww_rt_set(RT_ERROR_INVALID_DEVICE);
    if (!value || !ww_rt_attribute(attribute, value)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return 0;
}

RT_EXPORT int cudaGetDeviceCount(int *count) {
    RT_ENTER;
    if (!count) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *count = 1;
    return 0;
}

RT_EXPORT int cudaGetDevice(int *device) {
    RT_ENTER;
    if (!device) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *device = 0;
    return 0;
}

RT_EXPORT int cudaSetDevice(int device) {
    RT_ENTER;
    return ww_rt_set(device == 0 ? 0 : RT_ERROR_INVALID_DEVICE);
}

RT_EXPORT int cudaInitDevice(int device, unsigned flags, unsigned device_flags) {
    (void)flags, (void)device_flags;
    return cudaSetDevice(device);
}

RT_EXPORT int cudaSetValidDevices(const int *devices, int count) {
    if (!devices || count < 1) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return cudaSetDevice(devices[0]);
}

RT_EXPORT int cudaChooseDevice(int *device, const void *wanted) {
    (void)wanted;
    return cudaGetDevice(device);
}

static unsigned device_flags;

RT_EXPORT int cudaSetDeviceFlags(unsigned flags) {
    RT_ENTER;
    device_flags = flags;
    return 0;
}

RT_EXPORT int cudaGetDeviceFlags(unsigned *flags) {
    RT_ENTER;
    if (!flags) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *flags = device_flags;
    return 0;
}

RT_EXPORT int cudaDeviceSynchronize(void) {
    RT_ENTER;
    ww_rt_order_host_waits_all();
    fflush(stdout); /* output of kernels */
    return 0;
}
RT_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize)

/* Memory that the program did not free stays: what a trace holds does not depend on it. */
RT_EXPORT int cudaDeviceReset(void) {
    RT_LOCK;
    fflush(stdout);
    return 0;
}
RT_ALIAS(cudaThreadExit, cudaDeviceReset)

static int cache_config, shared_config;

RT_EXPORT int cudaDeviceSetCacheConfig(int config) {
    RT_ENTER;
    cache_config = config;
    return 0;
}
RT_EXPORT int cudaDeviceGetCacheConfig(int *config) {
    RT_ENTER;
    if (!config) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *config = cache_config;
    return 0;
}
RT_EXPORT int cudaDeviceSetSharedMemConfig(int config) {
    RT_ENTER;
    shared_config = config;
    return 0;
}
RT_EXPORT int cudaDeviceGetSharedMemConfig(int *config) {
    RT_ENTER;
    if (!config) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *config = shared_config;
    return 0;
}
RT_ALIAS(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig)
RT_ALIAS(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig)

RT_EXPORT int cudaDeviceSetLimit(int limit, size_t value) {
    RT_ENTER;
    return ww_rt_set(ww_rt_set_limit(limit, value));
}
RT_ALIAS(cudaThreadSetLimit, cudaDeviceSetLimit)

RT_EXPORT int cudaDeviceGetLimit(size_t *value, int limit) {
    RT_ENTER;
    if (!value) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return ww_rt_set(ww_rt_get_limit(limit, value));
}
RT_ALIAS(cudaThreadGetLimit, cudaDeviceGetLimit)

RT_EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    RT_ENTER;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return 0;
}

RT_EXPORT int cudaDeviceGetPCIBusId(char *text, int n, int device) {
    RT_ENTER;
    if (!text || n < 13 || device != 0) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    snprintf(text, (size_t)n, "0000:00:04.0");
    return 0;
}

RT_EXPORT int cudaDeviceGetByPCIBusId(int *device, const char *text) {
    RT_ENTER;
    if (!device || !text || strcmp(text, "0000:00:04.0") != 0) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *device = 0;
    return 0;
}

RT_EXPORT int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    RT_ENTER;
    if (!can) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (device != 0 || peer != 0) return ww_rt_set(RT_ERROR_INVALID_DEVICE);
    *can = 0;
    return 0;
}

RT_EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)peer, (void)flags;
    return ww_rt_set(RT_ERROR_INVALID_DEVICE);
}
RT_EXPORT int cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return ww_rt_set(RT_ERROR_INVALID_DEVICE);
}

RT_EXPORT int cudaProfilerStart(void) {
    return 0;
}
RT_EXPORT int cudaProfilerStop(void) {
    return 0;
}

/* ---- errors ---- */

RT_EXPORT int cudaGetLastError(void) {
    return ww_rt_last_error(true);
}

RT_EXPORT int cudaPeekAtLastError(void) {
    return ww_rt_last_error(false);
}

RT_EXPORT const char *cudaGetErrorName(int error) {
    switch (error) {
#define X(id, number, name, text)                                                                              \
    case number:                                                                                               \
        return name;
#include "rt_error.def"
#undef X
    default:
        return "unrecognized error code";
    }
}

RT_EXPORT const char *cudaGetErrorString(int error) {
    switch (error) {
#define X(id, number, name, text)                                                                              \
    case number:                                                                                               \
        return text;
#include "rt_error.def"
#undef X
    default:
        return "unrecognized error code";
    }
}
