/* reader.h: an open trace.
 *
 *     ww_trace --- index (launches, groups, runs; in the arena)
 *              --- decoded groups: in use (refs > 0), or idle: newest ... oldest
 */
#ifndef WW_WWT_READER_H
#define WW_WWT_READER_H

#include "../../estimator/api/trace.h"
#include "crc.h"
#include "decode.h"
#include "format.h"
#include <zstd.h>

/* Idle decoded groups that are kept, and their memory. */
#define WW_WWT_IDLE_GROUPS 4u
#define WW_WWT_IDLE_BYTES ((size_t)4 << 20)

struct ww_trace {
    char *path;
    int fd;                      /* -1: in memory */
    const unsigned char *memory; /* the file, or NULL; belongs to the caller */
    uint64_t size;
    char hash[17];
    uint32_t version; /* of the container */
    struct ww_arena arena;
    struct ww_wwt_index index;
    ZSTD_DCtx *zstd;
    struct ww_wwt_crc crc;
    struct ww_buf stored, raw;              /* of the chunk that is being read */
    struct ww_wwt_decoded *newest, *oldest; /* idle */
    size_t idle_count, idle_bytes;
    struct ww_slabs slabs; /* of decoded groups */
};

/* Opens a trace that lies in memory, which stays the caller's and must outlive it. `name` is for errors. */
enum ww_code ww_trace_open_memory(const void *data, size_t size, const char *name, struct ww_trace **trace,
                                  struct ww_error *error);

/* Reads n bytes at the offset. Errors: WW_IO, WW_INPUT (the file is shorter). */
enum ww_code ww_wwt_read_at(struct ww_trace *t, uint64_t offset, void *to, size_t n, struct ww_error *error);
/* Reads, checks and decompresses the chunk at the offset into t->raw. */
enum ww_code ww_wwt_read_chunk(struct ww_trace *t, uint64_t offset, uint32_t type, uint32_t stored,
                               uint32_t raw, uint32_t crc, struct ww_error *error);
/* WW_INPUT at an offset of the file. */
__attribute__((format(printf, 4, 5))) enum ww_code ww_wwt_bad(const struct ww_trace *t, struct ww_error *error,
                                                              uint64_t offset, const char *fmt, ...);
/* Decodes a group that is not in memory. */
enum ww_code ww_wwt_load_group(struct ww_trace *t, size_t launch, struct ww_wwt_group *g,
                               struct ww_error *error);
/* Frees the idle groups. */
void ww_wwt_drop_idle(struct ww_trace *t);

#endif
