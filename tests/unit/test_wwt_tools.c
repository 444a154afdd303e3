/* trace info, dump, slice, and what the writer refuses. */
#include "../../estimator/warpwatt.h"
#include "wwt_fixture.h"
#include "../../traces/wwt/reader.h"
#include "../../traces/wwt/writer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cjson/cJSON.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;
static struct ww_made_launch launch[2];
static const char *path;
static struct ww_trace *trace;

#define OK(call)                                                                                               \
    do {                                                                                                       \
        enum ww_code ok_code_ = (call);                                                                        \
        if (ok_code_ != WW_OK) fail_msg("%s: %s: %s", #call, error.where, error.text);                         \
    } while (0)

static int set_up(void **state) {
    (void)state;
    static const struct ww_made_shape shape[] = {{{20, 2, 1}, {70, 1, 1}, 12, 20, 2, false},
                                                 {{6, 1, 1}, {64, 1, 1}, 12, 20, 2, true}};
    ww_arena_init(&arena, 0);
    for (size_t i = 0; i < 2; i++) ww_made_launch(&arena, 40 + i, &shape[i], &launch[i]);
    path = ww_made_path(&arena, "whole.wwt");
    OK(ww_made_write(path, launch, 2, 0, &error));
    OK(ww_trace_open(path, &trace, &error));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_trace_close(trace);
    ww_arena_free(&arena);
    ww_made_clean();
    return 0;
}

/* ---- slice ---- */

/* Slices, opens the result; it must hold CTA i of launch k exactly if `has(k, i)`, numbered anew. */
static struct ww_trace *slice(const char *launches, const char *ctas) {
    struct ww_trace *t;
    const char *out = ww_made_path(&arena, "slice.wwt");
    OK(ww_trace_slice(trace, launches, ctas, out, NULL, NULL, &error));
    OK(ww_trace_open(out, &t, &error));
    OK(ww_trace_verify(t, NULL, NULL, &error));
    return t;
}

static void check_held(struct ww_trace *t, size_t number, const struct ww_made_launch *l, const char *held) {
    for (size_t i = 0; i < l->cta_count; i++) {
        struct ww_cta_trace cta;
        bool expected = held[i] == 'x';
        assert_int_equal(ww_trace_has_cta(t, number, i), expected);
        enum ww_code code = ww_trace_load_cta(t, number, i, &cta, &error);
        assert_int_equal(code, expected ? WW_OK : WW_USAGE);
        if (expected) assert_null(ww_made_compare(&l->launch, &cta, &l->cta[i]));
        ww_trace_release_cta(t, &cta);
    }
}

static void a_slice_holds_the_ctas_asked_for_and_no_others(void **state) {
    (void)state;
    struct ww_trace *t = slice(NULL, "0,3-5,39");
    check_held(t, 0, &launch[0], "x..xxx.................................x");
    check_held(t, 1, &launch[1], "x..xxx");
    ww_trace_close(t);
}

static void a_slice_of_launches_numbers_them_anew(void **state) {
    (void)state;
    struct ww_trace *t = slice("1", NULL);
    assert_int_equal(ww_trace_launch_count(t), 1);
    check_held(t, 0, &launch[1], "xxxxxx");
    ww_trace_close(t);
}

static void a_slice_of_a_slice_holds_what_both_have(void **state) {
    (void)state;
    struct ww_trace *t = slice(NULL, "2-4"), *u;
    const char *out = ww_made_path(&arena, "second.wwt");
    OK(ww_trace_slice(t, "0", "0-3", out, NULL, NULL, &error));
    ww_trace_close(t);
    OK(ww_trace_open(out, &u, &error));
    check_held(u, 0, &launch[0], "..xx....................................");
    ww_trace_close(u);
}

static void a_slice_counts_only_what_it_holds(void **state) {
    (void)state;
    struct ww_launch_info info;
    uint64_t expected = 0;
    struct ww_trace *t = slice("0", "7");
    for (uint32_t w = 0; w < launch[0].cta[7].warp_count; w++) expected += launch[0].cta[7].warp[w].step_count;
    OK(ww_trace_launch_info(t, 0, &info, &error));
    assert_int_equal(info.warp_instructions, expected);
    assert_int_equal(info.grid[0], 20);
    ww_trace_close(t);
}

static void a_slice_says_where_it_is_from(void **state) {
    (void)state;
    struct ww_trace *t = slice("0", "7");
    assert_non_null(strstr(ww_trace_get_meta(t)->arguments, ww_trace_hash(trace)));
    assert_non_null(strstr(ww_trace_get_meta(t)->arguments, "launches 0, CTAs 7"));
    ww_trace_close(t);
}

static void a_slice_of_everything_is_the_same_file(void **state) {
    (void)state;
    size_t n, m;
    const char *out = ww_made_path(&arena, "copy.wwt");
    OK(ww_trace_slice(trace, NULL, NULL, out, NULL, NULL, &error));
    unsigned char *a = ww_made_read(&arena, path, &n), *b = ww_made_read(&arena, out, &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
}

static void a_slice_refuses_numbers_out_of_range_and_leaves_no_file(void **state) {
    (void)state;
    const char *out = ww_made_path(&arena, "never.wwt");
    assert_int_equal(ww_trace_slice(trace, "2", NULL, out, NULL, NULL, &error), WW_USAGE);
    assert_int_equal(ww_trace_slice(trace, NULL, "40", out, NULL, NULL, &error), WW_USAGE);
    assert_int_equal(ww_trace_slice(trace, NULL, "x", out, NULL, NULL, &error), WW_USAGE);
    assert_int_not_equal(access(out, F_OK), 0);
}

/* ---- info and dump ---- */

static char *printed(enum ww_code (*print)(FILE *)) {
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    enum ww_code code = print(f);
    fclose(f);
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return text;
}

static enum ww_code print_json(FILE *f) {
    return ww_trace_print_info(trace, true, f, &error);
}

static enum ww_code print_text(FILE *f) {
    return ww_trace_print_info(trace, false, f, &error);
}

static enum ww_code print_cta(FILE *f) {
    return ww_trace_dump(trace, 0, 5, -1, false, f, &error);
}

static enum ww_code print_warp(FILE *f) {
    return ww_trace_dump(trace, 0, 5, 1, false, f, &error);
}

static double number(const cJSON *object, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(v)) fail_msg("no number \"%s\"", key);
    return v->valuedouble;
}

static void info_as_json_adds_up(void **state) {
    (void)state;
    char *text = printed(print_json);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    double warps = 0, threads = 0, mix = 0;
    const cJSON *l, *m, *launches = cJSON_GetObjectItemCaseSensitive(root, "launches");
    assert_int_equal(cJSON_GetArraySize(launches), 2);
    cJSON_ArrayForEach(l, launches) {
        warps += number(l, "warp_instructions");
        threads += number(l, "thread_instructions");
        cJSON_ArrayForEach(m, cJSON_GetObjectItemCaseSensitive(l, "mix")) mix += m->valuedouble;
    }
    assert_true(warps > 0 && warps == number(root, "warp_instructions") && mix == warps);
    assert_true(threads == number(root, "thread_instructions"));
    assert_true(number(root, "bytes") == (double)ww_trace_bytes(trace));
    assert_true(number(root, "bytes_per_warp_instruction") == number(root, "bytes") / warps);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(root, "hash")->valuestring, ww_trace_hash(trace));
    cJSON_Delete(root);
    free(text);
}

static void info_as_text_names_kernels_and_shapes(void **state) {
    (void)state;
    char *text = printed(print_text);
    assert_non_null(strstr(text, "launch 0: made_up (sm_70)"));
    assert_non_null(strstr(text, "grid 20 x 2 x 1, block 70 x 1 x 1, 32 registers, shared 1024 + 512 B"));
    assert_non_null(strstr(text, "bytes per warp instruction"));
    free(text);
}

static size_t lines(const char *text) {
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void dump_prints_a_line_for_each_step(void **state) {
    (void)state;
    size_t steps = 0;
    char *text = printed(print_cta), *one = printed(print_warp);
    for (uint32_t w = 0; w < launch[0].cta[5].warp_count; w++) steps += launch[0].cta[5].warp[w].step_count;
    assert_int_equal(lines(text), steps);
    assert_int_equal(lines(one), launch[0].cta[5].warp[1].step_count);
    assert_memory_equal(text, "cta 5  warp 0  pc 0x0000  mask ffffffff  ", 41);
    free(text);
    free(one);
}

static void dump_refuses_what_is_not_there(void **state) {
    (void)state;
    assert_int_equal(ww_trace_dump(trace, 2, 0, -1, false, stdout, &error), WW_USAGE);
    assert_int_equal(ww_trace_dump(trace, 0, 40, -1, false, stdout, &error), WW_USAGE);
    assert_int_equal(ww_trace_dump(trace, 0, 0, 3, false, stdout, &error), WW_USAGE);
}

/* ---- the writer ---- */

static struct ww_trace_writer *start(const struct ww_launch *l) {
    struct ww_trace_writer *w;
    OK(ww_trace_writer_new(ww_made_path(&arena, "w.wwt"), NULL, 0, &w, &error));
    if (l) OK(ww_trace_writer_launch(w, l, &error));
    return w;
}

static void a_cta_added_twice_is_refused(void **state) {
    (void)state;
    struct ww_trace_writer *w = start(&launch[0].launch);
    OK(ww_trace_writer_cta(w, &launch[0].cta[3], &error));
    assert_int_equal(ww_trace_writer_cta(w, &launch[0].cta[3], &error), WW_USAGE);
    ww_trace_writer_abort(w);
}

static void a_cta_outside_the_grid_is_refused(void **state) {
    (void)state;
    struct ww_trace_writer *w = start(&launch[0].launch);
    struct ww_cta_trace cta = launch[0].cta[0];
    cta.index = 40;
    assert_int_equal(ww_trace_writer_cta(w, &cta, &error), WW_USAGE);
    ww_trace_writer_abort(w);
}

/* One warp of one CTA of launch 1 (two warps of 32), changed by `change`. */
static enum ww_code write_changed(void (*change)(struct ww_warp_stream *, struct ww_step *)) {
    struct ww_trace_writer *w = start(&launch[1].launch);
    struct ww_cta_trace cta = launch[1].cta[0];
    struct ww_warp_stream warp[2] = {cta.warp[0], cta.warp[1]};
    struct ww_step step[64];
    memcpy(step, warp[1].step, warp[1].step_count * sizeof *step);
    warp[1].step = step;
    cta.warp = warp;
    change(&warp[1], step);
    enum ww_code code = ww_trace_writer_cta(w, &cta, &error);
    ww_trace_writer_abort(w);
    return code;
}

static void change_nothing(struct ww_warp_stream *s, struct ww_step *step) {
    (void)s, (void)step;
}

static void change_inst(struct ww_warp_stream *s, struct ww_step *step) {
    (void)s;
    step[3].inst = 12;
}

static void change_count(struct ww_warp_stream *s, struct ww_step *step) {
    (void)step;
    s->access_count--;
}

static void a_stream_that_breaks_an_invariant_is_refused(void **state) {
    (void)state;
    assert_int_equal(write_changed(change_nothing), WW_OK);
    assert_int_equal(write_changed(change_inst), WW_INTERNAL);
    assert_int_equal(write_changed(change_count), WW_INTERNAL);
}

static void a_lane_that_the_cta_lacks_is_refused(void **state) {
    (void)state;
    struct ww_trace_writer *w = start(&launch[0].launch);
    struct ww_cta_trace cta = launch[0].cta[0];
    struct ww_warp_stream warp[3] = {cta.warp[0], cta.warp[1], cta.warp[2]};
    struct ww_step step = {0, 1u << 6}; /* of 70 threads the third warp has lanes 0 to 5 */
    warp[2] = (struct ww_warp_stream){.step = &step, .step_count = 1};
    cta.warp = warp;
    assert_int_equal(ww_trace_writer_cta(w, &cta, &error), WW_INTERNAL);
    ww_trace_writer_abort(w);
}

static void giving_up_leaves_no_file(void **state) {
    (void)state;
    struct ww_trace_writer *w = start(&launch[0].launch);
    OK(ww_trace_writer_cta(w, &launch[0].cta[0], &error));
    ww_trace_writer_abort(w);
    char command[200];
    snprintf(command, sizeof command, "ls %s* 2>/dev/null | grep -q .", ww_made_path(&arena, "w.wwt"));
    assert_int_not_equal(system(command), 0);
}

static void an_unended_launch_cannot_be_finished(void **state) {
    (void)state;
    assert_int_equal(ww_trace_writer_finish(start(&launch[0].launch), NULL, &error), WW_USAGE);
    assert_int_not_equal(access(ww_made_path(&arena, "w.wwt"), F_OK), 0);
}

static void a_directory_that_is_not_there_is_an_error(void **state) {
    (void)state;
    struct ww_trace_writer *w;
    assert_int_equal(ww_trace_writer_new("/nonexistent/x.wwt", NULL, 0, &w, &error), WW_IO);
    assert_null(w);
}

/* A grid of 2^62 CTAs, of which three are there. */
static void huge_grids_are_indexed_sparsely(void **state) {
    (void)state;
    struct ww_made_launch l = launch[1];
    struct ww_cta_trace cta[3] = {l.cta[0], l.cta[1], l.cta[2]};
    struct ww_trace *t;
    for (int i = 0; i < 3; i++) l.launch.grid[i] = i < 2 ? 1u << 31 : 1;
    cta[1].index = (uint64_t)1 << 40;
    cta[2].index = ((uint64_t)1 << 62) - 1;
    l.cta = cta;
    l.cta_count = 3;
    const char *out = ww_made_path(&arena, "huge.wwt");
    OK(ww_made_write(out, &l, 1, 2, &error));
    OK(ww_trace_open(out, &t, &error));
    OK(ww_trace_verify(t, NULL, NULL, &error));
    for (int i = 0; i < 3; i++) {
        struct ww_cta_trace got;
        OK(ww_trace_load_cta(t, 0, cta[i].index, &got, &error));
        assert_null(ww_made_compare(&l.launch, &got, &cta[i]));
        ww_trace_release_cta(t, &got);
    }
    assert_false(ww_trace_has_cta(t, 0, 1));
    ww_trace_close(t);
}

/* With little memory for what waits, groups are written out of order; nothing is lost, nothing comes twice. */
static void a_writer_short_of_memory_writes_everything_once(void **state) {
    (void)state;
    const struct ww_made_launch *l = &launch[0];
    const char *out = ww_made_path(&arena, "w.wwt");
    struct ww_trace_writer *w = start(&l->launch);
    struct ww_trace *t;
    w->pending_limit = 6000;
    for (size_t i = 0; i < 40; i++) OK(ww_trace_writer_cta(w, &l->cta[(i * 27 + 5) % 40], &error));
    assert_int_equal(ww_trace_writer_cta(w, &l->cta[5], &error), WW_USAGE);
    OK(ww_trace_writer_end_launch(w, &error));
    OK(ww_trace_writer_finish(w, NULL, &error));
    OK(ww_trace_open(out, &t, &error));
    assert_true(t->index.launch[0].group_count > 3);
    OK(ww_trace_verify(t, NULL, NULL, &error));
    check_held(t, 0, l, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    ww_trace_close(t);
    unlink(out);
}

static void a_grid_past_64_bits_is_refused(void **state) {
    (void)state;
    struct ww_launch l = launch[1].launch;
    struct ww_trace_writer *w = start(NULL);
    for (int i = 0; i < 3; i++) l.grid[i] = UINT32_MAX;
    assert_int_equal(ww_trace_writer_launch(w, &l, &error), WW_UNSUPPORTED);
    ww_trace_writer_abort(w);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(a_slice_holds_the_ctas_asked_for_and_no_others),
        T(a_slice_of_launches_numbers_them_anew),
        T(a_slice_of_a_slice_holds_what_both_have),
        T(a_slice_counts_only_what_it_holds),
        T(a_slice_says_where_it_is_from),
        T(a_slice_of_everything_is_the_same_file),
        T(a_slice_refuses_numbers_out_of_range_and_leaves_no_file),
        T(info_as_json_adds_up),
        T(info_as_text_names_kernels_and_shapes),
        T(dump_prints_a_line_for_each_step),
        T(dump_refuses_what_is_not_there),
        T(a_cta_added_twice_is_refused),
        T(a_cta_outside_the_grid_is_refused),
        T(a_stream_that_breaks_an_invariant_is_refused),
        T(a_lane_that_the_cta_lacks_is_refused),
        T(giving_up_leaves_no_file),
        T(an_unended_launch_cannot_be_finished),
        T(a_directory_that_is_not_there_is_an_error),
        T(huge_grids_are_indexed_sparsely),
        T(a_writer_short_of_memory_writes_everything_once),
        T(a_grid_past_64_bits_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
