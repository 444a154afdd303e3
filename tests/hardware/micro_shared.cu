/* Shared memory, atomics and barriers. */
#include "kit.h"
#include <stdio.h>

#define STEPS 256
#define UNROLL 64

/* ---- latency: a chain in which the value loaded is the next address ---- */

static __device__ __forceinline__ unsigned shared_address(const volatile void *p) {
    return (unsigned)__cvta_generic_to_shared((const void *)p);
}

/* Lane l's word lies at l * stride and holds its own address: each load leads to itself. `atomic`: with an
 * atomic addition of zero, which comes as an argument, in place of the load. */
template <bool ATOMIC>
static __global__ void shared_chain(unsigned stride, unsigned same, unsigned zero, u64 *out) {
    __shared__ unsigned words[32 * 32];
    unsigned p = shared_address(&words[same ? 0 : threadIdx.x * stride % 1024]), v = p;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory");
    __syncthreads();
    u64 from = 0;
    for (int i = 0; i < 3 * STEPS; i += UNROLL) {
        if (i == 2 * STEPS) from = kit_clock();
#pragma unroll
        for (int j = 0; j < UNROLL; j++) {
            if (ATOMIC)
                asm volatile("atom.shared.add.u32 %0, [%0], %1;" : "+r"(p) : "r"(zero) : "memory");
            else
                asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
        }
    }
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory");
    u64 to = kit_clock();
    if (threadIdx.x == 0) out[0] = to - from;
}

static void shared_latency(struct kit *k, u64 *out, const char *method, unsigned lanes, unsigned stride,
                           unsigned same, int atomic) {
    char p[96];
    if (atomic)
        snprintf(p, sizeof p, "space=shared lanes=%u same=%u", lanes, same);
    else
        snprintf(p, sizeof p, "lanes=%u stride=%u", lanes, stride);
    if (!kit_begin(k, "micro", method, p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 9); run++) {
        if (atomic)
            shared_chain<true><<<1, lanes>>>(stride, same, 0, out);
        else
            shared_chain<false><<<1, lanes>>>(stride, same, 0, out);
        v.push_back((double)kit_read(k, out, 1)[0] / STEPS);
    }
    kit_figure(k, "micro", method, p, "cycle", kit_value_of(v.data(), v.size()));
}

/* ---- throughput: all warps of a CTA, four independent words a thread ---- */

template <bool STORE>
static __global__ void shared_stream(unsigned stride, int passes, u64 *time, unsigned *sink) {
    __shared__ unsigned words[8192];
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = i;
    unsigned lane = threadIdx.x % 32, x = 0;
    unsigned p = shared_address(&words[lane * stride % 1024 + (threadIdx.x / 32) % 4 * 1024]);
    __syncthreads();
    u64 from = kit_clock();
    for (int i = 0; i < passes; i++) {
        unsigned v[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (STORE)
                asm volatile("st.shared.u32 [%0], %1;" ::"r"(p + 4096 * j), "r"(lane) : "memory");
            else
                asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[j]) : "r"(p + 4096 * j) : "memory");
        }
        if (!STORE) x ^= v[0] ^ v[1] ^ v[2] ^ v[3];
    }
    __syncthreads();
    u64 to = kit_clock();
    if (threadIdx.x == 0) time[blockIdx.x] = to - from;
    if (x == 0x12345678) *sink = x;
}

static void shared_throughput(struct kit *k, u64 *out, unsigned *sink, unsigned stride, int store) {
    char p[96];
    const int passes = k->quick ? 4 : 512, threads = k->quick ? 64 : 1024;
    snprintf(p, sizeof p, "access=%s stride=%u", store ? "store" : "load", stride);
    if (!kit_begin(k, "micro", "shared_throughput", p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 9); run++) {
        if (store)
            shared_stream<true><<<k->sms, threads>>>(stride, passes, out, sink);
        else
            shared_stream<false><<<k->sms, threads>>>(stride, passes, out, sink);
        for (u64 cycles : kit_read(k, out, (size_t)k->sms))
            v.push_back(4.0 * 4 * threads * passes / (double)cycles);
    }
    kit_figure(k, "micro", "shared_throughput", p, "byte/cycle", kit_value_of(v.data(), v.size()));
}

/* ---- barriers: cycles from one to the next in a CTA that does nothing else ---- */

static __global__ void barriers(int count, u64 *out) {
    __syncthreads();
    u64 from = kit_clock();
    for (int i = 0; i < count; i += 8) {
#pragma unroll
        for (int j = 0; j < 8; j++) asm volatile("bar.sync 0;" ::: "memory");
    }
    u64 to = kit_clock();
    if (threadIdx.x == 0) out[0] = to - from;
}

static void barrier(struct kit *k, u64 *out, int threads) {
    char p[96];
    const int count = k->quick ? 8 : 256;
    snprintf(p, sizeof p, "threads=%d", threads);
    if (!kit_begin(k, "micro", "barrier", p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 9); run++) {
        barriers<<<1, threads>>>(count, out);
        v.push_back((double)kit_read(k, out, 1)[0] / count);
    }
    kit_figure(k, "micro", "barrier", p, "cycle", kit_value_of(v.data(), v.size()));
}

void micro_shared(struct kit *k) {
    u64 *out = (u64 *)kit_alloc(k, (size_t)k->sms * sizeof *out);
    unsigned *sink = (unsigned *)kit_alloc(k, sizeof *sink);
    shared_latency(k, out, "shared_latency", 1, 1, 0, 0);
    for (unsigned stride = 1; stride <= 32; stride *= 2)
        shared_latency(k, out, "shared_latency", 32, stride, 0, 0);
    for (unsigned stride = 1; stride <= 32; stride *= 2)
        for (int store = 0; store < 2; store++) shared_throughput(k, out, sink, stride, store);
    for (int threads = 32; threads <= 1024; threads *= 2) barrier(k, out, threads);
    kit_free(k, sink);
    kit_free(k, out);
}

/* ---- atomics ---- */

/* Each word holds its own address; adding zero gives it back, which is where the next one goes. */
static __global__ void global_chain(u64 *words, u64 zero, u64 *out) {
    u64 p = (u64)(size_t)words, from = 0;
    words[0] = p;
    __threadfence();
    for (int i = 0; i < 2 * STEPS; i += UNROLL) {
        if (i == STEPS) from = kit_clock();
#pragma unroll
        for (int j = 0; j < UNROLL; j++)
            asm volatile("atom.global.add.u64 %0, [%0], %1;" : "+l"(p) : "l"(zero) : "memory");
    }
    words[0] = p;
    u64 to = kit_clock();
    out[0] = to - from;
}

/* RETURNS: the old value is wanted (atom), else it is a reduction (red). Thread t's word is at t * stride. */
template <bool RETURNS>
static __global__ void global_atomics(unsigned *words, unsigned stride, int count, unsigned *sink) {
    unsigned *p = words + (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * stride, x = 0;
    for (int i = 0; i < count; i++) {
        unsigned v;
        if (RETURNS) {
            asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p) : "memory");
            x ^= v;
        } else {
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
        }
    }
    if (x == 0x12345678) *sink = x;
}

static __global__ void shared_atomics(int same, int count, u64 *time, unsigned *sink) {
    __shared__ unsigned words[1024];
    words[threadIdx.x] = 0;
    unsigned p = shared_address(&words[same ? 0 : threadIdx.x]), x = 0;
    __syncthreads();
    u64 from = kit_clock();
    for (int i = 0; i < count; i++) {
        unsigned v;
        asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(v) : "r"(p) : "memory");
        x ^= v;
    }
    __syncthreads();
    u64 to = kit_clock();
    if (threadIdx.x == 0) time[blockIdx.x] = to - from;
    if (x == 0x12345678) *sink = x;
}

static void global_throughput(struct kit *k, unsigned *words, unsigned *sink, unsigned stride, int returns) {
    char p[96];
    const unsigned ctas = 2 * (unsigned)k->sms, threads = k->quick ? 32 : 1024;
    const int count = k->quick ? 2 : stride ? 64 : 8;
    snprintf(p, sizeof p, "space=global stride=%u returns=%d", stride * 4, returns);
    if (!kit_begin(k, "micro", "atomic_throughput", p)) return;
    struct kit_value t = kit_events(k, 1, k->quick ? 1 : 7, [&] {
        if (returns)
            global_atomics<true><<<ctas, threads>>>(words, stride, count, sink);
        else
            global_atomics<false><<<ctas, threads>>>(words, stride, count, sink);
    });
    kit_figure(k, "micro", "atomic_throughput", p, "op/s", kit_value_rate(t, (double)ctas * threads * count));
}

static void shared_atomic_throughput(struct kit *k, u64 *out, unsigned *sink, int same) {
    char p[96];
    const int count = k->quick ? 2 : 64, threads = k->quick ? 32 : 1024;
    snprintf(p, sizeof p, "space=shared same=%d", same);
    if (!kit_begin(k, "micro", "atomic_throughput", p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 7); run++) {
        shared_atomics<<<k->sms, threads>>>(same, count, out, sink);
        for (u64 cycles : kit_read(k, out, (size_t)k->sms))
            v.push_back((double)threads * count / (double)cycles);
    }
    kit_figure(k, "micro", "atomic_throughput", p, "op/cycle", kit_value_of(v.data(), v.size()));
}

void micro_atomic(struct kit *k) {
    u64 *out = (u64 *)kit_alloc(k, (size_t)k->sms * sizeof *out);
    unsigned *sink = (unsigned *)kit_alloc(k, sizeof *sink);
    size_t bytes = 2 * (size_t)k->sms * 1024 * 32 * 4;
    unsigned *words = (unsigned *)kit_alloc(k, bytes);
    CHECK(k, cudaMemset(words, 0, bytes));
    shared_latency(k, out, "atomic_latency", 1, 1, 0, 1);
    shared_latency(k, out, "atomic_latency", 32, 1, 0, 1);
    if (kit_begin(k, "micro", "atomic_latency", "space=global lanes=1")) {
        std::vector<double> v;
        for (int run = 0; run < (k->quick ? 1 : 9); run++) {
            global_chain<<<1, 1>>>((u64 *)words, 0, out);
            v.push_back((double)kit_read(k, out, 1)[0] / STEPS);
        }
        kit_figure(k, "micro", "atomic_latency", "space=global lanes=1", "cycle",
                   kit_value_of(v.data(), v.size()));
    }
    for (unsigned stride = 0; stride <= 32; stride = stride ? stride * 32 : 1)
        for (int returns = 0; returns < 2; returns++) global_throughput(k, words, sink, stride, returns);
    for (int same = 0; same < 2; same++) shared_atomic_throughput(k, out, sink, same);
    kit_free(k, words);
    kit_free(k, sink);
    kit_free(k, out);
}
