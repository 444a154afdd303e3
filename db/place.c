/* Storing by path: a new database appears under its name only with a result in it. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/base/locale.h"
#include "../estimator/base/tempfile.h"
#include "db.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that stand for no file count as there: opening refuses them. */
static bool is_there(const char *path) {
    struct stat st;
    return !path || !*path || strcmp(path, ":memory:") == 0 || strcmp(path, "-") == 0 ||
           lstat(path, &st) == 0 || errno != ENOENT;
}

/* Brings what is in the log into the file, which is renamed without it. Closing does so, too, but does not say
 * when the disk is full. */
static enum ww_code complete(struct ww_db *db, struct ww_error *error) {
    int rc = sqlite3_wal_checkpoint_v2(db->sql, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc == SQLITE_OK ? WW_OK : ww_db_fail(db, "storing a run", error);
}

/* Makes a database under a name of its own, with `result` in it unless that is NULL. */
static enum ww_code fill(const char *path, const char *name, const struct ww_result *result, int64_t *id,
                         struct ww_error *error) {
    struct ww_db *db;
    enum ww_code code = ww_db_open(name, true, &db, error);
    if (code == WW_OK && result) code = ww_db_store(db, result, id, error);
    if (code == WW_OK) code = complete(db, error);
    ww_db_close(db);
    if (code != WW_OK && error) snprintf(error->where, sizeof error->where, "%s", path);
    return code;
}

/* Checks that there is space, and permission to make files. */
static enum ww_code try_new(const char *path, struct ww_error *error) {
    struct ww_temp temp;
    WW_TRY(ww_temp_beside(path, &temp, error));
    enum ww_code code = fill(path, temp.path, NULL, NULL, error);
    ww_temp_remove(&temp);
    return code;
}

static enum ww_code check_lock(struct ww_db *db, struct ww_error *error) {
    if (sqlite3_db_readonly(db->sql, "main") == 1)
        return ww_fail(error, WW_IO, db->path, "cannot be written: the file or its folder is read-only");
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "locking", error));
    return ww_db_exec(db, "ROLLBACK", "unlocking", error);
}

enum ww_code ww_db_check_path(const char *path, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_db *db;
    struct stat st;
    if (!is_there(path)) return try_new(path, error);
    if (path && *path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return access(path, W_OK) == 0 ? WW_OK
                                       : ww_fail(error, WW_IO, path, "cannot be written: %s", strerror(errno));
    WW_TRY(ww_db_open(path, true, &db, error));
    enum ww_code code = check_lock(db, error);
    ww_db_close(db);
    return code;
}

static enum ww_code store_there(const char *path, const struct ww_result *result, int64_t *id,
                                struct ww_error *error) {
    struct ww_db *db;
    WW_TRY(ww_db_open(path, true, &db, error));
    enum ww_code code = ww_db_store(db, result, id, error);
    ww_db_close(db);
    return code;
}

/* Gives the new database its name. *taken: another program has made one of that name meanwhile. */
static enum ww_code put_in_place(const char *name, const char *path, bool *taken, struct ww_error *error) {
    if (renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return WW_OK;
    *taken = errno == EEXIST;
    if (*taken) return WW_OK;
    /* a file system without that operation */
    if ((errno == EINVAL || errno == ENOSYS) && link(name, path) == 0) return WW_OK;
    *taken = errno == EEXIST;
    return *taken ? WW_OK : ww_fail(error, WW_IO, path, "cannot create: %s", strerror(errno));
}

enum ww_code ww_db_store_at(const char *path, const struct ww_result *result, int64_t *run_id,
                            struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_temp temp;
    bool taken = false;
    if (is_there(path)) return store_there(path, result, run_id, error);
    WW_TRY(ww_temp_beside(path, &temp, error));
    enum ww_code code = fill(path, temp.path, result, run_id, error);
    if (code == WW_OK) code = put_in_place(temp.path, path, &taken, error);
    ww_temp_remove(&temp);
    return code == WW_OK && taken ? store_there(path, result, run_id, error) : code;
}
