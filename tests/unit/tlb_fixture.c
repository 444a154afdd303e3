#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "tlb_fixture.h"
#include <stdlib.h>

void chase(const struct ww_gpu *gpu, enum ww_micro_path path, const uint64_t *address, size_t count,
           uint32_t *latency, uint64_t *counter) {
    struct ww_micro_chase what = {path, address, count, 0};
    struct ww_bench_result r;
    struct ww_bench *bench;
    struct ww_micro *m;
    struct ww_error error;
    assert_int_equal(ww_bench_new(gpu, 1, &bench, &error), WW_OK);
    assert_int_equal(ww_micro_chase(&what, &m, &error), WW_OK);
    if (ww_bench_run(bench, m, count + 1, &r, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    assert_int_equal(r.sample_count, count + 1);
    for (size_t i = 0; i < count; i++) latency[i] = (uint32_t)(r.sample[i + 1].cycle - r.sample[i].cycle);
    for (int c = 0; counter && c < WW_COUNTER_COUNT; c++) counter[c] = r.counter[c];
    ww_micro_free(m);
    ww_bench_free(bench);
}

/* The mean of every `step`th latency from `from` on. */
static double mean(const uint32_t *latency, size_t count, size_t from, size_t step) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = from; i < count; i += step, n++) sum += latency[i];
    return sum / (double)n;
}

/* Passes over `pages` pages, one line of each, every time another one within the page. */
static double passes(const struct ww_gpu *gpu, enum ww_micro_path path, size_t pages, size_t rounds) {
    size_t count = pages * rounds;
    uint64_t *address = calloc(count, sizeof *address);
    uint32_t *latency = calloc(count, sizeof *latency);
    assert_true(address && latency);
    for (size_t i = 0; i < count; i++) address[i] = CHASE_BASE + i % pages * (2 * MIB + 128);
    chase(gpu, path, address, count, latency, NULL);
    double last = mean(latency, count, count - pages, 1);
    free(address);
    free(latency);
    return last;
}

/* A first look at memory in steps of `stride`, `skip` of `each` left out of the mean. */
static double cold(const struct ww_gpu *gpu, enum ww_micro_path path, uint64_t stride, size_t count,
                   size_t from, size_t each) {
    uint64_t address[256];
    uint32_t latency[256];
    assert_true(count <= 256);
    for (size_t i = 0; i < count; i++) address[i] = CHASE_BASE + i * stride + i / each * 128;
    chase(gpu, path, address, count, latency, NULL);
    return mean(latency, count, from, each);
}

double pattern(const struct ww_gpu *gpu, enum ww_micro_path path, int number) {
    switch (number) {
    case 1: /* a line again and again */
        return passes(gpu, path, 1, 64);
    case 2: /* more pages than the L1 TLB has entries, and fewer than the L2 TLB */
        return passes(gpu, path, 64, 4);
    case 3: /* more than both */
        return passes(gpu, path, 100, 4);
    case 4: /* the second half of each page */
        return cold(gpu, path, MIB, 200, 3, 2);
    case 5: /* a new page each time, within one region */
        return cold(gpu, path, 2 * MIB, 200, 1, 1);
    default: /* a new region each time */
        return cold(gpu, path, 512 * MIB, 33, 1, 1);
    }
}
