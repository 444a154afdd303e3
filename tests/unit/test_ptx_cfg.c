/* test_ptx_cfg.c: basic blocks and where branches reconverge. */
#include "../../traces/ptx/front/ir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define KERNEL(body)                                                                                           \
    ".version 7.0\n.target sm_70\n.entry k()\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n" body "\n}\n"

static struct ptx_module *prepared(const char *text) {
    struct ww_error e = {0};
    struct ptx_module *m = NULL;
    if (ww_ptx_module_parse(text, strlen(text), "t.ptx", &m, &e) != WW_OK) fail_msg("%s: %s", e.where, e.text);
    assert_int_equal(ww_ptx_module_prepare(m, &e), WW_OK);
    return m;
}

static int32_t reconv(const struct ptx_module *m, uint32_t inst) {
    return m->func[0]->inst[inst].reconv;
}

static void if_reconverges_behind_its_body(void **state) {
    (void)state;
    struct ptx_module *m = prepared(KERNEL("@%p1 bra L;\nadd.s32 %r1, %r1, 1;\nL: add.s32 %r2, %r2, 1;\nret;"));
    assert_int_equal(reconv(m, 0), 2);
    ww_ptx_module_free(m);
}

static void if_else_reconverges_behind_both(void **state) {
    (void)state;
    struct ptx_module *m =
        prepared(KERNEL("@%p1 bra A;\nadd.s32 %r1, %r1, 1;\nbra B;\nA: add.s32 %r1, %r1, 2;\n"
                        "B: add.s32 %r2, %r2, 1;\nret;"));
    assert_int_equal(reconv(m, 0), 4);
    ww_ptx_module_free(m);
}

static void loop_reconverges_at_its_exit(void **state) {
    (void)state;
    struct ptx_module *m = prepared(KERNEL("L: add.s32 %r1, %r1, 1;\n@%p1 bra L;\nadd.s32 %r2, %r2, 1;\nret;"));
    assert_int_equal(reconv(m, 1), 2);
    ww_ptx_module_free(m);
}

static void nested_branches_reconverge_inside_out(void **state) {
    (void)state;
    struct ptx_module *m =
        prepared(KERNEL("@%p1 bra A;\n@%p2 bra B;\nadd.s32 %r1, %r1, 1;\nB: add.s32 %r1, %r1, 2;\n"
                        "A: add.s32 %r2, %r2, 1;\nret;"));
    assert_int_equal(reconv(m, 0), 4);
    assert_int_equal(reconv(m, 1), 3);
    ww_ptx_module_free(m);
}

static void paths_to_different_exits_meet_at_the_end(void **state) {
    (void)state;
    struct ptx_module *m = prepared(KERNEL("@%p1 bra A;\nexit;\nA: ret;"));
    assert_int_equal(reconv(m, 0), -1);
    ww_ptx_module_free(m);
}

static void early_exit_leaves_the_reconvergence_at_the_exit(void **state) {
    (void)state;
    struct ptx_module *m =
        prepared(KERNEL("@%p1 bra A;\n@%p2 exit;\nadd.s32 %r1, %r1, 1;\nA: add.s32 %r2, %r2, 1;\nret;"));
    assert_int_equal(reconv(m, 0), -1);
    ww_ptx_module_free(m);
}

static void endless_loop_has_no_reconvergence(void **state) {
    (void)state;
    struct ptx_module *m = prepared(KERNEL("@%p1 bra A;\nA: @%p2 bra A;\nbra A;"));
    assert_int_equal(reconv(m, 0), -1);
    ww_ptx_module_free(m);
}

static void indexed_branch_reconverges_behind_all_targets(void **state) {
    (void)state;
    struct ptx_module *m =
        prepared(KERNEL("T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: add.s32 %r1, %r1, 1;\nbra E;\n"
                        "B: add.s32 %r1, %r1, 2;\nbra E;\nC: add.s32 %r1, %r1, 3;\nE: ret;"));
    assert_int_equal(reconv(m, 0), 6);
    ww_ptx_module_free(m);
}

static void blocks_begin_at_labels_and_behind_branches(void **state) {
    (void)state;
    struct ptx_module *m = prepared(KERNEL("add.s32 %r1, %r1, 1;\n@%p1 bra L;\nadd.s32 %r1, %r1, 1;\n"
                                           "add.s32 %r1, %r1, 1;\nL: ret;"));
    static const uint32_t want[] = {0, 0, 1, 1, 2};
    for (int k = 0; k < 5; k++) assert_int_equal(m->func[0]->inst[k].block, want[k]);
    ww_ptx_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_reconverges_behind_its_body),
        cmocka_unit_test(if_else_reconverges_behind_both),
        cmocka_unit_test(loop_reconverges_at_its_exit),
        cmocka_unit_test(nested_branches_reconverge_inside_out),
        cmocka_unit_test(paths_to_different_exits_meet_at_the_end),
        cmocka_unit_test(early_exit_leaves_the_reconvergence_at_the_exit),
        cmocka_unit_test(endless_loop_has_no_reconvergence),
        cmocka_unit_test(indexed_branch_reconverges_behind_all_targets),
        cmocka_unit_test(blocks_begin_at_labels_and_behind_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
