/* Importing Accel-Sim traces: the files of a list, one launch each, into one container. */
#include "../../estimator/api/foreign.h"
#include "../../estimator/base/locale.h"
#include "import.h"
#include "../../estimator/base/outfile.h"
#include "../wwt/writer.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum ww_code ww_as_progress(struct ww_as_import *im, struct ww_error *error) {
    const struct ww_import_options *o = im->options;
    if (!o->progress) return WW_OK;
    double part = ((double)im->file + ww_as_input_part(im->parser.in)) / (double)im->file_count;
    if (o->progress(o->context, part, im->lines + im->parser.in->line, "lines")) return WW_OK;
    return ww_fail(error, WW_FAIL, im->parser.in->source.name, "stopped before the end");
}

/* Takes the kernel's code out of the list, or returns NULL. */
static struct ww_as_code *take_code(struct ww_as_import *im, const char *kernel, const char *arch) {
    for (struct ww_as_code **at = &im->codes; *at; at = &(*at)->next) {
        struct ww_as_code *c = *at;
        if (strcmp(c->kernel, kernel) != 0 || strcmp(c->arch, arch) != 0) continue;
        *at = c->next;
        return c;
    }
    return NULL;
}

/* Forgets those used longest ago that are too many. */
static void trim_codes(struct ww_as_import *im) {
    uint32_t count = 0, statics = 0;
    struct ww_as_code **at = &im->codes;
    while (*at && count++ < WW_AS_CODES_MAX && statics < WW_AS_CODES_STATICS) {
        statics += (*at)->static_count;
        at = &(*at)->next;
    }
    while (*at) {
        struct ww_as_code *c = *at;
        *at = c->next;
        ww_as_code_free(c);
    }
}

/* The kernel's code of an earlier launch, or a new one, becomes the list's first. */
static enum ww_code get_code(struct ww_as_import *im, const char *kernel, const char *arch,
                             struct ww_error *error) {
    struct ww_as_code *c = take_code(im, kernel, arch);
    enum ww_code code = c ? WW_OK : ww_as_code_new(kernel, arch, &c, error);
    if (!c) return code;
    c->next = im->codes;
    im->codes = c;
    trim_codes(im);
    return code;
}

static enum ww_code set_launch(struct ww_as_import *im, struct ww_error *error) {
    const struct ww_as_header *h = &im->header;
    struct ww_launch *l = &im->launch;
    uint64_t threads = (uint64_t)h->block[0] * h->block[1], ctas;
    char arch[16];
    snprintf(arch, sizeof arch, "sm_%u", h->binary);
    *l = (struct ww_launch){.kernel = h->kernel, .registers_per_thread = h->nregs, .shared_static = h->shmem};
    l->arch = ww_arena_strdup(&im->arena, h->arch ? h->arch : arch);
    if (!l->arch) return ww_fail_nomem(error, "a launch");
    memcpy(l->grid, h->grid, sizeof l->grid);
    memcpy(l->block, h->block, sizeof l->block);
    if (h->ours) {
        if (h->shared_static > h->shmem)
            return ww_as_bad(im->parser.in, error, "more static shared memory than there is");
        l->shared_static = h->shared_static;
        l->shared_dynamic = h->shmem - h->shared_static;
        l->local_bytes = h->local_bytes;
    }
    if (threads > 1024 || threads * h->block[2] > 1024)
        return ww_as_bad(im->parser.in, error, "a block of %u x %u x %u threads; expected at most 1024",
                         h->block[0], h->block[1], h->block[2]);
    if (__builtin_mul_overflow((uint64_t)h->grid[0] * h->grid[1], h->grid[2], &ctas))
        return ww_as_bad(im->parser.in, error, "a grid of more than 2^64 CTAs");
    l->cta_count = ctas;
    l->warps_per_cta = (uint32_t)((threads * h->block[2] + 31) / 32);
    return WW_OK;
}

/* Raw files have CTA and warp in front of every line, grouped ones only of the first versions. */
static void set_style(struct ww_as_import *im, bool grouped) {
    const struct ww_as_header *h = &im->header;
    struct ww_as_style *s = &im->parser.style;
    s->version = h->version;
    s->lineinfo = h->lineinfo;
    s->prefix = grouped ? (h->version < 3 ? 4 : 0) : h->version >= 6 ? 11 : 4;
    im->parser.ours = h->ours;
}

static enum ww_code read_launch(struct ww_as_import *im, char *line, struct ww_error *error) {
    struct ww_as_code *c = im->parser.code;
    bool grouped = line && strncmp(line, "#BEGIN_TB", 9) == 0;
    set_style(im, grouped);
    im->launch.string = c->string;
    im->launch.string_count = 1;
    im->stream = ww_arena_array(&im->arena, im->launch.warps_per_cta, sizeof *im->stream);
    if (!im->stream) return ww_fail_nomem(error, "a launch");
    im->cta_line = 0;
    im->empty = im->unended = (struct ww_as_gap){0};
    WW_TRY(ww_trace_writer_launch(im->writer, &im->launch, error));
    WW_TRY(grouped ? ww_as_grouped_read(im, line, error) : ww_as_raw_read(im, line, error));
    im->launch.inst = c->inst;
    im->launch.inst_count = c->inst_count;
    im->launch.string = c->string;
    im->launch.string_count = c->string_count;
    WW_TRY(ww_trace_writer_grow(im->writer, &im->launch, error));
    im->stats->launches++;
    WW_TRY(ww_as_gaps_launch(im, error));
    return ww_trace_writer_end_launch(im->writer, error);
}

/* Our own files declare their instructions in the header, before or after the kernel's name: they get a code
 * table that is theirs alone. */
static enum ww_code read_header(struct ww_as_import *im, struct ww_as_code **own, char **line,
                                struct ww_error *error) {
    size_t n;
    WW_TRY(ww_as_code_new("", "", own, error));
    WW_TRY(ww_as_header_read(im->parser.in, &im->arena, *own, &im->header, line, &n, error));
    WW_TRY(set_launch(im, error));
    if (im->header.ours) {
        im->parser.code = *own;
        return WW_OK;
    }
    WW_TRY(get_code(im, im->launch.kernel, im->launch.arch, error));
    im->parser.code = im->codes;
    return WW_OK;
}

enum ww_code ww_as_import_file(struct ww_as_import *im, struct ww_as_input *in, struct ww_error *error) {
    struct ww_as_code *own = NULL;
    char *line = NULL;
    im->parser.in = in;
    ww_arena_reset(&im->arena);
    enum ww_code code = read_header(im, &own, &line, error);
    if (code == WW_OK) code = read_launch(im, line, error);
    ww_as_raw_clear(im);
    if (code == WW_OK) {
        im->stats->operands_dropped += im->parser.code->dropped_operands;
        im->parser.code->dropped_operands = 0;
    }
    im->lines += in->line;
    im->stats->lines = im->lines;
    im->stats->text_bytes += in->text_bytes;
    im->parser.in = NULL;
    ww_as_code_free(own);
    return code;
}

enum ww_code ww_as_import_begin(struct ww_as_import *im, const struct ww_import_options *options,
                                struct ww_import_stats *stats, const struct ww_trace_meta *meta,
                                struct ww_error *error) {
    const char *slash = strrchr(options->out_path, '/');
    *im = (struct ww_as_import){
        .options = options, .stats = stats, .open_limit = WW_AS_OPEN_BYTES, .spill = {.fd = -1}};
    ww_arena_init(&im->arena, (size_t)64 << 20);
    im->spill.directory =
        slash ? strndup(options->out_path, (size_t)(slash - options->out_path) + 1) : strdup(".");
    if (!im->spill.directory) return ww_fail_nomem(error, "an import");
    WW_TRY(ww_trace_writer_new(options->out_path, meta, options->compression, &im->writer, error));
    im->writer->pending_limit = WW_AS_PENDING_BYTES;
    return WW_OK;
}

enum ww_code ww_as_import_end(struct ww_as_import *im, enum ww_code code, struct ww_error *error) {
    if (code == WW_OK)
        code = ww_trace_writer_finish(im->writer, &im->stats->bytes, error);
    else
        ww_trace_writer_abort(im->writer);
    while (im->codes) {
        struct ww_as_code *c = im->codes;
        im->codes = c->next;
        ww_as_code_free(c);
    }
    if (im->spill.fd >= 0) close(im->spill.fd);
    free(im->spill.directory);
    free(im->parser.bulk);
    ww_arena_free(&im->arena);
    return code;
}

/* What wrote the first file, for the provenance. */
static enum ww_code tool_of(const char *path, struct ww_arena *arena, const char **tool,
                            struct ww_error *error) {
    struct ww_as_input *in;
    struct ww_as_header h;
    char *line;
    size_t n;
    WW_TRY(ww_as_input_open(path, &in, error));
    enum ww_code code = ww_as_header_read(in, arena, NULL, &h, &line, &n, error);
    if (code == WW_OK) {
        *tool = h.ours ? ww_arena_printf(arena, "warpwatt, exported for Accel-Sim")
                       : ww_arena_printf(arena, "nvbit %s, accel-sim tracer %u", h.nvbit ? h.nvbit : "?",
                                         h.version);
        if (!*tool) code = ww_fail_nomem(error, "an import");
    }
    ww_as_input_close(in);
    return code;
}

static enum ww_code import_files(struct ww_as_import *im, const struct ww_as_files *files,
                                 struct ww_error *error) {
    im->file_count = files->count;
    for (im->file = 0; im->file < files->count; im->file++) {
        struct ww_as_input *in;
        WW_TRY(ww_as_input_open(files->path[im->file], &in, error));
        enum ww_code code = ww_as_import_file(im, in, error);
        ww_as_input_close(in);
        WW_TRY(code);
    }
    return WW_OK;
}

static enum ww_code import_path(const char *path, const struct ww_import_options *options,
                                struct ww_import_stats *stats, const struct ww_as_files *files,
                                struct ww_arena *arena, struct ww_error *error) {
    struct ww_trace_meta meta = {.program = path};
    struct ww_as_import im;
    if (files->copies)
        meta.arguments = ww_arena_printf(arena, "without its %" PRIu64 " memory copies of %" PRIu64 " bytes",
                                         files->copies, files->copy_bytes);
    WW_TRY(tool_of(files->path[0], arena, &meta.tool, error));
    enum ww_code code = ww_as_import_begin(&im, options, stats, &meta, error);
    if (code == WW_OK) code = import_files(&im, files, error);
    return ww_as_import_end(&im, code, error);
}

static enum ww_code check_output(const char *out, const struct ww_as_files *files, struct ww_error *error) {
    if (files->list) WW_TRY(ww_outfile_not_input(out, files->list, error));
    for (size_t i = 0; i < files->count; i++) WW_TRY(ww_outfile_not_input(out, files->path[i], error));
    return WW_OK;
}

enum ww_code ww_import_accelsim(const char *path, const struct ww_import_options *options,
                                struct ww_import_stats *stats, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_import_stats own;
    struct ww_as_files files;
    struct ww_arena arena;
    double start = now();
    if (!stats) stats = &own;
    *stats = (struct ww_import_stats){0};
    if (!path || !options || !options->out_path)
        return ww_fail(error, WW_USAGE, "ww_import_accelsim", "expected a path and a file to write");
    ww_arena_init(&arena, (size_t)16 << 20);
    enum ww_code code = ww_as_files_find(path, &files, error);
    if (code == WW_OK) code = check_output(options->out_path, &files, error);
    if (code == WW_OK) {
        stats->copies = files.copies;
        stats->copy_bytes = files.copy_bytes;
        code = import_path(path, options, stats, &files, &arena, error);
    }
    ww_as_files_free(&files);
    ww_arena_free(&arena);
    stats->host_seconds = now() - start;
    return code;
}
