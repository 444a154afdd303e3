/* test_ptxas.c: which ptxas is taken, what it is given, and that its code is kept. Shell scripts stand for it.
 */
#include "../../traces/sass/cubin/ptxas.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64];
static const char PTX[] = "// a comment\n.version 7.5\n.target sm_70\n.address_size 64\n.entry k() { ret; }\n";

static void path_of(const char *name, char out[160]) {
    snprintf(out, 160, "%s/%s", folder, name);
}

/* A tool of that version which knows those architectures. Its code is its arguments and the PTX; each run
 * leaves a line in NAME.runs. */
static void make_tool(const char *name, const char *version, const char *archs) {
    char path[160];
    path_of(name, path);
    FILE *f = fopen(path, "w");
    fprintf(
        f,
        "#!/bin/sh\n"
        "case $1 in\n"
        "--version) echo 'Cuda compilation tools, release 1, V%s'; exit;;\n"
        "--help) echo \"Allowed values for this option:  %s.\"; exit;;\n"
        "esac\n"
        "echo run >>%s.runs\n"
        "made=\"%s $1 $2\"; out=$4; shift 4\n"
        "while [ $# -gt 1 ]; do made=\"$made $1\"; shift; done\n"
        "if grep -q REFUSE \"$1\"; then echo \"ptxas $1, line 3; error   : no such thing\" >&2; exit 255; fi\n"
        "echo \"$made\" >$out; cat $1 >>$out\n",
        version, archs, path, name);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
}

static unsigned runs_of(const char *name) {
    char path[170];
    unsigned n = 0;
    snprintf(path, sizeof path, "%s/%s.runs", folder, name);
    FILE *f = fopen(path, "r");
    for (int c; f && (c = fgetc(f)) != EOF;) n += c == '\n';
    if (f) fclose(f);
    return n;
}

static void use(const char *first, const char *second) {
    char list[400];
    snprintf(list, sizeof list, "%s/%s%s%s%s%s", folder, first, second ? ":" : "", second ? folder : "",
             second ? "/" : "", second ? second : "");
    assert_int_equal(setenv("WARPWATT_PTXAS", list, 1), 0);
}

static enum ww_code compile(const char *text, uint32_t arch, const char *options, struct ww_ptxas_result *r,
                            struct ww_error *error) {
    const struct ww_ptxas_request q = {
        .text = text, .n = strlen(text), .name = "made", .arch = arch, .options = options};
    return ww_ptxas_compile(&q, r, error);
}

/* Compiles and expects this at the beginning of the code. */
static void assert_code(const char *text, uint32_t arch, const char *options, const char *begins, bool cached) {
    struct ww_ptxas_result r;
    struct ww_error error = {0};
    if (compile(text, arch, options, &r, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    if (strncmp(r.cubin.p, begins, strlen(begins)) != 0) fail_msg("'%.60s', expected '%s'", r.cubin.p, begins);
    assert_int_equal(r.cached, cached);
    ww_ptxas_result_free(&r);
}

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_ptxas-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int tear_down(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void the_tool_says_what_it_knows(void **state) {
    (void)state;
    struct ptxas_tool t = {0};
    assert_true(ww_ptxas_parse_version("Cuda compilation tools, release 12.4, V12.4.131\n", &t));
    assert_string_equal(t.version, "12.4.131");
    assert_int_equal(ww_ptxas_tool_ptx(&t), 84);
    ww_ptxas_parse_architectures("'compute_90','sm_52','sm_90','sm_90a','sm_100f'.", &t);
    assert_true(ww_ptxas_tool_supports(&t, 52, false));
    assert_true(ww_ptxas_tool_supports(&t, 90, true));
    assert_false(ww_ptxas_tool_supports(&t, 52, true));
    assert_false(ww_ptxas_tool_supports(&t, 100, false));
    assert_false(ww_ptxas_parse_version("something else", &t));
}

static void version_and_target_are_lowered_in_their_place(void **state) {
    (void)state;
    const char *text = "/* .version 1.0 */ // x\n.version 8.4\n.target sm_90a, debug\n.entry k(){}";
    struct ptxas_header h;
    struct ww_buf out = {0};
    assert_true(ww_ptxas_read_header(text, strlen(text), &h));
    assert_int_equal(h.version, 84);
    assert_int_equal(h.target, 90);
    assert_int_equal(h.suffix, 'a');
    assert_int_equal(ww_ptxas_lower_header(text, strlen(text), &h, 78, 70, false, &out, NULL), WW_OK);
    assert_string_equal(out.p, "/* .version 1.0 */ // x\n.version 7.8\n.target sm_70, debug\n.entry k(){}");
    ww_buf_free(&out);
    assert_false(ww_ptxas_read_header("no PTX", 6, &h));
}

static void the_first_tool_that_knows_the_architecture_is_taken(void **state) {
    (void)state;
    make_tool("new", "13.0.1", "'sm_75','sm_90'");
    make_tool("old", "12.4.1", "'sm_70','sm_75'");
    use("new", "old");
    assert_code(PTX, 90, NULL, "new -arch sm_90", false);
    assert_code(PTX, 75, NULL, "new -arch sm_75", false);
    assert_code(PTX, 70, NULL, "old -arch sm_70", false);
}

static void a_tool_that_reads_the_version_comes_before_one_that_needs_it_lowered(void **state) {
    (void)state;
    const char *text = ".version 9.0\n.target sm_75\n.entry k(){}";
    struct ww_ptxas_result r;
    make_tool("old", "12.4.1", "'sm_70','sm_75'");
    make_tool("new", "13.0.1", "'sm_75'");
    use("old", "new");
    assert_code(text, 75, NULL, "new -arch sm_75", false);
    assert_int_equal(compile(text, 70, NULL, &r, NULL), WW_OK);
    assert_true(r.lowered);
    assert_non_null(strstr(r.cubin.p, ".version 8.4\n.target sm_70\n"));
    assert_string_equal(r.origin, "ptxas 12.4.1 -arch sm_70");
    ww_ptxas_result_free(&r);
}

static void sm_75_stands_in_for_sm_70_and_says_so(void **state) {
    (void)state;
    struct ww_ptxas_result r;
    struct ww_error error;
    make_tool("new", "13.0.1", "'sm_75','sm_90'");
    use("new", NULL);
    assert_int_equal(compile(PTX, 70, NULL, &r, NULL), WW_OK);
    assert_true(r.substitute);
    assert_int_equal(r.arch, 75);
    ww_ptxas_result_free(&r);
    assert_int_equal(compile(PTX, 86, NULL, &r, &error), WW_UNSUPPORTED);
    assert_non_null(strstr(error.text, "no ptxas that supports sm_86"));
}

static void code_for_one_architecture_alone_keeps_its_suffix(void **state) {
    (void)state;
    const char *text = ".version 8.0\n.target sm_90a\n.entry k(){}";
    make_tool("both", "13.0.1", "'sm_90','sm_90a','sm_100'");
    use("both", NULL);
    assert_code(text, 90, NULL, "both -arch sm_90a\n.version 8.0\n.target sm_90a\n", false);
    assert_code(text, 100, NULL, "both -arch sm_100\n.version 8.0\n.target sm_90\n", false);
}

static void code_is_kept_by_text_options_and_version(void **state) {
    (void)state;
    make_tool("kept", "12.4.9", "'sm_70'");
    use("kept", NULL);
    assert_code(PTX, 70, NULL, "kept -arch sm_70", false);
    assert_code(PTX, 70, NULL, "kept -arch sm_70", true);
    assert_int_equal(runs_of("kept"), 1);
    assert_code(PTX, 70, "-O1", "kept -arch sm_70 -O1", false);
    assert_code(PTX, 70, "-O1", "kept -arch sm_70 -O1", true);
    make_tool("kept", "12.5.0", "'sm_70'");
    assert_code(PTX, 70, NULL, "kept -arch sm_70", false);
    assert_int_equal(runs_of("kept"), 3);
}

static void a_damaged_file_of_the_cache_is_compiled_again(void **state) {
    (void)state;
    char command[300];
    make_tool("hurt", "12.4.7", "'sm_70'");
    use("hurt", NULL);
    for (unsigned n = 1; n <= 3; n++) {
        assert_code(PTX, 70, NULL, "hurt -arch sm_70", false);
        assert_int_equal(runs_of("hurt"), n);
        const char *damage = n == 1 ? "truncate -s -1" : "sed -i s/hurt/HURT/";
        snprintf(command, sizeof command, "%s $(grep -l '12.4.7' %s/warpwatt/ptxas/*.cubin)", damage, folder);
        assert_int_equal(system(command), 0);
    }
}

static void a_cache_that_cannot_be_written_costs_time_only(void **state) {
    (void)state;
    make_tool("lost", "12.4.6", "'sm_70'");
    use("lost", NULL);
    setenv("XDG_CACHE_HOME", "/proc/nothing", 1);
    assert_code(PTX, 70, NULL, "lost", false);
    assert_code(PTX, 70, NULL, "lost", false);
    setenv("XDG_CACHE_HOME", folder, 1);
}

/* A file of the cache's own kind, used so many seconds ago. */
static void put_cached(const char *dir, char digit, size_t bytes, int seconds) {
    char path[300];
    struct timespec used[2] = {{0}};
    snprintf(path, sizeof path, "%s/%031d%c.cubin", dir, 0, digit);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t i = 0; i < bytes; i++) fputc('x', f);
    fclose(f);
    used[0].tv_sec = used[1].tv_sec = time(NULL) - seconds;
    assert_int_equal(utimensat(AT_FDCWD, path, used, 0), 0);
}

static bool is_cached(const char *dir, char digit) {
    char path[300];
    snprintf(path, sizeof path, "%s/%031d%c.cubin", dir, 0, digit);
    return access(path, F_OK) == 0;
}

static void files_unused_for_longest_leave_a_full_cache(void **state) {
    (void)state;
    char dir[200], other[300];
    path_of("trimmed", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    put_cached(dir, '1', 1000, 50);
    put_cached(dir, '2', 1000, 90);
    put_cached(dir, '3', 1000, 10);
    snprintf(other, sizeof other, "%s/notes.cubin", dir);
    fclose(fopen(other, "w"));
    ww_ptxas_cache_trim(dir, 3000);
    assert_true(is_cached(dir, '1') && is_cached(dir, '2') && is_cached(dir, '3'));
    ww_ptxas_cache_trim(dir, 2500);
    assert_true(is_cached(dir, '1') && !is_cached(dir, '2') && is_cached(dir, '3'));
    ww_ptxas_cache_trim(dir, 0);
    assert_false(is_cached(dir, '1') || is_cached(dir, '3'));
    assert_int_equal(access(other, F_OK), 0);
}

static void the_cache_keeps_its_limit(void **state) {
    (void)state;
    make_tool("limit", "12.4.4", "'sm_70'");
    use("limit", NULL);
    setenv("WARPWATT_PTXAS_CACHE_MB", "0", 1);
    assert_code(PTX, 70, NULL, "limit", false);
    assert_code(PTX, 70, NULL, "limit", false);
    setenv("WARPWATT_PTXAS_CACHE_MB", "1", 1);
    assert_code(PTX, 70, NULL, "limit", false);
    assert_code(PTX, 70, NULL, "limit", true);
    char dir[200];
    path_of("warpwatt/ptxas", dir);
    put_cached(dir, '4', 1 << 20, 50);
    assert_code(PTX, 70, "-O1", "limit", false);
    assert_false(is_cached(dir, '4'));
    assert_code(PTX, 70, NULL, "limit", true);
    unsetenv("WARPWATT_PTXAS_CACHE_MB");
}

static void a_killed_process_leaves_nothing_for_long(void **state) {
    (void)state;
    char left[200];
    path_of("warpwatt-tmp-999999999", left);
    assert_int_equal(mkdir(left, 0700), 0);
    make_tool("left", "12.4.3", "'sm_70'");
    use("left", NULL);
    const char *before = getenv("TMPDIR");
    setenv("TMPDIR", folder, 1);
    assert_code(PTX, 70, NULL, "left", false);
    assert_int_not_equal(access(left, F_OK), 0);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
}

static void what_ptxas_says_is_passed_on(void **state) {
    (void)state;
    struct ww_ptxas_result r;
    struct ww_error error;
    make_tool("says", "12.4.5", "'sm_70'");
    use("says", NULL);
    assert_int_equal(compile(".version 7.0\n.target sm_70\n// REFUSE", 70, NULL, &r, &error), WW_INPUT);
    assert_string_equal(error.where, "made");
    assert_string_equal(error.text,
                        "ptxas 12.4.5 refuses it for sm_70: ptxas made, line 3; error   : no such thing");
    static const char *const refused[] = {"-o /tmp/x", "-o=/tmp/x", "--output-file=x",  "-O1 -arch=sm_80",
                                          "-optf x",   "-optf=x",   "--options-file x", "--gpu-name sm_80"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(compile(PTX, 70, refused[i], &r, &error), WW_USAGE);
    assert_int_equal(compile("nonsense", 70, NULL, &r, &error), WW_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tool_says_what_it_knows),
        cmocka_unit_test(version_and_target_are_lowered_in_their_place),
        cmocka_unit_test(the_first_tool_that_knows_the_architecture_is_taken),
        cmocka_unit_test(a_tool_that_reads_the_version_comes_before_one_that_needs_it_lowered),
        cmocka_unit_test(sm_75_stands_in_for_sm_70_and_says_so),
        cmocka_unit_test(code_for_one_architecture_alone_keeps_its_suffix),
        cmocka_unit_test(code_is_kept_by_text_options_and_version),
        cmocka_unit_test(a_damaged_file_of_the_cache_is_compiled_again),
        cmocka_unit_test(a_cache_that_cannot_be_written_costs_time_only),
        cmocka_unit_test(files_unused_for_longest_leave_a_full_cache),
        cmocka_unit_test(the_cache_keeps_its_limit),
        cmocka_unit_test(a_killed_process_leaves_nothing_for_long),
        cmocka_unit_test(what_ptxas_says_is_passed_on),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
