/* Shared memory that CTAs allocate while they run: order, overlap, stalls, and what is refused. */
#include "../../estimator/base/rng.h"
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 8736 /* of figure 9: two do not fit 16 KiB */

static struct ww_gpu_spec small_sm(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_shared_kb = g.sm_shared_per_cta_kb = 16;
    return g;
}

static uint32_t marker(struct program *p, uint32_t flag, uint32_t bytes) {
    uint32_t i = program_inst(p, WW_OP_BARRIER, -1, -1, -1);
    p->inst[i].flags = flag;
    p->inst[i].bytes = bytes;
    return i;
}

static struct replay run_dynamic(struct program *p, const struct ww_gpu_spec *g, const char *extra) {
    char text[32];
    const char *mech[] = {"smem=dynamic", text};
    snprintf(text, sizeof text, "smem.extra=%s", extra);
    return program_run_mech(p, g, mech, 2, 4096);
}

struct figure9 {
    struct program p;
    uint32_t compute, alloc, inside, release, after;
};

/* Computes, uses shared memory for a while, computes: the shape of figure 9. */
static void figure9(struct figure9 *f, uint32_t ctas, uint32_t bytes, uint32_t compute, uint32_t inside) {
    program_init(&f->p, ctas, 64, 1, 64);
    f->p.launch.shared_static = bytes;
    f->compute = program_inst(&f->p, WW_OP_SFU, 1, 1, -1);
    f->alloc = marker(&f->p, WW_INST_SMEM_ALLOC, bytes);
    f->inside = program_inst(&f->p, WW_OP_SFU, 2, 2, -1);
    f->release = marker(&f->p, WW_INST_SMEM_FREE, bytes);
    f->after = program_inst(&f->p, WW_OP_SFU, 3, 3, -1);
    for (uint32_t i = 0; i < compute; i++) program_all(&f->p, f->compute);
    program_all(&f->p, f->alloc);
    for (uint32_t i = 0; i < inside; i++) program_all(&f->p, f->inside);
    program_all(&f->p, f->release);
    for (uint32_t i = 0; i < compute; i++) program_all(&f->p, f->after);
    program_all(&f->p, program_inst(&f->p, WW_OP_EXIT, -1, -1, -1));
}

static void of_two_ctas_one_computes_while_the_other_has_the_shared_memory(void **state) {
    (void)state;
    struct ww_gpu_spec g = small_sm();
    struct figure9 f;
    figure9(&f, 2, BYTES, 5, 5);
    struct replay one_by_one = program_run(&f.p, &g), both = run_dynamic(&f.p, &g, "1");
    assert_int_equal(both.code, WW_OK);
    assert_int_equal(one_by_one.r.ctas_per_sm, 1);
    assert_int_equal(both.r.ctas_per_sm, 2);
    /* Both compute first at the same time (4 x 20 cycles and some), the second waits while the first is inside,
     * then it is inside while the first computes: four such parts instead of six. */
    assert_in_range(one_by_one.r.cycles, 500, 560);
    assert_in_range(both.r.cycles, 335, 375);
    assert_int_equal(both.r.counter[WW_C_SMEM_ALLOC], 2);
    assert_int_equal(both.r.counter[WW_C_SMEM_FREE], 2);
    assert_int_equal(both.r.counter[WW_C_SMEM_STALL], 1);
    /* two warps wait from the second request to the first release */
    assert_int_equal(stall(&both, f.alloc, WW_S_SMEM_WAIT), 2 * both.r.counter[WW_C_SMEM_WAIT_CYCLES] - 2);
    assert_in_range(both.r.counter[WW_C_SMEM_WAIT_CYCLES], 60, 85);
    assert_true(both.r.warp_cycles[WW_S_SMEM_WAIT] > 0);
    replay_free(&one_by_one);
    replay_free(&both);
    program_free(&f.p);
}

static void static_management_ignores_the_instructions(void **state) {
    (void)state;
    struct ww_gpu_spec g = small_sm();
    struct figure9 f;
    figure9(&f, 4, BYTES, 3, 3);
    struct replay with = program_run(&f.p, &g);
    f.p.inst[f.alloc].flags = f.p.inst[f.release].flags = 0;
    struct replay without = program_run(&f.p, &g);
    assert_int_equal(with.r.cycles, without.r.cycles);
    assert_int_equal(with.r.counter[WW_C_SMEM_ALLOC], 0);
    assert_int_equal(with.r.warp_cycles[WW_S_SMEM_WAIT], 0);
    replay_free(&with);
    replay_free(&without);
    program_free(&f.p);
}

static void ctas_that_fit_do_not_wait(void **state) {
    (void)state;
    struct ww_gpu_spec g = small_sm();
    struct figure9 f;
    figure9(&f, 3, 4096, 2, 4);
    struct replay r = run_dynamic(&f.p, &g, "3");
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(r.r.counter[WW_C_SMEM_ALLOC], 3);
    assert_int_equal(r.r.counter[WW_C_SMEM_STALL], 0);
    replay_free(&r);
    program_free(&f.p);
}

static void the_bound_admits_so_many_more_ctas_than_static_management(void **state) {
    (void)state;
    struct ww_gpu_spec g = small_sm();
    struct figure9 f;
    figure9(&f, 16, BYTES, 3, 1);
    const char *extra[] = {"1", "2", "3", "64"};
    const uint32_t ctas[] = {2, 3, 4, 8}; /* 64: all that the SM's eight places hold */
    for (int i = 0; i < 4; i++) {
        struct replay r = run_dynamic(&f.p, &g, extra[i]);
        assert_int_equal(r.code, WW_OK);
        assert_int_equal(r.r.ctas_per_sm, ctas[i]);
        replay_free(&r);
    }
    program_free(&f.p);
}

/* The example of section 5: 6 KiB of a CTA of which 4 are private; three CTAs share 16 KiB. */
static void private_parts_leave_room_for_a_public_one(void **state) {
    (void)state;
    struct ww_gpu_spec g = small_sm();
    struct figure9 f;
    figure9(&f, 12, 2048, 2, 6);
    f.p.launch.shared_static = 6 * 1024;
    struct replay fixed = program_run(&f.p, &g), r = run_dynamic(&f.p, &g, "3");
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(fixed.r.ctas_per_sm, 2);
    assert_int_equal(r.r.ctas_per_sm, 3);
    assert_int_equal(r.r.counter[WW_C_SMEM_ALLOC], 12);
    assert_true(r.r.counter[WW_C_SMEM_STALL] > 0); /* 4 KiB are left: two of three at a time */
    replay_free(&fixed);
    replay_free(&r);
    program_free(&f.p);
}

/* ---- what is refused ---- */

static void refused(struct program *p, const char *text) {
    struct ww_gpu_spec g = small_sm();
    struct replay r = run_dynamic(p, &g, "2");
    assert_int_equal(r.code, WW_INPUT);
    if (!strstr(r.error.text, text)) fail_msg("\"%s\" is not in \"%s\"", text, r.error.text);
    replay_free(&r);
    program_free(p);
}

static void sequence(struct program *p, const uint32_t *flag, uint32_t count, uint32_t bytes,
                     uint32_t last_bytes) {
    program_init(p, 1, 64, 1, 16);
    p->launch.shared_static = 8192;
    for (uint32_t i = 0; i < count; i++)
        program_all(p, marker(p, flag[i], i + 1 == count ? last_bytes : bytes));
    program_all(p, program_inst(p, WW_OP_NOP, -1, -1, -1));
}

static void nested_unbalanced_unequal_and_oversized_requests_are_refused_with_their_place(void **state) {
    (void)state;
    const uint32_t a = WW_INST_SMEM_ALLOC, f = WW_INST_SMEM_FREE;
    struct program p;
    sequence(&p, (const uint32_t[]){a, a}, 2, 4096, 4096);
    refused(&p, "CTA 0: pc 0x10 allocates shared memory while the CTA holds some");
    sequence(&p, (const uint32_t[]){a, f, f}, 3, 4096, 4096);
    refused(&p, "CTA 0: pc 0x20 frees shared memory that the CTA has not allocated");
    sequence(&p, (const uint32_t[]){a}, 1, 4096, 4096);
    refused(&p, "CTA 0 ended without freeing");
    sequence(&p, (const uint32_t[]){a, f}, 2, 4096, 2048);
    refused(&p, "pc 0x10 allocates or frees 2048 bytes");
    sequence(&p, (const uint32_t[]){a, f}, 2, 9000, 9000);
    refused(&p, "pc 0x0 allocates or frees 9000 bytes of shared memory; a CTA has 8192");
}

/* ---- nothing locks up ---- */

static void random_program(struct program *p, struct ww_rng *rng, struct ww_gpu_spec *g) {
    uint32_t variants = 1 + (uint32_t)ww_rng_below(rng, 3), warps = 1 + (uint32_t)ww_rng_below(rng, 2);
    program_init(p, 1 + (uint32_t)ww_rng_below(rng, 12), 32 * warps, variants, 128);
    g->sm_shared_unit = 1u << ww_rng_below(rng, 8);
    uint32_t bytes = 1 + (uint32_t)ww_rng_below(rng, 16384);
    uint32_t rest = 16384 - (bytes + g->sm_shared_unit - 1) / g->sm_shared_unit * g->sm_shared_unit;
    p->launch.shared_static = bytes + (ww_rng_below(rng, 2) ? (uint32_t)ww_rng_below(rng, rest + 1) : 0);
    uint32_t take = marker(p, WW_INST_SMEM_ALLOC, bytes), give = marker(p, WW_INST_SMEM_FREE, bytes);
    uint32_t bar = program_inst(p, WW_OP_BARRIER, -1, -1, -1), sfu = program_inst(p, WW_OP_SFU, 1, 1, -1);
    uint32_t store = program_memory(p, WW_OP_STORE, WW_SPACE_SHARED, 4, -1, 2);
    uint32_t end = program_inst(p, WW_OP_EXIT, -1, -1, -1);
    for (uint32_t v = 0; v < variants; v++)
        for (uint64_t regions = ww_rng_below(rng, 5) + 1; regions; regions--) {
            bool inner = ww_rng_below(rng, 2);
            for (uint32_t w = v * warps; w < (v + 1) * warps; w++) {
                for (uint64_t n = ww_rng_below(rng, 4); n; n--) program_step(p, w, sfu, ALL);
                program_step(p, w, take, ALL);
                for (uint64_t n = ww_rng_below(rng, 3); n; n--) program_access(p, w, store, ALL, 0, 0);
                if (inner) program_step(p, w, bar, ALL);
                for (uint64_t n = ww_rng_below(rng, 3); n; n--) program_step(p, w, sfu, ALL);
                program_step(p, w, give, ALL);
            }
        }
    program_all(p, end);
}

static void ten_thousand_random_programs_all_end(void **state) {
    (void)state;
    struct ww_rng rng;
    ww_rng_seed(&rng, 20120919);
    for (int i = 0; i < 10000; i++) {
        struct ww_gpu_spec g = small_sm();
        struct program p;
        char extra[4];
        random_program(&p, &rng, &g);
        snprintf(extra, sizeof extra, "%d", 1 + i % 4);
        struct replay r = run_dynamic(&p, &g, extra);
        if (r.code != WW_OK) fail_msg("program %d: %s: %s", i, r.error.where, r.error.text);
        assert_int_equal(r.r.counter[WW_C_SMEM_ALLOC], r.r.counter[WW_C_SMEM_FREE]);
        replay_free(&r);
        program_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_ctas_one_computes_while_the_other_has_the_shared_memory),
        cmocka_unit_test(static_management_ignores_the_instructions),
        cmocka_unit_test(ctas_that_fit_do_not_wait),
        cmocka_unit_test(the_bound_admits_so_many_more_ctas_than_static_management),
        cmocka_unit_test(private_parts_leave_room_for_a_public_one),
        cmocka_unit_test(nested_unbalanced_unequal_and_oversized_requests_are_refused_with_their_place),
        cmocka_unit_test(ten_thousand_random_programs_all_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
