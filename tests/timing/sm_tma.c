/* sm_tma.c: the engine of bulk copies: latency, rate, queue, mbarriers, ends of groups. */
#include "fake_memory.h"
#include "sm_fixture.h"
#include "../../traces/mbarrier.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"", "UTMALDG.2D", "UTMASTG.2D", "UTMAREDG.2D.ADD", "UBLKCP.S.G"};
enum { NONE, LOAD, STORE, REDUCE, LINEAR };

static struct ww_gpu_spec gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.tma_queue = 4;
    g.tma_load_latency = 100;
    g.tma_store_latency = 10;
    g.tma_load_bytes = 128;
    g.tma_store_bytes = 32;
    g.tma_reduce_bytes = 16;
    return g;
}

static void begin(struct program *p) {
    program_init(p, 1, 64, 1, 200);
    p->launch.string = names;
    p->launch.string_count = sizeof names / sizeof *names;
}

static uint32_t bulk(struct program *p, uint32_t name) {
    bool loads = name == LOAD || name == LINEAR;
    uint32_t i = program_memory(p, loads ? WW_OP_ASYNC_COPY : WW_OP_STORE, WW_SPACE_GLOBAL, 16, -1, 2);
    p->inst[i].mnemonic = name;
    if (loads) p->inst[i].flags |= WW_INST_BYPASS_L1;
    return i;
}

static uint32_t mbarrier(struct program *p) {
    uint32_t i = program_inst(p, WW_OP_BARRIER, -1, -1, -1);
    p->inst[i].barrier = WW_MBARRIER;
    p->inst[i].flags |= WW_INST_ACCESS;
    return i;
}

static void at_barrier(struct program *p, uint32_t warp, uint32_t inst, uint32_t offset, uint8_t kind) {
    const struct ww_mbarrier_step s = {.offset = offset, .phase = 3, .events = 1, .kind = kind};
    program_access(p, warp, inst, 1, ww_mbarrier_pack(&s), 0);
}

/* A copy of so many steps of 512 bytes. */
static void copy(struct program *p, uint32_t inst, uint32_t steps, uint64_t base) {
    for (uint32_t n = 0; n < steps; n++) program_access(p, 0, inst, ALL, base + 512 * n, 16);
}

/* Cycles of a launch in which warp 1 waits for a copy of warp 0. */
static uint64_t load_cycles(const struct ww_gpu_spec *g, uint32_t name, uint32_t steps) {
    struct program p;
    begin(&p);
    uint32_t load = bulk(&p, name), bar = mbarrier(&p);
    copy(&p, load, steps, 0);
    at_barrier(&p, 0, bar, 64, WW_MBARRIER_COPIES);
    at_barrier(&p, 1, bar, 64, WW_MBARRIER_WAIT);
    struct replay r = program_run(&p, g);
    uint64_t cycles = r.r.cycles;
    assert_int_equal(r.r.counter[WW_C_DMA_INST], 1);
    assert_int_equal(r.r.counter[WW_C_DMA_REQUEST], steps * 4);
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void requests_begin_with_the_engines_latency(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), slow = g;
    slow.tma_load_latency += 70;
    assert_int_equal(load_cycles(&slow, LOAD, 4), load_cycles(&g, LOAD, 4) + 70);
    assert_int_equal(load_cycles(&g, LINEAR, 4), load_cycles(&g, LOAD, 4));
}

static void loads_ask_for_so_many_bytes_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec fast = gpu(), slow = fast;
    fast.tma_load_bytes = 16;
    slow.tma_load_bytes = 8;
    uint64_t more = load_cycles(&slow, LOAD, 8) - load_cycles(&fast, LOAD, 8);
    assert_in_range(more, 4096 / 16 - 20, 4096 / 16 + 20);
}

/* Cycles until the group of a store of 4 KB is over, where control fields are not obeyed. */
static uint64_t store_cycles(const struct ww_gpu_spec *g, uint32_t name) {
    struct program p;
    begin(&p);
    uint32_t store = bulk(&p, name), wait = program_inst(&p, WW_OP_ASYNC_WAIT, -1, -1, -1);
    copy(&p, store, 8, 0);
    program_step(&p, 0, wait, ALL);
    struct replay r = program_run(&p, g);
    uint64_t cycles = stall(&r, wait, WW_S_WAIT_SHARED);
    replay_free(&r);
    program_free(&p);
    return cycles;
}

/* The warp waits from the issue of the copy's last step on, 7 cycles after the first one's. */
static void a_group_of_stores_ends_when_its_data_have_been_read(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    assert_in_range(store_cycles(&g, STORE), 10 + 4096 / 32 - 12, 10 + 4096 / 32);
    assert_in_range(store_cycles(&g, REDUCE), 10 + 4096 / 16 - 12, 10 + 4096 / 16);
}

/* The first copy is long, the second one short and of another barrier: cycles at that one. */
static void a_copy_completes_its_own_barrier(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    uint64_t cycles[2];
    for (uint32_t last = 0; last < 2; last++) {
        struct program p;
        begin(&p);
        uint32_t load = bulk(&p, LOAD), bar = mbarrier(&p);
        g.tma_load_bytes = 16;
        copy(&p, load, 1, 0);
        at_barrier(&p, 0, bar, 64, WW_MBARRIER_COPIES);
        copy(&p, load, 40, 1 << 20);
        at_barrier(&p, 0, bar, 128, WW_MBARRIER_COPIES);
        at_barrier(&p, 1, bar, last ? 128 : 64, WW_MBARRIER_WAIT);
        program_step(&p, 1, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
        struct replay r = program_run(&p, &g);
        cycles[last] = r.r.warp_cycles[WW_S_BARRIER];
        replay_free(&r);
        program_free(&p);
    }
    assert_true(cycles[1] > cycles[0] + 40 * 512 / 16 - 100);
}

/* Warp 0 asks for so many stores; it waits at issue for those that find the queue full. */
static void a_copys_step_without_threads_is_one_of_its_steps(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p);
    uint32_t load = bulk(&p, LOAD), other = bulk(&p, LOAD);
    copy(&p, load, 1, 0);
    program_access(&p, 0, load, 0, 512, 16);
    copy(&p, load, 1, 1024);
    copy(&p, other, 2, 4096);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_DMA_INST], 2);
    assert_int_equal(r.r.counter[WW_C_DMA_REQUEST], 4 * 4);
    replay_free(&r);
    program_free(&p);
}

static uint64_t queued(uint32_t stores) {
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p);
    uint32_t store = bulk(&p, STORE), between = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    for (uint32_t n = 0; n < stores; n++) {
        copy(&p, store, 8, (uint64_t)n << 16);
        program_step(&p, 0, between, ALL);
    }
    struct replay r = program_run(&p, &g);
    uint64_t cycles = stall(&r, store, WW_S_EXCESS_MEM);
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_full_queue_holds_the_next_copy(void **state) {
    (void)state;
    assert_true(queued(4) < 10); /* as many as the queue takes */
    assert_in_range(queued(6), 128, 2 * 128 + 20);
}

static void without_an_engine_the_load_store_unit_copies(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    g.tma_queue = 0;
    struct program p;
    begin(&p);
    copy(&p, bulk(&p, LOAD), 4, 0);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_DMA_REQUEST], 0);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 64);
    replay_free(&r);
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_begin_with_the_engines_latency),
        cmocka_unit_test(loads_ask_for_so_many_bytes_a_cycle),
        cmocka_unit_test(a_group_of_stores_ends_when_its_data_have_been_read),
        cmocka_unit_test(a_copy_completes_its_own_barrier),
        cmocka_unit_test(a_copys_step_without_threads_is_one_of_its_steps),
        cmocka_unit_test(a_full_queue_holds_the_next_copy),
        cmocka_unit_test(without_an_engine_the_load_store_unit_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
