/* Device memory, times, the gate and the SM clock. */
#include "kit.h"
#include <algorithm>
#include <time.h>

static void *flush_buffer;
static size_t flush_bytes;

double kit_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void *kit_alloc(struct kit *k, size_t bytes) {
    void *p = nullptr;
    CHECK(k, cudaMalloc(&p, bytes));
    return p;
}

void kit_free(struct kit *k, void *p) {
    CHECK(k, cudaFree(p));
}

/* Reads past the L1. Lines that were written would be left to be written back while the next kernel runs. */
static __global__ void read_all(const uint4 *p, u64 words, unsigned *sink) {
    unsigned x = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < words; i += (u64)gridDim.x * blockDim.x) {
        uint4 v = __ldcg(p + i);
        x ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (x == 0x12345678) *sink = x;
}

void kit_flush(struct kit *k) {
    if (!flush_buffer) {
        flush_bytes = k->quick ? 64 << 10 : std::max<size_t>(64 << 20, 3 * k->l2_bytes) / 16 * 16;
        flush_buffer = kit_alloc(k, flush_bytes);
        CHECK(k, cudaMemset(flush_buffer, 0x5a, flush_bytes));
    }
    read_all<<<k->quick ? 1 : 4 * k->sms, 512>>>((const uint4 *)flush_buffer, flush_bytes / 16,
                                                 (unsigned *)flush_buffer);
    CHECK(k, cudaGetLastError());
}

void kit_time_end(struct kit *k) {
    if (flush_buffer) kit_free(k, flush_buffer);
    flush_buffer = nullptr;
}

/* The count of steps ends it where a clock does not run. */
static __global__ void spin(u64 cycles) {
    u64 from = kit_clock();
    for (u64 i = 0; i <= cycles / 8; i++)
        if (kit_clock() - from > cycles) break;
}

void kit_gate(struct kit *k, double microseconds) {
    if (k->quick) return;
    spin<<<1, 1>>>((u64)(microseconds * 2000));
    CHECK(k, cudaGetLastError());
}

static __global__ void rate(u64 cycles, u64 *out) {
    u64 t0, t1, c0 = kit_clock(), c1 = c0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0)::"memory");
    for (u64 i = 0; i <= cycles / 8 && c1 - c0 < cycles; i++) c1 = kit_clock();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1)::"memory");
    out[0] = c1 - c0;
    out[1] = t1 - t0;
}

double kit_clock_hz(struct kit *k) {
    u64 *out = (u64 *)kit_alloc(k, 2 * sizeof *out);
    rate<<<1, 1>>>(k->quick ? 10000 : 20000000, out);
    std::vector<u64> v = kit_read(k, out, 2);
    kit_free(k, out);
    return v[1] ? (double)v[0] / (double)v[1] * 1e9 : 0;
}

void micro_clock(struct kit *k) {
    if (!kit_begin(k, "micro", "clock", "domain=sm")) return;
    std::vector<double> mhz;
    for (int i = 0; i < (k->quick ? 1 : 9); i++) mhz.push_back(kit_clock_hz(k) * 1e-6);
    kit_figure(k, "micro", "clock", "domain=sm", "MHz", kit_value_of(mhz.data(), mhz.size()));
}
