/* Parsing of instruction lines. */
#include "text.h"
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* What ends a number: a blank or the end. */
static bool number_ends(const char **p) {
    if (**p && **p != ' ' && **p != '\t') return false;
    *p = skip_blanks(*p);
    return true;
}

bool ww_as_dec(const char **p, uint64_t *v) {
    const char *s = *p;
    *v = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, (uint64_t)(*s - '0'), v))
            return false;
    if (s == *p || !number_ends(&s)) return false;
    *p = s;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ww_as_hex(const char **p, uint64_t *v) {
    const char *s = *p;
    if (s[0] == '0' && (s[1] | 0x20) == 'x') s += 2;
    const char *start = s;
    *v = 0;
    for (int d; (d = hex_digit(*s)) >= 0; s++) {
        if (*v >> 60) return false;
        *v = *v << 4 | (unsigned)d;
    }
    if (s == start || !number_ends(&s)) return false;
    *p = s;
    return true;
}

bool ww_as_int(const char **p, int64_t *v) {
    bool minus = **p == '-';
    const char *s = *p + minus;
    uint64_t u;
    if (!ww_as_dec(&s, &u) || u > (uint64_t)INT64_MAX + minus) return false;
    *v = minus ? (int64_t)(0 - u) : (int64_t)u;
    *p = s;
    return true;
}

/* What stands at p, for an error. */
static enum ww_code expected(const struct ww_as_parser *p, struct ww_error *error, const char *at,
                             const char *what) {
    int n = (int)strcspn(at, " \t");
    if (!n) return ww_as_bad(p->in, error, "the line ends; expected %s", what);
    return ww_as_bad(p->in, error, "\"%.*s\"; expected %s", n > 60 ? 60 : n, at, what);
}

static enum ww_code get_u32(const struct ww_as_parser *p, const char **at, uint64_t max, uint32_t *out,
                            const char *what, struct ww_error *error) {
    const char *before = *at;
    uint64_t v;
    if (!ww_as_dec(at, &v) || v > max) return expected(p, error, before, what);
    *out = (uint32_t)v;
    return WW_OK;
}

/* ---- operands ---- */

static bool is_word(const char *s, size_t n, const char *prefix, uint32_t max, uint32_t *number) {
    size_t k = strlen(prefix);
    uint32_t v = 0;
    if (n <= k || n > k + 3 || memcmp(s, prefix, k) != 0) return false;
    for (size_t i = k; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
        v = v * 10 + (uint32_t)(s[i] - '0');
    }
    *number = v;
    return v <= max;
}

/* A register's name; UINT16_MAX: zero, or a true predicate. */
static bool get_register(const char *s, size_t n, uint16_t *reg) {
    uint32_t v = 0;
    if (is_word(s, n, "R", 255, &v))
        *reg = v == 255 ? UINT16_MAX : (uint16_t)v;
    else if (is_word(s, n, "UR", 255, &v))
        *reg = v >= 63 ? UINT16_MAX : (uint16_t)(WW_REG_UNIFORM + v);
    else if (is_word(s, n, "P", 7, &v))
        *reg = v == 7 ? UINT16_MAX : (uint16_t)(WW_REG_PRED + v);
    else if (is_word(s, n, "UP", 7, &v))
        *reg = v == 7 ? UINT16_MAX : (uint16_t)(WW_REG_UPRED + v);
    else
        return false;
    return true;
}

/* "2 R4 R255 ": registers beyond `room` are counted as dropped. */
static enum ww_code get_registers(struct ww_as_parser *p, const char **at, struct ww_operand *o, unsigned room,
                                  uint8_t *count, struct ww_error *error) {
    uint32_t n = 0;
    WW_TRY(get_u32(p, at, 32, &n, "a number of registers", error));
    *count = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strcspn(*at, " \t");
        uint16_t reg;
        if (!get_register(*at, length, &reg)) return expected(p, error, *at, "a register such as R12");
        if (*count < room)
            o[(*count)++] = (struct ww_operand){reg, 1};
        else
            p->code->dropped_operands++;
        *at = skip_blanks(*at + length);
    }
    return WW_OK;
}

static enum ww_code get_opcode(const struct ww_as_parser *p, const char **at, size_t *length,
                               struct ww_error *error) {
    *length = strcspn(*at, " \t");
    if (!*length || **at < 'A' || **at > 'Z' || *length > 200)
        return expected(p, error, *at, "an opcode such as LDG.E");
    for (size_t i = 0; i < *length; i++)
        if ((unsigned char)(*at)[i] <= ' ' || (unsigned char)(*at)[i] > '~')
            return expected(p, error, *at, "an opcode such as LDG.E");
    *at = skip_blanks(*at + *length);
    return WW_OK;
}

/* Parses the operands of an instruction that is new. */
static enum ww_code new_static(struct ww_as_parser *p, const char **at, uint32_t pc, uint32_t source_line,
                               struct ww_as_static **out, struct ww_error *error) {
    const char *key = *at, *opcode;
    struct ww_inst inst = {.pc = pc, .line = source_line};
    size_t opcode_n;
    uint32_t commit;
    WW_TRY(get_registers(p, at, inst.dst, WW_INST_DST_MAX, &inst.dst_count, error));
    opcode = *at;
    WW_TRY(get_opcode(p, at, &opcode_n, error));
    WW_TRY(get_registers(p, at, inst.src, WW_INST_SRC_MAX, &inst.src_count, error));
    if (p->style.version >= 6 && memmem(opcode, opcode_n, "GMMA", 4))
        WW_TRY(get_u32(p, at, UINT32_MAX, &commit, "whether the group is committed", error));
    if ((size_t)(*at - key) > WW_AS_KEY_MAX) return expected(p, error, key, "shorter operands");
    *out = ww_as_code_find(p->code, pc, key, (size_t)(*at - key));
    if (*out) return WW_OK;
    if (p->ours) return expected(p, error, opcode, "an instruction that the header declares");
    return ww_as_code_add(p->code, &inst, key, (size_t)(*at - key), (size_t)(opcode - key), opcode_n, out,
                          error);
}

/* Finds the static instruction: most lines repeat the operands last seen at their pc. */
static enum ww_code get_static(struct ww_as_parser *p, const char **at, size_t left, uint32_t pc,
                               uint32_t source_line, struct ww_as_static **out, struct ww_error *error) {
    struct ww_as_static **recent = &p->code->recent[(pc >> 3) % 1024], *s = *recent;
    if (s && s->pc == pc && s->key_n <= left && memcmp(s->key, *at, s->key_n) == 0) {
        *at += s->key_n;
        *out = s;
        return WW_OK;
    }
    WW_TRY(new_static(p, at, pc, source_line, out, error));
    *recent = *out;
    return WW_OK;
}

/* ---- addresses ---- */

static enum ww_code get_list(const struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                             struct ww_error *error) {
    l->form = WW_AS_LIST;
    l->count = (unsigned)__builtin_popcount(l->mask);
    for (unsigned i = 0; i < l->count; i++) {
        const char *before = *at;
        if (!ww_as_hex(at, &l->address[i]))
            return expected(p, error, before, "an address for each active lane");
    }
    return WW_OK;
}

static enum ww_code get_stride(const struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                               struct ww_error *error) {
    const char *before = *at;
    int64_t stride;
    if (!ww_as_hex(at, &l->base)) return expected(p, error, before, "the base address");
    before = *at;
    if (!ww_as_int(at, &stride) || stride < INT32_MIN || stride > INT32_MAX)
        return expected(p, error, before, "a stride of 32 bits");
    l->form = WW_AS_AFFINE;
    l->stride = (int32_t)stride;
    if (l->mask) l->base -= (uint64_t)stride * (unsigned)__builtin_ctz(l->mask);
    return WW_OK;
}

static enum ww_code get_deltas(const struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                               struct ww_error *error) {
    const char *before = *at;
    uint64_t address;
    if (!ww_as_hex(at, &address)) return expected(p, error, before, "the base address");
    l->form = WW_AS_LIST;
    l->count = (unsigned)__builtin_popcount(l->mask);
    for (unsigned i = 0; i < l->count; i++) {
        int64_t delta = 0;
        before = *at;
        if (i && !ww_as_int(at, &delta)) return expected(p, error, before, "a delta for each further lane");
        address += (uint64_t)delta;
        l->address[i] = address;
    }
    return WW_OK;
}

static enum ww_code get_addresses(const struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                                  struct ww_error *error) {
    const char *before = *at;
    uint32_t mode = 0;
    WW_TRY(get_u32(p, at, UINT32_MAX, &mode, "an address mode", error));
    switch (mode) {
    case 0:
        return get_list(p, at, l, error);
    case 1:
        return get_stride(p, at, l, error);
    case 2:
        return get_deltas(p, at, l, error);
    default:
        return expected(p, error, before, "address mode 0 (list), 1 (stride) or 2 (deltas)");
    }
}

/* ---- bulk transfers (TMA) ---- */

struct bulk {
    uint64_t bytes, granule, count;
};

/* One address for each 32-byte sector of the granule at `address`. */
static enum ww_code put_bulk(struct ww_as_parser *p, struct ww_as_line *l, uint64_t address,
                             const struct bulk *b, struct ww_error *error) {
    size_t need = l->bulk_count + (size_t)((b->granule + 31) / 32);
    if (need > 65536) return ww_as_bad(p->in, error, "a transfer of more than 65536 sectors");
    if (need > p->bulk_room) {
        uint64_t *bulk = realloc(p->bulk, 2 * need * sizeof *bulk);
        if (!bulk) return ww_fail_nomem(error, "a transfer");
        p->bulk = bulk;
        p->bulk_room = 2 * need;
    }
    for (uint64_t i = 0; i < b->granule; i += 32) p->bulk[l->bulk_count++] = address + i;
    return WW_OK;
}

static enum ww_code get_bulk_addresses(struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                                       uint32_t mode, struct bulk *b, struct ww_error *error) {
    const char *before = *at;
    uint64_t address = 0;
    int64_t delta = 0;
    if (mode == 4 && !ww_as_hex(at, &address)) return expected(p, error, before, "the base address");
    before = *at;
    if (!ww_as_dec(at, &b->count) || b->count > 65536) return expected(p, error, before, "a number of pieces");
    if (b->count) b->granule = b->bytes / b->count;
    if (b->granule == 0 || b->granule > 65536) b->granule = 32;
    for (uint64_t i = 0; i < b->count; i++) {
        before = *at;
        if (mode == 3 ? !ww_as_hex(at, &address) : i && !ww_as_int(at, &delta))
            return expected(p, error, before, "an address for each piece");
        address += (uint64_t)delta;
        WW_TRY(put_bulk(p, l, address, b, error));
    }
    return WW_OK;
}

/* mbarrier, multicast [its CTA mask], bytes, bytes out of bounds, mode 3 (list) or 4 (deltas). */
static enum ww_code get_bulk(struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                             struct ww_error *error) {
    const char *before = *at;
    uint64_t mbarrier, ctas, outside = 0;
    uint32_t multicast = 0, mode = 0;
    struct bulk b = {0};
    if (!ww_as_hex(at, &mbarrier)) return expected(p, error, before, "the mbarrier's address");
    WW_TRY(get_u32(p, at, UINT32_MAX, &multicast, "whether it is a multicast", error));
    before = *at;
    if (multicast && !ww_as_hex(at, &ctas)) return expected(p, error, before, "the CTAs of the multicast");
    before = *at;
    if (!ww_as_dec(at, &b.bytes) || !ww_as_dec(at, &outside)) return expected(p, error, before, "byte counts");
    before = *at;
    WW_TRY(get_u32(p, at, UINT32_MAX, &mode, "an address mode", error));
    if (mode != 3 && mode != 4) return expected(p, error, before, "address mode 3 or 4");
    return get_bulk_addresses(p, at, l, mode, &b, error);
}

/* ---- the line ---- */

static enum ww_code get_prefix(const struct ww_as_parser *p, const char **at, struct ww_as_line *l,
                               struct ww_error *error) {
    uint32_t v = 0;
    for (unsigned i = 0; i < p->style.prefix; i++) {
        WW_TRY(get_u32(p, at, UINT32_MAX, &v, "CTA and warp numbers in front of the pc", error));
        if (i < 3)
            l->cta[i] = v;
        else if (i == 3)
            l->warp = v;
    }
    return WW_OK;
}

/* Immediates, from version 5 on; from 6 on values may follow, which nothing here needs. */
static enum ww_code get_rest(const struct ww_as_parser *p, const char *at, struct ww_as_line *l,
                             struct ww_error *error) {
    unsigned most = p->style.version >= 6 ? 2 : 1;
    while (l->immediates < most && *at) {
        int64_t v;
        uint64_t u;
        if (ww_as_int(&at, &v))
            l->immediate[l->immediates++] = (uint64_t)v;
        else if (ww_as_dec(&at, &u))
            l->immediate[l->immediates++] = u;
        else
            break;
    }
    if (*at && p->style.version < 6) return expected(p, error, at, "the line's end");
    if (*at && strncmp(at, "Val", 3) != 0 && strncmp(at, "NoVal", 5) != 0)
        return expected(p, error, at, "Val or NoVal");
    return WW_OK;
}

enum ww_code ww_as_line_parse(struct ww_as_parser *p, char *text, struct ww_as_line *l,
                              struct ww_error *error) {
    const char *at = skip_blanks(text), *end = text + strlen(text), *before;
    uint64_t pc, mask;
    uint32_t source_line = 0, width = 0;
    l->form = WW_AS_NONE;
    l->immediates = 0;
    l->bulk_count = 0;
    if (p->style.prefix) WW_TRY(get_prefix(p, &at, l, error));
    if (p->style.lineinfo) WW_TRY(get_u32(p, &at, UINT32_MAX, &source_line, "a source line's number", error));
    before = at;
    if (!ww_as_hex(&at, &pc) || pc > UINT32_MAX) return expected(p, error, before, "a pc in hexadecimal");
    before = at;
    if (!ww_as_hex(&at, &mask) || mask > UINT32_MAX) return expected(p, error, before, "a mask in hexadecimal");
    l->pc = (uint32_t)pc;
    l->mask = (uint32_t)mask;
    WW_TRY(get_static(p, &at, (size_t)(end - at), l->pc, source_line, &l->code, error));
    WW_TRY(get_u32(p, &at, UINT32_MAX, &width, "a memory width", error));
    if (p->style.version >= 6 && l->code->row && l->code->row->shape == WW_SASS_BULK)
        WW_TRY(get_bulk(p, &at, l, error));
    else if (width)
        WW_TRY(get_addresses(p, &at, l, error));
    l->bulk = p->bulk;
    return get_rest(p, at, l, error);
}
