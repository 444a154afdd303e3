/* A sweep read back for reports: points, settings, objectives, effects, and which points are the front. */
#include "../estimator/api/database.h"
#include "../estimator/result/explored.h"
#include "../estimator/base/locale.h"
#include "db.h"
#include "schema.h"
#include "sweep_sql.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_LIMIT ((size_t)4 << 30) /* a database is untrusted */

struct reader {
    struct ww_db *db;
    struct ww_explored *e;
    struct ww_arena *arena;
    struct ww_error *error;
};

static enum ww_code open(struct reader *r, struct ww_select *s, const char *sql) {
    return ww_select_open(s, r->db, sql, r->e->sweep, r->error);
}

static enum ww_code count(struct reader *r, const char *sql, size_t *n) {
    struct ww_select s;
    WW_TRY(open(r, &s, sql));
    *n = ww_select_row(&s) ? ww_select_u64(&s) : 0;
    return ww_select_close(&s);
}

static double number(struct ww_select *s) {
    if (!ww_select_is_null(s)) return ww_select_f64(s);
    s->next++;
    return NAN;
}

static enum ww_code load_head(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    WW_TRY(open(r, &s,
                "SELECT g.name, s.strategy, s.mode, s.version, s.seed, s.points, coalesce((SELECT"
                " group_concat(workload, ', ') FROM (SELECT workload FROM sweep_trace t WHERE t.sweep_id ="
                " s.sweep_id ORDER BY ord)), '') FROM sweep s LEFT JOIN gpu g USING(gpu_id)"
                " WHERE s.sweep_id = ?1"));
    if (ww_select_row(&s)) {
        e->gpu = ww_select_text(&s, r->arena);
        e->strategy = ww_select_text(&s, r->arena);
        e->mode = ww_select_text(&s, r->arena);
        e->version = ww_select_text(&s, r->arena);
        e->seed = ww_select_text(&s, r->arena);
        e->planned = ww_select_u64(&s);
        e->traces = ww_select_text(&s, r->arena);
    } else if (s.code == WW_OK) {
        s.code = ww_fail(r->error, WW_DB, r->db->path,
                         "there is no sweep %lld; `warpwatt query --named sweeps`", (long long)e->sweep);
    }
    return ww_select_close(&s);
}

static enum ww_code load_objectives(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    WW_TRY(open(r, &s, "SELECT name, sense FROM sweep_objective WHERE sweep_id = ?1 ORDER BY ord LIMIT 4"));
    while (e->objective_count < WW_EXPLORED_OBJECTIVES && ww_select_row(&s)) {
        struct ww_explored_objective *o = &e->objective[e->objective_count++];
        o->name = ww_select_text(&s, r->arena);
        o->sense = ww_select_i64(&s) < 0 ? -1 : 1;
    }
    return ww_select_close(&s);
}

static enum ww_code load_keys(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t n;
    WW_TRY(count(r, "SELECT count(DISTINCT key) FROM sweep_setting WHERE sweep_id = ?1", &n));
    e->key = ww_arena_array(r->arena, n + 1, sizeof *e->key);
    if (!e->key) return ww_fail_nomem(r->error, "a sweep");
    WW_TRY(
        open(r, &s, "SELECT key FROM sweep_setting WHERE sweep_id = ?1 GROUP BY key ORDER BY min(ord), key"));
    while (e->key_count < n && ww_select_row(&s)) e->key[e->key_count++] = ww_select_text(&s, r->arena);
    return ww_select_close(&s);
}

static enum ww_code load_points(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t n;
    WW_TRY(count(r, "SELECT count(*) FROM sweep_point WHERE sweep_id = ?1", &n));
    e->point = ww_arena_array(r->arena, n + 1, sizeof *e->point);
    if (!e->point) return ww_fail_nomem(r->error, "a sweep's points");
    WW_TRY(open(r, &s,
                "SELECT ord, coalesce(feasible, -1), reason, area_mm2 FROM sweep_point WHERE sweep_id = ?1"
                " ORDER BY ord"));
    while (e->point_count < n && ww_select_row(&s)) {
        struct ww_explored_point *p = &e->point[e->point_count++];
        p->ord = ww_select_u64(&s);
        p->feasible = (int)ww_select_i64(&s);
        p->reason = ww_select_text(&s, r->arena);
        p->area_mm2 = number(&s);
        p->time_s = p->energy_j = p->power_w = p->measured_s = p->board_w = p->most_w = NAN;
        for (int o = 0; o < WW_EXPLORED_OBJECTIVES; o++) p->objective[o] = NAN;
        for (int g = 0; g < WW_ENERGY_GROUPS; g++) p->group_j[g] = NAN;
        p->value = ww_arena_array(r->arena, e->key_count + 1, sizeof *p->value);
        if (!p->value) s.code = ww_fail_nomem(r->error, "a sweep's points");
    }
    return ww_select_close(&s);
}

/* The point of the next column, which is a number; rows come in the points' order. */
static struct ww_explored_point *point_of(struct reader *r, struct ww_select *s, size_t *at) {
    uint64_t ord = ww_select_u64(s);
    while (*at < r->e->point_count && r->e->point[*at].ord < ord) ++*at;
    if (*at < r->e->point_count && r->e->point[*at].ord == ord) return &r->e->point[*at];
    ww_select_refuse(s, "the number of a point of this sweep");
    return NULL;
}

static enum ww_code load_settings(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t at = 0;
    WW_TRY(open(r, &s,
                "SELECT point, key, CAST(value AS TEXT) FROM sweep_setting WHERE sweep_id = ?1"
                " ORDER BY point, ord"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        const char *key = ww_select_text(&s, r->arena), *value = ww_select_text(&s, r->arena);
        for (size_t k = 0; p && k < e->key_count; k++)
            if (strcmp(e->key[k], key) == 0) p->value[k] = value;
    }
    return ww_select_close(&s);
}

static enum ww_code load_sums(struct reader *r) {
    struct ww_select s;
    size_t at = 0;
    WW_TRY(
        open(r, &s,
             "SELECT point, time_s, energy_j, power_w FROM v_sweep_point WHERE sweep_id = ?1 ORDER BY point"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        double time_s = number(&s), energy_j = number(&s), power_w = number(&s);
        if (!p || p->feasible < 0) continue; /* replayed, and then found wrong */
        p->time_s = time_s;
        p->energy_j = energy_j;
        p->power_w = power_w;
    }
    WW_TRY(ww_select_close(&s));
    at = 0;
    WW_TRY(open(r, &s, "SELECT point, objective, value FROM sweep_value WHERE sweep_id = ?1 ORDER BY point"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        uint64_t o = ww_select_u64(&s);
        double value = number(&s);
        if (p && o < r->e->objective_count) p->objective[o] = value;
    }
    return ww_select_close(&s);
}

/* What a point's board is built for, and how near its traces come; a point may set the former. */
static enum ww_code load_boards(struct reader *r) {
    struct ww_select s;
    size_t at = 0;
    WW_TRY(open(r, &s,
                "SELECT point, board_w, most_w FROM (" WW_DB_BOARDS ") WHERE sweep_id = ?1 ORDER BY point"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        double board = number(&s), most = number(&s);
        if (!p || p->feasible < 0) continue;
        p->board_w = board;
        p->most_w = most;
    }
    return ww_select_close(&s);
}

static enum ww_code load_traces(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t n;
    WW_TRY(count(r, "SELECT count(*) FROM sweep_trace WHERE sweep_id = ?1", &n));
    e->workload = ww_arena_array(r->arena, n + 1, sizeof *e->workload);
    if (!e->workload) return ww_fail_nomem(r->error, "a sweep's traces");
    WW_TRY(open(r, &s, "SELECT workload FROM sweep_trace WHERE sweep_id = ?1 ORDER BY ord"));
    while (e->trace_count < n && ww_select_row(&s))
        e->workload[e->trace_count++] = ww_select_text(&s, r->arena);
    return ww_select_close(&s);
}

static bool make_parts(struct reader *r, struct ww_explored_point *p) {
    p->part_s = ww_arena_array(r->arena, r->e->trace_count + 1, sizeof *p->part_s);
    p->part_j = ww_arena_array(r->arena, r->e->trace_count + 1, sizeof *p->part_j);
    for (size_t t = 0; p->part_s && p->part_j && t < r->e->trace_count; t++) p->part_s[t] = p->part_j[t] = NAN;
    return p->part_s && p->part_j;
}

/* `place` counts a sweep's traces, whose numbers may have gaps in a database that is not ours. */
static enum ww_code load_parts(struct reader *r) {
    struct ww_select s;
    size_t at = 0;
    WW_TRY(load_traces(r));
    WW_TRY(open(
        r, &s,
        "SELECT v.point, (SELECT count(*) FROM sweep_trace t WHERE t.sweep_id = v.sweep_id AND t.ord < v.trace)"
        " AS place, v.weight * v.time_s, v.weight * v.energy_j FROM v_sweep_result v WHERE v.sweep_id = ?1"
        " ORDER BY v.point"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        uint64_t trace = ww_select_u64(&s);
        double seconds = number(&s), joules = number(&s);
        if (!p || p->feasible < 0 || trace >= r->e->trace_count) continue;
        if (!p->part_s && !make_parts(r, p)) {
            s.code = ww_fail_nomem(r->error, "a sweep's points");
            continue;
        }
        p->part_s[trace] = seconds;
        p->part_j[trace] = joules;
    }
    return ww_select_close(&s);
}

static enum ww_code load_energy(struct reader *r) {
    struct ww_select s;
    size_t at = 0;
    WW_TRY(open(r, &s,
                "SELECT point, " WW_DB_ENERGY_PARTS " FROM v_sweep_energy WHERE sweep_id = ?1 ORDER BY point"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        for (int g = 0; p && g < WW_ENERGY_GROUPS; g++) p->group_j[g] = number(&s);
    }
    return ww_select_close(&s);
}

static enum ww_code load_estimates(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t at = 0;
    WW_TRY(open(
        r, &s,
        "SELECT point, objective, estimate, low, high FROM sweep_estimate WHERE sweep_id = ?1 ORDER BY point"));
    while (ww_select_row(&s)) {
        uint64_t ord = ww_select_u64(&s), o = ww_select_u64(&s);
        double estimate = number(&s), low = number(&s), high = number(&s);
        while (at < e->candidate_count && e->candidate[at].ord < ord) at++;
        if (at == e->candidate_count || e->candidate[at].ord != ord || o >= e->objective_count) continue;
        e->candidate[at].estimate[o] = estimate;
        e->candidate[at].low[o] = low;
        e->candidate[at].high[o] = high;
    }
    return ww_select_close(&s);
}

static enum ww_code load_candidates(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t n;
    WW_TRY(count(r,
                 "SELECT count(*) FROM sweep_candidate c JOIN sweep s USING(sweep_id) WHERE c.sweep_id = ?1"
                 " AND s.strategy = 'adaptive'",
                 &n));
    e->candidate = ww_arena_array(r->arena, n + 1, sizeof *e->candidate);
    if (!e->candidate) return ww_fail_nomem(r->error, "a sweep's candidates");
    WW_TRY(open(r, &s,
                "SELECT point, settings, fidelity, holds, may_hold FROM sweep_candidate WHERE sweep_id = ?1"
                " ORDER BY point"));
    while (e->candidate_count < n && ww_select_row(&s)) {
        struct ww_explored_candidate *c = &e->candidate[e->candidate_count++];
        c->ord = ww_select_u64(&s);
        c->settings = ww_select_text(&s, r->arena);
        c->fidelity = ww_select_text(&s, r->arena);
        c->holds = ww_select_i64(&s) != 0;
        c->may_hold = ww_select_i64(&s) != 0;
        for (int o = 0; o < WW_EXPLORED_OBJECTIVES; o++) c->estimate[o] = c->low[o] = c->high[o] = NAN;
    }
    WW_TRY(ww_select_close(&s));
    return load_estimates(r);
}

static enum ww_code load_variants(struct reader *r) {
    struct ww_select s;
    size_t at = 0;
    WW_TRY(
        open(r, &s,
             "SELECT point, ctas, recorded_ctas, registers, shared_bytes, local_bytes, warps_per_sm, limiter,"
             " top_stall, error, stall_share, conflicts FROM v_sweep_variant WHERE sweep_id = ?1 AND ctas IS"
             " NOT NULL ORDER BY point"));
    while (ww_select_row(&s)) {
        struct ww_explored_point *p = point_of(r, &s, &at);
        struct ww_explored_variant *v = ww_arena_array(r->arena, 1, sizeof *v);
        if (!v) s.code = ww_fail_nomem(r->error, "a sweep's variants");
        if (!v || !p) continue;
        v->ctas = ww_select_u64(&s);
        v->recorded_ctas = ww_select_u64(&s);
        v->registers = ww_select_u64(&s);
        v->shared_bytes = ww_select_u64(&s);
        v->local_bytes = ww_select_u64(&s);
        v->warps = ww_select_u64(&s);
        v->limiter = ww_select_text(&s, r->arena);
        v->top_stall = ww_select_text(&s, r->arena);
        v->error = number(&s);
        v->stall_share = number(&s);
        v->conflicts = number(&s);
        r->e->variant_count += !p->variant;
        p->variant = v;
    }
    return ww_select_close(&s);
}

/* "A=1 B=2" as values of the sweep's parameters. */
static enum ww_code split_settings(struct reader *r, const char *text, const char **value) {
    while (*text) {
        size_t n = strcspn(text, " "), name = strcspn(text, "=");
        for (size_t k = 0; k < r->e->key_count && name < n; k++)
            if (strlen(r->e->key[k]) == name && strncmp(r->e->key[k], text, name) == 0) {
                value[k] = ww_arena_printf(r->arena, "%.*s", (int)(n - name - 1), text + name + 1);
                if (!value[k]) return ww_fail_nomem(r->error, "a sweep's candidates");
            }
        text += n + (text[n] == ' ');
    }
    return WW_OK;
}

#define SCREENED                                                                                               \
    " FROM sweep_candidate c JOIN sweep_estimate e USING(sweep_id, point) JOIN sweep s USING(sweep_id)"        \
    " WHERE c.sweep_id = ?1 AND s.strategy = 'best' AND c.fidelity = 'analytic' AND e.objective = 0"

static enum ww_code load_screened(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t n;
    WW_TRY(count(r, "SELECT count(*)" SCREENED, &n));
    e->screened = ww_arena_array(r->arena, n + 1, sizeof *e->screened);
    if (!e->screened) return ww_fail_nomem(r->error, "a sweep's candidates");
    WW_TRY(open(r, &s, "SELECT c.point, e.estimate, e.low, e.high, c.settings" SCREENED " ORDER BY c.point"));
    while (e->screened_count < n && ww_select_row(&s)) {
        struct ww_explored_point *p = &e->screened[e->screened_count++];
        p->ord = ww_select_u64(&s);
        p->time_s = number(&s);
        p->low_s = number(&s);
        p->high_s = number(&s);
        p->energy_j = p->power_w = p->measured_s = p->area_mm2 = p->board_w = p->most_w = NAN;
        p->reason = "";
        p->screened = true;
        for (int o = 0; o < WW_EXPLORED_OBJECTIVES; o++) p->objective[o] = NAN;
        const char *settings = ww_select_text(&s, r->arena);
        p->value = ww_arena_array(r->arena, e->key_count + 1, sizeof *p->value);
        if (s.code == WW_OK)
            s.code = p->value ? split_settings(r, settings, p->value)
                              : ww_fail_nomem(r->error, "a sweep's candidates");
    }
    return ww_select_close(&s);
}

static enum ww_code load_effects(struct reader *r) {
    struct ww_explored *e = r->e;
    struct ww_select s;
    size_t n;
    WW_TRY(count(r, "SELECT count(*) FROM sweep_effect WHERE sweep_id = ?1", &n));
    e->effect = ww_arena_array(r->arena, n + 1, sizeof *e->effect);
    if (!e->effect) return ww_fail_nomem(r->error, "a sweep's effects");
    WW_TRY(open(r, &s,
                "SELECT objective, a, b, effect, error, share FROM sweep_effect WHERE sweep_id = ?1"
                " ORDER BY objective, share DESC, ord"));
    while (e->effect_count < n && ww_select_row(&s)) {
        struct ww_explored_effect *f = &e->effect[e->effect_count++];
        f->objective = ww_select_u64(&s);
        f->a = ww_select_text(&s, r->arena);
        f->b = ww_select_text(&s, r->arena);
        f->effect = number(&s);
        f->error = number(&s);
        f->share = number(&s);
        if (f->objective >= e->objective_count) ww_select_refuse(&s, "the number of an objective");
    }
    return ww_select_close(&s);
}

/* ---- the front ---- */

struct candidate {
    double cost[WW_EXPLORED_OBJECTIVES]; /* less is better */
    struct ww_explored_point *point;
};

static int by_cost(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    for (int o = 0; o < WW_EXPLORED_OBJECTIVES; o++)
        if (x->cost[o] != y->cost[o]) return x->cost[o] < y->cost[o] ? -1 : 1;
    return x->point->ord < y->point->ord ? -1 : x->point->ord > y->point->ord;
}

static bool beats(const struct candidate *a, const struct candidate *b) {
    bool better = false;
    for (int o = 0; o < WW_EXPLORED_OBJECTIVES; o++) {
        if (a->cost[o] > b->cost[o]) return false;
        better |= a->cost[o] < b->cost[o];
    }
    return better;
}

static bool make_candidate(const struct ww_explored *e, struct ww_explored_point *p, struct candidate *c) {
    *c = (struct candidate){.point = p};
    bool known = p->feasible == 1 && e->objective_count > 0;
    for (size_t o = 0; o < e->objective_count; o++) {
        c->cost[o] = p->objective[o] * e->objective[o].sense;
        known = known && isfinite(p->objective[o]);
    }
    return known;
}

/* In the order of the first objective a point can only be beaten by one before it, and then by one of the
 * front. */
static enum ww_code find_front(struct reader *r) {
    struct ww_explored *e = r->e;
    struct candidate *c = calloc(e->point_count + 1, sizeof *c);
    size_t n = 0, front = 0;
    if (!c) return ww_fail_nomem(r->error, "a sweep's front");
    for (size_t i = 0; i < e->point_count; i++) n += make_candidate(e, &e->point[i], &c[n]);
    qsort(c, n, sizeof *c, by_cost);
    for (size_t i = 0; i < n; i++) {
        bool beaten = false;
        for (size_t k = 0; k < front && !beaten; k++) beaten = beats(&c[k], &c[i]);
        if (beaten) continue;
        c[i].point->front = true;
        c[front++] = c[i];
    }
    free(c);
    return WW_OK;
}

static enum ww_code load(struct reader *r) {
    if (r->e->sweep == 0) {
        WW_TRY(ww_db_get_int(r->db, "SELECT coalesce(max(sweep_id), 0) FROM sweep", &r->e->sweep, r->error));
        if (r->e->sweep == 0)
            return ww_fail(r->error, WW_DB, r->db->path, "there is no sweep yet; `warpwatt sweep` stores one");
    }
    WW_TRY(load_head(r));
    WW_TRY(load_objectives(r));
    WW_TRY(load_keys(r));
    WW_TRY(load_points(r));
    WW_TRY(load_settings(r));
    WW_TRY(load_sums(r));
    WW_TRY(load_boards(r));
    WW_TRY(load_parts(r));
    WW_TRY(load_energy(r));
    WW_TRY(load_candidates(r));
    WW_TRY(load_variants(r));
    WW_TRY(load_screened(r));
    WW_TRY(load_effects(r));
    return find_front(r);
}

enum ww_code ww_db_load_sweep(struct ww_db *db, int64_t sweep_id, struct ww_explored **out,
                              struct ww_error *error) {
    WW_PLAIN_LOCALE;
    *out = NULL;
    struct ww_explored *e = calloc(1, sizeof *e);
    struct ww_arena *arena = malloc(sizeof *arena);
    if (!e || !arena) {
        free(e);
        free(arena);
        return ww_fail_nomem(error, "a sweep");
    }
    ww_arena_init(arena, LOAD_LIMIT);
    e->owner = arena;
    e->sweep = sweep_id;
    struct reader r = {db, e, arena, error};
    enum ww_code code = ww_db_exec(db, "BEGIN", "reading a sweep", error);
    if (code == WW_OK) code = ww_db_finish(db, load(&r), error);
    if (code == WW_OK)
        *out = e;
    else
        ww_explored_free(e);
    return code;
}

void ww_explored_free(struct ww_explored *e) {
    if (!e) return;
    ww_arena_free(e->owner);
    free(e->owner);
    free(e);
}
