/* record.h: recording built-in workloads and PTX. Part of warpwatt.h. */
#ifndef WW_API_RECORD_H
#define WW_API_RECORD_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The code that is executed and recorded: PTX, lowered by warpwatt, or machine code of ptxas. */
enum ww_record_code {
    WW_RECORD_PTX,  /* PTX, lowered */
    WW_RECORD_AUTO, /* machine code if there is some for the architecture, else PTX, with a message */
    WW_RECORD_SASS  /* machine code or an error */
};
struct ww_record_options {
    const char *out_path; /* .wwt to write; NULL: compute and verify, record nothing */
    const char
        *arch; /* "sm_20" and such; NULL: "sm_70", or what a workload needs. PTX is lowered as for the newest of
                  sm_20, sm_52 and sm_70 that is no newer; machine code is of this architecture */
    uint32_t max_registers;        /* per thread; 0: the architecture's limit */
    uint32_t registers_per_thread; /* for occupancy; 0: from the liveness analysis */
    uint64_t instruction_limit;    /* thread instructions per launch; 0: 100 billion */
    uint64_t seed;                 /* inputs of workloads are generated from it */
    int compression;               /* zstd level; 0: default */
    ww_progress_fn progress;
    void *context;
    FILE *kernel_output; /* where printf of kernels goes; NULL: nowhere */
    enum ww_record_code code;
    const char *ptxas_options; /* further options of ptxas, separated by spaces; NULL: none */
    /* Receives, once each: the origin of the code, and why a kernel's PTX is lowered instead; or NULL */
    void (*message)(void *context, const char *text);
    void *message_context;
    bool keep_source; /* the trace keeps the texts of source files; else their hashes alone */
};
struct ww_record_stats {
    uint64_t launches, warp_instructions, thread_instructions, bytes;
    double host_seconds;
    bool verified; /* the output equals its reference */
};
/* "ptx", "auto" or "sass". Errors: WW_USAGE, with `where`. */
WW_API enum ww_code ww_record_code_parse(const char *text, const char *where, enum ww_record_code *code,
                                         struct ww_error *error);
/* Checks whether PTX can be lowered to an architecture ("sm_70"). Errors: WW_USAGE. */
WW_API enum ww_code ww_record_arch(const char *arch, struct ww_error *error);
/* Runs a built-in workload. `parameters` are `count` strings "key=value".
 * Errors: WW_USAGE (unknown workload or parameter), WW_EXEC, WW_MISMATCH (output differs), WW_IO. */
WW_API enum ww_code ww_record_workload(const char *name, const char *const *parameters, size_t count,
                                       const struct ww_record_options *options, struct ww_record_stats *stats,
                                       struct ww_error *error);
/* Runs any PTX file under a launch description (docs/reference/launch.md). */
WW_API enum ww_code ww_record_ptx(const char *ptx_path, const char *launch_json_path,
                                  const struct ww_record_options *options, struct ww_record_stats *stats,
                                  struct ww_error *error);
struct ww_workload_view {
    const char *name, *help, *parameters; /* parameters: "key=default (help)" lines */
    const char *arch; /* NULL: any; "sm_80": the least it needs; "sm_90a": it runs on that one only */
};
WW_API size_t ww_workload_count(void);
WW_API enum ww_code ww_workload(size_t i, struct ww_workload_view *view, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
