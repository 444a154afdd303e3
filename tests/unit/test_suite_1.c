/* The workload suite, first half: each workload verifies at its small size for both old and new targets, and
 * the values that do not fit together are refused. */
#include "../../estimator/warpwatt.h"
#include "../../traces/workloads/host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

struct choice {
    const char *name, *parameters[3];
};

static enum ww_code record(const struct choice *c, const char *arch, struct ww_record_stats *stats,
                           struct ww_error *error) {
    const struct ww_record_options options = {.arch = arch, .seed = 5};
    const char *parameters[4] = {"size=small"};
    size_t count = 1;
    for (; count < 4 && c->parameters[count - 1]; count++) parameters[count] = c->parameters[count - 1];
    memset(error, 0, sizeof *error);
    memset(stats, 0, sizeof *stats);
    return ww_record_workload(c->name, parameters, count, &options, stats, error);
}

static void verify(const struct choice *c, const char *arch) {
    struct ww_error error;
    struct ww_record_stats stats;
    enum ww_code code = record(c, arch, &stats, &error);
    if (code != WW_OK) print_error("%s: %s: %s\n", c->name, error.where, error.text);
    assert_int_equal(code, WW_OK);
    assert_true(stats.verified);
    assert_true(stats.thread_instructions > 1000 && stats.thread_instructions < 1000000);
}

static void verify_on_volta_and_fermi(void **state) {
    verify(*state, "sm_70");
    verify(*state, "sm_20");
}

static void refuse(void **state) {
    struct ww_error error;
    struct ww_record_stats stats;
    assert_int_equal(record(*state, NULL, &stats, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "expected"));
}

#define CASE(test_name, function, ...)                                                                         \
    {                                                                                                          \
        test_name, function, NULL, NULL, &(struct choice) {                                                    \
            __VA_ARGS__                                                                                        \
        }                                                                                                      \
    }
#define VERIFY(test_name, ...) CASE(test_name, verify_on_volta_and_fermi, __VA_ARGS__)
#define REFUSE(test_name, ...) CASE(test_name, refuse, __VA_ARGS__)

int main(void) {
    const struct CMUnitTest tests[] = {
        VERIFY("backprop_verifies", "backprop", {NULL}),
        VERIFY("backprop_of_one_cta_verifies", "backprop", {"inputs=16"}),
        REFUSE("backprop_refuses_part_of_a_block", "backprop", {"inputs=100"}),
        VERIFY("cfd_verifies", "cfd", {"window=7", "block=48"}),
        VERIFY("cfd_of_one_cube_verifies", "cfd", {"nx=1", "ny=1", "nz=1"}),
        REFUSE("cfd_refuses_too_many_elements", "cfd", {"nx=512", "ny=512", "nz=512"}),
        VERIFY("lbm_verifies", "lbm", {"iterations=2"}),
        VERIFY("lbm_of_the_longest_rows_verifies", "lbm", {"nx=126", "ny=3", "nz=3"}),
        REFUSE("lbm_refuses_too_many_rows", "lbm", {"ny=4096", "nz=4096"}),
        VERIFY("kmeans_with_inverted_points_verifies", "kmeans", {"variant=rodinia"}),
        VERIFY("kmeans_of_several_tiles_verifies", "kmeans", {"variant=rodinia", "clusters=29", "n=100"}),
        VERIFY("kmeans_iterates_with_inverted_points", "kmeans", {"variant=rodinia", "iterations=2", "n=90"}),
        VERIFY("lavaMD_verifies", "lavaMD", {NULL}),
        VERIFY("lavaMD_with_neighbours_on_all_sides_verifies", "lavaMD", {"ny=3", "nz=3", "particles=7"}),
        VERIFY("cutcp_verifies", "cutcp", {NULL}),
        VERIFY("cutcp_of_a_small_cutoff_verifies", "cutcp", {"cutoff=1"}),
        VERIFY("histo_verifies", "histo", {NULL}),
        VERIFY("histo_of_few_columns_verifies", "histo", {"log_columns=4", "parts=2", "block=96"}),
        REFUSE("histo_refuses_an_odd_width", "histo", {"width=61"}),
        VERIFY("mv_verifies", "mv", {NULL}),
        VERIFY("fft_verifies", "fft", {NULL}),
        VERIFY("fft_by_hand_in_turns_verifies", "fft", {"variant=vtb"}),
        VERIFY("fft_by_hand_a_step_apart_verifies", "fft", {"variant=vtb_pipe"}),
        VERIFY("fft_that_allocates_verifies", "fft", {"variant=hw"}),
        VERIFY("marching_verifies", "marching", {"side=9"}),
        VERIFY("marching_in_turns_verifies", "marching", {"variant=vtb"}),
        VERIFY("marching_with_private_parts_verifies", "marching", {"variant=co_vtb"}),
        VERIFY("storegpu_verifies", "storegpu", {NULL}),
        VERIFY("storegpu_of_three_blocks_verifies", "storegpu", {"chunk=180", "offset=12"}),
        REFUSE("storegpu_refuses_other_lengths", "storegpu", {"chunk=64"}),
        VERIFY("scalarprod_verifies", "scalarprod", {"n=3072"}),
        VERIFY("bytehist_verifies", "bytehist", {NULL}),
        VERIFY("bytehist_with_its_loop_peeled_verifies", "bytehist", {"variant=peeled"}),
        VERIFY("bytehist_with_private_parts_verifies", "bytehist", {"variant=co_vtb"}),
        VERIFY("bytehist_that_allocates_verifies", "bytehist", {"variant=co_hw"}),
        VERIFY("convolution_verifies", "convolution", {NULL}),
        VERIFY("leukocyte_verifies", "leukocyte", {NULL}),
        VERIFY("leukocyte_of_two_cells_verifies", "leukocyte", {"cells=2", "iterations=9", "rows=7"}),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
