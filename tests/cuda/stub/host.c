/* host.c: a CUDA program without nvcc: what nvcc generates for a program's host side, written by hand in C. It
 * makes a fat binary of kernels.ptx - plain, LZ4 or zstd - and registers it through the same entry points.
 *
 * usage: host PTX plain|lz4|zstd|cubin|broken|size|header|linked [fault|exit N|abort|close N|early N|unchecked|
 *        none N|quick|limits|around|endless] */
#include "../expect.h"
#include <fcntl.h>
#include <lz4.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

typedef struct {
    unsigned x, y, z;
} dim3;

void **__cudaRegisterFatBinary(void *fatbin);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *tid, void *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
                       int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                     void *stream);
int cudaMalloc(void **p, size_t bytes);
int cudaMemcpy(void *dst, const void *src, size_t n, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset, int kind);
int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, int kind);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaGetDeviceProperties(void *p, int device);
int cudaRuntimeGetVersion(int *version);
int cudaDeviceSetLimit(int limit, size_t value);
int cudaMallocManaged(void **p, size_t bytes, unsigned flags);
int cudaMallocHost(void **p, size_t bytes);
int cudaIpcGetMemHandle(void *handle, void *p);

enum { TO_DEVICE = 1, TO_HOST = 2 };
static const struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *linked;
} * registered;
static struct wrapper wrapper = {0x466243b1, 1, NULL, NULL};

static char saxpy, count, fields, outside; /* stand for the stubs' addresses */
static float scale[4];
static int hits;
static char *at;

static void put(uint64_t v, unsigned bytes) {
    for (; bytes; bytes--, v >>= 8) *at++ = (char)v;
}

/* A fat binary of one image; layout: traces/sass/cubin/fatbin.h. */
static void *make_fatbin(const char *text, size_t n, const char *form) {
    size_t room = ZSTD_compressBound(n) + (size_t)LZ4_compressBound((int)n) + 256, bytes = n;
    char *all = calloc(1, room), *body = calloc(1, room);
    uint64_t flags = 0x11, kind = 1;
    memcpy(body, text, n);
    if (!strcmp(form, "lz4")) {
        bytes = (size_t)LZ4_compress_default(text, body, (int)n, (int)room);
        flags |= 1u << 13;
    } else if (!strcmp(form, "zstd") || !strcmp(form, "broken")) {
        bytes = ZSTD_compress(body, room, text, n, 3);
        flags |= 1u << 15;
        if (form[0] == 'b') body[bytes / 2] ^= 0x55;
    } else if (!strcmp(form, "cubin")) {
        kind = 2;
    }
    size_t padded = (bytes + 7) / 8 * 8;
    at = all;
    put(0xba55ed50, 4), put(1, 2), put(16, 2), put(64 + padded, 8);
    put(kind, 2), put(0x101, 2), put(64, 4), put(padded, 8);
    put(flags == 0x11 ? 0 : bytes, 4), put(64, 4), put(0, 4), put(70, 4);
    put(0, 8), put(flags, 8), put(0, 8), put(flags == 0x11 ? 0 : n, 8);
    memcpy(at, body, bytes);
    free(body);
    return all;
}

static void register_all(const char *path, const char *form) {
    FILE *f = fopen(path, "rb");
    EXPECT(f);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    char *made = make_fatbin(text, n, form);
    wrapper.data = made;
    if (!strcmp(form, "size")) memset(made + 8, 0x7f, 7); /* of all images */
    if (!strcmp(form, "header")) memset(made + 20, 0x7f, 4);
    if (!strcmp(form, "linked")) { /* neither the binary nor the list can be read */
        wrapper.data = (const void *)(uintptr_t)64;
        wrapper.version = 2;
        wrapper.linked = (const void *)(uintptr_t)4096;
    }
    free(text);
    registered = &wrapper;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &saxpy, &saxpy, "saxpy", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &count, &count, "count", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &fields, &fields, "fields", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &outside, &outside, "outside", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)scale, (char *)scale, "scale", 0, sizeof scale, 1, 0);
    __cudaRegisterVar(handle, (char *)&hits, (char *)&hits, "hits", 0, sizeof hits, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

/* kernel<<<grid, block>>>(...), as the compiler writes it. */
static int launch(const void *kernel, unsigned grid, unsigned block, void **arguments) {
    dim3 g, b;
    size_t shared;
    void *stream;
    EXPECT(!__cudaPushCallConfiguration((dim3){grid, 1, 1}, (dim3){block, 1, 1}, 0, NULL));
    EXPECT(!__cudaPopCallConfiguration(&g, &b, &shared, &stream));
    return cudaLaunchKernel(kernel, g, b, arguments, shared, stream);
}

static void run_saxpy(void) {
    enum { N = 1000 };
    float x[N], y[N], a = 3, s[4] = {1, 2, 3, 4}, *dx, *dy;
    int n = N;
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 0.5f * (float)i;
    EXPECT(!cudaMalloc((void **)&dx, sizeof x) && !cudaMalloc((void **)&dy, sizeof y));
    EXPECT(!cudaMemcpy(dx, x, sizeof x, TO_DEVICE) && !cudaMemcpy(dy, y, sizeof y, TO_DEVICE));
    EXPECT(!cudaMemcpyToSymbol(scale, s, sizeof s, 0, TO_DEVICE));
    void *arguments[] = {&n, &a, &dx, &dy};
    EXPECT(!launch(&saxpy, 8, 128, arguments));
    EXPECT(!cudaMemcpy(x, dy, sizeof y, TO_HOST));
    for (int i = 0; i < N; i++) EXPECT(x[i] == 3 * (float)i + y[i] * s[i & 3]);
}

static void run_count(void) {
    int p[64], n = 64, limit = 40, got, *d;
    for (int i = 0; i < 64; i++) p[i] = i;
    EXPECT(!cudaMalloc((void **)&d, sizeof p) && !cudaMemcpy(d, p, sizeof p, TO_DEVICE));
    void *arguments[] = {&d, &n, &limit};
    for (int k = 0; k < 3; k++) EXPECT(!launch(&count, 2, 32, arguments));
    EXPECT(!cudaMemcpyFromSymbol(&got, &hits, sizeof got, 0, TO_HOST) && got == 3 * 23);
}

static void run_fields(void) {
    struct {
        char small;
        double large;
    } a = {1, 2.5}, c = {3, 4.25};
    short b = -7;
    double *out, got;
    EXPECT(!cudaMalloc((void **)&out, sizeof got));
    void *arguments[] = {&a, &b, &c, &out};
    EXPECT(!launch(&fields, 1, 1, arguments));
    EXPECT(!cudaMemcpy(&got, out, sizeof got, TO_HOST) && got == 1 + 2.5 - 7 + 3 + 4.25 + 42);
}

/* Where the number of SMs stands: behind clockRate and deviceOverlap until 12, without them since 13. */
static void look_at_properties(void) {
    char p[2048];
    int version = 0, sms, warp;
    memset(p, 0x5a, sizeof p);
    EXPECT(!cudaGetDeviceProperties(p, 0) && !cudaRuntimeGetVersion(&version));
    memcpy(&sms, p + (version >= 13000 ? 384 : 388), sizeof sms);
    memcpy(&warp, p + 308, sizeof warp);
    size_t size = version >= 13000 ? 1008 : 728; /* the plain name keeps the layout of 11 in 12 */
    EXPECT(warp == 32 && p[size] == 0x5a && p[size - 1] != 0x5a);
    printf("version %d, %d SMs\n", version / 1000, sms);
}

/* What a daemon does, and then files of its own: nobody else may write into them. */
static void close_and_open(int fds) {
    char name[32], some[8];
    for (int fd = 0; fd < fds; fd++) close(fd);
    for (int n = 0; n < 20; n++) {
        snprintf(name, sizeof name, "own-%d", n);
        int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (fd < 0 || write(fd, "own", 3) != 3 || read(fd, some, 1) != 0) _exit(9);
    }
}

/* A word just behind 64 bytes of each kind of memory is written. */
static void touch_around(void) {
    void *p[3], *arguments[] = {NULL};
    EXPECT(!cudaMalloc(&p[0], 64) && !cudaMallocManaged(&p[1], 64, 1) && !cudaMallocHost(&p[2], 64));
    for (int n = 0; n < 3; n++) {
        p[n] = (void *)((uintptr_t)p[n] + 64 - ((uintptr_t)4 << 28)); /* `outside` adds 4 << 28 */
        arguments[0] = &p[n];
        int code = launch(&outside, 1, 1, arguments);
        printf("around %d: %d\n", n, code);
        if (code) return;
    }
}

static void check_limits(void) {
    EXPECT(cudaDeviceSetLimit(0, SIZE_MAX) == 1 && cudaDeviceSetLimit(1, SIZE_MAX) == 2);
    EXPECT(cudaDeviceSetLimit(2, SIZE_MAX) == 2 && cudaDeviceSetLimit(99, 1) == 215);
    EXPECT(!cudaDeviceSetLimit(0, 4096) && !cudaDeviceSetLimit(2, 64 << 20));
}

/* Launches that are refused: too many threads, no grid, what is no kernel. */
static void refused_launches(void) {
    void *p = NULL, *arguments[] = {&p};
    EXPECT(launch(&outside, 1, 4096, arguments) == 9 && launch(&outside, 0, 1, arguments) == 9);
    EXPECT(launch(&at, 1, 1, arguments) == 98 && launch(NULL, 1, 1, arguments) == 98);
}

/* A launch that takes more instructions than it may. */
static int launch_endless(void) {
    int n = 0;
    float a = 0, *x = NULL;
    void *arguments[] = {&n, &a, &x, &x};
    return launch(&saxpy, 8, 128, arguments);
}

#ifdef SECTION /* as programs of nvcc have it, by which the recorder knows them */
__attribute__((section(".nv_fatbin"), used)) static const char fatbin[8] = "fatbin";
#endif

int main(int argc, char **argv) {
    EXPECT(argc >= 3);
    register_all(argv[1], argv[2]);
    void *graph, *arguments[] = {&graph};
    const char *what = argc > 3 ? argv[3] : "";
    if (!strcmp(what, "early")) close_and_open(atoi(argv[4]));
    if (!strcmp(what, "none")) { /* checks its errors, and launches nothing */
        EXPECT(!cudaMalloc(&graph, 4));
        refused_launches();
        return atoi(argv[4]);
    }
    if (strstr("cubin broken size header linked", argv[2])) {
        EXPECT(!cudaMalloc(&graph, 4));
        printf("launch: %d\n", launch(&outside, 1, 1, arguments));
        return 0;
    }
    if (!strcmp(what, "endless")) {
        printf("launch: %d\n", launch_endless());
        return 0;
    }
    if (!strcmp(what, "limits")) check_limits();
    if (!strcmp(what, "around")) {
        touch_around();
        return 0;
    }
    look_at_properties();
    run_saxpy();
    if (!strcmp(what, "close")) close_and_open(atoi(argv[4]));
    if (!strcmp(what, "quick")) _exit(0);
    refused_launches();
    run_count();
    run_fields();
    EXPECT(cudaIpcGetMemHandle(&graph, NULL) == 801 && cudaGetLastError() == 801 && cudaGetLastError() == 0);
    if (argc > 3 && !strcmp(argv[3], "fault")) {
        EXPECT(!cudaMalloc(&graph, 64));
        EXPECT(launch(&outside, 1, 1, arguments) == 700 && cudaDeviceSynchronize() == 700);
    }
    if (argc > 3 && !strcmp(argv[3], "abort")) abort();
    if (!strcmp(what, "exit")) exit(atoi(argv[4]));
    puts("PASS");
    return 0;
}
