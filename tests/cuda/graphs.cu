/* graphs.cu: captures, graphs made by hand, updates of graphs that were instantiated. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define EXPECT(condition)                                                                                      \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                           \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

__global__ void add(int *p, int value) {
    p[threadIdx.x] += value;
}

__global__ void scale(int *p, int by) {
    p[threadIdx.x] *= by;
}

static int first(const int *p) {
    int host = -1;
    EXPECT(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    return host;
}

static cudaGraph_t captured(cudaStream_t stream, int *p, int value, bool more) {
    cudaGraph_t graph;
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    add<<<1, 32, 0, stream>>>(p, value);
    if (more) EXPECT(cudaMemsetAsync(p, 0, 4, stream) == cudaSuccess);
    scale<<<1, 32, 0, stream>>>(p, 2);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    return graph;
}

static void update(cudaStream_t stream, int *p) {
    cudaGraph_t graph = captured(stream, p, 1, false), other = captured(stream, p, 5, false),
                longer = captured(stream, p, 1, true);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    EXPECT(cudaMemset(p, 0, 128) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess && first(p) == 2);
    EXPECT(cudaGraphExecUpdate(exec, other, &info) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess && first(p) == 14);
    EXPECT(cudaGraphExecUpdate(exec, longer, &info) == cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result != cudaGraphExecUpdateSuccess);
    EXPECT(cudaGraphExecDestroy(exec) == cudaSuccess);
}

static void by_hand(cudaStream_t stream, int *p) {
    cudaGraph_t graph, child;
    cudaGraphNode_t fill, plus, times, inner;
    cudaGraphExec_t exec;
    cudaKernelNodeParams k = {};
    cudaMemsetParams m = {};
    int value = 3, by = 7;
    void *add_arguments[] = {&p, &value}, *scale_arguments[] = {&p, &by};
    k.gridDim = dim3(1);
    k.blockDim = dim3(32);
    m.dst = p;
    m.elementSize = 4;
    m.width = 32;
    m.height = 1;
    m.value = 10;
    EXPECT(cudaGraphCreate(&graph, 0) == cudaSuccess && cudaGraphCreate(&child, 0) == cudaSuccess);
    k.func = (void *)scale;
    k.kernelParams = scale_arguments;
    EXPECT(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &k) == cudaSuccess);
    /* added before what it depends on */
    EXPECT(cudaGraphAddChildGraphNode(&times, graph, nullptr, 0, child) == cudaSuccess);
    k.func = (void *)add;
    k.kernelParams = add_arguments;
    EXPECT(cudaGraphAddKernelNode(&plus, graph, nullptr, 0, &k) == cudaSuccess);
    EXPECT(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m) == cudaSuccess);
    cudaGraphNode_t from[] = {fill, plus}, to[] = {plus, times};
#if CUDART_VERSION >= 13000
    EXPECT(cudaGraphAddDependencies(graph, from, to, nullptr, 2) == cudaSuccess);
#else
    EXPECT(cudaGraphAddDependencies(graph, from, to, 2) == cudaSuccess);
#endif
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess && first(p) == 91);
    value = 4;
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, plus, &k) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess && first(p) == 98);
    cudaGraphNode_t circle[] = {times}, begin[] = {fill};
#if CUDART_VERSION >= 13000
    EXPECT(cudaGraphAddDependencies(graph, circle, begin, nullptr, 1) == cudaSuccess);
#else
    EXPECT(cudaGraphAddDependencies(graph, circle, begin, 1) == cudaSuccess);
#endif
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroy(graph) == cudaSuccess && cudaGraphDestroy(child) == cudaSuccess);
}

int main() {
    int *p;
    cudaStream_t stream;
    EXPECT(cudaMalloc(&p, 128) == cudaSuccess && cudaStreamCreate(&stream) == cudaSuccess);
    update(stream, p);
    by_hand(stream, p);
    puts("PASS");
    return 0;
}
