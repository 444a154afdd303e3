/* stream_fixture.h: kernels that stream over global arrays, as microbenchmarks of memory throughput do. */
#ifndef TESTS_STREAM_FIXTURE_H
#define TESTS_STREAM_FIXTURE_H

#include "../../estimator/warpwatt.h"
#include "../../estimator/core/launch/engine_internal.h"

/* Every thread reads `words` words of each of `loads` arrays and then writes as many to each of `stores`
 * others, `rounds` times. In one step of a warp the 32 lanes touch neighbouring words; the next word lies a
 * whole grid of threads further, and so does the next round (a grid-stride loop). */
struct stream_kernel {
    uint32_t ctas, threads;
    uint32_t loads, stores;
    uint32_t words, width; /* width: bytes of a word */
    uint32_t rounds;
    uint32_t shared_bytes; /* of a CTA, to hold down how many an SM takes */
};

/* What a run gave. */
struct stream_result {
    double gbps; /* bytes that the kernel asks to be read and written, over the launch's cycles */
    double cycles;
    uint64_t counter[WW_COUNTER_COUNT];
};

/* The GPU of that name, from models/. */
void stream_load_gpu(const char *name, struct ww_gpu_spec *gpu);
/* Peak of the DRAM's data bus, GB/s. */
double stream_peak_gbps(const struct ww_gpu_spec *gpu);
/* Replays the kernel after another one that has filled the L2 with written lines, as the runs before the one
 * that is measured do; fails the test on errors. */
struct stream_result stream_run(const struct stream_kernel *k, const struct ww_gpu_spec *gpu);

#endif
