/* writer.h: a trace that is being written.
 *
 * CTAs wait until their group is full. A group is the shortest run of CTAs, in order of their numbers, that
 * weighs WW_WWT_GROUP_WEIGHT: so groups, and with them the file's bytes, do not depend on the order in which
 * CTAs are added (unless more than WW_WWT_PENDING_BYTES wait, when the lowest ones are written as they are).
 *
 *     written CTAs | ready: nothing below is missing | waiting for missing CTAs below them
 *                   head .. head+ready                 .. head+count
 */
#ifndef WW_WWT_WRITER_H
#define WW_WWT_WRITER_H

#include "index.h"
#include "../../estimator/base/outfile.h"
#include "../../estimator/base/ownfd.h"
#include "crc.h"
#include "encode.h"
#include "host_copies.h"
#include "keep_source.h"
#include "waits.h"
#include <zstd.h>

/* A CTA weighs its warp instructions, its warps, and a quarter for each listed address. */
#define WW_WWT_GROUP_WEIGHT ((uint64_t)1 << 18)
#define WW_WWT_PENDING_BYTES ((size_t)512 << 20)
#define WW_WWT_LEVEL 9 /* of zstd, by default */

/* A static code table that is in the index already. */
struct ww_wwt_known_code {
    size_t at, n; /* in the writer's buffer of codes */
    uint64_t hash;
    char *origin; /* where it comes from, or NULL */
};

/* CTAs first to end - 1 are written. */
struct ww_wwt_interval {
    uint64_t first, end;
};

/* The launch that is being written. */
struct ww_wwt_open_launch {
    bool open;
    struct ww_arena arena;
    struct ww_launch view;
    size_t code;
    uint64_t *inst_warp, *inst_thread;
    uint32_t count_room; /* of these two */
    bool grown;          /* the table in view is the caller's, the code is kept at the end */
    size_t codes_before, code_count_before;
    struct ww_wwt_dictionary dict;
    struct ww_wwt_cta **cta; /* waiting, in order of their numbers */
    size_t head, count, room, ready, pending_bytes;
    uint64_t ready_weight;
    uint64_t next; /* all CTAs below it are written, ready, or known to be absent */
    struct ww_wwt_interval *done;
    size_t done_count, done_room;
    struct ww_buf rows; /* of its groups, for the index */
    uint64_t group_count, last_end;
    bool waits; /* steps may wait for writes */
    struct ww_wwt_words words;
};

struct ww_trace_writer {
    char *path; /* as the caller named it: for errors */
    struct ww_outfile file;
    struct ww_ownfd own; /* what its descriptor is: recorded programs may close it and reuse its number */
    uint64_t offset;
    size_t pending_limit; /* WW_WWT_PENDING_BYTES; tests set less */
    enum ww_code failed;  /* the first failure: nothing more is written */
    ZSTD_CCtx *zstd;
    struct ww_wwt_crc crc;
    struct ww_buf meta, codes, launches, raw, chunk;
    struct ww_wwt_known_code *code;
    size_t code_count, code_room, launch_count;
    struct ww_buf copies;          /* of the launches that are written, for the index */
    struct ww_trace_copy *waiting; /* copies for the next launch */
    uint32_t waiting_count;
    struct ww_wwt_orders orders, clusters;
    struct ww_wwt_waits waits;
    struct ww_wwt_host host;
    struct ww_trace_order
        next_order; /* of the next launch, with its own copy of the waits; has_order: there is one */
    bool has_order;
    struct ww_wwt_sources sources;
    struct ww_wwt_open_launch l;
};

/* Appends the chunk of `raw` (compressed if that is shorter) to the file. `cuts` may be NULL. *stored and *crc
 * are for the index. Errors: WW_IO, WW_NOMEM, WW_UNSUPPORTED (too large). */
enum ww_code ww_wwt_put_chunk(struct ww_trace_writer *w, uint32_t type, const struct ww_buf *raw,
                              const struct ww_wwt_cuts *cuts, uint32_t *stored, uint32_t *crc,
                              struct ww_error *error);
enum ww_code ww_wwt_write(struct ww_trace_writer *w, const void *data, size_t n, struct ww_error *error);
/* CTAs of the open launch that were added, and the lowest number that was not. */
void ww_trace_writer_present(const struct ww_trace_writer *w, uint64_t *count, uint64_t *first_absent);
/* States that CTAs below `cta` that were not added yet never will be; slices use it. */
void ww_trace_writer_skip_to(struct ww_trace_writer *w, uint64_t cta);
/* Records a copy or fill before the next launch, after those of the launch's own view. Of more than
 * the container takes the latest are kept. Errors: WW_INTERNAL (not a copy), WW_NOMEM. */
enum ww_code ww_trace_writer_copy(struct ww_trace_writer *w, const struct ww_trace_copy *copy,
                                  struct ww_error *error);
/* Notes the order of the next launch, in the place of that of its view; the waits are copied. Errors: WW_NOMEM.
 */
enum ww_code ww_trace_writer_order(struct ww_trace_writer *w, const struct ww_trace_order *order,
                                   struct ww_error *error);
/* Gives the open launch a longer instruction table (and its strings and local_bytes), for a source that meets
 * its instructions as it goes: entries that were there keep their class, width and WW_INST_ACCESS. The table
 * stays the caller's and must live until the launch ends or a later call replaces it.
 * Errors: WW_USAGE (no launch, a shorter table), WW_UNSUPPORTED (too long), WW_NOMEM. */
enum ww_code ww_trace_writer_grow(struct ww_trace_writer *w, const struct ww_launch *launch,
                                  struct ww_error *error);
/* Frees what the launch holds. */
void ww_wwt_forget_launch(struct ww_wwt_open_launch *l);

#endif
