/* Regions of shared memory, and that each transform keeps for every shared load the store that it reads. */
#include "../../estimator/warpwatt.h"
#include "../../traces/transform/regions.h"
#include "../timing/sm_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- regions of programs made by hand ---- */

struct made {
    struct program p;
    uint32_t store, load, bar, op;
};

/* Two warps execute the letters: S and L store and load words of their own, s and l all at the same place; | is
 * a barrier, anything else computes. */
static void make(struct made *m, const char *text) {
    program_init(&m->p, 1, 64, 1, 64);
    m->p.launch.shared_static = 1024;
    m->store = program_memory(&m->p, WW_OP_STORE, WW_SPACE_SHARED, 4, -1, 1);
    m->load = program_memory(&m->p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, -1);
    m->bar = program_inst(&m->p, WW_OP_BARRIER, -1, -1, -1);
    m->op = program_inst(&m->p, WW_OP_INT, 3, -1, -1);
    for (const char *c = text; *c; c++)
        for (uint32_t w = 0; w < 2; w++) {
            bool shared = *c == 's' || *c == 'l';
            if (strchr("SLsl", *c))
                program_access(&m->p, w, *c == 'S' || *c == 's' ? m->store : m->load, ALL,
                               shared ? 512 : w * 128, 4);
            else
                program_step(&m->p, w, *c == '|' ? m->bar : m->op, ALL);
        }
}

static void regions_are(const char *text, uint32_t count, const uint32_t (*span)[2]) {
    struct made m;
    struct ww_arena arena;
    struct ww_regions r;
    struct ww_error e;
    make(&m, text);
    ww_arena_init(&arena, 0);
    struct ww_cta_trace cta = {.warp_count = 2, .warp = m.p.stream};
    assert_int_equal(ww_regions_find(&m.p.launch, &cta, 0, &arena, &r, &e), WW_OK);
    assert_int_equal(r.count, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < 2; w++) {
            assert_int_equal(r.span[i * 2 + w].begin, span[i][0]);
            assert_int_equal(r.span[i * 2 + w].end, span[i][1]);
        }
    ww_arena_free(&arena);
    program_free(&m.p);
}

static void a_region_lasts_from_the_first_define_to_the_last_use(void **state) {
    (void)state;
    regions_are("..SS|.L..", 1, (const uint32_t[][2]){{2, 7}});
    regions_are("...", 0, NULL);
}

static void a_write_that_follows_a_use_and_a_barrier_opens_a_new_region(void **state) {
    (void)state;
    regions_are(".S|L.|S|L", 2, (const uint32_t[][2]){{1, 4}, {6, 9}});
    regions_are("S|.S|L", 1, (const uint32_t[][2]){{0, 6}}); /* no use before the second write */
    regions_are("SLSL", 1, (const uint32_t[][2]){{0, 4}});   /* no barrier */
}

static void updates_in_place_do_not_split(void **state) {
    (void)state;
    regions_are("S|LS|LS|L", 1, (const uint32_t[][2]){{0, 9}});
    regions_are("Ss|l|s|lL", 1, (const uint32_t[][2]){{0, 9}}); /* S is read by the last L */
}

static void a_region_of_one_phase_ends_at_its_last_access(void **state) {
    (void)state;
    regions_are(".SL.", 1, (const uint32_t[][2]){{1, 3}});
    regions_are(".SL..|.SL.|.", 2, (const uint32_t[][2]){{1, 3}, {7, 9}});
}

/* So that an allocation there stands before the warp's exit. */
static void a_warp_without_an_access_in_a_regions_only_phase_has_it_at_the_phases_start(void **state) {
    (void)state;
    struct made m;
    struct ww_arena arena;
    struct ww_regions r;
    struct ww_error e;
    ww_arena_init(&arena, 0);
    make(&m, ".|..");
    program_access(&m.p, 1, m.store, ALL, 0, 4);
    program_step(&m.p, 0, m.op, ALL);
    struct ww_cta_trace cta = {.warp_count = 2, .warp = m.p.stream};
    assert_int_equal(ww_regions_find(&m.p.launch, &cta, 0, &arena, &r, &e), WW_OK);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.span[0].begin, 2);
    assert_int_equal(r.span[0].end, 2);
    assert_int_equal(r.span[1].begin, 4);
    assert_int_equal(r.span[1].end, 5);
    ww_arena_free(&arena);
    program_free(&m.p);
}

static void regions_are_refused(struct made *m, const char *says) {
    struct ww_arena arena;
    struct ww_regions r;
    struct ww_error e;
    struct ww_cta_trace cta = {.warp_count = 2, .warp = m->p.stream};
    ww_arena_init(&arena, 0);
    assert_int_equal(ww_regions_find(&m->p.launch, &cta, 0, &arena, &r, &e), WW_UNSUPPORTED);
    assert_non_null(strstr(e.text, says));
    ww_arena_free(&arena);
}

static void bulk_transfers_are_refused(void **state) {
    (void)state;
    struct made m;
    make(&m, "S.L");
    m.p.inst[m.op].op = WW_OP_DMA;
    regions_are_refused(&m, "in bulk");
    program_free(&m.p);
}

static void barriers_of_some_threads_and_unequal_ones_are_refused(void **state) {
    (void)state;
    struct made m;
    make(&m, "S|L");
    m.p.inst[m.bar].barrier_threads = 32;
    regions_are_refused(&m, "barrier of some threads");
    m.p.inst[m.bar].barrier_threads = 0;
    program_step(&m.p, 1, m.bar, ALL);
    regions_are_refused(&m, "warp 1 comes to 2 barriers");
    program_free(&m.p);
}

/* ---- every shared load keeps its last writer ---- */

#define BYTES 32768
#define LANES (64 * 32)

/* By byte: who wrote it last, as a hash of warp, lane and how many times that warp has written it; by lane of
 * each warp: a hash of the writers of all that it has loaded. */
struct readers {
    uint64_t writer[BYTES], seen[LANES];
    uint16_t written[64][BYTES];
};

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static void follow_lane(struct readers *r, const struct ww_inst *in, uint32_t warp, uint32_t lane,
                        uint64_t at) {
    for (uint64_t b = at; b < at + in->width; b++) {
        assert_true(b < BYTES);
        if (in->op == WW_OP_STORE)
            r->writer[b] = 1 + warp * 32 + lane + ((uint64_t)++r->written[warp][b] << 32);
        else
            r->seen[warp * 32 + lane] = mix(r->seen[warp * 32 + lane], r->writer[b]);
    }
}

/* Follows a CTA barrier by barrier. Writers of another virtual CTA than the reader's would give other hashes,
 * since warps are numbered over the new CTA. */
static void follow(struct ww_trace *trace, uint64_t number, uint32_t first_warp, bool backward,
                   struct readers *r) {
    const struct ww_launch *l;
    struct ww_cta_trace cta;
    struct ww_error e;
    assert_int_equal(ww_trace_launch(trace, 0, &l, &e), WW_OK);
    assert_int_equal(ww_trace_load_cta(trace, 0, number, &cta, &e), WW_OK);
    uint32_t at[64] = {0};
    const struct ww_access *access[64];
    for (uint32_t w = 0; w < cta.warp_count; w++) access[w] = cta.warp[w].access;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < cta.warp_count; i++) {
            uint32_t w = backward ? cta.warp_count - 1 - i : i;
            const struct ww_warp_stream *s = &cta.warp[w];
            for (; at[w] < s->step_count; at[w]++) {
                const struct ww_inst *in = &l->inst[s->step[at[w]].inst];
                const struct ww_access *a = in->flags & WW_INST_ACCESS ? access[w]++ : NULL;
                uint32_t mask = s->step[at[w]].mask;
                if (in->op == WW_OP_BARRIER) {
                    at[w]++;
                    more = true;
                    break;
                }
                if (in->space != WW_SPACE_SHARED || !a) continue;
                for (uint32_t m = mask; m; m &= m - 1) {
                    uint32_t lane = (uint32_t)__builtin_ctz(m);
                    follow_lane(r, in, first_warp + w, lane, ww_region_lane_address(a, s->pool, mask, lane));
                }
            }
        }
    }
    ww_trace_release_cta(trace, &cta);
}

static void path_of(char path[64], const char *what) {
    snprintf(path, 64, "/tmp/test_transform-%ld-%s.wwt", (long)getpid(), what);
}

static struct ww_trace *open_trace(const char *path) {
    struct ww_trace *t;
    struct ww_error e;
    if (ww_trace_open(path, &t, &e) != WW_OK) fail_msg("%s: %s", e.where, e.text);
    return t;
}

/* Compares all CTAs of a trace and of what the transform makes of it, `join` by `join`. */
static void keeps_writers(const char *workload, const char *parameter, const struct ww_transform_options *o,
                          uint32_t join) {
    char from[64], to[64];
    const char *parameters[] = {"size=small", parameter};
    struct ww_record_stats stats;
    struct ww_error e;
    path_of(from, "from");
    path_of(to, "to");
    struct ww_record_options record = {.out_path = from, .arch = "sm_20"};
    assert_int_equal(ww_record_workload(workload, parameters, parameter ? 2 : 1, &record, &stats, &e), WW_OK);
    struct ww_trace *before = open_trace(from);
    if (ww_trace_transform(before, o, to, &e) != WW_OK) fail_msg("%s %s: %s", o->kind, workload, e.text);
    struct ww_trace *after = open_trace(to);
    assert_int_equal(ww_trace_verify(after, NULL, NULL, &e), WW_OK);
    const struct ww_launch *l;
    assert_int_equal(ww_trace_launch(before, 0, &l, &e), WW_OK);
    struct readers *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    for (uint64_t c = 0; c < l->cta_count; c += join) {
        memset(a, 0, sizeof *a);
        for (uint32_t v = 0; v < join && c + v < l->cta_count; v++) {
            memset(a->writer, 0, sizeof a->writer);
            follow(before, c + v, v * l->warps_per_cta, false, a);
        }
        /* in any order of warps between barriers: one that is missing shows in one of the two */
        for (int backward = 0; backward < 2; backward++) {
            memset(b, 0, sizeof *b);
            follow(after, c / join, 0, backward, b);
            assert_memory_equal(a->seen, b->seen, sizeof a->seen);
        }
    }
    free(a);
    free(b);
    ww_trace_close(before);
    ww_trace_close(after);
    unlink(from);
    unlink(to);
}

static void vtb_keeps_for_each_load_its_last_writer(void **state) {
    (void)state;
    const struct ww_transform_options two = {.kind = "vtb"}, four = {.kind = "vtb", .ctas = 4};
    keeps_writers("fft", NULL, &two, 2);
    keeps_writers("fft", "batch=6", &four, 4); /* the last joined CTA has two */
    keeps_writers("mv", NULL, &two, 2);
    keeps_writers("marching", NULL, &four, 4);
    keeps_writers("storegpu", "chunk=180", &two, 2);
    keeps_writers("scalarprod", NULL, &two, 2);
    keeps_writers("bytehist", NULL, &two, 2);
    keeps_writers("convolution", NULL, &two, 2);
}

static void vtb_pipe_keeps_for_each_load_its_last_writer(void **state) {
    (void)state;
    const struct ww_transform_options fft = {.kind = "vtb_pipe", .overlap = "20-59"};
    const struct ww_transform_options mv = {.kind = "vtb_pipe", .overlap = "18-24"};
    keeps_writers("fft", NULL, &fft, 2);
    keeps_writers("mv", NULL, &mv, 2);
}

static void co_vtb_keeps_for_each_load_its_last_writer(void **state) {
    (void)state;
    const struct ww_transform_options mc = {.kind = "co_vtb", .split = 6144},
                                      sto = {.kind = "co_vtb", .split = 64};
    keeps_writers("marching", NULL, &mc, 2);
    keeps_writers("storegpu", "chunk=116", &sto, 2);
}

static void allocation_keeps_for_each_load_its_last_writer(void **state) {
    (void)state;
    const struct ww_transform_options hw = {.kind = "hw"}, co = {.kind = "co_hw", .split = 6144};
    keeps_writers("fft", NULL, &hw, 1);
    keeps_writers("scalarprod", NULL, &hw, 1);
    keeps_writers("sad", NULL, &hw, 1); /* its last warp has fewer than 32 threads */
    keeps_writers("marching", NULL, &co, 1);
}

/* ---- what is refused ---- */

static void refused(const char *workload, const struct ww_transform_options *o, const char *text) {
    char from[64], to[64];
    const char *parameter = "size=small";
    struct ww_record_stats stats;
    struct ww_error e;
    path_of(from, "from");
    path_of(to, "to");
    struct ww_record_options record = {.out_path = from, .arch = "sm_20"};
    assert_int_equal(ww_record_workload(workload, &parameter, 1, &record, &stats, &e), WW_OK);
    struct ww_trace *t = open_trace(from);
    assert_int_not_equal(ww_trace_transform(t, o, to, &e), WW_OK);
    if (!strstr(e.text, text)) fail_msg("\"%s\" is not in \"%s\"", text, e.text);
    assert_int_not_equal(access(to, F_OK), 0);
    ww_trace_close(t);
    unlink(from);
}

static void what_cannot_be_applied_is_refused_with_the_reason(void **state) {
    (void)state;
    refused("fft", &(struct ww_transform_options){.kind = "vtb", .ctas = 5}, "joins 2 to 4");
    refused("fft", &(struct ww_transform_options){.kind = "vtp"}, "expected vtb");
    refused("fft", &(struct ww_transform_options){.kind = "vtb_pipe", .overlap = "1"}, "no line of --overlap");
    refused("fft", &(struct ww_transform_options){.kind = "co_vtb", .split = 9000}, "nothing public");
    refused("fft", &(struct ww_transform_options){.kind = "vtb", .split = 9}, "only co_vtb and co_hw split");
}

/* ---- what a machine makes of it ---- */

/* Cycles of a trace on one SM with 16 KiB of shared memory; *seen: its first launch. */
static uint64_t cycles_of(const char *path, const char *mechanism, struct ww_launch_result *seen) {
    const char *one = "sm.count=1", *mechanisms[] = {mechanism, "smem.extra=1"};
    struct ww_gpu *gpu;
    struct ww_result *r;
    struct ww_error e;
    assert_int_equal(ww_gpu_load("gtx480-16k", &one, 1, &gpu, &e), WW_OK);
    struct ww_run_options o = {
        .gpu = gpu, .trace_path = path, .mechanisms = mechanisms, .mechanism_count = mechanism ? 2 : 0};
    if (ww_run(&o, &r, &e) != WW_OK) fail_msg("%s: %s", e.where, e.text);
    uint64_t cycles = r->cycles;
    if (seen) *seen = r->launch[0];
    ww_result_free(r);
    ww_gpu_free(gpu);
    return cycles;
}

static void record_fft(const char *path, const char *variant) {
    const char *parameters[] = {"batch=2", variant};
    struct ww_record_stats stats;
    struct ww_error e;
    struct ww_record_options record = {.out_path = path, .arch = "sm_20"};
    assert_int_equal(ww_record_workload("fft", parameters, 2, &record, &stats, &e), WW_OK);
}

static uint64_t transformed(const char *from, const struct ww_transform_options *o, const char *mechanism,
                            struct ww_launch_result *seen) {
    char to[64];
    struct ww_error e;
    path_of(to, "to");
    struct ww_trace *t = open_trace(from);
    if (ww_trace_transform(t, o, to, &e) != WW_OK) fail_msg("%s", e.text);
    ww_trace_close(t);
    uint64_t cycles = cycles_of(to, mechanism, seen);
    unlink(to);
    return cycles;
}

/* Figure 4: back to back, joined, a step apart; figure 9: each allocating when it needs to. */
static void two_ctas_of_figure_4_are_done_sooner_the_more_they_overlap(void **state) {
    (void)state;
    char from[64];
    struct ww_launch_result one, joined, both;
    path_of(from, "from");
    record_fft(from, "variant=plain");
    uint64_t base = cycles_of(from, NULL, &one);
    uint64_t vtb = transformed(from, &(struct ww_transform_options){.kind = "vtb"}, NULL, &joined);
    uint64_t pipe =
        transformed(from, &(struct ww_transform_options){.kind = "vtb_pipe", .overlap = "20-59"}, NULL, NULL);
    uint64_t hw = transformed(from, &(struct ww_transform_options){.kind = "hw"}, "smem=dynamic", &both);
    assert_int_equal(one.ctas_per_sm, 1);
    assert_int_equal(joined.ctas_per_sm, 1);
    assert_int_equal(both.ctas_per_sm, 2);
    assert_true(vtb < base);
    assert_true(pipe < base);
    assert_true(hw < vtb);
    /* back to back: lifetimes do not overlap; with allocation they do, and each still uses it for itself */
    assert_true(one.counter[WW_C_CTA_CYCLES] <= base);
    assert_true(both.counter[WW_C_CTA_CYCLES] > hw);
    assert_true(both.counter[WW_C_SMEM_USED_CYCLES] <= hw);
    /* Figure 3: three barriers in each of four exchanges, and the three between them, of four warps. Before,
     * one in each and the three, of two warps of two CTAs. */
    assert_int_equal(one.counter[WW_C_BARRIER_WAITS], (4 + 3) * 2 * 2);
    assert_int_equal(joined.counter[WW_C_BARRIER_WAITS], (4 * 3 + 3) * 4);
    assert_int_equal(both.counter[WW_C_SMEM_ALLOC], 2 * 4);
    unlink(from);
}

/* By hand the kernel has the same allocations as the transform puts there. */
static void the_recorder_understands_the_allocations_of_a_kernel(void **state) {
    (void)state;
    char from[64];
    struct ww_launch_result r;
    path_of(from, "from");
    record_fft(from, "variant=hw");
    cycles_of(from, "smem=dynamic", &r);
    assert_int_equal(r.ctas_per_sm, 2);
    assert_int_equal(r.counter[WW_C_SMEM_ALLOC], 2 * 4);
    assert_int_equal(r.counter[WW_C_SMEM_FREE], 2 * 4);
    assert_true(r.counter[WW_C_SMEM_STALL] > 0);
    cycles_of(from, NULL, &r);
    assert_int_equal(r.ctas_per_sm, 1);
    assert_int_equal(r.counter[WW_C_SMEM_ALLOC], 0);
    assert_true(r.counter[WW_C_SMEM_USED_CYCLES] > 0);
    unlink(from);
}

/* Transformed again, two of its CTAs would hold one part. */
static void a_trace_that_allocates_is_not_transformed_again(void **state) {
    static const struct ww_transform_options all[] = {{.kind = "vtb"},
                                                      {.kind = "vtb_pipe", .overlap = "12-38"},
                                                      {.kind = "co_vtb", .split = 1000},
                                                      {.kind = "hw"},
                                                      {.kind = "co_hw", .split = 1000}};
    (void)state;
    char from[64], to[64];
    struct ww_error e;
    path_of(from, "from");
    path_of(to, "to");
    record_fft(from, "variant=hw");
    struct ww_trace *t = open_trace(from);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(ww_trace_transform(t, &all[i], to, &e), WW_UNSUPPORTED);
        assert_non_null(strstr(e.text, "allocates shared memory already"));
    }
    ww_trace_close(t);
    unlink(from);
}

static bool refuse(void *context, double part, uint64_t done, const char *unit) {
    (void)part, (void)unit;
    *(uint64_t *)context = done;
    return false;
}

static void a_transform_stops_when_it_is_asked_to_and_leaves_no_file(void **state) {
    (void)state;
    char from[64], to[64];
    uint64_t done = 0;
    struct ww_error e;
    path_of(from, "from");
    path_of(to, "to");
    record_fft(from, "variant=plain");
    struct ww_trace *t = open_trace(from);
    struct ww_transform_options o = {.kind = "hw", .progress = refuse, .context = &done};
    assert_int_equal(ww_trace_transform(t, &o, to, &e), WW_FAIL);
    assert_int_equal(done, 1); /* CTA */
    assert_int_not_equal(access(to, F_OK), 0);
    ww_trace_close(t);
    unlink(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_lasts_from_the_first_define_to_the_last_use),
        cmocka_unit_test(a_write_that_follows_a_use_and_a_barrier_opens_a_new_region),
        cmocka_unit_test(updates_in_place_do_not_split),
        cmocka_unit_test(a_region_of_one_phase_ends_at_its_last_access),
        cmocka_unit_test(a_warp_without_an_access_in_a_regions_only_phase_has_it_at_the_phases_start),
        cmocka_unit_test(bulk_transfers_are_refused),
        cmocka_unit_test(barriers_of_some_threads_and_unequal_ones_are_refused),
        cmocka_unit_test(vtb_keeps_for_each_load_its_last_writer),
        cmocka_unit_test(vtb_pipe_keeps_for_each_load_its_last_writer),
        cmocka_unit_test(co_vtb_keeps_for_each_load_its_last_writer),
        cmocka_unit_test(allocation_keeps_for_each_load_its_last_writer),
        cmocka_unit_test(two_ctas_of_figure_4_are_done_sooner_the_more_they_overlap),
        cmocka_unit_test(the_recorder_understands_the_allocations_of_a_kernel),
        cmocka_unit_test(a_transform_stops_when_it_is_asked_to_and_leaves_no_file),
        cmocka_unit_test(a_trace_that_allocates_is_not_transformed_again),
        cmocka_unit_test(what_cannot_be_applied_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
