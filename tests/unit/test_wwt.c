/* The trace container: what is written comes back. */
#include "../../estimator/warpwatt.h"
#include "wwt_fixture.h"
#include "../../traces/wwt/reader.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;

static int set_up(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_arena_free(&arena);
    ww_made_clean();
    return 0;
}

#define OK(call)                                                                                               \
    do {                                                                                                       \
        enum ww_code ok_code_ = (call);                                                                        \
        if (ok_code_ != WW_OK) fail_msg("%s: %s: %s", #call, error.where, error.text);                         \
    } while (0)

static void check_cta(struct ww_trace *t, size_t launch, const struct ww_made_launch *l, size_t i) {
    struct ww_cta_trace cta;
    OK(ww_trace_load_cta(t, launch, l->cta[i].index, &cta, &error));
    const char *why = ww_made_compare(&l->launch, &cta, &l->cta[i]);
    if (why) fail_msg("launch %zu, CTA %zu: %s", launch, i, why);
    ww_trace_release_cta(t, &cta);
}

static void check_round_trip(const char *path, const struct ww_made_launch *l, size_t count) {
    struct ww_trace *t;
    OK(ww_trace_open(path, &t, &error));
    assert_int_equal(ww_trace_launch_count(t), count);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < l[k].cta_count; i++) check_cta(t, k, &l[k], i);
    OK(ww_trace_verify(t, NULL, NULL, &error));
    ww_trace_close(t);
}

/* A random shape that stays small. */
static struct ww_made_shape random_shape(uint64_t seed) {
    struct ww_rng r;
    ww_rng_seed(&r, seed);
    return (struct ww_made_shape){
        .grid = {1 + ww_rng_below(&r, 6), 1 + ww_rng_below(&r, 3), 1 + ww_rng_below(&r, 2)},
        .block = {1 + ww_rng_below(&r, 70), 1 + ww_rng_below(&r, 3), 1},
        .inst_count = 2 + ww_rng_below(&r, 60),
        .steps = ww_rng_below(&r, 200),
        .paths = ww_rng_below(&r, 5),
        .regular = ww_rng_below(&r, 5) == 0,
    };
}

static void random_traces_come_back(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "random.wwt");
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct ww_arena a;
        struct ww_made_launch l[3];
        ww_arena_init(&a, 0);
        size_t count = seed % 4;
        for (size_t k = 0; k < count; k++) {
            struct ww_made_shape shape = random_shape(seed * 8 + k);
            ww_made_launch(&a, seed * 8 + k, &shape, &l[k]);
        }
        OK(ww_made_write(path, l, count, seed % 3, &error));
        check_round_trip(path, l, count);
        ww_arena_free(&a);
    }
}

static void a_launch_description_comes_back(void **state) {
    (void)state;
    struct ww_made_shape shape = {{5, 2, 3}, {33, 2, 1}, 40, 60, 2, false};
    struct ww_made_launch l;
    const struct ww_launch *got;
    struct ww_trace *t;
    ww_made_launch(&arena, 7, &shape, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_trace_launch(t, 0, &got, &error));
    assert_string_equal(got->kernel, "made_up");
    assert_string_equal(got->arch, "sm_70");
    assert_memory_equal(got->grid, l.launch.grid, sizeof got->grid);
    assert_memory_equal(got->block, l.launch.block, sizeof got->block);
    assert_int_equal(got->registers_per_thread, 32);
    assert_int_equal(got->shared_static, 1024);
    assert_int_equal(got->shared_dynamic, 512);
    assert_int_equal(got->local_bytes, 16);
    assert_int_equal(got->cta_count, 30);
    assert_int_equal(got->warps_per_cta, 3);
    assert_int_equal(got->inst_count, 40);
    assert_memory_equal(got->inst, l.launch.inst, 40 * sizeof *got->inst);
    for (uint32_t i = 0; i < got->string_count; i++) assert_string_equal(got->string[i], l.launch.string[i]);
    assert_string_equal(ww_trace_get_meta(t)->program, "workload made_up");
    assert_string_equal(ww_trace_get_meta(t)->arguments, "n=1");
    assert_null(ww_trace_get_meta(t)->tool);
    ww_trace_close(t);
}

static void totals_are_those_of_the_steps(void **state) {
    (void)state;
    struct ww_made_shape shape = {{20, 1, 1}, {100, 1, 1}, 40, 60, 3, false};
    struct ww_made_launch l;
    struct ww_launch_info info;
    struct ww_trace *t;
    uint64_t warps = 0, threads = 0;
    ww_made_launch(&arena, 8, &shape, &l);
    for (size_t i = 0; i < l.cta_count; i++)
        for (uint32_t w = 0; w < l.cta[i].warp_count; w++)
            for (uint32_t s = 0; s < l.cta[i].warp[w].step_count; s++) {
                warps++;
                threads += (unsigned)__builtin_popcount(l.cta[i].warp[w].step[s].mask);
            }
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_trace_launch_info(t, 0, &info, &error));
    assert_int_equal(info.warp_instructions, warps);
    assert_int_equal(info.thread_instructions, threads);
    ww_trace_close(t);
}

static void thousands_of_different_paths_come_back(void **state) {
    (void)state;
    struct ww_made_shape shape = {{300, 1, 1}, {256, 1, 1}, 30, 12, 0, false};
    struct ww_made_launch l;
    ww_made_launch(&arena, 12, &shape, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 5, &error));
    check_round_trip(path, &l, 1);
}

/* Big enough for several groups. */
static const struct ww_made_shape big = {{150, 4, 1}, {256, 1, 1}, 50, 300, 4, false};

static void any_cta_can_be_read_in_any_order(void **state) {
    (void)state;
    struct ww_made_launch l;
    struct ww_trace *t;
    struct ww_rng r;
    ww_made_launch(&arena, 9, &big, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    assert_true(t->index.launch[0].group_count > 5);
    ww_rng_seed(&r, 1);
    for (int i = 0; i < 200; i++) check_cta(t, 0, &l, ww_rng_below(&r, 600));
    ww_trace_close(t);
}

static void held_ctas_stay_valid_while_others_are_read(void **state) {
    (void)state;
    struct ww_made_launch l;
    struct ww_trace *t;
    struct ww_cta_trace held[60];
    ww_made_launch(&arena, 10, &big, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    for (size_t i = 0; i < 60; i++) OK(ww_trace_load_cta(t, 0, i * 10, &held[i], &error));
    for (size_t i = 0; i < 60; i++) assert_null(ww_made_compare(&l.launch, &held[i], &l.cta[i * 10]));
    for (size_t i = 0; i < 60; i++) ww_trace_release_cta(t, &held[i]);
    assert_true(t->idle_count <= WW_WWT_IDLE_GROUPS);
    ww_trace_close(t);
}

static void reading_one_cta_reads_little_of_the_file(void **state) {
    (void)state;
    struct ww_made_launch l;
    struct ww_trace *t;
    ww_made_launch(&arena, 9, &big, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    /* Damage every group but the one of CTA 300: it is read nevertheless. */
    size_t n;
    OK(ww_trace_open(path, &t, &error));
    const struct ww_wwt_launch *w = &t->index.launch[0];
    uint32_t keep = ww_wwt_find_run(w, 300)->group;
    unsigned char *file = ww_made_read(&arena, path, &n);
    for (uint32_t g = 0; g < w->group_count; g++)
        if (g != keep) memset(file + w->group[g].offset, 0x55, w->group[g].stored);
    ww_trace_close(t);
    ww_made_put(path, file, n);
    OK(ww_trace_open(path, &t, &error));
    check_cta(t, 0, &l, 300);
    struct ww_cta_trace cta;
    assert_int_equal(ww_trace_load_cta(t, 0, 0, &cta, &error), WW_INPUT);
    assert_non_null(strstr(error.where, "offset"));
    ww_trace_close(t);
}

static void the_file_does_not_depend_on_the_order_of_adding(void **state) {
    (void)state;
    struct ww_made_launch l;
    ww_made_launch(&arena, 11, &big, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    size_t n, m;
    OK(ww_made_write(path, &l, 1, 0, &error));
    unsigned char *a = ww_made_read(&arena, path, &n);
    for (uint64_t order = 1; order < 4; order++) {
        OK(ww_made_write(path, &l, 1, order, &error));
        unsigned char *b = ww_made_read(&arena, path, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
    }
}

static void different_contents_have_different_hashes(void **state) {
    (void)state;
    struct ww_made_shape shape = {{5, 1, 1}, {64, 1, 1}, 40, 60, 2, false};
    struct ww_made_launch l;
    struct ww_trace *t;
    char hash[2][17];
    for (int i = 0; i < 2; i++) {
        ww_made_launch(&arena, 20, &shape, &l);
        if (i)
            ((struct ww_access *)l.cta[4].warp[1].access)->base ^= 4,
                ((struct ww_access *)l.cta[4].warp[1].access)->list = WW_AFFINE;
        const char *path = ww_made_path(&arena, "a.wwt");
        OK(ww_made_write(path, &l, 1, 0, &error));
        OK(ww_trace_open(path, &t, &error));
        assert_int_equal(strlen(ww_trace_hash(t)), 16);
        memcpy(hash[i], ww_trace_hash(t), 17);
        ww_trace_close(t);
    }
    assert_string_not_equal(hash[0], hash[1]);
}

static void equal_code_of_two_launches_is_stored_once(void **state) {
    (void)state;
    struct ww_made_shape shape = {{1, 1, 1}, {32, 1, 1}, 2000, 1, 1, true};
    struct ww_made_launch l[2];
    size_t one, two;
    ww_made_launch(&arena, 3, &shape, &l[0]);
    l[1] = l[0];
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, l, 1, 0, &error));
    ww_made_read(&arena, path, &one);
    OK(ww_made_write(path, l, 2, 0, &error));
    ww_made_read(&arena, path, &two);
    assert_true(two - one < one / 10);
}

static void warps_with_equal_steps_share_them(void **state) {
    (void)state;
    struct ww_made_shape shape = {{4, 1, 1}, {128, 1, 1}, 30, 50, 1, true};
    struct ww_made_launch l;
    struct ww_trace *t;
    struct ww_cta_trace a, b;
    ww_made_launch(&arena, 3, &shape, &l);
    const char *path = ww_made_path(&arena, "a.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_trace_load_cta(t, 0, 0, &a, &error));
    OK(ww_trace_load_cta(t, 0, 3, &b, &error));
    assert_ptr_equal(a.warp[0].step, b.warp[3].step);
    ww_trace_release_cta(t, &a);
    ww_trace_release_cta(t, &b);
    ww_trace_close(t);
}

/* The first access of made-up instruction 1, width 4, in a one-warp CTA. */
static struct ww_access write_one(uint32_t mask, struct ww_access access, const uint64_t *pool,
                                  struct ww_trace **t, struct ww_cta_trace *cta) {
    static const char *const strings[] = {"", "LDG"};
    const struct ww_inst inst = {
        .op = WW_OP_LOAD, .space = WW_SPACE_GLOBAL, .width = 4, .flags = WW_INST_ACCESS};
    const struct ww_step step = {0, mask};
    const struct ww_warp_stream warp = {&step, &access, pool, 1, 1};
    struct ww_made_launch l = {
        .launch = {.kernel = "k",
                   .arch = "sm_20",
                   .grid = {1, 1, 1},
                   .block = {32, 1, 1},
                   .inst = &inst,
                   .inst_count = 1,
                   .string = strings,
                   .string_count = 2},
        .cta = &(struct ww_cta_trace){.warp_count = 1, .warp = &warp},
        .cta_count = 1,
    };
    const char *path = ww_made_path(&arena, "one.wwt");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, t, &error));
    OK(ww_trace_load_cta(*t, 0, 0, cta, &error));
    return cta->warp[0].access[0];
}

static void a_list_that_is_affine_becomes_so(void **state) {
    (void)state;
    struct ww_trace *t;
    struct ww_cta_trace cta;
    uint64_t pool[] = {0, 1000, 1008, 1012};
    struct ww_access a = write_one(0x0000000du << 4, (struct ww_access){0, 0, 1}, pool, &t, &cta);
    assert_int_equal(a.list, WW_AFFINE);
    assert_int_equal(a.stride, 4);
    assert_int_equal(a.base, 1000 - 4 * 4);
    ww_trace_close(t);
}

static void a_list_that_is_not_affine_stays(void **state) {
    (void)state;
    struct ww_trace *t;
    struct ww_cta_trace cta;
    uint64_t pool[] = {1000, 1008, 1013}, out[32];
    struct ww_access a = write_one(7, (struct ww_access){0, 0, 0}, pool, &t, &cta);
    assert_int_not_equal(a.list, WW_AFFINE);
    assert_int_equal(ww_made_addresses(7, &a, cta.warp[0].pool, out), 3);
    assert_memory_equal(out, pool, sizeof pool);
    ww_trace_close(t);
}

/* Three lanes at most `apart` bytes from the first, with the span that accesses state. */
static void check_list(uint64_t apart, uint32_t kind, int32_t span) {
    struct ww_trace *t;
    struct ww_cta_trace cta;
    uint64_t pool[] = {1ull << 40, (1ull << 40) - apart, (1ull << 40) + 1}, out[32];
    struct ww_access a = write_one(7, (struct ww_access){0, 0, 0}, pool, &t, &cta);
    assert_int_equal(a.list & ~WW_LIST_PLACE, kind);
    assert_int_equal(a.stride, span);
    assert_int_equal(ww_made_addresses(7, &a, cta.warp[0].pool, out), 3);
    assert_memory_equal(out, pool, sizeof pool);
    assert_memory_equal(ww_list_addresses(&a, cta.warp[0].pool, 3, out), pool, sizeof pool);
    ww_trace_close(t);
}

static void a_list_takes_as_few_bits_as_hold_its_distances(void **state) {
    (void)state;
    check_list(1 << 15, WW_LIST_16, (1 << 15) + 1);
    check_list((1 << 15) + 1, WW_LIST_32, (1 << 15) + 2);
    check_list(1ull << 31, WW_LIST_32, 0);
    check_list((1ull << 31) + 1, 0, 0);
}

/* Each CTA loads from the places of the one before, moved by 4096 bytes. */
static void moved_copies_of_a_list_share_it(void **state) {
    (void)state;
    const struct ww_inst inst = {
        .op = WW_OP_LOAD, .space = WW_SPACE_GLOBAL, .width = 4, .flags = WW_INST_ACCESS};
    const struct ww_step step = {0, 15};
    const char *path = ww_made_path(&arena, "moved.wwt");
    uint64_t pool[12] = {1000, 1012, 1004, 1100}, out[32];
    struct ww_access access[3] = {{0, 0, 0}, {0, 0, 4}, {0, 0, 8}};
    struct ww_warp_stream warp[3];
    struct ww_cta_trace cta[3];
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 4; k++) pool[4 * i + k] = pool[k] + 4096 * i;
        warp[i] = (struct ww_warp_stream){&step, &access[i], pool, 1, 1};
        cta[i] = (struct ww_cta_trace){.index = i, .warp_count = 1, .warp = &warp[i]};
    }
    struct ww_made_launch l = {.launch = {.kernel = "moved",
                                          .arch = "sm_70",
                                          .grid = {3, 1, 1},
                                          .block = {32, 1, 1},
                                          .registers_per_thread = 16,
                                          .inst = &inst,
                                          .inst_count = 1,
                                          .string = (const char *const[]){""},
                                          .string_count = 1},
                               .cta = cta,
                               .cta_count = 3};
    struct ww_trace *t;
    struct ww_cta_trace is[3];
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    for (uint32_t i = 0; i < 3; i++) {
        OK(ww_trace_load_cta(t, 0, i, &is[i], &error));
        assert_int_equal(is[i].warp->access->list, is[0].warp->access->list);
        assert_int_equal(is[i].warp->access->stride, 100);
        ww_made_addresses(15, is[i].warp->access, is[i].warp->pool, out);
        assert_memory_equal(out, pool + 4 * i, 4 * sizeof *pool);
    }
    for (uint32_t i = 0; i < 3; i++) ww_trace_release_cta(t, &is[i]);
    ww_trace_close(t);
}

static struct ww_launch launch_of_rows(const struct ww_inst *inst, uint32_t insts, uint32_t ctas,
                                       uint32_t warps) {
    static const char *const strings[] = {""};
    return (struct ww_launch){.kernel = "rows",
                              .arch = "sm_70",
                              .grid = {ctas, 1, 1},
                              .block = {32 * warps, 1, 1},
                              .registers_per_thread = 16,
                              .inst = inst,
                              .inst_count = insts,
                              .string = strings,
                              .string_count = 1};
}

/* CTAs whose warps take one of two paths, each of them with an instruction of its own: a row of warps that go
 * on as the last one of their path did, with a jump of an address now and then. */
static void make_rows(struct ww_made_launch *l, uint64_t seed) {
    enum { CTAS = 64, WARPS = 4, PATHS = 2 };
    static const struct ww_inst store = {
        .op = WW_OP_STORE, .space = WW_SPACE_GLOBAL, .width = 4, .flags = WW_INST_ACCESS};
    static const struct ww_step path[PATHS] = {{0, UINT32_MAX}, {1, UINT32_MAX}};
    struct ww_inst *inst = ww_arena_array(&arena, PATHS, sizeof *inst);
    uint64_t base[PATHS] = {0x800000, 0x900000}, pace[PATHS] = {4096, 512};
    struct ww_rng r;
    ww_rng_seed(&r, seed);
    l->cta = ww_arena_array(&arena, CTAS, sizeof *l->cta);
    l->cta_count = CTAS;
    for (uint32_t k = 0; k < PATHS; k++) inst[k] = store;
    for (uint32_t c = 0; c < CTAS; c++) {
        struct ww_warp_stream *warp = ww_arena_array(&arena, WARPS, sizeof *warp);
        for (uint32_t w = 0; w < WARPS; w++) {
            struct ww_access *access = ww_arena_array(&arena, 1, sizeof *access);
            uint32_t k = w > 0 || ww_rng_below(&r, 4) == 0;
            if (ww_rng_below(&r, 12) == 0) base[k] += 64 * ((uint64_t)ww_rng_below(&r, 512) - 256);
            *access = (struct ww_access){base[k] += pace[k], 4, WW_AFFINE};
            warp[w] = (struct ww_warp_stream){&path[k], access, NULL, 1, 1};
        }
        l->cta[c] = (struct ww_cta_trace){.index = c, .warp_count = WARPS, .warp = warp};
    }
    l->launch = launch_of_rows(inst, PATHS, CTAS, WARPS);
}

static void rows_of_warps_of_two_paths_come_back(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "rows.wwt");
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct ww_made_launch l = {0};
        make_rows(&l, seed);
        OK(ww_made_write(path, &l, 1, 0, &error));
        check_round_trip(path, &l, 1);
    }
}

/* The same with six accesses a warp, two of each instruction, of which the paths share one: some are lists, of
 * few shapes, and now and then an access changes its address, its shape or its stride, or is a list where it
 * was none. */
static void make_rows_of_lists(struct ww_made_launch *l, uint64_t seed) {
    enum { CTAS = 48, WARPS = 4, PATHS = 2, EACH = 3, STEPS = 2 * EACH, INSTS = PATHS * EACH };
    static const struct ww_inst load = {
        .op = WW_OP_LOAD, .space = WW_SPACE_GLOBAL, .width = 4, .flags = WW_INST_ACCESS};
    struct ww_inst *inst = ww_arena_array(&arena, INSTS, sizeof *inst);
    struct ww_step *step = ww_arena_array(&arena, (size_t)PATHS * STEPS, sizeof *step);
    uint64_t base[INSTS];
    uint32_t shape[PATHS * STEPS], stride[INSTS];
    struct ww_rng r;
    ww_rng_seed(&r, seed);
    for (uint32_t i = 0; i < INSTS; i++) {
        inst[i] = load;
        base[i] = 0x800000 + 0x100000 * (uint64_t)i;
        stride[i] = 4;
    }
    for (uint32_t i = 0; i < PATHS * STEPS; i++) {
        step[i] = (struct ww_step){i % EACH == 1 ? 1 : i / STEPS * EACH + i % EACH,
                                   i % STEPS == 5 ? 0xff : UINT32_MAX};
        shape[i] = i % EACH == 1 ? 1 + ww_rng_below(&r, 2) : 0; /* 0: affine */
    }
    l->cta = ww_arena_array(&arena, CTAS, sizeof *l->cta);
    l->cta_count = CTAS;
    for (uint32_t c = 0; c < CTAS; c++) {
        struct ww_warp_stream *warp = ww_arena_array(&arena, WARPS, sizeof *warp);
        for (uint32_t w = 0; w < WARPS; w++) {
            struct ww_access *access = ww_arena_array(&arena, STEPS, sizeof *access);
            uint64_t *pool = ww_arena_array(&arena, (size_t)32 * STEPS, sizeof *pool);
            uint32_t k = w > 0 || ww_rng_below(&r, 4) == 0;
            for (uint32_t i = 0; i < STEPS; i++) {
                uint32_t n = k * EACH + i % EACH, *is = &shape[k * STEPS + i],
                         change = ww_rng_below(&r, k ? 400 : 20);
                if (change == 0) base[n] += 64 * ((uint64_t)ww_rng_below(&r, 512) - 256);
                if (change == 1) *is = ww_rng_below(&r, 3);
                if (change == 2) stride[n] = 4 * ww_rng_below(&r, 3);
                if (i < EACH) base[n] += 512;
                uint64_t at = base[n] + (i >= EACH ? 128 : 0);
                for (uint32_t lane = 0; lane < 32; lane++)
                    pool[32 * i + lane] = at + 4 * (lane % 16) + 1000 * *is * (lane / 16);
                access[i] = *is ? (struct ww_access){0, 0, 32 * i}
                                : (struct ww_access){at, (int32_t)stride[n], WW_AFFINE};
            }
            warp[w] = (struct ww_warp_stream){&step[k * STEPS], access, pool, STEPS, STEPS};
        }
        l->cta[c] = (struct ww_cta_trace){.index = c, .warp_count = WARPS, .warp = warp};
    }
    l->launch = launch_of_rows(inst, INSTS, CTAS, WARPS);
}

static void rows_of_warps_with_lists_come_back(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "lists.wwt");
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct ww_made_launch l = {0};
        make_rows_of_lists(&l, seed);
        OK(ww_made_write(path, &l, 1, 0, &error));
        check_round_trip(path, &l, 1);
    }
}

static void strides_and_bases_keep_all_their_bits(void **state) {
    (void)state;
    static const struct ww_access extreme[] = {
        {UINT64_MAX, INT32_MIN, WW_AFFINE}, {0, INT32_MAX, WW_AFFINE}, {1u << 31, -1, WW_AFFINE}};
    for (size_t i = 0; i < 3; i++) {
        struct ww_trace *t;
        struct ww_cta_trace cta;
        struct ww_access a = write_one(UINT32_MAX, extreme[i], NULL, &t, &cta);
        assert_int_equal(a.base, extreme[i].base);
        assert_int_equal(a.stride, extreme[i].stride);
        ww_trace_close(t);
    }
}

/* One CTA of a warp that loads from random places among 16384 words, `count` times, with lanes that come and
 * go, or that drop out one by one down to the last. */
static void make_gathers(struct ww_made_launch *l, uint32_t count, bool drop) {
    static const char *const strings[] = {""};
    static const struct ww_inst inst[] = {
        {.op = WW_OP_LOAD, .space = WW_SPACE_GLOBAL, .width = 4, .flags = WW_INST_ACCESS}, {.op = WW_OP_EXIT}};
    struct ww_step *step = ww_arena_array(&arena, count, sizeof *step);
    struct ww_access *access = ww_arena_array(&arena, count, sizeof *access);
    uint64_t *pool = ww_arena_array(&arena, (size_t)32 * count, sizeof *pool);
    struct ww_warp_stream *warp = ww_arena_array(&arena, 1, sizeof *warp);
    struct ww_rng r;
    ww_rng_seed(&r, 5);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mask = UINT32_MAX;
        for (unsigned k = 0; k < 2 && i % 2; k++) mask &= ww_rng_below(&r, UINT32_MAX);
        step[i] = (struct ww_step){0, drop ? UINT32_MAX >> i % 32 : mask | 3};
        access[i] = (struct ww_access){0, 0, 32 * i};
        for (unsigned k = 0; k < 32; k++) pool[32 * i + k] = 0x7000000 + 4 * (uint64_t)ww_rng_below(&r, 16384);
    }
    *warp = (struct ww_warp_stream){step, access, pool, count, count};
    l->cta = ww_arena_array(&arena, 1, sizeof *l->cta);
    *l->cta = (struct ww_cta_trace){.warp_count = 1, .warp = warp};
    l->cta_count = 1;
    l->launch = (struct ww_launch){.kernel = "gathers",
                                   .arch = "sm_70",
                                   .grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .registers_per_thread = 16,
                                   .inst = inst,
                                   .inst_count = 2,
                                   .string = strings,
                                   .string_count = 1};
}

/* 14 bits an address: no form can take less. Differences of neighbours would take 0.7 bits more. */
static void random_gathers_take_about_their_entropy(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "gathers.wwt");
    struct ww_made_launch l;
    uint64_t bits = 0;
    size_t bytes;
    make_gathers(&l, 4000, false);
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t mask = l.cta->warp->step[i].mask;
        bits +=
            14 * (uint64_t)__builtin_popcount(mask) + (mask == UINT32_MAX ? 0 : 27); /* a quarter of 32 lanes */
    }
    OK(ww_made_write(path, &l, 1, 0, &error));
    check_round_trip(path, &l, 1);
    ww_made_read(&arena, path, &bytes);
    assert_in_range(8 * bytes, bits, bits + bits / 32);
}

/* As above, and nothing for masks that repeat: an access of the last lane is written as those of more lanes
 * are. */
static void gathers_down_to_one_lane_take_their_entropy(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "drop.wwt");
    struct ww_made_launch l;
    uint64_t bits = 0;
    size_t bytes;
    make_gathers(&l, 6400, true);
    for (uint32_t i = 0; i < 6400; i++) bits += 14 * (uint64_t)__builtin_popcount(l.cta->warp->step[i].mask);
    OK(ww_made_write(path, &l, 1, 0, &error));
    check_round_trip(path, &l, 1);
    ww_made_read(&arena, path, &bytes);
    assert_in_range(8 * bytes, bits, bits + bits / 64);
}

/* A store by the lanes that a load named: its last lane, too, is at the place that was loaded. */
static void stores_of_one_lane_where_it_loaded_take_nothing(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "again.wwt");
    struct ww_made_launch l;
    size_t once, twice;
    make_gathers(&l, 6400, true);
    OK(ww_made_write(path, &l, 1, 0, &error));
    ww_made_read(&arena, path, &once);
    struct ww_inst inst[2] = {
        l.launch.inst[0], {.op = WW_OP_STORE, .space = WW_SPACE_GLOBAL, .width = 4, .flags = WW_INST_ACCESS}};
    struct ww_warp_stream *warp = (struct ww_warp_stream *)l.cta->warp;
    struct ww_step *step = ww_arena_array(&arena, 12800, sizeof *step);
    struct ww_access *access = ww_arena_array(&arena, 12800, sizeof *access);
    for (uint32_t i = 0; i < 12800; i++) {
        step[i] = (struct ww_step){i % 2, warp->step[i / 2].mask};
        access[i] = warp->access[i / 2];
    }
    *warp = (struct ww_warp_stream){step, access, warp->pool, 12800, 12800};
    l.launch.inst = inst;
    OK(ww_made_write(path, &l, 1, 0, &error));
    check_round_trip(path, &l, 1);
    ww_made_read(&arena, path, &twice);
    assert_in_range(twice, once, once + 600);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(random_gathers_take_about_their_entropy),
        T(gathers_down_to_one_lane_take_their_entropy),
        T(stores_of_one_lane_where_it_loaded_take_nothing),
        T(random_traces_come_back),
        T(a_launch_description_comes_back),
        T(totals_are_those_of_the_steps),
        T(thousands_of_different_paths_come_back),
        T(any_cta_can_be_read_in_any_order),
        T(held_ctas_stay_valid_while_others_are_read),
        T(reading_one_cta_reads_little_of_the_file),
        T(the_file_does_not_depend_on_the_order_of_adding),
        T(different_contents_have_different_hashes),
        T(equal_code_of_two_launches_is_stored_once),
        T(warps_with_equal_steps_share_them),
        T(a_list_that_is_affine_becomes_so),
        T(a_list_that_is_not_affine_stays),
        T(a_list_takes_as_few_bits_as_hold_its_distances),
        T(moved_copies_of_a_list_share_it),
        T(rows_of_warps_of_two_paths_come_back),
        T(rows_of_warps_with_lists_come_back),
        T(strides_and_bases_keep_all_their_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
