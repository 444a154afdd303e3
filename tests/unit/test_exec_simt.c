/* test_exec_simt.c: divergence, barriers, progress of spinning threads, calls. */
#include "exec_test.h"

#define KERNEL(regs, body)                                                                                     \
    PTX_HEAD                                                                                                   \
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %rd<12>; .reg .b32 %r<20>; .reg .pred %p<8>;\n" regs      \
    "ld.param.u64 %rd0,[p0]; mov.u32 %r0,%tid.x; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x;\n"                 \
    "mad.lo.u32 %r3,%r1,%r2,%r0; mul.wide.u32 %rd1,%r3,4; add.u64 %rd1,%rd0,%rd1;\n" body "\n}\n"

#define MANY 4096u

/* Runs kernel k(out) and reads n words of out. */
static void run(const char *text, uint32_t ctas, uint32_t threads, uint32_t *out, size_t n) {
    struct exec_test t;
    exec_open_limit(&t, text, 100000000);
    uint64_t address = exec_alloc(&t, NULL, 4 * n);
    exec_must(&t, exec_launch(&t, "k", ctas, threads, 0, &address, 1));
    assert_int_equal(ww_device_read(t.device, out, address, 4 * n, &t.error), WW_OK);
    exec_close(&t);
}

/* Runs k and returns its failure. */
static enum ww_code run_bad(const char *text, uint32_t ctas, uint32_t threads, uint64_t limit,
                            struct ww_error *error) {
    struct exec_test t;
    exec_open_limit(&t, text, limit);
    uint64_t address = exec_alloc(&t, NULL, 4096);
    enum ww_code code = exec_launch(&t, "k", ctas, threads, 0, &address, 1);
    *error = t.error;
    exec_close(&t);
    return code;
}

static void assert_text(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' does not say '%s'", text, part);
}

static uint32_t nested(uint32_t t) {
    uint32_t v = t;
    if (t % 2) {
        if (t % 3 == 0)
            v *= 7;
        else
            v += 100;
        v ^= 5;
    } else if (t > 10) {
        v -= 3;
    }
    return v + 1;
}

static void nested_branches_reconverge(void **state) {
    (void)state;
    uint32_t out[64];
    run(KERNEL("", "mov.u32 %r4,%r0; and.b32 %r5,%r0,1; setp.eq.u32 %p1,%r5,0; @%p1 bra EVEN;"
                   "rem.u32 %r6,%r0,3; setp.ne.u32 %p2,%r6,0; @%p2 bra PLUS; mul.lo.u32 %r4,%r4,7; bra.uni ODD;"
                   "PLUS: add.u32 %r4,%r4,100; ODD: xor.b32 %r4,%r4,5; bra.uni DONE;"
                   "EVEN: setp.le.u32 %p3,%r0,10; @%p3 bra DONE; sub.u32 %r4,%r4,3;"
                   "DONE: activemask.b32 %r7; popc.b32 %r8,%r7; setp.ne.u32 %p4,%r8,32; add.u32 %r4,%r4,1;"
                   "@%p4 mov.u32 %r4,0; st.global.u32 [%rd1],%r4; ret;"),
        1, 64, out, 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], nested(t));
}

static void loops_with_breaks_leave_each_lane_at_its_time(void **state) {
    (void)state;
    uint32_t out[40];
    run(KERNEL("", "mov.u32 %r4,0; mov.u32 %r5,0;"
                   "LOOP: add.u32 %r5,%r5,%r4; setp.gt.u32 %p1,%r5,200; @%p1 bra OUT; add.u32 %r4,%r4,1;"
                   "setp.lt.u32 %p2,%r4,%r0; @%p2 bra LOOP;"
                   "OUT: activemask.b32 %r7; popc.b32 %r8,%r7; mad.lo.u32 %r5,%r8,1000,%r5; st.global.u32 "
                   "[%rd1],%r5; ret;"),
        1, 40, out, 40);
    for (uint32_t t = 0; t < 40; t++) {
        uint32_t i = 0, sum = 0;
        do {
            sum += i;
            if (sum > 200) break;
            i++;
        } while (i < t);
        assert_int_equal(out[t], sum + 1000 * (t < 32 ? 32u : 8u));
    }
}

static void barriers_in_loops_order_shared_memory(void **state) {
    (void)state;
    uint32_t out[200];
    run(KERNEL(
            ".shared .align 4 .b8 s[1024];",
            "mov.u32 %r4,s; shl.b32 %r5,%r0,2; add.u32 %r5,%r4,%r5; st.shared.u32 [%r5],%r0; mov.u32 %r6,1;"
            "LOOP: bar.sync 0; mov.u32 %r7,0; setp.lt.u32 %p1,%r0,%r6; @%p1 bra SKIP; sub.u32 %r8,%r0,%r6;"
            "shl.b32 %r8,%r8,2; add.u32 %r8,%r4,%r8; ld.shared.u32 %r7,[%r8]; SKIP: bar.sync 0;"
            "ld.shared.u32 %r9,[%r5]; add.u32 %r9,%r9,%r7; st.shared.u32 [%r5],%r9; shl.b32 %r6,%r6,1;"
            "setp.lt.u32 %p2,%r6,%r2; @%p2 bra LOOP; ld.shared.u32 %r9,[%r5]; st.global.u32 [%rd1],%r9; ret;"),
        1, 200, out, 200);
    for (uint32_t t = 0; t < 200; t++) assert_int_equal(out[t], t * (t + 1) / 2);
}

static void named_barriers_hand_over_between_warps(void **state) {
    (void)state;
    uint32_t out[64];
    run(KERNEL(
            ".shared .align 4 .b8 s[256];",
            "mov.u32 %r4,s; and.b32 %r5,%r0,31; shl.b32 %r5,%r5,2; add.u32 %r5,%r4,%r5; setp.ge.u32 %p1,%r0,32;"
            "@%p1 bra CONSUME; add.u32 %r6,%r0,7; st.shared.u32 [%r5],%r6; bar.arrive 3,64; bra DONE;"
            "CONSUME: bar.sync 3,64; ld.shared.u32 %r6,[%r5]; st.global.u32 [%rd1],%r6; DONE: ret;"),
        1, 64, out, 64);
    for (uint32_t t = 32; t < 64; t++) assert_int_equal(out[t], t - 32 + 7);
}

static void a_warp_that_arrives_and_then_waits_counts_twice(void **state) {
    (void)state;
    uint32_t out[64];
    run(KERNEL(
            ".shared .align 4 .b8 s[256];",
            "mov.u32 %r4,s; and.b32 %r5,%r0,31; shl.b32 %r5,%r5,2; add.u32 %r5,%r4,%r5; setp.ge.u32 %p1,%r0,32;"
            "@%p1 bra LAST; add.u32 %r6,%r0,7; st.shared.u32 [%r5],%r6; bar.arrive 3,96; bra DONE;"
            "LAST: bar.arrive 3,96; bar.sync 3,96; ld.shared.u32 %r6,[%r5]; st.global.u32 [%rd1],%r6; DONE: "
            "ret;"),
        1, 64, out, 64);
    for (uint32_t t = 32; t < 64; t++) assert_int_equal(out[t], t - 32 + 7);
}

static void bar_red_counts_and_combines_predicates(void **state) {
    (void)state;
    uint32_t out[96];
    run(KERNEL("", "setp.lt.u32 %p1,%r0,70; bar.red.popc.u32 %r4,0,%p1; bar.red.and.pred %p2,0,%p1; "
                   "bar.red.or.pred %p3,0,!%p1;"
                   "selp.u32 %r5,1000,0,%p2; selp.u32 %r6,500,0,%p3; add.u32 %r4,%r4,%r5; add.u32 %r4,%r4,%r6; "
                   "st.global.u32 [%rd1],%r4; ret;"),
        1, 96, out, 96);
    for (uint32_t t = 0; t < 96; t++) assert_int_equal(out[t], 70 + 500);
}

static void exited_threads_do_not_hold_up_a_barrier(void **state) {
    (void)state;
    uint32_t out[64];
    run(KERNEL("", "setp.gt.u32 %p1,%r0,40; @%p1 exit; bar.sync 0; st.global.u32 [%rd1],%r0; ret;"), 1, 64, out,
        64);
    assert_int_equal(out[40], 40);
    assert_int_equal(out[41], 0);
}

static void partial_warps_have_only_their_lanes(void **state) {
    (void)state;
    uint32_t out[45];
    run(KERNEL("", "mov.u32 %r9,%laneid; vote.sync.ballot.b32 %r4,%p1,0xffffffff; setp.ge.u32 %p2,%r0,0;"
                   "vote.sync.ballot.b32 %r4,%p2,0xffffffff; st.global.u32 [%rd1],%r4; ret;"),
        1, 45, out, 45);
    assert_int_equal(out[0], UINT32_MAX);
    assert_int_equal(out[44], (1u << 13) - 1);
}

static void a_spin_lock_within_a_warp_completes(void **state) {
    (void)state;
    uint32_t out[2];
    /* out[0] is the lock, out[1] the count; the critical section stands behind the loop */
    run(KERNEL("",
               "SPIN: atom.global.cas.b32 %r4,[%rd0],0,1; setp.ne.u32 %p1,%r4,0; @%p1 bra SPIN;"
               "ld.volatile.global.u32 %r5,[%rd0+4]; add.u32 %r5,%r5,1; st.volatile.global.u32 [%rd0+4],%r5;"
               "membar.gl; atom.global.exch.b32 %r6,[%rd0],0; ret;"),
        2, 64, out, 2);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 128);
}

static void a_flag_of_a_later_cta_is_seen(void **state) {
    (void)state;
    static uint32_t out[MANY];
    /* every CTA but the last waits for the last one's flag, out[0] */
    run(KERNEL("", "mov.u32 %r4,%nctaid.x; sub.u32 %r4,%r4,1; setp.eq.u32 %p1,%r1,%r4; @%p1 bra SET;"
                   "setp.ne.u32 %p3,%r0,0; @%p3 bra SYNC; WAIT: ld.volatile.global.u32 %r5,[%rd0]; setp.eq.u32 "
                   "%p2,%r5,0;"
                   "@%p2 bra WAIT; SYNC: bar.sync 0; st.global.u32 [%rd1+4],%r1; ret;"
                   "SET: st.volatile.global.u32 [%rd0],1; ret;"),
        1000, 4, out, 4001);
    assert_int_equal(out[0], 1);
    for (uint32_t t = 1; t < 999 * 4; t++) assert_int_equal(out[t], (t - 1) / 4);
}

static void a_grid_barrier_made_of_atomics_completes(void **state) {
    (void)state;
    uint32_t out[65];
    run(KERNEL("", "setp.ne.u32 %p1,%r0,0; @%p1 bra SYNC; atom.global.add.u32 %r4,[%rd0+256],1;"
                   "WAIT: ld.volatile.global.u32 %r5,[%rd0+256]; setp.lt.u32 %p2,%r5,8; @%p2 bra WAIT;"
                   "SYNC: bar.sync 0; ld.global.u32 %r6,[%rd0+256]; st.global.u32 [%rd1],%r6; ret;"),
        8, 8, out, 65);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], 8);
}

static void device_functions_take_and_return_values(void **state) {
    (void)state;
    static const char text[] =
        PTX_HEAD ".func (.param .b32 r) fact(.param .b32 n) { .reg .b32 %x<6>; .reg .pred %q; ld.param.u32 "
                 "%x1,[n]; setp.gt.u32 %q,%x1,1;"
                 "@%q bra MORE; mov.u32 %x2,1; st.param.b32 [r],%x2; ret; MORE: sub.u32 %x3,%x1,1;"
                 "{ .param .b32 a0; st.param.b32 [a0],%x3; .param .b32 v0; call.uni (v0), fact, (a0); "
                 "ld.param.b32 %x4,[v0]; }"
                 "mul.lo.u32 %x5,%x4,%x1; st.param.b32 [r],%x5; ret; }\n"
                 ".visible .entry k(.param .u64 p0) { .reg .b32 %r<6>; .reg .b64 %rd<4>; ld.param.u64 "
                 "%rd0,[p0]; mov.u32 %r0,%tid.x;"
                 "rem.u32 %r1,%r0,11; { .param .b32 a0; st.param.b32 [a0],%r1; .param .b32 v0; call.uni (v0), "
                 "fact, (a0); ld.param.b32 %r2,[v0]; }"
                 "mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r2; ret; }\n";
    uint32_t out[50];
    run(text, 1, 50, out, 50);
    for (uint32_t t = 0; t < 50; t++) {
        uint32_t want = 1;
        for (uint32_t n = 2; n <= t % 11; n++) want *= n;
        assert_int_equal(out[t], want);
    }
}

static const char INDIRECT[] =
    PTX_HEAD ".func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %x<3>; ld.param.u32 %x1,[n]; shl.b32 "
             "%x2,%x1,1; st.param.b32 [r],%x2; ret; }\n"
             ".func (.param .b32 r) plus(.param .b32 n) { .reg .b32 %x<3>; ld.param.u32 %x1,[n]; add.u32 "
             "%x2,%x1,5; st.param.b32 [r],%x2; ret; }\n"
             ".visible .entry k(.param .u64 p0) { .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .pred %p<3>; "
             "ld.param.u64 %rd0,[p0]; mov.u32 %r0,%tid.x;"
             "mov.u64 %rd2,twice; mov.u64 %rd3,plus; and.b32 %r1,%r0,1; setp.eq.u32 %p1,%r1,0; selp.b64 "
             "%rd4,%rd2,%rd3,%p1;"
             "setp.eq.u32 %p2,%r0,99; @%p2 add.u64 %rd4,%rd4,8;"
             "{ .param .b32 a0; st.param.b32 [a0],%r0; .param .b32 v0; P: .callprototype (.param .b32 _) _ "
             "(.param .b32 _);"
             "call (v0), %rd4, (a0), P; ld.param.b32 %r2,[v0]; }"
             "mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r2; ret; }\n";

static void indirect_calls_go_where_each_lane_points(void **state) {
    (void)state;
    uint32_t out[33];
    run(INDIRECT, 1, 33, out, 33);
    for (uint32_t t = 0; t < 33; t++) assert_int_equal(out[t], t % 2 ? t + 5 : 2 * t);
}

static void a_call_of_no_function_is_an_error(void **state) {
    (void)state;
    struct ww_error e;
    assert_int_equal(run_bad(INDIRECT, 1, 100, 0, &e), WW_EXEC);
    assert_text(e.text, "not the address of a function");
    assert_text(e.where, "thread (99,0,0)");
}

static void endless_recursion_overflows_the_stack(void **state) {
    (void)state;
    struct ww_error e;
    static const char text[] = PTX_HEAD ".func f() { call.uni f; ret; }\n"
                                        ".visible .entry k(.param .u64 p0) { call.uni f; ret; }\n";
    assert_int_equal(run_bad(text, 1, 32, 0, &e), WW_EXEC);
    assert_text(e.text, "stack overflow");
}

static void brx_idx_takes_each_lane_to_its_target(void **state) {
    (void)state;
    uint32_t out[64];
    run(KERNEL(
            "",
            "rem.u32 %r4,%r0,3; L: .branchtargets A, B, C; brx.idx %r4, L;"
            "A: mov.u32 %r5,10; bra DONE; B: mov.u32 %r5,20; bra DONE; C: mov.u32 %r5,30;"
            "DONE: activemask.b32 %r6; popc.b32 %r6,%r6; add.u32 %r5,%r5,%r6; st.global.u32 [%rd1],%r5; ret;"),
        1, 64, out, 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], 10 * (t % 3 + 1) + 32);
}

static void warp_sync_lets_diverged_lanes_meet(void **state) {
    (void)state;
    uint32_t out[32];
    run(KERNEL(".shared .align 4 .b8 s[128];",
               "mov.u32 %r4,s; shl.b32 %r5,%r0,2; add.u32 %r5,%r4,%r5; setp.lt.u32 %p1,%r0,16; @%p1 bra LOW;"
               "st.shared.u32 [%r5],%r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r6,[%r5+-64]; bra DONE;"
               "LOW: st.shared.u32 [%r5],%r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r6,[%r5+64];"
               "DONE: st.global.u32 [%rd1],%r6; ret;"),
        1, 32, out, 32);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], t ^ 16);
}

static void a_barrier_that_cannot_complete_says_who_waits(void **state) {
    (void)state;
    struct ww_error e;
    static const char text[] =
        KERNEL("", "setp.lt.u32 %p1,%r0,32; @%p1 bra ONE; bar.sync 2; ret; ONE: bar.sync 1; ret;");
    assert_int_equal(run_bad(text, 1, 64, 0, &e), WW_EXEC);
    assert_text(e.text, "barrier cannot complete: 64 of 64");
    assert_text(e.text, "barrier 1");
    assert_text(e.text, "barrier 2");
    assert_text(e.where, "kernel k, CTA (0,0,0)");
    static const char counted[] = KERNEL("", "bar.sync 1, 96; ret;");
    assert_int_equal(run_bad(counted, 1, 64, 0, &e), WW_EXEC);
    assert_text(e.text, "barrier cannot complete");
}

static void a_barrier_in_one_path_of_a_warp_is_stuck(void **state) {
    (void)state;
    struct ww_error e;
    static const char text[] = KERNEL(
        "",
        "setp.ge.u32 %p1,%r0,16; @%p1 bra OUT; bar.sync 0; OUT: st.global.u32 [%rd1],%r0; bar.sync 0; ret;");
    assert_int_equal(run_bad(text, 1, 32, 0, &e), WW_EXEC);
    assert_text(e.text, "wait to reconverge");
}

static void an_endless_loop_reaches_the_limit(void **state) {
    (void)state;
    struct ww_error e;
    static const char text[] = KERNEL("", "mov.u32 %r4,0; LOOP: add.u32 %r4,%r4,1; bra LOOP;");
    assert_int_equal(run_bad(text, 1, 32, 100000, &e), WW_EXEC);
    assert_text(e.text, "limit of 100000 thread instructions");
    assert_text(e.where, "kernel k");
}

static void a_wait_that_nobody_ends_is_found(void **state) {
    (void)state;
    struct ww_error e;
    static const char text[] =
        KERNEL("", "WAIT: ld.volatile.global.u32 %r4,[%rd0]; setp.eq.u32 %p1,%r4,0; @%p1 bra WAIT; ret;");
    assert_int_equal(run_bad(text, 3, 32, 0, &e), WW_EXEC);
    assert_text(e.text, "no thread makes progress");
}

static void trap_is_an_error(void **state) {
    (void)state;
    struct ww_error e;
    static const char text[] = KERNEL("", "setp.eq.u32 %p1,%r0,7; @%p1 trap; ret;");
    assert_int_equal(run_bad(text, 1, 32, 0, &e), WW_EXEC);
    assert_text(e.where, "thread (7,0,0)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_branches_reconverge),
        cmocka_unit_test(loops_with_breaks_leave_each_lane_at_its_time),
        cmocka_unit_test(barriers_in_loops_order_shared_memory),
        cmocka_unit_test(named_barriers_hand_over_between_warps),
        cmocka_unit_test(a_warp_that_arrives_and_then_waits_counts_twice),
        cmocka_unit_test(bar_red_counts_and_combines_predicates),
        cmocka_unit_test(exited_threads_do_not_hold_up_a_barrier),
        cmocka_unit_test(partial_warps_have_only_their_lanes),
        cmocka_unit_test(a_spin_lock_within_a_warp_completes),
        cmocka_unit_test(a_flag_of_a_later_cta_is_seen),
        cmocka_unit_test(a_grid_barrier_made_of_atomics_completes),
        cmocka_unit_test(device_functions_take_and_return_values),
        cmocka_unit_test(indirect_calls_go_where_each_lane_points),
        cmocka_unit_test(a_call_of_no_function_is_an_error),
        cmocka_unit_test(endless_recursion_overflows_the_stack),
        cmocka_unit_test(brx_idx_takes_each_lane_to_its_target),
        cmocka_unit_test(warp_sync_lets_diverged_lanes_meet),
        cmocka_unit_test(a_barrier_that_cannot_complete_says_who_waits),
        cmocka_unit_test(a_barrier_in_one_path_of_a_warp_is_stuck),
        cmocka_unit_test(an_endless_loop_reaches_the_limit),
        cmocka_unit_test(a_wait_that_nobody_ends_is_found),
        cmocka_unit_test(trap_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
