/* bfs: distances from node 0 in a directed graph, one launch per level (two for mask). Integers: compared
 * exactly. The graph: uniform: a node has 1 to 2 degree - 1 edges, their targets anywhere; skewed: the number
 * of edges has a heavy tail (proportional to u^(-1/2) for uniform u, at most 64 degree) and targets prefer
 * low-numbered nodes (u^2).
 */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, nodes, degree, block, variant, graph;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(nodes, "nodes", "node", 0, 16777216, 0, "nodes; 0: 1000, 330000, 1000000")                             \
    U32(degree, "degree", "edge", 1, 256, 6, "average edges of a node")                                        \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    ENUM(variant, "variant", "topology|frontier|mask|aliased", 0, "topology",                                  \
         "a thread per node, per queued node, or per node twice (aliased: arrays that may be the same)")       \
    ENUM(graph, "graph", "uniform|skewed", 0, "uniform", "how edges are spread over the nodes")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { UNSEEN = -1 };

enum { TOPOLOGY, FRONTIER, MASK, ALIASED };

struct graph {
    uint32_t nodes;
    uint32_t *start, *edge, *distance; /* distance: the reference */
};

struct buffers {
    uint64_t start, edge, distance, flag; /* flag: a level found a node; of frontier: how many */
    uint64_t queue[2];
    uint64_t node, mask[3]; /* of mask: first edge and number of edges; frontier, marked, visited */
};

static uint32_t draw_degree(struct ww_rng *rng, const struct settings *s) {
    if (!s->graph) return 1 + ww_rng_below(rng, 2 * s->degree - 1);
    double d = 0.5 * s->degree / sqrt(1 - ww_rng_unit(rng));
    return d > 64.0 * s->degree ? 64 * s->degree : (uint32_t)(d + 0.5);
}

static uint32_t draw_target(struct ww_rng *rng, const struct settings *s, uint32_t nodes) {
    double u = ww_rng_unit(rng);
    return (uint32_t)((s->graph ? u * u : u) * nodes);
}

static enum ww_code make(struct ww_host *h, const struct settings *s, struct graph *g) {
    g->nodes = ww_host_size(s->nodes, s->size, 1000, 330000, 1000000);
    WW_TRY(ww_host_array(h, &g->start, (size_t)g->nodes + 1, sizeof *g->start));
    uint64_t edges = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        edges += draw_degree(&h->rng, s);
        if (edges > 1u << 30)
            return ww_fail(h->error, WW_USAGE, h->name, "nodes=%u and degree=%u: at most 2^30 edges", g->nodes,
                           s->degree);
        g->start[v + 1] = (uint32_t)edges;
    }
    WW_TRY(ww_host_array(h, &g->edge, edges, sizeof *g->edge));
    for (uint64_t e = 0; e < edges; e++) g->edge[e] = draw_target(&h->rng, s, g->nodes);
    return WW_OK;
}

/* The reference: one queue, in order. */
static enum ww_code search(struct ww_host *h, struct graph *g) {
    uint32_t *queue, head = 0, tail = 0;
    WW_TRY(ww_host_array(h, &queue, g->nodes, sizeof *queue));
    WW_TRY(ww_host_array(h, &g->distance, g->nodes, sizeof *g->distance));
    for (uint32_t v = 0; v < g->nodes; v++) g->distance[v] = (uint32_t)UNSEEN;
    g->distance[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
            uint32_t w = g->edge[e];
            if (g->distance[w] != (uint32_t)UNSEEN) continue;
            g->distance[w] = g->distance[v] + 1;
            queue[tail++] = w;
        }
    }
    return WW_OK;
}

static enum ww_code upload(struct ww_host *h, const struct graph *g, struct buffers *d) {
    const uint32_t zero = 0;
    WW_TRY(ww_host_upload(h, &d->start, g->start, (size_t)g->nodes + 1, sizeof *g->start));
    WW_TRY(ww_host_upload(h, &d->edge, g->edge, g->start[g->nodes], sizeof *g->edge));
    WW_TRY(ww_host_buffer(h, &d->distance, g->nodes, sizeof(uint32_t)));
    WW_TRY(ww_device_memset(h->device, d->distance, 0xff, g->nodes * sizeof(uint32_t), h->error));
    WW_TRY(ww_device_write(h->device, d->distance, &zero, sizeof zero, h->error));
    WW_TRY(ww_host_buffer(h, &d->flag, 1, sizeof(uint32_t)));
    /* node 0 waits in queue 0, which is zeroed */
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_buffer(h, &d->queue[i], g->nodes, sizeof(uint32_t)));
    return WW_OK;
}

static enum ww_code upload_masks(struct ww_host *h, const struct graph *g, struct buffers *d) {
    const uint8_t one = 1;
    uint32_t *node;
    WW_TRY(ww_host_array(h, &node, 2 * (size_t)g->nodes, sizeof *node));
    for (size_t v = 0; v < g->nodes; v++) {
        node[2 * v] = g->start[v];
        node[2 * v + 1] = g->start[v + 1] - g->start[v];
    }
    WW_TRY(ww_host_upload(h, &d->node, node, 2 * (size_t)g->nodes, sizeof *node));
    for (int i = 0; i < 3; i++) WW_TRY(ww_host_buffer(h, &d->mask[i], g->nodes, 1));
    WW_TRY(ww_device_write(h->device, d->mask[0], &one, 1, h->error));
    return ww_device_write(h->device, d->mask[2], &one, 1, h->error);
}

static enum ww_code launch_masks(struct ww_host *h, const struct settings *s, const struct graph *g,
                                 const struct buffers *d) {
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(g->nodes, s->block), s->block);
    const struct ww_arg expand[] = {WW_ARG(g->nodes),   WW_ARG(d->node),    WW_ARG(d->edge),
                                    WW_ARG(d->mask[0]), WW_ARG(d->mask[1]), WW_ARG(d->mask[2]),
                                    WW_ARG(d->distance)};
    WW_TRY(ww_host_launch(h, s->variant == ALIASED ? "bfs_mask_expand_aliased" : "bfs_mask_expand", &shape,
                          WW_ARGS(expand)));
    const struct ww_arg update[] = {WW_ARG(g->nodes), WW_ARG(d->mask[0]), WW_ARG(d->mask[1]),
                                    WW_ARG(d->mask[2]), WW_ARG(d->flag)};
    return ww_host_launch(h, "bfs_mask_update", &shape, WW_ARGS(update));
}

static enum ww_code launch_level(struct ww_host *h, const struct settings *s, const struct graph *g,
                                 const struct buffers *d, uint32_t level, uint32_t count) {
    if (s->variant >= MASK) return launch_masks(h, s, g, d);
    if (s->variant == FRONTIER) {
        const struct ww_arg args[] = {
            WW_ARG(count), WW_ARG(d->queue[level & 1]),  WW_ARG(d->start), WW_ARG(d->edge), WW_ARG(d->distance),
            WW_ARG(level), WW_ARG(d->queue[~level & 1]), WW_ARG(d->flag)};
        struct ww_host_shape shape = ww_host_line(ww_host_ceil(count, s->block), s->block);
        return ww_host_launch(h, "bfs_frontier", &shape, WW_ARGS(args));
    }
    const struct ww_arg args[] = {WW_ARG(g->nodes),    WW_ARG(d->start), WW_ARG(d->edge),
                                  WW_ARG(d->distance), WW_ARG(level),    WW_ARG(d->flag)};
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(g->nodes, s->block), s->block);
    return ww_host_launch(h, "bfs_topology", &shape, WW_ARGS(args));
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct graph g;
    struct buffers d;
    WW_TRY(make(h, s, &g));
    WW_TRY(search(h, &g));
    WW_TRY(upload(h, &g, &d));
    if (s->variant >= MASK) WW_TRY(upload_masks(h, &g, &d));
    uint32_t found = 1;
    for (uint32_t level = 0; found > 0; level++) {
        /* a level that finds something finds a new node: there are no more levels than nodes */
        if (level >= g.nodes || found > g.nodes)
            return ww_fail(h->error, WW_MISMATCH, h->name, "level %u found %u nodes of %u", level, found,
                           g.nodes);
        WW_TRY(ww_device_memset(h->device, d.flag, 0, sizeof found, h->error));
        WW_TRY(launch_level(h, s, &g, &d, level, found));
        WW_TRY(ww_host_read(h, &found, d.flag, 1, sizeof found));
    }
    uint32_t *got;
    WW_TRY(ww_host_array(h, &got, g.nodes, sizeof *got));
    WW_TRY(ww_host_read(h, got, d.distance, g.nodes, sizeof *got));
    return ww_host_same_u32(h, "distance", got, g.distance, g.nodes);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("bfs", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_bfs = {
    .name = "bfs",
    .help = "breadth-first search, level by level: divergence, scattered accesses, a launch per level",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "bfs",
    .run = run,
};
