/* Writing exported text. */
#include "output.h"
#include "../../estimator/base/tempfile.h"
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER 65536u
#define XZ_LEVEL 6u

struct ww_as_output {
    char *path;
    struct ww_temp temp; /* in the path's folder, until the file is complete */
    int fd;              /* temp's */
    bool xz;
    lzma_stream stream;
    uint64_t bytes;
    unsigned char buffer[BUFFER];
};

static enum ww_code put(struct ww_as_output *o, const void *data, size_t n, struct ww_error *error) {
    const char *p = data;
    o->bytes += n;
    while (n) {
        ssize_t r = write(o->fd, p, n);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return ww_fail(error, WW_IO, o->path, "cannot write: %s", strerror(errno));
        p += r;
        n -= (size_t)r;
    }
    return WW_OK;
}

static enum ww_code there_already(const char *path, struct ww_error *error) {
    return ww_fail(error, WW_USAGE, path, "it is there already; expected a folder without it");
}

enum ww_code ww_as_output_open(const char *path, bool xz, struct ww_as_output **out, struct ww_error *error) {
    static const lzma_stream none = LZMA_STREAM_INIT;
    struct ww_as_output *o = calloc(1, sizeof *o);
    *out = o;
    if (!o) return ww_fail_nomem(error, "a file");
    o->fd = -1;
    o->temp = WW_TEMP_NONE;
    o->xz = xz;
    o->stream = none;
    o->path = strdup(path);
    if (!o->path || (xz && lzma_easy_encoder(&o->stream, XZ_LEVEL, LZMA_CHECK_CRC64) != LZMA_OK))
        return ww_fail_nomem(error, "a file");
    if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return there_already(path, error);
    enum ww_code code = ww_temp_beside(path, &o->temp, error);
    o->fd = o->temp.fd;
    return code;
}

static enum ww_code compress(struct ww_as_output *o, const void *data, size_t n, lzma_action action,
                             struct ww_error *error) {
    o->stream.next_in = data;
    o->stream.avail_in = n;
    for (;;) {
        o->stream.next_out = o->buffer;
        o->stream.avail_out = BUFFER;
        lzma_ret r = lzma_code(&o->stream, action);
        WW_TRY(put(o, o->buffer, BUFFER - o->stream.avail_out, error));
        if (r == LZMA_STREAM_END) return WW_OK;
        if (r != LZMA_OK && r != LZMA_BUF_ERROR) return ww_fail_nomem(error, "compressing");
        if (action == LZMA_RUN && !o->stream.avail_in && o->stream.avail_out) return WW_OK;
    }
}

enum ww_code ww_as_output_write(struct ww_as_output *o, const void *data, size_t n, struct ww_error *error) {
    if (!n) return WW_OK;
    return o->xz ? compress(o, data, n, LZMA_RUN, error) : put(o, data, n, error);
}

/* Gives the file its name, unless another one has it by now. */
static enum ww_code put_in_place(const struct ww_as_output *o, struct ww_error *error) {
    int again = fcntl(o->fd, F_DUPFD_CLOEXEC,
                      0); /* closing tells what a file system could not do; o->fd has the lock */
    if (again >= 0 && close(again) != 0)
        return ww_fail(error, WW_IO, o->path, "cannot write: %s", strerror(errno));
    int rc = renameat2(AT_FDCWD, o->temp.path, AT_FDCWD, o->path, RENAME_NOREPLACE);
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS)) /* a file system without that renaming */
        rc = access(o->path, F_OK) == 0 ? (errno = EEXIST, -1) : rename(o->temp.path, o->path);
    if (rc == 0) return WW_OK;
    if (errno == EEXIST) return there_already(o->path, error);
    return ww_fail(error, WW_IO, o->path, "cannot create: %s", strerror(errno));
}

enum ww_code ww_as_output_close(struct ww_as_output *o, enum ww_code code, uint64_t *bytes,
                                struct ww_error *error) {
    if (!o) return code;
    if (code == WW_OK && o->xz) code = compress(o, NULL, 0, LZMA_FINISH, error);
    if (code == WW_OK) code = put_in_place(o, error);
    if (code == WW_OK) {
        *bytes += o->bytes;
        ww_temp_kept(&o->temp);
    } else {
        ww_temp_remove(&o->temp);
    }
    lzma_end(&o->stream);
    free(o->path);
    free(o);
    return code;
}
