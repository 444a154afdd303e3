/* A run as Chrome trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 *
 * Times are microseconds from the start of the first launch; launches follow one another as they were replayed.
 * A launch is a slice; what is known of each epoch (warps by state, instructions a cycle, watts by component,
 * CTAs) and the clocks are counter tracks, whose value holds until the next event.
 */
#include "parts.h"

enum { PROCESS = 1, LAUNCHES = 1 };

static double us(uint64_t ps) {
    return (double)ps * 1e-6;
}

/* Opens an event up to its arguments. */
static void begin(struct ww_jsonw *w, const char *phase, const char *name, uint64_t ps) {
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "ph", phase);
    ww_jsonw_str(w, "name", name);
    ww_jsonw_u64(w, "pid", PROCESS);
    ww_jsonw_u64(w, "tid", LAUNCHES);
    ww_jsonw_f64(w, "ts", us(ps));
}

static void end(struct ww_jsonw *w) {
    ww_jsonw_close(w, '}');
    ww_jsonw_close(w, '}');
}

static void name_track(struct ww_jsonw *w, const char *what, const char *name) {
    begin(w, "M", what, 0);
    ww_jsonw_open(w, "args", '{');
    ww_jsonw_str(w, "name", name);
    end(w);
}

static void write_launch(struct ww_jsonw *w, const struct ww_launch_result *l, uint64_t start) {
    begin(w, "X", l->kernel, start);
    ww_jsonw_f64(w, "dur", us(l->time_ps));
    ww_jsonw_open(w, "args", '{');
    ww_jsonw_u64(w, "launch", l->index);
    ww_jsonw_u64(w, "cycles", l->cycles);
    ww_jsonw_u64(w, "warp_instructions", l->warp_instructions);
    ww_jsonw_u64(w, "ctas_per_sm", l->ctas_per_sm);
    ww_part_known(w, "energy_j", l->energy.known ? l->energy.total_j : -1);
    end(w);
}

static void write_states(struct ww_jsonw *w, const struct ww_epoch *e, uint64_t at) {
    begin(w, "C", "warps by state", at);
    ww_jsonw_open(w, "args", '{');
    for (int s = 0; s < WW_STATE_COUNT; s++)
        ww_jsonw_f64(w, ww_state_name((enum ww_warp_state)s), (double)e->warp_cycles[s] / (double)e->cycles);
    end(w);
}

static void write_number(struct ww_jsonw *w, const char *track, const char *name, double v, uint64_t at) {
    begin(w, "C", track, at);
    ww_jsonw_open(w, "args", '{');
    ww_jsonw_f64(w, name, v);
    end(w);
}

static void write_power(struct ww_jsonw *w, const struct ww_launch_result *l, size_t epoch, uint64_t at) {
    const struct ww_epoch_energy *e = &l->epoch_energy[epoch];
    double seconds = (double)l->epoch[epoch].time_ps * 1e-12;
    begin(w, "C", "power (W)", at);
    ww_jsonw_open(w, "args", '{');
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        ww_jsonw_f64(w, ww_component_name((enum ww_component)c), (e->dynamic_j[c] + e->static_j[c]) / seconds);
    end(w);
}

static void write_ctas(struct ww_jsonw *w, const struct ww_epoch *e, uint64_t at) {
    begin(w, "C", "CTAs that may run", at);
    ww_jsonw_open(w, "args", '{');
    ww_jsonw_u64(w, "limit", e->cta_limit);
    ww_jsonw_u64(w, "paused", e->ctas_paused);
    end(w);
}

static void write_epochs(struct ww_jsonw *w, const struct ww_launch_result *l, uint64_t start) {
    for (size_t i = 0; i < l->epoch_count; i++) {
        const struct ww_epoch *e = &l->epoch[i];
        if (e->cycles == 0) continue;
        write_states(w, e, start);
        write_number(w, "warp instructions a cycle", "ipc", (double)e->warp_instructions / (double)e->cycles,
                     start);
        write_ctas(w, e, start);
        if (l->epoch_energy && e->time_ps) write_power(w, l, i, start);
        start += e->time_ps;
    }
}

static void write_clocks(struct ww_jsonw *w, const struct ww_launch_result *l, uint64_t start) {
    static const char *const name[WW_DOMAIN_COUNT] = {"sm", "l2", "dram"};
    for (size_t i = 0; i < l->point_count; i++) {
        begin(w, "C", "clocks (MHz)", start + l->point[i].time_ps);
        ww_jsonw_open(w, "args", '{');
        for (int d = 0; d < WW_DOMAIN_COUNT; d++) ww_jsonw_f64(w, name[d], l->point[i].mhz[d]);
        end(w);
    }
}

/* After the last launch nothing runs. */
static void write_end(struct ww_jsonw *w, uint64_t at) {
    struct ww_epoch none = {.cycles = 1};
    write_states(w, &none, at);
    write_number(w, "warp instructions a cycle", "ipc", 0, at);
}

enum ww_code ww_report_timeline(const struct ww_result *r, int64_t run_id, FILE *out, struct ww_error *error) {
    struct ww_jsonw w;
    uint64_t start = 0;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "displayTimeUnit", "ns");
    ww_jsonw_open(&w, "otherData", '{');
    ww_part_summary(&w, r, run_id);
    ww_jsonw_close(&w, '}');
    ww_jsonw_open(&w, "traceEvents", '[');
    name_track(&w, "process_name", r->gpu);
    name_track(&w, "thread_name", "launches");
    for (size_t i = 0; i < r->launch_count; i++) {
        write_launch(&w, &r->launch[i], start);
        write_clocks(&w, &r->launch[i], start);
        write_epochs(&w, &r->launch[i], start);
        start += r->launch[i].time_ps;
    }
    write_end(&w, start);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}
