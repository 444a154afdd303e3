/* Latency and throughput of instructions by class. */
#include "inst.h"
#include <algorithm>
#include <stdio.h>
#include <string>

/* One warp, one chain: cycles from an instruction to the next one that needs it. */
template <class C> static void latency(struct kit *k, u64 *time, unsigned *sink) {
    char p[96];
    const int rounds = k->quick ? 1 : 16;
    snprintf(p, sizeof p, "op=%s", C::name());
    if (!kit_begin(k, "micro", "latency", p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 9); run++) {
        inst_chains<C, 1, 256><<<1, 32>>>(1, rounds, time, sink);
        std::vector<u64> t = kit_read(k, time, 2);
        v.push_back((double)(t[1] - t[0]) / (rounds * 256.0 * C::steps));
    }
    kit_figure(k, "micro", "latency", p, "cycle", kit_value_of(v.data(), v.size()));
}

/* Every SM full: instructions of a thread that an SM does a cycle (of mma: of a warp). */
template <class C> static void throughput(struct kit *k, u64 *time, unsigned *sink) {
    char p[96];
    const int rounds = k->quick ? 1 : 32, threads = k->quick ? 64 : 1024, warps = threads / 32;
    const double each = std::string(C::name()) == "mma" ? 1 : 32;
    snprintf(p, sizeof p, "op=%s", C::name());
    if (!kit_begin(k, "micro", "throughput", p)) return;
    std::vector<double> v;
    for (int run = 0; run < (k->quick ? 1 : 5); run++) {
        inst_chains<C, 4, 64><<<k->sms, threads>>>(1, rounds, time, sink);
        std::vector<u64> t = kit_read(k, time, (size_t)(2 * warps * k->sms));
        for (int sm = 0; sm < k->sms; sm++) {
            u64 first = ~0ull, last = 0;
            for (int w = 0; w < warps; w++) {
                first = std::min(first, t[2 * (sm * warps + w)]);
                last = std::max(last, t[2 * (sm * warps + w) + 1]);
            }
            if (last > first) v.push_back(each * warps * rounds * 256.0 * C::steps / (double)(last - first));
        }
    }
    kit_figure(k, "micro", "throughput", p, "op/cycle", kit_value_of(v.data(), v.size()));
}

void micro_instructions(struct kit *k) {
    u64 *time = (u64 *)kit_alloc(k, (size_t)k->sms * 32 * 2 * sizeof *time);
    unsigned *sink = (unsigned *)kit_alloc(k, sizeof *sink);
#define X(name) latency<name>(k, time, sink);
    INST_CLASSES(X)
#undef X
#define X(name) throughput<name>(k, time, sink);
    INST_CLASSES(X)
#undef X
    kit_free(k, sink);
    kit_free(k, time);
}
