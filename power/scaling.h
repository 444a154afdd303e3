/* scaling.h: energy per access, leakage and area of memory structures as laws of their shape.
 *
 * The laws are least-squares fits to CACTI 7 (S. Li et al., ICCAD 2011; R. Balasubramonian et al., TACO 2017).
 * power/tables/scaling.json holds the points, the fitted coefficients and what the fit leaves over. A law is
 *
 *     ln y = c(node) + c1 ln S + c2 ln^2 S + c3 ln R + c4 (P - 1) + c5 ln S ln R + c6 ln A + c7 ln^2 A
 *
 * with S = bytes / 4096, R = bytes of a row / 32, P ports, A ways, and c(node) piecewise linear in the
 * logarithm of the node between the nodes of the points. Beyond the points' ranges of S, R and A a law
 * continues as a power law with its slope at the edge; ways beyond the range count as its edge.
 */
#ifndef WW_POWER_SCALING_H
#define WW_POWER_SCALING_H

#include "../estimator/base/arena.h"
#include "../estimator/config/param.h"

enum ww_structure_kind { WW_STRUCTURE_RAM, WW_STRUCTURE_CACHE, WW_STRUCTURE_CAM, WW_STRUCTURE_KINDS };
enum ww_structure_quantity {
    WW_STRUCTURE_READ,    /* pJ per access */
    WW_STRUCTURE_WRITE,   /* pJ per access */
    WW_STRUCTURE_LEAKAGE, /* mW at 360 K */
    WW_STRUCTURE_AREA,    /* mm2 */
    WW_STRUCTURE_QUANTITIES
};

struct ww_structure_shape {
    enum ww_structure_kind kind;
    double bytes;     /* of one bank */
    double row_bytes; /* read or written by one access; a cache's line */
    double ways;      /* caches; 1 otherwise */
    double ports;
    double node_nm;
};

#define WW_SCALING_NODES 5
#define WW_SCALING_SLOPES 7
#define WW_SCALING_TERMS (WW_SCALING_NODES + WW_SCALING_SLOPES)
extern const double ww_scaling_nodes[WW_SCALING_NODES]; /* nm, of the points */

/* A point that a law is fitted to. */
struct ww_scaling_point {
    uint32_t kind;
    double node_nm, bytes, row_bytes, ways, ports;
    double value[WW_STRUCTURE_QUANTITIES];
    const char *source;
};

struct ww_scaling_law {
    uint32_t kind, quantity;
    double c[WW_SCALING_TERMS]; /* by node, then by term */
    uint32_t points;
    double rms, worst; /* relative errors over the points */
    double min_bytes, max_bytes, min_row, max_row, max_ways;
    const char *source;
};

struct ww_scaling {
    struct ww_arena arena;
    struct ww_scaling_point *point;
    size_t point_count;
    struct ww_scaling_law *law;
    size_t law_count;
};

/* Loads a scaling table: "scaling", or a path that ends in .json. `laws`: every structure and quantity must
 * have its law, and the points are left out. Errors: WW_INPUT, WW_IO, WW_NOMEM. */
enum ww_code ww_scaling_load(const char *name, bool laws, struct ww_scaling **out, struct ww_error *error);
void ww_scaling_free(struct ww_scaling *scaling);
/* A law's value for a shape, in the quantity's unit. */
double ww_scaling_value(const struct ww_scaling *scaling, enum ww_structure_quantity quantity,
                        const struct ww_structure_shape *shape);

/* The law's terms for a shape, without limits of range. */
void ww_scaling_terms(const struct ww_structure_shape *shape, double term[WW_SCALING_TERMS]);
/* Fits a law to the points of its kind: logarithms, ordinary least squares; a term that the points do not vary
 * is left 0. Errors: WW_INPUT (no points), WW_NOMEM. */
enum ww_code ww_scaling_fit(const struct ww_scaling *scaling, enum ww_structure_kind kind,
                            enum ww_structure_quantity quantity, struct ww_scaling_law *law,
                            struct ww_error *error);
/* Fits all laws and appends the table's section "laws" as JSON text. Errors: as ww_scaling_fit. */
enum ww_code ww_scaling_print_laws(const struct ww_scaling *scaling, struct ww_buf *out,
                                   struct ww_error *error);

#endif
