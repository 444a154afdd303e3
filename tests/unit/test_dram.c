#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/core/dram.h"
#include "memsys_fixture.h"
#include <string.h>

enum { DONE_MAX = 512 };

/* One channel alone; a cycle is 1000 ps. Requests are told apart by `miss`. */
struct bench {
    struct ww_gpu_spec spec;
    struct ww_arena arena;
    struct ww_queue *queue;
    struct ww_dram *dram;
    uint64_t counter[WW_COUNTER_COUNT];
    uint32_t done[DONE_MAX];
    uint64_t cycle[DONE_MAX]; /* of arrival at the slice */
    size_t count, written, room;
    size_t reads_done_before_first_write;
};

static void on_done(void *context, const struct ww_dram_request *request, uint64_t ps) {
    struct bench *b = context;
    assert_true(b->count < DONE_MAX && ps >= ww_queue_now(b->queue));
    b->done[b->count] = request->miss;
    b->cycle[b->count++] = ps / 1000;
}

static void on_written(void *context, const struct ww_dram_request *request) {
    struct bench *b = context;
    (void)request;
    if (b->written++ == 0) b->reads_done_before_first_write = b->count;
}

static void on_room(void *context, uint32_t channel, uint64_t ps) {
    struct bench *b = context;
    (void)channel;
    (void)ps;
    b->room++;
}

static void start(struct bench *b) {
    struct ww_dram_client client = {b, on_done, on_written, on_room};
    ww_arena_init(&b->arena, 0);
    b->queue = ww_queue_new(1000);
    assert_non_null(b->queue);
    b->dram = ww_dram_new(&b->spec, b->queue, &client, b->counter, &b->arena);
    assert_non_null(b->dram);
}

static void stop(struct bench *b) {
    ww_arena_free(&b->arena);
    ww_queue_free(b->queue);
}

static void push(struct bench *b, uint32_t id, uint32_t bank, uint32_t row, uint16_t bursts, uint8_t direction,
                 uint64_t cycle) {
    struct ww_dram_request r = {
        .place = {bank, row}, .miss = id, .mask = 1, .bursts = bursts, .direction = direction};
    assert_true(ww_dram_has_room(b->dram, 0, direction));
    ww_dram_push(b->dram, 0, &r, cycle * 1000);
}

static void drain(struct bench *b) {
    while (ww_queue_step(b->queue)) {
    }
}

/* Cycle at which request `id` was done. */
static uint64_t when(const struct bench *b, uint32_t id) {
    for (size_t i = 0; i < b->count; i++)
        if (b->done[i] == id) return b->cycle[i];
    fail_msg("request %u is not done", id);
    return 0;
}

/* ---- one access ---- */

static void a_read_of_a_closed_bank_takes_trcd_tcl_burst_and_latency(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    assert_int_equal(when(&b, 1), 100 + 14 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 0);
    stop(&b);
}

static void a_row_hit_takes_tcl_burst_and_latency(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 2), 1000 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 1);
    stop(&b);
}

static void a_row_conflict_adds_trp(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 2), 1000 + 13 + 14 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_PRECHARGE], 1);
    stop(&b);
}

static void a_row_stays_open_for_tras(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 100);
    drain(&b);
    assert_int_equal(when(&b, 2), 100 + 30 + 13 + 14 + 12 + 1 + 50);
    stop(&b);
}

static void the_closed_page_policy_closes_a_row_after_its_last_hit(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_page = 1;
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 2), 1000 + 14 + 12 + 1 + 50); /* no precharge to wait for */
    assert_int_equal(b.counter[WW_C_DRAM_PRECHARGE], 2);
    stop(&b);
}

/* ---- between accesses ---- */

static void bursts_of_one_bank_group_are_tccd_l_apart(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 4, WW_DRAM_READ, 100);
    drain(&b);
    assert_int_equal(when(&b, 1), 100 + 14 + 3 * 2 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 3);
    stop(&b);
}

static void bursts_of_two_bank_groups_interleave_at_tccd(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    push(&b, 2, 1, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 3, 0, 5, 4, WW_DRAM_READ, 1000);
    push(&b, 4, 1, 5, 4, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 6 + 12 + 1 + 50);
    assert_int_equal(when(&b, 4), 1000 + 7 + 12 + 1 + 50);
    stop(&b);
}

static void activates_are_trrd_apart(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t i = 0; i < 3; i++) push(&b, i, i, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(when(&b, i), 100 + 4 * i + 14 + 12 + 1 + 50);
    stop(&b);
}

/* Five activates; the fifth is asked for at `cycle`. Returns its activate's cycle. */
static uint64_t fifth_activate(uint64_t cycle) {
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t i = 0; i < 4; i++) push(&b, i, i, 5, 1, WW_DRAM_READ, 100);
    while (ww_queue_next(b.queue) < cycle * 1000) ww_queue_step(b.queue);
    push(&b, 4, 4, 5, 1, WW_DRAM_READ, cycle);
    drain(&b);
    uint64_t act = when(&b, 4) - 14 - 12 - 1 - 50;
    stop(&b);
    return act;
}

static void the_fifth_activate_waits_for_tfaw_and_no_longer(void **state) {
    (void)state;
    assert_int_equal(fifth_activate(119), 120); /* one cycle before the window ends: blocked */
    assert_int_equal(fifth_activate(120), 120); /* ready on the cycle */
    assert_int_equal(fifth_activate(121), 121);
}

static void a_read_after_a_write_waits_for_twtr(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 1, WW_DRAM_WRITE, 1000);
    assert_true(ww_queue_step(b.queue)); /* no read waits: the write goes at 1000 */
    push(&b, 3, 0, 5, 1, WW_DRAM_READ, 1001);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 4 + 1 + 5 + 12 + 1 + 50);
    stop(&b);
}

static void a_written_row_closes_twr_after_the_data(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 1, WW_DRAM_WRITE, 1000);
    assert_true(ww_queue_step(b.queue));
    push(&b, 3, 0, 6, 1, WW_DRAM_READ, 1001);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 4 + 1 + 11 + 13 + 14 + 12 + 1 + 50);
    stop(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_a_closed_bank_takes_trcd_tcl_burst_and_latency),
        cmocka_unit_test(a_row_hit_takes_tcl_burst_and_latency),
        cmocka_unit_test(a_row_conflict_adds_trp),
        cmocka_unit_test(a_row_stays_open_for_tras),
        cmocka_unit_test(the_closed_page_policy_closes_a_row_after_its_last_hit),
        cmocka_unit_test(bursts_of_one_bank_group_are_tccd_l_apart),
        cmocka_unit_test(bursts_of_two_bank_groups_interleave_at_tccd),
        cmocka_unit_test(activates_are_trrd_apart),
        cmocka_unit_test(the_fifth_activate_waits_for_tfaw_and_no_longer),
        cmocka_unit_test(a_read_after_a_write_waits_for_twtr),
        cmocka_unit_test(a_written_row_closes_twr_after_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
