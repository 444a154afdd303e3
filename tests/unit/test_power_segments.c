/* Energy of a launch whose clocks change: each segment at its own operating point, all of them the launch. */
#include "../../estimator/warpwatt.h"
#include "../../power/power.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-segments-XXXXXX.json";
static struct ww_error error;

#define TAIL "\"uncertainty\":0,\"source\":\"s\"}"

static const char table[] =
    "{\"events\":[{\"component\":\"int\",\"event\":\"lane_int\",\"value\":1000,\"unit\":\"pJ\"," TAIL
    ",{\"component\":\"regfile\",\"event\":\"reg_read\",\"value\":1000,\"unit\":\"pJ\",\"by_lanes\":true," TAIL
    ",{\"component\":\"l2\",\"event\":\"l2_sector_hit\",\"value\":1000,\"unit\":\"pJ\"," TAIL "],"
    "\"static\":[{\"component\":\"sm_other\",\"per\":\"gpu\",\"kind\":\"leakage\",\"value\":40," TAIL
    ",{\"component\":\"sm_idle\",\"per\":\"idle_sm\",\"kind\":\"clock\",\"value\":2," TAIL
    ",{\"component\":\"dram_background\",\"per\":\"gpu\",\"kind\":\"standby\",\"value\":10," TAIL
    ",{\"component\":\"constant\",\"per\":\"gpu\",\"value\":5," TAIL "],"
    "\"domains\":[{\"domain\":\"sm\",\"mhz\":1000,\"slope\":1,\"min_volts\":0.5,\"max_volts\":1.5," TAIL
    ",{\"domain\":\"l2\",\"mhz\":500,\"slope\":1,\"min_volts\":0.5,\"max_volts\":1.5," TAIL
    ",{\"domain\":\"dram\",\"mhz\":1500,\"slope\":0,\"standby\":0.376," TAIL "]}";

static struct ww_gpu_spec gpu_at(double sm, double memory) {
    struct ww_gpu_spec s = {0};
    s.sm_count = 4;
    s.clock_sm_mhz = 1000 * sm;
    s.clock_l2_mhz = 500 * memory;
    s.clock_dram_mhz = 1500 * memory;
    return s;
}

static struct ww_power *load_table(void) {
    struct ww_power *power = NULL;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(table, f);
    fclose(f);
    assert_int_equal(ww_power_load(path, true, &power, &error), WW_OK);
    return power;
}

static void near(double got, double want) {
    if (fabs(got - want) > 1e-12 * fabs(want)) fail_msg("%.17g, expected %.17g", got, want);
}

/* `cycles` cycles at a point, three of four SMs busy; half of the lanes are active. */
static struct ww_segment segment_at(double sm, double memory, uint64_t first, uint64_t cycles, uint64_t work) {
    struct ww_gpu_spec s = gpu_at(sm, memory);
    struct ww_segment p = {.first_cycle = first, .cycles = cycles};
    p.time_ps = (uint64_t)((double)cycles * 1e6 / s.clock_sm_mhz);
    p.mhz[WW_DOMAIN_SM] = s.clock_sm_mhz;
    p.mhz[WW_DOMAIN_L2] = s.clock_l2_mhz;
    p.mhz[WW_DOMAIN_DRAM] = s.clock_dram_mhz;
    p.counter[WW_C_SM_ACTIVE_CYCLES] = 3 * cycles;
    p.counter[WW_C_INST_ISSUED] = work;
    p.counter[WW_C_THREAD_INST] = 16 * work;
    p.counter[WW_C_LANE_INT] = 16 * work;
    p.counter[WW_C_REG_READ] = 2 * work;
    p.counter[WW_C_L2_SECTOR_HIT] = work / 4;
    return p;
}

/* The launch that segments make up, in epochs of 1000 cycles. */
static struct ww_launch_result launch_of(const struct ww_segment *segment, size_t count,
                                         struct ww_epoch *epoch) {
    struct ww_launch_result l = {.epoch = epoch};
    for (size_t i = 0; i < count; i++) {
        l.cycles += segment[i].cycles;
        l.time_ps += segment[i].time_ps;
        for (int c = 0; c < WW_COUNTER_COUNT; c++) l.counter[c] += segment[i].counter[c];
    }
    l.epoch_count = (l.cycles + 999) / 1000;
    for (size_t i = 0; i < l.epoch_count; i++) epoch[i].first_cycle = 1000 * i;
    return l;
}

/* The same cycles and counts as a launch of their own at their clocks. */
static struct ww_energy alone(const struct ww_power *power, const struct ww_segment *p) {
    struct ww_gpu_spec s = gpu_at(1, 1);
    struct ww_launch_result l = {.cycles = p->cycles, .time_ps = p->time_ps};
    struct ww_energy out;
    memcpy(l.counter, p->counter, sizeof l.counter);
    s.clock_sm_mhz = p->mhz[WW_DOMAIN_SM];
    s.clock_l2_mhz = p->mhz[WW_DOMAIN_L2];
    s.clock_dram_mhz = p->mhz[WW_DOMAIN_DRAM];
    ww_power_launch(power, &s, &l, &out);
    return out;
}

static void a_change_of_clocks_in_the_middle_costs_exactly_its_parts(void **state) {
    (void)state;
    struct ww_power *power = load_table();
    struct ww_segment segment[] = {segment_at(1, 1, 0, 500, 1000), segment_at(1.15, 1, 500, 500, 1200),
                                   segment_at(1.15, 0.85, 1000, 700, 400)};
    struct ww_epoch epoch[2];
    struct ww_epoch_energy by_epoch[2] = {{{0}, {0}}};
    struct ww_launch_result l = launch_of(segment, 3, epoch);
    struct ww_gpu_spec s = gpu_at(1, 1);
    struct ww_energy all, part[3];
    ww_power_segments(power, &s, &l, segment, 3, by_epoch, &all);
    for (int i = 0; i < 3; i++) part[i] = alone(power, &segment[i]);
    near(all.total_j, part[0].total_j + part[1].total_j + part[2].total_j);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        near(by_epoch[0].dynamic_j[c], part[0].dynamic_j[c] + part[1].dynamic_j[c]);
        near(by_epoch[0].static_j[c], part[0].static_j[c] + part[1].static_j[c]);
        near(by_epoch[1].dynamic_j[c], part[2].dynamic_j[c]);
        near(all.dynamic_j[c], by_epoch[0].dynamic_j[c] + by_epoch[1].dynamic_j[c]);
        near(all.static_j[c], by_epoch[0].static_j[c] + by_epoch[1].static_j[c]);
    }
    ww_power_free(power);
}

static void voltage_is_linear_and_switching_goes_with_its_square(void **state) {
    (void)state;
    struct ww_power *power = load_table();
    struct ww_segment segment = segment_at(1.15, 0.85, 0, 1150, 1000);
    struct ww_energy e = alone(power, &segment);
    near(e.dynamic_j[WW_P_INT], 16000 * 1e-9 * 1.15 * 1.15);
    near(e.dynamic_j[WW_P_REGFILE], 2000 * 1e-9 * 0.5 * 1.15 * 1.15);
    near(e.dynamic_j[WW_P_L2], 250 * 1e-9 * 0.85 * 0.85);
    near(e.static_j[WW_P_SM_OTHER], 40e-6 * 1.15); /* 1 us of leakage */
    near(e.static_j[WW_P_DRAM_BACKGROUND], 10e-6 * (1 - 0.15 * 0.376));
    near(e.static_j[WW_P_CONSTANT], 5e-6);
    near(e.static_j[WW_P_SM_IDLE], 2e-6 * 1.15 * 1.15 * 1.15); /* one of four SMs */
    ww_power_free(power);
}

static void without_a_change_pieces_cost_what_the_launch_costs(void **state) {
    (void)state;
    struct ww_power *power = load_table();
    struct ww_segment segment[] = {segment_at(1, 1, 0, 1000, 1000), segment_at(1, 1, 1000, 1000, 3000)};
    struct ww_epoch epoch[2];
    struct ww_epoch_energy by_epoch[2] = {{{0}, {0}}};
    struct ww_launch_result l = launch_of(segment, 2, epoch);
    struct ww_gpu_spec s = gpu_at(1, 1);
    struct ww_energy all, whole;
    l.time_ps += 700000; /* overhead of the launch, in which all SMs are idle */
    ww_power_segments(power, &s, &l, segment, 2, by_epoch, &all);
    ww_power_launch(power, &s, &l, &whole);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        near(all.dynamic_j[c], whole.dynamic_j[c]);
        near(all.static_j[c], whole.static_j[c]);
    }
    near(all.total_j, whole.total_j);
    assert_true(by_epoch[0].static_j[WW_P_CONSTANT] > by_epoch[1].static_j[WW_P_CONSTANT]);
    ww_power_free(power);
}

/* A launch whose segments have different shares of active lanes takes the launch's mean in all of them. */
static void the_share_of_active_lanes_is_the_launchs(void **state) {
    (void)state;
    struct ww_power *power = load_table();
    struct ww_segment segment[] = {segment_at(1, 1, 0, 1000, 1000), segment_at(1, 1, 1000, 1000, 1000)};
    struct ww_epoch epoch[2];
    struct ww_epoch_energy by_epoch[2] = {{{0}, {0}}};
    segment[0].counter[WW_C_THREAD_INST] = 32 * 1000;
    segment[1].counter[WW_C_THREAD_INST] = 0;
    struct ww_launch_result l = launch_of(segment, 2, epoch);
    struct ww_gpu_spec s = gpu_at(1, 1);
    struct ww_energy all;
    ww_power_segments(power, &s, &l, segment, 2, by_epoch, &all);
    near(by_epoch[0].dynamic_j[WW_P_REGFILE], 2000 * 1e-9 * 0.5);
    near(by_epoch[1].dynamic_j[WW_P_REGFILE], 2000 * 1e-9 * 0.5);
    ww_power_free(power);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemps(path, 5);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_clocks_in_the_middle_costs_exactly_its_parts),
        cmocka_unit_test(voltage_is_linear_and_switching_goes_with_its_square),
        cmocka_unit_test(without_a_change_pieces_cost_what_the_launch_costs),
        cmocka_unit_test(the_share_of_active_lanes_is_the_launchs),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
