/* The population: units of a program's launches, and strata of those that look alike beforehand. */
#include "sample.h"
#include <stdlib.h>
#include <string.h>

/* Launches whose instruction counts differ by more than this are in different strata, unless these would be too
 * small to be sampled. */
#define SIZE_RATIO 1.15
#define MERGE_RATIO 1.6
/* Least units of a stratum for which it is divided by place in the program. */
enum { EARLY = 2, SMALL_STRATUM = 4, PLACE_UNITS = 64, PLACES_MOST = 2 };

/* Windows that begin with fewer than six waves behind the first fill are too fast or too slow, by up to 17 %:
 * CTAs that were placed together stay in step for a while. */
const struct ww_frame_shape ww_frame_shape = {
    .start = 4, .warm_up = 6, .window = 12, .window_least = 4, .windows = 48, .least = 64};

static bool same_family(const struct ww_frame_launch *a, const struct ww_frame_launch *b) {
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->shared_bytes == b->shared_bytes;
}

static uint64_t waves_of(const struct ww_frame_launch *l, const struct ww_frame_shape *s) {
    uint64_t waves = l->resident ? l->ctas / l->resident : 0;
    return l->whole || waves < s->least ? 0 : waves;
}

/* Waves of a launch's parts, for a program whose large launches have `waves` together: the longer a window is,
 * the less does it matter that its first and last CTA are dispatched a little earlier or later by chance. */
static struct ww_frame_shape shape_of(const struct ww_frame_shape *most, uint64_t waves) {
    struct ww_frame_shape s = *most;
    uint64_t window = waves / most->windows;
    if (window < s.window) s.window = window > s.window_least ? (uint32_t)window : s.window_least;
    if (s.window > s.start) s.start = s.window;
    return s;
}

static uint64_t parts_of(const struct ww_frame_launch *l, const struct ww_frame_shape *s) {
    if (!waves_of(l, s)) return 1;
    return 2 + (l->ctas - (uint64_t)(s->start + 1) * l->resident) / (s->window * l->resident);
}

static void add_unit(struct ww_frame *f, const struct ww_frame_launch *l, enum ww_unit_kind kind,
                     uint64_t first, uint64_t end, const struct ww_frame_shape *s) {
    struct ww_unit *u = &f->unit[f->count++];
    uint64_t before = (uint64_t)(1 + s->warm_up) * l->resident;
    bool middle = kind == WW_UNIT_WINDOW || kind == WW_UNIT_TAIL;
    uint64_t from = !middle ? 0 : first > before ? first - before : 0;
    double per_cta = (double)l->warp_instructions / (double)l->ctas;
    *u = (struct ww_unit){.launch = l->index, .kind = (uint8_t)kind, .first = first, .end = end, .from = from};
    u->size = per_cta * (double)(end - first);
    u->cost = per_cta * (double)(end - from);
}

static void add_launch(struct ww_frame *f, const struct ww_frame_launch *l, const struct ww_frame_shape *s) {
    uint64_t parts = parts_of(l, s);
    if (parts == 1) {
        add_unit(f, l, WW_UNIT_LAUNCH, 0, l->ctas, s);
        return;
    }
    uint64_t at = s->start * l->resident, window = s->window * l->resident;
    add_unit(f, l, WW_UNIT_START, 0, at, s);
    for (uint64_t i = 0; i < parts - 2; i++, at += window) add_unit(f, l, WW_UNIT_WINDOW, at, at + window, s);
    add_unit(f, l, WW_UNIT_TAIL, at, l->ctas, s);
}

/* The family of a launch; a new one if need be. */
static uint32_t family_of(struct ww_frame *f, const struct ww_frame_launch *launch, const size_t *first,
                          const struct ww_frame_launch *l) {
    for (size_t i = 0; i < f->families; i++)
        if (same_family(&launch[first[i]], l)) return (uint32_t)i;
    return (uint32_t)f->families;
}

/* ---- strata ---------------------------------------------------------------------------------- */

struct sorted {
    uint32_t family;
    bool early;
    uint8_t kind;
    double size;
    size_t unit;
};

static int by_likeness(const void *a, const void *b) {
    const struct sorted *x = a, *y = b;
    if (x->family != y->family) return x->family < y->family ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->early != y->early) return x->early ? -1 : 1;
    if (x->kind == WW_UNIT_LAUNCH && x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static int by_place(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Units s[0 .. n - 1] as one stratum, or several by their place in the program if there are many. */
static void add_stratum(struct ww_frame *f, const struct sorted *s, size_t n) {
    size_t first = f->strata ? f->stratum[f->strata - 1].first + f->stratum[f->strata - 1].count : 0;
    size_t places = n / PLACE_UNITS < PLACES_MOST ? n / PLACE_UNITS : PLACES_MOST;
    if (!places) places = 1;
    for (size_t i = 0; i < n; i++) f->order[first + i] = s[i].unit;
    qsort(f->order + first, n, sizeof *f->order, by_place);
    for (size_t p = 0; p < places; p++) {
        size_t from = n * p / places, to = n * (p + 1) / places;
        for (size_t i = from; i < to; i++) f->unit[f->order[first + i]].stratum = (uint32_t)f->strata;
        f->stratum[f->strata++] =
            (struct ww_stratum){.first = first + from, .count = to - from, .family = s[0].family};
    }
}

/* Cuts units of one family and kind, which rise in size, where the size has grown too much. */
static void cut_by_size(struct ww_frame *f, const struct sorted *s, size_t n) {
    size_t from = 0;
    for (size_t i = 1; i <= n; i++) {
        double least = s[from].size;
        bool few = i - from < SMALL_STRATUM || n - i < SMALL_STRATUM;
        if (i < n && s[i].size <= least * (few ? MERGE_RATIO : SIZE_RATIO)) continue;
        add_stratum(f, s + from, i - from);
        from = i;
    }
}

static void make_strata(struct ww_frame *f, struct sorted *s) {
    qsort(s, f->count, sizeof *s, by_likeness);
    for (size_t from = 0, i = 1; i <= f->count; i++) {
        if (i < f->count && s[i].family == s[from].family && s[i].kind == s[from].kind &&
            s[i].early == s[from].early)
            continue;
        if (s[from].kind == WW_UNIT_LAUNCH)
            cut_by_size(f, s + from, i - from);
        else
            add_stratum(f, s + from, i - from);
        from = i;
    }
}

enum ww_code ww_frame_make(const struct ww_frame_launch *launch, size_t count,
                           const struct ww_frame_shape *most, struct ww_arena *arena, struct ww_frame *out,
                           struct ww_error *error) {
    uint64_t units = 0, waves = 0;
    for (size_t i = 0; i < count; i++) waves += waves_of(&launch[i], most);
    const struct ww_frame_shape shape = shape_of(most, waves);
    for (size_t i = 0; i < count; i++) units += parts_of(&launch[i], &shape);
    *out = (struct ww_frame){.unit = ww_arena_array(arena, units, sizeof *out->unit),
                             .order = ww_arena_array(arena, units, sizeof *out->order),
                             .stratum = ww_arena_array(arena, units, sizeof *out->stratum),
                             .family = ww_arena_array(arena, count, sizeof *out->family)};
    size_t *first = ww_arena_array(arena, count, sizeof *first);
    size_t *launches = ww_arena_array(arena, count, sizeof *launches); /* by family, so far */
    struct sorted *s = ww_arena_array(arena, units, sizeof *s);
    if (!out->unit || !out->order || !out->stratum || !out->family || !first || !launches || !s)
        return ww_fail_nomem(error, "the units of a sample");
    for (size_t i = 0; i < count; i++) {
        const struct ww_frame_launch *l = &launch[i];
        uint32_t family = family_of(out, launch, first, l);
        if (family == out->families) {
            out->family[out->families].kernel = l->kernel;
            first[out->families++] = i;
        }
        size_t from = out->count;
        add_launch(out, l, &shape);
        for (size_t k = from; k < out->count; k++) {
            struct ww_unit *u = &out->unit[k];
            u->early = launches[family] < EARLY && u->kind != WW_UNIT_WINDOW;
            s[k] = (struct sorted){family, u->early, u->kind, u->size, k};
        }
        launches[family]++;
        out->family[family].instructions += (double)l->warp_instructions;
        out->instructions += (double)l->warp_instructions;
    }
    make_strata(out, s);
    return WW_OK;
}
