/* CTAs that are under way when replay begins in the middle of a launch. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/core/launch/staggered_start.h"
#include "../../estimator/run/run_sample.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;

/* A kernel of three instructions: arithmetic, a load, a barrier. Warps of `STEPS` steps with a barrier after
 * every `PHASE` of them, the second warp with as many more as it has phases, and the exit. */
enum { ALU, LOAD, BAR, STEPS = 40, PHASE = 8, WARPS = 2, FIRST = 1000, CTAS = 4 };

struct fixture {
    struct ww_arena arena;
    struct ww_gpu *gpu;
    struct ww_inst inst[3];
    struct ww_launch launch;
    struct ww_step step[WARPS][2 * STEPS];
    struct ww_access access[WARPS][2 * STEPS];
    struct ww_warp_stream stream[WARPS];
};

static void add(struct fixture *f, uint32_t warp, uint32_t inst) {
    struct ww_warp_stream *s = &f->stream[warp];
    f->step[warp][s->step_count++] = (struct ww_step){inst, UINT32_MAX};
    if (inst == LOAD) f->access[warp][s->access_count++].base = s->step_count;
}

static void open_fixture(struct fixture *f) {
    memset(f, 0, sizeof *f);
    ww_arena_init(&f->arena, 0);
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &f->gpu, &error), WW_OK);
    f->inst[ALU] = (struct ww_inst){.op = WW_OP_INT};
    f->inst[LOAD] = (struct ww_inst){.op = WW_OP_LOAD, .space = WW_SPACE_GLOBAL, .flags = WW_INST_ACCESS};
    f->inst[BAR] = (struct ww_inst){.op = WW_OP_BARRIER};
    f->launch = (struct ww_launch){.inst = f->inst,
                                   .inst_count = 3,
                                   .warps_per_cta = WARPS,
                                   .block = {64, 1, 1},
                                   .grid = {5000, 1, 1},
                                   .cta_count = 5000,
                                   .shared_static = 48 * 1024 / CTAS};
    for (uint32_t w = 0; w < WARPS; w++) {
        f->stream[w] = (struct ww_warp_stream){.step = f->step[w], .access = f->access[w]};
        for (uint32_t i = 0; i < STEPS; i++) {
            add(f, w, i % 3 == 1 ? LOAD : ALU);
            if (i % PHASE == PHASE - 1) add(f, w, BAR);
            if (w && i % PHASE == 0) add(f, w, LOAD);
        }
        add(f, w, ALU);
    }
}

static void close_fixture(struct fixture *f) {
    ww_gpu_free(f->gpu);
    ww_arena_free(&f->arena);
}

static struct ww_cta_trace cta_of(struct fixture *f, uint64_t number) {
    return (struct ww_cta_trace){.index = number, .warp_count = WARPS, .warp = f->stream};
}

static void begin(struct fixture *f, struct ww_staggered_start *u, uint64_t first) {
    assert_int_equal(ww_staggered_start_begin(u, &f->gpu->spec, &f->launch, first, &f->arena, &error), WW_OK);
}

static uint32_t count(const struct ww_warp_stream *s, uint32_t inst) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->step_count; i++) n += s->step[i].inst == inst;
    return n;
}

/* Looks at what is left of each of the CTAs that fill the machine, k from 0 on, of a launch entered at FIRST.
 */
static void look_at_all(void (*look)(struct fixture *f, uint32_t k, const struct ww_cta_trace *cta)) {
    struct fixture f;
    struct ww_staggered_start u;
    open_fixture(&f);
    begin(&f, &u, FIRST);
    assert_int_equal(u.ctas, CTAS);
    for (uint32_t k = 0; k < CTAS * f.gpu->spec.sm_count; k++) {
        struct ww_cta_trace c = cta_of(&f, FIRST + k);
        ww_staggered_start_skip(&u, &c);
        look(&f, k, &c);
    }
    close_fixture(&f);
}

static void look_how_far(struct fixture *f, uint32_t k, const struct ww_cta_trace *c) {
    uint32_t sms = f->gpu->spec.sm_count, all = f->stream[0].step_count;
    double left = (double)c->warp[0].step_count / all, round = k / sms; /* the first SM gets CTAs 0, sms, ... */
    assert_true(left >= round / CTAS && left <= (round + 1) / CTAS + 1.0 / all);
}

static void ctas_that_fill_an_sm_are_as_far_as_if_dispatched_one_after_another(void **state) {
    (void)state;
    look_at_all(look_how_far);
}

static void ctas_of_a_round_are_not_in_step(void **state) {
    (void)state;
    struct fixture f;
    struct ww_staggered_start u;
    bool seen[2 * STEPS] = {false};
    uint32_t different = 0;
    open_fixture(&f);
    begin(&f, &u, FIRST);
    for (uint32_t k = 0; k < f.gpu->spec.sm_count; k++) {
        struct ww_cta_trace c = cta_of(&f, FIRST + k);
        ww_staggered_start_skip(&u, &c);
        different += !seen[c.warp[0].step_count];
        seen[c.warp[0].step_count] = true;
    }
    assert_true(different > 4);
    close_fixture(&f);
}

static void look_at_barriers(struct fixture *f, uint32_t k, const struct ww_cta_trace *c) {
    (void)f;
    (void)k;
    assert_int_equal(count(&c->warp[0], BAR), count(&c->warp[1], BAR));
    assert_true(c->warp[0].step_count > 0 && c->warp[1].step_count > 0);
}

static void warps_of_a_cta_have_passed_the_same_barriers(void **state) {
    (void)state;
    look_at_all(look_at_barriers);
}

static void look_at_accesses(struct fixture *f, uint32_t k, const struct ww_cta_trace *c) {
    (void)k;
    for (uint32_t w = 0; w < WARPS; w++) {
        const struct ww_warp_stream *s = &c->warp[w];
        uint32_t i = 0;
        assert_int_equal(count(s, LOAD), s->access_count);
        while (i < s->step_count && s->step[i].inst != LOAD) i++;
        if (s->access_count) assert_int_equal(s->access->base, s->step + i + 1 - f->step[w]);
    }
}

static void accesses_stay_with_their_steps(void **state) {
    (void)state;
    look_at_all(look_at_accesses);
}

static uint32_t left_of(struct fixture *f, uint64_t first, uint64_t cta) {
    struct ww_staggered_start u;
    begin(f, &u, first);
    struct ww_cta_trace c = cta_of(f, cta);
    ww_staggered_start_skip(&u, &c);
    return c.warp[0].step_count;
}

static void all_others_begin_at_their_beginning(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f);
    uint32_t all = f.stream[0].step_count, fill = CTAS * f.gpu->spec.sm_count;
    assert_true(left_of(&f, FIRST, FIRST) < all);
    assert_int_equal(left_of(&f, FIRST, FIRST + fill), all); /* behind those that fill the machine */
    assert_int_equal(left_of(&f, 0, 0), all);                /* the launch's first */
    f.inst[BAR].flags = WW_INST_SMEM_ALLOC;                  /* what is given back must have been taken */
    assert_int_equal(left_of(&f, FIRST, FIRST), all);
    f.inst[BAR].flags = 0;
    f.inst[LOAD].op = WW_OP_ASYNC_COPY;
    assert_int_equal(left_of(&f, FIRST, FIRST), all);
    close_fixture(&f);
}

/* Time and work of windows in the middle of a reduction of 130 waves, with seven waves before them, against the
 * full replay. CTAs that all begin at once issue 1.5 % less than they have, since what they leave undone grows.
 */
static void windows_issue_what_their_ctas_have(void **state) {
    (void)state;
    static const char *const parameter[] = {"n=1000000", "block=64", "per_thread=1"};
    char path[] = "/tmp/warpwatt-XXXXXX";
    int fd = mkstemp(path);
    struct ww_gpu *gpu;
    struct run r;
    struct ww_sampler s;
    double work = 0, issued = 0;
    size_t windows = 0;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    struct ww_record_options record = {.out_path = path, .arch = "sm_20"};
    struct ww_run_options o = {.gpu = gpu, .trace_path = path};
    assert_int_equal(ww_record_workload("reduction", parameter, 3, &record, NULL, &error), WW_OK);
    assert_int_equal(ww_run_open(&o, &r, &error), WW_OK);
    assert_int_equal(ww_sampler_begin(&r, &s, &error), WW_OK);
    for (size_t u = 0; u < s.frame.count; u++) {
        struct ww_measure m;
        if (s.frame.unit[u].kind != WW_UNIT_WINDOW || s.frame.unit[u].from == 0 || windows == 8) continue;
        assert_int_equal(ww_sampler_measure(&s, &s.frame, u, false, &m, &error), WW_OK);
        work += m.work;
        issued += m.instructions;
        windows++;
    }
    assert_int_equal(windows, 8);
    if (fabs(issued / work - 1) > 0.007) fail_msg("%+.2f %% of the work", 100 * (issued / work - 1));
    ww_run_close(&r, true);
    ww_gpu_free(gpu);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_that_fill_an_sm_are_as_far_as_if_dispatched_one_after_another),
        cmocka_unit_test(ctas_of_a_round_are_not_in_step),
        cmocka_unit_test(warps_of_a_cta_have_passed_the_same_barriers),
        cmocka_unit_test(accesses_stay_with_their_steps),
        cmocka_unit_test(all_others_begin_at_their_beginning),
        cmocka_unit_test(windows_issue_what_their_ctas_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
