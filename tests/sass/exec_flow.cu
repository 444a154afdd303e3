/* exec_flow.cu: control flow, memory spaces, calls and lanes of a warp, for comparing machine code with PTX.
 * Each kernel gets `o`, 4096 words with word i = i * 2654435761, and a number. Made into exec_flow.ptx with
 *   nvcc -arch=compute_75 -ptx, .version set to 6.3 and .target to sm_70 */
#include <cstdio>
#define KERNEL extern "C" __global__ void

__device__ __noinline__ int sum(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i] * (i + 1);
    return s;
}
__device__ __noinline__ int mix(const int *p, int n) {
    int s = n;
    for (int i = 0; i < n; i++) s = s * 31 ^ p[i];
    return s;
}
__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int (*volatile table[2])(const int *, int) = {sum, mix};
__constant__ int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};

KERNEL stack_arrays(int *o, int n) {
    int a[32], t = threadIdx.x;
    for (int i = 0; i < 32; i++) a[(i * 7 + t) & 31] = o[i] + i * n;
    o[t] = sum(a, 20 + (t & 7)) + mix(a + 3, n);
}
KERNEL shared_pointers(int *o, int n) {
    __shared__ int a[256];
    int t = threadIdx.x;
    a[t] = o[t] * n;
    __syncthreads();
    const int *p = t & 1 ? a + (t >> 1) : o + t;
    o[1024 + t] = sum(p, n) + mix(a, 5);
}
KERNEL function_table(int *o, int n) { o[threadIdx.x] = table[o[threadIdx.x] >> 7 & 1](o + 512, n + (threadIdx.x & 3)); }
KERNEL recursion(int *o, int n) { o[threadIdx.x] = ackermann(threadIdx.x & 1 ? 2 : 1, n + (threadIdx.x & 3)); }
KERNEL constants(int *o, int n) { o[threadIdx.x] = primes[threadIdx.x & 15] * primes[n] + primes[3]; }
KERNEL dynamic_shared(int *o, int n) {
    extern __shared__ int s[];
    __shared__ int fixed[4];
    int t = threadIdx.x;
    fixed[t & 3] = n;
    s[t] = o[t];
    __syncthreads();
    o[t] = s[t ^ 1] + fixed[n & 3];
}
KERNEL cases(int *o, int n) {
    int t = threadIdx.x, v = o[t], r;
    switch (o[t] >> 9 & 15) {
    case 0: r = n; break;
    case 1: r = v * n; break;
    case 2: r = v / 3; break;
    case 3: r = o[1000 + n]; break;
    case 4: r = v ^ 55; break;
    case 5: r = __popc(v); break;
    case 6: r = v << 3; break;
    case 7: r = o[2000] * n; break;
    case 8: r = __ffs(v); break;
    case 9: r = __brev(v); break;
    case 10: r = __clz(v); break;
    case 11: r = v >> 5; break;
    default: r = -v;
    }
    o[t] = r;
}
KERNEL loops(int *o, int n) {
    int t = threadIdx.x, v = o[t], left = o[t] >> 11 & 15;
    if (left == 3) return;
    for (int i = 0; i < left; i++) {
        if ((o[1024 + i + t] & 31) == 7) break;
        if ((o[1024 + i + t] & 7) == 2) continue;
        for (int k = i; k < left; k++) {
            v = v * 5 + o[1024 + (k * n & 255)];
            if ((v & 63) == 1) goto out;
        }
    }
    v += __popc(v);
out:
    __syncwarp();
    o[t] = v;
}
KERNEL shuffles(int *o, int n) {
    int t = threadIdx.x, v = o[t], r = 0;
    for (int s = 16; s; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
    r += __shfl_up_sync(0xffffffffu, v, n & 7);
    r = r * 3 + __shfl_xor_sync(0xffffffffu, v, 5);
    r = r * 3 + __shfl_sync(0xffffffffu, v, t + n, 8);
    r = r * 3 + __shfl_up_sync(0xffffffffu, v, 3, 16);
    r = r * 3 + __shfl_down_sync(0xffffffffu, v, 2, 4);
    if (t & 1) r += __shfl_sync(0xaaaaaaaau, v, n | 1);
    o[t] = r;
}
KERNEL votes(int *o, int n) {
    int t = threadIdx.x, v = o[t] >> 8 & 7, all;
    unsigned r = __ballot_sync(0xffffffffu, v > 3);
    r += __any_sync(0xffffffffu, v == n) + 2 * __all_sync(0xffffffffu, v < 8) + 4 * __uni_sync(0xffffffffu, t < 100);
    r ^= __match_any_sync(0xffffffffu, v) * 7;
    r += __match_all_sync(0xffffffffu, n, &all) * 3 + all;
    r += __match_any_sync(0xffffffffu, (unsigned long long)v << 33);
    if (v & 1) r += __ballot_sync(__activemask(), v & 2);
    o[t] = r;
}
/* Reads of a word directly after a barrier, which a warp writes anew later on without another barrier. */
KERNEL reads_after_barriers(int *o, int n) {
    __shared__ volatile int word;
    int t = threadIdx.x, v = t;
    for (int i = 0; i < 8; i++) {
        if (t == 0) word = i * n;
        __syncthreads();
        v += word;
        for (int k = 0; k < 40; k++) v = v * 3 + (v >> 5);
    }
    o[t] = v;
}
KERNEL masks(int *o, int n) {
    int t = threadIdx.x, v = o[t];
    unsigned members = __ballot_sync(0xffffffffu, v & 4);
    if (v & 4) {
        for (int i = 0; i < (v & 3); i++) v += i * n;
        __syncwarp(members);
        v += __shfl_sync(members, v, __ffs(members) - 1);
        for (int s = 16; s; s >>= 1) v += __shfl_down_sync(members, v, s); /* of lanes that are not there, too */
    }
    o[t] = v;
}
KERNEL counts(int *o, int n) {
    int t = threadIdx.x, v = o[t];
    int r = __syncthreads_count(v & 1);
    r = r * 2 + (__syncthreads_or((v & 0xffff) == n) != 0);
    r = r * 2 + (__syncthreads_and(v | 1) != 0);
    o[t] = r;
}
KERNEL named_barriers(int *o, int n) {
    __shared__ int a[128];
    int t = threadIdx.x, w = t / 32;
    a[t] = o[t];
    if (w < 2)
        asm volatile("bar.sync %0, 64;" ::"r"(n) : "memory");
    else
        asm volatile("bar.sync %0, %1;" ::"r"(n + 1), "r"(64) : "memory");
    int v = a[t ^ 32];
    if (w == 0) {
        asm volatile("bar.arrive 7, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 7, 128;" ::: "memory");
        v += a[t - 32];
    }
    o[t] = v;
}
KERNEL locks(int *o, int n) {
    int *lock = o + 1024, *count = o + 1025;
    for (int i = 0; i < n; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, o[1030] - o[1030], 1) == 0) {
                volatile int *c = count;
                *c = *c + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}
KERNEL handover(int *o, int n) { /* each thread waits for the one in front */
    volatile int *turn = o + 1024;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    while (*turn != t) {}
    o[t] = o[1025] += t * n;
    __threadfence();
    *turn = t + 1;
}
KERNEL prints(int *o, int n) {
    int t = threadIdx.x;
    if (t < 3) printf("thread %d of %s: %5.2f %x %llu %c\n", t, "prints", t * 0.5, o[t], 1ull << (30 + t), 'a' + t);
    o[t] = n;
}
KERNEL heap(int *o, int n) {
    int t = threadIdx.x, *p = (int *)malloc(64);
    if (p) {
        for (int i = 0; i < 16; i++) p[i] = o[t + i] * n;
        o[t] = sum(p, 16);
        free(p);
    }
}
KERNEL specials(int *o, int n) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned r[12];
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r[0]));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(r[1]));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(r[2]));
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(r[3]));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(r[4]));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(r[5]));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r[6]));
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(r[7]));
    asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(r[8]));
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(r[9]));
    asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(r[10]));
    asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(r[11]));
    unsigned h = threadIdx.x * 3 + threadIdx.y * 5 + threadIdx.z * 7 + blockIdx.x * 11 + blockIdx.z * 13 + gridDim.y * 17 + n;
    for (int i = 0; i < 12; i++) h = h * 31 + r[i];
    o[(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) * blockDim.x * blockDim.y * blockDim.z + t] = h;
}
KERNEL spaces(int *o, int n) {
    __shared__ int s[4];
    int l[4] = {n, o[1], o[2], o[3]};
    int *p = threadIdx.x == 0 ? o : threadIdx.x == 1 ? s : l;
    p[n & 3] = 5;
    o[threadIdx.x + 8] = __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p) + 8 * l[(n + 1) & 3] + p[n & 3];
}
