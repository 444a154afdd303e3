/* Raw files: lines of all warps, as they were executed. A CTA is whole when all of its threads have exited. */
#include "import.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS (sizeof((struct ww_as_import *)0)->open / sizeof(struct ww_as_cta *))
#define CTA_BYTES(im) (sizeof(struct ww_as_cta) + (im)->launch.warps_per_cta * sizeof(struct ww_as_warp))

static struct ww_as_cta **bucket_of(struct ww_as_import *im, uint64_t index) {
    return &im->open[index % BUCKETS];
}

static enum ww_code find_cta(struct ww_as_import *im, uint64_t index, struct ww_as_cta **out,
                             struct ww_error *error) {
    struct ww_as_cta **bucket = bucket_of(im, index), *c = *bucket;
    while (c && c->index != index) c = c->next;
    *out = c;
    if (c) return WW_OK;
    if (im->open_count >= WW_AS_OPEN_MAX)
        return ww_fail(error, WW_UNSUPPORTED, im->parser.in->source.name,
                       "more than %u CTAs have not exited at line %llu; group the trace with the tracer's "
                       "post-processor",
                       WW_AS_OPEN_MAX, (unsigned long long)im->parser.in->line);
    WW_TRY(ww_as_cta_new(im, index, &c, error));
    c->next = *bucket;
    *bucket = c;
    im->open_count++;
    *out = c;
    return WW_OK;
}

static void unlink_cta(struct ww_as_import *im, struct ww_as_cta *cta) {
    struct ww_as_cta **at = bucket_of(im, cta->index);
    while (*at != cta) at = &(*at)->next;
    *at = cta->next;
    im->open_count--;
}

static size_t warp_bytes(const struct ww_as_warp *w) {
    return w->step_room * sizeof *w->step + w->access_room * sizeof *w->access + w->pool_room * sizeof *w->pool;
}

static size_t cta_bytes(const struct ww_as_import *im, const struct ww_as_cta *c) {
    size_t n = 0;
    for (uint32_t i = 0; i < im->launch.warps_per_cta; i++) n += warp_bytes(&c->warp[i]);
    return n;
}

static enum ww_code spill_all(struct ww_as_import *im, struct ww_error *error) {
    im->open_bytes = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct ww_as_cta *c = im->open[i]; c; c = c->next) {
            if (cta_bytes(im, c)) WW_TRY(ww_as_spill_out(im, c, error));
            im->open_bytes += cta_bytes(im, c);
        }
    return WW_OK;
}

static bool all_exited(const struct ww_as_import *im, const struct ww_as_cta *c) {
    for (uint32_t i = 0; i < im->launch.warps_per_cta; i++)
        if (c->warp[i].exited != ww_as_lanes(&im->launch, i)) return false;
    return true;
}

static enum ww_code close_cta(struct ww_as_import *im, struct ww_as_cta *c, struct ww_error *error) {
    unlink_cta(im, c);
    im->open_bytes -= cta_bytes(im, c);
    enum ww_code code = ww_as_spill_in(im, c, error);
    if (code == WW_OK) code = ww_as_cta_finish(im, c, error);
    ww_as_cta_free(im, c);
    if (!im->open_count) im->spill.end = 0; /* the file's content has been used */
    return code;
}

static enum ww_code add_line(struct ww_as_import *im, char *text, struct ww_error *error) {
    struct ww_as_line line;
    struct ww_as_cta *c;
    uint64_t index = 0;
    WW_TRY(ww_as_line_parse(&im->parser, text, &line, error));
    WW_TRY(ww_as_cta_index(im, line.cta, &index, error));
    if (line.warp >= im->launch.warps_per_cta)
        return ww_as_bad(im->parser.in, error, "warp %u; the CTA has %u", line.warp, im->launch.warps_per_cta);
    WW_TRY(find_cta(im, index, &c, error));
    struct ww_as_warp *w = &c->warp[line.warp];
    size_t before = warp_bytes(w);
    WW_TRY(ww_as_step_add(im, w, line.warp, &line, error));
    im->open_bytes += warp_bytes(w) - before;
    if (line.code->exits && all_exited(im, c)) return close_cta(im, c, error);
    return im->open_bytes > im->open_limit ? spill_all(im, error) : WW_OK;
}

static int by_index(const void *a, const void *b) {
    const struct ww_as_cta *const *x = a, *const *y = b;
    return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

/* What has not exited at the file's end, in order. */
static enum ww_code close_rest(struct ww_as_import *im, struct ww_error *error) {
    size_t n = 0, count = im->open_count;
    struct ww_as_cta **list = calloc(count + 1, sizeof *list);
    if (!list) return ww_fail_nomem(error, "CTAs");
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct ww_as_cta *c = im->open[i]; c; c = c->next) list[n++] = c;
    qsort(list, n, sizeof *list, by_index);
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < n && code == WW_OK; i++) code = close_cta(im, list[i], error);
    free(list);
    return code;
}

enum ww_code ww_as_raw_read(struct ww_as_import *im, char *line, struct ww_error *error) {
    struct ww_as_input *in = im->parser.in;
    size_t n;
    while (line) {
        if (*line && *line != '#') WW_TRY(add_line(im, line, error));
        if (in->line % 65536 == 0) WW_TRY(ww_as_progress(im, error));
        WW_TRY(ww_as_input_line(in, &line, &n, error));
    }
    return close_rest(im, error);
}

void ww_as_raw_clear(struct ww_as_import *im) {
    for (size_t i = 0; i < BUCKETS; i++)
        while (im->open[i]) {
            struct ww_as_cta *c = im->open[i];
            im->open[i] = c->next;
            ww_as_cta_free(im, c);
        }
    im->open_count = 0;
    im->open_bytes = 0;
    im->spill.end = 0;
}
