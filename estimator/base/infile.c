/* Opening a file to read it. */
#include "infile.h"
#include "err.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a FIFO has a name in some folder: a shell's pipe, /dev/fd/63, is of the same file system as ours. */
static bool has_name(const struct stat *fifo) {
    struct stat own;
    int fd[2];
    if (pipe(fd) != 0) return true;
    bool named = fstat(fd[0], &own) != 0 || own.st_dev != fifo->st_dev;
    close(fd[0]);
    close(fd[1]);
    return named;
}

static enum ww_code examine(int fd, const char *path, struct ww_error *error) {
    struct stat st;
    if (fstat(fd, &st) != 0) return ww_fail(error, WW_IO, path, "cannot examine: %s", strerror(errno));
    if (S_ISDIR(st.st_mode)) return ww_fail(error, WW_IO, path, "is a directory, expected a file");
    if (S_ISFIFO(st.st_mode) && has_name(&st)) return ww_fail(error, WW_IO, path, "is a FIFO, expected a file");
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return ww_fail(error, WW_IO, path, "cannot examine: %s", strerror(errno));
    return WW_OK;
}

enum ww_code ww_infile_open(const char *path, FILE **file, struct ww_error *error) {
    *file = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return ww_fail(error, WW_IO, path, "cannot open: %s", strerror(errno));
    enum ww_code code = examine(fd, path, error);
    if (code == WW_OK && !(*file = fdopen(fd, "rb")))
        code = ww_fail(error, WW_IO, path, "cannot open: %s", strerror(errno));
    if (code != WW_OK) close(fd);
    return code;
}
