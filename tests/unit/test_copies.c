/* Copies and fills before a launch: what they leave in the L2, and when they do not. */
#include "../../estimator/warpwatt.h"
#include "../../traces/trace.h"
#include "../../traces/wwt/writer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { WORDS = 65536 };

static char plain[64], copied[64];
static struct ww_error error;

static void must(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

/* The trace of `plain` once more, with a copy of `bytes` from `address` before its first launch. */
static void write_copied(uint64_t address, uint64_t bytes, enum ww_trace_copy_kind kind) {
    struct ww_trace *t;
    struct ww_trace_writer *w;
    const struct ww_launch *l;
    struct ww_trace_copy copy = {.address = address, .bytes = bytes, .rows = 1, .kind = (uint8_t)kind};
    must(ww_trace_open(plain, &t, &error));
    must(ww_trace_launch(t, 0, &l, &error));
    must(ww_trace_writer_new(copied, NULL, 0, &w, &error));
    must(ww_trace_writer_copy(w, &copy, &error));
    must(ww_trace_writer_launch(w, l, &error));
    for (uint64_t i = 0; i < l->cta_count; i++) {
        struct ww_cta_trace cta;
        must(ww_trace_load_cta(t, 0, i, &cta, &error));
        must(ww_trace_writer_cta(w, &cta, &error));
        ww_trace_release_cta(t, &cta);
    }
    must(ww_trace_writer_end_launch(w, &error));
    must(ww_trace_writer_finish(w, NULL, &error));
    ww_trace_close(t);
}

/* Address of the trace's first global access: a load of the first of two inputs. */
static uint64_t first_address(void) {
    struct ww_trace *t;
    struct ww_cta_trace cta;
    must(ww_trace_open(plain, &t, &error));
    must(ww_trace_load_cta(t, 0, 0, &cta, &error));
    uint64_t base = cta.warp[0].access[0].base;
    ww_trace_release_cta(t, &cta);
    ww_trace_close(t);
    return base;
}

static struct ww_launch_result replay(const char *path, const char *cache_control, const char *mode) {
    struct ww_gpu *gpu;
    struct ww_result *r;
    must(ww_gpu_load("v100", NULL, 0, &gpu, &error));
    struct ww_run_options o = {
        .gpu = gpu, .trace_path = path, .power_table = "none", .cache_control = cache_control, .mode = mode};
    must(ww_run(&o, &r, &error));
    struct ww_launch_result l = r->launch[0];
    ww_result_free(r);
    ww_gpu_free(gpu);
    return l;
}

static void a_copy_from_the_host_leaves_its_bytes_in_the_l2(void **state) {
    (void)state;
    write_copied(first_address(), WORDS * 4, WW_TRACE_COPY_HOST);
    struct ww_launch_result a = replay(plain, "keep", "full"), b = replay(copied, "keep", "full");
    assert_int_equal(a.counter[WW_C_L2_SECTOR_MISS] - b.counter[WW_C_L2_SECTOR_MISS], WORDS * 4 / 32);
}

static void a_flush_takes_it_away(void **state) {
    (void)state;
    write_copied(first_address(), WORDS * 4, WW_TRACE_COPY_HOST);
    struct ww_launch_result a = replay(plain, "flush", "full"), b = replay(copied, "flush", "full");
    assert_int_equal(a.counter[WW_C_L2_SECTOR_MISS], b.counter[WW_C_L2_SECTOR_MISS]);
    assert_int_equal(a.cycles, b.cycles);
}

static void only_the_end_of_a_copy_that_is_larger_than_the_l2_stays(void **state) {
    (void)state;
    write_copied(first_address(), (uint64_t)1 << 40, WW_TRACE_COPY_HOST); /* and it takes no time to tell */
    struct ww_launch_result a = replay(plain, "keep", "full"), b = replay(copied, "keep", "full");
    assert_int_equal(a.counter[WW_C_L2_SECTOR_MISS], b.counter[WW_C_L2_SECTOR_MISS]);
}

static void a_sampled_run_sees_copies_too(void **state) {
    (void)state;
    write_copied(first_address(), WORDS * 4, WW_TRACE_COPY_HOST);
    struct ww_launch_result a = replay(copied, "keep", "full"), b = replay(copied, "keep", "sampled");
    assert_int_equal(a.counter[WW_C_L2_SECTOR_MISS], b.counter[WW_C_L2_SECTOR_MISS]);
}

static int record(void **state) {
    (void)state;
    char words[32];
    const char *parameters[] = {words};
    struct ww_record_options o = {.out_path = plain, .arch = "sm_70"};
    struct ww_record_stats stats;
    snprintf(plain, sizeof plain, "/tmp/wwcopies-%ld.wwt", (long)getpid());
    snprintf(copied, sizeof copied, "/tmp/wwcopies-%ld-b.wwt", (long)getpid());
    snprintf(words, sizeof words, "n=%d", WORDS);
    return ww_record_workload("vectoradd", parameters, 1, &o, &stats, &error) != WW_OK;
}

static int clean(void **state) {
    (void)state;
    unlink(copied);
    return unlink(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_from_the_host_leaves_its_bytes_in_the_l2),
        cmocka_unit_test(a_flush_takes_it_away),
        cmocka_unit_test(only_the_end_of_a_copy_that_is_larger_than_the_l2_stays),
        cmocka_unit_test(a_sampled_run_sees_copies_too),
    };
    return cmocka_run_group_tests(tests, record, clean);
}
