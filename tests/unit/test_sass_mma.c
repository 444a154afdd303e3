/* Matrix instructions of machine code: the kernels of tests/sass/mma_*.ptx and wmma_*.ptx, compiled by ptxas
 * for each architecture, give what PTX gives; those that the PTX executor does not know give the same on all
 * architectures. Inputs are small whole numbers, so that every order of summation gives the same result.
 * Skipped without a ptxas. */
#include "sass_fixture.h"
#include "skip.h"

#define IN_BYTES 16384u
#define OUT_BYTES 4096u

#define LAST_ARCH 90u /* a form of MOVM that matrices of bits need from sm_100 on is not known */

static uint8_t in[IN_BYTES], expected[OUT_BYTES], result[OUT_BYTES];

static uint32_t random_word(void) {
    static uint64_t s = 88172645463325252u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (uint32_t)(s >> 16);
}

enum kind { F16, BF16, F32, F64, E4M3, E5M2, BITS };

/* A whole number from -3 to 3 in a format. */
static uint64_t small(enum kind k) {
    static const uint16_t f16[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    static const uint8_t e4m3[] = {0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44};
    unsigned n = random_word() % 7;
    float f = (float)n - 3;
    double d = (double)f;
    uint32_t bits;
    uint64_t wide;
    memcpy(&bits, &f, 4), memcpy(&wide, &d, 8);
    switch (k) {
    case F16:
        return f16[n];
    case BF16:
        return bits >> 16;
    case F32:
        return bits;
    case F64:
        return wide;
    case E4M3:
        return e4m3[n];
    case E5M2:
        return f16[n] >> 8;
    default:
        return random_word();
    }
}

static void fill(size_t at, size_t bytes, enum kind k) {
    static const size_t size[] = {2, 2, 4, 8, 1, 1, 4};
    for (size_t n = 0; n < bytes; n += size[k]) {
        uint64_t v = small(k);
        memcpy(in + at + n, &v, size[k]);
    }
}

static bool has(const char *name, const char *word) {
    return strstr(name, word) != NULL;
}
static bool ends(const char *name, const char *word) {
    size_t n = strlen(name), w = strlen(word);
    return n >= w && !strcmp(name + n - w, word);
}

static enum kind kind_a(const char *name) {
    if (has(name, "bf16")) return BF16;
    if (has(name, "tf32")) return F32;
    if (has(name, "f64")) return F64;
    if (has(name, "k32_e5m2")) return E5M2;
    if (has(name, "e4m3")) return E4M3;
    bool bits = has(name, "s8") || has(name, "u8") || has(name, "s4") || has(name, "u4") || has(name, "xor") ||
                has(name, "and") || has(name, "b1");
    return bits ? BITS : F16;
}
static enum kind kind_b(const char *name) {
    if (ends(name, "e5m2") || has(name, "k64_e4m3")) return E5M2;
    return ends(name, "e4m3") ? E4M3 : kind_a(name);
}
static enum kind kind_c(const char *name) {
    if (kind_a(name) == BITS || kind_a(name) == F64) return kind_a(name);
    if (!strncmp(name, "wmma", 4)) return has(name, "_f16_f") ? F16 : F32;
    if (!strncmp(name, "m8n8k4", 6)) return ends(name, "f16") ? F16 : F32;
    return ends(name, "half") || !strcmp(name, "m16n8k8_f16") || !strcmp(name, "m16n8k16_f16") ||
                   ends(name, "movmatrix")
               ? F16
               : F32;
}

/* Metadata that is allowed: two different places of four, in order. */
static uint32_t metadata(bool single) {
    static const uint8_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    uint32_t v = 0;
    for (unsigned n = 0; n < 32; n += 4)
        v |= (uint32_t)(single ? (random_word() & 1 ? 0xe : 0x4) : pairs[random_word() % 6]) << n;
    return v;
}

static void prepare(const char *name) {
    if (!strncmp(name, "wmma", 4)) {
        fill(0, 4096, kind_a(name));
        fill(4096, 4096, kind_b(name));
        fill(8192, 8192, kind_c(name));
        return;
    }
    for (size_t l = 0; l < 32; l++) {
        fill(128 * l, 64, kind_a(name));
        fill(128 * l + 64, 32, kind_b(name));
        fill(128 * l + 96, 32, kind_c(name));
        uint32_t meta = metadata(has(name, "tf32"));
        if (!strncmp(name, "sp_", 3)) memcpy(in + 128 * l + 48, &meta, 4);
    }
}

static unsigned differences(const char *name, const char *arch) {
    unsigned bad = 0;
    for (size_t n = 0; n < OUT_BYTES; n += 4)
        if (memcmp(expected + n, result + n, 4)) {
            uint32_t x, y;
            memcpy(&x, result + n, 4), memcpy(&y, expected + n, 4);
            if (bad++ < 3) fprintf(stderr, "%s %s word %zu: %08x, expected %08x\n", name, arch, n / 4, x, y);
        }
    return bad;
}

static void run_file(const char *file) {
    struct sass_text text;
    unsigned bad = 0, compared = 0;
    sass_read(&text, file);
    for (size_t k = 0; k < text.kernels; k++) {
        const char *name = text.name[k];
        prepare(name);
        /* the PTX executor has neither m8n8k4 of halves nor sparse matrices, nor wmma of 4 bits and less */
        bool known = strncmp(name, "m8n8k4_row", 10) && strncmp(name, "m8n8k4_col", 10) &&
                     strncmp(name, "sp_", 3) && !has(name, "xor") && !has(name, "and") && !has(name, "b1") &&
                     strcmp(name, "wmma_8_8_s4") && strcmp(name, "wmma_8_8_u4");
        if (known && sass_run_ptx(&text, k, in, IN_BYTES, expected, OUT_BYTES, 1, 32) != SASS_RAN) {
            bad++;
            continue;
        }
        for (size_t a = 0; a < sass_arch_count; a++) {
            char arch[8];
            if (sass_archs[a] < text.sm || sass_archs[a] > LAST_ARCH) continue;
            snprintf(arch, sizeof arch, "sm_%u", sass_archs[a]);
            enum sass_outcome o = sass_run_machine(&text, k, arch, in, IN_BYTES, result, OUT_BYTES, 1, 32);
            compared += o != SASS_SKIPPED;
            if (o == SASS_RAN && !known) memcpy(expected, result, OUT_BYTES), known = true;
            bad += o == SASS_RAN ? differences(name, arch) : o == SASS_FAILED;
        }
    }
    sass_free(&text);
    if (!compared) SKIP_BECAUSE("there is no ptxas for its architecture");
    assert_int_equal(bad, 0);
}

#define FILE_TEST(name)                                                                                        \
    static void test_##name(void **state) {                                                                    \
        (void)state;                                                                                           \
        run_file(#name);                                                                                       \
    }
FILE_TEST(mma_70)
FILE_TEST(mma_75)
FILE_TEST(mma_80)
FILE_TEST(mma_89)
FILE_TEST(mma_90)
FILE_TEST(wmma_70)
FILE_TEST(wmma_75)
FILE_TEST(wmma_80)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mma_70),  cmocka_unit_test(test_mma_75),  cmocka_unit_test(test_mma_80),
        cmocka_unit_test(test_mma_89),  cmocka_unit_test(test_mma_90),  cmocka_unit_test(test_wmma_70),
        cmocka_unit_test(test_wmma_75), cmocka_unit_test(test_wmma_80),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
