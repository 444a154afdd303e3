/* The list of built-in workloads, and their parameters. */
#include "../../estimator/api/record.h"
#include "../../estimator/base/locale.h"
#include "workload.h"
#include "../../estimator/base/nearest.h"
#include <stdlib.h>
#include <string.h>

static const struct ww_workload_ops *const list[] = {
#define X(name) &ww_workload_##name,
#include "workload_list.def"
#undef X
};
#define COUNT (sizeof list / sizeof list[0])

size_t ww_workload_count(void) {
    return COUNT;
}

const struct ww_workload_ops *ww_workload_at(size_t i) {
    return i < COUNT ? list[i] : NULL;
}

const struct ww_workload_ops *ww_workload_find(const char *name) {
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(list[i]->name, name) == 0) return list[i];
    return NULL;
}

enum ww_code ww_workload(size_t i, struct ww_workload_view *view, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (i >= COUNT) return ww_fail(error, WW_USAGE, "", "workload %zu: there are %zu", i, (size_t)COUNT);
    view->name = list[i]->name;
    view->help = list[i]->help;
    view->parameters = list[i]->param_text;
    view->arch = list[i]->arch;
    return WW_OK;
}

enum ww_code ww_workload_arch(const struct ww_workload_ops *ops, const char *arch, char *chosen,
                              struct ww_error *error) {
    unsigned long wanted = arch && strncmp(arch, "sm_", 3) == 0 ? strtoul(arch + 3, NULL, 10) : 0;
    unsigned long least = ops->arch ? strtoul(ops->arch + 3, NULL, 10) : 0;
    bool only = ops->arch && ops->arch[strlen(ops->arch) - 1] == 'a';
    if (arch && wanted && (wanted < least || (only && wanted != least)))
        return ww_fail(error, WW_USAGE, ops->name,
                       "arch '%.20s': expected sm_%lu%s, whose matrix instructions it uses", arch, least,
                       only ? "" : " or newer");
    if (arch)
        snprintf(chosen, WW_WORKLOAD_ARCH, "%s", arch);
    else
        snprintf(chosen, WW_WORKLOAD_ARCH, "sm_%lu", least ? least : 70);
    return WW_OK;
}

/* Appends ", did you mean X" where something is near, and what there is. */
static enum ww_code fail_unknown(struct ww_error *error, const char *where, const char *what, const char *word,
                                 const char *near, const struct ww_buf *known) {
    return ww_fail(error, WW_USAGE, where, "there is no %s \"%.60s\"%s%s%s; there are: %s", what, word,
                   near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "",
                   known->p ? known->p : "none");
}

static enum ww_code fail_workload(struct ww_error *error, const char *name) {
    struct ww_nearest near;
    struct ww_buf known = {0};
    ww_nearest_init(&near, name);
    for (size_t i = 0; i < COUNT; i++) {
        ww_nearest_offer(&near, list[i]->name);
        ww_buf_printf(&known, "%s%s", i ? ", " : "", list[i]->name);
    }
    enum ww_code code = fail_unknown(error, "", "workload", name, ww_nearest_get(&near), &known);
    ww_buf_free(&known);
    return code;
}

static enum ww_code fail_key(struct ww_error *error, const struct ww_workload_ops *ops, const char *key) {
    struct ww_buf known = {0};
    for (size_t i = 0; i < ops->param_count; i++)
        ww_buf_printf(&known, "%s%s", i ? ", " : "", ops->params[i].key);
    enum ww_code code = fail_unknown(error, ops->name, "parameter", key,
                                     ww_param_nearest(ops->params, ops->param_count, key), &known);
    ww_buf_free(&known);
    return code;
}

static enum ww_code set(const struct ww_workload_ops *ops, void *settings, const char *parameter,
                        struct ww_error *error) {
    const char *equals = strchr(parameter, '=');
    char key[WW_STR_MAX], where[160];
    size_t n = equals ? (size_t)(equals - parameter) : 0;
    if (!equals || n == 0)
        return ww_fail(error, WW_USAGE, ops->name, "parameter \"%.80s\": expected key=value", parameter);
    if (n >= sizeof key) n = sizeof key - 1; /* no key is that long: it will be unknown */
    memcpy(key, parameter, n);
    key[n] = 0;
    int row = ww_param_find(ops->params, ops->param_count, key);
    if (row < 0) return fail_key(error, ops, key);
    snprintf(where, sizeof where, "workload %s: parameter %s", ops->name, key);
    return ww_param_set_text(&ops->params[row], settings, equals + 1, where, error);
}

enum ww_code ww_workload_prepare(const char *name, const char *const *parameters, size_t count,
                                 const struct ww_workload_ops **ops, void **settings, struct ww_error *error) {
    const struct ww_workload_ops *found = ww_workload_find(name);
    if (!found) return fail_workload(error, name);
    void *filled = calloc(1, found->settings_size);
    if (!filled) return ww_fail_nomem(error, "a workload's settings");
    ww_param_defaults(found->params, found->param_count, filled);
    for (size_t i = 0; i < count; i++) {
        enum ww_code code = set(found, filled, parameters[i], error);
        if (code != WW_OK) {
            free(filled);
            return code;
        }
    }
    *ops = found;
    *settings = filled;
    return WW_OK;
}
