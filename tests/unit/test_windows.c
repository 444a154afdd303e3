/* SMs that go alone through windows of cycles: what comes out is what SMs in step give. */
#include "../../estimator/warpwatt.h"
#include "random_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A GPU whose queues are so short that they are often full, with ways of any length. */
static void random_gpu(struct ww_gpu_spec *g, struct ww_rng *r) {
    g->sm_count = 8 + ww_rng_below(r, 5);
    g->sm_gpcs = 0;
    g->xbar_columns = 0;
    g->xbar_trunks = 0;
    if (ww_rng_below(r, 3) == 0) g->xbar_latency = ww_rng_below(r, 900);
    g->l1_miss_queue = 1 + ww_rng_below(r, 24);
    g->l1_mshrs = 4 + ww_rng_below(r, 60);
    g->l1_mshr_merge = 1 + ww_rng_below(r, 8);
    g->xbar_request_queue = 1 + ww_rng_below(r, 8);
    g->xbar_flit = 8u << ww_rng_below(r, 3);
    g->l2_mshrs = 8 + ww_rng_below(r, 60);
    g->sm_max_ctas = 1 + ww_rng_below(r, 8);
    g->launch_cta_cycles = ww_rng_below(r, 100);
}

static struct replay replayed(struct program *p, const struct ww_gpu_spec *g, bool in_step, uint32_t threads,
                              uint64_t seed) {
    static const char *const mech[] = {"sched=gto", "sched=lrr", "sched=mascar", "sched=two_level"};
    p->in_step = in_step;
    p->threads = threads;
    struct replay r = program_run_mech(p, g, &mech[seed % 4], 1, seed % 8 < 4 ? 128 : 4096);
    if (r.code != WW_OK) fail_msg("seed %d: %s %s", (int)seed, r.error.where, r.error.text);
    return r;
}

static void assert_same(const struct replay *a, const struct replay *b) {
    assert_int_equal(a->r.cycles, b->r.cycles);
    assert_memory_equal(a->r.counter, b->r.counter, sizeof a->r.counter);
    assert_memory_equal(a->r.warp_cycles, b->r.warp_cycles, sizeof a->r.warp_cycles);
    assert_memory_equal(a->r.slot, b->r.slot, sizeof a->r.slot);
    assert_int_equal(a->r.epoch_count, b->r.epoch_count);
    assert_memory_equal(a->r.epoch, b->r.epoch, a->r.epoch_count * sizeof *a->r.epoch);
    for (size_t i = 0; i < a->r.pc_count; i++)
        assert_memory_equal(a->r.pc[i].stall, b->r.pc[i].stall, sizeof a->r.pc[i].stall);
}

static void compare(const char *name, uint64_t seed, const uint32_t *threads, size_t count) {
    struct ww_rng r;
    struct program p;
    struct ww_gpu *gpu;
    struct ww_error error;
    if (ww_gpu_load(name, NULL, 0, &gpu, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    ww_rng_seed(&r, seed);
    random_gpu(&gpu->spec, &r);
    uint32_t warps = 1 + ww_rng_below(&r, 4);
    program_init(&p, 1 + ww_rng_below(&r, 80), 32 * warps - 16, 3, 100);
    random_instructions(&p, &r);
    random_streams(&p, &r);
    struct replay step = replayed(&p, &gpu->spec, true, 1, seed);
    for (size_t i = 0; i < count; i++) {
        struct replay alone = replayed(&p, &gpu->spec, false, threads[i], seed);
        assert_same(&step, &alone);
        replay_free(&alone);
    }
    replay_free(&step);
    program_free(&p);
    ww_gpu_free(gpu);
}

static void windows_change_no_result(void **state) {
    const uint32_t one = 1;
    (void)state;
    for (uint64_t seed = 1; seed <= 90; seed++) compare(seed % 3 ? "v100" : "gtx480", seed, &one, 1);
}

static void nor_do_several_threads(void **state) {
    const uint32_t threads[] = {2, 3, 8};
    (void)state;
    for (uint64_t seed = 100; seed < 110; seed++) compare(seed % 3 ? "v100" : "l40", seed, threads, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_change_no_result),
        cmocka_unit_test(nor_do_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
