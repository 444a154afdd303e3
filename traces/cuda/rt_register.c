/* rt_register.c: fat binaries, kernels and variables that a program's start-up code registers, and loading
 * them. */
#include "../../estimator/api/record.h"
#include "../sass/cubin/fatbin.h"
#include "rt.h"
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u

/* What the compiler puts into .nvFatBinSegment. */
struct wrapper {
    uint32_t magic, version; /* version 2: `linked` lists the fat binaries that were linked */
    const void *data;
    const void *linked;
};

RT_EXPORT void **__cudaRegisterFatBinary(void *fatbin) {
    const struct wrapper *w = fatbin;
    RT_LOCK;
    struct rt_binary *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->self = b;
    b->data = fatbin;
    if (ww_rt_readable(fatbin) >= sizeof *w && w->magic == WRAPPER_MAGIC) {
        b->data = w->data;
        if (w->version >= 2) b->linked = w->linked;
    }
    b->next = ww_rt.binaries;
    ww_rt.binaries = b;
    return &b->self;
}

RT_EXPORT void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

/* Modules stay until the process ends: other exit handlers may still use them. */
RT_EXPORT void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}

static struct rt_binary *binary_of(void **handle) {
    return handle ? *handle : NULL;
}

RT_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                      int limit, void *tid, void *bid, rt_dim3 *block, rt_dim3 *grid,
                                      int *warp) {
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    RT_LOCK;
    struct rt_kernel *k = calloc(1, sizeof *k);
    if (k) k->name = strdup(name);
    if (!k || !k->name) {
        free(k);
        return;
    }
    k->host = host;
    k->binary = binary_of(handle);
    k->next = ww_rt.kernels;
    ww_rt.kernels = k;
}

static struct rt_variable *add_variable(void **handle, const void *host, const char *name, size_t size) {
    struct rt_variable *v = calloc(1, sizeof *v);
    if (v) v->name = strdup(name);
    if (!v || !v->name) {
        free(v);
        return NULL;
    }
    v->host = host;
    v->binary = binary_of(handle);
    v->size = size;
    v->next = ww_rt.variables;
    ww_rt.variables = v;
    return v;
}

RT_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                                 size_t size, int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    RT_LOCK;
    add_variable(handle, host, name, size);
}

/* The program reads a managed variable through *host, so its module is loaded now. */
RT_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                                        size_t size, int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    RT_LOCK;
    struct rt_variable *v = add_variable(handle, host, name, size);
    struct ww_error error = {0};
    uint64_t address, bytes;
    if (!v || ww_rt_enter() || ww_rt_load(v->binary)) return;
    if (ww_device_variable(ww_rt.device, v->binary->module, name, true, &address, &bytes, &error) == WW_OK)
        *host = (void *)(uintptr_t)address; /* the same on both sides */
    else
        ww_rt_say_error(&error, 0);
}

RT_EXPORT char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

RT_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
    (void)handle, (void)name, (void)host, (void)size;
}

static void refuse_old(const char *what, const char *name) {
    ww_rt_say("%s '%s': references of file scope are not supported; use cudaCreateTextureObject or "
              "cudaCreateSurfaceObject",
              what, name);
}

RT_EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                                     int dim, int norm, int ext) {
    (void)handle, (void)host, (void)device, (void)dim, (void)norm, (void)ext;
    refuse_old("texture", name);
}

RT_EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                                     int dim, int ext) {
    (void)handle, (void)host, (void)device, (void)dim, (void)ext;
    refuse_old("surface", name);
}

/* ---- loading ---- */

static int no_ptx(const struct fatbin_summary *s) {
    if (s->elf_count && ww_rt.options.code == WW_RECORD_PTX)
        ww_rt_say(
            "this program holds machine code for sm_%u and no PTX, which is what was asked for; leave out "
            "--code ptx, or compile it with PTX, for example -gencode arch=compute_%u,code=compute_%u",
            s->elf_arch, s->elf_arch, s->elf_arch);
    else if (s->elf_count)
        ww_rt_say("this program holds machine code for sm_%u and no PTX; it does not run on the chosen GPU "
                  "(sm_%u): choose "
                  "another one with --gpu or --arch, or compile the program with PTX, for example -gencode "
                  "arch=compute_%u,code=compute_%u",
                  s->elf_arch, ww_rt.machine, s->elf_arch, s->elf_arch);
    else
        ww_rt_say("a registered fat binary holds neither PTX nor machine code");
    return RT_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE;
}

static int code_of(const struct ww_error *error) {
    if (error->code == WW_UNSUPPORTED) return RT_ERROR_NOT_SUPPORTED;
    return error->code == WW_NOMEM ? RT_ERROR_MEMORY_ALLOCATION : RT_ERROR_INVALID_PTX;
}

/* Number of PTX images of a device link, and the one if there is one. */
static size_t linked_ptx(const struct rt_binary *b, struct fatbin_summary *one) {
    size_t count = 0;
    for (const void *const *p = b->linked; p && ww_rt_readable(p) >= sizeof *p && *p; p++) {
        struct fatbin_summary s;
        if (ww_fatbin_choose(*p, ww_rt_readable(*p), "linked", ww_rt.capability, &s, NULL) != WW_OK || !s.found)
            continue;
        *one = s;
        count++;
    }
    return count;
}

static int choose(struct rt_binary *b, struct fatbin_summary *s) {
    struct ww_error error = {0};
    enum ww_code code =
        ww_fatbin_choose(b->data, ww_rt_readable(b->data), "fat binary", ww_rt.capability, s, &error);
    if (code != WW_OK) return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    if (s->found) return 0;
    struct fatbin_summary linked = {0};
    size_t count = linked_ptx(b, &linked);
    if (count > 1) {
        ww_rt_say("relocatable device code of %zu modules would have to be linked, which is not supported; "
                  "compile without "
                  "-rdc=true (-dc)",
                  count);
        return RT_ERROR_NOT_SUPPORTED;
    }
    if (count == 0) return no_ptx(s);
    *s = linked;
    return 0;
}

/* The PTX that machine code may fall back to; *text is NULL if there is none. */
static void beside(const struct rt_binary *b, const char *name, char **text, size_t *n) {
    struct fatbin_summary s;
    *text = NULL;
    *n = 0;
    if (ww_fatbin_choose(b->data, ww_rt_readable(b->data), name, ww_rt.capability, &s, NULL) != WW_OK ||
        !s.found)
        return;
    if (ww_fatbin_text(&s.ptx, name, text, n, NULL) != WW_OK) *text = NULL;
}

/* Loads the program's own machine code. *done is false if there is none that runs on the chosen GPU, or it
 * cannot be used and there is PTX. */
static int load_machine(struct rt_binary *b, const char *name, bool *done) {
    struct fatbin_machine machine;
    struct ww_error error = {0};
    char origin[64], *text;
    size_t n;
    *done = false;
    if (ww_fatbin_machine(b->data, ww_rt_readable(b->data), name, ww_rt.machine, &machine, &error) != WW_OK)
        return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    if (!machine.found) return 0;
    snprintf(origin, sizeof origin, "sm_%u of the program", machine.arch);
    beside(b, name, &text, &n);
    const struct ww_cubin_source source = {.data = machine.bytes, .n = machine.n, .origin = origin};
    enum ww_code code = ww_device_module_cubin(ww_rt.device, &source, text, n, name, &b->module, &error);
    free(machine.bytes);
    *done = code == WW_OK || !text || ww_rt.options.code == WW_RECORD_SASS;
    if (code == WW_OK) return 0; /* the module keeps pointing into the text */
    ww_rt_say_error(&error, 0);
    free(text);
    return *done ? code_of(&error) : 0;
}

static int load_ptx(struct rt_binary *b, const char *name) {
    struct fatbin_summary s;
    struct ww_error error = {0};
    char *text = NULL;
    size_t n = 0;
    int refused = choose(b, &s);
    if (refused) return refused;
    enum ww_code code = ww_fatbin_text(&s.ptx, name, &text, &n, &error);
    if (code != WW_OK) return ww_rt_say_error(&error, code_of(&error));
    code = ww_device_module_text(ww_rt.device, text, n, name, &b->module, &error);
    if (code != WW_OK) { /* the module keeps pointing into the text otherwise */
        free(text);
        return ww_rt_say_error(&error, code_of(&error));
    }
    return 0;
}

static int load(struct rt_binary *b) {
    static unsigned number;
    char name[40];
    bool done = false;
    number++;
    if (ww_rt.options.code != WW_RECORD_PTX && ww_rt.machine >= 70) {
        snprintf(name, sizeof name, "fat binary %u", number);
        int code = load_machine(b, name, &done);
        if (done || code) return code;
    }
    snprintf(name, sizeof name, "PTX of fat binary %u", number);
    return load_ptx(b, name);
}

int ww_rt_load(struct rt_binary *b) {
    if (!b) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (!b->tried) {
        b->tried = true;
        b->code = load(b);
    }
    return b->code;
}

struct rt_kernel *ww_rt_find_kernel(const void *host) {
    for (struct rt_kernel *k = ww_rt.kernels; k; k = k->next)
        if (k->host == host || (const void *)k == host) return k;
    return NULL;
}

int ww_rt_use_kernel(struct rt_kernel *k) {
    if (!k) return RT_ERROR_INVALID_DEVICE_FUNCTION;
    int code = ww_rt_load(k->binary);
    if (code) return code;
    if (ww_module_has_kernel(ww_rt.device, k->binary->module, k->name)) return 0;
    if (!k->refused) ww_rt_say("the program's PTX has no kernel '%s'", k->name);
    k->refused = true;
    return RT_ERROR_INVALID_DEVICE_FUNCTION;
}

int ww_rt_symbol(const void *symbol, uint64_t *address, uint64_t *bytes) {
    struct ww_error error = {0};
    for (struct rt_variable *v = ww_rt.variables; v; v = v->next) {
        if (v->host != symbol) continue;
        int code = ww_rt_load(v->binary);
        if (code) return code;
        if (ww_device_variable(ww_rt.device, v->binary->module, v->name, false, address, bytes, &error) !=
            WW_OK)
            return ww_rt_say_error(&error, RT_ERROR_INVALID_SYMBOL);
        return 0;
    }
    return RT_ERROR_INVALID_SYMBOL;
}

RT_EXPORT int cudaGetSymbolAddress(void **address, const void *symbol) {
    uint64_t at, bytes;
    RT_ENTER;
    if (!address) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = ww_rt_symbol(symbol, &at, &bytes);
    if (!code) *address = (void *)(uintptr_t)at;
    return ww_rt_set(code);
}

RT_EXPORT int cudaGetSymbolSize(size_t *size, const void *symbol) {
    uint64_t at, bytes;
    RT_ENTER;
    if (!size) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = ww_rt_symbol(symbol, &at, &bytes);
    if (!code) *size = bytes;
    return ww_rt_set(code);
}
