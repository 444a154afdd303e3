/* Decoders of compressed text. */
#include "input.h"
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define XZ_MEMORY ((uint64_t)100 << 20) /* xz -9 takes 65 MB */
#define ZSTD_WINDOW_LOG 26              /* 64 MB; --ultra and --long beyond it are refused */

enum kind { PLAIN, GZ, XZ, ZST, TRACEZ };

struct ww_as_decoder {
    enum kind kind;
    struct ww_as_source *source;
    unsigned char *in;
    size_t at, end;
    bool source_ended, between; /* between: at the start of a member or frame, where the file may end */
    z_stream gz;
    lzma_stream xz;
    ZSTD_DCtx *zstd;
    struct ww_as_tracez *tracez;
};

/* True if there are header lines only, of text, until a NUL, and binary sizes behind it. Text with a NUL in it,
 * as of a damaged disk, is no tracez data. */
static bool is_tracez(const unsigned char *p, size_t n) {
    const unsigned char *nul = memchr(p, 0, n), *end = p + n;
    if (!nul || *p != '-') return false;
    for (const unsigned char *line = p; line && line < nul;) {
        if (!strchr("-#\r\n", *line) || strncmp((const char *)line, "#BEGIN_TB", 9) == 0) return false;
        line = memchr(line, '\n', (size_t)(nul - line));
        if (line) line++;
    }
    for (const unsigned char *size = nul + 1; size < end && size < nul + 9; size++)
        if (*size < '\t' || *size > '~') return true;
    return false;
}

static enum kind guess(const unsigned char *p, size_t n) {
    static const unsigned char xz[6] = {0xfd, '7', 'z', 'X', 'Z', 0}, zst[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b) return GZ;
    if (n >= 6 && memcmp(p, xz, 6) == 0) return XZ;
    if (n >= 4 && memcmp(p, zst, 4) == 0) return ZST;
    return is_tracez(p, n) ? TRACEZ : PLAIN;
}

static enum ww_code set_up(struct ww_as_decoder *d, struct ww_error *error) {
    bool ok = true;
    if (d->kind == GZ) ok = inflateInit2(&d->gz, 15 + 16) == Z_OK;
    if (d->kind == XZ) ok = lzma_stream_decoder(&d->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
    if (d->kind == ZST) {
        d->zstd = ZSTD_createDCtx();
        ok = d->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
    }
    if (!ok) return ww_fail_nomem(error, "a decompressor");
    return d->kind == TRACEZ ? ww_as_tracez_new(d->source, &d->tracez, error) : WW_OK;
}

enum ww_code ww_as_decoder_new(struct ww_as_source *s, struct ww_as_decoder **decoder, struct ww_error *error) {
    static const lzma_stream none = LZMA_STREAM_INIT;
    struct ww_as_decoder *d = calloc(1, sizeof *d);
    *decoder = d; /* the caller frees it after an error too */
    if (!d) return ww_fail_nomem(error, "a decompressor");
    d->source = s;
    d->xz = none;
    d->between = true;
    d->in = calloc(1, WW_AS_WINDOW);
    if (!d->in) return ww_fail_nomem(error, "a decompressor");
    while (d->end < WW_AS_WINDOW) {
        size_t got;
        WW_TRY(ww_as_read(s, d->in + d->end, WW_AS_WINDOW - d->end, &got, error));
        if (!got) break;
        d->end += got;
    }
    d->kind = guess(d->in, d->end);
    return set_up(d, error);
}

void ww_as_decoder_free(struct ww_as_decoder *d) {
    if (!d) return;
    if (d->kind == GZ) inflateEnd(&d->gz);
    lzma_end(&d->xz);
    ZSTD_freeDCtx(d->zstd);
    ww_as_tracez_free(d->tracez);
    free(d->in);
    free(d);
}

static enum ww_code damaged(const struct ww_as_decoder *d, struct ww_error *error, const char *what) {
    static const char *const name[] = {"text", "gzip", "xz", "zstd", "tracez"};
    uint64_t offset = d->source->at - (d->end - d->at);
    return ww_fail(error, WW_INPUT, d->source->name, "damaged %s data near offset %llu: %s", name[d->kind],
                   (unsigned long long)offset, what);
}

static enum ww_code step_gz(struct ww_as_decoder *d, char *to, size_t n, size_t *got, struct ww_error *error) {
    d->gz.next_in = d->in + d->at;
    d->gz.avail_in = (uInt)(d->end - d->at);
    d->gz.next_out = (Bytef *)to;
    d->gz.avail_out = (uInt)n;
    int r = inflate(&d->gz, Z_NO_FLUSH);
    d->at = d->end - d->gz.avail_in;
    *got = n - d->gz.avail_out;
    d->between = r == Z_STREAM_END;
    if (r == Z_STREAM_END && inflateReset(&d->gz) != Z_OK) return ww_fail_nomem(error, "a decompressor");
    if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
        return damaged(d, error, d->gz.msg ? d->gz.msg : "not a gzip member");
    return WW_OK;
}

static enum ww_code step_xz(struct ww_as_decoder *d, char *to, size_t n, size_t *got, struct ww_error *error) {
    d->xz.next_in = d->in + d->at;
    d->xz.avail_in = d->end - d->at;
    d->xz.next_out = (uint8_t *)to;
    d->xz.avail_out = n;
    lzma_ret r = lzma_code(&d->xz, d->source_ended ? LZMA_FINISH : LZMA_RUN);
    d->at = d->end - d->xz.avail_in;
    *got = n - d->xz.avail_out;
    d->between = r == LZMA_STREAM_END;
    if (r == LZMA_OK || r == LZMA_STREAM_END) return WW_OK;
    if (r == LZMA_BUF_ERROR) return damaged(d, error, "it ends early");
    if (r == LZMA_MEMLIMIT_ERROR)
        return ww_fail(error, WW_NOMEM, d->source->name, "xz needs more than %llu MB to decompress it",
                       (unsigned long long)(XZ_MEMORY >> 20));
    return damaged(d, error, "a checksum or a field is wrong");
}

static enum ww_code step_zstd(struct ww_as_decoder *d, char *to, size_t n, size_t *got,
                              struct ww_error *error) {
    ZSTD_inBuffer in = {d->in, d->end, d->at};
    ZSTD_outBuffer out = {to, n, 0};
    size_t r = ZSTD_decompressStream(d->zstd, &out, &in);
    d->at = in.pos;
    *got = out.pos;
    if (ZSTD_isError(r)) return damaged(d, error, ZSTD_getErrorName(r));
    d->between = r == 0;
    return WW_OK;
}

static enum ww_code step_plain(struct ww_as_decoder *d, char *to, size_t n, size_t *got) {
    *got = n < d->end - d->at ? n : d->end - d->at;
    memcpy(to, d->in + d->at, *got);
    d->at += *got;
    return WW_OK;
}

static enum ww_code step(struct ww_as_decoder *d, char *to, size_t n, size_t *got, struct ww_error *error) {
    switch (d->kind) {
    case GZ:
        return step_gz(d, to, n, got, error);
    case XZ:
        return step_xz(d, to, n, got, error);
    case ZST:
        return step_zstd(d, to, n, got, error);
    default:
        return step_plain(d, to, n, got);
    }
}

enum ww_code ww_as_decode(struct ww_as_decoder *d, char *to, size_t n, size_t *got, struct ww_error *error) {
    *got = 0;
    if (d->kind == TRACEZ) return ww_as_tracez_decode(d->tracez, to, n, got, error);
    for (;;) {
        if (d->at == d->end && !d->source_ended) {
            WW_TRY(ww_as_read(d->source, d->in, WW_AS_WINDOW, &d->end, error));
            d->at = 0;
            d->source_ended = d->end == 0;
        }
        if (d->at == d->end && d->source_ended && (d->kind == PLAIN || d->between)) return WW_OK;
        size_t before = d->at;
        WW_TRY(step(d, to, n, got, error));
        if (*got) return WW_OK;
        if (d->source_ended && d->at == before && !d->between) return damaged(d, error, "it ends early");
    }
}
