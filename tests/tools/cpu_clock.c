/* To be preloaded: the monotonic clock of a program is the processor time that it has used, so that nothing
 * else that runs on the machine shows in its progress (tests/long/progress_left.py). */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *t) {
    return (int)syscall(SYS_clock_gettime, id == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : id, t);
}
