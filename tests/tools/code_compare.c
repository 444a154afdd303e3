/* Runs a workload twice, its PTX and its machine code, and compares what is left in device memory.
 *
 * usage: code_compare ARCH PTXAS-OPTIONS WORKLOAD [KEY=VALUE...]
 * A line on stdout: "WORKLOAD ARCH verified=1 words=N differ=N bits=N scaled=X instructions=N thread=N s=X
 * bytes=N" with the number of 32-bit words in all buffers, those that differ, the largest difference of their
 * bits as numbers, and the largest difference as floats, in units of the largest magnitude in the same buffer.
 */
#include "../../estimator/warpwatt.h"
#include "../../traces/ptx/record/device_internal.h"
#include "../../traces/workloads/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct result {
    struct ww_device *device;
    struct ww_record_stats stats;
    double seconds;
};
struct difference {
    uint64_t words, differ, bits;
    double scaled;
    double largest, distance; /* of the current buffer */
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(void *context, const char *text) {
    if (*(bool *)context) fprintf(stderr, "%s\n", text);
}

static enum ww_code run(int argc, char **argv, enum ww_record_code code, struct result *r,
                        struct ww_error *error) {
    const struct ww_workload_ops *ops;
    void *settings = NULL;
    bool loud = code != WW_RECORD_PTX && getenv("SAY");
    struct ww_record_options options = {.arch = argv[1],
                                        .code = code,
                                        .ptxas_options = argv[2],
                                        .out_path = code == WW_RECORD_PTX ? NULL : getenv("OUT"),
                                        .message = say,
                                        .message_context = &loud};
    double began = now();
    enum ww_code got =
        ww_workload_prepare(argv[3], (const char *const *)&argv[4], (size_t)argc - 4, &ops, &settings, error);
    if (got == WW_OK) got = ww_device_new(&options, NULL, &r->device, error);
    if (got == WW_OK) got = ops->run(settings, r->device, 0, error);
    r->seconds = now() - began;
    if (got == WW_OK) got = ww_device_finish(r->device, &r->stats, error);
    free(settings);
    return got;
}

static void compare_word(uint32_t a, uint32_t b, struct difference *d) {
    float x, y;
    d->words++;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    if (isfinite(x) && fabs((double)x) > d->largest) d->largest = fabs((double)x);
    if (a == b) return;
    d->differ++;
    uint64_t bits = a > b ? (uint64_t)a - b : (uint64_t)b - a;
    if (bits > d->bits) d->bits = bits;
    double distance = isfinite(x) && isfinite(y) ? fabs((double)x - (double)y) : INFINITY;
    if (distance > d->distance) d->distance = distance;
}

/* The next buffer that the host asked for: variables of modules are laid out otherwise in machine code. */
static const struct mem_alloc *next(const struct mem *m, size_t *at) {
    while (*at < m->count && m->alloc[*at]->name) ++*at;
    return *at < m->count ? m->alloc[(*at)++] : NULL;
}

static bool compare(const struct mem *a, const struct mem *b, struct difference *d) {
    size_t i = 0, j = 0;
    for (;;) {
        const struct mem_alloc *x = next(a, &i), *y = next(b, &j);
        if (!x || !y) return !x && !y;
        if (x->size != y->size) return false;
        d->largest = d->distance = 0;
        for (uint64_t n = 0; n + 4 <= x->size; n += 4) {
            uint32_t u, v;
            memcpy(&u, x->host + n, 4);
            memcpy(&v, y->host + n, 4);
            compare_word(u, v, d);
        }
        double scaled = d->distance > 0 ? d->distance / d->largest : 0;
        if (scaled > d->scaled) d->scaled = scaled;
    }
}

int main(int argc, char **argv) {
    struct result ptx = {0}, sass = {0};
    struct difference d = {0};
    struct ww_error error = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: code_compare ARCH PTXAS-OPTIONS WORKLOAD [KEY=VALUE...]\n");
        return 2;
    }
    enum ww_code code = run(argc, argv, WW_RECORD_SASS, &sass, &error);
    if (code != WW_OK) printf("%s %s FAILED %s: %s\n", argv[3], argv[1], error.where, error.text);
    if (code == WW_OK && run(argc, argv, WW_RECORD_PTX, &ptx, &error) != WW_OK) {
        printf("%s %s PTX FAILED %s: %s\n", argv[3], argv[1], error.where, error.text);
        code = WW_FAIL;
    }
    if (code == WW_OK && !compare(&ptx.device->mem, &sass.device->mem, &d)) {
        printf("%s %s FAILED the buffers differ in number or size\n", argv[3], argv[1]);
        code = WW_FAIL;
    }
    if (code == WW_OK)
        printf("%s %s verified=1 words=%llu differ=%llu bits=%llu scaled=%.3g instructions=%llu thread=%llu "
               "s=%.2f bytes=%llu\n",
               argv[3], argv[1], (unsigned long long)d.words, (unsigned long long)d.differ,
               (unsigned long long)d.bits, d.scaled, (unsigned long long)sass.stats.warp_instructions,
               (unsigned long long)sass.stats.thread_instructions, sass.seconds,
               (unsigned long long)sass.stats.bytes);
    ww_device_free_all(ptx.device);
    ww_device_free_all(sass.device);
    return code == WW_OK ? 0 : 1;
}
