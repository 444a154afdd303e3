/* bench_exec.c: speed of execution and of recording, in thread instructions per second on one core: of PTX, and
 * of machine code of sm_70 where a ptxas is found. Usage: bench_exec [WORKLOAD...]; without arguments sgemm,
 * stencil, spmv, bfs, histogram and reduction. */
#include "../../estimator/warpwatt.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mean {
    double logs;
    int count;
};

static int measure(const char *name, const char *out, enum ww_record_code code, struct mean *mean) {
    struct ww_record_options options = {.out_path = out, .code = code};
    struct ww_record_stats best = {.host_seconds = 1e30};
    struct ww_error e;
    for (int n = 0; n < 3; n++) {
        struct ww_record_stats s;
        if (ww_record_workload(name, NULL, 0, &options, &s, &e) != WW_OK) {
            if (code == WW_RECORD_SASS && e.code == WW_UNSUPPORTED) {
                printf("%-12s machine code: %s: %s\n", name, e.where, e.text);
                return 0;
            }
            fprintf(stderr, "%s: %s: %s\n", name, e.where, e.text);
            return 1;
        }
        if (s.host_seconds < best.host_seconds) best = s;
    }
    printf("%-12s %-4s %-8s %12llu thread instructions %8.3f s %8.1f million/s", name,
           code == WW_RECORD_SASS ? "sass" : "ptx", out ? "record" : "execute",
           (unsigned long long)best.thread_instructions, best.host_seconds,
           (double)best.thread_instructions / best.host_seconds * 1e-6);
    if (out) printf(" %6.3f bytes per warp instruction", (double)best.bytes / (double)best.warp_instructions);
    printf("\n");
    mean->logs += log((double)best.thread_instructions / best.host_seconds * 1e-6);
    mean->count++;
    return 0;
}

int main(int argc, char **argv) {
    static const char *const standard[] = {"sgemm", "stencil", "spmv", "bfs", "histogram", "reduction"};
    char out[] = "/tmp/bench_exec_XXXXXX";
    int count = argc > 1 ? argc - 1 : (int)(sizeof standard / sizeof *standard), bad = 0, fd = mkstemp(out);
    if (fd < 0) return 1;
    close(fd);
    struct mean mean[2] = {{0}};
    for (int n = 0; n < count; n++) {
        const char *name = argc > 1 ? argv[n + 1] : standard[n];
        for (int machine = 0; machine < 2; machine++) {
            struct mean unused = {0};
            enum ww_record_code code = machine ? WW_RECORD_SASS : WW_RECORD_PTX;
            bad |= measure(name, NULL, code, &unused);
            bad |= measure(name, out, code, &mean[machine]);
        }
    }
    for (int machine = 0; machine < 2; machine++)
        if (mean[machine].count)
            printf("geometric mean of recording, %s: %.1f million/s\n", machine ? "sass" : "ptx",
                   exp(mean[machine].logs / mean[machine].count));
    unlink(out);
    return bad;
}
