/* Importing text from memory. */
#include "../../estimator/warpwatt.h"
#include "accelsim_fixture.h"
#include "wwt_fixture.h"
#include "../../estimator/base/buf.h"
#include "../../traces/accelsim/import.h"
#include <stdlib.h>
#include <string.h>

const char *as_header(struct ww_arena *arena, const struct as_text *t) {
    const char *version =
        t->version ? ww_arena_printf(arena, "-accelsim tracer version = %u\n", t->version) : "";
    return ww_arena_printf(arena,
                           "-kernel name = k\n-kernel id = 1\n-grid dim = %s\n-block dim = %s\n-shmem = 64\n"
                           "-nregs = 20\n-binary version = 70\n-cuda stream id = 0\n"
                           "-shmem base_addr = 0x00007f0002000000\n-local mem base_addr = 0x00007f0000000000\n"
                           "-nvbit version = 1.5\n%s%s\n#traces format = made up\n",
                           t->grid ? t->grid : "(1,1,1)", t->block ? t->block : "(32,1,1)", version,
                           t->more ? t->more : "");
}

static void load(struct as_result *r, const char *path) {
    if (r->code != WW_OK) return;
    r->code = ww_trace_open(path, &r->trace, &r->error);
    if (r->code != WW_OK) return;
    r->code = ww_trace_verify(r->trace, NULL, NULL, &r->error);
    if (r->code == WW_OK) r->code = ww_trace_launch(r->trace, 0, &r->launch, &r->error);
    if (r->code != WW_OK || !ww_trace_has_cta(r->trace, 0, 0)) return;
    r->code = ww_trace_load_cta(r->trace, 0, 0, &r->cta, &r->error);
    r->has_cta = r->code == WW_OK;
}

static void import(const void *data, size_t n, bool strict, size_t limit, struct as_result *r) {
    struct ww_as_import *im = calloc(1, sizeof *im);
    struct ww_as_input *in;
    const struct ww_trace_meta meta = {.program = "made up"};
    const char *path = ww_made_path(&r->arena, "imported.wwt");
    struct ww_import_options options = {.out_path = path, .strict = strict};
    if (!im) abort();
    r->code = ww_as_input_memory(data, n, "text", &in, &r->error);
    if (r->code == WW_OK) {
        r->code = ww_as_import_begin(im, &options, &r->stats, &meta, &r->error);
        if (limit) im->open_limit = limit;
        if (r->code == WW_OK) r->code = ww_as_import_file(im, in, &r->error);
        r->code = ww_as_import_end(im, r->code, &r->error);
        ww_as_input_close(in);
    }
    free(im);
    load(r, path);
}

void as_import_bytes(const void *data, size_t n, struct as_result *r) {
    memset(r, 0, sizeof *r);
    ww_arena_init(&r->arena, 0);
    import(data, n, false, 0, r);
}

void as_import(const struct as_text *t, struct as_result *r) {
    memset(r, 0, sizeof *r);
    ww_arena_init(&r->arena, 0);
    const char *text = ww_arena_printf(&r->arena, "%s%s", as_header(&r->arena, t), t->body);
    if (!text) abort();
    import(text, strlen(text), t->strict, t->open_limit, r);
}

void as_import_lines(const char *const *line, size_t count, struct as_result *r) {
    struct ww_buf b = {0};
    ww_buf_printf(&b, "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %zu\n", count);
    for (size_t i = 0; i < count; i++) ww_buf_printf(&b, "%s\n", line[i]);
    ww_buf_puts(&b, "#END_TB\n");
    as_import(&(struct as_text){.version = 5, .body = b.p}, r);
    ww_buf_free(&b);
}

void as_free(struct as_result *r) {
    if (r->has_cta) ww_trace_release_cta(r->trace, &r->cta);
    ww_trace_close(r->trace);
    ww_arena_free(&r->arena);
}

const struct ww_inst *as_inst(const struct as_result *r, uint32_t warp, uint32_t step) {
    if (r->code != WW_OK || warp >= r->cta.warp_count || step >= r->cta.warp[warp].step_count) abort();
    return &r->launch->inst[r->cta.warp[warp].step[step].inst];
}

uint64_t as_address(const struct as_result *r, uint32_t warp, uint32_t step, uint32_t access, unsigned lane) {
    const struct ww_warp_stream *s = &r->cta.warp[warp];
    uint64_t address[32];
    uint32_t mask = s->step[step].mask;
    if (access >= s->access_count || !(mask >> lane & 1)) abort();
    ww_made_addresses(mask, &s->access[access], s->pool, address);
    return address[__builtin_popcount(mask & ((1u << lane) - 1))];
}
