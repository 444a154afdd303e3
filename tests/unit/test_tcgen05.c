/* test_tcgen05.c: tensor memory and its matrix instructions, from PTX, against plain C. */
#include "tcgen05_fixture.h"
#include "../../estimator/api/record.h"
#include "../../estimator/base/rng.h"
#include "../../traces/ptx/record/device_host.h"

static void must_run(const char *text) {
    tc_must_run(text, 1);
}

/* ---- loads and stores ---- */

/* Each warp stores its 16 first lanes, eight columns, as sums of mma lie; they come back lane by lane. */
static void shapes_lie_as_fragments_of_mma(void **state) {
    (void)state;
    memset(out, 0, sizeof out);
    must_run(KERNEL(
        ALLOC("32") "shl.b32 %r10,%r1,21; add.u32 %r10,%r10,%r5; shl.b32 %r11,%r0,2; add.u32 %r12,%r11,1;"
                    "add.u32 %r13,%r11,2; add.u32 %r14,%r11,3;"
                    "tcgen05.st.sync.aligned.16x256b.x1.b32 [%r10],{%r11,%r12,%r13,%r14};"
                    "tcgen05.st.sync.aligned.16x128b.x2.b32 [%r10+8],{%r11,%r12,%r13,%r14};"
                    "tcgen05.wait::st.sync.aligned;" DUMP("16") FREE("32")));
    for (uint32_t warp = 0; warp < 4; warp++)
        for (uint32_t row = 0; row < 16; row++)
            for (uint32_t col = 0; col < 8; col++) {
                const uint32_t *got = &out[(32 * warp + row) * 16];
                uint32_t lane = 32 * warp + row % 8 * 4;
                assert_int_equal(got[col], 4 * (lane + col / 2) + 2 * (row / 8) + col % 2);
                assert_int_equal(got[8 + col], 4 * (lane + col % 4) + 2 * (col / 4) + row / 8);
            }
}

/* ---- products ---- */

enum { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
static const struct {
    uint8_t bytes, exponent, mantissa, number;
    const char *kind;
} types[] = {{2, 5, 10, 0, "f16"},   {2, 8, 7, 1, "f16"}, {4, 8, 10, 2, "tf32"}, {1, 4, 3, 0, "f8f6f4"},
             {1, 5, 2, 1, "f8f6f4"}, {1, 0, 0, 1, "i8"},  {1, 0, 0, 0, "i8"}};

/* A whole number from -8 to 8 in the type. */
static uint32_t code(int v, unsigned type) {
    uint32_t sign = v < 0, m = (uint32_t)(v < 0 ? -v : v), e = 0, exponent = types[type].exponent;
    if (!exponent) return (uint32_t)v & 0xff;
    if (m == 0) return 0;
    while (m >> (e + 1)) e++;
    uint32_t bias = (1u << (exponent - 1)) - 1, mantissa = types[type].mantissa;
    uint32_t bits = (e + bias) << mantissa | ((m << mantissa >> e) & ((1u << mantissa) - 1));
    bits |= sign << (exponent + mantissa);
    return type == TF32 ? bits << 13 : bits;
}

struct product {
    unsigned type_a, type_b, sum; /* 0 f16, 1 f32, 2 s32 */
    uint32_t rows, columns, steps;
    bool swizzled, transposed_b, in_tensor_memory;
};

static int a[128][64], b[256][64];

/* Where byte n of row r of step s lies: rows of 128 bytes whose chunks are exchanged, or pieces of 8 x 16
 * bytes. */
static uint32_t place(const struct product *p, uint32_t rows, uint32_t r, uint32_t s, uint32_t n) {
    uint32_t at = 32 * s + n;
    if (p->swizzled) return 128 * r + (at / 16 ^ r % 8) * 16 + at % 16;
    return s * rows * 32 + r / 8 * 256 + n / 16 * 128 + r % 8 * 16 + n % 16;
}

static void put_operand(const struct product *p, unsigned type, uint32_t rows, int (*m)[64],
                        unsigned char *to) {
    uint32_t size = types[type].bytes, deep = 32 / size;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t k = 0; k < deep * p->steps; k++) {
            uint32_t v = code(m[r][k], type);
            memcpy(to + place(p, rows, r, k / deep, k % deep * size), &v, size);
        }
}

static uint64_t descriptor(const struct product *p) {
    uint64_t leading = p->swizzled ? 1 : 128 / 16, stride = (p->swizzled ? 1024 : 256) / 16;
    return leading << 16 | stride << 32 | (uint64_t)1 << 46 | (uint64_t)(p->swizzled ? 2 : 0) << 61;
}

static uint32_t instruction(const struct product *p) {
    return p->sum << 4 | (uint32_t)types[p->type_a].number << 7 | (uint32_t)types[p->type_b].number << 10 |
           p->columns / 8 << 17 | p->rows / 16 << 24;
}

/* One line for each step. A's rows begin at 0, B's behind them. */
static size_t put_steps(const struct product *p, char *text, size_t room) {
    size_t n = 0;
    uint32_t a_bytes = p->rows * (p->swizzled ? 128 : 32 * p->steps);
    for (uint32_t s = 0; s < p->steps; s++) {
        uint32_t a_at = p->swizzled ? 32 * s : s * p->rows * 32;
        uint32_t b_at = a_bytes + (p->swizzled ? 32 * s : s * p->columns * 32);
        n += (size_t)snprintf(
            text + n, room - n,
            "add.u32 %%r6,%%r2,%u; shr.u32 %%r6,%%r6,4; cvt.u64.u32 %%rd4,%%r6; or.b64 %%rd4,%%rd4,%llu;\n"
            "add.u32 %%r6,%%r2,%u; shr.u32 %%r6,%%r6,4; cvt.u64.u32 %%rd5,%%r6; or.b64 %%rd5,%%rd5,%llu;\n"
            "setp.ne.u32 %%p2,%u,0; tcgen05.mma.cta_group::1.kind::%s [%%r5],%s,%%rd5,%%r8,%%p2;\n",
            a_at, (unsigned long long)descriptor(p), b_at, (unsigned long long)descriptor(p), s,
            types[p->type_a].kind, p->in_tensor_memory ? "[%r9]" : "%rd4");
        if (p->in_tensor_memory) n += (size_t)snprintf(text + n, room - n, "add.u32 %%r9,%%r9,8;\n");
    }
    return n;
}

/* A's 32 bytes of each step go to columns 256 on: word by word of the thread's row. */
#define A_TO_TENSOR_MEMORY                                                                                     \
    "shl.b32 %r30,%r1,21; add.u32 %r30,%r30,%r5; add.u32 %r30,%r30,256; mov.u32 %r31,0;\n"                     \
    "AMORE: shr.u32 %r32,%r31,2; shl.b32 %r32,%r32,7; and.b32 %r33,%r31,3; shl.b32 %r33,%r33,2;"               \
    "add.u32 %r32,%r32,%r33; shr.u32 %r33,%r0,3; shl.b32 %r33,%r33,8; add.u32 %r32,%r32,%r33;"                 \
    "and.b32 %r33,%r0,7; shl.b32 %r33,%r33,4; add.u32 %r32,%r32,%r33; add.u32 %r32,%r32,%r2;"                  \
    "ld.shared.u32 %r34,[%r32]; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r30],{%r34}; add.u32 %r30,%r30,1;"     \
    "add.u32 %r31,%r31,1; setp.lt.u32 %p5,%r31,8; @%p5 bra AMORE;\n"                                           \
    "tcgen05.wait::st.sync.aligned; bar.sync 0;\n"

static const char *product_text(const struct product *p) {
    static const char pattern[] =
        KERNEL(FETCH("10240")
                   ALLOC("512") "@%p0 mbarrier.init.shared::cta.b64 [%r3],1; bar.sync 0;\nTO_TENSOR_MEMORY\n"
                                "add.u32 %r9,%r5,256; mov.u32 %r8,DESCRIPTOR; @!%p0 bra DONE;\nSTEPS\n"
                                "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n"
                                "DONE: mbarrier.try_wait.parity.shared::cta.b64 %p3,[%r3],0; @!%p3 bra DONE;"
                                "tcgen05.fence::after_thread_sync;" DUMP("256") FREE("512"));
    static char text[32768];
    char steps[4096], number[16];
    const char *what[] = {"TO_TENSOR_MEMORY", "DESCRIPTOR", "STEPS"};
    const char *by[] = {p->in_tensor_memory ? A_TO_TENSOR_MEMORY : "", number, steps};
    snprintf(number, sizeof number, "%u", instruction(p));
    put_steps(p, steps, sizeof steps);
    snprintf(text, sizeof text, "%s", pattern);
    for (unsigned n = 0; n < 3; n++) tc_replace(text, what[n], by[n]);
    return text;
}

static int number_of(uint32_t word, unsigned sum) {
    float f;
    memcpy(&f, &word, 4);
    if (sum == 2) return (int)word;
    if (sum == 1) return (int)f;
    int e = (int)(word >> 10 & 31) - 25, m = (int)(word & 1023) | 1024;
    int v = (word & 0x7fff) == 0 ? 0 : e < 0 ? m >> -e : m << e;
    return word >> 15 & 1 ? -v : v;
}

static void check_product(const struct product *p) {
    static struct ww_rng rng;
    uint32_t deep = 32 / types[p->type_a].bytes * p->steps;
    bool positive = p->type_a == U8 || p->type_b == U8;
    ww_rng_seed(&rng, p->rows + p->columns + 1000 * p->type_a);
    assert_true(deep <= 64 || p->steps == 1);
    for (uint32_t r = 0; r < 256; r++)
        for (uint32_t k = 0; k < 64; k++) {
            if (r < 128) a[r][k] = (int)ww_rng_below(&rng, 5) - (positive ? 0 : 2);
            b[r][k] = (int)ww_rng_below(&rng, 5) - (positive ? 0 : 2);
        }
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    put_operand(p, p->type_a, p->rows, a, in);
    put_operand(p, p->type_b, p->columns, b, in + p->rows * (p->swizzled ? 128 : 32 * p->steps));
    must_run(product_text(p));
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t c = 0; c < p->columns; c++) {
            int sum = 0, got;
            uint32_t lane = p->rows == 64 ? r / 16 * 32 + r % 16 : r;
            for (uint32_t k = 0; k < deep; k++) sum += a[r][k] * b[c][k];
            got = number_of(out[lane * 256 + c], p->sum);
            if (got != sum)
                fail_msg("types %u %u, row %u column %u: %d, expected %d", p->type_a, p->type_b, r, c, got,
                         sum);
        }
}

static void products_of_each_type(void **state) {
    (void)state;
    static const struct product all[] = {
        {F16, F16, 1, 128, 256, 2, false, false, false},   {F16, F16, 0, 128, 64, 2, false, false, false},
        {BF16, BF16, 1, 128, 48, 2, false, false, false},  {TF32, TF32, 1, 64, 24, 3, false, false, false},
        {E4M3, E5M2, 1, 128, 128, 2, false, false, false}, {E5M2, E4M3, 0, 64, 8, 1, false, false, false},
        {S8, S8, 2, 128, 32, 2, false, false, false},      {U8, U8, 2, 64, 16, 2, false, false, false}};
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) check_product(&all[n]);
}

static void swizzled_operands(void **state) {
    (void)state;
    static const struct product all[] = {{F16, F16, 1, 128, 128, 4, true, false, false},
                                         {BF16, BF16, 1, 64, 64, 4, true, false, false},
                                         {E4M3, E4M3, 1, 128, 32, 2, true, false, false}};
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) check_product(&all[n]);
}

static void a_may_lie_in_tensor_memory(void **state) {
    (void)state;
    static const struct product p = {F16, F16, 1, 128, 64, 1, false, false, true};
    check_product(&p);
}

/* ---- copies ---- */

struct shape {
    const char *name;
    uint32_t rows, words, lanes[4]; /* of row 0 */
    uint32_t per, step; /* rows that lie in lanes that follow one another, and how far the next ones are */
};

/* Column 4 on of each lane has the words of its row; those of other lanes are what was there. */
static void check_copy(const struct shape *h, bool swizzled) {
    static uint32_t want[128][16];
    char text[8192], number[24];
    uint64_t d = swizzled ? 1ull << 16 | 64ull << 32 | 2ull << 61 : 8ull << 16 | 16ull << 32;
    for (size_t n = 0; n < sizeof in; n++) in[n] = (unsigned char)(n * 7 + n / 251);
    memset(want, 0, sizeof want);
    for (uint32_t r = 0; r < h->rows; r++)
        for (uint32_t w = 0; w < h->words; w++)
            for (uint32_t n = 0; n < 4; n++) {
                uint32_t at = swizzled ? 128 * r + (w / 4 ^ r % 8) * 16 + w % 4 * 4
                                       : r / 8 * 256 + w / 4 * 128 + r % 8 * 16 + w % 4 * 4;
                memcpy(&want[h->lanes[n] + r % h->per + r / h->per * h->step][4 + w], in + at, 4);
            }
    snprintf(
        text, sizeof text, "%s",
        KERNEL(FETCH("4096") ALLOC(
            "32") "@%p0 mbarrier.init.shared::cta.b64 [%r3],1; bar.sync 0; @!%p0 bra DONE; shr.u32 %r6,%r2,4;"
                  "cvt.u64.u32 %rd4,%r6; or.b64 %rd4,%rd4,DESCRIPTOR; add.u32 %r7,%r5,4;"
                  "tcgen05.cp.cta_group::1.SHAPE [%r7],%rd4;"
                  "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n"
                  "DONE: mbarrier.try_wait.parity.shared::cta.b64 %p3,[%r3],0; @!%p3 bra DONE;"
                  "tcgen05.fence::after_thread_sync;" DUMP("16") FREE("32")));
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)d);
    tc_replace(text, "DESCRIPTOR", number);
    tc_replace(text, "SHAPE", h->name);
    memset(out, 0xff, sizeof out);
    must_run(text);
    for (uint32_t lane = 0; lane < 128; lane++)
        for (uint32_t c = 0; c < 16; c++)
            if (out[lane * 16 + c] != want[lane][c])
                fail_msg("%s, swizzled %d, lane %u column %u: 0x%08x, expected 0x%08x", h->name, swizzled, lane,
                         c, out[lane * 16 + c], want[lane][c]);
}

static void rows_are_copied_to_the_lanes_of_each_shape(void **state) {
    (void)state;
    static const struct shape all[] = {{"128x256b", 128, 8, {0, 0, 0, 0}, 128, 0},
                                       {"128x128b", 128, 4, {0, 0, 0, 0}, 128, 0},
                                       {"4x256b", 4, 8, {0, 0, 0, 0}, 1, 32},
                                       {"64x128b.warpx2::02_13", 64, 4, {0, 64, 0, 64}, 64, 0},
                                       {"64x128b.warpx2::01_23", 64, 4, {0, 32, 0, 32}, 32, 64},
                                       {"32x128b.warpx4", 32, 4, {0, 32, 64, 96}, 32, 0}};
    for (unsigned n = 0; n < 2 * sizeof all / sizeof *all; n++) check_copy(&all[n / 2], n % 2);
}

/* ---- hostile ---- */

static void refused(const char *text, const char *part) {
    tc_refused(text, 1, part);
}

#define MMA "mov.u64 %rd4,0; @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r5],%rd4,%rd4,%r8,%p0;"
static void bad_uses_end_in_an_error(void **state) {
    (void)state;
    refused(KERNEL("mov.u32 %r5,33; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4],%r5;"),
            "expected a power of two");
    refused(KERNEL("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4],512;"),
            "no 512 columns left");
    refused(KERNEL(ALLOC("32") "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5,64;"),
            "are not allocated");
    refused(KERNEL(ALLOC("32") "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6},[%r5];"), "lanes begin at");
    refused(KERNEL("mov.u32 %r5,0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6},[%r5];"), "not all allocated");
    refused(KERNEL(ALLOC("32") "mov.u32 %r8,0xffffffff;" MMA), "sparse");
    refused(KERNEL(ALLOC("32") "mov.u32 %r8,0x02100010; add.u32 %r5,%r5,32;" MMA), "64 or 128 rows");
    refused(KERNEL(ALLOC("32") "mov.u32 %r8,0x08100010; " MMA), "not all allocated");
    refused(KERNEL(ALLOC("64") "mov.u32 %r8,0x08100010; mov.u64 %rd4,0x2000000000000000;"
                               "@%p0 tcgen05.mma.cta_group::1.kind::f16 [%r5],%rd4,%rd4,%r8,%p0;"),
            "swizzle");
    refused(KERNEL(ALLOC("64") "mov.u32 %r8,0x08080010; mov.u64 %rd4,0x00003fff3fff3fff;"
                               "@%p0 tcgen05.mma.cta_group::1.kind::f16 [%r5],%rd4,%rd4,%r8,%p0;"),
            "out-of-bounds");
    refused(KERNEL(ALLOC(
                "32") "mov.u64 %rd4,0; add.u32 %r5,%r5,28; @%p0 tcgen05.cp.cta_group::1.128x256b [%r5],%rd4;"),
            "not all allocated");
    refused(
        KERNEL(ALLOC(
            "32") "mov.u64 %rd4,0; add.u32 %r5,%r5,65536; @%p0 tcgen05.cp.cta_group::1.128x256b [%r5],%rd4;"),
        "do not lie in tensor memory");
    refused(
        KERNEL(ALLOC("32") "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];"),
        "1 arrivals with 0 pending");
    refused(KERNEL(ALLOC("32") "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4],32;"),
            "after the CTA's tcgen05.relinquish_alloc_permit");
    refused(KERNEL(ALLOC("64")), "has not given back all columns of tensor memory (0x3)");
    refused(
        KERNEL(
            "add.u32 %r4,%r4,0x100000; @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4],32;"),
        "out-of-bounds store of 4 bytes");
}

/* What is not done is named. */
static void other_instructions_are_refused(void **state) {
    (void)state;
    static const char *const all[][2] = {
        {"tcgen05.shift.cta_group::1.down [%r5];", "shift"},
        {"tcgen05.mma.ws.cta_group::1.kind::f16 [%r5],%rd4,%rd4,%r8,%p0;", "ws"},
        {"tcgen05.mma.sp.cta_group::1.kind::f16 [%r5],%rd4,%rd4,[%r5],%r8,%p0;", "sp"},
        {"tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%r5],%rd4;", "b8x16"}};
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) {
        char text[2048];
        struct ww_error e = {0};
        struct exec_test t = {0};
        struct ww_record_options options = {.arch = "sm_100", .code = WW_RECORD_PTX};
        snprintf(text, sizeof text, "%s", KERNEL("INSTRUCTION"));
        tc_replace(text, "INSTRUCTION", all[n][0]);
        assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
        assert_int_equal(ww_device_module_text(t.device, text, strlen(text), "test.ptx", &t.module, &e),
                         WW_UNSUPPORTED);
        if (!strstr(e.text, all[n][1])) fail_msg("'%s' does not name '%s'", e.text, all[n][1]);
        exec_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_lie_as_fragments_of_mma),
                                       cmocka_unit_test(products_of_each_type),
                                       cmocka_unit_test(swizzled_operands),
                                       cmocka_unit_test(a_may_lie_in_tensor_memory),
                                       cmocka_unit_test(bad_uses_end_in_an_error),
                                       cmocka_unit_test(rows_are_copied_to_the_lanes_of_each_shape),
                                       cmocka_unit_test(other_instructions_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
