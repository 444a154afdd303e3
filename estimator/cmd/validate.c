/* warpwatt validate */
#include "../warpwatt.h"
#include "cmd.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUITES_MAX = 64 };

static enum ww_code list(const struct cmd_line *line, struct ww_error *error) {
    if (ww_cmd_has(line, "names")) {
        for (size_t i = 0; i < ww_validate_suite_count(); i++) puts(ww_validate_suite_name(i));
        return WW_OK;
    }
    if (ww_cmd_has(line, "json"))
        return ww_fail(error, WW_USAGE, "warpwatt validate", "--json needs a suite's name, or --all");
    struct cmd_table t = {.columns = 2};
    ww_cmd_table_cell(&t, "suite");
    ww_cmd_table_cell(&t, "what it measures");
    for (size_t i = 0; i < ww_validate_suite_count(); i++) {
        ww_cmd_table_cell(&t, ww_validate_suite_name(i));
        ww_cmd_table_cell(&t, ww_validate_suite_help(i));
    }
    return ww_cmd_table_print(&t, stdout, error);
}

static enum ww_code run_suite(const char *name, const struct cmd_line *line, unsigned jobs,
                              struct ww_validation **v, struct ww_error *error) {
    struct cmd_progress progress;
    char what[96];
    struct ww_validate_options options = {.jobs = jobs,
                                          .small = ww_cmd_has(line, "small"),
                                          .traces = ww_cmd_get(line, "traces"),
                                          .progress = ww_cmd_progress_step,
                                          .context = &progress};
    snprintf(what, sizeof what, "validate %.64s", name);
    ww_cmd_progress_begin(&progress, what, ww_cmd_has(line, "quiet"));
    return ww_cmd_progress_end(&progress, ww_validate(name, &options, v, error), error);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The same, and how long it took, if asked for. */
static enum ww_code run_timed(const char *name, const struct cmd_line *line, unsigned jobs,
                              struct ww_validation **v, struct ww_error *error) {
    double begin = seconds();
    WW_TRY(run_suite(name, line, jobs, v, error));
    if (ww_cmd_has(line, "time")) fprintf(stderr, "validate %s: %.1f s\n", name, seconds() - begin);
    return WW_OK;
}

static enum ww_code validate_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_validation *set[SUITES_MAX] = {0};
    const char *name[SUITES_MAX];
    size_t count = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = cores < 1 ? 1 : cores > 256 ? 256 : (uint64_t)cores;
    WW_TRY(ww_cmd_u64(line, "jobs", 1, 256, &jobs, error));
    if (ww_cmd_has(line, "all") && line->argument_count > 0)
        return ww_fail(error, WW_USAGE, "warpwatt validate", "give a suite's name or --all, not both");
    for (; count < line->argument_count; count++) name[count] = line->argument[count];
    for (; ww_cmd_has(line, "all") && count < ww_validate_suite_count() && count < SUITES_MAX; count++)
        name[count] = ww_validate_suite_name(count);
    if (count == 0) return list(line, error);
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++)
        code = run_timed(name[i], line, (unsigned)jobs, &set[i], error);
    if (code == WW_OK) code = ww_validation_print(set, count, ww_cmd_has(line, "json"), stdout, error);
    for (size_t i = 0; i < count; i++) ww_validation_free(set[i]);
    return code;
}

static const struct cmd_option validate_options[] = {
    {"all", 'a', NULL, "run every suite", 0},
    {"json", 0, NULL, "print JSON (reports/schema/validate.json)", 0},
    {"jobs", 'j', "N", "threads to measure with, 1 to 256 (default: one for each core)", 0},
    {"small", 0, NULL,
     "small inputs, where a suite has them (equalizer): to try it; the figures have no meaning", 0},
    {"traces", 0, "DIR", "folder of recorded programs, for silicon (docs/studies/silicon.md)", 0},
    {"time", 0, NULL, "print on standard error how long each suite took", 0},
    {"names", 0, NULL, "print the suites' names only, one a line", 0},
    {"quiet", 'q', NULL, "show no progress", 0},
    {0}};
const struct cmd ww_cmd_validate = {
    .arguments = "[SUITE...]",
    .max_arguments = SUITES_MAX,
    .about = "Reproduces published figures and prints ours next to theirs, with the deviation\n"
             "and whether it lies within the tolerance of docs/studies/validation.md. Without a name it\n"
             "lists the suites. The exit code is 0 even if rows lie outside.\n",
    .examples = "warpwatt validate\nwarpwatt validate models\nwarpwatt validate models --json\nwarpwatt "
                "validate silicon --traces build/silicon\n",
    .options = validate_options,
    .run = validate_run,
};
