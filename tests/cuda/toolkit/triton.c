/* triton.c: launches a cubin as Triton's launcher does: libcuda.so.1 opened at run time, cuLaunchKernelEx with
 * attributes, dynamic shared memory that exceeds what a kernel has without asking, pointers to scratch memory
 * behind the kernel's own parameters.
 *
 * usage: triton CUBIN SHARED-BYTES [cluster] */
#include "../expect.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, COLUMNS = 500, BLOCK = 512, WARPS = 4 };
enum { CLUSTER = 4, CLUSTER_POLICY = 5, SERIALIZATION = 6 };                /* of launches */
enum { SHARED_OPTIN = 97, SHARED_OF_SM = 81 };                              /* of the device */
enum { SHARED_BYTES = 1, LOCAL_BYTES = 3, REGISTERS = 4, MAX_DYNAMIC = 8 }; /* of kernels */

struct attribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        int number;
        unsigned xyz[3];
    } value;
};
struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct attribute *attribute;
    unsigned attributes;
};

static void *library;

/* An entry point of the driver, of whatever type the caller needs. */
#define DRIVER(type, name, ...) (((int(*) type)entry(name))(__VA_ARGS__))

static void (*entry(const char *name))(void) {
    void (*f)(void);
    void *p = dlsym(library, name);
    EXPECT(p != NULL);
    memcpy(&f, &p, sizeof f);
    return f;
}

static char *read_image(const char *path) {
    FILE *f = fopen(path, "rb");
    EXPECT(f != NULL);
    char *image = calloc(1, 1 << 20);
    EXPECT(image && fread(image, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return image;
}

/* As the launcher's loader: what the kernel may have of shared memory, and what it needs. */
static void *load(const char *path, int shared) {
    void *module, *function;
    int optin, of_sm, fixed, registers, spilled;
    char *image = read_image(path);
    EXPECT(DRIVER((void **, const void *), "cuModuleLoadData", &module, image) == 0);
    free(image);
    EXPECT(DRIVER((void **, void *, const char *), "cuModuleGetFunction", &function, module, "center") == 0);
    EXPECT(DRIVER((int *, int, void *), "cuFuncGetAttribute", &registers, REGISTERS, function) == 0 &&
           registers > 0);
    EXPECT(DRIVER((int *, int, void *), "cuFuncGetAttribute", &spilled, LOCAL_BYTES, function) == 0 &&
           spilled == 0);
    EXPECT(DRIVER((int *, int, int), "cuDeviceGetAttribute", &optin, SHARED_OPTIN, 0) == 0 && optin >= shared);
    EXPECT(DRIVER((int *, int, int), "cuDeviceGetAttribute", &of_sm, SHARED_OF_SM, 0) == 0 && of_sm >= optin);
    EXPECT(DRIVER((int *, int, void *), "cuFuncGetAttribute", &fixed, SHARED_BYTES, function) == 0 &&
           fixed == 0);
    if (shared > 49152) {
        EXPECT(DRIVER((void *, int), "cuFuncSetCacheConfig", function, 1) == 0);
        EXPECT(DRIVER((void *, int, int), "cuFuncSetAttribute", function, MAX_DYNAMIC, optin - fixed) == 0);
    }
    return function;
}

static void launch(void *function, unsigned shared, int cluster, void **arguments) {
    struct attribute attribute[3] = {{.id = SERIALIZATION, .value.number = 1},
                                     {.id = CLUSTER, .value.xyz = {2, 1, 1}},
                                     {.id = CLUSTER_POLICY, .value.number = 1}};
    struct config config = {
        .grid = {ROWS, 1, 1}, .block = {32 * WARPS, 1, 1}, .shared = shared, .attribute = attribute};
    config.attributes = cluster ? 3 : 1;
    if (cluster) {
        int most;
        EXPECT(DRIVER((int *, void *, struct config *), "cuOccupancyMaxActiveClusters", &most, function,
                      &config) == 0);
        EXPECT(most > 0);
    }
    EXPECT(DRIVER((struct config *, void *, void **, void **), "cuLaunchKernelEx", &config, function, arguments,
                  NULL) == 0);
}

int main(int argc, char **argv) {
    static float x[ROWS][COLUMNS], y[ROWS][COLUMNS];
    uint64_t from, to, scratch = 0, profile = 0;
    int columns = COLUMNS;
    void *context;
    EXPECT(argc >= 3 && (library = dlopen("libcuda.so.1", RTLD_LAZY)) != NULL);
    EXPECT(DRIVER((unsigned), "cuInit", 0) == 0);
    EXPECT(DRIVER((void **, int), "cuDevicePrimaryCtxRetain", &context, 0) == 0);
    EXPECT(DRIVER((void *), "cuCtxSetCurrent", context) == 0);
    void *function = load(argv[1], atoi(argv[2]));
    EXPECT(DRIVER((uint64_t *, size_t), "cuMemAlloc_v2", &from, sizeof x) == 0);
    EXPECT(DRIVER((uint64_t *, size_t), "cuMemAlloc_v2", &to, sizeof y) == 0);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) x[r][c] = (float)((c * 37 + r * 11) % 211 - 100);
    EXPECT(DRIVER((uint64_t, const void *, size_t), "cuMemcpyHtoD_v2", from, x, sizeof x) == 0);
    void *arguments[] = {&from, &to, &columns, &scratch, &profile};
    for (int n = 0; n < 2; n++) launch(function, (unsigned)atoi(argv[2]), argc > 3, arguments);
    EXPECT(DRIVER((void *), "cuStreamSynchronize", NULL) == 0);
    EXPECT(DRIVER((void *, uint64_t, size_t), "cuMemcpyDtoH_v2", y, to, sizeof y) == 0);
    for (int r = 0; r < ROWS; r++) {
        float most = x[r][0];
        for (int c = 1; c < COLUMNS; c++) most = x[r][c] > most ? x[r][c] : most;
        for (int c = 0; c < COLUMNS; c++) EXPECT(y[r][c] == x[r][c] - most);
    }
    puts("PASS");
    return 0;
}
