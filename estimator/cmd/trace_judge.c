/* trace_judge.c: errors and warnings of a recording whose program has ended. */
#include "../base/escape.h"
#include "../base/pidpath.h"
#include "../base/text.h"
#include "trace_job.h"
#include <string.h>
#include <sys/wait.h>

/* What became of the trace's file when the recording failed. The text is kept until the next call. */
static const char *no_trace(const struct trace_job *j) {
    static char others[80];
    if (!j->out) return "nothing was to be written";
    unsigned whole = ww_trace_count(j);
    snprintf(others, sizeof others, "the trace%s of %u other process%s %s written", whole == 1 ? "" : "s",
             whole, whole == 1 ? "" : "es", whole == 1 ? "was" : "were");
    if (whole) return others;
    return j->had_old ? "no trace was written; the file of that name is the old one" : "no trace was written";
}

/* A process made a device, and neither "done" nor "failed" came. */
static enum ww_code judge_unfinished(const struct trace_job *j, struct ww_error *error) {
    if (j->running)
        return ww_fail(
            error, WW_EXEC, j->path,
            "ended before %u process%s of its own that use%s CUDA; each writes its trace when it ends: "
            "--follow-children waits for that",
            j->running, ww_plural(j->running, "es"), j->running == 1 ? "s" : "");
    if (j->left == 0 && j->out)
        return ww_fail(error, WW_EXEC, j->path,
                       "closed descriptors that are not its own, those of the recording among them; %s",
                       no_trace(j));
    return ww_fail(
        error, WW_EXEC, j->path,
        "ended without exit() (by _exit() or quick_exit()), so that its recording was not finished; %s",
        no_trace(j));
}

/* Of several processes, one has reported that its recording failed. */
static enum ww_code judge_failed(const struct trace_job *j, struct ww_error *error) {
    if (j->done_count && j->out && ww_pidpath_is(j->out))
        return ww_fail(error, j->failed, j->path,
                       "a process was not recorded: see the message above; %u other%s finished, and left %s "
                       "trace%s",
                       j->done_count, ww_plural(j->done_count, "s"), j->done_count == 1 ? "its" : "their",
                       ww_plural(j->done_count, "s"));
    return ww_fail(error, j->failed, j->path, "%s: see the message above", no_trace(j));
}

/* Processes that were killed, or still run, in addition to those that were recorded. */
static void say_others(const struct trace_job *j) {
    if (j->running)
        fprintf(stderr,
                "warpwatt: %s: %u process%s that use%s CUDA still run%s: --follow-children waits for them\n",
                ww_shown(j->path), j->running, ww_plural(j->running, "es"), j->running == 1 ? "s" : "",
                j->running == 1 ? "s" : "");
    if (!j->lost) return;
    fprintf(stderr,
            "warpwatt: %s: %u of %u processes that used CUDA ended by a signal, _exit() or quick_exit(); "
            "nothing of %s was recorded\n",
            ww_shown(j->path), j->lost, j->begun_count, j->lost == 1 ? "it" : "them");
}

static enum ww_code judge_empty(const struct trace_job *j, struct ww_error *error) {
    if (j->launches == 0)
        return ww_fail(error, WW_EXEC, j->path, "launched no kernel, or none that could be run; %s",
                       no_trace(j));
    return ww_fail(error, WW_EXEC, j->path, "no launch of %llu was recorded; %s", j->launches, no_trace(j));
}

enum ww_code ww_trace_judge(const struct trace_job *j, struct ww_error *error) {
    if (WIFSIGNALED(j->status))
        return ww_fail(error, WW_EXEC, j->path, "ended by signal %d (%s) before its recording was finished; %s",
                       WTERMSIG(j->status), strsignal(WTERMSIG(j->status)), no_trace(j));
    if (j->failed) return judge_failed(j, error);
    if (j->begun_count == 0 && j->open)
        return ww_fail(error, WW_UNSUPPORTED, j->path,
                       "made no call of the CUDA runtime, and ended before processes that it has started: "
                       "--follow-children waits for them");
    if (j->begun_count == 0)
        return ww_fail(
            error, WW_UNSUPPORTED, j->path,
            "the program made no call of the CUDA runtime that could be recorded; if it uses CUDA through a "
            "library, that library must be linked with -cudart shared, too; if it closed all descriptors "
            "before its "
            "first call, its launches were not recorded");
    if (j->done_count == 0) return judge_unfinished(j, error);
    say_others(j);
    if (j->out && j->recorded == 0 && !ww_cmd_has(j->line, "no-record")) return judge_empty(j, error);
    if (j->out && j->begun_count > 1 && !ww_pidpath_is(j->out))
        fprintf(stderr,
                "warpwatt: %u processes used CUDA; the trace is of the one that ended last; a %%p in its name "
                "makes one of each\n",
                j->begun_count);
    return WW_OK;
}
