/* fatbin.h: reading CUDA fat binaries.
 *
 * A fat binary is a header and images, each with a header of its own (all little-endian):
 *
 *     | header 16 bytes: magic u32 0xba55ed50, version u16, header bytes u16, size of the rest u64 |
 *     | image: kind u16 (1 PTX, 2 ELF), version u16, header bytes u32, payload bytes u64,
 *     |        at 16: bytes of the compressed text u32, at 28: compute capability x 10 u32,
 *     |        at 40: flags u64 (bit 13: LZ4 block, bit 15: zstd frame, bit 20: for this architecture alone,
 *     |        as sm_90a, bit 21: for its family, as sm_100f), at 56: bytes of the text u64 |
 *     | payload | image | ...
 *
 * The layout was found by looking at what nvcc 13 and its `-compress-mode` write. What is read is not
 * trusted. Nothing is kept of the bytes passed, except that images point into them.
 */
#ifndef WW_TRACES_CUDA_FATBIN_H
#define WW_TRACES_CUDA_FATBIN_H

#include "../../../estimator/base/err.h"

#define FATBIN_MAGIC 0xba55ed50u
#define FATBIN_PTX 1u
#define FATBIN_ELF 2u
#define FATBIN_SPECIFIC ((uint64_t)1 << 20)
#define FATBIN_FAMILY ((uint64_t)1 << 21)
#define FATBIN_TEXT_MAX ((uint64_t)256 << 20) /* bytes of one PTX text */

struct fatbin_image {
    uint32_t kind; /* FATBIN_PTX, FATBIN_ELF or another number */
    uint32_t arch; /* compute capability x 10: 75 */
    uint64_t flags;
    const unsigned char *payload;
    uint64_t payload_bytes; /* without padding, if compressed */
    uint64_t text_bytes;    /* after decompression; 0: not compressed */
};

/* Bytes of the whole fat binary at `data`, of which `n` can be read; 0 if it is none or does not lie in them.
 */
uint64_t ww_fatbin_size(const void *data, uint64_t n);
/* Reads the image at *at (0: the first) and moves *at behind it; *more is false, and nothing read, at the end.
 * `where` names the binary in errors. Errors: WW_INPUT with the offset. */
enum ww_code ww_fatbin_next(const void *data, uint64_t n, const char *where, uint64_t *at,
                            struct fatbin_image *image, bool *more, struct ww_error *error);
/* The PTX text of an image, terminated by NUL; *n is without it. free() it. Errors: WW_INPUT (damaged),
 * WW_UNSUPPORTED (unknown compression), WW_NOMEM (over FATBIN_TEXT_MAX). */
enum ww_code ww_fatbin_text(const struct fatbin_image *image, const char *where, char **text, size_t *n,
                            struct ww_error *error);

/* The bytes of an image of machine code. free() them. Errors: those of ww_fatbin_text. */
enum ww_code ww_fatbin_bytes(const struct fatbin_image *image, const char *where, unsigned char **bytes,
                             size_t *n, struct ww_error *error);
/* The machine code that a device of capability `arch` runs: of the highest capability with the same major
 * number up to it; code for features of one architecture only (sm_90a) where it is that one. *found is false,
 * and nothing allocated, if there is none. free() the bytes. Errors: those of ww_fatbin_next and
 * ww_fatbin_bytes.
 */
struct fatbin_machine {
    bool found;
    uint32_t arch;
    unsigned char *bytes;
    size_t n;
};
enum ww_code ww_fatbin_machine(const void *data, uint64_t n, const char *where, uint32_t arch,
                               struct fatbin_machine *machine, struct ww_error *error);

/* What a fat binary holds, and the image to run. */
struct fatbin_summary {
    uint32_t ptx_count, elf_count, elf_arch; /* elf_arch: of the last */
    bool found;
    /* The PTX of the highest capability up to `arch`, of one capability that for `arch` alone; else the lowest.
     */
    struct fatbin_image ptx;
};
/* Errors: those of ww_fatbin_next. */
enum ww_code ww_fatbin_choose(const void *data, uint64_t n, const char *where, uint32_t arch,
                              struct fatbin_summary *summary, struct ww_error *error);

#endif
