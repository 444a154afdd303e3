/* abi.h: sizes of structures, which bindings for other languages check first. Part of warpwatt.h. */
#ifndef WW_API_ABI_H
#define WW_API_ABI_H

#include "../base/error.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The size in bytes of a structure of this interface, such as "ww_run_options"; 0 if there is none of that
 * name, or its members are private. Structures grow from version to version: a binding that was made for
 * another size must not call the library. */
WW_API size_t ww_struct_size(const char *name);

#ifdef __cplusplus
}
#endif

#endif
