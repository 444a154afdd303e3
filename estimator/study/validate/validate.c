/* The suites, and running one by its name. */
#include "../../api/validate.h"
#include "../../base/locale.h"
#include "rows/validate.h"
#include "../../base/nearest.h"
#include <stdlib.h>
#include <string.h>

static const struct suite {
    const char *name, *help;
    ww_validate_suite_fn run;
} suites[] = {
#define X(name, help) {#name, help, ww_validate_suite_##name},
#include "rows/validate.def"
#undef X
};
enum { SUITES = sizeof suites / sizeof suites[0] };

size_t ww_validate_suite_count(void) {
    return SUITES;
}

const char *ww_validate_suite_name(size_t i) {
    return i < SUITES ? suites[i].name : NULL;
}

const char *ww_validate_suite_help(size_t i) {
    return i < SUITES ? suites[i].help : NULL;
}

static enum ww_code find_suite(const char *name, const struct suite **suite, struct ww_error *error) {
    struct ww_nearest near;
    ww_nearest_init(&near, name);
    for (size_t i = 0; i < SUITES; i++) {
        *suite = &suites[i];
        if (strcmp(name, suites[i].name) == 0) return WW_OK;
        ww_nearest_offer(&near, suites[i].name);
    }
    const char *best = ww_nearest_get(&near);
    return ww_fail(error, WW_USAGE, "warpwatt validate", "unknown suite \"%.80s\"%s%s%s; see warpwatt validate",
                   name, best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

enum ww_code ww_validate(const char *name, const struct ww_validate_options *options,
                         struct ww_validation **validation, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    const struct suite *suite;
    WW_TRY(find_suite(name, &suite, error));
    struct ww_validation *v = malloc(sizeof *v);
    if (!v) return ww_fail_nomem(error, name);
    enum ww_code code = ww_validation_init(v, suite->name, error);
    if (code == WW_OK) code = suite->run(v, options, error);
    if (code == WW_OK)
        *validation = v;
    else
        ww_validation_free(v);
    return code;
}

void ww_validation_free(struct ww_validation *validation) {
    if (!validation) return;
    ww_validation_clear(validation);
    free(validation);
}
