/* ptxas_tool.c: finding NVIDIA's assembler, and what each one supports. */
#include "../../../estimator/base/spawn.h"
#include "ptxas.h"
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_MS 20000u
#define ASK_BYTES ((size_t)1 << 20)

static bool is_program(const char *path) {
    return access(path, X_OK) == 0;
}

/* Adds a file unless it is there already. */
static void add(struct ptxas_tools *t, const char *path) {
    char *real = t->count < PTXAS_TOOL_MAX && is_program(path) ? realpath(path, NULL) : NULL;
    if (!real) return;
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->tool[i].path, real) != 0) continue;
        free(real);
        return;
    }
    t->tool[t->count++] = (struct ptxas_tool){.path = real};
}

/* Adds `name` of each directory in a list separated by ':'; name NULL: the list is of files. */
static enum ww_code add_list(struct ptxas_tools *t, const char *list, const char *name,
                             struct ww_error *error) {
    while (list && *list) {
        size_t n = strcspn(list, ":");
        struct ww_buf path = {0};
        ww_buf_append(&path, list, n);
        if (name) ww_buf_printf(&path, "/%s", name);
        if (path.failed) {
            ww_buf_free(&path);
            return ww_fail_nomem(error, "the search for ptxas");
        }
        if (n) add(t, path.p);
        ww_buf_free(&path);
        list += n + (list[n] == ':');
    }
    return WW_OK;
}

/* Newest first: names sort by version, 11.8 before 12.4. */
static void add_glob(struct ptxas_tools *t, const char *pattern) {
    glob_t g = {0};
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = g.gl_pathc; i > 0; i--) add(t, g.gl_pathv[i - 1]);
    globfree(&g);
}

enum ww_code ww_ptxas_tools_find(struct ptxas_tools *t, struct ww_error *error) {
    memset(t, 0, sizeof *t);
    const char *given = getenv("WARPWATT_PTXAS"), *home = getenv("CUDA_HOME");
    if (given) return add_list(t, given, NULL, error);
    WW_TRY(add_list(t, getenv("PATH"), "ptxas", error));
    WW_TRY(add_list(t, home, "bin/ptxas", error));
    static const char *const patterns[] = {"/usr/local/cuda*/bin/ptxas", "/opt/cuda*/bin/ptxas",
                                           "/usr/lib/nvidia-cuda-toolkit/bin/ptxas"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) add_glob(t, patterns[i]);
    return WW_OK;
}

void ww_ptxas_tools_free(struct ptxas_tools *t) {
    for (size_t i = 0; i < t->count; i++) free(t->tool[i].path);
    t->count = 0;
}

bool ww_ptxas_parse_version(const char *text, struct ptxas_tool *tool) {
    const char *at = strstr(text, ", V");
    if (!at) return false;
    at += 3;
    size_t n = strspn(at, "0123456789.");
    char *end;
    if (n == 0 || n >= sizeof tool->version) return false;
    memcpy(tool->version, at, n);
    tool->version[n] = 0;
    tool->major = (unsigned)strtoul(at, &end, 10);
    tool->minor = *end == '.' ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
    return tool->major > 0 && tool->major < 1000 && tool->minor < 10;
}

static void note_architecture(struct ptxas_tool *tool, uint32_t arch, bool specific) {
    size_t i = 0;
    while (i < tool->arch_count && tool->arch[i].arch != arch) i++;
    if (i == PTXAS_ARCH_MAX) return;
    if (i == tool->arch_count) tool->arch[tool->arch_count++].arch = arch;
    if (specific) tool->arch[i].specific = true;
}

void ww_ptxas_parse_architectures(const char *help, struct ptxas_tool *tool) {
    static const char quote[] = "'sm_";
    for (const char *at = strstr(help, quote); at; at = strstr(at, quote)) {
        char *end;
        at += sizeof quote - 1;
        unsigned long v = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (v < 10 || v > 999) continue;
        if (*end == '\'') note_architecture(tool, (uint32_t)v, false);
        if (*end == 'a') note_architecture(tool, (uint32_t)v, true);
    }
}

static bool run(const char *path, const char *option, struct ww_buf *out) {
    const struct ww_spawn_limits limits = {.ms = ASK_MS, .bytes = ASK_BYTES};
    const char *const argv[] = {path, option, NULL};
    struct ww_spawned s;
    bool fine = ww_spawn(argv, &limits, &s, NULL) == WW_OK && s.status == 0 && s.out.p;
    if (fine) ww_buf_append(out, s.out.p, s.out.n);
    ww_spawned_free(&s);
    return fine && !out->failed;
}

void ww_ptxas_tool_ask(struct ptxas_tool *tool) {
    if (tool->asked) return;
    struct ww_buf version = {0}, help = {0};
    tool->asked = true;
    tool->works = run(tool->path, "--version", &version) && ww_ptxas_parse_version(version.p, tool) &&
                  run(tool->path, "--help", &help);
    if (tool->works) ww_ptxas_parse_architectures(help.p, tool);
    ww_buf_free(&version);
    ww_buf_free(&help);
}

bool ww_ptxas_tool_supports(const struct ptxas_tool *tool, uint32_t arch, bool specific) {
    for (size_t i = 0; i < tool->arch_count; i++)
        if (tool->arch[i].arch == arch) return !specific || tool->arch[i].specific;
    return false;
}

/* Toolkit 11.8 reads PTX 7.8, 12.4 reads 8.4, 13.0 reads 9.0. */
unsigned ww_ptxas_tool_ptx(const struct ptxas_tool *tool) {
    return tool->major > 4 ? (tool->major - 4) * 10 + tool->minor : 0;
}
