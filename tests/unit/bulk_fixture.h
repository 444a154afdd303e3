/* bulk_fixture.h: kernels with bulk copies, run from PTX and from machine code. */
#ifndef WW_TESTS_BULK_FIXTURE_H
#define WW_TESTS_BULK_FIXTURE_H

#include "exec_test.h"
#include "../../estimator/api/record.h"
#include "../../traces/tensor_map.h"

#define HEAD ".version 8.1\n.target sm_90a\n.address_size 64\n"
/* Kernel k(out, in, map): %rd0 to %rd2; %r0 is the thread, %r1 the buffer's and %r2 the mbarrier's place. */
#define KERNEL(attributes, body)                                                                               \
    HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) " attributes                       \
         "\n{\n.reg .b64 %rd<16>; .reg .b32 %r<24>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .pred %p<8>;\n"     \
         ".shared .align 1024 .b8 buf[8192]; .shared .align 8 .b64 bar;\n"                                     \
         "ld.param.u64 %rd0,[p0]; ld.param.u64 %rd1,[p1]; ld.param.u64 %rd2,[p2];\n"                           \
         "mov.u32 %r0,%tid.x; mov.u32 %r1,buf; mov.u32 %r2,bar; setp.eq.u32 %p0,%r0,0;\n" body "\nret;\n}\n"
/* Thread 0 makes an mbarrier of one arrival and does `start`, which expects `bytes`; all wait for its phase 0.
 */
#define AND_WAIT(bytes, start)                                                                                 \
    "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r2],1; fence.mbarrier_init.release.cluster;\n"           \
    "fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2]," bytes ";\n" start      \
    "\nREADY: bar.sync 0;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra WAIT;\n"
/* Words of the buffer go out: thread t moves words t, t + 32, ... of `words`. */
#define DUMP(words)                                                                                            \
    "mov.u32 %r20,%r0;\nMORE: setp.ge.u32 %p7,%r20," words "; @%p7 bra DONE; shl.b32 %r21,%r20,2;\n"           \
    "add.u32 %r22,%r1,%r21; ld.shared.u32 %r23,[%r22]; cvt.u64.u32 %rd14,%r21; add.u64 %rd15,%rd0,%rd14;\n"    \
    "st.global.u32 [%rd15],%r23; add.u32 %r20,%r20,32; bra MORE;\nDONE:\n"
/* The other way: words of in into the buffer. */
#define FETCH(words)                                                                                           \
    "mov.u32 %r20,%r0;\nFMORE: setp.ge.u32 %p7,%r20," words "; @%p7 bra FDONE; shl.b32 %r21,%r20,2;\n"         \
    "add.u32 %r22,%r1,%r21; cvt.u64.u32 %rd14,%r21; add.u64 %rd15,%rd1,%rd14; ld.global.u32 %r23,[%rd15];\n"   \
    "st.shared.u32 [%r22],%r23; add.u32 %r20,%r20,32; bra FMORE;\nFDONE: fence.proxy.async; bar.sync 0;\n"

struct job {
    const char *text;
    uint32_t ctas, threads;
    void *out;
    size_t out_bytes;
    const void *in;
    size_t in_bytes;
    const struct ww_tensor_map *map; /* whose global address is filled in: of `in`, or of `out` */
    bool map_of_out;
    void (*spoil)(unsigned char *map);
};

/* Runs it both ways; want() looks at what came out. Each wait at an mbarrier must be for the events that the
 * trace has. */
void both(const struct job *j, void (*want)(const void *out));
/* It fails both ways, with an error that says so. */
void refused(const struct job *j, const char *part);
/* It fails as PTX or as machine code (if there is a ptxas). */
void refused_as(enum ww_record_code code, const struct job *j, const char *part);
/* What the last run's waits at mbarriers were for: of a CTA, of both of a pair. */
void want_events_of(uint64_t cta, uint32_t own, uint32_t others);
void want_events(uint32_t own, uint32_t others);

extern uint32_t in_words[4096], out_words[4096];
/* Puts numbers into the first, zeros into the second. */
void fill_in(void);

#endif
