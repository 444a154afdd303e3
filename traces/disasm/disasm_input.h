/* disasm_input.h: the machine code in a file: a cubin, a fat binary, a program or object with fat binaries, PTX
 * (which ptxas compiles), or bare instructions. */
#ifndef WW_SASS_DISASM_INPUT_H
#define WW_SASS_DISASM_INPUT_H

#include "../sass/cubin/cubin.h"

struct disasm_wish {
    uint32_t arch;       /* compute capability x 10 of the code wanted; 0: all that is there */
    bool raw;            /* the file is instructions and nothing else */
    const char *options; /* further options of ptxas; NULL: none */
};

/* Called for each cubin, or (cubin NULL) for the bytes of a raw file. */
typedef enum ww_code disasm_visit(void *context, const struct ww_cubin *cubin, uint32_t arch, const void *raw,
                                  size_t n, struct ww_error *error);

/* Errors: WW_IO, WW_INPUT (no machine code in it), WW_UNSUPPORTED, WW_NOMEM, and the visitor's. */
enum ww_code ww_disasm_input(const char *path, const struct disasm_wish *wish, disasm_visit *visit,
                             void *context, struct ww_error *error);

#endif
