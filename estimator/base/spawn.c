#include "spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Reads both pipes until the program has closed them. */
static void drain(int out, int err, struct ww_spawned *s) {
    struct pollfd p[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    struct ww_buf *to[2] = {&s->out, &s->err};
    char buffer[4096];
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) return;
        for (int i = 0; i < 2; i++) {
            if (p[i].fd < 0 || !p[i].revents) continue;
            ssize_t n = read(p[i].fd, buffer, sizeof buffer);
            if (n > 0) ww_buf_append(to[i], buffer, (size_t)n);
            if (n == 0 || (n < 0 && errno != EINTR)) p[i].fd = -1;
        }
    }
}

static int start(const char *const *argv, int out, int err, pid_t *pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&files)) return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawnp(pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static enum ww_code run(const char *const *argv, const int out[2], int err[2], struct ww_spawned *s,
                        struct ww_error *error) {
    pid_t pid;
    int rc = start(argv, out[1], err[1], &pid), status = 0;
    close(out[1]);
    close(err[1]);
    if (rc) return ww_fail(error, WW_IO, argv[0], "cannot be started: %s", strerror(rc));
    drain(out[0], err[0], s);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    s->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return s->out.failed || s->err.failed ? ww_fail_nomem(error, argv[0]) : WW_OK;
}

enum ww_code ww_spawn(const char *const *argv, struct ww_spawned *s, struct ww_error *error) {
    int out[2], err[2];
    *s = (struct ww_spawned){0};
    if (pipe2(out, O_CLOEXEC) != 0)
        return ww_fail(error, WW_IO, argv[0], "cannot be started: %s", strerror(errno));
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return ww_fail(error, WW_IO, argv[0], "cannot be started: %s", strerror(errno));
    }
    enum ww_code code = run(argv, out, err, s, error);
    close(out[0]);
    close(err[0]);
    return code;
}

void ww_spawned_free(struct ww_spawned *s) {
    ww_buf_free(&s->out);
    ww_buf_free(&s->err);
}
