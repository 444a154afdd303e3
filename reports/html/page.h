/* page.h: what the writers of the HTML report share: text, tables and plots of one page.
 *
 * Names come from databases, which are untrusted: whatever is not a constant of the program goes through
 * ww_html_text (or a table's cells or ww_plot_text), which escapes it. Write errors stay in the stream. Nothing
 * here prints or exits.
 */
#ifndef WW_REPORTS_HTML_PAGE_H
#define WW_REPORTS_HTML_PAGE_H

#include "../../estimator/api/report.h"
#include "../../estimator/api/sweep.h"
#include "../../estimator/result/names.h"
#include "../../estimator/result/result.h"
#include "../../estimator/result/explored.h"
#include "../../estimator/base/buf.h"
#include "../figures.h"
#include "../text.h"

struct ww_page {
    FILE *out;
    unsigned figure;     /* number of the last one; part of ids */
    unsigned points;     /* most points in time of a chart, so that the page stays small */
    const char *sources; /* folder of source files, or NULL */
    bool (*find_source)(const struct ww_trace *trace, const char *file, struct ww_trace_source *source);
    bool failed; /* out of memory */
};

/* ---- page.c ---- */

/* From the doctype into the header, which is left open: a heading of the page comes next. */
void ww_page_head(struct ww_page *p, const char *title);
/* From the end of <main> on. */
void ww_page_foot(struct ww_page *p);

/* ---- write.c ---- */

/* Constants of the program and numbers, as HTML. */
__attribute__((format(printf, 2, 3))) void ww_html(struct ww_page *p, const char *fmt, ...);
/* Any text, escaped; what steers a terminal or the direction of writing, and bytes that are no UTF-8, become
 * U+FFFD; of more than 160 bytes the middle is left out. */
void ww_html_text(struct ww_page *p, const char *s);

/* A table that a script of the page makes sortable, in a frame that scrolls. */
struct ww_tab {
    struct ww_page *page;
    const char *const *head; /* ended by NULL */
    unsigned columns, column;
    bool any;      /* there is a row */
    uint32_t left; /* bits of the columns that hold text */
};
void ww_tab_begin(struct ww_tab *t, struct ww_page *p, const char *caption, const char *const *head,
                  uint32_t left);
void ww_tab_text(struct ww_tab *t, const char *s);
/* A kernel's name for people, the whole one in a tooltip. */
void ww_tab_kernel(struct ww_tab *t, const struct ww_result *r, const char *kernel);
/* The name of a file, its path in a tooltip. */
void ww_tab_path(struct ww_tab *t, const char *path);
/* A line of a program, blanks and tabs as they are. */
void ww_tab_code(struct ww_tab *t, const char *s);
/* Lines of code, each a line of the cell; none is shortened. */
void ww_tab_lines(struct ww_tab *t, const char *s);
/* The same of a list of settings, which is not shortened. */
void ww_tab_long(struct ww_tab *t, const char *s);
/* A number, sorted by v, shown as the text; NAN: not known. */
void ww_tab_value(struct ww_tab *t, double v, const char *shown);
/* The same, shown with an SI prefix; < 0 or NAN: not known. */
void ww_tab_si(struct ww_tab *t, double v, const char *unit);
void ww_tab_percent(struct ww_tab *t, double part);
/* A part of what may not be passed: marked above 1; < 0 or NAN: not known. */
void ww_tab_part_of(struct ww_tab *t, double part);
/* A difference, with its sign. */
void ww_tab_change(struct ww_tab *t, double part);
void ww_tab_count(struct ww_tab *t, uint64_t v);
/* Two cells: sectors of each warp instruction that asks for some, and how few would do. */
void ww_tab_per_request(struct ww_tab *t, const uint64_t counter[WW_INST_COUNTER_COUNT], uint64_t requests,
                        bool ideal_known);
void ww_tab_end(struct ww_tab *t);

/* ---- figure.c ---- */

/* One of what a chart stacks; colours are numbers of report.css (--c1 ...). */
struct ww_series {
    const char *name;
    unsigned color;
};
void ww_figure_begin(struct ww_page *p, const char *title);
void ww_figure_legend(struct ww_page *p, const struct ww_series *series, size_t count);
/* Where the rows of the figure's table lie in its plot, for tooltips: one below another, or along time from t0
 * to t1; parts of its height or width. */
void ww_figure_rows(struct ww_page *p, bool down, double from, double to, double t0, double t1);
/* Between these, the table of a figure's data. */
void ww_figure_data(struct ww_page *p);
void ww_figure_end(struct ww_page *p);

/* ---- plot.c ---- */

enum { WW_PLOT_TICS = 32 };

/* An SVG that is being written, and its field: the rectangle between the axes. */
struct ww_plot {
    struct ww_page *page;
    double left, right, top, bottom; /* of the field, in the units of the view box */
    double x0, x1, y0, y1;           /* values at its borders; of a logarithmic axis both > 0 */
    bool log_x, log_y;
};
/* Begins a drawing of this many units, which the page scales to its own width. The field is all of it. */
void ww_plot_begin(struct ww_plot *plot, struct ww_page *p, double width, double height, const char *title,
                   const char *about);
void ww_plot_field(struct ww_plot *plot, double left, double right, double top, double bottom);
/* Where a value lies; at most one width or height of the field outside of it. */
double ww_plot_x(const struct ww_plot *plot, double v);
double ww_plot_y(const struct ww_plot *plot, double v);
/* Grid, numbers and label of an axis, of at most about `most` numbers. The horizontal one takes 44 units below
 * the field; the vertical one's label stands above it and takes 26. */
void ww_plot_axis_x(struct ww_plot *plot, const char *label, unsigned most);
void ww_plot_axis_y(struct ww_plot *plot, const char *label, unsigned most);
/* A round step, 1, 2 or 5 times a power of ten, of which at most about `most` fit into the range. */
double ww_plot_step(double range, unsigned most);
/* Escaped text of at most `most` units of width, else its beginning and "..". anchor: "start", "middle", "end".
 */
void ww_plot_text(struct ww_plot *plot, double x, double y, const char *anchor, double size, double most,
                  const char *s);
/* About the width of a text in a font of this size, rather too much than too little. */
double ww_plot_width(const char *s, double size);
void ww_plot_end(struct ww_plot *plot);

/* ---- chart.c: stacked bars and stacked areas, with legend and data ---- */

struct ww_chart {
    const char *title, *about;
    const char *row_head; /* heading of the rows in the table */
    const char *x_label, *y_label;
    const char *unit;         /* of the values, for the table; "%": shares of 1 in the table */
    const char *const *label; /* bars: a name for each row */
    const double *at;         /* areas: rows + 1 borders in time, in seconds */
    size_t rows, series;
    const struct ww_series *one;
    const double *value;   /* rows x series */
    const double *lo, *hi; /* bars: an interval for each row's sum, or NULL */
};
void ww_chart_bars(struct ww_page *p, const struct ww_chart *c);
void ww_chart_areas(struct ww_page *p, const struct ww_chart *c);
/* The factor and unit that numbers up to `most` are shown in ("us"). */
struct ww_scale {
    double factor;
    char unit[16];
};
struct ww_scale ww_scale_of(double most, const char *unit);

/* ---- groups.c: what charts stack ---- */

enum { WW_STATE_GROUPS = 10, WW_SLOT_GROUPS = 9 };
extern const struct ww_series ww_state_groups[WW_STATE_GROUPS];
extern const struct ww_series ww_slot_groups[WW_SLOT_GROUPS];
extern const struct ww_series ww_power_groups[WW_ENERGY_GROUPS];
unsigned ww_group_of_state(enum ww_warp_state s);
unsigned ww_group_of_slot(enum ww_slot s);
/* A sentence on what bounds the run. `out` holds 240 bytes. */
void ww_bound_text(const struct ww_launch_result *sum, char out[240]);

/* ---- sections of the page ---- */

void ww_html_run(struct ww_page *p, const struct ww_result *r, int64_t id, const struct ww_trace *trace);
/* Warp states over time, or watts and clocks. */
void ww_html_time(struct ww_page *p, const struct ww_result *r, bool watts);
void ww_html_memory(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *sum);
/* tracks.c: launches by stream, copies by engine, CTAs by SM, over time. */
void ww_html_tracks(struct ww_page *p, const struct ww_result *r);
/* A place where report.js draws the rows of the next table as its reader chooses: two columns against each
 * other, or all as parallel coordinates, coloured by another one. `first`: columns that it begins with, ended
 * by NULL. */
void ww_html_explorer(struct ww_page *p, const char *const *first);
/* launch.c: how near launches come to limits; roofline and memory chart of the one that a reader picks. */
void ww_html_light(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *const *order);
/* explore.c: instructions next to source lines. */
void ww_html_instructions(struct ww_page *p, const struct ww_result *r);
/* listing.c: source files next to machine code, with counters by line, if there are texts. trace: the run's, or
 * NULL. */
void ww_html_listing(struct ww_page *p, const struct ww_result *r, const struct ww_trace *trace);
void ww_html_energy(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *sum);
void ww_html_compare(struct ww_page *p, const struct ww_report_set *set);
void ww_html_sweep(struct ww_page *p, const struct ww_explored *e);
/* sweep_parts.c: time and energy of points by workload, the first of them; candidates with their bounds. */
void ww_html_sweep_parts(struct ww_page *p, const struct ww_explored *e,
                         const struct ww_explored_point *const *point, size_t count);
void ww_html_candidates(struct ww_page *p, const struct ww_explored *e);

/* ---- variants.c, variants_plot.c: variants of a program ---- */

/* Variants in the order of their times or estimates; those without one are left out. */
struct ww_ranked {
    const struct ww_explored *sweep;
    const struct ww_explored_point *best;   /* the fastest one that was replayed */
    const struct ww_explored_point **point; /* the fastest first */
    size_t count;
    size_t *measured; /* [point]: its place among the measured ones, from 1; 0: not measured */
    size_t measured_count;
};
void ww_html_variants(struct ww_page *p, const struct ww_explored *e, const struct ww_sweep_ranking *ranking);
void ww_variants_parallel(struct ww_page *p, const struct ww_ranked *r);
void ww_variants_ranks(struct ww_page *p, const struct ww_ranked *r);
/* Values of a parameter, in order; *count of them. The caller frees it; NULL: no memory. */
const char **ww_variants_levels(const struct ww_explored *e, size_t key, size_t *count);

#endif
