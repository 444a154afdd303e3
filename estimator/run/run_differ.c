/* What makes a run differ from one on the same GPU without options. */
#include "run_int.h"
#include "../base/buf.h"
#include "../base/err.h"
#include <string.h>

static enum ww_code add(struct run *r, const char *key, const char *value, const char *base,
                        struct ww_error *error) {
    struct ww_override o = {ww_arena_strdup(r->arena, key), ww_arena_strdup(r->arena, value),
                            ww_arena_strdup(r->arena, base)};
    if (!o.key || !o.value || !o.base) return ww_fail_nomem(error, "result");
    r->result->override[r->result->override_count++] = o;
    return WW_OK;
}

static enum ww_code add_parameter(struct run *r, const char *kind, const struct ww_mech_info *m, size_t p,
                                  const void *settings, const void *defaults, struct ww_error *error) {
    struct ww_buf value = {0}, base = {0};
    enum ww_code code = WW_OK;
    ww_param_print_text(&m->params[p], settings, &value);
    ww_param_print_text(&m->params[p], defaults, &base);
    if (!value.p || !base.p)
        code = ww_fail_nomem(error, "result");
    else if (strcmp(value.p, base.p) != 0)
        code = add(r, ww_arena_printf(r->arena, "%s.%s", kind, m->params[p].key), value.p, base.p, error);
    ww_buf_free(&value);
    ww_buf_free(&base);
    return code;
}

/* Settings that are not the mechanism's own defaults, whether or not it is the GPU's own mechanism. */
static enum ww_code add_mechanism(struct run *r, int k, const struct ww_mech_info *own,
                                  struct ww_error *error) {
    const struct ww_mech_choice *c = &r->choice[k];
    const char *kind = ww_mech_kind_name((enum ww_mech_kind)k);
    if (!c->info) return WW_OK;
    if (c->info != own) WW_TRY(add(r, kind, c->info->name, own ? own->name : "-", error));
    void *defaults = ww_arena_alloc(r->arena, c->info->settings_size);
    if (!defaults) return ww_fail_nomem(error, "result");
    ww_param_defaults(c->info->params, c->info->param_count, defaults);
    for (size_t p = 0; p < c->info->param_count; p++)
        WW_TRY(add_parameter(r, kind, c->info, p, c->settings, defaults, error));
    return WW_OK;
}

enum ww_code ww_run_describe_overrides(struct run *r, struct ww_error *error) {
    const struct ww_run_options *o = r->options;
    struct ww_mech_choice own[WW_KIND_COUNT];
    size_t count, most = 3; /* cache_control, clock_control, serialize */
    const struct ww_override *from = ww_gpu_overrides(o->gpu, &count);
    for (int k = 0; k < WW_KIND_COUNT; k++)
        if (r->choice[k].info) most += 1 + r->choice[k].info->param_count;
    r->result->override = ww_arena_array(r->arena, count + most, sizeof *from);
    if (!r->result->override) return ww_fail_nomem(error, "result");
    for (size_t i = 0; i < count; i++) WW_TRY(add(r, from[i].key, from[i].value, from[i].base, error));
    WW_TRY(ww_mech_resolve_on(ww_gpu_sched(&o->gpu->spec), NULL, 0, r->arena, own, error));
    for (int k = 0; k < WW_KIND_COUNT; k++) WW_TRY(add_mechanism(r, k, own[k].info, error));
    if (r->flush || r->flush_sm) WW_TRY(add(r, "cache_control", o->cache_control, "keep", error));
    if (o->clock_control) WW_TRY(add(r, "clock_control", o->clock_control, "model", error));
    if (o->serialize) WW_TRY(add(r, "serialize", "true", "false", error));
    return WW_OK;
}
