/* print_internal.h: shared by the files of the printer. */
#ifndef WW_SASS_PRINT_INTERNAL_H
#define WW_SASS_PRINT_INTERNAL_H

#include "sass_table.h"

struct ww_sass_out {
    char *buf;
    size_t n, at;
};

__attribute__((format(printf, 2, 3))) void ww_sass_put(struct ww_sass_out *o, const char *fmt, ...);
void ww_sass_put_operand(struct ww_sass_out *o, const struct ww_sass_insn *in, const struct ww_sass_opd *d);
void ww_sass_put_imm(struct ww_sass_out *o, int64_t v, enum ww_sass_text text);

#endif
