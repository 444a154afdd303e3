/* Reading the file's bytes: pieces, and whole chunks. */
#include "../../estimator/api/trace.h"
#include "reader.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum ww_code ww_wwt_bad(const struct ww_trace *t, struct ww_error *error, uint64_t offset, const char *fmt,
                        ...) {
    char where[sizeof error->where], text[sizeof error->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(where, sizeof where, "%s: offset %llu", t->path, (unsigned long long)offset);
    return ww_fail(error, WW_INPUT, where, "%s", text);
}

enum ww_code ww_wwt_read_at(struct ww_trace *t, uint64_t offset, void *to, size_t n, struct ww_error *error) {
    if (offset > t->size || n > t->size - offset)
        return ww_wwt_bad(t, error, t->size, "the file ends here; expected %zu bytes at offset %llu", n,
                          (unsigned long long)offset);
    if (t->memory) {
        memcpy(to, t->memory + offset, n);
        return WW_OK;
    }
    for (char *p = to; n;) {
        ssize_t got = pread(t->fd, p, n, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ww_fail(error, WW_IO, t->path, "cannot read: %s", strerror(errno));
        if (got == 0) return ww_wwt_bad(t, error, offset, "the file became shorter while it was read");
        p += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return WW_OK;
}

static enum ww_code check_header(struct ww_trace *t, uint64_t offset, const unsigned char *h, uint32_t type,
                                 uint32_t stored, uint32_t raw, uint32_t crc, struct ww_error *error) {
    static const char *const name[] = {"type", "stored size", "size", "checksum"};
    const uint32_t expected[] = {type, stored, raw, crc};
    for (unsigned i = 0; i < 4; i++)
        if (ww_wwt_get32(h + 4 * (size_t)i) != expected[i])
            return ww_wwt_bad(t, error, offset + 4 * (uint64_t)i, "the chunk's %s is %08x; expected %08x",
                              name[i], ww_wwt_get32(h + 4 * (size_t)i), expected[i]);
    uint32_t is = ww_wwt_crc32(&t->crc, ww_wwt_crc32(&t->crc, 0, h, 12), h + WW_WWT_CHUNK_BYTES, stored);
    if (is != crc)
        return ww_wwt_bad(t, error, offset, "the chunk's checksum is %08x; expected %08x: the file is damaged",
                          is, crc);
    return WW_OK;
}

static enum ww_code decompress(struct ww_trace *t, uint64_t offset, uint32_t stored, uint32_t raw,
                               struct ww_error *error) {
    const char *from = t->stored.p + WW_WWT_CHUNK_BYTES;
    ww_buf_clear(&t->raw);
    if (stored == raw) {
        ww_buf_append(&t->raw, from, stored);
        return t->raw.failed ? ww_fail_nomem(error, "a chunk of a trace") : WW_OK;
    }
    unsigned long long says = ZSTD_getFrameContentSize(from, stored);
    if (says != raw)
        return ww_wwt_bad(t, error, offset, "the chunk's zstd frame is not of %u bytes, as its header says",
                          raw);
    if (!ww_buf_reserve(&t->raw, raw)) return ww_fail_nomem(error, "a chunk of a trace");
    size_t n = ZSTD_decompressDCtx(t->zstd, t->raw.p, raw, from, stored);
    if (ZSTD_isError(n))
        return ww_wwt_bad(t, error, offset, "the chunk's zstd frame: %s", ZSTD_getErrorName(n));
    if (n != raw) return ww_wwt_bad(t, error, offset, "the chunk has %zu bytes; expected %u", n, raw);
    t->raw.n = n;
    return WW_OK;
}

enum ww_code ww_wwt_read_chunk(struct ww_trace *t, uint64_t offset, uint32_t type, uint32_t stored,
                               uint32_t raw, uint32_t crc, struct ww_error *error) {
    size_t n = (size_t)stored + WW_WWT_CHUNK_BYTES;
    if (offset > t->size || n > t->size - offset)
        return ww_wwt_bad(t, error, offset, "a chunk of %zu bytes does not fit in the file's %llu", n,
                          (unsigned long long)t->size);
    ww_buf_clear(&t->stored);
    if (!ww_buf_reserve(&t->stored, n)) return ww_fail_nomem(error, "a chunk of a trace");
    WW_TRY(ww_wwt_read_at(t, offset, t->stored.p, n, error));
    WW_TRY(check_header(t, offset, (const unsigned char *)t->stored.p, type, stored, raw, crc, error));
    return decompress(t, offset, stored, raw, error);
}
