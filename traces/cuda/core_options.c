/* core_options.c: the runtime's options, from environment variables that `warpwatt trace record -- PROGRAM`
 * sets.
 */
#include "../../estimator/api/record.h"
#include "../../estimator/base/pidpath.h"
#include "core.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum ww_code number(const char *name, uint64_t *value, struct ww_error *error) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return WW_OK;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || errno || v < 1)
        return ww_fail(error, WW_USAGE, name, "expected a whole number in 1..%llu, found '%.60s'", ULLONG_MAX,
                       text);
    *value = v;
    return WW_OK;
}

static enum ww_code flag(const char *name, bool *value, struct ww_error *error) {
    const char *text = getenv(name);
    if (!text || !*text || strcmp(text, "0") == 0) return WW_OK;
    if (strcmp(text, "1") != 0) return ww_fail(error, WW_USAGE, name, "expected 0 or 1, found '%.60s'", text);
    *value = true;
    return WW_OK;
}

static enum ww_code text(const char *name, char **value, struct ww_error *error) {
    const char *given = getenv(name);
    if (!given || !*given) return WW_OK;
    *value = strdup(given);
    return *value ? WW_OK : ww_fail_nomem(error, name);
}

/* FD:DEVICE:INODE: the program may have closed the descriptor, and opened another, before its first call. */
static enum ww_code report_of(const char *name, struct ww_ownfd *own, struct ww_error *error) {
    const char *given = getenv(name);
    unsigned long long dev, ino;
    int fd;
    if (!given || !*given) return WW_OK;
    if (sscanf(given, "%d:%llu:%llu", &fd, &dev, &ino) != 3 || fd < 0)
        return ww_fail(error, WW_USAGE, name, "expected FD:DEVICE:INODE, found '%.60s'", given);
    *own = (struct ww_ownfd){.fd = fd, .dev = (dev_t)dev, .ino = (ino_t)ino};
    return WW_OK;
}

/* %p of the trace's name is this process. */
static enum ww_code name_process(char **out, struct ww_error *error) {
    if (!*out || !ww_pidpath_is(*out)) return WW_OK;
    char *own = ww_pidpath(*out, (long)getpid());
    if (!own) return ww_fail_nomem(error, "WARPWATT_CUDA_OUT");
    free(*out);
    *out = own;
    return WW_OK;
}

/* WARPWATT_CODE is for all commands. */
static enum ww_code code_of(enum ww_record_code *code, struct ww_error *error) {
    static const char *const names[] = {"WARPWATT_CUDA_CODE", "WARPWATT_CODE"};
    *code = WW_RECORD_AUTO;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const char *given = getenv(names[n]);
        if (given && *given) return ww_record_code_parse(given, names[n], code, error);
    }
    return WW_OK;
}

enum ww_code ww_rt_read_options(struct rt_options *o, struct ww_error *error) {
    *o = (struct rt_options){.every = 1, .report.fd = -1};
    WW_TRY(code_of(&o->code, error));
    WW_TRY(text("WARPWATT_CUDA_PTXAS_OPTIONS", &o->ptxas_options, error));
    WW_TRY(flag("WARPWATT_CUDA_QUIET", &o->quiet, error));
    WW_TRY(text("WARPWATT_CUDA_OUT", &o->out, error));
    WW_TRY(name_process(&o->out, error));
    WW_TRY(text("WARPWATT_CUDA_ARCH", &o->arch, error));
    WW_TRY(text("WARPWATT_CUDA_GPU", &o->gpu, error));
    WW_TRY(text("WARPWATT_CUDA_KERNEL", &o->kernel, error));
    WW_TRY(number("WARPWATT_CUDA_FIRST", &o->first, error));
    WW_TRY(number("WARPWATT_CUDA_EVERY", &o->every, error));
    WW_TRY(number("WARPWATT_CUDA_LIMIT", &o->limit, error));
    WW_TRY(flag("WARPWATT_CUDA_NO_RECORD", &o->no_record, error));
    WW_TRY(flag("WARPWATT_CUDA_STRICT", &o->strict, error));
    WW_TRY(flag("WARPWATT_CUDA_KEEP_SOURCE", &o->keep_source, error));
    WW_TRY(flag("WARPWATT_CUDA_PROGRESS", &o->progress, error));
    return report_of("WARPWATT_CUDA_REPORT", &o->report, error);
}
