/* foreign.h: importing and exporting Accel-Sim's text traces. Part of warpwatt.h. */
#ifndef WW_API_FOREIGN_H
#define WW_API_FOREIGN_H

#include "../base/error.h"
#include "trace.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WW_IMPORT_UNKNOWN_MAX 64
#define WW_IMPORT_GAPS_MAX 16
struct ww_import_options {
    const char *out_path; /* .wwt to write */
    int compression;      /* zstd level; 0: default */
    bool strict;          /* an unknown opcode is WW_UNSUPPORTED, an incomplete trace WW_INPUT */
    ww_progress_fn progress;
    void *context;
};
/* Something that is missing in a launch. */
struct ww_import_gap {
    char where[300]; /* file and line */
    char text[200];
};
struct ww_import_stats {
    uint64_t launches, ctas, warp_instructions, thread_instructions;
    uint64_t lines;                /* of text, with headers and blank ones */
    uint64_t text_bytes, bytes;    /* of the decompressed text; of the .wwt file */
    uint64_t copies, copy_bytes;   /* memory copies that the list names; they are not in the trace */
    uint64_t twins;                /* asynchronous copies listed twice: the first of each pair is left out */
    uint64_t bulk_steps;           /* instructions added where a bulk transfer has more than 32 sectors */
    uint64_t barriers_unnumbered;  /* barriers with a thread count but no number in the text: taken as 0 */
    uint64_t addresses_dropped;    /* lines with addresses of opcodes that access no memory */
    uint64_t operands_dropped;     /* registers beyond two results and six sources */
    uint64_t unknown_instructions; /* lines whose opcode is unknown: imported as no-operations */
    uint64_t unknown_more;         /* of these, beyond the list below */
    size_t unknown_count;
    struct {
        char opcode[32]; /* without suffixes */
        uint64_t count;
    } unknown[WW_IMPORT_UNKNOWN_MAX];
    uint64_t ctas_missing;  /* of the grid, or, in an exported slice, of the CTAs that its header states */
    uint64_t warps_missing; /* of CTAs that are in the trace: warps without an instruction */
    uint64_t warps_unended; /* warps with threads that never exit */
    struct ww_import_gap gap[WW_IMPORT_GAPS_MAX]; /* one for each launch and kind, */
    size_t gap_count;
    uint64_t gaps_more; /* and those beyond the list */
    /* Loads of polling loops: a warp loads the same address by the same instruction as just before. A replay
     * executes as many of them as the trace has. */
    uint64_t polls;
    char polls_kernel[160]; /* of the first */
    uint32_t polls_pc;
    double host_seconds;
};
/* Imports what Accel-Sim's NVBit tracer and its post-processor write, versions 1 to 6
 * (docs/reference/import.md): `path` is a kernelslist, a folder that holds one, or one trace file; raw or
 * grouped; plain, gzip, xz, zstd or tracez. *stats (may be NULL) is filled also on error, as far as it went.
 * Errors: WW_INPUT with file and line, WW_UNSUPPORTED (strict; limits of the container), WW_IO, WW_NOMEM. */
WW_API enum ww_code ww_import_accelsim(const char *path, const struct ww_import_options *options,
                                       struct ww_import_stats *stats, struct ww_error *error);
struct ww_export_stats {
    uint64_t launches, ctas, warp_instructions, text_bytes, bytes;
    double host_seconds;
};
struct ww_export_options {
    unsigned version;              /* 3 or 5; 0: 5 */
    bool xz;                       /* compress each trace as xz -6 does */
    struct ww_export_stats *stats; /* may be NULL */
    ww_progress_fn progress;
    void *context;
};
/* Writes kernelslist.g and kernel-N.traceg into the folder, which is made if it is not there: grouped text that
 * Accel-Sim reads, with additional header lines from which ww_import_accelsim restores the trace without loss.
 * Errors: WW_USAGE (version), WW_IO (a file exists already, or cannot be written), WW_INPUT (damaged trace). */
WW_API enum ww_code ww_export_accelsim(struct ww_trace *trace, const char *dir,
                                       const struct ww_export_options *options, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
