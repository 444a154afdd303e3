/* exec_async.cu: asynchronous copies, their barriers, matrices of shared memory, reductions of a warp (sm_80 on); see
 * exec_flow.cu. Made with -arch=compute_80, .version 7.0 and .target sm_80. */
#define KERNEL extern "C" __global__ void
typedef unsigned u32;
typedef unsigned long long u64;

static __device__ u32 shared_of(const void *p) { return (u32)__cvta_generic_to_shared(p); }

KERNEL copies(int *o, int n) {
    __shared__ __align__(16) int s[1024];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_of(s + t)), "l"(o + t * n));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_of(s + 128 + 2 * t)), "l"(o + 2 * t + 64));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_of(s + 384 + 4 * t)), "l"(o + 4 * t + 1024));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    int v = s[(t * 3) & 127] + s[128 + ((t * 5) & 255)];
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    o[t] = v + s[384 + ((t * 7) & 511)];
}
KERNEL partial_copies(int *o, int n) {
    __shared__ __align__(16) int s[512];
    int t = threadIdx.x;
    u32 bytes = t % 5 * 4;
    s[4 * t] = -1;
    s[4 * t + 1] = -1;
    s[4 * t + 2] = -1;
    s[4 * t + 3] = -1;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_of(s + 4 * t)), "l"(o + 4 * t + 1024),
                 "r"(bytes == 16 ? 16 : 0));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    for (int i = 0; i < 4; i++) o[4 * t + i] = s[(4 * t + i + n) & 511];
}
KERNEL matrices(int *o, int n) {
    __shared__ __align__(16) int s[512];
    int t = threadIdx.x, l = t & 31;
    u32 a, b, c, d;
    for (int i = t; i < 512; i += blockDim.x) s[i] = o[i];
    __syncthreads();
    u32 row = shared_of(s + ((l * 7 + n) & 31) * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(row));
    u32 r = a + 3 * b + 5 * c + 7 * d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(row));
    r = r * 31 + a + 3 * b;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(row));
    o[1024 + t] = r * 31 + a;
}
KERNEL reductions(int *o, int n) {
    int t = threadIdx.x, v = o[t], r;
    u32 u;
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
    u = r;
    asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
    u = u * 31 + r;
    asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
    u = u * 31 + r;
    asm volatile("redux.sync.and.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v | n));
    u = u * 31 + r;
    asm volatile("redux.sync.xor.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
    u = u * 31 + r;
    if (t & 1) {
        asm volatile("redux.sync.or.b32 %0, %1, 0xaaaaaaaa;" : "=r"(r) : "r"(v & n));
        u = u * 31 + r;
    }
    o[t] = u;
}
KERNEL arrivals(int *o, int n) {
    __shared__ u64 bar;
    __shared__ int s[256];
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_of(&bar)), "r"(blockDim.x));
    __syncthreads();
    int v = o[t];
    for (int i = 0; i < n; i++) {
        u64 state;
        s[t] = v;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared_of(&bar)) : "memory");
        u32 done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(shared_of(&bar)), "l"(state)
                         : "memory");
        v += s[(t + 33) % blockDim.x];
        __syncthreads();
    }
    o[t] = v;
}
KERNEL copy_arrivals(int *o, int n) {
    __shared__ u64 bar;
    __shared__ __align__(16) int s[512];
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_of(&bar)), "r"(blockDim.x));
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_of(s + 4 * t)), "l"(o + 4 * t + 1024));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_of(&bar)));
    u32 done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_of(&bar))
                     : "memory");
    o[t] = s[(t * 5 + n) & 511];
}
KERNEL halves(int *o, int n) {
    int t = threadIdx.x;
    u32 v = o[t] & 0x3fff3fff, r;
    asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(o + 2048 + t), "r"(v));
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(o + 3000 + (t & 7) * n), "r"(v & 0x3c003c00));
    o[t] = r;
}
