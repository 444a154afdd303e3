/* elf_look.h: what an executable says about CUDA before it is run. */
#ifndef WW_CMD_ELF_LOOK_H
#define WW_CMD_ELF_LOOK_H

#include "../base/err.h"

struct elf_look {
    char cudart[64];  /* the libcudart that it needs, or "" */
    bool rpath_first; /* DT_RPATH without DT_RUNPATH: searched before LD_LIBRARY_PATH */
};

/* Looks at the file. Any other file than a 64-bit little-endian ELF file (a script) is no error: *look is empty
 * then, and so it is for a malformed one. Errors: WW_IO. */
enum ww_code ww_elf_look(const char *path, struct elf_look *look, struct ww_error *error);

#endif
