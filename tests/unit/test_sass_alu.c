/* Arithmetic of machine code: every operation of tests/sass/alu_*.ptx on edge and random values, compiled by
 * ptxas for each architecture, gives what the same PTX gives when it is executed as PTX. Skipped without a
 * ptxas. */
#include "sass_fixture.h"
#include "skip.h"

#define WORDS 4u    /* 64-bit inputs of a thread */
#define RESULTS 16u /* of a thread */
#define THREADS 2048u

static uint64_t in[THREADS * WORDS], by_ptx[THREADS * RESULTS], by_sass[THREADS * RESULTS];

/* ---- inputs ---- */

static uint64_t random_word(void) {
    static uint64_t s = 0x9e3779b97f4a7c15u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s * 0x2545f4914f6cdd1du;
}

static const uint32_t edge32[] = {0,          1,          2,          3,          31,         32,
                                  33,         63,         64,         0x7f,       0x80,       0xff,
                                  0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x7ffffffe,
                                  0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xaaaaaaaa,
                                  0x00ff00ff, 0x80808080, 0x01000000, 0xffffff80};
static const uint32_t float32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x807fffff, 0x00800000, 0x00800001, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f000000, 0x3fc00000, 0xc0200000, 0x4b000001,
    0x4f000000, 0x4effffff, 0x5f000000, 0xcf000000, 0x4f800000, 0x477fe000, 0x477ff000, 0x38800000, 0x387fe000,
    0x33000000, 0x33000001, 0x34000000, 0x42fe0000, 0x43000000, 0xc2fc0000, 0x7e800000, 0x00ffffff};
static const uint64_t float64[] = {0,
                                   0x8000000000000000u,
                                   0x3ff0000000000000u,
                                   0xbff8000000000000u,
                                   1,
                                   0x800fffffffffffffu,
                                   0x0010000000000000u,
                                   0x7fefffffffffffffu,
                                   0x7ff0000000000000u,
                                   0xfff0000000000000u,
                                   0x7ff8000000000000u,
                                   0x41dfffffffc00000u,
                                   0x41e0000000000000u,
                                   0x43e0000000000000u,
                                   0x43dfffffffffffffu,
                                   0x3810000000000000u,
                                   0x380fffffe0000000u,
                                   0x36a0000000000000u,
                                   0x47efffffe0000000u,
                                   0x47efffffefffffffu,
                                   0x47effffff0000000u,
                                   0x40effc0000000000u,
                                   0x3fe0000000000000u,
                                   0x4004000000000000u};
static const uint16_t float16[] = {0,      0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400,
                                   0x0401, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
                                   0x3800, 0x3e00, 0xc100, 0x6400, 0x5800, 0x2c01};
#define PICK(list) (list)[random_word() % (sizeof(list) / sizeof *(list))]

static uint64_t number(void) {
    uint64_t r = random_word(), high = random_word() & 1 ? 0 : r & 0xffffffff00000000u;
    switch (random_word() % 10) {
    case 0:
        return high | PICK(edge32);
    case 1:
        return (uint64_t)PICK(edge32) << 32 | PICK(edge32);
    case 2:
        return high | PICK(float32);
    case 3: /* a float near 1 */
        return high | ((uint32_t)(r & 0x807fffffu) + ((120u + (uint32_t)(r >> 40) % 16u) << 23));
    case 4:
        return PICK(float64);
    case 5: /* a double near 1 */
        return (r & 0x800fffffffffffffu) | (1015 + random_word() % 20) << 52;
    case 6:
        return (uint64_t)PICK(float16) << 48 | (uint64_t)PICK(float16) << 32 | (uint64_t)PICK(float16) << 16 |
               PICK(float16);
    case 7: /* halves near 1 */
        return (r & 0x83ff83ff83ff83ffu) + (0x3000300030003000u | (random_word() & 0x0c000c000c000c00u));
    case 8:
        return r % 70;
    default:
        return r;
    }
}

/* ---- comparison ---- */

static bool near32(uint32_t a, uint32_t b, double relative, double absolute) {
    float x, y;
    memcpy(&x, &a, 4), memcpy(&y, &b, 4);
    if (isnan(x) && isnan(y)) return true;
    return a == b || fabs((double)x - y) <= relative * fabs((double)y) + absolute;
}
static bool nan64(uint64_t v) {
    return (v & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}
static bool nan32(uint64_t v) {
    return (v & 0x7fffffffu) > 0x7f800000u;
}
static bool nan16(uint32_t v, bool bf16) {
    return (v & 0x7fffu) > (bf16 ? 0x7f80u : 0x7c00u);
}
/* Halves may differ as NaNs (a sign is kept or not), and by one in the last place where they are approximate.
 */
static bool halves_agree(uint64_t a, uint64_t b, const char *kernel) {
    bool bf16 = kernel[0] == 'b' || strstr(kernel, "b_approx"), approximate = strstr(kernel, "approx") != NULL;
    for (unsigned n = 0; n < 64; n += 16) {
        uint32_t x = (uint32_t)(a >> n) & 0xffffu, y = (uint32_t)(b >> n) & 0xffffu;
        bool nan = (nan16(x, bf16) && nan16(y, bf16)) || (nan16(x, true) && nan16(y, true));
        int gap = (int)x - (int)y;
        if (x != y && !nan && !(approximate && gap >= -2 && gap <= 2)) return false;
    }
    return true;
}

static bool agree(uint64_t a, uint64_t b, const char *file, const char *kernel) {
    if (a == b) return true;
    bool numbers = strncmp(file, "alu_f", 5) == 0 || strcmp(file, "alu_cvt") == 0 || strstr(file, "half");
    if (numbers && ((nan64(a) && nan64(b)) || (nan32(a) && nan32(b)))) return true;
    if (strcmp(kernel, "pack") == 0 && nan32(b)) return true; /* cvt.rna.tf32 */
    if (strcmp(file, "alu_approx") == 0 && strncmp(kernel, "rcp64", 5) == 0) {
        uint64_t gap = a > b ? a - b : b - a;
        return (nan64(a) && nan64(b)) || gap <= (uint64_t)1 << 33;
    }
    if (strcmp(file, "alu_approx") == 0) {
        double absolute = kernel[0] == 't' ? 1.3e-5 : 1e-38;
        return near32((uint32_t)a, (uint32_t)b, 4e-7, absolute);
    }
    if (strstr(file, "half") && (strcmp(kernel, "ex2h_approx") == 0) &&
        near32((uint32_t)a, (uint32_t)b, 1e-6, 1e-38))
        return true;
    return strstr(file, "half") != NULL && halves_agree(a, b, kernel);
}

static unsigned compare(const char *file, const char *kernel, const char *arch) {
    unsigned bad = 0;
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t n = 0; n < RESULTS; n++) {
            uint64_t p = by_ptx[t * RESULTS + n], s = by_sass[t * RESULTS + n];
            if (agree(s, p, file, kernel)) continue;
            if (bad++ < 4)
                fprintf(stderr,
                        "%s %s %s result %u: machine code %016llx, PTX %016llx of %016llx %016llx %016llx "
                        "%016llx\n",
                        file, kernel, arch, n, (unsigned long long)s, (unsigned long long)p,
                        (unsigned long long)in[t * WORDS], (unsigned long long)in[t * WORDS + 1],
                        (unsigned long long)in[t * WORDS + 2], (unsigned long long)in[t * WORDS + 3]);
        }
    return bad;
}

static void run_file(const char *file) {
    struct sass_text text;
    unsigned bad = 0, compared = 0;
    sass_read(&text, file);
    for (size_t n = 0; n < THREADS * WORDS; n++) in[n] = number();
    for (size_t k = 0; k < text.kernels; k++) {
        const char *only = getenv("SASS_KERNEL");
        if (only && strcmp(only, text.name[k])) continue;
        if (sass_run_ptx(&text, k, in, sizeof in, by_ptx, sizeof by_ptx, THREADS / 128, 128) != SASS_RAN) {
            bad++;
            continue;
        }
        for (size_t a = 0; a < sass_arch_count; a++) {
            if (sass_archs[a] < text.sm ||
                (getenv("SASS_ARCH") && atoi(getenv("SASS_ARCH")) != (int)sass_archs[a]))
                continue;
            char arch[8];
            snprintf(arch, sizeof arch, "sm_%u", sass_archs[a]);
            enum sass_outcome o =
                sass_run_machine(&text, k, arch, in, sizeof in, by_sass, sizeof by_sass, THREADS / 128, 128);
            compared += o != SASS_SKIPPED;
            bad += o == SASS_RAN ? compare(file, text.name[k], arch) : o == SASS_FAILED;
        }
    }
    sass_free(&text);
    if (!compared) SKIP_BECAUSE("there is no ptxas for any of its architectures");
    assert_int_equal(bad, 0);
}

/* cvt.pack: A and B clamped, A above B; bytes above the lower half of C. */
static uint64_t packed(uint64_t a, uint64_t b, uint64_t c, unsigned which) {
    static const int64_t least[] = {0, -128, 0, -32768}, most[] = {255, 127, 65535, 32767};
    int64_t x = (int32_t)a, y = (int32_t)b;
    unsigned bits = which < 2 ? 8 : 16;
    x = x < least[which] ? least[which] : x > most[which] ? most[which] : x;
    y = y < least[which] ? least[which] : y > most[which] ? most[which] : y;
    uint32_t mask = (1u << bits) - 1, pair = ((uint32_t)x & mask) << bits | ((uint32_t)y & mask);
    if (bits == 8) pair |= (uint32_t)c << 16;
    return pair | (uint64_t)pair << 32;
}

static void test_pack(void **state) {
    struct sass_text text;
    unsigned compared = 0;
    (void)state;
    sass_read(&text, "alu_pack");
    for (size_t n = 0; n < THREADS * WORDS; n++) in[n] = number();
    for (size_t a = 0; a < sass_arch_count; a++) {
        char arch[8];
        if (sass_archs[a] < text.sm) continue;
        snprintf(arch, sizeof arch, "sm_%u", sass_archs[a]);
        enum sass_outcome o =
            sass_run_machine(&text, 0, arch, in, sizeof in, by_sass, sizeof by_sass, THREADS / 128, 128);
        assert_int_not_equal(o, SASS_FAILED);
        if (o == SASS_SKIPPED) continue;
        compared++;
        for (size_t t = 0; t < THREADS; t++)
            for (unsigned n = 0; n < 4; n++)
                assert_int_equal(by_sass[t * RESULTS + n],
                                 packed(in[t * WORDS], in[t * WORDS + 1], in[t * WORDS + 2], n));
    }
    sass_free(&text);
    if (!compared) SKIP_BECAUSE("there is no ptxas for any of its architectures");
}

#define FILE_TEST(name)                                                                                        \
    static void test_##name(void **state) {                                                                    \
        (void)state;                                                                                           \
        run_file(#name);                                                                                       \
    }
FILE_TEST(alu_int)
FILE_TEST(alu_bits)
FILE_TEST(alu_cvt)
FILE_TEST(alu_f32)
FILE_TEST(alu_f64)
FILE_TEST(alu_approx)
FILE_TEST(alu_half)
FILE_TEST(alu_half75)
FILE_TEST(alu_half80)
FILE_TEST(alu_half86)
FILE_TEST(alu_half89)
FILE_TEST(alu_half90)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alu_int),    cmocka_unit_test(test_alu_bits),   cmocka_unit_test(test_alu_cvt),
        cmocka_unit_test(test_alu_f32),    cmocka_unit_test(test_alu_f64),    cmocka_unit_test(test_alu_approx),
        cmocka_unit_test(test_alu_half),   cmocka_unit_test(test_alu_half75), cmocka_unit_test(test_alu_half80),
        cmocka_unit_test(test_alu_half86), cmocka_unit_test(test_alu_half89), cmocka_unit_test(test_alu_half90),
        cmocka_unit_test(test_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
