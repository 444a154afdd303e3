/* Importing Accel-Sim traces: versions, forms of addresses, spaces, opcodes. */
#include "accelsim_fixture.h"
#include "wwt_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct as_result r;

static int tear_down(void **state) {
    (void)state;
    as_free(&r);
    memset(&r, 0, sizeof r);
    return 0;
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    return 0;
}

static void import(const struct as_text *text) {
    as_import(text, &r);
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
}

#define LINES(...)                                                                                             \
    do {                                                                                                       \
        static const char *const lines_[] = {__VA_ARGS__};                                                     \
        as_import_lines(lines_, sizeof lines_ / sizeof lines_[0], &r);                                         \
        if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);                                  \
    } while (0)

/* ---- header ---- */

static void test_header_becomes_the_launch(void **state) {
    (void)state;
    import(&(struct as_text){.version = 3, .grid = "(4,3,2)", .block = "(16,4,1)", .body = ""});
    assert_string_equal(r.launch->kernel, "k");
    assert_string_equal(r.launch->arch, "sm_70");
    assert_int_equal(r.launch->cta_count, 24);
    assert_int_equal(r.launch->warps_per_cta, 2);
    assert_int_equal(r.launch->registers_per_thread, 20);
    assert_int_equal(r.launch->shared_static, 64);
    assert_int_equal(r.launch->shared_dynamic, 0);
}

/* ---- versions ---- */

#define GROUP(text) "#BEGIN_TB\n\nthread block = 0,0,0\n\n" text "\n#END_TB\n"
#define TWO_LINES(a, b) GROUP("warp = 0\ninsts = 2\n" a "\n" b "\n")

static void check_two(void) {
    const struct ww_warp_stream *s = &r.cta.warp[0];
    assert_int_equal(s->step_count, 2);
    assert_int_equal(as_inst(&r, 0, 0)->op, WW_OP_LOAD);
    assert_int_equal(as_inst(&r, 0, 0)->pc, 0x10);
    assert_int_equal(s->step[0].mask, 0xf);
    assert_int_equal(as_address(&r, 0, 0, 0, 3), 0x100c);
    assert_int_equal(as_inst(&r, 0, 1)->op, WW_OP_EXIT);
}

static void test_version_1_grouped_lines_name_cta_and_warp(void **state) {
    (void)state;
    import(&(struct as_text){.version = 1,
                             .body = TWO_LINES("0 0 0 0 0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 ",
                                               "0 0 0 0 0020 0000000f 0 EXIT 0 0 ")});
    check_two();
}

static void test_header_without_a_version_is_version_1(void **state) {
    (void)state;
    import(&(struct as_text){.body = TWO_LINES("0 0 0 0 0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 ",
                                               "0 0 0 0 0020 0000000f 0 EXIT 0 0 ")});
    check_two();
}

static void test_version_2_grouped_lines_name_cta_and_warp(void **state) {
    (void)state;
    import(&(struct as_text){.version = 2,
                             .body = TWO_LINES("0 0 0 0 0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 ",
                                               "0 0 0 0 0020 0000000f 0 EXIT 0 0 ")});
    check_two();
}

static void test_version_3_grouped_lines_start_with_the_pc(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 3,
        .body = TWO_LINES("0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 ", "0020 0000000f 0 EXIT 0 0 ")});
    check_two();
}

static void test_version_4_line_numbers_are_kept(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 4,
        .more = "-enable lineinfo = 1\n",
        .body = TWO_LINES("17 0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 ", "18 0020 0000000f 0 EXIT 0 0 ")});
    check_two();
    assert_int_equal(as_inst(&r, 0, 0)->line, 17);
    assert_int_equal(as_inst(&r, 0, 1)->line, 18);
}

static void test_version_5_lines_end_in_an_immediate(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 5,
        .body = TWO_LINES("0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 0 ", "0020 0000000f 0 EXIT 0 0 0 ")});
    check_two();
}

static void test_version_6_has_clusters_two_immediates_and_values(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 6,
        .body = GROUP("cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\nwarp = 0\ninsts = 2\n"
                      "0010 0000000f 1 R2 LDG.E 2 R4 UR6 4 1 0x1000 4 0 0 Val 1 0x5 1 0x6 1 0x7\n"
                      "0020 0000000f 0 EXIT 1 P0 0 0 0 NoVal\n")});
    check_two();
    assert_int_equal(as_inst(&r, 0, 0)->src[1].reg, WW_REG_UNIFORM + 6);
    assert_int_equal(as_inst(&r, 0, 1)->src[0].reg, WW_REG_PRED);
}

static void test_version_6_raw_lines_have_eleven_numbers_in_front(void **state) {
    (void)state;
    import(&(struct as_text){.version = 6,
                             .body =
                                 "0 0 0 0 0 0 0 0 0 0 0 0010 0000000f 1 R2 LDG.E 1 R4 4 1 0x1000 4 0 0 NoVal\n"
                                 "0 0 0 0 0 0 0 0 0 0 0 0020 0000000f 0 EXIT 0 0 0 0 NoVal\n"});
    check_two();
}

static void test_matrix_lines_of_version_6_say_if_they_commit(void **state) {
    (void)state;
    import(
        &(struct as_text){.version = 6,
                          .body = GROUP("warp = 0\ninsts = 1\n"
                                        "0010 ffffffff 1 R24 HGMMA.64x64x16.F32 2 UR4 R24 1 0 0 0 NoVal\n")});
    assert_int_equal(as_inst(&r, 0, 0)->op, WW_OP_TENSOR);
    assert_int_equal(r.cta.warp[0].access_count, 0);
}

static void test_bulk_transfers_become_an_address_for_each_sector(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 6,
        .body = GROUP("warp = 0\ninsts = 1\n"
                      "0010 00000001 0 UTMALDG.2D 1 UR4 16 0x40 0 4096 0 4 0x10000 32 "
                      "128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 "
                      "128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 0 0 NoVal\n")});
    assert_int_equal(r.cta.warp[0].step_count, 4); /* 4096 bytes: 128 sectors, 32 to an instruction */
    assert_int_equal(r.stats.bulk_steps, 3);
    assert_int_equal(as_inst(&r, 0, 0)->op, WW_OP_ASYNC_COPY);
    assert_int_equal(as_address(&r, 0, 3, 3, 31), 0x10000 + 4096 - 32);
}

/* ---- raw files ---- */

static void test_raw_lines_of_several_ctas_are_put_together(void **state) {
    (void)state;
    import(&(struct as_text){.version = 3,
                             .grid = "(2,1,1)",
                             .block = "(64,1,1)",
                             .body =
                                 "1 0 0 1 0000 ffffffff 1 R1 MOV 0 0 \n0 0 0 0 0000 ffffffff 1 R1 MOV 0 0 \n"
                                 "1 0 0 0 0000 ffffffff 1 R1 MOV 0 0 \n0 0 0 1 0000 ffffffff 1 R1 MOV 0 0 \n"
                                 "0 0 0 0 0010 ffffffff 0 EXIT 0 0 \n0 0 0 1 0010 0000ffff 0 EXIT 0 0 \n"
                                 "0 0 0 1 0010 ffff0000 0 EXIT 0 0 \n1 0 0 0 0010 ffffffff 0 EXIT 0 0 \n"
                                 "1 0 0 1 0010 ffffffff 0 EXIT 0 0 \n"});
    assert_int_equal(r.stats.ctas, 2);
    assert_int_equal(r.cta.warp[0].step_count, 2);
    assert_int_equal(r.cta.warp[1].step_count, 3);
    assert_int_equal(r.stats.warp_instructions, 9);
}

/* Many CTAs whose lines alternate; the memory for open ones is tiny, so that they are spilled. */
static void test_spilled_ctas_come_back_whole(void **state) {
    (void)state;
    struct ww_arena arena;
    ww_arena_init(&arena, 0);
    size_t room = 400000, n = 0;
    char *body = ww_arena_alloc(&arena, room);
    for (int i = 0; i < 60; i++)
        for (int cta = 0; cta < 40; cta++)
            n += (size_t)snprintf(body + n, room - n,
                                  "%d 0 0 0 %04x 00000007 1 R2 LDG.E 1 R4 4 0 0x%x 0x%x 0x%x\n", cta, 16 * i,
                                  cta << 20 | i << 8, cta << 20 | i << 8 | 64, cta << 20 | i << 8 | 8);
    for (int cta = 0; cta < 40; cta++)
        n += (size_t)snprintf(body + n, room - n, "%d 0 0 0 1000 ffffffff 0 EXIT 0 0\n", cta);
    import(&(struct as_text){.version = 3, .grid = "(40,1,1)", .body = body, .open_limit = 60000});
    ww_arena_free(&arena);
    for (unsigned cta = 0; cta < 40; cta++) {
        struct ww_cta_trace c;
        assert_int_equal(ww_trace_load_cta(r.trace, 0, cta, &c, &r.error), WW_OK);
        assert_int_equal(c.warp[0].step_count, 61);
        for (unsigned i = 0; i < 60; i++) {
            uint64_t a[32];
            assert_int_equal(ww_made_addresses(7, &c.warp[0].access[i], c.warp[0].pool, a), 3);
            assert_int_equal(r.launch->inst[c.warp[0].step[i].inst].pc, 16 * i);
            assert_int_equal(a[1], cta << 20 | i << 8 | 64);
            assert_int_equal(a[2], cta << 20 | i << 8 | 8);
        }
        ww_trace_release_cta(r.trace, &c);
    }
}

static void test_raw_asynchronous_copies_are_counted_once(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 5,
        .body = "0 0 0 0 0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R3 R4 16 1 0x0 16 0 \n"
                "0 0 0 0 0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R3 R4 16 1 0x7f1000000000 16 0 \n"
                "0 0 0 0 0020 ffffffff 0 LDGSTS.E.BYPASS.128 2 R3 R6 16 1 0x200 16 0 \n"
                "0 0 0 0 0020 ffffffff 0 LDGSTS.E.BYPASS.128 2 R3 R6 16 1 0x7f2000000000 16 0 \n"
                "0 0 0 0 0030 ffffffff 0 EXIT 0 0 0 \n"});
    assert_int_equal(r.cta.warp[0].step_count, 3);
    assert_int_equal(r.stats.twins, 2);
    assert_int_equal(as_address(&r, 0, 0, 0, 0), 0x7f1000000000);
    assert_int_equal(as_address(&r, 0, 1, 1, 1), 0x7f2000000010);
}

static void test_grouped_asynchronous_copies_stay(void **state) {
    (void)state;
    LINES("0010 ffffffff 0 LDGSTS.E 2 R3 R4 4 1 0x7f1000000000 4 0", "0020 ffffffff 0 BRA 0 0 16",
          "0010 ffffffff 0 LDGSTS.E 2 R3 R4 4 1 0x7f1000000080 4 0");
    assert_int_equal(r.cta.warp[0].step_count, 3);
    assert_int_equal(r.stats.twins, 0);
}

/* ---- addresses ---- */

static void test_list_has_an_address_for_each_active_lane(void **state) {
    (void)state;
    LINES("0010 80000005 1 R2 LDG.E.64 1 R4 8 0 0x1000 0x3000 0x2000 0");
    assert_int_equal(as_address(&r, 0, 0, 0, 0), 0x1000);
    assert_int_equal(as_address(&r, 0, 0, 0, 2), 0x3000);
    assert_int_equal(as_address(&r, 0, 0, 0, 31), 0x2000);
}

static void test_base_of_a_stride_is_the_first_active_lanes(void **state) {
    (void)state;
    LINES("0010 0000ff00 1 R2 LDG.E 1 R4 4 1 0x1000 -8 0");
    assert_int_equal(as_address(&r, 0, 0, 0, 8), 0x1000);
    assert_int_equal(as_address(&r, 0, 0, 0, 15), 0x1000 - 56);
}

static void test_deltas_count_from_the_active_lane_before(void **state) {
    (void)state;
    LINES("0010 00000111 1 R2 LDG.E 1 R4 4 2 0x1000 100 -40 77");
    assert_int_equal(as_address(&r, 0, 0, 0, 0), 0x1000);
    assert_int_equal(as_address(&r, 0, 0, 0, 4), 0x1000 + 100);
    assert_int_equal(as_address(&r, 0, 0, 0, 8), 0x1000 + 60);
}

static void test_mask_zero_is_an_instruction_without_lanes(void **state) {
    (void)state;
    LINES("0010 00000000 1 R2 LDG.E 1 R4 4 1 0x0 0 0", "0020 00000000 1 R2 LDG.E 1 R4 4 2 0x0 0",
          "0030 00000000 1 R2 LDG.E 1 R4 4 0 0");
    assert_int_equal(r.cta.warp[0].step_count, 3);
    assert_int_equal(r.cta.warp[0].step[1].mask, 0);
    assert_int_equal(r.stats.thread_instructions, 0);
}

static void test_width_comes_from_the_opcode(void **state) {
    (void)state;
    LINES("0010 1 1 R2 LDG.E.U8 1 R4 4 1 0x0 0 0", "0020 1 1 R2 LDG.E.S16 1 R4 4 1 0x0 0 0",
          "0030 1 1 R2 LDG.E.128.SYS 1 R4 4 1 0x0 0 0", "0040 1 1 R2 LDG.E.CONSTANT 1 R4 16 1 0x0 0 0",
          "0050 1 0 RED.E.ADD.F64.RN 2 R4 R6 8 1 0x0 0 0");
    assert_int_equal(as_inst(&r, 0, 0)->width, 1);
    assert_int_equal(as_inst(&r, 0, 1)->width, 2);
    assert_int_equal(as_inst(&r, 0, 2)->width, 16);
    assert_int_equal(as_inst(&r, 0, 3)->width, 4);
    assert_int_equal(as_inst(&r, 0, 4)->width, 8);
}

/* ---- spaces: shared window at 0x7f0002000000, local one at 0x7f0000000000 ---- */

static void test_generic_addresses_are_resolved_by_their_window(void **state) {
    (void)state;
    LINES("0010 1 1 R2 LD.E 1 R4 4 1 0x7f0002000010 0 0", "0010 1 1 R2 LD.E 1 R4 4 1 0x7f0000000020 0 0",
          "0010 1 1 R2 LD.E 1 R4 4 1 0x7f1000000030 0 0");
    assert_int_equal(as_inst(&r, 0, 0)->space, WW_SPACE_SHARED);
    assert_int_equal(as_address(&r, 0, 0, 0, 0), 0x10);
    assert_int_equal(as_inst(&r, 0, 1)->space, WW_SPACE_LOCAL);
    assert_int_equal(as_address(&r, 0, 1, 1, 0), 0x20);
    assert_int_equal(as_inst(&r, 0, 2)->space, WW_SPACE_GLOBAL);
    assert_int_equal(as_address(&r, 0, 2, 2, 0), 0x7f1000000030);
}

static void test_shared_addresses_are_offsets_in_either_form(void **state) {
    (void)state;
    LINES("0010 3 1 R2 LDS 1 R4 4 1 0x40 4 0", "0010 3 1 R2 LDS 1 R4 4 1 0x7f0002000040 4 0");
    assert_int_equal(as_address(&r, 0, 0, 0, 1), 0x44);
    assert_int_equal(as_address(&r, 0, 1, 1, 1), 0x44);
}

static void test_local_addresses_are_offsets_in_a_frame(void **state) {
    (void)state;
    LINES("0010 3 0 STL.64 2 R1 R4 8 1 0xfffd10 0 0");
    assert_int_equal(as_address(&r, 0, 0, 0, 1), 0xfd10);
    assert_int_equal(r.launch->local_bytes, 0xfd18);
}

static void test_rows_of_absent_matrices_repeat_the_present(void **state) {
    (void)state;
    LINES("0010 ffffffff 1 R8 LDSM.16.M88.2 1 R4 4 1 0x0 16 0");
    assert_int_equal(as_inst(&r, 0, 0)->width, 16);
    assert_int_equal(as_inst(&r, 0, 0)->dst[0].n, 2);
    assert_int_equal(as_address(&r, 0, 0, 0, 15), 240);
    assert_int_equal(as_address(&r, 0, 0, 0, 16), 0);
}

/* ---- registers ---- */

static void test_register_255_is_not_recorded(void **state) {
    (void)state;
    LINES("0010 ffffffff 1 R255 IMAD.MOV.U32 3 R255 R7 R255 0 0");
    assert_int_equal(as_inst(&r, 0, 0)->dst_count, 0);
    assert_int_equal(as_inst(&r, 0, 0)->src_count, 1);
    assert_int_equal(as_inst(&r, 0, 0)->src[0].reg, 7);
}

static void check_sizes(uint32_t step, uint16_t dst, uint16_t first, uint16_t last) {
    const struct ww_inst *i = as_inst(&r, 0, step);
    if (dst) assert_int_equal(i->dst[0].n, dst);
    assert_int_equal(i->src[0].n, first);
    assert_int_equal(i->src[i->src_count - 1].n, last);
}

static void test_operands_have_as_many_registers_as_the_opcode_says(void **state) {
    (void)state;
    LINES("0000 1 1 R2 DFMA 3 R4 R6 R8 0 0", "0010 1 1 R4 LDG.E.128 1 R2 16 1 0x0 0 0",
          "0020 1 0 STG.E.64 2 R2 R6 8 1 0x0 0 0", "0030 1 1 R2 IMAD.WIDE 3 R4 R5 R6 0 0",
          "0040 1 1 R2 F2F.F64.F32 1 R4 0 0", "0050 1 1 R2 F2F.F32.F64 1 R4 0 0",
          "0060 1 1 R4 HMMA.16816.F32 3 R8 R12 R4 0 0", "0070 1 1 R4 I2F.F64 1 R8 0 0",
          "0080 1 1 R4 F2I.F64 1 R8 0 0");
    check_sizes(0, 2, 2, 2);
    check_sizes(1, 4, 2, 2);
    check_sizes(2, 0, 2, 2);
    check_sizes(3, 2, 1, 2);
    check_sizes(4, 2, 1, 1);
    check_sizes(5, 1, 2, 2);
    check_sizes(6, 4, 4, 4);
    assert_int_equal(as_inst(&r, 0, 6)->src[1].n, 2);
    check_sizes(7, 2, 1, 1);
    check_sizes(8, 1, 2, 2);
}

/* ---- opcodes ---- */

static void test_unknown_opcodes_are_counted_and_do_nothing(void **state) {
    (void)state;
    LINES("0010 1 1 R2 FROBNICATE.X 1 R4 0 0", "0010 1 1 R2 FROBNICATE.X 1 R4 0 0", "0020 1 0 QUUX 0 0 0");
    assert_int_equal(r.stats.unknown_instructions, 3);
    assert_int_equal(r.stats.unknown_count, 2);
    assert_string_equal(r.stats.unknown[0].opcode, "FROBNICATE");
    assert_int_equal(r.stats.unknown[0].count, 2);
    assert_int_equal(as_inst(&r, 0, 0)->op, WW_OP_NOP);
}

static void test_strict_refuses_unknown_opcodes(void **state) {
    (void)state;
    as_import(&(struct as_text){.version = 3,
                                .strict = true,
                                .body = TWO_LINES("0010 1 0 NOP 0 0", "0020 1 0 QUUX.E 0 0")},
              &r);
    assert_int_equal(r.code, WW_UNSUPPORTED);
    assert_int_equal(r.error.code, WW_UNSUPPORTED);
    assert_string_equal(r.error.text, "unknown opcode QUUX");
}

static void test_barriers_take_their_number_from_the_immediate(void **state) {
    (void)state;
    LINES("0010 ffffffff 0 BAR.SYNC 0 0 3", "0020 ffffffff 0 BAR.ARV 0 0 64");
    assert_int_equal(as_inst(&r, 0, 0)->barrier, 3);
    assert_int_equal(as_inst(&r, 0, 0)->barrier_threads, 0);
    assert_int_equal(as_inst(&r, 0, 1)->barrier_threads, 64);
    assert_true(as_inst(&r, 0, 1)->flags & WW_INST_BAR_ARRIVE);
    assert_int_equal(r.stats.barriers_unnumbered, 1);
}

static void test_branches_back_and_branches_of_some_lanes_are_marked(void **state) {
    (void)state;
    LINES("0010 ffffffff 0 BRA 0 0 48", "0030 0000ffff 0 BRA 0 0 16");
    assert_int_equal(as_inst(&r, 0, 0)->flags & (WW_INST_BACK_EDGE | WW_INST_BRANCH_COND), 0);
    assert_int_equal(as_inst(&r, 0, 1)->flags & (WW_INST_BACK_EDGE | WW_INST_BRANCH_COND),
                     WW_INST_BACK_EDGE | WW_INST_BRANCH_COND);
}

static void test_caching_suffixes_become_flags(void **state) {
    (void)state;
    LINES("0010 1 1 R2 LDG.E.CONSTANT 1 R4 4 1 0x0 0 0", "0020 1 1 R2 LDG.E.STRONG.GPU 1 R4 4 1 0x0 0 0",
          "0030 1 1 R2 LDG.E.STRONG.CTA 1 R4 4 1 0x0 0 0");
    assert_true(as_inst(&r, 0, 0)->flags & WW_INST_READ_ONLY);
    assert_true(as_inst(&r, 0, 1)->flags & WW_INST_BYPASS_L1);
    assert_false(as_inst(&r, 0, 2)->flags & WW_INST_BYPASS_L1);
}

static void test_ctas_of_less_than_a_warp_are_taken(void **state) {
    (void)state;
    import(&(struct as_text){
        .version = 3,
        .block = "(2,1,1)",
        .body = TWO_LINES("0010 00000003 1 R2 LDG.E 1 R4 4 1 0x1000 4 ", "0020 00000003 0 EXIT 0 0 ")});
    assert_int_equal(r.launch->warps_per_cta, 1);
    assert_int_equal(r.stats.thread_instructions, 4);
}

#define T(name) cmocka_unit_test_teardown(name, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_header_becomes_the_launch),
        T(test_version_1_grouped_lines_name_cta_and_warp),
        T(test_header_without_a_version_is_version_1),
        T(test_version_2_grouped_lines_name_cta_and_warp),
        T(test_version_3_grouped_lines_start_with_the_pc),
        T(test_version_4_line_numbers_are_kept),
        T(test_version_5_lines_end_in_an_immediate),
        T(test_version_6_has_clusters_two_immediates_and_values),
        T(test_version_6_raw_lines_have_eleven_numbers_in_front),
        T(test_matrix_lines_of_version_6_say_if_they_commit),
        T(test_bulk_transfers_become_an_address_for_each_sector),
        T(test_raw_lines_of_several_ctas_are_put_together),
        T(test_spilled_ctas_come_back_whole),
        T(test_raw_asynchronous_copies_are_counted_once),
        T(test_grouped_asynchronous_copies_stay),
        T(test_list_has_an_address_for_each_active_lane),
        T(test_base_of_a_stride_is_the_first_active_lanes),
        T(test_deltas_count_from_the_active_lane_before),
        T(test_mask_zero_is_an_instruction_without_lanes),
        T(test_width_comes_from_the_opcode),
        T(test_generic_addresses_are_resolved_by_their_window),
        T(test_shared_addresses_are_offsets_in_either_form),
        T(test_local_addresses_are_offsets_in_a_frame),
        T(test_rows_of_absent_matrices_repeat_the_present),
        T(test_register_255_is_not_recorded),
        T(test_operands_have_as_many_registers_as_the_opcode_says),
        T(test_unknown_opcodes_are_counted_and_do_nothing),
        T(test_strict_refuses_unknown_opcodes),
        T(test_barriers_take_their_number_from_the_immediate),
        T(test_branches_back_and_branches_of_some_lanes_are_marked),
        T(test_caching_suffixes_become_flags),
        T(test_ctas_of_less_than_a_warp_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
