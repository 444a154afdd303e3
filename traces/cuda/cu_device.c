/* cu_device.c: the driver's interface: starting, the one device, its attributes and limits. */
#include "cu.h"
#include <string.h>

#define VERSION 13000

RT_EXPORT int cuInit(unsigned flags) {
    RT_LOCK;
    if (flags) return RT_ERROR_INVALID_VALUE;
    ww_rt.driver_ready = true;
    return ww_cu_code(ww_rt_begin());
}

RT_EXPORT int cuDriverGetVersion(int *version) {
    if (!version) return RT_ERROR_INVALID_VALUE;
    *version = VERSION;
    return 0;
}

RT_EXPORT int cuDeviceGetCount(int *count) {
    CU_ENTER;
    if (!count) return RT_ERROR_INVALID_VALUE;
    *count = 1;
    return 0;
}

RT_EXPORT int cuDeviceGet(int *device, int ordinal) {
    CU_ENTER;
    if (!device) return RT_ERROR_INVALID_VALUE;
    if (ordinal != 0) return RT_ERROR_INVALID_DEVICE;
    *device = 0;
    return 0;
}

RT_EXPORT int cuDeviceGetName(char *name, int bytes, int device) {
    CU_ENTER;
    if (!name || bytes < 1) return RT_ERROR_INVALID_VALUE;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)bytes, "%s (warpwatt)", ww_rt.spec->name);
    return 0;
}

RT_EXPORT int cuDeviceGetUuid(char uuid[16], int device) {
    CU_ENTER;
    if (!uuid) return RT_ERROR_INVALID_VALUE;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    memcpy(uuid, "warpwatt device0", 16);
    return 0;
}
RT_ALIAS(cuDeviceGetUuid_v2, cuDeviceGetUuid)

RT_EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    CU_ENTER;
    if (!bytes) return RT_ERROR_INVALID_VALUE;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    *bytes = ww_rt_global_memory();
    return 0;
}

/* The numbers are those of the runtime's attributes. */
RT_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    CU_ENTER;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    return value && ww_rt_attribute(attribute, value) ? 0 : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuDeviceComputeCapability(int *major, int *minor, int device) {
    CU_ENTER;
    if (!major || !minor) return RT_ERROR_INVALID_VALUE;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    *major = (int)(ww_rt.capability / 10);
    *minor = (int)(ww_rt.capability % 10);
    return 0;
}

RT_EXPORT int cuDeviceGetPCIBusId(char *text, int bytes, int device) {
    CU_ENTER;
    if (!text || bytes < 13 || device != 0) return RT_ERROR_INVALID_VALUE;
    snprintf(text, (size_t)bytes, "0000:00:04.0");
    return 0;
}

RT_EXPORT int cuDeviceGetByPCIBusId(int *device, const char *text) {
    CU_ENTER;
    if (!device || !text || strcmp(text, "0000:00:04.0") != 0) return RT_ERROR_INVALID_VALUE;
    *device = 0;
    return 0;
}

RT_EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    CU_ENTER;
    if (!can) return RT_ERROR_INVALID_VALUE;
    if (device != 0 || peer != 0) return RT_ERROR_INVALID_DEVICE;
    *can = 0;
    return 0;
}

RT_EXPORT int cuProfilerStart(void) {
    return 0;
}
RT_EXPORT int cuProfilerStop(void) {
    return 0;
}

/* ---- limits ---- */

RT_EXPORT int cuCtxSetLimit(int limit, size_t value) {
    CU_CONTEXT;
    return ww_rt_set_limit(limit, value);
}

/* No context of graphics shares the GPU: limits 7 to 9 are of one. */
RT_EXPORT int cuCtxGetLimit(size_t *value, int limit) {
    CU_CONTEXT;
    if (!value) return RT_ERROR_INVALID_VALUE;
    if (limit < 7 || limit > 9) return ww_rt_get_limit(limit, value);
    *value = 0;
    return 0;
}

RT_EXPORT int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CU_CONTEXT;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return 0;
}

/* ---- hints, which are kept ---- */

static int cache_config, shared_config;

RT_EXPORT int cuCtxSetCacheConfig(int config) {
    CU_CONTEXT;
    cache_config = config;
    return 0;
}
RT_EXPORT int cuCtxGetCacheConfig(int *config) {
    CU_CONTEXT;
    if (!config) return RT_ERROR_INVALID_VALUE;
    *config = cache_config;
    return 0;
}
RT_EXPORT int cuCtxSetSharedMemConfig(int config) {
    CU_CONTEXT;
    shared_config = config;
    return 0;
}
RT_EXPORT int cuCtxGetSharedMemConfig(int *config) {
    CU_CONTEXT;
    if (!config) return RT_ERROR_INVALID_VALUE;
    *config = shared_config;
    return 0;
}
