/* Different objects from different threads: the library has no shared mutable state. Run under the thread
 * sanitizer by `make tsan`. */
#include "../../estimator/warpwatt.h"
#include "estimator/result/result.h"
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

/* Cycles, time and counters of a replay with so many threads, added to a hash. */
static uint64_t replay(const char *trace, const struct ww_gpu *gpu, unsigned threads) {
    struct ww_run_options run = {.gpu = gpu, .trace_path = trace, .per_pc = true, .threads = threads};
    struct ww_result *result;
    struct ww_error error;
    uint64_t hash = 0;
    if (ww_run(&run, &result, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct ww_launch_result *l = &result->launch[i];
        hash = (hash ^ l->cycles ^ l->time_ps << 32) * 0x9e3779b97f4a7c15u;
        for (int c = 0; c < WW_COUNTER_COUNT; c++) hash = (hash ^ l->counter[c]) * 0x9e3779b97f4a7c15u;
        for (int s = 0; s < WW_STATE_COUNT; s++) hash = (hash ^ l->warp_cycles[s]) * 0x9e3779b97f4a7c15u;
    }
    ww_result_free(result);
    return hash;
}

static void a_replay_is_the_same_with_any_number_of_threads(void **state) {
    const char *const names[] = {"spmv", "transpose", "bfs"}, *const gpus[] = {"v100", "gtx480", "a10"};
    const unsigned threads[] = {2, 3, 8};
    char dir[] = "/tmp/warpwatt-threads-XXXXXX", trace[64];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(trace, sizeof trace, "%s/t.wwt", dir);
    for (int i = 0; i < 3; i++) {
        const char *const parameters[] = {"size=small"};
        struct ww_record_options record = {.out_path = trace};
        struct ww_record_stats stats;
        struct ww_error error;
        if (ww_record_workload(names[i], parameters, 1, &record, &stats, &error) != WW_OK)
            fail_msg("%s: %s", error.where, error.text);
        for (int g = 0; g < 3; g++) {
            struct ww_gpu *gpu;
            assert_int_equal(ww_gpu_load(gpus[g], NULL, 0, &gpu, &error), WW_OK);
            uint64_t one = replay(trace, gpu, 1);
            for (int n = 0; n < 3; n++)
                if (replay(trace, gpu, threads[n]) != one)
                    fail_msg("%s on %s with %u threads: another result", names[i], gpus[g], threads[n]);
            ww_gpu_free(gpu);
        }
        unlink(trace);
    }
    rmdir(dir);
}

static void record(const char *workload, const char *const *parameters, size_t count, const char *path) {
    struct ww_record_options record = {.out_path = path};
    struct ww_record_stats stats;
    struct ww_error error;
    if (ww_record_workload(workload, parameters, count, &record, &stats, &error) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
}

/* The second launch is one that a single thread replays: clusters with mbarriers. What the first one's threads
 * have kept is given back, which the address sanitizer sees. */
static void a_launch_of_one_thread_may_follow_one_of_several(void **state) {
    (void)state;
    const char *const small[] = {"size=small"}, *const pairs[] = {"size=small", "cluster=2", "m=256"};
    char dir[] = "/tmp/warpwatt-threads-XXXXXX", path[3][64];
    struct ww_trace *trace[2];
    struct ww_gpu *gpu;
    struct ww_error error;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < 3; i++) snprintf(path[i], sizeof path[i], "%s/%d.wwt", dir, i);
    record("vectoradd", small, 1, path[0]);
    record("gemm_wgmma", pairs, 3, path[1]);
    for (int i = 0; i < 2; i++) assert_int_equal(ww_trace_open(path[i], &trace[i], &error), WW_OK);
    assert_int_equal(ww_trace_merge(trace, 2, path[2], NULL, NULL, &error), WW_OK);
    for (int i = 0; i < 2; i++) ww_trace_close(trace[i]);
    assert_int_equal(ww_gpu_load("h100", NULL, 0, &gpu, &error), WW_OK);
    assert_true(replay(path[2], gpu, 2) == replay(path[2], gpu, 1));
    ww_gpu_free(gpu);
    for (int i = 0; i < 3; i++) unlink(path[i]);
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_and_replays_in_threads_agree),
        cmocka_unit_test(a_replay_is_the_same_with_any_number_of_threads),
        cmocka_unit_test(a_launch_of_one_thread_may_follow_one_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
