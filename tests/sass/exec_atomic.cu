/* exec_atomic.cu: atomics in every space and type; see exec_flow.cu. */
#define KERNEL extern "C" __global__ void
typedef unsigned long long u64;

KERNEL global_words(int *o, int n) {
    int t = threadIdx.x, v = o[t], r = 0;
    int *c = o + 2048 + (t & 3);
    atomicAdd(c, v);
    atomicMin(c + 8, v);
    atomicMax(c + 16, v);
    atomicMin((unsigned *)c + 24, (unsigned)v);
    atomicMax((unsigned *)c + 32, (unsigned)v);
    atomicAnd(c + 40, v | n);
    atomicOr(c + 48, v & n);
    atomicXor(c + 56, v);
    atomicInc((unsigned *)c + 64, 7);
    atomicDec((unsigned *)c + 72, 9);
    atomicSub(c + 80, v);
    if (t == n && blockIdx.x == 0) r = atomicExch(c + 88, v) + atomicCAS(c + 96, 5, v) + atomicAdd(c + 104, 3) + atomicMax(c + 112, v);
    o[t] = r;
}
KERNEL global_wide(int *o, int n) {
    int t = threadIdx.x;
    u64 v = (u64)o[t] * 0x100000001ull, *c = (u64 *)(o + 2048) + (t & 3);
    atomicAdd(c, v);
    atomicMin(c + 8, v);
    atomicMax(c + 16, v);
    atomicMin((long long *)c + 24, (long long)v);
    atomicMax((long long *)c + 32, (long long)v);
    atomicAnd(c + 40, v | n);
    atomicOr(c + 48, v);
    atomicXor(c + 56, v);
    if (t == n && blockIdx.x == 0) o[t] = (int)(atomicExch(c + 64, v) + atomicCAS(c + 72, 5, v) + atomicAdd(c + 80, 3));
}
KERNEL global_floats(int *o, int n) {
    int t = threadIdx.x;
    float f = (float)(o[t] & 255);
    double d = (double)(o[t] & 1023);
    atomicAdd((float *)o + 2048, f);
    atomicAdd((double *)o + 1100, d);
    if (t == n && blockIdx.x == 0) o[t] = (int)atomicAdd((float *)o + 2050, f) + (int)atomicAdd((double *)o + 1102, d);
}
KERNEL shared_words(int *o, int n) {
    __shared__ int s[64];
    __shared__ float f;
    __shared__ u64 w[8];
    int t = threadIdx.x, v = o[t], r = 0;
    if (t < 64) s[t] = o[2048 + t];
    if (t < 8) w[t] = o[3000 + t];
    f = 0;
    __syncthreads();
    int *c = s + (t & 3);
    atomicAdd(c, v);
    atomicMin(c + 4, v);
    atomicMax(c + 8, v);
    atomicAnd(c + 12, v | n);
    atomicOr(c + 16, v & n);
    atomicXor(c + 20, v);
    atomicInc((unsigned *)c + 24, 7);
    atomicDec((unsigned *)c + 28, 9);
    atomicMax((unsigned *)c + 32, (unsigned)v);
    atomicAdd(&f, 1.0f);
    atomicAdd(w, (u64)v);
    atomicMax(w + 1, (u64)v);
    atomicXor(w + 2, (u64)v << 20);
    atomicAdd(s + 50, 1);
    if (t == n && blockIdx.x == 0) r = atomicExch(s + 40, v) + atomicCAS(s + 41, 5, v) + atomicAdd(s + 42, 3) + (int)atomicCAS(w + 3, 5ull, 6ull) + (int)atomicExch(w + 4, 9ull);
    __syncthreads();
    if (t < 64) o[1024 + t] = s[t];
    if (t < 8) o[1100 + t] = (int)(w[t] ^ w[t] >> 32);
    o[1200] = (int)f;
    o[t] = r;
}
KERNEL generic_words(int *o, int n) {
    __shared__ int s[8];
    int t = threadIdx.x;
    if (t < 8) s[t] = n;
    __syncthreads();
    int *p = t & 1 ? s + (t & 7) : o + 2048 + (t & 7);
    atomicAdd(p, o[t]);
    atomicMax((unsigned *)p, (unsigned)n);
    __syncthreads();
    if (t < 8) o[1024 + t] = s[t];
}
