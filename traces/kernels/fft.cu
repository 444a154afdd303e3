/* fft: forward transforms of 1024 complex numbers each, in place, as AMD's OpenCL sample of 2011 computes them:
 * five passes of 4-point transforms, the factors between them by sine and cosine of the special-function unit.
 * Real and imaginary parts lie apart. A CTA of 64 threads takes one transform; a thread holds 16 numbers, four
 * of each of four positions, and loads and stores four at once. Between passes all change hands through shared
 * memory, with a few words left out against conflicts. fft_vtb and fft_vtb_pipe are what the transforms of
 * docs/studies/multiplexing.md make of fft_1k, written by hand: a CTA of 128 threads takes two transforms, which share
 * the memory of one. */
#include "ww_device.h"

#define N 1024
#define THREADS 64
#define PLANE 1088 /* words of the real parts, and of the imaginary */
#define ANGLE (6.28318531f / N)

/* Number e of position q is [4 * q + e]. */
struct numbers {
    float re[16], im[16];
};

/* The 4-point transform over the positions. */
static __device__ __forceinline__ void fft4(numbers &v) {
#pragma unroll
    for (unsigned e = 0; e < 4; e++) {
        float *r = v.re + e, *i = v.im + e;
        float ar = r[0] + r[8], br = r[0] - r[8], cr = r[4] + r[12], dr = r[4] - r[12];
        float ai = i[0] + i[8], bi = i[0] - i[8], ci = i[4] + i[12], di = i[4] - i[12];
        r[0] = ar + cr, r[8] = ar - cr, r[4] = br + di, r[12] = br - di;
        i[0] = ai + ci, i[8] = ai - ci, i[4] = bi - dr, i[12] = bi + dr;
    }
}

/* Cosine and sine of -2 pi n / 1024, n below 1024, by an angle of at most pi. */
static __device__ __forceinline__ float2 factor(int n) {
    n -= (n > 512) * N;
    float x = (float)n * -ANGLE;
    return make_float2(ww_fast_cosf(x), ww_fast_sinf(x));
}

static __device__ __forceinline__ void turn(numbers &v, unsigned at, float2 w) {
    float re = w.x * v.re[at] - w.y * v.im[at];
    v.im[at] = w.x * v.im[at] + w.y * v.re[at];
    v.re[at] = re;
}

/* Pass PASS of thread t: the first has factors of its own for each number, the last has none. */
template <unsigned PASS> static __device__ __forceinline__ void pass(numbers &v, unsigned t) {
    fft4(v);
    if (PASS == 5) return;
    unsigned base = PASS <= 2 ? t * 4 : PASS == 3 ? t / 4 * 16 : t / 16 * 64;
#pragma unroll
    for (unsigned q = 1; q < 4; q++) {
        float2 w;
#pragma unroll
        for (unsigned e = 0; e < 4; e++) {
            if (PASS == 1 || e == 0) w = factor((int)((base + e) * q));
            turn(v, 4 * q + e, w);
        }
    }
}

/* Where thread t keeps its numbers behind pass PASS: `from` and the distance of positions and of numbers. */
template <unsigned PASS>
static __device__ __forceinline__ void save(float *shared, const numbers &v, unsigned t) {
    float *to = shared + (PASS <= 2 ? t * 4 + t / 8 : t);
    const unsigned dq = PASS == 1 || PASS == 3 ? 264 : PASS == 2 ? 1 : 272;
    const unsigned de = PASS == 1 ? 1 : PASS == 2 ? 264 : PASS == 3 ? 66 : 68;
#pragma unroll
    for (unsigned i = 0; i < 16; i++) to[i / 4 * dq + i % 4 * de] = v.re[i];
#pragma unroll
    for (unsigned i = 0; i < 16; i++) to[PLANE + i / 4 * dq + i % 4 * de] = v.im[i];
}

/* And where those lie that it takes into the next one. */
template <unsigned PASS>
static __device__ __forceinline__ void load(numbers &v, const float *shared, unsigned t) {
    const float *from = shared + (PASS <= 2   ? t + t / 32
                                  : PASS == 3 ? t % 4 + t / 4 % 4 * 264 + t / 16 * 4
                                              : t % 16 + t / 16 * 272);
    const unsigned dq = PASS <= 2 ? 66 : 16, de = PASS <= 2 ? 264 : PASS == 3 ? 66 : 68;
#pragma unroll
    for (unsigned i = 0; i < 16; i++) v.re[i] = from[i / 4 * dq + i % 4 * de];
#pragma unroll
    for (unsigned i = 0; i < 16; i++) v.im[i] = from[PLANE + i / 4 * dq + i % 4 * de];
}

static __device__ __forceinline__ void load_part(float *v, const float *from, unsigned t) {
    const float4 *p = (const float4 *)from + t;
#pragma unroll
    for (unsigned q = 0; q < 4; q++) {
        float4 x = p[q * THREADS];
        v[4 * q] = x.x, v[4 * q + 1] = x.y, v[4 * q + 2] = x.z, v[4 * q + 3] = x.w;
    }
}

static __device__ __forceinline__ void save_part(float *to, const float *v, unsigned t) {
    float4 *p = (float4 *)to + t;
#pragma unroll
    for (unsigned q = 0; q < 4; q++)
        p[q * THREADS] = make_float4(v[4 * q], v[4 * q + 1], v[4 * q + 2], v[4 * q + 3]);
}

/* Figure 2 of the paper. */
extern "C" __global__ void fft_1k(float *re, float *im) {
    __shared__ float shared[2 * PLANE];
    unsigned t = threadIdx.x, part = blockIdx.x * N;
    numbers v;
    load_part(v.re, re + part, t);
    load_part(v.im, im + part, t);
    pass<1>(v, t);
    save<1>(shared, v, t);
    __syncthreads();
    load<1>(v, shared, t);
    pass<2>(v, t);
    __syncthreads();
    save<2>(shared, v, t);
    __syncthreads();
    load<2>(v, shared, t);
    pass<3>(v, t);
    __syncthreads();
    save<3>(shared, v, t);
    __syncthreads();
    load<3>(v, shared, t);
    pass<4>(v, t);
    __syncthreads();
    save<4>(shared, v, t);
    __syncthreads();
    load<4>(v, shared, t);
    pass<5>(v, t);
    save_part(re + part, v.re, t);
    save_part(im + part, v.im, t);
}

template <unsigned PASS>
static __device__ __forceinline__ void exchange(float *shared, numbers &v, unsigned t, unsigned v_tb) {
    if (v_tb == 0) save<PASS>(shared, v, t);
    __syncthreads();
    if (v_tb == 0) load<PASS>(v, shared, t);
    __syncthreads();
    if (v_tb == 1) save<PASS>(shared, v, t);
    __syncthreads();
    if (v_tb == 1) load<PASS>(v, shared, t);
}

/* Figure 3. */
extern "C" __global__ void fft_vtb(float *re, float *im) {
    __shared__ float shared[2 * PLANE];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS, part = (blockIdx.x * 2 + v_tb) * N;
    numbers v;
    load_part(v.re, re + part, t);
    load_part(v.im, im + part, t);
    pass<1>(v, t);
    exchange<1>(shared, v, t, v_tb);
    pass<2>(v, t);
    __syncthreads();
    exchange<2>(shared, v, t, v_tb);
    pass<3>(v, t);
    __syncthreads();
    exchange<3>(shared, v, t, v_tb);
    pass<4>(v, t);
    __syncthreads();
    exchange<4>(shared, v, t, v_tb);
    pass<5>(v, t);
    save_part(re + part, v.re, t);
    save_part(im + part, v.im, t);
}

/* One exchange of figure 5: the first half of the threads is a step ahead. */
template <unsigned PASS>
static __device__ __forceinline__ void pipe_exchange(float *shared, numbers &v, unsigned t, unsigned v_tb) {
    if (v_tb == 0) save<PASS>(shared, v, t);
    __syncthreads();
    if (v_tb == 0)
        load<PASS>(v, shared, t);
    else
        pass<PASS>(v, t);
    __syncthreads();
    if (v_tb == 1) save<PASS>(shared, v, t);
    __syncthreads();
    if (v_tb == 1)
        load<PASS>(v, shared, t);
    else
        pass<PASS + 1>(v, t);
    __syncthreads();
}

extern "C" __global__ void fft_vtb_pipe(float *re, float *im) {
    __shared__ float shared[2 * PLANE];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS, part = (blockIdx.x * 2 + v_tb) * N;
    numbers v;
    load_part(v.re, re + part, t);
    load_part(v.im, im + part, t);
    if (v_tb == 0) pass<1>(v, t);
    pipe_exchange<1>(shared, v, t, v_tb);
    pipe_exchange<2>(shared, v, t, v_tb);
    pipe_exchange<3>(shared, v, t, v_tb);
    pipe_exchange<4>(shared, v, t, v_tb);
    if (v_tb == 1) pass<5>(v, t);
    save_part(re + part, v.re, t);
    save_part(im + part, v.im, t);
}

/* Figure 8. */
extern "C" __global__ void fft_hw(float *re, float *im) {
    __shared__ float shared[2 * PLANE];
    unsigned t = threadIdx.x, part = blockIdx.x * N;
    numbers v;
#define REGION(n)                                                                                              \
    ww_smem_alloc(8736);                                                                                       \
    save<n>(shared, v, t);                                                                                     \
    __syncthreads();                                                                                           \
    load<n>(v, shared, t);                                                                                     \
    ww_smem_free(8736)
    load_part(v.re, re + part, t);
    load_part(v.im, im + part, t);
    pass<1>(v, t);
    REGION(1);
    pass<2>(v, t);
    REGION(2);
    pass<3>(v, t);
    REGION(3);
    pass<4>(v, t);
    REGION(4);
    pass<5>(v, t);
    save_part(re + part, v.re, t);
    save_part(im + part, v.im, t);
}
