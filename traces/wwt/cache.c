/* The reader's calls on an open trace; decoded groups and how long they stay. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "reader.h"

size_t ww_trace_launch_count(const struct ww_trace *trace) {
    return trace->index.launch_count;
}

const char *ww_trace_program(struct ww_trace *trace, struct ww_arena *arena) {
    const struct ww_trace_meta *meta = &trace->index.meta;
    const char *code = trace->index.launch_count ? trace->index.launch[0].view.code : NULL;
    bool arguments = meta->arguments && meta->arguments[0];
    return ww_arena_printf(arena, "%s%s%s%s%s%s", meta->program ? meta->program : "", arguments ? " " : "",
                           arguments ? meta->arguments : "", code ? " [" : "", code ? code : "",
                           code ? "]" : "");
}

const struct ww_trace_meta *ww_trace_get_meta(const struct ww_trace *trace) {
    return &trace->index.meta;
}

const struct ww_host_order *ww_trace_host_order(const struct ww_trace *trace) {
    return &trace->index.host;
}

const char *ww_trace_hash(const struct ww_trace *trace) {
    return trace->hash;
}

uint64_t ww_trace_bytes(const struct ww_trace *trace) {
    return trace->size;
}

static enum ww_code no_launch(const struct ww_trace *trace, size_t index, struct ww_error *error) {
    return ww_fail(error, WW_USAGE, trace->path, "launch %zu; the trace has %zu, numbered from 0", index,
                   trace->index.launch_count);
}

enum ww_code ww_trace_launch(struct ww_trace *trace, size_t index, const struct ww_launch **launch,
                             struct ww_error *error) {
    if (index >= trace->index.launch_count) return no_launch(trace, index, error);
    *launch = &trace->index.launch[index].view;
    return WW_OK;
}

enum ww_code ww_trace_launch_info(const struct ww_trace *trace, size_t launch, struct ww_launch_info *info,
                                  struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (launch >= trace->index.launch_count) return no_launch(trace, launch, error);
    const struct ww_launch *l = &trace->index.launch[launch].view;
    *info = (struct ww_launch_info){
        .kernel = l->kernel,
        .grid = {l->grid[0], l->grid[1], l->grid[2]},
        .block = {l->block[0], l->block[1], l->block[2]},
        .registers_per_thread = l->registers_per_thread,
        .shared_static = l->shared_static,
        .shared_dynamic = l->shared_dynamic,
        .warp_instructions = l->warp_instructions,
        .thread_instructions = l->thread_instructions,
        .static_instructions = l->inst_count,
        .arch = l->arch,
    };
    return WW_OK;
}

enum ww_code ww_trace_get_content(const struct ww_trace *trace, size_t launch, struct ww_trace_content *out,
                                  struct ww_error *error) {
    if (launch >= trace->index.launch_count)
        return ww_fail(error, WW_USAGE, trace->path, "there is no launch %zu; the trace has %zu", launch,
                       trace->index.launch_count);
    const struct ww_wwt_launch *l = &trace->index.launch[launch];
    *out = (struct ww_trace_content){l->inst_warp, l->cta_present};
    return WW_OK;
}

bool ww_trace_has_cta(const struct ww_trace *trace, size_t launch, uint64_t cta) {
    return launch < trace->index.launch_count && ww_wwt_find_run(&trace->index.launch[launch], cta) != NULL;
}

uint64_t ww_trace_next_cta(const struct ww_trace *trace, size_t launch, uint64_t cta) {
    if (ww_trace_has_cta(trace, launch, cta)) return cta;
    if (launch >= trace->index.launch_count) return UINT64_MAX;
    const struct ww_wwt_launch *l = &trace->index.launch[launch];
    size_t low = 0, high = l->run_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->run[mid].first < cta)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->run_count ? l->run[low].first : UINT64_MAX;
}

enum ww_code ww_wwt_load_group(struct ww_trace *t, size_t launch, struct ww_wwt_group *g,
                               struct ww_error *error) {
    const char *why = "";
    size_t at = 0;
    WW_TRY(ww_wwt_read_chunk(t, g->offset, WW_WWT_CHUNK_CTAS, g->stored, g->raw, g->crc, error));
    enum ww_code code =
        ww_wwt_decode(&t->index.launch[launch], launch, g, t->version, (const unsigned char *)t->raw.p,
                      t->raw.n, &t->slabs, &g->decoded, &why, &at);
    if (code == WW_NOMEM) return ww_fail_nomem(error, "the CTAs of a trace");
    if (code != WW_OK)
        return ww_wwt_bad(t, error, g->offset, "the CTA group, near byte %zu of its data: %s", at, why);
    return WW_OK;
}

static void unlink_idle(struct ww_trace *t, struct ww_wwt_decoded *d) {
    *(d->newer ? &d->newer->older : &t->newest) = d->older;
    *(d->older ? &d->older->newer : &t->oldest) = d->newer;
    d->newer = d->older = NULL;
    t->idle_count--;
    t->idle_bytes -= d->bytes;
}

static void drop_oldest(struct ww_trace *t) {
    struct ww_wwt_decoded *d = t->oldest;
    unlink_idle(t, d);
    d->group->decoded = NULL;
    ww_wwt_decoded_free(d);
}

void ww_wwt_drop_idle(struct ww_trace *t) {
    while (t->oldest) drop_oldest(t);
}

static void make_idle(struct ww_trace *t, struct ww_wwt_decoded *d) {
    d->newer = NULL;
    d->older = t->newest;
    *(d->older ? &d->older->newer : &t->oldest) = d;
    t->newest = d;
    t->idle_count++;
    t->idle_bytes += d->bytes;
    while (t->idle_count > WW_WWT_IDLE_GROUPS || (t->idle_count > 1 && t->idle_bytes > WW_WWT_IDLE_BYTES))
        drop_oldest(t);
}

enum ww_code ww_trace_load_cta(struct ww_trace *trace, size_t launch, uint64_t cta, struct ww_cta_trace *out,
                               struct ww_error *error) {
    *out = (struct ww_cta_trace){0};
    if (launch >= trace->index.launch_count) return no_launch(trace, launch, error);
    struct ww_wwt_launch *l = &trace->index.launch[launch];
    if (cta >= l->view.cta_count)
        return ww_fail(error, WW_USAGE, trace->path, "CTA %llu of launch %zu; it has %llu, numbered from 0",
                       (unsigned long long)cta, launch, (unsigned long long)l->view.cta_count);
    const struct ww_wwt_run *run = ww_wwt_find_run(l, cta);
    if (!run)
        return ww_fail(error, WW_USAGE, trace->path,
                       "CTA %llu of launch %zu was left out of this trace (a slice)", (unsigned long long)cta,
                       launch);
    struct ww_wwt_group *g = &l->group[run->group];
    if (!g->decoded)
        WW_TRY(ww_wwt_load_group(trace, launch, g, error));
    else if (g->decoded->refs == 0)
        unlink_idle(trace, g->decoded);
    g->decoded->refs++;
    uint64_t position = run->position + (cta - run->first);
    *out = (struct ww_cta_trace){cta, l->view.warps_per_cta,
                                 g->decoded->warp + position * l->view.warps_per_cta, g->decoded};
    return WW_OK;
}

void ww_trace_release_cta(struct ww_trace *trace, struct ww_cta_trace *cta) {
    struct ww_wwt_decoded *d = cta->group;
    if (d && --d->refs == 0) make_idle(trace, d);
    *cta = (struct ww_cta_trace){0};
}
