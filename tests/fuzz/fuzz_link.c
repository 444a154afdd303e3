/* fuzz_link.c: hostile PTX through device linking: two modules, split at the first 0 of the input, and what
 * comes of them through the parser. */
#include "../../traces/ptx/front/ir.h"
#include "../../traces/ptx/front/link.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    size_t first = strlen(text), rest = first < size ? first + 1 : size;
    const struct ww_ptx_module m[2] = {{text, first, "a", false},
                                       {text + rest, size - rest, "b", size % 2 != 0}};
    struct ww_buf out = {0};
    struct ww_error error = {0};
    struct ptx_module *linked = NULL;
    if (ww_ptx_link(m, 2, &out, &error) == WW_OK && out.p &&
        ww_ptx_module_parse(out.p, out.n, "linked", &linked, &error) == WW_OK)
        ww_ptx_module_free(linked);
    ww_buf_free(&out);
    free(text);
    return 0;
}
