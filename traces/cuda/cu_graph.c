/* cu_graph.c: the driver's interface: captures and graphs. */
#include "core_graph.h"
#include "cu.h"

typedef struct {
    struct rt_kernel *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    struct rt_kernel *kernel; /* from version 12 */
    void *context;
} cu_kernel_params;

RT_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
    (void)mode;
    CU_CONTEXT;
    return ww_cu_code(ww_rt_capture_begin(stream));
}
RT_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2)

RT_EXPORT int cuStreamEndCapture(void *stream, struct rt_graph **graph) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_capture_end(stream, graph));
}
RT_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture)

RT_EXPORT int cuGraphCreate(struct rt_graph **out, unsigned flags) {
    CU_ENTER;
    return flags ? RT_ERROR_INVALID_VALUE : ww_cu_code(ww_rt_graph_new(out));
}

RT_EXPORT int cuGraphDestroy(struct rt_graph *graph) {
    CU_ENTER;
    return ww_cu_code(ww_rt_graph_free(graph));
}

RT_EXPORT int cuGraphGetNodes(struct rt_graph *graph, struct rt_node **nodes, size_t *count) {
    CU_ENTER;
    return ww_cu_code(ww_rt_graph_nodes(graph, nodes, count, false));
}

RT_EXPORT int cuGraphGetRootNodes(struct rt_graph *graph, struct rt_node **nodes, size_t *count) {
    CU_ENTER;
    return ww_cu_code(ww_rt_graph_nodes(graph, nodes, count, true));
}

RT_EXPORT int cuGraphNodeGetType(struct rt_node *node, int *type) {
    CU_ENTER;
    if (!type || !ww_rt_node_find(node)) return RT_ERROR_INVALID_VALUE;
    *type = (int)node->op.kind;
    return 0;
}

static int launch_op(const cu_kernel_params *p, bool later, struct rt_op *op) {
    struct rt_kernel *k = p ? p->function : NULL;
    if (!p || p->extra) return p ? RT_ERROR_NOT_SUPPORTED : RT_ERROR_INVALID_VALUE;
    k = ww_rt_find_kernel(!k && later ? p->kernel : k);
    *op = (struct rt_op){RT_OP_LAUNCH,
                         {.launch = {k,
                                     {.grid = {p->grid[0], p->grid[1], p->grid[2]},
                                      .block = {p->block[0], p->block[1], p->block[2]},
                                      .dynamic_shared = p->shared},
                                     p->arguments}}};
    return k ? 0 : CU_INVALID_HANDLE;
}

static int add_kernel(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before, size_t count,
                      const cu_kernel_params *p, bool later) {
    struct rt_op op;
    CU_CONTEXT;
    int code = out ? launch_op(p, later, &op) : RT_ERROR_INVALID_VALUE;
    return code ? code : ww_cu_code(ww_rt_graph_add(graph, before, count, &op, out));
}

RT_EXPORT int cuGraphAddKernelNode(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before,
                                   size_t count, const cu_kernel_params *p) {
    return add_kernel(out, graph, before, count, p, false);
}
RT_EXPORT int cuGraphAddKernelNode_v2(struct rt_node **out, struct rt_graph *graph,
                                      struct rt_node *const *before, size_t count, const cu_kernel_params *p) {
    return add_kernel(out, graph, before, count, p, true);
}

RT_EXPORT int cuGraphAddEmptyNode(struct rt_node **out, struct rt_graph *graph, struct rt_node *const *before,
                                  size_t count) {
    const struct rt_op op = {.kind = RT_OP_EMPTY};
    CU_CONTEXT;
    return out ? ww_cu_code(ww_rt_graph_add(graph, before, count, &op, out)) : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuGraphInstantiateWithFlags(struct rt_graph **exec, struct rt_graph *graph,
                                          unsigned long long flags) {
    (void)flags;
    CU_CONTEXT;
    return ww_cu_code(ww_rt_exec_new(exec, graph));
}

RT_EXPORT int cuGraphExecDestroy(struct rt_graph *exec) {
    CU_ENTER;
    return ww_cu_code(ww_rt_exec_free(exec));
}

RT_EXPORT int cuGraphLaunch(struct rt_graph *exec, void *stream) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_exec_launch(exec, stream));
}
RT_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch)

RT_EXPORT int cuGraphUpload(struct rt_graph *exec, void *stream) {
    (void)exec;
    CU_CONTEXT;
    return ww_rt_known_stream(stream) ? 0 : CU_INVALID_HANDLE;
}
RT_ALIAS(cuGraphUpload_ptsz, cuGraphUpload)
