/* Power over steady loops: idle, each instruction class, each memory level, and arithmetic intensity.
 *
 * A loop runs for some seconds. Its energy is the difference of the driver's total-energy counter, its power
 * that over the time; where there is no counter, the mean of the driver's power readings in the loop's second
 * half. Beside it stand what the loop did a second, and the lowest clock, temperature and throttle reasons on
 * the way. */
#include "inst.h"
#include <algorithm>
#include <stdio.h>
#include <string>
#include <unistd.h>

struct log {
    std::vector<double> power, mhz;
    unsigned temperature;
    u64 throttle;
};

static void note(struct kit *k, struct log *l, bool counts) {
    struct kit_nvml_sample s = kit_nvml_read(k->nvml);
    if (!s.ok) return;
    if (counts && s.has_power) l->power.push_back(s.power_w);
    l->mhz.push_back(s.sm_mhz);
    l->temperature = std::max(l->temperature, s.temperature_c);
    l->throttle |= s.throttle;
}

static void figure(struct kit *k, const char *method, const char *p, const char *unit, double v) {
    struct kit_value one = {v, v, v, 1};
    kit_figure(k, "power", method, p, unit, one);
}

static void write_figures(struct kit *k, const char *p, struct log *l, double energy, double seconds,
                          double launches, double ops, double bytes) {
    if (energy > 0) figure(k, "energy_power", p, "W", energy / seconds);
    if (!l->power.empty())
        kit_figure(k, "power", "sampled_power", p, "W", kit_value_of(l->power.data(), l->power.size()));
    if (ops > 0) figure(k, "op_rate", p, "op/s", ops * launches / seconds);
    if (bytes > 0) figure(k, "byte_rate", p, "byte/s", bytes * launches / seconds);
    if (!l->mhz.empty()) kit_figure(k, "power", "clock", p, "MHz", kit_value_of(l->mhz.data(), l->mhz.size()));
    if (l->temperature) figure(k, "temperature", p, "C", l->temperature);
    figure(k, "throttle_reasons", p, "", (double)l->throttle);
    figure(k, "seconds", p, "s", seconds); /* last: this loop is done */
}

/* `launch` enqueues one launch that does `ops` operations and moves `bytes`; nullptr-like idle: a sleep. */
template <class F> static void loop(struct kit *k, const char *p, double ops, double bytes, F launch) {
    struct log l = {};
    if (!kit_begin(k, "power", "seconds", p)) return;
    launch();
    CHECK(k, cudaGetLastError());
    CHECK(k, cudaDeviceSynchronize());
    double warm_until = kit_now() + (k->quick ? 0 : 0.5);
    while (kit_now() < warm_until) {
        launch();
        CHECK(k, cudaDeviceSynchronize());
    }
    struct kit_nvml_sample before = kit_nvml_read(k->nvml);
    double from = kit_now(), length = k->quick ? 0 : k->power_seconds, launches = 0, now = from, next = from;
    do {
        for (int i = 0; i < (k->quick ? 1 : 4); i++, launches++) launch();
        CHECK(k, cudaDeviceSynchronize());
        now = kit_now();
        if (now >= next) {
            note(k, &l, now - from > length / 2);
            next = now + 0.05;
        }
    } while (now - from < length);
    struct kit_nvml_sample after = kit_nvml_read(k->nvml);
    double seconds = kit_now() - from,
           energy = before.has_energy && after.has_energy ? after.energy_j - before.energy_j : 0;
    write_figures(k, p, &l, energy, seconds, launches, ops, bytes);
}

template <class C> static void class_loop(struct kit *k, unsigned *sink) {
    char p[96];
    const int rounds = k->quick ? 1 : 1000, threads = k->quick ? 32 : 1024, ctas = k->sms * (k->quick ? 1 : 2);
    snprintf(p, sizeof p, "loop=%s", C::name());
    const double each = std::string(C::name()) == "mma" ? 1.0 / 32 : 1;
    double ops = each * (rounds + 1) * 256.0 * C::steps * threads * ctas;
    loop(k, p, ops, 0, [=] { inst_chains<C, 4, 64><<<ctas, threads>>>(1, rounds, nullptr, sink); });
}

/* Reads of 16 bytes a thread over `words` words for each CTA, and FMAS fused multiply-adds for each 4-byte word
 * that was read. `own`: words from a CTA's part to the next one's. */
template <int FMAS>
static __global__ void intense(const float4 *base, u64 words, u64 own, int passes, float f, float *sink) {
    const float4 *mine = base + blockIdx.x * own;
    float x[4] = {1, 2, 3, 4};
    for (int pass = 0; pass < passes; pass++)
        for (u64 i = threadIdx.x; i < words; i += 2 * blockDim.x) {
            float4 v[2] = {__ldcg(mine + i), __ldcg(mine + i + blockDim.x)};
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float w[4] = {v[j].x, v[j].y, v[j].z, v[j].w};
                /* at least one for each word, or the load is not needed */
#pragma unroll
                for (int n = 0; n < FMAS; n++)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[c]) : "f"(f), "f"(w[c]));
            }
        }
    if (x[0] + x[1] + x[2] + x[3] == 12345.0f) *sink = x[0];
}

template <int FMAS>
static void intense_loop(struct kit *k, const char *p, const float4 *base, u64 words, u64 own, int passes,
                         float *sink) {
    const int threads = 1024, ctas = 2 * k->sms;
    double all = 4.0 * (double)words * passes * ctas; /* of 4 bytes */
    loop(k, p, 2.0 * FMAS * all, 4 * all,
         [=] { intense<FMAS><<<ctas, threads>>>(base, words, own, passes, 0.5f, sink); });
}

/* Words of a CTA so that all of them together read `bytes`, in whole steps of 2 x 1024 threads. */
static u64 words_for(const struct kit *k, u64 bytes) {
    return std::max<u64>(1, bytes / 16 / 2048 / (2 * (u64)k->sms)) * 2048;
}

template <int FMAS> static void roofline(struct kit *k, const float4 *base, u64 bytes, float *sink) {
    char p[96];
    u64 words = words_for(k, bytes);
    snprintf(p, sizeof p, "loop=roofline flop_per_byte=%g", 2.0 * FMAS / 4);
    intense_loop<FMAS>(k, p, base, words, words, k->quick ? 1 : 4, sink);
}

static __global__ void l1_loop(const float4 *base, int passes, float *sink) {
    float x = 0;
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < 2; i++) { /* 32 KB of each SM */
            float4 v;
            asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                         : "l"(base + i * 1024 + threadIdx.x));
            x += v.x + v.w;
        }
    if (x == 12345.0f) *sink = x;
}

static __global__ void shared_loop(int passes, unsigned *sink) {
    __shared__ unsigned words[1024];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned x = 0, p = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x]);
    for (int i = 0; i < passes; i++) {
        unsigned v;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(p) : "memory");
        x ^= v;
    }
    if (x == 12345) *sink = x;
}

static void levels(struct kit *k, const float4 *base, u64 bytes, float *sink) {
    const int ctas = 2 * k->sms, passes = k->quick ? 1 : 20000;
    loop(k, "loop=shared", 0, 4.0 * 1024 * ctas * passes,
         [=] { shared_loop<<<ctas, 1024>>>(passes, (unsigned *)sink); });
    loop(k, "loop=l1", 0, 2.0 * 16 * 1024 * ctas * passes,
         [=] { l1_loop<<<ctas, 1024>>>(base, passes, sink); });
    u64 in_l2 = words_for(k, k->l2_bytes / 4), in_dram = words_for(k, bytes);
    intense_loop<1>(k, "loop=l2", base, in_l2, in_l2,
                    k->quick ? 1 : (int)std::max<u64>(1, (32ull << 30) / (in_l2 * 16 * (u64)ctas)), sink);
    intense_loop<1>(k, "loop=dram_read", base, in_dram, in_dram, k->quick ? 1 : 4, sink);
    loop(k, "loop=dram_copy", 0, (double)bytes, [=] {
        cudaMemcpyAsync((void *)((char *)base + bytes / 2), base, bytes / 2, cudaMemcpyDeviceToDevice);
    });
}

/* Numbers in [0.5, 1) with bits as if by chance, since power depends on how many bits change. */
static __global__ void fill(unsigned *p, u64 n) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
        unsigned h = (unsigned)i * 2654435761u;
        h ^= h >> 15;
        h *= 2246822519u;
        p[i] = 0x3f000000u | ((h ^ h >> 13) & 0x7fffffu);
    }
}

void power_loops(struct kit *k) {
    u64 bytes = k->quick ? 16 << 20 : std::min<u64>(4ull << 30, k->memory_bytes / 4);
    u64 room = std::max<u64>(bytes, 2048 * 16 * 2 * (u64)k->sms);
    float4 *base = (float4 *)kit_alloc(k, room);
    float *sink = (float *)kit_alloc(k, sizeof *sink);
    fill<<<4096, 256>>>((unsigned *)base, room / 4);
    CHECK(k, cudaGetLastError());
    loop(k, "loop=idle", 0, 0, [=] { usleep(k->quick ? 1 : 20000); });
#define X(name) class_loop<name>(k, (unsigned *)sink);
    INST_CLASSES(X)
#undef X
    levels(k, base, bytes, sink);
    roofline<1>(k, base, bytes, sink);
    roofline<2>(k, base, bytes, sink);
    roofline<4>(k, base, bytes, sink);
    roofline<8>(k, base, bytes, sink);
    roofline<16>(k, base, bytes, sink);
    roofline<32>(k, base, bytes, sink);
    roofline<64>(k, base, bytes, sink);
    roofline<128>(k, base, bytes, sink);
    roofline<256>(k, base, bytes, sink);
    kit_free(k, sink);
    kit_free(k, base);
}
