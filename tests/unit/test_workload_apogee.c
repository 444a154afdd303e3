/* The workloads of APOGEE's evaluation: each verifies with every number of warps, with several CTAs, and with
 * parts that leave warps and CTAs partly filled. */
#include "../../estimator/warpwatt.h"
#include "../../traces/profile/profile.h"
#include "../../traces/workloads/host.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { VALUES = 4 };

static void verify(const char *name, const char *const *values, size_t count, struct ww_record_stats *stats) {
    struct ww_error error = {0};
    const struct ww_record_options options = {.seed = 5};
    const char *all[VALUES + 1] = {"size=small"};
    for (size_t i = 0; i < count; i++) all[i + 1] = values[i];
    memset(stats, 0, sizeof *stats);
    enum ww_code code = ww_record_workload(name, all, count + 1, &options, stats, &error);
    if (code != WW_OK) print_error("%s %s: %s: %s\n", name, values[0], error.where, error.text);
    assert_int_equal(code, WW_OK);
    assert_true(stats->verified);
}

static const char *const scenes[] = {"scene=hand_shaded",     "scene=wolf_textured",  "scene=wolf_wireframe",
                                     "scene=insect_textured", "scene=squid_textured", "scene=engine_shaded",
                                     "scene=room_solid"};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

static const char *const names[] = {"ap_fft", "ap_filter", "ap_hotspot", "ap_mergesort", "ap_shortestpath"};

static void every_number_of_warps_verifies(void **state) {
    (void)state;
    static const char *const warps[] = {"warps=1", "warps=2", "warps=4", "warps=8", "warps=16", "warps=32"};
    struct ww_record_stats stats;
    for (size_t w = 0; w < sizeof warps / sizeof warps[0]; w++) {
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) verify(names[n], &warps[w], 1, &stats);
        for (size_t n = 0; n < SCENES; n++)
            verify("ap_scene", (const char *const[]){scenes[n], warps[w]}, 2, &stats);
    }
}

static void several_ctas_share_the_work(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct ww_record_stats one, seven;
        verify(names[n], (const char *const[]){"warps=2", "ctas=1"}, 2, &one);
        verify(names[n], (const char *const[]){"warps=2", "ctas=7"}, 2, &seven);
        assert_true(seven.thread_instructions < one.thread_instructions * 3 / 2);
    }
}

/* Threads are persistent: with four times as many of them, each has less to do, all together about the same. */
static void the_number_of_warps_hardly_changes_the_work(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct ww_record_stats few, many;
        verify(names[n], (const char *const[]){"warps=1"}, 1, &few);
        verify(names[n], (const char *const[]){"warps=4"}, 1, &many);
        assert_true(many.thread_instructions > few.thread_instructions);
        assert_true(many.thread_instructions < few.thread_instructions * 3 / 2);
    }
}

static void scenes_verify_on_several_ctas_and_in_part_of_a_draw(void **state) {
    (void)state;
    struct ww_record_stats stats;
    for (size_t n = 0; n < SCENES; n++)
        verify("ap_scene", (const char *const[]){scenes[n], "ctas=3", "vertices=832"}, 3, &stats);
}

/* ---- ratios ---- */

static char path[] = "/tmp/warpwatt-apogee-XXXXXX.wwt";

enum { RATIOS = 6 };

/* Per vertex: warp and thread instructions; loads at fixed offsets, at one address, of textures; fragments
 * (their atomics). Other loads are those of a single lane, hardly any. */
static void ratios_of(const char *scene, const char *vertices, double count, double ratio[RATIOS]) {
    struct ww_error error = {0};
    struct ww_record_stats stats;
    struct ww_trace *trace;
    const char *values[] = {scene, vertices, "batch=512", "warps=4"};
    const struct ww_record_options options = {.seed = 5, .out_path = path};
    struct ww_reuse *reuse = ww_reuse_new();
    assert_int_equal(ww_record_workload("ap_scene", values, 4, &options, &stats, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    uint64_t other = 0, loads = 0;
    memset(ratio, 0, RATIOS * sizeof *ratio);
    for (size_t l = 0; l < ww_trace_launch_count(trace); l++) {
        struct ww_profile p;
        assert_int_equal(ww_profile_launch(trace, l, reuse, NULL, NULL, &p, &error), WW_OK);
        const double v[RATIOS] = {(double)p.steps,           (double)p.threads,       (double)p.loads_fixed,
                                  (double)p.loads_invariant, (double)p.loads_texture, (double)p.atomics};
        other += p.loads_other;
        loads += p.global_loads;
        for (int k = 0; k < RATIOS; k++) ratio[k] += v[k] / count;
    }
    assert_true((double)other <= 0.02 * (double)loads);
    ww_trace_close(trace);
    ww_reuse_free(reuse);
}

static void twice_the_vertices_keep_every_ratio_of_a_scene(void **state) {
    (void)state;
    for (size_t n = 0; n < SCENES; n++) {
        double one[RATIOS], two[RATIOS];
        ratios_of(scenes[n], "vertices=4096", 4096, one);
        ratios_of(scenes[n], "vertices=8192", 8192, two);
        for (int k = 0; k < RATIOS; k++) {
            if (fabs(two[k] - one[k]) > 0.02 * one[k])
                print_error("%s: ratio %d is %g, then %g\n", scenes[n], k, one[k], two[k]);
            assert_true(fabs(two[k] - one[k]) <= 0.02 * one[k]);
        }
        assert_true((two[4] > 0) == (strstr(scenes[n], "textured") != NULL));
        assert_true(two[2] > 0 && two[3] > 0 && two[5] > 0);
    }
}

static int make_path(void **state) {
    (void)state;
    int file = mkstemps(path, 4);
    return file < 0 || close(file);
}

static int remove_path(void **state) {
    (void)state;
    return remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_warps_verifies),
        cmocka_unit_test(several_ctas_share_the_work),
        cmocka_unit_test(the_number_of_warps_hardly_changes_the_work),
        cmocka_unit_test(scenes_verify_on_several_ctas_and_in_part_of_a_draw),
        cmocka_unit_test(twice_the_vertices_keep_every_ratio_of_a_scene),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
