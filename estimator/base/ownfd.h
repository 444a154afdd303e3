/* ownfd.h: descriptors that must stay valid in a program that we do not control.
 *
 * A program may close descriptors that it does not know (daemons close 0 to 255) and open files of its own,
 * which then have these numbers. So a descriptor of ours gets a high number, and is checked before each use. */
#ifndef WW_BASE_OWNFD_H
#define WW_BASE_OWNFD_H

#include <stdbool.h>
#include <sys/types.h>

struct ww_ownfd {
    int fd; /* -1: none */
    dev_t dev;
    ino_t ino;
};

/* Gives descriptor `fd` a high number: a sixteenth below the limit of the process, or below 4096, and closes
 * the old number. `keep`: it stays open in a program that is started. `fd` itself where no such number is free.
 */
int ww_ownfd_raise(int fd, bool keep);
/* Notes what `fd` is; .fd is -1 if it is not open. */
struct ww_ownfd ww_ownfd_note(int fd);
/* True while the number still stands for what was noted. */
bool ww_ownfd_holds(const struct ww_ownfd *own);

#endif
