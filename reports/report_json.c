/* The whole result as JSON: reports/schema/report.json describes it. */
#include "bands.h"
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/base/locale.h"
#include "parts.h"
#include <cjson/cJSON.h>
#include <math.h>

#define FORMAT_VERSION 1
#define DEPTH_MAX 32

static void write_node(struct ww_jsonw *w, const cJSON *node, const char *key, unsigned depth);

static void write_children(struct ww_jsonw *w, const cJSON *node, const char *key, unsigned depth) {
    bool object = cJSON_IsObject(node);
    ww_jsonw_open(w, key, object ? '{' : '[');
    for (const cJSON *child = node->child; child && depth < DEPTH_MAX; child = child->next)
        write_node(w, child, object ? child->string : NULL, depth + 1);
    ww_jsonw_close(w, object ? '}' : ']');
}

/* Writes parsed JSON again with our writer, so that the output is valid JSON even where the parser is lenient.
 */
static void write_node(struct ww_jsonw *w, const cJSON *node, const char *key, unsigned depth) {
    if (cJSON_IsObject(node) || cJSON_IsArray(node))
        write_children(w, node, key, depth);
    else if (cJSON_IsString(node))
        ww_jsonw_str(w, key, node->valuestring);
    else if (cJSON_IsBool(node))
        ww_jsonw_bool(w, key, cJSON_IsTrue(node));
    else if (cJSON_IsNumber(node))
        ww_jsonw_f64(w, key, node->valuedouble);
    else
        ww_jsonw_null(w, key);
}

static void write_mechanisms(struct ww_jsonw *w, const struct ww_result *r) {
    ww_jsonw_open(w, "mechanisms", '{');
    for (size_t i = 0; i < r->mechanism_count; i++) ww_jsonw_str(w, r->mechanism[i].key, r->mechanism[i].value);
    ww_jsonw_close(w, '}');
}

static void write_u32x3(struct ww_jsonw *w, const char *key, const uint32_t v[3]) {
    ww_jsonw_open_flat(w, key, '[');
    for (int i = 0; i < 3; i++) ww_jsonw_u64(w, NULL, v[i]);
    ww_jsonw_close(w, ']');
}

/* Joules by component, without the zeros; null if they are not known. */
static void write_epoch_energy(struct ww_jsonw *w, const struct ww_launch_result *l, size_t epoch) {
    if (!l->epoch_energy) {
        ww_jsonw_null(w, "energy_j");
        return;
    }
    const struct ww_epoch_energy *e = &l->epoch_energy[epoch];
    ww_jsonw_open_flat(w, "energy_j", '{');
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        double joules = e->dynamic_j[c] + e->static_j[c];
        if (joules != 0) ww_jsonw_f64(w, ww_component_name((enum ww_component)c), joules);
    }
    ww_jsonw_close(w, '}');
}

static void write_epochs(struct ww_jsonw *w, const struct ww_launch_result *l) {
    ww_jsonw_open(w, "epochs", '[');
    for (size_t i = 0; i < l->epoch_count; i++) {
        const struct ww_epoch *e = &l->epoch[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "first_cycle", e->first_cycle);
        ww_jsonw_u64(w, "cycles", e->cycles);
        ww_jsonw_u64(w, "warp_instructions", e->warp_instructions);
        ww_part_states(w, "warp_cycles", e->warp_cycles, false);
        ww_jsonw_u64(w, "time_ps", e->time_ps);
        ww_jsonw_u64(w, "cta_limit", e->cta_limit);
        ww_jsonw_u64(w, "ctas_paused", e->ctas_paused);
        write_epoch_energy(w, l, i);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void write_points(struct ww_jsonw *w, const struct ww_launch_result *l) {
    ww_jsonw_open(w, "operating_points", '[');
    for (size_t i = 0; i < l->point_count; i++) {
        const struct ww_vf_point *p = &l->point[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "first_cycle", p->cycle);
        ww_jsonw_u64(w, "start_ps", p->time_ps);
        ww_jsonw_f64(w, "sm_mhz", p->mhz[WW_DOMAIN_SM]);
        ww_jsonw_f64(w, "l2_mhz", p->mhz[WW_DOMAIN_L2]);
        ww_jsonw_f64(w, "dram_mhz", p->mhz[WW_DOMAIN_DRAM]);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void write_pcs(struct ww_jsonw *w, const struct ww_launch_result *l) {
    ww_jsonw_open(w, "instructions", '[');
    for (size_t i = 0; i < l->pc_count; i++) {
        const struct ww_pc_row *p = &l->pc[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "inst", p->inst);
        ww_jsonw_u64(w, "pc", p->pc);
        ww_jsonw_str(w, "mnemonic", p->mnemonic);
        ww_jsonw_str(w, "file", p->file);
        ww_jsonw_u64(w, "line", p->line);
        ww_part_inst_counters(w, p->counter, l->pc_unknown, 0, WW_I_SECTORS);
        ww_part_states(w, "warp_cycles", p->stall, false);
        ww_part_inst_counters(w, p->counter, l->pc_unknown, WW_I_SECTORS, WW_INST_COUNTER_COUNT);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

/* What a launch and the whole run have in common. */
static void write_figures(struct ww_jsonw *w, const struct ww_result *r, const struct ww_launch_result *l,
                          const struct ww_gpu_facts *facts) {
    ww_jsonw_u64(w, "cycles", l->cycles);
    ww_jsonw_f64(w, "time_s", (double)l->time_ps / 1e12);
    ww_jsonw_u64(w, "time_ps", l->time_ps);
    ww_jsonw_u64(w, "warp_instructions", l->warp_instructions);
    ww_jsonw_u64(w, "thread_instructions", l->thread_instructions);
    ww_part_known(w, "ipc", ww_ipc(l));
    ww_jsonw_u64(w, "resident_warp_cycles", l->resident_warp_cycles);
    ww_part_known(w, "occupancy", ww_occupancy_reached(l, facts));
    ww_part_states(w, "warp_cycles", l->warp_cycles, true);
    ww_part_slots(w, "issue_slots", l->slot);
    ww_part_memory(w, "memory", l);
    ww_part_energy(w, "energy", &l->energy, l->time_ps);
    ww_part_counters(w, "counters", r, l);
}

static void write_launch(struct ww_jsonw *w, const struct ww_result *r, const struct ww_launch_result *l,
                         const struct ww_gpu_facts *facts) {
    ww_jsonw_open(w, NULL, '{');
    ww_jsonw_u64(w, "index", l->index);
    char whole[WW_NAME_WHOLE];
    ww_jsonw_str(w, "kernel", l->kernel);
    ww_demangle(l->kernel, whole, sizeof whole);
    ww_jsonw_str(w, "kernel_name", whole);
    ww_jsonw_str(w, "code", l->code);
    write_u32x3(w, "grid", l->grid);
    write_u32x3(w, "block", l->block);
    ww_jsonw_u64(w, "registers_per_thread", l->registers_per_thread);
    ww_jsonw_u64(w, "shared_bytes", l->shared_bytes);
    ww_jsonw_u64(w, "ctas_per_sm", l->ctas_per_sm);
    ww_jsonw_str(w, "occupancy_limiter", l->occupancy_limiter);
    if (l->concurrent) {
        ww_jsonw_open(w, "concurrent", '{');
        ww_jsonw_u64(w, "group", l->concurrent);
        ww_jsonw_u64(w, "stream", l->stream);
        ww_jsonw_u64(w, "start_ps", l->start_ps);
        ww_jsonw_u64(w, "shared_ps", l->shared_ps);
        ww_jsonw_u64(w, "shared_cycles", l->shared_cycles);
        ww_jsonw_close(w, '}');
    }
    if (l->with_copies_end_ps) {
        ww_jsonw_open_flat(w, "with_copies", '{');
        ww_jsonw_u64(w, "start_ps", l->with_copies_start_ps);
        ww_jsonw_u64(w, "end_ps", l->with_copies_end_ps);
        ww_jsonw_close(w, '}');
    }
    write_figures(w, r, l, facts);
    write_epochs(w, l);
    write_points(w, l);
    write_pcs(w, l);
    ww_jsonw_close(w, '}');
}

static void write_copies(struct ww_jsonw *w, const struct ww_result *r) {
    if (!r->copy_count) return;
    ww_jsonw_open(w, "copies", '[');
    for (size_t i = 0; i < r->copy_count; i++) {
        const struct ww_copy_span *c = &r->copy[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "way", ww_copy_way_name(c->way));
        ww_jsonw_bool(w, "pageable", c->pageable);
        ww_jsonw_u64(w, "stream", c->stream);
        ww_jsonw_u64(w, "launches_before", c->launch);
        if (c->engine == WW_COPY_NO_ENGINE)
            ww_jsonw_null(w, "engine");
        else
            ww_jsonw_u64(w, "engine", c->engine);
        ww_jsonw_u64(w, "bytes", c->bytes);
        ww_jsonw_u64(w, "start_ps", c->start_ps);
        ww_jsonw_u64(w, "end_ps", c->end_ps);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void write_head(struct ww_jsonw *w, const struct ww_result *r, int64_t run_id, const cJSON *gpu) {
    ww_jsonw_str(w, "format", "warpwatt-report");
    ww_jsonw_u64(w, "format_version", FORMAT_VERSION);
    ww_jsonw_str(w, "version", r->version);
    ww_jsonw_open(w, "summary", '{');
    ww_part_summary(w, r, run_id);
    ww_jsonw_close(w, '}');
    ww_jsonw_str(w, "trace_hash", r->trace_hash);
    ww_jsonw_str(w, "program", r->program);
    ww_jsonw_u64(w, "seed", r->seed);
    ww_jsonw_u64(w, "epoch_cycles", r->epoch_cycles);
    if (r->peak_memory_bytes) /* a run read back from a database does not know it */
        ww_jsonw_u64(w, "peak_memory_bytes", r->peak_memory_bytes);
    else
        ww_jsonw_null(w, "peak_memory_bytes");
    write_node(w, gpu, "gpu_config", 0);
    write_mechanisms(w, r);
    write_copies(w, r);
}

/* How far estimates of this GPU have been from hardware; empty: there is no comparison. */
static void write_bands(struct ww_jsonw *w, const char *gpu) {
    struct ww_band band[WW_BANDS];
    size_t n = ww_bands_of(gpu, band);
    ww_jsonw_open(w, "error_against_hardware", '[');
    for (size_t i = 0; i < n; i++) {
        ww_jsonw_open(w, NULL, '{');
        ww_jsonw_str(w, "of", band[i].of);
        ww_jsonw_f64(w, "from_cycles", band[i].from_cycles);
        if (band[i].to_cycles > 0) ww_jsonw_f64(w, "to_cycles", band[i].to_cycles);
        ww_jsonw_f64(w, "mean_error", band[i].error);
        ww_jsonw_f64(w, "bias", band[i].bias);
        ww_jsonw_f64(w, "p90_error", band[i].p90);
        ww_jsonw_u64(w, "programs", band[i].programs);
        ww_jsonw_u64(w, "launches", band[i].launches);
        ww_jsonw_str(w, "date", band[i].date);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

enum ww_code ww_report_json(const struct ww_result *r, int64_t run_id, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    cJSON *gpu = cJSON_Parse(r->gpu_json);
    if (!cJSON_IsObject(gpu)) {
        cJSON_Delete(gpu);
        return ww_fail(error, WW_INPUT, "", "the stored GPU configuration is no JSON object");
    }
    struct ww_gpu_facts facts;
    struct ww_launch_result sum;
    struct ww_jsonw w;
    ww_gpu_facts(r->gpu_json, &facts);
    ww_sum_launches(r, &sum);
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    write_head(&w, r, run_id, gpu);
    write_bands(&w, r->gpu);
    ww_jsonw_open(&w, "total", '{');
    write_figures(&w, r, &sum, &facts);
    ww_jsonw_close(&w, '}');
    ww_jsonw_open(&w, "launches", '[');
    for (size_t i = 0; i < r->launch_count; i++) write_launch(&w, r, &r->launch[i], &facts);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    cJSON_Delete(gpu);
    return ww_jsonw_end(&w, error);
}
