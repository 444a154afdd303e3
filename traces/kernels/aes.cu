/* aes: the Advanced Encryption Standard (FIPS 197) by table look-up, a thread for each column of four bytes, as S.
 * Manavski does it ("CUDA compatible GPU as an efficient hardware accelerator for AES cryptography", ICSPC 2007):
 * the four tables that join SubBytes and MixColumns lie in shared memory, and so does the state, in two buffers in
 * turn. A round reads where ShiftRows finds each of a column's bytes, the bytes themselves, a table's word for each
 * (data decide the banks), and writes the new column. CTAs have 256 threads, so that each loads one entry of every
 * table. Words are little-endian columns; `keys` holds 4 words for each round and 4 before the first. */
#include "ww_device.h"

#define THREADS 256

union word {
    unsigned all;
    unsigned char byte[4];
};

/* All but the last round; `place`: for each byte of a column the column that ShiftRows takes it from. */
static __device__ __forceinline__ void inner_round(const union word (*table)[256], const unsigned (*place)[4],
                                                   const union word *from, union word *to, unsigned key) {
    unsigned t = threadIdx.x, column = t % 4, block = t - column;
    unsigned b0 = from[block + place[0][column]].byte[0];
    unsigned b1 = from[block + place[1][column]].byte[1];
    unsigned b2 = from[block + place[2][column]].byte[2];
    unsigned b3 = from[block + place[3][column]].byte[3];
    to[t].all = table[0][b0].all ^ table[1][b1].all ^ table[2][b2].all ^ table[3][b3].all ^ key;
    __syncthreads();
}

/* The last round has no MixColumns: s0 to s3 give the byte that replaces one. */
#define LAST_ROUND(from, to, key, s0, s1, s2, s3)                                                              \
    do {                                                                                                       \
        unsigned c_ = threadIdx.x % 4, block_ = threadIdx.x - c_, key_ = (key);                                 \
        unsigned b0_ = from[block_ + place[0][c_]].byte[0], b1_ = from[block_ + place[1][c_]].byte[1];          \
        unsigned b2_ = from[block_ + place[2][c_]].byte[2], b3_ = from[block_ + place[3][c_]].byte[3];          \
        volatile unsigned char *to_ = to[threadIdx.x].byte;                                                     \
        to_[0] = (unsigned char)(s0(b0_) ^ key_);                                                              \
        to_[1] = (unsigned char)(s1(b1_) ^ key_ >> 8);                                                         \
        to_[2] = (unsigned char)(s2(b2_) ^ key_ >> 16);                                                        \
        to_[3] = (unsigned char)(s3(b3_) ^ key_ >> 24);                                                        \
    } while (0)

/* Tables and state to shared memory, and the first key upon the state. */
static __device__ __forceinline__ void begin(union word (*table)[256], unsigned (*place)[4], union word *a,
                                             union word *b, const unsigned *in, const unsigned *tables,
                                             unsigned key, unsigned step) {
    unsigned t = threadIdx.x;
    a[t].all = in[blockIdx.x * THREADS + t];
    for (unsigned k = 0; k < 4; k++) table[k][t].all = tables[k * 256 + t];
    if (t < 16) place[t / 4][t % 4] = (t % 4 + t / 4 * step) % 4;
    __syncthreads();
    b[t].all = a[t].all ^ key;
    __syncthreads();
}

/* Between two rounds the state changes its buffer; ROUNDS is even. */
template <int ROUNDS>
static __device__ __forceinline__ void inner_rounds(const union word (*table)[256], const unsigned (*place)[4],
                                                    union word *a, union word *b,
                                                    const unsigned *__restrict__ keys) {
    unsigned column = threadIdx.x % 4;
#pragma unroll
    for (int r = 1; r < ROUNDS; r++)
        inner_round(table, place, r % 2 ? b : a, r % 2 ? a : b, keys[4 * r + column]);
}

#define SBOX_0(x) table[0][x].byte[1]
#define SBOX_1(x) table[1][x].byte[3]
#define SBOX_2(x) table[2][x].byte[3]
#define SBOX_3(x) table[3][x].byte[1]

template <int ROUNDS>
static __device__ __forceinline__ void encrypt(const unsigned *in, unsigned *out, const unsigned *tables,
                                               const unsigned *__restrict__ keys) {
    __shared__ union word table[4][256], a[THREADS], b[THREADS];
    __shared__ unsigned place[4][4];
    unsigned t = threadIdx.x;
    begin(table, place, a, b, in, tables, keys[t % 4], 1);
    inner_rounds<ROUNDS>(table, place, a, b, keys);
    LAST_ROUND(a, b, keys[4 * ROUNDS + t % 4], SBOX_0, SBOX_1, SBOX_2, SBOX_3);
    out[blockIdx.x * THREADS + t] = b[t].all;
}

#define INVERSE(x) inverse[x]

/* The equivalent inverse cipher; `tables` has a fifth one, of the inverse of SubBytes. */
template <int ROUNDS>
static __device__ __forceinline__ void decrypt(const unsigned *in, unsigned *out, const unsigned *tables,
                                               const unsigned *__restrict__ keys) {
    __shared__ union word table[4][256], a[THREADS], b[THREADS];
    __shared__ unsigned place[4][4], inverse[256];
    unsigned t = threadIdx.x;
    inverse[t] = tables[4 * 256 + t];
    begin(table, place, a, b, in, tables, keys[t % 4], 3);
    inner_rounds<ROUNDS>(table, place, a, b, keys);
    LAST_ROUND(a, b, keys[4 * ROUNDS + t % 4], INVERSE, INVERSE, INVERSE, INVERSE);
    out[blockIdx.x * THREADS + t] = b[t].all;
}

#define KERNEL(name, what, rounds)                                                                             \
    extern "C" __global__ void name(const unsigned *in, unsigned *out, const unsigned *tables,                 \
                                    const unsigned *__restrict__ keys) {                                       \
        what<rounds>(in, out, tables, keys);                                                                   \
    }
KERNEL(aes_encrypt_128, encrypt, 10)
KERNEL(aes_encrypt_256, encrypt, 14)
KERNEL(aes_decrypt_128, decrypt, 10)
KERNEL(aes_decrypt_256, decrypt, 14)
