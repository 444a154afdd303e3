/* Pointer chases: latency against the size of what is walked, and the reach of the TLBs.
 *
 * One thread loads addresses, each the value of the load before. The elements of a walk are linked in the order
 * of a linear congruential generator of full period, so that no prefetcher helps: element i leads to (i
 * MULTIPLIER + INCREMENT) mod n. The period is full where n has no prime factors but 2, 3, 5 and 7 (Hull and
 * Dobell, 1962): MULTIPLIER - 1 is divisible by 4 and by these, INCREMENT by none of them. */
#include "kit.h"
#include <algorithm>
#include <stdio.h>

#define MULTIPLIER 1793821ull /* 420 * 4271 + 1 */
#define INCREMENT 1000003ull
#define LINE 128u
#define FINE 2048u
#define UNROLL 64 /* loads between two turns of the loop, whose own cycles then matter little */

enum path { CA, CG, NC, PATHS };
static const char *const path_name[PATHS] = {"ca", "cg", "nc"};

template <int P> static __device__ __forceinline__ u64 load(u64 p) {
    u64 v;
    if (P == CA) asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    if (P == CG) asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    if (P == NC) asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

struct ring {
    char *base;
    u64 n, stride, spread, wrap; /* element i lies at i * stride + (i * spread) mod wrap */
};

static __host__ __device__ __forceinline__ u64 place(const struct ring &r, u64 i) {
    return (u64)(size_t)r.base + i * r.stride + (r.wrap ? i * r.spread % r.wrap : 0);
}

static __global__ void link(struct ring r) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < r.n; i += (u64)gridDim.x * blockDim.x)
        *(u64 *)(size_t)place(r, i) = place(r, (i * MULTIPLIER + INCREMENT) % r.n);
}

/* The last value goes to shared memory before the clock is read, so that the reading waits for it. */
template <int P> static __global__ void walk(u64 start, u64 warm, u64 count, u64 *out) {
    __shared__ volatile u64 last;
    u64 p = start;
    for (u64 i = 0; i < warm; i++) p = load<P>(p);
    last = p;
    u64 from = kit_clock();
    for (u64 i = 0; i < count; i += UNROLL) {
#pragma unroll
        for (int j = 0; j < UNROLL; j++) p = load<P>(p);
    }
    last = p;
    u64 to = kit_clock();
    out[0] = to - from;
    out[1] = last;
}

/* Every access timed by itself, as X. Mei and X. Chu, "Dissecting GPU Memory Hierarchy through
 * Microbenchmarking" (TPDS 2017), listing 3. */
template <int P> static __global__ void walk_fine(u64 start, u64 warm, unsigned count, unsigned *out) {
    __shared__ volatile u64 index[FINE];
    __shared__ unsigned time[FINE];
    u64 p = start;
    for (u64 i = 0; i < warm; i++) p = load<P>(p);
    for (unsigned i = 0; i < count; i++) {
        u64 from = kit_clock();
        p = load<P>(p);
        index[i] = p;
        u64 to = kit_clock();
        time[i] = (unsigned)(to - from);
    }
    for (unsigned i = 0; i < count; i++) out[i] = time[i];
}

static void launch_walk(int path, u64 start, u64 warm, u64 count, u64 *out) {
    if (path == CA) walk<CA><<<1, 1>>>(start, warm, count, out);
    if (path == CG) walk<CG><<<1, 1>>>(start, warm, count, out);
    if (path == NC) walk<NC><<<1, 1>>>(start, warm, count, out);
}

static void launch_fine(int path, u64 start, u64 warm, unsigned count, unsigned *out) {
    if (path == CA) walk_fine<CA><<<1, 1>>>(start, warm, count, out);
    if (path == CG) walk_fine<CG><<<1, 1>>>(start, warm, count, out);
    if (path == NC) walk_fine<NC><<<1, 1>>>(start, warm, count, out);
}

static void make_ring(struct kit *k, const struct ring &r) {
    link<<<(unsigned)std::min<u64>((r.n + 255) / 256, 8192), 256>>>(r);
    CHECK(k, cudaGetLastError());
    CHECK(k, cudaDeviceSynchronize());
}

/* Cycles of a load, averaged over a walk; `warm` accesses before it. Runs of a walk that is longer than that go
 * on where the last one ended, since the L2 holds what that one read. */
static struct kit_value walk_cycles(struct kit *k, const struct ring &r, int path, u64 warm, u64 count) {
    u64 *out = (u64 *)kit_alloc(k, 2 * sizeof *out), start = place(r, 0);
    std::vector<double> v;
    for (int i = 0; i < (k->quick ? 1 : 5); i++) {
        launch_walk(path, start, warm, count, out);
        std::vector<u64> cycles = kit_read(k, out, 2);
        v.push_back((double)cycles[0] / (double)count);
        start = cycles[1];
    }
    kit_free(k, out);
    return kit_value_of(v.data(), v.size());
}

static struct kit_value fine_cycles(struct kit *k, const struct ring &r, int path, u64 warm) {
    unsigned count = k->quick ? 64 : FINE;
    unsigned *out = (unsigned *)kit_alloc(k, count * sizeof *out);
    launch_fine(path, place(r, 0), warm, count, out);
    std::vector<unsigned> t = kit_read(k, out, count);
    std::vector<double> v(t.begin(), t.end());
    kit_free(k, out);
    return kit_value_of(v.data(), v.size());
}

/* The walk is warmed by a pass of itself, up to sizes that no cache holds; of these nothing is in the L2 at
 * first. */
static void chase_size(struct kit *k, char *base, int path, u64 bytes) {
    char p[96];
    struct ring r = {base, bytes / LINE, LINE, 0, 0};
    u64 warm = bytes <= 2 * k->l2_bytes ? r.n : 4096, count = k->quick ? 64 : 4096;
    if (k->quick) warm = std::min<u64>(warm, 256);
    snprintf(p, sizeof p, "path=%s bytes=%llu", path_name[path], bytes);
    bool coarse = kit_begin(k, "micro", "chase", p), large = bytes > 2 * k->l2_bytes;
    if (coarse) {
        make_ring(k, r);
        if (large) kit_flush(k);
        kit_figure(k, "micro", "chase", p, "cycle", walk_cycles(k, r, path, warm, count));
    }
    if (path == NC || !kit_begin(k, "micro", "chase_fine", p)) return;
    if (!coarse) make_ring(k, r);
    if (large) kit_flush(k);
    kit_figure(k, "micro", "chase_fine", p, "cycle", fine_cycles(k, r, path, warm));
}

/* 2 KB, 3 KB, 4 KB, 6 KB, ... to four times the L2 and then 0.5 and 1 GB, memory permitting. */
void micro_chase(struct kit *k) {
    u64 most = k->quick ? 16384 : std::min<u64>(1ull << 30, k->memory_bytes / 4);
    char *base = nullptr;
    for (u64 kb = 2; kb * 1024 <= most; kb *= 2)
        for (int half = 0; half < 2; half++) {
            u64 bytes = kb * 1024 / 2 * (2 + half);
            if (bytes > most || (bytes > 4 * k->l2_bytes && (half || bytes < (1ull << 29)))) continue;
            if (!base) base = (char *)kit_alloc(k, most);
            for (int path = CA; path < PATHS; path++)
                if (path != NC || bytes <= (1 << 20)) chase_size(k, base, path, bytes);
        }
    if (base) kit_free(k, base);
}

/* One line of each 2 MB page, in L2 hits: past the L1, which would hold the lines itself. The lines of
 * neighbouring pages differ in the bits above the line, so that they spread over the L2. */
void micro_tlb(struct kit *k) {
    const u64 page = 2 << 20, most = k->quick ? 4 : std::min<u64>(8192, k->memory_bytes / 2 / page);
    char *base = nullptr;
    for (u64 n = 2; n <= most; n *= 2)
        for (int half = 0; half < 2; half++) {
            u64 pages = n / 2 * (2 + half);
            char p[96];
            snprintf(p, sizeof p, "stride=%llu pages=%llu", page, pages);
            if (pages > most || !kit_begin(k, "micro", "tlb", p)) continue;
            if (!base) base = (char *)kit_alloc(k, (most + 1) * page);
            struct ring r = {base, pages, page, 33 * LINE, page / 2};
            make_ring(k, r);
            kit_figure(k, "micro", "tlb", p, "cycle",
                       walk_cycles(k, r, CG, 2 * pages, k->quick ? UNROLL : 4096));
        }
    if (base) kit_free(k, base);
}
