/* Which points of a space are computed. */
#include "../../base/hash.h"
#include "program.h"
#include "sweep.h"
#include <stdlib.h>
#include <string.h>

/* Draws a strategy makes for each point asked for, before it takes the space to have no more. */
#define DRAWS_A_POINT 64
#define DRAWS_MORE 4096
#define DRAWS_PROGRAM 4096 /* for each point, of a program's space, most of which constraints may rule out */
#define DRAWS_LEAST 400000
#define EFFORT 300000000 /* characters of constraints that are evaluated: some seconds */
#define LOOKS 50000000   /* levels that are tried to count such a space */

const char *const ww_sweep_strategy_name[WW_SWEEP_STRATEGIES] = {"grid",  "random",   "latin",
                                                                 "sobol", "adaptive", "best"};

/* Points under way: a list, and a hash table over it of numbers + 1. */
struct picking {
    struct ww_sweep_space *space;
    uint16_t *level; /* malloc: grows */
    size_t count, room;
    uint32_t *slot;
    size_t slots; /* power of two */
    uint64_t effort;
    struct ww_error *error;
};

struct at {
    const struct ww_sweep_space *space;
    const uint16_t *level;
};

static const struct ww_sweep_level *look_up(const void *context, const char *name) {
    const struct at *at = context;
    for (size_t i = 0; i < at->space->param_count; i++)
        if (strcmp(at->space->param[i].key, name) == 0) return &at->space->param[i].level[at->level[i]];
    return NULL;
}

const char *ww_sweep_mechanism(const struct ww_sweep_space *space, const uint16_t *level,
                               enum ww_mech_kind kind) {
    const char *name = NULL, *kind_name = ww_mech_kind_name(kind);
    size_t n = strlen(kind_name);
    for (size_t i = 0; i < space->mech_count; i++)
        if (strncmp(space->mech[i], kind_name, n) == 0 && space->mech[i][n] == '=')
            name = space->mech[i] + n + 1;
    for (size_t i = 0; i < space->param_count; i++)
        if (space->param[i].target == WW_SWEEP_KIND && space->param[i].kind == kind)
            name = space->param[i].level[level[i]].text;
    return name;
}

bool ww_sweep_active(const struct ww_sweep_space *space, const uint16_t *level, size_t i) {
    const struct ww_sweep_param *p = &space->param[i];
    if (p->target != WW_SWEEP_SETTING) return true;
    const char *name = ww_sweep_mechanism(space, level, p->kind);
    const struct ww_mech_info *info = name ? ww_mech_find(p->kind, name) : NULL;
    return !info || ww_param_find(info->params, info->param_count, strchr(p->key, '.') + 1) >= 0;
}

/* Whether a point belongs to the space: a setting without meaning stands at its first level, so that each
 * machine is there once. */
static enum ww_code belongs(struct picking *p, const uint16_t *level, bool *out) {
    const struct ww_sweep_space *space = p->space;
    struct at at = {space, level};
    *out = true;
    for (size_t i = 0; i < space->param_count; i++)
        if (level[i] && !ww_sweep_active(space, level, i)) *out = false;
    for (size_t i = 0; i < space->condition_count; i++) {
        char where[400];
        bool holds;
        snprintf(where, sizeof where, "%.240s: $.conditions[%zu]", space->file, i);
        WW_TRY(ww_sweep_condition(space->condition[i], look_up, &at, where, &holds, p->error));
        *out = *out && holds;
    }
    return WW_OK;
}

static size_t row_bytes(const struct picking *p) {
    return p->space->param_count * sizeof *p->level;
}

static const uint16_t *row(const struct picking *p, size_t i) {
    return p->level + i * p->space->param_count;
}

/* The slot of a point: its own, or the free one where it belongs. */
static uint32_t *find(const struct picking *p, const uint16_t *level) {
    size_t at = ww_hash_bytes(level, row_bytes(p), 0) & (p->slots - 1);
    while (p->slot[at] && memcmp(row(p, p->slot[at] - 1), level, row_bytes(p)) != 0)
        at = (at + 1) & (p->slots - 1);
    return &p->slot[at];
}

static enum ww_code grow(struct picking *p) {
    size_t room = p->room ? 2 * p->room : 64;
    uint16_t *level = realloc(p->level, room * row_bytes(p));
    if (level) p->level = level;
    uint32_t *slot = level ? calloc(4 * room, sizeof *slot) : NULL;
    if (!slot) return ww_fail_nomem(p->error, "the points of a sweep");
    free(p->slot);
    p->slot = slot;
    p->slots = 4 * room;
    p->room = room;
    for (size_t i = 0; i < p->count; i++) *find(p, row(p, i)) = (uint32_t)i + 1;
    return WW_OK;
}

/* Whether the program's constraints hold that parameter `at` decides. */
static enum ww_code decided(struct picking *p, const uint16_t *level, size_t at, bool *out) {
    const struct ww_program *program = p->space->program;
    for (size_t i = 0; i < program->constraint_count; i++)
        if (program->last[i] == at) p->effort += strlen(program->constraint[i]);
    return ww_program_holds(p->space, level, at, out, p->error);
}

/* Whether the program's constraints hold that are decided by the first `n` parameters. */
static enum ww_code holds(struct picking *p, const uint16_t *level, size_t n, bool *out) {
    *out = true;
    for (size_t i = 0; p->space->program && i < n && *out; i++) WW_TRY(decided(p, level, i, out));
    return WW_OK;
}

/* Adds a point that belongs to the space and is new. */
static enum ww_code offer(struct picking *p, const uint16_t *level) {
    bool good;
    WW_TRY(belongs(p, level, &good));
    if (!good) return WW_OK;
    if (p->count == p->room) WW_TRY(grow(p));
    uint32_t *slot = find(p, level);
    if (*slot) return WW_OK;
    memcpy(p->level + p->count * p->space->param_count, level, row_bytes(p));
    *slot = (uint32_t)++p->count;
    return WW_OK;
}

/* Parameters that move together with another one have no place of their own. */
static size_t places(const struct ww_sweep_param *p) {
    return p->follows ? 1 : p->count;
}

static void follow(const struct ww_sweep_space *space, uint16_t *level) {
    for (size_t i = 0; i < space->param_count; i++)
        if (space->param[i].follows) level[i] = level[space->param[i].leader - 1];
}

/* All points of a program's space: levels are chosen one after another, and what the constraints rule out goes
 * no further, so that it is not counted. */
static enum ww_code pick_held(struct picking *p) {
    const struct ww_sweep_space *space = p->space;
    uint16_t level[WW_SWEEP_PARAMS] = {0};
    size_t at = 0;
    for (uint64_t looks = 0;; looks++) {
        bool good;
        if (looks > LOOKS || p->count > WW_SWEEP_POINTS)
            return ww_fail(p->error, WW_INPUT, space->file,
                           p->count > WW_SWEEP_POINTS
                               ? "the grid has more than %d points: --strategy random --points N "
                                 "takes some"
                               : "the grid has too many points to count (%d are allowed): "
                                 "--strategy random --points N takes some",
                           WW_SWEEP_POINTS);
        if (p->effort > EFFORT)
            return ww_fail(p->error, WW_INPUT, space->file,
                           "$.program.constraints take too long to test on all levels: --strategy random "
                           "--points N takes some");
        WW_TRY(decided(p, level, at, &good));
        if (good && at + 1 < space->param_count) {
            level[++at] = 0;
            continue;
        }
        if (good) {
            uint16_t all[WW_SWEEP_PARAMS];
            memcpy(all, level, sizeof all);
            follow(space, all);
            WW_TRY(offer(p, all));
        }
        while (++level[at] == places(&space->param[at])) {
            if (at == 0) return WW_OK;
            at--;
        }
    }
}

/* All points, the last parameter fastest. */
static enum ww_code pick_grid(struct picking *p) {
    const struct ww_sweep_space *space = p->space;
    uint16_t place[WW_SWEEP_PARAMS] = {0}, level[WW_SWEEP_PARAMS];
    if (space->program) return pick_held(p);
    double all = 1;
    for (size_t i = 0; i < space->param_count; i++) all *= (double)places(&space->param[i]);
    if (all > WW_SWEEP_POINTS)
        return ww_fail(p->error, WW_INPUT, space->file,
                       "the grid has %.0f points: expected at most %d; --strategy sobol --points N takes some",
                       all, WW_SWEEP_POINTS);
    for (;;) {
        memcpy(level, place, sizeof level);
        follow(space, level);
        WW_TRY(offer(p, level));
        size_t i = space->param_count;
        while (i > 0 && ++place[i - 1] == places(&space->param[i - 1])) place[--i] = 0;
        if (i == 0) return WW_OK;
    }
}

static enum ww_code pick_some(struct picking *p, enum ww_sweep_strategy strategy, size_t points,
                              uint64_t seed) {
    const struct ww_sweep_space *space = p->space;
    double u[WW_SWEEP_PARAMS];
    uint16_t level[WW_SWEEP_PARAMS];
    struct ww_sweep_sampler *s = ww_sweep_sampler_new(strategy, space->param_count, points, seed);
    if (!s) return ww_fail_nomem(p->error, "the points of a sweep");
    enum ww_code code = WW_OK;
    size_t left = points * (space->program ? DRAWS_PROGRAM : DRAWS_A_POINT) + DRAWS_MORE;
    if (space->program && left < DRAWS_LEAST) left = DRAWS_LEAST;
    for (; code == WW_OK && p->count < points && left && p->effort <= EFFORT; left--) {
        ww_sweep_sampler_next(s, u);
        for (size_t i = 0; i < space->param_count; i++) {
            size_t most = space->param[i].count - 1, k = (size_t)(u[i] * (double)(most + 1));
            level[i] = (uint16_t)(k < most ? k : most);
        }
        follow(space, level);
        for (size_t i = 0; i < space->param_count; i++)
            if (!ww_sweep_active(space, level, i)) level[i] = 0;
        bool good = true;
        code = holds(p, level, space->param_count, &good);
        if (code == WW_OK && good) code = offer(p, level);
    }
    ww_sweep_sampler_free(s);
    return code;
}

enum ww_code ww_sweep_pick(struct ww_sweep_space *space, enum ww_sweep_strategy strategy, size_t points,
                           uint64_t seed, struct ww_sweep_plan *plan, struct ww_error *error) {
    struct picking p = {.space = space, .error = error};
    *plan = (struct ww_sweep_plan){0};
    if (strategy == WW_SWEEP_BEST && points) strategy = WW_SWEEP_RANDOM;
    if (strategy == WW_SWEEP_BEST) strategy = WW_SWEEP_GRID;
    if (strategy == WW_SWEEP_ADAPTIVE) strategy = points ? WW_SWEEP_SOBOL : WW_SWEEP_GRID;
    enum ww_code code = strategy == WW_SWEEP_GRID ? pick_grid(&p) : pick_some(&p, strategy, points, seed);
    if (code == WW_OK && p.count == 0)
        code = ww_fail(error, WW_INPUT, space->file, "%s: no %s holds them all",
                       space->program && space->program->constraint_count ? "$.program.constraints"
                                                                          : "$.conditions",
                       space->program ? "variant" : "point");
    if (code == WW_OK) {
        plan->level = ww_arena_alloc(&space->arena, p.count * row_bytes(&p));
        if (!plan->level) code = ww_fail_nomem(error, "the points of a sweep");
    }
    if (code == WW_OK) {
        memcpy(plan->level, p.level, p.count * row_bytes(&p));
        plan->count = p.count;
    }
    free(p.level);
    free(p.slot);
    return code;
}
