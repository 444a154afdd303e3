/* sad: sums of absolute differences between the blocks of each 16 x 16 macroblock of a frame and a reference
 * frame at every displacement within a range, for all block sizes of H.264: 41 sums a macroblock. Sums of two
 * successive displacements lie in one word: sum[(macroblock * SUMS + which) * words + displacement / 2]. */
#include "ww_device.h"

#define SIDE 16
#define RANGE_MAX 16
#define WINDOW (SIDE + 2 * RANGE_MAX)
#define SUMS 41 /* 16 of 4 x 4 by rows, then for each quadrant: 8 x 4 (8), 4 x 8 (8), 8 x 8 (4); then larger   \
                 */
#define FIRST_8X4 16
#define FIRST_4X8 24
#define FIRST_8X8 32
#define FIRST_16X8 36
#define FIRST_8X16 38
#define FIRST_16X16 40

WW_BUILTIN unsigned absolute_difference(unsigned a, unsigned b, unsigned sum) {
    unsigned r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
    return r;
}

/* A CTA per macroblock. The part of the reference that displacements reach lies in shared memory; beyond its
 * edge the reference goes on with its edge's values. A thread takes every blockDim.x-th displacement. */
extern "C" __global__ void sad_macroblock(const unsigned char *__restrict__ frame,
                                          const unsigned char *__restrict__ reference,
                                          unsigned short *__restrict__ sum, int width, int height, int range,
                                          unsigned words) {
    __shared__ unsigned char window[WINDOW][WINDOW], block[SIDE][SIDE];
    int left = (int)blockIdx.x * SIDE, top = (int)blockIdx.y * SIDE, t = (int)threadIdx.x;
    int side = SIDE + 2 * range, across = 2 * range + 1;
#pragma unroll 1
    for (int y = 0; y < side; y++) {
        int row = top + y - range;
        row = row < 0 ? 0 : row < height ? row : height - 1;
#pragma unroll 1
        for (int x = t; x < side; x += (int)blockDim.x) {
            int col = left + x - range;
            col = col < 0 ? 0 : col < width ? col : width - 1;
            window[y][x] = reference[row * width + col];
        }
    }
#pragma unroll 1
    for (int i = t; i < SIDE * SIDE; i += (int)blockDim.x)
        block[i / SIDE][i % SIDE] = frame[(top + i / SIDE) * width + left + i % SIDE];
    __syncthreads();
    unsigned short *out = sum + (blockIdx.y * gridDim.x + blockIdx.x) * SUMS * words * 2;
#pragma unroll 1
    for (int d = t; d < across * across; d += (int)blockDim.x) {
        int dy = d / across, dx = d % across;
#pragma unroll 1
        for (int b = 0; b < 16; b++) {
            int by = b / 4 * 4, bx = b % 4 * 4;
            const unsigned char *p = &window[dy + by][dx + bx], *q = &block[by][bx];
            unsigned s = 0;
#pragma unroll
            for (int y = 0; y < 4; y++)
#pragma unroll
                for (int x = 0; x < 4; x++) s = absolute_difference(q[y * SIDE + x], p[y * WINDOW + x], s);
            out[(unsigned)b * words * 2 + d] = (unsigned short)s;
        }
    }
}

/* 8 x 4, 4 x 8 and 8 x 8 from 4 x 4: a CTA per macroblock, a quadrant per threadIdx.y. Sums stay below 2^16,
 * so that both halves of a word are added at once. */
extern "C" __global__ void sad_larger_8(unsigned *sum, unsigned words) {
    unsigned q = threadIdx.y, b = q / 2 * 8 + q % 2 * 2; /* its first 4 x 4 block */
    unsigned *s = sum + (blockIdx.y * gridDim.x + blockIdx.x) * SUMS * words;
#pragma unroll 1
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        unsigned a0 = s[b * words + w], a1 = s[(b + 1) * words + w];
        unsigned b0 = s[(b + 4) * words + w], b1 = s[(b + 5) * words + w];
        s[(FIRST_8X4 + 2 * q) * words + w] = a0 + a1;
        s[(FIRST_8X4 + 2 * q + 1) * words + w] = b0 + b1;
        s[(FIRST_4X8 + 2 * q) * words + w] = a0 + b0;
        s[(FIRST_4X8 + 2 * q + 1) * words + w] = a1 + b1;
        s[(FIRST_8X8 + q) * words + w] = a0 + a1 + b0 + b1;
    }
}

/* 16 x 8, 8 x 16 and 16 x 16 from 8 x 8: a CTA per macroblock. */
extern "C" __global__ void sad_larger_16(unsigned *sum, unsigned words) {
    unsigned *s = sum + (blockIdx.y * gridDim.x + blockIdx.x) * SUMS * words;
#pragma unroll 1
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        unsigned a0 = s[FIRST_8X8 * words + w], a1 = s[(FIRST_8X8 + 1) * words + w];
        unsigned b0 = s[(FIRST_8X8 + 2) * words + w], b1 = s[(FIRST_8X8 + 3) * words + w];
        s[FIRST_16X8 * words + w] = a0 + a1;
        s[(FIRST_16X8 + 1) * words + w] = b0 + b1;
        s[FIRST_8X16 * words + w] = a0 + b0;
        s[(FIRST_8X16 + 1) * words + w] = a1 + b1;
        s[FIRST_16X16 * words + w] = a0 + a1 + b0 + b1;
    }
}
