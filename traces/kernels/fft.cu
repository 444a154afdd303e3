/* fft: forward transforms of 1024 complex numbers each, by five passes of radix 4 in Stockham's order. A CTA of
 * 64 threads takes one; a thread holds 16 numbers in registers and computes four 4-point transforms a pass.
 * Between passes the numbers change hands through shared memory, with a word in 16 left out against conflicts.
 * fft_vtb and fft_vtb_pipe are what the transforms of docs/multiplexing.md make of fft_1k, written by hand: a
 * CTA of 128 threads takes two transforms, which share the memory of one. */
#include "ww_device.h"

#define N 1024
#define THREADS 64
#define PLACES (N + N / 16)

static __device__ __forceinline__ float2 times(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* v[0], v[4], v[8], v[12] are the four numbers. */
static __device__ __forceinline__ void fft4(float2 *v) {
    float2 a = v[0] + v[8], b = v[0] - v[8], c = v[4] + v[12], d = v[4] - v[12];
    v[0] = a + c;
    v[8] = a - c;
    v[4] = make_float2(b.x + d.y, b.y - d.x);
    v[12] = make_float2(b.x - d.y, b.y + d.x);
}

/* A pass over the 16 numbers of thread t: numbers t + 64 i + 256 r are v[i + 4 r]. */
template <unsigned SPAN> static __device__ __forceinline__ void pass(float2 *v, unsigned t) {
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        if (SPAN > 1) {
            float angle = (float)((t + 64 * i) % SPAN) * (-6.28318531f / (4 * SPAN));
            float2 w = make_float2(ww_fast_cosf(angle), ww_fast_sinf(angle)), w2 = times(w, w);
            v[i + 4] = times(v[i + 4], w);
            v[i + 8] = times(v[i + 8], w2);
            v[i + 12] = times(v[i + 12], times(w, w2));
        }
        fft4(v + i);
    }
}

/* Where number n lies. Numbers 64 apart, and those that a thread saves together, lie at constant distances. */
static __device__ __forceinline__ unsigned place(unsigned n) {
    return n + n / 16;
}

template <unsigned SPAN>
static __device__ __forceinline__ void save(float2 *shared, const float2 *v, unsigned t) {
    float2 *to = shared + place(t / SPAN * (4 * SPAN) + t % SPAN);
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
#pragma unroll
        for (unsigned r = 0; r < 4; r++) to[i * place(256) + r * (SPAN + SPAN / 16)] = v[i + 4 * r];
    }
}

static __device__ __forceinline__ void load(float2 *v, const float2 *shared, unsigned t) {
    const float2 *from = shared + place(t);
#pragma unroll
    for (unsigned i = 0; i < 16; i++) v[i] = from[i * place(64)];
}

static __device__ __forceinline__ void load_global(float2 *v, const float2 *from, unsigned t) {
    from += t;
#pragma unroll
    for (unsigned i = 0; i < 16; i++) v[i] = from[64 * i];
}

static __device__ __forceinline__ void save_global(float2 *to, const float2 *v, unsigned t) {
    to += t;
#pragma unroll
    for (unsigned i = 0; i < 16; i++) to[64 * i] = v[i];
}

/* Figure 2 of the paper. */
extern "C" __global__ void fft_1k(const float2 *__restrict__ in, float2 *__restrict__ out) {
    __shared__ float2 shared[PLACES];
    unsigned t = threadIdx.x;
    float2 v[16];
    load_global(v, in + blockIdx.x * N, t);
    pass<1>(v, t);
    save<1>(shared, v, t);
    __syncthreads();
    load(v, shared, t);
    pass<4>(v, t);
    __syncthreads();
    save<4>(shared, v, t);
    __syncthreads();
    load(v, shared, t);
    pass<16>(v, t);
    __syncthreads();
    save<16>(shared, v, t);
    __syncthreads();
    load(v, shared, t);
    pass<64>(v, t);
    __syncthreads();
    save<64>(shared, v, t);
    __syncthreads();
    load(v, shared, t);
    pass<256>(v, t);
    save_global(out + blockIdx.x * N, v, t);
}

template <unsigned SPAN>
static __device__ __forceinline__ void exchange(float2 *shared, float2 *v, unsigned t, unsigned v_tb) {
    if (v_tb == 0) save<SPAN>(shared, v, t);
    __syncthreads();
    if (v_tb == 0) load(v, shared, t);
    __syncthreads();
    if (v_tb == 1) save<SPAN>(shared, v, t);
    __syncthreads();
    if (v_tb == 1) load(v, shared, t);
}

/* Figure 3. */
extern "C" __global__ void fft_vtb(const float2 *__restrict__ in, float2 *__restrict__ out) {
    __shared__ float2 shared[PLACES];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS, part = (blockIdx.x * 2 + v_tb) * N;
    float2 v[16];
    load_global(v, in + part, t);
    pass<1>(v, t);
    exchange<1>(shared, v, t, v_tb);
    pass<4>(v, t);
    __syncthreads();
    exchange<4>(shared, v, t, v_tb);
    pass<16>(v, t);
    __syncthreads();
    exchange<16>(shared, v, t, v_tb);
    pass<64>(v, t);
    __syncthreads();
    exchange<64>(shared, v, t, v_tb);
    pass<256>(v, t);
    save_global(out + part, v, t);
}

/* One exchange of figure 5: the first half of the threads is a step ahead. */
template <unsigned SPAN, unsigned NEXT>
static __device__ __forceinline__ void pipe_exchange(float2 *shared, float2 *v, unsigned t, unsigned v_tb) {
    if (v_tb == 0) save<SPAN>(shared, v, t);
    __syncthreads();
    if (v_tb == 0)
        load(v, shared, t);
    else
        pass<SPAN>(v, t);
    __syncthreads();
    if (v_tb == 1) save<SPAN>(shared, v, t);
    __syncthreads();
    if (v_tb == 1)
        load(v, shared, t);
    else
        pass<NEXT>(v, t);
    __syncthreads();
}

extern "C" __global__ void fft_vtb_pipe(const float2 *__restrict__ in, float2 *__restrict__ out) {
    __shared__ float2 shared[PLACES];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS, part = (blockIdx.x * 2 + v_tb) * N;
    float2 v[16];
    load_global(v, in + part, t);
    if (v_tb == 0) pass<1>(v, t);
    pipe_exchange<1, 4>(shared, v, t, v_tb);
    pipe_exchange<4, 16>(shared, v, t, v_tb);
    pipe_exchange<16, 64>(shared, v, t, v_tb);
    pipe_exchange<64, 256>(shared, v, t, v_tb);
    if (v_tb == 1) pass<256>(v, t);
    save_global(out + part, v, t);
}

/* Figure 8. */
extern "C" __global__ void fft_smm(const float2 *__restrict__ in, float2 *__restrict__ out) {
    __shared__ float2 shared[PLACES];
    unsigned t = threadIdx.x;
    float2 v[16];
#define REGION(span)                                                                                           \
    ww_smem_alloc(8736);                                                                                       \
    save<span>(shared, v, t);                                                                                  \
    __syncthreads();                                                                                           \
    load(v, shared, t);                                                                                        \
    ww_smem_free(8736)
    load_global(v, in + blockIdx.x * N, t);
    pass<1>(v, t);
    REGION(1);
    pass<4>(v, t);
    REGION(4);
    pass<16>(v, t);
    REGION(16);
    pass<64>(v, t);
    REGION(64);
    pass<256>(v, t);
    save_global(out + blockIdx.x * N, v, t);
}
