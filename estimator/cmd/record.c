/* warpwatt trace record */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "../base/text.h"
#include "cmd.h"
#include "trace_program.h"
#include <stdlib.h>
#include <string.h>

/* --code, else WARPWATT_CODE, else auto. */
enum ww_code ww_cmd_record_code(const struct cmd_line *line, enum ww_record_code *code,
                                struct ww_error *error) {
    const char *given = ww_cmd_get(line, "code"), *where = "--code";
    if (!given) given = getenv("WARPWATT_CODE"), where = "WARPWATT_CODE";
    *code = WW_RECORD_AUTO;
    if (given && *given) WW_TRY(ww_record_code_parse(given, where, code, error));
    if (*code == WW_RECORD_PTX && ww_cmd_has(line, "ptxas-options"))
        return ww_fail(error, WW_USAGE, "--ptxas-options", "has no effect: %s %s compiles nothing", where,
                       given);
    return WW_OK;
}

/* Where code comes from. */
static void say(void *context, const char *text) {
    (void)context;
    fputs("warpwatt: ", stderr);
    ww_put_text(stderr, text);
    fputc('\n', stderr);
}

static enum ww_code read_options(const struct cmd_line *line, struct ww_record_options *o,
                                 struct ww_error *error) {
    uint64_t max_registers = 0, registers = 0, level = 0;
    WW_TRY(ww_cmd_u64(line, "max-registers", 16, 255, &max_registers, error));
    WW_TRY(ww_cmd_u64(line, "registers", 1, 255, &registers, error));
    WW_TRY(ww_cmd_u64(line, "instruction-limit", 1, UINT64_MAX, &o->instruction_limit, error));
    WW_TRY(ww_cmd_u64(line, "seed", 0, UINT64_MAX, &o->seed, error));
    WW_TRY(ww_cmd_u64(line, "level", 1, 19, &level, error));
    WW_TRY(ww_cmd_record_code(line, &o->code, error));
    o->ptxas_options = ww_cmd_get(line, "ptxas-options");
    if (!ww_cmd_has(line, "quiet")) o->message = say;
    o->keep_source = ww_cmd_has(line, "keep-source");
    o->out_path = ww_cmd_get(line, "out");
    o->arch = ww_cmd_get(line, "arch");
    o->max_registers = (uint32_t)max_registers;
    o->registers_per_thread = (uint32_t)registers;
    o->compression = (int)level;
    return WW_OK;
}

static enum ww_code print_json(const struct cmd_line *line, const char *what, const struct ww_record_stats *s,
                               struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "program", what);
    ww_jsonw_str(&w, "trace", ww_cmd_get(line, "out"));
    ww_jsonw_u64(&w, "launches", s->launches);
    ww_jsonw_u64(&w, "warp_instructions", s->warp_instructions);
    ww_jsonw_u64(&w, "thread_instructions", s->thread_instructions);
    ww_jsonw_u64(&w, "bytes", s->bytes);
    if (s->warp_instructions && s->bytes)
        ww_jsonw_f64(&w, "bytes_per_warp_instruction", (double)s->bytes / (double)s->warp_instructions);
    else
        ww_jsonw_null(&w, "bytes_per_warp_instruction");
    ww_jsonw_bool(&w, "verified", s->verified);
    ww_jsonw_f64(&w, "host_seconds", s->host_seconds);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static void print_text(const struct cmd_line *line, const char *what, const struct ww_record_stats *s) {
    const char *out = ww_cmd_get(line, "out");
    printf("%s: %llu launch%s, %llu warp instructions, %llu thread instructions; %s\n", ww_shown(what),
           (unsigned long long)s->launches, ww_plural(s->launches, "es"),
           (unsigned long long)s->warp_instructions, (unsigned long long)s->thread_instructions,
           s->verified ? "the output equals its reference" : "the output has no reference to compare with");
    char each[32];
    if (out && s->warp_instructions) {
        ww_three_digits((double)s->bytes / (double)s->warp_instructions, each);
        printf("%s: %llu bytes, %s for each warp instruction\n", ww_shown(out), (unsigned long long)s->bytes,
               each);
    }
    printf("%.2f s, %.1f million thread instructions/s\n", s->host_seconds,
           s->host_seconds > 0 ? 1e-6 * (double)s->thread_instructions / s->host_seconds : 0);
}

static enum ww_code record_workload(const struct cmd_line *line, const struct ww_record_options *options,
                                    struct ww_record_stats *stats, struct ww_error *error) {
    const char **parameter;
    size_t count;
    enum ww_code code = ww_cmd_all(line, "param", &parameter, &count, error);
    if (code == WW_OK)
        code = ww_record_workload(ww_cmd_get(line, "workload"), parameter, count, options, stats, error);
    free(parameter);
    return code;
}

/* "; say --arch sm_80", with the architecture of the GPU that --gpu names if there is such a one. */
static void advise_arch(const struct cmd_line *line, char *out, size_t room) {
    struct ww_gpu *gpu = NULL;
    struct ww_param_view view;
    snprintf(out, room, "; say --arch");
    if (ww_gpu_load(ww_cmd_get(line, "gpu"), NULL, 0, &gpu, NULL) != WW_OK) return;
    for (size_t i = 0; i < ww_gpu_param_count(); i++)
        if (ww_gpu_param(gpu, i, &view, NULL) == WW_OK && strcmp(view.key, "arch") == 0)
            snprintf(out, room, "; say --arch %.30s", view.value);
    ww_gpu_free(gpu);
}

static enum ww_code check_source(const struct cmd_line *line, struct ww_error *error) {
    static const char *const of_program[] = {"gpu",    "kernel",          "first",    "every",
                                             "strict", "follow-children", "no-record"};
    const char *where = "warpwatt trace record";
    char advice[60] = "";
    if (ww_cmd_has(line, "gpu")) advise_arch(line, advice, sizeof advice);
    for (size_t n = 0; n < sizeof of_program / sizeof of_program[0]; n++)
        if (ww_cmd_has(line, of_program[n]))
            return ww_fail(error, WW_USAGE, where, "--%s goes with -- PROGRAM only%s", of_program[n],
                           strcmp(of_program[n], "gpu") == 0 ? advice : "");
    bool workload = ww_cmd_has(line, "workload"), ptx = ww_cmd_has(line, "ptx");
    if (workload == ptx)
        return ww_fail(error, WW_USAGE, where, "expected --workload, --ptx with --launch, or -- PROGRAM");
    if (ptx != ww_cmd_has(line, "launch"))
        return ww_fail(error, WW_USAGE, where, "--ptx and --launch belong together");
    if (ptx && ww_cmd_has(line, "param"))
        return ww_fail(error, WW_USAGE, where, "--param is of --workload only");
    return WW_OK;
}

static enum ww_code record_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_record_options options = {0};
    struct ww_record_stats stats = {0};
    struct cmd_progress progress;
    bool quiet = ww_cmd_has(line, "quiet");
    if (line->argument_count) return ww_cmd_trace_program(line, error);
    WW_TRY(check_source(line, error));
    WW_TRY(read_options(line, &options, error));
    const char *what = ww_cmd_has(line, "ptx") ? ww_cmd_get(line, "ptx") : ww_cmd_get(line, "workload");
    options.progress = ww_cmd_progress_step;
    options.context = &progress;
    /* JSON stays alone on stdout. */
    FILE *aside = ww_cmd_has(line, "json") ? ww_cmd_screen_stderr() : NULL;
    options.kernel_output = aside ? aside : stdout;
    if (ww_cmd_has(line, "json") && !aside) return ww_fail_nomem(error, "the kernel's output");
    ww_cmd_progress_begin(&progress, what, quiet);
    enum ww_code code = ww_cmd_has(line, "ptx")
                            ? ww_record_ptx(what, ww_cmd_get(line, "launch"), &options, &stats, error)
                            : record_workload(line, &options, &stats, error);
    if (aside) fclose(aside);
    WW_TRY(ww_cmd_progress_end(&progress, code, error));
    if (ww_cmd_has(line, "json")) return print_json(line, what, &stats, error);
    if (!quiet) print_text(line, what, &stats);
    if (options.keep_source && !quiet && !ww_cmd_has(line, "ptx"))
        fputs(
            "warpwatt: warning: --keep-source: PTX of built-in workloads has no line information, so the trace "
            "keeps no source\n",
            stderr);
    return WW_OK;
}

static const struct cmd_option record_options[] = {
    {"workload", 'w', "WORKLOAD", "a built-in workload (trace workloads lists them)", 0},
    {"param", 'p', "KEY=VALUE", "a parameter of the workload", CMD_REPEAT},
    {"ptx", 0, "FILE", "any PTX file, run as --launch says", 0},
    {"launch", 0, "FILE", "launch description of --ptx (JSON, docs/reference/launch.md)", 0},
    {"out", 'o', "FILE", "trace file to write; without it the kernel only runs and is checked", 0},
    {"arch", 0, "ARCH",
     "architecture (default sm_70, or what the workload needs); PTX is lowered as for the nearest older one of "
     "sm_20, sm_52 and sm_70",
     0},
    {"code", 0, "CODE",
     "sass: machine code by ptxas or of the program; ptx: PTX, lowered by our own rules; auto (default, or "
     "WARPWATT_CODE): machine code if available, else PTX",
     0},
    {"ptxas-options", 0, "OPTIONS", "further options of ptxas, such as '-O1 --fmad=false'", 0},
    {"max-registers", 0, "N", "registers of a thread at most; more are spilled", 0},
    {"registers", 0, "N", "registers of a thread for occupancy (default: liveness analysis)", 0},
    {"instruction-limit", 0, "N", "thread instructions of a launch at most (default: 100 billion)", 0},
    {"seed", 0, "N", "seed of generated inputs (default 0)", 0},
    {"level", 0, "N", "zstd compression level, 1 to 19", 0},
    {"keep-source", 0, NULL,
     "keep the text of source files that line information names; else only their hashes", 0},
    {"gpu", 'g', "GPU", "the GPU that a program behind -- sees (default v100)", 0},
    {"kernel", 'k', "PATTERN", "record only launches of kernels whose PTX name matches (shell pattern)", 0},
    {"first", 0, "N", "record only the first N launches of each kernel", 0},
    {"every", 0, "N", "record every Nth launch of each kernel", 0},
    {"follow-children", 0, NULL,
     "record each process that the program starts into a trace of its own (NAME.PID.wwt), and wait for all", 0},
    {"no-record", 0, NULL, "run the program behind -- and record nothing", 0},
    {"strict", 0, NULL, "an access just outside of an allocation of that program is an error", 0},
    {"json", 0, NULL, "print JSON", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_trace_record = {
    .arguments = "[-- PROGRAM [ARGUMENT...]]",
    .max_arguments = 65536,
    .about = "Runs the kernel's machine code (or PTX) warp by warp on the CPU, compares what it\n"
             "computed with a reference, and writes what each warp executed. No GPU is needed.\n"
             "Machine code comes from ptxas, of any CUDA toolkit found (docs/reference/machine-code.md).\n"
             "A program behind -- runs with its CUDA runtime replaced by one that records (see\n"
             "docs/guide/own-program.md); its exit status is passed on.\n",
    .examples = "warpwatt trace record --workload bfs -o bfs.wwt\n"
                "warpwatt trace record -w saxpy -p n=65536 --arch sm_20 -o saxpy.wwt\n"
                "warpwatt trace record --ptx kernel.ptx --launch launch.json -o kernel.wwt\n"
                "warpwatt trace record -o app.wwt --kernel '*stencil*' -- ./app input.txt\n",
    .options = record_options,
    .run = record_run,
};
