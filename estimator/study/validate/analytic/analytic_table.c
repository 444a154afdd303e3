/* The table of replays that the analytical model is fitted to. */
#include "../../../api/gpu.h"
#include "../../../api/trace.h"
#include "analytic_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more of `size` bytes; NULL: no memory. */
static void *grow(void *rows, size_t count, size_t *room, size_t size) {
    if (count < *room) return rows;
    size_t wanted = *room ? 2 * *room : 64;
    void *more = realloc(rows, wanted * size);
    if (more) *room = wanted;
    return more;
}

void ww_analytic_table_free(struct analytic_table *t) {
    for (size_t i = 0; i < t->traces; i++) {
        ww_model_free(&t->trace[i].model);
        ww_model_profile_free(&t->trace[i].profile);
        free(t->trace[i].path);
    }
    for (size_t i = 0; i < t->machines; i++) {
        ww_gpu_free(t->machine[i].gpu);
        ww_power_free(t->machine[i].power);
        free(t->machine[i].name);
        free(t->machine[i].set);
    }
    free(t->trace);
    free(t->machine);
    free(t->cases.row);
    *t = (struct analytic_table){0};
}

static enum ww_code profile_trace(const struct analytic_table *t, const char *path,
                                  struct ww_model_profile *profile, struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(path, &trace, error));
    enum ww_code code = ww_model_profile_of(trace, path, t->progress, t->context, profile, NULL, error);
    ww_trace_close(trace);
    return code;
}

static enum ww_code find_trace(struct analytic_table *t, const char *path, size_t *index,
                               struct ww_error *error) {
    for (*index = 0; *index < t->traces; ++*index)
        if (strcmp(t->trace[*index].path, path) == 0) return WW_OK;
    struct analytic_trace *more = grow(t->trace, t->traces, &t->room_traces, sizeof *more), own = {0};
    if (!more) return ww_fail_nomem(error, "traces");
    t->trace = more;
    WW_TRY(profile_trace(t, path, &own.profile, error));
    own.path = strdup(path);
    enum ww_code code =
        own.path ? ww_model_new(&own.profile, NULL, &own.model, error) : ww_fail_nomem(error, path);
    if (code != WW_OK) {
        ww_model_profile_free(&own.profile);
        free(own.path);
        return code;
    }
    t->trace[t->traces++] = own;
    return WW_OK;
}

/* Overrides "a=1;b=2" as a list; the text is cut. */
static size_t cut(char *set, const char *list[16]) {
    size_t n = 0;
    for (char *next = set; next && *next && n < 16;) {
        list[n++] = next;
        next = strchr(next, ';');
        if (next) *next++ = 0;
    }
    return n;
}

static enum ww_code load_machine(struct analytic_machine *m, struct ww_error *error) {
    const char *list[16];
    char *copy = strdup(m->set);
    if (!copy) return ww_fail_nomem(error, "GPU");
    enum ww_code code = ww_gpu_load(m->name, list, cut(copy, list), &m->gpu, error);
    free(copy);
    WW_TRY(code);
    const char *table = m->gpu->spec.power_table[0] ? m->gpu->spec.power_table : ww_gpu_name(m->gpu);
    return ww_power_load(table, false, &m->power, error);
}

enum ww_code ww_analytic_machine(struct analytic_table *t, const char *gpu, const char *set, size_t *index,
                                 struct ww_error *error) {
    for (*index = 0; *index < t->machines; ++*index)
        if (strcmp(t->machine[*index].name, gpu) == 0 && strcmp(t->machine[*index].set, set) == 0) return WW_OK;
    struct analytic_machine *more = grow(t->machine, t->machines, &t->room_machines, sizeof *more);
    if (!more) return ww_fail_nomem(error, "GPUs");
    t->machine = more;
    struct analytic_machine *m = &t->machine[t->machines++];
    *m = (struct analytic_machine){.name = strdup(gpu), .set = strdup(set)};
    return m->name && m->set ? load_machine(m, error) : ww_fail_nomem(error, "GPU");
}

/* Its number, in the order of first mention. */
static unsigned number_of(const struct analytic_cases *cases, const char *application) {
    for (size_t i = 0; i < cases->count; i++)
        if (strcmp(cases->row[i].application, application) == 0) return cases->row[i].number;
    return cases->applications;
}

enum ww_code ww_analytic_add(struct analytic_table *t, const char *application, const char *path,
                             const char *gpu, const char *set, double cycles, double energy,
                             struct ww_error *error) {
    struct analytic_case c = {.cycles = cycles, .energy = energy};
    snprintf(c.application, sizeof c.application, "%s", application);
    snprintf(c.gpu, sizeof c.gpu, "%s", gpu);
    c.number = number_of(&t->cases, c.application);
    WW_TRY(find_trace(t, path, &c.trace, error));
    WW_TRY(ww_analytic_machine(t, gpu, set, &c.machine, error));
    struct analytic_case *more = grow(t->cases.row, t->cases.count, &t->room, sizeof *more);
    if (!more) return ww_fail_nomem(error, "cases");
    t->cases.row = more;
    t->cases.row[t->cases.count++] = c;
    if (c.number == t->cases.applications) t->cases.applications++;
    return WW_OK;
}

static int by_number(const void *a, const void *b) {
    const struct analytic_case *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->cycles < y->cycles ? -1 : x->cycles > y->cycles;
}

void ww_analytic_table_bind(struct analytic_table *t) {
    for (size_t i = 0; i < t->cases.count; i++) {
        struct analytic_case *c = &t->cases.row[i];
        c->model = &t->trace[c->trace].model;
        c->spec = &t->machine[c->machine].gpu->spec;
        c->power = isfinite(c->energy) ? t->machine[c->machine].power : NULL;
    }
    if (t->cases.count) qsort(t->cases.row, t->cases.count, sizeof *t->cases.row, by_number);
}
