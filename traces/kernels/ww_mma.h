/* ww_mma.h: matrix instructions, asynchronous copies and matrices in shared memory, from sm_80 on, for clang
 * without CUDA's headers and for nvcc alike. */
#ifndef WW_MMA_H
#define WW_MMA_H

#include "ww_half.h"

/* The address within shared memory. */
WW_BUILTIN unsigned ww_shared(const void *p) {
    unsigned r;
    asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(r) : "l"(p));
    return r;
}

/* 16 bytes from global to shared memory, past the L1. */
WW_BUILTIN void ww_copy_async(unsigned to, const void *from) {
    asm volatile(
        "{ .reg .u64 a; cvta.to.global.u64 a, %1; cp.async.cg.shared.global [%0], [a], 16; }" ::"r"(to),
        "l"(from)
        : "memory");
}
WW_BUILTIN void ww_copy_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Until at most so many groups of copies are under way. */
template <int GROUPS> WW_BUILTIN void ww_copy_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

/* Two floats as halves, by one instruction. */
WW_BUILTIN unsigned ww_pack_half(float low, float high) {
    unsigned r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

/* Four matrices of 8 rows of 16 bytes; lane i gives the address of row i % 8 of matrix i / 8. */
WW_BUILTIN void ww_load_matrices(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
WW_BUILTIN void ww_load_matrices_transposed(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

/* d += a b of 16 x 8 elements: 16 halves deep with sums in single precision, 32 signed bytes deep with
 * integers. */
WW_BUILTIN void ww_multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
WW_BUILTIN void ww_multiply(int (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
