/* The suite core: its listing, and what texts in it say of the bits beside them. */
#include "../../estimator/study/validate/core/core_int.h"
#include "../../traces/sass/code/sass_decode.h"
#include "../../traces/sass/code/sass_print.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GPU "gpu g v100\n"

extern const char ww_core_sass[];
extern const size_t ww_core_sass_size;
extern const char ww_tensor_sass[];
extern const size_t ww_tensor_sass_size;

static struct ww_arena arena;
static struct ww_error error;
static struct core_suite suite;

static int start(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int stop(void **state) {
    (void)state;
    ww_arena_free(&arena);
    return 0;
}

static enum ww_code parse(const char *text) {
    return ww_core_read(text, strlen(text), "t.sass", &arena, &suite, &error);
}

/* An instruction of the committed listing, to make listings of. */
static const char *some_instruction(char line[40]) {
    const char *p = strstr(ww_core_sass, "\nturn\n");
    assert_non_null(p);
    for (p += 6; strspn(p, "0123456789abcdef") != 32;) p = strchr(p, '\n') + 1;
    memcpy(line, p, 32);
    line[32] = 0;
    return line;
}

static void kernels_have_a_path_of_what_is_executed(void **state) {
    (void)state;
    char hex[40], text[512];
    some_instruction(hex);
    snprintf(text, sizeof text,
             "gpu g v100\nkernel k sm_70\n%s\nturn\nrepeat 3\n%s\nend\nskip 2\n> %s\nrun id g turns=2\n", hex,
             hex, hex);
    assert_int_equal(parse(text), WW_OK);
    const struct core_kernel *k = &suite.kernel[0];
    assert_int_equal(k->inst_count, 7);
    assert_int_equal(k->path_count, 5);
    assert_int_equal(k->turn, 1);
    assert_int_equal(k->path[4], 6);
    assert_int_equal(k->inst[6].pc, 6 * SASS_INSN_BYTES);
    assert_int_equal(k->first, 6);
    assert_int_equal(k->run[0].of, 1); /* the last turn */
}

static void a_listing_that_is_wrong_is_refused_with_its_line(void **state) {
    (void)state;
    static const char *const bad[] = {
        "kernel k\n",                               /* no architecture */
        "kernel k sm_70\n12ab\n",                   /* neither a keyword nor bits */
        "kernel k sm_70\nend\n",                    /* nothing to repeat */
        "kernel k sm_70\nrepeat 0\n",               /* no number of copies */
        "kernel k sm_70\nskip 1\n",                 /* nothing before */
        "kernel k sm_70\nrun id g\n",               /* no such GPU */
        GPU "kernel k sm_70\nrun id g\n",           /* nothing is timed */
        GPU "kernel k sm_70\nrun id g turns=3:2\n", /* nothing between them */
        GPU "kernel k sm_70\nrun id g turns=1:2 per=0\n",
        GPU "kernel k sm_70\nrun id g turns=1:2 speed=3\n",
        "gpu g\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i]), WW_INPUT);
        assert_non_null(strstr(error.where, "t.sass:"));
    }
}

/* Text behind the bits, from the third run of blanks on: "HEX  CONTROL  TEXT". */
static void check_text(const char *line, unsigned arch) {
    struct ww_sass_insn insn;
    char half[17] = {0}, text[256];
    uint64_t raw[2];
    memcpy(half, line, 16);
    raw[1] = strtoull(half, NULL, 16);
    memcpy(half, line + 16, 16);
    raw[0] = strtoull(half, NULL, 16);
    assert_int_equal(ww_sass_decode(arch, raw, 0, "core.sass", &insn, &error), WW_OK);
    ww_sass_print(&insn, text, sizeof text);
    /* Targets of branches are relative to where the code was compiled. */
    text[strcspn(text, " ")] = 0;
    const char *end = strchr(line, '\n');
    char all[400] = {0};
    memcpy(all, line, (size_t)(end - line) < sizeof all - 1 ? (size_t)(end - line) : sizeof all - 1);
    if (!strstr(all, text)) fail_msg("\"%s\" is not in \"%s\"", text, all);
}

static unsigned check_texts(const char *listing) {
    unsigned arch = 0, count = 0;
    for (const char *p = listing; p && *p; p = strchr(p, '\n'), p += p != NULL) {
        if (strncmp(p, "kernel ", 7) == 0) arch = (unsigned)strtoul(strstr(p, "sm_") + 3, NULL, 10);
        if (strncmp(p, "> ", 2) == 0) p += 2;
        if (strspn(p, "0123456789abcdef") != 32) continue;
        check_text(p, arch);
        count++;
    }
    return count;
}

static void texts_are_those_of_the_bits(void **state) {
    (void)state;
    assert_true(check_texts(ww_core_sass) > 1000);
    assert_true(check_texts(ww_tensor_sass) > 200);
}

/* Every run has its target, and every target of the suite a run. */
static char of_matrices;

static void runs_and_targets_belong_together(void **state) {
    const struct ww_target *target;
    size_t count, of_core = 0, runs = 0;
    bool of_tensor = state != NULL && *state == &of_matrices;
    const char *listing = of_tensor ? ww_tensor_sass : ww_core_sass, *prefix = of_tensor ? "tensor-" : "core-";
    size_t size = of_tensor ? ww_tensor_sass_size : ww_core_sass_size;
    assert_int_equal(ww_core_read(listing, size, "core.sass", &arena, &suite, &error), WW_OK);
    assert_int_equal(ww_targets_read(&arena, &target, &count, &error), WW_OK);
    for (uint32_t k = 0; k < suite.kernel_count; k++)
        for (uint32_t i = 0; i < suite.kernel[k].run_count; i++, runs++) {
            bool found = false;
            for (size_t t = 0; t < count; t++) found |= strcmp(target[t].id, suite.kernel[k].run[i].id) == 0;
            if (!found) fail_msg("no target %s", suite.kernel[k].run[i].id);
        }
    for (size_t t = 0; t < count; t++) of_core += strncmp(target[t].id, prefix, strlen(prefix)) == 0;
    assert_int_equal(of_core, runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernels_have_a_path_of_what_is_executed, start, stop),
        cmocka_unit_test_setup_teardown(a_listing_that_is_wrong_is_refused_with_its_line, start, stop),
        cmocka_unit_test_setup_teardown(texts_are_those_of_the_bits, start, stop),
        cmocka_unit_test_setup_teardown(runs_and_targets_belong_together, start, stop),
        cmocka_unit_test_prestate_setup_teardown(runs_and_targets_belong_together, start, stop, &of_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
