/* The folder that a sweep's tasks and its driver share. */
#include "slurm.h"
#include "../../config/json.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ww_code io_fail(const char *path, const char *doing, struct ww_error *error) {
    return ww_fail(error, WW_IO, path, "%s: %s", doing, strerror(errno));
}

void ww_slurm_path(const struct slurm *s, char out[SLURM_PATH + 64], const char *fmt, ...) {
    va_list args;
    int n = snprintf(out, SLURM_PATH + 64, "%s/", s->folder);
    va_start(args, fmt);
    if (n > 0 && n < SLURM_PATH + 64) vsnprintf(out + n, (size_t)(SLURM_PATH + 64 - n), fmt, args);
    va_end(args);
}

enum ww_code ww_slurm_write(const struct slurm *s, const char *name, const struct ww_buf *text,
                            struct ww_error *error) {
    char path[SLURM_PATH + 64], beside[SLURM_PATH + 80];
    if (text->failed) return ww_fail_nomem(error, "a file of the sweep");
    ww_slurm_path(s, path, "%s", name);
    snprintf(beside, sizeof beside, "%s.tmp", path);
    FILE *f = fopen(beside, "we");
    if (!f) return io_fail(path, "cannot be made", error);
    bool good = fwrite(text->p, 1, text->n, f) == text->n && fflush(f) == 0 && fsync(fileno(f)) == 0;
    good = fclose(f) == 0 && good;
    if (good && rename(beside, path) == 0) return WW_OK;
    enum ww_code code = io_fail(path, "cannot be written", error);
    unlink(beside);
    return code;
}

/* ---- making it ---- */

static enum ww_code make(const char *path, struct ww_error *error) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return WW_OK;
    return io_fail(path, "cannot be made", error);
}

static enum ww_code refuse_folder(const char *path, struct ww_error *error) {
    return ww_fail(error, WW_USAGE, "--dir", "\"%.200s\": expected a path without %%, \\ and line ends", path);
}

/* Absolute, since tasks may run elsewhere. Slurm would read % and \ in the name of a task's log. */
static enum ww_code name_folder(struct slurm *s, struct ww_error *error) {
    char base[SLURM_PATH];
    const char *given = s->options->folder;
    int n = given ? snprintf(base, sizeof base, "%s", given)
                  : snprintf(base, sizeof base, "%s.slurm", s->job->options->db);
    if (n >= (int)sizeof base) return ww_fail(error, WW_USAGE, "--dir", "the path is too long");
    char *here = base[0] == '/' ? NULL : getcwd(NULL, 0); /* before a folder is made */
    bool plain = !strpbrk(base, "%\\\n") && !(here && strpbrk(here, "%\\\n"));
    free(here);
    if (!plain) return refuse_folder(base, error);
    WW_TRY(make(base, error));
    char *absolute = realpath(base, NULL);
    if (!absolute) return io_fail(base, "cannot be resolved", error);
    n = snprintf(s->folder, sizeof s->folder, "%s/%.16s", absolute, s->hash);
    free(absolute);
    if (n >= (int)sizeof s->folder) return ww_fail(error, WW_USAGE, "--dir", "the path is too long");
    if (strpbrk(s->folder, "%\\\n")) return refuse_folder(s->folder, error); /* by way of a link */
    return make(s->folder, error);
}

static enum ww_code take_lock(struct slurm *s, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    ww_slurm_path(s, path, "lock");
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0) return io_fail(path, "cannot be opened", error);
    if (flock(s->lock, LOCK_EX | LOCK_NB) == 0) return WW_OK;
    if (errno == EWOULDBLOCK)
        return ww_fail(error, WW_DB, s->folder, "another warpwatt drives this sweep; wait for it, or end it");
    return io_fail(path, "cannot be locked", error);
}

static enum ww_code put_space(const struct slurm *s, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    ww_slurm_path(s, path, "space.json");
    return ww_sweep_put_file(s->job->options->space, path, error);
}

static enum ww_code put_traces(const struct slurm *s, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    const struct ww_sweep_space *space = &s->job->space;
    ww_slurm_path(s, path, "traces");
    WW_TRY(make(path, error));
    for (size_t i = 0; i < space->trace_count; i++) {
        ww_slurm_path(s, path, "traces/%zu.wwt", i);
        if (space->trace[i].workload && access(path, F_OK) != 0)
            WW_TRY(ww_sweep_put_file(space->trace[i].path, path, error));
    }
    return WW_OK;
}

/* How many shards: as it was when the first were submitted, since files and tasks have their numbers. */
static enum ww_code count_shards(struct slurm *s, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    struct ww_buf text = {0};
    size_t points = s->job->plan.count, each = s->options->shard_points;
    s->shards = (points + each - 1) / each;
    ww_slurm_path(s, path, "shards");
    if (access(path, F_OK) != 0) {
        ww_buf_printf(&text, "%zu\n", s->shards);
        enum ww_code code = ww_slurm_write(s, "shards", &text, error);
        ww_buf_free(&text);
        return code;
    }
    WW_TRY(ww_read_file(path, 100, &text, error));
    unsigned long long was = text.p ? strtoull(text.p, NULL, 10) : 0;
    ww_buf_free(&text);
    if (was < 1 || was > points)
        return ww_fail(error, WW_DB, path, "%llu shards of %zu points: the file is damaged; remove the folder",
                       was, points);
    if (was != s->shards) ww_slurm_note(s, "the sweep continues with its original %llu shards", was);
    s->shards = (size_t)was;
    return WW_OK;
}

/* ---- lists of arrays ---- */

static enum ww_code grow_lists(struct slurm *s, struct ww_error *error) {
    struct slurm_list *list = realloc(s->list, (s->lists + 1) * sizeof *list);
    if (!list) return ww_fail_nomem(error, "the arrays of a sweep");
    s->list = list;
    s->list[s->lists++] = (struct slurm_list){0};
    return WW_OK;
}

/* Lines of list-L.txt; what is no shard becomes 0. */
static enum ww_code read_list(struct slurm *s, unsigned l, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    struct ww_buf text;
    struct slurm_list *list = &s->list[l - 1];
    ww_slurm_path(s, path, "list-%u.txt", l);
    WW_TRY(ww_read_file(path, (size_t)64 << 20, &text, error));
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++) lines += text.p[i] == '\n';
    list->number = calloc(lines + 1, sizeof *list->number);
    char *at = text.p;
    for (; list->number && list->count < lines; at = strchr(at, '\n') + 1) {
        unsigned long v = strtoul(at, NULL, 10);
        list->number[list->count++] = v <= s->shards ? (uint32_t)v : 0;
    }
    ww_buf_free(&text);
    return list->number ? WW_OK : ww_fail_nomem(error, "the arrays of a sweep");
}

/* What was submitted before. */
static enum ww_code read_lists(struct slurm *s, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    for (;;) {
        ww_slurm_path(s, path, "list-%u.txt", s->lists + 1);
        if (access(path, F_OK) != 0) return WW_OK;
        WW_TRY(grow_lists(s, error));
        WW_TRY(read_list(s, s->lists, error));
    }
}

enum ww_code ww_slurm_add_list(struct slurm *s, const uint32_t *number, size_t count, struct ww_error *error) {
    char name[32];
    struct ww_buf text = {0};
    for (size_t i = 0; i < count; i++) ww_buf_printf(&text, "%" PRIu32 "\n", number[i]);
    snprintf(name, sizeof name, "list-%u.txt", s->lists + 1);
    enum ww_code code = ww_slurm_write(s, name, &text, error);
    ww_buf_free(&text);
    if (code == WW_OK) code = grow_lists(s, error);
    return code == WW_OK ? read_list(s, s->lists, error) : code;
}

void ww_slurm_drop_list(struct slurm *s) {
    char path[SLURM_PATH + 64];
    ww_slurm_path(s, path, "list-%u.txt", s->lists);
    unlink(path);
    free(s->list[--s->lists].number);
}

enum ww_code ww_slurm_folder_open(struct slurm *s, struct ww_error *error) {
    s->lock = -1;
    WW_TRY(name_folder(s, error));
    WW_TRY(take_lock(s, error));
    WW_TRY(put_space(s, error));
    WW_TRY(put_traces(s, error));
    WW_TRY(count_shards(s, error));
    WW_TRY(read_lists(s, error));
    s->shard = calloc(s->shards, sizeof *s->shard);
    if (!s->shard) return ww_fail_nomem(error, "the shards of a sweep");
    for (size_t i = 0; i < s->shards; i++)
        ww_sweep_shard_points(i + 1, s->shards, s->job->plan.count, &s->shard[i].first, &s->shard[i].end);
    return WW_OK;
}

void ww_slurm_folder_close(struct slurm *s) {
    if (s->lock >= 0) close(s->lock);
    s->lock = -1;
    for (unsigned i = 0; i < s->lists; i++) free(s->list[i].number);
    free(s->list);
    free(s->shard);
    s->list = NULL;
    s->shard = NULL;
    s->lists = 0;
}

/* ---- removing it ---- */

static void empty(const char *folder) {
    char path[SLURM_PATH + 64 + 300];
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    if (d) closedir(d);
}

void ww_slurm_folder_remove(const struct slurm *s) {
    char path[SLURM_PATH + 64];
    ww_slurm_path(s, path, "traces");
    empty(path);
    rmdir(path);
    empty(s->folder);
    rmdir(s->folder);
    snprintf(path, sizeof path, "%s", s->folder);
    *strrchr(path, '/') = 0;
    if (!s->options->folder) rmdir(path); /* unless another sweep of this database is in it */
}

/* ---- what tasks say ---- */

void ww_slurm_last_line(const struct slurm *s, const struct slurm_shard *shard, char out[300]) {
    char path[SLURM_PATH + 64], text[2001];
    out[0] = 0;
    ww_slurm_path(s, path, "log-%" PRIu64 "_%" PRIu64 ".txt", shard->array, shard->index);
    FILE *f = shard->array ? fopen(path, "re") : NULL;
    if (!f) return;
    if (fseek(f, -2000, SEEK_END) != 0) rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' ')) n--;
    text[n] = 0;
    const char *line = strrchr(text, '\n');
    snprintf(out, 300, "%.299s", line ? line + 1 : text);
}
