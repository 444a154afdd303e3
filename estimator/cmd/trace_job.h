/* trace_job.h: a program that is being recorded, private to trace_program.c and trace_judge.c. */
#ifndef WW_CMD_TRACE_JOB_H
#define WW_CMD_TRACE_JOB_H

#include "../base/buf.h"
#include "cmd.h"
#include <limits.h>
#include <sys/types.h>

#define TRACE_PROCESSES_MAX 1024 /* that are listed */

struct trace_job {
    const struct cmd_line *line;
    const char *name, *out;
    char *out_each; /* `out` of --follow-children, with a %p; else NULL */
    char *target;   /* the file that `out` stands for */
    char path[PATH_MAX], library[PATH_MAX];
    pid_t child;
    int report, signals, status;
    struct ww_buf pending; /* of the pipe */
    struct trace_process {
        long pid;
        bool reported; /* how its recording ended */
    } begun[TRACE_PROCESSES_MAX];
    unsigned begun_count, done_count;
    unsigned left;          /* files of processes that did not end by exit() */
    unsigned lost, running; /* processes that ended without a report; that have not ended */
    bool open;              /* processes that the program started have not ended */
    bool had_old;           /* a file of the trace's name was there before */
    enum ww_code failed;
    unsigned long long launches, recorded, warps, threads, bytes;
};

/* How many processes have a trace that is whole, where each has its own (%p); else 0. */
unsigned ww_trace_count(const struct trace_job *j);

/* The error of the recording of a program that has ended, if there was one. Prints warnings and notes on
 * stderr. Errors: WW_EXEC, WW_UNSUPPORTED (no CUDA was used), what the runtime reported. */
enum ww_code ww_trace_judge(const struct trace_job *j, struct ww_error *error);

#endif
