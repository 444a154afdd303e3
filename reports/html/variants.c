/* Variants of a program in a sweep: the fastest, what each parameter does, those that cannot be. */
#include "page.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 200, LEVEL_ROWS = 300, REASON_ROWS = 20 };

/* ---- order ---- */

static int by_time(const void *a, const void *b) {
    const struct ww_explored_point *x = *(const struct ww_explored_point *const *)a;
    const struct ww_explored_point *y = *(const struct ww_explored_point *const *)b;
    if (x->time_s != y->time_s) return x->time_s < y->time_s ? -1 : 1;
    return x->ord < y->ord ? -1 : x->ord > y->ord;
}

struct place {
    double measured_s;
    size_t index;
};
static int by_measured(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->measured_s != y->measured_s) return x->measured_s < y->measured_s ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool place_measured(struct ww_ranked *r) {
    struct place *place = calloc(r->count + 1, sizeof *place);
    r->measured = calloc(r->count + 1, sizeof *r->measured);
    for (size_t i = 0; place && r->measured && i < r->count; i++)
        if (isfinite(r->point[i]->measured_s))
            place[r->measured_count++] = (struct place){r->point[i]->measured_s, i};
    bool good = place && r->measured;
    if (good) qsort(place, r->measured_count, sizeof *place, by_measured);
    for (size_t i = 0; good && i < r->measured_count; i++) r->measured[place[i].index] = i + 1;
    free(place);
    return good;
}

static bool rank_variants(const struct ww_explored *e, struct ww_ranked *r) {
    size_t most = e->point_count + e->screened_count;
    *r = (struct ww_ranked){.sweep = e, .point = calloc(most + 1, sizeof(struct ww_explored_point *))};
    for (size_t i = 0; r->point && i < e->point_count; i++)
        if (e->point[i].feasible >= 0 && isfinite(e->point[i].time_s) && e->point[i].time_s > 0)
            r->point[r->count++] = &e->point[i];
    bool any = r->count > 0;
    for (size_t i = 0; r->point && any && i < e->screened_count; i++)
        if (isfinite(e->screened[i].time_s) && e->screened[i].time_s > 0)
            r->point[r->count++] = &e->screened[i];
    if (r->point) qsort(r->point, r->count, sizeof(struct ww_explored_point *), by_time);
    for (size_t i = r->count; r->point && i-- > 0;)
        if (!r->point[i]->screened) r->best = r->point[i];
    return r->point && place_measured(r);
}

static void settings_text(const struct ww_explored *e, const struct ww_explored_point *p, struct ww_buf *out) {
    out->n = 0;
    for (size_t k = 0; k < e->key_count; k++)
        if (p->value[k]) ww_buf_printf(out, "%s%s=%s", out->n ? " " : "", e->key[k], p->value[k]);
    ww_buf_byte(out, 0);
}

/* ---- levels of a parameter ---- */

static bool as_number(const char *s, double *v) {
    char *end;
    *v = strtod(s, &end);
    return end != s && !*end;
}

static int by_level(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    double u, v;
    bool first = as_number(x, &u), second = as_number(y, &v);
    if (first && second && u != v) return u < v ? -1 : 1;
    return first != second ? (first ? -1 : 1) : strcmp(x, y);
}

const char **ww_variants_levels(const struct ww_explored *e, size_t key, size_t *count) {
    const char **level = calloc(e->point_count + e->screened_count + 1, sizeof *level);
    size_t n = 0;
    *count = 0;
    for (size_t i = 0; level && i < e->point_count; i++)
        if (e->point[i].value[key]) level[n++] = e->point[i].value[key];
    for (size_t i = 0; level && i < e->screened_count; i++)
        if (e->screened[i].value[key]) level[n++] = e->screened[i].value[key];
    if (level) qsort(level, n, sizeof *level, by_level);
    for (size_t i = 0; i < n; i++)
        if (!*count || strcmp(level[*count - 1], level[i]) != 0) level[(*count)++] = level[i];
    return level;
}

static void level_row(struct ww_tab *t, const struct ww_ranked *r, size_t key, const char *level) {
    double best = NAN, median = NAN;
    size_t n = 0, top = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t seen = 0;
        for (size_t i = 0; i < r->count; i++) {
            const char *value = r->point[i]->value[key];
            if (!value || strcmp(value, level) != 0) continue;
            if (pass == 0) n++, top += i < (r->count + 9) / 10;
            if (pass == 1 && seen == 0) best = r->point[i]->time_s;
            if (pass == 1 && seen == (n - 1) / 2) median = r->point[i]->time_s;
            seen++;
        }
    }
    ww_tab_text(t, r->sweep->key[key]);
    ww_tab_text(t, level);
    ww_tab_count(t, n);
    ww_tab_si(t, best, "s");
    ww_tab_percent(t, best / r->best->time_s - 1);
    ww_tab_si(t, median, "s");
    ww_tab_percent(t, n ? (double)top / (double)n : (double)NAN);
}

/* For each value of each parameter the fastest variant that has it: what it costs to be held to it. */
static void level_table(struct ww_page *p, const struct ww_ranked *r) {
    static const char *const head[] = {"parameter",      "value",  "variants",          "fastest",
                                       "above the best", "median", "in the best tenth", NULL};
    struct ww_tab t;
    size_t rows = 0;
    ww_tab_begin(&t, p, "What each parameter does", head, 3);
    for (size_t k = 0; k < r->sweep->key_count; k++) {
        size_t n;
        const char **level = ww_variants_levels(r->sweep, k, &n);
        if (!level) p->failed = true;
        for (size_t i = 0; level && n > 1 && i < n && rows < LEVEL_ROWS; i++, rows++)
            level_row(&t, r, k, level[i]);
        free(level);
    }
    ww_tab_end(&t);
}

/* ---- variants ---- */

static void figures_of(struct ww_tab *t, const struct ww_explored_variant *v, double error) {
    char text[48] = "";
    ww_tab_value(t, v ? (double)v->registers : (double)NAN, v ? ww_grouped(v->registers, text) : "");
    ww_tab_value(t, v ? (double)v->shared_bytes : (double)NAN, v ? ww_grouped(v->shared_bytes, text) : "");
    ww_tab_value(t, v ? (double)v->local_bytes : (double)NAN, v ? ww_grouped(v->local_bytes, text) : "");
    ww_tab_value(t, v ? (double)v->warps : (double)NAN, v ? ww_grouped(v->warps, text) : "");
    ww_tab_text(t, v ? v->limiter : "-");
    ww_tab_text(t, v ? v->top_stall : "-");
    ww_tab_percent(t, v ? v->stall_share : (double)NAN);
    ww_tab_percent(t, v ? v->conflicts : (double)NAN);
    ww_tab_percent(t, v ? v->error : error);
}

static void variant_row(struct ww_tab *t, const struct ww_ranked *r, size_t i, struct ww_buf *settings) {
    const struct ww_explored_point *q = r->point[i];
    char text[32];
    settings_text(r->sweep, q, settings);
    ww_tab_count(t, i + 1);
    ww_tab_count(t, q->ord);
    ww_tab_long(t, settings->p ? (const char *)settings->p : "");
    ww_tab_si(t, q->time_s, "s");
    snprintf(text, sizeof text, "%.4g", q->time_s / r->best->time_s);
    ww_tab_value(t, q->time_s / r->best->time_s, text);
    if (r->sweep->screened_count) ww_tab_text(t, q->screened ? "screening" : "replay");
    if (r->measured_count) {
        ww_tab_si(t, q->measured_s, "s");
        ww_tab_value(t, r->measured[i] ? (double)r->measured[i] : (double)NAN,
                     ww_grouped(r->measured[i], text));
    }
    figures_of(t, q->variant, q->screened ? (q->high_s - q->low_s) / 2 / q->time_s : (double)NAN);
}

static void variant_table(struct ww_page *p, const struct ww_ranked *r) {
    const char *head[20] = {"place", "point", "settings", "time", "of the best"};
    static const char *const rest[] = {"registers",      "shared bytes", "local bytes",
                                       "warps of an SM", "limited by",   "top stall",
                                       "its share",      "conflicts",    "error of the time"};
    struct ww_buf settings = {0};
    struct ww_tab t;
    size_t n = 5, shown = r->count < TABLE_ROWS ? r->count : TABLE_ROWS;
    if (r->sweep->screened_count) head[n++] = "time by";
    if (r->measured_count) head[n++] = "measured", head[n++] = "measured place";
    uint32_t left = 4u | 3u << (n + 4) | (r->sweep->screened_count ? 1u << 5 : 0);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) head[n++] = rest[i];
    ww_tab_begin(&t, p, "Variants, the fastest first", head, left);
    for (size_t i = 0; i < shown; i++) variant_row(&t, r, i, &settings);
    ww_tab_end(&t);
    if (shown < r->count)
        ww_html(p,
                "<p class=\"note\">The first %zu of %zu variants; <code>warpwatt query --named variants</code>"
                " has all.</p>\n",
                shown, r->count);
    ww_buf_free(&settings);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void reason_table(struct ww_page *p, const struct ww_explored *e) {
    static const char *const head[] = {"variants", "why they cannot be", NULL};
    const char **reason = calloc(e->point_count + 1, sizeof *reason);
    size_t n = 0, rows = 0;
    struct ww_tab t;
    for (size_t i = 0; reason && i < e->point_count; i++)
        if (e->point[i].feasible < 0) reason[n++] = e->point[i].reason;
    if (!reason) p->failed = true;
    if (reason) qsort(reason, n, sizeof *reason, by_text);
    if (n) ww_tab_begin(&t, p, "Variants that do not build, launch or verify", head, 2);
    for (size_t i = 0, k; i < n && rows < REASON_ROWS; i = k, rows++) {
        for (k = i + 1; k < n && strcmp(reason[k], reason[i]) == 0;) k++;
        ww_tab_count(&t, k - i);
        ww_tab_text(&t, reason[i]);
    }
    if (n) ww_tab_end(&t);
    free(reason);
}

/* ---- the section ---- */

static void put_ranking(struct ww_page *p, const struct ww_sweep_ranking *g) {
    ww_html(p,
            "<li><span>measured</span> <b>%" PRIu64 "</b></li>\n<li><span>Spearman, Kendall</span> <b>%.3f, "
            "%.3f</b></li>\n",
            g->variants, g->spearman, g->kendall);
    for (int k = 0; k < WW_SWEEP_TOPS; k++)
        ww_html(p, "<li><span>regret of our best %" PRIu64 "</span> <b>%.1f %%</b></li>\n", g->top[k],
                100 * g->regret[k]);
    ww_html(p, "<li><span>mean error of times</span> <b>%.1f %%</b></li>\n", 100 * g->mean_abs_error);
}

static void head(struct ww_page *p, const struct ww_ranked *r, const struct ww_sweep_ranking *ranking) {
    struct ww_buf best = {0};
    char text[32];
    size_t near = 0, invalid = 0, same = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct ww_explored_point *q = r->point[i];
        const struct ww_explored_variant *first = r->best->variant;
        double error = fmax(q->variant ? q->variant->error : 0, first ? first->error : 0);
        if (q->screened) continue;
        near += q->time_s <= 1.05 * r->best->time_s;
        same += q != r->best && q->time_s <= (1 + error) * r->best->time_s;
    }
    for (size_t i = 0; i < r->sweep->point_count; i++) invalid += r->sweep->point[i].feasible < 0;
    ww_html(p, "<section>\n<h2 id=\"variants\">Variants on ");
    ww_html_text(p, r->sweep->gpu);
    ww_html(p, "</h2>\n");
    if (r->count) {
        settings_text(r->sweep, r->best, &best);
        ww_html(p, "<p class=\"bound\">The fastest by estimates is <b>");
        ww_html_text(p, best.p ? (const char *)best.p : "");
        ww_html(p, "</b> with %s.</p>\n", ww_si(r->best->time_s, "s", text));
    }
    ww_html(p, "<ul class=\"key\">\n<li><span>variants with a time</span> <b>%zu</b></li>\n", r->count);
    if (r->sweep->screened_count)
        ww_html(p, "<li><span>of them only screened: estimates</span> <b>%zu</b></li>\n",
                r->sweep->screened_count);
    ww_html(p, "<li><span>within 5 %% of the fastest</span> <b>%zu</b></li>\n", near);
    ww_html(p, "<li><span>not told from the fastest, by the error of sampled CTAs</span> <b>%zu</b></li>\n",
            same);
    ww_html(p, "<li><span>that cannot be</span> <b>%zu</b></li>\n", invalid);
    if (ranking) put_ranking(p, ranking);
    ww_html(p, "</ul>\n");
    ww_buf_free(&best);
}

void ww_html_variants(struct ww_page *p, const struct ww_explored *e, const struct ww_sweep_ranking *ranking) {
    struct ww_ranked r = {0};
    if (!e->variant_count && !ranking) return;
    if (!rank_variants(e, &r)) p->failed = true;
    if (!p->failed) {
        head(p, &r, ranking);
        if (r.count) {
            ww_variants_parallel(p, &r);
            if (r.measured_count > 1) ww_variants_ranks(p, &r);
            level_table(p, &r);
            variant_table(p, &r);
        }
        reason_table(p, e);
        ww_html(p, "</section>\n");
    }
    free(r.point);
    free(r.measured);
}
