/* ptxas_cache.c: compiled code that is kept between runs.
 *
 * A file is | magic 8 bytes | bytes of the key u64 | bytes of the code u64 | hash of both u64 | key | code |,
 * its name the hash of key and PTX text. The key in the file must be the one asked for, so that a clash of
 * names is no error.
 */
#include "../../../estimator/base/hash.h"
#include "../../../estimator/base/tempfile.h"
#include "../../../estimator/config/json.h"
#include "ptxas.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "WWPTXAS1"
#define HEADER 32u
#define FILE_MAX ((size_t)1 << 30)
#define SEED_NAME 1
#define SEED_NAME_2 2
#define SEED_CONTENT 3

/* Everything that decides about the code, as text: the key, and two hashes of the PTX. */
static void full_key(const char *key, const char *text, size_t n, struct ww_buf *out) {
    ww_buf_printf(out, "%s\n%zu %016llx %016llx", key, n, (unsigned long long)ww_hash_bytes(text, n, SEED_NAME),
                  (unsigned long long)ww_hash_bytes(text, n, SEED_NAME_2));
}

static bool make_directories(struct ww_buf *path) {
    for (char *p = path->p + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        bool made = mkdir(path->p, 0777) == 0 || errno == EEXIST;
        *p = '/';
        if (!made) return false;
    }
    return true;
}

/* The file of a key; false if there is no place for a cache. */
static bool file_of(const struct ww_buf *full, struct ww_buf *path) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        ww_buf_puts(path, cache);
    else if (home && home[0] == '/')
        ww_buf_printf(path, "%s/.cache", home);
    else
        return false;
    ww_buf_printf(path, "/warpwatt/ptxas/%016llx%016llx.cubin",
                  (unsigned long long)ww_hash_bytes(full->p, full->n, SEED_NAME),
                  (unsigned long long)ww_hash_bytes(full->p, full->n, SEED_NAME_2));
    return !path->failed;
}

static uint64_t get64(const char *p) {
    uint64_t v = 0;
    for (unsigned i = 8; i > 0; i--) v = v << 8 | (unsigned char)p[i - 1];
    return v;
}

static uint64_t content_hash(const struct ww_buf *full, const char *code, size_t n) {
    return ww_hash_bytes(code, n, ww_hash_bytes(full->p, full->n, SEED_CONTENT));
}

static bool fits(const struct ww_buf *file, const struct ww_buf *full) {
    if (file->n < HEADER || memcmp(file->p, MAGIC, 8) != 0) return false;
    uint64_t key = get64(file->p + 8), code = get64(file->p + 16);
    if (key != full->n || key > file->n - HEADER || code != file->n - HEADER - key) return false;
    if (memcmp(file->p + HEADER, full->p, full->n) != 0) return false;
    return get64(file->p + 24) == content_hash(full, file->p + HEADER + key, (size_t)code);
}

bool ww_ptxas_cache_get(const char *key, const char *text, size_t n, struct ww_buf *cubin) {
    struct ww_buf full = {0}, path = {0}, file = {0};
    full_key(key, text, n, &full);
    bool found = !full.failed && file_of(&full, &path) && access(path.p, R_OK) == 0 &&
                 ww_read_file(path.p, FILE_MAX, &file, NULL) == WW_OK && fits(&file, &full);
    if (found) utimensat(AT_FDCWD, path.p, NULL, 0); /* the one unused for longest goes first */
    if (found) ww_buf_append(cubin, file.p + HEADER + full.n, file.n - HEADER - full.n);
    ww_buf_free(&full);
    ww_buf_free(&path);
    ww_buf_free(&file);
    return found && !cubin->failed;
}

static bool write_all(int fd, const struct ww_buf *b) {
    for (size_t at = 0; at < b->n;) {
        ssize_t n = write(fd, b->p + at, b->n - at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += (size_t)n;
    }
    return true;
}

/* Under a name of its own first, so that a file is whole or not there. */
static bool write_file(struct ww_buf *path, const struct ww_buf *file) {
    struct ww_temp temp;
    if (!make_directories(path) || ww_temp_beside(path->p, &temp, NULL) != WW_OK) return false;
    bool whole = write_all(temp.fd, file) && rename(temp.path, path->p) == 0;
    if (whole)
        ww_temp_kept(&temp);
    else
        ww_temp_remove(&temp);
    return whole;
}

/* Keeps the folder of the file below the limit. */
static void trim(struct ww_buf *path) {
    char *slash = strrchr(path->p, '/');
    *slash = 0;
    ww_ptxas_cache_trim(path->p, ww_ptxas_cache_limit());
    *slash = '/';
}

void ww_ptxas_cache_put(const char *key, const char *text, size_t n, const struct ww_buf *cubin) {
    struct ww_buf full = {0}, path = {0}, file = {0};
    full_key(key, text, n, &full);
    if (!full.failed && file_of(&full, &path)) {
        ww_buf_puts(&file, MAGIC);
        ww_buf_u64(&file, full.n);
        ww_buf_u64(&file, cubin->n);
        ww_buf_u64(&file, content_hash(&full, cubin->p, cubin->n));
        ww_buf_append(&file, full.p, full.n);
        ww_buf_append(&file, cubin->p, cubin->n);
        if (!file.failed && file.n <= ww_ptxas_cache_limit() && write_file(&path, &file)) trim(&path);
    }
    ww_buf_free(&full);
    ww_buf_free(&path);
    ww_buf_free(&file);
}
