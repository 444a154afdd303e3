/* analytic_int.h: comparing the analytical model with full replays: what `validate analytic` and `calibrate
 * analytic` share. */
#ifndef WW_VALIDATE_ANALYTIC_INT_H
#define WW_VALIDATE_ANALYTIC_INT_H

#include "../../../api/gpu.h"
#include "../../../api/validate.h"
#include "../../../../power/power.h"
#include "../../../fast/model_error.h"
#include "../../../fast/profile_file.h"
#include "../rows/validate.h"

/* A trace on a GPU: what a full replay gave, and what the model gives. */
struct analytic_case {
    char application[48], gpu[64];
    unsigned number; /* of the application: equal texts have equal numbers, from 0 */
    size_t trace, machine;
    const struct ww_model *model;
    const struct ww_gpu_spec *spec;
    const struct ww_power *power; /* NULL: energy is not known */
    double cycles, energy;        /* of the full replay */
    double own_cycles, own_energy;
};
struct analytic_cases {
    struct analytic_case *row;
    size_t count;
    unsigned applications;
};

/* Cases with all that they refer to: each trace's profile and each machine once. All zero: empty. Free with
 * ww_analytic_table_free. */
struct analytic_trace {
    char *path;
    struct ww_model_profile profile;
    struct ww_model model;
};
struct analytic_machine {
    char *name, *set; /* set: "key=value" joined by ";" */
    struct ww_gpu *gpu;
    struct ww_power *power;
};
struct analytic_table {
    struct analytic_trace *trace;
    struct analytic_machine *machine;
    size_t traces, machines, room_traces, room_machines, room;
    struct analytic_cases cases;
    ww_progress_fn progress; /* of profiling; may be NULL */
    void *context;
};
void ww_analytic_table_free(struct analytic_table *t);
/* The machine, loaded once; the pointer is good until the next one is added. Errors: those of ww_gpu_load and
 * ww_power_load. */
enum ww_code ww_analytic_machine(struct analytic_table *t, const char *gpu, const char *set, size_t *index,
                                 struct ww_error *error);
/* Adds a full replay's cycles and energy (NAN: not known) of the trace on the machine. Cases of an application
 * are added one after another. Errors: those of profiling, WW_NOMEM. */
enum ww_code ww_analytic_add(struct analytic_table *t, const char *application, const char *path,
                             const char *gpu, const char *set, double cycles, double energy,
                             struct ww_error *error);
/* Fills in the pointers of the cases, when all have been added. */
void ww_analytic_table_bind(struct analytic_table *t);

/* The model's cycles and energy of a case. Errors: WW_UNSUPPORTED (a CTA fits no SM). */
enum ww_code ww_analytic_estimate(const struct analytic_case *c, const struct ww_model_constants *constants,
                                  double *cycles, double *energy, struct ww_error *error);
/* Fits the constants to the cycles of all cases but those of one application (UINT32_MAX: to all), beginning
 * with *constants: least mean of |log(model / full)| over applications. Deterministic. */
void ww_analytic_fit(const struct analytic_cases *cases, unsigned without,
                     struct ww_model_constants *constants);
/* Estimates each application by constants fitted without it: fills own_cycles and own_energy. Errors: WW_FAIL
 * (stopped), WW_UNSUPPORTED. */
enum ww_code ww_analytic_leave_out(struct analytic_cases *cases, const struct ww_validate_options *options,
                                   struct ww_error *error);

/* Errors over cases, from own_*: means of |model / full - 1|, of cycles and of average power; the share of the
 * cases that intervals made of the other applications' residuals cover. gpu NULL: all. */
struct analytic_summary {
    size_t cases;
    double cycles, power, bias; /* bias: mean of model / full - 1, cycles */
    double covered_cycles, covered_energy;
};
/* Errors: WW_NOMEM. */
enum ww_code ww_analytic_sum_up(const struct analytic_cases *cases, const char *gpu, double confidence,
                                struct analytic_summary *out, struct ww_error *error);
/* Spearman's rank correlation of two lists. Errors: WW_NOMEM. */
enum ww_code ww_analytic_rank(const double *a, const double *b, size_t n, double *rho, struct ww_error *error);
/* How many of the `best` least of `truth` are among the `most` least of `guess`. Errors: WW_NOMEM. */
enum ww_code ww_analytic_found(const double *truth, const double *guess, size_t n, size_t best, size_t most,
                               size_t *found, struct ww_error *error);
/* The least `truth` among the `most` least of `guess`, over the least of all, less 1: what it costs to replay
 * no more than these. Errors: WW_NOMEM. */
enum ww_code ww_analytic_lost(const double *truth, const double *guess, size_t n, size_t most, double *lost,
                              struct ww_error *error);

#endif
