/* Recording and replaying a variant. */
#include "../../api/run.h"
#include "../../base/demangle.h"
#include "../../base/hash.h"
#include "../../core/sm/occupancy.h"
#include "../../result/names.h"
#include "../../run/run_int.h"
#include "../../../traces/record/record_text.h"
#include "expression.h"
#include "trial.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define WHOLE_MOST 2e5  /* warp instructions up to which a launch is always replayed whole */
#define SLICE_USUAL 3e6 /* of a slice's replay, unless 4 waves have more: then whole waves are left out */
#define SCREEN_WAVES 2u /* of a slice, that the analytical model is asked about */
#define SLICE_MOST 60e6 /* warp instructions of a slice's replay */
#define CUT_MOST 24e6   /* of four waves: longer CTAs are cut */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    struct sweep_job *job = context;
    const struct ww_sweep_options *o = job->options;
    if (job->alone && o->progress && !o->progress(o->context, part, done, unit)) atomic_store(&job->stop, true);
    return !atomic_load(&job->stop);
}

/* ---- recording ---- */

/* A name for the trace of these CTAs: of all that it depends on, and whether their outputs were compared, so
 * that a trace without that is not taken for one with it. */
static void name_trace(const struct trial *t, const struct ww_cta_pick *pick, bool compared, char *out,
                       size_t room) {
    uint64_t h = ww_hash_bytes(t->ptx.p, t->ptx.n, 0);
    h = ww_hash_bytes(t->launch.p, t->launch.n, h);
    h = ww_hash_bytes(t->arch, strlen(t->arch), h ^ t->max_registers);
    if (t->program->ptxas_options)
        h = ww_hash_bytes(t->program->ptxas_options, strlen(t->program->ptxas_options), h);
    if (pick) h = ww_hash_bytes(pick->cta, pick->count * sizeof *pick->cta, h + 1 + pick->steps);
    snprintf(out, room, "%s/%016" PRIx64 "%s.wwt", t->job->dir.path, h,
             compared && t->program->compare ? "c" : "");
}

/* out_path NULL: executes alone. */
static enum ww_code execute(struct trial *t, const struct ww_cta_pick *pick, bool compared,
                            const char *out_path, struct ww_record_stats *stats) {
    struct ww_compare compare = {.job = t->job};
    char words[1400] = "";
    double began = now();
    if (t->program->ptxas_options) {
        struct ww_buf text = {0};
        enum ww_code code =
            ww_variant_text(&t->at, t->program->ptxas_options, t->at.space->file, &text, t->error);
        snprintf(words, sizeof words, "%s", text.p ? text.p : "");
        ww_buf_free(&text);
        WW_TRY(code);
    }
    struct ww_record_text text = {.ptx_path = t->ptx.p,
                                  .launch = t->launch.p,
                                  .launch_bytes = t->launch.n,
                                  .where = t->at.space->file,
                                  .program = t->program->name,
                                  .arguments = "",
                                  .use = {.pick = pick}};
    if (t->program->compare && compared) {
        text.use.look = ww_variant_look;
        text.use.context = &compare;
        compare.part = pick != NULL;
    }
    struct ww_record_options o = {.out_path = out_path,
                                  .arch = t->arch,
                                  .code = t->program->code,
                                  .max_registers = t->max_registers,
                                  .ptxas_options = words[0] && t->program->code != WW_RECORD_PTX ? words : NULL,
                                  .progress = goes_on,
                                  .context = t->job};
    enum ww_code code = ww_record_text(&text, &o, stats, t->error);
    ww_variant_look_end(&compare);
    t->v->record_s += now() - began;
    return code;
}

enum ww_code ww_trial_record(struct trial *t, const struct ww_cta_pick *pick, bool compare, char *path) {
    struct ww_record_stats stats;
    name_trace(t, pick, compare, path, WW_TRIAL_PATH);
    return access(path, R_OK) == 0 ? WW_OK : execute(t, pick, compare, path, &stats);
}

enum ww_code ww_trial_count(struct trial *t, const struct ww_cta_pick *pick, struct ww_record_stats *stats) {
    return execute(t, pick, true, NULL, stats);
}

/* ---- replaying ---- */

void ww_trial_describe(const struct ww_result *r, struct ww_db_sweep_variant *row) {
    const struct ww_launch_result *l = &r->launch[0];
    uint64_t most = 0, resident = 0;
    row->ctas_per_sm = l->ctas_per_sm;
    row->limiter = ww_variant_limiter(l->occupancy_limiter);
    row->top_stall = "";
    row->conflicts = l->counter[WW_C_SHARED_PASSES]
                         ? (double)l->counter[WW_C_SHARED_CONFLICTS] / (double)l->counter[WW_C_SHARED_PASSES]
                         : 0;
    for (int s = 0; s < WW_STATE_COUNT; s++) resident += l->warp_cycles[s];
    for (int s = 0; s < WW_STATE_COUNT; s++) {
        if (s == WW_S_ISSUED || s == WW_S_DONE || l->warp_cycles[s] <= most) continue;
        most = l->warp_cycles[s];
        row->top_stall = ww_state_name((enum ww_warp_state)s);
    }
    row->stall_share = resident ? (double)most / (double)resident : 0;
}

enum ww_code ww_trial_run(struct trial *t, const struct ww_gpu *gpu, uint64_t spans, const char *path,
                          struct ww_result **r) {
    struct ww_run_options o = {.gpu = gpu,
                               .trace_path = path,
                               .mechanisms = t->m->mech,
                               .mechanism_count = t->m->mech_count,
                               .power_table = spans ? "none" : t->job->space.power,
                               .mode = t->mode,
                               .epoch_cycles = WW_SWEEP_EPOCH,
                               .timeline = spans && !t->mode,
                               .timeline_ctas = t->mode ? 0 : spans,
                               .progress = goes_on,
                               .context = t->job};
    return ww_run_with_power(&o, spans ? NULL : t->m->table, r, t->error);
}

static enum ww_code replay_whole(struct trial *t, struct ww_db_sweep_result *out) {
    char path[WW_TRIAL_PATH];
    struct ww_result *r;
    uint64_t ctas;
    WW_TRY(ww_trial_record(t, NULL, true, path));
    WW_TRY(ww_alike_occupancy(path, &t->m->gpu->spec, &t->v->row, &ctas, t->error));
    WW_TRY(ww_trial_run(t, t->m->gpu, 0, path, &r));
    *out = (struct ww_db_sweep_result){.cycles = r->cycles,
                                       .time_ps = r->time_ps,
                                       .warp_instructions = r->warp_instructions,
                                       .thread_instructions = r->thread_instructions,
                                       .energy_j = r->energy_j,
                                       .energy_known = r->energy_known && t->program->all_ctas,
                                       .host_seconds = r->host_seconds};
    ww_sweep_energy_parts(r, out);
    if (r->launch_count) ww_trial_describe(r, &t->v->row);
    t->v->row.error = 0;
    t->v->row.recorded_ctas = t->v->row.ctas;
    if (t->program->compare) t->v->row.compared_ctas = t->v->row.ctas;
    ww_result_free(r);
    return WW_OK;
}

void ww_trial_result(struct trial *t, const struct ww_alike *alike, const struct ww_result *r, double cycles,
                     struct ww_db_sweep_result *out) {
    const struct ww_gpu_spec *g = &t->m->gpu->spec;
    double fixed = fmin((double)r->cycles, g->launch_front_cycles + g->launch_end_cycles);
    double dispatch = fixed + (double)t->v->row.ctas / g->launch_ctas_per_cycle;
    if (cycles < dispatch) cycles = dispatch;
    double us = (double)r->time_ps * 1e-6 - (double)r->cycles / g->clock_sm_mhz;
    out->cycles = (uint64_t)llround(cycles);
    out->time_ps = (uint64_t)llround((cycles / g->clock_sm_mhz + fmax(us, 0)) * 1e6);
    out->warp_instructions = (uint64_t)llround(alike->instructions * (double)t->v->row.ctas);
    out->thread_instructions = (uint64_t)llround((double)r->thread_instructions / (double)r->warp_instructions *
                                                 (double)out->warp_instructions);
    out->host_seconds = r->host_seconds;
}

/* What the slice's replay says of the whole grid. */
static void extend(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                   const struct ww_result *r, uint64_t slots, uint64_t left, struct ww_db_sweep_result *out) {
    const struct ww_launch_result *l = &r->launch[0];
    const struct ww_gpu_spec *g = &t->m->gpu->spec;
    double each = (double)r->warp_instructions / (double)t->v->row.recorded_ctas;
    double scale = each > 0 ? alike->instructions / each : 1, cycles = (double)r->cycles;
    double fixed = fmin(cycles, g->launch_front_cycles + g->launch_end_cycles);
    if (t->mode) /* the model knows no CTAs: in proportion */
        cycles += (cycles - fixed) * (double)left / (double)t->v->row.recorded_ctas;
    else
        cycles += ww_slice_wave_cycles(l->cta, l->cta_count, slots) * (double)left / (double)slots;
    ww_trial_result(t, alike, r, fixed + (cycles - fixed) * scale, out);
    t->v->row.error = alike->error + WW_SLICE_ERROR + fabs(slice->memory - 1);
}

enum ww_code ww_trial_slice_gpu(struct trial *t, const struct ww_slice *slice, struct ww_gpu **gpu) {
    const char *set[WW_SWEEP_PARAMS + WW_SLICE_SETTINGS];
    for (size_t i = 0; i < t->m->set_count; i++) set[i] = t->m->set[i];
    for (size_t i = 0; i < slice->sets; i++) set[t->m->set_count + i] = slice->set[i];
    return ww_gpu_load(t->job->space.gpu, set, t->m->set_count + slice->sets, gpu, t->error);
}

/* CTAs whose outputs were compared: these and those that were looked at. */
static uint64_t compared_with_probes(const struct trial *t, const struct ww_alike *alike, const uint64_t *cta,
                                     uint64_t count) {
    uint64_t probe[WW_ALIKE_PROBES], n = ww_alike_probes(alike->grid, probe), all = count, at = 0;
    for (uint64_t i = 0; i < n; i++) { /* both ascend */
        while (at < count && cta[at] < probe[i]) at++;
        all += at == count || cta[at] != probe[i];
    }
    return t->program->compare ? all : 0;
}

static enum ww_code replay_slice(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                                 uint64_t slots, uint64_t replayed, uint64_t left,
                                 struct ww_db_sweep_result *out) {
    char path[WW_TRIAL_PATH];
    struct ww_gpu *gpu = NULL;
    struct ww_result *r = NULL;
    uint64_t *cta, count = replayed;
    struct ww_slice with = *slice;
    if (!t->mode) WW_TRY(ww_trial_set_sharing(t, alike, &with, slots / slice->sms, WW_PROBE_STEPS));
    WW_TRY(ww_slice_block(alike->grid, slice, slots, count, &cta, t->error));
    struct ww_cta_pick pick = {cta, count, 0};
    enum ww_code code = ww_trial_record(t, &pick, true, path);
    t->v->row.compared_ctas = alike->longest > WW_PROBE_STEPS ? (t->program->compare ? count : 0)
                                                              : compared_with_probes(t, alike, cta, count);
    free(cta);
    if (code == WW_OK) code = ww_trial_slice_gpu(t, &with, &gpu);
    if (code == WW_OK) code = ww_trial_run(t, gpu, count, path, &r);
    if (code == WW_OK) {
        t->v->row.recorded_ctas = count;
        ww_trial_describe(r, &t->v->row);
        extend(t, alike, slice, r, slots, left, out);
    }
    ww_result_free(r);
    ww_gpu_free(gpu);
    return code;
}

/* ---- reasons ---- */

/* A copy of `text` with `to` in place of each `from`, a file of the cache, whose name means nothing to the
 * user. */
static void replace(const char *text, const char *from, const char *to, char *out, size_t room) {
    size_t n = 0, skipped = from ? strlen(from) : 0;
    while (*text && n + 1 < room) {
        if (skipped && strncmp(text, from, skipped) == 0) {
            int named = snprintf(out + n, room - n, "%s", to);
            n += (size_t)named < room - n ? (size_t)named : room - n - 1;
            text += skipped;
        } else
            out[n++] = *text++;
    }
    out[n] = 0;
}

/* Mangled names of C++ as people know them. */
static void demangle(const char *text, char *out, size_t room) {
    size_t n = 0;
    bool inside = false; /* of a word */
    while (*text && n + 1 < room) {
        size_t word = strspn(text, WORD);
        char name[256], plain[256];
        if (!inside && word && word < sizeof name && strncmp(text, "_Z", 2) == 0) {
            memcpy(name, text, word);
            name[word] = 0;
            bool known = ww_demangle(name, plain, sizeof plain);
            int put = snprintf(out + n, room - n, "%s", known ? plain : name);
            n += (size_t)put < room - n ? (size_t)put : room - n - 1;
            text += word;
        } else {
            inside = word > 0;
            out[n++] = *text++;
        }
    }
    out[n] = 0;
}

/* Why a variant cannot be: the user's file in place of the cache's, and the first line of what ptxas said. */
static void explain(const struct trial *t, const struct ww_error *e, char *reason, size_t room) {
    char raw[1200], named[1200];
    const char *source = t->program->source ? t->program->source : t->program->command[0];
    size_t n = strlen(source);
    bool own = t->program->source && n > 4 && strcmp(source + n - 4, ".ptx") == 0; /* nothing was built */
    snprintf(raw, sizeof raw, "%.300s%s%.650s", e->where, e->where[0] ? ": " : "", e->text);
    replace(raw, t->ptx.n && !own ? t->ptx.p : NULL, source, named, sizeof named);
    char *said = strstr(named, "ptxas ");
    said = said && strstr(said, " refuses it for ") ? strstr(said, "; ") : NULL;
    if (said) *said = 0;
    demangle(named, reason, room);
}

/* ---- the whole ---- */

/* Records CTAs, and looks at them. Outputs that differ are a reason, unless CTAs were cut, which may not have
 * come to their outputs: the caller then executes some to their end. */
static enum ww_code look_at_probes(struct trial *t, struct ww_alike *alike, char *path) {
    uint64_t probe[WW_ALIKE_PROBES];
    struct ww_cta_pick pick = {probe, ww_alike_probes(alike->grid, probe), WW_PROBE_STEPS};
    enum ww_code code = ww_trial_record(t, &pick, true, path);
    struct ww_error differs = *t->error;
    if (code == WW_MISMATCH)
        WW_TRY(ww_trial_record(t, &pick, false, path));
    else if (code != WW_OK)
        return code;
    WW_TRY(ww_alike_read(path, alike, t->error));
    if (code == WW_MISMATCH && alike->longest <= WW_PROBE_STEPS) {
        *t->error = differs;
        return code;
    }
    return WW_OK;
}

/* Looks at some CTAs first, then replays a slice or all. */
static enum ww_code replay(struct trial *t, struct ww_db_sweep_result *out) {
    char path[WW_TRIAL_PATH];
    struct ww_alike alike = {0};
    struct ww_slice slice = {0};
    uint64_t replayed = 0, left = 0, ctas;
    uint64_t grid_ctas = ww_alike_grid(t->launch.p, t->launch.n, alike.grid);
    t->v->row.ctas = grid_ctas;
    if (!grid_ctas || t->program->all_ctas || (t->mode && strcmp(t->mode, "analytic") != 0))
        return replay_whole(t, out);
    WW_TRY(look_at_probes(t, &alike, path));
    bool is_long = alike.longest > WW_PROBE_STEPS;
    if (is_long) WW_TRY(ww_trial_lengths(t, &alike));
    WW_TRY(ww_slice_of(&t->m->gpu->spec, &t->m->arena, &slice, t->error));
    WW_TRY(ww_alike_occupancy(path, &t->m->gpu->spec, &t->v->row, &ctas, t->error));
    double all = alike.instructions * (double)grid_ctas;
    t->v->row.alike = alike.share;
    if (!slice.sms || alike.share < WW_ALIKE_LEAST || all <= WHOLE_MOST) return replay_whole(t, out);
    uint64_t slots = ctas * slice.sms;
    if (is_long && 4 * alike.instructions * (double)slots > CUT_MOST)
        return ww_trial_cut(t, &alike, &slice, ctas, path, out);
    double waves = SLICE_USUAL / (alike.instructions * (double)slots);
    ww_slice_share(grid_ctas, slice.part, slots,
                   waves < 4     ? 4
                   : waves > 1e6 ? 1000000
                                 : (unsigned)waves,
                   &replayed, &left);
    if (t->mode && replayed > SCREEN_WAVES * slots) { /* the model takes the rest in proportion */
        left += replayed - SCREEN_WAVES * slots;
        replayed = SCREEN_WAVES * slots;
    }
    if ((double)replayed * alike.instructions > SLICE_MOST)
        return ww_fail(t->error, WW_UNSUPPORTED, t->program->name,
                       "%.3g warp instructions are more than a variant may have of its slice, %.3g",
                       (double)replayed * alike.instructions, SLICE_MOST);
    return replay_slice(t, &alike, &slice, slots, replayed, left, out);
}

static enum ww_code try(struct trial *t, struct ww_db_sweep_result *out) {
    struct ww_build_watch watch = {ww_variants_go_on, t->job};
    WW_TRY(ww_variant_build(&t->at, t->arch, &watch, &t->ptx, &t->v->build_s, t->error));
    WW_TRY(ww_variant_launch(&t->at, &t->launch, t->error));
    if (t->program->max_registers) {
        int64_t n;
        WW_TRY(ww_expression(t->program->max_registers, ww_variant_lookup, &t->at, "$.program.max_registers",
                             &n, t->error));
        if (n < 0 || n > 255)
            return ww_fail(t->error, WW_INPUT, "$.program.max_registers", "%lld: expected 0 to 255",
                           (long long)n);
        t->max_registers = (uint32_t)n;
    }
    struct ww_record_stats stats;
    return out ? replay(t, out) : ww_trial_count(t, NULL, &stats);
}

/* Builds, and then replays the variant, or executes all of its CTAs if `out` is NULL. */
static enum ww_code with_trial(struct sweep_job *job, struct ww_sweep_machine *m, const char *mode,
                               struct ww_db_sweep_result *out, struct ww_variant *variant,
                               struct ww_error *error) {
    struct ww_error inner = {.code = WW_OK};
    struct trial t = {.job = job,
                      .m = m,
                      .at = {&job->space, m->variant, m->variant_params},
                      .program = job->space.program,
                      .arch = job->variants->arch,
                      .mode = mode && strcmp(mode, "full") != 0 ? mode : NULL,
                      .v = variant,
                      .error = &inner};
    *variant = (struct ww_variant){.row = {.limiter = "", .top_stall = ""}};
    WW_TRY(ww_variants_reference(job, error));
    enum ww_code code = try(&t, out);
    if (code != WW_OK) explain(&t, &inner, m->reason, sizeof m->reason);
    ww_variants_count(job, variant);
    ww_buf_free(&t.ptx);
    ww_buf_free(&t.launch);
    if (code == WW_OK) return WW_OK;
    if (!ww_sweep_is_reason(code) && code != WW_EXEC && code != WW_MISMATCH) {
        m->reason[0] = 0;
        if (error) *error = inner;
        return code;
    }
    return WW_OK;
}

enum ww_code ww_variant_replay(struct sweep_job *job, struct ww_sweep_machine *m, const char *mode,
                               struct ww_db_sweep_result *out, struct ww_variant *variant,
                               struct ww_error *error) {
    *out = (struct ww_db_sweep_result){0};
    return with_trial(job, m, mode, out, variant, error);
}

enum ww_code ww_variant_verify(struct sweep_job *job, struct ww_sweep_machine *m, struct ww_error *error) {
    struct ww_variant variant;
    return with_trial(job, m, NULL, NULL, &variant, error);
}
