/* bench_exec.c: speed of the executor and of recording, in thread instructions per second on one core.
 * Usage: bench_exec [WORKLOAD...]; without arguments sgemm, stencil, spmv, bfs, histogram and reduction. */
#include "../../estimator/warpwatt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int measure(const char *name, const char *out) {
    struct ww_record_options options = {.out_path = out};
    struct ww_record_stats best = {.host_seconds = 1e30};
    struct ww_error e;
    for (int n = 0; n < 3; n++) {
        struct ww_record_stats s;
        if (ww_record_workload(name, NULL, 0, &options, &s, &e) != WW_OK) {
            fprintf(stderr, "%s: %s: %s\n", name, e.where, e.text);
            return 1;
        }
        if (s.host_seconds < best.host_seconds) best = s;
    }
    printf("%-12s %-8s %12llu thread instructions %8.3f s %8.1f million/s", name, out ? "record" : "execute",
           (unsigned long long)best.thread_instructions, best.host_seconds,
           (double)best.thread_instructions / best.host_seconds * 1e-6);
    if (out) printf(" %6.3f bytes per warp instruction", (double)best.bytes / (double)best.warp_instructions);
    printf("\n");
    return 0;
}

int main(int argc, char **argv) {
    static const char *const standard[] = {"sgemm", "stencil", "spmv", "bfs", "histogram", "reduction"};
    char out[] = "/tmp/bench_exec_XXXXXX";
    int count = argc > 1 ? argc - 1 : (int)(sizeof standard / sizeof *standard), bad = 0, fd = mkstemp(out);
    if (fd < 0) return 1;
    close(fd);
    for (int n = 0; n < count; n++) {
        const char *name = argc > 1 ? argv[n + 1] : standard[n];
        bad |= measure(name, NULL);
        bad |= measure(name, out);
    }
    unlink(out);
    return bad;
}
