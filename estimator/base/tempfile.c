/* Temporary files and folders: made, locked, and removed when their process has ended. */
#include "tempfile.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FILE_MARK ".tmp-ww-"
#define FOLDER_MARK "warpwatt-tmp-"
#define TRIES 1000 /* names of one process */

bool ww_is_network_fs(uint64_t f_type) {
    static const uint32_t types[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB2 */
        0x5346414f, /* AFS */
        0x01021997, /* 9P */
        0x65735546, /* FUSE: sshfs and others, which cannot be told apart */
        0x00c36400, /* Ceph */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x7461636f, /* OCFS2 */
        0x01161970, /* GFS2 */
        0x73757245, /* Coda */
        0x19830326, /* BeeGFS */
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint32_t)f_type == types[i]) return true;
    return false;
}

/* ---- names and locks ---- */

/* "PID" or "PID-N", and nothing behind it. */
static bool is_number(const char *text) {
    size_t n = strspn(text, "0123456789");
    if (n == 0) return false;
    if (text[n] != '-') return text[n] == 0;
    size_t more = strspn(text + n + 1, "0123456789");
    return more > 0 && text[n + 1 + more] == 0;
}

static bool is_temp_file(const char *name) {
    const char *mark = NULL;
    for (const char *at = name; (at = strstr(at, FILE_MARK)); at++) mark = at;
    return mark && mark != name && is_number(mark + strlen(FILE_MARK));
}

static bool is_temp_folder(const char *name) {
    size_t n = strlen(FOLDER_MARK);
    return strncmp(name, FOLDER_MARK, n) == 0 && is_number(name + n);
}

/* Whether the name still stands for what was opened: another program may have removed it meanwhile. */
static bool still_there(int fd, int dir, const char *name) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* ---- taking away ---- */

/* A database that is being written has further files next to it. */
static void remove_file(int dir, const char *name) {
    static const char *const suffix[] = {"-journal", "-wal", "-shm"};
    char companion[NAME_MAX + 16];
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        snprintf(companion, sizeof companion, "%s%s", name, suffix[i]);
        unlinkat(dir, companion, 0);
    }
    unlinkat(dir, name, 0);
}

/* Removes the files of an open folder, and of the folders in it. Takes the descriptor. */
static void empty_folder(int fd, int depth) {
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (unlinkat(dirfd(d), e->d_name, 0) == 0 || depth == 0) continue;
        int inner = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) empty_folder(inner, depth - 1);
        unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

static void remove_folder(int dir, const char *name) {
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) empty_folder(fd, 1);
    unlinkat(dir, name, AT_REMOVEDIR);
}

/* Removes one if it is this user's and no process holds its lock. */
static void take_away(int dir, const char *name, bool folder) {
    struct stat st;
    int kind = folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_NONBLOCK;
    int fd = openat(dir, name, kind | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    bool ours = fstat(fd, &st) == 0 && st.st_uid == geteuid() && (folder || S_ISREG(st.st_mode));
    if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0 && still_there(fd, dir, name))
        (folder ? remove_folder : remove_file)(dir, name);
    close(fd);
}

/* Those in `folder` whose process has ended. */
static void take_away_all(const char *folder, bool folders) {
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if ((folders ? is_temp_folder : is_temp_file)(e->d_name)) take_away(dirfd(d), e->d_name, folders);
    if (d) closedir(d);
}

static bool has_locks(const char *folder) {
    struct statfs fs;
    return statfs(folder, &fs) == 0 && !ww_is_network_fs((uint64_t)fs.f_type);
}

/* ---- making ---- */

/* One name: the file or folder is made and locked. false, with errno EEXIST: another name may be free. */
static bool make_one(struct ww_temp *t, bool folder, bool lock) {
    if (folder && mkdir(t->path, 0700) != 0) return false;
    int kind = folder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW : O_RDWR | O_CREAT | O_EXCL;
    t->fd = open(t->path, kind | O_CLOEXEC, 0666);
    if (t->fd < 0) {
        if (folder && errno == ENOENT) errno = EEXIST; /* removed before it was locked */
        return false;
    }
    bool locked = lock && flock(t->fd, LOCK_EX | LOCK_NB) == 0;
    bool taken = lock && !locked && errno == EWOULDBLOCK; /* by a process that is removing it */
    if (!taken && (!locked || still_there(t->fd, AT_FDCWD, t->path))) return true;
    close(t->fd);
    t->fd = -1;
    errno = EEXIST;
    return false;
}

static enum ww_code make(const char *stem, bool folder, bool lock, struct ww_temp *t, struct ww_error *error) {
    size_t room = strlen(stem) + 48;
    *t = WW_TEMP_NONE;
    t->path = malloc(room);
    if (!t->path) return ww_fail_nomem(error, "a temporary file");
    for (int i = 0; i < TRIES; i++) {
        int n = snprintf(t->path, room, "%s%ld", stem, (long)getpid());
        if (i) snprintf(t->path + n, room - (size_t)n, "-%d", i);
        if (make_one(t, folder, lock)) return WW_OK;
        if (errno != EEXIST) break;
    }
    free(t->path);
    *t = WW_TEMP_NONE;
    return WW_IO;
}

enum ww_code ww_temp_beside(const char *target, struct ww_temp *temp, struct ww_error *error) {
    const char *slash = strrchr(target, '/');
    size_t n = slash ? (size_t)(slash - target) + 1 : 0, room = strlen(target) + sizeof FILE_MARK;
    char *folder = n ? strndup(target, n) : strdup("."), *stem = malloc(room);
    enum ww_code code = folder && stem ? WW_OK : ww_fail_nomem(error, "a temporary file");
    *temp = WW_TEMP_NONE;
    if (code == WW_OK) {
        bool locks = has_locks(folder);
        if (locks) take_away_all(folder, false);
        snprintf(stem, room, "%s" FILE_MARK, target);
        code = make(stem, false, locks, temp, error);
        if (code == WW_IO) ww_fail(error, WW_IO, target, "cannot create: %s", strerror(errno));
    }
    free(folder);
    free(stem);
    return code;
}

enum ww_code ww_temp_folder(struct ww_temp *temp, struct ww_error *error) {
    const char *base = getenv("TMPDIR");
    char stem[PATH_MAX];
    *temp = WW_TEMP_NONE;
    if (!base || !*base) base = "/tmp";
    if (snprintf(stem, sizeof stem, "%s/" FOLDER_MARK, base) >= (int)sizeof stem)
        return ww_fail(error, WW_IO, base, "the path is too long");
    bool locks = has_locks(base);
    if (locks) take_away_all(base, true);
    enum ww_code code = make(stem, true, locks, temp, error);
    if (code == WW_IO)
        ww_fail(error, WW_IO, base, "no temporary folder can be made there: %s", strerror(errno));
    return code;
}

bool ww_temp_remove_of(const char *target, long pid) {
    char name[PATH_MAX + 64];
    int n = snprintf(name, sizeof name, "%s" FILE_MARK "%ld", target, pid);
    if (n < 0 || n >= (int)sizeof name || access(name, F_OK) != 0) return false;
    remove_file(AT_FDCWD, name);
    return true;
}

void ww_temp_kept(struct ww_temp *temp) {
    if (temp->fd >= 0) close(temp->fd);
    free(temp->path);
    *temp = WW_TEMP_NONE;
}

void ww_temp_remove(struct ww_temp *temp) {
    if (temp->path) {
        const char *slash = strrchr(temp->path, '/');
        bool folder = is_temp_folder(slash ? slash + 1 : temp->path);
        if (folder)
            remove_folder(AT_FDCWD, temp->path);
        else
            remove_file(AT_FDCWD, temp->path);
    }
    ww_temp_kept(temp);
}
