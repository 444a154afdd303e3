/* test_spin.c: waits for another CTA's write: how loops that spin are recorded, kept and replayed. */
#include "exec_test.h"
#include "../../estimator/result/result.h"
#include "../../traces/trace.h"
#include "../../traces/wwt/waits.h"
#include <unistd.h>

#define CTAS 8u

/* Every CTA adds 1 to a count and waits until all have; four barriers. Each writes an element then. */
static const char barriers[] =
    PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<10>; .reg .pred %p<4>;\n"
             "ld.param.u64 %rd0,[p0]; mov.u32 %r0,%tid.x; mov.u32 %r1,%ctaid.x; mov.u32 %r2,0;\n"
             "NEXT: add.u32 %r2,%r2,8; bar.sync 0; setp.ne.u32 %p1,%r0,0; @%p1 bra SYNC;\n"
             "red.global.add.u32 [%rd0],1;\n"
             "WAIT: ld.volatile.global.u32 %r5,[%rd0]; setp.lt.u32 %p2,%r5,%r2; @%p2 bra WAIT;\n"
             "SYNC: bar.sync 0; setp.lt.u32 %p3,%r2,32; @%p3 bra NEXT;\n"
             "mul.wide.u32 %rd1,%r1,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1+256],%r2; ret;\n}\n";

/* A loop that carries a count of its turns on does more than wait. */
static const char counts_turns[] = PTX_HEAD
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<10>; .reg .pred %p<4>;\n"
    "ld.param.u64 %rd0,[p0]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,0; setp.eq.u32 %p1,%r1,7; @%p1 bra SET;\n"
    "WAIT: ld.volatile.global.u32 %r5,[%rd0]; add.u32 %r2,%r2,1; setp.eq.u32 %p2,%r5,0; @%p2 bra WAIT;\n"
    "st.global.u32 [%rd0+256],%r2; ret;\n"
    "SET: st.volatile.global.u32 [%rd0],1; ret;\n}\n";

static char path[40];
static struct ww_error error;

static void record(const char *text, uint32_t out[CTAS]) {
    struct exec_test t = {0};
    struct ww_record_options options = {.instruction_limit = 10000000, .out_path = path};
    struct ww_record_stats stats;
    assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
    enum ww_code code = ww_device_module_text(t.device, text, strlen(text), "test.ptx", &t.module, &t.error);
    if (code != WW_OK) fail_msg("%s: %s", t.error.where, t.error.text);
    uint64_t address = exec_alloc(&t, NULL, 512);
    exec_must(&t, exec_launch(&t, "k", CTAS, 32, 0, &address, 1));
    assert_int_equal(ww_device_read(t.device, out, address + 256, 4 * CTAS, &t.error), WW_OK);
    exec_must(&t, ww_device_finish(t.device, &stats, &t.error));
    exec_close(&t);
}

/* Loads of a CTA's first warp that wait; *least: the lowest number of writes among them. */
static uint32_t waits_of(struct ww_trace *t, uint64_t cta, uint32_t expected[], uint32_t most) {
    const struct ww_launch *l;
    struct ww_cta_trace c;
    uint32_t n = 0;
    assert_int_equal(ww_trace_launch(t, 0, &l, &error), WW_OK);
    assert_int_equal(ww_trace_load_cta(t, 0, cta, &c, &error), WW_OK);
    const struct ww_access *a = c.warp[0].access;
    for (uint32_t k = 0; k < c.warp[0].step_count; k++) {
        const struct ww_inst *i = &l->inst[c.warp[0].step[k].inst];
        if ((i->flags & WW_INST_WAIT) && n < most) expected[n++] = (uint32_t)a->stride;
        a += i->flags & WW_INST_ACCESS;
    }
    ww_trace_release_cta(t, &c);
    return n;
}

static void a_barrier_is_one_wait_for_the_last_arrival(void **state) {
    (void)state;
    uint32_t out[CTAS], writes[8];
    struct ww_trace *t;
    record(barriers, out);
    for (uint32_t i = 0; i < CTAS; i++) assert_int_equal(out[i], 32);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    for (uint64_t cta = 0; cta < CTAS; cta++) {
        assert_int_equal(waits_of(t, cta, writes, 8), 4);
        for (uint32_t k = 0; k < 4; k++) assert_int_equal(writes[k], 8 * (k + 1));
    }
    ww_trace_close(t);
}

static void the_trace_names_the_word(void **state) {
    (void)state;
    uint32_t out[CTAS];
    const struct ww_launch *l;
    struct ww_trace *t;
    record(barriers, out);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    assert_int_equal(ww_trace_launch(t, 0, &l, &error), WW_OK);
    assert_int_equal(l->wait_words, 1);
    assert_int_equal(l->wait_word[0], 0x10000000 / 4);
    ww_trace_close(t);
}

static void a_loop_that_counts_its_turns_keeps_them(void **state) {
    (void)state;
    uint32_t out[CTAS], writes[8];
    struct ww_trace *t;
    record(counts_turns, out);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    for (uint64_t cta = 0; cta < CTAS; cta++) assert_int_equal(waits_of(t, cta, writes, 8), 0);
    ww_trace_close(t);
}

static struct ww_result *replay(struct ww_gpu *gpu) {
    struct ww_run_options o = {.gpu = gpu, .trace_path = path};
    struct ww_result *r;
    if (ww_run(&o, &r, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return r;
}

static void warps_wait_for_the_write_and_each_instruction_is_issued_once(void **state) {
    (void)state;
    uint32_t out[CTAS];
    struct ww_gpu *gpu;
    record(barriers, out);
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    struct ww_result *r = replay(gpu);
    const struct ww_launch_result *l = &r->launch[0];
    assert_int_equal(l->counter[WW_C_SYNC_WAIT], 4 * CTAS);
    assert_int_equal(l->counter[WW_C_SYNC_GIVEN_UP], 0);
    assert_true(l->counter[WW_C_SYNC_ENDED] >= 4 * (CTAS - 1));
    assert_true(l->warp_cycles[WW_S_SYNC] > 0);
    assert_int_equal(l->counter[WW_C_INST_ISSUED], r->warp_instructions);
    ww_result_free(r);
    ww_gpu_free(gpu);
}

/* The first CTAs of a trace that lacks the others wait for writes that never come. */
static void waits_for_ctas_that_the_trace_lacks_are_given_up(void **state) {
    (void)state;
    uint32_t out[CTAS];
    char whole[40], slice[40];
    const struct ww_launch *l;
    struct ww_trace *t;
    struct ww_trace_writer *w;
    struct ww_gpu *gpu;
    record(barriers, out);
    snprintf(whole, sizeof whole, "%s", path);
    snprintf(slice, sizeof slice, "/tmp/ww-spin-%d-slice.wwt", (int)getpid());
    assert_int_equal(ww_trace_open(whole, &t, &error), WW_OK);
    assert_int_equal(ww_trace_launch(t, 0, &l, &error), WW_OK);
    assert_int_equal(ww_trace_writer_new(slice, NULL, 0, &w, &error), WW_OK);
    assert_int_equal(ww_trace_writer_launch(w, l, &error), WW_OK);
    for (uint64_t i = 0; i < 2; i++) {
        struct ww_cta_trace cta;
        assert_int_equal(ww_trace_load_cta(t, 0, i, &cta, &error), WW_OK);
        assert_int_equal(ww_trace_writer_cta(w, &cta, &error), WW_OK);
        ww_trace_release_cta(t, &cta);
    }
    assert_int_equal(ww_trace_writer_end_launch(w, &error), WW_OK);
    assert_int_equal(ww_trace_writer_finish(w, NULL, &error), WW_OK);
    ww_trace_close(t);
    snprintf(path, sizeof path, "%s", slice);
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    struct ww_result *r = replay(gpu);
    assert_int_equal(r->launch[0].counter[WW_C_SYNC_WAIT], 8);
    assert_int_equal(r->launch[0].counter[WW_C_SYNC_GIVEN_UP], 8);
    ww_result_free(r);
    ww_gpu_free(gpu);
    unlink(slice);
    snprintf(path, sizeof path, "%s", whole);
}

static void words_come_back_and_damage_is_refused(void **state) {
    (void)state;
    struct ww_wwt_waits waits = {0};
    uint64_t some[] = {900, 7, 7, 8};
    struct ww_wwt_words words = {.word = some, .count = 4, .room = 4};
    struct ww_wwt_launch launch[3] = {0};
    struct ww_wwt_index index = {.launch = launch, .launch_count = 3};
    struct ww_arena arena;
    struct ww_buf raw = {0};
    const char *why;
    ww_arena_init(&arena, 0);
    assert_null(ww_wwt_put_waits(&waits, &words, 1));
    ww_buf_varint(&raw, waits.count);
    ww_buf_append(&raw, waits.rows.p, waits.rows.n);
    struct ww_cursor c = {(unsigned char *)raw.p, (unsigned char *)raw.p + raw.n, false};
    assert_true(ww_wwt_get_waits(&c, &arena, &index, &why));
    assert_ptr_equal(c.p, c.end);
    assert_int_equal(launch[1].view.wait_words, 3);
    assert_int_equal(launch[1].view.wait_word[2], 900);
    for (size_t cut = 1; cut < raw.n; cut++) {
        c = (struct ww_cursor){(unsigned char *)raw.p, (unsigned char *)raw.p + cut, false};
        assert_false(ww_wwt_get_waits(&c, &arena, &index, &why));
    }
    index.launch_count = 1;
    c = (struct ww_cursor){(unsigned char *)raw.p, (unsigned char *)raw.p + raw.n, false};
    assert_false(ww_wwt_get_waits(&c, &arena, &index, &why));
    ww_buf_free(&raw);
    ww_buf_free(&waits.rows);
    ww_arena_free(&arena);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/ww-spin-%d.wwt", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_is_one_wait_for_the_last_arrival),
        cmocka_unit_test(the_trace_names_the_word),
        cmocka_unit_test(a_loop_that_counts_its_turns_keeps_them),
        cmocka_unit_test(warps_wait_for_the_write_and_each_instruction_is_issued_once),
        cmocka_unit_test(waits_for_ctas_that_the_trace_lacks_are_given_up),
        cmocka_unit_test(words_come_back_and_damage_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
