/* sm_mbarrier_far.c: mbarriers of other CTAs of the cluster: arrivals, asynchronous stores, multicast, copies.
 */
#include "fake_memory.h"
#include "sm_fixture.h"
#include "../../traces/mbarrier.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"", "STAS", "UTMALDG.2D", "UBLKCP.S.S"};
enum { NONE, STORE, MULTICAST, BETWEEN };
#define LATENCY 100
#define BAR 64u

static struct ww_gpu_spec gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_count = 2;
    g.sm_gpcs = 1;
    g.sm_max_ctas = 1;
    g.cluster_latency = LATENCY;
    g.cluster_bytes = 16;
    g.tma_queue = 4;
    g.tma_load_latency = 100;
    g.tma_store_latency = 10;
    g.tma_load_bytes = 128;
    g.tma_store_bytes = 64;
    return g;
}

/* Two CTAs of a warp each, of one cluster. CTA 0 does `act`; CTA 1 waits for what that does to its mbarrier. */
struct far {
    struct program p;
    uint32_t bar, use;
};

static void begin(struct far *f) {
    program_init(&f->p, 2, 32, 2, 300);
    f->p.launch.string = names;
    f->p.launch.string_count = sizeof names / sizeof *names;
    f->p.launch.cluster[0] = 2;
    f->p.launch.cluster[1] = f->p.launch.cluster[2] = 1;
    f->bar = program_inst(&f->p, WW_OP_BARRIER, -1, -1, -1);
    f->p.inst[f->bar].barrier = WW_MBARRIER;
    f->p.inst[f->bar].flags |= WW_INST_ACCESS;
    f->use = program_inst(&f->p, WW_OP_NOP, -1, -1, -1);
}

static uint32_t named(struct far *f, uint32_t name) {
    bool loads = name == MULTICAST;
    uint32_t i = program_memory(&f->p, loads ? WW_OP_ASYNC_COPY : WW_OP_STORE,
                                loads ? WW_SPACE_GLOBAL : WW_SPACE_SHARED, name == STORE ? 4 : 16, -1, 2);
    f->p.inst[i].mnemonic = name;
    if (loads) f->p.inst[i].flags |= WW_INST_BYPASS_L1;
    return i;
}

/* CTA 0 tells the mbarrier of the CTA of that rank; 0: its own. */
static void tells(struct far *f, uint8_t kind, uint8_t rank, uint16_t events) {
    const struct ww_mbarrier_step s = {
        .offset = BAR, .phase = 3, .events = events, .kind = kind, .rank = (uint8_t)(rank ? rank + 1 : 0)};
    program_access(&f->p, 0, f->bar, 1, ww_mbarrier_pack(&s), 0);
}

static void waits(struct far *f, uint32_t cta, uint16_t own, uint16_t others) {
    const struct ww_mbarrier_step s = {.offset = BAR, .phase = 3, .events = own, .kind = WW_MBARRIER_WAIT};
    program_access(&f->p, cta, f->bar, 1, ww_mbarrier_pack(&s), others);
    program_step(&f->p, cta, f->use, ALL);
}

struct outcome {
    uint64_t cycles, waited, sent, bytes, ended;
};

static struct outcome end(struct far *f, const struct ww_gpu_spec *g) {
    struct replay r = program_run(&f->p, g);
    const uint64_t *c = r.r.counter;
    struct outcome o = {r.r.cycles, r.r.warp_cycles[WW_S_BARRIER], c[WW_C_EVENT_SENT], c[WW_C_COPY_SENT],
                        c[WW_C_MBAR_ENDED]};
    assert_int_equal(c[WW_C_EVENT_RECEIVED], o.sent);
    assert_int_equal(c[WW_C_COPY_RECEIVED], o.bytes);
    assert_int_equal(c[WW_C_MBAR_WAIT], c[WW_C_MBAR_OVER] + o.ended);
    replay_free(&r);
    program_free(&f->p);
    return o;
}

static struct outcome arrive_after(const struct ww_gpu_spec *g, uint32_t cycles) {
    struct far f;
    begin(&f);
    for (uint32_t n = 0; n < cycles; n++) program_step(&f.p, 0, f.use, ALL);
    tells(&f, WW_MBARRIER_ARRIVE, 1, 1);
    waits(&f, 1, 0, 1);
    return end(&f, g);
}

static void an_arrival_takes_the_way_to_the_other_sm(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), far = g;
    far.cluster_latency += 60;
    struct outcome soon = arrive_after(&g, 20);
    assert_int_equal(soon.sent, 1);
    assert_int_equal(soon.ended, 1);
    assert_in_range(soon.waited, 20 + LATENCY / 2 - 5, 20 + LATENCY / 2 + 15);
    assert_int_equal(arrive_after(&g, 120).waited, soon.waited + 100);
    assert_int_equal(arrive_after(&far, 20).waited, soon.waited + 30);
}

/* Of a GPU without clusters, CTAs wait for events of their own alone. */
static void without_clusters_nobody_waits_for_other_ctas(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    g.sm_gpcs = 0;
    struct outcome o = arrive_after(&g, 120);
    assert_int_equal(o.sent, 0);
    assert_int_equal(o.ended, 0);
    assert_true(o.waited < 10);
}

/* Both are needed: an arrival of the CTA itself does not stand for another one's. */
static void own_arrivals_are_counted_apart(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct far f;
    begin(&f);
    const struct ww_mbarrier_step own = {.offset = BAR, .phase = 3, .events = 2, .kind = WW_MBARRIER_ARRIVE};
    program_access(&f.p, 1, f.bar, 1, ww_mbarrier_pack(&own), 0);
    for (uint32_t n = 0; n < 100; n++) program_step(&f.p, 0, f.use, ALL);
    tells(&f, WW_MBARRIER_ARRIVE, 1, 1);
    waits(&f, 1, 1, 1);
    struct outcome o = end(&f, &g);
    assert_int_equal(o.ended, 1);
    assert_true(o.waited > 100);
}

static struct outcome store(const struct ww_gpu_spec *g, uint32_t count) {
    struct far f;
    begin(&f);
    uint32_t stas = named(&f, STORE);
    for (uint32_t n = 0; n < count; n++) {
        program_access(&f.p, 0, stas, ALL, (uint64_t)2 << WW_SHARED_RANK_SHIFT, 4);
        tells(&f, WW_MBARRIER_COPIES, 1, 32);
    }
    waits(&f, 1, 0, (uint16_t)(32 * count));
    return end(&f, g);
}

/* The way there, not back; and the time of 128 bytes for each store. */
static void an_asynchronous_store_is_told_when_its_data_are_there(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), far = g;
    far.cluster_latency += 60;
    struct outcome one = store(&g, 1);
    assert_int_equal(one.sent, 32);
    assert_int_equal(one.ended, 1);
    assert_in_range(one.waited, LATENCY / 2 + 128 / 16, LATENCY / 2 + 128 / 16 + 25);
    assert_int_equal(store(&far, 1).waited, one.waited + 30);
    assert_in_range(store(&g, 11).waited, one.waited + 10 * 128 / 16 - 4, one.waited + 10 * 128 / 16 + 4);
}

/* Cycles until CTA `who` has what a copy of 4 KB brings to both. */
static struct outcome multicast(const struct ww_gpu_spec *g, uint32_t who) {
    struct far f;
    begin(&f);
    uint32_t load = named(&f, MULTICAST);
    for (uint32_t n = 0; n < 8; n++) program_access(&f.p, 0, load, ALL, 512 * n, 16);
    tells(&f, WW_MBARRIER_COPIES, 0, 1);
    tells(&f, WW_MBARRIER_COPIES, 1, 1);
    waits(&f, who, who == 0, who == 1);
    return end(&f, g);
}

/* One read of the L2 for both; the other CTA has its data with the one that asked. */
static void a_multicast_copy_comes_to_all_at_the_same_time(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), far = g;
    far.cluster_latency += 60;
    struct outcome own = multicast(&g, 0), other = multicast(&g, 1);
    assert_int_equal(other.sent, 1);
    assert_int_equal(other.bytes, 4096);
    assert_int_equal(other.ended, 1);
    assert_in_range(other.cycles, own.cycles, own.cycles + 6);
    assert_int_equal(multicast(&far, 1).cycles, other.cycles);
}

static struct outcome between(const struct ww_gpu_spec *g, uint32_t steps) {
    struct far f;
    begin(&f);
    uint32_t copy = named(&f, BETWEEN);
    for (uint32_t n = 0; n < steps; n++)
        program_access(&f.p, 0, copy, ALL, ((uint64_t)2 << WW_SHARED_RANK_SHIFT) + 512 * n, 16);
    tells(&f, WW_MBARRIER_COPIES, 1, 1);
    waits(&f, 1, 0, 1);
    return end(&f, g);
}

static void a_copy_within_the_cluster_takes_the_network(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), far = g;
    far.cluster_latency += 60;
    struct outcome one = between(&g, 1), nine = between(&g, 9);
    assert_int_equal(one.sent, 1);
    assert_int_equal(one.bytes, 512);
    assert_int_equal(nine.bytes, 9 * 512);
    assert_in_range(nine.waited, one.waited + 8 * 512 / 16 - 8, one.waited + 8 * 512 / 16 + 8);
    assert_int_equal(between(&far, 1).waited, one.waited + 30);
}

/* Without an engine the load/store unit makes the copy; its event comes all the same. */
static void without_an_engine_copies_are_told_of_too(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    g.tma_queue = 0;
    assert_int_equal(between(&g, 4).ended, 1);
    assert_int_equal(multicast(&g, 1).ended, 1);
}

/* Words of CTAs that the cluster does not have, of far phases, and of no events; and a wait for what never
 * comes. */
static void hostile_words_end_in_an_error_or_do_nothing(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    for (uint32_t waited = 0; waited < 2; waited++) {
        struct far f;
        uint64_t word[32];
        begin(&f);
        for (uint32_t n = 0; n < 32; n++) {
            const struct ww_mbarrier_step s = {.offset = BAR + 8 * n,
                                               .phase = (uint16_t)(n * 9001),
                                               .events = (uint16_t)(n % 2 ? 65535 : 0),
                                               .kind = WW_MBARRIER_COPIES,
                                               .rank = (uint8_t)n};
            word[n] = ww_mbarrier_pack(&s);
        }
        for (uint32_t n = 0; n < 20; n++) program_list(&f.p, 0, f.bar, ALL, word);
        if (waited) waits(&f, 1, 0, 40000);
        struct replay r = program_run_with(&f.p, &g, "gto", 4096);
        assert_int_equal(r.code == WW_OK, !waited);
        replay_free(&r);
        program_free(&f.p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_takes_the_way_to_the_other_sm),
        cmocka_unit_test(without_clusters_nobody_waits_for_other_ctas),
        cmocka_unit_test(own_arrivals_are_counted_apart),
        cmocka_unit_test(an_asynchronous_store_is_told_when_its_data_are_there),
        cmocka_unit_test(a_multicast_copy_comes_to_all_at_the_same_time),
        cmocka_unit_test(a_copy_within_the_cluster_takes_the_network),
        cmocka_unit_test(without_an_engine_copies_are_told_of_too),
        cmocka_unit_test(hostile_words_end_in_an_error_or_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
