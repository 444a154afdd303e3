/* driver.c: a program of the CUDA driver's interface, without the toolkit's header: it loads kernels.ptx (as
 * text or from its file) and launches its kernels in each way that there is.
 *
 * usage: driver PTX [text|file|library|errors|copies|graph|order] */
#include "../expect.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t pointer;
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetGlobal_v2(pointer *p, size_t *bytes, void *module, const char *name);
int cuLibraryLoadData(void **library, const void *image, int *o, void **v, unsigned n, int *lo, void **lv,
                      unsigned ln);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuKernelGetFunction(void **function, void *kernel);
int cuMemAlloc_v2(pointer *p, size_t bytes);
int cuMemAllocPitch_v2(pointer *p, size_t *pitch, size_t width, size_t height, unsigned element);
int cuMemFree_v2(pointer p);
int cuMemcpyHtoD_v2(pointer dst, const void *src, size_t n);
int cuMemcpyDtoH_v2(void *dst, pointer src, size_t n);
int cuMemcpy2D_v2(const void *copy);
int cuMemsetD32_v2(pointer p, unsigned value, size_t n);
int cuMemsetD16Async(pointer p, unsigned short value, size_t n, void *stream);
int cuPointerGetAttribute(void *data, int attribute, pointer p);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, void *shared_of, size_t shared,
                                     int limit);
int cuStreamCreate(void **stream, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime(float *ms, void *start, void *stop);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);
int cuLaunchKernelEx(const void *config, void *f, void **arguments, void **extra);
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **arguments);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
int cuGetErrorName(int error, const char **name);
int cuMemCreate(void *handle, size_t bytes, const void *properties, uint64_t flags);
int cuArrayCreate_v2(void **array, const void *descriptor);
int cuArrayDestroy(void *array);
int cuGetExportTable(const void **table, const void *id);

int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamSynchronize(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuMemcpyHtoDAsync_v2(pointer dst, const void *src, size_t n, void *stream);
int cuMemcpyDtoHAsync_v2(void *dst, pointer src, size_t n, void *stream);
int cuMemsetD32Async(pointer p, unsigned value, size_t n, void *stream);
int cuLaunchHostFunc(void *stream, void (*fn)(void *data), void *data);
int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
int cuGraphGetRootNodes(void *graph, void **nodes, size_t *count);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cuGraphDestroy(void *graph);

enum { N = 1000, BLOCK = 128, GRID = (N + BLOCK - 1) / BLOCK };

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    EXPECT(f != NULL);
    char *text = calloc(1, 1 << 20);
    EXPECT(text && fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void load(const char *how, const char *path, void **module) {
    char *text = read_text(path);
    if (strcmp(how, "file") == 0)
        EXPECT(cuModuleLoad(module, path) == 0);
    else if (strcmp(how, "library") == 0)
        EXPECT(cuLibraryLoadData(module, text, NULL, NULL, 0, NULL, NULL, 0) == 0);
    else
        EXPECT(cuModuleLoadData(module, text) == 0);
    memset(text, 'x', strlen(text)); /* the image is the program's again */
    free(text);
}

static void kernel_of(const char *how, void *module, const char *name, void **function) {
    void *kernel;
    if (strcmp(how, "library") != 0) {
        EXPECT(cuModuleGetFunction(function, module, name) == 0);
        return;
    }
    EXPECT(cuLibraryGetKernel(&kernel, module, name) == 0);
    EXPECT(cuKernelGetFunction(function, kernel) == 0);
}

/* y = a x + y * 2, four times, launched in four ways. */
static void saxpy(void *function, pointer x, pointer y) {
    int n = N;
    float a = 3;
    void *arguments[] = {&n, &a, &x, &y};
    EXPECT(cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL) == 0);

    struct {
        int n;
        float a;
        pointer x, y;
    } buffer = {n, a, x, y};
    size_t bytes = sizeof buffer;
    void *extra[] = {(void *)1, &buffer, (void *)2, &bytes, NULL};
    EXPECT(cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, NULL, extra) == 0);
    bytes = 8;
    EXPECT(cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, NULL, extra) == 1);

    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attribute;
        unsigned attributes;
    } config = {{GRID, 1, 1}, {BLOCK, 1, 1}, 0, NULL, NULL, 0};
    EXPECT(cuLaunchKernelEx(&config, function, arguments, NULL) == 0);
    EXPECT(cuLaunchCooperativeKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, arguments) == 0);
}

static void compute(const char *how, const char *path) {
    static float host[N], scale[4] = {2, 2, 2, 2};
    void *module, *function, *stream, *start, *stop;
    pointer x, y, p;
    size_t bytes;
    float ms;
    int grid, block, value;
    load(how, path, &module);
    kernel_of(how, module, "saxpy", &function);
    EXPECT(cuModuleGetFunction(&stream, module, "nothing") == 500);
    EXPECT(cuModuleGetGlobal_v2(&p, &bytes, module, "scale") == 0 && bytes == sizeof scale);
    EXPECT(cuMemcpyHtoD_v2(p, scale, sizeof scale) == 0);
    EXPECT(cuFuncGetAttribute(&value, 0, function) == 0 && value == 1024);
    EXPECT(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0) == 0 && block == 1024);
    EXPECT(cuMemAlloc_v2(&x, sizeof host) == 0 && cuMemAlloc_v2(&y, sizeof host) == 0);
    for (int n = 0; n < N; n++) host[n] = (float)n;
    EXPECT(cuMemcpyHtoD_v2(x, host, sizeof host) == 0);
    EXPECT(cuMemsetD32_v2(y, 0x3f800000, N) == 0);
    EXPECT(cuStreamCreate(&stream, 1) == 0 && cuEventCreate(&start, 0) == 0 && cuEventCreate(&stop, 0) == 0);
    EXPECT(cuEventRecord(start, stream) == 0);
    saxpy(function, x, y);
    EXPECT(cuEventRecord(stop, stream) == 0 && cuEventElapsedTime(&ms, start, stop) == 0 && ms > 0);
    EXPECT(cuCtxSynchronize() == 0 && cuMemcpyDtoH_v2(host, y, sizeof host) == 0);
    for (int n = 0; n < N; n++) EXPECT(host[n] == (float)(45 * n + 16));
    EXPECT(cuPointerGetAttribute(&value, 2, y + 4) == 0 && value == 2);
    EXPECT(cuMemFree_v2(x) == 0 && cuMemFree_v2(x) == 1);
    EXPECT(cuModuleUnload(module) == 0 && cuModuleUnload(module) == 400);
}

static void copies(void) {
    struct side {
        size_t x, y;
        int type;
        void *host;
        pointer device;
        void *array;
        size_t pitch;
    };
    struct {
        struct side src, dst;
        size_t width, height;
    } c = {0};
    struct {
        size_t width, height;
        int format;
        unsigned channels;
    } d = {8, 4, 3, 1};
    unsigned from[4][8], to[4][8] = {{0}};
    void *array;
    pointer p;
    size_t pitch;
    for (unsigned n = 0; n < 32; n++) from[n / 8][n % 8] = n;
    EXPECT(cuArrayCreate_v2(&array, &d) == 0);
    EXPECT(cuMemAllocPitch_v2(&p, &pitch, 32, 4, 4) == 0 && pitch >= 32);
    c.src = (struct side){.type = 1, .host = from, .pitch = 32};
    c.dst = (struct side){.type = 3, .array = array};
    c.width = 32;
    c.height = 4;
    EXPECT(cuMemcpy2D_v2(&c) == 0);
    c.src = c.dst;
    c.dst = (struct side){.type = 2, .device = p, .pitch = pitch};
    EXPECT(cuMemcpy2D_v2(&c) == 0);
    EXPECT(cuMemsetD16Async(p + pitch, 0x0101, 2, NULL) == 0);
    c.src = c.dst;
    c.dst = (struct side){.type = 1, .host = to, .pitch = 32};
    EXPECT(cuMemcpy2D_v2(&c) == 0);
    EXPECT(to[3][7] == 31 && to[1][0] == 0x01010101 && to[1][1] == 9);
    c.height = 5;
    EXPECT(cuMemcpy2D_v2(&c) == 1);
    EXPECT(cuArrayDestroy(array) == 0 && cuArrayDestroy(array) == 400);
}

static void errors(void) {
    const char *name;
    const void *table;
    void *module, *context;
    int value, status, (*plain)(pointer *, size_t), (*streams)(void *),
        (*create)(void **context, unsigned flags, int device);
    EXPECT(cuModuleLoadData(&module, "no PTX") == 218);
    static const char damaged[128] = "\177ELF damaged";
    EXPECT(cuModuleLoadData(&module, damaged) == 200);
    EXPECT(cuMemCreate(&value, 1, NULL, 0) == 801);
    EXPECT(cuGetExportTable(&table, "0123456789abcdef") == 801 && !table);
    EXPECT(cuGetErrorName(500, &name) == 0 && strcmp(name, "CUDA_ERROR_NOT_FOUND") == 0);
    EXPECT(cuGetProcAddress_v2("cuMemAlloc", (void **)&plain, 12000, 0, &status) == 0 &&
           plain == cuMemAlloc_v2);
    EXPECT(cuGetProcAddress_v2("cuStreamSynchronize", (void **)&streams, 12000, 2, &status) == 0 &&
           status == 0);
    EXPECT(cuGetProcAddress_v2("cuCtxCreate", (void **)&create, 11000, 0, &status) == 0 &&
           create == cuCtxCreate_v2);
    EXPECT(cuGetProcAddress_v2("cuNothing", &module, 12000, 0, &status) == 0 && status == 1 && !module);
    EXPECT(cuGetProcAddress_v2("system", &module, 12000, 0, NULL) == 500);
    EXPECT(cuCtxCreate_v2(&context, 0, 0) == 0 && cuCtxSetCurrent(NULL) == 0);
}

static int called;
static void note(void *data) {
    called += *(int *)data;
}

/* Two streams that are captured: a fill and a copy beside each other, then a launch, then a copy back. */
static void capture(void *function, void *one, void *two, void *fork, void *join, float *host, void **graph) {
    static float from[N];
    static int ten = 10;
    pointer x, y;
    int n = N, status;
    float a = 3;
    void *arguments[] = {&n, &a, &x, &y};
    EXPECT(cuMemAlloc_v2(&x, sizeof from) == 0 && cuMemAlloc_v2(&y, sizeof from) == 0);
    for (int i = 0; i < N; i++) from[i] = (float)i;
    EXPECT(cuStreamBeginCapture_v2(one, 0) == 0);
    EXPECT(cuStreamIsCapturing(one, &status) == 0 && status == 1);
    EXPECT(cuEventRecord(fork, one) == 0 && cuStreamWaitEvent(two, fork, 0) == 0);
    EXPECT(cuMemcpyHtoDAsync_v2(x, from, sizeof from, one) == 0);
    EXPECT(cuMemsetD32Async(y, 0x3f800000, N, two) == 0);
    EXPECT(cuEventRecord(join, two) == 0 && cuStreamWaitEvent(one, join, 0) == 0);
    EXPECT(cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, one, arguments, NULL) == 0);
    a = 99; /* the launch has its arguments */
    EXPECT(cuMemcpyDtoHAsync_v2(host, y, sizeof from, one) == 0);
    EXPECT(cuLaunchHostFunc(one, note, &ten) == 0);
    EXPECT(cuStreamEndCapture(two, graph) == 903 && cuStreamEndCapture(one, graph) == 0);
}

static void graphs(const char *path) {
    static float host[N], scale[4] = {2, 2, 2, 2};
    void *module, *function, *one, *two, *fork, *join, *graph, *exec, *nodes[8];
    size_t count = 8, roots = 8, bytes;
    pointer p;
    load("text", path, &module);
    kernel_of("text", module, "saxpy", &function);
    EXPECT(cuModuleGetGlobal_v2(&p, &bytes, module, "scale") == 0 &&
           cuMemcpyHtoD_v2(p, scale, sizeof scale) == 0);
    EXPECT(cuStreamCreate(&one, 1) == 0 && cuStreamCreate(&two, 1) == 0);
    EXPECT(cuEventCreate(&fork, 2) == 0 && cuEventCreate(&join, 2) == 0);
    capture(function, one, two, fork, join, host, &graph);
    EXPECT(host[1] == 0 && called == 0);
    EXPECT(cuGraphGetNodes(graph, nodes, &count) == 0 && count == 5);
    EXPECT(cuGraphGetRootNodes(graph, nodes, &roots) == 0 && roots == 2);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphDestroy(graph) == 0);
    for (int n = 0; n < 3; n++) EXPECT(cuGraphLaunch(exec, one) == 0);
    EXPECT(cuStreamSynchronize(one) == 0 && called == 30);
    for (int n = 0; n < N; n++) EXPECT(host[n] == (float)(3 * n + 2));
    EXPECT(cuGraphExecDestroy(exec) == 0 && cuGraphLaunch(exec, one) == 1);
    /* what breaks a capture, and one whose streams do not come together */
    EXPECT(cuStreamBeginCapture_v2(one, 0) == 0 && cuStreamSynchronize(one) == 900);
    EXPECT(cuMemsetD32Async(p, 0, 1, one) == 901 && cuStreamEndCapture(one, &graph) == 901);
    EXPECT(cuStreamBeginCapture_v2(one, 0) == 0 && cuEventRecord(fork, one) == 0);
    EXPECT(cuStreamWaitEvent(two, fork, 0) == 0 && cuMemsetD32Async(p, 0, 1, two) == 0);
    EXPECT(cuStreamEndCapture(one, &graph) == 904);
    EXPECT(cuStreamBeginCapture_v2(NULL, 0) == 900);
}

static void start(void *function, void *stream) {
    static pointer x, y;
    int n = N;
    float a = 1;
    void *arguments[] = {&n, &a, &x, &y};
    if (!x) EXPECT(cuMemAlloc_v2(&x, 4 * N) == 0 && cuMemAlloc_v2(&y, 4 * N) == 0);
    EXPECT(cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, stream, arguments, NULL) == 0);
}

/* 0 and 1 beside each other, 2 behind both, 3 behind what the host waited for, 4 on the default stream, which a
 * blocking stream's 5 waits for; then a graph of two branches (6, 7) that come together (8). */
static void order(const char *path) {
    void *module, *function, *one, *two, *blocking, *event, *fork, *graph, *exec;
    load("text", path, &module);
    kernel_of("text", module, "saxpy", &function);
    EXPECT(cuStreamCreate(&one, 1) == 0 && cuStreamCreate(&two, 1) == 0 && cuStreamCreate(&blocking, 0) == 0);
    EXPECT(cuEventCreate(&event, 2) == 0 && cuEventCreate(&fork, 2) == 0);
    start(function, one);
    EXPECT(cuEventRecord(event, one) == 0);
    start(function, two);
    EXPECT(cuStreamWaitEvent(two, event, 0) == 0);
    start(function, two);
    EXPECT(cuStreamSynchronize(two) == 0);
    start(function, one);
    start(function, NULL);
    start(function, blocking);
    EXPECT(cuStreamBeginCapture_v2(one, 0) == 0 && cuEventRecord(fork, one) == 0);
    EXPECT(cuStreamWaitEvent(two, fork, 0) == 0);
    start(function, one);
    start(function, two);
    EXPECT(cuEventRecord(event, two) == 0 && cuStreamWaitEvent(one, event, 0) == 0);
    start(function, one);
    EXPECT(cuStreamEndCapture(one, &graph) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(cuGraphLaunch(exec, one) == 0);
}

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link);
int cuLinkAddFile_v2(void *link, int type, const char *path, unsigned count, int *options, void **values);
int cuLinkComplete(void *link, void **image, size_t *bytes);
int cuLinkDestroy(void *link);

/* Files of PTX whose kernel stores twice the thread's number. */
static void link_files(int count, char **path) {
    void *link, *image, *module, *kernel;
    size_t bytes;
    pointer p;
    unsigned got[32];
    EXPECT(cuLinkCreate_v2(0, NULL, NULL, &link) == 0);
    for (int n = 0; n < count; n++) EXPECT(cuLinkAddFile_v2(link, 1, path[n], 0, NULL, NULL) == 0);
    EXPECT(cuLinkComplete(link, &image, &bytes) == 0 && bytes > 100);
    EXPECT(cuModuleLoadData(&module, image) == 0 && cuLinkDestroy(link) == 0 && cuLinkDestroy(link) == 400);
    EXPECT(cuModuleGetFunction(&kernel, module, "store") == 0 && cuMemAlloc_v2(&p, sizeof got) == 0);
    void *arguments[] = {&p};
    EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL) == 0);
    EXPECT(cuMemcpyDtoH_v2(got, p, sizeof got) == 0);
    for (unsigned n = 0; n < 32; n++) EXPECT(got[n] == 2 * n);
}

int main(int argc, char **argv) {
    const char *how = argc > 2 ? argv[2] : "text";
    char name[100];
    int device, version, value;
    void *context;
    pointer p;
    EXPECT(cuDeviceGet(&device, 0) == 3);
    EXPECT(cuInit(0) == 0 && cuDeviceGet(&device, 0) == 0 && cuDriverGetVersion(&version) == 0);
    EXPECT(cuMemAlloc_v2(&p, 4) == 201);
    EXPECT(cuDeviceGetName(name, 100, 0) == 0 && cuDeviceGetAttribute(&value, 16, 0) == 0);
    printf("%s, %d SMs\n", name, value);
    EXPECT(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0);
    if (strcmp(how, "errors") == 0)
        errors();
    else if (strcmp(how, "copies") == 0)
        copies();
    else if (strcmp(how, "graph") == 0)
        graphs(argv[1]);
    else if (strcmp(how, "link") == 0) {
        argv[2] = argv[1]; /* the first file, behind the program's name */
        link_files(argc - 2, argv + 2);
    } else if (strcmp(how, "order") == 0)
        order(argv[1]);
    else
        compute(how, argv[1]);
    puts("PASS");
    return 0;
}
