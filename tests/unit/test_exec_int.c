/* test_exec_int.c: integer instructions against values computed in C. */
#include "exec_test.h"

#define N 96u

static uint64_t A[N], B[N], C[N], OUT[N];

/* Values around every limit, then mixed bits. */
static void make_inputs(void) {
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       3,
                                       31,
                                       32,
                                       33,
                                       63,
                                       64,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000u,
                                       0xffffffffu,
                                       0x7fffffffffffffff,
                                       0x8000000000000000u,
                                       UINT64_MAX};
    uint64_t z = 12345;
    unsigned n = sizeof special / sizeof *special;
    for (unsigned i = 0; i < N; i++) {
        uint64_t v[3];
        for (int k = 0; k < 3; k++) {
            z = z * 6364136223846793005u + 1442695040888963407u;
            v[k] = z ^ (z >> 29);
        }
        A[i] = i < 2 * n ? special[i % n] : v[0];
        B[i] = i % 3 ? special[(i * 7 + 3) % n] : v[1];
        C[i] = i % 4 ? special[(i * 5 + 1) % n] : v[2];
    }
}

/* Runs "op d, x, y, z" on 32-bit registers. */
#define RUN32(text)                                                                                            \
    do {                                                                                                       \
        make_inputs();                                                                                         \
        exec_elements(                                                                                         \
            PTX_ELEMENT(".reg .b32 %d<2>, %x<4>; .reg .b16 %h<4>;",                                            \
                        "ld.global.u32 %x1,[%rd1]; ld.global.u32 %x2,[%rd2]; ld.global.u32 %x3,[%rd3];"        \
                        "cvt.u16.u32 %h1,%x1; cvt.u16.u32 %h2,%x2; cvt.u16.u32 %h3,%x3;" text                  \
                        " st.global.u32 [%rd0],%d0;"),                                                         \
            OUT, A, B, C, N);                                                                                  \
    } while (0)
#define RUN64(text)                                                                                            \
    do {                                                                                                       \
        make_inputs();                                                                                         \
        exec_elements(                                                                                         \
            PTX_ELEMENT(".reg .b64 %d<2>, %x<4>; .reg .b32 %w<4>;",                                            \
                        "ld.global.u64 %x1,[%rd1]; ld.global.u64 %x2,[%rd2]; ld.global.u64 %x3,[%rd3];"        \
                        "cvt.u32.u64 %w1,%x1; cvt.u32.u64 %w2,%x2; cvt.u32.u64 %w3,%x3;" text                  \
                        " st.global.u64 [%rd0],%d0;"),                                                         \
            OUT, A, B, C, N);                                                                                  \
    } while (0)
#define EXPECT32(expr)                                                                                         \
    for (unsigned i = 0; i < N; i++) {                                                                         \
        uint32_t a = (uint32_t)A[i], b = (uint32_t)B[i], c = (uint32_t)C[i];                                   \
        (void)a, (void)b, (void)c;                                                                             \
        uint32_t want = (uint32_t)(expr);                                                                      \
        if ((uint32_t)OUT[i] != want)                                                                          \
            fail_msg("a=%x b=%x c=%x: %x, expected %x", a, b, c, (uint32_t)OUT[i], want);                      \
    }
#define EXPECT64(expr)                                                                                         \
    for (unsigned i = 0; i < N; i++) {                                                                         \
        uint64_t a = A[i], b = B[i], c = C[i];                                                                 \
        (void)a, (void)b, (void)c;                                                                             \
        uint64_t want = (uint64_t)(expr);                                                                      \
        if (OUT[i] != want)                                                                                    \
            fail_msg("a=%llx b=%llx c=%llx: %llx, expected %llx", (unsigned long long)a,                       \
                     (unsigned long long)b, (unsigned long long)c, (unsigned long long)OUT[i],                 \
                     (unsigned long long)want);                                                                \
    }
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static void add_and_sub_wrap(void **state) {
    (void)state;
    RUN32("add.u32 %d0,%x1,%x2;");
    EXPECT32(a + b);
    RUN32("sub.s32 %d0,%x1,%x2;");
    EXPECT32(a - b);
    RUN64("add.s64 %d0,%x1,%x2;");
    EXPECT64(a + b);
    RUN32("{.reg .b16 %t; add.u16 %t,%h1,%h2; cvt.u32.u16 %d0,%t;}");
    EXPECT32((uint16_t)(a + b));
}

static int64_t clamp32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

static void saturating_add_and_sub_clamp(void **state) {
    (void)state;
    RUN32("add.sat.s32 %d0,%x1,%x2;");
    EXPECT32(clamp32((int64_t)S32(a) + S32(b)));
    RUN32("sub.sat.s32 %d0,%x1,%x2;");
    EXPECT32(clamp32((int64_t)S32(a) - S32(b)));
}

static void carry_chains_add_and_subtract_across_words(void **state) {
    (void)state;
    RUN64("{.reg .b32 %l<4>,%g<4>; mov.b64 {%l1,%g1},%x1; mov.b64 {%l2,%g2},%x2; add.cc.u32 %l3,%l1,%l2;"
          "addc.u32 %g3,%g1,%g2; mov.b64 %d0,{%l3,%g3};}");
    EXPECT64(a + b);
    RUN64("{.reg .b32 %l<4>,%g<4>; mov.b64 {%l1,%g1},%x1; mov.b64 {%l2,%g2},%x2; sub.cc.u32 %l3,%l1,%l2;"
          "subc.u32 %g3,%g1,%g2; mov.b64 %d0,{%l3,%g3};}");
    EXPECT64(a - b);
    RUN64("{.reg .b64 %t; add.cc.u64 %t,%x1,%x2; addc.u64 %d0,0,0;}");
    EXPECT64(a + b < a);
    RUN32("{.reg .b32 %t; mad.lo.cc.u32 %t,%x1,%x2,%x3; madc.hi.u32 %d0,%x1,%x2,0;}");
    EXPECT32(((uint64_t)a * b + c) >> 32);
}

static void multiplies_give_low_high_and_wide_products(void **state) {
    (void)state;
    RUN32("mul.lo.s32 %d0,%x1,%x2;");
    EXPECT32(a * b);
    RUN32("mul.hi.s32 %d0,%x1,%x2;");
    EXPECT32((uint64_t)((int64_t)S32(a) * S32(b)) >> 32);
    RUN32("mul.hi.u32 %d0,%x1,%x2;");
    EXPECT32((uint64_t)a * b >> 32);
    RUN64("mul.wide.s32 %d0,%w1,%w2;");
    EXPECT64((int64_t)S32(a) * S32(b));
    RUN64("mul.wide.u32 %d0,%w1,%w2;");
    EXPECT64((uint64_t)(uint32_t)a * (uint32_t)b);
    RUN64("mul.hi.u64 %d0,%x1,%x2;");
    EXPECT64((u128)a * b >> 64);
    RUN64("mul.hi.s64 %d0,%x1,%x2;");
    EXPECT64((u128)((s128)S64(a) * S64(b)) >> 64);
    RUN32("mul.wide.s16 %d0,%h1,%h2;");
    EXPECT32((int16_t)a * (int16_t)b);
    RUN32("{.reg .b16 %t; mul.hi.s16 %t,%h1,%h2; cvt.u32.u16 %d0,%t;}");
    EXPECT32((uint16_t)(((int16_t)a * (int16_t)b) >> 16));
}

static void multiply_adds_add_the_third_operand(void **state) {
    (void)state;
    RUN32("mad.lo.s32 %d0,%x1,%x2,%x3;");
    EXPECT32(a * b + c);
    RUN32("mad.hi.u32 %d0,%x1,%x2,%x3;");
    EXPECT32(((uint64_t)a * b >> 32) + c);
    RUN32("mad.hi.sat.s32 %d0,%x1,%x2,%x3;");
    EXPECT32(clamp32((((int64_t)S32(a) * S32(b)) >> 32) + S32(c)));
    RUN64("mad.wide.s32 %d0,%w1,%w2,%x3;");
    EXPECT64((uint64_t)((int64_t)S32(a) * S32(b)) + c);
    RUN64("mad.lo.u64 %d0,%x1,%x2,%x3;");
    EXPECT64(a * b + c);
}

static int64_t low24(uint32_t v) {
    return (int64_t)((v & 0xffffff) ^ 0x800000) - 0x800000;
}

static void mul24_and_mad24_use_24_bits(void **state) {
    (void)state;
    RUN32("mul24.lo.u32 %d0,%x1,%x2;");
    EXPECT32((uint64_t)(a & 0xffffff) * (b & 0xffffff));
    RUN32("mul24.hi.s32 %d0,%x1,%x2;");
    EXPECT32((uint64_t)(low24(a) * low24(b)) >> 16);
    RUN32("mad24.lo.s32 %d0,%x1,%x2,%x3;");
    EXPECT32((uint64_t)(low24(a) * low24(b)) + c);
}

static void division_and_remainder_truncate(void **state) {
    (void)state;
    RUN32("div.u32 %d0,%x1,%x2;");
    EXPECT32(b ? a / b : UINT32_MAX);
    RUN32("rem.u32 %d0,%x1,%x2;");
    EXPECT32(b ? a % b : a);
    RUN32("div.s32 %d0,%x1,%x2;");
    EXPECT32(b ? (uint64_t)((int64_t)S32(a) / S32(b)) : UINT32_MAX);
    RUN32("rem.s32 %d0,%x1,%x2;");
    EXPECT32(b ? (uint64_t)((int64_t)S32(a) % S32(b)) : a);
    RUN64("div.u64 %d0,%x1,%x2;");
    EXPECT64(b ? a / b : UINT64_MAX);
    RUN64("rem.s64 %d0,%x1,%x2;");
    EXPECT64(b ? (uint64_t)((s128)S64(a) % S64(b)) : a);
}

static void min_max_abs_neg_sad_follow_the_sign_of_the_type(void **state) {
    (void)state;
    RUN32("min.s32 %d0,%x1,%x2;");
    EXPECT32(S32(a) < S32(b) ? a : b);
    RUN32("max.u32 %d0,%x1,%x2;");
    EXPECT32(a > b ? a : b);
    RUN64("min.u64 %d0,%x1,%x2;");
    EXPECT64(a < b ? a : b);
    RUN32("{.reg .b16 %t; max.s16 %t,%h1,%h2; cvt.u32.u16 %d0,%t;}");
    EXPECT32((uint16_t)((int16_t)a > (int16_t)b ? a : b));
    RUN32("abs.s32 %d0,%x1;");
    EXPECT32(S32(a) < 0 ? 0u - a : a);
    RUN64("neg.s64 %d0,%x1;");
    EXPECT64(0 - a);
    RUN32("sad.s32 %d0,%x1,%x2,%x3;");
    EXPECT32(c + (S32(a) < S32(b) ? b - a : a - b));
    RUN32("sad.u32 %d0,%x1,%x2,%x3;");
    EXPECT32(c + (a < b ? b - a : a - b));
}

static void logic_works_bit_by_bit(void **state) {
    (void)state;
    RUN32("and.b32 %d0,%x1,%x2;");
    EXPECT32(a & b);
    RUN64("xor.b64 %d0,%x1,%x2;");
    EXPECT64(a ^ b);
    RUN32("or.b32 %d0,%x1,%x2; not.b32 %d0,%d0;");
    EXPECT32(~(a | b));
    RUN32("cnot.b32 %d0,%x1;");
    EXPECT32(a == 0);
    RUN32("lop3.b32 %d0,%x1,%x2,%x3,0xca;");
    EXPECT32((a & b) | (~a & c));
    RUN32("lop3.b32 %d0,%x1,%x2,%x3,0x96;");
    EXPECT32(a ^ b ^ c);
}

static void shifts_clamp_their_amount(void **state) {
    (void)state;
    RUN32("shl.b32 %d0,%x1,%x2;");
    EXPECT32(b > 31 ? 0 : a << b);
    RUN32("shr.u32 %d0,%x1,%x2;");
    EXPECT32(b > 31 ? 0 : a >> b);
    RUN32("shr.s32 %d0,%x1,%x2;");
    EXPECT32(S32(a) >> (b > 31 ? 31 : b));
    RUN64("shl.b64 %d0,%x1,%w2;");
    EXPECT64((uint32_t)b > 63 ? 0 : a << (uint32_t)b);
    RUN64("shr.s64 %d0,%x1,%w2;");
    EXPECT64(S64(a) >> ((uint32_t)b > 63 ? 63 : (uint32_t)b));
    RUN32("{.reg .b16 %t; shr.s16 %t,%h1,%x2; cvt.u32.u16 %d0,%t;}");
    EXPECT32((uint16_t)((int16_t)a >> (b > 15 ? 15 : b)));
}

static void funnel_shifts_join_two_words(void **state) {
    (void)state;
    RUN32("shf.l.clamp.b32 %d0,%x1,%x2,%x3;");
    EXPECT32(c >= 32 ? a : c ? b << c | a >> (32 - c) : b);
    RUN32("shf.r.wrap.b32 %d0,%x1,%x2,%x3;");
    EXPECT32((c & 31) ? b << (32 - (c & 31)) | a >> (c & 31) : a);
    RUN32("shf.r.clamp.b32 %d0,%x1,%x2,%x3;");
    EXPECT32(c >= 32 ? b : c ? b << (32 - c) | a >> c : a);
}

/* bfe as the PTX ISA's pseudo code: bit by bit. */
static uint64_t bfe(uint64_t a, uint32_t pos, uint32_t len, unsigned msb, bool is_signed) {
    uint64_t d = 0;
    bool sbit = is_signed && len != 0 && ((a >> (pos + len - 1 < msb ? pos + len - 1 : msb)) & 1);
    for (uint32_t i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? (a >> (pos + i)) & 1 : sbit) << i;
    return d;
}

static uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned msb) {
    for (uint32_t i = 0; i < len && pos + i <= msb; i++)
        b = (b & ~((uint64_t)1 << (pos + i))) | ((a >> i) & 1) << (pos + i);
    return b;
}

static void bit_fields_match_the_isa_pseudo_code(void **state) {
    (void)state;
    RUN32("bfe.u32 %d0,%x1,%x2,%x3;");
    EXPECT32(bfe(a, b & 255, c & 255, 31, false));
    RUN32("bfe.s32 %d0,%x1,%x2,%x3;");
    EXPECT32(bfe(a, b & 255, c & 255, 31, true));
    RUN64("bfe.s64 %d0,%x1,%w2,%w3;");
    EXPECT64(bfe(a, b & 255, c & 255, 63, true));
    RUN32("bfi.b32 %d0,%x1,%x3,%x2,7;");
    EXPECT32(bfi(a, c, b & 255, 7, 31));
    RUN64("bfi.b64 %d0,%x1,%x3,%w2,40;");
    EXPECT64(bfi(a, c, b & 255, 40, 63));
}

static uint32_t highest(uint64_t v) {
    uint32_t n = UINT32_MAX;
    for (uint32_t i = 0; i < 64; i++)
        if ((v >> i) & 1) n = i;
    return n;
}

static void bits_are_counted_and_found(void **state) {
    (void)state;
    RUN32("popc.b32 %d0,%x1;");
    EXPECT32(__builtin_popcount(a));
    RUN32("clz.b32 %d0,%x1;");
    EXPECT32(31 - highest(a));
    RUN32("bfind.u32 %d0,%x1;");
    EXPECT32(highest(a));
    RUN32("bfind.s32 %d0,%x1;");
    EXPECT32(highest(S32(a) < 0 ? ~a : a));
    RUN32("bfind.shiftamt.u32 %d0,%x1;");
    EXPECT32(a ? 31 - highest(a) : UINT32_MAX);
    RUN64("{.reg .b32 %t; clz.b64 %t,%x1; cvt.u64.u32 %d0,%t;}");
    EXPECT64(a ? 63 - highest(a) : 64);
    RUN32("brev.b32 %d0,%x1; brev.b32 %d0,%d0; brev.b32 %d1,%x1; and.b32 %d1,%d1,1; shr.u32 %d0,%d0,1; "
          "shl.b32 %d0,%d0,1; or.b32 %d0,%d0,%d1;");
    EXPECT32((a & ~1u) | a >> 31);
    RUN32("fns.b32 %d0,%x1,0,2;");
    EXPECT32((a & (a - 1)) ? __builtin_ctz(a & (a - 1)) : -1);
}

static void masks_and_extensions_follow_their_mode(void **state) {
    (void)state;
    RUN32("bmsk.clamp.b32 %d0,%x1,%x2;");
    EXPECT32(a >= 32 ? 0 : b >= 32 ? UINT32_MAX << a : ((1u << b) - 1) << a);
    RUN32("bmsk.wrap.b32 %d0,%x1,%x2;");
    EXPECT32(((1u << (b & 31)) - 1) << (a & 31));
    RUN32("szext.clamp.s32 %d0,%x1,%x2;");
    EXPECT32(b >= 32 ? a : b == 0 ? 0 : (uint32_t)(S32(a << (32 - b)) >> (32 - b)));
    RUN32("szext.wrap.u32 %d0,%x1,%x2;");
    EXPECT32((b & 31) ? a & ((1u << (b & 31)) - 1) : 0);
}

static uint32_t byte(uint32_t a, uint32_t b, unsigned n) {
    return (uint32_t)(((uint64_t)b << 32 | a) >> (8 * (n & 7))) & 255;
}

static uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t s = c >> (4 * i) & 15, v = byte(a, b, s);
        d |= (s & 8 ? (v & 128 ? 255u : 0) : v) << (8 * i);
    }
    return d;
}

static void prmt_permutes_bytes_in_every_mode(void **state) {
    (void)state;
    RUN32("prmt.b32 %d0,%x1,%x2,%x3;");
    EXPECT32(prmt(a, b, c));
    RUN32("prmt.b32.f4e %d0,%x1,%x2,%x3;");
    EXPECT32(byte(a, b, c & 3) | byte(a, b, (c & 3) + 1) << 8 | byte(a, b, (c & 3) + 2) << 16 |
             byte(a, b, (c & 3) + 3) << 24);
    RUN32("prmt.b32.b4e %d0,%x1,%x2,%x3;");
    EXPECT32(byte(a, b, c & 3) | byte(a, b, (c & 3) + 7) << 8 | byte(a, b, (c & 3) + 6) << 16 |
             byte(a, b, (c & 3) + 5) << 24);
    RUN32("prmt.b32.rc8 %d0,%x1,%x2,%x3;");
    EXPECT32(byte(a, b, c & 3) * 0x01010101u);
    RUN32("prmt.b32.rc16 %d0,%x1,%x2,%x3;");
    EXPECT32((a >> (c & 1 ? 16 : 0) & 0xffff) * 0x10001u);
    RUN32("prmt.b32.ecl %d0,%x1,%x2,%x3;");
    EXPECT32(byte(a, b, c & 3) | byte(a, b, (c & 3) > 1 ? c & 3 : 1) << 8 |
             byte(a, b, (c & 3) > 2 ? 3 : 2) << 16 | byte(a, b, 3) << 24);
    RUN32("prmt.b32.ecr %d0,%x1,%x2,%x3;");
    EXPECT32(byte(a, b, 0) | byte(a, b, (c & 3) < 1 ? 0 : 1) << 8 | byte(a, b, (c & 3) < 2 ? c & 3 : 2) << 16 |
             byte(a, b, c & 3) << 24);
}

static void dot_products_extend_each_part(void **state) {
    (void)state;
    RUN32("dp4a.s32.u32 %d0,%x1,%x2,%x3;");
    EXPECT32(c + (uint32_t)((int8_t)a * (int)(b & 255)) + (uint32_t)((int8_t)(a >> 8) * (int)(b >> 8 & 255)) +
             (uint32_t)((int8_t)(a >> 16) * (int)(b >> 16 & 255)) +
             (uint32_t)((int8_t)(a >> 24) * (int)(b >> 24)));
    RUN32("dp2a.hi.u32.s32 %d0,%x1,%x2,%x3;");
    EXPECT32(c + (uint32_t)((int)(a & 0xffff) * (int8_t)(b >> 16)) +
             (uint32_t)((int)(a >> 16) * (int8_t)(b >> 24)));
}

static void comparisons_select_and_set(void **state) {
    (void)state;
    RUN32("setp.lt.s32 %p1,%x1,%x2; selp.u32 %d0,%x1,%x2,%p1;");
    EXPECT32(S32(a) < S32(b) ? a : b);
    RUN32("setp.ls.u32 %p1|%p2,%x1,%x2; selp.u32 %d0,1,0,%p1; @%p2 add.u32 %d0,%d0,2;");
    EXPECT32(a <= b ? 1 : 2);
    RUN32("setp.eq.u32 %p3,%x3,0; setp.ge.and.u32 %p1,%x1,%x2,!%p3; selp.u32 %d0,1,0,%p1;");
    EXPECT32(a >= b && c != 0);
    RUN32("set.gt.u32.s32 %d0,%x1,%x2;");
    EXPECT32(S32(a) > S32(b) ? UINT32_MAX : 0);
    RUN32("slct.u32.s32 %d0,%x1,%x2,%x3;");
    EXPECT32(S32(c) >= 0 ? a : b);
    RUN64("setp.ne.s64 %p1,%x1,%x2; setp.hi.u64 %p2,%x1,%x2; xor.pred %p3,%p1,%p2; selp.b64 %d0,%x3,0,%p3;");
    EXPECT64((a != b) != (a > b) ? c : 0);
    RUN32("setp.hs.u16 %p1,%h1,%h2; not.pred %p2,%p1; or.pred %p3,%p1,%p2; and.pred %p1,%p1,%p3; selp.u32 "
          "%d0,1,0,%p1;");
    EXPECT32((uint16_t)a >= (uint16_t)b);
}

static void packed_halves_do_not_carry_into_each_other(void **state) {
    (void)state;
    RUN32("add.u16x2 %d0,%x1,%x2;");
    EXPECT32(((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16);
    RUN32("max.s16x2 %d0,%x1,%x2;");
    EXPECT32((uint16_t)((int16_t)a > (int16_t)b ? a : b) |
             (uint32_t)((int16_t)(a >> 16) > (int16_t)(b >> 16) ? a >> 16 : b >> 16) << 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_sub_wrap),
        cmocka_unit_test(saturating_add_and_sub_clamp),
        cmocka_unit_test(carry_chains_add_and_subtract_across_words),
        cmocka_unit_test(multiplies_give_low_high_and_wide_products),
        cmocka_unit_test(multiply_adds_add_the_third_operand),
        cmocka_unit_test(mul24_and_mad24_use_24_bits),
        cmocka_unit_test(division_and_remainder_truncate),
        cmocka_unit_test(min_max_abs_neg_sad_follow_the_sign_of_the_type),
        cmocka_unit_test(logic_works_bit_by_bit),
        cmocka_unit_test(shifts_clamp_their_amount),
        cmocka_unit_test(funnel_shifts_join_two_words),
        cmocka_unit_test(bit_fields_match_the_isa_pseudo_code),
        cmocka_unit_test(bits_are_counted_and_found),
        cmocka_unit_test(masks_and_extensions_follow_their_mode),
        cmocka_unit_test(prmt_permutes_bytes_in_every_mode),
        cmocka_unit_test(dot_products_extend_each_part),
        cmocka_unit_test(comparisons_select_and_set),
        cmocka_unit_test(packed_halves_do_not_carry_into_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
