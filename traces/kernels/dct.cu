/* dct: the discrete cosine transform of 8 x 8 blocks (type II, orthonormal) and its inverse, in single precision and
 * in 16-bit integers. A thread transforms one row and one column of a block in shared memory; a thread of the
 * integer kernels, whose tiles are of 32 x 32 pixels, moves two of them at a time. The tile has rows of 32 elements;
 * `padded` kernels have longer ones, so that the rows of a block, which a warp's threads take side by side, begin in
 * different banks. Grids cover images of whole tiles. */
#include "ww_device.h"

/* cos(k pi / 16) / 2; C4 is that of the constant term, too. */
#define C1 0.49039264020161522f
#define C2 0.46193976625564337f
#define C3 0.41573480615127262f
#define C4 0.35355339059327376f
#define C5 0.27778511650980114f
#define C6 0.19134171618254492f
#define C7 0.09754516100806417f

static __device__ __forceinline__ void forward(float *p, unsigned step) {
    float x0 = p[0], x1 = p[step], x2 = p[2 * step], x3 = p[3 * step];
    float x4 = p[4 * step], x5 = p[5 * step], x6 = p[6 * step], x7 = p[7 * step];
    float a0 = x0 + x7, a1 = x1 + x6, a2 = x2 + x5, a3 = x3 + x4;
    float b0 = x0 - x7, b1 = x1 - x6, b2 = x2 - x5, b3 = x3 - x4;
    float e0 = a0 + a3, e1 = a1 + a2, e2 = a0 - a3, e3 = a1 - a2;
    p[0] = C4 * (e0 + e1);
    p[step] = C1 * b0 + C3 * b1 + C5 * b2 + C7 * b3;
    p[2 * step] = C2 * e2 + C6 * e3;
    p[3 * step] = C3 * b0 - C7 * b1 - C1 * b2 - C5 * b3;
    p[4 * step] = C4 * (e0 - e1);
    p[5 * step] = C5 * b0 - C1 * b1 + C7 * b2 + C3 * b3;
    p[6 * step] = C6 * e2 - C2 * e3;
    p[7 * step] = C7 * b0 - C5 * b1 + C3 * b2 - C1 * b3;
}

static __device__ __forceinline__ void inverse(float *p, unsigned step) {
    float y0 = p[0], y1 = p[step], y2 = p[2 * step], y3 = p[3 * step];
    float y4 = p[4 * step], y5 = p[5 * step], y6 = p[6 * step], y7 = p[7 * step];
    float s = C4 * (y0 + y4), d = C4 * (y0 - y4);
    float e2 = C2 * y2 + C6 * y6, e3 = C6 * y2 - C2 * y6;
    float a0 = s + e2, a1 = d + e3, a2 = d - e3, a3 = s - e2;
    float b0 = C1 * y1 + C3 * y3 + C5 * y5 + C7 * y7;
    float b1 = C3 * y1 - C7 * y3 - C1 * y5 - C5 * y7;
    float b2 = C5 * y1 - C1 * y3 + C7 * y5 + C3 * y7;
    float b3 = C7 * y1 - C5 * y3 + C3 * y5 - C1 * y7;
    p[0] = a0 + b0;
    p[step] = a1 + b1;
    p[2 * step] = a2 + b2;
    p[3 * step] = a3 + b3;
    p[4 * step] = a3 - b3;
    p[5 * step] = a2 - b2;
    p[6 * step] = a1 - b1;
    p[7 * step] = a0 - b0;
}

#define WIDTH 32 /* of a tile, in elements */
#define ROWS 16  /* of a tile of floats */

/* CTAs of 8 x 4 x 2 threads: y is the block along the tile's width, z along its height. A warp has one z, so the
 * rows and columns that it exchanges are its own. */
template <bool BACK, unsigned STRIDE>
static __device__ __forceinline__ void tile_of_floats(const float *in, float *out, unsigned pitch) {
    __shared__ float tile[ROWS * STRIDE];
    unsigned column = threadIdx.y * 8 + threadIdx.x, row = threadIdx.z * 8;
    unsigned long first = (unsigned long)(blockIdx.y * ROWS + row) * pitch + blockIdx.x * WIDTH + column;
    float *own = tile + row * STRIDE + column;
    for (unsigned i = 0; i < 8; i++) own[i * STRIDE] = in[first + (unsigned long)i * pitch];
    __syncwarp();
    float *across = tile + (row + threadIdx.x) * STRIDE + threadIdx.y * 8;
    if (BACK)
        inverse(across, 1);
    else
        forward(across, 1);
    __syncwarp();
    if (BACK)
        inverse(own, STRIDE);
    else
        forward(own, STRIDE);
    for (unsigned i = 0; i < 8; i++) out[first + (unsigned long)i * pitch] = own[i * STRIDE];
}

/* The same constants in units of 2^-13; sums stay below 2^31, as the inputs are of 16 bits. */
#define K1 4017
#define K2 3784
#define K3 3406
#define K4 2896
#define K5 2276
#define K6 1567
#define K7 799

/* Rounds halves away from zero, drops the units, and limits to 16 bits. */
static __device__ __forceinline__ int to_short(int sum) {
    int v = (sum + 4096 + (sum >> 31)) >> 13;
    v = v < -32768 ? -32768 : v;
    return v > 32767 ? 32767 : v;
}

static __device__ __forceinline__ void forward(int *v) {
    int a0 = v[0] + v[7], a1 = v[1] + v[6], a2 = v[2] + v[5], a3 = v[3] + v[4];
    int b0 = v[0] - v[7], b1 = v[1] - v[6], b2 = v[2] - v[5], b3 = v[3] - v[4];
    int e0 = a0 + a3, e1 = a1 + a2, e2 = a0 - a3, e3 = a1 - a2;
    v[0] = to_short(K4 * (e0 + e1));
    v[1] = to_short(K1 * b0 + K3 * b1 + K5 * b2 + K7 * b3);
    v[2] = to_short(K2 * e2 + K6 * e3);
    v[3] = to_short(K3 * b0 - K7 * b1 - K1 * b2 - K5 * b3);
    v[4] = to_short(K4 * (e0 - e1));
    v[5] = to_short(K5 * b0 - K1 * b1 + K7 * b2 + K3 * b3);
    v[6] = to_short(K6 * e2 - K2 * e3);
    v[7] = to_short(K7 * b0 - K5 * b1 + K3 * b2 - K1 * b3);
}

static __device__ __forceinline__ void inverse(int *v) {
    int s = K4 * (v[0] + v[4]), d = K4 * (v[0] - v[4]);
    int e2 = K2 * v[2] + K6 * v[6], e3 = K6 * v[2] - K2 * v[6];
    int a0 = s + e2, a1 = d + e3, a2 = d - e3, a3 = s - e2;
    int b0 = K1 * v[1] + K3 * v[3] + K5 * v[5] + K7 * v[7];
    int b1 = K3 * v[1] - K7 * v[3] - K1 * v[5] - K5 * v[7];
    int b2 = K5 * v[1] - K1 * v[3] + K7 * v[5] + K3 * v[7];
    int b3 = K7 * v[1] - K5 * v[3] + K3 * v[5] - K1 * v[7];
    v[0] = to_short(a0 + b0);
    v[1] = to_short(a1 + b1);
    v[2] = to_short(a2 + b2);
    v[3] = to_short(a3 + b3);
    v[4] = to_short(a3 - b3);
    v[5] = to_short(a2 - b2);
    v[6] = to_short(a1 - b1);
    v[7] = to_short(a0 - b0);
}

template <bool BACK> static __device__ __forceinline__ void transform(int *v) {
    if (BACK)
        inverse(v);
    else
        forward(v);
}

/* A column of a block, element by element. */
template <bool BACK, unsigned STRIDE> static __device__ __forceinline__ void short_column(short *p) {
    int v[8];
    for (int i = 0; i < 8; i++) v[i] = p[i * STRIDE];
    transform<BACK>(v);
    for (int i = 0; i < 8; i++) p[i * STRIDE] = (short)v[i];
}

/* A row of a block, two elements to a word. */
template <bool BACK> static __device__ __forceinline__ void short_row(int *p) {
    int v[8];
    for (int i = 0; i < 4; i++) {
        int pair = p[i];
        v[2 * i] = (short)pair;
        v[2 * i + 1] = pair >> 16;
    }
    transform<BACK>(v);
    for (int i = 0; i < 4; i++) p[i] = (v[2 * i] & 0xffff) | v[2 * i + 1] << 16;
}

/* CTAs of 8 x 4 x 4 threads. Of each row of 32 threads the first 16 move the pixels. Columns are dealt so that the
 * first 16 threads take the even ones: side by side they then lie in different words. */
template <bool BACK, unsigned STRIDE>
static __device__ __forceinline__ void tile_of_shorts(const short *in, short *out, unsigned pitch) {
    __shared__ __attribute__((aligned(4))) short tile[WIDTH * STRIDE];
    unsigned place = threadIdx.y * 8 + threadIdx.x, row = threadIdx.z * 8;
    unsigned long first = (unsigned long)(blockIdx.y * WIDTH + row) * pitch + blockIdx.x * WIDTH + place * 2;
    int *own = (int *)(tile + row * STRIDE + place * 2);
    if (place < WIDTH / 2)
        for (unsigned i = 0; i < 8; i++) own[i * STRIDE / 2] = *(const int *)(in + first + (unsigned long)i * pitch);
    __syncthreads();
    short_column<BACK, STRIDE>(tile + row * STRIDE + (place * 2 + place / 16) % WIDTH);
    __syncthreads();
    short_row<BACK>((int *)(tile + place * STRIDE + row));
    __syncthreads();
    if (place < WIDTH / 2)
        for (unsigned i = 0; i < 8; i++) *(int *)(out + first + (unsigned long)i * pitch) = own[i * STRIDE / 2];
}

#define KERNEL(name, type, tile, back, stride)                                                                 \
    extern "C" __global__ void name(const type *in, type *out, unsigned pitch) {                               \
        tile<back, stride>(in, out, pitch);                                                                    \
    }
KERNEL(dct_forward, float, tile_of_floats, false, 32)
KERNEL(dct_forward_padded, float, tile_of_floats, false, 33)
KERNEL(dct_inverse, float, tile_of_floats, true, 32)
KERNEL(dct_inverse_padded, float, tile_of_floats, true, 33)
KERNEL(dct_short_forward, short, tile_of_shorts, false, 32)
KERNEL(dct_short_forward_padded, short, tile_of_shorts, false, 34)
KERNEL(dct_short_inverse, short, tile_of_shorts, true, 32)
KERNEL(dct_short_inverse_padded, short, tile_of_shorts, true, 34)
