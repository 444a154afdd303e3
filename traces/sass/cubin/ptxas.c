/* ptxas.c: compiles PTX with NVIDIA's assembler. */
#include "ptxas.h"
#include "../../../estimator/base/spawn.h"
#include "../../../estimator/base/tempfile.h"
#include "../../../estimator/config/json.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPILE_MS 1800000u /* half an hour: kernels of templates take minutes */
#define OUTPUT_BYTES ((size_t)16 << 20)
#define CUBIN_MAX ((size_t)1 << 30)
#define OPTION_MAX 64
#define OLDEST_IN_13 75u /* stands in for sm_70 and sm_72 */
#define ARCH_FIRST 70u

/* What is compiled with what. */
struct job {
    const struct ww_ptxas_request *request;
    struct ptxas_header header;
    struct ptxas_tool *tool;
    uint32_t arch;
    bool specific; /* for sm_90a and such */
    unsigned version;
    uint32_t target;
};

void ww_ptxas_result_free(struct ww_ptxas_result *r) {
    ww_buf_free(&r->cubin);
}

/* ---- choice of the tool ---- */

/* Code of an architecture's own features is made for that architecture only. */
static bool wants_specific(const struct job *j, uint32_t arch) {
    return j->header.suffix != 0 && j->header.target == arch;
}

static bool choose(struct job *j, struct ptxas_tools *tools, uint32_t arch) {
    j->arch = arch;
    j->specific = wants_specific(j, arch);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < tools->count; i++) {
            struct ptxas_tool *t = &tools->tool[i];
            ww_ptxas_tool_ask(t);
            if (!t->works || !ww_ptxas_tool_supports(t, arch, j->specific)) continue;
            if (pass == 0 && j->header.version > ww_ptxas_tool_ptx(t)) continue;
            j->tool = t;
            return true;
        }
    }
    return false;
}

/* Why there is none at all. */
static void describe_none(struct ww_buf *out) {
    const char *given = getenv("WARPWATT_PTXAS");
    if (!given)
        ww_buf_puts(
            out,
            "found none (WARPWATT_PTXAS names it, docs/reference/machine-code.md says where it is sought)");
    else if (!*given)
        ww_buf_puts(out, "WARPWATT_PTXAS is set and empty: no ptxas is used");
    else
        ww_buf_printf(out, "WARPWATT_PTXAS names %s, which cannot be run as ptxas", given);
}

static enum ww_code no_tool(const struct job *j, const struct ptxas_tools *tools, struct ww_error *error) {
    struct ww_buf found = {0};
    for (size_t i = 0; i < tools->count; i++)
        if (tools->tool[i].works)
            ww_buf_printf(&found, "%s%s (%s)", found.n ? ", " : "found ", tools->tool[i].path,
                          tools->tool[i].version);
    if (!found.n) describe_none(&found);
    enum ww_code code = ww_fail(error, WW_UNSUPPORTED, j->request->name, "no ptxas that supports sm_%u: %.300s",
                                j->request->arch, found.failed ? "out of memory" : found.p);
    ww_buf_free(&found);
    return code;
}

/* Version and target that the tool reads. */
static void fit_header(struct job *j) {
    unsigned newest = ww_ptxas_tool_ptx(j->tool);
    j->version = j->header.version > newest ? newest : j->header.version;
    j->target = j->header.target > j->arch ? j->arch : j->header.target;
}

/* True if .version or .target must be other ones. */
static bool is_lowered(const struct job *j) {
    return j->version != j->header.version || j->target != j->header.target ||
           (j->header.suffix && !j->specific);
}

/* ---- running it ---- */

static void name_arch(const struct job *j, char *out, size_t room) {
    char suffix[2] = {j->specific ? 'a' : 0, 0};
    snprintf(out, room, "sm_%u%s", j->arch, suffix);
}

static void key_of(const struct job *j, struct ww_buf *key) {
    char arch[16];
    name_arch(j, arch, sizeof arch);
    ww_buf_printf(key, "ptxas %s\n%s %u %u\n%u %s", j->tool->version, arch, j->version, j->target,
                  j->request->max_registers, j->request->options ? j->request->options : "");
}

static bool write_text(const char *path, const char *text, size_t n) {
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    bool whole = fwrite(text, 1, n, f) == n;
    return fclose(f) == 0 && whole;
}

/* The first lines of ptxas's output, on one line, the PTX's own name in place of the temporary file's. */
static void summarise(const struct ww_spawned *s, const char *file, const char *name, char *out, size_t room) {
    const struct ww_buf *b = s->err.n ? &s->err : &s->out;
    size_t n = 0, skipped = strlen(file);
    for (size_t i = 0; i < b->n && n + 2 < room; i++) {
        if (skipped && b->n - i >= skipped && memcmp(b->p + i, file, skipped) == 0) {
            int named = snprintf(out + n, room - n, "%s", name);
            n += (size_t)named < room - n ? (size_t)named : room - n - 1;
            i += skipped - 1;
        } else if (b->p[i] == '\n')
            n += (size_t)snprintf(out + n, room - n, "; ") < room - n ? 2 : 0;
        else
            out[n++] = b->p[i];
    }
    while (n && (out[n - 1] == ' ' || out[n - 1] == ';')) n--;
    out[n] = 0;
}

/* Options that choose what is chosen here, or whose effect is not in their words, by which code is kept. */
static bool is_refused(const char *option) {
    static const char *const name[] = {"-o", "--output-file", "-arch", "--gpu-name", "-optf", "--options-file"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t n = strlen(name[i]);
        if (strncmp(option, name[i], n) == 0 && (option[n] == 0 || option[n] == '=')) return true;
    }
    return false;
}

static enum ww_code split_options(char *copy, const char **argv, int *count, struct ww_error *error) {
    char *state = NULL;
    for (char *w = strtok_r(copy, " \t", &state); w; w = strtok_r(NULL, " \t", &state)) {
        if (*count >= OPTION_MAX - 2)
            return ww_fail(error, WW_USAGE, "--ptxas-options", "more than %d options", OPTION_MAX);
        if (is_refused(w))
            return ww_fail(error, WW_USAGE, "--ptxas-options",
                           "'%s': the output, the architecture and files of options are not given here", w);
        argv[(*count)++] = w;
    }
    return WW_OK;
}

static bool goes_on(void *context) {
    const struct ww_ptxas_request *q = context;
    return !q->progress || q->progress(q->context, -1, 0, "ptxas");
}

static enum ww_code spawn_tool(const struct job *j, const char *in, const char *out,
                               struct ww_ptxas_result *result, struct ww_error *error) {
    struct ww_ptxas_request request = *j->request;
    const struct ww_spawn_limits limits = {
        .ms = COMPILE_MS, .bytes = OUTPUT_BYTES, .goes_on = goes_on, .context = &request};
    char arch[16], registers[32];
    const char *argv[OPTION_MAX + 8] = {j->tool->path, "-arch", arch, "-o", out};
    int count = 5;
    char *copy = strdup(j->request->options ? j->request->options : "");
    if (!copy) return ww_fail_nomem(error, "options of ptxas");
    name_arch(j, arch, sizeof arch);
    snprintf(registers, sizeof registers, "--maxrregcount=%u", j->request->max_registers);
    if (j->request->max_registers) argv[count++] = registers;
    enum ww_code code = split_options(copy, argv, &count, error);
    struct ww_spawned s = {0};
    argv[count++] = in;
    argv[count] = NULL;
    if (code == WW_OK) {
        code = ww_spawn(argv, &limits, &s, error);
        char said[400] = "";
        summarise(&s, in, j->request->name, said, sizeof said);
        if (code == WW_OK && s.status != 0)
            code = ww_fail(error, WW_INPUT, j->request->name, "ptxas %s refuses it for %s: %s",
                           j->tool->version, arch, said[0] ? said : "it ended without a word");
        else
            snprintf(result->warnings, sizeof result->warnings, "%s", said);
        ww_spawned_free(&s);
    }
    free(copy);
    return code;
}

static enum ww_code in_directory(const struct job *j, const char *directory, const char *text, size_t n,
                                 struct ww_ptxas_result *result, struct ww_error *error) {
    struct ww_buf in = {0}, out = {0};
    ww_buf_printf(&in, "%s/in.ptx", directory);
    ww_buf_printf(&out, "%s/out.cubin", directory);
    enum ww_code code = in.failed || out.failed ? ww_fail_nomem(error, "paths") : WW_OK;
    if (code == WW_OK && !write_text(in.p, text, n))
        code = ww_fail(error, WW_IO, in.p, "cannot write: %s", strerror(errno));
    if (code == WW_OK) code = spawn_tool(j, in.p, out.p, result, error);
    if (code == WW_OK) code = ww_read_file(out.p, CUBIN_MAX, &result->cubin, error);
    ww_buf_free(&in);
    ww_buf_free(&out);
    return code;
}

static enum ww_code compile(const struct job *j, const char *text, size_t n, struct ww_ptxas_result *result,
                            struct ww_error *error) {
    struct ww_temp folder;
    WW_TRY(ww_temp_folder(&folder, error));
    enum ww_code code = in_directory(j, folder.path, text, n, result, error);
    ww_temp_remove(&folder);
    return code;
}

static void describe(const struct job *j, struct ww_ptxas_result *r) {
    char arch[16], registers[40] = "";
    const char *options = j->request->options;
    name_arch(j, arch, sizeof arch);
    if (j->request->max_registers)
        snprintf(registers, sizeof registers, " --maxrregcount=%u", j->request->max_registers);
    snprintf(r->origin, sizeof r->origin, "ptxas %s -arch %s%s%s%.80s", j->tool->version, arch, registers,
             options && *options ? " " : "", options ? options : "");
    r->arch = j->arch;
    r->target = j->header.target;
    r->substitute = j->arch != j->request->arch;
    r->lowered = is_lowered(j);
}

static enum ww_code run(struct job *j, struct ww_ptxas_result *r, struct ww_error *error) {
    const struct ww_ptxas_request *q = j->request;
    struct ww_buf key = {0}, text = {0};
    fit_header(j);
    key_of(j, &key);
    enum ww_code code = key.failed ? ww_fail_nomem(error, "a key") : WW_OK;
    if (code == WW_OK)
        code =
            ww_ptxas_lower_header(q->text, q->n, &j->header, j->version, j->target, j->specific, &text, error);
    if (code == WW_OK) {
        r->cached = !q->no_cache && ww_ptxas_cache_get(key.p, q->text, q->n, &r->cubin);
        if (!r->cached) {
            ww_buf_clear(&r->cubin);
            code = compile(j, text.p ? text.p : q->text, text.p ? text.n : q->n, r, error);
            if (code == WW_OK && !q->no_cache) ww_ptxas_cache_put(key.p, q->text, q->n, &r->cubin);
        }
    }
    describe(j, r);
    ww_buf_free(&key);
    ww_buf_free(&text);
    return code;
}

enum ww_code ww_ptxas_compile(const struct ww_ptxas_request *request, struct ww_ptxas_result *result,
                              struct ww_error *error) {
    struct ptxas_tools tools;
    struct job j = {.request = request};
    memset(result, 0, sizeof *result);
    if (!ww_ptxas_read_header(request->text, request->n, &j.header))
        return ww_fail(error, WW_INPUT, request->name, "expected .version and .target at its beginning");
    WW_TRY(ww_ptxas_tools_find(&tools, error));
    bool old = request->arch >= ARCH_FIRST && request->arch < OLDEST_IN_13;
    bool found = choose(&j, &tools, request->arch) || (old && choose(&j, &tools, OLDEST_IN_13));
    enum ww_code code = found ? run(&j, result, error) : no_tool(&j, &tools, error);
    ww_ptxas_tools_free(&tools);
    if (code != WW_OK) ww_ptxas_result_free(result);
    return code;
}
