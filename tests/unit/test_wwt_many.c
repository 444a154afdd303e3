/* Traces of many launches without CTAs: few bytes that could ask for much memory and much time. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/hash.h"
#include "../../estimator/fast/profile.h"
#include "../../traces/wwt/reader.h"
#include "../../traces/wwt/writer.h"
#include "wwt_fixture.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#define MANY 8000000u /* launches that a file of some KB describes */
#define SOME 1000u    /* launches that a file of that size may have */

static struct ww_error error;
static char path[512];

static struct ww_launch empty_launch(void) {
    static const char *const strings[] = {""};
    static const struct ww_inst exit_inst = {.op = WW_OP_EXIT};
    return (struct ww_launch){.kernel = "k",
                              .arch = "sm_70",
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .registers_per_thread = 8,
                              .inst = &exit_inst,
                              .inst_count = 1,
                              .string = strings,
                              .string_count = 1};
}

/* The index, uncompressed, of a trace of version 1 of so many launches without CTAs. */
static struct ww_buf index_of(unsigned launches) {
    struct ww_launch l = empty_launch();
    struct ww_trace_writer *w;
    struct ww_trace *t;
    struct ww_buf raw = {0};
    assert_int_equal(ww_trace_writer_new(path, NULL, 0, &w, &error), WW_OK);
    for (unsigned i = 0; i < launches; i++) {
        assert_int_equal(ww_trace_writer_launch(w, &l, &error), WW_OK);
        assert_int_equal(ww_trace_writer_end_launch(w, &error), WW_OK);
    }
    assert_int_equal(ww_trace_writer_finish(w, NULL, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    /* Without its one code table's origin and the numbers of copies before launches: as of version 1. */
    ww_buf_append(&raw, t->raw.p, t->raw.n - 1 - launches);
    ww_trace_close(t);
    return raw;
}

/* The index of a trace that has a launch without CTAs `count` times. */
static struct ww_buf repeated(unsigned count) {
    struct ww_buf one = index_of(1), two = index_of(2), raw = {0};
    size_t row = two.n - one.n;
    ww_buf_append(&raw, one.p, one.n - row - 1);
    ww_buf_varint(&raw, count);
    assert_true(ww_buf_reserve(&raw, row * count));
    for (unsigned i = 0; i < count; i++) ww_buf_append(&raw, two.p + one.n, row);
    ww_buf_free(&one);
    ww_buf_free(&two);
    return raw;
}

/* Writes a trace with this index, which is freed. Returns the file's size. */
static size_t put_trace(struct ww_buf raw) {
    struct ww_wwt_crc crc;
    size_t room = ZSTD_compressBound(raw.n);
    unsigned char *file = malloc(room + 256), *chunk = file + WW_WWT_HEADER_BYTES;
    assert_non_null(file);
    size_t n = ZSTD_compress(chunk + WW_WWT_CHUNK_BYTES, room, raw.p, raw.n, 3);
    assert_false(ZSTD_isError(n));
    ww_wwt_crc_init(&crc);
    memcpy(file, WW_WWT_MAGIC, 8);
    ww_wwt_put32(file + 8, WW_WWT_VERSION);
    ww_wwt_put32(file + 12, ww_wwt_crc32(&crc, 0, file, 12));
    ww_wwt_put32(chunk, WW_WWT_CHUNK_INDEX);
    ww_wwt_put32(chunk + 4, (uint32_t)n);
    ww_wwt_put32(chunk + 8, (uint32_t)raw.n);
    uint32_t sum = ww_wwt_crc32(&crc, ww_wwt_crc32(&crc, 0, chunk, 12), chunk + WW_WWT_CHUNK_BYTES, n);
    ww_wwt_put32(chunk + 12, sum);
    unsigned char *end = chunk + WW_WWT_CHUNK_BYTES + n;
    size_t size = (size_t)(end - file) + WW_WWT_TRAILER_BYTES;
    ww_wwt_put64(end, WW_WWT_HEADER_BYTES);
    ww_wwt_put64(end + 8, size);
    ww_wwt_put64(end + 16, ww_hash_bytes(raw.p, raw.n, WW_WWT_VERSION));
    ww_wwt_put32(end + 24, ww_wwt_crc32(&crc, 0, end, 24));
    memcpy(end + 28, WW_WWT_END_MAGIC, 4);
    ww_made_put(path, file, size);
    free(file);
    ww_buf_free(&raw);
    return size;
}

static size_t make_trace(unsigned count) {
    return put_trace(repeated(count));
}

static long peak_kb(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static void millions_of_launches_in_a_small_file_are_refused(void **state) {
    (void)state;
    struct ww_trace *t;
    size_t size = make_trace(MANY);
    long before = peak_kb();
    assert_true(size < 20000);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_INPUT);
    assert_null(t);
    assert_non_null(strstr(error.text, "expected at most"));
    assert_true(peak_kb() - before < 100000);
}

static void launches_beyond_what_the_file_may_have_are_refused(void **state) {
    (void)state;
    struct ww_trace *t;
    make_trace(1000000);
    long before = peak_kb();
    assert_int_equal(ww_trace_open(path, &t, &error), WW_INPUT);
    assert_true(peak_kb() - before < 150000);
}

static void an_index_that_takes_more_memory_than_the_file_may_need_is_refused(void **state) {
    (void)state;
    struct ww_trace *t;
    struct ww_buf raw = {0};
    assert_true(ww_buf_reserve(&raw, 1000100));
    for (unsigned i = 0; i < 3; i++) ww_buf_append(&raw, "", 1); /* no program, arguments, tool */
    ww_buf_varint(&raw, 1000000); /* codes, which take 100 bytes of memory each */
    for (unsigned i = 0; i < 1000000; i++) ww_buf_append(&raw, "", 1);
    size_t size = put_trace(raw);
    long before = peak_kb();
    assert_true(size < 1000);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_NOMEM);
    assert_non_null(strstr(error.text, "more than a file of"));
    assert_true(peak_kb() - before < 80000);
}

static void the_writer_keeps_the_same_limit(void **state) {
    (void)state;
    struct ww_trace_writer *w;
    struct ww_launch l = empty_launch();
    assert_int_equal(ww_trace_writer_new(path, NULL, 0, &w, &error), WW_OK);
    for (unsigned i = 0; i < 70000; i++) {
        assert_int_equal(ww_trace_writer_launch(w, &l, &error), WW_OK);
        assert_int_equal(ww_trace_writer_end_launch(w, &error), WW_OK);
    }
    assert_int_equal(ww_trace_writer_finish(w, NULL, &error), WW_UNSUPPORTED);
    assert_non_null(strstr(error.text, "70000 launches with too few CTAs"));
}

/* Stops at the third question. */
static bool stop_soon(void *context, double part, uint64_t done, const char *unit) {
    unsigned *asked = context;
    (void)part, (void)done, (void)unit;
    return ++*asked < 3;
}

static struct ww_trace *open_some(void) {
    struct ww_trace *t;
    make_trace(SOME);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    assert_int_equal(ww_trace_launch_count(t), SOME);
    return t;
}

static void verifying_launches_without_ctas_can_be_stopped(void **state) {
    (void)state;
    unsigned asked = 0;
    struct ww_trace *t = open_some();
    assert_int_equal(ww_trace_verify(t, stop_soon, &asked, &error), WW_FAIL);
    assert_int_equal(asked, 3);
    assert_int_equal(ww_trace_verify(t, NULL, NULL, &error), WW_OK);
    ww_trace_close(t);
}

static void profiling_launches_without_ctas_can_be_stopped(void **state) {
    (void)state;
    unsigned asked = 0;
    struct ww_model_profile profile;
    struct ww_trace *t = open_some();
    FILE *out = fopen("/dev/null", "w");
    assert_int_equal(ww_trace_print_profile(t, false, out, stop_soon, &asked, &error), WW_FAIL);
    assert_int_equal(asked, 3);
    asked = 0;
    assert_int_equal(ww_model_profile_make(t, stop_soon, &asked, &profile, &error), WW_FAIL);
    assert_int_equal(asked, 3);
    fclose(out);
    ww_trace_close(t);
}

static void replaying_launches_without_ctas_can_be_stopped(void **state) {
    (void)state;
    static const char *const modes[] = {"full", "sampled"};
    struct ww_gpu *gpu;
    ww_trace_close(open_some());
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    for (size_t i = 0; i < 2; i++) {
        unsigned asked = 0;
        struct ww_result *result;
        const struct ww_run_options o = {
            .gpu = gpu, .trace_path = path, .mode = modes[i], .progress = stop_soon, .context = &asked};
        assert_int_equal(ww_run(&o, &result, &error), WW_FAIL);
        assert_int_equal(asked, 3);
    }
    ww_gpu_free(gpu);
}

static int name_file(void **state) {
    (void)state;
    struct ww_arena arena;
    ww_arena_init(&arena, 0);
    snprintf(path, sizeof path, "%s", ww_made_path(&arena, "many.wwt"));
    ww_arena_free(&arena);
    return 0;
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(millions_of_launches_in_a_small_file_are_refused),
        cmocka_unit_test(launches_beyond_what_the_file_may_have_are_refused),
        cmocka_unit_test(an_index_that_takes_more_memory_than_the_file_may_need_is_refused),
        cmocka_unit_test(the_writer_keeps_the_same_limit),
        cmocka_unit_test(verifying_launches_without_ctas_can_be_stopped),
        cmocka_unit_test(profiling_launches_without_ctas_can_be_stopped),
        cmocka_unit_test(replaying_launches_without_ctas_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, name_file, clean);
}
