/* The GPU models that come with the source: what their figures make of latency and bandwidth behind the L1.
 *
 * The expected round trips are measured figures of whole loads less the L1's own part, l1.latency. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

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

/* A load that hits the L2, unloaded, as a warp sees it; one L1 sector. */
static double l2_hit_cycles(const char *name) {
    struct rig *rig = start_model(name);
    rig_round_trip(rig, 0, 1);
    double cycles = rig->spec.l1_latency + sm_cycles(rig, rig_round_trip(rig, 0, 1));
    stop_model(rig);
    return cycles;
}

/* The mean over a chase through 256 MiB in random order, which finds other rows open. */
static double dram_cycles(const char *name) {
    enum { WARM = 500, STEPS = 1000 };
    struct rig *rig = start_model(name);
    struct ww_rng rng;
    uint64_t sum = 0;
    ww_rng_seed(&rng, 1);
    for (int i = 0; i < WARM + STEPS; i++) {
        uint64_t ps = rig_round_trip(rig, (uint64_t)ww_rng_below(&rng, (256 << 20) / 128) * 128, 1);
        if (i >= WARM) sum += ps;
        rig->replies = 0;
    }
    double cycles = rig->spec.l1_latency + sm_cycles(rig, sum / STEPS);
    stop_model(rig);
    return cycles;
}

static void near(const char *what, double got, double expected, double part) {
    print_message("%s: %.1f, expected %.1f\n", what, got, expected);
    assert_true(got > expected * (1 - part) && got < expected * (1 + part));
}

/* RRZE gpu-benches, V100: 212.1 cycles; DRAM 418 to 434. */
static void v100_has_the_measured_l2_latency(void **state) {
    (void)state;
    near("v100 L2", l2_hit_cycles("v100"), 212.1, 0.05);
}
static void v100_has_the_measured_dram_latency(void **state) {
    (void)state;
    near("v100 DRAM", dram_cycles("v100"), 426, 0.05);
}
/* Mei and Chu, GTX980 with the L1 off: 214 for an L2 hit, 383 for DRAM, TLB hit. */
static void gtx980_has_the_measured_l2_latency(void **state) {
    (void)state;
    near("gtx980 L2", l2_hit_cycles("gtx980"), 214, 0.05);
}
static void gtx980_has_the_measured_dram_latency(void **state) {
    (void)state;
    near("gtx980 DRAM", dram_cycles("gtx980"), 383, 0.05);
}
/* Mei and Chu, GTX560Ti (1.9 GHz): 351 hot cycles for an L2 hit; DRAM adds (619 - 351) cycles = 141 ns, which
 * are 198 cycles of the GTX480's 1401 MHz. */
static void gtx480_has_the_measured_l2_latency_of_its_family(void **state) {
    (void)state;
    near("gtx480 L2", l2_hit_cycles("gtx480"), 351, 0.05);
}
static void gtx480_has_the_measured_dram_latency_of_its_family(void **state) {
    (void)state;
    near("gtx480 DRAM", dram_cycles("gtx480"), 351 + 198, 0.05);
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
    uint32_t sectors = rig->spec.l1_line / rig->spec.l1_sector;
    if (reply) {
        s->bytes += (uint64_t)__builtin_popcount(reply->sectors) * rig->spec.l1_sector;
        s->last_ps = now_ps;
        if (reply->last) s->out[sm]--;
    }
    while (s->out[sm] < s->depth && s->next[sm] < s->lines) {
        uint64_t line = (s->next[sm] * rig->spec.sm_count + sm) % s->wrap;
        struct ww_mem_request r = {.address = line * rig->spec.l1_line,
                                   .sectors = (uint32_t)((1ull << sectors) - 1),
                                   .sm = sm,
                                   .kind = WW_MEM_READ,
                                   .needs_reply = 1};
        if (!ww_memsys_send(rig->memory, &r, now_ps)) return;
        s->out[sm]++;
        s->next[sm]++;
    }
}

/* GB/s of a stream of `lines` lines an SM. */
static double stream_gbps(struct rig *rig, uint64_t lines, uint64_t wrap) {
    struct stream *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->lines = lines;
    s->wrap = wrap;
    s->depth = 64;
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

static void dram_stream_reaches(const char *name, double least, double most) {
    struct rig *rig = start_model(name);
    const struct ww_gpu_spec *g = &rig->spec;
    double peak = g->dram_channels * (g->dram_bus_bits / 8.0) * g->dram_data_rate * g->clock_dram_mhz / 1000;
    double part = stream_gbps(rig, 1500, UINT64_MAX) / peak;
    print_message("%s: %.1f %% of %.1f GB/s\n", name, 100 * part, peak);
    assert_true(part > least && part < most);
    stop_model(rig);
}

/* Lost are refresh (v100: 221 of 3315 cycles), activates, and the ends of the run. */
static void a_read_stream_reaches_most_of_the_dram_peak_on_gtx480(void **state) {
    (void)state;
    dram_stream_reaches("gtx480", 0.75, 0.98);
}
static void a_read_stream_reaches_most_of_the_dram_peak_on_gtx980(void **state) {
    (void)state;
    dram_stream_reaches("gtx980", 0.75, 0.98);
}
static void a_read_stream_reaches_most_of_the_dram_peak_on_v100(void **state) {
    (void)state;
    dram_stream_reaches("v100", 0.75, 0.934);
}

/* RRZE gpu-benches, V100: 2300 to 2450 GB/s from the L2. */
static void v100_streams_from_the_l2_near_the_measured_rate(void **state) {
    (void)state;
    struct rig *rig = start_model("v100");
    uint64_t lines = (3 << 20) / 128;
    stream_gbps(rig, lines / 80, lines); /* fill it */
    near("v100 L2 GB/s", stream_gbps(rig, 1500, lines), 2400, 0.2);
    stop_model(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v100_has_the_measured_l2_latency),
        cmocka_unit_test(v100_has_the_measured_dram_latency),
        cmocka_unit_test(gtx980_has_the_measured_l2_latency),
        cmocka_unit_test(gtx980_has_the_measured_dram_latency),
        cmocka_unit_test(gtx480_has_the_measured_l2_latency_of_its_family),
        cmocka_unit_test(gtx480_has_the_measured_dram_latency_of_its_family),
        cmocka_unit_test(a_read_stream_reaches_most_of_the_dram_peak_on_gtx480),
        cmocka_unit_test(a_read_stream_reaches_most_of_the_dram_peak_on_gtx980),
        cmocka_unit_test(a_read_stream_reaches_most_of_the_dram_peak_on_v100),
        cmocka_unit_test(v100_streams_from_the_l2_near_the_measured_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
