/* Launches of several streams: they run concurrently as far as their order and the SMs allow. */
#include "../../estimator/warpwatt.h"
#include "../../traces/trace.h"
#include "../../traces/wwt/writer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { SGEMM, VECTORADD, KERNELS };

static char plain[KERNELS][64], made[64];
static struct ww_error error;

static void must(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

struct item {
    int kernel;
    uint64_t absent; /* the trace lacks its first so many CTAs */
    struct ww_trace_order order;
    uint64_t copied; /* bytes of a copy before it */
};

static void add(struct ww_trace_writer *w, const struct item *item) {
    struct ww_trace *t;
    const struct ww_launch *l;
    must(ww_trace_open(plain[item->kernel], &t, &error));
    must(ww_trace_launch(t, 0, &l, &error));
    struct ww_launch ordered = *l;
    ordered.order = item->order;
    struct ww_trace_copy copy = {.address = 0x10000000, .bytes = item->copied, .rows = 1};
    if (item->copied) must(ww_trace_writer_copy(w, &copy, &error));
    must(ww_trace_writer_launch(w, &ordered, &error));
    for (uint64_t i = item->absent; i < l->cta_count; i++) {
        struct ww_cta_trace cta;
        must(ww_trace_load_cta(t, 0, i, &cta, &error));
        must(ww_trace_writer_cta(w, &cta, &error));
        ww_trace_release_cta(t, &cta);
    }
    must(ww_trace_writer_end_launch(w, &error));
    ww_trace_close(t);
}

static void make(const struct item *item, size_t count) {
    struct ww_trace_writer *w;
    must(ww_trace_writer_new(made, NULL, 0, &w, &error));
    for (size_t i = 0; i < count; i++) add(w, &item[i]);
    must(ww_trace_writer_finish(w, NULL, &error));
}

static struct ww_result *replay(const char *const *set, size_t count, bool serialize) {
    struct ww_gpu *gpu;
    struct ww_result *r;
    must(ww_gpu_load("v100", set, count, &gpu, &error));
    struct ww_run_options o = {.gpu = gpu,
                               .trace_path = made,
                               .mode = "full",
                               .per_pc = true,
                               .timeline = true,
                               .timeline_ctas = 100000,
                               .serialize = serialize};
    must(ww_run(&o, &r, &error)); /* which checks the conservation laws of every launch */
    ww_gpu_free(gpu);
    return r;
}

static uint64_t end_of(const struct ww_launch_result *l) {
    return l->start_ps + l->time_ps;
}

/* A CTA takes an SM; a launch of sgemm has 80. */
static const char *const twice_as_many[] = {"sm.count=160", "sm.max_ctas=1"};

static void two_streams_that_fill_half_of_the_gpu_take_as_long_as_one(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0}, {SGEMM, 0, {.stream = 2}, 0}};
    make(items, 1);
    struct ww_result *one = replay(twice_as_many, 2, false);
    assert_int_equal(one->launch[0].counter[WW_C_CTA_LAUNCHED], 80);
    make(items, 2);
    struct ww_result *two = replay(twice_as_many, 2, false), *row = replay(twice_as_many, 2, true);
    assert_true(two->time_ps < one->time_ps + one->time_ps / 50);
    assert_true(row->time_ps > one->time_ps + one->time_ps / 2);
    assert_int_equal(two->launch[0].concurrent, 1);
    assert_int_equal(two->launch[1].stream, 2);
    assert_int_equal(row->launch[1].concurrent, 0);
    ww_result_free(one);
    ww_result_free(two);
    ww_result_free(row);
}

static void a_launch_takes_as_many_cycles_as_alone_where_nothing_is_shared(void **state) {
    (void)state;
    const struct item items[] = {{VECTORADD, 1 << 20, {.stream = 1}, 0}, {SGEMM, 0, {.stream = 2}, 0}};
    make(items + 1, 1);
    struct ww_result *alone = replay(NULL, 0, false);
    make(items, 2); /* the other has no CTAs */
    struct ww_result *side = replay(NULL, 0, false);
    uint64_t a = alone->launch[0].cycles, b = side->launch[1].cycles;
    assert_int_equal(side->launch[0].counter[WW_C_CTA_LAUNCHED], 0);
    if (a > b + b / 500 || b > a + a / 500)
        fail_msg("%llu cycles beside nothing, %llu alone", (unsigned long long)b, (unsigned long long)a);
    assert_int_equal(alone->launch[0].counter[WW_C_L1_SECTOR_MISS],
                     side->launch[1].counter[WW_C_L1_SECTOR_MISS]);
    ww_result_free(alone);
    ww_result_free(side);
}

static void absent_ctas_are_left_out(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 70, {.stream = 1}, 0}, {VECTORADD, 3, {.stream = 2}, 0}};
    make(items, 2);
    struct ww_result *side = replay(NULL, 0, false), *row = replay(NULL, 0, true);
    assert_int_equal(side->launch[0].counter[WW_C_CTA_LAUNCHED], 10);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(side->launch[i].warp_instructions, row->launch[i].warp_instructions);
    ww_result_free(side);
    ww_result_free(row);
}

static void more_launches_than_a_group_holds_are_replayed(void **state) {
    (void)state;
    static struct item items[600];
    for (size_t i = 0; i < 600; i++)
        items[i] = (struct item){VECTORADD, 150, {.stream = (uint32_t)(i % 2 + 1)}, 0};
    make(items, 600);
    struct ww_result *r = replay(NULL, 0, false);
    assert_int_equal(r->launch_count, 600);
    assert_int_equal(r->launch[599].concurrent, 3);
    ww_result_free(r);
}

static void copies_between_launches_of_a_group_are_there(void **state) {
    (void)state;
    const struct item items[] = {
        {SGEMM, 0, {.stream = 1}, 0}, {VECTORADD, 0, {.stream = 2}, 4096}, {VECTORADD, 0, {.stream = 2}, 8192}};
    make(items, 3);
    struct ww_result *r = replay(NULL, 0, false);
    assert_int_equal(r->launch[2].concurrent, 1);
    assert_true(r->launch[2].start_ps >= end_of(&r->launch[1]));
    ww_result_free(r);
}

static void modes_that_take_launches_in_a_row_say_so(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0}, {VECTORADD, 0, {.stream = 2}, 0}};
    struct ww_gpu *gpu;
    struct ww_result *r;
    must(ww_gpu_load("v100", NULL, 0, &gpu, &error));
    struct ww_run_options o = {.gpu = gpu, .trace_path = made, .mode = "analytic"};
    make(items, 2);
    must(ww_run(&o, &r, &error));
    assert_non_null(r->warning);
    assert_non_null(strstr(r->warning, "one after the other"));
    ww_result_free(r);
    o.mode = "full";
    must(ww_run(&o, &r, &error));
    assert_null(r->warning);
    ww_result_free(r);
    ww_gpu_free(gpu);
}

static void a_launch_of_the_same_stream_waits(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0}, {SGEMM, 0, {.stream = 1}, 0}};
    make(items, 2);
    struct ww_result *side = replay(twice_as_many, 2, false), *row = replay(twice_as_many, 2, true);
    assert_int_equal(side->cycles, row->cycles);
    assert_int_equal(side->time_ps, row->time_ps);
    for (int c = 0; c < WW_COUNTER_COUNT; c++)
        assert_int_equal(side->launch[1].counter[c], row->launch[1].counter[c]);
    ww_result_free(side);
    ww_result_free(row);
}

static void a_launch_waits_for_those_that_it_names(void **state) {
    (void)state;
    const uint32_t first = 0;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0},
                                 {VECTORADD, 0, {.stream = 2}, 0},
                                 {SGEMM, 0, {.stream = 3, .wait = &first, .wait_count = 1}, 0}};
    make(items, 3);
    struct ww_result *r = replay(NULL, 0, false);
    assert_int_equal(r->launch[2].concurrent, 1);
    assert_int_equal(r->launch[2].start_ps, end_of(&r->launch[0]));
    assert_int_equal(r->launch[1].start_ps, 0);
    ww_result_free(r);
}

static void shared_times_add_up_to_what_elapsed(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0},
                                 {VECTORADD, 0, {.stream = 2}, 0},
                                 {SGEMM, 0, {.stream = 2}, 0},
                                 {VECTORADD, 0, {.stream = 3}, 0}};
    uint64_t last = 0, charged = 0;
    make(items, 4);
    struct ww_result *r = replay(NULL, 0, false);
    for (size_t i = 0; i < 4; i++) {
        charged += r->launch[i].time_ps - r->launch[i].shared_ps;
        if (end_of(&r->launch[i]) > last) last = end_of(&r->launch[i]);
    }
    assert_int_equal(charged, last);
    assert_int_equal(r->time_ps, last);
    ww_result_free(r);
}

/* What CTAs that were there at the same time took of an SM. */
struct taken {
    uint64_t ctas, threads, registers, shared;
};

static struct taken taken_at(const struct ww_result *r, uint32_t sm, uint64_t ps) {
    struct taken t = {0};
    for (size_t i = 0; i < r->launch_count; i++)
        for (size_t k = 0; k < r->launch[i].cta_count; k++) {
            const struct ww_launch_result *l = &r->launch[i];
            const struct ww_cta_span *c = &l->cta[k];
            uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
            if (c->sm != sm || c->start_ps > ps || c->end_ps <= ps) continue;
            t.ctas++;
            t.threads += threads;
            t.registers += (threads * l->registers_per_thread + 255) / 256 * 256;
            t.shared += l->shared_bytes;
        }
    return t;
}

static void launches_share_what_an_sm_has(void **state) {
    (void)state;
    static const char *const small[] = {"sm.count=4", "sm.max_ctas=6", "sm.max_threads=1024", "sm.max_warps=32",
                                        "sm.registers=16384"};
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0},
                                 {VECTORADD, 0, {.stream = 2}, 0},
                                 {SGEMM, 0, {.stream = 3}, 0},
                                 {VECTORADD, 0, {.stream = 4}, 0}};
    bool mixed = false;
    make(items, 4);
    struct ww_result *r = replay(small, 5, false);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < r->launch[i].cta_count; k++) {
            const struct ww_cta_span *c = &r->launch[i].cta[k];
            struct taken t = taken_at(r, c->sm, c->start_ps);
            assert_true(t.ctas <= 6 && t.threads <= 1024 && t.registers <= 16384 && t.shared <= 96 * 1024);
            for (size_t o = 0; o < r->launch[3].cta_count && i == 0; o++) {
                const struct ww_cta_span *x = &r->launch[1].cta[o % r->launch[1].cta_count];
                mixed |= x->sm == c->sm && x->start_ps < c->end_ps && c->start_ps < x->end_ps;
            }
        }
    assert_true(mixed); /* kernels were on one SM together */
    ww_result_free(r);
}

static uint64_t first_cta(const struct ww_launch_result *l) {
    uint64_t first = UINT64_MAX;
    for (size_t k = 0; k < l->cta_count; k++)
        if (l->cta[k].start_ps < first) first = l->cta[k].start_ps;
    return first;
}

static uint64_t last_cta(const struct ww_launch_result *l, bool end) {
    uint64_t last = 0;
    for (size_t k = 0; k < l->cta_count; k++) {
        uint64_t at = end ? l->cta[k].end_ps : l->cta[k].start_ps;
        if (at > last) last = at;
    }
    return last;
}

static void only_so_many_launches_are_resident(void **state) {
    (void)state;
    static const char *const set[] = {"launch.resident_grids=2"};
    const struct item items[] = {
        {SGEMM, 0, {.stream = 1}, 0}, {SGEMM, 0, {.stream = 2}, 0}, {SGEMM, 0, {.stream = 3}, 0}};
    make(items, 3);
    struct ww_result *two = replay(set, 1, false), *all = replay(NULL, 0, false);
    uint64_t ended = last_cta(&two->launch[0], true), other = last_cta(&two->launch[1], true);
    assert_true(first_cta(&two->launch[2]) >= (ended < other ? ended : other));
    assert_true(first_cta(&all->launch[2]) < last_cta(&all->launch[0], true));
    ww_result_free(two);
    ww_result_free(all);
}

static void ctas_of_a_later_launch_come_when_an_earlier_has_none_left(void **state) {
    (void)state;
    static const char *const set[] = {"sm.count=2", "sm.max_ctas=1"};
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0}, {VECTORADD, 0, {.stream = 2}, 0}};
    const struct item urgent[] = {{SGEMM, 0, {.stream = 1}, 0},
                                  {VECTORADD, 0, {.stream = 2, .priority = -1}, 0}};
    make(items, 2);
    struct ww_result *r = replay(set, 2, false);
    assert_true(first_cta(&r->launch[1]) >= last_cta(&r->launch[0], false));
    ww_result_free(r);
    make(urgent, 2);
    r = replay(set, 2, false);
    assert_true(first_cta(&r->launch[0]) >= last_cta(&r->launch[1], false));
    ww_result_free(r);
}

static void branches_of_a_graph_are_as_streams(void **state) {
    (void)state;
    const uint32_t both[] = {0, 1}, both_again[] = {1, 0};
    const struct item streams[] = {{SGEMM, 0, {.stream = 1}, 0},
                                   {VECTORADD, 0, {.stream = 2}, 0},
                                   {SGEMM, 0, {.stream = 1, .wait = both, .wait_count = 2}, 0}};
    const struct item graph[] = {{SGEMM, 0, {.stream = 7}, 0},
                                 {VECTORADD, 0, {.stream = 9}, 0},
                                 {SGEMM, 0, {.stream = 8, .wait = both_again, .wait_count = 2}, 0}};
    make(streams, 3);
    struct ww_result *a = replay(NULL, 0, false);
    make(graph, 3);
    struct ww_result *b = replay(NULL, 0, false);
    assert_int_equal(a->cycles, b->cycles);
    assert_int_equal(a->time_ps, b->time_ps);
    ww_result_free(a);
    ww_result_free(b);
}

static void machine_counts_and_energy_are_shared_out_whole(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0}, {VECTORADD, 0, {.stream = 2}, 0}};
    uint64_t sectors = 0;
    make(items, 2);
    struct ww_result *side = replay(NULL, 0, false), *row = replay(NULL, 0, true);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t *a = side->launch[i].counter, *b = row->launch[i].counter;
        sectors += a[WW_C_DRAM_SECTOR_READ];
        assert_int_equal(a[WW_C_INST_ISSUED], b[WW_C_INST_ISSUED]);
        assert_int_equal(a[WW_C_LANE_FP32_FMA], b[WW_C_LANE_FP32_FMA]);
        assert_int_equal(a[WW_C_L1_SECTOR_WRITE], b[WW_C_L1_SECTOR_WRITE]);
        assert_int_equal(a[WW_C_SHARED_PASSES], b[WW_C_SHARED_PASSES]);
        assert_int_equal(a[WW_C_CTA_LAUNCHED], b[WW_C_CTA_LAUNCHED]);
    }
    assert_true(sectors > 0);
    assert_true(side->energy_j < row->energy_j); /* what flows all the time flows for less time */
    assert_true(side->energy_j > row->energy_j / 2);
    ww_result_free(side);
    ww_result_free(row);
}

static void a_database_keeps_where_launches_stood(void **state) {
    (void)state;
    const struct item items[] = {{SGEMM, 0, {.stream = 1}, 0}, {VECTORADD, 0, {.stream = 2}, 0}};
    char path[80];
    int64_t id;
    struct ww_result *back;
    struct ww_db *db;
    snprintf(path, sizeof path, "%s.db", made);
    make(items, 2);
    struct ww_result *r = replay(NULL, 0, false);
    must(ww_db_store_at(path, r, &id, &error));
    must(ww_db_open(path, false, &db, &error));
    must(ww_db_load(db, id, &back, &error));
    must(ww_result_check(back, &error)); /* the launches' times add up to the run's */
    assert_int_equal(back->launch[1].stream, 2);
    assert_int_equal(back->launch[1].shared_ps, r->launch[1].shared_ps);
    ww_result_free(r);
    ww_result_free(back);
    ww_db_close(db);
    unlink(path);
}

static enum ww_code record(int kernel, const char *workload, const char *const *parameters, size_t count) {
    struct ww_record_stats stats;
    snprintf(plain[kernel], sizeof plain[kernel], "/tmp/wwbeside-%ld-%d.wwt", (long)getpid(), kernel);
    struct ww_record_options o = {.out_path = plain[kernel], .arch = "sm_70"};
    return ww_record_workload(workload, parameters, count, &o, &stats, &error);
}

static int record_all(void **state) {
    (void)state;
    static const char *const sgemm[] = {"m=160", "n=128", "k=64"}, *const add_words[] = {"n=20000"};
    snprintf(made, sizeof made, "/tmp/wwbeside-%ld.wwt", (long)getpid());
    return record(SGEMM, "sgemm", sgemm, 3) != WW_OK || record(VECTORADD, "vectoradd", add_words, 1) != WW_OK;
}

static int clean(void **state) {
    (void)state;
    for (int i = 0; i < KERNELS; i++) unlink(plain[i]);
    return unlink(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_streams_that_fill_half_of_the_gpu_take_as_long_as_one),
        cmocka_unit_test(a_launch_takes_as_many_cycles_as_alone_where_nothing_is_shared),
        cmocka_unit_test(absent_ctas_are_left_out),
        cmocka_unit_test(more_launches_than_a_group_holds_are_replayed),
        cmocka_unit_test(a_launch_of_the_same_stream_waits),
        cmocka_unit_test(copies_between_launches_of_a_group_are_there),
        cmocka_unit_test(modes_that_take_launches_in_a_row_say_so),
        cmocka_unit_test(a_launch_waits_for_those_that_it_names),
        cmocka_unit_test(shared_times_add_up_to_what_elapsed),
        cmocka_unit_test(launches_share_what_an_sm_has),
        cmocka_unit_test(only_so_many_launches_are_resident),
        cmocka_unit_test(ctas_of_a_later_launch_come_when_an_earlier_has_none_left),
        cmocka_unit_test(branches_of_a_graph_are_as_streams),
        cmocka_unit_test(machine_counts_and_energy_are_shared_out_whole),
        cmocka_unit_test(a_database_keeps_where_launches_stood),
    };
    return cmocka_run_group_tests(tests, record_all, clean);
}
