/* core_state.c: the process's device, its lock, errors, and the end of the recording. */
#include "../../estimator/api/gpu.h"
#include "../../estimator/api/record.h"
#include "../../estimator/base/escape.h"
#include "core.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_GPU "v100"

struct rt ww_rt = {.next_shared = RT_SHARED_BASE, .next_id = 1, .stack_limit = 1024, .fifo_limit = 1 << 20};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int last_error;

void ww_rt_lock(void) {
    pthread_mutex_lock(&lock);
}

void ww_rt_unlock(const int *unused) {
    (void)unused;
    pthread_mutex_unlock(&lock);
}

int ww_rt_set(int code) {
    if (code) last_error = code;
    return code;
}

int ww_rt_last_error(bool clear) {
    int code = last_error ? last_error : ww_rt.sticky;
    if (clear) last_error = 0;
    return code;
}

/* stderr as it was when the program started, under a high number: the program may close 2 and open a file. */
static struct ww_ownfd messages = {.fd = -1};

/* A child does not keep a file open that its program closes: the reader of a pipe waits until all copies of its
 * write end are closed. */
static void release_stderr(void) {
    if (messages.fd != STDERR_FILENO && ww_ownfd_holds(&messages)) close(messages.fd);
    messages = ww_ownfd_note(STDERR_FILENO);
}

__attribute__((constructor)) static void keep_stderr(void) {
    messages = ww_ownfd_note(ww_ownfd_raise(dup(STDERR_FILENO), false));
    pthread_atfork(NULL, NULL, release_stderr);
}

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...) {
    char text[1300];
    va_list list;
    va_start(list, fmt);
    int n = vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    if (n < 0 || !ww_ownfd_holds(&messages)) return;
    size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    for (const char *p = text; length;) {
        ssize_t put = write(messages.fd, p, length);
        if (put < 0 && errno != EINTR) return;
        p += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
}

void ww_rt_say(const char *fmt, ...) {
    char line[1200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    tell("warpwatt: %s\n", ww_shown(line)); /* names of kernels and files are in it */
}

int ww_rt_say_error(const struct ww_error *error, int code) {
    ww_rt_say("%s%s%s", error->where, error->where[0] ? ": " : "", error->text);
    return code;
}

#define MISSING_MAX 1100
static const char *missing[MISSING_MAX];
static size_t missing_count;

int ww_rt_missing(const char *name) {
    RT_LOCK;
    bool driver = name[2] >= 'A' && name[2] <= 'Z'; /* cuInit, not cudaMalloc */
    for (size_t n = 0; n < missing_count; n++)
        if (missing[n] == name) return driver ? RT_ERROR_NOT_SUPPORTED : ww_rt_set(RT_ERROR_NOT_SUPPORTED);
    if (missing_count < MISSING_MAX) missing[missing_count++] = name;
    ww_rt_say("%s is not supported by the recording CUDA %s; it returned %s", name,
              driver ? "driver" : "runtime", driver ? "CUDA_ERROR_NOT_SUPPORTED" : "cudaErrorNotSupported");
    return driver ? RT_ERROR_NOT_SUPPORTED : ww_rt_set(RT_ERROR_NOT_SUPPORTED);
}

/* The unsupported functions that the program called, listed again at the end, after the program's output. */
static void say_missing(void) {
    char line[1000];
    size_t used = 0;
    for (size_t n = 0; n < missing_count && used < sizeof line - 100; n++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%.60s", n ? ", " : "", missing[n]);
    if (missing_count > 1) ww_rt_say("called and not supported: %s", line);
}

/* The executor's texts distinguish kinds of failures. */
int ww_rt_kernel_error(const struct ww_error *error) {
    if (error->code == WW_NOMEM) return RT_ERROR_MEMORY_ALLOCATION;
    if (error->code == WW_UNSUPPORTED) return RT_ERROR_NOT_SUPPORTED;
    if (error->code != WW_EXEC) return RT_ERROR_LAUNCH_FAILURE;
    if (strstr(error->text, "assertion '")) return RT_ERROR_ASSERT;
    if (strstr(error->text, "misaligned")) return RT_ERROR_MISALIGNED_ADDRESS;
    if (strstr(error->text, "out-of-bounds") || strstr(error->text, "nothing is allocated"))
        return RT_ERROR_ILLEGAL_ADDRESS;
    if (strstr(error->text, "an endless loop?")) return RT_ERROR_LAUNCH_TIMEOUT;
    return RT_ERROR_LAUNCH_FAILURE;
}

/* ---- reports to the command that started the program ---- */

/* Writes to a pipe whose reader may have ended: the program gets no SIGPIPE for that. */
static bool write_quietly(int fd, const char *text, size_t n) {
    static const struct timespec now;
    sigset_t of_pipe, before, pending;
    sigemptyset(&of_pipe);
    sigaddset(&of_pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &of_pipe, &before);
    bool good = write(fd, text, n) >= 0;
    if (!good && errno == EPIPE && !sigismember(&pending, SIGPIPE)) sigtimedwait(&of_pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

/* A line of at most PIPE_BUF bytes, so that lines of several processes do not mix. */
__attribute__((format(printf, 1, 2))) static void report(const char *fmt, ...) {
    char line[512];
    va_list list;
    if (ww_rt.options.report.fd < 0 || !ww_ownfd_holds(&ww_rt.options.report)) return;
    va_start(list, fmt);
    int n = vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    if (n > 0 && (size_t)n < sizeof line && !write_quietly(ww_rt.options.report.fd, line, (size_t)n))
        ww_rt.options.report.fd = -1; /* the reader has closed the pipe */
}

/* ---- start ---- */

static enum ww_code load_gpu(struct ww_error *error) {
    WW_TRY(ww_gpu_load(ww_rt.options.gpu ? ww_rt.options.gpu : DEFAULT_GPU, NULL, 0, &ww_rt.gpu, error));
    ww_rt.spec = &ww_rt.gpu->spec;
    const char *arch = ww_rt.spec->arch;
    ww_rt.capability = strncmp(arch, "sm_", 3) == 0 ? (uint32_t)strtoul(arch + 3, NULL, 10) : 70;
    const char *chosen = ww_rt.options.arch ? ww_rt.options.arch : arch;
    ww_rt.machine = strncmp(chosen, "sm_", 3) == 0 ? (uint32_t)strtoul(chosen + 3, NULL, 10) : ww_rt.capability;
    return WW_OK;
}

/* The program's own path and arguments, for the trace's provenance. */
static void command_line(char *program, size_t program_size, char *arguments, size_t size) {
    char all[4096];
    FILE *f = fopen("/proc/self/cmdline", "rb");
    size_t n = f ? fread(all, 1, sizeof all - 1, f) : 0;
    if (f) fclose(f);
    all[n] = 0;
    snprintf(program, program_size, "%.1000s", all);
    size_t skip = strlen(all) + 1;
    for (size_t i = skip; i + 1 < n; i++)
        if (!all[i]) all[i] = ' ';
    snprintf(arguments, size, "%.2000s", skip < n ? all + skip : "");
}

static bool step(void *context, double part, uint64_t done, const char *unit);

static void message(void *context, const char *text) {
    (void)context;
    ww_rt_say("%s", text);
}

static enum ww_code open_device(struct ww_error *error) {
    char program[1024], arguments[2048];
    bool records = ww_rt.options.out && !ww_rt.options.no_record;
    if (ww_rt.options.report.fd >= 0 && !ww_ownfd_holds(&ww_rt.options.report) && records) {
        ww_rt_say(
            "the program closed descriptors that are not its own before it used CUDA: nothing is recorded, "
            "launches are computed");
        records = false;
    }
    command_line(program, sizeof program, arguments, sizeof arguments);
    struct ww_trace_meta meta = {.program = program, .arguments = arguments, .tool = "warpwatt " WW_VERSION};
    struct ww_record_options o = {.out_path = records ? ww_rt.options.out : NULL,
                                  .arch = ww_rt.options.arch ? ww_rt.options.arch : ww_rt.spec->arch,
                                  .instruction_limit = ww_rt.options.limit,
                                  .kernel_output = stdout,
                                  .progress = ww_rt.options.progress ? step : NULL,
                                  .code = ww_rt.options.code,
                                  .ptxas_options = ww_rt.options.ptxas_options,
                                  .keep_source = ww_rt.options.keep_source,
                                  .message = ww_rt.options.quiet ? NULL : message};
    if (ww_rt.spec->sm_max_registers_per_thread < 255)
        o.max_registers = ww_rt.spec->sm_max_registers_per_thread;
    WW_TRY(ww_device_new(&o, &meta, &ww_rt.device, error));
    ww_device_set_memory(ww_rt.device, RT_DEVICE_BASE, ww_rt_global_memory());
    report("begin %ld\n", (long)getpid());
    return WW_OK;
}

static int start(void) {
    struct ww_error error = {0};
    ww_rt.started = true;
    ww_rt.pid = getpid();
    enum ww_code code = ww_rt_read_options(&ww_rt.options, &error);
    if (code == WW_OK) code = load_gpu(&error);
    if (code == WW_OK) code = open_device(&error);
    if (code == WW_OK) return 0;
    report("failed %d %ld\n", (int)code, (long)getpid());
    return ww_rt_say_error(&error, RT_ERROR_INITIALIZATION_ERROR);
}

int ww_rt_begin(void) {
    if (!ww_rt.started) ww_rt.start_code = start();
    return ww_rt.start_code;
}

int ww_rt_enter(void) {
    int code = ww_rt_begin();
    ww_rt.runtime_used = ww_rt.driver_ready = true;
    return code ? code : ww_rt.sticky;
}

static bool step(void *context, double part, uint64_t done, const char *unit) {
    static struct timespec last;
    struct timespec t;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (t.tv_sec - last.tv_sec + (t.tv_nsec - last.tv_nsec) / 250000000 < 1) return true;
    last = t;
    tell("\rlaunch %llu: %llu %s, %.0f %%   ", (unsigned long long)ww_rt.launches, (unsigned long long)done,
         unit, 100 * part);
    return true;
}

bool ww_rt_recording(void) {
    if (ww_rt.pid != getpid()) return false;
    if (!ww_rt.damaged && ww_device_recording_lost(ww_rt.device)) {
        ww_rt_say(
            "the program closed descriptors that are not its own, the trace's among them: the recording ends, "
            "launches are still computed");
        ww_rt.damaged = true;
    }
    return !ww_rt.damaged;
}

/* ---- end ---- */

static void give_up(void) {
    ww_device_free_all(ww_rt.device); /* removes the temporary file */
    ww_rt.device = NULL;
}

/* Runs at exit(), after the program's own exit handlers. A child made by fork has no part in the recording. */
__attribute__((destructor)) static void finish(void) {
    WW_PLAIN_LOCALE;
    struct ww_error error = {0};
    struct ww_record_stats stats = {0};
    if (!ww_rt.device || ww_rt.pid != getpid()) return;
    say_missing();
    if (ww_rt.options.progress) tell("\r\033[K");
    if (ww_rt.running) { /* a signal handler that calls exit(): what it interrupted may not be freed */
        ww_rt_say("the program ended while kernel '%s' was running, so that its recording is not whole",
                  ww_rt.running);
        report("failed %d %ld\n", WW_EXEC, (long)getpid());
        ww_device_abandon(ww_rt.device);
        return;
    }
    if (ww_rt.damaged || (ww_rt.options.out && !ww_rt_recording())) {
        report("failed %d %ld\n", WW_EXEC, (long)getpid());
        give_up();
        return;
    }
    bool records = ww_rt.options.out && !ww_rt.options.no_record;
    if (records && ww_rt.recorded == 0) { /* an empty trace is not kept */
        report("done %llu 0 0 0 0 %ld\n", (unsigned long long)ww_rt.launches, (long)getpid());
        give_up();
        return;
    }
    enum ww_code code = ww_device_finish(ww_rt.device, &stats, &error);
    if (code == WW_OK) {
        report("done %llu %llu %llu %llu %llu %ld\n", (unsigned long long)ww_rt.launches,
               (unsigned long long)ww_rt.recorded, (unsigned long long)stats.warp_instructions,
               (unsigned long long)stats.thread_instructions, (unsigned long long)stats.bytes, (long)getpid());
    } else {
        ww_rt_say_error(&error, 0);
        report("failed %d %ld\n", (int)code, (long)getpid());
    }
    give_up();
}
