/* cubin.c: reads a cubin: kernels with their code, constants and sizes, global memory, functions. */
#include "cubin_internal.h"
#include "../../../estimator/base/hash.h"
#include <stdlib.h>
#include <string.h>

#define ARENA_FIXED ((size_t)16 << 20)
#define ARENA_BY_BYTE 64u /* times the file's size: structures are larger than what they are read from */
#define CODE_ALIGN_MAX 4096u
#define INST_BYTES 16u
#define SECTION_NO_BITS 8u
#define SYMBOL_OBJECT 1u
#define SYMBOL_FUNCTION 2u
#define OTHER_ENTRY 0x10u
#define TYPE_AT 16u /* of the ELF header */
#define NOTE_OFFSETS 32u
#define NOTE_STRINGS 48u

enum ww_code ww_cubin_bad(const struct ww_cubin *c, struct ww_error *error, enum ww_code code, uint64_t at,
                          const char *fmt, ...) {
    char place[200], text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(place, sizeof place, "%.150s: byte %llu", c->where, (unsigned long long)at);
    return ww_fail(error, code, place, "%s", text);
}

/* Rounds *at up for a section; false if its alignment is none. */
static bool align(uint64_t *at, uint64_t to) {
    if (to == 0) to = 1;
    if (to > CODE_ALIGN_MAX || (to & (to - 1))) return false;
    *at = (*at + to - 1) & ~(to - 1);
    return true;
}

static enum ww_code bad_align(const struct ww_cubin *c, const struct ww_cubin_section *s,
                              struct ww_error *error) {
    return ww_cubin_bad(c, error, WW_INPUT, s->name_at + 48,
                        "section %.100s with alignment %llu: expected a power of two up to 4096", s->name,
                        (unsigned long long)s->align);
}

/* Gives each text section its place in the code block, and a kernel. */
static enum ww_code place_code(struct ww_cubin *c, struct ww_error *error) {
    uint64_t at = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->section_count; i++) count += c->sections[i].kind == CUBIN_TEXT;
    c->kernels = ww_arena_array(c->arena, count, sizeof *c->kernels);
    if (!c->kernels) return ww_fail_nomem(error, "cubin");
    for (uint32_t i = 0; i < c->section_count; i++) {
        struct ww_cubin_section *s = &c->sections[i];
        if (s->kind != CUBIN_TEXT) continue;
        if (s->size % INST_BYTES)
            return ww_cubin_bad(c, error, WW_INPUT, s->name_at + 32,
                                "code of %llu bytes: expected a multiple of 16", (unsigned long long)s->size);
        if (!align(&at, s->align > INST_BYTES ? s->align : INST_BYTES)) return bad_align(c, s, error);
        s->place = at;
        s->kernel = (uint32_t)c->kernel_count;
        c->kernels[c->kernel_count++] = (struct ww_cubin_kernel){
            .name = s->name + strlen(".text."), .code = at, .code_bytes = s->size, .registers = s->info >> 24};
        at += s->size;
    }
    c->code.size = at;
    c->code.data = ww_arena_alloc(c->arena, at ? at : 1);
    if (!c->code.data) return ww_fail_nomem(error, "code of a cubin");
    for (uint32_t i = 0; i < c->section_count; i++) {
        struct ww_cubin_section *s = &c->sections[i];
        if (s->kind != CUBIN_TEXT) continue;
        s->data = c->code.data + s->place;
        memcpy(s->data, c->bytes + s->offset, s->size);
    }
    return WW_OK;
}

/* Initialised global memory first, then what begins as zero. */
static enum ww_code place_globals(struct ww_cubin *c, struct ww_error *error) {
    uint64_t at = 0;
    c->globals_align = 1;
    for (int zero = 0; zero < 2; zero++) {
        for (uint32_t i = 0; i < c->section_count; i++) {
            struct ww_cubin_section *s = &c->sections[i];
            bool no_bits = s->type == SECTION_NO_BITS || strcmp(s->name, ".nv.global") == 0;
            if (s->kind != CUBIN_GLOBAL || no_bits != (zero == 1)) continue;
            if (!align(&at, s->align)) return bad_align(c, s, error);
            if (s->align > c->globals_align) c->globals_align = s->align;
            s->place = at;
            at += s->size;
        }
        if (zero == 0) c->globals.size = at;
    }
    c->globals_bytes = at;
    c->globals.data = ww_arena_alloc(c->arena, c->globals.size ? c->globals.size : 1);
    if (!c->globals.data) return ww_fail_nomem(error, "global memory of a cubin");
    for (uint32_t i = 0; i < c->section_count; i++) {
        struct ww_cubin_section *s = &c->sections[i];
        if (s->kind != CUBIN_GLOBAL || s->place >= c->globals.size || s->size > c->globals.size - s->place)
            continue;
        s->data = c->globals.data + s->place;
        memcpy(s->data, c->bytes + s->offset, s->size);
    }
    return WW_OK;
}

struct cubin_name {
    uint64_t hash;
    uint32_t kernel;
};

static int by_hash(const void *a, const void *b) {
    const struct cubin_name *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static uint64_t hash_of(const char *name) {
    return ww_hash_bytes(name, strlen(name), 0);
}

/* Kernels by their names' hashes, so that a file of very many sections is read in time. */
static enum ww_code index_names(struct ww_cubin *c, struct ww_error *error) {
    c->names = ww_arena_array(c->arena, c->kernel_count, sizeof *c->names);
    if (!c->names) return ww_fail_nomem(error, "cubin");
    for (size_t i = 0; i < c->kernel_count; i++)
        c->names[i] = (struct cubin_name){.hash = hash_of(c->kernels[i].name), .kernel = (uint32_t)i};
    if (c->kernel_count) qsort(c->names, c->kernel_count, sizeof *c->names, by_hash);
    for (size_t i = 1; i < c->kernel_count; i++)
        if (c->names[i].hash == c->names[i - 1].hash)
            return ww_cubin_bad(c, error, WW_INPUT, 0, "two sections of code named %.100s: expected one",
                                c->kernels[c->names[i].kernel].name);
    return WW_OK;
}

struct ww_cubin_kernel *ww_cubin_kernel_named(const struct ww_cubin *c, const char *name) {
    struct cubin_name key = {.hash = hash_of(name)};
    const struct cubin_name *found =
        c->kernel_count ? bsearch(&key, c->names, c->kernel_count, sizeof key, by_hash) : NULL;
    if (!found || strcmp(c->kernels[found->kernel].name, name) != 0) return NULL;
    return &c->kernels[found->kernel];
}

/* Copies a constant section; one without a kernel's name belongs to all kernels. */
static enum ww_code take_constants(struct ww_cubin *c, struct ww_cubin_section *s, struct ww_error *error) {
    const char *name = s->name + strlen(".nv.constant0");
    struct ww_cubin_kernel *k = name[0] ? ww_cubin_kernel_named(c, name + 1) : NULL;
    struct ww_cubin_bytes *bank = k ? &k->bank[s->bank] : &c->shared_banks[s->bank];
    if (name[0] && !k) return WW_OK; /* of a kernel that is not in the file */
    s->data = ww_arena_alloc(c->arena, s->size ? s->size : 1);
    if (!s->data) return ww_fail_nomem(error, "constants of a cubin");
    memcpy(s->data, c->bytes + s->offset, s->size);
    *bank = (struct ww_cubin_bytes){.data = s->data, .size = s->size};
    if (k) s->kernel = (uint32_t)(k - c->kernels);
    return WW_OK;
}

static enum ww_code take_data(struct ww_cubin *c, struct ww_error *error) {
    for (uint32_t i = 0; i < c->section_count; i++) {
        struct ww_cubin_section *s = &c->sections[i];
        if (s->kind == CUBIN_CONSTANT) WW_TRY(take_constants(c, s, error));
        if (s->kind != CUBIN_SHARED) continue;
        struct ww_cubin_kernel *k = ww_cubin_kernel_named(c, s->name + strlen(".nv.shared."));
        if (k) k->shared_bytes = (uint32_t)s->size;
    }
    for (size_t i = 0; i < c->kernel_count; i++)
        for (unsigned b = 0; b < WW_CUBIN_BANKS; b++)
            if (c->kernels[i].bank[b].size == 0) c->kernels[i].bank[b] = c->shared_banks[b];
    return WW_OK;
}

static int by_offset(const void *a, const void *b) {
    const struct ww_cubin_function *x = a, *y = b;
    return x->offset != y->offset ? (x->offset > y->offset) - (x->offset < y->offset)
                                  : (x->size < y->size) - (x->size > y->size);
}

static void take_symbol(struct ww_cubin *c, struct ww_cubin_symbol *y) {
    if (y->section == CUBIN_NONE) return;
    const struct ww_cubin_section *s = &c->sections[y->section];
    if (y->section == 0 && y->type == SYMBOL_FUNCTION && y->name[0]) {
        c->externs[c->extern_count++] = y->name;
        y->external = (uint32_t)c->extern_count;
    } else if (s->kind == CUBIN_TEXT && y->type == SYMBOL_FUNCTION) {
        bool own = y->value == 0 && strcmp(y->name, s->name + strlen(".text.")) == 0;
        c->functions[c->function_count++] = (struct ww_cubin_function){
            .name = y->name, .offset = s->place + y->value, .size = y->size, .entry = own};
        if (own && y->other & OTHER_ENTRY) c->kernels[s->kernel].entry = true;
    } else if (y->type == SYMBOL_OBJECT &&
               (s->kind == CUBIN_GLOBAL || (s->kind == CUBIN_CONSTANT && s->bank == WW_CUBIN_BANK_USER))) {
        c->variables[c->variable_count++] =
            (struct ww_cubin_variable){.name = y->name,
                                       .constant = s->kind == CUBIN_CONSTANT,
                                       .offset = (s->kind == CUBIN_GLOBAL ? s->place : 0) + y->value,
                                       .size = y->size};
    }
}

static enum ww_code take_symbols(struct ww_cubin *c, struct ww_error *error) {
    c->functions = ww_arena_array(c->arena, c->symbol_count, sizeof *c->functions);
    c->variables = ww_arena_array(c->arena, c->symbol_count, sizeof *c->variables);
    c->externs = ww_arena_array(c->arena, c->symbol_count, sizeof *c->externs);
    if (!c->functions || !c->variables || !c->externs) return ww_fail_nomem(error, "symbols of a cubin");
    for (uint32_t i = 0; i < c->symbol_count; i++) take_symbol(c, &c->symbols[i]);
    if (c->function_count) qsort(c->functions, c->function_count, sizeof *c->functions, by_offset);
    return WW_OK;
}

/* The string number `which` of a note of ptxas; NULL if it does not end within it. */
static const char *note_string(const unsigned char *note, uint64_t size, unsigned which) {
    uint64_t at = NOTE_STRINGS + cubin_get(note + NOTE_OFFSETS + 4 * which, 4);
    return at < size && memchr(note + at, 0, size - at) ? (const char *)note + at : NULL;
}

/* True if options ask for code of one architecture alone: "-arch sm_90a". */
static bool asks_specific(const char *options) {
    const char *at = strstr(options, "sm_");
    if (!at) return false;
    at += strlen("sm_");
    return at[strspn(at, "0123456789")] == 'a';
}

/* Version and options, which ptxas 13 leaves in a note:
 *     | note header 24 bytes | two words | offsets of four strings: tool, version, build, options | strings |
 */
static enum ww_code take_compiler(struct ww_cubin *c, struct ww_error *error) {
    c->compiler = ww_arena_strdup(c->arena, "");
    for (uint32_t i = 0; i < c->section_count && c->compiler; i++) {
        const struct ww_cubin_section *s = &c->sections[i];
        if (strcmp(s->name, ".note.nv.tkinfo") != 0 || s->type == SECTION_NO_BITS || s->size < NOTE_STRINGS)
            continue;
        const unsigned char *note = c->bytes + s->offset;
        const char *version = note_string(note, s->size, 1), *options = note_string(note, s->size, 3);
        if (!version || !options) continue;
        c->compiler = ww_arena_printf(c->arena, "%s: %s", version, options);
        c->specific = c->specific || asks_specific(options);
        break;
    }
    return c->compiler ? WW_OK : ww_fail_nomem(error, "cubin");
}

/* A linker counts the registers and the stack of a kernel together with those of the functions that it calls,
 * so what was not linked may hold kernels alone. */
static enum ww_code check_relocatable(const struct ww_cubin *c, struct ww_error *error) {
    if (!c->relocatable) return WW_OK;
    for (size_t i = 0; i < c->kernel_count; i++)
        if (!c->kernels[i].entry)
            return ww_cubin_bad(c, error, WW_UNSUPPORTED, TYPE_AT,
                                "a relocatable cubin with the function %.100s: expected a linked one",
                                c->kernels[i].name);
    if (c->extern_count)
        return ww_cubin_bad(c, error, WW_UNSUPPORTED, TYPE_AT,
                            "a relocatable cubin that needs %.100s: expected a linked one", c->externs[0]);
    return WW_OK;
}

static enum ww_code read_all(struct ww_cubin *c, struct ww_error *error) {
    WW_TRY(ww_cubin_read_elf(c, error));
    WW_TRY(place_code(c, error));
    WW_TRY(index_names(c, error));
    WW_TRY(place_globals(c, error));
    WW_TRY(take_data(c, error));
    WW_TRY(take_symbols(c, error));
    WW_TRY(take_compiler(c, error));
    WW_TRY(ww_cubin_read_info(c, error));
    WW_TRY(check_relocatable(c, error));
    return ww_cubin_read_lines(c, error);
}

enum ww_code ww_cubin_read(const void *data, size_t n, const char *where, struct ww_cubin **cubin,
                           struct ww_error *error) {
    struct ww_arena *arena = malloc(sizeof *arena);
    if (!arena) return ww_fail_nomem(error, "cubin");
    ww_arena_init(arena, ARENA_FIXED + ARENA_BY_BYTE * n);
    struct ww_cubin *c = ww_arena_alloc(arena, sizeof *c);
    if (c) {
        c->arena = arena;
        c->where = ww_arena_strdup(arena, where);
        c->bytes = ww_arena_raw(arena, n ? n : 1, 1);
        c->size = n;
    }
    enum ww_code code = WW_OK;
    if (!c || !c->where || !c->bytes) {
        code = ww_fail_nomem(error, "cubin");
    } else {
        if (n) memcpy(c->bytes, data, n);
        code = read_all(c, error);
    }
    if (code == WW_OK) {
        *cubin = c;
    } else {
        ww_arena_free(arena);
        free(arena);
    }
    return code;
}

bool ww_cubin_look(const void *data, size_t n, bool *specific) {
    struct ww_cubin *c;
    if (!ww_cubin_is(data, n) || ww_cubin_read(data, n, "cubin", &c, NULL) != WW_OK) return false;
    *specific = c->specific;
    ww_cubin_free(c);
    return true;
}

void ww_cubin_free(struct ww_cubin *cubin) {
    if (!cubin) return;
    struct ww_arena *arena = cubin->arena;
    ww_arena_free(arena);
    free(arena);
}

const struct ww_cubin_kernel *ww_cubin_kernel(const struct ww_cubin *cubin, const char *name) {
    return ww_cubin_kernel_named(cubin, name);
}

const struct ww_cubin_variable *ww_cubin_variable(const struct ww_cubin *cubin, const char *name) {
    for (size_t i = 0; i < cubin->variable_count; i++)
        if (strcmp(cubin->variables[i].name, name) == 0) return &cubin->variables[i];
    return NULL;
}

const struct ww_cubin_kernel *ww_cubin_section_at(const struct ww_cubin *cubin, uint64_t offset) {
    size_t low = 0, high = cubin->kernel_count; /* sections lie in the order of the kernels */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (cubin->kernels[mid].code <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    const struct ww_cubin_kernel *k = low ? &cubin->kernels[low - 1] : NULL;
    return k && offset - k->code < k->code_bytes ? k : NULL;
}

const char *ww_cubin_extern(const struct ww_cubin *cubin, uint64_t address) {
    uint64_t at = address - WW_CUBIN_EXTERN;
    if (address < WW_CUBIN_EXTERN || at % INST_BYTES || at / INST_BYTES >= cubin->extern_count) return NULL;
    return cubin->externs[at / INST_BYTES];
}

bool ww_cubin_line(const struct ww_cubin *cubin, const struct ww_cubin_kernel *kernel, uint64_t offset,
                   const char **file, uint32_t *line) {
    size_t low = 0, high = kernel->line_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (kernel->lines[mid].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0 || kernel->lines[low - 1].line == 0) return false;
    *file = cubin->files[kernel->lines[low - 1].file];
    *line = kernel->lines[low - 1].line;
    return true;
}
