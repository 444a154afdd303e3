/* The analytical model's memory: slices that atomics meet, rows by window, reuse by CTAs side by side. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/core/memory/addrmap.h"
#include "../../estimator/fast/model_part.h"
#include "../../estimator/fast/profile_file.h"
#include "../../estimator/fast/profile_hot.h"
#include "../../estimator/fast/profile_rows.h"
#include "../../estimator/study/validate/analytic/analytic_int.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;

static struct ww_gpu *load(const char *name) {
    struct ww_gpu *gpu;
    assert_int_equal(ww_gpu_load(name, NULL, 0, &gpu, &error), WW_OK);
    return gpu;
}

static struct ww_model_profile profile_of(const char *workload, const char *const *parameter, size_t n) {
    char path[] = "/tmp/warpwatt-memory-XXXXXX.wwt";
    struct ww_record_options o = {.out_path = path, .arch = "sm_20"};
    struct ww_record_stats stats;
    struct ww_model_profile p;
    struct ww_trace *trace;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ww_record_workload(workload, parameter, n, &o, &stats, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    assert_int_equal(ww_model_profile_make(trace, NULL, NULL, &p, &error), WW_OK);
    ww_trace_close(trace);
    remove(path);
    return p;
}

/* ---- atomics ---- */

static void pieces_come_by_their_updates(void **state) {
    (void)state;
    struct ww_kernel_profile p = {.ctas = 1};
    struct ww_hot *h = ww_hot_new();
    for (uint64_t piece = 0; piece < 200;
         piece++) /* piece 150 most, then 151, ... and last the others by address */
        for (uint64_t n = piece < 150 ? 1 : 210 - piece; n > 0; n--) ww_hot_add(h, 1000 + piece);
    ww_hot_most(h, &p);
    ww_hot_free(h);
    for (unsigned i = 0; i < 50; i++) assert_true(p.hot_piece[i] == 1150 + i && p.hot_updates[i] == 60 - i);
    for (unsigned i = 50; i < WW_HOT_PIECES; i++)
        assert_true(p.hot_piece[i] == 950 + i && p.hot_updates[i] == 1);
}

static void updates_of_one_piece_wait_for_one_slice(void **state) {
    (void)state;
    struct ww_gpu *gpu = load("gtx480");
    struct ww_kernel_profile p = {.atomic_updates = 1200, .hot_piece = {5, 6}, .hot_updates = {1000, 100}};
    struct ww_model_traffic t = {.l2_reads = 0};
    struct ww_addrmap map;
    ww_addrmap_init(&map, &gpu->spec);
    assert_true(ww_addrmap_slice(&map, 5 << 8).slice != ww_addrmap_slice(&map, 6 << 8).slice);
    double one = ww_model_slices(&p, &gpu->spec, &t); /* 100 are spread over all slices */
    assert_true(fabs(one - (1000 + 100.0 / gpu->spec.l2_slices) * gpu->spec.l2_atomic_cycles) < 1e-6);
    p.hot_piece[1] = 5;
    double both = ww_model_slices(&p, &gpu->spec, &t);
    assert_true(fabs(both - one - 100.0 * gpu->spec.l2_atomic_cycles) < 1e-6);
    p.hot_updates[0] = 0; /* none is known by address */
    assert_true(ww_model_slices(&p, &gpu->spec, &t) < one / 5);
    ww_gpu_free(gpu);
}

static void a_profile_knows_the_counters_of_a_histogram(void **state) {
    (void)state;
    static const char *const parameter[] = {"n=8000", "bins=64", "variant=global"};
    struct ww_model_profile p = profile_of("histogram", parameter, 3);
    const struct ww_kernel_profile *k = &p.launch[0];
    uint64_t sum = 0;
    for (unsigned i = 0; i < WW_HOT_PIECES; i++) sum += k->hot_updates[i];
    assert_true(k->atomic_updates > 0 && sum == k->atomic_updates);
    assert_true(k->hot_updates[0] > 0 &&
                k->hot_updates[2] == 0); /* 64 counters are 256 bytes: two pieces at most */
    ww_model_profile_free(&p);
}

/* ---- rows ---- */

static double rows_of(uint32_t window, uint32_t shift, double *pieces) {
    struct ww_rows *r = malloc(sizeof *r);
    assert_non_null(r);
    ww_rows_begin(r, window, shift);
    for (uint64_t line = 0; line < 8192; line++) /* sixteen streams side by side, far from one another */
        ww_rows_add(r, (line % 16) << 20 | line / 16, 15);
    ww_rows_end(r);
    double rows = r->all_stretches / r->sectors;
    *pieces = r->all_chunks / r->sectors;
    free(r);
    return rows;
}

static void a_longer_queue_opens_fewer_rows(void **state) {
    (void)state;
    double pieces;
    double few = rows_of(512, 1, &pieces), many = rows_of(8192, 1, &pieces);
    assert_true(fabs(few - 16.0 / 512) < 1e-9 && fabs(many - 16.0 / 8192) < 1e-9);
    assert_true(fabs(pieces - 1.0 / 8) < 1e-9);
    rows_of(8192, 0, &pieces); /* line by line */
    assert_true(fabs(pieces - 1.0 / 4) < 1e-9);
}

/* ---- reuse ---- */

/* Share of the sectors that a cache of so many lines misses. */
static double missed(const struct ww_kernel_profile *k, unsigned level, double lines) {
    double behind = 0, all = 0;
    for (unsigned i = 0; i < WW_REUSE_BINS; i++) {
        all += (double)k->global_reuse[level].sector[i];
        if (ww_reuse_bin_start(i) >= lines) behind += (double)k->global_reuse[level].sector[i];
    }
    return behind / all;
}

static void fewer_ctas_at_a_time_need_less_room(void **state) {
    (void)state;
    static const char *const parameter[] = {"rows=20000"}; /* each lane walks along its own row */
    struct ww_model_profile p = profile_of("spmv", parameter, 1);
    const struct ww_kernel_profile *k = &p.launch[0];
    assert_true(missed(k, 0, 4096) < missed(k, 1, 4096) && missed(k, 1, 4096) < missed(k, 2, 4096));
    assert_true(missed(k, 0, 4096) < 0.5 * missed(k, 2, 4096));
    for (unsigned level = 1; level < WW_GLOBAL_LEVELS; level++)
        assert_true(fabs(missed(k, level, WW_REUSE_BINS * 1e20) - missed(k, 0, WW_REUSE_BINS * 1e20)) < 0.01);
    ww_model_profile_free(&p);
}

static void traffic_follows_the_ctas_that_go_on(void **state) {
    (void)state;
    static const char *const parameter[] = {"rows=20000"};
    struct ww_model_profile p = profile_of("spmv", parameter, 1);
    struct ww_gpu *gpu = load("gtx480");
    struct ww_model_kernel k;
    struct ww_model_traffic few, many;
    ww_model_fold(&p.launch[0], &k);
    ww_model_traffic(&k, &gpu->spec, &ww_model_default, &(struct ww_model_ctas){6, 0, 1, 15}, &few);
    ww_model_traffic(&k, &gpu->spec, &ww_model_default, &(struct ww_model_ctas){6, 0, 6, 15}, &many);
    assert_true(few.dram_reads < many.dram_reads && few.l1_misses <= many.l1_misses);
    ww_gpu_free(gpu);
    ww_model_profile_free(&p);
}

/* ---- files, ranks ---- */

static void a_profile_of_the_version_before_is_refused(void **state) {
    (void)state;
    static const char *const parameter[] = {"n=1000"};
    struct ww_model_profile p = profile_of("vectoradd", parameter, 1), back;
    struct ww_buf text = {0};
    assert_int_equal(ww_model_profile_print(&p, &text, &error), WW_OK);
    assert_int_equal(ww_model_profile_parse(text.p, text.n, "x", &back, &error), WW_OK);
    ww_model_profile_free(&back);
    ((unsigned char *)text.p)[6] = WW_PROFILE_VERSION - 1;
    assert_int_equal(ww_model_profile_parse(text.p, text.n, "x", &back, &error), WW_INPUT);
    assert_non_null(strstr(error.text, "version"));
    ww_buf_free(&text);
    ww_model_profile_free(&p);
}

static void what_a_ranking_loses_is_of_its_best(void **state) {
    (void)state;
    static const double truth[] = {10, 12, 11, 15}, guess[] = {3, 1, 2, 0};
    double lost;
    assert_int_equal(ww_analytic_lost(truth, guess, 4, 2, &lost, &error), WW_OK);
    assert_true(fabs(lost - 0.2) < 1e-12);
    assert_int_equal(ww_analytic_lost(truth, guess, 4, 4, &lost, &error), WW_OK);
    assert_true(lost == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_by_their_updates),
        cmocka_unit_test(updates_of_one_piece_wait_for_one_slice),
        cmocka_unit_test(a_profile_knows_the_counters_of_a_histogram),
        cmocka_unit_test(a_longer_queue_opens_fewer_rows),
        cmocka_unit_test(fewer_ctas_at_a_time_need_less_room),
        cmocka_unit_test(traffic_follows_the_ctas_that_go_on),
        cmocka_unit_test(a_profile_of_the_version_before_is_refused),
        cmocka_unit_test(what_a_ranking_loses_is_of_its_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
