/* tcgen05_fixture.h: kernels with tensor memory, run from PTX. */
#ifndef WW_TESTS_TCGEN05_FIXTURE_H
#define WW_TESTS_TCGEN05_FIXTURE_H

#include "exec_test.h"

/* Kernel k(out, in): %rd0, %rd1; %r0 is the thread, %r1 its warp; operands lie at `buf`, %r2. %p0: thread 0,
 * %p1: warp 0. The address of the tensor memory comes to %r5. */
#define TC_KERNEL(attributes, body)                                                                            \
    ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 "          \
    "p1)\n" attributes "\n{ .reg .b64 %rd<16>; .reg .b32 %r<48>; .reg .b16 %h<4>; .reg .pred %p<8>;\n"         \
    ".shared .align 1024 .b8 buf[40960]; .shared .align 8 .b64 bar; .shared .align 4 .b32 place;\n"            \
    "ld.param.u64 %rd0,[p0]; ld.param.u64 %rd1,[p1]; mov.u32 %r0,%tid.x; shr.u32 %r1,%r0,5; mov.u32 %r2,buf;"  \
    "mov.u32 %r3,bar; mov.u32 %r4,place; setp.eq.u32 %p0,%r0,0; setp.lt.u32 %p1,%r0,32;\n" body "\nret; }\n"
#define KERNEL(body) TC_KERNEL("", body)
#define TC_ALLOC(columns, ctas)                                                                                \
    "@!%p1 bra HELD; tcgen05.alloc.cta_group::" ctas ".sync.aligned.shared::cta.b32 [%r4]," columns ";"        \
    "tcgen05.relinquish_alloc_permit.cta_group::" ctas ".sync.aligned; HELD: bar.sync 0;"                      \
    "ld.shared.u32 %r5,[%r4];\n"
#define TC_FREE(columns, ctas)                                                                                 \
    "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::" ctas ".sync.aligned.b32 %r5," columns ";\n"
#define ALLOC(columns) TC_ALLOC(columns, "1")
#define FREE(columns) TC_FREE(columns, "1")
/* The words of `in` go to shared memory. */
#define FETCH(words)                                                                                           \
    "mov.u32 %r20,%r0;\nFMORE: setp.ge.u32 %p7,%r20," words "; @%p7 bra FDONE; shl.b32 %r21,%r20,2;"           \
    "add.u32 %r22,%r2,%r21; cvt.u64.u32 %rd14,%r21; add.u64 %rd15,%rd1,%rd14; ld.global.u32 %r23,[%rd15];"     \
    "st.shared.u32 [%r22],%r23; add.u32 %r20,%r20,128; bra FMORE;\nFDONE: bar.sync 0;\n"
/* Column after column of the thread's lane goes out: word lane * columns + column. */
#define DUMP(columns)                                                                                          \
    "shl.b32 %r24,%r1,21; add.u32 %r24,%r24,%r5; mov.u32 %r25,0; mul.lo.u32 %r26,%r0," columns ";\n"           \
    "DMORE: tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r27},[%r24]; tcgen05.wait::ld.sync.aligned;"               \
    "add.u32 %r28,%r26,%r25; mul.wide.u32 %rd9,%r28,4; add.u64 %rd9,%rd0,%rd9; st.global.u32 [%rd9],%r27;"     \
    "add.u32 %r24,%r24,1; add.u32 %r25,%r25,1; setp.lt.u32 %p6,%r25," columns "; @%p6 bra DMORE;\n"

#define TC_OUT (2 * 128 * 256)
#define TC_IN (2 * 40960)
extern uint32_t out[TC_OUT];
extern unsigned char in[TC_IN];

/* Runs `ctas` CTAs of 128 threads as PTX; `out` is what it was and what came out. */
enum ww_code tc_run(const char *text, uint32_t ctas, struct ww_error *error);
void tc_must_run(const char *text, uint32_t ctas);
/* It fails, with an error that says so. */
void tc_refused(const char *text, uint32_t ctas, const char *part);
/* The word, which stands in the text once, becomes another. */
void tc_replace(char *text, const char *word, const char *by);

#endif
