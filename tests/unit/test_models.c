/* The GPU models that come with the source: what their figures make of latency and bandwidth behind the L1.
 *
 * The expected round trips are measured figures of whole loads less the L1's own part, l1.latency. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "estimator/base/rng.h"
#include "memsys_fixture.h"
#include <stdlib.h>
#include <string.h>

static struct rig *start_model(const char *name) {
    struct ww_gpu *gpu = NULL;
    struct ww_error error;
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    if (ww_gpu_load(name, NULL, 0, &gpu, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    rig->spec = gpu->spec;
    ww_gpu_free(gpu);
    rig_start(rig);
    return rig;
}

static void stop_model(struct rig *rig) {
    rig_stop(rig);
    free(rig);
}

static double sm_cycles(const struct rig *rig, uint64_t ps) {
    return (double)ps * rig->spec.clock_sm_mhz / 1e6;
}

/* A load of one L1 sector, or of 32 bytes where global loads pass the L1 by; in ps. Where ways to the L2 differ
 * in length, loads of one SM after another have the mean way. */
static uint64_t load_ps(struct rig *rig, uint64_t address) {
    struct ww_mem_request r = {.address = address,
                               .sm = (uint16_t)(rig->spec.xbar_columns ? rig->loads++ % rig->spec.sm_count : 0),
                               .sectors = 1,
                               .kind = WW_MEM_READ,
                               .needs_reply = 1,
                               .fine = !rig->spec.l1_enabled || !rig->spec.l1_global_loads};
    uint64_t from = ww_queue_now(rig->queue);
    rig->replies = 0;
    assert_true(ww_memsys_send(rig->memory, &r, from));
    rig_drain(rig);
    assert_int_equal(rig->replies, 1);
    return rig->log[0].ps - from;
}

/* A load that hits the L2, unloaded, as a warp sees it. */
static double l2_hit_cycles(const char *name) {
    struct rig *rig = start_model(name);
    uint32_t lines = rig->spec.xbar_columns ? 1009 : 1; /* of all slices; prime to the number of SMs */
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 2 * lines; i++) {
        uint64_t ps = load_ps(rig, (uint64_t)(i % lines) * 128);
        if (i >= lines) sum += ps;
    }
    double cycles = rig->spec.l1_latency + sm_cycles(rig, sum / lines);
    stop_model(rig);
    return cycles;
}

/* The mean over a chase in random order, which finds other rows open, through 32 MiB: as far as an L1 TLB
 * reaches. */
static double dram_cycles(const char *name) {
    enum { WARM = 500, STEPS = 1000 };
    struct rig *rig = start_model(name);
    struct ww_rng rng;
    uint64_t sum = 0;
    ww_rng_seed(&rng, 1);
    for (int i = 0; i < WARM + STEPS; i++) {
        uint64_t ps = load_ps(rig, (uint64_t)ww_rng_below(&rng, (32 << 20) / 128) * 128);
        if (i >= WARM) sum += ps;
    }
    double cycles = rig->spec.l1_latency + sm_cycles(rig, sum / STEPS);
    stop_model(rig);
    return cycles;
}

static void near(const char *what, double got, double expected, double part) {
    print_message("%s: %.1f, expected %.1f\n", what, got, expected);
    assert_true(got > expected * (1 - part) && got < expected * (1 + part));
}

/* Measured loads, in cycles of the model's SM clock; ns: the time that DRAM adds to an L2 hit, where the board
 * that was measured had another clock. TLB hits. */
struct latency {
    const char *gpu;
    double l2, dram, ns;
};

/* RRZE gpu-benches, V100 at 1380 MHz: 212.1 cycles; DRAM 418 to 434. */
static const struct latency v100 = {"v100", 212.1, 426, 0};
/* RRZE gpu-benches, A100 80 GB at 1410 MHz: 205.7 cycles in the near partition; DRAM 551 to 552. */
static const struct latency a100 = {"a100", 205.7, 551.5, 0};
/* HPMLL Hopper benchmark, H800 PCIe at 1755 MHz: 264.4 cycles; DRAM 648 to 657, so that it adds 221 ns. */
static const struct latency h100 = {"h100", 264.4, 0, 221.1};
static const struct latency h200 = {"h200", 264.4, 0, 221.1};
static const struct latency h100_pcie = {"h100_pcie", 264.4, 0, 221.1};
/* RRZE gpu-benches, L40 at 2490 MHz: 273.6 cycles; DRAM 624 to 625. */
static const struct latency l40 = {"l40", 273.6, 624.5, 0};
/* RRZE gpu-benches, A40 at 1740 MHz: 250.4 cycles; DRAM 546.7, which adds 170 ns. Of boards with the same chip
 * the cycles of an L2 hit and the nanoseconds of DRAM are taken to be the same. */
static const struct latency a40 = {"a40", 250.4, 546.7, 0};
static const struct latency a6000 = {"a6000", 250.4, 0, 170.3};
static const struct latency a10 = {"a10", 250.4, 0, 170.3};
static const struct latency rtx3090 = {"rtx3090", 250.4, 0, 170.3};
static const struct latency rtx3080 = {"rtx3080", 250.4, 0, 170.3};
static const struct latency rtx3070 = {"rtx3070", 250.4, 0, 170.3};
static const struct latency a4000 = {"a4000", 250.4, 0, 170.3};
static const struct latency rtx3060 = {"rtx3060", 250.4, 0, 170.3};
static const struct latency l40s = {"l40s", 273.6, 0, 141};
static const struct latency l4 = {"l4", 273.6, 0, 141};
/* Luo et al. 2024, RTX 4090: 273.0 cycles; markdewing/AI_kernels: DRAM adds 340. */
static const struct latency rtx4090 = {"rtx4090", 273, 613, 0};
/* Jia et al. 2019, T4: 188 cycles; DRAM as the V100's 155 ns. */
static const struct latency t4 = {"t4", 188, 0, 155};
static const struct latency rtx2080 = {"rtx2080", 188, 0, 155};
static const struct latency rtx2080ti = {"rtx2080ti", 188, 0, 155};
static const struct latency titanv = {"titanv", 212.1, 0, 155};
static const struct latency a30 = {"a30", 205.7, 0, 245.2};
/* RRZE gpu-benches, GH200 at 1980 MHz: 280.4 cycles near; DRAM 680 to 689 from 236 MB on. */
static const struct latency gh200 = {"gh200", 280.4, 686, 0};
/* markdewing/AI_kernels. */
static const struct latency b200 = {"b200", 295, 860, 0};
static const struct latency rtx5090 = {"rtx5090", 360, 936, 0};
/* Mei and Chu, GTX980 with the L1 off, and GTX780: patterns P1 and P4. */
static const struct latency gtx980 = {"gtx980", 214, 383, 0};
static const struct latency gtx780 = {"gtx780", 198, 339, 0};
/* Mei and Chu, GTX560Ti with the L1 off: P1 and P4 at 1900 MHz; DRAM adds 268 cycles, 141 ns. The cycles of an
 * L2 hit are taken to be those of the family. */
static const struct latency gtx560ti = {"gtx560ti", 351, 619, 0};
static const struct latency gtx480 = {"gtx480", 351, 0, 141.1};
static const struct latency gtx580 = {"gtx580", 351, 0, 141.1};
/* Wong et al., GTX280: 436 to 443 cycles. Nothing is cached. */
static const struct latency gtx280 = {"gtx280", 0, 440, 0};

static void a_model_has_the_measured_l2_latency(void **state) {
    const struct latency *l = *state;
    near(l->gpu, l2_hit_cycles(l->gpu), l->l2, 0.05);
}

static void a_model_has_the_measured_dram_latency(void **state) {
    const struct latency *l = *state;
    struct rig *rig = start_model(l->gpu);
    double expected = l->ns > 0 ? l->l2 + l->ns * rig->spec.clock_sm_mhz / 1000 : l->dram;
    stop_model(rig);
    near(l->gpu, dram_cycles(l->gpu), expected, 0.05);
}

/* The lines that stand in for what GT200 has on its way to memory are no faster way to the data. */
static void a_gtx280_gains_little_from_lines_that_are_still_there(void **state) {
    (void)state;
    double hit = l2_hit_cycles("gtx280"), miss = dram_cycles("gtx280");
    print_message("gtx280: %.1f of %.1f\n", hit, miss);
    assert_true(hit > 0.8 * miss && hit < miss);
}

/* ---- bandwidth ---- */

struct stream {
    uint64_t next[1024];
    uint32_t out[1024];
    uint64_t lines, wrap, bytes, last_ps;
    uint32_t depth;
};

/* All SMs read consecutive lines, `depth` in flight each; addresses wrap at `wrap` lines. */
static void react(struct rig *rig, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct stream *s = rig->user;
    uint32_t sectors = ww_gpu_request_line(&rig->spec) / rig->spec.l1_sector;
    if (reply) {
        s->bytes += (uint64_t)__builtin_popcount(reply->sectors) * rig->spec.l1_sector;
        s->last_ps = now_ps;
        if (reply->last) s->out[sm]--;
    }
    while (s->out[sm] < s->depth && s->next[sm] < s->lines) {
        uint64_t line = (s->next[sm] * rig->spec.sm_count + sm) % s->wrap;
        struct ww_mem_request r = {.address = line * ww_gpu_request_line(&rig->spec),
                                   .sectors = (uint32_t)((1ull << sectors) - 1),
                                   .sm = sm,
                                   .kind = WW_MEM_READ,
                                   .needs_reply = 1};
        if (!ww_memsys_send(rig->memory, &r, now_ps)) return;
        s->out[sm]++;
        s->next[sm]++;
    }
}

/* GB/s of a stream of `lines` lines an SM, `depth` of them in flight. */
static double stream_gbps(struct rig *rig, uint64_t lines, uint64_t wrap, uint32_t depth) {
    struct stream *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->lines = lines;
    s->wrap = wrap;
    s->depth = depth;
    rig->user = s;
    rig->react = react;
    uint64_t from = ww_queue_now(rig->queue);
    for (uint32_t sm = 0; sm < rig->spec.sm_count; sm++) react(rig, (uint16_t)sm, NULL, from);
    rig_drain(rig);
    double gbps = (double)s->bytes * 1000 / (double)(s->last_ps - from);
    rig_check_laws(rig);
    free(s);
    return gbps;
}

/* What part of the peak a read stream reaches. Lost are refresh (of all banks at once 2 to 3 %
 * with GDDR, one by one with HBM), activates, bank groups and the ends of the run. */
struct part {
    const char *gpu;
    uint32_t depth;
    double least, most;
};

static const struct part stream_gtx480 = {"gtx480", 64, 0.75, 0.98};
static const struct part stream_gtx980 = {"gtx980", 64, 0.75, 0.98};
static const struct part stream_v100 = {"v100", 64, 0.75, 0.985};
static const struct part stream_a100 = {"a100", 64, 0.75, 0.985};
static const struct part stream_h100 = {"h100", 128, 0.75, 0.985};
static const struct part stream_h200 = {"h200", 128, 0.75, 0.985};
static const struct part stream_h100_pcie = {"h100_pcie", 128, 0.75, 0.985};
static const struct part stream_l40 = {"l40", 64, 0.75, 0.99};
static const struct part stream_a40 = {"a40", 128, 0.75, 0.985};
static const struct part stream_a6000 = {"a6000", 128, 0.75, 0.985};
static const struct part stream_a10 = {"a10", 128, 0.75, 0.985};
static const struct part stream_rtx3090 = {"rtx3090", 128, 0.75, 0.985};
static const struct part stream_rtx3080 = {"rtx3080", 128, 0.75, 0.985};
static const struct part stream_rtx3070 = {"rtx3070", 128, 0.75, 0.985};
static const struct part stream_a4000 = {"a4000", 128, 0.75, 0.985};
static const struct part stream_rtx3060 = {"rtx3060", 128, 0.75, 0.985};
static const struct part stream_l40s = {"l40s", 128, 0.75, 0.99};
static const struct part stream_l4 = {"l4", 64, 0.75, 0.995};
static const struct part stream_rtx4090 = {"rtx4090", 128, 0.75, 0.985};
static const struct part stream_t4 = {"t4", 128, 0.75, 0.985};
static const struct part stream_rtx2080 = {"rtx2080", 128, 0.75, 0.985};
static const struct part stream_rtx2080ti = {"rtx2080ti", 128, 0.75, 0.985};
static const struct part stream_titanv = {"titanv", 64, 0.75, 0.99};
static const struct part stream_a30 = {"a30", 128, 0.75, 0.985};
static const struct part stream_gh200 = {"gh200", 128, 0.75, 0.985};
static const struct part stream_b200 = {"b200", 256, 0.75, 0.985};
static const struct part stream_rtx5090 = {"rtx5090", 128, 0.75, 0.985};
static const struct part stream_gtx280 = {"gtx280", 64, 0.75, 0.984};
static const struct part stream_gtx285 = {"gtx285", 64, 0.75, 0.984};
static const struct part stream_gtx560ti = {"gtx560ti", 64, 0.75, 0.984};
static const struct part stream_gtx580 = {"gtx580", 64, 0.75, 0.984};
static const struct part stream_gtx780 = {"gtx780", 64, 0.75, 0.966};

static void a_read_stream_reaches_most_of_the_dram_peak(void **state) {
    const struct part *expected = *state;
    const char *name = expected->gpu;
    struct rig *rig = start_model(name);
    const struct ww_gpu_spec *g = &rig->spec;
    double peak = g->dram_channels * (g->dram_bus_bits / 8.0) * g->dram_data_rate * g->clock_dram_mhz / 1000;
    double part = stream_gbps(rig, 1500, UINT64_MAX, expected->depth) / peak;
    print_message("%s: %.1f %% of %.1f GB/s\n", name, 100 * part, peak);
    assert_true(part > expected->least && part < expected->most);
    stop_model(rig);
}

/* RRZE gpu-benches, gpu-l2-cache: 2300 to 2450 GB/s of a V100, 5340 to 5480 of an A100 (working sets that each
 * L2 holds). */
static void l2_streams_near(const char *name, uint32_t lines, double gbps) {
    struct rig *rig = start_model(name);
    /* Fill it; in turns that differ, so that both partitions have all of it. */
    stream_gbps(rig, (rig->spec.l2_partitions > 1 ? 8 : 1) * (lines / rig->spec.sm_count + 1), lines, 64);
    near(name, stream_gbps(rig, 1500, lines, 64), gbps, 0.15);
    stop_model(rig);
}

static void v100_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    l2_streams_near("v100", (3 << 20) / 128, 2400);
}
static void a100_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    l2_streams_near("a100", (12 << 20) / 128, 5420);
}
/* gpu-benches, gpu-l2-cache: 9716 to 9767 GB/s of 12 to 23 MB on an H200. */
static void h200_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    l2_streams_near("h200", (16 << 20) / 128, 9740);
}
/* gpu-benches, gpu-l2-cache: 5160 to 5330 GB/s of 3 to 80 MB on an L40. */
static void l40_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    l2_streams_near("l40", (16 << 20) / 128, 5230);
}
/* gpu-benches, gpu-cache: 2480 to 2500 GB/s of 0.4 to 6 MB on an A40. */
static void a40_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    l2_streams_near("a40", (3 << 20) / 128, 2490);
}
/* Luo et al. 2024: 1708 bytes a cycle of an RTX 4090 for loads of 16 bytes a lane, at 2520 MHz. */
static void rtx4090_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    l2_streams_near("rtx4090", (16 << 20) / 128, 4304);
}

/* ---- data sheets ---- */

/* What the vendor states of a board: TFLOPS of fp32 and fp64 (0: not looked at), GB/s of memory, MiB of L2. */
static const struct {
    const char *gpu;
    double fp32, fp64, gbps, l2_mb;
} sheets[] = {
    {"titanv", 14.9, 7.45, 652.8, 4.5},   {"v100", 14.13, 7.07, 898, 6},
    {"t4", 8.14, 0.254, 320, 4},          {"rtx2080", 10.07, 0.315, 448, 4},
    {"rtx2080ti", 13.45, 0.42, 616, 5.5}, {"a30", 10.3, 5.16, 933, 24},
    {"a100", 19.5, 9.7, 1555, 40},        {"a40", 37.4, 0.585, 696, 6},
    {"a6000", 38.7, 0.605, 768, 6},       {"a10", 31.2, 0.488, 600, 6},
    {"rtx3090", 35.58, 0.556, 936, 6},    {"rtx3080", 29.77, 0.465, 760, 5},
    {"rtx3070", 20.31, 0.317, 448, 4},    {"a4000", 19.17, 0.2995, 448, 4},
    {"rtx3060", 12.74, 0.199, 360, 3},    {"l40", 90.5, 1.414, 864, 96},
    {"l40s", 91.6, 1.431, 864, 96},       {"l4", 30.3, 0.473, 300, 48},
    {"rtx4090", 82.6, 1.29, 1008, 72},    {"h100", 67, 33.5, 3352, 50},
    {"h100_pcie", 51.2, 25.6, 2039, 50},  {"gh200", 67, 33.5, 4023, 60},
    {"b200", 74.5, 37.2, 8000, 126},      {"rtx5090", 104.8, 1.64, 1792, 96},
};

static double tflops(const struct ww_gpu_spec *g, uint32_t lanes, uint32_t count) {
    return 2.0 * g->sm_count * lanes * count * g->clock_sm_mhz / 1e6;
}

static void a_model_has_the_rates_of_its_data_sheet(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sheets / sizeof sheets[0]; i++) {
        struct rig *rig = start_model(sheets[i].gpu);
        const struct ww_gpu_spec *g = &rig->spec;
        print_message("%s\n", sheets[i].gpu);
        near("fp32", tflops(g, g->pipe_fp32_lanes, g->pipe_fp32_count), sheets[i].fp32, 0.01);
        near("fp64", tflops(g, g->pipe_fp64_lanes, g->pipe_fp64_count), sheets[i].fp64, 0.01);
        near("GB/s", g->dram_channels * (g->dram_bus_bits / 8.0) * g->dram_data_rate * g->clock_dram_mhz / 1000,
             sheets[i].gbps, 0.01);
        near("L2", g->l2_size_kb / 1024.0, sheets[i].l2_mb, 0.001);
        stop_model(rig);
    }
}

/* A test of one model, reported with its name. */
#define FOR(test, what)                                                                                        \
    { #test "_" #what, test, NULL, NULL, (void *)(uintptr_t)&what }

static const struct CMUnitTest tests[] = {
    FOR(a_model_has_the_measured_l2_latency, v100),
    FOR(a_model_has_the_measured_l2_latency, a100),
    FOR(a_model_has_the_measured_l2_latency, h100),
    FOR(a_model_has_the_measured_l2_latency, h200),
    FOR(a_model_has_the_measured_l2_latency, h100_pcie),
    FOR(a_model_has_the_measured_l2_latency, l40),
    FOR(a_model_has_the_measured_l2_latency, a40),
    FOR(a_model_has_the_measured_l2_latency, a6000),
    FOR(a_model_has_the_measured_l2_latency, a10),
    FOR(a_model_has_the_measured_l2_latency, rtx3090),
    FOR(a_model_has_the_measured_l2_latency, rtx3080),
    FOR(a_model_has_the_measured_l2_latency, rtx3070),
    FOR(a_model_has_the_measured_l2_latency, a4000),
    FOR(a_model_has_the_measured_l2_latency, rtx3060),
    FOR(a_model_has_the_measured_l2_latency, l40s),
    FOR(a_model_has_the_measured_l2_latency, l4),
    FOR(a_model_has_the_measured_l2_latency, rtx4090),
    FOR(a_model_has_the_measured_l2_latency, t4),
    FOR(a_model_has_the_measured_l2_latency, rtx2080),
    FOR(a_model_has_the_measured_l2_latency, rtx2080ti),
    FOR(a_model_has_the_measured_l2_latency, titanv),
    FOR(a_model_has_the_measured_l2_latency, a30),
    FOR(a_model_has_the_measured_l2_latency, gh200),
    FOR(a_model_has_the_measured_l2_latency, b200),
    FOR(a_model_has_the_measured_l2_latency, rtx5090),
    FOR(a_model_has_the_measured_l2_latency, gtx980),
    FOR(a_model_has_the_measured_l2_latency, gtx780),
    FOR(a_model_has_the_measured_l2_latency, gtx560ti),
    FOR(a_model_has_the_measured_l2_latency, gtx480),
    FOR(a_model_has_the_measured_l2_latency, gtx580),
    FOR(a_model_has_the_measured_dram_latency, v100),
    FOR(a_model_has_the_measured_dram_latency, a100),
    FOR(a_model_has_the_measured_dram_latency, h100),
    FOR(a_model_has_the_measured_dram_latency, h200),
    FOR(a_model_has_the_measured_dram_latency, h100_pcie),
    FOR(a_model_has_the_measured_dram_latency, l40),
    FOR(a_model_has_the_measured_dram_latency, a40),
    FOR(a_model_has_the_measured_dram_latency, a6000),
    FOR(a_model_has_the_measured_dram_latency, a10),
    FOR(a_model_has_the_measured_dram_latency, rtx3090),
    FOR(a_model_has_the_measured_dram_latency, rtx3080),
    FOR(a_model_has_the_measured_dram_latency, rtx3070),
    FOR(a_model_has_the_measured_dram_latency, a4000),
    FOR(a_model_has_the_measured_dram_latency, rtx3060),
    FOR(a_model_has_the_measured_dram_latency, l40s),
    FOR(a_model_has_the_measured_dram_latency, l4),
    FOR(a_model_has_the_measured_dram_latency, rtx4090),
    FOR(a_model_has_the_measured_dram_latency, t4),
    FOR(a_model_has_the_measured_dram_latency, rtx2080),
    FOR(a_model_has_the_measured_dram_latency, rtx2080ti),
    FOR(a_model_has_the_measured_dram_latency, titanv),
    FOR(a_model_has_the_measured_dram_latency, a30),
    FOR(a_model_has_the_measured_dram_latency, gh200),
    FOR(a_model_has_the_measured_dram_latency, b200),
    FOR(a_model_has_the_measured_dram_latency, rtx5090),
    FOR(a_model_has_the_measured_dram_latency, gtx980),
    FOR(a_model_has_the_measured_dram_latency, gtx780),
    FOR(a_model_has_the_measured_dram_latency, gtx560ti),
    FOR(a_model_has_the_measured_dram_latency, gtx480),
    FOR(a_model_has_the_measured_dram_latency, gtx580),
    FOR(a_model_has_the_measured_dram_latency, gtx280),
    cmocka_unit_test(a_gtx280_gains_little_from_lines_that_are_still_there),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx280),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx285),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx480),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx560ti),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx580),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx780),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gtx980),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_v100),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_a100),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_h100),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_h200),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_h100_pcie),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_l40),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_a40),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_a6000),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_a10),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx3090),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx3080),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx3070),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_a4000),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx3060),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_l40s),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_l4),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx4090),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_t4),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx2080),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx2080ti),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_titanv),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_a30),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_gh200),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_b200),
    FOR(a_read_stream_reaches_most_of_the_dram_peak, stream_rtx5090),
    cmocka_unit_test(a_model_has_the_rates_of_its_data_sheet),
    cmocka_unit_test(v100_streams_from_the_l2_near_the_measured_rate),
    cmocka_unit_test(a100_streams_from_the_l2_near_the_measured_rate),
    cmocka_unit_test(h200_streams_from_the_l2_near_the_measured_rate),
    cmocka_unit_test(l40_streams_from_the_l2_near_the_measured_rate),
    cmocka_unit_test(a40_streams_from_the_l2_near_the_measured_rate),
    cmocka_unit_test(rtx4090_streams_from_the_l2_near_the_measured_rate),
};

int main(void) {
    return cmocka_run_group_tests(tests, NULL, NULL);
}
