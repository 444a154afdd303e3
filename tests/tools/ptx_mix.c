/* ptx_mix.c: what the lowering makes of each kernel of a PTX file, for comparison with ptxas.
 * Usage: ptx_mix ARCH FILE...   One line per kernel: file, name, registers, instructions, class=count ... */
#include "../../traces/ptx/front/ir.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 0;
    *n = 0;
    while (f && !feof(f)) {
        if (*n == cap) {
            char *bigger = realloc(text, cap = cap ? 2 * cap : 65536);
            if (!bigger) break;
            text = bigger;
        }
        size_t got = fread(text + *n, 1, cap - *n, f);
        if (!got) break;
        *n += got;
    }
    if (f) fclose(f);
    return text;
}

static void print_kernel(const char *path, const struct ptx_func *f) {
    static const char *const name[] = {
#define X(id, text, pipe, help) text,
#include "../../traces/opclass.def"
#undef X
    };
    unsigned count[WW_OP_COUNT] = {0}, total = 0;
    for (uint32_t k = 0; k < f->machine_count; k++) {
        count[f->machine[k].inst.op]++;
        total += f->machine[k].inst.op != WW_OP_NOP;
    }
    printf("%s %s %u %u", path, f->name, f->machine_registers, total);
    for (unsigned c = 1; c < WW_OP_COUNT; c++)
        if (count[c]) printf(" %s=%u", name[c], count[c]);
    printf("\n");
}

static int one_file(const char *path, uint32_t arch) {
    struct ww_error e = {0};
    struct ptx_module *m = NULL;
    size_t n;
    char *text = read_all(path, &n);
    enum ww_code code = text ? ww_ptx_module_parse(text, n, path, &m, &e) : WW_IO;
    if (code == WW_OK) code = ww_ptx_module_prepare(m, &e);
    for (size_t k = 0; code == WW_OK && k < m->func_count; k++) {
        struct ptx_lower_options options = {.arch = arch};
        if (!m->func[k]->is_entry) continue;
        code = ww_ptx_lower(m, m->func[k], &options, &e);
        if (code == WW_OK) print_kernel(path, m->func[k]);
    }
    if (code != WW_OK) fprintf(stderr, "%s: %s: %s\n", path, e.where, e.text);
    ww_ptx_module_free(m);
    free(text);
    return code != WW_OK;
}

int main(int argc, char **argv) {
    int bad = argc < 3;
    if (bad) fprintf(stderr, "usage: ptx_mix ARCH FILE...\n");
    for (int a = 2; a < argc; a++) bad |= one_file(argv[a], (uint32_t)strtoul(argv[1], NULL, 10));
    return bad;
}
