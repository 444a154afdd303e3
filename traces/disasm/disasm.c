/* Listings of machine code with control fields, as text and JSON. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/jsonw.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/text.h"
#include "../sass/code/sass_decode.h"
#include "disasm_input.h"
#include "../sass/code/sass_print.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    const char *kernel; /* NULL: all */
    bool json, raw_words;
    struct ww_jsonw w;
    FILE *out;
    unsigned kernels;
    uint64_t unknown; /* instructions that could not be decoded; the first one's error */
    struct ww_error first;
};

static const char *unit_name(enum ww_sass_unit unit) {
    static const char *const names[] = {"bru", "alu",  "fma", "half", "fp64",  "xu",
                                        "udp", "sreg", "lsu", "tex",  "tensor"};
    return names[unit];
}

static const char *latency_name(enum ww_sass_latency latency) {
    static const char *const names[] = {"fixed", "variable", "branch"};
    return names[latency];
}

/* "012345 R0 W1 Y 15": scoreboards to wait for, to count reading and writing with, yield, stall. */
static void control_text(const struct ww_sass_ctl *c, char out[24]) {
    char wait[7];
    for (unsigned i = 0; i < 6; i++) wait[i] = c->wait >> i & 1 ? (char)('0' + (int)i) : '-';
    wait[6] = '\0';
    snprintf(out, 24, "%s R%c W%c %c %2u", wait, c->rd_bar == 7 ? '-' : '0' + c->rd_bar,
             c->wr_bar == 7 ? '-' : '0' + c->wr_bar, c->yield ? 'Y' : '-', c->stall);
}

static void put_text(const struct listing *l, const struct ww_sass_insn *in, uint64_t offset) {
    char text[512], control[24];
    ww_sass_print(in, text, sizeof text);
    control_text(&in->ctl, control);
    fprintf(l->out, "  %04" PRIx64 "  %s  %s", offset, control, text);
    if (l->raw_words) fprintf(l->out, "  /* %016" PRIx64 "%016" PRIx64 " */", in->raw[1], in->raw[0]);
    putc('\n', l->out);
}

static void put_json(struct ww_jsonw *w, const struct ww_sass_insn *in, uint64_t offset) {
    const struct ww_sass_opinfo *info = ww_sass_opinfo(in->op);
    char text[512], raw[33];
    size_t n = ww_sass_print(in, text, sizeof text);
    snprintf(raw, sizeof raw, "%016" PRIx64 "%016" PRIx64, in->raw[1], in->raw[0]);
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_u64(w, "offset", offset);
    ww_jsonw_text(w, "text", text, n < sizeof text ? n : sizeof text - 1);
    ww_jsonw_str(w, "opcode", info->name);
    ww_jsonw_str(w, "class", ww_op_name(info->class));
    ww_jsonw_str(w, "unit", unit_name(info->unit));
    ww_jsonw_str(w, "latency", latency_name(info->latency));
    ww_jsonw_u64(w, "stall", in->ctl.stall);
    ww_jsonw_bool(w, "yield", in->ctl.yield);
    if (in->ctl.wr_bar != 7) ww_jsonw_u64(w, "write_barrier", in->ctl.wr_bar);
    if (in->ctl.rd_bar != 7) ww_jsonw_u64(w, "read_barrier", in->ctl.rd_bar);
    ww_jsonw_u64(w, "wait", in->ctl.wait);
    ww_jsonw_u64(w, "reuse", in->ctl.reuse);
    ww_jsonw_str(w, "bits", raw);
    ww_jsonw_close(w, '}');
}

static void put_head(struct listing *l, const char *name, uint32_t arch, bool entry, uint32_t registers,
                     uint64_t n) {
    l->kernels++;
    if (l->json) {
        ww_jsonw_open(&l->w, NULL, '{');
        ww_jsonw_str(&l->w, "name", name);
        ww_jsonw_u64(&l->w, "arch", arch);
        ww_jsonw_bool(&l->w, "kernel", entry);
        if (registers) ww_jsonw_u64(&l->w, "registers", registers);
        ww_jsonw_open(&l->w, "instructions", '[');
        return;
    }
    fprintf(l->out, "%ssm_%" PRIu32 " %s ", l->kernels > 1 ? "\n" : "", arch, entry ? "kernel" : "function");
    ww_put_text(l->out, name);
    fprintf(l->out, ": %" PRIu64 " instructions", n);
    if (registers) fprintf(l->out, ", %" PRIu32 " registers", registers);
    putc('\n', l->out);
}

static void put_tail(struct listing *l) {
    if (!l->json) return;
    ww_jsonw_close(&l->w, ']');
    ww_jsonw_close(&l->w, '}');
}

/* An instruction that is not known is listed by its bits, and the command fails at the end. */
static void put_code(struct listing *l, uint32_t arch, const unsigned char *code, uint64_t bytes,
                     const char *where) {
    for (uint64_t at = 0; at + SASS_INSN_BYTES <= bytes; at += SASS_INSN_BYTES) {
        uint64_t raw[2];
        struct ww_sass_insn in;
        struct ww_error error;
        memcpy(raw, code + at, sizeof raw);
        if (ww_sass_decode(arch, raw, (uint32_t)at, where, &in, &error) != WW_OK) {
            if (!l->unknown++) l->first = error;
            in.raw[0] = raw[0], in.raw[1] = raw[1];
            in.ctl.rd_bar = in.ctl.wr_bar = 7;
        }
        if (l->json)
            put_json(&l->w, &in, at);
        else
            put_text(l, &in, at);
    }
}

static enum ww_code visit(void *context, const struct ww_cubin *cubin, uint32_t arch, const void *raw, size_t n,
                          struct ww_error *error) {
    struct listing *l = context;
    if (!cubin) {
        if (n % SASS_INSN_BYTES)
            return ww_fail(error, WW_INPUT, "", "%zu bytes are not a whole number of instructions of 16 bytes",
                           n);
        put_head(l, "raw", arch, false, 0, n / SASS_INSN_BYTES);
        put_code(l, arch, raw, n, "raw");
        put_tail(l);
        return WW_OK;
    }
    for (size_t i = 0; i < cubin->kernel_count; i++) {
        const struct ww_cubin_kernel *k = &cubin->kernels[i];
        if (l->kernel && strcmp(l->kernel, k->name) != 0) continue;
        put_head(l, k->name, arch, k->entry, k->registers, k->code_bytes / SASS_INSN_BYTES);
        put_code(l, arch, cubin->code.data + k->code, k->code_bytes, k->name);
        put_tail(l);
    }
    return WW_OK;
}

/* "sm_86", "86", "sm_90a". */
static enum ww_code parse_arch(const char *text, uint32_t *arch, struct ww_error *error) {
    const char *digits = !strncmp(text, "sm_", 3) ? text + 3 : text;
    char *end;
    unsigned long v = strtoul(digits, &end, 10);
    if (end == digits || v < 70 || v > 999 || (*end && strcmp(end, "a") != 0 && strcmp(end, "f") != 0))
        return ww_fail(error, WW_USAGE, "--arch",
                       "\"%.40s\" is not an architecture from sm_70 on (such as sm_86)", text);
    *arch = (uint32_t)v;
    return WW_OK;
}

enum ww_code ww_disasm(const char *path, const struct ww_disasm_options *options, FILE *out,
                       struct ww_error *error) {
    struct disasm_wish wish = {.raw = options->raw, .options = options->ptxas_options};
    struct listing l = {
        .kernel = options->kernel, .json = options->json, .raw_words = options->bits, .out = out};
    if (options->arch) WW_TRY(parse_arch(options->arch, &wish.arch, error));
    if (wish.raw && !wish.arch) return ww_fail(error, WW_USAGE, "--raw", "needs --arch");
    if (l.json) {
        ww_jsonw_begin(&l.w, out);
        ww_jsonw_open(&l.w, NULL, '[');
    }
    WW_TRY(ww_disasm_input(path, &wish, visit, &l, error));
    if (l.kernel && !l.kernels) return ww_fail(error, WW_INPUT, path, "no kernel \"%.200s\"", l.kernel);
    if (l.json) {
        ww_jsonw_close(&l.w, ']');
        WW_TRY(ww_jsonw_end(&l.w, error));
    }
    if (!l.unknown) return WW_OK;
    return ww_fail(error, WW_UNSUPPORTED, l.first.where, "%.400s (%" PRIu64 " instruction%s not known)",
                   l.first.text, l.unknown, ww_plural(l.unknown, "s"));
}
