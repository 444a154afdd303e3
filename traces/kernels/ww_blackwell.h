/* ww_blackwell.h: what sm_100a has in addition to ww_hopper.h: tensor memory, 128 lanes of columns of 32 bits,
 * and products whose sums lie there. */
#ifndef WW_BLACKWELL_H
#define WW_BLACKWELL_H

#include "ww_hopper.h"

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || (defined(__CUDA_ARCH__) && defined(WW_SM) && WW_SM >= 100)
#define WW_BLACKWELL 1
#endif

/* A warp takes so many columns; where they begin is written to shared memory. */
template <int COLUMNS> WW_BUILTIN void ww_tensor_take(unsigned place) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n\t"
                 "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(place),
                 "n"(COLUMNS)
                 : "memory");
}
template <int COLUMNS> WW_BUILTIN void ww_tensor_give(unsigned address) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "n"(COLUMNS)
                 : "memory");
}

/* What this thread did with tensor memory is before, or after, a barrier. */
WW_BUILTIN void ww_tensor_before() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
WW_BUILTIN void ww_tensor_after() {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
/* The barrier is told when this thread's products so far are done. */
WW_BUILTIN void ww_tensor_commit(unsigned barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
                 : "memory");
}

/* Rows of 128 bytes, swizzled by 128; groups of 8 rows follow one another. */
WW_BUILTIN unsigned long ww_tensor_matrix(unsigned address) {
    return 2ul << 61 | 1ul << 46 | 64ul << 32 | 1ul << 16 | address >> 4;
}
/* Products of rows x columns of the first type of a kind, sums in single precision. */
WW_BUILTIN unsigned ww_tensor_shape(unsigned rows, unsigned columns) {
    return 1u << 4 | columns / 8 << 17 | rows / 16 << 24;
}

#define WW_TENSOR_PRODUCT(name, kind)                                                                          \
    WW_BUILTIN void name(unsigned sums, unsigned long a, unsigned long b, unsigned shape, int adds) {          \
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::" kind           \
                     " [%0], %1, %2, %3, p; }" ::"r"(sums),                                                    \
                     "l"(a), "l"(b), "r"(shape), "r"(adds)                                                     \
                     : "memory");                                                                              \
    }
/* 16 halves or 32 bytes of floats deep; `adds`: to the sums that are there. */
WW_TENSOR_PRODUCT(ww_tensor_half, "f16")
WW_TENSOR_PRODUCT(ww_tensor_fp8, "f8f6f4")

#define WW_8OUT(v, i)                                                                                          \
    "=f"(v[i]), "=f"(v[i + 1]), "=f"(v[i + 2]), "=f"(v[i + 3]), "=f"(v[i + 4]), "=f"(v[i + 5]),                \
        "=f"(v[i + 6]), "=f"(v[i + 7])
/* 32 columns of the lane. */
WW_BUILTIN void ww_tensor_load(float (&v)[32], unsigned address) {
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
        "%14, "
        "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n\t"
        "tcgen05.wait::ld.sync.aligned;"
        : WW_8OUT(v, 0), WW_8OUT(v, 8), WW_8OUT(v, 16), WW_8OUT(v, 24)
        : "r"(address)
        : "memory");
}

#endif
