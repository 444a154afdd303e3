/* A run as Chrome trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 *
 * Times are microseconds from the start of the first launch; launches follow one another as they were replayed.
 * A launch is a slice; what is known of each epoch (warps by state, instructions a cycle, watts by component,
 * CTAs) and the clocks are counter tracks, whose value holds until the next event; what a governor changes is
 * an instant. Runs that kept a timeline have the memory path's counters too, and a track for each SM's place
 * for a CTA.
 */
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/base/locale.h"
#include "parts.h"
#include <inttypes.h>

enum {
    PROCESS = 1,
    SMS = 2,
    PROGRAM = 3,
    ENGINES = 1,
    LAUNCHES = 1,
    DECISIONS = 2,
    STREAMS = 16,
    SLOTS = 1024
};

static double us(uint64_t ps) {
    return (double)ps * 1e-6;
}

/* Opens an event up to its arguments. */
static void begin_on(struct ww_jsonw *w, const char *phase, const char *name, uint64_t track, uint64_t ps) {
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "ph", phase);
    ww_jsonw_str(w, "name", name);
    ww_jsonw_u64(w, "pid", PROCESS);
    ww_jsonw_u64(w, "tid", track);
    ww_jsonw_f64(w, "ts", us(ps));
}

static void begin(struct ww_jsonw *w, const char *phase, const char *name, uint64_t ps) {
    begin_on(w, phase, name, LAUNCHES, ps);
}

/* Launches that ran concurrently are on a track of their stream. */
static uint64_t track_of(const struct ww_launch_result *l) {
    return l->concurrent ? (uint64_t)STREAMS + l->stream : LAUNCHES;
}

static void end(struct ww_jsonw *w) {
    ww_jsonw_close(w, '}');
    ww_jsonw_close(w, '}');
}

static void begin_meta(struct ww_jsonw *w, const char *what, unsigned process, unsigned thread) {
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "ph", "M");
    ww_jsonw_str(w, "name", what);
    ww_jsonw_u64(w, "pid", process);
    ww_jsonw_u64(w, "tid", thread);
    ww_jsonw_open(w, "args", '{');
}

static void name_track(struct ww_jsonw *w, const char *what, unsigned process, unsigned thread,
                       const char *name) {
    begin_meta(w, what, process, thread);
    ww_jsonw_str(w, "name", name);
    end(w);
}

static void write_launch(struct ww_jsonw *w, const struct ww_result *r, const struct ww_launch_result *l,
                         uint64_t start) {
    char kernel[WW_NAME_SHORT], whole[WW_NAME_WHOLE];
    begin_on(w, "X", ww_kernel_name(r, l->kernel, kernel), track_of(l), start);
    ww_jsonw_f64(w, "dur", us(l->time_ps));
    ww_jsonw_open(w, "args", '{');
    ww_demangle(l->kernel, whole, sizeof whole);
    ww_jsonw_str(w, "kernel", whole);
    ww_jsonw_u64(w, "launch", l->index);
    ww_jsonw_u64(w, "cycles", l->cycles);
    ww_jsonw_u64(w, "warp_instructions", l->warp_instructions);
    ww_jsonw_u64(w, "ctas_per_sm", l->ctas_per_sm);
    if (l->concurrent) ww_jsonw_u64(w, "stream", l->stream);
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

/* ---- the memory path, of runs that kept a timeline ---- */

static double counted(const struct ww_launch_result *l, size_t epoch, enum ww_counter c) {
    for (size_t i = 0; i < WW_EPOCH_COUNTERS; i++)
        if (ww_epoch_counter(i) == c) return (double)l->epoch_counter[epoch * WW_EPOCH_COUNTERS + i];
    return 0;
}

static double part(double a, double b) {
    return b > 0 ? a / b : 0;
}

static void begin_counter(struct ww_jsonw *w, const char *name, uint64_t at) {
    begin(w, "C", name, at);
    ww_jsonw_open(w, "args", '{');
}

/* Queues: a mean length is what was waited divided by the time (Little's law). L2 cycles are of the clock that
 * the launch begins with. */
static void write_queues(struct ww_jsonw *w, const struct ww_result *r, const struct ww_launch_result *l,
                         size_t i, uint64_t at) {
    const struct ww_epoch *e = &l->epoch[i];
    double cycles = (double)e->cycles, active = counted(l, i, WW_C_SM_ACTIVE_CYCLES);
    double l2_cycles = l->point_count ? (double)e->time_ps * 1e-6 * l->point[0].mhz[WW_DOMAIN_L2] : 0;
    begin_counter(w, "loads in flight", at);
    ww_jsonw_f64(w, "loads", part(counted(l, i, WW_C_LOAD_CYCLES), cycles));
    end(w);
    begin_counter(w, "page walks in flight", at);
    ww_jsonw_f64(w, "walks", part(counted(l, i, WW_C_TLB_WALK_CYCLES), l2_cycles));
    end(w);
    if (ww_counter_known(r, l, WW_C_L2_STALL_CYCLES)) {
        begin_counter(w, "L2 slices held up", at);
        ww_jsonw_f64(w, "slices", part(counted(l, i, WW_C_L2_STALL_CYCLES), l2_cycles));
        end(w);
    }
    begin_counter(w, "held up, part of the SMs' active cycles", at);
    ww_jsonw_f64(w, "load/store unit", part(counted(l, i, WW_C_LSU_STALL_CYCLES), active));
    ww_jsonw_f64(w, "L1 without MSHR or line", part(counted(l, i, WW_C_L1_RESERVATION_FAIL), active));
    end(w);
    begin_counter(w, "DRAM bus busy", at);
    ww_jsonw_f64(w, "part", part(counted(l, i, WW_C_DRAM_BUSY_CYCLES), counted(l, i, WW_C_DRAM_CYCLES)));
    end(w);
}

static void write_traffic(struct ww_jsonw *w, const struct ww_launch_result *l, size_t i, uint64_t at) {
    static const struct {
        const char *name;
        enum ww_counter counter;
    } flow[] = {{"L1 read", WW_C_L1_SECTOR_READ},
                {"L2 read", WW_C_XBAR_SECTOR_READ},
                {"L2 written", WW_C_XBAR_SECTOR_WRITE},
                {"DRAM read", WW_C_DRAM_SECTOR_READ},
                {"DRAM written", WW_C_DRAM_SECTOR_WRITE}};
    double seconds = (double)l->epoch[i].time_ps * 1e-12;
    begin_counter(w, "traffic (GB/s)", at);
    for (size_t k = 0; k < sizeof flow / sizeof *flow; k++)
        ww_jsonw_f64(w, flow[k].name, part(32e-9 * counted(l, i, flow[k].counter), seconds));
    end(w);
    if (counted(l, i, WW_C_EP_CYCLES) + counted(l, i, WW_C_MP_CYCLES) <= 0) return;
    begin_counter(w, "scheduler's modes, part of the SMs' active cycles", at);
    ww_jsonw_f64(w, "equal priority",
                 part(counted(l, i, WW_C_EP_CYCLES), counted(l, i, WW_C_SM_ACTIVE_CYCLES)));
    ww_jsonw_f64(w, "memory-access priority",
                 part(counted(l, i, WW_C_MP_CYCLES), counted(l, i, WW_C_SM_ACTIVE_CYCLES)));
    end(w);
}

/* ---- CTAs ---- */

/* first_cycle: the time of the launch's; earlier than the launch before ends if cycles of it are hidden there.
 */
static void write_ctas_of(struct ww_jsonw *w, const struct ww_launch_result *l, uint64_t first_cycle) {
    char name[48];
    for (size_t i = 0; i < l->cta_count; i++) {
        const struct ww_cta_span *c = &l->cta[i];
        snprintf(name, sizeof name, "CTA %" PRIu64, c->cta);
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "ph", "X");
        ww_jsonw_str(w, "name", name);
        ww_jsonw_u64(w, "pid", SMS);
        ww_jsonw_u64(w, "tid", (uint64_t)c->sm * SLOTS + c->slot + 1);
        ww_jsonw_f64(w, "ts", us(first_cycle + c->start_ps));
        ww_jsonw_f64(w, "dur", us(c->end_ps - c->start_ps));
        ww_jsonw_open(w, "args", '{');
        ww_jsonw_u64(w, "launch", l->index);
        ww_jsonw_str(w, "kernel", l->kernel);
        ww_jsonw_u64(w, "first_cycle", c->first_cycle);
        ww_jsonw_u64(w, "cycles", c->end_cycle - c->first_cycle);
        end(w);
    }
}

/* Names of the tracks that CTAs ran on, each once: a track's first CTA names it. Slots of a database are below
 * SLOTS, or share a name. */
static void name_slots(struct ww_jsonw *w, const struct ww_result *r) {
    enum { TRACKS = 65536 };
    uint8_t seen[TRACKS / 8] = {0};
    char name[64];
    bool any = false;
    for (size_t i = 0; i < r->launch_count; i++) {
        for (size_t k = 0; k < r->launch[i].cta_count; k++) {
            const struct ww_cta_span *c = &r->launch[i].cta[k];
            uint32_t at = (c->sm * 32 + c->slot % 32) % TRACKS, thread = c->sm * SLOTS + c->slot + 1;
            if (!any) name_track(w, "process_name", SMS, 0, "CTAs by SM (the first that the run kept)");
            any = true;
            if (seen[at / 8] >> (at % 8) & 1) continue;
            seen[at / 8] |= (uint8_t)(1u << at % 8);
            snprintf(name, sizeof name, "SM %u, place %u", c->sm, c->slot);
            name_track(w, "thread_name", SMS, thread, name);
            begin_meta(w, "thread_sort_index", SMS, thread);
            ww_jsonw_u64(w, "sort_index", thread);
            end(w);
        }
    }
}

/* Names of streams' tracks, each once. */
static void name_streams(struct ww_jsonw *w, const struct ww_result *r) {
    char name[48];
    for (size_t i = 0; i < r->launch_count; i++) {
        bool seen = !r->launch[i].concurrent;
        for (size_t k = 0; k < i && !seen; k++)
            seen = r->launch[k].concurrent && r->launch[k].stream == r->launch[i].stream;
        if (seen) continue;
        snprintf(name, sizeof name, "stream %u", r->launch[i].stream);
        name_track(w, "thread_name", PROCESS, STREAMS + r->launch[i].stream, name);
    }
}

/* ---- what governors decide ---- */

static void instant(struct ww_jsonw *w, const char *name, uint64_t at) {
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "ph", "i");
    ww_jsonw_str(w, "s", "t");
    ww_jsonw_str(w, "name", name);
    ww_jsonw_u64(w, "pid", PROCESS);
    ww_jsonw_u64(w, "tid", DECISIONS);
    ww_jsonw_f64(w, "ts", us(at));
    ww_jsonw_open(w, "args", '{');
}

static void write_limit_change(struct ww_jsonw *w, const struct ww_launch_result *l, size_t i, uint64_t at) {
    const struct ww_epoch *e = &l->epoch[i];
    if (i == 0 || (e->cta_limit == e[-1].cta_limit && e->ctas_paused == e[-1].ctas_paused)) return;
    instant(w, "CTAs that may run change", at);
    ww_jsonw_u64(w, "limit", e->cta_limit);
    ww_jsonw_u64(w, "paused", e->ctas_paused);
    end(w);
}

static void write_epochs(struct ww_jsonw *w, const struct ww_result *r, const struct ww_launch_result *l,
                         uint64_t start) {
    for (size_t i = 0; i < l->epoch_count; i++) {
        const struct ww_epoch *e = &l->epoch[i];
        if (e->cycles == 0) continue;
        write_states(w, e, start);
        write_number(w, "warp instructions a cycle", "ipc", (double)e->warp_instructions / (double)e->cycles,
                     start);
        write_ctas(w, e, start);
        if (l->epoch_energy && e->time_ps) write_power(w, l, i, start);
        if (l->epoch_counter && e->time_ps) {
            write_queues(w, r, l, i, start);
            write_traffic(w, l, i, start);
        }
        start += e->time_ps;
        write_limit_change(w, l, i, start);
    }
}

static void write_clocks(struct ww_jsonw *w, const struct ww_launch_result *l, uint64_t start,
                         uint64_t overhead) {
    static const char *const name[WW_DOMAIN_COUNT] = {"sm", "l2", "dram"};
    for (size_t i = 0; i < l->point_count; i++) {
        uint64_t at = start + l->point[i].time_ps, hidden = l->counter[WW_C_LAUNCH_HIDDEN_PS];
        if (i) at += overhead - (hidden < l->point[i].time_ps ? hidden : l->point[i].time_ps);
        begin(w, "C", "clocks (MHz)", at);
        ww_jsonw_open(w, "args", '{');
        for (int d = 0; d < WW_DOMAIN_COUNT; d++) ww_jsonw_f64(w, name[d], l->point[i].mhz[d]);
        end(w);
        if (i == 0) continue;
        instant(w, "clocks change", at);
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

/* ---- the program with its copies, on a time of its own ---- */

static uint32_t engine_track(const struct ww_copy_span *c) {
    return c->engine == WW_COPY_NO_ENGINE ? ENGINES : ENGINES + 1 + c->engine;
}

static void begin_program(struct ww_jsonw *w, const char *name, uint64_t track, uint64_t start, uint64_t end) {
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "ph", "X");
    ww_jsonw_str(w, "name", name);
    ww_jsonw_u64(w, "pid", PROGRAM);
    ww_jsonw_u64(w, "tid", track);
    ww_jsonw_f64(w, "ts", us(start));
    ww_jsonw_f64(w, "dur", us(end - start));
    ww_jsonw_open(w, "args", '{');
}

/* Launches that overlap are on different tracks: those of the program's launches go round them. */
enum { TRACKS = 64 };

static void write_program_launches(struct ww_jsonw *w, const struct ww_result *r) {
    uint64_t free_from[TRACKS] = {0};
    bool named[TRACKS] = {0};
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        char kernel[WW_NAME_SHORT], name[32];
        unsigned at = 0;
        while (at + 1 < TRACKS && free_from[at] > l->with_copies_start_ps) at++;
        free_from[at] = l->with_copies_end_ps;
        snprintf(name, sizeof name, "launches %u", at);
        if (!named[at]) name_track(w, "thread_name", PROGRAM, STREAMS + at, name);
        named[at] = true;
        begin_program(w, ww_kernel_name(r, l->kernel, kernel), STREAMS + at, l->with_copies_start_ps,
                      l->with_copies_end_ps);
        ww_jsonw_u64(w, "launch", l->index);
        end(w);
    }
}

static void write_program(struct ww_jsonw *w, const struct ww_result *r) {
    bool named[256] = {0};
    if (!r->copy_count) return;
    name_track(w, "process_name", PROGRAM, 0, "the program with its copies");
    for (size_t i = 0; i < r->copy_count; i++) {
        const struct ww_copy_span *c = &r->copy[i];
        char name[32] = "copies within the device";
        if (c->engine != WW_COPY_NO_ENGINE) snprintf(name, sizeof name, "copy engine %u", c->engine);
        if (!named[c->engine & 255]) name_track(w, "thread_name", PROGRAM, engine_track(c), name);
        named[c->engine & 255] = true;
        begin_program(w, ww_copy_way_name(c->way), engine_track(c), c->start_ps, c->end_ps);
        ww_jsonw_u64(w, "copy", i);
        ww_jsonw_u64(w, "stream", c->stream);
        ww_jsonw_u64(w, "bytes", c->bytes);
        ww_jsonw_bool(w, "pageable", c->pageable);
        end(w);
    }
    write_program_launches(w, r);
}

static void write_all_of(struct ww_jsonw *w, const struct ww_result *r, const struct ww_launch_result *l,
                         const struct ww_gpu_facts *facts, struct ww_placing *placing) {
    struct ww_place place = ww_place_next(placing, l, facts);
    write_launch(w, r, l, place.start);
    write_clocks(w, l, place.start, ww_launch_latency_ps(l, facts));
    write_epochs(w, r, l, place.start);
    write_ctas_of(w, l, place.ctas);
}

enum ww_code ww_report_timeline(const struct ww_result *r, int64_t run_id, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_jsonw w;
    struct ww_gpu_facts facts;
    struct ww_placing placing = {0};
    ww_gpu_facts(r->gpu_json, &facts);
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "displayTimeUnit", "ns");
    ww_jsonw_open(&w, "otherData", '{');
    ww_part_summary(&w, r, run_id);
    ww_jsonw_close(&w, '}');
    ww_jsonw_open(&w, "traceEvents", '[');
    name_track(&w, "process_name", PROCESS, LAUNCHES, r->gpu);
    name_track(&w, "thread_name", PROCESS, LAUNCHES, "launches");
    name_track(&w, "thread_name", PROCESS, DECISIONS, "governor");
    name_streams(&w, r);
    name_slots(&w, r);
    for (size_t i = 0; i < r->launch_count; i++) write_all_of(&w, r, &r->launch[i], &facts, &placing);
    write_end(&w, placing.now);
    write_program(&w, r);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}
