/* cubin_elf.c: the ELF side of cubins: header, sections, symbols, entries of relocation sections. */
#include "cubin_internal.h"
#include <string.h>

#define ELF_HEADER 64u
#define SECTION_HEADER 64u
#define SYMBOL_BYTES 24u
#define MACHINE_CUDA 190u
#define TYPE_RELOCATABLE 1u
#define TYPE_EXECUTABLE 2u
#define SECTION_SYMBOLS 2u
#define SECTION_RELA 4u
#define SECTION_NO_BITS 8u
#define SECTION_RELA_BYTES 24u
#define SECTION_REL_BYTES 16u
#define INDEX_ABSOLUTE 0xfff1u
#define INDEX_RESERVED 0xff00u
#define ABI_NEW 8u /* of toolkit 13: the architecture lies in bits 8 to 15 of the flags */
#define FLAG_SPECIFIC 0x800u
#define ARCH_FIRST 70u
#define SHARED_MAX ((uint64_t)1 << 20)
#define GLOBAL_MAX ((uint64_t)1 << 34)

bool ww_cubin_is(const void *data, size_t n) {
    const unsigned char *p = data;
    return n >= ELF_HEADER && memcmp(p, "\177ELF\2\1", 6) == 0 && cubin_get(p + 18, 2) == MACHINE_CUDA;
}

bool ww_cubin_prefix(const char *name, const char *prefix, const char **rest) {
    size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) != 0) return false;
    *rest = name + n;
    return true;
}

/* The string at `at` of a string table; NULL if it does not end within it. */
static const char *string_of(const struct ww_cubin *c, const struct ww_cubin_section *table, uint64_t at) {
    if (at >= table->size) return NULL;
    const char *s = (const char *)c->bytes + table->offset + at;
    return memchr(s, 0, table->size - at) ? s : NULL;
}

static enum ww_code check_header(struct ww_cubin *c, uint64_t *at, uint64_t *count, uint64_t *names,
                                 struct ww_error *error) {
    const unsigned char *p = c->bytes;
    if (!ww_cubin_is(p, c->size))
        return ww_cubin_bad(c, error, WW_INPUT, 0, "expected the ELF header of a cubin");
    uint64_t flags = cubin_get(p + 48, 4), type = cubin_get(p + 16, 2);
    c->arch = p[8] >= ABI_NEW ? flags >> 8 & 0xff : flags & 0xff;
    c->specific = p[8] < ABI_NEW && flags & FLAG_SPECIFIC;
    c->relocatable = type == TYPE_RELOCATABLE;
    if (type != TYPE_EXECUTABLE && !c->relocatable)
        return ww_cubin_bad(c, error, WW_INPUT, 16, "ELF type %llu: expected 2", (unsigned long long)type);
    if (c->arch < ARCH_FIRST)
        return ww_cubin_bad(c, error, WW_UNSUPPORTED, 48, "machine code for sm_%u: expected sm_70 or newer",
                            c->arch);
    *at = cubin_get(p + 40, 8), *count = cubin_get(p + 60, 2), *names = cubin_get(p + 62, 2);
    if (cubin_get(p + 58, 2) != SECTION_HEADER)
        return ww_cubin_bad(c, error, WW_INPUT, 58, "section headers of %llu bytes: expected 64",
                            (unsigned long long)cubin_get(p + 58, 2));
    if (*at > c->size || *count * SECTION_HEADER > c->size - *at)
        return ww_cubin_bad(c, error, WW_INPUT, 40,
                            "%llu section headers at %llu: expected them within %llu bytes",
                            (unsigned long long)*count, (unsigned long long)*at, (unsigned long long)c->size);
    if (*names >= *count) return ww_cubin_bad(c, error, WW_INPUT, 62, "expected a section of names");
    return WW_OK;
}

static enum ww_code read_section(const struct ww_cubin *c, uint64_t at, struct ww_cubin_section *s,
                                 struct ww_error *error) {
    const unsigned char *p = c->bytes + at;
    *s = (struct ww_cubin_section){.name = "",
                                   .name_at = at,
                                   .type = (uint32_t)cubin_get(p + 4, 4),
                                   .flags = cubin_get(p + 8, 8),
                                   .offset = cubin_get(p + 24, 8),
                                   .size = cubin_get(p + 32, 8),
                                   .link = (uint32_t)cubin_get(p + 40, 4),
                                   .info = (uint32_t)cubin_get(p + 44, 4),
                                   .align = cubin_get(p + 48, 8),
                                   .entry_bytes = cubin_get(p + 56, 8),
                                   .kernel = CUBIN_NONE};
    if (s->type == 0 || s->type == SECTION_NO_BITS) return WW_OK;
    if (s->offset > c->size || s->size > c->size - s->offset)
        return ww_cubin_bad(
            c, error, WW_INPUT, at + 24, "a section of %llu bytes at %llu: expected it within %llu",
            (unsigned long long)s->size, (unsigned long long)s->offset, (unsigned long long)c->size);
    return WW_OK;
}

/* What the name says: code, global, constant or shared memory. */
static enum ww_code classify(const struct ww_cubin *c, struct ww_cubin_section *s, struct ww_error *error) {
    const char *rest;
    uint64_t limit = GLOBAL_MAX;
    if (ww_cubin_prefix(s->name, ".text.", &rest)) {
        s->kind = CUBIN_TEXT;
    } else if (ww_cubin_prefix(s->name, ".nv.constant", &rest)) {
        if (rest[0] < '0' || rest[0] >= '0' + WW_CUBIN_BANKS || (rest[1] && rest[1] != '.')) return WW_OK;
        s->kind = CUBIN_CONSTANT;
        s->bank = (uint32_t)(rest[0] - '0');
        limit = WW_CUBIN_BANK_MAX;
    } else if (strcmp(s->name, ".nv.global") == 0 || strcmp(s->name, ".nv.global.init") == 0) {
        s->kind = CUBIN_GLOBAL;
    } else if (ww_cubin_prefix(s->name, ".nv.shared.", &rest)) {
        s->kind = CUBIN_SHARED;
        limit = SHARED_MAX;
    }
    if (s->kind != CUBIN_OTHER && s->size > limit)
        return ww_cubin_bad(c, error, WW_INPUT, s->name_at + 32,
                            "section %.100s of %llu bytes: expected at most %llu", s->name,
                            (unsigned long long)s->size, (unsigned long long)limit);
    if ((s->kind == CUBIN_TEXT || s->kind == CUBIN_CONSTANT) && s->type == SECTION_NO_BITS)
        return ww_cubin_bad(c, error, WW_INPUT, s->name_at + 4, "section %.100s: expected bytes in the file",
                            s->name);
    return WW_OK;
}

static enum ww_code read_sections(struct ww_cubin *c, struct ww_error *error) {
    uint64_t at = 0, count = 0, names = 0;
    WW_TRY(check_header(c, &at, &count, &names, error));
    c->sections = ww_arena_array(c->arena, count, sizeof *c->sections);
    if (!c->sections) return ww_fail_nomem(error, "cubin");
    c->section_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++)
        WW_TRY(read_section(c, at + i * SECTION_HEADER, &c->sections[i], error));
    if (c->sections[names].type == 0 || c->sections[names].type == SECTION_NO_BITS)
        return ww_cubin_bad(c, error, WW_INPUT, 62, "expected a section of names");
    for (uint64_t i = 0; i < count; i++) {
        struct ww_cubin_section *s = &c->sections[i];
        if (s->type == 0) continue;
        s->name = string_of(c, &c->sections[names], cubin_get(c->bytes + s->name_at, 4));
        if (!s->name)
            return ww_cubin_bad(c, error, WW_INPUT, s->name_at, "a section's name: expected a string");
        WW_TRY(classify(c, s, error));
    }
    return WW_OK;
}

static enum ww_code read_symbol(const struct ww_cubin *c, const struct ww_cubin_section *names, uint64_t at,
                                struct ww_cubin_symbol *s, struct ww_error *error) {
    const unsigned char *p = c->bytes + at;
    uint32_t index = (uint32_t)cubin_get(p + 6, 2);
    *s = (struct ww_cubin_symbol){.name = string_of(c, names, cubin_get(p, 4)),
                                  .type = p[4] & 15,
                                  .bind = p[4] >> 4,
                                  .other = p[5],
                                  .section = index,
                                  .value = cubin_get(p + 8, 8),
                                  .size = cubin_get(p + 16, 8)};
    if (!s->name) return ww_cubin_bad(c, error, WW_INPUT, at, "a symbol's name: expected a string");
    if (index >= INDEX_RESERVED) s->section = CUBIN_NONE;
    if (s->section != CUBIN_NONE && s->section >= c->section_count)
        return ww_cubin_bad(c, error, WW_INPUT, at + 6, "symbol %.100s in section %u: expected below %u",
                            s->name, index, c->section_count);
    if (s->section == CUBIN_NONE || c->sections[s->section].kind == CUBIN_OTHER) return WW_OK;
    uint64_t room = c->sections[s->section].size;
    if (s->value > room || s->size > room - s->value)
        return ww_cubin_bad(c, error, WW_INPUT, at + 8, "symbol %.100s at %llu: expected it within %llu bytes",
                            s->name, (unsigned long long)s->value, (unsigned long long)room);
    return WW_OK;
}

static enum ww_code read_symbols(struct ww_cubin *c, struct ww_error *error) {
    const struct ww_cubin_section *table = NULL;
    for (uint32_t i = 0; i < c->section_count && !table; i++)
        if (c->sections[i].type == SECTION_SYMBOLS) table = &c->sections[i];
    if (!table) return WW_OK;
    if (table->link >= c->section_count || c->sections[table->link].type == 0 ||
        c->sections[table->link].type == SECTION_NO_BITS)
        return ww_cubin_bad(c, error, WW_INPUT, table->name_at + 40, "symbols: expected a section of names");
    uint64_t count = table->size / SYMBOL_BYTES;
    c->symbols = ww_arena_array(c->arena, count, sizeof *c->symbols);
    if (!c->symbols) return ww_fail_nomem(error, "cubin");
    c->symbol_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++)
        WW_TRY(
            read_symbol(c, &c->sections[table->link], table->offset + i * SYMBOL_BYTES, &c->symbols[i], error));
    return WW_OK;
}

enum ww_code ww_cubin_read_elf(struct ww_cubin *c, struct ww_error *error) {
    WW_TRY(read_sections(c, error));
    return read_symbols(c, error);
}

uint64_t ww_cubin_reloc_count(const struct ww_cubin_section *s) {
    return s->size / (s->type == SECTION_RELA ? SECTION_RELA_BYTES : SECTION_REL_BYTES);
}

enum ww_code ww_cubin_reloc(const struct ww_cubin *c, const struct ww_cubin_section *s, uint64_t number,
                            struct cubin_reloc *reloc, struct ww_error *error) {
    bool rela = s->type == SECTION_RELA;
    uint64_t at = s->offset + number * (rela ? SECTION_RELA_BYTES : SECTION_REL_BYTES);
    const unsigned char *p = c->bytes + at;
    *reloc = (struct cubin_reloc){.at = at,
                                  .offset = cubin_get(p, 8),
                                  .type = (uint32_t)cubin_get(p + 8, 4),
                                  .symbol = (uint32_t)cubin_get(p + 12, 4),
                                  .addend = rela ? cubin_get(p + 16, 8) : 0,
                                  .has_addend = rela};
    if (reloc->symbol >= c->symbol_count)
        return ww_cubin_bad(c, error, WW_INPUT, at + 12, "relocation by symbol %u: expected below %u",
                            reloc->symbol, c->symbol_count);
    return WW_OK;
}
