/* Loading and checking a power table. */
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "power_table.h"
#include "../estimator/config/table.h"
#include <stdlib.h>
#include <string.h>

#define P_STR(s, f, key, def, help) WW_PARAM_STR(s, f, key, def, help)
#define P_F64(s, f, key, unit, lo, hi, def, help) WW_PARAM_F64(s, f, key, unit, lo, hi, def, help)

static const struct ww_param event_rows[] = {
    P_STR(power_event, component, "component", NULL, "a component's name"),
    P_STR(power_event, event, "event", NULL, "a counter's name, or reg_bank_read"),
    WW_PARAM_ENUM(power_event, unit, "unit", "pJ|nJ", WW_REQUIRED, "unit of value"),
    P_F64(power_event, value, "value", "", 0, 1e6, WW_REQUIRED, "energy of one event"),
    WW_PARAM_BOOL(power_event, by_lanes, "by_lanes", 0, "scaled by the mean share of active lanes"),
    P_F64(power_event, uncertainty, "uncertainty", "", 0, 10, WW_REQUIRED, "relative uncertainty"),
};
static const struct ww_param static_rows[] = {
    P_STR(power_static, component, "component", NULL, "a component's name"),
    WW_PARAM_ENUM(power_static, per, "per", "gpu|active_sm|idle_sm|stalled_sm|dma_engine", WW_REQUIRED,
                  "what draws it"),
    WW_PARAM_ENUM(power_static, kind, "kind", "fixed|leakage|clock|standby", 0, "what it follows"),
    P_F64(power_static, value, "value", "W", 0, 1e5, WW_REQUIRED, "power"),
    WW_PARAM_ENUM(power_static, scales, "scales", "no|registers|warps", 0, "with the size of an SM"),
    P_F64(power_static, at, "at", "", 0, 1e9, 0, "registers or warps of an SM for which value holds"),
    P_F64(power_static, area_mm2, "area_mm2", "mm2", 0, 1e4, 0, "area of a unit that not every GPU has"),
    P_F64(power_static, uncertainty, "uncertainty", "", 0, 10, WW_REQUIRED, "relative uncertainty"),
};
static const struct ww_param lane_rows[] = {
    P_STR(power_lane, component, "component", NULL, "a component's name"),
    P_STR(power_lane, uses, "uses", NULL, "units, joined by +, or \"default\""),
    P_F64(power_lane, first_lane, "first_lane", "W", 0, 1e5, WW_REQUIRED, "chip power with one active lane"),
    P_F64(power_lane, add_lane, "add_lane", "W", 0, 1e4, WW_REQUIRED, "added by each further lane"),
    P_F64(power_lane, uncertainty, "uncertainty", "", 0, 10, WW_REQUIRED, "relative uncertainty"),
};

static const struct ww_param structure_rows[] = {
    WW_PARAM_ENUM(power_structure, name, "structure",
                  "regfile|shared|l1|l2|texture|constant|icache|l1_mshr|l1_queue|l2_mshr", WW_REQUIRED,
                  "which structure"),
    WW_PARAM_ENUM(power_structure, kind, "kind", "ram|cache|cam", WW_REQUIRED, "kind of array"),
    P_STR(power_structure, component, "component", NULL, "component that pays for accesses"),
    P_STR(power_structure, event, "event", "", "counter of searches; empty: all events of the component"),
    P_STR(power_structure, leaks_in, "leaks_in", NULL, "component that its leakage stands in"),
    P_F64(power_structure, bytes, "bytes", "byte", 1, 1e9, WW_REQUIRED, "capacity of one copy"),
    P_F64(power_structure, row_bytes, "row_bytes", "byte", 1, 4096, WW_REQUIRED, "bytes of an access"),
    P_F64(power_structure, ways, "ways", "way", 1, 4096, 1, "associativity"),
    WW_PARAM_U32(power_structure, banks, "banks", "bank", 1, 4096, 1, "equal arrays in a copy"),
    WW_PARAM_U32(power_structure, copies, "copies", "", 0, 65536, 0, "copies in the chip; 0: one in each SM"),
    P_F64(power_structure, node_nm, "node_nm", "nm", 3, 250, WW_REQUIRED, "node"),
    P_F64(power_structure, uncertainty, "uncertainty", "", 0, 10, WW_REQUIRED, "relative uncertainty"),
};
static const struct ww_param clock_rows[] = {
    WW_PARAM_ENUM(power_clock, domain, "domain", "sm|l2|dram", WW_REQUIRED, "clock domain"),
    P_F64(power_clock, mhz, "mhz", "MHz", 10, 10000, WW_REQUIRED, "clock at nominal voltage"),
    P_F64(power_clock, slope, "slope", "", 0, 2, WW_REQUIRED, "relative voltage for relative frequency"),
    P_F64(power_clock, min_volts, "min_volts", "", 0.1, 1, 0.7, "lowest voltage over nominal"),
    P_F64(power_clock, max_volts, "max_volts", "", 1, 2, 1.3, "highest voltage over nominal"),
    P_F64(power_clock, celsius, "celsius", "C", -50, 200, 65, "temperature of the leakage rows"),
    P_F64(power_clock, double_celsius, "double_celsius", "C", 0, 1000, 0, "rise that doubles leakage; 0: none"),
    P_F64(power_clock, standby, "standby", "", 0, 2, 0, "relative standby power for relative frequency"),
    P_F64(power_clock, uncertainty, "uncertainty", "", 0, 10, WW_REQUIRED, "relative uncertainty"),
};

static enum ww_code find_component(const char *name, const char *where, enum ww_component *out,
                                   struct ww_error *error) {
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        if (strcmp(ww_component_name((enum ww_component)c), name) == 0) {
            *out = (enum ww_component)c;
            return WW_OK;
        }
    return ww_fail(error, WW_INPUT, where, "component \"%s\" does not exist", name);
}

static enum ww_code find_counter(const char *name, const char *where, enum ww_counter *out,
                                 struct ww_error *error) {
    for (int c = 0; c < WW_COUNTER_COUNT; c++)
        if (strcmp(ww_counter_name((enum ww_counter)c), name) == 0) {
            *out = (enum ww_counter)c;
            return WW_OK;
        }
    return ww_fail(error, WW_INPUT, where, "event \"%s\" is not a counter", name);
}

/* An event by its name. Registers that come out of a bank are those that were read less those that the operand
 * cache still held; sources that know no operand caches give the energy of any read. */
static enum ww_code find_event(const char *where, struct power_event *e, struct ww_error *error) {
    if (strcmp(e->event, "reg_bank_read") == 0) {
        e->counter = WW_C_REG_READ;
        e->less = WW_C_REG_REUSE;
        return WW_OK;
    }
    WW_TRY(find_counter(e->event, where, &e->counter, error));
    e->less = e->counter;
    return WW_OK;
}

static enum ww_code resolve_events(struct ww_power *p, struct ww_error *error) {
    for (size_t i = 0; i < p->event_count; i++) {
        struct power_event *e = &p->event[i];
        char where[64];
        snprintf(where, sizeof where, "$.events[%zu]", i);
        WW_TRY(find_component(e->component, where, &e->to, error));
        WW_TRY(find_event(where, e, error));
        e->joules = e->value * (e->unit == POWER_NJ ? 1e-9 : 1e-12);
    }
    return WW_OK;
}

static enum ww_code resolve_structures(struct ww_power *p, struct ww_error *error) {
    for (size_t i = 0; i < p->structure_count; i++) {
        struct power_structure *s = &p->structure[i];
        char where[64];
        snprintf(where, sizeof where, "$.structures[%zu]", i);
        WW_TRY(find_component(s->component, where, &s->to, error));
        WW_TRY(find_component(s->leaks_in, where, &s->from, error));
        if (s->event[0]) WW_TRY(find_counter(s->event, where, &s->counter, error));
    }
    return p->structure_count ? ww_scaling_load("scaling", true, &p->scaling, error) : WW_OK;
}

static enum ww_code check_clocks(const struct ww_power *p, struct ww_error *error) {
    bool seen[POWER_DOMAIN_COUNT] = {false};
    for (size_t i = 0; i < p->clock_count; i++) {
        char where[64];
        snprintf(where, sizeof where, "$.domains[%zu]", i);
        if (seen[p->clock[i].domain]) return ww_fail(error, WW_INPUT, where, "a domain stands there twice");
        seen[p->clock[i].domain] = true;
    }
    return WW_OK;
}

/* "int+fp+sfu" to bits. */
static enum ww_code parse_uses(const char *text, const char *where, uint32_t *mask, struct ww_error *error) {
    static const char *const unit[] = {"int", "fp", "dp", "sfu", "tensor", "tex"};
    *mask = 0;
    if (strcmp(text, "default") == 0) return WW_OK;
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, "+");
        uint32_t bit = 0;
        for (unsigned u = 0; u < sizeof unit / sizeof *unit; u++)
            if (strlen(unit[u]) == n && memcmp(unit[u], p, n) == 0) bit = 1u << u;
        if (!bit)
            return ww_fail(error, WW_INPUT, where,
                           "uses \"%s\": expected \"default\" or int, fp, dp, sfu, tensor, tex joined by +",
                           text);
        *mask |= bit;
        p += n;
        if (!*p) return WW_OK;
    }
}

static enum ww_code resolve_rest(struct ww_power *p, struct ww_error *error) {
    char where[64];
    bool has_default = p->lane_count == 0;
    for (size_t i = 0; i < p->steady_count; i++) {
        snprintf(where, sizeof where, "$.static[%zu]", i);
        WW_TRY(find_component(p->steady[i].component, where, &p->steady[i].to, error));
        if (p->steady[i].scales != POWER_SCALES_NO && !(p->steady[i].at > 0))
            return ww_fail(error, WW_INPUT, where, "what scales needs the size \"at\" for which it holds");
    }
    for (size_t i = 0; i < p->lane_count; i++) {
        snprintf(where, sizeof where, "$.lane_model[%zu]", i);
        WW_TRY(find_component(p->lane[i].component, where, &p->lane[i].to, error));
        WW_TRY(parse_uses(p->lane[i].uses, where, &p->lane[i].mask, error));
        has_default |= p->lane[i].mask == 0;
    }
    if (!has_default)
        return ww_fail(error, WW_INPUT, "$.lane_model", "one record must have \"uses\": \"default\"");
    return WW_OK;
}

static enum ww_code load(struct ww_power *p, const char *path, struct ww_error *error) {
#define SECTION(key, type, rows, required)                                                                     \
    {                                                                                                          \
        key, rows, sizeof rows / sizeof *rows, sizeof(struct type), offsetof(struct type, source), required,   \
            NULL, 0                                                                                            \
    }
    struct ww_table_section section[] = {
        SECTION("events", power_event, event_rows, true),
        SECTION("static", power_static, static_rows, true),
        SECTION("lane_model", power_lane, lane_rows, false),
        SECTION("structures", power_structure, structure_rows, false),
        SECTION("domains", power_clock, clock_rows, false),
    };
    WW_TRY(ww_table_load(path, section, 5, &p->arena, &p->description, error));
    p->event = section[0].records;
    p->event_count = section[0].count;
    p->steady = section[1].records;
    p->steady_count = section[1].count;
    p->lane = section[2].records;
    p->lane_count = section[2].count;
    p->structure = section[3].records;
    p->structure_count = section[3].count;
    p->clock = section[4].records;
    p->clock_count = section[4].count;
    if (resolve_events(p, error) != WW_OK || resolve_rest(p, error) != WW_OK ||
        check_clocks(p, error) != WW_OK || resolve_structures(p, error) != WW_OK) {
        ww_error_within(error, path);
        return WW_INPUT;
    }
    return WW_OK;
}

static bool is_path(const char *name) {
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

enum ww_code ww_power_path(const char *name, char *path, size_t size, struct ww_error *error) {
    if (!is_path(name)) return ww_find_data("power", name, path, size, error);
    if ((size_t)snprintf(path, size, "%s", name) < size) return WW_OK;
    return ww_fail(error, WW_USAGE, NULL, "the power table's path is too long");
}

enum ww_code ww_power_load(const char *name, bool required, struct ww_power **power, struct ww_error *error) {
    char path[4096];
    *power = NULL;
    enum ww_code found = ww_power_path(name, path, sizeof path, error);
    if (found == WW_INPUT && !required) return WW_OK;
    WW_TRY(found);
    struct ww_power *p = calloc(1, sizeof *p);
    if (!p) return ww_fail_nomem(error, path);
    ww_arena_init(&p->arena, (size_t)64 << 20);
    p->name = ww_arena_strdup(&p->arena, name);
    enum ww_code code = p->name ? load(p, path, error) : ww_fail_nomem(error, path);
    if (code != WW_OK) {
        ww_power_free(p);
        return code;
    }
    *power = p;
    return WW_OK;
}

void ww_power_free(struct ww_power *power) {
    if (!power) return;
    ww_scaling_free(power->scaling);
    ww_arena_free(&power->arena);
    free(power);
}

const char *ww_power_name(const struct ww_power *power) {
    return power->name;
}
