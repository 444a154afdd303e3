/* rt_graph.c: graphs: captures, nodes made by hand, launches, updates. Their signatures that differ between
 * versions are in abi.c. */
#include "core_graph.h"

typedef struct {
    const void *function;
    rt_dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
} kernel_params;
typedef struct {
    void *p;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} fill_params;
typedef struct {
    void (*fn)(void *data);
    void *data;
} host_params;

/* ---- captures ---- */

RT_EXPORT int cudaStreamBeginCapture(void *stream, int mode) {
    (void)mode; /* what other threads do is not refused */
    RT_ENTER;
    return ww_rt_set(ww_rt_capture_begin(stream));
}
RT_ALIAS(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture)

RT_EXPORT int cudaStreamEndCapture(void *stream, struct rt_graph **graph) {
    RT_ENTER;
    return ww_rt_set(ww_rt_capture_end(stream, graph));
}
RT_ALIAS(cudaStreamEndCapture_ptsz, cudaStreamEndCapture)

RT_EXPORT int cudaThreadExchangeStreamCaptureMode(int *mode) {
    static _Thread_local int kept;
    if (!mode || *mode < 0 || *mode > 2) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int old = kept;
    kept = *mode;
    *mode = old;
    return 0;
}

/* ---- graphs ---- */

RT_EXPORT int cudaGraphCreate(struct rt_graph **out, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(flags ? RT_ERROR_INVALID_VALUE : ww_rt_graph_new(out));
}

RT_EXPORT int cudaGraphDestroy(struct rt_graph *graph) {
    RT_LOCK;
    return ww_rt_set(ww_rt_graph_free(graph));
}

RT_EXPORT int cudaGraphClone(struct rt_graph **out, struct rt_graph *of) {
    RT_ENTER;
    return ww_rt_set(ww_rt_graph_find(of) ? ww_rt_graph_copy(out, of) : RT_ERROR_INVALID_VALUE);
}

RT_EXPORT int cudaGraphGetNodes(struct rt_graph *graph, struct rt_node **nodes, size_t *count) {
    RT_ENTER;
    return ww_rt_set(ww_rt_graph_nodes(graph, nodes, count, false));
}

RT_EXPORT int cudaGraphGetRootNodes(struct rt_graph *graph, struct rt_node **nodes, size_t *count) {
    RT_ENTER;
    return ww_rt_set(ww_rt_graph_nodes(graph, nodes, count, true));
}

RT_EXPORT int cudaGraphNodeGetType(struct rt_node *node, int *type) {
    RT_ENTER;
    if (!type || !ww_rt_node_find(node)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *type = (int)node->op.kind;
    return 0;
}

/* ---- nodes ---- */

static int add(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before, size_t count,
               const struct rt_op *op) {
    RT_ENTER;
    return ww_rt_set(out ? ww_rt_graph_add(graph, before, count, op, out) : RT_ERROR_INVALID_VALUE);
}

/* RT_ERROR_..., since the kernel is looked for. */
static int launch_op(const kernel_params *p, struct rt_op *op) {
    RT_ENTER;
    if (!p || p->extra) return ww_rt_set(p ? RT_ERROR_NOT_SUPPORTED : RT_ERROR_INVALID_VALUE);
    *op = (struct rt_op){RT_OP_LAUNCH,
                         {.launch = {ww_rt_find_kernel(p->function),
                                     {.grid = p->grid, .block = p->block, .dynamic_shared = p->shared},
                                     p->arguments}}};
    return ww_rt_set(op->u.launch.kernel ? 0 : RT_ERROR_INVALID_DEVICE_FUNCTION);
}

RT_EXPORT int cudaGraphAddKernelNode(struct rt_node **out, struct rt_graph *graph,
                                     struct rt_node *const *before, size_t count, const kernel_params *p) {
    struct rt_op op;
    int code = launch_op(p, &op);
    return code ? code : add(out, graph, before, count, &op);
}

RT_EXPORT int cudaGraphAddMemcpyNode1D(struct rt_node **out, struct rt_graph *graph,
                                       struct rt_node *const *before, size_t count, void *dst, const void *src,
                                       size_t n, int kind) {
    const struct rt_op op = {RT_OP_COPY, {.copy = {dst, src, n, n, n, 1, kind}}};
    return add(out, graph, before, count, &op);
}

/* One slice without arrays. */
RT_EXPORT int cudaGraphAddMemcpyNode(struct rt_node **out, struct rt_graph *graph,
                                     struct rt_node *const *before, size_t count, const rt_copy3d *c) {
    if (!c) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (c->src_array || c->dst_array || c->extent.depth > 1 || c->src_pos.z || c->dst_pos.z) {
        ww_rt_say("cudaGraphAddMemcpyNode: copies of arrays and of several slices are not supported");
        return ww_rt_set(RT_ERROR_NOT_SUPPORTED);
    }
    unsigned char *dst = (unsigned char *)c->dst.ptr + c->dst_pos.y * c->dst.pitch + c->dst_pos.x;
    const unsigned char *src = (unsigned char *)c->src.ptr + c->src_pos.y * c->src.pitch + c->src_pos.x;
    const struct rt_op op = {
        RT_OP_COPY,
        {.copy = {dst, src, c->dst.pitch, c->src.pitch, c->extent.width, c->extent.height, c->kind}}};
    return add(out, graph, before, count, &op);
}

static bool fill_op(const fill_params *p, struct rt_op *op) {
    if (!p || (p->element != 1 && p->element != 2 && p->element != 4)) return false;
    size_t width = p->width * p->element;
    *op = (struct rt_op){
        RT_OP_FILL, {.fill = {p->p, p->height > 1 ? p->pitch : width, width, p->height, p->value, p->element}}};
    return true;
}

RT_EXPORT int cudaGraphAddMemsetNode(struct rt_node **out, struct rt_graph *graph,
                                     struct rt_node *const *before, size_t count, const fill_params *p) {
    struct rt_op op;
    return fill_op(p, &op) ? add(out, graph, before, count, &op) : ww_rt_set(RT_ERROR_INVALID_VALUE);
}

RT_EXPORT int cudaGraphAddHostNode(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before,
                                   size_t count, const host_params *p) {
    if (!p || !p->fn) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    const struct rt_op op = {RT_OP_HOST, {.host = {p->fn, p->data}}};
    return add(out, graph, before, count, &op);
}

RT_EXPORT int cudaGraphAddEmptyNode(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before,
                                    size_t count) {
    const struct rt_op op = {.kind = RT_OP_EMPTY};
    return add(out, graph, before, count, &op);
}

RT_EXPORT int cudaGraphAddChildGraphNode(struct rt_node **out, struct rt_graph *graph,
                                         struct rt_node *const *before, size_t count, struct rt_graph *child) {
    const struct rt_op op = {RT_OP_GRAPH, {.graph = child}};
    if (!ww_rt_graph_find(child) || child == graph) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return add(out, graph, before, count, &op);
}

static int event_node(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before, size_t count,
                      struct rt_event *event, enum rt_op_kind kind) {
    const struct rt_op op = {kind, {.event = event}};
    if (!ww_rt_known_event(event)) return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
    return add(out, graph, before, count, &op);
}

RT_EXPORT int cudaGraphAddEventRecordNode(struct rt_node **out, struct rt_graph *graph,
                                          struct rt_node *const *before, size_t count, struct rt_event *event) {
    return event_node(out, graph, before, count, event, RT_OP_RECORD);
}

RT_EXPORT int cudaGraphAddEventWaitNode(struct rt_node **out, struct rt_graph *graph,
                                        struct rt_node *const *before, size_t count, struct rt_event *event) {
    return event_node(out, graph, before, count, event, RT_OP_WAIT);
}

static int set(struct rt_node *node, const struct rt_op *op) {
    RT_ENTER;
    return ww_rt_set(node ? ww_rt_node_set(node, op) : RT_ERROR_INVALID_VALUE);
}

static struct rt_node *of_graph(struct rt_node *node) {
    RT_LOCK;
    return ww_rt_node_find(node);
}

static struct rt_node *of_exec(struct rt_graph *exec, const struct rt_node *node) {
    RT_LOCK;
    return ww_rt_exec_node(exec, node);
}

RT_EXPORT int cudaGraphKernelNodeSetParams(struct rt_node *node, const kernel_params *p) {
    struct rt_op op;
    int code = launch_op(p, &op);
    return code ? code : set(of_graph(node), &op);
}

RT_EXPORT int cudaGraphExecKernelNodeSetParams(struct rt_graph *exec, const struct rt_node *node,
                                               const kernel_params *p) {
    struct rt_op op;
    int code = launch_op(p, &op);
    return code ? code : set(of_exec(exec, node), &op);
}

RT_EXPORT int cudaGraphKernelNodeGetParams(struct rt_node *node, kernel_params *p) {
    RT_ENTER;
    if (!p || !ww_rt_node_find(node) || node->op.kind != RT_OP_LAUNCH) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    const rt_launch_config *c = &node->op.u.launch.config;
    *p = (kernel_params){node->op.u.launch.kernel->host, c->grid, c->block, (unsigned)c->dynamic_shared,
                         node->op.u.launch.arguments,    NULL};
    return 0;
}

RT_EXPORT int cudaGraphMemsetNodeSetParams(struct rt_node *node, const fill_params *p) {
    struct rt_op op;
    return fill_op(p, &op) ? set(of_graph(node), &op) : ww_rt_set(RT_ERROR_INVALID_VALUE);
}

RT_EXPORT int cudaGraphExecMemsetNodeSetParams(struct rt_graph *exec, const struct rt_node *node,
                                               const fill_params *p) {
    struct rt_op op;
    return fill_op(p, &op) ? set(of_exec(exec, node), &op) : ww_rt_set(RT_ERROR_INVALID_VALUE);
}

RT_EXPORT int cudaGraphExecMemcpyNodeSetParams1D(struct rt_graph *exec, const struct rt_node *node, void *dst,
                                                 const void *src, size_t n, int kind) {
    const struct rt_op op = {RT_OP_COPY, {.copy = {dst, src, n, n, n, 1, kind}}};
    return set(of_exec(exec, node), &op);
}

RT_EXPORT int cudaGraphExecHostNodeSetParams(struct rt_graph *exec, const struct rt_node *node,
                                             const host_params *p) {
    if (!p || !p->fn) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    const struct rt_op op = {RT_OP_HOST, {.host = {p->fn, p->data}}};
    return set(of_exec(exec, node), &op);
}

/* ---- launches ---- */

RT_EXPORT int cudaGraphInstantiateWithFlags(struct rt_graph **exec, struct rt_graph *graph,
                                            unsigned long long flags) {
    (void)flags;
    RT_ENTER;
    return ww_rt_set(ww_rt_exec_new(exec, graph));
}

RT_EXPORT int cudaGraphExecDestroy(struct rt_graph *exec) {
    RT_LOCK;
    return ww_rt_set(ww_rt_exec_free(exec));
}

RT_EXPORT int cudaGraphLaunch(struct rt_graph *exec, void *stream) {
    RT_ENTER;
    return ww_rt_set(ww_rt_exec_launch(exec, stream));
}
RT_ALIAS(cudaGraphLaunch_ptsz, cudaGraphLaunch)

RT_EXPORT int cudaGraphUpload(struct rt_graph *exec, void *stream) {
    (void)exec;
    RT_ENTER;
    return ww_rt_set(ww_rt_known_stream(stream) ? 0 : RT_ERROR_INVALID_RESOURCE_HANDLE);
}
RT_ALIAS(cudaGraphUpload_ptsz, cudaGraphUpload)
