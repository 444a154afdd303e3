/* test_exec_odd.c: short PTX that is odd: it runs, or is refused with a line; nothing crashes. */
#include "../../estimator/warpwatt.h"
#include "../../traces/ptx/record/device_internal.h"
#include "exec_test.h"

#define KERNEL(module, body)                                                                                   \
    PTX_HEAD module                                                                                            \
        ".visible .entry k(.param .u64 b)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<9>;\n"          \
        ".reg .b16 %h<9>; .local .align 8 .b8 pad[16]; .local .align 8 .b8 l[64];\n"                           \
        "ld.param.u64 %rd0,[b]; mov.u32 %r0,%tid.x; mul.wide.u32 %rd8,%r0,4; add.u64 %rd8,%rd0,%rd8;\n" body   \
        "\nret;\n}\n"

static void ignore(void *context, const struct ww_cta_trace *cta) {
    (void)context;
    (void)cta;
}

/* Lowers, records and runs k(out) on 32 threads. */
static void run(const char *text, uint32_t out[32]) {
    static const char *const archs[] = {"sm_20", "sm_52", "sm_70"};
    for (unsigned a = 0; a < 3; a++) {
        struct exec_test t = {0};
        struct ww_record_options options = {.instruction_limit = 1000000, .arch = archs[a]};
        assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
        exec_must(&t, ww_device_module_text(t.device, text, strlen(text), "t.ptx", &t.module, &t.error));
        ww_device_watch(t.device, ignore, NULL);
        uint64_t address = exec_alloc(&t, NULL, 4096);
        exec_must(&t, exec_launch(&t, "k", 1, 32, 0, &address, 1));
        assert_int_equal(ww_device_read(t.device, out, address, 128, &t.error), WW_OK);
        exec_close(&t);
    }
}

/* Loading the text fails so, and says `part`. */
static void refuse(const char *text, enum ww_code want, const char *part) {
    struct exec_test t = {0};
    struct ww_record_options options = {0};
    assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
    enum ww_code code = ww_device_module_text(t.device, text, strlen(text), "t.ptx", &t.module, &t.error);
    if (code != want || !strstr(t.error.text, part)) fail_msg("%d: %s: %s", code, t.error.where, t.error.text);
    exec_close(&t);
}

static void activemask_needs_no_source(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL("", "activemask.b32 %r1; st.global.u32 [%rd8],%r1;"), out);
    assert_int_equal(out[31], UINT32_MAX);
}

static void local_addresses_are_operands_of_any_instruction(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL("", "mov.u64 %rd1,l; add.u64 %rd2,l,4; sub.u64 %rd3,%rd2,%rd1; cvta.local.u64 %rd4,l;"
                   "st.u32 [%rd4+8],77; ld.local.u32 %r3,[l+8]; not.b32 %r1,l; not.b32 %r2,%r1;"
                   "cvt.u32.u64 %r4,%rd3; cvt.u32.u64 %r5,%rd1; sub.u32 %r2,%r2,%r5; add.u32 %r4,%r4,%r2;"
                   "mad.lo.u32 %r4,%r3,100,%r4; st.global.u32 [%rd8],%r4;"),
        out);
    assert_int_equal(out[5], 7704);
    refuse(KERNEL("", "not.pred %p1,l;"), WW_UNSUPPORTED, "operand 2");
}

static void a_combination_needs_its_predicate(void **state) {
    (void)state;
    refuse(KERNEL("", "setp.eq.and.b32 %p3,%r1,%r2;"), WW_INPUT, "predicate");
    refuse(KERNEL("", "set.lt.and.u32.u32 %r3,%r1,%r2;"), WW_INPUT, "predicate");
    refuse(KERNEL("", "setp.eq.b32 %p3,%r1,%r2,%p1;"), WW_INPUT, ".and");
    refuse(KERNEL("", "lop3.b32 %r7|%p1,%r2,%r7,%r3,0x80;"), WW_INPUT, ".and or .or");
    refuse(KERNEL("", "lop3.or.b32 %r7,%r2,%r7,%r3,0x80,%p1;"), WW_INPUT, "d|p");
    refuse(KERNEL("", "lop3.or.b32 %r7|%p1,%r2,%r7,%r3,0x80;"), WW_INPUT, "predicate");
}

static void an_unpacking_needs_its_source(void **state) {
    (void)state;
    refuse(KERNEL("", "mov.b64 {%r1,%r2};"), WW_UNSUPPORTED, "operand 1");
    refuse(KERNEL("", "mov.b64 {%r1,%r2}|%p1;"), WW_UNSUPPORTED, "operand");
}

static void lop3_tests_its_result(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL("", "setp.lt.u32 %p1,%r0,8; lop3.or.b32 %r1|%p2,%r0,16,-1,0x80,%p1;"
                   "lop3.and.b32 _|%p3,%r0,1,-1,0x80,!%p1; selp.u32 %r2,100,0,%p2; selp.u32 %r3,1000,0,%p3;"
                   "add.u32 %r1,%r1,%r2; add.u32 %r1,%r1,%r3; st.global.u32 [%rd8],%r1;"),
        out);
    for (uint32_t l = 0; l < 32; l++)
        assert_int_equal(out[l], (l & 16) + ((l & 16) || l < 8 ? 100u : 0u) + ((l & 1) && l >= 8 ? 1000u : 0u));
}

static void a_register_may_be_written_twice_at_once(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL("",
               "mov.u32 %r2,3; mov.u32 %r3,4; setp.lt.s32 %p2|%p2,%r2,4; mov.b64 %rd1,{%r2,%r3};"
               "mov.b64 {%r1,%r1},%rd1; selp.u32 %r4,1,0,%p2; add.u32 %r1,%r1,%r4; st.global.u32 [%rd8],%r1;"),
        out);
    assert_int_equal(out[0], 4); /* the last destination wins: 4, and the complement, 0 */
}

static void variables_of_no_bytes_load(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL(".global .b8 g[0];\n", "st.global.u32 [%rd8],5;"), out);
    assert_int_equal(out[3], 5);
    run(KERNEL(".global .b8 g[]={};\n", "mov.u64 %rd1,g; st.global.u32 [%rd8],5;"), out);
    assert_int_equal(out[3], 5);
    refuse(KERNEL(".global .b8 g[1<<41];\n", ""), WW_INPUT, "");
}

static void one_cta_of_local_memory_after_another_fits(void **state) {
    (void)state;
    struct exec_test t;
    exec_open(&t, KERNEL("", ".local .b8 s[65536]; st.local.u8 [s],1;"));
    uint64_t address = exec_alloc(&t, NULL, 4096);
    exec_must(&t, exec_launch(&t, "k", 3000, 32, 0, &address, 1)); /* 6 GB if none were given back */
    exec_close(&t);
}

/* Runs k on one thread, which fails and says `part`. */
static void fails(const char *text, const char *part) {
    struct exec_test t;
    exec_open_limit(&t, text, 10000000);
    uint64_t address = exec_alloc(&t, NULL, 4096);
    assert_int_equal(exec_launch(&t, "k", 1, 1, 0, &address, 1), WW_EXEC);
    if (!strstr(t.error.text, part)) fail_msg("'%s' does not say '%s'", t.error.text, part);
    exec_close(&t);
}

static void offsets_before_a_window_are_negative(void **state) {
    (void)state;
    fails(KERNEL("", "mov.u64 %rd1,0; ld.shared.u32 %r1,[%rd1+-4];"), "at offset -4 of");
    fails(KERNEL("", "mov.u32 %r2,0; ld.shared.u32 %r1,[%r2+-8];"), "at offset -8 of");
    fails(KERNEL("", "mov.u32 %r2,4096; ld.shared.u32 %r1,[%r2];"), "at offset 4096 of");
}

#define MALLOC ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
#define MALLOC_OF(n)                                                                                           \
    "{ .param .b64 n; st.param.b64 [n]," n                                                                     \
    "; .param .b64 r; call.uni (r), malloc, (n); ld.param.b64 %rd2,[r]; }"

static void small_allocations_fill_the_heap(void **state) {
    (void)state;
    struct exec_test t;
    uint32_t count;
    exec_open(&t, KERNEL(MALLOC, "mov.u32 %r1,0; L: " MALLOC_OF(
                                     "1") "add.u32 %r1,%r1,1;"
                                          "setp.ne.u64 %p1,%rd2,0; @%p1 bra L; st.global.u32 [%rd8],%r1;"));
    t.device->mem.heap_limit = 1 << 20;
    uint64_t address = exec_alloc(&t, NULL, 4096);
    exec_must(&t, exec_launch(&t, "k", 1, 1, 0, &address, 1));
    assert_int_equal(ww_device_read(t.device, &count, address, 4, &t.error), WW_OK);
    assert_in_range(count, 1000, (1 << 20) / 100); /* each costs more than its byte */
    exec_close(&t);
}

static void no_bytes_are_allocated_and_freed(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL(MALLOC, MALLOC_OF("0") "{ .param .b64 p; st.param.b64 [p],%rd2; call.uni free, (p); }"
                                      "cvt.u32.u64 %r1,%rd2; add.u32 %r1,%r1,9; st.global.u32 [%rd8],%r1;"),
        out);
    assert_int_equal(out[7], 9);
}

static void unfinished_streams_are_bounded(void **state) {
    (void)state;
    struct exec_test t;
    exec_open(&t, KERNEL("", "mov.u32 %r1,0; L: add.u32 %r1,%r1,1; bra L;"));
    ww_device_watch(t.device, ignore, NULL);
    t.device->stream_limit = 1 << 20;
    uint64_t address = exec_alloc(&t, NULL, 4096);
    assert_int_equal(exec_launch(&t, "k", 1, 32, 0, &address, 1), WW_EXEC);
    if (!strstr(t.error.text, "endless loop?")) fail_msg("%s", t.error.text);
    exec_close(&t);
}

static void unfinished_streams_have_a_default_bound(void **state) {
    (void)state;
    struct exec_test t;
    exec_open(&t, KERNEL("", ""));
    assert_in_range(t.device->stream_limit, (uint64_t)256 << 20, (uint64_t)1 << 30);
    exec_close(&t);
    exec_open_limit(&t, KERNEL("", ""), 100000000001u);
    assert_in_range(t.device->stream_limit, (uint64_t)2 << 30, (uint64_t)8 << 30);
    exec_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activemask_needs_no_source),
        cmocka_unit_test(local_addresses_are_operands_of_any_instruction),
        cmocka_unit_test(a_combination_needs_its_predicate),
        cmocka_unit_test(an_unpacking_needs_its_source),
        cmocka_unit_test(lop3_tests_its_result),
        cmocka_unit_test(a_register_may_be_written_twice_at_once),
        cmocka_unit_test(variables_of_no_bytes_load),
        cmocka_unit_test(one_cta_of_local_memory_after_another_fits),
        cmocka_unit_test(offsets_before_a_window_are_negative),
        cmocka_unit_test(small_allocations_fill_the_heap),
        cmocka_unit_test(no_bytes_are_allocated_and_freed),
        cmocka_unit_test(unfinished_streams_are_bounded),
        cmocka_unit_test(unfinished_streams_have_a_default_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
