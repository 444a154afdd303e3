/* The microbenchmark traces: what they hold, and what a bench measures with them. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/run/micro_bench.h"
#include "../../traces/micro/micro.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;

static void ok(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

static struct ww_micro *chase(enum ww_micro_path path, const uint64_t *address, size_t count) {
    struct ww_micro_chase what = {path, address, count, path == WW_MICRO_SHARED ? 4096 : 0};
    struct ww_micro *m;
    ok(ww_micro_chase(&what, &m, &error));
    return m;
}

static struct ww_bench *bench_of(const char *gpu_name, struct ww_gpu **gpu) {
    struct ww_bench *bench;
    ok(ww_gpu_load(gpu_name, NULL, 0, gpu, &error));
    ok(ww_bench_new(*gpu, 0, &bench, &error));
    return bench;
}

static void a_chase_of_n_elements_has_n_loads_and_one_use(void **state) {
    (void)state;
    uint64_t address[] = {0, 128, 4096};
    struct ww_micro *m = chase(WW_MICRO_GLOBAL, address, 3);
    struct ww_cta_trace cta;
    ok(ww_micro_cta(m, 0, &cta, &error));
    const struct ww_warp_stream *w = cta.warp;
    assert_int_equal(cta.warp_count, 1);
    assert_int_equal(w->step_count, 5);
    assert_int_equal(w->access_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct ww_inst *inst = &ww_micro_launch(m)->inst[w->step[i].inst];
        assert_int_equal(inst->op, WW_OP_LOAD);
        assert_int_equal(w->step[i].mask, 1);
        assert_int_equal(w->access[i].base, address[i]);
    }
    ww_micro_release(m, &cta);
    ww_micro_free(m);
}

static void each_load_of_a_chase_needs_the_value_of_the_one_before(void **state) {
    (void)state;
    for (int path = 0; path < WW_MICRO_PATH_COUNT; path++) {
        uint64_t address[] = {0, 64};
        struct ww_micro *m = chase((enum ww_micro_path)path, address, 2);
        const struct ww_inst *load = &ww_micro_launch(m)->inst[0];
        assert_int_equal(load->dst_count, 1);
        assert_int_equal(load->src_count, 1);
        assert_int_equal(load->dst[0].reg, load->src[0].reg);
        ww_micro_free(m);
    }
}

static void a_chase_in_memory_and_its_trace_file_take_the_same_cycles(void **state) {
    (void)state;
    char path[] = "/tmp/warpwatt-micro-XXXXXX.wwt";
    uint64_t address[600];
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("gtx480", &gpu);
    struct ww_bench_result here;
    struct ww_result *there;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    size_t n = ww_micro_walk(0, 300 * 128, 128, 2, address);
    struct ww_micro *m = chase(WW_MICRO_GLOBAL, address, n);
    ok(ww_bench_run(bench, m, 0, &here, &error));
    ok(ww_micro_write(m, path, &error));
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .power_table = "none"};
    ok(ww_run(&o, &there, &error));
    assert_int_equal(there->cycles, here.cycles);
    assert_int_equal(there->warp_instructions, n + 2);
    ww_result_free(there);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
    unlink(path);
}

static void the_probe_sees_a_miss_and_then_hits(void **state) {
    (void)state;
    uint64_t address[] = {1 << 20, 1 << 20, 1 << 20};
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("gtx480", &gpu);
    struct ww_bench_result r;
    struct ww_micro *m = chase(WW_MICRO_GLOBAL, address, 3);
    ok(ww_bench_run(bench, m, 4, &r, &error));
    assert_int_equal(r.sample_count, 4);
    uint64_t latency[3];
    for (int i = 0; i < 3; i++) latency[i] = r.sample[i + 1].cycle - r.sample[i].cycle;
    assert_true(latency[0] > 2 * latency[1]);
    assert_int_equal(latency[1], latency[2]);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void a_bench_without_a_probe_measures_the_same_cycles(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("v100", &gpu);
    struct ww_bench_result with, without;
    struct ww_micro *m;
    ok(ww_micro_scopy(80, 256, 2, 2, &m, &error));
    ok(ww_bench_run(bench, m, 10000, &with, &error));
    ok(ww_bench_reset(bench, &error));
    ok(ww_bench_run(bench, m, 0, &without, &error));
    assert_int_equal(with.cycles, without.cycles);
    assert_int_equal(without.sample_count, 0);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void launches_on_one_bench_find_the_l2_as_it_was_left(void **state) {
    (void)state;
    uint64_t address[64];
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("v100", &gpu);
    struct ww_bench_result cold, warm, again;
    size_t n = ww_micro_walk(0, 64 * 4096, 4096, 1, address);
    struct ww_micro *m = chase(WW_MICRO_L2, address, n);
    ok(ww_bench_run(bench, m, 0, &cold, &error));
    ok(ww_bench_run(bench, m, 0, &warm, &error));
    ok(ww_bench_reset(bench, &error));
    ok(ww_bench_run(bench, m, 0, &again, &error));
    assert_true(warm.cycles < cold.cycles);
    assert_int_equal(again.cycles, cold.cycles);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void a_strided_warp_meets_as_many_banks_as_the_stride_leaves(void **state) {
    (void)state;
    static const struct { uint32_t stride, passes; } row[] = {{1, 1}, {2, 2}, {3, 1}, {6, 2}, {8, 8}, {32, 32}};
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("gtx480", &gpu);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct ww_bench_result r;
        struct ww_micro *m;
        ok(ww_micro_smem_stride(row[i].stride, 4, 10, &m, &error));
        ok(ww_bench_run(bench, m, 0, &r, &error));
        assert_int_equal(r.counter[WW_C_SHARED_PASSES], 10 * row[i].passes);
        ww_micro_free(m);
    }
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void a_global_copy_moves_what_it_says(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("gtx980", &gpu);
    struct ww_bench_result r;
    struct ww_micro *m;
    uint64_t copied;
    ok(ww_micro_gcopy(32, 128, 3, 1000000, &copied, &m, &error));
    assert_true(copied >= 1000000 && copied < 1000000 + 32 * 128 * 3 * 4);
    ok(ww_bench_run(bench, m, 0, &r, &error));
    assert_int_equal(r.counter[WW_C_L1_SECTOR_READ] * 32, copied);
    assert_int_equal(r.counter[WW_C_L1_SECTOR_WRITE] * 32, copied);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void a_global_copy_touches_each_word_once(void **state) {
    (void)state;
    enum { CTAS = 3, SIZE = 48, ILP = 2, WORDS = CTAS * SIZE * ILP * 2 };
    static uint8_t seen[WORDS];
    struct ww_micro *m;
    uint64_t copied, base = UINT64_MAX;
    memset(seen, 0, sizeof seen);
    ok(ww_micro_gcopy(CTAS, SIZE, ILP, WORDS * 4, &copied, &m, &error));
    assert_int_equal(copied, WORDS * 4);
    for (uint64_t c = 0; c < CTAS; c++) {
        struct ww_cta_trace cta;
        ok(ww_micro_cta(m, c, &cta, &error));
        for (uint32_t w = 0; w < cta.warp_count; w++) {
            const struct ww_access *a = cta.warp[w].access;
            for (uint32_t i = 0; i < cta.warp[w].step_count; i++) {
                const struct ww_step *s = &cta.warp[w].step[i];
                const struct ww_inst *inst = &ww_micro_launch(m)->inst[s->inst];
                if (!(inst->flags & WW_INST_ACCESS)) continue;
                if (inst->op == WW_OP_LOAD) {
                    if (base == UINT64_MAX) base = a->base;
                    for (uint32_t l = 0; l < 32; l++)
                        if ((s->mask >> l) & 1) seen[(a->base + l * 4 - base) / 4]++;
                }
                a++;
            }
        }
        ww_micro_release(m, &cta);
    }
    for (int i = 0; i < WORDS; i++) assert_int_equal(seen[i], 1);
    ww_micro_free(m);
}

static void a_shared_copy_reads_the_clock_twice_a_warp_and_repetition(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("gtx780", &gpu);
    struct ww_bench_result r;
    struct ww_micro *m;
    size_t readings = 0;
    ok(ww_micro_scopy(12, 96, 4, 3, &m, &error));
    ok(ww_bench_run(bench, m, 100000, &r, &error));
    for (size_t i = 0; i < r.sample_count; i++)
        readings += ww_micro_launch(m)->inst[r.sample[i].inst].op == WW_OP_SYSREG;
    assert_int_equal(readings, 12 * 3 * 3 * 2);
    assert_int_equal(r.counter[WW_C_MEM_INST_SHARED], 12 * 3 * 3 * 8);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void a_triad_reads_three_arrays_and_writes_one(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("v100", &gpu);
    struct ww_bench_result r;
    struct ww_micro *m;
    const struct ww_micro_stream triad = {160, 64, 3, 1, 0, 1 << 30, NULL};
    ok(ww_micro_stream(&triad, &m, &error));
    ok(ww_bench_run(bench, m, 0, &r, &error));
    assert_int_equal(r.counter[WW_C_L1_SECTOR_READ] * 32, 3 * 160 * 64 * 8);
    assert_int_equal(r.counter[WW_C_L1_SECTOR_WRITE] * 32, 160 * 64 * 8);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void a_cache_read_of_one_block_for_all_fetches_it_once(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("v100", &gpu);
    struct ww_bench_result r;
    struct ww_micro *m;
    ok(ww_micro_cache_read(80, 256, 65536, 4, &m, &error));
    ok(ww_bench_run(bench, m, 0, &r, &error));
    assert_int_equal(r.counter[WW_C_L1_SECTOR_READ] * 32, 80ull * 4 * 65536);
    assert_true(r.counter[WW_C_DRAM_SECTOR_READ] * 32 <= 2 * 65536);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

static void shapes_that_cannot_be_are_refused(void **state) {
    (void)state;
    struct ww_micro *m;
    struct ww_micro_chase none = {WW_MICRO_GLOBAL, NULL, 0, 0};
    assert_int_equal(ww_micro_chase(&none, &m, &error), WW_USAGE);
    assert_int_equal(ww_micro_gcopy(0, 32, 1, 100, NULL, &m, &error), WW_USAGE);
    assert_int_equal(ww_micro_gcopy(1, 2048, 1, 100, NULL, &m, &error), WW_USAGE);
    assert_int_equal(ww_micro_gcopy(1, 32, 33, 100, NULL, &m, &error), WW_USAGE);
    assert_int_equal(ww_micro_scopy(1, 32, 33, 1, &m, &error), WW_USAGE);
    for (uint32_t loads = 0; loads < 4; loads += 3) {
        const struct ww_micro_parts p = {.ctas = 1, .cta_size = 32, .parts = 1, .rows = 8, .row_loads = loads};
        assert_int_equal(ww_micro_parts_read(&p, NULL, &m, &error), WW_USAGE);
    }
    assert_int_equal(ww_micro_smem_stride(1, 2, 1, &m, &error), WW_USAGE);
    assert_int_equal(ww_micro_cache_read(1, 32, 100, 1, &m, &error), WW_USAGE);
    const struct ww_micro_stream writes_only = {1, 32, 0, 1, 0, 1 << 20, NULL};
    assert_int_equal(ww_micro_stream(&writes_only, &m, &error), WW_USAGE);
    assert_null(m);
}

static bool count_and_stop(void *context, double part, uint64_t done, const char *unit) {
    (void)part, (void)done, (void)unit;
    ++*(int *)context;
    return false;
}

static void a_launch_on_a_bench_ends_when_its_watcher_says_no(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_bench *bench = bench_of("gtx480", &gpu);
    struct ww_bench_result r;
    struct ww_micro *m;
    uint64_t copied;
    int asked = 0;
    ok(ww_micro_gcopy(15, 256, 1, 4u << 20, &copied, &m, &error));
    ww_bench_watch(bench, count_and_stop, &asked);
    assert_int_equal(ww_bench_run(bench, m, 0, &r, &error), WW_FAIL);
    assert_int_equal(asked, 1);
    ok(ww_bench_reset(bench, &error)); /* which does not end the watch */
    assert_int_equal(ww_bench_run(bench, m, 0, &r, &error), WW_FAIL);
    ww_bench_watch(bench, NULL, NULL);
    ok(ww_bench_reset(bench, &error));
    ok(ww_bench_run(bench, m, 0, &r, &error));
    assert_int_equal(asked, 2);
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
}

/* The second of two launches of `ctas` CTAs, with launches around them. */
static struct ww_bench_result second_launch(const char *set, uint32_t ctas) {
    const struct ww_micro_scale what = {ctas, 32, 1ull << 32, 1ull << 33};
    struct ww_gpu *gpu;
    struct ww_bench *bench;
    struct ww_bench_result r;
    struct ww_micro *m;
    ok(ww_gpu_load("v100", &set, 1, &gpu, &error));
    ok(ww_bench_new(gpu, 0, &bench, &error));
    ww_bench_launches(bench);
    ok(ww_bench_reset(bench, &error));
    ok(ww_micro_scale(&what, &m, &error));
    for (int i = 0; i < 2; i++) ok(ww_bench_run(bench, m, 0, &r, &error));
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
    return r;
}

static void a_distributor_of_a_quarter_takes_four_cycles_a_cta(void **state) {
    (void)state;
    uint64_t one = second_launch("launch.ctas_per_cycle=1", 160).cycles,
             quarter = second_launch("launch.ctas_per_cycle=0.25", 160).cycles;
    print_message("%llu, %llu\n", (unsigned long long)one, (unsigned long long)quarter);
    assert_true(quarter > one + 380 &&
                quarter < one + 500); /* 160 x 3 = 480, of which some hide behind the CTAs */
}

static void a_queued_launch_of_a_stream_takes_stream_us_more(void **state) {
    (void)state;
    struct ww_bench_result graph = second_launch("launch.stream_us=0", 8),
                           stream = second_launch("launch.stream_us=5", 8);
    assert_int_equal(stream.time_ps - graph.time_ps, 5000000);
    assert_int_equal(stream.cycles, graph.cycles);
}

static void lanes_that_are_not_evenly_apart_have_lists_of_addresses(void **state) {
    (void)state;
    const struct ww_micro_lanes what = {
        .cta_size = 64, .width = 4, .first = 3, .columns = 4, .column = 1, .row = 100, .repeats = 1};
    struct ww_micro *m;
    struct ww_cta_trace cta;
    ok(ww_micro_lanes_read(&what, &m, &error));
    ok(ww_micro_cta(m, 0, &cta, &error));
    const struct ww_access *second = &cta.warp[1].access[1]; /* four elements further on */
    assert_int_not_equal(second->list, WW_AFFINE);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t element = 3 + lane % 4 + (8 + lane / 4) * 100 + 4;
        assert_int_equal(cta.warp[1].pool[second->list + lane], (1ull << 32) + element * 4);
    }
    ww_micro_release(m, &cta);
    ww_micro_free(m);
}

/* Three warps of a scheduler contend for the integer lanes; returns the one whose last instruction is first. */
static uint32_t first_to_end(const char *sched) {
    enum { INSTS = 40 };
    struct ww_inst inst[INSTS + 1] = {{0}};
    struct ww_step step[INSTS + 1];
    for (uint32_t i = 0; i <= INSTS; i++) {
        inst[i] = (struct ww_inst){.pc = i * 16, .op = i < INSTS ? WW_OP_INT : WW_OP_EXIT};
        if (i < INSTS) {
            inst[i].dst_count = inst[i].src_count = 1;
            inst[i].dst[0] = inst[i].src[0] = (struct ww_operand){.reg = 1, .n = 1};
        }
        step[i] = (struct ww_step){i, UINT32_MAX};
    }
    const struct ww_micro_program p = {.kernel = "k",
                                       .arch = "sm_70",
                                       .inst = inst,
                                       .step = step,
                                       .inst_count = INSTS + 1,
                                       .step_count = INSTS + 1,
                                       .threads = 9 * 32,
                                       .first = INSTS - 1,
                                       .end = INSTS};
    struct ww_gpu *gpu;
    struct ww_bench *bench;
    struct ww_bench_result r;
    struct ww_micro *m;
    ok(ww_gpu_load("v100", &sched, 1, &gpu, &error));
    ok(ww_bench_new(gpu, 0, &bench, &error));
    ok(ww_micro_program(&p, &m, &error));
    ok(ww_bench_run(bench, m, 9, &r, &error));
    uint32_t first = UINT32_MAX;
    uint64_t cycle = UINT64_MAX;
    for (size_t i = 0; i < r.sample_count; i++)
        if (r.sample[i].warp % 4 == 0 && r.sample[i].cycle < cycle) {
            cycle = r.sample[i].cycle;
            first = r.sample[i].warp;
        }
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
    return first;
}

static void a_bench_has_the_scheduler_of_its_gpu(void **state) {
    (void)state;
    assert_int_equal(first_to_end("core.sched=gto"), 0);
    assert_int_equal(first_to_end("core.sched=cggty"), 8);
}

/* The first access of each CTA's first warp, and how many it has. */
static void parts_read(const struct ww_micro_parts *p, uint64_t *first, uint32_t *count) {
    struct ww_micro *m;
    uint64_t read, all = 0;
    ok(ww_micro_parts_read(p, &read, &m, &error));
    for (uint32_t c = 0; c < p->ctas; c++) {
        struct ww_cta_trace cta;
        ok(ww_micro_cta(m, c, &cta, &error));
        first[c] = cta.warp[0].access[0].base;
        count[c] = cta.warp[0].access_count;
        all += count[c];
        ww_micro_release(m, &cta);
    }
    assert_int_equal(all, read * p->row_loads);
    ww_micro_free(m);
}

static void ctas_of_the_first_wave_are_at_all_places_of_their_parts_in_no_order_of_sms(void **state) {
    (void)state;
    enum { WAVE = 8, ROWS = 64 };
    const struct ww_micro_parts p = {
        .ctas = 2 * WAVE, .wave = WAVE, .cta_size = 32, .parts = 2, .rows = ROWS, .row_loads = 1};
    uint64_t first[2 * WAVE];
    uint32_t count[2 * WAVE], seen = 0, ascents = 0;
    parts_read(&p, first, count);
    for (uint32_t c = 0; c < WAVE; c++) {
        assert_int_equal(count[c] % 8, 0);
        seen |= 1u << (count[c] / 8 - 1);
        if (c) ascents += count[c] > count[c - 1];
    }
    assert_int_equal(seen, (1u << WAVE) - 1);
    assert_true(ascents > 1 && ascents < WAVE - 2);
    for (uint32_t c = WAVE; c < 2 * WAVE; c++) {
        assert_int_equal(count[c], ROWS);
        assert_int_equal(first[c] - first[WAVE], c % 2 * 32 * 8);
    }
}

static void a_row_of_two_loads_holds_twice_the_bytes(void **state) {
    (void)state;
    const struct ww_micro_parts p = {.ctas = 2, .cta_size = 32, .parts = 2, .rows = 2, .row_loads = 2};
    uint64_t first[2];
    uint32_t count[2];
    parts_read(&p, first, count);
    assert_int_equal(count[0], 4);
    assert_int_equal(first[1] - first[0], 2 * 32 * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_of_the_first_wave_are_at_all_places_of_their_parts_in_no_order_of_sms),
        cmocka_unit_test(a_row_of_two_loads_holds_twice_the_bytes),
        cmocka_unit_test(a_bench_has_the_scheduler_of_its_gpu),
        cmocka_unit_test(a_chase_of_n_elements_has_n_loads_and_one_use),
        cmocka_unit_test(each_load_of_a_chase_needs_the_value_of_the_one_before),
        cmocka_unit_test(a_chase_in_memory_and_its_trace_file_take_the_same_cycles),
        cmocka_unit_test(the_probe_sees_a_miss_and_then_hits),
        cmocka_unit_test(a_bench_without_a_probe_measures_the_same_cycles),
        cmocka_unit_test(launches_on_one_bench_find_the_l2_as_it_was_left),
        cmocka_unit_test(a_strided_warp_meets_as_many_banks_as_the_stride_leaves),
        cmocka_unit_test(a_global_copy_moves_what_it_says),
        cmocka_unit_test(a_global_copy_touches_each_word_once),
        cmocka_unit_test(a_shared_copy_reads_the_clock_twice_a_warp_and_repetition),
        cmocka_unit_test(a_triad_reads_three_arrays_and_writes_one),
        cmocka_unit_test(a_cache_read_of_one_block_for_all_fetches_it_once),
        cmocka_unit_test(a_launch_on_a_bench_ends_when_its_watcher_says_no),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
        cmocka_unit_test(a_distributor_of_a_quarter_takes_four_cycles_a_cta),
        cmocka_unit_test(a_queued_launch_of_a_stream_takes_stream_us_more),
        cmocka_unit_test(lanes_that_are_not_evenly_apart_have_lists_of_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
