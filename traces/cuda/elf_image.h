/* elf_image.h: an ELF file in memory: its segments, sections and symbols.
 *
 * What the file says is not trusted. Nothing is aligned: a file may be a member of an archive. All pointers
 * lead into the file. For libwarpwatt-static.so, which needs the C library alone. */
#ifndef WW_TRACES_CUDA_ELF_IMAGE_H
#define WW_TRACES_CUDA_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_image {
    const unsigned char *p;
    uint64_t n;
};

struct elf_symbols {
    Elf64_Shdr table, names;
    uint64_t count;
};

/* Maps a file; false if it is no regular file or cannot be read. */
bool ww_elf_map(struct elf_image *m, const char *path);
void ww_elf_unmap(struct elf_image *m);
/* False if this is no 64-bit ELF file. */
bool ww_elf_header(const struct elf_image *m, Elf64_Ehdr *e);
bool ww_elf_section(const struct elf_image *m, unsigned n, Elf64_Shdr *s);
bool ww_elf_segment(const struct elf_image *m, unsigned n, Elf64_Phdr *s);
bool ww_elf_has_section(const struct elf_image *m, const char *name);
/* The table of symbols of a type: SHT_SYMTAB or SHT_DYNSYM. */
bool ww_elf_find_symbols(const struct elf_image *m, uint32_t type, struct elf_symbols *s);
/* The symbol's name, or NULL. */
const char *ww_elf_symbol(const struct elf_image *m, const struct elf_symbols *s, uint64_t n,
                          Elf64_Sym *symbol);
/* True if the file needs a library whose name begins so. */
bool ww_elf_needs(const struct elf_image *m, const char *prefix);
/* True if `bytes` from this virtual address on are code. */
bool ww_elf_is_code(const struct elf_image *m, uint64_t at, uint64_t bytes);

static inline bool ww_elf_within(const struct elf_image *m, uint64_t at, uint64_t bytes) {
    return at <= m->n && bytes <= m->n - at;
}

#endif
