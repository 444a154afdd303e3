/* What a replay keeps for its timeline: CTAs and counters by epoch, and that keeping them changes nothing. */
#include "../../estimator/warpwatt.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { CTAS = 300 };

struct fixture {
    struct ww_gpu *gpu;
    char path[64];
};

/* A trace of CTAS CTAs, more than four SMs hold at a time. */
static int set_up(void **state) {
    static struct fixture f;
    const char *set[] = {"sm.count=4"};
    struct ww_record_options record = {.out_path = f.path, .arch = "sm_20"};
    struct ww_record_stats stats;
    char parameter[32];
    const char *parameters[] = {parameter};
    snprintf(f.path, sizeof f.path, "/tmp/wwtimeline-%ld.wwt", (long)getpid());
    snprintf(parameter, sizeof parameter, "n=%d", CTAS * 512);
    *state = &f;
    return ww_gpu_load("gtx480", set, 1, &f.gpu, NULL) != WW_OK ||
           ww_record_workload("saxpy", parameters, 1, &record, &stats, NULL) != WW_OK;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    unlink(f->path);
    ww_gpu_free(f->gpu);
    return 0;
}

static struct ww_result *replay(const struct fixture *f, bool timeline, uint64_t ctas, const char *governor) {
    struct ww_run_options options = {.gpu = f->gpu,
                                     .trace_path = f->path,
                                     .epoch_cycles = 512,
                                     .timeline = timeline,
                                     .timeline_ctas = ctas,
                                     .mechanisms = &governor,
                                     .mechanism_count = governor != NULL};
    struct ww_result *r = NULL;
    struct ww_error error;
    if (ww_run(&options, &r, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return r;
}

static void a_run_without_a_timeline_keeps_neither_ctas_nor_counters_by_epoch(void **state) {
    struct ww_result *r = replay(*state, false, 1000, NULL);
    assert_null(r->launch[0].cta);
    assert_null(r->launch[0].epoch_counter);
    ww_result_free(r);
}

static void keeping_a_timeline_changes_no_figure(void **state) {
    struct ww_result *a = replay(*state, false, 0, NULL), *b = replay(*state, true, 1000, NULL);
    assert_int_equal(a->cycles, b->cycles);
    assert_true(a->energy_j == b->energy_j);
    assert_memory_equal(a->launch[0].counter, b->launch[0].counter, sizeof a->launch[0].counter);
    assert_memory_equal(a->launch[0].warp_cycles, b->launch[0].warp_cycles, sizeof a->launch[0].warp_cycles);
    ww_result_free(a);
    ww_result_free(b);
}

static void every_cta_is_kept_once_and_its_cycles_add_up_to_the_counter(void **state) {
    struct ww_result *r = replay(*state, true, 1000, NULL);
    const struct ww_launch_result *l = &r->launch[0];
    uint64_t cycles = 0;
    assert_int_equal(l->cta_count, CTAS);
    for (size_t i = 0; i < l->cta_count; i++) {
        assert_int_equal(l->cta[i].cta, i); /* the order of dispatch */
        assert_true(l->cta[i].end_cycle > l->cta[i].first_cycle && l->cta[i].end_cycle <= l->cycles);
        assert_true(l->cta[i].sm < 4);
        cycles += l->cta[i].end_cycle - l->cta[i].first_cycle;
    }
    assert_int_equal(cycles, l->counter[WW_C_CTA_CYCLES]);
    ww_result_free(r);
}

static void ctas_in_one_place_of_an_sm_follow_one_another(void **state) {
    struct ww_result *r = replay(*state, true, 1000, "governor=equalizer");
    const struct ww_launch_result *l = &r->launch[0];
    size_t pairs = 0;
    for (size_t i = 0; i < l->cta_count; i++)
        for (size_t k = i + 1; k < l->cta_count; k++) {
            const struct ww_cta_span *a = &l->cta[i], *b = &l->cta[k];
            if (a->sm != b->sm || a->slot != b->slot) continue;
            assert_true(a->end_cycle <= b->first_cycle && a->end_ps <= b->start_ps);
            pairs++;
        }
    assert_true(pairs > CTAS);
    ww_result_free(r);
}

static void no_more_ctas_are_kept_than_were_asked_for(void **state) {
    struct ww_result *r = replay(*state, true, 7, NULL);
    assert_int_equal(r->launch[0].cta_count, 7);
    assert_int_equal(r->launch[0].cta[6].cta, 6);
    ww_result_free(r);
    r = replay(*state, true, 0, NULL);
    assert_int_equal(r->launch[0].cta_count, 0);
    assert_non_null(r->launch[0].epoch_counter);
    ww_result_free(r);
}

static void counters_by_epoch_add_up_to_the_launchs(void **state) {
    struct ww_result *r = replay(*state, true, 0, NULL);
    const struct ww_launch_result *l = &r->launch[0];
    assert_true(l->epoch_count > 4);
    for (size_t c = 0; c < WW_EPOCH_COUNTERS; c++) {
        uint64_t sum = 0;
        for (size_t e = 0; e < l->epoch_count; e++) sum += l->epoch_counter[e * WW_EPOCH_COUNTERS + c];
        if (sum != l->counter[ww_epoch_counter(c)]) fail_msg("%s", ww_counter_name(ww_epoch_counter(c)));
    }
    assert_true(l->epoch_counter[2 * WW_EPOCH_COUNTERS] > 0);
    ww_result_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_a_timeline_keeps_neither_ctas_nor_counters_by_epoch),
        cmocka_unit_test(keeping_a_timeline_changes_no_figure),
        cmocka_unit_test(every_cta_is_kept_once_and_its_cycles_add_up_to_the_counter),
        cmocka_unit_test(ctas_in_one_place_of_an_sm_follow_one_another),
        cmocka_unit_test(no_more_ctas_are_kept_than_were_asked_for),
        cmocka_unit_test(counters_by_epoch_add_up_to_the_launchs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
