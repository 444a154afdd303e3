/* test_ptx_link.c: modules of relocatable PTX become the text of one module. */
#include "../../traces/ptx/front/ir.h"
#include "../../traces/ptx/front/link.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define CALL(f) "{ call.uni " f "; }\n"
#define KERNEL(body) ".visible .entry k()\n{\n" body "ret;\n}\n"

static struct ww_buf out;
static struct ww_error error;

static enum ww_code join(const char *a, const char *b, bool library) {
    const struct ww_ptx_module m[2] = {{a, strlen(a), "a", false}, {b, strlen(b), "b", library}};
    ww_buf_free(&out);
    out = (struct ww_buf){0};
    memset(&error, 0, sizeof error);
    return ww_ptx_link(m, 2, &out, &error);
}

static unsigned count_of(const char *word) {
    unsigned n = 0;
    for (const char *p = out.p; (p = strstr(p, word)); p += strlen(word)) n++;
    return n;
}

static void assert_parses(void) {
    struct ptx_module *m = NULL;
    if (ww_ptx_module_parse(out.p, out.n, "linked", &m, &error) != WW_OK)
        fail_msg("%s: %s\n%s", error.where, error.text, out.p);
    ww_ptx_module_free(m);
}

static void a_declared_function_is_the_other_modules_definition(void **state) {
    (void)state;
    const char *a = HEAD ".extern .func f ();\n.extern .global .u32 v;\n" KERNEL(CALL("f"));
    const char *b = HEAD ".visible .global .u32 v = 3;\n.visible .func f()\n{\nret;\n}\n";
    assert_int_equal(join(a, b, false), WW_OK);
    assert_int_equal(count_of(".extern"), 0);
    assert_int_equal(count_of(".version"), 1);
    assert_int_equal(count_of(".global .u32 v"), 1);
    assert_parses();
}

static void two_strong_definitions_are_an_error(void **state) {
    (void)state;
    const char *strong = HEAD ".visible .func f()\n{\nret;\n}\n" KERNEL("");
    const char *other = HEAD ".visible .func f()\n{\nret;\n}\n.visible .entry k2()\n{\nret;\n}\n";
    assert_int_equal(join(strong, other, false), WW_INPUT);
    assert_string_equal(error.where, "b");
    assert_non_null(strstr(error.text, "symbol f is also defined in a"));
}

static void a_strong_definition_goes_before_a_weak_one(void **state) {
    (void)state;
    const char *weak = HEAD ".weak .func f()\n{\nbar.sync 0;\nret;\n}\n.visible .entry k2()\n{\nret;\n}\n";
    const char *strong = HEAD ".visible .func f()\n{\nret;\n}\n" KERNEL("");
    assert_int_equal(join(weak, strong, false), WW_OK);
    assert_int_equal(count_of("bar.sync"), 0);
    assert_parses();
    assert_int_equal(join(weak, HEAD ".weak .func f()\n{\nret;\n}\n" KERNEL(""), false), WW_OK);
    assert_int_equal(count_of("bar.sync"), 1); /* of weak ones the first */
}

static void names_of_a_module_alone_stay_apart(void **state) {
    (void)state;
    const char *a =
        HEAD ".global .u32 v = 1;\n.func f()\n{\nret;\n}\n" KERNEL(CALL("f") ".reg .u64 %r; mov.u64 %r, v;\n");
    const char *b =
        HEAD ".global .u32 v = 2;\n.func f()\n{\nret;\n}\n.visible .entry k2()\n{\n" CALL("f") "ret;\n}\n";
    assert_int_equal(join(a, b, false), WW_OK);
    assert_int_equal(count_of("call.uni f$0"), 1);
    assert_int_equal(count_of("call.uni f$1"), 1);
    assert_int_equal(count_of("mov.u64 %r, v$0"), 1);
    assert_parses();
}

static void source_files_keep_numbers_apart(void **state) {
    (void)state;
    const char *a = HEAD ".file 1 \"a.cu\"\n" KERNEL(".loc 1 3 0\n");
    const char *b = HEAD
        ".file 1 \"b.cu\"\n.visible .entry k2()\n{\n.loc 1 7 0, function_name $L, inlined_at 1 9 0\nret;\n}\n"
        ".section .debug_str\n{\n$L:\n.b8 0\n}\n";
    assert_int_equal(join(a, b, false), WW_OK);
    assert_non_null(strstr(out.p, ".file 2 \"b.cu\""));
    assert_non_null(strstr(out.p, ".loc 2 7 0\n"));
    assert_int_equal(count_of("debug_str"), 0);
    assert_parses();
}

static void a_library_that_nothing_needs_is_left_out(void **state) {
    (void)state;
    const char *library = HEAD ".visible .entry lk()\n{\nret;\n}\n.visible .func f()\n{\nret;\n}\n";
    assert_int_equal(join(HEAD KERNEL(""), library, true), WW_OK);
    assert_int_equal(count_of("lk"), 0);
    assert_int_equal(join(HEAD ".extern .func f();\n" KERNEL(CALL("f")), library, true), WW_OK);
    assert_int_equal(count_of(".visible .func f"), 2); /* known in front, and defined */
    assert_parses();
}

static void a_statement_without_end_is_an_error(void **state) {
    (void)state;
    assert_int_equal(join(HEAD KERNEL(""), HEAD ".visible .entry k2()\n{\nret;\n", false), WW_INPUT);
    assert_string_equal(error.where, "b");
    assert_int_equal(join(HEAD KERNEL(""), HEAD ".global .u32 v", false), WW_INPUT);
    assert_int_equal(join(HEAD KERNEL(""), HEAD "}", false), WW_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declared_function_is_the_other_modules_definition),
        cmocka_unit_test(two_strong_definitions_are_an_error),
        cmocka_unit_test(a_strong_definition_goes_before_a_weak_one),
        cmocka_unit_test(names_of_a_module_alone_stay_apart),
        cmocka_unit_test(source_files_keep_numbers_apart),
        cmocka_unit_test(a_library_that_nothing_needs_is_left_out),
        cmocka_unit_test(a_statement_without_end_is_an_error),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ww_buf_free(&out);
    return failed;
}
