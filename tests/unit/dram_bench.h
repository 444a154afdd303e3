/* dram_bench.h: one DRAM channel alone, for the tests of its timing and of its rules. */
#ifndef WW_TESTS_DRAM_BENCH_H
#define WW_TESTS_DRAM_BENCH_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "estimator/core/memory/dram.h"
#include "memsys_fixture.h"
#include <string.h>

enum { DONE_MAX = 512 };

/* One channel alone; a cycle is 1000 ps. Requests are told apart by `miss`. */
struct bench {
    struct ww_gpu_spec spec;
    struct ww_arena arena;
    struct ww_queue *queue;
    struct ww_dram *dram;
    uint64_t counter[WW_COUNTER_COUNT];
    uint32_t done[DONE_MAX];
    uint64_t cycle[DONE_MAX]; /* of arrival at the slice */
    size_t count, written, room;
    size_t reads_done_before_first_write;
};

static void on_done(void *context, const struct ww_dram_request *request, uint64_t ps) {
    struct bench *b = context;
    assert_true(b->count < DONE_MAX && ps >= ww_queue_now(b->queue));
    b->done[b->count] = request->miss;
    b->cycle[b->count++] = ps / 1000;
}

static void on_written(void *context, const struct ww_dram_request *request) {
    struct bench *b = context;
    (void)request;
    if (b->written++ == 0) b->reads_done_before_first_write = b->count;
}

static void on_room(void *context, uint32_t channel, uint64_t ps) {
    struct bench *b = context;
    (void)channel;
    (void)ps;
    b->room++;
}

static void start(struct bench *b) {
    struct ww_dram_client client = {b, on_done, on_written, on_room};
    ww_arena_init(&b->arena, 0);
    b->queue = ww_queue_new(1000);
    assert_non_null(b->queue);
    b->dram = ww_dram_new(&b->spec, b->queue, &client, b->counter, &b->arena);
    assert_non_null(b->dram);
}

static void stop(struct bench *b) {
    ww_arena_free(&b->arena);
    ww_queue_free(b->queue);
}

static void push(struct bench *b, uint32_t id, uint32_t bank, uint32_t row, uint16_t bursts, uint8_t direction,
                 uint64_t cycle) {
    struct ww_dram_request r = {
        .place = {bank, row}, .miss = id, .mask = 1, .bursts = bursts, .direction = direction};
    assert_true(ww_dram_has_room(ww_dram_room(b->dram, 0), direction));
    *ww_dram_room(b->dram, 0)->next = r;
    ww_dram_push(b->dram, 0, cycle * 1000);
}

static void drain(struct bench *b) {
    while (ww_queue_step(b->queue)) {
    }
}

/* Cycle at which request `id` was done. */
static uint64_t when(const struct bench *b, uint32_t id) {
    for (size_t i = 0; i < b->count; i++)
        if (b->done[i] == id) return b->cycle[i];
    fail_msg("request %u is not done", id);
    return 0;
}

#endif
