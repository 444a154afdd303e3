/* Fast replay: calendars and places, every law, how near it is to full replay, what it refuses. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/core/memory/fast_calendar.h"
#include "../../estimator/fast/replay_error.h"
#include "../../traces/trace.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { UNIT = 1 << WW_CALENDAR_UNIT, WINDOW = 1 << WW_CALENDAR_SHIFT };

static char path[] = "/tmp/warpwatt-fast-XXXXXX.wwt";
static struct ww_error error;
static struct ww_calendar calendar;
static struct ww_places places;

/* ---- calendars ---- */

static void fresh(uint32_t limit) {
    memset(&calendar, 0, sizeof calendar);
    memset(&places, 0, sizeof places);
    places.limit = limit;
}

static void work_begins_when_it_is_asked_for_if_nothing_is_there(void **state) {
    (void)state;
    fresh(0);
    assert_int_equal(ww_calendar_take(&calendar, 1000, UNIT), 1000);
}

static void a_full_window_sends_work_to_the_next_one(void **state) {
    (void)state;
    fresh(0);
    for (uint32_t i = 0; i < WINDOW; i++) ww_calendar_take(&calendar, 800, UNIT);
    assert_int_equal(ww_calendar_take(&calendar, 800, UNIT), 800 + WINDOW);
}

static void who_asks_late_for_an_early_time_gets_what_is_free_there(void **state) {
    (void)state;
    fresh(0);
    for (uint32_t i = 0; i < 10 * WINDOW; i++) ww_calendar_take(&calendar, 800, UNIT);
    assert_int_equal(ww_calendar_take(&calendar, 400, UNIT), 400);
}

static void long_work_goes_round_what_was_there_before(void **state) {
    (void)state;
    fresh(0);
    ww_calendar_take(&calendar, 800 + WINDOW, WINDOW * UNIT); /* this window is full */
    ww_calendar_take(&calendar, 800, 2 * WINDOW * UNIT);      /* this one and the one behind the full one */
    assert_int_equal(ww_calendar_take(&calendar, 800, UNIT), 800 + 3 * WINDOW);
}

static void no_more_units_pass_than_there_are_cycles(void **state) {
    (void)state;
    uint64_t last = 0;
    srand(7);
    fresh(0);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t at = ww_calendar_take(&calendar, 1000 + (uint64_t)(rand() % 500), 2 * UNIT);
        if (at > last) last = at;
    }
    assert_true(last >= 1000 + 2 * 1000 - 2 - WINDOW);
}

static void what_is_held_is_taken(void **state) {
    (void)state;
    fresh(0);
    ww_calendar_hold(&calendar, 800, 800 + 3 * WINDOW + 4);
    assert_int_equal(ww_calendar_take(&calendar, 800, UNIT), 800 + 3 * WINDOW + 4);
}

static void before_what_is_held_work_begins_as_it_did(void **state) {
    (void)state;
    fresh(0);
    ww_calendar_hold(&calendar, 800, 800 + WINDOW);
    assert_int_equal(ww_calendar_take(&calendar, 800 - WINDOW, UNIT), 800 - WINDOW);
}

static void a_hold_gives_nothing_back(void **state) {
    (void)state;
    fresh(0);
    ww_calendar_take(&calendar, 800, 6 * UNIT);
    ww_calendar_hold(&calendar, 800, 802);
    assert_int_equal(ww_calendar_take(&calendar, 800, UNIT), 806);
}

static void after_a_long_time_of_work_who_comes_early_waits_for_its_end(void **state) {
    (void)state;
    const uint64_t cycles = 3 * WINDOW * WW_CALENDAR_WINDOWS;
    fresh(0);
    for (uint64_t i = 0; i < cycles; i++) ww_calendar_take(&calendar, 800, UNIT);
    assert_int_equal(ww_calendar_take(&calendar, 808, UNIT), 800 + cycles);
}

static void what_is_asked_of_a_time_before_the_windows_is_granted(void **state) {
    (void)state;
    fresh(0);
    ww_calendar_take(&calendar, 800 + 3 * WINDOW * WW_CALENDAR_WINDOWS, UNIT);
    assert_int_equal(ww_calendar_take(&calendar, 800, UNIT), 800);
}

static void places_that_have_become_free_are_given_away_again(void **state) {
    (void)state;
    fresh(4);
    ww_places_take(&places, 4, 1280);
    assert_int_equal(ww_places_used(&places, 640), 4);
    assert_int_equal(ww_places_used(&places, 1280), 0);
    assert_int_equal(ww_places_free(&places, 4, 1280), 1280);
}

static void the_last_place_that_is_free_is_given_away(void **state) {
    (void)state;
    fresh(4);
    ww_places_take(&places, 3, 1280);
    assert_int_equal(ww_places_free(&places, 1, 640), 640);
}

static void without_a_place_one_waits_until_there_is_one(void **state) {
    (void)state;
    fresh(4);
    ww_places_take(&places, 4, 1280);
    assert_int_equal(ww_places_free(&places, 1, 640), 1280);
}

static void who_wants_more_than_there_are_waits_for_all_of_them(void **state) {
    (void)state;
    fresh(4);
    assert_int_equal(ww_places_free(&places, 9, 640), 640);
    ww_places_take(&places, 1, 1280);
    assert_int_equal(ww_places_free(&places, 9, 640), 1280);
}

/* ---- runs ---- */

static void record_with(const char *workload, const char *parameters, const char *arch) {
    struct ww_record_options o = {.out_path = path, .arch = arch, .code = WW_RECORD_PTX};
    struct ww_record_stats stats;
    char list[120], *item[8];
    size_t n = 0;
    snprintf(list, sizeof list, "%s", parameters);
    for (char *p = strtok(list, " "); p; p = strtok(NULL, " ")) item[n++] = p;
    enum ww_code code = ww_record_workload(workload, (const char *const *)item, n, &o, &stats, &error);
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

static enum ww_code try_run(const char *gpu_name, const char *mode, struct ww_run_options o,
                            struct ww_result **r) {
    struct ww_gpu *gpu;
    assert_int_equal(ww_gpu_load(gpu_name, NULL, 0, &gpu, &error), WW_OK);
    o.gpu = gpu;
    o.trace_path = path;
    o.mode = mode;
    enum ww_code code = ww_run(&o, r, &error);
    ww_gpu_free(gpu);
    return code;
}

static struct ww_result *run_with(const char *gpu, const char *mode, struct ww_run_options o) {
    struct ww_result *r;
    if (try_run(gpu, mode, o, &r) != WW_OK) fail_msg("%s: %s: %s", gpu, error.where, error.text);
    return r;
}

static struct ww_result *run(const char *gpu, const char *mode) {
    return run_with(gpu, mode, (struct ww_run_options){0});
}

/* Part of full replay's cycles by which fast replay's differ. */
static double off(const char *gpu) {
    struct ww_result *full = run(gpu, "full"), *fast = run(gpu, "fast");
    double error_of = fabs((double)fast->cycles / (double)full->cycles - 1);
    assert_int_equal(fast->warp_instructions, full->warp_instructions);
    ww_result_free(full);
    ww_result_free(fast);
    return error_of;
}

static void cycles_are_near_full_replays(void **state) {
    (void)state;
    static const char *const workload[][2] = {{"vectoradd", "n=100000"}, {"stencil", "nx=64 ny=32 nz=8"},
                                              {"spmv", "rows=6000"},     {"bfs", "nodes=4000"},
                                              {"histogram", "n=40000"},  {"sgemm", "m=96 n=96 k=32"}};
    static const char *const gpu[] = {"v100", "a100", "h100"};
    for (size_t i = 0; i < sizeof workload / sizeof *workload; i++) {
        record_with(workload[i][0], workload[i][1], "sm_70");
        for (size_t g = 0; g < sizeof gpu / sizeof *gpu; g++) {
            double by = off(gpu[g]);
            if (by > 0.15) fail_msg("%s on %s: %.1f %% off", workload[i][0], gpu[g], 100 * by);
        }
    }
}

static void translation_is_part_of_it(void **state) {
    (void)state;
    record_with("spmv", "rows=6000", "sm_20");
    assert_true(off("gtx480") < 0.15);
    struct ww_result *r = run("gtx480", "fast");
    assert_true(r->launch[0].counter[WW_C_TLB_WALK] > 0);
    ww_result_free(r);
}

static struct ww_result *run_changed(const char *gpu_name, const char *mode, const char *const *overrides,
                                     size_t count, const char *mechanism) {
    struct ww_run_options o = {
        .trace_path = path, .mode = mode, .mechanisms = &mechanism, .mechanism_count = mechanism != NULL};
    struct ww_result *r;
    struct ww_gpu *gpu;
    assert_int_equal(ww_gpu_load(gpu_name, overrides, count, &gpu, &error), WW_OK);
    o.gpu = gpu;
    if (ww_run(&o, &r, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    ww_gpu_free(gpu);
    return r;
}

/* Sectors that miss in the L2 of a v100 whose L1 has lines of so many bytes. */
static uint64_t l2_misses(const char *mode, const char *line) {
    char set[32];
    const char *const overrides[] = {set, "sm.count=4", "l2.size_kb=1536"};
    snprintf(set, sizeof set, "l1.line=%s", line);
    struct ww_result *r = run_changed("v100", mode, overrides, 3, NULL);
    uint64_t misses = r->launch[0].counter[WW_C_L2_SECTOR_MISS];
    ww_result_free(r);
    return misses;
}

static void writes_of_many_rows_that_do_not_fit_the_l2_take_what_full_replay_takes(void **state) {
    (void)state;
    const char *const overrides[] = {"l2.size_kb=768"};
    record_with("transpose", "rows=640 cols=640", "sm_70");
    struct ww_result *full = run_changed("v100", "full", overrides, 1, NULL),
                     *fast = run_changed("v100", "fast", overrides, 1, NULL);
    assert_true(full->launch[0].counter[WW_C_DRAM_BURST_WRITE] > 100000);
    assert_true(fabs((double)fast->cycles / (double)full->cycles - 1) < 0.15);
    ww_result_free(full);
    ww_result_free(fast);
}

static void requests_that_share_a_line_of_the_l2_miss_it_once(void **state) {
    (void)state;
    static const char *const line[] = {"32", "64", "128"};
    record_with("spmv", "rows=2000", "sm_70");
    for (size_t i = 0; i < 3; i++) {
        double full = (double)l2_misses("full", line[i]), fast = (double)l2_misses("fast", line[i]);
        if (fabs(fast / full - 1) > 0.02) fail_msg("lines of %s: %.0f misses, not %.0f", line[i], fast, full);
    }
}

static void every_law_holds_on_every_gpu(void **state) {
    (void)state;
    struct ww_names names;
    record_with("reduction", "n=20000", "sm_70");
    assert_int_equal(ww_gpu_names(&names, &error), WW_OK);
    for (size_t i = 0; i < names.count; i++) {
        struct ww_result *r;
        enum ww_code code = try_run(names.name[i], "fast", (struct ww_run_options){0}, &r);
        if (code != WW_OK) fail_msg("%s: %s: %s", names.name[i], error.where, error.text);
        ww_result_free(r);
    }
    assert_true(names.count > 25);
    ww_names_free(&names);
}

static void rows_are_the_same_for_any_number_of_threads(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    record_with("bfs", "nodes=3000", "sm_70");
    struct ww_result *a = run("a100", "fast");
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct ww_result *b = run_with("a100", "fast", (struct ww_run_options){.threads = threads[t]});
        assert_int_equal(a->launch_count, b->launch_count);
        for (size_t i = 0; i < a->launch_count; i++) {
            assert_int_equal(a->launch[i].cycles, b->launch[i].cycles);
            assert_memory_equal(a->launch[i].counter, b->launch[i].counter, sizeof a->launch[i].counter);
            assert_memory_equal(a->launch[i].warp_cycles, b->launch[i].warp_cycles,
                                sizeof a->launch[i].warp_cycles);
        }
        ww_result_free(b);
    }
    ww_result_free(a);
}

static void governors_look_at_all_sms_in_fast_replay_too(void **state) {
    (void)state;
    static const char *const mechanism[] = {"governor=equalizer"};
    record_with("vectoradd", "n=60000", "sm_20");
    struct ww_run_options o = {.mechanisms = mechanism, .mechanism_count = 1};
    struct ww_result *full = run_with("gtx480", "full", o), *fast = run_with("gtx480", "fast", o);
    assert_true(fabs((double)fast->cycles / (double)full->cycles - 1) < 0.15);
    ww_result_free(full);
    ww_result_free(fast);
}

static void a_governor_may_speed_the_l2_up_while_pages_are_translated(void **state) {
    (void)state;
    const char *const overrides[] = {"clock.l2_mhz=400"};
    record_with("vectoradd", "n=20000", "sm_52");
    struct ww_result *r = run_changed("gtx980", "full", overrides, 1, "governor=equalizer");
    assert_true(r->launch[0].counter[WW_C_TLB_WALK] > 0);
    ww_result_free(r);
}

static void mechanisms_of_the_load_store_unit_work_in_it(void **state) {
    (void)state;
    static const char *const mechanism[] = {"sched=mascar", "lsu=reexecute"};
    record_with("spmv", "rows=6000", "sm_20");
    struct ww_run_options o = {.mechanisms = mechanism, .mechanism_count = 1};
    struct ww_result *fast = run_with("gtx480", "fast", o);
    assert_true(fast->launch[0].counter[WW_C_MEM_SATURATED_CYCLES] > 0);
    ww_result_free(fast);
}

static void flushed_launches_stand_alone(void **state) {
    (void)state;
    record_with("stencil", "nx=64 ny=16 nz=4 iterations=3", "sm_70");
    struct ww_result *r = run_with("v100", "fast", (struct ww_run_options){.cache_control = "flush"});
    assert_int_equal(r->launch[1].counter[WW_C_L2_SECTOR_MISS], r->launch[0].counter[WW_C_L2_SECTOR_MISS]);
    ww_result_free(r);
}

static void a_launch_finds_what_the_one_before_left(void **state) {
    (void)state;
    record_with("stencil", "nx=64 ny=16 nz=4 iterations=3", "sm_70");
    struct ww_result *r = run("v100", "fast");
    assert_true(r->launch[1].counter[WW_C_L2_SECTOR_MISS] < r->launch[0].counter[WW_C_L2_SECTOR_MISS] / 4);
    ww_result_free(r);
}

static void its_figures_have_an_interval_that_widens_with_confidence(void **state) {
    (void)state;
    record_with("vectoradd", "n=20000", "sm_70");
    struct ww_result *a = run_with("v100", "fast", (struct ww_run_options){.confidence = 0.5}),
                     *b = run_with("v100", "fast", (struct ww_run_options){.confidence = 0.99});
    assert_true(a->cycles_interval.lo < a->cycles_interval.hi);
    assert_true(b->cycles_interval.lo < a->cycles_interval.lo);
    assert_true(b->cycles_interval.hi > a->cycles_interval.hi);
    assert_true(b->energy_interval.lo < b->energy_j && b->energy_interval.hi > b->energy_j);
    ww_result_free(a);
    ww_result_free(b);
}

static void the_band_at_95_percent_is_narrower_than_the_goal(void **state) {
    (void)state;
    for (uint32_t i = 0; i <= 10; i++) {
        struct ww_model_error e;
        ww_replay_error_of(false, i / 10., 0.95, &e);
        assert_true(e.cycles_low > 1 / 1.15 && e.cycles_high < 1.15);
        assert_true(e.cycles_low < 1 && e.cycles_high > 1);
    }
}

static void the_band_is_wider_where_dram_is_busy(void **state) {
    (void)state;
    struct ww_model_error quiet, busy;
    ww_replay_error_of(false, 0.01, 0.95, &quiet);
    ww_replay_error_of(false, 0.5, 0.95, &busy);
    assert_true(busy.cycles_low < quiet.cycles_low && busy.cycles_high > quiet.cycles_high);
}

static void a_confidence_is_refused_that_the_suite_is_too_small_for(void **state) {
    (void)state;
    assert_int_equal(ww_replay_error_check(false, 0.99, &error), WW_OK);
    assert_int_equal(ww_replay_error_check(true, 0.9999, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "expected 50% to 99"));
}

static void a_chain_of_reads_that_is_fetched_ahead_takes_what_full_replay_takes(void **state) {
    (void)state;
    record_with("pchase", "n=16384 stride=128 count=500", "sm_52");
    struct ww_result *full = run("gtx980", "full"), *fast = run("gtx980", "fast");
    assert_true(full->launch[0].counter[WW_C_L2_PREFETCH] > 0);
    assert_int_equal(fast->launch[0].counter[WW_C_L2_PREFETCH], full->launch[0].counter[WW_C_L2_PREFETCH]);
    assert_true(fabs((double)fast->cycles / (double)full->cycles - 1) < 0.01);
    ww_result_free(full);
    ww_result_free(fast);
}

static void a_busy_memory_is_not_fetched_ahead_of_more_than_a_little(void **state) {
    (void)state;
    record_with("vectoradd", "n=100000", "sm_52");
    struct ww_result *r = run("gtx980", "fast");
    assert_true(r->launch[0].counter[WW_C_L2_PREFETCH] < r->launch[0].counter[WW_C_L2_SECTOR_READ] / 5);
    ww_result_free(r);
    assert_true(off("gtx980") < 0.1);
}

static int make(void **state) {
    (void)state;
    int file = mkstemps(path, 4);
    if (file >= 0) close(file);
    return file < 0;
}

static int clean(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_begins_when_it_is_asked_for_if_nothing_is_there),
        cmocka_unit_test(a_full_window_sends_work_to_the_next_one),
        cmocka_unit_test(who_asks_late_for_an_early_time_gets_what_is_free_there),
        cmocka_unit_test(long_work_goes_round_what_was_there_before),
        cmocka_unit_test(no_more_units_pass_than_there_are_cycles),
        cmocka_unit_test(what_is_held_is_taken),
        cmocka_unit_test(before_what_is_held_work_begins_as_it_did),
        cmocka_unit_test(a_hold_gives_nothing_back),
        cmocka_unit_test(after_a_long_time_of_work_who_comes_early_waits_for_its_end),
        cmocka_unit_test(what_is_asked_of_a_time_before_the_windows_is_granted),
        cmocka_unit_test(places_that_have_become_free_are_given_away_again),
        cmocka_unit_test(the_last_place_that_is_free_is_given_away),
        cmocka_unit_test(without_a_place_one_waits_until_there_is_one),
        cmocka_unit_test(who_wants_more_than_there_are_waits_for_all_of_them),
        cmocka_unit_test(cycles_are_near_full_replays),
        cmocka_unit_test(translation_is_part_of_it),
        cmocka_unit_test(requests_that_share_a_line_of_the_l2_miss_it_once),
        cmocka_unit_test(writes_of_many_rows_that_do_not_fit_the_l2_take_what_full_replay_takes),
        cmocka_unit_test(every_law_holds_on_every_gpu),
        cmocka_unit_test(rows_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(governors_look_at_all_sms_in_fast_replay_too),
        cmocka_unit_test(a_governor_may_speed_the_l2_up_while_pages_are_translated),
        cmocka_unit_test(mechanisms_of_the_load_store_unit_work_in_it),
        cmocka_unit_test(flushed_launches_stand_alone),
        cmocka_unit_test(a_launch_finds_what_the_one_before_left),
        cmocka_unit_test(its_figures_have_an_interval_that_widens_with_confidence),
        cmocka_unit_test(the_band_at_95_percent_is_narrower_than_the_goal),
        cmocka_unit_test(the_band_is_wider_where_dram_is_busy),
        cmocka_unit_test(a_confidence_is_refused_that_the_suite_is_too_small_for),
        cmocka_unit_test(a_chain_of_reads_that_is_fetched_ahead_takes_what_full_replay_takes),
        cmocka_unit_test(a_busy_memory_is_not_fetched_ahead_of_more_than_a_little),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
