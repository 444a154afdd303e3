/* Fuzzes the reader of modules and fat binaries: how long a module is, headers, and the decompression of every
 * PTX image that it finds. */
#include "../../traces/sass/cubin/fatbin.h"
#include "../../traces/sass/cubin/image.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX ((uint64_t)4 << 20) /* larger ones only cost time */

static void look(const struct fatbin_image *image) {
    char *text;
    size_t n;
    struct ww_error error;
    if (image->text_bytes > TEXT_MAX) return;
    unsigned char *bytes;
    if (ww_fatbin_bytes(image, "fuzz", &bytes, &n, &error) == WW_OK) free(bytes);
    if (image->kind != FATBIN_PTX) return;
    if (ww_fatbin_text(image, "fuzz", &text, &n, &error) != WW_OK) return;
    if (strlen(text) != n) abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fatbin_image image;
    struct fatbin_summary summary;
    struct ww_error error;
    uint64_t at = 0;
    bool more = true;
    enum ww_image_form form;
    if (ww_image_bytes(data, size, &form) > size) abort();
    if (size >= 16 && ww_fatbin_size(data, size) > size) abort();
    while (ww_fatbin_next(data, size, "fuzz", &at, &image, &more, &error) == WW_OK && more) {
        if (image.payload < data || image.payload + image.payload_bytes > data + size) abort();
        look(&image);
    }
    struct fatbin_machine machine;
    if (ww_fatbin_machine(data, size, "fuzz", 86, &machine, &error) == WW_OK) free(machine.bytes);
    if (ww_fatbin_choose(data, size, "fuzz", 70, &summary, &error) == WW_OK && summary.found)
        look(&summary.ptx);
    return 0;
}
