/* Writes decoded instructions as text. */
#include "sass_print.h"
#include "print_internal.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ww_sass_put(struct ww_sass_out *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    size_t left = o->at < o->n ? o->n - o->at : 0;
    int k = vsnprintf(left ? o->buf + o->at : NULL, left, fmt, args);
    va_end(args);
    if (k > 0) o->at += (size_t)k;
}

static bool is_power_of_two(int64_t v) {
    return v > 0 && !(v & (v - 1));
}

/* The multiplier is used for moves, additions and shifts; the text says so. */
static const char *imad_alias(const struct ww_sass_insn *in) {
    const struct ww_sass_operand *a = &in->opd[SASS_A], *b = &in->opd[SASS_B], *c = &in->opd[SASS_C];
    bool zero_c = c->kind == SASS_K_REG && c->reg == SASS_RZ, imm = b->kind == SASS_K_IMM;
    if (in->op != SASS_IMAD || in->mod[SASS_M_X] || a->kind != SASS_K_REG) return "";
    if (b->kind == SASS_K_REG && (a->reg == SASS_RZ || b->reg == SASS_RZ) && c->kind != SASS_K_UREG &&
        c->kind != SASS_K_CBIND)
        return ".MOV";
    if (imm && (!b->imm || (b->imm == 1 && zero_c))) return ".MOV";
    if (imm && b->imm == 1) return ".IADD";
    if (imm && zero_c && is_power_of_two(b->imm) && b->imm != 0x10000 && b->imm < 0x80000000) return ".SHL";
    return "";
}

static void put_mnemonic(struct ww_sass_out *o, const struct ww_sass_insn *in, const struct ww_sass_row *row) {
    bool renamed = row->fields->type == SASS_FT_TEXT && row->fields->text[0] == '=';
    ww_sass_put(o, "%s%s", renamed ? row->fields->text + 1 : ww_sass_opinfo(in->op)->name, imad_alias(in));
    for (const struct ww_sass_field *f = row->fields; f->type; f++) {
        const char *t = NULL;
        uint64_t v = ww_sass_peek(in->raw, f->lo, f->len);
        if (f->type == SASS_FT_TEXT || (f->type == SASS_FT_SET && v) || (f->type == SASS_FT_CLEAR && !v))
            t = f->text;
        if (f->type == SASS_FT_MAP) {
            v |= ww_sass_peek(in->raw, f->lo2, f->len2) << f->len;
            t = v < f->count ? f->map[v].text : NULL;
        }
        if (t && *t == '=') continue;
        if (t && !strcmp(t, "#GMMA"))
            ww_sass_put(o, ".64x%dx%d", in->mod[SASS_M_N8] * 8,
                        in->mod[SASS_M_KDIM] ? in->mod[SASS_M_KDIM] : 256);
        else if (t && *t)
            ww_sass_put(o, ".%s", t);
    }
}

static bool hidden(const struct ww_sass_insn *in, const struct ww_sass_opd *d) {
    const struct ww_sass_operand *p = &in->opd[d->slot];
    switch ((enum ww_sass_show)d->show) {
    case SASS_SHOW:
        return false;
    case SASS_HIDE_T:
        return p->reg == SASS_PT && !(p->flags & SASS_F_NOT);
    case SASS_HIDE_RELU:
        return !in->mod[SASS_M_RELU] || (p->reg == SASS_PT && !(p->flags & SASS_F_NOT));
    case SASS_HIDE_NT:
        return p->reg == SASS_PT && p->flags & SASS_F_NOT;
    case SASS_HIDE_X:
        return !in->mod[SASS_M_X];
    case SASS_HIDE_Z:
        return !p->imm &&
               (p->kind == SASS_K_REG ? p->reg == SASS_RZ : p->kind != SASS_K_UREG || p->reg == SASS_URZ);
    case SASS_HIDE_F:
        return p->imm == 15;
    case SASS_HIDE_FF:
        return p->imm == 0xff;
    case SASS_HIDE_1:
        return p->imm == 1;
    case SASS_HIDE_HI:
        return !in->mod[SASS_M_HI] || in->mod[SASS_M_SX32];
    default:
        return true;
    }
}

size_t ww_sass_print(const struct ww_sass_insn *in, char *buf, size_t n) {
    struct ww_sass_out o = {buf, n, 0};
    const struct ww_sass_row *row = ww_sass_row(in->row);
    if (n) buf[0] = '\0';
    if (!row || in->op == SASS_INVALID) {
        ww_sass_put(&o, ".word 0x%016" PRIx64 "%016" PRIx64, in->raw[1], in->raw[0]);
        return o.at;
    }
    if (in->guard != SASS_PT || in->guard_not) {
        ww_sass_put(&o, "@%s%sP", in->guard_not ? "!" : "", in->guard_uniform ? "U" : "");
        if (in->guard == SASS_PT)
            ww_sass_put(&o, "T ");
        else
            ww_sass_put(&o, "%u ", in->guard);
    }
    put_mnemonic(&o, in, row);
    const char *between = " ";
    for (const struct ww_sass_opd *d = row->opds; d->get; d++) {
        if (d->get != SASS_G_LITERAL && hidden(in, d)) continue;
        ww_sass_put(&o, "%s", between);
        ww_sass_put_operand(&o, in, d);
        between = d->flags == SASS_NO_COMMA && d->get != SASS_G_MEM ? " " : ", ";
    }
    return o.at;
}
