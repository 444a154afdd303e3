/* cu_context.c: the driver's interface: contexts. All of them share the one device's memory and modules. */
#include "cu.h"
#include <stdlib.h>

#define DEPTH 64 /* of contexts that a thread has pushed */

static struct cu_context primary = {.id = 1}, *contexts;
static _Thread_local struct cu_context *stack[DEPTH];
static _Thread_local unsigned depth;

int ww_cu_enter(void) {
    if (!ww_rt.driver_ready) return CU_NOT_INITIALIZED;
    return ww_cu_code(ww_rt_begin());
}

/* The runtime makes the primary context current by itself. */
static struct cu_context *current(void) {
    return depth ? stack[depth - 1] : ww_rt.runtime_used ? &primary : NULL;
}

int ww_cu_enter_context(void) {
    int code = ww_cu_enter();
    if (code) return code;
    return current() ? ww_cu_code(ww_rt.sticky) : CU_INVALID_CONTEXT;
}

static bool known(const struct cu_context *context) {
    if (context == &primary) return true;
    for (const struct cu_context *c = contexts; c; c = c->next)
        if (c == context) return true;
    return false;
}

static int push(struct cu_context *context) {
    if (!known(context)) return CU_INVALID_CONTEXT;
    if (depth == DEPTH) return RT_ERROR_INVALID_VALUE;
    stack[depth++] = context;
    return 0;
}

/* ---- the primary context ---- */

RT_EXPORT int cuDevicePrimaryCtxRetain(struct cu_context **context, int device) {
    CU_ENTER;
    if (!context) return RT_ERROR_INVALID_VALUE;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    primary.references++;
    *context = &primary;
    return 0;
}

RT_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
    CU_ENTER;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    if (primary.references == 0) return CU_INVALID_CONTEXT;
    primary.references--;
    return 0;
}
RT_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)

RT_EXPORT int cuDevicePrimaryCtxReset_v2(int device) {
    CU_ENTER;
    return device == 0 ? 0 : RT_ERROR_INVALID_DEVICE;
}
RT_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)

RT_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    CU_ENTER;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    primary.flags = flags;
    return 0;
}
RT_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)

RT_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    CU_ENTER;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    if (!flags || !active) return RT_ERROR_INVALID_VALUE;
    *flags = primary.flags;
    *active = primary.references > 0 || ww_rt.runtime_used;
    return 0;
}

/* ---- others ---- */

static int create(struct cu_context **out, unsigned flags, int device) {
    if (!out) return RT_ERROR_INVALID_VALUE;
    if (device != 0) return RT_ERROR_INVALID_DEVICE;
    if (depth == DEPTH) return RT_ERROR_INVALID_VALUE;
    struct cu_context *c = calloc(1, sizeof *c);
    if (!c) return RT_ERROR_MEMORY_ALLOCATION;
    *c = (struct cu_context){.id = ++ww_rt.next_id, .flags = flags, .next = contexts};
    contexts = c;
    *out = c;
    return push(c);
}

RT_EXPORT int cuCtxCreate_v2(struct cu_context **out, unsigned flags, int device) {
    CU_ENTER;
    return create(out, flags, device);
}

/* Limits of SMs for a context are not modelled. */
RT_EXPORT int cuCtxCreate_v3(struct cu_context **out, void *affinity, int count, unsigned flags, int device) {
    CU_ENTER;
    if (affinity && count) return RT_ERROR_NOT_SUPPORTED;
    return create(out, flags, device);
}

RT_EXPORT int cuCtxCreate_v4(struct cu_context **out, void *parameters, unsigned flags, int device) {
    CU_ENTER;
    if (parameters) {
        const struct {
            void *affinity;
            int count;
            void *cig;
        } *p = parameters;
        if (p->affinity || p->cig) return RT_ERROR_NOT_SUPPORTED;
    }
    return create(out, flags, device);
}

RT_EXPORT int cuCtxDestroy_v2(struct cu_context *context) {
    CU_ENTER;
    for (struct cu_context **at = &contexts; *at; at = &(*at)->next) {
        if (*at != context) continue;
        *at = context->next;
        if (depth && stack[depth - 1] == context) depth--;
        free(context);
        return 0;
    }
    return CU_INVALID_CONTEXT;
}
RT_ALIAS(cuCtxDetach, cuCtxDestroy_v2)

RT_EXPORT int cuCtxPushCurrent_v2(struct cu_context *context) {
    CU_ENTER;
    return push(context);
}

RT_EXPORT int cuCtxPopCurrent_v2(struct cu_context **context) {
    CU_ENTER;
    if (depth == 0) return CU_INVALID_CONTEXT;
    depth--;
    if (context) *context = stack[depth];
    return 0;
}

RT_EXPORT int cuCtxSetCurrent(struct cu_context *context) {
    CU_ENTER;
    if (context && !known(context)) return CU_INVALID_CONTEXT;
    if (depth) depth--;
    return context ? push(context) : 0;
}

RT_EXPORT int cuCtxGetCurrent(struct cu_context **context) {
    CU_ENTER;
    if (!context) return RT_ERROR_INVALID_VALUE;
    *context = current();
    return 0;
}

RT_EXPORT int cuCtxGetDevice(int *device) {
    CU_CONTEXT;
    if (!device) return RT_ERROR_INVALID_VALUE;
    *device = 0;
    return 0;
}

RT_EXPORT int cuCtxGetDevice_v2(int *device, const struct cu_context *context) {
    CU_ENTER;
    if (!device || (context && !known(context))) return RT_ERROR_INVALID_VALUE;
    *device = 0;
    return 0;
}

RT_EXPORT int cuCtxGetFlags(unsigned *flags) {
    CU_CONTEXT;
    if (!flags) return RT_ERROR_INVALID_VALUE;
    *flags = current()->flags;
    return 0;
}

RT_EXPORT int cuCtxGetId(const struct cu_context *context, unsigned long long *id) {
    CU_CONTEXT;
    const struct cu_context *c = context ? context : current();
    if (!id || !known(c)) return RT_ERROR_INVALID_VALUE;
    *id = c->id;
    return 0;
}

RT_EXPORT int cuCtxGetApiVersion(const struct cu_context *context, unsigned *version) {
    CU_ENTER;
    if (!version || (context && !known(context))) return RT_ERROR_INVALID_VALUE;
    *version = 3020;
    return 0;
}

RT_EXPORT int cuCtxSynchronize(void) {
    CU_CONTEXT;
    ww_rt_order_host_waits_all();
    fflush(stdout); /* output of kernels */
    return 0;
}

RT_EXPORT int cuCtxSynchronize_v2(const struct cu_context *context) {
    CU_ENTER;
    if (context && !known(context)) return CU_INVALID_CONTEXT;
    ww_rt_order_host_waits_all();
    fflush(stdout);
    return ww_cu_code(ww_rt.sticky);
}
