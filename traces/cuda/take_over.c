/* take_over.c: libwarpwatt-static.so, which lets a program with a CUDA runtime of its own be recorded.
 *
 * nvcc links its runtime statically unless told otherwise. This library is preloaded; before the program's own
 * start-up code runs it looks at the symbol tables of what is loaded. Where a file defines the runtime's
 * functions, each of them is made to begin with a jump to the function of the same name in the recording
 * libcudart.so of the same version, which lies beside this library. A file without a symbol table is left as it
 * is.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define JUMP_BYTES 14u /* jmp *0(%rip), and the address */

struct image {
    const unsigned char *p; /* the file */
    uint64_t n;
    const char *path;
    const struct dl_phdr_info *loaded;
    const Elf64_Sym *symbol;
    uint64_t count;
    const char *names;
    uint64_t names_bytes;
};

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...) {
    char line[PATH_MAX + 200];
    va_list list;
    va_start(list, fmt);
    int n = vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0) return;
}

/* ---- the symbol table of a file ---- */

static bool within(const struct image *m, uint64_t at, uint64_t bytes) {
    return at <= m->n && bytes <= m->n - at;
}

static bool find_symbols(struct image *m) {
    const Elf64_Ehdr *e = (const void *)m->p;
    if (!within(m, 0, sizeof *e) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
        e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_shentsize != sizeof(Elf64_Shdr) || e->e_shoff % 8 ||
        !within(m, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    const Elf64_Shdr *s = (const void *)(m->p + e->e_shoff);
    for (unsigned n = 0; n < e->e_shnum; n++) {
        if (s[n].sh_type != SHT_SYMTAB || s[n].sh_link >= e->e_shnum || s[n].sh_offset % 8) continue;
        const Elf64_Shdr *names = &s[s[n].sh_link];
        if (!within(m, s[n].sh_offset, s[n].sh_size) || !within(m, names->sh_offset, names->sh_size) ||
            names->sh_size == 0 || m->p[names->sh_offset + names->sh_size - 1] != 0)
            return false;
        m->symbol = (const void *)(m->p + s[n].sh_offset);
        m->count = s[n].sh_size / sizeof *m->symbol;
        m->names = (const char *)m->p + names->sh_offset;
        m->names_bytes = names->sh_size;
        return true;
    }
    return false;
}

/* The name of a function of the runtime that the file defines, or NULL. */
static const char *runtime_name(const struct image *m, uint64_t n) {
    const Elf64_Sym *s = &m->symbol[n];
    if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF || s->st_name >= m->names_bytes)
        return NULL;
    const char *name = m->names + s->st_name;
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0 ? name : NULL;
}

static bool defines(const struct image *m, const char *wanted) {
    for (uint64_t n = 0; n < m->count; n++) {
        const char *name = runtime_name(m, n);
        if (name && strcmp(name, wanted) == 0) return true;
    }
    return false;
}

/* Versions differ in what they define; NULL if this is no CUDA runtime. */
static const char *version_of(const struct image *m) {
    if (!defines(m, "__cudaRegisterFatBinary") || !defines(m, "cudaMalloc")) return NULL;
    if (defines(m, "cudaGetDeviceProperties_v2")) return "12";
    return defines(m, "cudaThreadSynchronize") ? "11.0" : "13";
}

/* ---- jumps ---- */

/* True if a jump fits into code of the loaded file. */
static bool is_code(const struct image *m, uint64_t at) {
    for (unsigned n = 0; n < m->loaded->dlpi_phnum; n++) {
        const Elf64_Phdr *p = &m->loaded->dlpi_phdr[n];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && at >= p->p_vaddr && p->p_memsz >= JUMP_BYTES &&
            at - p->p_vaddr <= p->p_memsz - JUMP_BYTES)
            return true;
    }
    return false;
}

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
static void redirect(const struct image *m, void *library) {
    for (uint64_t n = 0; n < m->count; n++) {
        const char *name = runtime_name(m, n);
        uint64_t at = m->symbol[n].st_value;
        const void *target = name && (at % 16 == 0 || m->symbol[n].st_size >= JUMP_BYTES) && is_code(m, at)
                                 ? dlsym(library, name)
                                 : NULL;
        if (target && !write_jump((unsigned char *)m->loaded->dlpi_addr + at, target)) {
            say("warpwatt: %s: code cannot be changed (%s): the CUDA runtime that is linked into it cannot be "
                "replaced; compile with nvcc -cudart shared\n",
                m->path, strerror(errno));
            return;
        }
    }
}

static void *open_runtime(const char *version) {
    char path[PATH_MAX];
    Dl_info self;
    if (!dladdr((const void *)(uintptr_t)open_runtime, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int length = slash ? (int)(slash - self.dli_fname) : 1;
    snprintf(path, sizeof path, "%.*s/libcudart.so.%s", length, slash ? self.dli_fname : ".", version);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) say("warpwatt: %s: %s\n", path, dlerror());
    return library;
}

static void look_at(struct image *m) {
    const char *version = find_symbols(m) ? version_of(m) : NULL;
    void *library = version ? open_runtime(version) : NULL;
    if (library) redirect(m, library);
}

static int each(struct dl_phdr_info *loaded, size_t size, void *self) {
    struct stat st;
    struct image m = {.path = *loaded->dlpi_name ? loaded->dlpi_name : "/proc/self/exe", .loaded = loaded};
    (void)size;
    if (strcmp(m.path, self) == 0) return 0;
    int fd = open(m.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0; /* the kernel's own */
    void *p = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0
                  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                  : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED) return 0;
    m.p = p;
    m.n = (uint64_t)st.st_size;
    look_at(&m);
    munmap(p, m.n);
    return 0;
}

/* Files are listed first: opening a runtime while the list is walked would wait for itself. */
#define FILES_MAX 512
struct files {
    struct dl_phdr_info info[FILES_MAX];
    unsigned count;
};

static int note(struct dl_phdr_info *loaded, size_t size, void *list) {
    struct files *f = list;
    if (f->count < FILES_MAX)
        memcpy(&f->info[f->count++], loaded, size < sizeof *loaded ? size : sizeof *loaded);
    return 0;
}

__attribute__((constructor)) static void take_over(void) {
    static struct files files;
    Dl_info self;
    if (!dladdr((const void *)(uintptr_t)open_runtime, &self)) return;
    dl_iterate_phdr(note, &files);
    char *own = (char *)(uintptr_t)self.dli_fname;
    for (unsigned n = 0; n < files.count; n++) each(&files.info[n], sizeof files.info[n], own);
}
