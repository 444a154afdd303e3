/* A shard: a part of a sweep's points in a database of its own. It is written on a disk of this machine with a
 * rollback journal, since neither locks nor write-ahead logs are reliable over a network. When complete it is
 * copied to the target's folder under a temporary name, synced and renamed.
 *
 * What was computed before is kept: a local file that a killed program left, or a file that is in place
 * already, is where a shard goes on. A lock keeps two programs on one machine from the same local file. */
#include "../../api/database.h"
#include "../../api/sweep.h"
#include "../../base/locale.h"
#include "../../base/outfile.h"
#include "job.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, LOCK_WAIT_US = 100000 };

struct local {
    char folder[PATH], db[PATH + 96], lock[PATH + 104];
    int fd; /* of the lock */
};

void ww_sweep_shard_points(uint64_t number, uint64_t of, size_t points, size_t *first, size_t *end) {
    *first = (size_t)((number - 1) * points / of);
    *end = (size_t)(number * points / of);
}

/* ---- putting a file in place ---- */

static enum ww_code io_fail(const char *path, const char *doing, struct ww_error *error) {
    return ww_fail(error, WW_IO, path, "%s: %s", doing, strerror(errno));
}

static enum ww_code copy_bytes(int in, int out, const char *from, const char *to, struct ww_error *error) {
    char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(in, buffer, sizeof buffer);
        if (n == 0) return WW_OK;
        if (n < 0 && errno != EINTR) return io_fail(from, "cannot be read", error);
        for (ssize_t at = 0; at < n;) {
            ssize_t w = write(out, buffer + at, (size_t)(n - at));
            if (w < 0 && errno != EINTR) return io_fail(to, "cannot be written", error);
            if (w > 0) at += w;
        }
    }
}

static void folder_of(const char *path, char folder[PATH]) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, PATH, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

/* The rename is durable once the folder is. On a file system that cannot do that, the error is ignored. */
static void sync_folder(const char *path) {
    char name[PATH];
    folder_of(path, name);
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static enum ww_code copy_from(const char *from, int out, const char *to, struct ww_error *error) {
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) return io_fail(from, "cannot be opened", error);
    enum ww_code code = copy_bytes(in, out, from, to, error);
    close(in);
    return code;
}

enum ww_code ww_sweep_put_file(const char *from, const char *to, struct ww_error *error) {
    struct ww_temp temp;
    WW_TRY(ww_temp_beside(to, &temp, error));
    enum ww_code code = copy_from(from, temp.fd, to, error);
    if (code == WW_OK && (fsync(temp.fd) != 0 || rename(temp.path, to) != 0))
        code = io_fail(to, "cannot be put in place", error);
    if (code != WW_OK) {
        ww_temp_remove(&temp);
        return code;
    }
    ww_temp_kept(&temp);
    sync_folder(to);
    return WW_OK;
}

/* Puts the finished shard where --into says. */
static enum ww_code put_shard(const char *from, const char *into, struct ww_error *error) {
    struct ww_outfile file;
    WW_TRY(ww_outfile_open(&file, into, WW_OUTFILE_DATABASE, error));
    enum ww_code code = copy_from(from, file.fd, into, error);
    if (code == WW_OK && file.target && fsync(file.fd) != 0) code = io_fail(into, "cannot be written", error);
    WW_TRY(ww_outfile_close(&file, code, error));
    sync_folder(into);
    return WW_OK;
}

/* ---- the local file ---- */

/* A folder of this user alone, since others may write where it is. */
static enum ww_code make_folder(const struct sweep_job *job, struct local *l, struct ww_error *error) {
    const char *base = job->options->shard->local, *tmp = getenv("TMPDIR");
    struct stat st;
    if (!base) base = tmp && *tmp ? tmp : "/tmp";
    if (snprintf(l->folder, sizeof l->folder, "%s/warpwatt-%lu", base, (unsigned long)geteuid()) >=
        (int)sizeof l->folder)
        return ww_fail(error, WW_USAGE, "--node-dir", "the path is too long");
    if (mkdir(l->folder, 0700) != 0 && errno != EEXIST) return io_fail(l->folder, "cannot be made", error);
    if (lstat(l->folder, &st) != 0) return io_fail(l->folder, "cannot be examined", error);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return ww_fail(error, WW_IO, l->folder, "is not a folder that this user alone can write");
    return WW_OK;
}

/* Whether the name still stands for what is locked: another program may have ended and removed it. */
static bool is_ours(const struct local *l) {
    struct stat a, b;
    return fstat(l->fd, &a) == 0 && stat(l->lock, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Another program that computes the same shard here is waited for. */
static enum ww_code lock(const struct sweep_job *job, struct local *l, struct ww_error *error) {
    const struct ww_sweep_options *o = job->options;
    for (;;) {
        l->fd = open(l->lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (l->fd < 0) return io_fail(l->lock, "cannot be opened", error);
        while (flock(l->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK && errno != EINTR) return io_fail(l->lock, "cannot be locked", error);
            if (o->progress && !o->progress(o->context, -1, 0, "points"))
                return ww_fail(error, WW_FAIL, o->space, "stopped");
            usleep(LOCK_WAIT_US);
        }
        if (is_ours(l)) return WW_OK;
        close(l->fd);
    }
}

static void remove_local(const struct local *l) {
    char journal[sizeof l->db + 16];
    snprintf(journal, sizeof journal, "%s-journal", l->db);
    unlink(journal);
    unlink(l->db);
}

static enum ww_code open_local(struct sweep_job *job, const struct local *l, struct ww_error *error) {
    WW_TRY(ww_db_open_for(l->db, WW_DB_SHARD, &job->db, error));
    WW_TRY(ww_db_check_pages(job->db, error));
    return ww_db_sweep_begin(job->db, &job->head, error);
}

static bool holds_some(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Goes on with what there is; a file that a machine without power left damaged is begun anew. */
static enum ww_code begin(struct sweep_job *job, const struct local *l, struct ww_error *error) {
    const char *into = job->options->shard->into;
    struct ww_error first = {.code = WW_OK};
    if (access(l->db, F_OK) != 0 && holds_some(into)) WW_TRY(ww_sweep_put_file(into, l->db, error));
    enum ww_code code = open_local(job, l, &first);
    if (code == WW_DB) {
        ww_db_close(job->db);
        job->db = NULL;
        remove_local(l);
        return open_local(job, l, error);
    }
    if (code != WW_OK && error) *error = first;
    return code;
}

/* ---- the shard ---- */

enum ww_code ww_sweep_check_into(const struct ww_sweep_options *o, struct ww_error *error) {
    const char *into = o->shard->into;
    if (!into || !*into) return ww_fail(error, WW_USAGE, "--into", "expected a file for the shard");
    WW_TRY(ww_outfile_not_input(into, o->space, error));
    return ww_outfile_check(into, WW_OUTFILE_DATABASE, error);
}

static enum ww_code check(struct sweep_job *job, char hash[WW_CONFIG_HASH], struct ww_error *error) {
    const struct ww_sweep_shard *s = job->options->shard;
    char folder[PATH];
    for (size_t i = 0; i < job->space.trace_count; i++)
        WW_TRY(ww_outfile_not_input(s->into, job->space.trace[i].path, error));
    folder_of(s->into, folder);
    if (access(folder, W_OK | X_OK) != 0) return io_fail(folder, "no file can be made there", error);
    if (s->of < 1 || s->number < 1 || s->number > s->of)
        return ww_fail(error, WW_USAGE, "--shard",
                       "%" PRIu64 " of %" PRIu64 ": expected 1 to the number of shards", s->number, s->of);
    if (s->of > job->plan.count)
        return ww_fail(error, WW_USAGE, "--of",
                       "%" PRIu64 " shards of %zu points: expected no more than points", s->of,
                       job->plan.count);
    WW_TRY(ww_db_sweep_hash(&job->head, hash, error));
    if (s->sweep_hash && strcmp(s->sweep_hash, hash) != 0)
        return ww_fail(
            error, WW_MISMATCH, job->options->space,
            "this is not the sweep that was submitted (%.16s, expected %.16s): the space file, a trace,"
            " the GPU, the power table, the options or the program is another one",
            hash, s->sweep_hash);
    ww_sweep_shard_points(s->number, s->of, job->plan.count, &job->first, &job->end);
    return WW_OK;
}

/* Stores what there is also when it was stopped: the next try goes on from there. */
static enum ww_code compute(struct sweep_job *job, const struct local *l, struct ww_sweep_summary *summary,
                            struct ww_error *error) {
    enum ww_code code = ww_sweep_run_points(job, summary, error);
    ww_db_close(job->db);
    job->db = NULL;
    if (code != WW_OK && code != WW_FAIL) return code;
    struct ww_error late = {.code = WW_OK};
    enum ww_code put = put_shard(l->db, job->options->shard->into, code == WW_OK ? error : &late);
    if (code == WW_OK) code = put;
    if (put == WW_OK) remove_local(l);
    return code;
}

enum ww_code ww_sweep_run_shard(struct sweep_job *job, struct ww_sweep_summary *summary,
                                struct ww_error *error) {
    struct local l = {.fd = -1};
    char hash[WW_CONFIG_HASH];
    WW_TRY(check(job, hash, error));
    WW_TRY(make_folder(job, &l, error));
    snprintf(l.db, sizeof l.db, "%s/%s-%zu-%zu.db", l.folder, hash, job->first, job->end);
    snprintf(l.lock, sizeof l.lock, "%s.lock", l.db);
    enum ww_code code = lock(job, &l, error);
    if (code == WW_OK) code = begin(job, &l, error);
    if (code == WW_OK) code = compute(job, &l, summary, error);
    if (code == WW_OK) unlink(l.lock);
    if (l.fd >= 0) close(l.fd);
    return code;
}

enum ww_code ww_sweep_merge(const char *db, const char *const *from, size_t count,
                            struct ww_sweep_merged *merged, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_db *into;
    struct ww_db_merged m = {0};
    for (size_t i = 0; i < count && access(db, F_OK) != 0; i++) /* before a database is made for nothing */
        WW_TRY(ww_db_check_merge(from[i], error));
    WW_TRY(ww_db_open(db, true, &into, error));
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++) code = ww_db_merge(into, from[i], &m, error);
    if (code == WW_OK)
        ww_db_close(into);
    else
        ww_db_close_unused(into);
    *merged = (struct ww_sweep_merged){m.sweeps, m.points, m.results};
    return code;
}
