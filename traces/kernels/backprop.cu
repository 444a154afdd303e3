/* backprop: training of a network with one hidden layer of 16 units, one input vector at a time. Row i of the
 * weights belongs to input i, row 0 and column 0 to the biases; rows are 17 words long. A CTA of 16 x 16
 * threads takes 16 inputs, threadIdx.x runs over the hidden units. */
#include "ww_device.h"

#define UNITS 16

/* partial[block][unit] = sum of input[i] weight[i][unit] over the 16 inputs of the block, by a tree. */
extern "C" __global__ void backprop_layerforward(const float *__restrict__ input,
                                                 const float *__restrict__ weight,
                                                 float *__restrict__ partial) {
    __shared__ float node[UNITS], term[UNITS][UNITS];
    unsigned unit = threadIdx.x, row = threadIdx.y, i = blockIdx.y * UNITS + row + 1;
    if (unit == 0) node[row] = input[i];
    __syncthreads();
    term[row][unit] = weight[i * (UNITS + 1) + unit + 1] * node[row];
    __syncthreads();
#pragma unroll 1
    for (unsigned step = 1; step < UNITS; step *= 2) {
        if (row % (2 * step) == 0) term[row][unit] += term[row + step][unit];
        __syncthreads();
    }
    if (row == 0) partial[blockIdx.y * UNITS + unit] = term[0][unit];
}

/* change = rate delta[unit] input[i] + momentum (last change); weight += change. */
static __device__ __forceinline__ void adjust(const float *__restrict__ delta, const float *__restrict__ input,
                                              float *__restrict__ weight, float *__restrict__ change,
                                              unsigned i, unsigned unit, float rate, float momentum) {
    unsigned at = i * (UNITS + 1) + unit;
    float d = rate * delta[unit] * input[i] + momentum * change[at];
    weight[at] += d;
    change[at] = d;
}

extern "C" __global__ void backprop_adjust_weights(const float *__restrict__ delta,
                                                   const float *__restrict__ input,
                                                   float *__restrict__ weight, float *__restrict__ change,
                                                   float rate, float momentum) {
    unsigned unit = threadIdx.x + 1, i = blockIdx.y * UNITS + threadIdx.y + 1;
    adjust(delta, input, weight, change, i, unit, rate, momentum);
    if (blockIdx.y == 0 && threadIdx.y == 0) adjust(delta, input, weight, change, 0, unit, rate, momentum);
}

/* As Rodinia's compiles: nothing says that the arrays are distinct, so all is read and computed anew after the
 * first store. */
static __device__ __forceinline__ void adjust_aliased(const float *delta, const float *input, float *weight,
                                                      float *change, unsigned i, unsigned unit, float rate,
                                                      float momentum) {
    unsigned at = i * (UNITS + 1) + unit;
    weight[at] += rate * delta[unit] * input[i] + momentum * change[at];
    change[at] = rate * delta[unit] * input[i] + momentum * change[at];
}

extern "C" __global__ void backprop_adjust_aliased(const float *delta, const float *input, float *weight,
                                                   float *change, float rate, float momentum) {
    unsigned unit = threadIdx.x + 1, i = blockIdx.y * UNITS + threadIdx.y + 1;
    adjust_aliased(delta, input, weight, change, i, unit, rate, momentum);
    __syncthreads();
    if (blockIdx.y == 0 && threadIdx.y == 0)
        adjust_aliased(delta, input, weight, change, 0, unit, rate, momentum);
}
