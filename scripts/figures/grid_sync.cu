// grid_sync SYNCS CTAS_PER_SM THREADS: one cooperative launch of a kernel that does nothing but grid.sync().
#include <cooperative_groups.h>
#include <stdio.h>
#include <stdlib.h>
namespace cg = cooperative_groups;

__global__ void syncs(int n) {
    cg::grid_group grid = cg::this_grid();
    for (int i = 0; i < n; i++) grid.sync();
}

int main(int count, char **word) {
    if (count != 4) return 2;
    int n = atoi(word[1]), sms = 0;
    void *argument[] = {&n};
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaError_t code =
        cudaLaunchCooperativeKernel((void *)syncs, dim3(sms * atoi(word[2])), dim3(atoi(word[3])), argument, 0, 0);
    if (code == cudaSuccess) code = cudaDeviceSynchronize();
    if (code != cudaSuccess) fprintf(stderr, "grid_sync: %s\n", cudaGetErrorString(code));
    return code != cudaSuccess;
}
