/* Parameters of a space file: what each stands for, and its levels. */
#include "space.h"
#include "../../config/gpu.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "area" is known where the power table describes memory structures. */
static const struct ww_sweep_objective objectives[] = {
    {"time", "time_s", false},           {"energy", "energy_j", false},
    {"edp", "energy_j * time_s", false}, {"ed2p", "energy_j * time_s * time_s", false},
    {"area", "area_mm2", false},         {"power", "power_w", false},
};

const struct ww_sweep_objective *ww_space_objective(const char *name) {
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
        if (strcmp(objectives[i].name, name) == 0) return &objectives[i];
    return NULL;
}

static bool is_whole(const struct ww_param *row) {
    return row->type == WW_U32 || row->type == WW_U64;
}

/* The kind that the first word of a key names; false if none of its name has mechanisms. */
static bool kind_of(const char *key, enum ww_mech_kind *kind) {
    size_t n = strcspn(key, ".");
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const char *name = ww_mech_kind_name(ww_mech_info_at(i)->kind);
        *kind = ww_mech_info_at(i)->kind;
        if (strlen(name) == n && strncmp(name, key, n) == 0) return true;
    }
    return false;
}

/* The row of a setting in the first mechanism of the kind that has it. */
static const struct ww_param *setting_row(enum ww_mech_kind kind, const char *name) {
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *m = ww_mech_info_at(i);
        int row = m->kind == kind ? ww_param_find(m->params, m->param_count, name) : -1;
        if (row >= 0) return &m->params[row];
    }
    return NULL;
}

/* A key of the GPU comes before a kind of mechanism of the same first word (pipe, dma). */
static enum ww_code resolve(const struct space_reader *r, const char *path, struct ww_sweep_param *p) {
    int row = ww_param_find(ww_gpu_rows, ww_gpu_row_count, p->key);
    if (row >= 0) {
        p->target = WW_SWEEP_GPU;
        p->row = &ww_gpu_rows[row];
        p->whole = is_whole(p->row);
        return WW_OK;
    }
    const char *dot = strchr(p->key, '.');
    if (kind_of(p->key, &p->kind)) {
        const struct ww_param *setting = dot ? setting_row(p->kind, dot + 1) : NULL;
        p->target = dot ? WW_SWEEP_SETTING : WW_SWEEP_KIND;
        p->row = setting;
        p->whole = setting && is_whole(setting);
        if (!dot || setting) return WW_OK;
    }
    const char *near = ww_param_nearest(ww_gpu_rows, ww_gpu_row_count, p->key);
    return ww_space_fail(r, path,
                         "no parameter of a GPU (gpu show) or of a mechanism (mech show) is called that%s%s%s",
                         near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

enum ww_code ww_space_read_level(const struct space_reader *r, const cJSON *node, const char *path,
                                 struct ww_sweep_level *level) {
    if (cJSON_IsNumber(node) && isfinite(node->valuedouble))
        return ww_sweep_number(node->valuedouble, &r->space->arena, level, r->error);
    *level = (struct ww_sweep_level){0};
    if (cJSON_IsString(node)) return ww_space_string(r, node, path, &level->text);
    if (!cJSON_IsBool(node)) return ww_space_fail(r, path, "expected a number, a text, true or false");
    *level = (struct ww_sweep_level){cJSON_IsTrue(node) ? "true" : "false", true, cJSON_IsTrue(node)};
    return WW_OK;
}

static bool is_number(const char *text, double *v) {
    char *end;
    *v = strtod(text, &end);
    return end != text && !*end && isfinite(*v);
}

static bool is_name(const struct ww_param *row, const char *text) {
    char name[WW_STR_MAX];
    for (uint32_t v = 0; ww_param_enum_name(row, v, name); v++)
        if (strcmp(name, text) == 0) return true;
    return false;
}

/* What a parameter of this type takes, if the text is nothing of the kind; else NULL. */
static const char *wrong_type(const struct ww_param *row, const char *text) {
    double v;
    bool number = is_number(text, &v);
    switch (row->type) {
    case WW_U32:
    case WW_U64:
        return number && v == floor(v) ? NULL : "a whole number";
    case WW_F64:
        return number ? NULL : "a number";
    case WW_BOOL:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || (number && (v == 0 || v == 1))
                   ? NULL
                   : "true or false";
    case WW_ENUM:
        return number || is_name(row, text) ? NULL : row->unit;
    default:
        return NULL;
    }
}

/* A mechanism that a kind does not have, or a value of another type, is a mistake in the file, not a point that
 * cannot be. */
static enum ww_code check_level(const struct space_reader *r, const char *path, const struct ww_sweep_param *p,
                                const struct ww_sweep_level *level, bool follows) {
    for (const struct ww_sweep_level *other = p->level; other < level && !follows; other++)
        if (strcmp(other->text, level->text) == 0)
            return ww_space_fail(r, path, "%.60s appears twice among the levels", level->text);
    const char *expected = p->row ? wrong_type(p->row, level->text) : NULL;
    if (expected) return ww_space_fail(r, path, "%.60s: expected %s", level->text, expected);
    if (p->target == WW_SWEEP_KIND && !ww_mech_find(p->kind, level->text))
        return ww_space_fail(r, path, "no mechanism of the kind %s is called \"%.60s\" (warpwatt mech list)",
                             ww_mech_kind_name(p->kind), level->text);
    return WW_OK;
}

/* Levels of a parameter that moves with another one may be equal. */
static enum ww_code read_list(const struct space_reader *r, const cJSON *node, const char *path, bool follows,
                              struct ww_sweep_param *p) {
    size_t n = (size_t)cJSON_GetArraySize(node);
    if (n < 1 || n > WW_SWEEP_LEVELS)
        return ww_space_fail(r, path, "expected 1 to %d levels, met %zu", WW_SWEEP_LEVELS, n);
    p->level = ww_arena_array(&r->space->arena, n, sizeof *p->level);
    if (!p->level) return ww_space_nomem(r);
    for (const cJSON *c = node->child; c; c = c->next) {
        char place[200];
        snprintf(place, sizeof place, "%.160s[%zu]", path, p->count);
        WW_TRY(ww_space_read_level(r, c, place, &p->level[p->count]));
        WW_TRY(check_level(r, place, p, &p->level[p->count], follows));
        p->count++;
    }
    return WW_OK;
}

static enum ww_code read_number(const struct space_reader *r, const cJSON *node, const char *key,
                                const char *path, double *out) {
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(node, key);
    if (!cJSON_IsNumber(n) || !(fabs(n->valuedouble) <= 1e15))
        return ww_space_fail(r, path, "\"%s\": expected a number of at most 1e15", key);
    *out = n->valuedouble;
    return WW_OK;
}

static enum ww_code read_range(const struct space_reader *r, const cJSON *node, const char *path,
                               struct ww_sweep_param *p) {
    static const char *const keys[] = {"from", "to", "steps", "step", "factor", "log2", NULL};
    static const enum ww_sweep_progress kinds[] = {WW_SWEEP_STEPS, WW_SWEEP_STEP, WW_SWEEP_FACTOR,
                                                   WW_SWEEP_FACTOR};
    struct ww_sweep_range range = {0};
    size_t which = 0, given = 0;
    char where[400];
    WW_TRY(ww_space_keys(r, node, path, keys));
    if (p->target == WW_SWEEP_KIND) return ww_space_fail(r, path, "mechanisms have no range: expected a list");
    for (size_t i = 0; i < 4; i++)
        if (cJSON_GetObjectItemCaseSensitive(node, keys[i + 2])) {
            which = i;
            given++;
        }
    if (given != 1)
        return ww_space_fail(r, path, "expected one of \"steps\", \"step\", \"factor\" and \"log2\"");
    WW_TRY(read_number(r, node, "from", path, &range.from));
    WW_TRY(read_number(r, node, "to", path, &range.to));
    range.kind = kinds[which];
    range.by = 2;
    if (which == 3 && !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(node, "log2")))
        return ww_space_fail(r, path, "\"log2\": expected true");
    if (which < 3) WW_TRY(read_number(r, node, keys[which + 2], path, &range.by));
    snprintf(where, sizeof where, "%.200s: %.180s", r->space->file, path);
    return ww_sweep_range_levels(&range, p->whole, &r->space->arena, &p->level, &p->count, where, r->error);
}

enum ww_code ww_space_read_levels(const struct space_reader *r, const cJSON *node, const char *path,
                                  struct ww_sweep_param *p) {
    if (cJSON_IsArray(node)) return read_list(r, node, path, false, p);
    if (cJSON_IsObject(node)) return read_range(r, node, path, p);
    return ww_space_fail(r, path, "expected a list of levels, or a range");
}

/* {"with": KEY, "levels": [...]}: its levels go with those of the other parameter, one by one. */
static enum ww_code read_follower(const struct space_reader *r, const cJSON *node, const char *path,
                                  struct ww_sweep_param *p) {
    static const char *const keys[] = {"with", "levels", NULL};
    const cJSON *levels = cJSON_GetObjectItemCaseSensitive(node, "levels");
    char place[200];
    WW_TRY(ww_space_keys(r, node, path, keys));
    snprintf(place, sizeof place, "%.180s.levels", path);
    if (!cJSON_IsArray(levels)) return ww_space_fail(r, place, "expected a list of levels");
    return read_list(r, levels, place, true, p);
}

/* Finds what a parameter moves with, when all have been read. */
static enum ww_code find_leader(const struct space_reader *r, const cJSON *node, struct ww_sweep_param *p) {
    const cJSON *with = cJSON_GetObjectItemCaseSensitive(node, "with");
    char path[180];
    snprintf(path, sizeof path, "$.parameters[\"%.140s\"].with", p->key);
    if (!cJSON_IsString(with)) return ww_space_fail(r, path, "expected the name of a parameter of the space");
    for (size_t i = 0; i < r->space->param_count; i++) {
        const struct ww_sweep_param *other = &r->space->param[i];
        if (strcmp(other->key, with->valuestring) != 0) continue;
        if (other == p || other->follows)
            return ww_space_fail(r, path, "%.80s: expected a parameter with levels of its own", other->key);
        if (other->count != p->count)
            return ww_space_fail(r, path, "%zu levels, but %.80s has %zu: expected as many", p->count,
                                 other->key, other->count);
        p->leader = i + 1;
        return WW_OK;
    }
    return ww_space_fail(r, path, "\"%.80s\" is not a parameter of the space", with->valuestring);
}

static enum ww_code find_leaders(const struct space_reader *r, const cJSON *node) {
    size_t i = 0;
    for (const cJSON *c = node->child; c; c = c->next, i++)
        if (r->space->param[i].follows) WW_TRY(find_leader(r, c, &r->space->param[i]));
    return WW_OK;
}

enum ww_code ww_space_read_params(struct space_reader *r, const cJSON *node) {
    struct ww_sweep_space *s = r->space;
    size_t n = cJSON_IsObject(node) ? (size_t)cJSON_GetArraySize(node) : 0;
    if (!node && s->program) return WW_OK;
    if (n < 1 || n + s->param_count > WW_SWEEP_PARAMS)
        return ww_space_fail(r, "$.parameters", "expected an object with 1 to %zu parameters",
                             WW_SWEEP_PARAMS - s->param_count);
    if (!s->param) s->param = ww_arena_array(&s->arena, n, sizeof *s->param);
    if (!s->param) return ww_space_nomem(r);
    for (const cJSON *c = node->child; c; c = c->next) {
        struct ww_sweep_param *p = &s->param[s->param_count++];
        char path[180];
        snprintf(path, sizeof path, "$.parameters[\"%.140s\"]", c->string);
        if (!(p->key = ww_space_copy(r, c->string))) return ww_space_nomem(r);
        WW_TRY(resolve(r, path, p));
        for (const struct ww_sweep_param *other = s->param; other < p; other++)
            if (strcmp(other->key, p->key) == 0)
                return ww_space_fail(r, path, "the program has a parameter of this name, too");
        p->follows = cJSON_GetObjectItemCaseSensitive(c, "with") != NULL;
        WW_TRY(p->follows ? read_follower(r, c, path, p) : ww_space_read_levels(r, c, path, p));
    }
    return find_leaders(r, node);
}
