/* warpwatt.h: the public C API of libwarpwatt.
 *
 * Ownership: what a *_open, *_load, *_new or ww_run() call gives you is yours until you pass it to the
 * *_close or *_free call of the same prefix (each accepts NULL). Strings returned inside an object live
 * as long as the object. Strings that you pass are copied unless a comment says otherwise.
 * Errors: every call that can fail returns enum ww_code and fills *error (may be NULL) with where it
 * happened and what was expected; the library never prints, never exits and holds no global state.
 * Threads: different objects may be used from different threads; one object from one at a time.
 */
#ifndef WARPWATT_H
#define WARPWATT_H

#include "explored.h"
#include "measured.h"
#include "result.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WW_VERSION_MAJOR 0
#define WW_VERSION_MINOR 1
#define WW_VERSION_PATCH 0
#define WW_VERSION "0.1.0"

#define WW_API __attribute__((visibility("default")))

enum ww_code {
#define X(id, exit_code, help) WW_##id,
#include "base/err.def"
#undef X
    WW_CODE_COUNT
};

struct ww_error {
    enum ww_code code;
    char where[320]; /* file and place in it, "" if there is none */
    char text[640];  /* the value met and what was expected */
};

/* The library's version, "MAJOR.MINOR.PATCH". */
WW_API const char *ww_version(void);
/* The symbolic name of a code ("input"), its meaning, and the program's exit code for it. */
WW_API const char *ww_code_name(enum ww_code code);
WW_API const char *ww_code_help(enum ww_code code);
WW_API int ww_code_exit(enum ww_code code);

/* Names of the enumerations in result.h; NULL if out of range. */
WW_API const char *ww_counter_name(enum ww_counter c);
WW_API const char *ww_counter_unit(enum ww_counter c);
WW_API const char *ww_counter_level(enum ww_counter c);
WW_API const char *ww_counter_help(enum ww_counter c);
WW_API const char *ww_state_name(enum ww_warp_state s);
WW_API const char *ww_state_nsight(enum ww_warp_state s);
WW_API const char *ww_state_help(enum ww_warp_state s);
WW_API const char *ww_slot_name(enum ww_slot s);
WW_API const char *ww_slot_help(enum ww_slot s);
WW_API const char *ww_component_name(enum ww_component c);
WW_API const char *ww_component_help(enum ww_component c);

/* Which counter is the i-th that runs keep by epoch; i < WW_EPOCH_COUNTERS. */
WW_API enum ww_counter ww_epoch_counter(size_t i);

/* Called now and then during long work with the part done (0 to 1, or < 0 if unknown), the number of
 * units done so far and the unit's name. Returning false asks the work to stop with WW_FAIL. */
typedef bool (*ww_progress_fn)(void *context, double part, uint64_t done, const char *unit);

/* ---- GPUs ------------------------------------------------------------------------------------- */

struct ww_gpu; /* a GPU's resolved parameters, immutable */

/* Loads a GPU. `name` is a name found in the model directories ($WARPWATT_MODELS, the source tree's
 * models/, the installed share directory), or a path that ends in ".json". Overrides are `count`
 * strings "dotted.key=value" applied last, in order, under the same bounds.
 * Errors: WW_INPUT (unknown or missing key, bound violated, bad inheritance), WW_IO. */
WW_API enum ww_code ww_gpu_load(const char *name, const char *const *overrides, size_t count,
                                struct ww_gpu **gpu, struct ww_error *error);
WW_API void ww_gpu_free(struct ww_gpu *gpu);
WW_API const char *ww_gpu_name(const struct ww_gpu *gpu);
/* A power table that fits a GPU which this one inherits from, the nearest first; NULL if there is none. */
WW_API const char *ww_gpu_ancestor_table(const struct ww_gpu *gpu);
/* Canonical JSON of all parameters, sorted by key: equal strings mean equal GPUs. */
WW_API const char *ww_gpu_json(const struct ww_gpu *gpu);
/* Number of parameters, and each one's key, value in text, unit, help and source ("" if defaulted). */
WW_API size_t ww_gpu_param_count(void);
struct ww_param_view {
    const char *key, *unit, *help;
    char bounds[128]; /* "1..1024", "a|b|c", "true|false" */
    char value[128];
    char source[512];
};
WW_API enum ww_code ww_gpu_param(const struct ww_gpu *gpu, size_t i, struct ww_param_view *view,
                                 struct ww_error *error);
/* Names of all GPUs in the model directories, sorted; free with ww_names_free. */
struct ww_names {
    char **name;
    size_t count;
};
WW_API enum ww_code ww_gpu_names(struct ww_names *names, struct ww_error *error);
WW_API void ww_names_free(struct ww_names *names);

/* ---- mechanisms ------------------------------------------------------------------------------- */

struct ww_mech_view {
    const char *kind, *name, *help, *paper;
    size_t param_count;
    bool is_default;
};
WW_API size_t ww_mech_count(void);
WW_API enum ww_code ww_mech(size_t i, struct ww_mech_view *view, struct ww_error *error);
/* Parameter p of mechanism i; `value` is its default. */
WW_API enum ww_code ww_mech_param(size_t i, size_t p, struct ww_param_view *view, struct ww_error *error);

/* ---- traces ----------------------------------------------------------------------------------- */

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
/* Reads everything and checks every checksum and invariant of the format. */
WW_API enum ww_code ww_trace_verify(struct ww_trace *trace, ww_progress_fn progress, void *context,
                                    struct ww_error *error);
/* Copies launches and CTAs into a new file. `launches` and `ctas` are lists such as "0,2-4" (NULL: all);
 * CTA numbers are linear within each launch. Errors: WW_USAGE (the lists; the new file is the trace's own). */
WW_API enum ww_code ww_trace_slice(struct ww_trace *trace, const char *launches, const char *ctas,
                                   const char *out_path, struct ww_error *error);
/* What a trace becomes if its CTAs take turns in shared memory (docs/multiplexing.md). */
struct ww_transform_options {
    const char *kind;    /* vtb, vtb_pipe, co_vtb: CTAs joined; smm, co_hw: shared memory allocated as needed;
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
 * the new file is one of theirs), those of reading and writing. */
WW_API enum ww_code ww_trace_merge(struct ww_trace *const *trace, size_t count, const char *out_path,
                                   struct ww_error *error);
/* Prints `trace info` (text or JSON as documented in reports/schema/trace_info.json). */
WW_API enum ww_code ww_trace_print_info(struct ww_trace *trace, bool json, FILE *out, struct ww_error *error);
/* Prints `trace info --profile`: divergence, coalescing, bank conflicts, arithmetic intensity, footprint and
 * reuse distances of every launch, from all of its streams (docs/profile.md; JSON:
 * reports/schema/trace_profile.json). Errors: WW_INPUT, WW_FAIL (progress stopped it), WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_trace_print_profile(struct ww_trace *trace, bool json, FILE *out,
                                           ww_progress_fn progress, void *context, struct ww_error *error);
/* Prints what the analytical model knows of the trace at `path`, which is open: from FILE.profile beside it,
 * which is made if it is not there, damaged, or another trace's (docs/analytic.md). Errors: as above. */
WW_API enum ww_code ww_trace_print_model_profile(struct ww_trace *trace, const char *path, FILE *out,
                                                 ww_progress_fn progress, void *context,
                                                 struct ww_error *error);
/* Prints the decoded instructions of one CTA (all warps, or one if warp >= 0). */
WW_API enum ww_code ww_trace_dump(struct ww_trace *trace, size_t launch, uint64_t cta, int warp, FILE *out,
                                  struct ww_error *error);

/* How machine code is listed. */
struct ww_disasm_options {
    const char *kernel;        /* only this kernel or function; NULL: all */
    const char *arch;          /* "sm_86": only code of it; for PTX, what to compile for; NULL: all there is */
    const char *ptxas_options; /* for PTX; NULL: none */
    bool raw;                  /* the file is instructions and nothing else */
    bool bits;                 /* with the 128 bits of each instruction */
    bool json;
};
/* Lists the machine code of a cubin, fat binary, program, library, object or PTX. An instruction that is not known is
 * listed by its bits; the result is then WW_UNSUPPORTED, at the end. Errors: WW_IO, WW_INPUT, WW_USAGE, WW_NOMEM. */
WW_API enum ww_code ww_disasm(const char *path, const struct ww_disasm_options *options, FILE *out,
                              struct ww_error *error);

/* ---- recording -------------------------------------------------------------------------------- */

/* What is run and recorded: PTX lowered by our own rules, or machine code. */
enum ww_record_code {
    WW_RECORD_PTX,  /* PTX, lowered */
    WW_RECORD_AUTO, /* machine code if it can be had for the architecture, else PTX, with a message */
    WW_RECORD_SASS  /* machine code or an error */
};
struct ww_record_options {
    const char *out_path;          /* .wwt to write; NULL: compute and verify, record nothing */
    const char *arch;              /* "sm_20" and such; NULL: "sm_70". PTX is lowered as for the newest of sm_20,
                                      sm_52 and sm_70 that is no newer; machine code is of this architecture */
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
    /* Told once each: where code comes from, and why a kernel's PTX is lowered after all. NULL: nobody */
    void (*message)(void *context, const char *text);
    void *message_context;
};
struct ww_record_stats {
    uint64_t launches, warp_instructions, thread_instructions, bytes;
    double host_seconds;
    bool verified; /* the output equals its reference */
};
/* "ptx", "auto" or "sass". Errors: WW_USAGE, with `where`. */
WW_API enum ww_code ww_record_code_parse(const char *text, const char *where, enum ww_record_code *code,
                                         struct ww_error *error);
/* Looks whether PTX can be lowered to an architecture ("sm_70"). Errors: WW_USAGE. */
WW_API enum ww_code ww_record_arch(const char *arch, struct ww_error *error);
/* Runs a built-in workload. `parameters` are `count` strings "key=value".
 * Errors: WW_USAGE (unknown workload or parameter), WW_EXEC, WW_MISMATCH (output differs), WW_IO. */
WW_API enum ww_code ww_record_workload(const char *name, const char *const *parameters, size_t count,
                                       const struct ww_record_options *options, struct ww_record_stats *stats,
                                       struct ww_error *error);
/* Runs any PTX file under a launch description (docs/launch.md). */
WW_API enum ww_code ww_record_ptx(const char *ptx_path, const char *launch_json_path,
                                  const struct ww_record_options *options, struct ww_record_stats *stats,
                                  struct ww_error *error);
struct ww_workload_view {
    const char *name, *help, *parameters; /* parameters: "key=default (help)" lines */
};
WW_API size_t ww_workload_count(void);
WW_API enum ww_code ww_workload(size_t i, struct ww_workload_view *view, struct ww_error *error);

/* ---- traces of other tools -------------------------------------------------------------------- */

#define WW_IMPORT_UNKNOWN_MAX 64
#define WW_IMPORT_GAPS_MAX 16
struct ww_import_options {
    const char *out_path; /* .wwt to write */
    int compression;      /* zstd level; 0: default */
    bool strict;          /* an unknown opcode is WW_UNSUPPORTED, a trace that lacks something WW_INPUT */
    ww_progress_fn progress;
    void *context;
};
/* Something that a launch lacks. */
struct ww_import_gap {
    char where[300]; /* file and line */
    char text[200];
};
struct ww_import_stats {
    uint64_t launches, ctas, warp_instructions, thread_instructions;
    uint64_t lines;                /* of text, with headers and blank ones */
    uint64_t text_bytes, bytes;    /* of the decompressed text; of the .wwt file */
    uint64_t copies, copy_bytes;   /* memory copies that the list names; they are not in the trace */
    uint64_t twins;                /* asynchronous copies written twice: the first of each was left out */
    uint64_t bulk_steps;           /* further instructions that bulk transfers of over 32 sectors became */
    uint64_t barriers_unnumbered;  /* barriers with a thread count whose number the text lacks: 0 taken */
    uint64_t addresses_dropped;    /* lines with addresses whose class has none */
    uint64_t operands_dropped;     /* registers beyond two results and six sources */
    uint64_t unknown_instructions; /* lines whose opcode is unknown: imported as no-operations */
    uint64_t unknown_more;         /* of these, beyond the list below */
    size_t unknown_count;
    struct {
        char opcode[32]; /* without suffixes */
        uint64_t count;
    } unknown[WW_IMPORT_UNKNOWN_MAX];
    uint64_t ctas_missing;  /* of the grids; of our own exports of slices: of the CTAs that they state */
    uint64_t warps_missing; /* of CTAs that are there: no instruction */
    uint64_t warps_unended; /* warps with threads that never exit */
    struct ww_import_gap gap[WW_IMPORT_GAPS_MAX]; /* one for each launch and kind, */
    size_t gap_count;
    uint64_t gaps_more; /* and those beyond the list */
    double host_seconds;
};
/* Imports what Accel-Sim's NVBit tracer and its post-processor write, versions 1 to 6 (docs/import.md): `path`
 * is a kernelslist, a folder that holds one, or one trace file; raw or grouped; plain, gzip, xz, zstd or
 * tracez. *stats (may be NULL) is filled also on error, as far as it went. Errors: WW_INPUT with file and line,
 * WW_UNSUPPORTED (strict; limits of the container), WW_IO, WW_NOMEM. */
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
 * Accel-Sim reads, with header lines of ours that let ww_import_accelsim rebuild the trace without loss.
 * Errors: WW_USAGE (version), WW_IO (a file exists already, or cannot be written), WW_INPUT (damaged trace). */
WW_API enum ww_code ww_export_accelsim(struct ww_trace *trace, const char *dir,
                                       const struct ww_export_options *options, struct ww_error *error);

/* ---- replay ----------------------------------------------------------------------------------- */

#define WW_AUTO_INSTRUCTIONS 50000000u

struct ww_run_options {
    const struct ww_gpu *gpu;
    const char *trace_path;
    const char *launches;          /* list such as "0,2-4"; NULL: all */
    const char *const *mechanisms; /* "kind=name" or "kind.parameter=value" */
    size_t mechanism_count;
    const char *mode;        /* "full" (NULL), "sampled", "analytic"; "auto": sampled if the launches have more
                              * than WW_AUTO_INSTRUCTIONS warp instructions, else full */
    double target_error;     /* sampled: half-width of the intervals, part of the estimate; 0: 0.03 */
    double confidence;       /* of the intervals, 0.5 to 0.9999; 0: 0.95 */
    const char *power_table; /* NULL: by the GPU's name; "none": no energy */
    uint32_t epoch_cycles;   /* 0: 4096 */
    uint64_t seed;
    bool per_pc;            /* counters per PC */
    bool timeline;          /* full replays: keep counters of the memory path by epoch, and the first CTAs */
    uint64_t timeline_ctas; /* how many CTAs of the run, at most */
    /* Threads that step SMs, at most 16 and as many as there are SMs; 0: one. Results are the same for any
     * number. It is one for fewer than 20 SMs, with a governor, or a timeline of CTAs. */
    unsigned threads;
    ww_progress_fn progress;
    void *context;
};
/* Replays a trace on a GPU. Deterministic: same inputs, same result but for host_seconds.
 * Errors: WW_INPUT, WW_USAGE (mechanism), WW_UNSUPPORTED (a CTA does not fit an SM), WW_INTERNAL (a
 * conservation law does not hold), WW_IO. */
WW_API enum ww_code ww_run(const struct ww_run_options *options, struct ww_result **result,
                           struct ww_error *error);
WW_API void ww_result_free(struct ww_result *result);
/* The ratio of two designs that were sampled alike (same trace, same seed): what both take in the same unit
 * rises and falls together, so that the ratio is known better than either (ratio estimator of a stratified
 * sample, Cochran, Sampling Techniques, 1977, section 6.11). */
struct ww_sample_ratio {
    double ratio, lo, hi; /* a by b */
    size_t common;        /* units that both measured */
    bool known;           /* false: the samples do not go together */
};
/* Of the cycles, or the energies. Corrected and widened by the difference of what cold starts changed. Errors:
 * WW_NOMEM. */
WW_API enum ww_code ww_sample_ratio(const struct ww_sampling *a, const struct ww_sampling *b, bool energy,
                                    double confidence, struct ww_sample_ratio *out, struct ww_error *error);
/* Checks every conservation law on a result: each cycle of each resident warp is in one warp state, each issue
 * slot is used or lost to one cause, accesses of a memory level are its hits and misses, energies add up.
 * ww_run() has done so already. Errors: WW_INTERNAL with the law that does not hold. */
WW_API enum ww_code ww_result_check(const struct ww_result *result, struct ww_error *error);

/* ---- dissection ------------------------------------------------------------------------------- */

enum ww_dissect_part {
    WW_DISSECT_CACHES = 1,
    WW_DISSECT_TLB = 2,
    WW_DISSECT_LATENCY = 4,
    WW_DISSECT_SHARED = 8,
    WW_DISSECT_GLOBAL = 16,
    WW_DISSECT_CURVES = 32,
    WW_DISSECT_ALL = 63
};
struct ww_dissect_options {
    const char *gpu;              /* as of ww_gpu_load */
    const char *const *overrides; /* "key=value" */
    size_t override_count;
    unsigned parts; /* of enum ww_dissect_part */
    uint64_t seed;
    bool few; /* few configurations of global copies: those that reach the most */
    ww_progress_fn progress;
    void *context;
};
/* Runs microbenchmarks on a GPU's model as on hardware and prints what they tell of its caches, TLBs, latencies
 * and throughput (docs/dissect.md; JSON: reports/schema/dissect.json). `plots` (NULL: none): a folder for the
 * data and gnuplot scripts of figures. Errors: those of ww_gpu_load and of replays, WW_FAIL (progress stopped
 * it), WW_IO. */
WW_API enum ww_code ww_dissect_report(const struct ww_dissect_options *options, bool json, const char *plots,
                                      FILE *out, struct ww_error *error);

/* ---- calibration ------------------------------------------------------------------------------- */

struct ww_calibrate_options {
    const char *gpu;              /* as of ww_gpu_load */
    const char *const *overrides; /* "key=value" */
    size_t override_count;
    const char *power_table;      /* NULL: by the GPU's name */
    const char *measured, *check; /* CSV files trace,power_w[,sigma_w]; check (NULL: none) is not fitted to */
    const char *const *fit;       /* groups "component+component+static.component", one factor each */
    size_t fit_count;
    const char *out; /* the table with its new values; NULL: none */
};
/* Fits one factor, not negative, to each group of a power table's components, so that replays of the traces
 * have the measured average power (least squares, weighted with 1 / sigma^2). Prints factors with standard
 * errors, points before and after, the error on points left out one at a time and on those of `check`. Errors:
 * those of ww_gpu_load and ww_run, WW_INPUT (a file is not as described), WW_USAGE (groups), WW_IO. */
WW_API enum ww_code ww_calibrate_power(const struct ww_calibrate_options *options, FILE *out,
                                       struct ww_error *error);
struct ww_calibrate_timing_options {
    const char *gpu;              /* as of ww_gpu_load */
    const char *measured, *check; /* as of ww_measured_load; check (NULL: none) is not fitted to */
    const char *const *fit;       /* parameters "key" or "key=low:high" */
    size_t fit_count;
    const char *traces; /* folder that recordings are kept in; NULL: a temporary one */
    const char *out;    /* GPU file with the fitted parameters, inherits from `gpu`; NULL: none */
    ww_progress_fn progress;
    void *context;
};
/* Fits parameters of a GPU, within bounds, to the cycles and times of a measurement (least squares of relative
 * errors). Prints parameters with standard errors, points before and after, the error on points left out one at
 * a time and on those of `check`. Errors: those of ww_gpu_load, ww_measured_load and ww_run, WW_USAGE
 * (parameters), WW_INPUT (parameters that the points do not tell apart, no times), WW_FAIL (progress stopped
 * it), WW_IO. */
WW_API enum ww_code ww_calibrate_timing(const struct ww_calibrate_timing_options *options, FILE *out,
                                        struct ww_error *error);
/* Fits the laws of a scaling table (NULL: the project's) to its points and prints them as JSON. Errors:
 * WW_INPUT, WW_IO. */
WW_API enum ww_code ww_calibrate_structures(const char *table, FILE *out, struct ww_error *error);

struct ww_calibrate_analytic_options {
    const char
        *measured;   /* CSV application,trace,gpu,set,cycles,energy_j: full replays; set: "key=value;..." */
    const char *out; /* the fit as the model reads it (estimator/fast/model_fit.def); NULL: none */
    ww_progress_fn progress;
    void *context;
};
/* Fits the analytical model's constants to full replays, and estimates each application with constants fitted
 * to the others. Prints constants, errors and how often the intervals cover. Errors: WW_INPUT (the table),
 * those of ww_gpu_load and of reading traces, WW_FAIL (progress stopped it), WW_IO. */
WW_API enum ww_code ww_calibrate_analytic(const struct ww_calibrate_analytic_options *options, FILE *out,
                                          struct ww_error *error);

/* ---- database --------------------------------------------------------------------------------- */

struct ww_db;

/* Opens or creates (create = true) a database; migrates an older schema. Errors: WW_DB, WW_IO. */
WW_API enum ww_code ww_db_open(const char *path, bool create, struct ww_db **db, struct ww_error *error);
WW_API void ww_db_close(struct ww_db *db);
/* Says, before a long run, what would keep ww_db_store_at from storing: a path that cannot be written or made,
 * a file that is no database of ours, a lock that another program holds for more than 10 s. Changes nothing.
 * Errors: as ww_db_open. */
WW_API enum ww_code ww_db_check_path(const char *path, struct ww_error *error);
/* Opens the database, stores, closes. One that does not exist is made beside its place and put there when the
 * result is in it, so that a failure leaves no file. */
WW_API enum ww_code ww_db_store_at(const char *path, const struct ww_result *result, int64_t *run_id,
                                   struct ww_error *error);
/* Stores a result in one transaction; *run_id is its key. On error the database is as before. */
WW_API enum ww_code ww_db_store(struct ww_db *db, const struct ww_result *result, int64_t *run_id,
                                struct ww_error *error);
/* Reads a stored run back; free with ww_result_free. Errors: WW_DB (no such run). */
WW_API enum ww_code ww_db_load(struct ww_db *db, int64_t run_id, struct ww_result **result,
                               struct ww_error *error);
/* The number of the run that was stored last. Errors: WW_DB (there is none). */
WW_API enum ww_code ww_db_last_run(struct ww_db *db, int64_t *run_id, struct ww_error *error);
/* Reads a sweep back, 0: the last one; free with ww_explored_free. Errors: WW_DB (no such sweep), WW_NOMEM. */
WW_API enum ww_code ww_db_load_sweep(struct ww_db *db, int64_t sweep_id, struct ww_explored **sweep,
                                     struct ww_error *error);
WW_API void ww_explored_free(struct ww_explored *sweep);
enum ww_format { WW_FORMAT_TABLE, WW_FORMAT_CSV, WW_FORMAT_JSON };
/* Runs one read-only SQL statement and prints its rows. Each binding is a value for the parameter of its place,
 * or ":name=value". Errors: WW_DB (the SQL), WW_USAGE (a parameter without a value, a value without one). */
WW_API enum ww_code ww_db_query(struct ww_db *db, const char *sql, const char *const *bindings, size_t count,
                                enum ww_format format, FILE *out, struct ww_error *error);
/* The same with a named query, whose parameters may be left out; :run and :base must be a stored run's number,
 * :sweep a sweep's, or "last"; :objective and :at must name what the sweep has. Errors: WW_USAGE (no such
 * query, not a number, no such name), WW_DB (no such run or sweep). */
WW_API enum ww_code ww_db_query_named(struct ww_db *db, const char *name, const char *const *bindings,
                                      size_t count, enum ww_format format, FILE *out, struct ww_error *error);
/* How many rows the last query printed. */
WW_API uint64_t ww_db_rows(const struct ww_db *db);
/* Named queries: SQL text by name; NULL if unknown. Enumerate with ww_db_named(i). */
struct ww_named_query {
    const char *name, *help, *sql;
};
WW_API size_t ww_db_named_count(void);
WW_API const struct ww_named_query *ww_db_named(size_t i);
WW_API const struct ww_named_query *ww_db_named_find(const char *name);

/* ---- reports ---------------------------------------------------------------------------------- */

/* The summary of a run: text, or one object (reports/schema/run.json). run_id < 0: it was not stored. */
WW_API enum ww_code ww_report_summary(const struct ww_result *result, int64_t run_id, bool json, FILE *out,
                                      struct ww_error *error);
/* The whole result as JSON (reports/schema/report.json). */
WW_API enum ww_code ww_report_json(const struct ww_result *result, int64_t run_id, FILE *out,
                                   struct ww_error *error);
/* Chrome trace events, one object (docs/report.md): a slice for each launch; counter tracks of warps by state,
 * instructions a cycle, watts by component and CTAs for each epoch, and of the clocks. Perfetto opens it.
 * Errors: WW_IO. */
WW_API enum ww_code ww_report_timeline(const struct ww_result *result, int64_t run_id, FILE *out,
                                       struct ww_error *error);
/* What a report is of: runs, a sweep, or both. The first run is what others are compared with. */
struct ww_report_set {
    const struct ww_result *const *run;
    const int64_t *run_id;
    size_t run_count;
    const struct ww_explored *sweep; /* NULL: none */
};
/* One HTML page that needs no other file (docs/report.md): tables, and plots by gnuplot as SVG. *plots: false
 * if there is no gnuplot, so that the page has tables only. Errors: WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_report_html(const struct ww_report_set *set, FILE *out, bool *plots,
                                   struct ww_error *error);
/* CSV (RFC 4180): a row for each launch of the runs, with all counters; or, of a sweep, one for each point.
 * Texts that a spreadsheet would take for a formula begin with an apostrophe. Errors: WW_IO. */
WW_API enum ww_code ww_report_csv(const struct ww_report_set *set, FILE *out, struct ww_error *error);
/* Markdown tables: the runs side by side, slots, warp states, memory, energy of each; a sweep's front and
 * effects. Errors: WW_NOMEM, WW_IO. */
WW_API enum ww_code ww_report_markdown(const struct ww_report_set *set, FILE *out, struct ww_error *error);
/* Text report: launches, warp states, issue slots, memory levels, energy. */
WW_API enum ww_code ww_report_text(const struct ww_result *result, int64_t run_id, FILE *out,
                                   struct ww_error *error);
/* Source lines ranked by stall cycles, at most `most` rows. */
WW_API enum ww_code ww_report_source(const struct ww_result *result, size_t most, bool json, FILE *out,
                                     struct ww_error *error);
/* Speed-up, energy, and where cycles and joules went, of b against a. */
WW_API enum ww_code ww_report_compare(const struct ww_result *a, int64_t a_id, const struct ww_result *b,
                                      int64_t b_id, bool json, FILE *out, struct ww_error *error);

/* ---- measurements of real GPUs ----------------------------------------------------------------- */

/* Reads what build/hardware-kit wrote (reports/schema/hardware.json), or a CSV of measured figures if the name
 * ends in
 * ".csv" (docs/hardware.md). Free with ww_measured_free. Errors: WW_INPUT with the place, WW_IO, WW_NOMEM. */
WW_API enum ww_code ww_measured_load(const char *path, struct ww_measured **out, struct ww_error *error);
/* An empty one; NULL: no memory. */
WW_API struct ww_measured *ww_measured_new(void);
WW_API void ww_measured_free(struct ww_measured *measured);
/* "time_s", "cycles", "power_w", "energy_j"; NULL if out of range. */
WW_API const char *ww_metric_name(enum ww_metric metric);
/* Stores it in one transaction; *id is its number. *stored: false if a measurement of the same content is
 * there, whose number *id then is. Errors: WW_DB, WW_IO. */
WW_API enum ww_code ww_db_store_measured(struct ww_db *db, const struct ww_measured *measured, int64_t *id,
                                         bool *stored, struct ww_error *error);
/* Reads a stored one back; id 0: the last. Errors: WW_DB (there is none). */
WW_API enum ww_code ww_db_load_measured(struct ww_db *db, int64_t id, struct ww_measured **out,
                                        struct ww_error *error);
/* The latest run of a workload (its trace's file name without folders and .wwt) on a GPU. Errors: WW_DB (none).
 */
WW_API enum ww_code ww_db_find_run(struct ww_db *db, const char *workload, const char *gpu, int64_t *id,
                                   struct ww_error *error);

struct ww_correlate_options {
    const struct ww_measured *measured;
    const char *gpu; /* model to estimate with, as of ww_gpu_load */
    const char *const *overrides;
    size_t override_count;
    const char *const *mechanisms; /* as of ww_run */
    size_t mechanism_count;
    const char *power_table;
    const char *const *workloads; /* only these; none: all */
    size_t workload_count;
    const char *metric; /* only this; NULL: all */
    bool launches;      /* a row for each launch, not for each kernel of a workload */
    const char *traces; /* folder that recordings are kept in; NULL: a temporary one */
    /* NULL: record and replay; else gives the estimate of a point's workload, freed with ww_result_free */
    enum ww_code (*find)(void *context, const struct ww_measured_point *point, struct ww_result **result,
                         struct ww_error *error);
    void *find_context;
    ww_progress_fn progress;
    void *context;
};
struct ww_correlation; /* rows, and how they agree */
/* Sets estimates beside measurements. Errors: those of recording and replay, WW_USAGE (nothing of what was
 * asked for was measured), WW_INPUT (launches differ), WW_UNSUPPORTED (power without a power table). */
WW_API enum ww_code ww_correlate(const struct ww_correlate_options *options, struct ww_correlation **out,
                                 struct ww_error *error);
WW_API void ww_correlation_free(struct ww_correlation *correlation);
/* A table, CSV, or JSON (reports/schema/correlate.json). */
WW_API enum ww_code ww_correlation_print(const struct ww_correlation *correlation, enum ww_format format,
                                         FILE *out, struct ww_error *error);
/* A scatter plot of the counted rows of each metric, in characters. */
WW_API void ww_correlation_scatter(const struct ww_correlation *correlation, FILE *out);
/* Data files and a gnuplot script in the folder `dir`, which it makes, and SVG and PNG of them if there is a
 * gnuplot. Errors: WW_IO. */
WW_API enum ww_code ww_correlation_plots(const struct ww_correlation *correlation, const char *dir,
                                         struct ww_error *error);
/* Writes a GPU file to `path` that inherits from `base` and takes latencies, rates and clocks from the
 * microbenchmarks, each with its source, and prints the parameters to `list`. Errors: WW_INPUT (nothing to
 * derive from, a value out of bounds), WW_IO, those of replays. */
WW_API enum ww_code ww_measured_derive(const struct ww_measured *measured, const char *base, const char *path,
                                       FILE *list, struct ww_error *error);

/* ---- sweeps ----------------------------------------------------------------------------------- */

/* A part of a sweep's points, computed into a database of its own, for machines that share no more than files.
 */
struct ww_sweep_shard {
    uint64_t number, of;    /* which part of how many, from 1; parts differ in size by one point at most */
    const char *into;       /* the database, written elsewhere and put in place whole; what it has is kept */
    const char *local;      /* folder where it is written, on a disk of this machine; NULL: TMPDIR or /tmp */
    const char *traces;     /* folder of workloads that were recorded already; NULL: they are recorded here */
    const char *sweep_hash; /* of the sweep that this must be a part of; NULL: any */
};

/* A sweep as job arrays of a Slurm cluster; strings are as sbatch takes them, NULL: the cluster's default. */
struct ww_sweep_slurm {
    const char *folder;   /* that all nodes share, for shards and logs; NULL: the database's name with .slurm */
    const char *node_dir; /* on a node's own disk; NULL: TMPDIR of the task, or /tmp */
    const char *partition, *account, *time, *memory;
    const char *const *extra; /* further options of sbatch, a word each */
    size_t extra_count;
    unsigned cpus;         /* of a task, and its threads; 0: 1 */
    uint64_t shard_points; /* points of a task; 0: 100 */
    unsigned tries;        /* of a shard without a new point before it is given up; 0: 3 */
    unsigned poll_s;       /* seconds between two looks at the queue; 0: 5 */
    bool keep;             /* the folder when all is done */
    void (*note)(void *context, const char *text); /* what happens, a line each; may be NULL */
};

struct ww_sweep_options {
    const char *space;    /* file: GPU, traces, parameters with their levels (docs/sweep.md) */
    const char *db;       /* made if it is not there */
    const char *strategy; /* "grid" (NULL), "random", "latin", "sobol", "adaptive" */
    const char *mode;     /* of the replays: "full" (NULL), "sampled", "analytic" */
    uint64_t points;      /* that the strategy picks; 0 for the grid; of adaptive candidates, 0: the grid */
    double budget;        /* of adaptive: share of the cost of replaying all candidates, 0: 0.05 */
    uint64_t seed;
    unsigned jobs; /* threads, at least 1; what is stored does not depend on their number */
    const struct ww_sweep_shard *shard; /* NULL: all points; else db is not looked at */
    const struct ww_sweep_slurm *slurm; /* NULL: on this machine; else jobs is not looked at */
    ww_progress_fn progress;
    void *context;
};
struct ww_sweep_summary {
    int64_t sweep; /* its number in the database; 0: it was not begun */
    uint64_t points, stored, invalid, infeasible;
    uint64_t computed, reused; /* replays: done by this call, and found in the database */
    uint64_t replayed;         /* adaptive: points that were replayed in full, now or before */
    uint64_t sampled;          /* adaptive: further points, of which samples were replayed */
    double budget, cost;       /* adaptive: shares of the exhaustive cost, allowed and spent; else 0 */
    char why[1000];            /* adaptive: why no candidate was worth a replay; "" if one was */
    const char *warning;       /* what the figures leave out, lives for ever; NULL: nothing known */
};
/* Replays every trace on every point that the strategy picks, stores each point when it is done, and goes on
 * where an earlier call of the same sweep was interrupted. A point that cannot be is stored with its reason.
 * *summary is filled also on error, as far as it went. Errors: WW_USAGE (options), WW_INPUT (the space file,
 * with the place; traces), WW_UNSUPPORTED (energies without a power table), WW_FAIL (progress stopped it),
 * WW_DB, WW_IO. */
WW_API enum ww_code ww_sweep(const struct ww_sweep_options *options, struct ww_sweep_summary *summary,
                             struct ww_error *error);
struct ww_sweep_merged {
    uint64_t sweeps, points, replays; /* that the database did not have */
};
/* Joins the sweeps of `count` other databases (shards, or whole ones) into one, which is made if it is not
 * there. What is there already stays, so that it can be done again at any time. Errors: WW_DB (a file is
 * damaged), WW_MISMATCH (replays disagree), WW_USAGE (a file into itself), WW_IO. */
WW_API enum ww_code ww_sweep_merge(const char *db, const char *const *from, size_t count,
                                   struct ww_sweep_merged *merged, struct ww_error *error);
/* Names of strategies; NULL if out of range. */
WW_API size_t ww_sweep_strategy_count(void);
WW_API const char *ww_sweep_strategy_at(size_t i);

/* ---- validation ------------------------------------------------------------------------------- */

/* Suites that measure what publications state (docs/validation.md); NULL if out of range. */
WW_API size_t ww_validate_suite_count(void);
WW_API const char *ww_validate_suite_name(size_t i);
WW_API const char *ww_validate_suite_help(size_t i);
struct ww_validate_options {
    unsigned jobs; /* threads to measure with, at least 1; results do not depend on it */
    bool small;    /* small inputs, where a suite has them: tries it in seconds, its figures mean nothing */
    ww_progress_fn progress;
    void *context;
};
struct ww_validation; /* what a suite measured: rows, ours beside the publication's */
/* Runs a suite. A row outside its tolerance is no error. Errors: WW_USAGE (unknown name), WW_FAIL (progress
 * stopped it), those of ww_run. */
WW_API enum ww_code ww_validate(const char *name, const struct ww_validate_options *options,
                                struct ww_validation **validation, struct ww_error *error);
WW_API void ww_validation_free(struct ww_validation *validation);
/* Prints the rows of `count` suites: a table each, or one array for all (reports/schema/validate.json). */
WW_API enum ww_code ww_validation_print(struct ww_validation *const *validation, size_t count, bool json,
                                        FILE *out, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
