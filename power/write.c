/* write.c: a power table with some of its values scaled, as JSON. */
#include "power_table.h"
#include <string.h>

static const char *const unit_name[] = {"pJ", "nJ"};
static const char *const per_name[] = {"gpu", "active_sm", "idle_sm", "stalled_sm", "dma_engine"};
static const char *const kind_name[] = {"fixed", "leakage", "clock", "standby"};
static const char *const structure_name[] = {"regfile",  "shared", "l1",      "l2",       "texture",
                                             "constant", "icache", "l1_mshr", "l1_queue", "l2_mshr"};
static const char *const array_name[] = {"ram", "cache", "cam"};
static const char *const domain_name[] = {"sm", "l2", "dram"};

static void string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 32)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

/* Ends a row: uncertainty and source, with what the calibration did. */
static void end_row(FILE *f, double uncertainty, const char *source, const struct ww_power_factor *factor,
                    const char *by, bool last) {
    fprintf(f, ", \"uncertainty\": %.4g, \"source\": ", factor->fitted ? factor->uncertainty : uncertainty);
    string(f, source);
    if (factor->fitted) {
        fprintf(f, ", \"note\": \"times %.6g, fitted to ", factor->value);
        for (const char *s = by; *s; s++)
            fputc(*s == '"' || *s == '\\' || (unsigned char)*s < 32 ? '?' : *s, f);
        fputc('"', f);
    }
    fputs(last ? "}\n" : "},\n", f);
}

static void write_events(const struct ww_power *p, const struct ww_power_factors *by, const char *source,
                         FILE *f) {
    fputs("  \"events\": [\n", f);
    for (size_t i = 0; i < p->event_count; i++) {
        const struct power_event *e = &p->event[i];
        const struct ww_power_factor *factor = &by->dynamic[e->to];
        fprintf(f, "    {\"component\": \"%s\", \"event\": \"%s\", \"value\": %.9g, \"unit\": \"%s\"%s",
                e->component, e->event, e->value * factor->value, unit_name[e->unit],
                e->by_lanes ? ", \"by_lanes\": true" : "");
        end_row(f, e->uncertainty, e->source, factor, source, i + 1 == p->event_count);
    }
    fputs("  ]", f);
}

static void write_static(const struct ww_power *p, const struct ww_power_factors *by, const char *source,
                         FILE *f) {
    fputs(",\n  \"static\": [\n", f);
    for (size_t i = 0; i < p->steady_count; i++) {
        const struct power_static *s = &p->steady[i];
        const struct ww_power_factor *factor = &by->steady[s->to];
        fprintf(f, "    {\"component\": \"%s\", \"per\": \"%s\", \"kind\": \"%s\", \"value\": %.9g",
                s->component, per_name[s->per], kind_name[s->kind], s->value * factor->value);
        if (s->scales != POWER_SCALES_NO)
            fprintf(f, ", \"scales\": \"%s\", \"at\": %.9g",
                    s->scales == POWER_SCALES_WARPS ? "warps" : "registers", s->at);
        if (s->area_mm2 > 0) fprintf(f, ", \"area_mm2\": %.9g", s->area_mm2);
        end_row(f, s->uncertainty, s->source, factor, source, i + 1 == p->steady_count);
    }
    fputs("  ]", f);
}

static void write_lanes(const struct ww_power *p, const struct ww_power_factors *by, const char *source,
                        FILE *f) {
    if (p->lane_count == 0) return;
    fputs(",\n  \"lane_model\": [\n", f);
    for (size_t i = 0; i < p->lane_count; i++) {
        const struct power_lane *l = &p->lane[i];
        const struct ww_power_factor *factor = &by->steady[l->to];
        fprintf(f, "    {\"component\": \"%s\", \"uses\": \"%s\", \"first_lane\": %.9g, \"add_lane\": %.9g",
                l->component, l->uses, l->first_lane * factor->value, l->add_lane * factor->value);
        end_row(f, l->uncertainty, l->source, factor, source, i + 1 == p->lane_count);
    }
    fputs("  ]", f);
}

static void write_structures(const struct ww_power *p, FILE *f) {
    static const struct ww_power_factor none = {.value = 1};
    if (p->structure_count == 0) return;
    fputs(",\n  \"structures\": [\n", f);
    for (size_t i = 0; i < p->structure_count; i++) {
        const struct power_structure *s = &p->structure[i];
        fprintf(f, "    {\"structure\": \"%s\", \"kind\": \"%s\", \"component\": \"%s\"",
                structure_name[s->name], array_name[s->kind], s->component);
        if (s->event[0]) fprintf(f, ", \"event\": \"%s\"", s->event);
        fprintf(f,
                ", \"leaks_in\": \"%s\", \"bytes\": %.9g, \"row_bytes\": %.9g, \"ways\": %.9g, \"banks\": %u, "
                "\"copies\": %u, \"node_nm\": %.9g",
                s->leaks_in, s->bytes, s->row_bytes, s->ways, s->banks, s->copies, s->node_nm);
        end_row(f, s->uncertainty, s->source, &none, "", i + 1 == p->structure_count);
    }
    fputs("  ]", f);
}

static void write_domains(const struct ww_power *p, FILE *f) {
    static const struct ww_power_factor none = {.value = 1};
    if (p->clock_count == 0) return;
    fputs(",\n  \"domains\": [\n", f);
    for (size_t i = 0; i < p->clock_count; i++) {
        const struct power_clock *c = &p->clock[i];
        fprintf(f,
                "    {\"domain\": \"%s\", \"mhz\": %.9g, \"slope\": %.9g, \"min_volts\": %.9g, \"max_volts\": "
                "%.9g, "
                "\"celsius\": %.9g, \"double_celsius\": %.9g, \"standby\": %.9g",
                domain_name[c->domain], c->mhz, c->slope, c->min_volts, c->max_volts, c->celsius,
                c->double_celsius, c->standby);
        end_row(f, c->uncertainty, c->source, &none, "", i + 1 == p->clock_count);
    }
    fputs("  ]", f);
}

void ww_power_write(const struct ww_power *power, const struct ww_power_factors *by, const char *source,
                    FILE *out) {
    fputs("{\n  \"description\": ", out);
    string(out, power->description ? power->description : "");
    fputs(",\n  \"sources\": {},\n", out);
    write_events(power, by, source, out);
    write_static(power, by, source, out);
    write_lanes(power, by, source, out);
    write_structures(power, out);
    write_domains(power, out);
    fputs("\n}\n", out);
}
