/* warpwatt trace regions|transform */
#include "../warpwatt.h"
#include "cmd.h"

static enum ww_code regions_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(line->argument[0], &trace, error));
    enum ww_code code = ww_trace_print_regions(trace, ww_cmd_has(line, "json"), stdout, error);
    ww_trace_close(trace);
    return code;
}

static const struct cmd_option regions_options[] = {{"json", 0, NULL, "print JSON", 0}, {0}};
const struct cmd ww_cmd_trace_regions = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about =
        "A region lasts from the first definition of shared memory to the last use, over all threads of a\n"
        "CTA; docs/studies/multiplexing.md. Counted over all CTAs that the file holds.\n",
    .examples = "warpwatt trace regions fft.wwt\n",
    .options = regions_options,
    .run = regions_run,
};

static enum ww_code transform_run(const struct cmd_line *line, struct ww_error *error) {
    uint64_t ctas = 0, split = 0;
    WW_TRY(ww_cmd_u64(line, "ctas", 1, 4, &ctas, error));
    WW_TRY(ww_cmd_u64(line, "split", 1, 1 << 20, &split, error));
    struct ww_transform_options options = {.kind = line->argument[0],
                                           .ctas = (uint32_t)ctas,
                                           .split = split,
                                           .overlap = ww_cmd_get(line, "overlap")};
    struct ww_trace *trace;
    struct cmd_progress progress;
    options.progress = ww_cmd_progress_step;
    options.context = &progress;
    WW_TRY(ww_trace_open(line->argument[1], &trace, error));
    ww_cmd_progress_begin(&progress, line->argument[1], ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_trace_transform(trace, &options, ww_cmd_get(line, "out"), error);
    code = ww_cmd_progress_end(&progress, code, error);
    ww_trace_close(trace);
    return code == WW_OK ? ww_cmd_tell_written(line, error) : code;
}

static const struct cmd_option transform_options[] = {
    {"ctas", 0, "N", "CTAs that are joined into one (vtb: 2 to 4; default 2)", 0},
    {"split", 0, "BYTES", "co_vtb, co_hw: bytes of a CTA's shared memory that are private", 0},
    {"overlap", 0, "LINES", "vtb_pipe: source lines of what may overlap another CTA's use, such as 94-99,103",
     0},
    {"out", 'o', "FILE", "trace file to write", CMD_REQUIRED},
    {"json", 0, NULL, "print what the new file holds as JSON (reports/schema/trace_info.json)", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_trace_transform = {
    .arguments = "KIND FILE",
    .min_arguments = 2,
    .max_arguments = 2,
    .about =
        "KIND is one of these. vtb: CTAs joined into one, which use the shared memory of one in turn. "
        "vtb_pipe: two\n"
        "of them a step apart. co_vtb: two of them with a private part each. hw: shared memory allocated\n"
        "around each region (run with --mech smem=dynamic). co_hw: the same of the public part only\n"
        "(docs/studies/multiplexing.md). d2ma: bulk transfers in the place of copies to shared memory\n"
        "(docs/studies/d2ma.md).\n",
    .examples = "warpwatt trace transform vtb fft.wwt -o vtb.wwt\n"
                "warpwatt trace transform hw fft.wwt -o hw.wwt\n",
    .options = transform_options,
    .run = transform_run,
};
