/* core_graph.h: graphs of launches, copies, fills and host functions, made by hand or by capturing streams. A
 * graph that is launched runs its nodes one after the other, each behind those that it depends on, in the order
 * in which they were added. Callers hold the lock; the program's handles are addresses. */
#ifndef WW_TRACES_CUDA_CORE_GRAPH_H
#define WW_TRACES_CUDA_CORE_GRAPH_H

#include "core.h"

/* The first six have the numbers of cudaGraphNodeType. */
enum rt_op_kind {
    RT_OP_LAUNCH,
    RT_OP_COPY,
    RT_OP_FILL,
    RT_OP_HOST,
    RT_OP_GRAPH,
    RT_OP_EMPTY,
    RT_OP_WAIT,
    RT_OP_RECORD
};

struct rt_graph;
struct rt_op {
    enum rt_op_kind kind;
    union {
        struct {
            struct rt_kernel *kernel;
            rt_launch_config config;
            void **arguments; /* one block with what they point to, of the node that holds the operation */
        } launch;
        struct {
            void *dst;
            const void *src;
            size_t dst_pitch, src_pitch, width, height;
            int kind;
        } copy;
        struct rt_fill fill;
        struct {
            void (*fn)(void *data);
            void *data;
        } host;
        struct rt_graph *graph; /* the node's own copy */
        struct rt_event *event;
    } u;
};

struct rt_node {
    struct rt_graph *graph;
    struct rt_op op;
    struct rt_node **before; /* what it waits for */
    size_t before_count;
    uint32_t number;       /* in its graph, and in copies of it */
    bool done, passed_on;  /* of a launch of the graph: it ran; its lane went to one that waits for it */
    uint32_t lane;         /* number of a stream */
    struct rt_clock clock; /* behind it */
    struct rt_node *next;
};

#pragma GCC visibility push(default)

/* ---- graphs ---- */
int ww_rt_graph_new(struct rt_graph **out);
int ww_rt_graph_free(struct rt_graph *graph);
int ww_rt_graph_copy(struct rt_graph **out, struct rt_graph *of);
/* Adds a node; what the operation points to is copied. `out` may be NULL. */
int ww_rt_graph_add(struct rt_graph *graph, struct rt_node *const *before, size_t count, const struct rt_op *op,
                    struct rt_node **out);
int ww_rt_graph_join(struct rt_node *from, struct rt_node *to);
/* Replaces the operation of a node by one of the same kind. */
int ww_rt_node_set(struct rt_node *node, const struct rt_op *op);
/* The handle if it is one, else NULL. */
struct rt_graph *ww_rt_graph_find(const void *graph);
struct rt_node *ww_rt_node_find(const void *node);
/* The nodes in the order in which they were added; `roots`: only those that wait for nothing. Gives their
 * number, or fills at most *count. */
int ww_rt_graph_nodes(struct rt_graph *graph, struct rt_node **nodes, size_t *count, bool roots);

/* ---- graphs to be launched: copies, kept in a list of their own ---- */
int ww_rt_exec_new(struct rt_graph **out, struct rt_graph *graph);
int ww_rt_exec_free(struct rt_graph *exec);
int ww_rt_exec_launch(struct rt_graph *exec, void *stream);
/* The node of the exec that was made from `node`; NULL: none. */
struct rt_node *ww_rt_exec_node(struct rt_graph *exec, const struct rt_node *node);
/* *result: 0 or a cudaGraphExecUpdateResult. */
int ww_rt_exec_update(struct rt_graph *exec, struct rt_graph *graph, int *result);

/* ---- captures ---- */
/* The calling thread's operations go to this stream until ww_rt_off. */
int ww_rt_on(void *stream);
void ww_rt_off(const int *unused);
#define RT_ON(stream)                                                                                          \
    __attribute__((cleanup(ww_rt_off))) const int rt_on_ = ww_rt_on(stream);                                   \
    (void)rt_on_
bool ww_rt_capturing(const void *stream);
/* The stream of ww_rt_on, NULL outside. */
void *ww_rt_current(void);
/* True if the operation became a node, with *code what came of it. `stream` NULL: that of ww_rt_on. */
bool ww_rt_captured(void *stream, const struct rt_op *op, int *code);
int ww_rt_capture_begin(void *stream);
int ww_rt_capture_end(void *stream, struct rt_graph **graph);
/* 0 no capture, 1 under way, 2 broken; *id and *graph (may be NULL) of the capture. */
int ww_rt_capture_status(const void *stream, unsigned long long *id, struct rt_graph **graph);
/* What cannot be captured breaks the capture. */
int ww_rt_capture_break(void *stream);

#pragma GCC visibility pop

#endif
