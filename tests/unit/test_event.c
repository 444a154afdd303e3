#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/base/rng.h"
#include "estimator/core/time/event.h"
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 400, FIRINGS_MAX = 20000 };

struct world {
    struct ww_queue *queue;
    struct ww_event event[EVENTS];
    uint64_t fired_time[FIRINGS_MAX];
    uint32_t fired[FIRINGS_MAX];
    size_t count;
};

static void fire(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct world *w = owner;
    assert_true(w->count < FIRINGS_MAX);
    assert_int_equal(now_ps, event->time);
    w->fired[w->count] = (uint32_t)(event - w->event);
    w->fired_time[w->count++] = now_ps;
}

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->queue = ww_queue_new(700);
    assert_non_null(w->queue);
    for (size_t i = 0; i < EVENTS; i++) w->event[i] = (struct ww_event){.fn = fire, .owner = w};
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    ww_queue_free(w->queue);
    free(w);
    return 0;
}

static void events_fire_in_order_of_time(void **state) {
    struct world *w = *state;
    const uint64_t times[] = {5000, 1, 900000000, 5001, 250000, 3, 800000000};
    const uint32_t expected[] = {1, 5, 0, 3, 4, 6, 2};
    for (size_t i = 0; i < 7; i++) ww_queue_add(w->queue, &w->event[i], times[i]);
    while (ww_queue_step(w->queue)) {
    }
    assert_int_equal(w->count, 7);
    assert_memory_equal(w->fired, expected, sizeof expected);
    assert_int_equal(ww_queue_now(w->queue), 900000000);
}

static void events_of_one_time_fire_in_order_of_scheduling(void **state) {
    struct world *w = *state;
    const uint32_t order[] = {3, 1, 2, 0};
    /* One of them is scheduled when the time is far ahead, the others when it is near. */
    ww_queue_add(w->queue, &w->event[3], 1000000);
    ww_queue_add(w->queue, &w->event[9], 999999);
    assert_true(ww_queue_step(w->queue));
    ww_queue_add(w->queue, &w->event[1], 1000000);
    ww_queue_add(w->queue, &w->event[2], 1000000);
    ww_queue_add(w->queue, &w->event[0], 1000000);
    while (ww_queue_step(w->queue)) {
    }
    assert_memory_equal(w->fired + 1, order, sizeof order);
}

static void what_is_scheduled_late_fires_as_if_it_had_been_in_time(void **state) {
    struct world *w = *state;
    const uint32_t expected[] = {0, 1, 2, 4, 5, 3};
    ww_queue_keyed(w->queue);
    ww_queue_add(w->queue, &w->event[0], 50);
    ww_queue_add(w->queue, &w->event[1], 60);
    ww_queue_step(w->queue);
    ww_queue_add(w->queue, &w->event[2], 200); /* at 50 */
    ww_queue_step(w->queue);
    ww_queue_add(w->queue, &w->event[3], 200); /* at 60 */
    ww_queue_late(w->queue, 50);
    ww_queue_earlier(w->queue, &w->event[4], 200); /* at 50, after its events */
    ww_queue_late(w->queue, 55);
    ww_queue_earlier(w->queue, &w->event[5], 200);
    ww_queue_on_time(w->queue);
    while (ww_queue_step(w->queue)) {
    }
    assert_int_equal(w->count, 6);
    assert_memory_equal(w->fired, expected, sizeof expected);
}

/* An owner fires at 50, and then schedules event 1 for 200; event 2 of the owner comes late for the same time.
 */
static void late_after_place(struct world *w, uint64_t late_ps) {
    ww_queue_keyed(w->queue);
    ww_queue_add(w->queue, &w->event[0], 50);
    ww_queue_step(w->queue);
    uint64_t place = ww_queue_place(w->queue);
    ww_queue_add(w->queue, &w->event[1], 200);
    ww_queue_late(w->queue, late_ps);
    ww_queue_earlier_since(w->queue, &w->event[2], 200, place);
    ww_queue_on_time(w->queue);
    while (ww_queue_step(w->queue)) {
    }
    assert_int_equal(w->count, 3);
}

static void a_late_event_does_not_go_before_the_place_that_it_is_to_follow(void **state) {
    struct world *w = *state;
    late_after_place(w, 40); /* before the place; that is before event 1 */
    assert_int_equal(w->fired[1], 2);
}

static void a_late_event_stays_behind_what_was_scheduled_before(void **state) {
    struct world *w = *state;
    late_after_place(w, 50);
    assert_int_equal(w->fired[1], 1);
}

static void a_cancelled_event_does_not_fire(void **state) {
    struct world *w = *state;
    ww_queue_add(w->queue, &w->event[0], 100);
    ww_queue_add(w->queue, &w->event[1], 100);
    ww_queue_add(w->queue, &w->event[2], 10000000000);
    ww_queue_cancel(w->queue, &w->event[0]);
    ww_queue_cancel(w->queue, &w->event[2]);
    ww_queue_cancel(w->queue, &w->event[7]); /* not queued: nothing happens */
    assert_true(ww_queue_step(w->queue));
    assert_int_equal(w->fired[0], 1);
    assert_int_equal(ww_queue_next(w->queue), UINT64_MAX);
    assert_false(ww_queue_step(w->queue));
}

static void earlier_moves_an_event_only_forward(void **state) {
    struct world *w = *state;
    ww_queue_earlier(w->queue, &w->event[0], 500);
    ww_queue_earlier(w->queue, &w->event[0], 700);
    assert_int_equal(ww_queue_next(w->queue), 500);
    ww_queue_earlier(w->queue, &w->event[0], 300);
    assert_int_equal(ww_queue_next(w->queue), 300);
    assert_true(ww_queue_step(w->queue));
    assert_false(ww_queue_step(w->queue));
}

/* A model of the queue: the pending event with the least (time, order). */
static size_t model_first(const struct world *w) {
    size_t first = EVENTS;
    for (size_t i = 0; i < EVENTS; i++) {
        const struct ww_event *e = &w->event[i], *f = first < EVENTS ? &w->event[first] : NULL;
        if (e->queued && (!f || e->time < f->time || (e->time == f->time && e->order < f->order))) first = i;
    }
    return first;
}

static uint64_t random_delay(struct ww_rng *rng) {
    switch (ww_rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return ww_rng_below(rng, 3000);
    case 2:
        return ww_rng_below(rng, 300000);
    default:
        return ww_rng_below(rng, 30000000);
    }
}

static void random_scheduling_agrees_with_a_plain_search(void **state) {
    struct world *w = *state;
    struct ww_rng rng;
    ww_rng_seed(&rng, 42);
    for (int round = 0; round < 20000; round++) {
        struct ww_event *e = &w->event[ww_rng_below(&rng, EVENTS)];
        uint64_t now = ww_queue_now(w->queue);
        uint32_t what = ww_rng_below(&rng, 10);
        if (what < 5 && !e->queued) ww_queue_add(w->queue, e, now + random_delay(&rng));
        if (what == 5) ww_queue_cancel(w->queue, e);
        if (what == 6) ww_queue_earlier(w->queue, e, now + random_delay(&rng));
        if (what < 7) continue;
        size_t first = model_first(w);
        assert_int_equal(ww_queue_next(w->queue), first < EVENTS ? w->event[first].time : UINT64_MAX);
        w->count = 0;
        assert_int_equal(ww_queue_step(w->queue), first < EVENTS);
        if (first < EVENTS) assert_int_equal(w->fired[0], first);
    }
}

static void a_clock_does_not_drift(void **state) {
    (void)state;
    const double mhz[] = {700, 850, 924, 1279, 1380, 1401, 1753};
    for (size_t i = 0; i < sizeof mhz / sizeof mhz[0]; i++) {
        struct ww_clock c;
        ww_clock_init(&c, mhz[i]);
        uint64_t cycle = 1000000000;
        double exact = (double)cycle * 1e6 / mhz[i], got = (double)ww_clock_time(&c, cycle);
        assert_true(got > exact * (1 - 2e-8) && got < exact * (1 + 2e-8));
    }
}

static void cycle_is_the_first_edge_at_or_after_a_time(void **state) {
    (void)state;
    struct ww_clock c;
    ww_clock_init(&c, 1401);
    for (uint64_t k = 0; k < 100000; k += 7) {
        uint64_t t = ww_clock_time(&c, k);
        assert_int_equal(ww_clock_cycle(&c, t), k);
        assert_int_equal(ww_clock_cycle(&c, t + 1), k + 1);
    }
    uint64_t late = ww_clock_time(&c, (uint64_t)1 << 38); /* beyond the short way of computing it */
    assert_int_equal(ww_clock_cycle(&c, late), (uint64_t)1 << 38);
    assert_int_equal(ww_clock_cycle(&c, late + 1), ((uint64_t)1 << 38) + 1);
}

static void a_frequency_change_takes_effect_at_once(void **state) {
    (void)state;
    struct ww_clock c;
    ww_clock_init(&c, 1000);
    /* At 10250 ps, three quarters of cycle 10 to 11 are left: at 500 MHz they take 1500 ps. */
    ww_clock_set(&c, 500, 10250);
    assert_int_equal(ww_clock_cycle(&c, 10250), 11);
    assert_int_equal(ww_clock_time(&c, 11), 11750);
    assert_int_equal(ww_clock_time(&c, 12), 13750);
    /* On an edge the whole next cycle is of the new length. */
    ww_clock_set(&c, 1000, 13750);
    assert_int_equal(ww_clock_time(&c, 12), 13750);
    assert_int_equal(ww_clock_time(&c, 13), 14750);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_fire_in_order_of_time, setup, teardown),
        cmocka_unit_test_setup_teardown(events_of_one_time_fire_in_order_of_scheduling, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_scheduled_late_fires_as_if_it_had_been_in_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_late_event_does_not_go_before_the_place_that_it_is_to_follow, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_late_event_stays_behind_what_was_scheduled_before, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cancelled_event_does_not_fire, setup, teardown),
        cmocka_unit_test_setup_teardown(earlier_moves_an_event_only_forward, setup, teardown),
        cmocka_unit_test_setup_teardown(random_scheduling_agrees_with_a_plain_search, setup, teardown),
        cmocka_unit_test(a_clock_does_not_drift),
        cmocka_unit_test(cycle_is_the_first_edge_at_or_after_a_time),
        cmocka_unit_test(a_frequency_change_takes_effect_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
