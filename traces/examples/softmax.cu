/* softmax.cu: softmax of each row of a matrix; one warp of a CTA per row, exchanged through shuffles.
 * softmax.ptx was made from it with:  nvcc -O3 -lineinfo -arch=sm_80 -ptx softmax.cu */

__device__ float warp_max(float v) {
    for (int d = 16; d; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

__device__ float warp_sum(float v) {
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void softmax(float *out, const float *in, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *x = in + (size_t)row * columns;
    float *y = out + (size_t)row * columns, top = -INFINITY, sum = 0;
    for (int c = lane; c < columns; c += 32) top = fmaxf(top, x[c]);
    top = warp_max(top);
    for (int c = lane; c < columns; c += 32) sum += __expf(x[c] - top);
    sum = warp_sum(sum);
    for (int c = lane; c < columns; c += 32) y[c] = __expf(x[c] - top) / sum;
}
