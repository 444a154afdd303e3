/* warpwatt trace info|profile|dump|verify|slice|merge|workloads */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "../base/text.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

#define CMD_MERGE_MAX 256

static enum ww_code print_profile(const struct cmd_line *line, struct ww_trace *trace, struct ww_error *error) {
    struct cmd_progress progress;
    ww_cmd_progress_begin(&progress, line->argument[0], false);
    enum ww_code code =
        ww_trace_print_profile(trace, ww_cmd_has(line, "json"), stdout, ww_cmd_progress_step, &progress, error);
    return ww_cmd_progress_end(&progress, code, error);
}

static enum ww_code info_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(line->argument[0], &trace, error));
    enum ww_code code = ww_cmd_has(line, "profile")
                            ? print_profile(line, trace, error)
                            : ww_trace_print_info(trace, ww_cmd_has(line, "json"), stdout, error);
    ww_trace_close(trace);
    return code;
}

static const struct cmd_option info_options[] = {
    {"profile", 0, NULL, "what the warps do: divergence, coalescing, conflicts, intensity, reuse distances", 0},
    {"json", 0, NULL, "print JSON (reports/schema/trace_info.json, trace_profile.json)", 0},
    {0}};
const struct cmd ww_cmd_trace_info = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "Reads the file's index alone; with --profile every stream.\n"
             "docs/reference/profile.md says how each figure is counted.\n",
    .examples = "warpwatt trace info bfs.wwt\nwarpwatt trace info bfs.wwt --profile\n",
    .options = info_options,
    .run = info_run,
};

static enum ww_code profile_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace;
    struct cmd_progress progress;
    WW_TRY(ww_trace_open(line->argument[0], &trace, error));
    ww_cmd_progress_begin(&progress, line->argument[0], ww_cmd_has(line, "quiet"));
    enum ww_code code =
        ww_trace_print_model_profile(trace, line->argument[0], stdout, ww_cmd_progress_step, &progress, error);
    ww_trace_close(trace);
    return ww_cmd_progress_end(&progress, code, error);
}

static const struct cmd_option profile_options[] = {{"quiet", 'q', NULL, "show no progress", 0}, {0}};
const struct cmd ww_cmd_trace_profile = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "Reads FILE.profile, or makes it from FILE: critical paths, reuse distances and\n"
             "counts from which run --mode analytic computes (docs/model/analytic.md).\n",
    .examples = "warpwatt trace profile bfs.wwt\n",
    .options = profile_options,
    .run = profile_run,
};

static enum ww_code dump_run(const struct cmd_line *line, struct ww_error *error) {
    uint64_t launch = 0, cta = 0, warp = 0;
    WW_TRY(ww_cmd_u64(line, "launch", 0, UINT32_MAX, &launch, error));
    WW_TRY(ww_cmd_u64(line, "cta", 0, UINT64_MAX, &cta, error));
    WW_TRY(ww_cmd_u64(line, "warp", 0, 63, &warp, error));
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(line->argument[0], &trace, error));
    int one = ww_cmd_has(line, "warp") ? (int)warp : -1;
    enum ww_code code = ww_trace_dump(trace, (size_t)launch, cta, one, ww_cmd_has(line, "json"), stdout, error);
    ww_trace_close(trace);
    return code;
}

static const struct cmd_option dump_options[] = {
    {"launch", 0, "N", "launch number, from 0 (default 0)", 0},
    {"cta", 0, "N", "linear CTA number, from 0 (default 0)", 0},
    {"warp", 0, "N", "one warp of the CTA (default: all)", 0},
    {"json", 0, NULL, "print JSON (reports/schema/trace_dump.json)", 0},
    {0}};
const struct cmd ww_cmd_trace_dump = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "Each line is an instruction that a warp executed: its lanes, registers and addresses. Of\n"
             "machine code a trace has no immediates, constants and negations; warpwatt disasm lists\n"
             "all code of a cubin, a program or PTX.\n",
    .examples = "warpwatt trace dump bfs.wwt --launch 1 --cta 5 --warp 0\n",
    .options = dump_options,
    .run = dump_run,
};

static enum ww_code verify_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(line->argument[0], &trace, error));
    struct cmd_progress progress;
    ww_cmd_progress_begin(&progress, line->argument[0], ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_trace_verify(trace, ww_cmd_progress_step, &progress, error);
    code = ww_cmd_progress_end(&progress, code, error);
    if (code == WW_OK && ww_cmd_has(line, "json")) {
        struct ww_jsonw w;
        ww_jsonw_begin(&w, stdout);
        ww_jsonw_open(&w, NULL, '{');
        ww_jsonw_str(&w, "trace", line->argument[0]);
        ww_jsonw_bool(&w, "sound", true);
        ww_jsonw_u64(&w, "launches", ww_trace_launch_count(trace));
        ww_jsonw_close(&w, '}');
        code = ww_jsonw_end(&w, error);
    } else if (code == WW_OK && !ww_cmd_has(line, "quiet"))
        printf("%s: sound, %zu launch%s\n", ww_shown(line->argument[0]), ww_trace_launch_count(trace),
               ww_plural(ww_trace_launch_count(trace), "es"));
    ww_trace_close(trace);
    return code;
}

static const struct cmd_option verify_options[] = {
    {"json", 0, NULL, "print JSON", 0}, {"quiet", 'q', NULL, "print errors only", 0}, {0}};
const struct cmd ww_cmd_trace_verify = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "Also looks for what no kernel can do: instructions of a warp after the EXIT of its\n"
             "last lane, a kernel of 0 registers per thread.\n",
    .examples = "warpwatt trace verify bfs.wwt\n",
    .options = verify_options,
    .run = verify_run,
};

enum ww_code ww_cmd_tell_written(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace;
    if (!ww_cmd_has(line, "json")) return WW_OK;
    WW_TRY(ww_trace_open(ww_cmd_get(line, "out"), &trace, error));
    enum ww_code code = ww_trace_print_info(trace, true, stdout, error);
    ww_trace_close(trace);
    return code;
}

static enum ww_code slice_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(line->argument[0], &trace, error));
    struct cmd_progress progress;
    ww_cmd_progress_begin(&progress, line->argument[0], ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_trace_slice(trace, ww_cmd_get(line, "launches"), ww_cmd_get(line, "ctas"),
                                       ww_cmd_get(line, "out"), ww_cmd_progress_step, &progress, error);
    ww_trace_close(trace);
    code = ww_cmd_progress_end(&progress, code, error);
    return code == WW_OK ? ww_cmd_tell_written(line, error) : code;
}

static const struct cmd_option slice_options[] = {
    {"launches", 0, "LIST", "launches to copy, such as 0,2-4 (default: all)", 0},
    {"ctas", 0, "LIST", "linear CTA numbers to copy of each launch (default: all)", 0},
    {"out", 'o', "FILE", "trace file to write", CMD_REQUIRED},
    {"json", 0, NULL, "print what the new file holds as JSON (reports/schema/trace_info.json)", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_trace_slice = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "",
    .examples = "warpwatt trace slice bfs.wwt --launches 3 --ctas 0-79 -o part.wwt\n",
    .options = slice_options,
    .run = slice_run,
};

/* ---- merge ---- */

static void close_all(struct ww_trace **trace, size_t count) {
    for (size_t i = 0; i < count; i++) ww_trace_close(trace[i]);
}

static enum ww_code merge_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace[CMD_MERGE_MAX];
    size_t opened = 0;
    enum ww_code code = WW_OK;
    while (opened < line->argument_count && code == WW_OK) {
        code = ww_trace_open(line->argument[opened], &trace[opened], error);
        if (code == WW_OK) opened++;
    }
    struct cmd_progress progress;
    ww_cmd_progress_begin(&progress, ww_cmd_get(line, "out"), ww_cmd_has(line, "quiet"));
    if (code == WW_OK)
        code = ww_trace_merge(trace, opened, ww_cmd_get(line, "out"), ww_cmd_progress_step, &progress, error);
    close_all(trace, opened);
    code = ww_cmd_progress_end(&progress, code, error);
    return code == WW_OK ? ww_cmd_tell_written(line, error) : code;
}

static const struct cmd_option merge_options[] = {
    {"out", 'o', "FILE", "trace file to write", CMD_REQUIRED},
    {"json", 0, NULL, "print what the new file holds as JSON (reports/schema/trace_info.json)", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_trace_merge = {
    .arguments = "FILE...",
    .min_arguments = 1,
    .max_arguments = CMD_MERGE_MAX,
    .about = "",
    .examples = "warpwatt trace merge bfs.wwt kmeans.wwt -o both.wwt\n",
    .options = merge_options,
    .run = merge_run,
};

/* ---- workloads ---- */

static void print_lines(const char *text, const char *indent) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        printf("%s%.*s\n", indent, (int)n, text);
        text += n + (text[n] != 0);
    }
}

static enum ww_code workloads_json(struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < ww_workload_count(); i++) {
        struct ww_workload_view v;
        WW_TRY(ww_workload(i, &v, error));
        ww_jsonw_open(&w, NULL, '{');
        ww_jsonw_str(&w, "name", v.name);
        ww_jsonw_str(&w, "help", v.help);
        if (v.arch) ww_jsonw_str(&w, "arch", v.arch);
        ww_jsonw_open(&w, "parameters", '[');
        for (const char *p = v.parameters; *p;) {
            size_t n = strcspn(p, "\n");
            ww_jsonw_text(&w, NULL, p, n);
            p += n + (p[n] != 0);
        }
        ww_jsonw_close(&w, ']');
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    return ww_jsonw_end(&w, error);
}

static enum ww_code workloads_run(const struct cmd_line *line, struct ww_error *error) {
    if (ww_cmd_has(line, "json")) return workloads_json(error);
    for (size_t i = 0; i < ww_workload_count(); i++) {
        struct ww_workload_view v;
        WW_TRY(ww_workload(i, &v, error));
        if (ww_cmd_has(line, "names")) {
            puts(v.name);
        } else {
            printf("%s: %s%s%s%s\n", v.name, v.help, v.arch ? " (" : "", v.arch ? v.arch : "",
                   v.arch ? ")" : "");
            print_lines(v.parameters, "    ");
        }
    }
    return WW_OK;
}

static const struct cmd_option workloads_options[] = {
    {"json", 0, NULL, "print JSON", 0}, {"names", 0, NULL, "print names only, one a line", 0}, {0}};
const struct cmd ww_cmd_trace_workloads = {
    .arguments = "",
    .about = "",
    .examples = "warpwatt trace workloads\n",
    .options = workloads_options,
    .run = workloads_run,
};
