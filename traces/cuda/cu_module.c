/* cu_module.c: the driver's interface: modules and libraries from PTX, machine code and fat binaries; their
 * kernels and variables. A library and its module are the same thing here, and so are a kernel and its
 * function. */
#include "../../estimator/base/buf.h"
#include "../../estimator/config/json.h"
#include "cu.h"
#include <string.h>

#define FILE_MAX ((size_t)1 << 30)

struct rt_binary *ww_cu_module(void *handle) {
    for (struct rt_binary *b = ww_rt.binaries; b; b = b->next)
        if (b == handle) return b->references ? b : NULL;
    return NULL;
}

static int loaded(struct rt_binary **out, struct rt_binary *b, int code) {
    if (code && b) b->references = 0;
    *out = code ? NULL : b;
    return ww_cu_code(code);
}

static int load(struct rt_binary **out, const void *image) {
    struct rt_binary *b = NULL;
    if (!out || !image) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_load_image(image, &b);
    return loaded(out, b, code);
}

static int load_file(struct rt_binary **out, const char *path) {
    struct ww_buf text = {0};
    struct ww_error error = {0};
    struct rt_binary *b = NULL;
    if (!out || !path) return RT_ERROR_INVALID_VALUE;
    if (ww_read_file(path, FILE_MAX, &text, &error) != WW_OK) {
        ww_buf_free(&text);
        return ww_rt_say_error(&error, RT_ERROR_FILE_NOT_FOUND);
    }
    ww_buf_append(&text, "", 1);
    int code = text.p ? ww_rt_load_bytes(text.p, text.n, &b) : RT_ERROR_MEMORY_ALLOCATION;
    ww_buf_free(&text);
    return loaded(out, b, code);
}

RT_EXPORT int cuModuleLoad(struct rt_binary **module, const char *path) {
    CU_CONTEXT;
    return load_file(module, path);
}

RT_EXPORT int cuModuleLoadData(struct rt_binary **module, const void *image) {
    CU_CONTEXT;
    return load(module, image);
}
RT_ALIAS(cuModuleLoadFatBinary, cuModuleLoadData)

/* Options of the just-in-time compiler are for PTX, which ptxas or the recorder reads. */
RT_EXPORT int cuModuleLoadDataEx(struct rt_binary **module, const void *image, unsigned count, int *options,
                                 void **values) {
    (void)count, (void)options, (void)values;
    return cuModuleLoadData(module, image);
}

/* The code stays: what a trace holds does not depend on it. */
static int unload(void *handle) {
    struct rt_binary *b = ww_cu_module(handle);
    if (!b) return CU_INVALID_HANDLE;
    b->references--;
    return 0;
}

RT_EXPORT int cuModuleUnload(void *module) {
    CU_CONTEXT;
    return unload(module);
}

RT_EXPORT int cuModuleGetLoadingMode(int *mode) {
    CU_ENTER;
    if (!mode) return RT_ERROR_INVALID_VALUE;
    *mode = 1; /* eager */
    return 0;
}

static int find_kernel(struct rt_kernel **out, void *module, const char *name) {
    struct rt_binary *b = ww_cu_module(module);
    if (!out || !name) return RT_ERROR_INVALID_VALUE;
    if (!b) return CU_INVALID_HANDLE;
    for (struct rt_kernel *k = ww_rt.kernels; k; k = k->next) {
        if (k->binary != b || strcmp(k->name, name) != 0) continue;
        *out = k;
        return 0;
    }
    if (!ww_rt_has_kernel(b, name)) return CU_NOT_FOUND;
    *out = ww_rt_add_kernel(b, NULL, name);
    return *out ? 0 : RT_ERROR_MEMORY_ALLOCATION;
}

static int find_variable(cu_pointer *address, size_t *bytes, void *module, const char *name) {
    struct rt_binary *b = ww_cu_module(module);
    uint64_t at, size;
    if (!name || (!address && !bytes)) return RT_ERROR_INVALID_VALUE;
    if (!b) return CU_INVALID_HANDLE;
    int code = ww_rt_variable(b, name, &at, &size);
    if (code) return ww_cu_code(code);
    if (address) *address = at;
    if (bytes) *bytes = size;
    return 0;
}

RT_EXPORT int cuModuleGetFunction(struct rt_kernel **function, void *module, const char *name) {
    CU_CONTEXT;
    return find_kernel(function, module, name);
}

RT_EXPORT int cuModuleGetGlobal_v2(cu_pointer *address, size_t *bytes, void *module, const char *name) {
    CU_CONTEXT;
    return find_variable(address, bytes, module, name);
}

/* ---- libraries ---- */

RT_EXPORT int cuLibraryLoadData(struct rt_binary **library, const void *image, int *options, void **values,
                                unsigned count, int *library_options, void **library_values,
                                unsigned library_count) {
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    CU_ENTER;
    return load(library, image);
}

RT_EXPORT int cuLibraryLoadFromFile(struct rt_binary **library, const char *path, int *options, void **values,
                                    unsigned count, int *library_options, void **library_values,
                                    unsigned library_count) {
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    CU_ENTER;
    return load_file(library, path);
}

RT_EXPORT int cuLibraryUnload(void *library) {
    CU_ENTER;
    return unload(library);
}

RT_EXPORT int cuLibraryGetModule(struct rt_binary **module, void *library) {
    CU_ENTER;
    if (!module) return RT_ERROR_INVALID_VALUE;
    *module = ww_cu_module(library);
    return *module ? 0 : CU_INVALID_HANDLE;
}

RT_EXPORT int cuLibraryGetKernel(struct rt_kernel **kernel, void *library, const char *name) {
    CU_ENTER;
    return find_kernel(kernel, library, name);
}

RT_EXPORT int cuLibraryGetGlobal(cu_pointer *address, size_t *bytes, void *library, const char *name) {
    CU_ENTER;
    return find_variable(address, bytes, library, name);
}

RT_EXPORT int cuLibraryGetManaged(cu_pointer *address, size_t *bytes, void *library, const char *name) {
    uint64_t at;
    CU_ENTER;
    int code = find_variable(address, bytes, library, name);
    if (!code) code = ww_cu_code(ww_rt_share_variable(ww_cu_module(library), name, &at));
    return code;
}

static struct rt_kernel *known_kernel(struct rt_kernel *kernel) {
    struct rt_kernel *k = ww_rt_find_kernel(kernel);
    return k == kernel ? k : NULL;
}

RT_EXPORT int cuKernelGetFunction(struct rt_kernel **function, struct rt_kernel *kernel) {
    CU_CONTEXT;
    if (!function) return RT_ERROR_INVALID_VALUE;
    *function = known_kernel(kernel);
    return *function ? 0 : CU_INVALID_HANDLE;
}

RT_EXPORT int cuFuncGetModule(struct rt_binary **module, struct rt_kernel *function) {
    CU_ENTER;
    if (!module) return RT_ERROR_INVALID_VALUE;
    if (!known_kernel(function)) return CU_INVALID_HANDLE;
    *module = function->binary;
    return 0;
}
RT_ALIAS(cuKernelGetLibrary, cuFuncGetModule)

RT_EXPORT int cuFuncGetName(const char **name, struct rt_kernel *function) {
    CU_ENTER;
    if (!name) return RT_ERROR_INVALID_VALUE;
    if (!known_kernel(function)) return CU_INVALID_HANDLE;
    *name = function->name;
    return 0;
}
RT_ALIAS(cuKernelGetName, cuFuncGetName)

RT_EXPORT int cuFuncLoad(struct rt_kernel *function) {
    CU_ENTER;
    return known_kernel(function) ? 0 : CU_INVALID_HANDLE;
}

RT_EXPORT int cuFuncIsLoaded(int *state, struct rt_kernel *function) {
    CU_ENTER;
    if (!state) return RT_ERROR_INVALID_VALUE;
    *state = 1;
    return known_kernel(function) ? 0 : CU_INVALID_HANDLE;
}
