/* Reports: JSON read back with cJSON, texts by what they must say. */
#include "../../estimator/warpwatt.h"
#include "result_fixture.h"
#include "../../reports/figures.h"
#include "skip.h"
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum kind { SUMMARY, REPORT, SOURCE, COMPARE };

/* The report's text; free() it. `b` is only for COMPARE. */
static char *print(enum kind kind, const struct ww_result *a, const struct ww_result *b, bool json) {
    char *text = NULL;
    size_t n = 0;
    struct ww_error error;
    FILE *out = open_memstream(&text, &n);
    enum ww_code code = WW_OK;
    switch (kind) {
    case SUMMARY:
        code = ww_report_summary(a, 7, json, out, &error);
        break;
    case REPORT:
        code = json ? ww_report_json(a, 7, out, &error) : ww_report_text(a, 7, out, &error);
        break;
    case SOURCE:
        code = ww_report_source(a, 3, json, out, &error);
        break;
    case COMPARE:
        code = ww_report_compare(a, 1, b, 2, json, out, &error);
        break;
    }
    fclose(out);
    if (code != WW_OK) fail_msg("%s", error.text);
    return text;
}

static cJSON *parse(enum kind kind, const struct ww_result *a, const struct ww_result *b) {
    char *text = print(kind, a, b, true);
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithOpts(text, &end, 1);
    if (!root) fail_msg("no JSON: %s", end);
    free(text);
    return root;
}

/* Member at a path of object keys and array numbers, "a.0.b". */
static const cJSON *at(const cJSON *node, const char *path) {
    char part[64];
    while (*path) {
        size_t n = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        node = cJSON_IsArray(node) ? cJSON_GetArrayItem(node, atoi(part))
                                   : cJSON_GetObjectItemCaseSensitive(node, part);
        if (!node) fail_msg("%s is missing", part);
        path += n + (path[n] == '.');
    }
    return node;
}

static double number(const cJSON *root, const char *path) {
    const cJSON *node = at(root, path);
    if (!cJSON_IsNumber(node)) fail_msg("%s is no number", path);
    return node->valuedouble;
}

/* ---- summary ---- */

static void summary_has_exactly_the_documented_keys(void **state) {
    (void)state;
    static const char *const keys[] = {"run",
                                       "gpu",
                                       "trace",
                                       "mode",
                                       "code",
                                       "overrides",
                                       "cycles",
                                       "time_s",
                                       "warp_instructions",
                                       "thread_instructions",
                                       "ipc",
                                       "energy_j",
                                       "average_power_w",
                                       "host_seconds",
                                       "interval"};
    struct ww_result *r = ww_fixture_result(NULL);
    cJSON *root = parse(SUMMARY, r, NULL);
    int i = 0;
    for (const cJSON *c = root->child; c; c = c->next, i++) {
        assert_true(i < 15);
        assert_string_equal(c->string, keys[i]);
    }
    assert_int_equal(i, 15);
    assert_int_equal(cJSON_GetArraySize(at(root, "interval")), 3);
    cJSON_Delete(root);
    ww_result_free(r);
}

static void summary_figures_follow_from_the_result(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    cJSON *root = parse(SUMMARY, r, NULL);
    assert_true(number(root, "run") == 7);
    assert_true(number(root, "cycles") == (double)r->cycles);
    assert_true(number(root, "time_s") == (double)r->time_ps / 1e12);
    assert_true(number(root, "ipc") == (double)r->warp_instructions / (double)r->cycles);
    assert_true(number(root, "energy_j") == r->energy_j);
    assert_true(fabs(number(root, "average_power_w") * number(root, "time_s") / r->energy_j - 1) < 1e-12);
    assert_true(number(root, "interval.cycles.1") == r->cycles_interval.hi);
    cJSON_Delete(root);
    ww_result_free(r);
}

static void unknown_energy_is_null_in_json_and_a_dash_in_text(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.no_energy = true});
    cJSON *root = parse(SUMMARY, r, NULL), *full = parse(REPORT, r, NULL);
    assert_true(cJSON_IsNull(at(root, "energy_j")));
    assert_true(cJSON_IsNull(at(root, "average_power_w")));
    assert_true(cJSON_IsNull(at(root, "interval.energy_j")));
    assert_true(cJSON_IsNull(at(full, "total.energy")));
    assert_true(cJSON_IsNull(at(full, "launches.1.energy")));
    char *text = print(REPORT, r, NULL, false);
    ww_fixture_assert_contains(text, "energy        -");
    assert_null(strstr(text, " J "));
    assert_null(strstr(text, " W "));
    free(text);
    cJSON_Delete(root);
    cJSON_Delete(full);
    ww_result_free(r);
}

static void a_run_that_was_not_stored_is_null(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(ww_report_summary(r, -1, true, out, NULL), WW_OK);
    fclose(out);
    ww_fixture_assert_contains(text, "\"run\": null");
    free(text);
    ww_result_free(r);
}

static void integers_of_64_bits_are_exact(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    r->cycles = 9007199254740993; /* 2^53 + 1: no double */
    r->seed = UINT64_MAX;
    char *text = print(REPORT, r, NULL, true);
    ww_fixture_assert_contains(text, "\"cycles\": 9007199254740993");
    ww_fixture_assert_contains(text, "\"seed\": 18446744073709551615");
    free(text);
    ww_result_free(r);
}

static void figures_that_are_not_finite_become_null(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    r->host_seconds = HUGE_VAL;
    char *text = print(SUMMARY, r, NULL, true);
    ww_fixture_assert_contains(text, "\"host_seconds\": null");
    free(text);
    ww_result_free(r);
}

static void names_are_escaped(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.trace = "a\"b\\\x01\xff.wwt\x1b[31m"});
    char *json = print(SUMMARY, r, NULL, true), *text = print(SUMMARY, r, NULL, false);
    ww_fixture_assert_contains(json, "\"a\\\"b\\\\\\u0001\\ufffd.wwt\\u001b[31m\"");
    ww_fixture_assert_contains(text, "a\"b\\??.wwt?[31m");
    free(json);
    free(text);
    ww_result_free(r);
}

/* ---- the whole report ---- */

static void report_holds_every_counter_state_slot_and_component(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    cJSON *root = parse(REPORT, r, NULL);
    const struct ww_launch_result *l = &r->launch[1];
    assert_int_equal(cJSON_GetArraySize(at(root, "launches")), r->launch_count);
    const cJSON *launch = at(root, "launches.1");
    for (int i = 0; i < WW_COUNTER_COUNT; i++)
        assert_true(number(at(launch, "counters"), ww_counter_name((enum ww_counter)i)) ==
                    (double)l->counter[i]);
    for (int i = 0; i < WW_STATE_COUNT; i++)
        assert_true(number(at(launch, "warp_cycles"), ww_state_name((enum ww_warp_state)i)) ==
                    (double)l->warp_cycles[i]);
    for (int i = 0; i < WW_SLOT_COUNT; i++)
        assert_true(number(at(launch, "issue_slots"), ww_slot_name((enum ww_slot)i)) == (double)l->slot[i]);
    double sum = 0;
    const cJSON *component;
    cJSON_ArrayForEach(component, at(launch, "energy.components")) sum +=
        number(component, "dynamic_j") + number(component, "static_j");
    assert_true(fabs(sum / l->energy.total_j - 1) < 1e-12);
    assert_int_equal(cJSON_GetArraySize(at(launch, "energy.components")), WW_COMPONENT_COUNT);
    assert_int_equal(cJSON_GetArraySize(at(launch, "epochs")), l->epoch_count);
    assert_int_equal(cJSON_GetArraySize(at(launch, "instructions")), l->pc_count);
    assert_true(number(launch, "instructions.2.issues") == (double)l->pc[2].counter[WW_I_ISSUES]);
    assert_true(number(launch, "epochs.1.warp_cycles.issued") == (double)l->epoch[1].warp_cycles[WW_S_ISSUED]);
    cJSON_Delete(root);
    ww_result_free(r);
}

static void report_totals_are_the_sums_of_the_launches(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 3});
    cJSON *root = parse(REPORT, r, NULL);
    static const char *const keys[] = {"cycles",
                                       "time_ps",
                                       "warp_instructions",
                                       "resident_warp_cycles",
                                       "counters.l1_sector_read",
                                       "warp_cycles.wait_dram",
                                       "issue_slots.wait_mem",
                                       "energy.components.l2.dynamic_j"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        double sum = 0;
        for (int i = 0; i < 3; i++) sum += number(cJSON_GetArrayItem(at(root, "launches"), i), keys[k]);
        double total = number(at(root, "total"), keys[k]);
        if (fabs(total - sum) > 1e-12 * fabs(sum)) fail_msg("%s: %g and %g", keys[k], total, sum);
    }
    cJSON_Delete(root);
    ww_result_free(r);
}

static void report_carries_the_configuration(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    cJSON *root = parse(REPORT, r, NULL);
    const cJSON *gpu = at(root, "gpu_config");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(gpu, "dram.type")->valuestring, "gddr5");
    assert_true(cJSON_GetObjectItemCaseSensitive(gpu, "sm.count")->valuedouble == 2);
    assert_string_equal(at(root, "mechanisms.sched")->valuestring, "gto");
    cJSON_Delete(root);
    ww_result_free(r);
}

static void a_configuration_that_is_no_object_is_an_error(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    struct ww_error error;
    char *text = NULL;
    size_t n;
    r->gpu_json = "[1]";
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(ww_report_json(r, 1, out, &error), WW_INPUT);
    fclose(out);
    assert_string_equal(text, "");
    free(text);
    ww_result_free(r);
}

static void text_report_names_every_part(void **state) {
    (void)state;
    static const char *const parts[] = {"run 7: dir/fixture.wwt on testgpu",
                                        "Launches",
                                        "first_kernel",
                                        "second_kernel",
                                        "registers",
                                        "Warp states",
                                        "long_scoreboard",
                                        "Issue slots",
                                        "Memory",
                                        "dram",
                                        "GB/s",
                                        "shared memory:",
                                        "Energy",
                                        "dram_read",
                                        "total",
                                        "sched=gto"};
    struct ww_result *r = ww_fixture_result(NULL);
    char *text = print(REPORT, r, NULL, false);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) ww_fixture_assert_contains(text, parts[i]);
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, " \n"));
    free(text);
    ww_result_free(r);
}

static void a_long_run_shows_its_longest_launches(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 50});
    r->launch[33].kernel = "the_longest_of_all";
    r->launch[33].cycles = 1000000;
    r->launch[34].kernel = "the_shortest_of_all";
    r->launch[34].cycles = 1;
    char *text = print(REPORT, r, NULL, false);
    ww_fixture_assert_contains(text, "(the 40 longest of 50)");
    ww_fixture_assert_contains(text, "the_longest_of_all");
    assert_null(strstr(text, "the_shortest_of_all"));
    free(text);
    ww_result_free(r);
}

static void an_empty_result_prints_without_dividing_by_zero(void **state) {
    (void)state;
    struct ww_result r = {.gpu = "g",
                          .gpu_json = "{}",
                          .trace = "t",
                          .trace_hash = "h",
                          .program = "p",
                          .mode = "full",
                          .version = WW_VERSION};
    for (int kind = SUMMARY; kind <= COMPARE; kind++)
        for (int json = 0; json < 2; json++) {
            char *text = print((enum kind)kind, &r, &r, json);
            assert_null(strstr(text, "nan"));
            assert_null(strstr(text, "inf "));
            free(text);
        }
}

/* ---- source ---- */

static void source_lines_are_ranked_by_stall(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    cJSON *root = parse(SOURCE, r, NULL);
    double last = HUGE_VAL, sum = 0;
    const cJSON *line;
    cJSON_ArrayForEach(line, at(root, "lines")) {
        assert_true(number(line, "stall_warp_cycles") <= last);
        last = number(line, "stall_warp_cycles");
        sum += last;
    }
    assert_int_equal(cJSON_GetArraySize(at(root, "lines")), 3); /* as many as asked for */
    assert_true(number(root, "line_count") == 4);
    assert_true(sum < number(root, "stall_warp_cycles"));
    cJSON_Delete(root);
    ww_result_free(r);
}

static void every_counter_of_instructions_is_in_json(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    const struct ww_pc_row *p = &r->launch[0].pc[2];
    cJSON *report = parse(REPORT, r, NULL), *source = parse(SOURCE, r, NULL);
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++) {
        const char *name = ww_inst_counter_name((enum ww_inst_counter)i);
        assert_true(number(at(report, "launches.0.instructions.2"), name) == (double)p->counter[i]);
        assert_true(number(at(source, "lines.0"), name) >= 0);
    }
    cJSON_Delete(report);
    cJSON_Delete(source);
    ww_result_free(r);
}

static void a_run_without_merges_says_misses_and_merges(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    char *text = print(SOURCE, r, NULL, false);
    ww_fixture_assert_contains(text, "  L1 misses  L1 merges  L2 misses  L2 merges  ");
    free(text);
    for (int l = 0; l < 2; l++) r->launch[l].pc_unknown = 1 << WW_I_L1_MERGED | 1 << WW_I_L2_MERGED;
    text = print(SOURCE, r, NULL, false);
    ww_fixture_assert_contains(text,
                               "  a request  ideal  L1 misses and merges  L2 misses and merges  conflicts  ");
    free(text);
    cJSON *root = parse(SOURCE, r, NULL);
    assert_true(cJSON_IsNull(at(root, "lines.0.l1_merged_sectors")));
    cJSON_Delete(root);
    ww_result_free(r);
}

static void source_lines_add_up_over_launches(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    for (int l = 0; l < 2; l++)
        for (int s = 0; s < WW_STATE_COUNT; s++)
            for (int p = 0; p < 5; p++) r->launch[l].pc[p].stall[s] = 0;
    for (int l = 0; l < 2; l++) {
        r->launch[l].pc[1].stall[WW_S_WAIT_DRAM] = 70; /* line 10 */
        r->launch[l].pc[2].stall[WW_S_WAIT_ALU] = 100; /* line 11 */
        r->launch[l].pc[3].stall[WW_S_ISSUED] = 1000;  /* line 11, no stall */
    }
    cJSON *root = parse(SOURCE, r, NULL);
    assert_true(number(root, "stall_warp_cycles") == 340);
    assert_true(number(root, "lines.0.line") == 11);
    assert_true(number(root, "lines.0.stall_warp_cycles") == 200);
    assert_string_equal(at(root, "lines.0.top_stall")->valuestring, "wait_alu");
    assert_true(number(root, "lines.0.issues") ==
                (double)(r->launch[0].pc[2].counter[WW_I_ISSUES] + r->launch[0].pc[3].counter[WW_I_ISSUES] +
                         r->launch[1].pc[2].counter[WW_I_ISSUES] + r->launch[1].pc[3].counter[WW_I_ISSUES]));
    assert_string_equal(at(root, "lines.0.mnemonics.1")->valuestring, "STG.E");
    assert_true(number(root, "lines.1.sectors") ==
                (double)(r->launch[0].pc[1].counter[WW_I_SECTORS] + r->launch[1].pc[1].counter[WW_I_SECTORS]));
    char *text = print(SOURCE, r, NULL, false);
    ww_fixture_assert_contains(text, "src/kernel.cu:11");
    free(text);
    cJSON_Delete(root);
    ww_result_free(r);
}

static void instructions_without_a_line_stand_for_themselves(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    char *text = print(SOURCE, r, NULL, false);
    ww_fixture_assert_contains(text, "first_kernel+0x40");
    ww_fixture_assert_contains(text, "second_kernel+0x40");
    free(text);
    ww_result_free(r);
}

static void a_run_without_counters_by_instruction_says_so(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(NULL);
    r->launch[0].pc_count = r->launch[1].pc_count = 0;
    char *text = print(SOURCE, r, NULL, false);
    ww_fixture_assert_contains(text, "no counters by instruction");
    free(text);
    ww_result_free(r);
}

static void what_fast_replay_does_not_model_is_not_known(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 1});
    uint64_t *c = r->launch[0].counter;
    r->mode = "fast";
    c[WW_C_SM_ACTIVE_CYCLES] = 400;
    c[WW_C_LSU_STALL_CYCLES] = 40;
    c[WW_C_MEM_SATURATED_CYCLES] = 100;
    c[WW_C_EP_CYCLES] = c[WW_C_MP_CYCLES] = 0;
    char *text = print(REPORT, r, NULL, false);
    ww_fixture_assert_contains(text, "stalled 10.0 % of the SMs' active cycles; memory saturated -\n");
    free(text);
    cJSON *root = parse(REPORT, r, NULL);
    assert_true(cJSON_IsNull(at(root, "total.counters.mem_saturated_cycles")));
    assert_true(cJSON_IsNull(at(root, "launches.0.counters.l2_stall_cycles")));
    cJSON_Delete(root);
    c[WW_C_EP_CYCLES] = 300; /* a scheduler follows saturation */
    c[WW_C_MP_CYCLES] = 100;
    text = print(REPORT, r, NULL, false);
    ww_fixture_assert_contains(text, "memory saturated 25.0 %");
    free(text);
    root = parse(REPORT, r, NULL);
    assert_true(number(root, "total.counters.mem_saturated_cycles") == 100);
    assert_true(cJSON_IsNull(at(root, "total.counters.l2_stall_cycles")));
    cJSON_Delete(root);
    ww_result_free(r);
}

/* ---- compare ---- */

static void differences_by_cause_add_up_to_the_difference_in_time(void **state) {
    (void)state;
    struct ww_result *a = ww_fixture_result(NULL), *b = ww_fixture_result(&(struct ww_fixture){.seed = 4});
    b->gpu_json = "{\"launch\":{\"overhead_us\":2.5}}";
    cJSON *root = parse(COMPARE, a, b);
    double base = 0, new = 0, change = 0;
    const cJSON *pair;
    cJSON_ArrayForEach(pair, at(root, "time_s_by_cause")) {
        base += number(pair, "base");
        new += number(pair, "new");
        change += number(pair, "change");
    }
    double x = (double)a->time_ps / 1e12, y = (double)b->time_ps / 1e12;
    assert_true(fabs(base / x - 1) < 1e-12);
    assert_true(fabs(new / y - 1) < 1e-12);
    assert_true(fabs(change - (y - x)) < 1e-12 * x);
    assert_true(fabs(number(root, "time_s_by_cause.launch_overhead.new") - 5e-6) < 1e-15);
    assert_true(number(root, "time_s_by_cause.launch_overhead.base") == 0);
    cJSON_Delete(root);
    ww_result_free(a);
    ww_result_free(b);
}

static void speed_up_and_energy_are_ratios_to_the_base(void **state) {
    (void)state;
    struct ww_result *a = ww_fixture_result(NULL), *b = ww_fixture_result(NULL);
    b->time_ps = a->time_ps / 2;
    b->energy_j = a->energy_j * 0.75;
    cJSON *root = parse(COMPARE, a, b);
    assert_true(fabs(number(root, "speedup") - (double)a->time_ps / (double)b->time_ps) < 1e-12);
    assert_true(fabs(number(root, "energy_ratio") - 0.75) < 1e-12);
    assert_true(fabs(number(root, "edp_gain") - number(root, "speedup") / 0.75) < 1e-9);
    assert_int_equal(cJSON_GetArraySize(at(root, "warnings")), 0);
    cJSON_Delete(root);
    ww_result_free(a);
    ww_result_free(b);
}

/* A run of `cycles` whose intervals reach `part` to either side. */
static struct ww_result *estimate(const char *mode, uint64_t cycles, double part) {
    struct ww_result *r = ww_fixture_result(NULL);
    r->mode = mode;
    r->time_ps = r->time_ps / r->cycles * cycles;
    r->cycles = cycles;
    r->cycles_interval = (struct ww_interval){(double)cycles * (1 - part), (double)cycles * (1 + part)};
    r->energy_interval = (struct ww_interval){r->energy_j * (1 - part), r->energy_j * (1 + part)};
    return r;
}

static void the_intervals_of_two_fast_runs_bound_their_ratio(void **state) {
    (void)state;
    struct ww_result *a = estimate("fast", 10000, 0.1), *b = estimate("fast", 8000, 0.05);
    cJSON *root = parse(COMPARE, a, b);
    assert_true(fabs(number(root, "bounds.time.0") - 9000. / 8400) < 1e-12);
    assert_true(fabs(number(root, "bounds.time.1") - 11000. / 7600) < 1e-12);
    assert_true(fabs(number(root, "bounds.energy.0") - 0.9 / 1.05) < 1e-12);
    assert_true(fabs(number(root, "bounds.energy.1") - 1.1 / 0.95) < 1e-12);
    assert_true(number(root, "bounds.confidence") == 0.9);         /* each misses in 5 % of the cases */
    assert_int_equal(cJSON_GetArraySize(at(root, "warnings")), 0); /* the new run is the faster one */
    cJSON_Delete(root);
    char *text = print(COMPARE, a, b, false);
    ww_fixture_assert_contains(text, "time of base by new: 1.0714 to 1.4474 at 90 % confidence or more");
    ww_fixture_assert_contains(text, "energy of base by new: 0.8571 to 1.1579 at 90 %");
    free(text);
    ww_result_free(b);
    b = estimate("fast", 9500, 0.05);
    root = parse(COMPARE, a, b);
    ww_fixture_assert_contains(at(root, "warnings.0")->valuestring, "either of them may be the faster one");
    cJSON_Delete(root);
    ww_result_free(a);
    ww_result_free(b);
}

static void a_full_run_adds_no_doubt_to_a_fast_ones(void **state) {
    (void)state;
    struct ww_result *full = estimate("full", 10000, 0), *fast = estimate("fast", 8000, 0.05);
    cJSON *root = parse(COMPARE, full, fast);
    assert_true(fabs(number(root, "bounds.time.0") - 10000. / 8400) < 1e-12);
    assert_true(fabs(number(root, "bounds.time.1") - 10000. / 7600) < 1e-12);
    assert_true(number(root, "bounds.confidence") == 0.95);
    cJSON_Delete(root);
    root = parse(COMPARE, full, full);
    assert_null(cJSON_GetObjectItemCaseSensitive(root, "bounds")); /* exact */
    cJSON_Delete(root);
    ww_result_free(full);
    ww_result_free(fast);
}

static void different_traces_are_warned_about(void **state) {
    (void)state;
    struct ww_result *a = ww_fixture_result(NULL), *b = ww_fixture_result(&(struct ww_fixture){.hash = "ff"});
    cJSON *root = parse(COMPARE, a, b);
    ww_fixture_assert_contains(at(root, "warnings.0")->valuestring, "different traces");
    char *text = print(COMPARE, a, b, false);
    ww_fixture_assert_contains(text, "warning: the runs replay different traces");
    free(text);
    cJSON_Delete(root);
    ww_result_free(a);
    ww_result_free(b);
}

static void an_energy_that_one_run_lacks_is_not_compared(void **state) {
    (void)state;
    struct ww_result *a = ww_fixture_result(NULL),
                     *b = ww_fixture_result(&(struct ww_fixture){.no_energy = true});
    cJSON *root = parse(COMPARE, a, b);
    assert_true(cJSON_IsNull(at(root, "energy_ratio")));
    assert_true(cJSON_IsNull(at(root, "edp_gain")));
    assert_true(cJSON_IsNull(at(root, "energy_j_by_component")));
    char *text = print(COMPARE, a, b, false);
    ww_fixture_assert_contains(text, "only one run has a power table");
    assert_null(strstr(text, "Energy by component"));
    free(text);
    cJSON_Delete(root);
    ww_result_free(a);
    ww_result_free(b);
}

/* ---- all of it against the schemas, where python3-jsonschema is there ---- */

static void check_schema(const char *schema, enum kind kind, const struct ww_result *a,
                         const struct ww_result *b) {
    char script[512], path[512], name[64], command[1200];
    snprintf(name, sizeof name, "reports/schema/%s.json", schema);
    snprintf(command, sizeof command, "python3 '%s' '%s'",
             ww_fixture_source_file("tests/cli/schema_check.py", script), ww_fixture_source_file(name, path));
    char *text = print(kind, a, b, true);
    FILE *pipe = popen(command, "w");
    assert_non_null(pipe);
    fputs(text, pipe);
    if (pclose(pipe) != 0) fail_msg("the output does not keep to %s", name);
    free(text);
}

static void every_json_output_keeps_to_its_schema(void **state) {
    (void)state;
    if (system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
        SKIP_BECAUSE("python3-jsonschema is not installed");
    for (int energy = 0; energy < 2; energy++) {
        struct ww_result *a = ww_fixture_result(&(struct ww_fixture){.no_energy = energy == 0});
        struct ww_result *b = ww_fixture_result(&(struct ww_fixture){.seed = 5});
        check_schema("run", SUMMARY, a, NULL);
        check_schema("report", REPORT, a, NULL);
        check_schema("source", SOURCE, a, NULL);
        check_schema("compare", COMPARE, a, b);
        a->mode = "fast";
        check_schema("report", REPORT, a, NULL);
        a->cycles_interval.hi *= 1.1;
        a->energy_interval.hi *= 1.1;
        check_schema("compare", COMPARE, a, b);
        ww_result_free(a);
        ww_result_free(b);
    }
}

/* ---- timeline ---- */

static const cJSON *member(const cJSON *o, const char *name) {
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);
    assert_non_null(m);
    return m;
}

/* A slice of the launches' track; others are CTAs'. */
static bool is_launch(const cJSON *e) {
    return member(e, "ph")->valuestring[0] == 'X' && member(e, "pid")->valueint == 1;
}

/* The rules of the format that readers rely on: phases, a time in order on each track, numbers in counters. */
static void check_event(const cJSON *e, double *last) {
    const char *phase = member(e, "ph")->valuestring, *name = member(e, "name")->valuestring;
    double at = phase[0] == 'M' ? 0 : member(e, "ts")->valuedouble;
    assert_true(cJSON_IsNumber(member(e, "pid")) && cJSON_IsNumber(member(e, "tid")) && name[0]);
    assert_true(strlen(phase) == 1 && strchr("MXCi", phase[0]));
    assert_true(at >= 0);
    const cJSON *arg;
    if (phase[0] == 'X' && is_launch(e)) {
        assert_true(at > *last - 1e-9 && member(e, "dur")->valuedouble > 0); /* microseconds, rounded */
        *last = at + member(e, "dur")->valuedouble;
    }
    cJSON_ArrayForEach(arg, member(e, "args")) assert_true(phase[0] != 'C' || cJSON_IsNumber(arg));
}

/* The timeline of a result, read back; cJSON_Delete() it. */
static cJSON *timeline(const struct ww_result *r) {
    char *text = NULL;
    size_t size = 0;
    struct ww_error error;
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(ww_report_timeline(r, 7, f, &error), WW_OK);
    fclose(f);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static void a_timeline_is_chrome_trace_events_of_launches_that_follow_one_another(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 3});
    size_t slices = 0, ctas = 0;
    double last = 0;
    cJSON *json = timeline(r);
    const cJSON *event;
    cJSON_ArrayForEach(event, member(json, "traceEvents")) {
        check_event(event, &last);
        slices += is_launch(event);
        ctas += member(event, "ph")->valuestring[0] == 'X' && !is_launch(event);
    }
    assert_int_equal(slices, 3);
    assert_int_equal(ctas, 3 * r->launch[0].cta_count);
    assert_true(fabs(last - (double)r->time_ps * 1e-6) < 1e-6);
    cJSON_Delete(json);
    ww_result_free(r);
}

/* The states' mean numbers of warps, times the epochs' cycles, are the launch's warp-cycles. */
static void a_timelines_warps_by_state_add_up_to_the_launchs(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 1});
    size_t epoch = 0;
    double sum = 0;
    cJSON *json = timeline(r);
    const cJSON *event, *arg;
    cJSON_ArrayForEach(event, member(json, "traceEvents")) {
        if (strcmp(member(event, "name")->valuestring, "warps by state") != 0) continue;
        cJSON_ArrayForEach(arg, member(event, "args")) sum +=
            epoch < r->launch[0].epoch_count ? arg->valuedouble * (double)r->launch[0].epoch[epoch].cycles
                                             : arg->valuedouble;
        epoch++;
    }
    assert_int_equal(epoch, r->launch[0].epoch_count + 1);
    assert_true(fabs(sum - (double)r->launch[0].resident_warp_cycles) < 1e-3);
    cJSON_Delete(json);
    ww_result_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_has_exactly_the_documented_keys),
        cmocka_unit_test(summary_figures_follow_from_the_result),
        cmocka_unit_test(unknown_energy_is_null_in_json_and_a_dash_in_text),
        cmocka_unit_test(a_run_that_was_not_stored_is_null),
        cmocka_unit_test(integers_of_64_bits_are_exact),
        cmocka_unit_test(figures_that_are_not_finite_become_null),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(report_holds_every_counter_state_slot_and_component),
        cmocka_unit_test(report_totals_are_the_sums_of_the_launches),
        cmocka_unit_test(report_carries_the_configuration),
        cmocka_unit_test(a_configuration_that_is_no_object_is_an_error),
        cmocka_unit_test(text_report_names_every_part),
        cmocka_unit_test(a_long_run_shows_its_longest_launches),
        cmocka_unit_test(an_empty_result_prints_without_dividing_by_zero),
        cmocka_unit_test(source_lines_are_ranked_by_stall),
        cmocka_unit_test(every_counter_of_instructions_is_in_json),
        cmocka_unit_test(a_run_without_merges_says_misses_and_merges),
        cmocka_unit_test(source_lines_add_up_over_launches),
        cmocka_unit_test(instructions_without_a_line_stand_for_themselves),
        cmocka_unit_test(a_run_without_counters_by_instruction_says_so),
        cmocka_unit_test(what_fast_replay_does_not_model_is_not_known),
        cmocka_unit_test(differences_by_cause_add_up_to_the_difference_in_time),
        cmocka_unit_test(speed_up_and_energy_are_ratios_to_the_base),
        cmocka_unit_test(the_intervals_of_two_fast_runs_bound_their_ratio),
        cmocka_unit_test(a_full_run_adds_no_doubt_to_a_fast_ones),
        cmocka_unit_test(different_traces_are_warned_about),
        cmocka_unit_test(an_energy_that_one_run_lacks_is_not_compared),
        cmocka_unit_test(every_json_output_keeps_to_its_schema),
        cmocka_unit_test(a_timeline_is_chrome_trace_events_of_launches_that_follow_one_another),
        cmocka_unit_test(a_timelines_warps_by_state_add_up_to_the_launchs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
