/* Running another program to its end, without a shell. */
#include "spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { SLICE_MS = 20 }; /* between two checks whether it has ended */

const struct ww_spawn_limits ww_spawn_usual = {.ms = 120000, .bytes = (size_t)64 << 20};

/* A program that runs. */
struct child {
    const char *name;
    pid_t pid;
    struct pollfd pipe[2]; /* fd -1: closed */
    struct timespec begin;
    bool ended;
    int status; /* as of waitpid */
};

static uint64_t elapsed_ms(const struct child *c) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)(now.tv_sec - c->begin.tv_sec) * 1000000000 + now.tv_nsec - c->begin.tv_nsec;
    return (uint64_t)(ns / 1000000);
}

/* Reads what both pipes have. False: they have nothing now. */
static bool read_pipes(struct child *c, int wait_ms, struct ww_spawned *s) {
    struct ww_buf *to[2] = {&s->out, &s->err};
    char buffer[4096];
    bool some = false;
    if (poll(c->pipe, 2, wait_ms) <= 0) return false;
    for (int i = 0; i < 2; i++) {
        if (c->pipe[i].fd < 0 || !c->pipe[i].revents) continue;
        ssize_t n = read(c->pipe[i].fd, buffer, sizeof buffer);
        if (n > 0) ww_buf_append(to[i], buffer, (size_t)n);
        if (n == 0 || (n < 0 && errno != EINTR)) c->pipe[i].fd = -1;
        some = some || n > 0;
    }
    return some;
}

static void look(struct child *c) {
    if (!c->ended) c->ended = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
}

static void kill_group(struct child *c) {
    kill(-c->pid, SIGKILL);
    while (!c->ended) c->ended = waitpid(c->pid, &c->status, 0) == c->pid || errno != EINTR;
}

/* Reads until the program has ended and all that it wrote is read. Once it has ended, all its output is in the
 * pipes. */
static enum ww_code follow(struct child *c, const struct ww_spawn_limits *limits, struct ww_spawned *s,
                           struct ww_error *error) {
    for (;;) {
        bool before = c->ended, some = read_pipes(c, before ? 0 : SLICE_MS, s);
        if (s->out.n > limits->bytes || s->err.n > limits->bytes) {
            kill_group(c);
            return ww_fail(error, WW_IO, c->name, "wrote more than %zu bytes and was ended", limits->bytes);
        }
        if (s->out.failed || s->err.failed) {
            kill_group(c);
            return ww_fail_nomem(error, c->name);
        }
        if (before && !some) return WW_OK;
        if (elapsed_ms(c) > limits->ms) {
            kill_group(c);
            return ww_fail(error, WW_IO, c->name, "had not answered after %g s and was ended",
                           limits->ms / 1e3);
        }
        if (limits->goes_on && !limits->goes_on(limits->context)) {
            kill_group(c);
            return ww_fail(error, WW_FAIL, c->name, "was ended before it had answered");
        }
        look(c);
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

static enum ww_code run(const char *const *argv, const struct ww_spawn_limits *limits, const int out[2],
                        const int err[2], struct ww_spawned *s, struct ww_error *error) {
    struct child c = {.name = argv[0],
                      .pipe = {{.fd = out[0], .events = POLLIN}, {.fd = err[0], .events = POLLIN}}};
    clock_gettime(CLOCK_MONOTONIC, &c.begin);
    int rc = start(argv, out[1], err[1], &c.pid);
    close(out[1]);
    close(err[1]);
    if (rc) return ww_fail(error, WW_IO, argv[0], "cannot be started: %s", strerror(rc));
    WW_TRY(follow(&c, limits, s, error));
    s->status = WIFSIGNALED(c.status) ? 128 + WTERMSIG(c.status) : WEXITSTATUS(c.status);
    return WW_OK;
}

enum ww_code ww_spawn(const char *const *argv, const struct ww_spawn_limits *limits, struct ww_spawned *s,
                      struct ww_error *error) {
    int out[2], err[2];
    *s = (struct ww_spawned){0};
    if (pipe2(out, O_CLOEXEC) != 0)
        return ww_fail(error, WW_IO, argv[0], "cannot be started: %s", strerror(errno));
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return ww_fail(error, WW_IO, argv[0], "cannot be started: %s", strerror(errno));
    }
    enum ww_code code = run(argv, limits, out, err, s, error);
    close(out[0]);
    close(err[0]);
    return code;
}

void ww_spawned_free(struct ww_spawned *s) {
    ww_buf_free(&s->out);
    ww_buf_free(&s->err);
}
