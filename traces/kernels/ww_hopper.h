/* ww_hopper.h: what sm_90a has in addition to ww_mma.h: barriers in shared memory that count bytes, copies of
 * boxes of tensors, products of a warpgroup's 64 rows with matrices in shared memory. For clang without CUDA's
 * headers, whose assembler text is for sm_90a (build.sh), and for nvcc alike. */
#ifndef WW_HOPPER_H
#define WW_HOPPER_H

#include "ww_mma.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || (defined(__CUDA_ARCH__) && defined(WW_SM) && WW_SM >= 90)
#define WW_HOPPER 1
#endif

WW_BUILTIN void ww_barrier_make(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/* Barriers that were made become visible to copies. */
WW_BUILTIN void ww_barrier_made() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
WW_BUILTIN void ww_barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/* The same, and `bytes` are to come. */
WW_BUILTIN void ww_barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
WW_BUILTIN void ww_barrier_wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{ .reg .pred p; AGAIN_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN_%=; }" ::
            "r"(barrier),
        "r"(parity)
        : "memory");
}

/* The box at column x, row y of a tensor of two dimensions; the barrier counts its bytes. */
WW_BUILTIN void ww_box(unsigned to, const void *map, unsigned x, unsigned y, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
                 "{%2, %3}], "
                 "[%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

/* CTAs of the cluster, and the number of this one. */
WW_BUILTIN unsigned ww_cluster_size() {
    unsigned n;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
}
WW_BUILTIN unsigned ww_cluster_rank() {
    unsigned n;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(n));
    return n;
}
WW_BUILTIN void ww_cluster_meet() {
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
/* The barrier at the same place of another CTA. */
WW_BUILTIN void ww_barrier_arrive_at(unsigned barrier, unsigned rank) {
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, "
                 "%1;\n\tmbarrier.arrive.release.cluster.shared::cluster.b64 "
                 "_, [a]; }" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}
/* A box for all CTAs of the mask, at the same place of each; its bytes count at the barrier of each. */
WW_BUILTIN void ww_box_for(unsigned to, const void *map, unsigned x, unsigned y, unsigned barrier,
                           unsigned short mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
                 "cluster [%0], "
                 "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
                 : "memory");
}

/* Describes rows of 128 bytes, swizzled by 128; groups of 8 rows follow one another. `leading`: bytes between
 * columns of 128 bytes of a matrix that is turned. */
WW_BUILTIN unsigned long ww_matrix(unsigned address, unsigned leading = 16) {
    return 1ul << 62 | 64ul << 32 | (unsigned long)(leading / 16) << 16 | address >> 4;
}

WW_BUILTIN void ww_group_begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
WW_BUILTIN void ww_group_end() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Until at most so many groups of products are under way. */
template <int GROUPS> WW_BUILTIN void ww_group_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
}

/* The warpgroup's registers a thread from here on. */
template <int REGISTERS> WW_BUILTIN void ww_registers_more() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS> WW_BUILTIN void ww_registers_less() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

#define WW_64(p)                                                                                               \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "    \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "     \
    "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "     \
    "%62, %63}" p
#define WW_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WW_16(d, i) WW_4(d, i), WW_4(d, i + 4), WW_4(d, i + 8), WW_4(d, i + 12)
#define WW_ALL(d) WW_16(d, 0), WW_16(d, 16), WW_16(d, 32), WW_16(d, 48)

/* d = a b (+ d unless fresh) of 64 x 128 elements: 16 halves or 32 bytes of floats (e4m3) deep. */
WW_BUILTIN void ww_group_half(float (&d)[64], unsigned long a, unsigned long b, int fresh) {
    asm volatile(
        "{ .reg .pred p; setp.eq.s32 p, %66, 0;\n\twgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " WW_64(
            ", %64, %65, p, 1, 1, 0, 0; }")
        : WW_ALL(d)
        : "l"(a), "l"(b), "r"(fresh));
}
WW_BUILTIN void ww_group_fp8(float (&d)[64], unsigned long a, unsigned long b, int fresh) {
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %66, "
                 "0;\n\twgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 " WW_64(", %64, %65, p, 1, 1; }")
                 : WW_ALL(d)
                 : "l"(a), "l"(b), "r"(fresh));
}
/* d += a b of halves: a in registers, b by columns. */
WW_BUILTIN void ww_group_turned(float (&d)[64], const unsigned (&a)[4], unsigned long b) {
    asm volatile(
        "{ .reg .pred p; setp.eq.s32 p, 0, 0;\n\twgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " WW_64(
            ", {%64, %65, %66, %67}, %68, p, 1, 1, 1; }")
        : WW_ALL(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#endif
