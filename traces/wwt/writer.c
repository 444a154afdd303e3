/* Writing a trace: the file, its chunks, its index. */
#include "writer.h"
#include "../../estimator/base/hash.h"
#include "index.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum ww_code ww_wwt_write(struct ww_trace_writer *w, const void *data, size_t n, struct ww_error *error) {
    const char *p = data;
    if (!ww_ownfd_holds(&w->own))
        return ww_fail(error, WW_IO, w->path, "the program closed the recorder's descriptor of this file");
    w->offset += n;
    while (n) {
        ssize_t put = write(w->file.fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return ww_fail(error, WW_IO, w->path, "cannot write: %s", strerror(errno));
        p += put;
        n -= (size_t)put;
    }
    return WW_OK;
}

static void make_header(const struct ww_trace_writer *w, unsigned char h[WW_WWT_HEADER_BYTES]) {
    memcpy(h, WW_WWT_MAGIC, 8);
    ww_wwt_put32(h + 8, WW_WWT_VERSION_LAST);
    ww_wwt_put32(h + 12, ww_wwt_crc32(&w->crc, 0, h, 12));
}

/* One zstd frame, with blocks that end at the cuts. The number of its bytes, or a zstd error; more than `room`
 * if it is no shorter than the data. */
static size_t compress(struct ww_trace_writer *w, const struct ww_buf *raw, const struct ww_wwt_cuts *cuts,
                       void *to, size_t room) {
    ZSTD_outBuffer out = {to, room, 0};
    ZSTD_inBuffer in = {raw->p, 0, 0};
    ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
    size_t left = ZSTD_CCtx_setPledgedSrcSize(w->zstd, raw->n);
    for (unsigned i = 0; cuts && i < cuts->count && !ZSTD_isError(left); i++) {
        in.size = cuts->at[i];
        left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_flush);
        if (left) return ZSTD_isError(left) ? left : room + 1;
    }
    if (ZSTD_isError(left)) return left;
    in.size = raw->n;
    left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_end);
    if (ZSTD_isError(left)) return left;
    return left ? room + 1 : out.pos;
}

enum ww_code ww_wwt_put_chunk(struct ww_trace_writer *w, uint32_t type, const struct ww_buf *raw,
                              const struct ww_wwt_cuts *cuts, uint32_t *stored, uint32_t *crc,
                              struct ww_error *error) {
    if (raw->failed) return ww_fail_nomem(error, "a chunk of a trace");
    if (raw->n > WW_WWT_RAW_MAX)
        return ww_fail(error, WW_UNSUPPORTED, w->path, "a chunk has %zu bytes; the container takes %u", raw->n,
                       WW_WWT_RAW_MAX);
    ww_buf_clear(&w->chunk);
    if (!ww_buf_reserve(&w->chunk, WW_WWT_CHUNK_BYTES + ZSTD_compressBound(raw->n)))
        return ww_fail_nomem(error, "a chunk of a trace");
    unsigned char *h = (unsigned char *)w->chunk.p;
    size_t n = compress(w, raw, cuts, h + WW_WWT_CHUNK_BYTES, w->chunk.cap - WW_WWT_CHUNK_BYTES);
    if (ZSTD_isError(n)) return ww_fail(error, WW_NOMEM, w->path, "zstd: %s", ZSTD_getErrorName(n));
    if (n >= raw->n) {
        n = raw->n;
        memcpy(h + WW_WWT_CHUNK_BYTES, raw->p, n);
    }
    ww_wwt_put32(h, type);
    ww_wwt_put32(h + 4, (uint32_t)n);
    ww_wwt_put32(h + 8, (uint32_t)raw->n);
    *stored = (uint32_t)n;
    *crc = ww_wwt_crc32(&w->crc, ww_wwt_crc32(&w->crc, 0, h, 12), h + WW_WWT_CHUNK_BYTES, n);
    ww_wwt_put32(h + 12, *crc);
    return ww_wwt_write(w, h, WW_WWT_CHUNK_BYTES + n, error);
}

static void free_writer(struct ww_trace_writer *w) {
    ww_wwt_forget_launch(&w->l);
    ZSTD_freeCCtx(w->zstd);
    ww_wwt_forget_sources(&w->sources);
    ww_buf_free(&w->meta);
    ww_buf_free(&w->codes);
    ww_buf_free(&w->launches);
    ww_buf_free(&w->raw);
    ww_buf_free(&w->chunk);
    ww_buf_free(&w->copies);
    ww_buf_free(&w->orders.rows);
    ww_buf_free(&w->clusters.rows);
    ww_buf_free(&w->waits.rows);
    ww_wwt_forget_host(&w->host);
    free((void *)(uintptr_t)w->next_order.wait);
    free(w->waiting);
    while (w->code_count) free(w->code[--w->code_count].origin);
    free(w->code);
    free(w->path);
    free(w);
}

bool ww_trace_writer_lost(const struct ww_trace_writer *w) {
    return !ww_ownfd_holds(&w->own);
}

/* A recorded program may have closed our descriptor and use its number for something of its own. */
static void release_fd(struct ww_trace_writer *w) {
    if (!ww_ownfd_holds(&w->own)) w->file.fd = w->file.temp.fd = -1;
}

void ww_trace_writer_abort(struct ww_trace_writer *w) {
    if (!w) return;
    release_fd(w);
    if (w->file.path) ww_outfile_close(&w->file, WW_FAIL, NULL);
    free_writer(w);
}

void ww_trace_writer_abandon(const struct ww_trace_writer *w) {
    if (w && w->file.temp.path) unlink(w->file.temp.path);
}

/* The descriptor gets a high number, which recorded programs are less likely to close. */
static enum ww_code create(struct ww_trace_writer *w, struct ww_error *error) {
    WW_TRY(ww_outfile_open(&w->file, w->path, WW_OUTFILE_TRACE, error));
    w->file.fd = ww_ownfd_raise(w->file.fd, false);
    if (w->file.target) w->file.temp.fd = w->file.fd;
    w->own = ww_ownfd_note(w->file.fd);
    return WW_OK;
}

static enum ww_code start(struct ww_trace_writer *w, const struct ww_trace_meta *meta, int level,
                          struct ww_error *error) {
    unsigned char h[WW_WWT_HEADER_BYTES];
    if (!w->path || !w->zstd) return ww_fail_nomem(error, "a trace");
    if (ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level ? level : WW_WWT_LEVEL)))
        return ww_fail(error, WW_USAGE, w->path, "zstd level %d; expected %d to %d", level, ZSTD_minCLevel(),
                       ZSTD_maxCLevel());
    ww_wwt_put_string(&w->meta, meta ? meta->program : NULL);
    ww_wwt_put_string(&w->meta, meta ? meta->arguments : NULL);
    ww_wwt_put_string(&w->meta, meta ? meta->tool : NULL);
    make_header(w, h);
    WW_TRY(create(w, error));
    return ww_wwt_write(w, h, sizeof h, error);
}

enum ww_code ww_trace_writer_new(const char *path, const struct ww_trace_meta *meta, int level,
                                 struct ww_trace_writer **writer, struct ww_error *error) {
    *writer = NULL;
    struct ww_trace_writer *w = calloc(1, sizeof *w);
    if (!w) return ww_fail_nomem(error, "a trace");
    w->own.fd = -1;
    w->pending_limit = WW_WWT_PENDING_BYTES;
    ww_wwt_crc_init(&w->crc);
    w->path = strdup(path);
    w->zstd = ZSTD_createCCtx();
    enum ww_code code = start(w, meta, level, error);
    if (code != WW_OK) {
        ww_trace_writer_abort(w);
        return code;
    }
    *writer = w;
    return WW_OK;
}

/* Keeps the reader's limits; only launches without CTAs, as slices make them, can go beyond. */
static enum ww_code check_index(const struct ww_trace_writer *w, struct ww_error *error) {
    if (w->launch_count > WW_WWT_LAUNCHES_MAX(w->offset))
        return ww_fail(error, WW_UNSUPPORTED, w->path,
                       "%zu launches with too few CTAs; a file of %llu bytes takes %llu", w->launch_count,
                       (unsigned long long)w->offset, (unsigned long long)WW_WWT_LAUNCHES_MAX(w->offset));
    if (w->raw.n > WW_WWT_INDEX_MAX(w->offset))
        return ww_fail(error, WW_UNSUPPORTED, w->path,
                       "the index has %zu bytes; a file of %llu bytes takes %llu", w->raw.n,
                       (unsigned long long)w->offset, (unsigned long long)WW_WWT_INDEX_MAX(w->offset));
    return WW_OK;
}

/* Index chunk and trailer. */
static enum ww_code put_index(struct ww_trace_writer *w, struct ww_error *error) {
    unsigned char b[WW_WWT_TRAILER_BYTES];
    uint32_t stored, crc;
    uint64_t at = w->offset;
    ww_buf_clear(&w->raw);
    ww_buf_append(&w->raw, w->meta.p, w->meta.n);
    ww_buf_varint(&w->raw, w->code_count);
    ww_buf_append(&w->raw, w->codes.p, w->codes.n);
    ww_buf_varint(&w->raw, w->launch_count);
    ww_buf_append(&w->raw, w->launches.p, w->launches.n);
    for (size_t i = 0; i < w->code_count; i++) ww_wwt_put_string(&w->raw, w->code[i].origin);
    ww_buf_append(&w->raw, w->copies.p, w->copies.n);
    bool host = ww_wwt_has_host(&w->host), waits = w->waits.count || host,
         clusters = w->clusters.count || waits;
    if (w->orders.count || clusters) {
        ww_buf_varint(&w->raw, w->orders.count);
        ww_buf_append(&w->raw, w->orders.rows.p, w->orders.rows.n);
    }
    if (clusters) {
        ww_buf_varint(&w->raw, w->clusters.count);
        ww_buf_append(&w->raw, w->clusters.rows.p, w->clusters.rows.n);
    }
    if (waits) {
        ww_buf_varint(&w->raw, w->waits.count);
        ww_buf_append(&w->raw, w->waits.rows.p, w->waits.rows.n);
    }
    if (host) ww_wwt_put_host(&w->raw, &w->host);
    if (w->meta.failed || w->copies.failed || w->orders.rows.failed || w->clusters.rows.failed ||
        w->waits.rows.failed)
        return ww_fail_nomem(error, "the index of a trace");
    WW_TRY(check_index(w, error));
    WW_TRY(ww_wwt_put_chunk(w, WW_WWT_CHUNK_INDEX, &w->raw, NULL, &stored, &crc, error));
    ww_wwt_put64(b, at);
    ww_wwt_put64(b + 8, w->offset + sizeof b);
    ww_wwt_put64(b + 16, ww_hash_bytes(w->raw.p, w->raw.n, WW_WWT_VERSION_LAST));
    ww_wwt_put32(b + 24, ww_wwt_crc32(&w->crc, 0, b, 24));
    memcpy(b + 28, WW_WWT_END_MAGIC, 4);
    return ww_wwt_write(w, b, sizeof b, error);
}

static enum ww_code finish(struct ww_trace_writer *w, struct ww_error *error) {
    if (w->failed) return ww_fail(error, w->failed, w->path, "writing failed before");
    if (w->l.open) return ww_fail(error, WW_USAGE, w->path, "the last launch was not ended");
    WW_TRY(put_index(w, error));
    release_fd(w);
    return ww_outfile_close(&w->file, WW_OK, error);
}

enum ww_code ww_trace_writer_finish(struct ww_trace_writer *w, uint64_t *bytes, struct ww_error *error) {
    enum ww_code code = finish(w, error);
    if (bytes) *bytes = code == WW_OK ? w->offset : 0;
    ww_trace_writer_abort(w); /* the file is renamed or open: removed only if it failed */
    return code;
}
