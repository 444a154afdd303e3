/* Fuzzes the executor of machine code: byte 0 chooses the architecture, byte 1 the threads, the rest is code,
 * the second half of it a function that the first may call. What does not decode becomes NOP, so that the rest
 * is reached. */
#include "../../traces/sass/code/sass_decode.h"
#include "../../traces/sass/record/module.h"
#include "../../traces/tensor_map.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE_MAX 4096u
#define HEAP 65536u
#define LIMIT 20000u /* thread instructions */

static const uint64_t nop[2] = {0x0000000000007918u, 0x000fc00000000000u};

static void keep_known(uint32_t arch, unsigned char *code, size_t n) {
    for (size_t at = 0; at + SASS_INSN_BYTES <= n; at += SASS_INSN_BYTES) {
        uint64_t raw[2];
        struct ww_sass_insn in;
        memcpy(raw, code + at, sizeof raw);
        if (ww_sass_decode(arch, raw, (uint32_t)at, "fuzz", &in, NULL) != WW_OK)
            memcpy(code + at, nop, sizeof nop);
    }
}

static void run(const struct sx_kernel *k, struct mem *mem, const unsigned char *param, uint32_t threads,
                uint32_t cluster) {
    struct recorder recorder = {0};
    struct ww_error error;
    struct sx_run r = {.mem = mem,
                       .kernel = k,
                       .grid = {2, 1, 1},
                       .block = {threads, 1, 1},
                       .cluster = {cluster, cluster != 0, cluster != 0},
                       .dynamic_shared = 256,
                       .param = param,
                       .limit = LIMIT,
                       .stream_limit = (uint64_t)16 << 20};
    if (ww_sx_table(&recorder, k, &error) == WW_OK) {
        r.recorder = &recorder;
        if (ww_sx_run_grid(&r, &error) == WW_FAIL) abort(); /* nobody stopped it */
    }
    ww_recorder_clear(&recorder);
}

/* A tensor map at the start of the memory, of a tensor that lies there. */
static void put_map(const struct mem_alloc *a) {
    const struct ww_tensor_map m = {.global = a->base,
                                    .type = WW_TENSOR_U32,
                                    .rank = 2,
                                    .swizzle = WW_SWIZZLE_32,
                                    .dim = {64, 64},
                                    .stride = {4, 256},
                                    .box = {8, 4},
                                    .step = {1, 1}};
    ww_tensor_map_encode(&m, a->host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t archs[] = {70, 75, 80, 86, 89, 90};
    if (size < 2 + 2 * SASS_INSN_BYTES) return 0;
    uint32_t arch = archs[data[0] % sizeof archs], threads = 1 + data[1] % 96u;
    size_t n = size - 2 < CODE_MAX ? (size - 2) / SASS_INSN_BYTES * SASS_INSN_BYTES : CODE_MAX;
    size_t first = n / 2 / SASS_INSN_BYTES * SASS_INSN_BYTES;
    static unsigned char code[CODE_MAX], bank[0x400];
    memcpy(code, data + 2, n);
    keep_known(arch, code, first);
    keep_known(arch, code + first, n - first);
    struct ww_cubin_kernel kernels[2] = {
        {.name = "kernel", .entry = true, .code_bytes = first, .shared_bytes = 2048, .local_bytes = 64},
        {.name = "function", .code = first, .code_bytes = n - first}};
    kernels[0].param_offset = arch >= 90 ? 0x210 : 0x160;
    kernels[0].param_bytes = 64;
    for (unsigned b = 0; b < WW_CUBIN_BANKS; b++)
        kernels[0].bank[b] = (struct ww_cubin_bytes){bank, sizeof bank};
    const char *externs[] = {"vprintf", "malloc", "free", "__assertfail"}, *files[] = {""};
    struct ww_cubin cubin = {.where = (char[]){"fuzz"},
                             .arch = arch,
                             .kernels = kernels,
                             .kernel_count = 2,
                             .code = {code, n},
                             .externs = externs,
                             .extern_count = 4,
                             .files = files,
                             .file_count = 1};
    struct mem mem;
    struct mem_alloc *a;
    struct sx_kernel *k;
    struct ww_error error;
    ww_mem_init(&mem, (uint64_t)1 << 24);
    mem.heap_limit = 1u << 16;
    if (ww_mem_new(&mem, HEAP, NULL, &a, &error) == WW_OK &&
        ww_sx_kernel_new(&cubin, &kernels[0], &k, &error) == WW_OK) {
        uint64_t param[8];
        for (unsigned p = 0; p < 8; p++) param[p] = p % 2 ? p : a->base + 512 * p;
        put_map(a);
        run(k, &mem, (const unsigned char *)param, threads, arch >= 90 && data[1] & 1 ? 2 : 0);
        ww_sx_kernel_free(k);
    }
    ww_mem_free_all(&mem);
    return 0;
}
