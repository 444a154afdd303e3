/* What the variants of a sweep share, and the comparison of their outputs with a reference variant's. */
#include "variants.h"
#include "../../config/gpu.h"
#include "../../../traces/record/record_text.h"
#include "expression.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-3 /* relative: floating-point outputs that differ by less may be right */

bool ww_variants_go_on(void *job) {
    return !atomic_load(&((struct sweep_job *)job)->stop);
}

/* PTX is lowered for the newest of sm_20, sm_52 and sm_70; machine code is of the GPU's own architecture. */
static const char *arch_of(const struct ww_gpu *gpu) {
    const char *arch = gpu->spec.arch;
    long capability = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, NULL, 10) : 70;
    return capability < 30 ? "sm_20" : capability < 70 ? "sm_52" : arch;
}

enum ww_code ww_variants_open(struct sweep_job *job, struct ww_error *error) {
    struct ww_variants *v = calloc(1, sizeof *v);
    if (!v) return ww_fail_nomem(error, "a sweep");
    const struct ww_program_compare *c = job->space.program->compare;
    v->arch = arch_of(job->gpu);
    v->output = calloc(c && c->buffers ? c->buffers : 1, sizeof *v->output);
    v->ready = !c;
    if (!v->output || pthread_mutex_init(&v->lock, NULL)) {
        free(v->output);
        free(v);
        return ww_fail_nomem(error, "a sweep");
    }
    job->variants = v;
    WW_TRY(ww_temp_folder(&job->dir, error));
    return ww_program_open(&job->space, v->arch, error);
}

void ww_variants_close(struct sweep_job *job) {
    struct ww_variants *v = job->variants;
    if (!v) return;
    const struct ww_program_compare *c = job->space.program->compare;
    for (size_t i = 0; c && i < c->buffers; i++) free(v->output[i].data);
    pthread_mutex_destroy(&v->lock);
    free(v->output);
    free(v);
    job->variants = NULL;
}

void ww_variants_count(struct sweep_job *job, const struct ww_variant *variant) {
    struct ww_variants *v = job->variants;
    pthread_mutex_lock(&v->lock);
    v->builds += variant->build_s > 0;
    v->build_s += variant->build_s;
    v->record_s += variant->record_s;
    pthread_mutex_unlock(&v->lock);
}

/* ---- outputs ---- */

static enum ww_code keep(struct ww_output *o, const struct ww_launch_view *b, struct ww_error *error) {
    free(o->data);
    o->data = malloc(b->bytes);
    o->bytes = b->bytes;
    if (!o->data) return ww_fail_nomem(error, "a buffer");
    memcpy(o->data, b->data, b->bytes);
    return WW_OK;
}

static enum ww_code differs(const struct ww_compare *c, size_t i, const struct ww_launch_view *b,
                            struct ww_error *error) {
    const struct ww_program_compare *p = c->job->space.program->compare;
    const struct ww_output *want = &c->job->variants->output[i];
    double met, expected;
    if (want->bytes != b->bytes)
        return ww_fail(error, WW_MISMATCH, b->name, "%zu bytes, the reference has %zu", b->bytes, want->bytes);
    const void *before = c->part ? c->before[i].data : NULL;
    size_t at = ww_launch_differs(b->type, b->data, want->data, before, b->bytes, p->tolerance, p->relative,
                                  &met, &expected);
    if (at == SIZE_MAX) return WW_OK;
    char have[40], wanted[40];
    for (int digits = 9; digits <= 17; digits += 8) { /* 17 where the first 9 are the same */
        snprintf(have, sizeof have, "%.*g", digits, met);
        snprintf(wanted, sizeof wanted, "%.*g", digits, expected);
        if (strcmp(have, wanted) != 0) break;
    }
    double off = expected != 0 ? fabs(met / expected - 1) : 1;
    char hint[120] = "";
    if (b->type[0] == 'f' && off <= ROUNDING) /* sums in another order */
        snprintf(hint, sizeof hint, " (off by %.2g of it: \"relative\" or \"tolerance\" of compare allow that)",
                 off);
    return ww_fail(error, WW_MISMATCH, b->name, "element %zu is %s, the reference has %s%s", at, have, wanted,
                   hint);
}

enum ww_code ww_variant_look(void *context, bool ran, const struct ww_launch_view *b, struct ww_error *error) {
    struct ww_compare *c = context;
    const struct ww_program_compare *p = c->job->space.program->compare;
    if (!c->before) c->before = calloc(p->buffers + 1, sizeof *c->before);
    if (!c->before) return ww_fail_nomem(error, "a buffer");
    for (size_t i = 0; i < p->buffers; i++) {
        if (strcmp(p->buffer[i], b->name) != 0) continue;
        if (!ran) return c->part ? keep(&c->before[i], b, error) : WW_OK;
        return c->keep ? keep(&c->job->variants->output[i], b, error) : differs(c, i, b, error);
    }
    return WW_OK;
}

void ww_variant_look_end(struct ww_compare *c) {
    if (!c->before) return;
    for (size_t i = 0; i < c->job->space.program->compare->buffers; i++) free(c->before[i].data);
    free(c->before);
    c->before = NULL;
}

/* ---- the reference ---- */

static enum ww_code run_reference(struct sweep_job *job, const struct ww_variant_at *at,
                                  struct ww_error *error) {
    const struct ww_program *p = job->space.program;
    struct ww_buf ptx = {0}, launch = {0};
    struct ww_build_watch watch = {ww_variants_go_on, job};
    struct ww_compare compare = {.job = job, .keep = true};
    struct ww_record_stats stats;
    double seconds;
    enum ww_code code = ww_variant_build(at, job->variants->arch, &watch, &ptx, &seconds, error);
    if (code == WW_OK) code = ww_variant_launch(at, &launch, error);
    if (code == WW_OK) {
        struct ww_record_text text = {.ptx_path = ptx.p,
                                      .launch = launch.p,
                                      .launch_bytes = launch.n,
                                      .where = job->space.file,
                                      .program = p->name,
                                      .arguments = "",
                                      .use = {.look = ww_variant_look, .context = &compare}};
        struct ww_record_options o = {.arch = job->variants->arch, .code = p->code};
        code = ww_record_text(&text, &o, &stats, error);
    }
    ww_variant_look_end(&compare);
    ww_buf_free(&ptx);
    ww_buf_free(&launch);
    for (size_t i = 0; code == WW_OK && i < p->compare->buffers; i++)
        if (!job->variants->output[i].data)
            code = ww_fail(error, WW_INPUT, job->space.file,
                           "$.program.compare.buffers: no buffer is called \"%.60s\"", p->compare->buffer[i]);
    return code;
}

enum ww_code ww_variants_reference(struct sweep_job *job, struct ww_error *error) {
    struct ww_variants *v = job->variants;
    const struct ww_sweep_level *level[WW_SWEEP_PARAMS];
    enum ww_code code = WW_OK;
    pthread_mutex_lock(&v->lock);
    if (!v->ready) {
        const struct ww_program_compare *c = job->space.program->compare;
        struct ww_error inner = {.code = WW_OK};
        for (size_t i = 0; i < c->params; i++) level[i] = &c->level[i];
        code = run_reference(job, &(struct ww_variant_at){&job->space, level, c->params}, &inner);
        v->ready = code == WW_OK;
        if (code == WW_FAIL && error) *error = inner;
        if (code != WW_OK && code != WW_FAIL) /* no variant can be compared: the sweep is wrong */
            code = ww_fail(error, code == WW_NOMEM || code == WW_IO ? code : WW_INPUT, "the reference variant",
                           "%.200s: %.600s", inner.where, inner.text);
    }
    pthread_mutex_unlock(&v->lock);
    return code;
}
