/* Fuzzes the reader of cubins: sections, attributes, line tables, relocations; and what it hands out. */
#include "../../traces/sass/cubin/cubin.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define GLOBALS 0x7f0000000000u

static uint64_t touch(const struct ww_cubin_bytes *b) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < b->size; i += 64) sum += b->data[i];
    return sum;
}

static uint64_t look(const struct ww_cubin *c, const struct ww_cubin_kernel *k) {
    const char *file = "";
    uint32_t line = 0;
    uint64_t sum = 0;
    if (k->code > c->code.size || k->code_bytes > c->code.size - k->code) abort();
    for (unsigned b = 0; b < WW_CUBIN_BANKS; b++) sum += touch(&k->bank[b]);
    for (size_t i = 0; i < k->target_count; i++)
        if (k->targets[i] >= k->code_bytes) abort();
    for (size_t i = 0; i < k->branch_count; i++)
        if ((uint64_t)k->branches[i].first + k->branches[i].count > k->target_count) abort();
    for (uint64_t at = 0; at < k->code_bytes && at < 4096; at += 16)
        if (ww_cubin_line(c, k, at, &file, &line)) sum += strlen(file) + line;
    for (uint32_t i = 0; i < k->param_count; i++)
        if ((uint64_t)k->params[i].offset + k->params[i].size > k->param_bytes) abort();
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ww_cubin *c;
    struct ww_error error;
    if (ww_cubin_read(data, size, "fuzz", &c, &error) != WW_OK) return 0;
    uint64_t sum = 0;
    if (ww_cubin_place(c, GLOBALS, &error) == WW_OK) sum += touch(&c->code) + touch(&c->globals);
    for (size_t i = 0; i < c->kernel_count; i++) sum += look(c, &c->kernels[i]);
    for (size_t i = 0; i < c->variable_count; i++) sum += strlen(c->variables[i].name);
    for (size_t i = 0; i < c->extern_count; i++)
        if (ww_cubin_extern(c, WW_CUBIN_EXTERN + 16 * i) != c->externs[i]) abort();
    ww_cubin_free(c);
    if (sum == UINT64_MAX) abort(); /* cannot be: keeps the reads */
    return 0;
}
