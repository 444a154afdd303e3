/* sass_print.h: a decoded instruction as text, as NVIDIA's disassembler writes it. */
#ifndef WW_SASS_PRINT_H
#define WW_SASS_PRINT_H

#include "insn.h"
#include <stddef.h>

/* Writes the instruction's text without the ";" to buf: "@P0 IADD3 R1, P0, R2, 0x10, RZ". Cut at n, always
 * ended. Returns the bytes it needs, without the end. */
size_t ww_sass_print(const struct ww_sass_insn *insn, char *buf, size_t n);

/* Name of a special register (SR_TID.X), NULL for a number without one. */
const char *ww_sass_sreg_name(unsigned number);

#endif
