/* The .tracez format of Accel-Sim's post-processor, little-endian:
 *
 *     header text | 0 | u32 dictionary size | u32 instructions per piece | zstd dictionary | warps | index
 *     warp:   u32 instructions, u32 pieces, then per piece: u32 size, a zstd frame that is lines of text
 *     index:  u32 CTAs, then per CTA: u32 x, y, z, 7 x u32 of its cluster, u32 warps, then per warp:
 *             u32 instructions, u32 pieces, u64 offset, u32 x pieces
 *     the last 8 bytes: u64 offset of the index
 *
 * It is written out as the grouped text that it stands for. */
#include "input.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define HEADER_MAX ((uint64_t)16 << 20)
#define DICTIONARY_MAX ((uint32_t)16 << 20)
#define PIECE_MAX ((uint32_t)32 << 20)

struct ww_as_tracez {
    struct ww_as_source *source;
    ZSTD_DCtx *zstd;
    ZSTD_DDict *dictionary;
    struct ww_buf out, packed;
    size_t out_at;
    uint64_t index; /* where the index goes on */
    uint32_t ctas_left, warps_left, warp;
    uint64_t piece; /* where the warp's next piece is */
    uint32_t pieces_left;
    bool in_cta;
};

static uint32_t get32(const unsigned char *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const unsigned char *p) {
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static enum ww_code bad(const struct ww_as_tracez *z, struct ww_error *error, uint64_t offset,
                        const char *what) {
    return ww_fail(error, WW_INPUT, z->source->name, "damaged tracez data at offset %llu: %s",
                   (unsigned long long)offset, what);
}

/* The header's text goes out as it is; *end is where its NUL was. */
static enum ww_code read_header(struct ww_as_tracez *z, uint64_t *end, struct ww_error *error) {
    char chunk[4096];
    size_t got;
    z->source->at = 0;
    for (;;) {
        WW_TRY(ww_as_read(z->source, chunk, sizeof chunk, &got, error));
        char *nul = memchr(chunk, 0, got);
        ww_buf_append(&z->out, chunk, nul ? (size_t)(nul - chunk) : got);
        if (nul) break;
        if (!got || z->out.n > HEADER_MAX) return bad(z, error, z->out.n, "the header has no end");
    }
    *end = z->out.n;
    ww_buf_byte(&z->out, '\n');
    return WW_OK;
}

static enum ww_code read_dictionary(struct ww_as_tracez *z, uint64_t at, struct ww_error *error) {
    unsigned char b[8];
    WW_TRY(ww_as_read_at(z->source, at, b, sizeof b, error));
    uint32_t size = get32(b);
    if (!size) return WW_OK;
    if (size > DICTIONARY_MAX) return bad(z, error, at, "its dictionary is too large");
    if (!ww_buf_reserve(&z->packed, size)) return ww_fail_nomem(error, "a dictionary");
    WW_TRY(ww_as_read_at(z->source, at + 8, z->packed.p, size, error));
    z->dictionary = ZSTD_createDDict(z->packed.p, size);
    return z->dictionary ? WW_OK : bad(z, error, at, "its dictionary is malformed");
}

static enum ww_code open_tracez(struct ww_as_tracez *z, struct ww_error *error) {
    unsigned char b[8];
    uint64_t at = 0;
    z->zstd = ZSTD_createDCtx();
    if (!z->zstd) return ww_fail_nomem(error, "a decompressor");
    WW_TRY(read_header(z, &at, error));
    WW_TRY(read_dictionary(z, at + 1, error));
    if (z->source->size < 8) return bad(z, error, 0, "it is too short");
    WW_TRY(ww_as_read_at(z->source, z->source->size - 8, b, 8, error));
    z->index = get64(b);
    if (z->index > z->source->size) return bad(z, error, z->source->size - 8, "the index lies outside");
    WW_TRY(ww_as_read_at(z->source, z->index, b, 4, error));
    z->ctas_left = get32(b);
    z->index += 4;
    return WW_OK;
}

enum ww_code ww_as_tracez_new(struct ww_as_source *s, struct ww_as_tracez **out, struct ww_error *error) {
    struct ww_as_tracez *z = calloc(1, sizeof *z);
    *out = z;
    if (!z) return ww_fail_nomem(error, "a decompressor");
    z->source = s;
    return open_tracez(z, error);
}

void ww_as_tracez_free(struct ww_as_tracez *z) {
    if (!z) return;
    ZSTD_freeDCtx(z->zstd);
    ZSTD_freeDDict(z->dictionary);
    ww_buf_free(&z->out);
    ww_buf_free(&z->packed);
    free(z);
}

static enum ww_code next_cta(struct ww_as_tracez *z, struct ww_error *error) {
    unsigned char b[44];
    WW_TRY(ww_as_read_at(z->source, z->index, b, sizeof b, error));
    z->index += sizeof b;
    z->ctas_left--;
    z->warps_left = get32(b + 40);
    z->warp = 0;
    z->in_cta = true;
    ww_buf_printf(&z->out, "\n#BEGIN_TB\n\nthread block = %u,%u,%u\n", get32(b), get32(b + 4), get32(b + 8));
    return WW_OK;
}

static enum ww_code next_warp(struct ww_as_tracez *z, struct ww_error *error) {
    unsigned char b[16], head[8];
    WW_TRY(ww_as_read_at(z->source, z->index, b, sizeof b, error));
    z->index += sizeof b + 4 * (uint64_t)get32(b + 4);
    z->piece = get64(b + 8);
    WW_TRY(ww_as_read_at(z->source, z->piece, head, sizeof head, error));
    if (get32(head) != get32(b) || get32(head + 4) != get32(b + 4))
        return bad(z, error, z->piece, "a warp's header differs from the index");
    z->piece += sizeof head;
    z->pieces_left = get32(b + 4);
    z->warps_left--;
    ww_buf_printf(&z->out, "\nwarp = %u\ninsts = %u\n", z->warp++, get32(b));
    return WW_OK;
}

static enum ww_code next_piece(struct ww_as_tracez *z, struct ww_error *error) {
    unsigned char b[4];
    WW_TRY(ww_as_read_at(z->source, z->piece, b, 4, error));
    uint32_t size = get32(b);
    if (size > PIECE_MAX || size > z->source->size) return bad(z, error, z->piece, "a piece is too large");
    if (!ww_buf_reserve(&z->packed, size)) return ww_fail_nomem(error, "a piece of a trace");
    WW_TRY(ww_as_read_at(z->source, z->piece + 4, z->packed.p, size, error));
    unsigned long long n = ZSTD_getFrameContentSize(z->packed.p, size);
    if (n > PIECE_MAX) return bad(z, error, z->piece, "a piece has no size, or one that is too large");
    if (!ww_buf_reserve(&z->out, (size_t)n + 1)) return ww_fail_nomem(error, "a piece of a trace");
    size_t r = z->dictionary ? ZSTD_decompress_usingDDict(z->zstd, z->out.p + z->out.n, (size_t)n, z->packed.p,
                                                          size, z->dictionary)
                             : ZSTD_decompressDCtx(z->zstd, z->out.p + z->out.n, (size_t)n, z->packed.p, size);
    if (ZSTD_isError(r)) return bad(z, error, z->piece, ZSTD_getErrorName(r));
    z->out.n += r;
    ww_buf_byte(&z->out, '\n');
    z->piece += 4 + (uint64_t)size;
    z->pieces_left--;
    return WW_OK;
}

/* More text in z->out; none at the end. */
static enum ww_code more(struct ww_as_tracez *z, struct ww_error *error) {
    if (z->pieces_left) return next_piece(z, error);
    if (z->in_cta && z->warps_left) return next_warp(z, error);
    if (z->in_cta) {
        z->in_cta = false;
        ww_buf_puts(&z->out, "\n#END_TB\n");
        return WW_OK;
    }
    return z->ctas_left ? next_cta(z, error) : WW_OK;
}

enum ww_code ww_as_tracez_decode(struct ww_as_tracez *z, char *to, size_t n, size_t *got,
                                 struct ww_error *error) {
    if (z->out_at == z->out.n) {
        ww_buf_clear(&z->out);
        z->out_at = 0;
        WW_TRY(more(z, error));
        if (z->out.failed) return ww_fail_nomem(error, "a piece of a trace");
    }
    *got = n < z->out.n - z->out_at ? n : z->out.n - z->out_at;
    memcpy(to, z->out.p + z->out_at, *got);
    z->out_at += *got;
    return WW_OK;
}
