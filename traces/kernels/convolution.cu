/* convolution: the pass over columns of a separable filter of 17 taps. A CTA of 16 x 8 threads takes 16 columns
 * and 112 rows, 14 by a thread, and a margin of 8 above and below; columns lie one behind the other in shared
 * memory, 129 words apart. The taps are the kernel's argument, and so in constant memory. The image has 8 rows
 * more above and below. */
#include "ww_device.h"

#define RADIUS 8
#define COLUMNS 16
#define LINES 8
#define STEPS 14

struct taps {
    float c[2 * RADIUS + 1];
};

extern "C" __global__ void convolution_columns(const float *__restrict__ in, float *__restrict__ out,
                                               struct taps taps, unsigned width) {
    __shared__ float column[COLUMNS][(STEPS + 2) * LINES + 1];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned at = (blockIdx.y * STEPS * LINES + y) * width + blockIdx.x * COLUMNS + x;
    float stage[STEPS + 2];
#pragma unroll
    for (unsigned i = 0; i < STEPS + 2; i++) stage[i] = in[at + i * LINES * width];
#pragma unroll
    for (unsigned i = 0; i < STEPS + 2; i++) column[x][y + i * LINES] = stage[i];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < STEPS; i++) {
        float v[2 * RADIUS + 1], sum = 0.0f;
#pragma unroll
        for (unsigned k = 0; k <= 2 * RADIUS; k++) v[k] = column[x][y + i * LINES + k];
#pragma unroll
        for (unsigned k = 0; k <= 2 * RADIUS; k++) sum += taps.c[k] * v[k];
        out[at + i * LINES * width] = sum;
    }
}
