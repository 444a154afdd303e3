/* mascar_toy.h: the toy machine of figure 4.2 of A. Sethia's dissertation (2015). */
#ifndef WW_VALIDATE_MASCAR_TOY_H
#define WW_VALIDATE_MASCAR_TOY_H

#include "../../../base/err.h"
#include <stddef.h>
#include <stdint.h>

/* Cycles of the toy machine, made of one SM of the GPU, under the mechanisms, with so many outstanding
 * requests. */
enum ww_code ww_mascar_toy(const char *gpu, const char *const *mechanism, size_t count, uint32_t requests,
                           double *cycles, struct ww_error *error);

#endif
