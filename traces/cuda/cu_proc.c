/* cu_proc.c: the driver's interface: finding its functions by name, and what is there by name only. */
#include "cu.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Names whose later forms came after CUDA 4; the others have theirs since then. */
static const struct {
    const char *name;
    int form, since; /* CUDA version: 12020 */
    const char *is;  /* another name of that form, or NULL: name_vFORM */
} forms[] = {{"cuCtxCreate", 3, 11040, NULL},
             {"cuCtxCreate", 4, 13000, NULL},
             {"cuCtxGetDevice", 2, 13000, NULL},
             {"cuCtxSynchronize", 2, 13000, NULL},
             {"cuDeviceGetUuid", 2, 11040, NULL},
             {"cuDevicePrimaryCtxRelease", 2, 11000, NULL},
             {"cuDevicePrimaryCtxReset", 2, 11000, NULL},
             {"cuDevicePrimaryCtxSetFlags", 2, 11000, NULL},
             {"cuEventElapsedTime", 2, 12080, NULL},
             {"cuGetProcAddress", 2, 12000, NULL},
             {"cuMemAdvise", 2, 12020, NULL},
             {"cuMemPrefetchAsync", 2, 12020, NULL},
             {"cuGraphInstantiate", 2, 12000, "cuGraphInstantiateWithFlags"},
             {"cuStreamBeginCapture", 2, 10010, NULL},
             {"cuStreamGetCaptureInfo", 2, 11030, NULL},
             {"cuStreamGetCaptureInfo", 3, 12030, NULL},
             {"cuMemHostRegister", 2, 6050, NULL}};

#define FORM_MAX 4

static bool form_fits(const char *name, int form, int version) {
    for (size_t n = 0; n < sizeof forms / sizeof forms[0]; n++)
        if (strcmp(forms[n].name, name) == 0 && forms[n].form == form) return version >= forms[n].since;
    return form == 2 && version >= 4000;
}

static const char *other_name(const char *name, int form) {
    for (size_t n = 0; n < sizeof forms / sizeof forms[0]; n++)
        if (strcmp(forms[n].name, name) == 0 && forms[n].form == form) return forms[n].is;
    return NULL;
}

/* This library, for dlsym; it is never closed. */
static void *self(void) {
    static void *handle;
    Dl_info info;
    if (!handle && dladdr(&ww_rt, &info)) handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

/* With `per_thread`, the form for per-thread default streams comes first. */
static void *symbol(const char *name, bool per_thread) {
    static const char *const ends[] = {"_ptds", "_ptsz", ""};
    char text[128];
    for (unsigned n = per_thread ? 0 : 2; n < 3; n++) {
        snprintf(text, sizeof text, "%.100s%s", name, ends[n]);
        void *found = dlsym(self(), text);
        if (found) return found;
    }
    return NULL;
}

static void *find(const char *name, int version, bool per_thread) {
    char text[128];
    if (strncmp(name, "cu", 2) != 0 || name[2] < 'A' || name[2] > 'Z' || !self()) return NULL;
    for (int form = FORM_MAX; form >= 2; form--) {
        const char *other = other_name(name, form);
        snprintf(text, sizeof text, "%.100s_v%d", name, form);
        void *found = form_fits(name, form, version) ? symbol(other ? other : text, per_thread) : NULL;
        if (found) return found;
    }
    return symbol(name, per_thread);
}

enum { FOUND, NO_SYMBOL, NO_VERSION };
#define PER_THREAD_STREAM 2u

RT_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    if (!name || !function) return RT_ERROR_INVALID_VALUE;
    *function = find(name, version, (flags & PER_THREAD_STREAM) != 0);
    if (status) *status = *function ? FOUND : NO_SYMBOL;
    return *function || status ? 0 : CU_NOT_FOUND;
}

RT_EXPORT int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

#define X(name)                                                                                                \
    RT_EXPORT int name(void) {                                                                                 \
        return ww_rt_missing(#name);                                                                           \
    }
#include "cu_stub.def"
#undef X
