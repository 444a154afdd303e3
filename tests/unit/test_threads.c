/* Different objects from different threads: the library has no shared mutable state. Run under the thread
 * sanitizer by `make tsan`. */
#include "../../estimator/warpwatt.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define THREADS 4

struct job {
    char trace[64];
    uint64_t cycles;
    double energy_j;
    enum ww_code code;
    struct ww_error error;
};

static enum ww_code record_and_run(struct job *job, const struct ww_gpu *gpu) {
    const char *const parameters[] = {"size=small"};
    struct ww_record_options record = {.out_path = job->trace};
    struct ww_record_stats stats;
    struct ww_result *result;
    enum ww_code code = ww_record_workload("reduction", parameters, 1, &record, &stats, &job->error);
    if (code != WW_OK) return code;
    struct ww_run_options run = {.gpu = gpu, .trace_path = job->trace, .per_pc = true};
    code = ww_run(&run, &result, &job->error);
    if (code != WW_OK) return code;
    job->cycles = result->cycles;
    job->energy_j = result->energy_j;
    ww_result_free(result);
    return WW_OK;
}

static void *work(void *argument) {
    struct job *job = argument;
    struct ww_gpu *gpu;
    job->code = ww_gpu_load("v100", NULL, 0, &gpu, &job->error);
    if (job->code != WW_OK) return NULL;
    job->code = record_and_run(job, gpu);
    ww_gpu_free(gpu);
    return NULL;
}

static void recordings_and_replays_in_threads_agree(void **state) {
    (void)state;
    struct job job[THREADS];
    pthread_t thread[THREADS];
    char dir[] = "/tmp/warpwatt-threads-XXXXXX";
    memset(job, 0, sizeof job);
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < THREADS; i++) {
        snprintf(job[i].trace, sizeof job[i].trace, "%s/%d.wwt", dir, i);
        assert_int_equal(pthread_create(&thread[i], NULL, work, &job[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        unlink(job[i].trace);
        if (job[i].code != WW_OK) fail_msg("%s: %s", job[i].error.where, job[i].error.text);
        assert_true(job[i].cycles > 0 && job[i].cycles == job[0].cycles);
        assert_true(job[i].energy_j == job[0].energy_j);
    }
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(recordings_and_replays_in_threads_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
