/* Where data files (GPU models, power tables) are looked for. */
#include "../api/gpu.h"
#include "../base/locale.h"
#include "find.h"
#include "../base/nearest.h"
#include "gpu.h"
#include "json.h"
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef WW_PREFIX
#define WW_PREFIX "/usr/local"
#endif
#define SOURCE_DEPTH 6  /* build/VARIANT/tests/unit/PROGRAM is four levels below the source tree */
#define LIBRARY_DEPTH 6 /* lib/warpwatt/cudart/libcudart.so is three levels below the prefix */

enum ww_code ww_names_add(struct ww_names *names, const char *text, struct ww_error *error) {
    char **more = realloc(names->name, (names->count + 1) * sizeof *more);
    if (!more) return ww_fail_nomem(error, "a list of names");
    names->name = more;
    more[names->count] = strdup(text);
    if (!more[names->count]) return ww_fail_nomem(error, "a list of names");
    names->count++;
    return WW_OK;
}

void ww_names_free(struct ww_names *names) {
    if (!names) return;
    for (size_t i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
    *names = (struct ww_names){0};
}

/* Adds DIR/TAIL unless it would be too long to be a path here. */
static enum ww_code add_dir(struct ww_names *dirs, const char *dir, const char *tail, struct ww_error *error) {
    char path[WW_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", dir, tail);
    if (n < 0 || (size_t)n >= sizeof path) return WW_OK;
    return ww_names_add(dirs, path, error);
}

/* Cuts the last component off; false if there is none left. */
static bool parent(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = 0;
    return true;
}

static bool is_source_tree(const char *dir) {
    char probe[PATH_MAX + 32];
    snprintf(probe, sizeof probe, "%s/estimator/warpwatt.h", dir);
    return access(probe, R_OK) == 0;
}

/* The data of the source tree that `file` was built in. */
static enum ww_code add_by_source(struct ww_names *dirs, const char *file, const char *source_subdir,
                                  struct ww_error *error) {
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", file);
    for (int i = 0; i <= SOURCE_DEPTH && parent(root); i++)
        if (is_source_tree(root)) return add_dir(dirs, root, source_subdir, error);
    return WW_OK;
}

/* Directories that follow from where the executable lies. */
static enum ww_code add_by_executable(struct ww_names *dirs, const char *exe, const char *share,
                                      const char *source_subdir, struct ww_error *error) {
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", exe);
    WW_TRY(add_by_source(dirs, exe, source_subdir, error));
    return parent(dir) && parent(dir) ? add_dir(dirs, dir, share, error) : WW_OK;
}

/* Directories that follow from where this code lies, if that is a library in another's program: it is installed
 * some levels below the prefix (lib, lib/TRIPLET, lib/warpwatt/cudart). */
static enum ww_code add_by_library(struct ww_names *dirs, const char *exe, const char *share,
                                   const char *source_subdir, struct ww_error *error) {
    static const char here[] = "";
    Dl_info self;
    char dir[PATH_MAX], path[PATH_MAX + 64];
    if (!dladdr(here, &self) || !realpath(self.dli_fname, dir) || strcmp(dir, exe) == 0) return WW_OK;
    WW_TRY(add_by_source(dirs, dir, source_subdir, error));
    for (int i = 0; i <= LIBRARY_DEPTH && parent(dir); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, share);
        if (access(path, R_OK) == 0) return add_dir(dirs, dir, share, error);
    }
    return WW_OK;
}

static enum ww_code collect_dirs(const char *subdir, struct ww_names *dirs, struct ww_error *error) {
    const char *source_subdir = strcmp(subdir, "power") == 0 ? "power/tables" : subdir;
    const char *models = getenv("WARPWATT_MODELS"), *data = getenv("WARPWATT_DATA");
    if (models && *models && strcmp(subdir, "models") == 0) WW_TRY(ww_names_add(dirs, models, error));
    if (data && *data) WW_TRY(add_dir(dirs, data, subdir, error));
    char share[64], exe[PATH_MAX];
    snprintf(share, sizeof share, "share/warpwatt/%s", subdir);
    if (!realpath("/proc/self/exe", exe)) *exe = 0;
    WW_TRY(add_by_library(dirs, exe, share, source_subdir, error));
    WW_TRY(add_by_executable(dirs, exe, share, source_subdir, error));
    return add_dir(dirs, WW_PREFIX, share, error);
}

enum ww_code ww_data_dirs(const char *subdir, struct ww_names *dirs, struct ww_error *error) {
    *dirs = (struct ww_names){0};
    enum ww_code code = collect_dirs(subdir, dirs, error);
    if (code != WW_OK) ww_names_free(dirs);
    return code;
}

static bool listed(const struct ww_names *names, const char *text, size_t n) {
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->name[i], text, n) == 0 && names->name[i][n] == 0) return true;
    return false;
}

static enum ww_code add_json_names(const char *dir, struct ww_names *names, struct ww_error *error) {
    DIR *d = opendir(dir);
    if (!d) return WW_OK; /* most of the folders searched do not exist */
    enum ww_code code = WW_OK;
    for (struct dirent *e; code == WW_OK && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n <= 5 || strcmp(e->d_name + n - 5, ".json") != 0 || strchr("._", e->d_name[0])) continue;
        if (listed(names, e->d_name, n - 5)) continue;
        e->d_name[n - 5] = 0;
        code = ww_names_add(names, e->d_name, error);
    }
    closedir(d);
    return code;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum ww_code ww_data_names(const char *subdir, struct ww_names *names, struct ww_error *error) {
    *names = (struct ww_names){0};
    struct ww_names dirs;
    WW_TRY(ww_data_dirs(subdir, &dirs, error));
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < dirs.count && code == WW_OK; i++) code = add_json_names(dirs.name[i], names, error);
    ww_names_free(&dirs);
    if (code != WW_OK)
        ww_names_free(names);
    else if (names->count)
        qsort(names->name, names->count, sizeof *names->name, by_name);
    return code;
}

enum ww_code ww_gpu_names(struct ww_names *names, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    return ww_data_names("models", names, error);
}

/* The file name of the model that calls itself `name`, or NULL. */
static const char *called(const char *name, const struct ww_names *known) {
    for (size_t i = 0; i < known->count; i++) {
        char path[WW_PATH_MAX];
        cJSON *root;
        if (ww_find_data("models", known->name[i], path, sizeof path, NULL) != WW_OK) continue;
        if (ww_json_load(path, &root, NULL) != WW_OK) continue;
        const cJSON *own = cJSON_GetObjectItemCaseSensitive(root, "name");
        bool same = cJSON_IsString(own) && strcmp(own->valuestring, name) == 0;
        cJSON_Delete(root);
        if (same) return known->name[i];
    }
    return NULL;
}

/* The error for a name that no directory holds: the nearest one that exists, and where was searched. */
static enum ww_code fail_unknown(const char *subdir, const char *name, const struct ww_names *dirs,
                                 struct ww_error *error) {
    struct ww_buf text = {0};
    struct ww_names known = {0};
    ww_buf_printf(&text, "%s \"%.80s\" not found", strcmp(subdir, "models") ? "power table" : "GPU", name);
    if (ww_data_names(subdir, &known, NULL) == WW_OK) {
        struct ww_nearest near;
        ww_nearest_init(&near, name);
        for (size_t i = 0; i < known.count; i++) ww_nearest_offer(&near, known.name[i]);
        const char *best = strcmp(subdir, "models") == 0 ? called(name, &known) : NULL;
        if (best) ww_buf_printf(&text, "; the model whose \"name\" is that is loaded as \"%s\"", best);
        if (!best && (best = ww_nearest_get(&near))) ww_buf_printf(&text, "; did you mean \"%s\"?", best);
    }
    ww_buf_puts(&text, " (looked in");
    for (size_t i = 0; i < dirs->count; i++) ww_buf_printf(&text, "%s %s", i ? "," : "", dirs->name[i]);
    ww_buf_puts(&text, ")");
    enum ww_code code = ww_fail(error, WW_INPUT, "", "%s", text.p ? text.p : "not found");
    ww_names_free(&known);
    ww_buf_free(&text);
    return code;
}

enum ww_code ww_find_data(const char *subdir, const char *name, char *out, size_t out_size,
                          struct ww_error *error) {
    struct ww_names dirs;
    WW_TRY(ww_data_dirs(subdir, &dirs, error));
    bool found = false;
    if (*name && *name != '.' && !strchr(name, '/')) /* a name, not a way out of the directories */
        for (size_t i = 0; i < dirs.count && !found; i++) {
            int n = snprintf(out, out_size, "%s/%s.json", dirs.name[i], name);
            found = n > 0 && (size_t)n < out_size && access(out, R_OK) == 0;
        }
    enum ww_code code = found ? WW_OK : fail_unknown(subdir, name, &dirs, error);
    ww_names_free(&dirs);
    return code;
}
