/* elf_look.h: what an executable says about CUDA before it is run. */
#ifndef WW_CMD_ELF_LOOK_H
#define WW_CMD_ELF_LOOK_H

#include "../base/err.h"

struct elf_look {
    char cudart[64];  /* the libcudart that it needs, or "" */
    bool rpath_first; /* DT_RPATH without DT_RUNPATH: searched before LD_LIBRARY_PATH */
};

/* Looks at the file. What is no 64-bit little-endian ELF file (a script) is no error. What it says is not
 * trusted: an odd file is one that says nothing. Errors: WW_IO. */
enum ww_code ww_elf_look(const char *path, struct elf_look *look, struct ww_error *error);

#endif
