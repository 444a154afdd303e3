/* Finds the machine code in a file for `warpwatt disasm`. */
#include "disasm_input.h"
#include "../../estimator/base/infile.h"
#include "../sass/cubin/fatbin.h"
#include "../sass/cubin/ptxas.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 30)

struct search {
    const char *path;
    const struct disasm_wish *wish;
    disasm_visit *visit;
    void *context;
    unsigned found, passed; /* cubins that were visited; that are of another architecture */
};

static enum ww_code read_file(const char *path, struct ww_buf *out, struct ww_error *error) {
    FILE *f;
    WW_TRY(ww_infile_open(path, &f, error));
    enum ww_code code = WW_OK;
    char block[65536];
    size_t n;
    while (code == WW_OK && (n = fread(block, 1, sizeof block, f)) > 0) {
        ww_buf_append(out, block, n);
        if (out->failed) code = ww_fail_nomem(error, "a file");
        if (out->n > FILE_MAX) code = ww_fail(error, WW_INPUT, path, "larger than 1 GiB");
    }
    if (code == WW_OK && ferror(f)) code = ww_fail(error, WW_IO, path, "cannot read: %s", strerror(errno));
    fclose(f);
    return code;
}

static enum ww_code visit_cubin(struct search *s, const void *data, size_t n, struct ww_error *error) {
    struct ww_cubin *cubin;
    WW_TRY(ww_cubin_read(data, n, s->path, &cubin, error));
    enum ww_code code = WW_OK;
    if (s->wish->arch && cubin->arch != s->wish->arch)
        s->passed++;
    else {
        s->found++;
        code = s->visit(s->context, cubin, cubin->arch, NULL, 0, error);
    }
    ww_cubin_free(cubin);
    return code;
}

static enum ww_code visit_fatbin(struct search *s, const unsigned char *data, uint64_t n,
                                 struct ww_error *error) {
    struct fatbin_image image;
    uint64_t at = 0;
    bool more = true;
    for (;;) {
        WW_TRY(ww_fatbin_next(data, n, s->path, &at, &image, &more, error));
        if (!more) return WW_OK;
        if (image.kind != FATBIN_ELF) continue;
        if (image.arch < 70 || (s->wish->arch && image.arch != s->wish->arch)) {
            s->passed++;
            continue;
        }
        unsigned char *bytes;
        size_t size;
        WW_TRY(ww_fatbin_bytes(&image, s->path, &bytes, &size, error));
        enum ww_code code = ww_cubin_is(bytes, size) ? visit_cubin(s, bytes, size, error) : WW_OK;
        free(bytes);
        WW_TRY(code);
    }
}

/* Fat binaries lie at multiples of 8 in programs, objects and libraries, and alone at a file's start. */
static enum ww_code visit_fatbins(struct search *s, const unsigned char *data, size_t n,
                                  struct ww_error *error) {
    for (size_t at = 0; at + 16 <= n; at += 8) {
        uint32_t magic;
        memcpy(&magic, data + at, sizeof magic);
        if (magic != FATBIN_MAGIC) continue;
        uint64_t size = ww_fatbin_size(data + at, n - at);
        if (!size) continue;
        WW_TRY(visit_fatbin(s, data + at, size, error));
        at += (size - 1) / 8 * 8;
    }
    return WW_OK;
}

static enum ww_code visit_ptx(struct search *s, const struct ww_buf *text, struct ww_error *error) {
    struct ww_ptxas_request request = {
        .text = text->p, .n = text->n, .name = s->path, .arch = s->wish->arch, .options = s->wish->options};
    struct ww_ptxas_result result = {0};
    if (!request.arch)
        return ww_fail(error, WW_USAGE, s->path,
                       "is PTX; say with --arch for which architecture to compile it");
    WW_TRY(ww_ptxas_compile(&request, &result, error));
    struct ww_cubin *cubin;
    enum ww_code code = ww_cubin_read(result.cubin.p, result.cubin.n, s->path, &cubin, error);
    if (code == WW_OK) {
        s->found++;
        code = s->visit(s->context, cubin, cubin->arch, NULL, 0, error);
        ww_cubin_free(cubin);
    }
    ww_ptxas_result_free(&result);
    return code;
}

/* PTX has a .version directive before anything but comments and blanks; no binary kind begins with text. */
static bool is_ptx(const struct ww_buf *b) {
    const char *end = b->p + (b->n < 4096 ? b->n : 4096);
    for (const char *p = b->p; p + 8 <= end; p++) {
        if (!*p) return false;
        if (!memcmp(p, ".version", 8)) return true;
    }
    return false;
}

static enum ww_code visit_all(struct search *s, const struct ww_buf *b, struct ww_error *error) {
    if (s->wish->raw) return s->visit(s->context, NULL, s->wish->arch, b->p, b->n, error);
    if (ww_cubin_is(b->p, b->n)) return visit_cubin(s, b->p, b->n, error);
    if (b->n && is_ptx(b)) return visit_ptx(s, b, error);
    return visit_fatbins(s, (const unsigned char *)b->p, b->n, error);
}

enum ww_code ww_disasm_input(const char *path, const struct disasm_wish *wish, disasm_visit *visit,
                             void *context, struct ww_error *error) {
    struct search s = {.path = path, .wish = wish, .visit = visit, .context = context};
    struct ww_buf b = {0};
    enum ww_code code = read_file(path, &b, error);
    if (code == WW_OK) code = visit_all(&s, &b, error);
    ww_buf_free(&b);
    if (code != WW_OK || s.found || wish->raw) return code;
    if (s.passed)
        return ww_fail(error, WW_INPUT, path, "no machine code of the architecture wanted; %u of others",
                       s.passed);
    return ww_fail(error, WW_INPUT, path,
                   "no machine code: expected a cubin, a fat binary, a program with one, or PTX");
}
