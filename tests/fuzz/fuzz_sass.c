/* Fuzzes the decoder and the printer of machine code: any 128 bits, on every architecture that rows tell apart.
 */
#include "../../traces/sass/code/sass_decode.h"
#include "../../traces/sass/code/sass_print.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(unsigned arch, const uint64_t raw[2], uint32_t offset) {
    struct ww_sass_insn in;
    struct ww_error error;
    char text[512], small[16];
    if (ww_sass_decode(arch, raw, offset, "fuzz", &in, &error) != WW_OK) {
        if (in.op != SASS_INVALID) abort();
        return;
    }
    if (in.op == SASS_INVALID || in.op >= SASS_OP_COUNT) abort();
    size_t n = ww_sass_print(&in, text, sizeof text);
    if (n >= sizeof text || strlen(text) != n) abort();
    if (ww_sass_print(&in, small, sizeof small) != n) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned archs[] = {70, 75, 80, 86, 89, 90, 100, 120};
    for (size_t at = 0; at + 16 <= size; at += 16) {
        uint64_t raw[2];
        memcpy(raw, data + at, sizeof raw);
        for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) one(archs[i], raw, (uint32_t)at);
    }
    return 0;
}
