/* test_sass_exec_programs.c: kernels as machine code that ptxas makes, against the same kernels as PTX: what
 * they leave in memory and print is equal. Skipped for an architecture that no ptxas here knows. */
#include "../../estimator/warpwatt.h"
#include "exec_test.h"
#include "skip.h"
#include <unistd.h>

#define WORDS 4096u

/* How a kernel is launched. */
struct program {
    const char *kernel;
    uint32_t grid[3], block[3], shared;
    int32_t n;
};

static const struct program flow[] = {
    {"stack_arrays", {1, 1, 1}, {128, 1, 1}, 0, 5},
    {"shared_pointers", {1, 1, 1}, {256, 1, 1}, 0, 9},
    {"function_table", {1, 1, 1}, {128, 1, 1}, 0, 9},
    {"recursion", {1, 1, 1}, {64, 1, 1}, 0, 3},
    {"constants", {1, 1, 1}, {64, 1, 1}, 0, 3},
    {"dynamic_shared", {1, 1, 1}, {128, 1, 1}, 512, 3},
    {"cases", {1, 1, 1}, {256, 1, 1}, 0, 3},
    {"loops", {1, 1, 1}, {256, 1, 1}, 0, 3},
    {"loops", {1, 1, 1}, {77, 1, 1}, 0, 4},
    {"shuffles", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"votes", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"masks", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"counts", {1, 1, 1}, {256, 1, 1}, 0, 31161},
    {"named_barriers", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"locks", {1, 1, 1}, {96, 1, 1}, 0, 3},
    {"handover", {4, 1, 1}, {48, 1, 1}, 0, 3},
    {"prints", {1, 1, 1}, {32, 1, 1}, 0, 3},
    {"heap", {1, 1, 1}, {64, 1, 1}, 0, 3},
    {"reads_after_barriers", {1, 1, 1}, {256, 1, 1}, 0, 5},
    {"specials", {3, 2, 2}, {8, 4, 3}, 0, 3},
    {"spaces", {1, 1, 1}, {3, 1, 1}, 0, 1},
};

static const struct program atomics[] = {
    {"global_words", {2, 1, 1}, {128, 1, 1}, 0, 3},  {"global_wide", {2, 1, 1}, {128, 1, 1}, 0, 3},
    {"global_floats", {2, 1, 1}, {64, 1, 1}, 0, 3},  {"shared_words", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"generic_words", {1, 1, 1}, {128, 1, 1}, 0, 3},
};

static const struct program async[] = {
    {"copies", {1, 1, 1}, {128, 1, 1}, 0, 3},  {"partial_copies", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"matrices", {1, 1, 1}, {64, 1, 1}, 0, 3}, {"reductions", {1, 1, 1}, {64, 1, 1}, 0, 30000},
    {"arrivals", {1, 1, 1}, {96, 1, 1}, 0, 5}, {"copy_arrivals", {1, 1, 1}, {128, 1, 1}, 0, 3},
    {"halves", {1, 1, 1}, {128, 1, 1}, 0, 3},
};

/* What a run leaves: the buffer, and what it printed. */
struct result {
    uint32_t word[WORDS];
    char text[2048];
    uint64_t threads;
};

static enum ww_code run(const char *ptx, const struct program *p, enum ww_record_code code, const char *arch,
                        struct result *r, struct ww_error *error) {
    struct ww_device *d;
    struct ww_module *m;
    FILE *out = tmpfile();
    struct ww_record_options options = {.kernel_output = out, .code = code, .arch = arch};
    uint64_t address = 0;
    memset(r, 0, sizeof *r);
    enum ww_code c = ww_device_new(&options, NULL, &d, error);
    if (c != WW_OK) return c;
    for (uint32_t n = 0; n < WORDS; n++) r->word[n] = n * 2654435761u;
    if (strcmp(p->kernel, "locks") == 0 || strcmp(p->kernel, "handover") == 0)
        r->word[1024] = r->word[1025] = 0;
    c = ww_device_module_file(d, ptx, &m, error);
    if (c == WW_OK) c = ww_device_alloc(d, sizeof r->word, &address, error);
    if (c == WW_OK) c = ww_device_write(d, address, r->word, sizeof r->word, error);
    struct ww_arg args[2] = {{&address, 8}, {&p->n, 4}};
    if (c == WW_OK) c = ww_device_launch(d, m, p->kernel, p->grid, p->block, p->shared, args, 2, error);
    if (c == WW_OK) c = ww_device_read(d, r->word, address, sizeof r->word, error);
    r->threads = ww_device_executed(d);
    ww_device_free_all(d);
    rewind(out);
    r->text[fread(r->text, 1, sizeof r->text - 1, out)] = 0;
    fclose(out);
    return c;
}

/* False if no ptxas knows the architecture. */
static bool compare(const char *ptx, const struct program *p, const char *arch) {
    static struct result ours, theirs;
    struct ww_error error = {0};
    if (run(ptx, p, WW_RECORD_PTX, arch, &theirs, &error) != WW_OK)
        fail_msg("%s as PTX: %s: %s", p->kernel, error.where, error.text);
    enum ww_code code = run(ptx, p, WW_RECORD_SASS, arch, &ours, &error);
    if (code == WW_UNSUPPORTED && strstr(error.text, "no ptxas")) return false;
    if (code != WW_OK) fail_msg("%s on %s: %s: %s", p->kernel, arch, error.where, error.text);
    for (uint32_t n = 0; n < WORDS; n++)
        if (ours.word[n] != theirs.word[n])
            fail_msg("%s on %s: word %u is 0x%x, as PTX 0x%x", p->kernel, arch, n, ours.word[n],
                     theirs.word[n]);
    if (strcmp(ours.text, theirs.text))
        fail_msg("%s on %s printed '%s', as PTX '%s'", p->kernel, arch, ours.text, theirs.text);
    return true;
}

/* On all architectures from number `from` of the list on. */
static void programs(const char *ptx, const struct program *list, size_t count, size_t from) {
    static const char *const arch[] = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"};
    bool any = false;
    for (size_t a = from; a < sizeof arch / sizeof *arch; a++) {
        bool known = true;
        for (size_t n = 0; n < count && known; n++) known = compare(ptx, &list[n], arch[a]);
        any = any || known;
    }
    if (!any) SKIP_BECAUSE("there is no ptxas for any of its architectures");
}

static void control_flow(void **state) {
    (void)state;
    programs("tests/sass/exec_flow.ptx", flow, sizeof flow / sizeof *flow, 0);
}

static void atomic_operations(void **state) {
    (void)state;
    programs("tests/sass/exec_atomic.ptx", atomics, sizeof atomics / sizeof *atomics, 0);
}

static void asynchronous_copies(void **state) {
    (void)state;
    programs("tests/sass/exec_async.ptx", async, sizeof async / sizeof *async, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(control_flow), cmocka_unit_test(atomic_operations),
                                       cmocka_unit_test(asynchronous_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
