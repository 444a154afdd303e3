#include "outfile.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as Linux has it */

static const char *kind_name(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
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

enum ww_code ww_outfile_resolve(const char *path, char **target, struct ww_error *error) {
    struct stat st;
    *target = NULL;
    if (strcmp(path, "-") == 0 || !*path)
        return ww_fail(error, WW_USAGE, *path ? path : "the output file",
                       *path ? "the output cannot go to standard output; expected a file name"
                             : "the name is empty; expected a file name");
    if (stat(path, &st) != 0) return new_name(path, target, error);
    if (!S_ISREG(st.st_mode))
        return ww_fail(error, WW_USAGE, path, "is %s; expected a regular file or a new name",
                       kind_name(st.st_mode));
    *target = realpath(path, NULL);
    return *target ? WW_OK : ww_fail(error, WW_IO, path, "cannot resolve the name: %s", strerror(errno));
}

enum ww_code ww_outfile_not_input(const char *out, const char *in, struct ww_error *error) {
    struct stat a, b;
    if (stat(out, &a) != 0 || stat(in, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino) return WW_OK;
    return ww_fail(error, WW_USAGE, out, "the output is also an input; expected another name");
}
