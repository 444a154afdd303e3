/* sass_exec_fixture.c: a cubin made by hand around a list of instructions. */
#include "sass_exec_fixture.h"

void kernel_open(struct kernel_test *t, const struct code *code, size_t count) {
    static const char *externs[] = {"vprintf"}, *files[] = {""};
    struct mem_alloc *a;
    memset(t, 0, sizeof *t);
    for (size_t n = 0; n < count; n++) {
        t->raw[n][0] = code[n].low;
        t->raw[n][1] = code[n].high;
    }
    t->kernel = (struct ww_cubin_kernel){.name = "hand",
                                         .entry = true,
                                         .code_bytes = count * 16,
                                         .shared_bytes = 1024,
                                         .local_bytes = 32,
                                         .param_offset = 0x160,
                                         .param_bytes = 8,
                                         .bank = {{t->bank, sizeof t->bank}}};
    t->cubin = (struct ww_cubin){.arch = 75,
                                 .kernels = &t->kernel,
                                 .kernel_count = 1,
                                 .code = {(unsigned char *)t->raw, count * 16},
                                 .externs = externs,
                                 .extern_count = 1,
                                 .files = files,
                                 .file_count = 1};
    ww_mem_init(&t->mem, (uint64_t)1 << 30);
    assert_int_equal(ww_mem_new(&t->mem, BYTES, NULL, &a, &t->error), WW_OK);
    t->words = (uint32_t *)(void *)a->host;
    t->address = a->base;
}

static void keep(void *context, const struct ww_cta_trace *cta) {
    struct kernel_test *t = context;
    t->steps = cta->warp[0].step_count;
    for (uint32_t n = 0; n < t->steps && n < 256; n++) t->masks[n] = cta->warp[0].step[n].mask;
}

enum ww_code kernel_run(struct kernel_test *t, uint32_t ctas, uint32_t threads) {
    char where[] = "hand.cubin";
    t->cubin.where = where;
    enum ww_code code = ww_sx_kernel_new(&t->cubin, &t->kernel, &t->built, &t->error);
    if (code != WW_OK) return code;
    assert_int_equal(ww_sx_table(&t->recorder, t->built, &t->error), WW_OK);
    t->recorder.on_cta = keep;
    t->recorder.on_cta_context = t;
    struct sx_run r = {.mem = &t->mem,
                       .kernel = t->built,
                       .grid = {ctas, 1, 1},
                       .block = {threads, 1, 1},
                       .param = (const unsigned char *)&t->address,
                       .limit = t->limit,
                       .stream_limit = (uint64_t)64 << 20,
                       .recorder = &t->recorder};
    return ww_sx_run_grid(&r, &t->error);
}

void kernel_close(struct kernel_test *t) {
    ww_sx_kernel_free(t->built);
    ww_recorder_clear(&t->recorder);
    ww_mem_free_all(&t->mem);
}
