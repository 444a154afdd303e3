/* kit.h: what the parts of the kit share. C++, compiled by nvcc.
 *
 * A part is a list of items. An item is measured between kit_begin, which says whether it is wanted (not in the
 * results yet, time left, named by --only), and kit_figure, which adds it to the results. Times are in seconds,
 * cycles are of the SM clock as clock64() counts them. The kit ends at the first error of CUDA: the item goes
 * into the results as failed, and a run with --resume goes on behind it.
 */
#ifndef KIT_H
#define KIT_H

#include "kit_nvml.h"
#include "kit_result.h"
#include <cuda_runtime.h>
#include <vector>

typedef unsigned long long u64;

struct kit {
    struct kit_result result;
    struct kit_nvml *nvml;
    /* the GPU */
    int sms, threads_per_sm, major, minor;
    size_t l2_bytes, memory_bytes, shared_per_cta;
    /* options */
    bool quick; /* few points and small sizes, to try the kit */
    const char *only;
    const char *size; /* of the suite's workloads */
    u64 seed;
    unsigned repeats; /* of a launch in the suite */
    double power_seconds;
    /* state */
    double start, limit; /* seconds; the time that may pass before no item is begun any more */
    bool late;           /* an item was left out for that */
    size_t added;        /* records since the file was written */
    char item[KIT_ID_MAX];
};

/* Seconds since some point in the past. */
double kit_now(void);
/* Ends the program with a message, once the results are written. */
[[noreturn]] void kit_stop(struct kit *k, const char *where, const char *text);
void kit_check(struct kit *k, cudaError_t code, const char *call);
#define CHECK(k, call) kit_check(k, call, #call)

/* True if the figure is to be measured now. */
bool kit_begin(struct kit *k, const char *part, const char *method, const char *parameters);
/* The same for any id. */
bool kit_begin_id(struct kit *k, const char *id);
/* The figure of the item that was begun. */
void kit_figure(struct kit *k, const char *part, const char *method, const char *parameters, const char *unit,
                struct kit_value v);
/* A record that is no figure. */
void kit_record(struct kit *k, const char *id, const char *json);

/* ---- device memory and times (kit_time.cu) ---- */

void *kit_alloc(struct kit *k, size_t bytes);
void kit_free(struct kit *k, void *p);
/* Reads three times as much memory as the L2 holds, so that nothing older is left in it and nothing that is yet
 * to be written back. */
void kit_flush(struct kit *k);
/* Keeps the GPU busy for some microseconds, so that what is enqueued behind it waits for the GPU and not for
 * the host. */
void kit_gate(struct kit *k, double microseconds);
/* Cycles per second of the SM clock while a kernel runs, against the GPU's own timer. */
double kit_clock_hz(struct kit *k);
void kit_time_end(struct kit *k);

/* Seconds of what `launch` enqueues within `gate` microseconds, by events; `runs` times after `warm` runs that
 * do not count. */
template <class F>
struct kit_value kit_events(struct kit *k, unsigned warm, unsigned runs, F launch, double gate = 40) {
    cudaEvent_t a, b;
    std::vector<double> seconds;
    CHECK(k, cudaEventCreate(&a));
    CHECK(k, cudaEventCreate(&b));
    for (unsigned i = 0; i < warm + runs; i++) {
        float ms = 0;
        kit_gate(k, gate);
        CHECK(k, cudaEventRecord(a));
        launch();
        CHECK(k, cudaGetLastError());
        CHECK(k, cudaEventRecord(b));
        CHECK(k, cudaEventSynchronize(b));
        CHECK(k, cudaEventElapsedTime(&ms, a, b));
        if (i >= warm) seconds.push_back(ms * 1e-3);
    }
    cudaEventDestroy(a);
    cudaEventDestroy(b);
    return kit_value_of(seconds.data(), seconds.size());
}

/* Reads `n` elements from the device when all is done. */
template <class T> std::vector<T> kit_read(struct kit *k, const T *device, size_t n) {
    std::vector<T> host(n);
    CHECK(k, cudaGetLastError());
    CHECK(k, cudaDeviceSynchronize());
    CHECK(k, cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

/* ---- the parts ---- */

void micro_clock(struct kit *k);
void micro_chase(struct kit *k);
void micro_tlb(struct kit *k);
void micro_bandwidth(struct kit *k);
void micro_stream(struct kit *k);
void micro_shared(struct kit *k);
void micro_atomic(struct kit *k);
void micro_instructions(struct kit *k);
void micro_launch(struct kit *k);
void power_loops(struct kit *k);
void suite(struct kit *k);

#ifdef __CUDACC__
/* The clock, in program order with other volatile statements. */
static __device__ __forceinline__ u64 kit_clock() {
    u64 t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}
#endif

#endif
