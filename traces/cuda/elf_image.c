/* elf_image.c: an ELF file in memory: its segments, sections and symbols. */
#include "elf_image.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool ww_elf_map(struct elf_image *m, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    void *p = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0
                  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                  : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED) return false;
    *m = (struct elf_image){p, (uint64_t)st.st_size};
    return true;
}

void ww_elf_unmap(struct elf_image *m) {
    if (m->p) munmap((void *)(uintptr_t)m->p, m->n);
    m->p = NULL;
}

static bool read_at(const struct elf_image *m, uint64_t at, void *to, uint64_t bytes) {
    if (!ww_elf_within(m, at, bytes)) return false;
    memcpy(to, m->p + at, bytes);
    return true;
}

bool ww_elf_header(const struct elf_image *m, Elf64_Ehdr *e) {
    return read_at(m, 0, e, sizeof *e) && memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
           e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool ww_elf_section(const struct elf_image *m, unsigned n, Elf64_Shdr *s) {
    Elf64_Ehdr e;
    return ww_elf_header(m, &e) && n < e.e_shnum && e.e_shentsize == sizeof *s && e.e_shoff <= m->n &&
           read_at(m, e.e_shoff + n * sizeof *s, s, sizeof *s);
}

bool ww_elf_segment(const struct elf_image *m, unsigned n, Elf64_Phdr *s) {
    Elf64_Ehdr e;
    return ww_elf_header(m, &e) && n < e.e_phnum && e.e_phentsize == sizeof *s && e.e_phoff <= m->n &&
           read_at(m, e.e_phoff + n * sizeof *s, s, sizeof *s);
}

static const char *string_at(const struct elf_image *m, const Elf64_Shdr *strings, uint64_t at) {
    if (!ww_elf_within(m, strings->sh_offset, strings->sh_size) || at >= strings->sh_size) return NULL;
    const char *s = (const char *)m->p + strings->sh_offset + at;
    return memchr(s, 0, strings->sh_size - at) ? s : NULL;
}

bool ww_elf_has_section(const struct elf_image *m, const char *name) {
    Elf64_Ehdr e;
    Elf64_Shdr names, s;
    if (!ww_elf_header(m, &e) || !ww_elf_section(m, e.e_shstrndx, &names)) return false;
    for (unsigned n = 0; ww_elf_section(m, n, &s); n++) {
        const char *got = string_at(m, &names, s.sh_name);
        if (got && strcmp(got, name) == 0) return true;
    }
    return false;
}

bool ww_elf_find_symbols(const struct elf_image *m, uint32_t type, struct elf_symbols *s) {
    for (unsigned n = 0; ww_elf_section(m, n, &s->table); n++) {
        if (s->table.sh_type != type || !ww_elf_section(m, s->table.sh_link, &s->names) ||
            !ww_elf_within(m, s->table.sh_offset, s->table.sh_size))
            continue;
        s->count = s->table.sh_size / sizeof(Elf64_Sym);
        return true;
    }
    return false;
}

const char *ww_elf_symbol(const struct elf_image *m, const struct elf_symbols *s, uint64_t n,
                          Elf64_Sym *symbol) {
    if (n >= s->count || !read_at(m, s->table.sh_offset + n * sizeof *symbol, symbol, sizeof *symbol))
        return NULL;
    return string_at(m, &s->names, symbol->st_name);
}

bool ww_elf_needs(const struct elf_image *m, const char *prefix) {
    Elf64_Shdr dynamic, names;
    Elf64_Dyn d;
    for (unsigned n = 0; ww_elf_section(m, n, &dynamic); n++) {
        if (dynamic.sh_type != SHT_DYNAMIC || !ww_elf_section(m, dynamic.sh_link, &names) ||
            !ww_elf_within(m, dynamic.sh_offset, dynamic.sh_size))
            continue;
        for (uint64_t at = 0; at + sizeof d <= dynamic.sh_size; at += sizeof d) {
            if (!read_at(m, dynamic.sh_offset + at, &d, sizeof d) || d.d_tag == DT_NULL) break;
            const char *name = d.d_tag == DT_NEEDED ? string_at(m, &names, d.d_un.d_val) : NULL;
            if (name && strncmp(name, prefix, strlen(prefix)) == 0) return true;
        }
    }
    return false;
}

bool ww_elf_is_code(const struct elf_image *m, uint64_t at, uint64_t bytes) {
    Elf64_Phdr s;
    for (unsigned n = 0; ww_elf_segment(m, n, &s); n++)
        if (s.p_type == PT_LOAD && s.p_flags & PF_X && at >= s.p_vaddr && s.p_memsz >= bytes &&
            at - s.p_vaddr <= s.p_memsz - bytes)
            return true;
    return false;
}
