/* sass_exec_fixture.h: kernels of a few sm_75 instructions written down as bits, for tests that need no ptxas.
 */
#ifndef WW_TESTS_SASS_EXEC_FIXTURE_H
#define WW_TESTS_SASS_EXEC_FIXTURE_H

#include "../../traces/sass/record/module.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define CODE_MAX 64

/* An instruction: the guard is added to the lower word (guarded). */
struct code {
    uint64_t low, high;
};
#define PT_HIGH 0x000fea0003800000u

static inline struct code guarded(unsigned predicate, bool negated, struct code c) {
    c.low = (c.low & ~(uint64_t)0xf000) | (uint64_t)predicate << 12 | (uint64_t)negated << 15;
    return c;
}
static inline struct code s2r(unsigned d, unsigned number) {
    return (struct code){0x7919u | (uint64_t)d << 16, 0x000e220000000000u | (uint64_t)number << 8};
}
static inline struct code mov(unsigned d, uint32_t value) {
    return (struct code){0x7802u | (uint64_t)d << 16 | (uint64_t)value << 32, 0x000fe40000000f00u};
}
static inline struct code mov_constant(unsigned d, unsigned offset) { /* c[0][offset] */
    return (struct code){0x7a02u | (uint64_t)d << 16 | (uint64_t)(offset / 4) << 40, 0x000fe40000000f00u};
}
static inline struct code iadd(unsigned d, unsigned a, uint32_t value) {
    return (struct code){0x7810u | (uint64_t)d << 16 | (uint64_t)a << 24 | (uint64_t)value << 32,
                         0x000fe40007ffe0ffu};
}
static inline struct code and_imm(unsigned d, unsigned a, uint32_t value) {
    return (struct code){0x7812u | (uint64_t)d << 16 | (uint64_t)a << 24 | (uint64_t)value << 32,
                         0x000fc800078ec0ffu};
}
static inline struct code p0_not_zero(unsigned a) {
    return (struct code){0x720cu | (uint64_t)a << 24 | (uint64_t)255 << 32, 0x000fe40003f05270u};
}
static inline struct code p0_at_least(unsigned a, uint32_t value) {
    return (struct code){0x780cu | (uint64_t)a << 24 | (uint64_t)value << 32, 0x000fd80003f06070u};
}
/* Addresses R[d] = c[0][0x160] + a * scale, in two registers. */
static inline struct code address(unsigned d, unsigned a, unsigned scale) {
    return (struct code){0x7625u | (uint64_t)d << 16 | (uint64_t)a << 24 | (uint64_t)0x58 << 40 |
                             (uint64_t)0 << 32,
                         0x000fd000078e0000u | scale};
}
static inline struct code stg(unsigned a, unsigned value) {
    return (struct code){0x7386u | (uint64_t)a << 24 | (uint64_t)value << 32, 0x000fe2000010e900u};
}
static inline struct code sts(unsigned a, unsigned value) {
    return (struct code){0x7388u | (uint64_t)a << 24 | (uint64_t)value << 32, 0x000fe80000000800u};
}
static inline struct code stl(unsigned a, uint32_t offset, unsigned value) {
    return (struct code){0x7387u | (uint64_t)a << 24 | (uint64_t)value << 32 | (uint64_t)offset << 40,
                         0x000fe80000100800u};
}
static inline struct code lds(unsigned d, unsigned a) {
    return (struct code){0x7984u | (uint64_t)d << 16 | (uint64_t)a << 24, 0x000fe80000001800u};
}
static inline struct code vote_any(unsigned d) {
    return (struct code){0x7806u | (uint64_t)d << 16, 0x000fe200038e0100u};
}
/* `by`: instructions from the next one. */
static inline struct code bra(int by) {
    int64_t words = (int64_t)by * 4;
    return (struct code){0x7947u | (uint64_t)words << 34, PT_HIGH | ((uint64_t)(words >> 30) & 0x3ffffu)};
}
static inline struct code call(int by) {
    struct code c = bra(by);
    return (struct code){c.low - 3, c.high | 0x400000u};
}
static inline struct code trap(void) {
    return (struct code){0x795cu | (uint64_t)1 << 34, 0x000fea0000300000u};
}
static inline struct code bssy(unsigned barrier, int by) {
    return (struct code){0x7945u | (uint64_t)barrier << 16 | (uint64_t)((int64_t)by * 4) << 34, PT_HIGH};
}
static inline struct code bsync(unsigned barrier) {
    return (struct code){0x7941u | (uint64_t)barrier << 16, PT_HIGH};
}
static inline struct code break_out(unsigned barrier) {
    return (struct code){0x7942u | (uint64_t)barrier << 16, PT_HIGH};
}
static inline struct code bar(unsigned number) {
    return (struct code){0x7b1du | (uint64_t)number << 54, 0x000fea0000000000u};
}
/* DEPBAR.LE SBcounter, level, {set} */
static inline struct code depbar(unsigned counter, unsigned level, unsigned set) {
    return (struct code){0x791au | (uint64_t)set << 32 | (uint64_t)level << 38 | (uint64_t)counter << 44 |
                             (uint64_t)1 << 47,
                         0x000fc80000000000u};
}
static inline struct code leave(void) {
    return (struct code){0x794du, PT_HIGH};
}

#define SR_TID_X 33
#define BYTES 4096u

/* A kernel with one parameter, the address of `words`. */
struct kernel_test {
    uint64_t raw[CODE_MAX][2];
    struct ww_cubin cubin;
    struct ww_cubin_kernel kernel;
    struct mem mem;
    uint32_t *words; /* BYTES of device memory */
    uint64_t address;
    unsigned char bank[0x200];
    struct sx_kernel *built;
    struct recorder recorder;
    struct ww_error error;
    uint64_t limit;
    uint32_t steps, masks[256]; /* of warp 0 of the last CTA */
};

void kernel_open(struct kernel_test *t, const struct code *code, size_t count);
/* Builds, runs `threads` threads a CTA and keeps what was recorded. */
enum ww_code kernel_run(struct kernel_test *t, uint32_t ctas, uint32_t threads);
void kernel_close(struct kernel_test *t);

#endif
