/* refused.cu: a kernel that asks for what is not modelled: a launch of its own (-DNESTED), or a value of a
 * conditional node. */
#include <cstdio>

#ifdef NESTED
__global__ void inner(int *p) { atomicAdd(p, 1); }
__global__ void outer(int *p) { inner<<<2, 32>>>(p); }
#else
__global__ void outer(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 0); }
#endif

int main() {
    int failed = 0;
#ifdef NESTED
    int *p;
    failed |= cudaMalloc(&p, sizeof *p) != cudaSuccess;
    outer<<<1, 1>>>(p);
#else
    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    failed |= cudaGraphCreate(&graph, 0) != cudaSuccess;
    failed |= cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault) != cudaErrorNotSupported;
    outer<<<1, 1>>>(cudaGraphConditionalHandle());
#endif
    failed |= cudaGetLastError() != cudaErrorNotSupported;
    puts(failed ? "FAIL" : "PASS");
    return failed;
}
