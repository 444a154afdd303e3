/* What CTAs of a wave read in common: a slice of a GPU holds fewer of them than the whole GPU does at a time,
 * so that a line which others would have brought into the L2 is read from DRAM for them alone. */
#include "trial.h"
#include "../../../traces/trace.h"
#include "../../base/hash.h"
#include <stdlib.h>

enum { ASIDE = 6, ABOVE = 6, PICKS = 1 + ASIDE + ABOVE };
#define PLACES (1u << 20) /* of the table of sectors; more are not looked at */

/* A rectangle of the grid, whose dimensions y and z are taken as one. */
struct block {
    double wide, high;
};

struct sharing {
    uint64_t *sector; /* number + 1; 0: free */
    uint16_t *by;     /* CTAs that read it, one bit each */
    uint32_t used;
    uint64_t cta[PICKS];
    uint16_t aside, above, self; /* of these, those in its row and in its column */
    uint32_t count;
};

/* ---- which CTAs ---- */

static void add(struct sharing *s, uint64_t cta) {
    uint32_t at = s->count;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->cta[i] == cta) return;
    for (; at && s->cta[at - 1] > cta; at--) s->cta[at] = s->cta[at - 1];
    s->cta[at] = cta;
    s->count++;
}

/* First place of a window of `n` around the middle of `all`. */
static uint64_t window(uint64_t all, uint64_t n) {
    return (all - n) / 2;
}

/* Neighbours share their edges with one another and with no other CTA: they say nothing of the others. */
static bool is_next(uint64_t a, uint64_t b) {
    return a <= b + 1 && b <= a + 1;
}

/* The CTA in the middle, others of its row and of its column. */
static void choose(struct sharing *s, uint64_t wide, uint64_t rows, uint64_t nx, uint64_t ny) {
    uint64_t x = wide / 2, y = rows / 2, self = y * wide + x;
    add(s, self);
    for (uint64_t k = 0; k < ASIDE; k++) {
        uint64_t at = window(wide, nx) + (2 * k + 1) * nx / (2 * ASIDE);
        if (!is_next(at, x)) add(s, y * wide + at);
    }
    for (uint64_t k = 0; k < ABOVE; k++) {
        uint64_t at = window(rows, ny) + (2 * k + 1) * ny / (2 * ABOVE);
        if (!is_next(at, y)) add(s, at * wide + x);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        uint16_t bit = (uint16_t)(1u << i);
        if (s->cta[i] == self)
            s->self |= bit;
        else if (s->cta[i] / wide == y)
            s->aside |= bit;
        else
            s->above |= bit;
    }
}

/* ---- what they read ---- */

static void look(struct sharing *s, uint64_t sector, uint32_t cta) {
    uint64_t at = ww_hash_mix(sector) & (PLACES - 1);
    while (s->sector[at] && s->sector[at] != sector + 1) at = (at + 1) & (PLACES - 1);
    if (!s->sector[at]) {
        if (s->used >= PLACES / 2) return;
        s->used++;
        s->sector[at] = sector + 1;
    }
    s->by[at] |= (uint16_t)(1u << cta);
}

static void look_step(struct sharing *s, const struct ww_warp_stream *w, const struct ww_step *step,
                      const struct ww_access *a, uint32_t cta) {
    uint64_t last = UINT64_MAX;
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(step->mask >> lane & 1)) continue;
        uint64_t address =
            a->list == WW_AFFINE ? a->base + (uint64_t)((int64_t)a->stride * lane) : ww_listed(a, w->pool, n);
        n++;
        if (address >> 5 != last) look(s, last = address >> 5, cta);
    }
}

static enum ww_code read_sectors(struct sharing *s, const char *path, struct ww_error *error) {
    struct ww_trace *trace;
    const struct ww_launch *launch;
    WW_TRY(ww_trace_open(path, &trace, error));
    enum ww_code code = ww_trace_launch(trace, 0, &launch, error);
    for (uint32_t i = 0; code == WW_OK && i < s->count; i++) {
        struct ww_cta_trace cta;
        code = ww_trace_load_cta(trace, 0, i, &cta, error);
        if (code != WW_OK) break;
        for (uint32_t w = 0; w < cta.warp_count; w++) {
            const struct ww_warp_stream *v = &cta.warp[w];
            const struct ww_access *a = v->access;
            for (uint32_t k = 0; k < v->step_count; k++) {
                const struct ww_inst *inst = &launch->inst[v->step[k].inst];
                if (!(inst->flags & WW_INST_ACCESS)) continue;
                bool reads =
                    (inst->op == WW_OP_LOAD || inst->op == WW_OP_ASYNC_COPY || inst->op == WW_OP_TEXTURE) &&
                    (inst->space == WW_SPACE_GLOBAL || inst->space == WW_SPACE_TEX);
                if (reads && v->step[k].mask) look_step(s, v, &v->step[k], a, i);
                a++;
            }
        }
        ww_trace_release_cta(trace, &cta);
    }
    ww_trace_close(trace);
    return code;
}

/* ---- the share ---- */

static double readers(double aside, double above, struct block b) {
    return (1 + aside * (b.wide - 1)) * (1 + above * (b.high - 1));
}

/* A sector of the middle CTA is read by as many CTAs of a block as the shares of its row and of its column that
 * read it say: one of them fetches it. */
static double elsewhere(const struct sharing *s, struct block slice, struct block wave) {
    double in_slice = 0, in_wave = 0, aside = __builtin_popcount(s->aside),
           above = __builtin_popcount(s->above);
    for (uint32_t i = 0; i < PLACES; i++) {
        if (!(s->by[i] & s->self)) continue;
        double a = aside > 0 ? __builtin_popcount(s->by[i] & s->aside) / aside : 0;
        double b = above > 0 ? __builtin_popcount(s->by[i] & s->above) / above : 0;
        in_slice += 1 / readers(a, b, slice);
        in_wave += 1 / readers(a, b, wave);
    }
    return in_slice > in_wave && in_slice > 0 ? 1 - in_wave / in_slice : 0;
}

static enum ww_code find(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                         uint64_t slots, uint64_t wave, uint64_t steps, double *share) {
    char path[WW_TRIAL_PATH];
    struct sharing s = {0};
    uint64_t wide = alike->grid[0], rows = (uint64_t)alike->grid[1] * alike->grid[2];
    uint64_t nx = wave < wide ? wave : wide, ny = (wave + wide - 1) / wide;
    uint64_t columns = ww_slice_columns(alike->grid, rows, slice, slots, slots);
    if (ny > rows) ny = rows;
    *share = 0;
    choose(&s, wide, rows, nx, ny);
    if (s.count < 2) return WW_OK;
    struct ww_cta_pick pick = {s.cta, s.count, steps};
    WW_TRY(ww_trial_record(t, &pick, false, path));
    s.sector = calloc(PLACES, sizeof *s.sector);
    s.by = calloc(PLACES, sizeof *s.by);
    enum ww_code code =
        s.sector && s.by ? read_sectors(&s, path, t->error) : ww_fail_nomem(t->error, "sectors");
    if (code == WW_OK)
        *share = elsewhere(&s, (struct block){(double)columns, (double)slots / (double)columns},
                           (struct block){(double)nx, (double)ny});
    free(s.sector);
    free(s.by);
    return code;
}

enum ww_code ww_trial_set_sharing(struct trial *t, const struct ww_alike *alike, struct ww_slice *slice,
                                  uint64_t ctas, uint64_t steps) {
    uint64_t all = t->v->row.ctas, slots = ctas * slice->sms, wave = ctas * t->m->gpu->spec.sm_count;
    double share;
    if (wave > all) wave = all;
    if (slots > wave) slots = wave;
    WW_TRY(find(t, alike, slice, slots, wave, steps, &share));
    slice->set[slice->sets] = ww_arena_printf(&t->m->arena, "l2.shared_elsewhere=%.6f", share);
    return slice->set[slice->sets++] ? WW_OK : ww_fail_nomem(t->error, "a slice of a GPU");
}
