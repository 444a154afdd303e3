/* fuzz_ptx.c: hostile PTX through parser, control-flow graph and lowering, and a short run on a small device.
 */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/buf.h"
#include "../../traces/ptx/record/device_internal.h"
#include "../../traces/tensor_map.h"
#include <stdlib.h>

#define KERNELS 2      /* looked at */
#define PARAMETERS 64u /* of a kernel that runs */
#define INSTRUCTIONS 10000u
#define MEMORY (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lowered(const struct ptx_func *f) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (f->inst[i].lower_first != next) abort();
        next += f->inst[i].lower_count;
    }
    if (next != f->machine_count) abort();
}

static void lower_and_print(struct ptx_module *m) {
    static const uint32_t arch[] = {20, 52, 70, 90, 100};
    struct ww_error error = {0};
    unsigned kernels = 0;
    for (size_t k = 0; k < m->func_count && kernels < KERNELS; k++) {
        struct ptx_func *f = m->func[k];
        struct ww_buf out = {0};
        for (uint32_t i = 0; i < f->inst_count && i < 500; i++) ww_ptx_print_inst(f, &f->inst[i], &out);
        ww_buf_free(&out);
        if (!f->is_entry || !f->inst_count) continue;
        kernels++;
        for (unsigned a = 0; a < sizeof arch / sizeof *arch; a++) {
            struct ptx_lower_options options = {.arch = arch[a], .max_registers = a == 1 ? 20 : 0};
            if (ww_ptx_lower(m, f, &options, &error) == WW_OK) check_lowered(f);
        }
    }
}

static void count_cta(void *context, const struct ww_cta_trace *cta) {
    uint64_t *steps = context;
    for (uint32_t w = 0; w < cta->warp_count; w++) *steps += cta->warp[w].step_count;
}

/* A tensor map at the start of the buffer, of a tensor that lies there. */
static void put_map(struct ww_device *d, uint64_t buffer) {
    const struct ww_tensor_map m = {.global = buffer,
                                    .type = WW_TENSOR_U32,
                                    .rank = 2,
                                    .swizzle = WW_SWIZZLE_32,
                                    .dim = {16, 32},
                                    .stride = {4, 64},
                                    .box = {8, 4},
                                    .step = {1, 1}};
    unsigned char map[WW_TENSOR_MAP_BYTES];
    ww_tensor_map_encode(&m, map);
    ww_device_write(d, buffer, map, sizeof map, NULL);
}

/* Three CTAs of 33 threads, or one cluster; every parameter points to the same buffer. */
static void launch(struct ww_device *d, struct ww_module *m, const struct ptx_func *f, uint64_t buffer) {
    static const uint32_t block[3] = {33, 1, 1};
    const uint32_t *c = f->cluster;
    bool cluster = c[0] && c[0] <= 16 && c[1] <= 16 && c[2] <= 16;
    const uint32_t grid[3] = {cluster ? c[0] : 3, cluster && c[1] ? c[1] : 1, cluster && c[2] ? c[2] : 1};
    static unsigned char zeros[65536];
    struct ww_arg arg[PARAMETERS];
    struct ww_error error = {0};
    if (f->param_count > PARAMETERS) return;
    for (uint32_t n = 0; n < f->param_count; n++) {
        if (f->param[n]->size > sizeof zeros) return;
        arg[n] = (struct ww_arg){f->param[n]->size <= 8 ? (const void *)&buffer : zeros, f->param[n]->size};
    }
    enum ww_code code = ww_device_launch(d, m, f->name, grid, block, 256, arg, f->param_count, &error);
    if (code != WW_OK && !error.text[0]) abort();
}

static void run(const char *text, size_t size) {
    struct ww_record_options options = {.instruction_limit = INSTRUCTIONS};
    struct ww_device *d;
    struct ww_module *m;
    struct ww_error error = {0};
    uint64_t buffer, steps = 0;
    unsigned kernels = 0;
    if (ww_device_new(&options, NULL, &d, &error) != WW_OK) return;
    d->mem.limit = MEMORY;
    d->mem.heap_limit = MEMORY / 4;
    ww_device_watch(d, count_cta, &steps);
    if (ww_device_alloc(d, 4096, &buffer, &error) == WW_OK &&
        ww_device_module_text(d, text, size, "fuzz.ptx", &m, &error) == WW_OK)
        for (size_t k = 0; k < m->ptx->func_count && kernels < KERNELS; k++) {
            if (!m->ptx->func[k]->is_entry) continue;
            kernels++;
            put_map(d, buffer);
            launch(d, m, m->ptx->func[k], buffer);
        }
    ww_device_free_all(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ptx_module *module;
    struct ww_error error = {0};
    if (size > 1 << 16) return 0;
    if (ww_ptx_module_parse((const char *)data, size, "fuzz.ptx", &module, &error) != WW_OK) {
        if (!error.text[0]) abort();
        return 0;
    }
    bool prepared = ww_ptx_module_prepare(module, &error) == WW_OK;
    if (prepared) lower_and_print(module);
    ww_ptx_module_free(module);
    if (prepared) run((const char *)data, size);
    return 0;
}
