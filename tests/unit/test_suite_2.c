/* The workload suite, second half, and the variants that it takes of the basic workloads: each verifies at its
 * small size on old and new machines, and at sizes that leave tiles, CTAs and passes partly filled; values that
 * do not fit together are refused before anything is launched. */
#include "../../estimator/warpwatt.h"
#include "../../traces/workloads/host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { VALUES = 4 };

struct choice {
    const char *name, *values[VALUES], *says; /* says: in the error's text, where it is refused */
};

static enum ww_code record(const struct choice *c, const char *arch, uint64_t seed,
                           struct ww_record_stats *stats, struct ww_error *error) {
    const struct ww_record_options options = {.arch = arch, .seed = seed};
    const char *values[VALUES + 1] = {"size=small"};
    size_t count = 1;
    for (size_t i = 0; i < VALUES && c->values[i]; i++) values[count++] = c->values[i];
    memset(error, 0, sizeof *error);
    memset(stats, 0, sizeof *stats);
    return ww_record_workload(c->name, values, count, &options, stats, error);
}

static void verify(const struct choice *c, const char *arch, uint64_t seed, uint64_t limit) {
    struct ww_error error;
    struct ww_record_stats stats;
    enum ww_code code = record(c, arch, seed, &stats, &error);
    if (code != WW_OK) print_error("%s: %s: %s\n", c->name, error.where, error.text);
    assert_int_equal(code, WW_OK);
    assert_true(stats.verified);
    assert_true(stats.thread_instructions > 1000 && stats.thread_instructions < limit);
}

static void verify_small(void **state) {
    static const char *const machines[] = {"sm_20", "sm_52", "sm_70"};
    for (size_t i = 0; i < 3; i++) verify(*state, machines[i], 3 + i, 1000000);
}

static void verify_partial(void **state) {
    verify(*state, NULL, 1, 30000000);
}

static void refuse(void **state) {
    const struct choice *c = *state;
    struct ww_error error;
    struct ww_record_stats stats;
    assert_int_equal(record(c, NULL, 0, &stats, &error), WW_USAGE);
    assert_string_equal(error.where, c->name);
    assert_non_null(strstr(error.text, c->says));
    assert_int_equal(stats.thread_instructions, 0);
}

#define CASE(test_name, function, ...)                                                                         \
    {                                                                                                          \
        test_name, function, NULL, NULL, &(struct choice) {                                                    \
            __VA_ARGS__                                                                                        \
        }                                                                                                      \
    }
#define SMALL(name, ...) CASE(name, verify_small, __VA_ARGS__, NULL)
#define PARTIAL(name, ...) CASE(name, verify_partial, __VA_ARGS__, NULL)
#define REFUSE(name, ...) CASE(name, refuse, __VA_ARGS__)

int main(void) {
    const struct CMUnitTest tests[] = {
        SMALL("mri_gridding_verifies", "mri_gridding", {NULL}),
        SMALL("mri_q_verifies", "mri_q", {NULL}),
        SMALL("mummer_verifies", "mummer", {NULL}),
        SMALL("particlefilter_verifies", "particlefilter", {NULL}),
        SMALL("mummer_with_the_tree_in_a_texture_verifies", "mummer", {"tree=texture"}),
        SMALL("particles_in_double_precision_verify", "particlefilter", {"precision=double"}),
        SMALL("pathfinder_verifies", "pathfinder", {NULL}),
        SMALL("sad_verifies", "sad", {NULL}),
        SMALL("srad_verifies", "srad", {NULL}),
        SMALL("streamcluster_verifies", "streamcluster", {NULL}),
        SMALL("tpacf_verifies", "tpacf", {NULL}),
        SMALL("bfs_with_masks_verifies", "bfs", {"variant=mask", "block=512"}),
        SMALL("bfs_with_masks_on_a_skewed_graph_verifies", "bfs", {"variant=mask", "graph=skewed"}),
        SMALL("sgemm_of_rows_verifies", "sgemm", {"variant=rows"}),
        SMALL("histogram_of_bytes_verifies", "histogram", {"variant=bytes"}),
        SMALL("histogram_of_skewed_bytes_verifies", "histogram", {"variant=bytes", "data=skewed"}),
        SMALL("stencil_with_planes_in_shared_memory_verifies", "stencil", {"variant=shared", "block_y=4"}),
        PARTIAL("gridding_fills_chunks_of_a_crowded_grid", "mri_gridding", {"samples=2000", "block=96"}),
        PARTIAL("gridding_of_one_sample_verifies", "mri_gridding", {"samples=1", "grid=16"}),
        PARTIAL("q_of_more_samples_than_a_pass_verifies", "mri_q", {"samples=600", "voxels=257"}),
        PARTIAL("reads_longer_than_most_repeats_verify", "mummer", {"length=120", "queries=90", "block=40"}),
        PARTIAL("reads_of_four_bases_verify", "mummer", {"length=4", "bases=4", "queries=300"}),
        PARTIAL("particles_verify_over_several_frames", "particlefilter", {"used=4", "particles=700"}),
        PARTIAL("particles_in_double_precision_verify_over_several_frames", "particlefilter",
                {"precision=double", "used=4", "particles=700"}),
        PARTIAL("particles_leave_a_small_video_safely", "particlefilter", {"width=16", "height=16", "used=10"}),
        PARTIAL("pyramids_that_do_not_divide_the_rows_verify", "pathfinder", {"pyramid=7", "cols=777"}),
        PARTIAL("one_column_is_a_path", "pathfinder", {"cols=1", "rows=150", "pyramid=100"}),
        PARTIAL("one_row_is_its_own_cost_but_one", "pathfinder", {"rows=2"}),
        PARTIAL("an_even_number_of_positions_a_thread_verifies", "sad", {"range=1", "width=48", "height=16"}),
        PARTIAL("the_whole_search_range_verifies", "sad", {"range=16", "width=16", "height=16"}),
        PARTIAL("diffusion_verifies_over_iterations", "srad", {"iterations=3", "rows=16", "cols=16"}),
        PARTIAL("several_candidates_verify", "streamcluster", {"candidates=3", "points=1001", "dims=7"}),
        PARTIAL("points_of_more_than_a_tile_verify", "tpacf", {"points=300", "sets=1"}),
        PARTIAL("masks_verify_in_partial_warps", "bfs", {"variant=mask", "block=50"}),
        PARTIAL("rows_verify_past_every_edge", "sgemm", {"variant=rows", "m=131", "n=17", "k=9"}),
        PARTIAL("tiles_verify_past_every_edge", "stencil", {"variant=shared", "block_y=4", "nx=67", "ny=9"}),
        REFUSE("a_tile_of_another_shape_is_refused", "stencil", {"variant=shared", "block_y=8"}, "32 and 4"),
        REFUSE("a_grid_of_partial_tiles_is_refused", "mri_gridding", {"grid=12"}, "multiple of 8"),
        REFUSE("reads_longer_than_the_reference_are_refused", "mummer", {"bases=50", "length=60"},
               "bases from"),
        REFUSE("more_frames_than_the_video_has_are_refused", "particlefilter", {"used=11"}, "frames=10"),
        REFUSE("too_large_a_grid_of_costs_is_refused", "pathfinder", {"cols=4194304", "rows=1024"}, "2^28"),
        REFUSE("partial_macroblocks_are_refused", "sad", {"width=40"}, "multiples of 16"),
        REFUSE("partial_tiles_of_an_image_are_refused", "srad", {"rows=20"}, "multiples of 16"),
        REFUSE("fewer_points_than_centres_are_refused", "streamcluster", {"points=9"}, "centres=10"),
        REFUSE("too_many_points_are_refused", "tpacf", {"points=65536", "sets=1000"}, "2^26"),
        REFUSE("bytes_of_more_than_256_bins_are_refused", "histogram", {"variant=bytes", "bins=300"}, "256"),
        REFUSE("bytes_that_fill_no_word_are_refused", "histogram", {"variant=bytes", "n=1001"},
               "multiple of 4"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
