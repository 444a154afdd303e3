/* test_tcgen05_scaled.c: products of few bits with scale factors, of pairs of CTAs, and what else moves words
 * of tensor memory, from PTX, against plain C. */
#include "tcgen05_fixture.h"
#include "../../estimator/base/rng.h"
#include <math.h>

static struct ww_rng rng;

/* ---- numbers of few bits ---- */

enum { E4M3, E5M2, E2M3, E3M2, E2M1, TYPES };
static const struct {
    unsigned exponent, mantissa;
    int bias;
    uint32_t number; /* in the instruction descriptor */
} types[TYPES] = {{4, 3, 7, 0}, {5, 2, 15, 1}, {2, 3, 1, 3}, {3, 2, 3, 4}, {2, 1, 1, 5}};

static double value_of(uint32_t code, unsigned type) {
    unsigned m = types[type].mantissa;
    uint32_t e = code >> m & ((1u << types[type].exponent) - 1), f = code & ((1u << m) - 1);
    double v = e ? ldexp(1 + (double)f / (1 << m), (int)e - types[type].bias)
                 : ldexp((double)f / (1 << m), 1 - types[type].bias);
    return code >> (m + types[type].exponent) ? -v : v;
}

static unsigned bits_of(unsigned type) {
    return 1 + types[type].exponent + types[type].mantissa;
}

/* Any number of the type, but large ones of 8 bits and what is none. */
static uint32_t any(unsigned type) {
    uint32_t code = ww_rng_below(&rng, 1u << bits_of(type));
    if (type == E4M3) code &= 0xb7;
    if (type == E5M2) code &= 0xbb;
    return code;
}

static void put_bits(unsigned char *to, uint32_t at, uint32_t code, unsigned bits) {
    for (unsigned n = 0; n < bits; n++)
        if (code >> n & 1u) to[(at + n) / 8] |= (unsigned char)(1u << (at + n) % 8);
}

/* Element k of a row of 32 bytes: 16 of fewer than 8 bits lie in the lower bytes of 16, unless they are dense.
 */
static void put(unsigned char *to, uint32_t row, uint32_t k, uint32_t code, unsigned type, bool dense) {
    unsigned bits = bits_of(type), each = dense ? 32 : 16;
    uint32_t piece = k / each, at = row / 8 * 256 + piece * 128 + row % 8 * 16;
    put_bits(to + at, k % each * bits, code, bits);
}

/* ---- products with scale factors ---- */

struct scaled {
    const char *kind; /* and what follows */
    unsigned type_a, type_b;
    /* Without factors id_b is the type of the sums. Rows: 128, or 256 of a pair. */
    uint32_t columns, scales, id_a, id_b, rows;
    bool dense, powers;
};

static uint32_t a[256][64], b[256][64], scale_a[256][4], scale_b[256][4];

static double factor(const struct scaled *p, uint32_t code) {
    if (!p->scales) return 1;
    return p->powers ? ldexp(1, (int)code - 127) : value_of(code, E4M3);
}

/* Rows of A and B of a CTA lie at 0 and 4096, factors at 12288 (A) and 12800 (B, 128 columns each). */
#define A_AT 0u
#define B_AT 4096u
#define SA_AT 12288u
#define SB_AT 12800u
#define IN_BYTES 13824u

static void put_factors(unsigned char *to, uint32_t (*scale)[4], uint32_t rows, uint32_t id, uint32_t count) {
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t j = 0; j < count; j++)
            to[r / 128 * 512 + r % 32 * 16 + r % 128 / 32 * 4 + id + j] = (unsigned char)scale[r][j];
}

static void fill(const struct scaled *p) {
    uint32_t deep = p->dense ? 64 : 32, ctas = p->rows / 128, half = p->columns / ctas;
    memset(in, 0, sizeof in);
    for (uint32_t r = 0; r < 256; r++) {
        for (uint32_t k = 0; k < deep; k++) {
            a[r][k] = any(p->type_a);
            b[r][k] = any(p->type_b);
        }
        for (uint32_t j = 0; j < 4; j++) {
            scale_a[r][j] = p->powers ? 124 + ww_rng_below(&rng, 6) : ww_rng_below(&rng, 64) + 16;
            scale_b[r][j] = p->powers ? 124 + ww_rng_below(&rng, 6) : ww_rng_below(&rng, 64) + 16;
        }
    }
    for (uint32_t c = 0; c < ctas; c++) {
        unsigned char *to = in + c * IN_BYTES;
        for (uint32_t r = 0; r < 128; r++)
            for (uint32_t k = 0; k < deep; k++) put(to + A_AT, r, k, a[128 * c + r][k], p->type_a, p->dense);
        for (uint32_t r = 0; r < half; r++)
            for (uint32_t k = 0; k < deep; k++) put(to + B_AT, r, k, b[half * c + r][k], p->type_b, p->dense);
        put_factors(to + SA_AT, scale_a + 128 * c, 128, p->id_a, p->scales);
        put_factors(to + SB_AT, scale_b, 256, p->id_b, p->scales);
    }
}

/* Groups of eight rows 128 bytes (k) and 256 bytes apart; of factors, 128 bytes apart. */
#define ROWS_AT(reg, offset)                                                                                   \
    "add.u32 %r6,%r2," offset "; shr.u32 %r6,%r6,4; cvt.u64.u32 " reg ",%r6; or.b64 " reg "," reg              \
    ",0x0000401000080000;\n"
#define FACTORS_AT(reg, offset)                                                                                \
    "add.u32 %r6,%r2," offset "; shr.u32 %r6,%r6,4; cvt.u64.u32 " reg ",%r6; or.b64 " reg "," reg              \
    ",0x0000400800080000;\n"
#define COPY(to) "add.u32 %r7,%r5," to "; tcgen05.cp.cta_group::CTAS.32x128b.warpx4 [%r7],%rd6;\n"

/* CTAS, SHIFT (of the input), DESC, KIND, COMMIT are put in. */
static const char scaled_text[] = TC_KERNEL(
    ".reqnctapercluster CTAS,1,1",
    "mov.u32 %r10,%cluster_ctarank; mul.wide.u32 %rd10,%r10,13824; add.u64 %rd1,%rd1,%rd10;"
    "mul.wide.u32 %rd10,%r10,131072; add.u64 %rd0,%rd0,%rd10;\n" FETCH("3456") TC_ALLOC(
        "512",
        "CTAS") "@%p0 mbarrier.init.shared::cta.b64 [%r3],1; barrier.cluster.arrive; barrier.cluster.wait;\n"
                "mov.u32 %r8,DESC; setp.ne.u32 %p2,%r10,0; @%p2 bra DONE; @!%p0 bra DONE;\n" ROWS_AT(
                    "%rd4", "0") ROWS_AT("%rd5", "4096") FACTORS_AT("%rd6", "12288") COPY("256")
                    FACTORS_AT("%rd6", "12800") COPY("260") FACTORS_AT("%rd6", "13312") COPY(
                        "264") "add.u32 %r11,%r5,256; add.u32 %r12,%r5,260; setp.ne.u32 %p3,0,0;\n"
                               "tcgen05.mma.cta_group::CTAS.kind::KIND [%r5],%rd4,%rd5,%r8,[%r11],[%r12],%p3;\n"
                               "mov.b16 %h0,EACH; "
                               "tcgen05.commit.cta_group::CTAS.mbarrier::arrive::one.shared::cluster.multicast:"
                               ":cluster.b64 "
                               "[%r3],%h0;\n"
                               "DONE: mbarrier.try_wait.parity.shared::cta.b64 %p3,[%r3],0; @!%p3 bra DONE;"
                               "tcgen05.fence::after_thread_sync;" DUMP(
                                   "256") "barrier.cluster.arrive; barrier.cluster.wait;" TC_FREE("512",
                                                                                                  "CTAS"));

static void check_scaled(const struct scaled *p) {
    static char text[8192];
    char number[16];
    uint32_t deep = p->dense ? 64 : 32;
    uint32_t t_a = p->dense ? 1 : types[p->type_a].number, t_b = p->dense ? 1 : types[p->type_b].number;
    snprintf(number, sizeof number, "%u",
             p->id_b << 4 | t_a << 7 | t_b << 10 | p->columns / 8 << 17 | (uint32_t)p->powers << 23 |
                 p->rows / 16 << 24 | p->id_a << 29);
    snprintf(text, sizeof text, "%s", scaled_text);
    tc_replace(text, "DESC;", strcat(number, ";"));
    tc_replace(text, "KIND", p->kind);
    if (!p->scales) tc_replace(text, ",[%r11],[%r12]", "");
    tc_replace(text, "EACH", p->rows == 256 ? "3" : "1");
    while (strstr(text, "CTAS")) tc_replace(text, "CTAS", p->rows == 256 ? "2" : "1");
    fill(p);
    memset(out, 0, sizeof out);
    tc_must_run(text, p->rows / 128);
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t c = 0; c < p->columns; c++) {
            double sum = 0;
            float got;
            for (uint32_t k = 0; k < deep; k++) {
                uint32_t j = k * p->scales / deep;
                sum += value_of(a[r][k], p->type_a) * factor(p, scale_a[r][j]) * value_of(b[c][k], p->type_b) *
                       factor(p, scale_b[c][j]);
            }
            memcpy(&got, &out[r * 256 + c], 4);
            if (fabs((double)got - sum) > fabs(sum) * 0x1p-22)
                fail_msg("%s, row %u column %u: %g, expected %g", p->kind, r, c, (double)got, sum);
        }
}

static void products_with_scale_factors(void **state) {
    (void)state;
    static const struct scaled all[] = {
        {"mxf8f6f4.block_scale", E4M3, E5M2, 136, 1, 0, 3, 128, false, true},
        {"mxf8f6f4.block_scale.scale_vec::1X", E2M3, E3M2, 64, 1, 2, 1, 128, false, true},
        {"mxf8f6f4.block_scale.block32", E2M1, E4M3, 8, 1, 0, 0, 128, false, true},
        {"mxf4.block_scale", E2M1, E2M1, 256, 2, 2, 0, 128, true, true},
        {"mxf4nvf4.block_scale.scale_vec::4X", E2M1, E2M1, 96, 4, 0, 0, 128, true, false},
        {"mxf4nvf4.block_scale.block32", E2M1, E2M1, 32, 2, 0, 2, 128, true, true}};
    ww_rng_seed(&rng, 5);
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) check_scaled(&all[n]);
}

static void products_of_few_bits(void **state) {
    (void)state;
    static const struct scaled all[] = {{"f8f6f4", E2M3, E2M1, 64, 0, 0, 1, 128, false, false},
                                        {"f8f6f4", E3M2, E5M2, 32, 0, 0, 1, 128, false, false},
                                        {"f8f6f4", E2M1, E3M2, 48, 0, 0, 1, 256, false, false}};
    ww_rng_seed(&rng, 7);
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) check_scaled(&all[n]);
}

static void pairs_multiply_with_scale_factors(void **state) {
    (void)state;
    static const struct scaled all[] = {
        {"mxf8f6f4.block_scale", E4M3, E4M3, 256, 1, 1, 0, 256, false, true},
        {"mxf4nvf4.block_scale.block16", E2M1, E2M1, 64, 4, 0, 0, 256, true, false}};
    ww_rng_seed(&rng, 6);
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) check_scaled(&all[n]);
}

/* ---- pairs, without factors ---- */

/* Halves of integers, 16 of k: rows of A at 0, of B at 8192. RANK is where a CTA's half begins in the input. */
static const char pair_text[] = TC_KERNEL(
    ".reqnctapercluster 2,1,1",
    "mov.u32 %r10,%cluster_ctarank; mul.wide.u32 %rd10,%r10,16384; add.u64 %rd1,%rd1,%rd10;"
    "mul.wide.u32 %rd10,%r10,131072; add.u64 %rd0,%rd0,%rd10;\n" FETCH("4096") TC_ALLOC(
        "512",
        "2") "@%p0 mbarrier.init.shared::cta.b64 [%r3],1; barrier.cluster.arrive; barrier.cluster.wait;\n"
             "mov.u32 %r8,DESC; setp.ne.u32 %p2,%r10,0; @%p2 bra DONE; @!%p0 bra DONE;\n" ROWS_AT("%rd4", "0")
                 ROWS_AT(
                     "%rd5",
                     "8192") "setp.ne.u32 %p3,0,0; setp.eq.u32 %p4,0,0;\n"
                             "mov.u32 %r12,0; mov.u32 %r13,0xffffffff; mov.u32 %r14,1;\nMMA\nmov.b16 %h0,3; "
                             "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::"
                             "cluster.b64 [%r3],%h0;\n"
                             "DONE: mbarrier.try_wait.parity.shared::cta.b64 %p3,[%r3],0; @!%p3 bra DONE;"
                             "tcgen05.fence::after_thread_sync;" DUMP(
                                 "256") "barrier.cluster.arrive; barrier.cluster.wait;" TC_FREE("512", "2"));
#define PAIR_MMA "tcgen05.mma.cta_group::2.kind::f16 [%r5],%rd4,%rd5,%r8,"

static uint16_t half_of(int v) { /* -2 to 2 */
    static const uint16_t code[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    return code[v + 2];
}

static int rows[256][16], columns[256][16];

static void fill_pair(uint32_t count, uint32_t wide) {
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (uint32_t r = 0; r < 256; r++)
        for (uint32_t k = 0; k < 16; k++) {
            rows[r][k] = (int)ww_rng_below(&rng, 5) - 2;
            columns[r][k] = (int)ww_rng_below(&rng, 5) - 2;
        }
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t r = 0; r < 128; r++)
            for (uint32_t k = 0; k < 16; k++) {
                uint32_t at = r / 8 * 256 + k / 8 * 128 + r % 8 * 16 + k % 8 * 2;
                uint16_t x = half_of(r < count / 2 ? rows[count / 2 * c + r][k] : 0);
                uint16_t y = half_of(r < wide / 2 ? columns[wide / 2 * c + r][k] : 0);
                memcpy(in + 16384 * c + at, &x, 2);
                memcpy(in + 16384 * c + 8192 + at, &y, 2);
            }
}

static int product(uint32_t r, uint32_t c) {
    int sum = 0;
    for (uint32_t k = 0; k < 16; k++) sum += rows[r][k] * columns[c][k];
    return sum;
}

static void run_pair(const char *mma, uint32_t count, uint32_t wide) {
    static char text[8192];
    char number[16];
    snprintf(number, sizeof number, "%u;", 1u << 4 | wide / 8 << 17 | count / 16 << 24);
    snprintf(text, sizeof text, "%s", pair_text);
    tc_replace(text, "DESC;", number);
    tc_replace(text, "MMA", mma);
    fill_pair(count, wide);
    tc_must_run(text, 2);
}

/* The word of a CTA's lane and column is that many times the product of a row and a column. */
static void want(uint32_t cta, uint32_t lane, uint32_t at, uint32_t r, uint32_t c, float times) {
    float got;
    memcpy(&got, &out[cta * 32768 + lane * 256 + at], 4);
    if ((double)got != (double)times * product(r, c))
        fail_msg("row %u column %u: %g, expected %g x %d", r, c, (double)got, (double)times, product(r, c));
}

static void a_pair_of_ctas_multiplies_256_rows(void **state) {
    (void)state;
    run_pair(PAIR_MMA "%p3;", 256, 96);
    for (uint32_t r = 0; r < 256; r++)
        for (uint32_t c = 0; c < 96; c++) want(r / 128, r % 128, c, r, c, 1);
}

static void sums_of_a_pairs_128_rows_lie_in_two_halves_of_the_lanes(void **state) {
    (void)state;
    run_pair(PAIR_MMA "%p3;", 128, 64);
    for (uint32_t r = 0; r < 128; r++)
        for (uint32_t c = 0; c < 64; c++) want(r / 64, r % 64 + 64 * (c / 32), c % 32, r, c, 1);
}

static void lanes_are_left_as_they_are_and_sums_shrink(void **state) {
    (void)state;
    /* sums; a half of these and the product once more, but in lanes 32 to 63 and 96 of the first CTA, 0 of the
     * second */
    run_pair(PAIR_MMA "%p3; " PAIR_MMA "{%r12,%r13,%r12,%r14,%r14,%r12,%r12,%r12},%p4,1;", 256, 32);
    for (uint32_t r = 0; r < 256; r++)
        for (uint32_t c = 0; c < 32; c++)
            want(r / 128, r % 128, c, r, c, r / 32 == 1 || r == 96 || r == 128 ? 1.0f : 1.5f);
}

static void bad_pairs_end_in_an_error(void **state) {
    (void)state;
    tc_refused(KERNEL(TC_ALLOC("32", "2")), 1, ".cta_group::2 needs a pair of CTAs");
    tc_refused(
        TC_KERNEL(".reqnctapercluster 2,1,1",
                  "mov.u32 %r10,%cluster_ctarank; setp.ne.u32 %p2,%r10,0; @%p2 bra LAST;" TC_ALLOC(
                      "32", "2") "mov.u32 %r8,0x10040010; mov.u64 %rd4,0x0000401000080000; @%p0 " PAIR_MMA
                                 "0;\n"
                                 "LAST: barrier.cluster.arrive; barrier.cluster.wait;"),
        2, "are not all allocated in the pair's other CTA");
    tc_refused(
        KERNEL(ALLOC("32") "mov.b16 %h0,2; @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
                           "cluster.multicast::cluster.b64 [%r3],%h0;"),
        1, "tcgen05.commit to CTAs 0x2 of a cluster of 1");
    tc_refused(
        KERNEL(ALLOC("32") "mov.b16 %h0,0; @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
                           "cluster.multicast::cluster.b64 [%r3],%h0;"),
        1, "tcgen05.commit to CTAs 0x0 of a cluster of 1");
}

/* ---- loads ---- */

/* Lanes' words are 1000 lane + column; LOAD takes %r30 on, which go out. */
#define LOADED                                                                                                 \
    KERNEL(ALLOC(                                                                                              \
        "32") "shl.b32 %r10,%r1,21; add.u32 %r10,%r10,%r5; mul.lo.u32 %r11,%r0,1000; mov.u32 %r12,0;\n"        \
              "PUT: tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10],{%r11}; add.u32 %r10,%r10,1; add.u32 "        \
              "%r11,%r11,1;"                                                                                   \
              "add.u32 %r12,%r12,1; setp.lt.u32 %p2,%r12,32; @%p2 bra PUT; tcgen05.wait::st.sync.aligned;\n"   \
              "shl.b32 %r10,%r1,21; add.u32 %r10,%r10,%r5;\nLOAD\ntcgen05.wait::ld.sync.aligned;"              \
              "mul.wide.u32 %rd9,%r0,16; add.u64 %rd9,%rd0,%rd9; st.global.v4.u32 "                            \
              "[%rd9],{%r30,%r31,%r32,%r33};\n" FREE("32"))

static void load(const char *instruction, uint32_t (*want_of)(uint32_t lane, uint32_t r)) {
    static char text[8192];
    snprintf(text, sizeof text, "%s", LOADED);
    tc_replace(text, "LOAD", instruction);
    tc_must_run(text, 1);
    for (uint32_t t = 0; t < 128; t++)
        for (uint32_t r = 0; r < 4; r++) assert_int_equal(out[4 * t + r], t / 32 * 32000 + want_of(t % 32, r));
}

static uint32_t of_16x64b(uint32_t l, uint32_t r) {
    return 1000 * (l / 4 + l % 2 * 8) + 2 * r + l / 2 % 2;
}
static uint32_t of_16x32bx2(uint32_t l, uint32_t r) {
    return 1000 * (l % 16) + r + l / 16 * 9;
}
/* Lower halves of two columns; all words are below 65536 there. */
static uint32_t packed(uint32_t l, uint32_t r) {
    return (1000 * l + 2 * r) | (1000 * l + 2 * r + 1) << 16;
}

static void loads_of_more_shapes(void **state) {
    (void)state;
    load("tcgen05.ld.sync.aligned.16x64b.x4.b32 {%r30,%r31,%r32,%r33},[%r10];", of_16x64b);
    load("tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%r30,%r31,%r32,%r33},[%r10],9;", of_16x32bx2);
}

static void halves_are_packed_and_unpacked(void **state) {
    (void)state;
    static char text[8192];
    snprintf(text, sizeof text, "%s", LOADED);
    tc_replace(text, "LOAD", "tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {%r30,%r31,%r32,%r33},[%r10];");
    tc_must_run(text, 1);
    for (uint32_t t = 0; t < 32; t++)
        for (uint32_t r = 0; r < 4; r++) assert_int_equal(out[4 * t + r], packed(t, r));
    snprintf(text, sizeof text, "%s", LOADED);
    tc_replace(
        text, "LOAD",
        "mov.u32 %r30,0x20001; mov.u32 %r31,0x40003;"
        "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r10],{%r30,%r31}; tcgen05.wait::st.sync.aligned;"
        "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30,%r31,%r32,%r33},[%r10];");
    tc_must_run(text, 1);
    for (uint32_t n = 0; n < 512; n++) assert_int_equal(out[n], n % 4 + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_with_scale_factors),
        cmocka_unit_test(products_of_few_bits),
        cmocka_unit_test(pairs_multiply_with_scale_factors),
        cmocka_unit_test(a_pair_of_ctas_multiplies_256_rows),
        cmocka_unit_test(sums_of_a_pairs_128_rows_lie_in_two_halves_of_the_lanes),
        cmocka_unit_test(lanes_are_left_as_they_are_and_sums_shrink),
        cmocka_unit_test(bad_pairs_end_in_an_error),
        cmocka_unit_test(loads_of_more_shapes),
        cmocka_unit_test(halves_are_packed_and_unpacked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
