/* How a run is named: what makes it differ from its GPU, and from the run that it is compared with. */
#include "../estimator/result/explored.h"
#include "../estimator/result/result.h"
#include "figures.h"
#include "text.h"
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { KEYS = 2000 }; /* that are looked at: a database is untrusted */

const char *ww_kernel_name(const struct ww_result *r, const char *kernel, char out[WW_NAME_SHORT]) {
    return r->mangled ? kernel : ww_short_name(kernel, out);
}

const char *ww_code_kind(const struct ww_result *r) {
    bool ptx = false, machine = false, foreign = false;
    for (size_t i = 0; i < r->launch_count; i++) {
        const char *code = r->launch[i].code;
        if (!code || !code[0])
            ptx = true;
        else if (strncmp(code, WW_CODE_FOREIGN, strlen(WW_CODE_FOREIGN)) == 0)
            foreign = true;
        else
            machine = true;
    }
    if (foreign) return "an imported trace";
    return machine ? ptx ? "PTX and machine code" : "machine code" : ptx ? "PTX" : NULL;
}

void ww_say_sweep_mode(const struct ww_explored *e, char out[80]) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < e->point_count; i++) {
        const struct ww_explored_variant *v = e->point[i].variant;
        if (!v || !v->ctas) continue;
        double part = 100 * (double)v->recorded_ctas / (double)v->ctas;
        least = fmin(least, part);
        most = fmax(most, part);
    }
    if (least >= 100 || strcmp(e->mode, "full") != 0)
        snprintf(out, 80, "%.60s", e->mode);
    else if (least == most)
        snprintf(out, 80, "slice, %.3g %% of the CTAs", least);
    else
        snprintf(out, 80, "slice, %.3g to %.3g %% of the CTAs", least, most);
}

const char *ww_objective_unit(const char *objective) {
    static const char *const unit[][2] = {{"time", "s"}, {"energy", "J"}, {"power", "W"}, {"edp", "Js"}};
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (strcmp(objective, unit[i][0]) == 0) return unit[i][1];
    return "";
}

const char *ww_kernel_shown(const char *kernel, bool whole, char *out, size_t size) {
    char name[WW_NAME_SHORT];
    if (whole)
        ww_demangle(kernel, out, size);
    else
        snprintf(out, size, "%s", ww_short_name(kernel, name));
    return out;
}

size_t ww_say_above(const struct ww_explored *e, char out[240]) {
    const struct ww_explored_point *most = NULL;
    size_t above = 0, front = 0;
    char watts[32], board[32];
    for (size_t i = 0; i < e->point_count; i++) {
        const struct ww_explored_point *p = &e->point[i];
        if (!ww_above_board(p->most_w, p->board_w)) continue;
        above++;
        front += p->front;
        if (!most || p->most_w / p->board_w > most->most_w / most->board_w) most = p;
    }
    if (!above) return 0;
    snprintf(out, 240,
             "%zu of %zu points, %zu of them in the front, draw more than their board is built for "
             "(board.tdp_w), most of"
             " all point %" PRIu64 ", %s of %s: the board would lower its clocks",
             above, e->point_count, front, most->ord, ww_si(most->most_w, "W", watts),
             ww_si(most->board_w, "W", board));
    return above;
}

size_t ww_say_no_value(const struct ww_explored *e, char out[240]) {
    size_t valid = 0, lacking = 0, most = 0, of[WW_EXPLORED_OBJECTIVES] = {0};
    char name[100];
    for (size_t i = 0; i < e->point_count; i++) {
        bool lacks = false;
        if (e->point[i].feasible != 1) continue;
        valid++;
        for (size_t o = 0; o < e->objective_count; o++)
            if (!isfinite(e->point[i].objective[o])) {
                lacks = true;
                of[o]++;
            }
        lacking += lacks;
    }
    if (!lacking) return 0;
    for (size_t o = 1; o < e->objective_count; o++)
        if (of[o] > of[most]) most = o;
    ww_clean_text(e->objective[most].name, name, sizeof name);
    snprintf(
        out, 240,
        "the objective \"%s\" is NULL or not finite: %zu of %zu valid points within the constraints lack an "
        "objective, and are in no front",
        name, lacking, valid);
    return lacking;
}

double ww_effect_shown(const struct ww_explored *e, const struct ww_explored_effect *effect) {
    double most = 0;
    for (size_t i = 0; i < e->effect_count; i++)
        if (e->effect[i].objective == effect->objective && isfinite(e->effect[i].effect))
            most = fmax(most, fabs(e->effect[i].effect));
    return fabs(effect->effect) <= 1e-9 * most ? 0 : effect->effect;
}

void ww_say_mode(const struct ww_result *r, char out[80]) {
    const char *code = ww_code_kind(r);
    bool analytic = strcmp(r->mode, "analytic") == 0;
    snprintf(out, 80, "%.20s %s%s%s", r->mode, analytic ? "estimate" : "replay", code ? " of " : "",
             code ? code : "");
}

void ww_say_overrides(const struct ww_result *r, char *out, size_t size) {
    enum { MORE = 24 }; /* bytes of " and N more" */
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < r->override_count; i++) {
        char key[80], value[40], base[40], one[200];
        ww_clean_text(r->override[i].key, key, sizeof key);
        ww_clean_text(r->override[i].value, value, sizeof value);
        ww_clean_text(r->override[i].base, base, sizeof base);
        int n = snprintf(one, sizeof one, "%s%s=%s (%s)", i ? ", " : " with ", key, value, base);
        if (used + (size_t)n + MORE > size) {
            snprintf(out + used, size - used, " and %zu more", r->override_count - i);
            return;
        }
        memcpy(out + used, one, (size_t)n + 1);
        used += (size_t)n;
    }
}

/* ---- differences ---- */

struct differences {
    struct ww_difference *out;
    size_t count;
};

static void differ(struct differences *d, const char *what, const char *a, const char *b) {
    if (strcmp(a, b) == 0 || d->count++ >= WW_DIFFERENCES) return;
    struct ww_difference *o = &d->out[d->count - 1];
    ww_clean_text(what, o->what, sizeof o->what);
    ww_clean_text(a, o->a, sizeof o->a);
    ww_clean_text(b, o->b, sizeof o->b);
}

/* What a run has for a setting; what was not asked for has no row. */
static const char *setting(const struct ww_result *r, const char *key) {
    for (size_t i = 0; i < r->mechanism_count; i++)
        if (strcmp(r->mechanism[i].key, key) == 0) return r->mechanism[i].value;
    static const char *const unsaid[][2] = {
        {"cache_control", "keep"}, {"clock_control", "model"}, {"serialize", "false"}};
    for (size_t i = 0; i < sizeof unsaid / sizeof unsaid[0]; i++)
        if (strcmp(key, unsaid[i][0]) == 0) return unsaid[i][1];
    return "-";
}

static void differ_in_settings(struct differences *d, const struct ww_result *a, const struct ww_result *b) {
    for (size_t i = 0; i < a->mechanism_count; i++)
        differ(d, a->mechanism[i].key, a->mechanism[i].value, setting(b, a->mechanism[i].key));
    for (size_t i = 0; i < b->mechanism_count; i++) {
        const char *key = b->mechanism[i].key;
        bool known = false;
        for (size_t k = 0; k < a->mechanism_count && !known; k++) known = strcmp(a->mechanism[k].key, key) == 0;
        if (!known) differ(d, key, setting(a, key), b->mechanism[i].value);
    }
}

/* A parameter's value as text; "-" if there is none. */
static void value_of(const cJSON *item, char out[80]) {
    char *text = !item || cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
    ww_clean_text(cJSON_IsString(item) ? item->valuestring : text ? text : "-", out, 80);
    cJSON_free(text);
}

static void differ_in_parameters(struct differences *d, const cJSON *a, const cJSON *b) {
    size_t keys = 0;
    for (const cJSON *c = a->child; c && c->string && keys < KEYS; c = c->next, keys++) {
        char x[80], y[80];
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, c->string);
        if (other && cJSON_Compare(c, other, true)) continue;
        value_of(c, x);
        value_of(other, y);
        differ(d, c->string, x, y);
    }
    for (const cJSON *c = b->child; c && c->string && keys < KEYS; c = c->next, keys++) {
        char y[80];
        if (cJSON_GetObjectItemCaseSensitive(a, c->string)) continue;
        value_of(c, y);
        differ(d, c->string, "-", y);
    }
}

size_t ww_differences(const struct ww_result *a, const struct ww_result *b, struct ww_difference *out) {
    struct differences d = {out, 0};
    const char *x = ww_code_kind(a), *y = ww_code_kind(b);
    if (x && y) differ(&d, "code", x, y);
    differ(&d, "mode", a->mode, b->mode);
    differ(&d, "gpu", a->gpu, b->gpu);
    differ_in_settings(&d, a, b);
    if (strcmp(a->gpu, b->gpu) != 0 || strcmp(a->gpu_json, b->gpu_json) == 0) return d.count;
    cJSON *p = cJSON_Parse(a->gpu_json), *q = cJSON_Parse(b->gpu_json);
    if (cJSON_IsObject(p) && cJSON_IsObject(q)) differ_in_parameters(&d, p, q);
    cJSON_Delete(p);
    cJSON_Delete(q);
    return d.count;
}
