/* Malformed Accel-Sim traces: each is an error that names the line. */
#include "accelsim_fixture.h"
#include "wwt_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GROUP(text) "#BEGIN_TB\nthread block = 0,0,0\n" text "#END_TB\n"
#define LINE(text) GROUP("warp = 0\ninsts = 1\n" text "\n")

/* The body's first line is line 15 of the text; `line` is counted in the body, from 1; 0: none is named. */
#define HEADER_LINES 14u

struct bad {
    const char *what;
    unsigned version;
    const char *more, *body;
    unsigned line;
    const char *text; /* part of the message */
};

static const struct bad bodies[] = {
    {"a pc that is no number", 3, NULL, LINE("xyz ffffffff 0 NOP 0 0"), 5, "\"xyz\"; expected a pc"},
    {"a pc over 32 bits", 3, NULL, LINE("100000000 ffffffff 0 NOP 0 0"), 5, "expected a pc"},
    {"a mask over 32 bits", 3, NULL, LINE("0010 1ffffffff 0 NOP 0 0"), 5, "expected a mask"},
    {"no mask", 3, NULL, LINE("0010"), 5, "the line ends; expected a mask"},
    {"no opcode", 3, NULL, LINE("0010 ffffffff 0"), 5, "expected an opcode"},
    {"a register's name", 3, NULL, LINE("0010 ffffffff 1 Q2 MOV 0 0"), 5, "\"Q2\"; expected a register"},
    {"a register over 255", 3, NULL, LINE("0010 ffffffff 1 R256 MOV 0 0"), 5, "\"R256\"; expected a register"},
    {"a count of registers", 3, NULL, LINE("0010 ffffffff x R2 MOV 0 0"), 5, "a number of registers"},
    {"too few registers", 3, NULL, LINE("0010 ffffffff 0 MOV 2 R1"), 5, "expected a register"},
    {"no width", 3, NULL, LINE("0010 ffffffff 0 NOP 0"), 5, "expected a memory width"},
    {"an address mode", 3, NULL, LINE("0010 ffffffff 1 R2 LDG 1 R4 4 7 0x0"), 5, "address mode 0"},
    {"too few addresses", 3, NULL, LINE("0010 00000007 1 R2 LDG 1 R4 4 0 0x0 0x4"), 5, "an address for each"},
    {"too few deltas", 3, NULL, LINE("0010 00000007 1 R2 LDG 1 R4 4 2 0x0 4"), 5, "a delta for each"},
    {"a stride over 32 bits", 3, NULL, LINE("0010 f 1 R2 LDG 1 R4 4 1 0x0 4294967296"), 5,
     "a stride of 32 bits"},
    {"an address over 64 bits", 3, NULL, LINE("0010 f 1 R2 LDG 1 R4 4 1 0x10000000000000000 4"), 5,
     "base address"},
    {"text behind the line", 5, NULL, LINE("0010 f 0 NOP 0 0 0 7 8"), 5, "\"7\"; expected the line's end"},
    {"values of another kind", 6, NULL, LINE("0010 f 0 NOP 0 0 0 0 Maybe"), 5, "expected Val or NoVal"},
    {"lanes beyond the block", 3, NULL, LINE("0010 ffffffff 0 NOP 0 0"), 5,
     "lanes that the warp does not have"},
    {"too few instructions", 3, NULL, GROUP("warp = 0\ninsts = 2\n0010 3 0 NOP 0 0\n"), 6,
     "has 1 instructions"},
    {"too many instructions", 3, NULL, GROUP("warp = 0\ninsts = 0\n0010 3 0 NOP 0 0\n"), 5, "\"insts\" says 0"},
    {"a warp that the block lacks", 3, NULL, GROUP("warp = 1\ninsts = 0\n"), 3, "a number up to 0"},
    {"a warp twice", 3, NULL, GROUP("warp = 0\ninsts = 0\nwarp = 0\n"), 5, "appears twice"},
    {"an instruction without its warp", 3, NULL, GROUP("0010 3 0 NOP 0 0\n"), 3,
     "\"warp = \" and \"insts = \" first"},
    {"insts before warp", 3, NULL, GROUP("insts = 3\n"), 3, "before \"warp\""},
    {"a CTA outside the grid", 3, NULL, "#BEGIN_TB\nthread block = 1,0,0\n", 2, "the grid has 1,1,1"},
    {"coordinates that are none", 3, NULL, "#BEGIN_TB\nthread block = 0,0\n", 2, "expected coordinates"},
    {"a CTA without coordinates", 3, NULL, "#BEGIN_TB\n#END_TB\n", 2, "without \"thread block"},
    {"a CTA within a CTA", 3, NULL, "#BEGIN_TB\nthread block = 0,0,0\n#BEGIN_TB\n", 3, "before the #END_TB"},
    {"a CTA twice", 3, NULL, GROUP("") GROUP(""), 6, "CTA number 0 appears twice"},
    {"the end within a CTA", 3, NULL, "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n", 3, "the file ends within"},
    {"text between CTAs", 3, NULL, GROUP("") "0010 3 0 NOP 0 0\n", 4, "expected #BEGIN_TB"},
    {"another CTA's line", 2, NULL, LINE("5 0 0 0 0010 3 0 NOP 0 0"), 5, "an instruction of CTA 5,0,0"},
    {"a raw CTA outside the grid", 3, NULL, "0 1 0 0 0010 3 0 NOP 0 0\n", 1, "the grid has 1,1,1"},
    {"a raw warp outside the block", 3, NULL, "0 0 0 1 0010 3 0 NOP 0 0\n", 1, "warp 1; the CTA has 1"},
    {"raw lines without CTAs", 3, NULL, "0 0 x 0010 3 0 NOP 0 0\n", 1, "CTA and warp numbers"},
    {"a raw CTA that goes on after its end", 3, NULL, "0 0 0 0 0010 3 0 EXIT 0 0\n0 0 0 0 0020 3 0 NOP 0 0\n",
     2, "appears twice"},
    {"a bulk transfer's mode", 6, NULL, LINE("0010 1 0 UTMALDG 0 16 0x0 0 64 0 9 1 0x0 0 0 NoVal"), 5,
     "address mode 3 or 4"},
    {"a bulk transfer's pieces", 6, NULL, LINE("0010 1 0 UTMALDG 0 16 0x0 0 64 0 3 2 0x0"), 5,
     "for each piece"},
};

static void test_malformed_lines_are_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const struct bad *b = &bodies[i];
        struct as_result r;
        char where[32];
        as_import(
            &(struct as_text){.version = b->version, .block = "(2,1,1)", .more = b->more, .body = b->body}, &r);
        snprintf(where, sizeof where, "text:%u", HEADER_LINES + b->line);
        if (r.code != WW_INPUT) fail_msg("%s: code %s", b->what, ww_code_name(r.code));
        if (strcmp(r.error.where, where) != 0) fail_msg("%s: at %s, not %s", b->what, r.error.where, where);
        if (!strstr(r.error.text, b->text)) fail_msg("%s: \"%s\"", b->what, r.error.text);
        as_free(&r);
    }
}

static const struct {
    const char *header;
    unsigned line;
    const char *text;
} headers[] = {
    {"-grid dim = (1,1,1)\n-block dim = (1,1,1)\n", 2, "no line \"-kernel name"},
    {"-kernel name = k\n-block dim = (1,1,1)\n", 2, "no line \"-grid dim"},
    {"-kernel name = k\n-grid dim = (1,1,1)\n", 2, "no line \"-block dim"},
    {"-kernel name = k\n-grid dim = (1,1)\n", 2, "expected three sizes"},
    {"-kernel name = k\n-grid dim = (0,1,1)\n", 2, "sizes from 1"},
    {"-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (2048,1,1)\n", 3, "at most 1024"},
    {"-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (65536,65536,65536)\n", 3, "at most 1024"},
    {"-shmem = many\n", 1, "expected a number"},
    {"-shmem base_addr = none\n", 1, "expected an address"},
    {"-accelsim tracer version = 7\n", 1, "expected 1 to 6"},
    {"-enable lineinfo = 2\n", 1, "expected a number up to 1"},
    {"-warpwatt launch = 1\n", 1, "expected shared and local bytes"},
    {"-warpwatt inst = 10 99 0 0\n", 1, "malformed \"-warpwatt inst\""},
    {"-warpwatt inst = 10 1 0 0 0 0 0 1 999:1 0 0 MOV MOV -\n", 1, "malformed \"-warpwatt inst\""},
    {"-warpwatt ctas = some\n", 1, "expected a number"},
    {"-warpwatt inst = 10 1 0 0 0 0 0 0 0 0 MOV MOV -\n-warpwatt inst = 10 1 0 0 0 0 0 0 0 0 MOV MOV -\n", 2,
     "pc 0x10 is declared twice"},
    {"", 0, "no line \"-kernel name"},
};

static void test_malformed_headers_are_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct as_result r;
        char where[32];
        as_import_bytes(headers[i].header, strlen(headers[i].header), &r);
        snprintf(where, sizeof where, "text:%u", headers[i].line);
        if (r.code != WW_INPUT || strcmp(r.error.where, where) != 0 || !strstr(r.error.text, headers[i].text))
            fail_msg("%s: %s: %s", headers[i].header, r.error.where, r.error.text);
        as_free(&r);
    }
}

static void test_lines_without_end_are_refused(void **state) {
    (void)state;
    size_t n = (size_t)3 << 20;
    char *text = malloc(n);
    struct as_result r;
    assert_non_null(text);
    memset(text, 'a', n);
    memcpy(text, "-kernel name = ", 15);
    as_import_bytes(text, n, &r);
    assert_int_equal(r.code, WW_INPUT);
    assert_string_equal(r.error.where, "text:1");
    as_free(&r);
    free(text);
}

static void test_zero_bytes_are_no_text(void **state) {
    (void)state;
    static const char head[] = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (1,1,1)\n#x\n";
    static const char line[] = "0 0 0 0 0010 1 0 NOP 0 0 \0 and more\n";
    static char large[1 << 19]; /* the line lies behind what is looked at to tell a .tracez */
    struct as_result r;
    memset(large, '\n', sizeof large);
    memcpy(large, head, sizeof head - 1);
    memcpy(large + sizeof large - sizeof line, line, sizeof line - 1);
    as_import_bytes(large, sizeof large - 1, &r);
    assert_int_equal(r.code, WW_INPUT);
    assert_string_equal(r.error.text, "a zero byte; expected text");
    as_free(&r);
}

static void test_a_zero_byte_in_a_short_file_is_no_tracez(void **state) {
    (void)state;
#define HEAD "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (1,1,1)\n"
    static const struct {
        char text[200];
        unsigned line;
    } bad[] = {
        {"-kernel name = k\n-grid dim\0 = (1,1,1)\n-block dim = (1,1,1)\n#x\n", 2},
        {HEAD "#BEGIN_TB\nthread block = 0,\0\0\0\0\0\0\0\0\0\0", 5},
        {HEAD "0 0 0 0 0010 1 0 EXIT 0 0\n0 0 \0\1\2\3\4\5\6\7\n", 5},
    };
#undef HEAD
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct as_result r;
        char where[32];
        as_import_bytes(bad[i].text, sizeof bad[i].text, &r);
        snprintf(where, sizeof where, "text:%u", bad[i].line);
        assert_int_equal(r.code, WW_INPUT);
        assert_string_equal(r.error.text, "a zero byte; expected text");
        assert_string_equal(r.error.where, where);
        as_free(&r);
    }
}

static void test_a_missing_declaration_is_an_error(void **state) {
    (void)state;
    struct as_result r;
    as_import(&(struct as_text){.version = 5,
                                .more = "-warpwatt launch = 0 0 sm_70\n"
                                        "-warpwatt inst = 10 1 0 0 0 0 0 0 0 0 MOV MOV -\n",
                                .body = GROUP("warp = 0\ninsts = 2\n0010 3 0 MOV 0 0 0\n0020 3 0 MOV 0 0 0\n")},
              &r);
    assert_int_equal(r.code, WW_INPUT);
    assert_string_equal(r.error.where, "text:22");
    as_free(&r);
}

static void test_failed_imports_leave_no_file(void **state) {
    (void)state;
    struct as_result r;
    as_import(&(struct as_text){.version = 3, .body = "#BEGIN_TB\n"}, &r);
    assert_int_equal(r.code, WW_INPUT);
    const char *path = ww_made_path(&r.arena, "imported.wwt");
    assert_null(fopen(path, "rb"));
    as_free(&r);
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_lines_are_named),
        cmocka_unit_test(test_malformed_headers_are_named),
        cmocka_unit_test(test_lines_without_end_are_refused),
        cmocka_unit_test(test_zero_bytes_are_no_text),
        cmocka_unit_test(test_a_zero_byte_in_a_short_file_is_no_tracez),
        cmocka_unit_test(test_a_missing_declaration_is_an_error),
        cmocka_unit_test(test_failed_imports_leave_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
