/* What the exporter adds to a header: one line per static instruction with all that the text itself cannot say.
 * Readers of the format skip header lines that they do not know.
 *
 *     -warpwatt inst = pc class space width flags barrier threads [bytes] dst reg:n.. src reg:n.. line opcode
 * mnemonic file
 *
 * dst and src stand for the number of operands; mnemonic and file have blanks as %20, and "-" for nothing. */
#include "../wwt/index.h"
#include "text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_operands(struct ww_buf *b, const struct ww_operand *o, unsigned count) {
    ww_buf_printf(b, " %u", count);
    for (unsigned i = 0; i < count; i++) ww_buf_printf(b, " %u:%u", o[i].reg, o[i].n);
}

/* A string as one word: what would end it, and '%', as %XX; "-" if it is empty. */
static void put_word(struct ww_buf *b, const char *s) {
    if (!*s) ww_buf_byte(b, '-');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c <= ' ' || c == '%' || c == 127 || (c == '-' && !s[1]))
            ww_buf_printf(b, "%%%02x", c);
        else
            ww_buf_byte(b, c);
    }
}

void ww_as_put_declaration(struct ww_buf *b, const struct ww_inst *i, const char *opcode, const char *mnemonic,
                           const char *file) {
    ww_buf_printf(b, "%s%x %u %u %u %x %u %u", WW_AS_OUR_INST, i->pc, i->op, i->space, i->width, i->flags,
                  i->barrier, i->barrier_threads);
    if (i->flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE)) ww_buf_printf(b, " %u", i->bytes);
    put_operands(b, i->dst, i->dst_count);
    put_operands(b, i->src, i->src_count);
    ww_buf_printf(b, " %u %s ", i->line, opcode);
    put_word(b, mnemonic);
    ww_buf_byte(b, ' ');
    put_word(b, file);
}

static void put_registers(struct ww_buf *b, const struct ww_operand *o, unsigned count, unsigned most) {
    unsigned n = 0;
    for (unsigned i = 0; i < count && n < most; i++) n += o[i].reg < 255;
    ww_buf_printf(b, "%u ", n);
    for (unsigned i = 0; i < count && n; i++)
        if (o[i].reg < 255) {
            ww_buf_printf(b, "R%u ", o[i].reg);
            n--;
        }
}

/* Vector registers only, one result and four sources: what the format's readers take. */
void ww_as_put_key(struct ww_buf *b, const struct ww_inst *inst, const char *opcode) {
    put_registers(b, inst->dst, inst->dst_count, 1);
    ww_buf_printf(b, "%s ", opcode);
    put_registers(b, inst->src, inst->src_count, 4);
}

struct reader {
    const char *at;
    bool bad;
};

static uint32_t get(struct reader *r, uint64_t max) {
    uint64_t v;
    if (r->bad || !ww_as_dec(&r->at, &v) || v > max) r->bad = true;
    return r->bad ? 0 : (uint32_t)v;
}

static uint32_t get_hex(struct reader *r) {
    uint64_t v;
    if (r->bad || !ww_as_hex(&r->at, &v) || v > UINT32_MAX) r->bad = true;
    return r->bad ? 0 : (uint32_t)v;
}

static uint8_t get_operands(struct reader *r, struct ww_operand *o, unsigned most) {
    uint32_t n = get(r, most);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        unsigned reg, count;
        int used = 0;
        if (sscanf(r->at, "%5u:%5u%n", &reg, &count, &used) != 2 || reg + count > WW_REG_COUNT || count > 8) {
            r->bad = true;
            break;
        }
        o[i] = (struct ww_operand){(uint16_t)reg, (uint16_t)count};
        r->at += used;
        while (*r->at == ' ') r->at++;
    }
    return (uint8_t)n;
}

static bool unescape(char *s) {
    char *to = s;
    for (; *s; s++, to++) {
        unsigned c;
        *to = *s;
        if (*s != '%') continue;
        if (!s[1] || !s[2] || sscanf(s + 1, "%2x", &c) != 1 || !c) return false;
        *to = (char)c;
        s += 2;
    }
    *to = 0;
    return true;
}

/* The next word, copied and unescaped. */
static const char *get_word(struct reader *r, struct ww_arena *arena) {
    size_t n = strcspn(r->at, " ");
    char *s = n && !r->bad ? ww_arena_strndup(arena, r->at, n) : NULL;
    bool empty = s && strcmp(s, "-") == 0;
    if (!s || !unescape(s)) {
        r->bad = true;
        return "";
    }
    r->at += n;
    while (*r->at == ' ') r->at++;
    return empty ? "" : s;
}

enum ww_code ww_as_get_declaration(const struct ww_as_input *in, const char *text, struct ww_as_code *c,
                                   struct ww_error *error) {
    struct reader r = {text, false};
    struct ww_inst i = {.pc = get_hex(&r)};
    i.op = (uint8_t)get(&r, WW_OP_COUNT - 1);
    i.space = (uint8_t)get(&r, WW_SPACE_COUNT - 1);
    i.width = (uint8_t)get(&r, 16);
    i.flags = get_hex(&r);
    i.barrier = (uint8_t)get(&r, 255);
    i.barrier_threads = (uint16_t)get(&r, UINT16_MAX);
    if (i.flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE)) i.bytes = get(&r, UINT32_MAX);
    i.dst_count = get_operands(&r, i.dst, WW_INST_DST_MAX);
    i.src_count = get_operands(&r, i.src, WW_INST_SRC_MAX);
    i.line = get(&r, UINT32_MAX);
    const char *opcode = get_word(&r, &c->arena);
    const char *mnemonic = get_word(&r, &c->arena), *file = get_word(&r, &c->arena);
    if (r.bad || (i.width & (i.width - 1)))
        return ww_as_bad(in, error, "a malformed \"-warpwatt inst\" line, near \"%.40s\"", r.at);
    const char *why = ww_wwt_check_class(&i);
    if (why) return ww_as_bad(in, error, "a \"-warpwatt inst\" line: %s", why);
    struct ww_buf key = {0};
    ww_as_put_key(&key, &i, opcode);
    enum ww_code code;
    if (key.failed)
        code = ww_fail_nomem(error, "a code table");
    else if (ww_as_code_find(c, i.pc, key.p, key.n))
        code = ww_as_bad(in, error, "the instruction at pc 0x%x is declared twice", i.pc);
    else
        code = ww_as_code_declare(c, &i, mnemonic, file, key.p, key.n, error);
    ww_buf_free(&key);
    return code;
}
