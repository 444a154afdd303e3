/* Average power of every kernel of the workload suite on gtx480: between that of the idle GPU and the board's
 * limit. */
#include "../../estimator/warpwatt.h"
#include "../../power/power.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-suite-XXXXXX.wwt";
static struct ww_error error;
#define LIMIT 250.0 /* W, thermal design power of the GTX 480 by its specification */

static double idle_watts(const struct ww_gpu *gpu) {
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_power *power;
    struct ww_energy out;
    assert_int_equal(ww_power_load("gtx480", true, &power, &error), WW_OK);
    ww_power_launch(power, &gpu->spec, &l, &out);
    ww_power_free(power);
    return out.total_j / 1e-6;
}

static void check(const char *workload, const char *const *parameter, size_t parameters,
                  const struct ww_gpu *gpu) {
    struct ww_record_options record = {.out_path = path, .arch = "sm_20", .seed = 1};
    struct ww_record_stats stats;
    struct ww_result *r;
    double idle = idle_watts(gpu);
    if (ww_record_workload(workload, parameter, parameters, &record, &stats, &error) != WW_OK)
        fail_msg("%s: %s: %s", workload, error.where, error.text);
    struct ww_run_options run = {.gpu = gpu, .trace_path = path};
    assert_int_equal(ww_run(&run, &r, &error), WW_OK);
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        double watts = l->energy.total_j / ((double)l->time_ps * 1e-12);
        if (!(watts >= idle && watts <= LIMIT))
            fail_msg("%s, %s: %.1f W, idle %.1f W", workload, l->kernel, watts, idle);
    }
    ww_result_free(r);
}

static void every_kernel_draws_more_than_idle_and_less_than_the_boards_limit(void **state) {
    (void)state;
    static const struct {
        const char *workload, *parameter[4];
    } suite[] = {{"backprop", {"size=small"}},
                 {"bfs", {"size=small", "variant=mask"}},
                 {"cfd", {"size=small"}},
                 {"cutcp", {"size=small"}},
                 {"histo", {"size=small"}},
                 {"histogram", {"size=small", "variant=bytes"}},
                 {"kmeans", {"size=small", "variant=rodinia"}},
                 {"lavaMD", {"size=small"}},
                 {"lbm", {"size=small"}},
                 {"leukocyte", {"size=small"}},
                 {"mri_gridding", {"size=small"}},
                 {"mri_q", {"size=small"}},
                 {"mummer", {"size=small"}},
                 {"particlefilter", {"size=small"}},
                 {"pathfinder", {"size=small"}},
                 {"sad", {"size=small"}},
                 {"sgemm", {"size=small", "variant=rows"}},
                 {"spmv", {"size=small"}},
                 {"srad", {"size=small"}},
                 {"stencil", {"size=small", "variant=shared", "block_y=4"}},
                 {"streamcluster", {"size=small"}},
                 {"tpacf", {"size=small"}},
                 /* what draws most, at a size that fills the GPU */
                 {"backprop", {"size=default"}},
                 {"mri_q", {"size=default"}}};
    struct ww_gpu *gpu;
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    for (size_t i = 0; i < sizeof suite / sizeof suite[0]; i++) {
        size_t parameters = 0;
        while (parameters < 4 && suite[i].parameter[parameters]) parameters++;
        check(suite[i].workload, suite[i].parameter, parameters, gpu);
    }
    ww_gpu_free(gpu);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemps(path, 4);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_draws_more_than_idle_and_less_than_the_boards_limit),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
