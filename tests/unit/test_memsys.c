/* Random load on the whole memory system, in many shapes: nothing is lost, nothing comes twice. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "estimator/base/hash.h"
#include "estimator/base/rng.h"
#include "memsys_fixture.h"
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 3000, SMS_MAX = 8 };

struct load {
    struct ww_rng rng;
    struct ww_mem_request request[REQUESTS];
    uint32_t answered[REQUESTS]; /* sectors */
    bool ended[REQUESTS];
    uint32_t next;                       /* not sent yet */
    struct ww_mem_request held[SMS_MAX]; /* refused, to be sent again */
    bool holds[SMS_MAX];
    uint32_t lines, outstanding;
    uint64_t fingerprint; /* of all replies and their times */
    uint64_t clock_change_at;
};

static struct ww_mem_request make(struct rig *rig, struct load *l, uint16_t sm) {
    bool fine = rig->spec.l2_sector == 32 && ww_rng_below(&l->rng, 2);
    uint32_t size = fine ? 32 : rig->spec.l1_sector, sectors = rig->spec.l1_line / size;
    uint32_t mask = 1 + ww_rng_below(&l->rng, (1u << sectors) - 1);
    uint32_t kind = ww_rng_below(&l->rng, 5);
    struct ww_mem_request r = {.address = (uint64_t)ww_rng_below(&l->rng, l->lines) * rig->spec.l1_line,
                               .sectors = mask,
                               .tag = l->next,
                               .sm = sm,
                               .kind = kind < 3    ? WW_MEM_READ
                                       : kind == 3 ? WW_MEM_WRITE
                                                   : WW_MEM_ATOMIC,
                               .needs_reply = ww_rng_below(&l->rng, 8) != 0,
                               .inst = l->next % RIG_INSTS,
                               .fine = fine};
    if (r.kind == WW_MEM_WRITE) {
        uint32_t all = (uint32_t)__builtin_popcount(mask) * size;
        r.bytes = (uint16_t)(ww_rng_below(&l->rng, 2) ? all : 4 + ww_rng_below(&l->rng, all - 4));
    }
    if (r.kind == WW_MEM_ATOMIC) {
        r.atomic_ops = (uint16_t)(1 + ww_rng_below(&l->rng, 32));
        r.bytes = (uint16_t)(4 * r.atomic_ops);
    }
    return r;
}

/* Sends until the SM is refused or nothing is left. */
static void pump(struct rig *rig, uint16_t sm, uint64_t now_ps) {
    struct load *l = rig->user;
    for (;;) {
        if (!l->holds[sm]) {
            if (l->next == REQUESTS) return;
            l->held[sm] = make(rig, l, sm);
            l->request[l->next++] = l->held[sm];
            l->holds[sm] = true;
        }
        if (!ww_memsys_send(rig->memory, &l->held[sm], now_ps)) return;
        l->holds[sm] = false;
    }
}

static void react(struct rig *rig, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct load *l = rig->user;
    if (!reply) {
        pump(rig, sm, now_ps);
        return;
    }
    assert_true(reply->tag < l->next);
    const struct ww_mem_request *r = &l->request[reply->tag];
    assert_true(r->needs_reply && r->sm == sm && r->address == reply->address && r->kind == reply->kind);
    assert_true(reply->sectors && !(reply->sectors & ~r->sectors));
    assert_false(reply->sectors & l->answered[reply->tag]); /* no sector twice */
    assert_false(l->ended[reply->tag]);
    l->answered[reply->tag] |= reply->sectors;
    l->ended[reply->tag] = reply->last;
    assert_int_equal(reply->last, l->answered[reply->tag] == r->sectors);
    l->fingerprint = ww_hash_mix(l->fingerprint ^ now_ps ^ (uint64_t)reply->tag << 40 ^ reply->sectors);
    if (l->clock_change_at && rig->replies > l->clock_change_at) {
        l->clock_change_at = 0;
        ww_clock_set(ww_memsys_l2_clock(rig->memory), 1370, now_ps);
        ww_clock_set(ww_memsys_dram_clock(rig->memory), 610, now_ps);
    }
}

/* Runs the load; returns its fingerprint. */
static uint64_t run(struct rig *rig, uint64_t seed, uint32_t lines, bool change_clocks) {
    struct load *l = calloc(1, sizeof *l);
    assert_non_null(l);
    ww_rng_seed(&l->rng, seed);
    l->lines = lines;
    l->clock_change_at = change_clocks ? REQUESTS / 3 : 0;
    rig->user = l;
    rig->react = react;
    rig_start(rig);
    for (uint16_t sm = 0; sm < rig->spec.sm_count; sm++) pump(rig, sm, 0);
    rig_drain(rig);
    assert_int_equal(l->next, REQUESTS);
    for (uint16_t sm = 0; sm < rig->spec.sm_count; sm++) assert_false(l->holds[sm]);
    for (uint32_t i = 0; i < REQUESTS; i++)
        assert_int_equal(l->answered[i], l->request[i].needs_reply ? l->request[i].sectors : 0);
    ww_memsys_end_launch(rig->memory, ww_queue_now(rig->queue));
    rig_check_laws(rig);
    uint64_t fingerprint = l->fingerprint;
    free(l);
    return fingerprint;
}

static void with(void (*change)(struct ww_gpu_spec *spec)) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        small_spec(&rig->spec);
        rig->spec.sm_count = SMS_MAX;
        rig->spec.dram_trefi = 1000;
        rig->spec.dram_trfc = 80;
        change(&rig->spec);
        run(rig, seed, seed & 1 ? 40 : 4000, seed > 2);
        rig_stop(rig);
    }
    free(rig);
}

static void nothing(struct ww_gpu_spec *s) {
    (void)s;
}

static void tiny_queues(struct ww_gpu_spec *s) {
    s->xbar_request_queue = s->xbar_reply_queue = 1;
    s->xbar_latency = 0;
    s->l2_latency = 0;
    s->l2_mshrs = s->l2_mshr_merge = 1;
    s->dram_queue = 1;
    s->l2_ways = 1;
}

static void unsectored_l1(struct ww_gpu_spec *s) {
    s->l1_sector = 128;
    s->l2_mshrs = 3;
}

static void small_l2_lines(struct ww_gpu_spec *s) {
    s->l2_line = 32;
    s->l2_mshrs = 2;
    s->dram_queue = 2;
}

static void small_l1_lines(struct ww_gpu_spec *s) {
    s->l1_line = 32;
}

static void wide_sectors(struct ww_gpu_spec *s) {
    s->l1_line = s->l2_line = 256;
    s->l1_sector = s->l2_sector = 64;
    s->l2_bytes_per_cycle = 8;
}

static void odd_slices(struct ww_gpu_spec *s) {
    s->l2_slices = 6;
    s->dram_channels = 3;
    s->l2_size_kb = 48;
    s->l2_slice_hash = 1;
    s->l2_hash = WW_HASH_XOR;
    s->l2_replace = WW_REPLACE_RANDOM;
    s->xbar_sms_per_port = 3;
}

static void closed_pages(struct ww_gpu_spec *s) {
    s->dram_page = 1;
    s->dram_bank_groups = 1;
    s->clock_l2_mhz = 700;
    s->clock_dram_mhz = 924;
}

static void every_request_is_answered_exactly_once(void **state) {
    (void)state;
    with(nothing);
}
static void also_with_every_queue_of_size_one(void **state) {
    (void)state;
    with(tiny_queues);
}
static void also_with_an_unsectored_l1(void **state) {
    (void)state;
    with(unsectored_l1);
}
static void also_with_l2_lines_smaller_than_l1_lines(void **state) {
    (void)state;
    with(small_l2_lines);
}
static void also_with_l1_lines_smaller_than_l2_lines(void **state) {
    (void)state;
    with(small_l1_lines);
}
static void also_with_wide_sectors_and_a_narrow_port(void **state) {
    (void)state;
    with(wide_sectors);
}
static void also_with_slices_that_are_no_power_of_two(void **state) {
    (void)state;
    with(odd_slices);
}
static void also_with_closed_pages_and_unequal_clocks(void **state) {
    (void)state;
    with(closed_pages);
}

static void the_same_load_gives_the_same_replies_at_the_same_times(void **state) {
    (void)state;
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    uint64_t print[3], counter[WW_COUNTER_COUNT];
    for (int i = 0; i < 3; i++) {
        small_spec(&rig->spec);
        rig->spec.sm_count = SMS_MAX;
        odd_slices(&rig->spec);
        print[i] = run(rig, i < 2 ? 11 : 12, 700, false);
        if (i == 0) memcpy(counter, rig->counter, sizeof counter);
        if (i == 1) assert_memory_equal(counter, rig->counter, sizeof counter);
        rig_stop(rig);
    }
    assert_true(print[0] == print[1]);
    assert_true(print[0] != print[2]);
    free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_answered_exactly_once),
        cmocka_unit_test(also_with_every_queue_of_size_one),
        cmocka_unit_test(also_with_an_unsectored_l1),
        cmocka_unit_test(also_with_l2_lines_smaller_than_l1_lines),
        cmocka_unit_test(also_with_l1_lines_smaller_than_l2_lines),
        cmocka_unit_test(also_with_wide_sectors_and_a_narrow_port),
        cmocka_unit_test(also_with_slices_that_are_no_power_of_two),
        cmocka_unit_test(also_with_closed_pages_and_unequal_clocks),
        cmocka_unit_test(the_same_load_gives_the_same_replies_at_the_same_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
