/* Decodes 128-bit instructions by the rows of sass_opcode.def. */
#include "sass_table.h"
#include <inttypes.h>
#include <string.h>

uint64_t ww_sass_peek(const uint64_t raw[2], unsigned lo, unsigned len) {
    if (!len) return 0;
    uint64_t mask = len >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1;
    if (lo >= 64) return raw[1] >> (lo - 64) & mask;
    uint64_t v = raw[0] >> lo;
    if (lo + len > 64) v |= raw[1] << (64 - lo);
    return v & mask;
}

uint64_t ww_sass_take(struct ww_sass_bits *b, unsigned lo, unsigned len) {
    if (!len) return 0;
    uint64_t mask = len >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1;
    if (lo >= 64) {
        b->used[1] |= mask << (lo - 64);
    } else {
        b->used[0] |= mask << lo;
        if (lo && lo + len > 64) b->used[1] |= mask >> (64 - lo);
    }
    return ww_sass_peek(b->raw, lo, len);
}

static bool field_read(struct ww_sass_bits *b, const struct ww_sass_field *f, struct ww_sass_insn *in) {
    uint64_t v = ww_sass_take(b, f->lo, f->type == SASS_FT_TEXT ? 0 : f->len);
    switch ((enum ww_sass_field_type)f->type) {
    case SASS_FT_TEXT:
        in->mod[f->mod] = f->lo;
        return true;
    case SASS_FT_NEED:
        return v == f->lo2;
    case SASS_FT_ANY:
        return true;
    case SASS_FT_RAW:
        v |= ww_sass_take(b, f->lo2, f->len2) << f->len;
        in->mod[f->mod] = (uint8_t)v;
        return true;
    case SASS_FT_MAP:
        v |= ww_sass_take(b, f->lo2, f->len2) << f->len;
        if (v >= f->count || !f->map[v].text) return false;
        in->mod[f->mod] = f->map[v].value;
        if (f->mod2 != f->mod) in->mod[f->mod2] = f->map[v].value2;
        return true;
    default:
        in->mod[f->mod] = (uint8_t)v;
        return true;
    }
}

static void guard_read(struct ww_sass_bits *b, const struct ww_sass_row *row, struct ww_sass_insn *in) {
    in->guard = (uint8_t)ww_sass_take(b, 12, 3);
    in->guard_not = ww_sass_take(b, 15, 1);
    in->guard_uniform = row->uniform && row->op != SASS_VOTEU;
}

static void control_read(struct ww_sass_bits *b, struct ww_sass_insn *in) {
    in->ctl.stall = (uint8_t)ww_sass_take(b, 105, 4);
    in->ctl.yield = !ww_sass_take(b, 109, 1);
    in->ctl.wr_bar = (uint8_t)ww_sass_take(b, 110, 3);
    in->ctl.rd_bar = (uint8_t)ww_sass_take(b, 113, 3);
    in->ctl.wait = (uint8_t)ww_sass_take(b, 116, 6);
    in->ctl.reuse = (uint8_t)ww_sass_take(b, 122, 4);
}

/* 0: decoded; 1: a modifier's value is not known; 2: bits are set that the row does not know; 3: an operand. */
static int row_read(const struct ww_sass_row *row, unsigned arch, const uint64_t raw[2],
                    struct ww_sass_insn *in, unsigned *place) {
    struct ww_sass_bits b = {.raw = {raw[0], raw[1]}, .arch = arch};
    b.form = (unsigned)ww_sass_take(&b, 9, 3);
    (void)ww_sass_take(&b, 0, 9);
    in->op = row->op;
    in->form = (uint8_t)b.form;
    guard_read(&b, row, in);
    control_read(&b, in);
    for (const struct ww_sass_field *f = row->fields; f->type; f++)
        if (!field_read(&b, f, in)) return *place = f->lo, 1;
    for (const struct ww_sass_opd *d = row->opds; d->get; d++) {
        ww_sass_operand_read(&b, row, d, in);
        if (b.bad) return *place = d->lo, 3;
    }
    for (unsigned i = 0; i < 128; i++)
        if (ww_sass_peek(raw, i, 1) && !ww_sass_peek(b.used, i, 1)) return *place = i, 2;
    return 0;
}

static enum ww_code unknown(const uint64_t raw[2], uint32_t offset, const char *where, int why, unsigned place,
                            const char *name, struct ww_error *error) {
    char at[256];
    snprintf(at, sizeof at, "%s+0x%" PRIx32, where ? where : "code", offset);
    if (!name)
        return ww_fail(error, WW_UNSUPPORTED, at, "instruction %016" PRIx64 "%016" PRIx64 " is not known",
                       raw[1], raw[0]);
    return ww_fail(error, WW_UNSUPPORTED, at,
                   "instruction %016" PRIx64 "%016" PRIx64 ": %s at bit %u of %s is not known", raw[1], raw[0],
                   why == 1   ? "the modifier"
                   : why == 2 ? "the bit"
                              : "the operand",
                   place, name);
}

enum ww_code ww_sass_decode(unsigned arch, const uint64_t raw[2], uint32_t offset, const char *where,
                            struct ww_sass_insn *in, struct ww_error *error) {
    unsigned bits = (unsigned)(raw[0] & 0x1ff), form = (unsigned)(raw[0] >> 9 & 7), place = 0;
    int why = 0;
    const char *name = NULL;
    for (unsigned i = 0; i < ww_sass_row_count(); i++) {
        const struct ww_sass_row *row = ww_sass_row(i);
        if (row->bits != bits || !(row->forms >> form & 1) || arch < row->arch_min || arch > row->arch_max)
            continue;
        memset(in, 0, sizeof *in);
        in->raw[0] = raw[0], in->raw[1] = raw[1];
        in->offset = offset;
        in->row = (uint16_t)i;
        why = row_read(row, arch, raw, in, &place);
        if (!why) {
            ww_sass_widths(in);
            return WW_OK;
        }
        name = ww_sass_opinfo(row->op)->name;
    }
    memset(in, 0, sizeof *in);
    return unknown(raw, offset, where, why, place, name, error);
}

enum ww_code ww_sass_decode_all(unsigned arch, const void *code, uint32_t bytes, const char *where,
                                struct ww_sass_insn *insns, struct ww_error *error) {
    for (uint32_t at = 0; at + SASS_INSN_BYTES <= bytes; at += SASS_INSN_BYTES) {
        uint64_t raw[2];
        memcpy(raw, (const char *)code + at, sizeof raw);
        WW_TRY(ww_sass_decode(arch, raw, at, where, &insns[at / SASS_INSN_BYTES], error));
    }
    return WW_OK;
}
