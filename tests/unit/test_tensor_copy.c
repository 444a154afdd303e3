/* test_tensor_copy.c: copies and reductions of tensors of every rank, swizzle, type and mode, against plain C,
 * from PTX and from machine code. */
#include "bulk_fixture.h"
#include "../../estimator/base/rng.h"

#define BOX "BOX_BYTES"
#define WORDS "BOX_WORDS"
#define DO "DO_IT"
#define LOAD_TEXT KERNEL("", AND_WAIT(BOX, DO) DUMP(WORDS))
#define STORE_TEXT                                                                                             \
    KERNEL("",                                                                                                 \
           FETCH(WORDS) "@!%p0 bra END; " DO " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:")
#define TENSOR_BYTES 65536u

static unsigned char tensor[TENSOR_BYTES], out[TENSOR_BYTES], before[TENSOR_BYTES], box_in[8192];
static struct ww_tensor_map map;
static struct ww_tensor_at at;
static const char *op; /* of a reduction, or NULL */
static struct ww_rng rng;

/* ---- texts ---- */

static void replace(char *text, const char *what, const char *by) {
    for (char *p; (p = strstr(text, what)) != NULL;) {
        size_t old = strlen(what), new = strlen(by);
        memmove(p + new, p + old, strlen(p + old) + 1);
        memcpy(p, by, new);
    }
}

static const char *text_of(const char *pattern, const char *instruction) {
    static char text[32768];
    char number[16];
    snprintf(text, sizeof text, "%s", pattern);
    replace(text, DO, instruction);
    snprintf(number, sizeof number, "%u", ww_tensor_box_bytes(&map));
    replace(text, BOX, number);
    snprintf(number, sizeof number, "%u", ww_tensor_box_bytes(&map) / 4);
    replace(text, WORDS, number);
    return text;
}

/* The registers %r4 ... hold coordinates, %h0 ... offsets. */
static size_t put_places(char *to, size_t room) {
    size_t n = 0;
    for (unsigned d = 0; d < map.rank; d++)
        n += (size_t)snprintf(to + n, room - n, "mov.u32 %%r%u,%d; ", 4 + d, at.coordinate[d]);
    for (unsigned d = 0; map.im2col && d + 2 < map.rank; d++)
        n += (size_t)snprintf(to + n, room - n, "mov.b16 %%h%u,%u; ", d, at.offset[d]);
    return n;
}

static size_t put_list(char *to, size_t room, const char *reg, unsigned first, unsigned count) {
    size_t n = (size_t)snprintf(to, room, "{");
    for (unsigned d = 0; d < count; d++)
        n += (size_t)snprintf(to + n, room - n, "%s%%%s%u", d ? "," : "", reg, first + d);
    return n + (size_t)snprintf(to + n, room - n, "}");
}

static const char *load_text(void) {
    char s[1024], list[64], offsets[64] = "";
    size_t n = put_places(s, sizeof s);
    put_list(list, sizeof list, "r", 4, map.rank);
    if (map.im2col) {
        offsets[0] = ',';
        put_list(offsets + 1, sizeof offsets - 1, "h", 0, map.rank - 2u);
    }
    snprintf(
        s + n, sizeof s - n,
        "cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes [%%r1],[%%rd2,%s],"
        "[%%r2]%s;",
        map.rank, map.im2col ? "im2col" : "tile", list, offsets);
    return text_of(LOAD_TEXT, s);
}

static const char *store_text(void) {
    char s[1024], list[64];
    size_t n = put_places(s, sizeof s);
    const char *mode = map.im2col ? "im2col_no_offs" : "tile";
    put_list(list, sizeof list, "r", 4, map.rank);
    if (op)
        snprintf(s + n, sizeof s - n,
                 "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%s.%s.bulk_group [%%rd2,%s],[%%r1];",
                 map.rank, op, mode, list);
    else
        snprintf(s + n, sizeof s - n,
                 "cp.async.bulk.tensor.%ud.global.shared::cta.%s.bulk_group [%%rd2,%s],[%%r1];", map.rank, mode,
                 list);
    return text_of(STORE_TEXT, s);
}

/* ---- plain C: element by element ---- */

static uint32_t element_bytes(void) {
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return bytes[map.type];
}

/* Where byte n of the box lies in shared memory. */
static uint32_t swizzled(uint32_t n) {
    uint32_t row = n / 128 % 8, chunk = n / 16 % 8, rest = n % 16;
    if (map.swizzle == WW_SWIZZLE_32) chunk ^= row % 2;
    if (map.swizzle == WW_SWIZZLE_64) chunk ^= row % 4;
    if (map.swizzle == WW_SWIZZLE_128) chunk ^= row;
    return n / 128 * 128 + chunk * 16 + rest;
}

/* Place of an element in the tensor, or -1. */
static int64_t place(const int64_t *c) {
    int64_t at_byte = 0;
    for (unsigned d = 0; d < map.rank; d++) {
        if (c[d] < 0 || c[d] >= (int64_t)map.dim[d]) return -1;
        at_byte += c[d] * (int64_t)map.stride[d];
    }
    return at_byte;
}

/* Calls f with each element's place in the tensor and in shared memory. */
static void each_of_tile(void (*f)(int64_t from, uint32_t to)) {
    uint32_t n = 0, most[5] = {1, 1, 1, 1, 1}, i[5];
    for (unsigned d = 0; d < map.rank; d++)
        most[d] = d ? (map.box[d] + map.step[d] - 1) / map.step[d] : map.box[0];
    for (i[4] = 0; i[4] < most[4]; i[4]++)
        for (i[3] = 0; i[3] < most[3]; i[3]++)
            for (i[2] = 0; i[2] < most[2]; i[2]++)
                for (i[1] = 0; i[1] < most[1]; i[1]++)
                    for (i[0] = 0; i[0] < most[0]; i[0]++, n++) {
                        int64_t c[5];
                        for (unsigned d = 0; d < 5; d++)
                            c[d] = at.coordinate[d] + (int64_t)i[d] * (d ? map.step[d] : 1);
                        f(place(c), swizzled(n * element_bytes()));
                    }
}

/* Pixels one after the other: along the box of pixels, then the next row of it, ..., then the next image. */
static void each_of_pixels(void (*f)(int64_t from, uint32_t to)) {
    int64_t p[5];
    uint32_t n = 0;
    for (unsigned d = 0; d < 5; d++) p[d] = at.coordinate[d];
    for (uint32_t pixel = 0; pixel < map.pixels; pixel++) {
        for (uint32_t channel = 0; channel < map.channels; channel++, n++) {
            int64_t c[5];
            for (unsigned d = 0; d < map.rank; d++) {
                bool moves = d && d + 1u < map.rank;
                c[d] = d ? p[d] + (moves ? at.offset[d - 1] : 0) : p[0] + channel;
            }
            f(place(c), swizzled(n * element_bytes()));
        }
        unsigned d = 1;
        for (; d + 1u < map.rank; d++) {
            p[d] += map.step[d];
            if (p[d] < (int64_t)map.dim[d] + map.upper[d - 1]) break;
            p[d] = map.lower[d - 1];
        }
        if (d + 1u == map.rank) p[d]++;
    }
}

static void each(void (*f)(int64_t from, uint32_t to)) {
    (map.im2col ? each_of_pixels : each_of_tile)(f);
}

/* ---- loads ---- */

static const unsigned char *got;

static void same(int64_t from, uint32_t to) {
    static const unsigned char zero[8];
    const unsigned char *expect = from < 0 ? zero : tensor + from;
    if (memcmp(got + to, expect, element_bytes()) != 0)
        fail_msg("rank %u, type %u, swizzle %u%s: byte %u of shared memory", map.rank, map.type, map.swizzle,
                 map.im2col ? ", im2col" : "", to);
}

static void want_box(const void *what) {
    got = what;
    each(same);
}

static void load(void) {
    const struct job j = {.text = load_text(),
                          .ctas = 1,
                          .threads = 32,
                          .out = out,
                          .out_bytes = ww_tensor_box_bytes(&map),
                          .in = tensor,
                          .in_bytes = TENSOR_BYTES,
                          .map = &map};
    memset(out, 0x55, sizeof out);
    both(&j, want_box);
}

/* ---- stores and reductions ---- */

static uint64_t read_at(const unsigned char *p) {
    uint64_t v = 0;
    memcpy(&v, p, element_bytes());
    return v;
}

/* Numbers 0 to 2047 as f16, to 255 as bf16: whole ones, so that sums are exact. */
static uint64_t number(uint32_t v) {
    uint32_t exponent = 0;
    uint64_t bits;
    float f = (float)v;
    memcpy(&v, &f, 4);
    if (map.type == WW_TENSOR_F32) return v;
    if (map.type == WW_TENSOR_BF16) return v >> 16;
    if (map.type != WW_TENSOR_F16) return (uint64_t)f;
    exponent = (v >> 23) - 127 + 15;
    bits = f > 0 ? exponent << 10 | (v >> 13 & 1023) : 0;
    return bits;
}

static uint64_t value(uint64_t bits) {
    if (map.type < WW_TENSOR_F16) return bits;
    for (uint32_t v = 0; v < 256; v++)
        if (number(v) == bits) return v;
    fail_msg("no whole number: 0x%llx", (unsigned long long)bits);
    return 0;
}

static bool less(uint64_t a, uint64_t b) {
    if (map.type == WW_TENSOR_S32) return (int32_t)a < (int32_t)b;
    if (map.type == WW_TENSOR_S64) return (int64_t)a < (int64_t)b;
    return a < b;
}

static uint64_t combined(uint64_t old, uint64_t v) {
    if (!op) return v;
    if (strcmp(op, "add") == 0) {
        uint64_t sum = value(old) + value(v);
        return map.type < WW_TENSOR_F16 ? sum : number((uint32_t)sum);
    }
    if (strcmp(op, "min") == 0) return less(value(v), value(old)) ? v : old;
    if (strcmp(op, "max") == 0) return less(value(old), value(v)) ? v : old;
    if (strcmp(op, "inc") == 0) return old >= v ? 0 : old + 1;
    if (strcmp(op, "dec") == 0) return old == 0 || old > v ? v : old - 1;
    if (strcmp(op, "and") == 0) return old & v;
    return strcmp(op, "or") == 0 ? old | v : old ^ v;
}

static void apply(int64_t to, uint32_t from) {
    if (to < 0) return;
    uint64_t v = combined(read_at(before + to), read_at(box_in + from));
    memcpy(before + to, &v, element_bytes());
}

static void want_tensor(const void *what) {
    static unsigned char expect[TENSOR_BYTES];
    memcpy(expect, before, sizeof expect);
    each(apply);
    int differs = memcmp(what, before, TENSOR_BYTES);
    memcpy(before, expect, sizeof expect); /* for the next one that looks */
    if (differs)
        fail_msg("%s, rank %u, type %u, swizzle %u", op ? op : "store", map.rank, map.type, map.swizzle);
}

static void store(void) {
    const struct job j = {.text = store_text(),
                          .ctas = 1,
                          .threads = 32,
                          .out = out,
                          .out_bytes = TENSOR_BYTES,
                          .in = box_in,
                          .in_bytes = sizeof box_in,
                          .map = &map,
                          .map_of_out = true};
    memcpy(out, before, sizeof out);
    both(&j, want_tensor);
}

/* ---- cases ---- */

static void fill_bytes(unsigned char *p, size_t bytes) {
    for (size_t n = 0; n < bytes; n++) p[n] = (unsigned char)ww_rng_below(&rng, 256);
}

/* Elements that reductions take, so small that no sum leaves the type. */
static void fill_numbers(unsigned char *p, size_t bytes) {
    for (size_t n = 0; n < bytes; n += element_bytes()) {
        uint64_t v = ww_rng_below(&rng, 100);
        v = map.type < WW_TENSOR_F16 ? v : number((uint32_t)v);
        if (map.type == WW_TENSOR_S32 || map.type == WW_TENSOR_S64) v -= 50;
        memcpy(p + n, &v, element_bytes());
    }
}

/* A tensor of so many dimensions; the box hangs over its edges. */
static void make_tile(unsigned rank, uint8_t type, uint8_t swizzle) {
    static const uint32_t dims[] = {24, 9, 5, 3, 2}, boxes[] = {16, 4, 4, 2, 2};
    memset(&map, 0, sizeof map);
    memset(&at, 0, sizeof at);
    map.type = type;
    map.rank = (uint8_t)rank;
    map.swizzle = swizzle;
    uint32_t size = element_bytes(), inner = swizzle ? (16u << swizzle) / size : 16;
    map.stride[0] = size;
    for (unsigned d = 0; d < rank; d++) {
        map.dim[d] = dims[d] - (rank > 3 && d == 0 ? 8 : 0);
        map.box[d] = d ? boxes[d] : inner;
        map.step[d] = d && rank > 2 ? 1 + ww_rng_below(&rng, 2) : 1;
        map.step[d] = d ? map.step[d] : 1;
        if (d)
            map.stride[d] =
                d == 1 ? 24 * size + (16 - 24 * size % 16) % 16 : map.stride[d - 1] * map.dim[d - 1];
        at.coordinate[d] = (int32_t)ww_rng_below(&rng, (uint32_t)map.dim[d]) - 2;
    }
    assert_true(map.stride[rank - 1] * map.dim[rank - 1] <= TENSOR_BYTES);
}

static void loads_of_each_rank_and_swizzle(void **state) {
    (void)state;
    static const uint8_t types[] = {WW_TENSOR_U8, WW_TENSOR_U16, WW_TENSOR_F32, WW_TENSOR_U64, WW_TENSOR_BF16};
    ww_rng_seed(&rng, 5);
    fill_bytes(tensor, sizeof tensor);
    for (unsigned rank = 1; rank <= 5; rank++)
        for (uint8_t swizzle = WW_SWIZZLE_NONE; swizzle <= WW_SWIZZLE_128; swizzle++) {
            make_tile(rank, types[(rank + swizzle) % 5], swizzle);
            load();
        }
}

static void stores_of_each_rank_and_swizzle(void **state) {
    (void)state;
    static const uint8_t types[] = {WW_TENSOR_U16, WW_TENSOR_F32, WW_TENSOR_S64, WW_TENSOR_U8, WW_TENSOR_F16};
    ww_rng_seed(&rng, 6);
    fill_bytes(before, sizeof before);
    fill_bytes(box_in, sizeof box_in);
    op = NULL;
    for (unsigned rank = 1; rank <= 5; rank++)
        for (uint8_t swizzle = WW_SWIZZLE_NONE; swizzle <= WW_SWIZZLE_128; swizzle += 2) {
            make_tile(rank, types[(rank + swizzle) % 5], swizzle + rank % 2);
            store();
        }
}

static void reductions_of_each_operation_and_type(void **state) {
    (void)state;
    static const struct {
        const char *op;
        uint8_t type;
    } rows[] = {{"add", WW_TENSOR_U32},  {"add", WW_TENSOR_S32}, {"add", WW_TENSOR_U64},
                {"add", WW_TENSOR_F16},  {"add", WW_TENSOR_F32}, {"add", WW_TENSOR_BF16},
                {"min", WW_TENSOR_U32},  {"min", WW_TENSOR_S32}, {"min", WW_TENSOR_S64},
                {"min", WW_TENSOR_F16},  {"max", WW_TENSOR_U64}, {"max", WW_TENSOR_S32},
                {"max", WW_TENSOR_BF16}, {"inc", WW_TENSOR_U32}, {"dec", WW_TENSOR_U32},
                {"and", WW_TENSOR_U32},  {"or", WW_TENSOR_U64},  {"xor", WW_TENSOR_U32}};
    ww_rng_seed(&rng, 7);
    for (unsigned n = 0; n < sizeof rows / sizeof *rows; n++) {
        make_tile(2 + n % 2, rows[n].type, (uint8_t)(n % 4));
        op = rows[n].op;
        fill_numbers(before, sizeof before);
        fill_numbers(box_in, sizeof box_in);
        store();
    }
    op = NULL;
}

/* Channels, width, ..., images; corners inside, on and outside of the edges. */
static void make_pixels(unsigned rank, uint8_t type, uint8_t swizzle, bool offsets) {
    static const uint32_t dims[] = {0, 6, 5, 4};
    memset(&map, 0, sizeof map);
    memset(&at, 0, sizeof at);
    map.type = type;
    map.rank = (uint8_t)rank;
    map.swizzle = swizzle;
    map.im2col = true;
    uint32_t size = element_bytes();
    map.channels = 32 / size;
    map.pixels = 40;
    map.stride[0] = size;
    for (unsigned d = 0; d < rank; d++) {
        map.dim[d] = d == 0 ? 32 / size : d + 1 == rank ? 3 : dims[d];
        map.step[d] = d && d + 1 < rank ? 1 + ww_rng_below(&rng, 2) : 1;
        if (d) map.stride[d] = map.stride[d - 1] * map.dim[d - 1];
    }
    for (unsigned n = 0; n + 2 < rank; n++) {
        map.lower[n] = (int32_t)ww_rng_below(&rng, 3) - 1;
        map.upper[n] = (int32_t)ww_rng_below(&rng, 3) - 1;
        at.coordinate[n + 1] = map.lower[n] + (int32_t)map.step[n + 1];
        at.offset[n] = (uint16_t)(offsets ? ww_rng_below(&rng, 3) : 0);
    }
}

static void im2col_of_each_rank(void **state) {
    (void)state;
    ww_rng_seed(&rng, 8);
    for (unsigned n = 0; n < 6; n++) {
        make_pixels(3 + n % 3, n % 2 ? WW_TENSOR_F16 : WW_TENSOR_U32, n < 3 ? WW_SWIZZLE_NONE : WW_SWIZZLE_32,
                    true);
        fill_bytes(tensor, sizeof tensor);
        load();
    }
}

static void im2col_stores_and_reductions(void **state) {
    (void)state;
    ww_rng_seed(&rng, 9);
    for (unsigned n = 0; n < 6; n++) {
        make_pixels(3 + n % 3, WW_TENSOR_U32, WW_SWIZZLE_NONE, false);
        op = n < 3 ? NULL : "add";
        fill_numbers(before, sizeof before);
        fill_numbers(box_in, sizeof box_in);
        store();
    }
    op = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_each_rank_and_swizzle), cmocka_unit_test(stores_of_each_rank_and_swizzle),
        cmocka_unit_test(reductions_of_each_operation_and_type), cmocka_unit_test(im2col_of_each_rank),
        cmocka_unit_test(im2col_stores_and_reductions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
