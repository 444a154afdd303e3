/* record_run.c: recording built-in workloads and PTX files. */
#include "../../estimator/api/record.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/base/buf.h"
#include "../../estimator/base/outfile.h"
#include "../workloads/workload.h"
#include "../ptx/record/launch.h"
#include "../sass/cubin/ptxas.h"
#include "record_text.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SUBSTITUTE 75u /* the oldest architecture of ptxas 13 */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void join(struct ww_buf *out, const char *const *text, size_t count) {
    for (size_t n = 0; n < count; n++) ww_buf_printf(out, "%s%s", n ? " " : "", text[n]);
}

/* Ends a recording that went well, or gives it up. Takes the device. */
static enum ww_code finish(struct ww_device *d, enum ww_code code, double began, struct ww_record_stats *stats,
                           struct ww_error *error) {
    struct ww_record_stats s = {0};
    if (code == WW_OK) code = ww_device_finish(d, &s, error);
    ww_device_free_all(d);
    s.verified = code == WW_OK && stats->verified;
    s.host_seconds = now() - began;
    *stats = s;
    return code;
}

enum ww_code ww_record_workload(const char *name, const char *const *parameters, size_t count,
                                const struct ww_record_options *options, struct ww_record_stats *stats,
                                struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_record_stats unused;
    double began = now();
    const struct ww_workload_ops *ops;
    void *settings = NULL;
    struct ww_device *d = NULL;
    struct ww_buf program = {0}, arguments = {0};
    if (!stats) stats = &unused;
    memset(stats, 0, sizeof *stats);
    WW_TRY(ww_workload_prepare(name, parameters, count, &ops, &settings, error));
    ww_buf_printf(&program, "workload %s", name);
    ww_buf_puts(&arguments, "");
    join(&arguments, parameters, count);
    struct ww_trace_meta meta = {
        .program = program.p, .arguments = arguments.p, .tool = "warpwatt " WW_VERSION};
    char arch[WW_WORKLOAD_ARCH];
    struct ww_record_options chosen = *options;
    enum ww_code code = ww_workload_arch(ops, options->arch, arch, error);
    chosen.arch = arch;
    if (code == WW_OK) code = ww_device_new(&chosen, &meta, &d, error);
    if (code == WW_OK) {
        code = ops->run(settings, d, options->seed, error);
        stats->verified = code == WW_OK;
        code = finish(d, code, began, stats, error);
    }
    ww_buf_free(&program);
    ww_buf_free(&arguments);
    free(settings);
    return code;
}

enum ww_code ww_record_ptx(const char *ptx_path, const char *launch_json_path,
                           const struct ww_record_options *options, struct ww_record_stats *stats,
                           struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_record_stats unused;
    double began = now();
    struct launch_file *f;
    struct ww_device *d = NULL;
    if (!stats) stats = &unused;
    memset(stats, 0, sizeof *stats);
    if (options->out_path) {
        WW_TRY(ww_outfile_not_input(options->out_path, ptx_path, error));
        WW_TRY(ww_outfile_not_input(options->out_path, launch_json_path, error));
    }
    WW_TRY(ww_launch_file_load(launch_json_path, &f, error));
    struct ww_trace_meta meta = {
        .program = ptx_path, .arguments = launch_json_path, .tool = "warpwatt " WW_VERSION};
    enum ww_code code = ww_device_new(options, &meta, &d, error);
    if (code == WW_OK) {
        code = ww_launch_file_run(f, d, ptx_path, options->seed, &(struct ww_launch_use){0}, &stats->verified,
                                  error);
        code = finish(d, code, began, stats, error);
    }
    ww_launch_file_free(f);
    return code;
}

enum ww_code ww_record_text(const struct ww_record_text *text, const struct ww_record_options *options,
                            struct ww_record_stats *stats, struct ww_error *error) {
    double began = now();
    struct launch_file *f;
    struct ww_device *d = NULL;
    memset(stats, 0, sizeof *stats);
    WW_TRY(ww_launch_file_parse(text->launch, text->launch_bytes, text->where, &f, error));
    struct ww_trace_meta meta = {
        .program = text->program, .arguments = text->arguments, .tool = "warpwatt " WW_VERSION};
    enum ww_code code = ww_device_new(options, &meta, &d, error);
    if (code == WW_OK) {
        code = ww_launch_file_run(f, d, text->ptx_path, options->seed, &text->use, &stats->verified, error);
        code = finish(d, code, began, stats, error);
    }
    ww_launch_file_free(f);
    return code;
}

enum ww_code ww_record_assembler(const char *arch, struct ww_arena *arena, const char **text,
                                 struct ww_error *error) {
    struct ptxas_tools tools;
    uint32_t wanted = (uint32_t)strtoul(strncmp(arch, "sm_", 3) == 0 ? arch + 3 : arch, NULL, 10);
    *text = "";
    if (wanted < 70 || ww_ptxas_tools_find(&tools, NULL) != WW_OK) return WW_OK;
    for (int pass = 0; pass < 2; pass++) { /* as ww_ptxas_compile: sm_75 stands in for sm_70 and sm_72 */
        if (pass && wanted >= SUBSTITUTE) break;
        for (size_t i = 0; i < tools.count && *text && !**text; i++) {
            struct ptxas_tool *t = &tools.tool[i];
            ww_ptxas_tool_ask(t);
            if (!t->works || !ww_ptxas_tool_supports(t, pass ? SUBSTITUTE : wanted, false)) continue;
            *text = ww_arena_printf(arena, "ptxas %s%s", t->version, pass ? ", whose sm_75 stands in" : "");
        }
    }
    ww_ptxas_tools_free(&tools);
    return *text ? WW_OK : ww_fail_nomem(error, "the name of an assembler");
}
