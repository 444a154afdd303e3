/* spawn.h: running another program to its end, without a shell. */
#ifndef WW_BASE_SPAWN_H
#define WW_BASE_SPAWN_H

#include "buf.h"
#include "err.h"

/* What a program wrote and how it ended. Free with ww_spawned_free, also after an error. */
struct ww_spawned {
    struct ww_buf out, err;
    int status; /* exit status; 128 + signal if a signal ended it */
};
/* How long a program may run, how much it may write to each of its outputs, and who may end it before. */
struct ww_spawn_limits {
    unsigned ms;
    size_t bytes;
    bool (*goes_on)(
        void *context); /* called about 50 times a second; false: the program is ended. NULL: not called */
    void *context;
};
/* Two minutes and 64 MiB: more than the queue of a large cluster takes. */
extern const struct ww_spawn_limits ww_spawn_usual;
/* Runs argv[0], found by PATH, with no input; argv ends with NULL. A program that exits with another status
 * than 0 is no error. It gets a process group of its own, so that Ctrl-C does not end it halfway. What it wrote
 * is complete when it has exited: programs that it left behind with its outputs are not waited for. One that
 * exceeds a limit is killed with its group. Errors: WW_IO (it cannot be started, a limit), WW_FAIL (goes_on
 * said so), WW_NOMEM. */
enum ww_code ww_spawn(const char *const *argv, const struct ww_spawn_limits *limits, struct ww_spawned *out,
                      struct ww_error *error);
void ww_spawned_free(struct ww_spawned *s);

#endif
