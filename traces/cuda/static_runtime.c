/* static_runtime.c: finds the functions of a CUDA runtime in a file, by symbols or by the code of an archive.
 */
#include "static_runtime.h"
#include <stdlib.h>
#include <string.h>

#define ANCHOR_MIN 12u  /* bytes in a row that no relocation changes */
#define SECTION_MIN 64u /* such bytes in all: less code may be in any file */

/* ---- functions ---- */

static bool is_runtime_name(const char *name) {
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

static bool add(struct static_runtime *r, const char *name, uint64_t at, uint64_t bytes) {
    if (r->count == r->most) {
        size_t most = r->most ? 2 * r->most : 512;
        struct runtime_function *f = realloc(r->function, most * sizeof *f);
        if (!f) return false;
        r->function = f;
        r->most = most;
    }
    r->function[r->count++] = (struct runtime_function){name, at, bytes};
    return true;
}

void ww_static_runtime_free(struct static_runtime *r) {
    free(r->function);
    *r = (struct static_runtime){0};
}

static bool has(const struct static_runtime *r, const char *wanted) {
    for (size_t n = 0; n < r->count; n++)
        if (strcmp(r->function[n].name, wanted) == 0) return true;
    return false;
}

/* Versions differ in what they define. */
const char *ww_static_runtime_version(const struct static_runtime *r) {
    if (!has(r, "__cudaRegisterFatBinary") || !has(r, "cudaMalloc")) return NULL;
    if (has(r, "cudaGetDeviceProperties_v2")) return "12";
    return has(r, "cudaThreadSynchronize") ? "11.0" : "13";
}

bool ww_static_runtime_of_symbols(struct static_runtime *r, const struct elf_image *m, uint32_t type) {
    struct elf_symbols s;
    Elf64_Sym symbol;
    if (!ww_elf_find_symbols(m, type, &s)) return false;
    for (uint64_t n = 0; n < s.count; n++) {
        const char *name = ww_elf_symbol(m, &s, n, &symbol);
        if (!name || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        if (is_runtime_name(name) && !add(r, name, symbol.st_value, symbol.st_size)) return false;
    }
    return ww_static_runtime_version(r) != NULL;
}

/* ---- the code of an object file ---- */

/* What a relocation may change before its place, and from there on: linkers replace loads from the table of
 * addresses and accesses of thread-local variables by shorter instructions. */
static void changed_by(uint32_t type, unsigned *before, unsigned *after) {
    *before = 0;
    *after = 4;
    switch (type) {
    case R_X86_64_64:
        *after = 8;
        return;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
    case R_X86_64_GOTTPOFF:
        *before = 3;
        return;
    case R_X86_64_TLSGD:
    case R_X86_64_TLSLD:
        *before = 4;
        *after = 16;
        return;
    default:
        return;
    }
}

static void clear(unsigned char *fixed, uint64_t bytes, const Elf64_Rela *r) {
    unsigned before, after;
    changed_by((uint32_t)ELF64_R_TYPE(r->r_info), &before, &after);
    if (r->r_offset > bytes) return;
    uint64_t first = r->r_offset > before ? r->r_offset - before : 0;
    uint64_t end = r->r_offset + after < bytes ? r->r_offset + after : bytes;
    memset(fixed + first, 0, end - first);
}

/* For each byte of a section, 1 if it is the same in a program that was linked from it. NULL: no memory. */
static unsigned char *fixed_bytes(const struct elf_image *o, unsigned section, uint64_t bytes) {
    unsigned char *fixed = malloc(bytes);
    Elf64_Shdr s;
    Elf64_Rela r;
    if (!fixed) return NULL;
    memset(fixed, 1, bytes);
    for (unsigned n = 0; ww_elf_section(o, n, &s); n++) {
        if (s.sh_type != SHT_RELA || s.sh_info != section || !ww_elf_within(o, s.sh_offset, s.sh_size))
            continue;
        for (uint64_t at = 0; at + sizeof r <= s.sh_size; at += sizeof r) {
            memcpy(&r, o->p + s.sh_offset + at, sizeof r);
            clear(fixed, bytes, &r);
        }
    }
    return fixed;
}

struct pattern {
    const unsigned char *code, *fixed;
    uint64_t bytes, anchor, anchor_bytes;
};

/* The longest row of fixed bytes; false if there are too few to tell this code from other code. */
static bool find_anchor(struct pattern *t) {
    uint64_t row = 0, all = 0;
    for (uint64_t n = 0; n < t->bytes; n++) {
        row = t->fixed[n] ? row + 1 : 0;
        all += t->fixed[n];
        if (row <= t->anchor_bytes) continue;
        t->anchor_bytes = row;
        t->anchor = n + 1 - row;
    }
    return t->anchor_bytes >= ANCHOR_MIN && all >= SECTION_MIN;
}

static bool same(const struct pattern *t, const unsigned char *code) {
    for (uint64_t n = 0; n < t->bytes; n++)
        if (t->fixed[n] && t->code[n] != code[n]) return false;
    return true;
}

/* The place of the pattern in bytes of a file. */
static bool find_pattern(const struct pattern *t, const unsigned char *p, uint64_t n, uint64_t *at) {
    for (uint64_t from = t->anchor; from < n && t->bytes <= n;) {
        const unsigned char *hit = memmem(p + from, n - from, t->code + t->anchor, t->anchor_bytes);
        if (!hit) return false;
        *at = (uint64_t)(hit - p) - t->anchor;
        if (*at > n - t->bytes) return false;
        if (same(t, p + *at)) return true;
        from = (uint64_t)(hit - p) + 1;
    }
    return false;
}

/* The virtual address of the pattern in the code of a file. */
static bool find_code(const struct pattern *t, const struct elf_image *m, uint64_t *address) {
    Elf64_Phdr s;
    uint64_t at;
    for (unsigned n = 0; ww_elf_segment(m, n, &s); n++) {
        if (s.p_type != PT_LOAD || !(s.p_flags & PF_X) || !ww_elf_within(m, s.p_offset, s.p_filesz)) continue;
        if (!find_pattern(t, m->p + s.p_offset, s.p_filesz, &at)) continue;
        *address = s.p_vaddr + at;
        return true;
    }
    return false;
}

/* Adds the runtime's functions of one section; false if memory is short. */
static bool add_section(struct static_runtime *r, const struct elf_image *o, unsigned section,
                        uint64_t address) {
    struct elf_symbols s;
    Elf64_Sym symbol;
    if (!ww_elf_find_symbols(o, SHT_SYMTAB, &s)) return true;
    for (uint64_t n = 0; n < s.count; n++) {
        const char *name = ww_elf_symbol(o, &s, n, &symbol);
        if (!name || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx != section) continue;
        if (is_runtime_name(name) && !add(r, name, address + symbol.st_value, symbol.st_size)) return false;
    }
    return true;
}

static bool look_for(struct static_runtime *r, const struct elf_image *m, const struct elf_image *o,
                     unsigned section, const Elf64_Shdr *s) {
    uint64_t address;
    unsigned char *fixed = fixed_bytes(o, section, s->sh_size);
    struct pattern t = {.code = o->p + s->sh_offset, .fixed = fixed, .bytes = s->sh_size};
    bool good = fixed != NULL;
    if (good && find_anchor(&t) && find_code(&t, m, &address)) good = add_section(r, o, section, address);
    free(fixed);
    return good;
}

static bool look_for_object(struct static_runtime *r, const struct elf_image *m, const struct elf_image *o) {
    Elf64_Shdr s;
    for (unsigned n = 0; ww_elf_section(o, n, &s); n++) {
        bool code = s.sh_type == SHT_PROGBITS && s.sh_flags & SHF_EXECINSTR && s.sh_size >= SECTION_MIN;
        if (code && ww_elf_within(o, s.sh_offset, s.sh_size) && !look_for(r, m, o, n, &s)) return false;
    }
    return true;
}

/* ---- archives ---- */

struct member_header { /* all text */
    char name[16], date[12], uid[6], gid[6], mode[8], size[10], end[2];
};

bool ww_static_runtime_of_archive(struct static_runtime *r, const struct elf_image *m,
                                  const struct elf_image *archive) {
    static const char magic[8] = "!<arch>\n";
    struct member_header h;
    char size[sizeof h.size + 1] = {0};
    if (!ww_elf_within(archive, 0, sizeof magic) || memcmp(archive->p, magic, sizeof magic) != 0) return false;
    for (uint64_t at = sizeof magic; ww_elf_within(archive, at, sizeof h);) {
        memcpy(&h, archive->p + at, sizeof h);
        memcpy(size, h.size, sizeof h.size);
        uint64_t bytes = strtoull(size, NULL, 10);
        at += sizeof h;
        if (memcmp(h.end, "`\n", 2) != 0 || !ww_elf_within(archive, at, bytes)) break;
        const struct elf_image o = {archive->p + at, bytes};
        if (!look_for_object(r, m, &o)) return false;
        at += bytes + bytes % 2;
    }
    return ww_static_runtime_version(r) != NULL;
}
