/* cubin_place.c: applies the relocations of a cubin to its copies of code, constants and initial values. */
#include "cubin_internal.h"
#include <string.h>

#define INST_BYTES 16u
#define SECTION_RELA 4u
#define SECTION_REL 9u
#define BIND_WEAK 2u
#define TYPE_NONE 0u
#define TYPE_CLEAR32 0x48u /* room for tools: nothing is written */
#define TYPE_CLEAR64 0x49u
#define SPLIT_BITS 8u
#define SPLIT_AT 16u

enum place { DATA, CODE, SPLIT };
static const struct form {
    uint32_t type;
    const char *name;
    enum place place;
    unsigned bit, width, shift;
} forms[] = {
#define X(number, name, place, bit, width, shift) {number, #name, place, bit, width, shift},
#include "cubin_reloc.def"
#undef X
};

static const struct form *form_of(uint32_t type) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].type == type) return &forms[i];
    return NULL;
}

static uint64_t load(const unsigned char *p, unsigned bytes) {
    return cubin_get(p, bytes);
}

static void store(unsigned char *p, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
}

/* Puts `width` low bits of v at `bit` of the two words of an instruction. */
static void put(unsigned char *inst, unsigned bit, unsigned width, uint64_t v) {
    for (unsigned i = 0; i < width; i++) {
        unsigned at = bit + i;
        unsigned char mask = (unsigned char)(1u << at % 8);
        inst[at / 8] = (unsigned char)((inst[at / 8] & ~mask) | (v >> i & 1 ? mask : 0));
    }
}

/* What a symbol stands for. */
static enum ww_code value_of(const struct ww_cubin *c, const struct cubin_reloc *r, uint64_t globals,
                             uint64_t *value, struct ww_error *error) {
    const struct ww_cubin_symbol *y = &c->symbols[r->symbol];
    *value = y->value;
    if (y->section == CUBIN_NONE || r->symbol == 0) return WW_OK;
    if (y->section == 0) {
        if (y->external) *value = WW_CUBIN_EXTERN + (uint64_t)INST_BYTES * (y->external - 1);
        if (y->external || y->bind == BIND_WEAK) return WW_OK;
        return ww_cubin_bad(c, error, WW_UNSUPPORTED, r->at,
                            "symbol %.100s is not in the module: expected it there", y->name);
    }
    const struct ww_cubin_section *s = &c->sections[y->section];
    if (s->kind == CUBIN_TEXT) *value += WW_CUBIN_CODE + s->place;
    if (s->kind == CUBIN_GLOBAL) *value += globals + s->place;
    return WW_OK;
}

static enum ww_code apply(const struct ww_cubin *c, const struct ww_cubin_section *target,
                          const struct cubin_reloc *r, uint64_t globals, struct ww_error *error) {
    if (r->type == TYPE_NONE || r->type == TYPE_CLEAR32 || r->type == TYPE_CLEAR64) return WW_OK;
    const struct form *f = form_of(r->type);
    uint64_t value;
    if (!f)
        return ww_cubin_bad(c, error, WW_UNSUPPORTED, r->at + 8,
                            "relocation of type 0x%x: expected a known type", r->type);
    unsigned bytes = f->place == DATA ? f->width / 8 : INST_BYTES;
    if (r->offset > target->size || bytes > target->size - r->offset)
        return ww_cubin_bad(c, error, WW_INPUT, r->at, "%s at %llu: expected it within %llu bytes of %.100s",
                            f->name, (unsigned long long)r->offset, (unsigned long long)target->size,
                            target->name);
    WW_TRY(value_of(c, r, globals, &value, error));
    unsigned char *p = target->data + r->offset;
    /* Without an addend of its own an entry adds what lies in a word of memory. */
    value += r->addend + (!r->has_addend && f->place == DATA && f->shift == 0 ? load(p, bytes) : 0);
    value >>= f->shift;
    if (f->place == DATA) {
        store(p, value, bytes);
    } else if (f->place == CODE) {
        put(p, f->bit, f->width, value);
    } else {
        put(p, SPLIT_AT, SPLIT_BITS, value);
        put(p, f->bit, f->width, value >> SPLIT_BITS);
    }
    return WW_OK;
}

enum ww_code ww_cubin_place(struct ww_cubin *c, uint64_t globals, struct ww_error *error) {
    for (uint32_t i = 0; i < c->section_count; i++) {
        const struct ww_cubin_section *s = &c->sections[i];
        if (s->type != SECTION_RELA && s->type != SECTION_REL) continue;
        if (s->info == 0 || s->info >= c->section_count) continue;
        const struct ww_cubin_section *target = &c->sections[s->info];
        if (!target->data) continue;
        for (uint64_t n = 0; n < ww_cubin_reloc_count(s); n++) {
            struct cubin_reloc r;
            WW_TRY(ww_cubin_reloc(c, s, n, &r, error));
            WW_TRY(apply(c, target, &r, globals, error));
        }
    }
    return WW_OK;
}
