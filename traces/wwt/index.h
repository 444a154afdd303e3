/* index.h: contents of the index chunk: provenance, static code, launches and where their CTAs are.
 *
 * Ownership: a parsed index lives in the arena that was given to ww_wwt_index_parse.
 */
#ifndef WW_WWT_INDEX_H
#define WW_WWT_INDEX_H

#include "../../estimator/base/buf.h"
#include "../host_copy.h"
#include "../trace.h"

struct ww_wwt_decoded;

/* One CTA group: where its chunk is. */
struct ww_wwt_group {
    uint64_t offset; /* of the chunk's header in the file */
    uint32_t raw, stored, crc;
    uint32_t cta_count;
    const struct ww_wwt_run *run; /* in order of CTA number */
    uint32_t run_count;
    struct ww_wwt_decoded *decoded; /* NULL: not in memory; belongs to the reader */
};

/* Consecutive CTAs stored in one group. */
struct ww_wwt_run {
    uint64_t first, count;
    uint32_t group;
    uint32_t position; /* of the first, within the group */
};

struct ww_wwt_launch {
    struct ww_launch view;
    uint64_t code;                     /* number of its code table */
    uint64_t *inst_warp, *inst_thread; /* executions of each static instruction: by warps, by threads */
    struct ww_wwt_group *group;
    uint32_t group_count;
    const struct ww_wwt_run *run; /* all groups' runs, sorted by CTA */
    size_t run_count;
    uint64_t cta_present;
};

struct ww_wwt_index {
    struct ww_trace_meta meta;
    struct ww_wwt_launch *launch;
    size_t launch_count;
    uint64_t chunk_end; /* offset behind the last group */
    struct ww_host_order host;
};

/* Writes a launch's static part (names, strings, instructions) in the form of the index. */
void ww_wwt_put_code(struct ww_buf *b, const struct ww_launch *launch);
/* Reads it back into the launch; false: malformed (c->failed) or a broken rule (*why says which). */
bool ww_wwt_get_code(struct ww_cursor *c, uint32_t version, struct ww_arena *arena, struct ww_launch *launch,
                     const char **why);
/* The first rule that the launch's static part, grid or block breaks, or NULL. Sets cta_count and
 * warps_per_cta from grid and block. */
/* What of an instruction's class, flags and destinations do not go together, or NULL. */
const char *ww_wwt_check_class(const struct ww_inst *inst);
const char *ww_wwt_check_code(const struct ww_launch *launch);
const char *ww_wwt_check_shape(struct ww_launch *launch);

/* A launch's copies and fills, and back. False: malformed (c->failed) or a broken rule (*why; NULL: no memory).
 */
void ww_wwt_put_copies(struct ww_buf *b, const struct ww_trace_copy *copy, uint32_t count);
bool ww_wwt_get_copies(struct ww_cursor *c, struct ww_arena *arena, struct ww_launch *launch, const char **why);
/* What is wrong with a copy, or NULL. */
const char *ww_wwt_check_copy(const struct ww_trace_copy *copy);

/* The order of launches: rows for those that are not all zero. */
struct ww_wwt_orders {
    struct ww_buf rows;
    size_t count, next; /* rows; the launch behind the last one that has a row */
};
void ww_wwt_put_order(struct ww_wwt_orders *to, const struct ww_trace_order *o, size_t launch);
/* Reads what is left of the index. False: malformed (*why; NULL: no memory). */
bool ww_wwt_get_orders(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index,
                       const char **why);
/* CTAs of the launches' clusters: rows for those that have any. */
void ww_wwt_put_cluster(struct ww_wwt_orders *to, const uint32_t cluster[3], size_t launch);
/* What is wrong with them, or NULL. */
const char *ww_wwt_check_cluster(const struct ww_launch *launch);
/* What is wrong with the order of launch number `launch`, or NULL. */
const char *ww_wwt_check_order(const struct ww_trace_order *o, size_t launch);

/* Copies of the program. Reads what is left of the index. False: malformed (*why; NULL: no memory). */
bool ww_wwt_get_host(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index, const char **why);

/* Strings with a length in front; NULL is kept apart from "". */
void ww_wwt_put_string(struct ww_buf *b, const char *s);
const char *ww_wwt_get_string(struct ww_cursor *c, struct ww_arena *arena);

/* Parses an uncompressed index chunk of a file of that version and size. false: *why names the rule broken (may
 * be printed), or is NULL when memory ran out. */
bool ww_wwt_index_parse(struct ww_cursor *c, uint32_t version, uint64_t file_bytes, struct ww_arena *arena,
                        struct ww_wwt_index *index, const char **why);
/* The run that holds the CTA, or NULL. */
const struct ww_wwt_run *ww_wwt_find_run(const struct ww_wwt_launch *launch, uint64_t cta);

#endif
