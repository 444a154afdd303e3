/* d2_stream: kernels that buffer vectors in shared memory: SAXPY and SGEMV (as in CudaDMA's examples), a step of
 * the shortest-path search on a grid, fast Walsh transform, Haar wavelet transform. Plain, with D2MA (_dma), and the
 * first two with CudaDMA (_cudadma): warps of their own fetch, and meet those that compute at named barriers
 * (M. Bauer, H. Cook, B. Khailany, CudaDMA, SC 2011). */
#include "ww_dma.h"

WW_BUILTIN void bar_sync(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
WW_BUILTIN void bar_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* ---- SAXPY: y = a x + y; a CTA takes `tiles` tiles of SAXPY_TILE elements ---- */

#define SAXPY_THREADS 128
#define SAXPY_TILE 512

static __device__ __forceinline__ void saxpy_tile(float *y, const float *sx, const float *sy, float a, int t) {
#pragma unroll
    for (int i = 0; i < SAXPY_TILE; i += SAXPY_THREADS) y[i + t] = a * sx[i + t] + sy[i + t];
}

static __device__ __forceinline__ void copy_tile(float *to, const float *from, int t, int threads) {
#pragma unroll
    for (int i = 0; i < SAXPY_TILE; i += threads) to[i + t] = from[i + t];
}

extern "C" __global__ void d2_saxpy(const float *x, float *y, float a, int tiles) {
    __shared__ float sx[SAXPY_TILE], sy[SAXPY_TILE];
    unsigned base = blockIdx.x * tiles * SAXPY_TILE;
    for (int k = 0; k < tiles; k++, base += SAXPY_TILE) {
        copy_tile(sx, x + base, threadIdx.x, SAXPY_THREADS);
        copy_tile(sy, y + base, threadIdx.x, SAXPY_THREADS);
        __syncthreads();
        saxpy_tile(y + base, sx, sy, a, threadIdx.x);
        __syncthreads();
    }
}

extern "C" __global__ void d2_saxpy_dma(const float *x, float *y, float a, int tiles) {
    __shared__ float sx[SAXPY_TILE], sy[SAXPY_TILE];
    unsigned base = blockIdx.x * tiles * SAXPY_TILE;
    dma_flat(0, sizeof(float), SAXPY_TILE);
    dma_flat(1, sizeof(float), SAXPY_TILE);
    for (int k = 0; k < tiles; k++, base += SAXPY_TILE) {
        dma_execute(0, sx, x + base);
        dma_execute(1, sy, y + base);
        saxpy_tile(y + base, sx, sy, a, threadIdx.x);
    }
}

/* Warps 0-3 compute, 4 fetches x, 5 fetches y. Barriers 1 and 3: the tile is free; 2 and 4: it is full. */
extern "C" __global__ void d2_saxpy_cudadma(const float *x, float *y, float a, int tiles) {
    __shared__ float sx[SAXPY_TILE], sy[SAXPY_TILE];
    unsigned base = blockIdx.x * tiles * SAXPY_TILE;
    int t = threadIdx.x;
    if (t < SAXPY_THREADS) {
        bar_arrive(1, SAXPY_THREADS + 32);
        bar_arrive(3, SAXPY_THREADS + 32);
        for (int k = 0; k < tiles; k++, base += SAXPY_TILE) {
            bar_sync(2, SAXPY_THREADS + 32);
            bar_sync(4, SAXPY_THREADS + 32);
            saxpy_tile(y + base, sx, sy, a, t);
            if (k == tiles - 1) break;
            bar_arrive(1, SAXPY_THREADS + 32);
            bar_arrive(3, SAXPY_THREADS + 32);
        }
    } else if (t < SAXPY_THREADS + 32) {
        for (int k = 0; k < tiles; k++, base += SAXPY_TILE) {
            bar_sync(1, SAXPY_THREADS + 32);
            copy_tile(sx, x + base, t - SAXPY_THREADS, 32);
            bar_arrive(2, SAXPY_THREADS + 32);
        }
    } else {
        for (int k = 0; k < tiles; k++, base += SAXPY_TILE) {
            bar_sync(3, SAXPY_THREADS + 32);
            copy_tile(sy, y + base, t - SAXPY_THREADS - 32, 32);
            bar_arrive(4, SAXPY_THREADS + 32);
        }
    }
}

/* ---- SGEMV: y = alpha A x, A by columns; a thread takes a row (figure 8 of the paper) ---- */

#define GEMV_THREADS 128
#define GEMV_ELEMENTS 128

static __device__ __forceinline__ float gemv_part(const float *A, int lda, const float *buff, float sum) {
#pragma unroll 8
    for (int j = 0; j < GEMV_ELEMENTS; j++) sum += A[j * lda] * buff[j];
    return sum;
}

extern "C" __global__ void d2_sgemv(int rows, int columns, float alpha, const float *__restrict__ A,
                                    const float *__restrict__ x, float *__restrict__ y) {
    __shared__ float buff[GEMV_ELEMENTS];
    int row = blockIdx.x * GEMV_THREADS + threadIdx.x;
    float sum = 0;
    A += row;
    for (int i = 0; i < columns; i += GEMV_ELEMENTS) {
        buff[threadIdx.x] = x[i + threadIdx.x];
        __syncthreads();
        sum = gemv_part(A, rows, buff, sum);
        A += GEMV_ELEMENTS * rows;
        __syncthreads();
    }
    y[row] = alpha * sum;
}

extern "C" __global__ void d2_sgemv_dma(int rows, int columns, float alpha, const float *__restrict__ A,
                                        const float *__restrict__ x, float *__restrict__ y) {
    __shared__ float buff[GEMV_ELEMENTS];
    dma_flat(0, sizeof(float), GEMV_ELEMENTS);
    dma_execute(0, buff, x);
    int row = blockIdx.x * GEMV_THREADS + threadIdx.x;
    float sum = 0;
    A += row;
    for (int i = 0; i < columns;) {
        sum = gemv_part(A, rows, buff, sum);
        A += GEMV_ELEMENTS * rows;
        i += GEMV_ELEMENTS;
        if (i < columns) dma_execute(0, buff, x + i);
    }
    y[row] = alpha * sum;
}

/* The last warp fetches. */
extern "C" __global__ void d2_sgemv_cudadma(int rows, int columns, float alpha, const float *__restrict__ A,
                                            const float *__restrict__ x, float *__restrict__ y) {
    __shared__ float buff[GEMV_ELEMENTS];
    int t = threadIdx.x;
    if (t < GEMV_THREADS) {
        int row = blockIdx.x * GEMV_THREADS + t;
        float sum = 0;
        A += row;
        bar_arrive(1, GEMV_THREADS + 32);
        for (int i = 0; i < columns;) {
            bar_sync(2, GEMV_THREADS + 32);
            sum = gemv_part(A, rows, buff, sum);
            A += GEMV_ELEMENTS * rows;
            i += GEMV_ELEMENTS;
            if (i < columns) bar_arrive(1, GEMV_THREADS + 32);
        }
        y[row] = alpha * sum;
    } else {
        for (int i = 0; i < columns; i += GEMV_ELEMENTS) {
            bar_sync(1, GEMV_THREADS + 32);
#pragma unroll
            for (int k = 0; k < GEMV_ELEMENTS; k += 32) buff[k + t - GEMV_THREADS] = x[i + k + t - GEMV_THREADS];
            bar_arrive(2, GEMV_THREADS + 32);
        }
    }
}

/* ---- PATH: `steps` rows of the dynamic programme over a grid of costs, a CTA over PATH_THREADS columns of which
 * `steps` on either side are recomputed by the neighbours too (Rodinia's pathfinder). Arrays have PATH_THREADS
 * elements of margin at both ends. ---- */

#define PATH_THREADS 256

static __device__ __forceinline__ void path_steps(const int *wall, int *to, int columns, int row, int steps,
                                                  int *prev, int *next, int first) {
    int t = threadIdx.x, x = first + t, result = 0;
    bool inside = x >= 0 && x < columns;
    int left = t == 0 || x == 0 ? t : t - 1, right = t == PATH_THREADS - 1 || x == columns - 1 ? t : t + 1;
    for (int i = 0; i < steps; i++) {
        bool computed = inside && t >= i + 1 && t <= PATH_THREADS - 2 - i;
        if (computed) {
            int least = prev[left] < prev[t] ? prev[left] : prev[t];
            least = prev[right] < least ? prev[right] : least;
            result = least + wall[columns * (row + i) + x];
            next[t] = result;
        }
        __syncthreads();
        if (i == steps - 1) {
            if (computed) to[x] = result;
            break;
        }
        if (computed) prev[t] = next[t];
        __syncthreads();
    }
}

extern "C" __global__ void d2_path(const int *__restrict__ wall, const int *__restrict__ from,
                                   int *__restrict__ to, int columns, int row, int steps) {
    __shared__ int prev[PATH_THREADS], next[PATH_THREADS];
    int first = (int)(blockIdx.x * (PATH_THREADS - 2 * steps)) - steps;
    prev[threadIdx.x] = from[first + (int)threadIdx.x];
    __syncthreads();
    path_steps(wall, to, columns, row, steps, prev, next, first);
}

extern "C" __global__ void d2_path_dma(const int *__restrict__ wall, const int *__restrict__ from,
                                       int *__restrict__ to, int columns, int row, int steps) {
    __shared__ int prev[PATH_THREADS], next[PATH_THREADS];
    int first = (int)(blockIdx.x * (PATH_THREADS - 2 * steps)) - steps;
    dma_flat(0, sizeof(int), PATH_THREADS);
    dma_execute(0, prev, from + first);
    path_steps(wall, to, columns, row, steps, prev, next, first);
}

/* ---- FW: Walsh transform of WALSH elements in shared memory, by radix 4 and a last radix 2 ---- */

#define WALSH 2048
#define WALSH_THREADS (WALSH / 4)

static __device__ __forceinline__ void walsh(float *s, float *out) {
    unsigned t = threadIdx.x;
#pragma unroll
    for (unsigned stride = WALSH / 4; stride > 1; stride >>= 2) {
        unsigned low = t & (stride - 1), i = ((t - low) << 2) + low;
        float a = s[i], b = s[i + stride], c = s[i + 2 * stride], d = s[i + 3 * stride];
        float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
        s[i] = ac + bd;
        s[i + stride] = ac - bd;
        s[i + 2 * stride] = a_c + b_d;
        s[i + 3 * stride] = a_c - b_d;
        __syncthreads();
    }
    for (unsigned k = t; k < WALSH / 2; k += WALSH_THREADS) {
        float a = s[2 * k], b = s[2 * k + 1];
        s[2 * k] = a + b;
        s[2 * k + 1] = a - b;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < WALSH; k += WALSH_THREADS) out[k + t] = s[k + t];
}

extern "C" __global__ void d2_walsh(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float s[WALSH];
    in += blockIdx.x * WALSH;
    for (unsigned k = threadIdx.x; k < WALSH; k += WALSH_THREADS) s[k] = in[k];
    __syncthreads();
    walsh(s, out + blockIdx.x * WALSH);
}

extern "C" __global__ void d2_walsh_dma(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float s[WALSH];
    dma_flat(0, sizeof(float), WALSH);
    dma_execute(0, s, in + blockIdx.x * WALSH);
    walsh(s, out + blockIdx.x * WALSH);
}

/* ---- DWT: Haar wavelet transform of HAAR elements a CTA, all levels; details of level l at n >> l ---- */

#define HAAR 1024

static __device__ __forceinline__ void haar(float *s, float *details, float *means, unsigned n) {
    unsigned t = threadIdx.x, at = blockIdx.x * (HAAR / 2);
    for (unsigned active = HAAR / 2, half = n / 2; active; active >>= 1, half >>= 1, at >>= 1) {
        float a = 0, b = 0;
        if (t < active) {
            a = s[2 * t];
            b = s[2 * t + 1];
        }
        __syncthreads();
        if (t < active) {
            details[half + at + t] = (a - b) * 0.5f;
            s[t] = (a + b) * 0.5f;
        }
        __syncthreads();
    }
    if (t == 0) means[blockIdx.x] = s[0];
}

extern "C" __global__ void d2_haar(const float *__restrict__ in, float *__restrict__ details,
                                   float *__restrict__ means, unsigned n) {
    __shared__ float s[HAAR];
    in += blockIdx.x * HAAR;
    s[threadIdx.x] = in[threadIdx.x];
    s[threadIdx.x + HAAR / 2] = in[threadIdx.x + HAAR / 2];
    __syncthreads();
    haar(s, details, means, n);
}

extern "C" __global__ void d2_haar_dma(const float *__restrict__ in, float *__restrict__ details,
                                       float *__restrict__ means, unsigned n) {
    __shared__ float s[HAAR];
    dma_flat(0, sizeof(float), HAAR);
    dma_execute(0, s, in + blockIdx.x * HAAR);
    haar(s, details, means, n);
}
