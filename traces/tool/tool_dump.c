/* `trace dump`: the decoded instructions of one CTA, a line each. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/jsonw.h"
#include "../../estimator/result/result.h"
#include "../../estimator/base/text.h"
#include "../wwt/reader.h"

/* "R4", or "R4:2" of two registers. */
static void operand_text(const struct ww_operand *o, char out[32]) {
    static const struct {
        uint16_t first;
        const char *name;
    } file[] = {{WW_REG_UPRED, "UP"}, {WW_REG_UNIFORM, "UR"}, {WW_REG_PRED, "P"}, {0, "R"}};
    int k = 0;
    while (o->reg < file[k].first) k++;
    int n = snprintf(out, 32, "%s%d", file[k].name, o->reg - file[k].first);
    if (o->n > 1) snprintf(out + n, 32 - (size_t)n, ":%u", o->n);
}

static void print_operand(const struct ww_operand *o, const char *before, FILE *out) {
    char text[32];
    operand_text(o, text);
    fprintf(out, "%s%s", before, text);
}

/* The mnemonic and registers: destinations, then sources. */
static void print_inst(const struct ww_launch *l, const struct ww_inst *i, FILE *out) {
    const char *mnemonic = l->string[i->mnemonic], *before = " ";
    ww_put_text(out, *mnemonic ? mnemonic : ww_op_name((enum ww_op)i->op));
    for (int k = 0; k < i->dst_count; k++, before = ", ") print_operand(&i->dst[k], before, out);
    if (i->src_count) before = " <- ";
    for (int k = 0; k < i->src_count; k++, before = ", ") print_operand(&i->src[k], before, out);
}

static void print_barrier(const char *name, unsigned number, FILE *out) {
    if (number != WW_CONTROL_NO_BARRIER) fprintf(out, " %s%u", name, number);
}

/* The compiler's control fields: stall cycles, yield, scoreboards that it counts and waits for, operands kept.
 */
static void print_control(const struct ww_inst *i, FILE *out) {
    static const char place[] = " ABC    ";
    const struct ww_control *c = &i->control;
    fprintf(out, "  {stall %u%s", c->stall, c->yield ? " yield" : "");
    print_barrier("write SB", c->write_barrier, out);
    print_barrier("read SB", c->read_barrier, out);
    if (c->wait) fprintf(out, " wait 0x%x", c->wait);
    for (int k = 0; k < i->src_count; k++)
        if (i->src_slot[k] & WW_SLOT_REUSE) fprintf(out, " reuse %c", place[i->src_slot[k] & WW_SLOT_PLACE]);
    fputc('}', out);
}

static void print_access(const struct ww_inst *i, uint32_t mask, const struct ww_access *a,
                         const uint64_t *pool, FILE *out) {
    if (i->space != WW_SPACE_NONE) fprintf(out, "  %s/%u", ww_space_name((enum ww_space)i->space), i->width);
    if (a->list == WW_AFFINE && i->space == WW_SPACE_NONE) {
        fprintf(out, "  value 0x%llx", (unsigned long long)a->base);
    } else if (a->list == WW_AFFINE) {
        fprintf(out, "  0x%llx", (unsigned long long)a->base);
        if (i->flags & WW_INST_WAIT)
            fprintf(out, " after %u writes", (unsigned)a->stride);
        else if (a->stride)
            fprintf(out, "%+d*lane", a->stride);
    } else {
        const char *before = "  [";
        for (int k = 0; k < __builtin_popcount(mask); k++, before = " ")
            fprintf(out, "%s0x%llx", before, (unsigned long long)ww_listed(a, pool, (uint32_t)k));
        fprintf(out, "]");
    }
}

static void print_warp(const struct ww_launch *l, const struct ww_cta_trace *cta, uint32_t warp, FILE *out) {
    const struct ww_warp_stream *s = &cta->warp[warp];
    const struct ww_access *access = s->access;
    for (uint32_t k = 0; k < s->step_count; k++) {
        const struct ww_inst *i = &l->inst[s->step[k].inst];
        fprintf(out, "cta %llu  warp %u  pc 0x%04x  mask %08x  ", (unsigned long long)cta->index, warp, i->pc,
                s->step[k].mask);
        print_inst(l, i, out);
        if (i->flags & WW_INST_ACCESS) print_access(i, s->step[k].mask, access++, s->pool, out);
        if (i->flags & WW_INST_CONTROL) print_control(i, out);
        fputc('\n', out);
    }
}

static void json_operands(struct ww_jsonw *w, const char *key, const struct ww_operand *o, int count) {
    char text[32];
    ww_jsonw_open(w, key, '[');
    for (int k = 0; k < count; k++) {
        operand_text(&o[k], text);
        ww_jsonw_str(w, NULL, text);
    }
    ww_jsonw_close(w, ']');
}

static void json_access(struct ww_jsonw *w, const struct ww_inst *i, uint32_t mask, const struct ww_access *a,
                        const uint64_t *pool) {
    struct ww_access place = ww_access_place(i, a);
    uint32_t at = 0;
    bool waits = (i->flags & WW_INST_WAIT) && a->list == WW_AFFINE;
    if (waits) ww_jsonw_u64(w, "after_writes", (uint32_t)a->stride);
    if (i->space != WW_SPACE_NONE) {
        ww_jsonw_str(w, "space", ww_space_name((enum ww_space)i->space));
        ww_jsonw_u64(w, "bytes", i->width);
    }
    ww_jsonw_open(w, "addresses", '[');
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1)) continue;
        uint64_t affine = place.base + (uint64_t)((int64_t)place.stride * (int64_t)lane);
        ww_jsonw_u64(w, NULL, a->list == WW_AFFINE ? affine : ww_listed(a, pool, at));
        at++;
    }
    ww_jsonw_close(w, ']');
}

static void json_warp(struct ww_jsonw *w, const struct ww_launch *l, const struct ww_cta_trace *cta,
                      uint32_t warp) {
    const struct ww_warp_stream *s = &cta->warp[warp];
    const struct ww_access *access = s->access;
    for (uint32_t k = 0; k < s->step_count && !ferror(w->out); k++) {
        const struct ww_inst *i = &l->inst[s->step[k].inst];
        const char *mnemonic = l->string[i->mnemonic];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "cta", cta->index);
        ww_jsonw_u64(w, "warp", warp);
        ww_jsonw_u64(w, "pc", i->pc);
        ww_jsonw_u64(w, "mask", s->step[k].mask);
        ww_jsonw_str(w, "mnemonic", *mnemonic ? mnemonic : ww_op_name((enum ww_op)i->op));
        json_operands(w, "destinations", i->dst, i->dst_count);
        json_operands(w, "sources", i->src, i->src_count);
        if (i->flags & WW_INST_ACCESS) json_access(w, i, s->step[k].mask, access++, s->pool);
        if (i->flags & WW_INST_CONTROL) ww_jsonw_u64(w, "stall", i->control.stall);
        ww_jsonw_close(w, '}');
    }
}

static enum ww_code print_json(const struct ww_launch *l, const struct ww_cta_trace *c, int warp, FILE *out,
                               struct ww_error *error) {
    struct ww_jsonw j;
    ww_jsonw_begin(&j, out);
    ww_jsonw_open(&j, NULL, '[');
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (warp < 0 || w == (uint32_t)warp) json_warp(&j, l, c, w);
    ww_jsonw_close(&j, ']');
    return ww_jsonw_end(&j, error);
}

/* A trace has only the parts of machine code that replay needs; a note says so once. */
static void print_machine_note(const struct ww_launch *l, FILE *out) {
    if (!l->inst_count || !(l->inst[0].flags & WW_INST_CONTROL)) return;
    fputs("machine code", out);
    if (l->code) {
        fputs(" (", out);
        ww_put_text(out, l->code);
        fputc(')', out);
    }
    fputs(": registers only, a guard among the sources; immediates, constants, negations and targets: "
          "warpwatt disasm\n",
          out);
}

enum ww_code ww_trace_dump(struct ww_trace *trace, size_t launch, uint64_t cta, int warp, bool json, FILE *out,
                           struct ww_error *error) {
    WW_PLAIN_LOCALE;
    const struct ww_launch *l;
    struct ww_cta_trace c;
    WW_TRY(ww_trace_launch(trace, launch, &l, error));
    if (warp >= 0 && (uint32_t)warp >= l->warps_per_cta)
        return ww_fail(error, WW_USAGE, trace->path, "warp %d of launch %zu; its CTAs have %u, numbered from 0",
                       warp, launch, l->warps_per_cta);
    WW_TRY(ww_trace_load_cta(trace, launch, cta, &c, error));
    if (!json) print_machine_note(l, out);
    for (uint32_t w = 0; w < c.warp_count && !json; w++)
        if ((warp < 0 || w == (uint32_t)warp) && !ferror(out)) print_warp(l, &c, w, out);
    enum ww_code code = json ? print_json(l, &c, warp, out, error) : ww_written(out, error);
    ww_trace_release_cta(trace, &c);
    return code;
}
