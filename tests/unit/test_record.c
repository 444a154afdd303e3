/* test_record.c: recorded streams: steps, masks, accesses; recording into a file; launch descriptions. */
#include "../../estimator/warpwatt.h"
#include "exec_test.h"
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL(module, regs, body)                                                                             \
    PTX_HEAD module                                                                                            \
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %rd<12>; .reg .b32 %r<20>; .reg .pred %p<8>;\n" regs  \
        "ld.param.u64 %rd0,[p0]; mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1;\n" body  \
        "\n}\n"

#define MAX_STEPS 4096u

/* A copy of the CTAs that were recorded. */
struct seen {
    struct ww_device *device;
    uint64_t ctas;
    uint32_t warps, steps[32], accesses[32];
    struct ww_step step[4][MAX_STEPS];
    struct ww_access access[4][MAX_STEPS];
    uint64_t pool[4][MAX_STEPS];
};

static void on_cta(void *context, const struct ww_cta_trace *cta) {
    struct seen *s = context;
    s->ctas++;
    s->warps = cta->warp_count;
    for (uint32_t w = 0; w < cta->warp_count && w < 4; w++) {
        const struct ww_warp_stream *x = &cta->warp[w];
        assert_in_range(x->step_count, 1, MAX_STEPS);
        s->steps[w] = x->step_count;
        s->accesses[w] = x->access_count;
        memcpy(s->step[w], x->step, x->step_count * sizeof *x->step);
        if (x->access_count) memcpy(s->access[w], x->access, x->access_count * sizeof *x->access);
        uint32_t lists = 0;
        for (uint32_t a = 0; a < x->access_count; a++)
            if (x->access[a].list != WW_AFFINE && x->access[a].list + 32 > lists)
                lists = x->access[a].list + 32;
        if (lists) memcpy(s->pool[w], x->pool, 16 * 8);
    }
}

/* Records k(out) of one CTA, `cut` steps of a warp if that is not 0; the table of its instructions is copied to
 * `inst`. */
static struct seen *record_cut(const char *text, uint32_t threads, uint64_t cut, struct ww_inst *inst,
                               uint32_t *count) {
    struct exec_test t;
    struct seen *s = calloc(1, sizeof *s);
    const uint64_t first = 0;
    const struct ww_cta_pick pick = {&first, 1, cut};
    exec_open(&t, text);
    if (cut) ww_device_pick(t.device, &pick);
    ww_device_watch(t.device, on_cta, s);
    uint64_t address = exec_alloc(&t, NULL, 4096);
    exec_must(&t, exec_launch(&t, "k", 1, threads, 0, &address, 1));
    const struct ww_inst *table = ww_device_table(t.device, count);
    assert_in_range(*count, 1, 512);
    memcpy(inst, table, *count * sizeof *inst);
    exec_close(&t);
    return s;
}

static struct seen *record(const char *text, uint32_t threads, struct ww_inst *inst, uint32_t *count) {
    return record_cut(text, threads, 0, inst, count);
}

/* The n-th step of a class in a warp's stream, or NULL. */
static const struct ww_step *find_step(const struct seen *s, uint32_t warp, const struct ww_inst *inst,
                                       uint8_t op, uint32_t n, const struct ww_access **access) {
    uint32_t a = 0;
    for (uint32_t k = 0; k < s->steps[warp]; k++) {
        const struct ww_inst *i = &inst[s->step[warp][k].inst];
        if (i->op == op && n-- == 0) {
            if (access) *access = &s->access[warp][a];
            return &s->step[warp][k];
        }
        a += (i->flags & WW_INST_ACCESS) != 0;
    }
    return NULL;
}

static void masks_are_active_lanes_and_guard(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record(
        KERNEL("", "",
               "setp.lt.u32 %p1,%r0,10; @%p1 st.global.u32 [%rd1],%r0; setp.ge.u32 %p2,%r0,20; @%p2 bra OUT;"
               "st.global.u32 [%rd1+1024],%r0; OUT: st.global.u32 [%rd1+2048],%r0; ret;"),
        40, inst, &count);
    assert_int_equal(s->ctas, 1);
    assert_int_equal(s->warps, 2);
    const struct ww_access *a;
    const struct ww_step *x = find_step(s, 0, inst, WW_OP_STORE, 0, &a);
    assert_int_equal(x->mask, 0x3ff);
    assert_int_equal(a->list, WW_AFFINE);
    assert_int_equal(a->stride, 4);
    assert_int_equal(a->base, 0x10000000);
    x = find_step(s, 0, inst, WW_OP_STORE, 1, &a);
    assert_int_equal(x->mask, 0xfffff);
    assert_int_equal(a->base, 0x10000000 + 1024);
    assert_int_equal(find_step(s, 0, inst, WW_OP_STORE, 2, NULL)->mask, UINT32_MAX);
    assert_null(find_step(s, 0, inst, WW_OP_STORE, 3, NULL));
    /* lanes 32-39: the first store is issued with no lane, the second is jumped over */
    assert_int_equal(find_step(s, 1, inst, WW_OP_STORE, 0, &a)->mask, 0);
    x = find_step(s, 1, inst, WW_OP_STORE, 1, &a);
    assert_int_equal(x->mask, 0xff);
    assert_int_equal(a->base, 0x10000000 + 2048 + 128);
    assert_null(find_step(s, 1, inst, WW_OP_STORE, 2, NULL));
    free(s);
}

static void loops_repeat_their_steps(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count, stores = 0;
    struct seen *s = record(
        KERNEL("", "",
               "mov.u32 %r1,0; LOOP: st.global.u32 [%rd1],%r1; add.u32 %r1,%r1,1; setp.lt.u32 %p1,%r1,%r0;"
               "@%p1 bra LOOP; ret;"),
        32, inst, &count);
    for (const struct ww_step *x; (x = find_step(s, 0, inst, WW_OP_STORE, stores, NULL)); stores++)
        assert_int_equal(x->mask, stores == 0 ? UINT32_MAX : UINT32_MAX << (stores + 1));
    assert_int_equal(stores, 31);
    free(s);
}

static void scattered_addresses_are_listed_in_lane_order(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record(KERNEL("", "",
                                   "mul.lo.u32 %r1,%r0,%r0; mul.wide.u32 %rd2,%r1,4; add.u64 %rd2,%rd0,%rd2;"
                                   "st.global.u32 [%rd2],%r0; ret;"),
                            5, inst, &count);
    const struct ww_access *a;
    assert_int_equal(find_step(s, 0, inst, WW_OP_STORE, 0, &a)->mask, 31);
    assert_int_not_equal(a->list, WW_AFFINE);
    for (uint64_t l = 0; l < 5; l++) assert_int_equal(s->pool[0][a->list + l], 0x10000000 + 4 * l * l);
    free(s);
}

static void spaces_are_recorded_with_offsets_of_their_own(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record(
        KERNEL("", ".shared .align 8 .b8 pad[8]; .shared .align 4 .b8 s[256];",
               "mov.u64 %rd2,s; mul.wide.u32 %rd3,%r0,4; add.u64 %rd2,%rd2,%rd3; cvta.shared.u64 %rd4,%rd2;"
               "setp.eq.u32 %p1,%r0,3; selp.b64 %rd4,%rd1,%rd4,%p1; st.u32 [%rd4],%r0; mov.u32 %r5,pad; "
               "st.shared.u32 [%r5],%r0; ret;"),
        32, inst, &count);
    const struct ww_access *a;
    uint32_t shared = 0, global = 0;
    for (uint32_t n = 0; n < 2; n++) {
        const struct ww_step *x = find_step(s, 0, inst, WW_OP_STORE, n, &a);
        uint8_t space = inst[x->inst].space;
        if (space == WW_SPACE_SHARED) {
            assert_int_equal(x->mask, ~8u);
            assert_int_equal(a->stride, 4);
            shared++;
            assert_in_range(a->base, 0, 64);
        } else {
            assert_int_equal(space, WW_SPACE_GLOBAL);
            assert_int_equal(x->mask, 8);
            assert_int_equal(a->base + 3 * (uint64_t)(int64_t)a->stride, 0x10000000 + 12);
            global++;
        }
    }
    assert_int_equal(shared, 1);
    assert_int_equal(global, 1);
    free(s);
}

static void every_access_instruction_has_an_access(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record(
        KERNEL(
            "", ".shared .align 4 .b8 s[256]; .reg .f32 %f<4>;",
            "mov.u32 %r1,s; bar.sync 0; ld.global.f32 %f1,[%rd1]; sqrt.rn.f32 %f2,%f1; div.rn.f32 %f3,%f2,%f1;"
            "st.shared.f32 [%r1],%f3; atom.global.add.u32 %r2,[%rd0],1; nanosleep.u32 100; bar.sync 1, 64; "
            "ret;"),
        64, inst, &count);
    for (uint32_t w = 0; w < 2; w++) {
        uint32_t accesses = 0;
        for (uint32_t k = 0; k < s->steps[w]; k++) {
            assert_in_range(s->step[w][k].inst, 0, count - 1);
            accesses += (inst[s->step[w][k].inst].flags & WW_INST_ACCESS) != 0;
        }
        assert_int_equal(accesses, s->accesses[w]);
        assert_non_null(find_step(s, w, inst, WW_OP_BARRIER, 1, NULL));
        assert_non_null(find_step(s, w, inst, WW_OP_EXIT, 0, NULL));
    }
    free(s);
}

/* ---- files ---- */

static char FOLDER[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(FOLDER, "/tmp/ww_record_XXXXXX");
    return mkdtemp(FOLDER) ? 0 : -1;
}

static const char *path(const char *name) {
    static char p[4][160];
    static unsigned n;
    n = (n + 1) % 4;
    snprintf(p[n], sizeof p[n], "%s/%s", FOLDER, name);
    return p[n];
}

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(path(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", FOLDER);
    return system(command);
}

static const char SCALE[] =
    PTX_HEAD ".visible .entry scale(.param .u64 x, .param .f32 f, .param .u32 n) { .reg .b64 %rd<4>; .reg .b32 "
             "%r<6>; .reg .f32 %f<4>; .reg .pred %p;"
             "ld.param.u64 %rd1,[x]; ld.param.f32 %f1,[f]; ld.param.u32 %r1,[n]; mov.u32 %r2,%ctaid.x; mov.u32 "
             "%r3,%ntid.x; mov.u32 %r4,%tid.x;"
             "mad.lo.u32 %r5,%r2,%r3,%r4; setp.ge.u32 %p,%r5,%r1; @%p ret; mul.wide.u32 %rd2,%r5,4; add.u64 "
             "%rd3,%rd1,%rd2;"
             "ld.global.f32 %f2,[%rd3]; mul.f32 %f3,%f2,%f1; st.global.f32 [%rd3],%f3; ret; }\n";

#define SCALE_JSON(expect)                                                                                     \
    "{\"kernel\": \"scale\", \"grid\": [8], \"block\": 128, \"args\": [{\"buffer\": \"x\"}, {\"f32\": 2.5}, "  \
    "{\"u32\": 1000}],"                                                                                        \
    " \"buffers\": {\"x\": {\"type\": \"f32\", \"count\": 1000, \"fill\": {\"sequence\": {\"start\": 0, "      \
    "\"step\": 2}}, " expect "}}}"

static enum ww_code record_json(const char *json, const char *out, struct ww_record_stats *stats,
                                struct ww_error *e) {
    struct ww_record_options options = {.out_path = out};
    write_file("scale.ptx", SCALE);
    write_file("launch.json", json);
    return ww_record_ptx(path("scale.ptx"), path("launch.json"), &options, stats, e);
}

#define LONG_LOOP                                                                                              \
    KERNEL("", "",                                                                                             \
           "mov.u32 %r2,0; LOOP: add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,100; @%p1 bra LOOP; "                  \
           "st.global.u32 [%rd1],%r2; ret;")

static void a_cut_warp_ends_near_its_steps_with_an_exit_of_its_lanes(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record_cut(LONG_LOOP, 64, 50, inst, &count);
    for (uint32_t w = 0; w < 2; w++) {
        const struct ww_step *last = &s->step[w][s->steps[w] - 1];
        assert_in_range(s->steps[w], 51, 56);
        assert_int_equal(inst[last->inst].op, WW_OP_EXIT);
        assert_int_equal(last->mask, UINT32_MAX);
    }
    free(s);
}

static void a_cut_behind_its_end_leaves_a_warp_as_it_is(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *whole = record(LONG_LOOP, 32, inst, &count);
    struct seen *cut = record_cut(LONG_LOOP, 32, 1000, inst, &count);
    assert_int_equal(cut->steps[0], whole->steps[0]);
    assert_memory_equal(cut->step[0], whole->step[0], whole->steps[0] * sizeof *whole->step[0]);
    free(whole);
    free(cut);
}

static void at_a_barrier_of_some_threads_a_warp_does_not_wait_for_cut_ones(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record_cut(KERNEL("", "",
                                       "mov.u32 %r2,0; bar.sync 1, 64; setp.ge.u32 %p2,%r0,32; @%p2 bra WAIT;"
                                       "LOOP: add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,100; @%p1 bra LOOP;"
                                       "WAIT: bar.sync 1, 64; st.global.u32 [%rd1],%r2; ret;"),
                                64, 50, inst, &count);
    assert_int_equal(find_step(s, 1, inst, WW_OP_BARRIER, 0, NULL)->mask, UINT32_MAX);
    assert_int_equal(find_step(s, 1, inst, WW_OP_BARRIER, 1, NULL)->mask, 0);
    free(s);
}

static void a_warp_that_waits_at_a_barrier_for_cut_ones_ends_with_them(void **state) {
    (void)state;
    struct ww_inst inst[512];
    uint32_t count;
    struct seen *s = record_cut(KERNEL("", "",
                                       "mov.u32 %r2,0; setp.ge.u32 %p2,%r0,32; @%p2 bra WAIT;"
                                       "LOOP: add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,100; @%p1 bra LOOP;"
                                       "WAIT: bar.sync 0; st.global.u32 [%rd1],%r2; ret;"),
                                64, 50, inst, &count);
    assert_int_equal(s->ctas, 1);
    assert_null(find_step(s, 1, inst, WW_OP_STORE, 0, NULL));
    assert_non_null(find_step(s, 1, inst, WW_OP_EXIT, 0, NULL));
    free(s);
}

static void a_ptx_file_is_recorded_under_its_launch_description(void **state) {
    (void)state;
    struct ww_record_stats stats;
    struct ww_error e;
    char out[160];
    snprintf(out, sizeof out, "%s", path("scale.wwt"));
    enum ww_code code =
        record_json(SCALE_JSON("\"expect\": {\"sequence\": {\"start\": 0, \"step\": 5}}"), out, &stats, &e);
    if (code != WW_OK) fail_msg("%s: %s", e.where, e.text);
    assert_true(stats.verified);
    assert_int_equal(stats.launches, 1);
    struct ww_trace *t;
    assert_int_equal(ww_trace_open(out, &t, &e), WW_OK);
    assert_int_equal(ww_trace_verify(t, NULL, NULL, &e), WW_OK);
    struct ww_launch_info info;
    assert_int_equal(ww_trace_launch_info(t, 0, &info, &e), WW_OK);
    assert_string_equal(info.kernel, "scale");
    assert_string_equal(info.arch, "sm_70");
    assert_int_equal(info.warp_instructions, stats.warp_instructions);
    assert_int_equal(info.thread_instructions, stats.thread_instructions);
    assert_true(info.registers_per_thread > 0);
    ww_trace_close(t);
}

static void a_result_that_differs_is_a_mismatch(void **state) {
    (void)state;
    struct ww_record_stats stats;
    struct ww_error e;
    assert_int_equal(
        record_json(
            SCALE_JSON("\"expect\": {\"sequence\": {\"start\": 0, \"step\": 5.01}, \"tolerance\": 0.025}"),
            NULL, &stats, &e),
        WW_MISMATCH);
    assert_non_null(strstr(e.text, "element 3 of buffer x is 15"));
    assert_false(stats.verified);
    assert_int_equal(
        record_json(
            SCALE_JSON("\"expect\": {\"sequence\": {\"start\": 0, \"step\": 5.01}, \"relative\": 0.01}"), NULL,
            &stats, &e),
        WW_OK);
}

static void a_failed_recording_leaves_no_file(void **state) {
    (void)state;
    struct ww_record_stats stats;
    struct ww_error e;
    char out[160];
    snprintf(out, sizeof out, "%s", path("bad.wwt"));
    assert_int_equal(record_json(SCALE_JSON("\"expect\": {\"value\": 3}"), out, &stats, &e), WW_MISMATCH);
    assert_int_equal(access(out, F_OK), -1);
}

static void malformed_descriptions_name_the_json_path(void **state) {
    (void)state;
    static const struct {
        const char *json, *where, *text;
    } bad[] = {
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 0}", "$", "block"},
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"blocks\": 1}", "$.blocks", "unknown key"},
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"args\": [{\"u32\": 1}, {\"u32\": -1}]}",
         "$.args[1]", "u32"},
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"args\": [{\"buffer\": \"y\"}]}", "$.args[0]",
         "buffer"},
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"buffers\": {\"x\": {\"type\": \"f33\", "
         "\"count\": 1}}}",
         "$.buffers.x", "type"},
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"buffers\": {\"x\": {\"bytes\": 4, \"fill\": "
         "{\"zero\": 1}}}}",
         "$.buffers.x.fill", "unknown key"},
        {"{\"launches\": [{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1}, {\"grid\": 1, \"block\": 1}]}",
         "$.launches[1]", "kernel"},
        {"{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"args\": [{\"bytes\": \"0g\"}]}", "$.args[0]",
         "hexadecimal"},
    };
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        struct ww_record_stats stats;
        struct ww_error e;
        assert_int_equal(record_json(bad[n].json, NULL, &stats, &e), WW_INPUT);
        if (!strstr(e.where, bad[n].where) || !strstr(e.where, "launch.json"))
            fail_msg("'%s' does not name %s", e.where, bad[n].where);
        if (!strstr(e.text, bad[n].text)) fail_msg("'%s' does not say %s", e.text, bad[n].text);
    }
}

#define ONE_ARGUMENT(arg) "{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"args\": [" arg "]}"
#define ONE_BUFFER(more)                                                                                       \
    "{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"args\": [{\"buffer\": \"x\"}, {\"f32\": 1}, "        \
    "{\"u32\": 0}], \"buffers\": {\"x\": {\"type\": \"f64\", \"count\": 4, " more "}}}"

static void fails_as_input(const char *json, const char *where) {
    struct ww_record_stats stats;
    struct ww_error e = {0};
    enum ww_code code = record_json(json, NULL, &stats, &e);
    if (code != WW_INPUT || !strstr(e.where, where)) fail_msg("%s: %d: %s: %s", json, code, e.where, e.text);
}

static void numbers_beyond_a_double_are_refused(void **state) {
    (void)state;
    fails_as_input(ONE_ARGUMENT("{\"f64\": 1e400}"), "$.args[0]");
    fails_as_input(ONE_ARGUMENT("{\"f32\": 1e39}"), "$.args[0]");
    fails_as_input(ONE_ARGUMENT("{\"f16\": 70000}"), "$.args[0]");
    fails_as_input(ONE_BUFFER("\"fill\": {\"value\": 1e400}"), "$.buffers.x.fill");
    fails_as_input(ONE_BUFFER("\"fill\": {\"values\": [1, -1e400]}"), "$.buffers.x.fill");
    fails_as_input(ONE_BUFFER("\"fill\": {\"random\": {\"min\": 0, \"max\": 1e400}}"), "$.buffers.x.fill");
    fails_as_input(ONE_BUFFER("\"fill\": {\"sequence\": {\"start\": 0, \"step\": 1e400}}"), "$.buffers.x.fill");
    fails_as_input(ONE_BUFFER("\"fill\": {\"sequence\": {\"start\": 0, \"step\": 1e308}}"), "$.buffers.x");
    fails_as_input(ONE_BUFFER("\"expect\": {\"value\": 0, \"tolerance\": 1e999}"), "$.buffers.x.expect");
    fails_as_input(ONE_BUFFER("\"expect\": {\"value\": 0, \"relative\": 1e999}"), "$.buffers.x.expect");
}

static void integers_as_text_fit_their_type_and_are_only_digits(void **state) {
    (void)state;
    static const char *const bad[] = {"{\"u64\": \"0x1ffffffffffffffff\"}",
                                      "{\"u64\": \"99999999999999999999999\"}",
                                      "{\"u64\": \"18446744073709551616\"}",
                                      "{\"u64\": \"-1\"}",
                                      "{\"u64\": \" 5\"}",
                                      "{\"u64\": \"+5\"}",
                                      "{\"u64\": \"5 \"}",
                                      "{\"u64\": \"\"}",
                                      "{\"u64\": \"0x\"}",
                                      "{\"u64\": \"0x-5\"}",
                                      "{\"u64\": \"0x0x5\"}",
                                      "{\"s64\": \"-9223372036854775809\"}",
                                      "{\"s64\": \"9223372036854775808\"}",
                                      "{\"s64\": \"--5\"}",
                                      "{\"s64\": \"- 5\"}"};
    char json[300];
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        snprintf(json, sizeof json, ONE_ARGUMENT("%s"), bad[n]);
        struct ww_record_stats stats;
        struct ww_error e = {0};
        assert_int_equal(record_json(json, NULL, &stats, &e), WW_INPUT);
        if (!strstr(e.text, "expected an integer")) fail_msg("%s: %s: %s", bad[n], e.where, e.text);
    }
    static const char *const good[] = {
        "{\"u64\": \"0xffffffffffffffff\"}", "{\"u64\": \"18446744073709551615\"}",
        "{\"s64\": \"-9223372036854775808\"}", "{\"s64\": \"9223372036854775807\"}", "{\"s64\": \"-0x10\"}"};
    for (size_t n = 0; n < sizeof good / sizeof *good;
         n++) { /* read; then their number does not fit the kernel */
        snprintf(json, sizeof json, ONE_ARGUMENT("%s"), good[n]);
        struct ww_record_stats stats;
        struct ww_error e = {0};
        assert_int_equal(record_json(json, NULL, &stats, &e), WW_INPUT);
        if (!strstr(e.text, "met 1 argument")) fail_msg("%s: %s: %s", good[n], e.where, e.text);
    }
}

static void data_files_are_regular_and_of_the_buffers_size(void **state) {
    (void)state;
    static const char eight[] =
        "{\"kernel\": \"scale\", \"grid\": 1, \"block\": 1, \"args\": [{\"buffer\": \"x\"}, "
        "{\"f32\": 1}, {\"u32\": 2}], \"buffers\": {\"x\": {\"type\": \"u8\", \"count\": 8, "
        "\"fill\": {\"file\": \"%s\"}, \"expect\": {\"file\": \"%s\"}}}}";
    static const struct {
        const char *file;
        enum ww_code want;
        const char *text;
    } all[] = {{"/dev/zero", WW_IO, "regular"},    {"fifo", WW_IO, "regular"},
               {"seven.bin", WW_INPUT, "7 bytes"}, {"nine.bin", WW_INPUT, "9 bytes"},
               {"none.bin", WW_IO, "open"},        {"eight.bin", WW_OK, ""}};
    write_file("seven.bin", "1234567");
    write_file("eight.bin", "12345678");
    write_file("nine.bin", "123456789");
    unlink(path("fifo"));
    assert_int_equal(mkfifo(path("fifo"), 0600), 0);
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        char json[400];
        struct ww_record_stats stats;
        struct ww_error e = {0};
        snprintf(json, sizeof json, eight, all[n].file, all[n].file);
        enum ww_code code = record_json(json, NULL, &stats, &e);
        if (code != all[n].want || !strstr(e.text, all[n].text))
            fail_msg("%s: %d: %s", all[n].file, code, e.text);
    }
}

static void a_workload_is_verified_without_a_file(void **state) {
    (void)state;
    struct ww_record_options options = {.out_path = NULL};
    struct ww_record_stats stats;
    struct ww_error e;
    const char *parameters[] = {"n=1000"};
    enum ww_code code = ww_record_workload("saxpy", parameters, 1, &options, &stats, &e);
    if (code != WW_OK) fail_msg("%s: %s", e.where, e.text);
    assert_true(stats.verified);
    assert_int_equal(stats.bytes, 0);
    options.arch = "sm_x";
    assert_int_equal(ww_record_workload("saxpy", parameters, 1, &options, &stats, &e), WW_USAGE);
    assert_int_equal(ww_record_workload("no such", parameters, 1, &options, &stats, &e), WW_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_active_lanes_and_guard),
        cmocka_unit_test(loops_repeat_their_steps),
        cmocka_unit_test(scattered_addresses_are_listed_in_lane_order),
        cmocka_unit_test(spaces_are_recorded_with_offsets_of_their_own),
        cmocka_unit_test(every_access_instruction_has_an_access),
        cmocka_unit_test(at_a_barrier_of_some_threads_a_warp_does_not_wait_for_cut_ones),
        cmocka_unit_test(a_cut_warp_ends_near_its_steps_with_an_exit_of_its_lanes),
        cmocka_unit_test(a_cut_behind_its_end_leaves_a_warp_as_it_is),
        cmocka_unit_test(a_warp_that_waits_at_a_barrier_for_cut_ones_ends_with_them),
        cmocka_unit_test(a_ptx_file_is_recorded_under_its_launch_description),
        cmocka_unit_test(a_result_that_differs_is_a_mismatch),
        cmocka_unit_test(a_failed_recording_leaves_no_file),
        cmocka_unit_test(malformed_descriptions_name_the_json_path),
        cmocka_unit_test(numbers_beyond_a_double_are_refused),
        cmocka_unit_test(integers_as_text_fit_their_type_and_are_only_digits),
        cmocka_unit_test(data_files_are_regular_and_of_the_buffers_size),
        cmocka_unit_test(a_workload_is_verified_without_a_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
