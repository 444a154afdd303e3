/* aes: the Advanced Encryption Standard (FIPS 197) over blocks on their own (ECB). What is decrypted has been
 * encrypted by the reference, which goes byte by byte as the standard does, without the kernels' tables. Bytes:
 * compared exactly. Plain text and key are random: with them, the banks that a round's look-ups meet. */
#include "host.h"
#include <string.h>

struct settings {
    uint32_t size, ctas, key, direction;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(ctas, "ctas", "CTA", 0, 65535, 0, "CTAs, each of 1024 bytes; 0: 3, 257, 2056")                         \
    ENUM(direction, "direction", "encrypt|decrypt", 0, "encrypt", "what is done")                              \
    ENUM(key, "key", "128|256", 1, "256", "bits of the key: 10 or 14 rounds")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { THREADS = 256, ROUNDS = 14 }; /* THREADS as in kernels/aes.cu; ROUNDS: the most */

struct cipher {
    uint8_t sbox[256], inverse[256];
    uint32_t rounds;
    uint8_t key[ROUNDS + 1][16];
};

/* Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
static uint8_t times(uint8_t a, uint8_t b) {
    uint32_t product = 0;
    for (uint32_t x = a, y = b; y; y >>= 1) {
        if (y & 1) product ^= x;
        x = x << 1 ^ (x & 0x80 ? 0x11b : 0);
    }
    return (uint8_t)product;
}

static uint8_t rotated(uint8_t b, int n) {
    return (uint8_t)(b << n | b >> (8 - n));
}

/* The inverse in the field, then the affine map; 3 generates all elements but 0. */
static void make_sbox(struct cipher *c) {
    uint8_t power[255];
    for (uint32_t i = 0, x = 1; i < 255; i++, x = times((uint8_t)x, 3)) power[i] = (uint8_t)x;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t log = 0;
        while (i && power[log] != i) log++;
        uint8_t b = i ? power[(255 - log) % 255] : 0;
        c->sbox[i] = (uint8_t)(b ^ rotated(b, 1) ^ rotated(b, 2) ^ rotated(b, 3) ^ rotated(b, 4) ^ 0x63);
        c->inverse[c->sbox[i]] = (uint8_t)i;
    }
}

/* Section 5.2 of the standard, by bytes of words. */
static void expand_key(struct cipher *c, const uint8_t *key, uint32_t words) {
    uint8_t *w = c->key[0], constant = 1;
    memcpy(w, key, (size_t)words * 4);
    for (uint32_t i = words; i < 4 * (c->rounds + 1); i++) {
        uint8_t t[4];
        memcpy(t, w + 4 * (i - 1), 4);
        if (i % words == 0) {
            const uint8_t first = t[0];
            for (int k = 0; k < 4; k++) t[k] = c->sbox[k < 3 ? t[k + 1] : first];
            t[0] ^= constant;
            constant = times(constant, 2);
        } else if (words > 6 && i % words == 4) {
            for (int k = 0; k < 4; k++) t[k] = c->sbox[t[k]];
        }
        for (uint32_t k = 0; k < 4; k++) w[4 * i + k] = w[4 * (i - words) + k] ^ t[k];
    }
}

/* One column times the circulant matrix whose first row is m. */
static void mix(uint8_t *column, const uint8_t m[4]) {
    uint8_t in[4];
    memcpy(in, column, 4);
    for (int r = 0; r < 4; r++) {
        column[r] = 0;
        for (int k = 0; k < 4; k++) column[r] ^= times(in[k], m[(k - r + 4) % 4]);
    }
}

static void encrypt_block(const struct cipher *c, const uint8_t *in, uint8_t *out) {
    static const uint8_t matrix[4] = {2, 3, 1, 1};
    uint8_t state[16], moved[16];
    for (int i = 0; i < 16; i++) state[i] = in[i] ^ c->key[0][i];
    for (uint32_t round = 1; round <= c->rounds; round++) {
        for (int col = 0; col < 4; col++)
            for (int r = 0; r < 4; r++) moved[4 * col + r] = c->sbox[state[4 * ((col + r) % 4) + r]];
        for (int col = 0; col < 4 && round < c->rounds; col++) mix(moved + 4 * col, matrix);
        for (int i = 0; i < 16; i++) state[i] = moved[i] ^ c->key[round][i];
    }
    memcpy(out, state, 16);
}

static uint32_t word_of(const uint8_t *b) {
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Four tables, each the one before turned by a byte, and the inverse of SubBytes. */
static void make_tables(const struct cipher *c, bool decrypt, uint32_t *table) {
    static const uint8_t matrix[2][4] = {{2, 1, 1, 3}, {14, 9, 13, 11}}; /* first column */
    for (uint32_t i = 0; i < 256; i++) {
        uint8_t b[4], s = decrypt ? c->inverse[i] : c->sbox[i];
        for (int k = 0; k < 4; k++) b[k] = times(s, matrix[decrypt][k]);
        uint32_t word = word_of(b);
        for (uint32_t k = 0; k < 4; k++, word = word << 8 | word >> 24) table[256 * k + i] = word;
        table[1024 + i] = c->inverse[i];
    }
}

/* The keys in the order in which the kernel uses them; those between the first and the last of a decryption are
 * mixed (section 5.3.5). */
static void make_keys(const struct cipher *c, bool decrypt, uint32_t *keys) {
    static const uint8_t matrix[4] = {14, 11, 13, 9};
    for (uint32_t round = 0; round <= c->rounds; round++)
        for (uint32_t col = 0; col < 4; col++) {
            uint8_t b[4];
            memcpy(b, c->key[decrypt ? c->rounds - round : round] + 4 * col, 4);
            if (decrypt && round && round < c->rounds) mix(b, matrix);
            keys[4 * round + col] = word_of(b);
        }
}

static void make_cipher(struct ww_host *h, uint32_t bits, struct cipher *c) {
    uint8_t key[32];
    *c = (struct cipher){.rounds = bits / 32 + 6};
    make_sbox(c);
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)ww_rng_below(&h->rng, 256);
    expand_key(c, key, bits / 32);
}

static enum ww_code launch(struct ww_host *h, const struct settings *s, const struct cipher *c, uint32_t ctas,
                           const uint8_t *from, uint8_t *got) {
    static const char *const kernel[2][2] = {{"aes_encrypt_128", "aes_encrypt_256"},
                                             {"aes_decrypt_128", "aes_decrypt_256"}};
    uint32_t table[5 * 256], keys[4 * (ROUNDS + 1)];
    uint64_t d_in, d_out, d_table, d_keys;
    size_t bytes = (size_t)ctas * THREADS * 4;
    make_tables(c, s->direction, table);
    make_keys(c, s->direction, keys);
    WW_TRY(ww_host_upload(h, &d_in, from, bytes, 1));
    WW_TRY(ww_host_buffer(h, &d_out, bytes, 1));
    WW_TRY(ww_host_upload(h, &d_table, table, 5 * 256, sizeof *table));
    WW_TRY(ww_host_upload(h, &d_keys, keys, (size_t)4 * (c->rounds + 1), sizeof *keys));
    const struct ww_host_shape shape = ww_host_line(ctas, THREADS);
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(d_table), WW_ARG(d_keys)};
    WW_TRY(ww_host_launch(h, kernel[s->direction][s->key], &shape, WW_ARGS(args)));
    return ww_host_read(h, got, d_out, bytes, 1);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct cipher c;
    uint32_t ctas = ww_host_size(s->ctas, s->size, 3, 257, 2056);
    size_t bytes = (size_t)ctas * THREADS * 4;
    uint8_t *plain, *secret, *got;
    make_cipher(h, s->key ? 256 : 128, &c);
    WW_TRY(ww_host_array(h, &plain, bytes, 1));
    WW_TRY(ww_host_array(h, &secret, bytes, 1));
    WW_TRY(ww_host_array(h, &got, bytes, 1));
    for (size_t i = 0; i < bytes; i++) plain[i] = (uint8_t)ww_rng_below(&h->rng, 256);
    for (size_t i = 0; i < bytes; i += 16) encrypt_block(&c, plain + i, secret + i);
    WW_TRY(launch(h, s, &c, ctas, s->direction ? secret : plain, got));
    const uint8_t *want = s->direction ? plain : secret;
    uint32_t *a, *b;
    WW_TRY(ww_host_array(h, &a, bytes, sizeof *a));
    WW_TRY(ww_host_array(h, &b, bytes, sizeof *b));
    for (size_t i = 0; i < bytes; i++) {
        a[i] = got[i];
        b[i] = want[i];
    }
    return ww_host_same_u32(h, s->direction ? "plain" : "secret", a, b, bytes);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("aes", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_aes = {
    .name = "aes",
    .help = "AES by tables in shared memory: conflicts that depend on the data",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "aes",
    .run = run,
};
