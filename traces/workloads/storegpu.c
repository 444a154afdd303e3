/* storegpu: words of hashes, compared exactly. */
#include "host.h"

struct settings {
    uint32_t size, ctas, chunk, offset;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(ctas, "ctas", "CTA", 0, 4096, 0, "CTAs; 0: 2, 120, 384")                                               \
    U32(chunk, "chunk", "byte", 52, 2036, 52, "bytes that a thread hashes, 12 less than a multiple of 64")     \
    U32(offset, "offset", "byte", 4, 2036, 4, "bytes from one thread's to the next's, a multiple of 4")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

/* The words as declared: half of them are used. The rest are parameters, which lay in shared memory. */
enum { THREADS = 128, DATA_BYTES = (4 * 1024 - 32) * 4, SHARED_BYTES = 16304 };

static void hash_block(uint32_t state[4], const uint32_t *w) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t f, k, n = 5 + 5 * (i % 4);
        switch (i / 16) {
        case 0:
            f = d ^ (b & (c ^ d)), k = i;
            break;
        case 1:
            f = c ^ (d & (b ^ c)), k = 5 * i + 1;
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

static void hash_chunk(uint32_t state[4], const uint32_t *w, uint32_t chunk) {
    static const uint32_t start[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    uint32_t last[16], passes = chunk / 64 + 1;
    for (int k = 0; k < 4; k++) state[k] = start[k];
    for (uint32_t p = 0; p + 1 < passes; p++) hash_block(state, w + 16 * p);
    for (uint32_t k = 0; k < 13; k++) last[k] = w[16 * (passes - 1) + k];
    last[13] = 0x80, last[14] = chunk << 3, last[15] = chunk >> 29;
    hash_block(state, last);
}

static enum ww_code check(struct ww_host *h, const uint32_t *data, uint64_t d_hash, uint32_t threads,
                          const struct settings *s) {
    size_t n = (size_t)threads * 4;
    uint32_t *got, *want;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_read(h, got, d_hash, n, sizeof *got));
    for (size_t i = 0; i < threads; i++) hash_chunk(want + 4 * i, data + i * s->offset / 4, s->chunk);
    return ww_host_same_u32(h, "hash", got, want, n);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t ctas = ww_host_size(s->ctas, s->size, 2, 120, 384), threads = ctas * THREADS;
    size_t n = ((size_t)(threads - 1) * s->offset + s->chunk) / 4;
    uint32_t *data;
    uint64_t d_data, d_hash;
    if (s->offset % 4 || s->chunk % 64 != 52)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "chunk=%u, offset=%u: expected 12 less than a multiple of 64, and a multiple of 4",
                       s->chunk, s->offset);
    WW_TRY(ww_host_array(h, &data, n, sizeof *data));
    for (size_t i = 0; i < n; i++) data[i] = (uint32_t)ww_rng_next(&h->rng);
    WW_TRY(ww_host_upload(h, &d_data, data, n, sizeof *data));
    WW_TRY(ww_host_buffer(h, &d_hash, threads, 16));
    const struct ww_arg args[] = {WW_ARG(d_data), WW_ARG(s->chunk), WW_ARG(s->offset), WW_ARG(threads),
                                  WW_ARG(d_hash)};
    struct ww_host_shape shape = ww_host_line(ctas, THREADS);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, "storegpu_overlap", &shape, WW_ARGS(args)));
    return check(h, data, d_hash, threads, s);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("storegpu", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_storegpu = {
    .name = "storegpu",
    .help = "hashes like MD5 of a sliding window, whose words lie in shared memory: integer arithmetic",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "storegpu",
    .run = run,
};
