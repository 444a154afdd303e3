/* storegpu: words of hashes, compared exactly. */
#include "host.h"

struct settings {
    uint32_t size, ctas, parts;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(ctas, "ctas", "CTA", 0, 4096, 0, "CTAs; 0: 2, 120, 960")                                               \
    U32(parts, "parts", "part", 0, 256, 0, "windows that a thread hashes; 0: 1, 4, 8")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum {
    THREADS = 128,
    STEP = 31,
    WINDOW = 32,
    WORDS = STEP * (THREADS - 1) + WINDOW,
    DATA_BYTES = (WORDS * 4 + 15) / 16 * 16, /* as the compiler aligns it */
    SHARED_BYTES = 16304
};

static void hash_block(uint32_t state[4], const uint32_t *w) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t f, k, n = 5 + 5 * (i % 4);
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d), k = i;
            break;
        case 1:
            f = (d & b) | (~d & c), k = 5 * i + 1;
            break;
        case 2:
            f = b ^ c ^ d, k = 3 * i + 5;
            break;
        default:
            f = c ^ (b | ~d), k = 7 * i;
        }
        uint32_t sum = a + f + w[k % 16] + 0x9e3779b9u * (i + 1);
        a = d, d = c, c = b;
        b += sum << n | sum >> (32 - n);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

static enum ww_code check(struct ww_host *h, const uint32_t *data, uint64_t d_hash, uint32_t ctas,
                          uint32_t parts) {
    size_t n = (size_t)ctas * THREADS * 4;
    uint32_t *got, *want;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_read(h, got, d_hash, n, sizeof *got));
    for (uint32_t i = 0; i < ctas * THREADS; i++) {
        uint32_t *state = want + 4 * (size_t)i;
        const uint32_t start[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
        for (int k = 0; k < 4; k++) state[k] = start[k];
        for (uint32_t p = 0; p < parts; p++) {
            const uint32_t *w = data + ((size_t)(i / THREADS) * parts + p) * WORDS + STEP * (i % THREADS);
            hash_block(state, w);
            hash_block(state, w + 16);
        }
    }
    return ww_host_same_u32(h, "hash", got, want, n);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t ctas = ww_host_size(s->ctas, s->size, 2, 120, 960),
             parts = ww_host_size(s->parts, s->size, 1, 4, 8);
    size_t n = (size_t)ctas * parts * WORDS;
    uint32_t *data;
    uint64_t d_data, d_hash;
    WW_TRY(ww_host_array(h, &data, n, sizeof *data));
    for (size_t i = 0; i < n; i++) data[i] = (uint32_t)ww_rng_next(&h->rng);
    WW_TRY(ww_host_upload(h, &d_data, data, n, sizeof *data));
    WW_TRY(ww_host_buffer(h, &d_hash, (size_t)ctas * THREADS, 16));
    const struct ww_arg args[] = {WW_ARG(d_data), WW_ARG(d_hash), WW_ARG(parts)};
    struct ww_host_shape shape = ww_host_line(ctas, THREADS);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, "storegpu_window", &shape, WW_ARGS(args)));
    return check(h, data, d_hash, ctas, parts);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("storegpu", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_storegpu = {
    .name = "storegpu",
    .help = "sliding hashes like MD5 of data staged in shared memory: integer arithmetic",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "storegpu",
    .run = run,
};
