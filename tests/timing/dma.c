/* The engine of bulk transfers: rate of address generation, MSHRs and port, waiting and waking,
 * start=first|last. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/core/sm/copy.h"
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LATENCY 200 /* of the memory behind the L1, cycles */

static struct ww_gpu_spec gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.dma_engines = 1;
    g.l1_mshrs = 256;
    return g;
}

static struct ww_dma flat(uint32_t n, uint32_t stride) {
    return (struct ww_dma){.global = 0x10000, .rows = 1, .columns = n, .stride = stride, .size = 4};
}

static uint32_t transfer_inst(struct program *p) {
    uint32_t i = program_inst(p, WW_OP_DMA, -1, -1, -1);
    p->inst[i].flags = WW_INST_ACCESS;
    return i;
}

static void start(struct program *p, uint32_t warp, uint32_t inst, const struct ww_dma *d) {
    uint64_t word[32] = {0};
    assert_null(ww_dma_check(d));
    ww_dma_pack(d, word);
    program_list(p, warp, inst, ALL, word);
}

/* One warp starts a transfer and ends. */
static struct replay lone(const struct ww_dma *d, const struct ww_gpu_spec *g) {
    struct program p;
    program_init(&p, 1, 32, 1, 4);
    start(&p, 0, transfer_inst(&p), d);
    struct replay r = program_run(&p, g);
    program_free(&p);
    assert_int_equal(r.r.counter[WW_C_TRANSFER], 1);
    return r;
}

static uint64_t counted(const struct ww_dma *d, const struct ww_gpu_spec *g, enum ww_counter counter) {
    struct replay r = lone(d, g);
    uint64_t n = r.r.counter[counter];
    replay_free(&r);
    return n;
}

static void a_dense_row_gives_a_request_for_each_segment_one_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma few = flat(32 * 32, 1), many = flat(64 * 32, 1);
    assert_int_equal(counted(&few, &g, WW_C_DMA_REQUEST), 32);
    assert_int_equal(counted(&few, &g, WW_C_DMA_SECTOR), 32 * 4);
    assert_int_equal(
        counted(&many, &g, WW_C_TRANSFER_AGEN_CYCLES) - counted(&few, &g, WW_C_TRANSFER_AGEN_CYCLES), 32);
    assert_int_equal(counted(&few, &g, WW_C_TRANSFER_MEM_CYCLES), 31 + LATENCY + 1);
}

static void a_strided_row_takes_a_cycle_for_each_element(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma few = flat(256, 2), many = flat(512, 2), apart = flat(64, 32);
    assert_int_equal(counted(&few, &g, WW_C_DMA_REQUEST), 16);
    assert_int_equal(counted(&many, &g, WW_C_DMA_REQUEST), 32);
    assert_int_equal(
        counted(&many, &g, WW_C_TRANSFER_AGEN_CYCLES) - counted(&few, &g, WW_C_TRANSFER_AGEN_CYCLES), 256);
    assert_int_equal(counted(&apart, &g, WW_C_DMA_REQUEST), 64);
}

static void a_request_fetches_whole_segments(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma one = flat(8, 1);
    assert_int_equal(counted(&one, &g, WW_C_DMA_SECTOR), 4);
    g.dma_segment = 32;
    assert_int_equal(counted(&one, &g, WW_C_DMA_SECTOR), 1);
}

static void requests_wait_for_a_free_mshr_of_the_l1(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma d = flat(16 * 32, 1);
    g.l1_mshrs = 4;
    uint64_t mem = counted(&d, &g, WW_C_TRANSFER_MEM_CYCLES);
    assert_in_range(mem, 4 * LATENCY, 4 * LATENCY + 40);
    assert_true(counted(&d, &g, WW_C_DMA_BLOCKED) > 0);
}

/* What the unit itself takes is counted apart from what it waits for. */
static void waiting_is_no_generation_of_addresses(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), tight = gpu();
    struct ww_dma d = flat(64 * 32, 1);
    tight.l1_mshrs = 16;
    uint64_t free_run = counted(&d, &g, WW_C_TRANSFER_AGEN_CYCLES);
    assert_int_equal(counted(&d, &g, WW_C_TRANSFER_WAIT_CYCLES), 0);
    uint64_t all = counted(&d, &tight, WW_C_TRANSFER_AGEN_CYCLES);
    assert_true(all > free_run + 2 * LATENCY);
    assert_int_equal(all - counted(&d, &tight, WW_C_TRANSFER_WAIT_CYCLES), free_run);
}

/* The second one waits until the unit has made the 64 requests of the first. */
static void a_transfer_waits_for_the_unit(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma d = flat(64 * 32, 1);
    struct program p;
    uint64_t alone = counted(&d, &g, WW_C_TRANSFER_UNIT_CYCLES);
    assert_in_range(alone, 1, 4);
    program_init(&p, 2, 32, 1, 4);
    uint32_t inst = transfer_inst(&p);
    start(&p, 0, inst, &d);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_TRANSFER], 2);
    assert_in_range(r.r.counter[WW_C_TRANSFER_UNIT_CYCLES], 2 * alone + 60, 2 * alone + 64);
    replay_free(&r);
    program_free(&p);
}

static void a_halo_outside_of_the_data_is_written_without_requests(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma d = {.global = 0x10000,
                       .rows = 16,
                       .columns = 32,
                       .stride = 1024,
                       .size = 4,
                       .two = true,
                       .mode = WW_DMA_HALO,
                       .halo_rows = 1,
                       .halo_columns = 1,
                       .region = 9};
    assert_int_equal(counted(&d, &g, WW_C_DMA_CONSTANT), 0);
    assert_int_equal(counted(&d, &g, WW_C_DMA_REQUEST), 18 * 3); /* 136 bytes from 4 before a segment */
    d.region = 1;
    assert_int_equal(counted(&d, &g, WW_C_DMA_CONSTANT), 17 + 2); /* a word of 17 rows, a row of 34 words */
    assert_int_equal(counted(&d, &g, WW_C_DMA_REQUEST), 17 * 2);
}

static void a_cta_stays_until_its_tile_has_come(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct ww_dma d = flat(32, 1);
    struct replay r = lone(&d, &g);
    assert_true(r.r.cycles >= LATENCY);
    replay_free(&r);
}

/* A warp that starts `transfers` of buffers 0.., and loads a word of the last one. */
static struct replay reader(uint32_t transfers, uint64_t address, const struct ww_gpu_spec *g, uint32_t *load) {
    struct program p;
    program_init(&p, 1, 32, 1, 8);
    uint32_t inst = transfer_inst(&p);
    *load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 10, -1);
    for (uint32_t k = 0; k < transfers; k++) {
        struct ww_dma d = flat(64 * (k + 1) * (k + 1) * 32 / 64, 1);
        d.buffer = (uint8_t)k;
        d.shared = k * 16384;
        start(&p, 0, inst, &d);
    }
    program_access(&p, 0, *load, ALL, address, 0);
    struct replay r = program_run(&p, g);
    program_free(&p);
    return r;
}

static void a_load_of_a_tile_in_flight_is_squashed_and_waits(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    uint32_t load;
    struct replay r = reader(1, 32 * 4 - 4, &g, &load);
    assert_int_equal(r.r.counter[WW_C_DMA_SQUASH], 1);
    assert_int_equal(r.r.counter[WW_C_INST_ISSUED], 2);
    assert_in_range(stall(&r, load, WW_S_DMA_WAIT), LATENCY - 4, LATENCY + 8);
    replay_free(&r);
    r = reader(1, 32 * 4, &g, &load); /* behind the tile */
    assert_int_equal(r.r.counter[WW_C_DMA_SQUASH], 0);
    assert_int_equal(stall(&r, load, WW_S_DMA_WAIT), 0);
    replay_free(&r);
}

static void any_completion_of_the_cta_wakes_and_the_load_is_checked_again(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    uint32_t load;
    struct replay r = reader(2, 16384, &g, &load);
    assert_int_equal(r.r.counter[WW_C_TRANSFER], 2);
    assert_int_equal(r.r.counter[WW_C_DMA_SQUASH], 2);
    assert_int_equal(r.r.counter[WW_C_DMA_WAKE], 2);
    assert_int_equal(r.r.counter[WW_C_INST_ISSUED], 3);
    replay_free(&r);
}

/* Warp 0 waits for a tile while warp 1 (another scheduler's) has `busy` instructions that depend on each other.
 */
static uint64_t stalled(uint32_t busy) {
    static const uint8_t no_roles[PROGRAM_INSTS];
    struct ww_gpu_spec g = gpu();
    struct ww_dma d = flat(32, 1);
    struct program p;
    program_init(&p, 1, 64, 1, 160);
    p.roles = no_roles;
    uint32_t inst = transfer_inst(&p);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 10, -1);
    uint32_t add = program_inst(&p, WW_OP_INT, 5, 5, -1);
    start(&p, 0, inst, &d);
    program_access(&p, 0, load, ALL, 0, 0);
    for (uint32_t k = 0; k < busy; k++) program_step(&p, 1, add, ALL);
    struct replay r = program_run(&p, &g);
    uint64_t n = r.r.counter[WW_C_TRANSFER_STALL_CYCLES];
    replay_free(&r);
    program_free(&p);
    return n;
}

static void an_sm_is_stalled_while_all_warps_wait_for_tiles(void **state) {
    (void)state;
    uint64_t alone = stalled(1), some = stalled(10);
    assert_in_range(alone, LATENCY - 16, LATENCY + 8);
    assert_true(some > 0 && some + 20 < alone);
    assert_int_equal(stalled(150), 0);
}

/* A load whose value is stored to shared memory: a copy's, or not. */
static uint64_t stalled_copy(bool copy) {
    static const uint8_t roles[PROGRAM_INSTS] = {WW_ROLE_LOAD, WW_ROLE_STORE}, none[PROGRAM_INSTS];
    struct ww_gpu_spec g = gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 8);
    p.roles = copy ? roles : none;
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 10, -1);
    uint32_t store = program_memory(&p, WW_OP_STORE, WW_SPACE_SHARED, 4, -1, 10);
    program_access(&p, 0, load, ALL, 0x10000, 4);
    program_access(&p, 0, store, ALL, 0, 4);
    struct replay r = program_run(&p, &g);
    uint64_t n = r.r.counter[WW_C_TRANSFER_STALL_CYCLES];
    replay_free(&r);
    program_free(&p);
    return n;
}

static void a_copys_store_that_waits_for_its_data_stalls_other_stores_do_not(void **state) {
    (void)state;
    assert_in_range(stalled_copy(true), LATENCY, LATENCY + 50); /* and the L1 */
    assert_int_equal(stalled_copy(false), 0);
}

static void starts_of_other_warps_commit_without_effect(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct program p;
    struct ww_dma d = flat(32, 1);
    program_init(&p, 1, 256, 1, 2);
    uint32_t inst = transfer_inst(&p);
    for (uint32_t w = 0; w < 8; w++) start(&p, w, inst, &d);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_TRANSFER], 1);
    assert_int_equal(r.r.counter[WW_C_DMA_INST], 8);
    replay_free(&r);
    program_free(&p);
}

/* Warp 0 starts two transfers of a buffer. Warp 1 starts the first, sleeps, loads the tile, starts the second.
 */
static struct replay overtaken(const char *mech) {
    struct ww_gpu_spec g = gpu();
    struct program p;
    struct ww_dma first = flat(32, 1), second = flat(32, 1);
    second.global += 4096;
    program_init(&p, 1, 64, 1, 6);
    uint32_t inst = transfer_inst(&p), load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 10, -1);
    uint32_t sleep = program_inst(&p, WW_OP_SLEEP, -1, -1, -1);
    p.inst[sleep].flags = WW_INST_ACCESS;
    start(&p, 0, inst, &first);
    start(&p, 0, inst, &second);
    start(&p, 1, inst, &first);
    program_access(&p, 1, sleep, ALL, 5 * LATENCY, 0);
    program_access(&p, 1, load, ALL, 0, 4);
    start(&p, 1, inst, &second);
    struct replay r = program_run_mech(&p, &g, &mech, 1, 4096);
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(r.r.counter[WW_C_TRANSFER], 2);
    program_free(&p);
    return r;
}

static void a_load_of_a_tile_that_was_replaced_is_a_hazard_of_the_first_warps_start(void **state) {
    (void)state;
    struct replay r = overtaken("dma.start=first");
    assert_int_equal(r.r.counter[WW_C_DMA_HAZARD], 1);
    replay_free(&r);
    r = overtaken("dma.start=last");
    assert_int_equal(r.r.counter[WW_C_DMA_HAZARD], 0);
    assert_true(r.r.cycles > 6 * LATENCY); /* the second transfer waits for the warp that sleeps */
    replay_free(&r);
}

static void a_start_waits_for_the_buffers_transfer_before_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct program p;
    struct ww_dma d = flat(32, 1);
    program_init(&p, 1, 32, 1, 3);
    uint32_t inst = transfer_inst(&p);
    start(&p, 0, inst, &d);
    start(&p, 0, inst, &d);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_TRANSFER], 2);
    assert_int_equal(r.r.counter[WW_C_DMA_SQUASH], 1);
    assert_true(r.r.cycles > 2 * LATENCY);
    replay_free(&r);
    program_free(&p);
}

/* Cycles that a warp waits at a fence for its 96 stores of a segment each, beside a transfer. */
static uint64_t stores(bool beside, uint64_t *blocked) {
    struct ww_gpu_spec g = gpu();
    struct program p;
    struct ww_dma d = flat(64 * 32, 1);
    program_init(&p, 1, 64, 1, 6);
    uint32_t inst = transfer_inst(&p), store = program_memory(&p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 3);
    uint32_t fence = program_inst(&p, WW_OP_FENCE, -1, -1, -1), nop = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    for (uint32_t k = 0; k < 3; k++) program_access(&p, 0, store, ALL, 0x100000 + 4096 * k, 128);
    program_step(&p, 0, fence, ALL);
    program_step(&p, 0, nop, ALL);
    if (beside)
        start(&p, 1, inst, &d);
    else
        program_step(&p, 1, nop, ALL);
    struct replay r = program_run(&p, &g);
    uint64_t wait = stall(&r, fence, WW_S_MEMBAR);
    *blocked = r.r.counter[WW_C_DMA_BLOCKED];
    replay_free(&r);
    program_free(&p);
    return wait;
}

static void the_load_store_unit_has_priority_at_the_port(void **state) {
    (void)state;
    uint64_t alone, beside;
    uint64_t wait = stores(false, &alone);
    assert_int_equal(alone, 0);
    assert_in_range(stores(true, &beside), wait, wait + 1); /* the port may have been taken once before */
    assert_true(beside > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_row_gives_a_request_for_each_segment_one_a_cycle),
        cmocka_unit_test(a_strided_row_takes_a_cycle_for_each_element),
        cmocka_unit_test(a_request_fetches_whole_segments),
        cmocka_unit_test(requests_wait_for_a_free_mshr_of_the_l1),
        cmocka_unit_test(waiting_is_no_generation_of_addresses),
        cmocka_unit_test(a_transfer_waits_for_the_unit),
        cmocka_unit_test(a_halo_outside_of_the_data_is_written_without_requests),
        cmocka_unit_test(a_cta_stays_until_its_tile_has_come),
        cmocka_unit_test(a_load_of_a_tile_in_flight_is_squashed_and_waits),
        cmocka_unit_test(any_completion_of_the_cta_wakes_and_the_load_is_checked_again),
        cmocka_unit_test(an_sm_is_stalled_while_all_warps_wait_for_tiles),
        cmocka_unit_test(a_copys_store_that_waits_for_its_data_stalls_other_stores_do_not),
        cmocka_unit_test(starts_of_other_warps_commit_without_effect),
        cmocka_unit_test(a_load_of_a_tile_that_was_replaced_is_a_hazard_of_the_first_warps_start),
        cmocka_unit_test(a_start_waits_for_the_buffers_transfer_before_it),
        cmocka_unit_test(the_load_store_unit_has_priority_at_the_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
