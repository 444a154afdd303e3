/* test_sass_exec_core.c: execution of machine code written down as bits: lanes that part and meet, barriers,
 * and how bad code ends. */
#include "sass_exec_fixture.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct kernel_test t;

static void must(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", t.error.where, t.error.text);
}

/* The run ends in an error whose place and text hold these. */
static void fails(enum ww_code code, enum ww_code want, const char *where, const char *text) {
    if (code != want)
        fail_msg("code %d instead of %d: %s: %s", (int)code, (int)want, t.error.where, t.error.text);
    if (!strstr(t.error.where, where)) fail_msg("'%s' is not in '%s'", where, t.error.where);
    if (!strstr(t.error.text, text)) fail_msg("'%s' is not in '%s'", text, t.error.text);
}

/* R0 = thread, R2:R3 = its word; R5 = 4 */
#define PROLOGUE s2r(0, SR_TID_X), mov(5, 4), address(2, 0, 5)

static void each_thread_stores(void **state) {
    (void)state;
    const struct code code[] = {PROLOGUE, iadd(1, 0, 7), stg(2, 1), leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 45));
    for (uint32_t n = 0; n < 45; n++) assert_int_equal(t.words[n], n + 7);
    assert_int_equal(t.words[45], 0);
    kernel_close(&t);
}

static void guarded_lanes_only(void **state) {
    (void)state;
    const struct code code[] = {
        PROLOGUE, p0_at_least(0, 10), mov(1, 1), guarded(0, false, mov(1, 2)), stg(2, 1), leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    for (uint32_t n = 0; n < 32; n++) assert_int_equal(t.words[n], n < 10 ? 1 : 2);
    assert_int_equal(t.masks[5], 0xfffffc00u); /* what is recorded */
    kernel_close(&t);
}

/* R2UR P0, UR4, R6: of the lanes that execute it, those whose value is not the lowest one's. */
static void lanes_with_another_value_than_the_uniform_one_are_told(void **state) {
    (void)state;
    const struct code to_uniform = {0x73c2u | 4u << 16 | 6u << 24, 0x000fe40000000000u};
    const struct code code[] = {PROLOGUE,
                                and_imm(6, 0, 3),
                                to_uniform,
                                mov(1, 1),
                                guarded(0, false, mov(1, 2)),
                                guarded(0, false, to_uniform),
                                guarded(0, false, mov(1, 3)),
                                stg(2, 1),
                                leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    for (uint32_t n = 0; n < 32; n++) assert_int_equal(t.words[n], n % 4 == 0 ? 1 : n % 4 == 1 ? 2 : 3);
    kernel_close(&t);
}

static void the_table_keeps_what_depbar_waits_for(void **state) {
    (void)state;
    const struct code code[] = {PROLOGUE, mov(1, 1), depbar(3, 5, 1u << 4 | 1u << 0), stg(2, 1), leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    const struct ww_inst *in = &t.recorder.inst[4];
    assert_int_equal(in->op, WW_OP_ASYNC_WAIT);
    assert_int_equal(in->barrier, 3);
    assert_int_equal(WW_DEPBAR_LEVEL(in->barrier_threads), 5);
    assert_int_equal(WW_DEPBAR_SET(in->barrier_threads), 1u << 4 | 1u << 0);
    kernel_close(&t);
}

/* BAR.ARV and BAR.SYNC of barrier 1 with 64 threads: one warp makes both arrivals. */
static void a_warp_that_arrives_and_then_waits_counts_twice(void **state) {
    (void)state;
    const uint64_t low = 0x7b1du | UINT64_C(1) << 54 | UINT64_C(64) << 42;
    const struct code arrive = {low, 0x000fec0000002000u}, wait = {low, 0x000fec0000010000u};
    const struct code code[] = {PROLOGUE, arrive, wait, mov(1, 6), stg(2, 1), leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    for (uint32_t n = 0; n < 32; n++) assert_int_equal(t.words[n], 6);
    kernel_close(&t);
}

/* Odd lanes jump over an instruction; both meet at the BSYNC. */
static void lanes_meet_at_bsync(void **state) {
    (void)state;
    const struct code code[] = {
        PROLOGUE,       and_imm(1, 0, 1), p0_not_zero(1), bssy(0, 3), guarded(0, false, bra(1)),
        iadd(1, 1, 40), bsync(0),         vote_any(4),    stg(2, 4),  leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    for (uint32_t n = 0; n < 32; n++) assert_int_equal(t.words[n], 0xffffffffu);
    assert_int_equal(t.masks[7], 0x55555555u); /* the even lanes' addition */
    assert_int_equal(t.masks[t.steps - 1], 0xffffffffu);
    kernel_close(&t);
}

/* Lanes leave a loop after as many turns as their number; they wait for the last. */
static void loops_wait_for_the_last(void **state) {
    (void)state;
    const struct code code[] = {PROLOGUE,
                                mov(1, 0),
                                bssy(3, 5),
                                iadd(1, 1, 2),
                                iadd(0, 0, 0xffffffffu),
                                p0_at_least(0, 64), /* below zero */
                                guarded(0, true, bra(-4)),
                                bsync(3),
                                vote_any(4),
                                stg(2, 1),
                                leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    for (uint32_t n = 0; n < 32; n++) assert_int_equal(t.words[n], 2 * (n + 1));
    assert_int_equal(t.masks[t.steps - 3], 0xffffffffu);
    kernel_close(&t);
}

/* Lane 3 leaves by BREAK and never comes to the BSYNC. */
static void broken_lanes_are_not_waited_for(void **state) {
    (void)state;
    const struct code code[] = {PROLOGUE,
                                mov(4, 0),
                                iadd(1, 0, 0xfffffffdu),
                                p0_not_zero(1),
                                bssy(1, 4),
                                guarded(0, true, break_out(1)),
                                guarded(0, true, bra(2)),
                                bsync(1),
                                vote_any(4),
                                stg(2, 4),
                                leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 32));
    assert_int_equal(t.words[0], 0xfffffff7u);
    assert_int_equal(t.words[3], 0);
    kernel_close(&t);
}

static void barrier_orders_shared_memory(void **state) {
    (void)state;
    const struct code code[] = {PROLOGUE,
                                {0x0000000200067824u, 0x000fe400078e00ffu}, /* R6 = R0 * 2 */
                                iadd(6, 6, 0),
                                {0x0000000206067824u, 0x000fe400078e00ffu}, /* R6 = R6 * 2 */
                                sts(6, 0),
                                bar(0),
                                {0x0000007c06067812u, 0x000fc800078e3cffu}, /* R6 ^= 0x7c */
                                lds(1, 6),
                                stg(2, 1),
                                leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 64));
    for (uint32_t n = 0; n < 64; n++) assert_int_equal(t.words[n], n ^ 31);
    kernel_close(&t);
}

static void bad_addresses_are_errors(void **state) {
    (void)state;
    const struct code beyond[] = {mov_constant(2, 0x160), mov_constant(3, 0x164), iadd(2, 2, BYTES), stg(2, 0),
                                  leave()};
    kernel_open(&t, beyond, COUNT(beyond));
    fails(kernel_run(&t, 1, 1), WW_EXEC, "hand.cubin: kernel hand, CTA (0,0,0), thread (0,0,0), offset 0x30",
          "out-of-bounds store of 4 bytes");
    kernel_close(&t);
    const struct code odd[] = {mov_constant(2, 0x160), mov_constant(3, 0x164), iadd(2, 2, 2), stg(2, 0),
                               leave()};
    kernel_open(&t, odd, COUNT(odd));
    fails(kernel_run(&t, 1, 1), WW_EXEC, "offset 0x30", "misaligned global store");
    kernel_close(&t);
    const struct code shared[] = {mov(1, 1024), sts(1, 0), leave()};
    kernel_open(&t, shared, COUNT(shared));
    fails(kernel_run(&t, 1, 1), WW_EXEC, "offset 0x10",
          "out-of-bounds store of 4 bytes at offset 1024 of 1024 bytes of shared");
    kernel_close(&t);
    const struct code local[] = {mov_constant(1, 0x28), stl(1, 0, 0), leave()};
    kernel_open(&t, local, COUNT(local));
    fails(kernel_run(&t, 1, 1), WW_EXEC, "offset 0x10", "of 32 bytes of local memory");
    kernel_close(&t);
}

/* A function that calls itself without end. */
static void stacks_overflow(void **state) {
    (void)state;
    const struct code code[] = {mov_constant(1, 0x28), iadd(1, 1, 0xfffffff0u), stl(1, 0, 0), call(-3)};
    kernel_open(&t, code, COUNT(code));
    fails(kernel_run(&t, 1, 32), WW_EXEC, "offset 0x20", "of local memory: a stack overflow?");
    kernel_close(&t);
}

static void traps_are_errors(void **state) {
    (void)state;
    const struct code code[] = {s2r(0, SR_TID_X), p0_at_least(0, 33), guarded(0, false, trap()), leave()};
    kernel_open(&t, code, COUNT(code));
    must(kernel_run(&t, 1, 33));
    kernel_close(&t);
    kernel_open(&t, code, COUNT(code));
    fails(kernel_run(&t, 1, 40), WW_EXEC, "thread (33,0,0), offset 0x20", "trap");
    kernel_close(&t);
}

static void bad_code_is_an_error(void **state) {
    (void)state;
    const struct code away[] = {bra(100), leave()};
    kernel_open(&t, away, COUNT(away));
    fails(kernel_run(&t, 1, 1), WW_EXEC, "offset 0x0", "outside of the code");
    kernel_close(&t);
    const struct code off[] = {mov(1, 1)};
    kernel_open(&t, off, COUNT(off));
    fails(kernel_run(&t, 1, 1), WW_EXEC, "offset 0x0", "beyond the end of the code");
    kernel_close(&t);
    const struct code unknown[] = {leave(), {0xffffffffffffffffu, 0xffffffffffffffffu}};
    kernel_open(&t, unknown, COUNT(unknown));
    fails(kernel_run(&t, 1, 1), WW_UNSUPPORTED, "hand+0x10", "ffffffffffffffff");
    kernel_close(&t);
    const struct code pair[] = {mov_constant(254, 0x160), stg(254, 0), leave()};
    kernel_open(&t, pair, COUNT(pair));
    fails(kernel_run(&t, 1, 1), WW_INPUT, "hand+0x10", "beyond the last register");
    kernel_close(&t);
    const struct code constant[] = {mov_constant(1, 0x1fc), mov_constant(1, 0x200), leave()};
    kernel_open(&t, constant, COUNT(constant));
    fails(kernel_run(&t, 1, 1), WW_INPUT, "hand", "c[0][0x200]");
    kernel_close(&t);
}

static void endless_loops_end(void **state) {
    (void)state;
    const struct code counting[] = {iadd(1, 1, 1), bra(-2)};
    kernel_open(&t, counting, COUNT(counting));
    t.limit = 100000;
    fails(kernel_run(&t, 1, 32), WW_EXEC, "kernel hand", "the limit of 100000 thread instructions");
    kernel_close(&t);
    const struct code waiting[] = {bra(-1)};
    kernel_open(&t, waiting, COUNT(waiting));
    fails(kernel_run(&t, 1, 32), WW_EXEC, "kernel hand", "no thread makes progress");
    kernel_close(&t);
}

/* Half of the warps wait at another barrier. */
static void mismatched_barriers_are_an_error(void **state) {
    (void)state;
    const struct code code[] = {PROLOGUE, p0_at_least(0, 32), guarded(0, false, bar(1)),
                                guarded(0, true, bar(2)), leave()};
    kernel_open(&t, code, COUNT(code));
    fails(kernel_run(&t, 1, 64), WW_EXEC, "kernel hand", "barrier cannot complete: 64 of 64 live threads wait");
    kernel_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_stores),
        cmocka_unit_test(guarded_lanes_only),
        cmocka_unit_test(lanes_with_another_value_than_the_uniform_one_are_told),
        cmocka_unit_test(the_table_keeps_what_depbar_waits_for),
        cmocka_unit_test(a_warp_that_arrives_and_then_waits_counts_twice),
        cmocka_unit_test(lanes_meet_at_bsync),
        cmocka_unit_test(loops_wait_for_the_last),
        cmocka_unit_test(broken_lanes_are_not_waited_for),
        cmocka_unit_test(barrier_orders_shared_memory),
        cmocka_unit_test(bad_addresses_are_errors),
        cmocka_unit_test(stacks_overflow),
        cmocka_unit_test(traps_are_errors),
        cmocka_unit_test(bad_code_is_an_error),
        cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(mismatched_barriers_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
