/* test_exec_memory.c: state spaces, atomics, exchange between lanes, the device runtime, bad accesses. */
#include "exec_test.h"

#define KERNEL(module, regs, body)                                                                             \
    PTX_HEAD module                                                                                            \
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %rd<12>; .reg .b32 %r<20>; .reg .pred %p<8>;\n" regs  \
        "ld.param.u64 %rd0,[p0]; mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1;\n" body  \
        "\n}\n"

static void run_shared(const char *text, uint32_t threads, uint32_t shared, uint32_t *out, size_t n,
                       char *printed) {
    struct exec_test t;
    exec_open_limit(&t, text, 100000000);
    uint64_t address = exec_alloc(&t, out, 4 * n);
    exec_must(&t, exec_launch(&t, "k", 1, threads, shared, &address, 1));
    assert_int_equal(ww_device_read(t.device, out, address, 4 * n, &t.error), WW_OK);
    if (printed) {
        rewind(t.out);
        printed[fread(printed, 1, 999, t.out)] = 0;
    }
    exec_close(&t);
}

static void run(const char *text, uint32_t threads, uint32_t *out, size_t n) {
    run_shared(text, threads, 0, out, n, NULL);
}

static struct ww_error run_bad(const char *text, uint32_t threads, enum ww_code want) {
    struct exec_test t;
    exec_open(&t, text);
    uint64_t address = exec_alloc(&t, NULL, 128);
    assert_int_equal(exec_launch(&t, "k", 1, threads, 0, &address, 1), want);
    struct ww_error e = t.error;
    exec_close(&t);
    return e;
}

static void assert_text(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' does not say '%s'", text, part);
}

static void vectors_and_narrow_types_are_loaded_and_stored(void **state) {
    (void)state;
    uint32_t out[8] = {0x80ff7f01u, 2, 3, 4};
    run(KERNEL("", ".reg .b16 %h<4>;",
               "ld.global.v4.u32 {%r1,%r2,%r3,%r4},[%rd0]; st.global.v2.u32 [%rd0+16],{%r4,%r3}; ld.global.s8 "
               "%r5,[%rd0+2];"
               "ld.global.u8 %h1,[%rd0+3]; cvt.u32.u16 %r6,%h1; st.global.u32 [%rd0+24],%r5; st.global.u16 "
               "[%rd0+28],%r6;"
               "ld.global.s16 %r7,[%rd0+2]; st.global.u8 [%rd0+31],%r7; ret;"),
        1, out, 8);
    assert_int_equal(out[4], 4);
    assert_int_equal(out[5], 3);
    assert_int_equal(out[6], UINT32_MAX);
    assert_int_equal(out[7], 0xff000080u);
}

static void constants_and_initialised_globals_hold_their_values(void **state) {
    (void)state;
    uint32_t out[6] = {0};
    run(KERNEL(
            ".const .align 4 .u32 c[3] = {11, 22, 33};\n.global .align 4 .u32 g[2] = {44, 55};\n"
            ".global .align 8 .u64 ptr = g+4;\n",
            "",
            "ld.const.u32 %r1,[c+8]; ld.global.u32 %r2,[g]; ld.global.u64 %rd2,[ptr]; ld.global.u32 %r3,[%rd2];"
            "mov.u64 %rd3,c; cvta.const.u64 %rd3,%rd3; ld.u32 %r4,[%rd3+4];"
            "st.global.v4.u32 [%rd0],{%r1,%r2,%r3,%r4}; ret;"),
        1, out, 6);
    assert_int_equal(out[0], 33);
    assert_int_equal(out[1], 44);
    assert_int_equal(out[2], 55);
    assert_int_equal(out[3], 22);
}

static void dynamic_shared_memory_lies_behind_static(void **state) {
    (void)state;
    uint32_t out[64];
    run_shared(
        KERNEL(".extern .shared .align 8 .b8 dyn[];\n", ".shared .align 4 .b8 fixed[20];",
               "mov.u32 %r1,dyn; mov.u32 %r2,fixed; shl.b32 %r3,%r0,2; add.u32 %r3,%r1,%r3; st.shared.u32 "
               "[fixed+16],77;"
               "st.shared.u32 [%r3],%r0; bar.sync 0; xor.b32 %r4,%r0,1; shl.b32 %r4,%r4,2; add.u32 %r4,%r1,%r4;"
               "ld.shared.u32 %r5,[%r4]; ld.shared.u32 %r6,[%r2+16]; add.u32 %r5,%r5,%r6; mov.u32 "
               "%r7,%dynamic_smem_size;"
               "add.u32 %r5,%r5,%r7; st.global.u32 [%rd1],%r5; ret;"),
        64, 256, out, 64, NULL);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], (t ^ 1) + 77 + 256);
}

static void local_memory_is_private_to_each_thread(void **state) {
    (void)state;
    uint32_t out[40];
    run(KERNEL("", ".local .align 8 .b8 stack[64]; .reg .b64 %SP, %SPL;",
               "mov.u64 %SPL,stack; cvta.local.u64 %SP,%SPL; and.b32 %r1,%r0,7; mul.wide.u32 %rd2,%r1,4; "
               "add.u64 %rd3,%SP,%rd2;"
               "st.u32 [%rd3],%r0; st.local.u32 [%SPL+32],%r1; ld.local.u32 %r2,[%SPL+32]; mul.wide.u32 "
               "%rd4,%r2,4;"
               "add.u64 %rd5,%SPL,%rd4; ld.local.u32 %r3,[%rd5]; st.global.u32 [%rd1],%r3; ret;"),
        40, out, 40);
    for (uint32_t t = 0; t < 40; t++) assert_int_equal(out[t], t);
}

static void generic_addresses_tell_their_space(void **state) {
    (void)state;
    uint32_t out[2] = {9, 0};
    run(KERNEL("", ".shared .align 4 .u32 s; .local .align 4 .u32 l;",
               "mov.u64 %rd2,s; cvta.shared.u64 %rd3,%rd2; mov.u64 %rd4,l; cvta.local.u64 %rd5,%rd4;"
               "isspacep.shared %p1,%rd3; isspacep.shared %p2,%rd0; isspacep.local %p3,%rd5; isspacep.global "
               "%p4,%rd0;"
               "selp.u32 %r1,1,0,%p1; @%p2 or.b32 %r1,%r1,2; @%p3 or.b32 %r1,%r1,4; @%p4 or.b32 %r1,%r1,8;"
               "st.u32 [%rd3],%r1; cvta.to.shared.u64 %rd6,%rd3; ld.shared.u32 %r2,[%rd6]; st.u32 "
               "[%rd0+4],%r2; ret;"),
        1, out, 2);
    assert_int_equal(out[1], 1 | 4 | 8);
}

static void integer_atomics_return_the_old_value(void **state) {
    (void)state;
    uint32_t out[16] = {0, 0, 0, 100, 0, 5, 0, 0xff00, 0, 0, 0, 0};
    run(KERNEL("", "",
               "atom.global.add.u32 %r1,[%rd0],1; atom.global.max.u32 %r2,[%rd0+4],%r0; atom.global.min.s32 "
               "%r2,[%rd0+12],%r0;"
               "atom.global.inc.u32 %r3,[%rd0+16],9; atom.global.dec.u32 %r3,[%rd0+20],7; atom.global.or.b32 "
               "%r4,[%rd0+24],%r0;"
               "atom.global.and.b32 %r4,[%rd0+28],0xfff; red.global.xor.b32 [%rd0+32],%r0; red.global.add.u64 "
               "[%rd0+40],5;"
               "setp.ne.u32 %p1,%r0,39; @%p1 ret; atom.global.exch.b32 %r5,[%rd0+48],%r1; atom.global.cas.b32 "
               "%r6,[%rd0+48],39,1234; ret;"),
        40, out, 16);
    uint32_t x = 0;
    for (uint32_t t = 0; t < 40; t++) x ^= t;
    assert_int_equal(out[0], 40);
    assert_int_equal(out[1], 39);
    assert_int_equal(out[3], 0);
    assert_int_equal(out[4], 0);
    assert_int_equal(out[5], 5); /* 40 steps of a cycle of 8 */
    assert_int_equal(out[6], 63);
    assert_int_equal(out[7], 0xf00);
    assert_int_equal(out[8], x);
    assert_int_equal(out[10], 200);
    assert_int_equal(out[12], 1234);
}

static void float_atomics_add(void **state) {
    (void)state;
    uint32_t out[8] = {0};
    run(KERNEL("", ".reg .f32 %f<3>; .reg .f64 %d<3>; .reg .b32 %h<3>;",
               "cvt.rn.f32.u32 %f1,%r0; atom.global.add.f32 %f2,[%rd0],%f1; cvt.f64.f32 %d1,%f1; "
               "red.global.add.f64 [%rd0+8],%d1;"
               "mov.b32 %h1,0x3c003800; atom.global.add.noftz.f16x2 %h2,[%rd0+16],%h1; ret;"),
        64, out, 8);
    float f;
    double d;
    memcpy(&f, &out[0], 4);
    memcpy(&d, &out[2], 8);
    assert_true(f == 2016.0f && d == 2016.0);
    assert_int_equal(out[4], 0x54005000u); /* 64 and 32 */
}

static void atomics_in_shared_memory_count_a_histogram(void **state) {
    (void)state;
    uint32_t out[8];
    run(KERNEL("", ".shared .align 4 .b8 s[32];",
               "mov.u32 %r1,s; and.b32 %r2,%r0,7; shl.b32 %r2,%r2,2; add.u32 %r2,%r1,%r2; atom.shared.add.u32 "
               "%r3,[%r2],1;"
               "bar.sync 0; setp.gt.u32 %p1,%r0,7; @%p1 ret; ld.shared.u32 %r4,[%r2]; st.global.u32 "
               "[%rd1],%r4; ret;"),
        250, out, 8);
    for (uint32_t t = 0; t < 8; t++) assert_int_equal(out[t], t < 2 ? 32 : 31);
}

/* The first warp goes on to write the word that all read after the barrier. GPUs let the others read first. */
static void warps_read_directly_after_a_barrier_before_one_runs_on(void **state) {
    (void)state;
    uint32_t out[128];
    run(KERNEL("", ".shared .align 4 .b8 s[4];",
               "setp.ne.u32 %p1,%r0,0; mov.u32 %r1,7; @!%p1 st.shared.u32 [s],%r1; bar.sync 0; "
               "ld.shared.u32 %r2,[s]; "
               "add.u32 %r3,%r0,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; "
               "add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; "
               "add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; "
               "add.u32 %r3,%r3,1; mov.u32 %r1,9; @!%p1 st.shared.u32 [s],%r1; "
               "mul.wide.u32 %rd2,%r0,4; add.u64 %rd2,%rd0,%rd2; st.global.u32 [%rd2],%r2; ret;"),
        128, out, 128);
    for (uint32_t t = 0; t < 128; t++) assert_int_equal(out[t], 7);
}

static void shuffles_exchange_in_every_mode(void **state) {
    (void)state;
    uint32_t out[128];
    run(KERNEL("", "",
               "shfl.sync.up.b32 %r1|%p1,%r0,3,0,-1; @!%p1 add.u32 %r1,%r1,1000; shfl.sync.down.b32 "
               "%r2|%p2,%r0,5,0x1f,-1;"
               "@!%p2 add.u32 %r2,%r2,1000; shfl.sync.bfly.b32 %r3,%r0,9,0x1f,-1; shfl.sync.idx.b32 "
               "%r4,%r0,2,0x181f,-1;"
               "mul.wide.u32 %rd2,%r0,16; add.u64 %rd2,%rd0,%rd2; st.global.v4.u32 [%rd2],{%r1,%r2,%r3,%r4}; "
               "ret;"),
        32, out, 128);
    for (uint32_t t = 0; t < 32; t++) {
        assert_int_equal(out[4 * t], t < 3 ? t + 1000 : t - 3);
        assert_int_equal(out[4 * t + 1], t + 5 > 31 ? t + 1000 : t + 5);
        assert_int_equal(out[4 * t + 2], t ^ 9);
        assert_int_equal(out[4 * t + 3], (t & 24) + 2);
    }
}

static void lanes_that_do_not_shuffle_give_zero(void **state) {
    (void)state;
    uint32_t out[8] = {0};
    run(KERNEL(
            "", "",
            "add.u32 %r1,%r0,100; setp.gt.u32 %p1,%r0,7; @%p1 ret; shfl.sync.down.b32 %r2|%p2,%r1,4,0x1f,0xff; "
            "selp.u32 %r3,1000,0,%p2; add.u32 %r2,%r2,%r3; "
            "mul.wide.u32 %rd2,%r0,4; add.u64 %rd2,%rd0,%rd2; st.global.u32 [%rd2],%r2; ret;"),
        32, out, 8);
    for (uint32_t t = 0; t < 8; t++) assert_int_equal(out[t], t < 4 ? 1104 + t : 1000);
}

static void votes_matches_and_reductions_see_the_warp(void **state) {
    (void)state;
    uint32_t out[128];
    run(KERNEL("", "",
               "setp.lt.u32 %p1,%r0,10; vote.sync.any.pred %p2,%p1,-1; vote.sync.all.pred %p3,%p1,-1; "
               "vote.sync.uni.pred %p4,%p1,-1;"
               "selp.u32 %r1,1,0,%p2; @%p3 or.b32 %r1,%r1,2; @%p4 or.b32 %r1,%r1,4; rem.u32 %r2,%r0,3;"
               "match.any.sync.b32 %r3,%r2,-1; match.all.sync.b32 %r4|%p5,%r2,-1; @%p5 or.b32 %r1,%r1,8;"
               "redux.sync.add.u32 %r5,%r0,-1; redux.sync.max.s32 %r6,%r0,-1; add.u32 %r5,%r5,%r6;"
               "mul.wide.u32 %rd2,%r0,16; add.u64 %rd2,%rd0,%rd2; st.global.v4.u32 [%rd2],{%r1,%r3,%r4,%r5}; "
               "ret;"),
        32, out, 128);
    for (uint32_t t = 0; t < 32; t++) {
        assert_int_equal(out[4 * t], 1);
        assert_int_equal(out[4 * t + 1], 0x49249249u << t % 3);
        assert_int_equal(out[4 * t + 2], 0);
        assert_int_equal(out[4 * t + 3], 496 + 31);
    }
}

static void asynchronous_copies_fill_shared_memory(void **state) {
    (void)state;
    uint32_t out[64];
    for (uint32_t n = 0; n < 64; n++) out[n] = n * n;
    run(KERNEL("", ".shared .align 16 .b8 s[256];",
               "mov.u32 %r1,s; shl.b32 %r2,%r0,3; add.u32 %r3,%r1,%r2; mul.wide.u32 %rd2,%r0,8; add.u64 "
               "%rd3,%rd0,%rd2;"
               "cp.async.ca.shared.global [%r3],[%rd3],8; cp.async.commit_group; cp.async.wait_group 0; "
               "bar.sync 0;"
               "xor.b32 %r2,%r2,8; add.u32 %r3,%r1,%r2; ld.shared.v2.u32 {%r4,%r5},[%r3]; st.global.v2.u32 "
               "[%rd3],{%r4,%r5}; ret;"),
        32, out, 64);
    for (uint32_t n = 0; n < 64; n++) assert_int_equal(out[n], (n ^ 2) * (n ^ 2));
}

static void an_mbarrier_phase_ends_with_the_last_arrival(void **state) {
    (void)state;
    uint32_t out[64];
    run(KERNEL("", ".shared .align 8 .b64 bar;",
               "mov.u32 %r1,bar; setp.ne.u32 %p1,%r0,0; @%p1 bra GO; mbarrier.init.shared.b64 [%r1],64; GO: "
               "bar.sync 0;"
               "mbarrier.arrive.shared.b64 %rd2,[%r1]; WAIT: mbarrier.test_wait.shared.b64 %p2,[%r1],%rd2; "
               "@!%p2 bra WAIT;"
               "mbarrier.test_wait.parity.shared.b64 %p3,[%r1],0; selp.u32 %r2,7,8,%p3; st.global.u32 "
               "[%rd1],%r2; ret;"),
        64, out, 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], 7);
}

static void printf_formats_its_arguments(void **state) {
    (void)state;
    uint32_t out[1] = {0};
    char printed[1000];
    run_shared(
        KERNEL(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
               ".global .align 1 .b8 fmt[30] = "
               "{116,61,37,100,32,120,61,37,53,46,50,102,32,115,61,37,115,32,37,108,108,120,37,37,10,0};\n"
               ".global .align 1 .b8 str[4] = {97,98,99,0};\n",
               ".local .align 8 .b8 args[32]; .reg .b64 %SP, %SPL;",
               "mov.u64 %SPL,args; cvta.local.u64 %SP,%SPL; st.local.u32 [%SPL],%r0; st.local.f64 "
               "[%SPL+8],0d400C000000000000;"
               "mov.u64 %rd2,str; cvta.global.u64 %rd2,%rd2; st.local.u64 [%SPL+16],%rd2; st.local.u64 "
               "[%SPL+24],0x123456789a;"
               "mov.u64 %rd3,fmt; cvta.global.u64 %rd3,%rd3; { .param .b64 f; st.param.b64 [f],%rd3; .param "
               ".b64 a; st.param.b64 [a],%SP;"
               ".param .b32 r; call.uni (r), vprintf, (f, a); ld.param.b32 %r1,[r]; } ret;"),
        2, 0, out, 1, printed);
    assert_string_equal(printed, "t=0 x= 3.50 s=abc 123456789a%\nt=1 x= 3.50 s=abc 123456789a%\n");
}

#define MALLOC ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"

static void device_malloc_gives_memory_until_it_is_freed(void **state) {
    (void)state;
    uint32_t out[40];
    run(KERNEL(MALLOC, "",
               "{ .param .b64 n; st.param.b64 [n],16; .param .b64 r; call.uni (r), malloc, (n); ld.param.b64 "
               "%rd2,[r]; }"
               "st.u32 [%rd2+12],%r0; ld.u32 %r1,[%rd2+12]; add.u32 %r1,%r1,3; st.global.u32 [%rd1],%r1;"
               "{ .param .b64 p; st.param.b64 [p],%rd2; call.uni free, (p); } ret;"),
        40, out, 40);
    for (uint32_t t = 0; t < 40; t++) assert_int_equal(out[t], t + 3);
    struct ww_error e = run_bad(
        KERNEL(MALLOC, "", "{ .param .b64 p; st.param.b64 [p],%rd1; call.uni free, (p); } ret;"), 1, WW_EXEC);
    assert_text(e.text, "which malloc did not return");
}

static void a_failed_assertion_says_where(void **state) {
    (void)state;
    struct ww_error e = run_bad(
        KERNEL(".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param "
               ".b64 e);\n"
               ".global .align 1 .b8 what[6] = {120,32,62,32,48,0};\n.global .align 1 .b8 file[5] = "
               "{97,46,99,117,0};\n",
               "",
               "mov.u64 %rd2,what; cvta.global.u64 %rd2,%rd2; mov.u64 %rd3,file; cvta.global.u64 %rd3,%rd3;"
               "{ .param .b64 a; st.param.b64 [a],%rd2; .param .b64 b; st.param.b64 [b],%rd3; .param .b32 c; "
               "st.param.b32 [c],17;"
               ".param .b64 d; st.param.b64 [d],%rd3; .param .b64 e; st.param.b64 [e],1; call.uni "
               "__assertfail, (a,b,c,d,e); } ret;"),
        1, WW_EXEC);
    assert_text(e.text, "assertion 'x > 0' failed at a.cu:17");
}

static void an_access_out_of_bounds_names_thread_and_allocation(void **state) {
    (void)state;
    struct ww_error e = run_bad(KERNEL("", "", "st.global.u32 [%rd1],%r0; ret;"), 33, WW_EXEC);
    assert_text(e.text, "out-of-bounds store of 4 bytes at 0x10000080");
    assert_text(e.text, "0x10000000 of 128 bytes");
    assert_text(e.where, "thread (32,0,0)");
    assert_text(e.where, "kernel k");
    e = run_bad(KERNEL("", "", "ld.global.u32 %r1,[%rd1+-4]; ret;"), 1, WW_EXEC);
    assert_text(e.text, "4 bytes before the start");
}

static void bad_accesses_to_other_spaces_are_errors(void **state) {
    (void)state;
    struct ww_error e = run_bad(KERNEL("", "", "st.global.u32 [%rd1+2],%r0; ret;"), 1, WW_EXEC);
    assert_text(e.text, "misaligned");
    e = run_bad(KERNEL("", ".shared .align 4 .b8 s[64];",
                       "mov.u32 %r1,s; mad.lo.u32 %r1,%r0,4,%r1; st.shared.u32 [%r1],%r0; ret;"),
                17, WW_EXEC);
    assert_text(e.text, "offset 64 of 64 bytes of shared");
    e = run_bad(KERNEL("", ".local .align 4 .b8 l[8];", "mov.u64 %rd2,l; ld.local.u32 %r1,[%rd2+8]; ret;"), 1,
                WW_EXEC);
    assert_text(e.text, "of local memory");
    e = run_bad(
        KERNEL(".const .u32 c = 1;\n", "", "mov.u64 %rd2,c; cvta.const.u64 %rd2,%rd2; st.u32 [%rd2],%r0; ret;"),
        1, WW_EXEC);
    assert_text(e.text, "store to constant");
}

static void unsupported_instructions_name_line_and_text(void **state) {
    (void)state;
    struct ww_error e =
        run_bad(KERNEL("", "", "mbarrier.arrive.noComplete.shared.b64 %rd2,[%r1],1; ret;"), 32, WW_UNSUPPORTED);
    assert_text(e.where, "test.ptx:");
    assert_text(e.text, "mbarrier");
}

static void launches_are_checked(void **state) {
    (void)state;
    struct exec_test t;
    exec_open(&t, KERNEL("", "", "ret;"));
    uint64_t args[2] = {0, 0};
    assert_int_equal(exec_launch(&t, "nope", 1, 32, 0, args, 1), WW_USAGE);
    assert_text(t.error.text, "expected one of k");
    assert_int_equal(exec_launch(&t, "k", 1, 32, 0, args, 2), WW_USAGE);
    assert_int_equal(exec_launch(&t, "k", 1, 1025, 0, args, 1), WW_USAGE);
    assert_int_equal(exec_launch(&t, "k", 0, 32, 0, args, 1), WW_USAGE);
    assert_int_equal(exec_launch(&t, "k", 1, 32, 1u << 20, args, 1), WW_USAGE);
    assert_int_equal(exec_launch(&t, "k", 1, 32, 0, args, 1), WW_OK);
    exec_close(&t);
}

static void device_memory_is_checked_and_deterministic(void **state) {
    (void)state;
    uint64_t first = 0;
    for (int round = 0; round < 2; round++) {
        struct exec_test t;
        exec_open(&t, KERNEL("", "", "ret;"));
        uint64_t a = exec_alloc(&t, NULL, 100), b = exec_alloc(&t, NULL, 100), x;
        assert_true(a % 256 == 0 && b % 256 == 0 && b >= a + 356);
        assert_int_equal(ww_device_write(t.device, a + 90, &x, 11, NULL), WW_USAGE);
        assert_int_equal(ww_device_free(t.device, a + 1, NULL), WW_USAGE);
        assert_int_equal(ww_device_free(t.device, a, NULL), WW_OK);
        assert_int_equal(ww_device_free(t.device, a, NULL), WW_USAGE);
        assert_int_equal(ww_device_alloc(t.device, 0, &x, NULL), WW_USAGE);
        if (round) assert_int_equal(first, b);
        first = b;
        exec_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_and_narrow_types_are_loaded_and_stored),
        cmocka_unit_test(constants_and_initialised_globals_hold_their_values),
        cmocka_unit_test(dynamic_shared_memory_lies_behind_static),
        cmocka_unit_test(local_memory_is_private_to_each_thread),
        cmocka_unit_test(generic_addresses_tell_their_space),
        cmocka_unit_test(integer_atomics_return_the_old_value),
        cmocka_unit_test(float_atomics_add),
        cmocka_unit_test(atomics_in_shared_memory_count_a_histogram),
        cmocka_unit_test(warps_read_directly_after_a_barrier_before_one_runs_on),
        cmocka_unit_test(shuffles_exchange_in_every_mode),
        cmocka_unit_test(lanes_that_do_not_shuffle_give_zero),
        cmocka_unit_test(votes_matches_and_reductions_see_the_warp),
        cmocka_unit_test(asynchronous_copies_fill_shared_memory),
        cmocka_unit_test(an_mbarrier_phase_ends_with_the_last_arrival),
        cmocka_unit_test(printf_formats_its_arguments),
        cmocka_unit_test(device_malloc_gives_memory_until_it_is_freed),
        cmocka_unit_test(a_failed_assertion_says_where),
        cmocka_unit_test(an_access_out_of_bounds_names_thread_and_allocation),
        cmocka_unit_test(bad_accesses_to_other_spaces_are_errors),
        cmocka_unit_test(unsupported_instructions_name_line_and_text),
        cmocka_unit_test(launches_are_checked),
        cmocka_unit_test(device_memory_is_checked_and_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
