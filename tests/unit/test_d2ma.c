/* The transform d2ma keeps the program: on every kernel of D2MA's evaluation each load of shared memory has the
 * same last writer before and after, in whatever order warps run between barriers; and it takes out what it
 * should. */
#include "../../traces/copy.h"
#include "../../traces/dma.h"
#include "../../traces/transform/regions.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { WARPS = 32, LANES = 32, WORDS = 12288 };

static char plain[] = "/tmp/warpwatt-d2ma-XXXXXX.wwt", changed[] = "/tmp/warpwatt-d2ma-XXXXXX.wwt";

static const char *const kernels[][2] = {
    {"d2_filter", "kernel=gauss"}, {"d2_filter", "kernel=mean"},  {"d2_filter", "kernel=sobel"},
    {"d2_stream", "kernel=saxpy"}, {"d2_stream", "kernel=sgemv"}, {"d2_stream", "kernel=path"},
    {"d2_stream", "kernel=walsh"}, {"d2_stream", "kernel=haar"},  {"d2_block", "kernel=dct"},
    {"d2_block", "kernel=mm"},     {"d2_block", "kernel=trans1"}, {"d2_block", "kernel=trans2"},
    {"d2_block", "kernel=lud"}};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* ---- one CTA, run in an order of its warps ---- */

struct machine {
    const struct ww_launch *launch;
    const uint8_t *role;
    const struct ww_cta_trace *cta;
    uint64_t writer[WORDS], fills[WORDS];
    uint64_t value[WARPS][256][LANES];  /* 0 unknown, 1 a constant, else a global address */
    uint64_t loads[WARPS], seen[WARPS]; /* loaded words; hash of their writers */
    uint32_t step[WARPS], access[WARPS], stores[WARPS], starts[WARPS][WW_DMA_BUFFERS], done[WW_DMA_BUFFERS];
};

static uint64_t mix(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static void fill(struct machine *m, uint32_t word, uint64_t from) {
    m->writer[word] = mix(mix(1, from), ++m->fills[word]);
}

static void transfer(struct machine *m, uint32_t warp, const uint64_t *list) {
    struct ww_dma d;
    assert_true(ww_dma_unpack(list, &d));
    if (++m->starts[warp][d.buffer] <= m->done[d.buffer]) return; /* another warp has started it */
    m->done[d.buffer]++;
    for (uint32_t r = 0; r < ww_dma_rows(&d); r++) {
        struct ww_dma_row row = ww_dma_row(&d, r);
        for (uint32_t k = 0; k < row.left + row.count + row.right; k++) {
            bool memory = k >= row.left && k < row.left + row.count;
            uint64_t from = memory ? row.global + (k - row.left) * ww_dma_pitch(&d) : 1;
            fill(m, ww_dma_place(&d, row.first + k) / 4, from);
        }
    }
}

static void shared_lane(struct machine *m, const struct ww_inst *in, bool copy, uint32_t warp, uint32_t lane,
                        uint64_t address) {
    uint32_t data = 0;
    for (uint32_t s = 0; s < in->src_count; s++)
        if (in->src[s].reg < WW_REG_PRED) data = in->src[s].reg; /* the last one */
    for (uint32_t r = 0; r < in->width / 4u; r++) {
        uint32_t word = (uint32_t)(address / 4) + r;
        assert_true(word < WORDS);
        if (copy) {
            assert_true(m->value[warp][data + r][lane] != 0);
            fill(m, word, m->value[warp][data + r][lane]);
        } else if (in->op == WW_OP_LOAD) {
            m->seen[warp] = mix(m->seen[warp], m->writer[word]);
            m->loads[warp]++;
        } else {
            m->writer[word] = mix(mix(2, warp), (uint64_t)m->stores[warp] * LANES * 4 + lane * 4 + r);
        }
    }
}

static void values(struct machine *m, const struct ww_inst *in, uint32_t warp, uint32_t mask,
                   const struct ww_access *a, const uint64_t *pool) {
    uint32_t registers = 0, from = 0;
    bool load = in->op == WW_OP_LOAD && in->space == WW_SPACE_GLOBAL;
    bool move = strstr(m->launch->string[in->mnemonic], "MOV") != NULL;
    for (uint32_t s = 0; s < in->src_count; s++)
        if (in->src[s].reg < WW_REG_PRED) from = in->src[s].reg, registers++;
    if (in->dst_count == 0 || in->dst[0].reg >= WW_REG_PRED) return;
    for (uint32_t r = 0; r < in->dst[0].n; r++)
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            uint64_t v = move && in->src_count == 0 ? 1 : 0;
            if (load) v = ww_region_lane_address(a, pool, mask, lane) + 4u * (uint64_t)r;
            if (move && registers == 1) v = m->value[warp][from + r][lane];
            m->value[warp][in->dst[0].reg + r][lane] = v;
        }
}

/* Runs a warp to its next barrier or its end; true if it met a barrier. */
static bool run_warp(struct machine *m, uint32_t warp) {
    const struct ww_warp_stream *s = &m->cta->warp[warp];
    while (m->step[warp] < s->step_count) {
        const struct ww_step *step = &s->step[m->step[warp]++];
        const struct ww_inst *in = &m->launch->inst[step->inst];
        const struct ww_access *a = in->flags & WW_INST_ACCESS ? &s->access[m->access[warp]++] : NULL;
        if (in->op == WW_OP_BARRIER) return true;
        if (in->op == WW_OP_DMA && a) transfer(m, warp, s->pool + a->list);
        if (a && in->space == WW_SPACE_SHARED) {
            bool copy = m->role && m->role[step->inst] == WW_COPY_STORE;
            if (in->op == WW_OP_STORE && !copy) m->stores[warp]++;
            for (uint32_t left = step->mask; left; left &= left - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(left);
                shared_lane(m, in, copy, warp, lane, ww_region_lane_address(a, s->pool, step->mask, lane));
            }
        }
        values(m, in, warp, step->mask, a, s->pool);
    }
    return false;
}

static void run_cta(struct machine *m, bool backwards) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < m->cta->warp_count; k++)
            more = run_warp(m, backwards ? m->cta->warp_count - 1 - k : k) || more;
    }
}

/* Runs CTA `cta` of a launch; role: which stores are copies, or NULL. */
static struct machine *machine_of(struct ww_trace *trace, size_t launch, uint64_t cta, const uint8_t *role,
                                  bool backwards) {
    struct machine *m = calloc(1, sizeof *m);
    struct ww_cta_trace c;
    struct ww_error error;
    assert_non_null(m);
    assert_int_equal(ww_trace_launch(trace, launch, &m->launch, &error), WW_OK);
    assert_int_equal(ww_trace_load_cta(trace, launch, cta, &c, &error), WW_OK);
    assert_true(c.warp_count <= WARPS);
    m->role = role;
    m->cta = &c;
    run_cta(m, backwards);
    m->cta = NULL;
    ww_trace_release_cta(trace, &c);
    return m;
}

static void same_writers(struct ww_trace *before, struct ww_trace *after, size_t launch, uint64_t cta,
                         const uint8_t *role) {
    struct machine *want = machine_of(before, launch, cta, role, false);
    for (int backwards = 0; backwards < 2; backwards++) {
        struct machine *got = machine_of(after, launch, cta, NULL, backwards != 0);
        for (uint32_t w = 0; w < WARPS; w++) {
            assert_int_equal(got->loads[w], want->loads[w]);
            assert_true(got->seen[w] == want->seen[w]);
        }
        free(got);
    }
    free(want);
}

/* ---- all of a trace ---- */

static enum ww_code transform(const char *workload, const char *parameter, const char *arch,
                              struct ww_error *error) {
    const char *values[] = {"size=small", "variant=plain", parameter};
    const struct ww_record_options options = {.seed = 3, .out_path = plain, .arch = arch};
    const struct ww_transform_options how = {.kind = "d2ma"};
    struct ww_record_stats stats;
    struct ww_trace *trace;
    memset(error, 0, sizeof *error);
    assert_int_equal(ww_record_workload(workload, values, parameter ? 3 : 1, &options, &stats, error), WW_OK);
    assert_int_equal(ww_trace_open(plain, &trace, error), WW_OK);
    enum ww_code code = ww_trace_transform(trace, &how, changed, error);
    ww_trace_close(trace);
    if (code != WW_OK && parameter)
        print_error("%s %s: %s: %s\n", workload, parameter, error->where, error->text);
    return code;
}

static void every_load_keeps_its_last_writer(void **state) {
    const char *arch = *state;
    struct ww_error error;
    for (size_t k = 0; k < KERNELS; k++) {
        struct ww_trace *before, *after;
        struct ww_arena arena;
        assert_int_equal(transform(kernels[k][0], kernels[k][1], arch, &error), WW_OK);
        assert_int_equal(ww_trace_open(plain, &before, &error), WW_OK);
        assert_int_equal(ww_trace_open(changed, &after, &error), WW_OK);
        ww_arena_init(&arena, 0);
        for (size_t l = 0; l < ww_trace_launch_count(before); l++) {
            const struct ww_launch *launch;
            const uint8_t *role;
            bool found;
            assert_int_equal(ww_copy_find(before, l, 64, &arena, &role, &found, &error), WW_OK);
            assert_int_equal(ww_trace_launch(before, l, &launch, &error), WW_OK);
            for (uint64_t c = 0; c < launch->cta_count; c++) same_writers(before, after, l, c, role);
        }
        ww_arena_free(&arena);
        ww_trace_close(before);
        ww_trace_close(after);
    }
}

static uint64_t count(const char *path, enum ww_op op, enum ww_space space) {
    struct ww_trace *trace;
    struct ww_error error;
    uint64_t n = 0;
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    for (size_t l = 0; l < ww_trace_launch_count(trace); l++) {
        const struct ww_launch *launch;
        assert_int_equal(ww_trace_launch(trace, l, &launch, &error), WW_OK);
        for (uint64_t c = 0; c < launch->cta_count; c++) {
            struct ww_cta_trace cta;
            assert_int_equal(ww_trace_load_cta(trace, l, c, &cta, &error), WW_OK);
            for (uint32_t w = 0; w < cta.warp_count; w++)
                for (uint32_t s = 0; s < cta.warp[w].step_count; s++) {
                    const struct ww_inst *in = &launch->inst[cta.warp[w].step[s].inst];
                    n += in->op == op && in->space == space;
                }
            ww_trace_release_cta(trace, &cta);
        }
    }
    ww_trace_close(trace);
    return n;
}

static void a_filter_keeps_no_load_store_branch_or_barrier_of_its_tile(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(transform("d2_filter", "kernel=gauss", "sm_20", &error), WW_OK);
    assert_int_equal(count(changed, WW_OP_LOAD, WW_SPACE_GLOBAL), 0);
    assert_int_equal(count(changed, WW_OP_STORE, WW_SPACE_SHARED), 0);
    assert_int_equal(count(changed, WW_OP_BARRIER, WW_SPACE_NONE), 0);
    assert_int_equal(count(changed, WW_OP_BRANCH, WW_SPACE_NONE), 0);
    assert_int_equal(count(changed, WW_OP_LOAD, WW_SPACE_SHARED), count(plain, WW_OP_LOAD, WW_SPACE_SHARED));
    assert_int_equal(count(changed, WW_OP_STORE, WW_SPACE_GLOBAL), count(plain, WW_OP_STORE, WW_SPACE_GLOBAL));
}

/* Of the two barriers of a step the one in front of the next step's copy protects the tile. */
static void the_barrier_that_protects_a_tile_stays(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(transform("d2_block", "kernel=mm", "sm_20", &error), WW_OK);
    assert_int_equal(2 * count(changed, WW_OP_BARRIER, WW_SPACE_NONE),
                     count(plain, WW_OP_BARRIER, WW_SPACE_NONE));
}

static void a_trace_without_copies_is_refused(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(transform("vectoradd", NULL, "sm_20", &error), WW_UNSUPPORTED);
    assert_non_null(strstr(error.text, "copies"));
}

static void a_value_that_is_computed_on_the_way_is_refused_or_left(void **state) {
    (void)state;
    struct ww_error error;
    enum ww_code code = transform("mv", NULL, "sm_20", &error); /* multiplied before it is stored */
    assert_int_equal(code, WW_UNSUPPORTED);
}

static int make_paths(void **state) {
    (void)state;
    int a = mkstemps(plain, 4), b = mkstemps(changed, 4);
    return a < 0 || b < 0 || close(a) || close(b);
}

static int remove_paths(void **state) {
    (void)state;
    return remove(plain) || remove(changed);
}

int main(void) {
    static char sm_20[] = "sm_20", sm_70[] = "sm_70";
    const struct CMUnitTest tests[] = {
        {"every_load_keeps_its_last_writer_sm_20", every_load_keeps_its_last_writer, NULL, NULL, sm_20},
        {"every_load_keeps_its_last_writer_sm_70", every_load_keeps_its_last_writer, NULL, NULL, sm_70},
        cmocka_unit_test(a_filter_keeps_no_load_store_branch_or_barrier_of_its_tile),
        cmocka_unit_test(the_barrier_that_protects_a_tile_stays),
        cmocka_unit_test(a_trace_without_copies_is_refused),
        cmocka_unit_test(a_value_that_is_computed_on_the_way_is_refused_or_left),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
