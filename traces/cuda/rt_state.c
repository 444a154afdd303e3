/* rt_state.c: the process's device, its lock, errors, and the end of the recording. */
#include "rt.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_GPU "v100"

struct rt rt = {.next_shared = RT_SHARED_BASE, .next_id = 1, .stack_limit = 1024, .fifo_limit = 1 << 20};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int last_error;

void rt_lock(void) {
    pthread_mutex_lock(&lock);
}

void rt_unlock(const int *unused) {
    (void)unused;
    pthread_mutex_unlock(&lock);
}

int rt_set(int code) {
    if (code) last_error = code;
    return code;
}

int rt_last_error(bool clear) {
    int code = last_error ? last_error : rt.sticky;
    if (clear) last_error = 0;
    return code;
}

/* stderr as it was when the program started, under a high number: the program may close 2 and open a file. */
static struct ww_ownfd messages = {.fd = -1};

__attribute__((constructor)) static void keep_stderr(void) {
    messages = ww_ownfd_note(ww_ownfd_raise(dup(STDERR_FILENO), false));
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

void rt_say(const char *fmt, ...) {
    char line[1200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    tell("warpwatt: %s\n", line);
}

int rt_say_error(const struct ww_error *error, int code) {
    rt_say("%s%s%s", error->where, error->where[0] ? ": " : "", error->text);
    return code;
}

#define MISSING_MAX 600
int rt_missing(const char *name) {
    static const char *said[MISSING_MAX];
    static size_t count;
    RT_LOCK;
    for (size_t n = 0; n < count; n++)
        if (said[n] == name) return rt_set(RT_ERROR_NOT_SUPPORTED);
    if (count < MISSING_MAX) said[count++] = name;
    rt_say("%s is not supported by the recording CUDA runtime; it returned cudaErrorNotSupported", name);
    return rt_set(RT_ERROR_NOT_SUPPORTED);
}

/* The executor's texts tell kinds of failures apart. */
int rt_kernel_error(const struct ww_error *error) {
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

/* ---- what the command that started the program is told ---- */

/* A line of at most PIPE_BUF bytes, so that lines of several processes do not mix. */
__attribute__((format(printf, 1, 2))) static void report(const char *fmt, ...) {
    char line[512];
    va_list list;
    if (rt.options.report.fd < 0 || !ww_ownfd_holds(&rt.options.report)) return;
    va_start(list, fmt);
    int n = vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    if (n > 0 && (size_t)n < sizeof line && write(rt.options.report.fd, line, (size_t)n) < 0)
        rt.options.report.fd = -1; /* nobody listens */
}

/* ---- start ---- */

/* The models beside this library: in the source tree above a build directory, or in the share directory of the
 * prefix that it is installed under. The program's own place, which ww_gpu_load looks at, tells nothing. */
static bool models_beside(char *out, size_t size) {
    static const char *const tail[] = {"models", "share/warpwatt/models"};
    Dl_info self;
    char dir[PATH_MAX];
    if (!dladdr(&rt, &self) || !realpath(self.dli_fname, dir)) return false;
    for (int level = 0; level < 6; level++) {
        char *slash = strrchr(dir, '/');
        if (!slash) return false;
        *slash = 0;
        for (size_t n = 0; n < 2; n++) {
            int length = snprintf(out, size, "%s/%s", dir, tail[n]);
            if (length > 0 && (size_t)length < size && access(out, R_OK) == 0) return true;
        }
    }
    return false;
}

static enum ww_code load_gpu(struct ww_error *error) {
    char dir[PATH_MAX + 32];
    bool set =
        !getenv("WARPWATT_MODELS") && models_beside(dir, sizeof dir) && setenv("WARPWATT_MODELS", dir, 1) == 0;
    enum ww_code code = ww_gpu_load(rt.options.gpu ? rt.options.gpu : DEFAULT_GPU, NULL, 0, &rt.gpu, error);
    if (set) unsetenv("WARPWATT_MODELS"); /* the program's environment stays as it was */
    WW_TRY(code);
    rt.spec = &rt.gpu->spec;
    const char *arch = rt.spec->arch;
    rt.capability = strncmp(arch, "sm_", 3) == 0 ? (uint32_t)strtoul(arch + 3, NULL, 10) : 70;
    const char *chosen = rt.options.arch ? rt.options.arch : arch;
    rt.machine = strncmp(chosen, "sm_", 3) == 0 ? (uint32_t)strtoul(chosen + 3, NULL, 10) : rt.capability;
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
    rt_say("%s", text);
}

static enum ww_code open_device(struct ww_error *error) {
    char program[1024], arguments[2048];
    bool records = rt.options.out && !rt.options.no_record;
    if (rt.options.report.fd >= 0 && !ww_ownfd_holds(&rt.options.report) && records) {
        rt_say("the program closed descriptors that are not its own before it used CUDA: nothing is recorded, "
               "launches are computed");
        records = false;
    }
    command_line(program, sizeof program, arguments, sizeof arguments);
    struct ww_trace_meta meta = {.program = program, .arguments = arguments, .tool = "warpwatt " WW_VERSION};
    struct ww_record_options o = {.out_path = records ? rt.options.out : NULL,
                                  .arch = rt.options.arch ? rt.options.arch : rt.spec->arch,
                                  .instruction_limit = rt.options.limit,
                                  .kernel_output = stdout,
                                  .progress = rt.options.progress ? step : NULL,
                                  .code = rt.options.code,
                                  .ptxas_options = rt.options.ptxas_options,
                                  .message = rt.options.quiet ? NULL : message};
    if (rt.spec->sm_max_registers_per_thread < 255) o.max_registers = rt.spec->sm_max_registers_per_thread;
    WW_TRY(ww_device_new(&o, &meta, &rt.device, error));
    ww_device_set_memory(rt.device, RT_DEVICE_BASE, rt_global_memory());
    report("begin %ld\n", (long)getpid());
    return WW_OK;
}

static int start(void) {
    struct ww_error error = {0};
    rt.started = true;
    rt.pid = getpid();
    enum ww_code code = rt_read_options(&rt.options, &error);
    if (code == WW_OK) code = load_gpu(&error);
    if (code == WW_OK) code = open_device(&error);
    if (code == WW_OK) return 0;
    report("failed %d\n", (int)code);
    return rt_say_error(&error, RT_ERROR_INITIALIZATION_ERROR);
}

int rt_enter(void) {
    if (!rt.started) rt.start_code = start();
    return rt.start_code ? rt.start_code : rt.sticky;
}

static bool step(void *context, double part, uint64_t done, const char *unit) {
    static struct timespec last;
    struct timespec t;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (t.tv_sec - last.tv_sec + (t.tv_nsec - last.tv_nsec) / 250000000 < 1) return true;
    last = t;
    tell("\rlaunch %llu: %llu %s, %.0f %%   ", (unsigned long long)rt.launches, (unsigned long long)done, unit,
         100 * part);
    return true;
}

bool rt_recording(void) {
    if (rt.pid != getpid()) return false;
    if (!rt.damaged && ww_device_recording_lost(rt.device)) {
        rt_say(
            "the program closed descriptors that are not its own, the trace's among them: the recording ends, "
            "launches are still computed");
        rt.damaged = true;
    }
    return !rt.damaged;
}

/* ---- end ---- */

static void give_up(void) {
    ww_device_free_all(rt.device); /* removes the temporary file */
    rt.device = NULL;
}

/* Runs at exit(), after the program's own exit handlers. A child made by fork has no part in the recording. */
__attribute__((destructor)) static void finish(void) {
    struct ww_error error = {0};
    struct ww_record_stats stats = {0};
    if (!rt.device || rt.pid != getpid()) return;
    if (rt.options.progress) tell("\r\033[K");
    if (rt.running) /* a signal handler that calls exit() */
        rt_say("the program ended while kernel '%s' was running, so that its recording is not whole",
               rt.running);
    if (rt.damaged || rt.running || (rt.options.out && !rt_recording())) {
        report("failed %d\n", WW_EXEC);
        give_up();
        return;
    }
    bool records = rt.options.out && !rt.options.no_record;
    if (records && rt.recorded == 0) { /* a trace of nothing is not kept */
        report("done %llu 0 0 0 0\n", (unsigned long long)rt.launches);
        give_up();
        return;
    }
    enum ww_code code = ww_device_finish(rt.device, &stats, &error);
    if (code == WW_OK) {
        report("done %llu %llu %llu %llu %llu\n", (unsigned long long)rt.launches,
               (unsigned long long)rt.recorded, (unsigned long long)stats.warp_instructions,
               (unsigned long long)stats.thread_instructions, (unsigned long long)stats.bytes);
    } else {
        rt_say_error(&error, 0);
        report("failed %d\n", (int)code);
    }
    give_up();
}
