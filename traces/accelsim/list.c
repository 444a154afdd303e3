/* What a path names: a trace, a list of traces, or a folder with a list. */
#include "import.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 1000000u

void ww_as_files_free(struct ww_as_files *f) {
    for (size_t i = 0; i < f->count; i++) free(f->path[i]);
    free(f->path);
    free(f->list);
    *f = (struct ww_as_files){0};
}

static enum ww_code add(struct ww_as_files *f, char *path, struct ww_error *error) {
    if (path && f->count == f->room) {
        size_t room = f->room ? f->room * 2 : 16;
        char **p = realloc(f->path, room * sizeof *p);
        if (!p) {
            free(path);
            path = NULL;
        } else {
            f->path = p;
            f->room = room;
        }
    }
    if (!path) return ww_fail_nomem(error, "a list of traces");
    f->path[f->count++] = path;
    return WW_OK;
}

static char *join(const char *folder, size_t n, const char *name, size_t length, const char *suffix) {
    char *s = malloc(n + length + strlen(suffix) + 2);
    if (s) sprintf(s, "%.*s%s%.*s%s", (int)n, folder, n ? "/" : "", (int)length, name, suffix);
    return s;
}

/* The entry as it is, compressed, or as the post-processor's .tracez. */
static enum ww_code find_entry(const struct ww_as_input *in, const char *folder, size_t n, const char *name,
                               char **out, struct ww_error *error) {
    static const char *const suffix[] = {"", ".xz", ".gz", ".zst"};
    size_t length = strlen(name);
    bool grouped = length > 7 && strcmp(name + length - 7, ".traceg") == 0;
    for (size_t i = 0; i < 4 + (size_t)grouped; i++) {
        *out = i < 4 ? join(folder, n, name, length, suffix[i]) : join(folder, n, name, length - 1, "z");
        if (!*out) return ww_fail_nomem(error, "a list of traces");
        if (access(*out, F_OK) == 0) return WW_OK;
        free(*out);
        *out = NULL;
    }
    return ww_as_bad(in, error, "there is no %.200s in the list's folder, nor one that is compressed", name);
}

/* "MemcpyHtoD,0x00007f...,4096" */
static enum ww_code count_copy(struct ww_as_files *f, const struct ww_as_input *in, const char *line,
                               struct ww_error *error) {
    const char *comma = strrchr(line, ','), *p = comma ? comma + 1 : line;
    uint64_t bytes;
    if (!comma || !ww_as_dec(&p, &bytes) || *p || __builtin_add_overflow(f->copy_bytes, bytes, &f->copy_bytes))
        return ww_as_bad(in, error, "\"%.60s\"; expected a copy such as MemcpyHtoD,0x7f0000000000,4096", line);
    f->copies++;
    return WW_OK;
}

/* What stands behind "-ctx_" in the name of a list or a kernel's file: the CUDA context, of which each GPU and
 * each process has its own. Its length at *n, 0 if the name has none. */
static const char *context_of(const char *name, size_t *n) {
    const char *at = strstr(name, "ctx_");
    *n = at ? strcspn(at + 4, ".-_") : 0;
    return at ? at + 4 : NULL;
}

/* A trace is of one GPU: kernels of two contexts are not joined, since which came first is not in the files. */
static enum ww_code check_context(const struct ww_as_files *f, const struct ww_as_input *in, const char *line,
                                  struct ww_error *error) {
    const char *slash = f->count ? strrchr(f->path[0], '/') : NULL;
    size_t ours, first;
    const char *context = context_of(line, &ours);
    const char *other = f->count ? context_of(slash ? slash + 1 : f->path[0], &first) : NULL;
    if (!context || !other || (ours == first && strncmp(context, other, ours) == 0)) return WW_OK;
    ww_as_bad(in, error,
              "a kernel of CUDA context %.*s; the list begins with context %.*s. A trace is of one GPU: import "
              "the kernels of each context from a list of their own",
              (int)ours, context, (int)first, other);
    if (error) error->code = WW_UNSUPPORTED;
    return WW_UNSUPPORTED;
}

static enum ww_code list_line(struct ww_as_files *f, const struct ww_as_input *in, const char *path, char *line,
                              struct ww_error *error) {
    const char *slash = strrchr(path, '/');
    char *entry = NULL;
    size_t n = strlen(line);
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t')) line[--n] = 0;
    if (!n || *line == '#') return WW_OK;
    if (strncmp(line, "Memcpy", 6) == 0) return count_copy(f, in, line, error);
    if (strncmp(line, "kernel", 6) != 0)
        return ww_as_bad(in, error, "\"%.60s\"; expected a kernel-N.trace.. file or a Memcpy line", line);
    WW_TRY(check_context(f, in, line, error));
    if (f->count >= FILES_MAX) return ww_as_bad(in, error, "more than %u kernels", FILES_MAX);
    WW_TRY(find_entry(in, path, slash ? (size_t)(slash - path) : 0, line, &entry, error));
    return add(f, entry, error);
}

/* The first line that is not blank tells a list from a trace. */
static enum ww_code read_file(const char *path, struct ww_as_files *f, struct ww_error *error) {
    struct ww_as_input *in;
    char *line;
    size_t n;
    WW_TRY(ww_as_input_open(path, &in, error));
    enum ww_code code;
    do code = ww_as_input_line(in, &line, &n, error);
    while (code == WW_OK && line && !*line);
    if (code == WW_OK && !line)
        code = ww_as_bad(in, error, "the file is empty; expected a trace or a list of traces");
    else if (code == WW_OK && *line == '-')
        code = add(f, strdup(path), error);
    else if (code == WW_OK && !(f->list = strdup(path)))
        code = ww_fail_nomem(error, "a list of traces");
    else
        while (code == WW_OK && line) {
            code = list_line(f, in, path, line, error);
            if (code == WW_OK) code = ww_as_input_line(in, &line, &n, error);
        }
    ww_as_input_close(in);
    return code;
}

/* "kernelslist_ctx_A.g" stands for "kernelslist_ctx_A", too, which the post-processor made it from. */
static bool is_same_list(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > 2 && strcmp(a + n - 2, ".g") == 0) n -= 2;
    if (m > 2 && strcmp(b + m - 2, ".g") == 0) m -= 2;
    return n == m && strncmp(a, b, n) == 0;
}

/* The only kernelslist* of a folder at *list; false: no memory. */
static bool take_list(const char *folder, size_t n, const char *name, char **list, char **other) {
    const char *had = *list ? *list + n + 1 : NULL;
    char **to = !had ? list : is_same_list(had, name) ? NULL : other;
    if (!to && strlen(name) > strlen(had)) {
        free(*list);
        *list = NULL;
        to = list;
    }
    if (!to || *to) return true;
    *to = join(folder, n, name, strlen(name), "");
    return *to != NULL;
}

static enum ww_code several(const char *folder, size_t n, const char *a, const char *b,
                            struct ww_error *error) {
    if (!a || !b) return WW_OK;
    bool first = strcmp(a, b) < 0;
    return ww_fail(
        error, WW_USAGE, folder,
        "several lists of kernels, such as %.80s and %.80s, one for each CUDA context: of several GPUs "
        "or processes a trace holds one; name a list",
        (first ? a : b) + n + 1, (first ? b : a) + n + 1);
}

/* kernelslist.g, else kernelslist, else the only kernelslist* there is. */
static enum ww_code list_of(const char *folder, char **list, struct ww_error *error) {
    static const char *const names[] = {"kernelslist.g", "kernelslist"};
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    for (size_t i = 0; i < 2; i++) {
        *list = join(folder, n, names[i], strlen(names[i]), "");
        if (!*list) return ww_fail_nomem(error, "a list of traces");
        if (access(*list, F_OK) == 0) return WW_OK;
        free(*list);
        *list = NULL;
    }
    char *other = NULL;
    bool room = true;
    DIR *d = opendir(folder);
    if (!d) return ww_fail(error, WW_IO, folder, "cannot open: %s", strerror(errno));
    for (const struct dirent *e; room && (e = readdir(d));)
        if (strncmp(e->d_name, "kernelslist", 11) == 0) room = take_list(folder, n, e->d_name, list, &other);
    closedir(d);
    if (room && *list && !other) return WW_OK;
    enum ww_code code = several(folder, n, room ? *list : NULL, other, error);
    free(*list);
    free(other);
    *list = NULL;
    if (!room) return ww_fail_nomem(error, "a list of traces");
    if (code != WW_OK) return code;
    return ww_fail(error, WW_INPUT, folder, "no kernelslist.g or kernelslist is there");
}

enum ww_code ww_as_files_find(const char *path, struct ww_as_files *files, struct ww_error *error) {
    struct stat st;
    char *list = NULL;
    *files = (struct ww_as_files){0};
    if (stat(path, &st) != 0)
        return ww_fail(error, WW_IO, *path ? path : "\"\"", "cannot open: %s", strerror(errno));
    if (S_ISDIR(st.st_mode)) WW_TRY(list_of(path, &list, error));
    enum ww_code code = read_file(list ? list : path, files, error);
    if (code == WW_OK && !files->count)
        code = ww_fail(error, WW_INPUT, list ? list : path, "the list names no kernel");
    free(list);
    return code;
}
