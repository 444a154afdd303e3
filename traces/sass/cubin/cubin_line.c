/* cubin_line.c: source lines of machine code, from .debug_line (DWARF 2 to 4; written with -lineinfo).
 *
 * The addresses that a line program sets are relocated: the relocation names the kernel. Entries of other
 * versions are passed over; what contradicts itself is an error.
 */
#include "../../../estimator/base/buf.h"
#include "cubin_internal.h"
#include <stdlib.h>
#include <string.h>

#define SECTION_NO_BITS 8u
#define VERSION_FIRST 2u
#define VERSION_LAST 4u
#define ADVANCE_FIXED 9u
#define DIRECTORIES 1024u /* what lies in a later one is named without it */
enum standard { EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BLOCK, CONST_ADD_PC };
enum extended { END_SEQUENCE = 1, SET_ADDRESS = 2 };

/* Where an address in .debug_line points to: byte of the section, kernel, offset in it. */
struct address {
    uint64_t at;
    uint32_t kernel;
    uint64_t value;
};
struct row {
    uint32_t kernel;
    size_t order;
    struct ww_cubin_line line;
};
struct lines {
    struct ww_cubin *c;
    const struct ww_cubin_section *section; /* .debug_line; NULL: none */
    struct address *addresses;
    size_t address_count;
    struct row *rows;
    size_t row_count, row_room;
    const char **files;
    size_t file_room;
};
/* The header of one unit, and its state machine. */
struct unit {
    struct ww_cursor cursor;
    unsigned inst_bytes, range, base;
    int line_base;
    uint32_t first_file, files; /* of the cubin's list: number 1 of this unit is first_file */
    uint32_t kernel;
    uint64_t address, file;
    uint64_t line;                  /* wraps where a hostile table makes it */
    const unsigned char *arguments; /* of standard operations, from number 1 on */
};

static uint64_t place(const struct lines *l, const struct ww_cursor *u) {
    return (uint64_t)(u->p - l->c->bytes);
}

static int by_at(const void *a, const void *b) {
    const struct address *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static enum ww_code read_addresses(struct lines *l, const struct ww_cubin_section *s, struct ww_error *error) {
    struct ww_cubin *c = l->c;
    uint64_t count = ww_cubin_reloc_count(s);
    l->addresses = ww_arena_array(c->arena, count, sizeof *l->addresses);
    if (!l->addresses) return ww_fail_nomem(error, "lines of a cubin");
    for (uint64_t i = 0; i < count; i++) {
        struct cubin_reloc r;
        WW_TRY(ww_cubin_reloc(c, s, i, &r, error));
        const struct ww_cubin_symbol *y = &c->symbols[r.symbol];
        if (y->section == CUBIN_NONE || c->sections[y->section].kind != CUBIN_TEXT) continue;
        l->addresses[l->address_count++] = (struct address){
            .at = r.offset, .kernel = c->sections[y->section].kernel, .value = y->value + r.addend};
    }
    if (l->address_count) qsort(l->addresses, l->address_count, sizeof *l->addresses, by_at);
    return WW_OK;
}

static bool grow(void **p, size_t *room, size_t need, size_t size) {
    if (need <= *room) return true;
    size_t more = *room ? 2 * *room : 64;
    void *q = realloc(*p, more * size);
    if (!q) return false;
    *p = q, *room = more;
    return true;
}

static enum ww_code add_row(struct lines *l, const struct unit *u, bool known, struct ww_error *error) {
    if (u->kernel == CUBIN_NONE || u->address >= UINT32_MAX) return WW_OK;
    if (!grow((void **)&l->rows, &l->row_room, l->row_count + 1, sizeof *l->rows))
        return ww_fail_nomem(error, "lines of a cubin");
    bool file = u->file > 0 && u->file <= u->files;
    bool whole = known && file && u->line - 1 < INT32_MAX;
    l->rows[l->row_count] = (struct row){.kernel = u->kernel,
                                         .order = l->row_count,
                                         .line = {.offset = (uint32_t)u->address,
                                                  .file = whole ? u->first_file + (uint32_t)u->file - 1 : 0,
                                                  .line = whole ? (uint32_t)u->line : 0}};
    l->row_count++;
    return WW_OK;
}

static enum ww_code bad(const struct lines *l, const struct unit *u, const char *what, struct ww_error *error) {
    return ww_cubin_bad(l->c, error, WW_INPUT, place(l, &u->cursor), "line table: expected %s", what);
}

static const char *string(struct ww_cursor *u) {
    const char *s = (const char *)u->p;
    const unsigned char *end = u->p < u->end ? memchr(u->p, 0, (size_t)(u->end - u->p)) : NULL;
    if (!end) {
        u->failed = true;
        return "";
    }
    u->p = end + 1;
    return s;
}

static const char *directory_of(const struct unit *u, const unsigned char *directories, uint64_t number) {
    struct ww_cursor d = {.p = directories, .end = u->cursor.end};
    const char *name = "";
    for (uint64_t i = 0; i < number && number < DIRECTORIES; i++) {
        name = string(&d);
        if (!*name) break;
    }
    return name;
}

static enum ww_code add_file(struct lines *l, struct unit *u, const char *directory, const char *name,
                             struct ww_error *error) {
    struct ww_cubin *c = l->c;
    if (!grow((void **)&l->files, &l->file_room, c->file_count + 1, sizeof *l->files))
        return ww_fail_nomem(error, "lines of a cubin");
    bool joined = *directory && name[0] != '/';
    l->files[c->file_count] =
        joined ? ww_arena_printf(c->arena, "%s/%s", directory, name) : ww_arena_strdup(c->arena, name);
    if (!l->files[c->file_count]) return ww_fail_nomem(error, "lines of a cubin");
    c->file_count++;
    u->files++;
    return WW_OK;
}

static enum ww_code read_files(struct lines *l, struct unit *u, struct ww_error *error) {
    const unsigned char *directories = u->cursor.p;
    while (*string(&u->cursor)) continue;
    u->first_file = (uint32_t)l->c->file_count;
    for (const char *name = string(&u->cursor); *name; name = string(&u->cursor)) {
        uint64_t directory = ww_cursor_varint(&u->cursor);
        ww_cursor_varint(&u->cursor);
        ww_cursor_varint(&u->cursor);
        if (u->cursor.failed) break;
        WW_TRY(add_file(l, u, directory_of(u, directories, directory), name, error));
    }
    return u->cursor.failed ? bad(l, u, "names of files that end", error) : WW_OK;
}

/* Reads a unit's header; leaves the cursor at its program. */
static enum ww_code read_header(struct lines *l, struct unit *u, unsigned version, struct ww_error *error) {
    uint32_t length = ww_cursor_u32(&u->cursor);
    if (u->cursor.failed || length > (size_t)(u->cursor.end - u->cursor.p))
        return bad(l, u, "a header within its unit", error);
    const unsigned char *program = u->cursor.p + length;
    u->inst_bytes = ww_cursor_byte(&u->cursor);
    if (version >= 4) ww_cursor_byte(&u->cursor);
    ww_cursor_byte(&u->cursor);
    u->line_base = (signed char)ww_cursor_byte(&u->cursor);
    u->range = ww_cursor_byte(&u->cursor);
    u->base = ww_cursor_byte(&u->cursor);
    if (u->cursor.failed || u->range == 0 || u->base == 0) return bad(l, u, "a line range above 0", error);
    u->arguments = ww_cursor_bytes(&u->cursor, u->base - 1u);
    if (u->cursor.failed) return bad(l, u, "a header within its unit", error);
    WW_TRY(read_files(l, u, error));
    if (u->cursor.p > program) return bad(l, u, "a header of the length told", error);
    u->cursor.p = program;
    return WW_OK;
}

static void restart(struct unit *u) {
    u->kernel = CUBIN_NONE;
    u->address = 0;
    u->file = 1;
    u->line = 1;
}

static void set_address(const struct lines *l, struct unit *u, uint64_t n) {
    struct address key = {.at = place(l, &u->cursor) - l->section->offset};
    const struct address *found =
        l->address_count ? bsearch(&key, l->addresses, l->address_count, sizeof key, by_at) : NULL;
    u->kernel = found ? found->kernel : CUBIN_NONE;
    u->address = (found ? found->value : 0) + (n == 8 ? cubin_get(u->cursor.p, 8) : 0);
}

static enum ww_code extended(struct lines *l, struct unit *u, struct ww_error *error) {
    uint64_t n = ww_cursor_varint(&u->cursor);
    if (u->cursor.failed || n == 0 || n > (size_t)(u->cursor.end - u->cursor.p))
        return bad(l, u, "an operation within its unit", error);
    const unsigned char *end = u->cursor.p + n;
    unsigned op = ww_cursor_byte(&u->cursor);
    if (op == END_SEQUENCE) {
        WW_TRY(add_row(l, u, false, error));
        restart(u);
    } else if (op == SET_ADDRESS) {
        set_address(l, u, n - 1);
    }
    u->cursor.p = end;
    return WW_OK;
}

static void special(struct unit *u, unsigned op) {
    unsigned adjusted = op - u->base;
    u->address += (uint64_t)(adjusted / u->range) * u->inst_bytes;
    u->line += (uint64_t)(int64_t)(u->line_base + (int)(adjusted % u->range));
}

/* A signed LEB128 number, as the two's complement of 64 bits. */
static uint64_t signed_leb(struct ww_cursor *u) {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned byte = ww_cursor_byte(u);
        if (shift < 64) v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80 && !u->failed) continue;
        if (byte & 0x40 && shift + 7 < 64) v |= ~(uint64_t)0 << (shift + 7);
        return v;
    }
}

static enum ww_code standard(struct lines *l, struct unit *u, unsigned op, struct ww_error *error) {
    switch (op) {
    case EXTENDED:
        return extended(l, u, error);
    case COPY:
        return add_row(l, u, true, error);
    case ADVANCE_PC:
        u->address += ww_cursor_varint(&u->cursor) * u->inst_bytes;
        return WW_OK;
    case ADVANCE_LINE:
        u->line += signed_leb(&u->cursor);
        return WW_OK;
    case SET_FILE:
        u->file = ww_cursor_varint(&u->cursor);
        return WW_OK;
    case CONST_ADD_PC:
        u->address += (uint64_t)((255u - u->base) / u->range) * u->inst_bytes;
        return WW_OK;
    case ADVANCE_FIXED: {
        const unsigned char *p = ww_cursor_bytes(&u->cursor, 2);
        if (p) u->address += cubin_get(p, 2);
        return WW_OK;
    }
    default:
        for (unsigned i = 0; i < u->arguments[op - 1]; i++) ww_cursor_varint(&u->cursor);
        return WW_OK;
    }
}

static enum ww_code run(struct lines *l, struct unit *u, struct ww_error *error) {
    restart(u);
    while (u->cursor.p < u->cursor.end) {
        unsigned op = ww_cursor_byte(&u->cursor);
        if (op >= u->base) {
            special(u, op);
            WW_TRY(add_row(l, u, true, error));
        } else {
            WW_TRY(standard(l, u, op, error));
        }
        if (u->cursor.failed) return bad(l, u, "an operation within its unit", error);
    }
    return WW_OK;
}

static enum ww_code read_units(struct lines *l, struct ww_error *error) {
    const struct ww_cubin_section *s = l->section;
    struct ww_cursor all = {.p = l->c->bytes + s->offset, .end = l->c->bytes + s->offset + s->size};
    while (all.p < all.end) {
        uint32_t length = ww_cursor_u32(&all);
        struct unit u = {.cursor = {.p = all.p, .end = all.p}};
        if (all.failed || length > (size_t)(all.end - all.p) || length < 2)
            return bad(l, &u, "a unit within the section", error);
        u.cursor.end = all.p + length;
        unsigned version = (unsigned)cubin_get(all.p, 2);
        u.cursor.p += 2;
        all.p = u.cursor.end;
        if (version < VERSION_FIRST || version > VERSION_LAST) continue;
        WW_TRY(read_header(l, &u, version, error));
        WW_TRY(run(l, &u, error));
    }
    return WW_OK;
}

static int by_kernel(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->kernel != y->kernel) return x->kernel < y->kernel ? -1 : 1;
    if (x->line.offset != y->line.offset) return x->line.offset < y->line.offset ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Sorts rows by kernel and offset and gives them to the kernels. Of rows with one offset the last one holds. */
static enum ww_code deal(struct lines *l, struct ww_error *error) {
    struct ww_cubin_line *out = ww_arena_array(l->c->arena, l->row_count, sizeof *out);
    if (!out) return ww_fail_nomem(error, "lines of a cubin");
    size_t n = 0;
    for (size_t i = 0; i < l->row_count; i++) {
        struct ww_cubin_kernel *k = &l->c->kernels[l->rows[i].kernel];
        if (!k->lines) k->lines = out + n;
        if (k->line_count && k->lines[k->line_count - 1].offset == l->rows[i].line.offset) {
            k->lines[k->line_count - 1] = l->rows[i].line;
            continue;
        }
        out[n++] = l->rows[i].line;
        k->line_count++;
    }
    return WW_OK;
}

static enum ww_code read_all(struct lines *l, struct ww_error *error) {
    if (!grow((void **)&l->files, &l->file_room, 1, sizeof *l->files))
        return ww_fail_nomem(error, "lines of a cubin");
    l->files[l->c->file_count++] = "";
    if (!l->section) return WW_OK;
    for (uint32_t i = 0; i < l->c->section_count; i++) {
        const struct ww_cubin_section *s = &l->c->sections[i];
        bool named = strcmp(s->name, ".rel.debug_line") == 0 || strcmp(s->name, ".rela.debug_line") == 0;
        if (named && s->type != SECTION_NO_BITS && !l->addresses) WW_TRY(read_addresses(l, s, error));
    }
    WW_TRY(read_units(l, error));
    if (l->row_count) qsort(l->rows, l->row_count, sizeof *l->rows, by_kernel);
    return deal(l, error);
}

/* Moves the names to the cubin's own memory. */
static enum ww_code keep_files(const struct lines *l, struct ww_error *error) {
    l->c->files = ww_arena_array(l->c->arena, l->c->file_count, sizeof *l->c->files);
    if (!l->c->files) return ww_fail_nomem(error, "lines of a cubin");
    memcpy(l->c->files, l->files, l->c->file_count * sizeof *l->files);
    return WW_OK;
}

enum ww_code ww_cubin_read_lines(struct ww_cubin *c, struct ww_error *error) {
    struct lines l = {.c = c};
    for (uint32_t i = 0; i < c->section_count && !l.section; i++)
        if (strcmp(c->sections[i].name, ".debug_line") == 0 && c->sections[i].type != SECTION_NO_BITS)
            l.section = &c->sections[i];
    enum ww_code code = read_all(&l, error);
    if (code == WW_OK) code = keep_files(&l, error);
    free(l.rows);
    free(l.files);
    return code;
}
