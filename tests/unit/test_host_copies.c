/* Copies on engines of their own: in the trace, among launches of a replay, in the database. */
#include "../../estimator/warpwatt.h"
#include "../../traces/host_copy.h"
#include "../../traces/trace.h"
#include "../../traces/wwt/writer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char plain[64], made[64], store[64];
static struct ww_error error;

static void must(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

/* An operation: a launch if it has no bytes. */
struct step {
    uint32_t stream;
    uint64_t bytes;
    enum ww_copy_way way;
    bool pageable;
    uint64_t wait; /* an operation + 1; 0: none */
};

#define MB ((uint64_t)1 << 20)

static void add_launch(struct ww_trace_writer *w, const struct step *s) {
    struct ww_trace *t;
    const struct ww_launch *l;
    uint32_t copy = (uint32_t)((s->wait - 1) / 2), launch = copy;
    must(ww_trace_open(plain, &t, &error));
    must(ww_trace_launch(t, 0, &l, &error));
    struct ww_launch ordered = *l;
    ordered.order = (struct ww_trace_order){.stream = s->stream};
    if (s->wait && WW_OPERATION_IS_COPY(s->wait - 1))
        must(ww_trace_writer_copy_waits(w, &(struct ww_copy_waits){&copy, 1}, &error));
    else if (s->wait)
        ordered.order.wait = &launch, ordered.order.wait_count = 1;
    must(ww_trace_writer_launch(w, &ordered, &error));
    for (uint64_t i = 0; i < l->cta_count; i++) {
        struct ww_cta_trace cta;
        must(ww_trace_load_cta(t, 0, i, &cta, &error));
        must(ww_trace_writer_cta(w, &cta, &error));
        ww_trace_release_cta(t, &cta);
    }
    must(ww_trace_writer_end_launch(w, &error));
    ww_trace_close(t);
}

static void make(const struct step *step, size_t count) {
    struct ww_trace_writer *w;
    must(ww_trace_writer_new(made, NULL, 0, &w, &error));
    for (size_t i = 0; i < count; i++) {
        const struct step *s = &step[i];
        const uint64_t wait = s->wait - 1;
        const struct ww_host_copy c = {.bytes = s->bytes,
                                       .stream = s->stream,
                                       .way = s->way,
                                       .pageable = s->pageable,
                                       .wait = &wait,
                                       .wait_count = s->wait > 0};
        if (s->bytes)
            must(ww_trace_writer_host_copy(w, &c, &error));
        else
            add_launch(w, s);
    }
    must(ww_trace_writer_finish(w, NULL, &error));
}

static struct ww_result *replay_on(const char *engines, bool serialize) {
    struct ww_gpu *gpu;
    struct ww_result *r;
    must(ww_gpu_load("v100", &engines, engines != NULL, &gpu, &error));
    struct ww_run_options o = {.gpu = gpu, .trace_path = made, .mode = "full", .serialize = serialize};
    must(ww_run(&o, &r, &error));
    ww_gpu_free(gpu);
    return r;
}

/* Picoseconds of a copy over the V100's link: 12 GB/s, not pinned 5.5, 1.3 us for each. */
static double copy_ps(uint64_t bytes, bool pageable) {
    return 1.3e6 + (double)bytes / (pageable ? 5.5e-3 : 12e-3);
}

static void near(uint64_t a, double b) {
    if ((double)a < b - 8 || (double)a > b + 8) fail_msg("%.0f instead of %.0f ps", (double)a, b);
}

/* ---- the trace ---- */

static void copies_and_waits_are_read_as_written(void **state) {
    (void)state;
    const struct step steps[] = {{1, 3 * MB, WW_COPY_TO_DEVICE, true, 0},
                                 {0, 0, 0, false, WW_OPERATION_OF_COPY(0) + 1},
                                 {2, 5, WW_COPY_FROM_DEVICE, false, WW_OPERATION_OF_LAUNCH(0) + 1},
                                 {7, 1, WW_COPY_FILL, false, WW_OPERATION_OF_COPY(1) + 1}};
    struct ww_trace *t;
    make(steps, 4);
    must(ww_trace_open(made, &t, &error));
    const struct ww_host_order *h = ww_trace_host_order(t);
    assert_int_equal(h->copy_count, 3);
    assert_int_equal(h->copy[0].bytes, 3 * MB);
    assert_true(h->copy[0].pageable && !h->copy[1].pageable);
    assert_int_equal(h->copy[0].launch, 0);
    assert_int_equal(h->copy[1].launch, 1);
    assert_int_equal(h->copy[1].wait[0], WW_OPERATION_OF_LAUNCH(0));
    assert_int_equal(h->copy[2].wait[0], WW_OPERATION_OF_COPY(1));
    assert_int_equal(h->copy[2].stream, 7);
    assert_int_equal(h->copy[2].way, WW_COPY_FILL);
    assert_int_equal(h->launch[0].count, 1);
    assert_int_equal(h->launch[0].copy[0], 0);
    ww_trace_close(t);
}

static void a_copy_that_waits_for_a_later_one_is_refused(void **state) {
    (void)state;
    struct ww_trace_writer *w;
    const uint64_t itself = WW_OPERATION_OF_COPY(0);
    const struct ww_host_copy bad = {.bytes = 1, .wait = &itself, .wait_count = 1}, empty = {.bytes = 0};
    must(ww_trace_writer_new(made, NULL, 0, &w, &error));
    assert_int_equal(ww_trace_writer_host_copy(w, &bad, &error), WW_INTERNAL);
    assert_int_equal(ww_trace_writer_host_copy(w, &empty, &error), WW_INTERNAL);
    ww_trace_writer_abort(w);
}

/* ---- the replay ---- */

static void a_stream_takes_the_sum_of_its_operations(void **state) {
    (void)state;
    const struct step steps[] = {{0, 3 * MB, WW_COPY_TO_DEVICE, true, 0},
                                 {0, MB, WW_COPY_TO_DEVICE, false, 0},
                                 {0, 0, 0, false, 0},
                                 {0, 0, 0, false, 0},
                                 {0, 2 * MB, WW_COPY_FROM_DEVICE, false, 0}};
    make(steps, 5);
    struct ww_result *r = replay_on(NULL, false), *row = replay_on(NULL, true);
    double copies = copy_ps(3 * MB, true) + copy_ps(MB, false) + copy_ps(2 * MB, false);
    near(r->with_copies_ps, (double)r->time_ps + copies);
    near(r->launch[0].with_copies_start_ps, copy_ps(3 * MB, true) + copy_ps(MB, false));
    assert_int_equal(r->copy[2].engine, 1);
    assert_int_equal(row->with_copies_ps, r->with_copies_ps);
    ww_result_free(r);
    ww_result_free(row);
}

enum { BUFFERS = 8 };

static void double_buffering_overlaps(void **state) {
    (void)state;
    struct step steps[3 * BUFFERS];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        uint32_t stream = 1 + i % 2;
        steps[3 * i] = (struct step){stream, MB / 8, WW_COPY_TO_DEVICE, false, 0};
        steps[3 * i + 1] = (struct step){stream, 0, 0, false, 0};
        steps[3 * i + 2] = (struct step){stream, MB / 8, WW_COPY_FROM_DEVICE, false, 0};
    }
    make(steps, 3 * BUFFERS);
    struct ww_result *two = replay_on(NULL, false), *row = replay_on(NULL, true);
    double all = (double)row->time_ps + 2 * BUFFERS * copy_ps(MB / 8, false);
    near(row->with_copies_ps, all);
    assert_true((double)two->with_copies_ps < 0.75 * all);
    assert_true((double)two->with_copies_ps > BUFFERS * copy_ps(MB / 8, false)); /* one engine a direction */
    assert_true(two->copy[2].start_ps < two->launch[0].with_copies_end_ps);      /* the second buffer's */
    for (uint32_t i = 0; i < BUFFERS; i++) { /* and each kernel has its own copies around it */
        assert_true(two->launch[i].with_copies_start_ps >= two->copy[2 * i].end_ps);
        assert_true(two->copy[2 * i + 1].start_ps >= two->launch[i].with_copies_end_ps);
    }
    ww_result_free(two);
    ww_result_free(row);
}

static void an_engine_takes_one_copy_at_a_time(void **state) {
    (void)state;
    const struct step steps[] = {{1, MB, WW_COPY_TO_DEVICE, false, 0},
                                 {2, MB, WW_COPY_TO_DEVICE, false, 0},
                                 {3, MB, WW_COPY_FROM_DEVICE, false, 0}};
    make(steps, 3);
    struct ww_result *two = replay_on("host.copy_engines=2", false),
                     *one = replay_on("host.copy_engines=1", false);
    near(two->copy[1].end_ps, 2 * copy_ps(MB, false));
    near(two->copy[2].end_ps, copy_ps(MB, false));
    near(one->copy[2].end_ps, 3 * copy_ps(MB, false));
    assert_int_equal(one->copy[2].engine, 0);
    ww_result_free(two);
    ww_result_free(one);
}

static void operations_wait_for_those_of_other_streams(void **state) {
    (void)state;
    const struct step steps[] = {{1, MB, WW_COPY_TO_DEVICE, false, 0},
                                 {2, 0, 0, false, WW_OPERATION_OF_COPY(0) + 1},
                                 {3, MB, WW_COPY_FROM_DEVICE, false, WW_OPERATION_OF_LAUNCH(0) + 1},
                                 {4, MB, WW_COPY_FROM_DEVICE, false, WW_OPERATION_OF_COPY(1) + 1}};
    make(steps, 4);
    struct ww_result *r = replay_on(NULL, false);
    near(r->launch[0].with_copies_start_ps, copy_ps(MB, false));
    assert_int_equal(r->copy[1].start_ps, r->launch[0].with_copies_end_ps);
    assert_int_equal(r->copy[2].start_ps, r->copy[1].end_ps);
    ww_result_free(r);
}

/* A copy that nothing waits for changes nothing. */
static void launches_side_by_side_end_when_the_replay_says(void **state) {
    (void)state;
    const struct step steps[] = {{9, 16, WW_COPY_TO_DEVICE, false, 0},
                                 {1, 0, 0, false, 0},
                                 {2, 0, 0, false, 0},
                                 {2, 0, 0, false, 0},
                                 {3, 0, 0, false, WW_OPERATION_OF_LAUNCH(0) + 1},
                                 {0, 0, 0, false, WW_OPERATION_OF_LAUNCH(2) + 1}};
    make(steps, 6);
    struct ww_result *r = replay_on(NULL, false);
    assert_int_equal(r->launch[2].concurrent, 1);
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        near(l->with_copies_start_ps, (double)l->start_ps);
        near(l->with_copies_end_ps, (double)(l->start_ps + l->time_ps));
    }
    ww_result_free(r);
}

/* ---- the database ---- */

static void a_run_with_copies_comes_back_from_the_database(void **state) {
    (void)state;
    const struct step steps[] = {
        {1, MB, WW_COPY_TO_DEVICE, true, 0}, {1, 0, 0, false, 0}, {1, 64, WW_COPY_WITHIN, false, 0}};
    struct ww_db *db;
    struct ww_result *back;
    int64_t id;
    make(steps, 3);
    struct ww_result *r = replay_on(NULL, false);
    unlink(store);
    must(ww_db_open(store, true, &db, &error));
    must(ww_db_store(db, r, &id, &error));
    must(ww_db_load(db, id, &back, &error));
    assert_int_equal(back->copy_count, 2);
    assert_memory_equal(back->copy, r->copy, 2 * sizeof *r->copy);
    assert_int_equal(back->with_copies_ps, r->with_copies_ps);
    assert_int_equal(back->launch[0].with_copies_end_ps, r->launch[0].with_copies_end_ps);
    assert_int_equal(back->copy[1].engine, WW_COPY_NO_ENGINE);
    ww_result_free(r);
    ww_result_free(back);
    ww_db_close(db);
}

static int set_up(void **state) {
    (void)state;
    struct ww_record_options o = {.out_path = plain, .code = WW_RECORD_PTX};
    struct ww_record_stats stats;
    const char *const parameter[] = {"n=65536"};
    snprintf(plain, sizeof plain, "/tmp/ww-host-plain-%ld.wwt", (long)getpid());
    snprintf(made, sizeof made, "/tmp/ww-host-made-%ld.wwt", (long)getpid());
    snprintf(store, sizeof store, "/tmp/ww-host-%ld.db", (long)getpid());
    return ww_record_workload("vectoradd", parameter, 1, &o, &stats, &error) == WW_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    unlink(plain);
    unlink(made);
    unlink(store);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_and_waits_are_read_as_written),
        cmocka_unit_test(a_copy_that_waits_for_a_later_one_is_refused),
        cmocka_unit_test(a_stream_takes_the_sum_of_its_operations),
        cmocka_unit_test(double_buffering_overlaps),
        cmocka_unit_test(an_engine_takes_one_copy_at_a_time),
        cmocka_unit_test(operations_wait_for_those_of_other_streams),
        cmocka_unit_test(launches_side_by_side_end_when_the_replay_says),
        cmocka_unit_test(a_run_with_copies_comes_back_from_the_database),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
