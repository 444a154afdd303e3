/* Bandwidth: reads that caches of each level serve, and copy, triad and read streams over DRAM against
 * occupancy. */
#include "kit.h"
#include <algorithm>
#include <stdio.h>

enum path { CA, CG };

template <int P> static __device__ __forceinline__ uint4 load16(const uint4 *p) {
    uint4 v;
    if (P == CA)
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p));
    else
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p));
    return v;
}

/* Each CTA reads `words` words of 16 bytes, `own` of them apart from the next CTA's (0: all the same ones, each
 * CTA beginning elsewhere), `passes` times, four in flight a thread. words: a multiple of 4 blockDim.x.
 * A launch finds the L1 empty: through it a pass that does not count comes first. */
template <int P>
static __global__ void read(const uint4 *base, u64 words, u64 own, unsigned passes, u64 *time, unsigned *sink) {
    const uint4 *mine = base + blockIdx.x * own;
    unsigned x = 0, step = 4 * blockDim.x;
    u64 turn = own ? 0 : words / step * blockIdx.x / gridDim.x * step;
    u64 from = kit_clock();
    for (unsigned pass = P == CA ? 0 : 1; pass <= passes; pass++) {
        if (pass == 1) {
            __syncthreads();
            from = kit_clock();
        }
        for (u64 i = 0; i < words; i += step) {
            u64 at = i + turn < words ? i + turn : i + turn - words;
            uint4 v[4];
#pragma unroll
            for (int j = 0; j < 4; j++) v[j] = load16<P>(mine + at + j * blockDim.x + threadIdx.x);
#pragma unroll
            for (int j = 0; j < 4; j++) x ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
        }
    }
    __syncthreads();
    u64 to = kit_clock();
    if (threadIdx.x == 0) time[blockIdx.x] = to - from;
    if (x == 0x12345678) *sink = x;
}

/* An SM's own data in its L1: bytes a cycle. */
static void l1_read(struct kit *k, uint4 *base, u64 *time, unsigned *sink, u64 bytes) {
    char p[96];
    unsigned passes = k->quick ? 1 : (unsigned)std::max<u64>(4, (4 << 20) / bytes);
    snprintf(p, sizeof p, "path=ca bytes=%llu own=1", bytes);
    if (!kit_begin(k, "micro", "read_bandwidth", p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 5); run++) {
        read<CA><<<k->sms, 1024>>>(base, bytes / 16, bytes / 16, passes, time, sink);
        for (u64 cycles : kit_read(k, time, (size_t)k->sms))
            v.push_back((double)bytes * passes / (double)cycles);
    }
    kit_figure(k, "micro", "read_bandwidth", p, "byte/cycle", kit_value_of(v.data(), v.size()));
}

/* All SMs read the same array past the L1: bytes a second of the whole GPU. */
static void shared_read(struct kit *k, uint4 *base, u64 *time, unsigned *sink, u64 bytes) {
    char p[96];
    const unsigned ctas = 2 * (unsigned)k->sms;
    unsigned passes = k->quick ? 1 : (unsigned)std::max<u64>(1, (8ull << 30) / (bytes * ctas));
    snprintf(p, sizeof p, "path=cg bytes=%llu own=0", bytes);
    if (!kit_begin(k, "micro", "read_bandwidth", p)) return;
    struct kit_value t = kit_events(k, 2, k->quick ? 1 : 7,
                                    [&] { read<CG><<<ctas, 1024>>>(base, bytes / 16, 0, passes, time, sink); });
    kit_figure(k, "micro", "read_bandwidth", p, "byte/s", kit_value_rate(t, (double)bytes * passes * ctas));
}

/* Each CTA's share of an array of about `bytes`, past the L1: what the L2 holds, then DRAM. Shares are whole
 * steps of a CTA; the figure says what was read, and sizes that come to the same are measured once. */
static void spread_read(struct kit *k, uint4 *base, u64 *time, unsigned *sink, u64 bytes) {
    char p[96];
    const unsigned ctas = 2 * (unsigned)k->sms;
    u64 words = std::max<u64>(1, bytes / 16 / ctas / 4096) * 4096, all = words * 16 * ctas;
    unsigned passes = k->quick ? 1 : (unsigned)std::max<u64>(1, (4ull << 30) / all);
    snprintf(p, sizeof p, "path=cg bytes=%llu own=1", all);
    if (!kit_begin(k, "micro", "read_bandwidth", p)) return;
    struct kit_value t = kit_events(k, 2, k->quick ? 1 : 7,
                                    [&] { read<CG><<<ctas, 1024>>>(base, words, words, passes, time, sink); });
    kit_figure(k, "micro", "read_bandwidth", p, "byte/s", kit_value_rate(t, (double)all * passes));
}

void micro_bandwidth(struct kit *k) {
    const u64 grain = 64 << 10; /* words of 4 x 1024 threads */
    u64 most =
        k->quick ? 1 << 20 : std::max<u64>(std::min<u64>(8 * k->l2_bytes, k->memory_bytes / 4), 64 << 20);
    u64 room = std::max<u64>(most + grain * 2 * (u64)k->sms, (u64)k->sms * (512 << 10));
    uint4 *base = (uint4 *)kit_alloc(k, room);
    u64 *time = (u64 *)kit_alloc(k, 2 * (size_t)k->sms * sizeof *time);
    unsigned *sink = (unsigned *)kit_alloc(k, sizeof *sink);
    CHECK(k, cudaMemset(base, 1, room));
    for (u64 bytes = grain; bytes <= (k->quick ? grain : 512 << 10); bytes += grain)
        l1_read(k, base, time, sink, bytes);
    for (u64 bytes = 4 * grain; bytes <= std::min<u64>(most, std::max<u64>(k->l2_bytes / 2, 4 * grain));
         bytes *= 2)
        shared_read(k, base, time, sink, bytes);
    for (u64 bytes = k->quick ? most : 8 << 20; bytes <= most; bytes += std::max<u64>(bytes / 4, 1))
        spread_read(k, base, time, sink, bytes);
    kit_free(k, sink);
    kit_free(k, time);
    kit_free(k, base);
}

/* ---- streams over arrays far larger than the L2 ---- */

template <class T> static __device__ __forceinline__ T triad_of(T b, T c);
template <> __device__ __forceinline__ float triad_of(float b, float c) {
    return b + 3.0f * c;
}
template <> __device__ __forceinline__ float4 triad_of(float4 b, float4 c) {
    return make_float4(b.x + 3 * c.x, b.y + 3 * c.y, b.z + 3 * c.z, b.w + 3 * c.w);
}

template <class T, int ILP> static __global__ void copy(T *__restrict__ a, const T *__restrict__ b, u64 n) {
    u64 all = (u64)gridDim.x * blockDim.x, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    for (; at + (ILP - 1) * all < n; at += ILP * all) {
        T v[ILP];
#pragma unroll
        for (int j = 0; j < ILP; j++) v[j] = b[at + j * all];
#pragma unroll
        for (int j = 0; j < ILP; j++) a[at + j * all] = v[j];
    }
}

template <class T, int ILP>
static __global__ void triad(T *__restrict__ a, const T *__restrict__ b, const T *__restrict__ c, u64 n) {
    u64 all = (u64)gridDim.x * blockDim.x, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    for (; at + (ILP - 1) * all < n; at += ILP * all) {
        T v[ILP], w[ILP];
#pragma unroll
        for (int j = 0; j < ILP; j++) v[j] = b[at + j * all], w[j] = c[at + j * all];
#pragma unroll
        for (int j = 0; j < ILP; j++) a[at + j * all] = triad_of(v[j], w[j]);
    }
}

struct arrays {
    void *a, *b, *c;
    u64 bytes;
};

template <class T, int ILP>
static void stream_point(struct kit *k, const struct arrays &d, int per_sm, int block) {
    char p[96];
    if (per_sm * block > k->threads_per_sm) return;
    snprintf(p, sizeof p, "ctas_per_sm=%d block=%d word=%zu ilp=%d", per_sm, block, sizeof(T), ILP);
    const unsigned ctas = (unsigned)(per_sm * k->sms), runs = k->quick ? 1 : 7;
    const u64 round = (u64)ctas * (u64)block * ILP, n = d.bytes / sizeof(T) / round * round;
    if (n && kit_begin(k, "micro", "copy", p)) {
        struct kit_value t =
            kit_events(k, 1, runs, [&] { copy<T, ILP><<<ctas, block>>>((T *)d.a, (const T *)d.b, n); });
        kit_figure(k, "micro", "copy", p, "byte/s", kit_value_rate(t, 2.0 * (double)n * sizeof(T)));
    }
    if (n && kit_begin(k, "micro", "triad", p)) {
        struct kit_value t = kit_events(
            k, 1, runs, [&] { triad<T, ILP><<<ctas, block>>>((T *)d.a, (const T *)d.b, (const T *)d.c, n); });
        kit_figure(k, "micro", "triad", p, "byte/s", kit_value_rate(t, 3.0 * (double)n * sizeof(T)));
    }
}

void micro_stream(struct kit *k) {
    struct arrays d;
    d.bytes =
        k->quick ? 4 << 20 : std::min<u64>(std::max<u64>(256 << 20, 6 * k->l2_bytes), k->memory_bytes / 8);
    d.a = kit_alloc(k, d.bytes);
    d.b = kit_alloc(k, d.bytes);
    d.c = kit_alloc(k, d.bytes);
    CHECK(k, cudaMemset(d.b, 0, d.bytes));
    CHECK(k, cudaMemset(d.c, 0, d.bytes));
    for (int block = k->quick ? 1024 : 64; block <= 1024; block *= 4)
        for (int per_sm = 1; per_sm <= (k->quick ? 1 : 32); per_sm *= 2) {
            stream_point<float, 1>(k, d, per_sm, block);
            stream_point<float, 4>(k, d, per_sm, block);
            stream_point<float4, 1>(k, d, per_sm, block);
            stream_point<float4, 4>(k, d, per_sm, block);
        }
    kit_free(k, d.a);
    kit_free(k, d.b);
    kit_free(k, d.c);
}
