/* test_wwt_machine.c: what machine code brings with it: control fields, and where code comes from. */
#include "../../estimator/warpwatt.h"
#include "../../traces/wwt/format.h"
#include "../../traces/wwt/reader.h"
#include "wwt_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;

#define OK(call)                                                                                               \
    do {                                                                                                       \
        enum ww_code ok_code_ = (call);                                                                        \
        if (ok_code_ != WW_OK) fail_msg("%s: %s: %s", #call, error.where, error.text);                         \
    } while (0)

static int tear_down(void **state) {
    (void)state;
    ww_arena_free(&arena);
    ww_made_clean();
    return 0;
}

/* A launch whose instructions have control fields made from their numbers. */
static void make(struct ww_made_launch *l, bool control, const char *code) {
    const struct ww_made_shape shape = {.grid = {3, 1, 1}, .block = {64, 1, 1}, .inst_count = 40, .steps = 100};
    ww_made_launch(&arena, 7, &shape, l);
    struct ww_inst *inst = ww_arena_array(&arena, l->launch.inst_count, sizeof *inst);
    memcpy(inst, l->launch.inst, l->launch.inst_count * sizeof *inst);
    for (uint32_t i = 0; control && i < l->launch.inst_count; i++) {
        inst[i].flags |= WW_INST_CONTROL;
        inst[i].control = (struct ww_control){.stall = i % 16,
                                              .yield = i % 2,
                                              .write_barrier = i % 8,
                                              .read_barrier = (i + 3) % 8,
                                              .wait = (uint8_t)(i * 7 % 64),
                                              .reuse = (uint8_t)(i * 5 % 16)};
        for (int k = 0; k < inst[i].src_count; k++) inst[i].src_slot[k] = (uint8_t)((i + (uint32_t)k) % 16);
    }
    l->launch.inst = inst;
    l->launch.code = code;
}

static uint32_t version_of(const char *path) {
    size_t n;
    return ww_wwt_get32(ww_made_read(&arena, path, &n) + 8);
}

static void control_fields_come_back(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "control.wwt");
    struct ww_made_launch l;
    struct ww_trace *t;
    const struct ww_launch *got;
    make(&l, true, "ptxas 12.4.131 -arch sm_70");
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_trace_launch(t, 0, &got, &error));
    assert_int_equal(version_of(path), WW_WWT_VERSION_LAST);
    assert_string_equal(got->code, "ptxas 12.4.131 -arch sm_70");
    for (uint32_t i = 0; i < got->inst_count; i++) {
        assert_memory_equal(&got->inst[i].control, &l.launch.inst[i].control, sizeof got->inst[i].control);
        assert_memory_equal(got->inst[i].src_slot, l.launch.inst[i].src_slot, got->inst[i].src_count);
        assert_int_equal(got->inst[i].flags, l.launch.inst[i].flags);
    }
    OK(ww_trace_verify(t, NULL, NULL, &error));
    ww_trace_close(t);
}

static void constant_operands_come_back(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "constant.wwt");
    struct ww_made_launch l;
    struct ww_trace *t;
    const struct ww_launch *got;
    make(&l, false, NULL);
    struct ww_inst *inst = (struct ww_inst *)(uintptr_t)l.launch.inst;
    inst[2].flags |= WW_INST_CONST;
    inst[2].constant = 3u << 24 | 0x160;
    OK(ww_made_write(path, &l, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_trace_launch(t, 0, &got, &error));
    assert_int_equal(got->inst[2].flags, inst[2].flags);
    assert_int_equal(got->inst[2].constant, 3u << 24 | 0x160);
    assert_int_equal(got->inst[3].constant, 0);
    ww_trace_close(t);
}

static void each_code_table_has_its_own_origin(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "origins.wwt"), *wanted[] = {"one", NULL, "two", "one"};
    struct ww_made_launch l[4];
    struct ww_trace *t;
    const struct ww_launch *got;
    for (int i = 0; i < 4; i++) make(&l[i], false, wanted[i]);
    OK(ww_made_write(path, l, 4, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    for (size_t i = 0; i < 4; i++) {
        OK(ww_trace_launch(t, i, &got, &error));
        if (wanted[i])
            assert_string_equal(got->code, wanted[i]);
        else
            assert_null(got->code);
    }
    ww_trace_close(t);
}

/* The first line of a dump of a launch, with and without machine code. */
static void a_dump_of_machine_code_says_where_the_rest_is(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "dump.wwt");
    struct ww_made_launch l[2];
    struct ww_trace *t;
    make(&l[0], true, "ptxas 1 -arch sm_70");
    make(&l[1], false, NULL);
    OK(ww_made_write(path, l, 2, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        OK(ww_trace_dump(t, i, 0, -1, false, out, &error));
        fclose(out);
        const char *begins = i == 0 ? "machine code (ptxas 1 -arch sm_70): registers only" : "cta 0";
        assert_memory_equal(text, begins, strlen(begins));
        assert_true((strstr(text, "warpwatt disasm") != NULL) == (i == 0));
        free(text);
    }
    ww_trace_close(t);
}

static void control_fields_in_a_file_of_version_1_are_refused(void **state) {
    (void)state;
    struct ww_made_launch l;
    struct ww_buf b = {0};
    struct ww_launch got = {0};
    const char *why;
    make(&l, true, NULL);
    ww_wwt_put_code(&b, &l.launch);
    const unsigned char *p = (const unsigned char *)b.p;
    struct ww_cursor old = {p, p + b.n, false}, new = {p, p + b.n, false};
    assert_false(ww_wwt_get_code(&old, WW_WWT_VERSION, &arena, &got, &why));
    assert_true(ww_wwt_get_code(&new, WW_WWT_VERSION_MACHINE, &arena, &got, &why));
    ww_buf_free(&b);
}

static void control_fields_beyond_their_bits_are_not_written(void **state) {
    (void)state;
    struct ww_made_launch l;
    make(&l, true, NULL);
    ((struct ww_inst *)(uintptr_t)l.launch.inst)[3].control.stall = 16;
    assert_int_equal(ww_made_write(ww_made_path(&arena, "bad.wwt"), &l, 1, 0, &error), WW_INTERNAL);
    assert_non_null(strstr(error.text, "a control field is larger than its bits"));
}

static void copies_between_launches_come_back(void **state) {
    (void)state;
    const char *path = ww_made_path(&arena, "copies.wwt");
    const struct ww_trace_copy copy[] = {{0x10000, 4096, 0, 1, WW_TRACE_COPY_HOST},
                                         {0x8000, 100, 256, 7, WW_TRACE_COPY_DEVICE},
                                         {0x20000, 1, 0, 1, WW_TRACE_COPY_FILL}};
    struct ww_made_launch l[2];
    struct ww_trace *t;
    const struct ww_launch *got;
    for (int i = 0; i < 2; i++) make(&l[i], false, NULL);
    l[1].launch.copy = copy;
    l[1].launch.copy_count = 3;
    OK(ww_made_write(path, l, 2, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_trace_launch(t, 0, &got, &error));
    assert_int_equal(got->copy_count, 0);
    OK(ww_trace_launch(t, 1, &got, &error));
    assert_int_equal(got->copy_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(got->copy[i].address, copy[i].address);
        assert_int_equal(got->copy[i].bytes, copy[i].bytes);
        assert_int_equal(got->copy[i].pitch, copy[i].pitch);
        assert_int_equal(got->copy[i].rows, copy[i].rows);
        assert_int_equal(got->copy[i].kind, copy[i].kind);
    }
    OK(ww_trace_verify(t, NULL, NULL, &error));
    ww_trace_close(t);
}

static void copies_that_are_none_are_refused(void **state) {
    (void)state;
    const struct ww_trace_copy bad[] = {
        {0x10000, 0, 0, 1, WW_TRACE_COPY_HOST},          {0x10000, 16, 0, 0, WW_TRACE_COPY_HOST},
        {0x10000, 16, 8, 2, WW_TRACE_COPY_HOST},         {UINT64_MAX - 4, 16, 0, 1, WW_TRACE_COPY_HOST},
        {16, 16, UINT64_MAX / 2, 3, WW_TRACE_COPY_HOST}, {0x10000, 16, 0, 1, WW_TRACE_COPY_KINDS}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_non_null(ww_wwt_check_copy(&bad[i]));
}

/* Writes one launch of an order; the order that is read back. */
static void order_launches_come_back(void **state) {
    (void)state;
    struct ww_wwt_orders orders = {0};
    struct ww_wwt_launch launch[4] = {0};
    struct ww_wwt_index index = {.launch = launch, .launch_count = 4};
    const uint32_t wait[] = {0, 2};
    const struct ww_trace_order order[4] = {{0}, {7, -2, NULL, 0}, {0}, {9, 0, wait, 2}};
    const char *why;
    for (size_t n = 0; n < 4; n++) ww_wwt_put_order(&orders, &order[n], n);
    assert_int_equal(orders.count, 2);
    struct ww_buf raw = {0};
    ww_buf_varint(&raw, orders.count);
    ww_buf_append(&raw, orders.rows.p, orders.rows.n);
    struct ww_cursor c = {(unsigned char *)raw.p, (unsigned char *)raw.p + raw.n, false};
    assert_true(ww_wwt_get_orders(&c, &arena, &index, &why));
    assert_ptr_equal(c.p, c.end);
    assert_int_equal(launch[1].view.order.stream, 7);
    assert_int_equal(launch[1].view.order.priority, -2);
    assert_int_equal(launch[3].view.order.wait_count, 2);
    assert_int_equal(launch[3].view.order.wait[1], 2);
    assert_int_equal(launch[2].view.order.stream, 0);
    /* each cut, and launches that are too few, are refused */
    for (size_t cut = 1; cut < raw.n; cut++) {
        c = (struct ww_cursor){(unsigned char *)raw.p, (unsigned char *)raw.p + cut, false};
        assert_false(ww_wwt_get_orders(&c, &arena, &index, &why));
    }
    index.launch_count = 3;
    c = (struct ww_cursor){(unsigned char *)raw.p, (unsigned char *)raw.p + raw.n, false};
    assert_false(ww_wwt_get_orders(&c, &arena, &index, &why));
    assert_non_null(ww_wwt_check_order(&order[3], 2));
    ww_buf_free(&raw);
    ww_buf_free(&orders.rows);
}

/* With and without an order of launches in front. */
static void clusters_come_back(void **state) {
    (void)state;
    for (int ordered = 0; ordered < 2; ordered++) {
        struct ww_wwt_orders orders = {0}, clusters = {0};
        struct ww_wwt_launch launch[3] = {0};
        struct ww_wwt_index index = {.launch = launch, .launch_count = 3};
        const uint32_t cluster[3][3] = {{0, 0, 0}, {2, 1, 4}, {16, 1, 1}};
        const struct ww_trace_order order = {7, 0, NULL, 0};
        const char *why;
        struct ww_buf raw = {0};
        for (size_t n = 0; n < 3; n++) {
            for (int k = 0; k < 3; k++) launch[n].view.grid[k] = 16;
            ww_wwt_put_cluster(&clusters, cluster[n], n);
        }
        if (ordered) ww_wwt_put_order(&orders, &order, 1);
        ww_buf_varint(&raw, orders.count);
        ww_buf_append(&raw, orders.rows.p, orders.rows.n);
        ww_buf_varint(&raw, clusters.count);
        ww_buf_append(&raw, clusters.rows.p, clusters.rows.n);
        struct ww_cursor c = {(unsigned char *)raw.p, (unsigned char *)raw.p + raw.n, false};
        assert_true(ww_wwt_get_orders(&c, &arena, &index, &why));
        assert_ptr_equal(c.p, c.end);
        for (size_t n = 0; n < 3; n++)
            assert_memory_equal(launch[n].view.cluster, cluster[n], sizeof cluster[n]);
        assert_int_equal(launch[1].view.order.stream, ordered ? 7 : 0);
        /* a grid that is not a multiple of them, and each cut, but for the one behind the order, are refused */
        launch[2].view.grid[0] = 15;
        c = (struct ww_cursor){(unsigned char *)raw.p, (unsigned char *)raw.p + raw.n, false};
        assert_false(ww_wwt_get_orders(&c, &arena, &index, &why));
        launch[2].view.grid[0] = 16;
        for (size_t cut = 1; cut < raw.n; cut++) {
            c = (struct ww_cursor){(unsigned char *)raw.p, (unsigned char *)raw.p + cut, false};
            bool whole = ordered && cut == raw.n - clusters.rows.n - 1;
            assert_int_equal(ww_wwt_get_orders(&c, &arena, &index, &why), whole);
        }
        ww_buf_free(&raw);
        ww_buf_free(&orders.rows);
        ww_buf_free(&clusters.rows);
    }
}

static void clusters_that_cannot_be_are_refused(void **state) {
    (void)state;
    struct ww_launch l = {.grid = {8, 4, 1}, .cluster = {2, 2, 1}};
    assert_null(ww_wwt_check_cluster(&l));
    l.cluster[0] = 3;
    assert_non_null(ww_wwt_check_cluster(&l));
    l.cluster[0] = 8, l.cluster[1] = 4;
    assert_non_null(ww_wwt_check_cluster(&l)); /* 32 CTAs */
    l.cluster[0] = 2, l.cluster[1] = 0;
    assert_non_null(ww_wwt_check_cluster(&l));
}

int main(void) {
    ww_arena_init(&arena, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_fields_come_back),
        cmocka_unit_test(constant_operands_come_back),
        cmocka_unit_test(copies_between_launches_come_back),
        cmocka_unit_test(clusters_come_back),
        cmocka_unit_test(clusters_that_cannot_be_are_refused),
        cmocka_unit_test(copies_that_are_none_are_refused),
        cmocka_unit_test(order_launches_come_back),
        cmocka_unit_test(each_code_table_has_its_own_origin),
        cmocka_unit_test(a_dump_of_machine_code_says_where_the_rest_is),
        cmocka_unit_test(control_fields_in_a_file_of_version_1_are_refused),
        cmocka_unit_test(control_fields_beyond_their_bits_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
