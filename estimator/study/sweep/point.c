/* A point of a space made into a machine. */
#include "../../api/gpu.h"
#include "point.h"
#include "../../base/hash.h"
#include "../../config/gpu.h"
#include "../../config/json.h"
#include "../../../power/power.h"
#include <inttypes.h>
#include <string.h>

static void hash_text(const struct ww_buf *b, char out[WW_CONFIG_HASH]) {
    snprintf(out, WW_CONFIG_HASH, "%016" PRIx64 "%016" PRIx64, ww_hash_bytes(b->p, b->n, 0),
             ww_hash_bytes(b->p, b->n, 1));
}

bool ww_sweep_is_reason(enum ww_code code) {
    return code == WW_USAGE || code == WW_INPUT || code == WW_UNSUPPORTED || code == WW_INTERNAL;
}

/* Appends the content of power/NAME.json, or of the path that a name with .json is. */
static enum ww_code add_file(const char *name, struct ww_buf *b, struct ww_error *error) {
    char path[1024];
    size_t n = strlen(name);
    struct ww_buf text;
    snprintf(path, sizeof path, "%s", name);
    if (n <= 5 || strcmp(name + n - 5, ".json") != 0)
        WW_TRY(ww_find_data("power", name, path, sizeof path, error));
    WW_TRY(ww_read_file(path, (size_t)16 << 20, &text, error));
    ww_buf_append(b, text.p, text.n);
    ww_buf_free(&text);
    return WW_OK;
}

static const char *table_name(const struct ww_sweep_space *space, const struct ww_gpu *gpu, bool *required) {
    const char *own = gpu->spec.power_table[0] ? gpu->spec.power_table : NULL;
    *required = space->power || own;
    return space->power ? space->power : own ? own : ww_gpu_name(gpu);
}

enum ww_code ww_sweep_power_open(struct ww_sweep_space *space, const struct ww_gpu *gpu,
                                 struct ww_error *error) {
    bool required;
    const char *name = table_name(space, gpu, &required);
    if (strcmp(name, "none") == 0) return WW_OK;
    space->table_name = ww_arena_strdup(&space->arena, name);
    if (!space->table_name) return ww_fail_nomem(error, "a power table");
    return ww_power_load(name, required, &space->table, error);
}

static enum ww_code find_area(const struct ww_sweep_space *space, struct ww_sweep_machine *m,
                              struct ww_error *error) {
    bool required;
    const char *name = table_name(space, m->gpu, &required);
    struct ww_power *power = NULL;
    if (strcmp(name, "none") == 0) return WW_OK;
    if (space->table && strcmp(name, space->table_name) == 0) {
        m->table = space->table;
        m->area_known = ww_power_area(space->table, &m->gpu->spec, &m->area_mm2);
        return WW_OK;
    }
    WW_TRY(ww_power_load(name, required, &power, error));
    if (power) m->area_known = ww_power_area(power, &m->gpu->spec, &m->area_mm2);
    ww_power_free(power);
    return WW_OK;
}

/* Which table a run takes: as run.c finds it. */
enum ww_code ww_sweep_power_hash(const struct ww_sweep_space *space, const struct ww_gpu *gpu,
                                 char out[WW_CONFIG_HASH], struct ww_error *error) {
    struct ww_buf b = {0};
    bool required;
    const char *name = table_name(space, gpu, &required);
    snprintf(out, WW_CONFIG_HASH, "none");
    if (strcmp(name, "none") == 0) return WW_OK;
    enum ww_code code = add_file(name, &b, error);
    if (code == WW_INPUT && !required) {
        ww_buf_free(&b);
        return WW_OK;
    }
    if (code == WW_OK) code = add_file("scaling", &b, error);
    if (code == WW_OK && b.failed) code = ww_fail_nomem(error, "a power table");
    if (code == WW_OK) hash_text(&b, out);
    ww_buf_free(&b);
    return code;
}

/* Overrides of the GPU and settings of mechanisms, in the space's order. */
static enum ww_code list_settings(const struct ww_sweep_space *space, const uint16_t *level,
                                  struct ww_sweep_machine *m, struct ww_error *error) {
    size_t n = space->param_count;
    m->set = ww_arena_array(&m->arena, n, sizeof *m->set);
    m->variant = ww_arena_array(&m->arena, n, sizeof *m->variant);
    m->key = ww_arena_array(&m->arena, n, sizeof *m->key);
    m->value = ww_arena_array(&m->arena, n, sizeof *m->value);
    m->number = ww_arena_array(&m->arena, n, sizeof *m->number);
    m->mech = ww_arena_array(&m->arena, n + space->mech_count, sizeof *m->mech);
    if (!m->set || !m->variant || !m->key || !m->value || !m->number || !m->mech)
        return ww_fail_nomem(error, "a point of a sweep");
    for (size_t i = 0; i < space->mech_count; i++) m->mech[m->mech_count++] = space->mech[i];
    for (size_t i = 0; i < n; i++) {
        const struct ww_sweep_param *p = &space->param[i];
        const struct ww_sweep_level *l = &p->level[level[i]];
        if (!ww_sweep_active(space, level, i)) continue;
        const char *text = ww_arena_printf(&m->arena, "%s=%s", p->key, l->text);
        if (!text) return ww_fail_nomem(error, "a point of a sweep");
        m->key[m->settings] = p->key;
        m->value[m->settings] = l->text;
        m->number[m->settings++] = l->number;
        if (p->target == WW_SWEEP_PROGRAM)
            m->variant[m->variant_params++] = l;
        else if (p->target == WW_SWEEP_GPU)
            m->set[m->set_count++] = text;
        else
            m->mech[m->mech_count++] = text;
    }
    return WW_OK;
}

/* All that a result depends on but the trace. */
static enum ww_code hash_config(const struct ww_sweep_space *space, struct ww_sweep_machine *m,
                                const struct ww_mech_choice *choice, const char *power_hash, const char *mode,
                                struct ww_error *error) {
    struct ww_buf b = {0};
    for (size_t i = 0; i < m->variant_params; i++)
        ww_buf_printf(&b, "%s=%s\n", space->param[i].key, m->variant[i]->text);
    ww_buf_printf(&b, "%s\n%s\npower %s\nmode %s\nseed 0\nversion " WW_VERSION "\n", ww_gpu_name(m->gpu),
                  ww_gpu_json(m->gpu), power_hash, mode ? mode : "full");
    for (int k = 0; k < WW_KIND_COUNT; k++) {
        if (!choice[k].info) continue;
        ww_buf_printf(&b, "%s=%s\n", ww_mech_kind_name((enum ww_mech_kind)k), choice[k].info->name);
        for (size_t i = 0; i < choice[k].info->param_count; i++) {
            ww_buf_printf(&b, "%s=", choice[k].info->params[i].key);
            ww_param_print_text(&choice[k].info->params[i], choice[k].settings, &b);
            ww_buf_byte(&b, '\n');
        }
    }
    if (!b.failed) hash_text(&b, m->config);
    bool failed = b.failed;
    ww_buf_free(&b);
    return failed ? ww_fail_nomem(error, "a point of a sweep") : WW_OK;
}

static enum ww_code resolve(const struct ww_sweep_space *space, const uint16_t *level, const char *power_hash,
                            struct ww_sweep_machine *m, struct ww_error *error) {
    struct ww_mech_choice choice[WW_KIND_COUNT];
    WW_TRY(list_settings(space, level, m, error));
    WW_TRY(ww_gpu_load(space->gpu, m->set, m->set_count, &m->gpu, error));
    WW_TRY(ww_mech_resolve_on(ww_gpu_sched(&m->gpu->spec), m->mech, m->mech_count, &m->arena, choice, error));
    WW_TRY(find_area(space, m, error));
    return hash_config(space, m, choice, power_hash, space->mode, error);
}

enum ww_code ww_sweep_machine(const struct ww_sweep_space *space, const uint16_t *level, const char *power_hash,
                              struct ww_sweep_machine *m, struct ww_error *error) {
    struct ww_error inner = {.code = WW_OK};
    *m = (struct ww_sweep_machine){0};
    ww_arena_init(&m->arena, 0);
    enum ww_code code = resolve(space, level, power_hash, m, &inner);
    if (code == WW_OK) return WW_OK;
    if (!ww_sweep_is_reason(code)) {
        if (error) *error = inner;
        return code;
    }
    snprintf(m->reason, sizeof m->reason, "%s%s%s", inner.where, inner.where[0] ? ": " : "", inner.text);
    return WW_OK;
}

void ww_sweep_machine_free(struct ww_sweep_machine *m) {
    ww_gpu_free(m->gpu);
    m->gpu = NULL;
    ww_arena_free(&m->arena);
}

struct ww_db_sweep_point ww_sweep_machine_row(const struct ww_sweep_machine *m, size_t ord) {
    return (struct ww_db_sweep_point){.ord = ord,
                                      .config = m->config,
                                      .key = m->key,
                                      .value = m->value,
                                      .number = m->number,
                                      .settings = m->settings,
                                      .reason = m->reason[0] ? m->reason : NULL,
                                      .area_mm2 = m->area_mm2,
                                      .area_known = m->area_known};
}
