/* mech.h: the mechanisms that a run may choose. Part of warpwatt.h. */
#ifndef WW_API_MECH_H
#define WW_API_MECH_H

#include "../base/error.h"
#include "gpu.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ww_mech_view {
    const char *kind, *name, *help, *paper;
    size_t param_count;
    bool is_default;
};
WW_API size_t ww_mech_count(void);
WW_API enum ww_code ww_mech(size_t i, struct ww_mech_view *view, struct ww_error *error);
/* Parameter p of mechanism i; `value` is its default. */
WW_API enum ww_code ww_mech_param(size_t i, size_t p, struct ww_param_view *view, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
