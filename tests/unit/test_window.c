/* The window of resident CTAs, with an executor that notes whose turn it is. */
#include "../../traces/ptx/exec/window.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define CTAS 3u
#define TURNS 2u /* of a CTA until it is done */

struct script {
    unsigned left[CTAS];
    char order[CTAS * TURNS + 1];
    unsigned count;
};

struct fake {
    struct script *script;
    unsigned index;
};

static struct fake fakes[CTAS];

static void *begin(void *run, uint64_t index) {
    struct fake *f = &fakes[index];
    f->script = run;
    f->index = (unsigned)index;
    f->script->left[index] = TURNS;
    return f;
}

static void end(void *cta) {
    (void)cta;
}

static bool turn(void *cta) {
    struct fake *f = cta;
    f->script->order[f->script->count++] = (char)('a' + f->index);
    f->script->left[f->index]--;
    return true;
}

static bool is_done(const void *cta) {
    const struct fake *f = cta;
    return f->script->left[f->index] == 0;
}

static enum ww_code record(void *cta, struct ww_error *error) {
    (void)cta, (void)error;
    return WW_OK;
}

static void stuck(void *cta, const char *text) {
    (void)cta, (void)text;
}

/* Whose turns they are while the CTAs' state and the recorded streams take so many bytes. */
static void run(struct script *s, uint64_t state, uint64_t bytes, uint64_t limit) {
    static const struct ww_cta_ops ops = {begin, end, turn, is_done, record, stuck};
    bool failed = false;
    enum ww_code code = WW_OK;
    struct ww_error error;
    struct ww_window_run r = {.ops = &ops,
                              .run = s,
                              .kernel = "k",
                              .cta_count = CTAS,
                              .state_bytes = &state,
                              .stream_bytes = &bytes,
                              .stream_limit = limit,
                              .failed = &failed,
                              .code = &code};
    memset(s, 0, sizeof *s);
    assert_int_equal(ww_window_run(&r, &error), WW_OK);
}

static void ctas_take_turns(void **state) {
    (void)state;
    struct script s;
    run(&s, 0, 600, 1000);
    assert_string_equal(s.order, "abcabc");
}

static void only_the_oldest_runs_above_two_thirds_of_the_limit(void **state) {
    (void)state;
    struct script s;
    run(&s, 0, 700, 1000);
    assert_string_equal(s.order, "aabbcc");
}

static void a_grid_that_fits_the_window_is_resident_as_a_whole(void **state) {
    (void)state;
    struct script s;
    run(&s, (uint64_t)100 << 20, 0, 1000);
    assert_string_equal(s.order, "abcabc");
    run(&s, (uint64_t)300 << 20, 0, 1000);
    assert_string_equal(s.order, "aabbcc");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_take_turns),
        cmocka_unit_test(a_grid_that_fits_the_window_is_resident_as_a_whole),
        cmocka_unit_test(only_the_oldest_runs_above_two_thirds_of_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
