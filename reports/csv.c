/* CSV for spreadsheets, as RFC 4180 has it: a header line, CRLF, fields with commas, quotes or line breaks in
 * quotes. Names come from files that others made: a text that a spreadsheet would take for a formula gets an
 * apostrophe before it. What is not known is an empty field. */
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/result/explored.h"
#include "../estimator/base/locale.h"
#include "../estimator/base/err.h"
#include "../estimator/base/escape.h"
#include "../estimator/base/jsonw.h"
#include "figures.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct csv {
    FILE *out;
    bool begun; /* the row has a field */
};

static void separate(struct csv *c) {
    if (c->begun) fputc(',', c->out);
    c->begun = true;
}

static void put_text(struct csv *c, const char *s) {
    separate(c);
    ww_put_csv(c->out, s, strlen(s));
}

static void put_u64(struct csv *c, uint64_t v) {
    separate(c);
    fprintf(c->out, "%" PRIu64, v);
}

/* Reads back to the same number; not known: NAN. */
static void put_f64(struct csv *c, double v) {
    char text[32];
    separate(c);
    if (!isfinite(v)) return;
    ww_double_text(v, text);
    fputs(text, c->out);
}

static void put_known(struct csv *c, double v) {
    put_f64(c, v < 0 ? (double)NAN : v);
}

static void end_row(struct csv *c) {
    fputs("\r\n", c->out);
    c->begun = false;
}

/* ---- launches of runs ---- */

static void launch_head(struct csv *c) {
    static const char *const head[] = {"run",
                                       "gpu",
                                       "trace",
                                       "mode",
                                       "version",
                                       "mechanisms",
                                       "launch",
                                       "kernel",
                                       "grid_x",
                                       "grid_y",
                                       "grid_z",
                                       "block_x",
                                       "block_y",
                                       "block_z",
                                       "registers_per_thread",
                                       "shared_bytes",
                                       "ctas_per_sm",
                                       "limiter",
                                       "cycles",
                                       "time_s",
                                       "warp_instructions",
                                       "thread_instructions",
                                       "ipc",
                                       "energy_j",
                                       "power_w",
                                       "code",
                                       "overrides"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) put_text(c, head[i]);
    for (int i = 0; i < WW_STATE_COUNT; i++) {
        separate(c);
        fprintf(c->out, "state.%s", ww_state_name((enum ww_warp_state)i));
    }
    for (int i = 0; i < WW_SLOT_COUNT; i++) {
        separate(c);
        fprintf(c->out, "slot.%s", ww_slot_name((enum ww_slot)i));
    }
    for (int i = 0; i < WW_COMPONENT_COUNT; i++) {
        separate(c);
        fprintf(c->out, "energy_j.%s", ww_component_name((enum ww_component)i));
    }
    for (int i = 0; i < WW_COUNTER_COUNT; i++) put_text(c, ww_counter_name((enum ww_counter)i));
    end_row(c);
}

/* One field of "key=value" words. A text that does not fit ends with the last whole word. */
struct pairs {
    char text[4096];
    size_t used;
};

static void add_pair(struct pairs *p, const char *key, const char *value) {
    size_t room = sizeof p->text - p->used;
    int n = snprintf(p->text + p->used, room, "%s%s=%s", p->used ? " " : "", key, value);
    if (n > 0 && (size_t)n < room)
        p->used += (size_t)n;
    else
        p->text[p->used] = 0;
}

static void put_overrides(struct csv *c, const struct ww_result *r) {
    struct pairs p = {"", 0};
    for (size_t i = 0; i < r->override_count; i++) add_pair(&p, r->override[i].key, r->override[i].value);
    put_text(c, p.text);
}

static void put_mechanisms(struct csv *c, const struct ww_result *r) {
    struct pairs p = {"", 0};
    for (size_t i = 0; i < r->mechanism_count; i++) add_pair(&p, r->mechanism[i].key, r->mechanism[i].value);
    put_text(c, p.text);
}

static void put_shape(struct csv *c, const struct ww_launch_result *l) {
    for (int i = 0; i < 3; i++) put_u64(c, l->grid[i]);
    for (int i = 0; i < 3; i++) put_u64(c, l->block[i]);
    put_u64(c, l->registers_per_thread);
    put_u64(c, l->shared_bytes);
    put_u64(c, l->ctas_per_sm);
    put_text(c, l->occupancy_limiter);
}

static void launch_row(struct csv *c, const struct ww_result *r, int64_t id, const struct ww_launch_result *l) {
    separate(c);
    fprintf(c->out, "%" PRId64, id);
    put_text(c, r->gpu);
    put_text(c, r->trace);
    put_text(c, r->mode);
    put_text(c, r->version);
    put_mechanisms(c, r);
    put_u64(c, l->index);
    put_text(c, l->kernel);
    put_shape(c, l);
    put_u64(c, l->cycles);
    put_f64(c, (double)l->time_ps / 1e12);
    put_u64(c, l->warp_instructions);
    put_u64(c, l->thread_instructions);
    put_known(c, ww_ipc(l));
    put_known(c, l->energy.known ? l->energy.total_j : -1);
    put_known(c, ww_watts(l->energy.total_j, l->energy.known, l->time_ps));
    put_text(c, l->code ? l->code : "");
    put_overrides(c, r);
    for (int i = 0; i < WW_STATE_COUNT; i++) put_u64(c, l->warp_cycles[i]);
    for (int i = 0; i < WW_SLOT_COUNT; i++) put_u64(c, l->slot[i]);
    for (int i = 0; i < WW_COMPONENT_COUNT; i++)
        put_known(c, l->energy.known ? l->energy.dynamic_j[i] + l->energy.static_j[i] : -1);
    for (int i = 0; i < WW_COUNTER_COUNT; i++) {
        if (ww_counter_known(r, l, (enum ww_counter)i))
            put_u64(c, l->counter[i]);
        else
            separate(c);
    }
    end_row(c);
}

/* ---- points of a sweep ---- */

static void point_rows(struct csv *c, const struct ww_explored *e) {
    static const char *const tail[] = {"time_s",   "energy_j", "power_w", "most_w", "board_w",
                                       "area_mm2", "feasible", "front",   "reason"};
    put_text(c, "point");
    for (size_t k = 0; k < e->key_count; k++) put_text(c, e->key[k]);
    for (size_t o = 0; o < e->objective_count; o++) {
        char name[200];
        snprintf(name, sizeof name, "objective.%.180s", e->objective[o].name);
        put_text(c, name);
    }
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) put_text(c, tail[i]);
    end_row(c);
    for (size_t i = 0; i < e->point_count; i++) {
        const struct ww_explored_point *p = &e->point[i];
        put_u64(c, p->ord);
        for (size_t k = 0; k < e->key_count; k++) put_text(c, p->value[k] ? p->value[k] : "");
        for (size_t o = 0; o < e->objective_count; o++) put_f64(c, p->objective[o]);
        put_f64(c, p->time_s);
        put_f64(c, p->energy_j);
        put_f64(c, p->power_w);
        put_f64(c, p->most_w);
        put_f64(c, p->board_w);
        put_f64(c, p->area_mm2);
        put_text(c, p->feasible < 0 ? "" : p->feasible ? "1" : "0");
        put_text(c, p->front ? "1" : "0");
        put_text(c, p->reason);
        end_row(c);
    }
}

enum ww_code ww_report_csv(const struct ww_report_set *set, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct csv c = {.out = out};
    if (set->sweep) {
        point_rows(&c, set->sweep);
        return ww_out_check(out, error);
    }
    launch_head(&c);
    for (size_t i = 0; i < set->run_count; i++)
        for (size_t k = 0; k < set->run[i]->launch_count; k++)
            launch_row(&c, set->run[i], set->run_id[i], &set->run[i]->launch[k]);
    return ww_out_check(out, error);
}
