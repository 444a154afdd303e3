/* Power tables and the energy that comes from them. */
#include "../../estimator/warpwatt.h"
#include "../../power/power.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-power-XXXXXX.json";
static struct ww_error error;

static struct ww_power *table(const char *text, enum ww_code want) {
    struct ww_power *power = NULL;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(ww_power_load(path, true, &power, &error), want);
    return power;
}

static struct ww_gpu_spec gpu(void) {
    struct ww_gpu_spec spec = {0};
    spec.sm_count = 4;
    spec.clock_sm_mhz = 1000;
    return spec;
}

/* 1 us at 1 GHz on 4 SMs, of which one is idle all the time; all lanes active. */
static struct ww_launch_result launch(void) {
    struct ww_launch_result l = {.cycles = 1000, .time_ps = 1000000};
    l.counter[WW_C_SM_ACTIVE_CYCLES] = 3000;
    l.counter[WW_C_SM_IDLE_CYCLES] = 1000;
    l.counter[WW_C_INST_ISSUED] = 10;
    l.counter[WW_C_THREAD_INST] = 320;
    return l;
}

static void near(double got, double want) {
    assert_true(fabs(got - want) <= 1e-12 * fabs(want));
}

static struct ww_energy energy_of(const char *text, const struct ww_launch_result *l) {
    struct ww_power *power = table(text, WW_OK);
    struct ww_gpu_spec spec = gpu();
    struct ww_energy out;
    ww_power_launch(power, &spec, l, &out);
    ww_power_free(power);
    return out;
}

static void an_event_costs_its_energy_each_time(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    l.counter[WW_C_LANE_INT] = 1000;
    struct ww_energy e =
        energy_of("{\"events\":[{\"component\":\"int\",\"event\":\"lane_int\",\"value\":7,\"unit\":\"pJ\","
                  "\"uncertainty\":0.1,\"source\":\"s\"}],\"static\":[]}",
                  &l);
    near(e.dynamic_j[WW_P_INT], 7e-9);
    near(e.total_j, 7e-9);
    assert_true(e.known);
}

static void an_event_by_lanes_is_scaled_by_the_active_share(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    l.counter[WW_C_THREAD_INST] = 80;
    l.counter[WW_C_REG_READ] = 100;
    struct ww_energy e =
        energy_of("{\"events\":[{\"component\":\"regfile\",\"event\":\"reg_read\",\"value\":2,\"unit\":\"nJ\","
                  "\"by_lanes\":true,\"uncertainty\":0.1,\"source\":\"s\"}],\"static\":[]}",
                  &l);
    near(e.dynamic_j[WW_P_REGFILE], 2e-9 * 100 * 0.25);
}

static void static_power_flows_for_what_draws_it(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    struct ww_energy e = energy_of(
        "{\"events\":[],\"static\":[{\"component\":\"constant\",\"per\":\"gpu\",\"value\":10,\"uncertainty\":0,"
        "\"source\":\"s\"},"
        "{\"component\":\"sm_idle\",\"per\":\"idle_sm\",\"value\":3,\"uncertainty\":0,\"source\":\"s\"},"
        "{\"component\":\"sm_other\",\"per\":\"active_sm\",\"value\":5,\"uncertainty\":0,\"source\":\"s\"}]}",
        &l);
    near(e.static_j[WW_P_CONSTANT], 10e-6);
    near(e.static_j[WW_P_SM_IDLE], 3e-6);
    near(e.static_j[WW_P_SM_OTHER], 15e-6);
    near(e.total_j, 28e-6);
}

static void static_power_that_scales_follows_the_registers_or_warps_of_an_sm(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    struct ww_power *power = table("{\"events\":[],\"static\":[{\"component\":\"regfile\",\"per\":\"gpu\","
                                   "\"value\":10,\"scales\":\"registers\","
                                   "\"at\":16384,\"uncertainty\":0,\"source\":\"s\"},{\"component\":"
                                   "\"scheduler\",\"per\":\"gpu\",\"value\":8,"
                                   "\"scales\":\"warps\",\"at\":32,\"uncertainty\":0,\"source\":\"s\"}]}",
                                   WW_OK);
    struct ww_gpu_spec spec = gpu();
    struct ww_energy e;
    spec.sm_registers = 2048;
    spec.sm_max_warps = 4;
    ww_power_launch(power, &spec, &l, &e);
    near(e.static_j[WW_P_REGFILE], 10e-6 / 8);
    near(e.static_j[WW_P_SCHEDULER], 1e-6);
    ww_power_free(power);
    table("{\"events\":[],\"static\":[{\"component\":\"regfile\",\"per\":\"gpu\",\"value\":10,"
          "\"scales\":\"registers\",\"uncertainty\":0,\"source\":\"s\"}]}",
          WW_INPUT); /* at which size? */
}

/* 3 of 4 SMs have CTAs; each has one scheduler that issues in every second cycle. Of the 1500 instructions that
 * they could issue in 1 us they issue 600, so that they stall for 60 % of the time. */
static void an_sm_that_issues_nothing_draws_what_its_clocks_do(void **state) {
    (void)state;
    struct ww_power *power =
        table("{\"events\":[],\"static\":[{\"component\":\"sm_other\",\"per\":\"stalled_sm\","
              "\"kind\":\"clock\",\"value\":2,\"uncertainty\":0,\"source\":\"s\"}]}",
              WW_OK);
    struct ww_gpu_spec spec = gpu();
    struct ww_launch_result l = launch();
    struct ww_energy out;
    spec.sm_schedulers = 1;
    spec.front_issue_interval = 2;
    l.counter[WW_C_INST_ISSUED] = 600;
    ww_power_launch(power, &spec, &l, &out);
    near(out.static_j[WW_P_SM_OTHER], 2 * 3 * 0.6 * 1e-6);
    l.counter[WW_C_INST_ISSUED] = 1600; /* no more than all */
    ww_power_launch(power, &spec, &l, &out);
    near(out.static_j[WW_P_SM_OTHER], 0);
    ww_power_free(power);
}

#define LANES                                                                                                  \
    "{\"events\":[],\"static\":[],\"lane_model\":["                                                            \
    "{\"component\":\"sm_other\",\"uses\":\"int+fp\",\"first_lane\":20,\"add_lane\":1,\"uncertainty\":0,"      \
    "\"source\":\"s\"},"                                                                                       \
    "{\"component\":\"sm_other\",\"uses\":\"default\",\"first_lane\":8,\"add_lane\":0,\"uncertainty\":0,"      \
    "\"source\":\"s\"}]}"

static void the_lane_model_adds_watts_with_each_lane(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    l.counter[WW_C_LANE_INT] = 100;
    l.counter[WW_C_LANE_FP32] = 100;
    near(energy_of(LANES, &l).static_j[WW_P_SM_OTHER], (20 + 31) * 0.75 * 1e-6);
    l.counter[WW_C_THREAD_INST] = 10;
    near(energy_of(LANES, &l).static_j[WW_P_SM_OTHER], 20 * 0.75 * 1e-6);
}

static void the_lane_model_falls_back_to_its_default(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    l.counter[WW_C_LANE_INT] = 100;
    near(energy_of(LANES, &l).static_j[WW_P_SM_OTHER], 8 * 0.75 * 1e-6);
}

static void a_stray_operation_does_not_move_a_kernel(void **state) {
    (void)state;
    struct ww_launch_result l = launch();
    l.counter[WW_C_LANE_INT] = 1000000;
    l.counter[WW_C_LANE_FP32] = 1;
    near(energy_of(LANES, &l).static_j[WW_P_SM_OTHER], 8 * 0.75 * 1e-6);
}

static void refused(const char *text, const char *place) {
    assert_null(table(text, WW_INPUT));
    assert_non_null(strstr(error.where, place));
}

static void what_is_wrong_with_a_table_is_named(void **state) {
    (void)state;
    refused("{\"events\":[{\"component\":\"engine\",\"event\":\"lane_int\",\"value\":7,\"unit\":\"pJ\","
            "\"uncertainty\":0,"
            "\"source\":\"s\"}],\"static\":[]}",
            "$.events[0]");
    refused(
        "{\"events\":[{\"component\":\"int\",\"event\":\"lane\",\"value\":7,\"unit\":\"pJ\",\"uncertainty\":0,"
        "\"source\":\"s\"}],\"static\":[]}",
        "$.events[0]");
    refused("{\"events\":[{\"component\":\"int\",\"event\":\"lane_int\",\"value\":-7,\"unit\":\"pJ\","
            "\"uncertainty\":0,"
            "\"source\":\"s\"}],\"static\":[]}",
            "$.events[0].value");
    refused("{\"events\":[{\"component\":\"int\",\"event\":\"lane_int\",\"unit\":\"pJ\",\"uncertainty\":0,"
            "\"source\":\"s\"}],"
            "\"static\":[]}",
            "$.events[0].value");
    refused("{\"events\":[{\"component\":\"int\",\"event\":\"lane_int\",\"value\":1,\"unit\":\"pJ\","
            "\"uncertainty\":0}],"
            "\"static\":[]}",
            "$.events[0]");
    refused("{\"events\":[]}", "$.static");
    refused("{\"events\":[],\"static\":[],\"watts\":1}", path);
    refused("{\"events\":[],\"static\":[],\"lane_model\":[{\"component\":\"sm_other\",\"uses\":\"int+gpu\","
            "\"first_lane\":1,"
            "\"add_lane\":0,\"uncertainty\":0,\"source\":\"s\"}]}",
            "$.lane_model[0]");
}

static void a_missing_table_is_none_unless_required(void **state) {
    (void)state;
    struct ww_power *power = (struct ww_power *)(void *)path;
    assert_int_equal(ww_power_load("no-such-gpu", false, &power, &error), WW_OK);
    assert_null(power);
    assert_int_equal(ww_power_load("no-such-gpu", true, &power, &error), WW_INPUT);
}

static void the_tables_of_the_project_load(void **state) {
    (void)state;
    static const char *const name[] = {"gtx280",  "gtx285",    "gtx480",  "gtx580", "gtx780",  "gtx980",
                                       "v100",    "a100",      "a100_80", "h100",   "h200",    "h100_pcie",
                                       "l40",     "rtx2080ti", "a40",     "a6000",  "a10",     "rtx3090",
                                       "rtx3080", "rtx3070",   "l40s",    "l4",     "rtx4090", "t4",
                                       "rtx2080", "a30",       "gh200",   "b200",   "rtx5090"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct ww_power *power = NULL;
        assert_int_equal(ww_power_load(name[i], true, &power, &error), WW_OK);
        assert_string_equal(ww_power_name(power), name[i]);
        ww_power_free(power);
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
        cmocka_unit_test(an_event_costs_its_energy_each_time),
        cmocka_unit_test(an_event_by_lanes_is_scaled_by_the_active_share),
        cmocka_unit_test(static_power_flows_for_what_draws_it),
        cmocka_unit_test(static_power_that_scales_follows_the_registers_or_warps_of_an_sm),
        cmocka_unit_test(an_sm_that_issues_nothing_draws_what_its_clocks_do),
        cmocka_unit_test(the_lane_model_adds_watts_with_each_lane),
        cmocka_unit_test(the_lane_model_falls_back_to_its_default),
        cmocka_unit_test(a_stray_operation_does_not_move_a_kernel),
        cmocka_unit_test(what_is_wrong_with_a_table_is_named),
        cmocka_unit_test(a_missing_table_is_none_unless_required),
        cmocka_unit_test(the_tables_of_the_project_load),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
