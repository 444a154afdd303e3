/* elf_look.c: dynamic entries of an ELF file. */
#include "elf_look.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const unsigned char *p;
    uint64_t n;
};

static bool read_at(const struct file *f, uint64_t at, void *to, uint64_t n) {
    if (n > f->n || at > f->n - n) return false;
    memcpy(to, f->p + at, n);
    return true;
}

/* A string of a string table; "" if there is none. */
static const char *string_at(const struct file *f, uint64_t table, uint64_t bytes, uint64_t at) {
    if (at >= bytes || table > f->n || bytes > f->n - table) return "";
    const char *s = (const char *)f->p + table + at;
    return memchr(s, 0, bytes - at) ? s : "";
}

static void look_dynamic(const struct file *f, const Elf64_Shdr *dynamic, const Elf64_Shdr *strings,
                         struct elf_look *look) {
    bool rpath = false, runpath = false;
    for (uint64_t at = 0; at < dynamic->sh_size; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        if (!read_at(f, dynamic->sh_offset + at, &d, sizeof d) || d.d_tag == DT_NULL) break;
        rpath = rpath || d.d_tag == DT_RPATH;
        runpath = runpath || d.d_tag == DT_RUNPATH;
        const char *name =
            d.d_tag == DT_NEEDED ? string_at(f, strings->sh_offset, strings->sh_size, d.d_un.d_val) : "";
        if (strncmp(name, "libcudart.so", 12) == 0) snprintf(look->cudart, sizeof look->cudart, "%s", name);
    }
    look->rpath_first = rpath && !runpath;
}

static void look_sections(const struct file *f, struct elf_look *look) {
    Elf64_Ehdr e;
    Elf64_Shdr s, strings;
    if (!read_at(f, 0, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0) return;
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_shentsize != sizeof s)
        return;
    for (unsigned n = 0; n < e.e_shnum; n++) {
        if (!read_at(f, e.e_shoff + n * sizeof s, &s, sizeof s)) return;
        if (s.sh_type == SHT_DYNAMIC &&
            read_at(f, e.e_shoff + (uint64_t)s.sh_link * sizeof strings, &strings, sizeof strings))
            look_dynamic(f, &s, &strings, look);
    }
}

enum ww_code ww_elf_look(const char *path, struct elf_look *look, struct ww_error *error) {
    struct stat st;
    *look = (struct elf_look){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO has no writer yet */
    if (fd < 0 && access(path, X_OK) == 0) return WW_OK;    /* may be run, not read */
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0) close(fd);
        return ww_fail(error, WW_IO, path, "cannot open: %s", strerror(errno));
    }
    struct file f = {NULL, (uint64_t)st.st_size};
    void *p = S_ISREG(st.st_mode) && f.n ? mmap(NULL, f.n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED) return WW_OK;
    f.p = p;
    look_sections(&f, look);
    munmap(p, f.n);
    return WW_OK;
}
