/* Counters per instruction in few bytes: result/packed.h. */
#include "../../estimator/result/packed.h"
#include "result_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LAUNCHES 40

static void same_rows(const struct ww_launch_result *packed, const struct ww_launch_result *plain) {
    struct ww_pc_row *row = ww_pc_unpack(packed->pc_packed);
    assert_non_null(row);
    assert_int_equal(packed->pc_packed->code.count, plain->pc_count);
    for (size_t i = 0; i < plain->pc_count; i++) {
        const struct ww_pc_row *a = &row[i], *b = &plain->pc[i];
        assert_true(a->inst == b->inst && a->pc == b->pc && a->line == b->line);
        assert_string_equal(a->file, b->file);
        assert_string_equal(a->mnemonic, b->mnemonic);
        assert_memory_equal(a->counter, b->counter, sizeof a->counter);
        assert_memory_equal(a->stall, b->stall, sizeof a->stall);
    }
    free(row);
}

/* Packs all launches of `r` and compares with those of `like`. Returns the bytes that this took. */
static size_t pack_all(struct ww_result *r, const struct ww_result *like) {
    struct ww_pc_packer packer = {0};
    struct ww_arena arena;
    struct ww_error error;
    ww_arena_init(&arena, 0);
    for (size_t i = 0; i < r->launch_count; i++) {
        assert_int_equal(ww_pc_pack(&packer, &r->launch[i], &arena, &error), WW_OK);
        assert_null(r->launch[i].pc);
        assert_int_equal(r->launch[i].pc_count, 0);
    }
    for (size_t i = 0; i < r->launch_count; i++) same_rows(&r->launch[i], &like->launch[i]);
    size_t used = arena.used;
    ww_pc_packer_free(&packer);
    ww_arena_free(&arena);
    return used;
}

static void rows_come_out_as_they_went_in(void **state) {
    (void)state;
    struct ww_result *a = ww_fixture_result(&(struct ww_fixture){.launches = LAUNCHES});
    struct ww_result *b = ww_fixture_result(&(struct ww_fixture){.launches = LAUNCHES});
    a->launch[3].pc[1].stall[0] = b->launch[3].pc[1].stall[0] = UINT64_MAX;
    pack_all(a, b);
    ww_result_free(a);
    ww_result_free(b);
}

/* More kernels than are remembered, each of its own instructions. */
static void each_kernel_keeps_its_own_instructions(void **state) {
    (void)state;
    struct ww_result *r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = ww_fixture_result(&(struct ww_fixture){.launches = LAUNCHES});
        for (size_t i = 0; i < LAUNCHES; i++) {
            r[k]->launch[i].pc[2].line = (uint32_t)(i % (3 * WW_PC_CODES));
            r[k]->launch[i].pc[3].mnemonic = i % 3 ? "ST" : "ATOM";
            r[k]->launch[i].pc_count -= i % 2;
        }
    }
    pack_all(r[0], r[1]);
    ww_result_free(r[0]);
    ww_result_free(r[1]);
}

/* As of a launch of a few warps. */
static void few_counts(struct ww_pc_row *row, size_t i) {
    for (int k = 0; k < WW_INST_COUNTER_COUNT; k++) row->counter[k] = k < 2 ? i % 100 : 0;
    for (int k = 0; k < WW_STATE_COUNT; k++) row->stall[k] = k < 4 ? i * 7 % 300 : 0;
}

static void small_counts_take_a_fifth_of_their_rows(void **state) {
    (void)state;
    size_t rows = 0;
    struct ww_result *a = ww_fixture_result(&(struct ww_fixture){.launches = 4000});
    struct ww_result *b = ww_fixture_result(&(struct ww_fixture){.launches = 4000});
    for (size_t i = 0; i < b->launch_count; i++) {
        rows += b->launch[i].pc_count * sizeof *b->launch[i].pc;
        for (size_t k = 0; k < b->launch[i].pc_count; k++) {
            few_counts(&a->launch[i].pc[k], i);
            few_counts(&b->launch[i].pc[k], i);
        }
    }
    assert_true(pack_all(a, b) < rows / 5);
    ww_result_free(a);
    ww_result_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_out_as_they_went_in),
        cmocka_unit_test(each_kernel_keeps_its_own_instructions),
        cmocka_unit_test(small_counts_take_a_fifth_of_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
