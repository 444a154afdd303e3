/* Stage 2: the array grows line by line until all of it misses; lines that begin to miss together are a set. */
#include "infer_int.h"
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 4096u /* of larger structures the sets are not looked for */

static uint32_t passes_for(const struct ww_infer *f, size_t n) {
    bool all_at_once = f->out->policy == WW_POLICY_LRU || f->out->policy == WW_POLICY_FIFO;
    uint32_t passes = ww_infer_passes(n);
    return all_at_once ? 4 : passes > 60 ? passes : 60;
}

/* Grows the array by one line; lines that miss and have no set yet are the next one's,
 * and so is the new one if there are such. */
static enum ww_code grow(struct ww_infer *f, const uint64_t *position, size_t n, uint32_t set, uint32_t *joined,
                         struct ww_error *error) {
    uint32_t passes = passes_for(f, n);
    WW_TRY(ww_infer_run(f, position, n, passes, error));
    *joined = 0;
    for (size_t i = 0; i < n; i++) {
        if (f->set_of[i] || !ww_infer_ever(f, n, 1, passes, i)) continue;
        if (i < f->line_count || (*joined && i + 1 == n)) f->set_of[i] = set;
        *joined += i < f->line_count;
    }
    return WW_OK;
}

static void count_kinds(struct ww_infer *f, const uint32_t *ways) {
    struct ww_infer_cache *c = f->out;
    for (uint32_t s = 0; s < c->sets; s++) {
        size_t k = 0;
        while (k < c->kind_count && c->kind[k].ways != ways[s]) k++;
        if (k == WW_INFER_KINDS) continue;
        if (k == c->kind_count) c->kind[c->kind_count++] = (struct ww_infer_kind){0, ways[s]};
        c->kind[k].sets++;
    }
    for (size_t i = 1; i < c->kind_count; i++)
        for (size_t k = i; k && c->kind[k].ways > c->kind[k - 1].ways; k--) {
            struct ww_infer_kind swap = c->kind[k];
            c->kind[k] = c->kind[k - 1];
            c->kind[k - 1] = swap;
        }
}

static enum ww_code grow_all(struct ww_infer *f, const uint64_t *position, uint32_t *ways, size_t most,
                             struct ww_error *error) {
    size_t left = f->line_count;
    for (size_t more = 1; more <= most && left; more++) {
        uint32_t joined;
        WW_TRY(grow(f, position, f->line_count + more, f->out->sets + 1, &joined, error));
        f->out->grown[f->out->grown_count++] = joined;
        if (joined) ways[f->out->sets++] = joined;
        left -= joined;
    }
    if (left) f->out->sets = 0; /* some lines never miss: no sets as these */
    return WW_OK;
}

enum ww_code ww_infer_sets(struct ww_infer *f, struct ww_error *error) {
    size_t lines = (size_t)(f->out->size / f->out->line), most = lines + 1;
    if (lines > MOST_LINES) return WW_OK;
    uint64_t *position = ww_infer_positions(lines + most, f->out->line);
    uint32_t *ways = calloc(lines + most, sizeof *ways);
    f->set_of = calloc(lines + most, sizeof *f->set_of);
    f->line_count = lines;
    f->known_count = lines + most;
    f->out->grown = ww_arena_array(f->arena, most + 1, sizeof *f->out->grown);
    enum ww_code code = WW_OK;
    if (!position || !ways || !f->set_of || !f->out->grown)
        code = ww_fail_nomem(error, "sets");
    else
        code = grow_all(f, position, ways, most, error);
    if (code == WW_OK) count_kinds(f, ways);
    free(position);
    free(ways);
    return code;
}
