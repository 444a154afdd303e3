/* storegpu: hashes of a sliding window, as deduplicating storage needs (S. Al-Kiswany et al., "StoreGPU", HPDC
 * 2008), in the way of the version that came with GPGPU-Sim: thread t hashes `chunk` bytes from byte t * offset
 * on. Blocks of 16 words lie in shared memory, where a thread has words of its own, 32 words apart; each is put
 * together from its bytes, and each step of the hash reads its word there. The hash goes out byte by byte. It
 * is built like MD5 (R. Rivest, RFC 1321): 64 steps of four kinds on four words, with constants and shifts of
 * its own; a last block has 13 words of data, then a one and the length. As published, about half of the shared
 * memory is not used. */
#include "ww_device.h"

#define WORDS (4 * 1024 - 32)
#define WARP_WORDS 512

static __device__ __forceinline__ unsigned turn(unsigned v, unsigned n) {
    return v << n | v >> (32 - n);
}

/* Fetches a block, then stores it: what is known only to the last one stands at its end. */
static __device__ __forceinline__ void bring(volatile unsigned *own, const unsigned *from, bool last,
                                             unsigned chunk) {
    unsigned w[16] = {0};
#pragma unroll
    for (unsigned i = 0; i < 13; i++) w[i] = from[i];
    if (last)
        w[13] = 0x80, w[14] = chunk << 3, w[15] = chunk >> 29;
    else
        w[13] = from[13], w[14] = from[14], w[15] = from[15];
#pragma unroll
    for (unsigned i = 0; i < 16; i++) own[32 * i] = w[i];
}

/* Words from their bytes, the lowest first. */
static __device__ __forceinline__ void order(volatile unsigned *own) {
    volatile unsigned char *byte = (volatile unsigned char *)own;
#pragma unroll
    for (unsigned i = 0; i < 128 * 16; i += 128)
        own[i / 4] =
            byte[i] | (unsigned)byte[i + 1] << 8 | (unsigned)byte[i + 2] << 16 | (unsigned)byte[i + 3] << 24;
}

/* The constants are a multiple of the golden ratio's, where MD5 has sines. */
static __device__ __forceinline__ void block(unsigned h[4], volatile unsigned *own) {
    unsigned a = h[0], b = h[1], c = h[2], d = h[3];
#pragma unroll
    for (unsigned i = 0; i < 64; i++) {
        unsigned f = i < 16   ? d ^ (b & (c ^ d))
                     : i < 32 ? c ^ (d & (b ^ c))
                     : i < 48 ? b ^ c ^ d
                              : c ^ (b | ~d);
        unsigned k = i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
        unsigned sum = a + f + own[32 * k] + 0x9e3779b9u * (i + 1);
        a = d, d = c, c = b;
        b += turn(sum, 5 + 5 * (i % 4));
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d;
}

extern "C" __global__ void storegpu_overlap(const unsigned char *__restrict__ data, unsigned chunk,
                                            unsigned offset, unsigned threads,
                                            unsigned char *__restrict__ hash) {
    __shared__ unsigned shared[WORDS];
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads) return;
    volatile unsigned *own = shared + threadIdx.x / 32 * WARP_WORDS + threadIdx.x % 32;
    const unsigned *from = (const unsigned *)(data + t * offset);
    unsigned passes = chunk / 64 + 1, h[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    for (unsigned p = 0; p < passes; p++) {
        bring(own, from + 16 * p, p == passes - 1, chunk);
        order(own);
        block(h, own);
    }
    unsigned char *out = hash + 16 * t;
#pragma unroll
    for (unsigned i = 0; i < 16; i++) out[i] = (unsigned char)(h[i / 4] >> (8 * (i % 4)));
}
