/* Opening a trace: header, trailer and index. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "reader.h"
#include "../../estimator/base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_MEMORY ((size_t)4 << 30)

static enum ww_code read_header(struct ww_trace *t, struct ww_error *error) {
    unsigned char h[WW_WWT_HEADER_BYTES];
    WW_TRY(ww_wwt_read_at(t, 0, h, sizeof h, error));
    if (memcmp(h, WW_WWT_MAGIC, 8) != 0)
        return ww_wwt_bad(t, error, 0,
                          "not a .wwt trace: it does not start with the bytes 89 'WWT' 0d 0a 1a 0a");
    if (ww_wwt_crc32(&t->crc, 0, h, 12) != ww_wwt_get32(h + 12))
        return ww_wwt_bad(t, error, 12, "the header's checksum does not match: the file is damaged");
    t->version = ww_wwt_get32(h + 8);
    if (t->version < WW_WWT_VERSION || t->version > WW_WWT_VERSION_LAST)
        return ww_fail(error, WW_UNSUPPORTED, t->path,
                       "container version %u; this program reads versions %u to %u", t->version, WW_WWT_VERSION,
                       WW_WWT_VERSION_LAST);
    return WW_OK;
}

/* Reads the trailer; *index is the index chunk's offset, *hash the content hash it states. */
static enum ww_code read_trailer(struct ww_trace *t, uint64_t *index, uint64_t *hash, struct ww_error *error) {
    unsigned char b[WW_WWT_TRAILER_BYTES];
    if (t->size < WW_WWT_HEADER_BYTES + WW_WWT_CHUNK_BYTES + WW_WWT_TRAILER_BYTES)
        return ww_wwt_bad(t, error, t->size, "the file ends here, before its trailer");
    uint64_t at = t->size - sizeof b;
    WW_TRY(ww_wwt_read_at(t, at, b, sizeof b, error));
    if (memcmp(b + 28, WW_WWT_END_MAGIC, 4) != 0)
        return ww_wwt_bad(t, error, t->size,
                          "the file does not end with a trailer: it is cut off or not finished");
    if (ww_wwt_crc32(&t->crc, 0, b, 24) != ww_wwt_get32(b + 24))
        return ww_wwt_bad(t, error, at, "the trailer's checksum does not match: the file is damaged");
    if (ww_wwt_get64(b + 8) != t->size)
        return ww_wwt_bad(t, error, at + 8, "the file has %llu bytes; its trailer says %llu",
                          (unsigned long long)t->size, (unsigned long long)ww_wwt_get64(b + 8));
    *index = ww_wwt_get64(b);
    *hash = ww_wwt_get64(b + 16);
    if (*index < WW_WWT_HEADER_BYTES || *index > at - WW_WWT_CHUNK_BYTES)
        return ww_wwt_bad(t, error, at, "the index is at offset %llu, outside the file's chunks",
                          (unsigned long long)*index);
    return WW_OK;
}

/* Reads the index chunk into t->raw. */
static enum ww_code read_index_chunk(struct ww_trace *t, uint64_t offset, struct ww_error *error) {
    unsigned char h[WW_WWT_CHUNK_BYTES];
    WW_TRY(ww_wwt_read_at(t, offset, h, sizeof h, error));
    uint32_t stored = ww_wwt_get32(h + 4), raw = ww_wwt_get32(h + 8);
    if (offset + WW_WWT_CHUNK_BYTES + stored + WW_WWT_TRAILER_BYTES != t->size)
        return ww_wwt_bad(t, error, offset + 4, "the index has %u bytes, which do not end at the trailer",
                          stored);
    if (stored == 0 || stored > raw || raw > WW_WWT_RAW_MAX || raw / stored > WW_WWT_RATIO_MAX)
        return ww_wwt_bad(t, error, offset + 8, "the index's size of %u bytes is out of bounds", raw);
    if (raw > WW_WWT_INDEX_MAX(t->size))
        return ww_wwt_bad(t, error, offset + 8,
                          "the index has %u bytes; expected at most %llu of a file of %llu bytes", raw,
                          (unsigned long long)WW_WWT_INDEX_MAX(t->size), (unsigned long long)t->size);
    return ww_wwt_read_chunk(t, offset, WW_WWT_CHUNK_INDEX, stored, raw, ww_wwt_get32(h + 12), error);
}

/* Memory in proportion to the file: a few bytes of an index may describe much. */
static enum ww_code no_room(const struct ww_trace *t, struct ww_error *error) {
    if (t->arena.limit == INDEX_MEMORY) return ww_fail_nomem(error, "the index of a trace");
    return ww_fail(
        error, WW_NOMEM, t->path,
        "the index takes more than %zu MB of memory, which is more than a file of %llu bytes may need",
        t->arena.limit >> 20, (unsigned long long)t->size);
}

static enum ww_code read_index(struct ww_trace *t, struct ww_error *error) {
    uint64_t offset = 0, hash = 0;
    WW_TRY(read_trailer(t, &offset, &hash, error));
    WW_TRY(read_index_chunk(t, offset, error));
    uint64_t is = ww_hash_bytes(t->raw.p, t->raw.n, t->version);
    if (is != hash)
        return ww_wwt_bad(t, error, offset, "the content hash is %016llx; the trailer says %016llx",
                          (unsigned long long)is, (unsigned long long)hash);
    snprintf(t->hash, sizeof t->hash, "%016llx", (unsigned long long)is);
    const unsigned char *p = (const unsigned char *)t->raw.p;
    struct ww_cursor c = {p, p + t->raw.n, false};
    const char *why;
    if (WW_WWT_INDEX_MAX(t->size) < INDEX_MEMORY) t->arena.limit = WW_WWT_INDEX_MAX(t->size);
    if (!ww_wwt_index_parse(&c, t->version, t->size, &t->arena, &t->index, &why)) {
        if (!why) return no_room(t, error);
        return ww_wwt_bad(t, error, offset, "the index, near byte %zu of its data: %s", (size_t)(c.p - p), why);
    }
    if (t->index.chunk_end != offset)
        return ww_wwt_bad(t, error, offset, "the CTA groups end at offset %llu, not where the index starts",
                          (unsigned long long)t->index.chunk_end);
    return WW_OK;
}

static struct ww_trace *new_trace(const char *path) {
    struct ww_trace *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->fd = -1;
    ww_wwt_crc_init(&t->crc);
    ww_arena_init(&t->arena, INDEX_MEMORY);
    t->path = strdup(path);
    t->zstd = ZSTD_createDCtx();
    if (t->path && t->zstd) return t;
    ww_trace_close(t);
    return NULL;
}

/* Reads what an open trace needs; frees it on failure. */
static enum ww_code start(struct ww_trace *t, struct ww_trace **trace, struct ww_error *error) {
    enum ww_code code = read_header(t, error);
    if (code == WW_OK) code = read_index(t, error);
    if (code != WW_OK) {
        ww_trace_close(t);
        return code;
    }
    *trace = t;
    return WW_OK;
}

static enum ww_code open_file(struct ww_trace *t, struct ww_error *error) {
    struct stat st;
    t->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0 || fstat(t->fd, &st) != 0)
        return ww_fail(error, WW_IO, *t->path ? t->path : "\"\"", "cannot open: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ww_fail(error, WW_INPUT, t->path, "not a regular file; expected a .wwt trace");
    t->size = (uint64_t)st.st_size;
    return t->size ? WW_OK : ww_fail(error, WW_INPUT, t->path, "the file is empty; expected a .wwt trace");
}

enum ww_code ww_trace_open(const char *path, struct ww_trace **trace, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    *trace = NULL;
    struct ww_trace *t = new_trace(path);
    if (!t) return ww_fail_nomem(error, "a trace");
    enum ww_code code = open_file(t, error);
    if (code == WW_OK) return start(t, trace, error);
    ww_trace_close(t);
    return code;
}

enum ww_code ww_trace_open_memory(const void *data, size_t size, const char *name, struct ww_trace **trace,
                                  struct ww_error *error) {
    *trace = NULL;
    struct ww_trace *t = new_trace(name);
    if (!t) return ww_fail_nomem(error, "a trace");
    t->memory = size ? data : (const void *)"";
    t->size = size;
    return start(t, trace, error);
}

void ww_trace_close(struct ww_trace *t) {
    if (!t) return;
    for (size_t i = 0; i < t->index.launch_count; i++)
        for (uint32_t g = 0; g < t->index.launch[i].group_count; g++)
            ww_wwt_decoded_free(t->index.launch[i].group[g].decoded);
    ww_slabs_free(&t->slabs);
    if (t->fd >= 0) close(t->fd);
    ww_arena_free(&t->arena);
    ZSTD_freeDCtx(t->zstd);
    ww_buf_free(&t->stored);
    ww_buf_free(&t->raw);
    free(t->path);
    free(t);
}
