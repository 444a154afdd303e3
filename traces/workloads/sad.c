/* sad: full-search motion estimation for all block sizes of H.264, as Parboil's benchmark of that name
 * (J. A. Stratton et al., "Parboil: A Revised Benchmark Suite for Scientific and Commercial Throughput
 * Computing", IMPACT-12-01, 2012). The reference frame: random points on a lattice of 8 pixels, interpolated;
 * the frame is the same moved by (3, -2) plus noise of -4 .. 3. Integers: compared exactly. */
#include "host.h"

enum { SIDE = 16, RANGE_MAX = 16, SUMS = 41, THREADS = 61, LATTICE = 8 }; /* of kernels/sad.cu */

struct settings {
    uint32_t size, width, height, range;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(width, "width", "pixel", 0, 1920, 0, "width, a multiple of 16; 0: 32, 112, 176")                       \
    U32(height, "height", "pixel", 0, 1920, 0, "height, a multiple of 16; 0: 32, 96, 144")                     \
    U32(range, "range", "pixel", 0, 16, 0, "displacement in each direction at most; 0: 5, 16, 16")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t width, height, range, across, words; /* across: displacements of a row; words: of one sum */
    uint32_t macroblocks;
    uint8_t *frame, *reference;
    uint32_t *want;
};

static uint32_t clamp(int64_t v, uint32_t n) {
    return v < 0 ? 0 : v < n ? (uint32_t)v : n - 1;
}

static uint8_t pixel(const struct problem *p, int64_t row, int64_t col) {
    return p->reference[(size_t)clamp(row, p->height) * p->width + clamp(col, p->width)];
}

static enum ww_code make_frames(struct ww_host *h, struct problem *p) {
    size_t pixels = (size_t)p->width * p->height, across = p->width / LATTICE + 1;
    uint32_t *lattice;
    WW_TRY(ww_host_array(h, &lattice, across * (p->height / LATTICE + 1), sizeof *lattice));
    for (size_t i = 0; i < across * (p->height / LATTICE + 1); i++) lattice[i] = 8 + ww_rng_below(&h->rng, 240);
    WW_TRY(ww_host_array(h, &p->frame, pixels, 1));
    WW_TRY(ww_host_array(h, &p->reference, pixels, 1));
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            const uint32_t *l = lattice + y / LATTICE * across + x / LATTICE;
            uint32_t fx = x % LATTICE, fy = y % LATTICE;
            uint32_t above = l[0] * (LATTICE - fx) + l[1] * fx;
            uint32_t below = l[across] * (LATTICE - fx) + l[across + 1] * fx;
            uint32_t v = (above * (LATTICE - fy) + below * fy) / (LATTICE * LATTICE);
            p->reference[(size_t)y * p->width + x] = (uint8_t)v;
        }
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++)
            p->frame[(size_t)y * p->width + x] =
                (uint8_t)(pixel(p, (int64_t)y - 2, (int64_t)x + 3) + ww_rng_below(&h->rng, 8) - 4);
    return WW_OK;
}

/* The 41 sums of one displacement, from its 16 sums of 4 x 4: the two sizes of halves, then the next square. */
static void larger(uint32_t s[SUMS]) {
    for (uint32_t q = 0; q < 4; q++) {
        uint32_t b = q / 2 * 8 + q % 2 * 2;
        s[16 + 2 * q] = s[b] + s[b + 1];
        s[16 + 2 * q + 1] = s[b + 4] + s[b + 5];
        s[24 + 2 * q] = s[b] + s[b + 4];
        s[24 + 2 * q + 1] = s[b + 1] + s[b + 5];
        s[32 + q] = s[16 + 2 * q] + s[16 + 2 * q + 1];
    }
    s[36] = s[32] + s[33];
    s[37] = s[34] + s[35];
    s[38] = s[32] + s[34];
    s[39] = s[33] + s[35];
    s[40] = s[36] + s[37];
}

static void displacement(const struct problem *p, uint32_t mb, uint32_t d, uint32_t s[SUMS]) {
    uint32_t per_row = p->width / SIDE, top = mb / per_row * SIDE, left = mb % per_row * SIDE;
    int64_t dy = (int64_t)(d / p->across) - p->range, dx = (int64_t)(d % p->across) - p->range;
    for (int b = 0; b < 16; b++) s[b] = 0;
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++) {
            int a = p->frame[(size_t)(top + y) * p->width + left + x];
            int r = pixel(p, (int64_t)(top + y) + dy, (int64_t)(left + x) + dx);
            s[y / 4 * 4 + x / 4] += (uint32_t)(a > r ? a - r : r - a);
        }
    larger(s);
}

static void reference(struct problem *p) {
    for (uint32_t mb = 0; mb < p->macroblocks; mb++)
        for (uint32_t d = 0; d < p->across * p->across; d++) {
            uint32_t s[SUMS];
            displacement(p, mb, d, s);
            uint32_t *want = p->want + (size_t)mb * SUMS * p->words;
            for (uint32_t i = 0; i < SUMS; i++) want[i * p->words + d / 2] |= s[i] << (d & 1 ? 16 : 0);
        }
}

static enum ww_code launch(struct ww_host *h, const struct problem *p, uint64_t d_frame, uint64_t d_reference,
                           uint64_t d_sum) {
    struct ww_host_shape shape = {.grid = {p->width / SIDE, p->height / SIDE, 1}, .block = {THREADS, 1, 1}};
    const struct ww_arg args[] = {WW_ARG(d_frame),   WW_ARG(d_reference), WW_ARG(d_sum),   WW_ARG(p->width),
                                  WW_ARG(p->height), WW_ARG(p->range),    WW_ARG(p->words)};
    WW_TRY(ww_host_launch(h, "sad_macroblock", &shape, WW_ARGS(args)));
    const struct ww_arg more[] = {WW_ARG(d_sum), WW_ARG(p->words)};
    shape.block[0] = 32;
    shape.block[1] = 4;
    WW_TRY(ww_host_launch(h, "sad_larger_8", &shape, WW_ARGS(more)));
    shape.block[1] = 1;
    return ww_host_launch(h, "sad_larger_16", &shape, WW_ARGS(more));
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.width = ww_host_size(s->width, s->size, 32, 112, 176),
                        .height = ww_host_size(s->height, s->size, 32, 96, 144),
                        .range = ww_host_size(s->range, s->size, 5, 16, 16)};
    if (p.width % SIDE || p.height % SIDE)
        return ww_fail(h->error, WW_USAGE, h->name, "width=%u, height=%u: expected multiples of %d", p.width,
                       p.height, SIDE);
    p.across = 2 * p.range + 1;
    p.words = (p.across * p.across + 1) / 2;
    p.macroblocks = p.width / SIDE * (p.height / SIDE);
    uint64_t d_frame, d_reference, d_sum;
    uint32_t *got;
    size_t sums = (size_t)p.macroblocks * SUMS * p.words;
    WW_TRY(make_frames(h, &p));
    WW_TRY(ww_host_array(h, &p.want, sums, sizeof *p.want));
    WW_TRY(ww_host_array(h, &got, sums, sizeof *got));
    reference(&p);
    WW_TRY(ww_host_upload(h, &d_frame, p.frame, (size_t)p.width * p.height, 1));
    WW_TRY(ww_host_upload(h, &d_reference, p.reference, (size_t)p.width * p.height, 1));
    WW_TRY(ww_host_buffer(h, &d_sum, sums, sizeof *got));
    WW_TRY(launch(h, &p, d_frame, d_reference, d_sum));
    WW_TRY(ww_host_read(h, got, d_sum, sums, sizeof *got));
    return ww_host_same_u32(h, "sum", got, p.want, sums);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("sad", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_sad = {
    .name = "sad",
    .help = "motion estimation: sums of absolute differences from shared memory, then streaming sums",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "sad",
    .run = run,
};
