/* Descriptors that must stay valid in a program that we do not control. */
#include "ownfd.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGHEST 4096u /* the kernel's table of a process grows with the highest number */

/* A sixteenth below the limit. */
static int high_number(void) {
    struct rlimit limit;
    rlim_t most = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGHEST ? limit.rlim_cur : HIGHEST;
    return (int)(most - most / 16);
}

int ww_ownfd_raise(int fd, bool keep) {
    int from = high_number();
    if (fd < 0 || fd >= from) return fd;
    int high = fcntl(fd, keep ? F_DUPFD : F_DUPFD_CLOEXEC, from);
    if (high < 0) return fd;
    close(fd);
    return high;
}

struct ww_ownfd ww_ownfd_note(int fd) {
    struct stat s;
    if (fd < 0 || fstat(fd, &s) != 0) return (struct ww_ownfd){.fd = -1};
    return (struct ww_ownfd){.fd = fd, .dev = s.st_dev, .ino = s.st_ino};
}

bool ww_ownfd_holds(const struct ww_ownfd *own) {
    struct stat s;
    return own->fd >= 0 && fstat(own->fd, &s) == 0 && s.st_dev == own->dev && s.st_ino == own->ino;
}
