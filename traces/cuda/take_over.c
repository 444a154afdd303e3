/* take_over.c: libwarpwatt-static.so, which lets a program with a CUDA runtime of its own be recorded.
 *
 * nvcc links its runtime statically unless told otherwise. This library is preloaded; before the start-up code
 * of the program and of its libraries runs, it examines the loaded files. Where a file has the runtime's
 * functions (static_runtime.h), each of them is made to begin with a jump to the function of the same name in
 * the recording libcudart.so of the same version, which is in the folder of this library.
 *
 * The same is done for files that are opened later: the loader calls an empty function of its own, which it has
 * for debuggers, when new files are in memory and none of their code has run. That function jumps to here.
 */
#include "first_init.h"
#include "static_runtime.h"
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JUMP_BYTES 14u /* jmp *0(%rip), and the address */
#define REFUSED 4      /* WW_UNSUPPORTED, which the command that started the program ends with */

static char own_folder[PATH_MAX];

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...) {
    char line[PATH_MAX + 400];
    va_list list;
    va_start(list, fmt);
    int n = vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0) return;
}

/* ---- jumps ---- */

static bool write_jump(unsigned char *at, const void *target) {
    static const unsigned char jump[6] = {0xff, 0x25, 0, 0, 0, 0};
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at / page * page;
    size_t bytes = (uintptr_t)at + JUMP_BYTES - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &target, sizeof target);
    return mprotect((void *)first, bytes, PROT_READ | PROT_EXEC) == 0;
}

/* Functions lie at multiples of 16 bytes, so that a jump never reaches the next one. Others stay. */
static void redirect(const struct elf_image *m, const char *path, uintptr_t bias,
                     const struct static_runtime *r, void *library) {
    for (size_t n = 0; n < r->count; n++) {
        const struct runtime_function *f = &r->function[n];
        const void *target = (f->at % 16 == 0 || f->bytes >= JUMP_BYTES) && ww_elf_is_code(m, f->at, JUMP_BYTES)
                                 ? dlsym(library, f->name)
                                 : NULL;
        if (target && !write_jump((unsigned char *)bias + f->at, target)) {
            say("warpwatt: %s: code cannot be changed (%s): the CUDA runtime that is linked into it cannot be "
                "replaced; compile with nvcc -cudart shared\n",
                path, strerror(errno));
            return;
        }
    }
}

/* ---- the recording runtimes ---- */

/* All are opened at the start: a file that is opened later may need any of them, and while the loader is at
 * work it cannot open another one. */
static struct {
    const char *version;
    void *library;
} runtimes[] = {{"13", NULL}, {"12", NULL}, {"11.0", NULL}};

#define RUNTIMES (sizeof runtimes / sizeof runtimes[0])

static void open_runtimes(void) {
    char path[PATH_MAX + 40];
    for (size_t n = 0; n < RUNTIMES; n++) {
        snprintf(path, sizeof path, "%s/libcudart.so.%s", own_folder, runtimes[n].version);
        runtimes[n].library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!runtimes[n].library) say("warpwatt: %s: %s\n", path, dlerror());
    }
}

static void *runtime_of(const char *version) {
    for (size_t n = 0; n < RUNTIMES; n++)
        if (version && strcmp(runtimes[n].version, version) == 0) return runtimes[n].library;
    return NULL;
}

/* ---- archives of NVIDIA's runtime ---- */

#define ARCHIVES_MAX 16
static struct elf_image archives[ARCHIVES_MAX];
static size_t archive_count;
static bool archives_known;

static void add_archive(const char *path) {
    if (archive_count < ARCHIVES_MAX && ww_elf_map(&archives[archive_count], path)) archive_count++;
}

static void add_archives(const char *folder, int length) {
    static const char *const places[] = {"lib64", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"};
    char pattern[PATH_MAX + 100];
    for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) {
        glob_t found;
        snprintf(pattern, sizeof pattern, "%.*s/%s/libcudart_static.a", length, folder, places[n]);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++) add_archive(found.gl_pathv[k]);
        globfree(&found);
    }
}

/* The toolkit whose nvcc is found first. */
static void add_archives_of_path(void) {
    char nvcc[PATH_MAX], real[PATH_MAX];
    const char *p = getenv("PATH");
    for (size_t n; p && *p; p += n + (p[n] == ':')) {
        n = strcspn(p, ":");
        snprintf(nvcc, sizeof nvcc, "%.*s/nvcc", (int)n, p);
        if (access(nvcc, X_OK) != 0 || !realpath(nvcc, real)) continue;
        char *slash = strrchr(real, '/');
        *slash = 0;
        slash = strrchr(real, '/');
        if (slash) add_archives(real, (int)(slash - real));
        return;
    }
}

static void find_archives(void) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    const char *given = getenv("WARPWATT_CUDART_STATIC");
    if (archives_known) return;
    archives_known = true;
    if (given) {
        add_archive(given);
        return;
    }
    for (size_t n = 0; n < sizeof variables / sizeof variables[0]; n++) {
        const char *root = getenv(variables[n]);
        if (root && *root) add_archives(root, (int)strlen(root));
    }
    add_archives_of_path();
    add_archives("/usr/local/cuda*", INT_MAX);
    add_archives("/opt/cuda*", INT_MAX);
    add_archives("/usr", INT_MAX);
}

static bool find_by_archive(struct static_runtime *r, const struct elf_image *m) {
    find_archives();
    for (size_t n = 0; n < archive_count; n++) {
        if (ww_static_runtime_of_archive(r, m, &archives[n])) return true;
        ww_static_runtime_free(r);
    }
    return false;
}

/* ---- files ---- */

/* Device code, and neither the runtime's library nor the driver's, nor symbols by which a runtime is found. */
static bool hides_runtime(const struct elf_image *m) {
    struct elf_symbols unused;
    return ww_elf_has_section(m, ".nv_fatbin") && !ww_elf_find_symbols(m, SHT_SYMTAB, &unused) &&
           !ww_elf_needs(m, "libcudart.so") && !ww_elf_needs(m, "libcuda.so");
}

static void not_found(const char *path, bool program) {
    char real[PATH_MAX];
    if (program && realpath(path, real)) path = real;
    say("warpwatt: %s: the CUDA runtime is linked statically (nvcc's default) and the %s has no symbol table, "
        "so "
        "that "
        "the runtime's functions are not found; do not strip it, or build it with "
        "NVCC_APPEND_FLAGS='-cudart shared', or name the libcudart_static.a that it was linked with in "
        "WARPWATT_CUDART_STATIC\n",
        path, program ? "program" : "library");
    if (program) _exit(REFUSED);
}

static void look_at(const struct link_map *loaded) {
    bool program = !*loaded->l_name;
    const char *path = program ? "/proc/self/exe" : loaded->l_name;
    struct static_runtime r = {0};
    struct elf_image m;
    if (strncmp(path, own_folder, strlen(own_folder)) == 0 || !ww_elf_map(&m, path)) return;
    bool found = ww_static_runtime_of_symbols(&r, &m, SHT_SYMTAB);
    if (!found) {
        ww_static_runtime_free(&r);
        found =
            ww_static_runtime_of_symbols(&r, &m, SHT_DYNSYM); /* NVIDIA's libcudart.so, opened by its path */
    }
    if (!found && hides_runtime(&m)) {
        ww_static_runtime_free(&r);
        found = find_by_archive(&r, &m);
        if (!found) not_found(path, program);
    }
    void *library = found ? runtime_of(ww_static_runtime_version(&r)) : NULL;
    if (library) redirect(&m, path, loaded->l_addr, &r, library);
    ww_static_runtime_free(&r);
    ww_elf_unmap(&m);
}

/* ---- what is loaded ---- */

struct known {
    const struct link_map *loaded;
    uintptr_t bias;
};
static struct known *known;
static size_t known_count;

static bool is_known(const struct link_map *l) {
    for (size_t n = 0; n < known_count; n++)
        if (known[n].loaded == l && known[n].bias == l->l_addr) return true;
    return false;
}

/* Looks at files that were not there before. */
static void look_at_new(void) {
    size_t count = 0;
    for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
        if (!is_known(l)) look_at(l);
        count++;
    }
    struct known *list = realloc(known, count * sizeof *list);
    known_count = 0;
    if (!list) return;
    known = list;
    for (const struct link_map *l = _r_debug.r_map; l && known_count < count; l = l->l_next)
        known[known_count++] = (struct known){l, l->l_addr};
}

/* In place of the loader's function for debuggers. */
static void files_changed(void) {
    if (_r_debug.r_state == RT_CONSISTENT) look_at_new();
}

static void take_over(void) {
    Dl_info self;
    if (!dladdr((const void *)(uintptr_t)files_changed, &self)) return;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(own_folder, sizeof own_folder, "%.*s", slash ? (int)(slash - self.dli_fname) : 1,
             slash ? self.dli_fname : ".");
    open_runtimes();
    look_at_new();
    if (_r_debug.r_brk && _r_debug.r_brk % 16 == 0)
        write_jump((unsigned char *)(uintptr_t)_r_debug.r_brk, (const void *)(uintptr_t)files_changed);
}

__attribute__((constructor)) static void begin(void) {
    ww_first_init(take_over);
}
