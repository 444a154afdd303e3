/* cubin_fixture.c: cubins that tests put together. */
#include "cubin_fixture.h"
#include <string.h>

#define HEADER 64u
#define PROGBITS 1u
#define SYMTAB 2u
#define STRTAB 3u
#define RELA 4u
#define NOBITS 8u
#define INFO 0x70000000u

void cubin_put(unsigned char *p, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
}

unsigned char *cubin_section(struct cubin_made *m, unsigned number) {
    return m->data + m->sections + 64 * (size_t)number;
}

struct piece {
    const char *name;
    uint32_t type, link, info;
    uint64_t align, entry, size; /* size: of NOBITS */
    unsigned char bytes[512];
    size_t n;
};

static void add(struct piece *p, uint64_t v, unsigned bytes) {
    cubin_put(p->bytes + p->n, v, bytes);
    p->n += bytes;
}

static void add_text(struct piece *p, const char *s) {
    memcpy(p->bytes + p->n, s, strlen(s) + 1);
    p->n += strlen(s) + 1;
}

enum symbol { SYM_NONE, SYM_K, SYM_OTHER, SYM_V, SYM_ZERO, SYM_C, SYM_VPRINTF };

static void symbol(struct piece *table, struct piece *names, const char *name, unsigned info, unsigned other,
                   unsigned section, uint64_t value, uint64_t size) {
    add(table, names->n, 4);
    add(table, info, 1);
    add(table, other, 1);
    add(table, section, 2);
    add(table, value, 8);
    add(table, size, 8);
    add_text(names, name);
}

static void symbols(struct piece *table, struct piece *names) {
    add_text(names, "");
    for (int i = 0; i < 24; i++) add(table, 0, 1);
    symbol(table, names, "k", 0x12, 0x10, MADE_TEXT_K, 0, 48);
    symbol(table, names, "other", 0x12, 0x10, MADE_TEXT_OTHER, 0, 16);
    symbol(table, names, "v", 0x11, 0, MADE_INIT, 0, 8);
    symbol(table, names, "zero", 0x11, 0, MADE_ZERO, 0, 32);
    symbol(table, names, "c", 0x11, 0, MADE_BANK3, 4, 4);
    symbol(table, names, "vprintf", 0x12, 0, 0, 0, 0);
}

static void counted(struct piece *p, unsigned attribute, unsigned words, const uint32_t *word) {
    add(p, 4, 1);
    add(p, attribute, 1);
    add(p, 4 * (uint64_t)words, 2);
    for (unsigned i = 0; i < words; i++) add(p, word[i], 4);
}

static void info(struct piece *all, struct piece *k) {
    counted(all, 0x2f, 2, (const uint32_t[]){SYM_K, 8});
    counted(all, 0x12, 2, (const uint32_t[]){SYM_K, 24});
    counted(k, 0x17, 3, (const uint32_t[]){0, 8u << 16 | 1, 4u << 18});
    counted(k, 0x17, 3, (const uint32_t[]){0, 0, 8u << 18});
    counted(k, 0x0a, 2, (const uint32_t[]){0, 12u << 16 | 0x160});
    counted(k, 0x1c, 1, (const uint32_t[]){32});
    counted(k, 0x05, 3, (const uint32_t[]){128, 1, 1});
    counted(k, 0x34, 5, (const uint32_t[]){16, 0, 2, 0, 32});
    add(k, 3, 1), add(k, 0x1b, 1), add(k, 255, 2);
}

static void exit_code(struct piece *p, unsigned count) {
    for (unsigned i = 0; i < count; i++) add(p, CUBIN_EXIT_LOW, 8), add(p, CUBIN_EXIT_HIGH, 8);
}

/* MOV Rn, 0 */
static void move_code(struct piece *p, unsigned n) {
    add(p, 0x7802u | n << 16, 8);
    add(p, 0x000fe20000000f00u, 8);
}

static void relocation(struct piece *p, uint64_t offset, unsigned type, unsigned sym, uint64_t addend) {
    add(p, offset, 8);
    add(p, type, 4);
    add(p, sym, 4);
    add(p, addend, 8);
}

/* DWARF 2: one unit, one sequence: line 7 at 0, line 9 at 16, end at 48. */
static void lines(struct piece *p, struct piece *rel) {
    size_t unit = p->n;
    add(p, 0, 4), add(p, 2, 2);
    size_t header = p->n;
    add(p, 0, 4);
    add(p, 1, 1), add(p, 1, 1), add(p, 0xfb, 1), add(p, 14, 1), add(p, 10, 1);
    for (int i = 0; i < 9; i++) add(p, i == 0 || (i >= 5 && i <= 7) ? 0 : 1, 1);
    add(p, 0, 1); /* no directories */
    add_text(p, "k.cu");
    add(p, 0, 3);
    add(p, 0, 1);
    cubin_put(p->bytes + header, p->n - header - 4, 4);
    add(p, 0, 1), add(p, 9, 1), add(p, 2, 1);
    relocation(rel, p->n, 2, SYM_K, 0);
    add(p, 0, 8);
    add(p, 3, 1), add(p, 6, 1), add(p, 1, 1);                              /* line + 6, copy */
    add(p, 3, 1), add(p, 2, 1), add(p, 2, 1), add(p, 16, 1), add(p, 1, 1); /* line + 2, address + 16, copy */
    add(p, 2, 1), add(p, 32, 1), add(p, 0, 1), add(p, 1, 1), add(p, 1, 1); /* address + 32, end */
    cubin_put(p->bytes + unit, p->n - unit - 4, 4);
}

static void fill(struct piece *p) {
    static const struct piece shape[MADE_SECTIONS] = {
        [MADE_NAMES] = {".shstrtab", STRTAB, 0, 0, 1, 0, 0, {0}, 0},
        [MADE_STRINGS] = {".strtab", STRTAB, 0, 0, 1, 0, 0, {0}, 0},
        [MADE_SYMBOLS] = {".symtab", SYMTAB, MADE_STRINGS, SYM_K, 8, 24, 0, {0}, 0},
        [MADE_INFO] = {".nv.info", INFO, MADE_SYMBOLS, 0, 4, 0, 0, {0}, 0},
        [MADE_INFO_K] = {".nv.info.k", INFO, MADE_SYMBOLS, MADE_TEXT_K, 4, 0, 0, {0}, 0},
        [MADE_TEXT_K] = {".text.k", PROGBITS, MADE_SYMBOLS, SYM_K, 128, 0, 0, {0}, 0},
        [MADE_TEXT_OTHER] = {".text.other", PROGBITS, MADE_SYMBOLS, 9u << 24 | SYM_OTHER, 128, 0, 0, {0}, 0},
        [MADE_INIT] = {".nv.global.init", PROGBITS, 0, 0, 8, 0, 0, {0}, 0},
        [MADE_ZERO] = {".nv.global", NOBITS, 0, 0, 16, 0, 32, {0}, 0},
        [MADE_SHARED_K] = {".nv.shared.k", NOBITS, 0, MADE_TEXT_K, 16, 0, 16, {0}, 0},
        [MADE_BANK0_K] = {".nv.constant0.k", PROGBITS, 0, MADE_TEXT_K, 4, 0, 0, {0}, 0},
        [MADE_BANK3] = {".nv.constant3", PROGBITS, 0, 0, 4, 0, 0, {0}, 0},
        [MADE_BANK4] = {".nv.constant4", PROGBITS, 0, 0, 8, 0, 0, {0}, 0},
        [MADE_REL_TEXT] = {".rela.text.k", RELA, MADE_SYMBOLS, MADE_TEXT_K, 8, 24, 0, {0}, 0},
        [MADE_REL_BANK4] = {".rela.nv.constant4", RELA, MADE_SYMBOLS, MADE_BANK4, 8, 24, 0, {0}, 0},
        [MADE_REL_INIT] = {".rela.nv.global.init", RELA, MADE_SYMBOLS, MADE_INIT, 8, 24, 0, {0}, 0},
        [MADE_LINES] = {".debug_line", PROGBITS, 0, 0, 1, 0, 0, {0}, 0},
        [MADE_REL_LINES] = {".rela.debug_line", RELA, MADE_SYMBOLS, MADE_LINES, 8, 24, 0, {0}, 0},
    };
    memcpy(p, shape, sizeof shape);
    symbols(&p[MADE_SYMBOLS], &p[MADE_STRINGS]);
    info(&p[MADE_INFO], &p[MADE_INFO_K]);
    move_code(&p[MADE_TEXT_K], 0);
    move_code(&p[MADE_TEXT_K], 1);
    exit_code(&p[MADE_TEXT_K], 1);
    exit_code(&p[MADE_TEXT_OTHER], 1);
    add(&p[MADE_INIT], 0, 8);
    for (int i = 0; i < 0x16c / 4; i++) add(&p[MADE_BANK0_K], 0, 4);
    add(&p[MADE_BANK3], 0, 4), add(&p[MADE_BANK3], 0x11223344, 4);
    add(&p[MADE_BANK4], 0, 8), add(&p[MADE_BANK4], 0, 8);
    relocation(&p[MADE_REL_TEXT], 0, 0x38, SYM_V, 0);
    relocation(&p[MADE_REL_TEXT], 16, 0x39, SYM_V, 0);
    relocation(&p[MADE_REL_BANK4], 0, 2, SYM_V, 0);
    relocation(&p[MADE_REL_BANK4], 8, 2, SYM_VPRINTF, 0);
    relocation(&p[MADE_REL_INIT], 0, 4, SYM_ZERO, 4);
    lines(&p[MADE_LINES], &p[MADE_REL_LINES]);
}

static void header(struct cubin_made *m, unsigned arch, unsigned abi) {
    unsigned char *h = m->data;
    memcpy(h, "\177ELF\2\1\1", 7);
    h[7] = abi >= 8 ? 65 : 51;
    h[8] = (unsigned char)abi;
    cubin_put(h + 16, 2, 2);
    cubin_put(h + 18, 190, 2);
    cubin_put(h + 20, 1, 4);
    cubin_put(h + 40, m->sections, 8);
    cubin_put(h + 48, abi >= 8 ? 4 | arch << 8 : arch | 0x500 | arch << 16, 4);
    cubin_put(h + 52, 64, 2);
    cubin_put(h + 58, 64, 2);
    cubin_put(h + 60, MADE_SECTIONS, 2);
    cubin_put(h + 62, MADE_NAMES, 2);
}

void cubin_make(struct cubin_made *m, unsigned arch, unsigned abi) {
    static struct piece p[MADE_SECTIONS];
    size_t name[MADE_SECTIONS] = {0}, offset[MADE_SECTIONS] = {0};
    memset(m, 0, sizeof *m);
    fill(p);
    add_text(&p[MADE_NAMES], "");
    for (int i = 1; i < MADE_SECTIONS; i++) {
        name[i] = p[MADE_NAMES].n;
        add_text(&p[MADE_NAMES], p[i].name);
    }
    m->n = HEADER;
    for (int i = 1; i < MADE_SECTIONS; i++) {
        m->n = (m->n + 15) / 16 * 16;
        offset[i] = m->n;
        memcpy(m->data + m->n, p[i].bytes, p[i].n);
        m->n += p[i].n;
    }
    m->n = (m->n + 15) / 16 * 16;
    m->sections = m->n;
    m->n += 64 * MADE_SECTIONS;
    for (unsigned i = 1; i < MADE_SECTIONS; i++) {
        unsigned char *h = cubin_section(m, i);
        cubin_put(h, name[i], 4);
        cubin_put(h + 4, p[i].type, 4);
        cubin_put(h + 24, offset[i], 8);
        cubin_put(h + 32, p[i].type == NOBITS ? p[i].size : p[i].n, 8);
        cubin_put(h + 40, p[i].link, 4);
        cubin_put(h + 44, p[i].info, 4);
        cubin_put(h + 48, p[i].align, 8);
        cubin_put(h + 56, p[i].entry, 8);
    }
    header(m, arch, abi);
    m->kernel_info = offset[MADE_INFO_K];
    m->symbols = offset[MADE_SYMBOLS];
    m->relocations = offset[MADE_REL_TEXT];
    m->text = offset[MADE_TEXT_K];
    m->lines = offset[MADE_LINES];
}
