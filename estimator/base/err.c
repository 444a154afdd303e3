/* Errors: codes and their texts. */
#include "err.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *help;
    int exit_code;
} codes[WW_CODE_COUNT] = {
#define X(id, exit_code_, help_) [WW_##id] = {#id, help_, exit_code_},
#include "err.def"
#undef X
};

const char *ww_code_name(enum ww_code code) {
    return (unsigned)code < WW_CODE_COUNT ? codes[code].name : "?";
}

const char *ww_code_help(enum ww_code code) {
    return (unsigned)code < WW_CODE_COUNT ? codes[code].help : "?";
}

int ww_code_exit(enum ww_code code) {
    return (unsigned)code < WW_CODE_COUNT ? codes[code].exit_code : codes[WW_INTERNAL].exit_code;
}

const char *ww_version(void) {
    return WW_VERSION;
}

enum ww_code ww_fail(struct ww_error *e, enum ww_code code, const char *where, const char *fmt, ...) {
    if (e) {
        va_list args;
        e->code = code;
        snprintf(e->where, sizeof e->where, "%s", where ? where : "");
        va_start(args, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, args);
        va_end(args);
    }
    return code;
}

enum ww_code ww_error_within(struct ww_error *e, const char *prefix) {
    if (!e) return WW_INTERNAL;
    char old[sizeof e->where];
    memcpy(old, e->where, sizeof old);
    int n = snprintf(e->where, sizeof e->where, "%s", prefix);
    size_t room = n >= 0 && (size_t)n < sizeof e->where ? sizeof e->where - (size_t)n : 0;
    /* Text that does not fit is truncated. */
    if (old[0] && room > 3) snprintf(e->where + n, room, ": %.*s", (int)(room - 3), old);
    return e->code;
}

enum ww_code ww_fail_nomem(struct ww_error *e, const char *what) {
    return ww_fail(e, WW_NOMEM, "", "out of memory for %s", what);
}
