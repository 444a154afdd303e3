/* What a GPU pays that differs from the table's own: structures, voltage, temperature, gated SMs. */
#include "../../estimator/warpwatt.h"
#include "../../power/power.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-point-XXXXXX.json";
static struct ww_error error;

#define TAIL "\"uncertainty\":0,\"source\":\"s\"}"
#define EVENTS                                                                                                 \
    "{\"events\":[{\"component\":\"l1\",\"event\":\"l1_sector_hit\",\"value\":1000,\"unit\":\"pJ\"," TAIL      \
    ",{\"component\":\"int\",\"event\":\"lane_int\",\"value\":1,\"unit\":\"pJ\"," TAIL                         \
    ",{\"component\":\"l2\",\"event\":\"l2_sector_hit\",\"value\":1000,\"unit\":\"pJ\"," TAIL "],"             \
    "\"static\":[{\"component\":\"sm_other\",\"per\":\"gpu\",\"kind\":\"leakage\",\"value\":40," TAIL          \
    ",{\"component\":\"sm_idle\",\"per\":\"idle_sm\",\"kind\":\"clock\",\"value\":2," TAIL                     \
    ",{\"component\":\"dram_background\",\"per\":\"gpu\",\"kind\":\"standby\",\"value\":10," TAIL              \
    ",{\"component\":\"constant\",\"per\":\"gpu\",\"value\":5," TAIL "]"
#define DOMAINS                                                                                                \
    ",\"domains\":[{\"domain\":\"sm\",\"mhz\":1000,\"slope\":1,\"celsius\":60,\"double_celsius\":40," TAIL     \
    ",{\"domain\":\"l2\",\"mhz\":500,\"slope\":0.5," TAIL                                                      \
    ",{\"domain\":\"dram\",\"mhz\":1500,\"slope\":0,\"standby\":0.376," TAIL "]"
#define STRUCTURES                                                                                             \
    ",\"structures\":[{\"structure\":\"l1\",\"kind\":\"cache\",\"component\":\"l1\","                          \
    "\"leaks_in\":\"sm_other\",\"bytes\":16384,\"row_bytes\":128,\"ways\":4,\"node_nm\":40," TAIL              \
    ",{\"structure\":\"l1_mshr\",\"kind\":\"cam\",\"component\":\"l1\",\"event\":\"l1_sector_miss\","          \
    "\"leaks_in\":\"sm_other\",\"bytes\":512,\"row_bytes\":8,\"node_nm\":40," TAIL "]"
#define WHOLE EVENTS DOMAINS STRUCTURES "}"

static struct ww_gpu_spec own(void) {
    struct ww_gpu_spec s = {0};
    s.sm_count = 4;
    s.clock_sm_mhz = 1000;
    s.clock_l2_mhz = 500;
    s.clock_dram_mhz = 1500;
    s.l1_size_kb = 16;
    s.l1_line = 128;
    s.l1_ways = 4;
    s.l1_mshrs = 64;
    return s;
}

/* 1 us with one of four SMs idle, whatever the clock. */
static struct ww_energy energy(const struct ww_gpu_spec *spec) {
    struct ww_power *power = NULL;
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_energy out;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(WHOLE, f);
    fclose(f);
    assert_int_equal(ww_power_load(path, true, &power, &error), WW_OK);
    l.counter[WW_C_SM_ACTIVE_CYCLES] = (uint64_t)(3 * spec->clock_sm_mhz);
    l.counter[WW_C_L1_SECTOR_HIT] = 100;
    l.counter[WW_C_L1_SECTOR_MISS] = 100;
    l.counter[WW_C_LANE_INT] = 1000;
    l.counter[WW_C_L2_SECTOR_HIT] = 10;
    ww_power_launch(power, spec, &l, &out);
    ww_power_free(power);
    return out;
}

static void near(double got, double want) {
    assert_true(fabs(got - want) <= 1e-9 * fabs(want));
}

static void the_tables_own_gpu_pays_the_tables_values(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    struct ww_energy e = energy(&s);
    near(e.dynamic_j[WW_P_L1], 100e-9);
    near(e.static_j[WW_P_SM_OTHER], 40e-6);
    near(e.static_j[WW_P_SM_IDLE], 2e-6);
    near(e.total_j, 100e-9 + 1e-9 + 10e-9 + 57e-6);
}

static void a_larger_cache_costs_more_for_each_access(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    double small = energy(&s).dynamic_j[WW_P_L1];
    s.l1_size_kb = 48;
    double large = energy(&s).dynamic_j[WW_P_L1];
    assert_true(large > 1.02 * small && large < 1.3 * small);
}

static void a_larger_cache_leaks_more(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.l1_size_kb = 48;
    struct ww_energy e = energy(&s);
    assert_true(e.static_j[WW_P_L1] > 0);
    near(e.static_j[WW_P_SM_OTHER], 40e-6);
}

static void a_smaller_cache_takes_its_leakage_off_the_chips(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.l1_size_kb = 4;
    struct ww_energy e = energy(&s);
    assert_true(e.static_j[WW_P_SM_OTHER] < 40e-6 && e.static_j[WW_P_SM_OTHER] > 39e-6);
    near(e.static_j[WW_P_L1], 0);
}

static void more_mshrs_cost_more_for_each_miss(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    double few = energy(&s).dynamic_j[WW_P_L1];
    s.l1_mshrs = 256;
    assert_true(energy(&s).dynamic_j[WW_P_L1] > few);
}

static void switching_goes_with_the_square_of_the_voltage(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_sm_mhz = 850;
    struct ww_energy e = energy(&s);
    near(e.dynamic_j[WW_P_INT], 1e-9 * 0.85 * 0.85);
    near(e.dynamic_j[WW_P_L2], 10e-9);
}

static void clocks_go_with_the_frequency_and_the_square_of_the_voltage(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_sm_mhz = 850;
    near(energy(&s).static_j[WW_P_SM_IDLE], 2e-6 * 0.85 * 0.85 * 0.85);
}

static void leakage_goes_with_the_voltage(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_sm_mhz = 1150;
    near(energy(&s).static_j[WW_P_SM_OTHER], 40e-6 * 1.15);
}

static void each_domain_has_its_own_voltage(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_l2_mhz = 600;
    struct ww_energy e = energy(&s);
    near(e.dynamic_j[WW_P_L2], 10e-9 * 1.1 * 1.1);
    near(e.dynamic_j[WW_P_INT], 1e-9);
}

static void the_voltage_stays_within_its_limits(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_sm_mhz = 100;
    near(energy(&s).dynamic_j[WW_P_INT], 1e-9 * 0.7 * 0.7);
    s.clock_sm_mhz = 3000;
    near(energy(&s).dynamic_j[WW_P_INT], 1e-9 * 1.3 * 1.3);
}

static void a_gpu_may_have_its_own_nominal_clock(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_sm_mhz = s.power_sm_mhz = 500;
    near(energy(&s).dynamic_j[WW_P_INT], 1e-9);
}

static void
the_nominal_clock_of_a_gpu_that_counts_cycles_otherwise_keeps_the_watts_of_its_clocks(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    double clocks = energy(&s).static_j[WW_P_SM_IDLE];
    assert_true(clocks > 0);
    s.clock_sm_mhz = s.power_sm_mhz = 500; /* half the table's 1000 */
    near(energy(&s).static_j[WW_P_SM_IDLE], clocks);
}

static void leakage_doubles_with_temperature(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.power_celsius = 100;
    struct ww_energy e = energy(&s);
    near(e.static_j[WW_P_SM_OTHER], 80e-6);
    near(e.static_j[WW_P_CONSTANT], 5e-6);
}

/* A. Sethia's thesis, section 3.1: the idle standby current is 30 % higher at full speed (6 Gbps, 1500 MHz)
 * than at 3.2 Gbps. */
static void dram_standby_is_30_percent_higher_at_full_speed_than_at_3_2_gbps(void **state) {
    (void)state;
    struct ww_power *power = NULL;
    struct ww_gpu_spec s = own();
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_energy slow, full;
    assert_int_equal(ww_power_load("gtx980", true, &power, &error), WW_OK);
    s.clock_dram_mhz = 800;
    ww_power_launch(power, &s, &l, &slow);
    s.clock_dram_mhz = 1500;
    ww_power_launch(power, &s, &l, &full);
    ww_power_free(power);
    double ratio = full.static_j[WW_P_DRAM_BACKGROUND] / slow.static_j[WW_P_DRAM_BACKGROUND];
    assert_true(ratio > 1.29 && ratio < 1.31);
}

static void a_clock_gated_sm_saves_its_clock(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.power_idle_sm = WW_IDLE_SM_CLOCK_GATED;
    struct ww_energy e = energy(&s);
    near(e.static_j[WW_P_SM_IDLE], 0);
    near(e.static_j[WW_P_SM_OTHER], 40e-6);
}

static void a_power_gated_sm_saves_its_leakage_too(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.power_idle_sm = WW_IDLE_SM_POWER_GATED;
    struct ww_energy e = energy(&s);
    near(e.static_j[WW_P_SM_IDLE], 0);
    near(e.static_j[WW_P_SM_OTHER], 30e-6);
    near(e.static_j[WW_P_DRAM_BACKGROUND], 10e-6);
}

static void constant_leakage_stays_where_it_is_when_the_voltage_rises(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    double nominal = energy(&s).static_j[WW_P_SM_OTHER];
    s.clock_sm_mhz *= 1.1;
    assert_true(energy(&s).static_j[WW_P_SM_OTHER] > 1.05 * nominal);
    s.power_leakage = WW_LEAKAGE_CONSTANT;
    near(energy(&s).static_j[WW_P_SM_OTHER], nominal);
}

static void a_domain_that_stands_there_twice_is_refused(void **state) {
    (void)state;
    struct ww_power *power = NULL;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(EVENTS ",\"domains\":[{\"domain\":\"l2\",\"mhz\":500,\"slope\":1," TAIL
                 ",{\"domain\":\"l2\",\"mhz\":600,\"slope\":1," TAIL "]}",
          f);
    fclose(f);
    assert_int_equal(ww_power_load(path, true, &power, &error), WW_INPUT);
    assert_null(power);
    assert_non_null(strstr(error.where, "domains[1]"));
}

static void the_parts_add_up_away_from_the_tables_gpu(void **state) {
    (void)state;
    struct ww_gpu_spec s = own();
    s.clock_sm_mhz = 1150;
    s.clock_dram_mhz = 1000;
    s.l1_size_kb = 8;
    s.l1_mshrs = 8;
    s.power_idle_sm = WW_IDLE_SM_POWER_GATED;
    struct ww_energy e = energy(&s);
    double sum = 0;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        assert_true(e.dynamic_j[c] >= 0 && e.static_j[c] >= 0);
        sum += e.dynamic_j[c] + e.static_j[c];
    }
    near(e.total_j, sum);
}

/* At its defaults a GPU pays exactly what its table says. */
static void a_gpu_with_a_table_of_its_name_is_that_tables_own(void **state) {
    (void)state;
    static const char *const name[] = {"gtx480", "v100", "gtx980", "a100", "h200"};
    for (int i = 0; i < 5; i++) {
        struct ww_power *power = NULL;
        struct ww_gpu *gpu = NULL;
        struct ww_launch_result l = {.time_ps = 1000000};
        struct ww_energy at_default, bare;
        assert_int_equal(ww_gpu_load(name[i], NULL, 0, &gpu, &error), WW_OK);
        assert_int_equal(ww_power_load(name[i], true, &power, &error), WW_OK);
        for (int c = 0; c < WW_COUNTER_COUNT; c++) l.counter[c] = 1000;
        ww_power_launch(power, &gpu->spec, &l, &at_default);
        gpu->spec.l1_size_kb *= 2;
        ww_power_launch(power, &gpu->spec, &l, &bare);
        assert_true(bare.dynamic_j[WW_P_L1] > at_default.dynamic_j[WW_P_L1]);
        near(at_default.static_j[WW_P_L1], 0);
        ww_power_free(power);
        ww_gpu_free(gpu);
    }
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
        cmocka_unit_test(the_tables_own_gpu_pays_the_tables_values),
        cmocka_unit_test(a_larger_cache_costs_more_for_each_access),
        cmocka_unit_test(a_larger_cache_leaks_more),
        cmocka_unit_test(a_smaller_cache_takes_its_leakage_off_the_chips),
        cmocka_unit_test(more_mshrs_cost_more_for_each_miss),
        cmocka_unit_test(switching_goes_with_the_square_of_the_voltage),
        cmocka_unit_test(clocks_go_with_the_frequency_and_the_square_of_the_voltage),
        cmocka_unit_test(leakage_goes_with_the_voltage),
        cmocka_unit_test(each_domain_has_its_own_voltage),
        cmocka_unit_test(the_voltage_stays_within_its_limits),
        cmocka_unit_test(a_gpu_may_have_its_own_nominal_clock),
        cmocka_unit_test(the_nominal_clock_of_a_gpu_that_counts_cycles_otherwise_keeps_the_watts_of_its_clocks),
        cmocka_unit_test(leakage_doubles_with_temperature),
        cmocka_unit_test(dram_standby_is_30_percent_higher_at_full_speed_than_at_3_2_gbps),
        cmocka_unit_test(a_clock_gated_sm_saves_its_clock),
        cmocka_unit_test(a_power_gated_sm_saves_its_leakage_too),
        cmocka_unit_test(constant_leakage_stays_where_it_is_when_the_voltage_rises),
        cmocka_unit_test(a_domain_that_stands_there_twice_is_refused),
        cmocka_unit_test(the_parts_add_up_away_from_the_tables_gpu),
        cmocka_unit_test(a_gpu_with_a_table_of_its_name_is_that_tables_own),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
