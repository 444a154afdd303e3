/* Pieces of JSON that several reports share. */
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "parts.h"

void ww_part_known(struct ww_jsonw *w, const char *key, double v) {
    if (v >= 0)
        ww_jsonw_f64(w, key, v);
    else
        ww_jsonw_null(w, key);
}

static void interval(struct ww_jsonw *w, const char *key, const struct ww_interval *i, bool known) {
    if (!known) {
        ww_jsonw_null(w, key);
        return;
    }
    ww_jsonw_open_flat(w, key, '[');
    ww_jsonw_f64(w, NULL, i->lo);
    ww_jsonw_f64(w, NULL, i->hi);
    ww_jsonw_close(w, ']');
}

/* What a sampled run replayed, and why it stopped. */
static void sampling(struct ww_jsonw *w, const struct ww_result *r) {
    const struct ww_sampling *s = &r->sampling;
    bool estimated = s->row_count > 0, power = estimated && r->energy_known;
    ww_jsonw_open(w, "sampling", '{');
    ww_jsonw_str(w, "reason", s->reason);
    ww_jsonw_f64(w, "target_error", s->target_error);
    ww_jsonw_u64(w, "units", s->units);
    ww_jsonw_u64(w, "units_drawn", s->drawn);
    ww_jsonw_u64(w, "strata", s->strata);
    ww_jsonw_u64(w, "launches", s->launches);
    ww_jsonw_u64(w, "launches_replayed", s->replayed_launches);
    ww_jsonw_u64(w, "ctas", s->ctas);
    ww_jsonw_u64(w, "ctas_replayed", s->replayed_ctas);
    ww_jsonw_u64(w, "warp_instructions_replayed", s->replayed_instructions);
    ww_part_known(w, "share_replayed",
                  ww_ratio((double)s->replayed_instructions, (double)r->warp_instructions));
    ww_jsonw_u64(w, "warp_instructions_warmed", s->warmed_instructions);
    ww_jsonw_f64(w, "warming_seconds", s->warming_seconds);
    ww_jsonw_u64(w, "pairs", s->pairs);
    ww_jsonw_f64(w, "cold_start_cycles", s->bias_cycles);
    ww_jsonw_f64(w, "cold_start_energy", s->bias_energy);
    ww_jsonw_str(w, "estimator", s->estimator);
    ww_jsonw_u64(w, "units_fast", s->fast_units);
    ww_jsonw_u64(w, "warp_instructions_fast", s->fast_instructions);
    ww_jsonw_f64(w, "fast_cost", s->fast_cost);
    ww_jsonw_f64(w, "correlation", s->correlation);
    ww_jsonw_f64(w, "pays_from", s->pays_from);
    interval(w, "time_s", &s->time_s, estimated);
    interval(w, "ipc", &s->ipc, estimated);
    interval(w, "average_power_w", &s->power_w, power);
    interval(w, "energy_delay_js", &s->edp, power);
    ww_jsonw_close(w, '}');
}

static void overrides(struct ww_jsonw *w, const struct ww_result *r) {
    ww_jsonw_open(w, "overrides", '{');
    for (size_t i = 0; i < r->override_count; i++) {
        ww_jsonw_open_flat(w, r->override[i].key, '{');
        ww_jsonw_str(w, "value", r->override[i].value);
        ww_jsonw_str(w, "base", r->override[i].base);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, '}');
}

void ww_part_summary(struct ww_jsonw *w, const struct ww_result *r, int64_t run_id) {
    struct ww_launch_result sum = {.cycles = r->cycles, .warp_instructions = r->warp_instructions};
    if (run_id < 0)
        ww_jsonw_null(w, "run");
    else
        ww_jsonw_i64(w, "run", run_id);
    ww_jsonw_str(w, "gpu", r->gpu);
    ww_jsonw_str(w, "trace", r->trace);
    ww_jsonw_str(w, "mode", r->mode);
    ww_jsonw_str(w, "code", ww_code_kind(r));
    overrides(w, r);
    ww_jsonw_u64(w, "cycles", r->cycles);
    ww_jsonw_f64(w, "time_s", (double)r->time_ps / 1e12);
    if (r->copy_count) ww_jsonw_f64(w, "with_copies_s", (double)r->with_copies_ps / 1e12);
    ww_jsonw_u64(w, "warp_instructions", r->warp_instructions);
    ww_jsonw_u64(w, "thread_instructions", r->thread_instructions);
    ww_part_known(w, "ipc", ww_ipc(&sum));
    ww_part_known(w, "energy_j", r->energy_known ? r->energy_j : -1);
    ww_part_known(w, "average_power_w", ww_watts(r->energy_j, r->energy_known, r->time_ps));
    ww_jsonw_f64(w, "host_seconds", r->host_seconds);
    ww_jsonw_open(w, "interval", '{');
    ww_jsonw_f64(w, "confidence", r->confidence);
    interval(w, "cycles", &r->cycles_interval, true);
    interval(w, "energy_j", &r->energy_interval, r->energy_known);
    ww_jsonw_close(w, '}');
    if (!r->sampling.reason) return;
    ww_jsonw_null(w, "model_error");
    sampling(w, r);
}

void ww_part_counters(struct ww_jsonw *w, const char *key, const struct ww_result *r,
                      const struct ww_launch_result *launch) {
    ww_jsonw_open(w, key, '{');
    for (int i = 0; i < WW_COUNTER_COUNT; i++) {
        const char *name = ww_counter_name((enum ww_counter)i);
        if (ww_counter_known(r, launch, (enum ww_counter)i))
            ww_jsonw_u64(w, name, launch->counter[i]);
        else
            ww_jsonw_null(w, name);
    }
    ww_jsonw_close(w, '}');
}

void ww_part_states(struct ww_jsonw *w, const char *key, const uint64_t state[WW_STATE_COUNT], bool zeros) {
    ww_jsonw_open_flat(w, key, '{');
    for (int i = 0; i < WW_STATE_COUNT; i++)
        if (zeros || state[i]) ww_jsonw_u64(w, ww_state_name((enum ww_warp_state)i), state[i]);
    ww_jsonw_close(w, '}');
}

void ww_part_slots(struct ww_jsonw *w, const char *key, const uint64_t slot[WW_SLOT_COUNT]) {
    ww_jsonw_open_flat(w, key, '{');
    for (int i = 0; i < WW_SLOT_COUNT; i++) ww_jsonw_u64(w, ww_slot_name((enum ww_slot)i), slot[i]);
    ww_jsonw_close(w, '}');
}

void ww_part_memory(struct ww_jsonw *w, const char *key, const struct ww_launch_result *launch) {
    struct ww_level level[WW_LEVELS];
    ww_levels(launch, level);
    ww_jsonw_open(w, key, '[');
    for (int i = 0; i < WW_LEVELS; i++) {
        const struct ww_level *l = &level[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "level", l->name);
        ww_jsonw_u64(w, "sectors_read", l->read);
        ww_jsonw_u64(w, "sectors_written", l->written);
        ww_part_known(w, "hit_rate", l->hit_rate);
        ww_part_known(w, "merged_rate", l->merged_rate);
        ww_part_known(w, "read_gb_s", l->read_gb_s);
        ww_part_known(w, "write_gb_s", l->write_gb_s);
        ww_part_known(w, "busy", l->busy);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

void ww_part_energy(struct ww_jsonw *w, const char *key, const struct ww_energy *e, uint64_t time_ps) {
    if (!e->known) {
        ww_jsonw_null(w, key);
        return;
    }
    ww_jsonw_open(w, key, '{');
    ww_jsonw_f64(w, "total_j", e->total_j);
    ww_part_known(w, "average_power_w", ww_watts(e->total_j, true, time_ps));
    ww_jsonw_open(w, "components", '{');
    for (int i = 0; i < WW_COMPONENT_COUNT; i++) {
        ww_jsonw_open_flat(w, ww_component_name((enum ww_component)i), '{');
        ww_jsonw_f64(w, "dynamic_j", e->dynamic_j[i]);
        ww_jsonw_f64(w, "static_j", e->static_j[i]);
        ww_part_known(w, "average_power_w", ww_watts(e->dynamic_j[i] + e->static_j[i], true, time_ps));
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, '}');
    ww_jsonw_close(w, '}');
}

void ww_part_inst_counters(struct ww_jsonw *w, const uint64_t counter[WW_INST_COUNTER_COUNT], uint64_t unknown,
                           int first, int end) {
    for (int i = first; i < end; i++) {
        const char *name = ww_inst_counter_name((enum ww_inst_counter)i);
        if (unknown >> i & 1)
            ww_jsonw_null(w, name);
        else
            ww_jsonw_u64(w, name, counter[i]);
    }
}
