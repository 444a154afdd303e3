/* The bits of an address that choose a line's set and way, where bits do. */
#include "infer_int.h"

/* Whether lines of one set never differ in the bit, of all lines whose set is known, those beyond the size
 * among them. *varies: lines of different sets do. */
static bool constant(const struct ww_infer *f, uint64_t mask, bool *varies) {
    *varies = false;
    for (size_t a = 0; a < f->known_count; a++) {
        *varies |= ((a * f->out->line) & mask) != 0;
        size_t b = a + 1;
        while (b < f->known_count && (!f->set_of[a] || f->set_of[b] != f->set_of[a])) b++;
        if (b < f->known_count && (((a ^ b) * f->out->line) & mask)) return false;
    }
    return true;
}

static uint64_t constant_bits(const struct ww_infer *f) {
    uint64_t same = 0;
    for (uint32_t bit = 0; bit < 63; bit++) {
        uint64_t mask = 1ull << bit;
        bool varies;
        if (mask >= f->out->line && mask < f->out->size && constant(f, mask, &varies) && varies) same |= mask;
    }
    return same;
}

/* Whether the bits differ between any two lines of a set. */
static bool tell_apart(const struct ww_infer *f, uint64_t bits) {
    for (size_t a = 0; a < f->line_count; a++)
        for (size_t b = a + 1; b < f->line_count; b++)
            if (f->set_of[a] == f->set_of[b] && !(((a * f->out->line) ^ (b * f->out->line)) & bits))
                return false;
    return true;
}

/* The highest bits of the positions, as many as number the ways. */
static uint64_t find_way_bits(const struct ww_infer *f) {
    const struct ww_infer_cache *c = f->out;
    uint32_t ways = c->kind[0].ways;
    if (c->kind_count != 1 || (ways & (ways - 1)) || (c->size & (c->size - 1)) || ways < 2) return 0;
    uint64_t bits = c->size - c->size / ways;
    return tell_apart(f, bits) ? bits : 0;
}

void ww_infer_map(struct ww_infer *f) {
    struct ww_infer_cache *c = f->out;
    if (c->sets < 2 || (c->line & (c->line - 1))) return;
    c->set_bits = constant_bits(f);
    if (c->kind_count > 1) c->set_bits = 0; /* bits make equal sets */
    c->set_by_bits = (1ull << __builtin_popcountll(c->set_bits)) == c->sets;
    c->way_bits = find_way_bits(f);
}
