/* wgmma: PTX against plain C over types, shapes, swizzles, transposition and places of A; machine code of
 * sm_90a against PTX, skipped without a ptxas. Matrices are stored through the layouts that the PTX ISA gives,
 * written here in their own way: as chunks of 16 bytes that a formula places. */
#include "../../traces/ptx/exec/exec.h"
#include "sass_fixture.h"
#include "skip.h"

#define SHARED 65536u
#define B_AT 32768u
#define META (SHARED + 128u * 16u) /* a word for each thread */
#define IN_BYTES (META + 128u * 4u)
#define OUT_BYTES (128u * 128u * 4u)

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1 };

struct form {
    const char *d;
    enum type a, b;
    uint32_t n, swizzle;
    bool regs, trans_a, trans_b, neg_a, neg_b, fresh;
    bool late;   /* warps but the first come late, and the first thread overwrites the tiles behind its wait */
    bool sparse; /* half of A is stored */
    uint32_t selector;
    uint32_t open; /* groups that may be open after the first product; 0: the two are one group */
};

static unsigned char in[IN_BYTES], out[OUT_BYTES], again[OUT_BYTES];
static double a[64][256], b[256][256]; /* a: dense */
static struct sass_text text;

static const char *const names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1"};
static const uint32_t bits_of[] = {16, 16, 32, 8, 8, 8, 8, 1};

static uint32_t random_word(void) {
    static uint64_t s = 88172645463325252u;
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    return (uint32_t)(s >> 16);
}

/* A whole number of the type, as bits and as a number. */
static uint32_t some(enum type t, double *v) {
    int n = (int)(random_word() % 7) - 3;
    float f = (float)n;
    uint32_t w;
    memcpy(&w, &f, 4);
    *v = n;
    switch (t) {
    case F16:
        return ww_ex_double_to_f16(n, PTX_R_RN, false);
    case BF16:
        return w >> 16;
    case TF32:
        return w;
    case E4M3:
    case E5M2:
        return ww_ex_double_to_f8(n, t == E5M2, false);
    case S8:
        return (uint8_t)n;
    case U8:
        *v = n + 3;
        return (uint8_t)(n + 3);
    default:
        *v = n & 1;
        return (uint32_t)(n & 1);
    }
}

/* What k counts: of a sparse A twice what is stored. */
static uint32_t all_k(const struct form *f) {
    return 256 / bits_of[f->a] * (f->sparse ? 2 : 1);
}

/* Byte at which the 16 bytes of row `row` (or, transposed, of 8 rows from it on) and chunk or k `k` lie. */
static uint32_t place(uint32_t swizzle, bool trans, bool deep, uint32_t row, uint32_t k) {
    uint32_t at;
    if (!trans && !swizzle)
        at = row % 8 * 16 + row / 8 * (deep ? 512 : 256) + k * 128; /* leading 128, stride 256 */
    else if (!trans)
        at = row * swizzle + k * 16;
    else if (!swizzle)
        at = k % 8 * 16 + row / 8 * (deep ? 512 : 256) + k / 8 * 128; /* leading 128 along k, stride 256 */
    else
        at = row / (swizzle / 2) * (deep ? 32 : 16) * swizzle + k * swizzle + row % (swizzle / 2) * 2;
    if (swizzle) at ^= at / 128 % (swizzle / 16) * 16;
    return at;
}

static void put(uint32_t base, const struct form *f, bool trans, enum type t, uint32_t row, uint32_t k,
                uint32_t v) {
    uint32_t bits = bits_of[t], at;
    bool deep = f->sparse && base;
    if (trans)
        at = base + place(f->swizzle, true, deep, row / 8 * 8, k) + row % 8 * 2;
    else
        at = base + place(f->swizzle, false, deep, row, k * bits / 128) + k * bits % 128 / 8;
    if (bits == 1)
        in[at] = (unsigned char)(in[at] | v << k % 8);
    else
        memcpy(in + at, &v, bits / 8);
}

static uint32_t depth(enum type t) {
    return 256 / bits_of[t];
}

/* Element n of what is stored of a row: a place in its group, behind that of the element before, is noted. */
static uint32_t choose(const struct form *f, uint32_t row, uint32_t n) {
    uint32_t of = f->a == TF32 ? 1 : 2, bits = f->a == TF32 ? 4 : 2, r = row % 16, word;
    static uint32_t before;
    uint32_t at = of == 1 ? random_word() % 2
                  : n % 2 ? before + 1 + random_word() % (3 - before)
                          : random_word() % 3;
    uint32_t first = n * bits, lane = 4 * (r % 8), shift;
    before = at;
    if (bits_of[f->a] == 8)
        lane += 2 * (first / 32) + r / 8, shift = first % 32;
    else
        lane += 2 * f->selector + first / 16, shift = r / 8 * 16 + first % 16;
    unsigned char *to = in + META + (row / 16 * 32 + lane) * 4;
    memcpy(&word, to, 4);
    word |= (of == 1 ? (at ? 14u : 4u) : at) << shift;
    memcpy(to, &word, 4);
    return n / of * 2 * of + at;
}

static void fill(const struct form *f) {
    memset(in, 0, sizeof in);
    memset(a, 0, sizeof a);
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t k = 0; k < depth(f->a); k++) {
            double number;
            uint32_t v = some(f->a, &number), lane = row % 16 % 8 * 4 + k * bits_of[f->a] % 128 / 32;
            uint32_t reg = row % 16 / 8 + 2 * (k * bits_of[f->a] / 128), bytes = bits_of[f->a] / 8;
            a[row][f->sparse ? choose(f, row, k) : k] = number;
            put(0, f, f->trans_a, f->a, row, k, v);
            if (bytes)
                memcpy(in + SHARED + (row / 16 * 32 + lane) * 16 + reg * 4 + k * bytes % 4, &v, bytes);
            else
                in[SHARED + (row / 16 * 32 + lane) * 16 + reg * 4 + k % 32 / 8] |= (unsigned char)(v << k % 8);
        }
    for (uint32_t row = 0; row < f->n; row++)
        for (uint32_t k = 0; k < all_k(f); k++) put(B_AT, f, f->trans_b, f->b, row, k, some(f->b, &b[row][k]));
}

static uint64_t fields(const struct form *f, bool trans, bool of_b) {
    uint64_t s = f->swizzle, mode = s == 128 ? 1 : s == 64 ? 2 : s == 32 ? 3 : 0;
    uint64_t deep = f->sparse && of_b ? 2 : 1;
    uint64_t leading = s ? (trans ? 16 * s * deep : 16) : 128, stride = s ? 8 * s : 256 * deep;
    return mode << 62 | stride / 16 << 32 | leading / 16 << 16;
}

static uint32_t registers(const struct form *f) {
    return strcmp(f->d, "f16") == 0 ? f->n / 4 : f->n / 2;
}

/* Copies the input to shared memory, multiplies twice (the second time on top) and stores the sums. */
static char *program(const struct form *f) {
    static char s[65536];
    uint32_t n = registers(f), at = 0, imms = f->a >= S8 ? 0 : f->a > BF16 ? 2 : f->regs ? 3 : 4;
    char tail[64] = "", sums[2048] = "";
    bool f32 = strcmp(f->d, "f32") == 0;
#define PUT(...) at += (uint32_t)snprintf(s + at, sizeof s - at, __VA_ARGS__)
    if (imms) snprintf(tail, sizeof tail, ", %d, %d", f->neg_a ? -1 : 1, f->neg_b ? -1 : 1);
    if (imms == 4) snprintf(tail + strlen(tail), 20, ", %d", f->trans_a);
    if (imms >= 3) snprintf(tail + strlen(tail), 20, ", %d", f->trans_b);
    for (uint32_t k = 0; k < n; k++) snprintf(sums + strlen(sums), 20, "%s%%c%u", k ? ", " : "", k);
    PUT(".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
        ".reg .b64 %%i, %%o, %%da, %%db, %%x; .reg .b32 %%t, %%s, %%n, %%v, %%m, %%a<4>; .reg .%s %%c<%u>; "
        ".reg "
        ".pred %%p, %%q;\n"
        ".shared .align 1024 .b8 sm[%u];\n",
        f32 ? "f32" : "b32", n, SHARED);
    PUT("ld.param.u64 %%i, [p0]; ld.param.u64 %%o, [p1]; mov.u32 %%t, %%tid.x; mov.u32 %%s, sm; mov.u32 %%n, "
        "%%t;\n"
        "L: mul.wide.u32 %%x, %%n, 4; add.u64 %%x, %%x, %%i; ld.global.b32 %%v, [%%x];\n"
        "mad.lo.u32 %%v, 1, %%v, 0; { .reg .b32 %%y; shl.b32 %%y, %%n, 2; add.u32 %%y, %%y, %%s; st.shared.b32 "
        "[%%y], %%v; }\n"
        "add.u32 %%n, %%n, 128; setp.lt.u32 %%p, %%n, %u; @%%p bra L;\n",
        SHARED / 4);
    PUT("mul.wide.u32 %%x, %%t, 16; add.u64 %%x, %%x, %%i; add.u64 %%x, %%x, %u;\n"
        "ld.global.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%x];\n"
        "mul.wide.u32 %%x, %%t, 4; add.u64 %%x, %%x, %%i; ld.global.b32 %%m, [%%x+%u];\nbar.sync 0;\n",
        SHARED, META);
    PUT("shr.u32 %%n, %%s, 4; cvt.u64.u32 %%x, %%n; or.b64 %%da, %%x, 0x%llx;\n"
        "add.u32 %%n, %%s, %u; shr.u32 %%n, %%n, 4; cvt.u64.u32 %%x, %%n; or.b64 %%db, %%x, 0x%llx;\n",
        (unsigned long long)fields(f, f->trans_a, false), B_AT,
        (unsigned long long)fields(f, f->trans_b, true));
    for (uint32_t k = 0; k < n; k++)
        PUT(f32 ? "mov.f32 %%c%u, 0f40A00000;\n" : "mov.b32 %%c%u, %u;\n", k, f->a >= S8 ? 5u : 0x45004500u);
    PUT("setp.%s.u32 %%p, %%t, 1000; setp.lt.u32 %%q, %%t, 1000;\nwgmma.fence.sync.aligned;\n",
        f->fresh ? "gt" : "lt");
    if (f->late)
        PUT("mov.u32 %%n, 0; setp.lt.u32 %%q, %%t, 32; @%%q bra E;\n"
            "D: ld.volatile.shared.u32 %%v, [%%s]; and.b32 %%v, %%v, 0; add.u32 %%n, %%n, 1; "
            "add.u32 %%n, %%n, %%v; setp.lt.u32 %%q, %%n, 50000; @%%q bra D;\nE: setp.lt.u32 %%q, %%t, "
            "1000;\n");
    for (int turn = 0; turn < 2; turn++) {
        char meta[20] = "";
        if (f->sparse) snprintf(meta, sizeof meta, "%%m, %u, ", f->selector);
        PUT("wgmma.mma_async%s.sync.aligned.m64n%uk%u.%s.%s.%s%s {%s}, %s, %%db, %s%s%s;\n",
            f->sparse ? ".sp" : "", f->n, all_k(f), f->d, names[f->a], names[f->b],
            f->a == B1 ? ".and.popc" : "", sums, f->regs ? "{%a0, %a1, %a2, %a3}" : "%da", meta,
            turn ? "%q" : "%p", tail);
        if (f->open && !turn)
            PUT("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %u;\n", f->open);
    }
    PUT("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nmul.wide.u32 %%x, %%t, %u; "
        "add.u64 %%o, %%o, %%x;\n",
        4 * n);
    if (f->late)
        PUT("mov.u32 %%n, %%s; setp.ne.u32 %%q, %%t, 0; @%%q bra G;\n"
            "F: st.shared.b32 [%%n], 0; add.u32 %%n, %%n, 4; add.u32 %%v, %%s, %u; setp.lt.u32 %%q, %%n, %%v; "
            "@%%q bra F;\nG:\n",
            SHARED);
    for (uint32_t k = 0; k < n; k++) PUT("st.global.b32 [%%o+%u], %%c%u;\n", 4 * k, k);
    PUT("ret;\n}\n");
    return s;
}

static double sum_of(const struct form *f, uint32_t row, uint32_t col) {
    double all = 0;
    for (uint32_t k = 0; k < all_k(f); k++) all += a[row][k] * b[col][k];
    if (f->neg_a != f->neg_b) all = -all;
    return (f->fresh ? 0 : 5) + 2 * all;
}

/* What a thread has of the sums, by the layout of D. */
static unsigned wrong_sums(const struct form *f) {
    unsigned bad = 0;
    bool half = strcmp(f->d, "f16") == 0, f32 = strcmp(f->d, "f32") == 0;
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t col = 0; col < f->n; col++) {
            uint32_t thread = row / 16 * 32 + row % 8 * 4 + col % 8 / 2, v;
            uint32_t k = col / 8 * 4 + row % 16 / 8 * 2 + col % 2;
            memcpy(&v, out + (thread * registers(f) + (half ? k / 2 : k)) * 4, 4);
            double got = half ? ww_ex_f16_to_double((uint16_t)(v >> 16 * (k % 2))) : (double)(int32_t)v;
            float x;
            memcpy(&x, &v, 4);
            if (f32) got = (double)x;
            if (got != sum_of(f, row, col) && bad++ < 3)
                fprintf(stderr, "row %u column %u: %g, expected %g\n", row, col, got, sum_of(f, row, col));
        }
    return bad;
}

static void run(const struct form *f, bool machine) {
    char *s = program(f);
    size_t n = 4u * 128 * registers(f);
    text = (struct sass_text){.all = s, .sm = 90, .kernels = 1};
    text.header = (size_t)(strstr(s, ".visible") - s);
    text.at[0] = s + text.header;
    text.length[0] = strlen(text.at[0]);
    strcpy(text.name[0], "k");
    fill(f);
    if (sass_run_ptx(&text, 0, in, IN_BYTES, out, n, 1, 128) != SASS_RAN) fail_msg("%s", s + 0);
    if (wrong_sums(f)) fail_msg("%s.%s.%s n %u, swizzle %u", f->d, names[f->a], names[f->b], f->n, f->swizzle);
    if (!machine) return;
    enum sass_outcome o = sass_run_machine(&text, 0, "sm_90", in, IN_BYTES, again, n, 1, 128);
    if (o == SASS_SKIPPED) SKIP_BECAUSE("there is no ptxas for sm_90");
    assert_int_equal(o, SASS_RAN);
    if (memcmp(out, again, n))
        fail_msg("machine code differs: %s.%s n %u, swizzle %u, registers %d", f->d, names[f->a], f->n,
                 f->swizzle, f->regs);
}

static void each_type(bool machine) {
    static const struct form all[] = {
        {.d = "f32", .a = F16, .b = F16, .n = 64},   {.d = "f16", .a = F16, .b = F16, .n = 64},
        {.d = "f32", .a = BF16, .b = BF16, .n = 16}, {.d = "f32", .a = TF32, .b = TF32, .n = 24},
        {.d = "f32", .a = E4M3, .b = E5M2, .n = 32}, {.d = "f16", .a = E5M2, .b = E4M3, .n = 8},
        {.d = "s32", .a = S8, .b = U8, .n = 16},     {.d = "s32", .a = U8, .b = S8, .n = 48},
        {.d = "s32", .a = B1, .b = B1, .n = 16},     {.d = "f32", .a = F16, .b = F16, .n = 256},
        {.d = "s32", .a = S8, .b = S8, .n = 256},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        for (int regs = 0; regs < 2; regs++) {
            struct form f = all[k];
            f.regs = regs != 0;
            run(&f, machine);
        }
}

static void each_layout(bool machine) {
    static const uint32_t swizzle[] = {0, 32, 64, 128};
    for (unsigned s = 0; s < 4; s++)
        for (unsigned t = 0; t < 8; t++) {
            struct form f = {.d = "f32", .a = t & 4 ? BF16 : F16, .n = 128, .swizzle = swizzle[s]};
            f.b = f.a, f.trans_a = t & 1, f.trans_b = (t & 2) != 0;
            run(&f, machine);
            if (t % 4 == 0) {
                struct form g = {.d = "s32", .a = S8, .b = S8, .n = 32, .swizzle = swizzle[s]};
                run(&g, machine);
            }
        }
}

static void each_sign(bool machine) {
    for (unsigned t = 0; t < 8; t++) {
        struct form f = {.d = "f32",
                         .a = F16,
                         .b = F16,
                         .n = 40,
                         .neg_a = t & 1,
                         .neg_b = (t & 2) != 0,
                         .fresh = (t & 4) != 0};
        run(&f, machine);
        f.regs = true;
        f.neg_a = false; /* of registers the compiler makes other code */
        run(&f, machine);
    }
}

static void each_sparse(bool machine) {
    static const struct form all[] = {
        {.d = "f32", .a = F16, .b = F16, .n = 64},
        {.d = "f16", .a = F16, .b = F16, .n = 16, .selector = 1},
        {.d = "f32", .a = BF16, .b = BF16, .n = 256, .trans_b = true, .selector = 1},
        {.d = "f32", .a = F16, .b = F16, .n = 32, .swizzle = 32, .trans_b = true},
        {.d = "f32", .a = F16, .b = F16, .n = 64, .swizzle = 64, .neg_b = true},
        {.d = "f32", .a = F16, .b = F16, .n = 128, .swizzle = 128, .trans_b = true, .fresh = true},
        {.d = "f32", .a = TF32, .b = TF32, .n = 24},
        {.d = "f32", .a = TF32, .b = TF32, .n = 24, .swizzle = 128, .selector = 1},
        {.d = "f32", .a = E4M3, .b = E5M2, .n = 32},
        {.d = "f16", .a = E5M2, .b = E4M3, .n = 8, .swizzle = 128},
        {.d = "s32", .a = S8, .b = U8, .n = 16, .swizzle = 64},
        {.d = "s32", .a = U8, .b = S8, .n = 256},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        for (int regs = 0; regs < 2; regs++) {
            struct form f = all[k];
            f.sparse = true;
            f.regs = regs != 0;
            run(&f, machine);
        }
}

static void sparse_matrices_give_what_plain_c_gives(void **state) {
    (void)state;
    each_sparse(false);
}

static void machine_code_of_sparse_matrices_gives_the_same(void **state) {
    (void)state;
    each_sparse(true);
}

/* From PTX and from machine code: the number of groups left open is another field of the instruction. */
static void waits_that_leave_groups_open_give_what_plain_c_gives(void **state) {
    (void)state;
    for (uint32_t open = 1; open < 8; open++) {
        struct form f = {.d = "f32", .a = F16, .b = F16, .n = 16, .open = open};
        run(&f, true);
    }
}

/* The loop that makes warps late reads memory, so that ptxas leaves it in the machine code. */
static void a_wait_is_for_the_whole_warpgroup(void **state) {
    struct form f = {.d = "f32", .a = F16, .b = F16, .n = 64, .late = true};
    (void)state;
    run(&f, true);
}

static void types_give_what_plain_c_gives(void **state) {
    (void)state;
    each_type(false);
}

static void layouts_give_what_plain_c_gives(void **state) {
    (void)state;
    each_layout(false);
}

static void signs_and_fresh_sums_give_what_plain_c_gives(void **state) {
    (void)state;
    each_sign(false);
}

static void machine_code_of_types_gives_the_same(void **state) {
    (void)state;
    each_type(true);
}

static void machine_code_of_layouts_gives_the_same(void **state) {
    (void)state;
    each_layout(true);
}

static void machine_code_of_signs_gives_the_same(void **state) {
    (void)state;
    each_sign(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_give_what_plain_c_gives),
        cmocka_unit_test(layouts_give_what_plain_c_gives),
        cmocka_unit_test(signs_and_fresh_sums_give_what_plain_c_gives),
        cmocka_unit_test(machine_code_of_types_gives_the_same),
        cmocka_unit_test(machine_code_of_layouts_gives_the_same),
        cmocka_unit_test(machine_code_of_signs_gives_the_same),
        cmocka_unit_test(sparse_matrices_give_what_plain_c_gives),
        cmocka_unit_test(machine_code_of_sparse_matrices_gives_the_same),
        cmocka_unit_test(waits_that_leave_groups_open_give_what_plain_c_gives),
        cmocka_unit_test(a_wait_is_for_the_whole_warpgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
