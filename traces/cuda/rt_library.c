/* rt_library.c: libraries that the program loads at run time. They are the driver's. */
#include "core.h"

int cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count,
                      int *library_options, void **library_values, unsigned library_count);
int cuLibraryLoadFromFile(void **library, const char *path, int *options, void **values, unsigned count,
                          int *library_options, void **library_values, unsigned library_count);
int cuLibraryUnload(void *library);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name);
int cuLibraryGetManaged(uint64_t *address, size_t *bytes, void *library, const char *name);

static int start(void) {
    RT_ENTER;
    return 0;
}

RT_EXPORT int cudaLibraryLoadData(void **library, const void *image, int *options, void **values,
                                  unsigned count, int *library_options, void **library_values,
                                  unsigned library_count) {
    int code = start();
    return code ? code
                : ww_rt_set(cuLibraryLoadData(library, image, options, values, count, library_options,
                                              library_values, library_count));
}

RT_EXPORT int cudaLibraryLoadFromFile(void **library, const char *path, int *options, void **values,
                                      unsigned count, int *library_options, void **library_values,
                                      unsigned library_count) {
    int code = start();
    return code ? code
                : ww_rt_set(cuLibraryLoadFromFile(library, path, options, values, count, library_options,
                                                  library_values, library_count));
}

RT_EXPORT int cudaLibraryUnload(void *library) {
    int code = start();
    return code ? code : ww_rt_set(cuLibraryUnload(library));
}

RT_EXPORT int cudaLibraryGetKernel(void **kernel, void *library, const char *name) {
    int code = start();
    return code ? code : ww_rt_set(cuLibraryGetKernel(kernel, library, name));
}

RT_EXPORT int cudaLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name) {
    int code = start();
    return code ? code : ww_rt_set(cuLibraryGetGlobal(address, bytes, library, name));
}

RT_EXPORT int cudaLibraryGetManaged(uint64_t *address, size_t *bytes, void *library, const char *name) {
    int code = start();
    return code ? code : ww_rt_set(cuLibraryGetManaged(address, bytes, library, name));
}
