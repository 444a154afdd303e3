/* sass_fixture.c: see sass_fixture.h. */
#include "../../estimator/warpwatt.h"
#include "sass_fixture.h"

const unsigned sass_archs[] = {70, 75, 80, 86, 89, 90, 100, 120};
const size_t sass_arch_count = sizeof sass_archs / sizeof *sass_archs;

void sass_read(struct sass_text *t, const char *name) {
    char path[200];
    memset(t, 0, sizeof *t);
    snprintf(path, sizeof path, "tests/sass/%s.ptx", name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s: cannot be read", path);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    t->all = calloc(1, n + 1);
    assert_int_equal(fread(t->all, 1, n, f), n);
    fclose(f);
    assert_int_equal(sscanf(strstr(t->all, ".target"), ".target sm_%u", &t->sm), 1);
    const char *entry = strstr(t->all, ".visible .entry ");
    t->header = (size_t)(entry - t->all);
    while (entry) {
        size_t k = t->kernels++;
        assert_true(k < SASS_KERNELS);
        const char *next = strstr(entry + 1, ".visible .entry ");
        assert_int_equal(sscanf(entry, ".visible .entry %63[a-zA-Z0-9_]", t->name[k]), 1);
        t->at[k] = entry;
        t->length[k] = next ? (size_t)(next - entry) : strlen(entry);
        entry = next;
    }
}

void sass_free(struct sass_text *t) {
    free(t->all);
}

struct run {
    const char *kernel, *text;
    size_t n;
    const void *in;
    size_t in_bytes;
    void *out;
    size_t out_bytes;
    uint32_t ctas, threads;
};

static enum ww_code execute(struct ww_device *d, const struct run *r, struct ww_error *error) {
    struct ww_module *m;
    uint64_t args[2];
    WW_TRY(ww_device_module_text(d, r->text, r->n, "kernels.ptx", &m, error));
    WW_TRY(ww_device_alloc(d, r->in_bytes, &args[0], error));
    WW_TRY(ww_device_alloc(d, r->out_bytes, &args[1], error));
    WW_TRY(ww_device_write(d, args[0], r->in, r->in_bytes, error));
    WW_TRY(ww_device_memset(d, args[1], 0, r->out_bytes, error));
    struct ww_arg arg[2] = {{&args[0], 8}, {&args[1], 8}};
    uint32_t grid[3] = {r->ctas, 1, 1}, block[3] = {r->threads, 1, 1};
    WW_TRY(ww_device_launch(d, m, r->kernel, grid, block, 0, arg, 2, error));
    return ww_device_read(d, r->out, args[1], r->out_bytes, error);
}

static enum sass_outcome run(const struct run *r, const char *arch, enum ww_record_code how) {
    struct ww_record_options options = {.arch = arch, .code = how};
    struct ww_device *d;
    struct ww_error error = {0};
    assert_int_equal(ww_device_new(&options, NULL, &d, &error), WW_OK);
    enum ww_code code = execute(d, r, &error);
    ww_device_free_all(d);
    if (code == WW_OK) return SASS_RAN;
    bool no_ptxas = strncmp(error.text, "no ptxas", 8) == 0;
    if (!no_ptxas) fprintf(stderr, "%s, %s: %s: %s\n", r->kernel, arch ? arch : "PTX", error.where, error.text);
    return no_ptxas ? SASS_SKIPPED : SASS_FAILED;
}

enum sass_outcome sass_run_ptx(const struct sass_text *t, size_t kernel, const void *in, size_t in_bytes,
                               void *out, size_t out_bytes, uint32_t ctas, uint32_t threads) {
    char *text = malloc(t->header + t->length[kernel] + 1);
    memcpy(text, t->all, t->header);
    memcpy(text + t->header, t->at[kernel], t->length[kernel]);
    struct run r = {t->name[kernel], text, t->header + t->length[kernel], in, in_bytes, out, out_bytes, ctas,
                    threads};
    enum sass_outcome outcome = run(&r, NULL, WW_RECORD_PTX);
    free(text);
    return outcome;
}

enum sass_outcome sass_run_machine(const struct sass_text *t, size_t kernel, const char *arch, const void *in,
                                   size_t in_bytes, void *out, size_t out_bytes, uint32_t ctas,
                                   uint32_t threads) {
    struct run r = {t->name[kernel], t->all, strlen(t->all), in, in_bytes, out, out_bytes, ctas, threads};
    return run(&r, arch, WW_RECORD_SASS);
}
