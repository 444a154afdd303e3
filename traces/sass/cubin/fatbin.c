/* fatbin.c: images of fat binaries, plain or compressed. */
#include "fatbin.h"
#include "cubin.h"
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define HEADER_BYTES 16u
#define IMAGE_HEADER_MIN 64u
#define FLAG_LZ4 ((uint64_t)1 << 13)
#define FLAG_ZSTD ((uint64_t)1 << 15)
#define FLAG_COMPRESSED (FLAG_LZ4 | FLAG_ZSTD | (uint64_t)1 << 12)

static uint64_t get(const unsigned char *p, unsigned bytes) {
    uint64_t v = 0;
    for (unsigned n = bytes; n > 0; n--) v = v << 8 | p[n - 1];
    return v;
}

uint64_t ww_fatbin_size(const void *data, uint64_t n) {
    const unsigned char *p = data;
    if (n < HEADER_BYTES) return 0;
    uint64_t rest = get(p + 8, 8), header = get(p + 6, 2);
    if (get(p, 4) != FATBIN_MAGIC || header < HEADER_BYTES || rest > UINT64_MAX - header) return 0;
    return header + rest <= n ? header + rest : 0;
}

static enum ww_code bad(const char *where, uint64_t at, const char *what, uint64_t found,
                        struct ww_error *error) {
    char place[200];
    snprintf(place, sizeof place, "%.150s: byte %llu", where, (unsigned long long)at);
    return ww_fail(error, WW_INPUT, place, "fat binary: expected %s, found %llu", what,
                   (unsigned long long)found);
}

static enum ww_code check_start(const unsigned char *p, uint64_t n, const char *where, uint64_t *end,
                                struct ww_error *error) {
    if (n < HEADER_BYTES) return bad(where, n, "a header of 16 bytes", n, error);
    if (get(p, 4) != FATBIN_MAGIC) return bad(where, 0, "the magic number 3126193488", get(p, 4), error);
    uint64_t size = ww_fatbin_size(p, n);
    if (size == 0) return bad(where, 8, "a size within the data", get(p + 8, 8), error);
    *end = size;
    return WW_OK;
}

enum ww_code ww_fatbin_next(const void *data, uint64_t n, const char *where, uint64_t *at,
                            struct fatbin_image *image, bool *more, struct ww_error *error) {
    const unsigned char *p = data;
    uint64_t end = 0;
    WW_TRY(check_start(p, n, where, &end, error));
    uint64_t here = *at ? *at : get(p + 6, 2);
    *more = here < end;
    if (!*more) return WW_OK;
    if (end - here < IMAGE_HEADER_MIN)
        return bad(where, here, "an image header of 64 bytes", end - here, error);
    const unsigned char *h = p + here;
    uint64_t header = get(h + 4, 4), payload = get(h + 8, 8), compressed = get(h + 16, 4);
    if (header < IMAGE_HEADER_MIN || header > end - here)
        return bad(where, here + 4, "a header size", header, error);
    if (payload > end - here - header) return bad(where, here + 8, "a payload within the data", payload, error);
    *image = (struct fatbin_image){.kind = (uint32_t)get(h, 2),
                                   .arch = (uint32_t)get(h + 28, 4),
                                   .flags = get(h + 40, 8),
                                   .payload = h + header,
                                   .payload_bytes = payload};
    if (image->flags & FLAG_COMPRESSED) {
        if (compressed > payload)
            return bad(where, here + 16, "a compressed size within the payload", compressed, error);
        image->payload_bytes = compressed;
        image->text_bytes = get(h + 56, 8);
    }
    *at = here + header + payload;
    return WW_OK;
}

static bool decompress(const struct fatbin_image *image, char *text) {
    if (image->flags & FLAG_ZSTD) {
        size_t got = ZSTD_decompress(text, image->text_bytes, image->payload, image->payload_bytes);
        return !ZSTD_isError(got) && got == image->text_bytes;
    }
    int got = LZ4_decompress_safe((const char *)image->payload, text, (int)image->payload_bytes,
                                  (int)image->text_bytes);
    return got >= 0 && (uint64_t)got == image->text_bytes;
}

/* The payload of an image, decompressed, with a NUL behind it. `what` names it in errors. */
static enum ww_code unpack(const struct fatbin_image *image, const char *where, const char *what,
                           unsigned char **out, size_t *n, struct ww_error *error) {
    bool compressed = (image->flags & FLAG_COMPRESSED) != 0;
    uint64_t bytes = compressed ? image->text_bytes : image->payload_bytes;
    if (compressed && !(image->flags & (FLAG_ZSTD | FLAG_LZ4)))
        return ww_fail(error, WW_UNSUPPORTED, where, "compressed %s with flags 0x%llx: expected LZ4 or zstd",
                       what, (unsigned long long)image->flags);
    if (bytes > FATBIN_TEXT_MAX || image->payload_bytes > FATBIN_TEXT_MAX)
        return ww_fail(error, WW_NOMEM, where, "%s of %llu bytes: expected at most %llu", what,
                       (unsigned long long)bytes, (unsigned long long)FATBIN_TEXT_MAX);
    *out = malloc(bytes + 1);
    if (!*out) return ww_fail_nomem(error, what);
    if (!compressed) {
        if (bytes) memcpy(*out, image->payload, bytes);
    } else if (!decompress(image, (char *)*out)) {
        free(*out);
        return ww_fail(error, WW_INPUT, where, "damaged compressed %s: expected %llu bytes of text", what,
                       (unsigned long long)bytes);
    }
    (*out)[bytes] = 0;
    *n = (size_t)bytes;
    return WW_OK;
}

enum ww_code ww_fatbin_text(const struct fatbin_image *image, const char *where, char **text, size_t *n,
                            struct ww_error *error) {
    unsigned char *bytes;
    WW_TRY(unpack(image, where, "PTX", &bytes, n, error));
    *text = (char *)bytes;
    *n = strlen(*text); /* padded with NULs */
    return WW_OK;
}

enum ww_code ww_fatbin_bytes(const struct fatbin_image *image, const char *where, unsigned char **bytes,
                             size_t *n, struct ww_error *error) {
    return unpack(image, where, "machine code", bytes, n, error);
}

/* True if code of architecture `of` runs on `arch`. */
static bool runs_on(uint32_t of, uint32_t arch) {
    return of / 10 == arch / 10 && of <= arch;
}

/* Of the images below `below` the one for the highest architecture that runs on `arch`. */
static enum ww_code next_machine(const void *data, uint64_t n, const char *where, uint32_t arch, uint32_t below,
                                 struct fatbin_image *best, bool *found, struct ww_error *error) {
    struct fatbin_image image;
    uint64_t at = 0;
    *found = false;
    for (bool more = true;;) {
        WW_TRY(ww_fatbin_next(data, n, where, &at, &image, &more, error));
        if (!more) return WW_OK;
        if (image.kind != FATBIN_ELF || !runs_on(image.arch, arch) || image.arch >= below) continue;
        if (*found && image.arch <= best->arch) continue;
        *best = image;
        *found = true;
    }
}

enum ww_code ww_fatbin_machine(const void *data, uint64_t n, const char *where, uint32_t arch,
                               struct fatbin_machine *machine, struct ww_error *error) {
    struct fatbin_image image;
    *machine = (struct fatbin_machine){0};
    for (uint32_t below = UINT32_MAX;; below = image.arch) {
        bool found, specific = false;
        WW_TRY(next_machine(data, n, where, arch, below, &image, &found, error));
        if (!found) return WW_OK;
        WW_TRY(ww_fatbin_bytes(&image, where, &machine->bytes, &machine->n, error));
        bool good = ww_cubin_look(machine->bytes, machine->n, &specific) && (!specific || image.arch == arch);
        if (good) {
            machine->found = true;
            machine->arch = image.arch;
            return WW_OK;
        }
        free(machine->bytes);
        machine->bytes = NULL;
    }
}

/* True if a device of this capability may run the image's PTX. */
static bool takes(const struct fatbin_image *image, uint32_t arch) {
    if (image->flags & FATBIN_SPECIFIC) return image->arch == arch;
    return image->arch <= arch && (!(image->flags & FATBIN_FAMILY) || image->arch / 10 == arch / 10);
}

/* 0: PTX for all later devices, 1: for a family, 2: for one architecture. */
static unsigned narrowness(const struct fatbin_image *image) {
    return image->flags & FATBIN_SPECIFIC ? 2 : image->flags & FATBIN_FAMILY ? 1 : 0;
}

/* True if `a` is the better image for a device of this capability. Of one capability the narrower one is: a
 * program may leave out of the other what only that architecture has. */
static bool better(const struct fatbin_image *a, const struct fatbin_image *than, uint32_t arch) {
    bool good = takes(a, arch);
    if (good != takes(than, arch)) return good;
    if (a->arch != than->arch) return good ? a->arch > than->arch : a->arch < than->arch;
    return good ? narrowness(a) > narrowness(than) : narrowness(a) < narrowness(than);
}

enum ww_code ww_fatbin_choose(const void *data, uint64_t n, const char *where, uint32_t arch,
                              struct fatbin_summary *summary, struct ww_error *error) {
    struct fatbin_image image;
    uint64_t at = 0;
    memset(summary, 0, sizeof *summary);
    for (bool more = true;;) {
        WW_TRY(ww_fatbin_next(data, n, where, &at, &image, &more, error));
        if (!more) return WW_OK;
        if (image.kind == FATBIN_ELF) {
            summary->elf_count++;
            summary->elf_arch = image.arch;
        }
        if (image.kind != FATBIN_PTX) continue;
        summary->ptx_count++;
        if (!summary->found || better(&image, &summary->ptx, arch)) summary->ptx = image;
        summary->found = true;
    }
}
