/* warpwatt trace import|export */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "../base/text.h"
#include "cmd.h"
#include <inttypes.h>
#include <string.h>

static enum ww_code check_format(const struct cmd_line *line, const char *where, struct ww_error *error) {
    if (strcmp(line->argument[0], "accelsim") == 0) return WW_OK;
    return ww_fail(error, WW_USAGE, where, "unknown format \"%.80s\"; expected accelsim", line->argument[0]);
}

static void json_unknown(struct ww_jsonw *w, const struct ww_import_stats *s) {
    ww_jsonw_open(w, "unknown_opcodes", '[');
    for (size_t i = 0; i < s->unknown_count; i++) {
        ww_jsonw_open(w, NULL, '{');
        ww_jsonw_str(w, "opcode", s->unknown[i].opcode);
        ww_jsonw_u64(w, "count", s->unknown[i].count);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void json_gaps(struct ww_jsonw *w, const struct ww_import_stats *s) {
    ww_jsonw_open(w, "gaps", '[');
    for (size_t i = 0; i < s->gap_count; i++) {
        ww_jsonw_open(w, NULL, '{');
        ww_jsonw_str(w, "where", s->gap[i].where);
        ww_jsonw_str(w, "text", s->gap[i].text);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static enum ww_code import_json(const struct cmd_line *line, const struct ww_import_stats *s,
                                struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "path", line->argument[1]);
    ww_jsonw_str(&w, "trace", ww_cmd_get(line, "out"));
    ww_jsonw_u64(&w, "launches", s->launches);
    ww_jsonw_u64(&w, "ctas", s->ctas);
    ww_jsonw_u64(&w, "warp_instructions", s->warp_instructions);
    ww_jsonw_u64(&w, "thread_instructions", s->thread_instructions);
    ww_jsonw_u64(&w, "lines", s->lines);
    ww_jsonw_u64(&w, "text_bytes", s->text_bytes);
    ww_jsonw_u64(&w, "bytes", s->bytes);
    if (s->warp_instructions)
        ww_jsonw_f64(&w, "bytes_per_warp_instruction", (double)s->bytes / (double)s->warp_instructions);
    else
        ww_jsonw_null(&w, "bytes_per_warp_instruction");
    ww_jsonw_u64(&w, "copies", s->copies);
    ww_jsonw_u64(&w, "copy_bytes", s->copy_bytes);
    ww_jsonw_u64(&w, "twins", s->twins);
    ww_jsonw_u64(&w, "bulk_steps", s->bulk_steps);
    ww_jsonw_u64(&w, "barriers_unnumbered", s->barriers_unnumbered);
    ww_jsonw_u64(&w, "addresses_dropped", s->addresses_dropped);
    ww_jsonw_u64(&w, "operands_dropped", s->operands_dropped);
    ww_jsonw_u64(&w, "unknown_instructions", s->unknown_instructions);
    json_unknown(&w, s);
    ww_jsonw_u64(&w, "ctas_missing", s->ctas_missing);
    ww_jsonw_u64(&w, "warps_missing", s->warps_missing);
    ww_jsonw_u64(&w, "warps_unended", s->warps_unended);
    ww_jsonw_u64(&w, "polls", s->polls);
    json_gaps(&w, s);
    ww_jsonw_f64(&w, "host_seconds", s->host_seconds);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static void note(uint64_t count, const char *what) {
    if (count) printf("note: %" PRIu64 " %s\n", count, what);
}

static void import_text(const struct cmd_line *line, const struct ww_import_stats *s) {
    char each[32];
    printf("%s: %" PRIu64 " launch%s, %" PRIu64 " CTA%s, %" PRIu64 " warp instructions, %" PRIu64
           " thread instructions\n",
           ww_shown(line->argument[1]), s->launches, ww_plural(s->launches, "es"), s->ctas,
           ww_plural(s->ctas, "s"), s->warp_instructions, s->thread_instructions);
    if (s->warp_instructions) {
        ww_three_digits((double)s->bytes / (double)s->warp_instructions, each);
        printf("%s: %" PRIu64 " bytes, %s for each warp instruction; the text has %.0f times as many\n",
               ww_shown(ww_cmd_get(line, "out")), s->bytes, each,
               s->bytes ? (double)s->text_bytes / (double)s->bytes : 0);
    }
    printf("%.2f s, %.2f million warp instructions/s\n", s->host_seconds,
           s->host_seconds > 0 ? 1e-6 * (double)s->warp_instructions / s->host_seconds : 0);
    note(s->copies, "memory copies of the list are not in the trace");
    note(s->twins, "asynchronous copies were written twice; the first of each is left out");
    note(s->bulk_steps, "further instructions stand for bulk transfers of more than 32 sectors");
    note(s->barriers_unnumbered, "barriers have a thread count and no number in the text; number 0 taken");
    note(s->addresses_dropped, "instructions lose addresses that their class has no use for");
    note(s->operands_dropped, "operands beyond two results and six sources are left out");
}

/* Unknown opcodes are a warning, so that they are noticed. */
static void warn_unknown(const struct ww_import_stats *s) {
    if (!s->unknown_instructions) return;
    fprintf(stderr,
            "warpwatt: warning: %" PRIu64 " instructions with unknown opcodes are imported as no-operations:",
            s->unknown_instructions);
    for (size_t i = 0; i < s->unknown_count; i++)
        fprintf(stderr, "%s %s (%" PRIu64 ")", i ? "," : "", ww_shown(s->unknown[i].opcode),
                s->unknown[i].count);
    if (s->unknown_more) fprintf(stderr, ", and others (%" PRIu64 ")", s->unknown_more);
    fputc('\n', stderr);
}

/* An incomplete trace is imported as it is, with a warning for each launch and kind. */
static void warn_gaps(const struct ww_import_stats *s) {
    for (size_t i = 0; i < s->gap_count; i++) {
        fputs("warpwatt: warning: ", stderr);
        ww_put_text(stderr, s->gap[i].where);
        fprintf(stderr, ": %s\n", ww_shown(s->gap[i].text));
    }
    if (s->gaps_more)
        fprintf(stderr, "warpwatt: warning: and %" PRIu64 " more such place%s\n", s->gaps_more,
                ww_plural(s->gaps_more, "s"));
}

/* Recorded waits are one load each; other tracers write as many polls as the GPU needed. */
static void warn_polls(const struct ww_import_stats *s) {
    if (!s->polls) return;
    fprintf(stderr,
            "warpwatt: warning: %" PRIu64
            " load%s of loops that wait for memory are imported as they are, the first "
            "at 0x%" PRIx32 " of %s: a replay repeats them all, however long its own waits are\n",
            s->polls, ww_plural(s->polls, "s"), s->polls_pc, ww_shown(s->polls_kernel));
}

static enum ww_code import_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_import_options o = {.out_path = ww_cmd_get(line, "out"), .strict = ww_cmd_has(line, "strict")};
    struct ww_import_stats stats;
    struct cmd_progress progress;
    uint64_t level = 0;
    WW_TRY(check_format(line, "warpwatt trace import", error));
    WW_TRY(ww_cmd_u64(line, "level", 1, 19, &level, error));
    o.compression = (int)level;
    o.progress = ww_cmd_progress_step;
    o.context = &progress;
    ww_cmd_progress_begin(&progress, line->argument[1], ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_import_accelsim(line->argument[1], &o, &stats, error);
    WW_TRY(ww_cmd_progress_end(&progress, code, error));
    warn_unknown(&stats);
    warn_gaps(&stats);
    warn_polls(&stats);
    if (ww_cmd_has(line, "json")) return import_json(line, &stats, error);
    if (!ww_cmd_has(line, "quiet")) import_text(line, &stats);
    return WW_OK;
}

static const struct cmd_option import_options[] = {
    {"out", 'o', "FILE", "trace file to write", CMD_REQUIRED},
    {"strict", 0, NULL, "refuse unknown opcodes, and traces that lack CTAs, warps or their ends", 0},
    {"level", 0, "N", "zstd compression level, 1 to 19", 0},
    {"json", 0, NULL, "print JSON", 0},
    {"quiet", 'q', NULL, "print errors and warnings only", 0},
    {0}};
const struct cmd ww_cmd_trace_import = {
    .arguments = "accelsim FILE",
    .min_arguments = 2,
    .max_arguments = 2,
    .about = "Reads what Accel-Sim's NVBit tracer and its post-processor write. FILE is a\n"
             "kernelslist, a folder that holds one, or one trace. A trace may be raw or grouped,\n"
             "of versions 1 to 6, and plain or packed (gzip, xz, zstd, .tracez). See\n"
             "docs/reference/import.md.\n",
    .examples = "warpwatt trace import accelsim traces/kernelslist.g -o app.wwt\n",
    .options = import_options,
    .run = import_run,
};

static enum ww_code export_json(const struct cmd_line *line, const struct ww_export_stats *s,
                                struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "trace", line->argument[1]);
    ww_jsonw_str(&w, "folder", ww_cmd_get(line, "out"));
    ww_jsonw_u64(&w, "launches", s->launches);
    ww_jsonw_u64(&w, "ctas", s->ctas);
    ww_jsonw_u64(&w, "warp_instructions", s->warp_instructions);
    ww_jsonw_u64(&w, "text_bytes", s->text_bytes);
    ww_jsonw_u64(&w, "bytes", s->bytes);
    ww_jsonw_f64(&w, "host_seconds", s->host_seconds);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static enum ww_code export_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_export_stats stats = {0};
    struct ww_export_options o = {.version = 5, .xz = ww_cmd_has(line, "xz"), .stats = &stats};
    struct cmd_progress progress;
    struct ww_trace *trace;
    uint64_t version = 5;
    WW_TRY(check_format(line, "warpwatt trace export", error));
    WW_TRY(ww_cmd_u64(line, "version", 3, 5, &version, error));
    WW_TRY(ww_trace_open(line->argument[1], &trace, error));
    o.version = (unsigned)version;
    o.progress = ww_cmd_progress_step;
    o.context = &progress;
    ww_cmd_progress_begin(&progress, line->argument[1], ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_export_accelsim(trace, ww_cmd_get(line, "out"), &o, error);
    code = ww_cmd_progress_end(&progress, code, error);
    ww_trace_close(trace);
    WW_TRY(code);
    if (ww_cmd_has(line, "json")) return export_json(line, &stats, error);
    if (!ww_cmd_has(line, "quiet"))
        printf("%s: %" PRIu64 " launch%s, %" PRIu64 " warp instructions, %" PRIu64 " bytes of text, %" PRIu64
               " bytes written\n%.2f s\n",
               ww_shown(ww_cmd_get(line, "out")), stats.launches, ww_plural(stats.launches, "es"),
               stats.warp_instructions, stats.text_bytes, stats.bytes, stats.host_seconds);
    return WW_OK;
}

static const struct cmd_option export_options[] = {
    {"out", 'o', "DIR", "folder to write kernelslist.g and the traces to", CMD_REQUIRED},
    {"version", 0, "N", "version of the format: 3 or 5 (default)", 0},
    {"xz", 0, NULL, "compress each trace with xz", 0},
    {"json", 0, NULL, "print JSON", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_trace_export = {
    .arguments = "accelsim FILE",
    .min_arguments = 2,
    .max_arguments = 2,
    .about = "Writes a trace as text that Accel-Sim reads. Header lines that Accel-Sim skips keep\n"
             "what its format lacks: importing the folder again gives the same trace.\n",
    .examples = "warpwatt trace export accelsim bfs.wwt -o bfs-traces\n",
    .options = export_options,
    .run = export_run,
};
