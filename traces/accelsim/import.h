/* import.h: private to the importer: how lines become CTAs.
 *
 *     grouped file:  #BEGIN_TB .. #END_TB -> one CTA at a time -> writer
 *     raw file:      lines of many CTAs -> open CTAs, by number -> writer, when all threads have exited
 *                                             | over WW_AS_OPEN_BYTES
 *                                             v
 *                                          spill file (unlinked): segments, chained backwards per CTA
 */
#ifndef WW_ACCELSIM_IMPORT_H
#define WW_ACCELSIM_IMPORT_H

#include "../../estimator/api/foreign.h"
#include "text.h"

#define WW_AS_OPEN_BYTES ((size_t)64 << 20)    /* of all open CTAs together */
#define WW_AS_OPEN_MAX 262144u                 /* CTAs of a raw file that are open at once */
#define WW_AS_PENDING_BYTES ((size_t)32 << 20) /* what the writer may hold back */
#define WW_AS_CODES_MAX 256u                   /* kernels whose code is kept from launch to launch, */
#define WW_AS_CODES_STATICS 100000u            /* and their static instructions */

/* What one warp executed so far. */
struct ww_as_warp {
    struct ww_step *step;
    struct ww_access *access;
    uint64_t *pool;
    uint32_t step_count, step_room, access_count, access_room, pool_count, pool_room;
    uint32_t last_mask, exited;
    struct ww_as_static *last_copy; /* the LDGSTS that the warp executed last; NULL: it was another one */
    bool started;
    const struct ww_as_static *poll; /* the load that the warp may be repeating; NULL: none */
    uint64_t poll_address;
    uint32_t poll_step; /* steps that the warp had before it */
};

struct ww_as_cta {
    uint64_t index;
    struct ww_as_warp *warp;
    uint64_t segment;       /* offset of the newest spilled segment + 1; 0: none */
    struct ww_as_cta *next; /* in its bucket */
};

struct ww_as_spill {
    int fd;
    uint64_t end;
    char *directory;
};

/* Warps that lack something: their number, and the first one's place. */
struct ww_as_gap {
    uint64_t count, line, cta;
    uint32_t warp;
};

struct ww_as_import {
    const struct ww_import_options *options;
    struct ww_import_stats *stats;
    struct ww_trace_writer *writer;
    struct ww_arena arena;    /* of the launch */
    struct ww_as_code *codes; /* newest first */
    struct ww_as_header header;
    struct ww_as_parser parser;
    struct ww_launch launch;
    struct ww_as_cta *open[4096]; /* buckets by number */
    uint32_t open_count;
    size_t open_bytes;
    size_t open_limit; /* WW_AS_OPEN_BYTES; tests set less */
    struct ww_as_spill spill;
    struct ww_warp_stream *stream;   /* of the CTA that goes to the writer */
    uint64_t cta_line;               /* where the CTA begins that is finished next; 0: not known (raw files) */
    struct ww_as_gap empty, unended; /* warps of the launch without an instruction; without their end */
    uint64_t lines;
    size_t file, file_count; /* for progress */
};

/* cta.c */
/* A CTA with empty warps; *out is NULL if memory ran out. Free with ww_as_cta_free. */
enum ww_code ww_as_cta_new(const struct ww_as_import *im, uint64_t index, struct ww_as_cta **out,
                           struct ww_error *error);
void ww_as_cta_free(const struct ww_as_import *im, struct ww_as_cta *cta);
/* Empties the warps, keeping their memory. */
void ww_as_cta_reset(const struct ww_as_import *im, struct ww_as_cta *cta);
/* The CTA's number, from its coordinates. Errors: WW_INPUT. */
enum ww_code ww_as_cta_index(const struct ww_as_import *im, const uint32_t cta[3], uint64_t *index,
                             struct ww_error *error);
/* Hands the CTA to the writer. */
enum ww_code ww_as_cta_finish(struct ww_as_import *im, struct ww_as_cta *cta, struct ww_error *error);
/* Lanes of a warp that the block has. */
uint32_t ww_as_lanes(const struct ww_launch *launch, uint32_t warp);
/* Room for one more step, access, or n listed addresses; false: no memory. */
bool ww_as_warp_room(struct ww_as_warp *w, unsigned steps, unsigned accesses, unsigned addresses);

/* step.c: adds a parsed line to its warp. Errors: WW_INPUT, WW_UNSUPPORTED (strict), WW_NOMEM. */
enum ww_code ww_as_step_add(struct ww_as_import *im, struct ww_as_warp *w, uint32_t warp,
                            const struct ww_as_line *line, struct ww_error *error);

/* raw.c, spill.c */
enum ww_code ww_as_raw_read(struct ww_as_import *im, char *line, struct ww_error *error);
void ww_as_raw_clear(struct ww_as_import *im);
/* Writes what the CTA has in memory to the spill file and empties it. */
enum ww_code ww_as_spill_out(struct ww_as_import *im, struct ww_as_cta *cta, struct ww_error *error);
/* Brings all segments of the CTA back, in front of what it has in memory. */
enum ww_code ww_as_spill_in(struct ww_as_import *im, struct ww_as_cta *cta, struct ww_error *error);

/* grouped.c */
enum ww_code ww_as_grouped_read(struct ww_as_import *im, char *line, struct ww_error *error);

/* gaps.c: what the text lacks. */
void ww_as_gaps_cta(struct ww_as_import *im, const struct ww_as_cta *cta);
/* Adds the launch's warnings to the statistics, before the writer ends the launch. Errors: WW_INPUT (strict).
 */
enum ww_code ww_as_gaps_launch(struct ww_as_import *im, struct ww_error *error);

/* list.c: what PATH names. */
struct ww_as_files {
    char *list; /* that names them; NULL: the path is a trace itself */
    char **path;
    size_t count, room;
    uint64_t copies, copy_bytes; /* Memcpy lines */
};
enum ww_code ww_as_files_find(const char *path, struct ww_as_files *files, struct ww_error *error);
void ww_as_files_free(struct ww_as_files *files);

/* import.c */
enum ww_code ww_as_progress(struct ww_as_import *im, struct ww_error *error);
/* Imports the one file that `in` is; the import is set up but for the launch. Tests and the fuzzer use it. */
enum ww_code ww_as_import_file(struct ww_as_import *im, struct ww_as_input *in, struct ww_error *error);
enum ww_code ww_as_import_begin(struct ww_as_import *im, const struct ww_import_options *options,
                                struct ww_import_stats *stats, const struct ww_trace_meta *meta,
                                struct ww_error *error);
/* Ends the trace file, or removes it if `code` is an error; frees what the import holds. */
enum ww_code ww_as_import_end(struct ww_as_import *im, enum ww_code code, struct ww_error *error);

#endif
