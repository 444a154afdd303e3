/* The whole chain: record a workload, replay it, energy; and that each conservation law is really checked. */
#include "../../estimator/warpwatt.h"
#include "../../traces/ptx/record/device_host.h"
#include "../../estimator/result/packed.h"
#include "cubin_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-run-XXXXXX.wwt";
static struct ww_error error;

static struct ww_result *run_with(const char *gpu_name, const char *override, const char *power,
                                  const char *mechanism) {
    struct ww_gpu *gpu = NULL;
    struct ww_result *result = NULL;
    assert_int_equal(ww_gpu_load(gpu_name, &override, override ? 1 : 0, &gpu, &error), WW_OK);
    const char *mechanisms[1] = {mechanism};
    struct ww_run_options o = {.gpu = gpu,
                               .trace_path = path,
                               .power_table = power,
                               .per_pc = true,
                               .mechanisms = mechanisms,
                               .mechanism_count = mechanism ? 1 : 0};
    enum ww_code code = ww_run(&o, &result, &error);
    if (code != WW_OK) print_message("%s: %s\n", error.where, error.text);
    assert_int_equal(code, WW_OK);
    ww_gpu_free(gpu);
    return result;
}

static struct ww_result *run(const char *gpu_name, const char *power, const char *mechanism) {
    return run_with(gpu_name, NULL, power, mechanism);
}

static void every_law_holds_on_every_gpu(void **state) {
    (void)state;
    static const char *const gpu[] = {"gtx280", "gtx285",  "gtx480",    "gtx560ti", "gtx580",  "gtx780",
                                      "gtx980", "v100",    "rtx2080ti", "a100",     "l40",     "h100",
                                      "h200",   "titanv",  "t4",        "rtx2080",  "a30",     "a40",
                                      "a6000",  "a10",     "rtx3090",   "rtx3080",  "rtx3070", "l40s",
                                      "l4",     "rtx4090", "h100_pcie", "gh200",    "b200",    "rtx5090"};
    for (size_t i = 0; i < sizeof gpu / sizeof gpu[0]; i++) {
        struct ww_result *r = run(gpu[i], NULL, NULL);
        assert_int_equal(ww_result_check(r, &error), WW_OK);
        assert_true(r->cycles > 0 && r->warp_instructions > 0);
        ww_result_free(r);
    }
}

static void energy_is_known_only_with_a_table(void **state) {
    (void)state;
    struct ww_result *r = run("v100", NULL, NULL);
    assert_true(r->energy_known && r->energy_j > 0);
    ww_result_free(r);
    r = run("v100", "none", NULL);
    assert_false(r->energy_known);
    assert_true(r->energy_j == 0);
    ww_result_free(r);
    r = run("elastic-16", NULL, NULL);
    assert_false(r->energy_known);
    ww_result_free(r);
}

static void the_same_run_gives_the_same_figures(void **state) {
    (void)state;
    struct ww_result *a = run("gtx480", NULL, NULL), *b = run("gtx480", NULL, NULL);
    assert_int_equal(a->launch_count, b->launch_count);
    for (size_t i = 0; i < a->launch_count; i++) {
        assert_memory_equal(a->launch[i].counter, b->launch[i].counter, sizeof a->launch[i].counter);
        assert_memory_equal(a->launch[i].warp_cycles, b->launch[i].warp_cycles,
                            sizeof a->launch[i].warp_cycles);
        assert_memory_equal(a->launch[i].slot, b->launch[i].slot, sizeof a->launch[i].slot);
        assert_memory_equal(&a->launch[i].energy.total_j, &b->launch[i].energy.total_j, sizeof(double));
    }
    ww_result_free(a);
    ww_result_free(b);
}

static void rows_for_a_database_are_packed(void **state) {
    (void)state;
    struct ww_result *r, *plain = run("gtx480", NULL, NULL);
    struct ww_gpu *gpu = NULL;
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .per_pc = true, .pack_pc = true};
    assert_int_equal(ww_run(&o, &r, &error), WW_OK);
    assert_int_equal(r->launch[0].pc_count, 0);
    assert_int_equal(r->launch[0].pc_packed->code.count, plain->launch[0].pc_count);
    ww_result_free(r);
    ww_result_free(plain);
    ww_gpu_free(gpu);
}

/* Points and limits change, all laws hold, and the same comes out again. */
static void every_law_holds_under_every_governor(void **state) {
    (void)state;
    static const char *const governor[] = {"governor=static", "governor=equalizer", "governor=dyncta"};
    for (size_t i = 0; i < sizeof governor / sizeof governor[0]; i++) {
        struct ww_result *a = run("gtx480", NULL, governor[i]), *b = run("gtx480", NULL, governor[i]);
        assert_int_equal(ww_result_check(a, &error), WW_OK);
        assert_int_equal(a->cycles, b->cycles);
        assert_int_equal(a->time_ps, b->time_ps);
        assert_memory_equal(&a->energy_j, &b->energy_j, sizeof(double));
        ww_result_free(a);
        ww_result_free(b);
    }
}

static void epochs_know_their_time_and_energy(void **state) {
    (void)state;
    struct ww_result *r = run("gtx480", NULL, NULL), *bare = run("gtx480", "none", NULL);
    const struct ww_launch_result *l = &r->launch[0];
    assert_non_null(l->epoch_energy);
    assert_null(bare->launch[0].epoch_energy);
    assert_true(bare->launch[0].epoch[0].time_ps == l->epoch[0].time_ps && l->epoch[0].time_ps > 0);
    assert_int_equal(l->point_count, 1);
    assert_float_equal(l->point[0].mhz[WW_DOMAIN_SM], 1401, 1e-9);
    assert_true(l->epoch[0].cta_limit == 15 * l->ctas_per_sm && l->epoch[0].ctas_paused == 0);
    ww_result_free(r);
    ww_result_free(bare);
}

static void mechanisms_are_described_in_the_result(void **state) {
    (void)state;
    struct ww_result *r = run("v100", NULL, "sched=lrr");
    assert_true(r->mechanism_count >= 1);
    assert_string_equal(r->mechanism[0].key, "sched");
    assert_string_equal(r->mechanism[0].value, "lrr");
    ww_result_free(r);
}

static void a_trace_of_another_family_is_warned_of(void **state) {
    (void)state;
    struct ww_result *r = run("gtx780", NULL, NULL);
    assert_non_null(r->warning);
    assert_non_null(strstr(r->warning, "--arch sm_52"));
    ww_result_free(r);
    r = run("a100", NULL, NULL);
    assert_null(r->warning);
    ww_result_free(r);
}

/* Records a kernel of three instructions, machine code of sm_80. */
static void record_machine_code(const char *to) {
    static struct cubin_made made;
    const struct ww_record_options o = {.arch = "sm_80", .code = WW_RECORD_SASS, .out_path = to};
    const struct ww_trace_meta meta = {.program = "made", .arguments = "", .tool = "test"};
    const struct ww_arg args[] = {{&(uint64_t){0}, 8}, {&(uint32_t){0}, 4}};
    const uint32_t one[3] = {1, 1, 1}, block[3] = {32, 1, 1};
    struct ww_device *d;
    struct ww_module *m;
    struct ww_record_stats stats;
    cubin_make(&made, 80, 7);
    const struct ww_cubin_source source = {.data = made.data, .n = made.n, .origin = "made"};
    assert_int_equal(ww_device_new(&o, &meta, &d, &error), WW_OK);
    assert_int_equal(ww_device_module_cubin(d, &source, NULL, 0, "module", &m, &error), WW_OK);
    assert_int_equal(ww_device_launch(d, m, "k", one, block, 0, args, 2, &error), WW_OK);
    assert_int_equal(ww_device_finish(d, &stats, &error), WW_OK);
    ww_device_free_all(d);
}

/* Lowered PTX of sm_70 stands for every later architecture; machine code does not. */
static void machine_code_of_another_architecture_is_warned_of(void **state) {
    (void)state;
    char whole[sizeof path];
    memcpy(whole, path, sizeof path);
    memcpy(path, "/tmp/warpwatt-run-XXXXXX.wwt", sizeof path);
    close(mkstemps(path, 4));
    record_machine_code(path);
    struct ww_result *v100 = run("v100", NULL, NULL), *a100 = run("a100", NULL, NULL),
                     *h100 = run("h100", NULL, NULL);
    assert_non_null(v100->warning);
    assert_non_null(strstr(v100->warning, "machine code of sm_80, v100 is sm_70"));
    assert_non_null(strstr(v100->warning, "--arch sm_70 --code ptx, or")); /* no ptxas from 13 on has sm_70 */
    assert_null(a100->warning);
    assert_string_equal(a100->launch[0].code, "made"); /* what the trace says of its origin */
    assert_non_null(h100->warning);
    assert_non_null(strstr(h100->warning, "(trace record --arch sm_90)"));
    ww_result_free(v100);
    ww_result_free(a100);
    ww_result_free(h100);
    unlink(path);
    memcpy(path, whole, sizeof path);
}

/* Breaks one figure of a good result; the check must name the law. */
#define BREAKS(name, statement, text_part)                                                                     \
    static void name(void **state) {                                                                           \
        (void)state;                                                                                           \
        struct ww_result *r = run("v100", NULL, NULL);                                                         \
        struct ww_launch_result *l = &r->launch[0];                                                            \
        (void)l;                                                                                               \
        statement;                                                                                             \
        assert_int_equal(ww_result_check(r, &error), WW_INTERNAL);                                             \
        if (!strstr(error.text, text_part)) fail_msg("%s", error.text);                                        \
        ww_result_free(r);                                                                                     \
    }

BREAKS(a_lost_warp_cycle_is_found, l->warp_cycles[WW_S_WAIT_ALU]++, "warp-cycles by state")
BREAKS(a_lost_slot_is_found, l->slot[WW_SLOT_EMPTY]++, "issue slots by cause")
BREAKS(a_lost_idle_cycle_is_found, l->counter[WW_C_SM_IDLE_CYCLES]++, "active + idle")
BREAKS(a_lost_instruction_is_found, l->counter[WW_C_INST_ISSUED]--, "instructions issued")
BREAKS(a_lost_l1_sector_is_found, l->counter[WW_C_L1_SECTOR_HIT]++, "in the L1")
BREAKS(a_lost_look_up_of_the_l1_tlb_is_found, l->counter[WW_C_TLB_L1_HIT]++, "looked up in the L1 TLB")
BREAKS(a_lost_join_of_a_translation_is_found,
       (l->counter[WW_C_TLB_L1_ACCESS]++, l->counter[WW_C_TLB_L1_MISS]++), "misses of the L1 TLB")
BREAKS(a_lost_look_up_of_the_l2_tlb_is_found, l->counter[WW_C_TLB_L2_HIT]++, "looked up in the L2 TLB")
BREAKS(a_lost_page_walk_is_found, l->counter[WW_C_TLB_WALK]++, "page walks")
BREAKS(a_lost_sector_of_a_walk_is_found, l->counter[WW_C_TLB_WALK_SECTOR]++, "those of page walks")
BREAKS(a_lost_crossbar_sector_is_found, l->counter[WW_C_XBAR_SECTOR_WRITE]++, "enter the crossbar")
BREAKS(a_lost_l2_sector_is_found, l->counter[WW_C_L2_SECTOR_MERGED]++, "of the L2")
BREAKS(a_lost_dram_sector_is_found, l->counter[WW_C_DRAM_SECTOR_READ]++, "from DRAM")
BREAKS(a_lost_writeback_is_found, l->counter[WW_C_DRAM_SECTOR_WRITE]++, "to DRAM")
BREAKS(a_lost_epoch_cycle_is_found, l->epoch[0].cycles++, "cycles of the epochs")
BREAKS(a_lost_epoch_state_is_found, l->epoch[0].warp_cycles[WW_S_ISSUED]++, "warp-cycles of the epochs")
BREAKS(a_lost_stall_of_a_pc_is_found, l->pc[0].stall[WW_S_NO_INST]++, "warp-cycles by PC")
BREAKS(a_lost_joule_is_found, l->energy.dynamic_j[WW_P_L2] += l->energy.total_j * 1e-6, "energy by component")
BREAKS(a_negative_joule_is_found, l->energy.static_j[WW_P_LSU] = -1, "energy of lsu")
BREAKS(a_lost_joule_of_an_epoch_is_found, l->epoch_energy[0].dynamic_j[WW_P_INT] *= 1.001, "energy of int in")
BREAKS(a_lost_picosecond_of_an_epoch_is_found, l->epoch[0].time_ps++, "time of the epochs")
BREAKS(a_lost_cycle_of_the_run_is_found, r->cycles++, "cycles = sum")
BREAKS(a_lost_joule_of_the_run_is_found, r->energy_j *= 1.001, "energy = sum")

static void a_lost_count_of_any_counter_of_a_pc_is_found(void **state) {
    (void)state;
    struct ww_result *r = run("v100", NULL, NULL);
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++) {
        char law[64];
        snprintf(law, sizeof law, "%s by PC", ww_inst_counter_name((enum ww_inst_counter)i));
        r->launch[0].pc[0].counter[i]++;
        assert_int_equal(ww_result_check(r, &error), WW_INTERNAL);
        if (!strstr(error.text, law)) fail_msg("%s", error.text);
        r->launch[0].pc[0].counter[i]--;
    }
    assert_int_equal(ww_result_check(r, &error), WW_OK);
    ww_result_free(r);
}

/* Their misses are misses and merges. */
static void runs_without_merges_are_checked_without_their_misses(void **state) {
    (void)state;
    struct ww_result *r = run("v100", NULL, NULL);
    r->launch[0].pc_unknown = 1 << WW_I_L1_MERGED | 1 << WW_I_L2_MERGED;
    r->launch[0].pc[0].counter[WW_I_L1_MISS]++;
    r->launch[0].pc[0].counter[WW_I_L2_MISS]++;
    assert_int_equal(ww_result_check(r, &error), WW_OK);
    r->launch[0].pc[0].counter[WW_I_SECTORS]++;
    assert_int_equal(ww_result_check(r, &error), WW_INTERNAL);
    ww_result_free(r);
}

static void what_a_run_cannot_do_is_refused(void **state) {
    (void)state;
    struct ww_gpu *gpu = NULL;
    struct ww_result *result = NULL;
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .mode = "guessed"};
    assert_int_equal(ww_run(&o, &result, &error), WW_USAGE);
    o = (struct ww_run_options){.gpu = gpu, .trace_path = path, .mode = "sampled", .target_error = 1e-6};
    assert_int_equal(ww_run(&o, &result, &error), WW_USAGE);
    o = (struct ww_run_options){.gpu = gpu, .trace_path = path, .mode = "sampled", .confidence = 1.5};
    assert_int_equal(ww_run(&o, &result, &error), WW_USAGE);
    o = (struct ww_run_options){.gpu = gpu, .trace_path = path, .launches = "7"};
    assert_int_equal(ww_run(&o, &result, &error), WW_USAGE);
    o = (struct ww_run_options){.gpu = gpu, .trace_path = path, .epoch_cycles = 1};
    assert_int_equal(ww_run(&o, &result, &error), WW_USAGE);
    o = (struct ww_run_options){.gpu = gpu, .trace_path = "/nonexistent.wwt"};
    assert_int_equal(ww_run(&o, &result, &error), WW_IO);
    o = (struct ww_run_options){.gpu = gpu, .trace_path = path, .power_table = "no-such-table"};
    assert_int_equal(ww_run(&o, &result, &error), WW_INPUT);
    assert_null(result);
    ww_gpu_free(gpu);
}

static int record(void **state) {
    (void)state;
    int fd = strstr(path, "XXXXXX") ? mkstemps(path, 4) : open(path, O_WRONLY);
    if (fd < 0) return -1;
    close(fd);
    const char *parameters[] = {"size=small"};
    struct ww_record_options o = {.out_path = path};
    struct ww_record_stats stats;
    enum ww_code code = ww_record_workload("reduction", parameters, 1, &o, &stats, &error);
    if (code != WW_OK) print_message("%s: %s\n", error.where, error.text);
    return code == WW_OK && stats.verified ? 0 : -1;
}

static int clean(void **state) {
    (void)state;
    return unlink(path);
}

/* In a graph (no launch.stream_us) the second of two launches is processed while the first one runs: the same
 * active cycles, less time. */
static void launches_in_a_row_hide_a_part_of_the_next_ones_processing(void **state) {
    (void)state;
    struct ww_result *r = run_with("h100", "launch.stream_us=0", "none", NULL);
    assert_true(r->launch_count > 1);
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        assert_int_equal(l->counter[WW_C_LAUNCH_LATENCY_PS] > 0, i == 0);
        assert_int_equal(l->counter[WW_C_LAUNCH_HIDDEN_PS] > 0, i > 0);
        uint64_t epochs = 0;
        for (size_t e = 0; e < l->epoch_count; e++) epochs += l->epoch[e].time_ps;
        assert_int_equal(epochs, l->time_ps);
    }
    ww_result_free(r);
}

static void launches_in_a_stream_wait_longer_for_the_one_before_than_those_of_a_graph(void **state) {
    (void)state;
    struct ww_result *graph = run_with("h100", "launch.stream_us=0", "none", NULL);
    struct ww_result *stream = run_with("h100", "launch.stream_us=0.5", "none", NULL);
    assert_int_equal(stream->cycles, graph->cycles);
    assert_int_equal(stream->launch[0].time_ps, graph->launch[0].time_ps);
    for (size_t i = 1; i < graph->launch_count; i++)
        assert_int_equal(stream->launch[i].time_ps, graph->launch[i].time_ps + 500000);
    ww_result_free(graph);
    ww_result_free(stream);
}

static struct ww_result *run_launches(const char *launches, const char *cache_control) {
    struct ww_gpu *gpu = NULL;
    struct ww_result *result = NULL;
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    struct ww_run_options o = {
        .gpu = gpu, .trace_path = path, .launches = launches, .cache_control = cache_control};
    if (ww_run(&o, &result, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    ww_gpu_free(gpu);
    return result;
}

static void a_flushed_launch_is_as_if_it_were_the_only_one(void **state) {
    (void)state;
    struct ww_result *all = run_launches(NULL, "flush");
    assert_true(all->launch_count > 1);
    for (size_t i = 0; i < all->launch_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        struct ww_result *one = run_launches(number, "flush");
        assert_int_equal(one->launch[0].cycles, all->launch[i].cycles);
        assert_int_equal(one->launch[0].time_ps, all->launch[i].time_ps);
        assert_memory_equal(one->launch[0].counter, all->launch[i].counter, sizeof one->launch[0].counter);
        ww_result_free(one);
    }
    ww_result_free(all);
}

static void a_launch_finds_what_the_one_before_left_unless_it_is_flushed(void **state) {
    (void)state;
    const char *parameters[] = {"size=small"};
    struct ww_record_options o = {.out_path = path};
    struct ww_record_stats stats;
    assert_int_equal(ww_record_workload("bfs", parameters, 1, &o, &stats, &error), WW_OK);
    struct ww_result *keep = run_launches(NULL, "keep"), *flush = run_launches(NULL, "flush");
    assert_int_equal(record(state), 0); /* for the tests that follow */
    assert_true(keep->launch[1].counter[WW_C_L2_SECTOR_MISS] < flush->launch[1].counter[WW_C_L2_SECTOR_MISS]);
    ww_result_free(keep);
    ww_result_free(flush);
}

/* A single pass finds no code of the launch itself; both kernels of bfs are new in the first two launches. */
static void a_profiler_with_one_pass_meets_a_kernels_code_in_dram_once(void **state) {
    (void)state;
    const char *parameters[] = {"size=small"};
    struct ww_record_options o = {.out_path = path};
    struct ww_record_stats stats;
    assert_int_equal(ww_record_workload("bfs", parameters, 1, &o, &stats, &error), WW_OK);
    struct ww_result *passes = run_launches(NULL, "flush"), *once = run_launches(NULL, "flush-once");
    assert_int_equal(record(state), 0); /* for the tests that follow */
    assert_true(once->launch_count > 2 && once->launch_count == passes->launch_count);
    assert_true(once->launch[0].cycles > passes->launch[0].cycles);
    size_t last = once->launch_count - 1;
    assert_int_equal(once->launch[last].cycles, passes->launch[last].cycles);
    ww_result_free(passes);
    ww_result_free(once);
}

/* What the launches before left in the L2 is found; their code is no longer in the SMs. */
static void flushed_sms_fetch_code_from_an_l2_that_is_kept(void **state) {
    (void)state;
    const char *parameters[] = {"size=small"};
    struct ww_record_options o = {.out_path = path, .arch = "sm_70"};
    struct ww_record_stats stats;
    assert_int_equal(ww_record_workload("bfs", parameters, 1, &o, &stats, &error), WW_OK);
    struct ww_result *keep = run_launches(NULL, "keep"), *sm = run_launches(NULL, "flush-sm"),
                     *all = run_launches(NULL, "flush");
    assert_int_equal(record(state), 0); /* for the tests that follow */
    size_t last = keep->launch_count - 1;
    assert_true(last > 1 && sm->launch_count == keep->launch_count);
    assert_true(sm->launch[last].counter[WW_C_FETCH_MISS] > keep->launch[last].counter[WW_C_FETCH_MISS]);
    assert_int_equal(sm->launch[last].counter[WW_C_FETCH_MISS], all->launch[last].counter[WW_C_FETCH_MISS]);
    assert_true(sm->launch[last].counter[WW_C_L2_SECTOR_MISS] < all->launch[last].counter[WW_C_L2_SECTOR_MISS]);
    assert_true(sm->launch[last].time_ps >
                keep->launch[last].time_ps); /* which begins while another one runs */
    ww_result_free(keep);
    ww_result_free(sm);
    ww_result_free(all);
}

static void the_control_of_caches_is_stored_among_the_settings(void **state) {
    (void)state;
    struct ww_result *r = run_launches("0", "flush");
    const struct ww_setting *last = &r->mechanism[r->mechanism_count - 1];
    assert_string_equal(last->key, "cache_control");
    assert_string_equal(last->value, "flush");
    ww_result_free(r);
}

static void clocks_are_controlled_as_a_profiler_names_them(void **state) {
    (void)state;
    struct ww_gpu *gpu = NULL;
    double sm, l2;
    const char *set[] = {"clock.base_mhz=1000", "clock.sm_mhz=1600", "clock.l2_mhz=800"};
    assert_int_equal(ww_gpu_load("gtx480", set, 3, &gpu, &error), WW_OK);
    assert_int_equal(ww_gpu_clock_control(gpu, "base", &sm, &l2, &error), WW_OK);
    assert_true(sm == 1000 && l2 == 500);
    assert_int_equal(ww_gpu_clock_control(gpu, "boost", &sm, &l2, &error), WW_OK);
    assert_true(sm == 1600 && l2 == 800);
    assert_int_equal(ww_gpu_clock_control(gpu, "400", &sm, &l2, &error), WW_OK);
    assert_true(sm == 400 && l2 == 200);
    assert_int_equal(ww_gpu_clock_control(gpu, "turbo", &sm, &l2, &error), WW_USAGE);
    ww_gpu_free(gpu);
}

static void watts_above_the_boards_are_warned_of(void **state) {
    (void)state;
    struct ww_result *r = run("v100", NULL, NULL);
    double half = floor(r->energy_j / ((double)r->time_ps * 1e-12) / 2);
    char below[40], said[60];
    assert_true(half > 10 && !(r->warning && strstr(r->warning, "board.tdp_w")));
    ww_result_free(r);
    snprintf(below, sizeof below, "board.tdp_w=%.0f", half);
    snprintf(said, sizeof said, "above the %.0f W of the board", half);
    r = run_with("v100", below, NULL, NULL);
    assert_non_null(r->warning);
    assert_non_null(strstr(r->warning, said));
    ww_result_free(r);
    static const char *const silent[][2] = {
        {"board.tdp_w=0", NULL}, {"board.tdp_w=1000", NULL}, {"board.tdp_w=1", "none"}};
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        r = run_with("v100", silent[i][0], silent[i][1], NULL);
        assert_false(r->warning && strstr(r->warning, "board.tdp_w"));
        ww_result_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_holds_on_every_gpu),
        cmocka_unit_test(energy_is_known_only_with_a_table),
        cmocka_unit_test(the_same_run_gives_the_same_figures),
        cmocka_unit_test(a_flushed_launch_is_as_if_it_were_the_only_one),
        cmocka_unit_test(a_launch_finds_what_the_one_before_left_unless_it_is_flushed),
        cmocka_unit_test(a_profiler_with_one_pass_meets_a_kernels_code_in_dram_once),
        cmocka_unit_test(flushed_sms_fetch_code_from_an_l2_that_is_kept),
        cmocka_unit_test(the_control_of_caches_is_stored_among_the_settings),
        cmocka_unit_test(clocks_are_controlled_as_a_profiler_names_them),
        cmocka_unit_test(launches_in_a_row_hide_a_part_of_the_next_ones_processing),
        cmocka_unit_test(launches_in_a_stream_wait_longer_for_the_one_before_than_those_of_a_graph),
        cmocka_unit_test(rows_for_a_database_are_packed),
        cmocka_unit_test(every_law_holds_under_every_governor),
        cmocka_unit_test(epochs_know_their_time_and_energy),
        cmocka_unit_test(mechanisms_are_described_in_the_result),
        cmocka_unit_test(a_trace_of_another_family_is_warned_of),
        cmocka_unit_test(machine_code_of_another_architecture_is_warned_of),
        cmocka_unit_test(watts_above_the_boards_are_warned_of),
        cmocka_unit_test(a_lost_warp_cycle_is_found),
        cmocka_unit_test(a_lost_slot_is_found),
        cmocka_unit_test(a_lost_idle_cycle_is_found),
        cmocka_unit_test(a_lost_instruction_is_found),
        cmocka_unit_test(a_lost_l1_sector_is_found),
        cmocka_unit_test(a_lost_look_up_of_the_l1_tlb_is_found),
        cmocka_unit_test(a_lost_join_of_a_translation_is_found),
        cmocka_unit_test(a_lost_look_up_of_the_l2_tlb_is_found),
        cmocka_unit_test(a_lost_page_walk_is_found),
        cmocka_unit_test(a_lost_sector_of_a_walk_is_found),
        cmocka_unit_test(a_lost_crossbar_sector_is_found),
        cmocka_unit_test(a_lost_l2_sector_is_found),
        cmocka_unit_test(a_lost_dram_sector_is_found),
        cmocka_unit_test(a_lost_writeback_is_found),
        cmocka_unit_test(a_lost_epoch_cycle_is_found),
        cmocka_unit_test(a_lost_epoch_state_is_found),
        cmocka_unit_test(a_lost_count_of_any_counter_of_a_pc_is_found),
        cmocka_unit_test(a_lost_stall_of_a_pc_is_found),
        cmocka_unit_test(runs_without_merges_are_checked_without_their_misses),
        cmocka_unit_test(a_lost_joule_is_found),
        cmocka_unit_test(a_negative_joule_is_found),
        cmocka_unit_test(a_lost_joule_of_an_epoch_is_found),
        cmocka_unit_test(a_lost_picosecond_of_an_epoch_is_found),
        cmocka_unit_test(a_lost_cycle_of_the_run_is_found),
        cmocka_unit_test(a_lost_joule_of_the_run_is_found),
        cmocka_unit_test(what_a_run_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, record, clean);
}
