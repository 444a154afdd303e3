/* processes.c: a program of the CUDA driver's interface that is killed, forks or has threads.
 *
 * usage: processes PTX LAUNCHES raise SIGNAL     after that many launches, by itself
 *        processes PTX LAUNCHES wait FILE        makes the file, and launches until it is killed
 *        processes PTX LAUNCHES handler SIGNAL   a handler that calls exit(), while a kernel runs
 *        processes PTX LAUNCHES threads N        of each of N threads, each with a stream and memory of its own
 *        processes PTX LAUNCHES fork             a child launches, too, after its parent has
 *        processes PTX LAUNCHES early            a child that is made before the first call launches, too
 *        processes PTX LAUNCHES spawn            runs another program in between
 *        processes PTX LAUNCHES plain */
#include "../expect.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t pointer;
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(pointer *p, size_t bytes);
int cuMemcpyHtoDAsync_v2(pointer dst, const void *src, size_t n, void *stream);
int cuMemcpyDtoHAsync_v2(void *dst, pointer src, size_t n, void *stream);
int cuModuleGetGlobal_v2(pointer *p, size_t *bytes, void *module, const char *name);
int cuMemsetD32_v2(pointer p, unsigned value, size_t n);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);

enum { N = 1000, BLOCK = 128, GRID = (N + BLOCK - 1) / BLOCK, THREADS_MAX = 16 };

static void *context, *saxpy;
static int launches;

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    EXPECT(f != NULL);
    char *text = calloc(1, 1 << 20);
    EXPECT(text && fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void begin(const char *path) {
    void *module;
    char *text = read_text(path);
    pointer scale;
    size_t bytes;
    EXPECT(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0);
    EXPECT(cuModuleLoadData(&module, text) == 0 && cuModuleGetFunction(&saxpy, module, "saxpy") == 0);
    EXPECT(cuModuleGetGlobal_v2(&scale, &bytes, module, "scale") == 0);
    EXPECT(cuMemsetD32_v2(scale, 0x3f800000, bytes / 4) == 0); /* 1.0 */
    free(text);
}

/* What one thread works on. */
struct work {
    void *stream;
    pointer x, y;
    float host[N];
};

static void prepare(struct work *w, int with_stream) {
    for (int i = 0; i < N; i++) w->host[i] = (float)i;
    if (with_stream) EXPECT(cuStreamCreate(&w->stream, 1) == 0);
    EXPECT(cuMemAlloc_v2(&w->x, sizeof w->host) == 0 && cuMemAlloc_v2(&w->y, sizeof w->host) == 0);
    EXPECT(cuMemsetD32_v2(w->y, 0, N) == 0);
    EXPECT(cuMemcpyHtoDAsync_v2(w->x, w->host, sizeof w->host, w->stream) == 0);
}

/* y += 2 x */
static void launch(const struct work *w, unsigned grid) {
    int n = N;
    float a = 2;
    void *arguments[] = {&n, &a, (void *)(uintptr_t)&w->x, (void *)(uintptr_t)&w->y};
    EXPECT(cuLaunchKernel(saxpy, grid, 1, 1, BLOCK, 1, 1, 0, w->stream, arguments, NULL) == 0);
}

static void compute(struct work *w) {
    for (int n = 0; n < launches; n++) launch(w, GRID);
    EXPECT(cuMemcpyDtoHAsync_v2(w->host, w->y, sizeof w->host, w->stream) == 0);
    EXPECT(cuStreamSynchronize(w->stream) == 0);
    for (int i = 0; i < N; i++) EXPECT(w->host[i] == 2 * (float)i * (float)launches);
}

static void once(int with_stream) {
    struct work w = {0};
    prepare(&w, with_stream);
    compute(&w);
}

/* ---- killed ---- */

static void until_killed(const char *file) {
    struct work w = {0};
    prepare(&w, 0);
    for (int n = 0;; n++) {
        launch(&w, GRID);
        if (n == launches) EXPECT(open(file, O_CREAT | O_WRONLY, 0666) >= 0);
    }
}

static void end(int number) {
    (void)number;
    exit(3);
}

static void with_handler(int number) {
    struct work w = {0};
    prepare(&w, 0);
    signal(number, end);
    pid_t parent = getpid();
    if (fork() == 0) {
        usleep(200000);
        kill(parent, number);
        _exit(0);
    }
    for (;;) launch(&w, 60000);
}

/* ---- threads ---- */

static pthread_barrier_t all;

static void *thread(void *work) {
    EXPECT(cuCtxSetCurrent(context) == 0);
    pthread_barrier_wait(&all);
    compute(work);
    return NULL;
}

static void with_threads(int count) {
    static struct work w[THREADS_MAX];
    pthread_t t[THREADS_MAX];
    EXPECT(count > 0 && count <= THREADS_MAX && pthread_barrier_init(&all, NULL, (unsigned)count) == 0);
    for (int n = 0; n < count; n++) prepare(&w[n], 1);
    for (int n = 0; n < count; n++) EXPECT(pthread_create(&t[n], NULL, thread, &w[n]) == 0);
    for (int n = 0; n < count; n++) EXPECT(pthread_join(t[n], NULL) == 0);
}

/* ---- processes ---- */

static void with_child(void) {
    int status;
    once(0);
    pid_t child = fork();
    if (child == 0) {
        once(0);
        exit(0);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    once(0);
}

static void with_early_child(const char *path) {
    int status;
    pid_t child = fork();
    begin(path);
    once(0);
    if (child == 0) exit(0);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
    EXPECT(argc >= 4);
    const char *what = argv[3];
    launches = atoi(argv[2]);
    if (!strcmp(what, "early"))
        with_early_child(argv[1]);
    else
        begin(argv[1]);
    if (!strcmp(what, "wait")) until_killed(argv[4]);
    if (!strcmp(what, "handler")) with_handler(atoi(argv[4]));
    if (!strcmp(what, "raise")) {
        once(0);
        raise(atoi(argv[4]));
    }
    if (!strcmp(what, "threads")) with_threads(atoi(argv[4]));
    if (!strcmp(what, "fork")) with_child();
    if (!strcmp(what, "spawn")) {
        once(0);
        EXPECT(system("true") == 0);
        once(0);
    }
    if (!strcmp(what, "plain")) once(0);
    puts("PASS");
    return 0;
}
