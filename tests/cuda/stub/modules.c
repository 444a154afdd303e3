/* modules.c: a program of the CUDA driver's interface with several modules at a time, whose kernels and
 * variables have the same names.
 *
 * usage: modules A B: two images, PTX, cubins or fat binaries. Each has a kernel put(p) that adds `own` of the
 *        image (1 and 10) and the variable `bias` to each of 32 words at p. */
#include "../expect.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t pointer;
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoad(void **module, const char *path);
int cuModuleLoadData(void **module, const void *image);
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetGlobal_v2(pointer *p, size_t *bytes, void *module, const char *name);
int cuLibraryLoadData(void **library, const void *image, int *o, void **v, unsigned n, int *lo, void **lv,
                      unsigned ln);
int cuLibraryLoadFromFile(void **library, const char *path, int *o, void **v, unsigned n, int *lo, void **lv,
                          unsigned ln);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuLibraryGetGlobal(pointer *p, size_t *bytes, void *library, const char *name);
int cuLibraryGetModule(void **module, void *library);
int cuLibraryUnload(void *library);
int cuKernelGetFunction(void **function, void *kernel);
int cuMemAlloc_v2(pointer *p, size_t bytes);
int cuMemsetD32_v2(pointer p, unsigned value, size_t n);
int cuMemcpyHtoD_v2(pointer dst, const void *src, size_t n);
int cuMemcpyDtoH_v2(void *dst, pointer src, size_t n);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);

enum { WORDS = 32, MODULES = 6 };

static char *read_image(const char *path) {
    FILE *f = fopen(path, "rb");
    EXPECT(f != NULL);
    char *image = calloc(1, 1 << 20);
    EXPECT(image && fread(image, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return image;
}

static struct {
    void *handle, *function;
    pointer bias;
    unsigned own; /* what its kernel adds */
} module[MODULES];

static void find(unsigned n, int library, unsigned own) {
    size_t bytes;
    module[n].own = own;
    if (library) {
        void *kernel;
        EXPECT(cuLibraryGetKernel(&kernel, module[n].handle, "put") == 0);
        EXPECT(cuKernelGetFunction(&module[n].function, kernel) == 0);
        EXPECT(cuLibraryGetGlobal(&module[n].bias, &bytes, module[n].handle, "bias") == 0 && bytes == 4);
    } else {
        EXPECT(cuModuleGetFunction(&module[n].function, module[n].handle, "put") == 0);
        EXPECT(cuModuleGetGlobal_v2(&module[n].bias, &bytes, module[n].handle, "bias") == 0 && bytes == 4);
    }
}

/* Both images in each way; the first twice, which are two modules with a variable each. */
static void load_all(const char *a, const char *b) {
    char *first = read_image(a), *second = read_image(b);
    EXPECT(cuModuleLoadData(&module[0].handle, first) == 0);
    EXPECT(cuModuleLoadDataEx(&module[1].handle, second, 0, NULL, NULL) == 0);
    EXPECT(cuLibraryLoadData(&module[2].handle, first, NULL, NULL, 0, NULL, NULL, 0) == 0);
    EXPECT(cuModuleLoadData(&module[3].handle, first) == 0);
    EXPECT(cuModuleLoad(&module[4].handle, b) == 0);
    EXPECT(cuLibraryLoadFromFile(&module[5].handle, a, NULL, NULL, 0, NULL, NULL, 0) == 0);
    free(first);
    free(second);
    const unsigned own[MODULES] = {1, 10, 1, 1, 10, 1};
    for (unsigned n = 0; n < MODULES; n++) find(n, n == 2 || n == 5, own[n]);
}

static unsigned launch_each(pointer p, unsigned from) {
    unsigned sum = 0;
    for (unsigned n = from; n < MODULES; n++) {
        void *arguments[] = {&p};
        EXPECT(cuLaunchKernel(module[n].function, 1, 1, 1, WORDS, 1, 1, 0, NULL, arguments, NULL) == 0);
        sum += module[n].own + 100 * (n + 1);
    }
    return sum;
}

static void check(pointer p, unsigned wanted) {
    unsigned host[WORDS];
    EXPECT(cuMemcpyDtoH_v2(host, p, sizeof host) == 0);
    for (int n = 0; n < WORDS; n++) EXPECT(host[n] == wanted);
}

int main(int argc, char **argv) {
    void *context;
    pointer p;
    EXPECT(argc == 3 && cuInit(0) == 0);
    EXPECT(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0);
    load_all(argv[1], argv[2]);
    EXPECT(cuMemAlloc_v2(&p, WORDS * 4) == 0 && cuMemsetD32_v2(p, 0, WORDS) == 0);
    for (unsigned n = 0; n < MODULES; n++) {
        for (unsigned k = 0; k < n; k++)
            EXPECT(module[n].handle != module[k].handle && module[n].bias != module[k].bias);
        unsigned value = 100 * (n + 1);
        EXPECT(cuMemcpyHtoD_v2(module[n].bias, &value, 4) == 0);
    }
    unsigned sum = launch_each(p, 0);
    check(p, sum);
    EXPECT(cuModuleUnload(module[0].handle) == 0 &&
           cuModuleGetFunction(&context, module[0].handle, "put") != 0);
    EXPECT(cuModuleUnload(module[0].handle) != 0);
    check(p, sum);
    sum += launch_each(p, 1); /* the others are as they were */
    check(p, sum);
    puts("PASS");
    return 0;
}
