/* static_runtime.h: where the functions of a CUDA runtime lie in a file.
 *
 * A symbol table says it. Without one, the code of NVIDIA's libcudart_static.a, whose symbols are known, is
 * looked for in the file: a linker copies a section as a whole and changes only the places that its relocations
 * name. */
#ifndef WW_TRACES_CUDA_STATIC_RUNTIME_H
#define WW_TRACES_CUDA_STATIC_RUNTIME_H

#include "elf_image.h"
#include <stddef.h>

struct runtime_function {
    const char *name; /* in the file, or in the archive */
    uint64_t at;      /* virtual address in the file */
    uint64_t bytes;
};

struct static_runtime {
    struct runtime_function *function;
    size_t count, most;
};

/* Each is true if the file has a runtime; the caller frees it in any case. `type` is SHT_SYMTAB or SHT_DYNSYM.
 */
bool ww_static_runtime_of_symbols(struct static_runtime *r, const struct elf_image *m, uint32_t type);
/* The archive must stay in memory as long as the names are used. */
bool ww_static_runtime_of_archive(struct static_runtime *r, const struct elf_image *m,
                                  const struct elf_image *archive);
void ww_static_runtime_free(struct static_runtime *r);
/* "11.0", "12" or "13"; NULL if these functions are not a CUDA runtime. */
const char *ww_static_runtime_version(const struct static_runtime *r);

#endif
