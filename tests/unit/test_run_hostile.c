/* Traces as an attacker would write them: a run ends, and either replays or refuses them. */
#include "../../estimator/warpwatt.h"
#include "wwt_fixture.h"
#include "../../estimator/base/hash.h"
#include "../../traces/wwt/crc.h"
#include "../../traces/wwt/format.h"
#include "../../traces/wwt/reader.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;

static enum ww_code run(const char *gpu_name, const char *path, struct ww_result **result) {
    struct ww_gpu *gpu = NULL;
    assert_int_equal(ww_gpu_load(gpu_name, NULL, 0, &gpu, &error), WW_OK);
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .power_table = "none"};
    enum ww_code code = ww_run(&o, result, &error);
    ww_gpu_free(gpu);
    return code;
}

/* One warp that executes `inst`, then an instruction that reads register 4, then ends. */
static enum ww_code write_inst(const char *path, const struct ww_inst *inst) {
    static const char *const strings[] = {"", "X"};
    const struct ww_inst code[] = {
        *inst, {.pc = 16, .op = WW_OP_INT, .src_count = 1, .src = {{4, 2}}}, {.pc = 32, .op = WW_OP_EXIT}};
    static const struct ww_step step[] = {{0, UINT32_MAX}, {1, UINT32_MAX}, {2, UINT32_MAX}};
    static const struct ww_access access = {0, 4, WW_AFFINE};
    const struct ww_warp_stream warp = {step, &access, NULL, 3, inst->flags & WW_INST_ACCESS ? 1 : 0};
    struct ww_made_launch l = {
        .launch = {.kernel = "k",
                   .arch = "sm_70",
                   .grid = {1, 1, 1},
                   .block = {32, 1, 1},
                   .registers_per_thread = 16,
                   .inst = code,
                   .inst_count = 3,
                   .string = strings,
                   .string_count = 2},
        .cta = &(struct ww_cta_trace){.warp_count = 1, .warp = &warp},
        .cta_count = 1,
    };
    return ww_made_write(path, &l, 1, 0, &error);
}

/* Whether a trace with this instruction can be written; if so, a run must take it. */
static bool writes_and_runs(const struct ww_inst *inst) {
    const char *path = ww_made_path(&arena, "inst.wwt");
    struct ww_result *result = NULL;
    if (write_inst(path, inst) != WW_OK) return false;
    enum ww_code code = run("v100", path, &result);
    if (code != WW_OK)
        fail_msg("class %s, space %s, flags %u, %u destinations: exit %d, %s: %s",
                 ww_op_name((enum ww_op)inst->op), ww_space_name((enum ww_space)inst->space), inst->flags,
                 inst->dst_count, code, error.where, error.text);
    ww_result_free(result);
    return true;
}

static void every_instruction_that_can_be_written_runs_to_its_end(void **state) {
    (void)state;
    unsigned written = 0;
    for (unsigned op = 0; op < WW_OP_DMA; op++) /* bulk transfers: below */
        for (unsigned space = 0; space < WW_SPACE_COUNT; space++)
            for (unsigned k = 0; k < 6; k++) {
                struct ww_inst inst = {.op = (uint8_t)op,
                                       .space = (uint8_t)space,
                                       .width = 4,
                                       .flags = k & 1 ? WW_INST_ACCESS : 0,
                                       .dst_count = (uint8_t)(k / 2),
                                       .dst = {{4, 1}, {5, 1}}};
                written += writes_and_runs(&inst);
            }
    assert_true(written > 300);
}

/* A GPU without an engine, and words that describe no transfer. */
static void a_bulk_transfer_that_cannot_be_done_is_an_error(void **state) {
    (void)state;
    struct ww_inst inst = {.op = WW_OP_DMA, .flags = WW_INST_ACCESS};
    assert_int_equal(write_inst(ww_made_path(&arena, "inst.wwt"), &inst), WW_OK);
    struct ww_result *result = NULL;
    struct ww_gpu *gpu = NULL;
    assert_int_equal(ww_gpu_load("gtx480-d2ma", NULL, 0, &gpu, &error), WW_OK);
    struct ww_run_options o = {.gpu = gpu, .trace_path = ww_made_path(&arena, "inst.wwt")};
    assert_int_equal(ww_run(&o, &result, &error), WW_INPUT);
    assert_non_null(strstr(error.text, "bulk transfer"));
    ww_gpu_free(gpu);
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    o.gpu = gpu;
    assert_int_equal(ww_run(&o, &result, &error), WW_UNSUPPORTED);
    ww_gpu_free(gpu);
}

/* Both the writer and the reader check the same rules; the writer says which one. */
static void refused(const struct ww_inst *inst, const char *why) {
    assert_int_equal(write_inst(ww_made_path(&arena, "inst.wwt"), inst), WW_INTERNAL);
    if (!strstr(error.text, why)) fail_msg("%s", error.text);
}

static void a_store_or_reduce_with_a_destination_is_refused(void **state) {
    (void)state;
    struct ww_inst inst = {.op = WW_OP_STORE,
                           .space = WW_SPACE_GLOBAL,
                           .width = 4,
                           .flags = WW_INST_ACCESS,
                           .dst_count = 1,
                           .dst = {{4, 1}}};
    refused(&inst, "has a destination");
    inst.flags = 0;
    refused(&inst, "has a destination");
    inst.op = WW_OP_REDUCE;
    refused(&inst, "has a destination");
    inst.op = WW_OP_ATOMIC;
    assert_true(writes_and_runs(&inst));
}

static void accesses_of_a_class_without_them_are_refused(void **state) {
    (void)state;
    struct ww_inst inst = {.op = WW_OP_FP32, .flags = WW_INST_ACCESS};
    refused(&inst, "its class has none");
    inst.op = WW_OP_LOAD;
    refused(&inst, "no memory space");
    inst.op = WW_OP_SLEEP;
    assert_true(writes_and_runs(&inst));
}

static void operands_have_at_most_eight_registers(void **state) {
    (void)state;
    struct ww_inst inst = {.op = WW_OP_INT, .src_count = 1, .src = {{3, 9}}};
    refused(&inst, "more than 8 registers");
    inst.src[0].n = 8;
    assert_true(writes_and_runs(&inst));
}

/* Of 844 million million CTAs, three. */
static void a_slice_of_a_huge_grid_replays_at_once(void **state) {
    (void)state;
    static const char *const strings[] = {"", "X"};
    static const struct ww_inst code[] = {{.op = WW_OP_INT}, {.pc = 16, .op = WW_OP_EXIT}};
    static const struct ww_step step[] = {{0, UINT32_MAX}, {1, UINT32_MAX}};
    const struct ww_warp_stream warp = {step, NULL, NULL, 2, 0};
    const uint64_t all = (uint64_t)6 * 2147483647 * 65535;
    struct ww_cta_trace cta[] = {{.index = 1, .warp_count = 1, .warp = &warp},
                                 {.index = all / 2, .warp_count = 1, .warp = &warp},
                                 {.index = all - 1, .warp_count = 1, .warp = &warp}};
    struct ww_made_launch l = {.launch = {.kernel = "k",
                                          .arch = "sm_70",
                                          .grid = {6, 2147483647, 65535},
                                          .block = {32, 1, 1},
                                          .registers_per_thread = 16,
                                          .inst = code,
                                          .inst_count = 2,
                                          .string = strings,
                                          .string_count = 2},
                               .cta = cta,
                               .cta_count = 3};
    const char *path = ww_made_path(&arena, "huge.wwt"), *part = ww_made_path(&arena, "part.wwt");
    struct ww_result *result = NULL;
    struct ww_trace *t;
    time_t start = time(NULL);
    assert_int_equal(ww_made_write(path, &l, 1, 0, &error), WW_OK);
    assert_int_equal(run("v100", path, &result), WW_OK);
    assert_int_equal(result->warp_instructions, 6);
    ww_result_free(result);
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    assert_int_equal(ww_trace_verify(t, NULL, NULL, &error), WW_OK);
    FILE *sink = fopen("/dev/null", "w");
    assert_int_equal(ww_trace_print_info(t, false, sink, &error), WW_OK);
    fclose(sink);
    assert_int_equal(ww_trace_slice(t, NULL, NULL, part, NULL, NULL, &error), WW_OK);
    ww_trace_close(t);
    assert_int_equal(run("gtx480", part, &result), WW_OK);
    assert_int_equal(result->warp_instructions, 6);
    ww_result_free(result);
    assert_true(time(NULL) - start <= 2);
}

/* Writes the trace anew with its index uncompressed and, at the last place where `from` stands in it, `to`;
 * all checksums are right. */
static void patch_index(const char *path, const void *from, const void *to, size_t n) {
    struct ww_trace *t;
    size_t size;
    unsigned char *file = ww_made_read(&arena, path, &size), *found = NULL;
    assert_int_equal(ww_trace_open(path, &t, &error), WW_OK);
    uint64_t index = ww_wwt_get64(file + size - WW_WWT_TRAILER_BYTES);
    size_t raw = t->raw.n, whole = (size_t)index + WW_WWT_CHUNK_BYTES + raw + WW_WWT_TRAILER_BYTES;
    unsigned char *p = ww_arena_alloc(&arena, whole), *h = p + index, *end = p + whole - WW_WWT_TRAILER_BYTES;
    memcpy(p, file, (size_t)index + 4);
    memcpy(h + WW_WWT_CHUNK_BYTES, t->raw.p, raw);
    memcpy(end, file + size - WW_WWT_TRAILER_BYTES, WW_WWT_TRAILER_BYTES);
    ww_trace_close(t);
    for (unsigned char *at = h + WW_WWT_CHUNK_BYTES; at + n <= end; at++)
        if (memcmp(at, from, n) == 0) found = at;
    assert_non_null(found);
    memcpy(found, to, n);
    ww_wwt_put32(h + 4, (uint32_t)raw);
    ww_wwt_put32(h + 8, (uint32_t)raw);
    ww_wwt_put32(h + 12, ww_crc32(ww_crc32(0, h, 12), h + WW_WWT_CHUNK_BYTES, raw));
    ww_wwt_put64(end + 8, whole);
    ww_wwt_put64(end + 16, ww_hash_bytes(h + WW_WWT_CHUNK_BYTES, raw, WW_WWT_VERSION_LAST));
    ww_wwt_put32(end + 24, ww_crc32(0, end, 24));
    ww_made_put(path, p, whole);
}

/* Each of three instructions was executed once, by a full warp: 1 0, 1 0, 1 0 in the index. */
static void counts_that_the_index_states_wrongly_fail_the_run(void **state) {
    (void)state;
    static const unsigned char right[] = {1, 0, 1, 0, 1, 0};
    static const unsigned char wrong[][6] = {{2, 0, 1, 0, 1, 0}, {1, 0, 1, 0, 1, 3}};
    const struct ww_inst inst = {.op = WW_OP_INT};
    const char *path = ww_made_path(&arena, "counts.wwt");
    struct ww_result *result = NULL;
    assert_int_equal(write_inst(path, &inst), WW_OK);
    patch_index(path, right, right, sizeof right);
    assert_int_equal(run("v100", path, &result), WW_OK);
    ww_result_free(result);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write_inst(path, &inst), WW_OK);
        patch_index(path, right, wrong[i], sizeof right);
        assert_int_equal(run("v100", path, &result), WW_INPUT);
        assert_string_equal(error.where, path);
        assert_non_null(strstr(error.text, "but the index says"));
    }
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_that_can_be_written_runs_to_its_end),
        cmocka_unit_test(a_bulk_transfer_that_cannot_be_done_is_an_error),
        cmocka_unit_test(a_store_or_reduce_with_a_destination_is_refused),
        cmocka_unit_test(accesses_of_a_class_without_them_are_refused),
        cmocka_unit_test(operands_have_at_most_eight_registers),
        cmocka_unit_test(counts_that_the_index_states_wrongly_fail_the_run),
        cmocka_unit_test(a_slice_of_a_huge_grid_replays_at_once),
    };
    ww_arena_init(&arena, 0);
    return cmocka_run_group_tests(tests, NULL, clean);
}
