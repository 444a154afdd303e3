/* `trace info`: what a trace holds, from its index alone. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/base/jsonw.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/text.h"
#include "../../estimator/result/names.h"
#include "../wwt/reader.h"
#include <string.h>

struct totals {
    uint64_t warp, thread, bytes;
    uint64_t mix[WW_OP_COUNT][WW_SPACE_COUNT]; /* warp instructions by class and space */
};

/* Class k / WW_SPACE_COUNT in space k % WW_SPACE_COUNT. */
#define MIX (WW_OP_COUNT * WW_SPACE_COUNT)

static uint64_t *mix_of(struct totals *t, int k) {
    return &t->mix[k / WW_SPACE_COUNT][k % WW_SPACE_COUNT];
}

/* "int", "load.global". */
static const char *mix_name(int k, char out[64]) {
    enum ww_space space = (enum ww_space)(k % WW_SPACE_COUNT);
    const char *op = ww_op_name((enum ww_op)(k / WW_SPACE_COUNT));
    if (space == WW_SPACE_NONE) return op;
    snprintf(out, 64, "%s.%s", op, ww_space_name(space));
    return out;
}

static struct totals launch_totals(const struct ww_wwt_launch *l) {
    struct totals t = {.warp = l->view.warp_instructions, .thread = l->view.thread_instructions};
    for (uint32_t i = 0; i < l->view.inst_count; i++)
        t.mix[l->view.inst[i].op][l->view.inst[i].space] += l->inst_warp[i];
    for (uint32_t i = 0; i < l->group_count; i++) t.bytes += WW_WWT_CHUNK_BYTES + (uint64_t)l->group[i].stored;
    return t;
}

static struct totals file_totals(const struct ww_trace *trace) {
    struct totals t = {.bytes = trace->size};
    for (size_t i = 0; i < trace->index.launch_count; i++) {
        struct totals l = launch_totals(&trace->index.launch[i]);
        t.warp += l.warp;
        t.thread += l.thread;
        for (int k = 0; k < MIX; k++) mix_of(&t, k)[0] += mix_of(&l, k)[0];
    }
    return t;
}

/* Active lanes per 32 issued. */
static double efficiency(const struct totals *t) {
    return t->warp ? (double)t->thread / (32.0 * (double)t->warp) : 0;
}

static double per_instruction(const struct totals *t) {
    return t->warp ? (double)t->bytes / (double)t->warp : 0;
}

/* ---- JSON ---- */

static void json_ratio(struct ww_jsonw *w, const char *key, const struct totals *t, double v) {
    if (t->warp)
        ww_jsonw_f64(w, key, v);
    else
        ww_jsonw_null(w, key);
}

static void json_dimensions(struct ww_jsonw *w, const char *key, const uint32_t d[3]) {
    ww_jsonw_open_flat(w, key, '[');
    for (int i = 0; i < 3; i++) ww_jsonw_u64(w, NULL, d[i]);
    ww_jsonw_close(w, ']');
}

static void json_totals(struct ww_jsonw *w, struct totals *t) {
    char name[64];
    ww_jsonw_u64(w, "warp_instructions", t->warp);
    ww_jsonw_u64(w, "thread_instructions", t->thread);
    ww_jsonw_u64(w, "bytes", t->bytes);
    json_ratio(w, "bytes_per_warp_instruction", t, per_instruction(t));
    json_ratio(w, "simt_efficiency", t, efficiency(t));
    ww_jsonw_open_flat(w, "mix", '{');
    for (int k = 0; k < MIX; k++)
        if (*mix_of(t, k)) ww_jsonw_u64(w, mix_name(k, name), *mix_of(t, k));
    ww_jsonw_close(w, '}');
}

/* Where a launch's instructions come from; NULL: the file does not tell. */
static const char *origin(const struct ww_trace *trace, const struct ww_wwt_launch *l) {
    const char *tool = trace->index.meta.tool;
    if (l->view.code) return l->view.code;
    return tool && strncmp(tool, "warpwatt ", 9) == 0 ? "lowered PTX" : NULL;
}

static uint64_t copied_bytes(const struct ww_launch *l) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->copy_count; i++) sum += l->copy[i].bytes * l->copy[i].rows;
    return sum;
}

static const char *const copy_kind[WW_TRACE_COPY_KINDS] = {"host", "device", "fill"};

static void json_copies(struct ww_jsonw *w, const struct ww_launch *l) {
    if (!l->copy_count) return;
    ww_jsonw_open(w, "copies", '[');
    for (uint32_t i = 0; i < l->copy_count; i++) {
        const struct ww_trace_copy *c = &l->copy[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "kind", copy_kind[c->kind]);
        ww_jsonw_u64(w, "address", c->address);
        ww_jsonw_u64(w, "bytes", c->bytes);
        ww_jsonw_u64(w, "rows", c->rows);
        if (c->rows > 1) ww_jsonw_u64(w, "pitch", c->pitch);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void json_order(struct ww_jsonw *w, const struct ww_trace_order *o) {
    if (!o->stream && !o->priority && !o->wait_count) return;
    ww_jsonw_u64(w, "stream", o->stream);
    ww_jsonw_i64(w, "priority", o->priority);
    ww_jsonw_open_flat(w, "waits_for", '[');
    for (uint32_t i = 0; i < o->wait_count; i++) ww_jsonw_u64(w, NULL, o->wait[i]);
    ww_jsonw_close(w, ']');
}

static void text_order(const struct ww_trace_order *o, FILE *out) {
    if (!o->stream && !o->priority && !o->wait_count) return;
    fprintf(out, "  stream %u", o->stream);
    if (o->priority) fprintf(out, " of priority %d", o->priority);
    for (uint32_t i = 0; i < o->wait_count && i < 16; i++)
        fprintf(out, "%s%u", i ? ", " : ", waits for launch ", o->wait[i]);
    fputs(o->wait_count > 16 ? ", ...\n" : "\n", out);
}

/* ---- copies of the program ---- */

static void json_waits(struct ww_jsonw *w, const struct ww_host_copy *c) {
    ww_jsonw_open_flat(w, "waits_for", '[');
    for (uint32_t i = 0; i < c->wait_count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, WW_OPERATION_IS_COPY(c->wait[i]) ? "copy" : "launch", c->wait[i] / 2);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void json_program_copies(struct ww_jsonw *w, const struct ww_host_order *h) {
    if (!h->copy_count) return;
    ww_jsonw_open(w, "program_copies", '[');
    for (size_t i = 0; i < h->copy_count; i++) {
        const struct ww_host_copy *c = &h->copy[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "way", ww_copy_way_name((uint32_t)c->way));
        ww_jsonw_bool(w, "pageable", c->pageable);
        ww_jsonw_u64(w, "bytes", c->bytes);
        ww_jsonw_u64(w, "stream", c->stream);
        ww_jsonw_u64(w, "launches_before", c->launch);
        json_waits(w, c);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void text_program_copies(const struct ww_host_order *h, FILE *out) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < h->copy_count; i++) bytes += h->copy[i].bytes;
    if (h->copy_count)
        fprintf(out, "  %zu cop%s of the program, of %llu bytes\n", h->copy_count,
                h->copy_count == 1 ? "y" : "ies", (unsigned long long)bytes);
}

static void json_copy_waits(struct ww_jsonw *w, const struct ww_host_order *h, size_t launch) {
    if (!h->copy_count || !h->launch[launch].count) return;
    ww_jsonw_open_flat(w, "waits_for_copies", '[');
    for (uint32_t i = 0; i < h->launch[launch].count; i++) ww_jsonw_u64(w, NULL, h->launch[launch].copy[i]);
    ww_jsonw_close(w, ']');
}

static void json_launch(struct ww_jsonw *w, const struct ww_trace *trace, size_t number) {
    const struct ww_wwt_launch *l = &trace->index.launch[number];
    struct totals t = launch_totals(l);
    ww_jsonw_open(w, NULL, '{');
    ww_jsonw_u64(w, "launch", number);
    ww_jsonw_str(w, "kernel", l->view.kernel);
    ww_jsonw_str(w, "arch", l->view.arch);
    ww_jsonw_str(w, "code", origin(trace, l));
    json_dimensions(w, "grid", l->view.grid);
    json_dimensions(w, "block", l->view.block);
    if (l->view.cluster[0]) json_dimensions(w, "cluster", l->view.cluster);
    ww_jsonw_u64(w, "registers_per_thread", l->view.registers_per_thread);
    ww_jsonw_u64(w, "shared_static", l->view.shared_static);
    ww_jsonw_u64(w, "shared_dynamic", l->view.shared_dynamic);
    ww_jsonw_u64(w, "local_bytes", l->view.local_bytes);
    ww_jsonw_u64(w, "ctas", l->view.cta_count);
    ww_jsonw_u64(w, "ctas_present", l->cta_present);
    ww_jsonw_u64(w, "warps_per_cta", l->view.warps_per_cta);
    ww_jsonw_u64(w, "static_instructions", l->view.inst_count);
    json_totals(w, &t);
    json_order(w, &l->view.order);
    json_copy_waits(w, &trace->index.host, number);
    json_copies(w, &l->view);
    ww_jsonw_close(w, '}');
}

static enum ww_code print_json(const struct ww_trace *trace, FILE *out, struct ww_error *error) {
    struct totals t = file_totals(trace);
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "file", trace->path);
    ww_jsonw_u64(&w, "version", trace->version);
    ww_jsonw_str(&w, "hash", trace->hash);
    ww_jsonw_str(&w, "program", trace->index.meta.program);
    ww_jsonw_str(&w, "arguments", trace->index.meta.arguments);
    ww_jsonw_str(&w, "tool", trace->index.meta.tool);
    json_totals(&w, &t);
    json_program_copies(&w, &trace->index.host);
    ww_jsonw_open(&w, "launches", '[');
    for (size_t i = 0; i < trace->index.launch_count; i++) json_launch(&w, trace, i);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

/* ---- text ---- */

static void text_mix(struct totals *t, const char *indent, FILE *out) {
    char name[64];
    fprintf(out, "%smix:", indent);
    for (int k = 0; k < MIX; k++)
        if (*mix_of(t, k))
            fprintf(out, " %s %.1f%%", mix_name(k, name), 100.0 * (double)*mix_of(t, k) / (double)t->warp);
    fputc('\n', out);
}

static void text_field(const char *name, const char *value, FILE *out) {
    fputs(name, out);
    ww_put_text(out, value);
    fputc('\n', out);
}

static void text_launch(const struct ww_trace *trace, size_t number, FILE *out) {
    const struct ww_wwt_launch *l = &trace->index.launch[number];
    const struct ww_launch *v = &l->view;
    struct totals t = launch_totals(l);
    char each[32];
    fprintf(out, "\nlaunch %zu: ", number);
    ww_put_text(out, v->kernel);
    fputs(" (", out);
    ww_put_text(out, v->arch);
    fputs(")\n", out);
    if (origin(trace, l)) text_field("  code: ", origin(trace, l), out);
    fprintf(out, "  grid %u x %u x %u, block %u x %u x %u, %u registers, shared %u + %u B, local %u B\n",
            v->grid[0], v->grid[1], v->grid[2], v->block[0], v->block[1], v->block[2], v->registers_per_thread,
            v->shared_static, v->shared_dynamic, v->local_bytes);
    if (v->cluster[0])
        fprintf(out, "  clusters of %u x %u x %u CTAs\n", v->cluster[0], v->cluster[1], v->cluster[2]);
    text_order(&v->order, out);
    if (v->copy_count)
        fprintf(out, "  copies and fills before it: %u, of %llu bytes\n", v->copy_count,
                (unsigned long long)copied_bytes(v));
    if (l->cta_present != v->cta_count)
        fprintf(out, "  slice: %llu of %llu CTAs\n", (unsigned long long)l->cta_present,
                (unsigned long long)v->cta_count);
    fprintf(out, "  %llu warp instructions, %llu thread instructions, SIMT efficiency %.1f%%\n",
            (unsigned long long)t.warp, (unsigned long long)t.thread, 100.0 * efficiency(&t));
    ww_three_digits(per_instruction(&t), each);
    fprintf(out, "  %u static instructions, %llu bytes in %u group%s, %s bytes per warp instruction\n",
            v->inst_count, (unsigned long long)t.bytes, l->group_count, ww_plural(l->group_count, "s"), each);
    if (t.warp) text_mix(&t, "  ", out);
}

static enum ww_code print_text(const struct ww_trace *trace, FILE *out, struct ww_error *error) {
    const struct ww_trace_meta *m = &trace->index.meta;
    struct totals t = file_totals(trace);
    char each[32];
    ww_three_digits(per_instruction(&t), each);
    ww_put_text(out, trace->path);
    fprintf(out, ": version %u, hash %s\n", trace->version, trace->hash);
    if (m->program) text_field("program:   ", m->program, out);
    if (m->arguments && *m->arguments) text_field("arguments: ", m->arguments, out);
    if (m->tool) text_field("tool:      ", m->tool, out);
    for (size_t i = 0; i < trace->index.launch_count; i++) text_launch(trace, i, out);
    fprintf(out, "\ntotal: %zu launch%s, %llu warp instructions, %llu thread instructions\n",
            trace->index.launch_count, ww_plural(trace->index.launch_count, "es"), (unsigned long long)t.warp,
            (unsigned long long)t.thread);
    fprintf(out, "  %llu bytes, %s bytes per warp instruction, SIMT efficiency %.1f%%\n",
            (unsigned long long)t.bytes, each, 100.0 * efficiency(&t));
    text_program_copies(&trace->index.host, out);
    if (t.warp) text_mix(&t, "  ", out);
    return ferror(out) ? ww_written(out, error) : WW_OK;
}

enum ww_code ww_trace_print_info(struct ww_trace *trace, bool json, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    return json ? print_json(trace, out, error) : print_text(trace, out, error);
}
