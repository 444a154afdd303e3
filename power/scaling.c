/* scaling.c: loads the scaling table and evaluates its laws. */
#include "scaling.h"
#include "../estimator/config/gpu.h"
#include "../estimator/config/table.h"
#include <stdlib.h>
#include <string.h>

const double ww_scaling_nodes[WW_SCALING_NODES] = {90, 65, 45, 32, 22};

#define KINDS "ram|cache|cam"
#define POINT(f, key, unit, lo, hi, help)                                                                      \
    WW_PARAM_F64(ww_scaling_point, f, key, unit, lo, hi, WW_REQUIRED, help)
static const struct ww_param point_rows[] = {
    WW_PARAM_ENUM(ww_scaling_point, kind, "kind", KINDS, WW_REQUIRED, "kind of structure"),
    POINT(node_nm, "node_nm", "nm", 1, 250, "technology node"),
    POINT(bytes, "bytes", "byte", 1, 1e9, "capacity"),
    POINT(row_bytes, "row_bytes", "byte", 1, 4096, "bytes of one access"),
    POINT(ways, "ways", "way", 0, 4096, "associativity; 0 for a CAM"),
    POINT(ports, "ports", "port", 1, 64, "ports"),
    POINT(value[WW_STRUCTURE_READ], "read_pj", "pJ", 1e-6, 1e9, "energy of a read"),
    POINT(value[WW_STRUCTURE_WRITE], "write_pj", "pJ", 1e-6, 1e9, "energy of a write"),
    POINT(value[WW_STRUCTURE_LEAKAGE], "leakage_mw", "mW", 1e-9, 1e9, "leakage"),
    POINT(value[WW_STRUCTURE_AREA], "area_mm2", "mm2", 1e-9, 1e9, "area"),
};

#define LAW(f, key, unit, lo, hi, help) WW_PARAM_F64(ww_scaling_law, f, key, unit, lo, hi, WW_REQUIRED, help)
#define TERM(i, key, help) LAW(c[i], key, "", -1e3, 1e3, help)
static const struct ww_param law_rows[] = {
    WW_PARAM_ENUM(ww_scaling_law, kind, "kind", KINDS, WW_REQUIRED, "kind of structure"),
    WW_PARAM_ENUM(ww_scaling_law, quantity, "quantity", "read_pj|write_pj|leakage_mw|area_mm2", WW_REQUIRED,
                  "what it gives"),
    TERM(0, "node_90", "constant at 90 nm"),
    TERM(1, "node_65", "constant at 65 nm"),
    TERM(2, "node_45", "constant at 45 nm"),
    TERM(3, "node_32", "constant at 32 nm"),
    TERM(4, "node_22", "constant at 22 nm"),
    TERM(5, "bytes", "of ln S"),
    TERM(6, "bytes2", "of ln S squared"),
    TERM(7, "row", "of ln R"),
    TERM(8, "ports", "of ports beyond the first"),
    TERM(9, "bytes_row", "of ln S ln R"),
    TERM(10, "ways", "of ln A"),
    TERM(11, "ways2", "of ln A squared"),
    WW_PARAM_U32(ww_scaling_law, points, "points", "", 1, 1000000, WW_REQUIRED, "points of the fit"),
    LAW(rms, "rms", "", 0, 1e3, "root mean square of the relative errors"),
    LAW(worst, "worst", "", 0, 1e3, "largest relative error"),
    LAW(min_bytes, "min_bytes", "byte", 1, 1e9, "smallest capacity of the points"),
    LAW(max_bytes, "max_bytes", "byte", 1, 1e9, "largest capacity"),
    LAW(min_row, "min_row", "byte", 1, 4096, "shortest row"),
    LAW(max_row, "max_row", "byte", 1, 4096, "longest row"),
    LAW(max_ways, "max_ways", "way", 1, 4096, "highest associativity"),
};

/* Weight of each node's constant: linear between two neighbours in ln(node), extrapolated at the ends. */
static void node_terms(double node_nm, double *term) {
    int i = 0;
    while (i < WW_SCALING_NODES - 2 && node_nm < ww_scaling_nodes[i + 1]) i++;
    double at = log(ww_scaling_nodes[i] / node_nm) / log(ww_scaling_nodes[i] / ww_scaling_nodes[i + 1]);
    for (int n = 0; n < WW_SCALING_NODES; n++) term[n] = 0;
    term[i] = 1 - at;
    term[i + 1] = at;
}

void ww_scaling_terms(const struct ww_structure_shape *shape, double term[WW_SCALING_TERMS]) {
    double s = log(shape->bytes / 4096), r = log(shape->row_bytes / 32);
    double a = shape->ways > 1 ? log(shape->ways) : 0;
    double *t = term + WW_SCALING_NODES;
    node_terms(shape->node_nm, term);
    t[0] = s;
    t[1] = s * s;
    t[2] = r;
    t[3] = shape->ports - 1;
    t[4] = s * r;
    t[5] = a;
    t[6] = a * a;
}

static const struct ww_scaling_law *find_law(const struct ww_scaling *scaling, uint32_t kind,
                                             uint32_t quantity) {
    for (size_t i = 0; i < scaling->law_count; i++)
        if (scaling->law[i].kind == kind && scaling->law[i].quantity == quantity) return &scaling->law[i];
    return NULL;
}

static double limit(double v, double lo, double hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

double ww_scaling_value(const struct ww_scaling *scaling, enum ww_structure_quantity quantity,
                        const struct ww_structure_shape *shape) {
    const struct ww_scaling_law *law = find_law(scaling, shape->kind, quantity);
    struct ww_structure_shape in = *shape;
    double term[WW_SCALING_TERMS], sum = 0;
    in.bytes = limit(shape->bytes, law->min_bytes, law->max_bytes);
    in.row_bytes = limit(shape->row_bytes, law->min_row, law->max_row);
    in.ways = limit(shape->ways, 1, law->max_ways);
    ww_scaling_terms(&in, term);
    for (int i = 0; i < WW_SCALING_TERMS; i++) sum += law->c[i] * term[i];
    const double *c = law->c + WW_SCALING_NODES, *t = term + WW_SCALING_NODES;
    double slope_bytes = c[0] + 2 * c[1] * t[0] + c[4] * t[2], slope_row = c[2] + c[4] * t[0];
    return exp(sum + slope_bytes * log(shape->bytes / in.bytes) +
               slope_row * log(shape->row_bytes / in.row_bytes));
}

static enum ww_code need_laws(const struct ww_scaling *scaling, struct ww_error *error) {
    for (uint32_t k = 0; k < WW_STRUCTURE_KINDS; k++)
        for (uint32_t q = 0; q < WW_STRUCTURE_QUANTITIES; q++)
            if (!find_law(scaling, k, q))
                return ww_fail(error, WW_INPUT, "$.laws", "no law of kind %u and quantity %u", k, q);
    return WW_OK;
}

static enum ww_code load(struct ww_scaling *s, const char *path, bool laws, struct ww_error *error) {
    struct ww_table_section section[] = {
        {"points", point_rows, sizeof point_rows / sizeof *point_rows,
         laws ? 0 : sizeof(struct ww_scaling_point), offsetof(struct ww_scaling_point, source), true, NULL, 0},
        {"laws", law_rows, sizeof law_rows / sizeof *law_rows, sizeof(struct ww_scaling_law),
         offsetof(struct ww_scaling_law, source), laws, NULL, 0},
    };
    const char *description;
    WW_TRY(ww_table_load(path, section, 2, &s->arena, &description, error));
    s->point = section[0].records;
    s->point_count = section[0].count;
    s->law = section[1].records;
    s->law_count = section[1].count;
    return laws ? need_laws(s, error) : WW_OK;
}

enum ww_code ww_scaling_load(const char *name, bool laws, struct ww_scaling **out, struct ww_error *error) {
    char path[4096];
    size_t n = strlen(name);
    *out = NULL;
    if (n <= 5 || strcmp(name + n - 5, ".json") != 0)
        WW_TRY(ww_find_data("power", name, path, sizeof path, error));
    else if ((size_t)snprintf(path, sizeof path, "%s", name) >= sizeof path)
        return ww_fail(error, WW_USAGE, NULL, "the scaling table's path is too long");
    struct ww_scaling *s = calloc(1, sizeof *s);
    if (!s) return ww_fail_nomem(error, path);
    ww_arena_init(&s->arena, (size_t)64 << 20);
    enum ww_code code = load(s, path, laws, error);
    if (code != WW_OK) {
        ww_scaling_free(s);
        return code;
    }
    *out = s;
    return WW_OK;
}

void ww_scaling_free(struct ww_scaling *scaling) {
    if (!scaling) return;
    ww_arena_free(&scaling->arena);
    free(scaling);
}
