/* storegpu: hashes of a sliding window, as deduplicating storage needs (S. Al-Kiswany et al., "StoreGPU", HPDC
 * 2008). The hash is built like MD5: 64 steps of four kinds on four words for each block of 16 words (R.
 * Rivest, RFC 1321), with shifts of its own and without its padding. Thread t of a CTA of 128 hashes 32 words
 * from word 31 t on, for each part in turn: neighbours share a word, and 31 is odd, so that no two lanes meet
 * in a bank. A part is brought to shared memory by the whole CTA and hashed from registers. */
#include "ww_device.h"

#define THREADS 128
#define STEP 31
#define WINDOW 32
#define WORDS (STEP * (THREADS - 1) + WINDOW)
#define EACH ((WORDS + THREADS - 1) / THREADS)

static __device__ __forceinline__ unsigned turn(unsigned v, unsigned n) {
    return v << n | v >> (32 - n);
}

/* The constants are a multiple of the golden ratio's, where MD5 has sines. */
static __device__ __forceinline__ void block(unsigned h[4], const unsigned *w) {
    unsigned a = h[0], b = h[1], c = h[2], d = h[3];
#pragma unroll
    for (unsigned i = 0; i < 64; i++) {
        unsigned f = i < 16   ? (b & c) | (~b & d)
                     : i < 32 ? (d & b) | (~d & c)
                     : i < 48 ? b ^ c ^ d
                              : c ^ (b | ~d);
        unsigned k = i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
        unsigned sum = a + f + w[k] + 0x9e3779b9u * (i + 1);
        a = d, d = c, c = b;
        b += turn(sum, 5 + 5 * (i % 4));
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d;
}

extern "C" __global__ void storegpu_window(const unsigned *__restrict__ data, uint4 *__restrict__ hash,
                                           unsigned parts) {
    __shared__ unsigned part[WORDS];
    unsigned t = threadIdx.x;
    const unsigned *from = data + blockIdx.x * parts * WORDS + t;
    unsigned *to = part + t, *window = part + STEP * t;
    unsigned h[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    for (unsigned p = 0; p < parts; p++, from += WORDS) {
        unsigned w[WINDOW];
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) w[i] = i * THREADS + t < WORDS ? from[i * THREADS] : 0;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < EACH; i++)
            if (i * THREADS + t < WORDS) to[i * THREADS] = w[i];
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < WINDOW; i++) w[i] = window[i];
        block(h, w);
        block(h, w + 16);
    }
    hash[blockIdx.x * THREADS + t] = make_uint4(h[0], h[1], h[2], h[3]);
}
