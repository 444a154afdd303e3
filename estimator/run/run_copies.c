/* run_copies.c: when a program's copies and launches run, if copies take the time of the link to the host.
 *
 * Launches were replayed as if copies took no time. Here they and the copies are operations of one program:
 * each begins when the one before it in its stream and those that it waits for have ended. A copy waits for its
 * engine, which serves copies in the order in which they became ready, and then takes its time. A launch has an
 * amount of work, its time alone. Launches that run at the same time and are too large to fit the GPU together
 * slow each other down in proportion.
 *
 * How large a launch is: the part of the GPU's places for its CTAs that they fill, at most all. What a launch
 * takes alone follows from its replay, where it ran together with others, whose sizes and times are known. So
 * without copies launches end when the replay says. */
#include "../../traces/host_copy.h"
#include "../config/gpu.h"
#include "../core/launch/ctalog.h"
#include "run_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum { TO_DEVICE, FROM_DEVICE, WITHIN, ENGINES }; /* the last one is what copies within the device take */

/* A launch, a copy, or what lies between two groups of launches of the replay, which never overlap. */
struct operation {
    uint32_t launch, copy; /* in the result, or NONE */
    uint32_t stream;
    uint32_t waits;      /* operations that it waits for and that have not ended */
    uint32_t engine;     /* of a copy */
    uint32_t behind;     /* of a copy: the next one of its engine + 1, or 0 */
    uint32_t first_next; /* in `edge`: those that wait for it */
    uint32_t next_count;
    double size, left; /* of a launch: part of the GPU; time alone that is left, ps. Of a copy: its time */
    double start;      /* ps */
};

struct engine {
    uint32_t first, last; /* copies that are ready, in this order, + 1; the first one runs if it is busy */
    bool busy;
};

struct edge {
    uint32_t from, to;
};

struct schedule {
    struct run *r;
    struct ww_arena *arena;
    const struct ww_host_order *order;
    struct operation *op;
    uint32_t count;
    uint32_t *of_launch, *of_copy; /* operations */
    struct edge *edge;
    size_t edge_count, edge_room;
    uint32_t *running; /* launches */
    uint32_t running_count;
    uint32_t *done; /* operations that have ended */
    uint32_t done_count, told;
    struct engine engine[ENGINES];
    double now;
};

/* ---- operations ---- */

/* The rate of a copy's bytes, in bytes per picosecond. */
static double rate_of(const struct ww_gpu_spec *gpu, const struct ww_host_copy *c) {
    double dram = gpu->dram_channels * (gpu->dram_bus_bits / 8.0) * gpu->dram_data_rate * gpu->clock_dram_mhz;
    if (c->way == WW_COPY_WITHIN) return dram * 1e-6 / 2; /* each is read and written */
    if (c->way == WW_COPY_FILL) return dram * 1e-6;
    double link = gpu->host_link_gbps;
    if (c->pageable && gpu->host_pageable_gbps < link) link = gpu->host_pageable_gbps;
    return link * 1e-3;
}

static uint32_t engine_of(const struct ww_gpu_spec *gpu, const struct ww_host_copy *c) {
    if (c->way == WW_COPY_WITHIN || c->way == WW_COPY_FILL) return WITHIN;
    return c->way == WW_COPY_FROM_DEVICE && gpu->host_copy_engines > 1 ? FROM_DEVICE : TO_DEVICE;
}

static void add_copy(struct schedule *s, uint32_t k) {
    const struct ww_gpu_spec *gpu = &s->r->options->gpu->spec;
    const struct ww_host_copy *c = &s->order->copy[k];
    s->of_copy[k] = s->count;
    s->op[s->count++] =
        (struct operation){.launch = NONE,
                           .copy = k,
                           .stream = c->stream,
                           .engine = engine_of(gpu, c),
                           .left = gpu->host_copy_us * 1e6 + (double)c->bytes / rate_of(gpu, c)};
}

/* The part of the GPU that a launch can fill. */
static double size_of(const struct schedule *s, const struct ww_launch_result *l) {
    double places = (double)l->ctas_per_sm * s->r->options->gpu->spec.sm_count;
    double ctas = (double)l->grid[0] * l->grid[1] * l->grid[2];
    return places > 0 && ctas < places ? ctas / places : 1;
}

static void add_launch(struct schedule *s, uint32_t k) {
    const struct ww_launch_result *l = &s->r->result->launch[k];
    const struct ww_launch *in;
    ww_trace_launch(s->r->trace, l->index, &in, NULL); /* which was replayed */
    s->of_launch[k] = s->count;
    s->op[s->count++] = (struct operation){.launch = k,
                                           .copy = NONE,
                                           .stream = in->order.stream,
                                           .size = size_of(s, l),
                                           .left = (double)l->time_ps};
}

/* Whether launch k begins a group of the replay. */
static bool begins_group(const struct ww_result *r, uint32_t k) {
    return k == 0 || !r->launch[k].concurrent || r->launch[k].concurrent != r->launch[k - 1].concurrent;
}

static void add_all(struct schedule *s) {
    uint32_t copy = 0, launches = (uint32_t)s->r->result->launch_count;
    for (uint32_t k = 0; k <= launches; k++) {
        for (; copy < s->order->copy_count && s->order->copy[copy].launch <= k; copy++) add_copy(s, copy);
        if (k == launches) break;
        if (k && begins_group(s->r->result, k))
            s->op[s->count++] = (struct operation){.launch = NONE, .copy = NONE};
        add_launch(s, k);
    }
}

/* ---- launches alone ---- */

struct mark {
    double at;
    uint32_t launch; /* of the result */
    bool end;
};

static int compare_marks(const void *a, const void *b) {
    const struct mark *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (int)y->end - (int)x->end;
}

/* Launches first .. end - 1 are a group of the replay. Alone each would have taken its time less the delay by
 * the others. */
static enum ww_code find_alone(struct schedule *s, uint32_t first, uint32_t end, struct ww_error *error) {
    uint32_t n = 2 * (end - first);
    struct mark *mark = ww_arena_array(s->arena, n, sizeof *mark);
    bool *runs = ww_arena_array(s->arena, end - first, sizeof *runs);
    if (!mark || !runs) return ww_fail_nomem(error, "launches among copies");
    for (uint32_t k = first; k < end; k++) {
        const struct ww_launch_result *l = &s->r->result->launch[k];
        mark[2 * (k - first)] = (struct mark){(double)l->start_ps, k, false};
        mark[2 * (k - first) + 1] = (struct mark){(double)(l->start_ps + l->time_ps), k, true};
        s->op[s->of_launch[k]].left = 0;
    }
    qsort(mark, n, sizeof *mark, compare_marks);
    for (uint32_t i = 0; i < n; i++) {
        runs[mark[i].launch - first] = !mark[i].end;
        double all = 0, span = i + 1 < n ? mark[i + 1].at - mark[i].at : 0;
        for (uint32_t k = first; k < end && span > 0; k++)
            all += runs[k - first] ? s->op[s->of_launch[k]].size : 0;
        for (uint32_t k = first; k < end && span > 0; k++)
            if (runs[k - first]) s->op[s->of_launch[k]].left += span / (all > 1 ? all : 1);
    }
    return WW_OK;
}

static enum ww_code find_all_alone(struct schedule *s, struct ww_error *error) {
    const struct ww_result *r = s->r->result;
    uint32_t end;
    for (uint32_t k = 0; k < r->launch_count; k = end) {
        for (end = k + 1; end < r->launch_count && !begins_group(r, end);) end++;
        if (end - k > 1) WW_TRY(find_alone(s, k, end, error));
    }
    return WW_OK;
}

/* ---- what waits for what ---- */

static bool add_edge(struct schedule *s, uint32_t from, uint32_t to) {
    if (s->edge_count == s->edge_room) {
        size_t room = s->edge_room ? 2 * s->edge_room : 1024;
        struct edge *more = ww_arena_array(s->arena, room, sizeof *more);
        if (!more) return false;
        if (s->edge_count) memcpy(more, s->edge, s->edge_count * sizeof *more);
        s->edge = more;
        s->edge_room = room;
    }
    s->edge[s->edge_count++] = (struct edge){from, to};
    s->op[to].waits++;
    return true;
}

static bool is_between(const struct operation *o) {
    return o->launch == NONE && o->copy == NONE;
}

static bool link_copy(struct schedule *s, uint32_t op) {
    const struct ww_host_copy *c = &s->order->copy[s->op[op].copy];
    bool good = true;
    for (uint32_t n = 0; n < c->wait_count && good; n++) {
        uint32_t k = (uint32_t)(c->wait[n] / 2);
        good = add_edge(s, WW_OPERATION_IS_COPY(c->wait[n]) ? s->of_copy[k] : s->of_launch[k], op);
    }
    return good;
}

static bool link_launch(struct schedule *s, uint32_t op) {
    const struct ww_copy_waits *w = &s->order->launch[s->op[op].launch];
    const struct ww_launch *in;
    bool good = true;
    ww_trace_launch(s->r->trace, s->op[op].launch, &in, NULL);
    for (uint32_t n = 0; n < in->order.wait_count && good; n++)
        good = add_edge(s, s->of_launch[in->order.wait[n]], op);
    for (uint32_t n = 0; n < w->count && good; n++) good = add_edge(s, s->of_copy[w->copy[n]], op);
    return good;
}

static int compare_edges(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

struct last {
    uint32_t stream, op;
};

static int compare_last(const void *a, const void *b) {
    const struct last *x = a, *y = b;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* The order within each stream; of a serialized run all operations are of one. */
static bool link_streams(struct schedule *s) {
    struct last *last = ww_arena_array(s->arena, s->count, sizeof *last);
    bool good = last != NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->count && good; i++)
        if (!is_between(&s->op[i]))
            last[n++] = (struct last){s->r->options->serialize ? 0 : s->op[i].stream, i};
    if (good) qsort(last, n, sizeof *last, compare_last);
    for (uint32_t i = 1; i < n && good; i++)
        if (last[i].stream == last[i - 1].stream) good = add_edge(s, last[i - 1].op, last[i].op);
    return good;
}

/* What lies between groups waits for the launches of one, and those of the next for it. */
static bool link_groups(struct schedule *s) {
    bool good = true;
    uint32_t between = NONE, first = 0; /* first: operation of the group that is under way */
    for (uint32_t i = 0; i < s->count && good; i++) {
        if (s->op[i].launch != NONE && between != NONE) good = add_edge(s, between, i);
        if (!is_between(&s->op[i])) continue;
        for (uint32_t k = first; k < i && good; k++)
            if (s->op[k].launch != NONE) good = add_edge(s, k, i);
        between = i;
        first = i;
    }
    return good;
}

static enum ww_code link_all(struct schedule *s, struct ww_error *error) {
    bool good = link_streams(s) && link_groups(s);
    for (uint32_t i = 0; i < s->count && good; i++) {
        if (s->op[i].launch != NONE) good = link_launch(s, i);
        if (s->op[i].copy != NONE) good = link_copy(s, i);
    }
    if (!good) return ww_fail_nomem(error, "launches among copies");
    if (s->edge_count) qsort(s->edge, s->edge_count, sizeof *s->edge, compare_edges);
    for (size_t i = 0; i < s->edge_count; i++) {
        struct operation *o = &s->op[s->edge[i].from];
        if (!o->next_count++) o->first_next = (uint32_t)i;
    }
    return WW_OK;
}

/* ---- time ---- */

static void end_operation(struct schedule *s, uint32_t op) {
    s->done[s->done_count++] = op;
}

/* All that it waited for has ended. */
static void begin(struct schedule *s, uint32_t op) {
    struct operation *o = &s->op[op];
    if (o->launch != NONE) {
        s->running[s->running_count++] = op;
        o->start = s->now;
    } else if (o->copy != NONE) {
        struct engine *e = &s->engine[o->engine];
        *(e->last ? &s->op[e->last - 1].behind : &e->first) = op + 1;
        e->last = op + 1;
    } else {
        end_operation(s, op);
    }
}

/* What waited for operations that have ended begins. */
static void go_on(struct schedule *s) {
    while (s->told < s->done_count) {
        const struct operation *o = &s->op[s->done[s->told++]];
        for (uint32_t k = 0; k < o->next_count; k++) {
            uint32_t next = s->edge[o->first_next + k].to;
            if (!--s->op[next].waits) begin(s, next);
        }
    }
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &s->engine[i];
        if (e->busy || !e->first) continue;
        e->busy = true;
        s->op[e->first - 1].start = s->now;
    }
}

/* How fast launches run: at full speed as far as they fit. */
static double speed(const struct schedule *s) {
    double all = 0;
    for (uint32_t i = 0; i < s->running_count; i++) all += s->op[s->running[i]].size;
    return all > 1 ? 1 / all : 1;
}

/* When the next operation ends, from now; INFINITY if none runs. */
static double next_end(const struct schedule *s, double rate) {
    double span = INFINITY;
    for (uint32_t i = 0; i < s->running_count; i++) span = fmin(span, s->op[s->running[i]].left / rate);
    for (int i = 0; i < ENGINES; i++)
        if (s->engine[i].busy) span = fmin(span, s->op[s->engine[i].first - 1].left);
    return span;
}

/* True if nothing is left of it: less than a quarter of a picosecond. */
static bool works(struct operation *o, double span) {
    o->left -= span;
    return o->left <= 0.25;
}

static void keep(struct schedule *s, const struct operation *o) {
    uint64_t start = (uint64_t)llround(o->start), end = (uint64_t)llround(s->now);
    struct ww_result *r = s->r->result;
    if (end > r->with_copies_ps) r->with_copies_ps = end;
    if (o->launch != NONE) {
        r->launch[o->launch].with_copies_start_ps = start;
        r->launch[o->launch].with_copies_end_ps = end;
    } else {
        r->copy[o->copy].start_ps = start;
        r->copy[o->copy].end_ps = end;
    }
}

static void work(struct schedule *s, double rate, double span) {
    uint32_t kept = 0;
    s->now += span;
    for (uint32_t i = 0; i < s->running_count; i++) {
        uint32_t op = s->running[i];
        if (works(&s->op[op], span * rate)) {
            keep(s, &s->op[op]);
            end_operation(s, op);
        } else {
            s->running[kept++] = op;
        }
    }
    s->running_count = kept;
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &s->engine[i];
        if (!e->busy || !works(&s->op[e->first - 1], span)) continue;
        uint32_t op = e->first - 1;
        keep(s, &s->op[op]);
        end_operation(s, op);
        e->busy = false;
        e->first = s->op[op].behind;
        if (!e->first) e->last = 0;
    }
}

static enum ww_code run_all(struct schedule *s, struct ww_error *error) {
    s->done = ww_arena_array(s->arena, s->count, sizeof *s->done);
    s->running = ww_arena_array(s->arena, s->count, sizeof *s->running);
    if (!s->done || !s->running) return ww_fail_nomem(error, "launches among copies");
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->op[i].waits) begin(s, i);
    for (go_on(s); s->done_count < s->count; go_on(s)) {
        double rate = speed(s), span = next_end(s, rate);
        if (isinf(span)) return ww_fail(error, WW_INTERNAL, "copies", "operations wait for one another");
        work(s, rate, span);
    }
    return WW_OK;
}

/* ---- all of it ---- */

static enum ww_code schedule(struct schedule *s, struct ww_error *error) {
    struct ww_result *r = s->r->result;
    size_t launches = r->launch_count, copies = s->order->copy_count, most = 2 * launches + copies + 1;
    s->op = ww_arena_array(s->arena, most, sizeof *s->op);
    s->of_launch = ww_arena_array(s->arena, launches + 1, sizeof *s->of_launch);
    s->of_copy = ww_arena_array(s->arena, copies, sizeof *s->of_copy);
    r->copy = ww_arena_array(s->r->arena, copies, sizeof *r->copy);
    if (!s->op || !s->of_launch || !s->of_copy || !r->copy)
        return ww_fail_nomem(error, "launches among copies");
    add_all(s);
    WW_TRY(find_all_alone(s, error));
    WW_TRY(link_all(s, error));
    for (size_t k = 0; k < copies; k++) {
        const struct ww_host_copy *c = &s->order->copy[k];
        uint32_t engine = s->op[s->of_copy[k]].engine;
        r->copy[k] = (struct ww_copy_span){.way = (uint32_t)c->way,
                                           .pageable = c->pageable,
                                           .stream = c->stream,
                                           .launch = c->launch,
                                           .engine = engine == WITHIN ? WW_COPY_NO_ENGINE : engine,
                                           .bytes = c->bytes};
    }
    r->copy_count = copies;
    return run_all(s, error);
}

enum ww_code ww_run_copies(struct run *r, struct ww_error *error) {
    struct schedule s = {.r = r, .order = ww_trace_host_order(r->trace)};
    struct ww_arena own;
    if (!s.order->copy_count || r->result->launch_count != ww_trace_launch_count(r->trace)) return WW_OK;
    ww_arena_init(&own, 0);
    s.arena = &own;
    enum ww_code code = schedule(&s, error);
    ww_arena_free(&own);
    return code;
}
