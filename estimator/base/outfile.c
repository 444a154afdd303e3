/* Output files: which ones may be replaced, and how. */
#include "outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as Linux has it */
#define HEAD 16384   /* first bytes of a file, which tell its kind */

/* ---- kinds ---- */

/* The first bytes of a file; a NUL stands behind them. */
struct head {
    size_t n;
    char byte[HEAD + 1];
};

static bool begins(const struct head *h, const char *text, size_t n) {
    return h->n >= n && memcmp(h->byte, text, n) == 0;
}

#define BEGINS(h, text) begins(h, text, sizeof(text) - 1)

static bool is_trace(const struct head *h) {
    return BEGINS(h, "\x89WWT\r\n\x1a\n");
}

static bool is_database(const struct head *h) {
    const unsigned char *id = (const unsigned char *)h->byte + 68; /* application id, big-endian */
    return h->n >= 100 && begins(h, "SQLite format 3", 16) &&
           ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) ==
               WW_DB_APPLICATION_ID;
}

static bool is_profile(const struct head *h) {
    return BEGINS(h, "WWPROF");
}

static bool is_page(const struct head *h) {
    return BEGINS(h, "<!DOCTYPE html>") && strstr(h->byte, "content=\"warpwatt ");
}

/* A JSON object with this key near its beginning. */
static bool has_key(const struct head *h, const char *key) {
    return h->byte[strspn(h->byte, " \t\r\n")] == '{' && strstr(h->byte, key);
}

static bool is_gpu(const struct head *h) {
    return has_key(h, "\"inherits\"");
}

static bool is_power(const struct head *h) {
    return has_key(h, "\"sources\"") && strstr(h->byte, "\"events\"");
}

static bool is_fit(const struct head *h) {
    return BEGINS(h, "/* Written by `warpwatt calibrate analytic`");
}

static bool is_script(const struct head *h) {
    return BEGINS(h, "# gnuplot ");
}

/* Text whose first line behind comments begins with a number or a title in quotes, and no comma behind it. */
static bool is_data(const struct head *h) {
    const char *p = h->byte;
    while (*p == '#' || *p == '\n') p += *p == '#' ? strcspn(p, "\n") : 1;
    bool starts = strspn(p, "\"-.N0123456789") || strncmp(p, "pattern ", 8) == 0 || !*p;
    return strlen(h->byte) == h->n && starts && p[strcspn(p, ", \t\n")] != ',';
}

static bool is_svg(const struct head *h) {
    return (BEGINS(h, "<?xml") || BEGINS(h, "<svg")) && strstr(h->byte, "<svg");
}

static bool is_png(const struct head *h) {
    return BEGINS(h, "\x89PNG\r\n\x1a\n");
}

static const struct {
    const char *name;
    bool (*is)(const struct head *h);
} kinds[WW_OUTFILE_KINDS] = {
    [WW_OUTFILE_TRACE] = {"a trace", is_trace},
    [WW_OUTFILE_DATABASE] = {"a database of warpwatt", is_database},
    [WW_OUTFILE_PROFILE] = {"a trace's profile", is_profile},
    [WW_OUTFILE_PAGE] = {"an HTML report of warpwatt", is_page},
    [WW_OUTFILE_GPU] = {"a GPU file that inherits from another", is_gpu},
    [WW_OUTFILE_POWER] = {"a power table", is_power},
    [WW_OUTFILE_FIT] = {"a fit of the analytical model", is_fit},
    [WW_OUTFILE_SCRIPT] = {"a gnuplot script", is_script},
    [WW_OUTFILE_DATA] = {"data for gnuplot", is_data},
    [WW_OUTFILE_SVG] = {"an SVG image", is_svg},
    [WW_OUTFILE_PNG] = {"a PNG image", is_png},
};

static enum ww_code read_head(const char *path, struct head *h, struct ww_error *error) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = 0;
    h->n = 0;
    while (fd >= 0 && h->n < HEAD && (n = read(fd, h->byte + h->n, HEAD - h->n)) > 0) h->n += (size_t)n;
    int why = errno;
    h->byte[h->n] = 0;
    if (fd >= 0) close(fd);
    if (fd >= 0 && n >= 0) return WW_OK;
    return ww_fail(error, WW_IO, path, "the file is there and cannot be examined: %s", strerror(why));
}

/* Whether the existing file is of the kind that is written. */
static enum ww_code check_kind(const char *path, enum ww_outfile_kind kind, struct ww_error *error) {
    struct head *h = malloc(sizeof *h);
    if (!h) return ww_fail_nomem(error, "a file's first bytes");
    enum ww_code code = read_head(path, h, error);
    const char *what = "a file of another kind";
    for (int k = 0; k < WW_OUTFILE_KINDS; k++)
        if (k != WW_OUTFILE_DATA && kinds[k].is(h)) what = kinds[k].name;
    if (code == WW_OK && h->n && !kinds[kind].is(h))
        code = ww_fail(error, WW_USAGE, path,
                       "is %s, which is not written over; expected a new name, an empty file, or %s to replace",
                       what, kinds[kind].name);
    free(h);
    return code;
}

/* ---- names ---- */

/* What cannot be written at all, or NULL. */
static const char *unfit(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFSOCK:
        return "a socket";
    case S_IFBLK:
        return "a block device";
    default:
        return NULL;
    }
}

/* Replaces *path, a symbolic link, by what it names; a relative text counts from the link's directory. */
static bool follow(char **path) {
    char text[PATH_MAX];
    ssize_t n = readlink(*path, text, sizeof text - 1);
    if (n < 0) return false;
    text[n] = 0;
    const char *slash = strrchr(*path, '/');
    size_t dir = text[0] == '/' || !slash ? 0 : (size_t)(slash - *path) + 1;
    char *next = malloc(dir + (size_t)n + 1);
    if (!next) return false;
    memcpy(next, *path, dir);
    memcpy(next + dir, text, (size_t)n + 1);
    free(*path);
    *path = next;
    return true;
}

/* A name that does not exist: what a link without a file stands for, or the name itself. */
static enum ww_code new_name(const char *path, char **target, struct ww_error *error) {
    struct stat st;
    char *at = strdup(path);
    for (int i = 0; at && lstat(at, &st) == 0 && S_ISLNK(st.st_mode); i++)
        if (i == LINKS_MAX || !follow(&at)) {
            free(at);
            return ww_fail(error, WW_IO, path, "the symbolic link cannot be followed");
        }
    *target = at;
    return at ? WW_OK : ww_fail_nomem(error, "a path");
}

/* The number of the open descriptor that the name itself stands for, or -1. */
static int descriptor(const char *path) {
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
        size_t n = strlen(folder[i]);
        if (strncmp(path, folder[i], n) != 0) continue;
        size_t digits = strspn(path + n, "0123456789");
        if (digits && digits < 8 && !path[n + digits]) return atoi(path + n);
    }
    return -1;
}

/* The same through symbolic links to such a name. */
static int descriptor_of(const char *path) {
    struct stat st;
    char *at = strdup(path);
    int fd = at ? descriptor(at) : -1;
    for (int i = 0; at && fd < 0 && i < LINKS_MAX && lstat(at, &st) == 0 && S_ISLNK(st.st_mode); i++) {
        if (!follow(&at)) break;
        fd = descriptor(at);
    }
    free(at);
    return fd;
}

/* An open descriptor is written directly: after a rename over its file, the one who opened it would not see the
 * output. The file must be empty. */
static enum ww_code check_descriptor(const char *path, int fd, struct ww_error *error) {
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) != 0)
        return ww_fail(error, WW_IO, path, "the descriptor is not open for writing");
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        return ww_fail(error, WW_USAGE, path,
                       "the descriptor's file is not empty; expected an empty one, or the file's own name");
    return WW_OK;
}

enum ww_code ww_outfile_resolve(const char *path, enum ww_outfile_kind kind, char **target,
                                struct ww_error *error) {
    struct stat st;
    *target = NULL;
    if (strcmp(path, "-") == 0 || !*path)
        return ww_fail(error, WW_USAGE, *path ? path : "the output file",
                       *path ? "is not a file name; expected one (/dev/stdout is standard output)"
                             : "the name is empty; expected a file name");
    int fd = descriptor_of(path);
    if (fd >= 0) return check_descriptor(path, fd, error);
    if (stat(path, &st) != 0) return new_name(path, target, error);
    if (unfit(st.st_mode))
        return ww_fail(error, WW_USAGE, path, "is %s; expected a new name, an empty file, or %s to replace",
                       unfit(st.st_mode), kinds[kind].name);
    if (!S_ISREG(st.st_mode)) return WW_OK;
    if (st.st_size > 0) WW_TRY(check_kind(path, kind, error));
    *target = realpath(path, NULL);
    return *target ? WW_OK : ww_fail(error, WW_IO, path, "cannot resolve the name: %s", strerror(errno));
}

enum ww_code ww_outfile_check(const char *path, enum ww_outfile_kind kind, struct ww_error *error) {
    char *target;
    WW_TRY(ww_outfile_resolve(path, kind, &target, error));
    free(target);
    return WW_OK;
}

enum ww_code ww_outfile_check_in(const char *folder, const char *name, struct ww_error *error) {
    static const struct {
        const char *ending;
        enum ww_outfile_kind kind;
    } by_ending[] = {{".gp", WW_OUTFILE_SCRIPT},
                     {".dat", WW_OUTFILE_DATA},
                     {".svg", WW_OUTFILE_SVG},
                     {".png", WW_OUTFILE_PNG}};
    char path[PATH_MAX];
    const char *ending = strrchr(name, '.');
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return ww_fail(error, WW_USAGE, folder, "the path is too long");
    for (size_t i = 0; i < sizeof by_ending / sizeof *by_ending && ending; i++)
        if (strcmp(by_ending[i].ending, ending) == 0) return ww_outfile_check(path, by_ending[i].kind, error);
    return ww_fail(error, WW_INTERNAL, path, "a file of a kind that has no rule");
}

enum ww_code ww_outfile_not_input(const char *out, const char *in, struct ww_error *error) {
    struct stat a, b;
    if (!in || stat(out, &a) != 0 || stat(in, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return WW_OK;
    if (!S_ISREG(a.st_mode)) return WW_OK;
    return ww_fail(error, WW_USAGE, out, "the output is also an input; expected another name");
}

/* ---- writing ---- */

static enum ww_code open_target(struct ww_outfile *f, struct ww_error *error) {
    if (f->target) {
        enum ww_code code = ww_temp_beside(f->target, &f->temp, error);
        f->fd = f->temp.fd;
        return code;
    }
    int fd = descriptor_of(f->path);
    f->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : open(f->path, O_WRONLY | O_CLOEXEC);
    return f->fd >= 0 ? WW_OK : ww_fail(error, WW_IO, f->path, "cannot be opened: %s", strerror(errno));
}

static void forget(struct ww_outfile *f) {
    free(f->path);
    free(f->target);
    *f = (struct ww_outfile){.temp = WW_TEMP_NONE, .fd = -1};
}

enum ww_code ww_outfile_open(struct ww_outfile *f, const char *path, enum ww_outfile_kind kind,
                             struct ww_error *error) {
    *f = (struct ww_outfile){.path = strdup(path), .temp = WW_TEMP_NONE, .fd = -1};
    enum ww_code code = f->path ? WW_OK : ww_fail_nomem(error, "a file");
    if (code == WW_OK) code = ww_outfile_resolve(path, kind, &f->target, error);
    if (code == WW_OK) code = open_target(f, error);
    if (code != WW_OK) forget(f);
    return code;
}

enum ww_code ww_outfile_stream(struct ww_outfile *f, const char *path, enum ww_outfile_kind kind,
                               struct ww_error *error) {
    WW_TRY(ww_outfile_open(f, path, kind, error));
    int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0); /* the stream's own; the other one keeps the lock */
    f->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f->stream) return WW_OK;
    if (fd >= 0) close(fd);
    return ww_outfile_close(f, ww_fail(error, WW_IO, path, "cannot be opened: %s", strerror(errno)), error);
}

/* Whether all was written. Closing any descriptor of a file tells what a file system could not do; the one with
 * the lock stays open until the file has its name. */
static bool is_written(struct ww_outfile *f) {
    bool bad = f->stream && ferror(f->stream); /* errno is of the write that failed, or of one behind it */
    int again = f->stream || f->fd < 0 ? -1 : fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    if (f->stream && fclose(f->stream) != 0) bad = true;
    f->stream = NULL;
    if (again >= 0 && close(again) != 0) bad = true;
    return !bad;
}

enum ww_code ww_outfile_close(struct ww_outfile *f, enum ww_code code, struct ww_error *error) {
    bool bad = !is_written(f);
    if (code == WW_OK && !bad && f->temp.path && rename(f->temp.path, f->target) != 0) bad = true;
    if (code == WW_OK && bad)
        code = ww_fail(error, WW_IO, f->path, "cannot be written: %s", strerror(errno ? errno : EIO));
    else if (code == WW_IO && error &&
             !error->where[0]) /* of a function that prints, which has the stream alone */
        ww_error_within(error, f->path);
    if (!f->target && f->fd >= 0) close(f->fd);
    if (code == WW_OK)
        ww_temp_kept(&f->temp);
    else
        ww_temp_remove(&f->temp);
    forget(f);
    return code;
}
