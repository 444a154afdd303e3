/* `trace transform`: a trace of what the program would be if its CTAs took turns in shared memory. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "transform.h"

#include "../../estimator/base/outfile.h"
#include "../wwt/reader.h"
#include "../wwt/writer.h"
#include <stdlib.h>
#include <string.h>

static const struct ww_tf_kind *const kinds[] = {&ww_tf_vtb, &ww_tf_vtb_pipe, &ww_tf_co_vtb,
                                                 &ww_tf_hw,  &ww_tf_co_hw,    &ww_tf_d2ma};
#define KINDS (sizeof kinds / sizeof kinds[0])

enum ww_code ww_tf_refuse(const struct ww_tf *t, const char *what) {
    return ww_fail(t->error, WW_UNSUPPORTED, t->launch->kernel, "%s cannot be applied: %s", t->kind->name,
                   what);
}

const struct ww_access *ww_tf_access_of(const struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step) {
    return &t->cta[cta].warp[warp].access[t->access[cta][(size_t)warp * (t->steps_most + 1) + step]];
}

/* ---- what kinds write with ---- */

/* Lanes of a warp of the CTA: its last one may have fewer than 32. */
static uint32_t lanes_of(const struct ww_launch *l, uint32_t warp) {
    uint32_t threads = l->block[0] * l->block[1] * l->block[2] - warp * 32;
    return threads < 32 ? (1u << threads) - 1 : UINT32_MAX;
}

void ww_tf_put(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step, uint32_t group) {
    const struct ww_warp_stream *s = &t->cta[cta].warp[warp];
    uint32_t place = step < s->step_count ? s->step[step].inst : t->launch->inst_count;
    if (t->planning)
        ww_tf_mark(&t->code, place, group);
    else
        ww_tf_emit(t->stream, &t->code, place, group, lanes_of(t->launch, warp));
}

void ww_tf_copy_step(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step) {
    const struct ww_warp_stream *s = &t->cta[cta].warp[warp];
    const struct ww_step *from = &s->step[step];
    if (t->planning) return;
    ww_tf_step(t->stream, t->code.moved[from->inst], from->mask);
    if (t->launch->inst[from->inst].flags & WW_INST_ACCESS)
        ww_tf_same_access(t->stream, from->mask, ww_tf_access_of(t, cta, warp, step), s->pool);
}

void ww_tf_steps(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (t->kind->split)
            ww_tf_split_step(t, cta, warp, i);
        else
            ww_tf_copy_step(t, cta, warp, i);
}

/* ---- a unit of CTAs ---- */

static enum ww_code index_accesses(struct ww_tf *t, uint32_t cta) {
    uint32_t warps = t->launch->warps_per_cta;
    t->access[cta] = ww_arena_array(&t->unit_arena, (size_t)warps * (t->steps_most + 1), sizeof **t->access);
    if (!t->access[cta]) return ww_fail_nomem(t->error, "a transform");
    for (uint32_t w = 0; w < warps; w++) {
        const struct ww_warp_stream *s = &t->cta[cta].warp[w];
        uint32_t *row = t->access[cta] + (size_t)w * (t->steps_most + 1), n = 0;
        for (uint32_t i = 0; i < s->step_count; i++) {
            row[i] = n;
            n += (t->launch->inst[s->step[i].inst].flags & WW_INST_ACCESS) != 0;
        }
    }
    return WW_OK;
}

static enum ww_code study(struct ww_tf *t) {
    t->steps_most = 0;
    for (uint32_t c = 0; c < t->present; c++)
        for (uint32_t w = 0; w < t->launch->warps_per_cta; w++)
            if (t->cta[c].warp[w].step_count > t->steps_most) t->steps_most = t->cta[c].warp[w].step_count;
    for (uint32_t c = 0; c < t->present; c++) {
        WW_TRY(ww_regions_find(t->launch, &t->cta[c], t->split, &t->unit_arena, &t->regions[c], t->error));
        WW_TRY(index_accesses(t, c));
    }
    return t->kind->look ? t->kind->look(t) : WW_OK;
}

/* Loads the CTAs from *next on; *next: the one after. present 0: there is none. */
static enum ww_code load_unit(struct ww_tf *t, size_t launch, uint64_t *next) {
    ww_arena_reset(&t->unit_arena);
    for (t->present = 0; t->present < t->join && *next < t->launch->cta_count; t->present++) {
        WW_TRY(ww_trace_load_cta(t->trace, launch, *next, &t->cta[t->present], t->error));
        *next = ww_trace_next_cta(t->trace, launch, *next + 1);
    }
    return WW_OK;
}

static void release_unit(struct ww_tf *t) {
    for (uint32_t c = 0; c < t->present; c++) ww_trace_release_cta(t->trace, &t->cta[c]);
    t->present = 0;
}

static enum ww_code write_unit(struct ww_tf *t, uint64_t number, struct ww_trace_writer *to) {
    uint32_t warps = t->launch->warps_per_cta;
    struct ww_warp_stream out[WW_TF_JOIN_MAX * 64];
    memset(out, 0, sizeof out);
    for (uint32_t c = 0; c < t->present; c++)
        for (uint32_t w = 0; w < warps; w++) {
            struct ww_tf_stream *s = t->stream = &t->streams[c * warps + w];
            ww_tf_stream_clear(s);
            t->late_done = 0;
            t->kind->warp(t, c, w);
            if (s->failed) return ww_fail_nomem(t->error, "a transform");
            out[c * warps + w] = (struct ww_warp_stream){s->step, s->access, s->pool, s->steps, s->accesses};
        }
    if (t->planning) return t->code.failed ? ww_fail_nomem(t->error, "a transform") : WW_OK;
    struct ww_cta_trace cta = {.index = number, .warp_count = t->join * warps, .warp = out};
    return ww_trace_writer_cta(to, &cta, t->error);
}

enum pass { LOOK, PLAN, WRITE };

static enum ww_code step(struct ww_tf *t) {
    const struct ww_transform_options *o = t->options;
    t->done += t->present;
    if (!o->progress || o->progress(o->context, -1, t->done, "CTAs")) return WW_OK;
    return ww_fail(t->error, WW_FAIL, t->launch->kernel, "stopped");
}

static enum ww_code all_units(struct ww_tf *t, size_t launch, enum pass pass, struct ww_trace_writer *to,
                              uint64_t *units) {
    uint64_t next = ww_trace_next_cta(t->trace, launch, 0);
    enum ww_code code = WW_OK;
    for (*units = 0; next < t->launch->cta_count && code == WW_OK; ++*units) {
        code = load_unit(t, launch, &next);
        if (code == WW_OK) code = study(t);
        t->planning = pass == PLAN;
        if (code == WW_OK && pass != LOOK) code = write_unit(t, *units, to);
        if (code == WW_OK) code = step(t);
        release_unit(t);
    }
    return code;
}

/* ---- a launch ---- */

static enum ww_code check_launch(const struct ww_tf *t) {
    const struct ww_launch *l = t->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (t->join > 1 && threads % 32) return ww_tf_refuse(t, "its CTAs are not whole warps");
    if (t->join * threads > 1024) return ww_tf_refuse(t, "the joined CTA has more than 1024 threads");
    if (t->kind->split && t->split >= (uint64_t)l->shared_static + l->shared_dynamic)
        return ww_tf_refuse(t, "the split leaves nothing public");
    for (uint32_t i = 0; i < l->inst_count; i++) /* allocations do not nest */
        if (l->inst[i].flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE))
            return ww_tf_refuse(t, "the trace allocates shared memory already");
    return WW_OK;
}

static struct ww_launch new_launch(const struct ww_tf *t, uint64_t units) {
    struct ww_launch out = t->code.out;
    uint32_t first = ww_tf_free_registers(t->launch, 0), most = first;
    for (uint32_t i = 0; i < out.inst_count; i++)
        for (uint32_t k = 0; k < (uint32_t)out.inst[i].dst_count; k++) {
            const struct ww_operand *o = &out.inst[i].dst[k];
            if (o->reg < WW_REG_PRED && (uint32_t)o->reg + o->n > most) most = (uint32_t)o->reg + o->n;
        }
    if (first != WW_TF_NONE) out.registers_per_thread += most - first; /* those that the transform added */
    if (t->join > 1) {
        out.block[0] *= out.block[1] * out.block[2] * t->join;
        out.block[1] = out.block[2] = 1;
        out.warps_per_cta *= t->join;
        out.grid[0] = units ? (uint32_t)units : 1;
        out.grid[1] = out.grid[2] = 1;
        out.cta_count = units;
    }
    if (t->kind->split && t->join > 1) out.shared_static += (uint32_t)t->split;
    return out;
}

static enum ww_code transform_launch(struct ww_tf *t, size_t launch, struct ww_trace_writer *to) {
    uint64_t units;
    WW_TRY(ww_trace_launch(t->trace, launch, &t->launch, t->error));
    WW_TRY(check_launch(t));
    t->touched = NULL;
    t->d2 = NULL;
    t->late_count = t->temps = 0;
    if (!ww_tf_code_init(&t->code, t->launch, &t->launch_arena)) return ww_fail_nomem(t->error, "a transform");
    WW_TRY(all_units(t, launch, LOOK, NULL, &units));
    WW_TRY(t->kind->groups(t));
    WW_TRY(all_units(t, launch, PLAN, NULL, &units));
    WW_TRY(ww_tf_layout(&t->code, t->error));
    struct ww_launch out = new_launch(t, units);
    WW_TRY(ww_trace_writer_launch(to, &out, t->error));
    WW_TRY(all_units(t, launch, WRITE, to, &units));
    return ww_trace_writer_end_launch(to, t->error);
}

static enum ww_code transform_all(struct ww_tf *t, const struct ww_transform_options *o, const char *out_path) {
    struct ww_trace_writer *to;
    struct ww_arena arena;
    struct ww_trace_meta meta = *ww_trace_get_meta(t->trace);
    ww_arena_init(&arena, 0);
    meta.arguments = ww_arena_printf(
        &arena, "%s%s[%s of %u CTAs, split %llu, overlap %s, of %s]", meta.arguments ? meta.arguments : "",
        meta.arguments && *meta.arguments ? " " : "", t->kind->name, t->join, (unsigned long long)t->split,
        o->overlap ? o->overlap : "-", ww_trace_hash(t->trace));
    enum ww_code code = meta.arguments ? ww_trace_writer_new(out_path, &meta, 0, &to, t->error)
                                       : ww_fail_nomem(t->error, "a transform");
    ww_arena_free(&arena);
    WW_TRY(code);
    for (size_t i = 0; i < ww_trace_launch_count(t->trace) && code == WW_OK; i++) {
        ww_arena_reset(&t->launch_arena);
        code = transform_launch(t, i, to);
        ww_tf_code_free(&t->code);
    }
    if (code == WW_OK && t->kind == &ww_tf_d2ma && !t->changed)
        code =
            ww_fail(t->error, WW_UNSUPPORTED, t->trace->path, "d2ma cannot be applied: no launch copies tiles");
    if (code == WW_OK) return ww_trace_writer_finish(to, NULL, t->error);
    ww_trace_writer_abort(to);
    return code;
}

static enum ww_code choose(const struct ww_transform_options *o, struct ww_tf *t) {
    for (size_t i = 0; i < KINDS && o->kind; i++)
        if (strcmp(kinds[i]->name, o->kind) == 0) t->kind = kinds[i];
    if (!t->kind)
        return ww_fail(t->error, WW_USAGE, "transform",
                       "\"%.40s\": expected vtb, vtb_pipe, co_vtb, hw, co_hw or d2ma", o->kind ? o->kind : "");
    t->join = o->ctas ? o->ctas : t->kind->ctas_min;
    if (t->join < t->kind->ctas_min || t->join > t->kind->ctas_max) {
        const char *joins = t->kind->ctas_max > 2    ? "joins 2 to 4"
                            : t->kind->ctas_max == 2 ? "joins 2"
                                                     : "joins no";
        return ww_fail(t->error, WW_USAGE, "--ctas", "%u: %s %s CTAs", t->join, t->kind->name, joins);
    }
    if (t->kind->split != (o->split != 0))
        return ww_fail(t->error, WW_USAGE, "--split", "%s",
                       t->kind->split ? "expected the bytes that are private" : "only co_vtb and co_hw split");
    if (t->kind->overlap != (o->overlap != NULL))
        return ww_fail(t->error, WW_USAGE, "--overlap", "%s",
                       t->kind->overlap ? "expected the source lines of what may overlap"
                                        : "only vtb_pipe overlaps");
    t->split = o->split;
    return WW_OK;
}

enum ww_code ww_trace_transform(struct ww_trace *trace, const struct ww_transform_options *options,
                                const char *out_path, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_tf t = {.trace = trace, .error = error, .options = options};
    struct ww_list lines = {0};
    struct ww_arena arena;
    WW_TRY(choose(options, &t));
    WW_TRY(ww_outfile_not_input(out_path, trace->path, error));
    ww_arena_init(&arena, 0);
    ww_arena_init(&t.launch_arena, 0);
    ww_arena_init(&t.unit_arena, 0);
    t.overlap = &lines;
    t.streams = calloc(WW_TF_JOIN_MAX * 64, sizeof *t.streams);
    enum ww_code code = t.streams ? WW_OK : ww_fail_nomem(error, "a transform");
    if (code == WW_OK && options->overlap)
        code = ww_list_parse(options->overlap, UINT32_MAX, "lines", &arena, &lines, error);
    if (code == WW_OK) code = transform_all(&t, options, out_path);
    for (uint32_t i = 0; t.streams && i < WW_TF_JOIN_MAX * 64; i++) ww_tf_stream_free(&t.streams[i]);
    free(t.streams);
    ww_arena_free(&t.unit_arena);
    ww_arena_free(&t.launch_arena);
    ww_arena_free(&arena);
    return code;
}
