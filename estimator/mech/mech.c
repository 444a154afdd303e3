/* The one list of mechanisms, and choosing among them by name. */
#include "../api/gpu.h"
#include "../api/mech.h"
#include "../base/locale.h"
#include "mech.h"
#include "../base/nearest.h"
#include "dma/dma.h"
#include "fetch/fetch.h"
#include "gov/governor.h"
#include "lsu/lsu.h"
#include "pipe/pipe.h"
#include "sched/sched.h"
#include "smem/smem.h"
#include <stdlib.h>
#include <string.h>

#define X(kind, symbol) extern const struct ww_##kind##_ops symbol;
#include "mech.def"
#undef X

static const struct ww_mech_info *const all[] = {
#define X(kind, symbol) &symbol.info,
#include "mech.def"
#undef X
};
#define MECH_COUNT (sizeof all / sizeof all[0])

static const char *const kind_names[WW_KIND_COUNT] = {
    [WW_KIND_SCHED] = "sched",       [WW_KIND_FETCH] = "fetch",     [WW_KIND_LSU] = "lsu",
    [WW_KIND_PIPE] = "pipe",         [WW_KIND_SMEM] = "smem",       [WW_KIND_DMA] = "dma",
    [WW_KIND_GOVERNOR] = "governor", [WW_KIND_REPLACE] = "replace", [WW_KIND_CTA] = "cta",
};

const char *ww_mech_kind_name(enum ww_mech_kind kind) {
    return (unsigned)kind < WW_KIND_COUNT ? kind_names[kind] : "?";
}

const struct ww_mech_info *ww_mech_info_at(size_t i) {
    return i < MECH_COUNT ? all[i] : NULL;
}

const struct ww_mech_info *ww_mech_find(enum ww_mech_kind kind, const char *name) {
    for (size_t i = 0; i < MECH_COUNT; i++)
        if (all[i]->kind == kind && strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

const struct ww_mech_info *ww_mech_default(enum ww_mech_kind kind) {
    for (size_t i = 0; i < MECH_COUNT; i++)
        if (all[i]->kind == kind) return all[i];
    return NULL;
}

/* ---- choosing ---- */

/* One of the user's strings, cut up: kind[.parameter]=value. */
struct request {
    const char *text, *value;
    char key[64];
    char *parameter; /* in key; NULL: the string picks a mechanism */
    unsigned kind;
};

static enum ww_code fail_request(const struct request *q, struct ww_error *error, const char *what,
                                 const struct ww_buf *known) {
    char where[160];
    snprintf(where, sizeof where, "mechanism \"%.120s\"", q->text);
    return ww_fail(error, WW_USAGE, where, "%s: expected %s", what,
                   known->p ? known->p : "nothing: there is none");
}

/* Kinds that have at least one mechanism. */
static enum ww_code fail_kind(const struct request *q, struct ww_error *error, const char *what) {
    struct ww_buf known = {0};
    for (unsigned k = 0; k < WW_KIND_COUNT; k++)
        if (ww_mech_default((enum ww_mech_kind)k))
            ww_buf_printf(&known, "%s%s=NAME", known.n ? ", " : "", kind_names[k]);
    enum ww_code code = fail_request(q, error, what, &known);
    ww_buf_free(&known);
    return code;
}

static enum ww_code fail_name(const struct request *q, struct ww_error *error) {
    struct ww_buf known = {0};
    struct ww_nearest near;
    ww_nearest_init(&near, q->value);
    for (size_t i = 0; i < MECH_COUNT; i++)
        if ((unsigned)all[i]->kind == q->kind) {
            ww_buf_printf(&known, "%s%s", known.n ? ", " : "", all[i]->name);
            ww_nearest_offer(&near, all[i]->name);
        }
    const char *best = ww_nearest_get(&near);
    if (best) ww_buf_printf(&known, "; did you mean \"%s\"?", best);
    enum ww_code code = fail_request(q, error, "no such mechanism of this kind", &known);
    ww_buf_free(&known);
    return code;
}

static enum ww_code fail_parameter(const struct request *q, const struct ww_mech_info *info,
                                   struct ww_error *error) {
    struct ww_buf known = {0};
    char what[160];
    for (size_t i = 0; i < info->param_count; i++)
        ww_buf_printf(&known, "%s%s", i ? ", " : "", info->params[i].key);
    const char *near = ww_param_nearest(info->params, info->param_count, q->parameter);
    if (near) ww_buf_printf(&known, "; did you mean \"%s\"?", near);
    snprintf(what, sizeof what, "%s %s has no such parameter", kind_names[q->kind], info->name);
    enum ww_code code = fail_request(q, error, what, &known);
    ww_buf_free(&known);
    return code;
}

static enum ww_code parse_request(const char *text, struct request *q, struct ww_error *error) {
    *q = (struct request){.text = text};
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : 0;
    if (n == 0 || n >= sizeof q->key) return fail_kind(q, error, "not KIND=NAME or KIND.PARAMETER=VALUE");
    memcpy(q->key, text, n);
    q->value = equals + 1;
    q->parameter = strchr(q->key, '.');
    if (q->parameter) *q->parameter++ = 0;
    for (q->kind = 0; q->kind < WW_KIND_COUNT; q->kind++)
        if (strcmp(kind_names[q->kind], q->key) == 0 && ww_mech_default((enum ww_mech_kind)q->kind))
            return WW_OK;
    return fail_kind(q, error, "no such kind of mechanism");
}

/* Kinds that the user did not name take what comes with a mechanism that was chosen. */
static void add_companions(const struct ww_mech_info *info[WW_KIND_COUNT], const bool named[WW_KIND_COUNT]) {
    for (size_t i = 0; i < MECH_COUNT; i++)
        for (unsigned k = 0; k < WW_KIND_COUNT; k++) {
            unsigned kind = (unsigned)all[i]->kind;
            size_t n = strlen(kind_names[kind]);
            if (named[kind] || !info[k] || !info[k]->with || strncmp(info[k]->with, kind_names[kind], n))
                continue;
            if (info[k]->with[n] == '=' && strcmp(info[k]->with + n + 1, all[i]->name) == 0)
                info[kind] = all[i];
        }
}

/* Picks the mechanism of each kind: the last one named, else what comes with another one, else the default. */
static enum ww_code pick(const char *sched, const char *const *strings, size_t count,
                         const struct ww_mech_info *info[WW_KIND_COUNT], struct ww_error *error) {
    bool named[WW_KIND_COUNT] = {false};
    for (unsigned k = 0; k < WW_KIND_COUNT; k++) info[k] = ww_mech_default((enum ww_mech_kind)k);
    if (sched && ww_mech_find(WW_KIND_SCHED, sched)) info[WW_KIND_SCHED] = ww_mech_find(WW_KIND_SCHED, sched);
    for (size_t i = 0; i < count; i++) {
        struct request q;
        WW_TRY(parse_request(strings[i], &q, error));
        if (q.parameter) continue;
        info[q.kind] = ww_mech_find((enum ww_mech_kind)q.kind, q.value);
        if (!info[q.kind]) return fail_name(&q, error);
        named[q.kind] = true;
    }
    add_companions(info, named);
    return WW_OK;
}

enum ww_code ww_mech_resolve(const char *const *strings, size_t count, struct ww_arena *arena,
                             struct ww_mech_choice choice[WW_KIND_COUNT], struct ww_error *error) {
    return ww_mech_resolve_on(NULL, strings, count, arena, choice, error);
}

enum ww_code ww_mech_resolve_on(const char *sched, const char *const *strings, size_t count,
                                struct ww_arena *arena, struct ww_mech_choice choice[WW_KIND_COUNT],
                                struct ww_error *error) {
    const struct ww_mech_info *info[WW_KIND_COUNT];
    void *settings[WW_KIND_COUNT] = {0};
    WW_TRY(pick(sched, strings, count, info, error));
    for (unsigned k = 0; k < WW_KIND_COUNT; k++) {
        if (info[k]) {
            settings[k] = ww_arena_alloc(arena, info[k]->settings_size);
            if (!settings[k]) return ww_fail_nomem(error, "mechanism settings");
            ww_param_defaults(info[k]->params, info[k]->param_count, settings[k]);
        }
        choice[k] = (struct ww_mech_choice){info[k], settings[k]};
    }
    for (size_t i = 0; i < count; i++) {
        struct request q;
        char where[160];
        WW_TRY(parse_request(strings[i], &q, error));
        if (!q.parameter) continue;
        const struct ww_mech_info *m = info[q.kind];
        int row = ww_param_find(m->params, m->param_count, q.parameter);
        if (row < 0) return fail_parameter(&q, m, error);
        snprintf(where, sizeof where, "mechanism \"%.120s\"", strings[i]);
        if (ww_param_set_text(&m->params[row], settings[q.kind], q.value, where, error) != WW_OK) {
            if (error) error->code = WW_USAGE; /* the bounds are checked as for a file, but the user typed it */
            return WW_USAGE;
        }
    }
    return WW_OK;
}

/* ---- public views ---- */

size_t ww_mech_count(void) {
    return MECH_COUNT;
}

enum ww_code ww_mech(size_t i, struct ww_mech_view *view, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (i >= MECH_COUNT)
        return ww_fail(error, WW_USAGE, "", "there is no mechanism %zu, expected less than %zu", i, MECH_COUNT);
    *view = (struct ww_mech_view){.kind = ww_mech_kind_name(all[i]->kind),
                                  .name = all[i]->name,
                                  .help = all[i]->help,
                                  .paper = all[i]->paper,
                                  .param_count = all[i]->param_count,
                                  .is_default = all[i] == ww_mech_default(all[i]->kind)};
    return WW_OK;
}

enum ww_code ww_mech_param(size_t i, size_t p, struct ww_param_view *view, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (i >= MECH_COUNT || p >= all[i]->param_count)
        return ww_fail(error, WW_USAGE, "", "there is no parameter %zu of mechanism %zu", p, i);
    void *settings = calloc(1, all[i]->settings_size ? all[i]->settings_size : 1);
    if (!settings) return ww_fail_nomem(error, "mechanism settings");
    ww_param_defaults(all[i]->params, all[i]->param_count, settings);
    ww_param_view_fill(&all[i]->params[p], settings, "", view);
    free(settings);
    return WW_OK;
}
