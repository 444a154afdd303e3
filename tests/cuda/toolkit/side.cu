// Two kernels beside one another and one behind both: of streams with events, or ("graph") of a captured graph.
#include <cstdio>

__global__ void work(float *p, int n) {
    float x = p[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < n; i++) x = x * 1.0001f + 0.5f;
    p[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int argc, char **) {
    const int ctas = 40, threads = 128, n = 2 * ctas * threads;
    float *d;
    cudaStream_t a, b;
    cudaEvent_t begun, done;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int bad = 0;
    bad |= cudaMalloc(&d, n * sizeof *d) | cudaMemset(d, 0, n * sizeof *d);
    bad |= cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) | cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    bad |= cudaEventCreate(&begun) | cudaEventCreate(&done) | cudaDeviceSynchronize();
    if (argc > 1) bad |= cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    bad |= cudaEventRecord(begun, a) | cudaStreamWaitEvent(b, begun, 0);
    work<<<ctas, threads, 0, a>>>(d, 400);
    work<<<ctas, threads, 0, b>>>(d + n / 2, 400);
    bad |= cudaEventRecord(done, b) | cudaStreamWaitEvent(a, done, 0);
    work<<<2 * ctas, threads, 0, a>>>(d, 100);
    if (argc > 1) {
        bad |= cudaStreamEndCapture(a, &graph) | cudaGraphInstantiate(&exec, graph, 0);
        bad |= cudaGraphLaunch(exec, a);
    }
    bad |= cudaDeviceSynchronize();
    puts(bad ? "failed" : "PASS");
    return bad != 0;
}
