/* `trace slice`: some launches, some CTAs, into a new file. `trace merge`: the launches of several files. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/base/list.h"
#include "../../estimator/base/outfile.h"
#include "../wwt/reader.h"
#include "../wwt/writer.h"

struct slice {
    struct ww_trace *from;
    struct ww_trace_writer *to;
    struct ww_list launches, ctas;
    ww_progress_fn progress;
    void *context;
    double begin, part; /* what the whole has copied before, and this trace's share of it */
};

static enum ww_code may_go_on(const struct slice *s, size_t launch, uint64_t cta, struct ww_error *error) {
    double part = s->begin + s->part * (double)launch / (double)s->from->index.launch_count;
    if (!s->progress || s->progress(s->context, part, cta, "CTAs")) return WW_OK;
    return ww_fail(error, WW_FAIL, s->from->path, "stopped before the end");
}

static enum ww_code copy_ctas(struct slice *s, size_t launch, uint64_t first, uint64_t last,
                              struct ww_error *error) {
    ww_trace_writer_skip_to(s->to, first);
    for (uint64_t i = first; i <= last; i++) {
        struct ww_cta_trace cta;
        if (i % 16 == 0) WW_TRY(may_go_on(s, launch, i, error));
        WW_TRY(ww_trace_load_cta(s->from, launch, i, &cta, error));
        enum ww_code code = ww_trace_writer_cta(s->to, &cta, error);
        ww_trace_release_cta(s->from, &cta);
        WW_TRY(code);
    }
    return WW_OK;
}

/* What both the file and the list have, in ascending order: both are sorted. */
static enum ww_code copy_launch(struct slice *s, size_t launch, struct ww_error *error) {
    const struct ww_wwt_launch *l = &s->from->index.launch[launch];
    size_t r = 0, k = 0;
    WW_TRY(may_go_on(s, launch, 0, error));
    struct ww_launch view = l->view;
    view.order = (struct ww_trace_order){0}; /* launches of a slice have other numbers: they are one stream */
    WW_TRY(ww_trace_writer_launch(s->to, &view, error));
    while (r < l->run_count && k < s->ctas.count) {
        const struct ww_wwt_run *run = &l->run[r];
        const struct ww_range *range = &s->ctas.range[k];
        uint64_t run_last = run->first + run->count - 1;
        uint64_t first = run->first > range->first ? run->first : range->first;
        uint64_t last = run_last < range->last ? run_last : range->last;
        if (first <= last) WW_TRY(copy_ctas(s, launch, first, last, error));
        if (run_last <= range->last)
            r++;
        else
            k++;
    }
    return ww_trace_writer_end_launch(s->to, error);
}

static enum ww_code copy_launches(struct slice *s, struct ww_error *error) {
    for (size_t r = 0; r < s->launches.count; r++)
        for (uint64_t i = s->launches.range[r].first; i <= s->launches.range[r].last; i++)
            WW_TRY(copy_launch(s, (size_t)i, error));
    return WW_OK;
}

/* The grid of the largest launch chosen: what CTA numbers are checked against. */
static uint64_t largest_grid(const struct slice *s) {
    uint64_t most = 0;
    for (size_t i = 0; i < s->from->index.launch_count; i++)
        if (ww_list_has(&s->launches, i) && s->from->index.launch[i].view.cta_count > most)
            most = s->from->index.launch[i].view.cta_count;
    return most;
}

/* Provenance: a slice says so behind the arguments. */
static enum ww_code slice_meta(const struct ww_trace *trace, const char *launches, const char *ctas,
                               struct ww_arena *arena, struct ww_trace_meta *meta, struct ww_error *error) {
    *meta = trace->index.meta;
    const char *before = meta->arguments ? meta->arguments : "";
    if (!launches && !ctas) return WW_OK;
    meta->arguments =
        ww_arena_printf(arena, "%s%s[slice of %s: launches %s, CTAs %s]", before, *before ? " " : "",
                        trace->hash, launches ? launches : "all", ctas ? ctas : "all");
    return meta->arguments ? WW_OK : ww_fail_nomem(error, "a slice");
}

static enum ww_code run_slice(struct slice *s, const char *launches, const char *ctas, const char *out_path,
                              struct ww_arena *arena, struct ww_error *error) {
    struct ww_trace_meta meta;
    WW_TRY(ww_list_parse(launches, s->from->index.launch_count, "launches", arena, &s->launches, error));
    WW_TRY(ww_list_parse(ctas, largest_grid(s), "CTAs", arena, &s->ctas, error));
    WW_TRY(slice_meta(s->from, launches, ctas, arena, &meta, error));
    WW_TRY(ww_trace_writer_new(out_path, &meta, 0, &s->to, error));
    enum ww_code code = copy_launches(s, error);
    if (code == WW_OK) return ww_trace_writer_finish(s->to, NULL, error);
    ww_trace_writer_abort(s->to);
    return code;
}

enum ww_code ww_trace_slice(struct ww_trace *trace, const char *launches, const char *ctas,
                            const char *out_path, ww_progress_fn progress, void *context,
                            struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct slice s = {.from = trace, .progress = progress, .context = context, .part = 1};
    struct ww_arena arena;
    WW_TRY(ww_outfile_not_input(out_path, trace->path, error));
    ww_arena_init(&arena, 0);
    enum ww_code code = run_slice(&s, launches, ctas, out_path, &arena, error);
    ww_arena_free(&arena);
    return code;
}

/* ---- merge ---- */

/* Provenance: what was merged stands in the arguments. */
static enum ww_code merge_meta(struct ww_trace *const *trace, size_t count, struct ww_arena *arena,
                               struct ww_trace_meta *meta, struct ww_error *error) {
    struct ww_buf text = {0};
    *meta = trace[0]->index.meta;
    for (size_t i = 0; i < count; i++) {
        const struct ww_trace_meta *m = &trace[i]->index.meta;
        ww_buf_printf(&text, "%s[%s%s%s, %s]", i ? " " : "", m->program ? m->program : "",
                      m->arguments && *m->arguments ? " " : "", m->arguments ? m->arguments : "",
                      trace[i]->hash);
    }
    meta->program = "merge";
    meta->arguments = text.failed ? NULL : ww_arena_strdup(arena, text.p);
    ww_buf_free(&text);
    return meta->arguments ? WW_OK : ww_fail_nomem(error, "a merge");
}

static enum ww_code copy_whole(struct slice *s, struct ww_arena *arena, struct ww_error *error) {
    WW_TRY(ww_list_parse(NULL, s->from->index.launch_count, "launches", arena, &s->launches, error));
    WW_TRY(ww_list_parse(NULL, UINT64_MAX, "CTAs", arena, &s->ctas, error));
    return copy_launches(s, error);
}

static enum ww_code run_merge(struct ww_trace *const *trace, size_t count, const char *out_path,
                              struct slice *s, struct ww_arena *arena, struct ww_error *error) {
    struct ww_trace_meta meta;
    WW_TRY(merge_meta(trace, count, arena, &meta, error));
    WW_TRY(ww_trace_writer_new(out_path, &meta, 0, &s->to, error));
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++) {
        s->from = trace[i];
        s->begin = (double)i * s->part;
        code = copy_whole(s, arena, error);
    }
    if (code == WW_OK) return ww_trace_writer_finish(s->to, NULL, error);
    ww_trace_writer_abort(s->to);
    return code;
}

enum ww_code ww_trace_merge(struct ww_trace *const *trace, size_t count, const char *out_path,
                            ww_progress_fn progress, void *context, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct slice s = {.progress = progress, .context = context, .part = 1 / (double)count};
    struct ww_arena arena;
    if (count == 0) return ww_fail(error, WW_USAGE, "", "no trace to merge");
    for (size_t i = 0; i < count; i++) WW_TRY(ww_outfile_not_input(out_path, trace[i]->path, error));
    ww_arena_init(&arena, 0);
    enum ww_code code = run_merge(trace, count, out_path, &s, &arena, error);
    ww_arena_free(&arena);
    return code;
}
