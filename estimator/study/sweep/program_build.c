/* Building variants: nvcc or a command makes PTX, which is kept by the content of all that it is made of. */
#include "../../base/hash.h"
#include "../../base/spawn.h"
#include "../../base/tempfile.h"
#include "../../../traces/sass/cubin/ptxas.h"
#include "expression.h"
#include "job.h"
#include "program.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MOST ((size_t)64 << 20)
#define OUTPUT_MOST ((size_t)16 << 20)
#define WORDS_MOST (4 * WW_PROGRAM_WORDS + 2 * WW_SWEEP_PARAMS)

static bool is_ptx(const char *path) {
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".ptx") == 0;
}

/* ---- the compiler ---- */

static bool runs(const char *path) {
    return access(path, X_OK) == 0;
}

/* WARPWATT_NVCC, else the first on PATH, else that of CUDA_HOME or /usr/local/cuda. */
static bool find_nvcc(char *out, size_t room) {
    const char *given = getenv("WARPWATT_NVCC"), *path = getenv("PATH"), *home = getenv("CUDA_HOME");
    if (given) return snprintf(out, room, "%s", given) < (int)room && *given && runs(out);
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        if (n && snprintf(out, room, "%.*s/nvcc", (int)n, p) < (int)room && runs(out)) return true;
        p += n + (p[n] == ':');
    }
    if (home && snprintf(out, room, "%s/bin/nvcc", home) < (int)room && runs(out)) return true;
    return snprintf(out, room, "/usr/local/cuda/bin/nvcc") < (int)room && runs(out);
}

static enum ww_code need_nvcc(char *out, size_t room, struct ww_error *error) {
    if (find_nvcc(out, room)) return WW_OK;
    return ww_fail(
        error, WW_UNSUPPORTED, "nvcc",
        "not found (WARPWATT_NVCC, PATH, CUDA_HOME, /usr/local/cuda): a .cu source needs it; give the variants "
        "as .ptx");
}

enum ww_code ww_program_compiler(struct ww_arena *arena, const char **text, struct ww_error *error) {
    char nvcc[1024];
    struct ww_spawned s;
    WW_TRY(need_nvcc(nvcc, sizeof nvcc, error));
    WW_TRY(ww_spawn((const char *const[]){nvcc, "--version", NULL}, &ww_spawn_usual, &s, error));
    const char *release = s.out.p ? strstr(s.out.p, "release ") : NULL;
    *text =
        ww_arena_printf(arena, "nvcc %.*s", release ? (int)strcspn(release, "\n") : 0, release ? release : "");
    ww_spawned_free(&s);
    return *text ? WW_OK : ww_fail_nomem(error, "a program");
}

/* The virtual architecture to compile for: the wanted one, or what nvcc knows that comes nearest from below, or
 * its oldest. ptxas makes code of the wanted one of it. */
static unsigned virtual_arch(const char *nvcc, unsigned wanted) {
    struct ww_spawned s;
    unsigned below = 0, least = 0;
    if (ww_spawn((const char *const[]){nvcc, "--list-gpu-arch", NULL}, &ww_spawn_usual, &s, NULL) != WW_OK)
        return wanted;
    for (const char *p = s.out.p; p && (p = strstr(p, "compute_")); p++) {
        unsigned a = (unsigned)strtoul(p + 8, NULL, 10);
        if (a <= wanted && a > below) below = a;
        if (!least || a < least) least = a;
    }
    ww_spawned_free(&s);
    return below ? below : least ? least : wanted;
}

/* ---- what a build is made of ---- */

struct build {
    const struct ww_variant_at *at;
    const struct ww_program *program;
    const char *arch;
    const struct ww_build_watch *watch;
    struct ww_buf source, text; /* its name; what is compiled */
    struct ww_buf key;
    struct ww_arena words;
    const char *argv[WORDS_MOST + 1];
    size_t argc;
    struct ww_error *error;
};

static enum ww_code word(struct build *b, const char *fmt, ...) {
    struct ww_buf text = {0};
    char small[2048];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof small || b->argc >= WORDS_MOST)
        return ww_fail(b->error, WW_INPUT, b->at->space->file, "$.program: the command line is too long");
    ww_buf_puts(&text, small);
    b->argv[b->argc] = text.p ? ww_arena_strdup(&b->words, text.p) : NULL;
    ww_buf_free(&text);
    return b->argv[b->argc++] ? WW_OK : ww_fail_nomem(b->error, "a build");
}

static enum ww_code word_of(struct build *b, const char *template) {
    struct ww_buf text = {0};
    enum ww_code code = ww_variant_text(b->at, template, b->at->space->file, &text, b->error);
    if (code == WW_OK) code = word(b, "%s", text.p ? text.p : "");
    ww_buf_free(&text);
    return code;
}

/* "#pragma unroll NAME" of a parameter gets its number, or goes where that is 0; other lines stay. */
static void add_line(struct build *b, const char *line, size_t n) {
    char pragma[16], unroll[16], name[128], rest[4], copy[400];
    bool fits = n < sizeof copy;
    if (fits) snprintf(copy, sizeof copy, "%.*s", (int)n, line);
    if (fits && sscanf(copy, " #%15s %15s %127s %3s", pragma, unroll, name, rest) == 3 &&
        strcmp(pragma, "pragma") == 0 && strcmp(unroll, "unroll") == 0) {
        int64_t v;
        if (ww_expression_is_name(name) && ww_variant_lookup(b->at, name, &v)) {
            if (v) ww_buf_printf(&b->text, "#pragma unroll %" PRId64, v);
            return;
        }
    }
    ww_buf_append(&b->text, line, n);
}

/* The source with a #define for each parameter that reaches it so. */
static enum ww_code make_text(struct build *b) {
    struct ww_buf file;
    const struct ww_variant_at *at = b->at;
    bool header = false;
    WW_TRY(ww_variant_text(at, b->program->source, at->space->file, &b->source, b->error));
    WW_TRY(ww_read_file(b->source.p, FILE_MOST, &file, b->error));
    for (size_t i = 0; i < at->params; i++) {
        if (at->space->param[i].pass != WW_PASS_HEADER) continue;
        ww_buf_printf(&b->text, "#define %s %s\n", at->space->param[i].key, at->level[i]->text);
        header = true;
    }
    if (header) ww_buf_printf(&b->text, "#line 1 \"%s\"\n", b->source.p);
    for (const char *p = file.p; p && *p;) {
        size_t n = strcspn(p, "\n");
        if (header)
            add_line(b, p, n);
        else
            ww_buf_append(&b->text, p, n);
        if (p[n]) ww_buf_byte(&b->text, '\n');
        p += n + (p[n] != 0);
    }
    ww_buf_free(&file);
    return b->text.failed ? ww_fail_nomem(b->error, "a source") : WW_OK;
}

/* nvcc's words but for the two files. */
static enum ww_code nvcc_words(struct build *b) {
    char nvcc[1024];
    const struct ww_variant_at *at = b->at;
    WW_TRY(need_nvcc(nvcc, sizeof nvcc, b->error));
    const char *slash = strrchr(b->source.p, '/');
    WW_TRY(word(b, "%s", nvcc));
    WW_TRY(word(b, "-ptx"));
    WW_TRY(word(b, "-arch=compute_%u", virtual_arch(nvcc, (unsigned)strtoul(b->arch + 3, NULL, 10))));
    WW_TRY(word(b, "-I%.*s", slash ? (int)(slash - b->source.p) : 1, slash ? b->source.p : "."));
    for (size_t i = 0; i < at->params; i++)
        if (at->space->param[i].pass == WW_PASS_DEFINE)
            WW_TRY(word(b, "-D%s=%s", at->space->param[i].key, at->level[i]->text));
    for (size_t i = 0; i < b->program->option_count; i++) WW_TRY(word_of(b, b->program->option[i]));
    return WW_OK;
}

/* A command gets its words, its parameters in the environment, and there the name of the file to write. */
static enum ww_code command_words(struct build *b) {
    const struct ww_variant_at *at = b->at;
    WW_TRY(word(b, "env"));
    for (size_t i = 0; i < at->params; i++)
        if (at->space->param[i].pass == WW_PASS_ENVIRONMENT)
            WW_TRY(word(b, "%s=%s", at->space->param[i].key, at->level[i]->text));
    WW_TRY(word(b, "WARPWATT_ARCH=%s", b->arch));
    for (size_t i = 0; i < b->program->command_count; i++) WW_TRY(word_of(b, b->program->command[i]));
    return WW_OK;
}

static enum ww_code make_key(struct build *b) {
    const struct ww_program *p = b->program;
    ww_buf_printf(&b->key, "%s\n%s\n", p->toolkit, b->arch);
    for (size_t i = 0; i < b->argc; i++) ww_buf_printf(&b->key, "%s\n", b->argv[i]);
    if (b->text.n) ww_buf_append(&b->key, b->text.p, b->text.n);
    for (size_t i = 0; i < p->file_count; i++) {
        struct ww_buf name = {0}, file;
        WW_TRY(ww_variant_text(b->at, p->file[i], b->at->space->file, &name, b->error));
        enum ww_code code = ww_read_file(name.p, FILE_MOST, &file, b->error);
        ww_buf_free(&name);
        WW_TRY(code);
        ww_buf_append(&b->key, file.p, file.n);
        ww_buf_free(&file);
    }
    return b->key.failed ? ww_fail_nomem(b->error, "a build") : WW_OK;
}

/* ---- where builds are kept ---- */

static bool make_folders(char *path) {
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/') continue;
        char end = *p;
        *p = 0;
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = end;
        if (!made || !end) return made;
    }
}

static enum ww_code kept_folder(struct ww_buf *out, struct ww_error *error) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *temp = getenv("TMPDIR");
    if (cache && cache[0] == '/')
        ww_buf_printf(out, "%s/warpwatt/build", cache);
    else if (home && home[0] == '/')
        ww_buf_printf(out, "%s/.cache/warpwatt/build", home);
    if (out->p && make_folders(out->p)) return WW_OK;
    ww_buf_clear(out);
    ww_buf_printf(out, "%s/warpwatt-build-%ld", temp && *temp ? temp : "/tmp", (long)getuid());
    if (out->p && make_folders(out->p)) return WW_OK;
    return ww_fail(error, WW_IO, out->p ? out->p : "builds", "cannot be made: %s", strerror(errno));
}

void ww_program_trim(void) {
    struct ww_buf folder = {0};
    if (kept_folder(&folder, NULL) == WW_OK) ww_ptxas_cache_trim(folder.p, ww_ptxas_cache_limit());
    ww_buf_free(&folder);
}

/* ---- building ---- */

/* The first lines of a compiler's output, on one line, without the folder of the source's copy. */
static void first_words(const struct ww_spawned *s, const char *folder, char out[400]) {
    const struct ww_buf *said = s->err.n ? &s->err : &s->out;
    size_t n = 0, skipped = strlen(folder);
    for (const char *p = said->p; p && *p && n + 3 < 400; p++) {
        if (skipped && strncmp(p, folder, skipped) == 0 && p[skipped] == '/') {
            p += skipped;
            continue;
        }
        bool line = *p == '\n';
        if (line && p[1] && n) out[n++] = ';', out[n++] = ' ';
        if (!line && (unsigned char)*p >= ' ') out[n++] = *p;
    }
    out[n] = 0;
}

/* A source that defines a parameter's macro anew: its value does not reach the code, so that all variants would
 * be the same. The line is the preprocessor's ("FILE:4: warning: "NAME" redefined") or the front end's. */
static enum ww_code check_redefined(const struct build *b, const char *said) {
    const struct ww_variant_at *at = b->at;
    for (size_t i = 0; i < at->params; i++) {
        char mark[2][200];
        const struct ww_sweep_param *p = &at->space->param[i];
        if (p->pass != WW_PASS_DEFINE && p->pass != WW_PASS_HEADER) continue;
        snprintf(mark[0], sizeof mark[0], "\"%s\" redefined", p->key);
        snprintf(mark[1], sizeof mark[1], "redefinition of macro \"%s\"", p->key);
        for (size_t k = 0; k < 2; k++) {
            const char *found = strstr(said, mark[k]), *line = found;
            if (!found) continue;
            while (line > said && line[-1] != '\n') line--;
            return ww_fail(
                b->error, WW_INPUT, b->source.p,
                "redefines the parameter %s, so that its value does not reach the code; guard it with "
                "#ifndef %s (%.*s)",
                p->key, p->key, (int)(found + strlen(mark[k]) - line), line);
        }
    }
    return WW_OK;
}

/* What a build wrote must be a file of PTX's size: it is copied, and a device or a pipe never ends. */
static enum ww_code check_result(const struct build *b, const char *what, const char *result) {
    struct stat s;
    const char *name = b->program->source ? "PTX" : "$WARPWATT_PTX";
    if (lstat(result, &s) != 0) return ww_fail(b->error, WW_INPUT, what, "the build has not written %s", name);
    if (!S_ISREG(s.st_mode))
        return ww_fail(b->error, WW_INPUT, what, "%s is not a regular file after the build", name);
    if ((uint64_t)s.st_size > FILE_MOST)
        return ww_fail(b->error, WW_INPUT, what, "the build has written %lld bytes to %s; expected at most %zu",
                       (long long)s.st_size, name, FILE_MOST);
    return WW_OK;
}

/* The parameter that nvcc does not know in a #pragma unroll; NULL: it says something else. */
static const char *pragma_of(const struct build *b, const struct ww_spawned *s) {
    const char *said = s->err.n ? s->err.p : s->out.p;
    for (size_t i = 0; said && i < b->at->params; i++) {
        const struct ww_sweep_param *p = &b->at->space->param[i];
        char line[200];
        snprintf(line, sizeof line, "#pragma unroll %s", p->key);
        const char *found = p->pass == WW_PASS_DEFINE ? strstr(said, line) : NULL;
        snprintf(line, sizeof line, "identifier \"%s\" is undefined", p->key);
        if (found && strstr(said, line)) return p->key;
    }
    return NULL;
}

static enum ww_code run_build(struct build *b, const char *folder, const char *result) {
    struct ww_spawned s;
    struct ww_error inner = {.code = WW_OK};
    struct ww_spawn_limits limits = {.ms = b->program->timeout_s * 1000u,
                                     .bytes = OUTPUT_MOST,
                                     .goes_on = b->watch ? b->watch->goes_on : NULL,
                                     .context = b->watch ? b->watch->context : NULL};
    enum ww_code code = ww_spawn(b->argv, &limits, &s, &inner);
    const char *what = b->program->source ? b->source.p : b->program->command[0];
    if (code == WW_IO && strstr(inner.text, "was ended"))
        code = ww_fail(b->error, WW_INPUT, what, "the build had not ended after %u s and was ended",
                       b->program->timeout_s);
    else if (code != WW_OK && b->error)
        *b->error = inner;
    if (code == WW_OK && s.status != 0) {
        char said[400];
        first_words(&s, folder, said);
        const char *pragma = pragma_of(b, &s);
        code =
            pragma
                ? ww_fail(b->error, WW_INPUT, what,
                          "does not compile: nvcc takes no macro in \"#pragma unroll %s\"; give the values of"
                          " %s as {\"values\": [...], \"as\": \"header\"}",
                          pragma, pragma)
                : ww_fail(b->error, WW_INPUT, what, "does not compile (exit status %d): %s", s.status, said);
    }
    if (code == WW_OK && b->program->source && s.err.p) code = check_redefined(b, s.err.p);
    ww_spawned_free(&s);
    return code == WW_OK ? check_result(b, what, result) : code;
}

static enum ww_code write_text(const char *path, const struct ww_buf *text, struct ww_error *error) {
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(text->p, 1, text->n, f) == text->n;
    if (f) good = fclose(f) == 0 && good;
    return good ? WW_OK : ww_fail(error, WW_IO, path, "cannot be written: %s", strerror(errno));
}

/* Builds in a folder of its own, then puts the PTX in place whole. */
static enum ww_code build_into(struct build *b, const char *to) {
    struct ww_temp dir = WW_TEMP_NONE;
    char in[4096], out[4096];
    WW_TRY(ww_temp_folder(&dir, b->error));
    enum ww_code code = WW_OK;
    snprintf(in, sizeof in, "%s/source.cu", dir.path);
    snprintf(out, sizeof out, "%s/out.ptx", dir.path);
    if (b->program->source) {
        code = write_text(in, &b->text, b->error);
        if (code == WW_OK) code = word(b, "-o");
        if (code == WW_OK) code = word(b, "%s", out);
        if (code == WW_OK) code = word(b, "%s", in);
    } else {
        char *variable = ww_arena_printf(&b->words, "WARPWATT_PTX=%s", out);
        memmove(&b->argv[2], &b->argv[1], b->argc * sizeof *b->argv);
        b->argv[1] = variable;
        b->argc++;
        if (!variable) code = ww_fail_nomem(b->error, "a build");
    }
    b->argv[b->argc] = NULL;
    if (code == WW_OK) code = run_build(b, dir.path, out);
    if (code == WW_OK) code = ww_sweep_put_file(out, to, b->error);
    ww_temp_remove(&dir);
    return code;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum ww_code build(struct build *b, struct ww_buf *path, double *seconds) {
    if (b->program->source) WW_TRY(make_text(b));
    WW_TRY(b->program->source ? nvcc_words(b) : command_words(b));
    WW_TRY(make_key(b));
    WW_TRY(kept_folder(path, b->error));
    ww_buf_printf(path, "/%016" PRIx64 "%016" PRIx64 ".ptx", ww_hash_bytes(b->key.p, b->key.n, 0),
                  ww_hash_bytes(b->key.p, b->key.n, 1));
    if (path->failed) return ww_fail_nomem(b->error, "a build");
    if (access(path->p, R_OK) == 0) return WW_OK;
    double began = now();
    WW_TRY(build_into(b, path->p));
    *seconds = now() - began;
    return WW_OK;
}

enum ww_code ww_variant_build(const struct ww_variant_at *at, const char *arch,
                              const struct ww_build_watch *watch, struct ww_buf *path, double *seconds,
                              struct ww_error *error) {
    const struct ww_program *p = at->space->program;
    *seconds = 0;
    if (p->source && is_ptx(p->source)) return ww_variant_text(at, p->source, at->space->file, path, error);
    struct build *b = calloc(1, sizeof *b);
    if (!b) return ww_fail_nomem(error, "a build");
    *b = (struct build){.at = at, .program = p, .arch = arch, .watch = watch, .error = error};
    ww_arena_init(&b->words, 0);
    enum ww_code code = build(b, path, seconds);
    ww_buf_free(&b->source);
    ww_buf_free(&b->text);
    ww_buf_free(&b->key);
    ww_arena_free(&b->words);
    free(b);
    return code;
}
