/* Throughput of global memory: what kernels that only stream make of whole GPUs, beside what was measured. */
#include "stream_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void near(const char *what, double got, double expected, double part) {
    print_message("%s: %.1f, measured %.1f (%+.1f %%)\n", what, got, expected, 100 * (got / expected - 1));
    assert_true(got > expected * (1 - part) && got < expected * (1 + part));
}

/* X. Mei and X. Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking, TPDS 2017, table VI: the
 * highest rate of a copy. As many CTAs as the GPU holds; a thread copies one, two or four words at a time, the
 * best counts. */
struct copy {
    const char *gpu;
    uint32_t ctas, threads;
    double gbps;
};

static const struct copy gtx560ti = {"gtx560ti", 24, 512, 109.38};
static const struct copy gtx780 = {"gtx780", 24, 1024, 215.92};
static const struct copy gtx980 = {"gtx980", 32, 1024, 156.25};

static void a_copy_reaches_the_measured_throughput(void **state) {
    const struct copy *c = *state;
    struct ww_gpu_spec gpu;
    double best = 0;
    stream_load_gpu(c->gpu, &gpu);
    for (uint32_t words = 1; words <= 4; words *= 2) {
        struct stream_kernel k = {.loads = 1, .stores = 1, .words = words, .width = 4};
        k.ctas = c->ctas;
        k.threads = c->threads;
        k.rounds = 600 / words;
        double gbps = stream_run(&k, &gpu).gbps;
        if (gbps > best) best = gbps;
    }
    near(c->gpu, best, c->gbps, 0.05);
}

/* A test of one GPU, reported with its name. */
#define FOR(test, what)                                                                                        \
    { #test "_" #what, test, NULL, NULL, (void *)(uintptr_t)&what }

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR(a_copy_reaches_the_measured_throughput, gtx560ti),
        FOR(a_copy_reaches_the_measured_throughput, gtx780),
        FOR(a_copy_reaches_the_measured_throughput, gtx980),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
