/* test_sass_alu_core.c: one instruction of sm_75 at a time, written down as bits, on edge and random values:
 * its result is that of a formula. Needs no ptxas; test_sass_alu.c compares every form with PTX. */
#include "sass_exec_fixture.h"
#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define LANES 32u

/* The operation with result R12 (R12:R13) and sources R6:R7, R8:R9, R10:R11: their register fields are set
 * here. P0 is true in odd lanes. */
struct operation {
    const char *name;
    uint64_t low, high;
    bool wide;       /* the result has 64 bits */
    uint8_t a, b, c; /* registers of the fields, 0 where there is none */
    uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c, unsigned lane);
};

static uint32_t bits_of(float f) {
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    return (v & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : v;
}
static float number(uint64_t v) {
    uint32_t low = (uint32_t)v;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}
static double wide_number(uint64_t v) {
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static uint64_t wide_bits(double d) {
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    return v;
}

/* Selector 0x9f80 of the bytes a0 a1 a2 a3 c0 c1 c2 c3: from the lowest a0, the sign of a0, that of c3, that of
 * a1. */
static uint32_t prmt_bytes(uint64_t a, uint64_t c) {
    uint32_t sign_a0 = a & 0x80 ? 0xff : 0, sign_c3 = c & 0x80000000u ? 0xff : 0,
             sign_a1 = a & 0x8000 ? 0xff : 0;
    return (uint32_t)(a & 0xff) | sign_a0 << 8 | sign_c3 << 16 | sign_a1 << 24;
}

#define EXPECT(name, EXPR)                                                                                     \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, unsigned lane) {                                  \
        (void)a, (void)b, (void)c, (void)lane;                                                                 \
        return EXPR;                                                                                           \
    }
EXPECT(iadd3, (uint32_t)(a + b - c))
EXPECT(iadd3_x, (uint32_t)(a + b + (lane & 1)))
EXPECT(lop3, (uint32_t)(a | (b & ~c)))
EXPECT(shift_signed, (uint32_t)((uint32_t)b >= 32 ? (int32_t)c >> 31 : (int32_t)c >> ((uint32_t)b & 31)))
EXPECT(rotate, (b & 31) ? (uint32_t)((uint32_t)c << (b & 31) | (uint32_t)a >> (32 - (b & 31))) : (uint32_t)c)
EXPECT(prmt, prmt_bytes(a, c))
EXPECT(mad_wide, (uint64_t)(uint32_t)a *(uint32_t)b + c)
EXPECT(mad_high, (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32))
EXPECT(maximum, (uint32_t)((int32_t)a > (int32_t)b ? a : b))
EXPECT(highest, (uint32_t)b ? 31u - (uint32_t)__builtin_clz((uint32_t)b) : UINT32_MAX)
EXPECT(ones, (uint32_t)__builtin_popcount((uint32_t)b))
EXPECT(lea_high, (uint32_t)(((c << 32 | (uint32_t)a) << 5 >> 32) + b))
EXPECT(absdiff, (uint32_t)(((int32_t)a < (int32_t)b ? b - a : a - b) + c))
EXPECT(select_, (uint32_t)(lane & 1 ? a : b))
EXPECT(fma_, bits_of(fmaf(number(a), number(b), number(c))))
EXPECT(minimum, bits_of(isnan(number(a))                                                          ? number(b)
                        : isnan(number(b))                                                        ? number(a)
                        : number(a) < number(b) || (number(a) == number(b) && signbit(number(a))) ? number(a)
                                                                                                  : number(b)))
EXPECT(to_int, isnan(number(b)) ? 0
                                : (uint32_t)(number(b) >= 0x1p31f    ? INT32_MAX
                                             : number(b) <= -0x1p31f ? INT32_MIN
                                                                     : (int32_t)number(b)))
EXPECT(dadd, wide_bits(wide_number(a) + wide_number(b)))
EXPECT(dfma, wide_bits(fma(wide_number(a), wide_number(b), wide_number(c))))

static const struct operation operations[] = {
    {"IADD3 a, b, -c", 0x7210, 0x000fca0007ffe800u, false, 6, 8, 10, iadd3},
    {"IADD3.X a, b, RZ, P0, !PT", 0x7210, 0x000fe200007fe400u, false, 6, 8, 255, iadd3_x},
    {"LOP3 0xf4", 0x7212, 0x000fc400078ef400u, false, 6, 8, 10, lop3},
    {"SHF.R.S32.HI", 0x7219, 0x000fe40000011400u, false, 6, 8, 10, shift_signed},
    {"SHF.L.W.U32.HI", 0x7219, 0x000fe40000010e00u, false, 6, 8, 10, rotate},
    {"PRMT 0x9f80", 0x9f8000007816u, 0x000fe20000000000u, false, 6, 0, 10, prmt},
    {"IMAD.WIDE.U32", 0x7225, 0x000fc800078e0000u, true, 6, 8, 10, mad_wide},
    {"IMAD.HI", 0x7227, 0x000fc800078e0200u, false, 6, 8, 255, mad_high},
    {"IMNMX", 0x7217, 0x000fc80007800200u, false, 6, 8, 0, maximum},
    {"FLO.U32", 0x7300, 0x004e6200000e0000u, false, 0, 8, 0, highest},
    {"POPC", 0x7309, 0x000eb00000000000u, false, 0, 8, 0, ones},
    {"LEA.HI 5", 0x7211, 0x000fc800078f2800u, false, 6, 8, 10, lea_high},
    {"VABSDIFF", 0x7214, 0x000fc600000e0200u, false, 6, 8, 10, absdiff},
    {"SEL", 0x7207, 0x000fe40000000000u, false, 6, 8, 0, select_},
    {"FFMA", 0x7223, 0x000fc60000000000u, false, 6, 8, 10, fma_},
    {"FMNMX", 0x7209, 0x008fe20003800000u, false, 6, 8, 0, minimum},
    {"F2I.TRUNC.NTZ", 0x7305, 0x000e62000020f100u, false, 0, 8, 0, to_int},
    {"DADD", 0x7229, 0x0000620000000000u, true, 6, 0, 8, dadd},
    {"DFMA", 0x722b, 0x0014220000000000u, true, 6, 8, 10, dfma},
};

static struct code ldg(unsigned d, unsigned offset) {
    return (struct code){0x2007381u | (uint64_t)d << 16 | (uint64_t)offset << 40, 0x000ea800001ee900u};
}
static struct code stg_at(unsigned offset, unsigned value) {
    return (struct code){0x2007386u | (uint64_t)value << 32 | (uint64_t)offset << 40, 0x000fe2000010e900u};
}

/* Fields of registers: D at 16, A at 24, B at 32, C at 64. */
static struct code with_registers(const struct operation *o) {
    return (struct code){o->low | (uint64_t)12 << 16 | (uint64_t)o->a << 24 | (uint64_t)o->b << 32,
                         o->high | o->c};
}

static uint64_t value(unsigned n) {
    static const uint64_t edges[] = {0,          1,          31,         32,         0x7fffffff,
                                     0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x00000001,
                                     0x807fffff, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x80};
    static const uint64_t wide[] = {0x3ff0000000000000u, 0xbff8000000000000u, 0x0010000000000000u,
                                    0x7fefffffffffffffu};
    static uint64_t s = 0x853c49e6748fea9bu;
    s = s * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = s ^ s >> 29;
    if (n % 4 == 1) return edges[r % COUNT(edges)];
    if (n % 4 == 2) return wide[r % COUNT(wide)] | (r & 0xff);
    if (n % 4 == 3) return (r & 0x807fffffu) | (uint64_t)(120 + (r >> 40) % 16) << 23;
    return r;
}

static uint64_t input[3][LANES];

/* Input n is at 512 (n + 1), its upper words 128 behind. */
static void store_inputs(struct kernel_test *t) {
    for (unsigned n = 0; n < 3; n++)
        for (unsigned l = 0; l < LANES; l++) {
            input[n][l] = value(l + n);
            t->words[128 * (n + 1) + l] = (uint32_t)input[n][l];
            t->words[128 * (n + 1) + 32 + l] = (uint32_t)(input[n][l] >> 32);
        }
}

static void run(const struct operation *o) {
    static struct kernel_test t;
    const struct code code[] = {s2r(0, SR_TID_X), mov(5, 4),        address(2, 0, 5), ldg(6, 512),
                                ldg(7, 640),      ldg(8, 1024),     ldg(9, 1152),     ldg(10, 1536),
                                ldg(11, 1664),    and_imm(4, 0, 1), p0_not_zero(4),   with_registers(o),
                                stg_at(0, 12),    stg_at(128, 13),  leave()};
    kernel_open(&t, code, COUNT(code));
    store_inputs(&t);
    if (kernel_run(&t, 1, LANES) != WW_OK) fail_msg("%s: %s: %s", o->name, t.error.where, t.error.text);
    for (unsigned l = 0; l < LANES; l++) {
        uint64_t a = input[0][l], b = input[1][l], c = input[2][l], want;
        if (!o->wide) a = (uint32_t)a, b = (uint32_t)b, c = (uint32_t)c;
        want = o->expected(a, b, c, l);
        uint64_t got = t.words[l] | (o->wide ? (uint64_t)t.words[32 + l] << 32 : 0);
        if (got != want && !(o->wide && isnan(wide_number(got)) && isnan(wide_number(want))))
            fail_msg("%s of %llx %llx %llx: %llx instead of %llx", o->name, (unsigned long long)a,
                     (unsigned long long)b, (unsigned long long)c, (unsigned long long)got,
                     (unsigned long long)want);
    }
    kernel_close(&t);
}

static void each_operation_is_its_formula(void **state) {
    (void)state;
    for (size_t n = 0; n < COUNT(operations); n++)
        for (unsigned round = 0; round < 20; round++) run(&operations[n]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_operation_is_its_formula)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
