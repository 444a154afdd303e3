#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "estimator/core/memory/xbar.h"
#include "memsys_fixture.h"
#include <string.h>

/* The crossbar alone; a cycle is 1000 ps. */
struct bench {
    struct ww_gpu_spec spec;
    struct ww_arena arena;
    struct ww_queue *queue;
    struct ww_clock clock;
    struct ww_xbar xbar;
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t reply_ps[64];
    uint32_t reply_tag[64];
    size_t replies, freed;
    bool wants_more;
    uint64_t unblocked_ps[64];
    uint16_t unblocked_sm[64];
    size_t unblocked;
};

static void on_reply(void *context, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct bench *b = context;
    (void)sm;
    b->reply_tag[b->replies] = reply->tag;
    b->reply_ps[b->replies++] = now_ps;
}

static void on_unblocked(void *context, uint16_t sm, uint64_t now_ps) {
    struct bench *b = context;
    b->unblocked_sm[b->unblocked] = sm;
    b->unblocked_ps[b->unblocked++] = now_ps;
}

static bool on_delivered(void *context, uint32_t slice, uint64_t now_ps) {
    struct bench *b = context;
    (void)slice;
    (void)now_ps;
    b->freed++;
    return b->wants_more;
}

static void reply_from(struct bench *b, uint32_t slice, uint16_t sm, const struct ww_mem_reply *reply,
                       uint32_t payload, uint64_t cycle) {
    *ww_xbar_next(&b->xbar) = *reply;
    ww_xbar_reply(&b->xbar, slice, sm, payload, cycle);
}

static void start(struct bench *b) {
    struct ww_memsys_client client = {b, on_reply, on_unblocked};
    ww_arena_init(&b->arena, 0);
    b->queue = ww_queue_new(1000);
    assert_non_null(b->queue);
    ww_clock_init(&b->clock, 1000);
    assert_true(ww_xbar_init(&b->xbar, &b->spec, b->queue, &b->clock, &client, b->counter, &b->arena));
    b->xbar.delivered = on_delivered;
    b->xbar.delivered_context = b;
}

static void stop(struct bench *b) {
    ww_arena_free(&b->arena);
    ww_queue_free(b->queue);
}

static void a_lone_request_takes_the_latency_and_its_further_flits(void **state) {
    (void)state;
    struct bench b = {0};
    uint64_t ready;
    small_spec(&b.spec);
    start(&b);
    assert_true(ww_xbar_send(&b.xbar, 0, 0, 0, 0, &ready));
    assert_int_equal(ready, 10);
    assert_true(ww_xbar_send(&b.xbar, 1, 1, 128, 0, &ready)); /* 136 bytes: 4 flits */
    assert_int_equal(ready, 13);
    assert_int_equal(b.counter[WW_C_XBAR_REQUEST], 2);
    assert_int_equal(b.counter[WW_C_XBAR_REQUEST_FLIT], 5);
    stop(&b);
}

static void packets_to_one_slice_wait_for_its_port(void **state) {
    (void)state;
    struct bench b = {0};
    uint64_t first, second, other;
    small_spec(&b.spec);
    start(&b);
    assert_true(ww_xbar_send(&b.xbar, 0, 0, 128, 0, &first));
    assert_true(ww_xbar_send(&b.xbar, 1, 0, 0, 0, &second));
    assert_int_equal(first, 13);
    assert_int_equal(second, 14); /* offered later, so behind the other's four flits */
    assert_true(ww_xbar_send(&b.xbar, 1, 1, 0, 0, &other));
    assert_int_equal(other, 11); /* only its own port's cycle */
    stop(&b);
}

static void a_port_refuses_beyond_its_backlog_and_calls_back(void **state) {
    (void)state;
    struct bench b = {0};
    uint64_t ready;
    small_spec(&b.spec);
    b.spec.xbar_request_queue = 100;
    start(&b);
    assert_true(ww_xbar_send(&b.xbar, 0, 0, 128, 0, &ready));
    assert_true(ww_xbar_send(&b.xbar, 0, 1, 128, 0, &ready)); /* 8 cycles of backlog now */
    assert_false(ww_xbar_send(&b.xbar, 0, 0, 0, 0, &ready));
    assert_int_equal(b.counter[WW_C_XBAR_REQUEST], 2);
    while (ww_queue_step(b.queue)) {
    }
    assert_int_equal(b.unblocked, 1);
    assert_int_equal(b.unblocked_sm[0], 0);
    assert_true(ww_xbar_send(&b.xbar, 0, 0, 0, b.unblocked_ps[0], &ready));
    stop(&b);
}

static void a_reply_comes_not_before_the_time_up_to_which_a_port_is_quiet(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    const struct ww_mem_reply reply = {.tag = 1};
    uint64_t none = ww_xbar_quiet(&b.xbar, 0, 5000);
    reply_from(&b, 0, 0, &reply, 0, 5); /* sent at that very time */
    assert_int_equal(none, 15000);
    assert_int_equal(ww_xbar_quiet(&b.xbar, 0, 5000), 15000);
    assert_int_equal(ww_xbar_quiet(&b.xbar, 0, 9000), 15000); /* it is known, a later one would take longer */
    assert_int_equal(ww_xbar_quiet(&b.xbar, 1, 9000), 19000);
    while (ww_queue_step(b.queue)) {
    }
    assert_int_equal(b.reply_ps[0], 15000);
    stop(&b);
}

static void sms_of_a_cluster_share_a_port(void **state) {
    (void)state;
    struct bench b = {0};
    uint64_t ready;
    small_spec(&b.spec);
    b.spec.sm_count = 4;
    b.spec.xbar_sms_per_port = 2;
    start(&b);
    assert_true(ww_xbar_send(&b.xbar, 0, 0, 128, 0, &ready));
    assert_true(ww_xbar_send(&b.xbar, 1, 1, 0, 0, &ready));
    assert_int_equal(ready, 14);
    assert_true(ww_xbar_send(&b.xbar, 2, 1, 0, 0, &ready));
    assert_int_equal(ready, 15); /* its port is free, the slice's is not */
    stop(&b);
}

static void a_full_slice_refuses_and_calls_back_in_turn(void **state) {
    (void)state;
    struct bench b = {0};
    uint64_t ready, now = 0;
    small_spec(&b.spec);
    b.spec.sm_count = 3;
    b.spec.xbar_request_queue = 1;
    b.spec.xbar_latency = 0;
    b.spec.l2_latency = 1; /* room for two packets */
    start(&b);
    assert_true(ww_xbar_send(&b.xbar, 0, 0, 0, now, &ready));
    assert_true(ww_xbar_send(&b.xbar, 1, 0, 0, now, &ready));
    assert_false(ww_xbar_send(&b.xbar, 2, 0, 0, now, &ready));
    assert_false(ww_xbar_send(&b.xbar, 1, 0, 0, now, &ready));
    assert_true(ww_xbar_send(&b.xbar, 2, 1, 0, now, &ready)); /* the other slice is free */
    ww_xbar_taken(&b.xbar, 0);
    ww_xbar_wake(&b.xbar, 0, 5000);
    assert_int_equal(b.unblocked, 1); /* room for one: one is called */
    ww_xbar_taken(&b.xbar, 0);
    ww_xbar_wake(&b.xbar, 0, 6000);
    assert_int_equal(b.unblocked, 2);
    assert_true(b.unblocked_sm[0] != b.unblocked_sm[1]);
    stop(&b);
}

static void replies_arrive_in_order(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    struct ww_mem_reply reply = {.tag = 1};
    reply_from(&b, 0, 0, &reply, 128, 100);
    reply.tag = 2;
    reply_from(&b, 1, 0, &reply, 32, 101);
    while (ww_queue_step(b.queue)) {
    }
    assert_int_equal(b.replies, 2);
    assert_int_equal(b.reply_tag[0], 1);
    assert_int_equal(b.reply_ps[0], 113000); /* 100 + latency 10 + 3 further flits */
    assert_int_equal(b.reply_ps[1], 114000); /* behind them at the SM's port */
    assert_int_equal(b.freed, 0);            /* nobody waited for room */
    assert_int_equal(b.counter[WW_C_XBAR_REPLY_FLIT], 5);
    stop(&b);
}

/* Arrival of the later of two replies of 128 bytes from different slices to ports 0 and `port`. */
static uint64_t second_reply(uint32_t trunks, uint32_t bytes, uint16_t port) {
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.sm_count = 4;
    b.spec.xbar_sms_per_port = 1;
    b.spec.xbar_trunks = trunks;
    b.spec.xbar_trunk_bytes = bytes;
    start(&b);
    struct ww_mem_reply reply = {.tag = 1};
    reply_from(&b, 0, 0, &reply, 128, 100);
    reply_from(&b, 1, port, &reply, 128, 100);
    while (ww_queue_step(b.queue)) {
    }
    uint64_t last = b.reply_ps[b.replies - 1];
    stop(&b);
    return last;
}

static void ports_of_a_trunk_share_its_width(void **state) {
    (void)state;
    uint64_t alone = 113000; /* 100 + latency 10 + 3 further flits */
    assert_int_equal(second_reply(0, 0, 1), alone);
    assert_int_equal(second_reply(2, 16, 1), alone + 8000); /* 128 bytes pass in 8 cycles */
    assert_int_equal(second_reply(2, 16, 2), alone);        /* of the other trunk */
    assert_int_equal(second_reply(1, 24, 3), alone + 5000); /* in 5.33 */
}

static void room_for_replies_is_finite(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.xbar_reply_queue = 2;
    b.spec.xbar_latency = 1;
    start(&b);
    struct ww_mem_reply reply = {0};
    for (int i = 0; i < 3; i++) {
        assert_true(ww_xbar_can_reply(&b.xbar, 0));
        reply_from(&b, 0, 0, &reply, 0, 0);
    }
    assert_false(ww_xbar_can_reply(&b.xbar, 0));
    assert_true(ww_xbar_can_reply(&b.xbar, 1));
    assert_true(ww_queue_step(b.queue));
    assert_true(ww_xbar_can_reply(&b.xbar, 0));
    stop(&b);
}

/* Two replies fill a slice's room: the slice asks for more and waits. */
static size_t calls_after_two_replies(bool wants_more) {
    struct bench b = {.wants_more = wants_more};
    small_spec(&b.spec);
    b.spec.xbar_reply_queue = 2;
    b.spec.xbar_latency = 0;
    start(&b);
    struct ww_mem_reply reply = {0};
    reply_from(&b, 0, 0, &reply, 0, 0);
    reply_from(&b, 0, 0, &reply, 0, 0);
    assert_false(ww_xbar_can_reply(&b.xbar, 0));
    while (ww_queue_step(b.queue)) {
    }
    stop(&b);
    return b.freed;
}

static void a_slice_without_room_is_called_until_it_waits_no_more(void **state) {
    (void)state;
    assert_int_equal(calls_after_two_replies(false), 1);
    assert_int_equal(calls_after_two_replies(true), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_request_takes_the_latency_and_its_further_flits),
        cmocka_unit_test(packets_to_one_slice_wait_for_its_port),
        cmocka_unit_test(a_port_refuses_beyond_its_backlog_and_calls_back),
        cmocka_unit_test(a_reply_comes_not_before_the_time_up_to_which_a_port_is_quiet),
        cmocka_unit_test(sms_of_a_cluster_share_a_port),
        cmocka_unit_test(a_full_slice_refuses_and_calls_back_in_turn),
        cmocka_unit_test(replies_arrive_in_order),
        cmocka_unit_test(ports_of_a_trunk_share_its_width),
        cmocka_unit_test(room_for_replies_is_finite),
        cmocka_unit_test(a_slice_without_room_is_called_until_it_waits_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
