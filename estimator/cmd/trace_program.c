/* trace_program.c: starts a program with the recording CUDA runtime in front of the system's, reads its
 * reports, and removes the files of processes that did not end by exit().
 *
 * The runtime writes lines to a pipe: "begin PID" when a process has made a device, then "done LAUNCHES
 * RECORDED WARP-INSTRUCTIONS THREAD-INSTRUCTIONS BYTES PID" or "failed CODE PID" at its exit. */
#include "../warpwatt.h"
#include "trace_program.h"
#include "../base/outfile.h"
#include "../base/ownfd.h"
#include "../base/pidpath.h"
#include "../base/escape.h"
#include "../base/text.h"
#include "elf_look.h"
#include "trace_job.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- finding things ---- */

static enum ww_code find_program(struct trace_job *j, struct ww_error *error) {
    const char *path = getenv("PATH");
    if (!*j->name)
        return ww_fail(error, WW_USAGE, "warpwatt trace record", "the program's name behind -- is empty");
    if (strchr(j->name, '/')) {
        snprintf(j->path, sizeof j->path, "%s", j->name);
        return WW_OK;
    }
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        int length = snprintf(j->path, sizeof j->path, "%.*s/%s", (int)n, p, j->name);
        if (length > 0 && (size_t)length < sizeof j->path && access(j->path, X_OK) == 0) return WW_OK;
        p += n + (p[n] == ':');
    }
    return ww_fail(error, WW_IO, j->name, "no such program in PATH");
}

/* The folder of our libcudart: relative to this program, or the installed one. */
static enum ww_code find_library(struct trace_job *j, struct ww_error *error) {
    static const char *const places[] = {"cudart", "../lib/warpwatt/cudart"};
    const char *given = getenv("WARPWATT_CUDART");
    char self[PATH_MAX - 32];
    if (given && *given) {
        snprintf(j->library, sizeof j->library, "%s", given);
        return WW_OK;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) return ww_fail(error, WW_IO, "/proc/self/exe", "cannot read: %s", strerror(errno));
    self[n] = 0;
    *strrchr(self, '/') = 0;
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        snprintf(j->library, sizeof j->library, "%s/%s", self, places[k]);
        if (access(j->library, X_OK) == 0) return WW_OK;
    }
    return ww_fail(error, WW_IO, j->library,
                   "the recording CUDA runtime is not there; is warpwatt installed wholly?");
}

static enum ww_code check_program(const struct trace_job *j, struct elf_look *look, struct ww_error *error) {
    char path[PATH_MAX + 80];
    WW_TRY(ww_elf_look(j->path, look, error));
    if (!look->cudart[0]) return WW_OK;
    snprintf(path, sizeof path, "%s/%s", j->library, look->cudart);
    if (access(path, R_OK) == 0) return WW_OK;
    return ww_fail(error, WW_UNSUPPORTED, j->path, "needs %s: expected libcudart.so.11.0, .12 or .13",
                   look->cudart);
}

/* ---- the environment of the program ---- */

static bool put(const char *name, const char *value) {
    return !value || setenv(name, value, 1) == 0;
}

/* Puts `first` in front of what a search path holds. */
static bool prepend(const char *name, const char *first) {
    const char *old = getenv(name);
    struct ww_buf b = {0};
    ww_buf_printf(&b, "%s%s%s", first, old && *old ? ":" : "", old ? old : "");
    bool good = b.p && setenv(name, b.p, 1) == 0;
    ww_buf_free(&b);
    return good;
}

static bool absolute(const char *path, char out[PATH_MAX]) {
    char here[PATH_MAX];
    int n = path[0] == '/'              ? snprintf(out, PATH_MAX, "%s", path)
            : getcwd(here, sizeof here) ? snprintf(out, PATH_MAX, "%s/%s", here, path)
                                        : -1;
    return n > 0 && n < PATH_MAX;
}

static bool set_environment(const struct trace_job *j, const struct elf_look *look, int report_fd) {
    const struct cmd_line *l = j->line;
    char report[80], out[PATH_MAX], preload[2 * PATH_MAX + 160];
    struct ww_ownfd own = ww_ownfd_note(ww_ownfd_raise(report_fd, true));
    snprintf(report, sizeof report, "%d:%llu:%llu", own.fd, (unsigned long long)own.dev,
             (unsigned long long)own.ino);
    snprintf(preload, sizeof preload, "%s/libwarpwatt-static.so%s%s%s%s", j->library,
             look->rpath_first ? ":" : "", look->rpath_first ? j->library : "", look->rpath_first ? "/" : "",
             look->rpath_first ? look->cudart : "");
    bool progress = !ww_cmd_has(l, "quiet") && isatty(STDERR_FILENO);
    unsetenv("WARPWATT_CUDA_OUT");
    if (j->out && (!absolute(j->target ? j->target : j->out, out) || !put("WARPWATT_CUDA_OUT", out)))
        return false;
    return put("WARPWATT_CUDA_ARCH", ww_cmd_get(l, "arch")) && put("WARPWATT_CUDA_GPU", ww_cmd_get(l, "gpu")) &&
           put("WARPWATT_CUDA_CODE", ww_cmd_get(l, "code")) &&
           put("WARPWATT_CUDA_PTXAS_OPTIONS", ww_cmd_get(l, "ptxas-options")) &&
           put("WARPWATT_CUDA_QUIET", ww_cmd_has(l, "quiet") ? "1" : "0") &&
           put("WARPWATT_CUDA_KERNEL", ww_cmd_get(l, "kernel")) &&
           put("WARPWATT_CUDA_FIRST", ww_cmd_get(l, "first")) &&
           put("WARPWATT_CUDA_EVERY", ww_cmd_get(l, "every")) &&
           put("WARPWATT_CUDA_LIMIT", ww_cmd_get(l, "instruction-limit")) &&
           put("WARPWATT_CUDA_NO_RECORD", ww_cmd_has(l, "no-record") ? "1" : "0") &&
           put("WARPWATT_CUDA_KEEP_SOURCE", ww_cmd_has(l, "keep-source") ? "1" : "0") &&
           put("WARPWATT_CUDA_STRICT", ww_cmd_has(l, "strict") ? "1" : "0") &&
           put("WARPWATT_CUDA_PROGRESS", progress ? "1" : "0") && put("WARPWATT_CUDA_REPORT", report) &&
           prepend("LD_LIBRARY_PATH", j->library) && prepend("LD_PRELOAD", preload);
}

/* In the child. The write end of `error_pipe` closes when the program starts. */
__attribute__((noreturn)) static void become(const struct trace_job *j, const struct elf_look *look,
                                             int report_fd, int error_pipe, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && set_environment(j, look, report_fd))
        execv(j->path, (char *const *)(uintptr_t)j->line->argument);
    int failed = errno ? errno : ENOMEM;
    if (write(error_pipe, &failed, sizeof failed) < 0) _exit(126);
    _exit(127);
}

static enum ww_code start(struct trace_job *j, const struct elf_look *look, struct ww_error *error) {
    int report[2] = {-1, -1}, failure[2] = {-1, -1}, failed = 0;
    pid_t parent = getpid();
    if (pipe(report) != 0 || pipe2(failure, O_CLOEXEC) != 0)
        return ww_fail(error, WW_IO, "pipe", "cannot make: %s", strerror(errno));
    fflush(NULL);
    j->child = fork();
    if (j->child == 0) {
        close(report[0]);
        become(j, look, report[1], failure[1], parent);
    }
    close(report[1]);
    close(failure[1]);
    j->report = report[0];
    if (j->child < 0)
        failed = errno;
    else if (read(failure[0], &failed, sizeof failed) != (ssize_t)sizeof failed)
        failed = 0;
    close(failure[0]);
    if (!failed) return WW_OK;
    if (j->child > 0) waitpid(j->child, NULL, 0);
    return ww_fail(error, WW_IO, j->path, "cannot be started: %s", strerror(failed));
}

/* ---- while it runs ---- */

static void note_report(struct trace_job *j, long pid) {
    for (unsigned n = j->begun_count; n > 0; n--) {
        if (j->begun[n - 1].pid != pid) continue;
        j->begun[n - 1].reported = true;
        return;
    }
}

static void take_line(struct trace_job *j, const char *text) {
    unsigned long long v[5];
    long pid;
    int code;
    if (sscanf(text, "begin %ld", &pid) == 1) {
        if (j->begun_count < TRACE_PROCESSES_MAX)
            j->begun[j->begun_count++] = (struct trace_process){.pid = pid};
    } else if (sscanf(text, "done %llu %llu %llu %llu %llu %ld", &v[0], &v[1], &v[2], &v[3], &v[4], &pid) ==
               6) {
        note_report(j, pid);
        j->done_count++;
        if (!j->out || !ww_pidpath_is(j->out)) /* the one that ends last; else all together */
            j->launches = j->recorded = j->warps = j->threads = j->bytes = 0;
        j->launches += v[0], j->recorded += v[1], j->warps += v[2], j->threads += v[3], j->bytes += v[4];
    } else if (sscanf(text, "failed %d %ld", &code, &pid) == 2 && code > 0 && code < WW_CODE_COUNT) {
        note_report(j, pid);
        j->failed = (enum ww_code)code;
    }
}

/* Reads what is there; false at the end. */
static bool read_report(struct trace_job *j) {
    char some[4096];
    ssize_t n = read(j->report, some, sizeof some);
    if (n <= 0) return n < 0 && errno == EINTR;
    ww_buf_append(&j->pending, some, (size_t)n);
    for (char *end; j->pending.n && (end = memchr(j->pending.p, '\n', j->pending.n));) {
        size_t used = (size_t)(end - j->pending.p) + 1;
        *end = 0;
        take_line(j, j->pending.p);
        memmove(j->pending.p, j->pending.p + used, j->pending.n - used);
        j->pending.n -= used;
    }
    return j->pending.n < sizeof some; /* no line of ours is that long */
}

/* Signals that were sent to this process alone go on to the program; a terminal's Ctrl-C reaches it anyway. */
static void forward(const struct trace_job *j) {
    struct signalfd_siginfo s;
    if (read(j->signals, &s, sizeof s) != (ssize_t)sizeof s || s.ssi_signo == SIGCHLD) return;
    if (s.ssi_code == SI_USER || s.ssi_code == SI_QUEUE) kill(j->child, (int)s.ssi_signo);
}

/* Until all processes have ended that the program's own has started: then no process holds the pipe open. A
 * signal ends the waiting, not the processes. */
static void wait_for_children(struct trace_job *j, struct pollfd f[2]) {
    struct signalfd_siginfo s;
    while (f[0].fd >= 0) {
        if (poll(f, 2, -1) < 0 && errno != EINTR) return;
        if (f[0].revents && !read_report(j)) f[0].fd = -1;
        if (f[1].revents && read(j->signals, &s, sizeof s) == (ssize_t)sizeof s && s.ssi_signo != SIGCHLD)
            return;
    }
}

static void wait_for(struct trace_job *j) {
    struct pollfd f[2] = {{.fd = j->report, .events = POLLIN}, {.fd = j->signals, .events = POLLIN}};
    while (waitpid(j->child, &j->status, WNOHANG) == 0) {
        if (poll(f, 2, -1) < 0 && errno != EINTR) break;
        if (f[0].revents && !read_report(j)) f[0].fd = -1;
        if (f[1].revents) forward(j);
    }
    if (j->out_each) wait_for_children(j, f);
    /* What is left in the pipe; other processes may keep it open. */
    for (f[0].revents = 0; f[0].fd >= 0 && poll(f, 1, 0) > 0;)
        if (!read_report(j)) f[0].fd = -1;
    j->open = f[0].fd >= 0;
    close(j->report);
    close(j->signals);
}

/* ---- afterwards ---- */

static unsigned remove_of(const char *target, long pid) {
    char *own = ww_pidpath(target, pid);
    unsigned removed = own ? ww_temp_remove_of(own, pid) : 0;
    free(own);
    return removed;
}

/* A process that has ended remains as a zombie until its parent waits for it. */
static bool runs(long pid) {
    char path[40], text[400];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] && name_end[2] != 'Z' && name_end[2] != 'X';
}

/* Counts processes that did not end by exit(), and removes their files; those that still run write theirs. */
static void look_at_processes(struct trace_job *j) {
    for (unsigned n = 0; n < j->begun_count; n++) {
        const struct trace_process *p = &j->begun[n];
        bool running = runs(p->pid);
        j->running += running && !p->reported;
        j->lost += !running && !p->reported;
        if (j->target && !running) j->left += remove_of(j->target, p->pid);
    }
}

/* The trace of a process that has been recorded, or NULL; free() it. */
static char *trace_of(const struct trace_job *j, unsigned process) {
    char *own = ww_pidpath(j->out, j->begun[process].pid);
    if (own && access(own, F_OK) == 0) return own;
    free(own);
    return NULL;
}

unsigned ww_trace_count(const struct trace_job *j) {
    unsigned whole = 0;
    for (unsigned n = 0; j->out && ww_pidpath_is(j->out) && n < j->begun_count; n++) {
        char *own = trace_of(j, n);
        whole += own != NULL;
        free(own);
    }
    return whole;
}

static void print_json_traces(const struct trace_job *j, struct ww_jsonw *w) {
    ww_jsonw_open(w, "traces", '[');
    for (unsigned n = 0; n < j->begun_count; n++) {
        char *own = trace_of(j, n);
        if (own) ww_jsonw_str(w, NULL, own);
        free(own);
    }
    ww_jsonw_close(w, ']');
}

static void print_traces(const struct trace_job *j) {
    for (unsigned n = 0; j->out && ww_pidpath_is(j->out) && n < j->begun_count; n++) {
        char *own = trace_of(j, n);
        if (own) {
            ww_put_text(stderr, own);
            fputc('\n', stderr);
        }
        free(own);
    }
}

static enum ww_code print_json(const struct trace_job *j, double seconds, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "program", j->path);
    ww_jsonw_str(&w, "trace", j->bytes ? j->out : NULL);
    if (j->out && ww_pidpath_is(j->out)) print_json_traces(j, &w);
    if (j->begun_count > 1) ww_jsonw_u64(&w, "processes_lost", j->lost);
    ww_jsonw_u64(&w, "launches", j->launches);
    ww_jsonw_u64(&w, "recorded_launches", j->recorded);
    ww_jsonw_u64(&w, "warp_instructions", j->warps);
    ww_jsonw_u64(&w, "thread_instructions", j->threads);
    ww_jsonw_u64(&w, "bytes", j->bytes);
    if (j->warps && j->bytes)
        ww_jsonw_f64(&w, "bytes_per_warp_instruction", (double)j->bytes / (double)j->warps);
    else
        ww_jsonw_null(&w, "bytes_per_warp_instruction");
    ww_jsonw_i64(&w, "exit_status", *j->line->program_status);
    ww_jsonw_f64(&w, "host_seconds", seconds);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

/* Instructions are known of recorded launches only. */
static void print_counts(const struct trace_job *j) {
    fprintf(stderr, ": %llu launch%s, ", j->launches, ww_plural(j->launches, "es"));
    if (j->launches && !j->recorded) {
        bool asked = j->out || ww_cmd_has(j->line, "no-record");
        fputs(asked ? "none recorded\n" : "none recorded: no -o FILE was given\n", stderr);
        return;
    }
    if (j->recorded < j->launches) fprintf(stderr, "%llu recorded: ", j->recorded);
    fprintf(stderr, "%llu warp instructions, %llu thread instructions\n", j->warps, j->threads);
}

/* A GPU of the architecture that code is made for; NULL: the default is, or there is no model. */
static const char *gpu_of(const char *arch) {
    static const char *const of[][2] = {{"sm_20", "gtx480"}, {"sm_35", "gtx780"},  {"sm_52", "gtx980"},
                                        {"sm_75", "t4"},     {"sm_80", "a100"},    {"sm_86", "a40"},
                                        {"sm_89", "l40"},    {"sm_90", "h100"},    {"sm_90a", "h100"},
                                        {"sm_100", "b200"},  {"sm_120", "rtx5090"}};
    for (size_t i = 0; arch && i < sizeof of / sizeof of[0]; i++)
        if (strcmp(arch, of[i][0]) == 0) return of[i][1];
    return NULL;
}

/* Of a program that was not told which GPU to see. */
static void print_seen(const char *arch) {
    const char *gpu = gpu_of(arch);
    if (gpu)
        fprintf(stderr,
                "the program ran code of %s, but the GPU that it saw was a v100 (sm_70), the default: --gpu %s "
                "shows "
                "it one of %s\n",
                ww_shown(arch), gpu, ww_shown(arch));
    else
        fputs("the program saw a v100, the default; --gpu chooses another one\n", stderr);
}

static void print_text(const struct trace_job *j) {
    ww_put_text(stderr, j->path);
    print_counts(j);
    if (j->recorded && !ww_cmd_has(j->line, "gpu") && !getenv("WARPWATT_CUDA_GPU"))
        print_seen(ww_cmd_get(j->line, "arch"));
    if (!j->bytes || !j->warps) return;
    char each[32];
    ww_three_digits((double)j->bytes / (double)j->warps, each);
    if (ww_pidpath_is(j->out))
        print_traces(j);
    else
        ww_put_text(stderr, j->out), fputs(": ", stderr);
    fprintf(stderr, "%llu launch%s, %llu bytes, %s for each warp instruction\n", j->recorded,
            ww_plural(j->recorded, "es"), j->bytes, each);
}

static enum ww_code finish(struct trace_job *j, double seconds, struct ww_error *error) {
    int own = WIFEXITED(j->status) ? WEXITSTATUS(j->status) : 128 + WTERMSIG(j->status);
    struct ww_error mine = {0};
    *j->line->program_status = own;
    look_at_processes(j);
    enum ww_code code = ww_trace_judge(j, &mine);
    if (code != WW_OK && !ww_cmd_has(j->line, "quiet") && !ww_cmd_has(j->line, "json")) print_traces(j);
    if (code != WW_OK && own != 0) { /* the program's own status takes precedence */
        fprintf(stderr, "warpwatt: %s: %s\n", ww_shown(mine.where), ww_shown(mine.text));
        return WW_OK;
    }
    if (code != WW_OK) {
        if (error) *error = mine;
        return code;
    }
    if (ww_cmd_has(j->line, "json")) return print_json(j, seconds, error);
    if (!ww_cmd_has(j->line, "quiet")) print_text(j);
    return WW_OK;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The GPU and the architecture, before the program does any work. */
static enum ww_code check_target(const struct cmd_line *line, struct ww_error *error) {
    struct ww_gpu *gpu = NULL;
    if (ww_cmd_has(line, "arch")) WW_TRY(ww_record_arch(ww_cmd_get(line, "arch"), error));
    if (!ww_cmd_has(line, "gpu")) return WW_OK;
    struct ww_error e = {0};
    enum ww_code code = ww_gpu_load(ww_cmd_get(line, "gpu"), NULL, 0, &gpu, &e);
    ww_gpu_free(gpu);
    if (code == WW_OK) return WW_OK;
    return ww_fail(error, WW_USAGE, e.where, "%s; 'warpwatt gpu list' shows those that there are", e.text);
}

static enum ww_code check_options(const struct cmd_line *line, struct ww_error *error) {
    static const char *const not_ours[] = {"workload", "ptx",       "launch",        "param",
                                           "seed",     "registers", "max-registers", "level"};
    uint64_t unused;
    enum ww_record_code code;
    WW_TRY(ww_cmd_record_code(line, &code, error));
    for (size_t n = 0; n < sizeof not_ours / sizeof not_ours[0]; n++)
        if (ww_cmd_has(line, not_ours[n]))
            return ww_fail(error, WW_USAGE, "warpwatt trace record",
                           "--%s does not go with a program behind --", not_ours[n]);
    WW_TRY(ww_cmd_u64(line, "first", 1, UINT64_MAX, &unused, error));
    WW_TRY(ww_cmd_u64(line, "every", 1, UINT64_MAX, &unused, error));
    WW_TRY(ww_cmd_u64(line, "instruction-limit", 1, UINT64_MAX, &unused, error));
    return check_target(line, error);
}

static enum ww_code record_program(struct trace_job *j, struct ww_error *error) {
    struct elf_look look;
    sigset_t set;
    double began = now();
    WW_TRY(find_program(j, error));
    WW_TRY(find_library(j, error));
    WW_TRY(check_program(j, &look, error));
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    j->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (j->signals < 0) return ww_fail(error, WW_IO, "signalfd", "%s", strerror(errno));
    WW_TRY(start(j, &look, error));
    wait_for(j);
    ww_buf_free(&j->pending);
    return finish(j, now() - began, error);
}

/* --follow-children writes a trace for each process: app.wwt becomes app.%p.wwt. */
static enum ww_code name_each(struct trace_job *j, struct ww_error *error) {
    if (!j->out) return ww_fail(error, WW_USAGE, "warpwatt trace record", "--follow-children needs -o FILE");
    const char *slash = strrchr(j->out, '/'), *base = slash ? slash + 1 : j->out, *dot = strrchr(base, '.');
    struct ww_buf b = {0};
    if (ww_pidpath_is(j->out))
        ww_buf_printf(&b, "%s", j->out);
    else if (dot && dot > base)
        ww_buf_printf(&b, "%.*s.%%p%s", (int)(dot - j->out), j->out, dot);
    else
        ww_buf_printf(&b, "%s.%%p", j->out);
    if (b.failed) {
        ww_buf_free(&b);
        return ww_fail_nomem(error, "the names of traces");
    }
    j->out = j->out_each = b.p;
    return WW_OK;
}

/* A program may compute for long before it makes a CUDA call: whether the trace can be written is tried before.
 */
static enum ww_code try_out(const struct trace_job *j, struct ww_error *error) {
    struct ww_temp temp = WW_TEMP_NONE;
    if (!j->target)
        return access(j->out, W_OK) == 0
                   ? WW_OK
                   : ww_fail(error, WW_IO, j->out, "cannot be written: %s", strerror(errno));
    enum ww_code code = ww_temp_beside(j->target, &temp, error);
    ww_temp_remove(&temp);
    return code;
}

static enum ww_code record_into(struct trace_job *j, struct ww_error *error) {
    if (ww_cmd_has(j->line, "follow-children")) WW_TRY(name_each(j, error));
    if (j->out) WW_TRY(ww_outfile_resolve(j->out, WW_OUTFILE_TRACE, &j->target, error));
    if (j->out && !ww_cmd_has(j->line, "no-record")) WW_TRY(try_out(j, error));
    j->had_old = j->target && access(j->target, F_OK) == 0;
    return record_program(j, error);
}

enum ww_code ww_cmd_trace_program(const struct cmd_line *line, struct ww_error *error) {
    struct trace_job j = {.line = line, .name = line->argument[0], .out = ww_cmd_get(line, "out")};
    WW_TRY(check_options(line, error));
    enum ww_code code = record_into(&j, error);
    free(j.target);
    free(j.out_each);
    return code;
}
