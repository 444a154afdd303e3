/* The memory system apart from the SMs: what is told, and when, is what it is when they are together. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "estimator/base/rng.h"
#include "estimator/core/memory/memsys.h"
#include <stdlib.h>
#include <string.h>

enum { SMS = 108, CYCLES = 12000, REQUESTS = 400 };

/* An SM sends its requests in their order, each from a cycle on; one that is refused when it is called. */
struct sender {
    struct ww_mem_request request[REQUESTS];
    uint64_t from[REQUESTS];
    uint32_t sent, count;
    bool refused;
    uint64_t hash; /* of all that it was told, with times */
    uint64_t told;
};

struct world {
    struct ww_gpu_spec spec;
    struct ww_clock clock; /* of the SMs */
    struct ww_queue *queue;
    struct ww_memsys *memory;
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t quiet[SMS];
    struct sender sm[SMS];
    uint64_t windows, refusals;
};

/* Messages of one time may come in any order. */
static void note(struct sender *s, uint64_t now_ps, uint64_t what) {
    struct ww_rng r;
    ww_rng_seed(&r, now_ps ^ what << 40);
    s->hash += ww_rng_next(&r);
    s->told++;
}

static void on_reply(void *context, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct world *w = context;
    note(&w->sm[sm], now_ps, (uint64_t)reply->tag << 10 | (uint64_t)reply->level << 1 | reply->last);
}

static void on_unblocked(void *context, uint16_t sm, uint64_t now_ps) {
    struct world *w = context;
    note(&w->sm[sm], now_ps, 1u << 22);
    w->sm[sm].refused = false;
}

/* Few or many requests of a cycle, near one another or not, to pages or lines that others use, too. */
static void make_requests(struct world *w, uint64_t seed) {
    struct ww_rng r;
    ww_rng_seed(&r, seed);
    uint32_t gap = 1 + ww_rng_below(&r, 40), lines = 1u << (4 + ww_rng_below(&r, 14));
    uint32_t line = ww_gpu_request_line(&w->spec), sectors = line / w->spec.l1_sector;
    for (uint32_t i = 0; i < w->spec.sm_count; i++) {
        struct sender *s = &w->sm[i];
        uint64_t cycle = ww_rng_below(&r, 100);
        s->count = ww_rng_below(&r, REQUESTS);
        for (uint32_t k = 0; k < s->count; k++) {
            uint32_t kind = ww_rng_below(&r, 10), mask = 1 + ww_rng_below(&r, (1u << sectors) - 1);
            s->request[k] = (struct ww_mem_request){
                .address = (uint64_t)ww_rng_below(&r, lines) * line + ((uint64_t)ww_rng_below(&r, 3) << 24),
                .sectors = mask,
                .tag = k,
                .sm = (uint16_t)i,
                .kind = kind < 7   ? WW_MEM_READ
                        : kind < 9 ? WW_MEM_WRITE
                                   : WW_MEM_ATOMIC,
                .needs_reply = 1,
                .bytes = (uint16_t)(kind < 7 ? 0 : 4 + ww_rng_below(&r, 120)),
                .atomic_ops = (uint16_t)(kind < 9 ? 0 : ww_rng_below(&r, 8))};
            s->from[k] = cycle;
            cycle += ww_rng_below(&r, 2) ? ww_rng_below(&r, gap) : 0;
        }
    }
}

static struct world *start(const char *gpu, uint64_t seed) {
    struct world *w = calloc(1, sizeof *w);
    struct ww_gpu *loaded;
    struct ww_error error;
    struct ww_memsys_client client = {w, on_reply, on_unblocked};
    assert_non_null(w);
    if (ww_gpu_load(gpu, NULL, 0, &loaded, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    w->spec = loaded->spec;
    ww_gpu_free(loaded);
    assert_true(w->spec.sm_count <= SMS);
    ww_clock_init(&w->clock, w->spec.clock_sm_mhz);
    w->queue = ww_queue_new((uint64_t)(1e6 / w->spec.clock_sm_mhz));
    w->memory = ww_memsys_new(&w->spec, w->queue, &client, w->counter, seed);
    assert_non_null(w->memory);
    ww_queue_keyed(w->queue);
    make_requests(w, seed);
    return w;
}

static void stop(struct world *w) {
    ww_memsys_free(w->memory);
    ww_queue_free(w->queue);
    free(w);
}

static uint64_t time_of(const struct world *w, uint64_t cycle) {
    return ww_clock_time(&w->clock, cycle);
}

/* What SMs send at the beginning of a cycle, at the time of the one before. */
static void send(struct world *w, uint64_t cycle) {
    for (uint32_t i = 0; i < w->spec.sm_count; i++) {
        struct sender *s = &w->sm[i];
        if (s->refused || s->sent == s->count || s->from[s->sent] >= cycle) continue;
        s->refused = !ww_memsys_send(w->memory, &s->request[s->sent], time_of(w, cycle - 1));
        s->sent += !s->refused;
        w->refusals += s->refused;
    }
}

static void together(struct world *w, uint64_t from, uint64_t to) {
    for (uint64_t cycle = from; cycle < to; cycle++) {
        while (ww_queue_next(w->queue) <= time_of(w, cycle)) ww_queue_step(w->queue);
        ww_queue_floor(w->queue, time_of(w, cycle));
        send(w, cycle);
    }
}

static void tell(struct world *w) {
    uint64_t ps = ww_memsys_told(w->memory), sms[(SMS + 31) / 32] = {0};
    struct ww_memsys_told told = ww_memsys_tell(w->memory, ps, 5, sms);
    for (uint32_t i = 0; i < w->spec.sm_count; i++) {
        if (!(sms[i / 32] >> i % 32 & 1)) continue;
        for (; w->quiet[i] <= ps; told.count--) {
            uint64_t now = w->quiet[i];
            struct ww_mem_coming coming = ww_memsys_coming(w->memory, (uint16_t)i),
                                 taken = ww_memsys_take_reply(w->memory, (uint16_t)i, &w->quiet[i]);
            if (taken.reply != coming.reply || taken.next != coming.next || taken.third != coming.third ||
                (taken.next && ww_memsys_coming(w->memory, (uint16_t)i).reply != taken.next))
                fail_msg("SM %u takes another reply than comes next", i);
            on_reply(w, (uint16_t)i, taken.reply, now);
        }
    }
    assert_int_equal(told.count, 0);
}

static void run_sms(struct world *w, uint64_t from, uint64_t to) {
    for (uint64_t cycle = from; cycle < to; cycle++) {
        while (ww_memsys_told(w->memory) <= time_of(w, cycle)) tell(w);
        ww_memsys_tick(w->memory, time_of(w, cycle));
        send(w, cycle);
    }
}

/* So many windows from a cycle on, all of whose events have fired; returns the next cycle. */
static uint64_t apart(struct world *w, uint64_t cycle, uint64_t length, uint32_t windows) {
    uint64_t end = cycle + length;
    if (!ww_memsys_part(w->memory, time_of(w, cycle))) return cycle;
    bool went = ww_memsys_advance(w->memory, time_of(w, end - 1));
    assert_true(went && ww_memsys_exchange(w->memory, w->quiet, time_of(w, end - 1) + 1));
    while (went) {
        went = --windows && ww_memsys_advance(w->memory, time_of(w, end + length - 1));
        run_sms(w, cycle, end);
        w->windows++;
        assert_true(ww_memsys_exchange(w->memory, w->quiet, time_of(w, end + length - 1) + 1));
        cycle = end;
        end += length;
    }
    assert_true(ww_memsys_join(w->memory, time_of(w, cycle - 1)));
    return cycle;
}

static void run_apart(struct world *w, uint64_t seed) {
    struct ww_rng r;
    uint64_t lead = ww_memsys_lead(w->memory, false), length = ((lead - 1) << 16) / (2 * w->clock.period_fp);
    ww_rng_seed(&r, seed);
    assert_true(lead && length > 1);
    for (uint64_t cycle = 1; cycle < CYCLES;) {
        uint64_t alone = cycle + 1 + ww_rng_below(&r, 30), shorter = 1 + ww_rng_below(&r, (uint32_t)length);
        together(w, cycle, alone);
        while (ww_queue_next(w->queue) <= time_of(w, alone)) ww_queue_step(w->queue);
        cycle = apart(w, alone, ww_rng_below(&r, 2) ? length : shorter, 1 + ww_rng_below(&r, 20));
    }
    while (ww_queue_step(w->queue)) {
    }
}

static void run_together(struct world *w) {
    together(w, 1, CYCLES);
    while (ww_queue_step(w->queue)) {
    }
}

static void compare(const char *gpu, uint64_t seeds, uint64_t *windows, uint64_t *refusals) {
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct world *one = start(gpu, seed), *two = start(gpu, seed);
        run_together(one);
        run_apart(two, seed);
        for (uint32_t i = 0; i < one->spec.sm_count; i++) {
            if (one->sm[i].sent != one->sm[i].count) fail_msg("seed %d: SM %u has not sent all", (int)seed, i);
            if (one->sm[i].told != two->sm[i].told || one->sm[i].hash != two->sm[i].hash)
                fail_msg("%s, seed %d: SM %u is told other things, or at other times", gpu, (int)seed, i);
        }
        for (int i = 0; i < WW_COUNTER_COUNT; i++)
            if (one->counter[i] != two->counter[i])
                fail_msg("%s, seed %d: counter %d is %d, not %d", gpu, (int)seed, i, (int)two->counter[i],
                         (int)one->counter[i]);
        *windows += two->windows;
        *refusals += two->refusals;
        stop(one);
        stop(two);
    }
}

static void sms_are_told_the_same_at_the_same_times(void **state) {
    (void)state;
    uint64_t windows = 0, refusals = 0;
    compare("v100", 12, &windows, &refusals);
    assert_true(windows > 500 && refusals > 500);
}

static void so_are_they_where_pages_are_translated(void **state) {
    (void)state;
    uint64_t windows = 0, refusals = 0;
    compare("gtx480", 24, &windows, &refusals);
    assert_true(windows > 500 && refusals > 500);
}

static void so_are_they_with_two_partitions(void **state) {
    (void)state;
    uint64_t windows = 0, refusals = 0;
    compare("a100", 12, &windows, &refusals);
    assert_true(windows > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sms_are_told_the_same_at_the_same_times),
        cmocka_unit_test(so_are_they_where_pages_are_translated),
        cmocka_unit_test(so_are_they_with_two_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
