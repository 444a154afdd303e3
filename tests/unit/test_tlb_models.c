/* What the models' TLBs make of a chase, against Mei and Chu, IEEE TPDS 2017, figure 14. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "tests/timing/sm_fixture.h"
#include "tlb_fixture.h"
#include <string.h>

struct measured {
    const char *gpu;
    int pattern;
    double cycles;
    enum { L1_OFF, L1_ON } l1;
};

static void a_chase_takes_the_measured_cycles(void **state) {
    const struct measured *m = *state;
    struct ww_error error;
    struct ww_gpu *gpu;
    const char *const override[] = {m->l1 == L1_ON ? "l1.global_loads=true" : "l1.global_loads=false",
                                    "tlb.enabled=true"};
    assert_int_equal(ww_gpu_load(m->gpu, override, 2, &gpu, &error), WW_OK);
    double cycles = pattern(gpu, WW_MICRO_GLOBAL, m->pattern);
    ww_gpu_free(gpu);
    print_message("%s P%d: %.1f, measured %.0f (%+.1f %%)\n", m->gpu, m->pattern, cycles, m->cycles,
                  100 * (cycles / m->cycles - 1));
    assert_true(cycles > 0.97 * m->cycles && cycles < 1.03 * m->cycles);
}

static struct ww_gpu *load_gpu(const char *name, const char *override) {
    struct ww_error error;
    struct ww_gpu *gpu;
    if (ww_gpu_load(name, &override, 1, &gpu, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return gpu;
}

/* Lines of more pages than both TLBs hold, again and again: after the first pass the L1 has them. */
static void a_hit_of_the_l1_of_a_gtx980_needs_no_translation(void **state) {
    (void)state;
    struct ww_gpu *gpu = load_gpu("gtx980", "l1.global_loads=true");
    enum { PAGES = 100, COUNT = 3 * PAGES };
    uint64_t address[COUNT], counter[WW_COUNTER_COUNT];
    uint32_t latency[COUNT];
    for (size_t i = 0; i < COUNT; i++) address[i] = CHASE_BASE + i % PAGES * (2 * MIB + 128);
    chase(gpu, WW_MICRO_GLOBAL, address, COUNT, latency, counter);
    assert_int_equal(counter[WW_C_TLB_L1_ACCESS], PAGES);
    assert_int_equal(latency[COUNT - 1], gpu->spec.l1_latency);
    ww_gpu_free(gpu);
}

/* A load of `address`, and what needs its value; cycles of the warp in `state` at the latter, of all those that
 * it waited for memory. */
static uint64_t waits(const struct ww_gpu *gpu, const uint64_t *address, uint32_t loads, enum ww_warp_state s,
                      uint64_t *all) {
    struct program p;
    program_init(&p, 1, 32, 1, 2 * loads);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, -1);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1), last = program_inst(&p, WW_OP_INT, 2, 1, -1);
    for (uint32_t i = 0; i < loads; i++) {
        program_access(&p, 0, load, 1, address[i], 0);
        program_step(&p, 0, i + 1 < loads ? use : last, 1);
    }
    struct replay r = program_run(&p, &gpu->spec);
    uint64_t n = stall(&r, last, s);
    *all = stall(&r, last, WW_S_WAIT_L1) + stall(&r, last, WW_S_WAIT_L2) + stall(&r, last, WW_S_WAIT_DRAM) +
           stall(&r, last, WW_S_WAIT_TLB);
    replay_free(&r);
    program_free(&p);
    return n;
}

static void a_warp_that_waits_for_a_walk_is_in_wait_tlb(void **state) {
    (void)state;
    struct ww_gpu *gpu = load_gpu("gtx780", "tlb.enabled=true");
    const uint64_t cold[] = {CHASE_BASE}, again[] = {CHASE_BASE, CHASE_BASE + 4096};
    uint64_t all, n = waits(gpu, cold, 1, WW_S_WAIT_TLB, &all);
    assert_true(n > 300 && n == all);
    assert_int_equal(waits(gpu, again, 2, WW_S_WAIT_TLB, &all), 0);
    assert_true(all > 200);
    ww_gpu_free(gpu);
}

static void a_warp_whose_l1_hit_waits_for_a_translation_is_in_wait_tlb(void **state) {
    (void)state;
    enum { PAGES = 64, COUNT = PAGES + 1 };
    struct ww_gpu *gpu = load_gpu("gtx560ti", "l1.global_loads=true");
    uint64_t address[COUNT], all;
    for (size_t i = 0; i < COUNT; i++) address[i] = CHASE_BASE + i % PAGES * (2 * MIB + 128);
    uint64_t n = waits(gpu, address, COUNT, WW_S_WAIT_TLB, &all);
    assert_true(n > 250 && n == all);
    ww_gpu_free(gpu);
}

#define FIGURE(g, l, p, c)                                                                                     \
    {                                                                                                          \
#g "_P" #p "_" #l, a_chase_takes_the_measured_cycles, NULL, NULL, &(struct measured) {                 \
#g, p, c, l                                                                                        \
        }                                                                                                      \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        FIGURE(gtx980, L1_ON, 1, 82),
        FIGURE(gtx980, L1_ON, 4, 385),
        FIGURE(gtx980, L1_ON, 5, 2439),
        FIGURE(gtx980, L1_ON, 6, 2740),
        FIGURE(gtx980, L1_OFF, 1, 214),
        FIGURE(gtx980, L1_OFF, 2, 225),
        FIGURE(gtx980, L1_OFF, 3, 289),
        FIGURE(gtx980, L1_OFF, 4, 383),
        FIGURE(gtx980, L1_OFF, 5, 2461),
        FIGURE(gtx980, L1_OFF, 6, 2750),
        FIGURE(gtx780, L1_OFF, 1, 198),
        FIGURE(gtx780, L1_OFF, 2, 204),
        FIGURE(gtx780, L1_OFF, 3, 257),
        FIGURE(gtx780, L1_OFF, 4, 339),
        FIGURE(gtx780, L1_OFF, 5, 702),
        FIGURE(gtx780, L1_OFF, 6, 968),
        FIGURE(gtx560ti, L1_ON, 1, 96),
        FIGURE(gtx560ti, L1_ON, 2, 384),
        FIGURE(gtx560ti, L1_ON, 3, 468),
        FIGURE(gtx560ti, L1_ON, 4, 635),
        FIGURE(gtx560ti, L1_ON, 5, 1239),
        FIGURE(gtx560ti, L1_OFF, 1, 351),
        FIGURE(gtx560ti, L1_OFF, 2, 378),
        FIGURE(gtx560ti, L1_OFF, 3, 462),
        FIGURE(gtx560ti, L1_OFF, 4, 619),
        FIGURE(gtx560ti, L1_OFF, 5, 1225),
        cmocka_unit_test(a_hit_of_the_l1_of_a_gtx980_needs_no_translation),
        cmocka_unit_test(a_warp_that_waits_for_a_walk_is_in_wait_tlb),
        cmocka_unit_test(a_warp_whose_l1_hit_waits_for_a_translation_is_in_wait_tlb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
