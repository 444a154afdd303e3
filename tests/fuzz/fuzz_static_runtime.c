/* Fuzzes what finds a CUDA runtime in a program's file: ELF headers, sections, symbols, and the code of an
 * archive in a file without symbols. The first 4 bytes say how many of the rest are the program; what follows
 * them is the archive. */
#include "../../traces/cuda/static_runtime.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A block of its own, so that a read outside of it is seen. */
static struct elf_image copy(const uint8_t *data, size_t size) {
    unsigned char *p = malloc(size ? size : 1);
    if (!p) exit(2);
    if (size) memcpy(p, data, size);
    return (struct elf_image){p, size};
}

static uint64_t names(const struct static_runtime *r) {
    uint64_t sum = 0;
    for (size_t n = 0; n < r->count; n++) sum += strlen(r->function[n].name);
    const char *version = ww_static_runtime_version(r);
    return sum + (version ? strlen(version) : 0);
}

static void find(const struct elf_image *program, const struct elf_image *archive) {
    struct static_runtime r = {0};
    struct elf_symbols s;
    uint64_t sum = ww_elf_has_section(program, ".nv_fatbin");
    sum += ww_elf_needs(program, "libcudart.so");
    sum += ww_elf_find_symbols(program, SHT_DYNSYM, &s);
    static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t n = 0; n < sizeof types / sizeof types[0]; n++) {
        if (ww_static_runtime_of_symbols(&r, program, types[n]) && !ww_static_runtime_version(&r)) abort();
        sum += names(&r);
        for (size_t k = 0; k < r.count; k++) sum += ww_elf_is_code(program, r.function[k].at, 14);
        ww_static_runtime_free(&r);
    }
    if (ww_static_runtime_of_archive(&r, program, archive) && !ww_static_runtime_version(&r)) abort();
    sum += names(&r);
    ww_static_runtime_free(&r);
    if (sum == UINT64_MAX) abort(); /* cannot be: keeps the reads */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t first;
    if (size < sizeof first) return 0;
    memcpy(&first, data, sizeof first);
    data += sizeof first;
    size -= sizeof first;
    size_t bytes = first < size ? first : size;
    struct elf_image program = copy(data, bytes), archive = copy(data + bytes, size - bytes);
    find(&program, &archive);
    free((void *)(uintptr_t)program.p);
    free((void *)(uintptr_t)archive.p);
    return 0;
}
