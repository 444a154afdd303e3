/* What a trace lacks: CTAs of its grid, warps of a CTA, and the ends of warps.
 *
 * A tracer that was stopped, a copy that was cut at a CTA's end or a post-processor that dropped lines leave a
 * text that is well-formed. It is imported, since what is there is sound, and each kind of gap is noted once
 * for a launch, with its first place. Threads of a CUDA kernel end by EXIT, so that a warp with threads that
 * did not was cut. */
#include "../../estimator/api/foreign.h"
#include "../wwt/writer.h"
#include "import.h"

static void note_first(struct ww_as_gap *g, uint64_t line, uint64_t cta, uint32_t warp) {
    if (!g->count++) *g = (struct ww_as_gap){1, line, cta, warp};
}

void ww_as_gaps_cta(struct ww_as_import *im, const struct ww_as_cta *cta) {
    for (uint32_t i = 0; i < im->launch.warps_per_cta; i++) {
        const struct ww_as_warp *w = &cta->warp[i];
        if (!w->step_count)
            note_first(&im->empty, im->cta_line, cta->index, i);
        else if (w->exited != ww_as_lanes(&im->launch, i))
            note_first(&im->unended, im->cta_line, cta->index, i);
    }
}

/* Adds a warning; with --strict it is an error. */
__attribute__((format(printf, 4, 5))) static enum ww_code add(struct ww_as_import *im, uint64_t line,
                                                              struct ww_error *error, const char *fmt, ...) {
    struct ww_import_stats *s = im->stats;
    struct ww_import_gap gap;
    va_list args;
    va_start(args, fmt);
    vsnprintf(gap.text, sizeof gap.text, fmt, args);
    va_end(args);
    const char *name = im->parser.in->source.name;
    if (line)
        snprintf(gap.where, sizeof gap.where, "%.250s:%llu", name, (unsigned long long)line);
    else
        snprintf(gap.where, sizeof gap.where, "%.250s", name);
    if (im->options->strict) return ww_fail(error, WW_INPUT, gap.where, "%s", gap.text);
    if (s->gap_count < WW_IMPORT_GAPS_MAX)
        s->gap[s->gap_count++] = gap;
    else
        s->gaps_more++;
    return WW_OK;
}

static const char *cta_name(const struct ww_as_import *im, uint64_t cta, char out[48]) {
    const uint32_t *g = im->launch.grid;
    snprintf(out, 48, "%llu,%llu,%llu", (unsigned long long)(cta % g[0]),
             (unsigned long long)(cta / g[0] % g[1]), (unsigned long long)(cta / g[0] / g[1]));
    return out;
}

static enum ww_code add_warps(struct ww_as_import *im, const struct ww_as_gap *g, const char *one,
                              const char *many, struct ww_error *error) {
    char name[48];
    if (!g->count) return WW_OK;
    return add(im, g->line, error, "%llu warp%s; the first is warp %u of CTA %s", (unsigned long long)g->count,
               g->count == 1 ? one : many, g->warp, cta_name(im, g->cta, name));
}

/* Our own slices hold a part of the grid and say how many CTAs that is. */
static enum ww_code add_ctas(struct ww_as_import *im, struct ww_error *error) {
    uint64_t first = 0, there = 0, expected = im->launch.cta_count;
    char name[48];
    ww_trace_writer_present(im->writer, &there, &first);
    if (im->header.ctas_stated && im->header.ctas < expected) expected = im->header.ctas;
    if (there >= expected) return WW_OK;
    im->stats->ctas_missing += expected - there;
    return add(im, im->parser.in->line, error,
               "the trace ends here with %llu of %llu CTAs; the first of the grid that is not there is %s",
               (unsigned long long)there, (unsigned long long)expected, cta_name(im, first, name));
}

enum ww_code ww_as_gaps_launch(struct ww_as_import *im, struct ww_error *error) {
    im->stats->warps_missing += im->empty.count;
    im->stats->warps_unended += im->unended.count;
    WW_TRY(add_ctas(im, error));
    WW_TRY(add_warps(im, &im->empty, " has no instruction", "s have no instruction", error));
    return add_warps(im, &im->unended, " ends before all of its threads exit",
                     "s end before all of their threads exit", error);
}
