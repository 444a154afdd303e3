/* core_graph.c: graphs, their nodes and their launches. */
#include "core_graph.h"
#include <stdlib.h>
#include <string.h>

struct rt_graph {
    struct rt_node *first, **last;
    uint32_t count;
    struct rt_graph *next;
};
static struct rt_graph *graphs, *execs;

static struct rt_graph *find(struct rt_graph *list, const void *graph) {
    while (list && list != graph) list = list->next;
    return list;
}

struct rt_graph *ww_rt_graph_find(const void *graph) {
    return find(graphs, graph);
}

struct rt_node *ww_rt_node_find(const void *node) {
    for (struct rt_graph *g = graphs; g; g = g->next)
        for (struct rt_node *n = g->first; n; n = n->next)
            if (n == node) return n;
    return NULL;
}

/* ---- operations ---- */

/* The arguments of a launch and its attributes, with what they point to, in one block. */
static int keep_launch(struct rt_op *op) {
    struct ww_kernel_info info;
    struct rt_kernel *k;
    rt_launch_config *c = &op->u.launch.config;
    int code = ww_rt_kernel_info(op->u.launch.kernel, &k, &info);
    if (code) return code;
    if (info.param_count && !op->u.launch.arguments) return RT_ERROR_INVALID_VALUE;
    size_t pointers = (size_t)info.param_count * sizeof(void *) + 1,
           attributes = c->attribute_count * sizeof *c->attribute;
    void **kept = malloc(pointers + attributes + 16 + info.param_bytes + 16);
    if (!kept) return RT_ERROR_MEMORY_ALLOCATION;
    rt_launch_attribute *attribute = (void *)((unsigned char *)kept + (pointers + 15) / 16 * 16);
    unsigned char *bytes = (unsigned char *)attribute + attributes;
    if (attributes) memcpy(attribute, c->attribute, attributes);
    for (uint32_t n = 0; n < info.param_count && !code; n++) {
        uint64_t at, size;
        code = ww_rt_kernel_param(k, &info, n, &at, &size);
        if (!code && (at > info.param_bytes || size > info.param_bytes - at)) code = RT_ERROR_INVALID_VALUE;
        if (code) break;
        kept[n] = bytes + at;
        memcpy(kept[n], op->u.launch.arguments[n], size);
    }
    op->u.launch.arguments = kept;
    c->attribute = attribute;
    c->stream = NULL;
    if (code) free(kept);
    return code;
}

static int keep(struct rt_op *op) {
    if (op->kind == RT_OP_LAUNCH) return keep_launch(op);
    if (op->kind != RT_OP_GRAPH) return 0;
    struct rt_graph *copy;
    int code = ww_rt_graph_copy(&copy, op->u.graph);
    if (code) return code;
    graphs = copy->next; /* the node's own, at the head of the list */
    op->u.graph = copy;
    return 0;
}

static void destroy(struct rt_graph *g);

static void drop(const struct rt_op *op) {
    if (op->kind == RT_OP_LAUNCH) free(op->u.launch.arguments);
    if (op->kind == RT_OP_GRAPH) destroy(op->u.graph);
}

/* Where a graph is launched: its stream, and the clock behind it. */
struct place {
    struct rt_clock clock;
    uint32_t lane;
    int priority;
};
static int run_all(const struct rt_graph *g, struct place *at);

static int run(const struct rt_op *op, struct place *at) {
    switch (op->kind) {
    case RT_OP_LAUNCH:
        return ww_rt_launch(op->u.launch.kernel, &op->u.launch.config, op->u.launch.arguments);
    case RT_OP_COPY:
        return ww_rt_copy_rows(op->u.copy.dst, op->u.copy.dst_pitch, op->u.copy.src, op->u.copy.src_pitch,
                               op->u.copy.width, op->u.copy.height, op->u.copy.kind);
    case RT_OP_FILL:
        return ww_rt_fill_rows(&op->u.fill);
    case RT_OP_HOST: /* without the lock, since it may call the runtime */
        ww_rt_unlock(NULL);
        op->u.host.fn(op->u.host.data);
        ww_rt_lock();
        return 0;
    case RT_OP_GRAPH:
        return run_all(op->u.graph, at);
    case RT_OP_RECORD:
        ww_rt_event_record(op->u.event, NULL);
        ww_rt_clock_merge(&op->u.event->clock, &at->clock);
        return 0;
    default:
        return 0;
    }
}

/* ---- nodes ---- */

static bool holds(const struct rt_node *node, const struct rt_node *before) {
    for (size_t n = 0; n < node->before_count; n++)
        if (node->before[n] == before) return true;
    return false;
}

static int join(struct rt_node *from, struct rt_node *to) {
    if (holds(to, from)) return 0;
    struct rt_node **more = realloc(to->before, (to->before_count + 1) * sizeof(struct rt_node *));
    if (!more) return RT_ERROR_MEMORY_ALLOCATION;
    to->before = more;
    to->before[to->before_count++] = from;
    return 0;
}

int ww_rt_graph_join(struct rt_node *from, struct rt_node *to) {
    bool good = ww_rt_node_find(from) && ww_rt_node_find(to) && from->graph == to->graph && from != to;
    return good ? join(from, to) : RT_ERROR_INVALID_VALUE;
}

static void free_node(struct rt_node *n) {
    drop(&n->op);
    free(n->before);
    free(n);
}

static int add(struct rt_graph *g, struct rt_node *const *before, size_t count, const struct rt_op *op,
               struct rt_node **out) {
    struct rt_node *n = calloc(1, sizeof *n);
    if (!n) return RT_ERROR_MEMORY_ALLOCATION;
    n->op = *op;
    int code = keep(&n->op);
    if (code) {
        free(n);
        return code;
    }
    n->graph = g;
    n->number = g->count;
    for (size_t i = 0; i < count && !code; i++) code = join(before[i], n);
    if (code) {
        free_node(n);
        return code;
    }
    g->count++;
    *g->last = n;
    g->last = &n->next;
    if (out) *out = n;
    return 0;
}

int ww_rt_graph_add(struct rt_graph *graph, struct rt_node *const *before, size_t count, const struct rt_op *op,
                    struct rt_node **out) {
    if (!find(graphs, graph) || (count && !before)) return RT_ERROR_INVALID_VALUE;
    for (size_t n = 0; n < count; n++)
        if (!ww_rt_node_find(before[n]) || before[n]->graph != graph) return RT_ERROR_INVALID_VALUE;
    return add(graph, before, count, op, out);
}

int ww_rt_node_set(struct rt_node *node, const struct rt_op *op) {
    struct rt_op kept = *op;
    if (!node || node->op.kind != op->kind) return RT_ERROR_INVALID_VALUE;
    int code = keep(&kept);
    if (code) return code;
    drop(&node->op);
    node->op = kept;
    return 0;
}

int ww_rt_graph_nodes(struct rt_graph *graph, struct rt_node **nodes, size_t *count, bool roots) {
    size_t n = 0;
    if (!find(graphs, graph) || !count) return RT_ERROR_INVALID_VALUE;
    for (struct rt_node *i = graph->first; i; i = i->next) {
        if (roots && i->before_count) continue;
        if (nodes && n < *count) nodes[n] = i;
        n++;
    }
    if (!nodes || n < *count) *count = n;
    return 0;
}

/* ---- graphs ---- */

static struct rt_graph *new_graph(struct rt_graph **list) {
    struct rt_graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->last = &g->first;
    g->next = *list;
    *list = g;
    return g;
}

static void destroy(struct rt_graph *g) {
    while (g->first) {
        struct rt_node *next = g->first->next;
        free_node(g->first);
        g->first = next;
    }
    free(g);
}

static int remove_graph(struct rt_graph **list, struct rt_graph *graph) {
    while (*list && *list != graph) list = &(*list)->next;
    if (!*list) return RT_ERROR_INVALID_VALUE;
    *list = graph->next;
    destroy(graph);
    return 0;
}

int ww_rt_graph_new(struct rt_graph **out) {
    if (!out) return RT_ERROR_INVALID_VALUE;
    *out = new_graph(&graphs);
    return *out ? 0 : RT_ERROR_MEMORY_ALLOCATION;
}

int ww_rt_graph_free(struct rt_graph *graph) {
    return remove_graph(&graphs, graph);
}

/* Nodes in the order of their numbers. */
static struct rt_node **numbered(const struct rt_graph *g) {
    struct rt_node **all = calloc((size_t)g->count + 1, sizeof(struct rt_node *));
    for (struct rt_node *n = g->first; all && n; n = n->next) all[n->number] = n;
    return all;
}

static int copy_into(struct rt_graph *to, const struct rt_graph *of) {
    int code = 0;
    for (const struct rt_node *n = of->first; n && !code; n = n->next) code = add(to, NULL, 0, &n->op, NULL);
    struct rt_node **all = numbered(to);
    if (!all) return RT_ERROR_MEMORY_ALLOCATION;
    for (const struct rt_node *n = of->first; n && !code; n = n->next)
        for (size_t i = 0; i < n->before_count && !code; i++)
            code = join(all[n->before[i]->number], all[n->number]);
    free(all);
    return code;
}

static int copy_to(struct rt_graph **list, struct rt_graph **out, const struct rt_graph *of) {
    struct rt_graph *g = new_graph(list);
    if (!g) return RT_ERROR_MEMORY_ALLOCATION;
    int code = copy_into(g, of);
    if (code)
        remove_graph(list, g);
    else
        *out = g;
    return code;
}

int ww_rt_graph_copy(struct rt_graph **out, struct rt_graph *of) {
    return out && of ? copy_to(&graphs, out, of) : RT_ERROR_INVALID_VALUE;
}

/* ---- launches ---- */

static bool ready(const struct rt_node *n) {
    for (size_t i = 0; i < n->before_count; i++)
        if (!n->before[i]->done) return false;
    return !n->done;
}

static struct rt_node *next_ready(const struct rt_graph *g) {
    for (struct rt_node *n = g->first; n; n = n->next)
        if (ready(n)) return n;
    return NULL;
}

/* A graph with a circle has nodes that never become ready. */
static bool can_run(const struct rt_graph *g) {
    uint32_t left = g->count;
    for (struct rt_node *n = g->first; n; n = n->next) n->done = false;
    for (struct rt_node *n; (n = next_ready(g)) != NULL; left--) n->done = true;
    return left == 0;
}

/* A node goes on in the stream of the first that it waits for, unless another does; the first root in that of
 * the launch. */
static uint32_t lane_of(const struct rt_node *n, const struct place *at) {
    if (n->before_count == 0) return n == n->graph->first ? at->lane : ww_rt_new_lane();
    if (n->before[0]->passed_on) return ww_rt_new_lane();
    n->before[0]->passed_on = true;
    return n->before[0]->lane;
}

static int run_node(struct rt_node *n, const struct place *at) {
    struct place own = {.lane = lane_of(n, at), .priority = at->priority};
    if (n->before_count == 0) ww_rt_clock_merge(&own.clock, &at->clock);
    for (size_t i = 0; i < n->before_count; i++) ww_rt_clock_merge(&own.clock, &n->before[i]->clock);
    ww_rt_order_node(&own.clock, own.lane, own.priority);
    int code = run(&n->op, &own);
    ww_rt_order_node(NULL, 0, 0);
    n->lane = own.lane;
    n->clock = own.clock;
    n->done = true;
    return code;
}

/* What follows in the stream waits for all of the graph. */
static int run_all(const struct rt_graph *g, struct place *at) {
    int code = 0;
    struct rt_node *n;
    for (n = g->first; n; n = n->next) n->done = n->passed_on = false;
    while (!code && (n = next_ready(g)) != NULL) code = run_node(n, at);
    for (n = g->first; n; n = n->next) {
        ww_rt_clock_merge(&at->clock, &n->clock);
        ww_rt_clock_free(&n->clock);
    }
    return code;
}

int ww_rt_exec_new(struct rt_graph **out, struct rt_graph *graph) {
    if (!out || !find(graphs, graph) || !can_run(graph)) return RT_ERROR_INVALID_VALUE;
    return copy_to(&execs, out, graph);
}

int ww_rt_exec_free(struct rt_graph *exec) {
    return remove_graph(&execs, exec);
}

int ww_rt_exec_launch(struct rt_graph *exec, void *stream) {
    const struct rt_op op = {RT_OP_GRAPH, {.graph = exec}};
    int code;
    if (!find(execs, exec)) return RT_ERROR_INVALID_VALUE;
    if (!ww_rt_known_stream(stream)) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (ww_rt_captured(stream, &op, &code)) return code;
    struct rt_clock *clock = ww_rt_order_clock(stream);
    const struct rt_stream *s = (uintptr_t)stream > 2 ? stream : NULL;
    struct place at = {.lane = s ? s->lane : 0, .priority = s ? s->priority : 0};
    ww_rt_clock_merge(&at.clock, clock);
    code = run_all(exec, &at);
    if (ww_rt_known_stream(stream)) ww_rt_clock_merge(ww_rt_order_clock(stream), &at.clock);
    ww_rt_clock_free(&at.clock);
    return code;
}

struct rt_node *ww_rt_exec_node(struct rt_graph *exec, const struct rt_node *node) {
    if (!find(execs, exec) || !ww_rt_node_find(node)) return NULL;
    for (struct rt_node *n = exec->first; n; n = n->next)
        if (n->number == node->number) return n;
    return NULL;
}

enum { UPDATE_TOPOLOGY = 2, UPDATE_TYPE = 3 };

static bool same_before(const struct rt_node *a, const struct rt_node *b) {
    if (a->before_count != b->before_count) return false;
    for (size_t n = 0; n < a->before_count; n++)
        if (a->before[n]->number != b->before[n]->number) return false;
    return true;
}

static int compare(const struct rt_graph *a, const struct rt_graph *b) {
    const struct rt_node *m = a->first, *n = b->first;
    for (; m && n; m = m->next, n = n->next) {
        if (m->op.kind != n->op.kind) return UPDATE_TYPE;
        if (!same_before(m, n)) return UPDATE_TOPOLOGY;
    }
    return m || n ? UPDATE_TOPOLOGY : 0;
}

int ww_rt_exec_update(struct rt_graph *exec, struct rt_graph *graph, int *result) {
    if (!find(execs, exec) || !find(graphs, graph)) return RT_ERROR_INVALID_VALUE;
    *result = compare(exec, graph);
    if (*result) return RT_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    int code = 0;
    struct rt_node *to = exec->first;
    for (const struct rt_node *n = graph->first; n && !code; n = n->next, to = to->next)
        code = ww_rt_node_set(to, &n->op);
    return code;
}
