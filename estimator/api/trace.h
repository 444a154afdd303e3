/* trace.h: open traces: what they hold, verifying, slicing, transforming. Part of warpwatt.h. */
#ifndef WW_API_TRACE_H
#define WW_API_TRACE_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ww_trace; /* an open .wwt file */

WW_API enum ww_code ww_trace_open(const char *path, struct ww_trace **trace, struct ww_error *error);
WW_API void ww_trace_close(struct ww_trace *trace);
WW_API size_t ww_trace_launch_count(const struct ww_trace *trace);

struct ww_launch_info {
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t registers_per_thread;
    uint32_t shared_static, shared_dynamic; /* bytes */
    uint64_t warp_instructions, thread_instructions;
    uint32_t static_instructions;
    const char *arch; /* the lowering's or the recorder's target, for example "sm_70" */
};
WW_API enum ww_code ww_trace_launch_info(const struct ww_trace *trace, size_t launch,
                                         struct ww_launch_info *info, struct ww_error *error);
/* Reads the whole file and checks every checksum and invariant of the format. Also checks that no warp executes
 * an instruction after the EXIT of its last lane, and that no kernel has 0 registers. Errors: WW_INPUT with the
 * file's offset. */
WW_API enum ww_code ww_trace_verify(struct ww_trace *trace, ww_progress_fn progress, void *context,
                                    struct ww_error *error);
/* Copies launches and CTAs into a new file. `launches` and `ctas` are lists such as "0,2-4" (NULL: all);
 * CTA numbers are linear within each launch. Errors: WW_USAGE (the lists; the new file is the trace's own),
 * WW_FAIL (progress stopped it). */
WW_API enum ww_code ww_trace_slice(struct ww_trace *trace, const char *launches, const char *ctas,
                                   const char *out_path, ww_progress_fn progress, void *context,
                                   struct ww_error *error);
/* Bytes of a source file's hash as text, with the 0 at its end. */
#define WW_SOURCE_HASH 17
/* A source file that the trace's line information names. The text lives as long as the trace. */
struct ww_trace_source {
    char hash[WW_SOURCE_HASH]; /* of the file when it was recorded: 16 hex digits */
    const char *text;          /* NULL: the trace keeps only the hash */
};
/* Finds a source file by name. False: the trace does not name it. */
WW_API bool ww_trace_find_source(const struct ww_trace *trace, const char *file,
                                 struct ww_trace_source *source);
/* True if the trace's content hash is `hash`, 16 hex digits. */
WW_API bool ww_trace_has_hash(const struct ww_trace *trace, const char *hash);
/* Changes of a trace: CTAs that take turns in shared memory (docs/studies/multiplexing.md), bulk transfers
 * (docs/studies/d2ma.md). */
struct ww_transform_options {
    const char *kind;    /* vtb, vtb_pipe, co_vtb: CTAs joined; hw, co_hw: shared memory allocated as needed;
                            d2ma: bulk transfers for copies */
    uint32_t ctas;       /* joined, 0: 2 (vtb: up to 4) */
    uint64_t split;      /* co_vtb, co_hw: bytes of a CTA's shared memory that are private */
    const char *overlap; /* vtb_pipe: source lines such as "100-140" of what may overlap another CTA's region */
    ww_progress_fn progress;
    void *context;
};
/* Writes the changed trace into a new file. Errors: WW_USAGE (options), WW_UNSUPPORTED (the transform cannot be
 * applied: says where and why), WW_FAIL (progress stopped it), those of reading and writing. */
WW_API enum ww_code ww_trace_transform(struct ww_trace *trace, const struct ww_transform_options *options,
                                       const char *out_path, struct ww_error *error);
/* Prints for each launch in how many regions its CTAs use shared memory, and how much of it. */
WW_API enum ww_code ww_trace_print_regions(struct ww_trace *trace, bool json, FILE *out,
                                           struct ww_error *error);
/* Copies the launches of `count` traces, in the order given, into a new file. Errors: WW_USAGE (none given,
 * the new file is one of theirs), WW_FAIL (progress stopped it), those of reading and writing. */
WW_API enum ww_code ww_trace_merge(struct ww_trace *const *trace, size_t count, const char *out_path,
                                   ww_progress_fn progress, void *context, struct ww_error *error);
/* Prints `trace info` (text or JSON as documented in reports/schema/trace_info.json). */
WW_API enum ww_code ww_trace_print_info(struct ww_trace *trace, bool json, FILE *out, struct ww_error *error);
/* Prints `trace info --profile`: divergence, coalescing, bank conflicts, arithmetic intensity, footprint and
 * reuse distances of every launch, from all of its streams (docs/reference/profile.md; JSON:
 * reports/schema/trace_profile.json). Errors: WW_INPUT, WW_FAIL (progress stopped it), WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_trace_print_profile(struct ww_trace *trace, bool json, FILE *out,
                                           ww_progress_fn progress, void *context, struct ww_error *error);
/* Prints the analytical model's profile of the open trace, whose path is `path`. It is read from PATH.profile,
 * which is written first if it is absent, damaged, or of another trace (docs/model/analytic.md). Errors: as
 * above. */
WW_API enum ww_code ww_trace_print_model_profile(struct ww_trace *trace, const char *path, FILE *out,
                                                 ww_progress_fn progress, void *context,
                                                 struct ww_error *error);
/* Prints the decoded instructions of one CTA (all warps, or one if warp >= 0): a line each, or an array of JSON
 * (reports/schema/trace_dump.json). Errors: WW_USAGE (no such launch, CTA or warp), those of reading, WW_IO. */
WW_API enum ww_code ww_trace_dump(struct ww_trace *trace, size_t launch, uint64_t cta, int warp, bool json,
                                  FILE *out, struct ww_error *error);

/* How machine code is listed. */
struct ww_disasm_options {
    const char *kernel;        /* only this kernel or function; NULL: all */
    const char *arch;          /* "sm_86": only code of it; for PTX, what to compile for; NULL: all there is */
    const char *ptxas_options; /* for PTX; NULL: none */
    bool raw;                  /* the file is instructions and nothing else */
    bool bits;                 /* with the 128 bits of each instruction */
    bool json;
};
/* Lists the machine code of a cubin, fat binary, program, library, object or PTX. An unknown
 * instruction is listed by its bits; the call then returns WW_UNSUPPORTED after the last line. Errors: WW_IO,
 * WW_INPUT, WW_USAGE, WW_NOMEM. */
WW_API enum ww_code ww_disasm(const char *path, const struct ww_disasm_options *options, FILE *out,
                              struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
