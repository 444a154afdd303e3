/* The shared memory that the engine of bulk transfers fills is what the plain kernel's warps load: from the
 * plain trace, where each word that a CTA stores to shared memory came from; from the other, where the engine
 * takes it. */
#include "../../estimator/warpwatt.h"
#include "../../traces/dma.h"
#include "../../traces/trace.h"
#include "wwt_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 12288 };
#define UNTOUCHED 0u
#define CONSTANT 1u /* addresses of words are multiples of 4 */
#define UNKNOWN 2u

static struct ww_arena arena;
static struct ww_error error;
static uint64_t plain[WORDS], bulk[WORDS];
static uint64_t came[WW_REG_COUNT][32]; /* by register and lane */

static struct ww_trace *record(const char *workload, const char *const *parameter, size_t count) {
    struct ww_record_stats stats = {0};
    struct ww_trace *trace = NULL;
    const char *path = ww_made_path(&arena, "tiles.wwt");
    struct ww_record_options o = {.out_path = path, .arch = "sm_20"};
    if (ww_record_workload(workload, parameter, count, &o, &stats, &error) != WW_OK) fail_msg("%s", error.text);
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    return trace;
}

/* The stored value is the last register source; one alone is the value, too, as the address is a constant. */
static uint64_t value_of(const struct ww_inst *store, uint32_t lane) {
    uint64_t value = CONSTANT;
    for (uint32_t n = 0; n < store->src_count; n++)
        if (store->src[n].reg < WW_REG_PRED) value = came[store->src[n].reg][lane];
    return value;
}

static void follow(const struct ww_launch *l, const struct ww_inst *i, uint32_t mask, const uint64_t *address) {
    bool loads = i->op == WW_OP_LOAD && i->space == WW_SPACE_GLOBAL && i->width == 4;
    bool moves = i->op == WW_OP_INT && strncmp(l->string[i->mnemonic], "MOV", 3) == 0;
    bool copies = moves && i->src_count && i->src[0].reg < WW_REG_PRED;
    for (uint32_t m = mask, k = 0; m; m &= m - 1, k++) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t from = loads ? address[k] : copies ? came[i->src[0].reg][lane] : moves ? CONSTANT : UNKNOWN;
        for (uint32_t n = 0; n < i->dst_count; n++)
            for (uint32_t r = 0; r < i->dst[n].n; r++) came[i->dst[n].reg + r][lane] = from;
        if (i->op == WW_OP_STORE && i->space == WW_SPACE_SHARED && plain[address[k] / 4] == UNTOUCHED)
            plain[address[k] / 4] = value_of(i, lane);
    }
}

static void place(const struct ww_dma *d) {
    for (uint32_t r = 0; r < ww_dma_rows(d); r++) {
        struct ww_dma_row row = ww_dma_row(d, r);
        for (uint32_t k = 0; k < row.left + row.count + row.right; k++) {
            bool inside = k >= row.left && k < row.left + row.count;
            bulk[ww_dma_place(d, row.first + k) / 4] =
                inside ? row.global + (k - row.left) * ww_dma_pitch(d) : CONSTANT;
        }
    }
}

/* Of the CTA's first tiles: up to the first barrier, or all transfers before the first load. */
static void look(struct ww_trace *trace, uint64_t cta, bool dma) {
    const struct ww_launch *l;
    struct ww_cta_trace c;
    assert_int_equal(ww_trace_launch(trace, 0, &l, &error), WW_OK);
    assert_int_equal(ww_trace_load_cta(trace, 0, cta, &c, &error), WW_OK);
    for (uint32_t w = 0; w < c.warp_count; w++) {
        const struct ww_warp_stream *s = &c.warp[w];
        const struct ww_access *a = s->access;
        for (uint32_t k = 0; k < s->step_count; k++) {
            const struct ww_inst *i = &l->inst[s->step[k].inst];
            uint64_t address[32] = {0};
            struct ww_dma d;
            if (i->op == WW_OP_BARRIER || (i->op == WW_OP_LOAD && i->space == WW_SPACE_SHARED)) break;
            if (i->flags & WW_INST_ACCESS) ww_made_addresses(s->step[k].mask, a++, s->pool, address);
            if (dma && i->op == WW_OP_DMA && (i->flags & WW_INST_ACCESS)) {
                assert_true(ww_dma_unpack(address, &d));
                place(&d);
            }
            if (!dma) follow(l, i, s->step[k].mask, address);
        }
    }
    ww_trace_release_cta(trace, &c);
}

static void same_tiles(const char *workload, const char *kernel, const char *extra, unsigned least) {
    const char *plainly[] = {"size=small", kernel, "variant=plain", extra, extra};
    const char *with_dma[] = {"size=small", kernel, "variant=dma", extra, extra};
    size_t count = extra ? 4 : 3;
    const struct ww_launch *l;
    struct ww_trace *a = record(workload, plainly, count);
    assert_int_equal(ww_trace_launch(a, 0, &l, &error), WW_OK);
    uint64_t ctas = l->cta_count;
    uint64_t(*expected)[WORDS] = ww_arena_array(&arena, ctas, sizeof *expected);
    assert_non_null(expected);
    for (uint64_t c = 0; c < ctas; c++) {
        memset(plain, 0, sizeof plain);
        memset(came, 0, sizeof came);
        look(a, c, false);
        memcpy(expected[c], plain, sizeof plain);
    }
    ww_trace_close(a);
    struct ww_trace *b = record(workload, with_dma, count);
    for (uint64_t c = 0; c < ctas; c++) {
        unsigned words = 0;
        memset(bulk, 0, sizeof bulk);
        look(b, c, true);
        for (unsigned k = 0; k < WORDS; k++) {
            if (expected[c][k] != bulk[k])
                fail_msg("%s: CTA %u: word %u comes from 0x%llx, and with bulk transfers from 0x%llx", kernel,
                         (unsigned)c, k, (unsigned long long)expected[c][k], (unsigned long long)bulk[k]);
            words += bulk[k] != UNTOUCHED;
        }
        assert_in_range(words, least, WORDS);
    }
    ww_trace_close(b);
}

static void halos_of_the_nine_regions_are_what_the_warps_load(void **state) {
    (void)state;
    same_tiles("d2_filter", "kernel=gauss", "height=48", 18 * 18); /* 3 x 3 tiles */
}

static void spread_tiles_leave_the_plain_kernels_padding_free(void **state) {
    (void)state;
    same_tiles("d2_block", "kernel=dct", NULL, 16 * 32);
    same_tiles("d2_block", "kernel=trans2", NULL, 16 * 16);
}

static void dense_tiles_and_vectors_are_what_the_warps_load(void **state) {
    (void)state;
    same_tiles("d2_block", "kernel=mm", NULL, 2 * 16 * 16);
    same_tiles("d2_block", "kernel=trans1", NULL, 16 * 16);
    same_tiles("d2_stream", "kernel=walsh", NULL, 2048);
    same_tiles("d2_stream", "kernel=haar", NULL, 1024);
    same_tiles("d2_stream", "kernel=path", NULL, 256);
}

static int set_up(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_made_clean();
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halos_of_the_nine_regions_are_what_the_warps_load),
        cmocka_unit_test(spread_tiles_leave_the_plain_kernels_padding_free),
        cmocka_unit_test(dense_tiles_and_vectors_are_what_the_warps_load),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
