/* The line: what one more element too many displaces, and how much of it a miss brings back. */
#include "infer_int.h"
#include <stdlib.h>

#define JUMP_LINES 32u

static size_t count_missing(const struct ww_infer *f, size_t n) {
    size_t missing = 0;
    for (size_t i = 0; i < n; i++) missing += ww_infer_ever(f, n, 1, ww_infer_passes(n), i);
    return missing;
}

/* The array grows beyond the size in single elements: the first misses, and so does the first of each further
 * piece that comes at once. Within the size steps are as large as those that found it. */
static enum ww_code find_fill(struct ww_infer *f, struct ww_error *error) {
    const struct ww_infer_plan *p = f->plan;
    uint64_t step = p->size_step ? p->size_step : p->unit;
    size_t inside = (size_t)((f->out->size + step - 1) / step), more = (size_t)(p->longest_line / p->unit) + 1;
    uint64_t *position = ww_infer_positions(inside + more, step);
    if (!position) return ww_fail_nomem(error, "a chase");
    for (size_t i = 0; i < more; i++) position[inside + i] = f->out->size + i * p->unit;
    enum ww_code code = ww_infer_run(f, position, inside + more, ww_infer_passes(inside + more), error);
    free(position);
    WW_TRY(code);
    for (size_t i = 1; i < more && !f->out->fill; i++)
        if (ww_infer_ever(f, inside + more, 1, ww_infer_passes(inside + more), inside + i))
            f->out->fill = i * p->unit;
    return WW_OK;
}

/* How many lines miss in an array of so many pieces. */
static enum ww_code missing_of(struct ww_infer *f, size_t pieces, size_t *missing, struct ww_error *error) {
    uint64_t *position = ww_infer_positions(pieces, f->out->fill);
    if (!position) return ww_fail_nomem(error, "a chase");
    enum ww_code code = ww_infer_run(f, position, pieces, ww_infer_passes(pieces), error);
    free(position);
    if (code == WW_OK) *missing = count_missing(f, pieces);
    return code;
}

/* Of the pieces that miss when there is one too many, the first in each block of `block` bytes: if these alone
 * miss as well, they have tags of whole blocks. */
static enum ww_code one_piece_of_each(struct ww_infer *f, uint64_t block, bool *still, struct ww_error *error) {
    size_t n = (size_t)(f->out->size / f->out->fill) + 1, count = 0;
    uint64_t *position = ww_infer_positions(n, f->out->fill), last = UINT64_MAX;
    if (!position) return ww_fail_nomem(error, "a chase");
    enum ww_code code = ww_infer_run(f, position, n, ww_infer_passes(n), error);
    for (size_t i = 0; code == WW_OK && i < n; i++)
        if (ww_infer_ever(f, n, 1, ww_infer_passes(n), i) && position[i] / block != last) {
            last = position[i] / block;
            position[count++] = position[i];
        }
    if (code == WW_OK && count) code = ww_infer_run(f, position, count, ww_infer_passes(count), error);
    if (code == WW_OK) *still = count && count_missing(f, count) > 0;
    free(position);
    return code;
}

/* The growth at which suddenly many more lines miss, which is another set's; 0: one set after the other does
 * not join, or there is only one. */
static enum ww_code find_jump(struct ww_infer *f, uint64_t *jump, struct ww_error *error) {
    size_t pieces = (size_t)(f->out->size / f->out->fill), first, before;
    *jump = 0;
    WW_TRY(missing_of(f, pieces + 1, &first, error));
    before = first;
    for (size_t more = 2; more <= JUMP_LINES && more * f->out->fill <= 4 * f->plan->longest_line; more++) {
        size_t now;
        WW_TRY(missing_of(f, pieces + more, &now, error));
        if (now > before + 1 + first / 4) {
            *jump = (more - 1) * f->out->fill;
            return WW_OK;
        }
        before = now;
    }
    return WW_OK;
}

enum ww_code ww_infer_line(struct ww_infer *f, struct ww_error *error) {
    uint64_t jump;
    bool still = false;
    WW_TRY(find_fill(f, error));
    f->out->line = f->out->fill;
    if (!f->out->fill || !f->plan->sets) return WW_OK;
    WW_TRY(find_jump(f, &jump, error));
    if (jump <= f->out->fill) return WW_OK;
    WW_TRY(one_piece_of_each(f, jump, &still, error));
    if (still) f->out->line = jump;
    return WW_OK;
}
