/* fuzz_ptx.c: hostile PTX through parser, control-flow graph and lowering of the first kernels. */
#include "../../estimator/base/buf.h"
#include "../../traces/ptx/ir.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lower_and_print(struct ptx_module *m) {
    static const uint32_t arch[] = {20, 52, 70};
    struct ww_error error = {0};
    unsigned kernels = 0;
    for (size_t k = 0; k < m->func_count && kernels < 4; k++) {
        struct ptx_func *f = m->func[k];
        struct ww_buf out = {0};
        for (uint32_t i = 0; i < f->inst_count && i < 500; i++) ptx_print_inst(f, &f->inst[i], &out);
        ww_buf_free(&out);
        if (!f->is_entry || !f->inst_count) continue;
        kernels++;
        for (unsigned a = 0; a < 3; a++) {
            struct ptx_lower_options options = {.arch = arch[a], .max_registers = a == 1 ? 20 : 0};
            if (ptx_lower(m, f, &options, &error) != WW_OK) continue;
            uint32_t next = 0;
            for (uint32_t i = 0; i < f->inst_count; i++) {
                if (f->inst[i].lower_first != next) abort();
                next += f->inst[i].lower_count;
            }
            if (next != f->machine_count) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ptx_module *module;
    struct ww_error error = {0};
    if (size > 1 << 16) return 0;
    if (ptx_module_parse((const char *)data, size, "fuzz.ptx", &module, &error) != WW_OK) {
        if (!error.text[0]) abort();
        return 0;
    }
    if (ptx_module_prepare(module, &error) == WW_OK) lower_and_print(module);
    ptx_module_free(module);
    return 0;
}
