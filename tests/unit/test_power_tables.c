/* The project's power tables: every row comes out of ww_power_launch as its file has it, and published figures
 * are reproduced by counted events. The files are read here a second time, on their own. */
#include "../../estimator/warpwatt.h"
#include "../../power/power.h"
#include "result_fixture.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_error error;
static const char *const tables[] = {"gtx280",    "gtx285",  "gtx480",    "gtx560ti", "gtx580", "gtx780",
                                     "gtx980",    "v100",    "a100",      "a100_80",  "h100",   "h200",
                                     "h100_pcie", "l40",     "rtx2080ti", "a40",      "a6000",  "a10",
                                     "rtx3090",   "rtx3080", "rtx3070",   "l40s",     "l4",     "rtx4090",
                                     "t4",        "rtx2080", "a30",       "gh200",    "b200",   "rtx5090"};
enum { TABLES = sizeof tables / sizeof tables[0], EVENTS = 1000 };

/* A GPU with the table of its name, and the file's own rows. */
struct table {
    struct ww_gpu *gpu;
    struct ww_power *power;
    cJSON *json;
};

static void close_table(struct table *t) {
    cJSON_Delete(t->json);
    ww_power_free(t->power);
    ww_gpu_free(t->gpu);
}

static const char *text_of(const cJSON *row, const char *key, const char *otherwise) {
    const cJSON *v = cJSON_GetObjectItem(row, key);
    return v ? v->valuestring : otherwise;
}

static double number_of(const cJSON *row, const char *key) {
    const cJSON *v = cJSON_GetObjectItem(row, key);
    assert_true(cJSON_IsNumber(v));
    return v->valuedouble;
}

/* The values hold at the clocks of the table's domains, which are not always the model's. */
static void set_tables_clocks(struct table *t) {
    double *clock[] = {&t->gpu->spec.clock_sm_mhz, &t->gpu->spec.clock_l2_mhz, &t->gpu->spec.clock_dram_mhz};
    const cJSON *domains = cJSON_GetObjectItem(t->json, "domains");
    for (int i = 0; i < 3; i++) *clock[i] = number_of(cJSON_GetArrayItem(domains, i), "mhz");
}

static struct table open_table(const char *name) {
    struct table t;
    char path[512], file[64];
    static char text[1 << 17];
    snprintf(file, sizeof file, "power/tables/%s.json", name);
    ww_fixture_source_file(file, path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    t.json = cJSON_Parse(text);
    assert_non_null(t.json);
    assert_int_equal(ww_gpu_load(name, NULL, 0, &t.gpu, &error), WW_OK);
    assert_int_equal(ww_power_load(name, true, &t.power, &error), WW_OK);
    set_tables_clocks(&t);
    return t;
}

static int component_of(const cJSON *row) {
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        if (strcmp(ww_component_name((enum ww_component)c), text_of(row, "component", "")) == 0) return c;
    fail_msg("no such component");
    return 0;
}

static enum ww_counter counter_of(const cJSON *row) {
    if (strcmp(text_of(row, "event", ""), "reg_bank_read") == 0) return WW_C_REG_READ;
    for (int c = 0; c < WW_COUNTER_COUNT; c++)
        if (strcmp(ww_counter_name((enum ww_counter)c), text_of(row, "event", "")) == 0)
            return (enum ww_counter)c;
    fail_msg("no such counter");
    return WW_C_INST_ISSUED;
}

/* Whole warps issue, so that rows by lanes count in full. */
static struct ww_launch_result counted(enum ww_counter counter) {
    struct ww_launch_result l = {0};
    l.counter[WW_C_INST_ISSUED] = EVENTS;
    l.counter[WW_C_THREAD_INST] = 32 * EVENTS;
    if (counter != WW_C_THREAD_INST) l.counter[counter] = EVENTS;
    if (counter == WW_C_REG_REUSE) l.counter[WW_C_REG_READ] = EVENTS; /* of which it is a part */
    return l;
}

static void one_event_costs_its_energy(const struct table *t, enum ww_counter counter) {
    struct ww_launch_result l = counted(counter);
    struct ww_energy out;
    double want[WW_COMPONENT_COUNT] = {0};
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(t->json, "events")) {
        double unit = strcmp(text_of(row, "unit", ""), "nJ") == 0 ? 1e-9 : 1e-12;
        uint64_t kept = strcmp(text_of(row, "event", ""), "reg_bank_read") == 0 ? l.counter[WW_C_REG_REUSE] : 0;
        want[component_of(row)] += number_of(row, "value") * unit * (double)(l.counter[counter_of(row)] - kept);
    }
    ww_power_launch(t->power, &t->gpu->spec, &l, &out);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        assert_true(fabs(out.dynamic_j[c] - want[c]) <= 1e-9 * want[c]);
}

static void every_event_of_every_table_costs_what_its_row_says(void **state) {
    (void)state;
    for (int i = 0; i < TABLES; i++) {
        struct table t = open_table(tables[i]);
        int rows = 0;
        const cJSON *row;
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(t.json, "events")) {
            one_event_costs_its_energy(&t, counter_of(row));
            rows++;
        }
        assert_true(rows > 20);
        close_table(&t);
    }
}

/* What an event adds to a component, in joules. */
static double joules_of(const struct table *t, enum ww_counter counter, enum ww_component component) {
    struct ww_launch_result none = {0}, one = {0};
    struct ww_energy without, with;
    one.counter[counter] = EVENTS;
    ww_power_launch(t->power, &t->gpu->spec, &none, &without);
    ww_power_launch(t->power, &t->gpu->spec, &one, &with);
    return (with.dynamic_j[component] - without.dynamic_j[component]) / EVENTS;
}

/* A row of 0 would go unseen by tests that compare a table with itself. What a cache stores it drives through
 * the same bank as what it reads. */
static void what_memory_moves_costs_energy_in_every_table(void **state) {
    (void)state;
    static const struct {
        enum ww_counter counter;
        enum ww_component component;
    } moved[] = {{WW_C_L1_SECTOR_HIT, WW_P_L1},
                 {WW_C_L2_SECTOR_HIT, WW_P_L2},
                 {WW_C_SHARED_PASSES, WW_P_SHARED},
                 {WW_C_DRAM_SECTOR_READ, WW_P_DRAM_READ},
                 {WW_C_DRAM_SECTOR_WRITE, WW_P_DRAM_WRITE}};
    for (int i = 0; i < TABLES; i++) {
        struct table t = open_table(tables[i]);
        for (size_t k = 0; k < sizeof moved / sizeof moved[0]; k++)
            if (!(joules_of(&t, moved[k].counter, moved[k].component) > 0))
                fail_msg("%s: %s costs nothing", tables[i], ww_counter_name(moved[k].counter));
        double read = joules_of(&t, WW_C_L2_SECTOR_HIT, WW_P_L2),
               written =
                   joules_of(&t, WW_C_L2_SECTOR_WRITE, WW_P_L2) + joules_of(&t, WW_C_L2_WRITE_HIT, WW_P_L2);
        if (written < read / 2 || written > 8 * read)
            fail_msg("%s: a sector costs %.4g J to write and %.4g J to read in the L2", tables[i], written,
                     read);
        close_table(&t);
    }
}

/* 1 us at the table's clocks, with half of the SMs active and nothing issued. */
static void every_static_row_of_every_table_draws_its_watts(void **state) {
    (void)state;
    for (int i = 0; i < TABLES; i++) {
        struct table t = open_table(tables[i]);
        struct ww_launch_result l = {.time_ps = 1000000};
        struct ww_energy out;
        double want[WW_COMPONENT_COUNT] = {0}, half = t.gpu->spec.sm_count / 2.0;
        const cJSON *row;
        double active = half * t.gpu->spec.clock_sm_mhz;
        l.counter[WW_C_SM_ACTIVE_CYCLES] = (uint64_t)(active + 0.5);
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(t.json, "static")) {
            const char *per = text_of(row, "per", "");
            double many = strcmp(per, "gpu") == 0 ? 1 : strcmp(per, "dma_engine") == 0 ? 0 : half;
            want[component_of(row)] += number_of(row, "value") * many * 1e-6;
        }
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(t.json, "lane_model")) if (strcmp(text_of(row, "uses", ""),
                                                                                      "default") == 0)
            want[component_of(row)] += number_of(row, "first_lane") / 2 * 1e-6;
        ww_power_launch(t.power, &t.gpu->spec, &l, &out);
        for (int c = 0; c < WW_COMPONENT_COUNT; c++)
            assert_true(fabs(out.static_j[c] - want[c]) <= 1e-3 * want[c] + 1e-15);
        close_table(&t);
    }
}

/* Components without a row are those that docs/model/power.md names, and those that a GPU does not have. */
static void every_component_has_rows_or_a_reason(void **state) {
    (void)state;
    /* Activates are in the energy of their reads and writes. */
    static const char *const with_activates[] = {"gtx780",  "gtx980",  "l40",    "l40s",  "l4",
                                                 "rtx4090", "rtx5090", "a40",    "a6000", "a10",
                                                 "rtx3090", "rtx3080", "rtx3070"};
    for (int i = 0; i < TABLES; i++) {
        struct table t = open_table(tables[i]);
        bool has[WW_COMPONENT_COUNT] = {false};
        const cJSON *row;
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(t.json, "events")) has[component_of(row)] = true;
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(t.json, "static")) has[component_of(row)] = true;
        has[WW_P_LSU] = has[WW_P_COLLECTOR] = has[WW_P_DRAM_REFRESH] = true; /* in other components */
        if (strncmp(tables[i], "gtx", 3) == 0) has[WW_P_TENSOR] = true;
        for (size_t k = 0; k < sizeof with_activates / sizeof with_activates[0]; k++)
            if (strcmp(tables[i], with_activates[k]) == 0) has[WW_P_DRAM_ACTIVATE] = true;
        if (strncmp(tables[i], "gtx", 3) != 0) has[WW_P_DRAM_BACKGROUND] = true; /* in the constant power */
        for (int c = 0; c < WW_COMPONENT_COUNT; c++)
            if (!has[c]) fail_msg("%s: %s", tables[i], ww_component_name((enum ww_component)c));
        close_table(&t);
    }
}

static struct ww_energy of(const char *gpu, const struct ww_launch_result *l) {
    struct table t = open_table(gpu);
    struct ww_energy out;
    ww_power_launch(t.power, &t.gpu->spec, l, &out);
    close_table(&t);
    return out;
}

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-6 * fabs(want))) fail_msg("%.9g is not %.9g", got, want);
}

/* A. Sethia's dissertation, section 4.4.2: a queue access is 3 % of an L1 access, here four sectors that hit.
 * Derived tables may scale the two by different laws. */
static void an_access_to_the_re_execution_queue_costs_3_percent_of_an_l1_access(void **state) {
    (void)state;
    static const enum ww_counter access[] = {WW_C_REEXEC_PUSH, WW_C_REEXEC_TRY};
    for (int i = 0; i < TABLES; i++) {
        bool derived = strcmp(tables[i], "gtx480") != 0 && strcmp(tables[i], "v100") != 0;
        struct ww_launch_result none = counted(WW_C_THREAD_INST), hits = counted(WW_C_L1_SECTOR_HIT);
        double idle = of(tables[i], &none).dynamic_j[WW_P_LSU];
        double l1 = 4 * of(tables[i], &hits).dynamic_j[WW_P_L1];
        for (int k = 0; k < 2; k++) {
            struct ww_launch_result l = counted(access[k]);
            double part = (of(tables[i], &l).dynamic_j[WW_P_LSU] - idle) / l1;
            if (fabs(part - 0.03) > (derived ? 0.015 : 1e-4)) fail_msg("%s: %.4g", tables[i], part);
        }
    }
}

/* A board draws less than half of its limit of power when it idles at full clocks; reading at the peak of its
 * memory and multiplying in all of its lanes take 0.7 to 3 times the limit: boards of little power lower their
 * clocks then, and others have more to do than this. Watts of idle boards are those that the tables name. */
static void idling_and_full_load_fit_a_boards_limit_of_power(void **state) {
    (void)state;
    static const struct {
        const char *gpu;
        double idle; /* 0: none is listed */
    } board[] = {{"a40", 110}, {"a6000", 0}, {"a10", 54},      {"rtx3090", 95}, {"rtx3080", 0}, {"rtx3070", 0},
                 {"l40", 110}, {"l40s", 0},  {"l4", 28},       {"rtx4090", 57}, {"t4", 27.5},   {"rtx2080", 0},
                 {"a30", 43},  {"h100", 70}, {"h100_pcie", 0}, {"gh200", 100},  {"b200", 141},  {"rtx5090", 0}};
    for (size_t i = 0; i < sizeof board / sizeof board[0]; i++) {
        struct table t = open_table(board[i].gpu);
        const struct ww_gpu_spec *g = &t.gpu->spec;
        double limit = g->board_tdp_w;
        struct ww_launch_result none = {.time_ps = 1000000000000}, full = none;
        double sectors =
            g->dram_channels * (g->dram_bus_bits / 8.0) * g->dram_data_rate * g->clock_dram_mhz * 1e6 / 32;
        double fma = g->sm_count * g->pipe_fp32_lanes * g->pipe_fp32_count * g->clock_sm_mhz * 1e6 / 32;
        static const enum ww_counter of_memory[] = {WW_C_DRAM_SECTOR_READ, WW_C_L2_SECTOR_MISS,
                                                    WW_C_L1_SECTOR_MISS, WW_C_XBAR_REPLY_FLIT};
        static const enum ww_counter of_core[] = {WW_C_INST_ISSUED, WW_C_REG_WRITE};
        for (size_t k = 0; k < sizeof of_memory / sizeof of_memory[0]; k++)
            full.counter[of_memory[k]] = (uint64_t)sectors;
        for (size_t k = 0; k < sizeof of_core / sizeof of_core[0]; k++)
            full.counter[of_core[k]] = (uint64_t)fma;
        full.counter[WW_C_REG_READ] = (uint64_t)(3 * fma);
        full.counter[WW_C_REG_REUSE] = (uint64_t)fma; /* two banks give two operands a cycle */
        full.counter[WW_C_FETCH] = (uint64_t)(fma / 2);
        full.counter[WW_C_THREAD_INST] = full.counter[WW_C_LANE_FP32] = full.counter[WW_C_LANE_FP32_FMA] =
            (uint64_t)(32 * fma);
        full.counter[WW_C_SM_ACTIVE_CYCLES] = (uint64_t)(g->sm_count * g->clock_sm_mhz * 1e6);
        struct ww_energy idle, most;
        ww_power_launch(t.power, g, &none, &idle);
        ww_power_launch(t.power, g, &full, &most);
        print_message("%s: idle %.1f, limit %.0f, full load %.0f W\n", board[i].gpu, idle.total_j, limit,
                      most.total_j);
        if (board[i].idle > 0) assert_true(fabs(idle.total_j - board[i].idle) < 0.06 * board[i].idle);
        assert_true(idle.total_j < 0.5 * limit && most.total_j > 0.7 * limit && most.total_j < 3 * limit);
        close_table(&t);
    }
}

/* What the operand cache keeps costs a share of what a bank's read does, and v100's source knows no kept
 * operands. */
static void a_kept_operand_costs_less_than_one_from_a_bank(void **state) {
    (void)state;
    struct ww_launch_result read = counted(WW_C_REG_READ), kept = counted(WW_C_REG_REUSE);
    static const char *const knows[] = {"a100", "h100", "l40", "a40", "rtx4090"};
    for (size_t i = 0; i < sizeof knows / sizeof knows[0]; i++) {
        double share =
            of(knows[i], &kept).dynamic_j[WW_P_REGFILE] / of(knows[i], &read).dynamic_j[WW_P_REGFILE];
        assert_true(fabs(share - 0.7 / 8) < 1e-4); /* tables have four digits */
    }
    near(of("v100", &kept).dynamic_j[WW_P_REGFILE], of("v100", &read).dynamic_j[WW_P_REGFILE]);
}

/* AccelWattch's SASS_SIM variant for the V100, with its McPAT run for one kind of event at a time. */
static void energies_of_the_v100_are_those_of_accelwattchs_sass_sim(void **state) {
    (void)state;
    static const struct {
        enum ww_counter counter;
        enum ww_component component;
        double picojoules;
    } published[] = {{WW_C_SHARED_PASSES, WW_P_SHARED, 112.605},
                     {WW_C_L1_SECTOR_HIT, WW_P_L1, 506.432},
                     {WW_C_L1_SECTOR_MISS, WW_P_L1, 338.455},
                     {WW_C_L1_WRITE_HIT, WW_P_L1, 37.3126},
                     {WW_C_L1_WRITE_MISS, WW_P_L1, 393.384},
                     {WW_C_L2_SECTOR_HIT, WW_P_L2, 68.7875},
                     {WW_C_L2_SECTOR_MISS, WW_P_L2, 4.48159},
                     {WW_C_L2_WRITE_HIT, WW_P_L2, 269.741},
                     {WW_C_L2_WRITE_MISS, WW_P_L2, 129.999},
                     {WW_C_LANE_FP32_ADD, WW_P_FP32, 9.98617},
                     {WW_C_LANE_FP32_MUL, WW_P_FP32, 3.46198},
                     {WW_C_LANE_FP32_FMA, WW_P_FP32, 3.46198},
                     {WW_C_LANE_CVT_FP, WW_P_FP32, 9.98617},
                     {WW_C_LANE_CVT_INT, WW_P_INT, 6.92238},
                     {WW_C_DRAM_SECTOR_READ, WW_P_DRAM_READ, 2009.7},
                     {WW_C_DRAM_SECTOR_WRITE, WW_P_DRAM_WRITE, 1115.2},
                     {WW_C_DRAM_PRECHARGE, WW_P_DRAM_ACTIVATE, 332.694}};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        struct ww_launch_result l = counted(published[i].counter);
        near(of("v100", &l).dynamic_j[published[i].component], published[i].picojoules * EVENTS * 1e-12);
    }
}

/* AccelWattch's pipeline registers: 10.0072 nJ for a cycle in which each of 80 SMs commits 8 warp instructions.
 */
static void a_full_pipeline_of_the_v100_costs_accelwattchs_10_nanojoules_a_cycle(void **state) {
    (void)state;
    struct ww_launch_result l = counted(WW_C_THREAD_INST);
    near(of("v100", &l).dynamic_j[WW_P_SM_OTHER] / EVENTS * 8 * 80, 10.00723e-9);
}

/* It reads all lanes of a register, whatever the mask. */
static void registers_of_the_v100_cost_the_same_with_one_lane(void **state) {
    (void)state;
    struct ww_launch_result l = counted(WW_C_REG_READ), one = l;
    one.counter[WW_C_THREAD_INST] /= 32;
    near(of("v100", &one).dynamic_j[WW_P_REGFILE], of("v100", &l).dynamic_j[WW_P_REGFILE]);
}

/* A kernel that converts uses no special functions. */
static void conversions_do_not_make_a_kernel_one_of_special_functions(void **state) {
    (void)state;
    struct ww_launch_result l = {.time_ps = 1000000}, with;
    l.counter[WW_C_LANE_INT] = l.counter[WW_C_LANE_FP32] = 1000;
    l.counter[WW_C_SM_ACTIVE_CYCLES] = 80 * 1447;
    with = l;
    with.counter[WW_C_LANE_SFU] = with.counter[WW_C_LANE_CVT_FP] = 500;
    near(of("v100", &with).static_j[WW_P_SM_OTHER], of("v100", &l).static_j[WW_P_SM_OTHER]);
    with.counter[WW_C_LANE_CVT_FP] = 0;
    assert_true(fabs(of("v100", &with).static_j[WW_P_SM_OTHER] - 18.55029744e-6) < 1e-9);
}

/* GPUWattch's GTX 480: DRAM by its coefficients and base energies, for 64 bytes; two sectors are that. */
static void published_energies_of_the_gtx480_are_reproduced(void **state) {
    (void)state;
    struct ww_launch_result l = counted(WW_C_DRAM_SECTOR_READ);
    l.counter[WW_C_DRAM_SECTOR_WRITE] = l.counter[WW_C_DRAM_PRECHARGE] = EVENTS;
    struct ww_energy e = of("gtx480", &l);
    assert_true(fabs(2 * e.dynamic_j[WW_P_DRAM_READ] / EVENTS - 25.5653e-9) < 1e-12);
    assert_true(fabs(2 * e.dynamic_j[WW_P_DRAM_WRITE] / EVENTS - 14.1866e-9) < 1e-12);
    near(e.dynamic_j[WW_P_DRAM_ACTIVATE] / EVENTS, 4.2322e-9);
}

/* GPUWattch's GTX 480: 13851 pJ for a line of four sectors. */
static void the_gtx480s_l2_writes_cost_what_gpuwattch_states(void **state) {
    (void)state;
    struct ww_launch_result l = counted(WW_C_L2_SECTOR_WRITE);
    struct ww_energy e = of("gtx480", &l);
    assert_true(fabs(4 * e.dynamic_j[WW_P_L2] / EVENTS - 13851e-12) < 2e-12);
}

/* GPUWattch's constant power, in which DRAM's standby was: 11 W. */
static void the_gtx480s_constant_power_is_gpuwattchs(void **state) {
    (void)state;
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_energy e = of("gtx480", &l);
    near(e.static_j[WW_P_CONSTANT] + e.static_j[WW_P_DRAM_BACKGROUND], 11e-6);
}

/* A. Sethia's dissertation, section 3.5: 41.9 W. */
static void the_gtx480_leaks_what_the_thesis_states(void **state) {
    (void)state;
    struct ww_launch_result l = {.time_ps = 1000000};
    near(of("gtx480", &l).static_j[WW_P_SM_OTHER], 41.9e-6);
}

/* AccelWattch's static power of kernels with integer and single-precision work: 18.618 W with one lane and
 * 0.64523 W for each further one; constant 32.325 W; an idle SM 0.28279 W. */
static void the_lane_model_is_accelwattchs(void **state) {
    (void)state;
    struct table t = open_table("v100");
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_energy e;
    l.counter[WW_C_LANE_INT] = l.counter[WW_C_LANE_FP32] = 1000;
    l.counter[WW_C_INST_ISSUED] = 1000;
    l.counter[WW_C_SM_ACTIVE_CYCLES] = (uint64_t)(t.gpu->spec.sm_count * t.gpu->spec.clock_sm_mhz);
    for (unsigned lanes = 1; lanes <= 32; lanes++) {
        l.counter[WW_C_THREAD_INST] = 1000 * lanes;
        ww_power_launch(t.power, &t.gpu->spec, &l, &e);
        assert_true(fabs(e.static_j[WW_P_SM_OTHER] - (18.6179906 + (lanes - 1) * 0.645228013) * 1e-6) < 1e-9);
    }
    near(e.static_j[WW_P_CONSTANT], 32.32522272e-6);
    l.counter[WW_C_SM_ACTIVE_CYCLES] = 0;
    ww_power_launch(t.power, &t.gpu->spec, &l, &e);
    near(e.static_j[WW_P_SM_IDLE], t.gpu->spec.sm_count * 0.28279166e-6);
    close_table(&t);
}

/* D2MA, section 5.5 and table 3: an engine in each of 15 SMs, 3.72 mW and 54604.3 um2 each, 0.022 % of 250 W
 * and 0.155 % of 529 mm2 (the paper prints 0.016 %). */
static void engines_of_bulk_transfers_cost_what_d2ma_states(void **state) {
    (void)state;
    struct table t = open_table("gtx480");
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_gpu_spec with = t.gpu->spec;
    struct ww_energy without_engines, with_engines;
    double mm2 = 0, mm2_with = 0;
    with.dma_engines = 1;
    ww_power_launch(t.power, &t.gpu->spec, &l, &without_engines);
    ww_power_launch(t.power, &with, &l, &with_engines);
    double watts = (with_engines.total_j - without_engines.total_j) * 1e6;
    assert_true(fabs(watts - 15 * 3.72e-3) < 1e-6);
    assert_true(fabs(watts / 250 - 0.00022) < 0.00001);
    assert_true(ww_power_area(t.power, &t.gpu->spec, &mm2) && ww_power_area(t.power, &with, &mm2_with));
    assert_true(fabs((mm2_with - mm2) / 529 - 0.00155) < 0.00001);
    close_table(&t);
}

/* nvidia-smi of idle boards: 68 to 73 W. */
static void an_idle_h100_draws_70_watts(void **state) {
    (void)state;
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_energy e = of("h100", &l);
    double watts = 0;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) watts += (e.static_j[c] + e.dynamic_j[c]) * 1e6;
    assert_true(fabs(watts - 70) < 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_of_every_table_costs_what_its_row_says),
        cmocka_unit_test(a_kept_operand_costs_less_than_one_from_a_bank),
        cmocka_unit_test(what_memory_moves_costs_energy_in_every_table),
        cmocka_unit_test(every_static_row_of_every_table_draws_its_watts),
        cmocka_unit_test(every_component_has_rows_or_a_reason),
        cmocka_unit_test(an_access_to_the_re_execution_queue_costs_3_percent_of_an_l1_access),
        cmocka_unit_test(idling_and_full_load_fit_a_boards_limit_of_power),
        cmocka_unit_test(energies_of_the_v100_are_those_of_accelwattchs_sass_sim),
        cmocka_unit_test(a_full_pipeline_of_the_v100_costs_accelwattchs_10_nanojoules_a_cycle),
        cmocka_unit_test(registers_of_the_v100_cost_the_same_with_one_lane),
        cmocka_unit_test(conversions_do_not_make_a_kernel_one_of_special_functions),
        cmocka_unit_test(published_energies_of_the_gtx480_are_reproduced),
        cmocka_unit_test(the_gtx480s_l2_writes_cost_what_gpuwattch_states),
        cmocka_unit_test(the_gtx480s_constant_power_is_gpuwattchs),
        cmocka_unit_test(the_gtx480_leaks_what_the_thesis_states),
        cmocka_unit_test(the_lane_model_is_accelwattchs),
        cmocka_unit_test(engines_of_bulk_transfers_cost_what_d2ma_states),
        cmocka_unit_test(an_idle_h100_draws_70_watts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
