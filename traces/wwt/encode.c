/* Encoding a CTA group: its head, then its columns. */
#include "encode.h"
#include "../../estimator/base/bits.h"

void ww_wwt_put_runs(struct ww_buf *b, struct ww_wwt_cta *const *cta, size_t count, uint64_t end,
                     bool is_signed) {
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) runs += i == 0 || cta[i]->index != cta[i - 1]->index + 1;
    ww_buf_varint(b, runs);
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && cta[i + n]->index == cta[i]->index + n;) n++;
        if (i == 0 && is_signed)
            ww_buf_svarint(b, (int64_t)(cta[i]->index - end));
        else
            ww_buf_varint(b, cta[i]->index - end);
        ww_buf_varint(b, n);
        end = cta[i]->index + n;
    }
}

/* Numbers the paths in order of first use and encodes each once; one entry per warp. */
static uint32_t put_paths(struct ww_wwt_encoder *e, struct ww_wwt_cta *const *cta, size_t count) {
    uint32_t paths = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < cta[i]->warp_count; w++) {
            struct ww_wwt_steps *s = cta[i]->warp[w].steps;
            if (!s->number) {
                s->number = ++paths;
                ww_wwt_encode_path(e, s);
            }
            s->uses++;
            ww_buf_varint(&e->col[WW_WWT_COL_WARP], s->number - 1);
        }
    return paths;
}

/* Adds up the executions and makes the paths forget this group. */
static void count_paths(struct ww_wwt_cta *const *cta, size_t count, uint64_t *inst_warp,
                        uint64_t *inst_thread) {
    for (size_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < cta[i]->warp_count; w++) {
            struct ww_wwt_steps *s = cta[i]->warp[w].steps;
            for (uint32_t k = 0; s->number && k < s->count; k++) {
                inst_warp[s->step[k].inst] += s->uses;
                inst_thread[s->step[k].inst] += s->uses * ww_bits(s->step[k].mask);
            }
            s->number = 0;
            s->uses = 0;
            s->latest = NULL;
        }
}

#define CUT_BYTES 4096u /* columns below that stay with their neighbours */

/* True if a column's bytes are spread over at least about four values: what is left of them after a search for
 * repetitions is coded by how often each occurs. */
static bool is_spread(const struct ww_buf *column) {
    uint64_t count[256] = {0}, squares = 0;
    if (column->n < CUT_BYTES) return false;
    for (size_t i = 0; i < column->n; i++) count[(unsigned char)column->p[i]]++;
    for (unsigned v = 0; v < 256; v++) squares += count[v] * count[v];
    return squares <= (uint64_t)column->n * column->n / 4;
}

static void add_cut(struct ww_wwt_cuts *cuts, size_t at) {
    if (!cuts->count || cuts->at[cuts->count - 1] != at) cuts->at[cuts->count++] = at;
}

static bool put_columns(struct ww_wwt_encoder *e, uint32_t paths, struct ww_buf *out,
                        struct ww_wwt_cuts *cuts) {
    ww_buf_varint(out, paths);
    for (int i = 0; i < WW_WWT_COLUMNS; i++) ww_buf_varint(out, e->col[i].n);
    bool ok = true;
    for (int i = 0; i < WW_WWT_COLUMNS; i++) {
        bool spread = is_spread(&e->col[i]);
        if (spread) add_cut(cuts, out->n);
        ww_buf_append(out, e->col[i].p, e->col[i].n);
        if (spread) add_cut(cuts, out->n);
        ok = ok && !e->col[i].failed;
    }
    return ok && !out->failed;
}

enum ww_code ww_wwt_encode(const struct ww_launch *launch, size_t number, struct ww_wwt_cta *const *cta,
                           size_t count, struct ww_buf *out, struct ww_wwt_cuts *cuts, uint64_t *inst_warp,
                           uint64_t *inst_thread, struct ww_error *error) {
    struct ww_wwt_encoder e = {.launch = launch};
    cuts->count = 0;
    ww_buf_varint(out, number);
    ww_wwt_put_runs(out, cta, count, 0, false);
    uint32_t paths = put_paths(&e, cta, count);
    bool ok = ww_wwt_encode_accesses(&e, cta, count);
    count_paths(cta, count, inst_warp, inst_thread);
    ok = ok && put_columns(&e, paths, out, cuts);
    for (int i = 0; i < WW_WWT_COLUMNS; i++) ww_buf_free(&e.col[i]);
    if (!ok) return ww_fail_nomem(error, "a CTA group");
    if (out->n > WW_WWT_RAW_MAX)
        return ww_fail(error, WW_UNSUPPORTED, launch->kernel,
                       "CTA %llu takes %zu bytes before compression; the container takes %u",
                       (unsigned long long)cta[0]->index, out->n, WW_WWT_RAW_MAX);
    return WW_OK;
}
